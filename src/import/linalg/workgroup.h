// Functions of executables as kernels: what one workgroup does, over memory. The driver lowers their ops as all others
// and leaves those to workgroup_lower() that mean something else there. Scalars are what they are everywhere; a vector
// is its elements one by one; memory, and a tensor, which lies in memory of its own or is seen in that of a binding, is
// a buffer_t.
#ifndef IREE_C_IMPORT_LINALG_WORKGROUP_H_
#define IREE_C_IMPORT_LINALG_WORKGROUP_H_

#include "dialects/kernel.h"
#include "import/linalg/ops.h"

// The op's handler in a kernel, or the row's own where that is the same.
bool workgroup_lower(lower_op_t* n);
// Whether result i, memory or a vector, is what its type says: later ops rely on that. False after a diagnostic.
bool workgroup_check_result(lower_op_t* n, uint32_t i);
// The same of what a block's arguments stand for: numbers of their types.
bool workgroup_check_args(lower_op_t* n, const ir_block_t* block, const lower_value_t* args);

// Whether the function of an executable's export is a kernel by itself, whose workgroups run side by side: of memory it
// can be nothing else; of tensors it is where it asks which workgroup it is and a kernel can do what it does
// (workgroup_dispatch.c).
bool workgroup_is_kernel(lower_op_t* n, const ir_op_t* export, const ir_op_t* func);
// The body of a flow.dispatch.workgroups that is such a kernel, as the function of an executable of its own, by the
// name of its export; NULL where it is none.
const ir_attr_t* workgroup_outline(lower_op_t* n);

//===----------------------------------------------------------------------------------------------------------------===
// Memory (workgroup_memory.c)
//===----------------------------------------------------------------------------------------------------------------===

// Elements in flat memory, from `offset` on; all numbers are indices that count elements.
typedef struct buffer_t {
  ir_value_t* memory;  // memref<?xT> of kernel
  ir_value_t *offset, *sizes[GRAPH_MAX_RANK], *strides[GRAPH_MAX_RANK];
  uint32_t rank;
} buffer_t;
// False after a diagnostic when the operand is no memory and no tensor.
bool buffer_read(lower_op_t* n, uint32_t operand, buffer_t* out);
// The same of a value at hand.
bool buffer_of(lower_op_t* n, lower_value_t value, buffer_t* out);
lower_value_t buffer_value(lowering_t* l, const buffer_t* buffer);
// Makes it the op's result; true.
bool buffer_give(lower_op_t* n, const buffer_t* buffer);
// Operands from `first` on as indices into it. False after a diagnostic.
bool buffer_read_places(lower_op_t* n, const buffer_t* buffer, uint32_t first, ir_value_t** at);
// Sets the strides of elements that lie one behind the other.
void buffer_set_dense(ir_builder_t* b, buffer_t* buffer);
ir_value_t* buffer_load(ir_builder_t* b, const buffer_t* buffer, ir_value_t* const* at);
void buffer_store(ir_builder_t* b, const buffer_t* buffer, ir_value_t* const* at, ir_value_t* value);
// The workgroup's own memory of so many elements, which are numbers or have a bound. False after a diagnostic.
bool buffer_alloc(lower_op_t* n, const ir_type_t* element, ir_value_t* const* sizes, uint32_t rank, buffer_t* out);
// The same of a tensor's type, whose open sizes are operands from `first` on.
bool buffer_alloc_type(lower_op_t* n, const ir_type_t* type, uint32_t first, buffer_t* out);
void buffer_copy(lowering_t* l, const buffer_t* from, const buffer_t* to);
// The workgroup's own memory with the elements of another. False after a diagnostic.
bool buffer_clone(lower_op_t* n, const buffer_t* from, buffer_t* out);
// From the offsets of the op's slice on, with its sizes and strides, as many dimensions as `type` has; lists' numbers
// are operands from `first` on.
bool buffer_slice(lower_op_t* n, const buffer_t* from, uint32_t first, const ir_type_t* type, buffer_t* out);
// The same elements in the shape of `type`, whose open sizes are the dimensions that they are made of.
bool buffer_reshape(lower_op_t* n, const buffer_t* from, const ir_type_t* type, buffer_t* out);

// Ops that memory and tensors have alike: an element, a size.
bool buffer_lower_load(lower_op_t* n);
bool buffer_lower_dim(lower_op_t* n);
bool workgroup_lower_memref(lower_op_t* n);
bool workgroup_lower_tensor(lower_op_t* n);  // workgroup_tensor.c

//===----------------------------------------------------------------------------------------------------------------===
// Loops (workgroup_loops.c)
//===----------------------------------------------------------------------------------------------------------------===

// On a GPU threads share a workgroup's work: all of them run what is between, and loops of a nest are shared out among
// them. What is written outside of one, the first writes. Barriers are around both, so that all see the same memory and
// take the same way.
typedef struct once_t {
  bool guarded;
  kernel_branch_t branch;
} once_t;
once_t once_begin(lowering_t* l);
void once_end(lowering_t* l, once_t* once);

// Loops from 0 to each size, one in the other; `at` has their numbers between begin and end.
typedef struct nest_t {
  kernel_loop_t loops[2 * GRAPH_MAX_RANK];
  ir_value_t* at[2 * GRAPH_MAX_RANK];
  uint32_t count;
  once_t once;
} nest_t;
void nest_begin(lowering_t* l, ir_value_t* const* sizes, uint32_t count, nest_t* nest);
void nest_end(lowering_t* l, nest_t* nest);

// Ops of scf: for, forall, if and while.
bool workgroup_lower_scf(lower_op_t* n);
// Ops of linalg (workgroup_linalg.c).
bool workgroup_lower_linalg(lower_op_t* n);

//===----------------------------------------------------------------------------------------------------------------===
// Vectors (workgroup_vector.c)
//===----------------------------------------------------------------------------------------------------------------===

enum { WORKGROUP_MAX_LANES = 4096 };
bool workgroup_lower_vector(lower_op_t* n);
// arith and math on vectors; a constant.
bool workgroup_lower_lanes(lower_op_t* n);
bool workgroup_lower_constant(lower_op_t* n);
// How many elements the type has; 0 after a diagnostic.
uint32_t workgroup_lanes(lower_op_t* n, const ir_type_t* type);
lower_value_t workgroup_vector(lower_value_t* lanes, uint32_t count);
// Scalars and vectors as single values, and back.
bool workgroup_flatten(lower_op_t* n, const ir_type_t* type, lower_value_t value, lower_list_t* out);
lower_value_t workgroup_unflatten(lower_op_t* n, const ir_type_t* type, ir_value_t* const** next);
// How a word of vector.kind combines; false after a diagnostic.
bool workgroup_combine(lower_op_t* n, const char* kind, ir_value_t* x, ir_value_t* y, ir_value_t** out);

#endif  // IREE_C_IMPORT_LINALG_WORKGROUP_H_
