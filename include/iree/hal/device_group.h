// Device groups: the devices that a program runs on together, in order, and their topology. Immutable; thread safe.
#ifndef IREE_HAL_DEVICE_GROUP_H_
#define IREE_HAL_DEVICE_GROUP_H_

#include "iree/base/api.h"
#include "iree/hal/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Most devices of a group.
#define IREE_HAL_DEVICE_GROUP_MAX_DEVICE_COUNT IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT

typedef struct iree_hal_device_group_t iree_hal_device_group_t;

// A group of one. `frontier_tracker` is retained, for whoever asks the group for it; it may be NULL: devices here order
// by the values of semaphores and advance no frontiers.
IREE_API_EXPORT iree_status_t iree_hal_device_group_create_from_device(iree_hal_device_t* device,
                                                                       iree_async_frontier_tracker_t* frontier_tracker,
                                                                       iree_allocator_t host_allocator,
                                                                       iree_hal_device_group_t** out_group);
IREE_API_EXPORT void iree_hal_device_group_retain(iree_hal_device_group_t* group);
IREE_API_EXPORT void iree_hal_device_group_release(iree_hal_device_group_t* group);
IREE_API_EXPORT iree_host_size_t iree_hal_device_group_device_count(const iree_hal_device_group_t* group);
// Not retained; NULL when `index` is out of range.
IREE_API_EXPORT iree_hal_device_t* iree_hal_device_group_device_at(const iree_hal_device_group_t* group,
                                                                   iree_host_size_t index);
// Alive as long as the group. Each device knows its place in the group that it joined last
// (iree_hal_device_topology_info).
IREE_API_EXPORT const iree_hal_topology_t* iree_hal_device_group_topology(const iree_hal_device_group_t* group);

// Gives another device, retained, for one of a group.
typedef iree_status_t(IREE_API_PTR* iree_hal_device_group_replacement_fn_t)(iree_hal_device_group_t* source_group,
                                                                            iree_host_size_t device_index,
                                                                            iree_hal_device_t* source_device,
                                                                            void* user_data,
                                                                            iree_hal_device_t** out_replacement_device);
typedef struct iree_hal_device_group_replacement_callback_t {
  iree_hal_device_group_replacement_fn_t fn;
  void* user_data;
} iree_hal_device_group_replacement_callback_t;
// A group with the topology and the frontier tracker of another, and for each of its devices what the callback gives:
// wrappers of them, say.
IREE_API_EXPORT iree_status_t iree_hal_device_group_create_with_replacements(
    iree_hal_device_group_t* source_group, iree_hal_device_group_replacement_callback_t replacement_callback,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group);

// Collects devices: initialize, add, then finalize or deinitialize. One thread.
typedef struct iree_hal_device_group_builder_t {
  iree_async_frontier_tracker_t* frontier_tracker;
  iree_host_size_t count;
  iree_hal_device_t* devices[IREE_HAL_DEVICE_GROUP_MAX_DEVICE_COUNT];
} iree_hal_device_group_builder_t;
IREE_API_EXPORT void iree_hal_device_group_builder_initialize(iree_hal_device_group_builder_t* builder,
                                                              iree_async_frontier_tracker_t* frontier_tracker);
IREE_API_EXPORT void iree_hal_device_group_builder_deinitialize(iree_hal_device_group_builder_t* builder);
// Retains the device. Errors: RESOURCE_EXHAUSTED, ALREADY_EXISTS.
IREE_API_EXPORT iree_status_t iree_hal_device_group_builder_add_device(iree_hal_device_group_builder_t* builder,
                                                                       iree_hal_device_t* device);
// Makes the group and empties the builder, whatever the outcome. Errors: INVALID_ARGUMENT when empty.
IREE_API_EXPORT iree_status_t iree_hal_device_group_builder_finalize(iree_hal_device_group_builder_t* builder,
                                                                     iree_allocator_t host_allocator,
                                                                     iree_hal_device_group_t** out_group);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DEVICE_GROUP_H_
