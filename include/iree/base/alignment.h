// Alignment and size arithmetic. Alignments are powers of two; sizes are bytes unless named otherwise.
#ifndef IREE_BASE_ALIGNMENT_H_
#define IREE_BASE_ALIGNMENT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_PTR_SIZE __SIZEOF_POINTER__
#if __SIZEOF_POINTER__ == 8
#define IREE_PTR_SIZE_64
#else
#define IREE_PTR_SIZE_32
#endif

#define IREE_BUILTIN_UNREACHABLE() __builtin_unreachable()
#if defined(__cplusplus)
#define IREE_DECLTYPE(v) decltype(v)
#else
#define IREE_DECLTYPE(v) __typeof__(v)
#endif
// Tells the compiler that the variable `ptr` is a multiple of `size`.
#define IREE_BUILTIN_ASSUME_ALIGNED(ptr, size) \
  ((void)((ptr) = (IREE_DECLTYPE(ptr))__builtin_assume_aligned((const void*)(ptr), (size))))

#define IREE_ARRAYSIZE(arr) (sizeof(arr) / sizeof(arr[0]))

#define iree_min(lhs, rhs) ((lhs) <= (rhs) ? (lhs) : (rhs))
#define iree_max(lhs, rhs) ((lhs) <= (rhs) ? (rhs) : (lhs))

#define iree_max_align_t sizeof(long double)
#define iree_alignas(x) __attribute__((__aligned__(x)))
#define iree_alignof(x) __alignof__(x)

// The object of `type` whose `member` is at `ptr`.
#define iree_containerof(ptr, type, member) ((type*)((char*)(ptr) - offsetof(type, member)))

// Size of `t` rounded up so that anything may follow it in one allocation.
#define iree_sizeof_struct(t) iree_host_align(sizeof(t), iree_max_align_t)

// Both size types have the same helpers.
#define IREE_IMPL_SIZE_HELPERS_(prefix, type)                                                                         \
  /* `value` rounded up to `alignment`. */                                                                            \
  static inline type prefix##_align(type value, type alignment) {                                                     \
    return (value + (alignment - 1)) & ~(alignment - 1);                                                              \
  }                                                                                                                   \
  static inline bool prefix##_size_is_power_of_two(type value) { return value != 0 && !(value & (value - 1)); }       \
  /* Zero means "no alignment asked for" and is valid. */                                                             \
  static inline bool prefix##_size_is_valid_alignment(type alignment) { return !(alignment & (alignment - 1)); }      \
  static inline bool prefix##_size_has_alignment(type value, type alignment) {                                        \
    return prefix##_align(value, alignment) == value;                                                                 \
  }                                                                                                                   \
  /* 0 and 1 give 1; values above the largest power of two give the type's maximum. */                                \
  static inline type prefix##_size_next_power_of_two(type value) {                                                    \
    if (value <= 1) return 1;                                                                                         \
    if (value > (((type)1) << (sizeof(type) * 8 - 1))) return ~(type)0;                                               \
    return ((type)1) << (sizeof(type) * 8 - (unsigned)__builtin_clzll((unsigned long long)(value - 1)));              \
  }                                                                                                                   \
  static inline type prefix##_size_ceil_div(type lhs, type rhs) { return lhs / rhs + (lhs % rhs != 0); }              \
  static inline type prefix##_size_floor_div(type lhs, type rhs) { return lhs / rhs; }                                \
  /* Checked arithmetic: false, with *out undefined, when the result does not fit. */                                 \
  static inline bool prefix##_size_checked_add(type a, type b, type* out) {                                           \
    return !__builtin_add_overflow(a, b, out);                                                                        \
  }                                                                                                                   \
  static inline bool prefix##_size_checked_mul(type a, type b, type* out) {                                           \
    return !__builtin_mul_overflow(a, b, out);                                                                        \
  }                                                                                                                   \
  static inline bool prefix##_size_checked_mul_add(type base, type count, type element_size, type* out) {             \
    type product = 0;                                                                                                 \
    return prefix##_size_checked_mul(count, element_size, &product) && prefix##_size_checked_add(base, product, out); \
  }                                                                                                                   \
  static inline bool prefix##_size_checked_align(type value, type alignment, type* out) {                             \
    type padded = 0;                                                                                                  \
    if (!prefix##_size_checked_add(value, alignment - 1, &padded)) return false;                                      \
    *out = padded & ~(alignment - 1);                                                                                 \
    return true;                                                                                                      \
  }
IREE_IMPL_SIZE_HELPERS_(iree_host, iree_host_size_t)
IREE_IMPL_SIZE_HELPERS_(iree_device, iree_device_size_t)
#undef IREE_IMPL_SIZE_HELPERS_

static inline bool iree_host_ptr_has_alignment(const void* ptr, iree_host_size_t alignment) {
  return iree_host_size_has_alignment((iree_host_size_t)(uintptr_t)ptr, alignment);
}

static inline bool iree_is_power_of_two_uint64(uint64_t value) { return value != 0 && !(value & (value - 1)); }
static inline uint64_t iree_align_uint64(uint64_t value, uint64_t alignment) {
  return (value + (alignment - 1)) & ~(alignment - 1);
}

static inline iree_device_size_t iree_device_size_gcd(iree_device_size_t a, iree_device_size_t b) {
  while (b) {
    iree_device_size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
static inline iree_device_size_t iree_device_size_lcm(iree_device_size_t a, iree_device_size_t b) {
  return a * (b / iree_device_size_gcd(a, b));
}

// Ranges, of any bytes and of whole pages.
typedef struct iree_byte_range_t {
  iree_host_size_t offset;
  iree_host_size_t length;
} iree_byte_range_t;
typedef struct iree_page_range_t {
  iree_host_size_t offset;
  iree_host_size_t length;
} iree_page_range_t;

// The page that `addr` is in, and the first one at or after it.
static inline uintptr_t iree_page_align_start(uintptr_t addr, iree_host_size_t page_alignment) {
  return addr & ~(uintptr_t)(page_alignment - 1);
}
static inline uintptr_t iree_page_align_end(uintptr_t addr, iree_host_size_t page_alignment) {
  return iree_page_align_start(addr + (page_alignment - 1), page_alignment);
}
// From the first begin to the last end.
static inline iree_page_range_t iree_page_range_union(const iree_page_range_t a, const iree_page_range_t b) {
  iree_host_size_t begin = iree_min(a.offset, b.offset);
  iree_host_size_t end = iree_max(a.offset + a.length, b.offset + b.length);
  iree_page_range_t range = {begin, end - begin};
  return range;
}
// Offset and length, each rounded up.
static inline iree_page_range_t iree_align_byte_range_to_pages(const iree_byte_range_t byte_range,
                                                               iree_host_size_t page_alignment) {
  iree_page_range_t range = {iree_host_align(byte_range.offset, page_alignment),
                             iree_host_align(byte_range.length, page_alignment)};
  return range;
}
// The pages that a range behind `base_address` touches.
static inline void iree_page_align_range(void* base_address, iree_byte_range_t range, iree_host_size_t page_alignment,
                                         void** out_start_address, iree_host_size_t* out_aligned_length) {
  uintptr_t begin = iree_page_align_start((uintptr_t)base_address + range.offset, page_alignment);
  uintptr_t end = iree_page_align_end((uintptr_t)base_address + range.offset + range.length, page_alignment);
  *out_start_address = (void*)begin;
  *out_aligned_length = (iree_host_size_t)(end - begin);
}

// Little-endian loads and stores from any address.
#define IREE_IMPL_UNALIGNED_(suffix, type)                                     \
  static inline type iree_unaligned_load_le_##suffix(const type* ptr) {        \
    type value;                                                                \
    memcpy(&value, (const void*)ptr, sizeof(value));                           \
    return value;                                                              \
  }                                                                            \
  static inline void iree_unaligned_store_le_##suffix(type* ptr, type value) { \
    memcpy((void*)ptr, &value, sizeof(value));                                 \
  }
IREE_IMPL_UNALIGNED_(u8, uint8_t)
IREE_IMPL_UNALIGNED_(u16, uint16_t)
IREE_IMPL_UNALIGNED_(u32, uint32_t)
IREE_IMPL_UNALIGNED_(u64, uint64_t)
IREE_IMPL_UNALIGNED_(f32, float)
IREE_IMPL_UNALIGNED_(f64, double)
#undef IREE_IMPL_UNALIGNED_

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_ALIGNMENT_H_
