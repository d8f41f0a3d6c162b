// Growing strings.
#include "iree/base/string_builder.h"

void iree_string_builder_initialize(iree_allocator_t allocator, iree_string_builder_t* out_builder) {
  memset(out_builder, 0, sizeof(*out_builder));
  out_builder->allocator = allocator;
}

void iree_string_builder_initialize_with_storage(char* buffer, iree_host_size_t buffer_capacity,
                                                 iree_string_builder_t* out_builder) {
  iree_string_builder_initialize(iree_allocator_null(), out_builder);
  out_builder->buffer = buffer;
  out_builder->capacity = buffer ? buffer_capacity : 0;
}

void iree_string_builder_deinitialize(iree_string_builder_t* builder) {
  iree_allocator_free(builder->allocator, builder->buffer);
  memset(builder, 0, sizeof(*builder));
}

const char* iree_string_builder_buffer(const iree_string_builder_t* builder) { return builder->buffer; }
iree_host_size_t iree_string_builder_size(const iree_string_builder_t* builder) { return builder->size; }
iree_host_size_t iree_string_builder_capacity(const iree_string_builder_t* builder) { return builder->capacity; }
iree_string_view_t iree_string_builder_view(const iree_string_builder_t* builder) {
  return iree_make_string_view(builder->buffer, builder->size);
}

char* iree_string_builder_take_storage(iree_string_builder_t* builder) {
  char* buffer = builder->buffer;
  builder->buffer = NULL;
  builder->size = builder->capacity = 0;
  return buffer;
}

static bool is_fixed(const iree_string_builder_t* builder) { return iree_allocator_is_null(builder->allocator); }

iree_status_t iree_string_builder_reserve(iree_string_builder_t* builder, iree_host_size_t minimum_capacity) {
  if (minimum_capacity <= builder->capacity) return iree_ok_status();
  if (is_fixed(builder)) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "string storage of %" PRIhsz " bytes is too small",
                            builder->capacity);
  }
  return iree_allocator_grow_array(builder->allocator, iree_max(minimum_capacity, 64), 1, &builder->capacity,
                                   (void**)&builder->buffer);
}

void iree_string_builder_reset(iree_string_builder_t* builder) {
  builder->size = 0;
  if (builder->capacity) builder->buffer[0] = 0;
}

iree_status_t iree_string_builder_append_inline(iree_string_builder_t* builder, iree_host_size_t count,
                                                char** out_head) {
  *out_head = NULL;
  iree_host_size_t start = builder->size;
  builder->size += count;
  if (is_fixed(builder) && !builder->buffer) return iree_ok_status();  // measuring
  iree_status_t status = iree_string_builder_reserve(builder, builder->size + 1);
  if (!iree_status_is_ok(status)) {
    if (!is_fixed(builder)) builder->size = start;
    return status;
  }
  builder->buffer[builder->size] = 0;
  *out_head = builder->buffer + start;
  return iree_ok_status();
}

iree_status_t iree_string_builder_append_string(iree_string_builder_t* builder, iree_string_view_t value) {
  char* head = NULL;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_inline(builder, value.size, &head));
  if (head && value.size) memcpy(head, value.data, value.size);
  return iree_ok_status();
}

iree_status_t iree_string_builder_append_cstring(iree_string_builder_t* builder, const char* value) {
  return iree_string_builder_append_string(builder, iree_make_cstring_view(value));
}

iree_status_t iree_string_builder_append_format(iree_string_builder_t* builder, const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = vsnprintf(NULL, 0, format, varargs);
  va_end(varargs);
  if (length < 0) return iree_make_status(IREE_STATUS_INTERNAL, "bad format string");
  char* head = NULL;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_inline(builder, (iree_host_size_t)length, &head));
  if (!head) return iree_ok_status();
  va_start(varargs, format);
  vsnprintf(head, (size_t)length + 1, format, varargs);
  va_end(varargs);
  return iree_ok_status();
}

typedef struct append_state_t {
  iree_string_builder_t* builder;
  iree_status_t status;
} append_state_t;

static bool append_piece(iree_string_view_t string, void* user_data) {
  append_state_t* state = (append_state_t*)user_data;
  state->status = iree_string_builder_append_string(state->builder, string);
  return iree_status_is_ok(state->status);
}

iree_status_t iree_string_builder_append_status(iree_string_builder_t* builder, iree_status_t status) {
  append_state_t state = {builder, iree_ok_status()};
  iree_status_format_to(status, append_piece, &state);
  return state.status;
}
