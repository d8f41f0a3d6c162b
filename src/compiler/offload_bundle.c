// See offload_bundle.h.
#include "compiler/offload_bundle.h"

#include <stdint.h>
#include <string.h>

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";

bool offload_bundle_is_one(const char* data, size_t size) {
  return size >= sizeof(magic) - 1 && memcmp(data, magic, sizeof(magic) - 1) == 0;
}

typedef struct entry_t {
  uint64_t offset, size, name_size;
} entry_t;

// "hipv4-amdgcn-amd-amdhsa--gfx1100:xnack-" is for gfx1100.
static bool is_for(const char* name, size_t size, const char* processor) {
  size_t wanted = strlen(processor);
  const char* colon = memchr(name, ':', size);
  if (colon) size = (size_t)(colon - name);
  return size > wanted && name[size - wanted - 1] == '-' && memcmp(name + size - wanted, processor, wanted) == 0;
}

const char* offload_bundle_find(const char* data, size_t size, const char* processor, size_t* out_size) {
  uint64_t count = 0, at = sizeof(magic) - 1;
  if (!offload_bundle_is_one(data, size) || size - at < sizeof(count)) return NULL;
  memcpy(&count, data + at, sizeof(count));
  at += sizeof(count);
  for (uint64_t i = 0; i < count && size - at >= sizeof(entry_t); ++i) {
    entry_t entry;
    memcpy(&entry, data + at, sizeof(entry));
    at += sizeof(entry);
    if (entry.name_size > size - at) return NULL;
    bool fits = entry.offset <= size && entry.size <= size - entry.offset;
    if (fits && entry.size && is_for(data + at, (size_t)entry.name_size, processor)) {
      *out_size = (size_t)entry.size;
      return data + entry.offset;
    }
    at += entry.name_size;
  }
  return NULL;
}
