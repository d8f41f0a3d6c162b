// The parser's lowest layer: spaces and comments, punctuation, words, numbers, strings, and where they are.
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ir/parse_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Position
//===----------------------------------------------------------------------------------------------------------------===

void ir_skip_space(ir_parser_t* p) {
  const char* at = p->cursor.at;
  for (; at < p->end; ++at) {
    if (*at == '\n') {
      ++p->cursor.line;
      p->cursor.line_start = at + 1;
    } else if (*at == '/' && at + 1 < p->end && at[1] == '/') {
      at = memchr(at, '\n', (size_t)(p->end - at));
      if (!at) at = p->end;
      --at;
    } else if (*at != ' ' && *at != '\t' && *at != '\r') {
      break;
    }
  }
  p->cursor.at = at;
}

void ir_jump(ir_parser_t* p, const char* to) {
  for (const char* at = p->cursor.at; (at = memchr(at, '\n', (size_t)(to - at))); ++at) {
    ++p->cursor.line;
    p->cursor.line_start = at + 1;
  }
  p->cursor.at = to;
  ir_skip_space(p);
}

uint32_t ir_column(const ir_parser_t* p) { return (uint32_t)(p->cursor.at - p->cursor.line_start) + 1; }

const ir_loc_t* ir_loc_where(ir_parser_t* p, uint32_t line, uint32_t column) {
  return ir_loc_file(p->ctx, p->path, line, column);
}
ir_context_t* ir_parse_context(ir_parser_t* p) { return p->ctx; }

static bool fail(ir_parser_t* p, uint32_t line, uint32_t column, const char* format, va_list args) {
  if (!p->failed && !p->quiet) {
    text_t text = {0};
    text_vprintf(&text, format, args);
    ir_error(p->ctx, ir_loc_where(p, line, column), "%s", text.data ? text.data : "");
    text_finish(&text);
  }
  p->failed = true;
  return false;
}

bool ir_parse_fail(ir_parser_t* p, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fail(p, p->cursor.line, ir_column(p), format, args);
  va_end(args);
  return false;
}
bool ir_fail_where(ir_parser_t* p, uint32_t line, uint32_t column, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fail(p, line, column, format, args);
  va_end(args);
  return false;
}
bool ir_parse_fail_at(ir_parser_t* p, const ir_ref_t* ref, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fail(p, ref->line, ref->column, format, args);
  va_end(args);
  return false;
}

bool ir_enter(ir_parser_t* p) {
  if (p->depth >= IR_PARSE_MAX_DEPTH) return ir_parse_fail(p, "nested more than %d levels deep", IR_PARSE_MAX_DEPTH);
  if (++p->depth > p->depth_seen) p->depth_seen = p->depth;
  ++p->nodes;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Words
//===----------------------------------------------------------------------------------------------------------------===

char ir_parse_next(const ir_parser_t* p) { return ir_peek(p, 0); }

bool ir_parse_peek(ir_parser_t* p, const char* literal) {
  size_t size = strlen(literal);
  if (ir_left(p) < size || memcmp(p->cursor.at, literal, size) != 0) return false;
  char last = literal[size - 1], after = ir_peek(p, size);
  if (ir_is_word(last)) return !ir_is_word(after);
  return !(size == 1 && ((last == ':' && after == ':') || (last == '-' && after == '>')));
}

bool ir_parse_try(ir_parser_t* p, const char* literal) {
  if (!ir_parse_peek(p, literal)) return false;
  ir_advance(p, strlen(literal));
  return true;
}

bool ir_parse_expect(ir_parser_t* p, const char* literal) {
  return ir_parse_try(p, literal) || ir_parse_fail(p, "expected '%s'", literal);
}

bool ir_take_expected(ir_parser_t* p, char c) { return ir_take(p, c) || ir_parse_fail(p, "expected '%c'", c); }

size_t ir_word_size(const ir_parser_t* p) {
  size_t size = 0;
  if (!ir_is_letter(ir_peek(p, 0))) return 0;
  while (ir_is_word(ir_peek(p, size))) ++size;
  return size;
}

// digits, or [A-Za-z_$.-][A-Za-z0-9_$.-]*
size_t ir_suffix_size(const ir_parser_t* p, size_t from) {
  size_t size = from;
  if (ir_is_digit(ir_peek(p, size))) {
    while (ir_is_digit(ir_peek(p, size))) ++size;
  } else {
    while (ir_is_suffix(ir_peek(p, size)) && !(ir_peek(p, size) == '-' && ir_peek(p, size + 1) == '>')) ++size;
  }
  return size - from;
}

ir_name_t ir_parse_try_keyword(ir_parser_t* p) {
  size_t size = ir_word_size(p);
  if (!size) return NULL;
  ir_name_t name = ir_intern(p->ctx, p->cursor.at, size);
  ir_advance(p, size);
  return name;
}
ir_name_t ir_parse_keyword(ir_parser_t* p, const char* what) {
  ir_name_t name = ir_parse_try_keyword(p);
  if (!name) ir_parse_fail(p, "expected %s", what);
  return name;
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

bool ir_parse_uint(ir_parser_t* p, uint64_t* value) {
  size_t size = 0;
  uint64_t result = 0;
  bool overflow = false;
  if (ir_peek(p, 0) == '0' && ir_peek(p, 1) == 'x' && ir_hex_value(ir_peek(p, 2)) >= 0) {
    for (size = 2; ir_hex_value(ir_peek(p, size)) >= 0; ++size) {
      overflow |= result >> 60 != 0;
      result = result << 4 | (uint64_t)ir_hex_value(ir_peek(p, size));
    }
  } else {
    for (; ir_is_digit(ir_peek(p, size)); ++size) {
      overflow |= __builtin_mul_overflow(result, 10u, &result);
      overflow |= __builtin_add_overflow(result, (uint64_t)(ir_peek(p, size) - '0'), &result);
    }
  }
  if (!size) return ir_parse_fail(p, "expected an integer");
  if (overflow) return ir_parse_fail(p, "integer does not fit in 64 bits");
  *value = result;
  ir_advance(p, size);
  return true;
}

bool ir_parse_integer(ir_parser_t* p, int64_t* value) {
  bool negative = ir_peek(p, 0) == '-' && ir_is_digit(ir_peek(p, 1));
  if (negative) ir_advance(p, 1);
  uint64_t magnitude;
  ir_cursor_t start = p->cursor;
  if (!ir_parse_uint(p, &magnitude)) return false;
  if (magnitude > (uint64_t)INT64_MAX + negative) {
    p->cursor = start;
    return ir_parse_fail(p, "integer does not fit in 64 bits");
  }
  *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

bool ir_parse_try_integer(ir_parser_t* p, int64_t* value) {
  if (!ir_is_digit(ir_peek(p, 0)) && !(ir_peek(p, 0) == '-' && ir_is_digit(ir_peek(p, 1)))) return false;
  return ir_parse_integer(p, value);
}

static double parse_slowly(const char* text, size_t size) {
  char small[64], *copy = size < sizeof(small) ? small : memory_alloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = 0;
  double value = strtod(copy, NULL);
  if (copy != small) memory_free(copy);
  return value;
}

// Exact when the digits fit a double and the power of ten is one: both exact, one rounding. Otherwise strtod.
bool ir_parse_number(ir_parser_t* p, double* value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *start = p->cursor.at, *at = start, *end = p->end;
  uint64_t mantissa = 0;
  int digits = 0, exponent = 0, written = 0;
  for (; at < end && ir_is_digit(*at); ++at, ++digits) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
  if (!digits) return ir_parse_fail(p, "expected a number");
  if (at < end && *at == '.') {
    for (++at; at < end && ir_is_digit(*at); ++at, ++digits, --exponent)
      mantissa = mantissa * 10 + (uint64_t)(*at - '0');
  }
  const char* e = at;
  if (e < end && (*e == 'e' || *e == 'E')) {
    bool negative = ++e < end && *e == '-';
    if (e < end && (*e == '-' || *e == '+')) ++e;
    if (e < end && ir_is_digit(*e)) {
      for (; e < end && ir_is_digit(*e); ++e) written = written < 100000 ? written * 10 + (*e - '0') : written;
      exponent += negative ? -written : written;
      at = e;
    }
  }
  if (digits <= 18 && mantissa < (1ull << 53) && exponent >= -22 && exponent <= 22) {
    *value = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
  } else {
    *value = parse_slowly(start, (size_t)(at - start));
  }
  ir_advance(p, (size_t)(at - start));
  return true;
}

bool ir_parse_int_list(ir_parser_t* p, int64_t** values, uint32_t* count) {
  if (!ir_take_expected(p, '[')) return false;
  uint32_t size = 0, capacity = 16;
  int64_t* list = ir_parse_scratch(p, sizeof(int64_t) * capacity);
  while (ir_peek(p, 0) != ']') {
    if (size && !ir_take_expected(p, ',')) return false;
    if (size == capacity) {
      int64_t* wider = ir_parse_scratch(p, sizeof(int64_t) * (capacity *= 2));
      memcpy(wider, list, sizeof(int64_t) * size);
      list = wider;
    }
    if (ir_take(p, '?')) {
      list[size++] = IR_DYNAMIC;
    } else if (!ir_parse_integer(p, &list[size++])) {
      return false;
    }
  }
  *values = list;
  *count = size;
  return ir_take_expected(p, ']');
}

//===----------------------------------------------------------------------------------------------------------------===
// Strings and names
//===----------------------------------------------------------------------------------------------------------------===

bool ir_parse_string_raw(ir_parser_t* p, const char** begin, const char** end) {
  if (ir_peek(p, 0) != '"') return ir_parse_fail(p, "expected a string");
  const char* at = p->cursor.at + 1;
  *begin = at;
  for (;;) {
    const char* quote = memchr(at, '"', (size_t)(p->end - at));
    if (!quote) return ir_parse_fail(p, "string without closing '\"'");
    const char* slash = quote;
    while (slash > *begin && slash[-1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) {
      *end = quote;
      break;
    }
    at = quote + 1;
  }
  if (memchr(*begin, '\n', (size_t)(*end - *begin))) return ir_parse_fail(p, "string runs over the end of the line");
  ir_advance(p, (size_t)(*end + 1 - p->cursor.at));
  return true;
}

bool ir_parse_string(ir_parser_t* p, const char** text, size_t* size) {
  const char *begin, *end;
  ir_cursor_t start = p->cursor;
  if (!ir_parse_string_raw(p, &begin, &end)) return false;
  char* out = arena_strndup(&p->scratch, begin, (size_t)(end - begin));
  *text = out;
  if (memchr(begin, '\\', (size_t)(end - begin))) {
    for (const char* in = begin; in < end; ++in) {
      if (*in != '\\') {
        *out++ = *in;
        continue;
      }
      char c = *++in;  // a backslash is never last: the quote behind it would not have ended the string
      static const char escapes[] = "n\nt\tr\r\"\"\\\\";
      const char* known = NULL;
      for (const char* k = escapes; *k && !known; k += 2) known = *k == c ? k + 1 : NULL;
      if (known) {
        *out++ = *known;
      } else if (in + 1 < end && ir_hex_value(c) >= 0 && ir_hex_value(in[1]) >= 0) {
        *out++ = (char)(ir_hex_value(c) * 16 + ir_hex_value(in[1]));
        ++in;
      } else {
        p->cursor = start;
        return ir_parse_fail(p, "unknown escape '\\%c' in string: expected n, t, \\, \" or two hex digits", c);
      }
    }
    *size = (size_t)(out - *text);
    *out = 0;
  } else {
    *size = (size_t)(end - begin);
  }
  return true;
}

ir_name_t ir_parse_try_symbol_name(ir_parser_t* p) {
  if (ir_peek(p, 0) != '@') return NULL;
  size_t size = ir_suffix_size(p, 1);
  if (ir_peek(p, 1) == '"') {
    const char* text;
    ++p->cursor.at;
    return ir_parse_string(p, &text, &size) ? ir_intern(p->ctx, text, size) : NULL;
  }
  if (!size) {
    ir_parse_fail(p, "expected a symbol name after '@'");
    return NULL;
  }
  ir_name_t name = ir_intern(p->ctx, p->cursor.at + 1, size);
  ir_advance(p, size + 1);
  return name;
}

ir_name_t ir_parse_symbol_name(ir_parser_t* p) {
  ir_name_t name = ir_parse_try_symbol_name(p);
  if (!name) ir_parse_fail(p, "expected a symbol name (@name)");
  return name;
}

//===----------------------------------------------------------------------------------------------------------------===
// Balanced text: bodies of dialect types and attributes
//===----------------------------------------------------------------------------------------------------------------===

// The end of the line that a comment at `at` takes, or `at`.
static const char* behind_comment(const char* at, const char* end) {
  if (end - at < 2 || at[0] != '/' || at[1] != '/') return at;
  while (at < end && *at && *at != '\n') ++at;
  return at;
}

// Characters up to the `>` that closes an already consumed `<`.
size_t ir_balanced_size(const ir_parser_t* p) {
  char stack[IR_PARSE_MAX_DEPTH];
  int depth = 0;
  for (const char* at = p->cursor.at; at < p->end; ++at) {
    at = behind_comment(at, p->end);
    if (at == p->end) return SIZE_MAX;
    char c = *at, close = c == '<' ? '>' : c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0;
    if (close) {
      if (depth == IR_PARSE_MAX_DEPTH) return SIZE_MAX;
      stack[depth++] = close;
    } else if (c == '-' && at + 1 < p->end && at[1] == '>') {
      ++at;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (!depth) return c == '>' ? (size_t)(at - p->cursor.at) : SIZE_MAX;
      if (stack[--depth] != c) return SIZE_MAX;
    } else if (!c) {
      return SIZE_MAX;
    } else if (c == '"') {
      for (++at; at < p->end && *at && *at != '"' && *at != '\n'; ++at) at += *at == '\\';
      if (at >= p->end || *at != '"') return SIZE_MAX;
    }
  }
  return SIZE_MAX;
}

// Copies the text with single spaces and without comments; a lone #name or !name that is an alias becomes what it
// stands for.
static bool expand_body(ir_parser_t* p, text_t* out, size_t size) {
  const char *at = p->cursor.at, *end = at + size;
  while ((at = behind_comment(at, end)) < end) {
    char c = *at;
    if (c == '"') {
      const char* start = at;
      for (++at; *at != '"'; ++at) at += *at == '\\';
      text_append(out, start, (size_t)(++at - start));
    } else if ((c == '#' || c == '!') && (at == p->cursor.at || !ir_is_word(at[-1]))) {
      const char* start = at++;
      while (at < end && ir_is_suffix(*at) && *at != '-') ++at;
      size_t name_size = (size_t)(at - start);
      bool plain = !memchr(start, '.', name_size) && (at == end || *at != '<') && name_size > 1;
      const ir_alias_t* alias = plain ? ir_alias_find(p, start, name_size) : NULL;
      if (p->failed) return false;
      if (alias && alias->type) {
        ir_print_type(out, alias->type);
      } else if (alias) {
        ir_print_attr(out, alias->attr);
      } else {
        text_append(out, start, name_size);
      }
      if (out->size > (1u << 20) + 2 * size) return ir_parse_fail(p, "aliases in a dialect's text expand to too much");
    } else {
      bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
      if (!space || (out->size && out->data[out->size - 1] != ' ')) text_append(out, space ? " " : at, 1);
      ++at;
    }
  }
  return true;
}

ir_name_t ir_parse_bracketed(ir_parser_t* p) {
  if (!ir_take_expected(p, '<')) return NULL;
  size_t size = ir_balanced_size(p);
  if (size == SIZE_MAX) {
    ir_parse_fail(p, "brackets are not balanced");
    return NULL;
  }
  text_t out = {0};
  ir_name_t body = NULL;
  if (expand_body(p, &out, size)) {
    while (out.size && out.data[out.size - 1] == ' ') --out.size;
    body = ir_intern(p->ctx, out.data ? out.data : "", out.size);
    ir_jump(p, p->cursor.at + size + 1);
  }
  text_finish(&out);
  return body;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scratch lists
//===----------------------------------------------------------------------------------------------------------------===

void* ir_parse_scratch(ir_parser_t* p, size_t size) { return arena_alloc(&p->scratch, size); }
void* ir_parse_grow(ir_parser_t* p, void* items, size_t count, size_t size) {
  if (count & (count - 1)) return items;  // grows at powers of two
  void* wider = ir_parse_scratch(p, size * (count ? 2 * count : 1));
  return count ? memcpy(wider, items, size * count) : wider;
}

#define LIST_ADD(p, list, element)                                                 \
  do {                                                                             \
    uint32_t room = (list)->capacity ? (list)->capacity : 8;                       \
    if (!(list)->items) (list)->items = (list)->inline_items;                      \
    if ((list)->count == room) {                                                   \
      void* wider = ir_parse_scratch(p, sizeof(*(list)->items) * room * 2);        \
      (list)->items = memcpy(wider, (list)->items, sizeof(*(list)->items) * room); \
      (list)->capacity = room * 2;                                                 \
    }                                                                              \
    (list)->items[(list)->count++] = (element);                                    \
  } while (0)

void ir_list_add_type(ir_parser_t* p, ir_type_list_t* list, const ir_type_t* type) { LIST_ADD(p, list, type); }
void ir_list_add_ref(ir_parser_t* p, ir_ref_list_t* list, const ir_ref_t* ref) { LIST_ADD(p, list, *ref); }
void ir_list_add_value(ir_parser_t* p, ir_value_list_t* list, ir_value_t* value) { LIST_ADD(p, list, value); }
void ir_list_add_named_attr(ir_parser_t* p, ir_attr_list_t* list, const char* name, const ir_attr_t* value) {
  ir_named_attr_t entry = {name, value};
  LIST_ADD(p, list, entry);
}
