// See automaton.h: a loop over the characters, all strings at once.
#include "import/onnx/automaton.h"

#include "import/onnx/loops.h"
#include "import/onnx/strings.h"

static ir_value_t* vector(onnx_node_t* n, const int32_t* data, uint32_t size) {
  const int64_t count = size;
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), 1, &count);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(*data) * size));
}

// The class of each character: as many classes begin at or before it, less one.
static ir_value_t* classify(onnx_node_t* n, const automaton_t* a, ir_value_t* rows) {
  static const int64_t at[] = {0, 1}, last = 2;
  const onnx_dim_t dims[] = {onnx_dim(n, rows, 0), onnx_dim(n, rows, 1), onnx_dim_of(a->class_count)};
  ir_value_t* starts = onnx_broadcast_to(n, vector(n, a->starts, a->class_count), 3, dims);
  ir_value_t* reached = graph_binary(n->b, SCALAR_geu, onnx_broadcast_as(n, rows, starts, at), starts);
  ir_value_t* count = graph_reduce(n->b, graph_cast(n->b, reached, ir_type_int(n->ctx, 32), true), &last, 1, "add");
  return onnx_binary_number(n, SCALAR_sub, count, 1);
}

ir_value_t* onnx_automaton_run(onnx_node_t* n, const automaton_t* a, ir_value_t* rows, bool trace) {
  ir_value_t *classes = classify(n, a, rows), *used = onnx_string_used(n, rows);
  ir_value_t *table = vector(n, a->next, a->state_count * a->class_count), *initial[2], *next[2];
  const onnx_dim_t dims[] = {onnx_dim(n, rows, 1), onnx_dim(n, rows, 0)};
  ir_value_t* zero = graph_scalar_constant(n->b, ir_type_int(n->ctx, 32), 0);
  onnx_loop_t loop;
  initial[0] = onnx_broadcast_to(n, zero, 1, dims + 1);
  initial[1] = onnx_broadcast_to(n, zero, 2, dims);
  const ir_type_t* types[] = {initial[0]->type, initial[1]->type};
  ir_value_t* limit = onnx_dim_tensor(n, dims[0], 0);
  onnx_loop_begin(&loop, n, types, 1 + trace);
  ir_value_t *round = loop.body->args[0], *state = loop.body->args[1];
  ir_value_t* place = onnx_binary_number(n, SCALAR_mul, state, a->class_count);
  place = graph_binary(n->b, SCALAR_add, place, onnx_element(n, classes, 1, round));
  next[0] = graph_select(n->b, onnx_element(n, used, 1, round), graph_take(n->b, table, place, 0, false), state);
  if (trace) next[1] = onnx_put_element(n, loop.body->args[2], next[0], round);
  return ir_result(onnx_loop_end(&loop, initial, next, limit, -1), 1 + trace);
}
