// Archives of parameters (.irpa) from element data: weights that stay outside of a module.
#ifndef IREE_C_IMPORT_PARAMETERS_H_
#define IREE_C_IMPORT_PARAMETERS_H_

#include <stdio.h>

#include "ir/ir.h"

typedef struct parameter_t {
  const char* name;
  const ir_attr_t* value;  // elements
  bool is_pattern;         // a splat's element, which takes no place in the file
  struct parameter_t* next;
} parameter_t;
// In the order of the archive; zero: none.
typedef struct parameter_list_t {
  parameter_t *first, *last;
  uint64_t count;
} parameter_list_t;

// Adds a copy, in the context's arena. Names are the caller's, each once.
void parameter_list_add(ir_context_t* ctx, parameter_list_t* list, const parameter_t* parameter);
// Writes the archive, contents at multiples of 64 bytes. False when it cannot be written (errno).
bool parameter_list_write(const parameter_list_t* list, FILE* file);

#endif  // IREE_C_IMPORT_PARAMETERS_H_
