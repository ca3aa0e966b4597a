/* SPDX-License-Identifier: Apache-2.0 */
#ifndef C_MEASURED_REGION_H
#define C_MEASURED_REGION_H

/* Calls the body. Callgrind is told to collect inside of this function only
   (--toggle-collect=measured_region), so that neither start-up nor preparation is counted. */
void measured_region(void (*body)(void *context), void *context);

#endif
