// Memory: allocations and what is said of them, copies and fills of all shapes, pools, virtual memory, peers.
#include "cuda_test.h"

static void allocations_are_known(void** state) {
  uint64_t address, base;
  size_t size, free_before, free_after, total;
  unsigned type;
  int ordinal;
  OK(cuMemGetInfo_v2(&free_before, &total));
  OK(cuMemAlloc_v2(&address, 1000));
  OK(cuMemGetInfo_v2(&free_after, &total));
  assert_int_equal(free_before - free_after, 1000);
  OK(cuMemGetAddressRange_v2(&base, &size, address + 999));
  assert_int_equal(base, address);
  assert_int_equal(size, 1000);
  OK(cuPointerGetAttribute(&type, 2, address));
  assert_int_equal(type, MEMORY_TYPE_DEVICE);
  OK(cuPointerGetAttribute(&ordinal, 9, address));
  assert_int_equal(ordinal, 0);
  FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange_v2(&base, &size, address + 1000));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(address + 4));
  OK(cuMemFree_v2(address));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(address));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&address, total + 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&address, 0));
}

static void host_memory(void** state) {
  static uint32_t words[1024];
  void* host;
  unsigned flags;
  uint64_t address;
  OK(cuMemHostAlloc(&host, 64, 2));
  OK(cuMemHostGetFlags(&flags, host));
  assert_int_equal(flags, 2);
  OK(cuMemHostGetDevicePointer_v2(&address, host, 0));
  OK(cuMemsetD8_v2(address, 3, 64));
  assert_int_equal(((uint8_t*)host)[63], 3);
  OK(cuMemFreeHost(host));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&address, words, 0));
  OK(cuMemHostRegister_v2(words, sizeof(words), 0));
  FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(words + 16, 4, 0));
  OK(cuMemHostGetDevicePointer_v2(&address, words + 8, 0));
  OK(cuMemsetD32_v2(address, 9, 1));
  assert_int_equal(words[8], 9);
  OK(cuMemHostUnregister(words));
  FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(words));
}

// Few bytes of memory that is not pinned are taken when the call returns.
static void pageable_sources_are_taken(void** state) {
  stream_t* stream;
  test_gate_t gate = {0};
  uint32_t source = 11, target = 0;
  uint64_t word = test_words(1, 0);
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(cuMemcpyHtoDAsync_v2(word, &source, sizeof(source), stream));
  source = 12;
  test_open(&gate);
  OK(cuMemcpyDtoHAsync_v2(&target, word, sizeof(target), stream));
  assert_int_equal(target, 11);
}

static void copies_are_checked(void** state) {
  uint32_t word = 0;
  uint64_t address = test_words(4, 1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(address + 16, &word, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(&word, address + 14, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(address, 64, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(address + 4, 0, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(address + 2, 0, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32_v2(address, 4, 0, 2, 2));
  OK(cuMemcpy(address, (uint64_t)(uintptr_t)&word, 4));
  assert_int_equal(test_word(address), 0);
  OK(cuMemcpy((uint64_t)(uintptr_t)&word, address + 4, 4));
  assert_int_equal(word, 1);
}

static void rectangles(void** state) {
  enum { PITCH = 32, ROWS = 4, PLANES = 3 };
  uint8_t host[PLANES][ROWS][8], back[PLANES][ROWS][8] = {{{0}}};
  uint64_t memory;
  size_t pitch;
  for (int i = 0; i < (int)sizeof(host); ++i) ((uint8_t*)host)[i] = (uint8_t)i;
  OK(cuMemAllocPitch_v2(&memory, &pitch, 100, 3, 4));
  assert_int_equal(pitch, 512);
  OK(cuMemFree_v2(memory));
  OK(cuMemAlloc_v2(&memory, PITCH * (ROWS + 1) * PLANES));
  OK(cuMemsetD8_v2(memory, 0xee, PITCH * (ROWS + 1) * PLANES));
  copy_3d_t copy = {
      .source = {.type = MEMORY_TYPE_HOST, .host = host, .pitch = 8, .height = ROWS},
      .target = {.type = MEMORY_TYPE_DEVICE, .device = memory, .pitch = PITCH, .height = ROWS + 1, .x = 4, .y = 1},
      .width = 6,
      .height = ROWS,
      .depth = PLANES};
  OK(cuMemcpy3D_v2(&copy));
  copy_side_t side = copy.source;
  copy.source = copy.target;
  copy.target = side;
  copy.target.host = back;
  OK(cuMemcpy3D_v2(&copy));
  for (int z = 0; z < PLANES; ++z) {
    for (int y = 0; y < ROWS; ++y) assert_memory_equal(back[z][y], host[z][y], 6);
  }
  assert_int_equal(back[0][0][6], 0);
  assert_int_equal(test_word(memory), 0xeeeeeeee);
  OK(cuMemsetD2D16_v2(memory + 2, PITCH, 0x1234, 1, 3));
  assert_int_equal(test_word(memory), 0x1234eeee);
  assert_int_equal(test_word(memory + 2 * PITCH), 0x1234eeee);
  assert_int_equal(test_word(memory + 3 * PITCH), 0xeeeeeeee);
  copy_2d_t flat = {.source = {.type = MEMORY_TYPE_DEVICE, .device = memory, .pitch = PITCH},
                    .target = {.type = MEMORY_TYPE_ARRAY},
                    .width = 4,
                    .height = 1};
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy2D_v2(&flat));
}

static void pools_follow_streams(void** state) {
  stream_t* stream;
  pool_t *pool, *default_pool;
  uint64_t memory, used;
  test_gate_t gate = {0};
  uint32_t word = 0;
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuDeviceGetDefaultMemPool(&default_pool, 0));
  pool_props_t props = {.type = 1, .location = {LOCATION_DEVICE, 0}};
  OK(cuMemPoolCreate(&pool, &props));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
  OK(cuMemsetD32Async(memory, 6, 1024, stream));
  OK(cuMemPoolGetAttribute(pool, 7, &used));
  assert_int_equal(used, 4096);
  void* pinned;
  OK(cuMemAllocHost_v2(&pinned, 4));
  OK(cuMemcpyDtoHAsync_v2(pinned, memory + 4092, 4, stream));
  OK(cuMemFreeAsync(memory, stream));
  OK(cuMemPoolGetAttribute(pool, 7, &used));
  assert_int_equal(used, 4096);
  test_open(&gate);
  OK(cuStreamSynchronize(stream));
  assert_int_equal(*(uint32_t*)pinned, 6);
  OK(cuMemPoolGetAttribute(pool, 7, &used));
  assert_int_equal(used, 0);
  OK(cuMemPoolGetAttribute(pool, 8, &used));
  assert_int_equal(used, 4096);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(&word, memory, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(default_pool));
  OK(cuMemPoolDestroy(pool));
}

static void virtual_memory(void** state) {
  size_t granularity;
  uint64_t base;
  physical_t* physical;
  physical_props_t props = {.type = 1, .location = {LOCATION_DEVICE, 0}};
  OK(cuMemGetAllocationGranularity(&granularity, &props, 0));
  OK(cuMemAddressReserve(&base, 2 * granularity, 0, 0, 0));
  OK(cuMemCreate(&physical, granularity, &props, 0));
  OK(cuMemMap(base, granularity, 0, physical, 0));
  OK(cuMemMap(base + granularity, granularity, 0, physical, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(base, 1, 1));
  access_t access = {{LOCATION_DEVICE, 0}, 3};
  OK(cuMemSetAccess(base, 2 * granularity, &access, 1));
  unsigned long long flags;
  OK(cuMemGetAccess(&flags, &access.location, base));
  assert_int_equal(flags, 3);
  OK(cuMemRelease(physical));
  OK(cuMemsetD32_v2(base + granularity - 4, 5, 2));
  assert_int_equal(test_word(base), 5);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 2 * granularity));
  OK(cuMemUnmap(base, 2 * granularity));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(base, 1, 1));
  OK(cuMemAddressFree(base, 2 * granularity));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&props, physical));
}

static void peers(void** state) {
  context_t* other;
  uint64_t here = test_words(4, 3), there;
  int can = 0;
  OK(cuDeviceCanAccessPeer(&can, 0, 1));
  assert_int_equal(can, 1);
  OK(cuDeviceCanAccessPeer(&can, 0, 0));
  assert_int_equal(can, 0);
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  OK(cuCtxPushCurrent_v2(other));
  there = test_words(4, 0);
  OK(cuCtxPopCurrent_v2(NULL));
  OK(cuMemcpyPeer(there, other, here, test_context, 16));
  assert_int_equal(test_word(there + 12), 3);
  OK(cuCtxEnablePeerAccess(other, 0));
  FAILS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other, 0));
  void* parameters[] = {&there};
  OK(test_launch(test_function("increment"), NULL, parameters));
  OK(cuCtxSynchronize());
  assert_int_equal(test_word(there), 4);
  OK(cuCtxDisablePeerAccess(other));
  FAILS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxEnablePeerAccess(test_context, 0));
  OK(cuDevicePrimaryCtxRelease_v2(1));
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {
      TEST(allocations_are_known), TEST(host_memory), TEST(pageable_sources_are_taken),
      TEST(copies_are_checked),    TEST(rectangles),  TEST(pools_follow_streams),
      TEST(virtual_memory),        TEST(peers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
