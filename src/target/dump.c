// Files of --iree-hal-dump-executable-*-to.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "target/backend.h"

bool dump_write(const char* directory, const target_t* target, const char* name, const char* suffix, const void* data,
                size_t size, text_t* error) {
  if (!directory) return true;
  text_t path = {0};
  text_printf(&path, "%s/module_%s_%s%s", directory, name, target->format, suffix);
  // Only the format's dashes: the directory and the suffix stay as they are.
  size_t first = strlen(directory) + 8 + strlen(name) + 1;
  for (size_t i = first; i < first + strlen(target->format); ++i) {
    if (path.data[i] == '-') path.data[i] = '_';
  }
  mkdir(directory, 0777);
  FILE* file = fopen(path.data, "wb");
  bool ok = file && fwrite(data, 1, size, file) == size;
  if (file && fclose(file) != 0) ok = false;
  if (!ok) text_printf(error, "writing '%s': %s", path.data, strerror(errno));
  text_finish(&path);
  return ok;
}
