// Kernels for GPUs that the target tests compile and, where there is a device, run.
#ifndef IREE_C_TESTS_TARGET_GPU_KERNELS_H_
#define IREE_C_TESTS_TARGET_GPU_KERNELS_H_

#include "base/small_float.h"
#include "harness.h"

static inline ir_value_t* gpu_op_value(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t count,
                                       const ir_type_t* type, const char* name, const ir_attr_t* attr) {
  ir_named_attr_t named = {name ? ir_intern_cstr(b->ctx, name) : NULL, attr};
  ir_op_state_t state = {.info = ir_context_op(b->ctx, code),
                         .operands = operands,
                         .operand_count = count,
                         .result_types = &type,
                         .result_count = type ? 1 : 0,
                         .attrs = &named,
                         .attr_count = name ? 1 : 0};
  ir_op_t* op = ir_build(b, &state);
  return type ? ir_result(op, 0) : NULL;
}

static inline void gpu_size(harness_t* h, ir_op_t* func, int64_t threads, int64_t subgroup) {
  ir_op_set_attr(h->ctx, func, "workgroup_size", ir_attr_i64_array(h->ctx, (int64_t[]){threads, 1, 1}, 3));
  ir_op_set_attr(h->ctx, func, "subgroup_size", ir_attr_i64(h->ctx, subgroup));
}

// out[i] = tanh(in[i]) for i = the thread's place in the grid, if below n
static inline void gpu_add_elementwise(harness_t* h, const target_t* target) {
  const ir_type_t* f32 = ir_type_float(h->ctx, IR_F32);
  ir_builder_t b;
  ir_op_t* func = harness_func(h, (const ir_type_t*[]){f32, f32}, 2, &b);
  gpu_size(h, func, 128, target->device.subgroup_size);
  ir_value_t* group = kernel_id(&b, KERNEL_WORKGROUP_ID, 0);
  ir_value_t* i = kernel_add(&b, kernel_mul_const(&b, group, 128), kernel_id(&b, KERNEL_THREAD_ID, 0));
  ir_value_t* inside = kernel_binary(&b, SCALAR_lt, i, kernel_func_arg(func, 2));
  kernel_branch_t branch = kernel_if_begin(&b, inside, NULL, 0);
  ir_value_t* x = kernel_load(&b, kernel_func_arg(func, 0), i, 1);
  kernel_store(&b, kernel_unary(&b, SCALAR_tanh, x), kernel_func_arg(func, 1), i);
  kernel_if_end(&b, &branch, NULL, 0);
  kernel_func_end(&b);
}

// Sum over a workgroup, through asynchronous copies, workgroup memory, a barrier, shuffles and an atomic.
static inline void gpu_add_cooperative(harness_t* h, const target_t* target) {
  static const char* const modes[] = {"index", "xor", "up", "down"};
  const ir_type_t *f32 = ir_type_float(h->ctx, IR_F32), *i32 = ir_type_int(h->ctx, 32);
  ir_builder_t b;
  ir_op_t* func = harness_func(h, (const ir_type_t*[]){f32, f32}, 2, &b);
  gpu_size(h, func, 128, target->device.subgroup_size);
  ir_value_t *thread = kernel_id(&b, KERNEL_THREAD_ID, 0), *lane = kernel_id(&b, KERNEL_SUBGROUP_LANE, 0);
  ir_value_t* shared = kernel_alloc(&b, f32, 128, IR_SPACE_WORKGROUP);
  ir_value_t* copy[4] = {kernel_func_arg(func, 0), thread, shared, thread};
  gpu_op_value(&b, KERNEL_ASYNC_COPY, copy, 4, NULL, "bytes", ir_attr_i64(h->ctx, 4));
  gpu_op_value(&b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL, NULL, NULL);
  gpu_op_value(&b, KERNEL_ASYNC_WAIT, NULL, 0, NULL, "pending", ir_attr_i64(h->ctx, 0));
  gpu_op_value(&b, KERNEL_BARRIER, NULL, 0, NULL, NULL, NULL);
  ir_value_t* x = kernel_load(&b, shared, thread, 1);
  for (int i = 0; i < 4; ++i) {
    ir_value_t* in[2] = {x, kernel_integer(&b, i32, 1 << i)};
    ir_value_t* other =
        gpu_op_value(&b, KERNEL_SUBGROUP_SHUFFLE, in, 2, f32, "mode", ir_attr_cstring(h->ctx, modes[i]));
    x = kernel_add(&b, x, other);
  }
  ir_value_t* first = kernel_binary(&b, SCALAR_eq, lane, kernel_index(&b, 0));
  kernel_branch_t branch = kernel_if_begin(&b, first, NULL, 0);
  ir_value_t* in[3] = {x, kernel_func_arg(func, 1), kernel_id(&b, KERNEL_WORKGROUP_COUNT, 1)};
  gpu_op_value(&b, KERNEL_ATOMIC, in, 3, f32, "kind", ir_attr_cstring(h->ctx, "add"));
  kernel_if_end(&b, &branch, NULL, 0);
  kernel_func_end(&b);
}

static inline const ir_type_t* gpu_element_type(ir_context_t* ctx, const char* name) {
  for (int i = 0; i < IR_FLOAT_COUNT; ++i) {
    if (strcmp(name, float_formats[i].text)) continue;
    return ir_type_float(ctx, i == IR_TF32 ? IR_F32 : (ir_float_kind_t)i);
  }
  return ir_type_int(ctx, (uint32_t)atoi(name + 1));
}

// One matrix instruction on fragments that each lane loads from its own place.
static inline void gpu_add_matrix(harness_t* h, const target_t* target, const device_mma_t* row) {
  const ir_type_t *a_type = gpu_element_type(h->ctx, row->a_type), *c_type = gpu_element_type(h->ctx, row->c_type);
  ir_builder_t b;
  ir_op_t* func = harness_func(h, (const ir_type_t*[]){a_type, a_type, c_type}, 3, &b);
  gpu_size(h, func, target->device.subgroup_size, target->device.subgroup_size);
  ir_value_t* lane = kernel_id(&b, KERNEL_SUBGROUP_LANE, 0);
  int64_t lanes[3] = {row->a_lanes, row->b_lanes, row->c_lanes};
  ir_value_t* in[3];
  for (uint32_t i = 0; i < 3; ++i) {
    in[i] = kernel_load(&b, kernel_func_arg(func, i), kernel_mul_const(&b, lane, lanes[i]), lanes[i]);
  }
  ir_value_t* d =
      gpu_op_value(&b, KERNEL_MMA, in, 3, in[2]->type, "instruction", ir_attr_cstring(h->ctx, row->instruction));
  kernel_store(&b, d, kernel_func_arg(func, 2), kernel_mul_const(&b, lane, row->c_lanes));
  kernel_func_end(&b);
}

// What one wave adds to the result of the cooperative kernel.
static inline float gpu_cooperative_result(const float* in, int lanes) {
  float x[64], next[64];
  for (int i = 0; i < lanes; ++i) x[i] = in[i];
  for (int mode = 0; mode < 4; ++mode) {
    int step = 1 << mode;
    for (int i = 0; i < lanes; ++i) {
      const int from[4] = {step, i ^ step, i - step < 0 ? i : i - step, i + step >= lanes ? i : i + step};
      next[i] = x[i] + x[from[mode]];
    }
    memcpy(x, next, sizeof(x));
  }
  return x[0];
}

#endif  // IREE_C_TESTS_TARGET_GPU_KERNELS_H_
