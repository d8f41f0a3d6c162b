// The context: interned strings, op rows by name, locations, and the sets that keep types and attributes unique.
#include "ir/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/near.h"
#include "ir/near_op.h"

uint64_t ir_hash_bytes(const void* data, size_t size) {
  const unsigned char* p = data;
  uint64_t hash = 0xcbf29ce484222325ull ^ size;
  for (; size >= 8; size -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    hash = ir_hash_mix(hash, word);
  }
  for (; size; --size, ++p) hash = (hash ^ *p) * 0x100000001b3ull;
  return ir_hash_mix(hash, 0);
}

void* ir_set_find(const ir_set_t* set, uint64_t hash, const void* key, ir_set_equal_fn_t equal) {
  if (!set->capacity) return NULL;
  for (size_t i = hash & (set->capacity - 1);; i = (i + 1) & (set->capacity - 1)) {
    if (!set->slots[i]) return NULL;
    if (equal(set->slots[i], key)) return set->slots[i];
  }
}

static void place(ir_set_t* set, uint64_t hash, void* element) {
  size_t i = hash & (set->capacity - 1);
  while (set->slots[i]) i = (i + 1) & (set->capacity - 1);
  set->slots[i] = element;
}

void ir_set_insert(ir_set_t* set, uint64_t hash, void* element, uint64_t (*rehash)(const void*)) {
  if ((set->count + 1) * 2 > set->capacity) {
    ir_set_t old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : 64;
    set->slots = memory_array(set->capacity, sizeof(void*));
    for (size_t i = 0; i < old.capacity; ++i) {
      if (old.slots[i]) place(set, rehash(old.slots[i]), old.slots[i]);
    }
    memory_free(old.slots);
  }
  place(set, hash, element);
  ++set->count;
}

void ir_set_finish(ir_set_t* set) {
  memory_free(set->slots);
  memset(set, 0, sizeof(*set));
}

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

typedef struct name_key_t {
  const char* text;
  size_t size;
} name_key_t;

static bool name_equal(const void* a, const void* key) {
  const name_key_t* k = key;
  return strncmp(a, k->text, k->size) == 0 && ((const char*)a)[k->size] == 0;
}
static uint64_t name_hash(const void* a) { return ir_hash_bytes(a, strlen(a)); }

ir_name_t ir_intern(ir_context_t* ctx, const char* text, size_t size) {
  const char* nul = memchr(text, 0, size);
  if (nul) size = (size_t)(nul - text);
  name_key_t key = {text, size};
  uint64_t hash = ir_hash_bytes(text, size);
  char* name = ir_set_find(&ctx->names, hash, &key, name_equal);
  if (name) return name;
  name = arena_strndup(&ctx->arena, text, size);
  ir_set_insert(&ctx->names, hash, name, name_hash);
  return name;
}

ir_name_t ir_intern_cstr(ir_context_t* ctx, const char* text) { return ir_intern(ctx, text, strlen(text)); }

//===----------------------------------------------------------------------------------------------------------------===
// Op rows
//===----------------------------------------------------------------------------------------------------------------===

static bool op_equal(const void* a, const void* key) { return strcmp(((const ir_op_info_t*)a)->name, key) == 0; }
static uint64_t op_hash(const void* a) { return name_hash(((const ir_op_info_t*)a)->name); }

static const ir_op_info_t module_info = {
    "builtin.module", IR_CODE(IR_DIALECT_BUILTIN, 0), 0, 0, 1, IR_TRAIT_ISOLATED | IR_TRAIT_NO_TERMINATOR, 0, 0, 0, 0};

void ir_context_register(ir_context_t* ctx, const ir_dialect_t* dialect) {
  if (ctx->dialects[dialect->id] == dialect) return;
  ctx->dialects[dialect->id] = dialect;
  for (uint32_t i = 0; i < dialect->op_count; ++i) {
    const ir_op_info_t* info = &dialect->ops[i];
    if (info->name && !ir_context_find_op(ctx, info->name)) {
      ir_set_insert(&ctx->ops, name_hash(info->name), (void*)info, op_hash);
    }
  }
}

const ir_op_info_t* ir_context_find_op(ir_context_t* ctx, const char* name) {
  return ir_set_find(&ctx->ops, name_hash(name), name, op_equal);
}

static const char* nearest_in(const ir_dialect_t* dialect, const char* name, size_t size) {
  size_t prefix = strlen(dialect->name) + 1;
  near_t near = near_begin(name, size);
  for (uint32_t i = 0; i < dialect->op_count; ++i) {
    const char* own = dialect->ops[i].name;
    if (own && strncmp(own, dialect->name, prefix - 1) == 0 && own[prefix - 1] == '.') near_offer(&near, own + prefix);
  }
  return near_result(&near) ? near_result(&near) - prefix : NULL;
}

const char* ir_context_nearest_op(const ir_context_t* ctx, const char* name, size_t size) {
  const char* dot = memchr(name, '.', size);
  near_t family = near_begin(name, dot ? (size_t)(dot - name) : 0), near = near_begin(name, size);
  for (uint32_t d = 0; d < IR_DIALECT_COUNT; ++d) {
    const ir_dialect_t* dialect = ctx->dialects[d];
    if (dialect && dialect->name) near_offer(&family, dialect->name);
    for (uint32_t i = 0; dialect && i < dialect->op_count; ++i) {
      if (dialect->ops[i].name) near_offer(&near, dialect->ops[i].name);
    }
  }
  const char* meant = NULL;
  for (uint32_t d = 0; dot && near_result(&family) && d < IR_DIALECT_COUNT; ++d) {
    const ir_dialect_t* dialect = ctx->dialects[d];
    if (!dialect || dialect->name != near_result(&family)) continue;
    meant = nearest_in(dialect, dot + 1, size - (size_t)(dot + 1 - name));
  }
  return meant ? meant : near_result(&near);
}

const ir_op_info_t* ir_context_op(ir_context_t* ctx, uint32_t code) {
  const ir_dialect_t* dialect = code / 1024 < IR_DIALECT_COUNT ? ctx->dialects[code / 1024] : NULL;
  if (dialect && code % 1024 < dialect->op_count) return &dialect->ops[code % 1024];
  return code == module_info.code ? &module_info : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Locations
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t loc_hash(const void* a) {
  const ir_loc_t* l = a;
  uint64_t hash = ir_hash_mix(l->kind, ((uint64_t)l->line << 32) | l->column);
  hash = ir_hash_mix(hash, (uintptr_t)l->name);
  return ir_hash_mix(ir_hash_mix(hash, (uintptr_t)l->child), (uintptr_t)l->next);
}
static bool loc_equal(const void* a, const void* b) {
  const ir_loc_t *x = a, *y = b;
  return x->kind == y->kind && x->line == y->line && x->column == y->column && x->name == y->name &&
         x->child == y->child && x->next == y->next;
}
static const ir_loc_t* loc_get(ir_context_t* ctx, ir_loc_t key) {
  uint64_t hash = loc_hash(&key);
  ir_loc_t* loc = ir_set_find(&ctx->locs, hash, &key, loc_equal);
  if (loc) return loc;
  loc = arena_copy(&ctx->arena, &key, sizeof(key));
  ir_set_insert(&ctx->locs, hash, loc, loc_hash);
  return loc;
}

const ir_loc_t* ir_loc_unknown(ir_context_t* ctx) { return ctx->unknown; }
const ir_loc_t* ir_loc_file(ir_context_t* ctx, const char* path, uint32_t line, uint32_t column) {
  return loc_get(ctx,
                 (ir_loc_t){.kind = IR_LOC_FILE, .line = line, .column = column, .name = ir_intern_cstr(ctx, path)});
}
const ir_loc_t* ir_loc_name(ir_context_t* ctx, const char* name, const ir_loc_t* child) {
  return loc_get(ctx, (ir_loc_t){.kind = IR_LOC_NAME, .name = ir_intern_cstr(ctx, name), .child = child});
}
const ir_loc_t* ir_loc_fused(ir_context_t* ctx, const ir_loc_t* const* locs, uint32_t count) {
  const ir_loc_t* list = NULL;
  for (uint32_t i = count; i-- > 0;) {
    list = loc_get(ctx, (ir_loc_t){.kind = IR_LOC_FUSED, .child = locs[i], .next = list});
  }
  return list ? list : ctx->unknown;
}
const ir_loc_t* ir_loc_callsite(ir_context_t* ctx, const ir_loc_t* callee, const ir_loc_t* caller) {
  return loc_get(ctx, (ir_loc_t){.kind = IR_LOC_CALLSITE, .child = callee, .next = caller});
}
const ir_loc_t* ir_loc_find_file(const ir_loc_t* loc) {
  for (int depth = 0; loc && depth < 64; ++depth) {
    if (loc->kind == IR_LOC_FILE) return loc;
    if (loc->kind == IR_LOC_FUSED && !ir_loc_find_file(loc->child)) {
      loc = loc->next;
    } else {
      loc = loc->child;
    }
  }
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

// What a memory scope does not know of.
static void release(void* user) {
  ir_context_t* ctx = user;
  for (ir_lazy_t* lazy = ctx->lazies; lazy; lazy = lazy->next) free(lazy->whole);
  ctx->lazies = NULL;
  pthread_mutex_destroy(&ctx->lazy_lock);
}

ir_context_t* ir_context_create(void) {
  ir_context_t* ctx = memory_alloc(sizeof(*ctx));
  arena_init(&ctx->arena);
  pthread_mutex_init(&ctx->lazy_lock, NULL);
  memory_cleanup_add(&ctx->cleanup, release, ctx);
  ctx->unknown = loc_get(ctx, (ir_loc_t){.kind = IR_LOC_UNKNOWN});
  return ctx;
}

void ir_context_limit_text(ir_context_t* ctx, int64_t hex_above, int64_t resource_above) {
  ctx->hex_above = hex_above;
  ctx->resource_above = resource_above;
}

void ir_context_destroy(ir_context_t* ctx) {
  if (!ctx) return;
  memory_cleanup_remove(&ctx->cleanup);
  release(ctx);
  ir_set_finish(&ctx->names);
  ir_set_finish(&ctx->types);
  ir_set_finish(&ctx->attrs);
  ir_set_finish(&ctx->locs);
  ir_set_finish(&ctx->recipes);
  ir_set_finish(&ctx->symbols);
  ir_set_finish(&ctx->ops);
  arena_finish(&ctx->arena);
  memory_free(ctx);
}

void ir_context_mapped_source(ir_context_t* ctx, const void* text, size_t size) {
  ctx->mapped = text;
  ctx->mapped_size = size;
}

void ir_context_note_read(ir_context_t* ctx, size_t bytes) {
  enum { MOST_RESIDENT = 64 << 20 };
  if (!ctx->mapped) return;
  size_t before = __atomic_fetch_add(&ctx->read_bytes, bytes, __ATOMIC_RELAXED);
  if (before / MOST_RESIDENT == (before + bytes) / MOST_RESIDENT) return;
  madvise((void*)ctx->mapped, ctx->mapped_size, MADV_DONTNEED);
}

arena_t* ir_context_arena(ir_context_t* ctx) { return &ctx->arena; }
