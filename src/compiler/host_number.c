// Sizes and workgroups in registers: what a block has computed already is not computed again, since a program has few
// sizes and many values.
#include "compiler/host_state.h"

static uint64_t number_hash(const void* number) {
  const host_number_t* x = number;
  uint64_t hash = ir_hash_mix((uintptr_t)x->block, (uint64_t)x->code);
  return ir_hash_mix(ir_hash_mix(hash, (uint64_t)x->a), (uint64_t)x->b);
}

static bool number_equal(const void* number, const void* key) {
  const host_number_t *x = number, *y = key;
  return x->block == y->block && x->code == y->code && x->a == y->a && x->b == y->b;
}

static const host_number_t* find_number(const host_t* h, const host_number_t* key) {
  return ir_set_find(&h->numbers, number_hash(key), key, number_equal);
}

static module_reg_t add_number(host_t* h, host_number_t number) {
  host_number_t* kept = ARENA_NEW(ir_context_arena(h->ctx), host_number_t);
  *kept = number;
  ir_set_insert(&h->numbers, number_hash(kept), kept, number_hash);
  return number.reg;
}

module_reg_t host_number_constant(host_t* h, int64_t value) {
  host_number_t number = {.block = h->block, .code = VM_OP_const_i64, .a = value};
  const host_number_t* known = find_number(h, &number);
  if (known) return known->reg;
  number.reg = module_function_i64(h->f, value);
  return add_number(h, number);
}

bool host_number_is_known(const host_t* h, vm_op_t code, module_reg_t a, module_reg_t b) {
  return find_number(h, &(host_number_t){.block = h->block, .code = code, .a = a, .b = b});
}

module_reg_t host_number_binary(host_t* h, vm_op_t code, module_reg_t a, module_reg_t b) {
  host_number_t number = {.block = h->block, .code = code, .a = a, .b = b};
  const host_number_t* known = find_number(h, &number);
  if (known) return known->reg;
  module_operand_t operands[] = {MODULE_REG(a), MODULE_REG(b)};
  number.reg = module_function_emit_value(h->f, code, operands, 2);
  return add_number(h, number);
}
