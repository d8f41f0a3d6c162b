// What agents, instruction sets, caches and the system say of themselves.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/hsa/runtime.h"

static void put_text(void* out, const char* text, size_t capacity) {
  memset(out, 0, capacity);
  memcpy(out, text, strlen(text) < capacity ? strlen(text) : capacity - 1);
}

// Devices as their PCI ids, by processor. PRODUCT(processor, chip id, marketing name, engines, MHz)
#define PRODUCTS(PRODUCT)                                       \
  PRODUCT("gfx906", 0x66a1, "AMD Instinct MI50", 4, 1725)       \
  PRODUCT("gfx908", 0x738c, "AMD Instinct MI100", 8, 1502)      \
  PRODUCT("gfx90a", 0x740f, "AMD Instinct MI210", 8, 1700)      \
  PRODUCT("gfx942", 0x74a1, "AMD Instinct MI300X", 32, 2100)    \
  PRODUCT("gfx950", 0x75a0, "AMD Instinct MI350X", 32, 2400)    \
  PRODUCT("gfx1030", 0x73bf, "AMD Radeon RX 6800 XT", 4, 2250)  \
  PRODUCT("gfx1100", 0x744c, "AMD Radeon RX 7900 XTX", 6, 2500) \
  PRODUCT("gfx1101", 0x747e, "AMD Radeon RX 7800 XT", 3, 2430)  \
  PRODUCT("gfx1102", 0x7480, "AMD Radeon RX 7600", 2, 2655)     \
  PRODUCT("gfx1201", 0x7550, "AMD Radeon RX 9070 XT", 4, 2970)
typedef struct product_t {
  const char* target;
  uint32_t chip;
  const char* name;
  uint32_t engines, clock;
} product_t;

static product_t product_of(const agent_t* agent) {
  static const product_t products[] = {
#define PRODUCT(...) {__VA_ARGS__},
      PRODUCTS(PRODUCT)
#undef PRODUCT
  };
  for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); ++i) {
    if (strcmp(products[i].target, agent->target->name) == 0) return products[i];
  }
  return (product_t){agent->target->name, 0x7000u + agent->target->stepping, "AMD GPU", 4, 2000};
}

static uint32_t simds(const agent_t* agent) { return agent->target->major >= 10 ? 2 : 4; }

// Attributes whose value is a number of 32 bits.
static bool gpu_number(const agent_t* agent, int attribute, uint32_t* out) {
  const isa_target_t* t = agent->target;
  product_t product = product_of(agent);
  switch (attribute) {
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
      return *out = t->wave, true;
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
      return *out = 1024, true;
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
      return *out = UINT32_MAX, true;
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
      return *out = 32, true;
    case HSA_AGENT_INFO_QUEUES_MAX:
      return *out = 128, true;
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
      return *out = 64, true;
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
      return *out = 1 << 17, true;
    case HSA_AMD_AGENT_INFO_CHIP_ID:
      return *out = product.chip, true;
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return *out = t->major == 9 ? 128 : 64, true;
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
      return *out = t->units, true;
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
      return *out = product.clock, true;
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
      return *out = 4, true;
    case HSA_AMD_AGENT_INFO_BDFID:
      return *out = (agent->ordinal + 3) << 8, true;
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
      return *out = t->major == 9 ? 4096 : 384, true;
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
      return *out = 1250, true;
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
      return *out = simds(agent) * (t->major >= 10 ? 16 : 8), true;
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
      return *out = simds(agent), true;
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
      return *out = product.engines, true;
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
      return *out = t->major >= 10 ? 2 : 1, true;
    case HSA_AMD_AGENT_INFO_DOMAIN:
      return *out = 0, true;
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
      return *out = 1, true;
    // Newer than Debian's headers.
    case 0xA107:
      return *out = t->major, true;  // ASIC_FAMILY_ID
    case 0xA108:                     // UCODE_VERSION
    case 0xA109:
      return *out = 1, true;  // SDMA_UCODE_VERSION
    case 0xA10A:
      return *out = 2, true;  // NUM_SDMA_ENG
    case 0xA10B:
      return *out = 0, true;  // NUM_SDMA_XGMI_ENG
    case 0xA110:
      return *out = 0, true;  // IOMMU_SUPPORT: without
    case 0xA111:
      return *out = 1, true;  // NUM_XCC
    case 0xA112:
      return *out = agent->node, true;  // DRIVER_UID
    default:
      return false;
  }
}

static bool cpu_number(const agent_t* agent, int attribute, uint32_t* out) {
  switch (attribute) {
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
    case HSA_AGENT_INFO_QUEUES_MAX:
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    case HSA_AMD_AGENT_INFO_CHIP_ID:
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
    case HSA_AMD_AGENT_INFO_BDFID:
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    case HSA_AMD_AGENT_INFO_DOMAIN:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
      return *out = 0, true;
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return *out = 64, true;
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
      return *out = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), true;
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
      return *out = 2000, true;
    default:
      return false;
  }
}

static void put_names(const agent_t* agent, int attribute, void* out) {
  bool gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      put_text(out, gpu ? agent->target->name : "CPU of the host", 64);
      break;
    case HSA_AGENT_INFO_VENDOR_NAME:
      put_text(out, gpu ? "AMD" : "CPU", 64);
      break;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      put_text(out, gpu ? product_of(agent).name : "CPU of the host", 64);
      break;
    default:
      put_text(out, gpu ? agent->uuid : "CPU-XX", 21);
      break;
  }
}

// Attributes of another type than a number of 32 bits.
static bool put_other(const agent_t* agent, int attribute, void* out) {
  bool gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
    case HSA_AGENT_INFO_VENDOR_NAME:
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    case HSA_AMD_AGENT_INFO_UUID:
      put_names(agent, attribute, out);
      break;
    case HSA_AGENT_INFO_FEATURE:
      *(hsa_agent_feature_t*)out = gpu ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : (hsa_agent_feature_t)0;
      break;
    case HSA_AGENT_INFO_MACHINE_MODEL:
      *(hsa_machine_model_t*)out = HSA_MACHINE_MODEL_LARGE;
      break;
    case HSA_AGENT_INFO_PROFILE:
      *(hsa_profile_t*)out = gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL;
      break;
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      *(hsa_default_float_rounding_mode_t*)out = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
      break;
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      *(bool*)out = gpu;
      break;
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
      for (int i = 0; i < 3; ++i) ((uint16_t*)out)[i] = gpu ? 1024 : 0;
      break;
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      *(hsa_dim3_t*)out = (hsa_dim3_t){gpu ? INT32_MAX : 0, gpu ? 65535 : 0, gpu ? 65535 : 0};
      break;
    case HSA_AGENT_INFO_QUEUE_TYPE:
      *(hsa_queue_type32_t*)out = HSA_QUEUE_TYPE_MULTI;
      break;
    case HSA_AGENT_INFO_NODE:
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
      *(uint32_t*)out = agent->node;
      break;
    case HSA_AGENT_INFO_DEVICE:
      *(hsa_device_type_t*)out = agent->type;
      break;
    case HSA_AGENT_INFO_CACHE_SIZE:
      memcpy(out, gpu ? (uint32_t[]){32768, 6 << 20, 0, 0} : (uint32_t[]){32768, 0, 0, 0}, 16);
      break;
    case HSA_AGENT_INFO_ISA:
      *(hsa_isa_t*)out = (hsa_isa_t){agent->isa_count ? (uint64_t)&agent->isas[0] : 0};
      break;
    case HSA_AGENT_INFO_EXTENSIONS:
      memset(out, 0, 128);
      break;
    case HSA_AGENT_INFO_VERSION_MAJOR:
      *(uint16_t*)out = 1;
      break;
    case HSA_AGENT_INFO_VERSION_MINOR:
      *(uint16_t*)out = 1;
      break;
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      memset(out, 0, sizeof(hsa_amd_hdp_flush_t));
      break;
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      *(bool*)out = gpu;
      break;
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      *(bool*)out = true;
      break;
    case 0xA015:
      *(uint64_t*)out = agent->pools[0].size - agent->pools[0].allocated;
      break;  // MEMORY_AVAIL
    case 0xA016:
      *(uint64_t*)out = 100000000;
      break;  // TIMESTAMP_FREQUENCY
    case 0xA113:
      *(hsa_agent_t*)out = (hsa_agent_t){(uint64_t)&runtime.agents[0]};
      break;      // NEAREST_CPU
    case 0xA114:  // MEMORY_PROPERTIES
    case 0xA115:
      memset(out, 0, 8);
      break;  // AQL_EXTENSIONS
    default:
      return false;
  }
  return true;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void* out) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint32_t number;
  bool gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  if (gpu ? gpu_number(agent, (int)attribute, &number) : cpu_number(agent, (int)attribute, &number)) {
    *(uint32_t*)out = number;
    return HSA_STATUS_SUCCESS;
  }
  return put_other(agent, (int)attribute, out) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

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
      put_text(out, "software GPU", 16);
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
      *(uint16_t*)out = 6;
      break;  // EXT_VERSION_MINOR
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

// Caches: handles are agent and level.

typedef struct cache_t {
  const char* name;
  uint8_t level;
  uint32_t size;
} cache_t;
static const cache_t caches[] = {{"L1", 1, 32 << 10}, {"L2", 2, 6 << 20}};

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t handle, hsa_status_t (*callback)(hsa_cache_t cache, void* data),
                                      void* data) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(handle), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); ++i) {
    hsa_status_t status = callback((hsa_cache_t){(uint64_t)&caches[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t handle, hsa_cache_info_t attribute, void* out) {
  REQUIRE_OPEN();
  const cache_t* cache = (const cache_t*)handle.handle;
  REQUIRE(cache == &caches[0] || cache == &caches[1], HSA_STATUS_ERROR_INVALID_CACHE);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
      *(uint32_t*)out = (uint32_t)strlen(cache->name);
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_NAME:
      memcpy(out, cache->name, strlen(cache->name));
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
      *(uint8_t*)out = cache->level;
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_SIZE:
      *(uint32_t*)out = cache->size;
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
      *(uint64_t*)out = UINT32_MAX;
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

hsa_status_t hsa_status_string(hsa_status_t status, const char** out) {
  static const struct {
    int status;
    const char* text;
  } texts[] = {
#define STATUS(name) {HSA_STATUS_##name, "HSA_STATUS_" #name},
      STATUS(SUCCESS) STATUS(INFO_BREAK) STATUS(ERROR) STATUS(ERROR_INVALID_ARGUMENT)
          STATUS(ERROR_INVALID_QUEUE_CREATION) STATUS(ERROR_INVALID_ALLOCATION) STATUS(ERROR_INVALID_AGENT)
              STATUS(ERROR_INVALID_REGION) STATUS(ERROR_INVALID_SIGNAL) STATUS(ERROR_INVALID_QUEUE)
                  STATUS(ERROR_OUT_OF_RESOURCES) STATUS(ERROR_INVALID_PACKET_FORMAT) STATUS(ERROR_RESOURCE_FREE)
                      STATUS(ERROR_NOT_INITIALIZED) STATUS(ERROR_REFCOUNT_OVERFLOW) STATUS(ERROR_INCOMPATIBLE_ARGUMENTS)
                          STATUS(ERROR_INVALID_INDEX) STATUS(ERROR_INVALID_ISA) STATUS(ERROR_INVALID_ISA_NAME)
                              STATUS(ERROR_INVALID_CODE_OBJECT) STATUS(ERROR_INVALID_EXECUTABLE)
                                  STATUS(ERROR_FROZEN_EXECUTABLE) STATUS(ERROR_INVALID_SYMBOL_NAME)
                                      STATUS(ERROR_VARIABLE_ALREADY_DEFINED) STATUS(ERROR_VARIABLE_UNDEFINED)
                                          STATUS(ERROR_EXCEPTION) STATUS(ERROR_INVALID_CODE_SYMBOL)
                                              STATUS(ERROR_INVALID_EXECUTABLE_SYMBOL) STATUS(ERROR_INVALID_FILE)
                                                  STATUS(ERROR_INVALID_CODE_OBJECT_READER) STATUS(ERROR_INVALID_CACHE)
                                                      STATUS(ERROR_INVALID_WAVEFRONT) STATUS(ERROR_INVALID_SIGNAL_GROUP)
                                                          STATUS(ERROR_INVALID_RUNTIME_STATE) STATUS(ERROR_FATAL)
                                                              STATUS(ERROR_INVALID_MEMORY_POOL)
                                                                  STATUS(ERROR_MEMORY_APERTURE_VIOLATION)
                                                                      STATUS(ERROR_ILLEGAL_INSTRUCTION)
                                                                          STATUS(ERROR_MEMORY_FAULT)
#undef STATUS
  };
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    if (texts[i].status == (int)status) return *out = texts[i].text, HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
