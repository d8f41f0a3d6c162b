// What a file is, by how it begins: for readers that are given something else than they can read.
#ifndef IREE_C_BASE_FILE_KIND_H_
#define IREE_C_BASE_FILE_KIND_H_

#include <stddef.h>

typedef enum {
  FILE_KIND_OTHER,
  FILE_KIND_EMPTY,
  FILE_KIND_TEXT,           // no control characters where it begins
  FILE_KIND_ONNX,           // a protocol buffer ModelProto (onnx.proto)
  FILE_KIND_MLIR_BYTECODE,  // "ML\xEFR"
  FILE_KIND_FLATBUFFER,     // with the identifier IREE in its second word: IREE's own modules
  FILE_KIND_ELF,
} file_kind_t;

// Looks at the first 256 bytes at most.
file_kind_t file_kind_of(const void* data, size_t size);

#endif  // IREE_C_BASE_FILE_KIND_H_
