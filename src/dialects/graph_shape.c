// Counting in constants or in index values, and the rules of elementwise ops and index maps. See graph_shape.h.
#include "dialects/graph_shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Counting
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* shape_type(const graph_sizer_t* s, uint32_t operand) { return ir_operand(s->op, operand)->type; }

bool shape_error(graph_sizer_t* s, const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (!s->failed) ir_op_error(s->ctx, s->op, "%s", text);
  s->failed = true;
  return false;
}

static bool is_unknown(graph_size_t x) { return !x.value && x.number == IR_DYNAMIC; }

graph_size_t shape_dim(graph_sizer_t* s, uint32_t operand, int64_t dim) {
  const ir_value_t* x = ir_operand(s->op, operand);
  int64_t number = x->type->dims[dim];
  return number == IR_DYNAMIC && s->symbols ? s->symbols->dim(s, x, (int32_t)dim) : graph_size(number);
}

bool graph_size_fold(scalar_fn_t fn, int64_t x, int64_t y, int64_t* out) {
  switch (fn) {
    case SCALAR_add:
      return !__builtin_add_overflow(x, y, out);
    case SCALAR_sub:
      return !__builtin_sub_overflow(x, y, out);
    case SCALAR_mul:
      return !__builtin_mul_overflow(x, y, out);
    case SCALAR_div:
      return y > 0 && (*out = x / y, true);
    case SCALAR_rem:
      return y > 0 && (*out = x % y, true);
    case SCALAR_min:
      return *out = x < y ? x : y, true;
    case SCALAR_max:
      return *out = x > y ? x : y, true;
    default:
      return false;
  }
}

graph_size_t shape_binary(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y) {
  int64_t number;
  if (is_unknown(x) || is_unknown(y)) return graph_size(IR_DYNAMIC);
  if (x.value || y.value) return s->symbols->binary(s, fn, x, y);
  if (graph_size_fold(fn, x.number, y.number, &number)) return graph_size(number);
  shape_error(s, "has sizes that are too large to count");
  return graph_size(0);
}

graph_size_t shape_add(graph_sizer_t* s, graph_size_t x, int64_t y) {
  return shape_binary(s, SCALAR_add, x, graph_size(y));
}
graph_size_t shape_mul(graph_sizer_t* s, graph_size_t x, int64_t y) {
  return shape_binary(s, SCALAR_mul, x, graph_size(y));
}
graph_size_t shape_not_negative(graph_sizer_t* s, graph_size_t x) {
  return shape_binary(s, SCALAR_max, x, graph_size(0));
}

void shape_require(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y, const char* rule) {
  if (is_unknown(x) || is_unknown(y)) return;
  if (x.value || y.value) {
    s->symbols->require(s, fn, x, y, rule);
    return;
  }
  bool holds = fn == SCALAR_eq ? x.number == y.number : fn == SCALAR_le ? x.number <= y.number : x.number >= y.number;
  if (!holds) {
    shape_error(s, "has operands whose sizes never fit: %s (%lld and %lld)", rule, (long long)x.number,
                (long long)y.number);
  }
}

graph_size_t shape_agree(graph_sizer_t* s, graph_size_t x, graph_size_t y, const char* rule) {
  if (is_unknown(x) || is_unknown(y)) return is_unknown(x) ? y : x;
  if (x.value || y.value) return s->symbols->agree(s, x, y, rule);
  shape_require(s, SCALAR_eq, x, y, rule);
  return x;
}

bool shape_contains(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

bool shape_operands(graph_sizer_t* s, uint32_t least, uint32_t tensors) {
  if (s->symbols) return true;  // verified
  if (s->op->operand_count < least) return shape_error(s, "takes at least %u operands", least);
  for (uint32_t i = 0; i < s->op->operand_count; ++i) {
    const ir_type_t* type = shape_type(s, i);
    if (i < tensors ? !ir_type_is_tensor(type) : type->kind != IR_TYPE_INDEX) {
      return shape_error(s, "has operand #%u of type '%s', which must be %s", i, ir_type_str(s->ctx, type),
                         i < tensors ? "a tensor" : "an index");
    }
  }
  return true;
}

bool shape_of_operand(graph_sizer_t* s, uint32_t operand, graph_shape_t* out) {
  const ir_type_t* type = shape_type(s, operand);
  if (!ir_type_is_tensor(type)) return shape_error(s, "has operand #%u, which must be a tensor", operand);
  out->rank = type->rank;
  for (int32_t i = 0; i < out->rank; ++i) out->dims[i] = shape_dim(s, operand, i);
  return true;
}

// `first` is that of the operands which are sizes.
static bool given_dims(graph_sizer_t* s, uint32_t first, graph_shape_t* out) {
  const ir_type_t* type = s->op->results[s->result].type;
  out->rank = type->rank;
  for (int32_t i = 0; i < type->rank; ++i) {
    out->dims[i] = graph_size(type->dims[i]);
    if (type->dims[i] != IR_DYNAMIC) continue;
    if (first >= s->op->operand_count) return shape_error(s, "takes a size for each '?' of its result");
    if (shape_type(s, first)->kind != IR_TYPE_INDEX) return shape_error(s, "has a size that is no index");
    if (s->symbols) out->dims[i] = s->symbols->operand(s, first);
    ++first;
  }
  return first == s->op->operand_count || shape_error(s, "has operands behind the sizes of its result");
}

bool shape_given(graph_sizer_t* s, uint32_t first, graph_shape_t* out) {
  return shape_operands(s, first, first) && given_dims(s, first, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

static bool shape_alike(graph_sizer_t* s, uint32_t count, graph_shape_t* out) {
  bool scalars = !ir_type_is_tensor(shape_type(s, 0));
  out->rank = -1;
  if (!scalars && !shape_of_operand(s, 0, out)) return false;
  for (uint32_t i = 1; i < count; ++i) {
    const ir_type_t* type = shape_type(s, i);
    if (scalars && !ir_type_is_tensor(type)) continue;
    if (!ir_type_is_tensor(type) || type->rank != out->rank) {
      return shape_error(s, "has operands of different ranks: '%s' and '%s'", ir_type_str(s->ctx, shape_type(s, 0)),
                         ir_type_str(s->ctx, type));
    }
    for (int32_t d = 0; d < out->rank; ++d) {
      out->dims[d] = shape_agree(s, out->dims[d], shape_dim(s, i, d), "the operands must be of one shape");
    }
  }
  return true;
}

// All operands, and hence the results, of one shape.
bool shape_all_alike(graph_sizer_t* s, graph_shape_t* out) { return shape_alike(s, s->op->operand_count, out); }

bool shape_sort(graph_sizer_t* s, graph_shape_t* out) {
  uint32_t count = s->op->result_count;
  bool has_run = s->op->operand_count == count + 1 && shape_type(s, count)->kind == IR_TYPE_INDEX;
  if (!count || s->op->operand_count != count + has_run) {
    return shape_error(s, "takes as many operands as it has results, and perhaps the length of its runs");
  }
  int64_t digit = ir_is(s->op, GRAPH_SORT) ? graph_get_digit(s->op) : 0;
  if (has_run + (graph_get_sorted(s->op) > 0) + (graph_get_block(s->op) > 0) + (digit > 0) > 1) {
    return shape_error(s, "has more than one of runs, 'sorted', 'block' and 'digit'");
  }
  if (digit && (graph_get_keys(s->op) != 1 || digit > graph_sort_digits(shape_type(s, 0)->element))) {
    return shape_error(s, "has digit = %lld; one key of %s has %lld of them", (long long)digit,
                       ir_type_str(s->ctx, shape_type(s, 0)->element),
                       (long long)graph_sort_digits(shape_type(s, 0)->element));
  }
  return shape_alike(s, count, out);
}

bool shape_like_operand(graph_sizer_t* s, graph_shape_t* out) { return shape_of_operand(s, 0, out); }

bool shape_barrier(graph_sizer_t* s, graph_shape_t* out) {
  if (s->op->operand_count != s->op->result_count) return shape_error(s, "takes as many operands as it has results");
  if (s->op->operand_count && ir_type_is_tensor(shape_type(s, s->result))) return shape_of_operand(s, s->result, out);
  out->rank = -1;
  return true;
}

// Ops whose verifier says all that there is to say.
bool shape_none(graph_sizer_t* s, graph_shape_t* out) {
  out->rank = -1;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Index maps
//===----------------------------------------------------------------------------------------------------------------===

bool shape_sizes(graph_sizer_t* s, graph_shape_t* out) { return shape_given(s, 0, out); }

graph_size_t shape_product(graph_sizer_t* s, const graph_shape_t* shape) {
  graph_size_t all = graph_size(1);
  int64_t constant = 1;
  for (int32_t i = 0; i < shape->rank; ++i) {
    graph_size_t size = shape->dims[i];
    if (!size.value && size.number == 0) return size;  // whatever the others are
  }
  for (int32_t i = 0; i < shape->rank; ++i) {
    graph_size_t size = shape->dims[i];
    if (size.value || size.number == IR_DYNAMIC) {
      all = !all.value && all.number == 1 ? size : shape_binary(s, SCALAR_mul, all, size);
    } else if (__builtin_mul_overflow(constant, size.number, &constant)) {
      shape_error(s, "has sizes that are too large to count");
      return graph_size(0);
    }
  }
  return shape_mul(s, all, constant);
}

bool shape_reshape(graph_sizer_t* s, graph_shape_t* out) {
  graph_shape_t from;
  if (!shape_given(s, 1, out) || !shape_of_operand(s, 0, &from)) return false;
  graph_size_t before = shape_product(s, &from), after = shape_product(s, out);
  shape_require(s, SCALAR_eq, before, after, "a reshape must keep the number of elements");
  return true;
}

bool shape_transpose(graph_sizer_t* s, graph_shape_t* out) {
  int64_t perm[GRAPH_MAX_RANK];
  out->rank = (int32_t)graph_get_perm(s->op, perm);
  for (int32_t i = 0; i < out->rank; ++i) out->dims[i] = shape_dim(s, 0, perm[i]);
  return true;
}

// A '?' of the operand is as large as the result, or 1 and repeated.
bool shape_broadcast(graph_sizer_t* s, graph_shape_t* out) {
  int64_t dims[GRAPH_MAX_RANK];
  if (!shape_given(s, 1, out)) return false;
  uint32_t count = graph_get_dims(s->op, dims);
  if ((int32_t)count != shape_type(s, 0)->rank) return shape_error(s, "needs an entry of 'dims' for each dimension");
  for (uint32_t i = 0; i < count; ++i) {
    graph_size_t from = shape_dim(s, 0, i), to = out->dims[dims[i]];
    static const char rule[] = "a size must be 1 or that of the result in a broadcast";
    if (!from.value && from.number == 1) continue;
    if (s->symbols && s->symbols->fit) {
      s->symbols->fit(s, from, to, rule);
    } else {
      shape_require(s, SCALAR_eq, from, to, rule);
    }
  }
  return true;
}

// offset + (size - 1) * stride < dim, unless size is 0.
bool shape_slice(graph_sizer_t* s, graph_shape_t* out) {
  int64_t offsets[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  if (!shape_given(s, 1, out)) return false;
  uint32_t rank = graph_get_offsets(s->op, offsets);
  graph_get_strides(s->op, strides);
  if ((int32_t)rank != out->rank) return shape_error(s, "must keep the rank of its operand");
  for (uint32_t i = 0; i < rank; ++i) {
    graph_size_t least = graph_size(offsets[i] - strides[i] + 1);
    graph_size_t end = shape_add(s, shape_mul(s, out->dims[i], strides[i]), least.number);
    graph_size_t limit = shape_binary(s, SCALAR_max, shape_dim(s, 0, i), least);
    shape_require(s, SCALAR_le, end, limit, "a slice must lie inside its operand");
  }
  return true;
}

static bool fit_inside(graph_sizer_t* s, const graph_shape_t* part) {
  if (part->rank != shape_type(s, 0)->rank) return shape_error(s, "has a part of another rank than the whole");
  for (int32_t i = 0; i < part->rank; ++i) {
    shape_require(s, SCALAR_le, part->dims[i], shape_dim(s, 0, i), "a part must not be larger than the whole");
  }
  return true;
}

// Starts: an index for each dimension, or a tensor of one.
static bool starts_fit(graph_sizer_t* s, uint32_t first, uint32_t count) {
  if (s->op->operand_count < first + count) return shape_error(s, "needs a start for each dimension");
  for (uint32_t i = first; i < first + count; ++i) {
    const ir_type_t *type = shape_type(s, i), *scalar = ir_type_scalar(type);
    bool fits = scalar->kind == IR_TYPE_INDEX && (!ir_type_is_shaped(type) || !type->rank);
    if (!fits) return shape_error(s, "has a start of type '%s', which must be an index", ir_type_str(s->ctx, type));
  }
  return true;
}

bool shape_dynamic_slice(graph_sizer_t* s, graph_shape_t* out) {
  if (!s->op->operand_count || !ir_type_is_tensor(shape_type(s, 0))) return shape_error(s, "takes a tensor");
  uint32_t first = 1 + (uint32_t)shape_type(s, 0)->rank;
  if (!starts_fit(s, 1, first - 1)) return false;
  if (!given_dims(s, first, out)) return false;
  return fit_inside(s, out);
}

bool shape_dynamic_update(graph_sizer_t* s, graph_shape_t* out) {
  graph_shape_t part;
  if (s->op->operand_count < 2) return shape_error(s, "takes a tensor and a part of it");
  if (!shape_of_operand(s, 0, out) || !shape_of_operand(s, 1, &part)) return false;
  if (!starts_fit(s, 2, (uint32_t)out->rank)) return false;
  if (s->op->operand_count != 2 + (uint32_t)out->rank) return shape_error(s, "has operands behind its starts");
  return graph_get_window(s->op) || fit_inside(s, &part);  // a window takes what has as many bytes
}

bool shape_pad(graph_sizer_t* s, graph_shape_t* out) {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  if (s->op->operand_count != 2) return shape_error(s, "takes a tensor and the value around it");
  if (!shape_operands(s, 2, 2) || !shape_of_operand(s, 0, out)) return false;
  if (shape_type(s, 1)->rank) return shape_error(s, "takes a scalar as the value around it");
  bool constant = strcmp(graph_get_mode(s->op), "constant") == 0;
  graph_get_low(s->op, low);
  graph_get_high(s->op, high);
  graph_get_interior(s->op, interior);
  for (int32_t i = 0; i < out->rank; ++i) {
    graph_size_t size = out->dims[i];
    if ((low[i] > 0 || high[i] > 0) && !constant) {
      shape_require(s, SCALAR_ge, size, graph_size(1), "what is padded by its own elements must have some");
    }
    if (interior[i]) {
      graph_size_t holes = shape_not_negative(s, shape_add(s, size, -1));
      size = shape_binary(s, SCALAR_add, size, shape_mul(s, holes, interior[i]));
    }
    graph_size_t around = shape_add(s, graph_size(low[i]), high[i]);
    out->dims[i] = shape_not_negative(s, shape_add(s, size, around.number));
  }
  return true;
}

bool shape_concat(graph_sizer_t* s, graph_shape_t* out) {
  int64_t axis = graph_get_axis(s->op);
  if (!shape_operands(s, 1, UINT32_MAX) || !shape_of_operand(s, 0, out)) return false;
  for (uint32_t i = 1; i < s->op->operand_count; ++i) {
    if (shape_type(s, i)->rank != out->rank) return shape_error(s, "has operands of different ranks");
    for (int32_t d = 0; d < out->rank; ++d) {
      graph_size_t size = shape_dim(s, i, d);
      out->dims[d] = d == axis ? shape_binary(s, SCALAR_add, out->dims[d], size)
                               : shape_agree(s, out->dims[d], size, "the operands must agree beside the axis");
    }
  }
  return true;
}

// Outer dims in tiles, then the tiles.
static bool packed(graph_sizer_t* s, const graph_shape_t* x, graph_shape_t* out) {
  int64_t tiles[GRAPH_MAX_RANK], axes[GRAPH_MAX_RANK];
  uint32_t count = graph_get_tiles(s->op, tiles);
  graph_get_axes(s->op, axes);
  if (x->rank + (int32_t)count > GRAPH_MAX_RANK) return shape_error(s, "has a rank above %d", GRAPH_MAX_RANK);
  *out = *x;
  for (uint32_t i = 0; i < count; ++i) {
    graph_size_t* outer = &out->dims[axes[i]];
    *outer = shape_binary(s, SCALAR_div, shape_add(s, *outer, tiles[i] - 1), graph_size(tiles[i]));
    out->dims[out->rank++] = graph_size(tiles[i]);
  }
  return true;
}

bool shape_pack(graph_sizer_t* s, graph_shape_t* out) {
  graph_shape_t x;
  return shape_of_operand(s, 0, &x) && packed(s, &x, out);
}

bool shape_unpack(graph_sizer_t* s, graph_shape_t* out) {
  graph_shape_t from, to;
  const ir_type_t* type = s->op->results[0].type;
  out->rank = type->rank;
  for (int32_t i = 0; i < type->rank; ++i) out->dims[i] = graph_size(type->dims[i]);
  if (!shape_of_operand(s, 0, &from) || !packed(s, out, &to)) return false;
  if (from.rank != to.rank) return shape_error(s, "has an operand that is not its result in tiles");
  for (int32_t i = 0; i < from.rank; ++i) {
    shape_agree(s, from.dims[i], to.dims[i], "the operand must be the result in tiles");
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

static const graph_shape_fn_t rules[] = {
#define SCALAR(name, ...) shape_all_alike,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, ...) shape_##shape,
#include "dialects/graph.def"
#undef OP
};

bool graph_shape(graph_sizer_t* s, graph_shape_t* out) {
  graph_shape_fn_t rule = rules[s->op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)];
  out->rank = -1;
  return rule(s, out) && !s->failed;
}
