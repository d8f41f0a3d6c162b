// Sizes of dimensions: constants, or index values whose origin is traced, so that equal sizes are recognised.
#include "import/lowering_size.h"
#include "import/onnx/lower.h"

// A model's own number is never IR_DYNAMIC, which would want a value.
onnx_dim_t onnx_dim_of(int64_t size) { return (onnx_dim_t){.size = size == IR_DYNAMIC ? IR_DYNAMIC + 1 : size}; }

onnx_dim_t onnx_dim(onnx_node_t* n, ir_value_t* x, int32_t i) {
  onnx_dim_t dim = {.size = x->type->dims[i]};
  if (dim.size == IR_DYNAMIC) dim.value = lower_size(n->b, x, i);
  return dim;
}

bool onnx_dim_same(onnx_dim_t a, onnx_dim_t b) {
  if (a.size != b.size) return false;
  return a.size != IR_DYNAMIC || lower_size_same(a.value, b.value);
}

bool onnx_dim_agrees(onnx_dim_t a, onnx_dim_t b) {
  if (a.size != b.size) return false;
  return a.size != IR_DYNAMIC || lower_size_agrees(a.value, b.value);
}

bool onnx_dim_meets(onnx_dim_t a, onnx_dim_t b) {
  if (a.size != b.size) return false;
  return a.size != IR_DYNAMIC || lower_size_meets(a.value, b.value);
}

bool onnx_dim_is_constant(onnx_dim_t dim, int64_t* out) {
  if (dim.size == IR_DYNAMIC) return lower_size_constant(dim.value, out);
  return *out = dim.size, true;
}

static ir_value_t* dim_value(onnx_node_t* n, onnx_dim_t dim) {
  return dim.size == IR_DYNAMIC ? dim.value : graph_index_constant(n->b, dim.size);
}

onnx_dim_t onnx_dim_binary(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b) {
  ir_value_t* operands[] = {dim_value(n, a), dim_value(n, b)};
  ir_value_t* value = ir_build_value(n->b, graph_scalar_code(fn), operands, 2, ir_type_index(n->ctx));
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = value};
}

onnx_dim_t onnx_dim_mul(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t product;
  if (a.size == 1 || b.size == 0) return b;
  if (b.size == 1 || a.size == 0) return a;
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_mul_overflow(a.size, b.size, &product) ? INT64_MAX : product);
  return onnx_dim_binary(n, SCALAR_mul, a, b);
}

onnx_dim_t onnx_dim_add(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t sum;
  if (a.size == 0) return b;
  if (b.size == 0) return a;
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_add_overflow(a.size, b.size, &sum) ? INT64_MAX : sum);
  return onnx_dim_binary(n, SCALAR_add, a, b);
}

onnx_dim_t onnx_dim_sub(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t difference;
  if (b.size == 0) return a;
  if (onnx_dim_same(a, b)) return onnx_dim_of(0);
  if (a.size == IR_DYNAMIC && b.size == IR_DYNAMIC && ir_is(a.value->def, GRAPH_add)) {  // (x + c) - x
    ir_value_t *x = ir_operand(a.value->def, 0), *y = ir_operand(a.value->def, 1);
    if (lower_size_same(x, b.value) && lower_size_constant(y, &difference)) return onnx_dim_of(difference);
    if (lower_size_same(y, b.value) && lower_size_constant(x, &difference)) return onnx_dim_of(difference);
  }
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_sub_overflow(a.size, b.size, &difference) ? INT64_MAX : difference);
  return onnx_dim_binary(n, SCALAR_sub, a, b);
}

onnx_dim_t onnx_dim_div(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (b.size == 1) return a;
  if (a.size == IR_DYNAMIC && onnx_dim_same(a, b)) return onnx_dim_of(1);
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(b.size ? a.size / b.size : 0);
  return onnx_dim_binary(n, SCALAR_div, a, b);
}

onnx_dim_t onnx_dim_common(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (a.size == 1) return b;
  if (b.size == 1 || a.size != IR_DYNAMIC) return a;
  if (b.size != IR_DYNAMIC) return b;
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = lower_size_common(n->b, a.value, b.value)};
}

void onnx_split_dims(int32_t rank, const onnx_dim_t* dims, int64_t* sizes, ir_value_t** dynamic) {
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = dims[i].size;
    if (dims[i].size == IR_DYNAMIC) *dynamic++ = dims[i].value;
  }
}
