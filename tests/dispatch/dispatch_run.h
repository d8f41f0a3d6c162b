// Running a compiled program dispatch by dispatch, from what compiler_options_t.observe sees.
#ifndef IREE_C_TESTS_DISPATCH_DISPATCH_RUN_H_
#define IREE_C_TESTS_DISPATCH_DISPATCH_RUN_H_

#include "compiler/compiler.h"
#include "compiler/execute.h"
#include "dialects/graph.h"
#include "gpu_execute.h"

typedef struct runner_t {
  int repeat;
  const char *inputs, *shapes, *outputs;
  execute_code_t* code;
  bool interpret, faulty, ran, needs_host;
  const char* execute;  // processor
  gpu_execute_t* gpu;
  const kernel_list_t* kernels;
} runner_t;

// A tensor's sizes and contents; at ir_value_t.data.
typedef struct tensor_t {
  int64_t dims[GRAPH_MAX_RANK];
  size_t size;  // bytes
  char* data;
} tensor_t;

tensor_t* dispatch_new_tensor(ir_value_t* value, const int64_t* dims);
// A value's, made when it has none: a constant's has its elements.
tensor_t* dispatch_tensor_of(ir_value_t* value);
// Frees those of a program; forgets what passes left in their place.
void dispatch_free_tensors(ir_block_t* body);
void dispatch_forget_tensors(ir_block_t* body);
// Programs whose host does more than dispatch kernels, one after the other and in loops.
bool dispatch_needs_host(const ir_block_t* body);
// Runs one dispatch and makes its results; sets r->faulty.
void dispatch_run(runner_t* r, ir_op_t* op);
// Runs all of a block's.
void dispatch_run_block(runner_t* r, ir_block_t* body);

#endif  // IREE_C_TESTS_DISPATCH_DISPATCH_RUN_H_
