// --iree-flow-export-benchmark-funcs: functions without arguments, for iree-benchmark-module to find.
#ifndef IREE_C_COMPILER_BENCHMARK_FUNCS_H_
#define IREE_C_COMPILER_BENCHMARK_FUNCS_H_

#include "compiler/kernels.h"

// Adds @<function>_ex_dispatch_<n>_benchmark for each kernel and @<function>_benchmark for each public function. Their
// arguments are zeros, kept between calls; weights are the program's own. What has a size known only at run time is
// left out. `modules`: the program for each target, with kernels assigned; each gets the same functions.
void benchmark_funcs_add(ir_context_t* ctx, ir_op_t* const* modules, uint32_t count);

// The first dispatch below `op` that runs entry `entry` (NULL when there is none), and whether its shapes are constant.
ir_op_t* benchmark_find_dispatch(ir_op_t* op, int64_t entry);
bool benchmark_is_static(const ir_op_t* dispatch);

#endif  // IREE_C_COMPILER_BENCHMARK_FUNCS_H_
