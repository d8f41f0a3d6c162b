// Finds rows by the first word of an instruction's name.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/nvidia/decode.h"
#include "softgpu/vector_levels.h"

#define TABLE(name) extern const row_table_t name;
WARP_PLAIN_TABLES(TABLE)
#undef TABLE
#define TABLE(name) VECTOR_LEVELS_DECLARE(row_table_t, name)
WARP_VECTOR_TABLES(TABLE)
#undef TABLE

enum { ROW_BUCKETS = 256, ROW_MOST = 2048 };

typedef struct entry_t {
  const row_t* row;
  const char* name;
  uint32_t size, head;  // of the name and its first word
  uint32_t next;        // of the bucket, plus one
} entry_t;

static entry_t entries[ROW_MOST];
static uint32_t entry_count, buckets[ROW_BUCKETS];

static uint32_t hash(const char* text, uint32_t size) {
  uint32_t value = 5381;
  for (uint32_t i = 0; i < size; ++i) value = value * 33 + (uint8_t)text[i];
  return value % ROW_BUCKETS;
}

static void add_row(const row_t* row) {
  for (const char* at = row->names; *at;) {
    uint32_t size = (uint32_t)strcspn(at, " "), head = (uint32_t)strcspn(at, ". ");
    if (entry_count == ROW_MOST) return;
    uint32_t bucket = hash(at, head);
    entries[entry_count] = (entry_t){row, at, size, head, buckets[bucket]};
    buckets[bucket] = ++entry_count;
    at += size + (at[size] == ' ');
  }
}

static void add_table(const row_table_t* table) {
  for (uint32_t i = 0; i < table->count; ++i) add_row(&table->rows[i]);
}

// IREE_SOFTGPU_VECTOR=2 to 4: a lower level than the host's.
static uint32_t host_level(void) {
#if defined(__x86_64__)
  const char* asked = getenv("IREE_SOFTGPU_VECTOR");
  long most = asked ? atol(asked) : 4;
  if (most >= 4 && __builtin_cpu_supports("x86-64-v4")) return 2;
  if (most >= 3 && __builtin_cpu_supports("x86-64-v3")) return 1;
#endif
  return 0;
}

static void add_tables(void) {
  uint32_t level = host_level();
#define TABLE(name)                                          \
  {                                                          \
    const row_table_t* const levels[] = VECTOR_LEVELS(name); \
    add_table(levels[level]);                                \
  }
  WARP_VECTOR_TABLES(TABLE)
#undef TABLE
#define TABLE(name) add_table(&name);
  WARP_PLAIN_TABLES(TABLE)
#undef TABLE
}

// Of several rows the one that names most words itself.
const row_t* row_find(const statement_t* s, ptx_modifiers_t* out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, add_tables);
  const entry_t* best = NULL;
  ptx_modifiers_t modifiers;
  const ptx_part_t* first = &s->parts[0];
  for (uint32_t at = buckets[hash(first->text, first->size)]; at; at = entries[at - 1].next) {
    const entry_t* e = &entries[at - 1];
    if (e->head != first->size || memcmp(e->name, first->text, e->head) != 0) continue;
    if (best && best->size >= e->size) continue;
    if (!ptx_match(e->name, e->size, e->row->options, s->parts, s->part_count, &modifiers)) continue;
    best = e, *out = modifiers;
  }
  return best ? best->row : NULL;
}
