// Channel providers: what an application gives a device (iree_hal_device_replace_channel_provider) to say which rank of
// which group it is where a channel's parameters leave that open. Implementations are the application's: a type that
// begins with iree_hal_resource_t, initialized with the vtable below.
#ifndef IREE_HAL_CHANNEL_PROVIDER_H_
#define IREE_HAL_CHANNEL_PROVIDER_H_

#include "iree/base/api.h"
#include "iree/hal/channel.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_channel_provider_t iree_hal_channel_provider_t;

IREE_API_EXPORT void iree_hal_channel_provider_retain(iree_hal_channel_provider_t* channel_provider);
IREE_API_EXPORT void iree_hal_channel_provider_release(iree_hal_channel_provider_t* channel_provider);
IREE_API_EXPORT void iree_hal_channel_provider_destroy(iree_hal_channel_provider_t* channel_provider);

// The default rank and count; RANK_DEFAULT and COUNT_DEFAULT when the provider does not know.
IREE_API_EXPORT iree_status_t iree_hal_channel_provider_query_default_rank_and_count(
    iree_hal_channel_provider_t* channel_provider, int32_t* out_rank, int32_t* out_count);
// Makes `id` the same for all participants: rank 0 comes with one of its own, the others get that.
IREE_API_EXPORT iree_status_t
iree_hal_channel_provider_exchange_default_id(iree_hal_channel_provider_t* channel_provider, iree_byte_span_t id);

typedef struct iree_hal_channel_provider_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_channel_provider_t* channel_provider);
  iree_status_t(IREE_API_PTR* query_default_rank_and_count)(iree_hal_channel_provider_t* channel_provider,
                                                            int32_t* out_rank, int32_t* out_count);
  iree_status_t(IREE_API_PTR* exchange_default_id)(iree_hal_channel_provider_t* channel_provider, iree_byte_span_t id);
} iree_hal_channel_provider_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_CHANNEL_PROVIDER_H_
