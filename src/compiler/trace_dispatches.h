// --iree-flow-trace-dispatch-tensors: what dispatches take and give, shown when the program runs.
#ifndef IREE_C_COMPILER_TRACE_DISPATCHES_H_
#define IREE_C_COMPILER_TRACE_DISPATCHES_H_

#include "ir/ir.h"
#include "ir/pass.h"

// `user` is a trace_dispatches_t. Of formed dispatches; numbers and tensors of packed elements are not shown.
typedef struct trace_dispatches_t {
  bool all;
  const char* name;  // a dispatch, its name's begin "main_dispatch_3", or "@main:3"; NULL: none
} trace_dispatches_t;
pass_result_t trace_dispatches_run(ir_op_t* module, ir_context_t* ctx, void* user);

#endif  // IREE_C_COMPILER_TRACE_DISPATCHES_H_
