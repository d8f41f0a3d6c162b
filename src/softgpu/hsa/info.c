// What the system, caches and instruction sets say of themselves; agents are in agent_info.c.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/hsa/runtime.h"

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void* data), void* data) {
  REQUIRE_OPEN();
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    hsa_status_t status = callback((hsa_agent_t){(uint64_t)&runtime.agents[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch ((int)attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
      *(uint16_t*)out = 1;
      break;
    case HSA_SYSTEM_INFO_VERSION_MINOR:
      *(uint16_t*)out = 1;
      break;
    case HSA_SYSTEM_INFO_TIMESTAMP:
      *(uint64_t*)out = runtime_timestamp();
      break;
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
      *(uint64_t*)out = 1000000000;
      break;
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
      *(uint64_t*)out = UINT64_MAX;
      break;
    case HSA_SYSTEM_INFO_ENDIANNESS:
      *(hsa_endianness_t*)out = HSA_ENDIANNESS_LITTLE;
      break;
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
      *(hsa_machine_model_t*)out = HSA_MACHINE_MODEL_LARGE;
      break;
    case HSA_SYSTEM_INFO_EXTENSIONS:
      memset(out, 0, 128);
      ((uint8_t*)out)[HSA_EXTENSION_AMD_LOADER / 8 % 128] |= 1u << HSA_EXTENSION_AMD_LOADER % 8;
      break;
    case 0x200:
      *(const char**)out = "software GPU";
      break;  // BUILD_VERSION
    case 0x201:
      *(bool*)out = true;
      break;  // SVM_SUPPORTED
    case 0x202:
      *(bool*)out = false;
      break;  // SVM_ACCESSIBLE_BY_DEFAULT
    case 0x203:
      *(bool*)out = false;
      break;  // MWAITX_ENABLED
    case 0x204:
      *(bool*)out = false;
      break;  // DMABUF_SUPPORTED
    case 0x205:
      *(bool*)out = true;
      break;  // VIRTUAL_MEM_API_SUPPORTED
    case 0x206:
      *(bool*)out = false;
      break;  // XNACK_ENABLED
    case 0x207:
      *(uint16_t*)out = 1;
      break;  // EXT_VERSION_MAJOR
    case 0x208:
      *(uint16_t*)out = 11;
      break;  // EXT_VERSION_MINOR
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

// Caches: handles are agent and level.

static agent_t* cache_agent(hsa_cache_t cache, uint32_t* level) {
  *level = (uint32_t)(cache.handle >> 56);
  agent_t* agent = runtime_agent((hsa_agent_t){cache.handle & (UINT64_MAX >> 8)});
  uint32_t sizes[AGENT_CACHE_LEVELS];
  if (!agent || *level - 1 >= AGENT_CACHE_LEVELS) return NULL;
  agent_cache_sizes(agent, sizes);
  return sizes[*level - 1] ? agent : NULL;
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t handle, hsa_status_t (*callback)(hsa_cache_t cache, void* data),
                                      void* data) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint32_t sizes[AGENT_CACHE_LEVELS];
  agent_cache_sizes(agent, sizes);
  for (uint64_t i = 0; i < AGENT_CACHE_LEVELS; ++i) {
    if (!sizes[i]) continue;
    hsa_status_t status = callback((hsa_cache_t){handle.handle | (i + 1) << 56}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t handle, hsa_cache_info_t attribute, void* out) {
  REQUIRE_OPEN();
  uint32_t level, sizes[AGENT_CACHE_LEVELS];
  const agent_t* agent = cache_agent(handle, &level);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_CACHE);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  agent_cache_sizes(agent, sizes);
  char name[80], device[64];
  agent_name(agent, device);
  snprintf(name, sizeof(name), "%s L%u", device, level);
  switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
      *(uint32_t*)out = (uint32_t)strlen(name);
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_NAME:
      memcpy(out, name, strlen(name));
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
      *(uint8_t*)out = (uint8_t)level;
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_SIZE:
      *(uint32_t*)out = sizes[level - 1];
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// Instruction sets

// How many to name: HIP before version 6 knows no generic ones and gives up a device that has more than its own.
static uint32_t count_isas(const agent_t* agent) {
  void* old_hip = dlopen("libamdhip64.so.5", RTLD_LAZY | RTLD_NOLOAD);
  if (!old_hip) return agent->isa_count;
  dlclose(old_hip);
  return 1;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t isa, void* data),
                                    void* data) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(agent->isa_count, HSA_STATUS_ERROR_INVALID_AGENT);
  for (uint32_t i = 0, count = count_isas(agent); i < count; ++i) {
    hsa_status_t status = callback((hsa_isa_t){(uint64_t)&agent->isas[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* out) {
  REQUIRE_OPEN();
  REQUIRE(name && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    for (uint32_t k = 0; k < runtime.agents[i].isa_count; ++k) {
      isa_t* isa = &runtime.agents[i].isas[k];
      const char* settings = strchr(isa->name, ':');
      size_t plain = settings ? (size_t)(settings - isa->name) : strlen(isa->name);
      if (strcmp(isa->name, name) != 0 && (strlen(name) != plain || strncmp(isa->name, name, plain) != 0)) continue;
      out->handle = (uint64_t)isa;
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t handle, hsa_isa_info_t attribute, void* out) {
  REQUIRE_OPEN();
  isa_t* isa = runtime_isa(handle);
  REQUIRE(isa, HSA_STATUS_ERROR_INVALID_ISA);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch ((int)attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
      *(uint32_t*)out = (uint32_t)strlen(isa->name) + 1;
      break;
    case HSA_ISA_INFO_NAME:
      memcpy(out, isa->name, strlen(isa->name) + 1);
      break;
    case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
      *(uint32_t*)out = 1;
      break;
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
      *(uint32_t*)out = isa->agent->target->wave;
      break;
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
      *(uint32_t*)out = 32;
      break;
    case HSA_ISA_INFO_MACHINE_MODELS:
      ((bool*)out)[0] = false, ((bool*)out)[1] = true;
      break;
    case HSA_ISA_INFO_PROFILES:
      ((bool*)out)[0] = true, ((bool*)out)[1] = false;
      break;
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      for (int i = 0; i < 3; ++i) ((bool*)out)[i] = i == HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
      break;
    case HSA_ISA_INFO_FAST_F16_OPERATION:
      *(bool*)out = true;
      break;
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
      for (int i = 0; i < 3; ++i) ((uint16_t*)out)[i] = 1024;
      break;
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
      *(uint32_t*)out = 1024;
      break;
    case HSA_ISA_INFO_GRID_MAX_DIM:
      *(hsa_dim3_t*)out = (hsa_dim3_t){INT32_MAX, 65535, 65535};
      break;
    case HSA_ISA_INFO_GRID_MAX_SIZE:
      *(uint64_t*)out = UINT64_MAX;
      break;
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
      *(uint32_t*)out = 32;
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void* out) {
  return hsa_isa_get_info_alt(isa, attribute, out);
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool* result) {
  REQUIRE_OPEN();
  isa_t *a = runtime_isa(code), *b = runtime_isa(agent);
  REQUIRE(a && b, HSA_STATUS_ERROR_INVALID_ISA);
  REQUIRE(result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *result = strcmp(a->name, b->name) == 0;
  return HSA_STATUS_SUCCESS;
}

// STATUS(value, name); the last are newer than version 5.2.
#define STATUSES(STATUS)                                                                             \
  STATUS(HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS")                                                   \
  STATUS(HSA_STATUS_INFO_BREAK, "HSA_STATUS_INFO_BREAK")                                             \
  STATUS(HSA_STATUS_ERROR, "HSA_STATUS_ERROR")                                                       \
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT")                     \
  STATUS(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION")         \
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION")                 \
  STATUS(HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT")                           \
  STATUS(HSA_STATUS_ERROR_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION")                         \
  STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL, "HSA_STATUS_ERROR_INVALID_SIGNAL")                         \
  STATUS(HSA_STATUS_ERROR_INVALID_QUEUE, "HSA_STATUS_ERROR_INVALID_QUEUE")                           \
  STATUS(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES")                     \
  STATUS(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT")           \
  STATUS(HSA_STATUS_ERROR_RESOURCE_FREE, "HSA_STATUS_ERROR_RESOURCE_FREE")                           \
  STATUS(HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED")                       \
  STATUS(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW")                   \
  STATUS(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS")         \
  STATUS(HSA_STATUS_ERROR_INVALID_INDEX, "HSA_STATUS_ERROR_INVALID_INDEX")                           \
  STATUS(HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA")                               \
  STATUS(HSA_STATUS_ERROR_INVALID_ISA_NAME, "HSA_STATUS_ERROR_INVALID_ISA_NAME")                     \
  STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT")               \
  STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE, "HSA_STATUS_ERROR_INVALID_EXECUTABLE")                 \
  STATUS(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE")                   \
  STATUS(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME")               \
  STATUS(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED")     \
  STATUS(HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED")                 \
  STATUS(HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION")                                   \
  STATUS(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL")               \
  STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL")   \
  STATUS(HSA_STATUS_ERROR_INVALID_FILE, "HSA_STATUS_ERROR_INVALID_FILE")                             \
  STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER") \
  STATUS(HSA_STATUS_ERROR_INVALID_CACHE, "HSA_STATUS_ERROR_INVALID_CACHE")                           \
  STATUS(HSA_STATUS_ERROR_INVALID_WAVEFRONT, "HSA_STATUS_ERROR_INVALID_WAVEFRONT")                   \
  STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP")             \
  STATUS(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE")           \
  STATUS(HSA_STATUS_ERROR_FATAL, "HSA_STATUS_ERROR_FATAL")                                           \
  STATUS(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL")               \
  STATUS(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION")   \
  STATUS(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION")               \
  STATUS(HSA_STATUS_ERROR_MEMORY_FAULT, "HSA_STATUS_ERROR_MEMORY_FAULT")                             \
  STATUS(44, "HSA_STATUS_CU_MASK_REDUCED")                                                           \
  STATUS(45, "HSA_STATUS_ERROR_OUT_OF_REGISTERS")                                                    \
  STATUS(46, "HSA_STATUS_ERROR_RESOURCE_BUSY")                                                       \
  STATUS(47, "HSA_STATUS_ERROR_NOT_SUPPORTED")

hsa_status_t hsa_status_string(hsa_status_t status, const char** out) {
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch ((int)status) {
#define STATUS(value, name) \
  case value:               \
    return *out = name, HSA_STATUS_SUCCESS;
    STATUSES(STATUS)
#undef STATUS
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}
