// See layout_conv.h. What is no constant is brought into form by a dispatch of its own, before the convolution's:
// weights given at run time are packed by it, and an input that is computed, needs channels in vectors, or has more
// padding than should be built into the kernel is written out by it.
//
//   %y = dispatch(%x, %w) ({ %p = reshape(tanh %w); %y = conv %x, %p })
//     =>
//   %w' = dispatch(%w) ({ %p = reshape(tanh %w); %g = pack(reshape %p) })
//   %y = dispatch(%x, %w') ({ %p = reshape(unpack %w'); %y = conv %x, %p })
#include "kernels/layout_conv.h"

#include <string.h>

#include "kernels/conv_plan.h"
#include "kernels/layout.h"
#include "kernels/layout_tiles.h"
#include "kernels/layout_winograd.h"
#include "kernels/slide.h"
#include "passes/constant_move.h"

enum { LEAST_TILED = 16, MOST_SIZES = 64 };  // channels of an input whose rows are worth copying; sizes of a dispatch

typedef struct convs_t {
  ir_context_t* ctx;
  const device_info_t* device;
  ir_op_t* dispatch;
  ir_block_t* body;
  ir_op_t* op;
  graph_conv_t c;
  bool slides;  // slide.c takes it: channels and weights stay as they are
} convs_t;

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches before the convolution's
//===----------------------------------------------------------------------------------------------------------------===

// A dispatch that computes `inner`, at first a copy of a value of the convolution's region.
typedef struct helper_t {
  ir_op_t* op;
  ir_block_t* body;
  ir_builder_t b;
  ir_value_t* inner;
  const ir_attr_t* extents;  // of inner: numbers of operands that are its run-time sizes
  ir_value_map_t* map;
  int64_t sizes[2 * MOST_SIZES];  // the same of the operands, as the dispatch's `sizes` has them
  uint32_t size_count;
} helper_t;

// How many of the dispatch's `sizes` are those of operands before number `end`.
static uint32_t sizes_before(const ir_op_t* dispatch, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < end; ++i) count += ir_type_open_dims(ir_operand(dispatch, i)->type);
  return count;
}

// Numbers of the operands that are the run-time sizes of a value of the region: NULL where there are none.
static const ir_attr_t* extents_of(const convs_t* v, const ir_value_t* value) {
  if (value->def) return graph_attr(value->def, GRAPH_ATTR_extents);
  int64_t sizes[MOST_SIZES];
  uint32_t count = ir_type_open_dims(value->type), first = sizes_before(v->dispatch, value->index);
  if (!count) return NULL;
  ir_attr_ints(graph_attr(v->dispatch, GRAPH_ATTR_sizes), sizes, MOST_SIZES);
  return ir_attr_i64_array(v->ctx, sizes + first, count);
}

// Whether a value of the region and all that it is computed from have known sizes.
static bool is_static(const ir_value_t* value) {
  if (!ir_type_is_tensor(value->type) || !ir_type_is_static(value->type)) return false;
  if (!value->def) return true;
  if (value->def->region_count || value->def->result_count != 1) return false;
  for (uint32_t i = 0; i < value->def->operand_count; ++i) {
    if (!is_static(ir_operand(value->def, i))) return false;
  }
  return true;
}

// Whether a dispatch of its own can compute the value.
static bool is_movable(const convs_t* v, const ir_value_t* value) {
  if (!value->def) return true;
  int64_t numbers[MOST_SIZES];
  const ir_attr_t* extents = extents_of(v, value);
  uint32_t count = ir_type_open_dims(value->type);
  if (value->def->region_count || value->def->result_count != 1) return false;
  if (count && (!extents || ir_attr_ints(extents, numbers, MOST_SIZES) != count)) return false;
  for (uint32_t i = 0; i < value->def->operand_count; ++i) {
    if (!is_movable(v, ir_operand(value->def, i))) return false;
  }
  return true;
}

static ir_value_t* copy_argument(convs_t* v, helper_t* h, ir_value_t* value);

// The numbers of the same operands of the helper.
static const ir_attr_t* copy_extents(convs_t* v, helper_t* h, const ir_value_t* value) {
  int64_t numbers[MOST_SIZES];
  const ir_attr_t* extents = ir_type_open_dims(value->type) ? extents_of(v, value) : NULL;
  if (!extents) return NULL;
  uint32_t count = ir_attr_ints(extents, numbers, MOST_SIZES);
  for (uint32_t i = 0; i < count; ++i) numbers[i] = copy_argument(v, h, v->body->args[numbers[i]])->index;
  return ir_attr_i64_array(v->ctx, numbers, count);
}

static ir_value_t* copy_argument(convs_t* v, helper_t* h, ir_value_t* value) {
  ir_value_t* copy = ir_value_map_get(h->map, value);
  if (copy) return copy;
  const ir_attr_t* extents = copy_extents(v, h, value);
  uint32_t count = h->op->operand_count;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(v->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) operands[i] = ir_operand(h->op, i);
  operands[count] = ir_operand(v->dispatch, value->index);
  ir_op_set_operands(v->ctx, h->op, operands, count + 1);
  if (extents) h->size_count += ir_attr_ints(extents, h->sizes + h->size_count, MOST_SIZES);
  copy = ir_block_add_arg(v->ctx, h->body, value->type);
  ir_value_map_set(h->map, value, copy);
  return copy;
}

static ir_value_t* copy_value(convs_t* v, helper_t* h, ir_value_t* value) {
  if (!value->def) return copy_argument(v, h, value);
  ir_value_t* copy = ir_value_map_get(h->map, value);
  if (copy) return copy;
  for (uint32_t i = 0; i < value->def->operand_count; ++i) copy_value(v, h, ir_operand(value->def, i));
  const ir_attr_t* extents = copy_extents(v, h, value);
  ir_op_t* op = ir_op_clone(v->ctx, value->def, h->map);
  if (extents) ir_op_set_attr(v->ctx, op, "extents", extents);
  ir_block_append(h->body, op);
  return ir_result(op, 0);
}

static void helper_begin(convs_t* v, helper_t* h, const char* suffix, ir_value_t* value) {
  const char* of = ir_op_string(v->dispatch, "sym_name", "dispatch");
  const char* name = arena_printf(ir_context_arena(v->ctx), "%s_%s", of, suffix);
  ir_named_attr_t attr = {"sym_name", ir_attr_cstring(v->ctx, name)};
  ir_builder_t b = ir_builder_before(v->ctx, v->dispatch);
  *h = (helper_t){.body = ir_block_create(v->ctx), .map = ir_value_map_create(v->ctx)};
  h->op = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(v->ctx, GRAPH_DISPATCH),
                                        .loc = v->dispatch->loc,
                                        .result_types = &value->type,
                                        .result_count = 1,
                                        .attrs = &attr,
                                        .attr_count = 1,
                                        .region_count = 1});
  ir_region_append(&h->op->regions[0], h->body);
  h->inner = copy_value(v, h, value);
  h->extents = copy_extents(v, h, value);
  h->b = ir_builder_at_end(v->ctx, h->body);
  h->b.loc = v->op->loc;
}

static ir_value_t* helper_end(convs_t* v, helper_t* h) {
  if (h->extents) {
    if (h->inner->def) ir_op_set_attr(v->ctx, h->inner->def, "extents", h->extents);
    h->size_count += ir_attr_ints(h->extents, h->sizes + h->size_count, MOST_SIZES);
  }
  if (h->size_count) ir_op_set_attr(v->ctx, h->op, "sizes", ir_attr_i64_array(v->ctx, h->sizes, h->size_count));
  ir_build_op(&h->b, GRAPH_YIELD, &h->inner, 1, NULL);
  ir_value_t* result = ir_result(h->op, 0);
  result->type = h->inner->type;
  return result;
}

static void drop_unused(ir_block_t* body) {
  for (ir_op_t *op = body->last, *before; op; op = before) {
    before = op->prev;
    bool used = op == body->last;
    for (uint32_t i = 0; i < op->result_count; ++i) used |= op->results[i].uses != NULL;
    if (!used) ir_op_erase(op);
  }
}

static void replace_argument(convs_t* v, ir_value_t* arg, ir_value_t* outer) {
  ir_value_t* old = ir_operand(v->dispatch, arg->index);
  ir_op_set_operand(v->dispatch, arg->index, outer);
  if (!old->uses && old->def && ir_is(old->def, GRAPH_CONSTANT)) ir_op_erase(old->def);
  arg->type = outer->type;
}

static ir_value_t* append_argument(convs_t* v, ir_value_t* outer, const ir_attr_t* extents) {
  uint32_t count = v->dispatch->operand_count;
  if (extents) {  // behind those of the operands
    int64_t sizes[2 * MOST_SIZES], numbers[MOST_SIZES];
    uint32_t all = ir_attr_ints(graph_attr(v->dispatch, GRAPH_ATTR_sizes), sizes, MOST_SIZES);
    uint32_t more = ir_attr_ints(extents, numbers, MOST_SIZES), at = sizes_before(v->dispatch, count);
    memmove(sizes + at + more, sizes + at, sizeof(*sizes) * (all - at));
    memcpy(sizes + at, numbers, sizeof(*sizes) * more);
    ir_op_set_attr(v->ctx, v->dispatch, "sizes", ir_attr_i64_array(v->ctx, sizes, all + more));
  }
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(v->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) operands[i] = ir_operand(v->dispatch, i);
  operands[count] = outer;
  ir_op_set_operands(v->ctx, v->dispatch, operands, count + 1);
  return ir_block_add_arg(v->ctx, v->body, outer->type);
}

// `outer` as an argument of the dispatch, in the place of one that nothing uses any more.
static ir_value_t* bind_argument(convs_t* v, ir_value_t* outer) {
  drop_unused(v->body);
  for (uint32_t i = 0; i < v->body->arg_count; ++i) {
    ir_value_t* arg = v->body->args[i];
    if (arg->uses || !ir_type_is_tensor(arg->type) || !ir_type_is_static(arg->type)) continue;
    replace_argument(v, arg, outer);
    return arg;
  }
  return append_argument(v, outer, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights
//===----------------------------------------------------------------------------------------------------------------===

static bool is_depthwise(const convs_t* v, const ir_type_t* w) {
  return v->c.groups > 1 && w->dims[graph_layout_axis(v->c.w_layout, 'i')] == 1 &&
         w->dims[graph_layout_axis(v->c.w_layout, 'o')] == v->c.groups;
}

// Whether four channels at a time are multiplied: bytes, unsigned by signed, with known weights.
static bool wants_words(const convs_t* v) {
  const ir_value_t *x = ir_operand(v->op, 0), *w = ir_operand(v->op, 1);
  const ir_type_t *xe = x->type->element, *we = w->type->element, *ye = v->op->results[0].type->element;
  bool is_bytes = ir_type_is_int(xe) && xe->width == 8 && ir_type_is_int(we) && we->width == 8;
  if (!v->device->has_int8_dot || !v->c.unsigned_lhs || !is_bytes || !ir_type_is_int(ye) || ye->width != 32)
    return false;
  if (w->def || !graph_constant_value(ir_operand(v->dispatch, w->index)) || is_depthwise(v, w->type)) return false;
  return v->c.batch_groups == 1 &&
         (v->c.groups == 1 || w->type->dims[graph_layout_axis(v->c.w_layout, 'i')] % CONV_WORD == 0);
}

// Whether the input lies in memory so that four channels are a word.
static bool in_words(const convs_t* v) {
  const ir_value_t* x = ir_operand(v->op, 0);
  int64_t channel = graph_layout_axis(v->c.x_layout, 'c'), tile = 0, axis = -1;
  if (!x->def) return channel == x->type->rank - 1 && x->type->dims[channel] % CONV_WORD == 0;
  if (!ir_is(x->def, GRAPH_UNPACK) || ir_operand(x->def, 0)->def) return false;
  if (graph_attr_one(x->def, GRAPH_ATTR_tiles, &tile) != 1) return false;
  graph_attr_one(x->def, GRAPH_ATTR_axes, &axis);
  return axis == channel && tile % CONV_WORD == 0;
}

// Output channels that a register tile covers: as few vectors left empty as can be, and more of them where there are
// few pixels.
static int64_t tile_channels(const convs_t* v, const ir_type_t* element, int64_t channels, int64_t pixels) {
  enum { MOST = 8, CHAINS = 8 };
  int64_t lanes = layout_vector_lanes(v->device, element);
  while (lanes > 1 && channels <= lanes / 2) lanes /= 2;
  int64_t count = (channels + lanes - 1) / lanes, vectors = 2;
  if (count % 2 && count < 8) vectors = count % 3 == 0 ? 3 : count <= 5 ? count : 1;
  while (vectors < MOST && vectors < count && pixels != IR_DYNAMIC && pixels * vectors < CHAINS) {
    do ++vectors;
    while (vectors < MOST && count % vectors && vectors < count);
  }
  return lanes * (vectors < count ? vectors : count);
}

static int64_t pixel_count(const convs_t* v) {
  const ir_type_t* y = v->op->results[0].type;
  int64_t count = 1;
  for (int32_t i = 0; i < y->rank; ++i) {
    if (v->c.y_layout[i] == 'n' || v->c.y_layout[i] == 'c') continue;
    if (y->dims[i] == IR_DYNAMIC) return IR_DYNAMIC;
    count *= y->dims[i];
  }
  return count;
}

static bool is_identity(const int64_t* perm, int32_t rank) {
  for (int32_t i = 0; i < rank; ++i) {
    if (perm[i] != i) return false;
  }
  return true;
}

// How weights are packed: in the order o, i, kernel..; then as [groups, o / groups, i, kernel..], of which the second
// dimension is tiled.
typedef struct packing_t {
  int64_t perm[GRAPH_MAX_RANK], plain[GRAPH_MAX_RANK], block;
  const ir_type_t* grouped;
  bool words;  // and the third dimension by four
} packing_t;

static bool plan_packing(convs_t* v, const ir_type_t* w, packing_t* p) {
  int64_t dims[GRAPH_MAX_RANK];
  p->words = wants_words(v) && in_words(v);
  if (v->c.batch_groups != 1 || w->rank + 2 + p->words > GRAPH_MAX_RANK || ir_type_count(w) == 0) return false;
  for (int32_t i = 0; i < w->rank; ++i) {
    p->perm[i] = graph_layout_axis(v->c.w_layout, i == 0 ? 'o' : i == 1 ? 'i' : (char)('0' + i - 2));
    p->plain[i] = dims[i + 1] = w->dims[p->perm[i]];
  }
  bool depthwise = is_depthwise(v, w);
  dims[0] = depthwise ? 1 : v->c.groups;
  dims[1] = p->plain[0] / dims[0];
  p->grouped = ir_type_tensor(v->ctx, w->element, w->rank + 1, dims);
  p->block = depthwise ? layout_channel_block(v->device, w->element, dims[1])
                       : tile_channels(v, w->element, dims[1], pixel_count(v));
  return p->block > 0;
}

static ir_value_t* packed_weights(convs_t* v, ir_value_t* weights, const packing_t* p) {
  const ir_attr_t* constant = weights->def ? NULL : graph_constant_value(ir_operand(v->dispatch, weights->index));
  bool moves = !is_identity(p->perm, weights->type->rank);
  if (constant) {
    if (moves) constant = constant_transpose(v->ctx, constant, p->perm);
    constant = constant_pack(v->ctx, constant_reshape(v->ctx, constant, p->grouped), 1, p->block);
    if (p->words) constant = constant_pack(v->ctx, constant, 2, CONV_WORD);
    ir_builder_t b = ir_builder_before(v->ctx, v->dispatch);
    return graph_constant(&b, constant);
  }
  helper_t h;
  helper_begin(v, &h, "weights", weights);
  if (moves) h.inner = graph_transpose(&h.b, h.inner, p->perm);
  h.inner = graph_reshape(&h.b, h.inner, p->grouped->rank, p->grouped->dims, NULL);
  const ir_type_t* packed = layout_packed_type(v->ctx, p->grouped, 1, p->block);
  h.inner = ir_result(layout_tile_op(&h.b, GRAPH_PACK, h.inner, packed, 1, p->block), 0);
  return helper_end(v, &h);
}

// Whether the tiles of floats can be made of what the input has side by side.
static bool wants_terms(const convs_t* v) {
  enum { CHUNK = 32, LEAST_OUTPUTS = 64 };
  const ir_value_t *x = ir_operand(v->op, 0), *w = ir_operand(v->op, 1);
  if (x->type->element->kind != IR_TYPE_FLOAT || w->type->element != x->type->element) return false;
  if (w->def || !graph_constant_value(ir_operand(v->dispatch, w->index)) || v->c.batch_groups != 1) return false;
  return w->type->dims[graph_layout_axis(v->c.w_layout, 'i')] % CHUNK == 0 &&
         w->type->dims[graph_layout_axis(v->c.w_layout, 'o')] >= LEAST_OUTPUTS;
}

// Bytes or floats for tile registers: a contraction of pixels by what all of their taps read, [kernel.., i] x [o].
static bool tile_weights(convs_t* v) {
  ir_value_t* weights = ir_operand(v->op, 1);
  const ir_type_t* w = weights->type;
  int64_t perm[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK], pixels = pixel_count(v), images = IR_DYNAMIC;
  if ((!wants_words(v) && !wants_terms(v)) || !in_words(v) || v->c.groups != 1) return false;
  if (w->dims[graph_layout_axis(v->c.w_layout, 'i')] < LEAST_TILED) return false;
  char* letters = arena_copy(ir_context_arena(v->ctx), "0123456789", (size_t)w->rank + 1);
  memcpy(letters + w->rank - 2, "io", 3);
  int64_t plain[] = {1, w->dims[graph_layout_axis(v->c.w_layout, 'o')]};
  for (int32_t i = 0; i < w->rank; ++i) {
    perm[i] = graph_layout_axis(v->c.w_layout, letters[i]);
    dims[i] = w->dims[perm[i]];
    if (i + 1 < w->rank) plain[0] *= dims[i];
    if (i + 2 < w->rank && v->c.x_dilation[i] != 1) return false;
  }
  images = v->op->results[0].type->dims[graph_layout_axis(v->c.y_layout, 'n')];
  layout_tiles_t tiles = {.op = v->op,
                          .rows = images == IR_DYNAMIC || pixels == IR_DYNAMIC ? IR_DYNAMIC : images * pixels};
  const ir_attr_t* constant = graph_constant_value(ir_operand(v->dispatch, weights->index));
  tiles.weights = constant;
  if (!is_identity(perm, w->rank)) tiles.weights = constant_transpose(v->ctx, constant, perm);
  tiles.weights = constant_reshape(v->ctx, tiles.weights, ir_type_tensor(v->ctx, w->element, 2, plain));
  if (!layout_tiles_wants(v->device, &tiles)) return false;
  ir_builder_t b = ir_builder_before(v->ctx, v->dispatch);
  ir_value_t* packed = graph_constant(&b, layout_tiles_pack(v->ctx, &tiles));
  ir_op_set_operand(v->op, 1, NULL);
  ir_value_t* arg = bind_argument(v, packed);
  b = ir_builder_before(v->ctx, v->body->first);
  ir_value_t* matrix = layout_tiles_unpack(&b, arg, tiles.weights->type);
  ir_op_set_operand(v->op, 1, graph_reshape(&b, matrix, w->rank, dims, NULL));
  ir_op_set_attr(v->ctx, v->op, "w_layout", ir_attr_cstring(v->ctx, letters));
  return true;
}

// Winograd's: 3x3 kernels, brought into a form of it.
static bool transform_weights(convs_t* v) {
  ir_value_t* weights = ir_operand(v->op, 1);
  const ir_attr_t* constant = weights->def ? NULL : graph_constant_value(ir_operand(v->dispatch, weights->index));
  const winograd_form_t* form = constant ? layout_winograd_choose(v->device, v->op, NULL) : NULL;
  static const char letters[] = "oi01";
  int64_t perm[4], outputs = v->op->results[0].type->dims[graph_layout_axis(v->c.y_layout, 'c')];
  if (!form) return false;
  for (int i = 0; i < 4; ++i) perm[i] = graph_layout_axis(v->c.w_layout, letters[i]);
  if (!is_identity(perm, 4)) constant = constant_transpose(v->ctx, constant, perm);
  constant = constant_winograd(v->ctx, constant, form, layout_winograd_panel(v->device, outputs));
  ir_builder_t b = ir_builder_before(v->ctx, v->dispatch);
  ir_value_t* packed = graph_constant(&b, constant);
  ir_op_set_operand(v->op, 1, NULL);
  ir_value_t* arg = bind_argument(v, packed);
  b = ir_builder_before(v->ctx, v->body->first);
  ir_op_set_operand(v->op, 1, layout_winograd_unpack(&b, arg, outputs));
  ir_op_set_attr(v->ctx, v->op, "w_layout", ir_attr_cstring(v->ctx, "01io"));
  return true;
}

static bool pack_weights(convs_t* v) {
  ir_value_t* weights = ir_operand(v->op, 1);
  int32_t rank = weights->type->rank;
  packing_t p;
  if (!is_static(weights) || !plan_packing(v, weights->type, &p)) return false;
  ir_value_t* packed = packed_weights(v, weights, &p);
  ir_op_set_operand(v->op, 1, NULL);
  ir_value_t* arg = bind_argument(v, packed);
  ir_builder_t b = ir_builder_before(v->ctx, v->body->first);
  if (p.words) {
    const ir_type_t* blocks = layout_packed_type(v->ctx, p.grouped, 1, p.block);
    arg = ir_result(layout_tile_op(&b, GRAPH_UNPACK, arg, blocks, 2, CONV_WORD), 0);
  }
  ir_op_t* unpack = layout_tile_op(&b, GRAPH_UNPACK, arg, p.grouped, 1, p.block);
  ir_op_set_operand(v->op, 1, graph_reshape(&b, ir_result(unpack, 0), rank, p.plain, NULL));
  char* letters = arena_copy(ir_context_arena(v->ctx), "oi0123456789", (size_t)rank + 1);
  letters[rank] = 0;
  ir_op_set_attr(v->ctx, v->op, "w_layout", ir_attr_cstring(v->ctx, letters));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The input
//===----------------------------------------------------------------------------------------------------------------===

// Whether reading an element costs no more than an address, so that it may be read for each product.
static bool is_read_only(const ir_value_t* value) {
  if (!value->def) return true;
  switch (ir_code(value->def)) {
    case GRAPH_RESHAPE:
    case GRAPH_TRANSPOSE:
    case GRAPH_SLICE:
    case GRAPH_BROADCAST:
    case GRAPH_UNPACK:
      return is_read_only(ir_operand(value->def, 0));
    default:
      return false;
  }
}

// Columns whose padding is better in memory: kernels are built with each tile at the edges apart, all taps unrolled.
static bool needs_padding(const convs_t* v, uint32_t last) {
  enum { MANY_TAPS = 12, WIDE = 16 };
  const graph_conv_t* c = &v->c;
  int64_t taps = ir_operand(v->op, 1)->type->dims[graph_layout_axis(c->w_layout, (char)('0' + last))];
  if (c->x_dilation[last] != 1 || (c->pad_low[last] <= 0 && c->pad_high[last] <= 0)) return false;
  return taps > MANY_TAPS || c->pad_low[last] > WIDE || c->pad_high[last] > WIDE;
}

static void pad_columns(convs_t* v, helper_t* h, uint32_t last) {
  int64_t low[GRAPH_MAX_RANK] = {0}, high[GRAPH_MAX_RANK] = {0}, none[GRAPH_MAX_RANK] = {0};
  int64_t axis = graph_layout_axis(v->c.x_layout, (char)('0' + last));
  low[axis] = v->c.pad_low[last], high[axis] = v->c.pad_high[last];
  v->c.pad_low[last] = v->c.pad_high[last] = 0;
  const ir_type_t* element = h->inner->type->element;
  const ir_type_t* number = ir_type_tensor(v->ctx, element, 0, NULL);
  ir_value_t* zero =
      element->kind == IR_TYPE_FLOAT ? graph_splat_number(&h->b, number, 0) : graph_splat_integer(&h->b, number, 0);
  h->inner = graph_pad(&h->b, h->inner, zero, low, high, none, "constant");
  ir_op_set_attr(v->ctx, v->op, "pad_low", ir_attr_i64_array(v->ctx, v->c.pad_low, last + 1));
  ir_op_set_attr(v->ctx, v->op, "pad_high", ir_attr_i64_array(v->ctx, v->c.pad_high, last + 1));
}

// The convolution's input from a dispatch before it, in place of `x`, which has those sizes.
static ir_value_t* bind_input(convs_t* v, ir_value_t* outer, ir_value_t* x, const ir_attr_t* extents) {
  bool is_argument = !x->def;
  ir_op_set_operand(v->op, 0, NULL);
  if (!extents) return bind_argument(v, outer);
  drop_unused(v->body);
  if (!is_argument || x->uses) return append_argument(v, outer, extents);
  replace_argument(v, x, outer);
  return x;
}

static bool wants_input(const convs_t* v, const ir_value_t* x) {
  int64_t channel = graph_layout_axis(v->c.x_layout, 'c');
  bool blocked = x->def && ir_is(x->def, GRAPH_UNPACK) && !ir_operand(x->def, 0)->def;
  if (wants_words(v) && !in_words(v)) return true;
  if (!is_read_only(x)) return true;
  return !v->slides && is_depthwise(v, ir_operand(v->op, 1)->type) && channel != x->type->rank - 1 && !blocked;
}

static void prepare_input(convs_t* v) {
  ir_value_t* x = ir_operand(v->op, 0);
  uint32_t last = (uint32_t)x->type->rank - 3;
  int64_t channel = graph_layout_axis(v->c.x_layout, 'c'), block = 0, sizes[MOST_SIZES + 1];
  uint32_t size_count = ir_attr_ints(graph_attr(v->dispatch, GRAPH_ATTR_sizes), sizes, MOST_SIZES + 1);
  if (ir_type_count(x->type) == 0 || x->type->dims[channel] == IR_DYNAMIC) return;
  if (!is_static(x) && (size_count > MOST_SIZES || !is_movable(v, x))) return;
  bool pads = !v->slides && is_static(x) && needs_padding(v, last);
  if (!pads && !wants_input(v, x)) return;
  const ir_attr_t* extents = ir_type_open_dims(x->type) ? extents_of(v, x) : NULL;
  helper_t h;
  helper_begin(v, &h, "input", x);
  if (pads) pad_columns(v, &h, last);
  const ir_type_t* plain = h.inner->type;
  if (channel == 1 && !v->slides) block = layout_channel_block(v->device, plain->element, plain->dims[channel]);
  if (block) {
    const ir_type_t* packed = layout_packed_type(v->ctx, plain, channel, block);
    h.inner = ir_result(layout_tile_op(&h.b, GRAPH_PACK, h.inner, packed, channel, block), 0);
  }
  ir_value_t* arg = bind_input(v, helper_end(v, &h), x, extents);
  ir_builder_t b = ir_builder_before(v->ctx, v->body->first);
  if (block) {
    ir_op_t* unpack = layout_tile_op(&b, GRAPH_UNPACK, arg, plain, channel, block);
    if (extents) ir_op_set_attr(v->ctx, unpack, "extents", extents);
    arg = ir_result(unpack, 0);
  }
  ir_op_set_operand(v->op, 0, arg);
}

void layout_conv_assign(ir_context_t* ctx, const device_info_t* device, ir_op_t* dispatch, ir_op_t* op, bool blocks) {
  convs_t v = {.ctx = ctx, .device = device, .dispatch = dispatch, .body = dispatch->regions[0].first, .op = op};
  v.c = graph_conv_read(op);
  v.slides = !blocks && slide_takes(device, op, NULL);
  prepare_input(&v);
  if (v.slides) return;
  v.c = graph_conv_read(op);
  if (!tile_weights(&v) && !transform_weights(&v)) pack_weights(&v);
}
