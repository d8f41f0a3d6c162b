// TreeEnsembleRegressor and TreeEnsembleClassifier: forests (tree.h) from lists of nodes that are numbered within their
// trees, leaves among them.
#include <stdlib.h>
#include <string.h>

#include "import/onnx/ml.h"
#include "import/onnx/ops.h"
#include "import/onnx/tree.h"

typedef struct node_key_t {
  int64_t tree, node, index;
} node_key_t;

typedef struct lists_t {
  onnx_node_t* n;
  onnx_forest_t* f;
  node_key_t* keys;  // in order
} lists_t;

static int compare_keys(const void* a, const void* b) {
  const node_key_t *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

// Attribute `name` as `count` integers; absent: zeros. NULL after a diagnostic.
static int64_t* read_ints(onnx_node_t* n, const char* name, int64_t count) {
  const ir_attr_t* list = onnx_attr(n, name);
  int64_t* out = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, (size_t)count + 1);
  if (!list) return out;
  bool fits = list->kind == IR_ATTR_ARRAY && list->count == count;
  for (int64_t i = 0; fits && i < count; ++i) {
    fits = list->items[i]->kind == IR_ATTR_INTEGER;
    if (fits) out[i] = list->items[i]->integer;
  }
  return fits ? out : (onnx_error(n, "attribute '%s' must be a list of %lld integers", name, (long long)count), NULL);
}

// Attribute `name`, or `name`_as_tensor, as `count` numbers. NULL after a diagnostic.
static double* read_numbers(onnx_node_t* n, const char* name, int64_t count) {
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_attr_t* list = onnx_number_list(n, name, ir_type_float(n->ctx, IR_F64));
  if (!list) list = onnx_attr(n, arena_printf(arena, "%s_as_tensor", name));
  bool fits = list && list->kind == IR_ATTR_ELEMENTS && ir_type_count(list->type) == count;
  if (!fits) return onnx_error(n, "attribute '%s' must have %lld numbers", name, (long long)count), NULL;
  double* out = ARENA_ARRAY(arena, double, (size_t)count + 1);
  for (int64_t i = 0; i < count; ++i) out[i] = ir_attr_element_number(list, i);
  return out;
}

static int64_t list_length(onnx_node_t* n, const char* name) {
  const ir_attr_t* list = onnx_attr(n, name);
  return list && list->kind == IR_ATTR_ARRAY ? list->count : 0;
}

// The number of a node in all lists, or -1.
static int64_t find_node(const lists_t* l, int64_t tree, int64_t node) {
  const node_key_t key = {tree, node, 0};
  const node_key_t* found = bsearch(&key, l->keys, (size_t)l->f->nodes, sizeof(key), compare_keys);
  return found ? found->index : -1;
}

// nodes_modes as numbers; a leaf's is -1.
static bool read_modes(lists_t* l) {
  static const char* const names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  const ir_attr_t* list = onnx_attr(l->n, "nodes_modes");
  if (!list || list->kind != IR_ATTR_ARRAY || list->count != l->f->nodes)
    return onnx_error(l->n, "nodes_modes is too short");
  for (int64_t i = 0; i < l->f->nodes; ++i) {
    const ir_attr_t* item = list->items[i];
    const char* mode = item->kind == IR_ATTR_STRING ? item->text : "";
    l->f->mode[i] = strcmp(mode, "LEAF") == 0 ? -1 : ONNX_TREE_MODES;
    for (int64_t k = 0; k < 6; ++k) {
      if (strcmp(mode, names[k]) == 0) l->f->mode[i] = k;
    }
    if (l->f->mode[i] == ONNX_TREE_MODES)
      return onnx_error(l->n, "node %lld has the unknown mode '%s'", (long long)i, mode);
  }
  return true;
}

// Where ways lead; the first node of a tree is its root.
static bool link_nodes(lists_t* l, const int64_t* trees) {
  onnx_forest_t* f = l->f;
  const int64_t* yes = read_ints(l->n, "nodes_truenodeids", f->nodes);
  const int64_t* no = yes ? read_ints(l->n, "nodes_falsenodeids", f->nodes) : NULL;
  if (!no) return false;
  f->roots = ARENA_ARRAY(ir_context_arena(l->n->ctx), int64_t, (size_t)f->nodes);
  for (int64_t i = 0; i < f->nodes; ++i) {
    bool leaf = f->mode[i] < 0;
    f->yes[i] = leaf ? i : find_node(l, trees[i], yes[i]);
    f->no[i] = leaf ? i : find_node(l, trees[i], no[i]);
    if (leaf) f->mode[i] = f->feature[i] = 0;
    if (i == 0 || trees[i] != trees[i - 1]) f->roots[f->trees++] = i;
  }
  return true;
}

static bool read_nodes(lists_t* l) {
  onnx_node_t* n = l->n;
  onnx_forest_t* f = l->f;
  arena_t* arena = ir_context_arena(n->ctx);
  f->nodes = list_length(n, "nodes_treeids");
  size_t count = (size_t)f->nodes + 1;
  const int64_t* trees = read_ints(n, "nodes_treeids", f->nodes);
  const int64_t* ids = trees ? read_ints(n, "nodes_nodeids", f->nodes) : NULL;
  if (!ids || !(f->feature = read_ints(n, "nodes_featureids", f->nodes))) return false;
  if (!(f->tracks_true = read_ints(n, "nodes_missing_value_tracks_true", f->nodes))) return false;
  if (!(f->split = read_numbers(n, "nodes_values", f->nodes))) return false;
  f->yes = ARENA_ARRAY(arena, int64_t, count), f->no = ARENA_ARRAY(arena, int64_t, count);
  f->mode = ARENA_ARRAY(arena, int64_t, count);
  l->keys = ARENA_ARRAY(arena, node_key_t, count);
  for (int64_t i = 0; i < f->nodes; ++i) l->keys[i] = (node_key_t){trees[i], ids[i], i};
  qsort(l->keys, (size_t)f->nodes, sizeof(*l->keys), compare_keys);
  for (int64_t i = 1; i < f->nodes; ++i) {
    if (compare_keys(&l->keys[i - 1], &l->keys[i]) == 0) return onnx_error(n, "a tree has two nodes of one number");
  }
  return read_modes(l) && link_nodes(l, trees);
}

// What leaves give: attributes <side>_treeids, _nodeids, _ids and _weights. With one column, it takes all. Where there
// is one target, a leaf has one weight, the first, in ONNX Runtime too: skl2onnx repeats leaves' numbers for each
// class.
static bool read_weights(lists_t* l, const char* side, bool one_column) {
  onnx_node_t* n = l->n;
  onnx_forest_t* f = l->f;
  arena_t* arena = ir_context_arena(n->ctx);
  int64_t count = list_length(n, arena_printf(arena, "%s_ids", side));
  const int64_t* trees = read_ints(n, arena_printf(arena, "%s_treeids", side), count);
  const int64_t* nodes = trees ? read_ints(n, arena_printf(arena, "%s_nodeids", side), count) : NULL;
  const int64_t* ids = nodes ? read_ints(n, arena_printf(arena, "%s_ids", side), count) : NULL;
  const double* weights = ids ? read_numbers(n, arena_printf(arena, "%s_weights", side), count) : NULL;
  if (!weights) return false;
  if (f->nodes > (1 << 24) / f->targets) return onnx_unsupported(n, "more than %d nodes times targets", 1 << 24);
  double filler = onnx_forest_filler(f);
  f->weights = ARENA_ARRAY(arena, double, (size_t)(f->nodes * f->targets) + 1);
  for (int64_t i = 0; i < f->nodes * f->targets; ++i) f->weights[i] = filler;
  bool single = f->targets == 1 && !one_column;
  bool* given = ARENA_ARRAY(arena, bool, f->nodes + 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t node = find_node(l, trees[i], nodes[i]), target = one_column ? 0 : ids[i];
    bool fits = node >= 0 && target >= 0 && target < f->targets;
    if (!fits) return onnx_error(n, "entry %lld of %s_ids names no node or no target", (long long)i, side);
    if (single && given[node]) continue;
    given[node] = true;
    double* weight = &f->weights[node * f->targets + target];
    *weight = *weight == filler ? weights[i] : *weight + weights[i];
  }
  return true;
}

// Scores of the aggregated trees, with base_values. NULL after a diagnostic.
static ir_value_t* based_scores(onnx_node_t* n, const onnx_forest_t* f, ir_value_t* x) {
  int64_t features = x->type->dims[1];
  if (!onnx_forest_check(n, f, features == IR_DYNAMIC ? INT64_MAX : features)) return NULL;
  ir_value_t* scores = onnx_forest_scores(n, f, x);
  const ir_attr_t* base = onnx_number_list(n, "base_values", x->type->element);
  if (!scores || !base || !ir_type_count(base->type)) return scores;
  ir_value_t* v = onnx_graph_constant(n->b, base);
  v = ir_type_count(base->type) == 1 ? onnx_scalar_like(n, v, scores) : onnx_along(n, v, 1, scores);
  return v ? graph_binary(n->b, SCALAR_add, scores, v) : NULL;
}

bool onnx_lower_tree_regressor(onnx_node_t* n) {
  onnx_forest_t f = {.targets = onnx_int(n, "n_targets", 1), .aggregate = onnx_string(n, "aggregate_function", "SUM")};
  lists_t l = {.n = n, .f = &f};
  ir_value_t* x = onnx_feature_rows(n);
  if (f.targets < 1 || f.targets > (1 << 20)) return onnx_error(n, "n_targets is out of range");
  if (!x || !read_nodes(&l) || !read_weights(&l, "target", false)) return false;
  ir_value_t* scores = based_scores(n, &f, x);
  if (scores) scores = onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), scores);
  if (scores) n->out[0] = onnx_cast(n, onnx_value(scores, scores->type->element), onnx_f32(n->ctx));
  return scores != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// TreeEnsembleClassifier
//===----------------------------------------------------------------------------------------------------------------===

// Whether all weights are for that class.
static bool all_for(onnx_node_t* n, int64_t class) {
  const ir_attr_t* ids = onnx_attr(n, "class_ids");
  if (!ids || ids->kind != IR_ATTR_ARRAY || !ids->count) return false;
  for (uint32_t i = 0; i < ids->count; ++i) {
    if (ids->items[i]->kind != IR_ATTR_INTEGER || ids->items[i]->integer != class) return false;
  }
  return true;
}

// One score s says both classes': probabilities 1 - s and s when no weight is negative, else -s and s.
static bool give_binary(onnx_node_t* n, const onnx_forest_t* f, onnx_value_t labels, ir_value_t* s) {
  const char* post = onnx_string(n, "post_transform", "NONE");
  bool positive = true;
  for (int64_t i = 0; i < f->nodes; ++i) positive &= f->weights[i] >= 0;
  ir_value_t* other = onnx_unary(n, SCALAR_neg, s);
  if (positive) other = onnx_binary_number(n, SCALAR_add, other, 1);
  ir_value_t* scores = graph_concat(n->b, (ir_value_t*[]){other, s}, 2, 1);
  if (!positive && strcmp(post, "LOGISTIC") == 0) scores = onnx_unary(n, SCALAR_logistic, scores);
  return onnx_give_classes(n, labels, scores, scores);
}

bool onnx_lower_tree_classifier(onnx_node_t* n) {
  onnx_forest_t f = {.aggregate = "SUM"};
  onnx_value_t labels = onnx_class_labels(n, "classlabels_int64s", "classlabels_strings", &f.targets);
  ir_value_t* x = labels.v ? onnx_feature_rows(n) : NULL;
  if (!x) return false;
  lists_t l = {.n = n, .f = &f};
  if (f.targets < 2 || f.targets > (1 << 20)) return onnx_unsupported(n, "fewer than two labels");
  bool binary = f.targets == 2 && all_for(n, 0);  // two classes share one score
  if (f.targets == 2 && all_for(n, 1)) return onnx_unsupported(n, "scores for the second of two labels only");
  if (binary) f.targets = 1;
  if (!read_nodes(&l) || !read_weights(&l, "class", binary)) return false;
  ir_value_t* scores = based_scores(n, &f, x);
  if (scores && binary) return give_binary(n, &f, labels, scores);
  if (scores) scores = onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), scores);
  return scores && onnx_give_classes(n, labels, scores, scores);
}
