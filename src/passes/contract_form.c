// Contractions in one form: [batch, rows, reduction] x [batch, reduction, columns] -> [batch, rows, columns], or the
// same without batch. Transposes and reshapes around it do the rest; they are index maps, which later ride along.
//
//   graph.contract %a, %b {contract last with last} : [4,128,64], [4,128,64]
//     =>  %t = graph.transpose %b [0,2,1];  graph.contract %a, %t : [4,128,64] x [4,64,128]
#include <string.h>

#include "dialects/graph.h"
#include "dialects/graph_shape.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

typedef struct side_t {
  int64_t perm[GRAPH_MAX_RANK];  // batch, then (left: rows, reduction; right: reduction, columns)
  int32_t counts[3];             // dims of the three groups in that order
} side_t;

static void arrange(const ir_type_t* type, const int64_t* batch, uint32_t batch_count, const int64_t* reduced,
                    uint32_t reduced_count, bool reduced_first, side_t* side) {
  memset(side, 0, sizeof(*side));
  int32_t n = 0;
  for (uint32_t i = 0; i < batch_count; ++i) side->perm[n++] = batch[i];
  side->counts[0] = n;
  for (int pass = 0; pass < 2; ++pass) {
    int32_t first = n;
    if ((pass == 0) == reduced_first) {
      for (uint32_t i = 0; i < reduced_count; ++i) side->perm[n++] = reduced[i];
    } else {
      for (int32_t d = 0; d < type->rank; ++d) {
        if (!shape_contains(batch, batch_count, d) && !shape_contains(reduced, reduced_count, d)) side->perm[n++] = d;
      }
    }
    side->counts[1 + pass] = n - first;
  }
}

// Product of `count` of x's sizes; as an index value where one of them is known at run time only.
static int64_t product(ir_builder_t* b, ir_value_t* x, int32_t first, int32_t count, ir_value_t** dynamic) {
  int64_t size = 1;
  ir_value_t* value = NULL;
  for (int32_t i = first; i < first + count; ++i) {
    if (x->type->dims[i] != IR_DYNAMIC) {
      size *= x->type->dims[i];
    } else {
      ir_value_t* dim = graph_dim(b, x, (uint32_t)i);
      value = value ? graph_binary(b, SCALAR_mul, value, dim) : dim;
    }
  }
  if (!value) return size;
  *dynamic = size == 1 ? value : graph_binary(b, SCALAR_mul, value, graph_index_constant(b, size));
  return IR_DYNAMIC;
}

// Transposed, and each group of dims as one; without the batch when there is none.
static ir_value_t* rearranged(ir_builder_t* b, ir_value_t* x, const side_t* side, bool batched) {
  x = graph_transpose(b, x, side->perm);
  int64_t sizes[3];
  ir_value_t* dynamic[3];
  int32_t rank = 0, at = batched ? 0 : side->counts[0];
  uint32_t count = 0;
  bool same = true;
  for (int group = batched ? 0 : 1; group < 3; ++group) {
    sizes[rank] = product(b, x, at, side->counts[group], &dynamic[count]);
    count += sizes[rank++] == IR_DYNAMIC;
    at += side->counts[group];
    same &= side->counts[group] == 1;
  }
  return same && rank == x->type->rank ? x : graph_reshape(b, x, rank, sizes, dynamic);
}

// The result's dims again: batch and rows of the left operand, columns of the right.
static ir_value_t* spread(ir_builder_t* b, const ir_op_t* op, ir_value_t* y, const side_t* lhs, const side_t* rhs) {
  const ir_type_t* type = op->results[0].type;
  ir_value_t* dynamic[2 * GRAPH_MAX_RANK];
  uint32_t count = 0;
  int32_t left = lhs->counts[0] + lhs->counts[1];
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) continue;
    int64_t dim = i < left ? lhs->perm[i] : rhs->perm[rhs->counts[0] + rhs->counts[1] + i - left];
    dynamic[count++] = graph_dim(b, ir_operand(op, i < left ? 0 : 1), (uint32_t)dim);
  }
  if (count && y->type == type) return y;
  return graph_reshape(b, y, type->rank, type->dims, dynamic);
}

static bool has_batch(const ir_type_t* type, const side_t* side) {
  for (int32_t i = 0; i < side->counts[0]; ++i) {
    if (type->dims[side->perm[i]] != 1) return true;
  }
  return false;
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
  int64_t lb[GRAPH_MAX_RANK], rb[GRAPH_MAX_RANK], lc[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  uint32_t batch = graph_get_lhs_batch(op, lb), reduced = graph_get_lhs_contract(op, lc);
  graph_get_rhs_batch(op, rb);
  graph_get_rhs_contract(op, rc);
  side_t lhs, rhs;
  arrange(lt, lb, batch, lc, reduced, false, &lhs);
  arrange(rt, rb, batch, rc, reduced, true, &rhs);
  bool batched = has_batch(lt, &lhs) || has_batch(rt, &rhs);
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
                           .unsigned_lhs = graph_get_unsigned_lhs(op),
                           .unsigned_rhs = graph_get_unsigned_rhs(op)};
  ir_value_t* y = graph_contract(&b, x, w, &dims, yt->element);
  y = spread(&b, op, y, &lhs, &rhs);
  ir_value_replace(ir_result(op, 0), y);
  ir_op_erase(op);
  return true;
}

static bool visit(void* ctx, ir_op_t* op) { return ir_is(op, GRAPH_CONTRACT) && bring_into_form(ctx, op); }

pass_result_t pass_contract_form(ir_op_t* module, ir_context_t* ctx) {
  return rewrite_each(module, visit, ctx) ? PASS_CHANGED : PASS_UNCHANGED;
}
