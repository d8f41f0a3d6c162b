// Byte pair encoding: a word's characters are joined pair by pair, always those that were learned first. Pairs that may
// be joined wait in a heap; one whose symbols have changed since is dropped when it comes up.
#include "tokenizer/model.h"

typedef struct symbol_t {
  int32_t id;          // -1: joined with what is before it
  int32_t last, next;  // the symbols beside it; -1: none
  size_t start, end;   // in the text
} symbol_t;

typedef struct pair_t {
  uint32_t rank;
  int32_t place;                // of the left symbol
  int32_t left, right, result;  // as they were
} pair_t;

typedef struct word_t {
  const model_t* model;
  const mapped_t* text;
  bytes_t symbols, heap;
} word_t;

static symbol_t* symbol_at(word_t* w, int32_t i) { return (symbol_t*)w->symbols.data + i; }
static size_t symbol_count(const word_t* w) { return w->symbols.size / sizeof(symbol_t); }

//===----------------------------------------------------------------------------------------------------------------===
// Pairs
//===----------------------------------------------------------------------------------------------------------------===

const merge_t* bpe_find_merge(const model_t* model, int32_t left, int32_t right) {
  if (!model->merge_slots) return NULL;
  uint64_t hash = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9E3779B97F4A7C15ull;
  for (size_t slot = (size_t)(hash >> 32) & (model->merge_slots - 1);; slot = (slot + 1) & (model->merge_slots - 1)) {
    const merge_t* merge = &model->merges[slot];
    if (merge->left < 0 || (merge->left == left && merge->right == right)) return merge;
  }
}

static bool goes_before(const pair_t* x, const pair_t* y) {
  return x->rank != y->rank ? x->rank < y->rank : x->place < y->place;
}

static iree_status_t push(word_t* w, pair_t pair) {
  IREE_RETURN_IF_ERROR(bytes_append(&w->heap, &pair, sizeof(pair)));
  pair_t* heap = (pair_t*)w->heap.data;
  size_t at = w->heap.size / sizeof(pair) - 1;
  for (size_t up; at && goes_before(&pair, &heap[up = (at - 1) / 2]); at = up) heap[at] = heap[up];
  heap[at] = pair;
  return iree_ok_status();
}

static pair_t pop(word_t* w) {
  pair_t* heap = (pair_t*)w->heap.data;
  size_t count = w->heap.size / sizeof(*heap) - 1, at = 0;
  pair_t top = heap[0], moved = heap[count];
  w->heap.size -= sizeof(*heap);
  for (size_t down; (down = at * 2 + 1) < count; at = down) {
    if (down + 1 < count && goes_before(&heap[down + 1], &heap[down])) ++down;
    if (!goes_before(&heap[down], &moved)) break;
    heap[at] = heap[down];
  }
  if (count) heap[at] = moved;
  return top;
}

// Whether a symbol and the next one may be joined.
static iree_status_t offer(word_t* w, int32_t place) {
  if (place < 0 || symbol_at(w, place)->next < 0) return iree_ok_status();
  const symbol_t *left = symbol_at(w, place), *right = symbol_at(w, left->next);
  pair_t pair = {.place = place, .left = left->id, .right = right->id};
  if (w->model->by_rank) {
    size_t size = right->end - left->start;
    pair.result = size > w->model->words.longest
                      ? -1
                      : words_find(&w->model->words, iree_make_string_view(w->text->text.data + left->start, size));
    pair.rank = (uint32_t)pair.result;
    return pair.result < 0 ? iree_ok_status() : push(w, pair);
  }
  const merge_t* merge = bpe_find_merge(w->model, left->id, right->id);
  if (!merge || merge->left < 0) return iree_ok_status();
  pair.rank = merge->rank;
  pair.result = merge->result;
  return push(w, pair);
}

static iree_status_t join(word_t* w, const pair_t* pair) {
  symbol_t* left = symbol_at(w, pair->place);
  if (left->id != pair->left || left->next < 0) return iree_ok_status();
  symbol_t* right = symbol_at(w, left->next);
  if (right->id != pair->right) return iree_ok_status();
  left->id = pair->result;
  left->end = right->end;
  left->next = right->next;
  right->id = -1;
  if (left->next >= 0) symbol_at(w, left->next)->last = pair->place;
  IREE_RETURN_IF_ERROR(offer(w, left->last));
  return offer(w, pair->place);
}

//===----------------------------------------------------------------------------------------------------------------===
// Symbols
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t add_symbol(word_t* w, int32_t id, size_t start, size_t end) {
  int32_t count = (int32_t)symbol_count(w);
  symbol_t symbol = {.id = id, .last = count - 1, .next = -1, .start = start, .end = end};
  IREE_RETURN_IF_ERROR(bytes_append(&w->symbols, &symbol, sizeof(symbol)));
  if (count) symbol_at(w, count - 1)->next = count;
  return iree_ok_status();
}

// The word of one character, with what marks that it does not begin a word or that it ends it.
static int32_t find_character(const word_t* w, size_t start, size_t end, bool begins, bool ends) {
  char text[512];
  const iree_string_view_t parts[] = {begins ? IREE_SV("") : w->model->prefix,
                                      iree_make_string_view(w->text->text.data + start, end - start),
                                      ends ? w->model->suffix : IREE_SV("")};
  size_t size = 0;
  for (int i = 0; i < 3; ++i) {
    if (parts[i].size > sizeof(text) - size) return -1;
    if (parts[i].size) memcpy(text + size, parts[i].data, parts[i].size);
    size += parts[i].size;
  }
  return words_find(&w->model->words, iree_make_string_view(text, size));
}

static iree_status_t add_unknown(word_t* w, size_t start, size_t end, bool follows_unknown) {
  if (w->model->unknown < 0) return iree_ok_status();  // then it is left out
  if (follows_unknown && w->model->fuses_unknown) {
    symbol_at(w, (int32_t)symbol_count(w) - 1)->end = end;
    return iree_ok_status();
  }
  return add_symbol(w, w->model->unknown, start, end);
}

static iree_status_t add_characters(word_t* w, size_t start, size_t end) {
  bool follows_unknown = false;
  for (size_t at = start; at < end;) {
    uint32_t code = 0;
    size_t next = at + utf8_decode(w->text->text.data + at, end - at, &code);
    int32_t id = find_character(w, at, next, at == start, next == end);
    bool has_bytes = w->model->falls_back && id < 0;
    for (size_t i = at; i < next && has_bytes; ++i) has_bytes = w->model->byte_ids[(uint8_t)w->text->text.data[i]] >= 0;
    for (size_t i = at; i < next && has_bytes; ++i) {
      IREE_RETURN_IF_ERROR(add_symbol(w, w->model->byte_ids[(uint8_t)w->text->text.data[i]], at, next));
    }
    if (id >= 0) IREE_RETURN_IF_ERROR(add_symbol(w, id, at, next));
    bool is_unknown = id < 0 && !has_bytes;
    if (is_unknown) IREE_RETURN_IF_ERROR(add_unknown(w, at, next, follows_unknown));
    follows_unknown = is_unknown;
    at = next;
  }
  return iree_ok_status();
}

static iree_status_t add_bytes(word_t* w, size_t start, size_t end) {
  for (size_t i = start; i < end; ++i) {
    int32_t id = w->model->byte_ids[(uint8_t)w->text->text.data[i]];
    if (id < 0)
      return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no token of byte %02x", (uint8_t)w->text->text.data[i]);
    IREE_RETURN_IF_ERROR(add_symbol(w, id, i, i + 1));
  }
  return iree_ok_status();
}

static iree_status_t encode(word_t* w, size_t start, size_t end, bytes_t* tokens) {
  IREE_RETURN_IF_ERROR(w->model->by_rank ? add_bytes(w, start, end) : add_characters(w, start, end));
  for (size_t i = 0; i < symbol_count(w); ++i) IREE_RETURN_IF_ERROR(offer(w, (int32_t)i));
  while (w->heap.size) {
    pair_t pair = pop(w);
    IREE_RETURN_IF_ERROR(join(w, &pair));
  }
  for (size_t i = 0; i < symbol_count(w); ++i) {
    const symbol_t* symbol = symbol_at(w, (int32_t)i);
    if (symbol->id >= 0) IREE_RETURN_IF_ERROR(model_put(tokens, symbol->id, w->text, symbol->start, symbol->end));
  }
  return iree_ok_status();
}

iree_status_t bpe_encode(const model_t* model, const mapped_t* text, size_t start, size_t end, bytes_t* tokens) {
  if (end - start > INT32_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a word of 2 GiB is too long");
  if (model->ignores_merges || model->by_rank) {
    int32_t id = words_find(&model->words, iree_make_string_view(text->text.data + start, end - start));
    if (id >= 0) return model_put(tokens, id, text, start, end);
  }
  word_t word = {model, text, bytes_make(tokens->allocator), bytes_make(tokens->allocator)};
  iree_status_t status = encode(&word, start, end, tokens);
  bytes_free(&word.symbols);
  bytes_free(&word.heap);
  return status;
}
