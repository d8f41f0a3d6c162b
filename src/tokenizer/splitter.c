// See splitter.h.
#include "tokenizer/splitter.h"

#include "tokenizer/pattern.h"

// What becomes of matches and of what is between them.
typedef enum { SPLIT_REMOVED, SPLIT_ISOLATED, SPLIT_PREVIOUS, SPLIT_NEXT, SPLIT_CONTIGUOUS } behavior_t;
typedef enum { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS } prepend_t;

// Divides one piece, [start, end) of the text.
typedef iree_status_t (*apply_t)(const splitter_t* s, const mapped_t* in, size_t start, size_t end, pieces_t* out);

struct splitter_t {
  apply_t apply;  // NULL: a sequence
  const splitter_t *first, *next;
  behavior_t behavior;
  bool inverted;
  pattern_t pattern;
  bool (*fits)(uint32_t code, uint32_t wanted);  // a class of code points in the pattern's place
  uint32_t wanted;
  bool adds_space, uses_pattern;  // ByteLevel
  prepend_t prepend;              // Metaspace
  bool splits;
  iree_string_view_t mark;  // what stands for a blank
};

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t pieces_cut(pieces_t* p) {
  size_t end = p->text.text.size, count = pieces_count(p);
  if (end == (count ? pieces_end(p, count - 1) : 0)) return iree_ok_status();
  return bytes_append(&p->ends, &end, sizeof(end));
}

// Runs of a piece that match and that do not, in turn.
typedef struct runs_t {
  pieces_t* out;
  const mapped_t* in;
  behavior_t behavior;
  bool inverted, any, before;  // what the last run was
} runs_t;

static iree_status_t put_run(runs_t* r, size_t start, size_t end, bool matches) {
  if (start == end) return iree_ok_status();
  matches = matches != r->inverted;
  bool joins = r->any && ((r->behavior == SPLIT_PREVIOUS && matches && !r->before) ||
                          (r->behavior == SPLIT_NEXT && !matches && r->before) ||
                          (r->behavior == SPLIT_CONTIGUOUS && matches == r->before));
  if (!joins) IREE_RETURN_IF_ERROR(pieces_cut(r->out));
  r->any = true;
  r->before = matches;
  if (r->behavior == SPLIT_REMOVED && matches) return iree_ok_status();
  return mapped_append_part(&r->out->text, r->in, start, end);
}

// The next run of code points of the class: one of them for all behaviors but CONTIGUOUS, which joins them.
static void find_class(const splitter_t* s, iree_string_view_t text, size_t from, bool* out_found, size_t* out_start,
                       size_t* out_end) {
  *out_found = false;
  for (size_t i = from; i < text.size && !*out_found;) {
    uint32_t code = 0;
    size_t length = utf8_decode(text.data + i, text.size - i, &code);
    *out_found = s->fits(code, s->wanted);
    *out_start = i;
    *out_end = i += length;
  }
}

static iree_status_t divide(const splitter_t* s, const mapped_t* in, size_t start, size_t end, pieces_t* out) {
  runs_t runs = {.out = out, .in = in, .behavior = s->behavior, .inverted = s->inverted};
  iree_string_view_t text = iree_make_string_view(in->text.data + start, end - start);
  size_t at = 0, from = 0, to = 0;
  IREE_RETURN_IF_ERROR(pieces_cut(out));
  for (bool found = true; found; at = to) {
    if (s->fits) {
      find_class(s, text, at, &found, &from, &to);
    } else {
      IREE_RETURN_IF_ERROR(pattern_find(&s->pattern, text, at, in->text.allocator, &found, &from, &to));
    }
    IREE_RETURN_IF_ERROR(put_run(&runs, start + at, start + (found ? from : text.size), false));
    if (found) IREE_RETURN_IF_ERROR(put_run(&runs, start + from, start + to, true));
  }
  return pieces_cut(out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Classes
//===----------------------------------------------------------------------------------------------------------------===

static bool is_code(uint32_t code, uint32_t wanted) { return code == wanted; }
static bool is_space(uint32_t code, uint32_t wanted) { return unicode_is_space(code); }
static bool is_number(uint32_t code, uint32_t wanted) { return (unicode_category_bit(code) & UNICODE_N) != 0; }
static bool is_punctuation(uint32_t code, uint32_t wanted) {
  if (code < 0x80)
    return code > 32 && code < 127 && !((code | 32) >= 'a' && (code | 32) <= 'z') && !(code >= '0' && code <= '9');
  return (unicode_category_bit(code) & UNICODE_P) != 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// ByteLevel
//===----------------------------------------------------------------------------------------------------------------===

// Bytes that are characters to see stand for themselves, the others for those from 256 on, in order.
static bool is_shown(uint32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

uint32_t byte_level_code(uint8_t byte) {
  if (is_shown(byte)) return byte;
  return byte <= ' ' ? 256u + byte : byte <= 0xA0 ? 256u + 33 + (byte - 0x7Fu) : 256u + 67;
}

int byte_level_byte(uint32_t code) {
  if (code < 256) return is_shown(code) ? (int)code : -1;
  code -= 256;
  return code <= ' ' ? (int)code : code < 67 ? (int)(code - 33 + 0x7F) : code == 67 ? 0xAD : -1;
}

static iree_status_t write_bytes(const pieces_t* in, pieces_t* out) {
  for (size_t p = 0; p < pieces_count(in); ++p) {
    for (size_t i = pieces_start(in, p); i < pieces_end(in, p); ++i) {
      uint32_t code = byte_level_code((uint8_t)in->text.text.data[i]);
      IREE_RETURN_IF_ERROR(mapped_append_code(&out->text, code, mapped_span(&in->text, i)));
    }
    IREE_RETURN_IF_ERROR(pieces_cut(out));
  }
  return iree_ok_status();
}

static iree_status_t byte_level(const splitter_t* s, const mapped_t* in, size_t start, size_t end, mapped_t* spaced,
                                pieces_t* divided, pieces_t* out) {
  if (s->adds_space && in->text.data[start] != ' ') {
    span_t from = mapped_range(in, start, start);
    IREE_RETURN_IF_ERROR(mapped_append(spaced, " ", 1, from));
  }
  IREE_RETURN_IF_ERROR(mapped_append_part(spaced, in, start, end));
  if (s->uses_pattern) {
    IREE_RETURN_IF_ERROR(divide(s, spaced, 0, spaced->text.size, divided));
  } else {
    IREE_RETURN_IF_ERROR(mapped_append_part(&divided->text, spaced, 0, spaced->text.size));
    IREE_RETURN_IF_ERROR(pieces_cut(divided));
  }
  return write_bytes(divided, out);
}

static iree_status_t apply_byte_level(const splitter_t* s, const mapped_t* in, size_t start, size_t end,
                                      pieces_t* out) {
  mapped_t spaced = mapped_make(in->text.allocator);
  pieces_t divided = pieces_make(in->text.allocator);
  iree_status_t status = byte_level(s, in, start, end, &spaced, &divided, out);
  mapped_free(&spaced);
  pieces_free(&divided);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Metaspace
//===----------------------------------------------------------------------------------------------------------------===

static bool starts_with(const mapped_t* in, size_t start, size_t end, iree_string_view_t text) {
  return end - start >= text.size && memcmp(in->text.data + start, text.data, text.size) == 0;
}

static iree_status_t apply_metaspace(const splitter_t* s, const mapped_t* in, size_t start, size_t end, pieces_t* out) {
  span_t first = mapped_range(in, start, start);
  bool prepends = s->prepend == PREPEND_ALWAYS || (s->prepend == PREPEND_FIRST && first.start == 0);
  if (prepends && in->text.data[start] != ' ' && !starts_with(in, start, end, s->mark)) {
    IREE_RETURN_IF_ERROR(mapped_append(&out->text, s->mark.data, s->mark.size, first));
  }
  for (size_t i = start; i < end;) {
    uint32_t code = 0;
    size_t length = utf8_decode(in->text.data + i, end - i, &code);
    bool is_mark = code == ' ' || starts_with(in, i, end, s->mark);
    if (is_mark && s->splits) IREE_RETURN_IF_ERROR(pieces_cut(out));
    if (code == ' ') {
      IREE_RETURN_IF_ERROR(mapped_append(&out->text, s->mark.data, s->mark.size, mapped_span(in, i)));
    } else {
      IREE_RETURN_IF_ERROR(mapped_append_part(&out->text, in, i, i + length));
    }
    i += length;
  }
  return pieces_cut(out);
}

//===----------------------------------------------------------------------------------------------------------------===
// All
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t apply_bert(const splitter_t* s, const mapped_t* in, size_t start, size_t end, pieces_t* out) {
  const splitter_t words = {.behavior = SPLIT_REMOVED, .fits = is_space};
  const splitter_t marks = {.behavior = SPLIT_ISOLATED, .fits = is_punctuation};
  pieces_t divided = pieces_make(in->text.allocator);
  iree_status_t status = divide(&words, in, start, end, &divided);
  for (size_t p = 0; p < pieces_count(&divided) && iree_status_is_ok(status); ++p) {
    status = divide(&marks, &divided.text, pieces_start(&divided, p), pieces_end(&divided, p), out);
  }
  pieces_free(&divided);
  return status;
}

iree_status_t splitter_apply(const splitter_t* s, pieces_t* pieces) {
  if (!s) return iree_ok_status();
  if (!s->apply) {
    for (const splitter_t* one = s->first; one; one = one->next) IREE_RETURN_IF_ERROR(splitter_apply(one, pieces));
    return iree_ok_status();
  }
  pieces_t out = pieces_make(pieces->ends.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t p = 0; p < pieces_count(pieces) && iree_status_is_ok(status); ++p) {
    status = s->apply(s, &pieces->text, pieces_start(pieces, p), pieces_end(pieces, p), &out);
  }
  if (iree_status_is_ok(status)) {
    pieces_t kept = *pieces;
    *pieces = out;
    out = kept;
  }
  pieces_free(&out);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

static const char byte_level_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static iree_status_t read_behavior(const json_t* json, behavior_t otherwise, behavior_t* out) {
  static const char* const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  iree_string_view_t name = json_text(json, "behavior", iree_make_cstring_view(names[otherwise]));
  for (int i = 0; i < 5; ++i) {
    *out = (behavior_t)i;
    if (iree_string_view_equal_case(name, iree_make_cstring_view(names[i]))) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "behavior '%.*s' is none of Removed, Isolated, "
                          "MergedWithPrevious, MergedWithNext, Contiguous",
                          (int)iree_min(name.size, 64), name.data);
}

static iree_status_t read_byte_level(const json_t* json, store_t* memory, splitter_t* s) {
  s->adds_space = json_bool(json, "add_prefix_space", true);
  s->uses_pattern = json_bool(json, "use_regex", true);
  s->behavior = SPLIT_ISOLATED;
  return regexp_compile(iree_make_cstring_view(byte_level_pattern), memory, &s->pattern.regex);
}

static iree_status_t read_metaspace(const json_t* json, store_t* memory, splitter_t* s) {
  iree_string_view_t scheme = json_text(
      json, "prepend_scheme", json_bool(json, "add_prefix_space", true) ? IREE_SV("always") : IREE_SV("never"));
  s->splits = json_bool(json, "split", true);
  s->prepend = iree_string_view_equal(scheme, IREE_SV("always"))  ? PREPEND_ALWAYS
               : iree_string_view_equal(scheme, IREE_SV("first")) ? PREPEND_FIRST
                                                                  : PREPEND_NEVER;
  return store_copy(memory, json_text(json, "replacement", IREE_SV("\xE2\x96\x81")), &s->mark);
}

static iree_status_t read_split(const json_t* json, store_t* memory, splitter_t* s) {
  s->inverted = json_bool(json, "invert", false);
  IREE_RETURN_IF_ERROR(read_behavior(json, SPLIT_ISOLATED, &s->behavior));
  return pattern_read(json_member(json, "pattern"), memory, &s->pattern);
}

static iree_status_t read_whitespace(const json_t* json, store_t* memory, splitter_t* s) {
  s->behavior = SPLIT_REMOVED;
  s->inverted = true;
  return regexp_compile(IREE_SV("\\w+|[^\\w\\s]+"), memory, &s->pattern.regex);
}

static iree_status_t read_spaces(const json_t* json, store_t* memory, splitter_t* s) {
  s->behavior = SPLIT_REMOVED;
  s->fits = is_space;
  return iree_ok_status();
}

static iree_status_t read_digits(const json_t* json, store_t* memory, splitter_t* s) {
  s->behavior = json_bool(json, "individual_digits", false) ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS;
  s->fits = is_number;
  return iree_ok_status();
}

static iree_status_t read_punctuation(const json_t* json, store_t* memory, splitter_t* s) {
  s->fits = is_punctuation;
  return read_behavior(json, SPLIT_ISOLATED, &s->behavior);
}

static iree_status_t read_delimiter(const json_t* json, store_t* memory, splitter_t* s) {
  iree_string_view_t text = json_text(json, "delimiter", IREE_SV(""));
  if (!text.size || utf8_decode(text.data, text.size, &s->wanted) != text.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "CharDelimiterSplit needs a \"delimiter\" of one character");
  }
  s->behavior = SPLIT_REMOVED;
  s->fits = is_code;
  return iree_ok_status();
}

static iree_status_t read_nothing(const json_t* json, store_t* memory, splitter_t* s) { return iree_ok_status(); }

static iree_status_t read_sequence(const json_t* json, store_t* memory, splitter_t* s) {
  const json_t* list = json_member(json, "pretokenizers");
  const splitter_t** tail = &s->first;
  for (const json_t* item = list ? list->first : NULL; item; item = item->next) {
    IREE_RETURN_IF_ERROR(splitter_read(item, memory, tail));
    if (*tail) tail = (const splitter_t**)&(*tail)->next;
  }
  return iree_ok_status();
}

static const struct {
  const char* name;
  apply_t apply;
  iree_status_t (*read)(const json_t* json, store_t* memory, splitter_t* s);
} kinds[] = {{"Sequence", NULL, read_sequence},
             {"ByteLevel", apply_byte_level, read_byte_level},
             {"Metaspace", apply_metaspace, read_metaspace},
             {"BertPreTokenizer", apply_bert, read_nothing},
             {"Split", divide, read_split},
             {"Whitespace", divide, read_whitespace},
             {"WhitespaceSplit", divide, read_spaces},
             {"Digits", divide, read_digits},
             {"Punctuation", divide, read_punctuation},
             {"CharDelimiterSplit", divide, read_delimiter}};

iree_status_t splitter_read(const json_t* json, store_t* memory, const splitter_t** out) {
  *out = NULL;
  if (!json || json->kind == JSON_NULL) return iree_ok_status();
  iree_string_view_t type = json_text(json, "type", IREE_SV("nothing"));
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) {
    if (!iree_string_view_equal(type, iree_make_cstring_view(kinds[i].name))) continue;
    splitter_t* s = NULL;
    IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*s), (void**)&s));
    s->apply = kinds[i].apply;
    *out = s;
    return kinds[i].read(json, memory, s);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "pre_tokenizer: %.*s is not known; Sequence, ByteLevel, Metaspace, BertPreTokenizer, Split, "
                          "Whitespace, WhitespaceSplit, Digits, Punctuation and CharDelimiterSplit are",
                          (int)iree_min(type.size, 64), type.data);
}

iree_status_t splitter_from_pattern(iree_string_view_t pattern, store_t* memory, const splitter_t** out) {
  splitter_t* s = NULL;
  IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*s), (void**)&s));
  s->apply = divide;
  s->behavior = SPLIT_ISOLATED;
  *out = s;
  return regexp_compile(pattern, memory, &s->pattern.regex);
}
