// Flags and their checks.
#include "hal/amdgpu/options.h"

#include "iree/base/tooling/flags.h"

#define SIZE(name, description) IREE_FLAG(int64_t, amdgpu_##name, 0, description)
#define SWITCH(name, default_value, description) IREE_FLAG(bool, amdgpu_##name, default_value, description)
#define CHOICE(name, default_value, values, taken, description) \
  IREE_FLAG(string, amdgpu_##name, default_value, description ": " values "; this driver has " taken)
#define NO_SIZE(name, description) IREE_FLAG(int64_t, amdgpu_##name, 0, description "; only 0 is supported")
#define NO_SWITCH(name, description) IREE_FLAG(bool, amdgpu_##name, false, description "; only false is supported")
#include "hal/amdgpu/options.def"

static iree_status_t check_size(const char* name, int64_t value, uint64_t* out_value) {
  if (value < 0 || (value & (value - 1)) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "--amdgpu_%s=%" PRId64 " must be a power of two, or 0 for the default", name, value);
  }
  *out_value = (uint64_t)value;
  return iree_ok_status();
}

static bool find_value(iree_string_view_t value, const char* values, uint8_t* out_index) {
  *out_index = 0;
  for (iree_string_view_t rest = iree_make_cstring_view(values); rest.size; ++*out_index) {
    iree_string_view_t item;
    iree_string_view_split(rest, '|', &item, &rest);
    if (iree_string_view_equal(item, value)) return true;
  }
  return false;
}

static iree_status_t check_choice(const char* name, const char* value, const char* values, const char* taken,
                                  uint8_t* out_index) {
  iree_string_view_t text = iree_make_cstring_view(value);
  uint8_t index = 0;
  bool is_known = find_value(text, values, out_index);
  if (!text.size) *out_index = 0;
  if (!text.size || find_value(text, taken, &index)) return iree_ok_status();
  if (is_known) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "--amdgpu_%s=%s is not supported; supported are %s", name, value,
                            taken);
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--amdgpu_%s=%s is none of %s", name, value, values);
}

static iree_status_t check_default(const char* name, bool is_default, const char* default_value) {
  if (is_default) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "--amdgpu_%s is not supported; only its default, %s, is", name,
                          default_value);
}

iree_status_t amdgpu_options_from_flags(amdgpu_options_t* out_options) {
  memset(out_options, 0, sizeof(*out_options));
#define SIZE(name, description) IREE_RETURN_IF_ERROR(check_size(#name, FLAG_amdgpu_##name, &out_options->name));
#define SWITCH(name, default_value, description) out_options->name = FLAG_amdgpu_##name;
#define CHOICE(name, default_value, values, taken, description) \
  IREE_RETURN_IF_ERROR(check_choice(#name, FLAG_amdgpu_##name, values, taken, &out_options->name));
#define NO_SIZE(name, description) IREE_RETURN_IF_ERROR(check_default(#name, FLAG_amdgpu_##name == 0, "0"));
#define NO_SWITCH(name, description) IREE_RETURN_IF_ERROR(check_default(#name, !FLAG_amdgpu_##name, "false"));
#include "hal/amdgpu/options.def"
  return iree_ok_status();
}
