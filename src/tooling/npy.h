// NumPy's .npy files: one array after the other. Format: numpy.org/neps/nep-0001-npy-format.html.
#ifndef TOOLING_NPY_H_
#define TOOLING_NPY_H_

#include <stdio.h>

#include "iree/hal/api.h"
#include "iree/vm/value.h"

enum { NPY_RANK_LIMIT = 32 };

// What an array's header says.
typedef struct npy_header_t {
  iree_hal_element_type_t element_type;
  bool big_endian;
  bool fortran_order;
  bool is_text;  // strings: code points of i32, with a last dimension `text_width` long and zeros behind shorter ones
  uint32_t text_width;
  iree_host_size_t rank;
  iree_hal_dim_t dims[NPY_RANK_LIMIT];
  iree_host_size_t data_length;  // bytes that follow
} npy_header_t;

// Reads a header from memory; *out_size is what it takes. Errors: INVALID_ARGUMENT for what is no .npy, UNIMPLEMENTED
// for element types that tensors do not have.
iree_status_t npy_header_parse(iree_const_byte_span_t contents, npy_header_t* out_header, iree_host_size_t* out_size);

// Puts an array's bytes into row-major order and the host's byte order. `target` has the same length and does not
// overlap.
void npy_data_normalize(const npy_header_t* header, const uint8_t* source, uint8_t* target);

// `count` elements of less than 8 bits, which a file may have in a byte each, as packages that add such types to NumPy
// write them.
typedef struct npy_packed_t {
  iree_hal_element_type_t element_type;
  iree_host_size_t count;
} npy_packed_t;

// The next array of a file as a device buffer. With `packed`, which may be NULL, one of as many bytes becomes a line of
// these elements without gaps. Errors: OUT_OF_RANGE at the end of the file, and as above.
iree_status_t npy_view_read(FILE* file, iree_hal_device_t* device, iree_hal_allocator_t* allocator,
                            const npy_packed_t* packed, iree_hal_buffer_view_t** out_view);

// Appends an array with the view's shape and type. Types that NumPy lacks are written as unsigned integers of their
// width; elements below 8 bits as they lie in memory, a line of bytes without the view's shape.
iree_status_t npy_array_write(FILE* file, const iree_hal_buffer_view_t* view, iree_const_byte_span_t data);
// The same for a number: an array without dimensions.
iree_status_t npy_value_write(FILE* file, iree_vm_value_t value);

#endif  // TOOLING_NPY_H_
