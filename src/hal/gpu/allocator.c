// The allocator of GPUs.
#include "hal/gpu/allocator.h"

#include "hal/gpu/kept_memory.h"

enum { MIN_ALIGNMENT = 256, GRANULARITY = 64, MIN_IMPORT_ALIGNMENT = 16 };

// Counters by place: 0 of the host, 1 of GPUs.
typedef struct statistics_t {
  iree_atomic_uint64_t allocated[2];
  iree_atomic_uint64_t freed[2];
  iree_atomic_uint64_t peak[2];
} statistics_t;

struct gpu_allocator_t {
  iree_hal_resource_t resource;
  gpu_allocator_params_t params;
  statistics_t statistics;
  gpu_kept_memory_t kept;
};

#define VISIBLE_TYPE (IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_COHERENT)

//===----------------------------------------------------------------------------------------------------------------===
// Statistics
//===----------------------------------------------------------------------------------------------------------------===

static void record(gpu_allocator_t* allocator, iree_hal_memory_type_t type, iree_device_size_t size, bool is_free) {
  statistics_t* s = &allocator->statistics;
  int place = iree_all_bits_set(type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL) ? 1 : 0;
  if (is_free) {
    iree_atomic_fetch_add(&s->freed[place], size, iree_memory_order_relaxed);
    return;
  }
  uint64_t allocated = iree_atomic_fetch_add(&s->allocated[place], size, iree_memory_order_relaxed) + size;
  uint64_t live = allocated - iree_atomic_load(&s->freed[place], iree_memory_order_relaxed);
  uint64_t peak = iree_atomic_load(&s->peak[place], iree_memory_order_relaxed);
  while (live > peak && !iree_atomic_compare_exchange_weak(&s->peak[place], &peak, live, iree_memory_order_relaxed,
                                                           iree_memory_order_relaxed)) {
  }
}

static void allocator_query_statistics(iree_hal_allocator_t* base, iree_hal_allocator_statistics_t* out) {
  statistics_t* s = &((gpu_allocator_t*)base)->statistics;
  out->host_bytes_peak = iree_atomic_load(&s->peak[0], iree_memory_order_relaxed);
  out->host_bytes_allocated = iree_atomic_load(&s->allocated[0], iree_memory_order_relaxed);
  out->host_bytes_freed = iree_atomic_load(&s->freed[0], iree_memory_order_relaxed);
  out->device_bytes_peak = iree_atomic_load(&s->peak[1], iree_memory_order_relaxed);
  out->device_bytes_allocated = iree_atomic_load(&s->allocated[1], iree_memory_order_relaxed);
  out->device_bytes_freed = iree_atomic_load(&s->freed[1], iree_memory_order_relaxed);
}

//===----------------------------------------------------------------------------------------------------------------===
// Heaps
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocator_query_memory_heaps(iree_hal_allocator_t* base, iree_host_size_t capacity,
                                                  iree_hal_allocator_memory_heap_t* heaps,
                                                  iree_host_size_t* out_count) {
  const gpu_allocator_t* allocator = (const gpu_allocator_t*)base;
  const iree_hal_buffer_usage_t usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH;
  const iree_hal_buffer_usage_t mapping = IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT;
  iree_device_size_t size = allocator->params.memory_size;
  bool visible = allocator->params.maps_device_memory;
  iree_host_size_t count = visible ? 3 : 2;
  if (out_count) *out_count = count;
  if (capacity < count) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  *heaps++ = (iree_hal_allocator_memory_heap_t){IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, usage, size, MIN_ALIGNMENT};
  if (visible) {
    *heaps++ = (iree_hal_allocator_memory_heap_t){IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | VISIBLE_TYPE, usage | mapping,
                                                  size, MIN_ALIGNMENT};
  }
  *heaps = (iree_hal_allocator_memory_heap_t){
      IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      usage | mapping, IREE_DEVICE_SIZE_MAX, MIN_ALIGNMENT};
  return iree_ok_status();
}

// The heap for some parameters, by its type; NONE when there is none.
static iree_hal_memory_type_t choose_type(const gpu_allocator_t* allocator, const iree_hal_buffer_params_t* params) {
  const iree_hal_memory_type_t host =
      IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  iree_hal_memory_type_t type = params->type & ~(iree_hal_memory_type_t)IREE_HAL_MEMORY_TYPE_OPTIMAL;
  bool maps = iree_any_bit_set(params->usage,
                               IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT) &&
              !iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL);
  bool needs_host = maps || iree_any_bit_set(type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE);
  bool is_local = iree_all_bits_set(type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL);
  bool is_host_local = iree_all_bits_set(type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL);
  if (is_local && is_host_local) return IREE_HAL_MEMORY_TYPE_NONE;
  if (is_host_local) return host;
  if (!needs_host) return IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  if (allocator->params.maps_device_memory && !iree_any_bit_set(type, IREE_HAL_MEMORY_TYPE_HOST_CACHED)) {
    return IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | VISIBLE_TYPE;
  }
  // Memory that both reach, but that need not be the GPU's.
  return is_local ? IREE_HAL_MEMORY_TYPE_NONE : host;
}

static iree_hal_buffer_compatibility_t allocator_query_buffer_compatibility(iree_hal_allocator_t* base,
                                                                            iree_hal_buffer_params_t* params,
                                                                            iree_device_size_t* allocation_size) {
  const gpu_allocator_t* allocator = (const gpu_allocator_t*)base;
  iree_hal_memory_type_t type = choose_type(allocator, params);
  if (type == IREE_HAL_MEMORY_TYPE_NONE) return IREE_HAL_BUFFER_COMPATIBILITY_NONE;
  params->type = type;
  params->usage |= IREE_HAL_BUFFER_USAGE_TRANSFER;
  if (type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) {
    params->usage |= IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT;
  } else {
    params->usage &=
        ~(iree_hal_buffer_usage_t)(IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
                                   IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL);
  }
  params->min_alignment = iree_max(params->min_alignment, MIN_ALIGNMENT);
  if (*allocation_size == 0) *allocation_size = 4;
  iree_hal_buffer_compatibility_t result = IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE |
                                           IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE |
                                           IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  if (type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) result |= IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE;
  if (params->usage & IREE_HAL_BUFFER_USAGE_DISPATCH) result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  bool moves = allocator->params.moves_mapped_memory && iree_all_bits_set(type, VISIBLE_TYPE) &&
               iree_any_bit_set(type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL);
  if (moves) result |= IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE;
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Allocation
//===----------------------------------------------------------------------------------------------------------------===

void gpu_allocator_free_memory(gpu_allocator_t* allocator, const gpu_memory_t* memory, iree_hal_buffer_t* buffer) {
  if (memory->source == GPU_MEMORY_OWNED) {
    gpu_kept_memory_give(&allocator->kept, memory);
    record(allocator, memory->type, memory->size, /*is_free=*/true);
  }
  if (memory->source == GPU_MEMORY_LOCKED) allocator->params.vtable->unlock(allocator->params.source, memory);
  if (memory->source == GPU_MEMORY_RESERVED) gpu_virtual_memory_free(&allocator->params, memory);
  if (memory->source == GPU_MEMORY_SHARED) allocator->params.vtable->unimport(allocator->params.source, memory);
  if (memory->release.fn) memory->release.fn(memory->release.user_data, buffer);
}

static iree_status_t fail_params(const iree_hal_buffer_params_t* params) {
  iree_bitfield_string_temp_t type, usage;
  iree_hal_memory_type_format(params->type, &type);
  iree_hal_buffer_usage_format(params->usage, &usage);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no memory of the GPU or the host is %s for %s", type.buffer,
                          usage.buffer);
}

// Kept memory, or new; what is kept goes when there is none left.
static iree_status_t allocate_memory(gpu_allocator_t* allocator, gpu_memory_t* memory) {
  const gpu_memory_source_vtable_t* vtable = allocator->params.vtable;
  if (gpu_kept_memory_take(&allocator->kept, memory)) return iree_ok_status();
  iree_status_t status = vtable->allocate(allocator->params.source, memory->physical, memory);
  if (!iree_status_is_resource_exhausted(status) || !gpu_kept_memory_trim(&allocator->kept)) return status;
  iree_status_ignore(status);
  return vtable->allocate(allocator->params.source, memory->physical, memory);
}

static iree_status_t allocator_allocate_buffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                                               iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer) {
  gpu_allocator_t* allocator = (gpu_allocator_t*)base;
  iree_hal_buffer_params_t compatible = *params;
  gpu_memory_t memory = {.source = GPU_MEMORY_OWNED, .size = allocation_size, .length = allocation_size};
  if (!iree_device_size_is_valid_alignment(params->min_alignment) ||
      params->min_alignment > allocator->params.max_alignment) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIdsz " is not supported",
                            params->min_alignment);
  }
  if (!allocator_query_buffer_compatibility(base, &compatible, &memory.size)) return fail_params(params);
  if (memory.size > IREE_DEVICE_SIZE_MAX - allocator->params.max_alignment) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "cannot allocate %" PRIdsz " bytes", memory.size);
  }
  memory.size = iree_device_align(memory.size, GRANULARITY);
  memory.type = compatible.type;
  memory.alignment = compatible.min_alignment;
  gpu_domain_t domain = allocator->params.domain;
  memory.physical = gpu_domain_physical(domain, gpu_domain_first(domain, params->queue_affinity));
  IREE_RETURN_IF_ERROR(allocate_memory(allocator, &memory));
  record(allocator, memory.type, memory.size, /*is_free=*/false);
  return gpu_buffer_create(allocator, &compatible, &memory, out_buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Other people's memory
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t import_host(gpu_allocator_t* allocator, const iree_hal_external_buffer_t* external,
                                 iree_hal_buffer_params_t* params, gpu_memory_t* memory) {
  // Host memory stays where it is: it is never the GPU's own.
  if (iree_all_bits_set(params->type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "host memory cannot be imported as memory of the GPU");
  }
  iree_device_size_t alignment = iree_max(params->min_alignment, (iree_device_size_t)MIN_IMPORT_ALIGNMENT);
  params->type =
      IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  params->usage |= IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING;
  memory->source = GPU_MEMORY_LOCKED;
  memory->host = (uint8_t*)external->handle.host_allocation.ptr;
  if (!iree_host_ptr_has_alignment(memory->host, alignment)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "memory must be aligned to %" PRIdsz " bytes to be imported",
                            alignment);
  }
  return allocator->params.vtable->lock(allocator->params.source, memory);
}

static iree_status_t import_device(gpu_allocator_t* allocator, const iree_hal_external_buffer_t* external,
                                   iree_hal_buffer_params_t* params, gpu_memory_t* memory) {
  if (!allocator_query_buffer_compatibility((iree_hal_allocator_t*)allocator, params, &memory->size)) {
    return fail_params(params);
  }
  memory->source = GPU_MEMORY_BORROWED;
  memory->address = external->handle.device_allocation.ptr;
  bool is_visible = params->type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  if (is_visible) memory->host = (uint8_t*)(uintptr_t)memory->address;
  return iree_ok_status();
}

// The GPU's memory of whoever has exported it; the host has no address for it.
static iree_status_t import_shared(gpu_allocator_t* allocator, const iree_hal_external_buffer_t* external,
                                   iree_hal_buffer_params_t* params, gpu_memory_t* memory) {
  const gpu_memory_source_vtable_t* vtable = allocator->params.vtable;
  if (!allocator_query_buffer_compatibility((iree_hal_allocator_t*)allocator, params, &memory->size)) {
    return fail_params(params);
  }
  if (params->type != IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "file descriptors can be imported as memory of the GPU that the host does not see");
  }
  memory->source = GPU_MEMORY_SHARED;
  IREE_RETURN_IF_ERROR(vtable->import_fd(allocator->params.source, external->handle.opaque_fd.fd, memory));
  if (memory->length <= memory->size) return iree_ok_status();
  vtable->unimport(allocator->params.source, memory);
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "the file descriptor stands for %" PRIdsz " bytes of memory, fewer than %" PRIdsz,
                          memory->size, memory->length);
}

static iree_status_t allocator_import_buffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                                             iree_hal_external_buffer_t* external_buffer,
                                             iree_hal_buffer_release_callback_t release_callback,
                                             iree_hal_buffer_t** out_buffer) {
  gpu_allocator_t* allocator = (gpu_allocator_t*)base;
  iree_hal_buffer_params_t compatible = *params;
  gpu_memory_t memory = {.size = external_buffer->size, .length = external_buffer->size};
  if (!iree_device_size_is_valid_alignment(params->min_alignment)) return fail_params(params);
  if (external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION) {
    IREE_RETURN_IF_ERROR(import_host(allocator, external_buffer, &compatible, &memory));
  } else if (external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION) {
    IREE_RETURN_IF_ERROR(import_device(allocator, external_buffer, &compatible, &memory));
  } else if (external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD && allocator->params.vtable->import_fd) {
    IREE_RETURN_IF_ERROR(import_shared(allocator, external_buffer, &compatible, &memory));
  } else {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "external buffer type %d cannot be imported",
                            (int)external_buffer->type);
  }
  memory.release = release_callback;
  return gpu_buffer_create(allocator, &compatible, &memory, out_buffer);
}

// A file descriptor is for a whole allocation: the buffer must begin where it does.
static iree_status_t export_shared(gpu_allocator_t* allocator, iree_hal_buffer_t* buffer, int* out_fd) {
  iree_device_size_t offset = 0;
  const gpu_memory_t* memory = gpu_buffer_memory(buffer, &offset);
  if (memory->source != GPU_MEMORY_OWNED || offset != 0 || !gpu_buffer_is_fixed(buffer)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "only buffers that are an allocation of their own can be exported as file descriptors");
  }
  ((gpu_memory_t*)memory)->is_exported = true;
  return allocator->params.vtable->export_fd(allocator->params.source, memory, out_fd);
}

// From now on others use the memory too.
static iree_status_t note_exported(gpu_allocator_t* allocator, gpu_memory_t* memory) {
  if (memory->is_exported) return iree_ok_status();
  memory->is_exported = true;
  if (!allocator->params.vtable->settle) return iree_ok_status();
  return allocator->params.vtable->settle(allocator->params.source, memory);
}

static iree_status_t allocator_export_buffer(iree_hal_allocator_t* base, iree_hal_buffer_t* buffer,
                                             iree_hal_external_buffer_type_t requested_type,
                                             iree_hal_external_buffer_flags_t requested_flags,
                                             iree_hal_external_buffer_t* out_external_buffer) {
  gpu_allocator_t* allocator = (gpu_allocator_t*)base;
  iree_device_size_t offset = 0;
  const gpu_memory_t* memory = gpu_buffer_memory(buffer, &offset);
  if (!memory) return iree_make_status(IREE_STATUS_UNAVAILABLE, "the buffer is not in memory of this device");
  if (requested_type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION && memory->host) {
    out_external_buffer->handle.host_allocation.ptr = memory->host + offset;
  } else if (requested_type == IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION) {
    IREE_RETURN_IF_ERROR(note_exported(allocator, (gpu_memory_t*)memory));
    out_external_buffer->handle.device_allocation.ptr = memory->address + offset;
  } else if (requested_type == IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD && allocator->params.vtable->export_fd) {
    IREE_RETURN_IF_ERROR(export_shared(allocator, buffer, &out_external_buffer->handle.opaque_fd.fd));
  } else {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "the buffer cannot be exported as type %d", (int)requested_type);
  }
  out_external_buffer->size = buffer->byte_length;
  out_external_buffer->type = requested_type;
  out_external_buffer->flags = requested_flags;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The object
//===----------------------------------------------------------------------------------------------------------------===

static void allocator_destroy(iree_hal_allocator_t* base) {
  gpu_allocator_t* allocator = (gpu_allocator_t*)base;
  gpu_kept_memory_deinitialize(&allocator->kept);
  allocator->params.vtable->destroy(allocator->params.source);
  iree_allocator_free(allocator->params.host_allocator, allocator);
}

static iree_allocator_t allocator_host_allocator(const iree_hal_allocator_t* base) {
  return ((const gpu_allocator_t*)base)->params.host_allocator;
}

const gpu_allocator_params_t* gpu_allocator_params(const gpu_allocator_t* allocator) { return &allocator->params; }

static iree_status_t allocator_trim(iree_hal_allocator_t* base) {
  gpu_kept_memory_trim(&((gpu_allocator_t*)base)->kept);
  return iree_ok_status();
}

static const iree_hal_allocator_vtable_t allocator_vtable = {
    .destroy = allocator_destroy,
    .host_allocator = allocator_host_allocator,
    .trim = allocator_trim,
    .query_statistics = allocator_query_statistics,
    .query_memory_heaps = allocator_query_memory_heaps,
    .query_buffer_compatibility = allocator_query_buffer_compatibility,
    .allocate_buffer = allocator_allocate_buffer,
    .import_buffer = allocator_import_buffer,
    .export_buffer = allocator_export_buffer,
    .supports_virtual_memory = gpu_supports_virtual_memory,
    .virtual_memory_query_granularity = gpu_virtual_memory_query_granularity,
    .virtual_memory_reserve = gpu_virtual_memory_reserve,
    .virtual_memory_release = gpu_virtual_memory_release,
    .physical_memory_allocate = gpu_physical_memory_allocate,
    .physical_memory_free = gpu_physical_memory_free,
    .virtual_memory_map = gpu_virtual_memory_map,
    .virtual_memory_unmap = gpu_virtual_memory_unmap,
    .virtual_memory_protect = gpu_virtual_memory_protect,
    .virtual_memory_advise = gpu_virtual_memory_advise,
};

gpu_allocator_params_t gpu_allocator_params_of(const gpu_device_t* device, const gpu_memory_source_vtable_t* vtable) {
  return (gpu_allocator_params_t){
      .domain = device->domain,
      .maps_device_memory = true,
      .max_alignment = GPU_MAX_ALIGNMENT,
      .vtable = vtable,
      .host_allocator = device->base.host_allocator,
  };
}

iree_status_t gpu_allocator_create(const gpu_allocator_params_t* params, iree_hal_allocator_t** out_allocator) {
  *out_allocator = NULL;
  gpu_allocator_t* allocator = NULL;
  iree_status_t status = iree_allocator_malloc(params->host_allocator, sizeof(*allocator), (void**)&allocator);
  if (!iree_status_is_ok(status)) {
    params->vtable->destroy(params->source);
    return status;
  }
  iree_hal_resource_initialize(&allocator_vtable, &allocator->resource);
  allocator->params = *params;
  gpu_kept_memory_initialize(&allocator->kept, params);
  *out_allocator = (iree_hal_allocator_t*)allocator;
  return iree_ok_status();
}
