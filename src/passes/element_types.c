// See element_types.h.
//
//   func.func @f(%x: tensor<4xi64>)                     func.func @f(%x: tensor<4xi32>)
//     %w = graph.global_load @w : tensor<4xi64>    =>     %v = graph.global_load @w : tensor<4xi64>
//     %y = graph.add %x, %w                               %w = graph.cast %v : tensor<4xi32>
//                                                         %y = graph.add %x, %w
#include "passes/element_types.h"

#include <string.h>

#include "dialects/func.h"
#include "dialects/graph.h"

typedef struct convert_t {
  ir_context_t* ctx;
  const element_types_t* types;
  bool changed;
} convert_t;

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static const ir_type_t* convert_float(const convert_t* c, const ir_type_t* type) {
  const element_types_t* t = c->types;
  switch (type->float_kind) {
    case IR_F64:
      return t->f64_to_f32 ? ir_type_float(c->ctx, IR_F32) : type;
    case IR_F32:
      return t->f32_to_f16 ? ir_type_float(c->ctx, IR_F16) : type;
    case IR_F16:
      return t->f16_to_f32 ? ir_type_float(c->ctx, IR_F32) : type;
    case IR_BF16:
      return t->bf16_to_f32 ? ir_type_float(c->ctx, IR_F32) : type;
    default:
      return type;
  }
}

static const ir_type_t* convert_type(const convert_t* c, const ir_type_t* type);

static const ir_type_t* convert_function(const convert_t* c, const ir_type_t* type) {
  uint32_t inputs = type->input_count, results = type->result_count;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(c->ctx), const ir_type_t*, inputs + results + 1);
  for (uint32_t i = 0; i < inputs; ++i) types[i] = convert_type(c, type->inputs[i]);
  for (uint32_t i = 0; i < results; ++i) types[inputs + i] = convert_type(c, type->results[i]);
  return ir_type_function(c->ctx, types, inputs, types + inputs, results);
}

static const ir_type_t* convert_type(const convert_t* c, const ir_type_t* type) {
  switch (type->kind) {
    case IR_TYPE_INTEGER:
      return type->width == 64 && c->types->i64_to_i32 ? ir_type_integer(c->ctx, 32, type->sign) : type;
    case IR_TYPE_FLOAT:
      return convert_float(c, type);
    case IR_TYPE_COMPLEX:
      return ir_type_complex(c->ctx, convert_type(c, type->element));
    case IR_TYPE_TENSOR:
      return ir_type_with_element(c->ctx, type, convert_type(c, type->element));
    case IR_TYPE_FUNCTION:
      return convert_function(c, type);
    default:
      return type;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Operations
//===----------------------------------------------------------------------------------------------------------------===

// A number in 32 bits; the outermost of 64, which stand for "no bound", become the outermost of 32.
static int64_t narrow(int64_t x) { return x == INT64_MIN ? INT32_MIN : x == INT64_MAX ? INT32_MAX : (int32_t)x; }

static bool is_wide_integer(const ir_type_t* scalar) { return scalar->kind == IR_TYPE_INTEGER && scalar->width == 64; }

static const ir_attr_t* narrow_elements(const convert_t* c, const ir_attr_t* attr, const ir_type_t* type) {
  int64_t count = attr->splat ? 1 : ir_type_count(type);
  int32_t* data = ARENA_ARRAY(ir_context_arena(c->ctx), int32_t, (size_t)count + 1);
  for (int64_t i = 0; i < count; ++i) data[i] = (int32_t)narrow(ir_attr_element_integer(attr, i));
  return ir_attr_elements_borrow(c->ctx, type, data, sizeof(*data) * (size_t)count);
}

// The constant's value in another type, or NULL where a cast is as good.
static const ir_attr_t* convert_value(const convert_t* c, const ir_op_t* op, const ir_type_t* type) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  if (value->kind == IR_ATTR_INTEGER) return ir_attr_integer(c->ctx, type, narrow(value->integer));
  if (value->kind == IR_ATTR_FLOAT) return ir_attr_float(c->ctx, type, value->number);
  return is_wide_integer(value->type->element) ? narrow_elements(c, value, type) : NULL;
}

// Ops whose types others fix: casts go around them.
static bool is_fixed(const ir_op_t* op) {
  return ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE) ||
         ir_is(op, GRAPH_CALL_IMPORT) || ir_is(op, GRAPH_EXTERN) || ir_is(op, graph_scalar_code(SCALAR_bitcast));
}

static void cast_operands(convert_t* c, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(c->ctx, op);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* x = ir_operand(op, i);
    // Values that dominate have been seen, and say here what they were.
    const ir_type_t* before = x->data;
    if (before && before != x->type) ir_op_set_operand(op, i, graph_cast(&b, x, ir_type_scalar(before), false));
  }
}

static void cast_results(convert_t* c, ir_op_t* op) {
  ir_builder_t b = ir_builder_at_end(c->ctx, op->parent);
  b.before = op->next;
  b.loc = op->loc;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* x = &op->results[i];
    const ir_type_t* type = convert_type(c, x->type);
    if (type == x->type) continue;
    ir_value_t* narrowed = graph_cast(&b, x, ir_type_scalar(type), false);
    narrowed->data = (void*)x->type;
    ir_value_replace_except(x, narrowed, narrowed->def);
    c->changed = true;
  }
}

static void retype(convert_t* c, ir_value_t* x) {
  const ir_type_t* type = convert_type(c, x->type);
  x->data = (void*)x->type;
  c->changed |= type != x->type;
  x->type = type;
}

static void convert_signature(convert_t* c, ir_op_t* func) {
  static const char* const names[] = {"function_type", "iree.abi.type"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const ir_attr_t* attr = ir_op_attr(func, names[i]);
    const ir_type_t* type = attr ? convert_type(c, attr->type) : NULL;
    if (!attr || type == attr->type) continue;
    ir_op_set_attr(c->ctx, func, names[i], ir_attr_type(c->ctx, type));
    if (i || strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0) continue;
    ir_warning(c->ctx, func->loc, "the signature of @%s becomes %s, by --iree-input-demote or --iree-input-promote",
               ir_op_string(func, "sym_name", ""), ir_type_str(c->ctx, type));
  }
}

static void visit(convert_t* c, ir_op_t* op);

static void visit_region(convert_t* c, ir_region_t* region) {
  IR_FOR_BLOCKS(block, region) {
    for (uint32_t i = 0; i < block->arg_count; ++i) retype(c, block->args[i]);
    for (ir_op_t *op = block->first, *next; op; op = next) {
      next = op->next;  // casts behind an op are not visited: they are as they should be
      visit(c, op);
    }
  }
}

static void visit(convert_t* c, ir_op_t* op) {
  if (is_fixed(op)) {
    const ir_type_t* type = op->result_count ? convert_type(c, op->results[0].type) : NULL;
    bool is_constant = ir_is(op, GRAPH_CONSTANT) && type != op->results[0].type;
    const ir_attr_t* value = is_constant ? convert_value(c, op, type) : NULL;
    if (value) {
      ir_op_set_attr(c->ctx, op, "value", value);
      retype(c, &op->results[0]);
      return;
    }
    cast_operands(c, op);
    cast_results(c, op);
    return;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) retype(c, &op->results[i]);
  for (uint32_t r = 0; r < op->region_count; ++r) visit_region(c, &op->regions[r]);
}

// Casts between what are equal types by now.
static void drop_casts(ir_region_t* region) {
  IR_FOR_BLOCKS(block, region) {
    IR_FOR_OPS_SAFE(op, block) {
      for (uint32_t r = 0; r < op->region_count; ++r) drop_casts(&op->regions[r]);
      bool is_cast = ir_is(op, graph_scalar_code(SCALAR_cast)) || ir_is(op, graph_scalar_code(SCALAR_castu));
      if (!is_cast || op->results[0].type != ir_operand(op, 0)->type) continue;
      ir_value_replace(&op->results[0], ir_operand(op, 0));
      ir_op_erase(op);
    }
  }
}

static void clear(ir_region_t* region) {
  IR_FOR_BLOCKS(block, region) {
    for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
    IR_FOR_OPS(op, block) {
      for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
      for (uint32_t r = 0; r < op->region_count; ++r) clear(&op->regions[r]);
    }
  }
}

pass_result_t element_types_run(ir_op_t* module, ir_context_t* ctx, const element_types_t* types) {
  convert_t c = {.ctx = ctx, .types = types};
  clear(&module->regions[0]);
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (!ir_is(func, FUNC_FUNC) || !func->regions[0].first) continue;
    visit_region(&c, &func->regions[0]);
    convert_signature(&c, func);
  }
  drop_casts(&module->regions[0]);
  clear(&module->regions[0]);
  return c.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
