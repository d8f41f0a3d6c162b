// Device groups.
#include "iree/hal/device_group.h"

#include "iree/async/frontier_tracker.h"

struct iree_hal_device_group_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_async_frontier_tracker_t* frontier_tracker;  // may be NULL
  iree_host_size_t device_count;
  iree_hal_device_t* devices[];
};

void iree_hal_device_group_builder_initialize(iree_hal_device_group_builder_t* builder,
                                              iree_async_frontier_tracker_t* frontier_tracker) {
  memset(builder, 0, sizeof(*builder));
  builder->frontier_tracker = frontier_tracker;
  iree_async_frontier_tracker_retain(frontier_tracker);
}

void iree_hal_device_group_builder_deinitialize(iree_hal_device_group_builder_t* builder) {
  for (iree_host_size_t i = 0; i < builder->count; ++i) iree_hal_device_release(builder->devices[i]);
  iree_async_frontier_tracker_release(builder->frontier_tracker);
  memset(builder, 0, sizeof(*builder));
}

iree_status_t iree_hal_device_group_builder_add_device(iree_hal_device_group_builder_t* builder,
                                                       iree_hal_device_t* device) {
  for (iree_host_size_t i = 0; i < builder->count; ++i) {
    if (builder->devices[i] != device) continue;
    return iree_make_status(IREE_STATUS_ALREADY_EXISTS, "the device is in the group already");
  }
  if (builder->count == IREE_ARRAYSIZE(builder->devices)) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a group has at most %d devices",
                            IREE_HAL_DEVICE_GROUP_MAX_DEVICE_COUNT);
  }
  builder->devices[builder->count++] = device;
  iree_hal_device_retain(device);
  return iree_ok_status();
}

static iree_status_t group_create(const iree_hal_device_group_builder_t* builder, iree_allocator_t host_allocator,
                                  iree_hal_device_group_t** out_group) {
  if (builder->count == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a device group needs a device");
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*group), builder->count,
                                                          sizeof(group->devices[0]), (void**)&group));
  iree_atomic_ref_count_init(&group->ref_count);
  group->host_allocator = host_allocator;
  group->frontier_tracker = builder->frontier_tracker;
  iree_async_frontier_tracker_retain(group->frontier_tracker);
  group->device_count = builder->count;
  for (iree_host_size_t i = 0; i < builder->count; ++i) {
    group->devices[i] = builder->devices[i];
    iree_hal_device_retain(group->devices[i]);
  }
  *out_group = group;
  return iree_ok_status();
}

iree_status_t iree_hal_device_group_builder_finalize(iree_hal_device_group_builder_t* builder,
                                                     iree_allocator_t host_allocator,
                                                     iree_hal_device_group_t** out_group) {
  *out_group = NULL;
  iree_status_t status = group_create(builder, host_allocator, out_group);
  iree_hal_device_group_builder_deinitialize(builder);
  return status;
}

iree_status_t iree_hal_device_group_create_from_device(iree_hal_device_t* device,
                                                       iree_async_frontier_tracker_t* frontier_tracker,
                                                       iree_allocator_t host_allocator,
                                                       iree_hal_device_group_t** out_group) {
  *out_group = NULL;
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, frontier_tracker);
  iree_status_t status = iree_hal_device_group_builder_add_device(&builder, device);
  if (!iree_status_is_ok(status)) {
    iree_hal_device_group_builder_deinitialize(&builder);
    return status;
  }
  return iree_hal_device_group_builder_finalize(&builder, host_allocator, out_group);
}

void iree_hal_device_group_retain(iree_hal_device_group_t* group) {
  if (group) iree_atomic_ref_count_inc(&group->ref_count);
}

void iree_hal_device_group_release(iree_hal_device_group_t* group) {
  if (!group || iree_atomic_ref_count_dec(&group->ref_count) != 1) return;
  for (iree_host_size_t i = 0; i < group->device_count; ++i) iree_hal_device_release(group->devices[i]);
  iree_async_frontier_tracker_release(group->frontier_tracker);
  iree_allocator_free(group->host_allocator, group);
}

iree_host_size_t iree_hal_device_group_device_count(const iree_hal_device_group_t* group) {
  return group->device_count;
}

iree_hal_device_t* iree_hal_device_group_device_at(const iree_hal_device_group_t* group, iree_host_size_t index) {
  return index < group->device_count ? group->devices[index] : NULL;
}
