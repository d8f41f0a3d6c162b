// Pools and regions, access of agents, locked memory, pointers, information on agents and instruction sets.
#include <sys/mman.h>

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

static hsa_amd_pointer_info_t info_of(const void* address) {
  hsa_amd_pointer_info_t info = {.size = sizeof(info)};
  assert_ok(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL));
  return info;
}

static bool is_locked(const void* address) { return info_of(address).type == HSA_EXT_POINTER_TYPE_LOCKED; }

static void lock(void* address, size_t size, uint32_t gpu) {
  void* seen = NULL;
  assert_ok(hsa_amd_memory_lock(address, size, &test_gpus[gpu], 1, &seen));
  assert_ptr_equal(seen, address);
}

static char host[16384];

// Locks that overlap: each pair of address and size counts by itself.
static void test_lock(void** state) {
  lock(host, 8192, 0);
  assert_int_equal(accessors(host + 100), 1);
  lock(host + 16, 32, 1);
  assert_int_equal(accessors(host + 20), 3);
  assert_int_equal(accessors(host + 100), 1);
  assert_ptr_equal(info_of(host + 20).hostBaseAddress, host + 16);
  assert_int_equal(info_of(host + 20).sizeInBytes, 32);
  assert_ptr_equal(info_of(host + 48).hostBaseAddress, host);
  assert_int_equal(info_of(host + 48).sizeInBytes, 8192);
  // Past the end of another, and touching it.
  lock(host + 8000, 1000, 1);
  lock(host + 9000, 1000, 0);
  assert_int_equal(accessors(host + 8100), 3);
  assert_int_equal(accessors(host + 8500), 2);
  assert_int_equal(accessors(host + 9500), 1);
  assert_false(is_locked(host + 10000));
  // The same twice.
  lock(host + 16, 32, 0);
  assert_ok(hsa_amd_memory_unlock(host + 16));
  assert_int_equal(accessors(host + 20), 3);
  assert_ok(hsa_amd_memory_unlock(host + 16));
  assert_int_equal(accessors(host + 20), 1);
  assert_int_equal(hsa_amd_memory_pool_free(host), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_memory_unlock(host));
  assert_false(is_locked(host + 20));
  assert_int_equal(accessors(host + 8100), 2);
  assert_ok(hsa_amd_memory_unlock(host + 8000));
  assert_ok(hsa_amd_memory_unlock(host + 9000));
  for (size_t i = 0; i < sizeof(host); i += 500) assert_false(is_locked(host + i));
}

// An unlock names the address that was locked: another one within does nothing, and of several sizes the newest goes.
static void test_unlock(void** state) {
  lock(host, 4096, 0);
  assert_ok(hsa_amd_memory_unlock(host + 100));
  assert_true(is_locked(host + 100));
  lock(host, 64, 1);
  assert_int_equal(accessors(host), 3);
  assert_ok(hsa_amd_memory_unlock(host));
  assert_int_equal(accessors(host), 1);
  assert_int_equal(info_of(host).sizeInBytes, 4096);
  assert_ok(hsa_amd_memory_unlock(host));
  assert_false(is_locked(host));
  assert_ok(hsa_amd_memory_unlock(host));
  assert_ok(hsa_amd_memory_unlock(NULL));
}

static hsa_status_t take_cpu(hsa_agent_t agent, void* data) {
  hsa_device_type_t type;
  assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type == HSA_DEVICE_TYPE_CPU) *(hsa_agent_t*)data = agent;
  return HSA_STATUS_SUCCESS;
}

// The older headers lack it.
hsa_status_t hsa_amd_memory_lock_to_pool(void* address, size_t size, hsa_agent_t* agents, int count,
                                         hsa_amd_memory_pool_t pool, uint32_t flags, void** out);

static void test_lock_arguments(void** state) {
  hsa_agent_t cpu = {0}, none = {42};
  void* seen = host;
  assert_int_equal(hsa_amd_memory_lock(host, 0, NULL, 0, &seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ptr_equal(seen, NULL);
  assert_int_equal(hsa_amd_memory_lock(NULL, 64, NULL, 0, &seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_lock(host, 64, NULL, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_lock(host, SIZE_MAX, NULL, 0, &seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_lock(host, 64, test_gpus, 0, &seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_lock(host, 64, NULL, 1, &seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_lock(host, 64, &none, 1, &seen), HSA_STATUS_ERROR_INVALID_AGENT);
  // Without a GPU there is nothing to lock.
  assert_ok(hsa_iterate_agents(take_cpu, &cpu));
  assert_ok(hsa_amd_memory_lock(host, 64, &cpu, 1, &seen));
  assert_ptr_equal(seen, host);
  assert_false(is_locked(host));
  // All GPUs, until fewer are allowed.
  assert_ok(hsa_amd_memory_lock(host, 64, NULL, 0, &seen));
  assert_int_equal(accessors(host), 3);
  assert_ok(hsa_amd_agents_allow_access(1, test_gpus, NULL, host));
  assert_int_equal(accessors(host), 1);
  assert_ok(hsa_amd_pointer_info_set_userdata(host, &seen));
  assert_ptr_equal(info_of(host).userData, &seen);
  assert_int_equal(info_of(host).global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  assert_ok(hsa_amd_memory_unlock(host));
  assert_int_equal(hsa_amd_pointer_info_set_userdata(host, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  // To a pool of the host.
  hsa_amd_memory_pool_t pools[16] = {0};
  assert_ok(hsa_amd_agent_iterate_memory_pools(cpu, take_pool, pools));
  assert_int_equal(hsa_amd_memory_lock_to_pool(host, 64, NULL, 0, coarse(0), 0, &seen),
                   HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  assert_int_equal(hsa_amd_memory_lock_to_pool(host, 64, NULL, 0, pools[0], 1, &seen),
                   HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ok(hsa_amd_memory_lock_to_pool(host, 64, NULL, 0, pools[0], 0, &seen));
  assert_ptr_equal(seen, host);
  uint32_t flags;
  assert_ok(hsa_amd_memory_pool_get_info(pools[0], HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  assert_int_equal(info_of(host).global_flags, flags);
  assert_ok(hsa_amd_memory_unlock(host));
}

// Memory that the host gave back while it was locked: whatever comes to lie there is not in the way of the old lock.
static void test_lock_given_back(void** state) {
  enum { SIZE = 1 << 20 };
  int hits = 0;
  for (int round = 0; round < 20; ++round) {
    char* memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    lock(memory, SIZE, 0);
    munmap(memory, SIZE);
    char* pooled;
    assert_ok(hsa_amd_memory_pool_allocate(coarse(1), SIZE - 4096, 0, (void**)&pooled));
    assert_int_equal(info_of(pooled).type, HSA_EXT_POINTER_TYPE_HSA);
    assert_int_equal(accessors(pooled), 2);
    hits += pooled == memory;
    if (pooled == memory) assert_int_equal(info_of(pooled + SIZE - 1).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    if (round % 2) assert_ok(hsa_amd_memory_unlock(memory));
    assert_int_equal(info_of(pooled).type, HSA_EXT_POINTER_TYPE_HSA);
    assert_ok(hsa_amd_memory_pool_free(pooled));
    assert_false(is_locked(pooled));
    char* again = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    lock(again, SIZE / 2, 1);
    assert_int_equal(accessors(again) & 2, 2);
    assert_ok(hsa_amd_memory_unlock(again));
    munmap(again, SIZE);
  }
  // Linux gives out again what was given back last.
  assert_true(hits > 0);
}

// Memory of a pool goes when it is freed, locked or not.
static void test_lock_pooled(void** state) {
  void* memory;
  assert_ok(hsa_amd_memory_pool_allocate(coarse(0), 4096, 0, &memory));
  lock(memory, 64, 1);
  assert_int_equal(accessors(memory), 3);
  assert_int_equal(info_of(memory).type, HSA_EXT_POINTER_TYPE_HSA);
  assert_ok(hsa_amd_memory_unlock(memory));
  assert_int_equal(info_of(memory).type, HSA_EXT_POINTER_TYPE_HSA);
  lock(memory, 64, 1);
  assert_ok(hsa_amd_memory_pool_free(memory));
  assert_false(is_locked(memory));
  assert_int_equal(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_memory_unlock(memory));
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
      cmocka_unit_test(test_allocate),       cmocka_unit_test(test_exhaust),
      cmocka_unit_test(test_access),         cmocka_unit_test(test_pointer),
      cmocka_unit_test(test_lock),           cmocka_unit_test(test_unlock),
      cmocka_unit_test(test_lock_arguments), cmocka_unit_test(test_lock_given_back),
      cmocka_unit_test(test_lock_pooled),    cmocka_unit_test(test_deallocation),
      cmocka_unit_test(test_isas),           cmocka_unit_test(test_agents),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
