// Files of --iree-hal-dump-executable-*-to; - is standard output.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/whole_file.h"
#include "target/backend.h"

// With the directories above it; those that exist stay as they are.
static void make_directory(const char* path) {
  text_t part = {0};
  for (const char* at = path; *at; ++at) {
    if (*at == '/' && part.size) mkdir(part.data, 0777);
    text_printf(&part, "%c", *at);
  }
  mkdir(path, 0777);
  text_finish(&part);
}

bool dump_write_file(const char* directory, const char* name, const void* data, size_t size, text_t* error) {
  if (strcmp(directory, "-") == 0) {  // to standard output, one behind the other
    if (fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0) return true;
    text_printf(error, "writing '%s': %s", name, strerror(errno));
    return false;
  }
  text_t path = {0};
  text_printf(&path, "%s/%s", directory, name);
  make_directory(directory);
  bool ok = whole_file_write(path.data, data, size);
  if (!ok) text_printf(error, "writing '%s': %s", path.data, strerror(errno));
  text_finish(&path);
  return ok;
}

bool dump_write(const char* directory, const target_t* target, const char* name, const char* suffix, const void* data,
                size_t size, text_t* error) {
  if (!directory) return true;
  text_t file = {0};
  text_printf(&file, "module_%s", name);
  if (target) {
    size_t first = file.size;
    text_printf(&file, "_%s", target->format);
    for (size_t i = first; i < file.size; ++i) {
      if (file.data[i] == '-') file.data[i] = '_';
    }
  }
  text_puts(&file, suffix);
  bool ok = dump_write_file(directory, file.data, data, size, error);
  text_finish(&file);
  return ok;
}
