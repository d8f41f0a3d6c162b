// Types: uniqued by content.
#include <string.h>

#include "base/small_float.h"
#include "ir/context.h"

static uint64_t type_hash(const void* a) {
  const ir_type_t* t = a;
  uint64_t hash = ir_hash_mix(t->kind, ((uint64_t)t->width << 8) | t->sign);
  hash = ir_hash_mix(hash, ((uint64_t)t->float_kind << 8) | t->space);
  hash = ir_hash_mix(hash, (uintptr_t)t->element);
  hash = ir_hash_mix(hash, (uintptr_t)t->encoding);
  if (t->dims && t->rank > 0) hash = ir_hash_mix(hash, ir_hash_bytes(t->dims, sizeof(int64_t) * (size_t)t->rank));
  for (uint32_t i = 0; i < t->input_count; ++i) hash = ir_hash_mix(hash, (uintptr_t)t->inputs[i]);
  for (uint32_t i = 0; i < t->result_count; ++i) hash = ir_hash_mix(hash, (uintptr_t)t->results[i]);
  return ir_hash_mix(ir_hash_mix(hash, (uintptr_t)t->name), (uintptr_t)t->body);
}

static bool list_equal(const ir_type_t* const* a, const ir_type_t* const* b, uint32_t count) {
  return count == 0 || memcmp(a, b, sizeof(*a) * count) == 0;
}

static bool type_equal(const void* a, const void* b) {
  const ir_type_t *x = a, *y = b;
  if (x->kind != y->kind || x->width != y->width || x->sign != y->sign || x->float_kind != y->float_kind ||
      x->element != y->element || x->rank != y->rank || x->encoding != y->encoding || x->space != y->space ||
      x->input_count != y->input_count || x->result_count != y->result_count || x->name != y->name ||
      x->body != y->body) {
    return false;
  }
  if (x->rank > 0 && memcmp(x->dims, y->dims, sizeof(int64_t) * (size_t)x->rank)) return false;
  return list_equal(x->inputs, y->inputs, x->input_count) && list_equal(x->results, y->results, x->result_count);
}

static const ir_type_t* type_get(ir_context_t* ctx, ir_type_t key) {
  uint64_t hash = type_hash(&key);
  ir_type_t* type = ir_set_find(&ctx->types, hash, &key, type_equal);
  if (type) return type;
  key.id = ctx->type_count++;
  arena_t* arena = &ctx->arena;
  if (key.rank > 0) key.dims = arena_copy(arena, key.dims, sizeof(int64_t) * (size_t)key.rank);
  if (key.inputs) key.inputs = arena_copy(arena, key.inputs, sizeof(*key.inputs) * key.input_count);
  if (key.results) key.results = arena_copy(arena, key.results, sizeof(*key.results) * key.result_count);
  type = arena_copy(arena, &key, sizeof(key));
  ir_set_insert(&ctx->types, hash, type, type_hash);
  return type;
}

const ir_type_t* ir_type_none(ir_context_t* ctx) { return type_get(ctx, (ir_type_t){.kind = IR_TYPE_NONE}); }
const ir_type_t* ir_type_integer(ir_context_t* ctx, uint32_t width, ir_sign_t sign) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_INTEGER, .width = width, .sign = sign});
}
const ir_type_t* ir_type_index(ir_context_t* ctx) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_INDEX, .width = 64});
}
const ir_type_t* ir_type_float(ir_context_t* ctx, ir_float_kind_t kind) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_FLOAT, .float_kind = kind, .width = float_formats[kind].bits});
}
const ir_type_t* ir_type_complex(ir_context_t* ctx, const ir_type_t* element) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_COMPLEX, .element = element});
}

static const ir_type_t* shaped(ir_context_t* ctx, ir_type_kind_t kind, const ir_type_t* element, int32_t rank,
                               const int64_t* dims) {
  return type_get(ctx, (ir_type_t){.kind = kind, .element = element, .rank = rank, .dims = dims});
}
const ir_type_t* ir_type_vector(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  return shaped(ctx, IR_TYPE_VECTOR, element, rank, dims);
}
const ir_type_t* ir_type_tensor(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  return shaped(ctx, IR_TYPE_TENSOR, element, rank, dims);
}
const ir_type_t* ir_type_tensor_encoded(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims,
                                        const ir_attr_t* encoding) {
  return type_get(
      ctx, (ir_type_t){.kind = IR_TYPE_TENSOR, .element = element, .rank = rank, .dims = dims, .encoding = encoding});
}
const ir_type_t* ir_type_unranked_tensor(ir_context_t* ctx, const ir_type_t* element) {
  return shaped(ctx, IR_TYPE_UNRANKED_TENSOR, element, -1, NULL);
}
const ir_type_t* ir_type_vtensor(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  return shaped(ctx, IR_TYPE_VTENSOR, element, rank, dims);
}
const ir_type_t* ir_type_memref(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims,
                                const ir_attr_t* layout, ir_space_t space) {
  return type_get(
      ctx,
      (ir_type_t){
          .kind = IR_TYPE_MEMREF, .element = element, .rank = rank, .dims = dims, .encoding = layout, .space = space});
}
const ir_type_t* ir_type_function(ir_context_t* ctx, const ir_type_t* const* inputs, uint32_t input_count,
                                  const ir_type_t* const* results, uint32_t result_count) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_FUNCTION,
                                   .inputs = inputs,
                                   .input_count = input_count,
                                   .results = results,
                                   .result_count = result_count});
}
const ir_type_t* ir_type_tuple(ir_context_t* ctx, const ir_type_t* const* elements, uint32_t count) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_TUPLE, .inputs = elements, .input_count = count});
}
const ir_type_t* ir_type_opaque(ir_context_t* ctx, const char* name, const char* body) {
  return type_get(ctx, (ir_type_t){.kind = IR_TYPE_OPAQUE,
                                   .name = ir_intern_cstr(ctx, name),
                                   .body = body ? ir_intern_cstr(ctx, body) : NULL});
}

bool ir_type_is_shaped(const ir_type_t* type) {
  return type->kind == IR_TYPE_VECTOR || type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_VTENSOR ||
         type->kind == IR_TYPE_MEMREF || type->kind == IR_TYPE_UNRANKED_TENSOR;
}
const ir_type_t* ir_type_scalar(const ir_type_t* type) {
  return ir_type_is_shaped(type) && type->element ? type->element : type;
}
bool ir_type_is_static(const ir_type_t* type) {
  if (!ir_type_is_shaped(type)) return true;
  if (type->rank < 0) return false;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) return false;
  }
  return true;
}
int64_t ir_type_count(const ir_type_t* type) {
  if (!ir_type_is_shaped(type)) return 1;
  if (!ir_type_is_static(type)) return IR_DYNAMIC;
  int64_t count = 1;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == 0) return 0;
    if (__builtin_mul_overflow(count, type->dims[i], &count)) count = INT64_MAX;
  }
  return count;
}
uint32_t ir_type_open_dims(const ir_type_t* type) {
  uint32_t count = 0;
  for (int32_t i = 0; ir_type_is_shaped(type) && i < type->rank; ++i) count += type->dims[i] == IR_DYNAMIC;
  return count;
}
bool ir_type_is_packed(const ir_type_t* t) {
  return (t->kind == IR_TYPE_INTEGER && t->width > 1 && t->width < 8) || (t->kind == IR_TYPE_FLOAT && t->width < 8);
}
uint32_t ir_type_bytes(const ir_type_t* t) {
  switch (t->kind) {
    case IR_TYPE_INDEX:
      return 8;
    case IR_TYPE_COMPLEX:
      return 2 * ir_type_bytes(t->element);
    case IR_TYPE_FLOAT:
      return float_formats[t->float_kind].bytes;
    case IR_TYPE_INTEGER: {
      uint32_t bytes = 1;
      while (bytes * 8 < t->width) bytes *= 2;
      return bytes;
    }
    default:
      return 0;
  }
}
const ir_type_t* ir_type_with_element(ir_context_t* ctx, const ir_type_t* type, const ir_type_t* element) {
  if (!ir_type_is_shaped(type)) return element;
  ir_type_t key = *type;
  key.element = element;
  key.id = 0;
  return type_get(ctx, key);
}
