// Captures of programs that import files by descriptor: what each policy writes of them, and which files a replay takes
// in their place.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal_test.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "iree/hal/replay/execute.h"
#include "iree/hal/replay/recorder.h"

enum { FILE_SIZE = 70000, READ_FROM = 66000, READ_SIZE = 256, CAPTURE_SIZE = 1 << 20 };

// A folder with the file, and a capture of a program that reads a part of it.
typedef struct fixture_t {
  char folder[64], path[96];
  uint8_t* capture;
  iree_hal_device_group_t* group;
  uint32_t reads;  // of the replay, that are as captured
} fixture_t;

static uint8_t byte_at(uint32_t i) { return (uint8_t)(i * 7 + i / 256); }

static void write_file(const char* path, uint32_t size, uint32_t changed) {
  static uint8_t bytes[FILE_SIZE];
  for (uint32_t i = 0; i < size; ++i) bytes[i] = (uint8_t)(byte_at(i) + (i == changed));
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  assert_int_equal(write(fd, bytes, size), size);
  close(fd);
}
static void write_same(const char* path) { write_file(path, FILE_SIZE, UINT32_MAX); }

static void open_group(fixture_t* f) {
  iree_hal_device_t* device = NULL;
  static bool is_registered;
  if (!is_registered) CHECK_OK(iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
  is_registered = true;
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), IREE_SV("local-sync"), NULL,
                                  iree_allocator_system(), &device));
  CHECK_OK(iree_hal_device_group_create_from_device(device, NULL, iree_allocator_system(), &f->group));
  iree_hal_device_release(device);
}

static int setup(void** state) {
  fixture_t* f = calloc(1, sizeof(*f));
  snprintf(f->folder, sizeof(f->folder), "/tmp/iree_replay_XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  snprintf(f->path, sizeof(f->path), "%s/data", f->folder);
  f->capture = calloc(1, CAPTURE_SIZE);
  write_same(f->path);
  open_group(f);
  *state = f;
  return 0;
}

static int teardown(void** state) {
  fixture_t* f = *state;
  iree_hal_device_group_release(f->group);
  unlink(f->path);
  rmdir(f->folder);
  free(f->capture);
  free(f);
  return 0;
}

// What the program does: reads a part of the file into a buffer, of which it then reads all.
static iree_status_t run_program(const fixture_t* f, iree_hal_device_t* device) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  CHECK_OK(iree_io_file_handle_open(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_RANDOM_ACCESS,
                                    iree_make_cstring_view(f->path), allocator, &handle));
  iree_status_t status = iree_hal_file_import(device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_MEMORY_ACCESS_READ, handle,
                                              IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &file);
  iree_io_file_handle_release(handle);
  if (!iree_status_is_ok(status)) return status;
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_semaphore_t* semaphore = NULL;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  uint64_t one = 1;
  uint8_t data[READ_SIZE];
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, READ_SIZE, &buffer));
  CHECK_OK(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &semaphore));
  iree_hal_semaphore_list_t signal = {.count = 1, .semaphores = &semaphore, .payload_values = &one};
  CHECK_OK(iree_hal_device_queue_read(device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal,
                                      file, READ_FROM, buffer, 0, READ_SIZE, IREE_HAL_READ_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_buffer_map_read(buffer, 0, data, sizeof(data)));
  for (uint32_t i = 0; i < READ_SIZE; ++i) assert_int_equal(data[i], byte_at(READ_FROM + i));
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(file);
  return status;
}

static iree_status_t capture(fixture_t* f, uint32_t policy, uint32_t validation) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_hal_replay_recorder_options_t options = iree_hal_replay_recorder_options_default();
  iree_hal_replay_recorder_t* recorder = NULL;
  iree_hal_device_group_t* group = NULL;
  iree_io_file_handle_t* handle = NULL;
  options.external_file_policy = policy;
  options.external_file_validation = validation;
  CHECK_OK(iree_io_file_handle_wrap_host_allocation(IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE,
                                                    iree_make_byte_span(f->capture, CAPTURE_SIZE),
                                                    iree_io_file_handle_release_callback_null(), allocator, &handle));
  CHECK_OK(iree_hal_replay_recorder_create(handle, &options, allocator, &recorder));
  iree_io_file_handle_release(handle);
  CHECK_OK(iree_hal_replay_wrap_device_group(recorder, f->group, allocator, &group));
  iree_status_t status = run_program(f, iree_hal_device_group_device_at(group, 0));
  iree_hal_device_group_release(group);
  CHECK_OK(iree_hal_replay_recorder_close(recorder));
  iree_hal_replay_recorder_release(recorder);
  return status;
}

static uint64_t capture_length(const fixture_t* f) {
  uint64_t length;
  memcpy(&length, f->capture + 16, sizeof(length));  // of the file's header
  assert_in_range(length, 24, CAPTURE_SIZE);
  return length;
}

static iree_status_t count_read(void* user_data, const iree_hal_replay_read_event_t* event) {
  fixture_t* f = user_data;
  assert_int_equal(event->captured.data_length, READ_SIZE);
  f->reads += memcmp(event->captured.data, event->replayed.data, READ_SIZE) == 0;
  return iree_ok_status();
}

// Replays with the file's folder in another place, where one is given.
static iree_status_t replay(fixture_t* f, const char* folder) {
  iree_hal_replay_file_path_remap_t remap = {iree_make_cstring_view(f->folder), iree_make_cstring_view(folder)};
  iree_hal_replay_execute_options_t options = iree_hal_replay_execute_options_default();
  options.file_path_remap_count = folder[0] ? 1 : 0;
  options.file_path_remaps = &remap;
  options.read_event_callback = (iree_hal_replay_read_event_callback_t){count_read, f};
  f->reads = 0;
  return iree_hal_replay_execute_file(iree_make_const_byte_span(f->capture, (iree_host_size_t)capture_length(f)),
                                      f->group, &options, iree_allocator_system());
}

static void check_refused(fixture_t* f, const char* folder, iree_status_code_t code, const char* why) {
  iree_status_t status = replay(f, folder);
  iree_allocator_t allocator = iree_allocator_system();
  char* text = NULL;
  iree_host_size_t length = 0;
  assert_int_equal(iree_status_code(status), code);
  assert_true(iree_status_to_string(status, &allocator, &text, &length));
  if (!strstr(text, why)) print_error("no '%s' in '%s'\n", why, text);
  assert_non_null(strstr(text, why));
  iree_allocator_free(allocator, text);
  iree_status_free(status);
}

static void test_all(void** state) {
  fixture_t* f = *state;
  CHECK_OK(capture(f, IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_ALL, 0));
  assert_true(capture_length(f) > FILE_SIZE);
  unlink(f->path);
  CHECK_OK(replay(f, ""));
  assert_int_equal(f->reads, 1);
}

static void test_ranges(void** state) {
  fixture_t* f = *state;
  CHECK_OK(capture(f, IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_RANGES, 0));
  assert_true(capture_length(f) < 10000);
  unlink(f->path);
  CHECK_OK(replay(f, ""));
  assert_int_equal(f->reads, 1);
}

static void test_fail(void** state) {
  fixture_t* f = *state;
  CHECK_CODE(FAILED_PRECONDITION, capture(f, IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_FAIL, 0));
  // What there is of the capture is whole.
  CHECK_OK(replay(f, ""));
  assert_int_equal(f->reads, 0);
}

// The very file, and no other.
static void test_identity(void** state) {
  fixture_t* f = *state;
  char other[96];
  CHECK_OK(capture(f, IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_REFERENCE,
                   IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_IDENTITY));
  assert_true(capture_length(f) < 10000);
  CHECK_OK(replay(f, ""));
  assert_int_equal(f->reads, 1);
  snprintf(other, sizeof(other), "%s/old", f->folder);
  rename(f->path, other);
  check_refused(f, "", IREE_STATUS_NOT_FOUND, "use --replay_file_remap=CAPTURED_PREFIX=REPLAY_PREFIX");
  write_same(f->path);
  check_refused(f, "", IREE_STATUS_FAILED_PRECONDITION, "it is not the file that was captured");
  unlink(other);
}

// Any file with the same bytes.
static void test_digest(void** state) {
  fixture_t* f = *state;
  char other[80], copy[96];
  CHECK_OK(capture(f, IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_REFERENCE,
                   IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_CONTENT_DIGEST));
  unlink(f->path);
  snprintf(other, sizeof(other), "%s-moved", f->folder);
  snprintf(copy, sizeof(copy), "%s/data", other);
  assert_int_equal(mkdir(other, 0700), 0);
  write_same(copy);
  CHECK_OK(replay(f, other));
  assert_int_equal(f->reads, 1);
  // One byte of the second piece of 64 KiB, outside of what is read.
  write_file(copy, FILE_SIZE, 65536);
  check_refused(f, other, IREE_STATUS_FAILED_PRECONDITION, "its contents are not those that were captured: digest 0x");
  write_file(copy, FILE_SIZE - 1, UINT32_MAX);
  check_refused(f, other, IREE_STATUS_FAILED_PRECONDITION, "it has 69999 bytes, and had 70000 when it was captured");
  unlink(copy);
  rmdir(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_all, setup, teardown),
      cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fail, setup, teardown),
      cmocka_unit_test_setup_teardown(test_identity, setup, teardown),
      cmocka_unit_test_setup_teardown(test_digest, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
