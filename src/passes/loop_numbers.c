// Loop counters as numbers of the host: what decides whether a loop goes on, and where it reads and writes, is computed
// beside the kernels instead of being read back from the device in every round.
//
//   %r:2 = while(%zero, %x)                          %r:2 = while(%x, 0 : i64)
//     ^(%i: tensor<i64>, %v): yield lt %i, %n           ^(%v, %i: i64): yield lt %i, 100
//     ^(%i, %v): %s = to_scalar %i              =>      ^(%v, %i: i64): %u = dynamic_slice %y, %i
//                %u = dynamic_slice %y, %s                              yield %w, add %i, 1
//                yield add %i, 1, %w
//
// Numbers are found from where they are needed. A counter that kernels use too stays with them, beside its double.
#include <string.h>

#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

enum { MAX_DEPTH = 16, MAX_CARRIED = 256 };

typedef struct loop_t {
  ir_context_t* ctx;
  ir_op_t* op;
  ir_block_t *test, *body;
  uint32_t count;               // carried values
  int32_t number[MAX_CARRIED];  // position among the numbers, -1: none
  uint32_t numbers[MAX_CARRIED], number_count;
} loop_t;

static bool is_number(const ir_type_t* type) {
  return ir_type_is_tensor(type) && type->rank == 0 &&
         (ir_type_is_int(type->element) || type->element->kind == IR_TYPE_INDEX) && ir_type_bytes(type->element) >= 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// What the host can compute
//===----------------------------------------------------------------------------------------------------------------===

static bool has_host_function(const ir_op_t* op) {
  switch (graph_scalar_fn(op)) {
    case SCALAR_add:
    case SCALAR_sub:
    case SCALAR_mul:
    case SCALAR_min:
    case SCALAR_max:
    case SCALAR_and:
    case SCALAR_or:
    case SCALAR_eq:
    case SCALAR_ne:
    case SCALAR_lt:
    case SCALAR_le:
    case SCALAR_gt:
    case SCALAR_ge:
    case SCALAR_select:
    case SCALAR_cast:
      return true;
    default:
      return false;
  }
}

// The number of a carried value that `value` is an argument for, or -1.
static int32_t carried_index(const loop_t* l, const ir_value_t* value) {
  bool is_argument = !value->def && (value->block == l->test || value->block == l->body);
  return is_argument && value->index < l->count ? (int32_t)value->index : -1;
}

static bool is_outside(const loop_t* l, const ir_value_t* value) {
  const ir_op_t* holder = value->def ? value->def : value->block->parent->parent;
  return holder != l->op && !ir_op_is_inside(holder, l->op);
}

// Whether a value comes from constants, from before the loop and from carried values; the latter are marked in `used`.
static bool can_compute(const loop_t* l, const ir_value_t* value, bool* used, int depth) {
  int32_t index = carried_index(l, value);
  if (!is_number(value->type) || depth > MAX_DEPTH) return false;
  if (index >= 0) used[index] = true;
  if (index >= 0 || is_outside(l, value)) return true;
  const ir_op_t* op = value->def;
  if (!op || (op->parent != l->test && op->parent != l->body)) return false;
  if (ir_is(op, GRAPH_CONSTANT)) return true;
  if (ir_is(op, GRAPH_RESHAPE)) return can_compute(l, ir_operand(op, 0), used, depth + 1);
  for (uint32_t i = 0; has_host_function(op) && i < op->operand_count; ++i) {
    if (!can_compute(l, ir_operand(op, i), used, depth + 1)) return false;
  }
  return has_host_function(op);
}

// Whether `value` and every carried value that it leads to can be computed; those that it leads to become numbers.
static bool reach(loop_t* l, const ir_value_t* value) {
  bool used[MAX_CARRIED] = {false}, seen[MAX_CARRIED] = {false};
  if (!can_compute(l, value, used, 0)) return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < l->count; ++i) {
      if (!used[i] || seen[i]) continue;
      seen[i] = changed = true;
      if (!can_compute(l, ir_operand(l->body->last, i), used, 0)) return false;
    }
  }
  for (uint32_t i = 0; i < l->count; ++i) {
    if (!used[i] || l->number[i] >= 0) continue;
    l->number[i] = (int32_t)l->number_count;
    l->numbers[l->number_count++] = i;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Computing it there
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* number_constant(ir_builder_t* b, const ir_attr_t* value) {
  const ir_type_t* type = value->type->element;
  ir_named_attr_t attr = {"value", ir_attr_integer(b->ctx, type, ir_attr_element_integer(value, 0))};
  return graph_build(b, GRAPH_CONSTANT, NULL, 0, type, &attr, 1);
}

// Whether the host has the number already: a constant, a size, and what it computes with them.
static bool is_at_hand(const ir_value_t* tensor, int depth) {
  const ir_op_t* op = tensor->def;
  if (!op || depth > MAX_DEPTH || !is_number(tensor->type)) return false;
  if (ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_TO_TENSOR)) return true;
  for (uint32_t i = 0; has_host_function(op) && i < op->operand_count; ++i) {
    if (!is_at_hand(ir_operand(op, i), depth + 1)) return false;
  }
  return has_host_function(op);
}

static ir_value_t* to_number(ir_builder_t* b, ir_value_t* tensor) {
  const ir_attr_t* constant = graph_constant_value(tensor);
  ir_op_t* op = tensor->def;
  if (constant) return number_constant(b, constant);
  if (!is_at_hand(tensor, 0)) return graph_build(b, GRAPH_TO_SCALAR, &tensor, 1, tensor->type->element, NULL, 0);
  if (ir_is(op, GRAPH_TO_TENSOR)) return ir_operand(op, 0);
  ir_value_t* operands[3];
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = to_number(b, ir_operand(op, i));
  return graph_build(b, op->info->code, operands, op->operand_count, tensor->type->element, NULL, 0);
}

// `value` as a number: `b` builds in the region, `before` in front of the loop.
static ir_value_t* compute(const loop_t* l, ir_builder_t* b, ir_builder_t* before, ir_value_t* value) {
  int32_t index = carried_index(l, value);
  if (index >= 0) return value->block->args[l->count + (uint32_t)l->number[index]];
  if (is_outside(l, value)) return to_number(before, value);
  ir_op_t* op = value->def;
  if (ir_is(op, GRAPH_CONSTANT)) return to_number(b, value);
  if (ir_is(op, GRAPH_RESHAPE)) return compute(l, b, before, ir_operand(op, 0));
  ir_value_t* operands[3];
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = compute(l, b, before, ir_operand(op, i));
  return graph_build(b, op->info->code, operands, op->operand_count, value->type->element, NULL, 0);
}

static bool is_loop_scalar(const loop_t* l, const ir_op_t* op) {
  return ir_is(op, GRAPH_TO_SCALAR) && (op->parent == l->body || op->parent == l->test) &&
         !is_outside(l, ir_operand(op, 0)) &&
         !(ir_operand(op, 0)->def && ir_is(ir_operand(op, 0)->def, GRAPH_CONSTANT));
}

static void find_numbers(loop_t* l) {
  for (uint32_t i = 0; i < l->count; ++i) l->number[i] = -1;
  reach(l, ir_operand(l->test->last, 0));
  IR_FOR_OPS(op, l->body) {
    if (is_loop_scalar(l, op)) reach(l, ir_operand(op, 0));
  }
}

static bool is_ready(const loop_t* l, const ir_value_t* value) {
  bool used[MAX_CARRIED] = {false};
  if (!can_compute(l, value, used, 0)) return false;
  for (uint32_t i = 0; i < l->count; ++i) {
    if (used[i] && l->number[i] < 0) return false;
  }
  return true;
}

static void compute_test(loop_t* l, ir_builder_t* before) {
  ir_value_t* go = ir_operand(l->test->last, 0);
  if (!ir_type_is_tensor(go->type) || !is_ready(l, go)) return;
  ir_builder_t b = ir_builder_before(l->ctx, l->test->last);
  ir_op_set_operand(l->test->last, 0, compute(l, &b, before, go));
}

static void compute_scalars(loop_t* l, ir_builder_t* before) {
  IR_FOR_OPS_SAFE(op, l->body) {
    if (!is_loop_scalar(l, op) || !is_ready(l, ir_operand(op, 0))) continue;
    ir_builder_t b = ir_builder_before(l->ctx, op);
    ir_value_replace(ir_result(op, 0), compute(l, &b, before, ir_operand(op, 0)));
    ir_op_erase(op);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The loop with other carried values
//===----------------------------------------------------------------------------------------------------------------===

// Whether a carried value only leads to itself.
static bool is_idle(const loop_t* l, const ir_value_t* value, uint32_t index, int depth) {
  if (depth > MAX_DEPTH) return false;
  IR_FOR_USES(use, value) {
    const ir_op_t* user = use->owner;
    if (user == l->body->last) {
      if ((uint32_t)(use - user->operands) != index) return false;
      continue;
    }
    if (user->parent != l->body || !ir_has_trait(user, IR_TRAIT_PURE) || user->result_count != 1) return false;
    if (!is_idle(l, &user->results[0], index, depth + 1)) return false;
  }
  return true;
}

static void drop_argument(ir_block_t* block, uint32_t index) {
  --block->arg_count;
  for (uint32_t i = index; i < block->arg_count; ++i) {
    block->args[i] = block->args[i + 1];
    block->args[i]->index = i;
  }
}

static void move_block(ir_region_t* to, ir_block_t* block) {
  ir_region_t* from = block->parent;
  from->first = from->last = NULL;
  block->parent = NULL;
  ir_region_append(to, block);
}

static void drop_dead(ir_block_t* block) {
  for (ir_op_t *op = block->last, *previous; op; op = previous) {
    previous = op->prev;
    bool used = !ir_has_trait(op, IR_TRAIT_PURE) || !op->result_count;
    for (uint32_t i = 0; i < op->result_count; ++i) used |= op->results[i].uses != NULL;
    if (!used) ir_op_erase(op);
  }
}

// The values that go on being carried, numbers behind them; results of those that do not are made from their numbers.
static void rebuild(loop_t* l, ir_value_t** initial) {
  uint32_t total = l->count + l->number_count, kept = 0;
  bool drops[MAX_CARRIED] = {false};
  ir_value_t *values[2 * MAX_CARRIED], *next[2 * MAX_CARRIED];
  const ir_type_t* types[2 * MAX_CARRIED];
  uint32_t place[MAX_CARRIED];
  drop_dead(l->test);
  for (uint32_t i = 0; i < l->count; ++i) {
    drops[i] = l->number[i] >= 0 && !l->test->args[i]->uses && is_idle(l, l->body->args[i], i, 0);
  }
  for (uint32_t i = 0; i < total; ++i) {
    if (i < l->count && drops[i]) continue;
    if (i < l->count) place[i] = kept;
    values[kept] = initial[i];
    next[kept] = ir_operand(l->body->last, i);
    types[kept++] = initial[i]->type;
  }
  uint32_t first_number = kept - l->number_count;
  ir_op_set_operands(l->ctx, l->body->last, next, kept);
  drop_dead(l->body);
  for (uint32_t i = l->count; i-- > 0;) {
    if (!drops[i]) continue;
    drop_argument(l->test, i);
    drop_argument(l->body, i);
  }
  ir_builder_t b = ir_builder_before(l->ctx, l->op);
  b.loc = l->op->loc;
  ir_op_t* op = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(l->ctx, GRAPH_WHILE),
                                              .operands = values,
                                              .operand_count = kept,
                                              .result_types = types,
                                              .result_count = kept,
                                              .region_count = 2});
  move_block(&op->regions[0], l->test);
  move_block(&op->regions[1], l->body);
  for (uint32_t i = 0; i < l->count; ++i) {
    ir_value_t* old = ir_result(l->op, i);
    if (!old->uses) continue;
    ir_value_t* number = drops[i] ? ir_result(op, first_number + (uint32_t)l->number[i]) : NULL;
    ir_value_replace(
        old, number ? graph_build(&b, GRAPH_TO_TENSOR, &number, 1, old->type, NULL, 0) : ir_result(op, place[i]));
  }
  ir_op_erase(l->op);
}

static bool convert(ir_context_t* ctx, ir_op_t* op) {
  loop_t l = {
      .ctx = ctx, .op = op, .test = op->regions[0].first, .body = op->regions[1].first, .count = op->operand_count};
  if (l.count > MAX_CARRIED) return false;
  find_numbers(&l);
  if (!l.number_count) return false;
  ir_builder_t before = ir_builder_before(ctx, op), inside = ir_builder_before(ctx, l.body->last);
  before.loc = inside.loc = op->loc;
  ir_value_t *initial[2 * MAX_CARRIED], *next[2 * MAX_CARRIED];
  for (uint32_t i = 0; i < l.count; ++i) initial[i] = ir_operand(op, i);
  for (uint32_t i = 0; i < l.number_count; ++i) {
    initial[l.count + i] = to_number(&before, initial[l.numbers[i]]);
    ir_block_add_arg(ctx, l.test, initial[l.count + i]->type);
    ir_block_add_arg(ctx, l.body, initial[l.count + i]->type);
  }
  for (uint32_t i = 0; i < l.count; ++i) next[i] = ir_operand(l.body->last, i);
  for (uint32_t i = 0; i < l.number_count; ++i) next[l.count + i] = compute(&l, &inside, &before, next[l.numbers[i]]);
  compute_test(&l, &before);
  compute_scalars(&l, &before);
  for (uint32_t i = 0; i < l.count; ++i) next[i] = ir_operand(l.body->last, i);
  ir_op_set_operands(ctx, l.body->last, next, l.count + l.number_count);
  rebuild(&l, initial);
  return true;
}

static bool visit(void* ctx, ir_op_t* op) { return ir_is(op, GRAPH_WHILE) && convert(ctx, op); }

pass_result_t pass_loop_numbers(ir_op_t* module, ir_context_t* ctx) {
  return rewrite_each(module, visit, ctx) ? PASS_CHANGED : PASS_UNCHANGED;
}
