// MLIR bytecode (.mlirbc): the binary form of a module, as https://mlir.llvm.org/docs/BytecodeFormat describes it.
// ir_parse_module reads it too, by its first bytes; versions 0 to 6. Programs that StableHLO wrote as portable
// artifacts come back from its versioned dialect (VHLO) as StableHLO.
#ifndef IREE_C_IR_BYTECODE_H_
#define IREE_C_IR_BYTECODE_H_

#include "ir/ir.h"

#define IR_BYTECODE_VERSION 6  // the newest that is read and written

// Whether data begins like bytecode.
bool ir_is_bytecode(const void* data, size_t size);

// Reads a module, or gives NULL after a diagnostic that names the byte. Element data points into `data`, which must
// outlive the context. Nothing in it is trusted; what is read still has to be verified (ir_verify).
ir_op_t* ir_read_bytecode(ir_context_t* ctx, const char* path, const void* data, size_t size);

// Appends `op` as bytecode of a version from 0 to IR_BYTECODE_VERSION, with locations. False after a diagnostic.
bool ir_write_bytecode(ir_context_t* ctx, ir_op_t* op, int64_t version, text_t* out);

#endif  // IREE_C_IR_BYTECODE_H_
