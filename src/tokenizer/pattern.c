// See pattern.h.
#include "tokenizer/pattern.h"

iree_status_t pattern_read(const json_t* json, store_t* memory, pattern_t* out) {
  const json_t *string = json_member(json, "String"), *regex = json_member(json, "Regex");
  *out = (pattern_t){0};
  if (json_is(regex, JSON_STRING)) return regexp_compile(regex->text, memory, &out->regex);
  if (!json_is(string, JSON_STRING)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a pattern is {\"String\": \"...\"} or {\"Regex\": \"...\"}, which this is not");
  }
  return store_copy(memory, string->text, &out->text);
}

iree_status_t pattern_find(const pattern_t* pattern, iree_string_view_t text, size_t from, iree_allocator_t allocator,
                           bool* out_found, size_t* out_start, size_t* out_end) {
  if (pattern->regex) return regexp_find(pattern->regex, text, from, allocator, out_found, out_start, out_end);
  *out_found = false;
  size_t size = pattern->text.size;
  for (size_t at = from; size && at + size <= text.size; ++at) {
    const char* next = memchr(text.data + at, pattern->text.data[0], text.size - size - at + 1);
    if (!next) return iree_ok_status();
    at = (size_t)(next - text.data);
    if (memcmp(next, pattern->text.data, size) != 0) continue;
    *out_found = true;
    *out_start = at;
    *out_end = at + size;
    return iree_ok_status();
  }
  return iree_ok_status();
}
