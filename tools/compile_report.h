// What compiling took: time and memory by stage and by kernel, and the device's memory that the program will need.
//
//   report_begin; report_stage at each stage's begin; report_kernel for each kernel's code; report_program;
//   report_write
#ifndef IREE_C_TOOLS_COMPILE_REPORT_H_
#define IREE_C_TOOLS_COMPILE_REPORT_H_

#include "compiler/compiler.h"

typedef struct report_stage_t {
  const char* name;
  double seconds;
  size_t resident;  // bytes of the process at its end
  size_t peak;      // the most so far
} report_stage_t;

typedef struct report_kernel_t {
  char* name;
  char strategy[24];
  int64_t cycles;  // of the device that it should take; 0: not known
  char* slow;      // why better strategies declined, or NULL
  uint32_t dispatches;
  double build_seconds, code_seconds;
  size_t memory;  // bytes that its code's generation held at its end; 0: not known
} report_kernel_t;

typedef struct compile_report_t {
  double stage_start;
  const char* stage;
  report_stage_t stages[32];
  uint32_t stage_count;
  report_kernel_t** kernels;
  void* by_name;  // of the kernels (tsearch)
  uint32_t kernel_count, kernel_capacity;
} compile_report_t;

void report_begin(compile_report_t* report);
// Ends the stage before; NULL: there is none any more.
void report_stage(compile_report_t* report, const char* name);
// As target_compile_options_t has it; `user` is the report.
void report_kernel(void* user, const char* name, double seconds, size_t memory);
// Dispatches of the program by kernel.
void report_program(compile_report_t* report, const ir_op_t* module, const kernel_list_t* kernels);
// False with errno set; `path` "-" is standard error.
bool report_write(compile_report_t* report, const char* path, const char* input, const host_memory_t* memory);
void report_finish(compile_report_t* report);

#endif  // IREE_C_TOOLS_COMPILE_REPORT_H_
