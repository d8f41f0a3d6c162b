// Operators whose result's size depends on data: Compress, NonZero, Unique and NonMaxSuppression. What is chosen is
// moved to the front, and its number, which the host reads, says where to cut.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

// Element i goes where as many true ones are before it: of those that go to one place the last is the true one, and
// stays. What comes behind the last true element is left.
static ir_value_t* move_to_front(onnx_node_t* n, ir_value_t* numbers) {
  ir_context_t* ctx = n->ctx;
  static const int64_t zero = 0;
  const ir_named_attr_t running[] = {
      {"axis", ir_attr_i64(ctx, 0)}, {"kind", ir_attr_cstring(ctx, "add")}, {"exclusive", ir_attr_unit(ctx)}};
  const ir_attr_t *none = ir_attr_i64_array(ctx, NULL, 0), *row = ir_attr_i64_array(ctx, &zero, 1);
  const ir_named_attr_t rows[] = {{"update_window_dims", none},    {"inserted_dims", row},
                                  {"operand_batch_dims", none},    {"indices_batch_dims", none},
                                  {"scatter_dims_map", row},       {"index_vector_dim", ir_attr_i64(ctx, 1)},
                                  {"sorted", ir_attr_i64(ctx, 1)}, {"kind", ir_attr_cstring(ctx, "set")}};
  ir_value_t* before = graph_build(n->b, GRAPH_SCAN, &numbers, 1, numbers->type, running, 3);
  ir_value_t* operands[] = {graph_splat_like(n->b, numbers, 0), before, onnx_iota_like(n, numbers, 0)};
  return graph_build(n->b, GRAPH_SCATTER, operands, 3, numbers->type, rows, 8);
}

// The numbers of the true elements of a boolean vector, in order: a vector whose length is known at run time, or, when
// the mask is constant, now. The true ones are moved to the front and the rest is cut off.
static ir_value_t* true_places(onnx_node_t* n, ir_value_t* mask) {
  const ir_attr_t* known = onnx_constant(n, mask);
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  static const int64_t zero = 0;
  if (known) {
    int64_t total = ir_type_count(known->type), count = 0;
    int64_t* places = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, total + 1);
    for (int64_t i = 0; i < total; ++i) {
      if (ir_attr_element_integer(known, i)) places[count++] = i;
    }
    return onnx_index_vector(n, places, count);
  }
  int64_t size = mask->type->dims[0];
  bool narrow = size != IR_DYNAMIC && size < INT32_MAX;
  ir_value_t* places = move_to_front(n, graph_cast(n->b, mask, narrow ? ir_type_int(n->ctx, 32) : i64, true));
  ir_value_t* count = graph_reduce(n->b, graph_cast(n->b, mask, i64, true), &zero, 1, "add");
  return graph_cast(n->b, onnx_first(n, places, count), i64, true);
}

static ir_value_t* flatten(onnx_node_t* n, ir_value_t* x) {
  onnx_dim_t size = onnx_dim_of(1);
  for (int32_t i = 0; i < x->type->rank; ++i) size = onnx_dim_mul(n, size, onnx_dim(n, x, i));
  return onnx_reshape(n, x, 1, &size);
}

bool onnx_lower_compress(onnx_node_t* n) {
  ir_value_t* x = onnx_attr(n, "axis") ? n->in[0].v : flatten(n, n->in[0].v);
  int64_t axis = onnx_int(n, "axis", 0);
  if (!onnx_is_bool(n->in[1]) || !onnx_check_rank(n, 1, 1, 1))
    return onnx_error(n, "the condition must be a boolean vector");
  if (!onnx_check_axis(n, &axis, x->type->rank)) return false;
  int64_t given = onnx_dim_size(n->in[1], 0), size = x->type->dims[axis];
  if (given != IR_DYNAMIC && size != IR_DYNAMIC && given > size)
    return onnx_error(n, "the condition is longer than the input");
  return onnx_return(n, graph_take(n->b, x, true_places(n, n->in[1].v), axis, false), n->in[0].element);
}

// Row d of the result has the coordinates along dimension d.
bool onnx_lower_non_zero(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  ir_value_t *rows[ONNX_MAX_RANK], *flat = flatten(n, x.v);
  int32_t rank = x.v->type->rank;
  ir_value_t* places = true_places(n, onnx_is_bool(x) ? flat : onnx_binary_number(n, SCALAR_ne, flat, 0));
  onnx_dim_t stride = onnx_dim_of(1);
  const onnx_dim_t dims[] = {onnx_dim_of(1), onnx_dim(n, places, 0)};
  for (int32_t d = rank; d-- > 0;) {
    onnx_dim_t size = onnx_dim(n, x.v, d);
    ir_value_t* by = onnx_broadcast_as(n, onnx_dim_tensor(n, stride, 0), places, NULL);
    ir_value_t* row = graph_binary(n->b, SCALAR_div, places, by);
    row = graph_binary(n->b, SCALAR_rem, row, onnx_broadcast_as(n, onnx_dim_tensor(n, size, 0), places, NULL));
    rows[d] = onnx_reshape(n, row, 2, dims);
    stride = onnx_dim_mul(n, stride, size);
  }
  // A scalar has no coordinates: [0, 1 or 0]
  ir_value_t* all = rank ? graph_concat(n->b, rows, (uint32_t)rank, 0)
                         : onnx_prefix(n, onnx_reshape(n, places, 2, dims), 0, onnx_dim_of(0));
  return onnx_return(n, all, onnx_si64(n->ctx));
}

//===----------------------------------------------------------------------------------------------------------------===
// Unique
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* zeros_of(onnx_node_t* n, ir_value_t* like) {
  return graph_scalar_constant(n->b, like->type->element, 0);
}

// x[i + by] at place i along dimension 0; `value` where that is outside.
static ir_value_t* shift(onnx_node_t* n, ir_value_t* x, int64_t by, ir_value_t* value) {
  int64_t low[ONNX_MAX_RANK] = {-by}, high[ONNX_MAX_RANK] = {by}, interior[ONNX_MAX_RANK] = {0};
  return graph_pad(n->b, x, value, low, high, interior, "constant");
}

// i < j: where row j has its place behind row i of x: [rows, columns], the first different column deciding, else i < j.
// The sum over i is j's place.
static ir_value_t* row_places(onnx_node_t* n, ir_value_t* x) {
  static const int64_t first[] = {0, 2}, second[] = {1, 2}, pair[] = {0, 1}, zero = 0, last = 2;
  const onnx_dim_t rows = onnx_dim(n, x, 0), dims[] = {rows, rows, onnx_dim(n, x, 1)};
  ir_value_t* a = onnx_broadcast_to(n, onnx_spread(n, x, 3, first), 3, dims);
  ir_value_t* b = onnx_broadcast_to(n, onnx_spread(n, x, 3, second), 3, dims);
  ir_value_t* differs = graph_cast(n->b, graph_binary(n->b, SCALAR_ne, a, b), ir_type_int(n->ctx, 8), true);
  graph_extreme_t extreme = {.axis = 2, .index = ir_type_int(n->ctx, 64)};
  ir_op_t* where = graph_arg_reduce(n->b, differs, &extreme);
  ir_value_t* column = onnx_broadcast_as(n, ir_result(where, 1), a, pair);
  ir_value_t* decides = graph_binary(n->b, SCALAR_eq, column, onnx_iota_like(n, column, 2));
  ir_value_t* less = graph_binary(n->b, SCALAR_and, decides, graph_binary(n->b, SCALAR_lt, a, b));
  less = graph_reduce(n->b, less, &last, 1, "or");
  ir_value_t* equal = onnx_binary_number(n, SCALAR_eq, ir_result(where, 0), 0);
  ir_value_t* numbers = ir_result(where, 1);
  ir_value_t* earlier = graph_binary(n->b, SCALAR_lt, onnx_iota_like(n, numbers, 0), onnx_iota_like(n, numbers, 1));
  less = graph_binary(n->b, SCALAR_or, less, graph_binary(n->b, SCALAR_and, equal, earlier));
  return graph_reduce(n->b, graph_cast(n->b, less, ir_type_int(n->ctx, 64), true), &zero, 1, "add");
}

// Rows of x: [rows] or [rows, columns] in order: `*order` their numbers; the result: which differ from the one before.
static ir_value_t* sort_rows(onnx_node_t* n, ir_value_t* x, ir_value_t** order) {
  static const int64_t one = 1;
  ir_value_t* sorted;
  if (x->type->rank == 1) {
    ir_value_t* wide = graph_cast(n->b, x, ir_type_int(n->ctx, 64), false);  // for its shape
    ir_op_t* op = onnx_sort_by(n, x, onnx_iota_like(n, wide, 0), 0);
    sorted = ir_result(op, 0), *order = ir_result(op, 1);
  } else {
    ir_value_t* places = row_places(n, x);
    *order = ir_result(onnx_sort_by(n, places, onnx_iota_like(n, places, 0), 0), 1);
    sorted = graph_take(n->b, x, *order, 0, false);
  }
  ir_value_t* differs = graph_binary(n->b, SCALAR_ne, sorted, shift(n, sorted, -1, zeros_of(n, sorted)));
  if (x->type->rank == 2) differs = graph_reduce(n->b, differs, &one, 1, "or");
  ir_value_t* is_first = onnx_binary_number(n, SCALAR_eq, onnx_iota_like(n, *order, 0), 0);
  return graph_binary(n->b, SCALAR_or, differs, is_first);
}

// What is compared, along dimension 0: x as a vector, or its slices along `axis` as rows.
static bool unique_rows(onnx_node_t* n, int64_t axis, ir_value_t** rows) {
  bool strings = onnx_is_string(n->in[0]);
  ir_value_t* x = strings ? n->in[0].v : onnx_ordered(n, n->in[0]);
  if (strings) x = onnx_string_widen(n, x, onnx_dim_max(n, onnx_string_width(n, x), onnx_dim_of(1)));
  if (!onnx_attr(n, "axis")) {
    *rows = strings ? onnx_string_rows(n, x) : flatten(n, x);
    return true;
  }
  int64_t perm[ONNX_MAX_RANK] = {axis};
  onnx_dim_t dims[] = {onnx_dim(n, x, (int32_t)axis), onnx_dim_of(1)};
  for (int32_t i = 0, k = 1; i < x->type->rank; ++i) {
    if (i == axis) continue;
    perm[k++] = i;
    dims[1] = onnx_dim_mul(n, dims[1], onnx_dim(n, x, i));
  }
  if (dims[1].size == 0) return onnx_unsupported(n, "slices without elements cannot be told apart");
  *rows = onnx_reshape(n, graph_transpose(n->b, x, perm), dims[1].size == 1 ? 1 : 2, dims);
  return true;
}

// The first of each kind, in ascending order of the kinds or of where they first are; the number of each row's kind;
// and how many rows each kind has.
typedef struct kinds_t {
  ir_value_t *indices, *inverse, *counts;
} kinds_t;

static kinds_t number_kinds(onnx_node_t* n, ir_value_t* rows, bool sorted) {
  kinds_t k;
  ir_value_t *order, *starts = sort_rows(n, rows, &order);
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(n->ctx, 0)}, {"kind", ir_attr_cstring(n->ctx, "add")}};
  ir_value_t* kinds = graph_cast(n->b, starts, i64, true);
  kinds = onnx_binary_number(n, SCALAR_sub, graph_build(n->b, GRAPH_SCAN, &kinds, 1, kinds->type, attrs, 2), 1);
  ir_value_t* places = true_places(n, starts);
  ir_value_t* end = onnx_dim_tensor(n, onnx_dim(n, rows, 0), 0);
  k.counts = graph_binary(n->b, SCALAR_sub, shift(n, places, 1, end), places);
  k.indices = graph_take(n->b, order, places, 0, false);
  k.inverse = ir_result(onnx_sort_by(n, order, kinds, 0), 1);
  if (sorted) return k;
  ir_op_t* by_place = onnx_sort_by(n, k.indices, onnx_iota_like(n, k.indices, 0), 0);
  ir_value_t* old = ir_result(by_place, 1);  // the number that the i-th kind had
  k.indices = ir_result(by_place, 0);
  k.counts = graph_take(n->b, k.counts, old, 0, false);
  k.inverse = graph_take(n->b, ir_result(onnx_sort_by(n, old, onnx_iota_like(n, old, 0), 0), 1), k.inverse, 0, false);
  return k;
}

bool onnx_lower_unique(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  bool flat = !onnx_attr(n, "axis");
  int64_t axis = onnx_int(n, "axis", 0);
  ir_value_t* rows;
  if (!flat && !onnx_check_axis(n, &axis, onnx_rank(in))) return false;
  if (!unique_rows(n, axis, &rows)) return false;
  kinds_t k = number_kinds(n, rows, onnx_int(n, "sorted", 1) != 0);
  ir_value_t* extra[] = {k.indices, k.inverse, k.counts};
  for (uint32_t i = 0; i < 3 && onnx_wants(n, 1 + i); ++i) n->out[1 + i] = onnx_value(extra[i], onnx_si64(n->ctx));
  ir_value_t* v = !flat ? in.v : onnx_is_string(in) ? onnx_string_rows(n, in.v) : flatten(n, in.v);
  return onnx_return(n, graph_take(n->b, v, k.indices, axis, false), in.element);
}

// Of a vector: what there is in the order in which it comes, where each element went, and how often it is there.
bool onnx_lower_unique_in_order(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  ir_value_t* rows;
  if (!onnx_check_rank(n, 0, 1, 1) || !unique_rows(n, 0, &rows)) return false;
  kinds_t k = number_kinds(n, rows, false);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(k.inverse, onnx_si64(n->ctx));
  if (onnx_wants(n, 2)) n->out[2] = onnx_value(k.counts, onnx_si64(n->ctx));
  return onnx_return(n, graph_take(n->b, in.v, k.indices, 0, false), in.element);
}

//===----------------------------------------------------------------------------------------------------------------===
// NonMaxSuppression
//===----------------------------------------------------------------------------------------------------------------===

enum { EDGES = 5, UNCHOSEN = INT32_MAX };  // low y, x; high y, x; area

typedef struct boxes_t {
  ir_value_t* edges[EDGES];  // in the shape of the scores: [batches, classes, boxes]
  ir_value_t* threshold;     // in the shape of the scores
} boxes_t;

static void read_boxes(onnx_node_t* n, ir_value_t* boxes, boxes_t* out) {
  static const int64_t at[] = {0, 2};
  bool centered = onnx_int(n, "center_point_box", 0);
  ir_value_t *sides[4], *edges[EDGES];
  for (int64_t i = 0; i < 4; ++i) sides[i] = onnx_entry(n, boxes, 2, i);
  for (int64_t i = 0; i < 2; ++i) {
    ir_value_t *a = sides[i], *b = sides[i + 2];
    if (centered) {
      ir_value_t* half = onnx_binary_number(n, SCALAR_div, b, 2);
      b = graph_binary(n->b, SCALAR_add, a, half), a = graph_binary(n->b, SCALAR_sub, a, half);
    }
    edges[i] = graph_binary(n->b, SCALAR_min, a, b), edges[i + 2] = graph_binary(n->b, SCALAR_max, a, b);
  }
  edges[4] = graph_binary(n->b, SCALAR_mul, graph_binary(n->b, SCALAR_sub, edges[2], edges[0]),
                          graph_binary(n->b, SCALAR_sub, edges[3], edges[1]));
  for (int64_t i = 0; i < EDGES; ++i) out->edges[i] = onnx_broadcast_as(n, edges[i], n->in[1].v, at);
}

// Which boxes overlap the one that is best in their class too much; `best` has its number: [batches, classes].
static ir_value_t* overlaps(onnx_node_t* n, const boxes_t* boxes, ir_value_t* best) {
  static const int64_t pair[] = {0, 1};
  ir_value_t *chosen[EDGES], *length[2], *like = boxes->edges[0];
  const onnx_dim_t dims[] = {onnx_dim(n, best, 0), onnx_dim(n, best, 1)};
  ir_value_t* places = onnx_spread(n, best, 3, pair);
  for (int64_t i = 0; i < EDGES; ++i) {
    ir_value_t* edge = onnx_gather_elements(n, boxes->edges[i], places, 2);
    if (!edge) return NULL;
    chosen[i] = onnx_broadcast_as(n, onnx_reshape(n, edge, 2, dims), like, pair);
  }
  for (int64_t i = 0; i < 2; ++i) {
    ir_value_t* high = graph_binary(n->b, SCALAR_min, boxes->edges[i + 2], chosen[i + 2]);
    ir_value_t* low = graph_binary(n->b, SCALAR_max, boxes->edges[i], chosen[i]);
    length[i] = onnx_binary_number(n, SCALAR_max, graph_binary(n->b, SCALAR_sub, high, low), 0);
  }
  ir_value_t* common = graph_binary(n->b, SCALAR_mul, length[0], length[1]);
  ir_value_t* both = graph_binary(n->b, SCALAR_add, boxes->edges[4], chosen[4]);
  both = graph_binary(n->b, SCALAR_sub, both, common);
  ir_value_t* ratio = graph_binary(n->b, SCALAR_div, common, both);
  ir_value_t* over = graph_binary(n->b, SCALAR_gt, ratio, boxes->threshold);
  over = graph_binary(n->b, SCALAR_and, over, onnx_binary_number(n, SCALAR_gt, common, 0));
  return graph_binary(n->b, SCALAR_and, over, onnx_binary_number(n, SCALAR_gt, both, 0));
}

// Input i, one number, in the shape and type of `like`; NULL when it is left out. False after a diagnostic.
static bool threshold(onnx_node_t* n, uint32_t i, ir_value_t* like, ir_value_t** out) {
  *out = NULL;
  if (!onnx_has(n, i)) return true;
  if (!onnx_check_single(n, i)) return false;
  *out = onnx_scalar_like(
      n, onnx_cast(n, onnx_value(onnx_reshape(n, n->in[i].v, 0, NULL), n->in[i].element), like->type->element).v, like);
  return true;
}

static ir_value_t* any_left(onnx_node_t* n, ir_value_t* alive) {
  static const int64_t all[] = {0, 1, 2};
  return graph_reduce(n->b, alive, all, 3, "or");
}

// One round for every class of every batch: the best box that is left is chosen, it and what overlaps it drop out.
// Gives the round in which each box was chosen, or UNCHOSEN.
static ir_value_t* choose_boxes(onnx_node_t* n, const boxes_t* boxes, ir_value_t* alive, ir_value_t* limit) {
  static const int64_t pair[] = {0, 1};
  ir_value_t* scores = n->in[1].v;
  const ir_type_t *i64 = ir_type_int(n->ctx, 64), *element = scores->type->element;
  ir_value_t* none = graph_splat_like(n->b, graph_cast(n->b, alive, i64, true), UNCHOSEN);
  ir_value_t* initial[] = {any_left(n, alive), alive, none};
  const ir_type_t* types[] = {initial[0]->type, alive->type, none->type};
  onnx_loop_t loop;
  onnx_loop_begin(&loop, n, types, 3);
  ir_value_t *round = loop.body->args[0], *left = loop.body->args[2], *order = loop.body->args[3];
  // The scores that are left stay above those that are not, whatever they are.
  ir_value_t* lowest = onnx_scalar_like(n, graph_scalar_constant(n->b, element, -INFINITY), scores);
  ir_value_t* finite = onnx_binary_number(n, SCALAR_max, scores, -3e38);
  graph_extreme_t extreme = {.axis = 2, .index = i64};
  ir_op_t* best = graph_arg_reduce(n->b, graph_select(n->b, left, finite, lowest), &extreme);
  ir_value_t* number = onnx_broadcast_as(n, ir_result(best, 1), order, pair);
  ir_value_t* is_best = graph_binary(n->b, SCALAR_eq, number, onnx_iota_like(n, number, 2));
  ir_value_t* is_chosen = graph_binary(n->b, SCALAR_and, is_best, left);
  ir_value_t* out = graph_binary(n->b, SCALAR_or, is_chosen, overlaps(n, boxes, ir_result(best, 1)));
  ir_value_t* next_left = graph_binary(n->b, SCALAR_and, left, onnx_unary(n, SCALAR_not, out));
  ir_value_t* next_order = graph_select(n->b, is_chosen, onnx_scalar_like(n, round, order), order);
  ir_value_t* next[] = {any_left(n, next_left), next_left, next_order};
  return ir_result(onnx_loop_end(&loop, initial, next, limit, 0), 3);
}

// [chosen, 3]: batch, class and number of each box, by batch, class and the round it was chosen in.
static ir_value_t* list_boxes(onnx_node_t* n, ir_value_t* order) {
  ir_op_t* sorted = onnx_sort_by(n, order, onnx_iota_like(n, order, 2), 2);
  ir_value_t* chosen = onnx_binary_number(n, SCALAR_lt, ir_result(sorted, 0), UNCHOSEN);
  ir_value_t* places = true_places(n, flatten(n, chosen));
  onnx_dim_t classes = onnx_dim(n, order, 1), boxes = onnx_dim(n, order, 2);
  ir_value_t *by = onnx_broadcast_as(n, onnx_dim_tensor(n, boxes, 0), places, NULL), *columns[3];
  ir_value_t* line = graph_binary(n->b, SCALAR_div, places, by);
  by = onnx_broadcast_as(n, onnx_dim_tensor(n, classes, 0), places, NULL);
  columns[0] = graph_binary(n->b, SCALAR_div, line, by);
  columns[1] = graph_binary(n->b, SCALAR_rem, line, by);
  columns[2] = graph_take(n->b, flatten(n, ir_result(sorted, 1)), places, 0, false);
  const onnx_dim_t dims[] = {onnx_dim(n, places, 0), onnx_dim_of(1)};
  for (int i = 0; i < 3; ++i) columns[i] = onnx_reshape(n, columns[i], 2, dims);
  return graph_concat(n->b, columns, 3, 1);
}

bool onnx_lower_non_max_suppression(onnx_node_t* n) {
  boxes_t boxes;
  ir_value_t *scores = n->in[1].v, *least;
  if (!onnx_check_rank(n, 0, 3, 3) || !onnx_check_rank(n, 1, 3, 3)) return false;
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1)) return false;
  int64_t numbers = onnx_dim_size(n->in[0], 2);
  if (numbers != 4 && numbers != IR_DYNAMIC) return onnx_error(n, "a box must have four numbers");
  if (scores->type->dims[2] == 0) {  // no boxes
    const int64_t none[] = {0, 3};
    return onnx_return(n, graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 2, none), 0),
                       onnx_si64(n->ctx));
  }
  if (!threshold(n, 3, scores, &boxes.threshold) || !threshold(n, 4, scores, &least)) return false;
  if (!boxes.threshold) boxes.threshold = graph_splat_like(n->b, scores, 0);
  ir_value_t* given = onnx_sized(n, n->in[0].v, 2, 4);
  if (!given) return false;
  read_boxes(n, given, &boxes);
  ir_value_t* alive = least ? graph_binary(n->b, SCALAR_gt, scores, least)
                            : graph_binary(n->b, SCALAR_eq, onnx_iota_like(n, scores, 2), onnx_iota_like(n, scores, 2));
  ir_value_t* limit = graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), 0);
  if (onnx_has(n, 2)) {
    if (!onnx_check_single(n, 2)) return false;
    limit = onnx_cast(n, n->in[2], onnx_si64(n->ctx)).v;
    limit = onnx_reshape(n, limit, 0, NULL);
  }
  ir_value_t* order = choose_boxes(n, &boxes, alive, limit);
  return onnx_return(n, list_boxes(n, order), onnx_si64(n->ctx));
}
