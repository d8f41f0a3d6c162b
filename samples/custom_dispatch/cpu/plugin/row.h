// What kernel and plugin agreed on: the argument of the import `multiply_row`.
#ifndef IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_
#define IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_

#include <stdint.h>

typedef struct row_t {
  const float* x;
  const float* y;
  float* result;
  uint32_t count;
} row_t;

#endif  // IREE_SAMPLES_CUSTOM_DISPATCH_CPU_PLUGIN_ROW_H_
