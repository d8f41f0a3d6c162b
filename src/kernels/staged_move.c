// Operands of a product to workgroup memory: see staged.h, and staged.c for the layouts.
#include "kernels/staged.h"

static bool is_deep(const staged_side_t* side) { return side->along_depth || side->turns; }

void staged_find_pieces(staged_t* s, product_side_t which, linear_t thread) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  staged_side_t* side = &s->sides[which];
  bool deep = is_deep(side);
  int64_t inner = deep ? s->depth / side->width : side->size / side->width, threads = staged_threads(s);
  for (int64_t i = 0; i < side->pieces; ++i) {
    linear_t number = thread, high, low;
    number.constant += i * threads;
    linear_t neighbour = linear_constant(0);
    if (side->neighbours > 1) linear_divide(k, number, side->neighbours, &number, &neighbour);
    linear_t part;
    linear_divide(k, number, side->run / side->part, &number, &part);
    linear_divide(k, number, inner, &high, &low);
    high = linear_add(k, linear_scale(k, high, side->neighbours), neighbour);
    side->free[i] = deep ? high : linear_scale(k, low, side->width);
    linear_t first = linear_add(k, linear_scale(k, high, side->run), linear_scale(k, part, side->part));
    side->depth[i] = deep ? linear_scale(k, low, side->width) : first;
    if (which == PRODUCT_LEFT) continue;
    linear_t column = linear_add(k, side->first, side->free[i]);
    column = fragments_clamp_column(&s->f, column, deep ? 1 : side->width);
    side->columns[i] = product_column(p, column);
    if (!deep) side->columns[i].column.lane = side->width > 1;
  }
}

// What a load of a piece reads, with a lane along its vector. `exists`: i1, NULL where it always does; else zeros
// count.
static product_element_t find_element(staged_t* s, product_side_t which, int64_t piece, const product_tap_t* tap,
                                      linear_t depth, ir_value_t** exists) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  staged_side_t* side = &s->sides[which];
  bool deep = is_deep(side);
  *exists = fragment_below(k, &depth, p->depth);
  linear_t safe = fragment_clamp(k, depth, p->depth, deep ? side->width : 1);
  if (deep) safe.lane = side->width > 1;
  if (which == PRODUCT_RIGHT) {
    product_point_t point = product_point(p, &side->columns[piece], tap);
    return product_right_element(p, &side->columns[piece], &point, safe);
  }
  linear_t row = linear_add(k, side->first, side->free[piece]);
  row = fragments_clamp_row(&s->f, row, deep ? 1 : side->width);
  if (!deep) row.lane = side->width > 1;
  return product_left_element(p, row, tap, safe);
}

static ir_value_t* load_element(staged_t* s, product_side_t which, int64_t piece, const product_tap_t* tap,
                                linear_t depth) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t width = s->sides[which].width;
  ir_value_t* exists;
  k->lanes = width;
  ir_value_t* value = product_load(&s->f.product, find_element(s, which, piece, tap, depth, &exists));
  k->lanes = 1;
  value = kernel_splat(&k->b, value, kernel_lanes(value) == 1 ? width : 1);
  if (!exists) return value;
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, exists, width), value,
                        kernel_number(&k->b, value->type, 0));
}

// The window's place and the tile's first element of the depth at a step.
static linear_t find_step(staged_t* s, linear_t step, product_tap_t* tap) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  linear_t number = linear_constant(0), tile = step;
  if (p->taps > 1) linear_divide(k, step, staged_depths(s), &number, &tile);
  *tap = product_tap(p, number);
  return linear_scale(k, tile, s->depth);
}

uint32_t staged_load(staged_t* s, linear_t step, ir_value_t** out) {
  product_tap_t tap;
  linear_t first = find_step(s, step, &tap);
  uint32_t count = 0;
  for (int which = 0; which < 2; ++which) {
    const staged_side_t* side = &s->sides[which];
    for (int64_t i = 0; i < side->pieces; ++i) {
      for (int64_t r = 0; r < side->part; ++r) {
        linear_t depth = linear_add(&s->f.product.d->k, first, side->depth[i]);
        depth.constant += r;
        out[count++] = load_element(s, (product_side_t)which, i, &tap, depth);
      }
    }
  }
  return count;
}

linear_t staged_row_place(staged_t* s, const staged_side_t* side, linear_t row) {
  kernel_build_t* k = &s->f.product.d->k;
  if (side->rows == 1) return linear_scale(k, row, side->stride);
  linear_t group, rest;
  linear_divide(k, row, side->rows, &group, &rest);
  return linear_add(k, linear_scale(k, group, side->stride), linear_scale(k, rest, s->depth));
}

linear_t staged_free_place(staged_t* s, const staged_side_t* side, linear_t free) {
  kernel_build_t* k = &s->f.product.d->k;
  return fragment_plane_place(k, &(fragment_planes_t){side->width, side->run, side->plane, side->stride}, free);
}

// Where element `i` of a piece's loads is in workgroup memory.
static linear_t piece_place(staged_t* s, product_side_t which, int64_t piece, linear_t stage, int64_t i) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  linear_t major, minor = side->depth[piece], rest, at = linear_scale(k, stage, side->stage);
  if (side->along_depth) {
    at = linear_add(k, at, staged_row_place(s, side, side->free[piece]));
  } else {
    linear_t free = side->free[piece];
    free.constant += i;
    if (s->f.mixed && which == fragments_run_side(&s->f)) free = fragments_mixed_place(&s->f, free);
    linear_divide(k, side->depth[piece], side->run, &major, &rest);
    minor = linear_add(k, staged_free_place(s, side, free), rest);
    at = linear_add(k, at, linear_scale(k, major, side->stride));
  }
  return linear_add(k, at, minor);
}

static void store_piece(staged_t* s, const staged_side_t* side, linear_t at, ir_value_t* const* loads) {
  int64_t apart = side->turns && side->width > 1 ? side->stride : side->plane;
  fragment_piece_t piece = {side->memory, side->width, side->part, apart};
  fragment_store_piece(&s->f.product.d->k, &piece, at, loads);
}

// The same where each column of the loads has a place of its own.
static void store_columns(staged_t* s, product_side_t which, int64_t piece, linear_t stage, ir_value_t* const* loads) {
  const staged_side_t* side = &s->sides[which];
  fragment_piece_t column = {side->memory, 1, side->part, 0};
  for (int64_t i = 0; i < side->width; ++i) {
    fragment_store_column(&s->f.product.d->k, &column, piece_place(s, which, piece, stage, i), loads, i);
  }
}

void staged_store(staged_t* s, linear_t stage, ir_value_t* const* loads) {
  for (int which = 0; which < 2; ++which) {
    const staged_side_t* side = &s->sides[which];
    for (int64_t i = 0; i < side->pieces; ++i, loads += side->part) {
      if (s->f.mixed && !side->along_depth && (product_side_t)which == fragments_run_side(&s->f)) {
        store_columns(s, (product_side_t)which, i, stage, loads);
      } else {
        store_piece(s, side, piece_place(s, (product_side_t)which, i, stage, 0), loads);
      }
    }
  }
}

// One piece; by a load and a store where it turns out not to lie in memory as it must.
static void copy_piece(staged_t* s, const staged_copies_t* copies, product_side_t which, int64_t piece) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  linear_t depth = linear_add(k, copies->first, side->depth[piece]),
           to = piece_place(s, which, piece, copies->stage, 0);
  ir_value_t *exists, *memory;
  linear_t from;
  k->lanes = side->width;
  product_element_t element = find_element(s, which, piece, &copies->tap, depth, &exists);
  bool fits = eval_place(k, element.tensor, element.coords, &memory, &from) && !from.vector &&
              from.lane == (side->width > 1) && linear_multiple(&from, side->width) == side->width;
  k->lanes = 1;
  if (!fits) {
    ir_value_t* value = load_element(s, which, piece, &copies->tap, depth);
    store_piece(s, side, to, &value);
    return;
  }
  from.lane = 0;
  if (element.inside) exists = exists ? kernel_binary(&k->b, SCALAR_and, exists, element.inside) : element.inside;
  if (copies->exist) exists = exists ? kernel_binary(&k->b, SCALAR_and, exists, copies->exist) : copies->exist;
  ir_value_t* operands[] = {memory, linear_scalar(k, &from), side->memory, linear_scalar(k, &to), exists};
  ir_op_t* copy = ir_build_op(&k->b, KERNEL_ASYNC_COPY, operands, exists ? 5 : 4, NULL);
  if (side->cached) ir_op_set_attr(k->ctx, copy, "cached", ir_attr_i64(k->ctx, 1));
  ir_op_set_attr(k->ctx, copy, "bytes", ir_attr_i64(k->ctx, side->width * ir_type_bytes(s->f.element)));
}

staged_copies_t staged_copies_begin(staged_t* s, linear_t step, linear_t stage, ir_value_t* exist) {
  staged_copies_t copies = {.stage = stage, .exist = exist, .count = s->sides[0].pieces + s->sides[1].pieces};
  copies.first = find_step(s, step, &copies.tap);
  return copies;
}

void staged_copies_issue(staged_t* s, staged_copies_t* copies, int64_t until) {
  int64_t left = s->sides[PRODUCT_LEFT].pieces;
  for (; copies->done < until; ++copies->done) {
    bool right = copies->done >= left;
    copy_piece(s, copies, right ? PRODUCT_RIGHT : PRODUCT_LEFT, right ? copies->done - left : copies->done);
  }
}
