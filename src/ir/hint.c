// Names that readers know values by.
#include <stdio.h>
#include <string.h>

#include "ir/print.h"

bool ir_value_hint(const ir_value_t* value, char* buffer, size_t size) {
  (void)value, (void)buffer, (void)size;
  return false;
}
