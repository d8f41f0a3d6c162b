// Passes by name: pipelines as text, and the names that IREE's and MLIR's passes have.
#ifndef IREE_C_COMPILER_PASS_SET_H_
#define IREE_C_COMPILER_PASS_SET_H_

#include <stdbool.h>
#include <stddef.h>

#include "base/near.h"
#include "base/text.h"

// Who takes passes: `add` is told names in order and says whether it knows them, `option` gives the name of the option
// that the last of them has, or NULL, `set` is told its text (both NULL: no pass has one), `offer` offers all that it
// knows.
typedef struct pass_set_t {
  void* user;
  bool (*add)(void* user, const char* name, size_t size);
  const char* (*option)(void* user);
  void (*set)(void* user, const char* text, size_t size);
  void (*offer)(void* user, near_t* near);
} pass_set_t;

// One pass: of the set's own names, or one that stands for such (pass_names.def). False after a message in `error`.
bool pass_set_add(const pass_set_t* set, const char* name, size_t size, text_t* error);
// The same for "a,b" and "builtin.module(a,func.func(b{option=text}))": what stands in parentheses acts on the whole
// module.
bool pass_set_read(const pass_set_t* set, const char* text, text_t* error);
// The pass that does what IREE's or MLIR's of that name does, or NULL; and what to use where there is none, or NULL
// (`out_exact`: for this name, not for all that begin so).
const char* pass_name_same(const char* name, size_t size);
const char* pass_name_instead(const char* name, size_t size, bool* out_exact);

#endif  // IREE_C_COMPILER_PASS_SET_H_
