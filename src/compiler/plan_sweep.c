// See plan.h. Moments pass once, from the first on: a value that begins takes a hole that holds it, one that is over
// leaves a hole, which grows together with those beside it. Holes are found by size in bins, eight to each power of
// two, so that no step depends on how many there are.
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "compiler/plan.h"

enum {
  NO_BLOCK = UINT32_MAX,
  FINE_BITS = 3,
  BIN_COUNT = 64 << FINE_BITS,
  LOOKS = 8
};  // at holes of the value's own bin

// A hole, or a value's place; all of them lie behind each other.
typedef struct block_t {
  int64_t offset, size;
  uint32_t below, above;    // its neighbours
  uint32_t next, previous;  // holes of the same bin
  bool is_hole;
} block_t;

typedef struct sweep_t {
  block_t* blocks;
  uint32_t count, top;  // the highest block
  uint32_t spare;       // blocks that no longer are one, by `next`
  uint32_t bins[BIN_COUNT];
  uint64_t filled[BIN_COUNT / 64];
  int64_t end;
} sweep_t;

static uint32_t bin_of(int64_t size) {
  uint64_t units = (uint64_t)size / PLAN_ALIGNMENT;
  if (units < (1u << FINE_BITS)) return (uint32_t)units;
  uint32_t shift = 63 - (uint32_t)__builtin_clzll(units) - FINE_BITS;
  return ((shift + 1) << FINE_BITS) + (uint32_t)((units >> shift) & ((1u << FINE_BITS) - 1));
}

static void hole_add(sweep_t* s, uint32_t number) {
  block_t* block = &s->blocks[number];
  uint32_t bin = bin_of(block->size);
  block->is_hole = true;
  block->previous = NO_BLOCK;
  block->next = s->bins[bin];
  if (block->next != NO_BLOCK) s->blocks[block->next].previous = number;
  s->bins[bin] = number;
  s->filled[bin / 64] |= 1ull << bin % 64;
}

static void hole_remove(sweep_t* s, uint32_t number) {
  block_t* block = &s->blocks[number];
  uint32_t bin = bin_of(block->size);
  block->is_hole = false;
  if (block->next != NO_BLOCK) s->blocks[block->next].previous = block->previous;
  if (block->previous != NO_BLOCK) {
    s->blocks[block->previous].next = block->next;
  } else {
    s->bins[bin] = block->next;
    if (block->next == NO_BLOCK) s->filled[bin / 64] &= ~(1ull << bin % 64);
  }
}

static uint32_t block_new(sweep_t* s, block_t block) {
  uint32_t number = s->spare;
  if (number != NO_BLOCK) {
    s->spare = s->blocks[number].next;
  } else {
    number = s->count++;
  }
  s->blocks[number] = block;
  if (block.below != NO_BLOCK) s->blocks[block.below].above = number;
  if (block.above != NO_BLOCK) {
    s->blocks[block.above].below = number;
  } else {
    s->top = number;
  }
  return number;
}

// `lower` takes in the block above it.
static void blocks_join(sweep_t* s, uint32_t lower) {
  block_t* block = &s->blocks[lower];
  uint32_t gone = block->above;
  block->size += s->blocks[gone].size;
  block->above = s->blocks[gone].above;
  if (block->above != NO_BLOCK) {
    s->blocks[block->above].below = lower;
  } else {
    s->top = lower;
  }
  s->blocks[gone].next = s->spare;
  s->spare = gone;
}

// A hole of at least the size: one of its own bin if a few looks find it, else one of the next bin that has any.
static uint32_t hole_find(const sweep_t* s, int64_t size) {
  uint32_t bin = bin_of(size), looks = 0;
  for (uint32_t i = s->bins[bin]; i != NO_BLOCK && looks < LOOKS; i = s->blocks[i].next, ++looks) {
    if (s->blocks[i].size >= size) return i;
  }
  for (uint32_t word = ++bin / 64; word < BIN_COUNT / 64; ++word) {
    uint64_t filled = s->filled[word];
    if (word == bin / 64) filled &= ~0ull << bin % 64;
    if (filled) return s->bins[word * 64 + (uint32_t)__builtin_ctzll(filled)];
  }
  return NO_BLOCK;
}

// The topmost block becomes a hole of at least the size.
static uint32_t top_grow(sweep_t* s, int64_t size) {
  uint32_t number = s->top;
  if (number != NO_BLOCK && s->blocks[number].is_hole) {
    hole_remove(s, number);
  } else {
    number = block_new(s, (block_t){.offset = s->end, .below = s->top, .above = NO_BLOCK});
  }
  block_t* block = &s->blocks[number];
  if (block->size < size) block->size = size;
  s->end = block->offset + block->size;
  hole_add(s, number);
  return number;
}

static uint32_t block_take(sweep_t* s, int64_t size) {
  uint32_t number = hole_find(s, size);
  if (number == NO_BLOCK) number = top_grow(s, size);
  hole_remove(s, number);
  block_t taken = s->blocks[number];
  if (taken.size > size) {
    s->blocks[number].size = size;
    block_t rest = {.offset = taken.offset + size, .size = taken.size - size, .below = number, .above = taken.above};
    hole_add(s, block_new(s, rest));
  }
  return number;
}

static void block_give(sweep_t* s, uint32_t number) {
  uint32_t above = s->blocks[number].above, below = s->blocks[number].below;
  if (above != NO_BLOCK && s->blocks[above].is_hole) {
    hole_remove(s, above);
    blocks_join(s, number);
  }
  if (below != NO_BLOCK && s->blocks[below].is_hole) {
    hole_remove(s, below);
    blocks_join(s, below);
    number = below;
  }
  hole_add(s, number);
}

typedef struct moment_t {
  uint32_t at, value;
} moment_t;

static int by_moment(const void* a, const void* b) {
  const moment_t *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

int64_t plan_sweep(plan_value_t* const* values, uint32_t count, int64_t base) {
  sweep_t s = {.blocks = memory_array(2 * (size_t)count + 1, sizeof(*s.blocks)),
               .top = NO_BLOCK,
               .spare = NO_BLOCK,
               .end = base};
  for (uint32_t i = 0; i < BIN_COUNT; ++i) s.bins[i] = NO_BLOCK;
  moment_t* begins = memory_array(count, sizeof(*begins));
  moment_t* ends = memory_array(count, sizeof(*ends));
  uint32_t* places = memory_array(count, sizeof(*places));
  for (uint32_t i = 0; i < count; ++i) {
    begins[i] = (moment_t){values[i]->first, i};
    ends[i] = (moment_t){values[i]->last, i};
  }
  qsort(begins, count, sizeof(*begins), by_moment);
  qsort(ends, count, sizeof(*ends), by_moment);
  for (uint32_t i = 0, over = 0; i < count; ++i) {
    for (; ends[over].at < begins[i].at; ++over) block_give(&s, places[ends[over].value]);
    plan_value_t* value = values[begins[i].value];
    uint32_t place = places[begins[i].value] = block_take(&s, plan_align(value->size ? value->size : 1));
    value->offset = s.blocks[place].offset;
  }
  memory_free(s.blocks);
  memory_free(begins);
  memory_free(ends);
  memory_free(places);
  return s.end;
}
