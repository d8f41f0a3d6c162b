// See fragments.h.
#include "kernels/fragments.h"

#include <string.h>

#include "kernels/team.h"

//===----------------------------------------------------------------------------------------------------------------===
// Layouts
//===----------------------------------------------------------------------------------------------------------------===

static int32_t position(mma_layout_fn_t layout, int32_t lane, int32_t element, bool column) {
  mma_position_t at = layout(lane, element);
  return column ? at.col : at.row;
}

static bool read_place(const mma_row_t* row, mma_layout_fn_t layout, int32_t element, bool column, int32_t split,
                       place_t* out) {
  out->base = position(layout, 0, element, column);
  out->low = position(layout, 1, element, column) - out->base;
  out->high = split < row->subgroup ? position(layout, split, element, column) - out->base : 0;
  for (int32_t lane = 0; lane < row->subgroup; ++lane) {
    int32_t expected = out->base + out->low * (lane % split) + out->high * (lane / split);
    if (position(layout, lane, element, column) != expected) return false;
  }
  return true;
}

static bool read_layout(const mma_row_t* row, mma_layout_fn_t layout, int32_t count, int32_t split, held_t* out) {
  if (count > FRAGMENT_MAX_HELD) return false;
  out->count = count;
  for (int32_t i = 0; i < count; ++i) {
    if (!read_place(row, layout, i, false, split, &out->row[i])) return false;
    if (!read_place(row, layout, i, true, split, &out->column[i])) return false;
  }
  return true;
}

bool place_equal(const place_t* x, const place_t* y) {
  return x->base == y->base && x->low == y->low && x->high == y->high;
}

// All elements that an instruction has a lane hold of the right must be of one column.
bool fragments_set_row(fragments_t* f, const mma_row_t* row) {
  f->row = row;
  f->turned = f->mixed = false;
  for (f->split = 4; f->split <= 32; f->split *= 2) {
    if (!read_layout(row, row->a, row->a_lanes, f->split, &f->a)) continue;
    if (!read_layout(row, row->b, row->b_lanes, f->split, &f->b)) continue;
    if (!read_layout(row, row->c, row->c_lanes, f->split, &f->c)) continue;
    for (int32_t i = 1; i < f->b.count && row->instruction; ++i) {
      if (!place_equal(&f->b.column[i], &f->b.column[0])) return false;
    }
    return true;
  }
  return false;
}

int32_t fragment_run(const fragments_t* f, product_side_t side) {
  const held_t* held = fragment_held(f, side);
  const place_t *depth = fragment_depths(f, side), *free = fragment_frees(f, side);
  int32_t run = held->count;
  for (int32_t i = 0; i < held->count; ++i) {
    while (i % run && (!place_equal(&free[i], &free[i - 1]) || depth[i].base != depth[i - 1].base + 1)) run /= 2;
  }
  return run;
}

int32_t fragment_free_run(const fragments_t* f, product_side_t side) {
  const held_t* held = fragment_held(f, side);
  const place_t *depth = fragment_depths(f, side), *free = fragment_frees(f, side);
  for (int32_t i = 1; i < held->count; ++i) {
    bool next = free[i].base == free[0].base + i && free[i].low == free[0].low && free[i].high == free[0].high;
    if (!next || !place_equal(&depth[i], &depth[0])) return 1;
  }
  return held->count;
}

int32_t fragment_matrices(const fragments_t* f, product_side_t side) {
  const held_t* held = fragment_held(f, side);
  const place_t *depth = fragment_depths(f, side), *free = fragment_frees(f, side);
  int32_t bytes = (int32_t)ir_type_bytes(f->element), each = bytes <= 4 ? 4 / bytes : 0;
  if (!each || f->split != 4 || f->row->subgroup != 32 || held->count % each) return 0;
  for (int32_t i = 0; i < held->count; ++i) {
    int32_t first = i / each * each;
    place_t along = {depth[first].base + i - first, each, 0}, across = {free[first].base, 0, 1};
    if (!place_equal(&depth[i], &along) || !place_equal(&free[i], &across)) return 0;
  }
  return held->count / each;
}

bool fragment_is_one_run(const fragments_t* f, product_side_t side) {
  const place_t* depths = fragment_depths(f, side);
  int32_t count = fragment_held(f, side)->count;
  return fragment_run(f, side) == count && depths[0].base == 0 && depths[0].low == 0 && depths[0].high == count;
}

fragment_planes_t fragment_planes(int64_t size, int64_t width, int64_t run, int64_t bytes) {
  enum { TURN_BYTES = 128 };  // of all banks
  int64_t turn = TURN_BYTES / (run * bytes), loads = size / width;
  int64_t shift = width < turn ? turn / width : 1;
  int64_t plane = loads + (shift + turn - loads % turn) % turn, group = plane * width;
  if (loads < turn) group += (loads + turn - group % turn) % turn;
  return (fragment_planes_t){width, run, plane * run, group * run};
}

//===----------------------------------------------------------------------------------------------------------------===
// The product and its instruction
//===----------------------------------------------------------------------------------------------------------------===

bool fragments_has_open_rows(const product_t* p) { return p->dynamic && !p->is_conv; }
bool fragments_has_open_columns(const product_t* p) { return p->dynamic && p->is_conv; }

// Whether run time tells the number of rows, and nothing else; each row lies whole in memory then. Of a convolution it
// tells how many images there are, if anything.
static bool is_open_along_one(const product_t* p) {
  const ir_type_t *left = ir_operand(p->op, 0)->type, *right = ir_operand(p->op, 1)->type;
  if (p->is_conv) return true;
  if (p->turned || !ir_type_is_static(right)) return false;
  for (int32_t i = 0; i < left->rank; ++i) {
    if (i != left->rank - 2 && left->dims[i] == IR_DYNAMIC) return false;
  }
  return product_along(p, PRODUCT_LEFT) == PRODUCT_ALONG_DEPTH;
}

bool fragments_read(fragments_t* f, dispatch_t* d, bool takes_open) {
  memset(f, 0, sizeof(*f));
  if (!d->root || d->device->kind != DEVICE_GPU || !product_read(&f->product, d)) return false;
  const product_t* p = &f->product;
  if (p->dynamic && (!takes_open || !is_open_along_one(p))) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && (!eval_supports(op) || (!p->dynamic && !ir_type_is_static(op->results[0].type))))
      return false;
  }
  f->element = ir_operand(p->op, 0)->type->element;
  return ir_operand(p->op, 1)->type->element == f->element;
}

static bool fills(const product_t* p, const mma_row_t* row) {
  double padded = (double)(ceil_div(p->rows, row->m) * row->m) * (double)(ceil_div(p->columns, row->n) * row->n) *
                  (double)(ceil_div(p->depth, row->k) * row->k);
  return padded <= 2.5 * (double)p->rows * (double)p->columns * (double)p->depth;
}

// tf32 is f32 of which less is read.
static bool multiplies(const fragments_t* f, const mma_row_t* row) {
  const char* element = ir_type_str(f->product.d->ctx, f->element);
  if (strcmp(element, row->a_type) == 0) return true;
  return f->product.d->device->reads_tf32 && strcmp(row->a_type, "tf32") == 0 &&
         strcmp(element, mma_element(row->a_type)) == 0;
}

bool fragments_fit(fragments_t* f, const device_mma_t* device_row) {
  const dispatch_t* d = f->product.d;
  f->row = mma_find(device_row->instruction);
  if (graph_reads_unsigned(f->product.op, 0) || graph_reads_unsigned(f->product.op, 1)) return false;
  return f->row && f->row->subgroup == d->device->subgroup_size && multiplies(f, f->row) &&
         strcmp(ir_type_str(d->ctx, f->product.accumulator), f->row->c_type) == 0 && fragments_set_row(f, f->row);
}

bool fragments_take(fragments_t* f, const device_mma_t* device_row) {
  return fragments_fit(f, device_row) && fills(&f->product, f->row);
}

const char* fragments_decline(dispatch_t* d, bool takes_open, const char* other) {
  fragments_t f;
  if (!fragments_read(&f, d, takes_open)) return "only run time knows sizes, or operands are of two types";
  for (int32_t i = 0; i < d->device->mma_count; ++i) {
    if (fragments_fit(&f, &d->device->mma[i])) return other;
  }
  return "no matrix instruction multiplies these types";
}

// Lanes stand in eight columns, each with four of the product's.
static mma_position_t lanes_a(int32_t l, int32_t i) { return (mma_position_t){l / 8, i}; }
static mma_position_t lanes_b(int32_t l, int32_t i) { return (mma_position_t){0, l % 8 * 4 + i}; }
static mma_position_t lanes_c(int32_t l, int32_t i) { return (mma_position_t){l / 8, l % 8 * 4 + i}; }

const mma_row_t* fragments_lanes_row(const device_info_t* device) {
  static const mma_row_t rows[] = {
      {.subgroup = 32, .m = 4, .n = 32, .k = 1, .a_lanes = 1, .b_lanes = 4, .c_lanes = 4, lanes_a, lanes_b, lanes_c},
      {.subgroup = 64, .m = 8, .n = 32, .k = 1, .a_lanes = 1, .b_lanes = 4, .c_lanes = 4, lanes_a, lanes_b, lanes_c}};
  const mma_row_t* row = device->subgroup_size == 32 ? &rows[0] : &rows[1];
  return row->subgroup == device->subgroup_size ? row : NULL;
}

bool fragments_take_lanes(fragments_t* f) {
  const mma_row_t* row = fragments_lanes_row(f->product.d->device);
  return row && fills(&f->product, row) && fragments_set_row(f, row);
}

//===----------------------------------------------------------------------------------------------------------------===
// Results whose elements follow each other
//===----------------------------------------------------------------------------------------------------------------===

// How many elements of a fragment, from each multiple of it on, follow each other along `along` and lie in the same
// place of `across`; as few as `line` lets lie side by side in memory.
static int32_t run_along(const fragments_t* f, const place_t* along, const place_t* across, int64_t line) {
  int32_t run = f->c.count;
  for (int32_t i = 0; i < f->c.count; ++i) {
    int32_t steps[] = {along[i / run * run].base, along[i].low, along[i].high};
    while (run > 1 && i % run && (!place_equal(&across[i], &across[i - 1]) || along[i].base != along[i - 1].base + 1))
      run /= 2;
    for (int s = 0; s < 3; ++s) {
      while (run > 1 && steps[s] % run) run /= 2;
    }
  }
  while (run > 1 && line % run) run /= 2;
  return run;
}

int32_t fragment_result_run(const fragments_t* f) {
  return run_along(f, f->c.column, f->c.row, product_line(&f->product));
}

static int32_t row_run(const fragments_t* f) {
  if (fragments_has_open_rows(&f->product)) return 1;
  return run_along(f, f->c.row, f->c.column, product_row_line(&f->product));
}

static void swap_places(held_t* x) {
  held_t was = *x;
  memcpy(x->row, was.column, sizeof(x->row));
  memcpy(x->column, was.row, sizeof(x->column));
}

static void turn(fragments_t* f) {
  held_t a = f->a;
  f->turned = !f->turned;
  f->a = f->b;
  f->b = a;
  swap_places(&f->a);
  swap_places(&f->b);
  swap_places(&f->c);
}

int32_t fragments_stored_run(const fragments_t* f) {
  int32_t rows = row_run(f), columns = fragment_result_run(f);
  return rows > columns ? rows : columns;
}

product_side_t fragments_run_side(const fragments_t* f) {
  return product_row_line(&f->product) > 1 ? PRODUCT_LEFT : PRODUCT_RIGHT;
}

// Two halves of a subgroup have every other place of a fragment: instead, each has half of it.
static bool mix(fragments_t* f) {
  place_t* places = fragments_run_side(f) == PRODUCT_LEFT ? f->c.row : f->c.column;
  int32_t count = f->c.count;
  if (2 * f->split != f->row->subgroup || count * 2 != f->row->n) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (!place_equal(&places[i], &(place_t){2 * i, 0, 1})) return false;
  }
  for (int32_t i = 0; i < count; ++i) places[i] = (place_t){i, 0, count};
  return f->mixed = true;
}

void fragments_arrange(fragments_t* f, bool mixes) {
  fragments_t best = *f;
  bool square = f->row->m == f->row->n && f->row->a_lanes == f->row->b_lanes;
  for (int way = 0; square && way < (mixes ? 4 : 2); ++way) {
    fragments_t other = *f;
    if (way % 2) turn(&other);
    if (way / 2 && !mix(&other)) continue;
    if (fragments_stored_run(&other) > fragments_stored_run(&best)) best = other;
  }
  *f = best;
}

linear_t fragments_mixed_place(fragments_t* f, linear_t place) {
  kernel_build_t* k = &f->product.d->k;
  linear_t fragment, rest, half, within;
  linear_divide(k, place, f->row->n, &fragment, &rest);
  linear_divide(k, rest, f->c.count, &half, &within);
  return linear_add(k, linear_scale(k, fragment, f->row->n), linear_add(k, linear_scale(k, within, 2), half));
}

//===----------------------------------------------------------------------------------------------------------------===
// Code
//===----------------------------------------------------------------------------------------------------------------===

void fragments_set_lane(fragments_t* f, linear_t lane) {
  kernel_build_t* k = &f->product.d->k;
  linear_t matrix;
  linear_divide(k, lane, f->split, &f->high, &f->low);
  linear_divide(k, lane, 8, &matrix, &f->matrix_row);
  linear_divide(k, matrix, 2, &f->matrix_bits[1], &f->matrix_bits[0]);
}

linear_t fragment_at(fragments_t* f, linear_t first, const place_t* place) {
  kernel_build_t* k = &f->product.d->k;
  linear_t at = linear_add(k, linear_scale(k, f->low, place->low), linear_scale(k, f->high, place->high));
  at = linear_add(k, first, at);
  at.constant += place->base;
  return at;
}

linear_t fragment_clamp(kernel_build_t* k, linear_t at, int64_t size, int64_t width) {
  int64_t min, max;
  linear_range(k, &at, &min, &max);
  if (max <= size - width) return at;
  ir_value_t* value = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &at), kernel_index(&k->b, size - width));
  index_set_facts(k, value, 0, size - width, width);
  return linear_value(value);
}

ir_value_t* fragment_below(kernel_build_t* k, const linear_t* at, int64_t size) {
  int64_t min, max;
  linear_range(k, at, &min, &max);
  if (max < size) return NULL;
  return kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, at), kernel_index(&k->b, size));
}

// `at`, or the last of an open size; there is one.
static linear_t clamp_open(kernel_build_t* k, linear_t at, const extent_t* size) {
  ir_value_t* last = kernel_add_const(&k->b, extent_value(k, size), -1);
  ir_value_t* value = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &at), last);
  index_set_facts(k, value, 0, FRAGMENT_MAX_OPEN, 1);
  return linear_value(value);
}

static ir_value_t* below_open(kernel_build_t* k, const linear_t* at, const extent_t* size) {
  return kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, at), extent_value(k, size));
}

linear_t fragments_clamp_row(fragments_t* f, linear_t row, int64_t width) {
  product_t* p = &f->product;
  return fragments_has_open_rows(p) ? clamp_open(&p->d->k, row, &p->row_size)
                                    : fragment_clamp(&p->d->k, row, p->rows, width);
}

linear_t fragments_clamp_column(fragments_t* f, linear_t column, int64_t width) {
  product_t* p = &f->product;
  return fragments_has_open_columns(p) ? clamp_open(&p->d->k, column, &p->column_size)
                                       : fragment_clamp(&p->d->k, column, p->columns, width);
}

ir_value_t* fragments_row_exists(fragments_t* f, const linear_t* row) {
  product_t* p = &f->product;
  return fragments_has_open_rows(p) ? below_open(&p->d->k, row, &p->row_size) : fragment_below(&p->d->k, row, p->rows);
}

ir_value_t* fragments_column_exists(fragments_t* f, const linear_t* column) {
  product_t* p = &f->product;
  return fragments_has_open_columns(p) ? below_open(&p->d->k, column, &p->column_size)
                                       : fragment_below(&p->d->k, column, p->columns);
}

// Matrix number m of a side's fragments, one fragment after the other: where it begins.
typedef struct corner_t {
  int64_t free, depth;
} corner_t;
static corner_t matrix_corner(const fragments_t* f, product_side_t side, int64_t m) {
  int64_t each = fragment_matrices(f, side), size = side == PRODUCT_LEFT ? f->row->m : f->row->n;
  int32_t element = (int32_t)(m % each * (4 / (int64_t)ir_type_bytes(f->element)));
  return (corner_t){m / each * size + fragment_frees(f, side)[element].base, fragment_depths(f, side)[element].base};
}

// `unit` matrices from number m on: each lane says where one row of one of them begins. Their corners make a
// parallelogram, so that two bits of the lane say where.
static ir_value_t* load_matrices(fragments_t* f, const fragment_matrices_t* from, int64_t m, int64_t unit) {
  kernel_build_t* k = &f->product.d->k;
  corner_t corner = matrix_corner(f, from->side, m);
  linear_t free = from->free, depth = from->depth;
  free.constant += corner.free, depth.constant += corner.depth;
  for (int bit = 0; 1 << bit < unit; ++bit) {
    corner_t other = matrix_corner(f, from->side, m + (1 << bit));
    free = linear_add(k, free, linear_scale(k, f->matrix_bits[bit], other.free - corner.free));
    depth = linear_add(k, depth, linear_scale(k, f->matrix_bits[bit], other.depth - corner.depth));
  }
  linear_t major = from->turned ? depth : free, minor = from->turned ? free : depth;
  major = linear_add(k, major, f->matrix_row);
  linear_t at = linear_add(k, from->offset, linear_add(k, linear_scale(k, major, from->stride), minor));
  ir_value_t* operands[] = {from->memory, linear_scalar(k, &at)};
  int64_t lanes = unit * 4 / (int64_t)ir_type_bytes(f->element);
  ir_value_t* value =
      ir_build_value(&k->b, KERNEL_LOAD_MATRIX, operands, 2, kernel_vector_type(k->ctx, f->element, lanes));
  ir_op_set_attr(k->ctx, value->def, "count", ir_attr_i64(k->ctx, unit));
  if (from->turned) ir_op_set_attr(k->ctx, value->def, "transpose", ir_attr_unit(k->ctx));
  return value;
}

// Four corners, the last of which is where the two others lead to.
static bool is_parallelogram(const fragments_t* f, product_side_t side, int64_t m) {
  corner_t a = matrix_corner(f, side, m), b = matrix_corner(f, side, m + 1), c = matrix_corner(f, side, m + 2);
  corner_t d = matrix_corner(f, side, m + 3);
  return d.free - c.free == b.free - a.free && d.depth - c.depth == b.depth - a.depth;
}

void fragments_load_matrices(fragments_t* f, const fragment_matrices_t* from, int64_t first, int64_t count,
                             ir_value_t** out) {
  kernel_build_t* k = &f->product.d->k;
  int64_t each = fragment_matrices(f, from->side), end = (first + count) * each;
  int64_t held = fragment_held(f, from->side)->count;
  const ir_type_t* type = kernel_vector_type(k->ctx, f->element, held);
  for (int64_t i = 0; i < count; ++i) out[i] = kernel_number(&k->b, type, 0);
  for (int64_t m = first * each, unit; m < end; m += unit) {
    unit = end - m >= 4 && is_parallelogram(f, from->side, m) ? 4 : end - m >= 2 ? 2 : 1;
    ir_value_t* value = load_matrices(f, from, m, unit);
    int64_t lanes = kernel_lanes(value), element = (m - first * each) * held / each;
    for (int64_t i = 0; i < lanes; ++i) {
      ir_value_t** fragment = &out[(element + i) / held];
      ir_value_t* one = lanes > 1 ? kernel_extract(&k->b, value, i) : value;
      *fragment = lanes == held ? value : kernel_insert(&k->b, *fragment, one, (element + i) % held);
    }
  }
}

// Elements of the loads from `first` to `end` in turn: that of each load, then the next one's.
static ir_value_t* interleave(kernel_build_t* k, int64_t run, ir_value_t* const* loads, int64_t first, int64_t end) {
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_scalar(loads[0]->type), (end - first) * run);
  ir_value_t* result = kernel_number(&k->b, type, 0);
  for (int64_t j = first; j < end; ++j) {
    for (int64_t r = 0; r < run; ++r) {
      ir_value_t* element = kernel_lanes(loads[r]) > 1 ? kernel_extract(&k->b, loads[r], j) : loads[r];
      if (type == element->type) return element;
      result = kernel_insert(&k->b, result, element, (j - first) * run + r);
    }
  }
  return result;
}

void fragment_store_piece(kernel_build_t* k, const fragment_piece_t* piece, linear_t at, ir_value_t* const* loads) {
  int64_t each = piece->apart ? 1 : piece->width;
  for (int64_t j = 0; j < piece->width; j += each, at.constant += piece->apart) {
    bool whole = piece->run == 1 && each == piece->width;
    ir_value_t* value = whole ? loads[0] : interleave(k, piece->run, loads, j, j + each);
    ir_op_t* store = kernel_store(&k->b, value, piece->memory, linear_scalar(k, &at));
    if (!piece->apart || piece->run > 1) eval_set_alignment(k, store, piece->memory->type->element, &at);
  }
}

void fragment_store_column(kernel_build_t* k, const fragment_piece_t* piece, linear_t at, ir_value_t* const* loads,
                           int64_t i) {
  ir_value_t* value = interleave(k, piece->run, loads, i, i + 1);
  ir_op_t* store = kernel_store(&k->b, value, piece->memory, linear_scalar(k, &at));
  eval_set_alignment(k, store, piece->memory->type->element, &at);
}

linear_t fragment_plane_place(kernel_build_t* k, const fragment_planes_t* planes, linear_t at) {
  linear_t load, place;
  if (!planes->plane) return linear_scale(k, at, planes->run);
  linear_divide(k, at, planes->width, &load, &place);
  return linear_add(k, linear_scale(k, place, planes->plane), linear_scale(k, load, planes->run));
}

ir_value_t* fragment_part(fragments_t* f, product_side_t side, ir_value_t* loaded, int32_t part) {
  kernel_build_t* k = &f->product.d->k;
  int32_t held = fragment_held(f, side)->count;
  int64_t mask[FRAGMENT_MAX_HELD];
  if (held == kernel_lanes(loaded)) return loaded;
  if (held == 1) return kernel_extract(&k->b, loaded, part);
  for (int32_t i = 0; i < held; ++i) mask[i] = part * held + i;
  return kernel_shuffle(&k->b, loaded, loaded, mask, (uint32_t)held);
}

ir_value_t* fragment_multiply_add(fragments_t* f, ir_value_t* a, ir_value_t* b, ir_value_t* c) {
  kernel_build_t* k = &f->product.d->k;
  if (!f->row->instruction) return eval_multiply_add(k, kernel_splat(&k->b, a, kernel_lanes(c)), b, c);
  ir_named_attr_t attr = {"instruction", ir_attr_cstring(k->ctx, f->row->instruction)};
  ir_value_t* operands[] = {f->turned ? b : a, f->turned ? a : b, c};
  ir_op_state_t state = {.info = ir_context_op(k->ctx, KERNEL_MMA),
                         .operands = operands,
                         .operand_count = 3,
                         .result_types = &c->type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&k->b, &state), 0);
}

static ir_value_t* result_run(fragments_t* f, ir_value_t* fragment, int32_t first, int32_t run) {
  kernel_build_t* k = &f->product.d->k;
  if (run == f->c.count) return fragment;
  if (run == 1) return kernel_extract(&k->b, fragment, first);
  int64_t mask[FRAGMENT_MAX_HELD];
  for (int32_t i = 0; i < run; ++i) mask[i] = first + i;
  return kernel_shuffle(&k->b, fragment, fragment, mask, (uint32_t)run);
}

// Side by side along the columns, or along the rows (`down`).
static void store_values(fragments_t* f, linear_t row, linear_t column, ir_value_t* values, bool down) {
  product_t* p = &f->product;
  kernel_build_t* k = &p->d->k;
  int64_t lanes = kernel_lanes(values), run = down ? 1 : lanes, rows = down ? lanes : 1;
  ir_value_t *row_exists = fragments_row_exists(f, &row), *column_exists = fragments_column_exists(f, &column);
  ir_value_t* exists = row_exists ? row_exists : column_exists;
  if (row_exists && column_exists) exists = kernel_binary(&k->b, SCALAR_and, row_exists, column_exists);
  kernel_branch_t branch;
  if (exists) branch = kernel_if_begin(&k->b, exists, NULL, 0);
  bool clamps = column_exists && !fragments_has_open_columns(p);  // what is stored exists
  product_column_t place = product_column(p, clamps ? fragment_clamp(k, column, p->columns, run) : column);
  if (run > 1) product_set_lane(p, &place);
  if (row_exists && !fragments_has_open_rows(p)) row = fragment_clamp(k, row, p->rows, rows);
  row.lane = rows > 1;
  k->lanes = lanes;
  product_store(p, row, &place, values);
  k->lanes = 1;
  if (exists) kernel_if_end(&k->b, &branch, NULL, 0);
}

void fragment_store(fragments_t* f, linear_t row, linear_t column, ir_value_t* fragment, int32_t i, int32_t run) {
  store_values(f, fragment_at(f, row, &f->c.row[i]), column, result_run(f, fragment, i, run), false);
}

static void store_down(fragments_t* f, linear_t row, linear_t column, ir_value_t* fragment, int32_t run) {
  for (int32_t i = 0; i < f->c.count; i += run) {
    linear_t first = fragment_at(f, row, &f->c.row[i]);
    store_values(f, first, fragment_at(f, column, &f->c.column[i]), result_run(f, fragment, i, run), true);
  }
}

// Of the widest element that the dispatch stores.
static int64_t stored_bytes(const dispatch_t* d) {
  int64_t most = 1;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    int64_t bytes = ir_type_bytes(ir_operand(d->yield, i)->type->element);
    if (bytes > most) most = bytes;
  }
  return most;
}

// How many neighbouring lanes, 1, 2 or 4, exchange runs of as many fragments: each lane of four has a run of a row,
// those of four a fragment's whole row, and together they make one access.
static int64_t exchanging_lanes(const fragments_t* f, int64_t run, int64_t count) {
  enum { LANES = 4, STORE_BYTES = 16 };
  const product_t* p = &f->product;
  int64_t element = stored_bytes(p->d), lanes = LANES;
  if (!f->row->instruction || f->split != LANES || f->row->n != LANES * run) return 1;
  for (int32_t i = 0; i < f->c.count; ++i) {
    const place_t *row = &f->c.row[i], *column = &f->c.column[i];
    if (row->low || column->low != run || column->high || column->base != i % run) return 1;
  }
  int64_t line = product_line(p);
  while (lanes > 1 && (lanes * run * element > STORE_BYTES || count % lanes || line % (lanes * run))) lanes /= 2;
  return lanes;
}

// Lane i of `lanes` neighbours gets their units i: a transpose, one bit of the lane's number at a time.
static void exchange(fragments_t* f, ir_value_t** units, int64_t lanes) {
  kernel_build_t* k = &f->product.d->k;
  int64_t width = kernel_lanes(units[0]);
  linear_t rest = f->low, high, bit;
  for (int64_t step = 1; step < lanes; step *= 2, rest = high) {
    linear_divide(k, rest, 2, &high, &bit);
    ir_value_t* odd = kernel_binary(&k->b, SCALAR_ne, linear_scalar(k, &bit), kernel_index(&k->b, 0));
    odd = kernel_splat(&k->b, odd, width);
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & step) continue;
      ir_value_t **low = &units[i], **up = &units[i | step];
      ir_value_t* other = team_shuffle(k, kernel_ternary(&k->b, SCALAR_select, odd, *low, *up), "xor", step);
      *low = kernel_ternary(&k->b, SCALAR_select, odd, other, *low);
      *up = kernel_ternary(&k->b, SCALAR_select, odd, *up, other);
    }
  }
}

static ir_value_t* join(kernel_build_t* k, ir_value_t* const* parts, int64_t count) {
  int64_t each = kernel_lanes(parts[0]);
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_scalar(parts[0]->type), count * each);
  ir_value_t* result = kernel_number(&k->b, type, 0);
  for (int64_t i = 0; i < count * each; ++i) {
    ir_value_t* one = each > 1 ? kernel_extract(&k->b, parts[i / each], i % each) : parts[i / each];
    result = kernel_insert(&k->b, result, one, i);
  }
  return result;
}

void fragments_store(fragments_t* f, linear_t row, linear_t column, ir_value_t* const* results, int64_t count) {
  enum { MOST_LANES = 4 };
  kernel_build_t* k = &f->product.d->k;
  const ir_type_t* element = ir_result(f->product.op, 0)->type->element;
  int32_t run = fragment_result_run(f), rows = row_run(f);
  int64_t lanes = exchanging_lanes(f, run, count);
  linear_t group, number;
  if (rows > run) {
    for (int64_t x = 0; x < count; ++x, column.constant += f->row->n) store_down(f, row, column, results[x], rows);
    return;
  }
  linear_divide(k, f->low, lanes, &group, &number);
  linear_t own = linear_add(k, linear_scale(k, number, f->row->n), linear_scale(k, group, lanes * run));
  for (int64_t x = 0; x < count; x += lanes, column.constant += lanes * f->row->n) {
    for (int32_t i = 0; i < f->c.count; i += run) {
      if (lanes == 1) {
        fragment_store(f, row, fragment_at(f, column, &f->c.column[i]), results[x], i, run);
        continue;
      }
      ir_value_t* units[MOST_LANES];
      for (int64_t u = 0; u < lanes; ++u) units[u] = eval_convert(k, result_run(f, results[x + u], i, run), element);
      exchange(f, units, lanes);
      linear_t at = fragment_at(f, row, &f->c.row[i]);
      store_values(f, at, linear_add(k, column, own), join(k, units, lanes), false);
    }
  }
}

linear_t fragment_workgroup(kernel_build_t* k, int64_t axis, int64_t count) {
  if (count == 1) return linear_constant(0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return linear_value(id);
}
