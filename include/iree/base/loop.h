// Loops: whatever runs callbacks later, one after the other, and once what they wait for is there. A loop is two words;
// programs can bring one of their own (iree_loop_ctl_fn_t). loop_inline.h and loop_sync.h have two.
//
// A callback gets OK, or why the wait ended without: DEADLINE_EXCEEDED, the source's failure, or ABORTED when an
// earlier callback failed, after which the loop takes nothing more. What a callback returns goes to whoever made the
// loop. When a function here fails, the callback is not called. `user_data` and lists of sources must stay until it is.
#ifndef IREE_BASE_LOOP_H_
#define IREE_BASE_LOOP_H_

#include <stdint.h>

#include "iree/base/attributes.h"
#include "iree/base/status.h"
#include "iree/base/time.h"
#include "iree/base/wait_source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_loop_t iree_loop_t;
typedef uint32_t iree_loop_command_t;

typedef enum iree_loop_priority_e {
  IREE_LOOP_PRIORITY_DEFAULT = 0u,
} iree_loop_priority_t;

typedef iree_status_t(IREE_API_PTR* iree_loop_callback_fn_t)(void* user_data, iree_loop_t loop, iree_status_t status);

// Does what `command` says with its parameters.
typedef iree_status_t(IREE_API_PTR* iree_loop_ctl_fn_t)(void* self, iree_loop_command_t command, const void* params,
                                                        void** inout_ptr);

struct iree_loop_t {
  void* self;
  iree_loop_ctl_fn_t ctl;
};

// Takes nothing.
static inline iree_loop_t iree_loop_null(void) {
  iree_loop_t loop = {NULL, NULL};
  return loop;
}

// Calls soon.
IREE_API_EXPORT iree_status_t iree_loop_call(iree_loop_t loop, iree_loop_priority_t priority,
                                             iree_loop_callback_fn_t callback, void* user_data);
// Calls when the time has come.
IREE_API_EXPORT iree_status_t iree_loop_wait_until(iree_loop_t loop, iree_timeout_t timeout,
                                                   iree_loop_callback_fn_t callback, void* user_data);
// Calls when the source, any or all of several, have resolved.
IREE_API_EXPORT iree_status_t iree_loop_wait_one(iree_loop_t loop, iree_wait_source_t wait_source,
                                                 iree_timeout_t timeout, iree_loop_callback_fn_t callback,
                                                 void* user_data);
IREE_API_EXPORT iree_status_t iree_loop_wait_any(iree_loop_t loop, iree_host_size_t count,
                                                 iree_wait_source_t* wait_sources, iree_timeout_t timeout,
                                                 iree_loop_callback_fn_t callback, void* user_data);
IREE_API_EXPORT iree_status_t iree_loop_wait_all(iree_loop_t loop, iree_host_size_t count,
                                                 iree_wait_source_t* wait_sources, iree_timeout_t timeout,
                                                 iree_loop_callback_fn_t callback, void* user_data);
// Blocks until the loop has nothing left to do. Errors: DEADLINE_EXCEEDED.
IREE_API_EXPORT iree_status_t iree_loop_drain(iree_loop_t loop, iree_timeout_t timeout);

// Blocks until any, or all, of the sources have resolved. Errors: DEADLINE_EXCEEDED, or a source's failure.
IREE_API_EXPORT iree_status_t iree_wait_source_wait_any(iree_host_size_t count, const iree_wait_source_t* wait_sources,
                                                        iree_timeout_t timeout);
IREE_API_EXPORT iree_status_t iree_wait_source_wait_all(iree_host_size_t count, const iree_wait_source_t* wait_sources,
                                                        iree_timeout_t timeout);

//===----------------------------------------------------------------------------------------------------------------===
// For loops. Parameters belong to the caller and are copied; `inout_ptr` is not used.
//===----------------------------------------------------------------------------------------------------------------===

enum iree_loop_command_e {
  IREE_LOOP_COMMAND_CALL = 0u,   // iree_loop_call_params_t
  IREE_LOOP_COMMAND_WAIT_UNTIL,  // iree_loop_wait_until_params_t
  IREE_LOOP_COMMAND_WAIT_ONE,    // iree_loop_wait_one_params_t
  IREE_LOOP_COMMAND_WAIT_ANY,    // iree_loop_wait_multi_params_t
  IREE_LOOP_COMMAND_WAIT_ALL,    // iree_loop_wait_multi_params_t
  IREE_LOOP_COMMAND_DRAIN,       // iree_loop_drain_params_t
  IREE_LOOP_COMMAND_MAX = IREE_LOOP_COMMAND_DRAIN,
};

typedef struct iree_loop_callback_t {
  iree_loop_callback_fn_t fn;
  void* user_data;
} iree_loop_callback_t;

typedef struct iree_loop_call_params_t {
  iree_loop_callback_t callback;
  iree_loop_priority_t priority;
} iree_loop_call_params_t;

typedef struct iree_loop_wait_until_params_t {
  iree_loop_callback_t callback;
  iree_time_t deadline_ns;
} iree_loop_wait_until_params_t;

typedef struct iree_loop_wait_one_params_t {
  iree_loop_callback_t callback;
  iree_time_t deadline_ns;
  iree_wait_source_t wait_source;
} iree_loop_wait_one_params_t;

typedef struct iree_loop_wait_multi_params_t {
  iree_loop_callback_t callback;
  iree_time_t deadline_ns;
  iree_host_size_t count;
  iree_wait_source_t* wait_sources;
} iree_loop_wait_multi_params_t;

typedef struct iree_loop_drain_params_t {
  iree_time_t deadline_ns;
} iree_loop_drain_params_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_LOOP_H_
