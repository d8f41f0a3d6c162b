// See normalizer.h.
#include "tokenizer/normalizer.h"

#include "tokenizer/pattern.h"

// Each kind has its name and a function that makes new text of the old one.
typedef iree_status_t (*apply_t)(const normalizer_t* n, const mapped_t* in, mapped_t* out);

struct normalizer_t {
  apply_t apply;  // NULL: a sequence
  const normalizer_t *first, *next;
  bool left, right;                     // Strip
  bool clean, chinese, accents, lower;  // BertNormalizer
  iree_string_view_t text;              // Prepend, Replace: what is put there
  pattern_t pattern;                    // Replace
};

//===----------------------------------------------------------------------------------------------------------------===
// Normal forms
//===----------------------------------------------------------------------------------------------------------------===

typedef struct mark_t {
  uint32_t code;
  span_t from;
  uint8_t class;
} mark_t;

static size_t mark_count(const bytes_t* marks) { return marks->size / sizeof(mark_t); }

// Canonical order: marks of a run by their classes, otherwise as they were.
static void sort_marks(mark_t* marks, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    mark_t mark = marks[i];
    size_t to = i;
    for (; mark.class && to && marks[to - 1].class > mark.class; --to) marks[to] = marks[to - 1];
    marks[to] = mark;
  }
}

// Returns how many are left.
static size_t compose_marks(mark_t* marks, size_t count) {
  size_t starter = SIZE_MAX, to = 0;
  int last = -1;  // class of what stands between the starter and the next one; -1: nothing
  for (size_t i = 0; i < count; ++i) {
    mark_t mark = marks[i];
    uint32_t both = starter == SIZE_MAX || last >= mark.class ? 0 : unicode_compose(marks[starter].code, mark.code);
    if (starter != SIZE_MAX && last == 0) both = 0;
    if (both) {
      marks[starter].code = both;
      if (mark.from.end > marks[starter].from.end) marks[starter].from.end = mark.from.end;
      continue;
    }
    if (!mark.class) {
      starter = to;
      last = -1;
    } else {
      last = mark.class;
    }
    marks[to++] = mark;
  }
  return to;
}

static iree_status_t decompose(const mapped_t* in, bool compatible, bytes_t* marks) {
  for (size_t i = 0; i < in->text.size;) {
    uint32_t code = 0, parts[UNICODE_MAX_DECOMPOSITION];
    size_t length = utf8_decode(in->text.data + i, in->text.size - i, &code);
    int count = unicode_decompose(code, compatible, parts);
    for (int k = 0; k < count; ++k) {
      mark_t mark = {parts[k], mapped_range(in, i, i + length), unicode_combining(parts[k])};
      IREE_RETURN_IF_ERROR(bytes_append(marks, &mark, sizeof(mark)));
    }
    i += length;
  }
  return iree_ok_status();
}

static iree_status_t make_form(const mapped_t* in, bool compatible, bool composed, bytes_t* marks, mapped_t* out) {
  IREE_RETURN_IF_ERROR(decompose(in, compatible, marks));
  mark_t* list = (mark_t*)marks->data;
  size_t count = mark_count(marks);
  for (size_t start = 0; start < count;) {
    size_t end = start + 1;
    while (end < count && list[end].class) ++end;
    // A starter stays where it is: its class is 0.
    if (list[start].class) {
      sort_marks(list + start, end - start);
    } else {
      sort_marks(list + start + 1, end - start - 1);
    }
    start = end;
  }
  if (composed) count = compose_marks(list, count);
  for (size_t i = 0; i < count; ++i) IREE_RETURN_IF_ERROR(mapped_append_code(out, list[i].code, list[i].from));
  return iree_ok_status();
}

static iree_status_t apply_form(const mapped_t* in, bool compatible, bool composed, mapped_t* out) {
  bytes_t marks = bytes_make(in->text.allocator);
  iree_status_t status = make_form(in, compatible, composed, &marks, out);
  bytes_free(&marks);
  return status;
}

static iree_status_t apply_nfc(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return apply_form(in, false, true, out);
}
static iree_status_t apply_nfd(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return apply_form(in, false, false, out);
}
static iree_status_t apply_nfkc(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return apply_form(in, true, true, out);
}
static iree_status_t apply_nfkd(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return apply_form(in, true, false, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Code point by code point
//===----------------------------------------------------------------------------------------------------------------===

// What becomes of one code point.
typedef iree_status_t (*one_t)(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out);

static iree_status_t each(const normalizer_t* n, const mapped_t* in, one_t one, mapped_t* out) {
  for (size_t i = 0; i < in->text.size;) {
    uint32_t code = 0;
    size_t length = utf8_decode(in->text.data + i, in->text.size - i, &code);
    IREE_RETURN_IF_ERROR(one(n, code, mapped_range(in, i, i + length), out));
    i += length;
  }
  return iree_ok_status();
}

static iree_status_t lower_one(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out) {
  uint32_t small[2];
  int count = unicode_lower(code, small);
  for (int i = 0; i < count; ++i) IREE_RETURN_IF_ERROR(mapped_append_code(out, small[i], from));
  return iree_ok_status();
}
static iree_status_t apply_lower(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return each(n, in, lower_one, out);
}

static iree_status_t drop_accent(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out) {
  return unicode_category_bit(code) & UNICODE_M ? iree_ok_status() : mapped_append_code(out, code, from);
}
static iree_status_t apply_accents(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  return each(n, in, drop_accent, out);
}

static iree_status_t drop_nonspacing(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out) {
  return unicode_category_bit(code) & UNICODE_BIT(Mn) ? iree_ok_status() : mapped_append_code(out, code, from);
}

// Drops controls, makes blanks of all white space.
static iree_status_t clean_one(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out) {
  if (code == '\t' || code == '\n' || code == '\r') code = ' ';
  if (code == 0 || code == 0xFFFD || (unicode_category_bit(code) & UNICODE_C)) return iree_ok_status();
  return mapped_append_code(out, unicode_is_space(code) ? ' ' : code, from);
}

static bool is_chinese(uint32_t code) {
  static const uint32_t ranges[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                       {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(ranges); ++i) {
    if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
  }
  return false;
}

static iree_status_t space_chinese(const normalizer_t* n, uint32_t code, span_t from, mapped_t* out) {
  if (!is_chinese(code)) return mapped_append_code(out, code, from);
  IREE_RETURN_IF_ERROR(mapped_append(out, " ", 1, from));
  IREE_RETURN_IF_ERROR(mapped_append_code(out, code, from));
  return mapped_append(out, " ", 1, from);
}

static void swap(mapped_t* x, mapped_t* y) {
  mapped_t kept = *x;
  *x = *y;
  *y = kept;
  mapped_clear(y);
}

static iree_status_t bert_steps(const normalizer_t* n, mapped_t* text, mapped_t* next) {
  if (n->clean) {
    IREE_RETURN_IF_ERROR(each(n, text, clean_one, next));
    swap(text, next);
  }
  if (n->chinese) {
    IREE_RETURN_IF_ERROR(each(n, text, space_chinese, next));
    swap(text, next);
  }
  if (n->accents) {
    IREE_RETURN_IF_ERROR(apply_nfd(n, text, next));
    swap(text, next);
    IREE_RETURN_IF_ERROR(each(n, text, drop_nonspacing, next));
    swap(text, next);
  }
  if (!n->lower) return iree_ok_status();
  IREE_RETURN_IF_ERROR(each(n, text, lower_one, next));
  swap(text, next);
  return iree_ok_status();
}

static iree_status_t apply_bert(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  mapped_t next = mapped_make(in->text.allocator);
  iree_status_t status = mapped_append_part(out, in, 0, in->text.size);
  if (iree_status_is_ok(status)) status = bert_steps(n, out, &next);
  mapped_free(&next);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Whole texts
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t apply_strip(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  size_t start = SIZE_MAX, end = 0;
  for (size_t i = 0; i < in->text.size;) {
    uint32_t code = 0;
    size_t length = utf8_decode(in->text.data + i, in->text.size - i, &code);
    if (!unicode_is_space(code)) {
      if (start == SIZE_MAX) start = i;
      end = i + length;
    }
    i += length;
  }
  if (start == SIZE_MAX && (n->left || n->right)) return iree_ok_status();
  return mapped_append_part(out, in, n->left ? start : 0, n->right ? end : in->text.size);
}

static iree_status_t apply_prepend(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  if (!in->text.size) return iree_ok_status();
  IREE_RETURN_IF_ERROR(mapped_append(out, n->text.data, n->text.size, mapped_span(in, 0)));
  return mapped_append_part(out, in, 0, in->text.size);
}

static iree_status_t apply_replace(const normalizer_t* n, const mapped_t* in, mapped_t* out) {
  iree_string_view_t text = bytes_view(&in->text);
  size_t at = 0, start = 0, end = 0;
  for (bool found = true; found;) {
    IREE_RETURN_IF_ERROR(pattern_find(&n->pattern, text, at, in->text.allocator, &found, &start, &end));
    IREE_RETURN_IF_ERROR(mapped_append_part(out, in, at, found ? start : text.size));
    if (found) IREE_RETURN_IF_ERROR(mapped_append(out, n->text.data, n->text.size, mapped_range(in, start, end)));
    at = end;
  }
  return iree_ok_status();
}

iree_status_t normalizer_apply(const normalizer_t* n, mapped_t* text) {
  if (!n) return iree_ok_status();
  if (!n->apply) {
    for (const normalizer_t* one = n->first; one; one = one->next) IREE_RETURN_IF_ERROR(normalizer_apply(one, text));
    return iree_ok_status();
  }
  mapped_t out = mapped_make(text->text.allocator);
  iree_status_t status = n->apply(n, text, &out);
  if (iree_status_is_ok(status)) swap(text, &out);
  mapped_free(&out);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  const char* name;
  apply_t apply;
} kinds[] = {{"Sequence", NULL},
             {"NFC", apply_nfc},
             {"NFD", apply_nfd},
             {"NFKC", apply_nfkc},
             {"NFKD", apply_nfkd},
             {"Lowercase", apply_lower},
             {"StripAccents", apply_accents},
             {"BertNormalizer", apply_bert},
             {"Strip", apply_strip},
             {"Prepend", apply_prepend},
             {"Replace", apply_replace}};

static iree_status_t read_members(const json_t* json, store_t* memory, normalizer_t* n) {
  n->left = json_bool(json, "strip_left", true);
  n->right = json_bool(json, "strip_right", true);
  n->clean = json_bool(json, "clean_text", true);
  n->chinese = json_bool(json, "handle_chinese_chars", true);
  n->lower = json_bool(json, "lowercase", true);
  n->accents = json_bool(json, "strip_accents", n->lower);
  const char* text = n->apply == apply_prepend ? "prepend" : "content";
  IREE_RETURN_IF_ERROR(store_copy(memory, json_text(json, text, IREE_SV("")), &n->text));
  if (n->apply == apply_replace) return pattern_read(json_member(json, "pattern"), memory, &n->pattern);
  const json_t* list = n->apply ? NULL : json_member(json, "normalizers");
  const normalizer_t** tail = &n->first;
  for (const json_t* item = list ? list->first : NULL; item; item = item->next) {
    IREE_RETURN_IF_ERROR(normalizer_read(item, memory, tail));
    if (*tail) tail = (const normalizer_t**)&(*tail)->next;
  }
  return iree_ok_status();
}

iree_status_t normalizer_read(const json_t* json, store_t* memory, const normalizer_t** out) {
  *out = NULL;
  if (!json || json->kind == JSON_NULL) return iree_ok_status();
  iree_string_view_t type = json_text(json, "type", IREE_SV("nothing"));
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) {
    if (!iree_string_view_equal(type, iree_make_cstring_view(kinds[i].name))) continue;
    normalizer_t* n = NULL;
    IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*n), (void**)&n));
    n->apply = kinds[i].apply;
    *out = n;
    return read_members(json, memory, n);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "normalizer: %.*s is not known; Sequence, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
                          "BertNormalizer, Strip, Prepend and Replace are",
                          (int)iree_min(type.size, 64), type.data);
}
