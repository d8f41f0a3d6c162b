// Calls, assertions and casts between types of one form: func, util, ml_program, cf, builtin.
#include "dialects/func.h"

#include <string.h>

#include "dialects/builtin.h"
#include "dialects/cf.h"
#include "dialects/flow.h"
#include "dialects/ml_program.h"
#include "dialects/util.h"
#include "import/control.h"
#include "import/linalg/ops.h"
#include "import/lowering_control.h"

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

// Functions that can be called from outside take complex tensors as one.
static void add_operand(lower_op_t* n, uint32_t i, bool packs, lower_list_t* list) {
  bool packed = packs && n->values[i].im && lower_packed_type(n->ctx, lower_in_type(n, i));
  lower_flatten(packed ? (lower_value_t){.v = lower_pack(n->l, n->values[i])} : n->values[i], list);
}

static bool add_types(lower_op_t* n, uint32_t i, bool packs, lower_types_t* types) {
  const ir_type_t *type = lower_out_type(n, i), *packed = packs ? lower_packed_type(n->ctx, type) : NULL;
  if (!packed) return lower_flat_types(n->ctx, type, types);
  lower_types_add(types, packed);
  return true;
}

static bool call_import(lower_op_t* n, const ir_op_t* func);

// Letters of the calling convention, by which a declared signature is compared with that of the call.
static char letter_of(const ir_type_t* type) {
  if (type->kind == IR_TYPE_INDEX || (type->kind == IR_TYPE_INTEGER && type->width == 64)) return 'I';
  if (type->kind == IR_TYPE_INTEGER) return 'i';
  if (type->kind == IR_TYPE_FLOAT) return type->width == 64 ? 'F' : 'f';
  return 'r';
}

static bool same_letters(const ir_type_t* a, const ir_type_t* b) {
  bool same = a->input_count == b->input_count && a->result_count == b->result_count;
  for (uint32_t i = 0; same && i < a->input_count; ++i) same = letter_of(a->inputs[i]) == letter_of(b->inputs[i]);
  for (uint32_t i = 0; same && i < a->result_count; ++i) same = letter_of(a->results[i]) == letter_of(b->results[i]);
  return same;
}

// Arguments that are memory for results.
static const ir_attr_t* storage_of(lower_op_t* n, const ir_op_t* func, uint32_t count) {
  const ir_attr_t* attrs = ir_op_attr(func, "arg_attrs");
  int64_t* places = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, count + 1);
  uint32_t found = 0;
  for (uint32_t i = 0; attrs && attrs->kind == IR_ATTR_ARRAY && i < attrs->count && i < count; ++i) {
    bool is_dict = attrs->items[i]->kind == IR_ATTR_DICT;
    if (is_dict && ir_attr_dict_get(attrs->items[i], "iree.abi.output")) places[found++] = i;
  }
  return found ? ir_attr_i64_array(n->ctx, places, found) : NULL;
}

// Functions without a body belong to other modules: @module.function.
static bool build_import(lower_op_t* n, const ir_op_t* func, bool optional) {
  const char* name = ir_op_string(func, "sym_name", "");
  const ir_attr_t *type = ir_op_attr(func, "function_type"), *signature = ir_op_attr(func, "vm.signature");
  bool fences = strcmp(ir_op_string(func, "iree.abi.model", ""), "coarse-fences") == 0;
  if (signature && (signature->kind != IR_ATTR_TYPE || signature->type->kind != IR_TYPE_FUNCTION ||
                    !same_letters(signature->type, type->type))) {
    return lower_error(n, "calls @%s, whose vm.signature has other registers than its type; an index is an i64", name);
  }
  lower_list_t operands = LOWER_LIST(n->ctx);
  lower_types_t types = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (!n->values[i].v || n->values[i].im) return lower_unsupported(n, "other modules take tensors, numbers, objects");
    lower_list_add(&operands, n->values[i].v);
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* result = lower_type(n->ctx, lower_out_type(n, i));
    if (!result) return lower_unsupported(n, "other modules give tensors of known rank, numbers and objects");
    lower_types_add(&types, result);
  }
  const ir_attr_t* storage = storage_of(n, func, n->op->operand_count);
  ir_named_attr_t attrs[5] = {{"callee", ir_attr_symbol(n->ctx, name)}, {"type", type}};
  uint32_t count = 2;
  if (fences) attrs[count++] = (ir_named_attr_t){"fences", ir_attr_unit(n->ctx)};
  if (storage) attrs[count++] = (ir_named_attr_t){"storage", storage};
  if (optional) attrs[count++] = (ir_named_attr_t){"optional", ir_attr_unit(n->ctx)};
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_CALL_IMPORT),
                         .operands = operands.items,
                         .operand_count = operands.count,
                         .result_types = types.items,
                         .result_count = types.count,
                         .attrs = attrs,
                         .attr_count = count};
  ir_op_t* call = ir_build(n->b, &state);
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = (lower_value_t){.v = ir_result(call, i)};
  return true;
}

// The sides of a call that may have to do without the other module.
enum { SIDE_IMPORT, SIDE_FALLBACK };
static const ir_op_t* callee_of(const lower_op_t* n) {
  return ir_symbol_find(n->ctx, n->l->module, ir_op_string(n->op, "callee", ""));
}
static bool build_side(lower_op_t* n, uint32_t side) {
  const ir_op_t* func = callee_of(n);
  return side == SIDE_IMPORT ? build_import(n, func, true)
                             : lower_call_symbol(n, ir_op_string(func, "vm.fallback", ""));
}

static bool call_import(lower_op_t* n, const ir_op_t* func) {
  const char *name = ir_op_string(func, "sym_name", ""), *fallback = ir_op_string(func, "vm.fallback", NULL);
  const char* dot = strchr(name, '.');
  if (!dot || dot == name || !dot[1]) {
    return lower_error(n,
                       "calls @%s, which has no body in this module; functions of other modules are called "
                       "module.function",
                       name);
  }
  if (!fallback) return build_import(n, func, false);
  const ir_op_t* other = ir_symbol_find(n->ctx, n->l->module, fallback);
  if (!other || !other->regions[0].first) {
    return lower_error(n, "calls @%s, whose vm.fallback @%s has no body in this module", name, fallback);
  }
  ir_named_attr_t attr = {"callee", ir_attr_symbol(n->ctx, name)};
  ir_value_t* found = graph_build(n->b, GRAPH_IMPORT_RESOLVED, NULL, 0, ir_type_int(n->ctx, 1), &attr, 1);
  lower_branch_t sides[2] = {{.build = build_side, .number = SIDE_IMPORT},
                             {.build = build_side, .number = SIDE_FALLBACK}};
  return lower_build_if(n, found, &sides[0], &sides[1]);
}

bool lower_call_symbol(lower_op_t* n, const char* callee) {
  ir_op_t* func = callee ? ir_symbol_find(n->ctx, n->l->module, callee) : NULL;
  if (func && n->l->kernel) return shim_lower_call(n, func);
  if (func && func->region_count && !func->regions[0].first) return call_import(n, func);
  if (!func || !func->region_count || !func->regions[0].first) {
    return lower_error(n, "calls @%s, which this module does not have", callee ? callee : "");
  }
  lower_list_t operands = LOWER_LIST(n->ctx);
  lower_types_t types = LOWER_LIST(n->ctx);
  bool fits = true, packs = strcmp(ir_op_string(func, "sym_visibility", "public"), "private") != 0;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) add_operand(n, i, packs, &operands);
  for (uint32_t i = 0; i < n->op->result_count; ++i) fits &= add_types(n, i, packs, &types);
  if (!fits) return lower_unsupported(n, "tensors of known rank, numbers and tuples of them are");
  ir_named_attr_t attr = {"callee", ir_attr_symbol(n->ctx, callee)};
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_CALL),
                         .operands = operands.items,
                         .operand_count = operands.count,
                         .result_types = types.items,
                         .result_count = types.count,
                         .attrs = &attr,
                         .attr_count = 1};
  ir_op_t* call = ir_build(n->b, &state);
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_list_add_results(&results, call, 0);
  ir_value_t* const* next = results.items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* type = lower_out_type(n, i);
    bool packed = packs && lower_packed_type(n->ctx, type);
    n->out[i] = packed ? lower_unpack(n->l, *next++, type) : lower_unflatten(n->l, type, &next);
  }
  return true;
}

// A function as a value is what its users call.
static bool lower_func_constant(lower_op_t* n) {
  const char* name = ir_op_string(n->op, "value", "");
  return ir_symbol_find(n->ctx, n->l->module, name) ||
         lower_error(n, "names @%s, which this module does not have", name);
}

static bool lower_call_indirect(lower_op_t* n) {
  const ir_op_t* constant = n->op->operand_count ? ir_operand(n->op, 0)->def : NULL;
  if (!ir_is(constant, FUNC_CONSTANT)) return lower_unsupported(n, LOWER_ONLY_NAMED);
  uint32_t count = n->op->operand_count - 1;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, n->op->result_count + 1);
  for (uint32_t i = 0; i < count; ++i) operands[i] = ir_operand(n->op, i + 1);
  for (uint32_t i = 0; i < n->op->result_count; ++i) types[i] = lower_out_type(n, i);
  ir_named_attr_t attr = {"callee", ir_op_attr(constant, "value")};
  ir_builder_t before = ir_builder_before(n->ctx, n->op);
  before.loc = n->op->loc;
  ir_op_t* call = ir_build(&before, &(ir_op_state_t){.info = ir_context_op(n->ctx, FUNC_CALL),
                                                     .operands = operands,
                                                     .operand_count = count,
                                                     .result_types = types,
                                                     .result_count = n->op->result_count,
                                                     .attrs = &attr,
                                                     .attr_count = 1});
  if (!lower_one(n->l, call)) return false;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_get(ir_result(call, i));
  return true;
}

static bool lower_call(lower_op_t* n) { return lower_call_symbol(n, ir_op_string(n->op, "callee", NULL)); }

//===----------------------------------------------------------------------------------------------------------------===
// Others
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_assert(lower_op_t* n) {
  graph_assert(n->b, n->in[0], ir_op_string(n->op, "msg", "assertion failed"));
  return true;
}

// Values that are not to be fused with what uses them.
static bool build_barrier(lower_op_t* n, lower_list_t* list) {
  lower_types_t types = LOWER_LIST(n->ctx);
  if (!list->count) return true;
  for (uint32_t i = 0; i < list->count; ++i) lower_types_add(&types, list->items[i]->type);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_BARRIER),
                         .operands = list->items,
                         .operand_count = list->count,
                         .result_types = types.items,
                         .result_count = types.count};
  ir_op_t* barrier = ir_build(n->b, &state);
  for (uint32_t i = 0; i < list->count; ++i) list->items[i] = ir_result(barrier, i);
  ir_value_t* const* next = list->items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  return true;
}

bool lower_barrier(lower_op_t* n) {
  if (n->op->result_count != n->op->operand_count) return lower_error(n, "needs as many results as operands");
  lower_list_t list = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (lower_in_type(n, i) != lower_out_type(n, i)) return lower_error(n, "has results of other types");
    lower_flatten(n->values[i], &list);
  }
  return build_barrier(n, &list);
}

// A constant that folding must not see through.
bool lower_unfoldable(lower_op_t* n) {
  lower_value_t value = {0};
  lower_list_t list = LOWER_LIST(n->ctx);
  if (!lower_constant(n, ir_op_attr(n->op, "value"), &value)) return false;
  lower_flatten(value, &list);
  return build_barrier(n, &list);
}

// Casts between types that are one here (i32 and si32, dynamic and static shapes).
static bool lower_conversion_cast(lower_op_t* n) {
  if (n->op->operand_count != 1 || n->op->result_count != 1) return lower_unsupported(n, "one operand and result are");
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (!type || !n->in[0]) return lower_unsupported(n, "tensors of known rank and numbers are");
  return lower_return(n, lower_coerce(n->l, n->in[0], type));
}

static bool lower_buffer(lower_op_t* n) {
  ir_named_attr_t attr = {"value", ir_op_attr(n->op, "value")};
  if (!attr.value || (attr.value->kind != IR_ATTR_STRING && attr.value->kind != IR_ATTR_ELEMENTS)) {
    return lower_error(n, "needs a value, text or elements");
  }
  return lower_return(n, graph_build(n->b, GRAPH_BUFFER, NULL, 0, lower_out_type(n, 0), &attr, 1));
}

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define AT(DIALECT, ENUM) [DIALECT##_##ENUM - IR_CODE(IR_DIALECT_##DIALECT, 0)]
static const lower_row_t func_rows[] = {
    AT(FUNC, CALL) = {.fn = lower_call, .flags = LOWER_ANY_VALUE},
    AT(FUNC, CALL_INDIRECT) = {.fn = lower_call_indirect, .flags = LOWER_ANY_VALUE},
    AT(FUNC, CONSTANT) = {.fn = lower_func_constant},
};
static const lower_row_t util_rows[] = {
    AT(UTIL, CALL) = {.fn = lower_call, .flags = LOWER_ANY_VALUE},
    AT(UTIL, GLOBAL_LOAD) = {.fn = lower_global_load, .flags = LOWER_ANY_VALUE},
    AT(UTIL, GLOBAL_STORE) = {.fn = lower_global_store, .flags = LOWER_ANY_VALUE},
    AT(UTIL, GLOBAL_ADDRESS) = {.fn = lower_global_address},
    AT(UTIL, GLOBAL_LOAD_INDIRECT) = {.fn = lower_global_load, .flags = LOWER_ANY_VALUE},
    AT(UTIL, GLOBAL_STORE_INDIRECT) = {.fn = lower_global_store, .flags = LOWER_ANY_VALUE},
    AT(UTIL, OPTIMIZATION_BARRIER) = {.fn = lower_barrier, .flags = LOWER_ANY_VALUE},
    AT(UTIL, BUFFER_CONSTANT) = {.fn = lower_buffer},
    AT(UTIL, STRING_FORMAT) = {.fn = string_lower_format},
    AT(UTIL, STRING_ITOA) = {.fn = string_lower_itoa},
    AT(UTIL, UNFOLDABLE_CONSTANT) = {.fn = lower_unfoldable},
};
static const lower_row_t ml_program_rows[] = {
    AT(ML_PROGRAM, GLOBAL_LOAD) = {.fn = lower_global_load, .flags = LOWER_ANY_VALUE},
    AT(ML_PROGRAM, GLOBAL_LOAD_CONST) = {.fn = lower_global_load, .flags = LOWER_ANY_VALUE},
    AT(ML_PROGRAM, GLOBAL_STORE) = {.fn = lower_global_store, .flags = LOWER_ANY_VALUE},
};
static const lower_row_t cf_rows[] = {AT(CF, ASSERT) = {.fn = lower_assert}};
static const lower_row_t builtin_rows[] = {
    AT(BUILTIN, UNREALIZED_CONVERSION_CAST) = {.fn = lower_conversion_cast},
};
const lower_table_t lower_func_table = {IR_DIALECT_FUNC, func_rows, COUNT(func_rows)};
const lower_table_t lower_util_table = {IR_DIALECT_UTIL, util_rows, COUNT(util_rows)};
const lower_table_t lower_ml_program_table = {IR_DIALECT_ML_PROGRAM, ml_program_rows, COUNT(ml_program_rows)};
const lower_table_t lower_cf_table = {IR_DIALECT_CF, cf_rows, COUNT(cf_rows)};
const lower_table_t lower_builtin_table = {IR_DIALECT_BUILTIN, builtin_rows, COUNT(builtin_rows)};
