// See dispatch_name.h.
//
//   matmul_MxNxK, batch_matmul_BxMxNxK     contractions
//   conv_<result>x<kernel>                 convolutions
//   reduction_<operand>, elementwise_<result>, and other ops by their own names
//
// then the element types: one when all are alike, else those of the operands and the result.
#include "passes/dispatch_name.h"

#include <string.h>

static void put_dim(text_t* text, int64_t dim, bool first) {
  if (!first) text_puts(text, "x");
  if (dim == IR_DYNAMIC) {
    text_puts(text, "D");
  } else {
    text_printf(text, "%lld", (long long)dim);
  }
}

static void put_dims(text_t* text, const ir_type_t* type) {
  text_puts(text, "_");
  for (int32_t i = 0; i < type->rank; ++i) put_dim(text, type->dims[i], i == 0);
  if (!type->rank) text_puts(text, "1");
}

static void put_types(text_t* text, const ir_op_t* op) {
  const ir_type_t* result = ir_type_scalar(op->results[0].type);
  bool mixed = ir_is(op, GRAPH_CONTRACT) || ir_is(op, GRAPH_CONV);
  bool alike = true;
  text_puts(text, "_");
  for (uint32_t i = 0; mixed && i < 2; ++i) alike &= ir_type_scalar(ir_operand(op, i)->type) == result;
  for (uint32_t i = 0; !alike && i < 2; ++i) {
    ir_print_type(text, ir_type_scalar(ir_operand(op, i)->type));
    text_puts(text, "x");
  }
  ir_print_type(text, result);
}

// Batch and result dims, then what is summed over.
static void put_contraction(text_t* text, const ir_op_t* op) {
  int64_t dims[GRAPH_MAX_RANK], product = 1;
  uint32_t batches = graph_get_lhs_batch(op, dims), count = graph_get_lhs_contract(op, dims);
  for (uint32_t i = 0; i < count; ++i) {
    int64_t dim = ir_operand(op, 0)->type->dims[dims[i]];
    product = dim == IR_DYNAMIC || product == IR_DYNAMIC ? IR_DYNAMIC : product * dim;
  }
  text_puts(text, batches ? "batch_matmul" : "matmul");
  put_dims(text, op->results[0].type);
  put_dim(text, product, false);
}

static void put_convolution(text_t* text, const ir_op_t* op) {
  const char* layout = graph_get_w_layout(op);
  const ir_type_t* w = ir_operand(op, 1)->type;
  text_puts(text, "conv");
  put_dims(text, op->results[0].type);
  for (int32_t i = 0; i < w->rank; ++i) {
    if (layout[i] != 'o') put_dim(text, w->dims[i], false);
  }
}

static void put_what(text_t* text, const ir_op_t* op) {
  if (ir_is(op, GRAPH_CONTRACT)) {
    put_contraction(text, op);
  } else if (ir_is(op, GRAPH_CONV)) {
    put_convolution(text, op);
  } else if (ir_is(op, GRAPH_EXTERN)) {
    const ir_attr_t* callee = graph_attr(op, GRAPH_ATTR_callee);
    text_puts(text, callee->count ? callee->items[callee->count - 1]->text : callee->text);
    return;
  } else if (ir_is(op, GRAPH_REDUCE)) {
    text_puts(text, "reduction");
    put_dims(text, ir_operand(op, 0)->type);
  } else {
    text_puts(text, graph_scalar_fn(op) >= 0 ? "elementwise" : strchr(op->name, '.') + 1);
    put_dims(text, op->results[0].type);
  }
  put_types(text, op);
}

const char* dispatch_name(ir_context_t* ctx, const char* func, uint32_t number, const ir_op_t* what) {
  text_t text = {0};
  text_printf(&text, "%s_dispatch_%u_", func, number);
  if (what && (ir_is(what, GRAPH_EXTERN) || ir_type_is_tensor(what->results[0].type))) {
    put_what(&text, what);
  } else {
    text_puts(&text, "copy");
  }
  char* name = arena_strndup(ir_context_arena(ctx), text.data, text.size);
  text_finish(&text);
  for (char* c = name; *c; ++c) {  // symbols that every assembler takes
    bool fits = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (!fits) *c = '_';
  }
  return name;
}
