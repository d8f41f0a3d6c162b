// What agents, pools, regions, caches, instruction sets and the system say of themselves: each attribute that the HSA
// headers of ROCm have up to version 7 is answered, in the type they give it, and writes no byte more.
#include <hsa/hsa_ext_image.h>
#include <stdio.h>

#include "hsa_test.h"

enum { ROOM = 256, FILL = 0x5b };

// ATTRIBUTE(number, bytes of its value): of agents, beyond Debian's headers too
#define ATTRIBUTES(ATTRIBUTE)                                            \
  ATTRIBUTE(HSA_AGENT_INFO_NAME, 64)                                     \
  ATTRIBUTE(HSA_AGENT_INFO_VENDOR_NAME, 64)                              \
  ATTRIBUTE(HSA_AGENT_INFO_FEATURE, 4)                                   \
  ATTRIBUTE(HSA_AGENT_INFO_MACHINE_MODEL, 4)                             \
  ATTRIBUTE(HSA_AGENT_INFO_PROFILE, 4)                                   \
  ATTRIBUTE(HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, 4)               \
  ATTRIBUTE(HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, 4) \
  ATTRIBUTE(HSA_AGENT_INFO_FAST_F16_OPERATION, 1)                        \
  ATTRIBUTE(HSA_AGENT_INFO_WAVEFRONT_SIZE, 4)                            \
  ATTRIBUTE(HSA_AGENT_INFO_WORKGROUP_MAX_DIM, 6)                         \
  ATTRIBUTE(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 4)                        \
  ATTRIBUTE(HSA_AGENT_INFO_GRID_MAX_DIM, 12)                             \
  ATTRIBUTE(HSA_AGENT_INFO_GRID_MAX_SIZE, 4)                             \
  ATTRIBUTE(HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 4)                         \
  ATTRIBUTE(HSA_AGENT_INFO_QUEUES_MAX, 4)                                \
  ATTRIBUTE(HSA_AGENT_INFO_QUEUE_MIN_SIZE, 4)                            \
  ATTRIBUTE(HSA_AGENT_INFO_QUEUE_MAX_SIZE, 4)                            \
  ATTRIBUTE(HSA_AGENT_INFO_QUEUE_TYPE, 4)                                \
  ATTRIBUTE(HSA_AGENT_INFO_NODE, 4)                                      \
  ATTRIBUTE(HSA_AGENT_INFO_DEVICE, 4)                                    \
  ATTRIBUTE(HSA_AGENT_INFO_CACHE_SIZE, 16)                               \
  ATTRIBUTE(HSA_AGENT_INFO_ISA, 8)                                       \
  ATTRIBUTE(HSA_AGENT_INFO_EXTENSIONS, 128)                              \
  ATTRIBUTE(HSA_AGENT_INFO_VERSION_MAJOR, 2)                             \
  ATTRIBUTE(HSA_AGENT_INFO_VERSION_MINOR, 2)                             \
  ATTRIBUTE(HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, 4)                 \
  ATTRIBUTE(HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, 8)                 \
  ATTRIBUTE(HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, 12)                \
  ATTRIBUTE(HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, 4)                \
  ATTRIBUTE(HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, 4)                  \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_CHIP_ID, 4)                               \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 4)                        \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 4)                    \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 4)                   \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 4)                        \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4)              \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_BDFID, 4)                                 \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 4)                          \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 4)                  \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_PRODUCT_NAME, 64)                         \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 4)                      \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4)                      \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 4)                    \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 4)              \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_HDP_FLUSH, 16)                            \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_DOMAIN, 4)                                \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, 1)                    \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_UUID, 21)                                 \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_ASIC_REVISION, 4)                         \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, 1)                \
  ATTRIBUTE(HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, 4)        \
  ATTRIBUTE(0xA015 /* MEMORY_AVAIL */, 8)                                \
  ATTRIBUTE(0xA016 /* TIMESTAMP_FREQUENCY */, 8)                         \
  ATTRIBUTE(0xA107 /* ASIC_FAMILY_ID */, 4)                              \
  ATTRIBUTE(0xA108 /* UCODE_VERSION */, 4)                               \
  ATTRIBUTE(0xA109 /* SDMA_UCODE_VERSION */, 4)                          \
  ATTRIBUTE(0xA10A /* NUM_SDMA_ENG */, 4)                                \
  ATTRIBUTE(0xA10B /* NUM_SDMA_XGMI_ENG */, 4)                           \
  ATTRIBUTE(0xA110 /* IOMMU_SUPPORT */, 4)                               \
  ATTRIBUTE(0xA111 /* NUM_XCC */, 4)                                     \
  ATTRIBUTE(0xA112 /* DRIVER_UID */, 4)                                  \
  ATTRIBUTE(0xA113 /* NEAREST_CPU */, 8)                                 \
  ATTRIBUTE(0xA114 /* MEMORY_PROPERTIES */, 8)                           \
  ATTRIBUTE(0xA115 /* AQL_EXTENSIONS */, 8)                              \
  ATTRIBUTE(0xA116 /* SCRATCH_LIMIT_MAX */, 8)                           \
  ATTRIBUTE(0xA117 /* SCRATCH_LIMIT_CURRENT */, 8)                       \
  ATTRIBUTE(0xA118 /* CLOCK_COUNTERS */, 32)

typedef struct attribute_t {
  const char* name;
  int number;
  size_t size;
} attribute_t;

// Asks for it twice, over different bytes: those of its size are written alike, and none after.
#define CHECK_SIZE(name, size, call)                                                                \
  do {                                                                                              \
    uint8_t out[ROOM], again[ROOM];                                                                 \
    memset(out, FILL, ROOM), memset(again, FILL ^ 0xff, ROOM);                                      \
    void* value = out;                                                                              \
    if ((call) != HSA_STATUS_SUCCESS) fail_msg("%s is not known", name);                            \
    value = again;                                                                                  \
    assert_ok(call);                                                                                \
    for (size_t i_ = size; i_ < ROOM; ++i_) {                                                       \
      if (out[i_] != FILL) fail_msg("%s writes byte %zu", name, i_);                                \
    }                                                                                               \
    if (size <= 8 && memcmp(out, again, size) != 0) fail_msg("%s leaves bytes as they were", name); \
  } while (0)

static hsa_status_t check_agent(hsa_agent_t agent, void* data) {
  static const attribute_t attributes[] = {
#define ATTRIBUTE(number, size) {#number, number, size},
      ATTRIBUTES(ATTRIBUTE)
#undef ATTRIBUTE
  };
  for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); ++i) {
    const attribute_t* at = &attributes[i];
    CHECK_SIZE(at->name, at->size, hsa_agent_get_info(agent, (hsa_agent_info_t)at->number, value));
  }
  ++*(int*)data;
  return HSA_STATUS_SUCCESS;
}

static void test_agents(void** state) {
  int count = 0;
  assert_ok(hsa_iterate_agents(check_agent, &count));
  assert_int_equal(count, 3);
  uint32_t number;
#define NUMBER(gpu, attribute, value)                                                    \
  assert_ok(hsa_agent_get_info(test_gpus[gpu], (hsa_agent_info_t)(attribute), &number)); \
  assert_int_equal(number, value)
  NUMBER(0, HSA_AMD_AGENT_INFO_CHIP_ID, 0x744c);
  NUMBER(0, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 96);
  NUMBER(0, HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 384);
  NUMBER(0, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 32);
  NUMBER(0, 0xA107, 145);
  NUMBER(1, HSA_AMD_AGENT_INFO_CHIP_ID, 0x74a1);
  NUMBER(1, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 304);
  NUMBER(1, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 32);
  NUMBER(1, 0xA111, 8);
  NUMBER(0, HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 64);
  NUMBER(1, HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 0);
  uint64_t ticks;
  assert_ok(hsa_agent_get_info(test_gpus[0], (hsa_agent_info_t)0xA016, &ticks));
  assert_int_equal(ticks, 100000000);
}

// SYSTEM(attribute, bytes)
#define SYSTEMS(SYSTEM)                            \
  SYSTEM(HSA_SYSTEM_INFO_VERSION_MAJOR, 2)         \
  SYSTEM(HSA_SYSTEM_INFO_VERSION_MINOR, 2)         \
  SYSTEM(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, 8)   \
  SYSTEM(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, 8)       \
  SYSTEM(HSA_SYSTEM_INFO_ENDIANNESS, 4)            \
  SYSTEM(HSA_SYSTEM_INFO_MACHINE_MODEL, 4)         \
  SYSTEM(HSA_SYSTEM_INFO_EXTENSIONS, 128)          \
  SYSTEM(0x200 /* BUILD_VERSION */, 8)             \
  SYSTEM(0x201 /* SVM_SUPPORTED */, 1)             \
  SYSTEM(0x202 /* SVM_ACCESSIBLE_BY_DEFAULT */, 1) \
  SYSTEM(0x203 /* MWAITX_ENABLED */, 1)            \
  SYSTEM(0x204 /* DMABUF_SUPPORTED */, 1)          \
  SYSTEM(0x205 /* VIRTUAL_MEM_API_SUPPORTED */, 1) \
  SYSTEM(0x206 /* XNACK_ENABLED */, 1)             \
  SYSTEM(0x207 /* EXT_VERSION_MAJOR */, 2)         \
  SYSTEM(0x208 /* EXT_VERSION_MINOR */, 2)

static void test_system(void** state) {
#define SYSTEM(number, size) CHECK_SIZE(#number, size, hsa_system_get_info((hsa_system_info_t)(number), value));
  SYSTEMS(SYSTEM)
#undef SYSTEM
  const char* version = NULL;
  assert_ok(hsa_system_get_info((hsa_system_info_t)0x200, &version));
  assert_true(strlen(version) > 0);
  uint64_t now;
  assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
  assert_true(test_now() >= now);
  assert_int_equal(hsa_system_get_info((hsa_system_info_t)0x7777, &now), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (int status = 0; status < 48; ++status) {
    const char* text = NULL;
    if (hsa_status_string((hsa_status_t)status, &text) == HSA_STATUS_SUCCESS)
      assert_memory_equal(text, "HSA_STATUS_", 11);
  }
}

// POOL(attribute, bytes): those that memory of every sort has
#define POOLS(POOL)                                         \
  POOL(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, 4)                 \
  POOL(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, 4)            \
  POOL(HSA_AMD_MEMORY_POOL_INFO_SIZE, 8)                    \
  POOL(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, 1)   \
  POOL(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, 8)   \
  POOL(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, 8) \
  POOL(HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, 1)       \
  POOL(HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, 8)          \
  POOL(18 /* RUNTIME_ALLOC_REC_GRANULE */, 8)
#define REGIONS(REGION)                              \
  REGION(HSA_REGION_INFO_SEGMENT, 4)                 \
  REGION(HSA_REGION_INFO_GLOBAL_FLAGS, 4)            \
  REGION(HSA_REGION_INFO_SIZE, 8)                    \
  REGION(HSA_REGION_INFO_ALLOC_MAX_SIZE, 8)          \
  REGION(HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, 1)   \
  REGION(HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE, 8)   \
  REGION(HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT, 8) \
  REGION(HSA_AMD_REGION_INFO_HOST_ACCESSIBLE, 1)     \
  REGION(HSA_AMD_REGION_INFO_BASE, 8)                \
  REGION(HSA_AMD_REGION_INFO_BUS_WIDTH, 4)           \
  REGION(HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY, 4)

static hsa_status_t check_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_agent_t owner = *(hsa_agent_t*)data;
#define POOL(number, size) \
  CHECK_SIZE(#number, size, hsa_amd_memory_pool_get_info(pool, (hsa_amd_memory_pool_info_t)(number), value));
  POOLS(POOL)
#undef POOL
  hsa_amd_segment_t segment;
  uint32_t location;
  assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  bool is_global = segment == HSA_AMD_SEGMENT_GLOBAL;
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, (hsa_amd_memory_pool_info_t)17, &location),
                   is_global ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_amd_memory_pool_access_t access;
  uint32_t hops;
  for (int i = 0; i < 2; ++i) {
    bool is_own = owner.handle == test_gpus[i].handle;
    assert_ok(hsa_amd_agent_memory_pool_get_info(test_gpus[i], pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    if (is_own) assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
    if (!is_own && !is_global) assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    assert_ok(
        hsa_amd_agent_memory_pool_get_info(test_gpus[i], pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops));
    assert_int_equal(hops, is_own || !is_global ? 0 : 1);
    CHECK_SIZE("LINK_INFO", sizeof(hsa_amd_memory_pool_link_info_t),
               hsa_amd_agent_memory_pool_get_info(test_gpus[i], pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, value));
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_region(hsa_region_t region, void* data) {
#define REGION(number, size) CHECK_SIZE(#number, size, hsa_region_get_info(region, (hsa_region_info_t)(number), value));
  REGIONS(REGION)
#undef REGION
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_cache(hsa_cache_t cache, void* data) {
  char name[80] = "";
  uint32_t length, size, *sum = data;
  uint8_t level;
  assert_ok(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length));
  assert_ok(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME, name));
  assert_ok(hsa_cache_get_info(cache, HSA_CACHE_INFO_LEVEL, &level));
  assert_ok(hsa_cache_get_info(cache, HSA_CACHE_INFO_SIZE, &size));
  assert_int_equal(strlen(name), length);
  sum[level] = size;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_memory(hsa_agent_t agent, void* data) {
  uint32_t sizes[5] = {0}, listed[4];
  assert_ok(hsa_amd_agent_iterate_memory_pools(agent, check_pool, &agent));
  assert_ok(hsa_agent_iterate_regions(agent, check_region, &agent));
  assert_ok(hsa_agent_iterate_caches(agent, check_cache, sizes));
  assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_CACHE_SIZE, listed));
  for (int i = 0; i < 4; ++i) assert_int_equal(sizes[i + 1], listed[i]);
  assert_int_equal(hsa_cache_get_info((hsa_cache_t){agent.handle}, HSA_CACHE_INFO_SIZE, listed),
                   HSA_STATUS_ERROR_INVALID_CACHE);
  return HSA_STATUS_SUCCESS;
}

static void test_memory(void** state) { assert_ok(hsa_iterate_agents(check_memory, NULL)); }

// ISA(attribute, bytes)
#define ISAS(ISA)                                                \
  ISA(HSA_ISA_INFO_NAME_LENGTH, 4)                               \
  ISA(HSA_ISA_INFO_MACHINE_MODELS, 2)                            \
  ISA(HSA_ISA_INFO_PROFILES, 2)                                  \
  ISA(HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, 3)              \
  ISA(HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, 3) \
  ISA(HSA_ISA_INFO_FAST_F16_OPERATION, 1)                        \
  ISA(HSA_ISA_INFO_WORKGROUP_MAX_DIM, 6)                         \
  ISA(HSA_ISA_INFO_WORKGROUP_MAX_SIZE, 4)                        \
  ISA(HSA_ISA_INFO_GRID_MAX_DIM, 12)                             \
  ISA(HSA_ISA_INFO_GRID_MAX_SIZE, 8)                             \
  ISA(HSA_ISA_INFO_FBARRIER_MAX_SIZE, 4)

static hsa_status_t check_isa(hsa_isa_t isa, void* data) {
#define ISA(number, size) CHECK_SIZE(#number, size, hsa_isa_get_info_alt(isa, (number), value));
  ISAS(ISA)
#undef ISA
  uint32_t length;
  assert_ok(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
  CHECK_SIZE("HSA_ISA_INFO_NAME", length, hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, value));
  return HSA_STATUS_SUCCESS;
}

static void test_isas(void** state) {
  for (int i = 0; i < 2; ++i) assert_ok(hsa_agent_iterate_isas(test_gpus[i], check_isa, NULL));
}

static void test_images(void** state) {
  hsa_ext_image_format_t format = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};
  uint32_t mask = 1;
  assert_ok(hsa_ext_image_get_capability(test_gpus[0], HSA_EXT_IMAGE_GEOMETRY_2D, &format, &mask));
  assert_int_equal(mask, HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
  hsa_ext_sampler_descriptor_t sampler = {0};
  hsa_ext_sampler_t none;
  assert_int_not_equal(hsa_ext_sampler_create(test_gpus[0], &sampler, &none), HSA_STATUS_SUCCESS);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agents), cmocka_unit_test(test_system),
                                     cmocka_unit_test(test_memory), cmocka_unit_test(test_isas),
                                     cmocka_unit_test(test_images)};
  return cmocka_run_group_tests(tests, test_open, test_close);
}
