// Events: finer ordering inside a command buffer than a barrier. Here they carry no state: a signal or reset records
// nothing, and a wait is a barrier, which orders more than was asked for and never less. Reference counted; used only
// while recording. Thread safe.
#ifndef IREE_HAL_EVENT_H_
#define IREE_HAL_EVENT_H_

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;
typedef struct iree_hal_event_t iree_hal_event_t;

enum iree_hal_event_flag_bits_t {
  IREE_HAL_EVENT_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_event_flags_t;

IREE_API_EXPORT iree_status_t iree_hal_event_create(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                                    iree_hal_event_flags_t flags, iree_hal_event_t** out_event);
IREE_API_EXPORT void iree_hal_event_retain(iree_hal_event_t* event);
IREE_API_EXPORT void iree_hal_event_release(iree_hal_event_t* event);
IREE_API_EXPORT void iree_hal_event_destroy(iree_hal_event_t* event);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_EVENT_H_
