// See decoder.h. Words go from step to step as a list of texts, whose bytes lie in memory of the call.
#include "tokenizer/decoder.h"

#include <stdlib.h>

#include "tokenizer/pattern.h"
#include "tokenizer/splitter.h"
#include "tokenizer/unicode.h"

typedef struct list_t {
  store_t* memory;
  bytes_t words;  // iree_string_view_t
} list_t;

typedef iree_status_t (*apply_t)(const decoder_t* d, const list_t* in, list_t* out);

struct decoder_t {
  apply_t apply;  // NULL: a sequence
  const decoder_t *first, *next;
  pattern_t pattern;         // Replace
  iree_string_view_t text;   // Replace: what is put there; Strip: the character; WordPiece: the prefix; …
  iree_string_view_t blank;  // CTC: what stands for a blank
  bool cleans, keeps_first;  // WordPiece, CTC; Metaspace
  int64_t start, stop;       // Strip
};

static size_t count_of(const list_t* list) { return list->words.size / sizeof(iree_string_view_t); }
static iree_string_view_t word_at(const list_t* list, size_t i) {
  return ((const iree_string_view_t*)list->words.data)[i];
}

// Adds a copy.
static iree_status_t add(list_t* list, iree_string_view_t text) {
  iree_string_view_t copy;
  IREE_RETURN_IF_ERROR(store_copy(list->memory, text, &copy));
  return bytes_append(&list->words, &copy, sizeof(copy));
}

static iree_status_t add_bytes(list_t* list, bytes_t* text) {
  iree_status_t status = add(list, bytes_view(text));
  text->size = 0;
  return status;
}

iree_status_t decoder_append_repaired(iree_string_view_t text, bytes_t* out) {
  for (size_t i = 0; i < text.size;) {
    uint32_t code = 0;
    size_t length = utf8_decode(text.data + i, text.size - i, &code);
    bool broken = length == 1 && code == 0xFFFD;
    if (!broken) {
      IREE_RETURN_IF_ERROR(bytes_append(out, text.data + i, length));
      i += length;
      continue;
    }
    // The longest beginning of what might have been a code point is one error.
    uint8_t lead = (uint8_t)text.data[i];
    size_t wanted = lead >= 0xC2 && lead < 0xE0   ? 2
                    : lead >= 0xE0 && lead < 0xF0 ? 3
                    : lead >= 0xF0 && lead < 0xF5 ? 4
                                                  : 1;
    size_t taken = 1;
    for (; taken < wanted && i + taken < text.size; ++taken) {
      uint8_t low = 0x80, high = 0xBF, byte = (uint8_t)text.data[i + taken];
      if (taken == 1) {
        low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      }
      if (byte < low || byte > high) break;
    }
    i += taken;
    IREE_RETURN_IF_ERROR(bytes_append_code(out, 0xFFFD));
  }
  return iree_ok_status();
}

// Appends `text` with all `from` as `to`.
static iree_status_t append_replaced(iree_string_view_t text, iree_string_view_t from, iree_string_view_t to,
                                     bytes_t* out) {
  const pattern_t pattern = {.text = from};
  size_t at = 0, start = 0, end = 0;
  for (bool found = true; found; at = end) {
    IREE_RETURN_IF_ERROR(pattern_find(&pattern, text, at, out->allocator, &found, &start, &end));
    IREE_RETURN_IF_ERROR(bytes_append(out, text.data + at, (found ? start : text.size) - at));
    if (found) IREE_RETURN_IF_ERROR(bytes_append_view(out, to));
  }
  return iree_ok_status();
}

// Blanks before punctuation and within contractions go.
static iree_status_t clean(bytes_t* text) {
  static const char* const pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                         {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                         {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(pairs); ++i) {
    bytes_t next = bytes_make(text->allocator);
    iree_status_t status = append_replaced(bytes_view(text), iree_make_cstring_view(pairs[i][0]),
                                           iree_make_cstring_view(pairs[i][1]), &next);
    bytes_free(text);
    *text = next;
    IREE_RETURN_IF_ERROR(status);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Kinds
//===----------------------------------------------------------------------------------------------------------------===

typedef iree_status_t (*one_t)(const decoder_t* d, iree_string_view_t word, size_t place, size_t count, bytes_t* out);

// Makes a word of each.
static iree_status_t each(const decoder_t* d, const list_t* in, one_t one, list_t* out) {
  bytes_t text = bytes_make(in->words.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count_of(in) && iree_status_is_ok(status); ++i) {
    status = one(d, word_at(in, i), i, count_of(in), &text);
    if (iree_status_is_ok(status)) status = add_bytes(out, &text);
  }
  bytes_free(&text);
  return status;
}

static iree_status_t replace_one(const decoder_t* d, iree_string_view_t word, size_t place, size_t count,
                                 bytes_t* out) {
  size_t at = 0, start = 0, end = 0;
  for (bool found = true; found; at = end) {
    IREE_RETURN_IF_ERROR(pattern_find(&d->pattern, word, at, out->allocator, &found, &start, &end));
    IREE_RETURN_IF_ERROR(bytes_append(out, word.data + at, (found ? start : word.size) - at));
    if (found) IREE_RETURN_IF_ERROR(bytes_append_view(out, d->text));
  }
  return iree_ok_status();
}
static iree_status_t apply_replace(const decoder_t* d, const list_t* in, list_t* out) {
  return each(d, in, replace_one, out);
}

static iree_status_t strip_one(const decoder_t* d, iree_string_view_t word, size_t place, size_t count, bytes_t* out) {
  size_t start = 0, end = word.size, size = d->text.size;
  for (int64_t i = 0; i < d->start && end - start >= size && !memcmp(word.data + start, d->text.data, size); ++i) {
    start += size;
  }
  for (int64_t i = 0; i < d->stop && end - start >= size && !memcmp(word.data + end - size, d->text.data, size); ++i) {
    end -= size;
  }
  return bytes_append(out, word.data + start, end - start);
}
static iree_status_t apply_strip(const decoder_t* d, const list_t* in, list_t* out) {
  return each(d, in, strip_one, out);
}

static iree_status_t metaspace_one(const decoder_t* d, iree_string_view_t word, size_t place, size_t count,
                                   bytes_t* out) {
  if (place == 0 && !d->keeps_first) return append_replaced(word, d->text, IREE_SV(""), out);
  return append_replaced(word, d->text, IREE_SV(" "), out);
}
static iree_status_t apply_metaspace(const decoder_t* d, const list_t* in, list_t* out) {
  return each(d, in, metaspace_one, out);
}

static iree_status_t wordpiece_one(const decoder_t* d, iree_string_view_t word, size_t place, size_t count,
                                   bytes_t* out) {
  if (place && iree_string_view_starts_with(word, d->text)) {
    word = iree_string_view_remove_prefix(word, d->text.size);
  } else if (place) {
    IREE_RETURN_IF_ERROR(bytes_append(out, " ", 1));
  }
  IREE_RETURN_IF_ERROR(bytes_append_view(out, word));
  return d->cleans ? clean(out) : iree_ok_status();
}
static iree_status_t apply_wordpiece(const decoder_t* d, const list_t* in, list_t* out) {
  return each(d, in, wordpiece_one, out);
}

static iree_status_t suffix_one(const decoder_t* d, iree_string_view_t word, size_t place, size_t count, bytes_t* out) {
  return append_replaced(word, d->text, place + 1 == count ? IREE_SV("") : IREE_SV(" "), out);
}
static iree_status_t apply_suffix(const decoder_t* d, const list_t* in, list_t* out) {
  return each(d, in, suffix_one, out);
}

// Each word of one character is a byte; one with others stands as it is. All are one word.
static iree_status_t put_bytes(iree_string_view_t word, bytes_t* out) {
  bool all = true;
  size_t before = out->size;
  for (size_t i = 0; i < word.size && all;) {
    uint32_t code = 0;
    i += utf8_decode(word.data + i, word.size - i, &code);
    int byte = byte_level_byte(code);
    char letter = (char)byte;
    all = byte >= 0;
    if (all) IREE_RETURN_IF_ERROR(bytes_append(out, &letter, 1));
  }
  if (all) return iree_ok_status();
  out->size = before;
  return bytes_append_view(out, word);
}

static iree_status_t apply_byte_level(const decoder_t* d, const list_t* in, list_t* out) {
  bytes_t raw = bytes_make(in->words.allocator), text = bytes_make(in->words.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count_of(in) && iree_status_is_ok(status); ++i) status = put_bytes(word_at(in, i), &raw);
  if (iree_status_is_ok(status)) status = decoder_append_repaired(bytes_view(&raw), &text);
  if (iree_status_is_ok(status)) status = add_bytes(out, &text);
  bytes_free(&raw);
  bytes_free(&text);
  return status;
}

static iree_status_t apply_fuse(const decoder_t* d, const list_t* in, list_t* out) {
  bytes_t text = bytes_make(in->words.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count_of(in) && iree_status_is_ok(status); ++i) {
    status = bytes_append_view(&text, word_at(in, i));
  }
  if (iree_status_is_ok(status)) status = add_bytes(out, &text);
  bytes_free(&text);
  return status;
}

// "<0xE2>": its byte, or -1.
static int fallback_byte(iree_string_view_t word) {
  char digits[3] = {0}, *end = NULL;
  if (word.size != 6 || memcmp(word.data, "<0x", 3) != 0 || word.data[5] != '>') return -1;
  memcpy(digits, word.data + 3, 2);
  long byte = strtol(digits, &end, 16);
  return end == digits + 2 && digits[0] != '+' && digits[0] != '-' ? (int)byte : -1;
}

// Bytes that are no UTF-8 together are a replacement character each.
static iree_status_t flush(bytes_t* run, list_t* out) {
  bool whole = true;
  for (size_t i = 0; i < run->size && whole;) {
    uint32_t code = 0;
    size_t length = utf8_decode(run->data + i, run->size - i, &code);
    whole = length > 1 || code != 0xFFFD;
    i += length;
  }
  size_t count = run->size;
  if (whole) return count ? add_bytes(out, run) : iree_ok_status();
  run->size = 0;
  for (size_t i = 0; i < count; ++i) IREE_RETURN_IF_ERROR(add(out, IREE_SV("\xEF\xBF\xBD")));
  return iree_ok_status();
}

static iree_status_t apply_fallback(const decoder_t* d, const list_t* in, list_t* out) {
  bytes_t run = bytes_make(in->words.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count_of(in) && iree_status_is_ok(status); ++i) {
    int byte = fallback_byte(word_at(in, i));
    char letter = (char)byte;
    if (byte >= 0) {
      status = bytes_append(&run, &letter, 1);
      continue;
    }
    status = flush(&run, out);
    if (iree_status_is_ok(status)) status = add(out, word_at(in, i));
  }
  if (iree_status_is_ok(status)) status = flush(&run, out);
  bytes_free(&run);
  return status;
}

static iree_status_t ctc_word(const decoder_t* d, iree_string_view_t word, bytes_t* text, bytes_t* next) {
  IREE_RETURN_IF_ERROR(append_replaced(word, d->text, IREE_SV(""), text));
  if (!d->cleans) return iree_ok_status();
  IREE_RETURN_IF_ERROR(clean(text));
  IREE_RETURN_IF_ERROR(append_replaced(bytes_view(text), d->blank, IREE_SV(" "), next));
  text->size = 0;
  IREE_RETURN_IF_ERROR(bytes_append_view(text, bytes_view(next)));
  next->size = 0;
  return iree_ok_status();
}

static iree_status_t apply_ctc(const decoder_t* d, const list_t* in, list_t* out) {
  bytes_t text = bytes_make(in->words.allocator), next = bytes_make(in->words.allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count_of(in) && iree_status_is_ok(status); ++i) {
    if (i && iree_string_view_equal(word_at(in, i), word_at(in, i - 1))) continue;
    status = ctc_word(d, word_at(in, i), &text, &next);
    if (iree_status_is_ok(status) && text.size) status = add_bytes(out, &text);
  }
  bytes_free(&text);
  bytes_free(&next);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Steps
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t run(const decoder_t* d, list_t* list) {
  if (!d->apply) {
    for (const decoder_t* one = d->first; one; one = one->next) IREE_RETURN_IF_ERROR(run(one, list));
    return iree_ok_status();
  }
  list_t out = {list->memory, bytes_make(list->words.allocator)};
  iree_status_t status = d->apply(d, list, &out);
  bytes_free(&list->words);
  list->words = out.words;
  return status;
}

iree_status_t decoder_apply(const decoder_t* decoder, const bytes_t* words, bytes_t* out) {
  store_t memory = store_make(out->allocator);
  list_t list = {&memory, bytes_make(out->allocator)};
  iree_status_t status = bytes_append(&list.words, words->data, words->size);
  if (decoder && iree_status_is_ok(status)) status = run(decoder, &list);
  for (size_t i = 0; i < count_of(&list) && iree_status_is_ok(status); ++i) {
    if (i && !decoder) status = bytes_append(out, " ", 1);
    if (iree_status_is_ok(status)) status = bytes_append_view(out, word_at(&list, i));
  }
  bytes_free(&list.words);
  store_free(&memory);
  return status;
}

static const struct {
  const char* name;
  apply_t apply;
} kinds[] = {{"Sequence", NULL},
             {"ByteLevel", apply_byte_level},
             {"ByteFallback", apply_fallback},
             {"Fuse", apply_fuse},
             {"Replace", apply_replace},
             {"Strip", apply_strip},
             {"Metaspace", apply_metaspace},
             {"WordPiece", apply_wordpiece},
             {"BPEDecoder", apply_suffix},
             {"CTC", apply_ctc}};

// What `text` is of each kind, and its default.
static iree_status_t read_text(const json_t* json, store_t* memory, decoder_t* d) {
  static const struct {
    apply_t apply;
    const char *name, *otherwise;
  } rows[] = {{apply_replace, "content", ""},
              {apply_strip, "content", " "},
              {apply_metaspace, "replacement", "\xE2\x96\x81"},
              {apply_wordpiece, "prefix", "##"},
              {apply_suffix, "suffix", "</w>"},
              {apply_ctc, "pad_token", "<pad>"}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].apply != d->apply) continue;
    iree_string_view_t text = json_text(json, rows[i].name, iree_make_cstring_view(rows[i].otherwise));
    return store_copy(memory, text, &d->text);
  }
  return iree_ok_status();
}

static iree_status_t read_members(const json_t* json, store_t* memory, decoder_t* d) {
  d->cleans = json_bool(json, "cleanup", true);
  d->keeps_first = iree_string_view_equal(
      json_text(json, "prepend_scheme",
                json_bool(json, "add_prefix_space", true) ? IREE_SV("always") : IREE_SV("never")),
      IREE_SV("never"));
  json_integer(json_member(json, "start"), INT32_MAX, &d->start);
  json_integer(json_member(json, "stop"), INT32_MAX, &d->stop);
  IREE_RETURN_IF_ERROR(read_text(json, memory, d));
  IREE_RETURN_IF_ERROR(store_copy(memory, json_text(json, "word_delimiter_token", IREE_SV("|")), &d->blank));
  if (d->apply == apply_strip && !d->text.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "decoder: Strip needs a \"content\" of one character");
  }
  if (d->apply == apply_replace) return pattern_read(json_member(json, "pattern"), memory, &d->pattern);
  const json_t* list = d->apply ? NULL : json_member(json, "decoders");
  const decoder_t** tail = &d->first;
  for (const json_t* item = list ? list->first : NULL; item; item = item->next) {
    IREE_RETURN_IF_ERROR(decoder_read(item, memory, tail));
    if (*tail) tail = (const decoder_t**)&(*tail)->next;
  }
  return iree_ok_status();
}

iree_status_t decoder_read(const json_t* json, store_t* memory, const decoder_t** out) {
  *out = NULL;
  if (!json || json->kind == JSON_NULL) return iree_ok_status();
  iree_string_view_t type = json_text(json, "type", IREE_SV("nothing"));
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) {
    if (!iree_string_view_equal(type, iree_make_cstring_view(kinds[i].name))) continue;
    decoder_t* d = NULL;
    IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*d), (void**)&d));
    d->apply = kinds[i].apply;
    *out = d;
    return read_members(json, memory, d);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "decoder: %.*s is not known; Sequence, ByteLevel, ByteFallback, Fuse, Replace, Strip, "
                          "Metaspace, WordPiece, BPEDecoder and CTC are",
                          (int)iree_min(type.size, 64), type.data);
}

iree_status_t decoder_plain(store_t* memory, const decoder_t** out) {
  decoder_t* d = NULL;
  IREE_RETURN_IF_ERROR(store_take(memory, 1, sizeof(*d), (void**)&d));
  d->apply = apply_fuse;
  *out = d;
  return iree_ok_status();
}
