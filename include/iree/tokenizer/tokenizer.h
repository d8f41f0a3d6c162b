// Tokenizers: text to tokens and back. format/ has what makes them of files. A tokenizer does not change: any number of
// threads may use it, each with states of its own.
#ifndef IREE_TOKENIZER_TOKENIZER_H_
#define IREE_TOKENIZER_TOKENIZER_H_

#include "iree/base/api.h"
#include "iree/tokenizer/types.h"
#include "iree/tokenizer/vocab/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_tokenizer_t iree_tokenizer_t;

enum iree_tokenizer_encode_flag_bits_e {
  IREE_TOKENIZER_ENCODE_FLAG_NONE = 0u,
  IREE_TOKENIZER_ENCODE_FLAG_AT_INPUT_START = 1u << 0,             // always so here
  IREE_TOKENIZER_ENCODE_FLAG_TRACK_OFFSETS = 1u << 1,              // where there is an array for them, they are written
  IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS = 1u << 2,         // those that the file's post-processor adds
  IREE_TOKENIZER_ENCODE_FLAG_NO_SPECIAL_TOKEN_MATCHING = 1u << 3,  // <|end|> in the text is text
};
typedef uint32_t iree_tokenizer_encode_flags_t;

enum iree_tokenizer_decode_flag_bits_e {
  IREE_TOKENIZER_DECODE_FLAG_NONE = 0u,
  IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS = 1u << 0,
};
typedef uint32_t iree_tokenizer_decode_flags_t;

IREE_API_EXPORT void iree_tokenizer_free(iree_tokenizer_t* tokenizer);
IREE_API_EXPORT const iree_tokenizer_vocab_t* iree_tokenizer_vocab(const iree_tokenizer_t* tokenizer);
// How many tokens are added at most with ADD_SPECIAL_TOKENS.
IREE_API_EXPORT iree_host_size_t iree_tokenizer_max_special_token_count(const iree_tokenizer_t* tokenizer);
// "BPE", "WordPiece", "Unigram", "WordLevel".
IREE_API_EXPORT iree_string_view_t iree_tokenizer_model_type_name(const iree_tokenizer_t* tokenizer);

// Writes the tokens of a text, which is UTF-8 (other bytes are replacement characters). Errors: RESOURCE_EXHAUSTED
// where the output is too small, with what is needed in *out_token_count; NOT_FOUND for text that a model without an
// unknown token has no token for.
IREE_API_EXPORT iree_status_t iree_tokenizer_encode(const iree_tokenizer_t* tokenizer, iree_string_view_t text,
                                                    iree_tokenizer_encode_flags_t flags,
                                                    iree_tokenizer_token_output_t output, iree_allocator_t allocator,
                                                    iree_host_size_t* out_token_count);
// Writes the text of tokens, without a NUL. Numbers of no token are left out. Errors: as above.
IREE_API_EXPORT iree_status_t iree_tokenizer_decode(const iree_tokenizer_t* tokenizer,
                                                    iree_tokenizer_token_id_list_t tokens,
                                                    iree_tokenizer_decode_flags_t flags,
                                                    iree_mutable_string_view_t text_output, iree_allocator_t allocator,
                                                    iree_host_size_t* out_text_length);

// Two texts as one sequence: the post-processor's template for pairs. Offsets of the second are its own. Not part of
// IREE's API by itself: there it is an item of a batch.
IREE_API_EXPORT iree_status_t iree_tokenizer_encode_pair(const iree_tokenizer_t* tokenizer, iree_string_view_t text,
                                                         iree_string_view_t text_pair,
                                                         iree_tokenizer_encode_flags_t flags,
                                                         iree_tokenizer_token_output_t output,
                                                         iree_allocator_t allocator, iree_host_size_t* out_token_count);

// Decoding as tokens come. `feed` takes tokens and gives the text that no later token changes; what is no whole
// character yet waits.
typedef struct iree_tokenizer_decode_state_t iree_tokenizer_decode_state_t;
IREE_API_EXPORT iree_status_t iree_tokenizer_decode_state_calculate_size(const iree_tokenizer_t* tokenizer,
                                                                         iree_host_size_t* out_size);
// In storage of the caller's, aligned as malloc's; further memory is the tokenizer's allocator's.
IREE_API_EXPORT iree_status_t iree_tokenizer_decode_state_initialize(const iree_tokenizer_t* tokenizer,
                                                                     iree_tokenizer_decode_flags_t flags,
                                                                     iree_byte_span_t state_storage,
                                                                     iree_tokenizer_decode_state_t** out_state);
IREE_API_EXPORT void iree_tokenizer_decode_state_deinitialize(iree_tokenizer_decode_state_t* state);
// Takes as many tokens as their text fits. Nothing taken and nothing written: the output is too small.
IREE_API_EXPORT iree_status_t iree_tokenizer_decode_state_feed(iree_tokenizer_decode_state_t* state,
                                                               iree_tokenizer_token_id_list_t tokens,
                                                               iree_mutable_string_view_t text_output,
                                                               iree_host_size_t* out_tokens_consumed,
                                                               iree_host_size_t* out_text_length);
// The rest. Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_tokenizer_decode_state_finalize(iree_tokenizer_decode_state_t* state,
                                                                   iree_mutable_string_view_t text_output,
                                                                   iree_host_size_t* out_text_length);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOKENIZER_TOKENIZER_H_
