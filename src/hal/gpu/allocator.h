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
#include "hal/page_table.h"

enum { GPU_MAX_ALIGNMENT = 4096 };  // bytes, of what is allocated

typedef enum {
  GPU_MEMORY_OWNED,
  GPU_MEMORY_LOCKED,
  GPU_MEMORY_BORROWED,
  GPU_MEMORY_SHARED,
  GPU_MEMORY_RESERVED
} gpu_memory_source_t;

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
  hal_page_table_t* pages;  // RESERVED: what is mapped there
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
  // Waits until memory that is going to be used by others holds what was transferred to it. NULL: it does.
  iree_status_t (*settle)(void* source, const gpu_memory_t* memory);
  // NULL where memory cannot be shared. A file descriptor for what `allocate` gave, which becomes the caller's; and
  // back: lets all GPUs of the device use what a descriptor stands for, which stays the caller's. Sets `address` and
  // `size`.
  iree_status_t (*export_fd)(void* source, const gpu_memory_t* memory, int* out_fd);
  iree_status_t (*import_fd)(void* source, int fd, gpu_memory_t* memory);
  void (*unimport)(void* source, const gpu_memory_t* memory);
} gpu_memory_source_vtable_t;

// How it gets addresses and memory apart, which is the GPUs' own, page by page. Any thread.
typedef struct gpu_virtual_calls_t {
  iree_status_t (*reserve)(void* source, iree_device_size_t size, uint64_t* out_address);
  void (*unreserve)(void* source, uint64_t address, iree_device_size_t size);
  // A page of a GPU's memory.
  iree_status_t (*allocate)(void* source, uint32_t physical, uint64_t* out_page);
  void (*free)(void* source, uint64_t page);
  iree_status_t (*map)(void* source, uint64_t address, uint64_t page);
  void (*unmap)(void* source, uint64_t address);
  // For the GPUs whose bits are set; the others may do nothing.
  iree_status_t (*protect)(void* source, uint64_t address, uint64_t gpus, iree_hal_memory_protection_t protection);
} gpu_virtual_calls_t;

typedef struct gpu_allocator_params_t {
  gpu_domain_t domain;
  bool maps_device_memory;           // the host sees the GPUs' own
  bool moves_mapped_memory;          // but page by page, to who touches it: slower than what it does not see
  iree_device_size_t memory_size;    // bytes of a GPU
  iree_device_size_t max_alignment;  // bytes, of what is allocated
  const gpu_memory_source_vtable_t* vtable;
  const gpu_virtual_calls_t* virtual_calls;  // NULL: there are none
  iree_device_size_t virtual_page_size;      // bytes; 0: there are none
  void* source;
  iree_allocator_t host_allocator;
} gpu_allocator_params_t;

// What those of all drivers have in common; the rest is for memory of GPUs that the host sees, of no size and source
// yet.
gpu_allocator_params_t gpu_allocator_params_of(const gpu_device_t* device, const gpu_memory_source_vtable_t* vtable);
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
const gpu_allocator_params_t* gpu_allocator_params(const gpu_allocator_t* allocator);
// Gives memory back; `buffer`, which may be NULL, is for whom it was borrowed from.
void gpu_allocator_free_memory(gpu_allocator_t* allocator, const gpu_memory_t* memory, iree_hal_buffer_t* buffer);

// virtual_memory.c: the calls of iree_hal_allocator_vtable_t, and what becomes of a reservation.
void gpu_virtual_memory_free(const gpu_allocator_params_t* params, const gpu_memory_t* memory);
bool gpu_supports_virtual_memory(iree_hal_allocator_t* allocator);
iree_status_t gpu_virtual_memory_query_granularity(iree_hal_allocator_t* allocator,
                                                   const iree_hal_buffer_params_t* buffer_params,
                                                   iree_device_size_t* out_minimum_page_size,
                                                   iree_device_size_t* out_recommended_page_size);
iree_status_t gpu_virtual_memory_reserve(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                         iree_device_size_t size, iree_hal_buffer_t** out_virtual_buffer);
iree_status_t gpu_virtual_memory_release(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer);
iree_status_t gpu_physical_memory_allocate(iree_hal_allocator_t* allocator,
                                           const iree_hal_buffer_params_t* buffer_params, iree_device_size_t size,
                                           iree_allocator_t host_allocator,
                                           iree_hal_physical_memory_t** out_physical_memory);
iree_status_t gpu_physical_memory_free(iree_hal_allocator_t* allocator, iree_hal_physical_memory_t* physical_memory);
iree_status_t gpu_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                     iree_device_size_t virtual_offset, iree_hal_physical_memory_t* physical_memory,
                                     iree_device_size_t physical_offset, iree_device_size_t size);
iree_status_t gpu_virtual_memory_unmap(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                       iree_device_size_t virtual_offset, iree_device_size_t size);
iree_status_t gpu_virtual_memory_protect(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                         iree_device_size_t virtual_offset, iree_device_size_t size,
                                         iree_hal_queue_affinity_t queue_affinity,
                                         iree_hal_memory_protection_t protection);
iree_status_t gpu_virtual_memory_advise(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                        iree_device_size_t virtual_offset, iree_device_size_t size,
                                        iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice);

#endif  // IREE_C_HAL_GPU_ALLOCATOR_H_
