// Normalizers: what happens to text before it is divided.
#ifndef IREE_C_TOKENIZER_NORMALIZER_H_
#define IREE_C_TOKENIZER_NORMALIZER_H_

#include "tokenizer/json.h"
#include "tokenizer/mapped.h"

typedef struct normalizer_t normalizer_t;

// NULL for null. Errors: INVALID_ARGUMENT, UNIMPLEMENTED for a type that is not here.
iree_status_t normalizer_read(const json_t* json, store_t* memory, const normalizer_t** out);
// `text` becomes what the normalizer (NULL: none) makes of it.
iree_status_t normalizer_apply(const normalizer_t* normalizer, mapped_t* text);

#endif  // IREE_C_TOKENIZER_NORMALIZER_H_
