// Contractions in one form: [batch, rows, reduction] x [batch, reduction, columns] -> [batch, rows, columns], or the
// same without batch. Transposes and reshapes around it do the rest; they are index maps, which later ride along.
//
//   graph.contract %a, %b {contract last with last} : [4,128,64], [4,128,64]
//     =>  %t = graph.transpose %b [0,2,1];  graph.contract %a, %t : [4,128,64] x [4,64,128]
//
// A product that is only read transposed is the product of its operands in the other order (gradients of weights):
//
//   graph.transpose(graph.contract %a, %b : [64,256], [64,128]) [1,0]  =>  graph.contract %b, %a
//
// A few rows by what has its reduction last and is not at hand before a call (keys of a cache, weights that are kept in
// few bits) are sums over rows of that, which is then read once, as it lies, and computed where it is needed:
//
//   graph.contract %a, %b : [2,64], [500,64]  =>  graph.reduce(graph.mul %a, %b : [500,2,64])
#include "passes/contract_form.h"

#include <string.h>

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

//===----------------------------------------------------------------------------------------------------------------===
// Few rows
//===----------------------------------------------------------------------------------------------------------------===

enum { FEW_ROWS = 4, DEEP = 16 };

// Whether a value is computed from constants; and from ones with less bits, by more than index maps.
typedef struct source_t {
  bool known, computed;
  uint32_t bits;  // of the widest elements that are as many as the value's, about
} source_t;

static source_t find_source(const ir_value_t* x, int64_t count, int depth) {
  const ir_op_t* op = x->def;
  uint32_t bits = x->type->element->width;
  bool constant = op && ir_is(op, GRAPH_CONSTANT);
  if (!op || constant || depth == 0 || !ir_has_trait(op, IR_TRAIT_PURE) || !op->operand_count) {
    bool counts = !ir_type_is_static(x->type) || 4 * ir_type_count(x->type) > count;
    if (constant && graph_get_value(op)->splat) counts = false;
    return (source_t){.known = constant, .bits = counts ? bits : 0};
  }
  source_t all = {.known = true, .computed = graph_scalar_fn(op) >= 0};
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!ir_type_is_tensor(ir_operand(op, i)->type)) continue;
    source_t one = find_source(ir_operand(op, i), count, depth - 1);
    all.known &= one.known;
    all.computed |= one.computed;
    if (one.bits > all.bits) all.bits = one.bits;
  }
  return all;
}

// Whether the right operand is best read as it lies: each number of it once for all rows.
static bool is_read_once(const ir_op_t* op, const ir_value_t* w, const side_t* lhs, const int64_t* reduced,
                         uint32_t count, bool cpu) {
  const ir_type_t *lt = ir_operand(op, 0)->type, *rt = w->type;
  int64_t rows = 1;
  if (!ir_type_is_float(op->results[0].type->element) || !ir_type_is_float(lt->element) || !count) return false;
  for (int32_t i = 0; i < lhs->counts[1]; ++i) {
    int64_t size = lt->dims[lhs->perm[lhs->counts[0] + i]];
    rows = size == IR_DYNAMIC || rows > FEW_ROWS ? FEW_ROWS + 1 : rows * size;
  }
  if (rows > FEW_ROWS || rows < 1 || !ir_type_is_float(rt->element)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (reduced[i] != rt->rank - (int32_t)count + (int32_t)i) return false;
  }
  source_t source = find_source(w, ir_type_is_static(rt) ? ir_type_count(rt) : INT64_MAX, DEEP);
  bool narrow = source.computed && source.bits && 4 * source.bits <= rt->element->width;
  return narrow || (cpu && !source.known);
}

// An operand repeated along the dimension that the other one has.
static ir_value_t* repeated(ir_builder_t* b, ir_value_t* x, int32_t without, const ir_type_t* type,
                            ir_value_t* const* dynamic) {
  int64_t dims[4];
  for (int32_t i = 0, n = 0; i < type->rank; ++i) {
    if (i != without) dims[n++] = i;
  }
  return graph_broadcast(b, graph_cast(b, x, type->element, false), type, dims, dynamic);
}

// [batch, rows, reduction] by [batch, columns, reduction] as sums over [batch, columns, rows, reduction], or with the
// only row in front of the columns; [batch, rows, columns].
static ir_value_t* sum_rows(ir_builder_t* b, ir_value_t* x, ir_value_t* w, const ir_type_t* element) {
  static const int64_t turned[] = {0, 2, 1};
  int64_t sizes[4], last = x->type->rank;
  int32_t rank = x->type->rank + 1, first = rank - 3;
  bool one = x->type->dims[rank - 3] == 1;
  int32_t row = one ? first : first + 1, column = one ? first + 1 : first;
  ir_value_t* dynamic[4];
  uint32_t count = 0;
  for (int32_t i = 0; i < rank; ++i) {
    ir_value_t* from = i == row ? x : w;
    int32_t at = i == row || i == column ? first : i > first ? i - 1 : i;
    sizes[i] = from->type->dims[at];
    if (sizes[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(b, from, (uint32_t)at);
  }
  const ir_type_t* wide = ir_type_bytes(element) < 4 ? ir_type_float(b->ctx, IR_F32) : element;
  const ir_type_t* type = ir_type_tensor(b->ctx, wide, rank, sizes);
  ir_value_t* products =
      graph_binary(b, SCALAR_mul, repeated(b, x, column, type, dynamic), repeated(b, w, row, type, dynamic));
  ir_value_t* sums = graph_reduce(b, products, &last, 1, "add");
  static const int64_t swapped[] = {1, 0};
  if (!one) sums = graph_transpose(b, sums, rank == 4 ? turned : swapped);
  return graph_cast(b, sums, element, false);
}

// The right operand before it was transposed, where its own dimensions stayed in their order; dims become its.
static ir_value_t* before_transpose(const ir_op_t* op, int64_t* batch, uint32_t batch_count, int64_t* reduced,
                                    uint32_t reduced_count) {
  ir_value_t* w = ir_operand(op, 1);
  int64_t perm[GRAPH_MAX_RANK], last = -1;
  if (!w->def || !ir_is(w->def, GRAPH_TRANSPOSE)) return w;
  graph_get_perm(w->def, perm);
  for (int32_t d = 0; d < w->type->rank; ++d) {
    if (shape_contains(batch, batch_count, d) || shape_contains(reduced, reduced_count, d)) continue;
    if (perm[d] < last) return w;
    last = perm[d];
  }
  for (uint32_t i = 0; i < batch_count; ++i) batch[i] = perm[batch[i]];
  for (uint32_t i = 0; i < reduced_count; ++i) reduced[i] = perm[reduced[i]];
  return ir_operand(w->def, 0);
}

// A contraction of few rows as sums, or false.
static bool become_sums(ir_context_t* ctx, ir_op_t* op, const side_t* lhs, const side_t* rhs, bool cpu) {
  int64_t rb[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  uint32_t batch = graph_get_rhs_batch(op, rb), reduced = graph_get_rhs_contract(op, rc);
  ir_value_t* w = before_transpose(op, rb, batch, rc, reduced);
  if (!is_read_once(op, w, lhs, rc, reduced, cpu)) return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  side_t columns;
  arrange(w->type, rb, batch, rc, reduced, false, &columns);
  bool batched = has_batch(ir_operand(op, 0)->type, lhs) || has_batch(w->type, &columns);
  ir_value_t *x = rearranged(&b, ir_operand(op, 0), lhs, batched), *y = rearranged(&b, w, &columns, batched);
  ir_value_t* sums = sum_rows(&b, x, y, op->results[0].type->element);
  ir_value_replace(ir_result(op, 0), spread(&b, op, sums, lhs, rhs));
  ir_op_erase(op);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Transposed products
//===----------------------------------------------------------------------------------------------------------------===

// Fewer rows or columns than this are left where they are: kernels for few rows read the other operand once.
enum { FEWEST_SWAPPED = 16 };

// Whether a transposition puts the columns, dims `batch + left` .. of the product, in front of its rows.
static bool swaps_sides(const ir_op_t* transpose, uint32_t batch, uint32_t left) {
  int64_t perm[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)ir_operand(transpose, 0)->type->rank, right = rank - batch - left;
  graph_get_perm(transpose, perm);
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t from = i < batch ? i : i < batch + right ? i + left : i - right;
    if (perm[i] != from) return false;
  }
  return left && right;
}

static int64_t count_of(const ir_type_t* type, uint32_t first, uint32_t end) {
  int64_t count = 1;
  for (uint32_t i = first; i < end; ++i) count *= type->dims[i];
  return count;
}

// Weights stay on the right, where layouts are made for them.
static bool is_constant(const ir_value_t* x) { return find_source(x, 1, DEEP).known; }

static bool swap_sides(ir_context_t* ctx, ir_op_t* transpose) {
  ir_value_t* product = ir_operand(transpose, 0);
  ir_op_t* op = product->def;
  if (!op || !ir_is(op, GRAPH_CONTRACT) || !ir_has_one_use(product) || op->parent != transpose->parent) return false;
  if (!ir_type_is_static(product->type)) return false;
  int64_t lb[GRAPH_MAX_RANK], rb[GRAPH_MAX_RANK], lc[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  uint32_t batch = graph_get_lhs_batch(op, lb), reduced = graph_get_lhs_contract(op, lc);
  graph_get_rhs_batch(op, rb);
  graph_get_rhs_contract(op, rc);
  uint32_t left = (uint32_t)ir_operand(op, 0)->type->rank - batch - reduced, rank = (uint32_t)product->type->rank;
  if (!swaps_sides(transpose, batch, left) || is_constant(ir_operand(op, 1))) return false;
  if (count_of(product->type, batch, batch + left) < FEWEST_SWAPPED ||
      count_of(product->type, batch + left, rank) < FEWEST_SWAPPED)
    return false;
  graph_contract_t dims = {.lhs_batch = rb,
                           .rhs_batch = lb,
                           .batch_count = batch,
                           .lhs_contract = rc,
                           .rhs_contract = lc,
                           .contract_count = reduced,
                           .unsigned_lhs = graph_get_unsigned_rhs(op),
                           .unsigned_rhs = graph_get_unsigned_lhs(op)};
  ir_builder_t b = ir_builder_before(ctx, transpose);
  ir_value_t* swapped = graph_contract(&b, ir_operand(op, 1), ir_operand(op, 0), &dims, product->type->element);
  ir_value_replace(ir_result(transpose, 0), swapped);
  ir_op_erase(transpose);
  ir_op_erase(op);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The form
//===----------------------------------------------------------------------------------------------------------------===

static bool bring_into_form(ir_context_t* ctx, ir_op_t* op, bool cpu) {
  const ir_type_t *lt = ir_operand(op, 0)->type, *rt = ir_operand(op, 1)->type, *yt = op->results[0].type;
  int64_t lb[GRAPH_MAX_RANK], rb[GRAPH_MAX_RANK], lc[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  uint32_t batch = graph_get_lhs_batch(op, lb), reduced = graph_get_lhs_contract(op, lc);
  graph_get_rhs_batch(op, rb);
  graph_get_rhs_contract(op, rc);
  side_t lhs, rhs;
  arrange(lt, lb, batch, lc, reduced, false, &lhs);
  arrange(rt, rb, batch, rc, reduced, true, &rhs);
  bool batched = has_batch(lt, &lhs) || has_batch(rt, &rhs);
  if (become_sums(ctx, op, &lhs, &rhs, cpu)) return true;
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

typedef struct form_t {
  ir_context_t* ctx;
  bool cpu;
} form_t;

static bool visit(void* user, ir_op_t* op) {
  const form_t* f = user;
  return ir_is(op, GRAPH_CONTRACT) && bring_into_form(f->ctx, op, f->cpu);
}

static bool visit_transpose(void* user, ir_op_t* op) {
  return ir_is(op, GRAPH_TRANSPOSE) && swap_sides(((const form_t*)user)->ctx, op);
}

pass_result_t contract_form_run(ir_op_t* module, ir_context_t* ctx, bool cpu) {
  form_t f = {ctx, cpu};
  bool swapped = rewrite_each(module, visit_transpose, &f);
  return rewrite_each(module, visit, &f) || swapped ? PASS_CHANGED : PASS_UNCHANGED;
}

pass_result_t pass_contract_form(ir_op_t* module, ir_context_t* ctx) { return contract_form_run(module, ctx, false); }
