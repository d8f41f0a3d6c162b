// What the files of the device library share. They are built by clang for each instruction set (device.cmake), linked
// to one code object and embedded in the runtime; the host's side is blit.c of the folder above.
#ifndef IREE_C_HAL_AMDGPU_DEVICE_DEVICE_H_
#define IREE_C_HAL_AMDGPU_DEVICE_DEVICE_H_

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef uint32_t uint32x4_t __attribute__((ext_vector_type(4)));

#define GLOBAL __attribute__((address_space(1)))
// Workgroups have between `min` and `max` work-items.
#define KERNEL(min, max) \
  __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(min, max))) void

#endif  // IREE_C_HAL_AMDGPU_DEVICE_DEVICE_H_
