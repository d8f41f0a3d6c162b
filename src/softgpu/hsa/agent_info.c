// What agents say of themselves. GPUs answer as the card that their row names does, but for memory (agents' pools say
// how much there is) and their clock, which is the host's.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/hsa/gpu_list.h"

// Cards by processor:
// PRODUCT(processor, chip id, marketing name, engines, MHz, XCCs, KiB of caches 1 to 3, memory's bits, its MHz)
#define PRODUCTS(PRODUCT)                                                                        \
  PRODUCT("gfx906", 0x66a1, "AMD Instinct MI50", 4, 1725, 1, {16, 4096}, 4096, 1000)             \
  PRODUCT("gfx908", 0x738c, "AMD Instinct MI100", 8, 1502, 1, {16, 8192}, 4096, 1200)            \
  PRODUCT("gfx90a", 0x740f, "AMD Instinct MI210", 8, 1700, 1, {16, 8192}, 4096, 1600)            \
  PRODUCT("gfx942", 0x74a1, "AMD Instinct MI300X", 32, 2100, 8, {32, 4096, 262144}, 8192, 1300)  \
  PRODUCT("gfx950", 0x75a0, "AMD Instinct MI350X", 32, 2200, 8, {32, 4096, 262144}, 8192, 2000)  \
  PRODUCT("gfx1030", 0x73bf, "AMD Radeon RX 6800 XT", 4, 2250, 1, {16, 4096, 131072}, 256, 1000) \
  PRODUCT("gfx1100", 0x744c, "AMD Radeon RX 7900 XTX", 6, 2500, 1, {32, 6144, 98304}, 384, 1249) \
  PRODUCT("gfx1101", 0x747e, "AMD Radeon RX 7800 XT", 3, 2430, 1, {32, 4096, 65536}, 256, 1218)  \
  PRODUCT("gfx1102", 0x7480, "AMD Radeon RX 7600", 2, 2655, 1, {32, 2048, 32768}, 128, 1124)     \
  PRODUCT("gfx1201", 0x7550, "AMD Radeon RX 9070 XT", 4, 2970, 1, {32, 8192, 65536}, 256, 1258)
typedef struct product_t {
  const char* target;
  uint32_t chip;
  const char* name;
  uint32_t engines, clock, xccs;
  uint32_t caches[AGENT_CACHE_LEVELS];
  uint32_t memory_width, memory_clock;
} product_t;

static product_t product_of(const agent_t* agent) {
  static const product_t products[] = {
#define PRODUCT(...) {__VA_ARGS__},
      PRODUCTS(PRODUCT)
#undef PRODUCT
  };
  if (agent->type != HSA_DEVICE_TYPE_GPU) return (product_t){.name = "CPU of the host", .caches = {32}};
  for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); ++i) {
    if (strcmp(products[i].target, agent->target->name) == 0) return products[i];
  }
  uint32_t chip = 0x7000u + agent->target->stepping;
  return (product_t){agent->target->name, chip, "AMD GPU", 4, 2000, 1, {16, 4096}, 256, 1000};
}

void agent_name(const agent_t* agent, char out[64]) {
  snprintf(out, 64, "%s", agent->type == HSA_DEVICE_TYPE_GPU ? agent->target->name : product_of(agent).name);
}

void agent_cache_sizes(const agent_t* agent, uint32_t sizes[AGENT_CACHE_LEVELS]) {
  product_t product = product_of(agent);
  for (int i = 0; i < AGENT_CACHE_LEVELS; ++i) sizes[i] = product.caches[i] << 10;
}

uint32_t agent_memory_width(const agent_t* agent) { return product_of(agent).memory_width; }
uint32_t agent_memory_clock(const agent_t* agent) { return product_of(agent).memory_clock; }

static uint32_t simds(const isa_target_t* t) { return t->major >= 10 ? 2 : 4; }

static uint32_t waves_per_simd(const isa_target_t* t) {
  if (t->major == 9) return t->minor == 0 && t->stepping < 10 ? 10 : 8;
  return t->major == 10 && t->minor == 1 ? 20 : 16;
}

// The family of chips, as the kernel's driver numbers them.
static uint32_t family(const isa_target_t* t) {
  return t->major == 9 ? 141 : t->major == 10 ? 143 : t->major == 11 ? 145 : 152;
}

// Of HSA's attributes newer than version 5.2.
enum {
  INFO_MEMORY_AVAIL = 0xA015,
  INFO_TIMESTAMP_FREQUENCY,
  INFO_FAMILY = 0xA107,
  INFO_UCODE_VERSION,
  INFO_SDMA_UCODE_VERSION,
  INFO_SDMA_ENGINES,
  INFO_XGMI_ENGINES,
  INFO_IOMMU_SUPPORT = 0xA110,
  INFO_XCCS,
  INFO_DRIVER_UID,
  INFO_NEAREST_CPU,
  INFO_MEMORY_PROPERTIES,
  INFO_AQL_EXTENSIONS,
  INFO_SCRATCH_LIMIT_MAX,
  INFO_SCRATCH_LIMIT_CURRENT,
  INFO_CLOCK_COUNTERS,
};

// Attributes whose value is a number of 32 bits: NUMBER(attribute, of a GPU, of the CPU)
#define NUMBERS(NUMBER)                                                                            \
  NUMBER(HSA_AGENT_INFO_WAVEFRONT_SIZE, t->wave, 0)                                                \
  NUMBER(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 1024, 0)                                               \
  NUMBER(HSA_AGENT_INFO_GRID_MAX_SIZE, UINT32_MAX, 0)                                              \
  NUMBER(HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 32, 0)                                                  \
  NUMBER(HSA_AGENT_INFO_QUEUES_MAX, 128, 0)                                                        \
  NUMBER(HSA_AGENT_INFO_QUEUE_MIN_SIZE, 64, 0)                                                     \
  NUMBER(HSA_AGENT_INFO_QUEUE_MAX_SIZE, 1 << 17, 0)                                                \
  NUMBER(HSA_AGENT_INFO_NODE, agent->node, agent->node)                                            \
  NUMBER(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, agent->node, agent->node)                              \
  NUMBER(HSA_AMD_AGENT_INFO_CHIP_ID, product.chip, 0)                                              \
  NUMBER(HSA_AMD_AGENT_INFO_CACHELINE_SIZE, t->major == 9 ? 128 : 64, 64)                          \
  NUMBER(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, t->units, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)) \
  NUMBER(HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, t->units, 0)                           \
  NUMBER(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, product.clock, 2000)                              \
  NUMBER(HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4, 1)                                        \
  NUMBER(HSA_AMD_AGENT_INFO_BDFID, gpu_list_location(agent->ordinal), 0)                           \
  NUMBER(HSA_AMD_AGENT_INFO_MEMORY_WIDTH, product.memory_width, 0)                                 \
  NUMBER(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, product.memory_clock, 0)                         \
  NUMBER(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, simds(t) * waves_per_simd(t), 0)                     \
  NUMBER(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, simds(t), 0)                                         \
  NUMBER(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, product.engines, 0)                                \
  NUMBER(HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, t->major >= 10 ? 2 : 1, 0)                   \
  NUMBER(HSA_AMD_AGENT_INFO_DOMAIN, 0, 0)                                                          \
  NUMBER(HSA_AMD_AGENT_INFO_ASIC_REVISION, 1, 0)                                                   \
  NUMBER(INFO_FAMILY, family(t), 0)                                                                \
  NUMBER(INFO_UCODE_VERSION, 1, 0)                                                                 \
  NUMBER(INFO_SDMA_UCODE_VERSION, 1, 0)                                                            \
  NUMBER(INFO_SDMA_ENGINES, 2, 0)                                                                  \
  NUMBER(INFO_XGMI_ENGINES, 0, 0)                                                                  \
  NUMBER(INFO_IOMMU_SUPPORT, 0, 0)                                                                 \
  NUMBER(INFO_XCCS, product.xccs, 0)                                                               \
  NUMBER(INFO_DRIVER_UID, agent->node, 0)

static bool put_number(const agent_t* agent, int attribute, uint32_t* out) {
  const isa_target_t* t = agent->target;
  product_t product = product_of(agent);
  switch (attribute) {
#define NUMBER(name, gpu, cpu) \
  case name:                   \
    return *out = t ? (uint32_t)(gpu) : (uint32_t)(cpu), true;
    NUMBERS(NUMBER)
#undef NUMBER
    default:
      return false;
  }
}

// Numbers of 64 bits: WIDE(attribute, of a GPU, of the CPU)
#define WIDES(WIDE)                                                                   \
  WIDE(INFO_MEMORY_AVAIL, pool->size - pool->allocated, pool->size - pool->allocated) \
  WIDE(INFO_TIMESTAMP_FREQUENCY, 1000000000 / RUNTIME_TICK, 1000000000)               \
  WIDE(INFO_NEAREST_CPU, (uint64_t)&runtime.agents[0], 0)                             \
  WIDE(INFO_MEMORY_PROPERTIES, 0, 0)                                                  \
  WIDE(INFO_AQL_EXTENSIONS, 0, 0)                                                     \
  WIDE(INFO_SCRATCH_LIMIT_MAX, agent->target->units* UINT64_C(32) << 20, 0)           \
  WIDE(INFO_SCRATCH_LIMIT_CURRENT, agent->target->units* UINT64_C(32) << 20, 0)       \
  WIDE(HSA_AGENT_INFO_ISA, (uint64_t)&agent->isas[0], 0)

static bool put_wide(const agent_t* agent, int attribute, uint64_t* out) {
  const pool_t* pool = &agent->pools[0];
  bool is_gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  switch (attribute) {
#define WIDE(name, gpu, cpu) \
  case name:                 \
    return *out = is_gpu ? (gpu) : (cpu), true;
    WIDES(WIDE)
#undef WIDE
    default:
      return false;
  }
}

static bool put_text(const agent_t* agent, int attribute, char* out) {
  bool gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  char text[64] = "";
  size_t size = sizeof(text);
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      agent_name(agent, text);
      break;
    case HSA_AGENT_INFO_VENDOR_NAME:
      snprintf(text, sizeof(text), "%s", gpu ? "AMD" : "CPU");
      break;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      snprintf(text, sizeof(text), "%s", product_of(agent).name);
      break;
    case HSA_AMD_AGENT_INFO_UUID:
      snprintf(text, sizeof(text), "%s", gpu ? agent->uuid : "CPU-XX");
      size = 21;
      break;
    default:
      return false;
  }
  memcpy(out, text, size);
  return true;
}

// Greatest sizes of images, by number of the attribute, and how many can be bound. Of cards that have image
// instructions they are told as those tell them, since HIP 5.2 allocates rows of memory that are padded only there; no
// image can be made of them.
enum { IMAGE_FIRST = 0x3000, IMAGE_NUMBERS = 3 };
static const uint32_t image_sizes[][IMAGE_NUMBERS] = {
    {16384},        {16384},        {UINT32_MAX},   {16384, 16384},
    {16384, 16384}, {16384, 16384}, {16384, 16384}, {16384, 16384, 8192},
    {8192},         {128},          {64},           {16},
};

static bool put_image_sizes(const agent_t* agent, int attribute, uint32_t* out) {
  static const uint8_t numbers[] = {1, 1, 1, 2, 2, 2, 2, 3, 1, 1, 1, 1};
  int at = attribute - IMAGE_FIRST;
  if (at < 0 || at >= (int)sizeof(numbers)) return false;
  bool has_images = agent->target && !isa_is_gfx940(agent->target);
  for (int i = 0; i < numbers[at]; ++i) out[i] = has_images ? image_sizes[at][i] : 0;
  return true;
}

// Attributes of a type of their own.
static bool put_other(const agent_t* agent, int attribute, void* out) {
  bool gpu = agent->type == HSA_DEVICE_TYPE_GPU;
  switch (attribute) {
    case HSA_AGENT_INFO_FEATURE:
      *(hsa_agent_feature_t*)out = gpu ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : (hsa_agent_feature_t)0;
      return true;
    case HSA_AGENT_INFO_MACHINE_MODEL:
      *(hsa_machine_model_t*)out = HSA_MACHINE_MODEL_LARGE;
      return true;
    case HSA_AGENT_INFO_PROFILE:
      *(hsa_profile_t*)out = gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL;
      return true;
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      *(hsa_default_float_rounding_mode_t*)out = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
      return true;
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
      for (int i = 0; i < 3; ++i) ((uint16_t*)out)[i] = gpu ? 1024 : 0;
      return true;
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      *(hsa_dim3_t*)out = (hsa_dim3_t){gpu ? INT32_MAX : 0, gpu ? 65535 : 0, gpu ? 65535 : 0};
      return true;
    case HSA_AGENT_INFO_QUEUE_TYPE:
      *(hsa_queue_type32_t*)out = HSA_QUEUE_TYPE_MULTI;
      return true;
    case HSA_AGENT_INFO_DEVICE:
      *(hsa_device_type_t*)out = agent->type;
      return true;
    case HSA_AGENT_INFO_CACHE_SIZE:
      memset(out, 0, 4 * sizeof(uint32_t));
      return agent_cache_sizes(agent, out), true;
    case HSA_AGENT_INFO_EXTENSIONS:  // HIP asks for sizes of images only where this is
      memset(out, 0, 128);
      return *(uint8_t*)out = gpu ? 1u << HSA_EXTENSION_IMAGES : 0, true;
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
      return *(uint16_t*)out = 1, true;
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      return memset(out, 0, sizeof(hsa_amd_hdp_flush_t)), true;
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return *(bool*)out = gpu, true;
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:  // as of cards on PCIe
      return *(bool*)out = !gpu, true;
    case INFO_CLOCK_COUNTERS: {  // the GPU's, the CPU's, the system's, how often that ticks in a second
      uint64_t now = runtime_timestamp(), clocks[4] = {now / RUNTIME_TICK, now, now, 1000000000};
      memset(out, 0, sizeof(clocks));
      if (gpu) memcpy(out, clocks, sizeof(clocks));
      return true;
    }
    default:
      return put_image_sizes(agent, attribute, out);
  }
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void* out) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  int number = (int)attribute;
  bool known = put_number(agent, number, out) || put_wide(agent, number, out) || put_text(agent, number, out) ||
               put_other(agent, number, out);
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
