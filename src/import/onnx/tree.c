// Forests. See tree.h. All trees are walked at once, for all rows: a loop moves [batch, trees] node numbers one level
// down until every tree is at a leaf.
#include "import/onnx/tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/ops.h"

enum { MAX_NODES = 1 << 24 };

double onnx_forest_filler(const onnx_forest_t* forest) {
  return strcmp(forest->aggregate, "MIN") == 0 ? FLT_MAX : strcmp(forest->aggregate, "MAX") == 0 ? -FLT_MAX : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

// The most steps from a node to a leaf; -1 when a way leads back. `depth` has 0 for what was not visited, -1 for what
// is being visited, else the steps plus 1.
static int64_t measure(const onnx_forest_t* f, int64_t root, int64_t* depth, int64_t* stack) {
  int64_t top = 0;
  stack[top++] = root;
  while (top) {
    int64_t at = stack[top - 1], most = 0;
    if (depth[at] > 0) {
      --top;
      continue;
    }
    bool leaf = f->yes[at] == at && f->no[at] == at, ready = true;
    const int64_t ways[] = {f->yes[at], f->no[at]};
    depth[at] = -1;
    for (int i = 0; i < 2 && !leaf; ++i) {
      if (depth[ways[i]] == -1) return -1;
      if (depth[ways[i]] == 0) {
        stack[top++] = ways[i];
        ready = false;
        break;
      }
      if (depth[ways[i]] > most) most = depth[ways[i]];
    }
    if (ready) depth[at] = most + 1, --top;
  }
  return depth[root] - 1;
}

// The most steps of any tree, -1 after a diagnostic.
static int64_t forest_depth(onnx_node_t* n, const onnx_forest_t* f) {
  arena_t* arena = ir_context_arena(n->ctx);
  int64_t most = 0, *depth = ARENA_ARRAY(arena, int64_t, (size_t)f->nodes + 1);
  int64_t* stack = ARENA_ARRAY(arena, int64_t, 2 * (size_t)f->nodes + 2);
  for (int64_t t = 0; t < f->trees; ++t) {
    int64_t steps = measure(f, f->roots[t], depth, stack);
    if (steps < 0) return onnx_error(n, "tree %lld has a way that leads back", (long long)t), -1;
    if (steps > most) most = steps;
  }
  return most;
}

bool onnx_forest_check(onnx_node_t* n, const onnx_forest_t* f, int64_t features) {
  if (f->nodes < 1 || f->trees < 1 || f->targets < 1) return onnx_error(n, "has no trees or no targets");
  if (f->nodes > MAX_NODES / f->targets) return onnx_unsupported(n, "more than %d nodes times targets", MAX_NODES);
  for (int64_t t = 0; t < f->trees; ++t) {
    if (f->roots[t] < 0 || f->roots[t] >= f->nodes) return onnx_error(n, "tree %lld has no root", (long long)t);
  }
  for (int64_t i = 0; i < f->nodes; ++i) {
    bool linked = f->yes[i] >= 0 && f->yes[i] < f->nodes && f->no[i] >= 0 && f->no[i] < f->nodes;
    if (!linked) return onnx_error(n, "node %lld leads to no node", (long long)i);
    bool known = f->mode[i] >= 0 && f->mode[i] < ONNX_TREE_MODES;
    if (!known) return onnx_error(n, "node %lld has the unknown mode %lld", (long long)i, (long long)f->mode[i]);
    if (f->feature[i] < 0 || f->feature[i] >= features) {
      return onnx_error(n, "node %lld looks at feature %lld of %lld", (long long)i, (long long)f->feature[i],
                        (long long)features);
    }
  }
  return forest_depth(n, f) >= 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Walking
//===----------------------------------------------------------------------------------------------------------------===

typedef struct walk_t {
  onnx_node_t* n;
  const onnx_forest_t* f;
  ir_value_t *x, *yes, *no, *feature, *mode, *tracks_true, *split;  // tables as constants
  ir_value_t *member, *owner;
} walk_t;

static ir_value_t* numbers(onnx_node_t* n, const double* data, int32_t rank, const int64_t* dims,
                           const ir_type_t* element) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_float(n->ctx, IR_F64), rank, dims);
  const ir_attr_t* value = ir_attr_elements(n->ctx, type, data, sizeof(double) * (size_t)ir_type_count(type));
  return graph_cast(n->b, graph_constant(n->b, value), element, false);
}

static bool has_mode(const onnx_forest_t* f, int64_t mode) {
  for (int64_t i = 0; i < f->nodes; ++i) {
    if (f->mode[i] == mode && (f->yes[i] != i || f->no[i] != i)) return true;
  }
  return false;
}

static bool any(const int64_t* flags, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (flags[i]) return true;
  }
  return false;
}

static walk_t begin_walk(onnx_node_t* n, const onnx_forest_t* f, ir_value_t* x) {
  walk_t w = {.n = n, .f = f, .x = x};
  const ir_type_t* element = x->type->element;
  w.yes = onnx_index_vector(n, f->yes, f->nodes);
  w.no = onnx_index_vector(n, f->no, f->nodes);
  w.feature = onnx_index_vector(n, f->feature, f->nodes);
  w.mode = onnx_index_vector(n, f->mode, f->nodes);
  w.split = numbers(n, f->split, 1, &f->nodes, element);
  if (any(f->tracks_true, f->nodes)) w.tracks_true = onnx_index_vector(n, f->tracks_true, f->nodes);
  if (f->members) {
    w.member = numbers(n, f->member, 1, &f->members, element);
    w.owner = onnx_index_vector(n, f->member_owner, f->members);
  }
  return w;
}

// Whether the value is among the members of the node it is at.
static ir_value_t* is_member(walk_t* w, ir_value_t* at, ir_value_t* value) {
  onnx_node_t* n = w->n;
  static const int64_t of_tree[] = {0, 1};
  int64_t last = 2;
  if (!w->f->members) return graph_splat_like(n->b, graph_binary(n->b, SCALAR_eq, at, at), 0);
  const onnx_dim_t dims[] = {onnx_dim(n, at, 0), onnx_dim(n, at, 1), onnx_dim_of(w->f->members)};
  ir_value_t *owner = onnx_broadcast_to(n, w->owner, 3, dims), *member = onnx_broadcast_to(n, w->member, 3, dims);
  ir_value_t* here = graph_binary(n->b, SCALAR_eq, owner, onnx_broadcast_as(n, at, owner, of_tree));
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, member, onnx_broadcast_as(n, value, member, of_tree));
  return graph_reduce(n->b, graph_binary(n->b, SCALAR_and, here, same), &last, 1, "or");
}

// One level down.
static ir_value_t* step_down(walk_t* w, ir_value_t* at) {
  static const scalar_fn_t compare[] = {SCALAR_le, SCALAR_lt, SCALAR_ge, SCALAR_gt, SCALAR_eq, SCALAR_ne};
  onnx_node_t* n = w->n;
  ir_value_t* value = onnx_gather_elements(n, w->x, graph_take(n->b, w->feature, at, 0, false), 1);
  ir_value_t *split = graph_take(n->b, w->split, at, 0, false), *mode = graph_take(n->b, w->mode, at, 0, false);
  ir_value_t* go = NULL;
  for (int64_t m = 0; m < ONNX_TREE_MODES; ++m) {
    if (!has_mode(w->f, m)) continue;
    ir_value_t* way = m == ONNX_TREE_MEMBER ? is_member(w, at, value) : graph_binary(n->b, compare[m], value, split);
    go = go ? graph_select(n->b, onnx_binary_number(n, SCALAR_eq, mode, (double)m), way, go) : way;
  }
  if (!go) return at;
  if (w->tracks_true) {
    ir_value_t* tracks = onnx_binary_number(n, SCALAR_ne, graph_take(n->b, w->tracks_true, at, 0, false), 0);
    ir_value_t* missing = graph_binary(n->b, SCALAR_and, onnx_unary(n, SCALAR_is_nan, value), tracks);
    go = graph_binary(n->b, SCALAR_or, go, missing);
  }
  return graph_select(n->b, go, graph_take(n->b, w->yes, at, 0, false), graph_take(n->b, w->no, at, 0, false));
}

// The leaves that rows reach: [batch, trees].
static ir_value_t* find_leaves(walk_t* w) {
  onnx_node_t* n = w->n;
  onnx_loop_t loop;
  int64_t depth = forest_depth(n, w->f);
  const onnx_dim_t dims[] = {onnx_dim(n, w->x, 0), onnx_dim_of(w->f->trees)};
  ir_value_t* at = onnx_broadcast_to(n, onnx_index_vector(n, w->f->roots, w->f->trees), 2, dims);
  if (depth <= 1) return depth ? step_down(w, at) : at;
  ir_value_t* limit = graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), (double)depth);
  onnx_loop_begin(&loop, n, &at->type, 1);
  ir_value_t* next = step_down(w, loop.body->args[1]);
  return ir_result(onnx_loop_end(&loop, &at, &next, limit, -1), 1);
}

ir_value_t* onnx_forest_scores(onnx_node_t* n, const onnx_forest_t* f, ir_value_t* x) {
  walk_t w = begin_walk(n, f, x);
  int64_t trees = 1;
  const int64_t dims[] = {f->nodes, f->targets};
  const char* how = f->aggregate;
  bool mean = strcmp(how, "AVERAGE") == 0;
  const char* kind = strcmp(how, "MIN") == 0 ? "min" : strcmp(how, "MAX") == 0 ? "max" : "add";
  if (!mean && kind[0] == 'a' && strcmp(how, "SUM") != 0) return onnx_error(n, "aggregate '%s' is unknown", how), NULL;
  ir_value_t* weights = numbers(n, f->weights, 2, dims, x->type->element);
  ir_value_t* given = graph_take(n->b, weights, find_leaves(&w), 0, false);  // [batch, trees, targets]
  ir_value_t* scores = graph_reduce(n->b, given, &trees, 1, kind);
  return mean ? onnx_binary_number(n, SCALAR_div, scores, (double)f->trees) : scores;
}
