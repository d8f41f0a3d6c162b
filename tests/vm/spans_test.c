// Imports with spans: packed as C structs, counts in front, whatever the tuples are; and the programs that are refused.
#include "vm_test.h"

// Of "0iCIirDCfDF_Ir".
typedef struct pair_t {
  int64_t wide;
  int32_t narrow;
  iree_vm_ref_t ref;
} pair_t;

// The sum of all that there is, and the last pair's reference, which is taken.
static iree_status_t shim_sum(iree_vm_stack_t* stack, iree_vm_native_function_flags_t flags, iree_byte_span_t arguments,
                              iree_byte_span_t results, iree_vm_native_function_target2_t target, void* module,
                              void* module_state) {
  struct {
    int64_t sum;
    iree_vm_ref_t ref;
  }* out = (void*)results.data;
  const int32_t* in = (const int32_t*)arguments.data;
  int32_t first = in[0], pair_count = in[1];
  pair_t* pairs = (pair_t*)(arguments.data + 8);
  const int32_t* numbers = (const int32_t*)(pairs + pair_count);
  iree_host_size_t at = iree_host_align((const uint8_t*)(numbers + 1 + numbers[0]) - arguments.data, 8);
  assert_int_equal(arguments.data_length, at + sizeof(double));
  out->sum = first + (int64_t)*(const double*)(arguments.data + at);
  for (int32_t i = 0; i < pair_count; ++i) {
    out->sum += pairs[i].wide + pairs[i].narrow;
    if (i + 1 == pair_count) iree_vm_ref_move(&pairs[i].ref, &out->ref);
  }
  for (int32_t i = 0; i < numbers[0]; ++i) out->sum += (int64_t)((const float*)numbers)[1 + i];
  return first == 13 ? iree_make_status(IREE_STATUS_OUT_OF_RANGE, "unlucky") : iree_ok_status();
}

static iree_vm_module_t* make_native(iree_vm_instance_t* instance) {
  static const iree_vm_native_export_descriptor_t exports[] = {
      {iree_string_view_literal("sum"), iree_string_view_literal("0iCIirDCfDF_Ir"), 0, NULL}};
  static const iree_vm_native_function_ptr_t functions[] = {{(iree_vm_native_function_shim_t)(void*)shim_sum, NULL}};
  static const iree_vm_native_module_descriptor_t descriptor = {.name = iree_string_view_literal("native"),
                                                                .export_count = 1,
                                                                .exports = exports,
                                                                .function_count = 1,
                                                                .functions = functions};
  iree_vm_module_t interface, *module = NULL;
  EXPECT_OK(iree_vm_module_initialize(&interface, NULL));
  EXPECT_OK(iree_vm_native_module_create(&interface, &descriptor, instance, iree_allocator_system(), &module));
  return module;
}

// A function that calls the import with so many pairs and numbers and gives its sum, 1000 more when the reference comes
// back and is the list that was handed over.
static void add_call(program_t* program, const char* name, uint32_t pairs, uint32_t numbers) {
  uint32_t import = module_writer_import(program->writer, IREE_SV("native.sum"), IREE_SV("0iCIirDCfDF_Ir"), false);
  module_function_t* f = module_writer_function(program->writer, iree_make_cstring_view(name), IREE_SV("0i_I"));
  module_reg_t regs[64];
  uint32_t count = 0;
  module_reg_t list = module_emit_value(f, list_create, MODULE_REG(module_function_i32(f, 0)));
  regs[count++] = module_function_argument(f, 0);
  for (uint32_t i = 0; i < pairs; ++i) {
    regs[count++] = module_function_i64(f, 1 + i);
    regs[count++] = module_function_i32(f, 10);
    regs[count++] = list;
  }
  for (uint32_t i = 0; i < numbers; ++i) regs[count++] = module_emit_value(f, const_f32, MODULE_FLOAT(100.0));
  regs[count++] = module_emit_value(f, const_f64, MODULE_FLOAT(0.0));
  module_reg_t sum = module_function_register(f, VM_TYPE_I64), back = module_function_ref(f);
  module_emit(f, call_import_spans, MODULE_LIST(2, ((module_reg_t[]){sum, back})), MODULE_INDEX(import),
              MODULE_LIST(count, regs), MODULE_IMMS(2, ((int64_t[]){pairs, numbers})));
  module_reg_t same = module_emit_value(f, same_ref, MODULE_REG(list), MODULE_REG(back));
  module_reg_t wide = module_emit_value(f, ext_i32_i64_s, MODULE_REG(same));
  module_reg_t more = module_emit_value(f, i64_mul, MODULE_REG(wide), MODULE_REG(module_function_i64(f, 1000)));
  module_reg_t total = module_emit_value(f, i64_add, MODULE_REG(sum), MODULE_REG(more));
  module_emit(f, return, MODULE_LIST(1, &total));
  module_writer_export(program->writer, iree_make_cstring_view(name), f, 0, NULL);
}

static void test_calls(void** state) {
  program_t program;
  int64_t result;
  program_begin(&program);
  add_call(&program, "none", 0, 0);
  add_call(&program, "two", 2, 0);
  add_call(&program, "three", 3, 5);
  iree_vm_module_t* native = make_native(program.instance);
  EXPECT_OK(program_link(&program, 1, &native));
  EXPECT_OK(call_i64(&program, "none", 1, (int64_t[]){5}, &result));
  assert_int_equal(result, 5);
  EXPECT_OK(call_i64(&program, "two", 1, (int64_t[]){5}, &result));
  assert_int_equal(result, 5 + 1 + 2 + 20 + 1000);
  EXPECT_OK(call_i64(&program, "three", 1, (int64_t[]){5}, &result));
  assert_int_equal(result, 5 + 1 + 2 + 3 + 30 + 500 + 1000);
  EXPECT_STATUS(call_i64(&program, "two", 1, (int64_t[]){13}, &result), OUT_OF_RANGE, "unlucky");
  iree_vm_module_release(native);
  program_end(&program);
}

// A call of an import of the convention with so many i32 in each of its spans.
static iree_status_t link_call(const char* convention, vm_op_t op, uint32_t regs, uint32_t spans, int64_t size) {
  program_t program;
  program_begin(&program);
  uint32_t import =
      module_writer_import(program.writer, IREE_SV("absent.fn"), iree_make_cstring_view(convention), true);
  module_function_t* f = module_writer_function(program.writer, IREE_SV("f"), IREE_SV("0v_v"));
  module_reg_t list[16];
  int64_t sizes[16];
  for (uint32_t i = 0; i < 16; ++i) list[i] = module_function_i32(f, (int32_t)i);
  for (uint32_t i = 0; i < 16; ++i) sizes[i] = size;
  const module_operand_t operands[] = {MODULE_LIST(0, NULL), MODULE_INDEX(import), MODULE_LIST(regs, list),
                                       MODULE_IMMS(spans, sizes)};
  module_function_emit(f, op, operands, op == VM_OP_call_import_spans ? 4 : 3);
  module_emit(f, return, MODULE_LIST(0, NULL));
  iree_byte_span_t data;
  iree_status_t status = module_writer_finish_memory(program.writer, iree_allocator_system(), &data);
  iree_vm_module_t* module = NULL;
  if (iree_status_is_ok(status)) {
    status = iree_vm_bytecode_module_create(program.instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE,
                                            iree_const_cast_byte_span(data), iree_allocator_system(),
                                            iree_allocator_system(), &module);
    if (!iree_status_is_ok(status)) free(data.data);
  }
  iree_vm_module_release(module);
  program_end(&program);
  return status;
}

static void test_refused(void** state) {
  const vm_op_t spans = VM_OP_call_import_spans;
  EXPECT_OK(link_call("0iCiD_v", spans, 4, 1, 3));
  EXPECT_OK(link_call("0CiiDCiD_v", spans, 6, 2, 2));
  EXPECT_OK(link_call("0i_v", spans, 1, 0, 0));
  const char* misfit = "operands do not fit the callee";
  EXPECT_STATUS(link_call("0iCiD_v", spans, 3, 1, 3), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCiD_v", spans, 5, 1, 3), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCiD_v", spans, 1, 0, 0), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCiD_v", spans, 1, 2, 0), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCiD_v", spans, 4, 1, UINT32_MAX), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCfD_v", spans, 4, 1, 3), INVALID_ARGUMENT, misfit);
  EXPECT_STATUS(link_call("0iCiD_v", VM_OP_call_import, 4, 0, 0), INVALID_ARGUMENT, "the callee takes spans");
  for (const char* const* bad = (const char* const[]){"0iCD_v", "0CiCiDD_v", "0Ci_v", "0iD_v", "0i_CiD", NULL}; *bad;
       ++bad) {
    EXPECT_STATUS(link_call(*bad, spans, 1, 0, 0), INVALID_ARGUMENT, "calling convention");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("vm_spans", tests, NULL, NULL);
}
