// See reproducer.h.
#include "ir/reproducer.h"

#include <string.h>

#include "base/whole_file.h"
#include "ir/context.h"

static void put_quoted(text_t* out, const char* text) {
  text_puts(out, "\"");
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    text_printf(out, c < 0x20 || c >= 0x7f || c == '"' || c == '\\' ? "\\%02X" : "%c", c);
  }
  text_puts(out, "\"");
}

bool reproducer_write(const char* path, const text_t* program, const char* pipeline, bool verify_each) {
  static const char end[] = "#-}";
  text_t out = {0};
  size_t size = program->size;
  while (size && strchr(" \n", program->data[size - 1])) --size;
  // Data of the program's own is in the same section.
  bool has_section = size >= strlen(end) && memcmp(program->data + size - strlen(end), end, strlen(end)) == 0;
  if (has_section) size -= strlen(end);
  while (size && strchr(" \n", program->data[size - 1])) --size;
  text_append(&out, program->data, size);
  text_puts(&out, has_section ? ",\n" : "\n\n{-#\n");
  text_puts(&out, "  external_resources: {\n    mlir_reproducer: {\n      pipeline: ");
  put_quoted(&out, pipeline);
  text_printf(&out, ",\n      disable_threading: true,\n      verify_each: %s\n    }\n  }\n#-}\n",
              verify_each ? "true" : "false");
  bool ok = whole_file_write(path, out.data, out.size);
  text_finish(&out);
  return ok;
}

const char* reproducer_pipeline(const ir_context_t* ctx, bool* verify_each) {
  *verify_each = ctx->reproducer_verifies;
  return ctx->reproducer;
}
