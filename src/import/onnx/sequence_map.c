// SequenceMap: the body for each member. A few members that are known get a copy of the body each; otherwise a loop
// takes member after member, and what the body gives grows round by round, as the data and shapes of holder.h.
#include "import/onnx/holder.h"
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static bool map_block(onnx_node_t* n, ir_block_t* body, onnx_value_t* args, onnx_values_t* results) {
  if (!onnx_lower_block(n->lowering, body, (onnx_values_t){args, n->in_count}, results)) return false;
  if (results->count != n->out_count) return onnx_error(n, "the body gives %u results", results->count);
  for (uint32_t i = 0; i < results->count; ++i) {
    if (results->items[i].holder) return onnx_error(n, "result %u of the body must be a tensor", i);
  }
  return true;
}

// `count` copies of the body; `in` are the inputs, with sequences in place of optionals that hold some.
static bool map_members(onnx_node_t* n, ir_block_t* body, const onnx_value_t* in, uint32_t count) {
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, n->in_count + 1);
  onnx_value_t* items = ARENA_ARRAY(arena, onnx_value_t, (size_t)count * n->out_count + 1);
  for (uint32_t k = 0; k < count; ++k) {
    onnx_values_t results;
    for (uint32_t i = 0; i < n->in_count; ++i) args[i] = in[i].holder ? in[i].holder->items[k] : in[i];
    if (!map_block(n, body, args, &results)) return false;
    for (uint32_t i = 0; i < n->out_count; ++i) items[i * count + k] = results.items[i];
  }
  for (uint32_t i = 0; i < n->out_count; ++i) {
    n->out[i] = onnx_sequence_value(n, items + i * count, count, items[i * count].element);
  }
  return true;
}

static bool map_loop(onnx_node_t* n, ir_block_t* body, const onnx_value_t* in, onnx_dim_t length) {
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, n->in_count + 1);
  onnx_growing_t* growing = ARENA_ARRAY(arena, onnx_growing_t, 2 * n->out_count + 1);
  ir_value_t** initial = ARENA_ARRAY(arena, ir_value_t*, 2 * n->out_count + 1);
  ir_value_t** next = ARENA_ARRAY(arena, ir_value_t*, 2 * n->out_count + 1);
  onnx_values_t results = {0};
  onnx_loop_t loop;
  onnx_dim_t round;
  ir_value_t* limit = onnx_dim_tensor(n, length, 0);
  onnx_loop_begin(&loop, n, NULL, 0);
  bool fine = onnx_tensor_number(n, loop.body->args[0], &round);
  for (uint32_t i = 0; fine && i < n->in_count; ++i) {
    args[i] = in[i];
    if (in[i].holder) fine = onnx_sequence_member(n, in[i].holder, round, &args[i]);
  }
  if (!fine || !map_block(n, body, args, &results)) return onnx_loop_drop(&loop), false;
  for (uint32_t i = 0; i < results.count; ++i) {
    onnx_grow(&loop, results.items[i], false, &growing[2 * i]);
    onnx_value_t shape = onnx_value(onnx_shape_vector(n, results.items[i]), onnx_si64(n->ctx));
    onnx_grow(&loop, shape, false, &growing[2 * i + 1]);
  }
  for (uint32_t i = 0; i < 2 * results.count; ++i) initial[i] = growing[i].initial, next[i] = growing[i].next;
  ir_op_t* op = onnx_loop_end(&loop, initial, next, limit, -1);
  for (uint32_t i = 0; i < results.count; ++i) {
    onnx_holder_t s = {.element = results.items[i].element, .rank = onnx_rank(results.items[i])};
    const onnx_dim_t table[] = {length, onnx_dim_of(s.rank)};
    s.data = ir_result(op, 1 + 2 * i);
    s.shapes = onnx_reshape(n, ir_result(op, 2 + 2 * i), 2, table);
    n->out[i] = onnx_holder_value(n, &s);
  }
  return true;
}

// Sequences as data and shapes, of the rank that the body declares where they do not tell.
static bool flatten_inputs(onnx_node_t* n, const ir_block_t* body, onnx_value_t* in) {
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!in[i].holder) continue;
    onnx_holder_t s = *in[i].holder;
    const ir_type_t* declared = i < body->arg_count ? body->args[i]->type : NULL;
    if (s.rank < 0 && declared && declared->kind == IR_TYPE_VTENSOR) s.rank = declared->rank;
    if (!onnx_sequence_flatten(n, &s)) return false;
    in[i] = onnx_holder_value(n, &s);
  }
  return true;
}

bool onnx_lower_sequence_map(onnx_node_t* n) {
  onnx_holder_t first;
  ir_block_t* body = onnx_region_block(n, 0, 1);
  if (!body || !onnx_sequence_input(n, 0, &first)) return false;
  onnx_value_t* in = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, n->in_count + 1);
  onnx_dim_t length = onnx_sequence_length(n, &first);
  bool known = true;
  for (uint32_t i = 0; i < n->in_count; ++i) {
    onnx_holder_t s;
    if (!n->in[i].v) return onnx_error(n, "input %u is left out", i);
    in[i] = n->in[i];
    if (!in[i].holder) continue;
    if (!onnx_sequence_input(n, i, &s)) return false;
    onnx_dim_t same = onnx_dim_test(n, SCALAR_eq, onnx_sequence_length(n, &s), length);
    if (!onnx_require(n, same, "the sequences differ in length")) return false;
    known &= !s.data;
    in[i] = onnx_holder_value(n, &s);
  }
  if (known && length.size > 0 && length.size <= ONNX_MAX_ROUNDS)
    return map_members(n, body, in, (uint32_t)length.size);
  return flatten_inputs(n, body, in) && map_loop(n, body, in, length);
}
