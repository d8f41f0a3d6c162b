// See stream.h.
#include "base/stream.h"

#include <errno.h>
#include <unistd.h>

#include "base/memory.h"

char* stream_read(int fd, size_t* out_size) {
  size_t capacity = 1 << 16, size = 0;
  char* data = memory_alloc(capacity);
  for (;;) {
    ssize_t got = read(fd, data + size, capacity - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      memory_free(data);
      return errno = error, NULL;
    }
    if (got == 0) break;
    size += (size_t)got;
    if (size == capacity) data = memory_resize(data, capacity *= 2);
  }
  return *out_size = size, data;
}
