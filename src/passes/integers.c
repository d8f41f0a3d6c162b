// See integers.h.
#include "passes/integers.h"

#include <math.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/graph.h"

enum { MAX_DEPTH = 12 };

static bool range_of(const ir_value_t* value, int depth, integers_t* out);

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

const ir_attr_t* integers_constant(const ir_value_t* value) {
  const ir_attr_t* attr = graph_constant_value(value);
  return attr && ir_type_count(attr->type) <= INTEGERS_MAX_ELEMENTS ? attr : NULL;
}

static const ir_attr_t* known_at(ir_context_t* ctx, const ir_value_t* value, int depth) {
  ir_op_t* op = value->def;
  const ir_attr_t *attr = integers_constant(value), *inputs[2], *output = NULL;
  if (attr || !op || depth >= MAX_DEPTH || !ir_type_is_static(value->type)) return attr;
  bool folds = graph_scalar_fn(op) >= 0 || ir_is(op, GRAPH_TRANSPOSE) || ir_is(op, GRAPH_RESHAPE);
  if (!folds || op->operand_count > 2 || ir_type_count(value->type) > INTEGERS_MAX_ELEMENTS) return NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!(inputs[i] = known_at(ctx, ir_operand(op, i), depth + 1))) return NULL;
  }
  return graph_evaluate_op(ctx, op, inputs, &output) && output && output->type == value->type ? output : NULL;
}

const ir_attr_t* integers_known(ir_context_t* ctx, const ir_value_t* value) { return known_at(ctx, value, 0); }

static bool range_of_ints(const ir_attr_t* attr, integers_t* out) {
  int64_t count = attr->splat ? 1 : ir_type_count(attr->type);
  const char* data = ir_attr_data(attr);
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (int64_t i = 0; i < count; ++i) {
    int32_t element;
    memcpy(&element, data + sizeof(element) * (size_t)i, sizeof(element));
    low = element < low ? element : low;
    high = element > high ? element : high;
  }
  *out = (integers_t){low, high};
  return low <= high;
}

static bool range_of_floats(const ir_attr_t* attr, integers_t* out) {
  int64_t count = attr->splat ? 1 : ir_type_count(attr->type);
  const char* data = ir_attr_data(attr);
  float low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < count; ++i) {
    float element;
    memcpy(&element, data + sizeof(element) * (size_t)i, sizeof(element));
    if (!(fabsf(element) <= (float)INT32_MAX) || element != rintf(element)) return false;
    low = element < low ? element : low;
    high = element > high ? element : high;
  }
  if (!(low <= high)) return false;
  *out = (integers_t){(int64_t)low, (int64_t)high};
  return true;
}

static bool is_f32(const ir_type_t* type) {
  return ir_type_is_float(type->element) && type->element->float_kind == IR_F32;
}

static bool range_of_constant(const ir_attr_t* attr, integers_t* out) {
  const ir_type_t* element = attr->type->element;
  if (is_f32(attr->type)) return range_of_floats(attr, out);
  return ir_type_is_int(element) && element->width == 32 && range_of_ints(attr, out);
}

// From a narrow type, or from the other kind of number when it holds all of them.
static bool range_of_cast(const ir_op_t* op, bool is_unsigned, int depth, integers_t* out) {
  const ir_type_t *from = ir_operand(op, 0)->type->element, *to = op->results[0].type->element;
  if (ir_type_is_int(from) && from->width <= 16) {
    int64_t steps = INT64_C(1) << from->width;
    *out = is_unsigned ? (integers_t){0, steps - 1} : (integers_t){-steps / 2, steps / 2 - 1};
    return true;
  }
  if (!range_of(ir_operand(op, 0), depth + 1, out)) return false;
  if (ir_type_is_float(to)) return !is_unsigned || out->low >= 0;
  int64_t steps = INT64_C(1) << (to->width < 32 ? to->width : 32);
  return is_unsigned ? out->low >= 0 && out->high < steps : out->low >= -steps / 2 && out->high < steps / 2;
}

static bool range_of_pair(const ir_op_t* op, int depth, integers_t* out) {
  integers_t x, y;
  if (!range_of(ir_operand(op, 0), depth, &x) || !range_of(ir_operand(op, 1), depth, &y)) return false;
  switch (graph_scalar_fn(op)) {
    case SCALAR_add:
      *out = (integers_t){x.low + y.low, x.high + y.high};
      break;
    case SCALAR_sub:
      *out = (integers_t){x.low - y.high, x.high - y.low};
      break;
    case SCALAR_min:
      *out = (integers_t){least(x.low, y.low), least(x.high, y.high)};
      break;
    case SCALAR_max:
      *out = (integers_t){most(x.low, y.low), most(x.high, y.high)};
      break;
    default:
      return false;
  }
  if (is_f32(op->results[0].type)) {  // rounds to whole numbers
    *out = (integers_t){most(out->low, -INTEGERS_ANY), least(out->high, INTEGERS_ANY)};
    return true;
  }
  return out->low >= INT32_MIN && out->high <= INT32_MAX;
}

// A sum of products of floats, which rounds to whole numbers.
static bool range_of_product(const ir_op_t* op, int depth, integers_t* out) {
  integers_t x, w;
  if (!is_f32(op->results[0].type) || !ir_type_is_static(ir_operand(op, 1)->type)) return false;
  if (!range_of(ir_operand(op, 0), depth + 1, &x) || !range_of(ir_operand(op, 1), depth + 1, &w)) return false;
  double terms = (double)ir_type_count(ir_operand(op, 1)->type);
  double bound = integers_magnitude(x) * integers_magnitude(w) * terms;
  int64_t most_bound = bound < (double)INTEGERS_ANY ? (int64_t)bound : INTEGERS_ANY;
  *out = (integers_t){-most_bound, most_bound};
  return true;
}

static bool range_of(const ir_value_t* value, int depth, integers_t* out) {
  const ir_op_t* op = value->def;
  const ir_attr_t* attr = integers_constant(value);
  if (attr) return range_of_constant(attr, out);
  if (!op || depth >= MAX_DEPTH) return false;
  switch (op->info->code) {
    case GRAPH_cast:
      return range_of_cast(op, false, depth, out);
    case GRAPH_castu:
      return range_of_cast(op, true, depth, out);
    case GRAPH_roundeven:
      if (!range_of(ir_operand(op, 0), depth + 1, out)) *out = (integers_t){-INTEGERS_ANY, INTEGERS_ANY};
      return is_f32(value->type);
    case GRAPH_CONV:
    case GRAPH_CONTRACT:
      return range_of_product(op, depth, out);
    case GRAPH_TRANSPOSE:
    case GRAPH_RESHAPE:
    case GRAPH_BROADCAST:
    case GRAPH_SLICE:
    case GRAPH_REVERSE:
      return range_of(ir_operand(op, 0), depth + 1, out);
    case GRAPH_PAD: {
      integers_t filling;
      if (!range_of(ir_operand(op, 0), depth + 1, out) || !range_of(ir_operand(op, 1), depth + 1, &filling))
        return false;
      *out = (integers_t){least(out->low, filling.low), most(out->high, filling.high)};
      return true;
    }
    default:
      return graph_scalar_fn(op) >= 0 && op->operand_count == 2 && range_of_pair(op, depth + 1, out);
  }
}

bool integers_range(const ir_value_t* value, integers_t* out) { return range_of(value, 0, out); }

ir_value_t* integers_product(ir_builder_t* b, const ir_op_t* op, ir_value_t* x, ir_value_t* w,
                             const ir_type_t* element) {
  if (ir_is(op, GRAPH_CONV)) {
    graph_conv_t conv = graph_conv_read(op);
    return graph_conv(b, x, w, &conv, element);
  }
  int64_t lists[4][GRAPH_MAX_RANK];
  graph_contract_t c = {
      .lhs_batch = lists[0], .rhs_batch = lists[1], .lhs_contract = lists[2], .rhs_contract = lists[3]};
  c.batch_count = graph_get_lhs_batch(op, lists[0]);
  graph_get_rhs_batch(op, lists[1]);
  c.contract_count = graph_get_lhs_contract(op, lists[2]);
  graph_get_rhs_contract(op, lists[3]);
  return graph_contract(b, x, w, &c, element);
}

ir_value_t* integers_before_moves(ir_value_t* value) {
  for (int depth = 0; depth < MAX_DEPTH && value->def; ++depth) {
    if (!ir_is(value->def, GRAPH_RESHAPE) && !ir_is(value->def, GRAPH_TRANSPOSE)) break;
    value = ir_operand(value->def, 0);
  }
  return value;
}

ir_value_t* integers_moved(ir_builder_t* b, const ir_value_t* value, const ir_value_t* before, ir_value_t* other) {
  if (value == before) return other;
  ir_op_t* op = value->def;
  other = integers_moved(b, ir_operand(op, 0), before, other);
  if (ir_is(op, GRAPH_RESHAPE)) {
    ir_value_t* sizes[GRAPH_MAX_RANK];
    for (uint32_t i = 1; i < op->operand_count; ++i) sizes[i - 1] = ir_operand(op, i);
    return graph_reshape(b, other, value->type->rank, value->type->dims, sizes);
  }
  int64_t perm[GRAPH_MAX_RANK];
  graph_get_perm(op, perm);
  return graph_transpose(b, other, perm);
}
