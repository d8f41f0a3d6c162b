// What is searched for: a string, or a regular expression.
#ifndef IREE_C_TOKENIZER_PATTERN_H_
#define IREE_C_TOKENIZER_PATTERN_H_

#include "tokenizer/json.h"
#include "tokenizer/regexp.h"

typedef struct pattern_t {
  iree_string_view_t text;  // when there is no regex
  const regexp_t* regex;
} pattern_t;

// {"String": "..."} or {"Regex": "..."}.
iree_status_t pattern_read(const json_t* json, store_t* memory, pattern_t* out);
// The next match from `from` on, which is not empty.
iree_status_t pattern_find(const pattern_t* pattern, iree_string_view_t text, size_t from, iree_allocator_t allocator,
                           bool* out_found, size_t* out_start, size_t* out_end);

#endif  // IREE_C_TOKENIZER_PATTERN_H_
