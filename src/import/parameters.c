// See parameters.h. An archive is a header, one row for each parameter, names, contents.
#include "import/parameters.h"

#include <string.h>

#include "base/memory.h"

enum {
  HEADER_SIZE = 0x58,
  ROW_HEAD = 0x3c,
  ROW_DATA_SIZE = ROW_HEAD + 16,
  ROW_PATTERN_SIZE = ROW_HEAD + 25,
  ROW_ALIGNMENT = 16,
  ALIGNMENT = 64,
  KIND_PATTERN = 1,
  KIND_DATA = 2,
  PATTERN_ROOM = 16,
  PAGE = 4096,
  PIECE = 1 << 20  // of data that is made when it is written
};

void parameter_list_add(ir_context_t* ctx, parameter_list_t* list, const parameter_t* parameter) {
  parameter_t* p = ARENA_NEW(ir_context_arena(ctx), parameter_t);
  *p = *parameter;
  p->next = NULL;
  if (list->last) {
    list->last->next = p;
  } else {
    list->first = p;
  }
  list->last = p;
  ++list->count;
}

//===----------------------------------------------------------------------------------------------------------------===
// Bytes
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t align(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

static bool put(FILE* file, const void* data, size_t size, uint64_t* at) {
  *at += size;
  return fwrite(data, 1, size, file) == size;
}
static bool put_u64(FILE* file, uint64_t value, uint64_t* at) { return put(file, &value, 8, at); }
static bool put_u32(FILE* file, uint32_t value, uint64_t* at) { return put(file, &value, 4, at); }
static bool pad_to(FILE* file, uint64_t end, uint64_t* at) {
  static const char zeros[PAGE] = {0};
  while (*at < end) {
    uint64_t step = end - *at < PAGE ? end - *at : PAGE;
    if (!put(file, zeros, (size_t)step, at)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t content_size(const parameter_t* p) {
  return (uint64_t)ir_type_count(p->value->type) * ir_type_bytes(p->value->type->element);
}

// An element that a row has room for.
static bool is_pattern(const parameter_t* p) {
  return p->is_pattern && p->value->splat && p->value->size > 0 && p->value->size <= PATTERN_ROOM;
}

static uint64_t row_size(const parameter_t* p) { return is_pattern(p) ? ROW_PATTERN_SIZE : ROW_DATA_SIZE; }

// `name` and `content` are places among the names and the contents.
static bool put_row(FILE* file, const parameter_t* p, uint64_t name, uint64_t content, uint64_t* at) {
  bool pattern = is_pattern(p);
  bool done = put_u64(file, row_size(p), at) && put_u32(file, pattern ? KIND_PATTERN : KIND_DATA, at) &&
              put_u64(file, 0, at) && put_u64(file, name, at) && put_u64(file, strlen(p->name), at) &&
              put_u64(file, 0, at) && put_u64(file, 0, at) && put_u64(file, pattern ? 0 : ALIGNMENT, at);
  if (!done || !pattern) return done && put_u64(file, content, at) && put_u64(file, content_size(p), at);
  unsigned char bytes[PATTERN_ROOM + 1] = {0};
  memcpy(bytes, ir_attr_data(p->value), p->value->size);
  bytes[PATTERN_ROOM] = (unsigned char)p->value->size;
  return put_u64(file, content_size(p), at) && put(file, bytes, sizeof(bytes), at);
}

static bool put_repeated(FILE* file, const ir_attr_t* value, uint64_t size, uint64_t* at) {
  unsigned char buffer[PAGE];
  size_t unit = value->size ? sizeof(buffer) / value->size * value->size : 0;
  for (size_t i = 0; i < unit; i += value->size) memcpy(buffer + i, ir_attr_data(value), value->size);
  for (uint64_t end = *at + size; unit && *at < end;) {
    if (!put(file, buffer, end - *at < unit ? (size_t)(end - *at) : unit, at)) return false;
  }
  return true;
}

static bool put_content(FILE* file, const parameter_t* p, uint64_t* at) {
  const ir_attr_t* value = p->value;
  size_t size = (size_t)content_size(p);
  if (value->splat) return put_repeated(file, value, size, at);
  if (!value->lazy) return put(file, ir_attr_data(value), size, at);
  size_t unit = value->lazy->unit > PIECE ? value->lazy->unit : PIECE / value->lazy->unit * value->lazy->unit;
  unsigned char* buffer = memory_alloc(unit);
  bool done = true;
  for (size_t i = 0; done && i < size; i += unit) {
    size_t length = size - i < unit ? size - i : unit;
    ir_attr_read(value, i, length, buffer);
    done = put(file, buffer, length, at);
  }
  memory_free(buffer);
  return done;
}

//===----------------------------------------------------------------------------------------------------------------===
// The archive
//===----------------------------------------------------------------------------------------------------------------===

// Sizes of the parts.
typedef struct layout_t {
  uint64_t rows, names, contents;
} layout_t;

static layout_t layout_of(const parameter_list_t* list) {
  layout_t layout = {0};
  for (const parameter_t* p = list->first; p; p = p->next) {
    layout.names += strlen(p->name);
    layout.rows = align(layout.rows, ROW_ALIGNMENT) + row_size(p);
    if (!is_pattern(p)) layout.contents = align(layout.contents, ALIGNMENT) + content_size(p);
  }
  return layout;
}

static bool put_rows(FILE* file, const parameter_list_t* list, uint64_t* at) {
  uint64_t name = 0, content = 0;
  bool done = true;
  for (const parameter_t* p = list->first; done && p; p = p->next) {
    done = pad_to(file, align(*at, ROW_ALIGNMENT), at) && put_row(file, p, name, content, at);
    name += strlen(p->name);
    if (!is_pattern(p)) content = align(content + content_size(p), ALIGNMENT);
  }
  return done;
}

bool parameter_list_write(const parameter_list_t* list, FILE* file) {
  layout_t layout = layout_of(list);
  uint64_t at = 0, rows = align(HEADER_SIZE, ROW_ALIGNMENT), names = rows + layout.rows;
  bool done = put(file, "IRPA", 4, &at) && put_u32(file, 0, &at) && put_u64(file, HEADER_SIZE, &at) &&
              put_u64(file, 0, &at) && put_u64(file, 0, &at) && put_u64(file, list->count, &at) &&
              put_u64(file, rows, &at) && put_u64(file, layout.rows, &at) && put_u64(file, names, &at) &&
              put_u64(file, layout.names, &at) && put_u64(file, align(names + layout.names, ALIGNMENT), &at) &&
              put_u64(file, layout.contents, &at) && pad_to(file, rows, &at) && put_rows(file, list, &at);
  for (const parameter_t* p = list->first; done && p; p = p->next) done = put(file, p->name, strlen(p->name), &at);
  for (const parameter_t* p = list->first; done && p; p = p->next) {
    if (!is_pattern(p)) done = pad_to(file, align(at, ALIGNMENT), &at) && put_content(file, p, &at);
  }
  return done && pad_to(file, align(at, PAGE), &at);
}
