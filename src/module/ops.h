// The host program's instructions as data: numbers, names and signatures from ops.def.

#ifndef MODULE_OPS_H_
#define MODULE_OPS_H_

#include <stdbool.h>
#include <stdint.h>

// Value types of the VM: type letter as in signatures and calling conventions, name as printed.
//   VM_TYPE(NAME, letter, name, bytes in a packed argument list)
#define VM_TYPES(VM_TYPE)     \
  VM_TYPE(I32, 'i', "i32", 4) \
  VM_TYPE(I64, 'I', "i64", 8) \
  VM_TYPE(F32, 'f', "f32", 4) \
  VM_TYPE(F64, 'F', "f64", 8) \
  VM_TYPE(REF, 'r', "ref", 16)

typedef enum {
#define VM_TYPE(NAME, letter, name, size) VM_TYPE_##NAME,
  VM_TYPES(VM_TYPE)
#undef VM_TYPE
      VM_TYPE_COUNT,
  VM_TYPE_NONE = VM_TYPE_COUNT,
} vm_type_t;

// In the order of ops.def; a number is part of the file format, so rows are only added at the end of their version.
typedef enum {
#define FLOW(name, signature) VM_OP_##name,
#define OP(name, signature) VM_OP_##name,
#define UNARY(name, ...) VM_OP_##name,
#define BINARY(name, ...) VM_OP_##name,
#define TERNARY(name, ...) VM_OP_##name,
#define DIVIDE(name, ...) VM_OP_##name,
#define LOAD(name, ...) VM_OP_##name,
#define STORE(name, ...) VM_OP_##name,
#define HAL_LOAD(name, ...) VM_OP_##name,
#include "module/ops.def"
#include "module/ops_undef.h"
  VM_OP_COUNT,
} vm_op_t;

// What code consists of. A register operand is its index, plus VM_REGISTER_REF for the reference bank.
typedef uint32_t vm_word_t;
#define VM_REGISTER_REF 0x80000000u

typedef struct vm_op_info_t {
  const char* name;
  const char* signature;
} vm_op_info_t;

// Row of an instruction, NULL when `op` is none.
const vm_op_info_t* vm_op_info(uint32_t op);

// Type of a signature's or calling convention's letter, VM_TYPE_NONE for other letters.
static inline vm_type_t vm_type_of_letter(char letter) {
  switch (letter) {
#define VM_TYPE(NAME, letter, name, size) \
  case letter:                            \
    return VM_TYPE_##NAME;
    VM_TYPES(VM_TYPE)
#undef VM_TYPE
    default:
      return VM_TYPE_NONE;
  }
}

// Name as printed: "i32" ... "ref".
const char* vm_type_name(vm_type_t type);

// Letter as in signatures.
char vm_type_letter(vm_type_t type);

// Bytes of a value in a packed argument or result list.
static inline uint32_t vm_type_packed_size(vm_type_t type) {
  switch (type) {
#define VM_TYPE(NAME, letter, name, size) \
  case VM_TYPE_##NAME:                    \
    return size;
    VM_TYPES(VM_TYPE)
#undef VM_TYPE
    default:
      return 0;
  }
}

// One operand position of a signature.
typedef struct vm_operand_kind_t {
  char letter;
  bool is_list;
  bool is_result;
} vm_operand_kind_t;

// Steps over a signature; `*cursor` starts as the signature and `*in_results` as vm_signature_has_results().
// False at the end.
bool vm_signature_next(const char** cursor, bool* in_results, vm_operand_kind_t* out_kind);
bool vm_signature_has_results(const char* signature);

// Words that one operand with this letter takes; 0 for letters that are none.
uint32_t vm_operand_words(char letter);
bool vm_operand_is_register(char letter);

// One decoded operand: `count` elements (1 unless a list), the first at word `at` of the function's code.
typedef struct vm_operand_t {
  vm_operand_kind_t kind;
  uint32_t count;
  uint32_t at;
} vm_operand_t;

// Steps over an instruction's operands. Set code, code_count, position (of the first word after the opcode) and
// signature, then vm_operands_begin.
typedef struct vm_operands_t {
  const vm_word_t* code;
  uint32_t code_count;
  uint32_t position;
  const char* cursor;
  bool in_results;
  bool truncated;  // the instruction reaches over the end of the code
} vm_operands_t;

// At the instruction whose opcode is word `position`; false when it is none or out of range.
bool vm_operands_begin(const vm_word_t* code, uint32_t code_count, uint32_t position, vm_operands_t* out_operands);

// Next operand; false at the end (then `position` is the next instruction's) or when truncated.
bool vm_operands_next(vm_operands_t* operands, vm_operand_t* out_operand);

static inline uint64_t vm_read_u64(const vm_word_t* words) { return words[0] | (uint64_t)words[1] << 32; }

#endif  // MODULE_OPS_H_
