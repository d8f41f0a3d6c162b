// Contractions whose sums are long and few, for GPUs, where a thread makes sums: in parts, which are a batch, and then
// their sums.
//
//   contract %a, %b : [m, k] x [k, n]    =>    %p = contract %a as [m, parts, k / parts], %b as [parts, k / parts, n]
//                                              reduce %p : [parts, m, n] -> [m, n]
#include "passes/spread.h"
#include "passes/spread_impl.h"

typedef struct side_t {
  ir_value_t* x;
  int64_t batch[GRAPH_MAX_RANK], contract[GRAPH_MAX_RANK];
} side_t;

// Into how many parts the sums over `size` elements go, or 0. Of a size known at run time it is a guess. So many
// threads share each sum as it is.
static int64_t wanted_parts(const ir_type_t* type, int64_t size, int64_t sharing) {
  enum { THREADS = 1 << 16, THREADS_RUN_TIME = 1 << 14, LONG = 1 << 9, FEW = 4, MOST = 256 };
  int64_t results = ir_type_is_static(type) ? ir_type_count(type) * sharing : 0;
  if (!results) return 0;
  int64_t parts = (size == IR_DYNAMIC ? THREADS_RUN_TIME : THREADS) / results;
  if (size != IR_DYNAMIC && parts > size / LONG) parts = size / LONG;
  return parts < FEW ? 0 : parts < MOST ? parts : MOST;
}

// How many elements a side has for each of its batch and of the contracted ones, or 0.
static int64_t free_count(const side_t* s, const graph_contract_t* c) {
  const ir_type_t* type = s->x->type;
  if (!ir_type_is_static(type) || !ir_type_count(type)) return 0;
  int64_t count = ir_type_count(type);
  for (uint32_t i = 0; i < c->batch_count; ++i) count /= type->dims[s->batch[i]];
  for (uint32_t i = 0; i < c->contract_count; ++i) count /= type->dims[s->contract[i]];
  return count;
}

// Other products are made by threads.
static int64_t find_sharing(const side_t* left, const side_t* right, const graph_contract_t* c) {
  enum { SHARING = 64 };
  int64_t rows = free_count(left, c), columns = free_count(right, c);
  return spread_is_few(rows, columns) || spread_is_few(columns, rows) ? SHARING : 1;
}

// Its contracted dimension number `which` as two, of which the first is one more of the batch.
static void split_side(ir_builder_t* b, side_t* s, const graph_contract_t* c, uint32_t which, split_t split_to) {
  split_to.dim = s->contract[which];
  split_to.fill = graph_scalar_constant(b, ir_type_scalar(s->x->type), 0);
  s->x = spread_split(b, s->x, &split_to);
  for (uint32_t i = 0; i < c->batch_count; ++i) s->batch[i] += s->batch[i] > split_to.dim;
  for (uint32_t i = 0; i < c->contract_count; ++i) s->contract[i] += s->contract[i] >= split_to.dim;
  s->batch[c->batch_count] = split_to.dim;
}

// Sums of parts: few are read one by one, so that what follows needs no other kernel.
static ir_value_t* add_parts(ir_builder_t* b, ir_value_t* x, int64_t dim) {
  enum { FEW = 8 };
  int64_t parts = x->type->dims[dim];
  if (parts < 1 || parts > FEW) return graph_reduce(b, x, &dim, 1, "add");
  ir_value_t* sum = spread_element(b, x, dim, 0);
  for (int64_t i = 1; i < parts; ++i) sum = graph_binary(b, SCALAR_add, sum, spread_element(b, x, dim, i));
  return sum;
}

ir_op_t* spread_contract(ir_context_t* ctx, ir_op_t* op) {
  side_t left = {.x = ir_operand(op, 0)}, right = {.x = ir_operand(op, 1)};
  graph_contract_t c = {.lhs_batch = left.batch,
                        .rhs_batch = right.batch,
                        .lhs_contract = left.contract,
                        .rhs_contract = right.contract,
                        .unsigned_lhs = graph_get_unsigned_lhs(op),
                        .unsigned_rhs = graph_get_unsigned_rhs(op)};
  c.batch_count = graph_get_lhs_batch(op, left.batch);
  c.contract_count = graph_get_lhs_contract(op, left.contract);
  graph_get_rhs_batch(op, right.batch);
  graph_get_rhs_contract(op, right.contract);
  const ir_type_t *type = op->results[0].type, *element = ir_type_scalar(type);
  uint32_t longest = 0;
  for (uint32_t i = 1; i < c.contract_count; ++i) {
    if (left.x->type->dims[left.contract[i]] > left.x->type->dims[left.contract[longest]]) longest = i;
  }
  int32_t rank = type->rank;
  if (left.x->type->rank > rank) rank = left.x->type->rank;
  if (right.x->type->rank > rank) rank = right.x->type->rank;
  if (!c.contract_count || rank >= GRAPH_MAX_RANK) return NULL;
  int64_t size = left.x->type->dims[left.contract[longest]],
          parts = wanted_parts(type, size, find_sharing(&left, &right, &c));
  if (!parts || right.x->type->dims[right.contract[longest]] != size) return NULL;
  ir_builder_t b = ir_builder_before(ctx, op);
  split_t split_to = {.parts = parts, .length = IR_DYNAMIC, .mode = "constant"};
  if (size != IR_DYNAMIC) spread_choose_parts(&split_to, size, parts);
  split_side(&b, &left, &c, longest, split_to);
  split_side(&b, &right, &c, longest, split_to);
  int64_t part = c.batch_count++;
  bool narrow = ir_type_is_float(element) && element->width < 32;
  ir_value_t* sums = graph_contract(&b, left.x, right.x, &c, narrow ? ir_type_float(ctx, IR_F32) : element);
  ir_op_t* made = sums->def;
  sums = add_parts(&b, sums, part);
  if (size == IR_DYNAMIC) made = sums->def;  // as much as can be told
  ir_value_replace(ir_result(op, 0), graph_cast(&b, sums, element, false));
  ir_op_erase(op);
  return made;
}
