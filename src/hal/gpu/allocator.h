// Memory of GPUs, and of the host for them, as buffers. Three heaps:
//
//   GPU memory                   DEVICE_LOCAL
//   GPU memory the host can map  DEVICE_LOCAL|HOST_VISIBLE, where the whole of it is mapped (large BAR, APU)
//   host memory                  HOST_LOCAL|DEVICE_VISIBLE
//
// Buffers may outlive their device: what gives memory is the allocator's own, not the device's.
#ifndef IREE_C_HAL_GPU_ALLOCATOR_H_
#define IREE_C_HAL_GPU_ALLOCATOR_H_

#include "hal/gpu/device.h"

typedef enum { GPU_MEMORY_OWNED, GPU_MEMORY_LOCKED, GPU_MEMORY_BORROWED, GPU_MEMORY_SHARED } gpu_memory_source_t;

typedef struct gpu_memory_t {
  gpu_memory_source_t source;
  iree_hal_memory_type_t type;
  uint8_t* host;  // NULL: the host has no address for it
  uint64_t address;
  iree_device_size_t size;       // bytes of the memory
  iree_device_size_t alignment;  // bytes
  uint64_t base;                 // the driver's: where its memory begins
  uint32_t physical;             // the GPU it was allocated for
  bool is_exported;              // others may use it as long as they like
  iree_device_size_t length;     // bytes of the buffer
  iree_hal_buffer_release_callback_t release;
} gpu_memory_t;

// How a driver gets memory. Any thread.
typedef struct gpu_memory_source_vtable_t {
  void (*destroy)(void* source);
  // Memory of `memory->type` and `size` for all GPUs of the device, that of `physical` where it is a GPU's. Sets
  // `address`, and `host` where the host sees it.
  iree_status_t (*allocate)(void* source, uint32_t physical, gpu_memory_t* memory);
  void (*free)(void* source, const gpu_memory_t* memory);
  // Lets GPUs use host memory, whose `host` and `size` are set; sets `address`.
  iree_status_t (*lock)(void* source, gpu_memory_t* memory);
  void (*unlock)(void* source, const gpu_memory_t* memory);
  // NULL where memory cannot be shared. A file descriptor for what `allocate` gave, which becomes the caller's; and
  // back: lets all GPUs of the device use what a descriptor stands for, which stays the caller's. Sets `address` and
  // `size`.
  iree_status_t (*export_fd)(void* source, const gpu_memory_t* memory, int* out_fd);
  iree_status_t (*import_fd)(void* source, int fd, gpu_memory_t* memory);
  void (*unimport)(void* source, const gpu_memory_t* memory);
} gpu_memory_source_vtable_t;

typedef struct gpu_allocator_params_t {
  gpu_domain_t domain;
  bool maps_device_memory;           // the host sees the GPUs' own
  iree_device_size_t memory_size;    // bytes of a GPU
  iree_device_size_t max_alignment;  // bytes, of what is allocated
  const gpu_memory_source_vtable_t* vtable;
  void* source;
  iree_allocator_t host_allocator;
} gpu_allocator_params_t;

// Takes over the source, also when it fails.
iree_status_t gpu_allocator_create(const gpu_allocator_params_t* params, iree_hal_allocator_t** out_allocator);

// buffer.c: the address of a buffer's first byte for the GPU. Errors: INVALID_ARGUMENT for buffers of other devices,
// FAILED_PRECONDITION when a queue-ordered buffer has no memory.
iree_status_t gpu_buffer_address(iree_hal_buffer_t* buffer, uint64_t* out_address);
// Whether that address never changes.
bool gpu_buffer_is_fixed(iree_hal_buffer_t* buffer);
// The memory behind a buffer, which begins at an offset; NULL when it is not of such an allocator.
const gpu_memory_t* gpu_buffer_memory(iree_hal_buffer_t* buffer, iree_device_size_t* out_offset);

// Between allocator.c and buffer.c.
typedef struct gpu_allocator_t gpu_allocator_t;
// Takes over `memory`, also when it fails. `allocator` is retained.
iree_status_t gpu_buffer_create(gpu_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                const gpu_memory_t* memory, iree_hal_buffer_t** out_buffer);
iree_allocator_t gpu_allocator_host_allocator(const gpu_allocator_t* allocator);
// Gives memory back; `buffer`, which may be NULL, is for whom it was borrowed from.
void gpu_allocator_free_memory(gpu_allocator_t* allocator, const gpu_memory_t* memory, iree_hal_buffer_t* buffer);

#endif  // IREE_C_HAL_GPU_ALLOCATOR_H_
