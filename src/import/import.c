// See import.h.
#include "import/import.h"

#include <string.h>

void import_copy_attrs(ir_context_t* ctx, const ir_op_t* from, ir_op_t* to) {
  for (uint32_t i = 0; i < from->attr_count; ++i) {
    const char* name = from->attrs[i].name;
    if (strcmp(name, "function_type") != 0) ir_op_set_attr(ctx, to, name, from->attrs[i].value);
  }
}

void import_erase_dead(ir_block_t* block) {
  for (ir_op_t *op = block->last, *prev; op; op = prev) {
    prev = op->prev;
    bool used = !ir_has_trait(op, IR_TRAIT_PURE);
    for (uint32_t i = 0; i < op->region_count; ++i) {
      IR_FOR_BLOCKS(inner, &op->regions[i]) import_erase_dead(inner);
    }
    for (uint32_t i = 0; i < op->result_count; ++i) {
      used |= op->results[i].uses != NULL;
      op->results[i].data = NULL;
    }
    if (!used) ir_op_erase(op);
  }
}
