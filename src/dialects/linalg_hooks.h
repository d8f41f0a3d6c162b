// Assembly of linalg ops, for the table in linalg.c, and what the files share.
#ifndef IREE_C_DIALECTS_LINALG_HOOKS_H_
#define IREE_C_DIALECTS_LINALG_HOOKS_H_

#include "ir/parse.h"
#include "ir/print.h"

// ins(%a : t) outs(%b : t)
typedef struct linalg_io_t {
  ir_ref_list_t ins, outs;
  ir_type_list_t in_types, out_types;
} linalg_io_t;
bool linalg_io_parse(ir_parser_t* p, linalg_io_t* io);
bool linalg_io_draft(ir_parser_t* p, ir_draft_t* op, const linalg_io_t* io);
void linalg_io_print(ir_printer_t* pr, const ir_op_t* op, uint32_t ins);
void linalg_segments(ir_parser_t* p, ir_draft_t* op, const linalg_io_t* io);
// Number of `ins` operands when operandSegmentSizes fits the op; else -1.
int64_t linalg_ins(const ir_op_t* op);

#define LINALG_HOOKS(HOOKS) HOOKS(generic) HOOKS(named) HOOKS(map) HOOKS(move) HOOKS(pack)
#define HOOKS(name)                                                                              \
  ir_op_t* linalg_##name##_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc); \
  void linalg_##name##_print(ir_printer_t* pr, ir_op_t* op);
LINALG_HOOKS(HOOKS)
#undef HOOKS

#endif  // IREE_C_DIALECTS_LINALG_HOOKS_H_
