// Providers of parameters: where programs on devices get their weights from and may write them to. A parameter has a
// scope (a file, say) and a key in it. Thread safe, but for one parameter that is read and written at once.
//
// Operations are queue operations: they begin when the wait semaphores are reached and signal the others at their end.
// What is wrong with the request fails at once: NOT_FOUND for a parameter, OUT_OF_RANGE for a span outside of one.
#ifndef IREE_IO_PARAMETER_PROVIDER_H_
#define IREE_IO_PARAMETER_PROVIDER_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iree_io_parameter_provider_signal_e {
  IREE_IO_PARAMETER_PROVIDER_SIGNAL_RESUME = 0,
  IREE_IO_PARAMETER_PROVIDER_SIGNAL_SUSPEND = 1,     // drop what can be made again
  IREE_IO_PARAMETER_PROVIDER_SIGNAL_LOW_MEMORY = 2,  // drop what is possible
} iree_io_parameter_provider_signal_t;

typedef struct iree_io_parameter_span_t {
  uint64_t parameter_offset;
  iree_device_size_t buffer_offset;
  iree_device_size_t length;
} iree_io_parameter_span_t;

typedef struct iree_io_parameter_provider_t iree_io_parameter_provider_t;

IREE_API_EXPORT void iree_io_parameter_provider_retain(iree_io_parameter_provider_t* provider);
IREE_API_EXPORT void iree_io_parameter_provider_release(iree_io_parameter_provider_t* provider);
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_notify(iree_io_parameter_provider_t* provider,
                                                                iree_io_parameter_provider_signal_t signal);
IREE_API_EXPORT bool iree_io_parameter_provider_query_support(iree_io_parameter_provider_t* provider,
                                                              iree_string_view_t scope);

// Tells key and place of span `i`; called during the operation only. The key must stay as long.
typedef iree_status_t(IREE_API_PTR* iree_io_parameter_enumerator_fn_t)(void* user_data, iree_host_size_t i,
                                                                       iree_string_view_t* out_key,
                                                                       iree_io_parameter_span_t* out_span);
typedef struct iree_io_parameter_enumerator_t {
  iree_io_parameter_enumerator_fn_t fn;
  void* user_data;
} iree_io_parameter_enumerator_t;

// Takes the buffer of span `i` (to be retained).
typedef iree_status_t(IREE_API_PTR* iree_io_parameter_emitter_fn_t)(void* user_data, iree_host_size_t i,
                                                                    iree_hal_buffer_t* buffer);
typedef struct iree_io_parameter_emitter_t {
  iree_io_parameter_emitter_fn_t fn;
  void* user_data;
} iree_io_parameter_emitter_t;

// A buffer for each span, with the span's bytes from its start: the provider's own memory where `target_params` ask for
// no more than reading and the device can use it in place, else a new one.
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_load(
    iree_io_parameter_provider_t* provider, iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_string_view_t source_scope, iree_hal_buffer_params_t target_params, iree_host_size_t count,
    iree_io_parameter_enumerator_t enumerator, iree_io_parameter_emitter_t emitter);
// One span into a buffer.
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_read(
    iree_io_parameter_provider_t* provider, iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_string_view_t source_scope, iree_string_view_t source_key, uint64_t source_offset,
    iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset, iree_device_size_t length);
// One span from a buffer. Errors: PERMISSION_DENIED when the parameter cannot be written.
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_write(
    iree_io_parameter_provider_t* provider, iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset, iree_string_view_t target_scope,
    iree_string_view_t target_key, uint64_t target_offset, iree_device_size_t length);
// Spans into one buffer, where they must not overlap.
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_gather(
    iree_io_parameter_provider_t* provider, iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_string_view_t source_scope, iree_hal_buffer_t* target_buffer, iree_host_size_t count,
    iree_io_parameter_enumerator_t enumerator);
// Spans of one buffer into parameters, each of which is written once.
IREE_API_EXPORT iree_status_t iree_io_parameter_provider_scatter(
    iree_io_parameter_provider_t* provider, iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_buffer_t* source_buffer, iree_string_view_t target_scope, iree_host_size_t count,
    iree_io_parameter_enumerator_t enumerator);

//===----------------------------------------------------------------------------------------------------------------===
// For providers. The counter starts with iree_atomic_ref_count_init.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_io_parameter_provider_vtable_t {
  void(IREE_API_PTR* destroy)(iree_io_parameter_provider_t* IREE_RESTRICT provider);
  iree_status_t(IREE_API_PTR* notify)(iree_io_parameter_provider_t* provider,
                                      iree_io_parameter_provider_signal_t signal);
  bool(IREE_API_PTR* query_support)(iree_io_parameter_provider_t* provider, iree_string_view_t scope);
  iree_status_t(IREE_API_PTR* load)(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                    iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list,
                                    iree_string_view_t source_scope, iree_hal_buffer_params_t target_params,
                                    iree_host_size_t count, iree_io_parameter_enumerator_t enumerator,
                                    iree_io_parameter_emitter_t emitter);
  iree_status_t(IREE_API_PTR* gather)(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                      iree_hal_queue_affinity_t queue_affinity,
                                      const iree_hal_semaphore_list_t wait_semaphore_list,
                                      const iree_hal_semaphore_list_t signal_semaphore_list,
                                      iree_string_view_t source_scope, iree_hal_buffer_t* target_buffer,
                                      iree_host_size_t count, iree_io_parameter_enumerator_t enumerator);
  iree_status_t(IREE_API_PTR* scatter)(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                       iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list,
                                       iree_hal_buffer_t* source_buffer, iree_string_view_t target_scope,
                                       iree_host_size_t count, iree_io_parameter_enumerator_t enumerator);
} iree_io_parameter_provider_vtable_t;

struct iree_io_parameter_provider_t {
  iree_atomic_ref_count_t ref_count;
  const iree_io_parameter_provider_vtable_t* vtable;
};

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_PARAMETER_PROVIDER_H_
