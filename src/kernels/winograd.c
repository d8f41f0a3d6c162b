// Winograd's convolution on CPUs (passes/winograd.h): 3x3 kernels without strides, known weights.
//
//   workgroup (tiles of results, panels of weights):
//     for each tile, vector of input channels: what it reads of the image, transformed: one vector for each position
//     for each panel, position: products of tiles by the panel, along the input channels, in register tiles
//     for each tile, vector of the panel: products of all positions become results; the epilogue, pixel by pixel
// Weights are transformed at compile time (layout_winograd.c), which chooses this strategy. Tiles at the image's edges
// are read through a patch with zeros around it, and stored as far as they go. Sums of numbers that cancel each other
// out make no number of infinite ones and of those that are too large, so what has such results is done again by sums
// one by one.
#include <assert.h>

#include "kernels/layout_winograd.h"
#include "kernels/strategy.h"

enum { MOST_TILES = 13, MOST_VECTORS = 2, PIECES = 8 };

typedef struct winograd_t {
  dispatch_t* d;
  ir_op_t* op;
  graph_conv_t conv;
  winograd_weights_t w;
  const winograd_form_t* f;
  int64_t sizes[3];               // images, rows and columns of tiles
  int64_t tiles, lanes, vectors;  // of all; of a vector; of a panel
  int64_t positions;              // of a tile
  int64_t block, group;           // tiles of a register tile; of a workgroup
  int64_t stride;                 // channels of a transformed tile in memory
  int64_t panels;                 // of a workgroup
  int32_t x_axes[4], y_axes[4];   // image, row, column, channel
  ir_value_t *patch, *input, *products, *results;
  ir_value_t *first, *count;  // tiles at work
  const ir_type_t* vector;
} winograd_t;

bool strategy_winograd_proposes(const dispatch_t* d, candidate_t* c) {
  winograd_weights_t w;
  const char* why = "the weights are known at run time only";
  if (!layout_winograd_read(d->root, &w)) {
    layout_winograd_choose(d->device, d->root, &why);
    return candidate_declines(c, why);
  }
  int64_t lanes = d->device->vector_bytes / (int64_t)sizeof(float);
  if (lanes < 1 || w.panel % lanes || w.panel > MOST_VECTORS * lanes) {
    return candidate_declines(c, "the weights are in panels for other vectors");
  }
  if (!layout_winograd_fits(d->root)) return candidate_declines(c, "it is for 3x3 kernels as they are, of known sizes");
  return candidate_evaluates(d, NULL, c);
}

//===----------------------------------------------------------------------------------------------------------------===
// Transforms
//===----------------------------------------------------------------------------------------------------------------===

// sum + factor x; sum may be NULL.
static ir_value_t* add_term(kernel_build_t* k, ir_value_t* sum, double factor, ir_value_t* x) {
  if (!sum) return factor == 1 ? x : kernel_binary(&k->b, SCALAR_mul, x, kernel_number(&k->b, x->type, factor));
  if (factor == 1) return kernel_binary(&k->b, SCALAR_add, sum, x);
  return eval_multiply_add(k, x, kernel_number(&k->b, x->type, factor), sum);
}

// The polynomial in x^2 over every second of `in`, from the first; `in` are positions along an axis, `apart`.
static ir_value_t* evaluate(kernel_build_t* k, const double* coefficients, int64_t count, double scale,
                            ir_value_t* const* in, int64_t apart) {
  ir_value_t* sum = NULL;
  for (int64_t i = count; i-- > 0;) sum = add_term(k, sum, coefficients[i] * scale, in[2 * i * apart]);
  return sum;
}

// The image's numbers along an axis.
static void transform_input(kernel_build_t* k, const winograd_form_t* f, ir_value_t* const* in, int64_t apart,
                            ir_value_t** out, int64_t out_apart) {
  double all[WINOGRAD_MOST_PAIRS + 1], others[WINOGRAD_MOST_PAIRS + 1];
  winograd_polynomial(f, -1, all);
  out[0] = evaluate(k, all, f->pairs + 1, 1 / all[0], in, apart);
  out[(f->side - 1) * out_apart] = evaluate(k, all, f->pairs + 1, 1, in + apart, apart);
  for (int64_t i = 0; i < f->pairs; ++i) {
    winograd_polynomial(f, i, others);
    ir_value_t* even = evaluate(k, others, f->pairs, 1, in + 2 * apart, apart);
    ir_value_t* odd = evaluate(k, others, f->pairs, 1, in + apart, apart);
    bool one = f->points[i] == 1;
    out[(1 + 2 * i) * out_apart] = add_term(k, even, f->points[i], odd);
    out[(2 + 2 * i) * out_apart] =
        one ? kernel_binary(&k->b, SCALAR_sub, even, odd) : add_term(k, even, -f->points[i], odd);
  }
}

// Products along an axis become results.
static void transform_output(kernel_build_t* k, const winograd_form_t* f, ir_value_t* const* in, int64_t apart,
                             ir_value_t** out, int64_t out_apart) {
  ir_value_t *even[WINOGRAD_MOST_PAIRS], *odd[WINOGRAD_MOST_PAIRS];
  double powers[WINOGRAD_MOST_PAIRS];
  for (int64_t i = 0; i < f->pairs; ++i) {
    ir_value_t *above = in[(1 + 2 * i) * apart], *below = in[(2 + 2 * i) * apart];
    even[i] = kernel_binary(&k->b, SCALAR_add, above, below);
    odd[i] = kernel_binary(&k->b, SCALAR_sub, above, below);
    powers[i] = 1;
  }
  for (int64_t n = 0; n < f->results; ++n) {
    ir_value_t* sum = n == 0 ? in[0] : n + 1 == f->results ? in[(f->side - 1) * apart] : NULL;
    for (int64_t i = 0; i < f->pairs; ++i) {
      sum = add_term(k, sum, powers[i], n % 2 ? odd[i] : even[i]);
      powers[i] *= f->points[i];
    }
    out[n * out_apart] = sum;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The image
//===----------------------------------------------------------------------------------------------------------------===

// A tile: its image, first row and first column of results.
typedef struct place_t {
  linear_t at[3];
} place_t;

static place_t find_place(winograd_t* w, linear_t tile) {
  kernel_build_t* k = &w->d->k;
  place_t place;
  iterations_split(k, linear_add(k, tile, linear_value(w->first)), w->sizes, 3, place.at);
  for (int i = 1; i < 3; ++i) place.at[i] = linear_scale(k, place.at[i], w->f->results);
  return place;
}

static int64_t input_size(const winograd_t* w, int i) { return ir_operand(w->op, 0)->type->dims[w->x_axes[i]]; }
static int64_t output_size(const winograd_t* w, int i) { return w->op->results[0].type->dims[w->y_axes[i]]; }

static ir_value_t* load_pixel(winograd_t* w, const place_t* place, linear_t row, linear_t column, linear_t channel) {
  kernel_build_t* k = &w->d->k;
  linear_t at[4],
      from[] = {place->at[0], linear_add(k, place->at[1], row), linear_add(k, place->at[2], column), channel};
  for (int i = 0; i < 4; ++i) {
    if (i == 1 || i == 2) from[i].constant -= w->conv.pad_low[i - 1];
    at[w->x_axes[i]] = from[i];
  }
  k->lanes = w->lanes;
  if (w->w.inputs % w->lanes) {
    linear_t left = linear_scale(k, channel, -1);
    left.lane = 0;
    left.constant += w->w.inputs;
    k->mask = lanes_below(k, w->lanes, linear_scalar(k, &left));
  }
  ir_value_t* value = eval_lanes(k, ir_operand(w->op, 0), at);
  k->mask = NULL;
  k->lanes = 1;
  return value;
}

// Copies what the tile reads into the patch, zeros where that is outside of the image.
static void fill_patch(winograd_t* w, const place_t* place, linear_t channel) {
  kernel_build_t* k = &w->d->k;
  ir_value_t* zero = kernel_number(&k->b, w->vector, 0);
  kernel_loop_t rows = kernel_loop_constant(k, 0, w->f->side, 1, NULL, 0);
  kernel_loop_t columns = kernel_loop_constant(k, 0, w->f->side, 1, NULL, 0);
  linear_t in[] = {linear_value(rows.index), linear_value(columns.index)};
  guard_t guard = {0};
  for (int i = 0; i < 2; ++i) {
    linear_t x = linear_add(k, place->at[1 + i], in[i]);
    x.constant -= w->conv.pad_low[i];
    guard_range(k, &guard, &x, 0, input_size(w, 1 + i));
  }
  k->lanes = w->lanes;
  guard_begin(k, &guard, ir_type_scalar(w->vector));
  ir_value_t* value = load_pixel(w, place, in[0], in[1], channel);
  k->lanes = w->lanes;
  value = guard_end(k, &guard, value, zero);
  k->lanes = 1;
  linear_t to = linear_scale(k, linear_add(k, linear_scale(k, in[0], w->f->side), in[1]), w->lanes);
  kernel_store(&k->b, value, w->patch, linear_scalar(k, &to));
  kernel_for_end(&k->b, &columns, NULL, 0);
  kernel_for_end(&k->b, &rows, NULL, 0);
}

// i1: all that the tile reads is inside of the image; NULL: always.
static ir_value_t* reads_inside(winograd_t* w, const place_t* place) {
  kernel_build_t* k = &w->d->k;
  guard_t guard = {0};
  for (int i = 0; i < 2; ++i) {
    linear_t low = place->at[1 + i], high = low;
    low.constant -= w->conv.pad_low[i];
    high.constant += w->f->side - 1 - w->conv.pad_low[i];
    guard_range(k, &guard, &low, 0, INT64_MAX / 4);
    guard_range(k, &guard, &high, INT64_MIN / 4, input_size(w, 1 + i));
  }
  return guard.condition;
}

static void transform_tile(winograd_t* w, const place_t* place, linear_t tile, linear_t channel, bool patched) {
  kernel_build_t* k = &w->d->k;
  int64_t side = w->f->side;
  ir_value_t *half[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE], *line[WINOGRAD_MOST_SIDE];
  for (int64_t column = 0; column < side; ++column) {
    for (int64_t row = 0; row < side; ++row) {
      ir_value_t* at = kernel_index(&k->b, (row * side + column) * w->lanes);
      line[row] = patched ? kernel_load(&k->b, w->patch, at, w->lanes)
                          : load_pixel(w, place, linear_constant(row), linear_constant(column), channel);
    }
    transform_input(k, w->f, line, 1, half + column, side);
  }
  linear_t to = linear_add(k, linear_scale(k, tile, w->stride), channel);
  to.lane = 0;
  for (int64_t row = 0; row < side; ++row) {
    transform_input(k, w->f, half + row * side, 1, line, 1);
    for (int64_t column = 0; column < side; ++column) {
      linear_t at = to;
      at.constant += (row * side + column) * w->group * w->stride;
      kernel_store(&k->b, line[column], w->input, linear_scalar(k, &at));
    }
  }
}

static void transform_image(winograd_t* w) {
  kernel_build_t* k = &w->d->k;
  kernel_loop_t tiles = kernel_loop_begin(k, kernel_index(&k->b, 0), w->count, 1, NULL, 0);
  linear_t tile = linear_value(tiles.index);
  place_t place = find_place(w, tile);
  ir_value_t* inside = reads_inside(w, &place);
  kernel_loop_t channels = kernel_loop_constant(k, 0, w->w.inputs, w->lanes, NULL, 0);
  linear_t channel = linear_value(channels.index);
  channel.lane = 1;
  kernel_branch_t branch = {0};
  if (inside) branch = kernel_if_begin(&k->b, inside, NULL, 0);
  transform_tile(w, &place, tile, channel, false);
  if (inside) {
    kernel_if_else(&k->b, &branch, NULL, 0);
    fill_patch(w, &place, channel);
    transform_tile(w, &place, tile, channel, true);
    kernel_if_end(&k->b, &branch, NULL, 0);
  }
  kernel_for_end(&k->b, &channels, NULL, 0);
  kernel_for_end(&k->b, &tiles, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Products
//===----------------------------------------------------------------------------------------------------------------===

// A register tile: tiles from `first` on, at one position, by one panel.
static void multiply_block(winograd_t* w, ir_value_t* panel, linear_t position, linear_t first) {
  kernel_build_t* k = &w->d->k;
  ir_value_t *acc[MOST_TILES * MOST_VECTORS], *weights[MOST_VECTORS];
  uint32_t count = (uint32_t)(w->block * w->vectors);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_number(&k->b, w->vector, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, w->w.inputs, 1, acc, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = loop.iters[i];
  linear_t channel = linear_value(loop.index);
  for (int64_t v = 0; v < w->vectors; ++v) {
    linear_t at[] = {linear_value(panel), position, channel, linear_constant(v * w->lanes)};
    at[3].lane = w->lanes > 1;
    k->lanes = w->lanes;
    weights[v] = eval_lanes(k, w->w.arg, at);
    k->lanes = 1;
  }
  linear_t rows = linear_add(k, linear_scale(k, position, w->group), first);
  linear_t from = linear_add(k, linear_scale(k, rows, w->stride), channel);
  for (int64_t t = 0; t < w->block; ++t) {
    linear_t at = from;
    at.constant += t * w->stride;
    ir_value_t* x = kernel_splat(&k->b, kernel_load(&k->b, w->input, linear_scalar(k, &at), 1), w->lanes);
    for (int64_t v = 0; v < w->vectors; ++v) {
      ir_value_t** slot = &acc[t * w->vectors + v];
      *slot = eval_multiply_add(k, x, weights[v], *slot);
    }
  }
  kernel_for_end(&k->b, &loop, acc, count);
  linear_t to = linear_scale(k, rows, w->w.panel);
  for (uint32_t i = 0; i < count; ++i, to.constant += w->lanes) {
    kernel_store(&k->b, kernel_loop_result(&loop, i), w->products, linear_scalar(k, &to));
  }
}

static void multiply_panel(winograd_t* w, ir_value_t* panel) {
  kernel_build_t* k = &w->d->k;
  kernel_loop_t positions = kernel_loop_constant(k, 0, w->positions, 1, NULL, 0);
  kernel_loop_t blocks = {0};
  linear_t first = linear_constant(0);
  if (w->group > w->block) {
    blocks = kernel_loop_begin(k, kernel_index(&k->b, 0), w->count, w->block, NULL, 0);
    first = linear_value(blocks.index);
  }
  multiply_block(w, panel, linear_value(positions.index), first);
  if (w->group > w->block) kernel_for_end(&k->b, &blocks, NULL, 0);
  kernel_for_end(&k->b, &positions, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

// One loop over each pixel of a tile that is inside of the results.
typedef struct pixels_t {
  kernel_loop_t loops[2];
  linear_t at[GRAPH_MAX_RANK];  // of the result
  linear_t number;              // in the tile
} pixels_t;

static pixels_t begin_pixels(winograd_t* w, const place_t* place, linear_t output) {
  kernel_build_t* k = &w->d->k;
  pixels_t p = {.number = linear_constant(0)};
  ir_value_t* size = kernel_index(&k->b, w->f->results);
  p.at[w->y_axes[0]] = place->at[0];
  p.at[w->y_axes[3]] = output;
  for (int i = 0; i < 2; ++i) {
    ir_value_t* end = size;
    if (output_size(w, 1 + i) % w->f->results) {
      linear_t left = linear_scale(k, place->at[1 + i], -1);
      left.constant += output_size(w, 1 + i);
      end = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &left), size);
      int64_t constant;
      if (!kernel_constant_index(end, &constant)) index_set_facts(k, end, 1, w->f->results, 1);
    }
    p.loops[i] = kernel_loop_begin(k, kernel_index(&k->b, 0), end, 1, NULL, 0);
    linear_t at = linear_value(p.loops[i].index);
    p.at[w->y_axes[1 + i]] = linear_add(k, place->at[1 + i], at);
    p.number = linear_add(k, linear_scale(k, p.number, w->f->results), at);
  }
  return p;
}

static void store_pixel(winograd_t* w, const pixels_t* p, ir_value_t* value) {
  kernel_build_t* k = &w->d->k;
  ir_value_t* result = ir_result(w->op, 0);
  eval_set_bound(k, result, value);
  epilogue_store(w->d, result, p->at);
  result->data = NULL;
}

static void end_pixels(winograd_t* w, pixels_t* p) {
  for (int i = 2; i-- > 0;) kernel_for_end(&w->d->k.b, &p->loops[i], NULL, 0);
}

// Output channels of a vector of a panel; sets lanes and mask.
static linear_t enter_outputs(winograd_t* w, ir_value_t* panel, linear_t vector) {
  kernel_build_t* k = &w->d->k;
  linear_t output = linear_scale(k, linear_add(k, linear_scale(k, linear_value(panel), w->vectors), vector), w->lanes);
  if (w->w.outputs % w->w.panel) {
    linear_t left = linear_scale(k, output, -1);
    left.constant += w->w.outputs;
    k->mask = lanes_below(k, w->lanes, linear_scalar(k, &left));
  }
  output.lane = w->lanes > 1;
  return output;
}

static void leave_outputs(winograd_t* w) {
  w->d->k.mask = NULL;
  w->d->k.lanes = 1;
}

// Results of one tile and vector of the panel in memory; the largest of `most` and their magnitudes' bits.
static ir_value_t* transform_products(winograd_t* w, linear_t tile, linear_t vector, ir_value_t* most) {
  kernel_build_t* k = &w->d->k;
  int64_t side = w->f->side, results = w->f->results;
  ir_value_t *half[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE], *line[WINOGRAD_MOST_SIDE];
  linear_t from = linear_add(k, linear_scale(k, tile, w->w.panel), linear_scale(k, vector, w->lanes));
  for (int64_t column = 0; column < side; ++column) {
    for (int64_t row = 0; row < side; ++row) {
      linear_t at = from;
      at.constant += (row * side + column) * w->group * w->w.panel;
      line[row] = kernel_load(&k->b, w->products, linear_scalar(k, &at), w->lanes);
    }
    transform_output(k, w->f, line, 1, half + column, side);
  }
  ir_value_t* magnitude = kernel_integer(&k->b, most->type, INT32_MAX);
  for (int64_t row = 0; row < results; ++row) {
    transform_output(k, w->f, half + row * side, 1, line, 1);
    for (int64_t column = 0; column < results; ++column) {
      ir_value_t* bits = kernel_cast(&k->b, SCALAR_bitcast, line[column], ir_type_scalar(most->type));
      bits = kernel_binary(&k->b, SCALAR_and, bits, magnitude);
      most = kernel_binary(&k->b, SCALAR_max, most, bits);
      kernel_store(&k->b, line[column], w->results, kernel_index(&k->b, (row * results + column) * w->lanes));
    }
  }
  return most;
}

static ir_value_t* finish_tiles(winograd_t* w, ir_value_t* panel) {
  kernel_build_t* k = &w->d->k;
  ir_value_t* most = kernel_integer(&k->b, kernel_vector_type(k->ctx, ir_type_int(k->ctx, 32), w->lanes), 0);
  kernel_loop_t tiles = kernel_loop_begin(k, kernel_index(&k->b, 0), w->count, 1, &most, 1);
  kernel_loop_t vectors = kernel_loop_constant(k, 0, w->vectors, 1, tiles.iters, 1);
  linear_t tile = linear_value(tiles.index), vector = linear_value(vectors.index);
  most = transform_products(w, tile, vector, vectors.iters[0]);
  place_t place = find_place(w, tile);
  linear_t output = enter_outputs(w, panel, vector);
  pixels_t p = begin_pixels(w, &place, output);
  linear_t at = linear_scale(k, p.number, w->lanes);
  ir_value_t* value = kernel_load(&k->b, w->results, linear_scalar(k, &at), w->lanes);
  k->lanes = w->lanes;
  store_pixel(w, &p, value);
  end_pixels(w, &p);
  leave_outputs(w);
  kernel_for_end(&k->b, &vectors, &most, 1);
  most = kernel_loop_result(&vectors, 0);
  kernel_for_end(&k->b, &tiles, &most, 1);
  return kernel_reduce(&k->b, kernel_loop_result(&tiles, 0), "max");
}

// The same tiles by sums one by one.
static void repeat_tiles(winograd_t* w, ir_value_t* panel) {
  kernel_build_t* k = &w->d->k;
  kernel_loop_t tiles = kernel_loop_begin(k, kernel_index(&k->b, 0), w->count, 1, NULL, 0);
  kernel_loop_t vectors = kernel_loop_constant(k, 0, w->vectors, 1, NULL, 0);
  place_t place = find_place(w, linear_value(tiles.index));
  linear_t output = enter_outputs(w, panel, linear_value(vectors.index));
  pixels_t p = begin_pixels(w, &place, output);
  k->lanes = w->lanes;
  store_pixel(w, &p, eval_lanes(k, ir_result(w->op, 0), p.at));
  end_pixels(w, &p);
  leave_outputs(w);
  kernel_for_end(&k->b, &vectors, NULL, 0);
  kernel_for_end(&k->b, &tiles, NULL, 0);
}

static void finish_panel(winograd_t* w, ir_value_t* panel) {
  enum { INFINITE = 0x7f800000 };
  kernel_build_t* k = &w->d->k;
  ir_value_t* most = finish_tiles(w, panel);
  ir_value_t* wrong = kernel_binary(&k->b, SCALAR_ge, most, kernel_integer(&k->b, most->type, INFINITE));
  kernel_branch_t branch = kernel_if_begin(&k->b, wrong, NULL, 0);
  repeat_tiles(w, panel);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Around it
//===----------------------------------------------------------------------------------------------------------------===

static void read_shapes(winograd_t* w) {
  static const char letters[] = "n01c";
  w->conv = graph_conv_read(w->op);
  w->tiles = 1;
  for (int i = 0; i < 4; ++i) {
    w->x_axes[i] = graph_layout_axis(w->conv.x_layout, letters[i]);
    w->y_axes[i] = graph_layout_axis(w->conv.y_layout, letters[i]);
    if (i == 3) break;
    w->sizes[i] = i == 0 ? output_size(w, 0) : ceil_div(output_size(w, i), w->f->results);
    w->tiles *= w->sizes[i];
  }
}

// Tiles of a register tile: such that few are for nothing, and that two threads have as many register tiles.
static int64_t plan_block(const winograd_t* w, int64_t most) {
  int64_t best = most, least = INT64_MAX;
  for (int64_t block = most; block > 0; --block) {
    int64_t blocks = ceil_div(w->tiles, block);
    if (blocks > 1) blocks += blocks % 2;
    int64_t cost = blocks * (block * w->vectors + 1);  // products, and what each step along the channels loads
    if (cost < least) least = cost, best = block;
  }
  return best;
}

// How many tiles a workgroup takes: their transformed image stays in the second-level cache. Where there are few blocks
// of them and weights do not, all are one group, so that weights are read once.
static void plan_groups(winograd_t* w) {
  enum { FEW_BLOCKS = 4, LINE = 16 };
  const device_info_t* device = w->d->device;
  int64_t l2 = device->l2_bytes > 0 ? device->l2_bytes : 1 << 20,
          most = (device->vector_registers - 1) / w->vectors - 1;
  w->block = plan_block(w, most < 1 ? 1 : most > MOST_TILES ? MOST_TILES : most);
  int64_t blocks = ceil_div(w->tiles, w->block);
  w->stride = ceil_div(w->w.inputs, w->lanes) * w->lanes + LINE;
  int64_t bytes = w->positions * w->block * w->stride * (int64_t)sizeof(float);
  int64_t fit = l2 / 2 / bytes, spread = blocks / PIECES;
  int64_t each = fit < 1 ? 1 : fit;
  if (each > spread) each = spread < 1 ? 1 : spread;
  bool streams = ir_type_count(w->w.arg->type) * (int64_t)sizeof(float) > l2;
  if (streams && blocks < FEW_BLOCKS && blocks * bytes <= l2) each = blocks;
  w->group = w->block * ceil_div(blocks, ceil_div(blocks, each));
}

// How many workgroups share the panels: each transforms the image for itself, so they have many outputs.
static int64_t plan_panels(const winograd_t* w, int64_t groups) {
  enum { LEAST_OUTPUTS = 128 };
  int64_t panels = ceil_div(w->w.outputs, w->w.panel), most = w->w.outputs / LEAST_OUTPUTS;
  int64_t shares = ceil_div(PIECES, groups);
  shares = shares < most ? shares : most < 1 ? 1 : most;
  return ceil_div(panels, ceil_div(panels, shares));
}

static ir_value_t* workgroup(kernel_build_t* k, int64_t axis, int64_t count) {
  if (count == 1) return kernel_index(&k->b, 0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return id;
}

// Numbers of a range that are this workgroup's: `each` from `first` on, fewer at the end.
static void share(kernel_build_t* k, ir_value_t* id, int64_t each, int64_t all, ir_value_t** first,
                  ir_value_t** count) {
  int64_t constant;
  *first = kernel_mul_const(&k->b, id, each);
  *count = kernel_index(&k->b, each);
  if (!kernel_constant_index(*first, &constant)) index_set_facts(k, *first, 0, all - 1, each);
  if (all % each == 0) return;
  linear_t left = linear_scale(k, linear_value(*first), -1);
  left.constant += all;
  *count = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &left), *count);
  if (!kernel_constant_index(*count, &constant)) index_set_facts(k, *count, 1, each, 1);
}

static ir_value_t* scratch(winograd_t* w, int64_t count) {
  enum { LINE_BYTES = 64 };
  kernel_build_t* k = &w->d->k;
  ir_value_t* memory = kernel_alloc(&k->b, ir_type_scalar(w->vector), count, IR_SPACE_WORKGROUP);
  ir_op_set_attr(k->ctx, memory->def, "align", ir_attr_i64(k->ctx, LINE_BYTES));
  return memory;
}

void strategy_winograd_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  winograd_t w = {.d = d, .op = d->root};
  bool read = layout_winograd_read(d->root, &w.w);
  assert(read);
  (void)read;
  w.f = w.w.form;
  w.positions = w.f->side * w.f->side;
  w.lanes = d->device->vector_bytes / (int64_t)sizeof(float);
  w.vectors = w.w.panel / w.lanes;
  w.vector = kernel_vector_type(k->ctx, ir_type_float(k->ctx, IR_F32), w.lanes);
  read_shapes(&w);
  plan_groups(&w);
  int64_t groups = ceil_div(w.tiles, w.group), shares = plan_panels(&w, groups);
  int64_t panels = ceil_div(w.w.outputs, w.w.panel);
  d->workgroups[0] = groups;
  d->workgroups[1] = shares;
  w.input = scratch(&w, w.positions * w.group * w.stride);
  w.products = scratch(&w, w.positions * w.group * w.w.panel);
  w.results = scratch(&w, w.f->results * w.f->results * w.lanes);
  w.patch = scratch(&w, w.positions * w.lanes);
  ir_value_t *lower, *count;
  share(k, workgroup(k, 0, groups), w.group, w.tiles, &w.first, &w.count);
  share(k, workgroup(k, 1, shares), ceil_div(panels, shares), panels, &lower, &count);
  transform_image(&w);
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), count, 1, NULL, 0);
  ir_value_t* panel = kernel_add(&k->b, loop.index, lower);
  int64_t constant;
  if (!kernel_constant_index(panel, &constant)) index_set_facts(k, panel, 0, panels - 1, 1);
  multiply_panel(&w, panel);
  finish_panel(&w, panel);
  kernel_for_end(&k->b, &loop, NULL, 0);
}
