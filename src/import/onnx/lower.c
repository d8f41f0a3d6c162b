// The driver of the lowering: walks the ops of a function, keeps what each value became, calls the handler of each
// torch.operator. Before and after:
//
//   %1 = torch.operator "onnx.Relu"(%0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
//   %1 = graph.max %0, %zero : tensor<1x4xf32>
#include "import/onnx/lower.h"

#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "import/lowering_size.h"
#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/onnx.h"
#include "import/onnx/strings.h"

enum { MAX_DEPTH = 64, MAX_OPS = 1 << 21 };  // of regions and calls; of ops with calls expanded

static bool is_named(const ir_op_t* op, const char* name) { return strcmp(op->name, name) == 0; }

//===----------------------------------------------------------------------------------------------------------------===
// What values became: onnx_value_t in ir_value_t.data of the torch values
//===----------------------------------------------------------------------------------------------------------------===

static void set_lowered(onnx_lowering_t* l, ir_value_t* value, onnx_value_t lowered) {
  value->data = arena_copy(ir_context_arena(l->ctx), &lowered, sizeof(lowered));
}

static bool is_none(const ir_value_t* value) { return value->def && is_named(value->def, "torch.constant.none"); }

// The lowered value; false when it has none because its op was not supported.
static bool get_lowered(const ir_value_t* value, onnx_value_t* out) {
  *out = (onnx_value_t){0};
  if (value->data) *out = *(const onnx_value_t*)value->data;
  return value->data || is_none(value);
}

// Where the lowering only knows '?', the size that the program declares for the value.
static ir_value_t* refine(onnx_lowering_t* l, onnx_value_t x, const ir_type_t* declared) {
  ir_value_t* v = x.v;
  const ir_type_t* type = v->type;
  if (declared->kind != IR_TYPE_VTENSOR || declared->rank != onnx_rank(x)) return v;
  int64_t dims[ONNX_MAX_RANK];
  ir_value_t* dynamic[ONNX_MAX_RANK];
  uint32_t dynamic_count = 0;
  bool better = false;
  for (int32_t i = 0; i < type->rank; ++i) {
    dims[i] = type->dims[i];
    if (dims[i] != IR_DYNAMIC) continue;
    if (i < declared->rank) dims[i] = declared->dims[i];  // not the width of strings
    better |= dims[i] != IR_DYNAMIC;
    if (dims[i] == IR_DYNAMIC) dynamic[dynamic_count++] = lower_size(&l->b, v, i);
  }
  return better ? graph_reshape(&l->b, v, type->rank, dims, dynamic) : v;
}

//===----------------------------------------------------------------------------------------------------------------===
// torch.operator
//===----------------------------------------------------------------------------------------------------------------===

static const char* short_name(const ir_op_t* op) {
  const char* name = ir_op_string(op, "name", "");
  return strncmp(name, "onnx.", 5) == 0 ? name + 5 : NULL;
}

static bool check_inputs(onnx_node_t* n) {
  const onnx_row_t* row = n->row;
  uint32_t given = n->in_count;
  while (given > 0 && !n->in[given - 1].v) --given;
  if ((int64_t)given < row->min_inputs)
    return onnx_error(n, "needs at least %d inputs, has %u", row->min_inputs, given);
  if (row->max_inputs >= 0 && (int64_t)given > row->max_inputs) {
    return onnx_error(n, "takes at most %d inputs, has %u", row->max_inputs, given);
  }
  for (uint32_t i = 0; i < (uint32_t)row->min_inputs; ++i) {
    if (!n->in[i].v) return onnx_error(n, "input %u is required", i);
  }
  return true;
}

// Sequences and optionals go only where they are known.
static bool check_holders(onnx_node_t* n) {
  for (uint32_t i = 0; i < n->in_count && !n->row->takes_holders; ++i) {
    if (!n->in[i].holder) continue;
    const char* kind = n->in[i].holder->is_optional ? "an optional" : "a sequence";
    return onnx_error(n, "input %u is %s; this operator takes tensors", i, kind);
  }
  return true;
}

static bool holds_strings(onnx_value_t x) {
  if (!x.holder) return onnx_is_string(x);
  return x.holder->is_optional ? x.holder->value.v && holds_strings(x.holder->value) : onnx_is_str(x.holder->element);
}

// Calls the handler. Strings go only where they are known.
static bool call_handler(onnx_node_t* n) {
  for (uint32_t i = 0; i < n->in_count && n->row->strings != ONNX_STRINGS_SEEN; ++i) {
    if (!n->in[i].v || !holds_strings(n->in[i])) continue;
    if (n->row->strings == ONNX_STRINGS_MOVED) return onnx_move_strings(n);
    return onnx_unsupported(n, "input %u is strings; this operator takes numbers", i);
  }
  return n->row->handler(n);
}

static bool check_outputs(onnx_node_t* n) {
  for (uint32_t i = 0; i < n->out_count; ++i) {
    if (n->out[i].v || !n->op->results[i].uses) continue;
    return onnx_unsupported(n, "result %u is used, but not supported", i);
  }
  return true;
}

bool onnx_apply(onnx_node_t* n, const char* name, const onnx_value_t* in, uint32_t count, onnx_value_t* out) {
  onnx_node_t inner = *n;
  inner.row = onnx_find_row(name);
  inner.in = in, inner.in_count = count;
  inner.out = out, inner.out_count = 3;
  return inner.row->handler(&inner) && (out->v || onnx_error(n, "gives no result"));
}

static bool unknown_operator(onnx_node_t* n) {
  const char* domain = ir_op_string(n->op, ONNX_DOMAIN_ATTR, "ai.onnx");
  const char* meant = onnx_nearest_row(n->name);
  return onnx_unsupported(n, "this operator is not supported: domain '%s' has none of this name%s%s%s", domain,
                          meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

// Calls the handler of an op of the newest version.
static bool lower_newest(onnx_lowering_t* l, ir_op_t* op) {
  arena_t* arena = ir_context_arena(l->ctx);
  onnx_node_t n = {.lowering = l, .ctx = l->ctx, .b = &l->b, .op = op, .name = short_name(op)};
  n.in_count = op->operand_count;
  n.out_count = op->result_count;
  if (!n.name) return onnx_unsupported(&n, "only operators named \"onnx.*\" are supported");
  n.row = onnx_find_row(n.name);
  const char* refusal = n.row ? NULL : onnx_find_refusal(n.name);
  if (refusal) return onnx_unsupported(&n, "refused: %s", refusal);
  if (!n.row) return unknown_operator(&n);
  onnx_value_t* in = ARENA_ARRAY(arena, onnx_value_t, n.in_count + 1);
  n.in = in;
  for (uint32_t i = 0; i < n.in_count; ++i) {
    if (get_lowered(ir_operand(op, i), &in[i])) continue;
    if (l->inferring) return l->unsupported = true, false;
    return onnx_unsupported(&n, "operand %u has type %s, which is not supported", i,
                            ir_type_str(l->ctx, ir_operand(op, i)->type));
  }
  n.out = ARENA_ARRAY(arena, onnx_value_t, n.out_count + 1);
  l->b.loc = op->loc;
  if (!check_inputs(&n) || !check_holders(&n) || !call_handler(&n)) return false;
  if (l->rest) return true;
  if (!check_outputs(&n)) return false;
  for (uint32_t i = 0; i < n.out_count; ++i) {
    if (!n.out[i].v) continue;
    if (!n.out[i].holder) n.out[i].v = refine(l, n.out[i], op->results[i].type);
    set_lowered(l, ir_result(op, i), n.out[i]);
  }
  return true;
}

// Lowers an upgraded copy, made in a block of its own so that the program stays as it was written.
static bool lower_upgraded(onnx_lowering_t* l, ir_op_t* op) {
  ir_block_t* block = ir_block_create(l->ctx);
  ir_op_t* copy = ir_op_clone(l->ctx, op, NULL);
  ir_block_append(block, copy);
  bool lowered = onnx_upgrade_op(l->ctx, copy, l->opset, ONNX_NEWEST_OPSET);
  for (ir_op_t* step = block->first; lowered && step; step = step->next) {
    if (is_named(step, "torch.operator")) lowered = lower_newest(l, step);
  }
  for (uint32_t i = 0; lowered && i < op->result_count; ++i) op->results[i].data = copy->results[i].data;
  while (block->last) ir_op_erase(block->last);  // the copy's uses of the program's values go with it
  return lowered;
}

static bool lower_operator(onnx_lowering_t* l, ir_op_t* op) {
  ir_op_t* outer = l->source;
  l->source = op;
  bool lowered = onnx_needs_upgrade(op, l->opset, ONNX_NEWEST_OPSET) ? lower_upgraded(l, op) : lower_newest(l, op);
  l->source = outer;
  return lowered;
}

//===----------------------------------------------------------------------------------------------------------------===
// Other ops
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_literal(onnx_lowering_t* l, ir_op_t* op) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  if (!value || value->kind != IR_ATTR_ELEMENTS) return ir_op_error(l->ctx, op, "needs dense elements as 'value'");
  const ir_type_t* element = value->type->element;
  set_lowered(l, ir_result(op, 0), onnx_value(onnx_graph_constant(&l->b, value), element));
  return true;
}

// torch_c.from_builtin_tensor and torch_c.to_builtin_tensor: only the sign of integers differs.
static bool lower_tensor_cast(onnx_lowering_t* l, ir_op_t* op) {
  onnx_value_t x;
  if (op->operand_count != 1 || op->result_count != 1 || !get_lowered(ir_operand(op, 0), &x) || !x.v) {
    return ir_op_error(l->ctx, op, "needs one tensor operand and result");
  }
  const ir_type_t* type = op->results[0].type;
  if (ir_type_is_shaped(type) && type->element) {
    if (onnx_signless(l->ctx, type->element) != x.v->type->element) {
      return ir_op_error(l->ctx, op, "changes the element type");
    }
    x.element = type->element;
  }
  set_lowered(l, ir_result(op, 0), x);
  return true;
}

static bool lower_call(onnx_lowering_t* l, ir_op_t* op) {
  const ir_attr_t* callee = ir_op_attr(op, "callee");
  ir_op_t* module = op;
  while (ir_op_parent(module)) module = ir_op_parent(module);
  ir_op_t* func = callee && callee->kind == IR_ATTR_SYMBOL ? ir_symbol_find(l->ctx, module, callee->text) : NULL;
  ir_block_t* body = func && func->region_count ? func->regions[0].first : NULL;
  if (!body) return ir_op_error(l->ctx, op, "calls a function that the module does not define");
  onnx_value_t* args = ARENA_ARRAY(ir_context_arena(l->ctx), onnx_value_t, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) get_lowered(ir_operand(op, i), &args[i]);
  onnx_values_t results;
  int64_t opset = l->opset;
  l->opset = ir_op_int(func, "torch.onnx_meta.opset_version", opset);
  bool lowered = onnx_lower_block(l, body, (onnx_values_t){args, op->operand_count}, &results);
  l->opset = opset;
  if (!lowered) return false;
  if (results.count != op->result_count) {
    return ir_op_error(l->ctx, op, "expects %u results, gets %u", op->result_count, results.count);
  }
  for (uint32_t i = 0; i < results.count; ++i) set_lowered(l, ir_result(op, i), results.items[i]);
  return true;
}

// An op over builtin tensors (util.global.load) stays as it is.
static bool keep_op(onnx_lowering_t* l, ir_op_t* op) {
  if (op->operand_count || op->region_count || op->result_count != 1 || !ir_type_is_tensor(op->results[0].type)) {
    return ir_op_error(l->ctx, op, "is not part of an ONNX program");
  }
  ir_op_t* copy = ir_op_clone(l->ctx, op, NULL);
  ir_block_insert_before(l->b.block, copy, l->b.before);
  set_lowered(l, ir_result(op, 0), onnx_value(ir_result(copy, 0), op->results[0].type->element));
  return true;
}

static bool lower_op(onnx_lowering_t* l, ir_op_t* op) {
  l->b.loc = op->loc;
  if (++l->op_count > MAX_OPS) return ir_error(l->ctx, op->loc, "the program expands to more than %d ops", MAX_OPS);
  if (is_named(op, "torch.operator")) return lower_operator(l, op);
  if (is_named(op, "torch.constant.none")) return true;
  if (is_named(op, "torch.vtensor.literal")) return lower_literal(l, op);
  if (is_named(op, "torch_c.from_builtin_tensor") || is_named(op, "torch_c.to_builtin_tensor")) {
    return lower_tensor_cast(l, op);
  }
  if (is_named(op, "func.call")) return lower_call(l, op);
  return keep_op(l, op);
}

// Lowers the ops from `op` on; `*results` are the values that the terminator behind them names.
static bool lower_ops(onnx_lowering_t* l, ir_op_t* op, ir_op_t* terminator, onnx_values_t* results) {
  for (; op != terminator; op = op->next) {
    if (!lower_op(l, op)) return false;
    if (!l->rest) continue;
    *results = *l->rest;
    l->rest = NULL;
    return true;
  }
  results->count = terminator->operand_count;
  results->items = ARENA_ARRAY(ir_context_arena(l->ctx), onnx_value_t, results->count + 1);
  for (uint32_t i = 0; i < results->count; ++i) {
    if (get_lowered(ir_operand(terminator, i), &results->items[i]) && results->items[i].v) continue;
    if (l->inferring) return l->unsupported = true, false;
    return ir_op_error(l->ctx, terminator, "returns a value of unsupported type %s",
                       ir_type_str(l->ctx, ir_operand(terminator, i)->type));
  }
  return true;
}

bool onnx_lower_block(onnx_lowering_t* l, ir_block_t* block, onnx_values_t args, onnx_values_t* results) {
  const ir_loc_t* loc = l->b.loc;
  if (!block->last || args.count != block->arg_count) {
    return ir_error(l->ctx, loc, "the body takes %u values and is given %u", block->arg_count, args.count);
  }
  if (++l->depth > MAX_DEPTH) return ir_error(l->ctx, loc, "regions and calls nest too deep");
  for (uint32_t i = 0; i < args.count; ++i) {
    block->args[i]->data = NULL;
    if (args.items[i].v) set_lowered(l, block->args[i], args.items[i]);
  }
  if (!lower_ops(l, block->first, block->last, results)) return false;
  --l->depth;
  l->b.loc = loc;
  return true;
}

bool onnx_lower_rest(onnx_lowering_t* l, onnx_values_t given, onnx_values_t* results) {
  ir_op_t* source = l->source;
  const ir_loc_t* loc = l->b.loc;
  uint32_t depth = l->depth;
  if (++l->rest_count > ONNX_MAX_RESTS) return false;
  ++l->rest_depth;
  l->depth = depth + 1;
  for (uint32_t i = 0; i < given.count; ++i) set_lowered(l, ir_result(source, i), given.items[i]);
  bool lowered = lower_ops(l, source->next, source->parent->last, results);
  l->depth = depth;
  --l->rest_depth;
  l->source = source;
  l->b.loc = loc;
  return lowered;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// Whether a function takes or gives torch's tensors, or uses its operators.
static bool is_torch_func(const ir_op_t* func) {
  if (!is_named(func, "func.func") || !func->regions[0].first) return false;
  const ir_attr_t* type = ir_op_attr(func, "function_type");
  const ir_type_t* signature = type && type->kind == IR_ATTR_TYPE ? type->type : NULL;
  for (uint32_t i = 0; signature && i < signature->input_count; ++i) {
    if (signature->inputs[i]->kind == IR_TYPE_VTENSOR) return true;
  }
  for (uint32_t i = 0; signature && i < signature->result_count; ++i) {
    if (signature->results[i]->kind == IR_TYPE_VTENSOR) return true;
  }
  IR_FOR_OPS(op, func->regions[0].first) {
    if (is_named(op, "torch.operator")) return true;
  }
  return false;
}

bool onnx_is_present(ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (is_torch_func(op)) return true;
  }
  return false;
}

// tensor<1x4xi64> of !torch.vtensor<[1,4],si64>; tensors stay; NULL for anything else.
static const ir_type_t* argument_type(ir_context_t* ctx, const ir_type_t* type) {
  bool tensor = type->kind == IR_TYPE_VTENSOR || type->kind == IR_TYPE_TENSOR;
  if (!tensor || !type->element || type->rank < 0) return NULL;
  if (type->rank + onnx_is_str(type->element) > ONNX_MAX_RANK) return NULL;
  return onnx_tensor_type(ctx, type->element, type->rank, type->dims);
}

// What helpers of handlers need outside of any operator.
static onnx_node_t func_node(onnx_lowering_t* l, ir_op_t* func) {
  return (onnx_node_t){.lowering = l, .ctx = l->ctx, .b = &l->b, .op = func};
}

// Adds arguments to `entry` for a value of that type; false when it is none that can be.
static bool add_argument(onnx_node_t* n, ir_block_t* entry, const ir_type_t* type, onnx_value_t* out) {
  const ir_type_t* tensor = argument_type(n->ctx, type);
  if (onnx_is_holder_type(type)) return onnx_holder_argument(n, entry, type, out);
  if (!tensor) return false;
  *out = onnx_value(ir_block_add_arg(n->ctx, entry, tensor), type->element);
  return true;
}

// The type of an argument. Where the model gives it no shape, what is done with it may tell its rank.
static const ir_type_t* ranked_type(onnx_node_t* n, const ir_value_t* argument) {
  const ir_type_t* type = argument->type;
  int64_t dims[ONNX_MAX_RANK];
  if (type->kind != IR_TYPE_VTENSOR || !type->element || type->rank >= 0) return type;
  int32_t rank = onnx_rank_of_uses(n, argument).rank;
  for (int32_t i = 0; i < rank && i < ONNX_MAX_RANK; ++i) dims[i] = IR_DYNAMIC;
  return rank >= 0 && rank <= ONNX_MAX_RANK ? ir_type_vtensor(n->ctx, type->element, rank, dims) : type;
}

static bool lower_arguments(onnx_lowering_t* l, ir_op_t* func, ir_block_t* body, ir_block_t* entry,
                            onnx_value_t* args) {
  onnx_node_t n = func_node(l, func);
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (add_argument(&n, entry, ranked_type(&n, body->args[i]), &args[i])) continue;
    return ir_op_error(l->ctx, func,
                       "argument %u has type %s; tensors of known rank, sequences and optionals of them are supported: "
                       "the model must declare its shape",
                       i, ir_type_str(l->ctx, body->args[i]->type));
  }
  return true;
}

// The names that the model gives to sizes, for the arguments as they are lowered.
static void name_sizes(onnx_lowering_t* l, const ir_op_t* func, ir_op_t* lowered, const onnx_value_t* args) {
  const ir_attr_t* given = ir_op_attr(func, ONNX_DIM_PARAMS);
  const ir_block_t *entry = lowered->regions[0].first, *body = func->regions[0].first;
  if (!given || given->kind != IR_ATTR_ARRAY || given->count != body->arg_count) return;
  const ir_attr_t** names = ARENA_ARRAY(ir_context_arena(l->ctx), const ir_attr_t*, entry->arg_count + 1);
  for (uint32_t i = 0; i < entry->arg_count; ++i) names[i] = ir_attr_array(l->ctx, NULL, 0);
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (!args[i].holder) names[args[i].v->index] = given->items[i];
  }
  ir_op_set_attr(l->ctx, lowered, LOWER_SIZE_NAMES, ir_attr_array(l->ctx, names, entry->arg_count));
}

// Whether operands fit each other, and values have a size that memory could have: what no handler asked for is the
// model's fault too.
static bool values_fit(ir_context_t* ctx, const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_op_dialect(op) == IR_DIALECT_GRAPH ? !graph_verify(ctx, op) : !graph_values_fit(ctx, op)) return false;
    for (uint32_t i = 0; i < op->region_count; ++i) {
      IR_FOR_BLOCKS(inner, &op->regions[i]) {
        if (!values_fit(ctx, inner)) return false;
      }
    }
  }
  return true;
}

// `is_called`: by functions that rely on the sizes that it declares.
static bool lower_func(ir_context_t* ctx, ir_op_t* func, bool is_called) {
  arena_t* arena = ir_context_arena(ctx);
  ir_block_t* body = func->regions[0].first;
  const ir_type_t* type = ir_type_function(ctx, NULL, 0, NULL, 0);
  ir_op_t* lowered = ir_func_create(ctx, func->parent, func->loc, ir_op_string(func, "sym_name", ""), type);
  ir_op_move_before(lowered, func);
  import_copy_attrs(ctx, func, lowered);
  ir_block_t* entry = lowered->regions[0].first;
  onnx_lowering_t l = {.ctx = ctx, .b = ir_builder_at_end(ctx, entry)};
  l.b.loc = func->loc;
  l.opset = ir_op_int(func, "torch.onnx_meta.opset_version", ONNX_NEWEST_OPSET);
  if (l.opset < 1 || l.opset > ONNX_NEWEST_OPSET) {
    return ir_op_error(ctx, func, "uses opset %lld; versions 1 to %d are supported", (long long)l.opset,
                       ONNX_NEWEST_OPSET);
  }
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, body->arg_count + 1);
  onnx_values_t results = {0};
  if (!lower_arguments(&l, func, body, entry, args)) return false;
  name_sizes(&l, func, lowered, args);
  const ir_type_t** declared = is_called ? NULL : onnx_open_results(ctx, func);
  if (!onnx_lower_block(&l, body, (onnx_values_t){args, body->arg_count}, &results)) return false;
  if (declared) onnx_compare_results(ctx, func, declared, results);
  onnx_node_t node = func_node(&l, func);
  l.b.loc = body->last->loc;
  if (!onnx_values_flatten(&node, results, &results)) return false;
  uint32_t count = results.count;
  ir_value_t** values = ARENA_ARRAY(arena, ir_value_t*, count + 1);
  const ir_type_t** inputs = ARENA_ARRAY(arena, const ir_type_t*, entry->arg_count + 1);
  const ir_type_t** outputs = ARENA_ARRAY(arena, const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < entry->arg_count; ++i) inputs[i] = entry->args[i]->type;
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = results.items[i].v;
    outputs[i] = values[i]->type;
  }
  ir_op_state_t state = {.info = ir_context_find_op(ctx, "func.return"), .name = "func.return"};
  state.operands = values;
  state.operand_count = count;
  ir_build(&l.b, &state);
  type = ir_type_function(ctx, inputs, entry->arg_count, outputs, count);
  ir_op_set_attr(ctx, lowered, "function_type", ir_attr_type(ctx, type));
  import_erase_dead(entry);
  ir_op_remove_attr(lowered, LOWER_SIZE_NAMES);
  ir_op_remove_attr(lowered, ONNX_OUTPUT_NAMES);
  return values_fit(ctx, entry);
}

static bool calls(ir_op_t* parent, const char* name) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        const ir_attr_t* callee = is_named(op, "func.call") ? ir_op_attr(op, "callee") : NULL;
        if (callee && callee->kind == IR_ATTR_SYMBOL && strcmp(callee->text, name) == 0) return true;
        if (!is_torch_func(op) && calls(op, name)) return true;
      }
    }
  }
  return false;
}

// Whether functions of other dialects call it, with builtin tensors.
static bool is_called_by_others(ir_op_t* module, const ir_op_t* func) {
  return calls(module, ir_op_string(func, "sym_name", ""));
}

bool onnx_lower_module(ir_context_t* ctx, ir_op_t* module) {
  ir_block_t* body = ir_module_body(module);
  ir_op_t* last = body->last;
  bool lowered = true;
  for (ir_op_t *op = body->first, *next; op; op = next) {
    next = op == last ? NULL : op->next;
    const char* visibility = ir_op_string(op, "sym_visibility", "public");
    if (!is_torch_func(op)) continue;
    bool is_called = is_called_by_others(module, op);
    if (is_called || strcmp(visibility, "private") != 0) lowered &= lower_func(ctx, op, is_called);
  }
  if (!lowered) return false;
  IR_FOR_OPS_SAFE(op, body) {
    if (is_torch_func(op)) ir_op_erase(op);  // lowered, or private and expanded where it is called
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Types for the importer
//===----------------------------------------------------------------------------------------------------------------===

onnx_lowering_t* onnx_infer_begin(ir_context_t* ctx, int64_t opset) {
  onnx_lowering_t* l = ARENA_NEW(ir_context_arena(ctx), onnx_lowering_t);
  l->ctx = ctx;
  l->b = ir_builder_at_end(ctx, ir_block_create(ctx));
  l->opset = opset ? opset : ONNX_NEWEST_OPSET;
  l->inferring = true;
  return l;
}

void onnx_infer_argument(onnx_lowering_t* l, ir_value_t* argument) {
  onnx_node_t n = func_node(l, NULL);
  onnx_value_t stand_in;
  if (add_argument(&n, l->b.block, argument->type, &stand_in)) set_lowered(l, argument, stand_in);
}

bool onnx_infer_op(onnx_lowering_t* l, ir_op_t* op) {
  l->unsupported = false;
  l->depth = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  bool lowered = lower_op(l, op);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* result = ir_result(op, i);
    onnx_value_t value;
    bool known = lowered && get_lowered(result, &value) && value.v;
    if (known && value.holder) {
      onnx_node_t n = func_node(l, op);
      result->type = onnx_holder_type(&n, value);
    } else if (known && result->type->kind == IR_TYPE_VTENSOR) {
      result->type = ir_type_vtensor(l->ctx, value.element, onnx_rank(value), value.v->type->dims);
    } else if (result->type->kind == IR_TYPE_VTENSOR) {
      onnx_infer_argument(l, result);  // go on with what is declared, if that is a ranked tensor
      if (!result->type->element) result->type = ir_type_opaque(l->ctx, "torch.none", NULL);
    }
  }
  return lowered || l->unsupported;
}
