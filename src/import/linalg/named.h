// What is known of linalg's named ops (named.def), for kernels too.
#ifndef IREE_C_IMPORT_LINALG_NAMED_H_
#define IREE_C_IMPORT_LINALG_NAMED_H_

#include "import/linalg/ops.h"

// `text` of a row: the roles of its tensors, separated by commas; a pool's kind last.
enum { NAMED_MAX_TEXT = 2 * GRAPH_MAX_RANK + 2 };
typedef struct named_texts_t {
  char part[3][NAMED_MAX_TEXT];
} named_texts_t;
named_texts_t named_split(const char* text);
// Whether the op's operands are read as unsigned numbers.
bool named_is_unsigned(lower_op_t* n);
// Strides and dilations of the digits in r->x. False after a diagnostic.
bool named_steps(lower_op_t* n, conv_roles_t* r);
// The name of an elementwise op's function: the row's, or the word of attribute `kind` or `fun`.
const char* named_function(lower_op_t* n);
// The function on values of one shape. NULL after a diagnostic.
ir_value_t* named_apply(lower_op_t* n, const char* name, ir_value_t** v, uint32_t count);

#endif  // IREE_C_IMPORT_LINALG_NAMED_H_
