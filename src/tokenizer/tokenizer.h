// A tokenizer's parts.
#ifndef IREE_C_TOKENIZER_TOKENIZER_H_
#define IREE_C_TOKENIZER_TOKENIZER_H_

#include "iree/tokenizer/tokenizer.h"
#include "tokenizer/decoder.h"
#include "tokenizer/model.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/splitter.h"

// A token that is found in text before the model sees it.
typedef struct added_t {
  int32_t id;
  iree_string_view_t content;
  bool single_word, lstrip, rstrip, normalized, special;
} added_t;

enum { TEMPLATE_FIRST = -1, TEMPLATE_SECOND = -2 };

// An item is a token, or one of the texts.
typedef struct template_item_t {
  int32_t id;
  uint32_t type;
} template_item_t;

typedef struct template_t {
  const template_item_t* items;
  size_t count;  // 0: there is none
} template_t;

struct iree_tokenizer_vocab_t {
  model_t model;
  const added_t* added;
  size_t added_count;
  words_t added_by_id;  // texts alone, without their places for lookups where ids are shared
};

struct iree_tokenizer_t {
  store_t memory;
  iree_tokenizer_vocab_t vocab;
  const normalizer_t* normalizer;
  const splitter_t* splitter;
  const decoder_t* decoder;
  words_t added_raw, added_normalized;  // places in vocab.added, by what is searched for
  template_t single, pair;
};

// An empty one, with its memory.
iree_status_t tokenizer_allocate(iree_allocator_t allocator, iree_tokenizer_t** out);
// When the parts are there: what is searched for and found by numbers.
iree_status_t tokenizer_index_added(iree_tokenizer_t* tokenizer);

// Tokens (token_t) of a text, without those that are added.
iree_status_t tokenizer_encode_text(const iree_tokenizer_t* tokenizer, iree_string_view_t text, bool matches_special,
                                    bytes_t* tokens);
const added_t* tokenizer_find_added(const iree_tokenizer_vocab_t* vocab, int32_t id);

#endif  // IREE_C_TOKENIZER_TOKENIZER_H_
