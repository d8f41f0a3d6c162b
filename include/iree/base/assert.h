// Assertions: bugs of the caller or of this library, never bad input. They vanish under NDEBUG, without evaluating
// their arguments. The trailing arguments are for the reader.
#ifndef IREE_BASE_ASSERT_H_
#define IREE_BASE_ASSERT_H_

#include <assert.h>
#include <stdlib.h>

#include "iree/base/attributes.h"

IREE_ATTRIBUTE_NORETURN static inline void iree_abort(void) { abort(); }

#if defined(NDEBUG)
#define IREE_ASSERT(condition, ...) ((void)sizeof(!(condition)))
#else
#define IREE_ASSERT(condition, ...) assert(condition)
#endif

#define IREE_ASSERT_ARGUMENT(name) IREE_ASSERT(name)
#define IREE_ASSERT_TRUE(expr, ...) IREE_ASSERT(!!(expr))
#define IREE_ASSERT_FALSE(expr, ...) IREE_ASSERT(!(expr))
#define IREE_ASSERT_UNREACHABLE(...) IREE_ASSERT(0)
#define IREE_ASSERT_ALIGNED(ptr, alignment) IREE_ASSERT(((uintptr_t)(ptr) & ((alignment) - 1)) == 0)
#define IREE_ASSERT_EQ(x, y, ...) IREE_ASSERT((x) == (y))
#define IREE_ASSERT_NE(x, y, ...) IREE_ASSERT((x) != (y))
#define IREE_ASSERT_LE(x, y, ...) IREE_ASSERT((x) <= (y))
#define IREE_ASSERT_LT(x, y, ...) IREE_ASSERT((x) < (y))
#define IREE_ASSERT_GE(x, y, ...) IREE_ASSERT((x) >= (y))
#define IREE_ASSERT_GT(x, y, ...) IREE_ASSERT((x) > (y))

#endif  // IREE_BASE_ASSERT_H_
