// What a call of a VM function costs: through the C API with lists of 0, 1, 10 and 100 arguments, and from one function
// of a module to another. Prints nanoseconds, the least of several rounds of one thread. No arguments.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/vm/api.h"
#include "iree/vm/bytecode/module.h"
#include "module/writer.h"

enum { ROUNDS = 20, API_CALLS = 20000, INNER_CALLS = 1000000 };

static const int argument_counts[] = {0, 1, 10, 100};

// @takes_N(i64, ...): nothing.
static void add_empty(module_writer_t* writer, int count) {
  char name[32], convention[128] = "0";
  snprintf(name, sizeof(name), "takes_%d", count);
  size_t size = 1;
  for (int i = 0; i < count; ++i) convention[size++] = 'I';
  if (!count) convention[size++] = 'v';
  memcpy(convention + size, "_v", 3);
  module_function_t* f =
      module_writer_function(writer, iree_make_cstring_view(name), iree_make_cstring_view(convention));
  module_emit(f, return, MODULE_LIST(0, NULL));
  module_writer_export(writer, iree_make_cstring_view(name), f, 0, NULL);
}

// @repeat(n): calls @next n times, which gives its argument plus 1.
static void add_loop(module_writer_t* writer) {
  module_function_t* next = module_writer_function(writer, IREE_SV("next"), IREE_SV("0I_I"));
  module_reg_t sum = module_emit_value(next, i64_add, MODULE_REG(module_function_argument(next, 0)),
                                       MODULE_REG(module_function_i64(next, 1)));
  module_emit(next, return, MODULE_LIST(1, &sum));
  module_function_t* f = module_writer_function(writer, IREE_SV("repeat"), IREE_SV("0I_I"));
  module_reg_t n = module_function_argument(f, 0), i = module_function_i64(f, 0);
  module_label_t loop = module_function_label(f), end = module_function_label(f);
  module_function_bind(f, loop);
  module_emit(f, call, MODULE_LIST(1, &i), MODULE_INDEX(module_function_index(next)), MODULE_LIST(1, &i));
  module_reg_t goes_on = module_emit_value(f, i64_lt_s, MODULE_REG(i), MODULE_REG(n));
  module_emit(f, br_if, MODULE_REG(goes_on), MODULE_LABEL(loop), MODULE_LABEL(end));
  module_function_bind(f, end);
  module_emit(f, return, MODULE_LIST(1, &i));
  module_writer_export(writer, IREE_SV("repeat"), f, 0, NULL);
}

static iree_byte_span_t make_module(void) {
  module_writer_t* writer = NULL;
  iree_byte_span_t data;
  IREE_CHECK_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &writer));
  for (size_t i = 0; i < IREE_ARRAYSIZE(argument_counts); ++i) add_empty(writer, argument_counts[i]);
  add_loop(writer);
  IREE_CHECK_OK(module_writer_finish_memory(writer, iree_allocator_system(), &data));
  module_writer_destroy(writer);
  return data;
}

typedef struct subject_t {
  iree_vm_context_t* context;
  iree_vm_function_t function;
  iree_vm_list_t *inputs, *outputs;
} subject_t;

static subject_t make_subject(iree_vm_context_t* context, const char* name, int count, int64_t value) {
  subject_t s = {.context = context};
  IREE_CHECK_OK(iree_vm_context_resolve_function(context, iree_make_cstring_view(name), &s.function));
  iree_vm_type_def_t any = iree_vm_make_undefined_type_def();
  IREE_CHECK_OK(iree_vm_list_create(any, (iree_host_size_t)count, iree_allocator_system(), &s.inputs));
  IREE_CHECK_OK(iree_vm_list_create(any, 1, iree_allocator_system(), &s.outputs));
  iree_vm_value_t number = iree_vm_value_make_i64(value);
  for (int i = 0; i < count; ++i) IREE_CHECK_OK(iree_vm_list_push_value(s.inputs, &number));
  return s;
}

static void drop_subject(subject_t* s) {
  iree_vm_list_release(s->inputs);
  iree_vm_list_release(s->outputs);
}

// Least nanoseconds of `calls` calls.
static double measure(const subject_t* s, int calls) {
  double least = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    iree_time_t start = iree_time_now();
    for (int i = 0; i < calls; ++i) {
      iree_vm_list_clear(s->outputs);
      IREE_CHECK_OK(iree_vm_invoke(s->context, s->function, IREE_VM_INVOCATION_FLAG_NONE, NULL, s->inputs, s->outputs,
                                   iree_allocator_system()));
    }
    double taken = (double)(iree_time_now() - start);
    if (!round || taken < least) least = taken;
  }
  return least;
}

static void measure_all(iree_vm_context_t* context) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(argument_counts); ++i) {
    char name[32];
    snprintf(name, sizeof(name), "m.takes_%d", argument_counts[i]);
    subject_t s = make_subject(context, name, argument_counts[i], 1);
    printf("iree_vm_invoke, %3d arguments  %8.1f ns\n", argument_counts[i], measure(&s, API_CALLS) / API_CALLS);
    drop_subject(&s);
  }
  subject_t s = make_subject(context, "m.repeat", 1, INNER_CALLS);
  printf("call within a module           %8.1f ns\n", measure(&s, 1) / INNER_CALLS);
  iree_vm_value_t result;
  IREE_CHECK_OK(iree_vm_list_get_value_as(s.outputs, 0, IREE_VM_VALUE_TYPE_I64, &result));
  if (result.i64 != INNER_CALLS) printf("wrong result %" PRIi64 "\n", result.i64);
  drop_subject(&s);
}

int main(void) {
  iree_byte_span_t data = make_module();
  iree_vm_instance_t* instance = NULL;
  iree_vm_module_t* module = NULL;
  iree_vm_context_t* context = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  IREE_CHECK_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance));
  IREE_CHECK_OK(iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE,
                                               iree_const_cast_byte_span(data), allocator, allocator, &module));
  IREE_CHECK_OK(
      iree_vm_context_create_with_modules(instance, IREE_VM_CONTEXT_FLAG_NONE, 1, &module, allocator, &context));
  measure_all(context);
  iree_vm_context_release(context);
  iree_vm_module_release(module);
  iree_vm_instance_release(instance);
  return 0;
}
