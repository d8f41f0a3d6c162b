// Memory for the allocator: a GPU's, managed memory where the host is to see it too and both may use it at a time, and
// pinned memory of the host.
#include "hal/stream/device.h"

enum { BASE_ALIGNMENT = 256 };

typedef struct memory_t {
  iree_allocator_t host_allocator;
  const stream_api_t* api;
  bool keeps_registered;
  iree_device_size_t page_size;  // of virtual memory; 0: there is none
  uint32_t gpu_count;
  stream_context_t contexts[];  // by GPU of the device
} memory_t;

static void memory_destroy(void* source) {
  memory_t* self = (memory_t*)source;
  for (uint32_t i = 0; i < self->gpu_count; ++i) stream_context_release(&self->contexts[i]);
  iree_allocator_free(self->host_allocator, self);
}

static bool is_local(const gpu_memory_t* memory) {
  return iree_all_bits_set(memory->type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL);
}

// What the library gives is aligned to 256 bytes.
static uint64_t padding(const gpu_memory_t* memory) {
  return memory->alignment > BASE_ALIGNMENT ? memory->alignment : 0;
}

static iree_status_t allocate_host(const stream_api_t* api, gpu_memory_t* memory) {
  void* host = NULL;
  uint64_t address = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, host_allocate, &host, memory->size + padding(memory),
                                   STREAM_API_HOST_PORTABLE | STREAM_API_HOST_DEVICEMAP));
  iree_status_t status = STREAM_CALL(api, host_address, &address, host, 0);
  if (!iree_status_is_ok(status)) {
    api->host_free(host);
    return status;
  }
  memory->base = (uint64_t)(uintptr_t)host;
  memory->host = (uint8_t*)(uintptr_t)iree_device_align(memory->base, memory->alignment);
  memory->address = address + ((uint64_t)(uintptr_t)memory->host - memory->base);
  return iree_ok_status();
}

static iree_status_t memory_allocate(void* source, uint32_t physical, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const stream_api_t* api = self->api;
  uint64_t size = memory->size + padding(memory);
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[physical]));
  if (!is_local(memory)) return allocate_host(api, memory);
  bool is_visible = memory->type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  if (is_visible) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, memory_allocate_managed, &memory->base, size, STREAM_API_MANAGED_GLOBAL));
  } else {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, memory_allocate, &memory->base, size));
  }
  memory->address = iree_device_align(memory->base, memory->alignment);
  if (is_visible) memory->host = (uint8_t*)(uintptr_t)memory->address;
  return iree_ok_status();
}

static void memory_free(void* source, const gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->contexts[0]));
  if (is_local(memory)) {
    self->api->memory_free(memory->base);
  } else {
    self->api->host_free((void*)(uintptr_t)memory->base);
  }
}

// Where a GPU has memory of the host at the host's own address, hipHostUnregister before HIP 5.4 removes it twice and
// aborts. Such memory stays registered, and is found so when it is locked again.
static bool stays_registered(const memory_t* self, const gpu_memory_t* memory) {
  return self->keeps_registered && memory->address == (uint64_t)(uintptr_t)memory->host;
}

static iree_status_t memory_lock(void* source, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const stream_api_t* api = self->api;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[0]));
  if (self->keeps_registered && api->host_address(&memory->address, memory->host, 0) == STREAM_API_SUCCESS &&
      stays_registered(self, memory)) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, host_register, memory->host, memory->size,
                                   STREAM_API_HOST_PORTABLE | STREAM_API_HOST_DEVICEMAP));
  iree_status_t status = STREAM_CALL(api, host_address, &memory->address, memory->host, 0);
  if (!iree_status_is_ok(status)) api->host_unregister(memory->host);
  return status;
}

// Copies that nobody waited for.
static iree_status_t memory_settle(void* source, const gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[memory->physical]));
  return STREAM_CALL(self->api, context_synchronize);
}

static void memory_unlock(void* source, const gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  if (stays_registered(self, memory)) return;
  iree_status_ignore(stream_context_enter(&self->contexts[0]));
  self->api->host_unregister(memory->host);
}

//===----------------------------------------------------------------------------------------------------------------===
// Virtual memory
//===----------------------------------------------------------------------------------------------------------------===

static stream_api_physical_t physical_of(const memory_t* self, uint32_t physical) {
  return (stream_api_physical_t){.type = STREAM_API_PHYSICAL_PINNED,
                                 .location = {STREAM_API_LOCATION_DEVICE, self->contexts[physical].device}};
}

static iree_status_t virtual_reserve(void* source, iree_device_size_t size, uint64_t* out_address) {
  const memory_t* self = (const memory_t*)source;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[0]));
  return STREAM_CALL(self->api, virtual_reserve, out_address, size, 0, 0, 0);
}

static void virtual_unreserve(void* source, uint64_t address, iree_device_size_t size) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->contexts[0]));
  self->api->virtual_free(address, size);
}

static iree_status_t virtual_allocate(void* source, uint32_t physical, uint64_t* out_page) {
  const memory_t* self = (const memory_t*)source;
  const stream_api_physical_t page = physical_of(self, physical);
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[physical]));
  return STREAM_CALL(self->api, physical_create, out_page, self->page_size, &page, 0);
}

static void virtual_free(void* source, uint64_t page) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->contexts[0]));
  self->api->physical_release(page);
}

static iree_status_t virtual_map(void* source, uint64_t address, uint64_t page) {
  const memory_t* self = (const memory_t*)source;
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[0]));
  return STREAM_CALL(self->api, virtual_map, address, self->page_size, 0, page, 0);
}

static void virtual_unmap(void* source, uint64_t address) {
  const memory_t* self = (const memory_t*)source;
  iree_status_ignore(stream_context_enter(&self->contexts[0]));
  self->api->virtual_unmap(address, self->page_size);
}

// What can be written can be read.
static iree_status_t virtual_protect(void* source, uint64_t address, uint64_t gpus,
                                     iree_hal_memory_protection_t protection) {
  const memory_t* self = (const memory_t*)source;
  stream_api_access_t accesses[64];
  int flags = protection & IREE_HAL_MEMORY_PROTECTION_WRITE  ? STREAM_API_ACCESS_READ_WRITE
              : protection & IREE_HAL_MEMORY_PROTECTION_READ ? STREAM_API_ACCESS_READ
                                                             : STREAM_API_ACCESS_NONE;
  for (uint32_t i = 0; i < self->gpu_count; ++i) {
    accesses[i] = (stream_api_access_t){{STREAM_API_LOCATION_DEVICE, self->contexts[i].device},
                                        gpus >> i & 1 ? flags : STREAM_API_ACCESS_NONE};
  }
  IREE_RETURN_IF_ERROR(stream_context_enter(&self->contexts[0]));
  return STREAM_CALL(self->api, virtual_set_access, address, self->page_size, accesses, self->gpu_count);
}

static const gpu_virtual_calls_t virtual_calls = {
    .reserve = virtual_reserve,
    .unreserve = virtual_unreserve,
    .allocate = virtual_allocate,
    .free = virtual_free,
    .map = virtual_map,
    .unmap = virtual_unmap,
    .protect = virtual_protect,
};

// The page size of all GPUs; 0 where one has no virtual memory.
static iree_device_size_t find_page_size(const memory_t* self) {
  const stream_api_t* api = self->api;
  size_t most = 0;
  if (!api->virtual_reserve || !api->virtual_free || !api->physical_create || !api->physical_release ||
      !api->virtual_map || !api->virtual_unmap || !api->virtual_set_access || !api->virtual_granularity) {
    return 0;
  }
  for (uint32_t i = 0; i < self->gpu_count; ++i) {
    const stream_api_physical_t page = physical_of(self, i);
    size_t size = 0;
    iree_status_t status = stream_context_enter(&self->contexts[i]);
    bool is_known = iree_status_is_ok(status) && api->virtual_granularity(&size, &page, 0) == STREAM_API_SUCCESS;
    iree_status_free(status);
    if (!is_known || !size) return 0;
    most = iree_max(most, size);
  }
  return most;
}

iree_status_t stream_allocator_create(const stream_device_t* device, iree_hal_allocator_t** out_allocator) {
  static const gpu_memory_source_vtable_t vtable = {
      .destroy = memory_destroy,
      .allocate = memory_allocate,
      .free = memory_free,
      .lock = memory_lock,
      .unlock = memory_unlock,
      .settle = memory_settle,
  };
  *out_allocator = NULL;
  memory_t* self = NULL;
  gpu_allocator_params_t params = gpu_allocator_params_of(&device->gpu, &vtable);
  params.memory_size = device->gpus[0].memory_size;
  uint32_t count = device->gpu.domain.physical_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(params.host_allocator, sizeof(*self), count,
                                                          sizeof(self->contexts[0]), (void**)&self));
  self->host_allocator = params.host_allocator;
  self->api = device->api;
  self->gpu_count = count;
  int version = 0;
  iree_status_t status = STREAM_CALL(device->api, driver_version, &version);
  self->keeps_registered = version < device->api->library->first_unregistering;
  for (uint32_t i = 0; iree_status_is_ok(status) && i < count; ++i) {
    const stream_gpu_t* gpu = &device->gpus[i];
    status = stream_context_retain(device->api, gpu->context.device, &self->contexts[i]);
    params.maps_device_memory = params.maps_device_memory && gpu->has_managed_memory;
    params.memory_size = iree_min(params.memory_size, gpu->memory_size);
  }
  if (!iree_status_is_ok(status)) {
    memory_destroy(self);
    return status;
  }
  params.moves_mapped_memory = params.maps_device_memory;
  params.source = self;
  params.virtual_calls = &virtual_calls;
  self->page_size = params.virtual_page_size = find_page_size(self);
  return gpu_allocator_create(&params, out_allocator);
}
