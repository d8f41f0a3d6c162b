// The loops of asynchronous invocations: those of iree/base/loop.h, under the names that they have for the VM. A loop
// made as either is one of both.
#ifndef IREE_VM_LOOP_H_
#define IREE_VM_LOOP_H_

#include "iree/base/api.h"
#include "iree/base/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef iree_loop_t iree_vm_loop_t;
typedef iree_loop_command_t iree_vm_loop_command_t;
typedef iree_loop_priority_t iree_vm_loop_priority_t;
typedef iree_loop_callback_fn_t iree_vm_loop_callback_fn_t;
typedef iree_loop_ctl_fn_t iree_vm_loop_ctl_fn_t;
typedef iree_loop_callback_t iree_vm_loop_callback_t;
typedef iree_loop_call_params_t iree_vm_loop_call_params_t;
typedef iree_loop_wait_until_params_t iree_vm_loop_wait_until_params_t;
typedef iree_loop_wait_one_params_t iree_vm_loop_wait_one_params_t;
typedef iree_loop_wait_multi_params_t iree_vm_loop_wait_multi_params_t;
typedef iree_loop_drain_params_t iree_vm_loop_drain_params_t;

#define IREE_VM_LOOP_PRIORITY_DEFAULT IREE_LOOP_PRIORITY_DEFAULT

enum iree_vm_loop_command_e {
  IREE_VM_LOOP_COMMAND_CALL = IREE_LOOP_COMMAND_CALL,
  IREE_VM_LOOP_COMMAND_WAIT_UNTIL = IREE_LOOP_COMMAND_WAIT_UNTIL,
  IREE_VM_LOOP_COMMAND_WAIT_ONE = IREE_LOOP_COMMAND_WAIT_ONE,
  IREE_VM_LOOP_COMMAND_WAIT_ANY = IREE_LOOP_COMMAND_WAIT_ANY,
  IREE_VM_LOOP_COMMAND_WAIT_ALL = IREE_LOOP_COMMAND_WAIT_ALL,
  IREE_VM_LOOP_COMMAND_DRAIN = IREE_LOOP_COMMAND_DRAIN,
  IREE_VM_LOOP_COMMAND_MAX = IREE_LOOP_COMMAND_MAX,
};

static inline iree_vm_loop_t iree_vm_loop_null(void) { return iree_loop_null(); }

static inline iree_status_t iree_vm_loop_call(iree_vm_loop_t loop, iree_vm_loop_priority_t priority,
                                              iree_vm_loop_callback_fn_t callback, void* user_data) {
  return iree_loop_call(loop, priority, callback, user_data);
}

static inline iree_status_t iree_vm_loop_wait_until(iree_vm_loop_t loop, iree_timeout_t timeout,
                                                    iree_vm_loop_callback_fn_t callback, void* user_data) {
  return iree_loop_wait_until(loop, timeout, callback, user_data);
}

static inline iree_status_t iree_vm_loop_wait_one(iree_vm_loop_t loop, iree_wait_source_t wait_source,
                                                  iree_timeout_t timeout, iree_vm_loop_callback_fn_t callback,
                                                  void* user_data) {
  return iree_loop_wait_one(loop, wait_source, timeout, callback, user_data);
}

static inline iree_status_t iree_vm_loop_wait_any(iree_vm_loop_t loop, iree_host_size_t count,
                                                  iree_wait_source_t* wait_sources, iree_timeout_t timeout,
                                                  iree_vm_loop_callback_fn_t callback, void* user_data) {
  return iree_loop_wait_any(loop, count, wait_sources, timeout, callback, user_data);
}

static inline iree_status_t iree_vm_loop_wait_all(iree_vm_loop_t loop, iree_host_size_t count,
                                                  iree_wait_source_t* wait_sources, iree_timeout_t timeout,
                                                  iree_vm_loop_callback_fn_t callback, void* user_data) {
  return iree_loop_wait_all(loop, count, wait_sources, timeout, callback, user_data);
}

static inline iree_status_t iree_vm_loop_drain(iree_vm_loop_t loop, iree_timeout_t timeout) {
  return iree_loop_drain(loop, timeout);
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_VM_LOOP_H_
