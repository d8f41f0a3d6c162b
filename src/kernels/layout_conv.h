// Layouts of a convolution's operands on CPUs; and what layout.c and it share.
#ifndef IREE_C_KERNELS_LAYOUT_CONV_H_
#define IREE_C_KERNELS_LAYOUT_CONV_H_

#include "dialects/graph.h"
#include "kernels/device.h"

// Packs the weights of the convolution `op` in `dispatch`, and brings its input into a form that conv.c takes. Where
// neither the input nor, unless `blocks`, the results are in blocks of channels, slide.c may take it as it is.
void layout_conv_assign(ir_context_t* ctx, const device_info_t* device, ir_op_t* dispatch, ir_op_t* op, bool blocks);

// Elements of a vector.
int64_t layout_vector_lanes(const device_info_t* device, const ir_type_t* element);
// `type` with an axis split by `tile`, whose elements come last.
const ir_type_t* layout_packed_type(ir_context_t* ctx, const ir_type_t* type, int64_t axis, int64_t tile);
// pack or unpack of one axis.
ir_op_t* layout_tile_op(ir_builder_t* b, uint32_t code, ir_value_t* x, const ir_type_t* type, int64_t axis,
                        int64_t tile);

#endif  // IREE_C_KERNELS_LAYOUT_CONV_H_
