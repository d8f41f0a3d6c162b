// FlexAttention: attention whose scores and weights pass through graphs of the model.
#include <math.h>
#include <string.h>

#include "import/onnx/attention.h"
#include "import/onnx/ops.h"

// The block of the graph attribute of that name, or NULL.
static ir_block_t* graph_named(onnx_node_t* n, const char* name) {
  const ir_attr_t* names = onnx_attr(n, "graphs");
  for (uint32_t i = 0; names && names->kind == IR_ATTR_ARRAY && i < names->count && i < n->op->region_count; ++i) {
    const ir_attr_t* item = names->items[i];
    if (item->kind == IR_ATTR_STRING && strcmp(item->text, name) == 0) return n->op->regions[i].first;
  }
  return NULL;
}

// What the graph of that name makes of x, or x itself. NULL after a diagnostic.
static ir_value_t* modify(onnx_node_t* n, const char* name, ir_value_t* x, const ir_type_t* element) {
  ir_block_t* block = graph_named(n, name);
  onnx_value_t arg = onnx_value(x, element);
  onnx_values_t results;
  if (!block) return x;
  if (!onnx_lower_block(n->lowering, block, (onnx_values_t){&arg, 1}, &results)) return NULL;
  if (results.count != 1 || onnx_rank(results.items[0]) != 4) {
    return onnx_error(n, "'%s' must give one tensor of rank 4", name), NULL;
  }
  ir_value_t* y = onnx_cast(n, results.items[0], element).v;
  for (int32_t d = 0; d < 4; ++d) {
    int64_t size = y->type->dims[d], wanted = x->type->dims[d];
    if (size != wanted && size != IR_DYNAMIC && wanted != IR_DYNAMIC) {
      return onnx_error(n, "'%s' changes the shape", name), NULL;
    }
  }
  return y;
}

// The type that softmax is computed in; NULL after a diagnostic.
static const ir_type_t* softmax_type(onnx_node_t* n) {
  const ir_type_t* given = onnx_element_type(n->ctx, onnx_int(n, "softmax_precision", 0));
  if (onnx_attr(n, "softmax_precision")) {
    if (given && ir_type_is_float(given)) return given;
    return onnx_error(n, "softmax_precision is no floating-point type"), NULL;
  }
  return n->in[0].element->float_kind == IR_F64 ? n->in[0].element : onnx_f32(n->ctx);
}

bool onnx_lower_flex_attention(onnx_node_t* n) {
  for (uint32_t i = 0; i < 3; ++i) {
    if (!onnx_check_float(n, i) || !onnx_check_rank(n, i, 4, 4) || !onnx_check_same_element(n, 0, i)) return false;
  }
  const ir_type_t *element = n->in[0].element, *wide = softmax_type(n);
  if (!wide) return false;
  onnx_dim_t heads = onnx_dim(n, n->in[0].v, 1);
  bool given = onnx_attr(n, "scale") != NULL;
  double scale = sqrt(onnx_float(n, "scale", 1));
  ir_value_t* k = onnx_repeat_heads(n, n->in[1].v, heads);
  ir_value_t* v = k ? onnx_repeat_heads(n, n->in[2].v, heads) : NULL;
  if (!v) return false;
  ir_value_t* q = n->in[0].v;
  q = given ? onnx_binary_number(n, SCALAR_mul, q, scale) : onnx_scale_heads(n, q, true);
  k = given ? onnx_binary_number(n, SCALAR_mul, k, scale) : onnx_scale_heads(n, k, true);
  ir_value_t* scores = onnx_contract_heads(n, q, k, 3);
  if (!scores) return false;
  scores = modify(n, "score_mod", onnx_cast(n, onnx_value(scores, element), wide).v, wide);
  ir_value_t* weights = scores ? modify(n, "prob_mod", onnx_softmax(n, scores, 3), wide) : NULL;
  ir_value_t* y = weights ? onnx_contract_heads(n, weights, onnx_cast(n, onnx_value(v, element), wide).v, 2) : NULL;
  if (y) n->out[0] = onnx_cast(n, onnx_value(y, wide), element);
  return y != NULL;
}
