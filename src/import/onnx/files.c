// Mapped files. See files.h.
#include "import/onnx/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct onnx_file_t {
  onnx_file_t* next;
  void* data;  // NULL for an empty file
  size_t size;
  char path[];
};

static bool map_descriptor(int fd, onnx_file_t* file, const char** error) {
  struct stat info;
  if (fstat(fd, &info) != 0) return *error = strerror(errno), false;
  if (!S_ISREG(info.st_mode)) return *error = "not a regular file", false;
  file->size = (size_t)info.st_size;
  if (!file->size) return true;
  void* data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return *error = strerror(errno), false;
  file->data = data;
  return true;
}

bool onnx_files_map(onnx_files_t* files, const char* path, const void** data, size_t* size, const char** error) {
  onnx_file_t* file = files->first;
  while (file && strcmp(file->path, path) != 0) file = file->next;
  if (!file) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return *error = strerror(errno), false;
    size_t length = strlen(path) + 1;
    file = calloc(1, sizeof(*file) + length);  // outlives the scope that maps it
    bool mapped = file && map_descriptor(fd, file, error);
    if (!file) *error = strerror(errno);
    close(fd);
    if (!mapped) return free(file), false;
    memcpy(file->path, path, length);
    file->next = files->first;
    files->first = file;
  }
  *data = file->data ? file->data : "";
  *size = file->size;
  return true;
}

bool onnx_files_resolve(const char* directory, const char* location, char path[PATH_MAX], const char** error) {
  char joined[PATH_MAX], root[PATH_MAX];
  if (snprintf(joined, sizeof(joined), "%s/%s", directory, location) >= (int)sizeof(joined)) {
    return *error = "path too long", false;
  }
  if (!realpath(directory, root)) return *error = strerror(errno), false;
  bool inside = location[0] != '/';
  if (inside && !realpath(joined, path)) return *error = strerror(errno), false;
  size_t length = strlen(root);
  inside = inside && strncmp(path, root, length) == 0 && (length == 1 || path[length] == '/');
  if (!inside) *error = "it lies outside the directory of the model's data";
  return inside;
}

void onnx_files_finish(onnx_files_t* files) {
  while (files->first) {
    onnx_file_t* file = files->first;
    files->first = file->next;
    if (file->data) munmap(file->data, file->size);
    free(file);
  }
}
