// Status: the result of everything that can fail.
//
// An `iree_status_t` is one machine word. OK is 0 and costs nothing. A failed status is either a bare code or a pointer
// to storage with source location, message and annotations, with the code in the low five bits, so that the code can
// always be read without touching memory. A failed status with storage is owned by whoever holds it: return it, or pass
// it to exactly one of the functions below that consume it (free, ignore, join, annotate, consume_code, abort).
// Storage comes from the C heap. A status may move between threads but is used by one at a time.
//
// Text form: `file:line: CODE; message; annotation; annotation`.
#ifndef IREE_BASE_STATUS_H_
#define IREE_BASE_STATUS_H_

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_allocator_t iree_allocator_t;

// STATUS(name, value, suffix): IREE_STATUS_<name>, its number and the suffix of iree_status_is_<suffix>.
#define IREE_STATUS_CODES(STATUS)                     \
  STATUS(OK, 0, ok)                                   \
  STATUS(CANCELLED, 1, cancelled)                     \
  STATUS(UNKNOWN, 2, unknown)                         \
  STATUS(INVALID_ARGUMENT, 3, invalid_argument)       \
  STATUS(DEADLINE_EXCEEDED, 4, deadline_exceeded)     \
  STATUS(NOT_FOUND, 5, not_found)                     \
  STATUS(ALREADY_EXISTS, 6, already_exists)           \
  STATUS(PERMISSION_DENIED, 7, permission_denied)     \
  STATUS(RESOURCE_EXHAUSTED, 8, resource_exhausted)   \
  STATUS(FAILED_PRECONDITION, 9, failed_precondition) \
  STATUS(ABORTED, 10, aborted)                        \
  STATUS(OUT_OF_RANGE, 11, out_of_range)              \
  STATUS(UNIMPLEMENTED, 12, unimplemented)            \
  STATUS(INTERNAL, 13, internal)                      \
  STATUS(UNAVAILABLE, 14, unavailable)                \
  STATUS(DATA_LOSS, 15, data_loss)                    \
  STATUS(UNAUTHENTICATED, 16, unauthenticated)        \
  STATUS(DEFERRED, 17, deferred)                      \
  STATUS(INCOMPATIBLE, 18, incompatible)

typedef enum iree_status_code_e {
#define IREE_STATUS_ENUM_(name, value, suffix) IREE_STATUS_##name = value,
  IREE_STATUS_CODES(IREE_STATUS_ENUM_)
#undef IREE_STATUS_ENUM_
      IREE_STATUS_CODE_MASK = 0x1Fu,
} iree_status_code_t;

// A status that carries only a code: nothing to free.
#define iree_status_from_code(code) ((iree_status_t)((uintptr_t)((iree_status_code_t)(code)) & IREE_STATUS_CODE_MASK))
#define iree_status_code(value) ((iree_status_code_t)(((uintptr_t)(value)) & IREE_STATUS_CODE_MASK))
#define iree_ok_status() iree_status_from_code(IREE_STATUS_OK)
#define iree_status_is_ok(value) IREE_LIKELY((uintptr_t)(value) == IREE_STATUS_OK)

#define iree_status_is_cancelled(value) (iree_status_code(value) == IREE_STATUS_CANCELLED)
#define iree_status_is_unknown(value) (iree_status_code(value) == IREE_STATUS_UNKNOWN)
#define iree_status_is_invalid_argument(value) (iree_status_code(value) == IREE_STATUS_INVALID_ARGUMENT)
#define iree_status_is_deadline_exceeded(value) (iree_status_code(value) == IREE_STATUS_DEADLINE_EXCEEDED)
#define iree_status_is_not_found(value) (iree_status_code(value) == IREE_STATUS_NOT_FOUND)
#define iree_status_is_already_exists(value) (iree_status_code(value) == IREE_STATUS_ALREADY_EXISTS)
#define iree_status_is_permission_denied(value) (iree_status_code(value) == IREE_STATUS_PERMISSION_DENIED)
#define iree_status_is_resource_exhausted(value) (iree_status_code(value) == IREE_STATUS_RESOURCE_EXHAUSTED)
#define iree_status_is_failed_precondition(value) (iree_status_code(value) == IREE_STATUS_FAILED_PRECONDITION)
#define iree_status_is_aborted(value) (iree_status_code(value) == IREE_STATUS_ABORTED)
#define iree_status_is_out_of_range(value) (iree_status_code(value) == IREE_STATUS_OUT_OF_RANGE)
#define iree_status_is_unimplemented(value) (iree_status_code(value) == IREE_STATUS_UNIMPLEMENTED)
#define iree_status_is_internal(value) (iree_status_code(value) == IREE_STATUS_INTERNAL)
#define iree_status_is_unavailable(value) (iree_status_code(value) == IREE_STATUS_UNAVAILABLE)
#define iree_status_is_data_loss(value) (iree_status_code(value) == IREE_STATUS_DATA_LOSS)
#define iree_status_is_unauthenticated(value) (iree_status_code(value) == IREE_STATUS_UNAUTHENTICATED)
#define iree_status_is_deferred(value) (iree_status_code(value) == IREE_STATUS_DEFERRED)
#define iree_status_is_incompatible(value) (iree_status_code(value) == IREE_STATUS_INCOMPATIBLE)

//===----------------------------------------------------------------------------------------------------------------===
// Making and passing on
//===----------------------------------------------------------------------------------------------------------------===

// iree_make_status(code) or iree_make_status(code, "format", ...): a new failed status with the caller's location.
#define iree_make_status(code, ...) iree_make_status_with_location(__FILE__, __LINE__, code __VA_OPT__(, ) __VA_ARGS__)
#define iree_make_status_with_location(file, line, code, ...)                               \
  IREE_STATUS_SECOND_(0 __VA_OPT__(, iree_status_allocate_f), iree_status_allocate_code, 0) \
  ((code), (file), (line)__VA_OPT__(, ) __VA_ARGS__)
#define IREE_STATUS_SECOND_(first, second, ...) second

// Annotates `status` when there is something to annotate it with: (status), (status, "text") or (status, "format",
// ...).
#define IREE_STATUS_ANNOTATE_(status, ...) \
  IREE_STATUS_SECOND_(0 __VA_OPT__(, iree_status_annotate_f), IREE_STATUS_PASS_, 0)(status __VA_OPT__(, ) __VA_ARGS__)
#define IREE_STATUS_PASS_(status) (status)

// Returns from the calling function when `expr` fails, annotated with the optional format and arguments.
#define IREE_RETURN_IF_ERROR(expr, ...)                                      \
  do {                                                                       \
    iree_status_t iree_status_ = (expr);                                     \
    if (IREE_UNLIKELY(!iree_status_is_ok(iree_status_))) {                   \
      return IREE_STATUS_ANNOTATE_(iree_status_ __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                        \
  } while (0)

// As IREE_RETURN_IF_ERROR, evaluating `tail_expr` first.
#define IREE_RETURN_AND_EVAL_IF_ERROR(tail_expr, expr, ...)                  \
  do {                                                                       \
    iree_status_t iree_status_ = (expr);                                     \
    if (IREE_UNLIKELY(!iree_status_is_ok(iree_status_))) {                   \
      (tail_expr);                                                           \
      return IREE_STATUS_ANNOTATE_(iree_status_ __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                        \
  } while (0)

// Evaluates `expr` and drops a failure. For cleanup paths whose failure nobody can act on.
#define IREE_IGNORE_ERROR(expr) ((void)iree_status_ignore(expr))

// Prints the failure and aborts the process when `expr` fails. For programs' main paths and tests, not for libraries.
#define IREE_CHECK_OK(expr, ...)                                                          \
  do {                                                                                    \
    iree_status_t iree_status_ = (expr);                                                  \
    if (IREE_UNLIKELY(!iree_status_is_ok(iree_status_))) iree_status_abort(iree_status_); \
  } while (0)

// The code closest to a C library `errno` value; UNKNOWN when none fits.
IREE_API_EXPORT iree_status_code_t iree_status_code_from_errno(int error_number);

// The code's name as printed ("INVALID_ARGUMENT"). Static storage; "" for a number outside the enum.
IREE_API_EXPORT const char* iree_status_code_string(iree_status_code_t code);

// Makers behind iree_make_status. `file` must outlive the status (a literal); the message is copied. `code` OK gives
// OK. When memory runs out the result is the bare code.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate_code(iree_status_code_t code, const char* file,
                                                                             uint32_t line);
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate(iree_status_code_t code, const char* file,
                                                                        uint32_t line, iree_string_view_t message);
IREE_API_EXPORT IREE_MUST_USE_RESULT IREE_PRINTF_ATTRIBUTE(4, 5) iree_status_t
    iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line, const char* format, ...);
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate_vf(iree_status_code_t code, const char* file,
                                                                           uint32_t line, const char* format,
                                                                           va_list varargs);
// As iree_status_allocate, with `file` copied too.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate_copy(iree_status_code_t code,
                                                                             iree_string_view_t file, uint32_t line,
                                                                             iree_string_view_t message);

// The same with all annotations in its message. Consumes `status`.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_freeze(iree_status_t status);
// A deep copy. The source stays valid and owned by its holder.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_clone(iree_status_t status);

// Frees the storage; OK and bare codes are accepted and do nothing.
IREE_API_EXPORT void iree_status_free(iree_status_t status);

// Frees the storage and returns OK.
IREE_API_EXPORT iree_status_t iree_status_ignore(iree_status_t status);

// Consumes both. The result is `base_status`, annotated with the text of `new_status` when both failed; when only one
// failed it is that one.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_join(iree_status_t base_status,
                                                                    iree_status_t new_status);

// Prints to stderr and aborts the process.
IREE_API_EXPORT IREE_ATTRIBUTE_NORETURN void iree_status_abort(iree_status_t status);

// Frees the storage and returns the code.
IREE_API_EXPORT iree_status_code_t iree_status_consume_code(iree_status_t status);

// Appends text, copied, to a failed status and returns it (perhaps as a new word). OK passes through.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_annotate(iree_status_t base_status,
                                                                        iree_string_view_t message);
IREE_API_EXPORT IREE_MUST_USE_RESULT IREE_PRINTF_ATTRIBUTE(2, 3) iree_status_t
    iree_status_annotate_f(iree_status_t base_status, const char* format, ...);

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

// Writes the text form into `buffer` (NUL-terminated when `buffer_capacity` > 0) and its full length, without the
// terminator, to `out_buffer_length` (may be NULL). False when it did not fit; without a buffer only the length is
// asked for.
IREE_API_EXPORT bool iree_status_format(iree_status_t status, iree_host_size_t buffer_capacity, char* buffer,
                                        iree_host_size_t* out_buffer_length);

// Receives pieces of text in order; returns false to stop.
typedef bool (*iree_status_output_fn_t)(iree_string_view_t string, void* user_data);
// Streams the text form. False when `output_fn` stopped it.
IREE_API_EXPORT bool iree_status_format_to(iree_status_t status, iree_status_output_fn_t output_fn, void* user_data);

// The text form in memory from `allocator`, NUL-terminated; the caller frees it. False when memory ran out.
IREE_API_EXPORT bool iree_status_to_string(iree_status_t status, const iree_allocator_t* allocator, char** out_buffer,
                                           iree_host_size_t* out_buffer_length);

// Prints the text form and a newline. Does not consume the status.
IREE_API_EXPORT void iree_status_fprint(FILE* file, iree_status_t status);

typedef struct iree_status_source_location_t {
  const char* file;  // NULL when unknown
  uint32_t line;
} iree_status_source_location_t;
// Where the status was made; unknown for bare codes.
IREE_API_EXPORT iree_status_source_location_t iree_status_source_location(iree_status_t status);

// The message the status was made with, without annotations; lives as long as the status.
IREE_API_EXPORT iree_string_view_t iree_status_message(iree_status_t status);

// What hangs on a status: annotations are messages; status_payload.h has the rest.
typedef struct iree_status_payload_t iree_status_payload_t;
typedef enum iree_status_payload_type_e {
  IREE_STATUS_PAYLOAD_TYPE_OPAQUE = 0,
  IREE_STATUS_PAYLOAD_TYPE_MESSAGE = 1,
  IREE_STATUS_PAYLOAD_TYPE_STACK_TRACE = 2,
  IREE_STATUS_PAYLOAD_TYPE_MIN_USER = 0x70000000u,  // an application's own, from here on
} iree_status_payload_type_t;

// Called with each payload, which is the status's, the oldest first; a failure ends it and is returned.
typedef iree_status_t (*iree_status_payload_visitor_fn_t)(void* user_data, const iree_status_payload_t* payload);
IREE_API_EXPORT iree_status_t iree_status_enumerate_payloads(iree_status_t status,
                                                             iree_status_payload_visitor_fn_t visitor, void* user_data);
IREE_API_EXPORT iree_status_payload_type_t iree_status_payload_type(const iree_status_payload_t* payload);
// The payload as text: see iree_status_payload_formatter_t. *out_buffer_length is 0 for one without.
IREE_API_EXPORT void iree_status_payload_format(const iree_status_payload_t* payload, iree_host_size_t buffer_capacity,
                                                char* buffer, iree_host_size_t* out_buffer_length);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_STATUS_H_
