// Streams of unknown length: standard input, pipes, devices.
#ifndef IREE_C_BASE_STREAM_H_
#define IREE_C_BASE_STREAM_H_

#include <stddef.h>

// All bytes up to the end, in the memory scope. NULL with errno set when reading fails.
char* stream_read(int fd, size_t* out_size);

#endif  // IREE_C_BASE_STREAM_H_
