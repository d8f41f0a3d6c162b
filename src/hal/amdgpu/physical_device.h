// Physical devices: one GPU of a logical device, with the kernels of the device library loaded for it, its
// memory pool and its queues.
#ifndef IREE_C_HAL_AMDGPU_PHYSICAL_DEVICE_H_
#define IREE_C_HAL_AMDGPU_PHYSICAL_DEVICE_H_

#include "hal/amdgpu/library.h"
#include "hal/pool.h"

#define PHYSICAL_DEVICE_MAX_QUEUES 8

typedef struct logical_device_t logical_device_t;

// How a queue waits for the value of a signal.
typedef enum {
  WAIT_PACKET_NONE,  // not at all: the host does
  WAIT_PACKET_BARRIER_VALUE,
  WAIT_PACKET_MEMORY,  // commands of its own format that watch the signal's memory
} wait_packet_t;

// Which commands of its own a GPU takes from command buffers.
typedef enum { PM4_FORMAT_NONE, PM4_FORMAT_GFX9, PM4_FORMAT_GFX10 } pm4_format_t;

typedef struct physical_device_t {
  const system_gpu_t* gpu;
  uint32_t ordinal;  // within the logical device
  wait_packet_t wait_packet;
  pm4_format_t pm4_format;
  library_t library;
  hal_pool_t* pool;  // of its own memory, with those of memory that the host sees, for queue-ordered allocations
} physical_device_t;

// Fills in a zeroed `physical`, of which `gpu` and `ordinal` are set, and makes its queues. What was made before an
// error is for physical_device_deinitialize.
iree_status_t physical_device_initialize(logical_device_t* device, physical_device_t* physical);
// Nothing may be in flight.
void physical_device_deinitialize(logical_device_t* device, physical_device_t* physical);

#endif  // IREE_C_HAL_AMDGPU_PHYSICAL_DEVICE_H_
