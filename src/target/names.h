// Names of processors: lookup, and near names for messages.
#ifndef IREE_C_TARGET_NAMES_H_
#define IREE_C_TARGET_NAMES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

// Row of `name` among `count` rows of `stride` bytes that start with a `const char*`; -1 when absent. Case, blanks, '-'
// and '_' do not count.
int names_find(const void* rows, uint32_t count, size_t stride, const char* name);

// "Unknown <what> target '<name>'; did you mean 'a', 'b' or 'c'?" from the names that `at` gives until it returns NULL.
void names_report(text_t* error, const char* what, const char* name, const char* (*at)(uint32_t index));

#endif  // IREE_C_TARGET_NAMES_H_
