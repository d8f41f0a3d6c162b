// Dynamic slices and updates in loops that are one piece of memory: the host program reads and writes them where they
// are, by a view that moves, instead of kernels that are given a number and copy what they do not change.
//
//   while(%y) ^(%v): %x = dynamic_slice %all, %i, 0   : 100x1x64 -> 1x1x64        {window}
//                    %n = dynamic_update %v, %h, %i, 0 : 100x1x64, 1x1x64         {window}: %v itself, written in place
//                    yield %n
//
// A slice is taken of a value from outside the loop; an update is of a carried value that nothing else uses. Sizes may
// be those that only the caller knows: 100x?x64 -> 1x?x64.
#include <string.h>

#include "dialects/graph.h"
#include "passes/passes.h"
#include "passes/sizes.h"

static bool is_same_dim(const ir_value_t* x, int32_t i, const ir_value_t* y, int32_t j) {
  if (x->type->dims[i] != y->type->dims[j]) return false;
  return x->type->dims[i] != IR_DYNAMIC || (sizes_of(x, i) && sizes_of(x, i) == sizes_of(y, j));
}

// Whether elements of `part` in `whole` follow each other: of the dims from the first that is longer than 1 on, all but
// the first are whole.
static bool is_contiguous(const ir_value_t* part, const ir_value_t* whole) {
  int32_t d = 0;
  if (!ir_type_count(part->type)) return false;
  while (d < part->type->rank && part->type->dims[d] == 1) ++d;
  for (++d; d < part->type->rank; ++d) {
    if (!is_same_dim(part, d, whole, d)) return false;
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
  return outside && starts_are_numbers(op, 1) && is_contiguous(&op->results[0], whole);
}

static bool is_written_window(const ir_op_t* op, const ir_op_t* loop) {
  const ir_value_t *whole = ir_operand(op, 0), *result = &op->results[0];
  if (!starts_are_numbers(op, 2)) return false;
  if (whole->def || whole->block != op->parent || !ir_has_one_use(whole) || !ir_has_one_use(result)) return false;
  bool carried = result->uses->owner == op->parent->last && ir_operand(op->parent->last, whole->index) == result;
  return carried && op->parent == loop->regions[1].first && is_contiguous(ir_operand(op, 1), whole);
}

// The same sizes but for those that are 1.
static bool is_same_but_ones(const ir_value_t* x, const ir_value_t* y) {
  int32_t i = 0, j = 0;
  for (;; ++i, ++j) {
    while (i < x->type->rank && x->type->dims[i] == 1) ++i;
    while (j < y->type->rank && y->type->dims[j] == 1) ++j;
    if (i == x->type->rank || j == y->type->rank) return i == x->type->rank && j == y->type->rank;
    if (!is_same_dim(x, i, y, j)) return false;
  }
}

// The values that an update takes need not have its shape; of open sizes only dims of 1 may come or go, so that the
// host program can tell which dims of the array they are.
static void skip_reshapes(ir_op_t* op) {
  for (ir_op_t* def; (def = ir_operand(op, 1)->def) && ir_is(def, GRAPH_RESHAPE);) {
    ir_value_t *from = ir_operand(def, 0), *to = ir_operand(op, 1);
    bool known = ir_type_is_static(from->type) && ir_type_is_static(to->type);
    if (!known && !is_same_but_ones(from, to)) return;
    ir_op_set_operand(op, 1, from);
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
  bool changed = false;
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !func->regions[0].first) continue;
    if (!sizes_resolve(ctx, func)) return PASS_FAILED;
    changed |= mark(ctx, func);
    sizes_clear(func);
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
