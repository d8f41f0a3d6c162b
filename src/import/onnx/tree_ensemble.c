// TreeEnsemble: reads its attributes into a forest (tree.h). Interior nodes keep their numbers, leaves come behind.
#include <math.h>
#include <string.h>

#include "import/onnx/ml.h"
#include "import/onnx/ops.h"
#include "import/onnx/tree.h"

// Attribute `name`: a list of `count` integers, or NULL after a diagnostic; absent: zeros when it may be.
static int64_t* read_ints(onnx_node_t* n, const char* name, int64_t count, bool optional) {
  const ir_attr_t* list = onnx_attr(n, name);
  int64_t* out = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, (size_t)count + 1);
  if (!list && optional) return out;
  bool fits = list && list->kind == IR_ATTR_ARRAY && list->count == count;
  for (int64_t i = 0; fits && i < count; ++i) {
    fits = list->items[i]->kind == IR_ATTR_INTEGER;
    if (fits) out[i] = list->items[i]->integer;
  }
  return fits ? out : (onnx_error(n, "attribute '%s' must be a list of %lld integers", name, (long long)count), NULL);
}

static int64_t list_length(onnx_node_t* n, const char* name) {
  const ir_attr_t* list = onnx_attr(n, name);
  return list && list->kind == IR_ATTR_ARRAY ? list->count : 0;
}

// A tensor attribute of `count` elements, or NULL after a diagnostic.
static const ir_attr_t* read_tensor(onnx_node_t* n, const char* name, int64_t count) {
  const ir_attr_t* value = onnx_attr(n, name);
  bool fits = value && value->kind == IR_ATTR_ELEMENTS && value->type->rank == 1 &&
              (count < 0 || ir_type_count(value->type) == count);
  return fits ? value : (onnx_error(n, "attribute '%s' must be a vector of the right length", name), NULL);
}

// Sets of members follow each other in the order of the nodes that have one, each ended by a NaN.
static bool read_members(onnx_node_t* n, onnx_forest_t* f, int64_t interior) {
  int64_t sets = 0, node = 0;
  for (int64_t i = 0; i < interior; ++i) sets += f->mode[i] == ONNX_TREE_MEMBER;
  if (!sets) return true;
  const ir_attr_t* values = read_tensor(n, "membership_values", -1);
  if (!values) return false;
  int64_t count = ir_type_count(values->type);
  f->member = ARENA_ARRAY(ir_context_arena(n->ctx), double, (size_t)count + 1);
  f->member_owner = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, (size_t)count + 1);
  for (int64_t i = 0; i < count; ++i) {
    double value = ir_attr_element_number(values, i);
    while (node < interior && f->mode[node] != ONNX_TREE_MEMBER) ++node;
    if (node == interior) return onnx_error(n, "has more sets of members than nodes for them");
    f->member[f->members] = value;
    f->member_owner[f->members] = node;
    if (isnan(value)) {
      ++node, --sets;
    } else {
      ++f->members;
    }
  }
  return sets == 0 || onnx_error(n, "has fewer sets of members than nodes for them");
}

typedef struct ways_t {
  const int64_t *to, *is_leaf;
} ways_t;

// Where a way of node `i` leads: a leaf's number counts from the first leaf. -1 when there is no such place.
static int64_t follow(const ways_t* ways, int64_t i, int64_t interior, int64_t leaves) {
  int64_t to = ways->to[i];
  if (!ways->is_leaf[i]) return to >= 0 && to < interior ? to : -1;
  return to >= 0 && to < leaves ? interior + to : -1;
}

static bool read_ways(onnx_node_t* n, onnx_forest_t* f, int64_t interior, int64_t leaves) {
  ways_t yes = {read_ints(n, "nodes_truenodeids", interior, false), NULL}, no = {NULL, NULL};
  if (!yes.to || !(yes.is_leaf = read_ints(n, "nodes_trueleafs", interior, false))) return false;
  if (!(no.to = read_ints(n, "nodes_falsenodeids", interior, false))) return false;
  if (!(no.is_leaf = read_ints(n, "nodes_falseleafs", interior, false))) return false;
  for (int64_t i = 0; i < f->nodes; ++i) {
    f->yes[i] = i < interior ? follow(&yes, i, interior, leaves) : i;
    f->no[i] = i < interior ? follow(&no, i, interior, leaves) : i;
  }
  return true;
}

static bool read_leaves(onnx_node_t* n, onnx_forest_t* f, int64_t interior, int64_t leaves) {
  const ir_attr_t* weights = read_tensor(n, "leaf_weights", leaves);
  const int64_t* targets = weights ? read_ints(n, "leaf_targetids", leaves, false) : NULL;
  if (!targets) return false;
  double filler = onnx_forest_filler(f);
  for (int64_t i = 0; i < f->nodes * f->targets; ++i) f->weights[i] = filler;
  for (int64_t i = 0; i < leaves; ++i) {
    if (targets[i] < 0 || targets[i] >= f->targets) {
      return onnx_error(n, "leaf %lld gives to target %lld of %lld", (long long)i, (long long)targets[i],
                        (long long)f->targets);
    }
    f->weights[(interior + i) * f->targets + targets[i]] = ir_attr_element_number(weights, i);
  }
  return true;
}

// Interior nodes' own attributes, and room for all tables.
static bool read_nodes(onnx_node_t* n, onnx_forest_t* f, int64_t interior) {
  arena_t* arena = ir_context_arena(n->ctx);
  size_t count = (size_t)f->nodes;
  f->yes = ARENA_ARRAY(arena, int64_t, count), f->no = ARENA_ARRAY(arena, int64_t, count);
  f->feature = ARENA_ARRAY(arena, int64_t, count), f->mode = ARENA_ARRAY(arena, int64_t, count);
  f->tracks_true = ARENA_ARRAY(arena, int64_t, count), f->split = ARENA_ARRAY(arena, double, count);
  f->weights = ARENA_ARRAY(arena, double, count*(size_t)f->targets);
  const int64_t* features = read_ints(n, "nodes_featureids", interior, false);
  const int64_t* tracks = features ? read_ints(n, "nodes_missing_value_tracks_true", interior, true) : NULL;
  const ir_attr_t* modes = tracks ? read_tensor(n, "nodes_modes", interior) : NULL;
  const ir_attr_t* splits = modes ? read_tensor(n, "nodes_splits", interior) : NULL;
  for (int64_t i = 0; splits && i < interior; ++i) {
    f->feature[i] = features[i];
    f->tracks_true[i] = tracks[i];
    f->mode[i] = ir_attr_element_integer(modes, i);
    f->split[i] = ir_attr_element_number(splits, i);
  }
  return splits != NULL;
}

bool onnx_lower_tree_ensemble(onnx_node_t* n) {
  static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"}, *const posts[] = {"NONE", "SOFTMAX",
                                                                                              "LOGISTIC",
                                                                                              "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = onnx_int(n, "aggregate_function", 1), post = onnx_int(n, "post_transform", 0);
  int64_t interior = list_length(n, "nodes_featureids"), leaves = list_length(n, "leaf_targetids");
  onnx_forest_t f = {.nodes = interior + leaves, .targets = onnx_int(n, "n_targets", 1)};
  if (aggregate < 0 || aggregate > 3 || post < 0 || post > 4)
    return onnx_error(n, "aggregate_function or post_transform is unknown");
  f.aggregate = aggregates[aggregate];
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, 2)) return false;
  if (f.targets < 1 || f.targets > (1 << 20) || f.nodes > (1 << 24) / f.targets) {
    return onnx_error(n, "n_targets is out of range");
  }
  f.trees = list_length(n, "tree_roots");
  if (!read_nodes(n, &f, interior) || !read_members(n, &f, interior)) return false;
  if (!read_ways(n, &f, interior, leaves) || !read_leaves(n, &f, interior, leaves)) return false;
  if (!(f.roots = read_ints(n, "tree_roots", f.trees, false))) return false;
  int64_t features = onnx_dim_size(n->in[0], 1);
  if (!onnx_forest_check(n, &f, features == IR_DYNAMIC ? INT64_MAX : features)) return false;
  ir_value_t* scores = onnx_forest_scores(n, &f, n->in[0].v);
  return scores && onnx_return(n, onnx_post_transform(n, posts[post], scores), n->in[0].element);
}
