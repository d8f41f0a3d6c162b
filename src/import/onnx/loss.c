// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <string.h>

#include "import/onnx/ops.h"

// -weight[target] x[n, target, ...], reduced as asked. x: log probabilities [n, c, d...], target: [n, d...].
static bool likelihood_loss(onnx_node_t* n, ir_value_t* x) {
  onnx_value_t target = n->in[1];
  int32_t rank = x->type->rank;
  int64_t at[ONNX_MAX_RANK], dims[ONNX_MAX_RANK];
  onnx_dim_t sizes[ONNX_MAX_RANK];
  const char* reduction = onnx_string(n, "reduction", "mean");
  bool mean = strcmp(reduction, "mean") == 0, none = strcmp(reduction, "none") == 0;
  if (!mean && !none && strcmp(reduction, "sum") != 0) return onnx_error(n, "reduction '%s' is unknown", reduction);
  if (onnx_rank(target) != rank - 1 || !onnx_is_int(target)) return onnx_error(n, "the target does not fit the input");
  if (onnx_has(n, 2) && (!onnx_check_same_element(n, 0, 2) || !onnx_check_rank(n, 2, 1, 1))) return false;
  for (int32_t i = 0; i < rank - 1; ++i) {
    at[i] = i == 0 ? 0 : i + 1;
    dims[i] = i;
    sizes[i] = onnx_dim(n, target.v, i);
  }
  ir_value_t* index = onnx_cast(n, target, onnx_si64(n->ctx)).v;
  const ir_attr_t* ignore = onnx_attr(n, "ignore_index");
  ir_value_t* kept = NULL;
  if (ignore) {
    kept = onnx_binary_number(n, SCALAR_ne, index, (double)onnx_int(n, "ignore_index", 0));
    index = graph_select(n->b, kept, index, graph_splat_like(n->b, index, 0));
  }
  ir_value_t* picked = onnx_gather_elements(n, x, onnx_spread(n, index, rank, at), 1);
  if (!picked) return false;
  ir_value_t* loss = onnx_unary(n, SCALAR_neg, onnx_reshape(n, picked, rank - 1, sizes));
  ir_value_t* weight = onnx_has(n, 2) ? graph_take(n->b, n->in[2].v, index, 0, true) : graph_splat_like(n->b, loss, 1);
  if (kept) weight = graph_select(n->b, kept, weight, graph_splat_like(n->b, weight, 0));
  loss = graph_binary(n->b, SCALAR_mul, loss, weight);
  if (!none) loss = graph_reduce(n->b, loss, dims, (uint32_t)rank - 1, "add");
  if (mean) loss = graph_binary(n->b, SCALAR_div, loss, graph_reduce(n->b, weight, dims, (uint32_t)rank - 1, "add"));
  return onnx_return(n, loss, n->in[0].element);
}

bool onnx_lower_nll_loss(onnx_node_t* n) {
  return onnx_check_float(n, 0) && onnx_check_rank(n, 0, 2, ONNX_MAX_RANK) && likelihood_loss(n, n->in[0].v);
}

bool onnx_lower_cross_entropy_loss(onnx_node_t* n) {
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  ir_value_t* logs = onnx_log_softmax(n, n->in[0].v, 1);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(logs, n->in[0].element);
  return likelihood_loss(n, logs);
}
