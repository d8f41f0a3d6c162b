// Loop.
#include "import/onnx/holder.h"
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

typedef struct body_t {
  ir_block_t* block;        // of the program
  uint32_t carried;         // loop-carried values
  uint32_t tensors;         // that they are made of: sequences of any length go round as data and shapes
  uint32_t scans;           // results that are collected
  onnx_value_t* start;      // carried values of the first round
  const ir_type_t** types;  // of the condition and these tensors in the loop
  onnx_value_t* results;    // what the body gives: condition, carried, scans
  onnx_values_t next;       // the carried values' tensors
  bool grows;               // collected results do, round by round
  onnx_growing_t* growing;  // one each
} body_t;

// The types that the carried tensors have in the loop's first attempt.
static bool start_types(onnx_node_t* n, body_t* body) {
  body->tensors = 0;
  body->types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, ONNX_MAX_PARTS * body->carried + 1);
  body->types[0] = ir_type_tensor(n->ctx, onnx_bool(n->ctx), 0, NULL);
  for (uint32_t i = 0; i < body->carried; ++i) {
    if (!onnx_holder_form(n, body->start[i], body->types + 1, &body->tensors)) return false;
  }
  return true;
}

// The body's carried results as tensors. A sequence that is empty when compiling has the rank of what it becomes, and
// if that is news, `*fits` is set to false.
static bool flatten_results(onnx_node_t* n, body_t* body, bool* fits) {
  for (uint32_t i = 0; i < body->carried; ++i) {
    onnx_value_t *start = &body->start[i], *next = &body->results[1 + i], adopted = onnx_holder_adopt(n, *start, *next);
    if (!onnx_same_form(*start, *next))
      return onnx_unsupported(n, "carried value %u does not come out of the body as what it went in", i);
    if (adopted.holder != start->holder) *fits = false;
    *start = adopted;
    *next = onnx_holder_adopt(n, *next, *start);
  }
  return onnx_values_flatten(n, (onnx_values_t){body->results + 1, body->carried}, &body->next);
}

// Widens the carried types by those of the results.
static bool merge_types(onnx_node_t* n, body_t* body, bool* fits) {
  for (uint32_t i = 0; i < body->tensors; ++i) {
    const ir_type_t* merged = onnx_merge_types(n->ctx, body->types[1 + i], body->next.items[i].v->type);
    if (!merged) return onnx_unsupported(n, "a carried value changes its rank or element type");
    if (merged != body->types[1 + i]) *fits = false;
    body->types[1 + i] = merged;
  }
  return true;
}

// Lowers the body with the carried types at hand. `*fits` is whether the results have these types; if not, the types
// are widened and the body is dropped, to be tried again.
static bool try_body(onnx_node_t* n, body_t* body, onnx_loop_t* loop, bool* fits) {
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, body->carried + 2);
  onnx_value_t* parts = ARENA_ARRAY(arena, onnx_value_t, body->tensors + 1);
  onnx_values_t results;
  onnx_loop_begin(loop, n, body->types, body->tensors + 1);
  args[0] = onnx_value(loop->body->args[0], onnx_si64(n->ctx));
  args[1] = onnx_value(loop->body->args[1], onnx_bool(n->ctx));
  for (uint32_t i = 0; i < body->tensors; ++i) parts[i] = (onnx_value_t){.v = loop->body->args[2 + i]};
  onnx_values_rebuild(n, (onnx_values_t){body->start, body->carried}, parts, args + 2);
  bool lowered = onnx_lower_block(n->lowering, body->block, (onnx_values_t){args, body->carried + 2}, &results);
  if (lowered && results.count != 1 + body->carried + body->scans) {
    lowered = onnx_error(n, "the body gives %u results", results.count);
  }
  if (lowered) body->results = results.items;
  *fits = lowered;
  lowered = lowered && flatten_results(n, body, fits);
  if (lowered) lowered = *fits ? merge_types(n, body, fits) : start_types(n, body);
  if (!lowered || !*fits) onnx_loop_drop(loop);
  return lowered;
}

// 1 or 0; -1: known at run time only.
static int known_flag(onnx_node_t* n, ir_value_t* v) {
  const ir_attr_t* known = onnx_constant(n, v);
  return known ? ir_attr_element_integer(known, 0) != 0 : -1;
}

static bool is_true(onnx_node_t* n, ir_value_t* v) { return known_flag(n, v) == 1; }

enum { MAX_ROOM = 4096 };  // rounds for which memory is set aside, when there may be fewer

// Appends an accumulator to the loop's values for each collected result; `initial` and `next` get their values.
static bool collect_scans(onnx_node_t* n, body_t* body, onnx_loop_t* loop, onnx_dim_t trips, ir_value_t** initial,
                          ir_value_t** next) {
  uint32_t at = 1 + body->tensors;
  onnx_dim_t* dims = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_dim_t, ONNX_MAX_RANK * body->scans + 1);
  for (uint32_t i = 0; i < body->scans; ++i) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (body->results[1 + body->carried + i].holder) return onnx_error(n, "collected results must be tensors");
    if (element->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "collected results have too many dimensions");
    body->grows = body->grows || !onnx_round_shape(loop, body->results[1 + body->carried + i], initial, next, at,
                                                   dims + ONNX_MAX_RANK * i);
  }
  for (uint32_t i = 0; i < body->scans; ++i, ++at) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (body->grows) {
      onnx_grow(loop, body->results[1 + body->carried + i], false, &body->growing[i]);
      initial[at] = body->growing[i].initial, next[at] = body->growing[i].next;
      continue;
    }
    ir_builder_t inside = *n->b;
    *n->b = loop->outside;
    initial[at] = onnx_accumulator(n, trips, element->type, dims + ONNX_MAX_RANK * i);
    *n->b = inside;
    ir_value_t* sum = ir_block_add_arg(n->ctx, loop->body, initial[at]->type);
    next[at] = onnx_put_element(n, sum, element, loop->body->args[0]);
  }
  for (uint32_t i = 0; body->grows && i < body->scans; ++i) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (ir_type_is_static(element->type)) continue;
    onnx_grow_sizes(loop, body->results[1 + body->carried + i], &body->growing[i]);
    initial[at] = body->growing[i].initial_sizes, next[at++] = body->growing[i].next_sizes;
  }
  return true;
}

// The collected results of the finished loop.
static bool take_scans(onnx_node_t* n, const body_t* body, ir_op_t* op, bool partial) {
  uint32_t sizes = 2 + body->tensors + body->scans;
  for (uint32_t i = 0; i < body->scans; ++i) {
    ir_value_t* v = ir_result(op, 2 + body->tensors + i);
    if (body->grows) {
      bool sized = ir_type_is_static(body->growing[i].element);
      v = onnx_grown(n, &body->growing[i], ir_result(op, 0), v, sized ? NULL : ir_result(op, sizes++));
    } else if (partial) {
      v = onnx_first(n, v, ir_result(op, 0));
    }
    if (!v) return false;
    n->out[body->carried + i] = onnx_value(v, body->results[1 + body->carried + i].element);
  }
  return true;
}

// Ends a loop whose body fits.
static bool finish_loop(onnx_node_t* n, body_t* body, onnx_loop_t* loop, ir_value_t* limit, onnx_dim_t trips) {
  arena_t* arena = ir_context_arena(n->ctx);
  uint32_t total = 1 + body->tensors + 2 * body->scans;
  ir_value_t **initial = ARENA_ARRAY(arena, ir_value_t*, total), **next = ARENA_ARRAY(arena, ir_value_t*, total);
  onnx_value_t* ends = ARENA_ARRAY(arena, onnx_value_t, body->tensors + 1);
  onnx_values_t first;
  ir_value_t* condition = body->results[0].v;
  bool flagged = condition != loop->body->args[1] && !is_true(n, condition);
  bool known = !onnx_has(n, 1) || is_true(n, n->in[1].v), partial = flagged || !known;
  body->growing = ARENA_ARRAY(arena, onnx_growing_t, body->scans + 1);
  body->grows = !limit || (partial && !(trips.size >= 0 && trips.size <= MAX_ROOM));
  next[0] = onnx_as_scalar(n, condition);
  for (uint32_t i = 0; i < body->tensors; ++i) next[1 + i] = body->next.items[i].v;
  ir_builder_t inside = *n->b;
  *n->b = loop->outside;
  initial[0] = onnx_has(n, 1) ? onnx_as_scalar(n, n->in[1].v) : graph_scalar_constant(n->b, onnx_bool(n->ctx), 1);
  bool fine = onnx_values_flatten(n, (onnx_values_t){body->start, body->carried}, &first);
  *n->b = inside;
  for (uint32_t i = 0; fine && i < body->tensors; ++i) initial[1 + i] = first.items[i].v;
  if (!fine || !collect_scans(n, body, loop, trips, initial, next)) return onnx_loop_drop(loop), false;
  ir_op_t* op = onnx_loop_end(loop, initial, next, limit, partial || !limit ? 0 : -1);
  for (uint32_t i = 0; i < body->tensors; ++i) ends[i] = onnx_value(ir_result(op, 2 + i), body->next.items[i].element);
  onnx_values_rebuild(n, (onnx_values_t){body->start, body->carried}, ends, n->out);
  return take_scans(n, body, op, partial);
}

// The rounds one after another, at the builder. False without a diagnostic when the condition after a round is not
// known when compiling.
static bool lower_rounds(onnx_node_t* n, const body_t* body, int64_t rounds, onnx_value_t* args, bool* known) {
  for (int64_t round = 0; round < rounds; ++round) {
    onnx_values_t results;
    args[0] = onnx_value(onnx_dim_tensor(n, onnx_dim_of(round), 0), onnx_si64(n->ctx));
    args[1] = onnx_value(graph_scalar_constant(n->b, onnx_bool(n->ctx), 1), onnx_bool(n->ctx));
    if (!onnx_lower_block(n->lowering, body->block, (onnx_values_t){args, body->carried + 2}, &results)) return false;
    if (results.count != 1 + body->carried) return onnx_error(n, "the body gives %u results", results.count);
    for (uint32_t i = 0; i < body->carried; ++i) args[2 + i] = results.items[1 + i];
    int go = known_flag(n, results.items[0].v);
    if (go < 0) return *known = false;
    if (!go) break;
  }
  return true;
}

// A sequence of known length stays its members when a loop of few rounds is its rounds one after another. `*done`
// false: it is not known which rounds these are.
static bool unroll_loop(onnx_node_t* n, const body_t* body, onnx_dim_t trips, bool* done) {
  int first = onnx_has(n, 1) ? known_flag(n, n->in[1].v) : 1;
  bool known = trips.size != IR_DYNAMIC && trips.size <= ONNX_MAX_ROUNDS && first >= 0 && !body->scans;
  onnx_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, body->carried + 2);
  *done = false;
  if (!known) return true;
  for (uint32_t i = 0; i < body->carried; ++i) args[2 + i] = body->start[i];
  ir_block_t* rounds = ir_block_create(n->ctx);
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, rounds);
  n->b->loc = outside.loc;
  bool lowered = lower_rounds(n, body, first ? trips.size : 0, args, &known);
  *n->b = outside;
  if (!lowered) {
    while (rounds->last) ir_op_erase(rounds->last);
    return !known;
  }
  while (rounds->first) {
    ir_op_t* op = rounds->first;
    ir_op_remove(op);
    ir_block_insert_before(outside.block, op, outside.before);
  }
  for (uint32_t i = 0; i < body->carried; ++i) n->out[i] = args[2 + i];
  return *done = true;
}

bool onnx_lower_loop(onnx_node_t* n) {
  body_t body = {.block = onnx_region_block(n, 0, 1), .carried = n->in_count > 2 ? n->in_count - 2 : 0};
  onnx_loop_t loop;
  ir_value_t* limit = NULL;
  onnx_dim_t trips = {.size = IR_DYNAMIC};
  uint32_t count;
  bool holders = false, done = false;
  if (!body.block) return false;
  if (body.carried > n->out_count) return onnx_error(n, "has fewer results than carried values");
  body.scans = n->out_count - body.carried;
  if (onnx_has(n, 0)) {
    if (!onnx_check_single(n, 0) || !onnx_dims_input(n, 0, &trips, 1, &count)) return false;
    limit = onnx_as_scalar(n, onnx_cast(n, n->in[0], onnx_si64(n->ctx)).v);
    if (trips.size != IR_DYNAMIC && trips.size < 0) trips.size = 0;
  }
  if (onnx_has(n, 1) && !(onnx_check_single(n, 1) && onnx_is_bool(n->in[1])))
    return onnx_error(n, "the condition must be one boolean");
  body.start = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, body.carried + 1);
  for (uint32_t i = 0; i < body.carried; ++i) {
    if (!n->in[2 + i].v) return onnx_error(n, "carried value %u has no initial value", i);
    body.start[i] = n->in[2 + i];
    holders |= n->in[2 + i].holder != NULL;
  }
  if (holders && !unroll_loop(n, &body, trips, &done)) return false;
  if (done) return true;
  if (!start_types(n, &body)) return false;
  for (int attempt = 0; attempt < ONNX_MAX_RANK; ++attempt) {
    bool fits;
    if (!try_body(n, &body, &loop, &fits)) return false;
    if (fits) return finish_loop(n, &body, &loop, limit, trips);
  }
  return onnx_unsupported(n, "the shapes of carried values do not settle");
}
