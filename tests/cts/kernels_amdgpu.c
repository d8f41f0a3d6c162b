// The test functions for AMD GPUs, in the order of kernels.h, one work-item to a workgroup but for `wide`. Those that a
// GPU cannot express (running in order, specialization constants) do nothing; their tests are skipped. Failing is a
// trap.
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;

#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(1, 1))) void

// Workgroups of the grid along an axis: grid_size of the dispatch packet, at byte 12.
static uint32_t group_count(int axis) {
  const __attribute__((address_space(4))) uint32_t* packet =
      (const __attribute__((address_space(4))) uint32_t*)__builtin_amdgcn_dispatch_ptr();
  return packet[3 + axis];
}

static uint32_t linear_group(void) {
  return (__builtin_amdgcn_workgroup_id_z() * group_count(1) + __builtin_amdgcn_workgroup_id_y()) * group_count(0) +
         __builtin_amdgcn_workgroup_id_x();
}

KERNEL empty(void) {}

KERNEL scale(const GLOBAL uint32_t* in, GLOBAL uint32_t* out, uint32_t factor, uint32_t offset) {
  uint32_t i = linear_group();
  out[i] = in[i] * factor + offset;
}

KERNEL ids(GLOBAL uint32_t* out) {
  out[linear_group()] = __builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() << 8 |
                        __builtin_amdgcn_workgroup_id_z() << 16 |
                        (group_count(0) * group_count(1) * group_count(2)) << 24;
}

KERNEL accumulate(GLOBAL uint32_t* out) { __atomic_fetch_add(out, 1, __ATOMIC_RELAXED); }

KERNEL scratch(GLOBAL uint32_t* out) {
  static LOCAL volatile uint32_t memory[2048] __attribute__((loader_uninitialized));
  uint32_t group = __builtin_amdgcn_workgroup_id_x(), bad = 0;
  for (uint32_t i = 0; i < 2048; ++i) memory[i] = group + i;
  for (uint32_t i = 0; i < 2048; ++i) bad |= memory[i] ^ (group + i);
  if (!bad) out[group] = group;
}

KERNEL fail(uint32_t group) {
  if (linear_group() == group) __builtin_trap();
}

KERNEL sequential(GLOBAL uint32_t* out) {}
KERNEL constant(GLOBAL uint32_t* out) {}

KERNEL store_count(GLOBAL uint32_t* out, uint32_t x, uint32_t y, uint32_t z) {
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

__attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(64, 64))) void wide(
    GLOBAL uint32_t* out) {
  __atomic_fetch_add(out, 1, __ATOMIC_RELAXED);
}
