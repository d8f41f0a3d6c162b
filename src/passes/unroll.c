// Short rounds of counted loops side by side: what a round of a few small dispatches costs is mostly its submission,
// and one submission takes those of several rounds.
//
//   while(%x, 0) ^(%v, %i): yield lt %i, 100      while(%x, 0) ^(%v, %i): yield lt %i, 100
//     ^(%v, %i): %w = dispatch(%v)            =>    ^(%v, %i): %w = dispatch(%v); %j = add %i, 1
//                yield %w, add %i, 1                           %y = dispatch(%w) ...
//                                                              yield %z, add %o, 1
//
// Rounds that are left over go in front of the loop. A loop of no more rounds than would stand side by side is no loop
// any more.
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

// Of the rounds side by side: dispatches; of each dispatch: elements of what it reads and makes, below which its work
// is no longer than a submission.
enum { MOST_ROUNDS = 16, LEAST_ROUNDS = 4, MOST_DISPATCHES = 48, MOST_ELEMENTS = 1 << 14 };

//===----------------------------------------------------------------------------------------------------------------===
// What is unrolled
//===----------------------------------------------------------------------------------------------------------------===

static bool has_few_elements(const ir_value_t* x) {
  return !ir_type_is_tensor(x->type) || (ir_type_is_static(x->type) && ir_type_count(x->type) <= MOST_ELEMENTS);
}

// Updates change arrays in place, one after the other, which is told by a loop's round alone.
static bool is_update(const ir_op_t* op) { return ir_is(op, GRAPH_DYNAMIC_UPDATE) || ir_is(op, GRAPH_SCATTER); }

static bool is_short_dispatch(const ir_op_t* op) {
  bool is_short = true;
  for (uint32_t i = 0; i < op->operand_count; ++i) is_short &= has_few_elements(ir_operand(op, i));
  for (uint32_t i = 0; i < op->result_count; ++i) is_short &= has_few_elements(&op->results[i]);
  IR_FOR_OPS(inner, op->regions[0].first) is_short &= !is_update(inner) && !inner->region_count;
  return is_short;
}

typedef struct round_t {
  uint32_t dispatches;
  bool has_windows;  // views of arrays, which live as long as the loop that is around them
} round_t;

// False when there is something else than dispatches, windows that are read, and the host's arithmetic.
static bool look_at_round(const ir_block_t* body, round_t* round) {
  IR_FOR_OPS(op, body) {
    if (op == body->last) break;
    if (ir_is(op, GRAPH_DISPATCH)) {
      ++round->dispatches;
      if (!is_short_dispatch(op)) return false;
      continue;
    }
    bool is_window = ir_is(op, GRAPH_DYNAMIC_SLICE) && graph_is_window(op) && ir_type_is_static(op->results[0].type);
    bool is_number = ir_is(op, GRAPH_CONSTANT) || (graph_scalar_fn(op) >= 0 && !ir_type_is_tensor(op->results[0].type));
    if (!is_window && !is_number) return false;
    round->has_windows |= is_window;
  }
  return round->dispatches > 0;
}

static bool known_number(const ir_value_t* x, int64_t* out) {
  if (!x->def || !ir_is(x->def, GRAPH_CONSTANT) || ir_type_is_tensor(x->type)) return false;
  const ir_attr_t* value = graph_get_value(x->def);
  *out = value->integer;
  return value->kind == IR_ATTR_INTEGER;
}

// Rounds of a loop whose counter goes up by a constant from one constant to another; 0 for others.
static int64_t count_rounds(const ir_op_t* loop) {
  enum { MOST = 1 << 30 };
  const ir_block_t *test = loop->regions[0].first, *body = loop->regions[1].first;
  const ir_op_t* compare = ir_operand(test->last, 0)->def;
  int64_t first, end, step;
  if (!compare || graph_scalar_fn(compare) != SCALAR_lt || compare->parent != test) return 0;
  const ir_value_t* counter = ir_operand(compare, 0);
  if (counter->def || counter->block != test || !known_number(ir_operand(compare, 1), &end)) return 0;
  const ir_op_t* next = ir_operand(body->last, counter->index)->def;
  if (!next || graph_scalar_fn(next) != SCALAR_add || ir_operand(next, 0) != body->args[counter->index]) return 0;
  if (!known_number(ir_operand(next, 1), &step) || !known_number(ir_operand(loop, counter->index), &first)) return 0;
  if (step < 1 || step > MOST || first < -MOST || end > MOST || end <= first) return 0;
  return (end - first + step - 1) / step;
}

//===----------------------------------------------------------------------------------------------------------------===
// Copies of rounds
//===----------------------------------------------------------------------------------------------------------------===

typedef struct unroll_t {
  ir_context_t* ctx;
  ir_op_t* loop;
  ir_block_t* body;
  uint32_t count;       // carried values
  uint32_t copies;      // so far, for names
  ir_value_t** values;  // carried, before the next copy
} unroll_t;

// The ops of a round up to `last` once more in front of `before`, where `u->values` are carried, and then what they
// give.
static void copy_round(unroll_t* u, const ir_op_t* last, ir_op_t* before) {
  arena_t* arena = ir_context_arena(u->ctx);
  ir_value_map_t* map = ir_value_map_create(u->ctx);
  for (uint32_t i = 0; i < u->count; ++i) ir_value_map_set(map, u->body->args[i], u->values[i]);
  ++u->copies;
  for (const ir_op_t *op = u->body->first, *next; op; op = next) {
    ir_op_t* copy = ir_op_clone(u->ctx, op, map);
    next = op == last ? NULL : op->next;
    ir_block_insert_before(before->parent, copy, before);
    if (!ir_is(op, GRAPH_DISPATCH)) continue;
    const char* name = arena_printf(arena, "%s_round_%u", ir_op_string(op, "sym_name", "dispatch"), u->copies);
    ir_op_set_attr(u->ctx, copy, "sym_name", ir_attr_cstring(u->ctx, name));
  }
  for (uint32_t i = 0; i < u->count; ++i) {
    ir_value_t *value = ir_operand(u->body->last, i), *copied = ir_value_map_get(map, value);
    u->values[i] = copied ? copied : value;  // or from outside the loop
  }
}

static void copy_in_front(unroll_t* u, int64_t rounds) {
  for (uint32_t i = 0; i < u->count; ++i) u->values[i] = ir_operand(u->loop, i);
  for (int64_t i = 0; i < rounds; ++i) copy_round(u, u->body->last->prev, u->loop);
}

// Copies behind the round that is there, from which they are made.
static void copy_inside(unroll_t* u, int64_t rounds) {
  ir_op_t *yield = u->body->last, *last = yield->prev;
  for (uint32_t i = 0; i < u->count; ++i) u->values[i] = ir_operand(yield, i);
  for (int64_t i = 1; i < rounds; ++i) copy_round(u, last, yield);
  ir_op_set_operands(u->ctx, yield, u->values, u->count);
}

// Rounds side by side: those of which a whole number is all, if they are not few, else as many as may be; 0: none.
static int64_t choose_rounds(const round_t* round, int64_t all) {
  int64_t most = MOST_DISPATCHES / round->dispatches;
  if (most > MOST_ROUNDS) most = MOST_ROUNDS;
  if (all < 2 || most < LEAST_ROUNDS) return 0;
  if (all <= most) return round->has_windows ? 0 : all;
  for (int64_t rounds = most; rounds >= LEAST_ROUNDS; --rounds) {
    bool is_few = 2 * rounds <= most && !round->has_windows;
    if (all % rounds == 0 && !is_few) return rounds;
  }
  return round->has_windows ? 0 : most;
}

static bool visit(void* user, ir_op_t* loop) {
  round_t round = {0};
  if (!ir_is(loop, GRAPH_WHILE) || !look_at_round(loop->regions[1].first, &round)) return false;
  unroll_t u = {.ctx = user, .loop = loop, .body = loop->regions[1].first, .count = loop->operand_count};
  int64_t all = count_rounds(loop), rounds = choose_rounds(&round, all);
  if (!rounds) return false;
  u.values = ARENA_ARRAY(ir_context_arena(u.ctx), ir_value_t*, u.count + 1);
  if (rounds == all) {
    copy_in_front(&u, all);
    for (uint32_t i = 0; i < u.count; ++i) ir_value_replace(ir_result(loop, i), u.values[i]);
    ir_op_erase(loop);
    return true;
  }
  if (all % rounds) {
    copy_in_front(&u, all % rounds);
    ir_op_set_operands(u.ctx, loop, u.values, u.count);
  }
  copy_inside(&u, rounds);
  return true;
}

pass_result_t pass_unroll(ir_op_t* module, ir_context_t* ctx) {
  return rewrite_each(module, visit, ctx) ? PASS_CHANGED : PASS_UNCHANGED;
}
