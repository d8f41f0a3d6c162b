// See regexp.h. A pattern becomes a program of instructions; where there is a choice the second one is kept, with the
// place in the text, to come back to.
#include "tokenizer/regexp.h"

#include <stdlib.h>

#include "tokenizer/unicode.h"

typedef enum {
  OP_MATCH,
  OP_CODE,    // one code point; y: ignoring case
  OP_SET,     // x: which set
  OP_ANY,     // all but a line's end
  OP_SPLIT,   // goes to x, and later to y
  OP_JUMP,    // goes to x
  OP_BEGIN,   // of a line
  OP_END,     // of a line
  OP_AHEAD,   // what follows up to OP_MATCH must match here, then goes to x; y: must not
  OP_ATOMIC,  // what follows up to OP_MATCH matches as it first does, then goes to x
} op_kind_t;

typedef struct op_t {
  op_kind_t kind;
  uint32_t x, y;
} op_t;

typedef struct range_t {
  uint32_t first, last;
} range_t;

// A class is a tree in postfix order: ranges, categories, spaces, and what is between [^ and ] turned round.
typedef struct set_t {
  uint32_t categories, not_categories;  // \p, \P and all that is made of them
  bool spaces, not_spaces, negated, folded;
  const struct set_t* inner;  // sets within brackets, linked by `beside`
  const struct set_t* beside;
  range_t* ranges;
  size_t range_count;
} set_t;

struct regexp_t {
  op_t* ops;
  size_t op_count;
  const set_t** sets;
  size_t set_count;
};

enum { MAX_OPS = 1 << 16, MAX_SETS = 4096, MAX_RANGES = 256, MAX_DEPTH = 64, MAX_REPEAT = 1000, NO_LIMIT = -1 };
enum { STEPS_PER_BYTE = 4096, LEAST_STEPS = 1 << 20 };

//===----------------------------------------------------------------------------------------------------------------===
// Compiling
//===----------------------------------------------------------------------------------------------------------------===

typedef struct compiler_t {
  iree_string_view_t pattern;
  size_t at;
  store_t* memory;
  bytes_t ops, sets;
  bool folds;  // within (?i:...)
  int depth;
} compiler_t;

static iree_status_t complain(const compiler_t* c, iree_status_code_t code, const char* what) {
  return iree_make_status(code, "pattern `%.*s`, character %zu: %s", (int)iree_min(c->pattern.size, 200),
                          c->pattern.data, c->at, what);
}

static bool ends(const compiler_t* c) { return c->at == c->pattern.size; }
static char peek(const compiler_t* c) { return ends(c) ? 0 : c->pattern.data[c->at]; }

static bool take(compiler_t* c, const char* text) {
  size_t size = strlen(text);
  if (c->pattern.size - c->at < size || memcmp(c->pattern.data + c->at, text, size) != 0) return false;
  c->at += size;
  return true;
}

static size_t op_count(const compiler_t* c) { return c->ops.size / sizeof(op_t); }
static op_t* op_at(compiler_t* c, size_t i) { return (op_t*)c->ops.data + i; }

static iree_status_t put(compiler_t* c, op_kind_t kind, size_t x, size_t y) {
  op_t op = {kind, (uint32_t)x, (uint32_t)y};
  if (op_count(c) >= MAX_OPS) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "the pattern is too large");
  return bytes_append(&c->ops, &op, sizeof(op));
}

// Makes room for one instruction before those from `at` on, and moves what they refer to.
static iree_status_t insert(compiler_t* c, size_t at, op_kind_t kind, size_t x, size_t y) {
  IREE_RETURN_IF_ERROR(put(c, kind, 0, 0));
  size_t count = op_count(c);
  memmove(op_at(c, at + 1), op_at(c, at), (count - 1 - at) * sizeof(op_t));
  for (size_t i = at + 1; i < count; ++i) {
    op_t* op = op_at(c, i);
    bool refers = op->kind >= OP_SPLIT && op->kind != OP_BEGIN && op->kind != OP_END;
    if (refers && op->x >= at) ++op->x;
    if (op->kind == OP_SPLIT && op->y >= at) ++op->y;
  }
  *op_at(c, at) = (op_t){kind, (uint32_t)x, (uint32_t)y};
  return iree_ok_status();
}

static iree_status_t new_set(compiler_t* c, set_t** out) {
  IREE_RETURN_IF_ERROR(store_take(c->memory, 1, sizeof(**out), (void**)out));
  (*out)->folded = c->folds;
  return iree_ok_status();
}

static iree_status_t put_set(compiler_t* c, const set_t* set) {
  size_t index = c->sets.size / sizeof(set);
  if (index >= MAX_SETS) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "the pattern has too many classes");
  IREE_RETURN_IF_ERROR(bytes_append(&c->sets, &set, sizeof(set)));
  return put(c, OP_SET, index, 0);
}

static const struct {
  const char* name;
  uint32_t bits;
} properties[] = {
    {"L", UNICODE_L},
    {"Letter", UNICODE_L},
    {"M", UNICODE_M},
    {"Mark", UNICODE_M},
    {"N", UNICODE_N},
    {"Number", UNICODE_N},
    {"P", UNICODE_P},
    {"Punctuation", UNICODE_P},
    {"Punct", UNICODE_P},
    {"S", UNICODE_S},
    {"Symbol", UNICODE_S},
    {"Z", UNICODE_Z},
    {"Separator", UNICODE_Z},
    {"C", UNICODE_C},
    {"Other", UNICODE_C},
#define PROPERTY(name) {#name, UNICODE_BIT(name)},
    PROPERTY(Cn) PROPERTY(Cc) PROPERTY(Cf) PROPERTY(Co) PROPERTY(Cs) PROPERTY(Ll) PROPERTY(Lm) PROPERTY(Lo) PROPERTY(Lt)
        PROPERTY(Lu) PROPERTY(Mc) PROPERTY(Me) PROPERTY(Mn) PROPERTY(Nd) PROPERTY(Nl) PROPERTY(No) PROPERTY(Pc)
            PROPERTY(Pd) PROPERTY(Pe) PROPERTY(Pf) PROPERTY(Pi) PROPERTY(Po) PROPERTY(Ps) PROPERTY(Sc) PROPERTY(Sk)
                PROPERTY(Sm) PROPERTY(So) PROPERTY(Zl) PROPERTY(Zp) PROPERTY(Zs)
#undef PROPERTY
};

// Behind \p or \P.
static iree_status_t read_property(compiler_t* c, bool negated, set_t* set) {
  size_t start = c->at + 1, end = iree_string_view_find_char(c->pattern, '}', start);
  if (peek(c) != '{' || end == IREE_STRING_VIEW_NPOS) {
    return complain(c, IREE_STATUS_INVALID_ARGUMENT, "\\p needs a name: \\p{L}");
  }
  if (peek(c) == '{' && c->pattern.data[start] == '^') negated = !negated, ++start;
  iree_string_view_t name = iree_string_view_substr(c->pattern, start, end - start);
  for (size_t i = 0; i < IREE_ARRAYSIZE(properties); ++i) {
    if (!iree_string_view_equal(name, iree_make_cstring_view(properties[i].name))) continue;
    c->at = end + 1;
    if (negated) {
      set->categories |= ~properties[i].bits & 0x3FFFFFFFu;
    } else {
      set->categories |= properties[i].bits;
    }
    return iree_ok_status();
  }
  return complain(c, IREE_STATUS_UNIMPLEMENTED, "\\p knows general categories, such as \\p{L} and \\p{Nd}");
}

// Behind a backslash: a class that goes into the set, or a code point.
static iree_status_t read_escape(compiler_t* c, set_t* set, bool* out_is_code, uint32_t* out_code) {
  static const char names[] = "nrtfv0ae", values[] = "\n\r\t\f\v\0\a\x1b";
  *out_is_code = false;
  if (ends(c)) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "the pattern ends within an escape");
  char letter = c->pattern.data[c->at++];
  switch (letter) {
    case 's':
      set->spaces = true;
      return iree_ok_status();
    case 'S':
      set->not_spaces = true;
      return iree_ok_status();
    case 'w':
      set->categories |= UNICODE_WORD;
      return iree_ok_status();
    case 'W':
      set->categories |= ~(uint32_t)UNICODE_WORD & 0x3FFFFFFFu;
      return iree_ok_status();
    case 'd':
      set->categories |= UNICODE_BIT(Nd);
      return iree_ok_status();
    case 'D':
      set->categories |= ~UNICODE_BIT(Nd) & 0x3FFFFFFFu;
      return iree_ok_status();
    case 'p':
      return read_property(c, false, set);
    case 'P':
      return read_property(c, true, set);
    default:
      break;
  }
  *out_is_code = true;
  const char* name = letter ? strchr(names, letter) : NULL;
  if (name) {
    *out_code = (uint8_t)values[name - names];
    return iree_ok_status();
  }
  if (letter == 'x' || letter == 'u') {
    bool braces = take(c, "{");
    size_t most = braces ? 6 : letter == 'u' ? 4 : 2, digits = 0;
    for (*out_code = 0; digits < most && !ends(c) && strchr("0123456789abcdefABCDEF", peek(c)); ++digits) {
      char d = c->pattern.data[c->at++];
      *out_code = *out_code * 16 + (uint32_t)(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
    }
    bool whole = digits && (!braces || take(c, "}")) && *out_code <= 0x10FFFF;
    return whole ? iree_ok_status() : complain(c, IREE_STATUS_INVALID_ARGUMENT, "this is no number of a code point");
  }
  if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '1' && letter <= '9')) {
    return complain(c, IREE_STATUS_UNIMPLEMENTED, "this escape is not known; \\p, \\s, \\w, \\d, \\n, \\x{...} are");
  }
  --c->at;  // punctuation, or the first byte of a code point
  c->at += utf8_decode(c->pattern.data + c->at, c->pattern.size - c->at, out_code);
  return iree_ok_status();
}

// One code point of a class, or a class into the set.
static iree_status_t read_member(compiler_t* c, set_t* set, bool* out_is_code, uint32_t* out_code) {
  *out_is_code = true;
  if (take(c, "\\")) return read_escape(c, set, out_is_code, out_code);
  c->at += utf8_decode(c->pattern.data + c->at, c->pattern.size - c->at, out_code);
  return iree_ok_status();
}

static iree_status_t read_class(compiler_t* c, set_t* set);

static iree_status_t read_members(compiler_t* c, set_t* set, range_t* ranges) {
  for (bool is_first = true; is_first || peek(c) != ']'; is_first = false) {
    uint32_t first = 0, last = 0;
    bool is_code = false;
    if (ends(c)) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "the pattern ends within a class");
    if (take(c, "&&")) return complain(c, IREE_STATUS_UNIMPLEMENTED, "classes are not intersected here");
    if (peek(c) == '[') {
      if (c->pattern.size - c->at > 1 && c->pattern.data[c->at + 1] == ':') {
        return complain(c, IREE_STATUS_UNIMPLEMENTED, "[:name:] is not known; \\p{...} is");
      }
      set_t* inner = NULL;
      ++c->at;
      IREE_RETURN_IF_ERROR(new_set(c, &inner));
      IREE_RETURN_IF_ERROR(read_class(c, inner));
      inner->beside = set->inner;
      set->inner = inner;
      continue;
    }
    IREE_RETURN_IF_ERROR(read_member(c, set, &is_code, &first));
    if (!is_code) continue;
    last = first;
    if (peek(c) == '-' && c->pattern.size - c->at > 1 && c->pattern.data[c->at + 1] != ']') {
      ++c->at;
      IREE_RETURN_IF_ERROR(read_member(c, set, &is_code, &last));
      if (!is_code || last < first) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "a range ends before it begins");
    }
    if (set->range_count == MAX_RANGES) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "a class is too long");
    ranges[set->range_count++] = (range_t){first, last};
  }
  ++c->at;
  return iree_ok_status();
}

// Behind the bracket.
static iree_status_t read_class(compiler_t* c, set_t* set) {
  range_t ranges[MAX_RANGES];
  if (++c->depth > MAX_DEPTH) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "classes are nested too deep");
  set->negated = take(c, "^");
  IREE_RETURN_IF_ERROR(read_members(c, set, ranges));
  IREE_RETURN_IF_ERROR(store_take(c->memory, set->range_count, sizeof(range_t), (void**)&set->ranges));
  if (set->range_count) memcpy(set->ranges, ranges, set->range_count * sizeof(range_t));
  --c->depth;
  return iree_ok_status();
}

static iree_status_t read_alternatives(compiler_t* c);

// Behind "(": up to ")". Sets *out_repeats when a quantifier may follow.
static iree_status_t read_group(compiler_t* c) {
  bool folds = c->folds, is_ahead = false, is_not = false, is_atomic = false;
  size_t start = op_count(c);
  if (take(c, "?=")) {
    is_ahead = true;
  } else if (take(c, "?!")) {
    is_ahead = is_not = true;
  } else if (take(c, "?>")) {
    is_atomic = true;
  } else if (take(c, "?i:")) {
    c->folds = true;
  } else if (take(c, "?i)")) {
    c->folds = true;  // up to the end of the group that this is in
    return iree_ok_status();
  } else if (!take(c, "?:") && peek(c) == '?') {
    return complain(c, IREE_STATUS_UNIMPLEMENTED, "this group is not known; (?:, (?i:, (?=, (?! and (?> are");
  }
  if (++c->depth > MAX_DEPTH) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "groups are nested too deep");
  IREE_RETURN_IF_ERROR(read_alternatives(c));
  --c->depth;
  if (!take(c, ")")) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "a ) is needed");
  c->folds = folds;
  if (!is_ahead && !is_atomic) return iree_ok_status();
  IREE_RETURN_IF_ERROR(put(c, OP_MATCH, 0, 0));
  return insert(c, start, is_ahead ? OP_AHEAD : OP_ATOMIC, op_count(c) + 1, is_not);
}

static iree_status_t read_atom(compiler_t* c) {
  set_t* set = NULL;
  uint32_t code = 0;
  bool is_code = true;
  if (take(c, "(")) return read_group(c);
  if (take(c, "^")) return put(c, OP_BEGIN, 0, 0);
  if (take(c, "$")) return put(c, OP_END, 0, 0);
  if (take(c, ".")) return put(c, OP_ANY, 0, 0);
  if (strchr("*+?{", peek(c))) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "there is nothing to repeat");
  IREE_RETURN_IF_ERROR(new_set(c, &set));
  if (take(c, "[")) {
    IREE_RETURN_IF_ERROR(read_class(c, set));
    return put_set(c, set);
  }
  IREE_RETURN_IF_ERROR(read_member(c, set, &is_code, &code));
  return is_code ? put(c, OP_CODE, code, c->folds) : put_set(c, set);
}

// Appends the instructions [start, end) again.
static iree_status_t repeat(compiler_t* c, size_t start, size_t end) {
  size_t distance = op_count(c) - start;
  for (size_t i = start; i < end; ++i) {
    op_t op = *op_at(c, i);
    bool refers = op.kind >= OP_SPLIT && op.kind != OP_BEGIN && op.kind != OP_END;
    IREE_RETURN_IF_ERROR(
        put(c, op.kind, refers ? op.x + distance : op.x, op.kind == OP_SPLIT ? op.y + distance : op.y));
  }
  return iree_ok_status();
}

static iree_status_t put_choice(compiler_t* c, size_t at, size_t enter, size_t leave, bool is_lazy) {
  return insert(c, at, OP_SPLIT, is_lazy ? leave : enter, is_lazy ? enter : leave);
}

// What stands from `start` on, `least` to `most` times.
static iree_status_t put_repeats(compiler_t* c, size_t start, int least, int most, bool is_lazy) {
  size_t end = op_count(c), size = end - start;
  for (int i = 1; i < least; ++i) IREE_RETURN_IF_ERROR(repeat(c, start, end));
  if (most == NO_LIMIT && least) {
    size_t last = op_count(c) - size, next = op_count(c) + 1;
    return put(c, OP_SPLIT, is_lazy ? next : last, is_lazy ? last : next);
  }
  if (most == NO_LIMIT) {
    IREE_RETURN_IF_ERROR(put_choice(c, start, start + 1, end + 2, is_lazy));
    return put(c, OP_JUMP, start, 0);
  }
  for (int i = least; i < most; ++i) {
    size_t copy = op_count(c);
    if (i) {
      IREE_RETURN_IF_ERROR(repeat(c, start, end));
    } else {
      copy = start;  // the first is there
    }
    IREE_RETURN_IF_ERROR(put_choice(c, copy, copy + 1, copy + size + 1, is_lazy));
    if (!i) ++start, ++end;
  }
  return iree_ok_status();
}

static bool read_number(compiler_t* c, int* out) {
  size_t start = c->at;
  for (*out = 0; peek(c) >= '0' && peek(c) <= '9' && *out <= MAX_REPEAT; ++c->at) *out = *out * 10 + (peek(c) - '0');
  return c->at > start && *out <= MAX_REPEAT;
}

static bool read_counts(compiler_t* c, int* out_least, int* out_most) {
  if (take(c, "*")) return *out_least = 0, *out_most = NO_LIMIT, true;
  if (take(c, "+")) return *out_least = 1, *out_most = NO_LIMIT, true;
  if (take(c, "?")) return *out_least = 0, *out_most = 1, true;
  size_t start = c->at;
  if (!take(c, "{")) return false;
  bool has_least = read_number(c, out_least), has_most = true;
  *out_most = *out_least;
  if (take(c, ",")) {
    has_most = read_number(c, out_most);
    if (!has_most) *out_most = NO_LIMIT;
  }
  if ((has_least || has_most) && take(c, "}")) return true;
  c->at = start;
  return false;
}

// Whether instructions may match nothing: then their repetition would go on for ever.
static bool may_be_empty(compiler_t* c, size_t start, size_t end) {
  // Forward only; a path that reaches the end without a code point.
  if (start == end) return true;
  for (size_t at = start; at < end;) {
    const op_t* op = op_at(c, at);
    switch (op->kind) {
      case OP_CODE:
      case OP_SET:
      case OP_ANY:
      case OP_MATCH:
        return false;
      case OP_BEGIN:
      case OP_END:
        ++at;
        break;
      case OP_JUMP:
      case OP_AHEAD:
        if (op->x <= at) return false;
        at = op->x;
        break;
      case OP_ATOMIC:
        if (may_be_empty(c, at + 1, op->x - 1)) {
          at = op->x;
          break;
        }
        return false;
      case OP_SPLIT: {
        uint32_t x = op->x, y = op->y;
        if (x > at && may_be_empty(c, x, end)) return true;
        if (y <= at) return false;
        at = y;
        break;
      }
    }
  }
  return true;
}

static iree_status_t read_piece(compiler_t* c) {
  size_t start = op_count(c);
  int least = 0, most = 0;
  IREE_RETURN_IF_ERROR(read_atom(c));
  while (read_counts(c, &least, &most)) {
    bool is_lazy = take(c, "?"), is_atomic = !is_lazy && take(c, "+");
    if (most != NO_LIMIT && most < least) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "{m,n} needs m <= n");
    if (most == NO_LIMIT && may_be_empty(c, start, op_count(c))) {
      return complain(c, IREE_STATUS_UNIMPLEMENTED, "what may be empty is repeated without an end");
    }
    if (most == 0) return complain(c, IREE_STATUS_UNIMPLEMENTED, "{0} matches nothing");
    IREE_RETURN_IF_ERROR(put_repeats(c, start, least, most, is_lazy));
    if (is_atomic) {
      IREE_RETURN_IF_ERROR(put(c, OP_MATCH, 0, 0));
      IREE_RETURN_IF_ERROR(insert(c, start, OP_ATOMIC, op_count(c) + 1, 0));
    }
  }
  return iree_ok_status();
}

static iree_status_t read_sequence(compiler_t* c) {
  while (!ends(c) && peek(c) != '|' && peek(c) != ')') IREE_RETURN_IF_ERROR(read_piece(c));
  return iree_ok_status();
}

static iree_status_t read_alternatives(compiler_t* c) {
  size_t start = op_count(c);
  IREE_RETURN_IF_ERROR(read_sequence(c));
  if (!take(c, "|")) return iree_ok_status();
  // SPLIT first, others; first; JUMP end; others; end
  IREE_RETURN_IF_ERROR(insert(c, start, OP_SPLIT, start + 1, op_count(c) + 2));
  size_t jump = op_count(c);
  IREE_RETURN_IF_ERROR(put(c, OP_JUMP, 0, 0));
  if (++c->depth > 1024) return complain(c, IREE_STATUS_RESOURCE_EXHAUSTED, "there are too many alternatives");
  IREE_RETURN_IF_ERROR(read_alternatives(c));
  --c->depth;
  op_at(c, jump)->x = (uint32_t)op_count(c);
  return iree_ok_status();
}

static iree_status_t compile(compiler_t* c, regexp_t* out) {
  IREE_RETURN_IF_ERROR(read_alternatives(c));
  if (!ends(c)) return complain(c, IREE_STATUS_INVALID_ARGUMENT, "a ) has no (");
  IREE_RETURN_IF_ERROR(put(c, OP_MATCH, 0, 0));
  out->op_count = op_count(c);
  out->set_count = c->sets.size / sizeof(set_t*);
  IREE_RETURN_IF_ERROR(store_take(c->memory, out->op_count, sizeof(op_t), (void**)&out->ops));
  IREE_RETURN_IF_ERROR(store_take(c->memory, out->set_count, sizeof(set_t*), (void**)&out->sets));
  memcpy(out->ops, c->ops.data, c->ops.size);
  if (c->sets.size) memcpy(out->sets, c->sets.data, c->sets.size);
  return iree_ok_status();
}

iree_status_t regexp_compile(iree_string_view_t pattern, store_t* memory, const regexp_t** out_regex) {
  compiler_t c = {.pattern = pattern, .memory = memory};
  c.ops = c.sets = bytes_make(memory->allocator);
  regexp_t* regex = NULL;
  iree_status_t status = store_take(memory, 1, sizeof(*regex), (void**)&regex);
  if (iree_status_is_ok(status)) status = compile(&c, regex);
  bytes_free(&c.ops);
  bytes_free(&c.sets);
  *out_regex = regex;
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Matching
//===----------------------------------------------------------------------------------------------------------------===

// For comparisons without case: the small letter, and the long s and the Kelvin sign as their letters.
static uint32_t fold(uint32_t code) {
  uint32_t small[2];
  unicode_lower(code, small);
  return code == 0x17F ? 's' : small[0];
}

static bool set_has(const set_t* set, uint32_t code) {
  bool found = (set->spaces && unicode_is_space(code)) || (set->not_spaces && !unicode_is_space(code));
  found = found || (set->categories && (set->categories & unicode_category_bit(code)));
  for (size_t i = 0; i < set->range_count && !found; ++i) {
    found = code >= set->ranges[i].first && code <= set->ranges[i].last;
    if (!found && set->folded && set->ranges[i].first == set->ranges[i].last) {
      found = fold(code) == fold(set->ranges[i].first);
    }
  }
  for (const set_t* inner = set->inner; inner && !found; inner = inner->beside) found = set_has(inner, code);
  return found != set->negated;
}

typedef struct choice_t {
  uint32_t op;
  size_t at;
} choice_t;

typedef struct matcher_t {
  const regexp_t* regex;
  iree_string_view_t text;
  bytes_t choices;
  uint64_t steps_left;
} matcher_t;

static bool step_one(const matcher_t* m, const op_t* op, size_t* at) {
  uint32_t code = 0;
  if (*at == m->text.size) return false;
  size_t length = utf8_decode(m->text.data + *at, m->text.size - *at, &code);
  bool fits = op->kind == OP_ANY   ? code != '\n'
              : op->kind == OP_SET ? set_has(m->regex->sets[op->x], code)
                                   : code == op->x || (op->y && fold(code) == fold(op->x));
  if (fits) *at += length;
  return fits;
}

static bool is_line_begin(const matcher_t* m, size_t at) { return !at || m->text.data[at - 1] == '\n'; }
static bool is_line_end(const matcher_t* m, size_t at) { return at == m->text.size || m->text.data[at] == '\n'; }

// Runs from `op` to an OP_MATCH: *out_end is where that was.
static iree_status_t run(matcher_t* m, uint32_t pc, size_t at, int depth, bool* out_found, size_t* out_end) {
  size_t base = m->choices.size;
  *out_found = false;
  if (depth > MAX_DEPTH) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a pattern is nested too deep");
  for (;;) {
    const op_t* op = &m->regex->ops[pc];
    bool fits = true, inner = false;
    size_t end = 0;
    if (!m->steps_left--) {
      m->steps_left = 0;
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a pattern takes too many steps on %zu bytes of text",
                              m->text.size);
    }
    switch (op->kind) {
      case OP_MATCH:
        *out_found = true;
        *out_end = at;
        m->choices.size = base;
        return iree_ok_status();
      case OP_CODE:
      case OP_SET:
      case OP_ANY:
        fits = step_one(m, op, &at);
        ++pc;
        break;
      case OP_SPLIT: {
        choice_t choice = {op->y, at};
        IREE_RETURN_IF_ERROR(bytes_append(&m->choices, &choice, sizeof(choice)));
        pc = op->x;
        break;
      }
      case OP_JUMP:
        pc = op->x;
        break;
      case OP_BEGIN:
        fits = is_line_begin(m, at);
        ++pc;
        break;
      case OP_END:
        fits = is_line_end(m, at);
        ++pc;
        break;
      case OP_AHEAD:
      case OP_ATOMIC:
        IREE_RETURN_IF_ERROR(run(m, pc + 1, at, depth + 1, &inner, &end));
        fits = op->kind == OP_ATOMIC ? inner : inner != (bool)op->y;
        if (op->kind == OP_ATOMIC && inner) at = end;
        pc = op->x;
        break;
    }
    if (fits) continue;
    if (m->choices.size == base) return iree_ok_status();
    choice_t choice;
    m->choices.size -= sizeof(choice);
    memcpy(&choice, m->choices.data + m->choices.size, sizeof(choice));
    pc = choice.op;
    at = choice.at;
  }
}

iree_status_t regexp_find(const regexp_t* regex, iree_string_view_t text, size_t from, iree_allocator_t allocator,
                          bool* out_found, size_t* out_start, size_t* out_end) {
  matcher_t m = {.regex = regex, .text = text, .choices = bytes_make(allocator)};
  m.steps_left = LEAST_STEPS + (uint64_t)(text.size - from) * STEPS_PER_BYTE;
  iree_status_t status = iree_ok_status();
  *out_found = false;
  for (size_t at = from; at < text.size && !*out_found && iree_status_is_ok(status);) {
    uint32_t code = 0;
    status = run(&m, 0, at, 0, out_found, out_end);
    *out_start = at;
    if (*out_found && *out_end == at) *out_found = false;  // an empty match divides nothing
    at += utf8_decode(text.data + at, text.size - at, &code);
  }
  bytes_free(&m.choices);
  return status;
}
