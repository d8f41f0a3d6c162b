// Lowering of torch.operator "onnx.X" to graph ops: what the handlers of single ops see (ops.def lists them), and the
// driver's interface to the importer, which runs the same handlers to learn the types of values.
//
// A handler reads an onnx_node_t's inputs and attributes, checks them (they come from a file), builds graph ops at
// node->b and sets the outputs. Ops are always of the newest version: older forms are upgraded first (upgrade.c).
#ifndef IREE_C_IMPORT_ONNX_LOWER_H_
#define IREE_C_IMPORT_ONNX_LOWER_H_

#include "dialects/graph.h"
#include "ir/ir.h"

enum { ONNX_MAX_RANK = GRAPH_MAX_RANK };

// A lowered value: a tensor with signless element type and the element type that the model gave it (si64, ui8, ...).
// Of strings (strings.h), `v` has one dimension more. `v` NULL: an input that is left out.
typedef struct onnx_holder_t onnx_holder_t;  // a sequence or an optional: holder.h
typedef struct onnx_value_t {
  ir_value_t* v;
  const ir_type_t* element;
  const onnx_holder_t* holder;  // NULL for tensors
} onnx_value_t;

typedef struct onnx_lowering_t onnx_lowering_t;
typedef struct onnx_row_t onnx_row_t;
typedef struct onnx_node_t {
  onnx_lowering_t* lowering;
  ir_context_t* ctx;
  ir_builder_t* b;
  ir_op_t* op;       // torch.operator
  const char* name;  // "Conv"
  const onnx_row_t* row;
  const onnx_value_t* in;
  uint32_t in_count;
  onnx_value_t* out;  // to be set; v NULL is allowed for outputs that nothing uses
  uint32_t out_count;
} onnx_node_t;

typedef bool (*onnx_handler_t)(onnx_node_t* n);
// What a handler sees of inputs that are strings: they are refused, it sees them as strings.h says, or their places.
typedef enum { ONNX_STRINGS_REFUSED, ONNX_STRINGS_SEEN, ONNX_STRINGS_MOVED } onnx_strings_t;
struct onnx_row_t {
  const char* name;
  int16_t min_inputs, max_inputs;  // max -1: any number
  onnx_handler_t handler;
  bool takes_holders;      // sequences and optionals as inputs
  onnx_strings_t strings;  // what becomes of these
  int fn, unsigned_fn;     // scalar_fn_t for elementwise rows, SCALAR_COUNT for none
};
const onnx_row_t* onnx_find_row(const char* name);
// Why an operator is refused for good (refused.def), or NULL.
const char* onnx_find_refusal(const char* name);
const char* onnx_refused_domain(const char* domain);  // the same of all its operators

//===----------------------------------------------------------------------------------------------------------------===
// Driver
//===----------------------------------------------------------------------------------------------------------------===

struct onnx_lowering_t {
  ir_context_t* ctx;
  ir_builder_t b;
  int64_t opset;        // of the function at work
  bool inferring;       // for types only: ops without a lowering are no errors
  bool no_propagation;  // only constants themselves are known, not what is computed from them
  bool unsupported;     // set when a handler said so
  uint32_t tentative;   // inferring in subgraphs: a branch that is never taken may hold what can never work
  uint32_t depth;       // of regions
  uint32_t rest_depth;  // of copies of what follows a branch
  uint32_t rest_count;  // of them so far, in the outermost
  ir_op_t* source;      // the op at work as the program has it
  uint32_t op_count;    // lowered so far
  const struct onnx_values_t* rest;  // set by an op that lowered what follows it, too: what its block gives
};

// For the importer: lowers ops one by one into a scratch block and gives their results types.
onnx_lowering_t* onnx_infer_begin(ir_context_t* ctx, int64_t opset);
void onnx_infer_argument(onnx_lowering_t* lowering, ir_value_t* argument);
// False after a diagnostic about an op that can never work. Ops that are not supported keep their declared types.
bool onnx_infer_op(onnx_lowering_t* lowering, ir_op_t* op);

// Changes an op of version `from` in place to what it is in version `to`, with new ops before it where needed. False
// after a diagnostic.
bool onnx_upgrade_op(ir_context_t* ctx, ir_op_t* op, int64_t from, int64_t to);
// Whether that would change anything.
bool onnx_needs_upgrade(const ir_op_t* op, int64_t from, int64_t to);

typedef struct onnx_values_t {
  onnx_value_t* items;
  uint32_t count;
} onnx_values_t;
// Lowers the ops of a block at the builder with `args` as values of its arguments; `*results` (in the arena) are the
// values that its terminator names.
bool onnx_lower_block(onnx_lowering_t* lowering, ir_block_t* block, onnx_values_t args, onnx_values_t* results);

// Lowers at the builder what follows the op at work in its block, with those results of it. False after a diagnostic,
// or when that was done more than ONNX_MAX_RESTS times since it was done outside of another time.
enum { ONNX_MAX_RESTS = 128 };
bool onnx_lower_rest(onnx_lowering_t* lowering, onnx_values_t given, onnx_values_t* results);

//===----------------------------------------------------------------------------------------------------------------===
// For handlers (node.c)
//===----------------------------------------------------------------------------------------------------------------===

// Report and return false.
bool onnx_error(onnx_node_t* n, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The same for what is valid ONNX but has no lowering here.
bool onnx_unsupported(onnx_node_t* n, const char* format, ...) __attribute__((format(printf, 2, 3)));

static inline bool onnx_has(const onnx_node_t* n, uint32_t i) { return i < n->in_count && n->in[i].v; }
static inline bool onnx_wants(const onnx_node_t* n, uint32_t i) { return i < n->out_count; }
const ir_type_t* onnx_str(ir_context_t* ctx);  // of strings
bool onnx_is_str(const ir_type_t* element);
static inline bool onnx_is_string(onnx_value_t x) { return !x.holder && onnx_is_str(x.element); }
static inline int32_t onnx_rank(onnx_value_t x) { return x.v->type->rank - onnx_is_string(x); }
static inline int64_t onnx_dim_size(onnx_value_t x, int32_t i) { return x.v->type->dims[i]; }
static inline bool onnx_is_float(onnx_value_t x) { return ir_type_is_float(x.element); }
static inline bool onnx_is_bool(onnx_value_t x) { return ir_type_is_int(x.element) && x.element->width == 1; }
static inline bool onnx_is_int(onnx_value_t x) { return ir_type_is_int(x.element) && x.element->width > 1; }
static inline bool onnx_is_unsigned(onnx_value_t x) {
  return ir_type_is_int(x.element) && (x.element->sign == IR_UNSIGNED || x.element->width == 1);
}
// Sets output 0 to a value with the element type of `like`, or with `element`.
bool onnx_return(onnx_node_t* n, ir_value_t* v, const ir_type_t* element);
static inline onnx_value_t onnx_value(ir_value_t* v, const ir_type_t* element) {
  return (onnx_value_t){v, element, NULL};
}

const ir_type_t* onnx_si64(ir_context_t* ctx);
const ir_type_t* onnx_bool(ir_context_t* ctx);
const ir_type_t* onnx_f32(ir_context_t* ctx);
// The element type that graph tensors have for it: si64 and ui64 are i64, strings code points.
const ir_type_t* onnx_signless(ir_context_t* ctx, const ir_type_t* element);
// Of strings with their width, '?', as one dimension more.
const ir_type_t* onnx_tensor_type(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims);

const ir_attr_t* onnx_attr(const onnx_node_t* n, const char* name);  // NULL when absent
int64_t onnx_int(const onnx_node_t* n, const char* name, int64_t absent);
double onnx_float(const onnx_node_t* n, const char* name, double absent);
const char* onnx_string(const onnx_node_t* n, const char* name, const char* absent);
// Integer list; false after a diagnostic when there are more than `capacity`. `*count` 0 when absent.
bool onnx_ints(onnx_node_t* n, const char* name, int64_t* values, uint32_t capacity, uint32_t* count);

// Checks.
bool onnx_check_axis(onnx_node_t* n, int64_t* axis, int32_t rank);  // makes it 0..rank-1
bool onnx_check_same_element(onnx_node_t* n, uint32_t i, uint32_t j);
bool onnx_check_rank(onnx_node_t* n, uint32_t i, int32_t low, int32_t high);
bool onnx_check_float(onnx_node_t* n, uint32_t i);

// Building.
typedef struct onnx_part_t {
  int64_t from, count, stride;
} onnx_part_t;
// A constant of a model, with its data, as a tensor with signless elements.
ir_value_t* onnx_graph_constant(ir_builder_t* b, const ir_attr_t* value);
onnx_value_t onnx_cast(onnx_node_t* n, onnx_value_t x, const ir_type_t* element);
ir_value_t* onnx_unary(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x);
// NumPy broadcasting. NULL after a diagnostic.
ir_value_t* onnx_binary(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
bool onnx_broadcast(onnx_node_t* n, ir_value_t** x, ir_value_t** y);
bool onnx_broadcast_all(onnx_node_t* n, ir_value_t** values, uint32_t count);
// x in the shape of `like`, which stays as it is; and fn(x, y) in the shape of x. NULL after a diagnostic.
ir_value_t* onnx_broadcast_onto(onnx_node_t* n, ir_value_t* x, ir_value_t* like);
ir_value_t* onnx_binary_onto(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
// fn(x, constant).
ir_value_t* onnx_binary_number(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, double y);
// x with dims of size 1 inserted so that result dim `at[i]` is x's dim i.
ir_value_t* onnx_spread(onnx_node_t* n, ir_value_t* x, int32_t rank, const int64_t* at);
// x in the shape of `like`, x's dim i along like's dim at[i].
ir_value_t* onnx_broadcast_as(onnx_node_t* n, ir_value_t* x, ir_value_t* like, const int64_t* at);
// A vector along dimension `axis` of a tensor in the shape of `like`. NULL after a diagnostic.
ir_value_t* onnx_along(onnx_node_t* n, ir_value_t* vector, int64_t axis, ir_value_t* like);
// The same of one number, or of a vector of which only a call knows whether it is one.
ir_value_t* onnx_one_or_along(onnx_node_t* n, ir_value_t* v, int64_t axis, ir_value_t* like);
// Reduction that keeps the reduced dims as size 1.
ir_value_t* onnx_reduce_keep(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind);
// Reduction, repeated along the reduced dims to the shape of x.
ir_value_t* onnx_reduce_spread(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind);
// The mean over those dims, repeated likewise.
ir_value_t* onnx_mean_spread(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count);
// Product of those dims of x as a scalar of x's element type in the shape of `like`.
ir_value_t* onnx_size_like(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, ir_value_t* like);
// A scalar tensor<T> in the shape of `like`; constants become splats.
ir_value_t* onnx_scalar_like(onnx_node_t* n, ir_value_t* scalar, ir_value_t* like);
// `count` elements of one dimension, from `from` on, every `stride`th.
ir_value_t* onnx_part(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_part_t part);
// Element `at` of one dimension, without it.
ir_value_t* onnx_entry(onnx_node_t* n, ir_value_t* x, int64_t axis, int64_t at);
// Two results: both tensors with the keys in ascending order along an axis; equal keys stay in order.
ir_op_t* onnx_sort_by(onnx_node_t* n, ir_value_t* keys, ir_value_t* values, int64_t axis);
// The first elements of dimension 0, as many as `count` (an integer tensor of one element) says at run time.
ir_value_t* onnx_first(onnx_node_t* n, ir_value_t* x, ir_value_t* count);
// A constant tensor<?xi64>.
ir_value_t* onnx_index_vector(onnx_node_t* n, const int64_t* data, int64_t count);
// Coordinates along an axis, in the shape and element type of `like`.
ir_value_t* onnx_iota_like(onnx_node_t* n, ir_value_t* like, int64_t axis);
// Reshape where sizes of `dims` are static or index values.
typedef struct onnx_dim_t {
  int64_t size;       // IR_DYNAMIC: `value` is it
  ir_value_t* value;  // index
  bool loaded;        // it is read from data as it is: it may be negative
} onnx_dim_t;
ir_value_t* onnx_reshape(onnx_node_t* n, ir_value_t* x, int32_t rank, const onnx_dim_t* dims);
ir_value_t* onnx_broadcast_to(onnx_node_t* n, ir_value_t* x, int32_t rank, const onnx_dim_t* dims);
// Coordinates along an axis of a tensor with those dims, as i64.
ir_value_t* onnx_numbers(onnx_node_t* n, int32_t rank, const onnx_dim_t* dims, int64_t axis);
onnx_dim_t onnx_dim(onnx_node_t* n, ir_value_t* x, int32_t i);
// The first `count` elements of a dimension.
ir_value_t* onnx_prefix(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_dim_t count);
onnx_dim_t onnx_dim_of(int64_t size);
bool onnx_dim_same(onnx_dim_t a, onnx_dim_t b);    // surely equal
bool onnx_dim_agrees(onnx_dim_t a, onnx_dim_t b);  // or the model says so (import/lowering_size.h)
bool onnx_dim_meets(onnx_dim_t a, onnx_dim_t b);   // or they do not broadcast (there)
bool onnx_dim_is_constant(onnx_dim_t dim, int64_t* out);
onnx_dim_t onnx_dim_binary(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_mul(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_add(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_sub(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_div(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
// What two sizes broadcast to; static ones fit.
onnx_dim_t onnx_dim_common(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
// Sizes for types and the index values of the dynamic ones, in order; both arrays have ONNX_MAX_RANK entries.
void onnx_split_dims(int32_t rank, const onnx_dim_t* dims, int64_t* sizes, ir_value_t** dynamic);

// Declared results (declared.c). The type with '?' for all sizes; a warning where a declared size is not what is
// computed.
const ir_type_t* onnx_open_sizes(ir_context_t* ctx, const ir_type_t* type);
void onnx_compare_sizes(ir_context_t* ctx, const ir_loc_t* loc, const char* output, const ir_type_t* declared,
                        const ir_type_t* computed);
// The declared types of what a function returns, whose sizes are then left to the lowering; and a comparison with that.
const ir_type_t** onnx_open_results(ir_context_t* ctx, const ir_op_t* func);
void onnx_compare_results(ir_context_t* ctx, const ir_op_t* func, const ir_type_t* const* declared,
                          onnx_values_t results);

// What is known of small tensors at compile time (shapes.c).
const ir_attr_t* onnx_constant(onnx_node_t* n, ir_value_t* v);  // ELEMENTS, or NULL
// Input i, a 1-d or scalar integer tensor, as constants. False after a diagnostic when it is not constant.
bool onnx_const_ints(onnx_node_t* n, uint32_t i, int64_t* values, uint32_t capacity, uint32_t* count);
bool onnx_const_numbers(onnx_node_t* n, uint32_t i, double* values, uint32_t capacity, uint32_t* count);
// Input i, a 1-d or scalar integer tensor of static size, as dims: constants where known.
bool onnx_dims_input(onnx_node_t* n, uint32_t i, onnx_dim_t* dims, uint32_t capacity, uint32_t* count);

// Shared between themes.
// Activations by name, as recurrent and fused operators have them, with the parameters that are customary.
typedef struct onnx_activation_t {
  const char* name;
  uint32_t parameters;  // 0: none; 1: alpha; 2: alpha and beta
  double alpha, beta;
} onnx_activation_t;
bool onnx_find_activation(onnx_node_t* n, const char* name, onnx_activation_t* out);
ir_value_t* onnx_activate(onnx_node_t* n, const onnx_activation_t* fn, ir_value_t* x);
// The handler of another operator, on these inputs and with this operator's attributes; `out` has three values.
bool onnx_apply(onnx_node_t* n, const char* name, const onnx_value_t* in, uint32_t count, onnx_value_t* out);
ir_value_t* onnx_gather_elements(onnx_node_t* n, ir_value_t* x, ir_value_t* indices, int64_t axis);
const ir_type_t* onnx_element_type(ir_context_t* ctx, int64_t data_type);  // of tensor.c; NULL: none
const ir_type_t* onnx_any_element_type(ir_context_t* ctx, int64_t data_type);
const char* onnx_data_type_name(int64_t data_type);
ir_value_t* onnx_dim_tensor(onnx_node_t* n, onnx_dim_t dim, int32_t rank);  // tensor<1xi64> or tensor<i64>
ir_value_t* onnx_matmul(onnx_node_t* n, ir_value_t* a, ir_value_t* b, graph_contract_t signs,
                        const ir_type_t* accumulator);
// [n, spatial..., c] to [n, c, spatial...], and back.
ir_value_t* onnx_move_channels(onnx_node_t* n, ir_value_t* x, bool to_front);
ir_value_t* onnx_centered(onnx_node_t* n, uint32_t x, uint32_t zero, int64_t axis);
// saturate(round(x) + zero) as that element type; `zero` (in x's type and shape) may be NULL.
onnx_value_t onnx_saturate(onnx_node_t* n, onnx_value_t x, ir_value_t* zero, const ir_type_t* element);
ir_value_t* onnx_conv(onnx_node_t* n, ir_value_t* x, ir_value_t* w, const ir_type_t* accumulator);
ir_value_t* onnx_softmax(onnx_node_t* n, ir_value_t* x, int64_t axis);
ir_value_t* onnx_log_softmax(onnx_node_t* n, ir_value_t* x, int64_t axis);
ir_value_t* onnx_ordered(onnx_node_t* n, onnx_value_t x);

#endif  // IREE_C_IMPORT_ONNX_LOWER_H_
