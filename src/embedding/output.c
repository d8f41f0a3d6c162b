// Outputs: a file that appears when it is kept, a descriptor, memory.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedding/embedding.h"

struct iree_compiler_output_t {
  int fd;  // -1: memory
  bool owns_fd;
  char *path, *temporary;  // of a file that is written beside its place until it is kept
  unsigned char* data;
  size_t size, capacity;
};

void ireeCompilerOutputDestroy(iree_compiler_output_t* output) {
  if (!output) return;
  if (output->owns_fd) close(output->fd);
  if (output->temporary) unlink(output->temporary);
  free(output->temporary);
  free(output->path);
  free(output->data);
  free(output);
}

static iree_compiler_output_t* create(int fd) {
  iree_compiler_output_t* output = calloc(1, sizeof(*output));
  if (output) output->fd = fd;
  return output;
}

// Devices and pipes are written as they are.
static bool open_file(iree_compiler_output_t* output, const char* path) {
  struct stat info;
  bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
  if (special) {
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
  } else {
    static atomic_uint number;
    unsigned own = atomic_fetch_add(&number, 1);
    output->path = strdup(path);
    if (!output->path || asprintf(&output->temporary, "%s.%d.%u", path, (int)getpid(), own) < 0) {
      output->temporary = NULL;
      errno = ENOMEM;
      return false;
    }
    output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd < 0) {
      free(output->temporary);
      output->temporary = NULL;
    }
  }
  output->owns_fd = output->fd >= 0;
  return output->owns_fd;
}

iree_compiler_error_t* ireeCompilerOutputOpenFile(const char* filePath, iree_compiler_output_t** out_output) {
  *out_output = NULL;
  if (strcmp(filePath, "-") == 0) return ireeCompilerOutputOpenFD(STDOUT_FILENO, out_output);
  iree_compiler_output_t* output = create(-1);
  if (!output) return embedding_no_memory();
  if (!open_file(output, filePath)) {
    int error = errno;
    ireeCompilerOutputDestroy(output);
    return embedding_error("cannot open output file '%s': %s", filePath, strerror(error));
  }
  *out_output = output;
  return NULL;
}

iree_compiler_error_t* ireeCompilerOutputOpenFD(int fd, iree_compiler_output_t** out_output) {
  *out_output = NULL;
  if (fcntl(fd, F_GETFD) < 0) return embedding_error("%d is no open file descriptor", fd);
  *out_output = create(fd);
  return *out_output ? NULL : embedding_no_memory();
}

iree_compiler_error_t* ireeCompilerOutputOpenMembuffer(iree_compiler_output_t** out_output) {
  *out_output = create(-1);
  return *out_output ? NULL : embedding_no_memory();
}

iree_compiler_error_t* ireeCompilerOutputMapMemory(iree_compiler_output_t* output, void** contents, uint64_t* size) {
  *contents = NULL;
  *size = 0;
  if (output->fd >= 0) return embedding_error("only an output in memory can be mapped");
  *contents = output->data;
  *size = output->size;
  return NULL;
}

void ireeCompilerOutputKeep(iree_compiler_output_t* output) {
  if (!output->temporary || rename(output->temporary, output->path)) return;
  free(output->temporary);
  output->temporary = NULL;
}

static bool reserve(iree_compiler_output_t* output, size_t length) {
  if (length <= output->capacity - output->size) return true;
  size_t capacity = output->capacity < length ? output->size + length : 2 * output->capacity;
  unsigned char* data = capacity < length ? NULL : realloc(output->data, capacity);
  if (!data) return false;
  output->data = data;
  output->capacity = capacity;
  return true;
}

iree_compiler_error_t* ireeCompilerOutputWrite(iree_compiler_output_t* output, const void* data, size_t length) {
  if (output->fd < 0) {
    if (!reserve(output, length)) return embedding_no_memory();
    if (length) memcpy(output->data + output->size, data, length);
    output->size += length;
    return NULL;
  }
  for (size_t done = 0; done < length;) {
    ssize_t size = write(output->fd, (const char*)data + done, length - done);
    if (size < 0 && errno != EINTR) return embedding_error("cannot write the output: %s", strerror(errno));
    if (size > 0) done += (size_t)size;
  }
  return NULL;
}
