// What files of the linalg, tensor, arith and scf lowerings share.
#ifndef IREE_C_IMPORT_LINALG_OPS_H_
#define IREE_C_IMPORT_LINALG_OPS_H_

#include "import/lowering.h"

// x / y, rounded down or up.
ir_value_t* arith_rounded_division(lower_op_t* n, ir_value_t* x, ir_value_t* y, bool up);
// Upper half of a product.
ir_value_t* arith_high_product(lower_op_t* n, ir_value_t* x, ir_value_t* y, bool is_unsigned);

//===----------------------------------------------------------------------------------------------------------------===
// Shapes (shape.c)
//===----------------------------------------------------------------------------------------------------------------===

// A list of numbers and index values, as [%a, 1, ...] reads.
typedef struct mixed_t {
  int64_t values[GRAPH_MAX_RANK];  // IR_DYNAMIC: in v
  ir_value_t* v[GRAPH_MAX_RANK];
  uint32_t count;
} mixed_t;
// Takes the dynamic ones from the operands at *operand on.
bool mixed_read(lower_op_t* n, const char* name, uint32_t* operand, mixed_t* out);
// The number or the value as an index.
ir_value_t* mixed_index(lower_op_t* n, const mixed_t* list, uint32_t i);
// Run-time sizes of `type`'s '?' dims.
uint32_t mixed_dims(lower_op_t* n, const mixed_t* sizes, const ir_type_t* type, ir_value_t** out);

//===----------------------------------------------------------------------------------------------------------------===
// Slices at places along some dimensions, for gathers and scatters (gather.c)
//===----------------------------------------------------------------------------------------------------------------===

typedef struct places_t {
  int64_t map[GRAPH_MAX_RANK], sorted[GRAPH_MAX_RANK];  // those dimensions: as coordinates come, and in order
  int64_t window[GRAPH_MAX_RANK];                       // the slices' dimensions, behind the batch
  uint32_t depth, window_count;                         // of map and sorted, of window
  int64_t vector_dim;                                   // of the indices: the coordinates; all before it are the batch
  bool whole;                                           // slices have all dimensions of what they are taken from
} places_t;
// The six attributes that say so; how many.
uint32_t places_attrs(lower_op_t* n, const places_t* p, bool scatter, ir_named_attr_t* attrs);

//===----------------------------------------------------------------------------------------------------------------===
// Loop nests over whole tensors (loops.c)
//===----------------------------------------------------------------------------------------------------------------===

// One result of an indexing map: sum of up to two loops times factors, plus a constant.
typedef struct loop_term_t {
  int32_t loop[2];  // -1: none
  int64_t factor[2];
  int64_t constant;
} loop_term_t;
typedef struct loop_map_t {
  loop_term_t terms[GRAPH_MAX_RANK];
  uint32_t count;
  const ir_affine_map_t* affine;  // as written
  bool is_linear;                 // every result is such a sum
  bool is_projected;              // every result is a loop of its own (each at most once) or a constant
} loop_map_t;

enum { LOOPS_MAX_OPERANDS = 32 };
// A linalg op as loops: what its indexing maps and iterators say.
struct lower_loops_t {
  uint32_t rank, ins, outs;
  bool reduction[GRAPH_MAX_RANK];
  loop_map_t maps[LOOPS_MAX_OPERANDS];
  const ir_type_t* type;  // tensor<sizes x index>
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  ir_value_t* index[GRAPH_MAX_RANK];  // in a body on numbers: the loops' numbers, where they are used
};
typedef struct lower_loops_t loops_t;

void loops_map_from_affine(const ir_affine_map_t* map, loop_map_t* out);
// Result i is loop loops[i], of `rank` loops.
const ir_affine_map_t* loops_affine_from_list(ir_context_t* ctx, const int64_t* loops, uint32_t count, uint32_t rank);
void loops_map_from_list(ir_context_t* ctx, const int64_t* loops, uint32_t count, uint32_t rank, loop_map_t* out);
bool loops_read_iterator(lower_op_t* n, const ir_attr_t* attr, bool* reduction);
// Maps and iterators of an op that has them as attributes. False after a diagnostic.
bool loops_read(lower_op_t* n, loops_t* l);
// Number of ins; outs follow.
bool linalg_read_segments(lower_op_t* n, uint32_t* ins, uint32_t* outs);
// Finds the loops' sizes. False after a diagnostic.
bool loops_find_sizes(lower_op_t* n, loops_t* l);
// The operand (at its map) with the shape of the loops.
ir_value_t* loops_spread(lower_op_t* n, const loops_t* l, uint32_t operand);
// A value over all loops (or fewer: repeated) as result `out` has it.
ir_value_t* loops_collect(lower_op_t* n, const loops_t* l, uint32_t out, ir_value_t* value);
// Runs a block of scalar ops on whole tensors. NULL args of the block's unused arguments are allowed.
bool loops_run(lower_op_t* n, const loops_t* l, ir_block_t* block, lower_value_t* args, lower_value_t** results,
               uint32_t* count);
// Everything a linalg op with a region is: elementwise, reduction, or as it is.
bool loops_lower(lower_op_t* n, loops_t* l, ir_block_t* block);

//===----------------------------------------------------------------------------------------------------------------===
// Contractions, convolutions, pooling by the roles of their dimensions (roles.c). A role is a letter per dimension:
// operands of a contraction have the same letter where they share a loop; convolutions use n (batch), g (group),
// c (reduced channel), o (output channel), digits (spatial).
//===----------------------------------------------------------------------------------------------------------------===

// The loops of a map's results as letters, at most GRAPH_MAX_RANK and a zero behind them.
enum { LOOPS_MAX_ROLES = GRAPH_MAX_RANK + 1 };
void roles_from_map(const loop_map_t* map, char* out);
// v, of the loops `from`, in the shape of `like`, of the loops `to`; NULL where these lack one of the former.
ir_value_t* roles_spread(lower_op_t* n, ir_value_t* v, const char* from, ir_value_t* like, const char* to);

typedef struct contract_roles_t {
  const char *lhs, *rhs, *result;
  bool unsigned_lhs, unsigned_rhs;
} contract_roles_t;
// init + lhs * rhs; the result's element type is init's.
ir_value_t* roles_contract(lower_op_t* n, ir_value_t* lhs, ir_value_t* rhs, ir_value_t* init,
                           const contract_roles_t* roles);

typedef struct conv_roles_t {
  const char *x, *w, *y;
  int64_t strides[GRAPH_MAX_SPATIAL], dilations[GRAPH_MAX_SPATIAL];
} conv_roles_t;
ir_value_t* roles_conv(lower_op_t* n, ir_value_t* x, ir_value_t* w, ir_value_t* init, const conv_roles_t* roles);
// init combined with the windows of x; `sizes` and the steps are by digit.
ir_value_t* roles_pool(lower_op_t* n, ir_value_t* x, ir_value_t* init, const conv_roles_t* roles, const int64_t* sizes,
                       const char* kind);

// linalg.generic as one of these; *out NULL when it is none. False after a diagnostic.
bool roles_recognise(lower_op_t* n, const loops_t* l, ir_block_t* block, ir_value_t** out);

//===----------------------------------------------------------------------------------------------------------------===
// Reductions
//===----------------------------------------------------------------------------------------------------------------===

// The kind of graph.reduce that an op of arith combines by, or NULL.
const char* arith_reduction_kind(const ir_op_t* op);

#define LINALG_HANDLERS(X) \
  X(generic)               \
  X(map)                   \
  X(reduce)                \
  X(transpose)             \
  X(broadcast)             \
  X(softmax)               \
  X(pack)                  \
  X(unpack)                \
  X(index)                 \
  X(contract)              \
  X(conv)                  \
  X(conv_quantized)        \
  X(pool)                  \
  X(matmul)                \
  X(matmul_quantized)      \
  X(elementwise)           \
  X(fill)
#define X(name) bool linalg_lower_##name(lower_op_t* n);
LINALG_HANDLERS(X)
#undef X
// Of the dialect hal outside of executables (devices.c).
bool devices_lower_count(lower_op_t* n);
bool devices_lower_get(lower_op_t* n);
bool devices_lower_resolve(lower_op_t* n);
bool devices_lower_view(lower_op_t* n);
// Parameters by names that are put together (parameter.c), and whether the block has to do with such names.
bool parameter_lower_load(lower_op_t* n);
bool parameter_lower_constant(lower_op_t* n);  // #flow.parameter.named, or elements
bool string_lower_format(lower_op_t* n);
bool string_lower_itoa(lower_op_t* n);
bool parameter_is_named_in(const ir_block_t* block);
// A constant that folding does not see through (func.c).
bool lower_unfoldable(lower_op_t* n);

// tensor.extract in a body that runs on whole tensors (gather.c).
ir_value_t* loops_gather(lower_op_t* n, const loops_t* l, ir_value_t* tensor, ir_value_t* const* indices);

//===----------------------------------------------------------------------------------------------------------------===
// Slices as tensor has them (tensor.c), for tensors of dispatches (dispatch.c)
//===----------------------------------------------------------------------------------------------------------------===

bool tensor_lower_extract_slice(lower_op_t* n);
bool tensor_lower_parallel_insert_slice(lower_op_t* n);
bool dispatch_lower_workgroups(lower_op_t* n);
// Whether the body asks which workgroup it is.
bool dispatch_asks(const ir_block_t* block);
bool dispatch_lower_dispatch(lower_op_t* n);
bool dispatch_lower_view(lower_op_t* n);
bool dispatch_lower_load(lower_op_t* n);
bool dispatch_lower_store(lower_op_t* n);
bool dispatch_lower_same(lower_op_t* n);
// A dispatch's operands; false after a diagnostic.
typedef struct dispatch_t {
  uint32_t first, argument_count;  // operands
  uint32_t sizes;                  // first operand that is a size of a result
  int64_t tied[GRAPH_MAX_TIED];    // argument, or -1
} dispatch_t;
bool dispatch_read(lower_op_t* n, dispatch_t* d);
// Dispatches of code that the program brings (extern.c). The executable that is named, when it has such code, or NULL.
ir_op_t* extern_find(lower_op_t* n, const ir_attr_t* entry);
// The export of the variant that is named, or of the first that has it; NULL without one.
ir_op_t* extern_find_export(const ir_op_t* executable, const ir_attr_t* entry);
bool extern_lower_dispatch(lower_op_t* n, ir_op_t* executable, const ir_attr_t* entry);
// A dispatch of a body that is a kernel by itself: its function is the one that `entry` names; `holder` says how many
// workgroups there are.
bool extern_lower_body(lower_op_t* n, const dispatch_t* d, const ir_op_t* holder, uint32_t region, ir_op_t* executable,
                       const ir_attr_t* entry);
// The three numbers of workgroups that the region computes from the first `workload` operands; it may have the device
// before them. Without that region they are the workload.
bool extern_lower_count(lower_op_t* n, const ir_op_t* holder, uint32_t region, uint32_t workload, ir_value_t** out);
// A call of @executable::@export, whose results are the op's.
typedef struct extern_call_t {
  const ir_attr_t* callee;
  ir_value_t* const* arguments;  // tensors and numbers
  uint32_t argument_count;
  ir_value_t* const* counts;  // three, of workgroups
  ir_value_t* const* sizes;   // of the results' '?'
  uint32_t size_count;
  const int64_t* tied;  // for each result the argument whose memory it is, or -1
} extern_call_t;
bool extern_build(lower_op_t* n, const extern_call_t* call);
// Regions with microkernels, iree_codegen.ukernel.generic, and one by itself (ukernel.c).
bool ukernel_is_in(const ir_block_t* block);
bool ukernel_lower_region(lower_op_t* n);
bool ukernel_lower_one(lower_op_t* n);
bool dispatch_lower_id(lower_op_t* n);
bool dispatch_lower_count(lower_op_t* n);
bool dispatch_lower_size(lower_op_t* n);
bool dispatch_lower_any_count(lower_op_t* n);
// Of hal.interface.binding.subspan and constant.load in bodies.
bool dispatch_lower_binding(lower_op_t* n);
bool dispatch_lower_number(lower_op_t* n, ir_value_t** word);
// Which tensors of the dispatch at work the ops in an op store, at most GRAPH_MAX_TIED; how many.
uint32_t dispatch_stored_in(const lowering_t* l, const ir_op_t* op, ir_value_t** out);
// Of ops that ask for a place in a dispatch: see lower_refused.
#define DISPATCH_NO_PLACE "it is in no dispatch that says how many workgroups there are"

//===----------------------------------------------------------------------------------------------------------------===
// Ops of iree_linalg_ext beside extended.c
//===----------------------------------------------------------------------------------------------------------------===

typedef struct ext_sides_t {
  uint32_t ins, outs;
} ext_sides_t;
// Counts of operands; false after a diagnostic where there are others than these (`outs` 0: any).
bool ext_read_sides(lower_op_t* n, uint32_t least, uint32_t most, uint32_t outs, ext_sides_t* s);
// A body of one block with so many arguments and one result.
bool ext_check_body(lower_op_t* n, uint32_t args);
// What the op's own body gives for these; numbers are tensors there. NULL after a diagnostic.
ir_value_t* ext_run_body(lower_op_t* n, ir_value_t* const* values, uint32_t count);

bool ext_attention(lower_op_t* n);  // attention.c
bool ext_online_attention(lower_op_t* n);
bool ext_exp_reduction(lower_op_t* n);   // exp_reduction.c
bool ext_winograd_input(lower_op_t* n);  // winograd.c
bool ext_winograd_filter(lower_op_t* n);
bool ext_winograd_output(lower_op_t* n);
bool ext_map_load(lower_op_t* n);  // mapped.c
bool ext_map_store(lower_op_t* n);
bool ext_im2col(lower_op_t* n);

#endif  // IREE_C_IMPORT_LINALG_OPS_H_
