// Races in global memory between blocks of a launch, which nothing orders but what they do themselves.
//
// Each word remembers which block wrote and which read it last, when, and which of its bytes. Two blocks conflict when
// both touch a byte and one writes, unless both do so atomically, what is written is there already, or the later one
// has done something since that may order it behind the other: an atomic operation, a fence, a load that acquires.
#include <stdlib.h>

#include "softgpu/nvidia/check.h"

enum { GLOBAL_SHARDS = 64, GLOBAL_BUCKETS = 1024, GLOBAL_WORDS = 1024 };

typedef struct word_cell_t {
  uint64_t write_time, read_time;
  uint32_t writer, reader;  // number of the block, plus one; 0: none
  uint8_t written, read;    // bytes
  bool is_atomic, has_readers;
} word_cell_t;

typedef struct page_t {
  uint64_t number;
  struct page_t* next;
  word_cell_t cells[GLOBAL_WORDS];
} page_t;

struct check_launch_t {
  uint64_t clock;  // atomic
  struct {
    pthread_mutex_t lock;
    page_t* buckets[GLOBAL_BUCKETS];
  } shards[GLOBAL_SHARDS];
};

check_launch_t* check_launch_create(void) {
  check_launch_t* check = calloc(1, sizeof(*check));
  for (uint32_t i = 0; check && i < GLOBAL_SHARDS; ++i) pthread_mutex_init(&check->shards[i].lock, NULL);
  return check;
}

void check_launch_destroy(check_launch_t* check) {
  for (uint32_t i = 0; check && i < GLOBAL_SHARDS; ++i) {
    for (uint32_t k = 0; k < GLOBAL_BUCKETS; ++k) {
      for (page_t *page = check->shards[i].buckets[k], *next; page; page = next) {
        next = page->next;
        free(page);
      }
    }
    pthread_mutex_destroy(&check->shards[i].lock);
  }
  free(check);
}

uint64_t check_launch_time(check_launch_t* check) { return __atomic_add_fetch(&check->clock, 1, __ATOMIC_RELAXED); }

// Needs the shard's lock. NULL when memory is short: then nothing is known of the page.
static page_t* find_page(page_t** bucket, uint64_t number) {
  page_t* page = *bucket;
  while (page && page->number != number) page = page->next;
  if (page) return page;
  page = calloc(1, sizeof(*page));
  if (!page) return NULL;
  page->number = number, page->next = *bucket;
  return *bucket = page;
}

static const char* conflict(const word_cell_t* cell, const block_t* block, uint32_t bytes, uint32_t access,
                            uint32_t* other) {
  uint32_t own = block->number + 1;
  bool both_atomic = access & ACCESS_ATOMIC && cell->is_atomic;
  *other = cell->writer - 1;
  if (cell->writer && cell->writer != own && cell->written & bytes && cell->write_time > block->ordered &&
      !both_atomic) {
    return "wrote";
  }
  *other = cell->reader - 1;
  bool is_read = cell->reader && (cell->reader != own || cell->has_readers) && cell->read & bytes;
  return access & ACCESS_WRITE && is_read && cell->read_time > block->ordered && !both_atomic ? "read" : NULL;
}

static void note(word_cell_t* cell, uint32_t own, uint32_t bytes, uint32_t access, uint64_t time) {
  if (access & ACCESS_WRITE) {
    cell->written = (uint8_t)(cell->writer == own ? cell->written | bytes : bytes);
    cell->writer = own, cell->write_time = time, cell->is_atomic = access & ACCESS_ATOMIC;
  } else {
    cell->has_readers = cell->reader && (cell->has_readers || cell->reader != own);
    cell->read = (uint8_t)(cell->read | bytes);
    cell->reader = own, cell->read_time = time;
  }
}

bool check_global_word(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, uint32_t bytes, uint32_t access,
                       bool is_same) {
  check_launch_t* check = w->launch->check;
  uint64_t number = address / (4 * GLOBAL_WORDS);
  uint32_t shard = number % GLOBAL_SHARDS, other = 0;
  pthread_mutex_lock(&check->shards[shard].lock);
  page_t* page = find_page(&check->shards[shard].buckets[number / GLOBAL_SHARDS % GLOBAL_BUCKETS], number);
  word_cell_t* cell = page ? &page->cells[address / 4 % GLOBAL_WORDS] : NULL;
  const char* did = cell && !is_same ? conflict(cell, w->block, bytes, access, &other) : NULL;
  if (cell && !did) note(cell, w->block->number + 1, bytes, access, w->moment);
  pthread_mutex_unlock(&check->shards[shard].lock);
  if (!did) return true;
  warp_fault(w, inst, NV_FAULT_CHECK, 1u << lane, address,
             "race: lane %u %s global memory at 0x%llx, which block %u of the launch %s, and nothing orders them", lane,
             access & ACCESS_WRITE ? "writes" : "reads", (unsigned long long)address, other, did);
  return false;
}
