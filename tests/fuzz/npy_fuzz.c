// The reader of NumPy arrays: no bytes may crash it, what it reads is as long as its shape says, and what it writes it
// reads again.
#include <stdint.h>

#include "limited_allocator.h"
#include "tooling/npy.h"

// In memory: the header, and the elements in another order.
static void parse_header(const uint8_t* data, size_t size) {
  npy_header_t header;
  iree_host_size_t header_size = 0;
  iree_status_t status = npy_header_parse(iree_make_const_byte_span(data, size), &header, &header_size);
  if (iree_status_is_ok(status) && header.data_length <= size - header_size) {
    uint8_t* target = malloc(header.data_length + 1);
    npy_data_normalize(&header, data + header_size, target);
    free(target);
  }
  iree_status_ignore(status);
}

static void write_again(const iree_hal_buffer_view_t* view) {
  char* text = NULL;
  size_t size = 0;
  iree_host_size_t length = iree_hal_buffer_view_byte_length(view);
  uint8_t* contents = malloc(length + 1);
  iree_status_t status = iree_hal_buffer_map_read(iree_hal_buffer_view_buffer(view), 0, contents, length);
  FILE* file = open_memstream(&text, &size);
  if (iree_status_is_ok(status)) status = npy_array_write(file, view, iree_make_const_byte_span(contents, length));
  fclose(file);
  if (!iree_status_is_ok(status)) abort();
  npy_header_t header;
  iree_host_size_t header_size = 0;
  IREE_CHECK_OK(npy_header_parse(iree_make_const_byte_span(text, size), &header, &header_size));
  if (header.data_length != length || size != header_size + length) abort();
  if (memcmp(text + header_size, contents, length) != 0) abort();
  free(contents);
  free(text);
}

// As a file: all arrays one after the other.
static void read_arrays(const uint8_t* data, size_t size) {
  if (!size) return;
  size_t used = 0;
  iree_hal_allocator_t* allocator = NULL;
  iree_allocator_t limited = limited_allocator(&used);
  IREE_CHECK_OK(iree_hal_allocator_create_heap(IREE_SV("fuzz"), limited, limited, &allocator));
  FILE* file = fmemopen((void*)(uintptr_t)data, size, "rb");
  iree_status_t status = iree_ok_status();
  while (iree_status_is_ok(status)) {
    iree_hal_buffer_view_t* view = NULL;
    status = npy_view_read(file, /*device=*/NULL, allocator, &(npy_packed_t){IREE_HAL_ELEMENT_TYPE_SINT_4, 4}, &view);
    if (iree_status_is_ok(status)) write_again(view);
    iree_hal_buffer_view_release(view);
  }
  iree_status_ignore(status);
  fclose(file);
  iree_hal_allocator_release(allocator);
  if (used) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parse_header(data, size);
  read_arrays(data, size);
  return 0;
}
