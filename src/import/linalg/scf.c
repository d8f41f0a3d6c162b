// The scf dialect: loops over graph.while, branches over graph.if. In bodies that run on whole tensors a branch chooses
// between both sides' values.
#include "dialects/scf.h"

#include <string.h>

#include "import/control.h"
#include "import/linalg/ops.h"

static ir_block_t* only_block(const ir_region_t* region) {
  ir_block_t* block = region->first;
  return block && !block->next && block->last ? block : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// if, index_switch, execute_region
//===----------------------------------------------------------------------------------------------------------------===

static bool build_nothing(lower_op_t* n, uint32_t number) {
  (void)number;
  return !n->op->result_count || lower_error(n, "needs an else region, because it has results");
}

// Both sides, then a choice for each element.
static bool select_sides(lower_op_t* n, ir_block_t* then, ir_block_t* other) {
  lower_value_t* values[2];
  uint32_t counts[2];
  if (!other || !lower_block(n->l, then, NULL, &values[0], &counts[0]) ||
      !lower_block(n->l, other, NULL, &values[1], &counts[1])) {
    return other ? false : lower_unsupported(n, "on whole tensors an else region is needed");
  }
  if (counts[0] != n->op->result_count || counts[1] != counts[0]) return lower_error(n, "yields other values");
  for (uint32_t i = 0; i < counts[0]; ++i) {
    ir_value_t* v[3] = {n->in[0], values[0][i].v, values[1][i].v};
    if (!v[1] || !v[2] || !lower_unify(n, v, 3)) return false;
    n->out[i].v = graph_select(n->b, v[0], v[1], v[2]);
  }
  return true;
}

// Of a branch in a dispatch: its results, then the tensors of the dispatch that it stores.
static bool lower_storing_side(lower_op_t* n, ir_block_t* block, ir_value_t* const* stored, uint32_t count,
                               lower_list_t* out) {
  lower_value_t *values = NULL, before[GRAPH_MAX_TIED];
  uint32_t value_count = 0;
  for (uint32_t i = 0; i < count; ++i) before[i] = lower_get(stored[i]);
  if (block && !lower_block(n->l, block, NULL, &values, &value_count)) return false;
  if (value_count != n->op->result_count) return lower_error(n, "yields other values");
  for (uint32_t i = 0; i < value_count; ++i) lower_flatten(values[i], out);
  for (uint32_t i = 0; i < count; ++i) {
    lower_list_add(out, lower_get(stored[i]).v);
    lower_set(n->l, stored[i], before[i]);
  }
  return true;
}

static bool lower_storing_if(lower_op_t* n, ir_block_t* const* sides, ir_value_t* const* stored, uint32_t count) {
  lower_types_t types = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (!lower_flat_types(n->ctx, lower_out_type(n, i), &types)) return lower_unsupported(n, "tensors and numbers are");
  }
  for (uint32_t i = 0; i < count; ++i) lower_types_add(&types, lower_get(stored[i]).v->type);
  ir_value_t* condition = lower_as_tensor(n->b, n->in[0]);
  ir_op_t* op = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_IF),
                                                .operands = &condition,
                                                .operand_count = 1,
                                                .result_types = types.items,
                                                .result_count = types.count,
                                                .region_count = 2});
  ir_builder_t saved = *n->b;
  bool ok = true;
  for (int i = 0; i < 2 && ok; ++i) {
    lower_list_t list = LOWER_LIST(n->ctx);
    n->b->block = ir_block_create(n->ctx);
    n->b->before = NULL;
    ir_region_append(&op->regions[i], n->b->block);
    ok = lower_storing_side(n, sides[i], stored, count, &list);
    for (uint32_t k = 0; ok && k < list.count; ++k) {
      ok = (list.items[k] = lower_coerce(n->l, list.items[k], types.items[k])) != NULL;
    }
    if (ok) ir_build_op(n->b, GRAPH_YIELD, list.items, list.count, NULL);
  }
  *n->b = saved;
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_list_add_results(&results, op, 0);
  ir_value_t* const* next = results.items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  for (uint32_t i = 0; i < count && ok; ++i) lower_set(n->l, stored[i], (lower_value_t){.v = *next++});
  return ok;
}

static bool scf_lower_if(lower_op_t* n) {
  ir_block_t *then = only_block(&n->op->regions[0]), *other = only_block(&n->op->regions[1]);
  if (!then || then->arg_count || (other && other->arg_count)) return lower_error(n, "needs regions of one block");
  if (n->l->whole) return select_sides(n, then, other);
  ir_value_t* stored[GRAPH_MAX_TIED];
  uint32_t count = dispatch_stored_in(n->l, n->op, stored);
  if (count) return lower_storing_if(n, (ir_block_t*[]){then, other}, stored, count);
  lower_branch_t a = {.block = then}, b = {.block = other, .build = build_nothing};
  return lower_build_if(n, n->in[0], &a, &b);
}

// Regions: default, then one for each of `cases`.
static bool scf_lower_index_switch(lower_op_t* n) {
  const ir_attr_t* cases = ir_op_attr(n->op, "cases");
  uint32_t count = cases && cases->kind == IR_ATTR_DENSE_ARRAY ? cases->count : 0;
  if (!n->op->region_count || n->op->region_count != count + 1 || n->l->whole) {
    return lower_unsupported(n, "a number, and a region for each case, are");
  }
  ir_value_t* region = graph_index_constant(n->b, 0);
  for (uint32_t i = count; i-- > 0;) {
    ir_value_t* number = graph_index_constant(n->b, ir_attr_element_integer(cases, i));
    ir_value_t* is_case = graph_binary(n->b, SCALAR_eq, n->in[0], number);
    region = graph_select(n->b, is_case, graph_index_constant(n->b, i + 1), region);
  }
  n->in[0] = region;
  return lower_build_case(n);
}

static bool scf_lower_execute_region(lower_op_t* n) {
  ir_block_t* block = only_block(&n->op->regions[0]);
  lower_value_t* values;
  uint32_t count;
  if (!block) return lower_unsupported(n, "a region of one block is");
  if (!lower_block(n->l, block, NULL, &values, &count)) return false;
  if (count != n->op->result_count) return lower_error(n, "yields other values");
  memcpy(n->out, values, sizeof(*values) * count);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// for: the number and the values are carried
//===----------------------------------------------------------------------------------------------------------------===

// Declares the loop with two blocks whose arguments are the number and the values.
static ir_op_t* declare_loop(lower_op_t* n, ir_value_t* first, lower_list_t* inits, const lower_types_t* types,
                             ir_block_t** blocks) {
  lower_list_t operands = LOWER_LIST(n->ctx);
  lower_types_t all = LOWER_LIST(n->ctx);
  lower_list_add(&operands, first);
  lower_types_add(&all, first->type);
  for (uint32_t i = 0; i < types->count; ++i) {
    ir_value_t* init = lower_coerce(n->l, inits->items[i], types->items[i]);
    if (!init) return NULL;
    lower_list_add(&operands, init);
    lower_types_add(&all, types->items[i]);
  }
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_WHILE),
                         .operands = operands.items,
                         .operand_count = operands.count,
                         .result_types = all.items,
                         .result_count = all.count,
                         .region_count = 2};
  ir_op_t* loop = ir_build(n->b, &state);
  for (int r = 0; r < 2; ++r) {
    blocks[r] = ir_block_create(n->ctx);
    ir_region_append(&loop->regions[r], blocks[r]);
    for (uint32_t i = 0; i < state.operand_count; ++i) ir_block_add_arg(n->ctx, blocks[r], all.items[i]);
  }
  return loop;
}

static void yield_condition(lower_op_t* n, ir_block_t* block, ir_value_t* end, bool is_unsigned) {
  ir_builder_t saved = *n->b;
  n->b->block = block;
  n->b->before = NULL;
  ir_value_t* go_on = graph_binary(n->b, is_unsigned ? SCALAR_ltu : SCALAR_lt, block->args[0], end);
  go_on = lower_as_tensor(n->b, go_on);
  ir_build_op(n->b, GRAPH_YIELD, &go_on, 1, NULL);
  *n->b = saved;
}

static bool yield_next(lower_op_t* n, ir_value_t* next, const lower_value_t* values, uint32_t count,
                       const lower_types_t* types) {
  lower_list_t list = LOWER_LIST(n->ctx);
  lower_list_add(&list, next);
  for (uint32_t i = 0; i < count; ++i) lower_flatten(values[i], &list);
  if (list.count != types->count + 1) return lower_error(n, "yields other values than it carries");
  for (uint32_t i = 1; i < list.count; ++i) {
    if (!(list.items[i] = lower_coerce(n->l, list.items[i], types->items[i - 1]))) return false;
  }
  ir_build_op(n->b, GRAPH_YIELD, list.items, list.count, NULL);
  return true;
}

// Rounds of a loop in which names of parameters are made of its number, one behind the other.
static bool lower_rounds(lower_op_t* n, ir_block_t* block) {
  enum { MAX_ROUNDS = 4096 };
  uint32_t carried = n->op->result_count, rounds = 0, count = carried;
  int64_t first, end, step;
  bool known = lower_constant_index(n->in[0], &first) && lower_constant_index(n->in[1], &end) &&
               lower_constant_index(n->in[2], &step) && step > 0;
  if (!known) return lower_unsupported(n, "bounds and a step known here are where the loop's number names parameters");
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + carried);
  memcpy(args + 1, n->values + 3, sizeof(*args) * carried);
  bool goes_on = first < end;
  for (int64_t i = first; goes_on; goes_on = !__builtin_add_overflow(i, step, &i) && i < end) {
    lower_value_t* values = NULL;
    if (rounds++ == MAX_ROUNDS) return lower_unsupported(n, "at most %d rounds are", MAX_ROUNDS);
    args[0].v = graph_index_constant(n->b, i);
    if (!lower_block(n->l, block, args, &values, &count)) return false;
    if (count != carried) return lower_error(n, "yields other values than it carries");
    if (carried) memcpy(args + 1, values, sizeof(*args) * carried);
  }
  if (carried) memcpy(n->out, args + 1, sizeof(*args) * carried);
  return true;
}

// What a round yields, and behind it what its dispatch's tensors hold by now.
static lower_value_t* with_stored(lower_op_t* n, const lower_value_t* values, uint32_t count, ir_value_t* const* stored,
                                  uint32_t more) {
  lower_value_t* all = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, count + more + 1);
  for (uint32_t i = 0; i < count; ++i) all[i] = values[i];
  for (uint32_t i = 0; i < more; ++i) all[count + i] = lower_get(stored[i]);
  return all;
}

static bool scf_lower_for(lower_op_t* n) {
  ir_block_t *block = only_block(&n->op->regions[0]), *blocks[2];
  uint32_t carried = n->op->result_count;
  if (n->l->whole) return lower_unsupported(n, "a loop for each element is not");
  if (!block || n->op->operand_count != 3 + carried || block->arg_count != 1 + carried) {
    return lower_error(n, "needs bounds, a step, and start values for its results");
  }
  if (parameter_is_named_in(block)) return lower_rounds(n, block);
  lower_types_t types = LOWER_LIST(n->ctx);
  lower_list_t inits = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < carried; ++i) {
    bool fits = lower_flat_types(n->ctx, lower_out_type(n, i), &types);
    lower_flatten(n->values[3 + i], &inits);
    if (!fits || types.count != inits.count) return lower_unsupported(n, "tensors of known rank and numbers are");
  }
  ir_value_t* stored[GRAPH_MAX_TIED];  // of the dispatch that it is in: carried too
  uint32_t more = dispatch_stored_in(n->l, n->op, stored);
  for (uint32_t i = 0; i < more; ++i) {
    lower_list_add(&inits, lower_get(stored[i]).v);
    lower_types_add(&types, lower_get(stored[i]).v->type);
  }
  ir_op_t* loop = declare_loop(n, n->in[0], &inits, &types, blocks);
  if (!loop) return false;
  yield_condition(n, blocks[0], n->in[1], ir_op_flag(n->op, "unsignedCmp"));
  ir_builder_t saved = *n->b;
  n->b->block = blocks[1];
  n->b->before = NULL;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + carried);
  ir_value_t* const* next = blocks[1]->args + 1;
  args[0].v = blocks[1]->args[0];
  for (uint32_t i = 0; i < carried; ++i) args[1 + i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  for (uint32_t i = 0; i < more; ++i) lower_set(n->l, stored[i], (lower_value_t){.v = *next++});
  lower_value_t* values;
  uint32_t count;
  bool ok = lower_block(n->l, block, args, &values, &count);
  if (ok) {
    ir_value_t* number = graph_binary(n->b, SCALAR_add, blocks[1]->args[0], n->in[2]);
    ok = yield_next(n, number, with_stored(n, values, count, stored, more), count + more, &types);
  }
  *n->b = saved;
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_list_add_results(&results, loop, 1);
  next = results.items;
  for (uint32_t i = 0; i < carried; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  for (uint32_t i = 0; i < more; ++i) lower_set(n->l, stored[i], (lower_value_t){.v = *next++});
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// while
//===----------------------------------------------------------------------------------------------------------------===

typedef struct while_t {
  lower_op_t* n;
  ir_block_t *before, *after;
} while_t;

static bool while_before(void* user, const lower_value_t* inits, uint32_t count, ir_value_t** go_on,
                         lower_list_t* out) {
  while_t* w = user;
  lower_value_t* values;
  uint32_t value_count;
  if (count != w->before->arg_count) return lower_error(w->n, "yields other values than it starts with");
  if (!lower_block(w->n->l, w->before, inits, &values, &value_count)) return false;
  if (!ir_is(w->before->last, SCF_CONDITION) || !value_count || !values[0].v) {
    return lower_error(w->n, "needs scf.condition at the end of its first region");
  }
  *go_on = values[0].v;
  for (uint32_t i = 1; i < value_count; ++i) lower_flatten(values[i], out);
  return true;
}

static bool while_after(void* user, ir_value_t* const* flat, const lower_value_t** inits, uint32_t* count) {
  while_t* w = user;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(w->n->ctx), lower_value_t, w->after->arg_count + 1);
  for (uint32_t i = 0; i < w->after->arg_count; ++i) args[i] = lower_unflatten(w->n->l, w->after->args[i]->type, &flat);
  lower_value_t* values;
  if (!lower_block(w->n->l, w->after, args, &values, count)) return false;
  *inits = values;
  return true;
}

static bool scf_lower_while(lower_op_t* n) {
  while_t w = {n, only_block(&n->op->regions[0]), only_block(&n->op->regions[1])};
  if (n->l->whole) return lower_unsupported(n, "a loop for each element is not");
  if (!w.before || !w.after || w.after->arg_count != n->op->result_count) {
    return lower_error(n, "needs two regions of one block");
  }
  lower_types_t types = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (w.after->args[i]->type != lower_out_type(n, i)) return lower_error(n, "has results of other types");
    if (lower_flat_types(n->ctx, lower_out_type(n, i), &types)) continue;
    return lower_unsupported(n, "tensors of known rank and numbers are");
  }
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_while_t pieces = {while_before, while_after, &w};
  if (!lower_build_while(n->l, n->op->loc, n->values, n->op->operand_count, &types, &pieces, &results)) return false;
  ir_value_t* const* next = results.items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// forall: one iteration after the other, over one number for all loops
//===----------------------------------------------------------------------------------------------------------------===

typedef struct forall_t {
  mixed_t low, high, step;
  uint32_t first_out;
} forall_t;

static bool read_forall(lower_op_t* n, forall_t* f) {
  uint32_t operand = 0;
  if (!mixed_read(n, "staticLowerBound", &operand, &f->low) || !mixed_read(n, "staticUpperBound", &operand, &f->high) ||
      !mixed_read(n, "staticStep", &operand, &f->step)) {
    return false;
  }
  f->first_out = operand;
  bool fits = f->low.count == f->high.count && f->low.count == f->step.count && f->low.count &&
              n->op->operand_count == operand + n->op->result_count;
  return fits || lower_error(n, "needs bounds and steps for each loop, and a start value for each result");
}

// Iterations of loop i: (high - low + step - 1) / step.
static ir_value_t* trip_count(lower_op_t* n, const forall_t* f, uint32_t i) {
  ir_value_t *low = mixed_index(n, &f->low, i), *high = mixed_index(n, &f->high, i),
             *step = mixed_index(n, &f->step, i);
  ir_value_t* span = lower_index_binary(n->b, SCALAR_sub, high, low);
  span = lower_index_binary(n->b, SCALAR_add, span,
                            lower_index_binary(n->b, SCALAR_sub, step, graph_index_constant(n->b, 1)));
  return lower_index_binary(n->b, SCALAR_div, span, step);
}

static bool run_parallel_part(lower_op_t* n, ir_op_t* last) {
  ir_block_t* inserts = ir_is(last, SCF_IN_PARALLEL) ? only_block(&last->regions[0]) : NULL;
  if (!inserts) return !n->op->result_count || lower_error(n, "needs scf.forall.in_parallel at its end");
  IR_FOR_OPS(op, inserts) {
    if (!lower_one(n->l, op)) return false;
  }
  return true;
}

static bool scf_lower_forall(lower_op_t* n) {
  forall_t f;
  ir_block_t *block = n->op->regions[0].first, *blocks[2];
  uint32_t outs = n->op->result_count;
  if (n->l->whole) return lower_unsupported(n, "a loop for each element is not");
  if (!read_forall(n, &f)) return false;
  if (!block || block->next || block->arg_count != f.low.count + outs) return lower_error(n, "needs one block");
  lower_types_t types = LOWER_LIST(n->ctx);
  lower_list_t inits = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < outs; ++i) {
    const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, i));
    if (!type) return lower_unsupported(n, "tensors of known rank are");
    lower_types_add(&types, type);
    lower_list_add(&inits, n->in[f.first_out + i]);
  }
  ir_value_t *counts[GRAPH_MAX_RANK], *total = graph_index_constant(n->b, 1);
  for (uint32_t i = 0; i < f.low.count; ++i) {
    counts[i] = trip_count(n, &f, i);
    total = lower_index_binary(n->b, SCALAR_mul, total, counts[i]);
  }
  ir_op_t* loop = declare_loop(n, graph_index_constant(n->b, 0), &inits, &types, blocks);
  if (!loop) return false;
  yield_condition(n, blocks[0], total, false);
  ir_builder_t saved = *n->b;
  n->b->block = blocks[1];
  n->b->before = NULL;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, block->arg_count);
  ir_value_t* rest = blocks[1]->args[0];
  for (uint32_t i = f.low.count; i-- > 0;) {
    ir_value_t* at = i ? lower_index_binary(n->b, SCALAR_rem, rest, counts[i]) : rest;
    if (i) rest = lower_index_binary(n->b, SCALAR_div, rest, counts[i]);
    at = lower_index_binary(n->b, SCALAR_mul, at, mixed_index(n, &f.step, i));
    args[i].v = lower_index_binary(n->b, SCALAR_add, at, mixed_index(n, &f.low, i));
  }
  for (uint32_t i = 0; i < outs; ++i) args[f.low.count + i].v = blocks[1]->args[1 + i];
  lower_value_t* ignored;
  uint32_t ignored_count;
  bool ok = lower_block(n->l, block, args, &ignored, &ignored_count) && run_parallel_part(n, block->last);
  if (ok) {  // inserting has changed what the shared results stand for
    for (uint32_t i = 0; i < outs; ++i) args[i] = lower_get(block->args[f.low.count + i]);
    ir_value_t* number = graph_binary(n->b, SCALAR_add, blocks[1]->args[0], graph_index_constant(n->b, 1));
    ok = yield_next(n, number, args, outs, &types);
  }
  *n->b = saved;
  for (uint32_t i = 0; i < outs; ++i) n->out[i].v = ir_result(loop, i + 1);
  return ok;
}

#define AT(ENUM, handler) \
  [SCF_##ENUM - IR_CODE(IR_DIALECT_SCF, 0)] = {.fn = scf_lower_##handler, .flags = LOWER_ANY_VALUE}
static const lower_row_t rows[] = {
    AT(IF, if),       AT(INDEX_SWITCH, index_switch), AT(EXECUTE_REGION, execute_region), AT(FOR, for),
    AT(WHILE, while), AT(FORALL, forall),
};
const lower_table_t lower_scf_table = {IR_DIALECT_SCF, rows, sizeof(rows) / sizeof(rows[0])};
