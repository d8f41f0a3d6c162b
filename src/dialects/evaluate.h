// Reference evaluation of graph ops on constants: the definition of what each op computes, for folding small constants
// and as the oracle that lowerings and code generation are tested against. Simple, checked, slow.
#ifndef IREE_C_DIALECTS_EVALUATE_H_
#define IREE_C_DIALECTS_EVALUATE_H_

#include "dialects/scalar.h"
#include "ir/ir.h"

// Runs a func.func of graph ops. `inputs` has one ELEMENTS attribute per argument (scalars: of rank 0), `outputs` gets
// one per result. False after a diagnostic.
bool graph_evaluate(ir_context_t* ctx, ir_op_t* func, const ir_attr_t* const* inputs, const ir_attr_t** outputs);

// One op without regions. `inputs` has one ELEMENTS attribute per operand, `outputs` room for one per result. Index
// maps and gathers take operands of any element type and keep it, whatever the op's types say, so that a caller can
// follow where elements go. False, without a diagnostic, when the op cannot be evaluated.
bool graph_evaluate_op(ir_context_t* ctx, ir_op_t* op, const ir_attr_t* const* inputs, const ir_attr_t** outputs);

// The function of a reduction's kind; a tensor<T> of the number that it starts from.
scalar_fn_t graph_kind_fn(const char* kind);
const ir_attr_t* graph_identity(ir_context_t* ctx, const char* kind, const ir_type_t* element);

#endif  // IREE_C_DIALECTS_EVALUATE_H_
