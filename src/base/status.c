// Status values: storage, text form, annotations.
//
// Storage is one aligned allocation per status plus one per annotation. The alignment leaves the low five bits of the
// pointer free for the code.
#include "iree/base/status.h"

#include "iree/base/allocator.h"
#include "iree/base/status_payload.h"
#include "iree/base/string_builder.h"

#define STORAGE_ALIGNMENT (IREE_STATUS_CODE_MASK + 1)

// A message whose text follows.
typedef struct annotation_t {
  iree_status_payload_message_t payload;
  char text[];
} annotation_t;

typedef struct storage_t {
  const char* file;
  uint32_t line;
  iree_status_payload_t* payloads;  // oldest first
  size_t length;                    // of the message
  char text[];                      // message, NUL, then the copied file name if any
} storage_t;

static storage_t* status_storage(iree_status_t status) {
  return (storage_t*)((uintptr_t)status & ~(uintptr_t)IREE_STATUS_CODE_MASK);
}

static const struct {
  const char* name;
} code_rows[] = {
#define STATUS_ROW(name, value, suffix) [value] = {#name},
    IREE_STATUS_CODES(STATUS_ROW)
#undef STATUS_ROW
};

const char* iree_status_code_string(iree_status_code_t code) {
  return (size_t)code < IREE_ARRAYSIZE(code_rows) ? code_rows[code].name : "";
}

iree_status_code_t iree_status_code_from_errno(int error_number) {
  static const struct {
    int error_number;
    iree_status_code_t code;
  } rows[] = {
      {0, IREE_STATUS_OK},
      {EACCES, IREE_STATUS_PERMISSION_DENIED},
      {EPERM, IREE_STATUS_PERMISSION_DENIED},
      {EROFS, IREE_STATUS_PERMISSION_DENIED},
      {ENOENT, IREE_STATUS_NOT_FOUND},
      {ENODEV, IREE_STATUS_NOT_FOUND},
      {ENXIO, IREE_STATUS_NOT_FOUND},
      {ESRCH, IREE_STATUS_NOT_FOUND},
      {EEXIST, IREE_STATUS_ALREADY_EXISTS},
      {EINVAL, IREE_STATUS_INVALID_ARGUMENT},
      {ENAMETOOLONG, IREE_STATUS_INVALID_ARGUMENT},
      {E2BIG, IREE_STATUS_INVALID_ARGUMENT},
      {EFAULT, IREE_STATUS_INVALID_ARGUMENT},
      {ENOMEM, IREE_STATUS_RESOURCE_EXHAUSTED},
      {ENOSPC, IREE_STATUS_RESOURCE_EXHAUSTED},
      {EMFILE, IREE_STATUS_RESOURCE_EXHAUSTED},
      {ENFILE, IREE_STATUS_RESOURCE_EXHAUSTED},
      {EDQUOT, IREE_STATUS_RESOURCE_EXHAUSTED},
      {EBADF, IREE_STATUS_FAILED_PRECONDITION},
      {EBUSY, IREE_STATUS_FAILED_PRECONDITION},
      {EISDIR, IREE_STATUS_FAILED_PRECONDITION},
      {ENOTDIR, IREE_STATUS_FAILED_PRECONDITION},
      {ENOTEMPTY, IREE_STATUS_FAILED_PRECONDITION},
      {EPIPE, IREE_STATUS_FAILED_PRECONDITION},
      {EFBIG, IREE_STATUS_OUT_OF_RANGE},
      {ERANGE, IREE_STATUS_OUT_OF_RANGE},
      {EOVERFLOW, IREE_STATUS_OUT_OF_RANGE},
      {ENOSYS, IREE_STATUS_UNIMPLEMENTED},
      {EOPNOTSUPP, IREE_STATUS_UNIMPLEMENTED},
      {EAGAIN, IREE_STATUS_UNAVAILABLE},
      {EINTR, IREE_STATUS_UNAVAILABLE},
      {ETIMEDOUT, IREE_STATUS_DEADLINE_EXCEEDED},
      {ECANCELED, IREE_STATUS_CANCELLED},
      {EIO, IREE_STATUS_DATA_LOSS},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].error_number == error_number) return rows[i].code;
  }
  return IREE_STATUS_UNKNOWN;
}

static storage_t* storage_new(size_t extra) {
  size_t size = iree_host_align(sizeof(storage_t) + extra, STORAGE_ALIGNMENT);
  storage_t* storage = (storage_t*)aligned_alloc(STORAGE_ALIGNMENT, size);
  if (storage) memset(storage, 0, sizeof(*storage));
  return storage;
}

iree_status_t iree_status_allocate_code(iree_status_code_t code, const char* file, uint32_t line) {
  return iree_status_allocate(code, file, line, iree_string_view_empty());
}

static iree_status_t status_new(iree_status_code_t code, iree_string_view_t copied_file, const char* file,
                                uint32_t line, iree_string_view_t message) {
  if (code == IREE_STATUS_OK) return iree_ok_status();
  storage_t* storage = storage_new(message.size + 1 + copied_file.size + 1);
  if (!storage) return iree_status_from_code(code);
  storage->file = file;
  storage->line = line;
  storage->length = message.size;
  if (message.size) memcpy(storage->text, message.data, message.size);
  storage->text[message.size] = 0;
  if (!file) {
    char* copy = storage->text + message.size + 1;
    iree_string_view_to_cstring(copied_file, copy, copied_file.size + 1);
    storage->file = copy;
  }
  return (iree_status_t)((uintptr_t)storage | (uintptr_t)code);
}

iree_status_t iree_status_allocate(iree_status_code_t code, const char* file, uint32_t line,
                                   iree_string_view_t message) {
  return status_new(code, iree_string_view_empty(), file, line, message);
}

iree_status_t iree_status_allocate_copy(iree_status_code_t code, iree_string_view_t file, uint32_t line,
                                        iree_string_view_t message) {
  return status_new(code, file, NULL, line, message);
}

iree_status_t iree_status_allocate_vf(iree_status_code_t code, const char* file, uint32_t line, const char* format,
                                      va_list varargs) {
  if (code == IREE_STATUS_OK) return iree_ok_status();
  va_list copy;
  va_copy(copy, varargs);
  int length = vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  storage_t* storage = length < 0 ? NULL : storage_new((size_t)length + 1);
  if (!storage) return iree_status_from_code(code);
  storage->file = file;
  storage->line = line;
  storage->length = (size_t)length;
  vsnprintf(storage->text, (size_t)length + 1, format, varargs);
  return (iree_status_t)((uintptr_t)storage | (uintptr_t)code);
}

iree_status_t iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line, const char* format,
                                     ...) {
  va_list varargs;
  va_start(varargs, format);
  iree_status_t status = iree_status_allocate_vf(code, file, line, format, varargs);
  va_end(varargs);
  return status;
}

void iree_status_free(iree_status_t status) {
  storage_t* storage = status_storage(status);
  if (!storage) return;
  for (iree_status_payload_t *payload = storage->payloads, *next; payload; payload = next) {
    next = payload->next;
    iree_allocator_free(payload->allocator, payload);
  }
  free(storage);
}

iree_status_t iree_status_ignore(iree_status_t status) {
  iree_status_free(status);
  return iree_ok_status();
}

iree_status_code_t iree_status_consume_code(iree_status_t status) {
  iree_status_code_t code = iree_status_code(status);
  iree_status_free(status);
  return code;
}

void iree_status_abort(iree_status_t status) {
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  abort();
}

//===----------------------------------------------------------------------------------------------------------------===
// Payloads
//===----------------------------------------------------------------------------------------------------------------===

// Gives a bare code storage to hang payloads on.
static iree_status_t status_with_storage(iree_status_t status) {
  if (iree_status_is_ok(status) || status_storage(status)) return status;
  return iree_status_allocate(iree_status_code(status), "", 0, iree_string_view_empty());
}

iree_status_t iree_status_append_payload(iree_status_t status, iree_status_storage_t* storage,
                                         iree_status_payload_t* payload) {
  status = status_with_storage(status);
  if (!status_storage(status)) {
    iree_allocator_free(payload->allocator, payload);
    return status;
  }
  iree_status_payload_t** tail = &status_storage(status)->payloads;
  while (*tail) tail = &(*tail)->next;
  payload->next = NULL;
  *tail = payload;
  return status;
}

static void format_message(const iree_status_payload_t* payload, iree_host_size_t buffer_capacity, char* buffer,
                           iree_host_size_t* out_buffer_length) {
  iree_string_view_t message = ((const iree_status_payload_message_t*)payload)->message;
  if (buffer && buffer_capacity) iree_string_view_to_cstring(message, buffer, buffer_capacity);
  *out_buffer_length = message.size;
}

// Room for a message of `length` characters and a NUL, or NULL.
static annotation_t* annotation_new(size_t length) {
  annotation_t* annotation = (annotation_t*)malloc(sizeof(*annotation) + length + 1);
  if (!annotation) return NULL;
  iree_status_payload_t header = {
      .type = IREE_STATUS_PAYLOAD_TYPE_MESSAGE, .allocator = iree_allocator_system(), .formatter = format_message};
  annotation->payload =
      (iree_status_payload_message_t){.header = header, .message = {annotation->text, (iree_host_size_t)length}};
  return annotation;
}

static iree_status_t append_annotation(iree_status_t status, annotation_t* annotation) {
  return iree_status_append_payload(status, NULL, &annotation->payload.header);
}

iree_status_t iree_status_annotate(iree_status_t base_status, iree_string_view_t message) {
  base_status = status_with_storage(base_status);
  if (!status_storage(base_status) || message.size == 0) return base_status;
  annotation_t* annotation = annotation_new(message.size);
  if (!annotation) return base_status;
  iree_string_view_to_cstring(message, annotation->text, message.size + 1);
  return append_annotation(base_status, annotation);
}

iree_status_t iree_status_annotate_f(iree_status_t base_status, const char* format, ...) {
  base_status = status_with_storage(base_status);
  if (!status_storage(base_status)) return base_status;
  va_list varargs;
  va_start(varargs, format);
  int length = vsnprintf(NULL, 0, format, varargs);
  va_end(varargs);
  annotation_t* annotation = length < 0 ? NULL : annotation_new((size_t)length);
  if (!annotation) return base_status;
  va_start(varargs, format);
  vsnprintf(annotation->text, (size_t)length + 1, format, varargs);
  va_end(varargs);
  return append_annotation(base_status, annotation);
}

iree_status_t iree_status_enumerate_payloads(iree_status_t status, iree_status_payload_visitor_fn_t visitor,
                                             void* user_data) {
  storage_t* storage = status_storage(status);
  for (iree_status_payload_t* payload = storage ? storage->payloads : NULL; payload; payload = payload->next) {
    IREE_RETURN_IF_ERROR(visitor(user_data, payload));
  }
  return iree_ok_status();
}

iree_status_payload_type_t iree_status_payload_type(const iree_status_payload_t* payload) { return payload->type; }

void iree_status_payload_format(const iree_status_payload_t* payload, iree_host_size_t buffer_capacity, char* buffer,
                                iree_host_size_t* out_buffer_length) {
  *out_buffer_length = 0;
  if (payload->formatter) payload->formatter(payload, buffer_capacity, buffer, out_buffer_length);
}

// Says a payload to `output_fn`, behind a separator; nothing of one that says nothing of itself.
static bool output_payload(const iree_status_payload_t* payload, iree_status_output_fn_t output_fn, void* user_data) {
  char small[256], *text = small;
  iree_host_size_t length = 0;
  if (!payload->formatter) return true;
  if (payload->type == IREE_STATUS_PAYLOAD_TYPE_MESSAGE) {
    return output_fn(IREE_SV("; "), user_data) &&
           output_fn(((const iree_status_payload_message_t*)payload)->message, user_data);
  }
  payload->formatter(payload, 0, NULL, &length);
  if (length >= sizeof(small)) text = (char*)malloc(length + 1);
  if (!text) return true;
  payload->formatter(payload, length + 1, text, &length);
  bool ok = output_fn(IREE_SV("; "), user_data) && output_fn(iree_make_string_view(text, length), user_data);
  if (text != small) free(text);
  return ok;
}

// Copies messages alone: only who made other payloads could copy them.
iree_status_t iree_status_clone(iree_status_t status) {
  storage_t* storage = status_storage(status);
  if (!storage) return status;
  iree_status_t copy = iree_status_allocate_copy(iree_status_code(status), iree_make_cstring_view(storage->file),
                                                 storage->line, iree_make_string_view(storage->text, storage->length));
  for (const iree_status_payload_t* payload = storage->payloads; payload; payload = payload->next) {
    if (payload->type != IREE_STATUS_PAYLOAD_TYPE_MESSAGE) continue;
    copy = iree_status_annotate(copy, ((const iree_status_payload_message_t*)payload)->message);
  }
  return copy;
}

typedef struct builder_output_t {
  iree_string_builder_t* builder;
  iree_status_t status;
} builder_output_t;

static bool builder_output(iree_string_view_t string, void* user_data) {
  builder_output_t* output = (builder_output_t*)user_data;
  output->status = iree_string_builder_append_string(output->builder, string);
  return iree_status_is_ok(output->status);
}

iree_status_t iree_status_freeze(iree_status_t status) {
  storage_t* storage = status_storage(status);
  if (!storage) return status;
  iree_string_builder_t text;
  iree_string_builder_initialize(iree_allocator_system(), &text);
  builder_output_t output = {&text, iree_ok_status()};
  bool whole = builder_output(iree_make_string_view(storage->text, storage->length), &output);
  for (iree_status_payload_t* payload = storage->payloads; payload && whole; payload = payload->next) {
    whole = output_payload(payload, builder_output, &output);
  }
  iree_status_t result = output.status;
  if (iree_status_is_ok(result)) {
    result = iree_status_allocate_copy(iree_status_code(status), iree_make_cstring_view(storage->file), storage->line,
                                       iree_string_builder_view(&text));
    iree_status_free(status);
  } else {
    iree_status_free(result);
    result = status;
  }
  iree_string_builder_deinitialize(&text);
  return result;
}

iree_status_t iree_status_join(iree_status_t base_status, iree_status_t new_status) {
  if (iree_status_is_ok(base_status)) return new_status;
  if (iree_status_is_ok(new_status)) return base_status;
  char text[512];
  iree_status_format(new_status, sizeof(text), text, NULL);
  iree_status_free(new_status);
  return iree_status_annotate(base_status, iree_make_cstring_view(text));
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

bool iree_status_format_to(iree_status_t status, iree_status_output_fn_t output_fn, void* user_data) {
  storage_t* storage = status_storage(status);
  if (storage && storage->file && storage->file[0]) {
    char line[24];
    snprintf(line, sizeof(line), ":%u: ", storage->line);
    if (!output_fn(iree_make_cstring_view(storage->file), user_data)) return false;
    if (!output_fn(iree_make_cstring_view(line), user_data)) return false;
  }
  if (!output_fn(iree_make_cstring_view(iree_status_code_string(iree_status_code(status))), user_data)) return false;
  if (!storage) return true;
  if (storage->length) {
    if (!output_fn(IREE_SV("; "), user_data)) return false;
    if (!output_fn(iree_make_string_view(storage->text, storage->length), user_data)) return false;
  }
  for (iree_status_payload_t* payload = storage->payloads; payload; payload = payload->next) {
    if (!output_payload(payload, output_fn, user_data)) return false;
  }
  return true;
}

typedef struct fixed_output_t {
  char* buffer;
  size_t capacity;
  size_t length;  // that would be needed
} fixed_output_t;

static bool fixed_output(iree_string_view_t string, void* user_data) {
  fixed_output_t* output = (fixed_output_t*)user_data;
  if (output->length + 1 < output->capacity) {
    memcpy(output->buffer + output->length, string.data, iree_min(string.size, output->capacity - 1 - output->length));
  }
  output->length += string.size;
  return true;
}

bool iree_status_format(iree_status_t status, iree_host_size_t buffer_capacity, char* buffer,
                        iree_host_size_t* out_buffer_length) {
  fixed_output_t output = {buffer, buffer ? buffer_capacity : 0, 0};
  iree_status_format_to(status, fixed_output, &output);
  if (output.capacity) buffer[iree_min(output.length, output.capacity - 1)] = 0;
  if (out_buffer_length) *out_buffer_length = output.length;
  return !buffer || output.length < output.capacity;
}

bool iree_status_to_string(iree_status_t status, const iree_allocator_t* allocator, char** out_buffer,
                           iree_host_size_t* out_buffer_length) {
  *out_buffer = NULL;
  *out_buffer_length = 0;
  iree_host_size_t length = 0;
  iree_status_format(status, 0, NULL, &length);
  iree_status_t result = iree_allocator_malloc_uninitialized(*allocator, length + 1, (void**)out_buffer);
  if (!iree_status_is_ok(result)) {
    iree_status_free(result);
    return false;
  }
  return iree_status_format(status, length + 1, *out_buffer, out_buffer_length);
}

static bool file_output(iree_string_view_t string, void* user_data) {
  return fwrite(string.data, 1, string.size, (FILE*)user_data) == string.size;
}

void iree_status_fprint(FILE* file, iree_status_t status) {
  iree_status_format_to(status, file_output, file);
  fputc('\n', file);
  fflush(file);
}

iree_status_source_location_t iree_status_source_location(iree_status_t status) {
  storage_t* storage = status_storage(status);
  iree_status_source_location_t location = {NULL, 0};
  if (storage && storage->file && storage->file[0]) {
    location.file = storage->file;
    location.line = storage->line;
  }
  return location;
}

iree_string_view_t iree_status_message(iree_status_t status) {
  storage_t* storage = status_storage(status);
  return storage ? iree_make_string_view(storage->text, storage->length) : iree_string_view_empty();
}
