// Compiles a program and runs its first function dispatch by dispatch, without the runtime: CPU kernels natively, and
// with --interpret any target's kernels in the checking interpreter.
//
//   run_dispatches [iree-compile flags] model.onnx -- [--repeat=N] [--inputs=a.bin,b.bin] [--outputs=PREFIX]
//   [--interpret] [--execute=gfx1100]
//
// --execute runs AMD kernels on the software GPU: the machine code itself.
//
// Inputs are raw little-endian element data (zeros when not given); output i is written to PREFIXi.bin. With --repeat a
// line per dispatch gives its least time, its strategy and its name.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/flags.h"
#include "dialects/graph.h"
#include "gpu_execute.h"
#include "iree/hal/local/executable_library.h"
#include "target/vmvx/interpret.h"

typedef struct runner_t {
  int repeat;
  const char* inputs;
  const char* outputs;
  const iree_hal_executable_library_v0_t* library;
  void* local_memory;
  bool interpret, faulty, ran;
  const char* execute;  // processor
  gpu_execute_t* gpu;
  const kernel_list_t* kernels;
} runner_t;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t bytes_of(const ir_value_t* value) {
  return (size_t)ir_type_count(value->type) * ir_type_bytes(value->type->element);
}

static void* buffer_of(ir_value_t* value) {
  if (value->data) return value->data;
  const ir_attr_t* attr = value->def && ir_is(value->def, GRAPH_CONSTANT) ? ir_op_attr(value->def, "value") : NULL;
  size_t bytes = bytes_of(value);
  char* data = aligned_alloc(64, (bytes + 127) / 64 * 64);
  memset(data, 0, bytes);
  if (attr) {
    for (size_t at = 0; at + attr->size <= bytes && attr->size; at += attr->size)
      memcpy(data + at, ir_attr_data(attr), attr->size);
  }
  return value->data = data;
}

static bool load(runner_t* r, const target_executable_t* executable) {
  char path[] = "/tmp/run_dispatches_XXXXXX.so";
  int fd = mkstemps(path, 3);
  bool ok = fd >= 0 && write(fd, executable->data, executable->size) == (ssize_t)executable->size;
  close(fd);
  void* library = ok ? dlopen(path, RTLD_NOW) : NULL;
  unlink(path);
  if (!library) return false;
  iree_hal_executable_library_query_fn_t query = NULL;
  *(void**)&query = dlsym(library, "iree_hal_executable_library_query");
  static const iree_hal_executable_environment_v0_t environment;
  r->library = query ? (const void*)query(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, &environment) : NULL;
  return r->library != NULL;
}

static void on_fault(void* user, const kernel_report_t* report) {
  ((runner_t*)user)->faulty = true;
  fprintf(stderr, "%s\n", report->text);
}

static void interpret_dispatch(runner_t* r, ir_op_t* op) {
  int64_t count[3];
  ir_op_ints(op, "workgroups", count, 3);
  kernel_binding_t bindings[64];
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i, ++n) {
    bindings[n] = (kernel_binding_t){buffer_of(ir_operand(op, i)), bytes_of(ir_operand(op, i)), false};
  }
  for (uint32_t i = 0; i < op->result_count; ++i, ++n) {
    bindings[n] = (kernel_binding_t){buffer_of(&op->results[i]), bytes_of(&op->results[i]), true};
  }
  kernel_launch_t launch = {bindings, n, NULL, 0, {(uint32_t)count[0], (uint32_t)count[1], (uint32_t)count[2]}};
  kernel_check_t check = {.report = on_fault, .user = r};
  text_t error = {0};
  if (!kernel_interpret(r->kernels->funcs[ir_op_int(op, "entry", 0)], &launch, &check, &error)) {
    r->faulty = true;
    if (error.data) fprintf(stderr, "%s\n", error.data);
  }
  text_finish(&error);
}

static void execute_dispatch(runner_t* r, ir_op_t* op) {
  int64_t count[3];
  ir_op_ints(op, "workgroups", count, 3);
  gpu_buffer_t buffers[64];
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i, ++n) {
    buffers[n] = (gpu_buffer_t){buffer_of(ir_operand(op, i)), bytes_of(ir_operand(op, i)), false};
  }
  for (uint32_t i = 0; i < op->result_count; ++i, ++n) {
    buffers[n] = (gpu_buffer_t){buffer_of(&op->results[i]), bytes_of(&op->results[i]), true};
  }
  uint32_t workgroups[3] = {(uint32_t)count[0], (uint32_t)count[1], (uint32_t)count[2]};
  if (workgroups[0] && workgroups[1] && workgroups[2] &&
      !gpu_execute_run(r->gpu, (uint32_t)ir_op_int(op, "entry", 0), workgroups, buffers, n)) {
    r->faulty = true;
  }
}

static void run_dispatch(runner_t* r, ir_op_t* op) {
  if (r->interpret) return interpret_dispatch(r, op);
  if (r->gpu) return execute_dispatch(r, op);
  int64_t count[3];
  ir_op_ints(op, "workgroups", count, 3);
  void* bindings[64];
  size_t lengths[64];
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i, ++n) {
    bindings[n] = buffer_of(ir_operand(op, i));
    lengths[n] = bytes_of(ir_operand(op, i));
  }
  for (uint32_t i = 0; i < op->result_count; ++i, ++n) {
    bindings[n] = buffer_of(&op->results[i]);
    lengths[n] = bytes_of(&op->results[i]);
  }
  iree_hal_executable_dispatch_state_v0_t state = {.workgroup_size_x = 1,
                                                   .workgroup_size_y = 1,
                                                   .workgroup_size_z = 1,
                                                   .workgroup_count_x = (uint32_t)count[0],
                                                   .workgroup_count_y = (uint32_t)count[1],
                                                   .workgroup_count_z = (uint16_t)count[2],
                                                   .binding_count = (uint8_t)n,
                                                   .binding_ptrs = bindings,
                                                   .binding_lengths = lengths};
  static const iree_hal_executable_environment_v0_t environment;
  uint32_t entry = (uint32_t)ir_op_int(op, "entry", 0);
  iree_hal_executable_workgroup_state_v0_t group = {.local_memory = r->local_memory, .local_memory_size = 4 << 20};
  for (int64_t z = 0; z < count[2]; ++z) {
    for (int64_t y = 0; y < count[1]; ++y) {
      for (int64_t x = 0; x < count[0]; ++x) {
        group.workgroup_id_x = (uint32_t)x;
        group.workgroup_id_y = (uint32_t)y;
        group.workgroup_id_z = (uint16_t)z;
        if (r->library->exports.ptrs[entry](&environment, &state, &group)) abort();
      }
    }
  }
}

static void read_inputs(runner_t* r, ir_block_t* body) {
  const char* path = r->inputs;
  for (uint32_t i = 0; path && *path && i < body->arg_count; ++i) {
    char name[512];
    size_t size = strcspn(path, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, path);
    FILE* file = fopen(name, "rb");
    size_t bytes = bytes_of(body->args[i]);
    if (!file || fread(buffer_of(body->args[i]), 1, bytes, file) != bytes) {
      fprintf(stderr, "cannot read %zu bytes of input %u from '%s'\n", bytes, i, name);
      exit(1);
    }
    fclose(file);
    path += size + (path[size] == ',');
  }
}

static void write_outputs(runner_t* r, ir_op_t* terminator) {
  for (uint32_t i = 0; r->outputs && i < terminator->operand_count; ++i) {
    char name[512];
    snprintf(name, sizeof(name), "%s%u.bin", r->outputs, i);
    FILE* file = fopen(name, "wb");
    if (!file) exit(1);
    fwrite(buffer_of(ir_operand(terminator, i)), 1, bytes_of(ir_operand(terminator, i)), file);
    fclose(file);
  }
}

static bool observe(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                    const target_executable_t* executable) {
  (void)ctx;
  runner_t* r = user;
  r->kernels = kernels;
  ir_op_t* func = ir_module_body(module)->first;
  ir_block_t* body = func->regions[0].first;
  if (r->execute) {
    r->gpu = gpu_execute_open(r->execute, executable);
    if (!r->gpu) return false;
  } else if (!r->interpret && !load(r, executable)) {
    return false;
  }
  r->ran = true;
  r->local_memory = aligned_alloc(4096, 4 << 20);
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
  read_inputs(r, body);
  double total = 0, best_run = 1e9;
  IR_FOR_OPS(op, body) {
    if (!ir_is(op, GRAPH_DISPATCH)) continue;
    run_dispatch(r, op);
    double best = 1e9;
    for (int i = 0; i < r->repeat; ++i) {
      double start = now();
      run_dispatch(r, op);
      double took = now() - start;
      if (took < best) best = took;
    }
    total += best;
    if (r->repeat)
      printf("%10.1f us  %-10s %s\n", 1e6 * best, ir_op_string(op, "strategy", ""), ir_op_string(op, "sym_name", ""));
  }
  for (int i = 0; i < r->repeat; ++i) {
    double start = now();
    IR_FOR_OPS(op, body) {
      if (ir_is(op, GRAPH_DISPATCH)) run_dispatch(r, op);
    }
    if (now() - start < best_run) best_run = now() - start;
  }
  if (r->repeat) printf("%10.3f ms in all, each at its best; %.3f ms in a row\n", 1e3 * total, 1e3 * best_run);
  write_outputs(r, body->last);
  gpu_execute_close(r->gpu);
  return false;
}

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)user, (void)severity, (void)loc, (void)text;
  fprintf(stderr, "%s\n", rendered);
}

int main(int argc, char** argv) {
  runner_t runner = {0};
  int split = argc;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--")) split = i;
    if (i <= split) continue;
    if (!strncmp(argv[i], "--repeat=", 9)) runner.repeat = atoi(argv[i] + 9);
    if (!strcmp(argv[i], "--interpret")) runner.interpret = true;
    if (!strncmp(argv[i], "--execute=", 10)) runner.execute = argv[i] + 10;
    if (!strncmp(argv[i], "--inputs=", 9)) runner.inputs = argv[i] + 9;
    if (!strncmp(argv[i], "--outputs=", 10)) runner.outputs = argv[i] + 10;
  }
  compiler_flags_t flags;
  compiler_options_t options;
  text_t error = {0};
  if (!compiler_flags_parse(&flags, split, argv, &error) || !flags.input ||
      !compiler_flags_resolve(&flags, &options, &error)) {
    fprintf(stderr, "%s\n", error.data ? error.data : "no input file");
    return 1;
  }
  options.diagnostic = on_diagnostic;
  options.observe = observe;
  options.observe_user = &runner;
  compiler_output_t output = {0};
  compiler_run(&options, flags.input, NULL, 0, &output);
  compiler_flags_finish(&flags);
  return runner.ran && !runner.faulty ? 0 : 1;
}
