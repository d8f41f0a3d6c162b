// What kernels and plugin agreed on: the argument of the import `multiply_row`.
#ifndef IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_
#define IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_

#include <stddef.h>
#include <stdint.h>

typedef struct row_t {
  const float* x;
  const float* y;
  float* result;
  uint32_t count;
} row_t;

// What a microkernel `multiply_slice` of the compiler's is passed: base and offset of each tensor, then the numbers.
typedef struct slice_t {
  const float* x;
  size_t x_offset;
  const float* y;
  size_t y_offset;
  float* result;
  size_t result_offset;
  size_t count;
} slice_t;

#endif  // IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_
