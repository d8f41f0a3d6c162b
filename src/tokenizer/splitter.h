// Splitters, which tokenizers' files call pre-tokenizers: they divide text into pieces that tokens do not cross, and
// may write it in another way.
#ifndef IREE_C_TOKENIZER_SPLITTER_H_
#define IREE_C_TOKENIZER_SPLITTER_H_

#include "tokenizer/json.h"
#include "tokenizer/mapped.h"

typedef struct pieces_t {
  mapped_t text;
  bytes_t ends;  // of each piece in the text, as size_t
} pieces_t;

static inline pieces_t pieces_make(iree_allocator_t allocator) {
  return (pieces_t){mapped_make(allocator), bytes_make(allocator)};
}
static inline void pieces_free(pieces_t* p) {
  mapped_free(&p->text);
  bytes_free(&p->ends);
}
static inline size_t pieces_count(const pieces_t* p) { return p->ends.size / sizeof(size_t); }
static inline size_t pieces_end(const pieces_t* p, size_t i) { return ((const size_t*)p->ends.data)[i]; }
static inline size_t pieces_start(const pieces_t* p, size_t i) { return i ? pieces_end(p, i - 1) : 0; }
// What was appended to the text since the last end is a piece, if it is anything.
iree_status_t pieces_cut(pieces_t* p);

typedef struct splitter_t splitter_t;

// NULL for null.
iree_status_t splitter_read(const json_t* json, store_t* memory, const splitter_t** out);
// One that divides by a regular expression, each match a piece.
iree_status_t splitter_from_pattern(iree_string_view_t pattern, store_t* memory, const splitter_t** out);
// Divides the pieces further; NULL leaves them.
iree_status_t splitter_apply(const splitter_t* splitter, pieces_t* pieces);

// The characters that stand for bytes in ByteLevel, and the byte of one, or -1.
uint32_t byte_level_code(uint8_t byte);
int byte_level_byte(uint32_t code);

#endif  // IREE_C_TOKENIZER_SPLITTER_H_
