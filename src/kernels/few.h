// Products with few rows on GPUs, whose weights are read once: by lanes that multiply (few.c), or by matrix
// instructions (few_matrix.c). What both share.
#ifndef IREE_C_KERNELS_FEW_H_
#define IREE_C_KERNELS_FEW_H_

#include "kernels/fragments.h"
#include "kernels/team.h"

enum {
  FEW_WORD = 16,                  // bytes that a lane loads at best
  FEW_BYTES_IN_FLIGHT = 4 << 20,  // that should be on their way, of the whole device
};

// The largest power of two that is not above either.
int64_t few_power_below(int64_t value, int64_t most);
// `width` elements of one side along what lies in memory, in their own type; zeros unless they exist (i1; NULL: they
// always do).
ir_value_t* few_load(product_t* p, product_side_t side, linear_t free, linear_t depth, int64_t width,
                     ir_value_t* exists);

// Results of a workgroup in workgroup memory: each subgroup's own sums, one row of the block behind the other.
typedef struct few_sums_t {
  ir_value_t* memory;
  int64_t columns;       // of the block
  int64_t stride, each;  // elements from one row to the next, and from one subgroup's to the next's
} few_sums_t;
// Adds up what the subgroups have written, and stores the results: number thread, thread + threads, ... of the block
// that begins at a column.
void few_store_sums(product_t* p, const team_t* team, const few_sums_t* sums, linear_t block);

#endif  // IREE_C_KERNELS_FEW_H_
