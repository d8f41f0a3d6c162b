// Attributes: small ones uniqued by content, element data above INLINE_LIMIT bytes by identity.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/context.h"

enum { INLINE_LIMIT = 512 };

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, 8);
  return bits;
}

static bool has_big_data(const ir_attr_t* a) {
  return a->kind == IR_ATTR_ELEMENTS && (a->size > INLINE_LIMIT || a->resource || a->lazy);
}

static uint64_t attr_hash(const void* p) {
  const ir_attr_t* a = p;
  uint64_t hash = ir_hash_mix(a->kind, (uintptr_t)a->type);
  hash = ir_hash_mix(ir_hash_mix(hash, (uint64_t)a->integer), bits_of(a->number));
  if (a->text) hash = ir_hash_mix(hash, ir_hash_bytes(a->text, a->kind == IR_ATTR_STRING ? a->size : strlen(a->text)));
  if (a->body) hash = ir_hash_mix(hash, ir_hash_bytes(a->body, strlen(a->body)));
  for (uint32_t i = 0; a->items && i < a->count; ++i) hash = ir_hash_mix(hash, (uintptr_t)a->items[i]);
  for (uint32_t i = 0; a->entries && i < a->count; ++i) {
    hash = ir_hash_mix(ir_hash_mix(hash, (uintptr_t)a->entries[i].name), (uintptr_t)a->entries[i].value);
  }
  if (a->stored && !has_big_data(a)) hash = ir_hash_mix(hash, ir_hash_bytes(a->stored, a->size));
  if (has_big_data(a)) hash = ir_hash_mix(hash, a->lazy ? (uintptr_t)a->lazy : (uintptr_t)a->stored);
  return ir_hash_mix(ir_hash_mix(hash, (uintptr_t)a->map), (uintptr_t)a->loc);
}

static bool text_equal(const char* x, const char* y) { return x == y || (x && y && strcmp(x, y) == 0); }

static bool attr_equal(const void* p, const void* q) {
  const ir_attr_t *x = p, *y = q;
  if (x->kind != y->kind || x->type != y->type || x->integer != y->integer || x->size != y->size ||
      bits_of(x->number) != bits_of(y->number) || x->count != y->count || x->splat != y->splat ||
      x->resource != y->resource || x->loc != y->loc || x->map != y->map || !x->items != !y->items ||
      !x->entries != !y->entries || !text_equal(x->body, y->body)) {
    return false;
  }
  if (x->kind == IR_ATTR_STRING) return memcmp(x->text, y->text, x->size) == 0;
  if (!text_equal(x->text, y->text)) return false;
  if (x->items && memcmp(x->items, y->items, sizeof(*x->items) * x->count)) return false;
  if (x->entries && memcmp(x->entries, y->entries, sizeof(*x->entries) * x->count)) return false;
  if (has_big_data(x) || x->lazy != y->lazy) return x->lazy == y->lazy && x->stored == y->stored;
  return !x->stored || x->stored == y->stored || memcmp(x->stored, y->stored, x->size) == 0;
}

// Copies what `key` points to unless `borrow`.
static const ir_attr_t* attr_get(ir_context_t* ctx, ir_attr_t key, bool borrow) {
  uint64_t hash = attr_hash(&key);
  ir_attr_t* attr = ir_set_find(&ctx->attrs, hash, &key, attr_equal);
  if (attr) return attr;
  arena_t* arena = &ctx->arena;
  if (key.kind == IR_ATTR_STRING) {
    key.text = arena_strndup(arena, key.text, key.size);
  } else if (key.text) {
    key.text = ir_intern_cstr(ctx, key.text);
  }
  if (key.body) key.body = arena_strndup(arena, key.body, strlen(key.body));
  if (key.items) key.items = arena_copy(arena, key.items, sizeof(*key.items) * key.count);
  if (key.entries) key.entries = arena_copy(arena, key.entries, sizeof(*key.entries) * key.count);
  if (key.stored && !borrow) key.stored = arena_copy(arena, key.stored, key.size);
  attr = arena_copy(arena, &key, sizeof(key));
  ir_set_insert(&ctx->attrs, borrow ? hash : attr_hash(attr), attr, attr_hash);
  return attr;
}

const ir_attr_t* ir_attr_unit(ir_context_t* ctx) { return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_UNIT}, false); }
const ir_attr_t* ir_attr_integer(ir_context_t* ctx, const ir_type_t* type, int64_t value) {
  if (type->kind == IR_TYPE_INTEGER && type->width < 64) {
    uint32_t shift = 64 - type->width;
    value = type->width == 0 ? 0 : (int64_t)((uint64_t)value << shift) >> shift;
    if ((type->width == 1 && type->sign != IR_SIGNED) || type->sign == IR_UNSIGNED) value &= (int64_t)(~0ull >> shift);
  }
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_INTEGER, .type = type, .integer = value}, false);
}
const ir_attr_t* ir_attr_i64(ir_context_t* ctx, int64_t value) {
  return ir_attr_integer(ctx, ir_type_int(ctx, 64), value);
}
const ir_attr_t* ir_attr_bool(ir_context_t* ctx, bool value) {
  return ir_attr_integer(ctx, ir_type_int(ctx, 1), value);
}
const ir_attr_t* ir_attr_float(ir_context_t* ctx, const ir_type_t* type, double value) {
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_FLOAT, .type = type, .number = value}, false);
}
const ir_attr_t* ir_attr_string(ir_context_t* ctx, const char* text, size_t size) {
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_STRING, .text = text, .size = size}, false);
}
const ir_attr_t* ir_attr_cstring(ir_context_t* ctx, const char* text) {
  return ir_attr_string(ctx, text, strlen(text));
}
const ir_attr_t* ir_attr_symbol(ir_context_t* ctx, const char* name) {
  return ir_attr_symbol_nested(ctx, name, NULL, 0);
}
const ir_attr_t* ir_attr_symbol_nested(ir_context_t* ctx, const char* name, const ir_attr_t* const* items,
                                       uint32_t count) {
  ir_attr_t key = {.kind = IR_ATTR_SYMBOL, .text = name, .items = count ? items : NULL, .count = count};
  return attr_get(ctx, key, false);
}
const ir_attr_t* ir_attr_array(ir_context_t* ctx, const ir_attr_t* const* items, uint32_t count) {
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_ARRAY, .items = count ? items : NULL, .count = count}, false);
}

static int compare_entries(const void* a, const void* b) {
  return strcmp(((const ir_named_attr_t*)a)->name, ((const ir_named_attr_t*)b)->name);
}
// Interned names in order, in the arena.
static const ir_named_attr_t* sorted_entries(ir_context_t* ctx, const ir_named_attr_t* entries, uint32_t count) {
  if (!count) return NULL;
  ir_named_attr_t* copy = arena_copy(&ctx->arena, entries, sizeof(*entries) * count);
  for (uint32_t i = 0; i < count; ++i) copy[i].name = ir_intern_cstr(ctx, copy[i].name);
  qsort(copy, count, sizeof(*copy), compare_entries);
  return copy;
}
const ir_attr_t* ir_attr_dict(ir_context_t* ctx, const ir_named_attr_t* entries, uint32_t count) {
  ir_attr_t key = {.kind = IR_ATTR_DICT, .entries = sorted_entries(ctx, entries, count), .count = count};
  return attr_get(ctx, key, false);
}
const ir_attr_t* ir_attr_type(ir_context_t* ctx, const ir_type_t* type) {
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_TYPE, .type = type}, false);
}

static ir_attr_t elements_key(const ir_type_t* type, const void* data, size_t size) {
  bool splat = size == ir_type_bytes(ir_type_scalar(type)) && ir_type_count(type) != 1;
  return (ir_attr_t){.kind = IR_ATTR_ELEMENTS, .type = type, .stored = data, .size = size, .splat = splat};
}
const ir_attr_t* ir_attr_elements(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size) {
  return attr_get(ctx, elements_key(type, data, size), false);
}
const ir_attr_t* ir_attr_elements_borrow(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size) {
  return attr_get(ctx, elements_key(type, data, size), size > INLINE_LIMIT);
}
const ir_attr_t* ir_attr_resource(ir_context_t* ctx, const ir_type_t* type, const char* name, const void* data,
                                  size_t size) {
  ir_attr_t key = elements_key(type, data, size);
  key.resource = ir_intern_cstr(ctx, name);
  return attr_get(ctx, key, true);
}

//===----------------------------------------------------------------------------------------------------------------===
// Data that is made when it is asked for
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t lazy_hash(const void* lazy) {
  const ir_lazy_t* x = lazy;
  return ir_hash_mix(ir_hash_bytes(x + 1, x->recipe), (uintptr_t)x->read);
}

static bool lazy_equal(const void* lazy, const void* key) {
  const ir_lazy_t *x = lazy, *y = key;
  return x->read == y->read && x->size == y->size && x->unit == y->unit && x->recipe == y->recipe &&
         memcmp(x + 1, y + 1, x->recipe) == 0;
}

// The first with the same recipe.
static ir_lazy_t* lazy_get(ir_context_t* ctx, ir_lazy_t* lazy) {
  if (!lazy->recipe) return lazy;
  ir_lazy_t* known = ir_set_find(&ctx->recipes, lazy_hash(lazy), lazy, lazy_equal);
  if (!known) ir_set_insert(&ctx->recipes, lazy_hash(lazy), lazy, lazy_hash);
  return known ? known : lazy;
}

const ir_attr_t* ir_attr_lazy(ir_context_t* ctx, const ir_type_t* type, const char* resource, ir_lazy_t* lazy) {
  lazy = lazy_get(ctx, lazy);
  if (!lazy->ctx) {
    lazy->ctx = ctx;
    lazy->next = ctx->lazies;
    ctx->lazies = lazy;
  }
  ir_attr_t key = elements_key(type, NULL, lazy->size);
  key.lazy = lazy;
  if (resource) key.resource = ir_intern_cstr(ctx, resource);
  return attr_get(ctx, key, true);
}

const ir_attr_t* ir_attr_retype(ir_context_t* ctx, const ir_attr_t* attr, const ir_type_t* type) {
  if (attr->lazy) return ir_attr_lazy(ctx, type, NULL, attr->lazy);
  return ir_attr_elements_borrow(ctx, type, attr->stored, attr->size);
}

typedef struct reading_t {
  const ir_lazy_t* lazy;
  size_t offset, size;
  unsigned char* out;
} reading_t;

static void read_lazy(void* user) {
  const reading_t* r = user;
  r->lazy->read(r->lazy, r->offset, r->size, r->out);
}

// False when memory ran out. In a scope of its own, so that no lock stays taken.
static bool try_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  memory_scope_t scope;
  if (!memory_scope_run(&scope, read_lazy, &(reading_t){lazy, offset, size, out})) return false;
  memory_scope_drop(&scope);
  return true;
}

// NULL when memory ran out. The context's, whatever scope the thread is in.
static void* make_whole(ir_lazy_t* lazy) {
  void* whole = malloc(lazy->size ? lazy->size : 1);
  if (!whole || !try_read(lazy, 0, lazy->size, whole)) {
    free(whole);
    return NULL;
  }
  __atomic_store_n(&lazy->whole, whole, __ATOMIC_RELEASE);
  return whole;
}

const void* ir_attr_data(const ir_attr_t* attr) {
  ir_lazy_t* lazy = attr->lazy;
  if (!lazy) return attr->stored;
  void* whole = __atomic_load_n(&lazy->whole, __ATOMIC_ACQUIRE);
  if (whole) return whole;
  pthread_mutex_lock(&lazy->ctx->lazy_lock);
  whole = lazy->whole ? lazy->whole : make_whole(lazy);
  pthread_mutex_unlock(&lazy->ctx->lazy_lock);
  if (!whole) memory_exhausted(lazy->size);
  return whole;
}

bool ir_attr_try_read(const ir_attr_t* attr, size_t offset, size_t size, void* out) {
  const unsigned char* data = attr->lazy ? __atomic_load_n(&attr->lazy->whole, __ATOMIC_ACQUIRE) : attr->stored;
  if (data) {
    memcpy(out, data + offset, size);
    return true;
  }
  return try_read(attr->lazy, offset, size, out);
}

void ir_attr_read(const ir_attr_t* attr, size_t offset, size_t size, void* out) {
  if (!ir_attr_try_read(attr, offset, size, out)) memory_exhausted(size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Arrays, maps, locations
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* ir_attr_i64_array(ir_context_t* ctx, const int64_t* values, uint32_t count) {
  return ir_attr_dense_array(ctx, ir_type_int(ctx, 64), values, count);
}
const ir_attr_t* ir_attr_dense_array(ir_context_t* ctx, const ir_type_t* element, const void* data, uint32_t count) {
  ir_attr_t key = {.kind = IR_ATTR_DENSE_ARRAY,
                   .type = element,
                   .stored = count ? data : NULL,
                   .size = (size_t)count * ir_type_bytes(element),
                   .count = count};
  return attr_get(ctx, key, false);
}
const ir_attr_t* ir_attr_affine_map(ir_context_t* ctx, const ir_affine_map_t* map) {
  ir_affine_map_t* copy = arena_copy(&ctx->arena, map, sizeof(*map));
  copy->results = arena_copy(&ctx->arena, map->results, sizeof(*map->results) * map->result_count);
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_AFFINE_MAP, .map = copy}, false);
}
const ir_attr_t* ir_attr_loc(ir_context_t* ctx, const ir_loc_t* loc) {
  return attr_get(ctx, (ir_attr_t){.kind = IR_ATTR_LOCATION, .loc = loc}, false);
}
const ir_attr_t* ir_attr_opaque(ir_context_t* ctx, const char* name, const char* body, const ir_named_attr_t* entries,
                                uint32_t count) {
  ir_attr_t key = {.kind = IR_ATTR_OPAQUE,
                   .text = name,
                   .body = body,
                   .entries = sorted_entries(ctx, entries, count),
                   .count = count};
  return attr_get(ctx, key, false);
}

static const void* element_at(const ir_attr_t* attr, int64_t i) {
  size_t bytes = ir_type_bytes(ir_type_scalar(attr->type));
  return (const char*)ir_attr_data(attr) + (attr->splat ? 0 : (size_t)i * bytes);
}
double ir_attr_element_number(const ir_attr_t* attr, int64_t i) {
  const ir_type_t* scalar = ir_type_scalar(attr->type);
  if (scalar->kind == IR_TYPE_COMPLEX) scalar = scalar->element;
  return ir_scalar_load_number(scalar, element_at(attr, i));
}
int64_t ir_attr_element_integer(const ir_attr_t* attr, int64_t i) {
  return ir_scalar_load_integer(ir_type_scalar(attr->type), element_at(attr, i));
}
const ir_attr_t* ir_attr_dict_get(const ir_attr_t* dict, const char* name) {
  for (uint32_t i = 0; dict && dict->entries && i < dict->count; ++i) {
    if (strcmp(dict->entries[i].name, name) == 0) return dict->entries[i].value;
  }
  return NULL;
}

uint32_t ir_attr_ints(const ir_attr_t* attr, int64_t* values, uint32_t capacity) {
  if (!attr) return 0;
  int64_t count = 0;
  if (attr->kind == IR_ATTR_INTEGER) {
    if (capacity) values[0] = attr->integer;
    return 1;
  }
  if (attr->kind == IR_ATTR_ARRAY) {
    count = attr->count;
    for (uint32_t i = 0; i < count && i < capacity; ++i) values[i] = attr->items[i]->integer;
  } else if (attr->kind == IR_ATTR_DENSE_ARRAY || attr->kind == IR_ATTR_ELEMENTS) {
    count = attr->kind == IR_ATTR_ELEMENTS ? ir_type_count(attr->type) : attr->count;
    for (int64_t i = 0; i < count && i < capacity; ++i) values[i] = ir_attr_element_integer(attr, i);
  }
  return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}
