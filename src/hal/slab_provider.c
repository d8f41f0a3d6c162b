// Slab providers: the public calls, and those over an allocator.
#include "hal/slab_provider.h"

//===----------------------------------------------------------------------------------------------------------------===
// Public calls
//===----------------------------------------------------------------------------------------------------------------===

void iree_hal_slab_provider_initialize(const iree_hal_slab_provider_vtable_t* vtable,
                                       iree_hal_slab_provider_t* out_provider) {
  iree_atomic_ref_count_init(&out_provider->ref_count);
  out_provider->vtable = vtable;
}

void iree_hal_slab_provider_retain(iree_hal_slab_provider_t* provider) {
  if (provider) iree_atomic_ref_count_inc(&provider->ref_count);
}

void iree_hal_slab_provider_release(iree_hal_slab_provider_t* provider) {
  if (provider && iree_atomic_ref_count_dec(&provider->ref_count) == 1) provider->vtable->destroy(provider);
}

iree_status_t iree_hal_slab_provider_acquire_slab(iree_hal_slab_provider_t* provider, iree_device_size_t min_length,
                                                  iree_hal_slab_t* out_slab) {
  memset(out_slab, 0, sizeof(*out_slab));
  return provider->vtable->acquire_slab(provider, min_length, out_slab);
}

void iree_hal_slab_provider_release_slab(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab) {
  provider->vtable->release_slab(provider, slab);
}

iree_status_t iree_hal_slab_provider_wrap_buffer(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab,
                                                 iree_device_size_t slab_offset, iree_device_size_t allocation_size,
                                                 iree_hal_buffer_params_t params,
                                                 iree_hal_buffer_release_callback_t release_callback,
                                                 iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  if (slab_offset > slab->length || allocation_size > slab->length - slab_offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range of %" PRIdsz " bytes at %" PRIdsz " is outside a slab of %" PRIdsz, allocation_size,
                            slab_offset, slab->length);
  }
  iree_hal_buffer_params_canonicalize(&params);
  return provider->vtable->wrap_buffer(provider, slab, slab_offset, allocation_size, params, release_callback,
                                       out_buffer);
}

void iree_hal_slab_provider_trim(iree_hal_slab_provider_t* provider, iree_hal_slab_provider_trim_flags_t flags) {
  provider->vtable->trim(provider, flags);
}

void iree_hal_slab_provider_query_stats(const iree_hal_slab_provider_t* provider,
                                        iree_hal_slab_provider_stats_t* out_stats) {
  memset(out_stats, 0, sizeof(*out_stats));
  provider->vtable->query_stats(provider, out_stats);
}

void iree_hal_slab_provider_query_properties(const iree_hal_slab_provider_t* provider,
                                             iree_hal_memory_type_t* out_memory_type,
                                             iree_hal_buffer_usage_t* out_supported_usage) {
  provider->vtable->query_properties(provider, out_memory_type, out_supported_usage);
}

//===----------------------------------------------------------------------------------------------------------------===
// Over an allocator: a slab's handle is its buffer, and parts of it are that buffer's memory, imported.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct provider_t {
  iree_hal_slab_provider_t base;
  iree_allocator_t host_allocator;
  iree_hal_allocator_t* allocator;
  iree_hal_buffer_params_t params;
  iree_atomic_uint64_t acquired, released;
} provider_t;

static void provider_destroy(iree_hal_slab_provider_t* base) {
  provider_t* self = (provider_t*)base;
  iree_hal_allocator_release(self->allocator);
  iree_allocator_free(self->host_allocator, self);
}

static iree_status_t provider_acquire_slab(iree_hal_slab_provider_t* base, iree_device_size_t min_length,
                                           iree_hal_slab_t* out_slab) {
  provider_t* self = (provider_t*)base;
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_external_buffer_t external;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(self->allocator, self->params, min_length, &buffer));
  if (iree_any_bit_set(self->params.type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
    iree_status_t status =
        iree_hal_allocator_export_buffer(self->allocator, buffer, IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external);
    if (!iree_status_is_ok(status)) {
      iree_hal_buffer_release(buffer);
      return status;
    }
    out_slab->base_ptr = (uint8_t*)external.handle.host_allocation.ptr;
  }
  out_slab->length = iree_hal_buffer_byte_length(buffer);
  out_slab->provider_handle = (uint64_t)(uintptr_t)buffer;
  iree_atomic_fetch_add(&self->acquired, 1, iree_memory_order_relaxed);
  return iree_ok_status();
}

static void provider_release_slab(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab) {
  iree_atomic_fetch_add(&((provider_t*)base)->released, 1, iree_memory_order_relaxed);
  iree_hal_buffer_release((iree_hal_buffer_t*)(uintptr_t)slab->provider_handle);
}

static iree_status_t provider_wrap_buffer(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab,
                                          iree_device_size_t slab_offset, iree_device_size_t allocation_size,
                                          iree_hal_buffer_params_t params,
                                          iree_hal_buffer_release_callback_t release_callback,
                                          iree_hal_buffer_t** out_buffer) {
  provider_t* self = (provider_t*)base;
  iree_hal_external_buffer_t external;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_export_buffer(
      self->allocator, (iree_hal_buffer_t*)(uintptr_t)slab->provider_handle,
      IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION, IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  external.handle.device_allocation.ptr += slab_offset;
  external.size = allocation_size;
  params.type = self->params.type;
  return iree_hal_allocator_import_buffer(self->allocator, params, &external, release_callback, out_buffer);
}

static void provider_trim(iree_hal_slab_provider_t* base, iree_hal_slab_provider_trim_flags_t flags) {
  iree_status_ignore(iree_hal_allocator_trim(((provider_t*)base)->allocator));
}

static void provider_query_stats(const iree_hal_slab_provider_t* base, iree_hal_slab_provider_stats_t* out_stats) {
  provider_t* self = (provider_t*)base;
  out_stats->total_acquired = iree_atomic_load(&self->acquired, iree_memory_order_relaxed);
  out_stats->total_released = iree_atomic_load(&self->released, iree_memory_order_relaxed);
}

static void provider_query_properties(const iree_hal_slab_provider_t* base, iree_hal_memory_type_t* out_memory_type,
                                      iree_hal_buffer_usage_t* out_supported_usage) {
  const provider_t* self = (const provider_t*)base;
  *out_memory_type = self->params.type;
  *out_supported_usage = self->params.usage;
}

static const iree_hal_slab_provider_vtable_t provider_vtable = {
    .destroy = provider_destroy,
    .acquire_slab = provider_acquire_slab,
    .release_slab = provider_release_slab,
    .wrap_buffer = provider_wrap_buffer,
    .trim = provider_trim,
    .query_stats = provider_query_stats,
    .query_properties = provider_query_properties,
};

iree_status_t hal_slab_provider_create(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                       iree_allocator_t host_allocator, iree_hal_slab_provider_t** out_provider) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH | IREE_HAL_BUFFER_USAGE_MAPPING,
      .queue_affinity = queue_affinity,
  };
  provider_t* self = NULL;
  *out_provider = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*self), (void**)&self));
  if (!iree_hal_allocator_query_buffer_compatibility(allocator, params, 1, &self->params, NULL)) {
    params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH;
    iree_hal_allocator_query_buffer_compatibility(allocator, params, 1, &self->params, NULL);
  }
  iree_hal_slab_provider_initialize(&provider_vtable, &self->base);
  self->host_allocator = host_allocator;
  self->allocator = allocator;
  iree_hal_allocator_retain(allocator);
  *out_provider = &self->base;
  return iree_ok_status();
}
