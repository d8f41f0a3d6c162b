// See linear.h.
#include "kernels/linear.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Facts
//===----------------------------------------------------------------------------------------------------------------===

void index_set_facts(kernel_build_t* k, ir_value_t* value, int64_t min, int64_t max, int64_t multiple) {
  index_facts_t* facts = ARENA_NEW(ir_context_arena(k->ctx), index_facts_t);
  *facts = (index_facts_t){min, max, multiple > 0 ? multiple : 1};
  value->data = facts;
}

index_facts_t index_facts(const ir_value_t* value) {
  int64_t constant;
  if (kernel_constant_index(value, &constant)) {
    return (index_facts_t){constant, constant, constant ? llabs(constant) : (int64_t)1 << 40};
  }
  if (value->data) return *(const index_facts_t*)value->data;
  return (index_facts_t){INT64_MIN / 4, INT64_MAX / 4, 1};
}

ir_value_t* index_bits(kernel_build_t* k, ir_value_t* value) {
  int64_t constant, bits = 0;
  if (kernel_constant_index(value, &constant)) {
    while (constant >> bits) ++bits;
    return index_constant(k, bits);
  }
  enum { WIDTH = 64 };
  const ir_type_t *word = ir_type_int(k->ctx, WIDTH), *index = ir_type_index(k->ctx);
  ir_value_t* zeros = kernel_unary(&k->b, SCALAR_clz, kernel_cast(&k->b, SCALAR_cast, value, word));
  zeros = kernel_cast(&k->b, SCALAR_cast, zeros, index);
  return kernel_binary(&k->b, SCALAR_sub, kernel_index(&k->b, WIDTH), zeros);
}

static int64_t clamp_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
  return sum;
}
static int64_t clamp_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? INT64_MIN / 4 : INT64_MAX / 4;
  return product;
}

int64_t linear_multiple(const linear_t* x, int64_t most) {
  uint64_t bits = (uint64_t)x->constant | (uint64_t)most;
  if (x->vector) return 1;
  for (uint32_t i = 0; i < x->count; ++i) {
    bits |= (uint64_t)x->terms[i].coefficient * (uint64_t)index_facts(x->terms[i].value).multiple;
  }
  return (int64_t)(bits & (~bits + 1));
}

void linear_range(const kernel_build_t* k, const linear_t* x, int64_t* min, int64_t* max) {
  *min = *max = x->constant;
  for (uint32_t i = 0; i < x->count; ++i) {
    index_facts_t facts = index_facts(x->terms[i].value);
    int64_t a = clamp_mul(facts.min, x->terms[i].coefficient), b = clamp_mul(facts.max, x->terms[i].coefficient);
    *min = clamp_add(*min, a < b ? a : b);
    *max = clamp_add(*max, a < b ? b : a);
  }
  int64_t last = x->lane * (k->lanes - 1);
  *min = clamp_add(*min, last < 0 ? last : 0);
  *max = clamp_add(*max, last < 0 ? 0 : last);
  if (x->vector) {
    index_facts_t facts = index_facts(x->vector);
    *min = clamp_add(*min, facts.min);
    *max = clamp_add(*max, facts.max);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Building forms
//===----------------------------------------------------------------------------------------------------------------===

static ir_block_t* block_of(const ir_value_t* value) { return value->def ? value->def->parent : value->block; }

static int depth_of(const ir_block_t* block) {
  int depth = 0;
  for (; block->parent && block->parent->parent->parent; block = block->parent->parent->parent) ++depth;
  return depth;
}

linear_t linear_constant(int64_t value) { return (linear_t){.constant = value}; }

linear_t linear_value(ir_value_t* value) {
  int64_t constant;
  if (kernel_constant_index(value, &constant)) return linear_constant(constant);
  linear_t x = {.count = 1};
  x.terms[0].value = value;
  x.terms[0].coefficient = 1;
  return x;
}

linear_t linear_lane(void) { return (linear_t){.lane = 1}; }
linear_t linear_vector(ir_value_t* vector) { return (linear_t){.vector = vector}; }

bool linear_is_constant(const linear_t* x, int64_t* out) {
  if (x->count || x->lane || x->vector) return false;
  *out = x->constant;
  return true;
}

bool linear_equal(const linear_t* x, const linear_t* y) {
  if (x->constant != y->constant || x->lane != y->lane || x->count != y->count || x->vector != y->vector) return false;
  for (uint32_t i = 0; i < x->count; ++i) {
    bool found = false;
    for (uint32_t j = 0; j < y->count; ++j) {
      found |= x->terms[i].value == y->terms[j].value && x->terms[i].coefficient == y->terms[j].coefficient;
    }
    if (!found) return false;
  }
  return true;
}

static void add_term(kernel_build_t* k, linear_t* x, ir_value_t* value, int64_t coefficient) {
  for (uint32_t i = 0; i < x->count; ++i) {
    if (x->terms[i].value != value) continue;
    x->terms[i].coefficient += coefficient;
    if (x->terms[i].coefficient == 0) x->terms[i] = x->terms[--x->count];
    return;
  }
  if (coefficient == 0) return;
  if (x->count == LINEAR_TERMS) {  // too many: fold what there is into one value
    linear_t scalar_part = *x;
    scalar_part.constant = scalar_part.lane = 0;
    scalar_part.vector = NULL;
    int64_t min, max;
    linear_range(k, &scalar_part, &min, &max);
    ir_value_t* folded = linear_scalar(k, &scalar_part);
    if (!folded->data) index_set_facts(k, folded, min, max, 1);
    x->count = 1;
    x->terms[0].value = folded;
    x->terms[0].coefficient = 1;
  }
  x->terms[x->count].value = value;
  x->terms[x->count++].coefficient = coefficient;
}

linear_t linear_add(kernel_build_t* k, linear_t x, linear_t y) {
  x.constant += y.constant;
  x.lane += y.lane;
  for (uint32_t i = 0; i < y.count; ++i) add_term(k, &x, y.terms[i].value, y.terms[i].coefficient);
  if (y.vector) {
    if (x.vector) {
      index_facts_t a = index_facts(x.vector), c = index_facts(y.vector);
      x.vector = kernel_add(&k->b, x.vector, y.vector);
      index_set_facts(k, x.vector, clamp_add(a.min, c.min), clamp_add(a.max, c.max), 1);
    } else {
      x.vector = y.vector;
    }
  }
  return x;
}

linear_t linear_scale(kernel_build_t* k, linear_t x, int64_t factor) {
  if (factor == 0) return linear_constant(0);
  x.constant *= factor;
  x.lane *= factor;
  for (uint32_t i = 0; i < x.count; ++i) x.terms[i].coefficient *= factor;
  if (x.vector && factor != 1) {
    index_facts_t facts = index_facts(x.vector);
    int64_t a = clamp_mul(facts.min, factor), b = clamp_mul(facts.max, factor);
    x.vector = kernel_mul(&k->b, x.vector, kernel_integer(&k->b, x.vector->type, factor));
    index_set_facts(k, x.vector, a < b ? a : b, a < b ? b : a, 1);
  }
  return x;
}

linear_t linear_scale_value(kernel_build_t* k, linear_t x, ir_value_t* factor) {
  int64_t constant;
  if (kernel_constant_index(factor, &constant)) return linear_scale(k, x, constant);
  if (linear_is_constant(&x, &constant)) return linear_scale(k, linear_value(factor), constant);
  if (linear_is_uniform(&x)) {  // what is left without its constant is the same for many x, and made once
    linear_t sum = linear_scale(k, linear_value(factor), x.constant), outer = linear_constant(0), inner = outer;
    int innermost = 0;
    for (uint32_t i = 0; i < x.count; ++i) {
      int depth = depth_of(block_of(x.terms[i].value));
      if (depth > innermost) innermost = depth;
    }
    for (uint32_t i = 0; i < x.count; ++i) {
      bool is_inner = depth_of(block_of(x.terms[i].value)) == innermost;
      add_term(k, is_inner ? &inner : &outer, x.terms[i].value, x.terms[i].coefficient);
    }
    if (outer.count) {
      sum = linear_add(k, sum, linear_value(index_binary(k, SCALAR_mul, linear_scalar(k, &outer), factor)));
    }
    return linear_add(k, sum, linear_value(index_binary(k, SCALAR_mul, linear_scalar(k, &inner), factor)));
  }
  ir_value_t* lanes = linear_lanes(k, &x);
  return linear_vector(kernel_mul(&k->b, lanes, kernel_splat(&k->b, factor, k->lanes)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Division
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* entry_constant(kernel_build_t* k, int64_t value);

static int64_t floor_div(int64_t a, int64_t d) { return a / d - (a % d < 0); }

// All of `rest` but its lanes is a multiple of `lanes`, so that a vector of consecutive numbers stays within one block.
static bool starts_block(const kernel_build_t* k, const linear_t* rest) {
  if (rest->lane != 1 || rest->vector || rest->constant % k->lanes) return false;
  for (uint32_t i = 0; i < rest->count; ++i) {
    index_facts_t facts = index_facts(rest->terms[i].value);
    if (clamp_mul(facts.multiple, rest->terms[i].coefficient) % k->lanes) return false;
  }
  return true;
}

// x / d or x % d, outside of the loops where it can be. GPUs divide numbers of 64 bits by many instructions; few need
// so many.
static ir_value_t* divide(kernel_build_t* k, scalar_fn_t fn, ir_value_t* x, int64_t d, int64_t max) {
  if (x->type->kind == IR_TYPE_INDEX && k->device->kind != DEVICE_GPU) {
    return index_binary(k, fn, x, entry_constant(k, d));
  }
  ir_value_t* divisor = kernel_integer(&k->b, x->type, d);
  if (k->device->kind != DEVICE_GPU || max < 0 || max > UINT32_MAX || d > INT32_MAX) {
    return kernel_binary(&k->b, fn, x, divisor);
  }
  const ir_type_t* i32 = ir_type_int(k->ctx, 32);
  ir_value_t* narrow = kernel_cast(&k->b, SCALAR_castu, x, i32);
  ir_value_t* result = kernel_binary(&k->b, fn, narrow, kernel_cast(&k->b, SCALAR_castu, divisor, i32));
  return kernel_cast(&k->b, SCALAR_castu, result, ir_type_index(k->ctx));
}

// Of a block of lanes, which is whole blocks of d: the block's part is the same in all lanes, theirs are known.
static void divide_lanes(kernel_build_t* k, linear_t rest, int64_t d, linear_t* quotient, linear_t* remainder) {
  int64_t min, max, constant;
  rest.lane = 0;
  linear_range(k, &rest, &min, &max);
  ir_value_t *whole = divide(k, SCALAR_divu, linear_outside(k, &rest), d, max), *lanes;
  lanes = ir_build_value(&k->b, KERNEL_IOTA, NULL, 0, kernel_vector_type(k->ctx, ir_type_index(k->ctx), k->lanes));
  if (!kernel_constant_index(whole, &constant)) index_set_facts(k, whole, 0, max < 0 ? INT64_MAX / 4 : max / d, 1);
  ir_value_t* divisor = kernel_integer(&k->b, lanes->type, d);
  ir_value_t *q = kernel_binary(&k->b, SCALAR_divu, lanes, divisor),
             *r = kernel_binary(&k->b, SCALAR_remu, lanes, divisor);
  index_set_facts(k, q, 0, k->lanes / d - 1, 1);
  index_set_facts(k, r, 0, d - 1, 1);
  *quotient = linear_add(k, linear_add(k, *quotient, linear_value(whole)), linear_vector(q));
  *remainder = linear_vector(r);
}

int64_t linear_repeats(const kernel_build_t* k, const linear_t* x) {
  const ir_op_t* op = x->vector && !x->lane ? x->vector->def : NULL;
  int64_t times;
  bool divides = op && kernel_scalar_fn(op) == SCALAR_divu && ir_is(ir_operand(op, 0)->def, KERNEL_IOTA);
  return divides && kernel_constant_index(ir_operand(op, 1), &times) && times < k->lanes && k->lanes % times == 0
             ? times
             : 0;
}

static void divide_by_instruction(kernel_build_t* k, linear_t rest, int64_t d, linear_t* quotient,
                                  linear_t* remainder) {
  int64_t min, max, lane = 0;
  if (k->device->kind != DEVICE_GPU && d < k->lanes && k->lanes % d == 0 && starts_block(k, &rest)) {
    divide_lanes(k, rest, d, quotient, remainder);
    return;
  }
  linear_range(k, &rest, &min, &max);
  bool in_block = d % k->lanes == 0 && starts_block(k, &rest);
  if (in_block) {
    lane = rest.lane;
    rest.lane = 0;
  }
  bool uniform = linear_is_uniform(&rest);
  bool outside = uniform && k->device->kind != DEVICE_GPU;
  ir_value_t* x = outside ? linear_outside(k, &rest) : uniform ? linear_scalar(k, &rest) : linear_lanes(k, &rest);
  ir_value_t *q = divide(k, SCALAR_divu, x, d, max), *r = divide(k, SCALAR_remu, x, d, max);
  int64_t constant;
  if (!kernel_constant_index(q, &constant)) index_set_facts(k, q, 0, max < 0 ? INT64_MAX / 4 : max / d, 1);
  if (!kernel_constant_index(r, &constant)) {
    index_set_facts(k, r, 0, in_block ? d - k->lanes : d - 1, in_block ? k->lanes : 1);
  }
  *quotient = linear_add(k, *quotient, uniform ? linear_value(q) : linear_vector(q));
  *remainder = uniform ? linear_value(r) : linear_vector(r);
  remainder->lane += lane;
}

static int64_t gcd(int64_t x, int64_t y) {
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x < 0 ? -x : x;
}

// What everything in a form that is equal in all lanes, and d, is a multiple of.
static int64_t common_factor(const linear_t* x, int64_t d) {
  if (!linear_is_uniform(x)) return 1;
  int64_t factor = gcd(d, x->constant);
  for (uint32_t i = 0; i < x->count; ++i) factor = gcd(factor, x->terms[i].coefficient);
  return factor;
}

static linear_t divided(linear_t x, int64_t factor) {
  x.constant /= factor;
  for (uint32_t i = 0; i < x.count; ++i) x.terms[i].coefficient /= factor;
  return x;
}

void linear_divide(kernel_build_t* k, linear_t x, int64_t d, linear_t* quotient, linear_t* remainder) {
  assert(d > 0);
  if (d == 1) {
    *quotient = x;
    *remainder = linear_constant(0);
    return;
  }
  linear_t q = linear_constant(floor_div(x.constant, d)), rest = linear_constant(x.constant - d * q.constant);
  for (uint32_t i = 0; i < x.count; ++i) {
    int64_t coefficient = x.terms[i].coefficient;
    if (coefficient % d == 0) {
      add_term(k, &q, x.terms[i].value, coefficient / d);
    } else {
      add_term(k, &rest, x.terms[i].value, coefficient);
    }
  }
  if (x.lane % d == 0) {
    q.lane = x.lane / d;
  } else {
    rest.lane = x.lane;
  }
  rest.vector = x.vector;
  int64_t min, max;
  linear_range(k, &rest, &min, &max);
  if (min >= 0 && max < d) {
    *quotient = q;
    *remainder = rest;
    return;
  }
  if (min < 0) {  // the split made the rest negative: divide the whole, which is not
    q = linear_constant(0);
    rest = x;
  }
  *quotient = q;
  int64_t factor = common_factor(&rest, d);
  divide_by_instruction(k, divided(rest, factor), d / factor, quotient, remainder);
  *remainder = linear_scale(k, *remainder, factor);
}

//===----------------------------------------------------------------------------------------------------------------===
// Materialising
//===----------------------------------------------------------------------------------------------------------------===

typedef struct memo_slot_t {
  uint32_t code;
  ir_value_t *x, *y, *result;  // no result: free
} memo_slot_t;

// Open addressing. Addresses decide where a key is, never whether it is found: kernels do not depend on them.
struct kernel_memo_t {
  memo_slot_t* slots;
  uint32_t capacity, count;  // capacity: a power of two
};

static memo_slot_t* memo_slot(const kernel_memo_t* memo, uint32_t code, const ir_value_t* x, const ir_value_t* y) {
  uint64_t hash =
      ((uintptr_t)x * 0x9e3779b97f4a7c15ull) ^ ((uintptr_t)y * 0xff51afd7ed558ccdull) ^ (uint64_t)code << 40;
  for (uint32_t at = (uint32_t)(hash >> 20);; ++at) {
    memo_slot_t* slot = &memo->slots[at & (memo->capacity - 1)];
    if (!slot->result || (slot->code == code && slot->x == x && slot->y == y)) return slot;
  }
}

// The slot of a key, free or not, in a memo with room for one more.
static memo_slot_t* memo_find(kernel_build_t* k, uint32_t code, const ir_value_t* x, const ir_value_t* y) {
  if (!k->memo) k->memo = ARENA_NEW(ir_context_arena(k->ctx), kernel_memo_t);
  kernel_memo_t old = *k->memo;
  if (2 * (old.count + 1) > old.capacity) {
    k->memo->capacity = old.capacity ? 2 * old.capacity : 256;
    k->memo->slots = ARENA_ARRAY(ir_context_arena(k->ctx), memo_slot_t, k->memo->capacity);
    for (uint32_t i = 0; i < old.capacity; ++i) {
      const memo_slot_t* slot = &old.slots[i];
      if (slot->result) *memo_slot(k->memo, slot->code, slot->x, slot->y) = *slot;
    }
  }
  return memo_slot(k->memo, code, x, y);
}

static bool encloses(const ir_block_t* outer, const ir_block_t* block) {
  while (block && block != outer) block = block->parent && block->parent->parent ? block->parent->parent->parent : NULL;
  return block != NULL;
}

// A builder in the enclosing block of `depth`, right before the op that leads to the current position.
static ir_builder_t builder_at_depth(const kernel_build_t* k, int depth) {
  ir_builder_t b = k->b;
  while (depth_of(b.block) > depth) {
    ir_op_t* parent = b.block->parent->parent;
    b.block = parent->parent;
    b.before = parent;
  }
  return b;
}

// Pure op over index values, once per place: found again when made before in an enclosing block.
static ir_value_t* memo_binary(kernel_build_t* k, ir_builder_t* at, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  memo_slot_t* slot = memo_find(k, (uint32_t)fn, x, y);
  ir_value_t* found = slot->result;
  if (found && encloses(block_of(found), at->block) &&
      (block_of(found) != at->block || !at->before || !found->def || ir_op_is_before(found->def, at->before))) {
    return found;
  }
  k->memo->count += !found;
  *slot = (memo_slot_t){(uint32_t)fn, x, y, kernel_binary(at, fn, x, y)};
  return slot->result;
}

// Constants are values too; one per kernel, at its start.
static ir_value_t* entry_constant(kernel_build_t* k, int64_t value) {
  ir_block_t* entry = k->func->regions[0].first;
  for (ir_op_t* op = entry->first; op && ir_is(op, KERNEL_CONSTANT); op = op->next) {
    int64_t constant;
    bool is_index = op->results[0].type->kind == IR_TYPE_INDEX;
    if (is_index && kernel_constant_index(ir_result(op, 0), &constant) && constant == value) return ir_result(op, 0);
  }
  ir_builder_t at = k->b;
  at.block = entry;
  at.before = entry->first;
  ir_value_t* result = kernel_index(&at, value);
  if (k->b.block == entry && !k->b.before && entry->first == entry->last) k->b.before = NULL;
  return result;
}

ir_value_t* index_constant(kernel_build_t* k, int64_t value) { return entry_constant(k, value); }

// What is known of x fn y from what is known of them; nothing when it may overflow.
static index_facts_t derived_facts(scalar_fn_t fn, index_facts_t x, index_facts_t y) {
  index_facts_t none = {INT64_MIN / 4, INT64_MAX / 4, 1};
  switch (fn) {
    case SCALAR_add:
      return (index_facts_t){clamp_add(x.min, y.min), clamp_add(x.max, y.max), 1};
    case SCALAR_mul:
      if (x.min < 0 || y.min < 0) return none;
      return (index_facts_t){clamp_mul(x.min, y.min), clamp_mul(x.max, y.max), y.min == y.max ? y.min : 1};
    case SCALAR_divu:
      if (x.min < 0 || y.min < 0) return none;
      return (index_facts_t){x.min / (y.max > 0 ? y.max : 1), x.max / (y.min > 0 ? y.min : 1), 1};
    case SCALAR_remu:
      if (x.min < 0 || y.min < 0) return none;
      return (index_facts_t){0, x.max < y.max - 1 ? x.max : y.max - 1, 1};
    case SCALAR_min:
      return (index_facts_t){x.min < y.min ? x.min : y.min, x.max < y.max ? x.max : y.max, 1};
    case SCALAR_max:
      return (index_facts_t){x.min > y.min ? x.min : y.min, x.max > y.max ? x.max : y.max, 1};
    default:
      return none;
  }
}

ir_value_t* index_binary(kernel_build_t* k, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  int64_t constant;
  if (kernel_constant_index(x, &constant)) x = entry_constant(k, constant);
  if (kernel_constant_index(y, &constant)) y = entry_constant(k, constant);
  index_facts_t facts = derived_facts(fn, index_facts(x), index_facts(y));
  int depth = depth_of(block_of(x)), other = depth_of(block_of(y));
  ir_builder_t at = builder_at_depth(k, depth > other ? depth : other);
  ir_value_t* result = memo_binary(k, &at, fn, x, y);
  if (!kernel_constant_index(result, &constant) && !result->data) {
    index_set_facts(k, result, facts.min, facts.max, facts.multiple);
  }
  return result;
}

static ir_value_t* term_value(kernel_build_t* k, ir_value_t* value, int64_t coefficient) {
  if (coefficient == 1) return value;
  ir_builder_t at = builder_at_depth(k, depth_of(block_of(value)));
  return memo_binary(k, &at, SCALAR_mul, value, entry_constant(k, coefficient));
}

ir_value_t* linear_scalar(kernel_build_t* k, const linear_t* x) {
  if (!x->count) return entry_constant(k, x->constant);
  // Terms from the outermost to the innermost, so that each partial sum sits as far out as it can.
  uint32_t order[LINEAR_TERMS];
  int depths[LINEAR_TERMS];
  for (uint32_t i = 0; i < x->count; ++i) {
    int depth = depth_of(block_of(x->terms[i].value));
    uint32_t at = i;
    for (; at > 0 && depths[at - 1] > depth; --at) {
      depths[at] = depths[at - 1];
      order[at] = order[at - 1];
    }
    depths[at] = depth;
    order[at] = i;
  }
  ir_value_t* sum = NULL;
  for (uint32_t i = 0; i < x->count; ++i) {
    ir_value_t* term = term_value(k, x->terms[order[i]].value, x->terms[order[i]].coefficient);
    if (!sum) {
      sum = term;
      continue;
    }
    ir_builder_t at = builder_at_depth(k, depths[i]);
    sum = memo_binary(k, &at, SCALAR_add, sum, term);
  }
  if (x->constant) sum = kernel_binary(&k->b, SCALAR_add, sum, entry_constant(k, x->constant));
  return sum;
}

ir_value_t* linear_outside(kernel_build_t* k, const linear_t* x) {
  linear_t rest = *x;
  rest.constant = 0;
  ir_value_t* sum = linear_scalar(k, &rest);
  return x->constant ? index_binary(k, SCALAR_add, sum, entry_constant(k, x->constant)) : sum;
}

ir_value_t* linear_lanes(kernel_build_t* k, const linear_t* x) {
  ir_value_t* base = linear_scalar(k, x);
  if (k->lanes == 1) {
    return x->vector ? kernel_add(&k->b, base, x->vector) : base;
  }
  ir_value_t* result = kernel_splat(&k->b, base, k->lanes);
  if (x->lane) {
    const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_index(k->ctx), k->lanes);
    ir_value_t* lane = ir_build_value(&k->b, KERNEL_IOTA, NULL, 0, type);
    if (x->lane != 1) lane = kernel_mul(&k->b, lane, kernel_integer(&k->b, type, x->lane));
    result = kernel_add(&k->b, result, lane);
  }
  return x->vector ? kernel_add(&k->b, result, x->vector) : result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops
//===----------------------------------------------------------------------------------------------------------------===

kernel_loop_t kernel_loop_begin(kernel_build_t* k, ir_value_t* lower, ir_value_t* upper, int64_t step,
                                ir_value_t* const* init, uint32_t count) {
  index_facts_t low = index_facts(lower), high = index_facts(upper);
  kernel_loop_t loop = kernel_for_begin(&k->b, lower, upper, entry_constant(k, step), init, count);
  int64_t multiple = low.min == low.max && low.min == 0 ? step : low.multiple % step == 0 ? step : 1;
  index_set_facts(k, loop.index, low.min, high.max - 1, multiple);
  return loop;
}

kernel_loop_t kernel_loop_constant(kernel_build_t* k, int64_t lower, int64_t upper, int64_t step,
                                   ir_value_t* const* init, uint32_t count) {
  ir_value_t* low = entry_constant(k, lower);
  kernel_loop_t loop = kernel_loop_begin(k, low, entry_constant(k, upper), step, init, count);
  int64_t last = upper > lower ? lower + (upper - 1 - lower) / step * step : lower;
  index_set_facts(k, loop.index, lower, last, lower % step == 0 ? step : 1);
  return loop;
}
