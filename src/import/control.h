// Pieces of structured control flow that several dialects have.
#ifndef IREE_C_IMPORT_CONTROL_H_
#define IREE_C_IMPORT_CONTROL_H_

#include "import/lowering.h"

// One side of an if: a block, or a function that lowers it at n->b and sets n->out.
typedef struct lower_branch_t {
  ir_block_t* block;          // NULL: `build`
  const lower_value_t* args;  // of the block
  bool (*build)(lower_op_t* n, uint32_t number);
  uint32_t number;
} lower_branch_t;
// graph.if; sets n->out. `condition` is i1 or tensor<i1>.
bool lower_build_if(lower_op_t* n, ir_value_t* condition, const lower_branch_t* then, const lower_branch_t* other);

// One of the op's regions, all of which are a block without arguments: that with the number n->in[0], the last one for
// every other number. As many ifs deep as the count of regions has bits.
bool lower_build_case(lower_op_t* n);

// graph.while from two pieces: `before` decides whether to go on and gives values; `after` makes the next start values
// of them. Both are lowered at l->b, `before` twice: in front of the loop, and at the end of its body.
typedef struct lower_while_t {
  bool (*before)(void* user, const lower_value_t* inits, uint32_t count, ir_value_t** go_on, lower_list_t* values);
  bool (*after)(void* user, ir_value_t* const* values, const lower_value_t** inits, uint32_t* count);
  void* user;
} lower_while_t;
// `types` are those of the values; `results` gets them as they are at the end.
bool lower_build_while(lowering_t* l, const ir_loc_t* loc, const lower_value_t* inits, uint32_t count,
                       const lower_types_t* types, const lower_while_t* pieces, lower_list_t* results);

// graph.call of a function of the module; sets n->out.
bool lower_call_symbol(lower_op_t* n, const char* callee);
// graph.barrier over all operands; sets n->out.
bool lower_barrier(lower_op_t* n);
// graph.top_k along the last dimension, floats in total order: values and i32 (or the second result's) indices; `k` is
// an index that may be computed.
bool lower_top_k(lower_op_t* n, ir_value_t* x, ir_value_t* k, bool smallest);

// The highest bit turned: unsigned integers order as signed ones do. Booleans, which order as they are, stay.
ir_value_t* lower_turn_sign(lower_op_t* n, ir_value_t* x);
// Loads and stores of globals, also through addresses, whatever the dialect calls them (lowering_global.c).
bool lower_global_load(lower_op_t* n);
bool lower_global_store(lower_op_t* n);
bool lower_global_address(lower_op_t* n);

#endif  // IREE_C_IMPORT_CONTROL_H_
