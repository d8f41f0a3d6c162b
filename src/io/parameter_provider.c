// Calls of providers, and operations of one span.
#include "iree/io/parameter_provider.h"

void iree_io_parameter_provider_retain(iree_io_parameter_provider_t* provider) {
  if (provider) iree_atomic_ref_count_inc(&provider->ref_count);
}

void iree_io_parameter_provider_release(iree_io_parameter_provider_t* provider) {
  if (provider && iree_atomic_ref_count_dec(&provider->ref_count) == 1) provider->vtable->destroy(provider);
}

iree_status_t iree_io_parameter_provider_notify(iree_io_parameter_provider_t* provider,
                                                iree_io_parameter_provider_signal_t signal) {
  return provider->vtable->notify ? provider->vtable->notify(provider, signal) : iree_ok_status();
}

bool iree_io_parameter_provider_query_support(iree_io_parameter_provider_t* provider, iree_string_view_t scope) {
  return provider->vtable->query_support(provider, scope);
}

iree_status_t iree_io_parameter_provider_load(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                              iree_string_view_t source_scope, iree_hal_buffer_params_t target_params,
                                              iree_host_size_t count, iree_io_parameter_enumerator_t enumerator,
                                              iree_io_parameter_emitter_t emitter) {
  return provider->vtable->load(provider, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                source_scope, target_params, count, enumerator, emitter);
}

iree_status_t iree_io_parameter_provider_gather(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                const iree_hal_semaphore_list_t wait_semaphore_list,
                                                const iree_hal_semaphore_list_t signal_semaphore_list,
                                                iree_string_view_t source_scope, iree_hal_buffer_t* target_buffer,
                                                iree_host_size_t count, iree_io_parameter_enumerator_t enumerator) {
  return provider->vtable->gather(provider, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                  source_scope, target_buffer, count, enumerator);
}

iree_status_t iree_io_parameter_provider_scatter(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                                 iree_hal_queue_affinity_t queue_affinity,
                                                 const iree_hal_semaphore_list_t wait_semaphore_list,
                                                 const iree_hal_semaphore_list_t signal_semaphore_list,
                                                 iree_hal_buffer_t* source_buffer, iree_string_view_t target_scope,
                                                 iree_host_size_t count, iree_io_parameter_enumerator_t enumerator) {
  return provider->vtable->scatter(provider, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                   source_buffer, target_scope, count, enumerator);
}

typedef struct single_t {
  iree_string_view_t key;
  iree_io_parameter_span_t span;
} single_t;

static iree_status_t enumerate_single(void* user_data, iree_host_size_t i, iree_string_view_t* out_key,
                                      iree_io_parameter_span_t* out_span) {
  const single_t* single = user_data;
  *out_key = single->key;
  *out_span = single->span;
  return iree_ok_status();
}

iree_status_t iree_io_parameter_provider_read(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                              iree_string_view_t source_scope, iree_string_view_t source_key,
                                              uint64_t source_offset, iree_hal_buffer_t* target_buffer,
                                              iree_device_size_t target_offset, iree_device_size_t length) {
  single_t single = {source_key, {source_offset, target_offset, length}};
  iree_io_parameter_enumerator_t enumerator = {enumerate_single, &single};
  return iree_io_parameter_provider_gather(provider, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                           source_scope, target_buffer, 1, enumerator);
}

iree_status_t iree_io_parameter_provider_write(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                               iree_hal_queue_affinity_t queue_affinity,
                                               const iree_hal_semaphore_list_t wait_semaphore_list,
                                               const iree_hal_semaphore_list_t signal_semaphore_list,
                                               iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                               iree_string_view_t target_scope, iree_string_view_t target_key,
                                               uint64_t target_offset, iree_device_size_t length) {
  single_t single = {target_key, {target_offset, source_offset, length}};
  iree_io_parameter_enumerator_t enumerator = {enumerate_single, &single};
  return iree_io_parameter_provider_scatter(provider, device, queue_affinity, wait_semaphore_list,
                                            signal_semaphore_list, source_buffer, target_scope, 1, enumerator);
}
