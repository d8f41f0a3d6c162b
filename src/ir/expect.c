// See expect.h.
#include "ir/expect.h"

#include <string.h>

#include "base/memory.h"

typedef struct expected_t {
  struct expected_t* next;
  ir_severity_t severity;
  uint32_t line;  // 0: without a place
  const char* text;
  size_t size;
  bool seen;
} expected_t;

struct expect_t {
  expected_t* first;
  expected_t** last;
  text_t unexpected;
};

static const char* const kinds[] = {"error", "warning", "remark", "note"};

static bool take(const char** at, const char* end, const char* word) {
  size_t size = strlen(word);
  if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0) return false;
  *at += size;
  return true;
}

static void skip_spaces(const char** at, const char* end) {
  while (*at < end && **at == ' ') ++*at;
}

// @+1, @-2, @below, @above, @unknown
static bool parse_place(const char** at, const char* end, uint32_t here, uint32_t* line) {
  *line = here;
  skip_spaces(at, end);
  if (!take(at, end, "@")) return true;
  if (take(at, end, "unknown")) return *line = 0, true;
  if (take(at, end, "below")) return *line = here + 1, true;
  if (take(at, end, "above")) return *line = here - 1, true;
  bool minus = take(at, end, "-");
  if (!minus && !take(at, end, "+")) return false;
  uint32_t offset = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at) offset = offset * 10 + (uint32_t)(**at - '0');
  *line = minus ? here - offset : here + offset;
  return true;
}

// Behind `expected-`.
static bool parse_one(expect_t* expect, const char* at, const char* end, uint32_t line) {
  expected_t e = {0};
  int kind = 0;
  while (kind < 4 && !take(&at, end, kinds[kind])) ++kind;
  if (kind == 4 || !parse_place(&at, end, line, &e.line)) return false;
  skip_spaces(&at, end);
  if (!take(&at, end, "{{")) return false;
  const char* close = memmem(at, (size_t)(end - at), "}}", 2);
  if (!close) return false;
  e.severity = (ir_severity_t)kind;
  e.text = at;
  e.size = (size_t)(close - at);
  expected_t* copy = memory_alloc(sizeof(e));
  *copy = e;
  *expect->last = copy;
  expect->last = &copy->next;
  return true;
}

expect_t* expect_create(const char* text, size_t size, text_t* problem) {
  expect_t* expect = memory_alloc(sizeof(*expect));
  expect->last = &expect->first;
  const char *at = text, *end = text + size;
  for (uint32_t line = 1; at < end; ++line) {
    const char* newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end, *found = at;
    while ((found = memmem(found, (size_t)(stop - found), "expected-", 9))) {
      found += 9;
      if (parse_one(expect, found, stop, line)) continue;
      text_printf(problem, "line %u: expected-... comment is malformed\n", line);
      expect_destroy(expect);
      return NULL;
    }
    at = stop + 1;
  }
  return expect;
}

void expect_destroy(expect_t* expect) {
  if (!expect) return;
  for (expected_t *e = expect->first, *next; e; e = next) {
    next = e->next;
    memory_free(e);
  }
  text_finish(&expect->unexpected);
  memory_free(expect);
}

void expect_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                       const char* rendered) {
  expect_t* expect = user;
  const ir_loc_t* file = loc ? ir_loc_find_file(loc) : NULL;
  uint32_t line = file ? file->line : 0;
  for (expected_t* e = expect->first; e; e = e->next) {
    if (e->seen || e->severity != severity || e->line != line) continue;
    if (!memmem(text, strlen(text), e->text, e->size)) continue;
    e->seen = true;
    return;
  }
  if (severity == IR_NOTE || severity == IR_REMARK) return;
  text_printf(&expect->unexpected, "unexpected: %s\n", rendered);
}

bool expect_finish(expect_t* expect, const char* path, bool no_others, text_t* problem) {
  bool ok = expect->unexpected.size == 0 || !no_others;
  if (!ok) text_append(problem, expect->unexpected.data, expect->unexpected.size);
  for (const expected_t* e = expect->first; e; e = e->next) {
    if (e->seen) continue;
    text_printf(problem, "%s:%u: expected %s \"%.*s\" was not produced\n", path, e->line, kinds[e->severity],
                (int)e->size, e->text);
    ok = false;
  }
  return ok;
}
