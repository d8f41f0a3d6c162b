// A context: modules linked together, each with its state. Calls into one context must not overlap; different contexts
// are independent. Registering and freezing must not overlap with anything.

#ifndef IREE_VM_CONTEXT_H_
#define IREE_VM_CONTEXT_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/vm/instance.h"
#include "iree/vm/module.h"
#include "iree/vm/ref.h"
#include "iree/vm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_vm_context_t iree_vm_context_t;

enum iree_vm_context_flag_bits_t {
  IREE_VM_CONTEXT_FLAG_NONE = 0u,
  IREE_VM_CONTEXT_FLAG_TRACE_EXECUTION = 1u << 0,  // as for every invocation
  IREE_VM_CONTEXT_FLAG_CONCURRENT = 1u << 1,       // accepted; modules decide what they allow
};
typedef uint32_t iree_vm_context_flags_t;
typedef intptr_t iree_vm_context_id_t;

// An empty context; modules are registered later.
IREE_API_EXPORT iree_status_t iree_vm_context_create(iree_vm_instance_t* instance, iree_vm_context_flags_t flags,
                                                     iree_allocator_t allocator, iree_vm_context_t** out_context);
// A context of `modules` (retained), each of which may import from those before it. Their initializers run here.
IREE_API_EXPORT iree_status_t iree_vm_context_create_with_modules(
    iree_vm_instance_t* instance, iree_vm_context_flags_t flags, iree_host_size_t module_count,
    iree_vm_module_t** modules, iree_allocator_t allocator, iree_vm_context_t** out_context);
// A context of the same modules whose states begin as copies (variables) of the parent's.
IREE_API_EXPORT iree_status_t iree_vm_context_fork(const iree_vm_context_t* parent_context, iree_allocator_t allocator,
                                                   iree_vm_context_t** out_child_context);
IREE_API_EXPORT void iree_vm_context_retain(iree_vm_context_t* context);
IREE_API_EXPORT void iree_vm_context_release(iree_vm_context_t* context);
IREE_API_EXPORT iree_vm_instance_t* iree_vm_context_instance(const iree_vm_context_t* context);
IREE_API_EXPORT iree_vm_context_id_t iree_vm_context_id(const iree_vm_context_t* context);
IREE_API_EXPORT iree_vm_context_flags_t iree_vm_context_flags(const iree_vm_context_t* context);
IREE_API_EXPORT iree_host_size_t iree_vm_context_module_count(const iree_vm_context_t* context);
IREE_API_EXPORT iree_vm_module_t* iree_vm_context_module_at(const iree_vm_context_t* context, iree_host_size_t i);

// What modules that nobody trusts may use; not part of IREE's API. Zeros: anything.
typedef struct iree_vm_context_limits_t {
  uint64_t max_steps;               // of one invocation: instructions of host programs and of vmvx executables
  iree_duration_t max_duration_ns;  // of one invocation
  uint64_t max_memory;  // bytes that the modules hold: states, stacks, lists, buffers of host and device, also those
                        // that were returned, until they are released; not objects of the driver
} iree_vm_context_limits_t;
// Sets limits for the modules that are registered from now on: for their initializers and all calls. A call that uses
// up its steps ends with RESOURCE_EXHAUSTED, one that takes too long with DEADLINE_EXCEEDED, allocations beyond the
// limit fail with RESOURCE_EXHAUSTED; the context stays usable. Native code in executables can not be stopped: a call
// that waits for it returns, but it goes on. Forks share the parent's limits. Errors: FAILED_PRECONDITION when it is
// frozen.
IREE_API_EXPORT iree_status_t iree_vm_context_set_limits(iree_vm_context_t* context,
                                                         const iree_vm_context_limits_t* limits);
// Ends the invocation that runs at this moment with CANCELLED; from any thread. Nothing runs: nothing happens.
IREE_API_EXPORT void iree_vm_context_cancel(iree_vm_context_t* context);
// What invocations of the context work from.
IREE_API_EXPORT iree_budget_t* iree_vm_context_budget(const iree_vm_context_t* context);
IREE_API_EXPORT iree_vm_context_limits_t iree_vm_context_limits(const iree_vm_context_t* context);

// Links more modules in, in order. On failure none of them stays.
IREE_API_EXPORT iree_status_t iree_vm_context_register_modules(iree_vm_context_t* context,
                                                               iree_host_size_t module_count,
                                                               iree_vm_module_t** modules);
// No more modules after this.
IREE_API_EXPORT iree_status_t iree_vm_context_freeze(iree_vm_context_t* context);

IREE_API_EXPORT iree_vm_state_resolver_t iree_vm_context_state_resolver(const iree_vm_context_t* context);
IREE_API_EXPORT iree_status_t iree_vm_context_resolve_module_state(const iree_vm_context_t* context,
                                                                   iree_vm_module_t* module,
                                                                   iree_vm_module_state_t** out_module_state);
// The export "module.function". NOT_FOUND when there is none.
IREE_API_EXPORT iree_status_t iree_vm_context_resolve_function(const iree_vm_context_t* context,
                                                               iree_string_view_t full_name,
                                                               iree_vm_function_t* out_function);
IREE_API_EXPORT iree_status_t iree_vm_context_notify(iree_vm_context_t* context, iree_vm_signal_t signal);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

IREE_VM_DECLARE_CC_TYPE_ADAPTERS(iree_vm_context, iree_vm_context_t);

#endif  // IREE_VM_CONTEXT_H_
