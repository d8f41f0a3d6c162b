// NumPy's .npy arrays in streams, one after the other.
#ifndef IREE_TOOLING_NUMPY_IO_H_
#define IREE_TOOLING_NUMPY_IO_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_numpy_npy_load_options_bits_t {
  IREE_NUMPY_NPY_LOAD_OPTION_DEFAULT = 0u,
  IREE_NUMPY_NPY_LOAD_OPTION_MAP_FILE = 1u << 0,  // hint
};
typedef uint32_t iree_numpy_npy_load_options_t;

enum iree_numpy_npy_save_options_bits_t {
  IREE_NUMPY_NPY_SAVE_OPTION_DEFAULT = 0u,
};
typedef uint32_t iree_numpy_npy_save_options_t;

// Reads the array at the stream's position, which moves behind it, into a buffer that `device` can use and the host can
// read where that is possible (`buffer_params` may ask for more usage). Errors: OUT_OF_RANGE at the end,
// INVALID_ARGUMENT for what is no array, UNIMPLEMENTED for types that tensors do not have.
IREE_API_EXPORT iree_status_t iree_numpy_npy_load_ndarray(
    iree_io_stream_t* stream, iree_numpy_npy_load_options_t options, iree_hal_buffer_params_t buffer_params,
    iree_hal_device_t* device, iree_hal_allocator_t* device_allocator, iree_hal_buffer_view_t** out_buffer_view);
// Appends a view whose buffer the host can map.
IREE_API_EXPORT iree_status_t iree_numpy_npy_save_ndarray(iree_io_stream_t* stream,
                                                          iree_numpy_npy_save_options_t options,
                                                          iree_hal_buffer_view_t* buffer_view,
                                                          iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_NUMPY_IO_H_
