// What the frontends' lowerings share.
#ifndef IREE_C_IMPORT_IMPORT_H_
#define IREE_C_IMPORT_IMPORT_H_

#include "ir/ir.h"

// The attributes of a function, without its type.
void import_copy_attrs(ir_context_t* ctx, const ir_op_t* from, ir_op_t* to);
// Drops pure ops without uses, last to first: shape computations that became constants. Clears results' data.
void import_erase_dead(ir_block_t* block);

#endif  // IREE_C_IMPORT_IMPORT_H_
