// Compiler attributes under the names the API uses.
#ifndef IREE_BASE_ATTRIBUTES_H_
#define IREE_BASE_ATTRIBUTES_H_

#include "iree/base/target_platform.h"

#ifdef __cplusplus
#define IREE_API_EXPORT extern "C"
#define IREE_RESTRICT __restrict__
#else
#define IREE_API_EXPORT
#define IREE_RESTRICT restrict
#endif
#define IREE_API_PTR

// Marks structs whose fields may still change between releases.
#define IREE_API_UNSTABLE

#define IREE_PRINTF_ATTRIBUTE(string_index, first_to_check) \
  __attribute__((__format__(__printf__, string_index, first_to_check)))
#define IREE_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define IREE_MUST_USE_RESULT __attribute__((warn_unused_result))
#define IREE_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define IREE_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define IREE_ATTRIBUTE_HOT __attribute__((hot))
#define IREE_ATTRIBUTE_COLD __attribute__((cold))
#define IREE_ATTRIBUTE_PACKED __attribute__((__packed__))
#define IREE_ATTRIBUTE_UNUSED __attribute__((unused))
#define IREE_ATTRIBUTE_WEAK __attribute__((weak))
#define IREE_HAVE_ATTRIBUTE_WEAK 1

// What this compiler has; 0 when it cannot say.
#if defined(__has_attribute)
#define IREE_HAVE_ATTRIBUTE(x) __has_attribute(x)
#else
#define IREE_HAVE_ATTRIBUTE(x) 0
#endif
#if defined(__has_builtin)
#define IREE_HAVE_BUILTIN(x) __has_builtin(x)
#else
#define IREE_HAVE_BUILTIN(x) 0
#endif

// Asks for a cache line, to read or to write; `hint` is one of the levels, a constant.
#define IREE_BUILTIN_PREFETCH_RO(ptr, hint) __builtin_prefetch((ptr), /*rw=*/0, hint)
#define IREE_BUILTIN_PREFETCH_RW(ptr, hint) __builtin_prefetch((ptr), /*rw=*/1, hint)
enum iree_prefetch_locality_e {
  IREE_BUILTIN_PREFETCH_LOCALITY_NONE = 0,
  IREE_BUILTIN_PREFETCH_LOCALITY_L3 = 1,
  IREE_BUILTIN_PREFETCH_LOCALITY_L2 = 2,
  IREE_BUILTIN_PREFETCH_LOCALITY_L1 = 3,
};

#define IREE_LIKELY(x) (__builtin_expect(!!(x), 1))
#define IREE_UNLIKELY(x) (__builtin_expect(!!(x), 0))

#endif  // IREE_BASE_ATTRIBUTES_H_
