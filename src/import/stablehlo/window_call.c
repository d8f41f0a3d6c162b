// @stablehlo.dynamic_reduce_window: a reduce_window whose numbers are operands. Where only the padding is computed it
// becomes that op, with the called function as its region; else a running sum, or a reduce of the unfolded operand.
#include <string.h>

#include "dialects/func.h"
#include "dialects/stablehlo.h"
#include "import/lowering_size.h"
#include "import/stablehlo/ops.h"

enum { NUMBERS = 5 };  // sizes, strides, dilations of the operand and of the window, padding
static const char* const names[] = {"window_dimensions", "window_strides", "base_dilations", "window_dilations"};

// The function as written: what it is lowered to stands before it.
static const ir_op_t* find_body(const lower_op_t* n) {
  const ir_attr_t* called = ir_op_attr(n->op, "called_computations");
  bool named = called && called->kind == IR_ATTR_ARRAY && called->count == 1 && called->items[0]->text;
  const ir_op_t* found = NULL;
  IR_FOR_OPS(op, ir_module_body(n->l->module)) {
    if (named && ir_is(op, FUNC_FUNC) && strcmp(ir_op_string(op, "sym_name", ""), called->items[0]->text) == 0)
      found = op;
  }
  const ir_block_t* block = found ? found->regions[0].first : NULL;
  return block && !block->next && block->last ? found : NULL;
}

// The operand with its dilation and computed padding.
static ir_value_t* pad_operand(lower_op_t* n, ir_value_t* x, ir_value_t* start, const stablehlo_sweep_t* sweeps) {
  ir_value_t* one = graph_index_constant(n->b, 1);
  for (uint32_t d = 0; d < (uint32_t)x->type->rank; ++d) {
    const stablehlo_sweep_t* w = &sweeps[d];
    ir_value_t* interior = lower_index_binary(n->b, SCALAR_sub, w->base_dilation, one);
    x = stablehlo_pad_dim(n, x, start, (stablehlo_amounts_t){d, w->low, w->high, interior});
  }
  return x;
}

// The op, in a block of its own whose arguments stand for the operands.
static ir_op_t* build_op(lower_op_t* n, uint32_t code, ir_block_t* stage, const ir_named_attr_t* attrs,
                         uint32_t attr_count) {
  const ir_op_t* func = find_body(n);
  uint32_t count = n->op->operand_count - NUMBERS;
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, n->op->result_count + 1);
  for (uint32_t i = 0; i < n->op->result_count; ++i) types[i] = lower_out_type(n, i);
  ir_builder_t b = ir_builder_at_end(n->ctx, stage);
  b.loc = n->op->loc;
  ir_op_t* op = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(n->ctx, code),
                                              .operands = stage->args,
                                              .operand_count = count,
                                              .result_types = types,
                                              .result_count = n->op->result_count,
                                              .attrs = attrs,
                                              .attr_count = attr_count,
                                              .region_count = 1});
  ir_block_t *body = ir_block_create(n->ctx), *from = func->regions[0].first;
  ir_region_append(&op->regions[0], body);
  ir_value_map_t* map = ir_value_map_create(n->ctx);
  for (uint32_t i = 0; i < from->arg_count; ++i)
    ir_value_map_set(map, from->args[i], ir_block_add_arg(n->ctx, body, from->args[i]->type));
  ir_value_t** yields = ARENA_ARRAY(arena, ir_value_t*, from->last->operand_count + 1);
  IR_FOR_OPS(inner, from) {
    if (inner != from->last) ir_block_append(body, ir_op_clone(n->ctx, inner, map));
  }
  for (uint32_t i = 0; i < from->last->operand_count; ++i) yields[i] = ir_value_map_get(map, ir_operand(from->last, i));
  b = ir_builder_at_end(n->ctx, body);
  b.loc = n->op->loc;
  ir_build_op(&b, STABLEHLO_RETURN, yields, from->last->operand_count, NULL);
  return op;
}

// The op on values that stand for the operands; its results are those of the call.
static bool lower_stage(lower_op_t* n, uint32_t code, const lower_value_t* operands, const ir_named_attr_t* attrs,
                        uint32_t attr_count) {
  ir_block_t* stage = ir_block_create(n->ctx);
  for (uint32_t i = 0; i < n->op->operand_count - NUMBERS; ++i) {
    const ir_type_t *type = operands[i].v->type, *element = ir_type_scalar(lower_in_type(n, i));
    ir_value_t* arg = ir_block_add_arg(n->ctx, stage, ir_type_tensor(n->ctx, element, type->rank, type->dims));
    lower_set(n->l, arg, operands[i]);
  }
  ir_op_t* op = build_op(n, code, stage, attrs, attr_count);
  if (!lower_one(n->l, op)) return false;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_get(&op->results[i]);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// All numbers known, but perhaps the padding
//===----------------------------------------------------------------------------------------------------------------===

static bool known_sweep(const stablehlo_sweep_t* w, int64_t* numbers) {
  ir_value_t* values[] = {w->size, w->stride, w->base_dilation, w->dilation};
  for (uint32_t k = 0; k < NUMBERS - 1; ++k) {
    if (!lower_constant_index(values[k], &numbers[k])) return false;
  }
  return true;
}

static bool lower_known(lower_op_t* n, const stablehlo_sweep_t* sweeps, bool* known) {
  int64_t values[NUMBERS][2 * GRAPH_MAX_RANK], numbers[NUMBERS];
  uint32_t rank = (uint32_t)n->in[0]->type->rank, count = n->op->operand_count - NUMBERS;
  bool fixed = true;
  *known = false;
  for (uint32_t d = 0; d < rank; ++d) {
    if (!known_sweep(&sweeps[d], numbers)) return true;
    for (uint32_t k = 0; k < NUMBERS - 1; ++k) {
      values[k][d] = numbers[k];
      if (numbers[k] < 1 || numbers[k] > INT32_MAX) return lower_error(n, "needs positive numbers in %s", names[k]);
    }
    fixed &= lower_constant_index(sweeps[d].low, &values[4][2 * d]) &&
             lower_constant_index(sweeps[d].high, &values[4][2 * d + 1]);
  }
  *known = true;
  lower_value_t* operands = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, count);
  for (uint32_t i = 0; i < count; ++i) {
    lower_value_t *x = &operands[i], start = n->values[i < count / 2 ? count / 2 + i : i];
    *x = n->values[i];
    if (fixed || i >= count / 2) continue;
    x->v = pad_operand(n, x->v, start.v, sweeps);
    if (x->im) x->im = pad_operand(n, x->im, start.im, sweeps);
  }
  for (uint32_t d = 0; !fixed && d < rank; ++d) values[2][d] = 1, values[4][2 * d] = values[4][2 * d + 1] = 0;
  const int64_t shape[] = {rank, 2};
  const ir_type_t* pairs = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 2, shape);
  ir_named_attr_t attrs[NUMBERS];
  for (uint32_t k = 0; k < NUMBERS - 1; ++k)
    attrs[k] = (ir_named_attr_t){names[k], ir_attr_i64_array(n->ctx, values[k], rank)};
  attrs[4] = (ir_named_attr_t){"padding", ir_attr_elements(n->ctx, pairs, values[4], sizeof(int64_t) * 2 * rank)};
  return lower_stage(n, STABLEHLO_REDUCE_WINDOW, operands, attrs, NUMBERS);
}

//===----------------------------------------------------------------------------------------------------------------===
// Windows of a computed size
//===----------------------------------------------------------------------------------------------------------------===

static bool is_one(const ir_value_t* v) {
  int64_t number;
  return lower_constant_index(v, &number) && number == 1;
}
static bool is_zero(const ir_value_t* v) {
  int64_t number;
  return lower_constant_index(v, &number) && number == 0;
}

// The one dimension along which the window sees all elements up to its place, or (`reverse`) from it on; or -1.
static int64_t running_axis(lower_op_t* n, const stablehlo_sweep_t* sweeps, bool* reverse) {
  int64_t axis = -1, less;
  for (int32_t d = 0; d < n->in[0]->type->rank; ++d) {
    const stablehlo_sweep_t* w = &sweeps[d];
    if (stablehlo_sweep_is_trivial(w)) continue;
    bool steps = is_one(w->stride) && is_one(w->base_dilation) && is_one(w->dilation);
    if (axis >= 0 || !steps || !lower_size_same(w->size, lower_size(n->b, n->in[0], d))) return -1;
    *reverse = is_zero(w->low);
    bool whole = lower_size_distance(w->size, *reverse ? w->high : w->low, &less) && less == 1;
    if (!whole || !is_zero(*reverse ? w->low : w->high)) return -1;
    axis = d;
  }
  return axis;
}

// Running sums and their like, where each result is one of an operand alone.
static bool lower_running(lower_op_t* n, const ir_op_t* func, const stablehlo_sweep_t* sweeps) {
  uint32_t count = n->op->result_count;
  bool reverse = false;
  int64_t axis = running_axis(n, sweeps, &reverse);
  if (axis < 0) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!stablehlo_kind_fits(&n->values[i], stablehlo_region_kind(&func->regions[0], i, count))) return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* kind = stablehlo_region_kind(&func->regions[0], i, count);
    lower_value_t x = n->values[i], start = n->values[count + i];
    ir_named_attr_t attrs[3] = {{"axis", ir_attr_i64(n->ctx, axis)},
                                {"kind", ir_attr_cstring(n->ctx, kind)},
                                {"reverse", ir_attr_unit(n->ctx)}};
    for (int part = 0; part < (x.im ? 2 : 1); ++part) {
      ir_value_t* v = part ? x.im : x.v;
      v = lower_with_init(n, kind, lower_build(n, GRAPH_SCAN, &v, 1, v->type, attrs, reverse ? 3 : 2),
                          part ? start.im : start.v);
      *(part ? &n->out[i].im : &n->out[i].v) = v;
    }
  }
  return true;
}

static bool lower_unfolded(lower_op_t* n, const stablehlo_sweep_t* sweeps) {
  uint32_t count = n->op->operand_count - NUMBERS, more = 0;
  int32_t rank = n->in[0]->type->rank;
  int64_t dims[GRAPH_MAX_RANK];
  lower_value_t* operands = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, count);
  for (int32_t d = 0; d < rank; ++d) {
    if (!stablehlo_sweep_is_trivial(&sweeps[d])) dims[more] = d + 1 + (int64_t)more, ++more;
  }
  if ((uint32_t)rank + more > GRAPH_MAX_RANK) return lower_unsupported(n, "fewer dimensions with computed windows are");
  memcpy(operands, n->values, sizeof(*operands) * count);
  for (int32_t d = rank; d-- > 0;) {
    if (stablehlo_sweep_is_trivial(&sweeps[d])) continue;
    for (uint32_t i = 0; i < count / 2; ++i) {
      lower_value_t *x = &operands[i], start = operands[count / 2 + i];
      x->v = stablehlo_unfold(n, x->v, start.v, (uint32_t)d, sweeps[d]);
      if (x->im) x->im = stablehlo_unfold(n, x->im, start.im, (uint32_t)d, sweeps[d]);
    }
  }
  ir_named_attr_t attr = {"dimensions", ir_attr_i64_array(n->ctx, dims, more)};
  return lower_stage(n, STABLEHLO_REDUCE, operands, &attr, 1);
}

static bool check_call(lower_op_t* n) {
  uint32_t count = n->op->operand_count - NUMBERS;
  if (n->op->operand_count < NUMBERS + 2 || count != 2 * n->op->result_count || !find_body(n))
    return lower_error(n, "needs operands, start values, five lists of numbers and a function");
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    const ir_value_t* v = n->in[i];
    if (!v || !ir_type_is_tensor(v->type)) return lower_unsupported(n, "tensors are");
    int64_t rank = n->in[0]->type->rank, elements = i + 1 == n->op->operand_count ? 2 * rank : rank;
    bool fits = i >= count       ? !lower_is_float(v->type) && ir_type_count(v->type) == elements
                : i >= count / 2 ? v->type->rank == 0 && !n->values[i].im == !n->values[i - count / 2].im
                                 : v->type->rank == rank;
    if (!fits) return lower_error(n, "has an operand %u of type %s", i, ir_type_str(n->ctx, v->type));
  }
  return true;
}

bool stablehlo_dynamic_reduce_window(lower_op_t* n) {
  stablehlo_sweep_t sweeps[GRAPH_MAX_RANK];
  ir_value_t* lists[NUMBERS];
  bool known;
  if (!check_call(n)) return false;
  for (uint32_t k = 0; k < NUMBERS; ++k) {
    lists[k] = n->in[n->op->operand_count - NUMBERS + k];
    int64_t count = ir_type_count(lists[k]->type);
    lists[k] = graph_reshape(n->b, lists[k], 1, &count, NULL);
  }
  for (int32_t d = 0; d < n->in[0]->type->rank; ++d) {
    ir_value_t* numbers[NUMBERS - 1];
    for (uint32_t k = 0; k < NUMBERS - 1; ++k) numbers[k] = lower_index_element(n->b, lists[k], d);
    sweeps[d] = (stablehlo_sweep_t){.size = numbers[0],
                                    .stride = numbers[1],
                                    .base_dilation = numbers[2],
                                    .dilation = numbers[3],
                                    .low = lower_index_element(n->b, lists[4], 2 * d),
                                    .high = lower_index_element(n->b, lists[4], 2 * d + 1)};
  }
  if (!lower_known(n, sweeps, &known)) return false;
  return known || lower_running(n, find_body(n), sweeps) || lower_unfolded(n, sweeps);
}
