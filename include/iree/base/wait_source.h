// Wait sources: anything that resolves later, as a value (three words).
#ifndef IREE_BASE_WAIT_SOURCE_H_
#define IREE_BASE_WAIT_SOURCE_H_

#include "iree/base/attributes.h"
#include "iree/base/status.h"
#include "iree/base/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_wait_source_t iree_wait_source_t;

// Called exactly once with the outcome, owned by the callee. It may run on any thread, and during resolve itself.
typedef void (*iree_wait_source_resolve_callback_t)(void* user_data, iree_status_t status);

// With a callback: arranges for it to be called when the source resolves; `timeout` must be infinite. Without (NULL):
// blocks up to `timeout` and returns the outcome, DEADLINE_EXCEEDED when it did not resolve in time.
typedef iree_status_t (*iree_wait_source_resolve_fn_t)(iree_wait_source_t wait_source, iree_timeout_t timeout,
                                                       iree_wait_source_resolve_callback_t callback, void* user_data);

// The object behind `self` must outlive the waits on it.
struct iree_wait_source_t {
  void* self;
  uint64_t data;
  iree_wait_source_resolve_fn_t resolve;  // NULL: resolved already
};

static inline iree_wait_source_t iree_wait_source_immediate(void) {
  iree_wait_source_t v = {NULL, 0ull, NULL};
  return v;
}
static inline bool iree_wait_source_is_immediate(iree_wait_source_t wait_source) { return wait_source.resolve == NULL; }

// A source that resolves at `deadline_ns`. It supports blocking waits only.
IREE_API_EXPORT iree_status_t iree_wait_source_delay_resolve(iree_wait_source_t wait_source, iree_timeout_t timeout,
                                                             iree_wait_source_resolve_callback_t callback,
                                                             void* user_data);
static inline iree_wait_source_t iree_wait_source_delay(iree_time_t deadline_ns) {
  iree_wait_source_t v = {NULL, (uint64_t)deadline_ns, iree_wait_source_delay_resolve};
  return v;
}
static inline bool iree_wait_source_is_delay(iree_wait_source_t wait_source) {
  return wait_source.resolve == iree_wait_source_delay_resolve;
}

// Polls: OK when resolved, DEFERRED when not yet, else the failure's code.
IREE_API_EXPORT iree_status_t iree_wait_source_query(iree_wait_source_t wait_source,
                                                     iree_status_code_t* out_wait_status_code);
// Blocks up to `timeout`. Errors: DEADLINE_EXCEEDED, or the source's failure.
IREE_API_EXPORT iree_status_t iree_wait_source_wait_one(iree_wait_source_t wait_source, iree_timeout_t timeout);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_WAIT_SOURCE_H_
