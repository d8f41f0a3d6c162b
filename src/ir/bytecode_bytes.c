// Primitives of the bytecode format: numbers, strings, sections. Everything is checked against what is left.
#include <stdarg.h>
#include <string.h>

#include "ir/bytecode_state.h"

bool bytecode_fail(bytecode_t* b, const bytecode_bytes_t* at, const char* format, ...) {
  if (b->failed) return false;
  b->failed = true;
  text_t text = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  if (at && at->at >= b->begin && at->at <= b->begin + b->size) {
    text_printf(&text, " (MLIR bytecode, at byte %zu)", (size_t)(at->at - b->begin));
  } else {
    text_puts(&text, " (MLIR bytecode)");
  }
  ir_error(b->ctx, ir_loc_file(b->ctx, b->path, 1, 1), "%s", text.data);
  text_finish(&text);
  return false;
}

bool bytecode_byte(bytecode_t* b, bytecode_bytes_t* c, uint8_t* out) {
  if (c->at == c->end) return bytecode_fail(b, c, "the data ends too early");
  *out = *c->at++;
  return true;
}

bool bytecode_take(bytecode_t* b, bytecode_bytes_t* c, uint64_t size, bytecode_bytes_t* out) {
  if (size > bytecode_left(c)) {
    return bytecode_fail(b, c, "%llu bytes are announced where %zu are left", (unsigned long long)size,
                         bytecode_left(c));
  }
  *out = (bytecode_bytes_t){c->at, c->at + size};
  c->at += size;
  return true;
}

// The zeros that the first byte ends with say how many bytes follow.
bool bytecode_varint(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out) {
  uint8_t first;
  if (!bytecode_byte(b, c, &first)) return false;
  if (first & 1) {
    *out = first >> 1;
    return true;
  }
  int more = first ? __builtin_ctz(first) : 8;
  bytecode_bytes_t rest;
  if (!bytecode_take(b, c, (uint64_t)more, &rest)) return false;
  uint64_t value = 0;
  for (int i = more; i-- > 0;) value = value << 8 | rest.at[i];
  *out = more == 8 ? value : (value << 8 | first) >> (more + 1);
  return true;
}

bool bytecode_svarint(bytecode_t* b, bytecode_bytes_t* c, int64_t* out) {
  uint64_t value;
  if (!bytecode_varint(b, c, &value)) return false;
  *out = (int64_t)(value >> 1 ^ (0 - (value & 1)));
  return true;
}

bool bytecode_flagged(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out, bool* flag) {
  if (!bytecode_varint(b, c, out)) return false;
  *flag = *out & 1;
  *out >>= 1;
  return true;
}

bool bytecode_count(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out, const char* what) {
  bytecode_bytes_t start = *c;
  if (!bytecode_varint(b, c, out)) return false;
  if (*out <= bytecode_left(c)) return true;
  return bytecode_fail(b, &start, "%llu %s are announced where %zu bytes are left", (unsigned long long)*out, what,
                       bytecode_left(c));
}

bool bytecode_index(bytecode_t* b, bytecode_bytes_t* c, size_t count, uint64_t* out, const char* what) {
  bytecode_bytes_t start = *c;
  if (!bytecode_varint(b, c, out)) return false;
  if (*out < count) return true;
  return bytecode_fail(b, &start, "%s %llu of %zu is asked for", what, (unsigned long long)*out, count);
}

bool bytecode_align(bytecode_t* b, bytecode_bytes_t* c, uint64_t alignment) {
  if (!alignment || (alignment & (alignment - 1))) {
    return bytecode_fail(b, c, "%llu is no alignment: it must be a power of two", (unsigned long long)alignment);
  }
  while ((uint64_t)(c->at - b->begin) & (alignment - 1)) {
    uint8_t padding;
    if (!bytecode_byte(b, c, &padding)) return false;
    if (padding != BYTECODE_PADDING) return bytecode_fail(b, c, "padding is 0x%02x where 0xcb is expected", padding);
  }
  return true;
}

bool bytecode_section(bytecode_t* b, bytecode_bytes_t* c, uint8_t* id, bytecode_bytes_t* out) {
  uint64_t size, alignment;
  if (!bytecode_byte(b, c, id) || !bytecode_varint(b, c, &size)) return false;
  bool aligned = *id & 0x80;
  *id &= 0x7f;
  if (*id >= BYTECODE_SECTION_COUNT) return bytecode_fail(b, c, "unknown kind of section: %u", *id);
  if (aligned && (!bytecode_varint(b, c, &alignment) || !bytecode_align(b, c, alignment))) return false;
  return bytecode_take(b, c, size, out);
}

bool bytecode_blob(bytecode_t* b, bytecode_bytes_t* c, bytecode_bytes_t* out) {
  uint64_t size;
  return bytecode_varint(b, c, &size) && bytecode_take(b, c, size, out);
}

bool bytecode_string(bytecode_t* b, bytecode_bytes_t* c, bytecode_string_t* out) {
  uint64_t index;
  if (!bytecode_index(b, c, b->string_count, &index, "string")) return false;
  *out = b->strings[index];
  return true;
}

bool bytecode_ints(bytecode_t* b, bytecode_bytes_t* c, int64_t** out, uint32_t* count) {
  uint64_t n;
  if (!bytecode_count(b, c, &n, "numbers")) return false;
  *out = ARENA_ARRAY(&b->scratch, int64_t, n + 1);
  for (uint64_t i = 0; i < n; ++i) {
    if (!bytecode_svarint(b, c, &(*out)[i])) return false;
  }
  *count = (uint32_t)n;
  return true;
}

bool bytecode_bits(bytecode_t* b, bytecode_bytes_t* c, uint32_t width, uint64_t* out) {
  if (width <= 8) {
    uint8_t byte;
    if (!bytecode_byte(b, c, &byte)) return false;
    *out = byte;
    return true;
  }
  if (width > 64) return bytecode_fail(b, c, "numbers of %u bits cannot be read; those up to 64 can", width);
  return bytecode_svarint(b, c, (int64_t*)out);
}

bool bytecode_double(bytecode_t* b, bytecode_bytes_t* c, double* out) {
  uint64_t bits;
  if (!bytecode_bits(b, c, 64, &bits)) return false;
  memcpy(out, &bits, sizeof(*out));
  return true;
}
