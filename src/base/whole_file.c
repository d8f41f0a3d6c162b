// See whole_file.h.
#include "base/whole_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool whole_file_close(FILE* file, const char* path, bool written) {
  int error = errno;
  if (fclose(file) != 0) {
    if (written) error = errno;
    written = false;
  }
  // Devices stay, and so do links.
  struct stat info;
  if (!written && lstat(path, &info) == 0 && S_ISREG(info.st_mode)) unlink(path);
  errno = error;
  return written;
}

bool whole_file_write(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wbe");
  if (!file) return false;
  return whole_file_close(file, path, !size || fwrite(data, 1, size, file) == size);
}
