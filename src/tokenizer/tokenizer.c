// The public calls.
#include "tokenizer/tokenizer.h"

void iree_tokenizer_free(iree_tokenizer_t* tokenizer) {
  if (!tokenizer) return;
  iree_allocator_t allocator = tokenizer->memory.allocator;
  store_free(&tokenizer->memory);
  iree_allocator_free(allocator, tokenizer);
}

const iree_tokenizer_vocab_t* iree_tokenizer_vocab(const iree_tokenizer_t* tokenizer) { return &tokenizer->vocab; }

static size_t count_added(const template_t* template) {
  size_t count = 0;
  for (size_t i = 0; i < template->count; ++i) count += template->items[i].id >= 0;
  return count;
}

iree_host_size_t iree_tokenizer_max_special_token_count(const iree_tokenizer_t* tokenizer) {
  return iree_max(count_added(&tokenizer->single), count_added(&tokenizer->pair));
}

iree_string_view_t iree_tokenizer_model_type_name(const iree_tokenizer_t* tokenizer) {
  static const char* const names[] = {"BPE", "WordPiece", "Unigram", "WordLevel"};
  return iree_make_cstring_view(names[tokenizer->vocab.model.kind]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Vocabularies
//===----------------------------------------------------------------------------------------------------------------===

int32_t iree_tokenizer_vocab_lookup(const iree_tokenizer_vocab_t* vocab, iree_string_view_t text) {
  int32_t id = words_find(&vocab->added_by_id, text);
  return id >= 0 ? id : words_find(&vocab->model.words, text);
}

static bool has_word(const words_t* words, int32_t id) {
  return id >= 0 && (size_t)id < words->capacity && words->texts[id].data;
}

iree_string_view_t iree_tokenizer_vocab_token_text(const iree_tokenizer_vocab_t* vocab, int32_t token_id) {
  if (has_word(&vocab->added_by_id, token_id)) return vocab->added_by_id.texts[token_id];
  return has_word(&vocab->model.words, token_id) ? vocab->model.words.texts[token_id] : iree_string_view_empty();
}

iree_tokenizer_token_attr_t iree_tokenizer_vocab_token_attrs(const iree_tokenizer_vocab_t* vocab, int32_t token_id) {
  const added_t* added = tokenizer_find_added(vocab, token_id);
  if (!added && !has_word(&vocab->model.words, token_id)) return IREE_TOKENIZER_TOKEN_ATTR_UNUSED;
  iree_tokenizer_token_attr_t attrs = added && added->special ? IREE_TOKENIZER_TOKEN_ATTR_SPECIAL : 0;
  return attrs | (token_id == vocab->model.unknown ? IREE_TOKENIZER_TOKEN_ATTR_UNKNOWN : 0);
}

iree_host_size_t iree_tokenizer_vocab_capacity(const iree_tokenizer_vocab_t* vocab) {
  return iree_max(vocab->model.words.capacity, vocab->added_count ? vocab->added_by_id.capacity : 0);
}

iree_host_size_t iree_tokenizer_vocab_token_count(const iree_tokenizer_vocab_t* vocab) {
  iree_host_size_t count = vocab->model.words.count;
  for (size_t i = 0; i < vocab->added_by_id.capacity; ++i) {
    count += has_word(&vocab->added_by_id, (int32_t)i) && !has_word(&vocab->model.words, (int32_t)i);
  }
  return count;
}

iree_host_size_t iree_tokenizer_vocab_merge_count(const iree_tokenizer_vocab_t* vocab) {
  return vocab->model.merge_count;
}

// The first of the names that is a token.
static int32_t find_named(const iree_tokenizer_vocab_t* vocab, const char* names) {
  int32_t id = -1;
  for (iree_string_view_t rest = iree_make_cstring_view(names), name; rest.size && id < 0;) {
    iree_string_view_split(rest, ' ', &name, &rest);
    id = iree_tokenizer_vocab_lookup(vocab, name);
  }
  return id;
}

iree_tokenizer_special_ids_t iree_tokenizer_vocab_special_ids(const iree_tokenizer_vocab_t* vocab) {
  iree_tokenizer_special_ids_t ids = {
      .bos = find_named(vocab, "<s> <bos> <|begin_of_text|> <|startoftext|>"),
      .eos = find_named(vocab, "</s> <eos> <|end_of_text|> <|endoftext|>"),
      .unk = vocab->model.unknown >= 0 ? vocab->model.unknown : find_named(vocab, "<unk> [UNK]"),
      .pad = find_named(vocab, "<pad> [PAD]"),
      .sep = find_named(vocab, "[SEP]"),
      .cls = find_named(vocab, "[CLS]"),
      .mask = find_named(vocab, "<mask> [MASK]"),
  };
  return ids;
}

//===----------------------------------------------------------------------------------------------------------------===
// Encoding
//===----------------------------------------------------------------------------------------------------------------===

static const template_item_t plain_items[] = {{TEMPLATE_FIRST, 0}, {TEMPLATE_SECOND, 1}};

static size_t token_count(const bytes_t* tokens) { return tokens->size / sizeof(token_t); }

static void write(iree_tokenizer_token_output_t output, size_t at, int32_t id, span_t span, uint32_t type) {
  if (at >= output.capacity) return;
  output.token_ids[at] = id;
  if (output.token_offsets) output.token_offsets[at] = (iree_tokenizer_offset_t){span.start, span.end};
  if (output.type_ids) output.type_ids[at] = (uint8_t)type;
}

static iree_status_t fill(const template_t* template, const bytes_t texts[2], iree_tokenizer_token_output_t output,
                          iree_host_size_t* out_token_count) {
  size_t count = 0;
  for (size_t i = 0; i < template->count; ++i) {
    const template_item_t* item = &template->items[i];
    if (item->id >= 0) {
      write(output, count++, item->id, (span_t){0, 0}, item->type);
      continue;
    }
    const bytes_t* text = &texts[item->id == TEMPLATE_SECOND];
    for (size_t k = 0; k < token_count(text); ++k) {
      const token_t* token = (const token_t*)text->data + k;
      write(output, count++, token->id, token->span, item->type);
    }
  }
  *out_token_count = count;
  if (count <= output.capacity) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "there are %zu tokens and room for %" PRIhsz, count,
                          output.capacity);
}

// `pair` may be NULL.
static iree_status_t encode(const iree_tokenizer_t* t, iree_string_view_t text, const iree_string_view_t* pair,
                            iree_tokenizer_encode_flags_t flags, iree_tokenizer_token_output_t output,
                            iree_allocator_t allocator, iree_host_size_t* out_token_count) {
  bool matches = !(flags & IREE_TOKENIZER_ENCODE_FLAG_NO_SPECIAL_TOKEN_MATCHING);
  bytes_t texts[2] = {bytes_make(allocator), bytes_make(allocator)};
  *out_token_count = 0;
  iree_status_t status = tokenizer_encode_text(t, text, matches, &texts[0]);
  if (pair && iree_status_is_ok(status)) status = tokenizer_encode_text(t, *pair, matches, &texts[1]);
  template_t template = pair ? t->pair : t->single;
  if (!template.count || !(flags & IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS)) {
    template = (template_t){plain_items, pair ? 2 : 1};
  }
  if (iree_status_is_ok(status)) status = fill(&template, texts, output, out_token_count);
  bytes_free(&texts[0]);
  bytes_free(&texts[1]);
  return status;
}

iree_status_t iree_tokenizer_encode(const iree_tokenizer_t* tokenizer, iree_string_view_t text,
                                    iree_tokenizer_encode_flags_t flags, iree_tokenizer_token_output_t output,
                                    iree_allocator_t allocator, iree_host_size_t* out_token_count) {
  return encode(tokenizer, text, NULL, flags, output, allocator, out_token_count);
}

iree_status_t iree_tokenizer_encode_pair(const iree_tokenizer_t* tokenizer, iree_string_view_t text,
                                         iree_string_view_t text_pair, iree_tokenizer_encode_flags_t flags,
                                         iree_tokenizer_token_output_t output, iree_allocator_t allocator,
                                         iree_host_size_t* out_token_count) {
  return encode(tokenizer, text, &text_pair, flags, output, allocator, out_token_count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Decoding
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t decode(const iree_tokenizer_t* t, const iree_tokenizer_token_id_t* ids, size_t count,
                            iree_tokenizer_decode_flags_t flags, bytes_t* out) {
  bytes_t words = bytes_make(out->allocator);
  iree_status_t status = iree_ok_status();
  for (size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    iree_string_view_t text = iree_tokenizer_vocab_token_text(&t->vocab, ids[i]);
    const added_t* added = tokenizer_find_added(&t->vocab, ids[i]);
    bool skips = (flags & IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS) && added && added->special;
    if (text.data && !skips) status = bytes_append(&words, &text, sizeof(text));
  }
  if (iree_status_is_ok(status)) status = decoder_apply(t->decoder, &words, out);
  bytes_free(&words);
  return status;
}

static iree_status_t hand_out(iree_string_view_t text, iree_mutable_string_view_t output,
                              iree_host_size_t* out_length) {
  *out_length = text.size;
  size_t size = iree_min(text.size, output.size);
  if (size) memcpy(output.data, text.data, size);
  if (text.size <= output.size) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                          "the text has %" PRIhsz " bytes, and there is room for %" PRIhsz, text.size, output.size);
}

iree_status_t iree_tokenizer_decode(const iree_tokenizer_t* tokenizer, iree_tokenizer_token_id_list_t tokens,
                                    iree_tokenizer_decode_flags_t flags, iree_mutable_string_view_t text_output,
                                    iree_allocator_t allocator, iree_host_size_t* out_text_length) {
  bytes_t text = bytes_make(allocator);
  *out_text_length = 0;
  iree_status_t status = decode(tokenizer, tokens.values, tokens.count, flags, &text);
  if (iree_status_is_ok(status)) status = hand_out(bytes_view(&text), text_output, out_text_length);
  bytes_free(&text);
  return status;
}

// Of the tokens so far those are kept whose text may matter to the next ones: what was given out last, and what waits.
struct iree_tokenizer_decode_state_t {
  const iree_tokenizer_t* tokenizer;
  iree_tokenizer_decode_flags_t flags;
  bytes_t ids;
  size_t given_count;  // of them, whose text was given out
  size_t given_size;   // bytes of that text
};

iree_status_t iree_tokenizer_decode_state_calculate_size(const iree_tokenizer_t* tokenizer,
                                                         iree_host_size_t* out_size) {
  *out_size = sizeof(iree_tokenizer_decode_state_t);
  return iree_ok_status();
}

iree_status_t iree_tokenizer_decode_state_initialize(const iree_tokenizer_t* tokenizer,
                                                     iree_tokenizer_decode_flags_t flags,
                                                     iree_byte_span_t state_storage,
                                                     iree_tokenizer_decode_state_t** out_state) {
  *out_state = NULL;
  if (state_storage.data_length < sizeof(**out_state)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a state needs %zu bytes; there are %" PRIhsz,
                            sizeof(**out_state), state_storage.data_length);
  }
  *out_state = (iree_tokenizer_decode_state_t*)state_storage.data;
  **out_state = (iree_tokenizer_decode_state_t){
      .tokenizer = tokenizer, .flags = flags, .ids = bytes_make(tokenizer->memory.allocator)};
  return iree_ok_status();
}

void iree_tokenizer_decode_state_deinitialize(iree_tokenizer_decode_state_t* state) {
  if (state) bytes_free(&state->ids);
}

static size_t id_count(const iree_tokenizer_decode_state_t* s) {
  return s->ids.size / sizeof(iree_tokenizer_token_id_t);
}

// Forgets tokens whose text was given out, but for those of the last time.
static iree_status_t advance(iree_tokenizer_decode_state_t* s) {
  size_t kept = id_count(s) - s->given_count;
  memmove(s->ids.data, (const iree_tokenizer_token_id_t*)s->ids.data + s->given_count,
          kept * sizeof(iree_tokenizer_token_id_t));
  s->ids.size = kept * sizeof(iree_tokenizer_token_id_t);
  bytes_t text = bytes_make(s->ids.allocator);
  iree_status_t status = decode(s->tokenizer, (const iree_tokenizer_token_id_t*)s->ids.data, kept, s->flags, &text);
  s->given_count = kept;
  s->given_size = text.size;
  bytes_free(&text);
  return status;
}

static bool ends_broken(const bytes_t* text) {
  return text->size >= 3 && memcmp(text->data + text->size - 3, "\xEF\xBF\xBD", 3) == 0;
}

// Takes one token; false where its text does not fit.
static iree_status_t feed_one(iree_tokenizer_decode_state_t* s, iree_tokenizer_token_id_t id,
                              iree_mutable_string_view_t* output, bool* out_taken) {
  bytes_t text = bytes_make(s->ids.allocator);
  *out_taken = false;
  IREE_RETURN_IF_ERROR(bytes_append(&s->ids, &id, sizeof(id)));
  iree_status_t status =
      decode(s->tokenizer, (const iree_tokenizer_token_id_t*)s->ids.data, id_count(s), s->flags, &text);
  size_t fresh = text.size > s->given_size && !ends_broken(&text) ? text.size - s->given_size : 0;
  if (iree_status_is_ok(status) && fresh <= output->size) {
    *out_taken = true;
    if (fresh) {
      memcpy(output->data, text.data + s->given_size, fresh);
      output->data += fresh;
      output->size -= fresh;
      status = advance(s);
    }
  } else {
    s->ids.size -= sizeof(id);
  }
  bytes_free(&text);
  return status;
}

iree_status_t iree_tokenizer_decode_state_feed(iree_tokenizer_decode_state_t* state,
                                               iree_tokenizer_token_id_list_t tokens,
                                               iree_mutable_string_view_t text_output,
                                               iree_host_size_t* out_tokens_consumed,
                                               iree_host_size_t* out_text_length) {
  iree_mutable_string_view_t rest = text_output;
  iree_status_t status = iree_ok_status();
  bool taken = true;
  *out_tokens_consumed = 0;
  while (*out_tokens_consumed < tokens.count && taken && iree_status_is_ok(status)) {
    status = feed_one(state, tokens.values[*out_tokens_consumed], &rest, &taken);
    *out_tokens_consumed += taken;
  }
  *out_text_length = text_output.size - rest.size;
  return status;
}

iree_status_t iree_tokenizer_decode_state_finalize(iree_tokenizer_decode_state_t* state,
                                                   iree_mutable_string_view_t text_output,
                                                   iree_host_size_t* out_text_length) {
  bytes_t text = bytes_make(state->ids.allocator);
  *out_text_length = 0;
  iree_status_t status =
      decode(state->tokenizer, (const iree_tokenizer_token_id_t*)state->ids.data, id_count(state), state->flags, &text);
  size_t given = iree_min(state->given_size, text.size);
  if (iree_status_is_ok(status)) {
    status = hand_out(iree_make_string_view(text.data + given, text.size - given), text_output, out_text_length);
  }
  if (iree_status_is_ok(status)) state->ids.size = state->given_count = state->given_size = 0;
  bytes_free(&text);
  return status;
}
