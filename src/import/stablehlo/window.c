// reduce_window and select_and_scatter.
#include <math.h>
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

static bool read_steps(lower_op_t* n, const char* name, uint32_t rank, int64_t* out) {
  for (uint32_t i = 0; i < rank; ++i) out[i] = 1;
  if (!ir_op_attr(n->op, name) || !rank) return true;
  if (!lower_ints(n, name, out, rank)) return false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (out[i] < 1 || out[i] > INT32_MAX) return lower_error(n, "needs positive numbers in '%s'", name);
  }
  return true;
}

static bool read_window(lower_op_t* n, uint32_t rank, graph_window_t* w) {
  int64_t padding[2 * GRAPH_MAX_RANK] = {0};
  if (!read_steps(n, "window_dimensions", rank, w->sizes) || !read_steps(n, "window_strides", rank, w->strides) ||
      !read_steps(n, "window_dilations", rank, w->dilations) ||
      !read_steps(n, "base_dilations", rank, w->base_dilations)) {
    return false;
  }
  const ir_attr_t* attr = ir_op_attr(n->op, "padding");
  if (attr && rank && ir_attr_ints(attr, padding, 2 * GRAPH_MAX_RANK) != 2 * rank) {
    return lower_error(n, "needs two numbers for each dimension in 'padding'");
  }
  for (uint32_t i = 0; i < rank; ++i) {
    w->pad_low[i] = padding[2 * i];
    w->pad_high[i] = padding[2 * i + 1];
    if (fabs((double)padding[2 * i]) > INT32_MAX || fabs((double)padding[2 * i + 1]) > INT32_MAX) {
      return lower_error(n, "pads too far");
    }
  }
  return true;
}

// Negative padding crops the operand before the sweep.
static bool crop(lower_op_t* n, uint32_t rank, graph_window_t* w, ir_value_t** x) {
  int64_t low[GRAPH_MAX_RANK] = {0}, high[GRAPH_MAX_RANK] = {0};
  bool any = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (w->pad_low[i] >= 0 && w->pad_high[i] >= 0) continue;
    if (w->base_dilations[i] != 1) return lower_unsupported(n, "negative padding of dilated operands is not");
    low[i] = w->pad_low[i] < 0 ? w->pad_low[i] : 0;
    high[i] = w->pad_high[i] < 0 ? w->pad_high[i] : 0;
    w->pad_low[i] -= low[i];
    w->pad_high[i] -= high[i];
    int64_t dim = (*x)->type->dims[i];
    if (dim != IR_DYNAMIC && dim + low[i] + high[i] < 0) return lower_error(n, "crops more than there is");
    any = true;
  }
  if (any) *x = graph_pad(n->b, *x, NULL, low, high, NULL, "constant");
  return true;
}

static bool is_padded(uint32_t rank, const graph_window_t* w) {
  for (uint32_t i = 0; i < rank; ++i) {
    if (w->pad_low[i] || w->pad_high[i] || w->base_dilations[i] != 1) return true;
  }
  return false;
}

// The type that graph_window gives, for ops that are built by hand.
static const ir_type_t* window_type(lower_op_t* n, const ir_type_t* x, const graph_window_t* w) {
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->rank; ++i) {
    int64_t size = x->dims[i], extent = (w->sizes[i] - 1) * w->dilations[i] + 1;
    int64_t base = (size > 0 ? (size - 1) * w->base_dilations[i] + 1 : 0) + w->pad_low[i] + w->pad_high[i];
    dims[i] = size == IR_DYNAMIC ? size : base < extent ? 0 : (base - extent) / w->strides[i] + 1;
  }
  return ir_type_tensor(n->ctx, x->element, x->rank, dims);
}

//===----------------------------------------------------------------------------------------------------------------===
// Running sums: a window as long as the dimension that looks back (or ahead) only
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* as_scan(lower_op_t* n, ir_value_t* x, const graph_window_t* w) {
  int32_t axis = -1;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (w->strides[i] != 1 || w->base_dilations[i] != 1 || w->dilations[i] != 1) return NULL;
    if (w->sizes[i] == 1 && !w->pad_low[i] && !w->pad_high[i]) continue;
    if (axis >= 0) return NULL;
    axis = i;
  }
  if (axis < 0 || w->sizes[axis] != x->type->dims[axis]) return NULL;
  int64_t back = w->pad_low[axis], ahead = w->pad_high[axis], whole = w->sizes[axis] - 1;
  bool forward = back == whole && ahead == 0, reverse = ahead == whole && back == 0;
  if (!forward && !reverse) return NULL;
  ir_named_attr_t attrs[3] = {{"axis", ir_attr_i64(n->ctx, axis)},
                              {"kind", ir_attr_cstring(n->ctx, w->kind)},
                              {"reverse", ir_attr_unit(n->ctx)}};
  return lower_build(n, GRAPH_SCAN, &x, 1, x->type, attrs, forward ? 2 : 3);
}

//===----------------------------------------------------------------------------------------------------------------===
// reduce_window
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* by_kind(lower_op_t* n, graph_window_t* w, ir_value_t* x, ir_value_t* start) {
  ir_value_t* y = as_scan(n, x, w);
  if (!y) y = graph_window(n->b, x, w);
  return lower_with_init(n, w->kind, y, start);
}

// A start value that is not the kind's identity stands in the padding too: fine for kinds where twice is once.
static bool padding_fits(const char* kind, const ir_value_t* start, bool padded) {
  return !padded || lower_is_identity(kind, start) ||
         (strcmp(kind, "add") != 0 && strcmp(kind, "mul") != 0 && strcmp(kind, "xor") != 0);
}

static uint32_t window_attrs(lower_op_t* n, uint32_t rank, const graph_window_t* w, ir_named_attr_t* attrs) {
  attrs[0] = (ir_named_attr_t){"sizes", ir_attr_i64_array(n->ctx, w->sizes, rank)};
  attrs[1] = (ir_named_attr_t){"strides", ir_attr_i64_array(n->ctx, w->strides, rank)};
  attrs[2] = (ir_named_attr_t){"dilations", ir_attr_i64_array(n->ctx, w->dilations, rank)};
  attrs[3] = (ir_named_attr_t){"base_dilations", ir_attr_i64_array(n->ctx, w->base_dilations, rank)};
  attrs[4] = (ir_named_attr_t){"pad_low", ir_attr_i64_array(n->ctx, w->pad_low, rank)};
  attrs[5] = (ir_named_attr_t){"pad_high", ir_attr_i64_array(n->ctx, w->pad_high, rank)};
  return 6;
}

bool stablehlo_lower_reduce_window(lower_op_t* n) {
  uint32_t count = n->op->result_count;
  if (!stablehlo_check_reduce(n)) return false;
  uint32_t rank = (uint32_t)n->in[0]->type->rank;
  graph_window_t w, cropped;
  if (!read_window(n, rank, &w)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    lower_value_t* x = &n->values[i];
    cropped = w;
    if (!crop(n, rank, &cropped, &x->v)) return false;
    if (x->im && (cropped = w, !crop(n, rank, &cropped, &x->im))) return false;
  }
  bool kinds = true;
  for (uint32_t i = 0; i < count; ++i) {
    const char* kind = stablehlo_region_kind(&n->op->regions[0], i, count);
    lower_value_t start = n->values[count + i];
    bool padded = is_padded(rank, &cropped);
    kinds &= stablehlo_kind_fits(&n->values[i], kind) && padding_fits(kind, start.v, padded) &&
             (!start.im || padding_fits(kind, start.im, padded));
  }
  for (uint32_t i = 0; kinds && i < count; ++i) {
    lower_value_t x = n->values[i], start = n->values[count + i];
    cropped.kind = stablehlo_region_kind(&n->op->regions[0], i, count);
    n->out[i].v = by_kind(n, &cropped, x.v, start.v);
    if (x.im) n->out[i].im = by_kind(n, &cropped, x.im, start.im);
  }
  if (kinds) return true;
  lower_list_t operands = stablehlo_flatten(n, 0, 2 * count);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, operands.count);
  for (uint32_t i = 0; i < operands.count / 2; ++i) types[i] = window_type(n, operands.items[i]->type, &cropped);
  ir_named_attr_t attrs[6];
  uint32_t attr_count = window_attrs(n, rank, &cropped, attrs);
  return stablehlo_with_region(n, GRAPH_WINDOW_GENERIC, &operands, types, attrs, attr_count);
}

//===----------------------------------------------------------------------------------------------------------------===
// select_and_scatter: the place that each window selects, then one scatter of the source to these places
//===----------------------------------------------------------------------------------------------------------------===

// The number of elements, and it as the operand that a type of such a size needs.
static int64_t count_elements(lower_op_t* n, ir_value_t* x, ir_value_t** dynamic) {
  ir_value_t* count = graph_index_constant(n->b, 1);
  for (int32_t i = 0; i < x->type->rank; ++i)
    count = lower_index_binary(n->b, SCALAR_mul, count, graph_dim(n->b, x, (uint32_t)i));
  *dynamic = count;
  return ir_type_count(x->type);
}

static ir_value_t* flatten(lower_op_t* n, ir_value_t* x) {
  ir_value_t* dynamic;
  int64_t count = count_elements(n, x, &dynamic);
  return graph_reshape(n->b, x, 1, &count, &dynamic);
}

// The place of each element in row-major order.
static ir_value_t* places(lower_op_t* n, ir_value_t* x) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int64_t count = count_elements(n, x, dynamic);
  const ir_type_t* flat = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
  ir_value_t* line = graph_iota(n->b, flat, 0, dynamic);
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  return graph_reshape(n->b, line, x->type->rank, x->type->dims, dynamic);
}

// (value, place), (next, its place) -> the selected pair; a complex value is two.
static bool build_selector(lower_op_t* n, ir_region_t* region, const ir_type_t* element, uint32_t parts) {
  ir_builder_t saved = *n->b;
  ir_block_t* block = ir_block_create(n->ctx);
  const ir_type_t* place = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 0, NULL);
  const ir_type_t* value = ir_type_tensor(n->ctx, element, 0, NULL);
  uint32_t each = parts + 1;
  ir_region_append(region, block);
  n->b->block = block;
  n->b->before = NULL;
  for (uint32_t i = 0; i < 2 * each; ++i) ir_block_add_arg(n->ctx, block, i % each == parts ? place : value);
  lower_value_t args[2] = {{.v = block->args[0]}, {.v = block->args[each]}}, *results;
  for (uint32_t i = 0; i < 2 && parts > 1; ++i) args[i].im = block->args[each * i + 1];
  uint32_t count;
  bool ok = lower_block(n->l, n->op->regions[0].first, args, &results, &count);
  if (ok && (count != 1 || !results[0].v)) ok = lower_error(n, "needs a select region that gives one boolean");
  if (ok) {
    ir_value_t *nothing = graph_splat_integer(n->b, place, -1), *yields[3];
    ir_value_t* chosen = graph_binary(n->b, SCALAR_ne, block->args[parts], nothing);
    chosen = graph_binary(n->b, SCALAR_and, chosen, results[0].v);
    ir_value_t* next_is_padding = graph_binary(n->b, SCALAR_eq, block->args[each + parts], nothing);
    chosen = graph_binary(n->b, SCALAR_or, chosen, next_is_padding);
    for (uint32_t i = 0; i < each; ++i) yields[i] = graph_select(n->b, chosen, block->args[i], block->args[each + i]);
    ir_build_op(n->b, GRAPH_YIELD, yields, each, NULL);
  }
  *n->b = saved;
  return ok;
}

static ir_value_t* selected_places(lower_op_t* n, const graph_window_t* w) {
  lower_value_t x = n->values[0];
  const ir_type_t *index = ir_type_int(n->ctx, 64), *type = window_type(n, x.v->type, w);
  uint32_t parts = x.im ? 2 : 1, each = parts + 1;
  ir_value_t* operands[6] = {x.v, x.im};
  const ir_type_t* types[3] = {type, type};
  for (uint32_t i = 0; i < parts; ++i) operands[each + i] = graph_scalar_constant(n->b, x.v->type->element, 0);
  operands[parts] = places(n, x.v);
  operands[each + parts] = graph_scalar_constant(n->b, index, -1);
  types[parts] = ir_type_with_element(n->ctx, type, index);
  ir_named_attr_t attrs[6];
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_WINDOW_GENERIC),
                         .operands = operands,
                         .operand_count = 2 * each,
                         .result_types = types,
                         .result_count = each,
                         .attrs = attrs,
                         .attr_count = window_attrs(n, (uint32_t)x.v->type->rank, w, attrs),
                         .region_count = 1};
  ir_op_t* op = ir_build(n->b, &state);
  return build_selector(n, &op->regions[0], x.v->type->element, parts) ? ir_result(op, parts) : NULL;
}

static bool check_select(lower_op_t* n, const graph_window_t* w) {
  const ir_type_t *x = n->in[0]->type, *source = n->in[1]->type;
  ir_block_t* select = n->op->regions[0].first;
  if (n->op->region_count != 2 || !select || select->arg_count != 2 || !n->op->regions[1].first) {
    return lower_error(n, "needs a select and a scatter region");
  }
  if (!lower_fits(source, window_type(n, x, w)) || n->in[2]->type->rank != 0) {
    return lower_error(n, "has a source of type %s where its windows give %s", ir_type_str(n->ctx, source),
                       ir_type_str(n->ctx, window_type(n, x, w)));
  }
  return true;
}

// The source at its places, by the op's scatter region.
static ir_value_t* scatter_places(lower_op_t* n, ir_value_t* const* operands, const ir_named_attr_t* attrs,
                                  uint32_t attr_count) {
  const ir_type_t* type = operands[0]->type;
  const char* kind = stablehlo_region_kind(&n->op->regions[1], 0, 1);
  bool complex = n->values[0].im != NULL;
  if (complex && (!kind || strcmp(kind, "add") != 0))
    return lower_unsupported(n, "of complex elements, a scatter region that adds is"), NULL;
  ir_named_attr_t all[8];
  memcpy(all, attrs, sizeof(*attrs) * attr_count);
  if (kind && strcmp(kind, "xor") != 0) {
    all[attr_count++] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, kind)};
    return lower_build(n, GRAPH_SCATTER, operands, 3, type, all, attr_count);
  }
  ir_op_t* op = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_SCATTER_GENERIC),
                                                .operands = operands,
                                                .operand_count = 3,
                                                .result_types = &type,
                                                .result_count = 1,
                                                .attrs = all,
                                                .attr_count = attr_count,
                                                .region_count = 1});
  const ir_type_t* scalar = ir_type_tensor(n->ctx, type->element, 0, NULL);
  return lower_region(n->l, n->op->regions[1].first, &op->regions[0], &scalar, 1) ? ir_result(op, 0) : NULL;
}

bool stablehlo_lower_select_and_scatter(lower_op_t* n) {
  graph_window_t w;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!n->in[i] || !ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
    if (!n->values[i].im != !n->values[0].im) return lower_error(n, "needs operands of one element type");
  }
  if (!read_window(n, (uint32_t)n->in[0]->type->rank, &w) || !check_select(n, &w)) return false;
  ir_value_t *indices = selected_places(n, &w), *count, *dynamic[GRAPH_MAX_RANK];
  if (!indices) return false;
  int64_t known = count_elements(n, n->in[0], &count), zero = 0;
  indices = flatten(n, indices);
  const ir_type_t *x = n->in[0]->type, *flat = ir_type_tensor(n->ctx, x->element, 1, &known);
  lower_dynamic_dims(n->b, n->in[0], x, dynamic);
  ir_named_attr_t attrs[] = {{"update_window_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"inserted_dims", ir_attr_i64_array(n->ctx, &zero, 1)},
                             {"operand_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"indices_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"scatter_dims_map", ir_attr_i64_array(n->ctx, &zero, 1)},
                             {"index_vector_dim", ir_attr_i64(n->ctx, 1)}};
  for (int i = 0; i < (n->values[0].im ? 2 : 1); ++i) {
    ir_value_t *updates = flatten(n, i ? n->values[1].im : n->in[1]), *start = i ? n->values[2].im : n->in[2];
    ir_value_t* operands[3] = {graph_broadcast(n->b, start, flat, NULL, &count), indices, updates};
    ir_value_t* y = scatter_places(n, operands, attrs, sizeof(attrs) / sizeof(attrs[0]));
    if (!y) return false;
    y = graph_reshape(n->b, y, x->rank, x->dims, dynamic);
    *(i ? &n->out[0].im : &n->out[0].v) = y;
  }
  return true;
}
