// SPDX-License-Identifier: Apache-2.0
#include <sha2.h>
