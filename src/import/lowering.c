// The driver of lowering.h: functions, blocks, and single ops through their dialects' tables.
#include "import/lowering.h"

#include <stdarg.h>
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/func.h"
#include "dialects/util.h"
#include "import/import.h"
#include "import/linalg/workgroup.h"
#include "import/lowering_control.h"
#include "import/quantized.h"
#include "ir/near_op.h"

enum { MAX_DEPTH = 256 };

//===----------------------------------------------------------------------------------------------------------------===
// Messages
//===----------------------------------------------------------------------------------------------------------------===

bool lower_error(const lower_op_t* n, const char* format, ...) {
  text_t text = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  ir_op_error(n->ctx, n->op, "%s", text.data);
  text_finish(&text);
  return false;
}

bool lower_unsupported(const lower_op_t* n, const char* format, ...) {
  text_t text = {0};
  text_puts(&text, "with operands (");
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    text_printf(&text, "%s%s", i ? ", " : "", ir_type_str(n->ctx, ir_operand(n->op, i)->type));
  }
  text_puts(&text, ") is not supported");
  if (format) {
    va_list args;
    va_start(args, format);
    text_puts(&text, ": ");
    text_vprintf(&text, format, args);
    va_end(args);
  }
  ir_op_error(n->ctx, n->op, "%s", text.data);
  text_finish(&text);
  return false;
}

bool lower_refused(lower_op_t* n) { return lower_unsupported(n, "%s", n->row->text); }

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

lower_value_t lower_get(const ir_value_t* value) {
  return value->data ? *(const lower_value_t*)value->data : (lower_value_t){0};
}

void lower_set(lowering_t* l, ir_value_t* value, lower_value_t lowered) {
  value->data = arena_copy(ir_context_arena(l->ctx), &lowered, sizeof(lowered));
  if (lowered.v && !lowered.v->name) lowered.v->name = value->name;
}

static void clear_data(ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
      IR_FOR_OPS(inner, block) clear_data(inner);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static const lower_row_t* find_row(const ir_op_t* op) {
  static const lower_table_t* const tables[] = {
      &lower_stablehlo_table, &lower_chlo_table,       &lower_tosa_table,       &lower_linalg_table,
      &lower_tensor_table,    &lower_arith_table,      &lower_math_table,       &lower_scf_table,
      &lower_cf_table,        &lower_func_table,       &lower_builtin_table,    &lower_util_table,
      &lower_check_table,     &lower_linalg_ext_table, &lower_ml_program_table, &lower_flow_table,
      &lower_complex_table,   &lower_encoding_table,   &lower_stream_table,     &lower_tensor_ext_table,
      &lower_affine_table,    &lower_shape_table,      &lower_hal_table,        &lower_codegen_table,
      &lower_memref_table,    &lower_vector_table,
  };
  if (op->info->code == IR_CODE_UNREGISTERED) return NULL;
  uint32_t row = op->info->code % 1024;
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
    if (tables[i]->dialect != ir_op_dialect(op)) continue;
    return row < tables[i]->count && tables[i]->rows[row].fn ? &tables[i]->rows[row] : NULL;
  }
  return NULL;
}

// What handlers rely on: counts as in the table, known ranks, values they can take.
static bool check_operands(lower_op_t* n) {
  const ir_op_info_t* info = n->op->info;
  if ((info->operands >= 0 && n->op->operand_count != (uint32_t)info->operands) ||
      (info->results >= 0 && n->op->result_count != (uint32_t)info->results) ||
      (info->regions >= 0 && n->op->region_count != (uint32_t)info->regions)) {
    return lower_error(n, "needs %d operands, %d results and %d regions; has %u, %u and %u", info->operands,
                       info->results, info->regions, n->op->operand_count, n->op->result_count, n->op->region_count);
  }
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    const ir_type_t* type = ir_operand(n->op, i)->type;
    if (ir_type_is_shaped(type) && type->rank > GRAPH_MAX_RANK) {
      return lower_unsupported(n, "ranks up to %d are", GRAPH_MAX_RANK);
    }
    if (n->row->flags & LOWER_ANY_VALUE) continue;
    if (n->values[i].im && !(n->row->flags & (LOWER_BY_PARTS | LOWER_COMPLEX)))
      return lower_unsupported(n, "on complex elements it has no lowering; use real and imag");
    if (type->kind == IR_TYPE_FUNCTION) return lower_unsupported(n, LOWER_ONLY_NAMED);
    if (!n->values[i].v) return lower_unsupported(n, "operand %u has no form as tensor or number", i);
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* type = n->op->results[i].type;
    if (ir_type_is_shaped(type) && type->rank > GRAPH_MAX_RANK) {
      return lower_unsupported(n, "the result has a rank above %d", GRAPH_MAX_RANK);
    }
    bool memory = type->kind == IR_TYPE_MEMREF || type->kind == IR_TYPE_VECTOR;
    if (type->kind == IR_TYPE_UNRANKED_TENSOR || (memory && !n->l->kernel)) {
      return lower_unsupported(n, "a result of type %s has no form here; tensors of known rank have",
                               ir_type_str(n->ctx, type));
    }
  }
  return true;
}

// The result as declared: what either type knows of the shape.
static bool finish_result(lower_op_t* n, uint32_t i) {
  ir_value_t* v = n->out[i].v;
  const ir_type_t* declared = lower_type(n->ctx, n->op->results[i].type);
  if (n->l->kernel && n->out[i].items) return workgroup_check_result(n, i);
  if (!v || n->out[i].im || !declared || v->type == declared || (n->row->flags & LOWER_STANDS_FOR)) return true;
  bool no_dims = !ir_type_is_tensor(declared) || declared->rank == 0;
  if (n->l->whole && no_dims && ir_type_scalar(v->type) == ir_type_scalar(declared)) return true;
  if (!lower_fits(v->type, declared) && (ir_type_is_tensor(declared) || ir_type_scalar(v->type) != declared)) {
    return lower_error(n, "has a result of type %s where its operands give %s", ir_type_str(n->ctx, declared),
                       ir_type_str(n->ctx, v->type));
  }
  if (!ir_type_is_tensor(declared) || !ir_type_is_tensor(v->type)) return true;
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t d = 0; d < declared->rank; ++d) {
    dims[d] = v->type->dims[d] == IR_DYNAMIC ? declared->dims[d] : v->type->dims[d];
  }
  n->out[i].v = lower_coerce(n->l, v, ir_type_tensor(n->ctx, declared->element, declared->rank, dims));
  return n->out[i].v != NULL;
}

static bool clone_graph_op(lowering_t* l, ir_op_t* op);

static bool unknown_op(lower_op_t* n) {
  if (n->op->info->code != IR_CODE_UNREGISTERED) return lower_unsupported(n, NULL);
  const char* meant = ir_context_nearest_op(n->ctx, n->op->name, strlen(n->op->name));
  if (meant) return ir_op_error(n->ctx, n->op, "is not known; did you mean '%s'?", meant);
  return ir_op_error(n->ctx, n->op,
                     "is not known; programs may have ops of func, stablehlo, mhlo, chlo, tosa, linalg, tensor, "
                     "arith, math, complex, shape, affine, scf, cf, ml_program, util and torch.operator \"onnx...\"");
}

// A handler of parts sees results of parts.
static void show_parts(lower_op_t* n, const ir_type_t** types) {
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t *type = types[i] = n->op->results[i].type, *scalar = ir_type_scalar(type);
    if (scalar->kind != IR_TYPE_COMPLEX) continue;
    n->op->results[i].type =
        ir_type_is_shaped(type) ? ir_type_with_element(n->ctx, type, scalar->element) : scalar->element;
  }
}

// The handler on all real parts, then on all imaginary ones.
static bool lower_parts(lower_op_t* n) {
  uint32_t results = n->op->result_count;
  bool complex = false;
  if (n->l->kernel) return workgroup_lower(n);
  if (!(n->row->flags & LOWER_BY_PARTS)) return n->row->fn(n);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) complex |= n->values[i].im != NULL;
  bool made = false, of_real = false;
  for (uint32_t i = 0; i < results; ++i) made |= ir_type_scalar(n->op->results[i].type)->kind == IR_TYPE_COMPLEX;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) of_real |= n->in[i]->type->kind != IR_TYPE_INDEX;
  if (made && !complex && of_real) return lower_unsupported(n, "a complex result of complex operands is");
  if (!complex && !made) return n->row->fn(n);
  arena_t* arena = ir_context_arena(n->ctx);
  ir_value_t** real = ARENA_ARRAY(arena, ir_value_t*, results + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, results + 1);
  show_parts(n, types);
  bool ok = n->row->fn(n);
  for (uint32_t i = 0; i < results; ++i) real[i] = n->out[i].v;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) n->in[i] = n->values[i].im ? n->values[i].im : n->in[i];
  ok = ok && n->row->fn(n);
  for (uint32_t i = 0; i < results; ++i) {
    n->op->results[i].type = types[i];
    bool is_complex = ir_type_scalar(types[i])->kind == IR_TYPE_COMPLEX;
    n->out[i] = (lower_value_t){.v = real[i], .im = is_complex ? n->out[i].v : NULL};
  }
  return ok;
}

bool lower_one(lowering_t* l, ir_op_t* op) {
  if (ir_op_dialect(op) == IR_DIALECT_GRAPH) return clone_graph_op(l, op);
  if (quantized_is_computed(op)) return quantized_lower(l, op);
  arena_t* arena = ir_context_arena(l->ctx);
  lower_op_t n = {.l = l, .ctx = l->ctx, .b = &l->b, .op = op, .row = find_row(op)};
  if (!n.row) return unknown_op(&n);
  n.in = ARENA_ARRAY(arena, ir_value_t*, op->operand_count + 1);
  n.values = ARENA_ARRAY(arena, lower_value_t, op->operand_count + 1);
  n.out = ARENA_ARRAY(arena, lower_value_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    n.values[i] = lower_get(ir_operand(op, i));
    n.in[i] = n.values[i].v;
  }
  const ir_loc_t* loc = l->b.loc;
  l->b.loc = op->loc;
  if (!check_operands(&n) || !lower_parts(&n)) return false;
  l->b.loc = op->loc;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!finish_result(&n, i)) return false;
    lower_set(l, &op->results[i], n.out[i]);
  }
  l->b.loc = loc;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and regions
//===----------------------------------------------------------------------------------------------------------------===

bool lower_block(lowering_t* l, ir_block_t* block, const lower_value_t* args, lower_value_t** results,
                 uint32_t* count) {
  ir_op_t* terminator = block->last;
  const ir_loc_t* loc = l->b.loc;
  if (!terminator) return ir_error(l->ctx, loc, "a block is empty");
  if (++l->depth > MAX_DEPTH) return ir_error(l->ctx, loc, "regions nest too deep");
  for (uint32_t i = 0; i < block->arg_count; ++i) lower_set(l, block->args[i], args[i]);
  for (ir_op_t* op = block->first; op != terminator; op = op->next) {
    if (!lower_one(l, op)) return false;
  }
  *count = terminator->operand_count;
  *results = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, terminator->operand_count + 1);
  for (uint32_t i = 0; i < terminator->operand_count; ++i) (*results)[i] = lower_get(ir_operand(terminator, i));
  --l->depth;
  l->b.loc = loc;
  return true;
}

static bool yield_values(lowering_t* l, const lower_value_t* results, uint32_t count, const ir_type_t* const* types,
                         uint32_t type_count) {
  lower_list_t list = LOWER_LIST(l->ctx);
  for (uint32_t i = 0; i < count; ++i) lower_flatten(results[i], &list);
  if (list.count != type_count) {
    return ir_error(l->ctx, l->b.loc, "a region gives %u values where %u are expected", list.count, type_count);
  }
  for (uint32_t i = 0; i < type_count; ++i) {
    list.items[i] = lower_coerce(l, list.items[i], types[i]);
    if (!list.items[i]) return false;
  }
  ir_build_op(&l->b, GRAPH_YIELD, list.items, list.count, NULL);
  return true;
}

bool lower_region(lowering_t* l, ir_block_t* block, ir_region_t* to, const ir_type_t* const* types, uint32_t count) {
  ir_builder_t saved = l->b;
  ir_block_t* target = ir_block_create(l->ctx);
  ir_region_append(to, target);
  l->b.block = target;
  l->b.before = NULL;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    lower_types_t flat = LOWER_LIST(l->ctx);
    if (!lower_flat_types(l->ctx, block->args[i]->type, &flat)) {
      return ir_error(l->ctx, saved.loc, "argument %u of a region has type %s, which has no form here", i,
                      ir_type_str(l->ctx, block->args[i]->type));
    }
    ir_value_t** values = ARENA_ARRAY(ir_context_arena(l->ctx), ir_value_t*, flat.count + 1);
    for (uint32_t k = 0; k < flat.count; ++k) values[k] = ir_block_add_arg(l->ctx, target, flat.items[k]);
    ir_value_t* const* next = values;
    args[i] = lower_unflatten(l, block->args[i]->type, &next);
  }
  lower_value_t* results;
  uint32_t result_count;
  bool ok =
      lower_block(l, block, args, &results, &result_count) && yield_values(l, results, result_count, types, count);
  l->b = saved;
  return ok;
}

// A graph op stays as it is, with its operands' lowered forms.
static bool clone_graph_op(lowering_t* l, ir_op_t* op) {
  arena_t* arena = ir_context_arena(l->ctx);
  ir_value_t** operands = ARENA_ARRAY(arena, ir_value_t*, op->operand_count + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    operands[i] = lower_get(ir_operand(op, i)).v;
    if (!operands[i]) return ir_op_error(l->ctx, op, "operand %u has no value", i);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) types[i] = op->results[i].type;
  ir_op_state_t state = {.info = op->info,
                         .loc = op->loc,
                         .operands = operands,
                         .operand_count = op->operand_count,
                         .result_types = types,
                         .result_count = op->result_count,
                         .attrs = op->attrs,
                         .attr_count = op->attr_count,
                         .region_count = op->region_count};
  ir_op_t* copy = ir_build(&l->b, &state);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    lower_set(l, &op->results[i], (lower_value_t){.v = ir_result(copy, i)});
  }
  ir_builder_t saved = l->b;
  if (++l->depth > MAX_DEPTH) return ir_op_error(l->ctx, op, "regions nest too deep");
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      l->b = ir_builder_at_end(l->ctx, ir_block_create(l->ctx));
      ir_region_append(&copy->regions[r], l->b.block);
      for (uint32_t i = 0; i < block->arg_count; ++i) {
        ir_value_t* arg = ir_block_add_arg(l->ctx, l->b.block, block->args[i]->type);
        lower_set(l, block->args[i], (lower_value_t){.v = arg});
      }
      IR_FOR_OPS(inner, block) {
        if (!lower_one(l, inner)) return false;
      }
    }
  }
  --l->depth;
  l->b = saved;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static bool is_func(const ir_op_t* op) {
  return ir_is(op, FUNC_FUNC) || ir_is(op, UTIL_FUNC) || ir_is(op, UTIL_INITIALIZER);
}

static bool is_private(const ir_op_t* func) {
  return strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0;
}

static const ir_type_t* function_type(const ir_op_t* func) {
  const ir_attr_t* attr = ir_op_attr(func, "function_type");
  return attr && attr->kind == IR_ATTR_TYPE && attr->type->kind == IR_TYPE_FUNCTION ? attr->type : NULL;
}

static bool all_graph(const ir_op_t* op) {
  for (uint32_t r = 0; r < op->region_count; ++r) {
    if (op->regions[r].first && op->regions[r].first->next) return false;
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        bool is_return = ir_is(inner, FUNC_RETURN) && inner == block->last;
        if ((ir_op_dialect(inner) != IR_DIALECT_GRAPH && !is_return) || !all_graph(inner)) return false;
      }
    }
  }
  return true;
}

// Other ops than graph's, or types that graph has in another form.
static bool needs_lowering(ir_context_t* ctx, const ir_op_t* func) {
  const ir_type_t* type = function_type(func);
  if (!type || !ir_is(func, FUNC_FUNC) || !all_graph(func)) return true;
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (lower_type(ctx, type->inputs[i]) != type->inputs[i]) return true;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (lower_type(ctx, type->results[i]) != type->results[i]) return true;
  }
  return false;
}

// Lowered arguments, added to `entry`.
static bool add_arguments(lowering_t* l, ir_op_t* func, const ir_type_t* type, ir_block_t* entry, lower_value_t* args) {
  for (uint32_t i = 0; i < type->input_count; ++i) {
    lower_types_t flat = LOWER_LIST(l->ctx);
    const ir_type_t* packed = is_private(func) ? NULL : lower_packed_type(l->ctx, type->inputs[i]);
    if (packed) {
      args[i] = lower_unpack(l, ir_block_add_arg(l->ctx, entry, packed), type->inputs[i]);
      continue;
    }
    bool has_form = lower_flat_types(l->ctx, type->inputs[i], &flat);
    if (!has_form || (!is_private(func) && type->inputs[i]->kind != IR_TYPE_TUPLE && flat.count > 1)) {
      return ir_op_error(
          l->ctx, func,
          "has argument %u of type %s; tensors of known rank with integer, float or complex elements, and "
          "numbers, can be arguments",
          i, ir_type_str(l->ctx, type->inputs[i]));
    }
    ir_value_t** values = ARENA_ARRAY(ir_context_arena(l->ctx), ir_value_t*, flat.count + 1);
    for (uint32_t k = 0; k < flat.count; ++k) values[k] = ir_block_add_arg(l->ctx, entry, flat.items[k]);
    ir_value_t* const* next = values;
    args[i] = lower_unflatten(l, type->inputs[i], &next);
  }
  return true;
}

static bool build_return(lowering_t* l, ir_op_t* func, const ir_type_t* type, const lower_value_t* results,
                         uint32_t count, lower_list_t* list) {
  if (count != type->result_count) {
    return ir_op_error(l->ctx, func, "declares %u results and returns %u", type->result_count, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    lower_types_t flat = LOWER_LIST(l->ctx);
    uint32_t first = list->count;
    const ir_type_t* packed = is_private(func) ? NULL : lower_packed_type(l->ctx, type->results[i]);
    if (packed && results[i].im) {
      ir_value_t* v = lower_coerce(l, lower_pack(l, results[i]), packed);
      if (!v) return false;
      lower_list_add(list, v);
      continue;
    }
    bool has_form = lower_flat_types(l->ctx, type->results[i], &flat);
    lower_flatten(results[i], list);
    if (!has_form || (!is_private(func) && type->results[i]->kind != IR_TYPE_TUPLE && flat.count > 1) ||
        list->count - first != flat.count) {
      return ir_op_error(
          l->ctx, func,
          "has result %u of type %s; tensors with integer, float or complex elements, and numbers, can be "
          "results",
          i, ir_type_str(l->ctx, type->results[i]));
    }
    for (uint32_t k = 0; k < flat.count; ++k) {
      ir_value_t** v = &list->items[first + k];
      if (lower_fits((*v)->type, flat.items[k]) && ir_type_is_tensor((*v)->type) && l->refine_results) continue;
      if (!(*v = lower_coerce(l, *v, flat.items[k]))) return false;
    }
  }
  ir_op_state_t state = {.info = ir_context_op(l->ctx, FUNC_RETURN)};
  state.operands = list->items;
  state.operand_count = list->count;
  ir_build(&l->b, &state);
  return true;
}

// A type as callers see it, tuples as their elements, tokens not at all, complex numbers as tensors without dims.
static void add_outside(lowering_t* l, const ir_type_t* type, lower_types_t* out) {
  lower_types_t flat = LOWER_LIST(l->ctx);
  if (type->kind == IR_TYPE_OPAQUE && lower_flat_types(l->ctx, type, &flat) && !flat.count) return;
  if (type->kind == IR_TYPE_COMPLEX) return lower_types_add(out, ir_type_tensor(l->ctx, type, 0, NULL));
  if (type->kind != IR_TYPE_TUPLE) {
    lower_types_add(out, quantized_outside(l->ctx, type));
    return;
  }
  for (uint32_t i = 0; i < type->input_count; ++i) add_outside(l, type->inputs[i], out);
}

// The signature as callers see it.
static const ir_type_t* outside_type(lowering_t* l, const ir_type_t* written) {
  lower_types_t inputs = LOWER_LIST(l->ctx), results = LOWER_LIST(l->ctx);
  for (uint32_t i = 0; i < written->input_count; ++i) add_outside(l, written->inputs[i], &inputs);
  for (uint32_t i = 0; i < written->result_count; ++i) add_outside(l, written->results[i], &results);
  return ir_type_function(l->ctx, inputs.items, inputs.count, results.items, results.count);
}

// The signature as lowered; where it differs from the one written, that one is kept for the module's declaration.
static void set_signature(lowering_t* l, ir_op_t* lowered, const ir_type_t* written, const lower_list_t* results) {
  ir_block_t* entry = lowered->regions[0].first;
  arena_t* arena = ir_context_arena(l->ctx);
  const ir_type_t** inputs = ARENA_ARRAY(arena, const ir_type_t*, entry->arg_count + 1);
  const ir_type_t** outputs = ARENA_ARRAY(arena, const ir_type_t*, results->count + 1);
  for (uint32_t i = 0; i < entry->arg_count; ++i) inputs[i] = entry->args[i]->type;
  for (uint32_t i = 0; i < results->count; ++i) outputs[i] = results->items[i]->type;
  const ir_type_t* type = ir_type_function(l->ctx, inputs, entry->arg_count, outputs, results->count);
  ir_op_set_attr(l->ctx, lowered, "function_type", ir_attr_type(l->ctx, type));
  const ir_type_t* outside = outside_type(l, written);
  bool same_count = type->input_count == outside->input_count && type->result_count == outside->result_count;
  if (type != outside && same_count && !ir_op_attr(lowered, "iree.abi.type")) {
    ir_op_set_attr(l->ctx, lowered, "iree.abi.type", ir_attr_type(l->ctx, outside));
  }
}

static bool lower_func(lowering_t* l, ir_op_t* func) {
  ir_block_t* body = func->regions[0].first;
  const ir_type_t* type = function_type(func);
  if (!type || body->arg_count != type->input_count) return ir_op_error(l->ctx, func, "needs 'function_type'");
  const ir_type_t* nothing = ir_type_function(l->ctx, NULL, 0, NULL, 0);
  ir_op_t* lowered = ir_func_create(l->ctx, func->parent, func->loc, ir_op_string(func, "sym_name", ""), nothing);
  ir_op_move_before(lowered, func);
  import_copy_attrs(l->ctx, func, lowered);
  clear_data(func);
  ir_block_t* entry = lowered->regions[0].first;
  l->b = ir_builder_at_end(l->ctx, entry);
  l->b.loc = func->loc;
  l->depth = 0;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, type->input_count + 1);
  lower_value_t* results = NULL;
  lower_list_t list = LOWER_LIST(l->ctx);
  uint32_t count = 0;
  if (!add_arguments(l, func, type, entry, args) || !lower_blocks(l, &func->regions[0], args, &results, &count)) {
    return false;
  }
  l->b.loc = body->last->loc;
  if (!build_return(l, func, type, results, count, &list)) return false;
  set_signature(l, lowered, type, &list);
  import_erase_dead(entry);
  func->data = lowered;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

// Functions and globals in place; what else a module may hold is refused by name.
static bool lower_symbol(lowering_t* l, ir_op_t* op) {
  if (ir_op_dialect(op) == IR_DIALECT_GRAPH) return true;
  if (is_func(op) && op->regions[0].first) views_enter(l->ctx, op);
  if (is_func(op)) return !op->regions[0].first || !needs_lowering(l->ctx, op) || lower_func(l, op);
  if (lower_is_global(op) || lower_is_executable(op)) return true;
  return ir_op_error(l->ctx, op, "cannot stand in a module here; functions, globals and executables can");
}

bool lowering_run(ir_context_t* ctx, ir_op_t* module) {
  lowering_t l = {.ctx = ctx, .module = module};
  ir_block_t* body = ir_module_body(module);
  uint32_t funcs = 0;
  IR_FOR_OPS(op, body) {
    op->data = NULL;
    funcs += is_func(op);
  }
  l.refine_results = funcs == 1;  // nobody calls it
  if (!lower_globals(&l)) return false;
  ir_op_t* last = body->last;
  bool ok = true;
  for (ir_op_t *op = body->first, *next; op; op = next) {
    next = op == last ? NULL : op->next;
    ok &= lower_symbol(&l, op);
  }
  if (!ok) return false;
  IR_FOR_OPS_SAFE(op, body) {
    bool absent = is_func(op) && !op->regions[0].first, executable = lower_is_executable(op);
    bool stays = executable && op->data;  // its code is what dispatches run
    if (stays) op->data = NULL;
    if (!stays && (absent || lower_is_global(op) || executable || op->data)) ir_op_erase(op);
  }
  return true;
}
