// Two-dimensional convolution on CPUs without im2col: register tiles of pixels x output-channel vectors.
//
//   workgroup (output-channel blocks, rows or tiles, images):
//     for output row, tile of pixels:
//       for input-channel block, kernel row (those inside the image), input channel in the block:
//         kernel columns unrolled: acc[pixel][v] += x[pixel * stride + column] * w[v]
// Weights are packed by blocks of output channels (layout.c). Where a tile sits at the left or right edge its taps
// outside the image are left out when the kernel is built, so nothing is padded and nothing is tested while it runs. A
// 1x1 convolution without stride is one long row. Depthwise convolution is the same with vectors of x instead of
// numbers. Where an image's width is known at run time only, the columns at its edges are done one by one, with a test
// for each tap.
#include <assert.h>
#include <string.h>

#include "kernels/strategy.h"

enum { MAX_ACCUMULATORS = 32, WANTED_GROUPS = 8 };

typedef struct conv_plan_t {
  dispatch_t* d;
  ir_op_t* op;
  graph_conv_t c;
  bool depthwise;
  int64_t images, in_channels, out_channels, per_group_in;  // channels of one group of the input
  int64_t in_h, in_w, out_h, out_w;                         // IR_DYNAMIC: the extents
  int64_t kernel_h, kernel_w;
  extent_t in_rows, in_columns, out_rows, out_columns;
  int64_t block, lanes, vectors;  // output channels
  int64_t x_block;                // input channels blocked in memory, or 1
  int64_t pixels;                 // of a tile
  const ir_type_t* accumulator;
  linear_t image, row, channel;  // of the output at work; channel is the block's first
  linear_t group;
} conv_plan_t;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t tile_behind(const ir_value_t* value, int64_t wanted_axis) {
  int64_t tile = 0, axis = -1;
  if (!value->def || !ir_is(value->def, GRAPH_UNPACK) || ir_operand(value->def, 0)->def) return 0;
  if (ir_op_ints(value->def, "tiles", &tile, 1) != 1) return 0;
  ir_op_ints(value->def, "axes", &axis, 1);
  return axis == wanted_axis ? tile : 0;
}

static bool plan_read(conv_plan_t* p, const dispatch_t* d) {
  memset(p, 0, sizeof(*p));
  ir_op_t* op = d->root;
  if (!op || !ir_is(op, GRAPH_CONV) || !graph_conv_read(op, &p->c)) return false;
  const ir_type_t *x = ir_operand(op, 0)->type, *w = ir_operand(op, 1)->type, *y = op->results[0].type;
  if (x->rank != 4 || ir_type_count(y) == 0) return false;
  if (x->dims[1] == IR_DYNAMIC || y->dims[1] == IR_DYNAMIC || !ir_type_is_static(w)) return false;
  if (strcmp(p->c.x_layout, "nc01") || strcmp(p->c.w_layout, "oi01") || strcmp(p->c.y_layout, "nc01")) return false;
  if (p->c.batch_groups != 1 || p->c.x_dilation[0] != 1 || p->c.x_dilation[1] != 1) return false;
  bool is_integer = ir_type_is_int(y->element) && y->element->width >= 8;
  if ((y->element->kind != IR_TYPE_FLOAT && !is_integer) || ir_type_count(w) == 0) return false;
  p->op = op;
  p->block = tile_behind(ir_operand(op, 1), 0);
  p->x_block = tile_behind(ir_operand(op, 0), 1);
  p->images = y->dims[0];
  p->out_channels = y->dims[1];
  p->out_h = y->dims[2];
  p->out_w = y->dims[3];
  p->in_channels = x->dims[1];
  p->in_h = x->dims[2];
  p->in_w = x->dims[3];
  p->per_group_in = w->dims[1];
  p->kernel_h = w->dims[2];
  p->kernel_w = w->dims[3];
  p->depthwise = p->c.groups > 1 && p->per_group_in == 1 && p->out_channels == p->c.groups;
  if (!p->block || p->out_channels % p->block) return false;
  if (p->depthwise) return p->x_block && p->x_block % p->block == 0;
  return p->out_channels / p->c.groups % p->block == 0;
}

bool strategy_conv_matches(const dispatch_t* d) {
  conv_plan_t p;
  if (!plan_read(&p, d)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && !eval_supports(op)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// One long row instead of an image
//===----------------------------------------------------------------------------------------------------------------===

static bool has_image(const conv_plan_t* p, const ir_type_t* type) {
  return type->rank >= 4 && type->dims[2] == p->out_h && type->dims[3] == p->out_w;
}

// Rows and columns matter to no op of the region: 1x1 without stride or padding, and nothing varies along only one.
static bool image_is_row(const conv_plan_t* p) {
  const graph_conv_t* c = &p->c;
  if (p->images == IR_DYNAMIC || p->out_h == IR_DYNAMIC || p->out_w == IR_DYNAMIC) return false;
  if (p->kernel_h != 1 || p->kernel_w != 1 || c->strides[0] != 1 || c->strides[1] != 1) return false;
  if (c->pad_low[0] || c->pad_low[1] || c->pad_high[0] || c->pad_high[1] || p->out_h == 1) return false;
  IR_FOR_OPS(op, p->d->body) {
    int64_t axis, dims[GRAPH_MAX_RANK];
    if (op == p->d->yield || op == p->op || ir_is(op, GRAPH_CONSTANT)) continue;
    const ir_type_t* type = op->results[0].type;
    if (graph_scalar_fn(op) >= 0) {
      if (!has_image(p, type) && type->rank >= 3) return false;
    } else if (ir_is(op, GRAPH_PACK) || ir_is(op, GRAPH_UNPACK)) {
      if (ir_op_ints(op, "axes", &axis, 1) != 1 || axis > 1) return false;
    } else if (ir_is(op, GRAPH_BROADCAST)) {
      uint32_t count = ir_op_ints(op, "dims", dims, GRAPH_MAX_RANK);
      for (uint32_t i = 0; i < count; ++i) {
        if (dims[i] >= 2 && ir_operand(op, 0)->type->dims[i] != 1) return false;
      }
    } else if (ir_is(op, GRAPH_RESHAPE)) {
      if (ir_type_count(type) > p->out_channels) return false;
    } else {
      return false;
    }
  }
  return true;
}

static void merge_image(const conv_plan_t* p, ir_value_t* value) {
  if (!has_image(p, value->type)) return;
  int64_t dims[GRAPH_MAX_RANK];
  memcpy(dims, value->type->dims, sizeof(int64_t) * (size_t)value->type->rank);
  dims[3] *= dims[2];
  dims[2] = 1;
  value->type = ir_type_tensor(p->d->ctx, value->type->element, value->type->rank, dims);
}

static void merge_images(conv_plan_t* p) {
  dispatch_t* d = p->d;
  for (uint32_t i = 0; i < d->body->arg_count; ++i) merge_image(p, d->body->args[i]);
  IR_FOR_OPS(op, d->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) merge_image(p, &op->results[i]);
  }
  for (uint32_t i = 0; i < d->op->result_count; ++i) merge_image(p, d->outputs[i]);
  p->in_w = p->out_w = p->out_h * p->out_w;
  p->in_h = p->out_h = 1;
  p->in_columns = p->out_columns = extent_fixed(p->out_w);
  p->in_rows = p->out_rows = extent_fixed(1);
}

//===----------------------------------------------------------------------------------------------------------------===
// A tile
//===----------------------------------------------------------------------------------------------------------------===

typedef struct conv_tile_t {
  linear_t column;  // first output column
  int64_t pixels;
  int64_t fixed;  // the column when it is known (edges), or -1: no tap is outside, but where `tested`
  bool tested;    // taps may be outside
} conv_tile_t;

static bool tap_inside(const conv_plan_t* p, const conv_tile_t* t, int64_t pixel, int64_t tap) {
  if (t->fixed < 0) return true;
  int64_t x = (t->fixed + pixel) * p->c.strides[1] + tap * p->c.w_dilation[1] - p->c.pad_low[1];
  return x >= 0 && x < p->in_w;
}

typedef struct taps_t {
  conv_plan_t* p;
  const conv_tile_t* t;
  linear_t kernel_row;
  linear_t channel;  // input channel within the group
} taps_t;

static ir_value_t* load_weights(taps_t* v, int64_t tap, int64_t vector) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  linear_t at[4] = {p->channel, v->channel, v->kernel_row, linear_constant(tap)};
  at[0].constant += vector * p->lanes;
  at[0].lane = 1;
  if (p->depthwise) at[1] = linear_constant(0);
  k->lanes = p->lanes;
  ir_value_t* value = eval_convert(k, eval_lanes(k, ir_operand(p->op, 1), at), p->accumulator);
  k->lanes = 1;
  return value;
}

static ir_value_t* load_input(taps_t* v, int64_t pixel, int64_t tap, int64_t vector) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  linear_t at[4];
  at[0] = p->image;
  if (p->depthwise) {
    at[1] = p->channel;
    at[1].constant += vector * p->lanes;
    at[1].lane = 1;
    k->lanes = p->lanes;
  } else {
    at[1] = linear_add(k, linear_scale(k, p->group, p->per_group_in), v->channel);
  }
  at[2] = linear_add(k, linear_scale(k, p->row, p->c.strides[0]), linear_scale(k, v->kernel_row, p->c.w_dilation[0]));
  at[2].constant -= p->c.pad_low[0];
  at[3] = linear_scale(k, v->t->column, p->c.strides[1]);
  at[3].constant += pixel * p->c.strides[1] + tap * p->c.w_dilation[1] - p->c.pad_low[1];
  ir_value_t *x = ir_operand(p->op, 0), *value;
  if (v->t->tested) {
    guard_t guard = {0};
    ir_value_t* outside = kernel_number(&k->b, x->type->element, 0);
    guard_extent(k, &guard, &at[3], &p->in_columns);
    guard_begin(k, &guard, x->type->element);
    value = guard_end(k, &guard, eval_at(k, x, at), outside);
  } else {
    value = eval_at(k, x, at);
  }
  value = eval_convert(k, value, p->accumulator);
  k->lanes = 1;
  return kernel_splat(&k->b, value, p->lanes);
}

// All kernel columns of one kernel row and input channel.
static void multiply_taps(taps_t* v, ir_value_t** acc) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  for (int64_t tap = 0; tap < p->kernel_w; ++tap) {
    ir_value_t* w[8] = {0};
    for (int64_t pixel = 0; pixel < v->t->pixels; ++pixel) {
      if (!tap_inside(p, v->t, pixel, tap)) continue;
      for (int64_t i = 0; i < p->vectors && !w[i]; ++i) w[i] = load_weights(v, tap, i);
      ir_value_t* x = p->depthwise ? NULL : load_input(v, pixel, tap, 0);
      for (int64_t i = 0; i < p->vectors; ++i) {
        ir_value_t** slot = &acc[pixel * p->vectors + i];
        ir_value_t* in = p->depthwise ? load_input(v, pixel, tap, i) : x;
        *slot = kernel_multiply_add(&k->b, in, w[i], *slot);
      }
    }
  }
}

// First and last kernel row inside the image for the current output row.
static void kernel_rows(conv_plan_t* p, ir_value_t** lower, ir_value_t** upper) {
  kernel_build_t* k = &p->d->k;
  int64_t stride = p->c.strides[0], dilation = p->c.w_dilation[0], pad = p->c.pad_low[0], min, max;
  linear_range(k, &p->row, &min, &max);
  *lower = kernel_index(&k->b, 0);
  *upper = kernel_index(&k->b, p->kernel_h);
  linear_t above = linear_scale(k, p->row, -stride);  // pad - row * stride: rows of the kernel above the image
  above.constant += pad;
  if (min * stride < pad) {
    linear_t padded = above;
    padded.constant += dilation - 1;
    ir_value_t* v = kernel_binary(&k->b, SCALAR_max, linear_scalar(k, &padded), kernel_index(&k->b, 0));
    if (dilation > 1) v = kernel_binary(&k->b, SCALAR_divu, v, kernel_index(&k->b, dilation));
    *lower = kernel_binary(&k->b, SCALAR_min, v, kernel_index(&k->b, p->kernel_h));
    int64_t constant;
    if (!kernel_constant_index(*lower, &constant)) index_set_facts(k, *lower, 0, p->kernel_h, 1);
  }
  bool any_rows = !extent_is_fixed(&p->in_rows);
  if (any_rows || max * stride - pad + (p->kernel_h - 1) * dilation >= p->in_h) {
    linear_t below = above;  // in_h + pad - row * stride
    if (any_rows) below = linear_add(k, below, linear_value(extent_value(k, &p->in_rows)));
    below.constant += (any_rows ? 0 : p->in_h) + dilation - 1;
    ir_value_t* v = kernel_binary(&k->b, SCALAR_max, linear_scalar(k, &below), kernel_index(&k->b, 0));
    if (dilation > 1) v = kernel_binary(&k->b, SCALAR_divu, v, kernel_index(&k->b, dilation));
    *upper = kernel_binary(&k->b, SCALAR_min, v, kernel_index(&k->b, p->kernel_h));
    int64_t constant;
    if (!kernel_constant_index(*upper, &constant)) index_set_facts(k, *upper, 0, p->kernel_h, 1);
  }
}

typedef struct nest_t {
  taps_t taps;
  uint32_t count;
  kernel_loop_t loops[3];
} nest_t;

static linear_t open_loop(conv_plan_t* p, nest_t* n, ir_value_t* lower, ir_value_t* upper, ir_value_t** acc,
                          uint32_t acc_count) {
  kernel_loop_t* loop = &n->loops[n->count++];
  *loop = kernel_loop_begin(&p->d->k, lower, upper, 1, acc, acc_count);
  for (uint32_t i = 0; i < acc_count; ++i) acc[i] = loop->iters[i];
  return linear_value(loop->index);
}

static void reduce_tile(conv_plan_t* p, const conv_tile_t* t, ir_value_t** acc, uint32_t count) {
  kernel_build_t* k = &p->d->k;
  nest_t n = {.taps = {.p = p, .t = t, .kernel_row = linear_constant(0), .channel = linear_constant(0)}};
  int64_t inner = p->x_block > 1 && p->per_group_in % p->x_block == 0 ? p->x_block : 1;
  ir_value_t *zero = kernel_index(&k->b, 0), *lower, *upper;
  kernel_rows(p, &lower, &upper);
  if (!p->depthwise && p->per_group_in > inner) {
    linear_t outer = open_loop(p, &n, zero, kernel_index(&k->b, p->per_group_in / inner), acc, count);
    n.taps.channel = linear_scale(k, outer, inner);
  }
  if (p->kernel_h > 1) n.taps.kernel_row = open_loop(p, &n, lower, upper, acc, count);
  if (!p->depthwise && inner > 1) {
    linear_t i = open_loop(p, &n, zero, kernel_index(&k->b, inner), acc, count);
    n.taps.channel = linear_add(k, n.taps.channel, i);
  }
  multiply_taps(&n.taps, acc);
  while (n.count) {
    kernel_loop_t* loop = &n.loops[--n.count];
    kernel_for_end(&k->b, loop, acc, count);
    for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(loop, i);
  }
}

static void store_pixel(conv_plan_t* p, const conv_tile_t* t, linear_t pixel, int64_t vector, ir_value_t* value) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* result = ir_result(p->op, 0);
  linear_t at[4] = {p->image, p->channel, p->row, linear_add(k, t->column, pixel)};
  at[1].constant += vector * p->lanes;
  at[1].lane = 1;
  k->lanes = p->lanes;
  eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
  epilogue_store(p->d, result, at);
  result->data = NULL;
  k->lanes = 1;
}

static void build_tile(conv_plan_t* p, const conv_tile_t* t) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* acc[MAX_ACCUMULATORS];
  uint32_t count = (uint32_t)(t->pixels * p->vectors);
  assert(count <= MAX_ACCUMULATORS);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, p->lanes);
  bool is_float = p->accumulator->kind == IR_TYPE_FLOAT;
  for (uint32_t i = 0; i < count; ++i)
    acc[i] = is_float ? kernel_number(&k->b, type, 0) : kernel_integer(&k->b, type, 0);
  reduce_tile(p, t, acc, count);
  for (int64_t pixel = 0; pixel < t->pixels; ++pixel) {
    for (int64_t i = 0; i < p->vectors; ++i) {
      store_pixel(p, t, linear_constant(pixel), i, acc[pixel * p->vectors + i]);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops around it
//===----------------------------------------------------------------------------------------------------------------===

// Whether a whole tile starting at `column` reads only inside the image.
static bool tile_is_inner(const conv_plan_t* p, int64_t column) {
  int64_t first = column * p->c.strides[1] - p->c.pad_low[1];
  int64_t last = (column + p->pixels - 1) * p->c.strides[1] + (p->kernel_w - 1) * p->c.w_dilation[1] - p->c.pad_low[1];
  return first >= 0 && last < p->in_w;
}

static void fixed_tile(conv_plan_t* p, int64_t column) {
  int64_t left = p->out_w - column;
  conv_tile_t t = {linear_constant(column), left < p->pixels ? left : p->pixels, column};
  build_tile(p, &t);
}

// Tiles of `pixels` columns from `lower` on, as many as end at `limit`. Gives the column behind them.
static ir_value_t* build_columns(conv_plan_t* p, int64_t pixels, ir_value_t* lower, ir_value_t* limit, bool tested) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* end = kernel_binary(&k->b, SCALAR_max, lower, limit);
  if (pixels > 1) {
    ir_value_t* length = kernel_binary(&k->b, SCALAR_sub, end, lower);
    ir_value_t* rest = kernel_binary(&k->b, SCALAR_remu, length, kernel_index(&k->b, pixels));
    end = kernel_binary(&k->b, SCALAR_sub, end, rest);
  }
  index_set_facts(k, end, 0, INT32_MAX, 1);
  kernel_loop_t loop = kernel_loop_begin(k, lower, end, pixels, NULL, 0);
  conv_tile_t t = {linear_value(loop.index), pixels, -1, tested};
  build_tile(p, &t);
  kernel_for_end(&k->b, &loop, NULL, 0);
  return end;
}

// One output row of run-time width: the columns whose taps may be outside on the left, tiles, and those on the right.
static void build_any_row(conv_plan_t* p) {
  enum { LOW_TILE = 4 };
  kernel_build_t* k = &p->d->k;
  const graph_conv_t* c = &p->c;
  int64_t first = ceil_div(c->pad_low[1], c->strides[1]), stride = c->strides[1];
  // Column x is inside on the right when x * stride - pad + (kernel - 1) * dilation < in_w.
  int64_t reach = c->pad_low[1] - (p->kernel_w - 1) * c->w_dilation[1] - 1 + stride;
  ir_value_t *width = extent_value(k, &p->out_columns), *zero = kernel_index(&k->b, 0);
  ir_value_t* inside = kernel_add_const(&k->b, extent_value(k, &p->in_columns), reach);
  inside = kernel_binary(&k->b, SCALAR_max, inside, zero);
  if (stride > 1) inside = kernel_binary(&k->b, SCALAR_divu, inside, kernel_index(&k->b, stride));
  inside = kernel_binary(&k->b, SCALAR_min, inside, width);
  ir_value_t* at = zero;
  if (first > 0) {
    ir_value_t* left = kernel_binary(&k->b, SCALAR_min, kernel_index(&k->b, first), width);
    at = build_columns(p, 1, zero, left, true);
  }
  at = build_columns(p, p->pixels, at, inside, false);
  if (p->pixels > LOW_TILE) at = build_columns(p, LOW_TILE, at, inside, false);
  build_columns(p, 1, at, width, true);
}

// Tiles of one output row; `share` (or NULL) are bounds of this workgroup's part of the inner tiles.
static void build_row(conv_plan_t* p, ir_value_t* share_id, int64_t shares) {
  kernel_build_t* k = &p->d->k;
  int64_t whole = p->out_w / p->pixels, first = 0, last = whole;
  while (first < whole && !tile_is_inner(p, first * p->pixels)) ++first;
  while (last > first && !tile_is_inner(p, (last - 1) * p->pixels)) --last;
  kernel_branch_t branch = {0};
  bool edges = first > 0 || last * p->pixels < p->out_w;
  if (edges && share_id) {  // the edges are the last share's
    ir_value_t* mine = kernel_binary(&k->b, SCALAR_eq, share_id, kernel_index(&k->b, shares - 1));
    branch = kernel_if_begin(&k->b, mine, NULL, 0);
  }
  for (int64_t i = 0; i < first; ++i) fixed_tile(p, i * p->pixels);
  for (int64_t column = last * p->pixels; column < p->out_w; column += p->pixels) fixed_tile(p, column);
  if (edges && share_id) kernel_if_end(&k->b, &branch, NULL, 0);
  if (first == last) return;
  if (last - first == 1 && !share_id) {
    fixed_tile(p, first * p->pixels);
    return;
  }
  ir_value_t *lower = kernel_index(&k->b, first), *upper = kernel_index(&k->b, last);
  if (share_id) {
    int64_t chunk = ceil_div(last - first, shares);
    lower = kernel_add_const(&k->b, kernel_mul_const(&k->b, share_id, chunk), first);
    upper = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, lower, chunk), upper);
    index_set_facts(k, lower, first, last, 1);
    index_set_facts(k, upper, first, last, 1);
  }
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, 1, NULL, 0);
  conv_tile_t t = {linear_scale(k, linear_value(loop.index), p->pixels), p->pixels, -1};
  build_tile(p, &t);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void plan_extents(conv_plan_t* p) {
  const ir_value_t *in = ir_operand(p->op, 0), *out = ir_result(p->op, 0);
  p->in_rows = eval_extent(in, 2), p->in_columns = eval_extent(in, 3);
  p->out_rows = eval_extent(out, 2), p->out_columns = eval_extent(out, 3);
}

static void plan_tile(conv_plan_t* p) {
  const device_info_t* device = p->d->device;
  p->accumulator = eval_accumulator(p->d->ctx, p->op->results[0].type->element);
  p->lanes = device->vector_bytes / ir_type_bytes(p->accumulator);
  while (p->block % p->lanes) p->lanes /= 2;
  p->vectors = p->block / p->lanes;
  int64_t most = (device->vector_registers - p->vectors - (p->depthwise ? 0 : 1)) / p->vectors;
  if (p->depthwise && most > 8) most = 8;
  if (most > 28) most = 28;
  if (most < 1) most = 1;
  if (most * p->vectors > MAX_ACCUMULATORS) most = MAX_ACCUMULATORS / p->vectors;
  p->pixels = p->out_w == IR_DYNAMIC ? most : ceil_div(p->out_w, ceil_div(p->out_w, most));
}

static linear_t id_or_zero(kernel_build_t* k, int64_t axis, int64_t count, ir_value_t** id) {
  if (count == 1) return linear_constant(0);
  *id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, *id, 0, count - 1, 1);
  return linear_value(*id);
}

// A loop over this workgroup's part of 0 .. count-1.
static kernel_loop_t part_loop(kernel_build_t* k, ir_value_t* id, int64_t parts, int64_t count) {
  if (!id) return kernel_loop_constant(k, 0, count, 1, NULL, 0);
  int64_t chunk = ceil_div(count, parts);
  ir_value_t* lower = kernel_mul_const(&k->b, id, chunk);
  ir_value_t* upper =
      kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, lower, chunk), kernel_index(&k->b, count));
  if (chunk > 1) index_set_facts(k, lower, 0, count - 1, chunk);
  index_set_facts(k, upper, 0, count, 1);
  return kernel_loop_begin(k, lower, upper, 1, NULL, 0);
}

// Images of run-time number: a workgroup along x takes one, or several when there are very many.
static kernel_loop_t image_loop(dispatch_t* d, conv_plan_t* p) {
  enum { MOST = 65535 };
  kernel_build_t* k = &d->k;
  extent_t images = eval_extent(ir_result(p->op, 0), 0);
  d->rule[0] = d->rule[1] = 1;
  d->rule[2] = MOST;
  d->rule[3] = images.numbers[0];
  d->rule_count = 4;
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  index_set_facts(k, id, 0, MOST - 1, 1);
  kernel_loop_t loop = kernel_loop_begin(k, id, extent_value(k, &images), MOST, NULL, 0);
  p->image = linear_value(loop.index);
  return loop;
}

// Output rows of run-time number: every so-manieth is this workgroup's.
static kernel_loop_t any_row_loop(conv_plan_t* p, ir_value_t* id, int64_t parts) {
  kernel_build_t* k = &p->d->k;
  kernel_loop_t loop =
      kernel_loop_begin(k, id ? id : kernel_index(&k->b, 0), extent_value(k, &p->out_rows), parts, NULL, 0);
  index_set_facts(k, loop.index, 0, INT32_MAX, 1);
  return loop;
}

// All rows of the image at work that are this workgroup's.
static void build_rows(conv_plan_t* p, ir_value_t* row_id, int64_t row_parts) {
  kernel_build_t* k = &p->d->k;
  bool any_width = p->out_w == IR_DYNAMIC || p->in_w == IR_DYNAMIC;
  if (p->out_h == 1 && !any_width) {
    p->row = linear_constant(0);
    build_row(p, row_id, row_parts);
    return;
  }
  bool any_rows = p->out_h == IR_DYNAMIC;
  kernel_loop_t loop = any_rows ? any_row_loop(p, row_id, row_parts) : part_loop(k, row_id, row_parts, p->out_h);
  p->row = linear_value(loop.index);
  if (any_width) {
    build_any_row(p);
  } else {
    build_row(p, NULL, 1);
  }
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// How many workgroups share the blocks of channels, and the rows (or tiles of one row), of an image.
static void plan_parts(const conv_plan_t* p, int64_t* block_parts, int64_t* row_parts) {
  int64_t height = extent_guess(&p->out_rows), width = extent_guess(&p->out_columns);
  bool any_width = p->out_w == IR_DYNAMIC || p->in_w == IR_DYNAMIC, share_row = p->out_h == 1 && !any_width;
  double flops = 2.0 * (double)(p->images == IR_DYNAMIC ? 1 : p->images) * (double)p->out_channels * (double)height *
                 (double)width * (double)p->per_group_in * (double)p->kernel_h * (double)p->kernel_w;
  int64_t wanted = (int64_t)(flops / 1e6) + 1, blocks = p->out_channels / p->block;
  if (wanted > WANTED_GROUPS) wanted = WANTED_GROUPS;
  *block_parts = blocks < wanted ? blocks : wanted;
  *block_parts = ceil_div(blocks, ceil_div(blocks, *block_parts));
  int64_t count = share_row ? p->out_w / p->pixels : height, parts = wanted / *block_parts;
  if (parts > count) parts = count;
  if (parts < 1) parts = 1;
  *row_parts = share_row ? parts : ceil_div(count, ceil_div(count, parts));
}

void strategy_conv_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  conv_plan_t p;
  bool read = plan_read(&p, d);
  assert(read);
  (void)read;
  p.d = d;
  plan_extents(&p);
  if (image_is_row(&p)) merge_images(&p);
  plan_tile(&p);
  bool dynamic = p.images == IR_DYNAMIC;
  int64_t blocks = p.out_channels / p.block, block_parts, row_parts;
  plan_parts(&p, &block_parts, &row_parts);
  d->workgroups[dynamic ? 2 : 0] = block_parts;
  d->workgroups[1] = row_parts;
  if (!dynamic) d->workgroups[2] = p.images;
  ir_value_t *block_id = NULL, *row_id = NULL, *image_id = NULL;
  kernel_loop_t over_images = {0};
  id_or_zero(k, dynamic ? 2 : 0, block_parts, &block_id);
  id_or_zero(k, 1, row_parts, &row_id);
  if (dynamic) {
    over_images = image_loop(d, &p);
  } else {
    p.image = id_or_zero(k, 2, p.images, &image_id);
  }
  kernel_loop_t over_blocks = part_loop(k, block_id, block_parts, blocks);
  p.channel = linear_scale(k, linear_value(over_blocks.index), p.block);
  p.group = linear_constant(0);
  if (p.c.groups > 1 && !p.depthwise) {
    linear_t within;
    linear_divide(k, p.channel, p.out_channels / p.c.groups, &p.group, &within);
  }
  build_rows(&p, row_id, row_parts);
  kernel_for_end(&k->b, &over_blocks, NULL, 0);
  if (dynamic) kernel_for_end(&k->b, &over_images, NULL, 0);
}
