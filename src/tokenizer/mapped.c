// See mapped.h.
#include "tokenizer/mapped.h"

span_t mapped_range(const mapped_t* m, size_t start, size_t end) {
  span_t span = {0, 0};
  if (start < m->text.size) {
    span = mapped_span(m, start);
    if (start == end) span.end = span.start;
  } else if (m->text.size) {
    span.start = span.end = mapped_span(m, m->text.size - 1).end;
  }
  for (size_t i = start; i < end; ++i) {
    span_t next = mapped_span(m, i);
    if (next.start < span.start) span.start = next.start;
    if (next.end > span.end) span.end = next.end;
  }
  return span;
}

iree_status_t mapped_append(mapped_t* m, const char* text, size_t size, span_t from) {
  IREE_RETURN_IF_ERROR(bytes_append(&m->text, text, size));
  for (size_t i = 0; i < size; ++i) IREE_RETURN_IF_ERROR(bytes_append(&m->spans, &from, sizeof(from)));
  return iree_ok_status();
}

iree_status_t mapped_append_code(mapped_t* m, uint32_t code, span_t from) {
  char text[4];
  return mapped_append(m, text, utf8_encode(code, text), from);
}

iree_status_t mapped_append_part(mapped_t* m, const mapped_t* other, size_t start, size_t end) {
  if (start == end) return iree_ok_status();
  IREE_RETURN_IF_ERROR(bytes_append(&m->text, other->text.data + start, end - start));
  return bytes_append(&m->spans, (const span_t*)other->spans.data + start, (end - start) * sizeof(span_t));
}

iree_status_t mapped_append_input(mapped_t* m, iree_string_view_t text, size_t offset) {
  for (size_t i = 0; i < text.size;) {
    uint32_t code = 0;
    size_t length = utf8_decode(text.data + i, text.size - i, &code);
    span_t from = {offset + i, offset + i + length};
    // Bytes that are no UTF-8 are one replacement character each, as everywhere else.
    bool broken = length == 1 && code == 0xFFFD;
    IREE_RETURN_IF_ERROR(broken ? mapped_append_code(m, code, from) : mapped_append(m, text.data + i, length, from));
    i += length;
  }
  return iree_ok_status();
}
