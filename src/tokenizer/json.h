// Reads JSON into a tree, whose memory is one arena's.
#ifndef IREE_C_TOKENIZER_JSON_H_
#define IREE_C_TOKENIZER_JSON_H_

#include "tokenizer/store.h"

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind_t;

typedef struct json_t json_t;
struct json_t {
  json_kind_t kind;
  iree_string_view_t name;  // of an object's member
  iree_string_view_t text;  // of strings, as UTF-8 without escapes; of numbers, as written
  double number;
  const json_t *first, *next;  // of arrays and objects; the next beside it
  size_t count;
};

// Errors: INVALID_ARGUMENT with line and column.
iree_status_t json_parse(iree_string_view_t text, store_t* memory, const json_t** out_root);
// A member, or NULL; `object` may be NULL. Of several with one name the last.
const json_t* json_member(const json_t* object, const char* name);
static inline bool json_is(const json_t* value, json_kind_t kind) { return value && value->kind == kind; }
// Members with defaults for those that are not there or null.
bool json_bool(const json_t* object, const char* name, bool otherwise);
iree_string_view_t json_text(const json_t* object, const char* name, iree_string_view_t otherwise);
// False where it is none of [0, most].
bool json_integer(const json_t* value, int64_t most, int64_t* out);

#endif  // IREE_C_TOKENIZER_JSON_H_
