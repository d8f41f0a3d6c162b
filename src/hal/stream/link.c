// What connects two GPUs, as the vendor's library tells: HIP knows the kind of link; CUDA whether atomic operations go
// over it, as they do over NVLink and not over PCIe.
#include "hal/gpu/link.h"

#include "hal/stream/device.h"

enum { NATIVE_ATOMICS = 3 };  // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED

// As far as the library tells where they are.
static bool have_same_root(const stream_api_t* api, int device, int peer) {
  static const stream_attribute_t places[] = {STREAM_PCI_DOMAIN, STREAM_HOST_NUMA_NODE};
  for (size_t i = 0; i < IREE_ARRAYSIZE(places); ++i) {
    if (stream_api_attribute(api, device, places[i]) != stream_api_attribute(api, peer, places[i])) return false;
  }
  return true;
}

static iree_status_t find_type(const stream_api_t* api, int device, int peer, uint32_t* out_type) {
  *out_type = GPU_LINK_PCIE;
  if (api->device_link) {
    uint32_t hops = 0;
    return STREAM_CALL(api, device_link, device, peer, out_type, &hops);
  }
  int has_atomics = 0;
  if (!api->device_peer_attribute) return iree_ok_status();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_peer_attribute, &has_atomics, NATIVE_ATOMICS, device, peer));
  if (has_atomics) *out_type = GPU_LINK_XGMI;  // or NVLink
  return iree_ok_status();
}

iree_status_t stream_link_find(const stream_api_t* api, int device, int peer,
                               iree_hal_topology_link_class_t* out_link) {
  int can = 0;
  uint32_t type = GPU_LINK_PCIE;
  *out_link = device == peer ? IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE : IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED;
  if (device == peer || !api->device_can_access) return iree_ok_status();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_can_access, &can, device, peer));
  if (!can) return iree_ok_status();
  IREE_RETURN_IF_ERROR(find_type(api, device, peer, &type));
  *out_link = gpu_link_class(type, have_same_root(api, device, peer));
  return iree_ok_status();
}
