// Points of timelines as file descriptors, both ways.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cts.h"

static int export_point(iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_hal_external_timepoint_t timepoint;
  CHECK_OK(iree_hal_semaphore_export_timepoint(semaphore, value, IREE_HAL_QUEUE_AFFINITY_ANY,
                                               IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE,
                                               IREE_HAL_EXTERNAL_TIMEPOINT_FLAG_NONE, &timepoint));
  assert_int_equal(timepoint.type, IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE);
  assert_int_equal(timepoint.handle.async_primitive.type, IREE_ASYNC_PRIMITIVE_TYPE_FD);
  return timepoint.handle.async_primitive.value.fd;
}

static iree_status_t import_point(iree_hal_semaphore_t* semaphore, uint64_t value, int fd) {
  iree_hal_external_timepoint_t timepoint = {.type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE};
  timepoint.handle.async_primitive = iree_async_primitive_from_fd(fd);
  return iree_hal_semaphore_import_timepoint(semaphore, value, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint);
}

static bool is_ready(int fd, int timeout_ms) {
  struct pollfd pollfd = {fd, POLLIN, 0};
  return poll(&pollfd, 1, timeout_ms) == 1;
}

static iree_status_t wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  return iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static void exported(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(1);
  int past = export_point(semaphore, 1), near = export_point(semaphore, 2), far = export_point(semaphore, 9);
  int closed = export_point(semaphore, 9);
  close(closed);  // nobody waits any more
  assert_true(is_ready(past, 0));
  assert_false(is_ready(near, 0));
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 3, NULL));
  assert_true(is_ready(near, 0));
  assert_false(is_ready(far, 0));
  iree_hal_semaphore_fail(semaphore, iree_make_status(IREE_STATUS_DATA_LOSS));
  assert_true(is_ready(far, 0));
  int failed = export_point(semaphore, 20);
  assert_true(is_ready(failed, 0));
  int fds[] = {past, near, far, failed};
  for (int i = 0; i < 4; ++i) close(fds[i]);
  iree_hal_semaphore_release(semaphore);
  if (cts.is_recorded) return;  // the recorder keeps it a while
  semaphore = cts_semaphore(0);
  int abandoned = export_point(semaphore, 1);
  assert_false(is_ready(abandoned, 0));
  iree_hal_semaphore_release(semaphore);
  assert_true(is_ready(abandoned, 0));
  close(abandoned);
}

// Work of the device makes the handle ready.
static void exported_from_work(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t* buffer = cts_buffer(1 << 16, 0);
  int fd = export_point(semaphore, 1);
  const uint8_t pattern = 7;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                      CTS_POINT(semaphore, 1), buffer, 0, 1 << 16, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  assert_true(is_ready(fd, -1));
  // The semaphore's lock is what the thread sanitizer knows to order what follows; of poll it knows nothing.
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  assert_int_equal(value, 1);
  cts_expect_bytes(buffer, 0, 1 << 16, 7);
  close(fd);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
}

// A pipe that is written to starts work of the device.
static void imported(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_semaphore_t *before = cts_semaphore(0), *after = cts_semaphore(0);
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  CHECK_OK(import_point(before, 5, ends[0]));
  const uint8_t pattern = 7;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(before, 5),
                                      CTS_POINT(after, 1), buffer, 0, 64, &pattern, 1, IREE_HAL_FILL_FLAG_NONE));
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(before, &value));
  assert_int_equal(value, 0);
  assert_int_equal(write(ends[1], "x", 1), 1);
  CHECK_OK(wait_for(after, 1));
  cts_expect_bytes(buffer, 0, 64, 7);
  CHECK_OK(iree_hal_semaphore_query(before, &value));
  assert_int_equal(value, 5);
  close(ends[1]);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(before);
  iree_hal_semaphore_release(after);
}

// From one semaphore to another through a handle; many, in any order, some of which fail.
static void passed_on(void** state) {
  enum { COUNT = 20 };
  iree_hal_semaphore_t *sources[COUNT], *targets[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    sources[i] = cts_semaphore(0);
    targets[i] = cts_semaphore(0);
    CHECK_OK(import_point(targets[i], i + 1, export_point(sources[i], 3)));
  }
  for (int i = 0; i < COUNT; ++i) CHECK_OK(iree_hal_semaphore_signal(sources[(i * 7) % COUNT], 3, NULL));
  for (int i = 0; i < COUNT; ++i) {
    CHECK_OK(wait_for(targets[i], i + 1));
    iree_hal_semaphore_release(sources[i]);
    iree_hal_semaphore_release(targets[i]);
  }
  iree_hal_semaphore_t* target = cts_semaphore(0);
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  CHECK_OK(import_point(target, 1, ends[0]));
  close(ends[1]);
  CHECK_CODE(ABORTED, wait_for(target, 1));
  iree_hal_semaphore_release(target);
}

static void refused(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_external_timepoint_t timepoint = {0};
  CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_import_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint));
  timepoint.type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_semaphore_import_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint));
  timepoint.handle.async_primitive.type = IREE_ASYNC_PRIMITIVE_TYPE_MACH_PORT;
  CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_import_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint));
  int directory = open("/", O_RDONLY | O_CLOEXEC);
  CHECK_CODE(INVALID_ARGUMENT, import_point(semaphore, 1, directory));  // never ready
  assert_true(fcntl(directory, F_GETFD) >= 0);                          // still the caller's
  CHECK_CODE(OUT_OF_RANGE, import_point(semaphore, UINT64_MAX, directory));
  iree_async_primitive_t copy, original = iree_async_primitive_from_fd(directory);
  CHECK_OK(iree_async_primitive_dup(original, &copy));
  assert_int_not_equal(copy.value.fd, directory);
  iree_async_primitive_close(&copy);
  assert_true(iree_async_primitive_is_none(copy));
  iree_async_primitive_close(&original);
  assert_int_equal(fcntl(directory, F_GETFD), -1);
  CHECK_CODE(INVALID_ARGUMENT, iree_async_primitive_dup(copy, &copy));
  // Events are of some drivers (tests/hal/stream/events.c); none has both.
  iree_hal_external_timepoint_type_t other = strcmp(cts.driver_name, "hip") == 0
                                                 ? IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT
                                                 : IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT;
  CHECK_CODE(UNAVAILABLE,
             iree_hal_semaphore_export_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, other, 0, &timepoint));
  timepoint = (iree_hal_external_timepoint_t){.type = other, .handle.hip_event = &other};
  CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_import_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint));
  if (!cts.has_streams) {
    timepoint.type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT;
    CHECK_CODE(UNAVAILABLE, iree_hal_semaphore_import_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY, timepoint));
  }
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_semaphore_export_timepoint(semaphore, 1, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                 IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE, 8, &timepoint));
  iree_hal_semaphore_t* semaphores[] = {semaphore, NULL, NULL};
  uint64_t values[] = {1, 2, 3};
  iree_hal_semaphore_list_t list = {3, semaphores, values};
  iree_hal_semaphore_list_erase(&list, 0);
  assert_int_equal(list.count, 2);
  assert_null(list.semaphores[0]);
  assert_int_equal(list.payload_values[0], 3);
  iree_hal_semaphore_release(semaphore);
}

CTS_SUITE(timepoint, cmocka_unit_test(exported), cmocka_unit_test(exported_from_work), cmocka_unit_test(imported),
          cmocka_unit_test(passed_on), cmocka_unit_test(refused));
