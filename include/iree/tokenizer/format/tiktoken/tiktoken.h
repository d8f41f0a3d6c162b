// Tokenizers from .tiktoken files: lines of a token's bytes in base64 and its rank. How text is divided, and which
// special tokens there are, an encoding's name says.
#ifndef IREE_TOKENIZER_FORMAT_TIKTOKEN_TIKTOKEN_H_
#define IREE_TOKENIZER_FORMAT_TIKTOKEN_TIKTOKEN_H_

#include "iree/base/api.h"
#include "iree/tokenizer/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the file does not say. Texts are the caller's, and copied.
typedef struct iree_tokenizer_tiktoken_config_t {
  iree_string_view_t pattern;  // a regular expression; each match is a piece of the text
  iree_host_size_t special_token_count;
  const iree_string_view_t* special_token_strings;
  const int32_t* special_token_ids;
} iree_tokenizer_tiktoken_config_t;

IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_cl100k_base(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_o200k_base(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_o200k_harmony(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_r50k_base(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_gpt2(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_p50k_base(void);
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_p50k_edit(void);
// One of these by its name; NULL for another.
IREE_API_EXPORT const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_by_name(iree_string_view_t name);

// Errors: INVALID_ARGUMENT, with the line.
IREE_API_EXPORT iree_status_t iree_tokenizer_from_tiktoken(iree_string_view_t data,
                                                           const iree_tokenizer_tiktoken_config_t* config,
                                                           iree_allocator_t allocator,
                                                           iree_tokenizer_t** out_tokenizer);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOKENIZER_FORMAT_TIKTOKEN_TIKTOKEN_H_
