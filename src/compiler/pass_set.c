// See pass_set.h.
#include "compiler/pass_set.h"

#include <string.h>

#include "compiler/flags.h"

static const struct {
  const char *name, *pass, *instead;
} rows[] = {
#define SAME(name, pass) {name, pass, NULL},
#define INSTEAD(name, sentence) {name, NULL, sentence},
#include "compiler/pass_names.def"
#undef SAME
#undef INSTEAD
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

// The first row that fits, or -1.
static int find_row(const char* name, size_t size) {
  for (int i = 0; i < ROW_COUNT; ++i) {
    if (iree_string_view_match_pattern(iree_make_string_view(name, size), iree_make_cstring_view(rows[i].name)))
      return i;
  }
  return -1;
}

const char* pass_name_same(const char* name, size_t size) {
  int row = find_row(name, size);
  return row >= 0 ? rows[row].pass : NULL;
}

const char* pass_name_instead(const char* name, size_t size, bool* out_exact) {
  int row = find_row(name, size);
  if (row < 0) return compiler_flags_instead(name, size, out_exact);
  *out_exact = !strchr(rows[row].name, '*');
  return rows[row].instead;
}

static bool refuse(const pass_set_t* set, const char* name, size_t size, text_t* error) {
  bool exact = false;
  const char* instead = pass_name_instead(name, size, &exact);
  near_t near = near_begin(name, size);
  set->offer(set->user, &near);
  text_printf(error, "unknown pass '%.*s'", (int)size, name);
  if (instead) {
    text_printf(error, ", which is IREE's and not here: %s", instead);
  } else if (near_result(&near)) {
    text_printf(error, "; did you mean '%s'?", near_result(&near));
  }
  return false;
}

bool pass_set_add(const pass_set_t* set, const char* name, size_t size, text_t* error) {
  if (set->add(set->user, name, size)) return true;
  const char* same = pass_name_same(name, size);
  if (!same) return refuse(set, name, size, error);
  if (set->add(set->user, same, strlen(same))) return true;
  text_printf(error, "'%.*s' is '%s', which cannot run here", (int)size, name, same);
  return false;
}

// What ends the text of an option: a blank, or the brace that was open before it.
static size_t option_size(const char* text) {
  size_t size = 0;
  uint32_t depth = 0;
  for (; text[size] && (depth || !strchr(" \t\n}", text[size])); ++size) {
    depth += text[size] == '{';
    depth -= text[size] == '}';
  }
  return size;
}

// Behind a pass's name: {option=text ...}
static bool read_options(const pass_set_t* set, const char** at, const char* name, size_t size, text_t* error) {
  static const char blanks[] = " \t\n";
  if (**at != '{') return true;
  for (*at += 1 + strspn(*at + 1, blanks); **at != '}'; *at += strspn(*at, blanks)) {
    size_t length = strcspn(*at, "= \t\n{}"), whole = option_size(*at);
    const char* known = set->option ? set->option(set->user) : NULL;
    if (!**at || !whole) {
      text_printf(error, "pass '%.*s': '{' without '}'", (int)size, name);
      return false;
    }
    bool fits = known && strlen(known) == length && strncmp(known, *at, length) == 0 && (*at)[length] == '=';
    if (!fits) {
      text_printf(error, "pass '%.*s' has no option '%.*s'", (int)size, name, (int)length, *at);
      if (known) text_printf(error, "; it has %s=...", known);
      if (!known) text_puts(error, ", nor any; flags of iree-compile say what passes compile for");
      return false;
    }
    set->set(set->user, *at + length + 1, whole - length - 1);
    *at += whole;
  }
  ++*at;
  return true;
}

static bool is_anchor(const char* name, size_t size) {
  return memchr(name, '.', size) || (size == 3 && memcmp(name, "any", 3) == 0);
}

bool pass_set_read(const pass_set_t* set, const char* text, text_t* error) {
  static const char separators[] = ",(){} \n\t";
  uint32_t depth = 0;
  for (const char* at = text; *at;) {
    size_t size = strcspn(at, separators);
    const char* name = at;
    at += size;
    if (size && *at == '(') {
      if (!is_anchor(name, size)) {
        text_printf(error, "'%.*s(': passes stand in ops, as in builtin.module(cse)", (int)size, name);
        return false;
      }
      ++depth, ++at;
    } else if (size) {
      if (!pass_set_add(set, name, size, error) || !read_options(set, &at, name, size, error)) return false;
    } else if (*at == ')' && depth) {
      --depth, ++at;
    } else if (*at == ',' || *at == ' ' || *at == '\n' || *at == '\t') {
      ++at;
    } else {
      text_printf(error, "pipeline has a '%c' too many: '%s'", *at, text);
      return false;
    }
  }
  if (!depth) return true;
  text_printf(error, "pipeline lacks ')': '%s'", text);
  return false;
}
