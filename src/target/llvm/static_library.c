// An executable as object file and header.
#include "target/llvm/static_library.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/whole_file.h"

void static_library_query_name(const char* name, char* out, size_t capacity) {
  snprintf(out, capacity, "%s%s_library_query", isdigit((unsigned char)name[0]) ? "_" : "", name);
  for (char* c = out; *c; ++c) {
    if (!isalnum((unsigned char)*c)) *c = '_';
  }
}

static bool write_file(const char* path, const void* data, size_t size, text_t* error) {
  if (whole_file_write(path, data, size)) return true;
  text_printf(error, "writing '%s': %s", path, strerror(errno));
  return false;
}

bool static_library_write(const char* path, const char* name, const void* object, size_t size, text_t* error) {
  char query[256];
  static_library_query_name(name, query, sizeof(query));
  text_t header = {0}, header_path = {0};
  text_printf(&header,
              "// Executable library '%s'; pass the function to a static library loader.\n"
              "#pragma once\n\n"
              "#include \"iree/hal/local/executable_library.h\"\n\n"
              "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
              "const iree_hal_executable_library_header_t**\n%s(\n"
              "    iree_hal_executable_library_version_t max_version,\n"
              "    const iree_hal_executable_environment_v0_t* environment);\n\n"
              "#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n",
              name, query);
  size_t stem = strlen(path);
  if (stem > 2 && strcmp(path + stem - 2, ".o") == 0) stem -= 2;
  text_printf(&header_path, "%.*s.h", (int)stem, path);
  bool ok = write_file(path, object, size, error) && write_file(header_path.data, header.data, header.size, error);
  text_finish(&header);
  text_finish(&header_path);
  return ok;
}
