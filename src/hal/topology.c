// Topologies: edges from capabilities, the builder, and text.
#include "iree/hal/topology.h"

#include "hal/detail.h"
#include "iree/hal/device.h"
#include "iree/hal/topology_builder.h"

#define SET(edge, name, value) ((edge)->lo = iree_hal_topology_edge_set_##name((edge)->lo, (value)))
#define SET_TYPES(edge, name, value) ((edge)->hi = iree_hal_topology_edge_set_##name((edge)->hi, (value)))
#define MODE(name) IREE_HAL_TOPOLOGY_INTEROP_MODE_##name
#define LINK(name) IREE_HAL_TOPOLOGY_LINK_CLASS_##name

//===----------------------------------------------------------------------------------------------------------------===
// Edges
//===----------------------------------------------------------------------------------------------------------------===

iree_hal_topology_edge_t iree_hal_topology_edge_make_self(void) {
  iree_hal_topology_edge_t edge = iree_hal_topology_edge_empty();
  SET(&edge, capability_flags,
      IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN | IREE_HAL_TOPOLOGY_CAPABILITY_UNIFIED_MEMORY |
          IREE_HAL_TOPOLOGY_CAPABILITY_PEER_COHERENT | IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY |
          IREE_HAL_TOPOLOGY_CAPABILITY_CONCURRENT_SAFE | IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_DEVICE |
          IREE_HAL_TOPOLOGY_CAPABILITY_TIMELINE_SEMAPHORE);
  SET_TYPES(&edge, semaphore_import_types, IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE);
  SET_TYPES(&edge, semaphore_export_types, IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE);
  SET_TYPES(&edge, buffer_import_types, IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE);
  SET_TYPES(&edge, buffer_export_types, IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE);
  return edge;
}

static void set_buffer_modes(iree_hal_topology_edge_t* edge, iree_hal_topology_interop_mode_t noncoherent,
                             iree_hal_topology_interop_mode_t coherent) {
  SET(edge, buffer_read_mode_noncoherent, noncoherent);
  SET(edge, buffer_write_mode_noncoherent, noncoherent);
  SET(edge, buffer_read_mode_coherent, coherent);
  SET(edge, buffer_write_mode_coherent, coherent);
}

// What each way of reaching another device is taken to cost: signals and waits, and what they add to latency.
static const uint8_t mode_costs[] = {[MODE(NATIVE)] = 1, [MODE(IMPORT)] = 4, [MODE(COPY)] = 8, [MODE(NONE)] = 15};
// And copies over each link, with the latency.
static const struct {
  uint8_t copy, latency;
  const char* text;
} links[] = {
    [LINK(SAME_DIE)] = {1, 2, "same_die"},
    [LINK(NVLINK_IF)] = {4, 5, "nvlink_if"},
    [LINK(PCIE_SAME_ROOT)] = {8, 7, "pcie_same_root"},
    [LINK(PCIE_CROSS_ROOT)] = {10, 9, "pcie_cross_root"},
    [LINK(HOST_STAGED)] = {12, 10, "host_staged"},
    [LINK(FABRIC)] = {14, 13, "fabric"},
    [LINK(OTHER)] = {13, 12, "other"},
    [LINK(ISOLATED)] = {15, 15, "isolated"},
};

static void set_costs(iree_hal_topology_edge_t* edge) {
  iree_hal_topology_link_class_t link = iree_hal_topology_edge_link_class(edge->lo);
  SET(edge, wait_cost, mode_costs[iree_hal_topology_edge_wait_mode(edge->lo)]);
  SET(edge, signal_cost, mode_costs[iree_hal_topology_edge_signal_mode(edge->lo)]);
  SET(edge, copy_cost, links[link].copy);
  SET(edge, latency_class, links[link].latency);
}

void hal_topology_edge_set_link(iree_hal_topology_edge_t* edge, iree_hal_topology_link_class_t link) {
  SET(edge, link_class, link);
  set_costs(edge);
}

const char* hal_topology_link_name(iree_hal_topology_link_class_t link) {
  return link < IREE_ARRAYSIZE(links) ? links[link].text : "?";
}

iree_hal_topology_edge_t iree_hal_topology_edge_make_cross_driver(void) {
  iree_hal_topology_edge_t edge = iree_hal_topology_edge_empty();
  SET(&edge, wait_mode, MODE(COPY));
  SET(&edge, signal_mode, MODE(COPY));
  set_buffer_modes(&edge, MODE(COPY), MODE(COPY));
  SET(&edge, link_class, LINK(HOST_STAGED));
  set_costs(&edge);
  return edge;
}

static iree_hal_topology_capability_t common_capabilities(iree_hal_device_capability_bits_t flags, bool same_driver) {
  static const struct {
    iree_hal_device_capability_bits_t device;
    iree_hal_topology_capability_t edge;
  } table[] = {
#define ROW(device, edge) {IREE_HAL_DEVICE_CAPABILITY_##device, IREE_HAL_TOPOLOGY_CAPABILITY_##edge}
      ROW(TIMELINE_SEMAPHORES, TIMELINE_SEMAPHORE),
      ROW(UNIFIED_MEMORY, UNIFIED_MEMORY),
      ROW(HOST_COHERENT, HOST_COHERENT),
      ROW(PEER_COHERENT, PEER_COHERENT),
      ROW(P2P_COPY, P2P_COPY),
      ROW(SHARED_VIRTUAL_ADDRESS, SHARED_VIRTUAL_ADDRESS),
      ROW(CONCURRENT_SAFE, CONCURRENT_SAFE),
      ROW(ATOMIC_SCOPE_DEVICE, ATOMIC_DEVICE),
      ROW(ATOMIC_SCOPE_SYSTEM, ATOMIC_SYSTEM),
#undef ROW
  };
  iree_hal_topology_capability_t result = same_driver ? IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN : 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(table); ++i) {
    if (flags & table[i].device) result |= table[i].edge;
  }
  return result;
}

static bool have_same_uuid(const iree_hal_device_capabilities_t* src, const iree_hal_device_capabilities_t* dst) {
  return src->has_physical_device_uuid && dst->has_physical_device_uuid &&
         memcmp(src->physical_device_uuid, dst->physical_device_uuid, sizeof(src->physical_device_uuid)) == 0;
}

static iree_hal_topology_link_class_t guess_link(const iree_hal_device_capabilities_t* src,
                                                 const iree_hal_device_capabilities_t* dst, bool is_near) {
  iree_hal_device_capability_bits_t flags = src->flags & dst->flags;
  bool same_node = src->numa_node == dst->numa_node;
  if (have_same_uuid(src, dst)) return LINK(SAME_DIE);
  if (!is_near) return LINK(HOST_STAGED);
  if (flags & IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY) return same_node ? LINK(SAME_DIE) : LINK(OTHER);
  if (!(flags & IREE_HAL_DEVICE_CAPABILITY_P2P_COPY)) return LINK(HOST_STAGED);
  return same_node ? LINK(PCIE_SAME_ROOT) : LINK(PCIE_CROSS_ROOT);
}

// By handles that one side exports and the other imports.
static iree_hal_topology_interop_mode_t shared_mode(iree_hal_topology_handle_type_t exported,
                                                    iree_hal_topology_handle_type_t imported) {
  return exported & imported & ~IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE ? MODE(IMPORT) : MODE(COPY);
}

// Without importing, buffers are out of reach where devices do not say otherwise.
static void set_modes(iree_hal_topology_edge_t* edge, const iree_hal_device_capabilities_t* src,
                      const iree_hal_device_capabilities_t* dst, bool same_driver) {
  const iree_hal_device_capability_bits_t addressable =
      IREE_HAL_DEVICE_CAPABILITY_P2P_COPY | IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE;
  iree_hal_device_capability_bits_t flags = src->flags & dst->flags;
  iree_hal_topology_interop_mode_t buffers = shared_mode(src->buffer_export_types, dst->buffer_import_types);
  if (!same_driver) {
    SET(edge, wait_mode, shared_mode(src->semaphore_export_types, dst->semaphore_import_types));
    SET(edge, signal_mode, shared_mode(dst->semaphore_export_types, src->semaphore_import_types));
    set_buffer_modes(edge, buffers, buffers);
    return;
  }
  bool is_unified = flags & IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY;
  bool is_addressable = is_unified || iree_all_bits_set(flags, addressable);
  bool is_coherent = is_unified || (flags & IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT);
  SET(edge, wait_mode, MODE(NATIVE));
  SET(edge, signal_mode, MODE(NATIVE));
  set_buffer_modes(edge, is_addressable ? MODE(NATIVE) : buffers, is_coherent ? MODE(NATIVE) : buffers);
}

iree_hal_topology_edge_t iree_hal_topology_edge_from_capabilities(const iree_hal_device_capabilities_t* src_caps,
                                                                  const iree_hal_device_capabilities_t* dst_caps,
                                                                  iree_string_view_t src_driver_name,
                                                                  iree_string_view_t dst_driver_name) {
  bool same_driver = iree_string_view_equal(src_driver_name, dst_driver_name);
  if (same_driver && src_caps->driver_device_handle &&
      src_caps->driver_device_handle == dst_caps->driver_device_handle) {
    return iree_hal_topology_edge_make_self();
  }
  iree_hal_topology_edge_t edge = iree_hal_topology_edge_empty();
  if ((src_caps->flags | dst_caps->flags) & IREE_HAL_DEVICE_CAPABILITY_ISOLATED) {
    SET(&edge, wait_mode, MODE(NONE));
    SET(&edge, signal_mode, MODE(NONE));
    set_buffer_modes(&edge, MODE(NONE), MODE(NONE));
    SET(&edge, link_class, LINK(ISOLATED));
  } else {
    set_modes(&edge, src_caps, dst_caps, same_driver);
    SET(&edge, capability_flags, common_capabilities(src_caps->flags & dst_caps->flags, same_driver));
    SET(&edge, link_class, guess_link(src_caps, dst_caps, same_driver));
    SET_TYPES(&edge, semaphore_import_types, dst_caps->semaphore_import_types);
    SET_TYPES(&edge, semaphore_export_types, src_caps->semaphore_export_types);
    SET_TYPES(&edge, buffer_import_types, dst_caps->buffer_import_types);
    SET_TYPES(&edge, buffer_export_types, src_caps->buffer_export_types);
  }
  SET(&edge, numa_distance, src_caps->numa_node == dst_caps->numa_node ? 0 : 4);
  set_costs(&edge);
  return edge;
}

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_topology_edge_format(iree_hal_topology_edge_t edge, iree_string_builder_t* builder) {
  static const char* const modes[] = {
      [MODE(NATIVE)] = "native", [MODE(IMPORT)] = "import", [MODE(COPY)] = "copy", [MODE(NONE)] = "none"};
  uint64_t word = edge.lo;
  return iree_string_builder_append_format(
      builder, "wait=%s signal=%s read=%s/%s write=%s/%s link=%s costs=%u/%u/%u",
      modes[iree_hal_topology_edge_wait_mode(word)], modes[iree_hal_topology_edge_signal_mode(word)],
      modes[iree_hal_topology_edge_buffer_read_mode_noncoherent(word)],
      modes[iree_hal_topology_edge_buffer_read_mode_coherent(word)],
      modes[iree_hal_topology_edge_buffer_write_mode_noncoherent(word)],
      modes[iree_hal_topology_edge_buffer_write_mode_coherent(word)],
      links[iree_hal_topology_edge_link_class(word)].text, iree_hal_topology_edge_wait_cost(word),
      iree_hal_topology_edge_signal_cost(word), iree_hal_topology_edge_copy_cost(word));
}

iree_status_t iree_hal_topology_dump_matrix(const iree_hal_topology_t* topology, iree_string_builder_t* builder) {
  for (uint32_t i = 0; i < topology->device_count; ++i) {
    for (uint32_t j = 0; j < topology->device_count; ++j) {
      IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%u -> %u: ", i, j));
      IREE_RETURN_IF_ERROR(iree_hal_topology_edge_format(iree_hal_topology_query_edge(topology, i, j), builder));
      IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "\n"));
    }
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Builder
//===----------------------------------------------------------------------------------------------------------------===

static bool is_same(iree_hal_topology_edge_t lhs, iree_hal_topology_edge_t rhs) {
  return lhs.lo == rhs.lo && lhs.hi == rhs.hi;
}

// Too many devices are told by finalize.
static uint32_t stored_count(const iree_hal_topology_builder_t* builder) {
  return iree_min(builder->topology.device_count, IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT);
}

void iree_hal_topology_builder_initialize(iree_hal_topology_builder_t* builder, uint32_t device_count) {
  memset(builder, 0, sizeof(*builder));
  builder->topology.device_count = device_count;
  for (uint32_t i = 0; i < stored_count(builder); ++i) {
    uint32_t at = i * stored_count(builder) + i;
    builder->topology.edges[at] = iree_hal_topology_edge_make_self();
    builder->edges_set[at] = true;
  }
}

static iree_status_t check_ordinal(const iree_hal_topology_builder_t* builder, uint32_t ordinal) {
  if (ordinal < stored_count(builder)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "device %u is not one of %u", ordinal,
                          builder->topology.device_count);
}

iree_status_t iree_hal_topology_builder_set_edge(iree_hal_topology_builder_t* builder, uint32_t src_ordinal,
                                                 uint32_t dst_ordinal, iree_hal_topology_edge_t edge) {
  IREE_RETURN_IF_ERROR(check_ordinal(builder, src_ordinal));
  IREE_RETURN_IF_ERROR(check_ordinal(builder, dst_ordinal));
  if (src_ordinal == dst_ordinal && !is_same(edge, iree_hal_topology_edge_make_self())) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the edge of device %u to itself is a given one",
                            src_ordinal);
  }
  uint32_t at = src_ordinal * stored_count(builder) + dst_ordinal;
  builder->topology.edges[at] = edge;
  builder->edges_set[at] = true;
  return iree_ok_status();
}

iree_status_t iree_hal_topology_builder_set_numa_node(iree_hal_topology_builder_t* builder, uint32_t device_ordinal,
                                                      uint8_t numa_node) {
  IREE_RETURN_IF_ERROR(check_ordinal(builder, device_ordinal));
  builder->topology.numa_nodes[device_ordinal] = numa_node;
  return iree_ok_status();
}

iree_status_t iree_hal_topology_builder_finalize(iree_hal_topology_builder_t* builder,
                                                 iree_hal_topology_t* out_topology) {
  const iree_hal_topology_t* topology = &builder->topology;
  uint32_t count = topology->device_count;
  *out_topology = iree_hal_topology_empty();
  if (count < 1 || count > IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a topology has 1 to %d devices, not %u",
                            IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (!builder->edges_set[i * count + j]) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the edge from device %u to device %u is not set", i, j);
      }
      if (iree_hal_topology_edge_link_class(topology->edges[i * count + j].lo) !=
          iree_hal_topology_edge_link_class(topology->edges[j * count + i].lo)) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "devices %u and %u have different links in the two directions", i, j);
      }
    }
  }
  *out_topology = *topology;
  return iree_ok_status();
}
