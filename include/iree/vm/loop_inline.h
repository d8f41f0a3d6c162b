// Loops that run everything at once (iree/base/loop_inline.h), and one whose status is in storage of the caller's.
#ifndef IREE_VM_LOOP_INLINE_H_
#define IREE_VM_LOOP_INLINE_H_

#include "iree/base/loop_inline.h"
#include "iree/vm/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline iree_status_t iree_vm_loop_inline_ctl(void* self, iree_vm_loop_command_t command, const void* params,
                                                    void** inout_ptr) {
  return iree_loop_inline_ctl(self, command, params, inout_ptr);
}

static inline iree_vm_loop_t iree_vm_loop_inline(iree_status_t* out_status) { return iree_loop_inline(out_status); }

#define IREE_VM_LOOP_INLINE_STORAGE_SIZE 512

// `status` is the first failure of a callback; the loop needs none of the other bytes.
typedef iree_alignas(iree_max_align_t) struct iree_vm_loop_inline_storage_t {
  uint8_t opaque[IREE_VM_LOOP_INLINE_STORAGE_SIZE];
  iree_status_t status;
} iree_vm_loop_inline_storage_t;

static inline iree_status_t iree_vm_loop_inline_using_storage_ctl(void* self, iree_vm_loop_command_t command,
                                                                  const void* params, void** inout_ptr) {
  return iree_loop_inline_ctl(&((iree_vm_loop_inline_storage_t*)self)->status, command, params, inout_ptr);
}

static inline iree_vm_loop_t iree_vm_loop_inline_initialize(iree_vm_loop_inline_storage_t* storage) {
  storage->status = iree_ok_status();
  return iree_loop_inline(&storage->status);
}

static inline void iree_vm_loop_inline_deinitialize(iree_vm_loop_inline_storage_t* storage) {
  if (!storage) return;
  iree_status_ignore(storage->status);
  storage->status = iree_ok_status();
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_VM_LOOP_INLINE_H_
