// Addresses and memory apart: one memory seen at two addresses, what may be mapped where, access, lifetimes.
#include <sys/mman.h>
#include <unistd.h>

#include "hsa_test.h"

// Newer than Debian's headers.
typedef struct vmem_handle_t {
  uint64_t handle;
} vmem_handle_t;
typedef struct vmem_access_t {
  hsa_access_permission_t permissions;
  hsa_agent_t agent;
} vmem_access_t;
hsa_status_t hsa_amd_vmem_address_reserve(void** out, size_t size, uint64_t address, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_reserve_align(void** out, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, uint32_t type, uint64_t flags,
                                        vmem_handle_t* out);
hsa_status_t hsa_amd_vmem_handle_release(vmem_handle_t handle);
hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, vmem_handle_t handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size);
hsa_status_t hsa_amd_vmem_set_access(void* address, size_t size, const vmem_access_t* access, size_t count);
hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* out, hsa_agent_t agent);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, vmem_handle_t handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, vmem_handle_t* out);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(vmem_handle_t* out, void* address);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(vmem_handle_t handle, hsa_amd_memory_pool_t* pool,
                                                           uint32_t* type);

enum { SIZE = 1 << 16 };

static hsa_status_t take_first(hsa_amd_memory_pool_t pool, void* data) {
  *(hsa_amd_memory_pool_t*)data = pool;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_amd_memory_pool_t first_pool(void) {
  hsa_amd_memory_pool_t pool = {0};
  assert_int_equal(hsa_amd_agent_iterate_memory_pools(test_gpus[0], take_first, &pool), HSA_STATUS_INFO_BREAK);
  return pool;
}

static vmem_handle_t make_memory(void) {
  vmem_handle_t handle;
  assert_ok(hsa_amd_vmem_handle_create(first_pool(), SIZE, 0, 0, &handle));
  return handle;
}

static void test_aliases(void** state) {
  vmem_handle_t memory = make_memory();
  char* base;
  assert_ok(hsa_amd_vmem_address_reserve((void**)&base, 2 * SIZE, 0, 0));
  assert_ok(hsa_amd_vmem_map(base, SIZE, 0, memory, 0));
  assert_ok(hsa_amd_vmem_map(base + SIZE, SIZE, 0, memory, 0));
  base[5] = 42;
  assert_int_equal(base[SIZE + 5], 42);
  // The memory lives on while it is mapped.
  assert_ok(hsa_amd_vmem_handle_release(memory));
  assert_int_equal(hsa_amd_vmem_handle_release(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_vmem_address_free(base, 2 * SIZE), HSA_STATUS_ERROR_RESOURCE_FREE);
  assert_ok(hsa_amd_vmem_unmap(base, SIZE));
  assert_int_equal(base[SIZE + 5], 42);
  assert_ok(hsa_amd_vmem_unmap(base + SIZE, SIZE));
  assert_int_equal(hsa_amd_vmem_unmap(base, SIZE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_vmem_address_free(base, SIZE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_vmem_address_free(base, 2 * SIZE));
}

static void test_access(void** state) {
  vmem_handle_t memory = make_memory(), again;
  hsa_access_permission_t permission;
  hsa_amd_memory_pool_t pool;
  uint32_t type;
  void* base;
  assert_ok(hsa_amd_vmem_address_reserve(&base, SIZE, 0, 0));
  assert_int_equal(hsa_amd_vmem_get_access(base, &permission, test_gpus[0]), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_vmem_map(base, SIZE, 0, memory, 0));
  assert_ok(hsa_amd_vmem_get_access(base, &permission, test_gpus[0]));
  assert_int_equal(permission, 0);
  vmem_access_t access = {HSA_ACCESS_PERMISSION_RW, test_gpus[0]};
  assert_ok(hsa_amd_vmem_set_access(base, SIZE, &access, 1));
  assert_ok(hsa_amd_vmem_get_access(base, &permission, test_gpus[0]));
  assert_int_equal(permission, HSA_ACCESS_PERMISSION_RW);
  assert_ok(hsa_amd_vmem_get_access(base, &permission, test_gpus[1]));
  assert_int_equal(permission, 0);
  assert_ok(hsa_amd_vmem_retain_alloc_handle(&again, (char*)base + 100));
  assert_int_equal(again.handle, memory.handle);
  assert_ok(hsa_amd_vmem_get_alloc_properties_from_handle(again, &pool, &type));
  assert_int_equal(pool.handle, first_pool().handle);
  assert_ok(hsa_amd_vmem_handle_release(again));
  assert_ok(hsa_amd_vmem_handle_release(memory));
  assert_ok(hsa_amd_vmem_unmap(base, SIZE));
  assert_ok(hsa_amd_vmem_address_free(base, SIZE));
}

// Nothing but reserved addresses, whole pages and memory that exists.
static void test_refused(void** state) {
  static char own[SIZE] __attribute__((aligned(4096)));
  vmem_handle_t memory = make_memory();
  char* base;
  assert_ok(hsa_amd_vmem_address_reserve_align((void**)&base, SIZE, 0, 1 << 21, 0));
  assert_int_equal((uint64_t)base % (1 << 21), 0);
  own[0] = 7;
  assert_int_equal(hsa_amd_vmem_map(own, SIZE, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(own[0], 7);
  assert_int_equal(hsa_amd_vmem_address_free(own, SIZE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_vmem_map(base + 4096, SIZE, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_vmem_map(base, SIZE, 4096, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_vmem_map(base + 1, 4096, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_vmem_map(base, 4096, 0, (vmem_handle_t){42}, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_ok(hsa_amd_vmem_map(base, 8192, 0, memory, 0));
  assert_int_equal(hsa_amd_vmem_map(base + 4096, 4096, 0, memory, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_int_equal(hsa_amd_vmem_address_reserve((void**)&base, 100, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  // The rest goes when the runtime is shut down.
}

// A file descriptor is the same memory again, also when nobody has its first handle any more.
static void test_shared(void** state) {
  vmem_handle_t memory = make_memory(), again, other;
  int file = -1, stranger = memfd_create("stranger", MFD_CLOEXEC);
  char* base;
  assert_ok(hsa_amd_vmem_export_shareable_handle(&file, memory, 0));
  assert_int_equal(hsa_amd_vmem_import_shareable_handle(stranger, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_vmem_import_shareable_handle(-1, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ok(hsa_amd_vmem_address_reserve((void**)&base, 2 * SIZE, 0, 0));
  assert_ok(hsa_amd_vmem_map(base, SIZE, 0, memory, 0));
  assert_ok(hsa_amd_vmem_handle_release(memory));
  assert_ok(hsa_amd_vmem_import_shareable_handle(file, &again));
  assert_ok(hsa_amd_vmem_map(base + SIZE, SIZE, 0, again, 0));
  base[9] = 17;
  assert_int_equal(base[SIZE + 9], 17);
  assert_ok(hsa_amd_vmem_unmap(base, SIZE));
  assert_ok(hsa_amd_vmem_unmap(base + SIZE, SIZE));
  assert_ok(hsa_amd_vmem_handle_release(again));
  assert_int_equal(hsa_amd_vmem_import_shareable_handle(file, &again), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ok(hsa_amd_vmem_address_free(base, 2 * SIZE));
  close(file);
  close(stranger);
}

static void test_pool_size(void** state) {
  hsa_amd_memory_pool_t pool = first_pool();
  vmem_handle_t memory;
  void* more;
  size_t size;
  assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  assert_int_equal(hsa_amd_vmem_handle_create(pool, size + 4096, 0, 0, &memory), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  vmem_handle_t half = make_memory();
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, size, 0, &more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_ok(hsa_amd_vmem_handle_release(half));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_aliases),   cmocka_unit_test(test_access),  cmocka_unit_test(test_shared),
      cmocka_unit_test(test_pool_size), cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
