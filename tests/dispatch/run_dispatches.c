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

#include "compiler/execute.h"
#include "compiler/flags.h"
#include "dialects/graph.h"
#include "gpu_execute.h"
#include "target/vmvx/interpret.h"

typedef struct runner_t {
  int repeat;
  const char *inputs, *shapes, *outputs;
  execute_code_t* code;
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

// A tensor's sizes and contents; at ir_value_t.data.
typedef struct tensor_t {
  int64_t dims[GRAPH_MAX_RANK];
  size_t size;  // bytes
  char* data;
} tensor_t;

static tensor_t* new_tensor(ir_value_t* value, const int64_t* dims) {
  tensor_t* tensor = calloc(1, sizeof(*tensor));
  tensor->size = ir_type_bytes(value->type->element);
  for (int32_t i = 0; i < value->type->rank; ++i) tensor->size *= (size_t)(tensor->dims[i] = dims[i]);
  tensor->data = aligned_alloc(64, (tensor->size + 127) / 64 * 64);
  memset(tensor->data, 0, tensor->size);
  value->data = tensor;
  return tensor;
}

static tensor_t* tensor_of(ir_value_t* value) {
  if (value->data) return value->data;
  const ir_attr_t* attr = value->def && ir_is(value->def, GRAPH_CONSTANT) ? ir_op_attr(value->def, "value") : NULL;
  tensor_t* tensor = new_tensor(value, value->type->dims);
  if (attr) {
    for (size_t at = 0; at + attr->size <= tensor->size && attr->size; at += attr->size)
      memcpy(tensor->data + at, ir_attr_data(attr), attr->size);
  }
  return tensor;
}

// Numbers of the host program: sizes, and arithmetic on them.
static int64_t number_of(const ir_value_t* value) {
  ir_op_t* op = value->def;
  int fn = op ? graph_scalar_fn(op) : -1;
  if (ir_is(op, GRAPH_CONSTANT)) return ir_op_int(op, "value", 0);
  if (ir_is(op, GRAPH_DIM)) return tensor_of(ir_operand(op, 0))->dims[ir_op_int(op, "index", 0)];
  if (ir_is(op, GRAPH_TO_SCALAR)) return ir_scalar_load_integer(value->type, tensor_of(ir_operand(op, 0))->data);
  if (fn < 0) {
    fprintf(stderr, "'%s' is not run here\n", op ? op->name : "an argument");
    exit(1);
  }
  scalar_value_t in[3] = {0};
  for (uint32_t i = 0; i < op->operand_count; ++i) in[i].i = number_of(ir_operand(op, i));
  return scalar_eval((scalar_fn_t)fn, in, ir_operand(op, op->operand_count - 1)->type, value->type).i;
}

// What a dispatch is run with.
enum { MAX_TENSORS = 64, MAX_WORDS = 128 };
typedef struct launch_t {
  tensor_t* tensors[MAX_TENSORS];  // operands, then results
  uint32_t count, result_first;
  uint32_t words[MAX_WORDS], packed[MAX_WORDS];  // numbers: one after the other; aligned by their size
  uint32_t word_count, packed_count;
  int64_t workgroups[3];
} launch_t;

static void add_number(launch_t* l, const ir_value_t* value) {
  int64_t number = number_of(value);
  uint32_t words = ir_type_bytes(value->type) > 4 ? 2 : 1;
  l->packed_count = (l->packed_count + words - 1) / words * words;
  memcpy(&l->words[l->word_count], &number, 4 * words);
  memcpy(&l->packed[l->packed_count], &number, 4 * words);
  l->word_count += words;
  l->packed_count += words;
}

// Workgroups along x where sizes decide: strategy.h, dispatch_t.rule.
static int64_t workgroups_x(ir_op_t* op, int64_t fixed) {
  int64_t rule[3 + GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(op, "workgroup_rule", rule, 3 + GRAPH_MAX_RANK);
  if (!count) return fixed;
  int64_t work = rule[0];
  for (uint32_t i = 3; i < count; ++i) work *= number_of(ir_operand(op, (uint32_t)rule[i]));
  work = (work + rule[1] - 1) / rule[1];
  return work < 1 ? 1 : work > rule[2] ? rule[2] : work;
}

static void make_results(ir_op_t* op) {
  int64_t numbers[8 * GRAPH_MAX_RANK];
  uint32_t at = 0;
  ir_op_ints(op, "sizes", numbers, 8 * GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    bool result = i >= op->operand_count;
    ir_value_t* value = result ? ir_result(op, i - op->operand_count) : ir_operand(op, i);
    int64_t dims[GRAPH_MAX_RANK];
    for (int32_t d = 0; ir_type_is_tensor(value->type) && d < value->type->rank; ++d) {
      dims[d] = value->type->dims[d];
      if (dims[d] == IR_DYNAMIC) dims[d] = number_of(ir_operand(op, (uint32_t)numbers[at++]));
    }
    if (result && !value->data) new_tensor(value, dims);
  }
}

static launch_t launch_of(ir_op_t* op) {
  launch_t l = {0};
  ir_op_ints(op, "workgroups", l.workgroups, 3);
  l.workgroups[0] = workgroups_x(op, l.workgroups[0]);
  make_results(op);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* value = ir_operand(op, i);
    if (ir_type_is_tensor(value->type)) {
      l.tensors[l.count++] = tensor_of(value);
    } else {
      add_number(&l, value);
    }
  }
  l.result_first = l.count;
  for (uint32_t i = 0; i < op->result_count; ++i) l.tensors[l.count++] = tensor_of(ir_result(op, i));
  return l;
}

static void on_fault(void* user, const kernel_report_t* report) {
  ((runner_t*)user)->faulty = true;
  fprintf(stderr, "%s\n", report->text);
}

static void interpret_dispatch(runner_t* r, ir_op_t* op, const launch_t* l) {
  kernel_binding_t bindings[MAX_TENSORS];
  for (uint32_t i = 0; i < l->count; ++i) {
    bindings[i] = (kernel_binding_t){l->tensors[i]->data, l->tensors[i]->size, i >= l->result_first};
  }
  kernel_launch_t launch = {
      .bindings = bindings, .binding_count = l->count, .constants = l->words, .constant_count = l->word_count};
  for (int i = 0; i < 3; ++i) launch.workgroup_count[i] = (uint32_t)l->workgroups[i];
  kernel_check_t check = {.report = on_fault, .user = r};
  text_t error = {0};
  if (!kernel_interpret(r->kernels->funcs[ir_op_int(op, "entry", 0)], &launch, &check, &error)) {
    r->faulty = true;
    if (error.data) fprintf(stderr, "%s\n", error.data);
  }
  text_finish(&error);
}

static void execute_dispatch(runner_t* r, ir_op_t* op, const launch_t* l) {
  gpu_buffer_t buffers[MAX_TENSORS];
  for (uint32_t i = 0; i < l->count; ++i) {
    buffers[i] = (gpu_buffer_t){l->tensors[i]->data, l->tensors[i]->size, i >= l->result_first};
  }
  gpu_launch_t launch = {.entry = (uint32_t)ir_op_int(op, "entry", 0),
                         .buffers = buffers,
                         .constants = l->packed,
                         .buffer_count = l->count,
                         .constant_count = l->packed_count};
  for (int i = 0; i < 3; ++i) launch.workgroups[i] = (uint32_t)l->workgroups[i];
  bool any = l->workgroups[0] && l->workgroups[1] && l->workgroups[2];
  if (any && !gpu_execute_run(r->gpu, &launch)) r->faulty = true;
}

static void call_dispatch(runner_t* r, ir_op_t* op, const launch_t* l) {
  void* bindings[MAX_TENSORS];
  size_t lengths[MAX_TENSORS];
  for (uint32_t i = 0; i < l->count; ++i) {
    bindings[i] = l->tensors[i]->data;
    lengths[i] = l->tensors[i]->size;
  }
  execute_call_t call = {.entry = (uint32_t)ir_op_int(op, "entry", 0),
                         .bindings = bindings,
                         .lengths = lengths,
                         .words = l->words,
                         .binding_count = l->count,
                         .word_count = l->word_count};
  for (int i = 0; i < 3; ++i) call.workgroups[i] = (uint32_t)l->workgroups[i];
  if (!execute_run(r->code, &call)) abort();
}

static void run_dispatch(runner_t* r, ir_op_t* op) {
  launch_t l = launch_of(op);
  if (r->interpret) {
    interpret_dispatch(r, op, &l);
  } else if (r->gpu) {
    execute_dispatch(r, op, &l);
  } else {
    call_dispatch(r, op, &l);
  }
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
    if (ir_type_is_tensor(arg->type)) new_tensor(arg, dims);
  }
}

static void read_inputs(runner_t* r, ir_block_t* body) {
  const char* path = r->inputs;
  for (uint32_t i = 0; path && *path && i < body->arg_count; ++i) {
    char name[512];
    size_t size = strcspn(path, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, path);
    FILE* file = fopen(name, "rb");
    size_t bytes = tensor_of(body->args[i])->size;
    if (!file || fread(tensor_of(body->args[i])->data, 1, bytes, file) != bytes) {
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
    const tensor_t* tensor = tensor_of(ir_operand(terminator, i));
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
  if (r->execute) {
    r->gpu = gpu_execute_open(r->execute, executable);
    if (!r->gpu) return false;
  } else if (!r->interpret && !(r->code = execute_open(executable))) {
    return false;
  }
  r->ran = true;
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
  make_inputs(r, body);
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
  execute_close(r->code);
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
  return runner.ran && !runner.faulty ? 0 : 1;
}
