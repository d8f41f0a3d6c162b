// Timeline semaphores as the asynchronous layer sees them: callbacks when a value is reached.
//
// Every HAL semaphore is one; see iree/hal/semaphore.h for creation, signalling and waiting.
#ifndef IREE_ASYNC_SEMAPHORE_H_
#define IREE_ASYNC_SEMAPHORE_H_

#include "iree/async/frontier.h"
#include "iree/async/types.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_semaphore_t iree_async_semaphore_t;
typedef struct iree_async_semaphore_timepoint_t iree_async_semaphore_timepoint_t;

// Called once when the value is reached (OK) or the semaphore fails, on the signalling thread, with no locks held. Owns
// `status`. The timepoint's storage is the caller's again from here on. It must not block on work of a device: the
// signalling thread may be the one that such work needs.
typedef void (*iree_async_semaphore_timepoint_fn_t)(void* user_data, iree_async_semaphore_timepoint_t* timepoint,
                                                    iree_status_t status);

// A pending callback: storage of the caller's; set `callback` and `user_data`, the rest is the semaphore's.
struct iree_async_semaphore_timepoint_t {
  struct iree_async_semaphore_timepoint_t* next;
  struct iree_async_semaphore_timepoint_t* prev;
  iree_async_semaphore_t* semaphore;
  uint64_t minimum_value;
  iree_async_semaphore_timepoint_fn_t callback;
  void* user_data;
};

// Asks for a callback at `minimum_value`. When it is reached already the callback runs before this returns. The
// semaphore must live until the callback or a successful cancel. Thread safe.
IREE_API_EXPORT iree_status_t iree_async_semaphore_acquire_timepoint(iree_async_semaphore_t* semaphore,
                                                                     uint64_t minimum_value,
                                                                     iree_async_semaphore_timepoint_t* timepoint);
// True when the callback had not started and will never run. The timepoint was acquired from `semaphore`, and its
// storage is untouched. Thread safe.
IREE_API_EXPORT bool iree_async_semaphore_cancel_timepoint(iree_async_semaphore_t* semaphore,
                                                           iree_async_semaphore_timepoint_t* timepoint);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_SEMAPHORE_H_
