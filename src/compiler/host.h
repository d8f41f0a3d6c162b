// The host program: what is left of a module when its dispatches have become kernels. Plans memory, builds command
// tables and functions with the module writer.
#ifndef IREE_C_COMPILER_HOST_H_
#define IREE_C_COMPILER_HOST_H_

#include "compiler/host_memory.h"
#include "ir/ir.h"
#include "module/writer.h"

// A program for one target: the same functions in every one. Attributes that each graph.dispatch must have by now:
// `entry` (number in the executable) and `workgroups` (three).
typedef struct host_program_t {
  bool host_only;  // for no device
  ir_op_t* module;
  uint32_t executable;      // holds its kernels
  const uint32_t* objects;  // executables of the dispatches that have an attribute `object`, by its value
} host_program_t;

typedef struct host_options_t {
  bool strip_source_map;
  bool narrow_index;  // index is i32 where it comes and goes; the program computes in 64 bits
} host_options_t;

// Adds functions, tables, constants and exports to `writer`, for device 0. Of several programs, that one runs whose
// number is the number of the target the device uses. False after diagnostics.
bool host_emit(ir_context_t* ctx, const host_program_t* programs, uint32_t program_count, module_writer_t* writer,
               const host_options_t* options, host_memory_t* out_memory);

// Scalar functions that the host program has no instruction for become ops on tensors; conditions that are numbers stay
// numbers. Before dispatches are formed.
void host_scalar_prepare(ir_context_t* ctx, ir_op_t* module);

#endif  // IREE_C_COMPILER_HOST_H_
