// A loop that runs when its owner waits for it, in the owner's thread: calls in order, waits as they resolve. Scopes
// divide it, so that a failure ends what belongs together and nothing else. Thread-compatible.
#ifndef IREE_BASE_LOOP_SYNC_H_
#define IREE_BASE_LOOP_SYNC_H_

#include "iree/base/allocator.h"
#include "iree/base/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_loop_sync_t iree_loop_sync_t;

typedef struct iree_loop_sync_options_t {
  iree_host_size_t max_queue_depth;  // calls that may be pending; 0: a default
  iree_host_size_t max_wait_count;   // the same of waits
} iree_loop_sync_options_t;

IREE_API_EXPORT iree_status_t iree_loop_sync_allocate(iree_loop_sync_options_t options, iree_allocator_t allocator,
                                                      iree_loop_sync_t** out_loop_sync);
// What is pending is called with ABORTED.
IREE_API_EXPORT void iree_loop_sync_free(iree_loop_sync_t* loop_sync);
// Runs until nothing is pending. Errors: DEADLINE_EXCEEDED.
IREE_API_EXPORT iree_status_t iree_loop_sync_wait_idle(iree_loop_sync_t* loop_sync, iree_timeout_t timeout);

// Gets the failure of a callback, which it owns.
typedef void(IREE_API_PTR* iree_loop_sync_error_fn_t)(void* user_data, iree_status_t status);

typedef struct iree_loop_sync_scope_t {
  iree_loop_sync_t* loop_sync;
  int32_t pending_count;
  bool is_aborted;
  iree_loop_sync_error_fn_t error_fn;
  void* error_user_data;
} iree_loop_sync_scope_t;

// `error_fn` may be NULL. The scope must stay where it is while it is in use.
IREE_API_EXPORT void iree_loop_sync_scope_initialize(iree_loop_sync_t* loop_sync, iree_loop_sync_error_fn_t error_fn,
                                                     void* error_user_data, iree_loop_sync_scope_t* out_scope);
// What is pending in the scope is called with ABORTED.
IREE_API_EXPORT void iree_loop_sync_scope_deinitialize(iree_loop_sync_scope_t* scope);

IREE_API_EXPORT iree_status_t iree_loop_sync_ctl(void* self, iree_loop_command_t command, const void* params,
                                                 void** inout_ptr);
static inline iree_loop_t iree_loop_sync_scope(iree_loop_sync_scope_t* scope) {
  iree_loop_t loop = {scope, iree_loop_sync_ctl};
  return loop;
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_LOOP_SYNC_H_
