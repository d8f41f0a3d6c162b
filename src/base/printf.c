// See iree/base/printf.h: the C library's.
#include "iree/base/printf.h"

#include <stdio.h>
#include <stdlib.h>

int iree_vsnprintf(char* buffer, size_t count, const char* format, va_list varargs) {
  return vsnprintf(buffer, count, format, varargs);
}

int iree_snprintf(char* buffer, size_t count, const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = vsnprintf(buffer, count, format, varargs);
  va_end(varargs);
  return length;
}

int iree_vfctprintf(iree_printf_callback_t callback, void* user_data, const char* format, va_list varargs) {
  char small[256], *text = small;
  va_list again;
  va_copy(again, varargs);
  int length = vsnprintf(small, sizeof(small), format, varargs);
  if (length >= (int)sizeof(small)) {
    text = malloc((size_t)length + 1);
    length = text ? vsnprintf(text, (size_t)length + 1, format, again) : -1;
  }
  va_end(again);
  for (int i = 0; i < length; ++i) callback(text[i], user_data);
  if (text != small) free(text);
  return length;
}

int iree_fctprintf(iree_printf_callback_t callback, void* user_data, const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = iree_vfctprintf(callback, user_data, format, varargs);
  va_end(varargs);
  return length;
}
