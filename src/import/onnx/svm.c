// Support vector machines of ai.onnx.ml.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/ml.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static ir_value_t* add(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* sub(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }
static ir_value_t* quotient(onnx_node_t* n, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, SCALAR_div, x, y);
}

// kernel(x, v) for rows x [rows, features] and support vectors v [vectors, features]: [rows, vectors].
static ir_value_t* svm_kernel(onnx_node_t* n, ir_value_t* x, ir_value_t* v) {
  static const int64_t of_row[] = {0}, of_vector[] = {1};
  const char* type = onnx_string(n, "kernel_type", "LINEAR");
  const ir_attr_t* params = onnx_number_list(n, "kernel_params", onnx_f32(n->ctx));
  double p[3] = {0};
  int64_t last = 1;
  for (int i = 0; params && i < 3 && i < ir_type_count(params->type); ++i) p[i] = ir_attr_element_number(params, i);
  graph_contract_t c = {.lhs_contract = &last, .rhs_contract = &last, .contract_count = 1};
  ir_value_t* dot = graph_contract(n->b, x, v, &c, x->type->element);
  if (strcmp(type, "LINEAR") == 0) return dot;
  if (strcmp(type, "RBF") == 0) {  // |x - v|^2 = |x|^2 - 2 x v + |v|^2
    ir_value_t* rows = onnx_broadcast_as(n, graph_reduce(n->b, mul(n, x, x), &last, 1, "add"), dot, of_row);
    ir_value_t* vectors = onnx_broadcast_as(n, graph_reduce(n->b, mul(n, v, v), &last, 1, "add"), dot, of_vector);
    ir_value_t* apart = sub(n, add(n, rows, vectors), onnx_binary_number(n, SCALAR_mul, dot, 2));
    return onnx_unary(n, SCALAR_exp, onnx_binary_number(n, SCALAR_mul, apart, -p[0]));
  }
  ir_value_t* line = onnx_binary_number(n, SCALAR_add, onnx_binary_number(n, SCALAR_mul, dot, p[0]), p[1]);
  if (strcmp(type, "SIGMOID") == 0) return onnx_unary(n, SCALAR_tanh, line);
  if (strcmp(type, "POLY") == 0) return onnx_binary_number(n, SCALAR_pow, line, p[2]);
  return onnx_error(n, "kernel_type '%s' is none of LINEAR, POLY, RBF, SIGMOID", type), NULL;
}

static int64_t length_of(const ir_attr_t* list) { return list ? ir_type_count(list->type) : 0; }

bool onnx_lower_svm_regressor(onnx_node_t* n) {
  ir_value_t *x = onnx_feature_rows(n), *scores;
  int64_t supports = onnx_int(n, "n_supports", 0), features = x ? x->type->dims[1] : 0, one = 1;
  if (!x) return false;
  const ir_type_t* element = x->type->element;
  const ir_attr_t *rho = onnx_number_list(n, "rho", element),
                  *coefficients = onnx_number_list(n, "coefficients", element);
  const ir_attr_t* vectors = onnx_number_list(n, "support_vectors", element);
  int64_t own = length_of(supports > 0 ? vectors : coefficients) / (supports > 0 ? supports : 1);
  if (features == IR_DYNAMIC && own > 0 && (x = onnx_sized(n, x, 1, own))) features = own;
  if (!x) return false;
  int64_t columns = supports > 0 ? supports : features;
  bool fits = rho && ir_type_count(rho->type) > 0 && coefficients && features != IR_DYNAMIC &&
              ir_type_count(coefficients->type) == columns;
  if (supports > 0) fits = fits && vectors && ir_type_count(vectors->type) == supports * features;
  if (!fits) return onnx_error(n, "rho, coefficients and support_vectors do not fit n_supports and the features");
  const int64_t table[] = {supports, features}, column[] = {columns, 1};
  if (supports > 0) x = svm_kernel(n, x, graph_reshape(n->b, onnx_graph_constant(n->b, vectors), 2, table, NULL));
  if (!x) return false;
  int64_t zero = 0;
  graph_contract_t c = {.lhs_contract = &one, .rhs_contract = &zero, .contract_count = 1};
  ir_value_t* w = graph_reshape(n->b, onnx_graph_constant(n->b, coefficients), 2, column, NULL);
  scores = onnx_binary_number(n, SCALAR_add, graph_contract(n->b, x, w, &c, element), ir_attr_element_number(rho, 0));
  if (onnx_int(n, "one_class", 0)) {
    ir_value_t* inside = onnx_binary_number(n, SCALAR_gt, scores, 0);
    scores = graph_select(n->b, inside, graph_splat_like(n->b, scores, 1), graph_splat_like(n->b, scores, -1));
  }
  scores = onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), scores);
  if (scores) n->out[0] = onnx_cast(n, onnx_value(scores, element), onnx_f32(n->ctx));
  return scores != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// SVMClassifier: each pair of classes has a score, whose sign is a vote for one of them
//===----------------------------------------------------------------------------------------------------------------===

typedef struct svc_t {
  const ir_type_t* element;
  onnx_value_t labels;
  const ir_attr_t *rho, *coefficients, *vectors, *prob_a, *prob_b;
  int64_t classes, pairs, supports, features;
  int64_t *first, *count;   // support vectors of each class
  int64_t *winner, *loser;  // classes of each pair, in order
} svc_t;

static bool read_classes(onnx_node_t* n, svc_t* s) {
  arena_t* arena = ir_context_arena(n->ctx);
  uint32_t given;
  s->first = ARENA_ARRAY(arena, int64_t, s->classes + 1), s->count = ARENA_ARRAY(arena, int64_t, s->classes + 1);
  s->winner = ARENA_ARRAY(arena, int64_t, s->pairs + 1), s->loser = ARENA_ARRAY(arena, int64_t, s->pairs + 1);
  if (!onnx_ints(n, "vectors_per_class", s->count, (uint32_t)s->classes, &given)) return false;
  if (given && given != s->classes) return onnx_error(n, "vectors_per_class needs a number for each class");
  for (int64_t i = 0; i < s->classes; ++i) {
    if (s->count[i] < 0 || s->count[i] > 1 << 30) return onnx_error(n, "vectors_per_class is out of range");
    s->first[i] = s->supports;
    s->supports += s->count[i];
  }
  for (int64_t i = 0, at = 0; i < s->classes; ++i) {
    for (int64_t j = i + 1; j < s->classes; ++j, ++at) s->winner[at] = i, s->loser[at] = j;
  }
  return true;
}

enum { MAX_CLASSES = 4096 };

static bool read_svc(onnx_node_t* n, ir_value_t** x, svc_t* s) {
  s->element = (*x)->type->element;
  s->features = (*x)->type->dims[1];
  s->labels = onnx_class_labels(n, "classlabels_ints", "classlabels_strings", &s->classes);
  s->pairs = s->classes * (s->classes - 1) / 2;
  if (!s->labels.v) return false;
  if (s->classes > MAX_CLASSES) return onnx_unsupported(n, "more than %d classes", MAX_CLASSES);
  if (!read_classes(n, s)) return false;
  s->rho = onnx_number_list(n, "rho", s->element);
  s->coefficients = onnx_number_list(n, "coefficients", s->element);
  s->vectors = onnx_number_list(n, "support_vectors", s->element);
  s->prob_a = onnx_number_list(n, "prob_a", s->element), s->prob_b = onnx_number_list(n, "prob_b", s->element);
  int64_t own = s->supports ? length_of(s->vectors) / s->supports : length_of(s->coefficients) / s->classes;
  if (s->features == IR_DYNAMIC && own > 0) {
    if (!(*x = onnx_sized(n, *x, 1, own))) return false;
    s->features = own;
  }
  bool fits = length_of(s->rho) >= (s->supports ? s->pairs : 1);
  if (s->supports) {
    fits = fits && length_of(s->coefficients) == (s->classes - 1) * s->supports &&
           length_of(s->vectors) == s->supports * s->features;
  }
  if (s->features == IR_DYNAMIC || !fits)
    return onnx_error(n, "rho, coefficients and support_vectors do not fit the classes and features");
  if (length_of(s->prob_a) && (length_of(s->prob_a) < s->pairs || length_of(s->prob_b) < s->pairs))
    return onnx_error(n, "prob_a and prob_b need a number for each pair of classes");
  return true;
}

static ir_value_t* integers(onnx_node_t* n, const int64_t* data, int64_t count) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(int64_t) * (size_t)count));
}

// The first `count` numbers of a list, along dimension 1 of `like`.
static ir_value_t* list_like(onnx_node_t* n, const ir_attr_t* list, ir_value_t* like) {
  static const int64_t columns = 1;
  ir_value_t* v = onnx_part(n, onnx_graph_constant(n->b, list), 0, (onnx_part_t){0, like->type->dims[1], 1});
  return onnx_broadcast_as(n, v, like, &columns);
}

// Of the pair (i, j): the vectors of class i with the coefficients in row j - 1, and those of class j with row i.
static ir_value_t* pair_scores(onnx_node_t* n, const svc_t* s, ir_value_t* x) {
  arena_t* arena = ir_context_arena(n->ctx);
  const int64_t table[] = {s->supports, s->features}, rows[] = {s->classes - 1, s->supports}, last = 1;
  ir_value_t* kernel = svm_kernel(n, x, graph_reshape(n->b, onnx_graph_constant(n->b, s->vectors), 2, table, NULL));
  if (!kernel) return NULL;
  ir_value_t* weights = graph_reshape(n->b, onnx_graph_constant(n->b, s->coefficients), 2, rows, NULL);
  ir_value_t** parts = ARENA_ARRAY(arena, ir_value_t*, s->classes);
  graph_contract_t c = {.lhs_contract = &last, .rhs_contract = &last, .contract_count = 1};
  for (int64_t i = 0; i < s->classes; ++i) {  // columns i * (classes - 1) + row
    const onnx_part_t own = {s->first[i], s->count[i], 1};
    parts[i] = graph_contract(n->b, onnx_part(n, kernel, 1, own), onnx_part(n, weights, 1, own), &c, s->element);
  }
  ir_value_t* all = graph_concat(n->b, parts, (uint32_t)s->classes, 1);
  int64_t *own = ARENA_ARRAY(arena, int64_t, s->pairs), *other = ARENA_ARRAY(arena, int64_t, s->pairs);
  for (int64_t k = 0; k < s->pairs; ++k) {
    own[k] = s->winner[k] * (s->classes - 1) + s->loser[k] - 1;
    other[k] = s->loser[k] * (s->classes - 1) + s->winner[k];
  }
  ir_value_t* scores = graph_take(n->b, all, integers(n, own, s->pairs), 1, false);
  scores = add(n, scores, graph_take(n->b, all, integers(n, other, s->pairs), 1, false));
  return add(n, scores, list_like(n, s->rho, scores));
}

// For each class how many pairs it wins: [rows, classes].
static ir_value_t* count_votes(onnx_node_t* n, const svc_t* s, ir_value_t* scores) {
  static const int64_t pair = 1, row_and_pair[] = {0, 1};
  onnx_dim_t dims[] = {onnx_dim(n, scores, 0), onnx_dim_of(s->pairs), onnx_dim_of(s->classes)};
  ir_value_t* won = onnx_binary_number(n, SCALAR_gt, scores, 0);
  ir_value_t* class = onnx_numbers(n, 3, dims, 2);
  ir_value_t* to = graph_select(n->b, onnx_broadcast_as(n, won, class, row_and_pair),
                                onnx_broadcast_as(n, integers(n, s->winner, s->pairs), class, &pair),
                                onnx_broadcast_as(n, integers(n, s->loser, s->pairs), class, &pair));
  ir_value_t* votes = graph_cast(n->b, graph_binary(n->b, SCALAR_eq, to, class), s->element, true);
  return graph_reduce(n->b, votes, &pair, 1, "add");
}

// Of a matrix q [rows, classes, classes].
typedef struct estimate_t {
  ir_value_t *p, *qp;  // [rows, classes]: the classes' probabilities, and q p
  ir_value_t* pqp;     // [rows, 1]: p' q p
} estimate_t;

static ir_value_t* as_column(onnx_node_t* n, ir_value_t* v) {
  const onnx_dim_t dims[] = {onnx_dim(n, v, 0), onnx_dim_of(1)};
  return onnx_reshape(n, v, 2, dims);
}

static ir_value_t* row_like(onnx_node_t* n, ir_value_t* column, ir_value_t* like) {
  static const int64_t rows = 0;
  const onnx_dim_t dims[] = {onnx_dim(n, column, 0)};
  return onnx_broadcast_as(n, onnx_reshape(n, column, 1, dims), like, &rows);
}

// Column t (tensor<i64>) of p is brought to where the error's derivative vanishes, then all are scaled to a sum of 1.
static estimate_t improve_class(onnx_node_t* n, estimate_t e, ir_value_t* q, ir_value_t* t) {
  ir_value_t* line = onnx_element(n, q, 1, t);                  // [rows, classes]
  ir_value_t* own = as_column(n, onnx_element(n, line, 1, t));  // q[t][t]
  ir_value_t* qp = as_column(n, onnx_element(n, e.qp, 1, t));
  ir_value_t* diff = quotient(n, sub(n, e.pqp, qp), own);
  ir_value_t* scale = onnx_binary_number(n, SCALAR_add, diff, 1);
  ir_value_t* slope = add(n, mul(n, diff, own), onnx_binary_number(n, SCALAR_mul, qp, 2));
  const onnx_dim_t dims[] = {onnx_dim(n, e.p, 0), onnx_dim(n, e.p, 1)};
  ir_value_t* places = onnx_numbers(n, 2, dims, 1);
  ir_value_t* here = graph_binary(n->b, SCALAR_eq, places, onnx_broadcast_as(n, t, places, NULL));
  ir_value_t *diffs = row_like(n, diff, e.p), *scales = row_like(n, scale, e.p);
  ir_value_t* p = graph_select(n->b, here, add(n, e.p, diffs), e.p);
  return (estimate_t){quotient(n, p, scales), quotient(n, add(n, e.qp, mul(n, diffs, line)), scales),
                      quotient(n, add(n, e.pqp, mul(n, diff, slope)), mul(n, scale, scale))};
}

// One step for every class in turn, as a loop of its own.
static ir_value_t* improve_all(onnx_node_t* n, estimate_t e, ir_value_t* q, int64_t classes) {
  onnx_loop_t loop;
  ir_value_t* initial[] = {e.p, e.qp, e.pqp};
  const ir_type_t* types[] = {e.p->type, e.qp->type, e.pqp->type};
  ir_value_t* limit = onnx_dim_tensor(n, onnx_dim_of(classes), 0);
  onnx_loop_begin(&loop, n, types, 3);
  ir_value_t** args = loop.body->args;
  e = improve_class(n, (estimate_t){args[1], args[2], args[3]}, q, args[0]);
  ir_value_t* next[] = {e.p, e.qp, e.pqp};
  return ir_result(onnx_loop_end(&loop, initial, next, limit, -1), 1);
}

// Where r[i][j] is how likely class j is against i: p with the least sum of (r[i][j] p[i] - r[j][i] p[j])^2, by as many
// rounds as the row needs to come near enough (Wu, Lin and Weng's second method, with the bounds of LIBSVM).
static ir_value_t* couple_pairs(onnx_node_t* n, const svc_t* s, ir_value_t* r) {
  static const int64_t rows = 0, last = 1, columns = 2, transpose[] = {0, 2, 1}, row_and_class[] = {0, 1};
  onnx_loop_t loop;
  const onnx_dim_t table[] = {onnx_dim(n, r, 0), onnx_dim_of(s->classes)};
  const onnx_dim_t cube[] = {table[0], table[1], table[1]};
  ir_value_t* t = graph_transpose(n->b, r, transpose);  // t[i][j] = r[j][i]
  ir_value_t* own = graph_reduce(n->b, mul(n, r, r), &columns, 1, "add");
  ir_value_t* on_diagonal = graph_binary(n->b, SCALAR_eq, onnx_numbers(n, 3, cube, 1), onnx_numbers(n, 3, cube, 2));
  ir_value_t* q = graph_select(n->b, on_diagonal, onnx_broadcast_as(n, own, r, row_and_class),
                               onnx_unary(n, SCALAR_neg, mul(n, t, r)));
  ir_value_t* start = onnx_broadcast_to(n, graph_scalar_constant(n->b, s->element, 1.0 / (double)s->classes), 2, table);
  ir_value_t* initial[] = {graph_scalar_constant(n->b, onnx_bool(n->ctx), 1), start};
  const ir_type_t* types[] = {initial[0]->type, start->type};
  ir_value_t* limit = onnx_dim_tensor(n, onnx_dim_of(s->classes > 100 ? s->classes : 100), 0);
  onnx_loop_begin(&loop, n, types, 2);
  ir_value_t* p = loop.body->args[2];
  graph_contract_t c = {.lhs_batch = &rows,
                        .rhs_batch = &rows,
                        .batch_count = 1,
                        .lhs_contract = &columns,
                        .rhs_contract = &last,
                        .contract_count = 1};
  ir_value_t* qp = graph_contract(n->b, q, p, &c, s->element);
  ir_value_t* pqp = graph_reduce(n->b, mul(n, p, qp), &last, 1, "add");
  ir_value_t* error = onnx_unary(n, SCALAR_abs, sub(n, qp, row_like(n, pqp, qp)));
  error = graph_reduce(n->b, error, &last, 1, "max");
  ir_value_t* far = onnx_binary_number(n, SCALAR_ge, error, 0.005 / (double)s->classes);
  ir_value_t* better = improve_all(n, (estimate_t){p, qp, as_column(n, pqp)}, q, s->classes);
  ir_value_t* next[] = {graph_reduce(n->b, far, &rows, 1, "or"), graph_select(n->b, row_like(n, far, p), better, p)};
  return ir_result(onnx_loop_end(&loop, initial, next, limit, 0), 2);
}

// How likely each class is, from the scores of the pairs.
static ir_value_t* estimate_classes(onnx_node_t* n, const svc_t* s, ir_value_t* scores) {
  int64_t* places = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, s->classes * s->classes);
  const onnx_dim_t cube[] = {onnx_dim(n, scores, 0), onnx_dim_of(s->classes), onnx_dim_of(s->classes)};
  ir_value_t* x = add(n, mul(n, scores, list_like(n, s->prob_a, scores)), list_like(n, s->prob_b, scores));
  ir_value_t* first = onnx_unary(n, SCALAR_logistic, onnx_unary(n, SCALAR_neg, x));
  first = onnx_binary_number(n, SCALAR_max, onnx_binary_number(n, SCALAR_min, first, 1 - 1e-7), 1e-7);
  ir_value_t* second = onnx_unary(n, SCALAR_neg, onnx_binary_number(n, SCALAR_sub, first, 1));
  ir_value_t* none = graph_splat_like(n->b, onnx_part(n, first, 1, (onnx_part_t){0, 1, 1}), 0);
  for (int64_t i = 0; i < s->classes; ++i) places[i * s->classes + i] = 2 * s->pairs;
  for (int64_t k = 0; k < s->pairs; ++k) {
    places[s->winner[k] * s->classes + s->loser[k]] = s->pairs + k;
    places[s->loser[k] * s->classes + s->winner[k]] = k;
  }
  ir_value_t* all = graph_concat(n->b, (ir_value_t*[]){first, second, none}, 3, 1);
  ir_value_t* r = graph_take(n->b, all, integers(n, places, s->classes * s->classes), 1, false);
  return couple_pairs(n, s, onnx_reshape(n, r, 3, cube));
}

bool onnx_lower_svm_classifier(onnx_node_t* n) {
  svc_t s = {0};
  ir_value_t *x = onnx_feature_rows(n), *scores, *votes;
  if (!x || !read_svc(n, &x, &s)) return false;
  if (s.supports) {
    if (s.classes < 2) return onnx_error(n, "support vectors need two classes or more");
    if (!(scores = pair_scores(n, &s, x))) return false;
    votes = count_votes(n, &s, scores);
    if (length_of(s.prob_a)) scores = estimate_classes(n, &s, scores);
    if (scores->type->dims[1] == 1)
      scores = graph_concat(n->b, (ir_value_t*[]){onnx_unary(n, SCALAR_neg, scores), scores}, 2, 1);
  } else {
    if (!(scores = onnx_linear_scores(n, x, s.classes))) return false;
    votes = scores = onnx_binary_number(n, SCALAR_add, scores, ir_attr_element_number(s.rho, 0));
  }
  scores = onnx_post_transform(n, onnx_string(n, "post_transform", "NONE"), scores);
  return scores && onnx_give_classes(n, s.labels, votes, scores);
}
