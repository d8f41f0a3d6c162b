// Contraction on CPUs: register tiles of rows x vectors over all (or a block) of the reduction.
//
//   workgroup (columns, rows, batch):  for each block of the reduction
//                                        for each panel of columns: for each tile of rows:
//                                          for k: acc[r][v] += a[m+r][k] * b[k][n + v*lanes ..]
// The right operand is read as packed panels when it is a constant (layout.c), else as rows of vectors. Tiles are as
// high as the registers allow and as even as the rows allow. When a panel of the whole reduction would not stay in
// cache the reduction is split; partial sums wait in workgroup memory. The epilogue runs on the accumulators; a long
// one runs in a loop over a copy of the tile instead, to keep the code small.
//
// Where sizes are known at run time only, workgroups share out rows (or batches, or columns) by their number; rows that
// do not fill a tile are done by lower ones, columns that do not fill a panel by single vectors.
#include <assert.h>
#include <string.h>

#include "kernels/strategy.h"

enum { MAX_TILE = 32, PANEL_BYTES = 160 * 1024 };

typedef struct contract_plan_t {
  dispatch_t* d;
  ir_op_t* op;
  bool batched;
  int64_t batch, rows, columns, reduction;
  int64_t lanes, vectors;  // of a panel
  int64_t tile_rows;
  int64_t row_block;             // rows of a workgroup
  int64_t panels, group_panels;  // of the result, of a workgroup
  int64_t reduction_block;
  extent_t batch_size, row_size, depth, column_size;  // when `dynamic`
  bool dynamic;
  share_t share;         // dynamic: rows at work
  share_t column_share;  // columns at work when their number is no constant
  const ir_type_t* accumulator;
  ir_value_t* partial;  // [group_panels][row_block][panel] in workgroup memory, or NULL
  ir_value_t* spill;    // one tile, for long epilogues, or NULL
  linear_t at_batch;
} contract_plan_t;

//===----------------------------------------------------------------------------------------------------------------===
// Sizes
//===----------------------------------------------------------------------------------------------------------------===

bool strategy_contract_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_type_t *lhs = ir_operand(d->root, 0)->type, *rhs = ir_operand(d->root, 1)->type;
  const char* form = "operands are not [batch x] rows x depth and [batch x] depth x columns";
  if (!candidate_evaluates(d, NULL, c)) return false;
  if (lhs->rank != rhs->rank || lhs->rank < 2 || lhs->rank > 3) return candidate_declines(c, form);
  int64_t lc = -1, rc = -1, lb = -1;
  uint32_t batch = graph_attr_one(d->root, GRAPH_ATTR_lhs_batch, &lb);
  if (graph_attr_one(d->root, GRAPH_ATTR_lhs_contract, &lc) != 1 ||
      graph_attr_one(d->root, GRAPH_ATTR_rhs_contract, &rc) != 1)
    return candidate_declines(c, form);
  if (batch != (uint32_t)lhs->rank - 2 || (batch && lb != 0)) return candidate_declines(c, form);
  if (lc != lhs->rank - 1 || rc != lhs->rank - 2) return candidate_declines(c, form);
  bool empty = lhs->dims[lc] == 0 || ir_type_count(d->root->results[0].type) == 0;
  return !empty || candidate_declines(c, "there is nothing to multiply");
}

// Width of the packed panels behind the right operand, or 0.
static int64_t packed_panel(const ir_op_t* op) {
  const ir_op_t* def = ir_operand(op, 1)->def;
  int64_t tile = 0;
  if (def && ir_is(def, GRAPH_UNPACK)) graph_attr_one(def, GRAPH_ATTR_tiles, &tile);
  return tile;
}

// As high as the registers allow, or somewhat lower where tiles then fill the rows: a lower tile for what is left is a
// second copy of all code. Half as high is enough to hide an addition's latency, but starting and ending a tile has to
// be worth it (256x64 by 64x256: a fifth slower by tiles of 8 than by ones of 14; from a depth of 256 on faster), but
// for products of a few microseconds, which are sooner compiled.
static int64_t tile_height(const contract_plan_t* c, int64_t most) {
  enum { AT_WORK = 12, DEEP = 128, SHORT_WORK = 1 << 20 };
  int64_t even = ceil_div(c->rows, ceil_div(c->rows, most));
  bool is_short = (double)c->batch * (double)c->rows * (double)c->columns * (double)c->reduction <= SHORT_WORK;
  int64_t least = is_short || c->reduction >= DEEP ? ceil_div(most, 2) : ceil_div(3 * most, 4);
  if (c->dynamic && !extent_is_fixed(&c->row_size)) return even;
  for (int64_t height = most; height >= least && height * c->vectors >= AT_WORK; --height) {
    if (c->rows % height == 0) return height;
  }
  return even;
}

static void plan_tile(contract_plan_t* c) {
  const device_info_t* device = c->d->device;
  int64_t panel = packed_panel(c->op);
  c->lanes = device->vector_bytes / ir_type_bytes(c->accumulator);
  while (c->lanes > 1 && c->lanes / 2 >= c->columns && !panel) c->lanes /= 2;
  if (!device->has_masks && !panel) {
    while (c->lanes > 1 && c->columns % c->lanes) c->lanes /= 2;
  }
  if (panel && panel < c->lanes) c->lanes = panel;
  c->vectors = panel ? panel / c->lanes : c->columns >= 2 * c->lanes ? 2 : 1;
  c->panels = ceil_div(c->columns, c->lanes * c->vectors);
  int64_t most = (device->vector_registers - c->vectors - 1) / c->vectors;
  if (most > 16) most = 16;
  if (most < 1) most = 1;
  c->tile_rows = tile_height(c, most);
}

static void plan_blocks(contract_plan_t* c) {
  int64_t bytes = ir_type_bytes(c->accumulator), width = c->lanes * c->vectors;
  c->reduction_block = c->reduction;
  int64_t most = PANEL_BYTES / (width * bytes);
  if (c->reduction > most && c->rows > c->tile_rows) {
    c->reduction_block = ceil_div(c->reduction, ceil_div(c->reduction, most));
  }
  // Rows whose left operand stays in the second-level cache.
  int64_t l2 = c->d->device->l2_bytes > 0 ? c->d->device->l2_bytes : 512 * 1024;
  int64_t block = l2 / 2 / (c->reduction_block * bytes);
  block = block / c->tile_rows * c->tile_rows;
  if (block < c->tile_rows) block = c->tile_rows;
  int64_t blocks = ceil_div(c->rows, block);
  c->row_block = ceil_div(ceil_div(c->rows, blocks), c->tile_rows) * c->tile_rows;
  if (c->row_block > c->rows) c->row_block = c->rows;
  // Enough workgroups to share out, none below some ten microseconds.
  double flops = 2.0 * (double)c->batch * (double)c->rows * (double)c->columns * (double)c->reduction;
  int64_t wanted = (int64_t)(flops / 2e6), others = c->batch * ceil_div(c->rows, c->row_block);
  if (wanted > 16) wanted = 16;
  int64_t groups = wanted / others;
  if (groups < 1) groups = 1;
  if (groups > c->panels) groups = c->panels;
  c->group_panels = ceil_div(c->panels, groups);
  if (c->reduction_block < c->reduction) {  // partial sums of the group must stay in cache
    int64_t fit = l2 / 4 / (c->row_block * width * bytes);
    if (fit < 1) fit = 1;
    if (c->group_panels > fit) c->group_panels = ceil_div(c->panels, ceil_div(c->panels, fit));
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// A tile
//===----------------------------------------------------------------------------------------------------------------===

typedef struct tile_t {
  linear_t row, column;  // first of the tile; column counts from the start of the result
  linear_t panel;        // within the group
  int64_t rows, vectors;
  int64_t last_lanes;         // lanes of the last vector that exist
  ir_value_t* mask;           // of its lanes when their number is no constant, else NULL
  ir_value_t *lower, *upper;  // of the reduction
  bool starts, ends;          // first and last block of the reduction
} tile_t;

static ir_value_t* element(contract_plan_t* c, uint32_t operand, const linear_t* coords) {
  kernel_build_t* k = &c->d->k;
  bool is_unsigned = graph_reads_unsigned(c->op, operand);
  ir_value_t* value = eval_lanes(k, ir_operand(c->op, operand), coords);
  if (ir_type_scalar(value->type) == c->accumulator) return value;
  return kernel_cast(&k->b, is_unsigned ? SCALAR_castu : SCALAR_cast, value, c->accumulator);
}

static void set_coords(const contract_plan_t* c, linear_t* coords, linear_t x, linear_t y) {
  uint32_t at = 0;
  if (c->batched) coords[at++] = c->at_batch;
  coords[at++] = x;
  coords[at] = y;
}

static linear_t column_of(contract_plan_t* c, const tile_t* t, int64_t vector) {
  linear_t column = t->column;
  column.constant += vector * c->lanes;
  column.lane = c->lanes > 1;
  return column;
}

static ir_value_t* tail_mask(contract_plan_t* c, const tile_t* t, int64_t vector) {
  if (t->mask) return t->mask;
  bool partial = vector == t->vectors - 1 && t->last_lanes < c->lanes;
  return partial ? lane_mask(&c->d->k, c->lanes, t->last_lanes) : NULL;
}

static void multiply(contract_plan_t* c, const tile_t* t, linear_t at, ir_value_t** acc) {
  kernel_build_t* k = &c->d->k;
  linear_t coords[3];
  ir_value_t* b[8];
  bool packed = packed_panel(c->op) != 0;
  k->lanes = c->lanes;
  for (int64_t v = 0; v < t->vectors; ++v) {
    set_coords(c, coords, at, column_of(c, t, v));
    k->mask = packed ? NULL : tail_mask(c, t, v);
    b[v] = element(c, 1, coords);
    k->mask = NULL;
  }
  k->lanes = 1;
  for (int64_t r = 0; r < t->rows; ++r) {
    linear_t row = t->row;
    row.constant += r;
    set_coords(c, coords, row, at);
    ir_value_t* a = kernel_splat(&k->b, element(c, 0, coords), c->lanes);
    for (int64_t v = 0; v < t->vectors; ++v) {
      ir_value_t** slot = &acc[r * t->vectors + v];
      *slot = eval_multiply_add(k, a, b[v], *slot);
    }
  }
}

static linear_t partial_offset(contract_plan_t* c, const tile_t* t, linear_t row, int64_t vector) {
  kernel_build_t* k = &c->d->k;
  int64_t width = c->lanes * c->vectors;
  linear_t offset = linear_scale(k, t->panel, c->row_block * width);
  offset = linear_add(k, offset, linear_scale(k, row, width));
  offset.constant += vector * c->lanes;
  return offset;
}

// `local_row` is the row within the workgroup's block.
static void load_partial(contract_plan_t* c, const tile_t* t, linear_t local_row, ir_value_t** acc, bool store) {
  kernel_build_t* k = &c->d->k;
  for (int64_t r = 0; r < t->rows; ++r) {
    for (int64_t v = 0; v < t->vectors; ++v) {
      linear_t row = local_row;
      row.constant += r;
      linear_t offset = partial_offset(c, t, row, v);
      ir_value_t* at = linear_scalar(k, &offset);
      ir_value_t** slot = &acc[r * t->vectors + v];
      if (store) {
        kernel_store(&k->b, *slot, c->partial, at);
      } else {
        *slot = kernel_load(&k->b, c->partial, at, c->lanes);
      }
    }
  }
}

static void finish_vector(contract_plan_t* c, const tile_t* t, linear_t row, int64_t v, ir_value_t* value) {
  kernel_build_t* k = &c->d->k;
  linear_t coords[3];
  ir_value_t* result = ir_result(c->op, 0);
  k->lanes = c->lanes;
  k->mask = tail_mask(c, t, v);
  set_coords(c, coords, row, column_of(c, t, v));
  eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
  epilogue_store(c->d, result, coords);
  result->data = NULL;
  k->mask = NULL;
  k->lanes = 1;
}

static void finish_tile(contract_plan_t* c, const tile_t* t, ir_value_t** acc) {
  kernel_build_t* k = &c->d->k;
  if (!c->spill) {
    for (int64_t r = 0; r < t->rows; ++r) {
      linear_t row = t->row;
      row.constant += r;
      for (int64_t v = 0; v < t->vectors; ++v) finish_vector(c, t, row, v, acc[r * t->vectors + v]);
    }
    return;
  }
  for (int64_t i = 0; i < t->rows * t->vectors; ++i) {
    kernel_store(&k->b, acc[i], c->spill, kernel_index(&k->b, i * c->lanes));
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, t->rows, 1, NULL, 0);
  linear_t r = linear_value(loop.index), row = linear_add(k, t->row, r);
  for (int64_t v = 0; v < t->vectors; ++v) {
    linear_t offset = linear_scale(k, r, t->vectors * c->lanes);
    offset.constant += v * c->lanes;
    finish_vector(c, t, row, v, kernel_load(&k->b, c->spill, linear_scalar(k, &offset), c->lanes));
  }
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// How much of the reduction is one dimension of what the left operand is a reshape of (heads of an attention that stand
// side by side): within it addresses have one step, while across it each is two divisions.
static int64_t segment_of(const contract_plan_t* c) {
  enum { SHORTEST = 16 };
  const ir_value_t* x = ir_operand(c->op, 0);
  int64_t depth = x->type->dims[x->type->rank - 1], last = depth;
  while (x->def && depth != IR_DYNAMIC && last == depth) {
    bool is_reshape = ir_is(x->def, GRAPH_RESHAPE);
    if (!is_reshape && graph_scalar_fn(x->def) < 0) return c->reduction;
    x = ir_operand(x->def, 0);
    if (!x->type->rank) return c->reduction;
    last = x->type->dims[x->type->rank - 1];
  }
  return last != IR_DYNAMIC && last >= SHORTEST && last < depth && depth % last == 0 ? last : c->reduction;
}

// acc += products from `lower` to `upper`, a chain of sums for each of `chains` neighbours, which `acc` has one after
// the other.
static void multiply_range(contract_plan_t* c, const tile_t* t, ir_value_t* const range[2], int64_t chains,
                           ir_value_t** acc) {
  kernel_build_t* k = &c->d->k;
  uint32_t tile = (uint32_t)(t->rows * t->vectors), count = tile * (uint32_t)chains;
  ir_value_t *inner[MAX_TILE * 2], *lower = range[0], *upper = range[1];
  kernel_loop_t over_segments = {0};
  linear_t first = linear_constant(0);
  int64_t begin, end, segment = segment_of(c);
  bool whole = kernel_constant_index(lower, &begin) && kernel_constant_index(upper, &end) && segment % chains == 0 &&
               begin % segment == 0 && end % segment == 0 && end - begin > segment;
  if (whole) {
    over_segments = kernel_loop_constant(k, begin / segment, end / segment, 1, acc, count);
    for (uint32_t i = 0; i < count; ++i) acc[i] = over_segments.iters[i];
    first = linear_scale(k, linear_value(over_segments.index), segment);
    lower = index_constant(k, 0), upper = index_constant(k, segment);
  }
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, chains, acc, count);
  for (uint32_t i = 0; i < count; ++i) inner[i] = loop.iters[i];
  for (int64_t i = 0; i < chains; ++i) {
    linear_t at = linear_add(k, first, linear_value(loop.index));
    at.constant += i;
    multiply(c, t, at, inner + tile * i);
  }
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
  if (!whole) return;
  kernel_for_end(&k->b, &over_segments, acc, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&over_segments, i);
}

// Sums that a low tile makes side by side: one would have to wait for the last product.
static int64_t chains_of(const contract_plan_t* c, const tile_t* t) {
  enum { AT_WORK = 8 };
  if ((c->dynamic && !extent_is_fixed(&c->depth)) || !t->starts || !t->ends) return 1;
  int64_t chains = AT_WORK / (t->rows * t->vectors);
  return chains < 1 ? 1 : chains > 4 ? 4 : chains;
}

static void build_tile(contract_plan_t* c, const tile_t* t, linear_t local_row) {
  kernel_build_t* k = &c->d->k;
  ir_value_t* acc[MAX_TILE * 2];
  uint32_t count = (uint32_t)(t->rows * t->vectors);
  int64_t chains = chains_of(c, t), whole = c->reduction / chains * chains;
  assert(count * chains <= MAX_TILE * 2);
  const ir_type_t* type = kernel_vector_type(k->ctx, c->accumulator, c->lanes);
  for (uint32_t i = 0; i < count * chains; ++i) {
    acc[i] = kernel_number(&k->b, type, 0);
  }
  if (!t->starts) load_partial(c, t, local_row, acc, false);
  if (chains == 1) {
    multiply_range(c, t, (ir_value_t*[]){t->lower, t->upper}, 1, acc);
  } else {
    ir_value_t* middle = kernel_index(&k->b, whole);
    if (whole) multiply_range(c, t, (ir_value_t*[]){t->lower, middle}, chains, acc);
    if (whole < c->reduction) multiply_range(c, t, (ir_value_t*[]){middle, t->upper}, 1, acc);
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (int64_t j = 1; j < chains; ++j) acc[i] = kernel_binary(&k->b, SCALAR_add, acc[i], acc[i + count * j]);
  }
  if (t->ends) {
    finish_tile(c, t, acc);
  } else {
    load_partial(c, t, local_row, acc, true);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops around it
//===----------------------------------------------------------------------------------------------------------------===

// Rows `first` .. of the block, `t` says everything else.
static void build_rows(contract_plan_t* c, tile_t* t, linear_t first_row, int64_t count) {
  kernel_build_t* k = &c->d->k;
  int64_t whole = count / c->tile_rows * c->tile_rows;
  if (whole) {
    linear_t local = linear_constant(0);
    kernel_loop_t loop = {0};
    if (whole > c->tile_rows) {
      loop = kernel_loop_constant(k, 0, whole, c->tile_rows, NULL, 0);
      local = linear_value(loop.index);
    }
    t->rows = c->tile_rows;
    t->row = linear_add(k, first_row, local);
    build_tile(c, t, local);
    if (whole > c->tile_rows) kernel_for_end(&k->b, &loop, NULL, 0);
  }
  if (whole < count) {
    t->rows = count - whole;
    t->row = linear_add(k, first_row, linear_constant(whole));
    build_tile(c, t, linear_constant(whole));
  }
}

// Rows of the share: as many tiles as fit, and lower ones for what is left, the last few at once: each tile reads the
// whole right operand, which a few rows of many batches or steps would read anew for each.
static void build_row_share(contract_plan_t* c, tile_t* t) {
  enum { LOW_TILE = 4 };
  kernel_build_t* k = &c->d->k;
  int64_t heights[] = {c->tile_rows, LOW_TILE, 3, 2, 1};
  ir_value_t *lower = c->share.lower, *upper = c->share.upper;
  for (uint32_t i = 0; i < sizeof(heights) / sizeof(heights[0]); ++i) {
    if (i && heights[i] >= c->tile_rows) continue;
    ir_value_t* end = upper;
    if (heights[i] > 1) {
      ir_value_t* length = kernel_binary(&k->b, SCALAR_sub, upper, lower);
      ir_value_t* rest = kernel_binary(&k->b, SCALAR_remu, length, kernel_index(&k->b, heights[i]));
      end = kernel_binary(&k->b, SCALAR_sub, upper, rest);
      index_set_facts(k, end, 0, index_facts(upper).max, 1);
    }
    kernel_loop_t loop = kernel_loop_begin(k, lower, end, heights[i], NULL, 0);
    t->rows = heights[i];
    t->row = linear_value(loop.index);
    build_tile(c, t, linear_constant(0));
    kernel_for_end(&k->b, &loop, NULL, 0);
    lower = end;
  }
}

// All rows of the workgroup's block; the last block may be shorter.
static void build_row_block(contract_plan_t* c, tile_t* t, ir_value_t* block_id) {
  kernel_build_t* k = &c->d->k;
  if (c->dynamic && !extent_is_fixed(&c->row_size)) {
    build_row_share(c, t);
    return;
  }
  int64_t blocks = ceil_div(c->rows, c->row_block), rest = c->rows - (blocks - 1) * c->row_block;
  if (blocks == 1) {
    build_rows(c, t, linear_constant(0), c->rows);
    return;
  }
  linear_t first = linear_scale(k, linear_value(block_id), c->row_block);
  if (rest == c->row_block) {
    build_rows(c, t, first, c->row_block);
    return;
  }
  ir_value_t* is_last = kernel_binary(&k->b, SCALAR_eq, block_id, kernel_index(&k->b, blocks - 1));
  kernel_branch_t branch = kernel_if_begin(&k->b, is_last, NULL, 0);
  build_rows(c, t, linear_constant((blocks - 1) * c->row_block), rest);
  kernel_if_else(&k->b, &branch, NULL, 0);
  build_rows(c, t, first, c->row_block);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

typedef struct group_t {
  ir_value_t *column_id, *row_id;
} group_t;

// Columns of the share from `lower` on, `vectors` of `lanes` at a time: those that fill them, or with `masked` the
// rest.
static ir_value_t* build_column_loop(contract_plan_t* c, const group_t* g, tile_t* t, ir_value_t* lower, bool masked) {
  kernel_build_t* k = &c->d->k;
  int64_t step = c->lanes * t->vectors;
  ir_value_t* end = c->column_share.upper;
  if (step > 1 && !masked) {
    ir_value_t* length = kernel_binary(&k->b, SCALAR_sub, end, lower);
    ir_value_t* rest = kernel_binary(&k->b, SCALAR_remu, length, kernel_index(&k->b, step));
    end = kernel_binary(&k->b, SCALAR_sub, end, rest);
    index_set_facts(k, end, 0, index_facts(c->column_share.upper).max, 1);
  }
  kernel_loop_t loop = kernel_loop_begin(k, lower, end, step, NULL, 0);
  if (masked) t->mask = lanes_below(k, c->lanes, kernel_binary(&k->b, SCALAR_sub, end, loop.index));
  t->column = linear_value(loop.index);
  build_row_block(c, t, g->row_id);
  t->mask = NULL;
  kernel_for_end(&k->b, &loop, NULL, 0);
  return end;
}

// Panels, then vectors, of which the last may be partial; without masks the last columns are done one by one.
static void build_column_share(contract_plan_t* c, const group_t* g, tile_t* t) {
  kernel_build_t* k = &c->d->k;
  bool has_masks = c->d->device->has_masks;
  int64_t lanes = c->lanes;
  t->panel = linear_constant(0);
  t->vectors = c->vectors;
  t->last_lanes = lanes;
  ir_value_t* done = build_column_loop(c, g, t, c->column_share.lower, false);
  t->vectors = 1;
  done = build_column_loop(c, g, t, done, has_masks && lanes > 1);
  if (has_masks || lanes == 1) return;
  c->lanes = t->last_lanes = k->lanes = 1;
  build_column_loop(c, g, t, done, false);
  c->lanes = lanes;
}

static void build_panels(contract_plan_t* c, const group_t* g, tile_t* t) {
  if (c->dynamic && !extent_is_fixed(&c->column_size)) {
    build_column_share(c, g, t);
    return;
  }
  kernel_build_t* k = &c->d->k;
  int64_t width = c->lanes * c->vectors, rest = c->columns % width, whole = c->columns / width;
  int64_t groups = ceil_div(c->panels, c->group_panels);
  ir_value_t *lower = kernel_index(&k->b, 0), *upper = kernel_index(&k->b, whole);
  if (groups > 1) {
    lower = kernel_mul_const(&k->b, g->column_id, c->group_panels);
    if (c->group_panels > 1) index_set_facts(k, lower, 0, c->panels - 1, c->group_panels);
    upper = kernel_add_const(&k->b, lower, c->group_panels);
    upper = kernel_binary(&k->b, SCALAR_min, upper, kernel_index(&k->b, whole));
    index_set_facts(k, upper, 0, whole, 1);
  }
  t->vectors = c->vectors;
  t->last_lanes = c->lanes;
  if (whole) {
    kernel_loop_t loop = kernel_loop_begin(k, lower, upper, 1, NULL, 0);
    index_set_facts(k, loop.index, 0, whole - 1, 1);
    t->column = linear_scale(k, linear_value(loop.index), width);
    t->panel = linear_add(k, linear_value(loop.index), linear_scale(k, linear_value(lower), -1));
    build_row_block(c, t, g->row_id);
    kernel_for_end(&k->b, &loop, NULL, 0);
  }
  if (!rest) return;
  kernel_branch_t branch = {0};
  if (groups > 1) {  // the last group has the partial panel
    ir_value_t* mine = kernel_binary(&k->b, SCALAR_eq, g->column_id, kernel_index(&k->b, groups - 1));
    branch = kernel_if_begin(&k->b, mine, NULL, 0);
  }
  t->vectors = ceil_div(rest, c->lanes);
  t->last_lanes = rest - (t->vectors - 1) * c->lanes;
  t->column = linear_constant(whole * width);
  t->panel = linear_constant(c->panels - 1 - (groups - 1) * c->group_panels);
  build_row_block(c, t, g->row_id);
  if (groups > 1) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void build_reduction(contract_plan_t* c, const group_t* g) {
  kernel_build_t* k = &c->d->k;
  tile_t t = {0};
  int64_t blocks = ceil_div(c->reduction, c->reduction_block), last = (blocks - 1) * c->reduction_block;
  if (blocks == 1) {
    t.lower = kernel_index(&k->b, 0);
    t.upper = c->dynamic ? extent_value(k, &c->depth) : kernel_index(&k->b, c->reduction);
    t.starts = t.ends = true;
    build_panels(c, g, &t);
    return;
  }
  t.starts = true;
  t.lower = kernel_index(&k->b, 0);
  t.upper = kernel_index(&k->b, c->reduction_block);
  build_panels(c, g, &t);
  t.starts = false;
  if (blocks > 2) {
    kernel_loop_t loop = kernel_loop_constant(k, c->reduction_block, last, c->reduction_block, NULL, 0);
    t.lower = loop.index;
    t.upper = kernel_add_const(&k->b, loop.index, c->reduction_block);
    index_set_facts(k, t.upper, 0, last, 1);
    build_panels(c, g, &t);
    kernel_for_end(&k->b, &loop, NULL, 0);
  }
  t.ends = true;
  t.lower = kernel_index(&k->b, last);
  t.upper = kernel_index(&k->b, c->reduction);
  build_panels(c, g, &t);
}

static ir_value_t* id_with_facts(kernel_build_t* k, int64_t axis, int64_t count) {
  if (count == 1) return kernel_index(&k->b, 0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return id;
}

static void make_spill(contract_plan_t* c) {
  if (!epilogue_is_long(c->d)) return;
  c->spill = kernel_alloc(&c->d->k.b, c->accumulator, c->tile_rows * c->vectors * c->lanes, IR_SPACE_PRIVATE);
}

// Workgroups: x shares out rows, batches or columns of run-time number, y columns, z batches of known number.
static void build_dynamic(contract_plan_t* c) {
  enum { MANY = 1 << 20, ROW_COST = 16, GROUP_WORK = 1000000 };
  dispatch_t* d = c->d;
  kernel_build_t* k = &d->k;
  bool any_columns = !extent_is_fixed(&c->column_size);
  c->rows = extent_is_fixed(&c->row_size) ? c->row_size.factor : MANY;
  c->columns = any_columns ? MANY : c->column_size.factor;
  c->reduction = c->reduction_block = extent_guess(&c->depth);
  plan_tile(c);
  c->row_block = c->rows;
  int64_t width = c->lanes * c->vectors, columns = extent_guess(&c->column_size);
  int64_t groups = any_columns ? 1 : c->columns * c->reduction / GROUP_WORK;
  groups = groups < 1 ? 1 : groups > 16 ? 16 : groups;
  c->group_panels = ceil_div(c->panels, groups < c->panels ? groups : c->panels);
  d->workgroups[1] = groups = ceil_div(c->panels, c->group_panels);
  group_t g = {id_with_facts(k, 1, groups), kernel_index(&k->b, 0)};
  if (groups > 1) columns = c->group_panels * width;
  int64_t cost = 1 + columns * c->reduction / ROW_COST;
  make_spill(c);
  if (any_columns) c->column_share = (share_t){index_constant(k, 0), extent_value(k, &c->column_size)};
  c->share = (share_t){index_constant(k, 0), extent_value(k, &c->row_size)};
  if (!extent_is_fixed(&c->batch_size)) {
    iterations_t it = iterations_dynamic(d, &c->batch_size, cost * extent_guess(&c->row_size));
    c->at_batch = it.index;
    build_reduction(c, &g);
    iterations_end(d, &it);
    return;
  }
  d->workgroups[2] = c->batch_size.factor;
  c->at_batch = linear_value(id_with_facts(k, 2, c->batch_size.factor));
  if (!extent_is_fixed(&c->row_size)) {
    c->share = iterations_share(d, &c->row_size, cost, c->tile_rows);
  } else if (any_columns) {
    c->column_share = iterations_share(d, &c->column_size, 1 + c->rows * c->reduction / ROW_COST, width);
  }
  build_reduction(c, &g);
}

void strategy_contract_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  const ir_type_t *lhs = x->type, *y = d->root->results[0].type;
  contract_plan_t c = {.d = d, .op = d->root, .batched = lhs->rank == 3};
  c.accumulator = eval_accumulator(d->ctx, y->element);
  c.dynamic = !ir_type_is_static(lhs) || !ir_type_is_static(ir_operand(d->root, 1)->type);
  if (c.dynamic) {
    c.batch_size = c.batched ? eval_extent(x, 0) : extent_fixed(1);
    c.row_size = eval_extent(x, lhs->rank - 2);
    c.depth = eval_extent(x, lhs->rank - 1);
    c.column_size = eval_extent(ir_operand(d->root, 1), lhs->rank - 1);
    build_dynamic(&c);
    return;
  }
  c.columns = ir_operand(d->root, 1)->type->dims[lhs->rank - 1];  // the result may say less than its operands
  c.batch = c.batched ? lhs->dims[0] : 1;
  c.rows = lhs->dims[lhs->rank - 2];
  c.reduction = lhs->dims[lhs->rank - 1];
  plan_tile(&c);
  plan_blocks(&c);
  int64_t groups = ceil_div(c.panels, c.group_panels), blocks = ceil_div(c.rows, c.row_block);
  d->workgroups[0] = groups;
  d->workgroups[1] = blocks;
  d->workgroups[2] = c.batch;
  group_t g = {id_with_facts(k, 0, groups), id_with_facts(k, 1, blocks)};
  c.at_batch = linear_value(id_with_facts(k, 2, c.batch));
  if (c.reduction_block < c.reduction) {
    int64_t size = c.group_panels * c.row_block * c.lanes * c.vectors;
    c.partial = kernel_alloc(&k->b, c.accumulator, size, IR_SPACE_WORKGROUP);
  }
  make_spill(&c);
  build_reduction(&c, &g);
}
