// Widths of waves that an instruction set has, and how its floats round and trap. Handles of widths are pointers into
// the table below.
#include "softgpu/hsa/runtime.h"

static const uint32_t widths[] = {32, 64};
enum { WIDTH_COUNT = sizeof(widths) / sizeof(widths[0]) };

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t handle,
                                        hsa_status_t (*callback)(hsa_wavefront_t wavefront, void* data), void* data) {
  REQUIRE_OPEN();
  const isa_t* isa = runtime_isa(handle);
  REQUIRE(isa, HSA_STATUS_ERROR_INVALID_ISA);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = isa_has_wave32(isa->agent->target) ? 0 : 1; i < WIDTH_COUNT; ++i) {
    hsa_status_t status = callback((hsa_wavefront_t){(uint64_t)&widths[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t handle, hsa_wavefront_info_t attribute, void* out) {
  REQUIRE_OPEN();
  const uint32_t* width = (const uint32_t*)handle.handle;
  REQUIRE(width == &widths[0] || width == &widths[1], HSA_STATUS_ERROR_INVALID_WAVEFRONT);
  REQUIRE(out && attribute == HSA_WAVEFRONT_INFO_SIZE, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *(uint32_t*)out = *width;
  return HSA_STATUS_SUCCESS;
}

// The instruction sets have fused multiply-add, rounded once.
hsa_status_t hsa_isa_get_round_method(hsa_isa_t handle, hsa_fp_type_t type, hsa_flush_mode_t flush,
                                      hsa_round_method_t* out) {
  REQUIRE_OPEN();
  REQUIRE(runtime_isa(handle), HSA_STATUS_ERROR_INVALID_ISA);
  REQUIRE(out && (type == HSA_FP_TYPE_16 || type == HSA_FP_TYPE_32 || type == HSA_FP_TYPE_64) &&
              (flush == HSA_FLUSH_MODE_FTZ || flush == HSA_FLUSH_MODE_NON_FTZ),
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *out = HSA_ROUND_METHOD_SINGLE;
  return HSA_STATUS_SUCCESS;
}

// Exceptions are neither detected nor do they stop a wave.
hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t handle, hsa_profile_t profile, uint16_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(runtime_isa(handle), HSA_STATUS_ERROR_INVALID_ISA);
  REQUIRE(mask && profile <= HSA_PROFILE_FULL, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t handle, hsa_profile_t profile, uint16_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(handle), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(mask && profile <= HSA_PROFILE_FULL, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}
