// String views: searching, splitting, numbers, globs.
#include "iree/base/string_view.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "iree/base/status.h"

bool iree_string_view_equal(iree_string_view_t lhs, iree_string_view_t rhs) {
  return lhs.size == rhs.size && (lhs.size == 0 || memcmp(lhs.data, rhs.data, lhs.size) == 0);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool iree_string_view_equal_case(iree_string_view_t lhs, iree_string_view_t rhs) {
  if (lhs.size != rhs.size) return false;
  for (iree_host_size_t i = 0; i < lhs.size; ++i) {
    if (lower(lhs.data[i]) != lower(rhs.data[i])) return false;
  }
  return true;
}

int iree_string_view_compare(iree_string_view_t lhs, iree_string_view_t rhs) {
  iree_host_size_t common = iree_min(lhs.size, rhs.size);
  int order = common ? memcmp(lhs.data, rhs.data, common) : 0;
  if (order) return order;
  return lhs.size < rhs.size ? -1 : lhs.size > rhs.size;
}

iree_host_size_t iree_string_view_find_char(iree_string_view_t value, char c, iree_host_size_t pos) {
  if (pos >= value.size) return IREE_STRING_VIEW_NPOS;
  const char* found = (const char*)memchr(value.data + pos, c, value.size - pos);
  return found ? (iree_host_size_t)(found - value.data) : IREE_STRING_VIEW_NPOS;
}

iree_host_size_t iree_string_view_find_first_of(iree_string_view_t value, iree_string_view_t s, iree_host_size_t pos) {
  for (iree_host_size_t i = pos; i < value.size; ++i) {
    if (s.size && memchr(s.data, value.data[i], s.size)) return i;
  }
  return IREE_STRING_VIEW_NPOS;
}

iree_host_size_t iree_string_view_find_last_of(iree_string_view_t value, iree_string_view_t s, iree_host_size_t pos) {
  if (value.size == 0 || s.size == 0) return IREE_STRING_VIEW_NPOS;
  for (iree_host_size_t i = iree_min(pos, value.size - 1) + 1; i-- > 0;) {
    if (memchr(s.data, value.data[i], s.size)) return i;
  }
  return IREE_STRING_VIEW_NPOS;
}

bool iree_string_view_starts_with(iree_string_view_t value, iree_string_view_t prefix) {
  return prefix.size && value.size >= prefix.size && memcmp(value.data, prefix.data, prefix.size) == 0;
}

bool iree_string_view_ends_with(iree_string_view_t value, iree_string_view_t suffix) {
  return suffix.size && value.size >= suffix.size &&
         memcmp(value.data + value.size - suffix.size, suffix.data, suffix.size) == 0;
}

iree_string_view_t iree_string_view_remove_prefix(iree_string_view_t value, iree_host_size_t n) {
  n = iree_min(n, value.size);
  return n ? iree_make_string_view(value.data + n, value.size - n) : value;
}

iree_string_view_t iree_string_view_remove_suffix(iree_string_view_t value, iree_host_size_t n) {
  return iree_make_string_view(value.data, value.size - iree_min(n, value.size));
}

iree_string_view_t iree_string_view_strip_prefix(iree_string_view_t value, iree_string_view_t prefix) {
  iree_string_view_consume_prefix(&value, prefix);
  return value;
}

iree_string_view_t iree_string_view_strip_suffix(iree_string_view_t value, iree_string_view_t suffix) {
  iree_string_view_consume_suffix(&value, suffix);
  return value;
}

bool iree_string_view_consume_prefix(iree_string_view_t* value, iree_string_view_t prefix) {
  if (!iree_string_view_starts_with(*value, prefix)) return false;
  *value = iree_string_view_remove_prefix(*value, prefix.size);
  return true;
}

bool iree_string_view_consume_suffix(iree_string_view_t* value, iree_string_view_t suffix) {
  if (!iree_string_view_ends_with(*value, suffix)) return false;
  *value = iree_string_view_remove_suffix(*value, suffix.size);
  return true;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

iree_string_view_t iree_string_view_trim(iree_string_view_t value) {
  while (value.size && is_space(value.data[0])) ++value.data, --value.size;
  while (value.size && is_space(value.data[value.size - 1])) --value.size;
  return value;
}

iree_string_view_t iree_string_view_substr(iree_string_view_t value, iree_host_size_t pos, iree_host_size_t n) {
  value = iree_string_view_remove_prefix(value, pos);
  return iree_make_string_view(value.data, iree_min(n, value.size));
}

intptr_t iree_string_view_split(iree_string_view_t value, char split_char, iree_string_view_t* out_lhs,
                                iree_string_view_t* out_rhs) {
  iree_host_size_t pos = iree_string_view_find_char(value, split_char, 0);
  bool found = pos != IREE_STRING_VIEW_NPOS;
  if (out_lhs) *out_lhs = found ? iree_string_view_substr(value, 0, pos) : value;
  if (out_rhs) *out_rhs = found ? iree_string_view_remove_prefix(value, pos + 1) : iree_string_view_empty();
  return found ? (intptr_t)pos : -1;
}

void iree_string_view_replace_char(iree_string_view_t value, char old_char, char new_char) {
  char* data = (char*)value.data;
  for (iree_host_size_t i = 0; i < value.size; ++i) {
    if (data[i] == old_char) data[i] = new_char;
  }
}

// The usual backtracking to the last star: linear but for runs of near misses.
bool iree_string_view_match_pattern(iree_string_view_t value, iree_string_view_t pattern) {
  iree_host_size_t v = 0, p = 0, star = IREE_STRING_VIEW_NPOS, star_v = 0;
  while (v < value.size) {
    if (p < pattern.size && pattern.data[p] == '*') {
      star = p++;
      star_v = v;
    } else if (p < pattern.size && (pattern.data[p] == '?' || pattern.data[p] == value.data[v])) {
      ++p, ++v;
    } else if (star != IREE_STRING_VIEW_NPOS) {
      p = star + 1;
      v = ++star_v;
    } else {
      return false;
    }
  }
  while (p < pattern.size && pattern.data[p] == '*') ++p;
  return p == pattern.size;
}

void iree_string_view_to_cstring(iree_string_view_t value, char* buffer, iree_host_size_t buffer_length) {
  if (!buffer_length) return;
  iree_host_size_t size = iree_min(value.size, buffer_length - 1);
  if (size) memcpy(buffer, value.data, size);
  buffer[size] = 0;
}

iree_host_size_t iree_string_view_append_to_buffer(iree_string_view_t source_value, iree_string_view_t* target_value,
                                                   char* buffer) {
  if (source_value.size) memcpy(buffer, source_value.data, source_value.size);
  *target_value = iree_make_string_view(buffer, source_value.size);
  return source_value.size;
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// A NUL-terminated copy of the trimmed view for the C library's parsers. False when it is empty or too long for any
// number.
static bool number_text(iree_string_view_t value, size_t capacity, char* text) {
  value = iree_string_view_trim(value);
  if (value.size == 0 || value.size >= capacity) return false;
  iree_string_view_to_cstring(value, text, capacity);
  return memchr(text, 0, value.size) == NULL;
}

static bool parse_signed(iree_string_view_t value, int base, int64_t min, int64_t max, int64_t* out_value) {
  char text[80], *end = NULL;
  if (!number_text(value, sizeof(text), text)) return false;
  errno = 0;
  long long parsed = strtoll(text, &end, base);
  if (errno || *end || end == text || parsed < min || parsed > max) return false;
  *out_value = parsed;
  return true;
}

static bool parse_unsigned(iree_string_view_t value, int base, uint64_t max, uint64_t* out_value) {
  char text[80], *end = NULL;
  if (!number_text(value, sizeof(text), text) || text[0] == '-') return false;
  errno = 0;
  unsigned long long parsed = strtoull(text, &end, base);
  if (errno || *end || end == text || parsed > max) return false;
  *out_value = parsed;
  return true;
}

#define DEFINE_ATOI(name, type, wide, call)                                                       \
  bool iree_string_view_atoi_##name##_base(iree_string_view_t value, int base, type* out_value) { \
    wide parsed = 0;                                                                              \
    if (!(call)) return false;                                                                    \
    *out_value = (type)parsed;                                                                    \
    return true;                                                                                  \
  }                                                                                               \
  bool iree_string_view_atoi_##name(iree_string_view_t value, type* out_value) {                  \
    return iree_string_view_atoi_##name##_base(value, 0, out_value);                              \
  }
DEFINE_ATOI(int32, int32_t, int64_t, parse_signed(value, base, INT32_MIN, INT32_MAX, &parsed))
DEFINE_ATOI(int64, int64_t, int64_t, parse_signed(value, base, INT64_MIN, INT64_MAX, &parsed))
DEFINE_ATOI(uint32, uint32_t, uint64_t, parse_unsigned(value, base, UINT32_MAX, &parsed))
DEFINE_ATOI(uint64, uint64_t, uint64_t, parse_unsigned(value, base, UINT64_MAX, &parsed))
#undef DEFINE_ATOI

bool iree_string_view_atod(iree_string_view_t value, double* out_value) {
  char text[512], *end = NULL;
  if (!number_text(value, sizeof(text), text)) return false;
  double parsed = strtod(text, &end);
  if (*end || end == text) return false;
  *out_value = parsed;
  return true;
}

bool iree_string_view_atof(iree_string_view_t value, float* out_value) {
  char text[512], *end = NULL;
  if (!number_text(value, sizeof(text), text)) return false;
  float parsed = strtof(text, &end);
  if (*end || end == text) return false;
  *out_value = parsed;
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool iree_string_view_parse_hex_bytes(iree_string_view_t value, iree_host_size_t buffer_length, uint8_t* out_buffer) {
  iree_host_size_t written = 0;
  for (iree_host_size_t i = 0; i < value.size;) {
    if (value.data[i] == '-') {
      ++i;
      continue;
    }
    int high = hex_digit(value.data[i]);
    int low = i + 1 < value.size ? hex_digit(value.data[i + 1]) : -1;
    if (high < 0 || low < 0 || written == buffer_length) return false;
    out_buffer[written++] = (uint8_t)(high << 4 | low);
    i += 2;
  }
  return written == buffer_length;
}

iree_status_t iree_string_view_parse_device_size(iree_string_view_t value, iree_device_size_t* out_size) {
  static const struct {
    const char* suffix;
    uint64_t scale;
  } units[] = {
      {"kib", 1ull << 10}, {"mib", 1ull << 20},   {"gib", 1ull << 30}, {"kb", 1000ull},
      {"mb", 1000000ull},  {"gb", 1000000000ull}, {"b", 1ull},
  };
  *out_size = 0;
  iree_string_view_t digits = iree_string_view_trim(value);
  uint64_t scale = 1, count = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(units); ++i) {
    iree_string_view_t suffix = iree_make_cstring_view(units[i].suffix);
    if (digits.size > suffix.size &&
        iree_string_view_equal_case(iree_string_view_remove_prefix(digits, digits.size - suffix.size), suffix)) {
      digits = iree_string_view_remove_suffix(digits, suffix.size);
      scale = units[i].scale;
      break;
    }
  }
  if (!iree_string_view_atoi_uint64_base(digits, 10, &count)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "invalid size '%.*s'; expected a number with an optional "
                            "unit (kb, kib, mb, mib, gb, gib)",
                            (int)value.size, value.data);
  }
  if (!iree_device_size_checked_mul(count, scale, out_size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "size '%.*s' is too large", (int)value.size, value.data);
  }
  return iree_ok_status();
}
