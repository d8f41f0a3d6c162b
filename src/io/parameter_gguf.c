// .gguf: values by name, which are skipped but for the alignment, then the tensors' names, sizes, types and places.
#include <string.h>

#include "io/parameter_file.h"

typedef struct reader_t {
  const uint8_t* data;
  uint64_t at, size;
  bool failed;
} reader_t;

static const uint8_t* take(reader_t* r, uint64_t size) {
  if (!parameter_range_fits(r->at, size, r->size)) r->failed = true;
  if (r->failed) return NULL;
  r->at += size;
  return r->data + r->at - size;
}

static uint32_t take_u32(reader_t* r) {
  const uint8_t* p = take(r, 4);
  return p ? parameter_u32(p) : 0;
}
static uint64_t take_u64(reader_t* r) {
  const uint8_t* p = take(r, 8);
  return p ? parameter_u64(p) : 0;
}
static iree_string_view_t take_string(reader_t* r) {
  uint64_t size = take_u64(r);
  const uint8_t* p = take(r, size);
  return iree_make_string_view((const char*)p, p ? (iree_host_size_t)size : 0);
}

enum { VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_KINDS = 13, MAX_NESTING = 8, MAX_DIMS = 8 };
// Bytes of a value of each kind; 0: told by itself.
static const uint8_t value_sizes[VALUE_KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static void skip_value(reader_t* r, uint32_t kind, int depth) {
  if (kind >= VALUE_KINDS || depth > MAX_NESTING) r->failed = true;
  if (r->failed) return;
  if (kind == VALUE_STRING) {
    take_string(r);
  } else if (kind == VALUE_ARRAY) {
    uint32_t element = take_u32(r);
    uint64_t count = take_u64(r);
    uint32_t size = element < VALUE_KINDS ? value_sizes[element] : 0;
    if (size && count > r->size / size) r->failed = true;
    if (size) take(r, count * size);
    for (uint64_t i = 0; !size && i < count && !r->failed; ++i) skip_value(r, element, depth + 1);
  } else {
    take(r, value_sizes[kind]);
  }
}

// Bytes of a block of so many elements, by the tensor's type.
static const struct {
  uint32_t type, elements, bytes;
} blocks[] = {
    {0, 1, 4},      {1, 1, 2},     {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},
    {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {15, 256, 292},
    {16, 256, 66},  {17, 256, 74}, {18, 256, 98},  {19, 256, 50},  {20, 32, 18},   {21, 256, 110}, {22, 256, 82},
    {23, 256, 136}, {24, 1, 1},    {25, 1, 2},     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},     {29, 256, 56},
    {30, 1, 2},     {34, 256, 54}, {35, 256, 66},  {39, 32, 17},
};

// False for types that are not known, and sizes that overflow.
static bool tensor_bytes(uint32_t type, const uint64_t* dims, uint32_t rank, uint64_t* out) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] && count > (UINT64_MAX >> 10) / dims[i]) return false;
    count *= dims[i];
  }
  for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); ++i) {
    if (blocks[i].type != type) continue;
    *out = count / blocks[i].elements * blocks[i].bytes;
    return count % blocks[i].elements == 0;
  }
  return false;
}

static iree_status_t damaged(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the .gguf archive is damaged: %s", what);
}

// `offset` is from the end of the table for now; entry.length keeps it until that is known.
static iree_status_t read_tensor(parameter_file_t* file, reader_t* r, uint64_t* offset) {
  parameter_entry_t entry = {.key = take_string(r)};
  uint64_t dims[MAX_DIMS];
  uint32_t rank = take_u32(r);
  if (r->failed || rank > MAX_DIMS) return damaged("a tensor's name or rank");
  for (uint32_t i = 0; i < rank; ++i) dims[i] = take_u64(r);
  uint32_t type = take_u32(r);
  *offset = take_u64(r);
  if (r->failed) return damaged("it ends in the table of tensors");
  if (!tensor_bytes(type, dims, rank, &entry.length)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the .gguf tensor '%.*s' has type %u, whose size is not known",
                            (int)entry.key.size, entry.key.data, type);
  }
  return parameter_file_add(file, &entry);
}

static uint64_t read_alignment(reader_t* r, uint64_t values) {
  uint64_t alignment = 32;
  for (uint64_t i = 0; i < values && !r->failed; ++i) {
    iree_string_view_t key = take_string(r);
    uint32_t kind = take_u32(r);
    if (!r->failed && kind == 4 && iree_string_view_equal(key, IREE_SV("general.alignment"))) {
      alignment = take_u32(r);
    } else {
      skip_value(r, kind, 0);
    }
  }
  return alignment;
}

iree_status_t parameter_parse_gguf(parameter_file_t* file) {
  reader_t r = {file->contents.data, 4, file->contents.data_length, false};
  uint32_t version = take_u32(&r);
  uint64_t tensors = take_u64(&r), values = take_u64(&r);
  if (r.failed || version < 2 || version > 3) return damaged("its version is not 2 or 3");
  uint64_t alignment = read_alignment(&r, values), *offsets = NULL;
  if (r.failed || !alignment || alignment > 1u << 20) return damaged("its values");
  if (tensors > r.size / 24) return damaged("it has more tensors than bytes");
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(file->allocator, (iree_host_size_t)tensors + 1, sizeof(*offsets), (void**)&offsets));
  iree_status_t status = iree_ok_status();
  for (uint64_t i = 0; i < tensors && iree_status_is_ok(status); ++i) status = read_tensor(file, &r, &offsets[i]);
  uint64_t base = (r.at + alignment - 1) / alignment * alignment;
  for (uint64_t i = 0; i < tensors && iree_status_is_ok(status); ++i) {
    parameter_entry_t* entry = &file->entries[i];
    bool fits = base <= r.size && parameter_range_fits(offsets[i], entry->length, r.size - base);
    if (fits) entry->data = r.data + base + offsets[i];
    if (!fits) status = damaged("a tensor lies outside of it");
  }
  iree_allocator_free(file->allocator, offsets);
  return status;
}
