// Work for all threads of a device: long lines with few results are taken apart.
#ifndef IREE_C_PASSES_SPREAD_H_
#define IREE_C_PASSES_SPREAD_H_

#include "ir/pass.h"

// What the program is for: GPUs only, or other devices too, of which each has a few threads that are fast by
// themselves.
typedef struct spread_target_t {
  bool gpu;
} spread_target_t;

// Products of so few rows by so many columns are sums that subgroups of GPUs share (kernels/few.c).
enum { SPREAD_FEW_ROWS = 8, SPREAD_MANY_COLUMNS = 32 };
static inline bool spread_is_few(int64_t rows, int64_t columns) {
  return rows <= SPREAD_FEW_ROWS && columns >= SPREAD_MANY_COLUMNS;
}

pass_result_t spread_work(ir_op_t* module, ir_context_t* ctx, const spread_target_t* target);

#endif  // IREE_C_PASSES_SPREAD_H_
