// From a text to tokens: added tokens divide it, what is between them is normalized, divided and given to the model.
#include "tokenizer/tokenizer.h"

iree_status_t tokenizer_allocate(iree_allocator_t allocator, iree_tokenizer_t** out) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(**out), (void**)out));
  (*out)->memory = store_make(allocator);
  (*out)->vocab.model.unknown = -1;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Added tokens
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t normalize_content(iree_tokenizer_t* t, const added_t* added, iree_string_view_t* out) {
  mapped_t text = mapped_make(t->memory.allocator);
  iree_status_t status = mapped_append_input(&text, added->content, 0);
  if (iree_status_is_ok(status)) status = normalizer_apply(t->normalizer, &text);
  if (iree_status_is_ok(status)) status = store_copy(&t->memory, bytes_view(&text.text), out);
  mapped_free(&text);
  return status;
}

iree_status_t tokenizer_index_added(iree_tokenizer_t* t) {
  size_t most = 0, count = t->vocab.added_count;
  for (size_t i = 0; i < count; ++i) most = iree_max(most, (size_t)t->vocab.added[i].id);
  IREE_RETURN_IF_ERROR(words_create(most, &t->memory, &t->vocab.added_by_id));
  IREE_RETURN_IF_ERROR(words_create(count, &t->memory, &t->added_raw));
  IREE_RETURN_IF_ERROR(words_create(count, &t->memory, &t->added_normalized));
  for (size_t i = 0; i < count; ++i) {
    const added_t* added = &t->vocab.added[i];
    words_add(&t->vocab.added_by_id, (uint32_t)added->id, added->content);
    if (!added->normalized) {
      words_add(&t->added_raw, (uint32_t)i, added->content);
      continue;
    }
    iree_string_view_t content;
    IREE_RETURN_IF_ERROR(normalize_content(t, added, &content));
    words_add(&t->added_normalized, (uint32_t)i, content);
  }
  return iree_ok_status();
}

const added_t* tokenizer_find_added(const iree_tokenizer_vocab_t* vocab, int32_t id) {
  if (id < 0 || (size_t)id >= vocab->added_by_id.capacity || !vocab->added_by_id.texts[id].data) return NULL;
  for (size_t i = 0; i < vocab->added_count; ++i) {
    if (vocab->added[i].id == id) return &vocab->added[i];
  }
  return NULL;
}

// The longest that begins at `at`; its place among the added ones, or -1.
static int32_t find_at(const words_t* words, iree_string_view_t text, size_t at, size_t* out_end) {
  uint64_t hash = words_hash_begin();
  int32_t found = -1;
  for (size_t i = at; i < text.size && i - at < words->longest; ++i) {
    hash = words_hash_byte(hash, text.data[i]);
    int32_t place = words_find_hashed(words, iree_make_string_view(text.data + at, i + 1 - at), hash);
    if (place < 0) continue;
    found = place;
    *out_end = i + 1;
  }
  return found;
}

static uint32_t code_before(iree_string_view_t text, size_t at) {
  uint32_t code = 0;
  size_t start = at;
  do --start;
  while (start && at - start < 4 && (text.data[start] & 0xC0) == 0x80);
  utf8_decode(text.data + start, at - start, &code);
  return code;
}

static bool is_word_at(iree_string_view_t text, size_t at) {
  uint32_t code = 0;
  if (at >= text.size) return false;
  utf8_decode(text.data + at, text.size - at, &code);
  return (unicode_category_bit(code) & UNICODE_WORD) != 0;
}

typedef struct found_t {
  const added_t* added;
  size_t start, end;
} found_t;

// The next one from `from` on, with the blanks that it takes.
static bool find_added(const iree_tokenizer_t* t, const words_t* words, iree_string_view_t text, size_t from,
                       bool matches_special, found_t* out) {
  for (size_t at = from; at < text.size && words->longest; ++at) {
    size_t end = at;
    int32_t place = find_at(words, text, at, &end);
    const added_t* added = place >= 0 ? &t->vocab.added[place] : NULL;
    if (!added || (added->special && !matches_special)) continue;
    bool within = (at && (unicode_category_bit(code_before(text, at)) & UNICODE_WORD)) || is_word_at(text, end);
    if (added->single_word && within) {
      at = end - 1;
      continue;
    }
    *out = (found_t){added, at, end};
    while (added->lstrip && out->start > from && unicode_is_space(code_before(text, out->start))) {
      do --out->start;
      while ((text.data[out->start] & 0xC0) == 0x80);
    }
    for (uint32_t code = 0; added->rstrip && out->end < text.size;) {
      size_t length = utf8_decode(text.data + out->end, text.size - out->end, &code);
      if (!unicode_is_space(code)) break;
      out->end += length;
    }
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Texts
//===----------------------------------------------------------------------------------------------------------------===

// Text without added tokens.
static iree_status_t encode_plain(const iree_tokenizer_t* t, const mapped_t* text, size_t start, size_t end,
                                  bytes_t* tokens) {
  pieces_t pieces = pieces_make(tokens->allocator);
  iree_status_t status = mapped_append_part(&pieces.text, text, start, end);
  if (iree_status_is_ok(status)) status = pieces_cut(&pieces);
  if (iree_status_is_ok(status)) status = splitter_apply(t->splitter, &pieces);
  for (size_t p = 0; p < pieces_count(&pieces) && iree_status_is_ok(status); ++p) {
    status = model_encode(&t->vocab.model, &pieces.text, pieces_start(&pieces, p), pieces_end(&pieces, p), tokens);
  }
  pieces_free(&pieces);
  return status;
}

static iree_status_t encode_normalized(const iree_tokenizer_t* t, const mapped_t* text, bool matches_special,
                                       bytes_t* tokens) {
  found_t found;
  size_t at = 0;
  iree_string_view_t view = bytes_view(&text->text);
  while (find_added(t, &t->added_normalized, view, at, matches_special, &found)) {
    IREE_RETURN_IF_ERROR(encode_plain(t, text, at, found.start, tokens));
    IREE_RETURN_IF_ERROR(model_put(tokens, found.added->id, text, found.start, found.end));
    at = found.end;
  }
  return encode_plain(t, text, at, view.size, tokens);
}

// Text that begins at `offset` of the whole.
static iree_status_t encode_part(const iree_tokenizer_t* t, iree_string_view_t text, size_t offset,
                                 bool matches_special, bytes_t* tokens) {
  mapped_t mapped = mapped_make(tokens->allocator);
  iree_status_t status = mapped_append_input(&mapped, text, offset);
  if (iree_status_is_ok(status)) status = normalizer_apply(t->normalizer, &mapped);
  if (iree_status_is_ok(status)) status = encode_normalized(t, &mapped, matches_special, tokens);
  mapped_free(&mapped);
  return status;
}

iree_status_t tokenizer_encode_text(const iree_tokenizer_t* t, iree_string_view_t text, bool matches_special,
                                    bytes_t* tokens) {
  found_t found;
  size_t at = 0;
  while (find_added(t, &t->added_raw, text, at, matches_special, &found)) {
    iree_string_view_t before = iree_string_view_substr(text, at, found.start - at);
    if (before.size) IREE_RETURN_IF_ERROR(encode_part(t, before, at, matches_special, tokens));
    token_t token = {.id = found.added->id, .span = {found.start, found.end}};
    IREE_RETURN_IF_ERROR(bytes_append(tokens, &token, sizeof(token)));
    at = found.end;
  }
  if (at == text.size) return iree_ok_status();
  return encode_part(t, iree_string_view_substr(text, at, IREE_STRING_VIEW_NPOS), at, matches_special, tokens);
}
