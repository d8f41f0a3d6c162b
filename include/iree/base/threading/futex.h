// Waiting for a 32-bit word to change.
#ifndef IREE_BASE_THREADING_FUTEX_H_
#define IREE_BASE_THREADING_FUTEX_H_

#include "iree/base/internal/atomics.h"
#include "iree/base/status.h"
#include "iree/base/time.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ALL_WAITERS INT32_MAX

// Sleeps while *address == expected_value, until woken or the deadline. OK may be spurious: check again. Codes:
// OK, UNAVAILABLE (the value had changed already), DEADLINE_EXCEEDED.
IREE_API_EXPORT iree_status_code_t iree_futex_wait(void* address, uint32_t expected_value, iree_time_t deadline_ns);
// Wakes up to `count` waiters.
IREE_API_EXPORT void iree_futex_wake(void* address, int32_t count);

// A hint to the processor inside a spin loop.
static inline void iree_processor_yield(void) {
#if defined(IREE_ARCH_X86_64)
  __builtin_ia32_pause();
#elif defined(IREE_ARCH_ARM_64)
  __asm__ __volatile__("yield");
#endif
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_FUTEX_H_
