// What pm4_dispatch_test.c launches by AQL and by PM4.

// Says where each work-item is, by way of workgroup memory; `size` is the workgroup's.
kernel void place(global uint* out, uint width, uint height, uint size_x, uint size_y, uint size_z) {
  local uint tile[512];
  uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  uint group_x = __builtin_amdgcn_workgroup_id_x(), group_y = __builtin_amdgcn_workgroup_id_y(),
       group_z = __builtin_amdgcn_workgroup_id_z();
  uint at = x + size_x * (y + size_y * z);
  tile[at] = x | y << 8 | z << 16;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  uint global_x = group_x * size_x + x, global_y = group_y * size_y + y, global_z = group_z * size_z + z;
  out[global_x + width * (global_y + height * global_z)] =
      tile[at] * 2654435761u + (group_x | group_y << 8 | group_z << 16) + 1;
}

// Scratch: each work-item turns eight numbers by its place.
kernel void turn(global uint* out, uint start) {
  volatile uint ring[8];
  uint x = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x();
  for (uint i = 0; i < 8; ++i) ring[(i + x) & 7] = start * (i + 1) + group;
  uint sum = 0;
  for (uint i = 0; i < 8; ++i) sum = sum * 31 + ring[i];
  out[group * 64 + x] = sum;
}

// Writes words of a packet that comes later.
kernel void patch(global uint* words, ulong value) {
  words[0] = (uint)value;
  words[1] = (uint)(value >> 32);
}
