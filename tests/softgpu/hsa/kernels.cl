// What kernels_test.c launches from several threads at once.

static inline unsigned barrier_of_group(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return 0;
}

// Stirs 128 numbers in workgroup memory, counts what comes by in bins there, and adds those to `totals`, which all
// launches share.
__attribute__((reqd_work_group_size(128, 1, 1))) kernel void mix(global const uint* in, global uint* out,
                                                                 global uint* totals, uint rounds) {
  local uint bins[64], tile[128];
  uint lane = __builtin_amdgcn_workitem_id_x(), at = __builtin_amdgcn_workgroup_id_x() * 128 + lane;
  if (lane < 64) bins[lane] = 0;
  tile[lane] = in[at];
  barrier_of_group();
  for (uint i = 0; i < rounds; ++i) {
    uint other = tile[(lane + 37) & 127] * 2654435761u + i;
    barrier_of_group();
    tile[lane] = tile[lane] * 33 + other;
    __atomic_fetch_add(&bins[other & 63], 1, __ATOMIC_RELAXED);
    barrier_of_group();
  }
  if (lane < 64) __atomic_fetch_add(&totals[lane], bins[lane], __ATOMIC_RELAXED);
  out[at] = tile[lane];
}

// Each workgroup waits for what the one before it wrote.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void relay(global uint* flags, global uint* values) {
  uint lane = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(), value = lane;
  if (group) {
    while (!__atomic_load_n(&flags[group - 1], __ATOMIC_ACQUIRE)) {
    }
    value = values[(group - 1) * 64 + (lane ^ 1)] + group;
  }
  values[group * 64 + lane] = value;
  barrier_of_group();
  if (lane == 0) __atomic_store_n(&flags[group], 1, __ATOMIC_RELEASE);
}

// Sets the barrier of all workgroups, as the host does before a cooperative launch.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void expect_groups(uint groups) {
  __builtin_amdgcn_ds_gws_init(groups - 1, 0);
}

// Every workgroup reads, twice, what another one wrote before all had come to the barrier.
__attribute__((reqd_work_group_size(128, 1, 1))) kernel void together(global uint* data, uint groups) {
  uint lane = __builtin_amdgcn_workitem_id_x(), all = groups * 128;
  uint at = __builtin_amdgcn_workgroup_id_x() * 128 + lane, value = at;
  for (uint round = 0; round < 2; ++round) {
    data[round * all + at] = value;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    barrier_of_group();
    if (lane == 0) __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
    barrier_of_group();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    value = data[round * all + all - 1 - at] + 1;
  }
  data[2 * all + at] = value;
}
