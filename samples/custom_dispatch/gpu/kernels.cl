// The kernels of kernels.ptx in OpenCL C, for AMD GPUs:
//   clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib -O2 kernels.cl -o kernels_gfx1100.hsaco
// Bindings are the first parameters, in order; constants follow, 32 bits each.
enum { THREADS = 64 };

static int element(void) { return (int)(__builtin_amdgcn_workgroup_id_x() * THREADS + __builtin_amdgcn_workitem_id_x()); }

kernel void scale_add(global const float* x, global const float* y, global float* out, int n, float factor) {
  int i = element();
  if (i < n) out[i] = x[i] * factor + y[i];
}

kernel void subtract_from(global const float* x, global float* y, int n) {
  int i = element();
  if (i < n) y[i] -= x[i];
}
