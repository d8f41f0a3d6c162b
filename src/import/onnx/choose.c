// Operators whose result's size depends on data: Compress, NonZero, Unique and NonMaxSuppression. How much is
// chosen is counted first, for the host, which needs to know the result's size.
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

enum { BLOCK = 256 };  // of a mask: what a thread lists

// How many true elements are before each block of so many, and `*all`: how many there are (i64).
static ir_value_t* block_starts(onnx_node_t* n, ir_value_t* mask, const ir_type_t* number, ir_value_t** all) {
  static const int64_t zero = 0, one = 1;
  const onnx_dim_t size = onnx_dim(n, mask, 0), block = onnx_dim_of(BLOCK), none = onnx_dim_of(0);
  const onnx_dim_t blocks = onnx_dim_ceil_div(n, size, block), dims[] = {blocks, block};
  const onnx_dim_t rest = onnx_dim_sub(n, onnx_dim_mul(n, blocks, block), size);
  ir_value_t* counts = onnx_pad(n, graph_cast(n->b, mask, number, true), &none, &rest);
  counts = graph_reduce(n->b, onnx_reshape(n, counts, 2, dims), &one, 1, "add");
  *all = graph_cast(n->b, graph_reduce(n->b, counts, &zero, 1, "add"), ir_type_int(n->ctx, 64), true);
  if (blocks.size == 1) return graph_splat_like(n->b, counts, 0);
  const ir_named_attr_t running[] = {
      {"axis", ir_attr_i64(n->ctx, 0)}, {"kind", ir_attr_cstring(n->ctx, "add")}, {"exclusive", ir_attr_unit(n->ctx)}};
  return graph_build(n->b, GRAPH_SCAN, &counts, 1, counts->type, running, 3);
}

// The numbers of the true elements of a boolean vector, in order: a vector whose length is known at run time, or, when
// the mask is constant, now; i32 where those are enough.
static ir_value_t* true_places(onnx_node_t* n, ir_value_t* mask) {
  const ir_attr_t* known = onnx_constant(n, mask);
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  if (known) {
    int64_t total = ir_type_count(known->type), count = 0;
    int64_t* places = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, total + 1);
    for (int64_t i = 0; i < total; ++i) {
      if (ir_attr_element_integer(known, i)) places[count++] = i;
    }
    return onnx_index_vector(n, places, count);
  }
  int64_t size = mask->type->dims[0], any = IR_DYNAMIC;
  bool narrow = size != IR_DYNAMIC && size < INT32_MAX;
  const ir_type_t* number = narrow ? ir_type_int(n->ctx, 32) : i64;
  ir_value_t *count, *starts = block_starts(n, mask, number, &count);
  count = graph_cast(n->b, count, ir_type_index(n->ctx), false);
  count = ir_build_value(n->b, GRAPH_TO_SCALAR, &count, 1, ir_type_index(n->ctx));
  const ir_named_attr_t block = {"block", ir_attr_i64(n->ctx, BLOCK)};
  ir_value_t* operands[] = {mask, starts, count};
  return graph_build(n->b, GRAPH_PLACES, operands, 3, ir_type_tensor(n->ctx, number, 1, &any), &block, 1);
}

// The same as i64.
static ir_value_t* wide_places(onnx_node_t* n, ir_value_t* mask) {
  return graph_cast(n->b, true_places(n, mask), ir_type_int(n->ctx, 64), true);
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

// A size in the shape and type of the places.
static ir_value_t* places_as(onnx_node_t* n, onnx_dim_t size, ir_value_t* places) {
  ir_value_t* number = graph_cast(n->b, onnx_dim_tensor(n, size, 0), places->type->element, true);
  return onnx_broadcast_as(n, number, places, NULL);
}

// Row d of the result has the coordinates along dimension d.
bool onnx_lower_non_zero(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  ir_value_t *rows[ONNX_MAX_RANK], *flat = flatten(n, x.v);
  int32_t rank = x.v->type->rank;
  ir_value_t* places = true_places(n, onnx_is_bool(x) ? flat : onnx_binary_number(n, SCALAR_ne, flat, 0));
  const onnx_dim_t dims[] = {onnx_dim_of(1), onnx_dim(n, places, 0)};
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_value_t* rest = places;
  for (int32_t d = rank; d-- > 0;) {
    ir_value_t *size = places_as(n, onnx_dim(n, x.v, d), places), *row = rest;
    if (d > 0) row = graph_binary(n->b, SCALAR_rem, rest, size), rest = graph_binary(n->b, SCALAR_div, rest, size);
    rows[d] = onnx_reshape(n, graph_cast(n->b, row, i64, true), 2, dims);
  }
  // A scalar has no coordinates: [0, 1 or 0]
  ir_value_t* all =
      rank ? graph_concat(n->b, rows, (uint32_t)rank, 0)
           : onnx_prefix(n, onnx_reshape(n, graph_cast(n->b, places, i64, true), 2, dims), 0, onnx_dim_of(0));
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
  ir_value_t* places = wide_places(n, starts);
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

enum { EDGES = 4 };  // low y, x; high y, x

// In the shape of the scores: [batches, classes, boxes].
static void read_boxes(onnx_node_t* n, ir_value_t* boxes, ir_value_t** out) {
  static const int64_t at[] = {0, 2};
  bool centered = onnx_int(n, "center_point_box", 0);
  ir_value_t *sides[EDGES], *edges[EDGES];
  for (int64_t i = 0; i < EDGES; ++i) sides[i] = onnx_entry(n, boxes, 2, i);
  for (int64_t i = 0; i < 2; ++i) {
    ir_value_t *a = sides[i], *b = sides[i + 2];
    if (centered) {
      ir_value_t* half = onnx_binary_number(n, SCALAR_div, b, 2);
      b = graph_binary(n->b, SCALAR_add, a, half), a = graph_binary(n->b, SCALAR_sub, a, half);
    }
    edges[i] = graph_binary(n->b, SCALAR_min, a, b), edges[i + 2] = graph_binary(n->b, SCALAR_max, a, b);
  }
  for (int64_t i = 0; i < EDGES; ++i) out[i] = onnx_broadcast_as(n, edges[i], n->in[1].v, at);
}

// Input i, one number, in the scores' type; NULL when it is left out. False after a diagnostic.
static bool threshold(onnx_node_t* n, uint32_t i, ir_value_t** out) {
  *out = NULL;
  if (!onnx_has(n, i)) return true;
  if (!onnx_check_single(n, i)) return false;
  onnx_value_t number = onnx_value(onnx_reshape(n, n->in[i].v, 0, NULL), n->in[i].element);
  *out = onnx_cast(n, number, n->in[1].v->type->element).v;
  return true;
}

// [chosen, 3]: batch, class and number of each box, by batch, class and the order in which they were chosen.
static ir_value_t* list_boxes(onnx_node_t* n, ir_value_t* numbers) {
  ir_value_t* flat = flatten(n, numbers);
  ir_value_t* places = wide_places(n, onnx_binary_number(n, SCALAR_ge, flat, 0));
  onnx_dim_t classes = onnx_dim(n, numbers, 1), boxes = onnx_dim(n, numbers, 2);
  ir_value_t *columns[3], *line = graph_binary(n->b, SCALAR_div, places, places_as(n, boxes, places));
  columns[0] = graph_binary(n->b, SCALAR_div, line, places_as(n, classes, places));
  columns[1] = graph_binary(n->b, SCALAR_rem, line, places_as(n, classes, places));
  columns[2] = graph_cast(n->b, graph_take(n->b, flat, places, 0, false), places->type->element, true);
  const onnx_dim_t dims[] = {onnx_dim(n, places, 0), onnx_dim_of(1)};
  for (int i = 0; i < 3; ++i) columns[i] = onnx_reshape(n, columns[i], 2, dims);
  return graph_concat(n->b, columns, 3, 1);
}

bool onnx_lower_non_max_suppression(onnx_node_t* n) {
  enum { OPERANDS = 4 + EDGES };
  ir_value_t *scores = n->in[1].v, *least, *operands[OPERANDS] = {scores};
  if (!onnx_check_rank(n, 0, 3, 3) || !onnx_check_rank(n, 1, 3, 3)) return false;
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1)) return false;
  int64_t sides = onnx_dim_size(n->in[0], 2), boxes = scores->type->dims[2];
  if (sides != 4 && sides != IR_DYNAMIC) return onnx_error(n, "a box must have four numbers");
  if (boxes == 0) {
    const int64_t none[] = {0, 3};
    return onnx_return(n, graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 2, none), 0),
                       onnx_si64(n->ctx));
  }
  if (!threshold(n, 3, &operands[2 + EDGES]) || !threshold(n, 4, &least)) return false;
  if (!operands[2 + EDGES]) operands[2 + EDGES] = graph_scalar_constant(n->b, scores->type->element, 0);
  ir_value_t* given = onnx_sized(n, n->in[0].v, 2, 4);
  if (!given) return false;
  operands[1] = least ? graph_binary(n->b, SCALAR_gt, scores, onnx_scalar_like(n, least, scores))
                      : graph_binary(n->b, SCALAR_eq, scores, scores);
  read_boxes(n, given, operands + 2);
  ir_value_t* most = graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), 0);
  if (onnx_has(n, 2)) {
    if (!onnx_check_single(n, 2)) return false;
    most = onnx_reshape(n, onnx_cast(n, n->in[2], onnx_si64(n->ctx)).v, 0, NULL);
  }
  operands[3 + EDGES] = most;
  bool narrow = boxes != IR_DYNAMIC && boxes < INT32_MAX;
  const ir_type_t* type = ir_type_with_element(n->ctx, scores->type, ir_type_int(n->ctx, narrow ? 32 : 64));
  return onnx_return(n, list_boxes(n, graph_build(n->b, GRAPH_SUPPRESS, operands, OPERANDS, type, NULL, 0)),
                     onnx_si64(n->ctx));
}
