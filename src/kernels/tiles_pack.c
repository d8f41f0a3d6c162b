// The left operand's rows as tiles take them: [row][term][depth] in workgroup memory. A convolution's rows are pixels,
// and their depth the taps that they read, each with all of its channels. See tiles.h.
#include <string.h>

#include "kernels/tiles.h"

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

typedef struct row_loop_t {
  kernel_loop_t loop;
  linear_t row;     // of the operand; behind the last one, the last one
  linear_t offset;  // in the panel
} row_loop_t;

static row_loop_t begin_rows(tiles_t* t, ir_value_t* const* init, uint32_t count) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* end = kernel_add_const(&k->b, t->count, TILES_SIDE - 1);
  end = kernel_binary(&k->b, SCALAR_divu, end, kernel_index(&k->b, TILES_SIDE));
  end = kernel_mul_const(&k->b, end, TILES_SIDE);
  int64_t constant;
  if (!kernel_constant_index(end, &constant)) index_set_facts(k, end, TILES_SIDE, t->row_block, TILES_SIDE);
  row_loop_t rows = {.loop = kernel_loop_begin(k, kernel_index(&k->b, 0), end, 1, init, count)};
  ir_value_t* last = kernel_add_const(&k->b, t->count, -1);
  ir_value_t* row = kernel_add(&k->b, t->first_row, kernel_binary(&k->b, SCALAR_min, rows.loop.index, last));
  if (!kernel_constant_index(row, &constant)) index_set_facts(k, row, 0, INT32_MAX, 1);
  rows.row = linear_value(row);
  rows.offset = linear_scale(k, linear_value(rows.loop.index), t->w.terms * t->stride);
  return rows;
}

void tiles_row(tiles_t* t, linear_t row, linear_t* coords) {
  kernel_build_t* k = &t->d->k;
  if (!t->is_conv) {
    coords[0] = row;
    return;
  }
  linear_t at[1 + GRAPH_MAX_SPATIAL];
  const ir_value_t* y = ir_result(t->op, 0);
  iterations_split_extents(k, row, t->row_sizes, y->type->rank - 1, at);
  for (int32_t i = 0; i < y->type->rank; ++i) {
    char letter = t->conv.y_layout[i];
    if (letter != 'c') coords[i] = at[letter == 'n' ? 0 : 1 + (letter - '0')];
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// Whether lanes are beyond TILES_LEAST_BITS and TILES_MOST_BITS: a vector of i1. `bits`: of f32 or bf16 ones.
static ir_value_t* is_extreme(kernel_build_t* k, ir_value_t* bits) {
  const ir_type_t* type = bits->type;
  int64_t drop = ir_type_scalar(type)->width == 16 ? 16 : 0;
  int64_t all = 0x7fffffff >> drop, least = TILES_LEAST_BITS >> drop, most = TILES_MOST_BITS >> drop;
  ir_value_t* magnitude = kernel_binary(&k->b, SCALAR_and, bits, kernel_integer(&k->b, type, all));
  ir_value_t* above = kernel_binary(&k->b, SCALAR_sub, magnitude, kernel_integer(&k->b, type, least));
  ir_value_t* far = kernel_binary(&k->b, SCALAR_geu, above, kernel_integer(&k->b, type, most - least));
  ir_value_t* some = kernel_binary(&k->b, SCALAR_ne, magnitude, kernel_integer(&k->b, type, 0));
  return kernel_binary(&k->b, SCALAR_and, far, some);
}

static ir_value_t* cast_bits(kernel_build_t* k, ir_value_t* x, const ir_type_t* scalar) {
  return kernel_cast(&k->b, SCALAR_bitcast, x, scalar);
}

// Stores numbers, or the terms of them, from `offset` on; notes in `extreme`, unless NULL, which are no moderate ones.
static void store_terms(tiles_t* t, ir_value_t* x, linear_t offset, ir_value_t** extreme) {
  kernel_build_t* k = &t->d->k;
  const ir_type_t *i32 = ir_type_int(k->ctx, 32), *i16 = ir_type_int(k->ctx, 16),
                  *bf16 = ir_type_float(k->ctx, IR_BF16);
  if (!extreme) {
    kernel_store(&k->b, x, t->panel, linear_scalar(k, &offset));
    return;
  }
  ir_value_t* bits = cast_bits(k, x, t->w.terms > 1 ? i32 : i16);
  *extreme = kernel_binary(&k->b, SCALAR_or, *extreme, is_extreme(k, bits));
  if (t->w.terms == 1) {
    kernel_store(&k->b, x, t->panel, linear_scalar(k, &offset));
    return;
  }
  const ir_type_t* type = bits->type;
  for (int64_t i = 0; i < t->w.terms; ++i, offset.constant += t->stride) {
    if (i) bits = cast_bits(k, x, i32);
    bits = kernel_binary(&k->b, SCALAR_add, bits, kernel_integer(&k->b, type, 0x8000));
    ir_value_t* high = kernel_binary(&k->b, SCALAR_shru, bits, kernel_integer(&k->b, type, 16));
    ir_value_t* term = cast_bits(k, kernel_cast(&k->b, SCALAR_cast, high, i16), bf16);
    kernel_store(&k->b, term, t->panel, linear_scalar(k, &offset));
    if (i + 1 == t->w.terms) break;
    bits = kernel_binary(&k->b, SCALAR_and, bits, kernel_integer(&k->b, type, -0x10000));
    x = kernel_binary(&k->b, SCALAR_sub, x, cast_bits(k, bits, ir_type_scalar(x->type)));
  }
}

// i1: nothing was extreme.
static ir_value_t* end_rows(tiles_t* t, row_loop_t* rows, ir_value_t* extreme) {
  kernel_build_t* k = &t->d->k;
  kernel_for_end(&k->b, &rows->loop, &extreme, 1);
  ir_value_t* any = kernel_reduce(&k->b, kernel_loop_result(&rows->loop, 0), "or");
  return kernel_binary(&k->b, SCALAR_xor, any, kernel_integer(&k->b, any->type, 1));
}

typedef struct number_row_t {
  tiles_t* t;
  linear_t row, depth, offset;
} number_row_t;

static void pack_numbers(dispatch_t* d, linear_t at, ir_value_t** extreme, void* user) {
  number_row_t* f = user;
  kernel_build_t* k = &d->k;
  linear_t coords[] = {f->row, linear_add(k, f->depth, at)}, offset = at;
  ir_value_t* x = eval_lanes(k, ir_operand(f->t->op, 0), coords);
  if (k->mask) x = kernel_ternary(&k->b, SCALAR_select, k->mask, x, kernel_number(&k->b, x->type, 0));
  offset.lane = 0;
  store_terms(f->t, x, linear_add(k, f->offset, offset), f->t->w.group == 4 ? NULL : extreme);
}

static ir_value_t* pack_number_rows(tiles_t* t, linear_t depth) {
  kernel_build_t* k = &t->d->k;
  bool bytes = t->w.group == 4;
  int64_t lanes = bytes ? KERNEL_TILE_ROW_BYTES : 16, size = t->depth_blocks > 1 ? t->depth_block : t->w.depth;
  ir_value_t* extreme = kernel_integer(&k->b, kernel_vector_type(k->ctx, ir_type_int(k->ctx, 1), 16), 0);
  uint32_t count = bytes ? 0 : 1;
  row_loop_t rows = begin_rows(t, &extreme, count);
  number_row_t f = {t, rows.row, depth, rows.offset};
  if (count) extreme = rows.loop.iters[0];
  strips(t->d, size, lanes, &extreme, count, pack_numbers, &f);
  for (int64_t i = (size + lanes - 1) / lanes * lanes; i < t->depth_block; i += lanes) {
    ir_value_t* zero = kernel_number(&k->b, kernel_vector_type(k->ctx, t->panel->type->element, lanes), 0);
    for (int64_t term = 0; term < t->w.terms; ++term) {
      linear_t offset = rows.offset;
      offset.constant += term * t->stride + i;
      kernel_store(&k->b, zero, t->panel, linear_scalar(k, &offset));
    }
  }
  if (count) return end_rows(t, &rows, extreme);
  kernel_for_end(&k->b, &rows.loop, NULL, 0);
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pixels
//===----------------------------------------------------------------------------------------------------------------===

// Which tap a block of the depth is of, where it is of one; and its first channel.
static linear_t find_tap(tiles_t* t, linear_t number, linear_t* taps) {
  kernel_build_t* k = &t->d->k;
  const ir_type_t* w = ir_operand(t->op, 1)->type;
  int64_t sizes[GRAPH_MAX_RANK];
  linear_t at[GRAPH_MAX_RANK];
  int32_t spatial = w->rank - 2;
  for (int32_t i = 0; i < spatial; ++i) sizes[i] = w->dims[i];
  sizes[spatial] = w->dims[spatial] / t->depth_block;
  iterations_split(k, number, sizes, spatial + 1, at);
  memcpy(taps, at, sizeof(*at) * (size_t)spatial);
  return linear_scale(k, at[spatial], t->depth_block);
}

// i1: the position is one of the image's, NULL: always.
static ir_value_t* is_inside(tiles_t* t, int32_t dim, int32_t axis, linear_t at) {
  kernel_build_t* k = &t->d->k;
  if (!t->conv.pad_low[dim] && !t->conv.pad_high[dim]) return NULL;
  ir_value_t *x = linear_scalar(k, &at), *size = eval_size(k, ir_operand(t->op, 0), axis);
  return kernel_binary(&k->b, SCALAR_ltu, x, size);
}

static tiles_left_t find_pixel(tiles_t* t, linear_t row, const linear_t* taps) {
  kernel_build_t* k = &t->d->k;
  const graph_conv_t* c = &t->conv;
  linear_t y[GRAPH_MAX_RANK];
  tiles_row(t, row, y);
  tiles_left_t pixel = {.axis = graph_layout_axis(c->x_layout, 'c')};
  pixel.coords[graph_layout_axis(c->x_layout, 'n')] = y[graph_layout_axis(c->y_layout, 'n')];
  for (int32_t i = 0; i + 2 < ir_operand(t->op, 0)->type->rank; ++i) {
    int32_t axis = graph_layout_axis(c->x_layout, (char)('0' + i));
    linear_t at = linear_scale(k, y[graph_layout_axis(c->y_layout, (char)('0' + i))], c->strides[i]);
    at = linear_add(k, at, linear_scale(k, taps[i], c->w_dilation[i]));
    at.constant -= c->pad_low[i];
    ir_value_t *here = is_inside(t, i, axis, at), *before = pixel.inside;
    pixel.inside = before && here ? kernel_binary(&k->b, SCALAR_and, before, here) : here ? here : before;
    pixel.coords[axis] = at;
  }
  return pixel;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pixels of bytes
//===----------------------------------------------------------------------------------------------------------------===

typedef struct tap_row_t {
  tiles_t* t;
  tiles_left_t pixel;
  linear_t channel;  // first
  linear_t offset;   // in the panel
  bool zero;         // outside of the image
} tap_row_t;

static void pack_channels(dispatch_t* d, linear_t at, ir_value_t** none, void* user) {
  tap_row_t* r = user;
  kernel_build_t* k = &d->k;
  (void)none;
  ir_value_t* x = NULL;
  if (r->zero) {
    x = kernel_integer(&k->b, kernel_vector_type(k->ctx, r->t->panel->type->element, k->lanes), 0);
  } else {
    r->pixel.coords[r->pixel.axis] = at;
    x = eval_lanes(k, ir_operand(r->t->op, 0), r->pixel.coords);
  }
  linear_t offset = at;
  offset.lane = 0;
  offset = linear_add(k, r->offset, offset);
  ir_value_t* place = linear_scalar(k, &offset);
  if (k->mask) {
    kernel_store_masked(&k->b, x, r->t->panel, place, k->mask);
  } else {
    kernel_store(&k->b, x, r->t->panel, place);
  }
}

// Channels that are together in memory.
static int64_t run_of(const tiles_t* t, int64_t channels) {
  const ir_value_t* x = ir_operand(t->op, 0);
  int64_t tile = 0, most = KERNEL_TILE_ROW_BYTES;
  if (x->def && ir_is(x->def, GRAPH_UNPACK) && graph_attr_one(x->def, GRAPH_ATTR_tiles, &tile) == 1 && tile < most) {
    most = tile;
  }
  while (most > 1 && most / 2 >= channels) most /= 2;
  return most;
}

static void pack_tap(tiles_t* t, tap_row_t* r) {
  kernel_build_t* k = &t->d->k;
  int64_t channels = ir_operand(t->op, 0)->type->dims[r->pixel.axis], lanes = run_of(t, channels);
  kernel_branch_t branch = {0};
  if (r->pixel.inside) branch = kernel_if_begin(&k->b, r->pixel.inside, NULL, 0);
  r->zero = false;
  strips(t->d, channels, lanes, NULL, 0, pack_channels, r);
  if (!r->pixel.inside) return;
  kernel_if_else(&k->b, &branch, NULL, 0);
  r->zero = true;
  strips(t->d, channels, lanes, NULL, 0, pack_channels, r);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

// All taps of each row.
static void pack_byte_pixels(tiles_t* t) {
  kernel_build_t* k = &t->d->k;
  const ir_type_t* w = ir_operand(t->op, 1)->type;
  linear_t taps[GRAPH_MAX_SPATIAL], tap = linear_constant(0);
  row_loop_t rows = begin_rows(t, NULL, 0);
  kernel_loop_t loops[GRAPH_MAX_SPATIAL] = {0};
  for (int32_t i = 0; i + 2 < w->rank; ++i) {
    taps[i] = linear_constant(0);
    tap = linear_scale(k, tap, w->dims[i]);
    if (w->dims[i] == 1) continue;
    loops[i] = kernel_loop_constant(k, 0, w->dims[i], 1, NULL, 0);
    taps[i] = linear_value(loops[i].index);
    tap = linear_add(k, tap, taps[i]);
  }
  tap_row_t r = {.t = t, .pixel = find_pixel(t, rows.row, taps)};
  r.offset = linear_add(k, rows.offset, linear_scale(k, tap, w->dims[w->rank - 2]));
  pack_tap(t, &r);
  for (int32_t i = w->rank - 2; i-- > 0;) {
    if (loops[i].op) kernel_for_end(&k->b, &loops[i], NULL, 0);
  }
  if (t->w.depth < t->depth_block) {  // what this writes behind the row's end is the next row's
    linear_t end = rows.offset;
    end.constant += t->w.depth;
    const ir_type_t* zeros = kernel_vector_type(k->ctx, t->panel->type->element, KERNEL_TILE_ROW_BYTES);
    kernel_store(&k->b, kernel_integer(&k->b, zeros, 0), t->panel, linear_scalar(k, &end));
  }
  kernel_for_end(&k->b, &rows.loop, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Pixels of floats
//===----------------------------------------------------------------------------------------------------------------===

static void pack_channel_terms(dispatch_t* d, linear_t at, ir_value_t** extreme, void* user) {
  tap_row_t* r = user;
  kernel_build_t* k = &d->k;
  linear_t offset = at;
  offset.lane = 0;
  offset = linear_add(k, r->offset, offset);
  if (!r->zero) {
    r->pixel.coords[r->pixel.axis] = linear_add(k, r->channel, at);
    store_terms(r->t, eval_lanes(k, ir_operand(r->t->op, 0), r->pixel.coords), offset, extreme);
    return;
  }
  ir_value_t* zero = kernel_number(&k->b, kernel_vector_type(k->ctx, r->t->panel->type->element, k->lanes), 0);
  for (int64_t i = 0; i < r->t->w.terms; ++i, offset.constant += r->t->stride) {
    kernel_store(&k->b, zero, r->t->panel, linear_scalar(k, &offset));
  }
}

// One tap's channels, or some of them.
static ir_value_t* pack_float_pixels(tiles_t* t, linear_t number) {
  enum { LANES = 16 };
  kernel_build_t* k = &t->d->k;
  linear_t taps[GRAPH_MAX_SPATIAL];
  tap_row_t r = {.t = t, .channel = find_tap(t, number, taps)};
  ir_value_t* extreme = kernel_integer(&k->b, kernel_vector_type(k->ctx, ir_type_int(k->ctx, 1), LANES), 0);
  const ir_type_t* type = extreme->type;
  row_loop_t rows = begin_rows(t, &extreme, 1);
  r.pixel = find_pixel(t, rows.row, taps);
  r.offset = rows.offset;
  ir_value_t *before = rows.loop.iters[0], *after = before;
  kernel_branch_t branch = {0};
  if (r.pixel.inside) branch = kernel_if_begin(&k->b, r.pixel.inside, &type, 1);
  strips(t->d, t->depth_block, LANES, &after, 1, pack_channel_terms, &r);
  if (r.pixel.inside) {
    kernel_if_else(&k->b, &branch, &after, 1);
    r.zero = true;
    strips(t->d, t->depth_block, LANES, NULL, 0, pack_channel_terms, &r);
    kernel_if_end(&k->b, &branch, &before, 1);
    after = ir_result(branch.op, 0);
  }
  return end_rows(t, &rows, after);
}

tiles_left_t tiles_left(tiles_t* t, linear_t row, linear_t number) {
  kernel_build_t* k = &t->d->k;
  tiles_left_t left = {.coords = {row, linear_scale(k, number, t->depth_block)}, .axis = 1};
  if (!t->is_conv) return left;
  linear_t taps[GRAPH_MAX_SPATIAL], channel = find_tap(t, number, taps);
  left = find_pixel(t, row, taps);
  left.coords[left.axis] = channel;
  return left;
}

ir_value_t* tiles_pack(tiles_t* t, linear_t number) {
  if (!t->is_conv) return pack_number_rows(t, linear_scale(&t->d->k, number, t->depth_block));
  if (t->w.group < 4) return pack_float_pixels(t, number);
  pack_byte_pixels(t);
  return NULL;
}
