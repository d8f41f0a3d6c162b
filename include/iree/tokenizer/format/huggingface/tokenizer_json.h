// Tokenizers from tokenizer.json, as Hugging Face's `tokenizers` writes it.
#ifndef IREE_TOKENIZER_FORMAT_HUGGINGFACE_TOKENIZER_JSON_H_
#define IREE_TOKENIZER_FORMAT_HUGGINGFACE_TOKENIZER_JSON_H_

#include "iree/base/api.h"
#include "iree/tokenizer/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

// `json` is not needed any more when this returns. "truncation" and "padding" of the file are not done. Errors:
// INVALID_ARGUMENT for what is no such file, UNIMPLEMENTED with the name of a part that is not known.
IREE_API_EXPORT iree_status_t iree_tokenizer_from_huggingface_json(iree_string_view_t json, iree_allocator_t allocator,
                                                                   iree_tokenizer_t** out_tokenizer);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOKENIZER_FORMAT_HUGGINGFACE_TOKENIZER_JSON_H_
