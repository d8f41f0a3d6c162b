// Private parts of the context, shared by the files of src/ir that implement it.
#ifndef IREE_C_IR_CONTEXT_H_
#define IREE_C_IR_CONTEXT_H_

#include <pthread.h>

#include "base/memory.h"
#include "ir/ir.h"

// A set of uniqued objects: open addressing over pointers, hashed and compared by the caller.
typedef struct ir_set_t {
  void** slots;
  size_t capacity;  // power of two, or 0
  size_t count;
} ir_set_t;
typedef bool (*ir_set_equal_fn_t)(const void* a, const void* b);

// The element equal to `key`, or NULL.
void* ir_set_find(const ir_set_t* set, uint64_t hash, const void* key, ir_set_equal_fn_t equal);
// `rehash` gives an element's hash when the table grows.
void ir_set_insert(ir_set_t* set, uint64_t hash, void* element, uint64_t (*rehash)(const void*));
void ir_set_finish(ir_set_t* set);

static inline uint64_t ir_hash_mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}
uint64_t ir_hash_bytes(const void* data, size_t size);

typedef struct ir_source_t {
  struct ir_source_t* next;
  ir_name_t path;
  const char* text;
  size_t size;
} ir_source_t;

struct ir_context_t {
  arena_t arena;
  ir_set_t names;
  ir_set_t types;
  ir_set_t attrs;
  ir_set_t locs;
  ir_set_t recipes;  // ir_lazy_t that have one
  ir_set_t symbols;  // of symbol_table, as they were when one was not found: ir_op_t
  const ir_op_t* symbol_table;
  ir_set_t ops;  // ir_op_info_t by name
  const ir_dialect_t* dialects[IR_DIALECT_COUNT];
  uint32_t type_count;
  ir_diagnostic_fn_t diagnostic;
  void* diagnostic_user;
  uint32_t muted;
  ir_source_t* sources;
  const void* mapped;  // a source that is a mapped file
  size_t mapped_size;
  size_t read_bytes;  // of it; atomic
  ir_lazy_t* lazies;
  pthread_mutex_t lazy_lock;  // while one is made whole
  memory_cleanup_t cleanup;
  const char* reproducer;  // the pipeline, or NULL (reproducer.h)
  bool reproducer_verifies;
  const ir_loc_t* unknown;
  int64_t hex_above, resource_above;  // ir_context_limit_text
};

#endif  // IREE_C_IR_CONTEXT_H_
