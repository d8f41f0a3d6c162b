// Text on its way from what a caller gave to tokens: each byte knows where in the input it comes from.
#ifndef IREE_C_TOKENIZER_MAPPED_H_
#define IREE_C_TOKENIZER_MAPPED_H_

#include "tokenizer/store.h"
#include "tokenizer/unicode.h"

typedef struct span_t {
  size_t start, end;  // bytes of the input
} span_t;

typedef struct mapped_t {
  bytes_t text, spans;  // a span_t for each byte
} mapped_t;

static inline mapped_t mapped_make(iree_allocator_t allocator) {
  return (mapped_t){bytes_make(allocator), bytes_make(allocator)};
}
static inline void mapped_free(mapped_t* m) {
  bytes_free(&m->text);
  bytes_free(&m->spans);
}
static inline void mapped_clear(mapped_t* m) { m->text.size = m->spans.size = 0; }
static inline span_t mapped_span(const mapped_t* m, size_t i) { return ((const span_t*)m->spans.data)[i]; }
// Where bytes [start, end) come from; what is empty comes from where the next byte does.
span_t mapped_range(const mapped_t* m, size_t start, size_t end);

// Bytes that all come from one place.
iree_status_t mapped_append(mapped_t* m, const char* text, size_t size, span_t from);
iree_status_t mapped_append_code(mapped_t* m, uint32_t code, span_t from);
// Bytes [start, end) of another.
iree_status_t mapped_append_part(mapped_t* m, const mapped_t* other, size_t start, size_t end);
// Input as it is, which begins at `offset` of the whole.
iree_status_t mapped_append_input(mapped_t* m, iree_string_view_t text, size_t offset);

#endif  // IREE_C_TOKENIZER_MAPPED_H_
