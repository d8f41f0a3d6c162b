// What a dialect's custom assembly uses to write its ops. A hook starts behind the results and the '=': it writes the
// op's name first. What the custom form cannot say is written with ir_emit_generic, so that everything printed parses
// back to the same.
#ifndef IREE_C_IR_PRINT_H_
#define IREE_C_IR_PRINT_H_

#include "ir/ir.h"

typedef struct ir_printer_t ir_printer_t;

void ir_emit(ir_printer_t* pr, const char* text);
void ir_emitf(ir_printer_t* pr, const char* format, ...) __attribute__((format(printf, 2, 3)));
ir_context_t* ir_printer_context(const ir_printer_t* pr);
uint32_t ir_printer_flags(const ir_printer_t* pr);

// The op's name; inside a function or a module the ops of their own dialect go without prefix.
void ir_emit_op_name(ir_printer_t* pr, const ir_op_t* op);
void ir_emit_value(ir_printer_t* pr, const ir_value_t* value);
// Operands [first, first + count), comma separated.
void ir_emit_operands(ir_printer_t* pr, const ir_op_t* op, uint32_t first, uint32_t count);
void ir_emit_operand_types(ir_printer_t* pr, const ir_op_t* op, uint32_t first, uint32_t count);
void ir_emit_result_types(ir_printer_t* pr, const ir_op_t* op);
void ir_emit_type(ir_printer_t* pr, const ir_type_t* type);
// `(t, t) -> t`; several results or none in parentheses.
void ir_emit_function_type(ir_printer_t* pr, const ir_op_t* op);
// ` -> t` or ` -> (t, t)`; nothing when there are no results.
void ir_emit_arrow_types(ir_printer_t* pr, const ir_op_t* op);

void ir_emit_attr(ir_printer_t* pr, const ir_attr_t* attr);
// Numbers without their type.
void ir_emit_attr_bare(ir_printer_t* pr, const ir_attr_t* attr);
void ir_emit_symbol(ir_printer_t* pr, const char* name);
// ` {a = 1, b}` of what `elided` (ends with NULL; may be NULL) does not name; nothing when nothing is left.
void ir_emit_attr_dict(ir_printer_t* pr, const ir_op_t* op, const char* const* elided);
void ir_emit_attr_dict_keyword(ir_printer_t* pr, const ir_op_t* op, const char* const* elided);

typedef enum { IR_REGION_ENTRY_ARGS = 1, IR_REGION_NO_TERMINATOR = 2 } ir_region_flags_t;
// `{ ... }`; ENTRY_ARGS: the entry block is written with its label and arguments; NO_TERMINATOR: each block's last op,
// when it is a terminator, is left out.
void ir_emit_region(ir_printer_t* pr, const ir_region_t* region, uint32_t flags);
void ir_emit_successor(ir_printer_t* pr, const ir_op_t* op, uint32_t index);
// `loc(...)` with a space before it, when locations are printed.
void ir_emit_loc(ir_printer_t* pr, const ir_loc_t* loc);
void ir_emit_newline(ir_printer_t* pr);
void ir_emit_op(ir_printer_t* pr, ir_op_t* op);
void ir_emit_generic(ir_printer_t* pr, ir_op_t* op);

// Names that readers know results and arguments by ("cst", "c1_i32", "arg"); see assembly.h. Writes nothing and
// returns false when the value just gets a number.
bool ir_value_hint(const ir_value_t* value, char* buffer, size_t size);

#endif  // IREE_C_IR_PRINT_H_
