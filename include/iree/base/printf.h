// The printf family under names of this library's. Thread safe.
#ifndef IREE_BASE_PRINTF_H_
#define IREE_BASE_PRINTF_H_

#include <stdarg.h>
#include <stddef.h>

#include "iree/base/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called for each character, without the terminator.
typedef void (*iree_printf_callback_t)(char character, void* user_data);

// As snprintf: what does not fit is cut off; the result is the length that would be needed, or negative for a failure.
IREE_API_EXPORT int iree_snprintf(char* buffer, size_t count, const char* format, ...) IREE_PRINTF_ATTRIBUTE(3, 4);
IREE_API_EXPORT int iree_vsnprintf(char* buffer, size_t count, const char* format, va_list varargs);

// The same, a character after the other. Negative also when memory for the text is lacking; then nothing was called.
IREE_API_EXPORT int iree_fctprintf(iree_printf_callback_t callback, void* user_data, const char* format, ...)
    IREE_PRINTF_ATTRIBUTE(3, 4);
IREE_API_EXPORT int iree_vfctprintf(iree_printf_callback_t callback, void* user_data, const char* format,
                                    va_list varargs);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_PRINTF_H_
