// Ranks on two GPUs, and what they run.
#ifndef TESTS_HAL_STREAM_NCCL_FIXTURE_H_
#define TESTS_HAL_STREAM_NCCL_FIXTURE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include "iree/base/threading/thread.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "nccl_double.h"

enum { RANKS = 2, ELEMENTS = 24, MAX_BYTES = ELEMENTS * RANKS * 8 };

#define CHECK_OK(expr) check((expr), IREE_STATUS_OK, NULL, __LINE__)
// UNKNOWN: any failure.
#define CHECK_CODE(code, text, expr) check((expr), IREE_STATUS_##code, (text), __LINE__)

static inline void check(iree_status_t status, iree_status_code_t code, const char* text, int line) {
  char message[2048] = "";
  bool is_right = iree_status_code(status) == code || (code == IREE_STATUS_UNKNOWN && !iree_status_is_ok(status));
  iree_status_format(status, sizeof(message), message, NULL);
  iree_status_free(status);
  is_right = is_right && (!text || strstr(message, text));
  if (!is_right) print_error("line %d: %s\n", line, message);
  assert_true(is_right);
}

static struct {
  iree_hal_device_t* devices[RANKS];
  nccl_double_fail_t fail_next;
  nccl_double_break_t break_rank;
  nccl_double_live_t live;
  int (*unique_id)(void* out_id);
} test;

static inline iree_hal_device_t* open_device(const char* uri) {
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(uri), NULL,
                                  iree_allocator_system(), &device));
  return device;
}

static inline iree_status_t try_join(int device, const char* group, int rank, iree_hal_channel_t** out_channel) {
  iree_hal_channel_params_t params = {.group = iree_make_cstring_view(group), .rank = rank, .count = RANKS};
  return iree_hal_channel_create(test.devices[device], IREE_HAL_QUEUE_AFFINITY_ANY, params, out_channel);
}

// Channels go with the submissions that used them, whose ends are told before.
static inline void expect_none_left(void) {
  for (int looks = 0; test.live() && looks < 10000; ++looks) iree_wait_until(iree_time_now() + 1000000);
  assert_int_equal(test.live(), 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Ranks
//===----------------------------------------------------------------------------------------------------------------===

typedef struct world_t {
  iree_hal_channel_t* channels[RANKS];
  iree_hal_buffer_t *sends[RANKS], *recvs[RANKS];
  iree_hal_semaphore_t* done[RANKS];
  uint64_t value;
} world_t;

static inline iree_hal_buffer_t* make_buffer(int device) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(test.devices[device]), params, MAX_BYTES, &buffer));
  return buffer;
}

static inline world_t open_world(void) {
  world_t world = {.value = 0};
  for (int i = 0; i < RANKS; ++i) {
    CHECK_OK(try_join(i, "world", i, &world.channels[i]));  // does not wait for the others
    world.sends[i] = make_buffer(i);
    world.recvs[i] = make_buffer(i);
    CHECK_OK(iree_hal_semaphore_create(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                       &world.done[i]));
  }
  return world;
}

static inline void close_world(world_t* world) {
  for (int i = 0; i < RANKS; ++i) {
    iree_hal_channel_release(world->channels[i]);
    iree_hal_buffer_release(world->sends[i]);
    iree_hal_buffer_release(world->recvs[i]);
    iree_hal_semaphore_release(world->done[i]);
  }
}

static inline void put(int rank, iree_hal_buffer_t* buffer, const void* data) {
  CHECK_OK(iree_hal_device_transfer_h2d(test.devices[rank], data, buffer, 0, MAX_BYTES,
                                        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

static inline void expect(int rank, iree_hal_buffer_t* buffer, const void* expected, size_t size) {
  uint8_t data[MAX_BYTES];
  CHECK_OK(iree_hal_device_transfer_d2h(test.devices[rank], buffer, 0, data, sizeof(data),
                                        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  assert_memory_equal(data, expected, size);
}

static inline iree_hal_command_buffer_t* begin(int rank) {
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_OK(iree_hal_command_buffer_create(test.devices[rank], IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                          IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  return commands;
}

static inline iree_hal_collective_op_t make_op(int kind, int reduction, int type) {
  iree_hal_collective_op_t op = {0};
  op.kind = (iree_hal_collective_kind_t)kind;
  op.reduction = (iree_hal_collective_reduction_t)reduction;
  op.element_type = (iree_hal_collective_element_type_t)type;
  return op;
}
#define OP(kind, reduction, type)                                                     \
  make_op(IREE_HAL_COLLECTIVE_KIND_##kind, IREE_HAL_COLLECTIVE_REDUCTION_##reduction, \
          IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##type)

static inline iree_status_t record(world_t* world, iree_hal_command_buffer_t* commands, int rank,
                                   iree_hal_collective_op_t op, uint32_t param, size_t count) {
  return iree_hal_command_buffer_collective(commands, world->channels[rank], op, param,
                                            iree_hal_make_buffer_ref(world->sends[rank], 0, MAX_BYTES),
                                            iree_hal_make_buffer_ref(world->recvs[rank], 0, MAX_BYTES), count);
}

// Submits what each rank has recorded, which is released; the outcomes are the caller's.
static inline void submit(world_t* world, iree_hal_command_buffer_t* const commands[RANKS],
                          iree_status_t outcomes[RANKS]) {
  ++world->value;
  for (int i = 0; i < RANKS; ++i) {
    iree_hal_semaphore_list_t signals = {1, &world->done[i], &world->value};
    CHECK_OK(iree_hal_command_buffer_end(commands[i]));
    CHECK_OK(iree_hal_device_queue_execute(test.devices[i], IREE_HAL_QUEUE_AFFINITY_ANY,
                                           iree_hal_semaphore_list_empty(), signals, commands[i],
                                           iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
    iree_hal_command_buffer_release(commands[i]);
  }
  for (int i = 0; i < RANKS; ++i) {
    outcomes[i] =
        iree_hal_semaphore_wait(world->done[i], world->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    if (iree_status_is_ok(outcomes[i])) continue;
    uint64_t value = 0;
    iree_status_ignore(outcomes[i]);
    outcomes[i] = iree_hal_semaphore_query(world->done[i], &value);  // the failure itself
  }
}

static inline void run_with(world_t* world, iree_hal_collective_op_t op, const uint32_t params[RANKS], size_t count,
                            iree_status_t outcomes[RANKS]) {
  iree_hal_command_buffer_t* commands[RANKS];
  for (int i = 0; i < RANKS; ++i) {
    commands[i] = begin(i);
    CHECK_OK(record(world, commands[i], i, op, params ? params[i] : 0, count));
  }
  submit(world, commands, outcomes);
}

static inline void run(world_t* world, iree_hal_collective_op_t op, const uint32_t params[RANKS], size_t count) {
  iree_status_t outcomes[RANKS];
  run_with(world, op, params, count, outcomes);
  for (int i = 0; i < RANKS; ++i) CHECK_OK(outcomes[i]);
}

#endif  // TESTS_HAL_STREAM_NCCL_FIXTURE_H_
