// See numbers.h. What is constant is computed here, so that nothing is left of it in the program.
#include "import/onnx/numbers.h"

#include <stdarg.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Arithmetic
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* index_of(onnx_node_t* n, onnx_dim_t dim) {
  return onnx_dim_known(dim) ? graph_index_constant(n->b, dim.size) : dim.value;
}

onnx_dim_t onnx_dim_min(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (onnx_dim_known(a) && onnx_dim_known(b)) return a.size < b.size ? a : b;
  return onnx_dim_same(a, b) ? a : onnx_dim_binary(n, SCALAR_min, a, b);
}

onnx_dim_t onnx_dim_max(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (onnx_dim_known(a) && onnx_dim_known(b)) return a.size > b.size ? a : b;
  return onnx_dim_same(a, b) ? a : onnx_dim_binary(n, SCALAR_max, a, b);
}

onnx_dim_t onnx_dim_ceil_div(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  a = onnx_dim_max(n, a, onnx_dim_of(0));
  if (onnx_dim_known(a) && onnx_dim_known(b)) return onnx_dim_of(a.size / b.size + (a.size % b.size != 0));
  return onnx_dim_div(n, onnx_dim_add(n, a, onnx_dim_sub(n, b, onnx_dim_of(1))), b);
}

onnx_dim_t onnx_dim_test(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b) {
  const ir_type_t *flag = ir_type_int(n->ctx, 1), *index = ir_type_int(n->ctx, 64);
  scalar_value_t values[3] = {{.i = a.size}, {.i = b.size}};
  if (onnx_dim_known(a) && onnx_dim_known(b)) return onnx_dim_of(scalar_eval(fn, values, index, flag).i & 1);
  if (onnx_dim_same(a, b)) return onnx_dim_of(fn == SCALAR_eq || fn == SCALAR_le || fn == SCALAR_ge);
  ir_value_t* operands[] = {index_of(n, a), index_of(n, b)};
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = ir_build_value(n->b, graph_scalar_code(fn), operands, 2, flag)};
}

static onnx_dim_t combine(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b) {
  ir_value_t* value = ir_build_value(n->b, graph_scalar_code(fn), (ir_value_t*[]){a.value, b.value}, 2, a.value->type);
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = value};
}

onnx_dim_t onnx_flag_and(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (onnx_dim_known(a)) return a.size ? b : a;
  if (onnx_dim_known(b)) return b.size ? a : b;
  return combine(n, SCALAR_and, a, b);
}

onnx_dim_t onnx_flag_or(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (onnx_dim_known(a)) return a.size ? a : b;
  if (onnx_dim_known(b)) return b.size ? b : a;
  return combine(n, SCALAR_or, a, b);
}

onnx_dim_t onnx_dim_select(onnx_node_t* n, onnx_dim_t flag, onnx_dim_t a, onnx_dim_t b) {
  if (onnx_dim_known(flag)) return flag.size ? a : b;
  if (onnx_dim_same(a, b)) return a;
  ir_value_t* operands[] = {flag.value, index_of(n, a), index_of(n, b)};
  ir_value_t* value = ir_build_value(n->b, GRAPH_select, operands, 3, ir_type_index(n->ctx));
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = value};
}

onnx_dim_t onnx_flag_number(onnx_node_t* n, onnx_dim_t flag) {
  return onnx_dim_select(n, flag, onnx_dim_of(1), onnx_dim_of(0));
}

bool onnx_require(onnx_node_t* n, onnx_dim_t flag, const char* format, ...) {
  text_t text = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  const ir_loc_t* loc = ir_loc_find_file(n->op->loc);
  bool fine = !onnx_dim_known(flag) || flag.size != 0 || onnx_error(n, "%s", text.data);
  if (!onnx_dim_known(flag)) {
    arena_t* arena = ir_context_arena(n->ctx);
    const char* message = arena_printf(arena, "'onnx.%s': %s", n->name, text.data);
    if (loc)
      message = arena_printf(arena, "'onnx.%s' at %s:%u:%u: %s", n->name, loc->name, loc->line, loc->column, text.data);
    ir_named_attr_t attr = {"message", ir_attr_cstring(n->ctx, message)};
    ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_ASSERT),
                                    .operands = &flag.value,
                                    .operand_count = 1,
                                    .attrs = &attr,
                                    .attr_count = 1});
  }
  text_finish(&text);
  return fine;
}

onnx_dim_t onnx_dim_wrap(onnx_node_t* n, onnx_dim_t x, onnx_dim_t size) {
  onnx_dim_t negative = onnx_dim_test(n, SCALAR_lt, x, onnx_dim_of(0));
  if (onnx_dim_known(negative) && !negative.size) return x;
  return onnx_dim_select(n, negative, onnx_dim_add(n, x, size), x);
}

ir_value_t* onnx_sized(onnx_node_t* n, ir_value_t* x, int32_t axis, int64_t size) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  if (x->type->dims[axis] == size) return x;
  for (int32_t d = 0; d < x->type->rank; ++d) dims[d] = onnx_dim(n, x, d);
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, dims[axis], onnx_dim_of(size));
  if (!onnx_require(n, fits, "dimension %d of %s must be %lld", axis, ir_type_str(n->ctx, x->type), (long long)size))
    return NULL;
  dims[axis] = onnx_dim_of(size);
  return onnx_reshape(n, x, x->type->rank, dims);
}

ir_value_t* onnx_dim_like(onnx_node_t* n, onnx_dim_t dim, ir_value_t* like) {
  return onnx_broadcast_as(n, onnx_dim_tensor(n, dim, 0), like, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Inputs
//===----------------------------------------------------------------------------------------------------------------===

void onnx_set_input(onnx_node_t* n, uint32_t i, ir_value_t* v) {
  onnx_value_t* in = arena_copy(ir_context_arena(n->ctx), n->in, sizeof(*in) * n->in_count);
  in[i].v = v;
  n->in = in;
}

bool onnx_check_single(onnx_node_t* n, uint32_t i) {
  onnx_dim_t dims[ONNX_MAX_RANK], one = onnx_dim_of(1);
  ir_value_t* v = n->in[i].v;
  if (ir_type_count(v->type) == 1) return true;
  for (int32_t d = 0; d < v->type->rank; ++d) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, v, d), one);
    if (!onnx_require(n, fits, "input %u must be one value", i)) return false;
    dims[d] = one;
  }
  onnx_set_input(n, i, onnx_reshape(n, v, v->type->rank, dims));
  return true;
}

bool onnx_number_input(onnx_node_t* n, uint32_t i, onnx_dim_t* out) {
  uint32_t count;
  if (!onnx_check_single(n, i)) return false;
  onnx_value_t x = onnx_cast(n, n->in[i], onnx_si64(n->ctx));
  x.v = onnx_reshape(n, x.v, 0, NULL);
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  return onnx_dims_input(&inner, 0, out, 1, &count);
}

bool onnx_tensor_number(onnx_node_t* n, ir_value_t* v, onnx_dim_t* out) {
  onnx_value_t x = onnx_value(v, onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  return onnx_number_input(&inner, 0, out);
}

static bool check_axis(onnx_node_t* n, onnx_dim_t* axis, int32_t rank) {
  if (onnx_dim_known(*axis)) return onnx_check_axis(n, &axis->size, rank);
  *axis = onnx_dim_wrap(n, *axis, onnx_dim_of(rank));
  onnx_dim_t low = onnx_dim_test(n, SCALAR_ge, *axis, onnx_dim_of(0));
  onnx_dim_t fits = onnx_flag_and(n, low, onnx_dim_test(n, SCALAR_lt, *axis, onnx_dim_of(rank)));
  return onnx_require(n, fits, "an axis is not within a tensor of rank %d", rank);
}

bool onnx_axis_input(onnx_node_t* n, uint32_t i, int32_t rank, onnx_dim_t* out) {
  return onnx_number_input(n, i, out) && check_axis(n, out, rank);
}

// Whether input i is a vector whose length is known at run time only.
static bool has_open_length(onnx_node_t* n, uint32_t i) {
  ir_value_t* v = n->in[i].v;
  return v->type->rank == 1 && v->type->dims[0] == IR_DYNAMIC && !onnx_constant(n, v);
}

ir_value_t* onnx_vector_of(onnx_node_t* n, uint32_t i, int64_t length) {
  ir_value_t* v = n->in[i].v;
  const int64_t zero = 0, one = 1;
  if (!has_open_length(n, i)) return v;
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, v, 0), onnx_dim_of(length));
  if (!onnx_require(n, fits, "input %u must have %lld elements", i, (long long)length)) return NULL;
  return graph_slice(n->b, v, &zero, &length, &one);
}

bool onnx_dims_exactly(onnx_node_t* n, uint32_t i, uint32_t count, onnx_dim_t* dims) {
  onnx_node_t inner = *n;
  uint32_t found;
  ir_value_t* v = onnx_vector_of(n, i, count);
  if (!v) return false;
  onnx_set_input(&inner, i, v);
  if (!onnx_dims_input(&inner, i, dims, count, &found)) return false;
  return found == count || onnx_error(n, "input %u has %u elements, needs %u", i, found, count);
}

bool onnx_dims_up_to(onnx_node_t* n, uint32_t i, uint32_t count, int64_t fill, onnx_dim_t* dims, onnx_dim_t* given) {
  onnx_node_t inner = *n;
  const int64_t zero = 0, one = 1, length = count;
  uint32_t found;
  if (!has_open_length(n, i)) {
    if (!onnx_dims_input(n, i, dims, count, &found)) return false;
    *given = onnx_dim_of(found);
    for (; found < count; ++found) dims[found] = onnx_dim_of(fill);
    return true;
  }
  ir_value_t* v = n->in[i].v;
  *given = onnx_dim(n, v, 0);
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_le, *given, onnx_dim_of(count));
  if (!onnx_require(n, fits, "input %u has more than %u elements", i, count)) return false;
  const ir_type_t* rest = ir_type_tensor(n->ctx, v->type->element, 1, &length);
  ir_value_t* both[] = {v, graph_splat_integer(n->b, rest, fill)};
  onnx_set_input(&inner, i, graph_slice(n->b, graph_concat(n->b, both, 2, 0), &zero, &length, &one));
  return onnx_dims_input(&inner, i, dims, count, &found);
}

bool onnx_shape_input(onnx_node_t* n, uint32_t i, onnx_dim_t* dims, uint32_t* count) {
  const int32_t rank = onnx_result_rank(n, 0);
  if (!has_open_length(n, i)) return onnx_dims_input(n, i, dims, ONNX_MAX_RANK, count);
  if (rank < 0 || rank > ONNX_MAX_RANK) {
    return onnx_unsupported(
        n,
        "the result's rank is the length of input %u, which only a call knows: declare the result's "
        "shape in the model, or give input %u a shape",
        i, i);
  }
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[i].v, 0), onnx_dim_of(rank));
  if (!onnx_require(n, fits, "the result must have rank %d", rank)) return false;
  return onnx_dims_exactly(n, i, *count = (uint32_t)rank, dims);
}

//===----------------------------------------------------------------------------------------------------------------===
// Axes
//===----------------------------------------------------------------------------------------------------------------===

// Flags from a list whose length is known at run time only: computed as a tensor, of which each element is read.
static bool flags_of_tensor(onnx_node_t* n, uint32_t i, int32_t rank, onnx_axes_t* out) {
  static const int64_t zero = 0;
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_value_t* axes = onnx_cast(n, n->in[i], onnx_si64(n->ctx)).v;
  ir_value_t* wrapped = onnx_binary_number(n, SCALAR_add, axes, rank);
  axes = graph_select(n->b, onnx_binary_number(n, SCALAR_lt, axes, 0), wrapped, axes);
  ir_value_t* low = onnx_binary_number(n, SCALAR_ge, axes, 0);
  ir_value_t* fits = graph_binary(n->b, SCALAR_and, low, onnx_binary_number(n, SCALAR_lt, axes, rank));
  graph_assert(n->b, fits, "an axis is not within the tensor");
  const onnx_dim_t dims[] = {onnx_dim(n, axes, 0), onnx_dim_of(rank)};
  axes = onnx_broadcast_to(n, onnx_spread(n, axes, 2, &zero), 2, dims);
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, axes, onnx_iota_like(n, axes, 1));
  onnx_value_t flags =
      onnx_value(graph_cast(n->b, graph_reduce(n->b, same, &zero, 1, "or"), i64, true), onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  uint32_t count;
  inner.in = &flags, inner.in_count = 1;
  if (!onnx_dims_input(&inner, 0, out->flags, ONNX_MAX_RANK, &count)) return false;
  for (int32_t k = 0; k < rank; ++k) out->flags[k] = onnx_dim_test(n, SCALAR_ne, out->flags[k], onnx_dim_of(0));
  return true;
}

bool onnx_axes_input(onnx_node_t* n, uint32_t i, int32_t rank, onnx_axes_t* out) {
  const ir_type_t* type = n->in[i].v->type;
  onnx_dim_t axes[ONNX_MAX_RANK], total = onnx_dim_of(0);
  uint32_t count;
  *out = (onnx_axes_t){.count = ir_type_count(type), .constant = true};
  for (int32_t k = 0; k < rank; ++k) out->flags[k] = onnx_dim_of(0);
  if (type->rank == 1 && type->dims[0] == IR_DYNAMIC && !onnx_constant(n, n->in[i].v)) {
    if (!onnx_is_int(n->in[i])) return onnx_error(n, "input %u must have integer elements", i);
    return out->constant = false, flags_of_tensor(n, i, rank, out);
  }
  if (!onnx_dims_input(n, i, axes, ONNX_MAX_RANK, &count)) return false;
  for (uint32_t k = 0; k < count; ++k) {
    if (!check_axis(n, &axes[k], rank)) return false;
    if (onnx_dim_known(axes[k]) && onnx_dim_known(out->flags[axes[k].size]) && out->flags[axes[k].size].size)
      return onnx_error(n, "axis %lld is given twice", (long long)axes[k].size);
    for (int32_t d = 0; d < rank; ++d) {
      onnx_dim_t is_it = onnx_dim_test(n, SCALAR_eq, axes[k], onnx_dim_of(d));
      out->flags[d] = onnx_flag_or(n, out->flags[d], is_it);
    }
  }
  for (int32_t d = 0; d < rank; ++d) {
    total = onnx_dim_add(n, total, onnx_flag_number(n, out->flags[d]));
    out->constant &= onnx_dim_known(out->flags[d]);
  }
  return onnx_require(n, onnx_dim_test(n, SCALAR_eq, total, onnx_dim_of(count)), "an axis is given twice");
}

bool onnx_unflagged_dims(onnx_node_t* n, ir_value_t* x, const onnx_axes_t* axes, int32_t count, onnx_dim_t* out) {
  onnx_dim_t before = onnx_dim_of(0);  // unflagged dims in front of the one at hand
  for (int32_t k = 0; k < count; ++k) out[k] = onnx_dim_of(1);
  for (int32_t d = 0; d < x->type->rank; ++d) {
    onnx_dim_t size = onnx_dim(n, x, d), next = onnx_dim_select(n, axes->flags[d], onnx_dim_of(0), onnx_dim_of(1));
    for (int32_t k = 0; k < count && k <= d; ++k) {
      onnx_dim_t here = onnx_dim_test(n, SCALAR_eq, before, onnx_dim_of(k));
      here = onnx_flag_and(n, here, onnx_dim_test(n, SCALAR_ne, next, onnx_dim_of(0)));
      out[k] = onnx_dim_select(n, here, size, out[k]);
    }
    before = onnx_dim_add(n, before, next);
  }
  return onnx_require(n, onnx_dim_test(n, SCALAR_eq, before, onnx_dim_of(count)),
                      "the result must have rank %d, or the model declare another", count);
}

bool onnx_axes_unknown(onnx_node_t* n) {
  return onnx_unsupported(n,
                          "the result's rank follows from the number of axes, which only a call knows: declare the "
                          "result's shape in the model, or give input 1 a shape");
}

int32_t onnx_declared_rank(const onnx_node_t* n, uint32_t i) {
  const ir_type_t* type = i < n->op->result_count ? n->op->results[i].type : NULL;
  return type && type->kind == IR_TYPE_VTENSOR && type->element ? type->rank : -1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* onnx_around_axis(onnx_node_t* n, ir_value_t* x, onnx_dim_t axis, int32_t kept) {
  onnx_dim_t dims[3 + ONNX_MAX_RANK], one = onnx_dim_of(1);
  int32_t rank = x->type->rank - kept;
  for (int32_t i = 0; i < 3; ++i) dims[i] = one;
  for (int32_t i = 0; i < kept; ++i) dims[3 + i] = onnx_dim(n, x, rank + i);
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i), at = onnx_dim_of(i);
    dims[0] = onnx_dim_mul(n, dims[0], onnx_dim_select(n, onnx_dim_test(n, SCALAR_gt, axis, at), size, one));
    dims[1] = onnx_dim_select(n, onnx_dim_test(n, SCALAR_eq, axis, at), size, dims[1]);
    dims[2] = onnx_dim_mul(n, dims[2], onnx_dim_select(n, onnx_dim_test(n, SCALAR_lt, axis, at), size, one));
  }
  return onnx_reshape(n, x, 3 + kept, dims);
}

ir_value_t* onnx_reshape_like(onnx_node_t* n, ir_value_t* x, ir_value_t* like) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < like->type->rank; ++i) dims[i] = onnx_dim(n, like, i);
  return onnx_reshape(n, x, like->type->rank, dims);
}
