// Rows of an attention's operands on their way: memory to registers, registers to workgroup memory, and from there as
// fragments. See attention.h for how a tile lies in workgroup memory.
#include <assert.h>

#include "kernels/attention.h"

static int64_t threads_of(const attention_t* a) { return a->waves * a->f.row->subgroup; }

static int64_t piece_count(const attention_tile_t* t) { return t->size / t->part * (t->padded / t->width); }

// v's rows are read in the order in which its fragments have them.
static bool is_natural(const attention_t* a, product_side_t side) {
  const place_t* depths = fragment_depths(&a->f, side);
  for (int32_t i = 0; i < fragment_held(&a->f, side)->count; ++i) {
    if (!place_equal(&a->key_places[i], &depths[i])) return false;
  }
  return a->steps == 1;
}

// Loads as wide as there are pieces for all threads: of parts of runs where these are too few.
static void share_loads(const attention_t* a, attention_tile_t* t) {
  enum { LEAST = 4 };  // bytes of a part
  int64_t most = t->part, bytes = ir_type_bytes(t->element);
  for (; t->width > 1; t->width /= 2) {
    for (t->part = most; piece_count(t) % threads_of(a) && t->part * bytes > LEAST;) t->part /= 2;
    if (piece_count(t) % threads_of(a) == 0) return;
  }
  t->part = most;
}

bool attention_tile_plan(attention_t* a, attention_tile_t* t) {
  enum { LOAD_BYTES = 16, STORE_BYTES = 32, SHORT_GAP = 16, LONG_GAP = 32, MOST_PART = 4 };
  const device_info_t* device = a->f.product.d->device;
  int64_t bytes = ir_type_bytes(t->element);
  t->matrices = device->has_matrix_load && a->f.row->instruction && fragment_matrices(&a->f, t->side) &&
                (!t->is_right || (bytes == 2 && is_natural(a, t->side)));
  if (t->matrices) t->run = 1;
  t->part = t->run < MOST_PART ? t->run : MOST_PART;
  t->width = LOAD_BYTES / bytes;
  if (!a->arranged && t->width * t->run * bytes > STORE_BYTES) t->width = STORE_BYTES / (t->run * bytes);
  if (t->tensor && product_inner_dim(t->tensor) != a->rank - 1) t->width = 1;
  if (t->width < 1) t->width = 1;
  while (t->width > 1 && (t->columns % t->width || t->padded % t->width)) t->width /= 2;
  if (a->arranged && t->run > 1) share_loads(a, t);
  int64_t gap = (t->run > 1 ? LONG_GAP : SHORT_GAP) / bytes;
  t->stride = t->turned ? t->size + gap : t->padded * t->run + gap;
  t->planes = (fragment_planes_t){t->width, t->run, 0, t->stride};
  if (a->arranged && t->run > 1 && t->width > 1) {
    t->planes = fragment_planes(t->padded, t->width, t->run, bytes);
    t->stride = t->planes.stride;
  }
  t->elements = t->turned ? t->padded * t->stride : t->size / t->run * t->stride;
  t->pieces = ceil_div(piece_count(t), threads_of(a));
  if (!t->tensor) return true;
  t->copies = device->has_async_copy && t->run == 1 && !t->turned && t->width * bytes >= 4 &&
              product_value_copy_width(t->tensor, t->width) == t->width;
  return t->size % t->run == 0 && t->pieces <= ATTENTION_MAX_PIECES && t->pieces * t->part <= ATTENTION_MAX_LOADS;
}

void attention_tile_alloc(attention_t* a, attention_tile_t* t) {
  enum { ALIGN = 16 };
  kernel_build_t* k = &a->f.product.d->k;
  t->memory = kernel_alloc(&k->b, t->element, t->elements, IR_SPACE_WORKGROUP);
  ir_op_set_attr(k->ctx, t->memory->def, "align", ir_attr_i64(k->ctx, ALIGN));
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory to workgroup memory
//===----------------------------------------------------------------------------------------------------------------===

// Row and column in the tile of a thread's piece; `inside`, or NULL where the tile has it in any case.
static ir_value_t* piece_place(attention_t* a, const attention_tile_t* t, int64_t piece, linear_t* row,
                               linear_t* column) {
  kernel_build_t* k = &a->f.product.d->k;
  linear_t number = a->team.thread, high, low, part;
  number.constant += piece * threads_of(a);
  ir_value_t* inside = fragment_below(k, &number, piece_count(t));
  if (inside) number = fragment_clamp(k, number, piece_count(t), 1);
  linear_divide(k, number, t->run / t->part, &number, &part);
  linear_divide(k, number, t->padded / t->width, &high, &low);
  *row = linear_add(k, linear_scale(k, high, t->run), linear_scale(k, part, t->part));
  *column = linear_scale(k, low, t->width);
  return inside;
}

// i1: the row is one of the tensor's; NULL where it is in any case. Else `row` becomes the last.
static ir_value_t* row_exists(kernel_build_t* k, linear_t* row, const extent_t* rows) {
  if (extent_is_fixed(rows)) {
    ir_value_t* exists = fragment_below(k, row, rows->factor);
    if (exists) *row = fragment_clamp(k, *row, rows->factor, 1);
    return exists;
  }
  ir_value_t *size = extent_value(k, rows), *at = linear_scalar(k, row);
  ir_value_t* last = index_binary(k, SCALAR_add, size, index_constant(k, -1));
  ir_value_t* exists = kernel_binary(&k->b, SCALAR_lt, at, size);
  ir_value_t* safe = kernel_binary(&k->b, SCALAR_min, at, last);
  index_set_facts(k, safe, 0, index_facts(size).max, 1);
  *row = linear_value(safe);
  return exists;
}

// Coordinates of `width` elements of a row from a column on; `exists` becomes false also where there are no such.
static void row_coords(attention_t* a, const attention_tile_t* t, linear_t row, linear_t column, linear_t* coords,
                       ir_value_t** exists) {
  kernel_build_t* k = &a->f.product.d->k;
  for (int32_t i = 0; i < a->rank - 2; ++i) coords[i] = a->coords[i];
  ir_value_t* within = fragment_below(k, &column, t->columns);
  if (within) {
    column = fragment_clamp(k, column, t->columns, t->width);
    *exists = *exists ? kernel_binary(&k->b, SCALAR_and, *exists, within) : within;
  }
  coords[a->rank - 2] = row;
  coords[a->rank - 1] = column;
  coords[a->rank - 1].lane = t->width > 1;
}

// The elements; zeros where `exists` is not so.
static ir_value_t* load_row(attention_t* a, const attention_tile_t* t, linear_t row, linear_t column,
                            ir_value_t* exists) {
  kernel_build_t* k = &a->f.product.d->k;
  linear_t coords[GRAPH_MAX_RANK];
  row_coords(a, t, row, column, coords, &exists);
  k->lanes = t->width;
  ir_value_t* value = eval_lanes(k, t->tensor, coords);
  k->lanes = 1;
  if (!exists) return value;
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, exists, t->width), value,
                        kernel_number(&k->b, value->type, 0));
}

linear_t attention_placed_key(attention_t* a, linear_t place) {
  kernel_build_t* k = &a->f.product.d->k;
  linear_t block, rest, half, within;
  if (!a->exchanged) return place;
  linear_divide(k, place, a->other_size, &block, &rest);
  linear_divide(k, rest, a->other_size / 2, &half, &within);
  return linear_add(k, linear_scale(k, block, a->other_size), linear_add(k, linear_scale(k, within, 2), half));
}

uint32_t attention_tile_load(attention_t* a, const attention_tile_t* t, linear_t first, ir_value_t** out) {
  kernel_build_t* k = &a->f.product.d->k;
  uint32_t count = 0;
  for (int64_t i = 0; i < t->pieces; ++i) {
    linear_t row, column;
    piece_place(a, t, i, &row, &column);
    if (t->is_right) row = attention_placed_key(a, row);
    for (int64_t r = 0; r < t->part; ++r) {
      linear_t at = linear_add(k, first, row);
      at.constant += t->is_right && a->exchanged ? 2 * r : r;
      ir_value_t* exists = row_exists(k, &at, &t->rows);
      out[count++] = load_row(a, t, at, column, exists);
    }
  }
  return count;
}

// Element (row, column) of the tile.
static linear_t tile_offset(kernel_build_t* k, const attention_tile_t* t, linear_t row, linear_t column) {
  if (t->turned) return linear_add(k, linear_scale(k, column, t->stride), row);
  linear_t group, rest;
  linear_divide(k, row, t->run, &group, &rest);
  linear_t at = linear_add(k, linear_scale(k, group, t->stride), fragment_plane_place(k, &t->planes, column));
  return linear_add(k, at, rest);
}

void attention_tile_store(attention_t* a, const attention_tile_t* t, ir_value_t* const* loads) {
  kernel_build_t* k = &a->f.product.d->k;
  fragment_piece_t piece = {t->memory, t->width, t->part, t->turned && t->width > 1 ? t->stride : t->planes.plane};
  for (int64_t i = 0; i < t->pieces; ++i, loads += t->part) {
    linear_t row, column;
    ir_value_t* inside = piece_place(a, t, i, &row, &column);
    kernel_branch_t branch;
    if (inside) branch = kernel_if_begin(&k->b, inside, NULL, 0);
    fragment_store_piece(k, &piece, tile_offset(k, t, row, column), loads);
    if (inside) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

// A piece of one row; by a load and a store where it turns out not to lie in memory as it must.
static void copy_row(attention_t* a, const attention_tile_t* t, linear_t row, linear_t column, ir_value_t* exists,
                     linear_t to) {
  kernel_build_t* k = &a->f.product.d->k;
  linear_t coords[GRAPH_MAX_RANK], from;
  ir_value_t *inside = exists, *memory;
  row_coords(a, t, row, column, coords, &inside);
  k->lanes = t->width;
  bool fits = eval_place(k, t->tensor, coords, &memory, &from) && !from.vector && from.lane == (t->width > 1) &&
              linear_multiple(&from, t->width) == t->width;
  k->lanes = 1;
  if (!fits) {
    ir_value_t* value = load_row(a, t, row, column, exists);
    fragment_piece_t piece = {t->memory, t->width, 1, 0};
    fragment_store_piece(k, &piece, to, &value);
    return;
  }
  from.lane = 0;
  ir_value_t* operands[] = {memory, linear_scalar(k, &from), t->memory, linear_scalar(k, &to), inside};
  ir_op_t* copy = ir_build_op(&k->b, KERNEL_ASYNC_COPY, operands, inside ? 5 : 4, NULL);
  ir_op_set_attr(k->ctx, copy, "bytes", ir_attr_i64(k->ctx, t->width * ir_type_bytes(t->element)));
}

void attention_tile_copy(attention_t* a, const attention_tile_t* t, linear_t first) {
  kernel_build_t* k = &a->f.product.d->k;
  for (int64_t i = 0; i < t->pieces; ++i) {
    linear_t row, column;
    ir_value_t* inside = piece_place(a, t, i, &row, &column);
    linear_t at = linear_add(k, first, row), to = tile_offset(k, t, row, column);
    kernel_branch_t branch;
    if (inside) branch = kernel_if_begin(&k->b, inside, NULL, 0);
    ir_value_t* exists = row_exists(k, &at, &t->rows);
    copy_row(a, t, at, column, exists, to);
    if (inside) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

void attention_tile_bring(attention_t* a, const attention_tile_t* t, linear_t first) {
  ir_value_t* loads[ATTENTION_MAX_LOADS];
  if (a->async && t->copies) {
    attention_tile_copy(a, t, first);
    return;
  }
  attention_tile_load(a, t, first, loads);
  attention_tile_store(a, t, loads);
}

//===----------------------------------------------------------------------------------------------------------------===
// Fragments
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* widen(attention_t* a, ir_value_t* value) {
  return eval_convert(&a->f.product.d->k, value, a->multiplied);
}

// Puts `part`, some of the elements, where they belong; the whole fragment where they are all.
static ir_value_t* put(kernel_build_t* k, ir_value_t* into, ir_value_t* part, int32_t at, int32_t held) {
  int64_t count = kernel_lanes(part);
  if (count == held) return part;
  for (int64_t j = 0; j < count; ++j) {
    into = kernel_insert(&k->b, into, count > 1 ? kernel_extract(&k->b, part, j) : part, at + j);
  }
  return into;
}

ir_value_t* attention_tile_fragment(attention_t* a, const attention_tile_t* t, const attention_piece_t* p) {
  kernel_build_t* k = &a->f.product.d->k;
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, t->element, p->held), 0);
  for (int32_t i = 0; i < p->held; i += p->width) {
    place_t place = p->rows[i];
    int32_t run = (int32_t)t->run;
    linear_t column = fragment_at(&a->f, p->column, &p->columns[i]), at;
    if (run > 1) {  // groups of rows
      linear_t group, rest;
      place = (place_t){place.base / run, place.low / run, place.high / run};
      linear_divide(k, p->row, run, &group, &rest);
      group = fragment_at(&a->f, group, &place);
      at = linear_add(k, linear_scale(k, group, t->stride), fragment_plane_place(k, &t->planes, column));
    } else {
      at = tile_offset(k, t, fragment_at(&a->f, p->row, &place), column);
    }
    ir_value_t* value = kernel_load(&k->b, t->memory, linear_scalar(k, &at), p->width);
    eval_set_alignment(k, value->def, t->element, &at);
    result = put(k, result, value, i, p->held);
  }
  return widen(a, result);
}

int64_t attention_tile_batch(attention_t* a, const attention_tile_t* t) {
  enum { MATRICES = 4 };
  int64_t each = t->matrices ? fragment_matrices(&a->f, t->side) : MATRICES;
  return each < MATRICES ? MATRICES / each : 1;
}

void attention_tile_fragments(attention_t* a, const attention_tile_t* t, const attention_piece_t* p, int64_t count,
                              ir_value_t** out) {
  if (t->matrices) {
    linear_t free = t->is_right ? p->column : p->row, depth = t->is_right ? p->row : p->column;
    fragment_matrices_t from = {t->side, t->memory, linear_constant(0), t->stride, t->is_right, free, depth};
    fragments_load_matrices(&a->f, &from, 0, count, out);
    return;
  }
  attention_piece_t piece = *p;
  int64_t size = t->side == PRODUCT_LEFT ? a->f.row->m : a->f.row->n;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = attention_tile_fragment(a, t, &piece);
    linear_t* along = t->is_right ? &piece.column : &piece.row;
    along->constant += size;
  }
}

// Whether both halves of a subgroup hold the same of a fragment of queries, so that each may load half of it.
static bool halves_are_alike(const attention_t* a, const attention_piece_t* p) {
  if (!a->arranged || 2 * a->f.split != a->f.row->subgroup || p->held % 2) return false;
  for (int32_t i = 0; i < p->held; ++i) {
    place_t column = {p->columns[0].base + i, 0, 0};
    if (p->rows[i].high || !place_equal(&p->rows[i], &p->rows[0])) return false;
    if (!place_equal(&p->columns[i], &column)) return false;
  }
  return true;
}

ir_value_t* attention_query_fragment(attention_t* a, linear_t row, linear_t column) {
  kernel_build_t* k = &a->f.product.d->k;
  attention_piece_t p = attention_joined_piece(a, attention_side(a, true), row, column);
  bool shares = halves_are_alike(a, &p);
  int32_t held = shares ? p.held / 2 : p.held, width = p.width < held ? p.width : held;
  attention_tile_t part = a->q_tile;
  if (product_inner_dim(a->q) != a->rank - 1) width = 1;
  while (width > 1 && a->head % width) width /= 2;
  part.width = width;
  if (shares) {
    column = linear_add(k, column, linear_scale(k, a->f.high, held));
  }
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, a->element, held), 0);
  for (int32_t i = 0; i < held; i += width) {
    linear_t at = fragment_at(&a->f, row, &p.rows[i]);
    row_exists(k, &at, &part.rows);
    result = put(k, result, load_row(a, &part, at, fragment_at(&a->f, column, &p.columns[i]), NULL), i, held);
  }
  if (shares) result = attention_exchange_halves(a, result);
  return widen(a, result);
}
