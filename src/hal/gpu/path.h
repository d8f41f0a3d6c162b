// Paths of devices over GPUs: a comma-separated list of ordinals and UUIDs.
#ifndef IREE_C_HAL_GPU_PATH_H_
#define IREE_C_HAL_GPU_PATH_H_

#include "iree/base/api.h"

enum { GPU_PATH_UUID_SIZE = 48 };

typedef struct gpu_path_source_t {
  uint32_t count;  // GPUs, at most 64
  // The UUID of one, as it is listed: "GPU-…".
  iree_status_t (*uuid)(const void* user_data, uint32_t ordinal, char out_uuid[GPU_PATH_UUID_SIZE]);
  const void* user_data;
} gpu_path_source_t;

// The GPUs that are named, by ordinal. Errors: INVALID_ARGUMENT, NOT_FOUND.
iree_status_t gpu_path_parse(const gpu_path_source_t* source, iree_string_view_t path, uint64_t* out_mask);

#endif  // IREE_C_HAL_GPU_PATH_H_
