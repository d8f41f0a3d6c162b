// .safetensors: a JSON object in front, {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}.
#include <ctype.h>
#include <string.h>

#include "io/parameter_file.h"

enum { MAX_NESTING = 64 };

typedef struct json_t {
  parameter_file_t* file;
  const char *at, *end;
  bool failed;
} json_t;

static void skip_space(json_t* j) {
  while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at) ++j->at;
}

static bool peek(json_t* j, char c) {
  skip_space(j);
  return j->at < j->end && *j->at == c;
}

static bool try_take(json_t* j, char c) {
  if (!peek(j, c)) return false;
  ++j->at;
  return true;
}

static bool take(json_t* j, char c) {
  if (!try_take(j, c)) j->failed = true;
  return !j->failed;
}

// One code point as UTF-8.
static size_t put_code(char* out, uint32_t code) {
  if (code < 0x80) return out[0] = (char)code, 1;
  if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
  out[0] = (char)(0xe0 | code >> 12);
  out[1] = (char)(0x80 | (code >> 6 & 63));
  out[2] = (char)(0x80 | (code & 63));
  return 3;
}

static char simple_escape(char c) {
  static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
  const char* found = c ? strchr(from, c) : NULL;
  return found ? to[found - from] : c;
}

// What stands between quotes, decoded at `out`, which has as many bytes; the number of them.
static size_t decode(const char* from, const char* end, char* out) {
  size_t size = 0;
  while (from < end) {
    if (*from != '\\' || from + 1 == end) {
      out[size++] = *from++;
    } else if (from[1] == 'u' && end - from >= 6) {
      uint32_t code = 0;
      for (int i = 2; i < 6; ++i) {
        char c = (char)tolower((unsigned char)from[i]);
        code = code << 4 | (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c - 'a' + 10) & 15);
      }
      size += put_code(out + size, code);
      from += 6;
    } else {
      out[size++] = simple_escape(from[1]);
      from += 2;
    }
  }
  return size;
}

static iree_string_view_t take_string(json_t* j) {
  if (!take(j, '"')) return iree_string_view_empty();
  const char* start = j->at;
  bool plain = true;
  while (j->at < j->end && *j->at != '"') {
    plain &= *j->at != '\\';
    j->at += *j->at == '\\' && j->at + 1 < j->end ? 2 : 1;
  }
  const char* stop = j->at;
  if (!take(j, '"')) return iree_string_view_empty();
  if (plain) return iree_make_string_view(start, (iree_host_size_t)(stop - start));
  parameter_file_t* file = j->file;  // the text has room for all of the header
  char* decoded = file->text + file->text_used;
  size_t size = decode(start, stop, decoded);
  file->text_used += size;
  return iree_make_string_view(decoded, size);
}

static uint64_t take_number(json_t* j) {
  uint64_t number = 0;
  skip_space(j);
  if (j->at == j->end || !isdigit((unsigned char)*j->at)) j->failed = true;
  while (j->at < j->end && isdigit((unsigned char)*j->at) && !j->failed) {
    uint64_t digit = (uint64_t)(*j->at++ - '0');
    if (number > (UINT64_MAX - digit) / 10) j->failed = true;
    number = number * 10 + digit;
  }
  return number;
}

static void skip_value(json_t* j, int depth) {
  if (depth > MAX_NESTING) j->failed = true;
  if (j->failed) return;
  if (peek(j, '"')) {
    take_string(j);
  } else if (peek(j, '{') || peek(j, '[')) {
    bool object = *j->at++ == '{';
    char close = object ? '}' : ']';
    for (bool first = true; !j->failed && !try_take(j, close); first = false) {
      if (!first) take(j, ',');
      if (object) take_string(j);
      if (object) take(j, ':');
      skip_value(j, depth + 1);
    }
  } else {
    const char* start = j->at;
    while (j->at < j->end && (isalnum((unsigned char)*j->at) || strchr("+-.", *j->at)) && *j->at) ++j->at;
    if (j->at == start) j->failed = true;
  }
}

// {"dtype": .., "shape": .., "data_offsets": [first, end]}
static void take_tensor(json_t* j, uint64_t offsets[2]) {
  bool found = false;
  take(j, '{');
  for (bool first = true; !j->failed && !try_take(j, '}'); first = false) {
    if (!first) take(j, ',');
    iree_string_view_t key = take_string(j);
    take(j, ':');
    if (!iree_string_view_equal(key, IREE_SV("data_offsets"))) {
      skip_value(j, 0);
      continue;
    }
    take(j, '[');
    offsets[0] = take_number(j);
    take(j, ',');
    offsets[1] = take_number(j);
    take(j, ']');
    found = true;
  }
  if (!found) j->failed = true;
}

static iree_status_t damaged(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the .safetensors archive is damaged: %s", what);
}

iree_status_t parameter_parse_safetensors(parameter_file_t* file) {
  const uint8_t* data = file->contents.data;
  uint64_t size = file->contents.data_length - 8, header = parameter_u64(data);
  if (header > size) return damaged("it ends in its header");
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(file->allocator, (iree_host_size_t)header + 1, (void**)&file->text));
  json_t j = {file, (const char*)data + 8, (const char*)data + 8 + header, false};
  take(&j, '{');
  for (bool first = true; !j.failed && !try_take(&j, '}'); first = false) {
    uint64_t offsets[2] = {0, 0};
    if (!first) take(&j, ',');
    parameter_entry_t entry = {.key = take_string(&j)};
    take(&j, ':');
    if (iree_string_view_equal(entry.key, IREE_SV("__metadata__"))) {
      skip_value(&j, 0);
      continue;
    }
    take_tensor(&j, offsets);
    if (j.failed) break;
    if (offsets[0] > offsets[1] || offsets[1] > size - header) return damaged("a tensor lies outside of it");
    entry.data = data + 8 + header + offsets[0];
    entry.length = offsets[1] - offsets[0];
    IREE_RETURN_IF_ERROR(parameter_file_add(file, &entry));
  }
  return j.failed ? damaged("its header is not as it should be") : iree_ok_status();
}
