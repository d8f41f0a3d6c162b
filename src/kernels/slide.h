// Sliding windows over images whose lines lie in memory; see slide.c.
#ifndef IREE_C_KERNELS_SLIDE_H_
#define IREE_C_KERNELS_SLIDE_H_

#include "kernels/device.h"
#include "kernels/strategy.h"

// Whether the strategy takes a window, or a convolution whose weights lie as they are, where it stands; else `why`,
// unless NULL, is a part of a sentence.
bool slide_takes(const device_info_t* device, const ir_op_t* op, const char** why);

#endif  // IREE_C_KERNELS_SLIDE_H_
