// What a kernel computes and moves, as far as its name tells: names of dispatches, of this compiler's and of IREE's,
// end with an op, the sizes of its loops and its types of elements.
//
//   main_dispatch_3_matmul_64x128x256_f32       2 * 64 * 128 * 256 operations on 64x256, 256x128 and 64x128 elements
//   main_dispatch_0_conv_1x32x112x112x3x3x3_f32 2 * product operations; how often inputs are read is not told
#ifndef TOOLING_PROFILE_WORK_H_
#define TOOLING_PROFILE_WORK_H_

#include "iree/base/api.h"

typedef struct profile_work_t {
  bool has_flops, has_bytes;
  double flops;  // a product and a sum are two
  double bytes;  // operands and results, each once
} profile_work_t;

profile_work_t profile_work_of_name(iree_string_view_t name);

#endif  // TOOLING_PROFILE_WORK_H_
