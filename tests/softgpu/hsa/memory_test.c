// Pools and regions, access of agents, locked memory, pointers, information on agents and instruction sets.
#include "hsa_test.h"

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_memory_pool_t* pools = data;
  while (pools->handle) ++pools;
  *pools = pool;
  return HSA_STATUS_SUCCESS;
}

// The pool of a GPU whose flags have `flag`.
static hsa_amd_memory_pool_t find_pool(uint32_t gpu, uint32_t flag) {
  hsa_amd_memory_pool_t pools[16] = {0};
  assert_ok(hsa_amd_agent_iterate_memory_pools(test_gpus[gpu], take_pool, pools));
  for (size_t i = 0; pools[i].handle; ++i) {
    uint32_t flags = 0;
    hsa_amd_segment_t segment;
    assert_ok(hsa_amd_memory_pool_get_info(pools[i], HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) continue;
    assert_ok(hsa_amd_memory_pool_get_info(pools[i], HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & flag) return pools[i];
  }
  fail_msg("no pool has the flag %u", flag);
  return pools[0];
}

static hsa_amd_memory_pool_t coarse(uint32_t gpu) {
  return find_pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
}

static void test_allocate(void** state) {
  hsa_amd_memory_pool_t pool = coarse(0);
  char *first, *second;
  assert_ok(hsa_amd_memory_pool_allocate(pool, 1000, 0, (void**)&first));
  assert_ok(hsa_amd_memory_pool_allocate(pool, 1000, 0, (void**)&second));
  assert_int_equal((uint64_t)first % 4096, 0);
  for (int i = 0; i < 1000; ++i) assert_int_equal(first[i], 0);
  memset(first, 1, 1000);
  assert_int_equal(second[0], 0);
  assert_ok(hsa_amd_memory_pool_free(first));
  assert_int_equal(hsa_amd_memory_pool_free(first), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_memory_pool_free(second + 16), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_memory_pool_free(second));
  assert_ok(hsa_amd_memory_pool_free(NULL));
}

static void test_exhaust(void** state) {
  hsa_amd_memory_pool_t pool = coarse(0);
  size_t size;
  void *all, *more;
  assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, size + 1, 0, &all), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, SIZE_MAX, 0, &all), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_ok(hsa_amd_memory_pool_allocate(pool, size, 0, &all));
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, 1, 0, &more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_ok(hsa_amd_memory_pool_free(all));
  assert_ok(hsa_amd_memory_pool_allocate(pool, 1, 0, &more));
  assert_ok(hsa_amd_memory_pool_free(more));
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, 0, 0, &more), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){42}, 1, 0, &more),
                   HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}

// Which of the two GPUs may access, a bit each.
static uint32_t accessors(const void* address) {
  hsa_amd_pointer_info_t info = {.size = sizeof(info)};
  hsa_agent_t* agents = NULL;
  uint32_t count = 0, bits = 0;
  assert_ok(hsa_amd_pointer_info(address, &info, malloc, &count, &agents));
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < 2; ++k) bits |= (uint32_t)(agents[i].handle == test_gpus[k].handle) << k;
  }
  free(agents);
  return bits;
}

static void test_access(void** state) {
  void* memory;
  assert_ok(hsa_amd_memory_pool_allocate(coarse(0), 4096, 0, &memory));
  assert_int_equal(accessors(memory), 1);
  assert_ok(hsa_amd_agents_allow_access(2, test_gpus, NULL, memory));
  assert_int_equal(accessors(memory), 3);
  // The owner keeps its access; the other loses what it is not given again.
  assert_ok(hsa_amd_agents_allow_access(1, test_gpus, NULL, memory));
  assert_int_equal(accessors(memory), 1);
  hsa_agent_t none = {42};
  assert_int_equal(hsa_amd_agents_allow_access(1, &none, NULL, memory), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_ok(hsa_amd_memory_pool_free(memory));
  assert_int_equal(hsa_amd_agents_allow_access(1, test_gpus, NULL, memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  hsa_amd_memory_pool_access_t access;
  assert_ok(
      hsa_amd_agent_memory_pool_get_info(test_gpus[1], coarse(0), HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
  assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
}

static void test_pointer(void** state) {
  hsa_amd_pointer_info_t info = {.size = sizeof(info)};
  char* memory;
  assert_ok(hsa_amd_memory_pool_allocate(coarse(1), 5000, 0, (void**)&memory));
  assert_ok(hsa_amd_pointer_info_set_userdata(memory, &info));
  assert_ok(hsa_amd_pointer_info(memory + 4999, &info, NULL, NULL, NULL));
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
  assert_ptr_equal(info.agentBaseAddress, memory);
  assert_int_equal(info.sizeInBytes, 5000);
  assert_int_equal(info.agentOwner.handle, test_gpus[1].handle);
  assert_ptr_equal(info.userData, &info);
  assert_ok(hsa_amd_pointer_info(memory + 5000, &info, NULL, NULL, NULL));
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  assert_ok(hsa_amd_memory_pool_free(memory));
  info.size = 4;
  assert_int_equal(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_lock(void** state) {
  static char host[8192];
  hsa_amd_pointer_info_t info = {.size = sizeof(info)};
  void* seen = NULL;
  assert_ok(hsa_amd_memory_lock(host, sizeof(host), &test_gpus[0], 1, &seen));
  assert_ptr_equal(seen, host);
  assert_int_equal(accessors(host + 100), 1);
  assert_ok(hsa_amd_memory_lock(host + 16, 32, &test_gpus[1], 1, &seen));
  assert_int_equal(accessors(host + 100), 3);
  assert_ok(hsa_amd_memory_unlock(host + 16));
  assert_ok(hsa_amd_pointer_info(host, &info, NULL, NULL, NULL));
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
  assert_int_equal(hsa_amd_memory_pool_free(host), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_memory_unlock(host));
  assert_ok(hsa_amd_pointer_info(host, &info, NULL, NULL, NULL));
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  // Memory of a pool goes when it is freed, locked or not.
  void* memory;
  assert_ok(hsa_amd_memory_pool_allocate(coarse(0), 4096, 0, &memory));
  assert_ok(hsa_amd_memory_lock(memory, 64, NULL, 0, &seen));
  assert_ok(hsa_amd_memory_pool_free(memory));
  assert_int_equal(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void count_call(void* address, void* data) { ++*(int*)data; }

static void test_deallocation(void** state) {
  int calls = 0;
  void* memory;
  assert_ok(hsa_amd_memory_pool_allocate(coarse(0), 4096, 0, &memory));
  assert_ok(hsa_amd_register_deallocation_callback(memory, count_call, &calls));
  assert_ok(hsa_amd_register_deallocation_callback(memory, count_call, &calls));
  assert_ok(hsa_amd_deregister_deallocation_callback(memory, count_call));
  assert_ok(hsa_amd_memory_pool_free(memory));
  assert_int_equal(calls, 1);
  assert_int_equal(hsa_amd_register_deallocation_callback(memory, count_call, &calls),
                   HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static hsa_status_t take_isa(hsa_isa_t isa, void* data) {
  hsa_isa_t* isas = data;
  while (isas->handle) ++isas;
  *isas = isa;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t sum_widths(hsa_wavefront_t wavefront, void* data) {
  uint32_t width;
  assert_ok(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, &width));
  *(uint32_t*)data += width;
  return HSA_STATUS_SUCCESS;
}

static void test_isas(void** state) {
  static const char* const names[2][2] = {
      {"amdgcn-amd-amdhsa--gfx1100", "amdgcn-amd-amdhsa--gfx11-generic"},
      {"amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx9-4-generic"}};
  static const uint32_t widths[2] = {96, 64};
  for (uint32_t gpu = 0; gpu < 2; ++gpu) {
    hsa_isa_t isas[4] = {0}, found;
    char name[64];
    assert_ok(hsa_agent_iterate_isas(test_gpus[gpu], take_isa, isas));
    for (int i = 0; i < 2; ++i) {
      assert_ok(hsa_isa_get_info_alt(isas[i], HSA_ISA_INFO_NAME, name));
      assert_string_equal(name, names[gpu][i]);
      assert_ok(hsa_isa_from_name(name, &found));
      assert_int_equal(found.handle, isas[i].handle);
    }
    uint32_t sum = 0;
    assert_ok(hsa_isa_iterate_wavefronts(isas[0], sum_widths, &sum));
    assert_int_equal(sum, widths[gpu]);
  }
  hsa_isa_t none;
  assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1", &none), HSA_STATUS_ERROR_INVALID_ISA_NAME);
}

static void test_agents(void** state) {
  char name[64] = "", uuids[2][64] = {"", ""};
  uint32_t width;
  assert_ok(hsa_agent_get_info(test_gpus[0], HSA_AGENT_INFO_NAME, name));
  assert_string_equal(name, "gfx1100");
  assert_ok(hsa_agent_get_info(test_gpus[1], HSA_AGENT_INFO_WAVEFRONT_SIZE, &width));
  assert_int_equal(width, 64);
  for (int i = 0; i < 2; ++i) {
    assert_ok(hsa_agent_get_info(test_gpus[i], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, uuids[i]));
    assert_memory_equal(uuids[i], "GPU-", 4);
    assert_int_equal(strlen(uuids[i]), 20);
  }
  assert_string_not_equal(uuids[0], uuids[1]);
  assert_int_equal(hsa_agent_get_info(test_gpus[0], (hsa_agent_info_t)0x7fff, name), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_agent_get_info((hsa_agent_t){0}, HSA_AGENT_INFO_NAME, name), HSA_STATUS_ERROR_INVALID_AGENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_allocate), cmocka_unit_test(test_exhaust), cmocka_unit_test(test_access),
      cmocka_unit_test(test_pointer),  cmocka_unit_test(test_lock),    cmocka_unit_test(test_deallocation),
      cmocka_unit_test(test_isas),     cmocka_unit_test(test_agents),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
