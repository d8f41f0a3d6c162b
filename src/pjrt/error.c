// Errors: a code and a text. There is always one to return: where memory is exhausted it is a constant.
#include <stdarg.h>
#include <stdio.h>

#include "pjrt/pjrt.h"

struct PJRT_Error {
  int code;
  size_t size;
  const char* text;  // behind it
};

static PJRT_Error no_memory = {IREE_STATUS_RESOURCE_EXHAUSTED, sizeof("out of memory") - 1, "out of memory"};

PJRT_Error* pjrt_no_memory(void) { return &no_memory; }

PJRT_Error* pjrt_error_text(int code, const char* text, size_t size) {
  PJRT_Error* error = malloc(sizeof(*error) + size + 1);
  if (!error) return pjrt_no_memory();
  char* copy = (char*)(error + 1);
  if (size) memcpy(copy, text, size);
  copy[size] = 0;
  *error = (PJRT_Error){code, size, copy};
  return error;
}

PJRT_Error* pjrt_error(int code, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return pjrt_error_text(code, text, size < (int)sizeof(text) ? (size_t)iree_max(size, 0) : sizeof(text) - 1);
}

PJRT_Error* pjrt_error_from_status(iree_status_t status) {
  if (iree_status_is_ok(status)) return NULL;
  int code = (int)iree_status_code(status);
  char* text = NULL;
  iree_host_size_t size = 0;
  iree_allocator_t allocator = iree_allocator_system();
  PJRT_Error* error =
      iree_status_to_string(status, &allocator, &text, &size) ? pjrt_error_text(code, text, size) : pjrt_no_memory();
  iree_allocator_free(allocator, text);
  iree_status_ignore(status);
  return error;
}

PJRT_Error* pjrt_error_clone(const PJRT_Error* error) {
  return error ? pjrt_error_text(error->code, error->text, error->size) : NULL;
}

void pjrt_error_free(PJRT_Error* error) {
  if (error != &no_memory) free(error);
}

void api_Error_Destroy(PJRT_Error_Destroy_Args* args) { pjrt_error_free(args->error); }

void api_Error_Message(PJRT_Error_Message_Args* args) {
  args->message = args->error ? args->error->text : "";
  args->message_size = args->error ? args->error->size : 0;
}

PJRT_Error* api_Error_GetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error ? args->error->code : 0;
  return NULL;
}
