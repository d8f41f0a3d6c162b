// What a program computes from values that no call changes: constants, or parameters too. It can be computed ahead.
#ifndef IREE_C_COMPILER_KNOWN_H_
#define IREE_C_COMPILER_KNOWN_H_

#include "ir/ir.h"

typedef struct known_ops_t {
  ir_op_t** items;
  uint32_t count, capacity;
} known_ops_t;
void known_ops_finish(known_ops_t* ops);

// Which ops give such values without computing.
typedef struct known_leaves_t {
  bool (*are)(void* user, const ir_op_t* op);
  void* user;
} known_leaves_t;
// Tensors' constants.
bool known_is_constant(void* user, const ir_op_t* op);

// The ops whose results are worth storing instead of computing them: the last ones of what is known, unless they are
// much larger than what they come from. Users before what they use. Clears ir_op_t.data.
known_ops_t known_find_roots(ir_context_t* ctx, ir_op_t* module, const known_leaves_t* leaves);
// Appends a copy of the op to a block, behind those of what it comes from that `map` does not have yet.
void known_copy(ir_context_t* ctx, ir_block_t* block, ir_value_map_t* map, const ir_op_t* op);

#endif  // IREE_C_COMPILER_KNOWN_H_
