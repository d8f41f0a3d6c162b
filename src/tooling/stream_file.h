// A FILE over a stream, for what reads and writes FILEs.
#ifndef TOOLING_STREAM_FILE_H_
#define TOOLING_STREAM_FILE_H_

#include <stdio.h>

#include "iree/io/stream.h"

typedef struct stream_file_t {
  iree_io_stream_t* stream;
  FILE* file;
  iree_status_t status;  // the stream's first failure
} stream_file_t;

// Opens without a buffer, so that the stream is always where the FILE is. `out_file` must not move.
iree_status_t stream_file_open(iree_io_stream_t* stream, stream_file_t* out_file);
// Closes. The stream's failure is returned, else `status`.
iree_status_t stream_file_close(stream_file_t* file, iree_status_t status);

#endif  // TOOLING_STREAM_FILE_H_
