// Reading PTX: words, as far as entry points and their parameters go.
#include "hal/stream/ptx.h"

typedef struct reader_t {
  const char* at;
  const char* end;
  const char* begin;
  iree_allocator_t host_allocator;
  iree_host_size_t capacity;
  ptx_t* ptx;
} reader_t;

static iree_status_t fail(const reader_t* r, const char* what) {
  size_t line = 1;
  for (const char* c = r->begin; c < r->at; ++c) line += *c == '\n';
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "PTX, line %zu: %s", line, what);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '.' || c == '%';
}

// Skips what is between words: spaces, and comments of both kinds.
static void skip_space(reader_t* r) {
  for (;;) {
    while (r->at < r->end && is_space(*r->at)) ++r->at;
    if (r->end - r->at < 2 || r->at[0] != '/') return;
    if (r->at[1] == '/') {
      while (r->at < r->end && *r->at != '\n') ++r->at;
    } else if (r->at[1] == '*') {
      const char* close = r->at + 2;
      while (close + 1 < r->end && !(close[0] == '*' && close[1] == '/')) ++close;
      r->at = close + 1 < r->end ? close + 2 : r->end;
    } else {
      return;
    }
  }
}

// The next word, or a single other character; empty at the end.
static iree_string_view_t next(reader_t* r) {
  skip_space(r);
  const char* begin = r->at;
  while (r->at < r->end && is_word(*r->at)) ++r->at;
  if (r->at == begin && r->at < r->end) {
    bool is_string = *r->at++ == '"';
    while (is_string && r->at < r->end && *r->at++ != '"') continue;
  }
  return iree_make_string_view(begin, (size_t)(r->at - begin));
}

static bool is(iree_string_view_t word, const char* text) {
  return iree_string_view_equal(word, iree_make_cstring_view(text));
}

// Bytes of a scalar's type, ".u64"; 0 for others.
static uint32_t size_of(iree_string_view_t type) {
  if (type.size < 3 || type.data[0] != '.' || !memchr("bsuf", type.data[1], 4)) return 0;
  uint32_t bits = 0;
  iree_string_view_t digits = iree_string_view_substr(type, 2, IREE_HOST_SIZE_MAX);
  if (!iree_string_view_atoi_uint32(digits, &bits)) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

static iree_status_t read_number(reader_t* r, uint32_t* out_value) {
  if (iree_string_view_atoi_uint32(next(r), out_value)) return iree_ok_status();
  return fail(r, "a number is expected");
}

static void add_parameter(gpu_function_t* function, uint32_t size, uint32_t alignment, uint32_t count) {
  uint64_t offset = iree_host_align(function->argument_size, alignment), end = offset + (uint64_t)size * count;
  function->argument_size = (uint32_t)iree_min(end, (uint64_t)UINT32_MAX);
  if (count == 1 && size == sizeof(uint64_t) && function->constant_count == 0) {
    ++function->binding_count;
  } else if (count == 1 && size == sizeof(uint32_t)) {
    ++function->constant_count;
  } else {
    function->is_hal = false;
  }
}

// One parameter, to its `,` or `)`: ".param .u64 .ptr .global .align 16 name" or ".param .align 8 .b8 name[24]".
static iree_status_t read_parameter(reader_t* r, gpu_function_t* function, bool* out_is_last) {
  uint32_t size = 0, alignment = 0, count = 1, unused = 0;
  bool is_pointer = false;
  iree_string_view_t word = next(r);
  while (word.size && !is(word, ",") && !is(word, ")")) {
    if (is(word, ".ptr")) is_pointer = true;
    if (is(word, ".align")) IREE_RETURN_IF_ERROR(read_number(r, is_pointer ? &unused : &alignment));
    if (is(word, "[")) IREE_RETURN_IF_ERROR(read_number(r, &count));
    if (!size) size = size_of(word);
    word = next(r);
  }
  if (!word.size) return fail(r, "the text ends in the middle of parameters");
  if (!size) return fail(r, "a parameter without a type");
  if (!alignment) alignment = size;
  if (alignment & (alignment - 1)) return fail(r, "an alignment that is no power of two");
  add_parameter(function, size, alignment, count);
  *out_is_last = is(word, ")");
  return iree_ok_status();
}

static iree_status_t read_parameters(reader_t* r, gpu_function_t* function) {
  iree_string_view_t word = next(r);
  if (is(word, ")")) return iree_ok_status();
  for (bool is_last = false; !is_last;) {
    if (!is(word, ".param")) return fail(r, "'.param' is expected");
    IREE_RETURN_IF_ERROR(read_parameter(r, function, &is_last));
    if (!is_last) word = next(r);
  }
  return iree_ok_status();
}

// ".reqntid 32, 4, 1": up to three numbers.
static iree_status_t read_size(reader_t* r, uint32_t out_size[3]) {
  for (int i = 0; i < 3; ++i) out_size[i] = 1;
  for (int i = 0; i < 3; ++i) {
    IREE_RETURN_IF_ERROR(read_number(r, &out_size[i]));
    skip_space(r);
    if (r->at == r->end || *r->at != ',') return iree_ok_status();
    ++r->at;
  }
  return iree_ok_status();
}

static iree_status_t read_entry(reader_t* r) {
  ptx_t* ptx = r->ptx;
  if (ptx->count == r->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(r->host_allocator, 8, sizeof(*ptx->functions), &r->capacity,
                                                   (void**)&ptx->functions));
  }
  gpu_function_t* function = &ptx->functions[ptx->count++];
  *function = (gpu_function_t){.name = next(r), .is_hal = true};
  iree_string_view_t word = next(r);
  if (is(word, "(")) {
    IREE_RETURN_IF_ERROR(read_parameters(r, function));
    word = next(r);
  }
  for (; !is(word, "{") && !is(word, ";"); word = next(r)) {
    if (!word.size) return fail(r, "the text ends before a kernel's body");
    if (is(word, ".reqntid")) IREE_RETURN_IF_ERROR(read_size(r, function->workgroup_size));
  }
  function->kernarg_size = function->argument_size;
  return iree_ok_status();
}

static iree_status_t read(reader_t* r) {
  for (iree_string_view_t word = next(r); word.size; word = next(r)) {
    if (is(word, ".target")) r->ptx->target = ptx_target(next(r));
    if (is(word, "griddepcontrol.wait") && r->ptx->count) r->ptx->functions[r->ptx->count - 1].waits = true;
    if (is(word, ".entry")) IREE_RETURN_IF_ERROR(read_entry(r));
  }
  return r->ptx->target.number ? iree_ok_status() : fail(r, "no '.target sm_…' before the end");
}

iree_status_t ptx_read(iree_string_view_t text, iree_allocator_t host_allocator, ptx_t* out_ptx) {
  *out_ptx = (ptx_t){0};
  reader_t reader = {text.data, text.data + text.size, text.data, host_allocator, 0, out_ptx};
  iree_status_t status = read(&reader);
  if (!iree_status_is_ok(status)) ptx_free(out_ptx, host_allocator);
  return status;
}

void ptx_free(ptx_t* ptx, iree_allocator_t host_allocator) {
  iree_allocator_free(host_allocator, ptx->functions);
  *ptx = (ptx_t){0};
}

ptx_target_t ptx_target(iree_string_view_t name) {
  ptx_target_t target = {0};
  if (!iree_string_view_consume_prefix(&name, IREE_SV("sm_")) || !name.size) return target;
  char last = name.data[name.size - 1];
  if (last == 'a' || last == 'f') {
    target.kind = last;
    --name.size;
  }
  if (!iree_string_view_atoi_uint32(name, &target.number)) target.number = 0;
  return target;
}

bool ptx_target_runs(ptx_target_t target, uint32_t capability) {
  if (target.kind == 'a') return target.number == capability;
  return target.number && target.number <= capability && target.number / 10 == capability / 10;
}

bool ptx_target_fits(ptx_target_t target, uint32_t capability) {
  return target.kind ? ptx_target_runs(target, capability) : target.number && target.number <= capability;
}
