// Slab providers: where pools get memory from, in large pieces, and how parts of those become buffers. Thread safe.
#ifndef IREE_HAL_MEMORY_SLAB_PROVIDER_H_
#define IREE_HAL_MEMORY_SLAB_PROVIDER_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/hal/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_hal_slab_provider_trim_flag_bits_e {
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_NONE = 0u,
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL = 1u << 0,
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_EXCESS = 1u << 1,
};
typedef uint32_t iree_hal_slab_provider_trim_flags_t;

typedef struct iree_hal_slab_provider_stats_t {
  uint64_t total_acquired;  // slabs ever
  uint64_t total_released;
} iree_hal_slab_provider_stats_t;

// A piece of memory. All but the length is the provider's own business.
typedef struct iree_hal_slab_t {
  uint8_t* base_ptr;  // NULL where the host does not see it
  iree_device_size_t length;
  uint64_t provider_handle;
} iree_hal_slab_t;

typedef struct iree_hal_slab_provider_vtable_t iree_hal_slab_provider_vtable_t;

// A provider's first member.
typedef struct iree_hal_slab_provider_t {
  iree_atomic_ref_count_t ref_count;
  const iree_hal_slab_provider_vtable_t* vtable;
} iree_hal_slab_provider_t;

IREE_API_EXPORT void iree_hal_slab_provider_initialize(const iree_hal_slab_provider_vtable_t* vtable,
                                                       iree_hal_slab_provider_t* out_provider);
IREE_API_EXPORT void iree_hal_slab_provider_retain(iree_hal_slab_provider_t* provider);
IREE_API_EXPORT void iree_hal_slab_provider_release(iree_hal_slab_provider_t* provider);
// At least `min_length` bytes. Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_slab_provider_acquire_slab(iree_hal_slab_provider_t* provider,
                                                                  iree_device_size_t min_length,
                                                                  iree_hal_slab_t* out_slab);
IREE_API_EXPORT void iree_hal_slab_provider_release_slab(iree_hal_slab_provider_t* provider,
                                                         const iree_hal_slab_t* slab);
// A buffer over bytes of a slab, which must stay until `release_callback` runs. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_slab_provider_wrap_buffer(
    iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab, iree_device_size_t slab_offset,
    iree_device_size_t allocation_size, iree_hal_buffer_params_t params,
    iree_hal_buffer_release_callback_t release_callback, iree_hal_buffer_t** out_buffer);
IREE_API_EXPORT void iree_hal_slab_provider_trim(iree_hal_slab_provider_t* provider,
                                                 iree_hal_slab_provider_trim_flags_t flags);
IREE_API_EXPORT void iree_hal_slab_provider_query_stats(const iree_hal_slab_provider_t* provider,
                                                        iree_hal_slab_provider_stats_t* out_stats);
IREE_API_EXPORT void iree_hal_slab_provider_query_properties(const iree_hal_slab_provider_t* provider,
                                                             iree_hal_memory_type_t* out_memory_type,
                                                             iree_hal_buffer_usage_t* out_supported_usage);

struct iree_hal_slab_provider_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_slab_provider_t* provider);
  iree_status_t(IREE_API_PTR* acquire_slab)(iree_hal_slab_provider_t* provider, iree_device_size_t min_length,
                                            iree_hal_slab_t* out_slab);
  void(IREE_API_PTR* release_slab)(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab);
  iree_status_t(IREE_API_PTR* wrap_buffer)(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab,
                                           iree_device_size_t slab_offset, iree_device_size_t allocation_size,
                                           iree_hal_buffer_params_t params,
                                           iree_hal_buffer_release_callback_t release_callback,
                                           iree_hal_buffer_t** out_buffer);
  void(IREE_API_PTR* trim)(iree_hal_slab_provider_t* provider, iree_hal_slab_provider_trim_flags_t flags);
  void(IREE_API_PTR* query_stats)(const iree_hal_slab_provider_t* provider, iree_hal_slab_provider_stats_t* out_stats);
  void(IREE_API_PTR* query_properties)(const iree_hal_slab_provider_t* provider,
                                       iree_hal_memory_type_t* out_memory_type,
                                       iree_hal_buffer_usage_t* out_supported_usage);
};

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_MEMORY_SLAB_PROVIDER_H_
