// Memory that comes and goes in queue order.
#include "cts.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

static const iree_hal_buffer_params_t local_params = {
    .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
    .usage = IREE_HAL_BUFFER_USAGE_DEFAULT,
};
static const iree_hal_buffer_params_t host_params = {
    .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
    .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
};

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

// A timeline whose every operation comes after the one before.
typedef struct chain_t {
  iree_hal_semaphore_t* semaphore;
  uint64_t value, before;
  iree_hal_queue_affinity_t affinity;
} chain_t;

static chain_t chain_begin(void) { return (chain_t){.semaphore = cts_semaphore(0), .affinity = ANY}; }

static void chain_end(chain_t* chain) {
  wait_for(chain->semaphore, chain->value);
  iree_hal_semaphore_release(chain->semaphore);
}

static iree_hal_semaphore_list_t chain_waits(chain_t* chain) {
  chain->before = chain->value++;
  return (iree_hal_semaphore_list_t){1, &chain->semaphore, &chain->before};
}

static iree_hal_semaphore_list_t chain_signals(chain_t* chain) {
  return (iree_hal_semaphore_list_t){1, &chain->semaphore, &chain->value};
}

static iree_hal_buffer_t* chain_alloca(chain_t* chain, iree_hal_buffer_params_t params, iree_device_size_t size,
                                       iree_hal_alloca_flags_t flags) {
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_semaphore_list_t waits = chain_waits(chain);
  CHECK_OK(iree_hal_device_queue_alloca(cts.device, chain->affinity, waits, chain_signals(chain), NULL, params, size,
                                        flags, &buffer));
  return buffer;
}

static void chain_dealloca(chain_t* chain, iree_hal_buffer_t* buffer, iree_hal_dealloca_flags_t flags) {
  iree_hal_semaphore_list_t waits = chain_waits(chain);
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, chain->affinity, waits, chain_signals(chain), buffer, flags));
}

static void chain_fill(chain_t* chain, iree_hal_buffer_t* buffer, uint32_t pattern) {
  iree_hal_semaphore_list_t waits = chain_waits(chain);
  CHECK_OK(iree_hal_device_queue_fill(cts.device, chain->affinity, waits, chain_signals(chain), buffer, 0,
                                      IREE_HAL_WHOLE_BUFFER, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
}

static void chain_copy_word(chain_t* chain, iree_hal_buffer_t* from, iree_device_size_t index, iree_hal_buffer_t* to,
                            iree_device_size_t to_index) {
  iree_hal_semaphore_list_t waits = chain_waits(chain);
  CHECK_OK(iree_hal_device_queue_copy(cts.device, chain->affinity, waits, chain_signals(chain), from, index * 4, to,
                                      to_index * 4, 4, IREE_HAL_COPY_FLAG_NONE));
}

// Sizes from nothing to more than pools keep, all of them used to the last word.
static void sizes(void** state) {
  SKIP_WITHOUT_RESULTS();
  static const iree_device_size_t all[] = {4, 60, 256, 4096, 4100, 1 << 20, (40 << 20) + 4};
  iree_hal_buffer_t* out = cts_buffer(sizeof(all), 0);
  chain_t chain = chain_begin();
  for (uint32_t i = 0; i < IREE_ARRAYSIZE(all); ++i) {
    iree_hal_buffer_t* buffer = chain_alloca(&chain, local_params, all[i], IREE_HAL_ALLOCA_FLAG_NONE);
    assert_int_equal(iree_hal_buffer_byte_length(buffer), all[i]);
    assert_true(iree_hal_buffer_allocation_size(buffer) >= all[i]);
    chain_fill(&chain, buffer, i + 100);
    chain_copy_word(&chain, buffer, all[i] / 4 - 1, out, i);
    chain_dealloca(&chain, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
    iree_hal_buffer_release(buffer);
  }
  chain_end(&chain);
  for (uint32_t i = 0; i < IREE_ARRAYSIZE(all); ++i) assert_int_equal(cts_word(out, i), i + 100);
  iree_hal_buffer_release(out);
}

static void nothing_allocated(void** state) {
  chain_t chain = chain_begin();
  iree_hal_buffer_t* buffer = chain_alloca(&chain, local_params, 0, IREE_HAL_ALLOCA_FLAG_NONE);
  assert_int_equal(iree_hal_buffer_byte_length(buffer), 0);
  chain_dealloca(&chain, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
  iree_hal_buffer_release(buffer);
  chain_end(&chain);
}

static void alignments(void** state) {
  for (iree_device_size_t alignment = 1; alignment <= 4096; alignment *= 8) {
    chain_t chain = chain_begin();
    iree_hal_buffer_params_t params = host_params;
    params.min_alignment = alignment;
    iree_hal_buffer_t* buffer = chain_alloca(&chain, params, 100, IREE_HAL_ALLOCA_FLAG_NONE);
    wait_for(chain.semaphore, chain.value);
    iree_hal_buffer_mapping_t mapping;
    CHECK_OK(
        iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0, 100, &mapping));
    assert_int_equal((uintptr_t)mapping.contents.data % alignment, 0);
    CHECK_OK(iree_hal_buffer_unmap_range(&mapping));
    chain_dealloca(&chain, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
    iree_hal_buffer_release(buffer);
    chain_end(&chain);
  }
}

// Two at a time, so that memory goes from one to the next in all ways: on one queue, across queues, with and without
// leave to wait for it.
static void memory_goes_round(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { ROUNDS = 80, WORDS = 70000 };
  iree_hal_buffer_t *out = cts_buffer(ROUNDS * 8, 0), *before = NULL;
  chain_t chain = chain_begin();
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    chain.affinity = 1ull << i / 3 % 4;
    iree_hal_buffer_t* buffer =
        chain_alloca(&chain, local_params, WORDS * 4,
                     i % 2 ? IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER : IREE_HAL_ALLOCA_FLAG_NONE);
    chain_fill(&chain, buffer, i * 3 + 1);
    if (before) {
      chain_copy_word(&chain, before, WORDS - 1, out, i * 2);
      chain_dealloca(&chain, before, IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN);
      iree_hal_buffer_release(before);
    }
    chain_copy_word(&chain, buffer, i * 7, out, i * 2 + 1);
    before = buffer;
  }
  chain_dealloca(&chain, before, IREE_HAL_DEALLOCA_FLAG_NONE);
  iree_hal_buffer_release(before);
  chain_end(&chain);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    if (i) assert_int_equal(cts_word(out, i * 2), (i - 1) * 3 + 1);
    assert_int_equal(cts_word(out, i * 2 + 1), i * 3 + 1);
  }
  iree_hal_buffer_release(out);
}

// Chains that do not know of each other never have the same memory at once.
static void independent_chains(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { CHAINS = 4, ROUNDS = 25, WORDS = 3000 };
  iree_hal_buffer_t* out = cts_buffer(CHAINS * ROUNDS * 4, 0);
  chain_t chains[CHAINS];
  for (int i = 0; i < CHAINS; ++i) {
    chains[i] = chain_begin();
    chains[i].affinity = 1ull << i;
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    for (uint32_t i = 0; i < CHAINS; ++i) {
      iree_hal_buffer_t* buffer =
          chain_alloca(&chains[i], local_params, WORDS * 4,
                       round % 3 ? IREE_HAL_ALLOCA_FLAG_NONE : IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER);
      chain_fill(&chains[i], buffer, round * CHAINS + i);
      chain_copy_word(&chains[i], buffer, round * 11, out, round * CHAINS + i);
      chain_dealloca(&chains[i], buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
      iree_hal_buffer_release(buffer);
    }
  }
  for (int i = 0; i < CHAINS; ++i) chain_end(&chains[i]);
  for (uint32_t i = 0; i < CHAINS * ROUNDS; ++i) assert_int_equal(cts_word(out, i), i);
  iree_hal_buffer_release(out);
}

// Parts of memory that is not there yet.
static void subspans(void** state) {
  SKIP_WITHOUT_RESULTS();
  chain_t chain = chain_begin();
  iree_hal_semaphore_t* start = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(start, 1), CTS_POINT(chain.semaphore, 1),
                                         IREE_HAL_EXECUTE_FLAG_NONE));
  chain.value = 1;
  iree_hal_buffer_t *buffer = chain_alloca(&chain, host_params, 256, IREE_HAL_ALLOCA_FLAG_NONE), *part = NULL;
  CHECK_OK(iree_hal_buffer_subspan(buffer, 64, 128, cts.host_allocator, &part));
  chain_fill(&chain, buffer, 0x01010101);
  chain_fill(&chain, part, 0x02020202);
  CHECK_OK(iree_hal_semaphore_signal(start, 1, NULL));
  wait_for(chain.semaphore, chain.value);
  cts_expect_bytes(buffer, 0, 64, 1);
  cts_expect_bytes(buffer, 64, 192, 2);
  cts_expect_bytes(buffer, 192, 256, 1);
  // Freeing a part frees the whole.
  chain_dealloca(&chain, part, IREE_HAL_DEALLOCA_FLAG_NONE);
  wait_for(chain.semaphore, chain.value);
  uint8_t byte = 0;
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_buffer_map_read(buffer, 0, &byte, 1));
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(start);
  chain_end(&chain);
}

// Bindings of a table and of a single dispatch.
static void bindings(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 64 };
  const uint32_t constants[] = {3, 1};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  const iree_hal_buffer_ref_t slots[] = {iree_hal_make_indirect_buffer_ref(0, 0, COUNT * 4),
                                         iree_hal_make_indirect_buffer_ref(1, 0, COUNT * 4)};
  CHECK_OK(cts_dispatch(commands, CTS_SCALE, COUNT, 2, constants, 2, slots));
  cts_end(commands);
  for (int round = 0; round < 3; ++round) {
    chain_t chain = chain_begin();
    iree_hal_buffer_t* in = chain_alloca(&chain, local_params, COUNT * 4, IREE_HAL_ALLOCA_FLAG_NONE);
    iree_hal_buffer_t* middle = chain_alloca(&chain, local_params, COUNT * 4, IREE_HAL_ALLOCA_FLAG_NONE);
    iree_hal_buffer_t* out = chain_alloca(&chain, host_params, COUNT * 4, IREE_HAL_ALLOCA_FLAG_NONE);
    chain_fill(&chain, in, (uint32_t)round);
    const iree_hal_buffer_binding_t table[] = {{in, 0, COUNT * 4}, {middle, 0, COUNT * 4}};
    iree_hal_semaphore_list_t waits = chain_waits(&chain);
    CHECK_OK(iree_hal_device_queue_execute(cts.device, ANY, waits, chain_signals(&chain), commands,
                                           (iree_hal_buffer_binding_table_t){2, table}, IREE_HAL_EXECUTE_FLAG_NONE));
    const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(middle, 0, COUNT * 4),
                                          iree_hal_make_buffer_ref(out, 0, COUNT * 4)};
    waits = chain_waits(&chain);
    CHECK_OK(iree_hal_device_queue_dispatch(cts.device, ANY, waits, chain_signals(&chain), cts.executable,
                                            iree_hal_executable_function_from_index(CTS_SCALE),
                                            iree_hal_make_static_dispatch_config(COUNT, 1, 1),
                                            iree_make_const_byte_span(constants, sizeof(constants)),
                                            (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
    chain_dealloca(&chain, in, IREE_HAL_DEALLOCA_FLAG_NONE);
    chain_dealloca(&chain, middle, IREE_HAL_DEALLOCA_FLAG_NONE);
    wait_for(chain.semaphore, chain.value);
    for (int i = 0; i < COUNT; ++i) assert_int_equal(cts_word(out, i), (round * 3 + 1) * 3 + 1);
    chain_dealloca(&chain, out, IREE_HAL_DEALLOCA_FLAG_NONE);
    iree_hal_buffer_release(in);
    iree_hal_buffer_release(middle);
    iree_hal_buffer_release(out);
    chain_end(&chain);
  }
  iree_hal_command_buffer_release(commands);
}

// Never freed in a queue: it goes with its handle, also when the device is gone by then.
static void never_freed(void** state) {
  chain_t chain = chain_begin();
  iree_hal_buffer_t* buffer = chain_alloca(&chain, local_params, 5000, IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME);
  chain_fill(&chain, buffer, 1);
  chain_end(&chain);
  iree_hal_buffer_release(buffer);
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_driver_create_default_device(cts.driver, NULL, cts.host_allocator, &device));
  CHECK_OK(iree_hal_device_queue_alloca(device, ANY, NOW, NOW, NULL, local_params, 5000, IREE_HAL_ALLOCA_FLAG_NONE,
                                        &buffer));
  iree_hal_device_release(device);
  iree_hal_buffer_release(buffer);
}

// A failure before it: no memory, and none for what comes after.
static void failed_before(void** state) {
  iree_hal_semaphore_t *start = cts_semaphore(0), *a = cts_semaphore(0), *b = cts_semaphore(0);
  iree_hal_buffer_t* buffer = NULL;
  const uint8_t pattern = 1;
  CHECK_OK(iree_hal_device_queue_alloca(cts.device, ANY, CTS_POINT(start, 1), CTS_POINT(a, 1), NULL, host_params, 64,
                                        IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
  CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, CTS_POINT(a, 1), CTS_POINT(b, 1), buffer, 0, 64, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  iree_hal_semaphore_fail(start, iree_make_status(IREE_STATUS_UNAUTHENTICATED, "who goes there"));
  CHECK_CODE(UNAUTHENTICATED, iree_hal_semaphore_wait(b, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  uint8_t byte = 0;
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_buffer_map_read(buffer, 0, &byte, 1));
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
}

static void bad_requests(void** state) {
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_status_t status = iree_hal_device_queue_alloca(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), NULL, local_params,
                                                      IREE_DEVICE_SIZE_MAX - 10, IREE_HAL_ALLOCA_FLAG_NONE, &buffer);
  // Refused now, or when it runs.
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  assert_true(iree_status_is_resource_exhausted(status) || iree_status_is_out_of_range(status));
  iree_status_free(status);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
}

static void released_twice(void** state) {
  chain_t chain = chain_begin();
  iree_hal_buffer_t* buffer = chain_alloca(&chain, local_params, 64, IREE_HAL_ALLOCA_FLAG_NONE);
  chain_dealloca(&chain, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
  iree_hal_semaphore_list_t waits = CTS_POINT(chain.semaphore, chain.value);
  CHECK_CODE(FAILED_PRECONDITION,
             iree_hal_device_queue_dealloca(cts.device, ANY, waits, iree_hal_semaphore_list_empty(), buffer,
                                            IREE_HAL_DEALLOCA_FLAG_NONE));
  iree_hal_buffer_release(buffer);
  chain_end(&chain);
}

static void trim_while_in_use(void** state) {
  SKIP_WITHOUT_RESULTS();
  chain_t chain = chain_begin();
  iree_hal_buffer_t* out = cts_buffer(40, 0);
  for (uint32_t i = 0; i < 10; ++i) {
    iree_hal_buffer_t* buffer = chain_alloca(&chain, local_params, 100000, IREE_HAL_ALLOCA_FLAG_NONE);
    chain_fill(&chain, buffer, i + 5);
    CHECK_OK(iree_hal_device_trim(cts.device));
    chain_copy_word(&chain, buffer, 24999, out, i);
    chain_dealloca(&chain, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
    CHECK_OK(iree_hal_device_trim(cts.device));
    iree_hal_buffer_release(buffer);
  }
  chain_end(&chain);
  for (uint32_t i = 0; i < 10; ++i) assert_int_equal(cts_word(out, i), i + 5);
  iree_hal_buffer_release(out);
}

CTS_SUITE(memory, cmocka_unit_test(sizes), cmocka_unit_test(nothing_allocated), cmocka_unit_test(alignments),
          cmocka_unit_test(memory_goes_round), cmocka_unit_test(independent_chains), cmocka_unit_test(subspans),
          cmocka_unit_test(bindings), cmocka_unit_test(never_freed), cmocka_unit_test(failed_before),
          cmocka_unit_test(bad_requests), cmocka_unit_test(released_twice), cmocka_unit_test(trim_while_in_use));
