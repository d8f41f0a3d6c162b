// Hooks of the kernel dialect's own assembly, for the ops that no format describes.
#ifndef IREE_C_DIALECTS_KERNEL_ASSEMBLY_H_
#define IREE_C_DIALECTS_KERNEL_ASSEMBLY_H_

#include "ir/assembly.h"

//   kernel.func @name(%a: type, ...) attributes {...} { ... }
ir_op_t* kernel_func_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void kernel_func_print(ir_printer_t* pr, ir_op_t* op);
//   kernel.constant 1.0 : f32          kernel.constant dense<1.0> : vector<4xf32>
ir_op_t* kernel_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void kernel_constant_print(ir_printer_t* pr, ir_op_t* op);
//   kernel.for %i = %low to %high step %step iter_args(%a = %x, ...) -> (types) { ... } {...}
ir_op_t* kernel_for_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void kernel_for_print(ir_printer_t* pr, ir_op_t* op);
//   kernel.if %c -> (types) { ... } else { ... } {...}
ir_op_t* kernel_if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void kernel_if_print(ir_printer_t* pr, ir_op_t* op);
//   kernel.while (%a = %x, ...) : (types) { ... } do { ^bb0(...): ... } attributes {...}
ir_op_t* kernel_while_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void kernel_while_print(ir_printer_t* pr, ir_op_t* op);

#endif  // IREE_C_DIALECTS_KERNEL_ASSEMBLY_H_
