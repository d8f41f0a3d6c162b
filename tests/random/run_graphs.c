// Compiles programs of the graph level for several targets, runs them, and compares with the reference evaluator:
//
//   run_graphs program.mlir...
//   run_graphs --rows           prints the ops of graph.def and the functions of scalar.def
//
// Each file has one function, with attributes test.sizes, the sizes that its arguments' types leave open, in order, and
// test.tolerance, one for each result, 0 where it is exact. Arguments are small whole numbers. llvm-cpu and vmvx go
// through the runtime, kernels of GPUs through the checking interpreter, where the host does no more than dispatch
// them. Each file is run in a process of its own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "compiler/flags.h"
#include "dialects/evaluate.h"
#include "dialects/register.h"
#include "dispatch_run.h"
#include "iree/runtime/api.h"

enum { MAX_VALUES = 512, TIMEOUT_SECONDS = 60, SLOW_SECONDS = 1, REPORTED = 3 };

typedef struct case_t {
  const char* path;
  char* text;
  size_t size;
  ir_context_t* ctx;
  uint32_t input_count, output_count;
  const ir_attr_t *inputs[MAX_VALUES], *outputs[MAX_VALUES];
  double tolerance[MAX_VALUES];
  const char* target;  // at work
  char problem[512];
} case_t;

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

static bool fail(case_t* c, const char* what, const char* detail) {
  if (!c->problem[0]) snprintf(c->problem, sizeof(c->problem), "%s: %s %s", c->target, what, detail ? detail : "");
  return false;
}

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)loc, (void)text;
  if (severity == IR_ERROR) fail(user, "", rendered);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is expected
//===----------------------------------------------------------------------------------------------------------------===

// Whole numbers from -3 to 3, booleans 0 and 1, of a generator with a state.
static const ir_attr_t* make_input(case_t* c, const ir_type_t* type, const int64_t* dims, uint32_t* state) {
  const ir_type_t* to = ir_type_tensor(c->ctx, type->element, type->rank, dims);
  int64_t count = ir_type_count(to);
  size_t bytes = ir_type_bytes(type->element);
  char* data = memory_alloc((size_t)count * bytes + 1);
  for (int64_t i = 0; i < count; ++i) {
    *state = *state * 1664525u + 1013904223u;
    int value = (int)(*state >> 16) % 7 - 3;
    bool is_bool = type->element->kind == IR_TYPE_INTEGER && type->element->width == 1;
    if (ir_type_is_float(type->element)) {
      ir_scalar_store_number(type->element, value, data + (size_t)i * bytes);
    } else {
      ir_scalar_store_integer(type->element, is_bool ? value & 1 : value, data + (size_t)i * bytes);
    }
  }
  return ir_attr_elements(c->ctx, to, data, (size_t)count * bytes);
}

static bool prepare(case_t* c) {
  c->target = "evaluator";
  c->ctx = ir_context_create();
  dialects_register_all(c->ctx);
  ir_context_set_diagnostics(c->ctx, on_diagnostic, c);
  ir_op_t* module = ir_parse_module(c->ctx, c->path, c->text, c->size);
  if (!module || !ir_verify(c->ctx, module)) return fail(c, "the program is not valid", NULL);
  ir_op_t* func = ir_module_body(module)->first;
  ir_block_t* body = func->regions[0].first;
  int64_t sizes[MAX_VALUES * 8];
  uint32_t at = 0, state = (uint32_t)c->size;
  ir_op_ints(func, "test.sizes", sizes, MAX_VALUES * 8);
  const ir_attr_t* tolerance = ir_op_attr(func, "test.tolerance");
  c->input_count = body->arg_count;
  c->output_count = body->last->operand_count;
  if (c->input_count > MAX_VALUES || c->output_count > MAX_VALUES) return fail(c, "too many values", NULL);
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const ir_type_t* type = body->args[i]->type;
    int64_t dims[GRAPH_MAX_RANK];
    for (int32_t d = 0; d < type->rank; ++d) dims[d] = type->dims[d] == IR_DYNAMIC ? sizes[at++] : type->dims[d];
    c->inputs[i] = make_input(c, type, dims, &state);
  }
  for (uint32_t i = 0; i < c->output_count; ++i) c->tolerance[i] = tolerance ? tolerance->items[i]->number : 0;
  return graph_evaluate(c->ctx, func, c->inputs, c->outputs) || fail(c, "cannot evaluate", NULL);
}

static bool compare(case_t* c, uint32_t index, const void* data, size_t size) {
  const ir_attr_t* want = c->outputs[index];
  const ir_type_t* element = want->type->element;
  size_t bytes = ir_type_bytes(element);
  int64_t count = ir_type_count(want->type);
  char text[160];
  if (size != (size_t)count * bytes) {
    snprintf(text, sizeof(text), "%u has %zu bytes, not %zu", index, size, (size_t)count * bytes);
    return fail(c, "result", text);
  }
  bool is_bool = element->kind == IR_TYPE_INTEGER && element->width == 1;
  for (int64_t i = 0; i < count; ++i) {
    const char* at = (const char*)data + (size_t)i * bytes;
    double g, w;
    if (ir_type_is_float(element)) {
      g = ir_scalar_load_number(element, at), w = ir_attr_element_number(want, i);
    } else {
      int64_t got = ir_scalar_load_integer(element, at), wanted = ir_attr_element_integer(want, i);
      g = is_bool ? got & 1 : (double)got, w = is_bool ? wanted & 1 : (double)wanted;
    }
    if (g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= c->tolerance[index]) continue;
    snprintf(text, sizeof(text), "%u element %lld is %.9g, not %.9g", index, (long long)i, g, w);
    return fail(c, "result", text);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// In the interpreter
//===----------------------------------------------------------------------------------------------------------------===

typedef struct interpretation_t {
  case_t* c;
  runner_t runner;
} interpretation_t;

static bool observe(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                    const target_executable_t* executable) {
  (void)ctx, (void)executable;
  interpretation_t* in = user;
  in->runner.kernels = kernels;
  ir_block_t* body = ir_module_body(module)->first->regions[0].first;
  in->runner.needs_host = dispatch_needs_host(body);
  if (in->runner.needs_host) return false;
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    const ir_attr_t* input = in->c->inputs[i];
    tensor_t* tensor = dispatch_new_tensor(body->args[i], input->type->dims);
    size_t size = ir_type_bytes(input->type->element);
    for (size_t at = 0; at < tensor->size; at += input->splat ? size : tensor->size) {
      memcpy(tensor->data + at, ir_attr_data(input), input->splat ? size : tensor->size);
    }
  }
  IR_FOR_OPS(op, body) {
    if (ir_is(op, GRAPH_DISPATCH)) dispatch_run(&in->runner, op);
  }
  if (in->runner.faulty) return fail(in->c, "a check of the interpreter", NULL);
  in->runner.ran = true;
  for (uint32_t i = 0; i < body->last->operand_count; ++i) {
    const tensor_t* tensor = dispatch_tensor_of(ir_operand(body->last, i));
    if (!compare(in->c, i, tensor->data, tensor->size)) break;
  }
  return false;
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

static iree_status_t take_output(case_t* c, iree_runtime_session_t* session, iree_runtime_call_t* call,
                                 uint32_t index) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_outputs_pop_front_buffer_view(call, &view));
  size_t size = iree_hal_buffer_view_byte_length(view);
  char* data = memory_alloc(size + 1);
  iree_status_t status =
      iree_hal_device_transfer_d2h(iree_runtime_session_device(session), iree_hal_buffer_view_buffer(view), 0, data,
                                   size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  iree_hal_buffer_view_release(view);
  if (iree_status_is_ok(status)) compare(c, index, data, size);
  return status;
}

static iree_status_t call_main(case_t* c, iree_runtime_session_t* session) {
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

static iree_status_t run_module(case_t* c, iree_runtime_instance_t* instance, const char* driver,
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

static void run_target(case_t* c, iree_runtime_instance_t* instance, const char* const* argv, const char* driver) {
  compiler_flags_t flags;
  compiler_options_t options;
  text_t error = {0};
  if (!compiler_flags_parse(&flags, 3, (char**)argv, &error) || !compiler_flags_resolve(&flags, &options, &error)) {
    fail(c, "flags", error.data);
    return;
  }
  interpretation_t in = {.c = c, .runner = {.interpret = true}};
  options.diagnostic = on_diagnostic;
  options.diagnostic_user = c;
  options.observe = driver ? NULL : observe;
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
      fail(c, "the runtime", text);
    }
  } else if (driver || !(in.runner.ran || in.runner.needs_host)) {
    fail(c, "not compiled", NULL);
  }
  free(output.data);
  compiler_flags_finish(&flags);
}

static void run_file(void* user) {
  case_t* c = user;
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  IREE_CHECK_OK(iree_runtime_instance_create(&options, iree_allocator_system(), &instance));
  if (!prepare(c)) return;
#define TARGET(name, device, processor, driver) \
  c->target = name;                             \
  run_target(c, instance, (const char* const[]){"run_graphs", device, processor, NULL}, driver);
  TARGETS(TARGET)
#undef TARGET
  iree_runtime_instance_release(instance);
}

static bool read_file(case_t* c) {
  FILE* file = fopen(c->path, "rb");
  if (!file) return false;
  c->text = malloc(1 << 20);
  c->size = fread(c->text, 1, 1 << 20, file);
  fclose(file);
  return true;
}

static bool run_child(case_t* c) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(TIMEOUT_SECONDS);
    memory_scope_t scope;
    if (!memory_scope_run(&scope, run_file, c)) fail(c, "out of memory", NULL);
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
    case_t c = {.path = argv[i]};
    failed += !read_file(&c) || !run_child(&c);
    free(c.text);
  }
  printf("%d passed, %d failed\n", argc - 1 - failed, failed);
  return failed != 0;
}
