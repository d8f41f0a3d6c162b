// The test functions for NVIDIA GPUs, in the order of kernels.h, as kernels_amdgpu.c has them for AMD's.
#define KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

#define GROUP_X __nvvm_read_ptx_sreg_ctaid_x()
#define GROUP_Y __nvvm_read_ptx_sreg_ctaid_y()
#define GROUP_Z __nvvm_read_ptx_sreg_ctaid_z()
#define COUNT_X __nvvm_read_ptx_sreg_nctaid_x()
#define COUNT_Y __nvvm_read_ptx_sreg_nctaid_y()
#define COUNT_Z __nvvm_read_ptx_sreg_nctaid_z()

static uint linear_group(void) { return (GROUP_Z * COUNT_Y + GROUP_Y) * COUNT_X + GROUP_X; }

static void add_one(global uint* out) {
  __opencl_atomic_fetch_add((volatile global atomic_uint*)out, 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}

KERNEL empty(void) {}

KERNEL scale(const global uint* in, global uint* out, uint factor, uint offset) {
  uint i = linear_group();
  out[i] = in[i] * factor + offset;
}

KERNEL ids(global uint* out) {
  out[linear_group()] = GROUP_X | GROUP_Y << 8 | GROUP_Z << 16 | (COUNT_X * COUNT_Y * COUNT_Z) << 24;
}

KERNEL accumulate(global uint* out) { add_one(out); }

KERNEL scratch(global uint* out) {
  local volatile uint memory[2048];
  uint group = GROUP_X, bad = 0;
  for (uint i = 0; i < 2048; ++i) memory[i] = group + i;
  for (uint i = 0; i < 2048; ++i) bad |= memory[i] ^ (group + i);
  if (!bad) out[group] = group;
}

KERNEL fail(uint group) {
  if (linear_group() == group) __builtin_trap();
}

KERNEL sequential(global uint* out) {}
KERNEL constant_(global uint* out) {}

KERNEL store_count(global uint* out, uint x, uint y, uint z) {
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void wide(global uint* out) { add_one(out); }
