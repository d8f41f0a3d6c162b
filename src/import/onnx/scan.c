// Scan.
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/ops.h"

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
    if (!onnx_check_axis(n, &s->output_axes[i], onnx_rank(results->items[s->states + i]) + 1)) return false;
    if (!ir_type_is_static(element->type)) {
      onnx_grow(loop, results->items[s->states + i], s->output_directions[i] != 0, &ends->growing[i]);
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
    onnx_grow_sizes(loop, results->items[s->states + i], &ends->growing[i]);
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
  ir_block_t* block = onnx_region_block(n, 0, 1);
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
