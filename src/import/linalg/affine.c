// affine: maps, digits of numbers. Values are numbers or, in bodies on whole tensors, tensors of them.
#include "dialects/affine.h"

#include <string.h>

#include "import/linalg/ops.h"

static ir_value_t* binary(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

// What is left of x after a division that rounds down.
static ir_value_t* modulo(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  ir_value_t* rest = binary(n, SCALAR_rem, x, y);
  ir_value_t* negative = binary(n, SCALAR_lt, rest, lower_number_like(n, rest, 0));
  return graph_select(n->b, negative, binary(n, SCALAR_add, rest, y), rest);
}

// Numbers as the others are.
static ir_value_t* number(lower_op_t* n, ir_value_t* like, int64_t value) {
  ir_value_t* v = graph_index_constant(n->b, value);
  return like && ir_type_is_tensor(like->type) ? lower_splat(n->b, lower_as_tensor(n->b, v), like) : v;
}

typedef struct values_t {
  ir_value_t* v[GRAPH_MAX_RANK + LOOPS_MAX_OPERANDS];  // all of one shape
  uint32_t count, dims;                                // symbols follow the dims
} values_t;

static bool read_values(lower_op_t* n, uint32_t dims, values_t* out) {
  out->count = n->op->operand_count;
  out->dims = dims;
  if (out->count > LOOPS_MAX_OPERANDS) return lower_unsupported(n, "up to %d operands are", LOOPS_MAX_OPERANDS);
  for (uint32_t i = 0; i < out->count; ++i) out->v[i] = n->in[i];
  return lower_unify(n, out->v, out->count);
}

static ir_value_t* evaluate(lower_op_t* n, const values_t* in, const ir_affine_t* e) {
  if (e->kind == IR_AFFINE_DIM) return in->v[e->value];
  if (e->kind == IR_AFFINE_SYMBOL) return in->v[in->dims + e->value];
  if (e->kind == IR_AFFINE_CONST) return number(n, in->count ? in->v[0] : NULL, e->value);
  ir_value_t *x = evaluate(n, in, e->lhs), *y = evaluate(n, in, e->rhs);
  switch (e->kind) {
    case IR_AFFINE_ADD:
      return binary(n, SCALAR_add, x, y);
    case IR_AFFINE_MUL:
      return binary(n, SCALAR_mul, x, y);
    case IR_AFFINE_MOD:
      return modulo(n, x, y);
    default:
      return arith_rounded_division(n, x, y, e->kind == IR_AFFINE_CEILDIV);
  }
}

// The one result of a map, or the least or largest of several.
static bool lower_map(lower_op_t* n) {
  values_t in;
  const ir_attr_t* attr = ir_op_attr(n->op, "map");
  const ir_affine_map_t* map = attr && attr->kind == IR_ATTR_AFFINE_MAP ? attr->map : NULL;
  bool fits = map && map->result_count && map->dim_count + map->symbol_count == n->op->operand_count &&
              (map->result_count == 1 || !ir_is(n->op, AFFINE_APPLY));
  if (!fits) return lower_error(n, "needs a 'map' of its operands");
  if (!read_values(n, map->dim_count, &in)) return false;
  ir_value_t* v = evaluate(n, &in, map->results[0]);
  for (uint32_t i = 1; i < map->result_count; ++i) {
    v = binary(n, ir_is(n->op, AFFINE_MIN) ? SCALAR_min : SCALAR_max, v, evaluate(n, &in, map->results[i]));
  }
  return lower_return(n, v);
}

// Sizes behind the first `digits` operands; the outermost may be left out. Of digit i: sizes[i], NULL for none.
static bool read_basis(lower_op_t* n, const values_t* in, uint32_t first, uint32_t digits, ir_value_t** sizes) {
  int64_t basis[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(n->op, "static_basis", basis, GRAPH_MAX_RANK), next = first;
  if (digits > GRAPH_MAX_RANK || (count != digits && count + 1 != digits)) {
    return lower_error(n, "needs a size for each digit, but for the first");
  }
  sizes[0] = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    bool known = basis[i] != IR_DYNAMIC;
    if (known ? basis[i] <= 0 : next >= in->count) return lower_error(n, "has a size that is none");
    sizes[i + digits - count] = known ? number(n, in->v[0], basis[i]) : in->v[next++];
  }
  return next == in->count || lower_error(n, "has more operands than digits and sizes");
}

static uint32_t dynamic_sizes(const lower_op_t* n) {
  int64_t basis[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(n->op, "static_basis", basis, GRAPH_MAX_RANK), dynamic = 0;
  for (uint32_t i = 0; i < count && i < GRAPH_MAX_RANK; ++i) dynamic += basis[i] == IR_DYNAMIC;
  return dynamic;
}

static bool lower_linearize(lower_op_t* n) {
  values_t in;
  ir_value_t* sizes[GRAPH_MAX_RANK];
  uint32_t dynamic = dynamic_sizes(n), digits = n->op->operand_count - dynamic;
  if (dynamic >= n->op->operand_count) return lower_error(n, "needs digits");
  if (!read_values(n, 0, &in) || !read_basis(n, &in, digits, digits, sizes)) return false;
  ir_value_t* v = in.v[0];
  for (uint32_t i = 1; i < digits; ++i) v = binary(n, SCALAR_add, binary(n, SCALAR_mul, v, sizes[i]), in.v[i]);
  return lower_return(n, v);
}

static bool lower_delinearize(lower_op_t* n) {
  values_t in;
  ir_value_t* sizes[GRAPH_MAX_RANK];
  uint32_t digits = n->op->result_count;
  if (!n->op->operand_count || !digits) return lower_error(n, "needs a number and digits");
  if (!read_values(n, 0, &in) || !read_basis(n, &in, 1, digits, sizes)) return false;
  ir_value_t* v = in.v[0];
  for (uint32_t i = digits; --i > 0;) {
    n->out[i].v = modulo(n, v, sizes[i]);
    v = arith_rounded_division(n, v, sizes[i], false);
  }
  n->out[0].v = v;
  return true;
}

#define AT(ENUM, function) [AFFINE_##ENUM - IR_CODE(IR_DIALECT_AFFINE, 0)] = {.fn = function}
static const lower_row_t rows[] = {
    AT(APPLY, lower_map),
    AT(MIN, lower_map),
    AT(MAX, lower_map),
    AT(LINEARIZE_INDEX, lower_linearize),
    AT(DELINEARIZE_INDEX, lower_delinearize),
};
const lower_table_t lower_affine_table = {IR_DIALECT_AFFINE, rows, sizeof(rows) / sizeof(rows[0])};
