// Contractions and convolutions on CPUs by matrix instructions on tile registers.
//
//   workgroup (rows, columns): for each block of the depth:
//                                write rows of the left operand into a panel (tiles_pack.c)
//                                for each panel of weights: for each 32 rows:
//                                  four tiles of results += two tiles of rows x two of weights, along the depth
// Weights are packed at compile time (layout_tiles.c), which chooses this strategy. Numbers of f32 are three terms of
// bf16 each, of whose nine products the six largest are added: what is left out is below a rounding of f32. Tile
// registers take denormal numbers for zeros and three terms do not make an infinite one, so rows in which there are
// numbers that could lead there are multiplied one by one. Results go through memory to the epilogue. A convolution's
// panel holds the pixels that its taps read, zeros where those are outside of the image.
#include "kernels/tiles.h"

#include <assert.h>
#include <string.h>

#include "kernels/layout_tiles.h"

bool strategy_tiles_proposes(const dispatch_t* d, candidate_t* c) {
  tiles_weights_t w;
  if (!candidate_evaluates(d, NULL, c)) return false;
  if (!layout_tiles_instruction(d->device, d->root))
    return candidate_declines(c, "no tile registers multiply the type");
  return tiles_read_weights(d->root, &w) || candidate_declines(c, "the weights are not packed for tile registers");
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes
//===----------------------------------------------------------------------------------------------------------------===

static void read_rows(tiles_t* t) {
  const ir_value_t* y = ir_result(t->op, 0);
  t->is_conv = ir_is(t->op, GRAPH_CONV);
  if (!t->is_conv) {
    t->rows = eval_extent(ir_operand(t->op, 0), 0);
    return;
  }
  t->conv = graph_conv_read(t->op);
  t->rows = extent_fixed(1);
  for (int32_t i = 0; i < y->type->rank; ++i) {
    char letter = t->conv.y_layout[i];
    if (letter != 'c') t->row_sizes[letter == 'n' ? 0 : 1 + (letter - '0')] = eval_extent(y, i);
  }
  for (int32_t i = 0; i + 1 < y->type->rank; ++i) t->rows = extent_product(t->rows, t->row_sizes[i]);
}

// Of the second-level cache, of which not every device tells.
static int64_t cache_bytes(const device_info_t* device) { return device->l2_bytes > 0 ? device->l2_bytes : 1 << 20; }

// Blocks of rows whose panel leaves most of the second-level cache to weights and results, and of the depth, of which
// what a square of results reads of either operand is about as large as the first level.
static void plan_blocks(tiles_t* t) {
  enum { MOST_BLOCKS = 32, MOST_ROWS = 128, SPREAD = 4, CONFLICT = 512 };
  int64_t bytes = 4 / t->w.group, l2 = cache_bytes(t->d->device);
  int64_t l1 = t->d->device->l1_bytes > 0 ? t->d->device->l1_bytes : 32 << 10, most = l2 / 4,
          rows = extent_is_fixed(&t->rows) ? t->rows.factor : MOST_ROWS;
  bool taps = t->is_conv && t->w.group < 4;  // a block of the depth is of one tap
  int64_t whole = taps ? ir_operand(t->op, 1)->type->dims[ir_operand(t->op, 1)->type->rank - 2] : t->w.depth;
  t->depth_block = ceil_div(whole, t->chunk) * t->chunk;
  for (int64_t n = 2; n <= MOST_BLOCKS && t->depth_block * bytes * t->w.terms * TILES_PANEL > l1; ++n) {
    if ((!t->is_conv || taps) && whole % (n * t->chunk) == 0) t->depth_block = whole / n;
  }
  t->depth_blocks = ceil_div(t->w.depth, t->depth_block);
  t->stride = t->depth_block;
  while (t->stride * t->w.terms * bytes % CONFLICT == 0) t->stride += KERNEL_TILE_ROW_BYTES / bytes;
  int64_t fit = most / (t->stride * t->w.terms * bytes) / TILES_PANEL * TILES_PANEL;
  fit = fit < TILES_PANEL ? TILES_PANEL : fit > MOST_ROWS ? MOST_ROWS : fit;
  int64_t blocks = ceil_div(rows, fit);
  if (rows > MOST_ROWS && blocks < SPREAD) blocks = SPREAD;
  t->row_block = ceil_div(ceil_div(rows, blocks), TILES_PANEL) * TILES_PANEL;
}

// Workgroups that share the columns: each writes the panel for itself, so they have many.
static int64_t plan_columns(tiles_t* t) {
  enum { COLUMNS = 384, MOST = 8, MOST_KEPT = 1024 };
  int64_t panels = ceil_div(t->w.columns, TILES_PANEL), groups = t->w.columns / COLUMNS;
  if (extent_is_fixed(&t->rows) && t->rows.factor >= MOST * t->row_block) groups = 1;
  int64_t least = t->depth_blocks > 1 ? ceil_div(t->w.columns, MOST_KEPT) : 1;
  groups = groups > MOST ? MOST : groups;
  groups = groups < least ? least : groups;
  t->group_panels = ceil_div(panels, groups);
  return ceil_div(panels, t->group_panels);
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

// Columns of what is kept of results: a panel's, or all of the workgroup's until the last block of the depth.
static int64_t kept_columns(const tiles_t* t) { return TILES_PANEL * (t->depth_blocks > 1 ? t->group_panels : 1); }

// Where results are kept: rows `first` (a multiple of 32) + `row` of the block.
static linear_t kept_at(tiles_t* t, linear_t first, linear_t row, ir_value_t* panel) {
  kernel_build_t* k = &t->d->k;
  if (t->depth_blocks == 1) return linear_scale(k, row, TILES_PANEL);
  linear_t at = linear_scale(k, linear_add(k, first, row), kept_columns(t));
  linear_t column = linear_add(k, linear_value(panel), linear_scale(k, linear_value(t->lower), -1));
  return linear_add(k, at, linear_scale(k, column, TILES_PANEL));
}

// The epilogue of one row of a panel.
static void finish_row(tiles_t* t, linear_t first, linear_t row, ir_value_t* panel) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* result = ir_result(t->op, 0);
  linear_t coords[GRAPH_MAX_RANK], kept = kept_at(t, first, row, panel), y = linear_add(k, first, row);
  y = linear_add(k, y, linear_value(t->first_row));
  tiles_row(t, y, coords);
  int32_t axis = t->is_conv ? graph_layout_axis(t->conv.y_layout, 'c') : 1;
  for (int64_t v = 0; v < TILES_PANEL; v += TILES_SIDE) {
    linear_t column = linear_scale(k, linear_value(panel), TILES_PANEL), at = kept;
    column.constant += v;
    at.constant += v;
    ir_value_t* value = kernel_load(&k->b, t->partial, linear_scalar(k, &at), TILES_SIDE);
    k->lanes = TILES_SIDE;
    if (t->w.columns % TILES_PANEL) {
      linear_t left = linear_scale(k, column, -1);
      left.constant += t->w.columns;
      k->mask = lanes_below(k, TILES_SIDE, linear_scalar(k, &left));
    }
    column.lane = 1;
    coords[axis] = column;
    eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
    epilogue_store(t->d, result, coords);
    result->data = NULL;
    k->mask = NULL;
    k->lanes = 1;
  }
}

static void finish_rows(tiles_t* t, linear_t first, int64_t rows, ir_value_t* panel) {
  kernel_build_t* k = &t->d->k;
  linear_t left = linear_add(k, linear_value(t->count), linear_scale(k, first, -1));
  ir_value_t* end = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &left), kernel_index(&k->b, rows));
  int64_t constant;
  if (!kernel_constant_index(end, &constant)) index_set_facts(k, end, 0, rows, 1);
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), end, 1, NULL, 0);
  finish_row(t, first, linear_value(loop.index), panel);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Tiles
//===----------------------------------------------------------------------------------------------------------------===

// Four tiles at most of results at work.
typedef struct square_t {
  int64_t sides;  // tiles of rows: 1 or 2
  linear_t first;
  ir_value_t *panel, *next;  // of weights; the next one, or NULL
  ir_value_t* acc[4];
} square_t;

static ir_value_t* load_rows(tiles_t* t, linear_t at, int64_t side, int64_t term) {
  kernel_build_t* k = &t->d->k;
  int64_t stride = t->w.terms * t->stride;
  at.constant += side * TILES_SIDE * stride + term * t->stride;
  return kernel_load_tile(&k->b, t->panel, linear_scalar(k, &at), index_constant(k, stride));
}

static ir_value_t* load_weights(tiles_t* t, linear_t at, int64_t side, int64_t term) {
  kernel_build_t* k = &t->d->k;
  at.constant += (term * TILES_SIDE * TILES_PANEL + side * TILES_SIDE) * t->w.group;
  const source_t* source = t->w.arg->data;
  return kernel_load_tile(&k->b, source->memory, linear_scalar(k, &at), index_constant(k, TILES_PANEL * t->w.group));
}

static ir_value_t* multiply(tiles_t* t, ir_value_t* a, ir_value_t* b, ir_value_t* c) {
  kernel_build_t* k = &t->d->k;
  ir_value_t *operands[] = {a, b, c}, *d = ir_build_value(&k->b, KERNEL_MMA, operands, 3, c->type);
  ir_op_set_attr(k->ctx, d->def, "instruction", ir_attr_cstring(k->ctx, t->mma->instruction));
  return d;
}

// Products of terms in such an order that tiles are loaded seldom, the smallest first as far as that goes. -1: the
// tiles that are there.
typedef struct product_t {
  int8_t a, b;
} product_t;
static const product_t one_term[] = {{0, 0}};
static const product_t three_terms[] = {{2, 0}, {1, -1}, {-1, 1}, {0, -1}, {-1, 0}, {-1, 2}};

// While a panel is multiplied by all rows, the next one comes nearer: at each step what the square's share of it is.
static void prefetch_weights(tiles_t* t, const square_t* s, linear_t next, int64_t tile) {
  enum { LINE = 64, SECOND_LEVEL = 2 };
  kernel_build_t* k = &t->d->k;
  int64_t line = LINE / (4 / t->w.group), squares = t->row_block / TILES_PANEL;
  int64_t lines = ceil_div(tile / line, squares);
  const source_t* source = t->w.arg->data;
  next = linear_add(k, next, linear_scale(k, s->first, lines * line / TILES_PANEL));
  for (int64_t i = 0; i < lines; ++i, next.constant += line) {
    kernel_prefetch(&k->b, source->memory, linear_scalar(k, &next), SECOND_LEVEL, false);
  }
}

// One step along the depth, `chunk` counted in the block.
static void multiply_chunk(tiles_t* t, square_t* s, linear_t chunk, linear_t first_chunk) {
  kernel_build_t* k = &t->d->k;
  linear_t rows = linear_scale(k, s->first, t->w.terms * t->stride);
  rows = linear_add(k, rows, linear_scale(k, chunk, t->chunk));
  int64_t tile = TILES_SIDE * TILES_PANEL * t->w.group * t->w.terms, panel = ceil_div(t->w.depth, t->chunk) * tile;
  linear_t step = linear_scale(k, linear_add(k, first_chunk, chunk), tile);
  linear_t weights = linear_add(k, step, linear_scale(k, linear_value(s->panel), panel));
  if (s->next) prefetch_weights(t, s, linear_add(k, step, linear_scale(k, linear_value(s->next), panel)), tile);
  const product_t* products = t->w.terms > 1 ? three_terms : one_term;
  int64_t count = t->w.terms > 1 ? sizeof(three_terms) / sizeof(three_terms[0]) : 1;
  ir_value_t *a[2] = {0}, *b[2] = {0};
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t at = 0; at < 2 * s->sides; ++at) {
      int64_t row = at / 2, column = at % 2;
      if (products[i].a >= 0 && column == 0) a[row] = load_rows(t, rows, row, products[i].a);
      if (products[i].b >= 0 && row == 0) b[column] = load_weights(t, weights, column, products[i].b);
      s->acc[at] = multiply(t, a[row], b[column], s->acc[at]);
    }
  }
}

// Moves the square's tiles from or to where results are kept.
static void keep_square(tiles_t* t, square_t* s, bool store) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* stride = index_constant(k, kept_columns(t));
  for (int64_t i = 0; i < 2 * s->sides; ++i) {
    linear_t at = kept_at(t, s->first, linear_constant(i / 2 * TILES_SIDE), s->panel);
    at.constant += i % 2 * TILES_SIDE;
    ir_value_t* place = linear_scalar(k, &at);
    if (store) {
      kernel_store_tile(&k->b, s->acc[i], t->partial, place, stride);
    } else {
      s->acc[i] = kernel_load_tile(&k->b, t->partial, place, stride);
    }
  }
}

static void build_square(tiles_t* t, square_t* s, linear_t first_chunk) {
  kernel_build_t* k = &t->d->k;
  uint32_t count = (uint32_t)(2 * s->sides);
  if (t->depth_blocks == 1) {
    const ir_type_t* type = kernel_vector_type(k->ctx, t->accumulator, TILES_SIDE * TILES_SIDE);
    ir_value_t* zero = kernel_number(&k->b, type, 0);
    for (uint32_t i = 0; i < count; ++i) s->acc[i] = zero;
  } else {
    keep_square(t, s, false);
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, t->depth_block / t->chunk, 1, s->acc, count);
  for (uint32_t i = 0; i < count; ++i) s->acc[i] = loop.iters[i];
  multiply_chunk(t, s, linear_value(loop.index), first_chunk);
  kernel_for_end(&k->b, &loop, s->acc, count);
  for (uint32_t i = 0; i < count; ++i) s->acc[i] = kernel_loop_result(&loop, i);
  keep_square(t, s, true);
  if (t->depth_blocks == 1) finish_rows(t, s->first, s->sides * TILES_SIDE, s->panel);
}

// All rows of the block by all panels: two tiles of rows at a time, at the end one where that is enough.
static void multiply_tiles(tiles_t* t, linear_t first_chunk) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* two = kernel_add_const(&k->b, t->count, TILES_SIDE - 1);
  two = kernel_binary(&k->b, SCALAR_divu, two, kernel_index(&k->b, TILES_PANEL));
  two = kernel_mul_const(&k->b, two, TILES_PANEL);
  int64_t constant;
  if (!kernel_constant_index(two, &constant)) index_set_facts(k, two, 0, t->row_block, TILES_PANEL);
  kernel_loop_t panels = kernel_loop_begin(k, t->lower, t->upper, 1, NULL, 0);
  ir_value_t *next = NULL, *last = kernel_add_const(&k->b, t->upper, -1);
  if (t->streams) {
    next = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, panels.index, 1), last);
    if (!kernel_constant_index(next, &constant)) index_set_facts(k, next, 0, INT32_MAX, 1);
  }
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), two, TILES_PANEL, NULL, 0);
  square_t s = {.sides = 2, .first = linear_value(loop.index), .panel = panels.index, .next = next};
  build_square(t, &s, first_chunk);
  kernel_for_end(&k->b, &loop, NULL, 0);
  ir_value_t* more = kernel_binary(&k->b, SCALAR_lt, two, t->count);
  bool some = !kernel_constant_index(two, &constant) || !kernel_constant_index(t->count, &constant);
  if (some || index_facts(two).min < index_facts(t->count).min) {
    kernel_branch_t branch = kernel_if_begin(&k->b, more, NULL, 0);
    s = (square_t){.sides = 1, .first = linear_value(two), .panel = panels.index};
    build_square(t, &s, first_chunk);
    kernel_if_end(&k->b, &branch, NULL, 0);
  }
  kernel_for_end(&k->b, &panels, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// One by one
//===----------------------------------------------------------------------------------------------------------------===

// A vector of a row: results so far, and products of the block of the depth that begins at `depth`.
static void multiply_vector(tiles_t* t, linear_t row, ir_value_t* panel, int64_t vector, linear_t number) {
  kernel_build_t* k = &t->d->k;
  const ir_type_t* type = kernel_vector_type(k->ctx, t->accumulator, TILES_SIDE);
  linear_t at = kept_at(t, t->depth_blocks > 1 ? row : linear_constant(0), linear_constant(0), panel);
  at.constant += vector;
  ir_value_t *place = linear_scalar(k, &at), *sum = kernel_number(&k->b, type, 0);
  if (t->depth_blocks > 1) sum = kernel_load(&k->b, t->partial, place, TILES_SIDE);
  tiles_left_t left = tiles_left(t, linear_add(k, linear_value(t->first_row), row), number);
  ir_value_t* size = kernel_index(&k->b, t->depth_blocks > 1 ? t->depth_block : t->w.depth);
  if (left.inside) {
    size = kernel_ternary(&k->b, SCALAR_select, left.inside, size, kernel_index(&k->b, 0));
    index_set_facts(k, size, 0, t->depth_block, 1);
  }
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), size, 1, &sum, 1);
  linear_t along = linear_add(k, linear_scale(k, number, t->depth_block), linear_value(loop.index)),
           column = linear_scale(k, linear_value(panel), TILES_PANEL);
  left.coords[left.axis] = linear_add(k, left.coords[left.axis], linear_value(loop.index));
  ir_value_t* a = eval_convert(k, eval_at(k, ir_operand(t->op, 0), left.coords), t->accumulator);
  column.constant += vector;
  column.lane = 1;
  k->lanes = TILES_SIDE;
  if (t->w.columns % TILES_PANEL) {
    linear_t left = linear_scale(k, column, -1);
    left.constant += t->w.columns;
    left.lane = 0;
    k->mask = lanes_below(k, TILES_SIDE, linear_scalar(k, &left));
  }
  ir_value_t* b = eval_lanes(k, t->w.matrix, (linear_t[]){along, column});
  b = eval_convert(k, b, t->accumulator);
  sum = eval_multiply_add(k, kernel_splat(&k->b, a, TILES_SIDE), b, loop.iters[0]);
  k->mask = NULL;
  k->lanes = 1;
  kernel_for_end(&k->b, &loop, &sum, 1);
  kernel_store(&k->b, kernel_loop_result(&loop, 0), t->partial, place);
}

static void multiply_plainly(tiles_t* t, linear_t number) {
  kernel_build_t* k = &t->d->k;
  kernel_loop_t panels = kernel_loop_begin(k, t->lower, t->upper, 1, NULL, 0);
  kernel_loop_t rows = kernel_loop_begin(k, kernel_index(&k->b, 0), t->count, 1, NULL, 0);
  linear_t row = linear_value(rows.index);
  for (int64_t v = 0; v < TILES_PANEL; v += TILES_SIDE) multiply_vector(t, row, panels.index, v, number);
  if (t->depth_blocks == 1) finish_row(t, row, linear_constant(0), panels.index);
  kernel_for_end(&k->b, &rows, NULL, 0);
  kernel_for_end(&k->b, &panels, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops around it
//===----------------------------------------------------------------------------------------------------------------===

// `before` (i1, or NULL): tiles took the blocks before; the result: this one, too. Sums that they would take for zeros
// stay with what made them.
static ir_value_t* multiply_block(tiles_t* t, linear_t number, ir_value_t* before) {
  kernel_build_t* k = &t->d->k;
  linear_t first_chunk = linear_scale(k, number, t->depth_block / t->chunk);
  ir_value_t* fits = tiles_pack(t, number);
  if (fits && before) fits = kernel_binary(&k->b, SCALAR_and, fits, before);
  kernel_branch_t branch = {0};
  if (fits) branch = kernel_if_begin(&k->b, fits, NULL, 0);
  multiply_tiles(t, first_chunk);
  if (!fits) return NULL;
  kernel_if_else(&k->b, &branch, NULL, 0);
  multiply_plainly(t, number);
  kernel_if_end(&k->b, &branch, NULL, 0);
  return fits;
}

static void clear_kept(tiles_t* t) {
  kernel_build_t* k = &t->d->k;
  kernel_loop_t loop = kernel_loop_constant(k, 0, t->row_block * kept_columns(t), TILES_SIDE, NULL, 0);
  ir_value_t* zero = kernel_number(&k->b, kernel_vector_type(k->ctx, t->accumulator, TILES_SIDE), 0);
  kernel_store(&k->b, zero, t->partial, loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// One block of rows.
static void build_rows(tiles_t* t) {
  kernel_build_t* k = &t->d->k;
  if (t->depth_blocks == 1) {
    multiply_block(t, linear_constant(0), NULL);
    return;
  }
  clear_kept(t);
  uint32_t flags = t->w.group < 4;
  ir_value_t* fits = kernel_integer(&k->b, ir_type_int(k->ctx, 1), 1);
  kernel_loop_t loop = kernel_loop_constant(k, 0, t->depth_blocks, 1, &fits, flags);
  fits = multiply_block(t, linear_value(loop.index), flags ? loop.iters[0] : NULL);
  kernel_for_end(&k->b, &loop, &fits, flags);
  kernel_loop_t panels = kernel_loop_begin(k, t->lower, t->upper, 1, NULL, 0);
  finish_rows(t, linear_constant(0), t->row_block, panels.index);
  kernel_for_end(&k->b, &panels, NULL, 0);
}

static ir_value_t* workgroup(kernel_build_t* k, int64_t axis, int64_t count) {
  if (count == 1) return kernel_index(&k->b, 0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return id;
}

// The workgroup's panels of weights.
static void share_columns(tiles_t* t, int64_t groups) {
  kernel_build_t* k = &t->d->k;
  int64_t panels = ceil_div(t->w.columns, TILES_PANEL), constant;
  t->lower = kernel_mul_const(&k->b, workgroup(k, 1, groups), t->group_panels);
  if (groups > 1) index_set_facts(k, t->lower, 0, panels - 1, t->group_panels);
  t->upper =
      kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, t->lower, t->group_panels), kernel_index(&k->b, panels));
  if (!kernel_constant_index(t->upper, &constant)) index_set_facts(k, t->upper, 1, panels, 1);
}

// Rows of block `number` of `blocks` (0: as many as there are).
static void enter_rows(tiles_t* t, ir_value_t* number) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* all = extent_value(k, &t->rows);
  int64_t constant;
  t->first_row = kernel_mul_const(&k->b, number, t->row_block);
  if (!kernel_constant_index(t->first_row, &constant)) {
    index_set_facts(k, t->first_row, 0, index_facts(all).max, t->row_block);
  }
  if (extent_is_fixed(&t->rows) && t->rows.factor % t->row_block == 0) {
    t->count = kernel_index(&k->b, t->row_block);
    return;
  }
  ir_value_t* left = kernel_binary(&k->b, SCALAR_sub, all, t->first_row);
  t->count = kernel_binary(&k->b, SCALAR_min, left, kernel_index(&k->b, t->row_block));
  if (!kernel_constant_index(t->count, &constant)) index_set_facts(k, t->count, 1, t->row_block, 1);
}

void strategy_tiles_build(dispatch_t* d) {
  enum { MOST = 4096 };
  kernel_build_t* k = &d->k;
  tiles_t t = {.d = d, .op = d->root};
  bool read = tiles_read_weights(d->root, &t.w);
  assert(read);
  (void)read;
  t.mma = layout_tiles_instruction(d->device, d->root);
  t.chunk = t.mma->k;
  t.accumulator = eval_accumulator(d->ctx, ir_type_scalar(d->root->results[0].type));
  read_rows(&t);
  plan_blocks(&t);
  t.streams = ir_type_count(t.w.arg->type) * (4 / t.w.group) > cache_bytes(d->device) / 2;
  int64_t groups = plan_columns(&t), panel = t.row_block * t.w.terms * t.stride + KERNEL_TILE_ROW_BYTES;
  int64_t kept = (t.depth_blocks > 1 ? t.row_block : TILES_PANEL) * kept_columns(&t);
  t.panel = kernel_alloc(&k->b, t.w.arg->type->element, panel, IR_SPACE_WORKGROUP);
  t.partial = kernel_alloc(&k->b, t.accumulator, kept, IR_SPACE_WORKGROUP);
  ir_op_set_attr(k->ctx, t.panel->def, "align", ir_attr_i64(k->ctx, KERNEL_TILE_ROW_BYTES));
  ir_op_set_attr(k->ctx, t.partial->def, "align", ir_attr_i64(k->ctx, KERNEL_TILE_ROW_BYTES));
  d->workgroups[1] = groups;
  share_columns(&t, groups);
  if (extent_is_fixed(&t.rows)) {
    d->workgroups[0] = ceil_div(t.rows.factor, t.row_block);
    enter_rows(&t, workgroup(k, 0, d->workgroups[0]));
    build_rows(&t);
    return;
  }
  dispatch_set_rule(d, &t.rows, t.row_block, MOST);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  index_set_facts(k, id, 0, MOST - 1, 1);
  ir_value_t* blocks = kernel_add_const(&k->b, extent_value(k, &t.rows), t.row_block - 1);
  blocks = kernel_binary(&k->b, SCALAR_divu, blocks, kernel_index(&k->b, t.row_block));
  index_set_facts(k, blocks, 0, INT32_MAX, 1);
  kernel_loop_t loop = kernel_loop_begin(k, id, blocks, MOST, NULL, 0);
  enter_rows(&t, loop.index);
  build_rows(&t);
  kernel_for_end(&k->b, &loop, NULL, 0);
}
