// Layouts of what crosses dispatch boundaries, chosen for a device once the dispatches are known: weights are packed at
// compile time into the panels their kernels read, and activations between convolutions are stored with their channels
// blocked by the vector width. Inside a dispatch nothing changes but an unpack at its inputs and a pack at its outputs.
#ifndef IREE_C_KERNELS_LAYOUT_H_
#define IREE_C_KERNELS_LAYOUT_H_

#include "ir/ir.h"
#include "kernels/device.h"

// False after a diagnostic.
bool layout_assign(ir_context_t* ctx, ir_op_t* module, const device_info_t* device);

// Columns of a packed panel of a contraction's right operand; channels of a block of a convolution's activations (0: do
// not block) and output channels of a block of its weights.
int64_t layout_panel(const device_info_t* device, const ir_type_t* element, int64_t columns);
int64_t layout_channel_block(const device_info_t* device, const ir_type_t* element, int64_t channels);

#endif  // IREE_C_KERNELS_LAYOUT_H_
