// Streams: a device timeline with a point that each submission waits for and advances. A reference type of the VM
// (`vm.stream`); streams come from their device's pool and return to it with their last reference. Buffers of command
// tables are kept alive by the stream, once, until its work is done; queues only borrow them.
#ifndef VM_BYTECODE_STREAM_H_
#define VM_BYTECODE_STREAM_H_

#include "iree/hal/api.h"
#include "iree/vm/api.h"
#include "vm/bytecode/device.h"

enum {
  VM_STREAM_WAIT_LIMIT = 8,   // outside points collected before a barrier is submitted for them
  VM_STREAM_KEEP_LIMIT = 16,  // buffers kept; queues keep others by themselves
};

struct vm_stream_t {
  iree_vm_ref_object_t ref_object;
  vm_device_t* device;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;  // of the last submission
  uint32_t wait_count;
  iree_hal_semaphore_t* wait_semaphores[VM_STREAM_WAIT_LIMIT + 1];  // outside points, retained; one place for its own
  uint64_t wait_values[VM_STREAM_WAIT_LIMIT + 1];
  uint32_t kept_count;
  iree_hal_buffer_t* kept[VM_STREAM_KEEP_LIMIT];  // retained until the last submission is done
  vm_stream_t* next;                              // in the pool
};

IREE_VM_DECLARE_TYPE_ADAPTERS(vm_stream, vm_stream_t);

iree_status_t vm_stream_register_type(iree_vm_instance_t* instance);

// A stream from the pool, or (`ordered`) the device's one ordered stream. One reference for the caller.
iree_status_t vm_stream_acquire(vm_device_t* device, bool ordered, vm_stream_t** out_stream);
void vm_stream_release(vm_stream_t* stream);
void vm_stream_free(vm_stream_t* stream);

// Later work waits for `points`.
iree_status_t vm_stream_wait(vm_stream_t* stream, iree_hal_semaphore_list_t points);

// The lists of the next submission, valid until vm_stream_submitted.
typedef struct vm_submission_t {
  iree_hal_semaphore_list_t wait, signal;
  uint64_t signal_value;
} vm_submission_t;
void vm_stream_prepare(vm_stream_t* stream, vm_submission_t* out_submission);
// After the queue operation: the point advances when it succeeded. Returns `status`.
iree_status_t vm_stream_submitted(vm_stream_t* stream, const vm_submission_t* submission, iree_status_t status);
// Keeps buffers alive until what is submitted before the next wait is done. Returns the flags of an execution with
// them.
iree_hal_execute_flags_t vm_stream_keep(vm_stream_t* stream, iree_hal_buffer_binding_table_t buffers);

// Blocks until everything submitted is done, or returns its failure.
iree_status_t vm_stream_await(vm_stream_t* stream);
// Instead of waiting for points, or for all of the stream's work: DEFERRED with a wait frame when there is something to
// wait for. Failures are left to who waits.
iree_status_t vm_yield_for(iree_vm_stack_t* stack, iree_hal_semaphore_list_t points);
iree_status_t vm_stream_yield(vm_stream_t* stream, iree_vm_stack_t* stack);

// Signals `points` after everything submitted.
iree_status_t vm_stream_signal(vm_stream_t* stream, iree_hal_semaphore_list_t points);

#endif  // VM_BYTECODE_STREAM_H_
