// What the operators of ai.onnx.ml share.
#ifndef IREE_C_IMPORT_ONNX_ML_H_
#define IREE_C_IMPORT_ONNX_ML_H_

#include "import/onnx/lower.h"

// A list of numbers as a vector of that element type, or NULL when the node has none.
const ir_attr_t* onnx_number_list(onnx_node_t* n, const char* name, const ir_type_t* element);
// Input 0 as [rows, features] of floats: integers become f32, a vector is one row. NULL after a diagnostic.
ir_value_t* onnx_feature_rows(onnx_node_t* n);
// x coefficients' + intercepts: [rows, targets]; coefficients have a row for each target. NULL after a diagnostic.
ir_value_t* onnx_linear_scores(onnx_node_t* n, ir_value_t* x, int64_t targets);
// Attribute post_transform on scores [rows, targets]. NULL after a diagnostic.
ir_value_t* onnx_post_transform(onnx_node_t* n, const char* name, ir_value_t* scores);
// The labels of a classifier: integers in attribute `name`, or strings in attribute `strings`; `*count` is how many.
// `v` NULL after a diagnostic.
onnx_value_t onnx_class_labels(onnx_node_t* n, const char* name, const char* strings, int64_t* count);
// Results of a classifier: the label with the most votes in each row, and the scores.
bool onnx_give_classes(onnx_node_t* n, onnx_value_t labels, ir_value_t* votes, ir_value_t* scores);
// Where in `keys`, a vector of elements like x's (strings: [count, width]), each element of x is, as i64; -1: nowhere.
ir_value_t* onnx_find_key(onnx_node_t* n, onnx_value_t x, ir_value_t* keys);

#endif  // IREE_C_IMPORT_ONNX_ML_H_
