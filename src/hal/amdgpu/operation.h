// Operations: queue calls on their way from submission to their end.
//
//   operation_submit (on the caller's stack) -> moved to the heap -> waits -> started: in the queue of a GPU, or on the
//   device's service thread -> operation_finish: signals, or fails, its semaphores
#ifndef IREE_C_HAL_AMDGPU_OPERATION_H_
#define IREE_C_HAL_AMDGPU_OPERATION_H_

#include "hal/amdgpu/command.h"
#include "hal/amdgpu/device.h"

typedef enum {
  OPERATION_BARRIER,   // nothing but its semaphores
  OPERATION_COMMANDS,  // of a command buffer, or one of its own
  OPERATION_ALLOCA,
  OPERATION_DEALLOCA,
  OPERATION_HOST_CALL,  // from here on: on the service thread
  OPERATION_READ,
  OPERATION_WRITE,
} operation_kind_t;

#define OPERATION_MAX_RESOURCES 3

struct operation_t {
  operation_kind_t kind;
  amdgpu_device_t* device;
  physical_device_t* physical;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  void* resources[OPERATION_MAX_RESOURCES];  // kept alive on the heap; NULL for none
  union {
    struct {
      const command_t* commands;
      uint32_t count;
      iree_hal_buffer_binding_table_t bindings;  // of a single dispatch: what it uses, to keep it alive
      bool borrows_bindings;
      // Progress in the queue.
      uint32_t next;    // command
      bool has_counts;  // of the indirect dispatch that is next
      uint32_t counts[3];
      const uint32_t* pending_counts;  // where the device writes them
    } commands;
    struct {
      iree_hal_buffer_t* buffer;
      bool is_staged;
    } memory;  // ALLOCA, DEALLOCA
    struct {
      iree_hal_host_call_t call;
      uint64_t args[4];
      iree_hal_host_call_flags_t flags;
    } host_call;
    struct {
      iree_hal_file_t* file;
      uint64_t file_offset;
      iree_hal_buffer_t* buffer;
      iree_device_size_t buffer_offset;
      iree_device_size_t length;
    } file;  // READ, WRITE
  };
  // What one command of its own is made of: `data` bytes are moved with the operation, behind the command.
  command_t command;
  iree_const_byte_span_t data;

  // On the heap.
  bool is_pooled;
  iree_atomic_uint32_t pending;                  // waits that are not reached, plus holds
  iree_atomic_intptr_t failure;                  // iree_status_t of a wait
  iree_async_semaphore_timepoint_t* timepoints;  // one per wait
  operation_t* next;                             // in the list that it is in
  operation_t* prev;
};

// `operation` is on the caller's stack, with the caller's lists. Errors: RESOURCE_EXHAUSTED; then nothing has happened.
iree_status_t operation_submit(operation_t* operation);
// Ends an operation on the heap: signals its semaphores when `status` is OK, else fails them. Consumes `status`.
void operation_finish(operation_t* operation, iree_status_t status);
// Ends it without touching its semaphores.
void operation_free(operation_t* operation);
// Fails operations that still wait, and waits for all others to end.
void operation_close_all(amdgpu_device_t* device);

// host_operation.c: runs an operation of the service thread, to its end.
void host_operation_run(operation_t* operation);

#endif  // IREE_C_HAL_AMDGPU_OPERATION_H_
