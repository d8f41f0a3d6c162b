// Elements of memory, scalar functions and index maps. See eval.h.
#include "kernels/eval.h"

#include <assert.h>
#include <string.h>

#include "kernels/eval_memo.h"

//===----------------------------------------------------------------------------------------------------------------===
// Sources
//===----------------------------------------------------------------------------------------------------------------===

static source_t* new_source(kernel_build_t* k, ir_value_t* tensor, source_kind_t kind) {
  source_t* source = ARENA_NEW(ir_context_arena(k->ctx), source_t);
  source->kind = kind;
  tensor->data = source;
  return source;
}

void eval_set_memory(kernel_build_t* k, ir_value_t* tensor, ir_value_t* memory, const int64_t* numbers) {
  source_t* source = new_source(k, tensor, SOURCE_MEMORY);
  source->memory = memory;
  source->numbers = numbers;
}

void eval_set_bound(kernel_build_t* k, ir_value_t* tensor, ir_value_t* value) {
  const source_t* before = tensor->data;
  const int64_t* numbers = before ? before->numbers : NULL;
  source_t* source = new_source(k, tensor, SOURCE_BOUND);
  source->value = value;
  source->numbers = numbers;
}

extent_t eval_extent(const ir_value_t* tensor, int32_t dim) {
  const source_t* source = tensor->data;
  return extent_of_dim(tensor, dim, tensor->def || !source ? NULL : source->numbers);
}

ir_value_t* eval_size(kernel_build_t* k, const ir_value_t* tensor, int32_t dim) {
  extent_t size = eval_extent(tensor, dim);
  return extent_value(k, &size);
}

void eval_extents(const ir_value_t* tensor, extent_t* out) {
  for (int32_t i = 0; i < tensor->type->rank; ++i) out[i] = eval_extent(tensor, i);
}

extent_t eval_count(const ir_value_t* tensor) {
  extent_t count = extent_fixed(1);
  for (int32_t i = 0; i < tensor->type->rank; ++i) count = extent_product(count, eval_extent(tensor, i));
  return count;
}

bool eval_same_shape(const ir_value_t* x, const ir_value_t* y) {
  if (x->type->rank != y->type->rank) return false;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    extent_t a = eval_extent(x, i), b = eval_extent(y, i);
    if (!extent_equal(&a, &b)) return false;
  }
  return true;
}

linear_t eval_offset(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  linear_t offset = linear_constant(0);
  for (int32_t i = 0; i < tensor->type->rank; ++i) {
    if (i) {
      extent_t size = eval_extent(tensor, i);
      offset = linear_scale_extent(k, offset, &size);
    }
    if (tensor->type->dims[i] != 1) offset = linear_add(k, offset, coords[i]);
  }
  return offset;
}

static ir_value_t* zero_lanes(kernel_build_t* k, const ir_type_t* scalar, int64_t lanes) {
  return kernel_number(&k->b, kernel_vector_type(k->ctx, scalar, lanes), 0);
}

bool eval_shuffles(const ir_type_t* scalar) { return scalar->kind == IR_TYPE_INDEX || scalar->width >= 8; }

// A run of `load_strided`. Lanes that the mask leaves out are not touched; their results are 0.
static ir_value_t* load_run(kernel_build_t* k, ir_value_t* memory, linear_t at, const int64_t* lane_of) {
  int64_t lanes = k->lanes, from[64];
  if (!k->mask) return kernel_load(&k->b, memory, linear_scalar(k, &at), lanes);
  for (int64_t i = 0; i < lanes; ++i) from[i] = lane_of[i] < 0 ? lanes : lane_of[i];
  ir_value_t* none = kernel_integer(&k->b, k->mask->type, 0);
  ir_value_t* mask = kernel_shuffle(&k->b, k->mask, none, from, (uint32_t)lanes);
  return kernel_load_masked(&k->b, memory, linear_scalar(k, &at), mask, zero_lanes(k, memory->type->element, lanes));
}

// Elements a few apart, or backwards: runs that reach from the first to the last, and no further, and of each what is
// wanted.
static ir_value_t* load_strided(kernel_build_t* k, ir_value_t* memory, const linear_t* offset) {
  int64_t lanes = k->lanes, stride = offset->lane, mask[64], lane_of[64];
  bool back = stride < 0;
  linear_t at = *offset;
  at.lane = 0;
  if (back) stride = -stride, at.constant -= stride * (lanes - 1);
  ir_value_t* result = NULL;
  for (int64_t run = 0; run < stride; ++run) {
    linear_t start = at;
    start.constant += run * (lanes - 1);
    for (int64_t i = 0; i < lanes; ++i) lane_of[i] = -1;
    for (int64_t i = 0; i < lanes; ++i) {
      int64_t place = stride * (back ? lanes - 1 - i : i) - run * (lanes - 1);
      bool here = place >= 0 && place < lanes;
      mask[i] = run ? (here ? lanes + place : i) : here ? place : 0;
      if (here) lane_of[place] = i;
    }
    ir_value_t* next = load_run(k, memory, start, lane_of);
    result = kernel_shuffle(&k->b, run ? result : next, next, mask, (uint32_t)lanes);
  }
  return result;
}

// Elements that several lanes each have.
static ir_value_t* load_repeated(kernel_build_t* k, ir_value_t* memory, linear_t at, int64_t times) {
  int64_t lanes = k->lanes, count = lanes / times, from[64];
  at.vector = NULL;
  ir_value_t *value, *mask = NULL, *place = linear_scalar(k, &at);
  for (int64_t time = 0; k->mask && time < times; ++time) {  // an element is touched for any of its lanes
    for (int64_t i = 0; i < count; ++i) from[i] = i * times + time;
    ir_value_t* part = kernel_shuffle(&k->b, k->mask, k->mask, from, (uint32_t)count);
    mask = mask ? kernel_binary(&k->b, SCALAR_or, mask, part) : part;
  }
  value = mask ? kernel_load_masked(&k->b, memory, place, mask, zero_lanes(k, memory->type->element, count))
               : kernel_load(&k->b, memory, place, count);
  for (int64_t i = 0; i < lanes; ++i) from[i] = i / times;
  return kernel_shuffle(&k->b, value, value, from, (uint32_t)lanes);
}

void eval_set_alignment(kernel_build_t* k, ir_op_t* access, const ir_type_t* element, const linear_t* offset) {
  enum { MOST = 16 };
  int64_t bytes = ir_type_bytes(element), align = bytes * linear_multiple(offset, MOST / bytes);
  if (align > bytes) ir_op_set_attr(k->ctx, access, "align", ir_attr_i64(k->ctx, align));
}

// Elsewhere nothing is gained, and LLVM reads up to an alignment that it knows, past the end of a buffer.
static void align_global(kernel_build_t* k, ir_op_t* access, const ir_type_t* element, const linear_t* offset) {
  if (k->device->splits_vectors) eval_set_alignment(k, access, element, offset);
}

static ir_value_t* load_memory(kernel_build_t* k, const source_t* source, linear_t offset) {
  const ir_type_t* element = source->memory->type->element;
  if (linear_is_uniform(&offset) || k->lanes == 1) {
    return kernel_load(&k->b, source->memory, k->lanes == 1 ? linear_lanes(k, &offset) : linear_scalar(k, &offset), 1);
  }
  ir_value_t* other = k->mask ? zero_lanes(k, element, k->lanes) : NULL;
  if (offset.lane == 1 && !offset.vector) {
    ir_value_t* at = linear_scalar(k, &offset);
    ir_value_t* value = k->mask ? kernel_load_masked(&k->b, source->memory, at, k->mask, other)
                                : kernel_load(&k->b, source->memory, at, k->lanes);
    align_global(k, value->def, element, &offset);
    return value;
  }
  enum { FAR = 4 };
  bool is_near = !offset.vector && offset.lane >= -FAR && offset.lane <= FAR;
  bool may_mask = !k->mask || k->device->has_masks;
  if (is_near && may_mask && k->lanes >= 4 && eval_shuffles(element)) {
    return load_strided(k, source->memory, &offset);
  }
  int64_t times = may_mask && eval_shuffles(element) ? linear_repeats(k, &offset) : 0;
  if (times) return load_repeated(k, source->memory, offset, times);
  return kernel_gather(&k->b, source->memory, linear_lanes(k, &offset), k->mask, other);
}

static ir_value_t* view_words(kernel_build_t* k, ir_value_t* memory) {
  int64_t any = IR_DYNAMIC;
  const ir_type_t* type = ir_type_memref(k->ctx, ir_type_int(k->ctx, 32), 1, &any, NULL, memory->type->space);
  ir_builder_t b = ir_builder_before(k->ctx, k->func->regions[0].first->first);
  return ir_build_value(&b, KERNEL_VIEW, &memory, 1, type);
}

// Walks back to what is in memory; `at` becomes the coordinates there. NULL where more than index maps lie between.
static ir_value_t* walk_to_memory(kernel_build_t* k, ir_value_t* tensor, linear_t* at) {
  linear_t in[GRAPH_MAX_RANK + 1];
  for (; !tensor->data; tensor = ir_operand(tensor->def, 0)) {
    if (!eval_backward(k, tensor->def, at, in)) return NULL;
    memcpy(at, in, sizeof(in));
  }
  const source_t* source = tensor->data;
  return source->kind == SOURCE_MEMORY ? tensor : NULL;
}

bool eval_place(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, ir_value_t** memory, linear_t* offset) {
  linear_t at[GRAPH_MAX_RANK + 1];
  memcpy(at, coords, sizeof(*at) * (size_t)tensor->type->rank);
  tensor = walk_to_memory(k, tensor, at);
  if (!tensor) return false;
  *memory = ((const source_t*)tensor->data)->memory;
  *offset = eval_offset(k, tensor, at);
  return true;
}

ir_value_t* eval_words(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, int64_t lanes) {
  linear_t at[GRAPH_MAX_RANK + 1], word, rest;
  memcpy(at, coords, sizeof(*at) * (size_t)tensor->type->rank);
  tensor = walk_to_memory(k, tensor, at);
  assert(tensor && "words are read from memory");
  source_t* source = tensor->data;
  linear_divide(k, eval_offset(k, tensor, at), 4, &word, &rest);
  if (!source->words) source->words = view_words(k, source->memory);
  return kernel_load(&k->b, source->words, linear_scalar(k, &word), lanes);
}

void eval_store(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, ir_value_t* value) {
  const source_t* source = tensor->data;
  assert(source && source->kind == SOURCE_MEMORY);
  linear_t offset = eval_offset(k, tensor, coords);
  value = eval_convert(k, value, source->memory->type->element);
  if (k->lanes == 1) {
    kernel_store(&k->b, value, source->memory, linear_lanes(k, &offset));
    return;
  }
  value = kernel_splat(&k->b, value, k->lanes);
  if (offset.lane == 1 && !offset.vector) {
    ir_value_t* at = linear_scalar(k, &offset);
    ir_op_t* store = k->mask ? kernel_store_masked(&k->b, value, source->memory, at, k->mask)
                             : kernel_store(&k->b, value, source->memory, at);
    align_global(k, store, source->memory->type->element, &offset);
    return;
  }
  ir_value_t* operands[] = {value, source->memory, linear_lanes(k, &offset), k->mask};
  ir_build_op(&k->b, KERNEL_SCATTER, operands, k->mask ? 4 : 3, NULL);
}

ir_value_t* eval_convert(kernel_build_t* k, ir_value_t* value, const ir_type_t* scalar) {
  return ir_type_scalar(value->type) == scalar ? value : kernel_cast(&k->b, SCALAR_cast, value, scalar);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalar functions
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* eval_apply(kernel_build_t* k, const ir_op_t* op, ir_value_t* const* operands) {
  scalar_fn_t fn = (scalar_fn_t)graph_scalar_fn(op);
  const scalar_info_t* info = &scalar_info[fn];
  ir_value_t* in[3] = {0};
  int64_t lanes = 1;
  for (int i = 0; i < info->arity; ++i) {
    in[i] = operands[i];
    if (kernel_lanes(in[i]) > lanes) lanes = kernel_lanes(in[i]);
  }
  for (int i = 0; i < info->arity; ++i) in[i] = kernel_splat(&k->b, in[i], lanes);
  if (info->result == SCALAR_RESULT_ANY) {
    return kernel_cast(&k->b, fn, in[0], ir_type_scalar(op->results[0].type));
  }
  if (info->arity == 1) return kernel_unary(&k->b, fn, in[0]);
  if (info->arity == 2) return kernel_binary(&k->b, fn, in[0], in[1]);
  return kernel_ternary(&k->b, fn, in[0], in[1], in[2]);
}

static ir_value_t* element_scalar(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  ir_value_t* operands[3];
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = eval_at(k, ir_operand(op, i), coords);
  return eval_apply(k, op, operands);
}

ir_value_t* element_constant(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  const ir_attr_t* value = graph_get_value(tensor->def);
  const ir_type_t* scalar = ir_type_scalar(tensor->type);
  if (value->kind == IR_ATTR_INTEGER) return kernel_integer(&k->b, scalar, value->integer);
  if (value->kind == IR_ATTR_FLOAT) return kernel_number(&k->b, scalar, value->number);
  assert(value->splat || ir_type_count(value->type) == 1);
  return scalar->kind == IR_TYPE_FLOAT ? kernel_number(&k->b, scalar, ir_attr_element_number(value, 0))
                                       : kernel_integer(&k->b, scalar, ir_attr_element_integer(value, 0));
}

ir_value_t* element_iota(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  const linear_t* at = &coords[graph_get_axis(tensor->def)];
  ir_value_t* position = linear_is_uniform(at) ? linear_scalar(k, at) : linear_lanes(k, at);
  return eval_convert(k, position, ir_type_scalar(tensor->type));
}

//===----------------------------------------------------------------------------------------------------------------===
// Index maps
//===----------------------------------------------------------------------------------------------------------------===

// Row-major reshape between two static shapes: groups of dimensions with equal products are mapped apart, so that a
// split or merge touches only the dimensions it concerns.
static void map_reshape(kernel_build_t* k, const ir_type_t* from, const ir_type_t* to, const linear_t* in,
                        linear_t* out) {
  int32_t i = 0, j = 0;
  while (i < from->rank || j < to->rank) {
    int32_t i0 = i, j0 = j;
    int64_t a = i < from->rank ? from->dims[i++] : 1, b = j < to->rank ? to->dims[j++] : 1;
    while (a != b) {
      if (a < b && i < from->rank) {
        a *= from->dims[i++];
      } else if (j < to->rank) {
        b *= to->dims[j++];
      } else {
        break;
      }
    }
    if (i - i0 == 1 && j - j0 == 1) {
      out[j0] = in[i0];
      continue;
    }
    linear_t position = linear_constant(0);
    for (int32_t d = i0; d < i; ++d) {
      position = linear_scale(k, position, from->dims[d]);
      if (from->dims[d] != 1) position = linear_add(k, position, in[d]);
    }
    for (int32_t d = j; d-- > j0;) {
      if (d == j0) {
        out[d] = to->dims[d] == 1 ? linear_constant(0) : position;
        break;
      }
      linear_t quotient, remainder;
      if (to->dims[d] == 0) {
        out[d] = linear_constant(0);
        continue;
      }
      linear_divide(k, position, to->dims[d], &quotient, &remainder);
      out[d] = remainder;
      position = quotient;
    }
  }
}

// With run-time sizes: leading and trailing dimensions that stay are left alone, the others go through a row-major
// position.
static void map_reshape_dynamic(kernel_build_t* k, const ir_value_t* from, const ir_value_t* to, const linear_t* in,
                                linear_t* out) {
  extent_t a[GRAPH_MAX_RANK], b[GRAPH_MAX_RANK];
  int32_t first = 0, a_end = from->type->rank, b_end = to->type->rank;
  eval_extents(from, a);
  eval_extents(to, b);
  for (; first < a_end && first < b_end && extent_equal(&a[first], &b[first]); ++first) out[first] = in[first];
  for (; a_end > first && b_end > first && extent_equal(&a[a_end - 1], &b[b_end - 1]); --a_end, --b_end) {
    out[b_end - 1] = in[a_end - 1];
  }
  linear_t position = linear_constant(0);
  for (int32_t d = first; d < a_end; ++d) {
    position = linear_scale_extent(k, position, &a[d]);
    if (!extent_is(&a[d], 1)) position = linear_add(k, position, in[d]);
  }
  while (b_end > first && extent_is(&b[first], 1)) out[first++] = linear_constant(0);
  for (int32_t d = b_end; d-- > first;) {
    if (d == first) {
      out[d] = position;
    } else if (extent_is(&b[d], 0)) {
      out[d] = linear_constant(0);
    } else {
      linear_t quotient;
      linear_divide_extent(k, position, &b[d], &quotient, &out[d]);
      position = quotient;
    }
  }
}

// Coordinates in the packed shape for coordinates in the plain one.
static void map_pack(kernel_build_t* k, const ir_op_t* op, int32_t rank, const linear_t* in, linear_t* out) {
  int64_t tiles[GRAPH_MAX_RANK], axes[GRAPH_MAX_RANK];
  uint32_t count = graph_get_tiles(op, tiles);
  graph_get_axes(op, axes);
  for (int32_t i = 0; i < rank; ++i) out[i] = in[i];
  for (uint32_t i = 0; i < count; ++i) linear_divide(k, in[axes[i]], tiles[i], &out[axes[i]], &out[rank + (int32_t)i]);
}

static void map_unpack(kernel_build_t* k, const ir_op_t* op, int32_t rank, const linear_t* packed, linear_t* plain) {
  int64_t tiles[GRAPH_MAX_RANK], axes[GRAPH_MAX_RANK];
  uint32_t count = graph_get_tiles(op, tiles);
  graph_get_axes(op, axes);
  for (int32_t i = 0; i < rank; ++i) plain[i] = packed[i];
  for (uint32_t i = 0; i < count; ++i) {
    plain[axes[i]] = linear_add(k, linear_scale(k, packed[axes[i]], tiles[i]), packed[rank + (int32_t)i]);
  }
}

bool eval_forward(kernel_build_t* k, const ir_op_t* op, const linear_t* in, linear_t* out) {
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    int64_t perm[GRAPH_MAX_RANK];
    graph_get_perm(op, perm);
    for (int32_t i = 0; i < to->rank; ++i) out[i] = in[perm[i]];
  } else if (ir_is(op, GRAPH_RESHAPE) && ir_type_is_static(from) && ir_type_is_static(to)) {
    map_reshape(k, from, to, in, out);
  } else if (ir_is(op, GRAPH_RESHAPE)) {
    map_reshape_dynamic(k, ir_operand(op, 0), &op->results[0], in, out);
  } else if (ir_is(op, GRAPH_PACK)) {
    map_pack(k, op, from->rank, in, out);
  } else if (ir_is(op, GRAPH_UNPACK)) {
    map_unpack(k, op, to->rank, in, out);
  } else {
    return false;
  }
  return true;
}

static void map_slice(kernel_build_t* k, const ir_op_t* op, const linear_t* out, linear_t* in) {
  int64_t offsets[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  uint32_t rank = graph_get_offsets(op, offsets);
  graph_get_strides(op, strides);
  for (uint32_t i = 0; i < rank; ++i) {
    in[i] = linear_add(k, linear_scale(k, out[i], strides[i]), linear_constant(offsets[i]));
  }
}

// Whether that dimension of the operand may turn out as 1 and be repeated.
static bool may_repeat(const ir_op_t* op, int32_t dim, int64_t result_dim) {
  extent_t from = eval_extent(ir_operand(op, 0), dim), to = eval_extent(&op->results[0], (int32_t)result_dim);
  return !extent_is_fixed(&from) && !extent_equal(&from, &to);
}

// A size that may turn out as 1 is multiplied with min(size - 1, 1).
static void map_broadcast(kernel_build_t* k, const ir_op_t* op, const linear_t* out, linear_t* in) {
  int64_t dims[GRAPH_MAX_RANK];
  const ir_value_t *x = ir_operand(op, 0), *y = &op->results[0];
  graph_get_dims(op, dims);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    extent_t from = eval_extent(x, i), to = eval_extent(y, (int32_t)dims[i]);
    if (extent_is(&from, 1)) {
      in[i] = extent_is(&to, 1) ? out[dims[i]] : linear_constant(0);
    } else if (!may_repeat(op, i, dims[i])) {
      in[i] = out[dims[i]];
    } else {
      ir_value_t* last = index_binary(k, SCALAR_add, extent_value(k, &from), index_constant(k, -1));
      in[i] = linear_scale_value(k, out[dims[i]], index_binary(k, SCALAR_min, last, index_constant(k, 1)));
    }
  }
}

static void map_reverse(kernel_build_t* k, ir_op_t* op, const linear_t* out, linear_t* in) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = graph_get_dims(op, dims);
  for (int32_t i = 0; i < op->results[0].type->rank; ++i) in[i] = out[i];
  for (uint32_t i = 0; i < count; ++i) {
    linear_t last = linear_value(eval_size(k, ir_operand(op, 0), (int32_t)dims[i]));
    last.constant -= 1;
    in[dims[i]] = linear_add(k, last, linear_scale(k, out[dims[i]], -1));
  }
}

bool eval_backward(kernel_build_t* k, const ir_op_t* op, const linear_t* out, linear_t* in) {
  ir_value_t *from = ir_operand(op, 0), *to = (ir_value_t*)&op->results[0];
  switch (ir_code(op)) {
    case GRAPH_TRANSPOSE: {
      int64_t perm[GRAPH_MAX_RANK];
      graph_get_perm(op, perm);
      for (int32_t i = 0; i < to->type->rank; ++i) in[perm[i]] = out[i];
      return true;
    }
    case GRAPH_RESHAPE:
      if (ir_type_is_static(from->type) && ir_type_is_static(to->type)) {
        map_reshape(k, to->type, from->type, out, in);
      } else {
        map_reshape_dynamic(k, to, from, out, in);
      }
      return true;
    case GRAPH_BROADCAST:
      map_broadcast(k, op, out, in);
      return true;
    case GRAPH_SLICE:
      map_slice(k, op, out, in);
      return true;
    case GRAPH_REVERSE:
      map_reverse(k, (ir_op_t*)op, out, in);
      return true;
    case GRAPH_UNPACK:
      map_pack(k, op, to->type->rank, out, in);
      return true;
    default:
      return false;
  }
}

// pack: padding to whole tiles reads as 0.
ir_value_t* element_pack(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  ir_value_t* x = ir_operand(op, 0);
  linear_t in[GRAPH_MAX_RANK];
  map_unpack(k, op, x->type->rank, coords, in);
  guard_t guard = {0};
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (x->type->dims[i] != IR_DYNAMIC) guard_range(k, &guard, &in[i], 0, x->type->dims[i]);  // else never tiled
  }
  const ir_type_t* scalar = x->type->element;
  ir_value_t* zero = zero_lanes(k, scalar, 1);
  guard_begin(k, &guard, scalar);
  return guard_end(k, &guard, eval_at(k, x, in), zero);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatch
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* element_to_tensor(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  return eval_at(k, ir_operand(tensor->def, 0), NULL);
}

ir_value_t* element_empty(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  return zero_lanes(k, tensor->type->element, 1);
}

static bool is_in_memory(const source_t* source) { return source && source->kind == SOURCE_MEMORY && source->memory; }

// A reshape of what is in memory is at the same place there, which no division has to find.
ir_value_t* element_backward(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  linear_t in[GRAPH_MAX_RANK];
  const source_t* source = ir_operand(tensor->def, 0)->data;
  if (ir_is(tensor->def, GRAPH_RESHAPE) && is_in_memory(source)) {
    return load_memory(k, source, eval_offset(k, tensor, coords));
  }
  eval_backward(k, tensor->def, coords, in);
  return eval_at(k, ir_operand(tensor->def, 0), in);
}

// How many ops an element of x is computed by, up to a few.
static uint32_t count_ops(const ir_value_t* x, uint32_t most) {
  uint32_t count = 1;
  if (x->data || !x->def) return 0;
  for (uint32_t i = 0; i < x->def->operand_count && count < most; ++i) {
    if (ir_type_is_tensor(ir_operand(x->def, i)->type)) count += count_ops(ir_operand(x->def, i), most - count);
  }
  return count;
}

// Lanes along a dimension that may turn out as 1 read neighbours, or all one element: by a branch, since lanes that are
// anywhere are dear.
ir_value_t* element_broadcast(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  enum { FEW_OPS = 8 };
  ir_op_t* op = tensor->def;
  ir_value_t* x = ir_operand(op, 0);
  int64_t dims[GRAPH_MAX_RANK];
  int32_t across = -1;
  uint32_t count = graph_get_dims(op, dims), found = 0;
  for (uint32_t i = 0; i < count && k->lanes > 1; ++i) {
    if (linear_is_uniform(&coords[dims[i]]) || !may_repeat(op, (int32_t)i, dims[i])) continue;
    across = (int32_t)i;
    ++found;
  }
  if (found != 1 || count_ops(x, FEW_OPS) == FEW_OPS) return element_backward(k, tensor, coords);
  linear_t out[GRAPH_MAX_RANK], in[GRAPH_MAX_RANK];
  memcpy(out, coords, sizeof(*out) * (size_t)tensor->type->rank);
  out[dims[across]] = linear_constant(0);
  eval_backward(k, op, out, in);
  const ir_type_t* type = kernel_vector_type(k->ctx, x->type->element, k->lanes);
  ir_value_t* many = kernel_binary(&k->b, SCALAR_gt, eval_size(k, x, across), index_constant(k, 1));
  kernel_branch_t branch = kernel_if_begin(&k->b, many, &type, 1);
  in[across] = coords[dims[across]];
  ir_value_t* value = eval_lanes(k, x, in);
  kernel_if_else(&k->b, &branch, &value, 1);
  in[across] = linear_constant(0);
  value = eval_lanes(k, x, in);
  kernel_if_end(&k->b, &branch, &value, 1);
  return ir_result(branch.op, 0);
}

// Needs a strategy of its own: see eval_supports.
ir_value_t* element_none(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  assert(!"the op has no elements by themselves");
  return NULL;
}

typedef ir_value_t* (*element_fn_t)(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords);
static const element_fn_t elements[] = {
#define SCALAR(name, ...) element_scalar,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, eval, element, ...) element_##element,
#include "dialects/graph.def"
#undef OP
};

static element_fn_t element_of(const ir_op_t* op) { return elements[op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)]; }

bool eval_supports(const ir_op_t* op) {
  return ir_op_dialect(op) == IR_DIALECT_GRAPH && element_of(op) != element_none;
}

ir_value_t* eval_at(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  source_t* source = tensor->data;
  if (is_in_memory(source)) return load_memory(k, source, eval_offset(k, tensor, coords));
  if (source && source->kind == SOURCE_BOUND) return source->value;
  assert(tensor->def && "tensor has no source");
  ir_value_t* value = eval_memo_find(k, tensor, coords);
  if (value) return value;
  eval_memo_enter(k);
  value = element_of(tensor->def)(k, tensor, coords);
  eval_memo_add(k, tensor, coords, value);
  eval_memo_leave(k);
  return value;
}

ir_value_t* eval_lanes(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  return kernel_splat(&k->b, eval_at(k, tensor, coords), k->lanes);
}
