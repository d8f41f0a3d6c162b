// The table of ranges is an array in the order of addresses. Changes are made under a lock; lookups take none: a change
// makes the sequence number odd while it goes on, and who read meanwhile reads again. Arrays that were outgrown stay
// until the map goes, since someone may be reading them.
#include "softgpu/memory_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct table_t {
  struct table_t* older;
  uint32_t capacity;
  memory_range_t ranges[];
} table_t;

struct memory_map_t {
  pthread_mutex_t lock;
  uint32_t sequence;  // atomic, odd during a change
  uint32_t count;     // atomic
  table_t* table;     // atomic
};

static table_t* make_table(uint32_t capacity, table_t* older) {
  table_t* table = calloc(1, sizeof(*table) + capacity * sizeof(memory_range_t));
  if (table) table->capacity = capacity, table->older = older;
  return table;
}

memory_map_t* memory_map_create(void) {
  memory_map_t* map = calloc(1, sizeof(*map));
  if (!map) return NULL;
  map->table = make_table(256, NULL);
  if (!map->table) return free(map), NULL;
  pthread_mutex_init(&map->lock, NULL);
  return map;
}

void memory_map_destroy(memory_map_t* map) {
  if (!map) return;
  for (table_t *table = map->table, *older; table; table = older) {
    older = table->older;
    free(table);
  }
  pthread_mutex_destroy(&map->lock);
  free(map);
}

// Ranges that begin at or below `address`.
static uint32_t count_below(const memory_range_t* ranges, uint32_t count, uint64_t address) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (__atomic_load_n(&ranges[middle].base, __ATOMIC_RELAXED) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void begin_change(memory_map_t* map) {
  __atomic_store_n(&map->sequence, map->sequence + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_change(memory_map_t* map) { __atomic_store_n(&map->sequence, map->sequence + 1, __ATOMIC_RELEASE); }

// Stores that lookups may see half of are atomic, word by word; the sequence number tells them.
static void store_range(memory_range_t* to, const memory_range_t* from) {
  __atomic_store_n(&to->base, from->base, __ATOMIC_RELAXED);
  __atomic_store_n(&to->size, from->size, __ATOMIC_RELAXED);
  __atomic_store_n(&to->agents, from->agents, __ATOMIC_RELAXED);
  __atomic_store_n(&to->writable, from->writable, __ATOMIC_RELAXED);
  __atomic_store_n(&to->kind, from->kind, __ATOMIC_RELAXED);
}

static void load_range(memory_range_t* to, const memory_range_t* from) {
  to->base = __atomic_load_n(&from->base, __ATOMIC_RELAXED);
  to->size = __atomic_load_n(&from->size, __ATOMIC_RELAXED);
  to->agents = __atomic_load_n(&from->agents, __ATOMIC_RELAXED);
  to->writable = __atomic_load_n(&from->writable, __ATOMIC_RELAXED);
  to->kind = __atomic_load_n(&from->kind, __ATOMIC_RELAXED);
}

static bool grow(memory_map_t* map) {
  if (map->count < map->table->capacity) return true;
  table_t* table = make_table(2 * map->table->capacity, map->table);
  if (!table) return false;
  memcpy(table->ranges, map->table->ranges, map->count * sizeof(memory_range_t));
  __atomic_store_n(&map->table, table, __ATOMIC_RELEASE);
  return true;
}

bool memory_map_insert(memory_map_t* map, const memory_range_t* range) {
  if (!range->size || range->base + range->size < range->base) return false;
  pthread_mutex_lock(&map->lock);
  uint32_t at = count_below(map->table->ranges, map->count, range->base);
  const memory_range_t* ranges = map->table->ranges;
  bool fits = (!at || ranges[at - 1].base + ranges[at - 1].size <= range->base) &&
              (at == map->count || range->base + range->size <= ranges[at].base) && grow(map);
  if (fits) {
    memory_range_t* to = map->table->ranges;
    begin_change(map);
    for (uint32_t i = map->count; i > at; --i) store_range(&to[i], &to[i - 1]);
    store_range(&to[at], range);
    __atomic_store_n(&map->count, map->count + 1, __ATOMIC_RELAXED);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return fits;
}

// Index of the range that begins at `base`, or -1. Needs the lock.
static int64_t find_base(const memory_map_t* map, uint64_t base) {
  uint32_t below = count_below(map->table->ranges, map->count, base);
  return below && map->table->ranges[below - 1].base == base ? (int64_t)below - 1 : -1;
}

bool memory_map_update(memory_map_t* map, uint64_t base, uint64_t agents, bool writable) {
  pthread_mutex_lock(&map->lock);
  int64_t at = find_base(map, base);
  if (at >= 0) {
    memory_range_t range = map->table->ranges[at];
    range.agents = agents, range.writable = writable;
    begin_change(map);
    store_range(&map->table->ranges[at], &range);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return at >= 0;
}

bool memory_map_remove(memory_map_t* map, uint64_t base) {
  pthread_mutex_lock(&map->lock);
  int64_t at = find_base(map, base);
  if (at >= 0) {
    memory_range_t* ranges = map->table->ranges;
    begin_change(map);
    for (uint32_t i = (uint32_t)at; i + 1 < map->count; ++i) store_range(&ranges[i], &ranges[i + 1]);
    __atomic_store_n(&map->count, map->count - 1, __ATOMIC_RELAXED);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return at >= 0;
}

bool memory_map_find(memory_map_t* map, uint64_t address, memory_range_t* out) {
  for (;;) {
    uint32_t before = __atomic_load_n(&map->sequence, __ATOMIC_ACQUIRE);
    const table_t* table = __atomic_load_n(&map->table, __ATOMIC_ACQUIRE);
    uint32_t count = __atomic_load_n(&map->count, __ATOMIC_RELAXED);
    if (count > table->capacity) count = table->capacity;
    uint32_t below = count_below(table->ranges, count, address);
    *out = (memory_range_t){0};
    if (below) load_range(out, &table->ranges[below - 1]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!(before & 1) && __atomic_load_n(&map->sequence, __ATOMIC_RELAXED) == before) break;
  }
  return address - out->base < out->size;
}
