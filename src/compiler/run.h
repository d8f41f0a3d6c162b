// One compilation while it is under way: what the stages (compile.c) share with what is written at the end (output.c).
#ifndef IREE_C_COMPILER_RUN_H_
#define IREE_C_COMPILER_RUN_H_

#include "compiler/compiler.h"
#include "compiler/source.h"

// What becomes of the module for one target, from its dispatches on.
typedef struct program_t {
  ir_op_t* module;
  const device_info_t* device;
  kernel_list_t kernels;
  target_executable_t executable;
  substitute_objects_t objects;  // in the place of some kernels
} program_t;

typedef struct run_t {
  const compiler_options_t* options;
  compiler_output_t* output;
  const char *path, *text;
  size_t size;
  const char* stage;  // what it is doing
  bool ok;
  ir_context_t* ctx;
  source_file_t source;
  ir_op_t* module;
  uint32_t phase_number;
  pass_report_t report;
  program_t programs[COMPILER_MAX_TARGETS];
  uint32_t program_count;
  uint32_t generated;  // programs whose kernels have code
  parameter_outputs_t parameters;
} run_t;

// Steps of stages as passes; `user` is the run, of which they read the options.
pass_result_t step_strip_assertions(ir_op_t* module, ir_context_t* ctx, void* user);
pass_result_t step_element_types(ir_op_t* module, ir_context_t* ctx, void* user);
pass_result_t step_const_eval(ir_op_t* module, ir_context_t* ctx, void* user);
pass_result_t step_spread(ir_op_t* module, ir_context_t* ctx, void* user);
pass_result_t step_host_scalars(ir_op_t* module, ir_context_t* ctx, void* user);

// All of them, and those that end in kernels.
const pass_t* compiler_steps(uint32_t* out_count);

// Whether another target's executables have the same format, so that the processor's name has to tell them apart.
bool run_shares_format(const run_t* r, uint32_t index);
// Whether the status is OK; else its message is reported, behind `what` was tried, and it is freed.
bool run_check_status(run_t* r, iree_status_t status, const char* what);
// Writes a file, or says why it cannot.
bool run_write_file(run_t* r, const char* path, const void* data, size_t size);
// Gives the text as the run's output, a file or memory, and drops it.
bool run_output_text(run_t* r, text_t* text);
// Gives what the options ask for when all stages are done: a module, its assembly, or an executable.
bool run_output(run_t* r);

#endif  // IREE_C_COMPILER_RUN_H_
