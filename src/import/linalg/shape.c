// The shape dialect: a shape is a tensor of as many indices as there are dimensions, a size an index, a witness
// nothing: what it says is checked where it is made.
#include "dialects/shape.h"

#include <string.h>

#include "import/linalg/ops.h"
#include "import/lowering_size.h"

typedef struct extents_t {
  ir_value_t* v[GRAPH_MAX_RANK];
  uint32_t count;
} extents_t;

// The extents of a shape. False after a diagnostic.
static bool read_shape(lower_op_t* n, uint32_t operand, extents_t* out) {
  ir_value_t* shape = n->in[operand];
  const ir_type_t* type = shape->type;
  bool fits = ir_type_is_tensor(type) && type->rank == 1 && type->dims[0] != IR_DYNAMIC &&
              type->dims[0] <= GRAPH_MAX_RANK && !lower_is_float(type);
  if (!fits) return lower_unsupported(n, "shapes of a known number of dimensions are, up to %d", GRAPH_MAX_RANK);
  out->count = (uint32_t)type->dims[0];
  for (uint32_t i = 0; i < out->count; ++i) out->v[i] = lower_index_element(n->b, shape, i);
  return true;
}

static bool return_shape(lower_op_t* n, uint32_t result, ir_value_t* const* extents, uint32_t count) {
  ir_value_t* parts[GRAPH_MAX_RANK];
  int64_t one = 1, size = count;
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_index(n->ctx), 1, &size);
  for (uint32_t i = 0; i < count; ++i) parts[i] = graph_reshape(n->b, lower_as_tensor(n->b, extents[i]), 1, &one, NULL);
  n->out[result].v = count ? graph_concat(n->b, parts, count, 0) : lower_build(n, GRAPH_EMPTY, NULL, 0, type, NULL, 0);
  return true;
}

// A number that operand 1 is. False after a diagnostic.
static bool read_place(lower_op_t* n, int64_t low, int64_t count, int64_t* out) {
  if (!lower_constant_index(n->in[1], out)) return lower_unsupported(n, "a place that is a constant is");
  return (*out >= low && *out < count) || lower_error(n, "has no dimension %lld", (long long)*out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes and sizes
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_shape_of(lower_op_t* n) {
  ir_value_t* extents[GRAPH_MAX_RANK];
  const ir_type_t* type = n->in[0]->type;
  if (!ir_type_is_tensor(type)) return lower_unsupported(n, "tensors are");
  for (int32_t i = 0; i < type->rank; ++i) extents[i] = lower_size(n->b, n->in[0], i);
  return return_shape(n, 0, extents, (uint32_t)type->rank);
}

static bool lower_const_shape(lower_op_t* n) {
  int64_t values[GRAPH_MAX_RANK];
  ir_value_t* extents[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(n->op, "shape", values, GRAPH_MAX_RANK);
  if (count > GRAPH_MAX_RANK || !ir_op_attr(n->op, "shape")) {
    return lower_unsupported(n, "a 'shape' of up to %d dimensions is", GRAPH_MAX_RANK);
  }
  for (uint32_t i = 0; i < count; ++i) extents[i] = graph_index_constant(n->b, values[i]);
  return return_shape(n, 0, extents, count);
}

static bool lower_const_size(lower_op_t* n) {
  return lower_return(n, graph_index_constant(n->b, ir_op_int(n->op, "value", 0)));
}

static bool lower_same(lower_op_t* n) {
  return n->op->operand_count ? lower_return(n, n->in[0]) : lower_error(n, "needs an operand");
}

static bool lower_from_extents(lower_op_t* n) {
  if (n->op->operand_count > GRAPH_MAX_RANK) return lower_unsupported(n, "up to %d dimensions are", GRAPH_MAX_RANK);
  return return_shape(n, 0, n->in, n->op->operand_count);
}

static bool lower_concat(lower_op_t* n) {
  extents_t x, y;
  ir_value_t* all[2 * GRAPH_MAX_RANK];
  if (!read_shape(n, 0, &x) || !read_shape(n, 1, &y)) return false;
  if (x.count + y.count > GRAPH_MAX_RANK) return lower_unsupported(n, "up to %d dimensions are", GRAPH_MAX_RANK);
  memcpy(all, x.v, sizeof(*all) * x.count);
  memcpy(all + x.count, y.v, sizeof(*all) * y.count);
  return return_shape(n, 0, all, x.count + y.count);
}

// Places from the end are negative.
static bool lower_split_at(lower_op_t* n) {
  extents_t x;
  int64_t at;
  if (!read_shape(n, 0, &x) || !read_place(n, -(int64_t)x.count, (int64_t)x.count + 1, &at)) return false;
  uint32_t first = (uint32_t)(at < 0 ? at + x.count : at);
  return return_shape(n, 0, x.v, first) && return_shape(n, 1, x.v + first, x.count - first);
}

static bool lower_num_elements(lower_op_t* n) {
  extents_t x;
  ir_value_t* count = graph_index_constant(n->b, 1);
  if (!read_shape(n, 0, &x)) return false;
  for (uint32_t i = 0; i < x.count; ++i) count = lower_index_binary(n->b, SCALAR_mul, count, x.v[i]);
  return lower_return(n, count);
}

static bool lower_rank(lower_op_t* n) {
  extents_t x;
  return read_shape(n, 0, &x) && lower_return(n, graph_index_constant(n->b, x.count));
}

static bool lower_get_extent(lower_op_t* n) {
  extents_t x;
  int64_t place;
  return read_shape(n, 0, &x) && read_place(n, 0, x.count, &place) && lower_return(n, x.v[place]);
}

static bool lower_dim(lower_op_t* n) {
  int64_t place;
  if (!ir_type_is_tensor(n->in[0]->type)) return lower_unsupported(n, "tensors are");
  return read_place(n, 0, n->in[0]->type->rank, &place) && lower_return(n, lower_size(n->b, n->in[0], (int32_t)place));
}

static bool lower_arithmetic(lower_op_t* n) {
  for (int i = 0; i < 2; ++i) {
    if (n->in[i]->type->kind != IR_TYPE_INDEX) return lower_unsupported(n, "sizes are");
  }
  return lower_return(n, lower_index_binary(n->b, (scalar_fn_t)n->row->scalar, n->in[0], n->in[1]));
}

//===----------------------------------------------------------------------------------------------------------------===
// What holds
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* both(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return x ? graph_binary(n->b, SCALAR_and, x, y) : y;
}

static ir_value_t* is_equal(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_eq, x, y); }

// One shape by NumPy's rules of x and another one; *fits gets whether there is one, NULL where it surely is.
static void broadcast(lower_op_t* n, extents_t* x, const extents_t* y, ir_value_t** fits) {
  extents_t out = {.count = x->count > y->count ? x->count : y->count};
  ir_value_t* one = graph_index_constant(n->b, 1);
  for (uint32_t i = 0; i < out.count; ++i) {
    uint32_t from_x = i + x->count - out.count, from_y = i + y->count - out.count;
    ir_value_t *a = i + x->count < out.count ? NULL : x->v[from_x], *b = i + y->count < out.count ? NULL : y->v[from_y];
    out.v[i] = !a ? b : !b ? a : lower_size_common(n->b, a, b);
    if (!a || !b || lower_size_same(a, b)) continue;
    ir_value_t* any = graph_binary(n->b, SCALAR_or, is_equal(n, a, one), is_equal(n, b, one));
    *fits = both(n, *fits, graph_binary(n->b, SCALAR_or, any, is_equal(n, a, b)));
  }
  *x = out;
}

static bool broadcast_all(lower_op_t* n, extents_t* out, ir_value_t** fits) {
  extents_t next;
  *fits = NULL;
  if (!n->op->operand_count) return lower_error(n, "needs a shape");
  if (!read_shape(n, 0, out)) return false;
  for (uint32_t i = 1; i < n->op->operand_count; ++i) {
    if (!read_shape(n, i, &next)) return false;
    broadcast(n, out, &next, fits);
  }
  return true;
}

static bool all_equal(lower_op_t* n, ir_value_t** fits) {
  extents_t x, y;
  *fits = NULL;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (!read_shape(n, i, i ? &y : &x)) return false;
    if (!i) continue;
    if (x.count != y.count) *fits = is_equal(n, graph_index_constant(n->b, 0), graph_index_constant(n->b, 1));
    for (uint32_t k = 0; x.count == y.count && k < x.count; ++k) {
      if (!lower_size_same(x.v[k], y.v[k])) *fits = both(n, *fits, is_equal(n, x.v[k], y.v[k]));
    }
    if (x.count != y.count) return true;
  }
  return true;
}

static bool lower_broadcast_shapes(lower_op_t* n) {
  extents_t x;
  ir_value_t* fits;
  return broadcast_all(n, &x, &fits) && return_shape(n, 0, x.v, x.count);
}

static bool return_flag(lower_op_t* n, ir_value_t* fits) {
  ir_value_t* zero = graph_index_constant(n->b, 0);
  return lower_return(n, fits ? fits : is_equal(n, zero, zero));
}

static bool lower_is_broadcastable(lower_op_t* n) {
  extents_t x;
  ir_value_t* fits;
  return broadcast_all(n, &x, &fits) && return_flag(n, fits);
}

static bool lower_shape_eq(lower_op_t* n) {
  ir_value_t* fits;
  return all_equal(n, &fits) && return_flag(n, fits);
}

static bool require(lower_op_t* n, ir_value_t* fits, const char* message) {
  if (fits) graph_assert(n->b, lower_as_tensor(n->b, fits), message);
  return true;
}

static bool lower_cstr_broadcastable(lower_op_t* n) {
  extents_t x;
  ir_value_t* fits;
  return broadcast_all(n, &x, &fits) && require(n, fits, "shapes do not broadcast");
}

static bool lower_cstr_eq(lower_op_t* n) {
  ir_value_t* fits;
  return all_equal(n, &fits) && require(n, fits, "shapes differ");
}

static bool lower_cstr_require(lower_op_t* n) {
  if (!n->in[0] || !lower_is_bool(n->in[0]->type)) return lower_unsupported(n, "a condition of type i1 is");
  return require(n, n->in[0], ir_op_string(n->op, "msg", "a requirement of a shape does not hold"));
}

static bool lower_const_witness(lower_op_t* n) {
  return ir_op_flag(n->op, "passing") ||
         lower_unsupported(n, "a witness of what does not hold is not; cf.assert stops a program");
}

static bool lower_nothing(lower_op_t* n) {
  (void)n;
  return true;
}

static bool lower_assuming(lower_op_t* n) {
  ir_block_t* block = n->op->regions[0].first;
  lower_value_t* values;
  uint32_t count;
  if (!block && !n->op->result_count) return true;
  if (!block || block->next || !block->last || block->arg_count) return lower_error(n, "needs a region of one block");
  if (!lower_block(n->l, block, NULL, &values, &count)) return false;
  if (count != n->op->result_count)
    return lower_error(n, "yields %u values for %u results", count, n->op->result_count);
  memcpy(n->out, values, sizeof(*values) * count);
  return true;
}

#define ROW(ENUM, ...) [SHAPE_##ENUM - IR_CODE(IR_DIALECT_SHAPE, 0)] = {__VA_ARGS__}
#define AT(ENUM, function) ROW(ENUM, .fn = function)
#define WITNESS(ENUM, function) ROW(ENUM, .fn = function, .flags = LOWER_ANY_VALUE)
#define SIZES(ENUM, name) ROW(ENUM, .fn = lower_arithmetic, .scalar = SCALAR_##name)
#define REFUSED(ENUM, sentence) ROW(ENUM, .fn = lower_refused, .flags = LOWER_ANY_VALUE, .text = sentence)
static const lower_row_t rows[] = {
    WITNESS(SHAPE_OF, lower_shape_of),
    AT(CONST_SHAPE, lower_const_shape),
    AT(CONST_SIZE, lower_const_size),
    AT(BROADCAST, lower_broadcast_shapes),
    AT(CONCAT, lower_concat),
    AT(SPLIT_AT, lower_split_at),
    AT(ANY, lower_same),
    AT(NUM_ELEMENTS, lower_num_elements),
    AT(RANK, lower_rank),
    AT(GET_EXTENT, lower_get_extent),
    AT(DIM, lower_dim),
    AT(FROM_EXTENTS, lower_from_extents),
    AT(FROM_EXTENT_TENSOR, lower_same),
    AT(TO_EXTENT_TENSOR, lower_same),
    AT(VALUE_AS_SHAPE, lower_same),
    AT(INDEX_TO_SIZE, lower_same),
    AT(SIZE_TO_INDEX, lower_same),
    SIZES(ADD, add),
    SIZES(MUL, mul),
    SIZES(DIV, div),
    SIZES(MIN, min),
    SIZES(MAX, max),
    AT(SHAPE_EQ, lower_shape_eq),
    AT(IS_BROADCASTABLE, lower_is_broadcastable),
    AT(CSTR_EQ, lower_cstr_eq),
    AT(CSTR_BROADCASTABLE, lower_cstr_broadcastable),
    AT(CSTR_REQUIRE, lower_cstr_require),
    AT(CONST_WITNESS, lower_const_witness),
    WITNESS(ASSUMING_ALL, lower_nothing),
    WITNESS(ASSUMING, lower_assuming),
    REFUSED(REDUCE, "a shape's extents one by one are: shape.num_elements, shape.get_extent"),
    REFUSED(MEET, "shape.cstr_eq says that two shapes are one, and shape.any takes either"),
    REFUSED(WITH_SHAPE, "a tensor brings its own shape; shape.shape_of gives it"),
    REFUSED(VALUE_OF, "a tensor brings its own shape; shape.shape_of gives it"),
    REFUSED(DEBUG_PRINT, "a shape as a result of the program, after shape.to_extent_tensor, is"),
};
const lower_table_t lower_shape_table = {IR_DIALECT_SHAPE, rows, sizeof(rows) / sizeof(rows[0])};
