// Machine code that a vendor's library made, kept in files: a folder of the user's, a file for each piece of source,
// GPU and version of the library. What is damaged is as if it were not there. Several processes may use a folder.
#ifndef IREE_C_HAL_STREAM_CODE_CACHE_H_
#define IREE_C_HAL_STREAM_CODE_CACHE_H_

#include "iree/base/api.h"

// Bytes of a folder's files: the ones that were used the longest ago go.
#define CODE_CACHE_LIMIT ((uint64_t)256 << 20)
enum { CODE_CACHE_MAX_PATH = 1024 };

typedef struct code_cache_key_t {
  uint64_t hash[2];  // of the source, and of the library's name
  uint64_t size;     // bytes of the source
  uint32_t version;  // of the library
  uint32_t gpu;      // its architecture: 90 for sm_90
} code_cache_key_t;

// `library`: the path of its file; a process's library may stand for another one.
code_cache_key_t code_cache_key(iree_const_byte_span_t source, const char* library, uint32_t version, uint32_t gpu);
// The folder that is meant when none is named: $XDG_CACHE_HOME/iree-c/cuda, or ~/.cache/iree-c/cuda. False when there
// is neither.
bool code_cache_default_folder(char out_folder[CODE_CACHE_MAX_PATH]);
// The code that is kept, with a zero behind it, in memory of `host_allocator`; NULL data when there is none.
iree_byte_span_t code_cache_read(const char* folder, const code_cache_key_t* key, iree_allocator_t host_allocator);
// Keeps code, in a folder that is made where it is missing; where that cannot be, nothing happens. Then removes old
// files until the others are at most `limit` bytes.
void code_cache_write(const char* folder, const code_cache_key_t* key, iree_const_byte_span_t code, uint64_t limit);

#endif  // IREE_C_HAL_STREAM_CODE_CACHE_H_
