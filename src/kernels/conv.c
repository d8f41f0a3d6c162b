// Convolution on CPUs without im2col: register tiles of pixels x output-channel vectors.
//
//   workgroup (output-channel blocks of groups, rows or tiles, images):
//     for output row, tile of pixels:
//       for input-channel block, kernel row (those inside the image), input channel in the block:
//         kernel columns unrolled: acc[pixel][v] += x[pixel * stride + column] * w[v]
// Weights are packed by blocks of output channels (layout.c); a last vector of a group that is not full multiplies
// zeros and is stored with a mask. Any layout of the activations will do, and any rank: the last spatial dimension
// gives the columns, the others the rows. Where a tile sits at the left or right edge its taps outside the image are
// left out when the kernel is built, so nothing is padded and nothing is tested while it runs. A 1x1 convolution
// without stride is one long row. Depthwise convolution is the same with vectors of x instead of numbers. A dilated
// input (transposed convolution) is done phase by phase: columns that read the same taps. Where an image's width is
// known at run time only, tiles are whole too: the last one ends with the row, and does what it shares with the one
// before again. The few of their taps that may be outside, at the edges of a row, are tested.
#include <assert.h>
#include <string.h>

#include "kernels/conv_plan.h"

enum { WANTED_GROUPS = 8, UNROLLED_TAPS = 12, MAX_EDGES = 96 };

bool strategy_conv_proposes(const dispatch_t* d, candidate_t* c) {
  conv_plan_t p;
  if (!conv_plan_read(&p, d))
    return candidate_declines(c, "weights or channels lie as register tiles do not read them");
  return candidate_evaluates(d, NULL, c);
}

//===----------------------------------------------------------------------------------------------------------------===
// Taps
//===----------------------------------------------------------------------------------------------------------------===

typedef struct conv_tile_t {
  conv_phase_t phase;
  linear_t column;  // first output column, of those of the phase
  int64_t pixels;
  int64_t fixed;  // the column when it is known (edges), or -1: no tap is outside, but where `tested`
  bool tested;    // in a row of run-time width: taps may be outside
  bool partial;   // and last pixels too
} conv_tile_t;

// An input column that may be outside: `at` is the nearest one inside.
typedef struct conv_edge_t {
  int64_t offset;  // from the tile's first
  ir_value_t *at, *inside;
} conv_edge_t;

typedef struct taps_t {
  conv_plan_t* p;
  const conv_tile_t* t;
  linear_t channel;                                        // input channel within the group
  linear_t tap[GRAPH_MAX_SPATIAL], at[GRAPH_MAX_SPATIAL];  // kernel and input coordinate of each outer dimension
  conv_edge_t edges[MAX_EDGES];                            // of a tested tile, made before its loops
  uint32_t edge_count;
} taps_t;

static bool tap_inside(conv_plan_t* p, const conv_tile_t* t, int64_t pixel, int64_t tap) {
  if (t->fixed < 0) return true;
  int64_t x = (t->fixed + pixel) * t->phase.stride + t->phase.offset + tap * t->phase.offset_step;
  return x >= 0 && x < conv_columns(p)->in;
}

// Whether it has to be seen at run time that a tap is inside. The last column of a row reads at most the padding above.
static bool tap_is_tested(conv_plan_t* p, const conv_tile_t* t, int64_t pixel, int64_t tap) {
  const conv_phase_t* phase = &t->phase;
  if (!t->tested || t->partial) return t->tested;
  int64_t left = (t->pixels - 1 - pixel) * phase->stride + (phase->count - 1 - tap) * phase->offset_step;
  return pixel * phase->stride + phase->offset + tap * phase->offset_step < 0 || conv_columns(p)->over > left;
}

// The same of any tap.
static bool pixel_is_tested(conv_plan_t* p, const conv_tile_t* t, int64_t pixel) {
  return tap_is_tested(p, t, pixel, 0) || tap_is_tested(p, t, pixel, t->phase.count - 1);
}

// Whether a tile's taps are all the same: inside, or tested one by one.
static bool taps_alike(conv_plan_t* p, const conv_tile_t* t) {
  return tap_inside(p, t, 0, 0) && tap_inside(p, t, t->pixels - 1, t->phase.count - 1);
}

static ir_value_t* load_weights(taps_t* v, linear_t tap, int64_t vector) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  linear_t at[GRAPH_MAX_RANK + 1];
  uint32_t n = 0;
  at[n++] = p->group;
  at[n++] = p->block_index;
  at[n++] = p->depthwise ? linear_constant(0) : v->channel;
  for (uint32_t i = 0; i < p->outer; ++i) at[n++] = v->tap[i];
  at[n] = linear_scale(k, tap, v->t->phase.tap_step);
  at[n++].constant += v->t->phase.tap;
  at[n] = linear_constant(vector * p->lanes);
  if (p->word > 1) {
    at[n + 1] = linear_constant(0);
    return eval_words(k, p->weights, at, p->lanes);
  }
  at[n].lane = p->lanes > 1;
  k->lanes = p->lanes;
  ir_value_t* value = eval_convert(k, eval_lanes(k, p->weights, at), p->accumulator);
  k->lanes = 1;
  return value;
}

// Channels of the input that one product reads: a vector's, or one.
static linear_t input_channel(taps_t* v, int64_t vector) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  linear_t channel = linear_scale(k, v->channel, p->word);
  if (!p->depthwise) return p->groups == 1 ? channel : linear_add(k, linear_scale(k, p->group, p->group_in), channel);
  channel = p->channel;
  channel.constant += vector * p->lanes;
  channel.lane = p->lanes > 1;
  return channel;
}

static conv_edge_t make_edge(taps_t* v, linear_t column) {
  kernel_build_t* k = &v->p->d->k;
  const conv_sweep_t* s = conv_columns(v->p);
  ir_value_t *x = linear_scalar(k, &column), *size = extent_value(k, &s->in_size);
  ir_value_t* last = kernel_add_const(&k->b, size, -1);
  conv_edge_t edge = {.offset = column.constant, .inside = kernel_binary(&k->b, SCALAR_ltu, x, size)};
  edge.at = kernel_binary(&k->b, SCALAR_min, kernel_binary(&k->b, SCALAR_max, x, kernel_index(&k->b, 0)), last);
  int64_t constant;
  if (!kernel_constant_index(edge.at, &constant)) index_set_facts(k, edge.at, 0, index_facts(size).max - 1, 1);
  return edge;
}

static conv_edge_t* find_edge(taps_t* v, int64_t offset) {
  for (uint32_t i = 0; i < v->edge_count; ++i) {
    if (v->edges[i].offset == offset) return &v->edges[i];
  }
  return NULL;
}

static linear_t input_column(taps_t* v, int64_t pixel, linear_t tap) {
  kernel_build_t* k = &v->p->d->k;
  const conv_phase_t* phase = &v->t->phase;
  linear_t column = linear_scale(k, v->t->column, phase->stride);
  column = linear_add(k, column, linear_scale(k, tap, phase->offset_step));
  column.constant += pixel * phase->stride + phase->offset;
  return column;
}

// Edges of all taps, where their number is small; else they are made where they are needed.
static void make_edges(taps_t* v) {
  const conv_phase_t* phase = &v->t->phase;
  if (!v->t->tested || phase->count > UNROLLED_TAPS) return;
  for (int64_t pixel = 0; pixel < v->t->pixels; ++pixel) {
    for (int64_t tap = 0; tap < phase->count; ++tap) {
      if (!tap_is_tested(v->p, v->t, pixel, tap)) continue;
      linear_t column = input_column(v, pixel, linear_constant(tap));
      if (v->edge_count == MAX_EDGES || find_edge(v, column.constant)) continue;
      v->edges[v->edge_count++] = make_edge(v, column);
    }
  }
}

static ir_value_t* widened(conv_plan_t* p, ir_value_t* value) {
  kernel_build_t* k = &p->d->k;
  if (!p->c.unsigned_lhs || ir_type_scalar(value->type) == p->accumulator)
    return eval_convert(k, value, p->accumulator);
  return kernel_cast(&k->b, SCALAR_castu, value, p->accumulator);
}

// `value` where the edge is inside, else 0.
static ir_value_t* inside_or_zero(conv_plan_t* p, const conv_edge_t* edge, ir_value_t* value) {
  kernel_build_t* k = &p->d->k;
  bool is_float = p->accumulator->kind == IR_TYPE_FLOAT;
  ir_value_t* zero = is_float ? kernel_number(&k->b, value->type, 0) : kernel_integer(&k->b, value->type, 0);
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, edge->inside, kernel_lanes(value)), value, zero);
}

static ir_value_t* load_input(taps_t* v, int64_t pixel, linear_t tap, int64_t vector) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  linear_t at[GRAPH_MAX_RANK], column = input_column(v, pixel, tap);
  int64_t number;
  bool is_known = linear_is_constant(&tap, &number);
  bool tested = is_known ? tap_is_tested(p, v->t, pixel, number) : pixel_is_tested(p, v->t, pixel);
  conv_edge_t edge = {0}, *made = tested && is_known ? find_edge(v, column.constant) : NULL;
  if (tested) edge = made ? *made : make_edge(v, column);
  at[p->x_batch] = p->image;
  at[p->x_channel] = input_channel(v, vector);
  for (uint32_t i = 0; i < p->outer; ++i) at[p->sweeps[i].x_axis] = v->at[i];
  at[conv_columns(p)->x_axis] = tested ? linear_value(edge.at) : column;
  if (p->depthwise) {
    k->lanes = p->lanes;
    if (!p->x_block && p->part_count[vector]) k->mask = p->parts[vector][0].mask;
  }
  ir_value_t* x = ir_operand(p->op, 0);
  ir_value_t* value = p->word > 1 ? eval_words(k, x, at, 1) : widened(p, eval_at(k, x, at));
  k->lanes = 1;
  k->mask = NULL;
  if (tested) value = inside_or_zero(p, &edge, value);
  return kernel_splat(&k->b, value, p->lanes);
}

// One kernel column of one kernel row and input channel; `fixed` is its number, or -1.
static void multiply_tap(taps_t* v, linear_t tap, int64_t fixed, ir_value_t** acc) {
  conv_plan_t* p = v->p;
  kernel_build_t* k = &p->d->k;
  ir_value_t* w[CONV_MAX_VECTORS] = {0};
  for (int64_t pixel = 0; pixel < v->t->pixels; ++pixel) {
    if (fixed >= 0 && !tap_inside(p, v->t, pixel, fixed)) continue;
    for (int64_t i = 0; i < p->vectors && !w[i]; ++i) w[i] = load_weights(v, tap, i);
    ir_value_t* x = p->depthwise ? NULL : load_input(v, pixel, tap, 0);
    for (int64_t i = 0; i < p->vectors; ++i) {
      ir_value_t** slot = &acc[pixel * p->vectors + i];
      ir_value_t* in = p->depthwise ? load_input(v, pixel, tap, i) : x;
      *slot = p->word > 1 ? kernel_ternary(&k->b, SCALAR_dot_bytes, in, w[i], *slot)
                          : eval_multiply_add(k, in, w[i], *slot);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// A tile
//===----------------------------------------------------------------------------------------------------------------===

typedef struct nest_t {
  taps_t taps;
  uint32_t count;
  kernel_loop_t loops[GRAPH_MAX_SPATIAL + 4];
} nest_t;

static linear_t open_loop(conv_plan_t* p, nest_t* n, ir_value_t* lower, ir_value_t* upper, ir_value_t** acc,
                          uint32_t acc_count) {
  kernel_loop_t* loop = &n->loops[n->count++];
  *loop = kernel_loop_begin(&p->d->k, lower, upper, 1, acc, acc_count);
  for (uint32_t i = 0; i < acc_count; ++i) acc[i] = loop->iters[i];
  return linear_value(loop->index);
}

// Input channels (words of them) that are together in memory, as far as one loop goes; the last block may be shorter.
static int64_t inner_channels(const conv_plan_t* p) {
  if (p->x_block <= 1) return 1;
  return p->groups == 1 || p->group_in % p->x_block == 0 ? p->x_block / p->word : 1;
}

static void open_rows(conv_plan_t* p, nest_t* n, const conv_rows_t* rows, uint32_t dim, ir_value_t** acc,
                      uint32_t count) {
  kernel_build_t* k = &p->d->k;
  int64_t first, last;
  linear_t i = linear_constant(0);
  bool fixed = kernel_constant_index(rows->lower, &first) && kernel_constant_index(rows->upper, &last);
  if (!fixed || first != 0 || last != 1) i = open_loop(p, n, rows->lower, rows->upper, acc, count);
  n->taps.tap[dim] = linear_add(k, rows->tap, linear_scale(k, i, rows->tap_step));
  n->taps.at[dim] = linear_add(k, rows->at, linear_scale(k, i, rows->at_step));
}

static void reduce_tile(conv_plan_t* p, const conv_tile_t* t, ir_value_t** acc, uint32_t count) {
  kernel_build_t* k = &p->d->k;
  nest_t n = {.taps = {.p = p, .t = t, .channel = linear_constant(0)}};
  conv_rows_t rows[GRAPH_MAX_SPATIAL];
  int64_t inner = p->depthwise ? 1 : inner_channels(p), channels = p->depthwise ? 1 : ceil_div(p->group_in, p->word);
  ir_value_t *zero = kernel_index(&k->b, 0), *inner_end = kernel_index(&k->b, inner);
  for (uint32_t i = 0; i < p->outer; ++i) rows[i] = conv_find_rows(p, i);
  make_edges(&n.taps);
  if (pixel_is_tested(p, t, 0) || pixel_is_tested(p, t, t->pixels - 1)) {  // nothing is read of rows without columns
    ir_value_t* any =
        kernel_binary(&k->b, SCALAR_min, extent_value(k, &conv_columns(p)->in_size), kernel_index(&k->b, 1));
    int64_t constant;
    if (!kernel_constant_index(any, &constant)) open_loop(p, &n, zero, any, acc, count);
  }
  if (channels > inner) {
    linear_t outer = open_loop(p, &n, zero, kernel_index(&k->b, ceil_div(channels, inner)), acc, count);
    n.taps.channel = linear_scale(k, outer, inner);
    if (channels % inner) {
      linear_t left = linear_scale(k, n.taps.channel, -1);
      left.constant += channels;
      inner_end = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &left), inner_end);
      index_set_facts(k, inner_end, 1, inner, 1);
    }
  } else {
    inner_end = kernel_index(&k->b, channels);
  }
  for (uint32_t i = 0; i < p->outer; ++i) open_rows(p, &n, &rows[i], i, acc, count);
  if (inner > 1) n.taps.channel = linear_add(k, n.taps.channel, open_loop(p, &n, zero, inner_end, acc, count));
  if (t->phase.count > UNROLLED_TAPS && taps_alike(p, t)) {
    multiply_tap(&n.taps, open_loop(p, &n, zero, kernel_index(&k->b, t->phase.count), acc, count), -1, acc);
  } else {
    for (int64_t i = 0; i < t->phase.count; ++i) multiply_tap(&n.taps, linear_constant(i), i, acc);
  }
  while (n.count) {
    kernel_loop_t* loop = &n.loops[--n.count];
    kernel_for_end(&k->b, loop, acc, count);
    for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(loop, i);
  }
}

static void store_pixel(conv_plan_t* p, const conv_tile_t* t, linear_t pixel, int64_t vector, ir_value_t* value) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* result = ir_result(p->op, 0);
  linear_t at[GRAPH_MAX_RANK];
  at[p->y_batch] = p->image;
  for (uint32_t i = 0; i < p->outer; ++i) at[p->sweeps[i].y_axis] = p->row[i];
  linear_t column = linear_scale(k, linear_add(k, t->column, pixel), t->phase.period);
  column.constant += t->phase.first;
  at[conv_columns(p)->y_axis] = column;
  kernel_branch_t branch = {0};
  if (t->partial) {
    ir_value_t* inside = linear_scalar(k, &column);
    inside = kernel_binary(&k->b, SCALAR_lt, inside, extent_value(k, &conv_columns(p)->out_size));
    branch = kernel_if_begin(&k->b, inside, NULL, 0);
  }
  k->lanes = p->lanes;
  for (uint32_t i = 0; i < p->part_count[vector]; ++i) {
    at[p->y_channel] = p->parts[vector][i].channel;
    k->mask = p->parts[vector][i].mask;
    eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
    epilogue_store(p->d, result, at);
  }
  result->data = NULL;
  k->mask = NULL;
  k->lanes = 1;
  if (branch.op) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void store_tile(conv_plan_t* p, const conv_tile_t* t, ir_value_t* const* acc) {
  kernel_build_t* k = &p->d->k;
  if (!p->spill || t->pixels == 1) {
    for (int64_t pixel = 0; pixel < t->pixels; ++pixel) {
      for (int64_t i = 0; i < p->vectors; ++i) {
        store_pixel(p, t, linear_constant(pixel), i, acc[pixel * p->vectors + i]);
      }
    }
    return;
  }
  for (int64_t i = 0; i < t->pixels * p->vectors; ++i) {
    kernel_store(&k->b, acc[i], p->spill, kernel_index(&k->b, i * p->lanes));
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, t->pixels, 1, NULL, 0);
  linear_t pixel = linear_value(loop.index);
  for (int64_t i = 0; i < p->vectors; ++i) {
    linear_t at = linear_scale(k, pixel, p->vectors * p->lanes);
    at.constant += i * p->lanes;
    store_pixel(p, t, pixel, i, kernel_load(&k->b, p->spill, linear_scalar(k, &at), p->lanes));
  }
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void build_block(conv_plan_t* p, const conv_tile_t* t) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* acc[CONV_MAX_ACCUMULATORS];
  uint32_t count = (uint32_t)(t->pixels * p->vectors);
  assert(count <= CONV_MAX_ACCUMULATORS);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, p->lanes);
  bool is_float = p->accumulator->kind == IR_TYPE_FLOAT;
  for (uint32_t i = 0; i < count; ++i)
    acc[i] = is_float ? kernel_number(&k->b, type, 0) : kernel_integer(&k->b, type, 0);
  if (t->phase.count) reduce_tile(p, t, acc, count);
  store_tile(p, t, acc);
}

static void build_tile(conv_plan_t* p, const conv_tile_t* t) {
  if (!p->blocks_inside) {
    build_block(p, t);
    return;
  }
  kernel_build_t* k = &p->d->k;
  kernel_loop_t loop = kernel_loop_constant(k, 0, p->groups * p->blocks, 1, NULL, 0);
  conv_enter_block(p, loop.index);
  build_block(p, t);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Columns
//===----------------------------------------------------------------------------------------------------------------===

static int64_t last_offset(const conv_phase_t* phase) {
  return phase->offset + (phase->count > 0 ? phase->count - 1 : 0) * phase->offset_step;
}

// Whether a whole tile starting at `column` reads only inside the image.
static bool tile_is_inner(conv_plan_t* p, const conv_phase_t* phase, int64_t column) {
  int64_t first = column * phase->stride + phase->offset;
  int64_t last = (column + p->pixels - 1) * phase->stride + last_offset(phase);
  return !phase->count || (first >= 0 && last < conv_columns(p)->in);
}

static void fixed_tile(conv_plan_t* p, const conv_phase_t* phase, int64_t column, int64_t limit) {
  int64_t left = limit - column;
  conv_tile_t t = {*phase, linear_constant(column), left < p->pixels ? left : p->pixels, column};
  build_tile(p, &t);
}

// Whether all that a tile reads is inside.
static ir_value_t* tile_reads_inside(conv_plan_t* p, const conv_tile_t* t) {
  kernel_build_t* k = &p->d->k;
  const conv_phase_t* phase = &t->phase;
  linear_t first = linear_scale(k, t->column, phase->stride), last = first;
  first.constant += phase->offset;
  last.constant += (t->pixels - 1) * phase->stride + last_offset(phase);
  ir_value_t* below = kernel_binary(&k->b, SCALAR_ge, linear_scalar(k, &first), kernel_index(&k->b, 0));
  ir_value_t* above =
      kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &last), extent_value(k, &conv_columns(p)->in_size));
  return kernel_binary(&k->b, SCALAR_and, below, above);
}

// Tiles of columns from `lower` up to `upper`; the last one begins where it still ends with `end`, unless partial.
static void build_columns(conv_plan_t* p, conv_tile_t t, ir_value_t* lower, ir_value_t* upper, ir_value_t* end) {
  kernel_build_t* k = &p->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, t.pixels, NULL, 0);
  ir_value_t* column = loop.index;
  if (!t.partial && t.pixels > 1) {
    column = kernel_binary(&k->b, SCALAR_min, column, kernel_add_const(&k->b, end, -t.pixels));
    index_set_facts(k, column, 0, INT32_MAX, 1);
  }
  t.column = linear_value(column);
  t.fixed = -1;
  kernel_branch_t branch = {0};
  if (t.tested && !t.partial && !p->outer) {  // one row is long: few of its tiles are at its ends
    branch = kernel_if_begin(&k->b, tile_reads_inside(p, &t), NULL, 0);
    conv_tile_t inner = t;
    inner.tested = false;
    build_tile(p, &inner);
    kernel_if_else(&k->b, &branch, NULL, 0);
  }
  build_tile(p, &t);
  if (branch.op) kernel_if_end(&k->b, &branch, NULL, 0);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// ceil(x / d) for x that may be negative: then 0.
static ir_value_t* ceil_index(kernel_build_t* k, linear_t x, int64_t d) {
  x.constant += d - 1;
  ir_value_t* v = kernel_binary(&k->b, SCALAR_max, linear_scalar(k, &x), kernel_index(&k->b, 0));
  return d > 1 ? kernel_binary(&k->b, SCALAR_divu, v, kernel_index(&k->b, d)) : v;
}

// `value`, of a row's columns.
static ir_value_t* as_column(kernel_build_t* k, ir_value_t* value) {
  int64_t constant;
  if (!kernel_constant_index(value, &constant)) index_set_facts(k, value, 0, INT32_MAX, 1);
  return value;
}

// How far tiles of so many pixels go from `at` on, of columns up to `end`: as far as they fit; with the last of them
// beyond that when more than `most_left` columns would be left. Nothing where not even one fits.
static ir_value_t* tiles_end(kernel_build_t* k, ir_value_t* at, ir_value_t* end, int64_t pixels, int64_t most_left,
                             ir_value_t* columns) {
  ir_value_t *span = kernel_binary(&k->b, SCALAR_sub, end, at), *size = kernel_index(&k->b, pixels);
  ir_value_t* rest = kernel_binary(&k->b, SCALAR_remu, span, size);
  ir_value_t* more = kernel_binary(&k->b, SCALAR_gt, rest, kernel_index(&k->b, most_left));
  ir_value_t* whole = kernel_binary(&k->b, SCALAR_sub, end, rest);
  ir_value_t* fits = kernel_binary(&k->b, SCALAR_ge, columns, size);
  whole = kernel_ternary(&k->b, SCALAR_select, more, end, whole);
  return as_column(k, kernel_ternary(&k->b, SCALAR_select, fits, whole, at));
}

// One output row of run-time width: tiles, at its end some of half and of a quarter of the size, and for rows that are
// shorter than that one which tests everything. Of a merged image it is this workgroup's part of them.
static void build_any_row(conv_plan_t* p, const conv_phase_t* phase, ir_value_t* share_id, int64_t shares) {
  kernel_build_t* k = &p->d->k;
  linear_t all = linear_value(extent_value(k, &conv_columns(p)->out_size));
  all.constant -= phase->first;
  ir_value_t *end = as_column(k, ceil_index(k, all, phase->period)), *at = kernel_index(&k->b, 0), *columns = end;
  if (share_id) {
    ir_value_t* chunk = kernel_mul_const(&k->b, ceil_index(k, linear_value(end), shares * p->pixels), p->pixels);
    at = as_column(k, kernel_binary(&k->b, SCALAR_min, kernel_binary(&k->b, SCALAR_mul, share_id, chunk), end));
    end = as_column(k, kernel_binary(&k->b, SCALAR_min, kernel_add(&k->b, at, chunk), end));
    columns = as_column(k, kernel_binary(&k->b, SCALAR_sub, end, at));
  }
  conv_tile_t t = {.phase = *phase, .pixels = p->pixels, .tested = true};
  int64_t half = ceil_div(p->pixels, 2), quarter = ceil_div(half, 2);
  const int64_t pixels[] = {p->pixels, half, quarter}, most_left[] = {half + quarter, quarter, 0};
  for (int i = p->pixels == half; i < 3; ++i) {
    if (i == 1 && half == quarter) continue;
    t.pixels = pixels[i];
    ir_value_t* next = tiles_end(k, at, end, t.pixels, most_left[i], columns);
    build_columns(p, t, at, next, end);
    at = next;
  }
  if (t.pixels == 1) return;
  t.partial = true;
  build_columns(p, t, at, end, end);
}

// This workgroup's part of tiles first .. last-1, of `shares`.
static void share_tiles(kernel_build_t* k, ir_value_t* id, int64_t shares, ir_value_t** lower, ir_value_t** upper) {
  int64_t first, last;
  kernel_constant_index(*lower, &first);
  kernel_constant_index(*upper, &last);
  int64_t chunk = ceil_div(last - first, shares);
  *lower = kernel_add_const(&k->b, kernel_mul_const(&k->b, id, chunk), first);
  *upper = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, *lower, chunk), *upper);
  index_set_facts(k, *lower, first, last, 1);
  index_set_facts(k, *upper, first, last, 1);
}

// Tiles of one output row; `share_id`, unless NULL, takes a part of the inner ones.
static void build_row(conv_plan_t* p, const conv_phase_t* phase, ir_value_t* share_id, int64_t shares) {
  kernel_build_t* k = &p->d->k;
  int64_t columns = ceil_div(conv_columns(p)->out - phase->first, phase->period);
  int64_t whole = columns / p->pixels, first = 0, last = whole;
  while (first < whole && !tile_is_inner(p, phase, first * p->pixels)) ++first;
  while (last > first && !tile_is_inner(p, phase, (last - 1) * p->pixels)) --last;
  kernel_branch_t branch = {0};
  bool edges = first > 0 || last * p->pixels < columns;
  if (edges && share_id) {  // the edges are the last share's
    ir_value_t* mine = kernel_binary(&k->b, SCALAR_eq, share_id, kernel_index(&k->b, shares - 1));
    branch = kernel_if_begin(&k->b, mine, NULL, 0);
  }
  for (int64_t i = 0; i < first; ++i) fixed_tile(p, phase, i * p->pixels, columns);
  for (int64_t at = last * p->pixels; at < columns; at += p->pixels) fixed_tile(p, phase, at, columns);
  if (edges && share_id) kernel_if_end(&k->b, &branch, NULL, 0);
  if (first == last) return;
  if (last - first == 1 && !share_id && phase->count <= UNROLLED_TAPS) {
    fixed_tile(p, phase, first * p->pixels, columns);
    return;
  }
  ir_value_t *lower = kernel_index(&k->b, first), *upper = kernel_index(&k->b, last);
  if (share_id) share_tiles(k, share_id, shares, &lower, &upper);
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, 1, NULL, 0);
  conv_tile_t t = {*phase, linear_scale(k, linear_value(loop.index), p->pixels), p->pixels, -1};
  build_tile(p, &t);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static bool any_width(const conv_plan_t* p) {
  const conv_sweep_t* s = &p->sweeps[p->outer];
  return s->in == IR_DYNAMIC || s->out == IR_DYNAMIC;
}

static void build_phases(conv_plan_t* p, ir_value_t* share_id, int64_t shares) {
  const conv_sweep_t* s = conv_columns(p);
  for (int64_t i = 0; i < conv_period(s) && (s->out == IR_DYNAMIC || i < s->out); ++i) {
    conv_phase_t phase = conv_phase(s, i);
    if (any_width(p)) {
      build_any_row(p, &phase, share_id, shares);
    } else {
      build_row(p, &phase, share_id, shares);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops around it
//===----------------------------------------------------------------------------------------------------------------===

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
  extent_t images = eval_extent(ir_result(p->op, 0), p->y_batch);
  dispatch_set_rule(d, &images, images.factor, MOST);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  index_set_facts(k, id, 0, MOST - 1, 1);
  kernel_loop_t loop = kernel_loop_begin(k, id, extent_value(k, &images), MOST, NULL, 0);
  p->image = linear_value(loop.index);
  return loop;
}

static extent_t row_count(const conv_plan_t* p) {
  extent_t rows = extent_fixed(1);
  for (uint32_t i = 0; i < p->outer; ++i) rows = extent_product(rows, p->sweeps[i].out_size);
  return rows;
}

// All rows of the image at work that are this workgroup's.
static void build_rows(conv_plan_t* p, ir_value_t* row_id, int64_t row_parts) {
  kernel_build_t* k = &p->d->k;
  extent_t rows = row_count(p), sizes[GRAPH_MAX_SPATIAL];
  if (extent_is(&rows, 1) && (p->merged || !any_width(p))) {
    for (uint32_t i = 0; i < p->outer; ++i) p->row[i] = linear_constant(0);
    build_phases(p, row_id, row_parts);
    return;
  }
  kernel_loop_t loop;
  if (extent_is_fixed(&rows)) {
    loop = part_loop(k, row_id, row_parts, rows.factor);
  } else {  // every so-manieth
    ir_value_t* first = row_id ? row_id : kernel_index(&k->b, 0);
    loop = kernel_loop_begin(k, first, extent_value(k, &rows), row_parts, NULL, 0);
    index_set_facts(k, loop.index, 0, INT32_MAX, 1);
  }
  for (uint32_t i = 0; i < p->outer; ++i) sizes[i] = p->sweeps[i].out_size;
  if (p->outer) iterations_split_extents(k, linear_value(loop.index), sizes, (int32_t)p->outer, p->row);
  build_phases(p, NULL, 1);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// How many workgroups share the blocks of channels, and the rows (or tiles of one row), of an image.
static void plan_parts(conv_plan_t* p, int64_t* block_parts, int64_t* row_parts) {
  extent_t all = row_count(p);
  const conv_sweep_t* s = conv_columns(p);
  int64_t height = extent_guess(&all), width = extent_guess(&s->out_size), blocks = p->groups * p->blocks;
  bool share_row = height == 1 && extent_is_fixed(&all) && (p->merged || !any_width(p));
  double flops = 2.0 * (double)(p->images == IR_DYNAMIC ? 1 : p->images) * (double)height * (double)width *
                 (double)ir_type_count(p->weights->type);
  int64_t wanted = (int64_t)(flops / 1e6) + 1;
  if (wanted > WANTED_GROUPS) wanted = WANTED_GROUPS;
  *block_parts = p->blocks_inside ? 1 : blocks < wanted ? blocks : wanted;
  *block_parts = ceil_div(blocks, ceil_div(blocks, *block_parts));
  int64_t count = share_row ? width / conv_period(s) / p->pixels : height, parts = wanted / *block_parts;
  if (parts > count) parts = count;
  if (parts < 1) parts = 1;
  *row_parts = share_row ? parts : ceil_div(count, ceil_div(count, parts));
}

void strategy_conv_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  conv_plan_t p;
  bool read = conv_plan_read(&p, d);
  assert(read);
  (void)read;
  p.d = d;
  conv_plan_finish(&p);
  if (epilogue_is_long(d)) {
    p.spill = kernel_alloc(&k->b, p.accumulator, CONV_MAX_ACCUMULATORS * p.lanes, IR_SPACE_PRIVATE);
  }
  bool dynamic = p.images == IR_DYNAMIC;
  int64_t blocks = p.groups * p.blocks, block_parts, row_parts;
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
  kernel_loop_t over_blocks = {0};
  if (!p.blocks_inside) {
    over_blocks = part_loop(k, block_id, block_parts, blocks);
    conv_enter_block(&p, over_blocks.index);
  }
  build_rows(&p, row_id, row_parts);
  if (!p.blocks_inside) kernel_for_end(&k->b, &over_blocks, NULL, 0);
  if (dynamic) kernel_for_end(&k->b, &over_images, NULL, 0);
}
