// Compiles a program and runs its first function dispatch by dispatch, without the runtime: CPU kernels natively, and
// with --interpret any target's kernels in the checking interpreter.
//
//   run_dispatches [iree-compile flags] model.onnx -- [--repeat=N] [--inputs=a.bin,b.bin] [--shapes=3x4,5]
//   [--outputs=PREFIX] [--interpret] [--execute=gfx1100]
//
// --execute runs AMD kernels on the software GPU: the machine code itself.
//
// Inputs are raw little-endian element data (zeros when not given), of the shapes given where the program leaves them
// open; output i is written to PREFIXi.bin. With --repeat a
// line per dispatch gives its least time, its strategy and its name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/flags.h"
#include "dispatch_run.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Inputs with their sizes: 3x4,5 and so on, where the types leave them open.
static void make_inputs(runner_t* r, ir_block_t* body) {
  const char* text = r->shapes;
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    ir_value_t* arg = body->args[i];
    int64_t dims[GRAPH_MAX_RANK];
    size_t length = text ? strcspn(text, ",") : 0;
    for (int32_t d = 0; ir_type_is_tensor(arg->type) && d < arg->type->rank; ++d) {
      char* end = (char*)text;
      int64_t given = text ? strtoll(text, &end, 10) : 1;
      if (text && *end == 'x') ++end;
      length -= text ? (size_t)(end - text) : 0;
      text = text ? end : NULL;
      dims[d] = arg->type->dims[d] == IR_DYNAMIC ? given : arg->type->dims[d];
    }
    text = text ? text + length + (text[length] == ',') : NULL;
    if (ir_type_is_tensor(arg->type)) dispatch_new_tensor(arg, dims);
  }
}

static void read_inputs(runner_t* r, ir_block_t* body) {
  const char* path = r->inputs;
  for (uint32_t i = 0; path && *path && i < body->arg_count; ++i) {
    char name[512];
    size_t size = strcspn(path, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, path);
    FILE* file = fopen(name, "rb");
    size_t bytes = dispatch_tensor_of(body->args[i])->size;
    if (!file || fread(dispatch_tensor_of(body->args[i])->data, 1, bytes, file) != bytes) {
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
    const tensor_t* tensor = dispatch_tensor_of(ir_operand(terminator, i));
    fwrite(tensor->data, 1, tensor->size, file);
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
  r->needs_host = dispatch_needs_host(body);
  if (r->needs_host) return false;
  if (r->execute) {
    r->gpu = gpu_execute_open(r->execute, executable);
    if (!r->gpu) return false;
  } else if (!r->interpret && !(r->code = execute_open(executable))) {
    return false;
  }
  r->ran = true;
  dispatch_forget_tensors(body);
  make_inputs(r, body);
  read_inputs(r, body);
  double total = 0, best_run = 1e9;
  dispatch_run_block(r, body);
  IR_FOR_OPS(op, body) {
    if (!ir_is(op, GRAPH_DISPATCH)) continue;
    double best = 1e9;
    for (int i = 0; i < r->repeat; ++i) {
      double start = now();
      dispatch_run(r, op);
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
      if (ir_is(op, GRAPH_DISPATCH)) dispatch_run(r, op);
    }
    if (now() - start < best_run) best_run = now() - start;
  }
  if (r->repeat) printf("%10.3f ms in all, each at its best; %.3f ms in a row\n", 1e3 * total, 1e3 * best_run);
  write_outputs(r, body->last);
  gpu_execute_close(r->gpu);
  execute_close(r->code);
  return false;
}

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)user, (void)severity, (void)loc, (void)text;
  fprintf(stderr, "%s\n", rendered);
}

enum { NEEDS_HOST = 3 };  // exit code

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
    if (!strncmp(argv[i], "--shapes=", 9)) runner.shapes = argv[i] + 9;
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
  return runner.needs_host ? NEEDS_HOST : runner.ran && !runner.faulty ? 0 : 1;
}
