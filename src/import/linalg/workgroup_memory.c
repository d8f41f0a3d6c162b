// Memory in functions that become kernels, and the memref dialect. See workgroup.h.
#include <string.h>

#include "dialects/memref.h"
#include "import/linalg/workgroup.h"

enum { MAX_SCRATCH = 32768 };  // bytes of a workgroup's own memory: what every GPU has

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* times(ir_builder_t* b, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  if (lower_constant_index(x, &number) && number == 1) return y;
  if (lower_constant_index(y, &number) && number == 1) return x;
  return lower_index_binary(b, SCALAR_mul, x, y);
}

static ir_value_t* plus(ir_builder_t* b, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  if (lower_constant_index(x, &number) && number == 0) return y;
  if (lower_constant_index(y, &number) && number == 0) return x;
  return lower_index_binary(b, SCALAR_add, x, y);
}

// The most that an index can be, as far as that is to be seen; -1: it is not.
static int64_t bound_of(const ir_value_t* v, uint32_t depth) {
  enum { MAX_DEPTH = 8 };
  int64_t number;
  if (lower_constant_index(v, &number)) return number;
  if (!v->def || depth == MAX_DEPTH || !ir_is(v->def, graph_scalar_code(SCALAR_min))) return -1;
  int64_t x = bound_of(ir_operand(v->def, 0), depth + 1), y = bound_of(ir_operand(v->def, 1), depth + 1);
  return x < 0 || (y >= 0 && y < x) ? y : x;
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers
//===----------------------------------------------------------------------------------------------------------------===

bool buffer_of(lower_op_t* n, lower_value_t value, buffer_t* out) {
  bool is = value.v && value.v->type->kind == IR_TYPE_MEMREF && value.items && value.count % 2 &&
            value.count <= 1 + 2 * GRAPH_MAX_RANK;
  if (!is) return lower_unsupported(n, "memory, and tensors that lie in some, are");
  *out = (buffer_t){.memory = value.v, .offset = value.items[0].v, .rank = (value.count - 1) / 2};
  for (uint32_t i = 0; i < out->rank; ++i) {
    out->sizes[i] = value.items[1 + i].v;
    out->strides[i] = value.items[1 + out->rank + i].v;
  }
  return true;
}

bool buffer_read(lower_op_t* n, uint32_t operand, buffer_t* out) {
  if (operand >= n->op->operand_count) return lower_error(n, "needs memory");
  const ir_type_t* type = lower_in_type(n, operand);
  if (!buffer_of(n, n->values[operand], out)) return false;
  return !ir_type_is_shaped(type) || type->rank == (int32_t)out->rank || lower_error(n, "needs memory of its type");
}

lower_value_t buffer_value(lowering_t* l, const buffer_t* buffer) {
  lower_value_t* items = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, 1 + 2 * buffer->rank);
  items[0] = (lower_value_t){.v = buffer->offset};
  for (uint32_t i = 0; i < buffer->rank; ++i) {
    items[1 + i] = (lower_value_t){.v = buffer->sizes[i]};
    items[1 + buffer->rank + i] = (lower_value_t){.v = buffer->strides[i]};
  }
  return (lower_value_t){.v = buffer->memory, .items = items, .count = 1 + 2 * buffer->rank};
}

bool buffer_give(lower_op_t* n, const buffer_t* buffer) {
  n->out[0] = buffer_value(n->l, buffer);
  return true;
}

void buffer_set_dense(ir_builder_t* b, buffer_t* buffer) {
  ir_value_t* stride = graph_index_constant(b, 1);
  for (uint32_t i = buffer->rank; i-- > 0;) {
    buffer->strides[i] = stride;
    stride = times(b, stride, buffer->sizes[i]);
  }
}

static ir_value_t* place(ir_builder_t* b, const buffer_t* buffer, ir_value_t* const* at) {
  ir_value_t* offset = buffer->offset;
  for (uint32_t i = 0; i < buffer->rank; ++i) offset = plus(b, offset, times(b, at[i], buffer->strides[i]));
  return offset;
}

ir_value_t* buffer_load(ir_builder_t* b, const buffer_t* buffer, ir_value_t* const* at) {
  return kernel_load(b, buffer->memory, place(b, buffer, at), 1);
}

void buffer_store(ir_builder_t* b, const buffer_t* buffer, ir_value_t* const* at, ir_value_t* value) {
  kernel_store(b, value, buffer->memory, place(b, buffer, at));
}

bool buffer_alloc(lower_op_t* n, const ir_type_t* element, ir_value_t* const* sizes, uint32_t rank, buffer_t* out) {
  int64_t count = 1, bytes = ir_type_bytes(element);
  *out = (buffer_t){.rank = rank, .offset = graph_index_constant(n->b, 0)};
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t most = bound_of(sizes[i], 0);
    if (most < 0) return lower_unsupported(n, "a size with a bound is: affine.min of it and a number");
    if (__builtin_mul_overflow(count, most ? most : 1, &count) || count > MAX_SCRATCH) count = MAX_SCRATCH + 1;
    out->sizes[i] = sizes[i];
  }
  n->l->scratch += (uint64_t)(count * bytes);
  if (n->l->scratch > MAX_SCRATCH) {
    return lower_unsupported(n, "up to %d bytes of memory of its own are what a workgroup has", MAX_SCRATCH);
  }
  out->memory =
      kernel_alloc(n->b, element, count, n->l->threads && !n->l->nests ? IR_SPACE_WORKGROUP : IR_SPACE_PRIVATE);
  buffer_set_dense(n->b, out);
  return true;
}

bool buffer_alloc_type(lower_op_t* n, const ir_type_t* type, uint32_t first, buffer_t* out) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  const ir_type_t* element = lower_type(n->ctx, ir_type_scalar(type));
  if (!element || type->rank < 0 || type->rank > GRAPH_MAX_RANK) return lower_unsupported(n, "elements of numbers are");
  for (int32_t i = 0; i < type->rank; ++i) {
    bool open = type->dims[i] == IR_DYNAMIC;
    if (open && first >= n->op->operand_count) return lower_unsupported(n, "sizes that are operands, or known, are");
    sizes[i] = open ? lower_index(n->b, n->in[first++]) : graph_index_constant(n->b, type->dims[i]);
  }
  return buffer_alloc(n, element, sizes, (uint32_t)type->rank, out);
}

void buffer_copy(lowering_t* l, const buffer_t* from, const buffer_t* to) {
  nest_t nest;
  nest_begin(l, from->sizes, from->rank, &nest);
  buffer_store(&l->b, to, nest.at, buffer_load(&l->b, from, nest.at));
  nest_end(l, &nest);
}

bool buffer_clone(lower_op_t* n, const buffer_t* from, buffer_t* out) {
  if (!buffer_alloc(n, from->memory->type->element, from->sizes, from->rank, out)) return false;
  buffer_copy(n->l, from, out);
  return true;
}

// Which dimensions of a slice are dropped, as `type` has fewer: those of size 1 that are left over from its end on.
static bool keep_dims(const mixed_t* sizes, const ir_type_t* type, bool* kept) {
  uint32_t extra = sizes->count - (uint32_t)type->rank;
  int32_t next = type->rank;
  for (uint32_t i = sizes->count; i-- > 0;) {
    bool fits = next > 0 && lower_sizes_fit(type->dims[next - 1], sizes->values[i]);
    bool may_drop = extra > 0 && sizes->values[i] == 1;
    kept[i] = fits && !(may_drop && type->dims[next - 1] != 1);
    if (!kept[i] && !may_drop) return false;
    if (kept[i]) --next;
    if (!kept[i]) --extra;
  }
  return next == 0;
}

bool buffer_slice(lower_op_t* n, const buffer_t* from, uint32_t first, const ir_type_t* type, buffer_t* out) {
  mixed_t offsets, sizes, strides;
  bool kept[GRAPH_MAX_RANK];
  if (!mixed_read(n, "static_offsets", &first, &offsets) || !mixed_read(n, "static_sizes", &first, &sizes) ||
      !mixed_read(n, "static_strides", &first, &strides)) {
    return false;
  }
  bool fits = offsets.count == from->rank && sizes.count == from->rank && strides.count == from->rank &&
              type->rank >= 0 && type->rank <= (int32_t)from->rank && keep_dims(&sizes, type, kept);
  if (!fits) return lower_error(n, "needs an offset, a size and a stride for each dimension");
  *out = (buffer_t){.memory = from->memory, .offset = from->offset};
  for (uint32_t i = 0; i < from->rank; ++i) {
    ir_value_t* begin = times(n->b, mixed_index(n, &offsets, i), from->strides[i]);
    out->offset = plus(n->b, out->offset, begin);
    if (!kept[i]) continue;
    out->sizes[out->rank] = mixed_index(n, &sizes, i);
    out->strides[out->rank++] = times(n->b, mixed_index(n, &strides, i), from->strides[i]);
  }
  return true;
}

// Whether elements lie one behind the other, as far as is known.
static bool is_dense(const buffer_t* buffer) {
  int64_t expected = 1, stride, size;
  for (uint32_t i = buffer->rank; i-- > 0;) {
    if (!lower_constant_index(buffer->strides[i], &stride) || stride != expected) return false;
    bool known = lower_constant_index(buffer->sizes[i], &size);
    if (i && (!known || __builtin_mul_overflow(expected, size, &expected))) return false;
  }
  return true;
}

bool buffer_reshape(lower_op_t* n, const buffer_t* from, const ir_type_t* type, buffer_t* out) {
  if (!is_dense(from) || type->rank < 0) return lower_unsupported(n, "memory without gaps, of known sizes, is");
  *out = (buffer_t){.memory = from->memory, .offset = from->offset, .rank = (uint32_t)type->rank};
  ir_value_t* rest = graph_index_constant(n->b, 1);
  int64_t known = 1, open = -1;
  for (uint32_t i = 0; i < from->rank; ++i) rest = times(n->b, rest, from->sizes[i]);
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC && open >= 0) return lower_unsupported(n, "one open size is");
    if (type->dims[i] == IR_DYNAMIC) open = i;
    if (type->dims[i] != IR_DYNAMIC && __builtin_mul_overflow(known, type->dims[i], &known)) {
      return lower_error(n, "has more elements than there are");
    }
    out->sizes[i] = graph_index_constant(n->b, type->dims[i] == IR_DYNAMIC ? 0 : type->dims[i]);
  }
  if (open >= 0 && known)
    out->sizes[open] = lower_index_binary(n->b, SCALAR_div, rest, graph_index_constant(n->b, known));
  buffer_set_dense(n->b, out);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// memref
//===----------------------------------------------------------------------------------------------------------------===

bool buffer_read_places(lower_op_t* n, const buffer_t* buffer, uint32_t first, ir_value_t** at) {
  if (n->op->operand_count != first + buffer->rank) return lower_error(n, "needs an index for each dimension");
  for (uint32_t i = 0; i < buffer->rank; ++i) at[i] = lower_index(n->b, n->in[first + i]);
  return true;
}

bool buffer_lower_load(lower_op_t* n) {
  buffer_t x;
  ir_value_t* at[GRAPH_MAX_RANK];
  return buffer_read(n, 0, &x) && buffer_read_places(n, &x, 1, at) && lower_return(n, buffer_load(n->b, &x, at));
}

static bool lower_store(lower_op_t* n) {
  buffer_t x;
  ir_value_t* at[GRAPH_MAX_RANK];
  if (!buffer_read(n, 1, &x) || !buffer_read_places(n, &x, 2, at)) return false;
  if (n->in[0]->type != x.memory->type->element) return lower_error(n, "stores another type than the memory's");
  once_t once = once_begin(n->l);
  buffer_store(n->b, &x, at, n->in[0]);
  once_end(n->l, &once);
  return true;
}

bool buffer_lower_dim(lower_op_t* n) {
  buffer_t x;
  int64_t dim = -1;
  if (!buffer_read(n, 0, &x)) return false;
  if (!lower_constant_index(n->in[1], &dim)) return lower_unsupported(n, "a constant dimension is");
  if (dim < 0 || dim >= x.rank) return lower_error(n, "has no dimension %lld", (long long)dim);
  return lower_return(n, x.sizes[dim]);
}

static bool lower_copy(lower_op_t* n) {
  buffer_t x, y;
  if (!buffer_read(n, 0, &x) || !buffer_read(n, 1, &y)) return false;
  if (x.rank != y.rank || x.memory->type->element != y.memory->type->element) return lower_error(n, "needs one type");
  buffer_copy(n->l, &x, &y);
  return true;
}

static bool lower_reinterpret(lower_op_t* n) {
  buffer_t x, y;
  mixed_t offset, sizes, strides;
  uint32_t first = 1;
  if (!buffer_read(n, 0, &x) || !mixed_read(n, "static_offsets", &first, &offset) ||
      !mixed_read(n, "static_sizes", &first, &sizes) || !mixed_read(n, "static_strides", &first, &strides)) {
    return false;
  }
  if (offset.count != 1 || sizes.count != strides.count || (int32_t)sizes.count != lower_out_type(n, 0)->rank) {
    return lower_error(n, "needs one offset, and a size and a stride for each dimension");
  }
  y = (buffer_t){.memory = x.memory, .rank = sizes.count};
  // Offsets count from where the memory begins that `x` is a part of, which is its own first byte here.
  y.offset = mixed_index(n, &offset, 0);
  for (uint32_t i = 0; i < sizes.count; ++i) {
    y.sizes[i] = mixed_index(n, &sizes, i);
    y.strides[i] = mixed_index(n, &strides, i);
  }
  return buffer_give(n, &y);
}

static bool lower_view_of(lower_op_t* n, bool slices) {
  buffer_t x, y;
  const ir_type_t* type = lower_out_type(n, 0);
  if (type->kind != IR_TYPE_MEMREF) return lower_unsupported(n, "memory of known rank is");
  if (!buffer_read(n, 0, &x)) return false;
  if (slices ? !buffer_slice(n, &x, 1, type, &y) : !buffer_reshape(n, &x, type, &y)) return false;
  return buffer_give(n, &y);
}

static bool lower_alloc(lower_op_t* n) {
  buffer_t x;
  const ir_type_t* type = lower_out_type(n, 0);
  if (type->kind != IR_TYPE_MEMREF) return lower_unsupported(n, "memory of known rank is");
  return buffer_alloc_type(n, type, 0, &x) && buffer_give(n, &x);
}

// The same memory, whatever its type says of it.
static bool lower_same(lower_op_t* n) {
  buffer_t x;
  if (!buffer_read(n, 0, &x)) return false;
  if (n->op->result_count) n->out[0] = n->values[0];
  return true;
}

bool workgroup_lower_memref(lower_op_t* n) {
  switch (n->op->info->code) {
    case MEMREF_LOAD:
      return buffer_lower_load(n);
    case MEMREF_STORE:
      return lower_store(n);
    case MEMREF_ALLOC:
    case MEMREF_ALLOCA:
      return lower_alloc(n);
    case MEMREF_DEALLOC:
    case MEMREF_CAST:
    case MEMREF_MEMORY_SPACE_CAST:
    case MEMREF_ASSUME_ALIGNMENT:
      return lower_same(n);
    case MEMREF_DIM:
      return buffer_lower_dim(n);
    case MEMREF_RANK:
      return lower_return(n, graph_index_constant(n->b, lower_in_type(n, 0)->rank));
    case MEMREF_COPY:
      return lower_copy(n);
    case MEMREF_SUBVIEW:
      return lower_view_of(n, true);
    case MEMREF_REINTERPRET_CAST:
      return lower_reinterpret(n);
    default:
      return lower_view_of(n, false);
  }
}

static bool lower_outside(lower_op_t* n) {
  return lower_error(n, "has a meaning in the functions of executables only");
}

#define AT(ENUM) [MEMREF_##ENUM - IR_CODE(IR_DIALECT_MEMREF, 0)] = {.fn = lower_outside, .flags = LOWER_ANY_VALUE}
static const lower_row_t rows[] = {
    AT(LOAD),
    AT(STORE),
    AT(ALLOC),
    AT(ALLOCA),
    AT(DEALLOC),
    AT(DIM),
    AT(RANK),
    AT(CAST),
    AT(COPY),
    AT(SUBVIEW),
    AT(REINTERPRET_CAST),
    AT(EXPAND_SHAPE),
    AT(COLLAPSE_SHAPE),
    AT(ASSUME_ALIGNMENT),
    AT(MEMORY_SPACE_CAST),
};
const lower_table_t lower_memref_table = {IR_DIALECT_MEMREF, rows, sizeof(rows) / sizeof(rows[0])};
