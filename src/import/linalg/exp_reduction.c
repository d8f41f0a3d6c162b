// iree_linalg_ext.exp_reduction: sums of 2^(x - max x), with what there was before scaled to the new maximum.
//
//   M = max(M0, max x)
//   outs named by exp_reduced_operands: s = s0 * 2^(M0 - M)
//   then the body on 2^(x - M), M, s, without M
#include <string.h>

#include "import/linalg/ops.h"

// The largest of the start and of x (loops `wide`) along the loops that the start does not have.
static ir_value_t* largest(lower_op_t* n, ir_value_t* x, const char* wide, ir_value_t* start, const char* loops) {
  int64_t dims[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  char kept[LOOPS_MAX_ROLES] = "";
  uint32_t count = 0, kept_count = 0;
  for (uint32_t i = 0; wide[i]; ++i) {
    if (strchr(loops, wide[i])) kept[kept_count++] = wide[i];
    if (!strchr(loops, wide[i])) dims[count++] = i;
  }
  if (kept_count != strlen(loops)) return lower_unsupported(n, "a maximum over loops of its operand is"), NULL;
  for (uint32_t i = 0; i < kept_count; ++i) perm[i] = strchr(kept, loops[i]) - kept;
  x = graph_transpose(n->b, graph_reduce(n->b, x, dims, count, "max"), perm);
  return graph_binary(n->b, SCALAR_max, start, x);
}

static ir_value_t* spread(lower_op_t* n, ir_value_t* v, const char* loops, ir_value_t* like, const char* wide) {
  v = roles_spread(n, v, loops, like, wide);
  if (!v) lower_unsupported(n, "outs of the loops that their operands have are");
  return v;
}

static ir_value_t* power(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return graph_unary(n->b, SCALAR_exp2, graph_binary(n->b, SCALAR_sub, x, y));
}

static bool check(lower_op_t* n, const loops_t* l) {
  const ir_block_t* block = n->op->regions[0].first;
  if (!block || block->next) return lower_error(n, "needs a region of one block");
  if (!l->ins) return lower_error(n, "needs an operand");
  for (uint32_t i = 0; i < l->ins + l->outs; ++i) {
    bool linked = i == 0 || i == l->ins;
    if (!ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
    if (linked && !lower_is_float(n->in[i]->type)) return lower_unsupported(n, "floats are");
    for (uint32_t k = 0; (linked || i > l->ins) && k < l->maps[i].count; ++k) {
      bool fits = l->maps[i].is_projected && l->maps[i].terms[k].loop[0] >= 0;
      if (!fits) return lower_unsupported(n, "indexing maps of single loops are");
    }
  }
  return n->in[0]->type->element == n->in[l->ins]->type->element ||
         lower_error(n, "has a maximum of another type than its operand");
}

// The body on what is left: the maximum is one more of the ins.
static bool lower_rest(lower_op_t* n, loops_t* l) {
  ir_block_t* block = n->op->regions[0].first;
  ir_value_t *yields[LOOPS_MAX_OPERANDS], *known = NULL;
  lower_value_t* out = n->out;
  uint32_t count = block->last ? block->last->operand_count : 0;
  bool fits = block->arg_count == l->ins + l->outs && count == l->outs;
  if (!fits) return lower_error(n, "needs a body with an argument for each operand and a value for each result");
  if (ir_operand(block->last, 0) != block->args[l->ins]) {
    return lower_unsupported(n, "a body that yields the maximum as it comes is");
  }
  if (--l->outs == 0) return true;
  ++l->ins;
  for (uint32_t i = 0; i < count; ++i) yields[i] = ir_operand(block->last, i);
  ir_op_set_operands(n->ctx, block->last, yields + 1, count - 1);
  ++n->out;
  bool ok = roles_recognise(n, l, block, &known);
  if (ok && known) ok = lower_return(n, known);
  if (ok && !known) ok = loops_lower(n, l, block);
  n->out = out;
  ir_op_set_operands(n->ctx, block->last, yields, count);  // what dispatches bring in may come again
  return ok;
}

bool ext_exp_reduction(lower_op_t* n) {
  loops_t l = {0};
  int64_t scaled[LOOPS_MAX_OPERANDS];
  ir_value_t *all[LOOPS_MAX_OPERANDS], **operands = n->in;
  if (!loops_read(n, &l) || !check(n, &l) || !loops_find_sizes(n, &l)) return false;
  uint32_t count = ir_op_ints(n->op, "exp_reduced_operands", scaled, LOOPS_MAX_OPERANDS);
  if (count > LOOPS_MAX_OPERANDS) return lower_error(n, "has too many entries in 'exp_reduced_operands'");
  char wide[LOOPS_MAX_ROLES], loops[LOOPS_MAX_ROLES], other[LOOPS_MAX_ROLES];
  roles_from_map(&l.maps[0], wide);
  roles_from_map(&l.maps[l.ins], loops);
  memcpy(all, n->in, sizeof(all[0]) * n->op->operand_count);
  ir_value_t *x = all[0], *start = all[l.ins], *most = largest(n, x, wide, start, loops);
  ir_value_t* spread_most = most ? spread(n, most, loops, x, wide) : NULL;
  if (!spread_most) return false;
  all[0] = power(n, x, spread_most);
  all[l.ins] = most;
  ir_value_t* factor = power(n, start, most);
  for (uint32_t i = 0; i < count; ++i) {
    if (scaled[i] <= 0 || scaled[i] >= l.outs) return lower_error(n, "has no out %lld to scale", (long long)scaled[i]);
    ir_value_t** out = &all[l.ins + scaled[i]];
    roles_from_map(&l.maps[l.ins + scaled[i]], other);
    ir_value_t* by = spread(n, factor, loops, *out, other);
    if (!by) return false;
    *out = graph_binary(n->b, SCALAR_mul, *out, graph_cast(n->b, by, (*out)->type->element, false));
  }
  n->in = all;
  n->out[0].v = most;
  bool ok = lower_rest(n, &l);
  n->in = operands;
  return ok;
}
