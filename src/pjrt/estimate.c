// What a program costs, from its ops: whether it is worth several threads, and its floating-point operations as XLA
// counts them (xla/service/hlo_cost_analysis.h): two for each product and sum, one for each element made or reduced.
#include "ir/ir.h"
#include "pjrt/pjrt.h"

static int64_t count_of(const ir_type_t* type) {
  return ir_type_is_tensor(type) && ir_type_is_static(type) ? ir_type_count(type) : 1;
}

static bool is_one_of(const ir_op_t* op, const char* const* names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(op->name, names[i]) == 0) return true;
  }
  return false;
}

static bool is_product(const ir_op_t* op) {
  static const char* const names[] = {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution"};
  return op->operand_count >= 2 && is_one_of(op, names, sizeof(names) / sizeof(names[0]));
}

// About the steps of an op: the elements that it makes or takes, or for products each one's sum.
static int64_t work_of(const ir_op_t* op) {
  int64_t most = 0, taken = 1;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    int64_t count = count_of(ir_operand(op, i)->type);
    most = iree_max(most, count);
    if (__builtin_mul_overflow(taken, iree_max(count, 1), &taken)) taken = INT64_MAX;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) most = iree_max(most, count_of(op->results[i].type));
  return is_product(op) ? iree_max(most, taken / 64) : most;
}

// Elements that each of a product's sums is of: what the right side has for each of its own, uncontracted ones.
static double terms_of(const ir_op_t* op) {
  const ir_type_t *lhs = ir_operand(op, 0)->type, *rhs = ir_operand(op, 1)->type;
  const ir_attr_t* dims = ir_op_attr(op, "dot_dimension_numbers");
  int64_t places[PJRT_MAX_RANK];
  double terms = 1;
  if (strcmp(op->name, "stablehlo.convolution") == 0) {
    const ir_attr_t* layout = ir_op_attr(op, "dimension_numbers");
    const char* body = layout && layout->kind == IR_ATTR_OPAQUE && layout->body ? layout->body : "";
    const char *raw = strstr(body, "kernel_output_feature_dimension = "), *filter = strstr(body, "]x[");
    int64_t place = raw ? atoi(strchr(raw, '=') + 1) : 0;
    for (const char* at = filter ? filter + 3 : ""; !raw && *at && *at != ']' && *at != 'o'; ++at) place += *at == ',';
    bool known = ir_type_is_tensor(rhs) && place >= 0 && place < rhs->rank && rhs->dims[place] > 0;
    return (double)count_of(rhs) / (double)(known ? rhs->dims[place] : 1);
  }
  if (!ir_type_is_tensor(lhs)) return 1;
  uint32_t count = 0;
  if (dims) count = ir_attr_ints(ir_attr_dict_get(dims, "lhs_contracting_dimensions"), places, PJRT_MAX_RANK);
  if (!dims && lhs->rank) places[count++] = lhs->rank - 1;
  for (uint32_t i = 0; i < count && i < PJRT_MAX_RANK; ++i) {
    if (places[i] >= 0 && places[i] < lhs->rank) terms *= (double)iree_max(lhs->dims[places[i]], 0);
  }
  return terms;
}

// Ops that only move values, or whose regions do what there is to do.
static bool is_free(const ir_op_t* op) {
  static const char* const names[] = {
      "stablehlo.constant",      "stablehlo.iota",
      "stablehlo.reshape",       "stablehlo.transpose",
      "stablehlo.slice",         "stablehlo.broadcast_in_dim",
      "stablehlo.concatenate",   "stablehlo.pad",
      "stablehlo.reverse",       "stablehlo.gather",
      "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice",
      "stablehlo.while",         "stablehlo.if",
      "stablehlo.case",          "stablehlo.bitcast_convert",
      "stablehlo.tuple",         "stablehlo.get_tuple_element",
      "stablehlo.return",        "stablehlo.custom_call",
      "stablehlo.composite",     "stablehlo.real",
      "stablehlo.imag",          "stablehlo.optimization_barrier",
  };
  return strncmp(op->name, "stablehlo.", 10) != 0 || is_one_of(op, names, sizeof(names) / sizeof(names[0]));
}

static bool is_transcendental(const ir_op_t* op) {
  static const char* const names[] = {
      "stablehlo.exponential", "stablehlo.exponential_minus_one",
      "stablehlo.log",         "stablehlo.log_plus_one",
      "stablehlo.logistic",    "stablehlo.tanh",
      "stablehlo.sine",        "stablehlo.cosine",
      "stablehlo.tan",         "stablehlo.sqrt",
      "stablehlo.rsqrt",       "stablehlo.cbrt",
      "stablehlo.power",       "stablehlo.atan2",
  };
  return is_one_of(op, names, sizeof(names) / sizeof(names[0]));
}

static void add_cost(const ir_op_t* op, pjrt_cost_t* cost) {
  if (!op->result_count || is_free(op)) return;
  double made = (double)count_of(op->results[0].type);
  if (is_product(op)) {
    cost->flops += 2 * made * terms_of(op);
  } else if (is_transcendental(op)) {
    cost->transcendentals += made;
  } else if (op->region_count && op->operand_count) {
    cost->flops += (double)count_of(ir_operand(op, 0)->type);
  } else {
    cost->flops += made;
  }
}

static void visit(const ir_region_t* region, bool counts, pjrt_signature_t* out) {
  enum { SMALL = 16 << 10 };
  IR_FOR_BLOCKS(block, region) {
    IR_FOR_OPS(op, block) {
      bool is_call = strcmp(op->name, "stablehlo.custom_call") == 0;
      out->calls_host |= is_call && strcmp(ir_op_string(op, "call_target_name", ""), "iree.call") == 0;
      out->is_small &= work_of(op) <= SMALL;
      if (counts) add_cost(op, &out->cost);
      // Functions that reduce are part of what their op costs.
      bool inside = counts && (is_free(op) || !op->operand_count);
      for (uint32_t i = 0; i < op->region_count; ++i) visit(&op->regions[i], inside, out);
    }
  }
}

void pjrt_estimate(const ir_region_t* region, pjrt_signature_t* out) {
  out->is_small = true;
  visit(region, true, out);
}
