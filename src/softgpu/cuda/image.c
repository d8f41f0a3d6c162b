// Images of modules: PTX as text, or in the containers that NVIDIA's compilers write. Layouts of those are as public
// tools that read them have found: a wrapper with a pointer, a header, and entries of PTX or machine code.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/module.h"

enum { ENTRY_PTX = 1, ENTRY_ELF = 2 };
static const uint32_t wrapper_magic = 0x466243b1, container_magic = 0xba55ed50;

typedef struct wrapper_t {
  uint32_t magic, version;
  const void* container;
  void* file;
} wrapper_t;
typedef struct container_t {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;  // bytes behind the header
} container_t;
typedef struct entry_t {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t size;  // bytes behind the header
  uint32_t compressed_size;
  uint32_t options;
  uint16_t minor, major;
  uint32_t architecture;
  uint32_t name_offset, name_size;
  uint64_t flags, reserved, full_size;
} entry_t;

typedef struct found_t {
  const char* text;
  size_t size;
  uint32_t architecture;
  bool has_code, has_compressed;
} found_t;

static void look_at(const entry_t* entry, const char* payload, const nv_target_t* target, found_t* found) {
  if (entry->kind == ENTRY_ELF) found->has_code = true;
  if (entry->kind != ENTRY_PTX || entry->architecture > target->architecture) return;
  if (entry->compressed_size || entry->full_size) {
    found->has_compressed = true;
    return;
  }
  if (found->text && entry->architecture <= found->architecture) return;
  found->text = payload;
  found->size = strnlen(payload, entry->size);
  found->architecture = entry->architecture;
}

// The PTX of the nearest architecture that the GPU takes.
static bool search(const char* container, const nv_target_t* target, found_t* found) {
  container_t header;
  memcpy(&header, container, sizeof(header));
  if (header.header_size < sizeof(header)) return false;
  const char* at = container + header.header_size;
  for (uint64_t left = header.size; left;) {
    entry_t entry;
    if (left < sizeof(entry)) return false;
    memcpy(&entry, at, sizeof(entry));
    if (entry.header_size < sizeof(entry) || entry.header_size > left || entry.size > left - entry.header_size)
      return false;
    look_at(&entry, at + entry.header_size, target, found);
    at += entry.header_size + entry.size;
    left -= entry.header_size + entry.size;
  }
  return true;
}

static const char* find_in_container(const char* container, const nv_target_t* target, size_t* out_size,
                                     result_t* out_result, const char** out_why) {
  found_t found = {.text = NULL};
  *out_result = CUDA_ERROR_INVALID_IMAGE;
  *out_why = "the container of the module is damaged";
  if (!search(container, target, &found)) return NULL;
  *out_size = found.size;
  *out_result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  *out_why = found.has_compressed ? "the module's PTX is compressed: nvcc --no-compress, or PTX as text, would do"
             : found.has_code     ? "the module has machine code and no PTX for this GPU: PTX (nvcc -gencode "
                                    "arch=compute_90,code=compute_90) would do"
                                  : "the module has no PTX for this GPU";
  return found.text;
}

const char* image_find_ptx(const void* image, const nv_target_t* target, size_t* out_size, result_t* out_result,
                           const char** out_why) {
  uint32_t magic = 0;
  const char* text = image;
  memcpy(&magic, image, strnlen(text, sizeof(magic)));
  *out_result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  *out_why = "the module is machine code, which only the vendor's GPUs run: PTX would do";
  if (memcmp(&magic, "\177ELF", sizeof(magic)) == 0) return NULL;
  if (magic == wrapper_magic) {
    wrapper_t wrapper;
    memcpy(&wrapper, image, sizeof(wrapper));
    memcpy(&magic, wrapper.container, sizeof(magic));
    text = wrapper.container;
  }
  if (magic == container_magic) return find_in_container(text, target, out_size, out_result, out_why);
  *out_result = CUDA_ERROR_INVALID_IMAGE;
  *out_why = "the module is no PTX";
  *out_size = strlen(text);
  return *out_size ? text : NULL;
}

char* image_read_file(const char* name) {
  FILE* file = fopen(name, "rb");
  char* bytes = NULL;
  if (!file) return NULL;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = calloc(1, (size_t)size + sizeof(uint64_t));
  if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}
