// Products of small integers as products of floats, which every processor multiplies faster: f32 holds all integers up
// to 2^24, so a sum of products that cannot leave that range is exact in any order.
//
//   %1 = sub (cast %x : i8 -> i32), 128                 %1 = cast (sub (cast %x : i8 -> i32), 128) : i32 -> f32
//   %2 = conv %1, dense<...> : i32              =>      %2 = cast (conv %1, dense<...> : f32) : f32 -> i32
//
// A sum that can is made of two, of half the products each, as long as the halves are large and one or two rounds do.
//
// What quantised models multiply: bytes less a zero point by known weights, of which the sum of the magnitudes counts.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/evaluate.h"
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/integers.h"
#include "passes/passes.h"

enum { EXACT = 1 << 24, MOST_PARTS = 4, LEAST_PART = 64 };

// Elements of a constant of i32: millions of them are looked at.
static int32_t element_of(const ir_attr_t* attr, const void* data, int64_t i) {
  int32_t element;
  memcpy(&element, (const char*)data + (attr->splat ? 0 : sizeof(element) * (size_t)i), sizeof(element));
  return element;
}

static bool is_i32(const ir_type_t* type) { return ir_type_is_int(type->element) && type->element->width == 32; }

//===----------------------------------------------------------------------------------------------------------------===
// How large a sum of products can be
//===----------------------------------------------------------------------------------------------------------------===

typedef struct product_t {
  ir_op_t* op;
  const ir_attr_t* constants[2];   // operands that are known, else NULL
  bool summed[2][GRAPH_MAX_RANK];  // dims of each operand that are summed over
  double bound;                    // of sums on the way
} product_t;

static void mark(product_t* p, uint32_t operand, graph_attr_id_t id) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = graph_attr_ints(p->op, id, dims);
  for (uint32_t i = 0; i < count; ++i) p->summed[operand][dims[i]] = true;
}

static bool read_product(ir_op_t* op, product_t* p) {
  *p = (product_t){.op = op};
  if (ir_is(op, GRAPH_CONTRACT)) {
    if (graph_get_unsigned_lhs(op) || graph_get_unsigned_rhs(op)) return false;
    mark(p, 0, GRAPH_ATTR_lhs_contract);
    mark(p, 1, GRAPH_ATTR_rhs_contract);
    return true;
  }
  if (!ir_is(op, GRAPH_CONV)) return false;
  graph_conv_t c = graph_conv_read(op);
  for (uint32_t i = 0; c.w_layout[i] && i < GRAPH_MAX_RANK; ++i) p->summed[1][i] = c.w_layout[i] != 'o';
  return true;
}

// The largest magnitude that a sum of products can have on the way, in any order: what is not negative of them and what
// is not positive add up apart. `other`: what the constant is multiplied by.
static double largest_sum(const product_t* p, uint32_t operand, const ir_attr_t* attr, integers_t other) {
  const ir_type_t* type = attr->type;
  int64_t groups = 1, steps[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0}, count = ir_type_count(type), group = 0;
  for (int32_t d = type->rank; d-- > 0;) {
    steps[d] = p->summed[operand][d] ? 0 : groups;
    if (steps[d]) groups *= type->dims[d];
  }
  double (*sums)[2] = memory_array((size_t)groups + 1, sizeof(*sums)), largest = 0;
  const void* data = ir_attr_data(attr);
  for (int64_t i = 0; i < count; ++i) {
    int64_t element = element_of(attr, data, i), low = element * other.low, high = element * other.high;
    int64_t more = low > high ? low : high, less = low < high ? low : high;
    if (more > 0) sums[group][0] += (double)more;
    if (less < 0) sums[group][1] -= (double)less;
    for (int d = 0; d < 2; ++d) largest = sums[group][d] > largest ? sums[group][d] : largest;
    for (int32_t d = type->rank; d-- > 0;) {
      group += steps[d];
      if (++at[d] < type->dims[d]) break;
      group -= steps[d] * type->dims[d];
      at[d] = 0;
    }
  }
  memory_free(sums);
  return largest;
}

// False when nothing is known.
static bool find_bound(ir_context_t* ctx, product_t* p) {
  integers_t ranges[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const ir_value_t* operand = ir_operand(p->op, i);
    if (!integers_range(operand, &ranges[i])) return false;
  }
  for (uint32_t i = 0; i < 2; ++i) p->constants[i] = integers_known(ctx, ir_operand(p->op, i));
  uint32_t weights = p->constants[1] || ir_is(p->op, GRAPH_CONV) ? 1 : 0;
  if (p->constants[weights]) {
    p->bound = largest_sum(p, weights, p->constants[weights], ranges[1 - weights]);
    return true;
  }
  const ir_type_t* rhs = ir_operand(p->op, 1)->type;
  p->bound = integers_magnitude(ranges[0]) * integers_magnitude(ranges[1]);
  for (int32_t d = 0; d < rhs->rank; ++d) {
    if (p->summed[1][d] && rhs->dims[d] == IR_DYNAMIC) return false;
    if (p->summed[1][d]) p->bound *= (double)rhs->dims[d];
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The pass
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* as_floats(ir_builder_t* b, ir_value_t* value, const ir_attr_t* attr) {
  const ir_type_t* f32 = ir_type_float(b->ctx, IR_F32);
  if (!attr) return graph_cast(b, value, f32, false);
  int64_t count = attr->splat ? 1 : ir_type_count(attr->type);
  float* data = memory_alloc(sizeof(float) * (size_t)(count + 1));
  const void* from = ir_attr_data(attr);
  for (int64_t i = 0; i < count; ++i) data[i] = (float)element_of(attr, from, i);
  const ir_type_t* type = ir_type_with_element(b->ctx, attr->type, f32);
  ir_value_t* floats = graph_constant(b, ir_attr_elements(b->ctx, type, data, sizeof(float) * (size_t)count));
  memory_free(data);
  return floats;
}

// i32 operands only: narrower ones are what matrix instructions take.
static bool is_wide(const ir_op_t* op) {
  return is_i32(ir_operand(op, 0)->type) && is_i32(ir_operand(op, 1)->type) && is_i32(op->results[0].type);
}

static ir_value_t* multiply_floats(ir_builder_t* b, const product_t* p) {
  ir_value_t* x = as_floats(b, ir_operand(p->op, 0), p->constants[0]);
  ir_value_t* w = as_floats(b, ir_operand(p->op, 1), p->constants[1]);
  ir_value_t* y = integers_product(b, p->op, x, w, ir_type_float(b->ctx, IR_F32));
  return graph_cast(b, y, p->op->results[0].type->element, false);
}

// The dims of both operands that are halved: the same channels, or one that is summed over. False when there is none.
static bool find_halved(const product_t* p, int64_t dims[2]) {
  if (ir_is(p->op, GRAPH_CONV)) {
    graph_conv_t c = graph_conv_read(p->op);
    if (c.groups != 1 || c.batch_groups != 1) return false;
    dims[0] = graph_layout_axis(c.x_layout, 'c');
    dims[1] = graph_layout_axis(c.w_layout, 'i');
  } else {
    int64_t lhs[GRAPH_MAX_RANK], rhs[GRAPH_MAX_RANK];
    if (!graph_get_lhs_contract(p->op, lhs) || !graph_get_rhs_contract(p->op, rhs)) return false;
    dims[0] = lhs[0];
    dims[1] = rhs[0];
  }
  return ir_operand(p->op, 0)->type->dims[dims[0]] >= 2 * LEAST_PART;
}

// Entries [from, from + count) of a dim of a constant of i32, or of any other value.
static ir_value_t* part_of(ir_builder_t* b, ir_value_t* value, const ir_attr_t* attr, int64_t dim,
                           const int64_t part[2]) {
  const ir_type_t* type = value->type;
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK], outer = 1,
          inner = sizeof(int32_t);
  for (int32_t d = 0; d < type->rank; ++d) {
    sizes[d] = d == dim ? part[1] : type->dims[d];
    ones[d] = 1;
    if (d < dim) outer *= type->dims[d];
    if (d > dim) inner *= type->dims[d];
  }
  offsets[dim] = part[0];
  if (!attr) return graph_slice(b, value, offsets, sizes, ones);
  const ir_type_t* to = ir_type_tensor(b->ctx, type->element, type->rank, sizes);
  const unsigned char* from = ir_attr_data(attr);
  if (attr->splat) return graph_constant(b, ir_attr_elements(b->ctx, to, from, attr->size));
  size_t run = (size_t)(part[1] * inner), step = (size_t)(type->dims[dim] * inner);
  unsigned char* data = memory_alloc(run * (size_t)outer + 1);
  for (int64_t i = 0; i < outer; ++i)
    memcpy(data + (size_t)i * run, from + (size_t)i * step + (size_t)(part[0] * inner), run);
  ir_value_t* result = graph_constant(b, ir_attr_elements(b->ctx, to, data, run * (size_t)outer));
  memory_free(data);
  return result;
}

static ir_value_t* add_halves(ir_builder_t* b, const product_t* p) {
  int64_t dims[2];
  ir_value_t* halves[2];
  if (!find_halved(p, dims)) return NULL;
  int64_t size = ir_operand(p->op, 0)->type->dims[dims[0]], middle = size / 2;
  for (int h = 0; h < 2; ++h) {
    int64_t part[2] = {h ? middle : 0, h ? size - middle : middle};
    ir_value_t* x = part_of(b, ir_operand(p->op, 0), p->constants[0], dims[0], part);
    ir_value_t* w = part_of(b, ir_operand(p->op, 1), p->constants[1], dims[1], part);
    halves[h] = integers_product(b, p->op, x, w, p->op->results[0].type->element);
  }
  return graph_binary(b, SCALAR_add, halves[0], halves[1]);
}

static ir_value_t* compute_exactly(ir_builder_t* b, ir_op_t* op) {
  product_t p;
  if ((!ir_is(op, GRAPH_CONV) && !ir_is(op, GRAPH_CONTRACT)) || !is_wide(op)) return NULL;
  if (!read_product(op, &p) || !find_bound(b->ctx, &p)) return NULL;
  if (p.bound <= EXACT) return multiply_floats(b, &p);
  bool known = p.constants[0] || p.constants[1];
  return known && p.bound <= (double)MOST_PARTS * EXACT ? add_halves(b, &p) : NULL;
}

pass_result_t pass_exact_floats(ir_op_t* module, ir_context_t* ctx) {
  static const rewrite_fn_t rule = compute_exactly;
  bool changed = false;
  while (rewrite_greedily(ctx, module, &rule, 1)) changed = true;  // halves are looked at in the next round
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
