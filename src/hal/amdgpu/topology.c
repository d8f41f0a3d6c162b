// Device paths.
#include "hal/amdgpu/topology.h"

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

static iree_status_t parse_device(const system_t* system, iree_string_view_t text, uint64_t* mask) {
  uint32_t ordinal = 0;
  if (iree_string_view_starts_with(text, IREE_SV("GPU-")) || iree_string_view_starts_with(text, IREE_SV("gpu-"))) {
    while (ordinal < system->gpu_count &&
           !iree_string_view_equal_case(text, iree_make_cstring_view(system->gpus[ordinal].uuid))) {
      ++ordinal;
    }
    if (ordinal == system->gpu_count) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "no GPU agent with UUID `%.*s` found", (int)text.size, text.data);
    }
  } else if (!iree_string_view_atoi_uint32(text, &ordinal)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "invalid device specifier `%.*s`; expected an ordinal (`0`) or a device UUID "
                            "(`GPU-XX...`)",
                            (int)text.size, text.data);
  } else if (ordinal >= system->gpu_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device ordinal `%u` out of range; %u GPU devices available",
                            ordinal, system->gpu_count);
  }
  if (*mask >> ordinal & 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device `%.*s` is named twice", (int)text.size, text.data);
  }
  *mask |= 1ull << ordinal;
  return iree_ok_status();
}

iree_status_t topology_parse(const system_t* system, iree_string_view_t path, uint64_t* out_mask) {
  *out_mask = 0;
  if (path.size == 0 || iree_string_view_equal(path, IREE_SV("*"))) {
    *out_mask = topology_default(system);
    return iree_ok_status();
  }
  for (iree_string_view_t rest = path; rest.size;) {
    iree_string_view_t item;
    iree_string_view_split(rest, ',', &item, &rest);
    IREE_RETURN_IF_ERROR(parse_device(system, item, out_mask));
  }
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
