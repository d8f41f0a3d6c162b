// The encoder at work: encode.c makes the file and control flow, encode_ops.c the other ops.
#ifndef IREE_C_TARGET_VMVX_ENCODE_STATE_H_
#define IREE_C_TARGET_VMVX_ENCODE_STATE_H_

#include "target/vmvx/encode.h"
#include "target/vmvx/live.h"

typedef struct encode_t {
  arena_t arena;  // of the function
  live_t* live;
  const ir_op_t* func;
  // Sections of the file; `ops` holds pointers.
  text_t functions, registers, memories, code, data, names, ops;
  uint32_t code_first;  // of the function, in words
  uint32_t memory_first, memory_count;
  uint32_t local_bytes[VMVX_MEMORY_KIND_COUNT];
  text_t* error;
  bool failed;
} encode_t;

void encode_fail(encode_t* e, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Starts an instruction for `op`; its operands follow as words.
void encode_op(encode_t* e, const ir_op_t* op, uint32_t vmvx_op);
void encode_word(encode_t* e, uint32_t word);
static inline uint32_t encode_use(const ir_value_t* value) { return live_of(value)->reg; }
static inline uint32_t encode_define(encode_t* e, ir_value_t* value) { return live_define(e->live, live_of(value)); }
// Row of a memory value.
uint32_t encode_memory(const ir_value_t* value);
// Places `size` bytes in the data section and returns their offset.
uint32_t encode_data(encode_t* e, const void* data, size_t size, uint32_t align);
// Memory row of a binding argument.
void encode_binding(encode_t* e, ir_value_t* value);
// Any op without regions.
void encode_simple(encode_t* e, ir_op_t* op);
// `constant` or `constant_splat` for a value of an attribute.
void encode_constant(encode_t* e, const live_constant_t* constant);

#endif  // IREE_C_TARGET_VMVX_ENCODE_STATE_H_
