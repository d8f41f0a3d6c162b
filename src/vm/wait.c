// See wait.h.
#include "vm/wait.h"

#include "iree/base/loop.h"

enum { PIECE_NS = 10 * 1000 * 1000 };  // how often a waiting thread looks whether its call was stopped

iree_vm_wait_frame_t* vm_wait_frame(iree_vm_stack_t* stack) {
  iree_vm_stack_frame_t* top = iree_vm_stack_current_frame(stack);
  return top && top->type == IREE_VM_STACK_FRAME_WAIT ? iree_vm_stack_frame_storage(top) : NULL;
}

static iree_status_t wait_until(const iree_vm_wait_frame_t* frame, iree_time_t deadline_ns) {
  iree_timeout_t deadline = iree_make_deadline(deadline_ns);
  if (frame->wait_type == IREE_VM_WAIT_UNTIL) {
    iree_wait_until(iree_min(deadline_ns, frame->deadline_ns));
    bool reached = iree_time_now() >= frame->deadline_ns;
    return reached ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
  }
  return frame->wait_type == IREE_VM_WAIT_ANY ? iree_wait_source_wait_any(frame->count, frame->wait_sources, deadline)
                                              : iree_wait_source_wait_all(frame->count, frame->wait_sources, deadline);
}

void vm_wait_block(iree_vm_wait_frame_t* frame, iree_time_t deadline_ns, iree_budget_t* budget) {
  if (frame->wait_type != IREE_VM_WAIT_UNTIL) deadline_ns = iree_min(deadline_ns, frame->deadline_ns);
  iree_status_ignore(frame->wait_status);
  for (;;) {
    iree_time_t piece_ns = budget ? iree_min(deadline_ns, iree_time_now() + PIECE_NS) : deadline_ns;
    frame->wait_status = wait_until(frame, piece_ns);
    if (!iree_status_is_deadline_exceeded(frame->wait_status) || piece_ns == deadline_ns) return;
    if (budget && iree_budget_code(budget) != IREE_STATUS_OK) {
      iree_status_ignore(frame->wait_status);
      frame->wait_status = iree_budget_check(budget);
      return;
    }
    if (iree_time_now() >= deadline_ns) return;
    iree_status_ignore(frame->wait_status);
  }
}

iree_status_t vm_wait_resume(iree_vm_stack_t* stack, iree_byte_span_t results) {
  iree_vm_stack_frame_t* frame = iree_vm_stack_top(stack);
  iree_vm_module_t* module = frame ? frame->function.module : NULL;
  if (module && module->resume_call) return module->resume_call(module->self, stack, results);
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "a call was deferred by a module that cannot resume it");
}

iree_status_t vm_wait_finish(iree_vm_stack_t* stack, iree_byte_span_t results, iree_status_t status) {
  while (iree_status_is_deferred(status)) {
    iree_status_ignore(status);
    iree_vm_wait_frame_t* frame = vm_wait_frame(stack);
    if (frame) vm_wait_block(frame, IREE_TIME_INFINITE_FUTURE, iree_vm_stack_budget(stack));
    status = vm_wait_resume(stack, results);
  }
  return status;
}
