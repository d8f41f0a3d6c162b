// The kernel dialect: opcodes and short builders. kernel.def documents each op.
#ifndef IREE_C_DIALECTS_KERNEL_H_
#define IREE_C_DIALECTS_KERNEL_H_

#include "dialects/scalar.h"
#include "ir/ir.h"

enum {
  KERNEL_FIRST_ = IR_CODE(IR_DIALECT_KERNEL, 0) - 1,
#define SCALAR(name, ...) KERNEL_##name,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, ...) KERNEL_##NAME,
#include "dialects/kernel.def"
#undef OP
  KERNEL_END_
};

// A tile: what load_tile gives.
enum { KERNEL_TILE_ROWS = 16, KERNEL_TILE_ROW_BYTES = 64 };

extern const ir_dialect_t kernel_dialect;
void kernel_register(ir_context_t* ctx);

static inline int kernel_scalar_fn(const ir_op_t* op) {
  uint32_t row = op->info->code - IR_CODE(IR_DIALECT_KERNEL, 0);
  return row < SCALAR_COUNT ? (int)row : -1;
}

// Builders. Scalar functions fold constants and the trivial (x + 0, x * 1, x * 0 on integers), so that index arithmetic
// stays short; `kernel_lanes` is 1 for scalars.
ir_value_t* kernel_index(ir_builder_t* b, int64_t value);
ir_value_t* kernel_number(ir_builder_t* b, const ir_type_t* type, double value);    // splat for vectors
ir_value_t* kernel_integer(ir_builder_t* b, const ir_type_t* type, int64_t value);  // splat for vectors
bool kernel_constant_index(const ir_value_t* value, int64_t* out);
ir_value_t* kernel_unary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x);
ir_value_t* kernel_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
ir_value_t* kernel_ternary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y, ir_value_t* z);
ir_value_t* kernel_cast(ir_builder_t* b, scalar_fn_t cast, ir_value_t* x, const ir_type_t* scalar);
ir_value_t* kernel_add(ir_builder_t* b, ir_value_t* x, ir_value_t* y);
ir_value_t* kernel_mul(ir_builder_t* b, ir_value_t* x, ir_value_t* y);
// x y + sum, for floats in one instruction.
ir_value_t* kernel_multiply_add(ir_builder_t* b, ir_value_t* x, ir_value_t* y, ir_value_t* sum);
ir_value_t* kernel_add_const(ir_builder_t* b, ir_value_t* x, int64_t y);
ir_value_t* kernel_mul_const(ir_builder_t* b, ir_value_t* x, int64_t y);
ir_value_t* kernel_splat(ir_builder_t* b, ir_value_t* x, int64_t lanes);  // lanes 1: x itself
// `value` instead of a lane; of a scalar, itself.
ir_value_t* kernel_insert(ir_builder_t* b, ir_value_t* into, ir_value_t* value, int64_t index);
ir_value_t* kernel_extract(ir_builder_t* b, ir_value_t* v, int64_t index);
ir_value_t* kernel_shuffle(ir_builder_t* b, ir_value_t* x, ir_value_t* y, const int64_t* mask, uint32_t count);
ir_value_t* kernel_reduce(ir_builder_t* b, ir_value_t* v, const char* kind);  // scalars: themselves
int64_t kernel_lanes(const ir_value_t* value);
const ir_type_t* kernel_vector_type(ir_context_t* ctx, const ir_type_t* scalar, int64_t lanes);  // lanes 1: the scalar
ir_value_t* kernel_load(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, int64_t lanes);
ir_op_t* kernel_store(ir_builder_t* b, ir_value_t* value, ir_value_t* memory, ir_value_t* offset);
// What lies there comes near: `locality` 3 the first level of caches, 1 the last.
void kernel_prefetch(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, int64_t locality, bool writes);
ir_value_t* kernel_load_masked(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, ir_value_t* mask,
                               ir_value_t* other);
ir_op_t* kernel_store_masked(ir_builder_t* b, ir_value_t* value, ir_value_t* memory, ir_value_t* offset,
                             ir_value_t* mask);
ir_value_t* kernel_gather(ir_builder_t* b, ir_value_t* memory, ir_value_t* offsets, ir_value_t* mask,
                          ir_value_t* other);  // mask and other may be NULL
ir_value_t* kernel_load_tile(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, ir_value_t* stride);
ir_op_t* kernel_store_tile(ir_builder_t* b, ir_value_t* tile, ir_value_t* memory, ir_value_t* offset,
                           ir_value_t* stride);
ir_value_t* kernel_alloc(ir_builder_t* b, const ir_type_t* element, int64_t count, ir_space_t space);
ir_value_t* kernel_id(ir_builder_t* b, uint32_t code, int64_t axis);  // KERNEL_WORKGROUP_ID, ...

// Structured control flow: begin moves the builder into the body, end yields and moves it behind.
typedef struct kernel_loop_t {
  ir_op_t* op;
  ir_value_t* index;   // induction variable
  ir_value_t** iters;  // body's iteration arguments
  ir_builder_t outside;
} kernel_loop_t;
kernel_loop_t kernel_for_begin(ir_builder_t* b, ir_value_t* lower, ir_value_t* upper, ir_value_t* step,
                               ir_value_t* const* init, uint32_t init_count);
void kernel_for_end(ir_builder_t* b, kernel_loop_t* loop, ir_value_t* const* next, uint32_t count);
// Results of a finished loop or if.
static inline ir_value_t* kernel_loop_result(const kernel_loop_t* loop, uint32_t i) { return ir_result(loop->op, i); }

typedef struct kernel_branch_t {
  ir_op_t* op;
  ir_builder_t outside;
} kernel_branch_t;
kernel_branch_t kernel_if_begin(ir_builder_t* b, ir_value_t* condition, const ir_type_t* const* types, uint32_t count);
void kernel_if_else(ir_builder_t* b, kernel_branch_t* branch, ir_value_t* const* values, uint32_t count);
void kernel_if_end(ir_builder_t* b, kernel_branch_t* branch, ir_value_t* const* values, uint32_t count);

// While `condition` holds; both regions get the same values (kernel.def).
typedef struct kernel_while_t {
  ir_op_t* op;
  ir_value_t** values;  // of the region that is built
  ir_builder_t outside;
} kernel_while_t;
kernel_while_t kernel_while_begin(ir_builder_t* b, ir_value_t* const* init, uint32_t count);
void kernel_while_do(ir_builder_t* b, kernel_while_t* loop, ir_value_t* condition);
void kernel_while_end(ir_builder_t* b, kernel_while_t* loop, ir_value_t* const* next, uint32_t count);

// An empty kernel.func in `block`; the builder is at its start. Binding types are memref<?xT>.
typedef struct kernel_signature_t {
  const char* name;
  const ir_type_t* const* bindings;  // element types
  uint32_t binding_count;
  const ir_type_t* const* constants;
  uint32_t constant_count;
  int64_t workgroup_size[3];
  int64_t subgroup_size;  // 0: none
} kernel_signature_t;
ir_op_t* kernel_func_begin(ir_context_t* ctx, ir_block_t* block, const ir_loc_t* loc, const kernel_signature_t* sig,
                           ir_builder_t* out_builder);
void kernel_func_end(ir_builder_t* b);
ir_value_t* kernel_func_arg(const ir_op_t* func, uint32_t i);

#endif  // IREE_C_DIALECTS_KERNEL_H_
