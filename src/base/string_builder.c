// Growing strings.
#include "iree/base/string_builder.h"

#include "iree/base/assert.h"

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

iree_status_t iree_string_builder_reserve_for_append(iree_string_builder_t* builder,
                                                     iree_host_size_t minimum_additional_capacity, char** out_buffer,
                                                     iree_host_size_t* out_capacity) {
  *out_buffer = NULL;
  *out_capacity = 0;
  iree_host_size_t capacity = 0;
  if (!iree_host_size_checked_add(builder->size + 1, minimum_additional_capacity, &capacity)) {
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  IREE_RETURN_IF_ERROR(iree_string_builder_reserve(builder, capacity));
  *out_buffer = builder->buffer + builder->size;
  *out_capacity = builder->capacity - builder->size - 1;
  return iree_ok_status();
}

void iree_string_builder_commit_append(iree_string_builder_t* builder, iree_host_size_t append_size) {
  IREE_ASSERT(append_size < builder->capacity - builder->size);
  builder->size += append_size;
  builder->buffer[builder->size] = 0;
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

//===----------------------------------------------------------------------------------------------------------------===
// Pairs
//===----------------------------------------------------------------------------------------------------------------===

void iree_string_pair_builder_initialize(iree_allocator_t allocator, iree_string_pair_builder_t* out_builder) {
  memset(out_builder, 0, sizeof(*out_builder));
  out_builder->allocator = allocator;
}

void iree_string_pair_builder_deinitialize(iree_string_pair_builder_t* builder) {
  for (iree_host_size_t i = 0; i < builder->temp_strings_size; ++i) {
    iree_allocator_free(builder->allocator, builder->temp_strings[i]);
  }
  iree_allocator_free(builder->allocator, builder->temp_strings);
  iree_allocator_free(builder->allocator, builder->pairs);
  memset(builder, 0, sizeof(*builder));
}

iree_status_t iree_string_pair_builder_add(iree_string_pair_builder_t* builder, iree_string_pair_t pair) {
  if (builder->pairs_size == builder->pairs_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(builder->allocator, builder->pairs_size + 1, sizeof(pair),
                                                   &builder->pairs_capacity, (void**)&builder->pairs));
  }
  builder->pairs[builder->pairs_size++] = pair;
  return iree_ok_status();
}

iree_status_t iree_string_pair_builder_emplace_string(iree_string_pair_builder_t* builder,
                                                      iree_string_view_t* inout_string) {
  if (builder->temp_strings_size == builder->temp_strings_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(builder->allocator, builder->temp_strings_size + 1, sizeof(char*),
                                                   &builder->temp_strings_capacity, (void**)&builder->temp_strings));
  }
  char* copy = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(builder->allocator, inout_string->size + 1, (void**)&copy));
  if (inout_string->size) memcpy(copy, inout_string->data, inout_string->size);
  builder->temp_strings[builder->temp_strings_size++] = copy;
  inout_string->data = copy;
  return iree_ok_status();
}

iree_status_t iree_string_pair_builder_add_int32(iree_string_pair_builder_t* builder, iree_string_view_t key,
                                                 int32_t value) {
  char text[16];
  iree_string_view_t view = iree_make_string_view(text, (iree_host_size_t)snprintf(text, sizeof(text), "%d", value));
  IREE_RETURN_IF_ERROR(iree_string_pair_builder_emplace_string(builder, &view));
  return iree_string_pair_builder_add(builder, iree_make_string_pair(key, view));
}
