// See conv_plan.h.
#include "kernels/conv_plan.h"

#include <assert.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

// Tile of what is unpacked along `axis`.
static int64_t tile_of(const ir_value_t* value, int64_t wanted_axis) {
  int64_t tile = 0, axis = -1;
  if (!value->def || !ir_is(value->def, GRAPH_UNPACK)) return 0;
  if (graph_attr_one(value->def, GRAPH_ATTR_tiles, &tile) != 1) return 0;
  graph_attr_one(value->def, GRAPH_ATTR_axes, &axis);
  return axis == wanted_axis ? tile : 0;
}

// The same of an argument.
static int64_t tile_behind(const ir_value_t* value, int64_t wanted_axis) {
  return value->def && ir_operand(value->def, 0)->def ? 0 : tile_of(value, wanted_axis);
}

// Whether the input can be read a word of bytes at a time.
static bool reads_words(const conv_plan_t* p) {
  const ir_value_t* x = ir_operand(p->op, 0);
  const ir_type_t *w = ir_operand(p->op, 1)->type, *y = p->op->results[0].type;
  bool is_bytes = ir_type_is_int(x->type->element) && x->type->element->width == 8 && ir_type_is_int(w->element) &&
                  w->element->width == 8 && ir_type_is_int(y->element) && y->element->width == 32;
  if (!is_bytes || !p->c.unsigned_lhs || (p->groups > 1 && p->group_in % CONV_WORD)) return false;
  if (p->x_block) return p->x_block % CONV_WORD == 0;
  return !x->def && p->x_channel == x->type->rank - 1 && x->type->dims[p->x_channel] % CONV_WORD == 0;
}

// The packed weights behind reshape(unpack(argument)) or, in words, reshape(unpack(unpack(argument))), as
// layout_conv.c makes them.
static bool read_weights(conv_plan_t* p) {
  const ir_op_t* reshape = ir_operand(p->op, 1)->def;
  if (!reshape || !ir_is(reshape, GRAPH_RESHAPE)) return false;
  const ir_value_t *whole = ir_operand(reshape, 0), *words = whole->def ? ir_operand(whole->def, 0) : NULL;
  p->word = 1;
  p->weights = (ir_value_t*)words;
  if (words && tile_behind(words, 2) == CONV_WORD) {
    p->word = CONV_WORD;
    p->weights = ir_operand(words->def, 0);
  }
  p->block = words && (p->word > 1 || !words->def) ? tile_of(whole, 1) : 0;
  if (!p->block || strncmp(p->c.w_layout, "oi", 2)) return false;
  p->groups = whole->type->dims[0];
  p->group_out = whole->type->dims[1];
  p->group_in = whole->type->dims[2];
  p->blocks = p->weights->type->dims[1];
  return true;
}

// Whether an op is between the weights' argument and the convolution.
static bool brings_weights(const conv_plan_t* p, const ir_op_t* op) {
  const ir_op_t* at = ir_operand(p->op, 1)->def;
  while (at && at != op) at = ir_operand(at, 0)->def;
  return at != NULL;
}

static void read_sweeps(conv_plan_t* p) {
  const graph_conv_t* c = &p->c;
  const ir_type_t *x = ir_operand(p->op, 0)->type, *w = ir_operand(p->op, 1)->type, *y = p->op->results[0].type;
  for (uint32_t i = 0; i <= p->outer; ++i) {
    conv_sweep_t* s = &p->sweeps[i];
    char digit = (char)('0' + i);
    s->x_axis = graph_layout_axis(c->x_layout, digit), s->y_axis = graph_layout_axis(c->y_layout, digit);
    s->kernel = w->dims[graph_layout_axis(c->w_layout, digit)];
    s->stride = c->strides[i], s->pad_low = c->pad_low[i];
    s->w_dilation = c->w_dilation[i], s->x_dilation = c->x_dilation[i];
    s->over = c->pad_high[i] > 0 ? c->pad_high[i] / s->x_dilation : 0;
    s->in = x->dims[s->x_axis], s->out = y->dims[s->y_axis];
  }
}

bool conv_plan_read(conv_plan_t* p, const dispatch_t* d) {
  memset(p, 0, sizeof(*p));
  ir_op_t* op = d->root;
  if (!op || !ir_is(op, GRAPH_CONV)) return false;
  p->c = graph_conv_read(op);
  const ir_type_t *x = ir_operand(op, 0)->type, *w = ir_operand(op, 1)->type, *y = op->results[0].type;
  if (x->rank < 3 || ir_type_count(y) == 0 || !ir_type_is_static(w) || ir_type_count(w) == 0) return false;
  bool is_integer = ir_type_is_int(y->element) && y->element->width >= 8;
  if ((y->element->kind != IR_TYPE_FLOAT && !is_integer) || p->c.batch_groups != 1) return false;
  p->op = op;
  p->outer = (uint32_t)x->rank - 3;
  p->x_batch = graph_layout_axis(p->c.x_layout, 'n'), p->x_channel = graph_layout_axis(p->c.x_layout, 'c');
  p->y_batch = graph_layout_axis(p->c.y_layout, 'n'), p->y_channel = graph_layout_axis(p->c.y_layout, 'c');
  if (x->dims[p->x_channel] == IR_DYNAMIC || !read_weights(p)) return false;
  p->images = y->dims[p->y_batch];
  p->depthwise = p->groups != p->c.groups;
  p->x_block = tile_behind(ir_operand(op, 0), p->x_channel);
  read_sweeps(p);
  if (p->word > 1 && (p->depthwise || !reads_words(p))) return false;
  return !p->depthwise || p->x_block || p->x_channel == x->rank - 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Phases: columns of a dilated input
//===----------------------------------------------------------------------------------------------------------------===

int64_t conv_gcd(int64_t a, int64_t b) { return b ? conv_gcd(b, a % b) : a; }

int64_t conv_period(const conv_sweep_t* s) { return s->x_dilation / conv_gcd(s->stride, s->x_dilation); }

conv_phase_t conv_phase(const conv_sweep_t* s, int64_t first) {
  int64_t common = conv_gcd(s->w_dilation, s->x_dilation);
  conv_phase_t phase = {.first = first, .period = conv_period(s)};
  phase.stride = phase.period * s->stride / s->x_dilation;
  phase.tap_step = s->x_dilation / common, phase.offset_step = s->w_dilation / common;
  for (int64_t tap = 0; tap < s->kernel && tap < phase.tap_step; ++tap) {
    int64_t position = first * s->stride + tap * s->w_dilation - s->pad_low;
    if (position % s->x_dilation) continue;
    phase.tap = tap;
    phase.offset = position / s->x_dilation;
    phase.count = ceil_div(s->kernel - tap, phase.tap_step);
    break;
  }
  return phase;
}

//===----------------------------------------------------------------------------------------------------------------===
// One long row instead of an image
//===----------------------------------------------------------------------------------------------------------------===

// A value with the output's image, blocked or not.
static bool has_image(const conv_plan_t* p, const ir_value_t* value) {
  const ir_type_t* y = p->op->results[0].type;
  if (value->type->rank < y->rank || value->type->rank > y->rank + 1) return false;
  for (uint32_t i = 0; i <= p->outer; ++i) {
    extent_t size = eval_extent(value, p->sweeps[i].y_axis);
    if (!extent_equal(&size, &p->sweeps[i].out_size)) return false;
  }
  return true;
}

static bool is_image_axis(const conv_plan_t* p, int64_t axis) {
  for (uint32_t i = 0; i <= p->outer; ++i) {
    if (axis == p->sweeps[i].y_axis) return true;
  }
  return false;
}

static bool keeps_row(const conv_plan_t* p, const ir_op_t* op) {
  const ir_type_t* type = op->results[0].type;
  int64_t axis, dims[GRAPH_MAX_RANK];
  if (graph_scalar_fn(op) >= 0) return has_image(p, &op->results[0]) || type->rank < 3;
  switch (ir_code(op)) {
    case GRAPH_PACK:
    case GRAPH_UNPACK:
      return graph_attr_one(op, GRAPH_ATTR_axes, &axis) == 1 && !is_image_axis(p, axis);
    case GRAPH_BROADCAST: {
      uint32_t count = graph_get_dims(op, dims);
      for (uint32_t i = 0; i < count; ++i) {
        if (is_image_axis(p, dims[i]) && ir_operand(op, 0)->type->dims[i] != 1) return false;
      }
      return true;
    }
    case GRAPH_RESHAPE:
      return ir_type_is_static(type) && ir_type_count(type) <= p->groups * p->group_out;
    default:
      return ir_is(op, GRAPH_CONSTANT);
  }
}

// Rows and columns matter to no op of the region: 1x1 without stride or padding, and nothing varies along only one.
static bool image_is_row(const conv_plan_t* p) {
  if (!p->outer) return false;
  int64_t rows = 1;
  for (uint32_t i = 0; i <= p->outer; ++i) {
    const conv_sweep_t* s = &p->sweeps[i];
    if (s->kernel != 1 || s->stride != 1 || s->x_dilation != 1 || s->pad_low) return false;
    if (!extent_equal(&s->in_size, &s->out_size)) return false;
    if ((i && s->y_axis != s[-1].y_axis + 1) || (i && s->x_axis != s[-1].x_axis + 1)) return false;
    if (i < p->outer && s->out != 1) rows = s->out;
  }
  if (rows == 1 || p->sweeps[p->outer].out == 1) return false;
  IR_FOR_OPS(op, p->d->body) {
    if (op == p->d->yield || op == p->op || brings_weights(p, op)) continue;
    if (!keeps_row(p, op)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tiles
//===----------------------------------------------------------------------------------------------------------------===

static void plan_tile(conv_plan_t* p) {
  const device_info_t* device = p->d->device;
  const conv_sweep_t* s = conv_columns(p);
  bool any_width = s->in == IR_DYNAMIC || s->out == IR_DYNAMIC;
  p->accumulator = eval_accumulator(p->d->ctx, p->op->results[0].type->element);
  p->lanes = device->vector_bytes / ir_type_bytes(p->accumulator);
  while (p->block % p->lanes) p->lanes /= 2;
  p->vectors = p->block / p->lanes;
  while (p->vectors > CONV_MAX_VECTORS) p->lanes *= 2, p->vectors /= 2;
  int64_t registers = device->vector_registers - p->vectors - (p->depthwise ? 0 : 1);
  if (any_width) registers -= device->vector_registers / 8;  // what tests of taps need beside
  int64_t most = registers / p->vectors;
  if (p->depthwise && most > 8) most = 8;
  if (most > 28) most = 28;
  if (most < 1) most = 1;
  if (most * p->vectors > CONV_MAX_ACCUMULATORS) most = CONV_MAX_ACCUMULATORS / p->vectors;
  int64_t columns = ceil_div(s->out == IR_DYNAMIC ? 1 : s->out, conv_period(s));
  p->pixels = s->out == IR_DYNAMIC ? most : ceil_div(columns, ceil_div(columns, most));
}

// Rows that stand one behind the other are columns.
static void merge_sweeps(conv_plan_t* p) {
  conv_sweep_t* s = conv_columns(p);
  for (uint32_t i = 0; i < p->outer; ++i) {
    s->out_size = extent_product(s->out_size, p->sweeps[i].out_size);
    p->sweeps[i].in = p->sweeps[i].out = 1;
    p->sweeps[i].in_size = p->sweeps[i].out_size = extent_fixed(1);
  }
  s->in_size = s->out_size;
  s->in = s->out = extent_is_fixed(&s->out_size) ? s->out_size.factor : IR_DYNAMIC;
}

void conv_plan_finish(conv_plan_t* p) {
  const ir_value_t *in = ir_operand(p->op, 0), *out = ir_result(p->op, 0);
  for (uint32_t i = 0; i <= p->outer; ++i) {
    p->sweeps[i].in_size = eval_extent(in, p->sweeps[i].x_axis);
    p->sweeps[i].out_size = eval_extent(out, p->sweeps[i].y_axis);
  }
  p->merged = image_is_row(p);
  p->blocks_inside = p->depthwise && !p->x_block;  // channels are together, and each row is read as a whole
  if (p->merged) merge_sweeps(p);
  plan_tile(p);
  IR_FOR_OPS(op, p->d->body) {
    int64_t tile = 0, axis;
    bool blocks = ir_is(op, GRAPH_PACK) || (ir_is(op, GRAPH_UNPACK) && !brings_weights(p, op));
    if (!blocks || graph_attr_one(op, GRAPH_ATTR_tiles, &tile) != 1 || graph_attr_one(op, GRAPH_ATTR_axes, &axis) != 1)
      continue;
    if (axis == p->y_channel && tile > p->y_block) p->y_block = tile;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Vectors of output channels
//===----------------------------------------------------------------------------------------------------------------===

// A vector that does not start where a block of memory does reaches into the next: each block has its part. The
// coordinates of a part are in one block for the lanes that its mask leaves.
static void split_part(conv_plan_t* p, int64_t vector, int64_t valid) {
  kernel_build_t* k = &p->d->k;
  conv_part_t* parts = p->parts[vector];
  linear_t base = parts[0].channel, block, within;
  base.lane = 0;
  linear_divide(k, base, p->y_block, &block, &within);
  ir_value_t* start = linear_scalar(k, &within);
  ir_value_t* room = kernel_binary(&k->b, SCALAR_sub, kernel_index(&k->b, p->y_block), start);
  ir_value_t* low = lanes_below(k, p->lanes, room);
  ir_value_t* high = kernel_binary(&k->b, SCALAR_eq, low, kernel_integer(&k->b, low->type, 0));
  ir_value_t* inside = parts[0].mask ? parts[0].mask : lane_mask(k, p->lanes, valid < p->lanes ? valid : p->lanes);
  for (int i = 0; i < 2; ++i) {
    ir_value_t* at = i ? kernel_add_const(&k->b, start, -p->y_block)
                       : kernel_binary(&k->b, SCALAR_sub, kernel_index(&k->b, p->y_block), room);
    int64_t constant;
    if (!kernel_constant_index(at, &constant)) index_set_facts(k, at, 0, p->y_block - p->lanes, 1);
    linear_t channel = linear_scale(k, block, p->y_block);
    channel.constant += i * p->y_block;
    channel = linear_add(k, channel, linear_value(at));
    channel.lane = p->lanes > 1;
    parts[i] = (conv_part_t){channel, kernel_binary(&k->b, SCALAR_and, inside, i ? high : low)};
  }
  p->part_count[vector] = 2;
}

// Where the vectors of the block at work go, and which of their lanes exist.
static void find_parts(conv_plan_t* p) {
  kernel_build_t* k = &p->d->k;
  for (int64_t v = 0; v < p->vectors; ++v) {
    conv_part_t* part = &p->parts[v][0];
    int64_t valid = p->group_out - v * p->lanes, most = p->group_out - (p->blocks - 1) * p->block - v * p->lanes;
    *part = (conv_part_t){.channel = p->channel};
    part->channel.constant += v * p->lanes;
    part->channel.lane = p->lanes > 1;
    p->part_count[v] = valid > 0;
    if (valid <= 0) continue;
    if (most < p->lanes && p->lanes > 1) {
      linear_t left = linear_scale(k, p->block_index, -p->block);
      left.constant += valid;
      part->mask = p->blocks == 1 ? lane_mask(k, p->lanes, valid) : lanes_below(k, p->lanes, linear_scalar(k, &left));
    }
    bool aligned = p->groups == 1 || p->group_out % p->lanes == 0 || !p->y_block || p->lanes == 1;
    if (!aligned) split_part(p, v, valid);
  }
}

void conv_enter_block(conv_plan_t* p, ir_value_t* number) {
  kernel_build_t* k = &p->d->k;
  linear_divide(k, linear_value(number), p->blocks, &p->group, &p->block_index);
  if (p->groups == 1) p->group = linear_constant(0), p->block_index = linear_value(number);
  p->channel = linear_add(k, linear_scale(k, p->group, p->group_out), linear_scale(k, p->block_index, p->block));
  find_parts(p);
}
