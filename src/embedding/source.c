// Sources: mapped files, standard input, buffers of the caller's, and parts of these.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parts.h"
#include "embedding/embedding.h"

void ireeCompilerSourceDestroy(iree_compiler_source_t* source) {
  if (!source) return;
  if (source->mapped) munmap((void*)source->data, source->mapped);
  free(source->owned);
  free(source->name);
  free(source);
}

static iree_compiler_source_t* create(const char* name, const char* data, size_t size) {
  iree_compiler_source_t* source = calloc(1, sizeof(*source));
  if (!source) return NULL;
  source->data = data;
  source->size = size;
  if ((source->name = strdup(name))) return source;
  free(source);
  return NULL;
}

// What does not say its size.
static bool read_all(int fd, iree_compiler_source_t* source) {
  size_t capacity = 0;
  char* data = NULL;
  for (;;) {
    if (source->size == capacity) {
      char* more = realloc(data, capacity = capacity ? 2 * capacity : 65536);
      if (!more) break;
      source->data = source->owned = data = more;
    }
    ssize_t size = read(fd, data + source->size, capacity - source->size);
    if (size == 0) return true;
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) source->size += (size_t)size;
  }
  errno = ENOMEM;
  return false;
}

static bool read_file(const char* path, iree_compiler_source_t* source) {
  struct stat info;
  if (strcmp(path, "-") == 0) return read_all(STDIN_FILENO, source);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = fstat(fd, &info) == 0;
  if (ok && S_ISDIR(info.st_mode)) ok = false, errno = EISDIR;
  if (ok && S_ISREG(info.st_mode) && info.st_size > 0) {
    void* data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ok = data != MAP_FAILED;
    if (ok) source->data = data, source->size = source->mapped = (size_t)info.st_size;
  } else if (ok && !S_ISREG(info.st_mode)) {
    ok = read_all(fd, source);
  }
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

iree_compiler_error_t* ireeCompilerSourceOpenFile(iree_compiler_session_t* session, const char* filePath,
                                                  iree_compiler_source_t** out_source) {
  (void)session;
  *out_source = NULL;
  iree_compiler_source_t* source = create(filePath, "", 0);
  if (!source) return embedding_no_memory();
  if (!read_file(filePath, source)) {
    int error = errno;
    ireeCompilerSourceDestroy(source);
    return embedding_error("cannot open input file '%s': %s", filePath, strerror(error));
  }
  *out_source = source;
  return NULL;
}

iree_compiler_error_t* ireeCompilerSourceWrapBuffer(iree_compiler_session_t* session, const char* bufferName,
                                                    const char* buffer, size_t length, bool isNullTerminated,
                                                    iree_compiler_source_t** out_source) {
  (void)session;
  *out_source = NULL;
  if (isNullTerminated && (!length || buffer[length - 1])) {
    return embedding_error("buffer '%s': its length must include the terminator, which is not there", bufferName);
  }
  *out_source = create(bufferName, buffer ? buffer : "", length - isNullTerminated);
  return *out_source ? NULL : embedding_no_memory();
}

iree_compiler_error_t* ireeCompilerSourceSplit(iree_compiler_source_t* source,
                                               void (*callback)(iree_compiler_source_t* source, void* userData),
                                               void* userData) {
  for (parts_t parts = parts_begin(source->data, source->size, PARTS_MARKER); parts_next(&parts);) {
    iree_compiler_source_t* part = create(source->name, parts.data, parts.size);
    if (!part) return embedding_no_memory();
    callback(part, userData);
  }
  return NULL;
}
