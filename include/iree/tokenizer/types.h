// Tokens' numbers, and where calls write them.
#ifndef IREE_TOKENIZER_TYPES_H_
#define IREE_TOKENIZER_TYPES_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t iree_tokenizer_token_id_t;
#define IREE_TOKENIZER_TOKEN_ID_INVALID ((iree_tokenizer_token_id_t) - 1)

typedef struct iree_tokenizer_token_id_list_t {
  iree_host_size_t count;
  const iree_tokenizer_token_id_t* values;
} iree_tokenizer_token_id_list_t;
static inline iree_tokenizer_token_id_list_t iree_tokenizer_token_id_list_empty(void) {
  iree_tokenizer_token_id_list_t list = {0, NULL};
  return list;
}
static inline iree_tokenizer_token_id_list_t iree_tokenizer_make_token_id_list(const iree_tokenizer_token_id_t* values,
                                                                               iree_host_size_t count) {
  iree_tokenizer_token_id_list_t list = {count, values};
  return list;
}

// Bytes of the input; special tokens have none.
typedef struct iree_tokenizer_offset_t {
  iree_host_size_t start;
  iree_host_size_t end;
} iree_tokenizer_offset_t;

// Arrays of `capacity` elements; those but token_ids may be NULL.
typedef struct iree_tokenizer_token_output_t {
  iree_host_size_t capacity;
  iree_tokenizer_token_id_t* token_ids;
  iree_tokenizer_offset_t* token_offsets;
  uint8_t* type_ids;  // of the sequence that a token is of
} iree_tokenizer_token_output_t;
static inline iree_tokenizer_token_output_t iree_tokenizer_make_token_output(iree_tokenizer_token_id_t* token_ids,
                                                                             iree_tokenizer_offset_t* token_offsets,
                                                                             uint8_t* type_ids,
                                                                             iree_host_size_t capacity) {
  iree_tokenizer_token_output_t output = {capacity, token_ids, token_offsets, type_ids};
  return output;
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOKENIZER_TYPES_H_
