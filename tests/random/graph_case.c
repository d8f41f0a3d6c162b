// See graph_case.h.
#include "graph_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/evaluate.h"
#include "dialects/register.h"

bool graph_case_fail(graph_case_t* c, const char* what, const char* detail) {
  if (!c->problem[0]) snprintf(c->problem, sizeof(c->problem), "%s: %s %s", c->target, what, detail ? detail : "");
  return false;
}

void graph_case_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                           const char* rendered) {
  (void)loc, (void)text;
  if (severity == IR_ERROR) graph_case_fail(user, "", rendered);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is expected
//===----------------------------------------------------------------------------------------------------------------===

// Whole numbers from -3 to 3, booleans 0 and 1, of a generator with a state.
static const ir_attr_t* make_input(graph_case_t* c, const ir_type_t* type, const int64_t* dims, uint32_t* state) {
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

static bool read_tolerance(graph_case_t* c, const ir_attr_t* tolerance) {
  if (tolerance && (tolerance->kind != IR_ATTR_ARRAY || tolerance->count < c->output_count)) return false;
  for (uint32_t i = 0; i < c->output_count; ++i) {
    if (tolerance && tolerance->items[i]->kind != IR_ATTR_FLOAT) return false;
    c->tolerance[i] = tolerance ? tolerance->items[i]->number : 0;
  }
  return true;
}

bool graph_case_prepare(graph_case_t* c) {
  c->target = "evaluator";
  c->ctx = ir_context_create();
  dialects_register_all(c->ctx);
  ir_context_set_diagnostics(c->ctx, graph_case_diagnostic, c);
  ir_op_t* module = ir_parse_module(c->ctx, c->path, c->text, c->size);
  if (!module || !ir_verify(c->ctx, module)) return graph_case_fail(c, "the program is not valid", NULL);
  ir_op_t* func = ir_module_body(module)->first;
  ir_block_t* body = func && func->region_count ? func->regions[0].first : NULL;
  if (!body || !body->last) return graph_case_fail(c, "the program has no function", NULL);
  if (c->accepts && !c->accepts(func)) return graph_case_fail(c, "the program is left out", NULL);
  int64_t sizes[GRAPH_CASE_VALUES * 8] = {0};
  uint32_t at = 0, state = (uint32_t)c->size;
  ir_op_ints(func, "test.sizes", sizes, GRAPH_CASE_VALUES * 8);
  c->input_count = body->arg_count;
  c->output_count = body->last->operand_count;
  if (c->input_count > GRAPH_CASE_VALUES || c->output_count > GRAPH_CASE_VALUES)
    return graph_case_fail(c, "too many values", NULL);
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const ir_type_t* type = body->args[i]->type;
    if (!ir_type_is_tensor(type)) return graph_case_fail(c, "an argument is no tensor", NULL);
    int64_t dims[GRAPH_MAX_RANK];
    for (int32_t d = 0; d < type->rank; ++d) {
      dims[d] = type->dims[d] == IR_DYNAMIC ? sizes[at++ % (GRAPH_CASE_VALUES * 8)] : type->dims[d];
      if (dims[d] < 0) return graph_case_fail(c, "an argument has a negative size", NULL);
    }
    c->inputs[i] = make_input(c, type, dims, &state);
  }
  if (!read_tolerance(c, ir_op_attr(func, "test.tolerance")))
    return graph_case_fail(c, "test.tolerance is not a list of a number for each result", NULL);
  return graph_evaluate(c->ctx, func, c->inputs, c->outputs) || graph_case_fail(c, "cannot evaluate", NULL);
}

bool graph_case_compare(graph_case_t* c, uint32_t index, const void* data, size_t size) {
  const ir_attr_t* want = c->outputs[index];
  const ir_type_t* element = want->type->element;
  size_t bytes = ir_type_bytes(element);
  int64_t count = ir_type_count(want->type);
  char text[160];
  if (isinf(c->tolerance[index])) return true;
  if (size != (size_t)count * bytes) {
    snprintf(text, sizeof(text), "%u has %zu bytes, not %zu", index, size, (size_t)count * bytes);
    return graph_case_fail(c, "result", text);
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
    return graph_case_fail(c, "result", text);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// In the interpreter
//===----------------------------------------------------------------------------------------------------------------===

// Runs the program's dispatches one after the other, and compares what it returns.
static void interpret(graph_case_interpretation_t* in, ir_block_t* body) {
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    const ir_attr_t* input = in->c->inputs[i];
    tensor_t* tensor = dispatch_new_tensor(body->args[i], input->type->dims);
    size_t size = ir_type_bytes(input->type->element);
    for (size_t at = 0; at < tensor->size; at += input->splat ? size : tensor->size) {
      memcpy(tensor->data + at, ir_attr_data(input), input->splat ? size : tensor->size);
    }
  }
  dispatch_run_block(&in->runner, body);
  if (in->runner.faulty) {
    graph_case_fail(in->c, "a check of the interpreter", NULL);
    return;
  }
  in->runner.ran = true;
  for (uint32_t i = 0; i < body->last->operand_count; ++i) {
    const tensor_t* tensor = dispatch_tensor_of(ir_operand(body->last, i));
    if (!graph_case_compare(in->c, i, tensor->data, tensor->size)) break;
  }
}

// Elements side by side in a byte have their sizes as arguments beside them: the host unpacks them.
static bool has_packed(const graph_case_t* c) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (ir_type_is_packed(c->inputs[i]->type->element)) return true;
  }
  for (uint32_t i = 0; i < c->output_count; ++i) {
    if (ir_type_is_packed(c->outputs[i]->type->element)) return true;
  }
  return false;
}

bool graph_case_observe(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                        const target_executable_t* executable) {
  (void)ctx, (void)executable;
  graph_case_interpretation_t* in = user;
  in->runner.kernels = kernels;
  ir_block_t* body = ir_module_body(module)->first->regions[0].first;
  in->runner.needs_host = has_packed(in->c) || dispatch_needs_host(body);
  if (in->runner.needs_host) return false;
  dispatch_forget_tensors(body);
  interpret(in, body);
  dispatch_free_tensors(body);
  return false;
}
