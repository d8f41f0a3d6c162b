// The vocabulary: strings and their numbers.
#ifndef IREE_C_TOKENIZER_WORDS_H_
#define IREE_C_TOKENIZER_WORDS_H_

#include "tokenizer/store.h"

enum { WORDS_MAX_ID = (1 << 22) - 1 };

typedef struct words_t {
  iree_string_view_t* texts;  // by id; data is NULL for those that are none
  size_t capacity, count;     // ids, and how many are words
  size_t longest;             // bytes
  uint32_t* slots;            // ids + 1 by hash
  size_t slot_count;          // a power of two
} words_t;

// Room for ids up to `most`, with the memory.
iree_status_t words_create(size_t most, store_t* memory, words_t* out);
// A word whose text lives as long as the memory; one that is there keeps its first id for lookups.
void words_add(words_t* words, uint32_t id, iree_string_view_t text);
// -1: no such word.
int32_t words_find(const words_t* words, iree_string_view_t text);

// Lookups of strings that grow byte by byte.
static inline uint64_t words_hash_begin(void) { return 0xCBF29CE484222325ull; }
static inline uint64_t words_hash_byte(uint64_t hash, char byte) { return (hash ^ (uint8_t)byte) * 0x100000001B3ull; }
int32_t words_find_hashed(const words_t* words, iree_string_view_t text, uint64_t hash);

#endif  // IREE_C_TOKENIZER_WORDS_H_
