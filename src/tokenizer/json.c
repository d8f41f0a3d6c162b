// See json.h.
#include "tokenizer/json.h"

#include <stdlib.h>

#include "tokenizer/unicode.h"

enum { MAX_DEPTH = 64, MAX_NUMBER = 64 };

typedef struct reader_t {
  iree_string_view_t text;
  size_t at;
  store_t* memory;
} reader_t;

static iree_status_t complain(const reader_t* r, const char* wanted) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < r->at; ++i, ++column) {
    if (r->text.data[i] == '\n') ++line, column = 0;
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "JSON, line %zu, column %zu: %s", line, column, wanted);
}

static void skip_space(reader_t* r) {
  while (r->at < r->text.size && strchr(" \t\r\n", r->text.data[r->at]) && r->text.data[r->at]) ++r->at;
}

static bool take(reader_t* r, char wanted) {
  skip_space(r);
  if (r->at == r->text.size || r->text.data[r->at] != wanted) return false;
  ++r->at;
  return true;
}

static bool take_word(reader_t* r, const char* word) {
  size_t size = strlen(word);
  if (r->text.size - r->at < size || memcmp(r->text.data + r->at, word, size) != 0) return false;
  r->at += size;
  return true;
}

static bool read_hex(reader_t* r, uint32_t* out) {
  *out = 0;
  if (r->text.size - r->at < 4) return false;
  for (int i = 0; i < 4; ++i) {
    char c = r->text.data[r->at + i];
    int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    if (digit < 0) return false;
    *out = *out << 4 | (uint32_t)digit;
  }
  r->at += 4;
  return true;
}

// Behind a backslash. Two escapes of a surrogate pair are one code point; half a pair is 0xFFFD.
static iree_status_t read_escape(reader_t* r, bytes_t* out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (r->at == r->text.size) return complain(r, "the text ends within a string");
  char c = r->text.data[r->at++];
  const char* name = c ? strchr(names, c) : NULL;
  if (name) return bytes_append(out, &values[name - names], 1);
  uint32_t code = 0, low = 0;
  if (c != 'u' || !read_hex(r, &code)) return complain(r, "this is no escape; \\n and \\u0041 are");
  if (code >= 0xD800 && code < 0xDC00 && r->text.size - r->at >= 6 && r->text.data[r->at] == '\\' &&
      r->text.data[r->at + 1] == 'u') {
    size_t back = r->at;
    r->at += 2;
    if (read_hex(r, &low) && low >= 0xDC00 && low < 0xE000) {
      return bytes_append_code(out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
    }
    r->at = back;
  }
  return bytes_append_code(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
}

static iree_status_t read_characters(reader_t* r, bytes_t* out) {
  while (r->at < r->text.size && r->text.data[r->at] != '"') {
    char c = r->text.data[r->at];
    if ((unsigned char)c < 0x20) return complain(r, "a string has a control character; write it as an escape");
    ++r->at;
    IREE_RETURN_IF_ERROR(c == '\\' ? read_escape(r, out) : bytes_append(out, &c, 1));
  }
  return take(r, '"') ? iree_ok_status() : complain(r, "the text ends within a string");
}

// Behind the first quote.
static iree_status_t read_string(reader_t* r, iree_string_view_t* out) {
  bytes_t bytes = bytes_make(r->memory->allocator);
  iree_status_t status = read_characters(r, &bytes);
  if (iree_status_is_ok(status)) status = store_copy(r->memory, bytes_view(&bytes), out);
  bytes_free(&bytes);
  return status;
}

static iree_status_t read_number(reader_t* r, json_t* out) {
  char text[MAX_NUMBER + 1], *end = NULL;
  size_t size = 0;
  while (r->at + size < r->text.size && size < MAX_NUMBER && r->text.data[r->at + size] &&
         strchr("+-.eE0123456789", r->text.data[r->at + size])) {
    text[size] = r->text.data[r->at + size];
    ++size;
  }
  text[size] = 0;
  out->kind = JSON_NUMBER;
  out->number = strtod(text, &end);
  if (!size || end != text + size) return complain(r, "a value is needed: {, [, a string, a number, true, false, null");
  out->text = iree_make_string_view(r->text.data + r->at, size);
  r->at += size;
  return iree_ok_status();
}

static iree_status_t read_value(reader_t* r, int depth, json_t* out);

// Behind the bracket.
static iree_status_t read_items(reader_t* r, int depth, char close, json_t* out) {
  const json_t** tail = &out->first;
  if (take(r, close)) return iree_ok_status();
  do {
    json_t* item = NULL;
    IREE_RETURN_IF_ERROR(store_take(r->memory, 1, sizeof(*item), (void**)&item));
    if (close == '}') {
      if (!take(r, '"')) return complain(r, "a member's name is needed");
      IREE_RETURN_IF_ERROR(read_string(r, &item->name));
      if (!take(r, ':')) return complain(r, "a colon is needed");
    }
    IREE_RETURN_IF_ERROR(read_value(r, depth + 1, item));
    *tail = item;
    tail = &item->next;
    ++out->count;
  } while (take(r, ','));
  return take(r, close) ? iree_ok_status()
                        : complain(r, close == '}' ? "a comma or } is needed" : "a comma or ] is needed");
}

static iree_status_t read_value(reader_t* r, int depth, json_t* out) {
  skip_space(r);
  if (depth > MAX_DEPTH) return complain(r, "brackets are nested more than 64 deep");
  if (take(r, '{')) {
    out->kind = JSON_OBJECT;
    return read_items(r, depth, '}', out);
  }
  if (take(r, '[')) {
    out->kind = JSON_ARRAY;
    return read_items(r, depth, ']', out);
  }
  if (take(r, '"')) {
    out->kind = JSON_STRING;
    return read_string(r, &out->text);
  }
  static const char* const words[] = {"null", "false", "true"};
  for (int i = 0; i < 3; ++i) {
    if (!take_word(r, words[i])) continue;
    out->kind = (json_kind_t)i;
    return iree_ok_status();
  }
  return read_number(r, out);
}

iree_status_t json_parse(iree_string_view_t text, store_t* memory, const json_t** out_root) {
  reader_t r = {.text = text, .memory = memory};
  json_t* root = NULL;
  IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*root), (void**)&root));
  IREE_RETURN_IF_ERROR(read_value(&r, 0, root));
  skip_space(&r);
  if (r.at != text.size) return complain(&r, "something follows the value");
  *out_root = root;
  return iree_ok_status();
}

const json_t* json_member(const json_t* object, const char* name) {
  const json_t* found = NULL;
  if (!json_is(object, JSON_OBJECT)) return NULL;
  for (const json_t* item = object->first; item; item = item->next) {
    if (iree_string_view_equal(item->name, iree_make_cstring_view(name))) found = item;
  }
  return found;
}

bool json_bool(const json_t* object, const char* name, bool otherwise) {
  const json_t* value = json_member(object, name);
  return json_is(value, JSON_TRUE) || (otherwise && !json_is(value, JSON_FALSE));
}

iree_string_view_t json_text(const json_t* object, const char* name, iree_string_view_t otherwise) {
  const json_t* value = json_member(object, name);
  return json_is(value, JSON_STRING) ? value->text : otherwise;
}

bool json_integer(const json_t* value, int64_t most, int64_t* out) {
  *out = 0;
  if (!json_is(value, JSON_NUMBER) || !(value->number >= 0) || value->number > (double)most) return false;
  *out = (int64_t)value->number;
  return (double)*out == value->number;
}
