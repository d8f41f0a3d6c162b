// Making topologies: initialize, set every edge between two devices, finalize. A builder is plain data, for one thread.
#ifndef IREE_HAL_TOPOLOGY_BUILDER_H_
#define IREE_HAL_TOPOLOGY_BUILDER_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

// The word with another value of a field. Costs and distances above 15 are 15; other values are cut to their bits.
#define FIELD(word_kind, name, NAME, type, shift, bits)                                             \
  static inline iree_hal_topology_edge_##word_kind##_word_t iree_hal_topology_edge_set_##name(      \
      iree_hal_topology_edge_##word_kind##_word_t word, type value) {                               \
    const uint64_t mask = ((uint64_t)1 << (bits)) - 1;                                              \
    const uint64_t stored = (bits) == 4 ? iree_min((uint64_t)value, mask) : (uint64_t)value & mask; \
    return (word & ~(mask << (shift))) | stored << (shift);                                         \
  }
#include "iree/hal/topology_fields.def"

// A device and itself: everything native and free.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_make_self(void);
// Devices of two drivers that know nothing of each other: the host waits, and copies through its memory.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_make_cross_driver(void);

typedef struct iree_hal_topology_builder_t {
  iree_hal_topology_t topology;
  bool edges_set[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT * IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
} iree_hal_topology_builder_t;

// Of `device_count` devices, with the edges to themselves.
IREE_API_EXPORT void iree_hal_topology_builder_initialize(iree_hal_topology_builder_t* builder, uint32_t device_count);
// Errors: OUT_OF_RANGE; INVALID_ARGUMENT for an edge of a device to itself that is not
// iree_hal_topology_edge_make_self.
IREE_API_EXPORT iree_status_t iree_hal_topology_builder_set_edge(iree_hal_topology_builder_t* builder,
                                                                 uint32_t src_ordinal, uint32_t dst_ordinal,
                                                                 iree_hal_topology_edge_t edge);
IREE_API_EXPORT iree_status_t iree_hal_topology_builder_set_numa_node(iree_hal_topology_builder_t* builder,
                                                                      uint32_t device_ordinal, uint8_t numa_node);
// Errors: INVALID_ARGUMENT for no devices or too many, an edge that is not set, and two devices that disagree on their
// link.
IREE_API_EXPORT iree_status_t iree_hal_topology_builder_finalize(iree_hal_topology_builder_t* builder,
                                                                 iree_hal_topology_t* out_topology);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_TOPOLOGY_BUILDER_H_
