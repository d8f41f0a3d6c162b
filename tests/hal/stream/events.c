// Points of semaphores as events of the vendor's library, both ways, with streams that are nobody's but the test's; and
// work of one device that waits for another's, which the host does not stand between.
//
//   hal_stream_events cuda|hip [the driver's flags]
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "hal/stream/queue.h"
#include "iree/base/threading/thread.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/hip/api.h"
#include "iree/hal/drivers/init.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define AT(semaphore, point)                  \
  (iree_hal_semaphore_list_t) {               \
    1, &(semaphore), (uint64_t[]) { (point) } \
  }

enum { SIZE = 1 << 16 };

static const char* driver;
static bool is_cuda;
static iree_hal_device_t* device;
static const stream_api_t* api;
static stream_context_t context;
static void* stream;  // the test's own

static void check(iree_status_t status, iree_status_code_t code, int line) {
  if (iree_status_code(status) != code) {
    char text[1024];
    iree_status_format(status, sizeof(text), text, NULL);
    print_error("line %d: %s\n", line, text);
  }
  assert_int_equal(iree_status_consume_code(status), code);
}
#define CHECK_OK(expr) check((expr), IREE_STATUS_OK, __LINE__)
#define CHECK_CODE(code, expr) check((expr), IREE_STATUS_##code, __LINE__)
#define CALL(entry, ...) assert_int_equal(api->entry(__VA_ARGS__), 0)

static iree_hal_external_timepoint_type_t own_type(void) {
  return is_cuda ? IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT : IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT;
}

static void open_device(void) {
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(driver), NULL,
                                  iree_allocator_system(), &device));
}

static iree_hal_semaphore_t* make_semaphore(void) {
  iree_hal_semaphore_t* semaphore = NULL;
  CHECK_OK(iree_hal_semaphore_create(device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  return semaphore;
}

static iree_hal_buffer_t* make_buffer(void) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, SIZE, &buffer));
  return buffer;
}

static void fill(iree_hal_buffer_t* buffer, uint8_t value, iree_hal_semaphore_list_t waits,
                 iree_hal_semaphore_list_t signals) {
  CHECK_OK(
      iree_hal_device_queue_fill(device, ANY, waits, signals, buffer, 0, SIZE, &value, 1, IREE_HAL_FILL_FLAG_NONE));
}

static iree_status_t wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  return iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t try_export(iree_hal_semaphore_t* semaphore, uint64_t value, void** out_event) {
  iree_hal_external_timepoint_t timepoint;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_export_timepoint(semaphore, value, ANY, own_type(),
                                                           IREE_HAL_EXTERNAL_TIMEPOINT_FLAG_NONE, &timepoint));
  assert_int_equal(timepoint.type, own_type());
  assert_true(timepoint.compatibility & IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT);
  *out_event = is_cuda ? timepoint.handle.cuda_event : timepoint.handle.hip_event;
  return iree_ok_status();
}

static void* export(iree_hal_semaphore_t* semaphore, uint64_t value) {
  void* event = NULL;
  CHECK_OK(try_export(semaphore, value, &event));
  return event;
}

static iree_status_t import(iree_hal_semaphore_t* semaphore, uint64_t value, void* event) {
  iree_hal_external_timepoint_t timepoint = {.type = own_type(),
                                             .compatibility = IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT};
  timepoint.handle.cuda_event = event;
  return iree_hal_semaphore_import_timepoint(semaphore, value, ANY, timepoint);
}

static void expect_bytes(iree_hal_buffer_t* buffer, uint8_t value) {
  static uint8_t bytes[SIZE];
  CHECK_OK(iree_hal_device_transfer_d2h(device, buffer, 0, bytes, SIZE, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                        iree_infinite_timeout()));
  for (int i = 0; i < SIZE; ++i) assert_int_equal(bytes[i], value);
}

//===----------------------------------------------------------------------------------------------------------------===
// A stream that is held
//===----------------------------------------------------------------------------------------------------------------===

static iree_atomic_uint32_t is_let_go;

static void hold_on(void* held, int result, void* data) {
  while (!iree_atomic_load(&is_let_go, iree_memory_order_acquire)) iree_thread_yield();
}

// What comes into a stream from now on comes after `let_go`.
static void hold_stream(void* held) {
  iree_atomic_store(&is_let_go, 0u, iree_memory_order_release);
  CALL(stream_callback, held, hold_on, NULL, 0);
}

static void hold(void) { hold_stream(stream); }

static void let_go(void) { iree_atomic_store(&is_let_go, 1u, iree_memory_order_release); }

//===----------------------------------------------------------------------------------------------------------------===
// Export
//===----------------------------------------------------------------------------------------------------------------===

// The test's stream reads what work of the device has written.
static void exported_of_work(void** state) {
  static uint8_t bytes[SIZE];
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_buffer_t* buffer = make_buffer();
  iree_hal_external_buffer_t external;
  CHECK_OK(iree_hal_allocator_export_buffer(iree_hal_device_allocator(device), buffer,
                                            IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
                                            IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  for (uint64_t round = 1; round < 20; ++round) {
    fill(buffer, (uint8_t)round, AT(semaphore, round - 1), AT(semaphore, round));
    void* event = export(semaphore, round);
    CALL(stream_wait, stream, event, 0);
    CALL(copy_to_host, bytes, external.handle.device_allocation.ptr, SIZE, stream);
    CALL(stream_synchronize, stream);
    assert_int_equal(bytes[0], round);
    assert_int_equal(bytes[SIZE - 1], round);
    CALL(event_destroy, event);
  }
  CHECK_OK(wait_for(semaphore, 19));
  void* past = export(semaphore, 7);
  CALL(event_query, past);
  CALL(event_destroy, past);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
}

// What nothing in a queue reaches has no event before it is reached.
static void exported_of_the_host(void** state) {
  iree_hal_semaphore_t *semaphore = make_semaphore(), *failed = make_semaphore();
  void* event = NULL;
  CHECK_CODE(FAILED_PRECONDITION, try_export(semaphore, 3, &event));
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 3, NULL));
  iree_hal_semaphore_fail(failed, iree_make_status(IREE_STATUS_DATA_LOSS));
  for (int i = 0; i < 2; ++i) {
    event = export(i ? failed : semaphore, 3);
    CALL(event_query, event);
    CALL(event_destroy, event);
  }
  iree_hal_semaphore_release(semaphore);
  iree_hal_semaphore_release(failed);
}

//===----------------------------------------------------------------------------------------------------------------===
// Import
//===----------------------------------------------------------------------------------------------------------------===

// Work of the device comes after what the test's stream does.
static void imported(void** state) {
  iree_hal_semaphore_t *before = make_semaphore(), *after = make_semaphore();
  iree_hal_buffer_t* buffer = make_buffer();
  void* event = NULL;
  CALL(event_create, &event, STREAM_API_EVENT_DISABLE_TIMING);
  for (uint64_t round = 1; round < 10; ++round) {
    uint64_t value = 0;
    hold();
    CALL(event_record, event, stream);
    CHECK_OK(import(before, 3 * round, event));
    fill(buffer, (uint8_t)round, AT(before, 3 * round), AT(after, round));
    CHECK_OK(iree_hal_semaphore_query(before, &value));
    assert_int_equal(value, 3 * (round - 1));
    let_go();
    CHECK_OK(wait_for(after, round));
    expect_bytes(buffer, (uint8_t)round);
    CHECK_OK(iree_hal_semaphore_query(before, &value));
    assert_int_equal(value, 3 * round);
  }
  CALL(event_destroy, event);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(before);
  iree_hal_semaphore_release(after);
}

// Of a stream that is held when the device goes, which waits for it.
static int let_go_later(void* arg) {
  iree_wait_until(iree_time_now() + 20000000);
  let_go();
  return 0;
}

static void imported_and_closed(void** state) {
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_thread_t* thread = NULL;
  void* event = NULL;
  CALL(event_create, &event, STREAM_API_EVENT_DISABLE_TIMING);
  hold();
  CALL(event_record, event, stream);
  CHECK_OK(import(semaphore, 1, event));
  CALL(event_destroy, event);
  CHECK_OK(iree_thread_create(let_go_later, NULL, (iree_thread_create_params_t){0}, iree_allocator_system(), &thread));
  iree_hal_device_release(device);
  iree_thread_release(thread);
  CHECK_OK(wait_for(semaphore, 1));
  CHECK_CODE(UNAVAILABLE, import(semaphore, 2, stream));
  iree_hal_semaphore_release(semaphore);
  open_device();
}

// From one semaphore to another, many.
static void passed_on(void** state) {
  enum { COUNT = 20 };
  iree_hal_semaphore_t *sources[COUNT], *targets[COUNT];
  iree_hal_buffer_t* buffer = make_buffer();
  for (int i = 0; i < COUNT; ++i) {
    sources[i] = make_semaphore();
    targets[i] = make_semaphore();
    fill(buffer, 1, iree_hal_semaphore_list_empty(), AT(sources[i], 3));
    void* event = export(sources[i], 3);
    CHECK_OK(import(targets[i], (uint64_t)i + 1, event));
    CALL(event_destroy, event);
  }
  for (int i = 0; i < COUNT; ++i) {
    CHECK_OK(wait_for(targets[i], (uint64_t)i + 1));
    iree_hal_semaphore_release(sources[i]);
    iree_hal_semaphore_release(targets[i]);
  }
  iree_hal_buffer_release(buffer);
}

static void refused(void** state) {
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_external_timepoint_t timepoint = {.type = is_cuda ? IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT
                                                             : IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT};
  iree_hal_external_timepoint_type_t other = timepoint.type;
  CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_import_timepoint(semaphore, 1, ANY, timepoint));
  CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_export_timepoint(semaphore, 1, ANY, other, 0, &timepoint));
  CHECK_CODE(INVALID_ARGUMENT, import(semaphore, 1, NULL));
  CHECK_CODE(OUT_OF_RANGE, import(semaphore, UINT64_MAX, stream));
  iree_hal_semaphore_release(semaphore);
}

//===----------------------------------------------------------------------------------------------------------------===
// Two devices
//===----------------------------------------------------------------------------------------------------------------===

typedef struct pair_t {
  iree_hal_device_t* other;
  iree_hal_device_group_t* group;
  iree_hal_buffer_t *ours, *theirs;
  iree_hal_semaphore_t *before, *after;
} pair_t;

static iree_hal_buffer_t* make_buffer_of(iree_hal_device_t* owner) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(owner), params, SIZE, &buffer));
  return buffer;
}

// The first GPU's device and one of the second, whose semaphores signal either's work.
static pair_t open_pair(void) {
  pair_t pair = {0};
  iree_hal_device_group_builder_t builder;
  char uri[64];
  snprintf(uri, sizeof(uri), "%s://1", driver);
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(uri), NULL,
                                  iree_allocator_system(), &pair.other));
  iree_hal_device_group_builder_initialize(&builder, NULL);
  CHECK_OK(iree_hal_device_group_builder_add_device(&builder, device));
  CHECK_OK(iree_hal_device_group_builder_add_device(&builder, pair.other));
  CHECK_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &pair.group));
  pair.ours = make_buffer_of(device);
  pair.theirs = make_buffer_of(pair.other);
  pair.before = make_semaphore();
  pair.after = make_semaphore();
  return pair;
}

static void close_pair(pair_t* pair) {
  iree_hal_device_group_release(pair->group);
  iree_hal_buffer_release(pair->ours);
  iree_hal_buffer_release(pair->theirs);
  iree_hal_semaphore_release(pair->before);
  iree_hal_semaphore_release(pair->after);
  iree_hal_device_release(pair->other);
}

static void copy_on(iree_hal_device_t* own, iree_hal_buffer_t* from, iree_hal_buffer_t* to,
                    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  CHECK_OK(iree_hal_device_queue_copy(own, 1, waits, signals, from, 0, to, 0, SIZE, IREE_HAL_COPY_FLAG_NONE));
}

static stream_queue_t* queue_of(iree_hal_device_t* owner) {
  return (stream_queue_t*)((stream_device_t*)owner)->gpu.queues[0];
}

// What one device's queue is held before, the other device's work waits for in its own queue: it is there already.
static void waited_for_by_the_device(void** state) {
  pair_t pair = open_pair();
  CHECK_OK(iree_hal_device_queue_fill(device, 1, iree_hal_semaphore_list_empty(), AT(pair.before, 1), pair.ours, 0,
                                      SIZE, "\1", 1, IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(wait_for(pair.before, 1));
  for (uint8_t round = 2; round < 12; round += 2) {
    uint64_t value = 0;
    CHECK_OK(stream_context_enter(queue_of(device)->context));
    hold_stream(queue_of(device)->writer.stream);
    CHECK_OK(iree_hal_device_queue_fill(device, 1, AT(pair.before, round - 1), AT(pair.before, round), pair.ours, 0,
                                        SIZE, &round, 1, IREE_HAL_FILL_FLAG_NONE));
    uint64_t head = gpu_queue_head(&queue_of(pair.other)->base);
    copy_on(pair.other, pair.ours, pair.theirs, AT(pair.before, round), AT(pair.after, round));
    assert_int_equal(gpu_queue_head(&queue_of(pair.other)->base), head + 1);
    // And back, by a semaphore whose own device waits for the other's work.
    head = gpu_queue_head(&queue_of(device)->base);
    copy_on(device, pair.theirs, pair.ours, AT(pair.after, round), AT(pair.before, round + 1u));
    assert_int_equal(gpu_queue_head(&queue_of(device)->base), head + 1);
    CHECK_OK(iree_hal_semaphore_query(pair.after, &value));
    assert_true(value < round);
    let_go();
    CHECK_OK(wait_for(pair.before, round + 1u));
    CHECK_OK(iree_hal_semaphore_query(pair.after, &value));
    assert_int_equal(value, round);
    expect_bytes(pair.ours, round);
  }
  close_pair(&pair);
}

// The other device goes while its work is waited for.
static void waited_for_and_gone(void** state) {
  pair_t pair = open_pair();
  iree_thread_t* thread = NULL;
  iree_hal_device_group_release(pair.group);
  pair.group = NULL;
  CHECK_OK(stream_context_enter(queue_of(pair.other)->context));
  hold_stream(queue_of(pair.other)->writer.stream);
  CHECK_OK(iree_hal_device_queue_fill(pair.other, 1, iree_hal_semaphore_list_empty(), AT(pair.after, 1), pair.theirs, 0,
                                      SIZE, "\5", 1, IREE_HAL_FILL_FLAG_NONE));
  fill(pair.ours, 7, AT(pair.after, 1), AT(pair.before, 1));
  CHECK_OK(iree_thread_create(let_go_later, NULL, (iree_thread_create_params_t){0}, iree_allocator_system(), &thread));
  iree_hal_buffer_release(pair.theirs);
  pair.theirs = NULL;
  iree_hal_device_release(pair.other);
  pair.other = NULL;
  CHECK_OK(wait_for(pair.before, 1));
  expect_bytes(pair.ours, 7);
  iree_thread_release(thread);
  close_pair(&pair);
}

// What the other device's work fails with, so does what waits for it, though it is in its queue.
static void waited_for_and_failed(void** state) {
  pair_t pair = open_pair();
  uint64_t value = 0;
  CHECK_OK(stream_context_enter(queue_of(pair.other)->context));
  hold_stream(queue_of(pair.other)->writer.stream);
  CHECK_OK(iree_hal_device_queue_fill(pair.other, 1, iree_hal_semaphore_list_empty(), AT(pair.after, 1), pair.theirs, 0,
                                      SIZE, "\5", 1, IREE_HAL_FILL_FLAG_NONE));
  iree_hal_semaphore_t* last = make_semaphore();
  fill(pair.ours, 7, AT(pair.after, 1), AT(pair.before, 1));
  fill(pair.ours, 8, AT(pair.before, 1), AT(last, 1));  // what comes behind that in its queue
  iree_hal_semaphore_fail(pair.after, iree_make_status(IREE_STATUS_DATA_LOSS));
  let_go();
  IREE_IGNORE_ERROR(wait_for(last, 1));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_query(pair.before, &value));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_query(last, &value));
  iree_hal_semaphore_release(last);
  close_pair(&pair);
}

//===----------------------------------------------------------------------------------------------------------------===
// A device in the test's stream
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t open_in_stream(const char* path, const char* key, const char* value, iree_hal_device_t** out) {
  char uri[128];
  snprintf(uri, sizeof(uri), "%s://%s?%s%s=%s", driver, path, driver, key, value);
  return iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(uri), NULL,
                                iree_allocator_system(), out);
}

// By HIP's own header, which has a field for it.
static iree_status_t open_by_params(iree_hal_device_t** out) {
  iree_hal_hip_driver_options_t options;
  iree_hal_hip_device_params_t params;
  iree_hal_driver_t* own = NULL;
  iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
  iree_hal_hip_driver_options_initialize(&options);
  iree_hal_hip_device_params_initialize(&params);
  params.external_stream = (uintptr_t)stream;
  IREE_RETURN_IF_ERROR(iree_hal_hip_driver_create(IREE_SV("hip"), &options, &params, iree_allocator_system(), &own));
  iree_status_t status = iree_hal_driver_create_default_device(own, &create_params, iree_allocator_system(), out);
  iree_hal_driver_release(own);
  return status;
}

// Work of the device is between what the stream had before and what comes behind, which it does not wait for.
static void in_an_external_stream(void** state) {
  static uint8_t bytes[SIZE];
  char number[32];
  iree_hal_device_t *own = device, *there = NULL;
  iree_hal_external_buffer_t external;
  snprintf(number, sizeof(number), "%" PRIuPTR, (uintptr_t)stream);
  CHECK_OK(is_cuda ? open_in_stream("0", "_external_stream", number, &there) : open_by_params(&there));
  device = there;
  assert_ptr_equal(queue_of(device)->writer.stream, stream);
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_buffer_t* buffer = make_buffer();
  CHECK_OK(iree_hal_allocator_export_buffer(iree_hal_device_allocator(device), buffer,
                                            IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
                                            IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  for (uint64_t round = 1; round < 10; ++round) {
    uint64_t value = 0;
    CHECK_OK(stream_context_enter(&context));
    hold();
    fill(buffer, (uint8_t)round, AT(semaphore, round - 1), AT(semaphore, round));
    CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
    assert_int_equal(value, round - 1);
    let_go();
    CHECK_OK(stream_context_enter(&context));
    CALL(copy_to_host, bytes, external.handle.device_allocation.ptr, SIZE, stream);
    CALL(stream_synchronize, stream);
    CHECK_OK(wait_for(semaphore, round));
    assert_int_equal(bytes[0], round);
    assert_int_equal(bytes[SIZE - 1], round);
  }
  fill(buffer, 77, AT(semaphore, 9), AT(semaphore, 10));
  hold();
  CHECK_OK(wait_for(semaphore, 10));
  let_go();
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
  iree_hal_device_release(device);
  device = own;
  CHECK_OK(stream_context_enter(&context));
  CALL(stream_synchronize, stream);
}

static void external_streams_refused(void** state) {
  iree_hal_device_t* none = NULL;
  CHECK_CODE(INVALID_ARGUMENT, open_in_stream("0", "_external_stream", "x", &none));
  CHECK_CODE(INVALID_ARGUMENT, open_in_stream("0", "_external_streams", "1", &none));
  CHECK_CODE(INVALID_ARGUMENT, open_in_stream("0,1", "_external_stream", "1", &none));
}

static int set_up(void** state) {
  iree_string_view_t storage[STREAM_MAX_PATHS];
  IREE_CHECK_OK(iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
  open_device();
  IREE_CHECK_OK(stream_api_load(is_cuda ? &stream_cuda_library : &stream_hip_library,
                                is_cuda ? stream_no_paths(storage) : stream_hip_paths(storage), &api));
  IREE_CHECK_OK(stream_context_retain(api, 0, &context));
  IREE_CHECK_OK(stream_context_enter(&context));
  return api->stream_create(&stream, STREAM_API_STREAM_NON_BLOCKING);
}

static int tear_down(void** state) {
  IREE_CHECK_OK(stream_context_enter(&context));
  api->stream_destroy(stream);
  iree_hal_device_release(device);
  stream_context_release(&context);
  return 0;
}

int main(int argc, char** argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exported_of_work),
      cmocka_unit_test(exported_of_the_host),
      cmocka_unit_test(imported),
      cmocka_unit_test(imported_and_closed),
      cmocka_unit_test(passed_on),
      cmocka_unit_test(refused),
      cmocka_unit_test(waited_for_by_the_device),
      cmocka_unit_test(waited_for_and_gone),
      cmocka_unit_test(waited_for_and_failed),
      cmocka_unit_test(in_an_external_stream),
      cmocka_unit_test(external_streams_refused),
  };
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  if (argc != 2) return 2;
  driver = argv[1];
  is_cuda = strcmp(driver, "cuda") == 0;
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
