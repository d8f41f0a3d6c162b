// Links of GPUs, as classes of a topology.
#include "hal/gpu/link.h"

iree_hal_topology_link_class_t gpu_link_class(uint32_t type, bool is_same_root) {
  switch (type) {
    case GPU_LINK_XGMI:
      return IREE_HAL_TOPOLOGY_LINK_CLASS_NVLINK_IF;
    case GPU_LINK_PCIE:
      return is_same_root ? IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT : IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_CROSS_ROOT;
    case GPU_LINK_HYPERTRANSPORT:
    case GPU_LINK_QPI:
      return IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_CROSS_ROOT;  // from socket to socket
    case GPU_LINK_INFINIBAND:
      return IREE_HAL_TOPOLOGY_LINK_CLASS_FABRIC;
    default:
      return IREE_HAL_TOPOLOGY_LINK_CLASS_OTHER;
  }
}
