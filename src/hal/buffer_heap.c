// Buffers in host memory, and the allocator of them.

#include "hal/detail.h"
#include "hal/host_buffer.h"
#include "hal/kept_blocks.h"
#include "hal/virtual_memory.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"

typedef struct heap_allocator_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  hal_kept_blocks_t data;
  // Statistics; counters by kind of memory: 0 host-local, 1 device-local.
  iree_atomic_uint64_t allocated[2];
  iree_atomic_uint64_t freed[2];
  iree_atomic_uint64_t peak[2];
} heap_allocator_t;

typedef struct heap_buffer_t {
  hal_host_buffer_t base;
  iree_allocator_t host_allocator;
  heap_allocator_t* allocator;  // retained; NULL when wrapped
  iree_hal_buffer_release_callback_t release_callback;
} heap_buffer_t;

//===----------------------------------------------------------------------------------------------------------------===
// Statistics
//===----------------------------------------------------------------------------------------------------------------===

static int statistics_kind(iree_hal_memory_type_t type) {
  return iree_all_bits_set(type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL) ? 0 : 1;
}

static void record_allocate(heap_allocator_t* allocator, iree_hal_memory_type_t type, uint64_t size) {
  int kind = statistics_kind(type);
  uint64_t allocated = iree_atomic_fetch_add(&allocator->allocated[kind], size, iree_memory_order_relaxed) + size;
  uint64_t live = allocated - iree_atomic_load(&allocator->freed[kind], iree_memory_order_relaxed);
  uint64_t peak = iree_atomic_load(&allocator->peak[kind], iree_memory_order_relaxed);
  while (live > peak && !iree_atomic_compare_exchange_weak(&allocator->peak[kind], &peak, live,
                                                           iree_memory_order_relaxed, iree_memory_order_relaxed)) {
  }
}

static void record_free(heap_allocator_t* allocator, iree_hal_memory_type_t type, uint64_t size) {
  iree_atomic_fetch_add(&allocator->freed[statistics_kind(type)], size, iree_memory_order_relaxed);
}

static void heap_query_statistics(iree_hal_allocator_t* base, iree_hal_allocator_statistics_t* out_statistics) {
  heap_allocator_t* allocator = (heap_allocator_t*)base;
  out_statistics->host_bytes_peak = iree_atomic_load(&allocator->peak[0], iree_memory_order_relaxed);
  out_statistics->host_bytes_allocated = iree_atomic_load(&allocator->allocated[0], iree_memory_order_relaxed);
  out_statistics->host_bytes_freed = iree_atomic_load(&allocator->freed[0], iree_memory_order_relaxed);
  out_statistics->device_bytes_peak = iree_atomic_load(&allocator->peak[1], iree_memory_order_relaxed);
  out_statistics->device_bytes_allocated = iree_atomic_load(&allocator->allocated[1], iree_memory_order_relaxed);
  out_statistics->device_bytes_freed = iree_atomic_load(&allocator->freed[1], iree_memory_order_relaxed);
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers
//===----------------------------------------------------------------------------------------------------------------===

static void heap_buffer_destroy(iree_hal_buffer_t* base) {
  heap_buffer_t* buffer = (heap_buffer_t*)base;
  iree_allocator_t host_allocator = buffer->host_allocator;
  heap_allocator_t* allocator = buffer->allocator;
  if (buffer->release_callback.fn) buffer->release_callback.fn(buffer->release_callback.user_data, base);
  iree_hal_buffer_deinitialize(base);
  if (allocator) {
    record_free(allocator, base->memory_type, base->allocation_size);
    hal_kept_blocks_free(&allocator->data, buffer->base.data, base->allocation_size);
    iree_hal_resource_release(allocator);
  }
  iree_allocator_free(host_allocator, buffer);
}

static const iree_hal_buffer_vtable_t heap_buffer_vtable = {.destroy = heap_buffer_destroy, HAL_HOST_BUFFER_CALLS};

enum { LONGEST_PATTERN = 16 };  // bytes

// Bytes. Fills store their patterns as they are; only kernels need more.
static iree_device_size_t needed_alignment(iree_hal_buffer_usage_t usage) {
  return usage & IREE_HAL_BUFFER_USAGE_DISPATCH ? IREE_HAL_HEAP_BUFFER_ALIGNMENT : LONGEST_PATTERN;
}

iree_status_t iree_hal_heap_buffer_wrap(iree_hal_buffer_placement_t placement, iree_hal_memory_type_t memory_type,
                                        iree_hal_memory_access_t allowed_access, iree_hal_buffer_usage_t allowed_usage,
                                        iree_device_size_t allocation_size, iree_byte_span_t data,
                                        iree_hal_buffer_release_callback_t release_callback,
                                        iree_allocator_t host_allocator, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  if (!iree_host_ptr_has_alignment(data.data, needed_alignment(allowed_usage))) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "wrapped memory must be aligned to %" PRIdsz " bytes",
                            needed_alignment(allowed_usage));
  }
  if (data.data_length < allocation_size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "wrapped memory has %" PRIhsz " bytes, %" PRIdsz " are needed",
                            data.data_length, allocation_size);
  }
  heap_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*buffer), (void**)&buffer));
  iree_hal_buffer_initialize(placement, &buffer->base.base, allocation_size, 0, allocation_size, memory_type,
                             allowed_access, allowed_usage, &heap_buffer_vtable, &buffer->base.base);
  buffer->host_allocator = host_allocator;
  buffer->base.data = data.data;
  buffer->release_callback = release_callback;
  *out_buffer = &buffer->base.base;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Allocator
//===----------------------------------------------------------------------------------------------------------------===

static void heap_allocator_destroy(iree_hal_allocator_t* base) {
  hal_kept_blocks_deinitialize(&((heap_allocator_t*)base)->data);
  iree_allocator_free(((heap_allocator_t*)base)->host_allocator, base);
}

static iree_allocator_t heap_host_allocator(const iree_hal_allocator_t* base) {
  return ((const heap_allocator_t*)base)->host_allocator;
}

static iree_status_t heap_trim(iree_hal_allocator_t* base) {
  hal_kept_blocks_trim(&((heap_allocator_t*)base)->data);
  return iree_ok_status();
}

static iree_status_t heap_query_memory_heaps(iree_hal_allocator_t* base, iree_host_size_t capacity,
                                             iree_hal_allocator_memory_heap_t* heaps, iree_host_size_t* out_count) {
  if (out_count) *out_count = 1;
  if (capacity < 1) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  heaps[0] = (iree_hal_allocator_memory_heap_t){
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED,
      .allowed_usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH | IREE_HAL_BUFFER_USAGE_MAPPING |
                       IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT,
      .max_allocation_size = IREE_DEVICE_SIZE_MAX,
      .min_alignment = IREE_HAL_HEAP_BUFFER_ALIGNMENT,
  };
  return iree_ok_status();
}

// All memory here is everything at once; parameters only gain bits.
static iree_hal_buffer_compatibility_t heap_query_buffer_compatibility(iree_hal_allocator_t* base,
                                                                       iree_hal_buffer_params_t* params,
                                                                       iree_device_size_t* allocation_size) {
  params->type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_COHERENT |
                  IREE_HAL_MEMORY_TYPE_HOST_CACHED | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  params->type &= ~(iree_hal_memory_type_t)IREE_HAL_MEMORY_TYPE_OPTIMAL;
  params->usage |=
      IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT;
  params->min_alignment = iree_max(params->min_alignment, IREE_HAL_HEAP_BUFFER_ALIGNMENT);
  if (*allocation_size == 0) *allocation_size = 4;
  iree_hal_buffer_compatibility_t result =
      IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE | IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE |
      IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE | IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  if (params->usage & IREE_HAL_BUFFER_USAGE_DISPATCH) result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  return result;
}

static iree_status_t heap_allocate_buffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                                          iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer) {
  heap_allocator_t* allocator = (heap_allocator_t*)base;
  iree_hal_buffer_params_t compatible = *params;
  iree_device_size_t byte_length = allocation_size;
  heap_query_buffer_compatibility(base, &compatible, &allocation_size);
  if (!iree_device_size_is_valid_alignment(params->min_alignment) || params->min_alignment > 1u << 20) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIdsz " is not supported",
                            params->min_alignment);
  }
  heap_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator->host_allocator, sizeof(*buffer), (void**)&buffer));
  iree_status_t status =
      hal_kept_blocks_allocate(&allocator->data, allocation_size, compatible.min_alignment, (void**)&buffer->base.data);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(allocator->host_allocator, buffer);
    return status;
  }
  iree_hal_buffer_placement_t placement = {.queue_affinity = compatible.queue_affinity};
  iree_hal_buffer_initialize(placement, &buffer->base.base, allocation_size, 0, byte_length, compatible.type,
                             compatible.access, compatible.usage, &heap_buffer_vtable, &buffer->base.base);
  buffer->host_allocator = allocator->host_allocator;
  buffer->allocator = allocator;
  iree_hal_resource_retain(allocator);
  record_allocate(allocator, compatible.type, allocation_size);
  *out_buffer = &buffer->base.base;
  return iree_ok_status();
}

static iree_status_t heap_import_buffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                                        iree_hal_external_buffer_t* external_buffer,
                                        iree_hal_buffer_release_callback_t release_callback,
                                        iree_hal_buffer_t** out_buffer) {
  void* ptr = NULL;
  if (external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION) {
    ptr = external_buffer->handle.host_allocation.ptr;
  } else if (external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION) {
    ptr = (void*)(uintptr_t)external_buffer->handle.device_allocation.ptr;
  } else {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "external buffer type %d cannot be imported",
                            (int)external_buffer->type);
  }
  iree_hal_buffer_params_t compatible = *params;
  iree_device_size_t size = external_buffer->size;
  heap_query_buffer_compatibility(base, &compatible, &size);
  iree_device_size_t alignment = iree_max(params->min_alignment, needed_alignment(params->usage));
  if (!iree_host_ptr_has_alignment(ptr, alignment)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "memory must be aligned to %" PRIdsz " bytes to be imported",
                            alignment);
  }
  iree_hal_buffer_placement_t placement = {.queue_affinity = compatible.queue_affinity};
  return iree_hal_heap_buffer_wrap(placement, compatible.type, compatible.access, compatible.usage,
                                   external_buffer->size, iree_make_byte_span(ptr, external_buffer->size),
                                   release_callback, ((heap_allocator_t*)base)->host_allocator, out_buffer);
}

static iree_status_t heap_export_buffer(iree_hal_allocator_t* base, iree_hal_buffer_t* buffer,
                                        iree_hal_external_buffer_type_t requested_type,
                                        iree_hal_external_buffer_flags_t requested_flags,
                                        iree_hal_external_buffer_t* out_external_buffer) {
  iree_hal_buffer_t* allocated = buffer->allocated_buffer;
  if (!iree_hal_resource_is(allocated, &heap_buffer_vtable)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "the buffer is not in host memory");
  }
  uint8_t* data = ((heap_buffer_t*)allocated)->base.data + buffer->byte_offset;
  out_external_buffer->size = buffer->byte_length;
  if (requested_type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION) {
    out_external_buffer->handle.host_allocation.ptr = data;
  } else if (requested_type == IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION) {
    out_external_buffer->handle.device_allocation.ptr = (uint64_t)(uintptr_t)data;
  } else {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "buffers cannot be exported as type %d", (int)requested_type);
  }
  out_external_buffer->type = requested_type;
  out_external_buffer->flags = requested_flags;
  return iree_ok_status();
}

static const iree_hal_allocator_vtable_t heap_allocator_vtable = {
    .destroy = heap_allocator_destroy,
    .host_allocator = heap_host_allocator,
    .trim = heap_trim,
    .query_statistics = heap_query_statistics,
    .query_memory_heaps = heap_query_memory_heaps,
    .query_buffer_compatibility = heap_query_buffer_compatibility,
    .allocate_buffer = heap_allocate_buffer,
    .import_buffer = heap_import_buffer,
    .export_buffer = heap_export_buffer,
    HAL_HOST_VIRTUAL_MEMORY_CALLS,
};

iree_status_t iree_hal_allocator_create_heap(iree_string_view_t identifier, iree_allocator_t data_allocator,
                                             iree_allocator_t host_allocator, iree_hal_allocator_t** out_allocator) {
  *out_allocator = NULL;
  heap_allocator_t* allocator = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*allocator), (void**)&allocator));
  iree_hal_resource_initialize(&heap_allocator_vtable, &allocator->resource);
  allocator->host_allocator = host_allocator;
  hal_kept_blocks_initialize(&allocator->data, data_allocator);
  *out_allocator = (iree_hal_allocator_t*)allocator;
  return iree_ok_status();
}
