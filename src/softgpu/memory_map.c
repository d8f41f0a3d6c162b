// A layer's table of ranges is an array in the order of addresses. Changes are made under a lock; lookups take none: a
// change makes the sequence number odd while it goes on, and who read meanwhile reads again. Arrays that were outgrown
// stay until the map goes, since someone may be reading them.
#include "softgpu/memory_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct table_t {
  struct table_t* older;
  uint32_t capacity;
  memory_range_t ranges[];
} table_t;

typedef struct layer_t {
  uint32_t count;  // atomic
  table_t* table;  // atomic
} layer_t;

enum { LAYER_ABOVE, LAYER_BELOW, LAYER_COUNT };

struct memory_map_t {
  pthread_mutex_t lock;
  uint32_t sequence;  // atomic, odd during a change
  layer_t layers[LAYER_COUNT];
};

static table_t* make_table(uint32_t capacity, table_t* older) {
  table_t* table = calloc(1, sizeof(*table) + capacity * sizeof(memory_range_t));
  if (table) table->capacity = capacity, table->older = older;
  return table;
}

memory_map_t* memory_map_create(void) {
  memory_map_t* map = calloc(1, sizeof(*map));
  if (!map) return NULL;
  pthread_mutex_init(&map->lock, NULL);
  for (int i = 0; i < LAYER_COUNT; ++i) {
    map->layers[i].table = make_table(i == LAYER_ABOVE ? 256 : 16, NULL);
    if (!map->layers[i].table) return memory_map_destroy(map), NULL;
  }
  return map;
}

void memory_map_destroy(memory_map_t* map) {
  if (!map) return;
  for (int i = 0; i < LAYER_COUNT; ++i) {
    for (table_t *table = map->layers[i].table, *older; table; table = older) {
      older = table->older;
      free(table);
    }
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

static bool grow(layer_t* layer, uint32_t count) {
  if (count <= layer->table->capacity) return true;
  uint32_t capacity = 2 * layer->table->capacity;
  table_t* table = make_table(count > capacity ? count : capacity, layer->table);
  if (!table) return false;
  memcpy(table->ranges, layer->table->ranges, layer->count * sizeof(memory_range_t));
  __atomic_store_n(&layer->table, table, __ATOMIC_RELEASE);
  return true;
}

// Puts `count` ranges in place of those from `first` to before `last`. Within a change, where there is room.
static void splice(layer_t* layer, uint32_t first, uint32_t last, const memory_range_t* with, uint32_t count) {
  memory_range_t* ranges = layer->table->ranges;
  uint32_t behind = layer->count - last;
  if (first + count > last) {
    for (uint32_t i = behind; i > 0; --i) store_range(&ranges[first + count + i - 1], &ranges[last + i - 1]);
  } else if (first + count < last) {
    for (uint32_t i = 0; i < behind; ++i) store_range(&ranges[first + count + i], &ranges[last + i]);
  }
  for (uint32_t i = 0; i < count; ++i) store_range(&ranges[first + i], &with[i]);
  __atomic_store_n(&layer->count, first + count + behind, __ATOMIC_RELAXED);
}

bool memory_map_insert(memory_map_t* map, const memory_range_t* range) {
  if (!range->size || range->base + range->size < range->base) return false;
  pthread_mutex_lock(&map->lock);
  layer_t* layer = &map->layers[LAYER_ABOVE];
  uint32_t at = count_below(layer->table->ranges, layer->count, range->base);
  const memory_range_t* ranges = layer->table->ranges;
  bool fits = (!at || ranges[at - 1].base + ranges[at - 1].size <= range->base) &&
              (at == layer->count || range->base + range->size <= ranges[at].base) && grow(layer, layer->count + 1);
  if (fits) {
    begin_change(map);
    splice(layer, at, at, range, 1);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return fits;
}

bool memory_map_replace_below(memory_map_t* map, uint64_t begin, uint64_t end, const memory_range_t* with,
                              uint32_t count) {
  pthread_mutex_lock(&map->lock);
  layer_t* layer = &map->layers[LAYER_BELOW];
  bool done = grow(layer, layer->count + count + 2);
  if (done) {
    const memory_range_t* ranges = layer->table->ranges;
    uint32_t first = count_below(ranges, layer->count, begin), last = first;
    while (last < layer->count && ranges[last].base < end) ++last;
    if (first && ranges[first - 1].base + ranges[first - 1].size > begin) --first;
    // What sticks out on either side stays.
    memory_range_t left = {begin, 0}, right = {end, 0};
    if (first < last) left = ranges[first], right = ranges[last - 1];
    left.size = left.base < begin ? begin - left.base : 0;
    right.size = right.base + right.size > end ? right.base + right.size - end : 0, right.base = end;
    uint32_t middle = first + (left.size != 0);
    begin_change(map);
    splice(layer, first, last, &left, left.size != 0);
    splice(layer, middle, middle, &right, right.size != 0);
    splice(layer, middle, middle, with, count);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return done;
}

// Index of the range that begins at `base`, or -1. Needs the lock.
static int64_t find_base(const layer_t* layer, uint64_t base) {
  uint32_t below = count_below(layer->table->ranges, layer->count, base);
  return below && layer->table->ranges[below - 1].base == base ? (int64_t)below - 1 : -1;
}

bool memory_map_update(memory_map_t* map, uint64_t base, uint64_t agents, bool writable) {
  pthread_mutex_lock(&map->lock);
  layer_t* layer = &map->layers[LAYER_ABOVE];
  int64_t at = find_base(layer, base);
  if (at >= 0) {
    memory_range_t range = layer->table->ranges[at];
    range.agents = agents, range.writable = writable;
    begin_change(map);
    store_range(&layer->table->ranges[at], &range);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return at >= 0;
}

bool memory_map_remove(memory_map_t* map, uint64_t base) {
  pthread_mutex_lock(&map->lock);
  layer_t* layer = &map->layers[LAYER_ABOVE];
  int64_t at = find_base(layer, base);
  if (at >= 0) {
    begin_change(map);
    splice(layer, (uint32_t)at, (uint32_t)at + 1, NULL, 0);
    end_change(map);
  }
  pthread_mutex_unlock(&map->lock);
  return at >= 0;
}

// The range of a layer that begins nearest below `address`, whole or torn.
static void find_in(const layer_t* layer, uint64_t address, memory_range_t* out) {
  uint32_t count = __atomic_load_n(&layer->count, __ATOMIC_RELAXED);
  const table_t* table = __atomic_load_n(&layer->table, __ATOMIC_ACQUIRE);
  if (count > table->capacity) count = table->capacity;
  uint32_t below = count_below(table->ranges, count, address);
  *out = (memory_range_t){0};
  if (below) load_range(out, &table->ranges[below - 1]);
}

bool memory_map_find(memory_map_t* map, uint64_t address, memory_range_t* out) {
  memory_range_t below;
  for (;;) {
    uint32_t before = __atomic_load_n(&map->sequence, __ATOMIC_ACQUIRE);
    find_in(&map->layers[LAYER_ABOVE], address, out);
    find_in(&map->layers[LAYER_BELOW], address, &below);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!(before & 1) && __atomic_load_n(&map->sequence, __ATOMIC_RELAXED) == before) break;
  }
  bool is_above = address - out->base < out->size, is_below = address - below.base < below.size;
  if (!is_above && below.size && (is_below || below.base > out->base || !out->size)) *out = below;
  return is_above || is_below;
}
