// See product.h.
#include "kernels/product.h"

#include <string.h>

static ir_value_t* side_value(const product_t* p, product_side_t side) {
  bool second = p->is_conv ? side == PRODUCT_LEFT : (side == PRODUCT_RIGHT) != p->turned;
  return ir_operand(p->op, second ? 1 : 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

enum { FEW_COLUMNS = 16 };

// A dimension, or what to expect of it.
static int64_t size_of(product_t* p, const ir_type_t* type, int64_t dim) {
  if (type->dims[dim] != IR_DYNAMIC) return type->dims[dim];
  p->dynamic = true;
  extent_t any = {.factor = 1, .count = 1};
  return extent_guess(&any);
}

static bool read_contract(product_t* p) {
  const ir_type_t *lhs = ir_operand(p->op, 0)->type, *rhs = ir_operand(p->op, 1)->type;
  if (lhs->rank != rhs->rank || lhs->rank < 2 || lhs->rank > 3) return false;
  int64_t lc = -1, rc = -1, lb = -1;
  uint32_t batch = graph_attr_one(p->op, GRAPH_ATTR_lhs_batch, &lb);
  if (graph_attr_one(p->op, GRAPH_ATTR_lhs_contract, &lc) != 1 ||
      graph_attr_one(p->op, GRAPH_ATTR_rhs_contract, &rc) != 1)
    return false;
  if (batch != (uint32_t)lhs->rank - 2 || (batch && lb != 0) || lc != lhs->rank - 1 || rc != lhs->rank - 2)
    return false;
  p->batch = batch ? size_of(p, lhs, 0) : 1;
  p->rows = size_of(p, lhs, lhs->rank - 2);
  p->depth = size_of(p, lhs, lhs->rank - 1);
  p->columns = size_of(p, rhs, rhs->rank - 1);
  p->taps = 1;
  p->turned = p->columns < FEW_COLUMNS && p->rows > p->columns;
  if (p->turned) {
    int64_t rows = p->rows;
    p->rows = p->columns;
    p->columns = rows;
  }
  return true;
}

static bool read_conv(product_t* p) {
  const ir_type_t *x = ir_operand(p->op, 0)->type, *w = ir_operand(p->op, 1)->type, *y = p->op->results[0].type;
  p->is_conv = true;
  p->conv = graph_conv_read(p->op);
  if (p->conv.batch_groups != 1) return false;
  p->spatial = (uint32_t)w->rank - 2;
  p->taps = 1;
  int64_t image = graph_layout_axis(p->conv.y_layout, 'n');
  for (int32_t i = 0; i < y->rank; ++i) {
    if (i != image && y->dims[i] == IR_DYNAMIC) return false;
    if (i != graph_layout_axis(p->conv.x_layout, 'n') && x->dims[i] == IR_DYNAMIC) return false;
  }
  if (!ir_type_is_static(w)) return false;
  p->columns = size_of(p, y, image);
  for (uint32_t i = 0; i < p->spatial; ++i) {
    if (p->conv.x_dilation[i] != 1) return false;
    p->window[i] = w->dims[graph_layout_axis(p->conv.w_layout, (char)('0' + i))];
    p->taps *= p->window[i];
    p->columns *= y->dims[graph_layout_axis(p->conv.y_layout, (char)('0' + i))];
  }
  p->batch = p->conv.groups;
  p->rows = y->dims[graph_layout_axis(p->conv.y_layout, 'c')] / p->conv.groups;
  p->depth = w->dims[graph_layout_axis(p->conv.w_layout, 'i')];
  return true;
}

bool product_read(product_t* p, dispatch_t* d) {
  memset(p, 0, sizeof(*p));
  if (!d->root || (!ir_is(d->root, GRAPH_CONTRACT) && !ir_is(d->root, GRAPH_CONV))) return false;
  p->d = d;
  p->op = d->root;
  const ir_type_t* y = p->op->results[0].type;
  if (ir_type_count(y) == 0) return false;
  p->accumulator = eval_accumulator(d->ctx, y->element);
  if (p->accumulator->kind != IR_TYPE_FLOAT && p->accumulator->kind != IR_TYPE_INTEGER) return false;
  return (ir_is(p->op, GRAPH_CONV) ? read_conv(p) : read_contract(p)) && p->taps > 0 && p->depth > 0;
}

void product_measure(product_t* p) {
  p->batch_size = extent_fixed(p->batch);
  p->row_size = extent_fixed(p->rows);
  p->column_size = extent_fixed(p->columns);
  p->depth_size = extent_fixed(p->depth);
  if (!p->dynamic) return;
  const ir_value_t *lhs = ir_operand(p->op, 0), *rhs = ir_operand(p->op, 1), *y = ir_result(p->op, 0);
  if (p->is_conv) {
    extent_t images = eval_extent(y, (int32_t)graph_layout_axis(p->conv.y_layout, 'n'));
    p->column_size = extent_fixed(1);
    for (uint32_t i = 0; i < p->spatial; ++i) {
      p->column_size.factor *= y->type->dims[graph_layout_axis(p->conv.y_layout, (char)('0' + i))];
    }
    p->column_size = extent_product(images, p->column_size);
    return;
  }
  int32_t last = lhs->type->rank - 1;
  if (last == 2) p->batch_size = eval_extent(lhs, 0);
  extent_t down = eval_extent(lhs, last - 1), across = eval_extent(rhs, last);
  p->row_size = p->turned ? across : down;
  p->column_size = p->turned ? down : across;
  p->depth_size = eval_extent(lhs, last);
}

//===----------------------------------------------------------------------------------------------------------------===
// Coordinates
//===----------------------------------------------------------------------------------------------------------------===

product_column_t product_column(product_t* p, linear_t column) {
  product_column_t out = {.column = column};
  if (!p->is_conv) return out;
  const ir_type_t* y = p->op->results[0].type;
  int64_t sizes[1 + GRAPH_MAX_SPATIAL] = {y->dims[graph_layout_axis(p->conv.y_layout, 'n')]};
  linear_t coords[1 + GRAPH_MAX_SPATIAL];
  for (uint32_t i = 0; i < p->spatial; ++i)
    sizes[1 + i] = y->dims[graph_layout_axis(p->conv.y_layout, (char)('0' + i))];
  iterations_split(&p->d->k, column, sizes, 1 + (int32_t)p->spatial, coords);
  out.image = coords[0];
  memcpy(out.position, &coords[1], sizeof(linear_t) * p->spatial);
  return out;
}

product_tap_t product_tap(product_t* p, linear_t tap) {
  product_tap_t out = {0};
  if (p->is_conv) iterations_split(&p->d->k, tap, p->window, (int32_t)p->spatial, out.at);
  return out;
}

static ir_value_t* and_also(kernel_build_t* k, ir_value_t* x, ir_value_t* y) {
  return x ? kernel_binary(&k->b, SCALAR_and, x, y) : y;
}

product_point_t product_point(product_t* p, const product_column_t* column, const product_tap_t* tap) {
  kernel_build_t* k = &p->d->k;
  product_point_t out = {.image = column->image};
  const ir_type_t* x = side_value(p, PRODUCT_RIGHT)->type;
  ir_value_t* values[GRAPH_MAX_SPATIAL] = {0};
  int64_t sizes[GRAPH_MAX_SPATIAL];
  for (uint32_t i = 0; p->is_conv && i < p->spatial; ++i) {
    sizes[i] = x->dims[graph_layout_axis(p->conv.x_layout, (char)('0' + i))];
    linear_t at = linear_add(k, linear_scale(k, column->position[i], p->conv.strides[i]),
                             linear_scale(k, tap->at[i], p->conv.w_dilation[i]));
    at.constant -= p->conv.pad_low[i];
    out.at[i] = at;
    int64_t min, max;
    linear_range(k, &at, &min, &max);
    if (min >= 0 && max < sizes[i]) continue;
    values[i] = linear_scalar(k, &at);
    out.inside = and_also(k, out.inside, kernel_binary(&k->b, SCALAR_ltu, values[i], kernel_index(&k->b, sizes[i])));
  }
  for (uint32_t i = 0; i < p->spatial; ++i) {
    if (!values[i]) continue;
    ir_value_t* safe = kernel_ternary(&k->b, SCALAR_select, out.inside, values[i], kernel_index(&k->b, 0));
    index_set_facts(k, safe, 0, sizes[i] - 1, 1);
    out.at[i] = linear_value(safe);
  }
  return out;
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

static product_element_t contract_element(product_t* p, product_side_t side, linear_t free, linear_t depth) {
  product_element_t out = {.tensor = side_value(p, side)};
  uint32_t n = 0;
  if (out.tensor->type->rank == 3) out.coords[n++] = p->at_batch;
  bool first = (side == PRODUCT_LEFT) != p->turned;
  out.coords[n] = first ? free : depth;
  out.coords[n + 1] = first ? depth : free;
  return out;
}

// The channel over all groups.
static linear_t channel_of(product_t* p, linear_t within, int64_t per_group) {
  kernel_build_t* k = &p->d->k;
  return linear_add(k, linear_scale(k, p->at_batch, per_group), within);
}

product_element_t product_left_element(product_t* p, linear_t row, const product_tap_t* tap, linear_t depth) {
  if (!p->is_conv) return contract_element(p, PRODUCT_LEFT, row, depth);
  product_element_t out = {.tensor = side_value(p, PRODUCT_LEFT)};
  out.coords[graph_layout_axis(p->conv.w_layout, 'o')] = channel_of(p, row, p->rows);
  out.coords[graph_layout_axis(p->conv.w_layout, 'i')] = depth;
  for (uint32_t i = 0; i < p->spatial; ++i)
    out.coords[graph_layout_axis(p->conv.w_layout, (char)('0' + i))] = tap->at[i];
  return out;
}

product_element_t product_right_element(product_t* p, const product_column_t* column, const product_point_t* point,
                                        linear_t depth) {
  if (!p->is_conv) return contract_element(p, PRODUCT_RIGHT, column->column, depth);
  product_element_t out = {.tensor = side_value(p, PRODUCT_RIGHT), .inside = point->inside};
  out.coords[graph_layout_axis(p->conv.x_layout, 'n')] = point->image;
  out.coords[graph_layout_axis(p->conv.x_layout, 'c')] = channel_of(p, depth, p->depth);
  for (uint32_t i = 0; i < p->spatial; ++i)
    out.coords[graph_layout_axis(p->conv.x_layout, (char)('0' + i))] = point->at[i];
  return out;
}

ir_value_t* product_load(product_t* p, product_element_t element) {
  kernel_build_t* k = &p->d->k;
  if (!p->is_conv) return eval_at(k, element.tensor, element.coords);
  ir_value_t* value = eval_lanes(k, element.tensor, element.coords);
  if (!element.inside) return value;
  ir_value_t* zero = kernel_number(&k->b, value->type, 0);
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, element.inside, k->lanes), value, zero);
}

ir_value_t* product_widen(product_t* p, product_side_t side, ir_value_t* value) {
  if (ir_type_scalar(value->type) == p->accumulator) return value;
  bool second = side_value(p, side) == ir_operand(p->op, 1);
  bool is_unsigned = graph_reads_unsigned(p->op, second);
  return kernel_cast(&p->d->k.b, is_unsigned ? SCALAR_castu : SCALAR_cast, value, p->accumulator);
}

int64_t product_line(const product_t* p) {
  if (!p->is_conv) return p->turned ? 1 : p->columns;
  const ir_type_t* y = p->op->results[0].type;
  int64_t last = graph_layout_axis(p->conv.y_layout, (char)('0' + p->spatial - 1));
  return p->spatial && last == y->rank - 1 ? y->dims[last] : 1;
}

int64_t product_row_line(const product_t* p) {
  if (!p->is_conv) return p->turned ? p->rows : 1;
  return graph_layout_axis(p->conv.y_layout, 'c') == p->op->results[0].type->rank - 1 ? p->rows : 1;
}

void product_set_lane(const product_t* p, product_column_t* column) {
  if (p->is_conv) {
    column->position[p->spatial - 1].lane = 1;
  } else {
    column->column.lane = 1;
  }
}

void product_store(product_t* p, linear_t row, const product_column_t* column, ir_value_t* value) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* result = ir_result(p->op, 0);
  linear_t coords[GRAPH_MAX_RANK];
  if (p->is_conv) {
    coords[graph_layout_axis(p->conv.y_layout, 'n')] = column->image;
    coords[graph_layout_axis(p->conv.y_layout, 'c')] = channel_of(p, row, p->rows);
    for (uint32_t i = 0; i < p->spatial; ++i)
      coords[graph_layout_axis(p->conv.y_layout, (char)('0' + i))] = column->position[i];
  } else {
    uint32_t n = 0;
    if (result->type->rank == 3) coords[n++] = p->at_batch;
    coords[n] = p->turned ? column->column : row;
    coords[n + 1] = p->turned ? row : column->column;
  }
  eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
  epilogue_store(p->d, result, coords);
  result->data = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory order
//===----------------------------------------------------------------------------------------------------------------===

int32_t product_inner_dim(const ir_value_t* value) {
  const ir_op_t* op = value->def;
  int32_t last = value->type->rank - 1;
  while (last > 0 && value->type->dims[last] == 1) --last;
  if (!op) return last;
  if (graph_scalar_fn(op) >= 0) return product_inner_dim(ir_operand(op, 0));
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    int64_t perm[GRAPH_MAX_RANK];
    graph_get_perm(op, perm);
    int32_t inner = product_inner_dim(ir_operand(op, 0));
    for (int32_t i = 0; i < value->type->rank; ++i) {
      if (perm[i] == inner) return i;
    }
    return -1;
  }
  if (ir_is(op, GRAPH_BROADCAST) || ir_is(op, GRAPH_SLICE)) {
    int64_t to[GRAPH_MAX_RANK];
    int32_t inner = product_inner_dim(ir_operand(op, 0));
    if (inner < 0) return -1;
    if (ir_is(op, GRAPH_BROADCAST)) return graph_get_dims(op, to), (int32_t)to[inner];
    return graph_get_strides(op, to), to[inner] == 1 ? inner : -1;
  }
  if (!ir_is(op, GRAPH_RESHAPE)) return -1;
  const ir_type_t* from = ir_operand(op, 0)->type;
  int32_t from_last = from->rank - 1;
  while (from_last > 0 && from->dims[from_last] == 1) --from_last;
  return product_inner_dim(ir_operand(op, 0)) == from_last ? last : -1;
}

product_along_t product_along(const product_t* p, product_side_t side) {
  const ir_value_t* value = side_value(p, side);
  bool left = side == PRODUCT_LEFT;
  int64_t inner = product_inner_dim(value), rank = value->type->rank, free, depth;
  if (p->is_conv) {
    depth = left ? graph_layout_axis(p->conv.w_layout, 'i') : graph_layout_axis(p->conv.x_layout, 'c');
    free = left ? graph_layout_axis(p->conv.w_layout, 'o') : -1;
  } else {
    depth = left != p->turned ? rank - 1 : rank - 2;
    free = left != p->turned ? rank - 2 : rank - 1;
  }
  return inner < 0        ? PRODUCT_ALONG_NOTHING
         : inner == depth ? PRODUCT_ALONG_DEPTH
         : inner == free  ? PRODUCT_ALONG_ROWS
                          : PRODUCT_ALONG_NOTHING;
}

// Whether runs of `most` elements, or of fewer, which it becomes then, are runs of the op's operand.
static bool keeps_runs(const ir_op_t* op, int64_t* most) {
  if (ir_is(op, GRAPH_TRANSPOSE) || ir_is(op, GRAPH_RESHAPE)) return true;
  if (!ir_is(op, GRAPH_SLICE) && !ir_is(op, GRAPH_BROADCAST)) return false;
  const ir_value_t* from = ir_operand(op, 0);
  const int64_t* dims = op->results[0].type->dims;
  int64_t to[GRAPH_MAX_RANK], offsets[GRAPH_MAX_RANK];
  int32_t inner = product_inner_dim(from);
  if (inner < 0 || from->type->dims[inner] == IR_DYNAMIC) return false;
  if (ir_is(op, GRAPH_BROADCAST)) return graph_get_dims(op, to), dims[to[inner]] == from->type->dims[inner];
  graph_get_strides(op, to);
  graph_get_offsets(op, offsets);
  if (to[inner] != 1 || dims[inner] == IR_DYNAMIC) return false;
  while (*most > 1 && (offsets[inner] % *most || dims[inner] % *most)) *most /= 2;
  return true;
}

int64_t product_value_copy_width(const ir_value_t* value, int64_t most) {
  for (; value->def; value = ir_operand(value->def, 0)) {
    if (!keeps_runs(value->def, &most)) return 0;
  }
  int32_t last = value->type->rank - 1;
  while (last > 0 && value->type->dims[last] == 1) --last;
  int64_t width = 1;
  while (last >= 0 && width < most && value->type->dims[last] % (2 * width) == 0) width *= 2;
  return width;
}

int64_t product_copy_width(const product_t* p, product_side_t side, int64_t most) {
  return product_value_copy_width(side_value(p, side), most);
}
