// Contractions in one form: [batch, rows, reduction] x [batch, reduction, columns] -> [batch, rows, columns], or the
// same without batch. Transposes and reshapes around it do the rest; they are index maps, which later ride along.
//
//   graph.contract %a, %b {contract last with last} : [4,128,64], [4,128,64]
//     =>  %t = graph.transpose %b [0,2,1];  graph.contract %a, %t : [4,128,64] x [4,64,128]
#include <string.h>

#include "dialects/graph.h"
#include "passes/passes.h"

typedef struct side_t {
  int64_t perm[GRAPH_MAX_RANK];  // batch, then (left: rows, reduction; right: reduction, columns)
  int64_t sizes[3];              // products of the three groups in that order
  int32_t free_rank;
  int64_t free_dims[GRAPH_MAX_RANK];
} side_t;

static bool contains(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

static void arrange(const ir_type_t* type, const int64_t* batch, uint32_t batch_count, const int64_t* reduced,
                    uint32_t reduced_count, bool reduced_first, side_t* side) {
  memset(side, 0, sizeof(*side));
  side->sizes[0] = side->sizes[1] = side->sizes[2] = 1;
  int32_t n = 0;
  for (uint32_t i = 0; i < batch_count; ++i) {
    side->perm[n++] = batch[i];
    side->sizes[0] *= type->dims[batch[i]];
  }
  for (int pass = 0; pass < 2; ++pass) {
    if ((pass == 0) == reduced_first) {
      for (uint32_t i = 0; i < reduced_count; ++i) {
        side->perm[n++] = reduced[i];
        side->sizes[1 + pass] *= type->dims[reduced[i]];
      }
      continue;
    }
    for (int32_t d = 0; d < type->rank; ++d) {
      if (contains(batch, batch_count, d) || contains(reduced, reduced_count, d)) continue;
      side->perm[n++] = d;
      side->sizes[1 + pass] *= type->dims[d];
      side->free_dims[side->free_rank++] = type->dims[d];
    }
  }
}

static ir_value_t* rearranged(ir_builder_t* b, ir_value_t* x, const side_t* side, bool batched) {
  x = graph_transpose(b, x, side->perm);
  return graph_reshape(b, x, batched ? 3 : 2, batched ? side->sizes : side->sizes + 1, NULL);
}

static bool is_in_form(const ir_op_t* op, const side_t* lhs, const side_t* rhs, bool batched) {
  int32_t rank = batched ? 3 : 2;
  if (ir_operand(op, 0)->type->rank != rank || ir_operand(op, 1)->type->rank != rank) return false;
  for (int32_t i = 0; i < rank; ++i) {
    if (lhs->perm[i] != i || rhs->perm[i] != i) return false;
  }
  return true;
}

static bool bring_into_form(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t *lt = ir_operand(op, 0)->type, *rt = ir_operand(op, 1)->type, *yt = op->results[0].type;
  if (!ir_type_is_static(lt) || !ir_type_is_static(rt)) return false;
  int64_t lb[GRAPH_MAX_RANK], rb[GRAPH_MAX_RANK], lc[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  uint32_t batch = ir_op_ints(op, "lhs_batch", lb, GRAPH_MAX_RANK), reduced = ir_op_ints(op, "lhs_contract", lc, 16);
  ir_op_ints(op, "rhs_batch", rb, GRAPH_MAX_RANK);
  ir_op_ints(op, "rhs_contract", rc, GRAPH_MAX_RANK);
  side_t lhs, rhs;
  arrange(lt, lb, batch, lc, reduced, false, &lhs);
  arrange(rt, rb, batch, rc, reduced, true, &rhs);
  bool batched = lhs.sizes[0] != 1;
  if (is_in_form(op, &lhs, &rhs, batched)) return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t* x = rearranged(&b, ir_operand(op, 0), &lhs, batched);
  ir_value_t* w = rearranged(&b, ir_operand(op, 1), &rhs, batched);
  static const int64_t zero = 0, one = 1, two = 2;
  graph_contract_t dims = {.lhs_batch = &zero,
                           .rhs_batch = &zero,
                           .batch_count = batched,
                           .lhs_contract = batched ? &two : &one,
                           .rhs_contract = batched ? &one : &zero,
                           .contract_count = 1,
                           .unsigned_lhs = ir_op_flag(op, "unsigned_lhs"),
                           .unsigned_rhs = ir_op_flag(op, "unsigned_rhs")};
  ir_value_t* y = graph_contract(&b, x, w, &dims, yt->element);
  y = graph_reshape(&b, y, yt->rank, yt->dims, NULL);
  ir_value_replace(ir_result(op, 0), y);
  ir_op_erase(op);
  return true;
}

static pass_result_t visit(ir_context_t* ctx, ir_op_t* parent) {
  pass_result_t result = PASS_UNCHANGED;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        if (op->region_count && visit(ctx, op) == PASS_CHANGED) result = PASS_CHANGED;
        if (ir_is(op, GRAPH_CONTRACT) && bring_into_form(ctx, op)) result = PASS_CHANGED;
      }
    }
  }
  return result;
}

pass_result_t pass_contract_form(ir_op_t* module, ir_context_t* ctx) { return visit(ctx, module); }
