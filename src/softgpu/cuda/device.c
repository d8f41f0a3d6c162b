// Devices: names, attributes, and what connects them.
#include <stdio.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/driver.h"

enum { LAST_ATTRIBUTE = 147 };

static result_t find(int ordinal, device_t** out_device) {
  CHECK(driver_enter());
  *out_device = driver_device(ordinal);
  return *out_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

result_t cuDeviceGetCount(int* out) {
  CHECK(driver_enter());
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = (int)driver.device_count;
  return CUDA_SUCCESS;
}

result_t cuDeviceGet(int* out, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = ordinal;
  return CUDA_SUCCESS;
}

result_t cuDeviceGetName(char* out, int capacity, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out && capacity > 0, CUDA_ERROR_INVALID_VALUE);
  snprintf(out, (size_t)capacity, "%s", device->target->product);
  return CUDA_SUCCESS;
}

result_t cuDeviceGetUuid(uint8_t* out, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  memcpy(out, device->uuid, sizeof(device->uuid));
  return CUDA_SUCCESS;
}
result_t cuDeviceGetUuid_v2(uint8_t* out, int ordinal) { return cuDeviceGetUuid(out, ordinal); }

result_t cuDeviceTotalMem_v2(size_t* out, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = device->target->memory;
  return CUDA_SUCCESS;
}

static int attribute(int number, const device_t* d) {
  const nv_target_t* t = d->target;
  switch (number) {
#define ATTRIBUTE(number, value) \
  case number:                   \
    return value;
#include "softgpu/cuda/attributes.def"
    default:
      return 0;
  }
}

result_t cuDeviceGetAttribute(int* out, int number, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out && number > 0 && number <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  *out = attribute(number, device);
  return CUDA_SUCCESS;
}

result_t cuDeviceComputeCapability(int* out_major, int* out_minor, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out_major && out_minor, CUDA_ERROR_INVALID_VALUE);
  *out_major = attribute(75, device);
  *out_minor = attribute(76, device);
  return CUDA_SUCCESS;
}

result_t cuDeviceGetProperties(device_props_t* out, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = (device_props_t){.max_threads = attribute(1, device),
                          .max_block = {attribute(2, device), attribute(3, device), attribute(4, device)},
                          .max_grid = {attribute(5, device), attribute(6, device), attribute(7, device)},
                          .shared = attribute(8, device),
                          .constant = attribute(9, device),
                          .warp = attribute(10, device),
                          .pitch = attribute(11, device),
                          .registers = attribute(12, device),
                          .clock = attribute(13, device),
                          .texture_alignment = attribute(14, device)};
  return CUDA_SUCCESS;
}

result_t cuDeviceGetExecAffinitySupport(int* out, int type, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = 0;
  return CUDA_SUCCESS;
}

result_t cuDeviceGetPCIBusId(char* out, int capacity, int ordinal) {
  device_t* device;
  CHECK(find(ordinal, &device));
  REQUIRE(out && capacity > 0, CUDA_ERROR_INVALID_VALUE);
  snprintf(out, (size_t)capacity, "0000:%02x:00.0", device->ordinal + 1);
  return CUDA_SUCCESS;
}

result_t cuDeviceGetByPCIBusId(int* out, const char* text) {
  unsigned domain = 0, bus = 0, slot = 0;
  CHECK(driver_enter());
  REQUIRE(out && text, CUDA_ERROR_INVALID_VALUE);
  if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    REQUIRE(sscanf(text, "%x:%x", &bus, &slot) == 2, CUDA_ERROR_INVALID_VALUE);
  }
  REQUIRE(domain == 0 && slot == 0 && bus >= 1 && bus <= driver.device_count, CUDA_ERROR_INVALID_DEVICE);
  *out = (int)bus - 1;
  return CUDA_SUCCESS;
}

result_t cuDeviceCanAccessPeer(int* out, int ordinal, int peer) {
  device_t *device, *other;
  CHECK(find(ordinal, &device));
  CHECK(find(peer, &other));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = device != other;
  return CUDA_SUCCESS;
}

result_t cuDeviceGetP2PAttribute(int* out, int number, int ordinal, int peer) {
  enum { RANK = 1, ACCESS = 2, ATOMICS = 3, ARRAYS = 4 };
  device_t *device, *other;
  CHECK(find(ordinal, &device));
  CHECK(find(peer, &other));
  REQUIRE(out && number >= RANK && number <= ARRAYS, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(device != other, CUDA_ERROR_INVALID_DEVICE);
  *out = number == ACCESS || number == ATOMICS;
  return CUDA_SUCCESS;
}
