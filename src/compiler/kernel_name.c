// See kernel_name.h.
#include "compiler/kernel_name.h"

#include <string.h>

size_t kernel_name_short_size(const char* name) {
  const char* tail = NULL;
  for (const char* next = name; (next = strstr(next, "_dispatch_")); ++next) {
    if (next[10] >= '0' && next[10] <= '9') tail = next;
  }
  return tail ? (size_t)(tail - name) + 10 + strspn(tail + 10, "0123456789") : strlen(name);
}
