// Bitmaps over words of the caller's. Not synchronized.
#ifndef IREE_BASE_BITMAP_H_
#define IREE_BASE_BITMAP_H_

#include "iree/base/alignment.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_BITMAP_BITS_PER_WORD (sizeof(uint64_t) * 8)
#define iree_bitmap_calculate_words(bit_count) iree_host_size_ceil_div(bit_count, IREE_BITMAP_BITS_PER_WORD)

typedef struct iree_bitmap_t {
  iree_host_size_t bit_count;
  uint64_t* words;  // iree_bitmap_calculate_words(bit_count) of them
} iree_bitmap_t;

static inline bool iree_bitmap_test(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  return (bitmap.words[bit_index / 64] >> (bit_index % 64)) & 1;
}
static inline void iree_bitmap_set(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  bitmap.words[bit_index / 64] |= 1ull << (bit_index % 64);
}
static inline void iree_bitmap_reset(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  bitmap.words[bit_index / 64] &= ~(1ull << (bit_index % 64));
}
// First set bit at or after `bit_offset`; `bit_count` when none.
static inline iree_host_size_t iree_bitmap_find_first_set(iree_bitmap_t bitmap, iree_host_size_t bit_offset) {
  while (bit_offset < bitmap.bit_count && !iree_bitmap_test(bitmap, bit_offset)) ++bit_offset;
  return bit_offset;
}
static inline iree_host_size_t iree_bitmap_count(iree_bitmap_t bitmap) {
  iree_host_size_t count = 0;
  for (iree_host_size_t i = 0; i < bitmap.bit_count; ++i) count += iree_bitmap_test(bitmap, i);
  return count;
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_BITMAP_H_
