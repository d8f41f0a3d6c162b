// Regular expressions as tokenizers' files have them (Oniguruma's syntax for Ruby): alternatives, groups (?:...),
// (?i:...), classes with \p{L}, \s, \w, \d, quantifiers (greedy, lazy, possessive), ^ and $, lookahead. Matching
// backtracks within a budget, so that no pattern takes for ever.
#ifndef IREE_C_TOKENIZER_REGEXP_H_
#define IREE_C_TOKENIZER_REGEXP_H_

#include "tokenizer/store.h"

typedef struct regexp_t regexp_t;

// In the memory. Errors: INVALID_ARGUMENT, UNIMPLEMENTED for what this knows not, each with the place.
iree_status_t regexp_compile(iree_string_view_t pattern, store_t* memory, const regexp_t** out_regex);
// The first match from `from` on, which is not empty: false when there is none. Errors: RESOURCE_EXHAUSTED.
iree_status_t regexp_find(const regexp_t* regex, iree_string_view_t text, size_t from, iree_allocator_t allocator,
                          bool* out_found, size_t* out_start, size_t* out_end);

#endif  // IREE_C_TOKENIZER_REGEXP_H_
