// Scalers and linear models of ai.onnx.ml, and what classifiers share.
#include <math.h>
#include <string.h>

#include "import/onnx/ml.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

static ir_value_t* add(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* sub(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

ir_value_t* onnx_feature_rows(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  if (!onnx_check_rank(n, 0, 1, 2)) return NULL;
  if (!onnx_is_float(x)) x = onnx_cast(n, x, onnx_f32(n->ctx));
  const onnx_dim_t row[] = {onnx_dim_of(1), onnx_dim(n, x.v, 0)};
  return onnx_rank(x) == 1 ? onnx_reshape(n, x.v, 2, row) : x.v;
}

// A list of one number, or of one for each column of x, in x's shape. NULL after a diagnostic; absent: `absent`.
static ir_value_t* per_column(onnx_node_t* n, const char* name, double absent, ir_value_t* x) {
  const ir_attr_t* list = onnx_number_list(n, name, x->type->element);
  if (!list) return graph_splat_like(n->b, x, absent);
  ir_value_t* vector = onnx_graph_constant(n->b, list);
  if (ir_type_count(list->type) == 1) return onnx_scalar_like(n, vector, x);
  return onnx_along(n, vector, x->type->rank - 1, x);
}

bool onnx_lower_scaler(onnx_node_t* n) {
  ir_value_t* x = onnx_feature_rows(n);
  ir_value_t* offset = x ? per_column(n, "offset", 0, x) : NULL;
  ir_value_t* scale = offset ? per_column(n, "scale", 1, x) : NULL;
  return scale && onnx_return(n, mul(n, sub(n, x, offset), scale),
                              onnx_is_float(n->in[0]) ? n->in[0].element : onnx_f32(n->ctx));
}

bool onnx_lower_normalizer(onnx_node_t* n) {
  const char* norm = onnx_string(n, "norm", "MAX");
  ir_value_t *x = onnx_feature_rows(n), *size;
  int64_t last = 1;
  if (!x) return false;
  bool square = strcmp(norm, "L2") == 0, most = strcmp(norm, "MAX") == 0;
  if (!square && !most && strcmp(norm, "L1") != 0) return onnx_error(n, "norm '%s' is none of MAX, L1, L2", norm);
  size = onnx_reduce_spread(n, square ? mul(n, x, x) : onnx_unary(n, SCALAR_abs, x), &last, 1, most ? "max" : "add");
  if (square) size = onnx_unary(n, SCALAR_sqrt, size);
  ir_value_t* none = onnx_binary_number(n, SCALAR_eq, size, 0);
  size = graph_select(n->b, none, graph_splat_like(n->b, size, 1), size);
  return onnx_return(n, graph_binary(n->b, SCALAR_div, x, size),
                     onnx_is_float(n->in[0]) ? n->in[0].element : onnx_f32(n->ctx));
}

bool onnx_lower_imputer(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  bool real = onnx_is_float(x);
  if (!onnx_check_rank(n, 0, 1, 2)) return false;
  const char* name = real ? "imputed_value_floats" : "imputed_value_int64s";
  if (!onnx_attr(n, name)) return onnx_error(n, "attribute '%s' is required", name);
  ir_value_t* fresh = per_column(n, name, 0, x.v);
  double gone = real ? onnx_float(n, "replaced_value_float", 0) : (double)onnx_int(n, "replaced_value_int64", 0);
  ir_value_t* missing = isnan(gone) ? onnx_unary(n, SCALAR_is_nan, x.v) : onnx_binary_number(n, SCALAR_eq, x.v, gone);
  return fresh && onnx_return(n, graph_select(n->b, missing, fresh, x.v), x.element);
}

// Columns of all inputs side by side, each as many as inputdimensions says: cut, or filled with zeros.
bool onnx_lower_feature_vectorizer(onnx_node_t* n) {
  int64_t widths[256];
  uint32_t count;
  ir_value_t* parts[256];
  if (!onnx_ints(n, "inputdimensions", widths, 256, &count)) return false;
  if (count != n->in_count) return onnx_error(n, "inputdimensions needs one entry for each input");
  for (uint32_t i = 0; i < count; ++i) {
    onnx_dim_t low[] = {onnx_dim_of(0), onnx_dim_of(0)}, high[] = {low[0], low[0]};
    if (!n->in[i].v || !onnx_check_rank(n, i, 1, 2)) return onnx_error(n, "input %u must be a vector or a matrix", i);
    onnx_value_t x = onnx_cast(n, n->in[i], onnx_f32(n->ctx));
    const onnx_dim_t column[] = {onnx_dim(n, x.v, 0), onnx_dim_of(1)};
    if (onnx_rank(x) == 1) x.v = onnx_reshape(n, x.v, 2, column);
    if (widths[i] < 0 || widths[i] > (1 << 24)) return onnx_error(n, "a width is out of range");
    high[1] = onnx_dim_sub(n, onnx_dim_of(widths[i]), onnx_dim(n, x.v, 1));
    if (!(parts[i] = onnx_pad(n, x.v, low, high))) return false;
  }
  return onnx_return(n, graph_concat(n->b, parts, count, 1), onnx_f32(n->ctx));
}

// `same`: whether a value is a category, along the last dimension.
static bool give_one_hot(onnx_node_t* n, ir_value_t* same) {
  const int64_t last = same->type->rank - 1;
  if (!onnx_int(n, "zeros", 1)) {
    graph_assert(n->b, graph_reduce(n->b, same, &last, 1, "or"), "OneHotEncoder: a value is in no category");
  }
  return onnx_return(n, graph_cast(n->b, same, onnx_f32(n->ctx), true), onnx_f32(n->ctx));
}

bool onnx_lower_one_hot_encoder(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  int32_t rank = onnx_rank(x) + 1;
  int64_t at[ONNX_MAX_RANK], last = rank - 1;
  onnx_dim_t dims[ONNX_MAX_RANK];
  if (onnx_is_string(x)) {
    ir_value_t* strings = onnx_string_list(n, "cats_strings");
    if (strings && x.v->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "the rank is too high");
    return strings && give_one_hot(n, onnx_string_matches(n, x.v, strings));
  }
  const ir_attr_t* cats = onnx_number_list(n, "cats_int64s", onnx_si64(n->ctx));
  if (!cats || rank > ONNX_MAX_RANK) return onnx_error(n, "attribute 'cats_int64s' is required");
  for (int32_t i = 0; i < rank - 1; ++i) at[i] = i, dims[i] = onnx_dim(n, x.v, i);
  dims[last] = onnx_dim_of(ir_type_count(cats->type));
  ir_value_t* v = onnx_cast(n, x, onnx_si64(n->ctx)).v;
  v = onnx_broadcast_to(n, onnx_spread(n, v, rank, at), rank, dims);
  ir_value_t* same =
      graph_binary(n->b, SCALAR_eq, v, onnx_broadcast_to(n, onnx_graph_constant(n->b, cats), rank, dims));
  return give_one_hot(n, same);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scores and labels
//===----------------------------------------------------------------------------------------------------------------===

// Softmax of what is not zero; zeros stay, and rows of nothing else become 0.5.
static ir_value_t* softmax_zero(onnx_node_t* n, ir_value_t* x) {
  int64_t last = 1;
  ir_value_t* kept = onnx_binary_number(n, SCALAR_gt, onnx_unary(n, SCALAR_abs, x), 1e-7);
  ir_value_t* e = onnx_unary(n, SCALAR_exp, sub(n, x, onnx_reduce_spread(n, x, &last, 1, "max")));
  e = graph_select(n->b, kept, e, graph_splat_like(n->b, x, 0));
  ir_value_t* sum = onnx_reduce_spread(n, e, &last, 1, "add");
  ir_value_t* none = onnx_binary_number(n, SCALAR_eq, sum, 0);
  return graph_select(n->b, none, graph_splat_like(n->b, x, 0.5), graph_binary(n->b, SCALAR_div, e, sum));
}

// sqrt(2) erf^-1(2 x - 1), the inverse error function as ONNX approximates it.
static ir_value_t* probit(onnx_node_t* n, ir_value_t* x) {
  const double a = 0.147, pi = 3.14159;
  x = onnx_binary_number(n, SCALAR_sub, onnx_binary_number(n, SCALAR_mul, x, 2), 1);
  ir_value_t* log = mul(n, onnx_binary_number(n, SCALAR_add, x, 1),
                        onnx_unary(n, SCALAR_neg, onnx_binary_number(n, SCALAR_sub, x, 1)));
  log = onnx_unary(n, SCALAR_log, log);
  ir_value_t* v = onnx_binary_number(n, SCALAR_add, onnx_binary_number(n, SCALAR_mul, log, 0.5), 2 / (pi * a));
  ir_value_t* root = sub(n, mul(n, v, v), onnx_binary_number(n, SCALAR_mul, log, 1 / a));
  ir_value_t* y = onnx_unary(n, SCALAR_sqrt, sub(n, onnx_unary(n, SCALAR_sqrt, root), v));
  y = graph_select(n->b, onnx_binary_number(n, SCALAR_lt, x, 0), onnx_unary(n, SCALAR_neg, y), y);
  return onnx_binary_number(n, SCALAR_mul, y, sqrt(2));
}

ir_value_t* onnx_post_transform(onnx_node_t* n, const char* name, ir_value_t* scores) {
  if (strcmp(name, "NONE") == 0) return scores;
  if (strcmp(name, "SOFTMAX") == 0) return onnx_softmax(n, scores, 1);
  if (strcmp(name, "LOGISTIC") == 0) return onnx_unary(n, SCALAR_logistic, scores);
  if (strcmp(name, "SOFTMAX_ZERO") == 0) return softmax_zero(n, scores);
  if (strcmp(name, "PROBIT") == 0) return probit(n, scores);
  return onnx_error(n, "post_transform '%s' is none of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT", name), NULL;
}

onnx_value_t onnx_class_labels(onnx_node_t* n, const char* name, const char* strings, int64_t* count) {
  const ir_attr_t *texts = onnx_attr(n, strings), *labels = onnx_number_list(n, name, onnx_si64(n->ctx));
  onnx_value_t value = {0};
  if (texts && texts->kind == IR_ATTR_ARRAY && texts->count) {
    value = onnx_string_value(n, onnx_string_list(n, strings));
  } else if (labels && ir_type_count(labels->type)) {
    value = onnx_value(onnx_graph_constant(n->b, labels), onnx_si64(n->ctx));
  } else {
    onnx_error(n, "attribute '%s' or '%s' is required", name, strings);
  }
  if (value.v) *count = value.v->type->dims[0];
  return value;
}

bool onnx_give_classes(onnx_node_t* n, onnx_value_t labels, ir_value_t* votes, ir_value_t* scores) {
  graph_extreme_t most = {.axis = 1, .index = ir_type_int(n->ctx, 64)};
  ir_value_t* best = ir_result(graph_arg_reduce(n->b, votes, &most), 1);
  if (onnx_wants(n, 1)) n->out[1] = onnx_cast(n, onnx_value(scores, scores->type->element), onnx_f32(n->ctx));
  return onnx_return(n, graph_take(n->b, labels.v, best, 0, false), labels.element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Linear models
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* onnx_linear_scores(onnx_node_t* n, ir_value_t* x, int64_t targets) {
  const ir_attr_t* list = onnx_number_list(n, "coefficients", x->type->element);
  int64_t count = list ? ir_type_count(list->type) : 0, one = 1;
  if (targets < 1 || count < 1 || count % targets)
    return onnx_error(n, "coefficients must have one number for each target and feature"), NULL;
  int64_t features = count / targets;
  if (!(x = onnx_sized(n, x, 1, features))) return NULL;
  const int64_t dims[] = {targets, features};
  ir_value_t* w = graph_reshape(n->b, onnx_graph_constant(n->b, list), 2, dims, NULL);
  graph_contract_t c = {.lhs_contract = &one, .rhs_contract = &one, .contract_count = 1};
  ir_value_t* scores = graph_contract(n->b, x, w, &c, x->type->element);
  ir_value_t* bias =
      onnx_attr(n, "intercepts") ? per_column(n, "intercepts", 0, scores) : graph_splat_like(n->b, scores, 0);
  return bias ? add(n, scores, bias) : NULL;
}

bool onnx_lower_linear_regressor(onnx_node_t* n) {
  ir_value_t* x = onnx_feature_rows(n);
  ir_value_t* y = x ? onnx_linear_scores(n, x, onnx_int(n, "targets", 1)) : NULL;
  y = y ? onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), y) : NULL;
  if (y) n->out[0] = onnx_cast(n, onnx_value(y, y->type->element), onnx_f32(n->ctx));
  return y != NULL;
}

// A map from labels to scores for each row: the rows themselves, whose columns are in the order of the labels.
bool onnx_lower_zip_map(onnx_node_t* n) {
  ir_value_t* x = onnx_feature_rows(n);
  int64_t classes = 0;
  if (!x || !onnx_class_labels(n, "classlabels_int64s", "classlabels_strings", &classes).v) return false;
  return onnx_return(n, onnx_sized(n, x, 1, classes), onnx_is_float(n->in[0]) ? n->in[0].element : onnx_f32(n->ctx));
}

bool onnx_lower_linear_classifier(onnx_node_t* n) {
  ir_value_t* x = onnx_feature_rows(n);
  int64_t classes = 0;
  onnx_value_t labels = {0};
  if (x) labels = onnx_class_labels(n, "classlabels_ints", "classlabels_strings", &classes);
  const ir_attr_t* list = onnx_attr(n, "coefficients");
  if (!labels.v || !list || list->kind != IR_ATTR_ARRAY) return labels.v && onnx_error(n, "coefficients are required");
  // Of two classes, one score is enough. Without a number of features, that of the intercepts tells whether it is so.
  int64_t features = x->type->dims[1], columns = features > 0 ? list->count / features : classes;
  const ir_attr_t* intercepts = onnx_attr(n, "intercepts");
  if (features == IR_DYNAMIC && intercepts && intercepts->kind == IR_ATTR_ARRAY) columns = intercepts->count;
  bool binary = columns == 1 && classes == 2;
  if (features == 0) return onnx_error(n, "there are no features");
  if (!binary && columns != classes) return onnx_unsupported(n, "needs scores for as many classes as labels");
  ir_value_t* scores = onnx_linear_scores(n, x, columns);
  if (!scores) return false;
  if (binary) scores = graph_concat(n->b, (ir_value_t*[]){onnx_unary(n, SCALAR_neg, scores), scores}, 2, 1);
  scores = onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), scores);
  return scores && onnx_give_classes(n, labels, scores, scores);
}
