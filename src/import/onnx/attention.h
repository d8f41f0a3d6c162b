// What the operators for attention share: ONNX's (attention.c) and ONNX Runtime's own (contrib_attention.c). Heads are
// tensors [batch, heads, length, size], scores [batch, heads, queries, keys]. All give NULL after a diagnostic.
#ifndef IREE_C_IMPORT_ONNX_ATTENTION_H_
#define IREE_C_IMPORT_ONNX_ATTENTION_H_

#include "import/onnx/numbers.h"

// [batch, length, heads * size] -> heads; rank 4 stays. And back.
ir_value_t* onnx_split_heads(onnx_node_t* n, ir_value_t* x, onnx_dim_t heads);
ir_value_t* onnx_join_heads(onnx_node_t* n, ir_value_t* x);
// Each of the key's heads serves several of the query's, side by side.
ir_value_t* onnx_repeat_heads(onnx_node_t* n, ir_value_t* x, onnx_dim_t heads);
// x over the root, or (`fourth`) the fourth root, of the heads' size.
ir_value_t* onnx_scale_heads(onnx_node_t* n, ir_value_t* x, bool fourth);
// Product over the last dimension of x and dimension `y_dim` of y.
ir_value_t* onnx_contract_heads(onnx_node_t* n, ir_value_t* x, ir_value_t* y, int64_t y_dim);
// 0 where `kept` is true, minus infinity elsewhere; added to the scores.
ir_value_t* onnx_as_bias(onnx_node_t* n, ir_value_t* kept, const ir_type_t* element);

typedef struct onnx_rotation_t {
  ir_value_t *cos, *sin;  // [batch or 1, length or 1, part / 2]
  onnx_dim_t part;        // of each head's size; 0: all
  bool interleaved;       // pairs are neighbours, not halves apart
} onnx_rotation_t;
ir_value_t* onnx_rotate(onnx_node_t* n, ir_value_t* heads, const onnx_rotation_t* rotation);

// ONNX Runtime's operators that have names of ONNX's.
bool onnx_lower_own_attention(onnx_node_t* n);
bool onnx_lower_own_rotary_embedding(onnx_node_t* n);

#endif  // IREE_C_IMPORT_ONNX_ATTENTION_H_
