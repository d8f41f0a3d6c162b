// Devices of the stream core: one GPU of libcuda, its primary context, and streams as queues.
#ifndef IREE_C_HAL_STREAM_DEVICE_H_
#define IREE_C_HAL_STREAM_DEVICE_H_

#include "hal/gpu/allocator.h"
#include "hal/gpu/command.h"
#include "hal/gpu/queue.h"
#include "hal/stream/api.h"

// A GPU's primary context, which all of a process share. Retained by whatever needs it.
typedef struct stream_context_t {
  const stream_api_t* api;
  int device;
  void* handle;
} stream_context_t;

iree_status_t stream_context_retain(const stream_api_t* api, int device, stream_context_t* out_context);
void stream_context_release(stream_context_t* context);
// Calls of this thread are for that context from here on.
static inline iree_status_t stream_context_enter(const stream_context_t* context) {
  return STREAM_CALL(context->api, context_set, context->handle);
}

typedef struct stream_device_t {
  gpu_device_t gpu;
  stream_context_t context;
  uint32_t capability;  // 90: compute capability 9.0
  char architecture[16];
  uint32_t multiprocessors;
  uint32_t max_shared_memory;  // bytes of a workgroup, asked for
  uint64_t memory_size;        // bytes
  bool has_managed_memory;     // that host and GPU may use at a time
  hal_pool_t* pool;
} stream_device_t;

typedef struct stream_device_options_t {
  uint32_t queue_count;  // streams; 0: the default
  uint32_t depth;        // parts in flight, a power of two; 0: the default
} stream_device_options_t;

// `ordinal` is libcuda's.
iree_status_t stream_device_create(const stream_api_t* api, int ordinal, const stream_device_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device);

// memory.c
iree_status_t stream_allocator_create(const stream_device_t* device, iree_hal_allocator_t** out_allocator);

// executable.c
typedef struct stream_function_t {
  gpu_function_t base;
  void* handle;

} stream_function_t;
bool stream_takes_format(hal_queued_device_t* device, iree_string_view_t format);
iree_status_t stream_infer_format(iree_const_byte_span_t data, char* storage, size_t capacity,
                                  iree_string_view_t* out_format);
iree_status_t stream_executable_load(gpu_device_t* device, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable);

// queue.c
iree_status_t stream_queue_create(stream_device_t* device, uint32_t bit, uint32_t depth, gpu_queue_t** out_queue);
extern const gpu_backend_t stream_backend;

#endif  // IREE_C_HAL_STREAM_DEVICE_H_
