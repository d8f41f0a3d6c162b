// See layout.h.
//
//   %1 = dispatch(%x, %w) ({ %y = conv %x, %w; yield %y })        tensor<1x64x56x56xf32>
//     =>
//   %1 = dispatch(%x', %w') ({ %x = unpack %x'; %w = unpack %w'; %y = conv %x, %w; %p = pack %y; yield %p })
//                                                                 tensor<1x4x56x56x16xf32>
#include "kernels/layout.h"

#include <string.h>

#include "kernels/layout_conv.h"
#include "kernels/layout_tiles.h"
#include "passes/constant_move.h"
#include "passes/fusion.h"

typedef struct layouts_t {
  ir_context_t* ctx;
  const device_info_t* device;
} layouts_t;

//===----------------------------------------------------------------------------------------------------------------===
// Sizes
//===----------------------------------------------------------------------------------------------------------------===

int64_t layout_vector_lanes(const device_info_t* device, const ir_type_t* element) {
  uint32_t bytes = ir_type_bytes(element);
  return device->vector_bytes / (bytes < 4 ? 4 : bytes);
}

int64_t layout_panel(const device_info_t* device, const ir_type_t* element, int64_t columns) {
  int64_t lanes = layout_vector_lanes(device, element);
  if (columns <= lanes) return lanes;
  return 2 * lanes;
}

int64_t layout_channel_block(const device_info_t* device, const ir_type_t* element, int64_t channels) {
  int64_t lanes = layout_vector_lanes(device, element);
  if (channels < 3) return 0;
  while (lanes > 4 && channels <= lanes / 2) lanes /= 2;
  return lanes;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rewriting one side of a boundary
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* layout_packed_type(ir_context_t* ctx, const ir_type_t* type, int64_t axis, int64_t tile) {
  int64_t dims[GRAPH_MAX_RANK + 1];
  memcpy(dims, type->dims, sizeof(int64_t) * (size_t)type->rank);
  dims[axis] = (dims[axis] + tile - 1) / tile;
  dims[type->rank] = tile;
  return ir_type_tensor(ctx, type->element, type->rank + 1, dims);
}

ir_op_t* layout_tile_op(ir_builder_t* b, uint32_t code, ir_value_t* x, const ir_type_t* type, int64_t axis,
                        int64_t tile) {
  ir_named_attr_t attrs[] = {{"tiles", ir_attr_i64_array(b->ctx, &tile, 1)},
                             {"axes", ir_attr_i64_array(b->ctx, &axis, 1)}};
  return graph_build(b, code, &x, 1, type, attrs, 2)->def;
}

// Numbers of an argument's run-time sizes, for an op that has the same: form_dispatches.c.
static void set_extents(layouts_t* l, ir_op_t* op, const ir_value_t* arg) {
  const ir_op_t* dispatch = arg->block->parent->parent;
  int64_t numbers[64 + GRAPH_MAX_RANK];
  uint32_t first = 0, count = 0, all = ir_attr_ints(graph_attr(dispatch, GRAPH_ATTR_sizes), numbers, 64);
  for (uint32_t i = 0; i <= arg->index; ++i) {
    const ir_type_t* type = ir_operand(dispatch, i)->type;
    first += count;
    count = ir_type_open_dims(type);
  }
  if (count && first + count <= all) {
    ir_op_set_attr(l->ctx, op, "extents", ir_attr_i64_array(l->ctx, numbers + first, count));
  }
}

// The region's argument becomes packed and is unpacked at once.
static void unpack_argument(layouts_t* l, ir_block_t* body, ir_value_t* arg, int64_t axis, int64_t tile) {
  ir_builder_t b = ir_builder_before(l->ctx, body->first);
  const ir_type_t* plain = arg->type;
  arg->type = layout_packed_type(l->ctx, plain, axis, tile);
  ir_op_t* unpack = layout_tile_op(&b, GRAPH_UNPACK, arg, plain, axis, tile);
  set_extents(l, unpack, arg);
  ir_value_replace_except(arg, ir_result(unpack, 0), unpack);
}

static uint32_t operand_number(const ir_use_t* use) { return (uint32_t)(use - use->owner->operands); }

//===----------------------------------------------------------------------------------------------------------------===
// Weights
//===----------------------------------------------------------------------------------------------------------------===

// The dispatch argument behind `value` and the constant bound to it, when nothing else in the region reads it.
static ir_value_t* constant_argument(ir_op_t* dispatch, ir_value_t* value, const ir_attr_t** constant) {
  if (value->def || !ir_has_one_use(value)) return NULL;
  ir_value_t* outer = ir_operand(dispatch, value->index);
  if (!outer->def || !ir_is(outer->def, GRAPH_CONSTANT)) return NULL;
  *constant = graph_get_value(outer->def);
  return value;
}

static void bind_constant(layouts_t* l, ir_op_t* dispatch, uint32_t operand, const ir_attr_t* value) {
  ir_builder_t b = ir_builder_before(l->ctx, dispatch);
  ir_value_t* old = ir_operand(dispatch, operand);
  ir_op_set_operand(dispatch, operand, graph_constant(&b, value));
  if (!old->uses) ir_op_erase(old->def);
}

// For tile registers.
static void tile_contract(layouts_t* l, ir_op_t* dispatch, ir_op_t* op, const layout_tiles_t* tiles) {
  ir_value_t* arg = ir_operand(op, 1);
  const ir_type_t* plain = arg->type;
  bind_constant(l, dispatch, arg->index, layout_tiles_pack(l->ctx, tiles));
  arg->type = ir_operand(dispatch, arg->index)->type;
  ir_builder_t b = {.ctx = l->ctx, .block = op->parent, .before = op, .loc = op->loc};
  ir_op_set_operand(op, 1, layout_tiles_unpack(&b, arg, plain));
}

// [K, N] -> panels [N / p, K, p], so that a kernel reads its columns of every k in one line.
static void pack_contract(layouts_t* l, ir_op_t* dispatch, ir_op_t* op) {
  const ir_attr_t* constant;
  ir_value_t* arg = constant_argument(dispatch, ir_operand(op, 1), &constant);
  if (!arg || arg->type->rank != 2 || arg->type->element != ir_operand(op, 0)->type->element) return;
  int64_t reduced;
  graph_attr_one(op, GRAPH_ATTR_rhs_contract, &reduced);
  if (reduced != 0) return;
  const ir_type_t* lhs = ir_operand(op, 0)->type;
  layout_tiles_t tiles = {op, constant, lhs->dims[0]};
  if (lhs->rank == 2 && layout_tiles_wants(l->device, &tiles)) {
    tile_contract(l, dispatch, op, &tiles);
    return;
  }
  int64_t panel = layout_panel(l->device, arg->type->element, arg->type->dims[1]);
  static const int64_t swap[] = {1, 0, 2};
  const ir_type_t* plain = arg->type;
  const ir_attr_t* packed = constant_transpose(l->ctx, constant_pack(l->ctx, constant, 1, panel), swap);
  bind_constant(l, dispatch, arg->index, packed);
  ir_builder_t b = {.ctx = l->ctx, .block = op->parent, .before = op, .loc = op->loc};
  arg->type = packed->type;
  ir_value_t* rows = graph_transpose(&b, arg, swap);
  ir_op_t* unpack = layout_tile_op(&b, GRAPH_UNPACK, rows, plain, 1, panel);
  ir_op_set_operand(op, 1, ir_result(unpack, 0));
}

// Matrix instructions hold several narrow elements along the depth in each lane.
static bool depth_is_held(const layouts_t* l, const ir_type_t* element) {
  const char* name = ir_type_str(l->ctx, element);
  for (int32_t i = 0; i < l->device->mma_count; ++i) {
    const device_mma_t* row = &l->device->mma[i];
    if (row->a_lanes > 1 && ir_type_bytes(element) < 4 && strcmp(row->a_type, name) == 0) return true;
  }
  return false;
}

// GPUs: [K, N] -> [N, K] where lanes hold elements along K.
static void turn_contract(layouts_t* l, ir_op_t* dispatch, ir_op_t* op) {
  enum { FEW_ROWS = 8 };
  static const int64_t swap[] = {1, 0};
  const ir_attr_t* constant;
  ir_value_t* arg = constant_argument(dispatch, ir_operand(op, 1), &constant);
  const ir_type_t* lhs = ir_operand(op, 0)->type;
  if (!arg || arg->type->rank != 2 || lhs->rank != 2 || !depth_is_held(l, arg->type->element)) return;
  if (lhs->dims[0] != IR_DYNAMIC && lhs->dims[0] < FEW_ROWS) return;
  int64_t reduced;
  if (graph_attr_one(op, GRAPH_ATTR_rhs_contract, &reduced) != 1 || reduced != 0) return;
  const ir_attr_t* turned = constant_transpose(l->ctx, constant, swap);
  bind_constant(l, dispatch, arg->index, turned);
  ir_builder_t b = ir_builder_before(l->ctx, op);
  arg->type = turned->type;
  ir_op_set_operand(op, 1, graph_transpose(&b, arg, swap));
}

// GPUs: output channels innermost, [h, w, i, o], so that a tile's rows are one load; or input channels.
static void turn_conv(layouts_t* l, ir_op_t* dispatch, ir_op_t* op) {
  graph_conv_t c = graph_conv_read(op);
  const ir_attr_t* constant;
  ir_value_t* arg = constant_argument(dispatch, ir_operand(op, 1), &constant);
  if (!arg) return;
  const ir_type_t* w = arg->type;
  int64_t perm[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK], n = w->rank - 2;
  int64_t out = graph_layout_axis(c.w_layout, 'o'), in = graph_layout_axis(c.w_layout, 'i');
  if (w->dims[out] <= c.groups) return;
  for (int64_t i = 0; i < n; ++i) perm[i] = graph_layout_axis(c.w_layout, (char)('0' + i));
  bool deep = depth_is_held(l, w->element) && w->dims[in] > 1;
  perm[n] = deep ? out : in;
  perm[n + 1] = deep ? in : out;
  for (int32_t i = 0; i < w->rank; ++i) back[perm[i]] = i;
  const ir_attr_t* turned = constant_transpose(l->ctx, constant, perm);
  bind_constant(l, dispatch, arg->index, turned);
  ir_builder_t b = ir_builder_before(l->ctx, op);
  arg->type = turned->type;
  ir_op_set_operand(op, 1, graph_transpose(&b, arg, back));
}

//===----------------------------------------------------------------------------------------------------------------===
// Activations
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* find_root(const ir_op_t* dispatch, uint32_t code) {
  IR_FOR_OPS(op, dispatch->regions[0].first) {
    if (ir_is(op, code)) return op;
  }
  return NULL;
}

// A heavy root whose strategy stores its results as they are.
static bool stores_plainly(const ir_op_t* dispatch) {
  IR_FOR_OPS(op, dispatch->regions[0].first) {
    if (fusion_class(op) == FUSION_HEAVY && !fusion_takes_epilogue(op)) return true;
  }
  return false;
}

static bool reads_packed(const ir_op_t* dispatch) {
  IR_FOR_OPS(op, dispatch->regions[0].first) {
    int64_t axis = -1;
    bool unpacks = ir_is(op, GRAPH_UNPACK) && !ir_operand(op, 0)->def && graph_attr_one(op, GRAPH_ATTR_axes, &axis);
    if (unpacks && axis == 1 && op->results[0].type->rank >= 3) return true;
  }
  return false;
}

// Channels-first images that only dispatches read.
static int64_t block_of_result(const layouts_t* l, ir_op_t* dispatch, uint32_t result) {
  ir_value_t *value = ir_result(dispatch, result), *inner = ir_operand(dispatch->regions[0].first->last, result);
  const ir_type_t* type = value->type;
  bool is_number = ir_type_is_float(type->element) || (ir_type_is_int(type->element) && type->element->width >= 8);
  if (type->rank < 3 || type->rank > 2 + GRAPH_MAX_SPATIAL || !inner->def || !is_number) return 0;
  if (type->dims[1] == IR_DYNAMIC) return 0;
  ir_op_t* conv = find_root(dispatch, GRAPH_CONV);
  if (conv && strncmp(graph_get_y_layout(conv), "nc", 2) != 0) return 0;
  const ir_type_t* domain = conv ? conv->results[0].type : type;
  if (domain->rank != type->rank || memcmp(domain->dims, type->dims, sizeof(int64_t) * (size_t)type->rank)) return 0;
  if (stores_plainly(dispatch) || (!conv && !reads_packed(dispatch))) return 0;
  if (!conv && (find_root(dispatch, GRAPH_CONTRACT) || find_root(dispatch, GRAPH_REDUCE))) return 0;
  IR_FOR_USES(use, value) {
    if (!ir_is(use->owner, GRAPH_DISPATCH)) return 0;
  }
  return layout_channel_block(l->device, type->element, type->dims[1]);
}

static void pack_result(layouts_t* l, ir_op_t* dispatch, uint32_t result, int64_t block) {
  ir_block_t* body = dispatch->regions[0].first;
  ir_value_t* value = ir_result(dispatch, result);
  const ir_type_t* packed = layout_packed_type(l->ctx, value->type, 1, block);
  ir_builder_t b = ir_builder_before(l->ctx, body->last);
  const ir_op_t* inner = ir_operand(body->last, result)->def;
  ir_op_t* pack = layout_tile_op(&b, GRAPH_PACK, ir_operand(body->last, result), packed, 1, block);
  const ir_attr_t* extents = graph_get_extents(inner);
  if (extents) ir_op_set_attr(l->ctx, pack, "extents", extents);
  ir_op_set_operand(body->last, result, ir_result(pack, 0));
  value->type = packed;
  IR_FOR_USES(use, value) {
    ir_block_t* reader = use->owner->regions[0].first;
    unpack_argument(l, reader, reader->args[operand_number(use)], 1, block);
  }
}

static void assign_block(layouts_t* l, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) assign_block(l, inner);
    }
    if (!ir_is(op, GRAPH_DISPATCH)) continue;
    ir_op_t *contract = find_root(op, GRAPH_CONTRACT), *conv = find_root(op, GRAPH_CONV);
    if (l->device->kind == DEVICE_GPU) {
      if (contract) turn_contract(l, op, contract);
      if (conv) turn_conv(l, op, conv);
      continue;
    }
    if (contract) pack_contract(l, op, contract);
    bool blocks = false;
    for (uint32_t i = 0; i < op->result_count; ++i) blocks |= block_of_result(l, op, i) > 0;
    if (conv) layout_conv_assign(l->ctx, l->device, op, conv, blocks);
    for (uint32_t i = 0; i < op->result_count; ++i) {
      int64_t tile = block_of_result(l, op, i);
      if (tile) pack_result(l, op, i, tile);
    }
  }
}

bool layout_assign(ir_context_t* ctx, ir_op_t* module, const device_info_t* device) {
  layouts_t l = {ctx, device};
  IR_FOR_OPS(func, ir_module_body(module)) {
    for (uint32_t r = 0; r < func->region_count; ++r) {
      IR_FOR_BLOCKS(block, &func->regions[r]) assign_block(&l, block);
    }
  }
  return true;
}
