// Parameters computed ahead of a program. What it computes from parameters alone becomes functions of a second program,
// the encoder, whose results iree-encode-parameters puts into an archive; the program takes them from there.
#ifndef IREE_C_COMPILER_ENCODE_H_
#define IREE_C_COMPILER_ENCODE_H_

#include "ir/ir.h"

typedef struct encode_options_t {
  const char* scope;  // of what is computed
  bool overlay;       // other parameters stay in their scopes; else they move into this one, too
} encode_options_t;

// Changes the module and returns the encoder's, which has a function without arguments for each parameter of the scope.
// Its attribute iree.reflection says what it is:
//   {iree.encode.function = "encode", iree.encode.target = "default", iree.encode.scope = "encoded",
//    iree.encode.key = "w", iree.encode.length = "64"}
ir_op_t* encode_parameters(ir_context_t* ctx, ir_op_t* module, const encode_options_t* options);

#endif  // IREE_C_COMPILER_ENCODE_H_
