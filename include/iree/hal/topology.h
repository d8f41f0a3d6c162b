// Topologies: how each device of a group can work with each other one. Plain data, made once (topology_builder.h, or by
// a device group) and not changed any more; thread safe to read.
//
// The edge from a device to another is two words: what scheduling asks often, and handle types for sharing. Each field
// of them has iree_hal_topology_edge_<field>(word), and iree_hal_topology_edge_set_<field>(word, value), which returns
// the word with it (topology_builder.h); topology_fields.def lists them.
#ifndef IREE_HAL_TOPOLOGY_H_
#define IREE_HAL_TOPOLOGY_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_capabilities_t iree_hal_device_capabilities_t;

#define IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT 32
#define IREE_HAL_TOPOLOGY_DEVICE_ORDINAL_INVALID UINT32_MAX

// A bit per device of a topology.
typedef uint32_t iree_hal_topology_device_bitmap_t;

// How something of one device reaches another, best first.
enum iree_hal_topology_interop_mode_bits_t {
  IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE = 0,  // as its own
  IREE_HAL_TOPOLOGY_INTEROP_MODE_IMPORT = 1,  // after importing a handle once
  IREE_HAL_TOPOLOGY_INTEROP_MODE_COPY = 2,    // by a copy, or by the host's waiting
  IREE_HAL_TOPOLOGY_INTEROP_MODE_NONE = 3,
};
typedef uint8_t iree_hal_topology_interop_mode_t;

// What connects two devices.
enum iree_hal_topology_link_class_bits_t {
  IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE = 0,
  IREE_HAL_TOPOLOGY_LINK_CLASS_NVLINK_IF = 1,  // or Infinity Fabric
  IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT = 2,
  IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_CROSS_ROOT = 3,
  IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED = 4,  // the host's memory alone
  IREE_HAL_TOPOLOGY_LINK_CLASS_FABRIC = 5,       // a network
  IREE_HAL_TOPOLOGY_LINK_CLASS_OTHER = 6,
  IREE_HAL_TOPOLOGY_LINK_CLASS_ISOLATED = 7,  // nothing
};
typedef uint8_t iree_hal_topology_link_class_t;

// Handles by which semaphores and buffers are shared.
enum iree_hal_topology_handle_type_bits_t {
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_NONE = 0,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE = 1u << 0,  // between devices of one driver
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD = 1u << 1,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_WIN32 = 1u << 2,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF = 1u << 3,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_RDMA_MR = 1u << 4,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_SHM = 1u << 5,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_METAL_IOSURFACE = 1u << 6,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER = 1u << 7,
};
typedef uint8_t iree_hal_topology_handle_type_t;

// What an edge has.
enum iree_hal_topology_capability_bits_t {
  IREE_HAL_TOPOLOGY_CAPABILITY_NONE = 0,
  IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN = 1u << 0,  // one driver
  IREE_HAL_TOPOLOGY_CAPABILITY_UNIFIED_MEMORY = 1u << 1,
  IREE_HAL_TOPOLOGY_CAPABILITY_PEER_COHERENT = 1u << 2,
  IREE_HAL_TOPOLOGY_CAPABILITY_HOST_COHERENT = 1u << 3,
  IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY = 1u << 4,  // without the host
  IREE_HAL_TOPOLOGY_CAPABILITY_CONCURRENT_SAFE = 1u << 5,
  IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_DEVICE = 1u << 6,
  IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_SYSTEM = 1u << 7,
  IREE_HAL_TOPOLOGY_CAPABILITY_TIMELINE_SEMAPHORE = 1u << 8,
  IREE_HAL_TOPOLOGY_CAPABILITY_BINARY_SEMAPHORE_ONLY = 1u << 9,
  IREE_HAL_TOPOLOGY_CAPABILITY_REMOTE_DMA = 1u << 10,
  IREE_HAL_TOPOLOGY_CAPABILITY_SHARED_VIRTUAL_ADDRESS = 1u << 11,
  IREE_HAL_TOPOLOGY_CAPABILITY_PEER_ACCESS_REQUIRES_GRANT = 1u << 12,  // for each allocation
};
typedef uint16_t iree_hal_topology_capability_t;

typedef uint64_t iree_hal_topology_edge_scheduling_word_t;
typedef uint64_t iree_hal_topology_edge_interop_word_t;

// From a source device to a destination: how the destination waits for what the source signals, reads and writes the
// source's buffers, and what that costs (0, nothing, to 15).
typedef struct iree_hal_topology_edge_t {
  iree_hal_topology_edge_scheduling_word_t lo;
  iree_hal_topology_edge_interop_word_t hi;
} iree_hal_topology_edge_t;
static inline iree_hal_topology_edge_t iree_hal_topology_edge_empty(void) {
  iree_hal_topology_edge_t edge = {0, 0};
  return edge;
}
static inline bool iree_hal_topology_edge_is_empty(iree_hal_topology_edge_t edge) {
  return edge.lo == 0 && edge.hi == 0;
}

// Where each field is: IREE_HAL_TOPOLOGY_EDGE_<FIELD>_SHIFT and _MASK, the mask of the value.
enum iree_hal_topology_edge_layout_e {
#define FIELD(word, name, NAME, type, shift, bits) \
  IREE_HAL_TOPOLOGY_EDGE_##NAME##_SHIFT = (shift), IREE_HAL_TOPOLOGY_EDGE_##NAME##_MASK = (1 << (bits)) - 1,
#include "iree/hal/topology_fields.def"
};

#define FIELD(word_kind, name, NAME, type, shift, bits)                                                \
  static inline type iree_hal_topology_edge_##name(iree_hal_topology_edge_##word_kind##_word_t word) { \
    return (type)(word >> (shift) & (((uint64_t)1 << (bits)) - 1));                                    \
  }
#include "iree/hal/topology_fields.def"

// Who made a semaphore or a buffer.
typedef struct iree_hal_resource_origin_t {
  iree_hal_topology_edge_scheduling_word_t self_edge;
  uint32_t topology_index;  // DEVICE_ORDINAL_INVALID when in no topology
} iree_hal_resource_origin_t;
static inline iree_hal_resource_origin_t iree_hal_resource_origin_undefined(void) {
  iree_hal_resource_origin_t origin = {0, IREE_HAL_TOPOLOGY_DEVICE_ORDINAL_INVALID};
  return origin;
}

typedef struct iree_hal_topology_t {
  uint32_t device_count;
  // From i to j at [i * device_count + j].
  iree_hal_topology_edge_t edges[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT * IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
  uint8_t numa_nodes[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
} iree_hal_topology_t;
static inline iree_hal_topology_t iree_hal_topology_empty(void) {
  iree_hal_topology_t topology;
  memset(&topology, 0, sizeof(topology));
  return topology;
}
static inline bool iree_hal_topology_is_empty(const iree_hal_topology_t* topology) {
  return topology->device_count == 0;
}
static inline uint32_t iree_hal_topology_device_count(const iree_hal_topology_t* topology) {
  return topology->device_count;
}
// The empty edge when an ordinal is out of range.
static inline iree_hal_topology_edge_t iree_hal_topology_query_edge(const iree_hal_topology_t* topology,
                                                                    uint32_t src_ordinal, uint32_t dst_ordinal) {
  if (src_ordinal >= topology->device_count || dst_ordinal >= topology->device_count) {
    return iree_hal_topology_edge_empty();
  }
  return topology->edges[src_ordinal * topology->device_count + dst_ordinal];
}

// What can be said of an edge from what its devices say of themselves. One driver's devices share by themselves;
// devices of two drivers by handles that one exports and the other imports, or else by copies and the host's waiting.
// The same device on both sides gives the edge to itself.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_from_capabilities(
    const iree_hal_device_capabilities_t* src_caps, const iree_hal_device_capabilities_t* dst_caps,
    iree_string_view_t src_driver_name, iree_string_view_t dst_driver_name);

// "wait=native signal=copy read=copy/native write=copy/native link=host_staged costs=8/8/12", buffers that are not
// coherent before those that are.
IREE_API_EXPORT iree_status_t iree_hal_topology_edge_format(iree_hal_topology_edge_t edge,
                                                            iree_string_builder_t* builder);
// A line "source -> destination: edge" for each pair.
IREE_API_EXPORT iree_status_t iree_hal_topology_dump_matrix(const iree_hal_topology_t* topology,
                                                            iree_string_builder_t* builder);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_TOPOLOGY_H_
