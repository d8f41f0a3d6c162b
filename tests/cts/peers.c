// Devices of one group: what the edge between them says that they can do with each other's memory, they do.
#include <stdio.h>

#include "cts.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/thread.h"

enum { PEERS = 2, COUNT = 64 };

typedef struct peer_t {
  cts_own_t own;
  iree_hal_buffer_t* buffer;
  iree_hal_semaphore_t* semaphore;
} peer_t;

static iree_hal_device_group_t* make_group(const peer_t* peers) {
  iree_hal_device_group_t* group = NULL;
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  for (int i = 0; i < PEERS; ++i) CHECK_OK(iree_hal_device_group_builder_add_device(&builder, peers[i].own.device));
  CHECK_OK(iree_hal_device_group_builder_finalize(&builder, cts.host_allocator, &group));
  return group;
}

static void open_peer(peer_t* peer, int ordinal) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  peer->own = cts_own_open_at(ordinal);
  peer->semaphore = cts_semaphore_of(peer->own.device);
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(peer->own.device), params,
                                              COUNT * sizeof(uint32_t), &peer->buffer));
}

static void close_peer(peer_t* peer) {
  iree_hal_buffer_release(peer->buffer);
  iree_hal_semaphore_release(peer->semaphore);
  cts_own_close(&peer->own);
}

static bool can_read(const iree_hal_device_group_t* group, uint32_t from, uint32_t to) {
  iree_hal_topology_edge_t edge = iree_hal_topology_query_edge(iree_hal_device_group_topology(group), from, to);
  iree_hal_device_t* device = iree_hal_device_group_device_at(group, to);
  const iree_hal_device_topology_info_t* info = iree_hal_device_topology_info(device);
  bool can = iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo) == IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE;
  assert_int_equal(can, (info->can_p2p_with >> from) & 1);
  return can;
}

// In order, each by itself: `out[i] = in[i] * 3 + 1`, and a copy.
static void scale(peer_t* peer, iree_hal_buffer_t* in, iree_hal_buffer_t* out) {
  const uint32_t constants[] = {3, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(in, 0, IREE_HAL_WHOLE_BUFFER),
                                        iree_hal_make_buffer_ref(out, 0, IREE_HAL_WHOLE_BUFFER)};
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(peer->semaphore, &value));
  CHECK_OK(iree_hal_device_queue_dispatch(
      peer->own.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(peer->semaphore, value),
      CTS_POINT(peer->semaphore, value + 1), peer->own.executable, iree_hal_executable_function_from_index(CTS_SCALE),
      iree_hal_make_static_dispatch_config(COUNT, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
      (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(peer->semaphore, value + 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void copy(peer_t* peer, iree_hal_buffer_t* from, iree_hal_buffer_t* to) {
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(peer->semaphore, &value));
  CHECK_OK(iree_hal_device_queue_copy(peer->own.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(peer->semaphore, value),
                                      CTS_POINT(peer->semaphore, value + 1), from, 0, to, 0, COUNT * sizeof(uint32_t),
                                      IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(peer->semaphore, value + 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void write_words(peer_t* peer, uint32_t first) {
  uint32_t words[COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) words[i] = first + i;
  CHECK_OK(iree_hal_device_transfer_h2d(peer->own.device, words, peer->buffer, 0, sizeof(words),
                                        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

static void expect_words(peer_t* peer, uint32_t first, uint32_t step) {
  uint32_t words[COUNT];
  CHECK_OK(iree_hal_device_transfer_d2h(peer->own.device, peer->buffer, 0, words, sizeof(words),
                                        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(words[i], first + step * i);
}

static void use_each_other(void** state) {
  peer_t peers[PEERS];
  if (!cts.is_gpu || cts.device_count < PEERS || cts.is_recorded) skip();
  for (int i = 0; i < PEERS; ++i) open_peer(&peers[i], i);
  iree_hal_device_group_t* group = make_group(peers);
  for (uint32_t i = 0; i < PEERS; ++i) {
    peer_t *reader = &peers[i], *other = &peers[1 - i];
    if (!can_read(group, 1 - i, i)) continue;
    write_words(reader, 0);
    write_words(other, 100 * (i + 1));
    scale(reader, other->buffer, reader->buffer);  // reads the other's
    expect_words(reader, 300 * (i + 1) + 1, 3);
    scale(reader, reader->buffer, other->buffer);  // and writes to it
    expect_words(other, 900 * (i + 1) + 4, 9);
    copy(reader, other->buffer, reader->buffer);
    expect_words(reader, 900 * (i + 1) + 4, 9);
  }
  iree_hal_device_group_release(group);
  for (int i = 0; i < PEERS; ++i) close_peer(&peers[i]);
}

// A chain of work that goes from device to device and back, each step behind the other's last, all submitted before the
// first is waited for: a number that each adds to, in memory that both have where they are peers, else each its own.
static void wait_for_each_other(void** state) {
  enum { STEPS = 40 };
  peer_t peers[PEERS];
  if (!cts.is_gpu || cts.device_count < PEERS || cts.is_recorded) skip();
  for (int i = 0; i < PEERS; ++i) open_peer(&peers[i], i);
  iree_hal_device_group_t* group = make_group(peers);
  bool share = can_read(group, 0, 1) && can_read(group, 1, 0);
  const uint32_t constants[] = {1, 1};
  for (int i = 0; i < PEERS; ++i) write_words(&peers[i], 0);
  for (uint64_t step = 0; step < STEPS; ++step) {
    const peer_t* own = &peers[step % PEERS];
    iree_hal_buffer_t* buffer = share ? peers[0].buffer : own->buffer;
    const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(buffer, 0, IREE_HAL_WHOLE_BUFFER),
                                          iree_hal_make_buffer_ref(buffer, 0, IREE_HAL_WHOLE_BUFFER)};
    CHECK_OK(iree_hal_device_queue_dispatch(
        own->own.device, 1ull << step / PEERS % 2, CTS_POINT(peers[0].semaphore, step),
        CTS_POINT(peers[0].semaphore, step + 1), own->own.executable,
        iree_hal_executable_function_from_index(CTS_SCALE), iree_hal_make_static_dispatch_config(COUNT, 1, 1),
        iree_make_const_byte_span(constants, sizeof(constants)), (iree_hal_buffer_ref_list_t){2, refs},
        IREE_HAL_DISPATCH_FLAG_NONE));
  }
  CHECK_OK(iree_hal_semaphore_wait(peers[0].semaphore, STEPS, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  for (uint32_t i = 0; i < (share ? 1 : PEERS); ++i) {
    uint32_t words[COUNT];
    CHECK_OK(iree_hal_device_transfer_d2h(peers[i].own.device, peers[i].buffer, 0, words, sizeof(words),
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    for (uint32_t j = 0; j < COUNT; ++j) assert_int_equal(words[j], j + (share ? STEPS : STEPS / PEERS));
  }
  iree_hal_device_group_release(group);
  for (int i = 0; i < PEERS; ++i) close_peer(&peers[i]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Many threads
//===----------------------------------------------------------------------------------------------------------------===

enum { CROSSERS = 6, SUBMISSIONS = 150, IN_FLIGHT = 32 };

// A thread with a device of its own, whose counter each of its steps adds to.
typedef struct crosser_t {
  peer_t* peer;
  uint32_t index, errors;
  iree_hal_semaphore_t* timeline;  // of its device, or of another one
  iree_hal_buffer_t* counter;
  iree_atomic_uint64_t promised;  // the value that submitted work will reach
  struct crosser_t* others;
  iree_thread_t* thread;
} crosser_t;

static void note(crosser_t* c, iree_status_t status) {
  if (!iree_status_is_ok(status) && !c->errors) iree_status_fprint(stderr, status);
  c->errors += !iree_status_is_ok(status);
  iree_status_free(status);
}

// Behind its own last step and whatever another thread has submitted.
static void submit_step(crosser_t* c, uint64_t step) {
  const uint32_t constants[] = {1, 1};
  crosser_t* other = &c->others[(c->index + 1 + step) % CROSSERS];
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(c->counter, 0, IREE_HAL_WHOLE_BUFFER);
  const iree_hal_buffer_ref_t refs[] = {ref, ref};
  iree_hal_semaphore_t* semaphores[] = {c->timeline, other->timeline};
  uint64_t values[] = {step, iree_atomic_load(&other->promised, iree_memory_order_acquire)};
  note(c, iree_hal_device_queue_dispatch(c->peer->own.device, 1ull << step % 2,
                                         (iree_hal_semaphore_list_t){other == c ? 1 : 2, semaphores, values},
                                         CTS_POINT(c->timeline, step + 1), c->peer->own.executable,
                                         iree_hal_executable_function_from_index(CTS_SCALE),
                                         iree_hal_make_static_dispatch_config(COUNT, 1, 1),
                                         iree_make_const_byte_span(constants, sizeof(constants)),
                                         (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
  iree_atomic_store(&c->promised, step + 1, iree_memory_order_release);
}

static int cross(void* arg) {
  crosser_t* c = (crosser_t*)arg;
  for (uint64_t step = 0; step < SUBMISSIONS && !c->errors; ++step) {
    submit_step(c, step);
    bool waits = step % IN_FLIGHT == IN_FLIGHT - 1 || step == SUBMISSIONS - 1;
    if (!waits) continue;
    note(c, iree_hal_semaphore_wait(c->timeline, step + 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  return 0;
}

// Two threads' devices in turn; every other one's semaphores are the other device's.
static void threads_cross(void** state) {
  static crosser_t all[CROSSERS];
  peer_t peers[PEERS];
  if (!cts.is_gpu || cts.device_count < PEERS || cts.is_recorded) skip();
  memset(all, 0, sizeof(all));
  for (int i = 0; i < PEERS; ++i) open_peer(&peers[i], i);
  for (uint32_t i = 0; i < CROSSERS; ++i) {
    crosser_t* c = &all[i];
    c->index = i;
    c->others = all;
    c->peer = &peers[i % PEERS];
    c->counter = cts_buffer_of(c->peer->own.device, COUNT * sizeof(uint32_t));
    c->timeline = cts_semaphore_of(peers[(i + i / PEERS) % PEERS].own.device);
  }
  for (uint32_t i = 0; i < CROSSERS; ++i) {
    iree_thread_create_params_t params = {.name = IREE_SV("crosser")};
    CHECK_OK(iree_thread_create(cross, &all[i], params, cts.host_allocator, &all[i].thread));
  }
  for (uint32_t i = 0; i < CROSSERS; ++i) iree_thread_release(all[i].thread);
  for (uint32_t i = 0; i < CROSSERS; ++i) {
    uint32_t word = 0;
    CHECK_OK(iree_hal_buffer_map_read(all[i].counter, 0, &word, sizeof(word)));
    assert_int_equal(all[i].errors, 0);
    assert_int_equal(word, SUBMISSIONS);
    iree_hal_buffer_release(all[i].counter);
    iree_hal_semaphore_release(all[i].timeline);
  }
  for (int i = 0; i < PEERS; ++i) close_peer(&peers[i]);
}

CTS_SUITE(peers, cmocka_unit_test(use_each_other), cmocka_unit_test(wait_for_each_other),
          cmocka_unit_test(threads_cross));
