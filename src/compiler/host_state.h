// What the files of the host program's emission share: where values are, and the function at work.
#ifndef IREE_C_COMPILER_HOST_STATE_H_
#define IREE_C_COMPILER_HOST_STATE_H_

#include "compiler/host.h"
#include "compiler/plan.h"
#include "dialects/graph.h"

typedef enum {
  STORAGE_ARGUMENT,  // an input's buffer
  STORAGE_CONSTANT,  // read-only data of the module
  STORAGE_ARENA,     // part of the function's arena
  STORAGE_OUTPUT,    // a result's buffer
  STORAGE_SCALAR,    // index: a register of the host program
} storage_kind_t;

// Where a value is; at ir_value_t.data. Values that stand for the same memory (loop-carried ones) share one.
typedef struct storage_t {
  storage_kind_t kind;
  uint32_t index;        // argument, constant row, plan entry or result number
  int64_t offset, size;  // bytes
  module_reg_t reg;      // SCALAR
  bool has_reg;
  module_table_t* table;  // for which `slot` is valid
  uint32_t slot;
} storage_t;

// First and last moment of an op, regions included; at ir_op_t.data.
typedef struct span_t {
  uint32_t first, last;
} span_t;

typedef struct access_t {
  uint32_t slot;
  int64_t first, end;
  bool writes;
} access_t;

enum { HOST_MAX_PARAMS = 64 };
typedef struct host_t {
  ir_context_t* ctx;
  ir_op_t* module;
  module_writer_t* writer;
  uint32_t device, executable;
  bool strip_source_map;
  uint32_t constant_count, table_count;
  bool failed;
  // The function at work
  ir_op_t* func;
  const char* name;
  ir_block_t* body;
  module_function_t* f;
  module_reg_t stream;
  plan_value_t* plan;
  uint32_t plan_count, plan_capacity;
  int64_t arena_size;
  module_reg_t* buffers;  // arguments of every hal_execute: arena (if any), inputs, outputs
  uint32_t buffer_count, first_input, first_output;
  // The command table being filled, or NULL
  module_table_t* table;
  access_t* accesses;  // since the last barrier
  uint32_t access_count, access_capacity;
  module_reg_t params[HOST_MAX_PARAMS];
  uint32_t param_count, param_room;
  uint32_t table_buffers;  // how many of `buffers` it needs
} host_t;

static inline int64_t host_tensor_bytes(const ir_type_t* type) {
  return ir_type_count(type) * ir_type_bytes(type->element);
}
static inline iree_string_view_t host_view(const char* text) { return iree_make_cstring_view(text); }

// Gives every value of the function its storage and plans the arena (host_storage.c).
void host_assign_storage(host_t* h);
void host_clear_data(ir_block_t* block);

// Emits the ops of a block up to its terminator (host_block.c). Work still in the table is submitted by host_flush.
void host_emit_block(host_t* h, ir_block_t* block);
void host_flush(host_t* h);
// Copies one value's bytes to another's storage, in the current table.
void host_copy(host_t* h, storage_t* from, storage_t* to);

#endif  // IREE_C_COMPILER_HOST_STATE_H_
