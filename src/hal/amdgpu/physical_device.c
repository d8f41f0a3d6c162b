// Making of physical devices.
#include "hal/amdgpu/physical_device.h"

#include "hal/amdgpu/host_queue.h"

iree_status_t physical_device_initialize(logical_device_t* device, uint32_t queue_count, physical_device_t* physical) {
  IREE_RETURN_IF_ERROR(library_create(device->system->hsa, physical->gpu, &physical->library));
  for (uint32_t i = 0; i < queue_count; ++i) {
    IREE_RETURN_IF_ERROR(host_queue_create(device, physical, &physical->queues[i]));
    physical->queue_count = i + 1;
  }
  return iree_ok_status();
}

void physical_device_deinitialize(const libhsa_t* hsa, physical_device_t* physical) {
  for (uint32_t i = 0; i < physical->queue_count; ++i) physical->queues[i]->vtable->destroy(physical->queues[i]);
  physical->queue_count = 0;
  library_destroy(hsa, &physical->library);
}
