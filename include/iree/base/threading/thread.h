// Threads.
#ifndef IREE_BASE_THREADING_THREAD_H_
#define IREE_BASE_THREADING_THREAD_H_

#include <stdbool.h>

#include "iree/base/api.h"
#include "iree/base/threading/affinity.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the system is told of a thread's importance; best effort, as a program may not be allowed to raise it.
typedef enum iree_thread_priority_class_e {
  IREE_THREAD_PRIORITY_CLASS_LOWEST = -2,  // only when nothing else runs
  IREE_THREAD_PRIORITY_CLASS_LOW = -1,
  IREE_THREAD_PRIORITY_CLASS_NORMAL = 0,
  IREE_THREAD_PRIORITY_CLASS_HIGH = 1,
  IREE_THREAD_PRIORITY_CLASS_HIGHEST = 2,
} iree_thread_priority_class_t;

typedef struct iree_thread_create_params_t {
  iree_string_view_t name;  // shown by debuggers, first 15 bytes
  size_t stack_size;        // bytes; 0 is the system's default
  bool create_suspended;    // it begins with iree_thread_resume, which must come before the last release
  iree_thread_priority_class_t priority_class;
  iree_thread_affinity_t initial_affinity;
} iree_thread_create_params_t;

typedef struct iree_thread_t iree_thread_t;
typedef int (*iree_thread_entry_t)(void* entry_arg);

// Starts a thread. Errors: RESOURCE_EXHAUSTED, UNAVAILABLE. The caller owns a reference; the thread runs on regardless.
IREE_API_EXPORT iree_status_t iree_thread_create(iree_thread_entry_t entry, void* entry_arg,
                                                 iree_thread_create_params_t params, iree_allocator_t allocator,
                                                 iree_thread_t** out_thread);
IREE_API_EXPORT void iree_thread_retain(iree_thread_t* thread);
// The last release joins the thread first, unless it is the calling thread.
IREE_API_EXPORT void iree_thread_release(iree_thread_t* thread);
// A number that no other living thread of the process has.
IREE_API_EXPORT uintptr_t iree_thread_id(iree_thread_t* thread);
// Lets a thread that was created suspended begin; later calls do nothing.
IREE_API_EXPORT void iree_thread_resume(iree_thread_t* thread);

// Another priority until the override ends. Overrides may be nested; the highest one counts. NULL when memory is
// lacking. Thread safe.
typedef struct iree_thread_override_t iree_thread_override_t;
IREE_API_EXPORT iree_thread_override_t* iree_thread_priority_class_override_begin(
    iree_thread_t* thread, iree_thread_priority_class_t priority_class);
// Accepts NULL.
IREE_API_EXPORT void iree_thread_override_end(iree_thread_override_t* override_token);

// Waits for the thread's end. May be called once only, and not by the thread itself.
IREE_API_EXPORT void iree_thread_join(iree_thread_t* thread);
// Asks the system to run the thread there; best effort.
IREE_API_EXPORT void iree_thread_request_affinity(iree_thread_t* thread, iree_thread_affinity_t affinity);
IREE_API_EXPORT void iree_thread_yield(void);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_THREAD_H_
