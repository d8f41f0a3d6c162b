// Finding a vendor's library at run time: by names, in folders or where the system looks.
#ifndef IREE_C_HAL_STREAM_DYLIB_H_
#define IREE_C_HAL_STREAM_DYLIB_H_

#include "iree/base/api.h"

typedef struct stream_dylib_t {
  const char* const* names;  // of files, by preference; NULL ends them
  // Looks up what is needed of it. NULL, or the first entry point that is missing.
  const char* (*resolve)(void* handle, void* user_data);
  void* user_data;
  char* path;  // where the file's goes
  size_t path_capacity;
} stream_dylib_t;

// Opens the first file that is usable, which stays loaded for good. `paths`: where to look, instead of the system's
// search when there are any: folders, or files as "file:PATH". A file that is not usable adds a line to `why`. Errors:
// OUT_OF_RANGE, RESOURCE_EXHAUSTED.
iree_status_t stream_dylib_open(const stream_dylib_t* dylib, iree_string_view_list_t paths, iree_string_builder_t* why,
                                bool* out_is_open);

#endif  // IREE_C_HAL_STREAM_DYLIB_H_
