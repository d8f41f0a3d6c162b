// Reference evaluation of reductions, windows, scans, sorts, and ops with scalar regions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate_impl.h"

//===----------------------------------------------------------------------------------------------------------------===
// Reductions
//===----------------------------------------------------------------------------------------------------------------===

// Marks the listed dims and makes the shape without them.
static int32_t kept_dims(eval_op_t* o, const tensor_t* x, bool* reduced, int64_t* dims) {
  int64_t list[GRAPH_MAX_RANK];
  int32_t count = (int32_t)graph_get_dims(o->op, list), rank = 0;
  memset(reduced, 0, 2 * GRAPH_MAX_RANK);
  for (int32_t i = 0; i < count; ++i) {
    if (list[i] < 0 || list[i] >= x->rank) return eval_error(o, "dims is out of range"), -1;
    reduced[list[i]] = true;
  }
  for (int32_t i = 0; count >= 0 && i < x->rank; ++i) {
    if (!reduced[i]) dims[rank++] = x->dims[i];
  }
  return count < 0 ? -1 : rank;
}

// For each dim of x the stride in the result; 0 for reduced ones.
static void result_strides(const tensor_t* x, const tensor_t* y, const bool* reduced, int64_t* strides) {
  int64_t own[2 * GRAPH_MAX_RANK];
  tensor_strides(y, own);
  for (int32_t i = 0, k = 0; i < x->rank; ++i) strides[i] = reduced[i] ? 0 : own[k++];
}

bool eval_reduce(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  bool reduced[2 * GRAPH_MAX_RANK];
  int64_t dims[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  scalar_fn_t fn;
  int32_t rank = kept_dims(o, x, reduced, dims);
  if (rank < 0 || !eval_kind(o, &fn) || !tensor_make(o, &o->out[0], x->element, rank, dims)) return false;
  tensor_t* y = &o->out[0];
  scalar_value_t* sums = ARENA_ARRAY(o->e->arena, scalar_value_t, y->count + 1);
  for (int64_t i = 0; i < y->count; ++i) sums[i] = eval_identity(fn, x->element);
  result_strides(x, y, reduced, strides);
  for (int64_t i = 0; i < x->count; ++i) {
    scalar_value_t* sum = &sums[index_dot(x->rank, index, strides)];
    *sum = eval_combine(fn, x->element, *sum, tensor_load(x, i));
    index_next(x->rank, x->dims, index);
  }
  for (int64_t i = 0; i < y->count; ++i) tensor_store(y, i, sums[i]);
  return true;
}

static int compare_scalars(const ir_type_t* element, scalar_value_t a, scalar_value_t b) {
  if (!ir_type_is_float(element)) return (a.i > b.i) - (a.i < b.i);
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) - isnan(b.f);  // NaN is the largest
  return (a.f > b.f) - (a.f < b.f);
}

// Rows along `axis`: `outer` * `inner` of them, elements `inner` apart.
typedef struct rows_t {
  int64_t axis, length, inner, outer;
} rows_t;
static bool read_rows(eval_op_t* o, const tensor_t* x, rows_t* rows) {
  *rows = (rows_t){.axis = graph_get_axis(o->op), .inner = 1, .outer = 1};
  if (rows->axis < 0 || rows->axis >= x->rank) return eval_error(o, "axis is out of range");
  rows->length = x->dims[rows->axis];
  for (int32_t i = 0; i < rows->axis; ++i) rows->outer *= x->dims[i];
  for (int32_t i = (int32_t)rows->axis + 1; i < x->rank; ++i) rows->inner *= x->dims[i];
  return true;
}
static int64_t row_start(const rows_t* rows, int64_t row) {
  return row / rows->inner * rows->length * rows->inner + row % rows->inner;
}

bool eval_arg_reduce(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  rows_t rows;
  int64_t dims[2 * GRAPH_MAX_RANK];
  bool least = strcmp(graph_get_kind(o->op), "min") == 0, last = graph_get_last(o->op);
  if (!read_rows(o, x, &rows)) return false;
  if (!rows.length) return eval_error(o, "there is nothing to choose from");
  for (int32_t i = 0, k = 0; i < x->rank; ++i) {
    if (i != rows.axis) dims[k++] = x->dims[i];
  }
  const ir_type_t* index = ir_type_scalar(o->op->results[1].type);
  if (!tensor_make(o, &o->out[0], x->element, x->rank - 1, dims)) return false;
  if (!tensor_make(o, &o->out[1], index, x->rank - 1, dims)) return false;
  for (int64_t r = 0; r < rows.outer * rows.inner; ++r) {
    int64_t start = row_start(&rows, r), best = 0;
    scalar_value_t value = tensor_load(x, start);
    for (int64_t i = 1; i < rows.length; ++i) {
      scalar_value_t next = tensor_load(x, start + i * rows.inner);
      bool nan = ir_type_is_float(x->element) && isnan(next.f),
           had_nan = ir_type_is_float(x->element) && isnan(value.f);
      int order = least ? compare_scalars(x->element, value, next) : compare_scalars(x->element, next, value);
      bool better = nan || had_nan ? nan && (!had_nan || last) : order > 0 || (order == 0 && last);
      if (!better) continue;
      value = next;
      best = i;
    }
    tensor_store(&o->out[0], r, value);
    tensor_store(&o->out[1], r, (scalar_value_t){.i = best});
  }
  return true;
}

bool eval_scan(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  rows_t rows;
  scalar_fn_t fn;
  bool exclusive = graph_get_exclusive(o->op), reverse = graph_get_reverse(o->op);
  if (!read_rows(o, x, &rows) || !eval_kind(o, &fn)) return false;
  if (!tensor_make(o, &o->out[0], x->element, x->rank, x->dims)) return false;
  for (int64_t r = 0; x->count && r < rows.outer * rows.inner; ++r) {
    scalar_value_t sum = eval_identity(fn, x->element);
    for (int64_t k = 0; k < rows.length; ++k) {
      int64_t at = row_start(&rows, r) + (reverse ? rows.length - 1 - k : k) * rows.inner;
      scalar_value_t next = eval_combine(fn, x->element, sum, tensor_load(x, at));
      tensor_store(&o->out[0], at, exclusive ? sum : next);
      sum = next;
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Windows
//===----------------------------------------------------------------------------------------------------------------===

typedef struct sweep_t {
  int64_t sizes[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK], dilations[GRAPH_MAX_RANK], bases[GRAPH_MAX_RANK];
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
} sweep_t;

static bool read_sweep(eval_op_t* o, const tensor_t* x, sweep_t* s) {
  uint32_t rank = (uint32_t)x->rank;
  if (!eval_ints(o, GRAPH_ATTR_sizes, s->sizes, rank) || !eval_ints(o, GRAPH_ATTR_strides, s->strides, rank) ||
      !eval_ints(o, GRAPH_ATTR_dilations, s->dilations, rank) ||
      !eval_ints(o, GRAPH_ATTR_base_dilations, s->bases, rank) || !eval_ints(o, GRAPH_ATTR_pad_low, s->low, rank) ||
      !eval_ints(o, GRAPH_ATTR_pad_high, s->high, rank)) {
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (s->sizes[i] < 1 || s->strides[i] < 1 || s->dilations[i] < 1 || s->bases[i] < 1) {
      return eval_error(o, "sizes and steps must be positive");
    }
    int64_t base = (x->dims[i] ? (x->dims[i] - 1) * s->bases[i] + 1 : 0) + s->low[i] + s->high[i];
    int64_t extent = (s->sizes[i] - 1) * s->dilations[i] + 1;
    s->dims[i] = base < extent ? 0 : (base - extent) / s->strides[i] + 1;
  }
  return true;
}

// The element of x at position `at` of window `window`, or -1 in the padding.
static int64_t window_element(const sweep_t* s, const tensor_t* x, const int64_t* strides, const int64_t* window,
                              const int64_t* at) {
  int64_t element = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    int64_t p = window[i] * s->strides[i] + at[i] * s->dilations[i] - s->low[i];
    if (p < 0 || p % s->bases[i] || p / s->bases[i] >= x->dims[i]) return -1;
    element += p / s->bases[i] * strides[i];
  }
  return element;
}

bool eval_window(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  sweep_t s;
  scalar_fn_t fn;
  int64_t strides[2 * GRAPH_MAX_RANK], window[GRAPH_MAX_RANK] = {0};
  if (!read_sweep(o, x, &s) || !eval_kind(o, &fn)) return false;
  if (!tensor_make(o, &o->out[0], x->element, x->rank, s.dims)) return false;
  tensor_strides(x, strides);
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    scalar_value_t sum = eval_identity(fn, x->element);
    int64_t at[GRAPH_MAX_RANK] = {0};
    do {
      int64_t element = window_element(&s, x, strides, window, at);
      if (element >= 0) sum = eval_combine(fn, x->element, sum, tensor_load(x, element));
    } while (index_next(x->rank, s.sizes, at));
    tensor_store(&o->out[0], i, sum);
    index_next(x->rank, s.dims, window);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Regions on scalars
//===----------------------------------------------------------------------------------------------------------------===

static tensor_t scalar_of(const tensor_t* t, int64_t i) {
  return (tensor_t){.element = t->element, .count = 1, .bytes = t->bytes, .data = tensor_at(t, i)};
}

static bool run_scalars(eval_op_t* o, tensor_t* args, uint32_t count, tensor_t* results, uint32_t result_count) {
  ir_block_t* block = o->op->region_count ? o->op->regions[0].first : NULL;
  if (!block || !block->last) return eval_error(o, "it has no body");
  return eval_block(o->e, block, (tensors_t){args, count}, (tensors_t){results, result_count});
}

// Operands are n tensors and n start values; the body takes n accumulators and n elements.
static bool start_values(eval_op_t* o, int32_t rank, const int64_t* dims) {
  uint32_t count = o->op->result_count;
  if (o->op->operand_count != 2 * count || !count) return eval_error(o, "it needs one start value per operand");
  for (uint32_t k = 0; k < count; ++k) {
    tensor_t* y = &o->out[k];
    if (!tensor_make(o, y, o->in[k].element, rank, dims)) return false;
    for (int64_t i = 0; i < y->count; ++i) memcpy(tensor_at(y, i), o->in[count + k].data, y->bytes);
  }
  return true;
}

static bool accumulate(eval_op_t* o, int64_t to, int64_t from) {
  uint32_t count = o->op->result_count;
  tensor_t* args = ARENA_ARRAY(o->e->arena, tensor_t, 3 * count);
  for (uint32_t k = 0; k < count; ++k) {
    args[k] = scalar_of(&o->out[k], to);
    args[count + k] = from >= 0 ? scalar_of(&o->in[k], from) : scalar_of(&o->in[count + k], 0);
  }
  if (!run_scalars(o, args, 2 * count, args + 2 * count, count)) return false;
  for (uint32_t k = 0; k < count; ++k) memcpy(tensor_at(&o->out[k], to), args[2 * count + k].data, o->out[k].bytes);
  return true;
}

bool eval_reduce_generic(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  bool reduced[2 * GRAPH_MAX_RANK];
  int64_t dims[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  int32_t rank = kept_dims(o, x, reduced, dims);
  if (rank < 0 || !start_values(o, rank, dims)) return false;
  result_strides(x, &o->out[0], reduced, strides);
  for (int64_t i = 0; i < x->count; ++i) {
    if (!accumulate(o, index_dot(x->rank, index, strides), i)) return false;
    index_next(x->rank, x->dims, index);
  }
  return true;
}

bool eval_window_generic(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  sweep_t s;
  int64_t strides[2 * GRAPH_MAX_RANK], window[GRAPH_MAX_RANK] = {0};
  if (!read_sweep(o, x, &s) || !start_values(o, x->rank, s.dims)) return false;
  tensor_strides(x, strides);
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    int64_t at[GRAPH_MAX_RANK] = {0};
    do {
      if (!accumulate(o, i, window_element(&s, x, strides, window, at))) return false;
    } while (index_next(x->rank, s.sizes, at));
    index_next(x->rank, s.dims, window);
  }
  return true;
}

static int64_t affine_value(const ir_affine_t* e, const int64_t* dims) {
  if (e->kind == IR_AFFINE_DIM) return dims[e->value];
  if (e->kind == IR_AFFINE_CONST) return e->value;
  if (e->kind == IR_AFFINE_SYMBOL) return 0;
  int64_t a = affine_value(e->lhs, dims), b = affine_value(e->rhs, dims);
  int64_t floor = b > 0 ? (a >= 0 ? a / b : -((-a + b - 1) / b)) : 0;
  switch (e->kind) {
    case IR_AFFINE_ADD:
      return a + b;
    case IR_AFFINE_MUL:
      return a * b;
    case IR_AFFINE_MOD:
      return a - floor * b;
    case IR_AFFINE_FLOORDIV:
      return floor;
    default:
      return b > 0 ? (a > 0 ? (a - 1) / b + 1 : -(-a / b)) : 0;
  }
}

// Element of a tensor that a map names for iteration `at`, or -1 outside.
static int64_t mapped_element(const tensor_t* t, const ir_affine_map_t* map, const int64_t* at) {
  int64_t strides[2 * GRAPH_MAX_RANK], element = 0;
  tensor_strides(t, strides);
  for (int32_t i = 0; i < t->rank; ++i) {
    int64_t c = affine_value(map->results[i], at);
    if (c < 0 || c >= t->dims[i]) return -1;
    element += c * strides[i];
  }
  return element;
}

// Sizes of the iteration space: of the operand dims that are indexed by a plain dimension.
static bool iteration_sizes(eval_op_t* o, const ir_attr_t* maps, const tensor_t* tensors, uint32_t count,
                            int64_t* sizes, int32_t* rank) {
  *rank = maps->count ? (int32_t)maps->items[0]->map->dim_count : 0;
  if (*rank > GRAPH_MAX_RANK || maps->count != count) return eval_error(o, "the maps do not fit");
  for (int32_t i = 0; i < *rank; ++i) sizes[i] = -1;
  for (uint32_t k = 0; k < count; ++k) {
    const ir_affine_map_t* map = maps->items[k]->map;
    if (!map || map->result_count != (uint32_t)tensors[k].rank) return eval_error(o, "map %u does not fit", k);
    for (uint32_t i = 0; i < map->result_count; ++i) {
      const ir_affine_t* e = map->results[i];
      if (e->kind == IR_AFFINE_DIM && e->value < *rank) sizes[e->value] = tensors[k].dims[i];
    }
  }
  for (int32_t i = 0; i < *rank; ++i) {
    if (sizes[i] < 0) return eval_error(o, "no operand gives the size of iteration %d", i);
  }
  return true;
}

bool eval_generic(eval_op_t* o) {
  const ir_attr_t* maps = graph_get_maps(o->op);
  uint32_t outs = o->op->result_count, declared = (uint32_t)graph_get_outs(o->op);
  if (!maps || maps->kind != IR_ATTR_ARRAY || declared > o->op->operand_count) return eval_error(o, "it has no maps");
  uint32_t given = (uint32_t)maps->count, ins = given - outs;
  if (given < outs || declared != outs || o->op->operand_count < given) return eval_error(o, "the operands do not fit");
  tensor_t* tensors = ARENA_ARRAY(o->e->arena, tensor_t, 2 * given + outs + 1);
  for (uint32_t k = 0; k < given; ++k) {
    uint32_t source = k < ins ? k : o->op->operand_count - outs + (k - ins);
    tensors[k] = o->in[source];
    if (k < ins) continue;
    if (!tensor_make(o, &o->out[k - ins], tensors[k].element, tensors[k].rank, tensors[k].dims)) return false;
    memcpy(o->out[k - ins].data, tensors[k].data, (size_t)tensors[k].count * tensors[k].bytes);
    tensors[k] = o->out[k - ins];
  }
  int64_t sizes[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0};
  int32_t rank;
  if (!iteration_sizes(o, maps, tensors, given, sizes, &rank)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0) return true;
  }
  tensor_t *args = tensors + given, *results = args + given;
  do {
    int64_t elements[64];
    for (uint32_t k = 0; k < given && given <= 64; ++k) {
      elements[k] = mapped_element(&tensors[k], maps->items[k]->map, at);
      if (elements[k] < 0) return eval_error(o, "map %u leaves its operand", k);
      args[k] = scalar_of(&tensors[k], elements[k]);
    }
    if (given > 64 || !run_scalars(o, args, given, results, outs)) return false;
    for (uint32_t k = 0; k < outs; ++k) {
      memcpy(tensor_at(&tensors[ins + k], elements[ins + k]), results[k].data, results[k].bytes);
    }
  } while (index_next(rank, sizes, at));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sorting
//===----------------------------------------------------------------------------------------------------------------===

typedef struct sorter_t {
  eval_op_t* o;
  rows_t rows;
  int64_t start;
  uint32_t keys;
  int64_t digit;
  bool descending, generic, failed;
  int64_t *order, *spare;
} sorter_t;

// Eight bits of the key as a number without a sign that has its place in the order.
static int64_t digit_of(const sorter_t* s, int64_t at) {
  const tensor_t* x = &s->o->in[0];
  int32_t width = x->element->width;
  scalar_value_t value = tensor_load(x, at);
  uint64_t bits = (uint64_t)value.i, sign = 1ull << (width - 1);
  if (ir_type_is_float(x->element)) {
    if (value.f == 0) value.f = 0;  // of either sign
    bits = 0;
    scalar_store(x->element, value, &bits);
    bits = isnan(value.f) ? ~0ull : bits & sign ? ~bits : bits | sign;
  } else if (!graph_get_unsigned(s->o->op)) {
    bits ^= sign;
  }
  return (int64_t)((s->descending ? ~bits : bits) >> (8 * (s->digit - 1)) & 255);
}

static bool goes_before(sorter_t* s, int64_t a, int64_t b) {
  eval_op_t* o = s->o;
  int64_t x = s->start + a * s->rows.inner, y = s->start + b * s->rows.inner;
  if (s->digit) return digit_of(s, x) < digit_of(s, y);
  if (s->generic) {
    uint32_t count = o->op->result_count;
    tensor_t* args = ARENA_ARRAY(o->e->arena, tensor_t, 2 * count + 1);
    tensor_t* result = args + 2 * count;
    for (uint32_t k = 0; k < count; ++k) {
      args[2 * k] = scalar_of(&o->in[k], x);
      args[2 * k + 1] = scalar_of(&o->in[k], y);
    }
    if (!run_scalars(o, args, 2 * count, result, 1)) return s->failed = true, false;
    return tensor_integer(result, 0) != 0;
  }
  for (uint32_t k = 0; k < s->keys; ++k) {
    int order = compare_scalars(o->in[k].element, tensor_load(&o->in[k], x), tensor_load(&o->in[k], y));
    if (order) return s->descending ? order > 0 : order < 0;
  }
  return false;
}

// Stable merge sort of order[low, high).
static void merge_sort(sorter_t* s, int64_t low, int64_t high) {
  if (high - low < 2 || s->failed) return;
  int64_t middle = low + (high - low) / 2, a = low, b = middle;
  merge_sort(s, low, middle);
  merge_sort(s, middle, high);
  for (int64_t i = low; i < high; ++i) {
    bool right = a == middle || (b < high && goes_before(s, s->order[b], s->order[a]));
    s->spare[i] = right ? s->order[b++] : s->order[a++];
  }
  memcpy(s->order + low, s->spare + low, sizeof(int64_t) * (size_t)(high - low));
}

// How many neighbours are brought into order: all, a block, or two runs.
static int64_t sorted_part(const eval_op_t* o, int64_t length) {
  uint32_t count = o->op->result_count;
  int64_t run = o->op->operand_count > count ? tensor_integer(&o->in[count], 0) : graph_get_sorted(o->op);
  int64_t part = run > 0 && run < length ? 2 * run : graph_get_block(o->op);
  return part > 0 && part < length ? part : length + 1;
}

static bool sort_rows(eval_op_t* o, sorter_t* s) {
  s->o = o;
  if (!read_rows(o, &o->in[0], &s->rows)) return false;
  s->order = ARENA_ARRAY(o->e->arena, int64_t, 2 * s->rows.length + 1);
  s->spare = s->order + s->rows.length;
  int64_t part = sorted_part(o, s->rows.length);
  for (uint32_t k = 0; k < o->op->result_count; ++k) {
    if (o->in[k].count != o->in[0].count) return eval_error(o, "operand %u differs in shape", k);
    if (!tensor_make(o, &o->out[k], o->in[k].element, o->in[k].rank, o->in[k].dims)) return false;
  }
  for (int64_t r = 0; o->in[0].count && r < s->rows.outer * s->rows.inner; ++r) {
    s->start = row_start(&s->rows, r);
    for (int64_t i = 0; i < s->rows.length; ++i) s->order[i] = i;
    for (int64_t low = 0; low < s->rows.length; low += part) {
      merge_sort(s, low, s->rows.length - low < part ? s->rows.length : low + part);
    }
    if (s->failed) return false;
    for (uint32_t k = 0; k < o->op->result_count; ++k) {
      for (int64_t i = 0; i < s->rows.length; ++i) {
        memcpy(tensor_at(&o->out[k], s->start + i * s->rows.inner),
               tensor_at(&o->in[k], s->start + s->order[i] * s->rows.inner), o->in[k].bytes);
      }
    }
  }
  return true;
}

bool eval_sort(eval_op_t* o) {
  sorter_t s = {.keys = (uint32_t)graph_get_keys(o->op), .descending = graph_get_descending(o->op)};
  s.digit = graph_get_digit(o->op);
  if (s.keys < 1 || s.keys > o->op->result_count) return eval_error(o, "keys is out of range");
  return sort_rows(o, &s);
}

bool eval_sort_generic(eval_op_t* o) {
  sorter_t s = {.generic = true};
  return sort_rows(o, &s);
}

bool eval_top_k(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  sorter_t s = {.o = o, .keys = 1, .descending = !graph_get_smallest(o->op)};
  int64_t k = graph_get_k(o->op), dims[2 * GRAPH_MAX_RANK];
  if (!read_rows(o, x, &s.rows)) return false;
  if (k < 0 || k > s.rows.length) return eval_error(o, "k is out of range");
  memcpy(dims, x->dims, sizeof(dims));
  dims[s.rows.axis] = k;
  if (!tensor_make(o, &o->out[0], x->element, x->rank, dims)) return false;
  if (!tensor_make(o, &o->out[1], ir_type_scalar(o->op->results[1].type), x->rank, dims)) return false;
  s.order = ARENA_ARRAY(o->e->arena, int64_t, 2 * s.rows.length + 1);
  s.spare = s.order + s.rows.length;
  rows_t kept = s.rows;
  kept.length = k;
  for (int64_t r = 0; o->out[0].count && r < s.rows.outer * s.rows.inner; ++r) {
    s.start = row_start(&s.rows, r);
    for (int64_t i = 0; i < s.rows.length; ++i) s.order[i] = i;
    merge_sort(&s, 0, s.rows.length);
    for (int64_t i = 0; i < k; ++i) {
      int64_t to = row_start(&kept, r) + i * kept.inner;
      memcpy(tensor_at(&o->out[0], to), tensor_at(x, s.start + s.order[i] * s.rows.inner), x->bytes);
      tensor_store(&o->out[1], to, (scalar_value_t){.i = s.order[i]});
    }
  }
  return true;
}
