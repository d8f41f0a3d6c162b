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
  text_printf(&path, "%s/module_%s", directory, name);
  if (target) {
    size_t first = path.size;
    text_printf(&path, "_%s", target->format);
    for (size_t i = first; i < path.size; ++i) {
      if (path.data[i] == '-') path.data[i] = '_';
    }
  }
  text_puts(&path, suffix);
  mkdir(directory, 0777);
  FILE* file = fopen(path.data, "wb");
  bool ok = file && fwrite(data, 1, size, file) == size;
  if (file && fclose(file) != 0) ok = false;
  if (!ok) text_printf(error, "writing '%s': %s", path.data, strerror(errno));
  text_finish(&path);
  return ok;
}
