// @stablehlo.dynamic_reduce_window: a reduce_window whose numbers are operands. It becomes that op, with the called
// function as its region; only the padding may be computed at run time.
#include <string.h>

#include "dialects/func.h"
#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

enum { NUMBERS = 5 };  // sizes, strides, dilations of the operand and of the window, padding

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

static bool read_numbers(lower_op_t* n, ir_value_t* v, int64_t count, int64_t* out) {
  if (!v || !ir_type_is_tensor(v->type) || ir_type_count(v->type) != count) return false;
  v = graph_reshape(n->b, v, 1, &count, NULL);
  for (int64_t i = 0; i < count; ++i) {
    if (!lower_constant_index(lower_index_element(n->b, v, i), &out[i])) return false;
  }
  return true;
}

// The operand with its dilation and computed padding.
static ir_value_t* pad_operand(lower_op_t* n, ir_value_t* x, ir_value_t* start, const int64_t* dilations,
                               ir_value_t* padding) {
  int64_t interior[GRAPH_MAX_RANK], none[GRAPH_MAX_RANK] = {0}, count = 2 * (int64_t)x->type->rank;
  for (int32_t d = 0; d < x->type->rank; ++d) interior[d] = dilations[d] - 1;
  x = graph_pad(n->b, x, start, none, none, interior, "constant");
  padding = graph_reshape(n->b, padding, 1, &count, NULL);
  for (uint32_t d = 0; d < (uint32_t)x->type->rank; ++d) {
    stablehlo_amounts_t by = {d, lower_index_element(n->b, padding, 2 * d),
                              lower_index_element(n->b, padding, 2 * d + 1)};
    x = stablehlo_pad_dim(n, x, start, by);
  }
  return x;
}

// The op, in a block of its own whose arguments stand for the operands.
static ir_op_t* build_op(lower_op_t* n, const ir_op_t* func, ir_block_t* stage, const ir_named_attr_t* attrs) {
  uint32_t count = n->op->operand_count - NUMBERS;
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, n->op->result_count + 1);
  for (uint32_t i = 0; i < n->op->result_count; ++i) types[i] = lower_out_type(n, i);
  ir_builder_t b = ir_builder_at_end(n->ctx, stage);
  b.loc = n->op->loc;
  ir_op_t* op = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(n->ctx, STABLEHLO_REDUCE_WINDOW),
                                              .operands = stage->args,
                                              .operand_count = count,
                                              .result_types = types,
                                              .result_count = n->op->result_count,
                                              .attrs = attrs,
                                              .attr_count = NUMBERS,
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

bool stablehlo_dynamic_reduce_window(lower_op_t* n) {
  static const char* const names[] = {"window_dimensions", "window_strides", "base_dilations", "window_dilations"};
  const ir_op_t* func = find_body(n);
  uint32_t count = n->op->operand_count - NUMBERS;
  int64_t values[NUMBERS][2 * GRAPH_MAX_RANK] = {{0}};
  if (n->op->operand_count < NUMBERS + 2 || count != 2 * n->op->result_count || !func || !lower_check_tensors(n))
    return lower_error(n, "needs operands, start values, five lists of numbers and a function");
  uint32_t rank = (uint32_t)n->in[0]->type->rank;
  for (uint32_t k = 0; k < NUMBERS - 1; ++k) {
    if (!read_numbers(n, n->in[count + k], rank, values[k])) return lower_unsupported(n, "constant %s are", names[k]);
    for (uint32_t d = 0; d < rank; ++d) {
      if (values[k][d] < 1 || values[k][d] > INT32_MAX) return lower_error(n, "needs positive numbers in %s", names[k]);
    }
  }
  bool fixed = read_numbers(n, n->in[count + 4], 2 * (int64_t)rank, values[4]);
  if (!fixed && ir_type_count(n->in[count + 4]->type) != 2 * (int64_t)rank)
    return lower_error(n, "needs two numbers for each dimension as padding");
  ir_block_t* stage = ir_block_create(n->ctx);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t *arg = ir_block_add_arg(n->ctx, stage, lower_in_type(n, i)), *v = n->in[i];
    bool padded = !fixed && i < count / 2;
    if (padded && (v->type->rank != (int32_t)rank || n->in[count / 2 + i]->type->rank != 0))
      return lower_error(n, "needs operands of one rank and start values without dims");
    if (padded) v = pad_operand(n, v, n->in[count / 2 + i], values[2], n->in[count + 4]);
    lower_set(n->l, arg, (lower_value_t){.v = v});
  }
  for (uint32_t d = 0; !fixed && d < rank; ++d) values[2][d] = 1, values[4][2 * d] = values[4][2 * d + 1] = 0;
  const int64_t shape[] = {rank, 2};
  const ir_type_t* pairs = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 2, shape);
  ir_named_attr_t attrs[NUMBERS];
  for (uint32_t k = 0; k < NUMBERS - 1; ++k)
    attrs[k] = (ir_named_attr_t){names[k], ir_attr_i64_array(n->ctx, values[k], rank)};
  attrs[4] = (ir_named_attr_t){"padding", ir_attr_elements(n->ctx, pairs, values[4], sizeof(int64_t) * 2 * rank)};
  ir_op_t* op = build_op(n, func, stage, attrs);
  if (!lower_one(n->l, op)) return false;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_get(&op->results[i]);
  return true;
}
