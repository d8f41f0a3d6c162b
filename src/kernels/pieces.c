// See pieces.h. A coordinate is followed back through the ops that move it by a constant.
#include "kernels/pieces.h"

typedef struct search_t {
  pieces_t pieces;  // starts beside the first, in any order
  int64_t size;
  uint32_t ops, too_many;
} search_t;

static void add_start(search_t* s, int64_t at) {
  if (at <= 0 || at >= s->size) return;
  for (uint32_t i = 0; i < s->pieces.count; ++i) {
    if (s->pieces.starts[i] == at) return;
  }
  if (s->pieces.count + 1 >= PIECES_MAX) {
    s->too_many = 1;
    return;
  }
  s->pieces.starts[s->pieces.count++] = at;
}

// At coordinate c + shift along `dim` of `value`.
static void follow(search_t* s, const ir_value_t* value, int32_t dim, int64_t shift);

static void follow_pad(search_t* s, const ir_op_t* op, int32_t dim, int64_t shift) {
  int64_t low[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  graph_get_low(op, low);
  graph_get_interior(op, interior);
  int64_t size = ir_operand(op, 0)->type->dims[dim];
  if (interior[dim] || size == IR_DYNAMIC) return;
  add_start(s, low[dim] - shift);
  add_start(s, low[dim] + size - shift);
  follow(s, ir_operand(op, 0), dim, shift - low[dim]);
}

static void follow_concat(search_t* s, const ir_op_t* op, int32_t dim, int64_t shift) {
  bool along = graph_get_axis(op) == dim;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    int64_t size = ir_operand(op, i)->type->dims[dim];
    follow(s, ir_operand(op, i), dim, shift);
    if (!along) continue;
    if (size == IR_DYNAMIC) return;
    shift -= size;
    add_start(s, -shift);
  }
}

// Where all of a window lies inside.
static void follow_window(search_t* s, const ir_op_t* op, int32_t dim, int64_t shift) {
  graph_window_t w = graph_window_read(op);
  int64_t size = ir_operand(op, 0)->type->dims[dim], stride = w.strides[dim], pad = w.pad_low[dim];
  for (int32_t i = 0; i < op->results[0].type->rank; ++i) s->ops += (uint32_t)(w.sizes[i] < 64 ? w.sizes[i] - 1 : 64);
  if (size == IR_DYNAMIC || w.base_dilations[dim] != 1) return;
  int64_t last = size - 1 + pad - (w.sizes[dim] - 1) * w.dilations[dim];
  int64_t first = pad > 0 ? (pad + stride - 1) / stride : 0;
  if (last < 0 || last / stride < first) return;
  add_start(s, first - shift);
  add_start(s, last / stride + 1 - shift);
}

static void follow_map(search_t* s, const ir_op_t* op, int32_t dim, int64_t shift) {
  const ir_value_t* x = ir_operand(op, 0);
  int64_t numbers[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    graph_get_perm(op, numbers);
    follow(s, x, (int32_t)numbers[dim], shift);
  } else if (ir_is(op, GRAPH_BROADCAST)) {
    uint32_t count = graph_get_dims(op, numbers);
    for (uint32_t i = 0; i < count; ++i) {
      if (numbers[i] == dim && x->type->dims[i] != 1) follow(s, x, (int32_t)i, shift);
    }
  } else if (ir_is(op, GRAPH_SLICE)) {
    graph_get_offsets(op, numbers);
    graph_get_strides(op, strides);
    if (strides[dim] == 1) follow(s, x, dim, shift + numbers[dim]);
  } else if (ir_is(op, GRAPH_RESHAPE)) {
    int32_t rank = op->results[0].type->rank, last = x->type->rank - 1;
    bool stays = dim == rank - 1 && last >= 0 && x->type->dims[last] == op->results[0].type->dims[dim];
    if (stays && x->type->dims[last] != IR_DYNAMIC) follow(s, x, last, shift);
  }
}

static void follow(search_t* s, const ir_value_t* value, int32_t dim, int64_t shift) {
  enum { MANY_OPS = 64 };
  const ir_op_t* op = value->def;
  if (!op || s->too_many || ++s->ops > MANY_OPS) return;
  if (graph_scalar_fn(op) >= 0) {
    for (uint32_t i = 0; i < op->operand_count; ++i) follow(s, ir_operand(op, i), dim, shift);
  } else if (ir_is(op, GRAPH_PAD)) {
    follow_pad(s, op, dim, shift);
  } else if (ir_is(op, GRAPH_CONCAT)) {
    follow_concat(s, op, dim, shift);
  } else if (ir_is(op, GRAPH_WINDOW)) {
    follow_window(s, op, dim, shift);
  } else if (op->operand_count) {
    follow_map(s, op, dim, shift);
  }
}

pieces_t pieces_find(const ir_value_t* tensor, int32_t dim) {
  enum { LONG_CODE = 256 };
  search_t s = {.size = tensor->type->dims[dim]};
  follow(&s, tensor, dim, 0);
  pieces_t* p = &s.pieces;
  if (s.too_many || (p->count + 1) * s.ops > LONG_CODE) p->count = 0;
  p->starts[p->count++] = 0;
  for (uint32_t i = 1; i < p->count; ++i) {
    for (uint32_t j = i; j > 0 && p->starts[j - 1] > p->starts[j]; --j) {
      int64_t t = p->starts[j];
      p->starts[j] = p->starts[j - 1];
      p->starts[j - 1] = t;
    }
  }
  p->starts[p->count] = s.size;
  return *p;
}
