// Custom calls by their names: what JAX and XLA give no op of their own.
#include <string.h>

#include "import/control.h"
#include "import/lowering_control.h"
#include "import/stablehlo/ops.h"

bool stablehlo_same_values(lower_op_t* n) {
  if (n->op->result_count != n->op->operand_count) return lower_error(n, "needs as many results as operands");
  memcpy(n->out, n->values, sizeof(*n->out) * n->op->result_count);
  return true;
}

static bool elementwise_call(lower_op_t* n, scalar_fn_t fn) {
  if (n->op->operand_count != 1 || !n->in[0] || n->values[0].im || !lower_is_float(n->in[0]->type)) {
    return lower_unsupported(n, "one tensor of floats is");
  }
  return lower_return(n, graph_unary(n->b, fn, n->in[0]));
}

const ir_attr_t* stablehlo_call_config(const lower_op_t* n) {
  static const char* const names[] = {"mhlo.backend_config", "backend_config", "mhlo.attributes"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const ir_attr_t* attrs = ir_op_attr(n->op, names[i]);
    if (attrs && attrs->kind == IR_ATTR_DICT) return attrs;
  }
  return NULL;
}

int64_t stablehlo_call_number(const lower_op_t* n, const char* name, int64_t missing) {
  const ir_attr_t* config = stablehlo_call_config(n);
  const ir_attr_t* value = config ? ir_attr_dict_get(config, name) : NULL;
  return value && value->kind == IR_ATTR_INTEGER ? value->integer : missing;
}

//===----------------------------------------------------------------------------------------------------------------===
// The largest
//===----------------------------------------------------------------------------------------------------------------===

static bool top_k_call(lower_op_t* n, int64_t k, bool smallest) {
  if (n->op->operand_count != 1 || n->op->result_count != 2 || !n->in[0] || n->values[0].im || k < 0) {
    return lower_unsupported(n, "one operand, two results and a number k are");
  }
  return lower_top_k(n, n->in[0], graph_index_constant(n->b, k), smallest);
}

// mhlo.topk: {k, largest}
static bool mhlo_top_k(lower_op_t* n) {
  return top_k_call(n, stablehlo_call_number(n, "k", -1), stablehlo_call_number(n, "largest", 1) == 0);
}

// TopK: k is the size of the results.
static bool xla_top_k(lower_op_t* n) {
  const ir_type_t* type = n->op->result_count == 2 ? lower_type(n->ctx, lower_out_type(n, 0)) : NULL;
  bool sized = type && ir_type_is_tensor(type) && type->rank && type->dims[type->rank - 1] != IR_DYNAMIC;
  return top_k_call(n, sized ? type->dims[type->rank - 1] : -1, false);
}

static bool is_count(const ir_value_t* v) {
  return v && !lower_is_float(v->type) && (!ir_type_is_tensor(v->type) || ir_type_count(v->type) == 1);
}

// stablehlo.dynamic_top_k: k is an operand.
static bool dynamic_top_k(lower_op_t* n) {
  if (n->op->operand_count != 2 || n->op->result_count != 2 || !n->in[0] || n->values[0].im || !is_count(n->in[1])) {
    return lower_unsupported(n, "one operand, a number and two results are");
  }
  return lower_top_k(n, n->in[0], lower_index(n->b, n->in[1]), false);
}

// Whether the called comparator says of 1 and 2 that the second comes first.
static bool orders_descending(lower_op_t* n, bool* out) {
  const ir_attr_t* called = ir_op_attr(n->op, "called_computations");
  bool named = called && called->kind == IR_ATTR_ARRAY && called->count == 1 && called->items[0]->text;
  const ir_op_t* func = named ? ir_symbol_lookup(n->l->module, called->items[0]->text) : NULL;
  ir_block_t* body = func && func->region_count ? func->regions[0].first : NULL;
  lower_probe_t probe = {0};
  double in[LOWER_PROBE_VALUES] = {1, 2, 1, 1}, out_value[LOWER_PROBE_VALUES] = {0};
  if (!body || body->arg_count != 4 || body->next || !lower_probe_begin(n->l, body, &probe)) return false;
  if (!lower_probe_run(&probe, in, out_value)) return false;
  *out = out_value[0] == 0;
  return true;
}

// What is not brought down to k has the results' size: of a type, or of the shape that is the last operand but one.
static ir_value_t* chosen_count(lower_op_t* n, ir_value_t* k) {
  const ir_attr_t* config = stablehlo_call_config(n);
  const ir_attr_t* to_k = config ? ir_attr_dict_get(config, "aggregate_to_topk") : NULL;
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  int64_t axis = stablehlo_call_number(n, "reduction_dim", -1);
  bool to_size = to_k && to_k->kind == IR_ATTR_INTEGER && !to_k->integer;
  if (!to_size || !type || !ir_type_is_tensor(type) || axis < 0 || axis >= type->rank) return k;
  if (type->dims[axis] != IR_DYNAMIC) return graph_index_constant(n->b, type->dims[axis]);
  uint32_t count = n->op->operand_count;
  ir_value_t* shape = count >= 6 ? n->in[count - 2] : NULL;
  bool has_shape =
      shape && shape->type->rank == 1 && !lower_is_float(shape->type) && shape->type->dims[0] == type->rank;
  return has_shape ? lower_index_element(n->b, shape, axis) : k;
}

// ApproxTopK of values and what goes with them; approximately may be exactly. Its dynamic form has k as an operand.
static bool take_top(lower_op_t* n, ir_value_t* k) {
  bool descending;
  int64_t axis = stablehlo_call_number(n, "reduction_dim", -1), known = 0;
  if (n->op->operand_count < 4 || n->op->result_count != 2 || n->values[0].im || !orders_descending(n, &descending)) {
    return lower_unsupported(n, "two tensors, two start values and a comparator are");
  }
  k = chosen_count(n, k);
  const ir_type_t *type = n->in[0]->type, *result = lower_type(n->ctx, lower_out_type(n, 0));
  bool fits = axis >= 0 && axis < type->rank && result && result->rank == type->rank &&
              n->in[1]->type->rank == type->rank && (!lower_constant_index(k, &known) || known >= 0) &&
              (type->dims[axis] == IR_DYNAMIC || type->dims[axis] >= known);
  if (!fits) return lower_unsupported(n, "results of the size top_k are");
  ir_op_t* sort = graph_sort(n->b, n->in, 2, &(graph_sort_t){.axis = axis, .descending = descending});
  for (uint32_t i = 0; i < 2; ++i) n->out[i].v = lower_first(n, ir_result(sort, i), (int32_t)axis, k);
  return true;
}

static bool approx_top_k(lower_op_t* n) {
  return lower_check_tensors(n) && take_top(n, graph_index_constant(n->b, stablehlo_call_number(n, "top_k", -1)));
}

// The last operands may be the results' shapes.
static bool dynamic_approx_top_k(lower_op_t* n) {
  if (n->op->operand_count < 5 || !lower_check_tensors(n) || !is_count(n->in[4]))
    return lower_unsupported(n, "two tensors, two start values and a number are");
  return take_top(n, lower_index(n->b, n->in[4]));
}

// stablehlo.dynamic_rng_bit_generator: the shape of the numbers is an operand.
static bool dynamic_rng(lower_op_t* n) {
  if (n->op->operand_count != 2 || n->op->result_count != 2 || !lower_check_tensors(n))
    return lower_unsupported(n, "a state, a shape and two results are");
  return stablehlo_lower_rng_bit_generator(n);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

static bool shape_assertion(lower_op_t* n) {
  if (n->op->operand_count < 1 || n->op->result_count || !n->in[0] || !lower_is_bool(n->in[0]->type)) {
    return lower_unsupported(n, "a condition of type i1 is");
  }
  uint32_t count = n->op->operand_count - 1;
  ir_value_t** numbers = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* x = n->in[i + 1];
    bool is_number = x && !ir_type_is_float(ir_type_scalar(x->type)) && (!ir_type_is_shaped(x->type) || !x->type->rank);
    if (!is_number) return lower_unsupported(n, "integers for the message are");
    numbers[i] = lower_index(n->b, x);
  }
  graph_assert_numbers(n->b, lower_as_tensor(n->b, n->in[0]), numbers, count,
                       ir_op_string(n->op, "error_message", "shape assertion"));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions of other modules
//===----------------------------------------------------------------------------------------------------------------===

// As the other module has it: complex tensors as those of their parts. NULL for tokens.
static const ir_type_t* foreign_type(ir_context_t* ctx, const ir_type_t* type) {
  const ir_type_t* packed = lower_packed_type(ctx, type);
  return packed ? packed : lower_type(ctx, type);
}

// iree.call: {callee = "module.function"}, which takes and gives tensors. Tokens only say in which order.
static bool iree_call(lower_op_t* n) {
  const ir_attr_t *config = stablehlo_call_config(n), *callee = config ? ir_attr_dict_get(config, "callee") : NULL;
  const char *name = callee && callee->kind == IR_ATTR_STRING ? callee->text : "", *dot = strchr(name, '.');
  if (!dot || dot == name || !dot[1]) return lower_unsupported(n, "a 'callee' of the form module.function is");
  lower_list_t operands = LOWER_LIST(n->ctx);
  lower_types_t inputs = LOWER_LIST(n->ctx), results = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (!n->values[i].v) continue;
    lower_list_add(&operands, n->values[i].im ? lower_pack(n->l, n->values[i]) : n->values[i].v);
    lower_types_add(&inputs, operands.items[operands.count - 1]->type);
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* type = foreign_type(n->ctx, lower_out_type(n, i));
    if (type) lower_types_add(&results, type);
  }
  const ir_type_t* type = ir_type_function(n->ctx, inputs.items, inputs.count, results.items, results.count);
  ir_named_attr_t attrs[] = {{"callee", ir_attr_symbol(n->ctx, name)}, {"type", ir_attr_type(n->ctx, type)}};
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_CALL_IMPORT),
                         .operands = operands.items,
                         .operand_count = operands.count,
                         .result_types = results.items,
                         .result_count = results.count,
                         .attrs = attrs,
                         .attr_count = 2};
  ir_op_t* call = ir_build(n->b, &state);
  for (uint32_t i = 0, next = 0; i < n->op->result_count; ++i) {
    const ir_type_t* own = lower_out_type(n, i);
    if (!foreign_type(n->ctx, own)) continue;
    ir_value_t* value = ir_result(call, next++);
    n->out[i] = lower_packed_type(n->ctx, own) ? lower_unpack(n->l, value, own) : (lower_value_t){.v = value};
  }
  return true;
}

// dce_sink: its operands are used, and there is nothing to do.
static bool nothing(lower_op_t* n) { return !n->op->result_count || lower_unsupported(n, "no results are"); }

static bool call_known(lower_op_t* n, const char* target, bool* known) {
  static const struct {
    const char* target;
    scalar_fn_t fn;
  } functions[] = {{"mhlo.erf", SCALAR_erf},     {"mhlo.asin", SCALAR_asin},   {"mhlo.acos", SCALAR_acos},
                   {"mhlo.atan", SCALAR_atan},   {"mhlo.sinh", SCALAR_sinh},   {"mhlo.cosh", SCALAR_cosh},
                   {"mhlo.asinh", SCALAR_asinh}, {"mhlo.acosh", SCALAR_acosh}, {"mhlo.atanh", SCALAR_atanh},
                   {"mhlo.tan", SCALAR_tan}};
  static const struct {
    const char* target;
    bool (*lower)(lower_op_t* n);
  } calls[] = {
      {"Sharding", stablehlo_same_values},
      {"SPMDFullToShardShape", stablehlo_same_values},
      {"SPMDShardToFullShape", stablehlo_same_values},
      {"annotate_device_placement", stablehlo_same_values},
      {"MoveToHost", stablehlo_same_values},
      {"MoveToDevice", stablehlo_same_values},
      {"LayoutConstraint", stablehlo_same_values},
      {"xla.sdy.FuncResultSharding", stablehlo_same_values},
      {"xla.sdy.GlobalToLocalShape", stablehlo_same_values},
      {"xla.sdy.LocalToGlobalShape", stablehlo_same_values},
      {"mhlo.topk", mhlo_top_k},
      {"TopK", xla_top_k},
      {"ApproxTopK", approx_top_k},
      {"stablehlo.dynamic_top_k", dynamic_top_k},
      {"stablehlo.dynamic_approx_top_k", dynamic_approx_top_k},
      {"stablehlo.dynamic_rng_bit_generator", dynamic_rng},
      {"shape_assertion", shape_assertion},
      {"dce_sink", nothing},
      {"iree.call", iree_call},
      {"stablehlo.dynamic_reduce_window", stablehlo_dynamic_reduce_window},
  };
  *known = true;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (strcmp(functions[i].target, target) == 0) return elementwise_call(n, functions[i].fn);
  }
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
    if (strcmp(calls[i].target, target) == 0) return calls[i].lower(n);
  }
  return stablehlo_lower_linear_call(n, target, known);
}

bool stablehlo_lower_custom_call(lower_op_t* n) {
  const char* target = ir_op_string(n->op, "call_target_name", "");
  bool known, done = call_known(n, target, &known);
  if (known) return done;
  return lower_unsupported(
      n,
      "call target @%s is unknown; @Sharding, @mhlo.topk, @mhlo.erf and other functions of one "
      "operand, LAPACK's potrf, trsm, getrf, geqrf, geqp3, orgqr, syevd, gesdd, gehrd and gtsv, and @iree.call of "
      "another module's function are known",
      target);
}
