// Which dispatches may write results where they read arguments that callers give up (compiler/donate.h): of such a
// dispatch every result's element depends on the argument's element at the same place only, so that a kernel that reads
// before it writes and makes each element once can do it in place.
//
//   func.func @f(%x: T, %y: T, %into: T {iree.abi.output = 0, iree.abi.donor = 0}) -> T {
//     %0 = dispatch(%x, %y) ({ ^bb(%a, %b): %1 = mul %b, ...  %2 = sub %a, %1  yield %2 })    overwrites = [0, 0]
//     return %0
//
// `overwrites` has pairs: an operand, and the result that may be in its memory. Kernels (kernels/build.c) that cannot
// do so drop it, and whether it is done the host program decides, which knows what else uses the argument.
#include "passes/donation.h"

#include <string.h>

#include "passes/passes.h"

static bool is_same_shape(const ir_type_t* a, const ir_type_t* b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, sizeof(*a->dims) * (size_t)a->rank) == 0;
}

// In the order of the body, with the values that depend on the argument marked at their `data`. `result` has to be made
// by a scalar function or be an accumulated value's, not the argument itself.
static bool is_read_at_its_place(ir_block_t* body, ir_value_t* arg) {
  bool ok = true;
  arg->data = arg;
  IR_FOR_OPS(op, body) {
    bool depends = false;
    for (uint32_t i = 0; i < op->operand_count; ++i) depends |= ir_operand(op, i)->data != NULL;
    if (!depends || op == body->last) continue;
    ok &= graph_scalar_fn(op) >= 0 && op->result_count == 1 && is_same_shape(op->results[0].type, arg->type);
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = arg;
  }
  for (uint32_t i = 0; i < body->last->operand_count; ++i) {
    const ir_value_t* made = ir_operand(body->last, i);
    ok &= !made->data || is_same_shape(made->type, arg->type);
  }
  arg->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
  return ok;
}

// The one operand that a value is, or as many as there are.
static uint32_t operand_of(const ir_op_t* dispatch, const ir_value_t* value) {
  uint32_t found = dispatch->operand_count;
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) {
    if (ir_operand(dispatch, i) != value) continue;
    if (found < dispatch->operand_count) return dispatch->operand_count;
    found = i;
  }
  return found;
}

static int64_t number_of(const ir_attr_t* dict, const char* name) {
  const ir_attr_t* attr = dict->kind == IR_ATTR_DICT ? ir_attr_dict_get(dict, name) : NULL;
  return attr && attr->kind == IR_ATTR_INTEGER ? attr->integer : -1;
}

static bool mark(ir_context_t* ctx, ir_value_t* donor, const ir_value_t* value) {
  enum { MOST = 2 * GRAPH_MAX_RANK };
  ir_op_t* dispatch = value->def;
  if (!dispatch || !ir_is(dispatch, GRAPH_DISPATCH) || graph_in_place(dispatch) >= 0 ||
      dispatch->parent != donor->block)
    return false;
  ir_block_t* body = dispatch->regions[0].first;
  uint32_t operand = operand_of(dispatch, donor);
  bool fits = operand < dispatch->operand_count && is_same_shape(donor->type, value->type) &&
              ir_type_bytes(donor->type->element) == ir_type_bytes(value->type->element);
  if (!fits || !is_read_at_its_place(body, body->args[operand])) return false;
  int64_t pairs[MOST + 2];
  uint32_t count = ir_op_ints(dispatch, "overwrites", pairs, MOST);
  if (count == MOST) return false;
  pairs[count] = operand;
  pairs[count + 1] = value->index;
  ir_op_set_attr(ctx, dispatch, "overwrites", ir_attr_i64_array(ctx, pairs, count + 2));
  return true;
}

bool donation_read(const ir_op_t* func, uint32_t number, donated_t* out) {
  const ir_attr_t* attrs = ir_op_attr(func, "arg_attrs");
  const ir_block_t* body = func->regions[0].first;
  if (!attrs || attrs->kind != IR_ATTR_ARRAY || number >= attrs->count) return false;
  int64_t donor = number_of(attrs->items[number], "iree.abi.donor");
  int64_t result = number_of(attrs->items[number], "iree.abi.output");
  if (donor < 0 || donor >= body->arg_count || result < 0 || result >= body->last->operand_count) return false;
  *out = (donated_t){body->args[donor], ir_operand(body->last, (uint32_t)result)};
  return true;
}

pass_result_t pass_donation(ir_op_t* module, ir_context_t* ctx) {
  bool changed = false;
  IR_FOR_OPS(func, ir_module_body(module)) {
    const ir_block_t* body = strcmp(func->name, "func.func") == 0 ? func->regions[0].first : NULL;
    donated_t donated;
    for (uint32_t i = 0; body && i < body->arg_count; ++i) {
      if (donation_read(func, i, &donated)) changed |= mark(ctx, donated.argument, donated.result);
    }
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
