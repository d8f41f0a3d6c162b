// tensor.extract with a place for each iteration: a gather. Dimensions that are read from end to end by a loop of their
// own stay whole, so that looking up rows moves rows.
#include <string.h>

#include "import/linalg/ops.h"

static bool varies_along(const ir_value_t* v, int64_t axis) {
  int64_t dims[GRAPH_MAX_RANK];
  const ir_op_t* op = v->def;
  if (!ir_type_is_tensor(v->type) || v->type->rank == 0) return false;
  if (!op) return true;
  if (ir_is(op, GRAPH_IOTA)) return ir_op_int(op, "axis", -1) == axis;
  if (ir_is(op, GRAPH_BROADCAST)) {
    uint32_t count = ir_op_ints(op, "dims", dims, GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < count; ++i) {
      if (dims[i] == axis) return ir_operand(op, 0)->type->dims[i] != 1 && varies_along(ir_operand(op, 0), i);
    }
    return false;
  }
  if (ir_is(op, GRAPH_CONSTANT)) return !ir_op_attr(op, "value")->splat;
  if (graph_scalar_fn(op) < 0) return true;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (varies_along(ir_operand(op, i), axis)) return true;
  }
  return false;
}

// The loop whose number an index is, or -1.
static int64_t counted_loop(const ir_value_t* v) {
  while (v->def && graph_scalar_fn(v->def) == SCALAR_cast) v = ir_operand(v->def, 0);
  return ir_is(v->def, GRAPH_IOTA) ? ir_op_int(v->def, "axis", -1) : -1;
}

typedef struct windows_t {
  int64_t axes[GRAPH_MAX_RANK];  // by dimension of the tensor; -1: gathered
  int64_t sizes[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], whole[GRAPH_MAX_RANK];
  uint32_t collapsed_count, whole_count;
} windows_t;

static void find_windows(const loops_t* l, const ir_type_t* type, ir_value_t* const* indices, windows_t* w) {
  int64_t last = -1;
  for (int32_t d = 0; d < type->rank; ++d) {
    int64_t loop = counted_loop(indices[d]);
    bool whole = loop > last && type->dims[d] != IR_DYNAMIC && l->type->dims[loop] == type->dims[d];
    for (int32_t other = 0; whole && other < type->rank; ++other) {
      if (other != d && varies_along(indices[other], loop)) whole = false;
    }
    w->axes[d] = whole ? loop : -1;
    if (whole) last = loop;
    w->sizes[d] = whole ? type->dims[d] : 1;
    if (whole) w->whole[w->whole_count++] = loop;
    if (!whole) w->collapsed[w->collapsed_count++] = d;
  }
}

// An index without the loops that are whole, with a last dimension of one.
static ir_value_t* column(lower_op_t* n, const loops_t* l, const windows_t* w, ir_value_t* v) {
  int64_t zeros[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t rank = 0, next = 0, count = 0;
  v = lower_as_tensor(n->b, v);
  v = graph_cast(n->b, v, ir_type_index(n->ctx), false);
  if (v->type->rank == 0) v = graph_broadcast(n->b, v, l->type, NULL, l->dynamic);
  for (uint32_t i = 0; i < l->rank; ++i) {
    bool whole = false;
    for (uint32_t k = 0; k < w->whole_count; ++k) whole |= w->whole[k] == i;
    ir_value_t* size = l->type->dims[i] == IR_DYNAMIC ? l->dynamic[next++] : NULL;
    sizes[i] = whole ? 1 : v->type->dims[i];
    ones[i] = 1;
    if (whole) continue;
    dims[rank++] = l->type->dims[i];
    if (size) dynamic[count++] = size;
  }
  dims[rank++] = 1;
  return graph_reshape(n->b, graph_slice(n->b, v, zeros, sizes, ones), (int32_t)rank, dims, dynamic);
}

ir_value_t* loops_gather(lower_op_t* n, const loops_t* l, ir_value_t* tensor, ir_value_t* const* indices) {
  const ir_type_t* type = tensor->type;
  windows_t w = {.collapsed_count = 0};
  ir_value_t* columns[GRAPH_MAX_RANK];
  if (!l || l->rank + 1 > GRAPH_MAX_RANK) return lower_unsupported(n, "outside of loops numbers are indices"), NULL;
  find_windows(l, type, indices, &w);
  if (!w.collapsed_count) {
    return graph_broadcast(n->b, tensor, ir_type_with_element(n->ctx, l->type, type->element), w.whole, l->dynamic);
  }
  for (uint32_t i = 0; i < w.collapsed_count; ++i) columns[i] = column(n, l, &w, indices[w.collapsed[i]]);
  int64_t vector = (int64_t)(l->rank - w.whole_count);
  ir_value_t* places = graph_concat(n->b, columns, w.collapsed_count, vector);
  ir_context_t* ctx = n->ctx;
  ir_named_attr_t attrs[7] = {{"offset_dims", ir_attr_i64_array(ctx, w.whole, w.whole_count)},
                              {"collapsed_dims", ir_attr_i64_array(ctx, w.collapsed, w.collapsed_count)},
                              {"operand_batch_dims", ir_attr_i64_array(ctx, NULL, 0)},
                              {"indices_batch_dims", ir_attr_i64_array(ctx, NULL, 0)},
                              {"start_index_map", ir_attr_i64_array(ctx, w.collapsed, w.collapsed_count)},
                              {"index_vector_dim", ir_attr_i64(ctx, vector)},
                              {"slice_sizes", ir_attr_i64_array(ctx, w.sizes, (uint32_t)type->rank)}};
  return lower_build(n, GRAPH_GATHER, (ir_value_t*[]){tensor, places}, 2,
                     ir_type_with_element(ctx, l->type, type->element), attrs, 7);
}

uint32_t places_attrs(lower_op_t* n, const places_t* p, bool scatter, ir_named_attr_t* attrs) {
  ir_context_t* ctx = n->ctx;
  const ir_attr_t* none = ir_attr_i64_array(ctx, NULL, 0);
  const ir_attr_t* window = ir_attr_i64_array(ctx, p->window, p->window_count);
  const ir_attr_t* gone = ir_attr_i64_array(ctx, p->sorted, p->whole ? 0 : p->depth);
  attrs[0] = (ir_named_attr_t){scatter ? "update_window_dims" : "offset_dims", window};
  attrs[1] = (ir_named_attr_t){scatter ? "inserted_dims" : "collapsed_dims", gone};
  attrs[2] = (ir_named_attr_t){"operand_batch_dims", none};
  attrs[3] = (ir_named_attr_t){"indices_batch_dims", none};
  attrs[4] =
      (ir_named_attr_t){scatter ? "scatter_dims_map" : "start_index_map", ir_attr_i64_array(ctx, p->map, p->depth)};
  attrs[5] = (ir_named_attr_t){"index_vector_dim", ir_attr_i64(ctx, p->vector_dim)};
  return 6;
}
