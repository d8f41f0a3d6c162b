// What lifetime_test.c copies, unloads and leaves running.
kernel void one(global uint* out) { out[__builtin_amdgcn_workitem_id_x()] = 1; }
kernel void two(global uint* out) { out[__builtin_amdgcn_workitem_id_x()] = 2; }

// Runs until out[1] is not 0, and says when it has begun and ended.
kernel void spin(global uint* out) {
  __atomic_store_n(&out[0], 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&out[1], __ATOMIC_ACQUIRE)) {
  }
  __atomic_store_n(&out[2], 3, __ATOMIC_RELEASE);
}

// The first wave of a workgroup never comes to the barrier.
kernel void hold(global uint* out) {
  __atomic_store_n(&out[0], 1, __ATOMIC_RELEASE);
  if (__builtin_amdgcn_workitem_id_x() < 64) {
    while (!__atomic_load_n(&out[1], __ATOMIC_ACQUIRE)) {
    }
  }
  __builtin_amdgcn_s_barrier();
  __atomic_store_n(&out[2], 3, __ATOMIC_RELEASE);
}
