// Waiting for a word to change, without memory beside it. Waits may end for nothing: look at the word again.
#ifndef IREE_BASE_THREADING_WAIT_ADDRESS_H_
#define IREE_BASE_THREADING_WAIT_ADDRESS_H_

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/futex.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sleeps while the word is `expected_value`. Codes: as iree_futex_wait.
static inline iree_status_code_t iree_wait_address_wait_int32(iree_atomic_int32_t* address, int32_t expected_value,
                                                              iree_time_t deadline_ns) {
  return iree_futex_wait((void*)address, (uint32_t)expected_value, deadline_ns);
}

static inline void iree_wait_address_wake_all(iree_atomic_int32_t* address) {
  iree_futex_wake((void*)address, IREE_ALL_WAITERS);
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_WAIT_ADDRESS_H_
