// Kinds of files by their first bytes. See file_kind.h.
#include "base/file_kind.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

// ModelProto begins with the version of the format, a number, and goes on with a string, a number, the graph or the
// opset; no text does.
static bool is_onnx(const unsigned char* data, size_t size) {
  return size > 4 && data[0] == 0x08 && data[1] < 128 && data[2] && strchr("\x12\x1A\x22\x28\x32\x3A\x42", data[2]);
}

static bool is_text(const unsigned char* data, size_t size) {
  for (size_t i = 0; i < size && i < 256; ++i) {
    if (data[i] < 32 && data[i] != '\n' && data[i] != '\r' && data[i] != '\t') return false;
  }
  return true;
}

file_kind_t file_kind_of(const void* data, size_t size) {
  if (size == 0) return FILE_KIND_EMPTY;
  if (is_onnx(data, size)) return FILE_KIND_ONNX;
  if (size >= 4 && memcmp(data, "ML\xEFR", 4) == 0) return FILE_KIND_MLIR_BYTECODE;
  if (size > 8 && memcmp((const char*)data + 4, "IREE", 4) == 0) return FILE_KIND_FLATBUFFER;
  if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0) return FILE_KIND_ELF;
  return is_text(data, size) ? FILE_KIND_TEXT : FILE_KIND_OTHER;
}
