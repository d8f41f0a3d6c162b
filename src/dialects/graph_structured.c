// Builders of the graph ops that compute over several elements: contraction, convolution, reduction, windows, gather.
#include <assert.h>
#include <string.h>

#include "dialects/graph_shape.h"

ir_value_t* graph_reduce(ir_builder_t* b, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind) {
  if (!count) return x;
  int64_t kept[GRAPH_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (!shape_contains(dims, count, i)) kept[rank++] = x->type->dims[i];
  }
  ir_named_attr_t attrs[] = {{"dims", ir_attr_i64_array(b->ctx, dims, count)}, {"kind", ir_attr_cstring(b->ctx, kind)}};
  return graph_build(b, GRAPH_REDUCE, &x, 1, ir_type_tensor(b->ctx, x->type->element, rank, kept), attrs, 2);
}

// Appends the dims of `type` which are in neither list.
static int32_t append_free(const ir_type_t* type, const int64_t* batch, uint32_t batch_count, const int64_t* contract,
                           uint32_t contract_count, int64_t* out) {
  int32_t count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    bool taken = shape_contains(batch, batch_count, i) || shape_contains(contract, contract_count, i);
    if (!taken) out[count++] = type->dims[i];
  }
  return count;
}

ir_value_t* graph_contract(ir_builder_t* b, ir_value_t* lhs, ir_value_t* rhs, const graph_contract_t* c,
                           const ir_type_t* accumulator) {
  int64_t dims[2 * GRAPH_MAX_RANK];
  int32_t rank = 0;
  for (uint32_t i = 0; i < c->batch_count; ++i) {
    int64_t dim = lhs->type->dims[c->lhs_batch[i]];
    dims[rank++] = dim == IR_DYNAMIC ? rhs->type->dims[c->rhs_batch[i]] : dim;
  }
  rank += append_free(lhs->type, c->lhs_batch, c->batch_count, c->lhs_contract, c->contract_count, dims + rank);
  rank += append_free(rhs->type, c->rhs_batch, c->batch_count, c->rhs_contract, c->contract_count, dims + rank);
  ir_named_attr_t attrs[6] = {{"lhs_batch", ir_attr_i64_array(b->ctx, c->lhs_batch, c->batch_count)},
                              {"rhs_batch", ir_attr_i64_array(b->ctx, c->rhs_batch, c->batch_count)},
                              {"lhs_contract", ir_attr_i64_array(b->ctx, c->lhs_contract, c->contract_count)},
                              {"rhs_contract", ir_attr_i64_array(b->ctx, c->rhs_contract, c->contract_count)}};
  uint32_t count = 4;
  if (c->unsigned_lhs) attrs[count++] = (ir_named_attr_t){"unsigned_lhs", ir_attr_unit(b->ctx)};
  if (c->unsigned_rhs) attrs[count++] = (ir_named_attr_t){"unsigned_rhs", ir_attr_unit(b->ctx)};
  const ir_type_t* type = ir_type_tensor(b->ctx, accumulator, rank, dims);
  return graph_build(b, GRAPH_CONTRACT, (ir_value_t*[]){lhs, rhs}, 2, type, attrs, count);
}

bool graph_reads_unsigned(const ir_op_t* op, uint32_t operand) {
  if (ir_is(op, GRAPH_CONV)) return operand == 0 && graph_get_unsigned_lhs(op);
  return ir_is(op, GRAPH_CONTRACT) && (operand ? graph_get_unsigned_rhs(op) : graph_get_unsigned_lhs(op));
}

int32_t graph_layout_axis(const char* layout, char name) {
  const char* at = strchr(layout, name);
  assert(at && "layout lacks a dimension");
  return (int32_t)(at - layout);
}

ir_value_t* graph_conv(ir_builder_t* b, ir_value_t* x, ir_value_t* w, const graph_conv_t* c,
                       const ir_type_t* accumulator) {
  int32_t rank = x->type->rank;
  uint32_t spatial = (uint32_t)rank - 2;
  int64_t dims[GRAPH_MAX_RANK];
  int64_t batch = x->type->dims[graph_layout_axis(c->x_layout, 'n')];
  dims[graph_layout_axis(c->y_layout, 'n')] = batch == IR_DYNAMIC ? batch : batch / c->batch_groups;
  dims[graph_layout_axis(c->y_layout, 'c')] = w->type->dims[graph_layout_axis(c->w_layout, 'o')];
  for (uint32_t i = 0; i < spatial; ++i) {
    char digit = (char)('0' + i);
    shape_sweep_t sweep = {c->x_dilation[i], c->pad_low[i], c->pad_high[i], c->w_dilation[i], c->strides[i]};
    dims[graph_layout_axis(c->y_layout, digit)] =
        shape_swept(x->type->dims[graph_layout_axis(c->x_layout, digit)],
                    w->type->dims[graph_layout_axis(c->w_layout, digit)], &sweep);
  }
  ir_context_t* ctx = b->ctx;
  ir_named_attr_t attrs[] = {{"x_layout", ir_attr_cstring(ctx, c->x_layout)},
                             {"w_layout", ir_attr_cstring(ctx, c->w_layout)},
                             {"y_layout", ir_attr_cstring(ctx, c->y_layout)},
                             {"strides", ir_attr_i64_array(ctx, c->strides, spatial)},
                             {"pad_low", ir_attr_i64_array(ctx, c->pad_low, spatial)},
                             {"pad_high", ir_attr_i64_array(ctx, c->pad_high, spatial)},
                             {"x_dilation", ir_attr_i64_array(ctx, c->x_dilation, spatial)},
                             {"w_dilation", ir_attr_i64_array(ctx, c->w_dilation, spatial)},
                             {"groups", ir_attr_i64(ctx, c->groups)},
                             {"batch_groups", ir_attr_i64(ctx, c->batch_groups)},
                             {"unsigned_lhs", ir_attr_unit(ctx)}};
  const ir_type_t* type = ir_type_tensor(ctx, accumulator, rank, dims);
  return graph_build(b, GRAPH_CONV, (ir_value_t*[]){x, w}, 2, type, attrs, c->unsigned_lhs ? 11 : 10);
}

graph_conv_t graph_conv_read(const ir_op_t* op) {
  graph_conv_t out = {.x_layout = graph_get_x_layout(op),
                      .w_layout = graph_get_w_layout(op),
                      .y_layout = graph_get_y_layout(op),
                      .groups = graph_get_groups(op),
                      .batch_groups = graph_get_batch_groups(op),
                      .unsigned_lhs = graph_get_unsigned_lhs(op)};
  graph_get_strides(op, out.strides);
  graph_get_pad_low(op, out.pad_low);
  graph_get_pad_high(op, out.pad_high);
  graph_get_x_dilation(op, out.x_dilation);
  graph_get_w_dilation(op, out.w_dilation);
  return out;
}

ir_value_t* graph_window(ir_builder_t* b, ir_value_t* x, const graph_window_t* w) {
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t dims[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) {
    shape_sweep_t sweep = {w->base_dilations[i], w->pad_low[i], w->pad_high[i], w->dilations[i], w->strides[i]};
    dims[i] = shape_swept(x->type->dims[i], w->sizes[i], &sweep);
  }
  ir_context_t* ctx = b->ctx;
  ir_named_attr_t attrs[] = {{"kind", ir_attr_cstring(ctx, w->kind)},
                             {"sizes", ir_attr_i64_array(ctx, w->sizes, rank)},
                             {"strides", ir_attr_i64_array(ctx, w->strides, rank)},
                             {"dilations", ir_attr_i64_array(ctx, w->dilations, rank)},
                             {"base_dilations", ir_attr_i64_array(ctx, w->base_dilations, rank)},
                             {"pad_low", ir_attr_i64_array(ctx, w->pad_low, rank)},
                             {"pad_high", ir_attr_i64_array(ctx, w->pad_high, rank)}};
  return graph_build(b, GRAPH_WINDOW, &x, 1, ir_type_tensor(ctx, x->type->element, (int32_t)rank, dims), attrs, 7);
}

bool graph_scatter_rises(const ir_op_t* op) {
  int64_t row = -1;
  bool scatters = ir_is(op, GRAPH_SCATTER) || ir_is(op, GRAPH_SCATTER_GENERIC);
  return scatters && graph_get_sorted(op) && !graph_get_wrap(op) && ir_operand(op, op->result_count)->type->rank == 1 &&
         graph_get_index_vector_dim(op) == 1 && graph_attr_one(op, GRAPH_ATTR_scatter_dims_map, &row) == 1 &&
         row == 0 && graph_attr_one(op, GRAPH_ATTR_inserted_dims, &row) == 1 && row == 0;
}

graph_window_t graph_window_read(const ir_op_t* op) {
  graph_window_t out = {.kind = ir_is(op, GRAPH_WINDOW) ? graph_get_kind(op) : NULL};
  graph_get_sizes(op, out.sizes);
  graph_get_strides(op, out.strides);
  graph_get_dilations(op, out.dilations);
  graph_get_base_dilations(op, out.base_dilations);
  graph_get_pad_low(op, out.pad_low);
  graph_get_pad_high(op, out.pad_high);
  return out;
}

ir_value_t* graph_take(ir_builder_t* b, ir_value_t* x, ir_value_t* indices, int64_t axis, bool wrap) {
  int32_t rank = x->type->rank, index_rank = indices->type->rank;
  int64_t dims[2 * GRAPH_MAX_RANK], offset_dims[GRAPH_MAX_RANK], slice_sizes[GRAPH_MAX_RANK];
  int32_t count = 0;
  uint32_t offsets = 0;
  for (int32_t i = 0; i < rank; ++i) {
    slice_sizes[i] = i == axis ? 1 : x->type->dims[i];
    if (i != axis) {
      offset_dims[offsets++] = count;
      dims[count++] = x->type->dims[i];
      continue;
    }
    for (int32_t k = 0; k < index_rank; ++k) dims[count++] = indices->type->dims[k];
  }
  ir_context_t* ctx = b->ctx;
  ir_named_attr_t attrs[8] = {{"offset_dims", ir_attr_i64_array(ctx, offset_dims, offsets)},
                              {"collapsed_dims", ir_attr_i64_array(ctx, &axis, 1)},
                              {"operand_batch_dims", ir_attr_i64_array(ctx, NULL, 0)},
                              {"indices_batch_dims", ir_attr_i64_array(ctx, NULL, 0)},
                              {"start_index_map", ir_attr_i64_array(ctx, &axis, 1)},
                              {"index_vector_dim", ir_attr_i64(ctx, index_rank)},
                              {"slice_sizes", ir_attr_i64_array(ctx, slice_sizes, (uint32_t)rank)},
                              {"wrap", ir_attr_unit(ctx)}};
  const ir_type_t* type = ir_type_tensor(ctx, x->type->element, count, dims);
  return graph_build(b, GRAPH_GATHER, (ir_value_t*[]){x, indices}, 2, type, attrs, wrap ? 8 : 7);
}

ir_op_t* graph_arg_reduce(ir_builder_t* b, ir_value_t* x, const graph_extreme_t* extreme) {
  int64_t dims[GRAPH_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (i != extreme->axis) dims[rank++] = x->type->dims[i];
  }
  const ir_type_t* types[] = {ir_type_tensor(b->ctx, x->type->element, rank, dims),
                              ir_type_tensor(b->ctx, extreme->index, rank, dims)};
  ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(b->ctx, extreme->axis)},
                             {"kind", ir_attr_cstring(b->ctx, extreme->least ? "min" : "max")},
                             {"last", ir_attr_unit(b->ctx)}};
  return ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, GRAPH_ARG_REDUCE),
                                      .operands = &x,
                                      .operand_count = 1,
                                      .result_types = types,
                                      .result_count = 2,
                                      .attrs = attrs,
                                      .attr_count = extreme->last ? 3 : 2});
}

ir_op_t* graph_top_k(ir_builder_t* b, ir_value_t* x, const graph_extreme_t* extreme) {
  int64_t dims[GRAPH_MAX_RANK];
  int32_t rank = x->type->rank;
  memcpy(dims, x->type->dims, sizeof(*dims) * (size_t)rank);
  dims[extreme->axis] = extreme->k;
  const ir_type_t* types[] = {ir_type_tensor(b->ctx, x->type->element, rank, dims),
                              ir_type_tensor(b->ctx, extreme->index, rank, dims)};
  ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(b->ctx, extreme->axis)},
                             {"k", ir_attr_i64(b->ctx, extreme->k)},
                             {"smallest", ir_attr_unit(b->ctx)}};
  return ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, GRAPH_TOP_K),
                                      .operands = &x,
                                      .operand_count = 1,
                                      .result_types = types,
                                      .result_count = 2,
                                      .attrs = attrs,
                                      .attr_count = extreme->least ? 3 : 2});
}

int64_t graph_sort_digits(const ir_type_t* element) {
  bool is_number = element->kind == IR_TYPE_FLOAT || element->kind == IR_TYPE_INTEGER;
  int64_t bits = is_number && element->width == 8 * ir_type_bytes(element) ? element->width : 0;
  return bits >= (element->kind == IR_TYPE_FLOAT ? 16 : 8) ? bits / 8 : 0;
}

ir_op_t* graph_sort(ir_builder_t* b, ir_value_t* const* operands, uint32_t count, const graph_sort_t* how) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(b->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) types[i] = operands[i]->type;
  uint32_t attr_count = 2;
  ir_named_attr_t attrs[4] = {{"axis", ir_attr_i64(b->ctx, how->axis)},
                              {"keys", ir_attr_i64(b->ctx, how->keys ? how->keys : 1)}};
  if (how->descending) attrs[attr_count++] = (ir_named_attr_t){"descending", ir_attr_unit(b->ctx)};
  if (!how->unstable) attrs[attr_count++] = (ir_named_attr_t){"stable", ir_attr_unit(b->ctx)};
  return ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, GRAPH_SORT),
                                      .operands = operands,
                                      .operand_count = count,
                                      .result_types = types,
                                      .result_count = count,
                                      .attrs = attrs,
                                      .attr_count = attr_count});
}

void graph_fft(ir_builder_t* b, ir_value_t* parts[2], const char* kind, int64_t rank) {
  const ir_type_t* types[] = {parts[0]->type, parts[0]->type};
  ir_named_attr_t attrs[] = {{"kind", ir_attr_cstring(b->ctx, kind)}, {"rank", ir_attr_i64(b->ctx, rank)}};
  ir_op_t* op = ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, GRAPH_FFT),
                                             .operands = parts,
                                             .operand_count = 2,
                                             .result_types = types,
                                             .result_count = 2,
                                             .attrs = attrs,
                                             .attr_count = 2});
  for (uint32_t i = 0; i < 2; ++i) parts[i] = ir_result(op, i);
}

void graph_assert(ir_builder_t* b, ir_value_t* flags, const char* message) {
  graph_assert_numbers(b, flags, NULL, 0, message);
}

void graph_assert_numbers(ir_builder_t* b, ir_value_t* flags, ir_value_t* const* numbers, uint32_t count,
                          const char* message) {
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(b->ctx), ir_value_t*, count + 1);
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < flags->type->rank; ++i) dims[i] = i;
  operands[0] = graph_reduce(b, flags, dims, (uint32_t)flags->type->rank, "and");
  for (uint32_t i = 0; i < count; ++i) operands[i + 1] = numbers[i];
  ir_named_attr_t attr = {"message", ir_attr_cstring(b->ctx, message)};
  ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, GRAPH_ASSERT),
                               .operands = operands,
                               .operand_count = count + 1,
                               .attrs = &attr,
                               .attr_count = 1});
}
