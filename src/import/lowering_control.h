// Structure of programs, for the driver in lowering.c: blocks that branch, and globals.
#ifndef IREE_C_IMPORT_LOWERING_CONTROL_H_
#define IREE_C_IMPORT_LOWERING_CONTROL_H_

#include "import/lowering.h"

// Lowers a function's blocks at l->b: branches become graph.if and graph.while. `results` is what is returned.
bool lower_blocks(lowering_t* l, ir_region_t* region, const lower_value_t* args, lower_value_t** results,
                  uint32_t* count);

// util.global, ml_program.global and tosa.variable become graph.global; util.initializer is made to look like a
// function with the attribute graph.initializer. Comes before the functions.
bool lower_globals(lowering_t* l);
// What #flow.parameter.named<"scope"::"key"> names, or with a key alone; false where it does not.
bool lower_parameter_name(ir_context_t* ctx, const ir_attr_t* value, const char** scope, const char** key);
bool lower_is_global(const ir_op_t* op);
// One that names a device, which loads ask for (linalg/devices.c).
bool lower_is_device_global(const ir_op_t* op);
bool lower_device_load(lower_op_t* n);
// Views at a function's edge become the tensors that they are imported as, or exported from (views.c).
void views_enter(ir_context_t* ctx, ir_op_t* func);

// Complex tensors outside of the program: tensor<4x2xf32> for tensor<4xcomplex<f32>>, which is the same memory, and
// tensor<2xf32> for a complex number. NULL for other types. `type` is that of the value.
const ir_type_t* lower_packed_type(ir_context_t* ctx, const ir_type_t* type);
lower_value_t lower_unpack(lowering_t* l, ir_value_t* packed, const ir_type_t* type);
ir_value_t* lower_pack(lowering_t* l, lower_value_t value);

#endif  // IREE_C_IMPORT_LOWERING_CONTROL_H_
