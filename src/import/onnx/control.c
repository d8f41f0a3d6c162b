// If, and what Loop (loop.c) and Scan (scan.c) have in common with it.
#include <string.h>

#include "import/onnx/holder.h"
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

ir_block_t* onnx_region_block(onnx_node_t* n, uint32_t index, uint32_t regions) {
  if (n->op->region_count != regions || !n->op->regions[index].first || !n->op->regions[index].first->last) {
    onnx_error(n, "needs %u graphs as attributes", regions);
    return NULL;
  }
  return n->op->regions[index].first;
}

ir_value_t* onnx_as_scalar(onnx_node_t* n, ir_value_t* v) {
  return v->type->rank ? graph_reshape(n->b, v, 0, NULL, NULL) : v;
}

static void drop_block(ir_block_t* block) {
  while (block->last) ir_op_erase(block->last);
}

static bool lower_branch(onnx_node_t* n, ir_block_t* from, ir_block_t* to, onnx_values_t* results) {
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, to);
  n->b->loc = outside.loc;
  bool lowered = onnx_lower_block(n->lowering, from, (onnx_values_t){0}, results);
  if (lowered && results->count != n->out_count) lowered = onnx_error(n, "a branch gives %u results", results->count);
  *n->b = outside;
  if (!lowered) drop_block(to);
  return lowered;
}

// `*tensors` are what the results are made of; a sequence that is empty in one branch is one of what the other has.
static bool flatten_branch(onnx_node_t* n, ir_block_t* block, const onnx_values_t* results, const onnx_values_t* others,
                           onnx_values_t* tensors) {
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, block);
  n->b->loc = outside.loc;
  bool fine = true;
  for (uint32_t i = 0; fine && i < results->count; ++i) {
    results->items[i] = onnx_holder_adopt(n, results->items[i], others->items[i]);
    fine = onnx_same_form(results->items[i], others->items[i]) ||
           onnx_error(n, "the branches give values of different kinds as result %u", i);
  }
  fine = fine && onnx_values_flatten(n, *results, tensors);
  *n->b = outside;
  return fine;
}

// Of which result each tensor is a part.
static uint32_t* find_owners(onnx_node_t* n, const onnx_values_t* results, uint32_t count) {
  arena_t* arena = ir_context_arena(n->ctx);
  uint32_t *owners = ARENA_ARRAY(arena, uint32_t, count + 1), at = 0;
  const ir_type_t* types[ONNX_MAX_PARTS];
  for (uint32_t i = 0; i < results->count; ++i) {
    uint32_t parts = 0;
    if (!onnx_holder_form(n, results->items[i], types, &parts)) return NULL;
    while (parts-- && at < count) owners[at++] = i;
  }
  return owners;
}

// In a branch whose result has a rank that is not the program's: stops, with zeros for what follows.
static ir_value_t* refuse_branch(onnx_node_t* n, const ir_type_t* type, bool taken) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  ir_value_t* condition = onnx_as_scalar(n, n->in[0].v);
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = onnx_dim_of(type->dims[i] == IR_DYNAMIC ? 0 : type->dims[i]);
  graph_assert(n->b, taken ? onnx_unary(n, SCALAR_not, condition) : condition,
               "the branch gives a result of another rank than the program takes");
  return onnx_broadcast_to(n, graph_scalar_constant(n->b, type->element, 0), type->rank, dims);
}

// Values without items: the branch cannot give them.
static void yield_as(onnx_node_t* n, ir_block_t* block, onnx_values_t values, const ir_type_t* const* types,
                     bool taken) {
  uint32_t count = values.count;
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, block);
  n->b->loc = outside.loc;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* v = values.items ? values.items[i].v : NULL;
    bool fits = v && (v->type->rank == types[i]->rank || ir_type_count(v->type) == 1);
    operands[i] = onnx_coerce(n, fits ? v : refuse_branch(n, types[i], taken), types[i]);
  }
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_YIELD), .operands = operands, .operand_count = count};
  ir_build(n->b, &state);
  *n->b = outside;
}

// What nothing uses has no type to agree on.
static void drop_unused(onnx_node_t* n, ir_block_t* block, const onnx_values_t* results) {
  ir_builder_t b = ir_builder_at_end(n->ctx, block);
  b.loc = n->b->loc;
  for (uint32_t i = 0; i < results->count && !n->lowering->inferring; ++i) {
    if (n->lowering->source->results[i].uses) continue;
    results->items[i] = onnx_value(graph_scalar_constant(&b, onnx_bool(n->ctx), 0), onnx_bool(n->ctx));
  }
}

// What is asked for nothing but its elements, in order, is a vector of them.
static void flatten_elements(onnx_node_t* n, ir_block_t* const* blocks, onnx_values_t* tensors, uint32_t i) {
  ir_builder_t outside = *n->b;
  for (uint32_t k = 0; k < 2; ++k) {
    *n->b = ir_builder_at_end(n->ctx, blocks[k]);
    n->b->loc = outside.loc;
    tensors[k].items[i].v = onnx_flatten(n, tensors[k].items[i]);
  }
  *n->b = outside;
}

// The type of a result that has other types in the branches. Ranks may differ when both are one value, or when the
// program declares which it is, or asks for it. NULL after a diagnostic, or where ranks differ else: `*ranks`.
static const ir_type_t* join_types(onnx_node_t* n, uint32_t i, const ir_type_t* a, const ir_type_t* b, bool* ranks) {
  const ir_type_t* merged = onnx_merge_types(n->ctx, a, b);
  int32_t declared = onnx_result_rank(n, i);
  if (declared >= 0 && onnx_is_str(n->op->results[i].type->element)) ++declared;
  if (merged) return merged;
  bool same = a->element == b->element;
  if (same && ir_type_count(a) == 1 && ir_type_count(b) == 1) {
    return declared == a->rank || (declared != b->rank && a->rank > b->rank) ? a : b;
  }
  if (same && a->rank != b->rank && (declared == a->rank || declared == b->rank)) return declared == a->rank ? a : b;
  *ranks = same && !n->lowering->inferring;
  if (!*ranks) onnx_unsupported(n, "result %u differs in %s between the branches", i, same ? "rank" : "element type");
  return NULL;
}

// The types of the tensors that the results are made of. NULL after a diagnostic, or where ranks differ: `*ranks`.
static const ir_type_t** join_branches(onnx_node_t* n, ir_block_t* const* blocks, onnx_values_t* results,
                                       onnx_values_t* tensors, bool* ranks) {
  for (uint32_t k = 0; k < 2; ++k) drop_unused(n, blocks[k], &results[k]);
  if (!flatten_branch(n, blocks[0], &results[0], &results[1], &tensors[0])) return NULL;
  if (!flatten_branch(n, blocks[1], &results[1], &results[0], &tensors[1])) return NULL;
  uint32_t count = tensors[0].count;
  const uint32_t* owners = find_owners(n, &results[0], count);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t *a = tensors[0].items[i].v->type, *b = tensors[1].items[i].v->type;
    bool one = ir_type_count(a) == 1 && ir_type_count(b) == 1;
    bool any = a->rank != b->rank && !one && a->element == b->element && !results[0].items[owners[i]].holder &&
               onnx_declared_rank(n, owners[i]) < 0 && !onnx_asked_rank(n, owners[i]).matters;
    if (any) flatten_elements(n, blocks, tensors, i);
    types[i] = join_types(n, owners[i], tensors[0].items[i].v->type, tensors[1].items[i].v->type, ranks);
    if (!types[i]) return NULL;
  }
  return types;
}

static bool inline_branch(onnx_node_t* n, ir_block_t* block) {
  onnx_values_t results;
  if (!onnx_lower_block(n->lowering, block, (onnx_values_t){0}, &results)) return false;
  if (results.count != n->out_count) return onnx_error(n, "the branch gives %u results", results.count);
  for (uint32_t i = 0; i < results.count; ++i) n->out[i] = results.items[i];
  return true;
}

// graph.if of blocks that give those tensors, as those types.
static ir_op_t* build_if(onnx_node_t* n, ir_block_t* const* blocks, const onnx_values_t* tensors,
                         const ir_type_t** types) {
  ir_value_t* condition = onnx_as_scalar(n, n->in[0].v);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_IF),
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = types,
                         .result_count = tensors[0].count,
                         .region_count = 2};
  ir_op_t* op = ir_build(n->b, &state);
  for (uint32_t k = 0; k < 2; ++k) {
    ir_region_append(&op->regions[k], blocks[k]);
    yield_as(n, blocks[k], tensors[k], types, k == 0);
  }
  return op;
}

// What the op gives in place of the results that `like` shows.
static void rebuild_results(onnx_node_t* n, ir_op_t* op, onnx_values_t like, const onnx_value_t* tensors,
                            onnx_value_t* out) {
  onnx_value_t* given = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) given[i] = onnx_value(ir_result(op, i), tensors[i].element);
  onnx_values_rebuild(n, like, given, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Branches whose results have several ranks: what follows in the block goes into each of them. One that it does not
// take is refused when it is chosen.
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_rest(onnx_node_t* n, ir_block_t* block, onnx_values_t given, bool quiet, onnx_values_t* results) {
  ir_builder_t outside = *n->b;
  *n->b = ir_builder_at_end(n->ctx, block);
  n->b->loc = outside.loc;
  if (quiet) ir_context_mute(n->ctx, true);
  bool lowered = onnx_lower_rest(n->lowering, given, results);
  if (quiet) ir_context_mute(n->ctx, false);
  if (!lowered) drop_block(block);
  *n->b = outside;
  return lowered;
}

// The types of what both rests give, or the one that there is.
static const ir_type_t** join_rests(onnx_node_t* n, const onnx_values_t* tensors, const bool* lowered) {
  uint32_t count = tensors[!lowered[0]].count;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    types[i] = tensors[!lowered[0]].items[i].v->type;
    if (!lowered[0] || !lowered[1]) continue;
    const ir_type_t* a = types[i];
    types[i] = onnx_merge_types(n->ctx, a, tensors[1].items[i].v->type);
    if (types[i]) continue;
    onnx_unsupported(n,
                     "the branches differ in rank, and so does result %u of the graph, with %s and %s; the model must "
                     "declare its shape (value_info, or an output's)",
                     i, ir_type_str(n->ctx, a), ir_type_str(n->ctx, tensors[1].items[i].v->type));
    return NULL;
  }
  return types;
}

// Each branch behind a branch doubles what there is of the rest: more copies than ONNX_MAX_RESTS are an error, not a
// branch that cannot be taken.
static bool check_rests(onnx_node_t* n) {
  if (n->lowering->rest_count <= ONNX_MAX_RESTS) return true;
  if (n->lowering->rest_depth) return false;
  return onnx_unsupported(n,
                          "results of several ranks follow from branches one after the other: what comes behind them "
                          "would be there more than %u times; the model must declare their shapes (value_info)",
                          ONNX_MAX_RESTS);
}

static bool lower_rests(onnx_node_t* n, ir_block_t* const* blocks, const onnx_values_t* given) {
  onnx_values_t results[2] = {0}, tensors[2] = {0};
  bool lowered[2];
  if (!n->lowering->rest_depth) n->lowering->rest_count = 0;
  lowered[0] = lower_rest(n, blocks[0], given[0], true, &results[0]);
  lowered[1] = lower_rest(n, blocks[1], given[1], lowered[0], &results[1]);
  if (!check_rests(n) || (!lowered[0] && !lowered[1])) return false;
  for (uint32_t k = 0; k < 2; ++k) {
    if (!lowered[k]) results[k] = results[!k];
  }
  for (uint32_t k = 0; k < 2; ++k) {
    if (lowered[k] && !flatten_branch(n, blocks[k], &results[k], &results[!k], &tensors[k])) return false;
  }
  for (uint32_t k = 0; k < 2; ++k) {
    if (!lowered[k]) tensors[k] = (onnx_values_t){NULL, tensors[!k].count};
  }
  const ir_type_t** types = join_rests(n, tensors, lowered);
  if (!types) return false;
  onnx_values_t* rest = ARENA_NEW(ir_context_arena(n->ctx), onnx_values_t);
  *rest = (onnx_values_t){ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, results[0].count + 1), results[0].count};
  ir_op_t* op = build_if(n, blocks, tensors, types);
  rebuild_results(n, op, results[0], tensors[!lowered[0]].items, rest->items);
  n->lowering->rest = rest;
  return true;
}

bool onnx_lower_if(onnx_node_t* n) {
  ir_block_t *else_block = onnx_region_block(n, 0, 2), *then_block = else_block ? onnx_region_block(n, 1, 2) : NULL;
  if (!then_block || !onnx_check_single(n, 0) || !onnx_is_bool(n->in[0]))
    return then_block && onnx_error(n, "the condition must be one boolean");
  const ir_attr_t* known = onnx_constant(n, n->in[0].v);
  if (known) return inline_branch(n, ir_attr_element_integer(known, 0) ? then_block : else_block);
  ir_block_t* blocks[] = {ir_block_create(n->ctx), ir_block_create(n->ctx)};
  onnx_values_t results[2], tensors[2];
  if (!lower_branch(n, then_block, blocks[0], &results[0])) return false;
  if (!lower_branch(n, else_block, blocks[1], &results[1])) return drop_block(blocks[0]), false;
  bool ranks = false;
  const ir_type_t** types = join_branches(n, blocks, results, tensors, &ranks);
  if (ranks && lower_rests(n, blocks, results)) return true;
  if (!types) return drop_block(blocks[0]), drop_block(blocks[1]), false;
  ir_op_t* op = build_if(n, blocks, tensors, types);
  rebuild_results(n, op, results[0], tensors[0].items, n->out);
  return true;
}
