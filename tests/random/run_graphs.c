// Compiles programs of the graph level for several targets, runs them, and compares with the reference evaluator:
//
//   run_graphs program.mlir...
//   run_graphs --rows           prints the ops of graph.def and the functions of scalar.def
//
// llvm-cpu and vmvx go through the runtime, kernels of GPUs through the checking interpreter, where the host does no
// more than dispatch them. Each file (graph_case.h) is run in a process of its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "graph_case.h"
#include "iree/runtime/api.h"

enum { TIMEOUT_SECONDS = 60, SLOW_SECONDS = 1, REPORTED = 3 };

// TARGET(name, flag, flag): those without a device run in the checking interpreter.
#define TARGETS(TARGET)                                                                                     \
  TARGET("llvm-cpu", "--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", "local-sync") \
  TARGET("vmvx", "--iree-hal-target-backends=vmvx", "--iree-llvmcpu-target-cpu=host", "local-sync")         \
  TARGET("gfx1100", "--iree-hal-target-device=hip", "--iree-hip-target=gfx1100", NULL)                      \
  TARGET("sm_80", "--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80", NULL)

// Of this process, so that it does not matter what else the machine does.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

//===----------------------------------------------------------------------------------------------------------------===
// In the runtime
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t push_input(iree_runtime_session_t* session, iree_runtime_call_t* call, const ir_attr_t* input) {
  const ir_type_t* element = input->type->element;
  iree_hal_dim_t dims[GRAPH_MAX_RANK];
  for (int32_t d = 0; d < input->type->rank; ++d) dims[d] = (iree_hal_dim_t)input->type->dims[d];
  size_t bytes = ir_type_bytes(element), size = (size_t)ir_type_count(input->type) * bytes;
  char* data = memory_alloc(size + 1);
  for (size_t at = 0; at < size; at += input->splat ? bytes : size) {
    memcpy(data + at, ir_attr_data(input), input->splat ? bytes : size);
  }
  iree_hal_element_type_t type;
  uint32_t bits = element->width;
  if (!ir_type_is_float(element)) {
    type = bits == 1 ? IREE_HAL_ELEMENT_TYPE_BOOL_8
                     : IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, (uint32_t)(8 * bytes));
  } else {
    type = element->float_kind == IR_BF16
               ? IREE_HAL_ELEMENT_TYPE_BFLOAT_16
               : IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE, (uint32_t)(8 * bytes));
  }
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(session), iree_runtime_session_device_allocator(session),
      (iree_host_size_t)input->type->rank, dims, type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
      (iree_hal_buffer_params_t){.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT},
      iree_make_const_byte_span(data, size), &view));
  iree_status_t status = iree_runtime_call_inputs_push_back_buffer_view(call, view);
  iree_hal_buffer_view_release(view);
  return status;
}

static iree_status_t take_output(graph_case_t* c, iree_runtime_session_t* session, iree_runtime_call_t* call,
                                 uint32_t index) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_outputs_pop_front_buffer_view(call, &view));
  size_t size = iree_hal_buffer_view_byte_length(view);
  char* data = memory_alloc(size + 1);
  iree_status_t status =
      iree_hal_device_transfer_d2h(iree_runtime_session_device(session), iree_hal_buffer_view_buffer(view), 0, data,
                                   size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  iree_hal_buffer_view_release(view);
  if (iree_status_is_ok(status)) graph_case_compare(c, index, data, size);
  return status;
}

static iree_status_t call_main(graph_case_t* c, iree_runtime_session_t* session) {
  iree_runtime_call_t call;
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, IREE_SV("module.main"), &call));
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < c->input_count && iree_status_is_ok(status); ++i) {
    status = push_input(session, &call, c->inputs[i]);
  }
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);
  for (uint32_t i = 0; i < c->output_count && iree_status_is_ok(status); ++i) {
    status = take_output(c, session, &call, i);
  }
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run_module(graph_case_t* c, iree_runtime_instance_t* instance, const char* driver,
                                const compiler_output_t* module) {
  iree_hal_device_t* device = NULL;
  iree_runtime_session_t* session = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_runtime_session_options_t options;
  iree_runtime_session_options_initialize(&options);
  iree_status_t status =
      iree_runtime_instance_try_create_default_device(instance, iree_make_cstring_view(driver), &device);
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_create_with_device(instance, &options, device, allocator, &session);
  }
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_append_bytecode_module_from_memory(
        session, iree_make_const_byte_span(module->data, module->size), iree_allocator_null());
  }
  if (iree_status_is_ok(status)) status = call_main(c, session);
  iree_runtime_session_release(session);
  iree_hal_device_release(device);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// A file
//===----------------------------------------------------------------------------------------------------------------===

static void run_target(graph_case_t* c, iree_runtime_instance_t* instance, const char* const* argv,
                       const char* driver) {
  compiler_flags_t flags;
  compiler_options_t options;
  text_t error = {0};
  if (!compiler_flags_parse(&flags, 3, (char**)argv, &error) || !compiler_flags_resolve(&flags, &options, &error)) {
    graph_case_fail(c, "flags", error.data);
    return;
  }
  graph_case_interpretation_t in = {.c = c, .runner = {.interpret = true}};
  options.diagnostic = graph_case_diagnostic;
  options.diagnostic_user = c;
  options.observe = driver ? NULL : graph_case_observe;
  options.observe_user = &in;
  options.target.threads = 1;
  compiler_output_t output = {0};
  double start = now();
  bool ok = compiler_run(&options, "graph.mlir", c->text, c->size, &output);
  double seconds = now() - start;
  if (driver && seconds > SLOW_SECONDS) printf("slow: %s %s takes %.1f s to compile\n", c->path, c->target, seconds);
  if (driver && ok) {
    iree_status_t status = run_module(c, instance, driver, &output);
    char text[256] = "";
    iree_host_size_t length;
    if (!iree_status_is_ok(status)) {
      iree_status_format(status, sizeof(text), text, &length);
      graph_case_fail(c, "the runtime", text);
    }
  } else if (driver || !(in.runner.ran || in.runner.needs_host)) {
    graph_case_fail(c, "not compiled", NULL);
  }
  free(output.data);
  compiler_flags_finish(&flags);
}

static void run_file(void* user) {
  graph_case_t* c = user;
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  IREE_CHECK_OK(iree_runtime_instance_create(&options, iree_allocator_system(), &instance));
  if (!graph_case_prepare(c)) return;
#define TARGET(name, device, processor, driver) \
  c->target = name;                             \
  run_target(c, instance, (const char* const[]){"run_graphs", device, processor, NULL}, driver);
  TARGETS(TARGET)
#undef TARGET
  iree_runtime_instance_release(instance);
}

static bool read_file(graph_case_t* c) {
  FILE* file = fopen(c->path, "rb");
  if (!file) return false;
  char* text = malloc(1 << 20);
  c->size = fread(text, 1, 1 << 20, file);
  c->text = text;
  fclose(file);
  return true;
}

static bool run_child(graph_case_t* c) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(TIMEOUT_SECONDS);
    memory_scope_t scope;
    if (!memory_scope_run(&scope, run_file, c)) graph_case_fail(c, "out of memory", NULL);
    if (c->problem[0]) printf("FAILED %s: %s\n", c->path, c->problem);
    fflush(stdout);
    _exit(c->problem[0] ? REPORTED : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return false;
  if (WIFSIGNALED(status)) printf("FAILED %s: signal %d\n", c->path, WTERMSIG(status));
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : REPORTED;
  if (code != 0 && code != REPORTED) printf("FAILED %s: exit code %d\n", c->path, code);
  return code == 0;
}

static void print_rows(void) {
  const char* prefix = "graph.";
  for (uint32_t i = 0; i < graph_dialect.op_count; ++i) puts(graph_dialect.ops[i].name + strlen(prefix));
}

int main(int argc, char** argv) {
  int failed = 0;
  if (argc == 2 && strcmp(argv[1], "--rows") == 0) return print_rows(), 0;
  for (int i = 1; i < argc; ++i) {
    graph_case_t c = {.path = argv[i]};
    failed += !read_file(&c) || !run_child(&c);
    free((char*)c.text);
  }
  printf("%d passed, %d failed\n", argc - 1 - failed, failed);
  return failed != 0;
}
