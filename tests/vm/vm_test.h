// Building and calling small programs.
#ifndef TESTS_VM_VM_TEST_H_
#define TESTS_VM_VM_TEST_H_

#include "../module/module_test.h"
// After cmocka.
#include "iree/vm/api.h"
#include "iree/vm/bytecode/module.h"

// A program under construction, then a context with it.
typedef struct program_t {
  module_writer_t* writer;
  iree_vm_instance_t* instance;
  iree_vm_context_t* context;
} program_t;

static inline void program_begin(program_t* program) {
  memset(program, 0, sizeof(*program));
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &program->instance));
  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &program->writer));
}

// Ends the program and makes a context of `modules` and it; a failure is returned.
static inline iree_status_t program_link(program_t* program, size_t count, iree_vm_module_t** modules) {
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(program->writer, iree_allocator_system(), &data));
  iree_vm_module_t* all[8] = {0};
  for (size_t i = 0; i < count; ++i) all[i] = modules[i];
  EXPECT_OK(iree_vm_bytecode_module_create(program->instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE,
                                           iree_const_cast_byte_span(data), iree_allocator_system(),
                                           iree_allocator_system(), &all[count]));
  iree_status_t status = iree_vm_context_create_with_modules(program->instance, IREE_VM_CONTEXT_FLAG_NONE, count + 1,
                                                             all, iree_allocator_system(), &program->context);
  iree_vm_module_release(all[count]);
  return status;
}

static inline void program_end(program_t* program) {
  module_writer_destroy(program->writer);
  iree_vm_context_release(program->context);
  iree_vm_instance_release(program->instance);
}

// Calls `name`; results are appended to `outputs` (may be NULL).
static inline iree_status_t program_call(program_t* program, const char* name, iree_vm_list_t* inputs,
                                         iree_vm_list_t* outputs) {
  char full_name[128];
  snprintf(full_name, sizeof(full_name), "m.%s", name);
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(
      iree_vm_context_resolve_function(program->context, iree_make_cstring_view(full_name), &function));
  return iree_vm_invoke(program->context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs,
                        iree_allocator_system());
}

static inline iree_vm_list_t* make_list(void) {
  iree_vm_list_t* list = NULL;
  EXPECT_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, iree_allocator_system(), &list));
  return list;
}

static inline void push_i64(iree_vm_list_t* list, int64_t value) {
  iree_vm_value_t variant = iree_vm_value_make_i64(value);
  EXPECT_OK(iree_vm_list_push_value(list, &variant));
}

// Calls a function of i64s (or what they convert to) that returns one.
static inline iree_status_t call_i64(program_t* program, const char* name, size_t count, const int64_t* values,
                                     int64_t* out_result) {
  iree_vm_list_t* inputs = make_list();
  iree_vm_list_t* outputs = make_list();
  for (size_t i = 0; i < count; ++i) push_i64(inputs, values[i]);
  iree_status_t status = program_call(program, name, inputs, outputs);
  iree_vm_value_t value = iree_vm_value_make_i64(0);
  if (iree_status_is_ok(status)) status = iree_vm_list_get_value_as(outputs, 0, IREE_VM_VALUE_TYPE_I64, &value);
  *out_result = value.i64;
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

#endif  // TESTS_VM_VM_TEST_H_
