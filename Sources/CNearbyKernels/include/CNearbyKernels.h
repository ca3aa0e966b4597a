// SPDX-License-Identifier: Apache-2.0
#ifndef NEARBY_KERNELS_H
#define NEARBY_KERNELS_H
#endif
