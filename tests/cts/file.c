// Files: queue reads and writes of memory and of descriptors.
#include <unistd.h>

#include "cts.h"

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void read_memory(void** state) {
  static iree_alignas(64) uint8_t memory[100];
  for (int i = 0; i < 100; ++i) memory[i] = (uint8_t)i;
  iree_hal_file_t* file = cts_memory_file(memory, sizeof(memory), IREE_IO_FILE_ACCESS_READ);
  assert_int_equal(iree_hal_file_length(file), 100);
  assert_non_null(iree_hal_file_storage_buffer(file));
  iree_hal_buffer_t* buffer = cts_buffer(64, 0xFF);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                      CTS_POINT(semaphore, 1), file, 10, buffer, 4, 32, IREE_HAL_READ_FLAG_NONE));
  wait_for(semaphore, 1);
  uint8_t data[64];
  cts_read(buffer, data, sizeof(data));
  for (int i = 0; i < 64; ++i) assert_int_equal(data[i], i < 4 || i >= 36 ? 0xFF : 10 + i - 4);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(file);
}

static void write_memory(void** state) {
  uint8_t memory[103] = {0};
  iree_hal_file_t* file = cts_memory_file(memory + 3, 100, IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE);
  iree_hal_buffer_t* buffer = cts_buffer(64, 5);
  iree_hal_semaphore_t *start = cts_semaphore(0), *done = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_write(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(start, 1), CTS_POINT(done, 1),
                                       buffer, 0, file, 90, 10, IREE_HAL_WRITE_FLAG_NONE));
  assert_int_equal(memory[93], 0);
  CHECK_OK(iree_hal_semaphore_signal(start, 1, NULL));
  wait_for(done, 1);
  assert_int_equal(memory[92], 0);
  for (int i = 93; i < 103; ++i) assert_int_equal(memory[i], 5);
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(done);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(file);
}

static void descriptor(void** state) {
  char path[] = "/tmp/iree_cts_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  CHECK_OK(iree_io_file_handle_create(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE,
                                      iree_make_cstring_view(path), 4096, cts.host_allocator, &handle));
  CHECK_OK(iree_hal_file_import(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE, handle,
                                IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &file));
  iree_io_file_handle_release(handle);
  iree_hal_buffer_t *out = cts_buffer(256, 0x5A), *in = cts_buffer(256, 0);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_write(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                       CTS_POINT(semaphore, 1), out, 0, file, 1000, 256, IREE_HAL_WRITE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 1),
                                      CTS_POINT(semaphore, 2), file, 1100, in, 0, 256, IREE_HAL_READ_FLAG_NONE));
  wait_for(semaphore, 2);
  cts_expect_bytes(in, 0, 156, 0x5A);
  cts_expect_bytes(in, 156, 256, 0);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(out);
  iree_hal_buffer_release(in);
  iree_hal_file_release(file);
  unlink(path);
}

static void errors(void** state) {
  uint8_t memory[64] = {0};
  iree_hal_file_t* file = cts_memory_file(memory, sizeof(memory), IREE_IO_FILE_ACCESS_READ);
  iree_hal_buffer_t* buffer = cts_buffer(64, 5);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_CODE(PERMISSION_DENIED,
             iree_hal_device_queue_write(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                         CTS_POINT(semaphore, 1), buffer, 0, file, 0, 10, IREE_HAL_WRITE_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                        CTS_POINT(semaphore, 1), file, 0, buffer, 32, 64, IREE_HAL_READ_FLAG_NONE));
  // The file's end is found when the operation runs.
  CHECK_OK(iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                      CTS_POINT(semaphore, 1), file, 40, buffer, 0, 32, IREE_HAL_READ_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* other = NULL;
  CHECK_OK(iree_io_file_handle_wrap_host_allocation(IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(memory, 64),
                                                    iree_io_file_handle_release_callback_null(), cts.host_allocator,
                                                    &handle));
  CHECK_CODE(PERMISSION_DENIED,
             iree_hal_file_import(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_MEMORY_ACCESS_WRITE, handle,
                                  IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &other));
  iree_io_file_handle_release(handle);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(file);
}

// Several pieces, into memory of the device's own and back.
static void large(void** state) {
  enum { SIZE = (13 << 20) + 12 };
  uint32_t* source = NULL;
  uint32_t* target = NULL;
  CHECK_OK(iree_allocator_malloc(cts.host_allocator, SIZE, (void**)&source));
  CHECK_OK(iree_allocator_malloc(cts.host_allocator, SIZE, (void**)&target));
  for (uint32_t i = 0; i < SIZE / 4; ++i) source[i] = i * 2654435761u;
  iree_hal_file_t* from = cts_memory_file(source, SIZE, IREE_IO_FILE_ACCESS_READ);
  iree_hal_file_t* to = cts_memory_file(target, SIZE, IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(cts.device), params, SIZE, &buffer));
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                      CTS_POINT(semaphore, 1), from, 4, buffer, 4, SIZE - 4, IREE_HAL_READ_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_write(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 1),
                                       CTS_POINT(semaphore, 2), buffer, 4, to, 4, SIZE - 4, IREE_HAL_WRITE_FLAG_NONE));
  wait_for(semaphore, 2);
  assert_int_equal(target[0], 0);
  assert_int_equal(memcmp(source + 1, target + 1, SIZE - 4), 0);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(from);
  iree_hal_file_release(to);
  iree_allocator_free(cts.host_allocator, source);
  iree_allocator_free(cts.host_allocator, target);
}

// Work before it that failed: neither file nor buffer is touched.
static void failed_before(void** state) {
  uint8_t memory[64] = {0};
  iree_hal_file_t* file = cts_memory_file(memory, sizeof(memory), IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE);
  iree_hal_buffer_t* buffer = cts_buffer(64, 5);
  iree_hal_semaphore_t *start = cts_semaphore(0), *done = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_write(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(start, 1), CTS_POINT(done, 1),
                                       buffer, 0, file, 0, 64, IREE_HAL_WRITE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_read(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(done, 1), CTS_POINT(done, 2),
                                      file, 0, buffer, 0, 64, IREE_HAL_READ_FLAG_NONE));
  iree_hal_semaphore_fail(start, iree_make_status(IREE_STATUS_DATA_LOSS, "lost"));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_wait(done, 2, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  for (int i = 0; i < 64; ++i) assert_int_equal(memory[i], 0);
  cts_expect_bytes(buffer, 0, 64, 5);
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(done);
  iree_hal_buffer_release(buffer);
  iree_hal_file_release(file);
}

CTS_SUITE(file, cmocka_unit_test(failed_before), cmocka_unit_test(large), cmocka_unit_test(read_memory),
          cmocka_unit_test(write_memory), cmocka_unit_test(descriptor), cmocka_unit_test(errors));
