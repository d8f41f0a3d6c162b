// What loader_test.c loads: a kernel with workgroup and scratch memory, a variable, and a pointer that is relocated.
__attribute__((visibility("default"))) global int counter = 41;
__attribute__((visibility("default"))) global int* pointer = &counter;

__attribute__((reqd_work_group_size(64, 1, 1))) kernel void gather(global int* out, global const int* in, int n) {
  local int group[64];
  volatile int copy[8];
  int lane = __builtin_amdgcn_workitem_id_x();
  for (int i = 0; i < 8; ++i) copy[i] = in[i];
  group[lane] = copy[(n + lane) & 7] + *pointer;
  __builtin_amdgcn_s_barrier();
  out[lane] = group[63 - lane];
}
