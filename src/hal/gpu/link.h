// What connects two GPUs.
#ifndef IREE_C_HAL_GPU_LINK_H_
#define IREE_C_HAL_GPU_LINK_H_

#include "iree/hal/topology.h"

// Kinds of links as HSA numbers them (hsa_amd_link_info_type_t), which HIP takes over.
enum { GPU_LINK_HYPERTRANSPORT = 0, GPU_LINK_QPI = 1, GPU_LINK_PCIE = 2, GPU_LINK_INFINIBAND = 3, GPU_LINK_XGMI = 4 };

// The class of such a link; `is_same_root`: of two GPUs on one PCIe root.
iree_hal_topology_link_class_t gpu_link_class(uint32_t type, bool is_same_root);
// The slower one of two.
static inline iree_hal_topology_link_class_t gpu_link_slower(iree_hal_topology_link_class_t a,
                                                             iree_hal_topology_link_class_t b) {
  return a > b ? a : b;
}

#endif  // IREE_C_HAL_GPU_LINK_H_
