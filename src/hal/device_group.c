// Device groups, and the topologies that they make of what their devices say.
#include "iree/hal/device_group.h"

#include "iree/async/frontier_tracker.h"
#include "iree/hal/topology_builder.h"

struct iree_hal_device_group_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_async_frontier_tracker_t* frontier_tracker;  // may be NULL
  iree_hal_topology_t topology;
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

//===----------------------------------------------------------------------------------------------------------------===
// Topologies
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t add_edge(iree_hal_topology_builder_t* builder, const iree_hal_device_group_t* group,
                              const iree_hal_device_capabilities_t* capabilities, uint32_t src, uint32_t dst) {
  iree_string_view_t src_name = iree_hal_device_id(group->devices[src]);
  iree_string_view_t dst_name = iree_hal_device_id(group->devices[dst]);
  iree_hal_topology_edge_t edge =
      iree_hal_topology_edge_from_capabilities(&capabilities[src], &capabilities[dst], src_name, dst_name);
  if (iree_string_view_equal(src_name, dst_name)) {
    IREE_RETURN_IF_ERROR(iree_hal_device_refine_topology_edge(group->devices[src], group->devices[dst], &edge));
  }
  return iree_hal_topology_builder_set_edge(builder, src, dst, edge);
}

static iree_status_t make_topology(iree_hal_device_group_t* group) {
  iree_hal_device_capabilities_t capabilities[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
  uint32_t count = (uint32_t)group->device_count;
  iree_hal_topology_builder_t builder;
  iree_hal_topology_builder_initialize(&builder, count);
  for (uint32_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_device_query_capabilities(group->devices[i], &capabilities[i]));
    IREE_RETURN_IF_ERROR(iree_hal_topology_builder_set_numa_node(&builder, i, capabilities[i].numa_node));
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (i != j) IREE_RETURN_IF_ERROR(add_edge(&builder, group, capabilities, i, j));
    }
  }
  return iree_hal_topology_builder_finalize(&builder, &group->topology);
}

static iree_hal_device_topology_info_t place_of(const iree_hal_device_group_t* group, uint32_t index) {
  const iree_hal_topology_interop_mode_t copy = IREE_HAL_TOPOLOGY_INTEROP_MODE_COPY;
  const iree_hal_topology_t* topology = &group->topology;
  iree_hal_device_topology_info_t info = {0};
  info.self_edge = iree_hal_topology_query_edge(topology, index, index).lo;
  info.topology_index = index;
  info.topology = topology;
  info.frontier.tracker = group->frontier_tracker;
  if (group->frontier_tracker) {
    info.frontier.base_axis = iree_async_axis_make_queue(
        iree_async_frontier_tracker_session_epoch(group->frontier_tracker),
        iree_async_frontier_tracker_machine_index(group->frontier_tracker), (uint8_t)index, 0);
  }
  for (uint32_t i = 0; i < topology->device_count; ++i) {
    uint64_t from = iree_hal_topology_query_edge(topology, i, index).lo;
    uint64_t to = iree_hal_topology_query_edge(topology, index, i).lo;
    iree_hal_topology_interop_mode_t read = iree_min(iree_hal_topology_edge_buffer_read_mode_coherent(from),
                                                     iree_hal_topology_edge_buffer_read_mode_noncoherent(from));
    bool shares = read == IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE ||
                  (iree_hal_topology_edge_capability_flags(from) & IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY);
    info.can_wait_from |= (uint32_t)(iree_hal_topology_edge_wait_mode(from) <= copy) << i;
    info.can_signal_to |= (uint32_t)(iree_hal_topology_edge_signal_mode(to) <= copy) << i;
    info.can_import_from |= (uint32_t)(read < copy) << i;
    info.can_p2p_with |= (uint32_t)shares << i;
  }
  return info;
}

static iree_status_t assign_places(iree_hal_device_group_t* group) {
  for (uint32_t i = 0; i < group->device_count; ++i) {
    iree_hal_device_topology_info_t info = place_of(group, i);
    IREE_RETURN_IF_ERROR(iree_hal_device_assign_topology_info(group->devices[i], &info));
  }
  return iree_ok_status();
}

static void release_devices(iree_hal_device_group_t* group) {
  for (iree_host_size_t i = 0; i < group->device_count; ++i) {
    const iree_hal_device_topology_info_t* info = iree_hal_device_topology_info(group->devices[i]);
    if (info && info->topology == &group->topology) {
      IREE_IGNORE_ERROR(iree_hal_device_assign_topology_info(group->devices[i], NULL));
    }
    iree_hal_device_release(group->devices[i]);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

// Without devices and a topology.
static iree_status_t group_allocate(iree_host_size_t capacity, iree_async_frontier_tracker_t* frontier_tracker,
                                    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group) {
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*group), capacity,
                                                          sizeof(group->devices[0]), (void**)&group));
  iree_atomic_ref_count_init(&group->ref_count);
  group->host_allocator = host_allocator;
  group->frontier_tracker = frontier_tracker;
  iree_async_frontier_tracker_retain(frontier_tracker);
  *out_group = group;
  return iree_ok_status();
}

// Gives the group away, or frees it when it could not be made.
static iree_status_t group_return(iree_hal_device_group_t* group, iree_status_t status,
                                  iree_hal_device_group_t** out_group) {
  if (iree_status_is_ok(status)) {
    *out_group = group;
  } else {
    iree_hal_device_group_release(group);
  }
  return status;
}

static iree_status_t group_create(const iree_hal_device_group_builder_t* builder, iree_allocator_t host_allocator,
                                  iree_hal_device_group_t** out_group) {
  if (builder->count == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a device group needs a device");
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(group_allocate(builder->count, builder->frontier_tracker, host_allocator, &group));
  while (group->device_count < builder->count) {
    iree_hal_device_t* device = builder->devices[group->device_count];
    iree_hal_device_retain(device);
    group->devices[group->device_count++] = device;
  }
  iree_status_t status = make_topology(group);
  if (iree_status_is_ok(status)) status = assign_places(group);
  return group_return(group, status, out_group);
}

iree_status_t iree_hal_device_group_create_with_replacements(
    iree_hal_device_group_t* source_group, iree_hal_device_group_replacement_callback_t replacement_callback,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group) {
  *out_group = NULL;
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(
      group_allocate(source_group->device_count, source_group->frontier_tracker, host_allocator, &group));
  group->topology = source_group->topology;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < source_group->device_count && iree_status_is_ok(status); ++i) {
    iree_hal_device_t* device = NULL;
    status =
        replacement_callback.fn(source_group, i, source_group->devices[i], replacement_callback.user_data, &device);
    if (iree_status_is_ok(status)) group->devices[group->device_count++] = device;
  }
  if (iree_status_is_ok(status)) status = assign_places(group);
  return group_return(group, status, out_group);
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
  release_devices(group);
  iree_async_frontier_tracker_release(group->frontier_tracker);
  iree_allocator_free(group->host_allocator, group);
}

iree_host_size_t iree_hal_device_group_device_count(const iree_hal_device_group_t* group) {
  return group->device_count;
}

iree_hal_device_t* iree_hal_device_group_device_at(const iree_hal_device_group_t* group, iree_host_size_t index) {
  return index < group->device_count ? group->devices[index] : NULL;
}

const iree_hal_topology_t* iree_hal_device_group_topology(const iree_hal_device_group_t* group) {
  return &group->topology;
}
