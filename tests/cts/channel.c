// Channels: collectives between ranks of one process, against results computed here.
//
// Channels of a vendor's library (cts.has_library_channels) get their ids as programs do: from rank 0, through a
// channel provider. Each rank has a GPU of its own then, as the library wants it; with one GPU there is one rank, and
// what needs more is skipped.
#include <string.h>

#include "cts.h"
#include "iree/base/threading/thread.h"

enum { RANKS = 4, ELEMENTS = 300, MAX_BYTES = ELEMENTS * RANKS * 8 };

// For tests whose ranks share a device, or are on devices of several drivers.
#define SKIP_WITHOUT_HOST_CHANNELS() \
  if (cts.has_library_channels) skip()

// How many ranks there are, at most RANKS.
static int rank_count(void) {
  return cts.has_library_channels ? (int)iree_min(cts.device_count, (iree_host_size_t)RANKS) : RANKS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Channel providers
//===----------------------------------------------------------------------------------------------------------------===

typedef struct provider_t {
  iree_hal_resource_t resource;
  int32_t rank, count;
  int exchanges;
  bool is_destroyed;
} provider_t;

static uint8_t exchanged_id[128];  // of rank 0

static void provider_destroy(iree_hal_channel_provider_t* provider) { ((provider_t*)provider)->is_destroyed = true; }

static iree_status_t provider_query(iree_hal_channel_provider_t* provider, int32_t* out_rank, int32_t* out_count) {
  *out_rank = ((provider_t*)provider)->rank;
  *out_count = ((provider_t*)provider)->count;
  return iree_ok_status();
}

// Ranks come one after the other, 0 first.
static iree_status_t provider_exchange(iree_hal_channel_provider_t* provider, iree_byte_span_t id) {
  provider_t* self = (provider_t*)provider;
  assert_true(id.data_length <= sizeof(exchanged_id));
  if (self->rank == 0) memcpy(exchanged_id, id.data, id.data_length);
  memcpy(id.data, exchanged_id, id.data_length);
  ++self->exchanges;
  return iree_ok_status();
}

static const iree_hal_channel_provider_vtable_t provider_vtable = {provider_destroy, provider_query, provider_exchange};

static void set_provider(iree_hal_device_t* device, provider_t* provider, int32_t rank, int32_t count) {
  *provider = (provider_t){.rank = rank, .count = count};
  iree_hal_resource_initialize(&provider_vtable, &provider->resource);
  iree_hal_device_replace_channel_provider(device, (iree_hal_channel_provider_t*)provider);
}

// The device's reference to it goes, and ours.
static void drop_provider(iree_hal_device_t* device, provider_t* provider) {
  iree_hal_device_replace_channel_provider(device, NULL);
  assert_false(provider->is_destroyed);
  iree_hal_channel_provider_release((iree_hal_channel_provider_t*)provider);
  assert_true(provider->is_destroyed);
}

//===----------------------------------------------------------------------------------------------------------------===
// Ranks
//===----------------------------------------------------------------------------------------------------------------===

// Ranks, on one device or on several, each with what it sends and receives.
typedef struct world_t {
  int count;
  iree_hal_device_t* devices[RANKS];
  iree_hal_channel_t* channels[RANKS];
  iree_hal_buffer_t *sends[RANKS], *recvs[RANKS];
  iree_hal_semaphore_t* done[RANKS];
} world_t;

static iree_status_t try_join(iree_hal_device_t* device, const char* group, int32_t rank, int32_t count,
                              iree_hal_channel_t** out_channel) {
  iree_hal_channel_params_t params = {.group = iree_make_cstring_view(group), .rank = rank, .count = count};
  return iree_hal_channel_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, params, out_channel);
}

static iree_hal_channel_t* join(iree_hal_device_t* device, const char* group, int32_t rank, int32_t count) {
  iree_hal_channel_t* channel = NULL;
  CHECK_OK(try_join(device, group, rank, count, &channel));
  return channel;
}

// As a program of one process for each GPU would: nothing is known of the group but what the provider says.
static iree_hal_channel_t* join_by_provider(iree_hal_device_t* device, int32_t rank, int32_t count) {
  provider_t provider;
  iree_hal_channel_t* channel = NULL;
  iree_hal_channel_params_t params = {.rank = IREE_HAL_CHANNEL_RANK_DEFAULT, .count = IREE_HAL_CHANNEL_COUNT_DEFAULT};
  set_provider(device, &provider, rank, count);
  CHECK_OK(iree_hal_channel_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, params, &channel));
  assert_int_equal(iree_hal_channel_rank(channel), rank);
  assert_int_equal(provider.exchanges, 1);
  drop_provider(device, &provider);
  return channel;
}

// Every other rank is on `odd_device` where ranks may share one.
static world_t open_world(iree_hal_device_t* odd_device) {
  world_t world = {.count = rank_count()};
  for (int i = 0; i < world.count; ++i) {
    if (cts.has_library_channels) {
      world.devices[i] = i ? cts_create_device_at(i) : cts.device;
      world.channels[i] = join_by_provider(world.devices[i], i, world.count);
    } else {
      world.devices[i] = i % 2 ? odd_device : cts.device;
      world.channels[i] = join(world.devices[i], "world", i, world.count);
    }
    world.sends[i] = cts_buffer_of(world.devices[i], MAX_BYTES);
    world.recvs[i] = cts_buffer_of(world.devices[i], MAX_BYTES);
    world.done[i] = cts_semaphore_of(world.devices[i]);
  }
  return world;
}

static void close_world(world_t* world) {
  for (int i = 0; i < world->count; ++i) {
    iree_hal_channel_release(world->channels[i]);
    iree_hal_buffer_release(world->sends[i]);
    iree_hal_buffer_release(world->recvs[i]);
    iree_hal_semaphore_release(world->done[i]);
    if (cts.has_library_channels && i) iree_hal_device_release(world->devices[i]);
  }
}

static iree_hal_command_buffer_t* begin(iree_hal_device_t* device) {
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_ANY,
                                          IREE_HAL_QUEUE_AFFINITY_ANY,
                                          cts.is_indirect ? IREE_ARRAYSIZE(cts.bindings) : 0, &commands));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  return commands;
}

static iree_status_t execute(iree_hal_device_t* device, iree_hal_command_buffer_t* commands,
                             iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  return iree_hal_device_queue_execute(device, IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals, commands,
                                       (iree_hal_buffer_binding_table_t){cts.binding_count, cts.bindings},
                                       IREE_HAL_EXECUTE_FLAG_NONE);
}

static iree_hal_semaphore_list_t nothing(void) { return iree_hal_semaphore_list_empty(); }

static iree_status_t wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  return iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_hal_collective_op_t make_op(uint8_t kind, uint8_t reduction, uint8_t type) {
  iree_hal_collective_op_t op = {0};
  op.kind = kind;
  op.reduction = reduction;
  op.element_type = type;
  return op;
}
#define OP(kind, reduction, type)                                                     \
  make_op(IREE_HAL_COLLECTIVE_KIND_##kind, IREE_HAL_COLLECTIVE_REDUCTION_##reduction, \
          IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##type)

// Each rank's command buffer with nothing but that, submitted by this thread one after the other.
static void run_collective(world_t* world, iree_hal_collective_op_t op, const uint32_t params[RANKS],
                           iree_device_size_t count) {
  iree_hal_command_buffer_t* commands[RANKS];
  for (int i = 0; i < world->count; ++i) {
    commands[i] = begin(world->devices[i]);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world->channels[i], op, params ? params[i] : 0,
                                                cts_ref(world->sends[i], 0, IREE_HAL_WHOLE_BUFFER),
                                                cts_ref(world->recvs[i], 0, IREE_HAL_WHOLE_BUFFER), count));
    CHECK_OK(iree_hal_command_buffer_end(commands[i]));
  }
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(world->done[0], &value));
  for (int i = 0; i < world->count; ++i) {
    CHECK_OK(execute(world->devices[i], commands[i], nothing(), CTS_POINT(world->done[i], value + 1)));
  }
  for (int i = 0; i < world->count; ++i) {
    CHECK_OK(wait_for(world->done[i], value + 1));
    iree_hal_command_buffer_release(commands[i]);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

typedef struct element_type_t {
  int type, size;
  bool is_float, is_signed;
} element_type_t;
#define TYPE(name, size, is_float, is_signed) {IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##name, size, is_float, is_signed}
static const element_type_t element_types[] = {
    TYPE(SINT_8, 1, false, true),   TYPE(UINT_8, 1, false, false),  TYPE(SINT_16, 2, false, true),
    TYPE(UINT_16, 2, false, false), TYPE(SINT_32, 4, false, true),  TYPE(UINT_32, 4, false, false),
    TYPE(SINT_64, 8, false, true),  TYPE(UINT_64, 8, false, false), TYPE(FLOAT_16, 2, true, true),
    TYPE(FLOAT_32, 4, true, true),  TYPE(FLOAT_64, 8, true, true),  TYPE(BFLOAT_16, 2, true, true),
};

// A small number that every type has exactly, as an element.
static void put(const element_type_t* type, uint8_t* data, size_t index, double value) {
  int64_t integer = (int64_t)value;
  float single = (float)value;
  _Float16 half = (_Float16)value;
  const void* source = type->is_float ? (const void*)&value : &integer;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32) source = &single;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16) source = &half;
  if (type->type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16) source = (const uint8_t*)&single + 2;
  memcpy(data + index * type->size, source, type->size);
}

static double input(const element_type_t* type, int rank, int index) {
  int value = (index * 7 + rank * 5 + index / 4) % 4 + 1;
  return type->is_signed && (index + rank) % 3 == 0 ? -value : value;
}

static double reduce(const element_type_t* type, int reduction, int index) {
  int count = rank_count();
  double result = input(type, 0, index);
  for (int rank = 1; rank < count; ++rank) {
    double value = input(type, rank, index);
    if (reduction == IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT) result *= value;
    if (reduction == IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM) result = value < result ? value : result;
    if (reduction == IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM) result = value > result ? value : result;
    if (reduction == IREE_HAL_COLLECTIVE_REDUCTION_SUM || reduction == IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE) {
      result += value;
    }
  }
  if (reduction != IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE) return result;
  return type->is_float ? result / count : (double)((int)result / count);
}

static const element_type_t* const f32_type = &element_types[9];

static void put_inputs(world_t* world, const element_type_t* type, int count) {
  uint8_t data[MAX_BYTES];
  for (int i = 0; i < world->count; ++i) {
    for (int j = 0; j < count; ++j) put(type, data, j, input(type, i, j));
    CHECK_OK(iree_hal_buffer_map_write(world->sends[i], 0, data, count * type->size));
    CHECK_OK(iree_hal_buffer_map_zero(world->recvs[i], 0, IREE_HAL_WHOLE_BUFFER));
  }
}

static void expect(iree_hal_buffer_t* buffer, const uint8_t* expected, size_t size) {
  uint8_t data[MAX_BYTES];
  CHECK_OK(iree_hal_buffer_map_read(buffer, 0, data, size));
  assert_memory_equal(data, expected, size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Collectives
//===----------------------------------------------------------------------------------------------------------------===

// NCCL does not reduce those.
static bool is_short(const element_type_t* type) { return type->size == 2 && !type->is_float; }

static void reductions(void** state) {
  world_t world = open_world(cts.device);
  for (size_t i = 0; i < IREE_ARRAYSIZE(element_types); ++i) {
    const element_type_t* type = &element_types[i];
    if (cts.has_library_channels && is_short(type)) continue;
    assert_int_equal(iree_hal_collective_element_byte_count((iree_hal_collective_element_type_t)type->type),
                     type->size);
    put_inputs(&world, type, ELEMENTS);
    for (int reduction = 1; reduction <= IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE; ++reduction) {
      run_collective(&world, make_op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, (uint8_t)reduction, (uint8_t)type->type),
                     NULL, ELEMENTS);
      uint8_t expected[MAX_BYTES];
      for (int j = 0; j < ELEMENTS; ++j) put(type, expected, j, reduce(type, reduction, j));
      for (int rank = 0; rank < world.count; ++rank) expect(world.recvs[rank], expected, ELEMENTS * type->size);
    }
  }
  close_world(&world);
}

// One root has the result; and each rank a part of it.
static void partial_reductions(void** state) {
  world_t world = open_world(cts.device);
  const uint32_t root = world.count > 2 ? 2 : 0, roots[RANKS] = {root, root, root, root};
  const int piece = ELEMENTS / world.count;
  uint8_t expected[MAX_BYTES];
  put_inputs(&world, f32_type, ELEMENTS);
  for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, reduce(f32_type, IREE_HAL_COLLECTIVE_REDUCTION_SUM, j));
  run_collective(&world, OP(REDUCE, SUM, FLOAT_32), roots, ELEMENTS);
  expect(world.recvs[root], expected, ELEMENTS * 4);
  if (world.count > 1) cts_expect_bytes(world.recvs[1], 0, MAX_BYTES, 0);
  put_inputs(&world, f32_type, ELEMENTS);
  run_collective(&world, OP(REDUCE_SCATTER, SUM, FLOAT_32), NULL, piece);
  for (int i = 0; i < world.count; ++i) {
    expect(world.recvs[i], expected + i * piece * 4, piece * 4);
    cts_expect_bytes(world.recvs[i], piece * 4, MAX_BYTES, 0);
  }
  close_world(&world);
}

static void movements(void** state) {
  world_t world = open_world(cts.device);
  const int root = world.count > 1 ? 1 : 0, piece = ELEMENTS / world.count, all = ELEMENTS * world.count;
  const uint32_t roots[RANKS] = {(uint32_t)root, (uint32_t)root, (uint32_t)root, (uint32_t)root};
  uint8_t expected[MAX_BYTES];
  put_inputs(&world, f32_type, ELEMENTS);
  run_collective(&world, OP(ALL_GATHER, NONE, FLOAT_32), NULL, ELEMENTS);
  for (int i = 0; i < all; ++i) put(f32_type, expected, i, input(f32_type, i / ELEMENTS, i % ELEMENTS));
  for (int i = 0; i < world.count; ++i) expect(world.recvs[i], expected, all * 4);
  run_collective(&world, OP(ALL_TO_ALL, NONE, FLOAT_32), NULL, ELEMENTS);
  for (int i = 0; i < world.count; ++i) {
    for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, input(f32_type, j / piece, i * piece + j % piece));
    expect(world.recvs[i], expected, ELEMENTS * 4);
  }
  put_inputs(&world, f32_type, ELEMENTS);
  run_collective(&world, OP(BROADCAST, NONE, FLOAT_32), roots, ELEMENTS);
  for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, input(f32_type, root, j));
  for (int i = 0; i < world.count; ++i) {
    if (i != root) expect(world.recvs[i], expected, ELEMENTS * 4);
  }
  cts_expect_bytes(world.recvs[root], 0, MAX_BYTES, 0);
  close_world(&world);
}

// Each rank to the next one; once from the last to nobody, then from the last to the first.
static void send_recv(void** state) {
  world_t world = open_world(cts.device);
  const uint32_t nobody = 0xFFFF, last = (uint32_t)world.count - 1;
  for (int is_ring = 0; is_ring < 2; ++is_ring) {
    uint32_t params[RANKS] = {0};
    uint8_t expected[MAX_BYTES];
    for (uint32_t i = 0; i <= last; ++i) {
      uint32_t source = i > 0 ? i - 1 : is_ring ? last : nobody, target = i < last ? i + 1 : is_ring ? 0 : nobody;
      params[i] = source << 16 | target;
    }
    put_inputs(&world, f32_type, ELEMENTS);
    const uint8_t dirt = 0xEE;
    CHECK_OK(iree_hal_buffer_map_fill(world.recvs[0], 0, IREE_HAL_WHOLE_BUFFER, &dirt, 1));
    run_collective(&world, OP(SEND_RECV, NONE, FLOAT_32), params, ELEMENTS);
    for (int i = is_ring ? 0 : 1; i < world.count; ++i) {
      int source = i ? i - 1 : (int)last;
      for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, input(f32_type, source, j));
      expect(world.recvs[i], expected, ELEMENTS * 4);
    }
    if (!is_ring) cts_expect_bytes(world.recvs[0], 0, ELEMENTS * 4, 0);
  }
  close_world(&world);
}

// Ranks 0 and 1 send to each other in one batch; 2 and 3 are not asked.
static void sends_and_receives(void** state) {
  if (rank_count() < 2) skip();
  world_t world = open_world(cts.device);
  iree_hal_command_buffer_t* commands[2];
  put_inputs(&world, f32_type, ELEMENTS);
  for (uint32_t i = 0; i < 2; ++i) {
    commands[i] = begin(world.devices[i]);
    iree_hal_buffer_ref_t none = {0};
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(SEND, NONE, FLOAT_32), 1 - i,
                                                cts_ref(world.sends[i], 0, ELEMENTS * 4), none, ELEMENTS));
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(RECV, NONE, FLOAT_32), 1 - i, none,
                                                cts_ref(world.recvs[i], 0, ELEMENTS * 4), ELEMENTS));
    CHECK_OK(iree_hal_command_buffer_end(commands[i]));
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(execute(world.devices[i], commands[i], nothing(), CTS_POINT(world.done[i], 1)));
  for (int i = 0; i < 2; ++i) {
    uint8_t expected[MAX_BYTES];
    CHECK_OK(wait_for(world.done[i], 1));
    for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, input(f32_type, 1 - i, j));
    expect(world.recvs[i], expected, ELEMENTS * 4);
    iree_hal_command_buffer_release(commands[i]);
  }
  close_world(&world);
}

// Results in place of what they are made of.
static void in_place(void** state) {
  world_t world = open_world(cts.device);
  iree_hal_command_buffer_t* commands[RANKS];
  const iree_device_size_t part = ELEMENTS / world.count * 4;
  put_inputs(&world, f32_type, ELEMENTS);
  for (int i = 0; i < world.count; ++i) {
    commands[i] = begin(world.devices[i]);
    iree_hal_buffer_ref_t all = cts_ref(world.sends[i], 0, ELEMENTS * 4);
    iree_hal_buffer_ref_t own = cts_ref(world.sends[i], i * part, part);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(REDUCE_SCATTER, SUM, FLOAT_32), 0,
                                                all, own, ELEMENTS / world.count));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(ALL_GATHER, NONE, FLOAT_32), 0, own,
                                                all, ELEMENTS / world.count));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(ALL_REDUCE, AVERAGE, FLOAT_32), 0,
                                                all, all, ELEMENTS));
    CHECK_OK(iree_hal_command_buffer_end(commands[i]));
  }
  uint8_t expected[MAX_BYTES];
  for (int j = 0; j < ELEMENTS; ++j) put(f32_type, expected, j, reduce(f32_type, IREE_HAL_COLLECTIVE_REDUCTION_SUM, j));
  for (int i = 0; i < world.count; ++i) {
    CHECK_OK(execute(world.devices[i], commands[i], nothing(), CTS_POINT(world.done[i], 1)));
  }
  for (int i = 0; i < world.count; ++i) {
    CHECK_OK(wait_for(world.done[i], 1));
    expect(world.sends[i], expected, ELEMENTS * 4);
    iree_hal_command_buffer_release(commands[i]);
  }
  close_world(&world);
}

// What is before and behind a collective sees its memory in order, each time that the command buffer runs.
static void ordered_with_commands(void** state) {
  SKIP_WITHOUT_RESULTS();
  world_t world = open_world(cts.device);
  iree_hal_command_buffer_t* commands[RANKS];
  for (int i = 0; i < world.count; ++i) {
    commands[i] = begin(world.devices[i]);
    const uint32_t pattern = 1u << i;
    CHECK_OK(iree_hal_command_buffer_fill_buffer(commands[i], cts_ref(world.sends[i], 0, 64), &pattern, 4,
                                                 IREE_HAL_FILL_FLAG_NONE));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(ALL_REDUCE, SUM, UINT_32), 0,
                                                cts_ref(world.sends[i], 0, 64), cts_ref(world.recvs[i], 0, 64), 16));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands[i], cts_ref(world.recvs[i], 0, 64),
                                                 cts_ref(world.sends[i], 64, 64), IREE_HAL_COPY_FLAG_NONE));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_collective(commands[i], world.channels[i], OP(ALL_REDUCE, SUM, UINT_32), 0,
                                                cts_ref(world.sends[i], 64, 64), cts_ref(world.recvs[i], 64, 64), 16));
    cts_barrier(commands[i]);
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands[i], cts_ref(world.recvs[i], 64, 64),
                                                 cts_ref(world.recvs[i], 128, 64), IREE_HAL_COPY_FLAG_NONE));
    CHECK_OK(iree_hal_command_buffer_end(commands[i]));
  }
  for (uint64_t round = 1; round <= 3; ++round) {
    for (int i = 0; i < world.count; ++i) {
      CHECK_OK(iree_hal_buffer_map_zero(world.recvs[i], 0, IREE_HAL_WHOLE_BUFFER));
      CHECK_OK(
          execute(world.devices[i], commands[i], CTS_POINT(world.done[i], round - 1), CTS_POINT(world.done[i], round)));
    }
    for (int i = 0; i < world.count; ++i) CHECK_OK(wait_for(world.done[i], round));
    for (int i = 0; i < world.count; ++i) {
      assert_int_equal(cts_word(world.recvs[i], 15), (1 << world.count) - 1);
      assert_int_equal(cts_word(world.recvs[i], 32 + 15), ((1 << world.count) - 1) * world.count);
    }
  }
  for (int i = 0; i < world.count; ++i) iree_hal_command_buffer_release(commands[i]);
  close_world(&world);
}

static iree_hal_device_t* open_local_device(const char* name) {
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(name), NULL,
                                  cts.host_allocator, &device));
  return device;
}

// Every other rank is on a device of another driver.
static void across_devices(void** state) {
  SKIP_INDIRECT();
  SKIP_WITHOUT_HOST_CHANNELS();
  static const char* const names[] = {"local-sync", "local-task"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(names); ++i) {
    iree_hal_device_t* other = open_local_device(names[i]);
    world_t world = open_world(other);
    uint8_t expected[MAX_BYTES];
    put_inputs(&world, f32_type, ELEMENTS);
    run_collective(&world, OP(ALL_REDUCE, MAXIMUM, FLOAT_32), NULL, ELEMENTS);
    for (int j = 0; j < ELEMENTS; ++j) {
      put(f32_type, expected, j, reduce(f32_type, IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM, j));
    }
    for (int rank = 0; rank < world.count; ++rank) expect(world.recvs[rank], expected, ELEMENTS * 4);
    close_world(&world);
    iree_hal_device_release(other);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

typedef struct rank_thread_t {
  world_t* world;
  int rank;
  iree_hal_channel_t* part;  // of a split
  int32_t part_rank, part_count;
  bool is_right;
} rank_thread_t;

enum { ROUNDS = 20 };

// Each round's result is the next one's input.
static int run_rank(void* arg) {
  rank_thread_t* self = (rank_thread_t*)arg;
  world_t* world = self->world;
  int i = self->rank;
  const uint32_t one = 1;
  IREE_CHECK_OK(iree_hal_buffer_map_fill(world->sends[i], 0, 64, &one, 4));
  for (uint64_t round = 1; round <= ROUNDS; ++round) {
    iree_hal_command_buffer_t* commands = NULL;
    IREE_CHECK_OK(iree_hal_command_buffer_create(world->devices[i], IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                 IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                 &commands));
    IREE_CHECK_OK(iree_hal_command_buffer_begin(commands));
    IREE_CHECK_OK(iree_hal_command_buffer_collective(commands, world->channels[i], OP(ALL_REDUCE, SUM, UINT_32), 0,
                                                     iree_hal_make_buffer_ref(world->sends[i], 0, 64),
                                                     iree_hal_make_buffer_ref(world->sends[i], 0, 64), 16));
    IREE_CHECK_OK(iree_hal_command_buffer_end(commands));
    IREE_CHECK_OK(
        execute(world->devices[i], commands, CTS_POINT(world->done[i], round - 1), CTS_POINT(world->done[i], round)));
    iree_hal_command_buffer_release(commands);
  }
  IREE_CHECK_OK(wait_for(world->done[i], ROUNDS));
  uint32_t word = 0, expected = 1;
  for (int round = 0; round < ROUNDS; ++round) expected *= (uint32_t)world->count;  // wraps
  IREE_CHECK_OK(iree_hal_buffer_map_read(world->sends[i], 60, &word, 4));
  self->is_right = word == expected;
  return 0;
}

// Ranks 0 and 2 in one color, in reverse, 3 in another, 1 in none.
static const int32_t colors[RANKS] = {7, IREE_HAL_CHANNEL_NO_COLOR, 7, 8};

static int split_rank(void* arg) {
  rank_thread_t* self = (rank_thread_t*)arg;
  for (int i = 0; i < 2; ++i) {  // once more gives the same
    iree_hal_channel_release(self->part);
    IREE_CHECK_OK(iree_hal_channel_split(self->world->channels[self->rank], colors[self->rank], -self->rank,
                                         IREE_HAL_CHANNEL_FLAG_NONE, &self->part));
  }
  if (self->part) iree_hal_channel_query_rank_and_count(self->part, &self->part_rank, &self->part_count);
  return 0;
}

static void run_threads(world_t* world, iree_thread_entry_t entry, rank_thread_t ranks[RANKS]) {
  iree_thread_t* threads[RANKS];
  for (int i = 0; i < world->count; ++i) {
    ranks[i] = (rank_thread_t){.world = world, .rank = i};
    iree_thread_create_params_t params = {.name = IREE_SV("rank")};
    CHECK_OK(iree_thread_create(entry, &ranks[i], params, cts.host_allocator, &threads[i]));
  }
  for (int i = 0; i < world->count; ++i) {
    iree_thread_join(threads[i]);
    iree_thread_release(threads[i]);
  }
}

static void threads(void** state) {
  SKIP_INDIRECT();
  iree_hal_device_t* other = open_local_device("local-task");
  world_t world = open_world(other);
  rank_thread_t ranks[RANKS];
  run_threads(&world, run_rank, ranks);
  for (int i = 0; i < world.count; ++i) assert_true(ranks[i].is_right);
  close_world(&world);
  iree_hal_device_release(other);
}

static void splits(void** state) {
  SKIP_INDIRECT();
  world_t world = open_world(cts.device);
  rank_thread_t ranks[RANKS];
  run_threads(&world, split_rank, ranks);
  for (int i = 0; i < world.count; ++i) {
    bool has_both = world.count > 2;
    bool is_alone = colors[i] == 8 || !has_both;
    assert_true((ranks[i].part == NULL) == (colors[i] == IREE_HAL_CHANNEL_NO_COLOR));
    if (!ranks[i].part) continue;
    assert_int_equal(ranks[i].part_count, is_alone ? 1 : 2);
    assert_int_equal(ranks[i].part_rank, i == 0 && has_both ? 1 : 0);
  }
  // The parts are groups of their own: the last rank with a part of one needs no other.
  int alone = world.count == RANKS ? 3 : 0;
  if (ranks[alone].part_count == 1) {
    iree_hal_command_buffer_t* commands = begin(world.devices[alone]);
    put_inputs(&world, f32_type, ELEMENTS);
    CHECK_OK(iree_hal_command_buffer_collective(commands, ranks[alone].part, OP(ALL_REDUCE, SUM, FLOAT_32), 0,
                                                iree_hal_make_buffer_ref(world.sends[alone], 0, 64),
                                                iree_hal_make_buffer_ref(world.recvs[alone], 0, 64), 16));
    CHECK_OK(iree_hal_command_buffer_end(commands));
    CHECK_OK(execute(world.devices[alone], commands, nothing(), CTS_POINT(world.done[alone], 1)));
    CHECK_OK(wait_for(world.done[alone], 1));
    uint8_t expected[64];
    for (int j = 0; j < 16; ++j) put(f32_type, expected, j, input(f32_type, alone, j));
    expect(world.recvs[alone], expected, 64);
    iree_hal_command_buffer_release(commands);
  }
  for (int i = 0; i < world.count; ++i) iree_hal_channel_release(ranks[i].part);
  close_world(&world);
}

//===----------------------------------------------------------------------------------------------------------------===
// Failures
//===----------------------------------------------------------------------------------------------------------------===

// One rank's collective on a group of two, submitted.
static iree_hal_command_buffer_t* start(iree_hal_channel_t* channel, iree_hal_collective_op_t op, uint32_t param,
                                        iree_device_size_t count, iree_hal_buffer_t* buffer,
                                        iree_hal_semaphore_list_t waits, iree_hal_semaphore_t* done) {
  iree_hal_command_buffer_t* commands = begin(cts.device);
  CHECK_OK(iree_hal_command_buffer_collective(commands, channel, op, param, cts_ref(buffer, 0, 64),
                                              cts_ref(buffer, 0, 64), count));
  CHECK_OK(iree_hal_command_buffer_end(commands));
  CHECK_OK(execute(cts.device, commands, waits, CTS_POINT(done, 1)));
  return commands;
}

static void failures(void** state) {
  SKIP_WITHOUT_HOST_CHANNELS();
  typedef enum { DIFFERENT, LEFT, WAIT_FAILS, LEFT_PEER, CASES } case_t;
  for (case_t which = DIFFERENT; which < CASES; ++which) {
    iree_hal_channel_t *first = join(cts.device, "pair", 0, 2), *second = join(cts.device, "pair", 1, 2);
    iree_hal_buffer_t* buffer = cts_buffer(64, 1);
    iree_hal_semaphore_t *done = cts_semaphore(0), *other_done = cts_semaphore(0), *before = cts_semaphore(0);
    iree_hal_command_buffer_t* commands[2] = {0};
    iree_hal_collective_op_t sum = OP(ALL_REDUCE, SUM, UINT_32);
    iree_hal_collective_op_t op = which == LEFT_PEER ? OP(RECV, NONE, UINT_32) : sum;
    commands[0] = start(first, op, 1, 16, buffer, nothing(), done);
    if (which == DIFFERENT) commands[1] = start(second, sum, 0, 8, buffer, nothing(), other_done);
    if (which == WAIT_FAILS) {
      commands[1] = start(second, sum, 0, 16, buffer, CTS_POINT(before, 1), other_done);
      iree_hal_semaphore_fail(before, iree_make_status(IREE_STATUS_DATA_LOSS, "lost"));
    }
    iree_hal_command_buffer_release(commands[1]);
    iree_hal_channel_release(second);
    iree_status_code_t expected = which == DIFFERENT    ? IREE_STATUS_INVALID_ARGUMENT
                                  : which == WAIT_FAILS ? IREE_STATUS_DATA_LOSS
                                                        : IREE_STATUS_ABORTED;
    iree_status_t status = wait_for(done, 1);
    assert_int_equal(iree_status_consume_code(status), expected);
    if (commands[1]) assert_int_equal(iree_status_consume_code(wait_for(other_done, 1)), expected);
    cts_expect_bytes(buffer, 0, 64, 1);
    // Who stays is told at once.
    iree_hal_semaphore_release(done);
    done = cts_semaphore(0);
    iree_hal_command_buffer_release(commands[0]);
    if (which == LEFT || which == LEFT_PEER) {
      commands[0] = start(first, op, 1, 16, buffer, nothing(), done);
      CHECK_CODE(ABORTED, wait_for(done, 1));
      iree_hal_command_buffer_release(commands[0]);
    }
    iree_hal_channel_release(first);
    iree_hal_buffer_release(buffer);
    iree_hal_semaphore_release(done);
    iree_hal_semaphore_release(other_done);
    iree_hal_semaphore_release(before);
  }
}

// Where the host does the work it has to see the memory.
static void unseen_memory(void** state) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, 64, &buffer));
  bool is_seen = iree_hal_buffer_memory_type(buffer) & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  iree_hal_channel_t* channel = join(cts.device, "alone", 0, 1);
  iree_hal_semaphore_t* done = cts_semaphore(0);
  iree_hal_command_buffer_t* commands = start(channel, OP(ALL_REDUCE, SUM, UINT_32), 0, 16, buffer, nothing(), done);
  assert_int_equal(iree_status_consume_code(wait_for(done, 1)),
                   is_seen || cts.has_library_channels ? IREE_STATUS_OK : IREE_STATUS_PERMISSION_DENIED);
  iree_hal_command_buffer_release(commands);
  iree_hal_semaphore_release(done);
  iree_hal_channel_release(channel);
  iree_hal_buffer_release(buffer);
}

static void bad_collectives(void** state) {
  world_t world = open_world(cts.device);
  iree_hal_channel_t* channel = world.channels[0];
  const uint32_t count = (uint32_t)world.count;
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = begin(cts.device);
  iree_hal_buffer_ref_t ref = cts_ref(buffer, 0, 64);
#define EXPECT(code, op, param, count) \
  CHECK_CODE(code, iree_hal_command_buffer_collective(commands, channel, op, param, ref, ref, count))
  EXPECT(OUT_OF_RANGE, OP(ALL_REDUCE, SUM, FLOAT_32), 0, 17);
  EXPECT(OUT_OF_RANGE, OP(ALL_GATHER, NONE, FLOAT_32), 0, 16 / count + 1);
  EXPECT(OUT_OF_RANGE, OP(ALL_REDUCE, SUM, FLOAT_64), 0, UINT64_MAX / 4);
  if (count > 1) EXPECT(INVALID_ARGUMENT, OP(ALL_TO_ALL, NONE, FLOAT_32), 0, 13);
  EXPECT(INVALID_ARGUMENT, OP(ALL_REDUCE, NONE, FLOAT_32), 0, 16);
  EXPECT(INVALID_ARGUMENT, OP(ALL_GATHER, SUM, FLOAT_32), 0, 4);
  EXPECT(INVALID_ARGUMENT, OP(BROADCAST, NONE, FLOAT_32), count, 4);
  EXPECT(INVALID_ARGUMENT, OP(SEND_RECV, NONE, FLOAT_32), count << 16 | 0xFFFF, 4);
  EXPECT(INVALID_ARGUMENT, make_op(99, 0, 0), 0, 4);
  EXPECT(INVALID_ARGUMENT, make_op(0, 0, 99), 0, 4);
#undef EXPECT
  CHECK_OK(iree_hal_command_buffer_end(commands));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
  close_world(&world);
  iree_bitfield_string_temp_t temp;
  iree_hal_collective_op_t op = OP(REDUCE_SCATTER, AVERAGE, BFLOAT_16);
  assert_true(
      iree_string_view_equal(iree_hal_collective_op_format(&op, &temp), IREE_SV("reduce_scatter average bf16")));
  op = OP(SEND, NONE, SINT_8);
  assert_true(iree_string_view_equal(iree_hal_collective_op_format(&op, &temp), IREE_SV("send si8")));
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

// Groups have names. Creating a channel does not wait for the others.
static void groups(void** state) {
  SKIP_INDIRECT();
  SKIP_WITHOUT_HOST_CHANNELS();
  iree_hal_channel_t *a = join(cts.device, "a", 0, 2), *other = NULL;
  assert_int_equal(iree_hal_channel_rank(a), 0);
  assert_int_equal(iree_hal_channel_count(a), 2);
  CHECK_CODE(ALREADY_EXISTS, try_join(cts.device, "a", 0, 2, &other));
  assert_null(other);
  iree_hal_channel_t *b = join(cts.device, "b", 0, 2), *larger = join(cts.device, "a", 0, 3);
  iree_hal_channel_t* a1 = join(cts.device, "a", 1, 2);
  iree_hal_channel_t* again = join(cts.device, "a", 0, 2);  // the first one has all its ranks
  CHECK_CODE(INVALID_ARGUMENT, try_join(cts.device, "a", 2, 2, &other));
  CHECK_CODE(INVALID_ARGUMENT, try_join(cts.device, "a", -2, 2, &other));
  CHECK_CODE(INVALID_ARGUMENT, try_join(cts.device, "a", 0, 0, &other));
  iree_hal_channel_t* channels[] = {a, b, larger, a1, again};
  for (size_t i = 0; i < IREE_ARRAYSIZE(channels); ++i) iree_hal_channel_release(channels[i]);
}

// What parameters leave open the provider says, if there is one: also the id.
static void providers(void** state) {
  SKIP_INDIRECT();
  provider_t provider;
  iree_hal_channel_t *alone = NULL, *other = NULL;
  const int32_t rank = IREE_HAL_CHANNEL_RANK_DEFAULT, count = IREE_HAL_CHANNEL_COUNT_DEFAULT;
  CHECK_CODE(FAILED_PRECONDITION, try_join(cts.device, "a", rank, count, &other));
  alone = join_by_provider(cts.device, 0, 1);
  assert_int_equal(iree_hal_channel_count(alone), 1);
  iree_hal_buffer_t* buffer = cts_buffer(64, 3);
  iree_hal_semaphore_t* done = cts_semaphore(0);
  iree_hal_command_buffer_t* commands = start(alone, OP(ALL_REDUCE, SUM, UINT_32), 0, 16, buffer, nothing(), done);
  CHECK_OK(wait_for(done, 1));
  cts_expect_bytes(buffer, 0, 64, 3);
  iree_hal_command_buffer_release(commands);
  iree_hal_semaphore_release(done);
  iree_hal_buffer_release(buffer);
  iree_hal_channel_release(alone);
  if (!cts.has_host_channels) return;
  set_provider(cts.device, &provider, 1, 3);
  other = join(cts.device, "a", rank, count);
  assert_int_equal(iree_hal_channel_rank(other), 1);
  assert_int_equal(iree_hal_channel_count(other), 3);
  CHECK_CODE(ALREADY_EXISTS, try_join(cts.device, "a", 1, 3, &alone));  // the exchanged id is the same
  drop_provider(cts.device, &provider);
  alone = join(cts.device, "a", 1, 3);  // without an id: another group
  iree_hal_channel_release(alone);
  iree_hal_channel_release(other);
}

CTS_RECORDING_SUITE(channel, cmocka_unit_test(reductions), cmocka_unit_test(partial_reductions),
                    cmocka_unit_test(movements), cmocka_unit_test(send_recv), cmocka_unit_test(sends_and_receives),
                    cmocka_unit_test(in_place), cmocka_unit_test(ordered_with_commands),
                    cmocka_unit_test(across_devices), cmocka_unit_test(threads), cmocka_unit_test(splits),
                    cmocka_unit_test(failures), cmocka_unit_test(unseen_memory), cmocka_unit_test(bad_collectives),
                    cmocka_unit_test(groups), cmocka_unit_test(providers));
