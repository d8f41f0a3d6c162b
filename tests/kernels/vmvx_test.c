// vmvx: random programs through the file and the runtime's interpreter; bounds; damaged files.
#include "hal/local/vmvx.h"

#include "random_program.h"
#include "target/vmvx/encode.h"

typedef struct loaded_t {
  vmvx_code_t code;
  vmvx_program_t program;
} loaded_t;

static void load(const fixture_t* f, loaded_t* out) {
  text_t error = {0};
  const ir_op_t* func = f->func;
  assert_true(ir_verify(f->ctx, f->func));
  assert_true(vmvx_encode(&func, 1, &out->code, &error));
  IREE_CHECK_OK(vmvx_program_open(iree_make_const_byte_span(out->code.data, out->code.size), false,
                                  iree_allocator_system(), &out->program));
}
static void unload(loaded_t* l) {
  vmvx_program_close(&l->program);
  vmvx_code_finish(&l->code);
}

// Runs all workgroups of function 0; the first failure's code.
static int run(const vmvx_program_t* program, void* const* pointers, const size_t* lengths, uint32_t workgroups) {
  local_vmvx_environment_t environment = {.function = &program->functions[0]};
  iree_hal_executable_dispatch_state_v0_t dispatch = {
      .workgroup_count_x = workgroups,
      .workgroup_count_y = 1,
      .workgroup_count_z = 1,
      .binding_count = 2,
      .binding_ptrs = pointers,
      .binding_lengths = lengths,
  };
  size_t size = local_vmvx_memory_size(environment.function);
  iree_hal_executable_workgroup_state_v0_t state = {.local_memory = aligned_alloc(64, size + 64),
                                                    .local_memory_size = (uint32_t)size};
  memset(state.local_memory, 0xaa, size);
  int code = 0;
  for (uint32_t i = 0; i < workgroups && !code; ++i) {
    state.workgroup_id_x = i;
    code = local_vmvx_run(&environment.base, &dispatch, &state);
  }
  free(state.local_memory);
  return code;
}

static void random_programs(void** state) {
  (void)state;
  enum { GROUPS = 5, SIZE = GROUPS * RANDOM_SLOTS * RANDOM_SLOT_BYTES };
  static uint8_t input[RANDOM_INPUT_BYTES], got[SIZE], wanted[SIZE];
  for (uint32_t seed = 0; seed < 150; ++seed) {
    fixture_t f;
    loaded_t l;
    fixture_begin(&f);
    random_program(&f, seed, 1);
    load(&f, &l);
    srand(seed);
    for (int i = 0; i < RANDOM_INPUT_BYTES; ++i) input[i] = (uint8_t)(rand() >> 7);
    assert_int_equal(run(&l.program, (void*[]){input, got}, (size_t[]){sizeof(input), SIZE}, GROUPS), 0);
    for (int64_t g = 0; g < GROUPS; ++g) reference_run(f.func, &(reference_t){input, wanted, g, 0});
    uint64_t differences = random_differences(f.func, got, wanted, GROUPS);
    if (differences) fail_msg("seed %u: %llu elements differ", seed, (unsigned long long)differences);
    // One workgroup too many for the output.
    assert_int_equal(run(&l.program, (void*[]){input, got}, (size_t[]){sizeof(input), SIZE}, GROUPS + 1),
                     IREE_STATUS_OUT_OF_RANGE);
    unload(&l);
    fixture_end(&f);
  }
}

// Kinds of memory ops that random programs have not: scatter, atomics, masks over the end, workgroup memory.
static void build_memory_ops(fixture_t* f) {
  const ir_type_t* i32 = fixture_int(f, 32);
  fixture_kernel(f, 1, i32, 2);
  ir_builder_t* b = &f->b;
  ir_value_t *in = fixture_arg(f, 0), *out = fixture_arg(f, 1), *zero = kernel_index(b, 0);
  ir_value_t* scratch = kernel_alloc(b, i32, 8, IR_SPACE_PRIVATE);
  ir_value_t* x = kernel_load(b, in, zero, 8);
  kernel_store(b, x, scratch, zero);
  ir_value_t* iota = ir_build_value(b, KERNEL_IOTA, NULL, 0, x->type);
  ir_value_t* seven = kernel_integer(b, x->type, 7);
  ir_value_t* scatter[] = {kernel_load(b, scratch, zero, 8), out, kernel_binary(b, SCALAR_sub, seven, iota)};
  ir_build_op(b, KERNEL_SCATTER, scatter, 3, NULL);
  ir_value_t* mask = kernel_binary(b, SCALAR_lt, iota, kernel_integer(b, x->type, 2));
  ir_value_t* tail = kernel_load_masked(b, in, kernel_index(b, 6), mask, kernel_integer(b, x->type, -1));
  kernel_store_masked(b, kernel_reduce(b, tail, "add"), out, kernel_index(b, 8),
                      kernel_integer(b, fixture_int(f, 1), 1));
  ir_value_t* atomic[] = {kernel_integer(b, i32, 5), out, kernel_index(b, 9)};
  ir_value_t* old = ir_build_value(b, KERNEL_ATOMIC, atomic, 3, i32);
  ir_op_set_attr(f->ctx, old->def, "kind", ir_attr_cstring(f->ctx, "max"));
  kernel_store(b, old, out, kernel_index(b, 10));
  kernel_func_end(b);
}

static void memory_ops(void** state) {
  (void)state;
  fixture_t f;
  loaded_t l;
  fixture_begin(&f);
  build_memory_ops(&f);
  load(&f, &l);
  int32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[11] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  assert_int_equal(run(&l.program, (void*[]){in, out}, (size_t[]){sizeof(in), sizeof(out)}, 1), 0);
  for (int i = 0; i < 8; ++i) assert_int_equal(out[i], 8 - i);
  assert_int_equal(out[8], 7 + 8 - 6);
  assert_int_equal(out[9], 5);
  assert_int_equal(out[10], 3);
  assert_int_equal(run(&l.program, (void*[]){in, out}, (size_t[]){sizeof(in) - 4, sizeof(out)}, 1),
                   IREE_STATUS_OUT_OF_RANGE);
  unload(&l);
  fixture_end(&f);
}

// The same kernel in the checking interpreter, which has these instructions from the same place.
static void memory_ops_checked(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  build_memory_ops(&f);
  int32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[11] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
  assert_true(fixture_run(&f, bindings, 2, 1));
  const int32_t wanted[11] = {8, 7, 6, 5, 4, 3, 2, 1, 9, 5, 3};
  assert_memory_equal(out, wanted, sizeof(wanted));
  fixture_end(&f);
}

// No processor changes an element at once that lies across its natural alignment: both interpreters say so.
static void misaligned_atomic(void** state) {
  (void)state;
  fixture_t f;
  loaded_t l;
  fixture_begin(&f);
  build_memory_ops(&f);
  load(&f, &l);
  int32_t in[8] = {0};
  iree_alignas(8) uint8_t memory[48] = {0};
  assert_int_equal(run(&l.program, (void*[]){in, memory + 1}, (size_t[]){sizeof(in), 44}, 1), IREE_STATUS_OUT_OF_RANGE);
  kernel_binding_t bindings[] = {{in, sizeof(in), false}, {memory + 1, 44, true}};
  assert_false(fixture_run(&f, bindings, 2, 1));
  assert_int_equal(f.counts[KERNEL_FAULT_MISALIGNED], 1);
  assert_int_equal(f.counts[KERNEL_FAULT_BOUNDS], 0);
  unload(&l);
  fixture_end(&f);
}

// Every bit of a small file turned: refused, or run without reaching outside (sanitizers watch).
static void damaged_files(void** state) {
  (void)state;
  fixture_t f;
  loaded_t l;
  fixture_begin(&f);
  build_memory_ops(&f);
  load(&f, &l);
  size_t size = l.code.size;
  uint8_t* file = aligned_alloc(64, (size + 63) & ~(size_t)63);
  uint32_t accepted = 0;
  for (size_t bit = 0; bit < size * 8; ++bit) {
    memcpy(file, l.code.data, size);
    file[bit / 8] ^= (uint8_t)(1 << bit % 8);
    vmvx_program_t program;
    iree_status_t status =
        vmvx_program_open(iree_make_const_byte_span(file, size), false, iree_allocator_system(), &program);
    if (!iree_status_is_ok(status)) {
      iree_status_free(status);
      continue;
    }
    ++accepted;
    int32_t in[8] = {0}, out[11] = {0};
    if (program.function_count) run(&program, (void*[]){in, out}, (size_t[]){sizeof(in), sizeof(out)}, 1);
    vmvx_program_close(&program);
  }
  assert_true(accepted > 0 && accepted < size * 8 / 2);
  for (size_t length = 0; length < size; ++length) {
    vmvx_program_t program;
    iree_status_t status =
        vmvx_program_open(iree_make_const_byte_span(l.code.data, length), false, iree_allocator_system(), &program);
    assert_false(iree_status_is_ok(status));
    iree_status_free(status);
  }
  free(file);
  unload(&l);
  fixture_end(&f);
}

static void threads_are_refused(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  fixture_kernel(&f, 32, fixture_int(&f, 32), 2);
  kernel_func_end(&f.b);
  text_t error = {0};
  vmvx_code_t code;
  vmvx_program_t program;
  const ir_op_t* func = f.func;
  assert_true(vmvx_encode(&func, 1, &code, &error));
  iree_status_t status =
      vmvx_program_open(iree_make_const_byte_span(code.data, code.size), false, iree_allocator_system(), &program);
  assert_int_equal(iree_status_code(status), IREE_STATUS_INVALID_ARGUMENT);
  iree_status_free(status);
  vmvx_code_finish(&code);
  fixture_end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),    cmocka_unit_test(memory_ops),
                                     cmocka_unit_test(memory_ops_checked), cmocka_unit_test(misaligned_atomic),
                                     cmocka_unit_test(damaged_files),      cmocka_unit_test(threads_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
