// Shared by the files of pdl_spec.h: what values of patterns stand for, matching, rewriting.
#ifndef IREE_C_COMPILER_PDL_STATE_H_
#define IREE_C_COMPILER_PDL_STATE_H_

#include "compiler/spec.h"

typedef enum { PDL_IS_OP, PDL_IS_ATTR, PDL_IS_VALUES, PDL_IS_TYPES } pdl_kind_t;

// At ir_value_t.data of a pattern's values: an op, an attribute, or as many values or types.
typedef struct pdl_thing_t {
  pdl_kind_t kind;
  uint32_t count;
  union {
    ir_op_t* op;
    const ir_attr_t* attr;
    ir_value_t* const* values;
    const ir_type_t* const* types;
  };
} pdl_thing_t;

typedef struct pdl_t {
  ir_context_t* ctx;
  ir_op_t *module, *spec;
  spec_ops_t patterns;
  // Of the pattern at work: its operations, that which no other one uses first; what its rewrite erases; its values
  // that stand for something, in the order in which they were found.
  spec_ops_t operations;
  spec_ops_t erased;
  ir_value_t** bound;
  uint32_t bound_count, bound_capacity;
  uint32_t tries;
} pdl_t;

// Operations of the program that are tried where several may be one of a pattern, for one place of the program.
enum { PDL_MAX_TRIES = 1 << 16 };

typedef enum { PDL_DONE, PDL_NO_MATCH, PDL_FAILED } pdl_outcome_t;

// FAILED, after a diagnostic at the op of the file.
pdl_outcome_t pdl_refuse(pdl_t* p, const ir_op_t* op, const char* what);

// What the value stands for, until all of those that came since there were `count` of them are forgotten.
void pdl_remember(pdl_t* p, ir_value_t* value, pdl_thing_t thing);
void pdl_forget(pdl_t* p, uint32_t count);
// The types that pdl.type or pdl.types names; false when it names none.
bool pdl_constant_types(pdl_t* p, const ir_op_t* def, pdl_thing_t* out);
// The things of the op's operands from `first` on, as one list of values or types; false when one is not known, or is
// of the other kind.
bool pdl_list(pdl_t* p, const ir_op_t* op, uint32_t first, uint32_t count, pdl_kind_t kind, pdl_thing_t* out);
// What the value stands for: what is remembered, or what follows for pdl.type, types, attribute, result, results and
// range from themselves and their operands. NULL when it is not known.
const pdl_thing_t* pdl_derive(pdl_t* p, ir_value_t* value);
// How many of an operation's operands are values, attributes and types (pdl.operation), or of another op's three lists.
bool pdl_segments(const ir_op_t* op, uint32_t count, int64_t* out);

// pdl_match.c. Whether `op` is the first of the pattern's operations; its values then stand for what was found.
bool pdl_match(pdl_t* p, ir_op_t* op);
bool pdl_holds(pdl_t* p, const ir_op_t* constraint);

// pdl_rewrite.c. What the pattern's rewrite says, in front of `root`.
pdl_outcome_t pdl_rewrite(pdl_t* p, ir_op_t* rewrite, ir_op_t* root);
// The program's op that the operand stands for, whose results nobody uses any more.
pdl_outcome_t pdl_erase(pdl_t* p, const ir_op_t* op, uint32_t operand);

// pdl_dispatch.c. rewriteAsFlowDispatch(root, name, inputs, replaced, sizes, others).
pdl_outcome_t pdl_rewrite_as_dispatch(pdl_t* p, ir_builder_t* b, ir_op_t* apply);

#endif  // IREE_C_COMPILER_PDL_STATE_H_
