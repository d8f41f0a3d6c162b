// Calling functions with lists of values. Blocks the calling thread; calls into one context must not overlap.

#ifndef IREE_VM_INVOCATION_H_
#define IREE_VM_INVOCATION_H_

#include "iree/base/api.h"
#include "iree/vm/context.h"
#include "iree/vm/list.h"
#include "iree/vm/module.h"
#include "iree/vm/ref.h"
#include "iree/vm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// Limits of one invocation (NULL or zeros: the context's). The fields are not part of IREE's API.
typedef struct iree_vm_invocation_policy_t {
  uint64_t max_steps;       // as in iree_vm_context_limits_t
  iree_time_t deadline_ns;  // 0: as the context says; a call that is not done by then ends with DEADLINE_EXCEEDED
} iree_vm_invocation_policy_t;

// Calls `function` in `context` and returns when it has returned. `inputs` (NULL: none) holds the arguments, values
// convert to the wanted types; results are appended to `outputs` (NULL: dropped). Failures carry a backtrace.
// Errors: INVALID_ARGUMENT for a wrong number or kind of inputs, what limits end it with (context.h), and whatever the
// function fails with.
IREE_API_EXPORT iree_status_t iree_vm_invoke(iree_vm_context_t* context, iree_vm_function_t function,
                                             iree_vm_invocation_flags_t flags,
                                             const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                                             iree_vm_list_t* outputs, iree_allocator_t host_allocator);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_INVOCATION_H_
