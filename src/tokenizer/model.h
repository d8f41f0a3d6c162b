// Models: which tokens a piece of text is. BPE (by merges, or by ranks as tiktoken has them), WordPiece, Unigram,
// WordLevel.
#ifndef IREE_C_TOKENIZER_MODEL_H_
#define IREE_C_TOKENIZER_MODEL_H_

#include "tokenizer/json.h"
#include "tokenizer/mapped.h"
#include "tokenizer/words.h"

typedef enum { MODEL_BPE, MODEL_WORDPIECE, MODEL_UNIGRAM, MODEL_WORDLEVEL } model_kind_t;

typedef struct merge_t {
  int32_t left, right, result;  // left -1: an empty slot
  uint32_t rank;
} merge_t;

typedef struct model_t {
  model_kind_t kind;
  words_t words;
  int32_t unknown;  // -1: none
  // BPE
  merge_t* merges;  // a hash table
  size_t merge_slots, merge_count;
  iree_string_view_t prefix, suffix;  // of what continues a word, of what ends it; prefix of WordPiece too
  bool fuses_unknown, falls_back, ignores_merges, by_rank;
  int32_t byte_ids[256];  // of <0x00> and so on, or of bytes themselves
  size_t longest_word;    // WordPiece: code points
  // Unigram
  const double* scores;
  double least_score;
} model_t;

typedef struct token_t {
  int32_t id;
  uint32_t type;
  span_t span;
} token_t;

iree_status_t model_read(const json_t* json, store_t* memory, model_t* out);
// Merges of bytes by ranks: `words` has all of them.
iree_status_t model_from_ranks(const words_t* words, model_t* out);
// Appends the tokens of [start, end).
iree_status_t model_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens);

// For models alone.
iree_status_t model_put(bytes_t* tokens, int32_t id, const mapped_t* text, size_t start, size_t end);
// False where not all bytes have tokens.
iree_status_t model_put_bytes(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens,
                              bool* out_done);
iree_status_t bpe_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens);
iree_status_t unigram_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens);
const merge_t* bpe_find_merge(const model_t* model, int32_t left, int32_t right);

#endif  // IREE_C_TOKENIZER_MODEL_H_
