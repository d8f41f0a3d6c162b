// Structure of programs, for the driver in lowering.c: blocks that branch, and globals.
#ifndef IREE_C_IMPORT_LOWERING_CONTROL_H_
#define IREE_C_IMPORT_LOWERING_CONTROL_H_

#include "import/lowering.h"

// Lowers a function's blocks at l->b: branches become graph.if and graph.while. `results` is what is returned.
bool lower_blocks(lowering_t* l, ir_region_t* region, const lower_value_t* args, lower_value_t** results,
                  uint32_t* count);

// util.global and ml_program.global become graph.global.
bool lower_is_global(const ir_op_t* op);
bool lower_global(lowering_t* l, ir_op_t* op);

#endif  // IREE_C_IMPORT_LOWERING_CONTROL_H_
