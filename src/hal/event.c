// Events: names for points in a command buffer. They carry no state of their own: a wait is recorded as a barrier.
#include "iree/hal/event.h"

#include "hal/detail.h"
#include "iree/hal/device.h"

struct iree_hal_event_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
};

HAL_DEFINE_LIFETIME(event)

static void event_free(iree_hal_resource_t* resource) {
  iree_allocator_free(((iree_hal_event_t*)resource)->host_allocator, resource);
}

static const iree_hal_resource_vtable_t event_vtable = {.destroy = event_free};

iree_status_t iree_hal_event_create(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    iree_hal_event_flags_t flags, iree_hal_event_t** out_event) {
  *out_event = NULL;
  if (flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "event flags 0x%X are not known", flags);
  iree_allocator_t host_allocator = iree_hal_device_host_allocator(device);
  iree_hal_event_t* event = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*event), (void**)&event));
  iree_hal_resource_initialize(&event_vtable, &event->resource);
  event->host_allocator = host_allocator;
  *out_event = event;
  return iree_ok_status();
}
