// See whole_file.h.
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A new file beside `target`, by a name that nobody has; its descriptor, or -1.
static int create_beside(const char* target, mode_t mode, char** out_path) {
  enum { ATTEMPTS = 1000 };
  size_t size = strlen(target) + 40;
  char* path = malloc(size);
  int fd = -1;
  for (int i = 0; path && fd < 0 && i < ATTEMPTS; ++i) {
    snprintf(path, size, "%s.%ld.%d.tmp", target, (long)getpid(), i);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) free(path), path = NULL;
  *out_path = path;
  return fd;
}

static bool open_in_place(const char* path, const char* mode, whole_file_t* out_file) {
  out_file->file = fopen(path, mode);
  return out_file->file != NULL;
}

bool whole_file_open(const char* path, whole_file_t* out_file) {
  *out_file = (whole_file_t){0};
  struct stat info;
  bool exists = stat(path, &info) == 0;
  if (exists && (!S_ISREG(info.st_mode) || access(path, W_OK) != 0)) return open_in_place(path, "wbe", out_file);
  char* target = exists ? realpath(path, NULL) : strdup(path);  // what a link leads to
  int fd = target ? create_beside(target, exists ? info.st_mode & 07777 : 0666, &out_file->temporary) : -1;
  if (fd < 0) {  // no new file in the folder, but perhaps a new text in the old one
    free(target);
    return open_in_place(path, "wbe", out_file);
  }
  out_file->target = target;
  out_file->file = fdopen(fd, "wb");
  if (out_file->file) return true;
  close(fd);
  return whole_file_close(out_file, false);
}

bool whole_file_append(const char* path, whole_file_t* out_file) {
  struct stat info;
  bool exists = stat(path, &info) == 0;
  *out_file = (whole_file_t){.kept = exists ? (long long)info.st_size : -1};
  out_file->appends = !exists || S_ISREG(info.st_mode);
  out_file->target = strdup(path);
  return open_in_place(path, "abe", out_file) || whole_file_close(out_file, false);
}

// What appending has added goes; what does not work out here has been reported already.
static void take_back(const whole_file_t* file) {
  if (!file->target) return;
  int result = file->kept < 0 ? unlink(file->target) : truncate(file->target, (off_t)file->kept);
  (void)result;
}

bool whole_file_close(whole_file_t* file, bool written) {
  int error = errno;
  if (file->file && fclose(file->file) != 0) {
    if (written) error = errno;
    written = false;
  }
  if (file->temporary && written && rename(file->temporary, file->target) != 0) {
    error = errno;
    written = false;
  }
  if (file->temporary && !written) unlink(file->temporary);
  if (file->appends && file->file && !written) take_back(file);
  free(file->temporary);
  free(file->target);
  *file = (whole_file_t){0};
  errno = error;
  return written;
}

bool whole_file_write(const char* path, const void* data, size_t size) {
  whole_file_t file;
  if (!whole_file_open(path, &file)) return false;
  return whole_file_close(&file, !size || fwrite(data, 1, size, file.file) == size);
}
