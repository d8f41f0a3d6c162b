// The ring of kernel arguments: memory that the host writes and the GPU reads, given out in order and given back in
// order. Positions only grow; a position's place in memory is its remainder. Spans are aligned to cache lines and never
// wrap.
#ifndef IREE_C_HAL_AMDGPU_RING_H_
#define IREE_C_HAL_AMDGPU_RING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_ALIGNMENT 64

typedef struct ring_t {
  uint8_t* base;
  uint64_t size;  // bytes, a power of two
  uint64_t head;  // where the next span may start
  uint64_t tail;  // everything before is free
} ring_t;

// Where `size` bytes after `*cursor` are, which moves behind them. Needs only what never changes of the ring.
static inline uint8_t* ring_place(const ring_t* ring, uint64_t* cursor, uint64_t size) {
  uint64_t begin = (*cursor + RING_ALIGNMENT - 1) & ~(uint64_t)(RING_ALIGNMENT - 1);
  uint64_t offset = begin & (ring->size - 1);
  if (size > ring->size - offset) {
    begin += ring->size - offset;
    offset = 0;
  }
  *cursor = begin + size;
  return ring->base + offset;
}

// Takes `size` bytes after `*cursor`, which starts as a copy of `head`; nothing in the ring changes. NULL when they do
// not fit.
static inline uint8_t* ring_allocate(const ring_t* ring, uint64_t* cursor, uint64_t size) {
  uint64_t end = *cursor;
  uint8_t* place = ring_place(ring, &end, size);
  if (size > ring->size || end - ring->tail > ring->size) return NULL;
  *cursor = end;
  return place;
}

static inline void ring_commit(ring_t* ring, uint64_t cursor) { ring->head = cursor; }

static inline void ring_reclaim(ring_t* ring, uint64_t position) { ring->tail = position; }

// With nothing in use: the next span starts at the beginning, so that whatever fits at all fits.
static inline void ring_reset(ring_t* ring) {
  ring->head = (ring->head + ring->size - 1) & ~(ring->size - 1);
  ring->tail = ring->head;
}

#endif  // IREE_C_HAL_AMDGPU_RING_H_
