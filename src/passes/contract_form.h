// Contractions in the form that layouts and kernels know, for devices of one kind (contract_form.c).
#ifndef IREE_C_PASSES_CONTRACT_FORM_H_
#define IREE_C_PASSES_CONTRACT_FORM_H_

#include "dialects/graph.h"
#include "ir/pass.h"

// `cpu`: all devices are CPUs, which read the right operand along its columns.
pass_result_t contract_form_run(ir_op_t* module, ir_context_t* ctx, bool cpu);

#endif  // IREE_C_PASSES_CONTRACT_FORM_H_
