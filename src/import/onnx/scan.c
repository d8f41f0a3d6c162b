// Scan.
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_VALUES = 64 };  // that go in, and that come out

typedef struct scan_t {
  uint32_t states, inputs, outputs;
  int64_t input_axes[MAX_VALUES], output_axes[MAX_VALUES], input_directions[MAX_VALUES], output_directions[MAX_VALUES];
  onnx_dim_t length;
  ir_value_t* rounds;  // of an entry of a batch, which may be fewer; zeros follow then. NULL: `length`
} scan_t;

typedef struct scan_ends_t {
  ir_value_t *rounds, *initial[2 * MAX_VALUES], *next[2 * MAX_VALUES];
  onnx_growing_t growing[MAX_VALUES];  // `element` NULL for what does not grow
} scan_ends_t;

// How many rounds there are: the scanned inputs agree in that.
static bool read_length(onnx_node_t* n, scan_t* s) {
  for (uint32_t i = 0; i < s->inputs; ++i) {
    onnx_value_t x = n->in[s->states + i];
    if (!onnx_check_axis(n, &s->input_axes[i], onnx_rank(x))) return false;
    onnx_dim_t length = onnx_dim(n, x.v, (int32_t)s->input_axes[i]);
    onnx_dim_t same = i ? onnx_dim_test(n, SCALAR_eq, length, s->length) : onnx_dim_of(1);
    if (!onnx_require(n, same, "the scanned inputs differ in length")) return false;
    if (i == 0 || onnx_dim_known(length)) s->length = length;
  }
  return true;
}

static bool read_scan(onnx_node_t* n, scan_t* s) {
  int64_t inputs = onnx_int(n, "num_scan_inputs", 0);
  uint32_t counts[4];
  memset(s, 0, sizeof(*s));
  if (inputs < 1 || inputs > n->in_count || n->in_count > MAX_VALUES || n->out_count > MAX_VALUES)
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
  }
  return read_length(n, s);
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
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (uint32_t i = 0; i < s->states; ++i) {
    ends->next[i] = results->items[i].v;
    if (!keeps_type(n, loop->body->args[1 + i]->type, ends->next[i]->type))
      return onnx_error(n, "state %u changes its shape or element type", i);
  }
  for (uint32_t i = 0; i < s->outputs; ++i, ++at) {
    ir_value_t* element = results->items[s->states + i].v;
    if (element->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "collected results have too many dimensions");
    if (!onnx_check_axis(n, &s->output_axes[i], onnx_rank(results->items[s->states + i]) + 1)) return false;
    if (!onnx_round_shape(loop, results->items[s->states + i], ends->initial, ends->next, s->states, dims)) {
      onnx_grow(loop, results->items[s->states + i], s->output_directions[i] != 0, &ends->growing[i]);
      ends->initial[at] = ends->growing[i].initial, ends->next[at] = ends->growing[i].next;
      continue;
    }
    ir_builder_t inside = *n->b;
    *n->b = loop->outside;
    ends->initial[at] = onnx_accumulator(n, s->length, element->type, dims);
    *n->b = inside;
    ir_value_t* sum = ir_block_add_arg(n->ctx, loop->body, ends->initial[at]->type);
    ir_value_t* step = step_at(n, loop->body->args[0], ends->rounds, s->output_directions[i]);
    ends->next[at] = onnx_put_element(n, sum, element, step);
  }
  for (uint32_t i = 0; i < s->outputs; ++i) {
    if (!ends->growing[i].element) continue;
    onnx_grow_sizes(loop, results->items[s->states + i], &ends->growing[i]);
    ends->initial[at] = ends->growing[i].initial_sizes, ends->next[at++] = ends->growing[i].next_sizes;
  }
  return true;
}

// x with zeros behind, up to that length.
static ir_value_t* fill_up(onnx_node_t* n, ir_value_t* x, onnx_dim_t length) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) dims[i] = onnx_dim(n, x, i);
  dims[0] = onnx_dim_sub(n, length, dims[0]);
  ir_value_t* zero = graph_scalar_constant(n->b, x->type->element, 0);
  return graph_concat(n->b, (ir_value_t*[]){x, onnx_broadcast_to(n, zero, x->type->rank, dims)}, 2, 0);
}

static bool take_outputs(onnx_node_t* n, const scan_t* s, ir_op_t* op, const onnx_values_t* results,
                         const scan_ends_t* ends) {
  uint32_t sizes = 1 + n->out_count;
  for (uint32_t i = 0; i < n->out_count; ++i) {
    ir_value_t* v = ir_result(op, 1 + i);
    const onnx_growing_t* growing = i < s->states ? NULL : &ends->growing[i - s->states];
    if (growing && growing->element) v = onnx_grown(n, growing, ends->rounds, v, ir_result(op, sizes++));
    if (!v) return false;
    if (growing && growing->element && s->rounds) v = fill_up(n, v, s->length);
    if (i >= s->states) v = move_axis(n, v, s->output_axes[i - s->states]);
    n->out[i] = onnx_value(v, results->items[i].element);
  }
  return true;
}

static bool lower_scan(onnx_node_t* n, ir_value_t* rounds);

// What a round makes of `args`: the node's body, or for a batch the scan of one entry.
static bool lower_round(onnx_node_t* n, onnx_value_t* args, bool batch, onnx_values_t* results) {
  if (!batch) {
    ir_block_t* block = onnx_region_block(n, 0, 1);
    if (!block || !onnx_lower_block(n->lowering, block, (onnx_values_t){args, n->in_count}, results)) return false;
    return results->count == n->out_count || onnx_error(n, "the body gives %u results", results->count);
  }
  onnx_node_t entry = *n;
  *results = (onnx_values_t){ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, n->out_count + 1), n->out_count};
  entry.in = args, entry.out = results->items;
  if (!onnx_int(n, "lengths", 0)) return lower_scan(&entry, NULL);
  return lower_scan(&entry, args[--entry.in_count].v);
}

static bool run_scan(onnx_node_t* n, scan_t* s, bool batch) {
  onnx_loop_t loop;
  const ir_type_t* types[MAX_VALUES];
  onnx_value_t args[MAX_VALUES];
  onnx_values_t results;
  scan_ends_t ends = {0};
  ends.rounds = s->rounds ? s->rounds : onnx_dim_tensor(n, s->length, 0);
  for (uint32_t i = 0; i < s->states; ++i) types[i] = (ends.initial[i] = n->in[i].v)->type;
  onnx_loop_begin(&loop, n, types, s->states);
  for (uint32_t i = 0; i < s->states; ++i) args[i] = onnx_value(loop.body->args[1 + i], n->in[i].element);
  for (uint32_t i = 0; i < s->inputs; ++i) {
    ir_value_t* at = step_at(n, loop.body->args[0], ends.rounds, s->input_directions[i]);
    const onnx_value_t* x = &n->in[s->states + i];
    args[s->states + i] = onnx_value(onnx_element(n, x->v, s->input_axes[i], at), x->element);
  }
  bool fine = lower_round(n, args, batch, &results);
  if (!fine || !end_step(n, s, &loop, &results, &ends)) return onnx_loop_drop(&loop), false;
  ir_op_t* op = onnx_loop_end(&loop, ends.initial, ends.next, ends.rounds, -1);
  return take_outputs(n, s, op, &results, &ends);
}

static bool lower_scan(onnx_node_t* n, ir_value_t* rounds) {
  scan_t s;
  onnx_dim_t count;
  if (!read_scan(n, &s)) return false;
  if (rounds) {
    if (!onnx_tensor_number(n, rounds, &count)) return false;
    onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, count, onnx_dim_of(0)),
                                    onnx_dim_test(n, SCALAR_le, count, s.length));
    if (!onnx_require(n, fits, "the length of a sequence is out of range")) return false;
    s.rounds = rounds;
  }
  return run_scan(n, &s, false);
}

// Opset 8 has a batch in front of every value: a scan along that, without states, of scans.
static bool scan_batch(onnx_node_t* n) {
  scan_t s = {.inputs = n->in_count, .outputs = n->out_count};
  if (n->in_count > MAX_VALUES || n->out_count > MAX_VALUES)
    return onnx_error(n, "more than %d operands or results", MAX_VALUES);
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v || !onnx_rank(n->in[i])) return onnx_error(n, "input %u must have the batch in front", i);
  }
  uint32_t last = n->in_count - 1;
  if (onnx_int(n, "lengths", 0)) {
    if (!last || !onnx_is_int(n->in[last]) || onnx_rank(n->in[last]) != 1)
      return onnx_error(n, "the lengths of the sequences must be a vector of integers");
    onnx_set_input(n, last, onnx_cast(n, n->in[last], onnx_si64(n->ctx)).v);
  }
  return read_length(n, &s) && run_scan(n, &s, true);
}

bool onnx_lower_scan(onnx_node_t* n) { return onnx_int(n, "batched", 0) ? scan_batch(n) : lower_scan(n, NULL); }
