// Paths of devices over GPUs.
#include "hal/gpu/path.h"

static iree_status_t find_uuid(const gpu_path_source_t* source, iree_string_view_t text, uint32_t* out_ordinal) {
  for (uint32_t i = 0; i < source->count; ++i) {
    char uuid[GPU_PATH_UUID_SIZE] = {0};
    *out_ordinal = i;
    IREE_RETURN_IF_ERROR(source->uuid(source->user_data, i, uuid));
    if (iree_string_view_equal_case(text, iree_make_cstring_view(uuid))) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no GPU agent with UUID `%.*s` found", (int)text.size, text.data);
}

static iree_status_t parse_item(const gpu_path_source_t* source, iree_string_view_t text, uint64_t* mask) {
  uint32_t ordinal = 0;
  if (iree_string_view_starts_with(text, IREE_SV("GPU-")) || iree_string_view_starts_with(text, IREE_SV("gpu-"))) {
    IREE_RETURN_IF_ERROR(find_uuid(source, text, &ordinal));
  } else if (!iree_string_view_atoi_uint32(text, &ordinal)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "invalid device specifier `%.*s`; expected an ordinal (`0`) or a device UUID "
                            "(`GPU-XX...`)",
                            (int)text.size, text.data);
  } else if (ordinal >= source->count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device ordinal `%u` out of range; %u GPU devices available",
                            ordinal, source->count);
  }
  if (*mask >> ordinal & 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device `%.*s` is named twice", (int)text.size, text.data);
  }
  *mask |= 1ull << ordinal;
  return iree_ok_status();
}

iree_status_t gpu_path_parse(const gpu_path_source_t* source, iree_string_view_t path, uint64_t* out_mask) {
  *out_mask = 0;
  for (iree_string_view_t rest = path; rest.size;) {
    iree_string_view_t item;
    iree_string_view_split(rest, ',', &item, &rest);
    IREE_RETURN_IF_ERROR(parse_item(source, item, out_mask));
  }
  return iree_ok_status();
}
