// Assembly of StableHLO ops that formats cannot say, for the table in stablehlo.c.
#ifndef IREE_C_DIALECTS_STABLEHLO_HOOKS_H_
#define IREE_C_DIALECTS_STABLEHLO_HOOKS_H_

#include "ir/parse.h"
#include "ir/print.h"

#define STABLEHLO_HOOKS(HOOKS) \
  HOOKS(dot_general) HOOKS(convolution) HOOKS(slice) HOOKS(reduce_precision) HOOKS(reduce) HOOKS(while)
#define HOOKS(name)                                                                                 \
  ir_op_t* stablehlo_##name##_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc); \
  void stablehlo_##name##_print(ir_printer_t* pr, ir_op_t* op);
STABLEHLO_HOOKS(HOOKS)
#undef HOOKS

#endif  // IREE_C_DIALECTS_STABLEHLO_HOOKS_H_
