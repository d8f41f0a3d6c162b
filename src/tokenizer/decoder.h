// Decoders: text of tokens.
#ifndef IREE_C_TOKENIZER_DECODER_H_
#define IREE_C_TOKENIZER_DECODER_H_

#include "tokenizer/json.h"

typedef struct decoder_t decoder_t;

// NULL for null: then words stand apart by blanks.
iree_status_t decoder_read(const json_t* json, store_t* memory, const decoder_t** out);
// One that writes tokens' bytes one behind the other.
iree_status_t decoder_plain(store_t* memory, const decoder_t** out);
// Appends the text of words, iree_string_view_t one behind the other, to `out`.
iree_status_t decoder_apply(const decoder_t* decoder, const bytes_t* words, bytes_t* out);
// Appends what is UTF-8 of the text, and a replacement character for each other run.
iree_status_t decoder_append_repaired(iree_string_view_t text, bytes_t* out);

#endif  // IREE_C_TOKENIZER_DECODER_H_
