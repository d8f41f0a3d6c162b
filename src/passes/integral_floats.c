// Integers between floats that are whole numbers: what is converted and converted back is not converted at all.
//
//   %1 = cast (conv ...) : f32 -> i32                      %3 = add (conv ...), float(%bias)
//   %2 = add %1, %bias                               =>    %y = roundeven (mul %3, %scale)
//   %3 = cast %2 : i32 -> f32
//   %y = castu (min (max (roundeven ...), 0), 255) : f32 -> i8
//   %z = cast (sub (castu %y : i8 -> i32), 128) : i32 -> f32    %z = sub (min (max %y, 0), 255), 128
//
// f32 holds the integers up to 2^24, and a float sum of two of them is the integer sum, rounded as its conversion would
// round it. What is between two quantised products is then floats only. NaN stays NaN where it became some integer.
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/integers.h"
#include "passes/passes.h"

enum { EXACT = 1 << 24, MAX_DEPTH = 8 };

static ir_value_t* as_float(ir_builder_t* b, ir_value_t* value, bool is_last, int depth);

static bool is_type(const ir_type_t* type, uint32_t width) {
  return ir_type_is_tensor(type) && ir_type_is_int(type->element) && type->element->width == width;
}

static bool is_f32(const ir_type_t* type) {
  return ir_type_is_tensor(type) && ir_type_is_float(type->element) && type->element->float_kind == IR_F32;
}

static bool fits(const ir_value_t* value, int64_t low, int64_t high) {
  integers_t range;
  return integers_range(value, &range) && range.low >= low && range.high <= high;
}

static ir_value_t* float_constant(ir_builder_t* b, const ir_attr_t* attr) {
  int64_t count = attr->splat ? 1 : ir_type_count(attr->type);
  float* data = memory_alloc(sizeof(float) * (size_t)(count + 1));
  for (int64_t i = 0; i < count; ++i) data[i] = (float)ir_attr_element_integer(attr, i);
  const ir_type_t* type = ir_type_with_element(b->ctx, attr->type, ir_type_float(b->ctx, IR_F32));
  ir_value_t* floats = graph_constant(b, ir_attr_elements(b->ctx, type, data, sizeof(float) * (size_t)count));
  memory_free(data);
  return floats;
}

// Whether something reads the bytes as they are, so that they are in memory anyway.
static bool is_read(const ir_value_t* bytes) {
  IR_FOR_USES(use, bytes) {
    if (!ir_is(use->owner, GRAPH_cast) && !ir_is(use->owner, GRAPH_castu)) return true;
  }
  return false;
}

// A number from a byte that was a float, or from a float.
static ir_value_t* before_cast(const ir_op_t* op) {
  bool is_unsigned = ir_is(op, GRAPH_castu);
  ir_value_t* from = ir_operand(op, 0);
  if (is_f32(from->type)) return !is_unsigned && fits(from, INT32_MIN, INT32_MAX) ? from : NULL;
  const ir_op_t* narrow = from->def;
  if (!narrow || !is_type(from->type, 8) || !ir_is(narrow, op->info->code) || !is_f32(ir_operand(narrow, 0)->type))
    return NULL;
  if (is_read(from)) return NULL;
  ir_value_t* x = ir_operand(narrow, 0);
  return fits(x, is_unsigned ? 0 : -128, is_unsigned ? 255 : 127) ? x : NULL;
}

static ir_value_t* float_broadcast(ir_builder_t* b, const ir_op_t* op, int depth) {
  ir_value_t *x = as_float(b, ir_operand(op, 0), false, depth + 1), *dynamic[GRAPH_MAX_RANK];
  int64_t dims[GRAPH_MAX_RANK];
  if (!x || op->operand_count > 1 + GRAPH_MAX_RANK) return NULL;
  for (uint32_t i = 1; i < op->operand_count; ++i) dynamic[i - 1] = ir_operand(op, i);
  graph_get_dims(op, dims);
  return graph_broadcast(b, x, ir_type_with_element(b->ctx, op->results[0].type, x->type->element), dims, dynamic);
}

// A sum is exact when its operands are; only the last one may be one that its conversion has to round.
static ir_value_t* float_sum(ir_builder_t* b, const ir_op_t* op, bool is_last, int depth) {
  ir_value_t* x = as_float(b, ir_operand(op, 0), false, depth + 1);
  ir_value_t* y = x ? as_float(b, ir_operand(op, 1), false, depth + 1) : NULL;
  if (!y || !fits(x, -(1 << 30), 1 << 30) || !fits(y, -(1 << 30), 1 << 30)) return NULL;
  ir_value_t* sum = graph_binary(b, (scalar_fn_t)graph_scalar_fn(op), x, y);
  return is_last || fits(sum, -EXACT, EXACT) ? sum : NULL;
}

// The floats that a tensor of i32 is equal to, or NULL.
static ir_value_t* as_float(ir_builder_t* b, ir_value_t* value, bool is_last, int depth) {
  const ir_op_t* op = value->def;
  const ir_attr_t* constant = integers_constant(value);
  if (!is_type(value->type, 32) || depth > MAX_DEPTH) return NULL;
  if (constant) return fits(value, -EXACT, EXACT) ? float_constant(b, constant) : NULL;
  if (!op) return NULL;
  switch (op->info->code) {
    case GRAPH_cast:
    case GRAPH_castu:
      return before_cast(op);
    case GRAPH_BROADCAST:
      return float_broadcast(b, op, depth);
    case GRAPH_add:
    case GRAPH_sub:
      return float_sum(b, op, is_last, depth);
    default:
      return NULL;
  }
}

static ir_value_t* drop_conversions(ir_builder_t* b, ir_op_t* op) {
  bool is_cast = ir_is(op, GRAPH_cast) || ir_is(op, GRAPH_castu);
  if (!is_cast || !is_f32(op->results[0].type)) return NULL;
  if (is_type(ir_operand(op, 0)->type, 8)) return before_cast(op);
  if (!ir_is(op, GRAPH_cast) || !is_type(ir_operand(op, 0)->type, 32)) return NULL;
  if (integers_constant(ir_operand(op, 0))) return NULL;
  return as_float(b, ir_operand(op, 0), true, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Zero points
//===----------------------------------------------------------------------------------------------------------------===

static bool small_splat(const ir_value_t* value, double* out) {
  const ir_attr_t* attr = graph_constant_value(value);
  if (!attr || !is_f32(value->type) || (!attr->splat && ir_type_count(attr->type) != 1)) return false;
  *out = ir_attr_element_number(attr, 0);
  return fits(value, -(1 << 20), 1 << 20);
}

// The other operand of `op` when one is a small integer everywhere; NULL otherwise.
static ir_value_t* beside_number(const ir_value_t* value, uint32_t code, double* number) {
  const ir_op_t* op = value->def;
  if (!op || !ir_is(op, code) || !ir_has_one_use(value)) return NULL;
  return small_splat(ir_operand(op, 1), number) ? ir_operand(op, 0) : NULL;
}

// min(max(x + z, low), high) - z is min(max(x, low - z), high - z) for whole numbers.
static ir_value_t* drop_zero_point(ir_builder_t* b, ir_op_t* op) {
  double zero, high, low, added;
  integers_t range;
  if (!ir_is(op, GRAPH_sub) || !is_f32(op->results[0].type) || !small_splat(ir_operand(op, 1), &zero)) return NULL;
  ir_value_t* clamped = beside_number(ir_operand(op, 0), GRAPH_min, &high);
  ir_value_t* above = clamped ? beside_number(clamped, GRAPH_max, &low) : NULL;
  ir_value_t* x = above ? beside_number(above, GRAPH_add, &added) : NULL;
  if (!x || added != zero || !integers_range(x, &range)) return NULL;
  const ir_type_t* type = op->results[0].type;
  if (!ir_type_is_static(type)) return NULL;
  x = graph_binary(b, SCALAR_max, x, graph_splat_number(b, type, low - zero));
  return graph_binary(b, SCALAR_min, x, graph_splat_number(b, type, high - zero));
}

pass_result_t pass_integral_floats(ir_op_t* module, ir_context_t* ctx) {
  static const rewrite_fn_t rules[] = {drop_conversions, drop_zero_point};
  bool changed = false;
  for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); ++i) changed |= rewrite_greedily(ctx, module, &rules[i], 1);
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
