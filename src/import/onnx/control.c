// If, Loop and Scan.
#include <string.h>

#include "import/onnx/holder.h"
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

// The block of the region that holds attribute number `index` (in order of name).
static ir_block_t* region_block(onnx_node_t* n, uint32_t index, uint32_t regions) {
  if (n->op->region_count != regions || !n->op->regions[index].first || !n->op->regions[index].first->last) {
    onnx_error(n, "needs %u graphs as attributes", regions);
    return NULL;
  }
  return n->op->regions[index].first;
}

static ir_value_t* as_scalar(onnx_node_t* n, ir_value_t* v) {
  return v->type->rank ? graph_reshape(n->b, v, 0, NULL, NULL) : v;
}

static bool check_scalar(onnx_node_t* n, uint32_t i) {
  return ir_type_count(n->in[i].v->type) == 1 || onnx_error(n, "input %u must be one value", i);
}

//===----------------------------------------------------------------------------------------------------------------===
// If
//===----------------------------------------------------------------------------------------------------------------===

// `*tensors` are what the results are made of.
static bool lower_branch(onnx_node_t* n, ir_block_t* from, ir_block_t* to, onnx_values_t* results,
                         onnx_values_t* tensors) {
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, to);
  n->b->loc = outside.loc;
  bool lowered =
      onnx_lower_block(n->lowering, from, (onnx_values_t){0}, results) && onnx_values_flatten(n, *results, tensors);
  *n->b = outside;
  if (!lowered) {
    while (to->last) ir_op_erase(to->last);
  }
  return lowered;
}

// In a branch whose result has another rank than the program declares: stops, with zeros for what follows.
static ir_value_t* refuse_branch(onnx_node_t* n, const ir_type_t* type, bool taken) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  ir_value_t* condition = as_scalar(n, n->in[0].v);
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = onnx_dim_of(type->dims[i] == IR_DYNAMIC ? 0 : type->dims[i]);
  graph_assert(n->b, taken ? onnx_unary(n, SCALAR_not, condition) : condition,
               "the branch gives a result of another rank than the program declares");
  return onnx_broadcast_to(n, graph_scalar_constant(n->b, type->element, 0), type->rank, dims);
}

static void yield_as(onnx_node_t* n, ir_block_t* block, onnx_values_t values, const ir_type_t* const* types,
                     bool taken) {
  uint32_t count = values.count;
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, block);
  n->b->loc = outside.loc;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* v = values.items[i].v;
    bool fits = v->type->rank == types[i]->rank || ir_type_count(v->type) == 1;
    operands[i] = onnx_coerce(n, fits ? v : refuse_branch(n, types[i], taken), types[i]);
  }
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_YIELD), .operands = operands, .operand_count = count};
  ir_build(n->b, &state);
  *n->b = outside;
}

// The type of a result that has other types in the branches. Ranks may differ when both are one value, or when the
// program declares which it is. NULL after a diagnostic.
static const ir_type_t* join_types(onnx_node_t* n, uint32_t i, const ir_type_t* a, const ir_type_t* b) {
  const ir_type_t* merged = onnx_merge_types(n->ctx, a, b);
  int32_t declared = onnx_declared_rank(n, i);
  if (merged) return merged;
  bool same = a->element == b->element;
  if (same && ir_type_count(a) == 1 && ir_type_count(b) == 1) {
    return declared == a->rank || (declared != b->rank && a->rank > b->rank) ? a : b;
  }
  if (same && a->rank != b->rank && (declared == a->rank || declared == b->rank)) return declared == a->rank ? a : b;
  onnx_unsupported(n, "result %u differs in %s between the branches%s", i, same ? "rank" : "element type",
                   same ? "; the program must declare its shape" : "");
  return NULL;
}

static bool inline_branch(onnx_node_t* n, ir_block_t* block) {
  onnx_values_t results;
  if (!onnx_lower_block(n->lowering, block, (onnx_values_t){0}, &results)) return false;
  if (results.count != n->out_count) return onnx_error(n, "the branch gives %u results", results.count);
  for (uint32_t i = 0; i < results.count; ++i) n->out[i] = results.items[i];
  return true;
}

bool onnx_lower_if(onnx_node_t* n) {
  ir_block_t *else_block = region_block(n, 0, 2), *then_block = else_block ? region_block(n, 1, 2) : NULL;
  if (!then_block || !check_scalar(n, 0) || !onnx_is_bool(n->in[0]))
    return then_block && onnx_error(n, "the condition must be one boolean");
  const ir_attr_t* known = onnx_constant(n, n->in[0].v);
  if (known) return inline_branch(n, ir_attr_element_integer(known, 0) ? then_block : else_block);
  ir_block_t* blocks[] = {ir_block_create(n->ctx), ir_block_create(n->ctx)};
  onnx_values_t results[2], tensors[2];
  if (!lower_branch(n, then_block, blocks[0], &results[0], &tensors[0])) return false;
  if (!lower_branch(n, else_block, blocks[1], &results[1], &tensors[1])) return false;
  if (results[0].count != n->out_count || results[1].count != n->out_count) {
    return onnx_error(n, "the branches give %u and %u results", results[0].count, results[1].count);
  }
  uint32_t count = tensors[0].count;
  if (count != tensors[1].count) return onnx_error(n, "the branches give values of different kinds");
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  onnx_value_t* given = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    types[i] = join_types(n, i, tensors[0].items[i].v->type, tensors[1].items[i].v->type);
    if (!types[i]) return false;
  }
  ir_value_t* condition = as_scalar(n, n->in[0].v);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_IF),
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = types,
                         .result_count = count,
                         .region_count = 2};
  ir_op_t* op = ir_build(n->b, &state);
  for (uint32_t k = 0; k < 2; ++k) {
    ir_region_append(&op->regions[k], blocks[k]);
    yield_as(n, blocks[k], tensors[k], types, k == 0);
  }
  for (uint32_t i = 0; i < count; ++i) given[i] = onnx_value(ir_result(op, i), tensors[0].items[i].element);
  onnx_values_rebuild(n, results[0], given, n->out);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loop
//===----------------------------------------------------------------------------------------------------------------===

typedef struct body_t {
  ir_block_t* block;        // of the program
  uint32_t carried;         // loop-carried values
  uint32_t scans;           // results that are collected
  const ir_type_t** types;  // of carried values in the loop
  onnx_value_t* results;    // what the body gives: condition, carried, scans
  bool grows;               // collected results do, round by round
  onnx_growing_t* growing;  // one each
} body_t;

// Lowers the body with the carried types at hand. `*fits` is whether the results have these types; if not, the types
// are widened and the body is dropped, to be tried again.
static bool try_body(onnx_node_t* n, body_t* body, onnx_loop_t* loop, bool* fits) {
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, body->carried + 2);
  onnx_values_t results;
  onnx_loop_begin(loop, n, body->types, body->carried + 1);
  args[0] = onnx_value(loop->body->args[0], onnx_si64(n->ctx));
  args[1] = onnx_value(loop->body->args[1], onnx_bool(n->ctx));
  for (uint32_t i = 0; i < body->carried; ++i) args[2 + i] = onnx_value(loop->body->args[2 + i], n->in[2 + i].element);
  bool lowered = onnx_lower_block(n->lowering, body->block, (onnx_values_t){args, body->carried + 2}, &results);
  if (lowered && results.count != 1 + body->carried + body->scans) {
    lowered = onnx_error(n, "the body gives %u results", results.count);
  }
  if (lowered) body->results = results.items;
  *fits = lowered;
  for (uint32_t i = 0; lowered && i < body->carried; ++i) {
    const ir_type_t* merged = onnx_merge_types(n->ctx, body->types[1 + i], body->results[1 + i].v->type);
    if (!merged) lowered = onnx_unsupported(n, "carried value %u changes its rank or element type", i);
    if (merged && merged != body->types[1 + i]) *fits = false;
    if (merged) body->types[1 + i] = merged;
  }
  if (!lowered || !*fits) onnx_loop_drop(loop);
  return lowered;
}

enum { MAX_ROUNDS = 1024 };

static bool is_true(onnx_node_t* n, ir_value_t* v) {
  const ir_attr_t* known = onnx_constant(n, v);
  return known && ir_attr_element_integer(known, 0);
}

enum { MAX_ROOM = 4096 };  // rounds for which memory is set aside, when there may be fewer

// Appends an accumulator to the loop's values for each collected result; `initial` and `next` get their values.
static bool collect_scans(onnx_node_t* n, body_t* body, onnx_loop_t* loop, onnx_dim_t trips, ir_value_t** initial,
                          ir_value_t** next) {
  uint32_t at = 1 + body->carried;
  for (uint32_t i = 0; i < body->scans; ++i) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (element->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "collected results have too many dimensions");
    body->grows |= !ir_type_is_static(element->type);
  }
  for (uint32_t i = 0; i < body->scans; ++i, ++at) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (body->grows) {
      onnx_grow(loop, element, false, &body->growing[i]);
      initial[at] = body->growing[i].initial, next[at] = body->growing[i].next;
      continue;
    }
    ir_builder_t inside = *n->b;
    *n->b = loop->outside;
    initial[at] = onnx_accumulator(n, trips, element->type);
    *n->b = inside;
    ir_value_t* sum = ir_block_add_arg(n->ctx, loop->body, initial[at]->type);
    next[at] = onnx_put_element(n, sum, element, loop->body->args[0]);
  }
  for (uint32_t i = 0; body->grows && i < body->scans; ++i) {
    ir_value_t* element = body->results[1 + body->carried + i].v;
    if (ir_type_is_static(element->type)) continue;
    onnx_grow_sizes(loop, element, &body->growing[i]);
    initial[at] = body->growing[i].initial_sizes, next[at++] = body->growing[i].next_sizes;
  }
  return true;
}

// The collected results of the finished loop.
static bool take_scans(onnx_node_t* n, const body_t* body, ir_op_t* op, bool partial) {
  uint32_t sizes = 2 + body->carried + body->scans;
  for (uint32_t i = 0; i < body->scans; ++i) {
    ir_value_t* v = ir_result(op, 2 + body->carried + i);
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

static bool finish_loop(onnx_node_t* n, body_t* body, onnx_loop_t* loop, ir_value_t* limit, onnx_dim_t trips) {
  arena_t* arena = ir_context_arena(n->ctx);
  uint32_t total = 1 + body->carried + 2 * body->scans;
  ir_value_t **initial = ARENA_ARRAY(arena, ir_value_t*, total), **next = ARENA_ARRAY(arena, ir_value_t*, total);
  ir_value_t* condition = body->results[0].v;
  bool flagged = condition != loop->body->args[1] && !is_true(n, condition);
  bool known = !onnx_has(n, 1) || is_true(n, n->in[1].v), partial = flagged || !known;
  body->growing = ARENA_ARRAY(arena, onnx_growing_t, body->scans + 1);
  body->grows = !limit || (partial && !(trips.size >= 0 && trips.size <= MAX_ROOM));
  next[0] = as_scalar(n, condition);
  for (uint32_t i = 0; i < body->carried; ++i) {
    initial[1 + i] = n->in[2 + i].v;
    next[1 + i] = body->results[1 + i].v;
  }
  if (!collect_scans(n, body, loop, trips, initial, next)) {
    onnx_loop_drop(loop);
    return false;
  }
  ir_builder_t inside = *n->b;
  *n->b = loop->outside;
  initial[0] = onnx_has(n, 1) ? as_scalar(n, n->in[1].v) : graph_scalar_constant(n->b, onnx_bool(n->ctx), 1);
  *n->b = inside;
  ir_op_t* op = onnx_loop_end(loop, initial, next, limit, partial || !limit ? 0 : -1);
  for (uint32_t i = 0; i < body->carried; ++i)
    n->out[i] = onnx_value(ir_result(op, 2 + i), body->results[1 + i].element);
  return take_scans(n, body, op, partial);
}

// A sequence changes its length from round to round: such a loop is its rounds one after another.
static bool unroll_loop(onnx_node_t* n, const body_t* body, onnx_dim_t trips) {
  arena_t* arena = ir_context_arena(n->ctx);
  bool known = trips.size != IR_DYNAMIC && trips.size <= MAX_ROUNDS && (!onnx_has(n, 1) || is_true(n, n->in[1].v));
  if (!known || body->scans) {
    return onnx_unsupported(n,
                            "a sequence as carried value needs a constant trip count of at most %d, and no results "
                            "that are collected",
                            MAX_ROUNDS);
  }
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, body->carried + 2);
  for (uint32_t i = 0; i < body->carried; ++i) args[2 + i] = n->in[2 + i];
  for (int64_t round = 0; round < trips.size; ++round) {
    onnx_values_t results;
    args[0] = onnx_value(onnx_dim_tensor(n, onnx_dim_of(round), 0), onnx_si64(n->ctx));
    args[1] = onnx_value(graph_scalar_constant(n->b, onnx_bool(n->ctx), 1), onnx_bool(n->ctx));
    if (!onnx_lower_block(n->lowering, body->block, (onnx_values_t){args, body->carried + 2}, &results)) return false;
    if (results.count != 1 + body->carried) return onnx_error(n, "the body gives %u results", results.count);
    if (!is_true(n, results.items[0].v)) return onnx_unsupported(n, "a condition, and a sequence as carried value");
    for (uint32_t i = 0; i < body->carried; ++i) args[2 + i] = results.items[1 + i];
  }
  for (uint32_t i = 0; i < body->carried; ++i) n->out[i] = args[2 + i];
  return true;
}

bool onnx_lower_loop(onnx_node_t* n) {
  body_t body = {.block = region_block(n, 0, 1), .carried = n->in_count > 2 ? n->in_count - 2 : 0};
  onnx_loop_t loop;
  ir_value_t* limit = NULL;
  onnx_dim_t trips = {.size = IR_DYNAMIC};
  uint32_t count;
  if (!body.block) return false;
  if (body.carried > n->out_count) return onnx_error(n, "has fewer results than carried values");
  body.scans = n->out_count - body.carried;
  if (onnx_has(n, 0)) {
    if (!check_scalar(n, 0) || !onnx_dims_input(n, 0, &trips, 1, &count)) return false;
    limit = as_scalar(n, onnx_cast(n, n->in[0], onnx_si64(n->ctx)).v);
    if (trips.size != IR_DYNAMIC && trips.size < 0) trips.size = 0;
  }
  if (onnx_has(n, 1) && !(check_scalar(n, 1) && onnx_is_bool(n->in[1])))
    return onnx_error(n, "the condition must be one boolean");
  body.types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, body.carried + 1);
  body.types[0] = ir_type_tensor(n->ctx, onnx_bool(n->ctx), 0, NULL);
  for (uint32_t i = 0; i < body.carried; ++i) {
    if (!n->in[2 + i].v) return onnx_error(n, "carried value %u has no initial value", i);
    if (n->in[2 + i].holder) return unroll_loop(n, &body, trips);
    body.types[1 + i] = n->in[2 + i].v->type;
  }
  for (int attempt = 0; attempt < ONNX_MAX_RANK; ++attempt) {
    bool fits;
    if (!try_body(n, &body, &loop, &fits)) return false;
    if (fits) return finish_loop(n, &body, &loop, limit, trips);
  }
  return onnx_unsupported(n, "the shapes of carried values do not settle");
}

//===----------------------------------------------------------------------------------------------------------------===
// Scan
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_BATCH = 256 };

typedef struct scan_t {
  uint32_t states, inputs, outputs;
  int64_t input_axes[64], output_axes[64], input_directions[64], output_directions[64];
  onnx_dim_t length;
} scan_t;

typedef struct scan_ends_t {
  ir_value_t *length, *initial[128], *next[128];
  onnx_growing_t growing[64];  // `element` NULL for what does not grow
} scan_ends_t;

static bool read_scan(onnx_node_t* n, scan_t* s) {
  int64_t inputs = onnx_int(n, "num_scan_inputs", 0);
  uint32_t counts[4];
  memset(s, 0, sizeof(*s));
  if (inputs < 1 || inputs > n->in_count || n->in_count > 64 || n->out_count > 64)
    return onnx_error(n, "num_scan_inputs is out of range");
  s->inputs = (uint32_t)inputs;
  s->states = n->in_count - s->inputs;
  if (s->states > n->out_count) return onnx_error(n, "has fewer results than state values");
  s->outputs = n->out_count - s->states;
  if (!onnx_ints(n, "scan_input_axes", s->input_axes, s->inputs, &counts[0]) ||
      !onnx_ints(n, "scan_output_axes", s->output_axes, s->outputs, &counts[1]) ||
      !onnx_ints(n, "scan_input_directions", s->input_directions, s->inputs, &counts[2]) ||
      !onnx_ints(n, "scan_output_directions", s->output_directions, s->outputs, &counts[3])) {
    return false;
  }
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v) return onnx_error(n, "input %u is left out", i);
    if (i < s->states) continue;
    int64_t* axis = &s->input_axes[i - s->states];
    if (!onnx_check_axis(n, axis, onnx_rank(n->in[i]))) return false;
    onnx_dim_t length = onnx_dim(n, n->in[i].v, (int32_t)*axis);
    if (i > s->states && length.size != s->length.size && length.size != IR_DYNAMIC && s->length.size != IR_DYNAMIC) {
      return onnx_error(n, "the scanned inputs differ in length");
    }
    if (i == s->states || length.size != IR_DYNAMIC) s->length = length;
  }
  return true;
}

// The step number, or its mirror image for a reversed direction.
static ir_value_t* step_at(onnx_node_t* n, ir_value_t* step, ir_value_t* length, bool reversed) {
  if (!reversed) return step;
  return graph_binary(n->b, SCALAR_sub, onnx_binary_number(n, SCALAR_sub, length, 1), step);
}

static ir_value_t* move_axis(onnx_node_t* n, ir_value_t* v, int64_t to) {
  int64_t perm[ONNX_MAX_RANK];
  for (int32_t i = 0; i < v->type->rank; ++i) perm[i] = i < to ? i + 1 : i == to ? 0 : i;
  return graph_transpose(n->b, v, perm);
}

// A state must come out of the body as it went in, where that is known.
static bool keeps_type(onnx_node_t* n, const ir_type_t* type, const ir_type_t* next) {
  bool keeps = onnx_merge_types(n->ctx, type, next) != NULL;
  for (int32_t d = 0; keeps && d < type->rank; ++d) {
    keeps = type->dims[d] == next->dims[d] || type->dims[d] == IR_DYNAMIC || next->dims[d] == IR_DYNAMIC;
  }
  return keeps;
}

// The body's results as the loop's: states, then what is collected, then (`sizes` of them) shapes of that.
static bool end_step(onnx_node_t* n, scan_t* s, onnx_loop_t* loop, const onnx_values_t* results, scan_ends_t* ends) {
  uint32_t at = s->states;
  for (uint32_t i = 0; i < s->states; ++i) {
    ends->next[i] = results->items[i].v;
    if (!keeps_type(n, loop->body->args[1 + i]->type, ends->next[i]->type))
      return onnx_error(n, "state %u changes its shape or element type", i);
  }
  for (uint32_t i = 0; i < s->outputs; ++i, ++at) {
    ir_value_t* element = results->items[s->states + i].v;
    if (element->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "collected results have too many dimensions");
    if (!onnx_check_axis(n, &s->output_axes[i], element->type->rank + 1)) return false;
    if (!ir_type_is_static(element->type)) {
      onnx_grow(loop, element, s->output_directions[i] != 0, &ends->growing[i]);
      ends->initial[at] = ends->growing[i].initial, ends->next[at] = ends->growing[i].next;
      continue;
    }
    ir_builder_t inside = *n->b;
    *n->b = loop->outside;
    ends->initial[at] = onnx_accumulator(n, s->length, element->type);
    *n->b = inside;
    ir_value_t* sum = ir_block_add_arg(n->ctx, loop->body, ends->initial[at]->type);
    ir_value_t* step = step_at(n, loop->body->args[0], ends->length, s->output_directions[i]);
    ends->next[at] = onnx_put_element(n, sum, element, step);
  }
  for (uint32_t i = 0; i < s->outputs; ++i) {
    ir_value_t* element = results->items[s->states + i].v;
    if (ir_type_is_static(element->type)) continue;
    onnx_grow_sizes(loop, element, &ends->growing[i]);
    ends->initial[at] = ends->growing[i].initial_sizes, ends->next[at++] = ends->growing[i].next_sizes;
  }
  return true;
}

static bool take_outputs(onnx_node_t* n, const scan_t* s, ir_op_t* op, const onnx_values_t* results,
                         const scan_ends_t* ends) {
  uint32_t sizes = 1 + n->out_count;
  for (uint32_t i = 0; i < n->out_count; ++i) {
    ir_value_t* v = ir_result(op, 1 + i);
    const onnx_growing_t* growing = i < s->states ? NULL : &ends->growing[i - s->states];
    if (growing && growing->element) v = onnx_grown(n, growing, ends->length, v, ir_result(op, sizes++));
    if (!v) return false;
    if (i >= s->states) v = move_axis(n, v, s->output_axes[i - s->states]);
    n->out[i] = onnx_value(v, results->items[i].element);
  }
  return true;
}

static bool lower_scan(onnx_node_t* n) {
  scan_t s;
  onnx_loop_t loop;
  const ir_type_t* types[64];
  onnx_value_t args[64];
  onnx_values_t results;
  scan_ends_t ends = {0};
  ir_block_t* block = region_block(n, 0, 1);
  if (!block || !read_scan(n, &s)) return false;
  ends.length = onnx_dim_tensor(n, s.length, 0);
  for (uint32_t i = 0; i < s.states; ++i) types[i] = (ends.initial[i] = n->in[i].v)->type;
  onnx_loop_begin(&loop, n, types, s.states);
  for (uint32_t i = 0; i < s.states; ++i) args[i] = onnx_value(loop.body->args[1 + i], n->in[i].element);
  for (uint32_t i = 0; i < s.inputs; ++i) {
    ir_value_t* at = step_at(n, loop.body->args[0], ends.length, s.input_directions[i]);
    const onnx_value_t* x = &n->in[s.states + i];
    args[s.states + i] = onnx_value(onnx_element(n, x->v, s.input_axes[i], at), x->element);
  }
  bool fine = onnx_lower_block(n->lowering, block, (onnx_values_t){args, n->in_count}, &results);
  if (fine && results.count != n->out_count) fine = onnx_error(n, "the body gives %u results", results.count);
  if (!fine || !end_step(n, &s, &loop, &results, &ends)) return onnx_loop_drop(&loop), false;
  ir_op_t* op = onnx_loop_end(&loop, ends.initial, ends.next, ends.length, -1);
  return take_outputs(n, &s, op, &results, &ends);
}

// x with a dimension of size 1 before all others.
static ir_value_t* in_front(onnx_node_t* n, ir_value_t* x) {
  int64_t at[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) at[i] = i + 1;
  return onnx_spread(n, x, x->type->rank + 1, at);
}

// Opset 8 has a batch in front of every value; the body knows nothing of it and runs for each entry.
static bool scan_batch(onnx_node_t* n) {
  arena_t* arena = ir_context_arena(n->ctx);
  int64_t batch = n->in_count && n->in[0].v && onnx_rank(n->in[0]) ? onnx_dim_size(n->in[0], 0) : IR_DYNAMIC;
  if (batch == IR_DYNAMIC || batch < 1 || batch > MAX_BATCH) {
    return onnx_unsupported(n, "a batch of static size from 1 to %d is needed", MAX_BATCH);
  }
  ir_value_t** entries = ARENA_ARRAY(arena, ir_value_t*, (size_t)batch * n->out_count + 1);
  onnx_value_t* in = ARENA_ARRAY(arena, onnx_value_t, n->in_count + 1);
  onnx_node_t one = *n;
  one.in = in;
  for (int64_t b = 0; b < batch; ++b) {
    for (uint32_t i = 0; i < n->in_count; ++i) {
      bool fits = n->in[i].v && onnx_rank(n->in[i]) && onnx_dim_size(n->in[i], 0) == batch;
      if (!fits) return onnx_error(n, "input %u must have the batch in front", i);
      in[i] = onnx_value(onnx_entry(n, n->in[i].v, 0, b), n->in[i].element);
    }
    if (!lower_scan(&one)) return false;
    if (onnx_rank(n->out[0]) >= ONNX_MAX_RANK) return onnx_error(n, "the rank is too high");
    for (uint32_t i = 0; i < n->out_count; ++i) entries[i * batch + b] = in_front(n, n->out[i].v);
  }
  for (uint32_t i = 0; i < n->out_count; ++i) {
    n->out[i].v = graph_concat(n->b, entries + i * batch, (uint32_t)batch, 0);
  }
  return true;
}

bool onnx_lower_scan(onnx_node_t* n) { return onnx_int(n, "batched", 0) ? scan_batch(n) : lower_scan(n); }
