// The last reference to a device goes where its own work ends: on a thread that the device would wait for. The device
// is destroyed all the same, and everything is given back.
#include "cts.h"
#include "iree/base/internal/atomics.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY

typedef struct fixture_t {
  iree_hal_device_t* device;
  iree_hal_semaphore_t* semaphore;
  iree_atomic_int64_t live;  // blocks of host memory of the device
  iree_atomic_uint32_t releases;
} fixture_t;

static iree_status_t count_blocks(void* self, iree_allocator_command_t command, const void* params, void** inout_ptr) {
  fixture_t* fixture = (fixture_t*)self;
  bool frees = command == IREE_ALLOCATOR_COMMAND_FREE;
  bool had_block = (frees || command == IREE_ALLOCATOR_COMMAND_REALLOC) && *inout_ptr;
  IREE_RETURN_IF_ERROR(iree_allocator_libc_ctl(NULL, command, params, inout_ptr));
  iree_atomic_fetch_add(&fixture->live, (frees ? 0 : 1) - (had_block ? 1 : 0), iree_memory_order_acq_rel);
  return iree_ok_status();
}

static void set_up(fixture_t* fixture) {
  iree_allocator_t allocator = {fixture, count_blocks};
  CHECK_OK(iree_hal_driver_create_default_device(cts.driver, NULL, allocator, &fixture->device));
  CHECK_OK(iree_hal_semaphore_create(fixture->device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &fixture->semaphore));
}

static void release_device(fixture_t* fixture) {
  iree_hal_device_release(fixture->device);
  iree_atomic_fetch_add(&fixture->releases, 1, iree_memory_order_acq_rel);
}

// Starts what was submitted and waits until the device is gone.
static void finish(fixture_t* fixture, uint64_t last) {
  CHECK_OK(iree_hal_semaphore_signal(fixture->semaphore, 1, NULL));
  CHECK_OK(iree_hal_semaphore_wait(fixture->semaphore, last, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(fixture->semaphore);
  iree_time_t limit = iree_time_now() + 60000000000ll;
  while (iree_atomic_load(&fixture->live, iree_memory_order_acquire) && iree_time_now() < limit) {
    iree_wait_until(iree_time_now() + 1000000);
  }
  assert_int_equal(iree_atomic_load(&fixture->releases, iree_memory_order_acquire), 1);
  assert_int_equal(iree_atomic_load(&fixture->live, iree_memory_order_acquire), 0);
}

static iree_status_t call_release(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  release_device((fixture_t*)user_data);
  return iree_ok_status();
}

static void in_host_call(void** state) {
  fixture_t fixture = {0};
  set_up(&fixture);
  CHECK_OK(iree_hal_device_queue_host_call(
      fixture.device, ANY, CTS_POINT(fixture.semaphore, 1), CTS_POINT(fixture.semaphore, 2),
      iree_hal_make_host_call(call_release, &fixture), NULL, IREE_HAL_HOST_CALL_FLAG_NONE));
  finish(&fixture, 2);
}

static void reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  iree_status_free(status);
  release_device((fixture_t*)user_data);
}

static iree_hal_buffer_t* make_buffer(fixture_t* fixture, iree_hal_buffer_release_callback_t callback) {
  static _Alignas(4096) uint8_t memory[1 << 20];
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = sizeof(memory),
                                         .handle.host_allocation = {memory}};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_import_buffer(iree_hal_device_allocator(fixture->device), params, &external, callback,
                                            &buffer));
  return buffer;
}

static void submit_fill(fixture_t* fixture, iree_hal_buffer_t* buffer) {
  uint32_t pattern = 7;
  CHECK_OK(iree_hal_device_queue_fill(fixture->device, ANY, CTS_POINT(fixture->semaphore, 1),
                                      CTS_POINT(fixture->semaphore, 2), buffer, 0, IREE_HAL_WHOLE_BUFFER, &pattern, 4,
                                      IREE_HAL_FILL_FLAG_NONE));
}

static void in_timepoint(void** state) {
  fixture_t fixture = {0};
  set_up(&fixture);
  iree_hal_buffer_t* buffer = make_buffer(&fixture, iree_hal_buffer_release_callback_null());
  submit_fill(&fixture, buffer);
  iree_hal_buffer_release(buffer);
  iree_async_semaphore_timepoint_t timepoint = {.callback = reached, .user_data = &fixture};
  CHECK_OK(iree_async_semaphore_acquire_timepoint(fixture.semaphore, 2, &timepoint));
  finish(&fixture, 2);
}

static void buffer_released(void* user_data, iree_hal_buffer_t* buffer) { release_device((fixture_t*)user_data); }

static void in_release_of_buffer(void** state) {
  SKIP_WITHOUT_RESULTS();
  fixture_t fixture = {0};
  set_up(&fixture);
  iree_hal_buffer_t* buffer = make_buffer(&fixture, (iree_hal_buffer_release_callback_t){buffer_released, &fixture});
  submit_fill(&fixture, buffer);
  iree_hal_buffer_release(buffer);
  finish(&fixture, 2);
}

typedef struct running_t {
  fixture_t fixture;
  iree_hal_semaphore_t* order;
  iree_atomic_uint32_t has_begun, is_gone;
  bool was_gone;  // before the work that runs had ended
} running_t;

static void note_gone(void* user_data, iree_hal_buffer_t* buffer) {
  iree_atomic_store(&((running_t*)user_data)->is_gone, 1u, iree_memory_order_release);
}

// Runs until what waits for it has failed, or where calls run at once for some time.
static iree_status_t run_on(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  running_t* running = (running_t*)user_data;
  iree_atomic_store(&running->has_begun, 1u, iree_memory_order_release);
  uint64_t value = 0;
  for (int i = 0; i < 100 && iree_status_consume_code(iree_hal_semaphore_query(running->order, &value)) == 0; ++i) {
    iree_wait_until(iree_time_now() + 1000000);
  }
  iree_wait_until(iree_time_now() + 5000000);
  running->was_gone = iree_atomic_load(&running->is_gone, iree_memory_order_acquire) != 0;
  return iree_ok_status();
}

// Work that runs may use what only work behind it keeps alive, which fails when the device goes.
static void with_borrowed_buffers(void** state) {
  SKIP_WITHOUT_RESULTS();
  running_t running = {0};
  fixture_t* fixture = &running.fixture;
  set_up(fixture);
  CHECK_OK(iree_hal_semaphore_create(fixture->device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &running.order));
  iree_hal_buffer_t* buffer = make_buffer(fixture, (iree_hal_buffer_release_callback_t){note_gone, &running});
  CHECK_OK(iree_hal_device_queue_host_call(fixture->device, ANY, CTS_POINT(fixture->semaphore, 1),
                                           CTS_POINT(fixture->semaphore, 2), iree_hal_make_host_call(run_on, &running),
                                           NULL, IREE_HAL_HOST_CALL_FLAG_NONE));
  iree_hal_buffer_binding_t kept = {buffer, 0, IREE_HAL_WHOLE_BUFFER};
  CHECK_OK(iree_hal_device_queue_execute(fixture->device, ANY, CTS_POINT(fixture->semaphore, 2),
                                         CTS_POINT(running.order, 1), NULL, (iree_hal_buffer_binding_table_t){1, &kept},
                                         IREE_HAL_EXECUTE_FLAG_NONE));
  iree_hal_buffer_release(buffer);
  CHECK_OK(iree_hal_semaphore_signal(fixture->semaphore, 1, NULL));
  while (!iree_atomic_load(&running.has_begun, iree_memory_order_acquire)) iree_wait_until(iree_time_now() + 100000);
  release_device(fixture);
  assert_false(running.was_gone);
  iree_hal_semaphore_release(running.order);
  finish(fixture, 2);
  assert_int_equal(iree_atomic_load(&running.is_gone, iree_memory_order_acquire), 1);
}

CTS_SUITE(release, cmocka_unit_test(in_host_call), cmocka_unit_test(in_timepoint),
          cmocka_unit_test(in_release_of_buffer), cmocka_unit_test(with_borrowed_buffers));
