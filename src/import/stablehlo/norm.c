// Batch normalisation by its formulas, over all dimensions but the feature's.
#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

typedef struct norm_t {
  ir_value_t* x;
  int64_t feature, dims[GRAPH_MAX_RANK];  // dims: all but the feature
  uint32_t count;
  double epsilon;
} norm_t;

static bool read_norm(lower_op_t* n, norm_t* v) {
  v->x = n->in[0];
  v->feature = ir_op_int(n->op, "feature_index", -1);
  const ir_attr_t* epsilon = ir_op_attr(n->op, "epsilon");
  v->epsilon = epsilon && epsilon->kind == IR_ATTR_FLOAT ? epsilon->number : 0;
  v->count = 0;
  if (!lower_check_tensors(n)) return false;
  const ir_type_t* type = v->x->type;
  if (v->feature < 0 || v->feature >= type->rank || !lower_is_float(type)) {
    return lower_error(n, "needs floats and a feature_index within the operand's rank");
  }
  for (int32_t i = 0; i < type->rank; ++i) {
    if (i != v->feature) v->dims[v->count++] = i;
  }
  return true;
}

// Operand `i` has one number for each feature.
static bool check_feature(lower_op_t* n, const norm_t* v, uint32_t i) {
  const ir_type_t* type = n->in[i]->type;
  int64_t size = v->x->type->dims[v->feature];
  bool fits = type->rank == 1 && type->element == v->x->type->element &&
              (type->dims[0] == size || type->dims[0] == IR_DYNAMIC || size == IR_DYNAMIC);
  return fits || lower_error(n, "needs one number per feature as operand %u, has %s", i, ir_type_str(n->ctx, type));
}

static ir_value_t* spread(lower_op_t* n, const norm_t* v, ir_value_t* y) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(n->b, v->x, v->x->type, dynamic);
  return graph_broadcast(n->b, y, v->x->type, &v->feature, dynamic);
}

static ir_value_t* op2(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

// Elements per feature as a number without dims.
static ir_value_t* element_count(lower_op_t* n, const norm_t* v) {
  ir_value_t* count = graph_index_constant(n->b, 1);
  for (uint32_t i = 0; i < v->count; ++i) {
    count = lower_index_binary(n->b, SCALAR_mul, count, graph_dim(n->b, v->x, (uint32_t)v->dims[i]));
  }
  int64_t constant;
  const ir_type_t* element = v->x->type->element;
  if (lower_constant_index(count, &constant)) return graph_scalar_constant(n->b, element, (double)constant);
  return lower_as_tensor(n->b, graph_cast(n->b, count, element, false));
}

static ir_value_t* mean_of(lower_op_t* n, const norm_t* v, ir_value_t* x) {
  return lower_binary(n, SCALAR_div, graph_reduce(n->b, x, v->dims, v->count, "add"), element_count(n, v));
}

bool stablehlo_lower_batch_norm_inference(lower_op_t* n) {
  norm_t v;
  if (!read_norm(n, &v)) return false;
  for (uint32_t i = 1; i < 5; ++i) {
    if (!check_feature(n, &v, i)) return false;
  }
  ir_value_t* deviation = graph_unary(n->b, SCALAR_sqrt, lower_with_number(n, SCALAR_add, n->in[4], v.epsilon));
  ir_value_t* scale = op2(n, SCALAR_div, n->in[1], deviation);
  ir_value_t* centred = op2(n, SCALAR_sub, v.x, spread(n, &v, n->in[3]));
  ir_value_t* scaled = op2(n, SCALAR_mul, centred, spread(n, &v, scale));
  return lower_return(n, op2(n, SCALAR_add, scaled, spread(n, &v, n->in[2])));
}

bool stablehlo_lower_batch_norm_training(lower_op_t* n) {
  norm_t v;
  if (!read_norm(n, &v) || !check_feature(n, &v, 1) || !check_feature(n, &v, 2)) return false;
  ir_value_t* mean = mean_of(n, &v, v.x);
  ir_value_t* centred = op2(n, SCALAR_sub, v.x, spread(n, &v, mean));
  ir_value_t* variance = mean_of(n, &v, op2(n, SCALAR_mul, centred, centred));
  ir_value_t* deviation = graph_unary(n->b, SCALAR_sqrt, lower_with_number(n, SCALAR_add, variance, v.epsilon));
  ir_value_t* scale = op2(n, SCALAR_div, n->in[1], deviation);
  ir_value_t* scaled = op2(n, SCALAR_mul, centred, spread(n, &v, scale));
  n->out[0].v = op2(n, SCALAR_add, scaled, spread(n, &v, n->in[2]));
  n->out[1].v = mean;
  n->out[2].v = variance;
  return true;
}

// Operands: x, scale, mean, variance, gradient of the output. Results: gradients of x, scale and offset.
bool stablehlo_lower_batch_norm_grad(lower_op_t* n) {
  norm_t v;
  if (!read_norm(n, &v)) return false;
  for (uint32_t i = 1; i < 4; ++i) {
    if (!check_feature(n, &v, i)) return false;
  }
  if (!lower_fits(n->in[4]->type, v.x->type)) return lower_error(n, "needs a gradient of the operand's type");
  ir_value_t *scale = n->in[1], *mean = n->in[2], *variance = n->in[3], *gradient = n->in[4];
  ir_value_t* centred = op2(n, SCALAR_sub, v.x, spread(n, &v, mean));
  ir_value_t* shifted = lower_with_number(n, SCALAR_add, variance, v.epsilon);
  ir_value_t* deviation = graph_unary(n->b, SCALAR_sqrt, shifted);
  ir_value_t* products = graph_reduce(n->b, op2(n, SCALAR_mul, gradient, centred), v.dims, v.count, "add");
  ir_value_t* total = graph_reduce(n->b, gradient, v.dims, v.count, "add");
  // scale / deviation / count * (count * gradient - total - centred * products / (variance + epsilon))
  ir_value_t* count = element_count(n, &v);
  ir_value_t* first = lower_binary(n, SCALAR_mul, gradient, count);
  ir_value_t* last = op2(n, SCALAR_mul, centred, spread(n, &v, op2(n, SCALAR_div, products, shifted)));
  ir_value_t* inner = op2(n, SCALAR_sub, op2(n, SCALAR_sub, first, spread(n, &v, total)), last);
  ir_value_t* factor = lower_binary(n, SCALAR_div, op2(n, SCALAR_div, scale, deviation), count);
  n->out[0].v = op2(n, SCALAR_mul, spread(n, &v, factor), inner);
  n->out[1].v = op2(n, SCALAR_div, products, deviation);
  n->out[2].v = total;
  return true;
}
