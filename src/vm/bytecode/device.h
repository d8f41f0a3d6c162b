// A device as one module state uses it: executables loaded for it, command tables recorded on it, and pools of streams
// and transient memory so that calls allocate nothing but their results.
#ifndef VM_BYTECODE_DEVICE_H_
#define VM_BYTECODE_DEVICE_H_

#include "iree/base/threading/mutex.h"
#include "iree/hal/api.h"
#include "module/image.h"

typedef struct iree_vm_module_t iree_vm_module_t;
typedef struct vm_stream_t vm_stream_t;

// A buffer that calls take and give back.
typedef struct vm_transient_t {
  iree_hal_buffer_t* buffer;
  iree_device_size_t size;
  bool in_use;
  iree_hal_semaphore_t* semaphore;  // free once it reaches `value`; NULL: free
  uint64_t value;
} vm_transient_t;

enum { VM_TRANSIENT_LIMIT = 32 };  // buffers kept

// A command table recorded on the device with some parameters, in a list of such.
typedef struct vm_recording_t {
  struct vm_recording_t* next;
  iree_hal_command_buffer_t* command_buffer;
  uint64_t* lengths;  // bytes that each argument buffer must have
  uint64_t params[];  // that it was recorded with
} vm_recording_t;

enum { VM_RECORDING_LIMIT = 8 };  // recordings of a table

// Of a table: the last used one first.
typedef struct vm_recordings_t {
  vm_recording_t* first;
  uint64_t displaced[VM_RECORDING_LIMIT];  // hashes of the last parameters that others took the place of
  uint32_t displaced_count;                // so far
} vm_recordings_t;

// An executable and its entry points by their order in the module.
typedef struct vm_executable_t {
  iree_hal_executable_t* handle;  // NULL: not for this device's target
  const module_variant_t* variant;
  iree_hal_executable_function_t* functions;
} vm_executable_t;

// Counted: streams keep it alive.
typedef struct vm_device_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  const module_image_t* image;
  iree_hal_device_t* handle;
  iree_budget_t* budget;  // retained; NULL: nothing counts
  bool portable_only;     // only vmvx targets
  bool unified;           // device memory is host memory: allocation needs no queue
  uint32_t target;        // row of the module's targets; MODULE_NONE without executables
  vm_executable_t* executables;
  vm_recordings_t* recordings;  // of each table
  vm_transient_t transients[VM_TRANSIENT_LIMIT];
  iree_slim_mutex_t mutex;  // guards idle_streams
  vm_stream_t* idle_streams;
  vm_stream_t* ordered_stream;
} vm_device_t;

typedef struct vm_device_desc_t {
  const module_image_t* image;
  uint32_t row;  // of the image's devices, for messages
  iree_hal_device_t* handle;
  iree_budget_t* budget;
  bool portable_only;
} vm_device_desc_t;
// Chooses the target and loads its executables.
iree_status_t vm_device_create(const vm_device_desc_t* desc, iree_allocator_t allocator, vm_device_t** out_device);
// The same device and executables, with its own pools.
iree_status_t vm_device_fork(const vm_device_t* parent, iree_allocator_t allocator, vm_device_t** out_device);
void vm_device_retain(vm_device_t* device);
void vm_device_release(vm_device_t* device);
// Drops what belongs to the module state (recordings, pools, executables); streams that are still out keep the rest.
void vm_device_close(vm_device_t* device);
// Gives unused memory back.
void vm_device_trim(vm_device_t* device);

// A device buffer with `data`: in place where the device can use host memory, else a copy. `release` is called when
// nothing needs the data any more: also before this returns, and when it fails.
iree_status_t vm_device_import(vm_device_t* device, iree_const_byte_span_t data,
                               iree_hal_buffer_release_callback_t release, iree_hal_buffer_t** out_buffer);

// Waits until the semaphore reaches the value, or until the call must end.
iree_status_t vm_device_await(iree_budget_t* budget, iree_hal_semaphore_t* semaphore, uint64_t value);
iree_status_t vm_device_await_fence(iree_budget_t* budget, iree_hal_fence_t* fence);

// A buffer for results, usable by what the stream runs from now on.
iree_status_t vm_device_allocate(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                                 iree_hal_buffer_t** out_buffer);

// A part of a buffer, which keeps all of it alive and charged.
iree_status_t vm_device_subspan(iree_budget_t* budget, iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                iree_device_size_t length, iree_allocator_t allocator, iree_hal_buffer_t** out_buffer);

// Takes a buffer of at least `size` bytes from the pool (one reference for the caller), and gives it back: whoever
// takes it next waits for what the stream has so far.
iree_status_t vm_transient_acquire(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                                   iree_hal_buffer_t** out_buffer);
iree_status_t vm_transient_release(vm_device_t* device, vm_stream_t* stream, iree_hal_buffer_t* buffer);

// One execution of a command table.
typedef struct vm_execution_t {
  uint32_t table;
  const uint64_t* params;
  uint32_t buffer_count;                // of the argument slots
  iree_hal_buffer_binding_t* buffers;   // the ranges are filled in
  iree_hal_buffer_t* const* constants;  // of the module state
} vm_execution_t;

// Submits it to a stream; the table is recorded first if need be (record.c).
iree_status_t vm_table_execute(vm_stream_t* stream, const vm_execution_t* execution);
void vm_recording_free(vm_recording_t* recording, iree_allocator_t allocator);

#endif  // VM_BYTECODE_DEVICE_H_
