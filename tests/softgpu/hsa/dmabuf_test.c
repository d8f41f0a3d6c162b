// Memory shared by file descriptors: between GPUs, and with a process that has no HSA.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "hsa_test.h"

// Newer than Debian's headers.
hsa_status_t hsa_amd_portable_export_dmabuf(const void* pointer, size_t size, int* file, uint64_t* offset);
hsa_status_t hsa_amd_portable_close_dmabuf(int file);

enum { SIZE = 10000, WORDS = SIZE / 4 };

static hsa_status_t map(uint32_t gpu, int file, size_t* size, uint32_t** out) {
  return hsa_amd_interop_map_buffer(1, &test_gpus[gpu], file, 0, size, (void**)out, NULL, NULL);
}

// All see the same memory, which keeps what it had, for as long as anybody has it.
static void shared_memory(void** state) {
  uint32_t *memory = test_gpu_memory(0, SIZE), *first = NULL, *second = NULL;
  int file = -1, again = -1;
  uint64_t offset = 99;
  size_t size = 0;
  for (uint32_t i = 0; i < WORDS; ++i) memory[i] = i * 7;
  assert_ok(hsa_amd_portable_export_dmabuf(memory, SIZE, &file, &offset));
  assert_int_equal(offset, 0);
  for (uint32_t i = 0; i < WORDS; ++i) assert_int_equal(memory[i], i * 7);
  assert_ok(map(1, file, &size, &first));
  assert_int_equal(size, 12288);
  assert_int_equal(first[WORDS - 1], (WORDS - 1) * 7);
  memory[3] = 1;
  assert_int_equal(first[3], 1);
  assert_ok(hsa_amd_portable_export_dmabuf(memory + 100, 4, &again, &offset));
  assert_int_equal(offset, 400);
  assert_ok(map(0, again, &size, &second));
  second[5] = 2;
  assert_int_equal(memory[5], 2);
  assert_ok(hsa_amd_portable_close_dmabuf(again));
  assert_ok(hsa_amd_memory_pool_free(memory));
  assert_int_equal(first[5], 2);
  first[6] = 3;
  assert_int_equal(second[6], 3);
  pid_t child = fork();
  if (!child) {
    uint32_t* mine = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mine[7] = mine[6] + 1;
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(first[7], 4);
  assert_ok(hsa_amd_interop_unmap_buffer(first));
  assert_int_equal(hsa_amd_interop_unmap_buffer(first), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ok(hsa_amd_portable_close_dmabuf(file));
  // `second` is left for hsa_shut_down. Memory at the same address is not shared any more.
  uint32_t* other = test_gpu_memory(0, SIZE);
  other[5] = 9;
  assert_int_equal(second[5], 2);
}

static void refusals(void** state) {
  uint32_t *memory = test_gpu_memory(0, SIZE), *mapped = NULL;
  int file = -1, pipes[2];
  uint64_t offset;
  size_t size;
  assert_int_equal(hsa_amd_portable_export_dmabuf(&file, 4, &file, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_portable_export_dmabuf(memory, SIZE + 1, &file, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_portable_export_dmabuf(memory, 0, &file, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(map(0, -1, &size, &mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pipe(pipes), 0);
  assert_int_equal(map(0, pipes[0], &size, &mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  close(pipes[0]);
  close(pipes[1]);
  hsa_agent_t none = {1};
  assert_ok(hsa_amd_portable_export_dmabuf(memory, SIZE, &file, &offset));
  assert_int_equal(hsa_amd_interop_map_buffer(1, &none, file, 0, &size, (void**)&mapped, NULL, NULL),
                   HSA_STATUS_ERROR_INVALID_AGENT);
  assert_ok(hsa_amd_portable_close_dmabuf(file));
  assert_ok(hsa_amd_memory_pool_free(memory));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(shared_memory, test_open, test_close),
                                     cmocka_unit_test_setup_teardown(refusals, test_open, test_close)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
