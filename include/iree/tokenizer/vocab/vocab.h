// What a tokenizer knows of its tokens. It lives as long as the tokenizer. Thread safe.
#ifndef IREE_TOKENIZER_VOCAB_VOCAB_H_
#define IREE_TOKENIZER_VOCAB_VOCAB_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_tokenizer_token_attr_bits_e {
  IREE_TOKENIZER_TOKEN_ATTR_NONE = 0u,
  IREE_TOKENIZER_TOKEN_ATTR_UNKNOWN = 1u << 0,
  IREE_TOKENIZER_TOKEN_ATTR_CONTROL = 1u << 1,
  IREE_TOKENIZER_TOKEN_ATTR_BYTE = 1u << 2,
  IREE_TOKENIZER_TOKEN_ATTR_SPECIAL = 1u << 3,
  IREE_TOKENIZER_TOKEN_ATTR_UNUSED = 1u << 4,  // the number is no token's
};
typedef uint16_t iree_tokenizer_token_attr_t;

// -1: there is none, as far as tokens' names tell.
typedef struct iree_tokenizer_special_ids_t {
  int32_t bos;
  int32_t eos;
  int32_t unk;
  int32_t pad;
  int32_t sep;
  int32_t cls;
  int32_t mask;
} iree_tokenizer_special_ids_t;

typedef struct iree_tokenizer_vocab_t iree_tokenizer_vocab_t;

// -1 for what is no token.
IREE_API_EXPORT int32_t iree_tokenizer_vocab_lookup(const iree_tokenizer_vocab_t* vocab, iree_string_view_t text);
// Empty for what is no token's number.
IREE_API_EXPORT iree_string_view_t iree_tokenizer_vocab_token_text(const iree_tokenizer_vocab_t* vocab,
                                                                   int32_t token_id);
IREE_API_EXPORT iree_tokenizer_token_attr_t iree_tokenizer_vocab_token_attrs(const iree_tokenizer_vocab_t* vocab,
                                                                             int32_t token_id);
// The greatest number and one.
IREE_API_EXPORT iree_host_size_t iree_tokenizer_vocab_capacity(const iree_tokenizer_vocab_t* vocab);
IREE_API_EXPORT iree_host_size_t iree_tokenizer_vocab_token_count(const iree_tokenizer_vocab_t* vocab);
IREE_API_EXPORT iree_tokenizer_special_ids_t iree_tokenizer_vocab_special_ids(const iree_tokenizer_vocab_t* vocab);
// Of BPE; 0 for others.
IREE_API_EXPORT iree_host_size_t iree_tokenizer_vocab_merge_count(const iree_tokenizer_vocab_t* vocab);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOKENIZER_VOCAB_VOCAB_H_
