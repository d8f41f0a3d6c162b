// iree_linalg_ext: scans, sorts, gathers and scatters as programs hand them to a compiler.
#include <string.h>

#include "dialects/linalg_ext.h"
#include "import/linalg/ops.h"

bool ext_read_sides(lower_op_t* n, uint32_t least, uint32_t most, uint32_t outs, ext_sides_t* s) {
  if (!linalg_read_segments(n, &s->ins, &s->outs)) return false;
  bool fits = s->ins >= least && s->ins <= most && (!outs || s->outs == outs);
  return fits || lower_unsupported(n, "%u to %u ins are, and %u outs", least, most, outs);
}

// The dimension of x that the op is about.
static bool read_axis(lower_op_t* n, const ir_value_t* x, int64_t* axis) {
  *axis = ir_op_int(n->op, "dimension", -1);
  if (ir_type_is_tensor(x->type) && *axis >= 0 && *axis < x->type->rank) return true;
  return lower_error(n, "dimension %lld is out of range", (long long)*axis);
}

bool ext_check_body(lower_op_t* n, uint32_t args) {
  const ir_block_t* block = n->op->regions[0].first;
  bool fits = block && !block->next && block->arg_count == args && block->last && block->last->operand_count == 1;
  return fits || lower_error(n, "needs a body of one block with %u arguments and one result", args);
}

//===----------------------------------------------------------------------------------------------------------------===
// Bodies on numbers
//===----------------------------------------------------------------------------------------------------------------===

typedef struct body_t {
  ir_builder_t outside;
  ir_block_t* block;
} body_t;

// A block of `op` whose arguments are numbers of the types' elements; the builder goes there until body_end.
static body_t body_begin(lower_op_t* n, ir_op_t* op, const ir_type_t* const* types, uint32_t count) {
  body_t body = {*n->b, ir_block_create(n->ctx)};
  ir_region_append(&op->regions[0], body.block);
  for (uint32_t i = 0; i < count; ++i) {
    ir_block_add_arg(n->ctx, body.block, ir_type_tensor(n->ctx, ir_type_scalar(types[i]), 0, NULL));
  }
  n->b->block = body.block;
  n->b->before = NULL;
  return body;
}
static void body_end(lower_op_t* n, const body_t* body, ir_value_t* const* values, uint32_t count) {
  ir_build_op(n->b, GRAPH_YIELD, values, count, NULL);
  *n->b = body->outside;
}

ir_value_t* ext_run_body(lower_op_t* n, ir_value_t* const* values, uint32_t count) {
  lower_value_t args[8] = {{0}}, *results;
  uint32_t result_count;
  if (count > 8 || !ext_check_body(n, count)) return NULL;
  for (uint32_t i = 0; i < count; ++i) args[i].v = values[i];
  ++n->l->whole;
  bool ok = lower_block(n->l, n->op->regions[0].first, args, &results, &result_count);
  --n->l->whole;
  if (!ok) return NULL;
  if (!results[0].v) lower_error(n, "has a body that yields no number");
  return results[0].v ? lower_as_tensor(n->b, results[0].v) : NULL;
}

// A flag without dims, as comparators give it.
static bool is_flag(lower_op_t* n, const ir_value_t* v) {
  if (!v) return false;
  return (lower_is_bool(v->type) && v->type->rank == 0) || lower_error(n, "needs a body that yields an i1");
}

static bool same_shapes(lower_op_t* n, ir_value_t* const* values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    bool fits = ir_type_is_tensor(values[i]->type) && values[i]->type->rank == values[0]->type->rank;
    if (!fits) return lower_error(n, "has operands of different shapes");
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sorts
//===----------------------------------------------------------------------------------------------------------------===

// Operands in the order that the body has of the first `keys` of them.
static ir_op_t* build_sort(lower_op_t* n, ir_value_t* const* operands, uint32_t count, uint32_t keys, int64_t axis) {
  const ir_type_t *types[8], *scalars[16];
  ir_value_t* compared[16];
  if (count > 8 || keys > 4) return lower_unsupported(n, "up to 4 keys and 8 operands are"), NULL;
  for (uint32_t i = 0; i < count; ++i) types[i] = scalars[2 * i] = scalars[2 * i + 1] = operands[i]->type;
  ir_named_attr_t attrs[2] = {{"axis", ir_attr_i64(n->ctx, axis)}, {"stable", ir_attr_unit(n->ctx)}};
  ir_op_t* sort = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_SORT_GENERIC),
                                                  .operands = operands,
                                                  .operand_count = count,
                                                  .result_types = types,
                                                  .result_count = count,
                                                  .attrs = attrs,
                                                  .attr_count = 2,
                                                  .region_count = 1});
  body_t body = body_begin(n, sort, scalars, 2 * count);
  for (uint32_t i = 0; i < 2 * keys; ++i) compared[i] = body.block->args[i];
  ir_value_t* flag = ext_run_body(n, compared, 2 * keys);
  if (!is_flag(n, flag)) return NULL;
  body_end(n, &body, &flag, 1);
  return sort;
}

static bool ext_sort(lower_op_t* n) {
  ext_sides_t s;
  int64_t axis;
  if (!ext_read_sides(n, 0, 0, 0, &s) || !read_axis(n, n->in[0], &axis) || !same_shapes(n, n->in, s.outs)) return false;
  ir_op_t* sort = build_sort(n, n->in, s.outs, s.outs, axis);
  for (uint32_t i = 0; sort && i < s.outs; ++i) n->out[i].v = ir_result(sort, i);
  return sort != NULL;
}

// The best of what the outs hold and of the ins: all in order, then the first ones.
static bool ext_topk(lower_op_t* n) {
  ext_sides_t s;
  int64_t axis;
  if (!ext_read_sides(n, 1, 2, 0, &s)) return false;
  if (s.outs > 2) return lower_unsupported(n, "one or two outs are");
  ir_value_t *values = n->in[0], *places = s.ins == 2 ? n->in[1] : NULL, *sorted[2];
  if (!read_axis(n, values, &axis) || !same_shapes(n, n->in, n->op->operand_count)) return false;
  const ir_type_t* index = s.outs == 2 ? n->in[s.ins + 1]->type->element : ir_type_int(n->ctx, 32);
  if (!places && s.outs == 2) {
    ir_value_t* dynamic[GRAPH_MAX_RANK];
    lower_dynamic_dims(n->b, values, values->type, dynamic);
    places = graph_iota(n->b, ir_type_with_element(n->ctx, values->type, index), axis, dynamic);
  }
  sorted[0] = graph_concat(n->b, (ir_value_t*[]){n->in[s.ins], values}, 2, axis);
  if (s.outs == 2) sorted[1] = graph_concat(n->b, (ir_value_t*[]){n->in[s.ins + 1], places}, 2, axis);
  ir_op_t* sort = build_sort(n, sorted, s.outs, 1, axis);
  for (uint32_t i = 0; sort && i < s.outs; ++i) {
    ir_value_t* kept = graph_dim(n->b, n->in[s.ins + i], (uint32_t)axis);
    n->out[i].v = lower_first(n, ir_result(sort, i), (int32_t)axis, kept);
  }
  return sort != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Extremes: a loop nest that keeps the better of what it has and what comes
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* places_along(lower_op_t* n, ir_value_t* x, int64_t axis, const ir_type_t* element,
                                ir_value_t* base) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  ir_value_t* places = graph_iota(n->b, ir_type_with_element(n->ctx, x->type, element), axis, dynamic);
  if (!base) return places;
  base = lower_as_tensor(n->b, graph_cast(n->b, base, element, false));
  return graph_binary(n->b, SCALAR_add, places, lower_splat(n->b, base, places));
}

static ir_op_t* build_nest(lower_op_t* n, ir_value_t* const* operands, int64_t axis) {
  uint32_t rank = (uint32_t)operands[0]->type->rank, kept = 0;
  int64_t all[GRAPH_MAX_RANK], rest[GRAPH_MAX_RANK];
  const ir_attr_t *maps[4], *iterators[GRAPH_MAX_RANK];
  const ir_type_t* types[2] = {operands[2]->type, operands[3]->type};
  for (uint32_t i = 0; i < rank; ++i) {
    all[i] = i;
    if (i != axis) rest[kept++] = i;
    iterators[i] = ir_attr_cstring(n->ctx, i == axis ? "reduction" : "parallel");
  }
  for (uint32_t i = 0; i < 4; ++i) {
    loop_map_t map;
    loops_map_from_list(n->ctx, i < 2 ? all : rest, i < 2 ? rank : kept, rank, &map);
    maps[i] = ir_attr_affine_map(n->ctx, map.affine);
  }
  ir_named_attr_t attrs[3] = {{"maps", ir_attr_array(n->ctx, maps, 4)},
                              {"iterators", ir_attr_array(n->ctx, iterators, rank)},
                              {"outs", ir_attr_i64(n->ctx, 2)}};
  return ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_GENERIC),
                                         .operands = operands,
                                         .operand_count = 4,
                                         .result_types = types,
                                         .result_count = 2,
                                         .attrs = attrs,
                                         .attr_count = 3,
                                         .region_count = 1});
}

static bool ext_arg_compare(lower_op_t* n) {
  ext_sides_t s;
  int64_t axis;
  if (!ext_read_sides(n, 1, 2, 2, &s) || !read_axis(n, n->in[0], &axis)) return false;
  bool has_base = s.ins == 2 && !ir_type_is_tensor(n->in[1]->type);
  ir_value_t* operands[4] = {n->in[0], s.ins == 2 && !has_base ? n->in[1] : NULL, n->in[s.ins], n->in[s.ins + 1]};
  const ir_type_t* index = operands[3]->type->element;
  if (!operands[1]) operands[1] = places_along(n, n->in[0], axis, index, has_base ? n->in[1] : NULL);
  bool fits = same_shapes(n, operands, 2) && operands[2]->type->rank == n->in[0]->type->rank - 1 &&
              operands[3]->type->rank == operands[2]->type->rank && operands[1]->type->element == index &&
              operands[2]->type->element == n->in[0]->type->element;
  if (!fits) return lower_error(n, "has outs that do not fit its ins");
  ir_op_t* nest = build_nest(n, operands, axis);
  const ir_type_t* types[4] = {operands[0]->type, operands[1]->type, operands[2]->type, operands[3]->type};
  body_t body = body_begin(n, nest, types, 4);
  ir_value_t** args = body.block->args;
  ir_value_t* flag = ext_run_body(n, (ir_value_t*[]){args[0], args[2]}, 2);
  if (!is_flag(n, flag)) return false;
  ir_value_t* better[2] = {graph_select(n->b, flag, args[0], args[2]), graph_select(n->b, flag, args[1], args[3])};
  body_end(n, &body, better, 2);
  for (uint32_t i = 0; i < 2; ++i) n->out[i].v = ir_result(nest, i);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scans
//===----------------------------------------------------------------------------------------------------------------===

// The kind by which the body combines its two arguments, or NULL.
static const char* body_kind(const lower_op_t* n) {
  const ir_block_t* block = n->op->regions[0].first;
  const ir_op_t* op = ir_operand(block->last, 0)->def;
  const char* kind = op && op->parent == block && op->operand_count == 2 ? arith_reduction_kind(op) : NULL;
  if (!kind) return NULL;
  const ir_value_t *x = ir_operand(op, 0), *y = ir_operand(op, 1);
  return (x == block->args[0] && y == block->args[1]) || (x == block->args[1] && y == block->args[0]) ? kind : NULL;
}

// The last slice along an axis, which disappears.
static ir_value_t* last_slice(lower_op_t* n, ir_value_t* x, int64_t axis) {
  ir_value_t *operands[1 + 2 * GRAPH_MAX_RANK] = {x}, *kept[GRAPH_MAX_RANK];
  int64_t dims[GRAPH_MAX_RANK], rest[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, dynamic = 0, count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    ir_value_t* size = graph_dim(n->b, x, i);
    bool cut = i == axis;
    ir_value_t* one = graph_index_constant(n->b, 1);
    operands[1 + i] = cut ? lower_index_binary(n->b, SCALAR_sub, size, one) : graph_index_constant(n->b, 0);
    dims[i] = cut ? 1 : x->type->dims[i];
    if (dims[i] == IR_DYNAMIC) kept[dynamic++] = size;
    if (!cut) rest[count++] = dims[i];
  }
  memcpy(operands + 1 + rank, kept, sizeof(kept[0]) * dynamic);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, dims);
  ir_value_t* slice = lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank + dynamic, type, NULL, 0);
  return graph_reshape(n->b, slice, (int32_t)count, rest, kept);
}

// An inclusive scan begins with the first element, an exclusive one with the accumulator; that holds the last result.
static bool ext_scan(lower_op_t* n) {
  ext_sides_t s;
  int64_t axis;
  if (!ext_read_sides(n, 1, 1, 2, &s) || !read_axis(n, n->in[0], &axis) || !ext_check_body(n, 2)) return false;
  ir_value_t *x = n->in[0], *start = n->in[2];
  const char* kind = body_kind(n);
  bool inclusive = ir_op_int(n->op, "inclusive", 0) != 0 || ir_op_flag(n->op, "inclusive");
  if (!kind) return lower_unsupported(n, "a body that adds, multiplies, or takes the larger or smaller one is");
  if (start->type->rank != x->type->rank - 1 || start->type->element != x->type->element) {
    return lower_error(n, "has an accumulator that does not fit its operand");
  }
  ir_named_attr_t attrs[3] = {{"axis", ir_attr_i64(n->ctx, axis)},
                              {"kind", ir_attr_cstring(n->ctx, kind)},
                              {"exclusive", ir_attr_unit(n->ctx)}};
  ir_value_t* y = lower_build(n, GRAPH_SCAN, &x, 1, x->type, attrs, inclusive ? 2 : 3);
  if (!inclusive) {
    int64_t dims[GRAPH_MAX_RANK];
    ir_value_t* dynamic[GRAPH_MAX_RANK];
    uint32_t count = 0;
    for (int32_t i = 0; i < x->type->rank; ++i) {
      if (i != axis) dims[count++] = i;
    }
    lower_dynamic_dims(n->b, x, x->type, dynamic);
    y = graph_binary(n->b, lower_kind_fn(kind), graph_broadcast(n->b, start, x->type, dims, dynamic), y);
  }
  n->out[0].v = y;
  n->out[1].v = last_slice(n, y, axis);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Gathers and scatters: slices at places along the dimensions that dimension_map names
//===----------------------------------------------------------------------------------------------------------------===

// `whole`: what has places; `part`: batch dims, then those of a slice.
static bool read_slices(lower_op_t* n, const ir_type_t* whole, const ir_type_t* part, const ir_type_t* indices,
                        places_t* s) {
  *s = (places_t){0};
  if (!lower_dims(n, "dimension_map", whole->rank, s->map, &s->depth)) return false;
  int32_t index_rank = indices->rank;
  for (int implicit = 0; implicit < 2; ++implicit) {  // one index needs no dimension of its own
    int32_t batch = index_rank - !implicit, window = part->rank - batch;
    if (batch < 0 || (implicit && s->depth != 1) || (!implicit && indices->dims[batch] != (int64_t)s->depth)) continue;
    s->whole = window == whole->rank;
    if (!s->whole && window != whole->rank - (int32_t)s->depth) continue;
    s->vector_dim = batch;
    s->window_count = (uint32_t)window;
    for (int32_t i = 0; i < window; ++i) s->window[i] = batch + i;
    for (uint32_t i = 0, at = 0; i < (uint32_t)whole->rank; ++i) {
      for (uint32_t k = 0; k < s->depth; ++k) {
        if (s->map[k] == i) s->sorted[at++] = i;
      }
    }
    return true;
  }
  return lower_error(n, "has indices that do not fit its operands");
}

static bool check_tensors(lower_op_t* n, uint32_t indices) {
  if (!lower_check_tensors(n)) return false;
  return !lower_is_float(n->in[indices]->type) || lower_unsupported(n, "integer indices are");
}

// The mask, one flag for each of the batch, with the dims of `like`.
static ir_value_t* spread_mask(lower_op_t* n, ir_value_t* mask, ir_value_t* like, const places_t* s) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  for (int64_t i = 0; i < s->vector_dim; ++i) dims[i] = i;
  lower_dynamic_dims(n->b, like, like->type, dynamic);
  const ir_type_t* flag = ir_type_int(n->ctx, 1);
  mask = graph_cast(n->b, mask, flag, false);
  return graph_broadcast(n->b, mask, ir_type_with_element(n->ctx, like->type, flag), dims, dynamic);
}

static bool check_mask(lower_op_t* n, const ext_sides_t* sides, const places_t* s) {
  if (sides->ins < 3) return true;
  const ir_type_t *mask = n->in[2]->type, *indices = n->in[1]->type;
  bool fits = mask->rank == (int32_t)s->vector_dim && !lower_is_float(mask);
  for (uint32_t i = 0; fits && i < s->vector_dim; ++i) fits = mask->dims[i] == indices->dims[i];
  return fits || lower_error(n, "needs a mask with the batch dims of its indices");
}

static bool ext_gather(lower_op_t* n) {
  ext_sides_t sides;
  places_t s;
  ir_named_attr_t attrs[8];
  int64_t sizes[GRAPH_MAX_RANK];
  if (!ext_read_sides(n, 2, 3, 1, &sides) || !check_tensors(n, 1)) return false;
  const ir_type_t *x = n->in[0]->type, *type = n->in[sides.ins]->type;
  if (!read_slices(n, x, type, n->in[1]->type, &s) || !check_mask(n, &sides, &s)) return false;
  if (x->element != type->element) return lower_error(n, "has an out of another type than its source");
  uint32_t count = places_attrs(n, &s, false, attrs), next = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    bool collapsed = false;
    for (uint32_t k = 0; !s.whole && k < s.depth; ++k) collapsed |= s.map[k] == i;
    sizes[i] = collapsed ? 1 : type->dims[s.window[next++]];
    if (sizes[i] == IR_DYNAMIC) return lower_unsupported(n, "slices of static shape are");
  }
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, (uint32_t)x->rank)};
  ir_value_t* y = lower_build(n, GRAPH_GATHER, n->in, 2, type, attrs, count);
  if (sides.ins == 3) y = graph_select(n->b, spread_mask(n, n->in[2], y, &s), y, n->in[3]);
  return lower_return(n, y);
}

// Indices that are nowhere where the mask has no flag.
static ir_value_t* masked_indices(lower_op_t* n, const places_t* s) {
  ir_value_t *indices = n->in[1], *nowhere = lower_number_like(n, indices, -1);
  return graph_select(n->b, spread_mask(n, n->in[2], indices, s), indices, nowhere);
}

// The body's arguments are the update and what is there.
static bool ext_scatter(lower_op_t* n) {
  ext_sides_t sides;
  places_t s;
  ir_named_attr_t attrs[8];
  if (!ext_read_sides(n, 2, 3, 1, &sides) || !check_tensors(n, 1) || !ext_check_body(n, 2)) return false;
  ir_value_t* original = n->in[sides.ins];
  const ir_type_t *type = original->type, *update = n->in[0]->type;
  if (!read_slices(n, type, update, n->in[1]->type, &s) || !check_mask(n, &sides, &s)) return false;
  if (update->element != type->element) return lower_error(n, "has updates of another type than what they change");
  uint32_t count = places_attrs(n, &s, true, attrs);
  ir_value_t* operands[3] = {original, sides.ins == 3 ? masked_indices(n, &s) : n->in[1], n->in[0]};
  const ir_block_t* block = n->op->regions[0].first;
  const char* kind = ir_operand(block->last, 0) == block->args[0] ? "set" : body_kind(n);
  if (kind && strcmp(kind, "xor") != 0) {
    attrs[count++] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, kind)};
    return lower_return(n, lower_build(n, GRAPH_SCATTER, operands, 3, type, attrs, count));
  }
  ir_op_t* scatter = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_SCATTER_GENERIC),
                                                     .operands = operands,
                                                     .operand_count = 3,
                                                     .result_types = &type,
                                                     .result_count = 1,
                                                     .attrs = attrs,
                                                     .attr_count = count,
                                                     .region_count = 1});
  body_t body = body_begin(n, scatter, (const ir_type_t*[]){type, type}, 2);
  ir_value_t* value = ext_run_body(n, (ir_value_t*[]){body.block->args[1], body.block->args[0]}, 2);
  if (!value) return false;
  body_end(n, &body, &value, 1);
  return lower_return(n, ir_result(scatter, 0));
}

#define AT(ENUM, handler) [LINALG_EXT_##ENUM - IR_CODE(IR_DIALECT_LINALG_EXT, 0)] = {.fn = ext_##handler}
static const lower_row_t rows[] = {
    AT(ARG_COMPARE, arg_compare),
    AT(ATTENTION, attention),
    AT(ONLINE_ATTENTION, online_attention),
    AT(GATHER, gather),
    AT(SCAN, scan),
    AT(SCATTER, scatter),
    AT(SORT, sort),
    AT(TOPK, topk),
    AT(TOPK_V2, topk),
    AT(EXP_REDUCTION, exp_reduction),
    AT(WINOGRAD_INPUT, winograd_input),
    AT(WINOGRAD_FILTER, winograd_filter),
    AT(WINOGRAD_OUTPUT, winograd_output),
    AT(IM2COL, im2col),
    AT(MAP_LOAD, map_load),
    AT(MAP_GATHER, map_load),
    AT(MAP_STORE, map_store),
    AT(MAP_SCATTER, map_store),
};
const lower_table_t lower_linalg_ext_table = {IR_DIALECT_LINALG_EXT, rows, sizeof(rows) / sizeof(rows[0])};
