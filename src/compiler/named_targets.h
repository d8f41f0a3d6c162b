// The targets that a program names itself: hal.device.targets of its module, and globals that are devices.
#ifndef IREE_C_COMPILER_NAMED_TARGETS_H_
#define IREE_C_COMPILER_NAMED_TARGETS_H_

#include "ir/ir.h"
#include "target/target.h"

// False, after a diagnostic, when it names one that there is not. `count` stays 0 when it names none.
bool named_targets_read(ir_context_t* ctx, const ir_op_t* module, target_t* targets, uint32_t capacity,
                        uint32_t* count);

// Has the module name these, so that its text is compiled for them again; one that names its own keeps them.
void named_targets_write(ir_context_t* ctx, ir_op_t* module, const target_t* targets, uint32_t count);

#endif  // IREE_C_COMPILER_NAMED_TARGETS_H_
