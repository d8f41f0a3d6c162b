// Streams of every kind: what is written is read again, wherever they are moved to, and what they cannot do is refused.

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iree/io/file_handle.h"
#include "iree/io/memory_stream.h"
#include "iree/io/stdio_stream.h"
#include "iree/io/vec_stream.h"

#define EXPECT_OK(expression) assert_int_equal(iree_status_consume_code(expression), IREE_STATUS_OK)
#define EXPECT_CODE(code, expression) assert_int_equal(iree_status_consume_code(expression), code)

enum {
  READ_WRITE = IREE_IO_STREAM_MODE_READABLE | IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_SEEKABLE,
};

// Writes 40 bytes in pieces, moves about and reads them again.
static void check_stream(iree_io_stream_t* stream) {
  char text[64] = {0};
  iree_host_size_t got = 0;
  assert_int_equal(iree_io_stream_offset(stream), 0);
  EXPECT_OK(iree_io_stream_write_string(stream, IREE_SV("0123456789")));
  EXPECT_OK(iree_io_stream_write_char(stream, '!'));
  EXPECT_OK(iree_io_stream_seek_to_alignment(stream, 16));
  EXPECT_OK(iree_io_stream_seek_to_alignment(stream, 16));
  assert_int_equal(iree_io_stream_offset(stream), 16);
  EXPECT_OK(iree_io_stream_fill(stream, 8, "abc", 3));
  assert_int_equal(iree_io_stream_offset(stream), 40);
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 8));
  EXPECT_OK(iree_io_stream_read(stream, 3, text, NULL));
  assert_string_equal(text, "89!");
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_CURRENT, 6));
  EXPECT_OK(iree_io_stream_read(stream, 4, text, &got));
  assert_int_equal(got, 4);
  assert_memory_equal(text, "bcab", 4);
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 36));
  assert_false(iree_io_stream_is_eos(stream));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_CURRENT, -37));
  EXPECT_CODE(IREE_STATUS_INVALID_ARGUMENT, iree_io_stream_seek_to_alignment(stream, 12));
  assert_int_equal(iree_io_stream_offset(stream), 36);
}

// As above, of a stream that ends behind the 40 bytes.
static void check_end(iree_io_stream_t* stream) {
  char text[64];
  iree_host_size_t got = 0;
  assert_int_equal(iree_io_stream_length(stream), 40);
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_END, -4));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_read(stream, 5, text, NULL));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_END, -4));
  EXPECT_OK(iree_io_stream_read(stream, sizeof(text), text, &got));
  assert_int_equal(got, 4);
  assert_memory_equal(text, "cabc", 4);
  assert_true(iree_io_stream_is_eos(stream));
}

static void count_release(void* user_data, iree_io_stream_t* stream) { ++*(int*)user_data; }

static void memory(void** state) {
  uint8_t bytes[40] = {0};
  int released = 0;
  iree_io_stream_t* stream = NULL;
  iree_io_memory_stream_release_callback_t callback = {count_release, &released};
  EXPECT_OK(iree_io_memory_stream_wrap(READ_WRITE | IREE_IO_STREAM_MODE_MAPPABLE,
                                       iree_make_byte_span(bytes, sizeof(bytes)), callback, iree_allocator_system(),
                                       &stream));
  check_stream(stream);
  check_end(stream);
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_write_char(stream, 'x'));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 41));
  iree_const_byte_span_t span;
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 2));
  EXPECT_OK(iree_io_stream_map_read(stream, 3, &span));
  assert_ptr_equal(span.data, bytes + 2);
  assert_int_equal(iree_io_stream_offset(stream), 5);
  iree_byte_span_t room;
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_map_write(stream, 36, &room));
  iree_io_stream_release(stream);
  assert_int_equal(released, 1);
}

typedef struct blocks_t {
  size_t count, bytes;
} blocks_t;

static iree_status_t count_block(void* user_data, iree_const_byte_span_t block) {
  blocks_t* blocks = user_data;
  ++blocks->count;
  blocks->bytes += block.data_length;
  return iree_ok_status();
}

static void vec(void** state) {
  iree_io_stream_t* stream = NULL;
  blocks_t blocks = {0};
  EXPECT_OK(iree_io_vec_stream_create(READ_WRITE, 16, iree_allocator_system(), &stream));
  check_stream(stream);
  check_end(stream);
  EXPECT_OK(iree_io_vec_stream_enumerate_blocks(stream, count_block, &blocks));
  assert_int_equal(blocks.count, 3);
  assert_int_equal(blocks.bytes, 40);
  iree_const_byte_span_t span;
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED, iree_io_stream_map_read(stream, 3, &span));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 100));
  assert_int_equal(iree_io_stream_length(stream), 100);
  iree_io_stream_release(stream);
}

// Streams without SEEKABLE go forward only; those for one thing do not do the other.
static void modes(void** state) {
  uint8_t bytes[40] = {0};
  char c;
  iree_io_stream_t* stream = NULL;
  EXPECT_OK(iree_io_memory_stream_wrap(IREE_IO_STREAM_MODE_WRITABLE, iree_make_byte_span(bytes, sizeof(bytes)),
                                       iree_io_memory_stream_release_callback_null(), iree_allocator_system(),
                                       &stream));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_CURRENT, 4));
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED, iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 8));
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED, iree_io_stream_read(stream, 1, &c, NULL));
  iree_io_stream_release(stream);
}

static void temporary_path(char path[64]) {
  strcpy(path, "/tmp/iree-stream-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
}

// A descriptor of the caller's stays open, and may be emptied.
static void stdio_descriptor(void** state) {
  char text[8] = {0};
  iree_io_stream_t* stream = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_io_stdio_stream_mode_t both = IREE_IO_STDIO_STREAM_MODE_READ | IREE_IO_STDIO_STREAM_MODE_WRITE;
  FILE* file = tmpfile();
  assert_non_null(file);
  assert_int_equal(write(fileno(file), "before", 6), 6);
  EXPECT_OK(iree_io_stdio_stream_open_fd(both | IREE_IO_STDIO_STREAM_MODE_DISCARD, fileno(file), allocator, &stream));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 0));
  EXPECT_OK(iree_io_stream_write_string(stream, IREE_SV("new")));
  iree_io_stream_release(stream);
  assert_int_equal(pread(fileno(file), text, sizeof(text), 0), 3);
  assert_string_equal(text, "new");
  EXPECT_CODE(IREE_STATUS_INVALID_ARGUMENT,
              iree_io_stdio_stream_open_fd(IREE_IO_STDIO_STREAM_MODE_DISCARD, fileno(file), allocator, &stream));
  fclose(file);
  iree_status_t status = iree_io_stdio_stream_open_fd(both, -1, allocator, &stream);
  assert_false(iree_status_is_ok(status));
  iree_status_free(status);
}

static void stdio(void** state) {
  char path[64], text[8] = {0};
  iree_io_stream_t *stream = NULL, *copy = NULL;
  temporary_path(path);
  iree_string_view_t name = iree_make_cstring_view(path);
  iree_io_stdio_stream_mode_t both = IREE_IO_STDIO_STREAM_MODE_READ | IREE_IO_STDIO_STREAM_MODE_WRITE;
  EXPECT_OK(
      iree_io_stdio_stream_open(both | IREE_IO_STDIO_STREAM_MODE_DISCARD, name, iree_allocator_system(), &stream));
  check_stream(stream);
  check_end(stream);
  iree_io_stream_release(stream);
  EXPECT_OK(iree_io_stdio_stream_open(both | IREE_IO_STDIO_STREAM_MODE_APPEND, name, iree_allocator_system(), &stream));
  assert_int_equal(iree_io_stream_offset(stream), 40);
  EXPECT_OK(iree_io_stream_write_string(stream, IREE_SV("end")));
  iree_io_stream_release(stream);
  EXPECT_OK(iree_io_stdio_stream_open(IREE_IO_STDIO_STREAM_MODE_READ, name, iree_allocator_system(), &stream));
  EXPECT_OK(iree_io_vec_stream_create(READ_WRITE, 16, iree_allocator_system(), &copy));
  EXPECT_OK(iree_io_stream_copy(stream, copy, 43));
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED, iree_io_stream_write_char(stream, 'x'));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_stream_copy(stream, copy, 1));
  EXPECT_OK(iree_io_stream_seek(copy, IREE_IO_STREAM_SEEK_FROM_END, -3));
  EXPECT_OK(iree_io_stream_read(copy, 3, text, NULL));
  assert_string_equal(text, "end");
  iree_io_stream_release(copy);
  iree_io_stream_release(stream);
  EXPECT_CODE(IREE_STATUS_INVALID_ARGUMENT,
              iree_io_stdio_stream_open(IREE_IO_STDIO_STREAM_MODE_APPEND, name, iree_allocator_system(), &stream));
  unlink(path);
  EXPECT_CODE(IREE_STATUS_NOT_FOUND,
              iree_io_stdio_stream_open(IREE_IO_STDIO_STREAM_MODE_READ, name, iree_allocator_system(), &stream));
}

// A stream over a descriptor begins where asked for, and has its own position.
static void handle(void** state) {
  char path[64], text[8] = {0};
  iree_io_file_handle_t *file = NULL, *reader = NULL;
  iree_io_stream_t* stream = NULL;
  temporary_path(path);
  iree_string_view_t name = iree_make_cstring_view(path);
  EXPECT_OK(iree_io_file_handle_create(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_OVERWRITE, name, 7,
                                       iree_allocator_system(), &file));
  EXPECT_OK(iree_io_stream_open(READ_WRITE, file, 7, iree_allocator_system(), &stream));
  check_stream(stream);
  check_end(stream);
  iree_io_stream_release(stream);
  EXPECT_OK(iree_io_file_handle_open_fd(IREE_IO_FILE_MODE_READ, iree_io_file_handle_value(file).fd,
                                        iree_allocator_system(), &reader));
  iree_io_file_handle_release(file);
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED,
              iree_io_stream_open(READ_WRITE, reader, 0, iree_allocator_system(), &stream));
  EXPECT_OK(iree_io_vec_stream_create(READ_WRITE, 16, iree_allocator_system(), &stream));
  EXPECT_OK(iree_io_stream_write_file(stream, reader, 9, 4, iree_allocator_system()));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 0));
  EXPECT_OK(iree_io_stream_read(stream, 4, text, NULL));
  assert_string_equal(text, "2345");
  iree_io_stream_release(stream);
  iree_io_file_handle_release(reader);
  EXPECT_CODE(IREE_STATUS_INVALID_ARGUMENT,
              iree_io_file_handle_open_fd(IREE_IO_FILE_MODE_READ, 1 << 20, iree_allocator_system(), &reader));
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory),           cmocka_unit_test(vec),    cmocka_unit_test(modes), cmocka_unit_test(stdio),
      cmocka_unit_test(stdio_descriptor), cmocka_unit_test(handle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
