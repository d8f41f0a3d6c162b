// All dialects of the compiler.
#ifndef IREE_C_DIALECTS_REGISTER_H_
#define IREE_C_DIALECTS_REGISTER_H_

#include "ir/ir.h"

void dialects_register_all(ir_context_t* ctx);

#endif  // IREE_C_DIALECTS_REGISTER_H_
