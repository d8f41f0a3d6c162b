// The graph dialect: opcodes, and builders that keep its shape rules in one place. graph.def documents each op.
#ifndef IREE_C_DIALECTS_GRAPH_H_
#define IREE_C_DIALECTS_GRAPH_H_

#include "dialects/scalar.h"
#include "ir/ir.h"

enum {
  GRAPH_FIRST_ = IR_CODE(IR_DIALECT_GRAPH, 0) - 1,
#define SCALAR(name, ...) GRAPH_##name,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, ...) GRAPH_##NAME,
#include "dialects/graph.def"
#undef OP
  GRAPH_END_
};

extern const ir_dialect_t graph_dialect;

enum { GRAPH_MAX_SPATIAL = 6, GRAPH_MAX_RANK = 16, GRAPH_MAX_TIED = 64 };

//===----------------------------------------------------------------------------------------------------------------===
// Attributes. An op that ir_verify has passed has what its row says, so nothing here fails; asking for what the row
// does not have asserts.
//===----------------------------------------------------------------------------------------------------------------===

typedef enum {
#define ATTR(name, type) GRAPH_ATTR_##name,
#include "dialects/graph_attrs.def"
#undef ATTR
  GRAPH_ATTR_COUNT
} graph_attr_id_t;

// The attribute as it is, or NULL when the op does without.
const ir_attr_t* graph_attr(const ir_op_t* op, graph_attr_id_t id);
int64_t graph_attr_int(const ir_op_t* op, graph_attr_id_t id);
bool graph_attr_unit(const ir_op_t* op, graph_attr_id_t id);
const char* graph_attr_text(const ir_op_t* op, graph_attr_id_t id);
uint32_t graph_attr_ints(const ir_op_t* op, graph_attr_id_t id, int64_t* out);
// The first of a list, which is left alone when there is none; returns how many there are.
uint32_t graph_attr_one(const ir_op_t* op, graph_attr_id_t id, int64_t* out);

#define GRAPH_GET_INT(name) \
  static inline int64_t graph_get_##name(const ir_op_t* op) { return graph_attr_int(op, GRAPH_ATTR_##name); }
#define GRAPH_GET_UNIT(name) \
  static inline bool graph_get_##name(const ir_op_t* op) { return graph_attr_unit(op, GRAPH_ATTR_##name); }
#define GRAPH_GET_TEXT(name) \
  static inline const char* graph_get_##name(const ir_op_t* op) { return graph_attr_text(op, GRAPH_ATTR_##name); }
#define GRAPH_GET_ANY(name) \
  static inline const ir_attr_t* graph_get_##name(const ir_op_t* op) { return graph_attr(op, GRAPH_ATTR_##name); }
#define GRAPH_GET_INTS(name)                                                 \
  static inline uint32_t graph_get_##name(const ir_op_t* op, int64_t* out) { \
    return graph_attr_ints(op, GRAPH_ATTR_##name, out);                      \
  }
#define ATTR(name, type) GRAPH_GET_##type(name)
#include "dialects/graph_attrs.def"
#undef ATTR

typedef enum {
#define RULE(name, expects) GRAPH_RULE_##name,
#include "dialects/graph_attrs.def"
#undef RULE
} graph_rule_t;

// What an op's row in graph.def says of one attribute.
typedef struct graph_attr_row_t {
  graph_attr_id_t id;
  graph_rule_t rule;
  bool required;
} graph_attr_row_t;
typedef struct graph_row_t {
  const graph_attr_row_t* attrs;  // up to one whose id is GRAPH_ATTR_COUNT
} graph_row_t;
const graph_row_t* graph_row(const ir_op_t* op);
const char* graph_attr_name(graph_attr_id_t id);

// The row's verifier: attributes, operands, types, regions (graph_verify.c).
bool graph_verify(ir_context_t* ctx, ir_op_t* op);
// Of that, whether values have a size that memory could have, and a rank that kernels have: what frontends ask where a
// program may be at fault, not the compiler. False after a diagnostic.
bool graph_values_fit(ir_context_t* ctx, const ir_op_t* op);

// The ELEMENTS that graph.constant gives, or NULL.
const ir_attr_t* graph_constant_value(const ir_value_t* value);

// The scalar function of an elementwise graph op, or -1.
static inline int graph_scalar_fn(const ir_op_t* op) {
  uint32_t row = op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0);
  return row < SCALAR_COUNT ? (int)row : -1;
}
static inline uint32_t graph_scalar_code(scalar_fn_t fn) { return IR_CODE(IR_DIALECT_GRAPH, 0) + (uint32_t)fn; }

// Builders. They infer the result type (also with '?' dims, for which they build the index operands from graph.dim of
// the operands) and fold the trivial (a reshape to the same type is its operand). They assert on misuse: callers check
// what comes from files first.
ir_value_t* graph_constant(ir_builder_t* b, const ir_attr_t* elements);
ir_value_t* graph_splat_number(ir_builder_t* b, const ir_type_t* tensor, double value);    // static shapes
ir_value_t* graph_splat_integer(ir_builder_t* b, const ir_type_t* tensor, int64_t value);  // static shapes
// A constant of x's element type and (possibly dynamic) shape.
ir_value_t* graph_splat_like(ir_builder_t* b, ir_value_t* x, double value);
ir_value_t* graph_scalar_constant(ir_builder_t* b, const ir_type_t* element, double value);  // tensor<T>
ir_value_t* graph_index_constant(ir_builder_t* b, int64_t value);                            // index
ir_value_t* graph_dim(ir_builder_t* b, ir_value_t* x, uint32_t i);  // index; a constant for static dims
// An integer of the host as an index. Element i of an integer tensor of at most one dimension as index arithmetic on
// numbers of the host that it was made of (graph_index.c); NULL when that ends at data, or takes too many steps.
ir_value_t* graph_as_index(ir_builder_t* b, ir_value_t* v);
ir_value_t* graph_index_of(ir_builder_t* b, ir_value_t* tensor, int64_t i);
// The size to which two sizes broadcast, where they fit: y where x is 1, else x. And what such a size was made of.
ir_value_t* graph_common_size(ir_builder_t* b, ir_value_t* x, ir_value_t* y);
bool graph_common_parts(const ir_value_t* v, ir_value_t** x, ir_value_t** y);
// Whether an index value is surely not negative.
bool graph_size_is_natural(const ir_value_t* x);
ir_value_t* graph_unary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x);
ir_value_t* graph_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
ir_value_t* graph_select(ir_builder_t* b, ir_value_t* condition, ir_value_t* x, ir_value_t* y);
ir_value_t* graph_cast(ir_builder_t* b, ir_value_t* x, const ir_type_t* element, bool is_unsigned);
ir_value_t* graph_bitcast(ir_builder_t* b, ir_value_t* x, const ir_type_t* element);
// `dims` may contain IR_DYNAMIC; then `dynamic` has one index value for each, in order.
ir_value_t* graph_reshape(ir_builder_t* b, ir_value_t* x, int32_t rank, const int64_t* dims,
                          ir_value_t* const* dynamic);
ir_value_t* graph_transpose(ir_builder_t* b, ir_value_t* x, const int64_t* perm);
ir_value_t* graph_broadcast(ir_builder_t* b, ir_value_t* x, const ir_type_t* type, const int64_t* dims,
                            ir_value_t* const* dynamic);
// To the (possibly dynamic) shape of `like`.
ir_value_t* graph_broadcast_like(ir_builder_t* b, ir_value_t* x, ir_value_t* like, const int64_t* dims);
ir_value_t* graph_slice(ir_builder_t* b, ir_value_t* x, const int64_t* offsets, const int64_t* sizes,
                        const int64_t* strides);
ir_value_t* graph_pad(ir_builder_t* b, ir_value_t* x, ir_value_t* value, const int64_t* low, const int64_t* high,
                      const int64_t* interior, const char* mode);
ir_value_t* graph_concat(ir_builder_t* b, ir_value_t* const* xs, uint32_t count, int64_t axis);
ir_value_t* graph_reverse(ir_builder_t* b, ir_value_t* x, const int64_t* dims, uint32_t count);
ir_value_t* graph_iota(ir_builder_t* b, const ir_type_t* type, int64_t axis, ir_value_t* const* dynamic);
ir_value_t* graph_reduce(ir_builder_t* b, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind);
typedef struct graph_contract_t {
  const int64_t *lhs_batch, *rhs_batch, *lhs_contract, *rhs_contract;
  uint32_t batch_count, contract_count;
  bool unsigned_lhs, unsigned_rhs;
} graph_contract_t;
ir_value_t* graph_contract(ir_builder_t* b, ir_value_t* lhs, ir_value_t* rhs, const graph_contract_t* dims,
                           const ir_type_t* accumulator);
// A slice or update of what a loop carries that is a place in its buffer, not a copy (passes/windows.c).
static inline bool graph_is_window(const ir_op_t* op) {
  return (ir_is(op, GRAPH_DYNAMIC_SLICE) || ir_is(op, GRAPH_DYNAMIC_UPDATE)) && graph_get_window(op);
}
// The operand in whose memory a dispatch has its result, or -1.
static inline int64_t graph_in_place(const ir_op_t* dispatch) {
  return graph_attr(dispatch, GRAPH_ATTR_in_place) ? graph_get_in_place(dispatch) : -1;
}
// Whether a contraction or convolution takes the integers of an operand as unsigned.
bool graph_reads_unsigned(const ir_op_t* op, uint32_t operand);
// Whether a scatter's indices are numbers of rows, of operand and updates, and rise.
bool graph_scatter_rises(const ir_op_t* op);
typedef struct graph_conv_t {
  const char *x_layout, *w_layout, *y_layout;
  int64_t strides[GRAPH_MAX_SPATIAL], pad_low[GRAPH_MAX_SPATIAL], pad_high[GRAPH_MAX_SPATIAL];
  int64_t x_dilation[GRAPH_MAX_SPATIAL], w_dilation[GRAPH_MAX_SPATIAL];
  int64_t groups, batch_groups;
  bool unsigned_lhs;
} graph_conv_t;
ir_value_t* graph_conv(ir_builder_t* b, ir_value_t* x, ir_value_t* w, const graph_conv_t* conv,
                       const ir_type_t* accumulator);
// Reads the attributes of a conv op back.
graph_conv_t graph_conv_read(const ir_op_t* op);
// Where a layout ("nc01") has a dimension; it must.
int32_t graph_layout_axis(const char* layout, char name);
typedef struct graph_window_t {
  const char* kind;
  int64_t sizes[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK], dilations[GRAPH_MAX_RANK], base_dilations[GRAPH_MAX_RANK];
  int64_t pad_low[GRAPH_MAX_RANK], pad_high[GRAPH_MAX_RANK];
} graph_window_t;
ir_value_t* graph_window(ir_builder_t* b, ir_value_t* x, const graph_window_t* window);
// Of graph.window, or window_generic (kind NULL).
graph_window_t graph_window_read(const ir_op_t* op);
// Rising updates that combine into one of a further operand of graph.scatter; and how many such operands there may be.
enum { GRAPH_SCATTER_FAN = 32, GRAPH_SCATTER_LEVELS = 8 };
// np.take along `axis`: result dims = x dims with `axis` replaced by the dims of indices.
ir_value_t* graph_take(ir_builder_t* b, ir_value_t* x, ir_value_t* indices, int64_t axis, bool wrap);
// Extremes along an axis: the largest, or the least; of equal ones the first, or the last; places are `index` elements.
typedef struct graph_extreme_t {
  int64_t axis, k;  // k: how many, for graph_top_k
  bool least, last;
  const ir_type_t* index;
} graph_extreme_t;
// Values without the axis, and their places.
ir_op_t* graph_arg_reduce(ir_builder_t* b, ir_value_t* x, const graph_extreme_t* extreme);
// The first k in order, and their places. So few are found by one sweep over a line.
enum { GRAPH_TOP_K_SCANNED = 1024 };
ir_op_t* graph_top_k(ir_builder_t* b, ir_value_t* x, const graph_extreme_t* extreme);
// Operands in the order of the first `keys` (0: one) of them, equal ones as they were unless it may be otherwise.
typedef struct graph_sort_t {
  int64_t axis;
  uint32_t keys;
  bool descending, unstable;
} graph_sort_t;
// Eight bits each that numbers of the type have, by which they can be sorted; 0: they cannot.
int64_t graph_sort_digits(const ir_type_t* element);
ir_op_t* graph_sort(ir_builder_t* b, ir_value_t* const* operands, uint32_t count, const graph_sort_t* how);
// Real and imaginary parts, transformed over the last `rank` dims: kind "fft" or "ifft".
void graph_fft(ir_builder_t* b, ir_value_t* parts[2], const char* kind, int64_t rank);
// Stops the program with `message` unless all of `flags` (tensor of i1) are set.
void graph_assert(ir_builder_t* b, ir_value_t* flags, const char* message);
// Likewise; {0} in the message stands for the first of `numbers`, which are of type index, and so on.
void graph_assert_numbers(ir_builder_t* b, ir_value_t* flags, ir_value_t* const* numbers, uint32_t count,
                          const char* message);
// Keys that the parts of an attention are multiples of.
enum { GRAPH_ATTENTION_KEYS = 128 };
// Everything else: operands, one result type, attributes.
ir_value_t* graph_build(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                        const ir_type_t* type, const ir_named_attr_t* attrs, uint32_t attr_count);

#endif  // IREE_C_DIALECTS_GRAPH_H_
