// Memory of a GPU, and pinned memory of the host, for the allocator.
#include "hal/stream/device.h"

typedef struct memory_t {
  iree_allocator_t host_allocator;
  stream_context_t context;
} memory_t;

static void memory_destroy(void* source) {
  memory_t* self = (memory_t*)source;
  stream_context_release(&self->context);
  iree_allocator_free(self->host_allocator, self);
}

static iree_status_t memory_allocate(void* source, uint32_t physical, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const stream_api_t* api = self->context.api;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->context));
  if (iree_all_bits_set(memory->type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL)) {
    return STREAM_CALL(api, memory_allocate, &memory->address, memory->size);
  }
  void* host = NULL;
  IREE_RETURN_IF_ERROR(
      STREAM_CALL(api, host_allocate, &host, memory->size, STREAM_API_HOST_PORTABLE | STREAM_API_HOST_DEVICEMAP));
  iree_status_t status = STREAM_CALL(api, host_address, &memory->address, host, 0);
  if (!iree_status_is_ok(status)) {
    api->host_free(host);
    return status;
  }
  memory->host = (uint8_t*)host;
  return iree_ok_status();
}

static void memory_free(void* source, const gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->context));
  if (memory->host) {
    self->context.api->host_free(memory->host);
  } else {
    self->context.api->memory_free(memory->address);
  }
}

static iree_status_t memory_lock(void* source, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const stream_api_t* api = self->context.api;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, host_register, memory->host, memory->size,
                                   STREAM_API_HOST_PORTABLE | STREAM_API_HOST_DEVICEMAP));
  iree_status_t status = STREAM_CALL(api, host_address, &memory->address, memory->host, 0);
  if (!iree_status_is_ok(status)) api->host_unregister(memory->host);
  return status;
}

static void memory_unlock(void* source, const gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->context));
  self->context.api->host_unregister(memory->host);
}

iree_status_t stream_allocator_create(const stream_device_t* device, iree_hal_allocator_t** out_allocator) {
  enum { MAX_ALIGNMENT = 256 };
  static const gpu_memory_source_vtable_t vtable = {
      .destroy = memory_destroy,
      .allocate = memory_allocate,
      .free = memory_free,
      .lock = memory_lock,
      .unlock = memory_unlock,
  };
  *out_allocator = NULL;
  memory_t* self = NULL;
  iree_allocator_t host_allocator = device->gpu.base.host_allocator;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*self), (void**)&self));
  self->host_allocator = host_allocator;
  iree_status_t status = stream_context_retain(device->context.api, device->context.device, &self->context);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, self);
    return status;
  }
  gpu_allocator_params_t params = {
      .domain = device->gpu.domain,
      .memory_size = device->memory_size,
      .max_alignment = MAX_ALIGNMENT,
      .vtable = &vtable,
      .source = self,
      .host_allocator = host_allocator,
  };
  return gpu_allocator_create(&params, out_allocator);
}
