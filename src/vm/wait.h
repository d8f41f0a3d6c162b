// Calls that stop where they would wait.
#ifndef VM_WAIT_H_
#define VM_WAIT_H_

#include "iree/vm/stack.h"

// Whether the invocation stops instead of waiting (in its own module; others wait in place).
void vm_stack_set_yields(iree_vm_stack_t* stack, bool yields);
bool vm_stack_yields(const iree_vm_stack_t* stack);

// What the call waits for: the frame on top when it is one; else NULL.
iree_vm_wait_frame_t* vm_wait_frame(iree_vm_stack_t* stack);
// Blocks for it, at most until `deadline_ns` or until the budget (may be NULL) is stopped. The frame keeps the outcome.
void vm_wait_block(iree_vm_wait_frame_t* frame, iree_time_t deadline_ns, iree_budget_t* budget);
// Takes a call that returned `status` to its end: waits and resumes while that is DEFERRED.
iree_status_t vm_wait_finish(iree_vm_stack_t* stack, iree_byte_span_t results, iree_status_t status);
// Goes on once. Errors: FAILED_PRECONDITION when the module that stopped cannot go on.
iree_status_t vm_wait_resume(iree_vm_stack_t* stack, iree_byte_span_t results);

#endif  // VM_WAIT_H_
