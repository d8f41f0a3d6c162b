// Forests of decision trees as tables, and how they are walked.
#ifndef IREE_C_IMPORT_ONNX_TREE_H_
#define IREE_C_IMPORT_ONNX_TREE_H_

#include "import/onnx/lower.h"

// What a node compares its feature by; with a split, or with a set of members.
typedef enum {
  ONNX_TREE_LE,
  ONNX_TREE_LT,
  ONNX_TREE_GE,
  ONNX_TREE_GT,
  ONNX_TREE_EQ,
  ONNX_TREE_NE,
  ONNX_TREE_MEMBER,
  ONNX_TREE_MODES
} onnx_tree_mode_t;

// Interior nodes come first; a leaf is where both ways lead to the node itself.
typedef struct onnx_forest_t {
  int64_t nodes, trees, targets, members;
  int64_t *yes, *no, *feature, *mode, *tracks_true;  // by node; tracks_true: the way of NaN
  double* split;                                     // by node
  int64_t* member_owner;                             // by member: its node
  double* member;
  int64_t* roots;         // by tree
  double* weights;        // [nodes, targets]: what reaching a leaf gives
  const char* aggregate;  // "SUM", "AVERAGE", "MIN" or "MAX"
} onnx_forest_t;

// Where nothing contributes: what MIN and MAX leave out.
double onnx_forest_filler(const onnx_forest_t* forest);
// Checks that every way ends at a leaf. False after a diagnostic.
bool onnx_forest_check(onnx_node_t* n, const onnx_forest_t* forest, int64_t features);
// Scores [batch, targets] of x [batch, features], aggregated and not transformed yet. NULL after a diagnostic.
ir_value_t* onnx_forest_scores(onnx_node_t* n, const onnx_forest_t* forest, ir_value_t* x);

#endif  // IREE_C_IMPORT_ONNX_TREE_H_
