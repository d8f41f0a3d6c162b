// Dynamic slices and updates in loops that are one piece of memory: the host program reads and writes them where they
// are, by a view that moves, instead of kernels that are given a number and copy what they do not change.
//
//   while(%y) ^(%v): %x = dynamic_slice %all, %i, 0   : 100x1x64 -> 1x1x64        {window}
//                    %n = dynamic_update %v, %h, %i, 0 : 100x1x64, 1x1x64         {window}: %v itself, written in place
//                    yield %n
//
// A slice is taken of a value from outside the loop; an update is of a carried value that nothing else uses.
#include "dialects/graph.h"
#include "passes/passes.h"

// Whether elements of `part` in `whole` follow each other, at places that need no run-time strides: of the dims from
// the first that is longer than 1 on, all but the first are whole.
static bool is_contiguous(const ir_type_t* part, const ir_type_t* whole) {
  int32_t d = 0;
  if (!ir_type_is_static(part) || !ir_type_count(part)) return false;
  for (int32_t i = 1; i < whole->rank; ++i) {
    if (whole->dims[i] == IR_DYNAMIC) return false;
  }
  while (d < part->rank && part->dims[d] == 1) ++d;
  for (++d; d < part->rank; ++d) {
    if (part->dims[d] != whole->dims[d]) return false;
  }
  return true;
}

// Whether the operands from `first` on are numbers, which the host has; not tensors, which a device would have to be
// asked for.
static bool starts_are_numbers(const ir_op_t* op, uint32_t first) {
  for (uint32_t i = first; i < op->operand_count; ++i) {
    if (ir_type_is_tensor(ir_operand(op, i)->type)) return false;
  }
  return true;
}

static bool is_read_window(const ir_op_t* op, const ir_op_t* loop) {
  const ir_value_t* whole = ir_operand(op, 0);
  const ir_op_t* holder = whole->def ? whole->def : whole->block->parent->parent;
  bool outside = holder != loop && !ir_op_is_inside(holder, loop);
  return outside && starts_are_numbers(op, 1) && is_contiguous(op->results[0].type, whole->type);
}

static bool is_written_window(const ir_op_t* op, const ir_op_t* loop) {
  const ir_value_t *whole = ir_operand(op, 0), *result = &op->results[0];
  if (!starts_are_numbers(op, 2)) return false;
  if (whole->def || whole->block != op->parent || !ir_has_one_use(whole) || !ir_has_one_use(result)) return false;
  bool carried = result->uses->owner == op->parent->last && ir_operand(op->parent->last, whole->index) == result;
  return carried && op->parent == loop->regions[1].first && is_contiguous(ir_operand(op, 1)->type, whole->type);
}

// The values that an update takes need not have its shape.
static void skip_reshapes(ir_op_t* op) {
  for (ir_op_t* def; (def = ir_operand(op, 1)->def) && ir_is(def, GRAPH_RESHAPE);) {
    if (!ir_type_is_static(ir_operand(def, 0)->type)) return;
    ir_op_set_operand(op, 1, ir_operand(def, 0));
  }
}

static bool mark(ir_context_t* ctx, ir_op_t* parent) {
  bool changed = false;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        bool in_loop = ir_is(parent, GRAPH_WHILE);
        bool read = in_loop && ir_is(op, GRAPH_DYNAMIC_SLICE) && is_read_window(op, parent);
        bool written = in_loop && ir_is(op, GRAPH_DYNAMIC_UPDATE) && is_written_window(op, parent);
        if (written) skip_reshapes(op);
        if (read || written) ir_op_set_attr(ctx, op, "window", ir_attr_unit(ctx));
        changed |= read || written;
        changed |= mark(ctx, op);
      }
    }
  }
  return changed;
}

pass_result_t pass_windows(ir_op_t* module, ir_context_t* ctx) {
  return mark(ctx, module) ? PASS_CHANGED : PASS_UNCHANGED;
}
