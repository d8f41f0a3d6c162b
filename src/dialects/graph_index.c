// Numbers of the host that a program has as tensors: sizes that it makes a shape of, and takes out of it again.
#include "dialects/graph.h"
#include "dialects/graph_shape.h"

ir_value_t* graph_as_index(ir_builder_t* b, ir_value_t* v) {
  const ir_type_t* index = ir_type_index(b->ctx);
  if (v->type == index) return v;
  const ir_attr_t* value = ir_is(v->def, GRAPH_CONSTANT) ? graph_get_value(v->def) : NULL;
  if (value && value->kind == IR_ATTR_INTEGER) return graph_index_constant(b, value->integer);
  bool was_index = v->def && graph_scalar_fn(v->def) == SCALAR_cast && ir_operand(v->def, 0)->type == index;
  return was_index ? ir_operand(v->def, 0) : graph_cast(b, v, index, false);
}

static bool is_constant(const ir_value_t* v, int64_t* out) {
  if (!ir_is(v->def, GRAPH_CONSTANT)) return false;
  *out = graph_get_value(v->def)->integer;
  return true;
}

static ir_value_t* binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  int64_t a, c, number;
  if (is_constant(x, &a) && is_constant(y, &c) && graph_size_fold(fn, a, c, &number)) {
    return graph_index_constant(b, number);
  }
  return graph_binary(b, fn, x, y);
}

// Elements that are looked at for one number: what is computed from itself several times has many.
enum { MOST_STEPS = 512 };

static ir_value_t* element(ir_builder_t* b, ir_value_t* tensor, int64_t i, uint32_t* steps);

// Integer arithmetic that is the same on indices, as long as nothing overflows.
static bool is_index_fn(int fn) {
  return fn == SCALAR_add || fn == SCALAR_sub || fn == SCALAR_mul || fn == SCALAR_min || fn == SCALAR_max ||
         fn == SCALAR_div || fn == SCALAR_rem;
}

static ir_value_t* of_function(ir_builder_t* b, ir_op_t* op, int64_t i, uint32_t* steps) {
  int fn = graph_scalar_fn(op);
  const ir_type_t* from = ir_type_scalar(ir_operand(op, 0)->type);
  bool is_integer = from->kind == IR_TYPE_INDEX || (from->kind == IR_TYPE_INTEGER && from->width > 1);
  if (fn == SCALAR_cast && is_integer) return element(b, ir_operand(op, 0), i, steps);
  if (!is_index_fn(fn)) return NULL;
  ir_value_t* x = element(b, ir_operand(op, 0), i, steps);
  ir_value_t* y = x ? element(b, ir_operand(op, 1), i, steps) : NULL;
  return y ? binary(b, (scalar_fn_t)fn, x, y) : NULL;
}

static ir_value_t* of_concat(ir_builder_t* b, ir_op_t* op, int64_t i, uint32_t* steps) {
  for (uint32_t k = 0; k < op->operand_count; ++k) {
    int64_t size = ir_type_count(ir_operand(op, k)->type);
    if (size == IR_DYNAMIC) return NULL;
    if (i < size) return element(b, ir_operand(op, k), i, steps);
    i -= size;
  }
  return NULL;
}

static ir_value_t* element(ir_builder_t* b, ir_value_t* tensor, int64_t i, uint32_t* steps) {
  ir_op_t* op = tensor->def;
  int64_t offset, stride;
  if (!op || tensor->type->rank > 1 || ++*steps > MOST_STEPS) return NULL;
  if (graph_scalar_fn(op) >= 0) return of_function(b, op, i, steps);
  switch (ir_code(op)) {
    case GRAPH_CONSTANT: {
      const ir_attr_t* value = graph_get_value(op);
      return value->kind == IR_ATTR_ELEMENTS ? graph_index_constant(b, ir_attr_element_integer(value, i)) : NULL;
    }
    case GRAPH_TO_TENSOR:
      return graph_as_index(b, ir_operand(op, 0));
    case GRAPH_CONCAT:
      return of_concat(b, op, i, steps);
    case GRAPH_RESHAPE:
      return element(b, ir_operand(op, 0), i, steps);
    case GRAPH_BROADCAST:
      return ir_type_count(ir_operand(op, 0)->type) == 1 ? element(b, ir_operand(op, 0), 0, steps) : NULL;
    case GRAPH_SLICE:
      if (ir_op_ints(op, "offsets", &offset, 1) != 1 || ir_op_ints(op, "strides", &stride, 1) != 1) return NULL;
      return element(b, ir_operand(op, 0), offset + i * stride, steps);
    default:
      return NULL;
  }
}

ir_value_t* graph_index_of(ir_builder_t* b, ir_value_t* tensor, int64_t i) {
  uint32_t steps = 0;
  return element(b, tensor, i, &steps);
}
