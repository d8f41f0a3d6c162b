// Reads regular expressions in RE2's syntax. What a string matches as a whole does not depend on which of several ways
// is tried first, so that greedy and lazy repetitions are the same here, and groups are only parentheses.
#include "import/onnx/regex.h"

#include <string.h>

#include "import/onnx/letter_case.h"
#include "import/onnx/strings.h"

enum { MAX_DEPTH = 200, MAX_REPEAT = 1000, LAST = ONNX_CODE_POINTS - 1 };

typedef struct flags_t {
  bool ignore_case, any_newline, lines;  // i, s, m
} flags_t;

typedef struct reader_t {
  arena_t* arena;
  const int32_t* text;
  int64_t at, size;
  flags_t flags;
  uint32_t depth;
  bool quoted;  // within \Q and \E
  const char* error;
} reader_t;

static regex_node_t* parse_either(reader_t* r);

static bool fail(reader_t* r, const char* what) {
  if (!r->error) r->error = arena_printf(r->arena, "%s at character %lld", what, (long long)r->at);
  return false;
}

static int32_t peek(const reader_t* r, int64_t ahead) { return r->at + ahead < r->size ? r->text[r->at + ahead] : -1; }

static bool eat(reader_t* r, const char* text) {
  int64_t size = (int64_t)strlen(text);
  for (int64_t i = 0; i < size; ++i) {
    if (peek(r, i) != text[i]) return false;
  }
  r->at += size;
  return true;
}

static regex_node_t* node(reader_t* r, regex_kind_t kind) {
  regex_node_t* n = ARENA_NEW(r->arena, regex_node_t);
  n->kind = kind;
  return n;
}

static regex_node_t* pair(reader_t* r, regex_kind_t kind, regex_node_t* left, regex_node_t* right) {
  regex_node_t* n = node(r, kind);
  n->left = left, n->right = right;
  return n;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sets of characters
//===----------------------------------------------------------------------------------------------------------------===

// Keeps the ranges ascending and apart.
static void add_range(reader_t* r, regex_set_t* s, int32_t first, int32_t last) {
  uint32_t from = 0, to;
  while (from < s->count && s->ranges[from].last < first - 1) ++from;
  for (to = from; to < s->count && s->ranges[to].first <= last + 1; ++to) {
    if (s->ranges[to].first < first) first = s->ranges[to].first;
    if (s->ranges[to].last > last) last = s->ranges[to].last;
  }
  if (s->count + 1 > s->capacity) {
    s->capacity = 2 * s->capacity + 8;
    regex_range_t* ranges = ARENA_ARRAY(r->arena, regex_range_t, s->capacity);
    if (s->count) memcpy(ranges, s->ranges, sizeof(*ranges) * s->count);
    s->ranges = ranges;
  }
  memmove(s->ranges + from + 1, s->ranges + to, sizeof(*s->ranges) * (s->count - to));
  s->count = s->count - (to - from) + 1;
  s->ranges[from] = (regex_range_t){first, last};
}

static regex_set_t negated(reader_t* r, const regex_set_t* s) {
  regex_set_t out = {0};
  int32_t next = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    if (s->ranges[i].first > next) add_range(r, &out, next, s->ranges[i].first - 1);
    next = s->ranges[i].last + 1;
  }
  if (next <= LAST) add_range(r, &out, next, LAST);
  return out;
}

static void add_set(reader_t* r, regex_set_t* s, const regex_set_t* other) {
  for (uint32_t i = 0; i < other->count; ++i) add_range(r, s, other->ranges[i].first, other->ranges[i].last);
}

// Every character that is the same but for its case as one of the set.
static void fold_case(reader_t* r, regex_set_t* s) {
  enum { CASED = 0x1f000 };
  regex_set_t seen = {0};
  add_set(r, &seen, s);
  for (uint32_t i = 0; i < seen.count; ++i) {
    for (int32_t c = seen.ranges[i].first; c <= seen.ranges[i].last && c < CASED; ++c) {
      int32_t low = letter_in_case(c, LETTER_LOWER), up = letter_in_case(c, LETTER_UPPER);
      if (low != c) add_range(r, s, low, low);
      if (up != c) add_range(r, s, up, up);
    }
  }
}

typedef struct named_set_t {
  const char* name;
  regex_range_t ranges[8];
} named_set_t;

// Perl's and POSIX's, which are of ASCII.
static const named_set_t named_sets[] = {
    {"d", {{'0', '9'}}},
    {"s", {{9, 10}, {12, 13}, {' ', ' '}}},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", {{0, 127}}},
    {"blank", {{9, 9}, {' ', ' '}}},
    {"cntrl", {{0, 31}, {127, 127}}},
    {"digit", {{'0', '9'}}},
    {"graph", {{'!', '~'}}},
    {"lower", {{'a', 'z'}}},
    {"print", {{' ', '~'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{9, 13}, {' ', ' '}}},
    {"upper", {{'A', 'Z'}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
};

static bool add_named(reader_t* r, const char* name, bool negate, regex_set_t* out) {
  for (size_t i = 0; i < sizeof(named_sets) / sizeof(*named_sets); ++i) {
    regex_set_t set = {0};
    if (strcmp(named_sets[i].name, name) != 0) continue;
    for (int k = 0; k < 8 && named_sets[i].ranges[k].last; ++k)
      add_range(r, &set, named_sets[i].ranges[k].first, named_sets[i].ranges[k].last);
    if (r->flags.ignore_case) fold_case(r, &set);
    if (negate) set = negated(r, &set);
    return add_set(r, out, &set), true;
  }
  return fail(r, "an unknown class of characters");
}

//===----------------------------------------------------------------------------------------------------------------===
// Escapes and brackets
//===----------------------------------------------------------------------------------------------------------------===

static int32_t digit_of(int32_t c, int32_t base) {
  int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : 99;
  return digit < base ? digit : -1;
}

// \x7F, \x{10FFFF}, \123: after the backslash and the x.
static bool read_code(reader_t* r, int32_t base, bool braced, int64_t most, int32_t* out) {
  int64_t count = 0;
  for (*out = 0; count < most && digit_of(peek(r, 0), base) >= 0; ++count)
    *out = *out * base + digit_of(r->text[r->at++], base);
  if (!count || *out > LAST || (braced && !eat(r, "}"))) return fail(r, "not the number of a character");
  return true;
}

// An escaped character, after the backslash.
static bool read_escape(reader_t* r, int32_t* out) {
  static const char letters[] = "aftnrv", meant[] = "\a\f\t\n\r\v";
  int32_t c = peek(r, 0);
  if (c < 0) return fail(r, "nothing behind the backslash");
  const char* letter = c < 128 ? strchr(letters, c) : NULL;
  if (c == 'x') {
    ++r->at;
    bool braced = eat(r, "{");
    return read_code(r, 16, braced, braced ? 6 : 2, out);
  }
  if (c == '0' || (c >= '1' && c <= '7' && digit_of(peek(r, 1), 8) >= 0)) return read_code(r, 8, false, 3, out);
  bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (word && !letter) return fail(r, c == 'p' || c == 'P' ? "\\p, which is not supported," : "an unknown escape");
  ++r->at;
  return *out = letter && c ? meant[letter - letters] : c, true;
}

// \d and its like. False when it is none.
static bool try_class(reader_t* r, regex_set_t* out) {
  char name[2] = {0};
  int32_t c = peek(r, 1);
  if (peek(r, 0) != '\\' || c < 0 || c > 127 || !strchr("dDsSwW", c) || !c) return false;
  name[0] = (char)(c | 0x20);
  r->at += 2;
  return add_named(r, name, !(c & 0x20), out);
}

// [:alpha:] or [:^alpha:]. False when it is none.
static bool try_posix(reader_t* r, regex_set_t* out) {
  char name[8] = {0};
  int64_t end = 2, size = 0;
  if (peek(r, 0) != '[' || peek(r, 1) != ':') return false;
  bool negate = peek(r, end) == '^';
  for (end += negate; size < 7 && peek(r, end) >= 'a' && peek(r, end) <= 'z'; ++end) name[size++] = (char)peek(r, end);
  if (peek(r, end) != ':' || peek(r, end + 1) != ']') return false;
  if (add_named(r, name, negate, out)) r->at += end + 2;
  return true;
}

static bool read_member(reader_t* r, int32_t* out) {
  if (r->at >= r->size) return fail(r, "a [ without ]");
  if (eat(r, "\\")) return read_escape(r, out);
  return *out = r->text[r->at++], true;
}

// After the [.
static regex_node_t* parse_brackets(reader_t* r) {
  regex_node_t* n = node(r, REGEX_SET);
  bool negate = eat(r, "^");
  for (bool first = true; first || peek(r, 0) != ']'; first = false) {
    int32_t low, high;
    bool named = try_class(r, &n->set) || try_posix(r, &n->set);
    if (r->error) return NULL;
    if (named) continue;
    if (!read_member(r, &low)) return NULL;
    high = low;
    if (peek(r, 0) == '-' && peek(r, 1) != ']' && peek(r, 1) >= 0) {
      ++r->at;
      if (!read_member(r, &high)) return NULL;
      if (high < low) return fail(r, "a range that runs backwards"), NULL;
    }
    add_range(r, &n->set, low, high);
  }
  ++r->at;
  if (r->flags.ignore_case) fold_case(r, &n->set);
  if (negate) n->set = negated(r, &n->set);
  return r->error ? NULL : n;
}

//===----------------------------------------------------------------------------------------------------------------===
// Expressions
//===----------------------------------------------------------------------------------------------------------------===

static regex_node_t* character(reader_t* r, int32_t c) {
  regex_node_t* n = node(r, REGEX_SET);
  add_range(r, &n->set, c, c);
  if (r->flags.ignore_case) fold_case(r, &n->set);
  return n;
}

static regex_node_t* assertion(reader_t* r, regex_assertion_t what) {
  regex_node_t* n = node(r, REGEX_ASSERT);
  n->assertion = what;
  return n;
}

// (?ims-U) and (?i:...), after the question mark. `*group` is whether an expression follows.
static bool read_flags(reader_t* r, bool* group) {
  bool on = true;
  for (;;) {
    int32_t c = peek(r, 0);
    if (c == 'i') r->flags.ignore_case = on;
    if (c == 'm') r->flags.lines = on;
    if (c == 's') r->flags.any_newline = on;
    if (c == '-') on = false;
    if (c < 0 || c > 127 || !c || !strchr("imsU-:)", c)) return fail(r, "an unknown kind of group");
    ++r->at;
    if (c == ':' || c == ')') return *group = c == ':', true;
  }
}

static bool skip_name(reader_t* r) {
  if (!eat(r, "?P<") && !eat(r, "?<")) return false;
  while (digit_of(peek(r, 0), 10) >= 0 || peek(r, 0) == '_' || (peek(r, 0) | 0x20) >= 'a') {
    if ((peek(r, 0) | 0x20) > 'z') break;
    ++r->at;
  }
  if (!eat(r, ">")) fail(r, "not the name of a group");
  return true;
}

// After the (.
static regex_node_t* parse_group(reader_t* r) {
  flags_t outside = r->flags;
  bool group = true;
  if (!skip_name(r) && eat(r, "?") && !read_flags(r, &group)) return NULL;
  if (r->error) return NULL;
  if (!group) return node(r, REGEX_EMPTY);  // the flags hold to the end of the enclosing group
  regex_node_t* inner = parse_either(r);
  r->flags = outside;
  if (inner && !eat(r, ")")) return fail(r, "a ( without )"), NULL;
  return inner;
}

static regex_node_t* parse_backslash(reader_t* r) {
  static const struct {
    const char* text;
    regex_assertion_t what;
  } assertions[] = {
      {"\\A", REGEX_TEXT_BEGIN}, {"\\z", REGEX_TEXT_END}, {"\\b", REGEX_WORD_EDGE}, {"\\B", REGEX_NO_WORD_EDGE}};
  regex_node_t* n = node(r, REGEX_SET);
  int32_t c;
  for (size_t i = 0; i < sizeof(assertions) / sizeof(*assertions); ++i) {
    if (eat(r, assertions[i].text)) return assertion(r, assertions[i].what);
  }
  if (try_class(r, &n->set)) return n;
  ++r->at;
  return read_escape(r, &c) ? character(r, c) : NULL;
}

static regex_node_t* parse_atom(reader_t* r) {
  int32_t c = peek(r, 0);
  if (c == '\\') return parse_backslash(r);
  ++r->at;
  if (c == '(') return parse_group(r);
  if (c == '[') return parse_brackets(r);
  if (c == '^') return assertion(r, r->flags.lines ? REGEX_LINE_BEGIN : REGEX_TEXT_BEGIN);
  if (c == '$') return assertion(r, r->flags.lines ? REGEX_LINE_END : REGEX_TEXT_END);
  if (c == '*' || c == '+' || c == '?') return fail(r, "nothing to repeat"), NULL;
  if (c != '.') return character(r, c);
  regex_node_t* any = node(r, REGEX_SET);
  if (!r->flags.any_newline) add_range(r, &any->set, '\n', '\n');
  any->set = negated(r, &any->set);
  return any;
}

// A decimal number; false when there is none.
static bool read_count(reader_t* r, int32_t* out) {
  int64_t from = r->at;
  for (*out = 0; digit_of(peek(r, 0), 10) >= 0; ++r->at) {
    if (*out <= MAX_REPEAT) *out = *out * 10 + digit_of(peek(r, 0), 10);
  }
  return r->at > from;
}

// {2}, {2,} or {2,5}; anything else is characters. False after an error.
static bool try_braces(reader_t* r, int32_t* least, int32_t* most, bool* found) {
  int64_t start = r->at;
  *found = eat(r, "{") && read_count(r, least);
  *most = *least;
  if (*found && eat(r, ",") && !read_count(r, most)) *most = -1;
  *found = *found && eat(r, "}");
  if (!*found) return r->at = start, true;
  bool fits = *least <= MAX_REPEAT && *most <= MAX_REPEAT && (*most < 0 || *most >= *least);
  return fits || fail(r, "a number of repetitions that is not supported");
}

static bool read_repeat(reader_t* r, int32_t* least, int32_t* most, bool* found) {
  *found = true;
  if (eat(r, "*")) return *least = 0, *most = -1, true;
  if (eat(r, "+")) return *least = 1, *most = -1, true;
  if (eat(r, "?")) return *least = 0, *most = 1, true;
  return try_braces(r, least, most, found);
}

// A character of what is between \Q and \E, or an atom, with its repetitions.
static regex_node_t* parse_repeat(reader_t* r) {
  regex_node_t* n = r->quoted ? character(r, r->text[r->at++]) : parse_atom(r);
  if (r->quoted && !eat(r, "\\E")) return n;
  r->quoted = false;
  for (int times = 0; n; ++times) {
    int32_t least, most;
    bool found;
    if (!read_repeat(r, &least, &most, &found)) return NULL;
    if (!found) return n;
    if (times) return fail(r, "a repetition of a repetition"), NULL;
    eat(r, "?");
    n = pair(r, REGEX_REPEAT, n, NULL);
    n->least = least, n->most = most;
  }
  return NULL;
}

static regex_node_t* parse_chain(reader_t* r) {
  regex_node_t* n = node(r, REGEX_EMPTY);
  while (n && r->at < r->size && (r->quoted || (peek(r, 0) != '|' && peek(r, 0) != ')'))) {
    if (!r->quoted && eat(r, "\\Q")) {
      r->quoted = !eat(r, "\\E");
      continue;
    }
    regex_node_t* next = parse_repeat(r);
    n = next ? pair(r, REGEX_CHAIN, n, next) : NULL;
  }
  return n;
}

static regex_node_t* parse_either(reader_t* r) {
  if (++r->depth > MAX_DEPTH) return fail(r, "groups that nest too deep"), NULL;
  regex_node_t* n = parse_chain(r);
  while (n && eat(r, "|")) {
    regex_node_t* other = parse_chain(r);
    n = other ? pair(r, REGEX_EITHER, n, other) : NULL;
  }
  --r->depth;
  return n;
}

regex_node_t* regex_parse(arena_t* arena, const int32_t* pattern, int64_t size, const char** error) {
  reader_t r = {.arena = arena, .text = pattern, .size = size};
  regex_node_t* n = parse_either(&r);
  if (n && r.at < r.size) n = fail(&r, "a ) without (") ? n : NULL;
  *error = r.error;
  return r.error ? NULL : n;
}
