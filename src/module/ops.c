// Tables over ops.def that the verifier, the writer, the disassembler and the interpreter share.

#include "module/ops.h"

#include <stddef.h>
#include <string.h>

static const vm_op_info_t op_infos[VM_OP_COUNT] = {
#define FLOW(name, signature) [VM_OP_##name] = {#name, signature},
#define OP(name, signature) [VM_OP_##name] = {#name, signature},
#define UNARY(name, R, A, expr) [VM_OP_##name] = {#name, #R "=" #A},
#define BINARY(name, R, A, B, expr) [VM_OP_##name] = {#name, #R "=" #A #B},
#define TERNARY(name, R, A, B, C, expr) [VM_OP_##name] = {#name, #R "=" #A #B #C},
#define DIVIDE(name, R, U, expr) [VM_OP_##name] = {#name, #R "=" #R #R},
#define LOAD(name, R, ctype) [VM_OP_##name] = {#name, #R "=rI"},
#define STORE(name, A, ctype) [VM_OP_##name] = {#name, "rI" #A},
#define HAL_LOAD(name, R, ctype) [VM_OP_##name] = {#name, #R "=rrI"},
#include "module/ops.def"
#include "module/ops_undef.h"
};

typedef struct type_info_t {
  char letter;
  const char* name;
} type_info_t;

static const type_info_t type_infos[VM_TYPE_COUNT] = {
#define VM_TYPE(NAME, letter, name, size) [VM_TYPE_##NAME] = {letter, name},
    VM_TYPES(VM_TYPE)
#undef VM_TYPE
};

const vm_op_info_t* vm_op_info(uint32_t op) { return op < VM_OP_COUNT ? &op_infos[op] : NULL; }

const char* vm_type_name(vm_type_t type) { return type < VM_TYPE_COUNT ? type_infos[type].name : "none"; }
char vm_type_letter(vm_type_t type) { return type < VM_TYPE_COUNT ? type_infos[type].letter : '?'; }

bool vm_signature_has_results(const char* signature) { return strchr(signature, '=') != NULL; }

bool vm_signature_next(const char** cursor, bool* in_results, vm_operand_kind_t* out_kind) {
  const char* at = *cursor;
  if (*at == '=') {
    *in_results = false;
    ++at;
  }
  if (!*at) return false;
  out_kind->letter = *at++;
  out_kind->is_result = *in_results;
  out_kind->is_list = *at == '*';
  *cursor = at + out_kind->is_list;
  return true;
}

uint32_t vm_operand_words(char letter) {
  if (!letter) return 0;
  return strchr("iIfFrva13LSNMGDTHCB", letter) ? 1 : strchr("24", letter) ? 2 : 0;
}

bool vm_operand_is_register(char letter) { return letter && strchr("iIfFrva", letter); }

bool vm_operands_begin(const vm_word_t* code, uint32_t code_count, uint32_t position, vm_operands_t* out_operands) {
  const vm_op_info_t* info = position < code_count ? vm_op_info(code[position]) : NULL;
  if (!info) return false;
  *out_operands = (vm_operands_t){
      code, code_count, position + 1, info->signature, vm_signature_has_results(info->signature), false};
  return true;
}

bool vm_operands_next(vm_operands_t* operands, vm_operand_t* out_operand) {
  if (!vm_signature_next(&operands->cursor, &operands->in_results, &out_operand->kind)) return false;
  uint32_t available = operands->code_count - operands->position;
  out_operand->count = 1;
  if (out_operand->kind.is_list) {
    operands->truncated = available < 1;
    if (operands->truncated) return false;
    out_operand->count = operands->code[operands->position++];
    --available;
  }
  uint64_t words = (uint64_t)out_operand->count * vm_operand_words(out_operand->kind.letter);
  operands->truncated = words > available;
  if (operands->truncated) return false;
  out_operand->at = operands->position;
  operands->position += (uint32_t)words;
  return true;
}
