// See model.h.
#include "tokenizer/model.h"

iree_status_t model_put(bytes_t* tokens, int32_t id, const mapped_t* text, size_t start, size_t end) {
  token_t token = {.id = id, .span = mapped_range(text, start, end)};
  return bytes_append(tokens, &token, sizeof(token));
}

iree_status_t model_put_bytes(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens,
                              bool* out_done) {
  *out_done = true;
  for (size_t i = start; i < end; ++i) *out_done &= model->byte_ids[(uint8_t)text->text.data[i]] >= 0;
  for (size_t i = start; i < end && *out_done; ++i) {
    IREE_RETURN_IF_ERROR(model_put(tokens, model->byte_ids[(uint8_t)text->text.data[i]], text, start, end));
  }
  return iree_ok_status();
}

static iree_status_t put_unknown(const model_t* model, const mapped_t* text, size_t start, size_t end,
                                 bytes_t* tokens) {
  if (model->unknown >= 0) return model_put(tokens, model->unknown, text, start, end);
  return iree_make_status(IREE_STATUS_NOT_FOUND, "'%.*s' is no word, and the model has no unk_token",
                          (int)iree_min(end - start, 64), text->text.data + start);
}

//===----------------------------------------------------------------------------------------------------------------===
// WordPiece and WordLevel
//===----------------------------------------------------------------------------------------------------------------===

// The longest word that begins at `at`, with the prefix where it is not the first; its end, or `at`.
static size_t find_longest(const model_t* model, const mapped_t* text, size_t start, size_t at, size_t end,
                           int32_t* out_id) {
  uint64_t hash = words_hash_begin();
  iree_string_view_t prefix = at > start ? model->prefix : IREE_SV("");
  char word[512];
  size_t size = prefix.size, found = at;
  if (size >= sizeof(word)) return at;
  if (size) memcpy(word, prefix.data, size);
  for (size_t i = 0; i < size; ++i) hash = words_hash_byte(hash, word[i]);
  for (size_t i = at; i < end && size < sizeof(word) && size < model->words.longest; ++i) {
    word[size++] = text->text.data[i];
    hash = words_hash_byte(hash, text->text.data[i]);
    bool whole = i + 1 == end || (text->text.data[i + 1] & 0xC0) != 0x80;
    int32_t id = whole ? words_find_hashed(&model->words, iree_make_string_view(word, size), hash) : -1;
    if (id < 0) continue;
    *out_id = id;
    found = i + 1;
  }
  return found;
}

static iree_status_t wordpiece_encode(const model_t* model, const mapped_t* text, size_t start, size_t end,
                                      bytes_t* tokens) {
  size_t count = 0, before = tokens->size;
  for (size_t i = start; i < end; ++i) count += (text->text.data[i] & 0xC0) != 0x80;
  if (count > model->longest_word) return put_unknown(model, text, start, end, tokens);
  for (size_t at = start; at < end;) {
    int32_t id = -1;
    size_t next = find_longest(model, text, start, at, end, &id);
    if (next == at) {
      tokens->size = before;  // then the whole word is unknown
      return put_unknown(model, text, start, end, tokens);
    }
    IREE_RETURN_IF_ERROR(model_put(tokens, id, text, at, next));
    at = next;
  }
  return iree_ok_status();
}

static iree_status_t wordlevel_encode(const model_t* model, const mapped_t* text, size_t start, size_t end,
                                      bytes_t* tokens) {
  int32_t id = words_find(&model->words, iree_make_string_view(text->text.data + start, end - start));
  return id >= 0 ? model_put(tokens, id, text, start, end) : put_unknown(model, text, start, end, tokens);
}

iree_status_t model_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens) {
  switch (model->kind) {
    case MODEL_BPE:
      return bpe_encode(model, text, start, end, tokens);
    case MODEL_WORDPIECE:
      return wordpiece_encode(model, text, start, end, tokens);
    case MODEL_UNIGRAM:
      return unigram_encode(model, text, start, end, tokens);
    case MODEL_WORDLEVEL:
      return wordlevel_encode(model, text, start, end, tokens);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Unigram
//===----------------------------------------------------------------------------------------------------------------===

enum { UNKNOWN_PENALTY = 10 };

// The best way to a place of the text.
typedef struct node_t {
  double score;
  size_t from;  // SIZE_MAX: there is none yet
  int32_t id;
} node_t;

static void offer(node_t* node, double score, size_t from, int32_t id) {
  if (node->from != SIZE_MAX && score <= node->score) return;
  *node = (node_t){score, from, id};
}

// Fills nodes[1 ... size].
static iree_status_t find_ways(const model_t* model, const char* text, size_t size, node_t* nodes) {
  for (size_t at = 0; at < size;) {
    uint32_t code = 0;
    uint64_t hash = words_hash_begin();
    size_t first = utf8_decode(text + at, size - at, &code);
    bool has_one = false;
    for (size_t i = at; i < size && i - at < model->words.longest; ++i) {
      hash = words_hash_byte(hash, text[i]);
      int32_t id = words_find_hashed(&model->words, iree_make_string_view(text + at, i + 1 - at), hash);
      if (id < 0) continue;
      offer(&nodes[i + 1], nodes[at].score + model->scores[id], at, id);
      has_one |= i + 1 - at == first;
    }
    if (!has_one && model->unknown < 0) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "'%.*s' is no word, and the model has no unk_id", (int)first,
                              text + at);
    }
    if (!has_one) {
      offer(&nodes[at + first], nodes[at].score + model->least_score - UNKNOWN_PENALTY, at, model->unknown);
    }
    at += first;
  }
  return iree_ok_status();
}

// A word, or what is none: bytes of it where they have tokens.
static iree_status_t put_word(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens) {
  bool done = false;
  int32_t id = words_find(&model->words, iree_make_string_view(text->text.data + start, end - start));
  if (id < 0 && model->falls_back) {
    IREE_RETURN_IF_ERROR(model_put_bytes(model, text, start, end, tokens, &done));
    if (done) return iree_ok_status();
  }
  return model_put(tokens, id < 0 ? model->unknown : id, text, start, end);
}

iree_status_t unigram_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens) {
  store_t memory = store_make(tokens->allocator);
  node_t* nodes = NULL;
  size_t *ends = NULL, count = 0, size = end - start;
  iree_status_t status = store_take(&memory, size + 1, sizeof(*nodes), (void**)&nodes);
  if (iree_status_is_ok(status)) status = store_take(&memory, size + 1, sizeof(*ends), (void**)&ends);
  for (size_t i = 1; i <= size && iree_status_is_ok(status); ++i) nodes[i].from = SIZE_MAX;
  if (iree_status_is_ok(status)) status = find_ways(model, text->text.data + start, size, nodes);
  if (iree_status_is_ok(status)) {
    for (size_t at = size; at;) {
      ends[count++] = at;
      bool unknown = nodes[at].id == model->unknown && model->fuses_unknown;
      at = nodes[at].from;
      while (unknown && at && nodes[at].id == model->unknown) at = nodes[at].from;  // several are one
    }
  }
  for (size_t at = 0; count && iree_status_is_ok(status); at = ends[count]) {
    --count;
    status = put_word(model, text, start + at, start + ends[count], tokens);
  }
  store_free(&memory);
  return status;
}
