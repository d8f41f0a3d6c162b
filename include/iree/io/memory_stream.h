// Streams over memory of a fixed size.
#ifndef IREE_IO_MEMORY_STREAM_H_
#define IREE_IO_MEMORY_STREAM_H_

#include "iree/base/api.h"
#include "iree/io/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void(IREE_API_PTR* iree_io_memory_stream_release_fn_t)(void* user_data, iree_io_stream_t* stream);
typedef struct {
  iree_io_memory_stream_release_fn_t fn;
  void* user_data;
} iree_io_memory_stream_release_callback_t;
static inline iree_io_memory_stream_release_callback_t iree_io_memory_stream_release_callback_null(void) {
  iree_io_memory_stream_release_callback_t callback = {NULL, NULL};
  return callback;
}

// `contents` must stay until `release_callback` (fn may be NULL) is called, when the last reference goes.
IREE_API_EXPORT iree_status_t iree_io_memory_stream_wrap(iree_io_stream_mode_t mode, iree_byte_span_t contents,
                                                         iree_io_memory_stream_release_callback_t release_callback,
                                                         iree_allocator_t host_allocator,
                                                         iree_io_stream_t** out_stream);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_MEMORY_STREAM_H_
