// The table of allocations: sorted by address, each with pages of its own and a gap behind them.
#include "softgpu/cuda/memory.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/pages.h"

static struct {
  pthread_mutex_t lock;
  allocation_t* rows;
  size_t count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char* kind_name(memory_kind_t kind) {
  static const char* const names[] = {
#define KIND(name, what) what,
      MEMORY_KINDS(KIND)
#undef KIND
  };
  return names[kind];
}

// How many begin at or below the address.
static size_t count_below(uint64_t address) {
  size_t low = 0, high = table.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table.rows[middle].base <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static allocation_t* find_row(uint64_t address) {
  size_t below = count_below(address);
  allocation_t* row = below ? &table.rows[below - 1] : NULL;
  return row && address - row->base < row->size ? row : NULL;
}

// Registered memory lies below what is allocated: the process may have freed it and said nothing.
static bool show(const allocation_t* a) {
  memory_range_t range = {a->base, a->size, a->agents, true, kind_name(a->kind)};
  if (a->kind != MEMORY_REGISTERED) return memory_map_insert(driver.memory, &range);
  return memory_map_replace_below(driver.memory, a->base, a->base + a->size, &range, 1);
}

static void hide(const allocation_t* a) {
  if (a->kind != MEMORY_REGISTERED) {
    memory_map_remove(driver.memory, a->base);
  } else {
    memory_map_replace_below(driver.memory, a->base, a->base + a->size, NULL, 0);
  }
}

static void remove_row(size_t at) {
  hide(&table.rows[at]);
  memmove(&table.rows[at], &table.rows[at + 1], (table.count - at - 1) * sizeof(*table.rows));
  --table.count;
}

// What is registered where something else is now; false when anything else is there.
static bool make_room(const allocation_t* a) {
  for (size_t at = count_below(a->base + a->size - 1); at; --at) {
    const allocation_t* row = &table.rows[at - 1];
    if (row->base + row->size <= a->base) break;
    if (row->kind != MEMORY_REGISTERED || a->kind == MEMORY_REGISTERED) return false;
    remove_row(at - 1);
  }
  return true;
}

static bool insert(const allocation_t* a) {
  if (table.count == table.capacity) {
    size_t capacity = table.capacity ? 2 * table.capacity : 64;
    allocation_t* rows = realloc(table.rows, capacity * sizeof(*rows));
    if (!rows) return false;
    table.rows = rows;
    table.capacity = capacity;
  }
  if (!show(a)) return false;
  size_t at = count_below(a->base);
  memmove(&table.rows[at + 1], &table.rows[at], (table.count - at) * sizeof(*table.rows));
  table.rows[at] = *a;
  ++table.count;
  return true;
}

result_t allocation_add(allocation_t* a) {
  a->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&table.lock);
  bool is_free = make_room(a), ok = is_free && insert(a);
  pthread_mutex_unlock(&table.lock);
  REQUIRE(is_free || a->kind != MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool is_of_device(memory_kind_t kind) { return kind == MEMORY_DEVICE || kind == MEMORY_POOL; }

static uint64_t agents_of(const allocation_t* a) {
  if (a->kind == MEMORY_POOL) return a->pool->agents;
  if (is_of_device(a->kind) || a->kind == MEMORY_VARIABLE)
    return __atomic_load_n(&a->device->accessors, __ATOMIC_ACQUIRE);
  return UINT64_MAX;
}

result_t allocation_create(allocation_t* a) {
  enum { ALIGNMENT = 512 };
  bool counts = is_of_device(a->kind);
  uint64_t limit = a->device->target->memory;
  REQUIRE(a->size <= limit, CUDA_ERROR_OUT_OF_MEMORY);
  uint64_t used = counts ? __atomic_add_fetch(&a->device->allocated, a->size, __ATOMIC_RELAXED) : 0;
  void* pages = used <= limit ? pages_map(a->size, ALIGNMENT, &a->mapped) : NULL;
  a->base = (uint64_t)(uintptr_t)pages;
  a->agents = agents_of(a);
  result_t result = pages ? allocation_add(a) : CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_SUCCESS) return result;
  if (pages) pages_unmap(pages, a->mapped);
  if (counts) __atomic_sub_fetch(&a->device->allocated, a->size, __ATOMIC_RELAXED);
  return result;
}

bool allocation_find(uint64_t address, allocation_t* out) {
  pthread_mutex_lock(&table.lock);
  const allocation_t* row = find_row(address);
  if (row) *out = *row;
  pthread_mutex_unlock(&table.lock);
  return row != NULL;
}

// Mapped memory may lie side by side.
bool allocation_holds(uint64_t address, size_t size) {
  bool ok = true;
  pthread_mutex_lock(&table.lock);
  while (size && ok) {
    const allocation_t* row = find_row(address);
    ok = row != NULL;
    size_t here = ok ? row->base + row->size - address : 0;
    if (here > size) here = size;
    address += here;
    size -= here;
  }
  pthread_mutex_unlock(&table.lock);
  return ok;
}

static void give_back(const allocation_t* a) {
  if (is_of_device(a->kind)) __atomic_sub_fetch(&a->device->allocated, a->size, __ATOMIC_RELAXED);
  if (a->kind == MEMORY_POOL) pool_account(a->pool, -(int64_t)a->size);
  if (a->mapped) pages_unmap((void*)(uintptr_t)a->base, a->mapped);
}

bool allocation_free(uint64_t base, memory_kind_t kind) {
  allocation_t gone = {.base = 0};
  pthread_mutex_lock(&table.lock);
  allocation_t* row = find_row(base);
  bool ok = row && row->base == base && row->kind == kind;
  if (ok) {
    gone = *row;
    remove_row((size_t)(row - table.rows));
  }
  pthread_mutex_unlock(&table.lock);
  if (ok) give_back(&gone);
  return ok;
}

void allocation_free_context(context_t* context) {
  for (;;) {
    allocation_t gone = {.size = 0};
    pthread_mutex_lock(&table.lock);
    for (size_t i = table.count; i && !gone.size; --i) {
      if (table.rows[i - 1].context != context) continue;
      gone = table.rows[i - 1];
      remove_row(i - 1);
    }
    pthread_mutex_unlock(&table.lock);
    if (!gone.size) return;
    give_back(&gone);
  }
}

void allocation_set_agents(uint64_t base, uint64_t agents, bool is_writable) {
  pthread_mutex_lock(&table.lock);
  allocation_t* row = find_row(base);
  if (row && row->base == base) {
    row->agents = agents;
    memory_map_update(driver.memory, base, agents, is_writable);
  }
  pthread_mutex_unlock(&table.lock);
}

void allocation_update_agents(device_t* device) {
  pthread_mutex_lock(&table.lock);
  for (size_t i = 0; i < table.count; ++i) {
    allocation_t* row = &table.rows[i];
    if (row->device != device || (!is_of_device(row->kind) && row->kind != MEMORY_VARIABLE)) continue;
    row->agents = agents_of(row);
    memory_map_update(driver.memory, row->base, row->agents, true);
  }
  pthread_mutex_unlock(&table.lock);
}

void* allocation_create_variable(void* data, size_t size, size_t alignment, const char* kind) {
  allocation_t a = {.size = size ? size : 1, .kind = MEMORY_VARIABLE, .device = data};
  return allocation_create(&a) == CUDA_SUCCESS ? (void*)(uintptr_t)a.base : NULL;
}

void allocation_release_variable(void* data, void* address) {
  allocation_free((uint64_t)(uintptr_t)address, MEMORY_VARIABLE);
}
