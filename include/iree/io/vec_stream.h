// Streams in memory that grow by blocks as they are written.
#ifndef IREE_IO_VEC_STREAM_H_
#define IREE_IO_VEC_STREAM_H_

#include "iree/base/api.h"
#include "iree/io/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// Empty; `block_size` bytes a block, rounded up to 16. What a seek forward leaves out is zeros.
IREE_API_EXPORT iree_status_t iree_io_vec_stream_create(iree_io_stream_mode_t mode, iree_host_size_t block_size,
                                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream);

// Called for the blocks in order; the last one may have fewer bytes. A failure ends the enumeration.
typedef iree_status_t(IREE_API_PTR* iree_io_vec_stream_callback_fn_t)(void* user_data, iree_const_byte_span_t block);
// `stream` is one of iree_io_vec_stream_create.
IREE_API_EXPORT iree_status_t iree_io_vec_stream_enumerate_blocks(iree_io_stream_t* stream,
                                                                  iree_io_vec_stream_callback_fn_t callback,
                                                                  void* user_data);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_VEC_STREAM_H_
