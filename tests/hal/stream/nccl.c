// Channels of NCCL on two GPUs, over a double of the library: every collective in memory that the host does not see,
// order, failures of every entry point and those that the library tells of later, ids, and what is said where there is
// no library.
//
//   iree-softgpu --target=sm_90 --gpus=2 -- hal_stream_nccl
#include <dlfcn.h>

#include "hal/stream/queue.h"
#include "nccl_fixture.h"

//===----------------------------------------------------------------------------------------------------------------===
// Collectives
//===----------------------------------------------------------------------------------------------------------------===

// Small numbers, which all types have.
static int input(int rank, int index) { return 1 + (index * 3 + rank * 2) % 4; }

typedef struct element_type_t {
  int type, size;
  bool is_float;
} element_type_t;
#define TYPE(name, size, is_float) {IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##name, size, is_float}
static const element_type_t types[] = {TYPE(SINT_8, 1, false),  TYPE(UINT_8, 1, false),  TYPE(SINT_32, 4, false),
                                       TYPE(UINT_32, 4, false), TYPE(SINT_64, 8, false), TYPE(UINT_64, 8, false),
                                       TYPE(FLOAT_16, 2, true), TYPE(FLOAT_32, 4, true), TYPE(FLOAT_64, 8, true),
                                       TYPE(BFLOAT_16, 2, true)};
static const element_type_t words = TYPE(UINT_32, 4, false);

static void set(const element_type_t* type, uint8_t* data, int index, double value) {
  int64_t integer = (int64_t)value;
  float single = (float)value;
  _Float16 half = (_Float16)value;
  const void* source = type->is_float ? (const void*)&value : &integer;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32) source = &single;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16) source = &half;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16) source = (const uint8_t*)&single + 2;
  memcpy(data + index * type->size, source, (size_t)type->size);
}

static void put_inputs(world_t* world, const element_type_t* type) {
  for (int rank = 0; rank < RANKS; ++rank) {
    uint8_t data[MAX_BYTES] = {0};
    put(rank, world->recvs[rank], data);
    for (int i = 0; i < RANKS * ELEMENTS; ++i) set(type, data, i, input(rank, i));
    put(rank, world->sends[rank], data);
  }
}

static double reduced(const element_type_t* type, int reduction, int index) {
  double x = input(0, index), y = input(1, index);
  switch (reduction) {
    case IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT:
      return x * y;
    case IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM:
      return x < y ? x : y;
    case IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM:
      return x > y ? x : y;
    case IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE:
      return type->is_float ? (x + y) / 2 : (double)((int)(x + y) / 2);
    default:
      return x + y;
  }
}

static void test_reductions(void** state) {
  world_t world = open_world();
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    put_inputs(&world, &types[i]);
    for (int reduction = 1; reduction <= IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE; ++reduction) {
      uint8_t expected[MAX_BYTES];
      run(&world, make_op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, reduction, types[i].type), NULL, ELEMENTS);
      for (int j = 0; j < ELEMENTS; ++j) set(&types[i], expected, j, reduced(&types[i], reduction, j));
      for (int rank = 0; rank < RANKS; ++rank) expect(rank, world.recvs[rank], expected, ELEMENTS * types[i].size);
    }
  }
  iree_hal_command_buffer_t* commands = begin(0);
  CHECK_CODE(UNIMPLEMENTED, "all_reduce sum si16: NCCL has no reductions of 16-bit integers",
             record(&world, commands, 0, OP(ALL_REDUCE, SUM, SINT_16), 0, 1));
  iree_hal_command_buffer_release(commands);
  close_world(&world);
}

// One root has the result, the other rank nothing; and each rank a part of it.
static void test_partial_reductions(void** state) {
  world_t world = open_world();
  static const uint32_t root[RANKS] = {1, 1};
  uint8_t expected[MAX_BYTES], zeros[MAX_BYTES] = {0};
  put_inputs(&world, &words);
  for (int j = 0; j < RANKS * ELEMENTS; ++j) set(&words, expected, j, input(0, j) + input(1, j));
  run(&world, OP(REDUCE, SUM, UINT_32), root, ELEMENTS);
  expect(1, world.recvs[1], expected, ELEMENTS * 4);
  expect(0, world.recvs[0], zeros, ELEMENTS * 4);
  run(&world, OP(REDUCE_SCATTER, SUM, UINT_32), NULL, ELEMENTS);
  for (int rank = 0; rank < RANKS; ++rank) {
    expect(rank, world.recvs[rank], expected + rank * ELEMENTS * 4, ELEMENTS * 4);
  }
  close_world(&world);
}

static void test_movements(void** state) {
  world_t world = open_world();
  static const uint32_t root[RANKS] = {1, 1};
  uint8_t expected[MAX_BYTES], zeros[MAX_BYTES] = {0};
  put_inputs(&world, &words);
  run(&world, OP(BROADCAST, NONE, UINT_32), root, ELEMENTS);
  for (int j = 0; j < ELEMENTS; ++j) set(&words, expected, j, input(1, j));
  expect(0, world.recvs[0], expected, ELEMENTS * 4);
  expect(1, world.recvs[1], zeros, ELEMENTS * 4);
  run(&world, OP(ALL_GATHER, NONE, UINT_32), NULL, ELEMENTS);
  for (int j = 0; j < RANKS * ELEMENTS; ++j) set(&words, expected, j, input(j / ELEMENTS, j % ELEMENTS));
  for (int rank = 0; rank < RANKS; ++rank) expect(rank, world.recvs[rank], expected, RANKS * ELEMENTS * 4);
  // A type that the library does not have.
  const element_type_t halves = TYPE(UINT_16, 2, false);
  const int piece = ELEMENTS / RANKS;
  put_inputs(&world, &halves);
  run(&world, OP(ALL_TO_ALL, NONE, UINT_16), NULL, ELEMENTS);
  for (int rank = 0; rank < RANKS; ++rank) {
    for (int j = 0; j < ELEMENTS; ++j) set(&halves, expected, j, input(j / piece, rank * piece + j % piece));
    expect(rank, world.recvs[rank], expected, ELEMENTS * 2);
  }
  close_world(&world);
}

// Both ranks send before they receive, in one batch: calls of a group start together.
static void test_sends(void** state) {
  world_t world = open_world();
  iree_hal_command_buffer_t* commands[RANKS];
  iree_status_t outcomes[RANKS];
  uint8_t expected[MAX_BYTES], zeros[MAX_BYTES] = {0};
  put_inputs(&world, &words);
  for (uint32_t rank = 0; rank < RANKS; ++rank) {
    commands[rank] = begin((int)rank);
    CHECK_OK(record(&world, commands[rank], (int)rank, OP(SEND, NONE, UINT_32), 1 - rank, ELEMENTS));
    CHECK_OK(record(&world, commands[rank], (int)rank, OP(RECV, NONE, UINT_32), 1 - rank, ELEMENTS));
  }
  submit(&world, commands, outcomes);
  for (int rank = 0; rank < RANKS; ++rank) {
    CHECK_OK(outcomes[rank]);
    for (int j = 0; j < ELEMENTS; ++j) set(&words, expected, j, input(1 - rank, j));
    expect(rank, world.recvs[rank], expected, ELEMENTS * 4);
  }
  // From rank 0 to 1, to whom nobody is: rank 0 receives zeros.
  static const uint32_t chain[RANKS] = {0xFFFF0001u, 0x0000FFFFu};
  run(&world, OP(SEND_RECV, NONE, UINT_32), chain, ELEMENTS);
  expect(0, world.recvs[0], zeros, ELEMENTS * 4);
  for (int j = 0; j < ELEMENTS; ++j) set(&words, expected, j, input(0, j));
  expect(1, world.recvs[1], expected, ELEMENTS * 4);
  close_world(&world);
}

static void add_barrier(iree_hal_command_buffer_t* commands) {
  const iree_hal_memory_barrier_t barrier = {IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE, IREE_HAL_ACCESS_SCOPE_MEMORY_READ};
  CHECK_OK(iree_hal_command_buffer_execution_barrier(commands, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
                                                     IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
                                                     IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &barrier, 0, NULL));
}

// What is before and behind a collective sees its memory in order.
static void test_order(void** state) {
  world_t world = open_world();
  for (uint32_t round = 1; round <= 3; ++round) {
    iree_hal_command_buffer_t* commands[RANKS];
    iree_status_t outcomes[RANKS];
    for (int rank = 0; rank < RANKS; ++rank) {
      const uint32_t pattern = round << rank * 8;
      commands[rank] = begin(rank);
      CHECK_OK(iree_hal_command_buffer_fill_buffer(commands[rank],
                                                   iree_hal_make_buffer_ref(world.sends[rank], 0, ELEMENTS * 4),
                                                   &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
      for (int i = 0; i < 2; ++i) {
        add_barrier(commands[rank]);
        if (i == 0) CHECK_OK(record(&world, commands[rank], rank, OP(ALL_REDUCE, SUM, UINT_32), 0, ELEMENTS));
      }
      CHECK_OK(iree_hal_command_buffer_copy_buffer(
          commands[rank], iree_hal_make_buffer_ref(world.recvs[rank], 0, ELEMENTS * 4),
          iree_hal_make_buffer_ref(world.sends[rank], 0, ELEMENTS * 4), IREE_HAL_COPY_FLAG_NONE));
    }
    submit(&world, commands, outcomes);
    for (int rank = 0; rank < RANKS; ++rank) {
      uint32_t expected[ELEMENTS];
      CHECK_OK(outcomes[rank]);
      for (int j = 0; j < ELEMENTS; ++j) expected[j] = round | round << 8;
      expect(rank, world.sends[rank], expected, sizeof(expected));
    }
  }
  close_world(&world);
}

// Two sums: of what is filled in, and of those sums.
static iree_hal_command_buffer_t* record_sums(world_t* world, int rank, uint32_t pattern) {
  iree_hal_command_buffer_t* commands = begin(rank);
  iree_hal_buffer_ref_t send = iree_hal_make_buffer_ref(world->sends[rank], 0, ELEMENTS * 4);
  iree_hal_buffer_ref_t recv = iree_hal_make_buffer_ref(world->recvs[rank], 0, ELEMENTS * 4);
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, send, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  for (int i = 0; i < 2; ++i) {
    add_barrier(commands);
    CHECK_OK(record(world, commands, rank, OP(ALL_REDUCE, SUM, UINT_32), 0, ELEMENTS));
    add_barrier(commands);
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, recv, send, IREE_HAL_COPY_FLAG_NONE));
  }
  CHECK_OK(iree_hal_command_buffer_end(commands));
  return commands;
}

// The sums, and a copy of them behind.
static void submit_sums(world_t* world, int rank, uint32_t pattern) {
  uint64_t sums = world->value + 1, copied = world->value + 2;
  iree_hal_semaphore_list_t before = {1, &world->done[rank], &sums}, after = {1, &world->done[rank], &copied};
  iree_hal_command_buffer_t* commands = record_sums(world, rank, pattern);
  CHECK_OK(iree_hal_device_queue_execute(test.devices[rank], 1, iree_hal_semaphore_list_empty(), before, commands,
                                         iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_copy(test.devices[rank], 1, before, after, world->sends[rank], 0, world->recvs[rank],
                                      ELEMENTS * 4, ELEMENTS * 4, IREE_HAL_COPY_FLAG_NONE));
  iree_hal_command_buffer_release(commands);
}

static gpu_queue_t* queue_of(int rank) { return ((stream_device_t*)test.devices[rank])->gpu.queues[0]; }

// Parts of the queue: a fill, twice the two of a batch and a copy, and the copy behind.
enum { PARTS_OF_SUMS = 8 };

static void await_parts(int rank, uint64_t head) {
  iree_time_t deadline = iree_time_now() + 20 * (iree_time_t)1000000000;
  while (gpu_queue_head(queue_of(rank)) < head && iree_time_now() < deadline) iree_thread_yield();
  assert_int_equal(gpu_queue_head(queue_of(rank)), head);
}

// A rank whose collectives wait for the other's on the GPU has all that comes behind them in its stream.
static void test_streams(void** state) {
  world_t world = open_world();
  uint32_t expected[ELEMENTS];
  uint64_t value = 0;
  for (int rank = 0; rank < RANKS; ++rank) {
    uint64_t head = gpu_queue_head(queue_of(rank));
    submit_sums(&world, rank, rank ? 5 : 2);
    await_parts(rank, head + PARTS_OF_SUMS);
    CHECK_OK(iree_hal_semaphore_query(world.done[rank], &value));
    if (rank == 0) assert_int_equal(value, 0);
  }
  for (int j = 0; j < ELEMENTS; ++j) expected[j] = 2 * (2 + 5);
  for (int rank = 0; rank < RANKS; ++rank) {
    CHECK_OK(iree_hal_semaphore_wait(world.done[rank], 2, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    expect(rank, world.recvs[rank], expected, sizeof(expected));
  }
  close_world(&world);
}

// What is in the stream behind a collective that is lost there fails with it; the device goes on.
static void test_lost_in_streams(void** state) {
  world_t world = open_world();
  iree_status_t outcomes[RANKS];
  uint64_t value = 0, head = gpu_queue_head(queue_of(0));
  put_inputs(&world, &words);
  run(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  head = gpu_queue_head(queue_of(0));
  submit_sums(&world, 0, 1);
  await_parts(0, head + PARTS_OF_SUMS);
  test.break_rank(1, 2);
  submit_sums(&world, 1, 1);
  for (int rank = 0; rank < RANKS; ++rank) {
    IREE_IGNORE_ERROR(
        iree_hal_semaphore_wait(world.done[rank], world.value + 2, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    outcomes[rank] = iree_hal_semaphore_query(world.done[rank], &value);
  }
  CHECK_CODE(ABORTED, "a rank is gone; rank 0 of 2", outcomes[0]);
  CHECK_CODE(ABORTED, "a collective failed with 2", outcomes[1]);
  close_world(&world);
  world = open_world();
  put_inputs(&world, &words);
  run(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  close_world(&world);
}

static iree_status_t count_chunk(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                 iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  ++*(int*)user_data;
  return iree_ok_status();
}

static iree_status_t begin_session(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata) {
  return iree_ok_status();
}

static iree_status_t end_session(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                 iree_status_code_t session_status_code) {
  return iree_ok_status();
}

// A profile tells of the operations that batches are, and has nothing to say of commands in them.
static void test_profiled(void** state) {
  world_t world = open_world();
  int chunks = 0;
  const iree_hal_profile_sink_callbacks_t callbacks = {
      .user_data = &chunks, .begin_session = begin_session, .write = count_chunk, .end_session = end_session};
  iree_hal_device_profiling_options_t options = {.data_families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
                                                                  IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
                                                                  IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS};
  CHECK_OK(iree_hal_profile_sink_create(callbacks, iree_allocator_system(), &options.sink));
  CHECK_OK(iree_hal_device_profiling_begin(test.devices[0], &options));
  put_inputs(&world, &words);
  run(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  CHECK_OK(iree_hal_device_profiling_end(test.devices[0]));
  assert_true(chunks > 0);
  iree_hal_profile_sink_release(options.sink);
  close_world(&world);
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

typedef struct split_t {
  iree_hal_channel_t *channel, *part;
  int32_t color, key;
  iree_status_t status;
} split_t;

static int run_split(void* arg) {
  split_t* self = (split_t*)arg;
  self->status = iree_hal_channel_split(self->channel, self->color, self->key, 0, &self->part);
  return 0;
}

static void split_all(world_t* world, split_t splits[RANKS]) {
  iree_thread_t* threads[RANKS];
  for (int i = 0; i < RANKS; ++i) {
    splits[i].channel = world->channels[i];
    CHECK_OK(iree_thread_create(run_split, &splits[i], (iree_thread_create_params_t){0}, iree_allocator_system(),
                                &threads[i]));
  }
  for (int i = 0; i < RANKS; ++i) iree_thread_release(threads[i]);
}

static void test_splits(void** state) {
  world_t world = open_world();
  split_t reversed[RANKS] = {{.key = 1}, {.key = 0}};
  split_all(&world, reversed);
  for (int i = 0; i < RANKS; ++i) {
    CHECK_OK(reversed[i].status);
    assert_int_equal(iree_hal_channel_rank(reversed[i].part), 1 - i);
    assert_int_equal(iree_hal_channel_count(reversed[i].part), RANKS);
  }
  world_t part = world;
  for (int i = 0; i < RANKS; ++i) part.channels[i] = reversed[i].part;
  static const uint32_t root[RANKS] = {0, 0};  // rank 0 of the part is rank 1
  uint8_t expected[MAX_BYTES];
  put_inputs(&world, &words);
  run(&part, OP(BROADCAST, NONE, UINT_32), root, ELEMENTS);
  for (int j = 0; j < ELEMENTS; ++j) set(&words, expected, j, input(1, j));
  expect(0, world.recvs[0], expected, ELEMENTS * 4);
  split_t alone[RANKS] = {{.color = 3}, {.color = IREE_HAL_CHANNEL_NO_COLOR}};
  split_all(&world, alone);
  for (int i = 0; i < RANKS; ++i) CHECK_OK(alone[i].status);
  assert_int_equal(iree_hal_channel_count(alone[0].part), 1);
  assert_null(alone[1].part);
  iree_hal_channel_release(alone[0].part);
  for (int i = 0; i < RANKS; ++i) iree_hal_channel_release(reversed[i].part);
  close_world(&world);
}

typedef struct provider_t {
  iree_hal_resource_t resource;
  int32_t rank;
} provider_t;
static uint8_t exchanged[128];

static void provider_destroy(iree_hal_channel_provider_t* provider) {}
static iree_status_t provider_query(iree_hal_channel_provider_t* provider, int32_t* out_rank, int32_t* out_count) {
  *out_rank = ((provider_t*)provider)->rank;
  *out_count = RANKS;
  return iree_ok_status();
}
static iree_status_t provider_exchange(iree_hal_channel_provider_t* provider, iree_byte_span_t id) {
  assert_int_equal(id.data_length, sizeof(exchanged));
  if (((provider_t*)provider)->rank == 0) memcpy(exchanged, id.data, id.data_length);
  memcpy(id.data, exchanged, id.data_length);
  return iree_ok_status();
}
static const iree_hal_channel_provider_vtable_t provider_vtable = {provider_destroy, provider_query, provider_exchange};

// Ids from a provider, which says the ranks too, and from the caller.
static void test_ids(void** state) {
  world_t world = open_world();
  provider_t providers[RANKS];
  world_t other = world;
  for (int i = 0; i < RANKS; ++i) {
    providers[i].rank = i;
    iree_hal_resource_initialize(&provider_vtable, &providers[i].resource);
    iree_hal_device_replace_channel_provider(test.devices[i], (iree_hal_channel_provider_t*)&providers[i]);
    iree_hal_channel_params_t params = {.rank = IREE_HAL_CHANNEL_RANK_DEFAULT, .count = IREE_HAL_CHANNEL_COUNT_DEFAULT};
    CHECK_OK(iree_hal_channel_create(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, params, &other.channels[i]));
    assert_int_equal(iree_hal_channel_rank(other.channels[i]), i);
    iree_hal_device_replace_channel_provider(test.devices[i], NULL);
  }
  put_inputs(&world, &words);
  run(&other, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  for (int i = 0; i < RANKS; ++i) iree_hal_channel_release(other.channels[i]);
  uint8_t id[128];
  assert_int_equal(test.unique_id(id), 0);
  for (int i = 0; i < RANKS; ++i) {
    iree_hal_channel_params_t params = {
        .id = iree_make_const_byte_span(id, sizeof(id)), .group = IREE_SV("name"), .rank = i, .count = RANKS};
    CHECK_CODE(INVALID_ARGUMENT, "group 'name' needs one of its own",
               iree_hal_channel_create(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, params, &other.channels[i]));
    params.group = iree_string_view_empty();
    CHECK_OK(iree_hal_channel_create(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, params, &other.channels[i]));
  }
  run(&other, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  for (int i = 0; i < RANKS; ++i) iree_hal_channel_release(other.channels[i]);
  iree_hal_channel_t* none = NULL;
  CHECK_CODE(INVALID_ARGUMENT, "channel rank 2 of 2", try_join(0, "world", 2, &none));
  close_world(&world);
}

//===----------------------------------------------------------------------------------------------------------------===
// Failures
//===----------------------------------------------------------------------------------------------------------------===

// A rank that is lost while the collective runs: both submissions end, with what the library says, and so do later
// ones.
static void test_lost_rank(void** state) {
  world_t world = open_world();
  iree_status_t outcomes[RANKS];
  put_inputs(&world, &words);
  run(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  test.break_rank(1, 2);
  run_with(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS, outcomes);
  CHECK_CODE(ABORTED, "a rank is gone; rank 0 of 2", outcomes[0]);
  CHECK_CODE(ABORTED, "a collective failed with 2", outcomes[1]);
  close_world(&world);
  world = open_world();  // another group works
  put_inputs(&world, &words);
  run(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS);
  close_world(&world);
}

// Ranks that do not agree.
static void test_mismatch(void** state) {
  world_t world = open_world();
  iree_hal_command_buffer_t* commands[RANKS];
  iree_status_t outcomes[RANKS];
  for (int rank = 0; rank < RANKS; ++rank) {
    commands[rank] = begin(rank);
    CHECK_OK(record(&world, commands[rank], rank, OP(ALL_REDUCE, SUM, UINT_32), 0, ELEMENTS - (size_t)rank));
  }
  submit(&world, commands, outcomes);
  for (int rank = 0; rank < RANKS; ++rank) CHECK_CODE(INTERNAL, "a collective failed with 5", outcomes[rank]);
  close_world(&world);
}

// Two ranks on one GPU, which the library does not do.
static void test_shared_gpu(void** state) {
  iree_hal_device_t* second = test.devices[1];
  iree_status_t outcomes[RANKS];
  test.devices[1] = test.devices[0];
  world_t world = open_world();
  run_with(&world, OP(ALL_REDUCE, SUM, UINT_32), NULL, ELEMENTS, outcomes);
  for (int rank = 0; rank < RANKS; ++rank) {
    CHECK_CODE(INTERNAL, "of 2, on GPU 0: each rank needs a GPU of its own", outcomes[rank]);
  }
  close_world(&world);
  test.devices[1] = second;
}

// Runs what uses every entry point. Returns the first failure.
static iree_status_t use_all(void) {
  static const struct {
    uint8_t kind, reduction;
    uint32_t params[RANKS];
  } rows[] = {
      {IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, IREE_HAL_COLLECTIVE_REDUCTION_SUM, {0, 0}},
      {IREE_HAL_COLLECTIVE_KIND_ALL_GATHER, 0, {0, 0}},
      {IREE_HAL_COLLECTIVE_KIND_BROADCAST, 0, {0, 0}},
      {IREE_HAL_COLLECTIVE_KIND_REDUCE, IREE_HAL_COLLECTIVE_REDUCTION_SUM, {0, 0}},
      {IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER, IREE_HAL_COLLECTIVE_REDUCTION_SUM, {0, 0}},
      {IREE_HAL_COLLECTIVE_KIND_SEND_RECV, 0, {0x00010001u, 0}},
  };
  iree_hal_channel_t* first = NULL;
  iree_status_t failure = try_join(0, "probe", 0, &first);
  if (!iree_status_is_ok(failure)) return failure;
  world_t world = {.channels = {first}};
  CHECK_OK(try_join(1, "probe", 1, &world.channels[1]));
  for (int i = 0; i < RANKS; ++i) {
    world.sends[i] = make_buffer(i);
    world.recvs[i] = make_buffer(i);
    CHECK_OK(iree_hal_semaphore_create(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                       &world.done[i]));
  }
  for (size_t row = 0; row < IREE_ARRAYSIZE(rows) && iree_status_is_ok(failure); ++row) {
    iree_status_t outcomes[RANKS];
    iree_hal_collective_op_t op =
        make_op(rows[row].kind, rows[row].reduction, IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_32);
    run_with(&world, op, rows[row].params, ELEMENTS, outcomes);
    for (int i = 0; i < RANKS; ++i) failure = iree_status_join(failure, outcomes[i]);
  }
  split_t splits[RANKS] = {{0}};
  if (iree_status_is_ok(failure)) split_all(&world, splits);
  for (int i = 0; i < RANKS; ++i) {
    failure = iree_status_join(failure, splits[i].status);
    iree_hal_channel_release(splits[i].part);
  }
  close_world(&world);
  return failure;
}

// Each entry point fails once: the failure is told with its name, nothing is left, and the next group works.
static void test_entry_points(void** state) {
  static const char* const told[] = {
      "ncclGetUniqueId",       "ncclGroupStart",   "ncclGroupEnd",      "ncclAllReduce", "ncclAllGather",
      "ncclBroadcast",         "ncclReduce",       "ncclReduceScatter", "ncclSend",      "ncclRecv",
      "ncclCommGetAsyncError", "ncclCommUserRank", "ncclCommCount"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(told); ++i) {
    test.fail_next(told[i], 3);
    CHECK_CODE(UNKNOWN, told[i], use_all());  // beside what the other rank says
    expect_none_left();
  }
  test.fail_next("ncclCommDestroy", 3);  // nobody to tell
  CHECK_OK(use_all());
  expect_none_left();
}

// A group of one rank, whose calls nobody else waits for.
static iree_status_t use_alone(void) {
  iree_hal_channel_params_t params = {.group = IREE_SV("alone"), .rank = 0, .count = 1};
  world_t world = {.sends = {make_buffer(0)}, .recvs = {make_buffer(0)}, .value = 1};
  CHECK_OK(iree_hal_channel_create(test.devices[0], IREE_HAL_QUEUE_AFFINITY_ANY, params, &world.channels[0]));
  CHECK_OK(iree_hal_semaphore_create(test.devices[0], IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                     &world.done[0]));
  iree_hal_command_buffer_t* commands = begin(0);
  CHECK_OK(record(&world, commands, 0, OP(ALL_REDUCE, SUM, UINT_32), 0, ELEMENTS));
  CHECK_OK(iree_hal_command_buffer_end(commands));
  iree_hal_semaphore_list_t signals = {1, &world.done[0], &world.value};
  CHECK_OK(iree_hal_device_queue_execute(test.devices[0], IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                         signals, commands, iree_hal_buffer_binding_table_empty(),
                                         IREE_HAL_EXECUTE_FLAG_NONE));
  iree_hal_channel_t* part = NULL;
  iree_status_ignore(iree_hal_semaphore_wait(world.done[0], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  uint64_t value = 0;
  iree_status_t status = iree_hal_semaphore_query(world.done[0], &value);
  if (iree_status_is_ok(status)) status = iree_hal_channel_split(world.channels[0], 0, 0, 0, &part);
  iree_hal_channel_release(part);
  // The last reference goes with the command buffer, maybe on the channel's own thread.
  iree_hal_channel_release(world.channels[0]);
  world.channels[0] = NULL;
  iree_hal_command_buffer_release(commands);
  close_world(&world);
  return status;
}

static void test_alone(void** state) {
  static const char* const told[] = {"ncclCommInitRank", "ncclCommSplit"};
  CHECK_OK(use_alone());
  for (size_t i = 0; i < IREE_ARRAYSIZE(told); ++i) {
    test.fail_next(told[i], 3);
    CHECK_CODE(INTERNAL, told[i], use_alone());
  }
  test.break_rank(0, 1);
  test.fail_next("ncclCommAbort", 3);  // nobody to tell
  CHECK_CODE(INTERNAL, "a collective failed with 1", use_alone());
  expect_none_left();
}

//===----------------------------------------------------------------------------------------------------------------===
// The library
//===----------------------------------------------------------------------------------------------------------------===

static void parse_flag(char* flag) {
  char* storage[] = {"hal_stream_nccl", flag, NULL};
  char** argv = storage;
  int argc = 2;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
}

static void choose_collectives(const char* collectives) {
  char flag[64];
  snprintf(flag, sizeof(flag), "--cuda_collectives=%s", collectives);
  parse_flag(flag);
}

static iree_status_t try_join_by_id(void) {
  uint8_t id[128] = {1};
  iree_hal_channel_t* channel = NULL;
  iree_hal_channel_params_t params = {.id = iree_make_const_byte_span(id, sizeof(id)), .rank = 0, .count = RANKS};
  iree_status_t status = iree_hal_channel_create(test.devices[0], IREE_HAL_QUEUE_AFFINITY_ANY, params, &channel);
  iree_hal_channel_release(channel);
  return status;
}

// One that is not there: what was looked for is named, unless the host is to do it. Groups that may leave the process
// need it, wherever it was looked for.
static void check_missing(const char* tried) {
  static const char* const choices[] = {"library", "auto", "host"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(choices); ++i) {
    iree_hal_channel_t* channel = NULL;
    choose_collectives(choices[i]);
    test.devices[0] = open_device("cuda");
    if (i == 0) {
      CHECK_CODE(UNAVAILABLE, "NCCL library libnccl.so.2 not available; install NVIDIA's NCCL",
                 try_join(0, "a", 0, &channel));
      CHECK_CODE(UNAVAILABLE, tried, try_join(0, "a", 0, &channel));
    } else {
      CHECK_OK(try_join(0, "a", 0, &channel));  // within the process
    }
    if (i < 2) {
      CHECK_CODE(UNAVAILABLE, i ? "--cuda_collectives=host" : tried, try_join_by_id());
    } else {
      CHECK_OK(try_join_by_id());
    }
    iree_hal_channel_release(channel);
    iree_hal_device_release(test.devices[0]);
  }
  choose_collectives("library");
}

static void test_missing(void** state) {
  void* library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (!library) check_missing("libnccl.so.2: cannot open");  // where the system has none
  if (library) dlclose(library);
  setenv("IREE_CUDA_NCCL_PATH", "/nowhere", 1);
  check_missing("/nowhere/libnccl.so:");
}

static int open_all(void** state) {
  parse_flag("--cuda_nccl_path=file:" NCCL_DOUBLE_PATH);  // in place of the variable
  void* library = dlopen(NCCL_DOUBLE_PATH, RTLD_LAZY | RTLD_LOCAL);
  assert_non_null(library);
  test.fail_next = (nccl_double_fail_t)(uintptr_t)dlsym(library, "nccl_double_fail");
  test.break_rank = (nccl_double_break_t)(uintptr_t)dlsym(library, "nccl_double_break");
  test.live = (nccl_double_live_t)(uintptr_t)dlsym(library, "nccl_double_live");
  *(void**)&test.unique_id = dlsym(library, "ncclGetUniqueId");
  test.devices[0] = open_device("cuda://0");
  test.devices[1] = open_device("cuda://1");
  return 0;
}

static int close_all(void** state) {
  for (int i = 0; i < RANKS; ++i) iree_hal_device_release(test.devices[i]);
  expect_none_left();
  return 0;
}

int main(void) {
  IREE_CHECK_OK(iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
  const struct CMUnitTest missing[] = {cmocka_unit_test(test_missing)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reductions),      cmocka_unit_test(test_partial_reductions),
      cmocka_unit_test(test_movements),       cmocka_unit_test(test_sends),
      cmocka_unit_test(test_order),           cmocka_unit_test(test_streams),
      cmocka_unit_test(test_lost_in_streams), cmocka_unit_test(test_profiled),
      cmocka_unit_test(test_splits),          cmocka_unit_test(test_ids),
      cmocka_unit_test(test_lost_rank),       cmocka_unit_test(test_mismatch),
      cmocka_unit_test(test_shared_gpu),      cmocka_unit_test(test_entry_points),
      cmocka_unit_test(test_alone),
  };
  int failures = cmocka_run_group_tests(missing, NULL, NULL);
  return failures + cmocka_run_group_tests(tests, open_all, close_all);
}
