// Device paths.
#include "hal/amdgpu/topology.h"

#include "hal/gpu/path.h"

static bool are_alike(const system_gpu_t* a, const system_gpu_t* b) {
  return !strcmp(a->isa, b->isa) && a->chip_id == b->chip_id;
}

uint64_t topology_default(const system_t* system) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    if (are_alike(&system->gpus[0], &system->gpus[i])) mask |= 1ull << i;
  }
  return mask;
}

static iree_status_t uuid_of(const void* user_data, uint32_t ordinal, char out_uuid[GPU_PATH_UUID_SIZE]) {
  snprintf(out_uuid, GPU_PATH_UUID_SIZE, "%s", ((const system_t*)user_data)->gpus[ordinal].uuid);
  return iree_ok_status();
}

iree_status_t topology_parse(const system_t* system, iree_string_view_t path, uint64_t* out_mask) {
  *out_mask = 0;
  if (path.size == 0 || iree_string_view_equal(path, IREE_SV("*"))) {
    *out_mask = topology_default(system);
    return iree_ok_status();
  }
  const gpu_path_source_t source = {system->gpu_count, uuid_of, system};
  IREE_RETURN_IF_ERROR(gpu_path_parse(&source, path, out_mask));
  return topology_verify(system, *out_mask);
}

iree_status_t topology_verify(const system_t* system, uint64_t mask) {
  uint64_t known = system->gpu_count == 64 ? ~0ull : (1ull << system->gpu_count) - 1;
  if (!mask || mask & ~known) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "GPUs 0x%" PRIX64 " are not all there; %u are available",
                            mask, system->gpu_count);
  }
  const system_gpu_t* first = &system->gpus[__builtin_ctzll(mask)];
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    const system_gpu_t* gpu = &system->gpus[i];
    if (!(mask >> i & 1) || are_alike(first, gpu)) continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "GPUs of one device must be of one kind: %s is %s, %s is %s",
                            first->uuid, first->isa, gpu->uuid, gpu->isa);
  }
  return iree_ok_status();
}
