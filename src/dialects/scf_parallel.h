// Hooks of scf.forall, scf.parallel and scf.reduce, for the table in scf.c.
#ifndef IREE_C_DIALECTS_SCF_PARALLEL_H_
#define IREE_C_DIALECTS_SCF_PARALLEL_H_

#include "ir/parse.h"
#include "ir/print.h"

ir_op_t* forall_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void forall_print(ir_printer_t* pr, ir_op_t* op);
ir_op_t* parallel_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void parallel_print(ir_printer_t* pr, ir_op_t* op);
ir_op_t* reduce_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void reduce_print(ir_printer_t* pr, ir_op_t* op);

#endif  // IREE_C_DIALECTS_SCF_PARALLEL_H_
