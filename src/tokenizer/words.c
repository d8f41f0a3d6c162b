// See words.h.
#include "tokenizer/words.h"

iree_status_t words_create(size_t most, store_t* memory, words_t* out) {
  *out = (words_t){.capacity = most + 1, .slot_count = 16};
  while (out->slot_count < out->capacity * 2) out->slot_count *= 2;
  IREE_RETURN_IF_ERROR(store_take(memory, out->capacity, sizeof(*out->texts), (void**)&out->texts));
  return store_take(memory, out->slot_count, sizeof(*out->slots), (void**)&out->slots);
}

static uint64_t hash_of(iree_string_view_t text) {
  uint64_t hash = words_hash_begin();
  for (size_t i = 0; i < text.size; ++i) hash = words_hash_byte(hash, text.data[i]);
  return hash;
}

// The slot of the text, or the free one where it would be.
static size_t find_slot(const words_t* words, iree_string_view_t text, uint64_t hash) {
  size_t mask = words->slot_count - 1, slot = (size_t)(hash ^ hash >> 29) & mask;
  while (words->slots[slot] && !iree_string_view_equal(words->texts[words->slots[slot] - 1], text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void words_add(words_t* words, uint32_t id, iree_string_view_t text) {
  if (id >= words->capacity) return;
  if (!words->texts[id].data) {
    words->texts[id] = text;
    ++words->count;
    size_t slot = find_slot(words, text, hash_of(text));
    if (!words->slots[slot]) words->slots[slot] = id + 1;
  }
  if (text.size > words->longest) words->longest = text.size;
}

int32_t words_find_hashed(const words_t* words, iree_string_view_t text, uint64_t hash) {
  return (int32_t)words->slots[find_slot(words, text, hash)] - 1;
}

int32_t words_find(const words_t* words, iree_string_view_t text) {
  return words_find_hashed(words, text, hash_of(text));
}
