// See dispatch_run.h.
#include "dispatch_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/vmvx/interpret.h"

tensor_t* dispatch_new_tensor(ir_value_t* value, const int64_t* dims) {
  tensor_t* tensor = calloc(1, sizeof(*tensor));
  tensor->size = ir_type_bytes(value->type->element);
  for (int32_t i = 0; i < value->type->rank; ++i) tensor->size *= (size_t)(tensor->dims[i] = dims[i]);
  tensor->data = aligned_alloc(64, (tensor->size + 127) / 64 * 64);
  memset(tensor->data, 0, tensor->size);
  value->data = tensor;
  return tensor;
}

tensor_t* dispatch_tensor_of(ir_value_t* value) {
  if (value->data) return value->data;
  const ir_attr_t* attr = value->def && ir_is(value->def, GRAPH_CONSTANT) ? ir_op_attr(value->def, "value") : NULL;
  tensor_t* tensor = dispatch_new_tensor(value, value->type->dims);
  if (attr) {
    for (size_t at = 0; at + attr->size <= tensor->size && attr->size; at += attr->size)
      memcpy(tensor->data + at, ir_attr_data(attr), attr->size);
  }
  return tensor;
}

static void free_tensor(ir_value_t* value) {
  tensor_t* tensor = value->data;
  value->data = NULL;
  if (tensor) free(tensor->data);
  free(tensor);
}

void dispatch_free_tensors(ir_block_t* body) {
  for (uint32_t i = 0; i < body->arg_count; ++i) free_tensor(body->args[i]);
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) free_tensor(&op->results[i]);
  }
}

void dispatch_forget_tensors(ir_block_t* body) {
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
}

// Numbers of the host program: sizes, arithmetic on them, and what loops carry, which is in a tensor of one.
static int64_t number_of(const ir_value_t* value) {
  ir_op_t* op = value->def;
  if (!op || ir_is(op, GRAPH_WHILE)) return *(const int64_t*)((const tensor_t*)value->data)->data;
  int fn = graph_scalar_fn(op);
  if (ir_is(op, GRAPH_CONSTANT)) return ir_op_int(op, "value", 0);
  if (ir_is(op, GRAPH_DIM)) return dispatch_tensor_of(ir_operand(op, 0))->dims[ir_op_int(op, "index", 0)];
  if (ir_is(op, GRAPH_TO_SCALAR))
    return ir_scalar_load_integer(value->type, dispatch_tensor_of(ir_operand(op, 0))->data);
  if (fn < 0) {
    fprintf(stderr, "'%s' is not run here\n", op->name);
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
    if (result && !value->data) dispatch_new_tensor(value, dims);
  }
  if (graph_in_place(op) < 0) return;
  const tensor_t* before = dispatch_tensor_of(ir_operand(op, (uint32_t)graph_in_place(op)));
  memcpy(dispatch_tensor_of(ir_result(op, 0))->data, before->data, before->size);
}

static launch_t launch_of(ir_op_t* op) {
  launch_t l = {0};
  ir_op_ints(op, "workgroups", l.workgroups, 3);
  l.workgroups[0] = workgroups_x(op, l.workgroups[0]);
  make_results(op);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* value = ir_operand(op, i);
    if (ir_type_is_tensor(value->type)) {
      l.tensors[l.count++] = dispatch_tensor_of(value);
    } else {
      add_number(&l, value);
    }
  }
  l.result_first = l.count;
  for (uint32_t i = 0; i < op->result_count; ++i) l.tensors[l.count++] = dispatch_tensor_of(ir_result(op, i));
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

void dispatch_run(runner_t* r, ir_op_t* op) {
  launch_t l = launch_of(op);
  if (r->interpret) {
    interpret_dispatch(r, op, &l);
  } else if (r->gpu) {
    execute_dispatch(r, op, &l);
  } else {
    call_dispatch(r, op, &l);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops that the host steers by numbers
//===----------------------------------------------------------------------------------------------------------------===

static tensor_t* copy_carried(const ir_value_t* value) {
  ir_value_t holder = {.type = value->type};
  if (ir_type_is_tensor(value->type)) {
    const tensor_t* tensor = dispatch_tensor_of((ir_value_t*)value);
    memcpy(dispatch_new_tensor(&holder, tensor->dims)->data, tensor->data, tensor->size);
    return holder.data;
  }
  int64_t number = number_of(value);
  tensor_t* tensor = calloc(1, sizeof(*tensor));
  tensor->data = malloc(sizeof(number));
  memcpy(tensor->data, &number, sizeof(number));
  return tensor;
}

static bool goes_on(runner_t* r, ir_block_t* test) {
  dispatch_run_block(r, test);
  ir_value_t* flag = ir_operand(test->last, 0);
  return ir_type_is_tensor(flag->type) ? dispatch_tensor_of(flag)->data[0] & 1 : number_of(flag) & 1;
}

// The block's arguments: copies of `values`.
static void pass_values(ir_block_t* block, const ir_op_t* values) {
  for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = copy_carried(ir_operand(values, i));
}

static void run_while(runner_t* r, ir_op_t* op) {
  ir_block_t *test = op->regions[0].first, *body = op->regions[1].first;
  dispatch_forget_tensors(test);
  dispatch_forget_tensors(body);
  pass_values(test, op);
  while (goes_on(r, test) && !r->faulty) {
    for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = copy_carried(test->args[i]);
    dispatch_run_block(r, body);
    dispatch_free_tensors(test);
    pass_values(test, body->last);
    dispatch_free_tensors(body);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = copy_carried(test->args[i]);
  dispatch_free_tensors(test);
}

void dispatch_run_block(runner_t* r, ir_block_t* body) {
  IR_FOR_OPS(op, body) {
    if (ir_is(op, GRAPH_DISPATCH)) dispatch_run(r, op);
    if (ir_is(op, GRAPH_WHILE)) run_while(r, op);
  }
}

bool dispatch_needs_host(const ir_block_t* body) {
  IR_FOR_OPS(op, body) {
    if (ir_is(op, GRAPH_IF) || ir_is(op, GRAPH_CALL) || ir_is(op, GRAPH_CALL_IMPORT) || ir_is(op, GRAPH_GLOBAL_LOAD) ||
        graph_is_window(op))
      return true;
    if (!ir_is(op, GRAPH_WHILE)) continue;
    if (dispatch_needs_host(op->regions[0].first) || dispatch_needs_host(op->regions[1].first)) return true;
  }
  return false;
}
