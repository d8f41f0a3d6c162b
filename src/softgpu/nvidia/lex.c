// The words of PTX. Source: PTX ISA, "Syntax".
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/nvidia/parse.h"

static void fail_with(parser_t* p, nv_fault_kind_t kind, const char* format, va_list args) {
  if (!p->failed) {
    char what[512];
    vsnprintf(what, sizeof(what), format, args);
    fault_set(p->fault, kind, "PTX line %u: %s", p->line, what);
  }
  p->failed = true;
  p->at = p->end;
}

bool parse_fail(parser_t* p, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fail_with(p, NV_FAULT_PTX, format, args);
  va_end(args);
  return false;
}

bool parse_fail_as(parser_t* p, nv_fault_kind_t kind, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fail_with(p, kind, format, args);
  va_end(args);
  return false;
}

static bool skip_comment(parser_t* p) {
  if (p->at + 1 >= p->end || p->at[0] != '/') return false;
  if (p->at[1] == '/') {
    while (p->at < p->end && *p->at != '\n') ++p->at;
    return true;
  }
  if (p->at[1] != '*') return false;
  for (p->at += 2; p->at < p->end; ++p->at) {
    if (*p->at == '\n') ++p->line;
    if (*p->at == '*' && p->at + 1 < p->end && p->at[1] == '/') return p->at += 2, true;
  }
  return parse_fail(p, "a comment that does not end");
}

void lex_skip(parser_t* p) {
  while (p->at < p->end) {
    if (*p->at == '\n') {
      ++p->line;
      ++p->at;
    } else if (isspace((unsigned char)*p->at)) {
      ++p->at;
    } else if (*p->at == '#') {  // a line of the C preprocessor
      while (p->at < p->end && *p->at != '\n') ++p->at;
    } else if (!skip_comment(p)) {
      return;
    }
  }
}

char lex_peek(parser_t* p) {
  lex_skip(p);
  return p->at < p->end ? *p->at : 0;
}

bool lex_accept(parser_t* p, char c) {
  if (lex_peek(p) != c || p->at == p->end) return false;
  ++p->at;
  return true;
}

bool lex_expect(parser_t* p, char c) {
  if (lex_accept(p, c)) return true;
  char there = lex_peek(p);
  if (!there) return parse_fail(p, "'%c' expected, not the text's end", c);
  return parse_fail(p, "'%c' expected, not '%c'", c, isprint((unsigned char)there) ? there : '?');
}

static bool is_word_start(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%'; }
static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

word_t lex_word(parser_t* p) {
  char c = lex_peek(p);
  word_t word = {p->at, 0};
  if (!is_word_start(c)) return word;
  while (p->at < p->end && (is_word(*p->at) || p->at == word.text)) ++p->at;
  word.size = (uint32_t)(p->at - word.text);
  return word;
}

word_t lex_directive(parser_t* p) {
  if (lex_peek(p) != '.') return (word_t){p->at, 0};
  word_t word = {p->at + 1, 0};
  const char* at = p->at + 1;
  while (at < p->end && (is_word(*at) || (*at == ':' && at + 1 < p->end && (at[1] == ':' || at[-1] == ':')))) ++at;
  word.size = (uint32_t)(at - word.text);
  if (word.size) p->at = at;
  return word;
}

bool word_is(word_t word, const char* text) {
  return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

char* word_copy(parser_t* p, word_t word) { return arena_strndup(p->arena, word.text, word.size); }

// 0f3F800000 and 0d3FF0000000000000.
static bool lex_exact_float(parser_t* p, arg_t* out) {
  uint32_t digits = (p->at[1] | 32) == 'f' ? 8 : 16;
  if (p->end - p->at < (ptrdiff_t)(2 + digits)) return parse_fail(p, "a float of too few digits");
  uint64_t bits = 0;
  for (uint32_t i = 0; i < digits; ++i) {
    char c = p->at[2 + i];
    if (!isxdigit((unsigned char)c)) return parse_fail(p, "a float of too few digits");
    bits = bits << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
  }
  p->at += 2 + digits;
  out->kind = digits == 8 ? ARG_SINGLE : ARG_FLOAT;
  out->value = bits;
  return true;
}

static bool lex_integer_digits(parser_t* p, arg_t* out) {
  uint32_t base = 10;
  if (*p->at == '0' && p->at + 1 < p->end) {
    char c = (char)(p->at[1] | 32);
    base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
    if (base != 8) p->at += 2;
  }
  uint64_t value = 0;
  const char* first = p->at;
  for (; p->at < p->end && isxdigit((unsigned char)*p->at); ++p->at) {
    uint32_t digit = (uint32_t)(isdigit((unsigned char)*p->at) ? *p->at - '0' : (*p->at | 32) - 'a' + 10);
    if (digit >= base) break;
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) {
      return parse_fail(p, "a number that 64 bits do not hold");
    }
  }
  if (p->at == first) return parse_fail(p, "a number without digits");
  if (p->at < p->end && (*p->at | 32) == 'u') ++p->at;
  out->kind = ARG_INTEGER;
  out->value = value;
  return true;
}

// Decimal floats have a dot or an exponent.
static bool is_decimal_float(const parser_t* p) {
  const char* at = p->at;
  while (at < p->end && isdigit((unsigned char)*at)) ++at;
  return at < p->end && (*at == '.' || ((*at | 32) == 'e' && at > p->at));
}

static bool lex_decimal_float(parser_t* p, arg_t* out) {
  char text[64];
  uint32_t size = 0;
  while (p->at < p->end && size < sizeof(text) - 1) {
    char c = *p->at;
    bool is_sign = (c == '+' || c == '-') && size && (text[size - 1] | 32) == 'e';
    if (!isdigit((unsigned char)c) && c != '.' && (c | 32) != 'e' && !is_sign) break;
    text[size++] = c;
    ++p->at;
  }
  text[size] = 0;
  double value = strtod(text, NULL);
  out->kind = ARG_FLOAT;
  memcpy(&out->value, &value, 8);
  return true;
}

bool lex_number(parser_t* p, arg_t* out) {
  bool negative = false;
  while (lex_peek(p) == '-' || lex_peek(p) == '+') negative ^= *p->at++ == '-';
  char c = lex_peek(p);
  if (!isdigit((unsigned char)c) && c != '.') return parse_fail(p, "a number expected");
  char next = p->at + 1 < p->end ? (char)(p->at[1] | 32) : 0;
  bool done = c == '0' && (next == 'f' || next == 'd') ? lex_exact_float(p, out)
              : is_decimal_float(p)                    ? lex_decimal_float(p, out)
                                                       : lex_integer_digits(p, out);
  if (!done || !negative) return done;
  if (out->kind == ARG_INTEGER) out->value = -out->value;
  if (out->kind == ARG_FLOAT) out->value ^= UINT64_C(1) << 63;
  if (out->kind == ARG_SINGLE) out->value ^= UINT64_C(1) << 31;
  return true;
}

static bool lex_sum(parser_t* p, uint64_t* out, int depth);

static bool lex_factor(parser_t* p, uint64_t* out, int depth) {
  if (depth > PARSE_MOST_DEPTH) return parse_fail(p, "an expression nested too deeply");
  char c = lex_peek(p);
  if (c == '(') {
    ++p->at;
    return lex_sum(p, out, depth + 1) && lex_expect(p, ')');
  }
  if (c == '-' || c == '~' || c == '!') {
    ++p->at;
    if (!lex_factor(p, out, depth + 1)) return false;
    *out = c == '-' ? -*out : c == '~' ? ~*out : !*out;
    return true;
  }
  arg_t number = {0};
  if (!lex_number(p, &number)) return false;
  if (number.kind != ARG_INTEGER) return parse_fail(p, "an integer expected");
  *out = number.value;
  return true;
}

static bool lex_product(parser_t* p, uint64_t* out, int depth) {
  uint64_t b;
  if (!lex_factor(p, out, depth)) return false;
  for (;;) {
    char c = lex_peek(p);
    if (c != '*' && c != '/' && c != '%' && c != '<' && c != '>') return true;
    if (c == '%' && p->at + 1 < p->end && is_word_start(p->at[1])) return true;
    if ((c == '<' || c == '>') && (p->at + 1 >= p->end || p->at[1] != c)) return true;
    p->at += c == '<' || c == '>' ? 2 : 1;
    if (!lex_factor(p, &b, depth)) return false;
    if ((c == '/' || c == '%') && !b) return parse_fail(p, "a division by zero");
    *out = c == '*'   ? *out * b
           : c == '/' ? *out / b
           : c == '%' ? *out % b
           : c == '<' ? *out << (b & 63)
                      : *out >> (b & 63);
  }
}

static bool lex_sum(parser_t* p, uint64_t* out, int depth) {
  uint64_t b;
  if (!lex_product(p, out, depth)) return false;
  for (;;) {
    char c = lex_peek(p);
    if (c != '+' && c != '-' && c != '|' && c != '&' && c != '^') return true;
    ++p->at;
    if (!lex_product(p, &b, depth)) return false;
    *out = c == '+' ? *out + b : c == '-' ? *out - b : c == '|' ? *out | b : c == '&' ? *out & b : *out ^ b;
  }
}

bool lex_integer(parser_t* p, uint64_t* out) { return lex_sum(p, out, 0); }

void lex_string(parser_t* p, word_t* out) {
  *out = (word_t){p->at, 0};
  if (!lex_accept(p, '"')) {
    parse_fail(p, "a string expected");
    return;
  }
  out->text = p->at;
  while (p->at < p->end && *p->at != '"' && *p->at != '\n') ++p->at;
  out->size = (uint32_t)(p->at - out->text);
  lex_expect(p, '"');
}
