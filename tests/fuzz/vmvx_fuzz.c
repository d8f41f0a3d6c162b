// vmvx executables: no bytes may crash the verifier, and what it accepts reads and writes nothing but its buffers.
// Kernels with loops are not run, since they may not end.
//
// An input that begins with 'P' is a list of patches (position, byte: 3 bytes each) to an executable that is made here.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/kernel.h"
#include "hal/local/vmvx.h"
#include "limited_allocator.h"
#include "target/vmvx/encode.h"

// Loads, stores, masks, gathers, a branch, private memory, reductions.
static ir_op_t* build_kernel(ir_context_t* ctx) {
  const ir_type_t *f32 = ir_type_float(ctx, IR_F32), *types[] = {f32, f32}, *index = ir_type_index(ctx);
  kernel_signature_t sig = {.name = "k",
                            .bindings = types,
                            .binding_count = 2,
                            .constants = &index,
                            .constant_count = 1,
                            .workgroup_size = {1, 1, 1}};
  ir_builder_t builder, *b = &builder;
  ir_op_t* func = kernel_func_begin(ctx, NULL, ir_loc_unknown(ctx), &sig, b);
  ir_value_t *in = kernel_func_arg(func, 0), *out = kernel_func_arg(func, 1), *at = kernel_func_arg(func, 2);
  ir_value_t *group = kernel_id(b, KERNEL_WORKGROUP_ID, 0), *zero = kernel_index(b, 0);
  ir_value_t* scratch = kernel_alloc(b, f32, 16, IR_SPACE_PRIVATE);
  ir_value_t* x = kernel_load(b, in, kernel_add(b, at, group), 8);
  kernel_store(b, kernel_unary(b, SCALAR_exp, x), scratch, zero);
  ir_value_t* places = kernel_cast(b, SCALAR_cast, x, ir_type_int(ctx, 32));
  ir_value_t* mask = kernel_binary(b, SCALAR_lt, x, kernel_number(b, x->type, 3));
  ir_value_t* y = kernel_gather(b, scratch, places, mask, x);
  const int64_t order[] = {7, 9, 1, 3, 15, 0, 2, 4};
  y = kernel_shuffle(b, x, y, order, 8);
  kernel_branch_t branch = kernel_if_begin(b, kernel_extract(b, mask, 2), &f32, 1);
  ir_value_t* sum = kernel_reduce(b, y, "add");
  kernel_if_else(b, &branch, &sum, 1);
  ir_value_t* most = kernel_reduce(b, y, "max");
  kernel_if_end(b, &branch, &most, 1);
  kernel_store_masked(b, kernel_splat(b, ir_result(branch.op, 0), 8), out, at, mask);
  kernel_func_end(b);
  return func;
}

static vmvx_code_t make_base(void) {
  ir_context_t* ctx = ir_context_create();
  kernel_register(ctx);
  const ir_op_t* func = build_kernel(ctx);
  vmvx_code_t code;
  text_t error = {0};
  if (!vmvx_encode(&func, 1, &code, &error)) abort();
  ir_context_destroy(ctx);
  return code;
}

static bool has_loop(const vmvx_function_t* f) {
  for (uint32_t i = 0; i < f->instr_count; ++i) {
    if (f->instrs[i].op == VMVX_OP_next || f->instrs[i].op == VMVX_OP_while_next) return true;
  }
  return false;
}

static void run(const vmvx_function_t* f) {
  enum { ELEMENTS = 16, BINDINGS = 4, CONSTANTS = 16 };
  size_t size = local_vmvx_memory_size(f);
  if (has_loop(f) || size > 1 << 20) return;
  float* buffers[BINDINGS];
  void* pointers[BINDINGS];
  size_t lengths[BINDINGS];
  uint32_t constants[CONSTANTS] = {1};
  for (int i = 0; i < BINDINGS; ++i) {
    pointers[i] = buffers[i] = calloc(ELEMENTS, sizeof(float));
    lengths[i] = ELEMENTS * sizeof(float);
    for (int k = 0; k < ELEMENTS; ++k) buffers[i][k] = (float)(k - 3);
  }
  iree_hal_executable_dispatch_state_v0_t dispatch = {.workgroup_count_x = 2,
                                                      .workgroup_count_y = 1,
                                                      .workgroup_count_z = 1,
                                                      .constant_count = CONSTANTS,
                                                      .constants = constants,
                                                      .binding_count = BINDINGS,
                                                      .binding_ptrs = pointers,
                                                      .binding_lengths = lengths};
  iree_hal_executable_workgroup_state_v0_t workgroup = {.workgroup_id_x = 1,
                                                        .local_memory = aligned_alloc(64, (size + 127) & ~(size_t)63),
                                                        .local_memory_size = (uint32_t)size};
  memset(workgroup.local_memory, 0, size);
  local_vmvx_environment_t environment = {.function = f};
  local_vmvx_run(&environment.base, &dispatch, &workgroup);
  free(workgroup.local_memory);
  for (int i = 0; i < BINDINGS; ++i) free(buffers[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static vmvx_code_t base;
  if (!base.data) base = make_base();
  bool patches = size && data[0] == 'P';
  size_t length = patches ? base.size : size;
  uint8_t* file = aligned_alloc(64, (length + 127) & ~(size_t)63);
  memcpy(file, patches ? base.data : data, length);
  for (size_t i = 1; patches && i + 3 <= size; i += 3)
    file[(data[i] | (size_t)data[i + 1] << 8) % length] = data[i + 2];
  vmvx_program_t program;
  size_t used = 0;
  iree_status_t status =
      vmvx_program_open(iree_make_const_byte_span(file, length), false, limited_allocator(&used), &program);
  for (uint32_t i = 0; iree_status_is_ok(status) && i < program.function_count; ++i) run(&program.functions[i]);
  if (iree_status_is_ok(status)) vmvx_program_close(&program);
  iree_status_free(status);
  free(file);
  return 0;
}
