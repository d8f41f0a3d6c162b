// Statements become instructions: what rows' binders use.
#ifndef IREE_C_SOFTGPU_NVIDIA_DECODE_H_
#define IREE_C_SOFTGPU_NVIDIA_DECODE_H_

#include "softgpu/nvidia/parse.h"
#include "softgpu/nvidia/warp.h"

typedef struct constant_t {
  uint64_t value, high;
  uint32_t bytes;
  void* data;
  struct constant_t* next;
} constant_t;

enum { DECODE_CONSTANTS = 256 };

struct decoder_t {
  parser_t* p;
  function_t* f;
  const statement_t* s;
  inst_t* insts;
  uint32_t count, capacity;
  uint32_t* first_inst;  // of each statement
  uint32_t frame;        // bytes used
  constant_t* constants[DECODE_CONSTANTS];
  // Branches: instruction and the statement that it goes to.
  struct patch_t {
    uint32_t inst, statement;
    const inst_t** to;  // instead of inst's target
  }* patches;
  uint32_t patch_count, patch_capacity;
  inst_t inst;  // the one that is made; hidden ones go before it
};

// Operands of the statement at hand, checked. `arg` may be NULL, which fails.
const arg_t* decode_arg(decoder_t* d, uint32_t index);
bool decode_count(decoder_t* d, uint32_t least, uint32_t most);
bool decode_read(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out);
// A register that is written, or one that is as large at least (`bytes` gets its size); a sink gets memory of its own.
bool decode_write(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out);
bool decode_wide_write(decoder_t* d, const arg_t* arg, uint32_t least, operand_t* out, uint8_t* bytes);
bool decode_wide_read(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out, uint8_t* bytes);
bool decode_write_register(decoder_t* d, uint32_t reg, ptx_type_t type, operand_t* out);
// "[...]": op and imm of the address; `space` 0 for what the operand says.
bool decode_memory(decoder_t* d, inst_t* inst, const arg_t* arg, operand_t* out);
bool decode_immediate(decoder_t* d, const arg_t* arg, uint64_t* out);
operand_t decode_make_constant(decoder_t* d, uint64_t value, uint32_t bytes);
bool decode_label(decoder_t* d, const arg_t* arg, uint32_t inst, const inst_t** to);
operand_t decode_temporary(decoder_t* d, uint32_t bytes);
// Adds an instruction in front of the one at hand.
inst_t* decode_emit(decoder_t* d);
void decode_note_call(decoder_t* d, const function_t* function);
void decode_note_shared(decoder_t* d, const variable_t* variable);
bool decode_fail(decoder_t* d, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Rows: tables of this folder, and those that exist once for each level of x86-64's vector instructions.
#define WARP_PLAIN_TABLES(TABLE) \
  TABLE(warp_control_table)      \
  TABLE(warp_barrier_table)      \
  TABLE(memory_table) TABLE(lane_table) TABLE(call_table) TABLE(atomic_table) TABLE(async_table)
#define WARP_VECTOR_TABLES(TABLE) \
  TABLE(integer_table)            \
  TABLE(float_table)              \
  TABLE(move_table)               \
  TABLE(compare_table) TABLE(convert_table) TABLE(access_table) TABLE(half_table) TABLE(warp_matrix_table)

// rows.c: the row of a statement, NULL when there is none; fills what its name says.
const row_t* row_find(const statement_t* s, ptx_modifiers_t* out);

#endif  // IREE_C_SOFTGPU_NVIDIA_DECODE_H_
