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
// `bit_length` bits from `bit_index` on; reset likewise.
static inline void iree_bitmap_set_span(iree_bitmap_t bitmap, iree_host_size_t bit_index, iree_host_size_t bit_length) {
  for (iree_host_size_t i = 0; i < bit_length; ++i) iree_bitmap_set(bitmap, bit_index + i);
}
static inline void iree_bitmap_reset_span(iree_bitmap_t bitmap, iree_host_size_t bit_index,
                                          iree_host_size_t bit_length) {
  for (iree_host_size_t i = 0; i < bit_length; ++i) iree_bitmap_reset(bitmap, bit_index + i);
}
static inline void iree_bitmap_set_all(iree_bitmap_t bitmap) { iree_bitmap_set_span(bitmap, 0, bitmap.bit_count); }
static inline void iree_bitmap_reset_all(iree_bitmap_t bitmap) { iree_bitmap_reset_span(bitmap, 0, bitmap.bit_count); }
// First bit that is not set at or after `bit_offset`; `bit_count` when none. The span form finds `bit_length` of them
// in a row.
static inline iree_host_size_t iree_bitmap_find_first_unset(iree_bitmap_t bitmap, iree_host_size_t bit_offset) {
  while (bit_offset < bitmap.bit_count && iree_bitmap_test(bitmap, bit_offset)) ++bit_offset;
  return iree_min(bit_offset, bitmap.bit_count);
}
static inline iree_host_size_t iree_bitmap_find_first_unset_span(iree_bitmap_t bitmap, iree_host_size_t bit_offset,
                                                                 iree_host_size_t bit_length) {
  iree_host_size_t length = 0;
  for (iree_host_size_t i = bit_offset; length < bit_length && i < bitmap.bit_count; ++i) {
    length = iree_bitmap_test(bitmap, i) ? 0 : length + 1;
    if (length == 0) bit_offset = i + 1;
  }
  return length < bit_length ? bitmap.bit_count : bit_offset;
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
static inline bool iree_bitmap_any_set(iree_bitmap_t bitmap) {
  return iree_bitmap_find_first_set(bitmap, 0) < bitmap.bit_count;
}
static inline bool iree_bitmap_none_set(iree_bitmap_t bitmap) { return !iree_bitmap_any_set(bitmap); }

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_BITMAP_H_
