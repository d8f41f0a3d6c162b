// Finds the run-time size of every '?'. See sizes.h.
//
//   %0 = graph.conv %x, %w                      %n = graph.dim %x {0};  %h = graph.dim %x {2}
//   %d = graph.dim %0 {2}                 =>    %0 = graph.conv %x, %w                     (sizes of %0: %n, %h - 2)
//   %1 = graph.broadcast %b, .., %d             %d = %h - 2;  %1 = graph.broadcast %b, .., %d
//
// Sizes are kept at ir_value_t.data: of a tensor its list, of an index value the earlier one it was found equal to.
#include "passes/sizes.h"

#include <assert.h>
#include <string.h>

#include "dialects/graph_shape.h"
#include "ir/context.h"
#include "passes/passes.h"

typedef struct row_t {
  uint32_t code;
  ir_value_t* operands[2];
  int64_t number;  // of a constant; graph.dim: the dimension
  ir_value_t* value;
  uint32_t next;  // of the same bucket: an earlier row's number plus one, or 0
} row_t;

// Which sizes the loops of a nest carry, the outermost first; they are found by trying on copies of the whole nest.
typedef struct search_t {
  bool** changes;  // by number of the loop, in the order of the program; NULL until it is met
  uint32_t count, capacity;
  bool trying;  // on a copy
  bool grew;    // something changes that did not when the copy was made
} search_t;

typedef struct sizes_t {
  graph_sizer_t sizer;  // first: the shape rules count by it
  ir_context_t* ctx;
  ir_builder_t b;
  ir_op_t* op;  // at work
  ir_block_t* entry;
  row_t* rows;  // index values at hand; those of a region are forgotten at its end
  uint32_t count, capacity;
  uint32_t* buckets;  // the latest row's number plus one, or 0
  uint32_t bucket_count;
  search_t* search;  // of the loop at work that is in no other
  bool failed;
} sizes_t;

enum { MAX_DEPTH = 12, MAX_OPEN = 256 };

//===----------------------------------------------------------------------------------------------------------------===
// Index values, numbered
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* represent(ir_value_t* x) {
  while (x->type->kind == IR_TYPE_INDEX && x->data) x = x->data;
  return x;
}

static uint32_t* bucket_of(const sizes_t* s, const row_t* row) {
  uint64_t hash = ir_hash_mix(row->code, (uint64_t)row->number);
  hash = ir_hash_mix(ir_hash_mix(hash, (uintptr_t)row->operands[0]), (uintptr_t)row->operands[1]);
  return &s->buckets[hash & (s->bucket_count - 1)];
}

static ir_value_t* find_row(const sizes_t* s, const row_t* key) {
  for (uint32_t at = s->count ? *bucket_of(s, key) : 0; at; at = s->rows[at - 1].next) {
    const row_t* row = &s->rows[at - 1];
    if (row->code == key->code && row->number == key->number && row->operands[0] == key->operands[0] &&
        row->operands[1] == key->operands[1]) {
      return represent(row->value);
    }
  }
  return NULL;
}

static void link_row(sizes_t* s, uint32_t number) {
  uint32_t* bucket = bucket_of(s, &s->rows[number]);
  s->rows[number].next = *bucket;
  *bucket = number + 1;
}

static void grow_rows(sizes_t* s) {
  arena_t* arena = ir_context_arena(s->ctx);
  s->capacity = s->capacity ? s->capacity * 2 : 64;
  row_t* rows = ARENA_ARRAY(arena, row_t, s->capacity);
  if (s->count) memcpy(rows, s->rows, sizeof(*rows) * s->count);
  s->rows = rows;
  s->bucket_count = 2 * s->capacity;
  s->buckets = ARENA_ARRAY(arena, uint32_t, s->bucket_count);
  for (uint32_t i = 0; i < s->count; ++i) link_row(s, i);
}

static ir_value_t* add_row(sizes_t* s, row_t row, ir_value_t* value) {
  if (s->count == s->capacity) grow_rows(s);
  row.value = value;
  s->rows[s->count++] = row;
  link_row(s, s->count - 1);
  return value;
}

// Back to the first `count` rows: the latest of each bucket goes first.
static void forget_rows(sizes_t* s, uint32_t count) {
  while (s->count > count) {
    const row_t* row = &s->rows[--s->count];
    *bucket_of(s, row) = row->next;
  }
}

static bool is_constant(const ir_value_t* x, int64_t* out) {
  if (!x->def || !ir_is(x->def, GRAPH_CONSTANT) || x->type->kind != IR_TYPE_INDEX) return false;
  *out = graph_get_value(x->def)->integer;
  return true;
}

static ir_value_t* sizes_constant(sizes_t* s, int64_t value) {
  row_t key = {.code = GRAPH_CONSTANT, .number = value};
  ir_value_t* found = find_row(s, &key);
  return found ? found : add_row(s, key, graph_index_constant(&s->b, value));
}

static ir_value_t* numbered_dim(sizes_t* s, ir_value_t* x, int64_t dim) {
  row_t key = {.code = GRAPH_DIM, .operands = {x}, .number = dim};
  ir_value_t* found = find_row(s, &key);
  return found ? found : add_row(s, key, graph_dim(&s->b, x, (uint32_t)dim));
}

static ir_value_t* sizes_add(sizes_t* s, ir_value_t* x, int64_t y);
static ir_value_t* sizes_mul(sizes_t* s, ir_value_t* x, int64_t y);

static bool is_operand(const ir_value_t* x, scalar_fn_t fn, uint32_t i, const ir_value_t* y) {
  return x->def && graph_scalar_fn(x->def) == (int)fn && represent(ir_operand(x->def, i)) == y;
}

// Whether x is y and what is not negative.
static bool is_at_least(const ir_value_t* x, const ir_value_t* y) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (is_operand(x, SCALAR_add, i, y) && graph_size_is_natural(represent(ir_operand(x->def, 1 - i)))) return true;
  }
  return false;
}

// min(x, y) and the like of what is x or y already, or is x + y, or whose difference was taken: (x + y) - x,
// x - (x - y).
static ir_value_t* simplify_pair(scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  if (fn == SCALAR_sub && is_operand(x, SCALAR_add, 0, y)) return represent(ir_operand(x->def, 1));
  if (fn == SCALAR_sub && is_operand(x, SCALAR_add, 1, y)) return represent(ir_operand(x->def, 0));
  if (fn == SCALAR_sub && is_operand(y, SCALAR_sub, 0, x)) return represent(ir_operand(y->def, 1));
  for (uint32_t i = 0; (fn == SCALAR_min || fn == SCALAR_max) && i < 2; ++i) {
    if (is_operand(x, fn, i, y)) return x;
    if (is_operand(y, fn, i, x)) return y;
  }
  if (fn == SCALAR_min || fn == SCALAR_max) {
    if (is_at_least(x, y)) return fn == SCALAR_min ? y : x;
    if (is_at_least(y, x)) return fn == SCALAR_min ? x : y;
  }
  return NULL;
}

// x fn y without an instruction, or NULL.
static ir_value_t* simplify(sizes_t* s, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  int64_t a, b, inner;
  bool x_known = is_constant(x, &a), y_known = is_constant(y, &b);
  if (x_known && y_known && graph_size_fold(fn, a, b, &inner)) return sizes_constant(s, inner);
  if (x == y && (fn == SCALAR_min || fn == SCALAR_max)) return x;
  if (x == y && fn == SCALAR_sub) return sizes_constant(s, 0);
  ir_value_t* pair = simplify_pair(fn, x, y);
  if (pair || !y_known) return pair;
  if (b == 0 && (fn == SCALAR_add || fn == SCALAR_sub)) return x;
  if (b == 1 && (fn == SCALAR_mul || fn == SCALAR_div)) return x;
  if (b == 0 && fn == SCALAR_mul) return y;
  if (b <= 0 && fn == SCALAR_max && graph_size_is_natural(x)) return b < 0 || b == 0 ? x : NULL;
  if (fn == SCALAR_sub && b != INT64_MIN) return sizes_add(s, x, -b);
  bool nested = x->def && x->def->operand_count == 2 && is_constant(ir_operand(x->def, 1), &inner);
  if (nested && fn == SCALAR_add && graph_scalar_fn(x->def) == SCALAR_add &&
      !__builtin_add_overflow(inner, b, &inner)) {
    return sizes_add(s, ir_operand(x->def, 0), inner);
  }
  if (nested && fn == SCALAR_mul && graph_scalar_fn(x->def) == SCALAR_mul &&
      !__builtin_mul_overflow(inner, b, &inner)) {
    return sizes_mul(s, ir_operand(x->def, 0), inner);
  }
  if (nested && fn == SCALAR_div && graph_scalar_fn(x->def) == SCALAR_mul && b > 0 && inner % b == 0) {
    return sizes_mul(s, ir_operand(x->def, 0), inner / b);
  }
  return NULL;
}

static ir_value_t* sizes_binary(sizes_t* s, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  x = represent(x);
  y = represent(y);
  if (scalar_info[fn].commutative && is_constant(x, &number)) {
    ir_value_t* t = x;
    x = y;
    y = t;
  }
  ir_value_t* simple = simplify(s, fn, x, y);
  if (simple) return simple;
  row_t key = {.code = graph_scalar_code(fn), .operands = {x, y}};
  ir_value_t* found = find_row(s, &key);
  if (!found && scalar_info[fn].commutative) {
    found = find_row(s, &(row_t){.code = key.code, .operands = {y, x}});
  }
  if (found) return found;
  return add_row(s, key, graph_binary(&s->b, fn, x, y));
}

static ir_value_t* sizes_add(sizes_t* s, ir_value_t* x, int64_t y) {
  return sizes_binary(s, SCALAR_add, x, sizes_constant(s, y));
}

static ir_value_t* sizes_mul(sizes_t* s, ir_value_t* x, int64_t y) {
  return sizes_binary(s, SCALAR_mul, x, sizes_constant(s, y));
}

// Whether `size` is what x and other sizes broadcast to.
static bool is_common_of(const ir_value_t* size, const ir_value_t* x, int depth) {
  ir_value_t *a, *b;
  if (size == x) return true;
  if (depth > MAX_DEPTH || !graph_common_parts(size, &a, &b)) return false;
  return is_common_of(represent(a), x, depth + 1) || is_common_of(represent(b), x, depth + 1);
}

static ir_value_t* sizes_common(sizes_t* s, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  x = represent(x);
  y = represent(y);
  if (is_common_of(x, y, 0)) return x;
  if (is_common_of(y, x, 0)) return y;
  if (is_constant(x, &number) || is_constant(y, &number)) return graph_common_size(&s->b, x, y);
  row_t key = {.code = GRAPH_select, .operands = {x, y}};
  ir_value_t* found = find_row(s, &key);
  if (!found) found = find_row(s, &(row_t){.code = key.code, .operands = {y, x}});
  return found ? found : add_row(s, key, graph_common_size(&s->b, x, y));
}

static ir_value_t* sizes_not_negative(sizes_t* s, ir_value_t* x) {
  return sizes_binary(s, SCALAR_max, x, sizes_constant(s, 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// What must hold
//===----------------------------------------------------------------------------------------------------------------===

// Computed from the function's arguments alone, so that it is known before any kernel runs.
static bool is_early(const sizes_t* s, const ir_value_t* x, int depth) {
  if (!x->def) return x->block == s->entry;
  if (ir_is(x->def, GRAPH_CONSTANT)) return true;
  if (depth > MAX_DEPTH || (graph_scalar_fn(x->def) < 0 && !ir_is(x->def, GRAPH_DIM))) return false;
  for (uint32_t i = 0; i < x->def->operand_count; ++i) {
    if (!is_early(s, ir_operand(x->def, i), depth + 1)) return false;
  }
  return true;
}

static const char* message_for(sizes_t* s, const char* rule) {
  const ir_loc_t* loc = ir_loc_find_file(s->op->loc);
  arena_t* arena = ir_context_arena(s->ctx);
  if (!loc) return arena_printf(arena, "sizes do not fit in '%s': %s", s->op->name, rule);
  return arena_printf(arena, "sizes do not fit in '%s' at %s:%u:%u: %s", s->op->name, loc->name, loc->line, loc->column,
                      rule);
}

static void refuse(sizes_t* s, const char* rule) {
  if (!s->failed) ir_op_error(s->ctx, s->op, "has operands whose sizes never fit: %s", rule);
  s->failed = true;
}

// Stops the program unless `holds`, with a message that ends with x and y.
static void build_assert(sizes_t* s, ir_value_t* holds, ir_value_t* x, ir_value_t* y, const char* rule) {
  ir_value_t* operands[] = {holds, x, y};
  const char* message = arena_printf(ir_context_arena(s->ctx), "%s ({0} and {1})", message_for(s, rule));
  ir_named_attr_t attr = {"message", ir_attr_cstring(s->ctx, message)};
  ir_build(&s->b, &(ir_op_state_t){.info = ir_context_op(s->ctx, GRAPH_ASSERT),
                                   .operands = operands,
                                   .operand_count = 3,
                                   .attrs = &attr,
                                   .attr_count = 1});
}

static void sizes_require(sizes_t* s, scalar_fn_t fn, ir_value_t* x, ir_value_t* y, const char* rule) {
  int64_t a, b;
  x = represent(x);
  y = represent(y);
  if (x == y && (fn == SCALAR_eq || fn == SCALAR_le || fn == SCALAR_ge)) return;
  if (is_constant(x, &a) && is_constant(y, &b)) {
    bool holds = fn == SCALAR_eq ? a == b : fn == SCALAR_le ? a <= b : a >= b;
    if (!holds) refuse(s, rule);
    return;
  }
  if (fn == SCALAR_ge && is_constant(y, &b) && b <= 0 && graph_size_is_natural(x)) return;
  if (fn == SCALAR_le && (is_operand(x, SCALAR_min, 0, y) || is_operand(x, SCALAR_min, 1, y))) return;
  row_t key = {.code = GRAPH_ASSERT, .operands = {x, y}, .number = fn};
  if (find_row(s, &key)) return;  // asked before
  build_assert(s, add_row(s, key, graph_binary(&s->b, fn, x, y)), x, y, rule);
}

// x is 1 or y: (x - y)(x - 1) is 0.
static void sizes_fit(sizes_t* s, ir_value_t* x, ir_value_t* y, const char* rule) {
  ir_value_t *a, *b;
  int64_t number;
  x = represent(x);
  y = represent(y);
  if (x == y || (graph_common_parts(y, &a, &b) && represent(a) == x)) return;
  if (is_constant(x, &number)) {
    if (number != 1) sizes_require(s, SCALAR_eq, x, y, rule);
    return;
  }
  ir_value_t* product = sizes_binary(s, SCALAR_mul, sizes_binary(s, SCALAR_sub, x, y), sizes_add(s, x, -1));
  row_t key = {.code = GRAPH_ASSERT, .operands = {product, sizes_constant(s, 0)}, .number = SCALAR_eq};
  if (product == key.operands[1] || find_row(s, &key)) return;
  // What the size was made of says more than itself: 2 and 3 are 3.
  ir_value_t* other = y;
  while (graph_common_parts(other, &a, &b)) other = represent(represent(b) == x ? a : b);
  build_assert(s, add_row(s, key, graph_binary(&s->b, SCALAR_eq, product, key.operands[1])), x, other, rule);
}

static bool is_older(const sizes_t* s, const ir_value_t* x, const ir_value_t* y) {
  for (uint32_t i = 0; i < s->count; ++i) {
    if (s->rows[i].value == x) return true;
    if (s->rows[i].value == y) return false;
  }
  return !x->def;
}

// Equal by an assert: the one to go on with, for the other too when that is known before any kernel runs.
static ir_value_t* unite(sizes_t* s, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  if (is_constant(y, &number)) return y;
  if (is_constant(x, &number)) return x;
  bool outermost = s->b.block == s->entry;
  if (!outermost || !is_early(s, x, 0) || !is_early(s, y, 0)) return x;
  if (is_older(s, y, x)) {
    ir_value_t* t = x;
    x = y;
    y = t;
  }
  y->data = x;  // from here on one size
  return x;
}

static ir_value_t* sizes_agree(sizes_t* s, ir_value_t* x, ir_value_t* y, const char* rule) {
  x = represent(x);
  y = represent(y);
  if (x == y) return x;
  sizes_require(s, SCALAR_eq, x, y, rule);
  return unite(s, x, y);
}

// An assert of the program about sizes.
static void visit_assert(sizes_t* s, const ir_op_t* op) {
  const ir_op_t* test = ir_operand(op, 0)->def;
  int fn = test ? graph_scalar_fn(test) : -1;
  if ((fn != SCALAR_eq && fn != SCALAR_le && fn != SCALAR_ge) || ir_operand(test, 0)->type->kind != IR_TYPE_INDEX)
    return;
  ir_value_t *x = represent(ir_operand(test, 0)), *y = represent(ir_operand(test, 1));
  add_row(s, (row_t){.code = GRAPH_ASSERT, .operands = {x, y}, .number = fn}, ir_operand(op, 0));
  if (fn == SCALAR_eq && x != y) unite(s, x, y);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes of values
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t dynamic_before(const ir_type_t* type, int64_t dim) {
  uint32_t count = 0;
  for (int64_t i = 0; i < dim; ++i) count += type->dims[i] == IR_DYNAMIC;
  return count;
}

static bool has_sizes(const ir_value_t* x) { return ir_type_is_tensor(x->type) && !ir_type_is_static(x->type); }

ir_value_t* sizes_of(const ir_value_t* value, int32_t dim) {
  ir_value_t** list = value->data;
  assert(value->type->dims[dim] == IR_DYNAMIC);
  return list ? represent(list[dynamic_before(value->type, dim)]) : NULL;
}

void sizes_move(const ir_value_t* from, ir_value_t* to) {
  if (has_sizes(from)) to->data = from->data;
}

bool sizes_same_shape(const ir_value_t* x, const ir_value_t* y) {
  const ir_type_t *a = x->type, *b = y->type;
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; ++i) {
    if (a->dims[i] != b->dims[i]) return false;
    if (a->dims[i] == IR_DYNAMIC && (!sizes_of(x, i) || sizes_of(x, i) != sizes_of(y, i))) return false;
  }
  return true;
}

static ir_value_t* sizes_dim(sizes_t* s, const ir_value_t* x, int64_t dim) {
  int64_t size = x->type->dims[dim];
  if (size != IR_DYNAMIC) return sizes_constant(s, size);
  ir_value_t* known = sizes_of(x, (int32_t)dim);
  assert(known && "sizes are found in the order of the program");
  return known;
}

static ir_value_t** new_list(sizes_t* s, ir_value_t* x) {
  ir_value_t** list = ARENA_ARRAY(ir_context_arena(s->ctx), ir_value_t*, GRAPH_MAX_RANK);
  x->data = list;
  return list;
}

// Of a value that comes from outside.
static void size_given(sizes_t* s, ir_value_t* value) {
  if (!has_sizes(value)) return;
  ir_value_t** list = new_list(s, value);
  for (int32_t d = 0; d < value->type->rank; ++d) {
    if (value->type->dims[d] == IR_DYNAMIC) *list++ = numbered_dim(s, value, d);
  }
}

static void size_arguments(sizes_t* s, ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) size_given(s, block->args[i]);
}

static void size_imported(sizes_t* s, ir_op_t* call) {
  s->b = ir_builder_before(s->ctx, call->next);
  for (uint32_t i = 0; i < call->result_count; ++i) size_given(s, ir_result(call, i));
}

//===----------------------------------------------------------------------------------------------------------------===
// The walk
//===----------------------------------------------------------------------------------------------------------------===

static void visit_block(sizes_t* s, ir_block_t* block);

static void visit_region(sizes_t* s, ir_op_t* op, uint32_t r) {
  uint32_t mark = s->count;
  ir_builder_t outer = s->b;
  visit_block(s, op->regions[r].first);
  forget_rows(s, mark);
  s->b = outer;
  s->op = op;
}

// The '?' of results of control flow, one after the other: which value it is of, and along which dimension.
typedef struct open_dim_t {
  uint32_t value;
  int32_t dim;
} open_dim_t;

static uint32_t list_open_dims(const ir_op_t* op, open_dim_t* out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = op->results[i].type;
    for (int32_t d = 0; ir_type_is_tensor(type) && d < type->rank; ++d) {
      if (type->dims[d] != IR_DYNAMIC) continue;
      if (count < MAX_OPEN) out[count] = (open_dim_t){i, d};
      ++count;
    }
  }
  return count;
}

static bool check_open_dims(sizes_t* s, const ir_op_t* op, uint32_t count) {
  if (count <= MAX_OPEN) return true;
  ir_op_error(s->ctx, op, "has %u sizes known at run time only; %d are supported", count, MAX_OPEN);
  return !(s->failed = true);
}

static void move_regions(ir_op_t* from, ir_op_t* to) {
  for (uint32_t r = 0; r < 2; ++r) {
    ir_block_t* block = from->regions[r].first;
    from->regions[r].first = from->regions[r].last = NULL;
    block->parent = NULL;
    ir_region_append(&to->regions[r], block);
  }
}

static void append_operand(ir_context_t* ctx, ir_op_t* op, ir_value_t* value) {
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = ir_operand(op, i);
  operands[op->operand_count] = value;
  ir_op_set_operands(ctx, op, operands, op->operand_count + 1);
}

// The op with `count` index values more as results (and those of `inits` as operands); its regions move there.
static ir_op_t* with_indices(sizes_t* s, ir_op_t* op, ir_value_t* const* inits, uint32_t count) {
  arena_t* arena = ir_context_arena(s->ctx);
  uint32_t operands = op->operand_count, results = op->result_count;
  ir_value_t** values = ARENA_ARRAY(arena, ir_value_t*, operands + count + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, results + count + 1);
  for (uint32_t i = 0; i < operands; ++i) values[i] = ir_operand(op, i);
  for (uint32_t i = 0; i < results; ++i) types[i] = op->results[i].type;
  for (uint32_t i = 0; i < count; ++i) types[results + i] = ir_type_index(s->ctx);
  for (uint32_t i = 0; inits && i < count; ++i) values[operands + i] = inits[i];
  ir_builder_t b = ir_builder_before(s->ctx, op);
  b.loc = op->loc;
  ir_op_t* wide = ir_build(&b, &(ir_op_state_t){.info = op->info,
                                                .operands = values,
                                                .operand_count = operands + (inits ? count : 0),
                                                .result_types = types,
                                                .result_count = results + count,
                                                .attrs = op->attrs,
                                                .attr_count = op->attr_count,
                                                .region_count = 2});
  move_regions(op, wide);
  for (uint32_t i = 0; i < results; ++i) {
    wide->results[i].data = op->results[i].data;
    ir_value_replace(ir_result(op, i), ir_result(wide, i));
  }
  ir_op_erase(op);
  return wide;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops: carried values keep the sizes that they begin with, or carry their sizes along
//===----------------------------------------------------------------------------------------------------------------===

// Gives the loop's results and its regions' arguments their sizes: `numbers` has the carried index value of each '?',
// -1 for one that stays as it is.
static void size_carried(sizes_t* s, ir_op_t* op, const int64_t* numbers) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* result = ir_result(op, i);
    if (!has_sizes(result)) continue;
    ir_value_t **lists[3] = {new_list(s, result)}, *values[3] = {result};
    for (uint32_t r = 0; r < 2; ++r) lists[1 + r] = new_list(s, values[1 + r] = op->regions[r].first->args[i]);
    for (int32_t d = 0; d < result->type->rank; ++d) {
      if (result->type->dims[d] != IR_DYNAMIC) continue;
      int64_t number = numbers[next++];
      for (uint32_t k = 0; k < 3; ++k) {
        ir_value_t* carried = NULL;
        if (number >= 0) carried = k ? op->regions[k - 1].first->args[number] : ir_result(op, (uint32_t)number);
        *lists[k]++ = carried ? carried : sizes_dim(s, ir_operand(op, i), d);
      }
    }
  }
}

// Marks the '?' whose sizes are others at the end of a round than at its start.
static bool find_changes(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count, bool* changes) {
  const ir_op_t* yield = op->regions[1].first->last;
  bool found = false;
  for (uint32_t k = 0; k < count; ++k) {
    ir_value_t* next = sizes_dim(s, ir_operand(yield, open[k].value), open[k].dim);
    ir_value_t* now = sizes_dim(s, op->regions[1].first->args[open[k].value], open[k].dim);
    if (changes[k] || next == now) continue;
    changes[k] = found = true;
  }
  return found;
}

// The loop with a carried index for each '?' that changes.
static ir_op_t* carry_sizes(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count, const bool* changes,
                            int64_t* numbers) {
  ir_value_t* inits[MAX_OPEN];
  uint32_t added = 0;
  for (uint32_t k = 0; k < count; ++k) {
    numbers[k] = -1;
    if (!changes[k]) continue;
    numbers[k] = op->operand_count + added;
    inits[added++] = sizes_dim(s, ir_operand(op, open[k].value), open[k].dim);
    for (uint32_t r = 0; r < 2; ++r) ir_block_add_arg(s->ctx, op->regions[r].first, ir_type_index(s->ctx));
  }
  if (!added) return op;
  op = with_indices(s, op, inits, added);
  ir_op_set_attr(s->ctx, op, "sizes", ir_attr_i64_array(s->ctx, numbers, count));
  return op;
}

static void visit_regions(sizes_t* s, ir_op_t* op) {
  visit_region(s, op, 0);
  visit_region(s, op, 1);
}

// Reads `sizes` of an op that has it already: it may be as a stranger wrote it.
static bool read_sizes(sizes_t* s, const ir_op_t* op, uint32_t count, int64_t* numbers) {
  bool is_if = ir_is(op, GRAPH_IF);
  bool fits = ir_attr_ints(graph_attr(op, GRAPH_ATTR_sizes), numbers, MAX_OPEN) == count;
  for (uint32_t k = 0; fits && k < count; ++k) {
    int64_t number = numbers[k], result = is_if ? -1 - number : number;
    if (number >= 0) fits = number < op->operand_count && ir_operand(op, (uint32_t)number)->type->kind == IR_TYPE_INDEX;
    bool is_result = is_if ? number < 0 : number >= 0;
    if (fits && is_result) fits = result < op->result_count && op->results[result].type->kind == IR_TYPE_INDEX;
    fits &= is_if || number >= -1;
  }
  if (!fits) ir_op_error(s->ctx, op, "has 'sizes' that do not name an index value for each '?' of its results");
  s->failed |= !fits;
  return fits;
}

// What the next loop of the nest carries.
static bool* next_changes(sizes_t* s) {
  search_t* search = s->search;
  if (search->count == search->capacity) {
    uint32_t capacity = search->capacity ? 2 * search->capacity : 8;
    bool** changes = ARENA_ARRAY(ir_context_arena(s->ctx), bool*, capacity);
    if (search->count) memcpy(changes, search->changes, sizeof(*changes) * search->count);
    search->changes = changes;
    search->capacity = capacity;
  }
  bool** changes = &search->changes[search->count++];
  if (!*changes) *changes = ARENA_ARRAY(ir_context_arena(s->ctx), bool, MAX_OPEN);
  return *changes;
}

// One loop of a nest, with what is known by now of the sizes that it carries.
static ir_op_t* size_loop(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count, bool* changes) {
  int64_t numbers[MAX_OPEN];
  op = carry_sizes(s, op, open, count, changes, numbers);
  size_carried(s, op, numbers);
  visit_regions(s, op);
  if (s->failed) return op;
  if (s->search->trying) {
    s->search->grew |= find_changes(s, op, open, count, changes);
    return op;
  }
  ir_op_t* yield = op->regions[1].first->last;
  for (uint32_t k = 0; k < count; ++k) {
    if (changes[k]) append_operand(s->ctx, yield, sizes_dim(s, ir_operand(yield, open[k].value), open[k].dim));
  }
  return op;
}

// A loop in another one. What was just found to change has a size of its own behind it, so that the loops around find
// on the same copy what follows from that.
static void size_inner_loop(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count) {
  bool* changes = next_changes(s);
  op = size_loop(s, op, open, count, changes);
  s->b = ir_builder_before(s->ctx, op->next);
  for (uint32_t k = 0; s->search->trying && !s->failed && k < count; ++k) {
    ir_value_t *result = ir_result(op, open[k].value), **list = result->data;
    ir_value_t** size = &list[dynamic_before(result->type, open[k].dim)];
    if (changes[k] && (*size)->def != op) *size = numbered_dim(s, result, open[k].dim);
  }
}

// A loop that is in no other: each copy of the nest is visited once, and all but the last find more that changes.
static void search_nest(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count) {
  search_t search = {.trying = true, .grew = true};
  s->search = &search;
  while (search.grew && !s->failed) {
    ir_op_t* copy = ir_op_clone(s->ctx, op, NULL);
    ir_block_insert_before(op->parent, copy, op);
    search.grew = false;
    search.count = 0;
    ir_op_erase(size_loop(s, copy, open, count, next_changes(s)));
  }
  search.trying = false;
  search.count = 0;
  if (!s->failed) size_loop(s, op, open, count, next_changes(s));
  s->search = NULL;
}

static void visit_while(sizes_t* s, ir_op_t* op) {
  open_dim_t open[MAX_OPEN];
  int64_t numbers[MAX_OPEN];
  uint32_t count = list_open_dims(op, open);
  if (!check_open_dims(s, op, count)) return;
  if (graph_attr(op, GRAPH_ATTR_sizes)) {
    if (!read_sizes(s, op, count, numbers)) return;
    size_carried(s, op, numbers);
    visit_regions(s, op);
  } else if (!count) {
    visit_regions(s, op);
  } else if (s->search) {
    size_inner_loop(s, op, open, count);
  } else {
    search_nest(s, op, open, count);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Branches: sizes of results come from outside, the same in both or by the condition, or are results themselves
//===----------------------------------------------------------------------------------------------------------------===

static bool is_inside(const ir_value_t* x, const ir_op_t* op) { return x->def && ir_op_is_inside(x->def, op); }

// A size that is known outside of the branches, as one value.
static ir_value_t* choose_size(sizes_t* s, const ir_op_t* op, ir_value_t* x, ir_value_t* y) {
  ir_value_t* condition = ir_operand(op, 0);
  if (x == y) return x;
  if (ir_type_is_tensor(condition->type)) {
    condition = graph_build(&s->b, GRAPH_TO_SCALAR, &condition, 1, ir_type_int(s->ctx, 1), NULL, 0);
  }
  return graph_build(&s->b, GRAPH_select, (ir_value_t*[]){condition, x, y}, 3, ir_type_index(s->ctx), NULL, 0);
}

// Sets the sizes of the results from the attribute: operands, and results where negative.
static void size_results(sizes_t* s, ir_op_t* op, const open_dim_t* open, uint32_t count, const int64_t* numbers) {
  ir_value_t** list = NULL;
  for (uint32_t k = 0; k < count; ++k) {
    if (k == 0 || open[k].value != open[k - 1].value) list = new_list(s, ir_result(op, open[k].value));
    *list++ = numbers[k] < 0 ? ir_result(op, (uint32_t)(-1 - numbers[k])) : ir_operand(op, (uint32_t)numbers[k]);
  }
}

static void visit_if(sizes_t* s, ir_op_t* op) {
  ir_value_t* operands[1 + MAX_OPEN] = {ir_operand(op, 0)};
  int64_t numbers[MAX_OPEN];
  open_dim_t open[MAX_OPEN];
  uint32_t count = list_open_dims(op, open), outside = 0, results = op->result_count, inside = 0;
  const ir_attr_t* known = graph_attr(op, GRAPH_ATTR_sizes);
  visit_regions(s, op);
  if (!count || s->failed || !check_open_dims(s, op, count)) return;
  if (known) {
    if (read_sizes(s, op, count, numbers)) size_results(s, op, open, count, numbers);
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    ir_value_t* sizes[2];
    for (uint32_t r = 0; r < 2; ++r) {
      int64_t number;
      sizes[r] = sizes_dim(s, ir_operand(op->regions[r].first->last, open[k].value), open[k].dim);
      if (is_constant(sizes[r], &number)) sizes[r] = sizes_constant(s, number);
    }
    if (is_inside(sizes[0], op) || is_inside(sizes[1], op)) {
      numbers[k] = -1 - (int64_t)(results + inside++);
      for (uint32_t r = 0; r < 2; ++r) append_operand(s->ctx, op->regions[r].first->last, sizes[r]);
      continue;
    }
    numbers[k] = 1 + outside;
    operands[++outside] = choose_size(s, op, sizes[0], sizes[1]);
  }
  ir_op_set_operands(s->ctx, op, operands, 1 + outside);
  ir_op_set_attr(s->ctx, op, "sizes", ir_attr_i64_array(s->ctx, numbers, count));
  if (inside) op = with_indices(s, op, NULL, inside);
  size_results(s, op, open, count, numbers);
}

// What a size is that is chosen by whether a number is negative (bounds count from the end then), where it never is.
static ir_value_t* choose_natural(const ir_op_t* op) {
  const ir_op_t* test = ir_is(op, GRAPH_select) ? ir_operand(op, 0)->def : NULL;
  int64_t zero;
  if (!test || !ir_is(test, GRAPH_lt) || ir_operand(test, 0)->type->kind != IR_TYPE_INDEX) return NULL;
  if (!is_constant(ir_operand(test, 1), &zero) || zero) return NULL;
  return graph_size_is_natural(represent(ir_operand(test, 0))) ? represent(ir_operand(op, 2)) : NULL;
}

// Index arithmetic of the program, numbered with the sizes'. True when the op is gone.
static bool visit_index(sizes_t* s, ir_op_t* op) {
  if (op->result_count != 1 || op->results[0].type->kind != IR_TYPE_INDEX) return false;
  ir_value_t *value = choose_natural(op), *x, *y;
  int fn = graph_scalar_fn(op);
  if (value) {
  } else if (graph_common_parts(ir_result(op, 0), &x, &y)) {
    value = sizes_common(s, x, y);
  } else if (ir_is(op, GRAPH_CONSTANT)) {
    value = sizes_constant(s, graph_get_value(op)->integer);
  } else if (ir_is(op, GRAPH_DIM)) {
    value = sizes_dim(s, ir_operand(op, 0), graph_get_index(op));
  } else if (fn >= 0 && op->operand_count == 2 && ir_operand(op, 0)->type->kind == IR_TYPE_INDEX) {
    value = sizes_binary(s, (scalar_fn_t)fn, ir_operand(op, 0), ir_operand(op, 1));
  }
  if (!value || value == ir_result(op, 0)) return false;
  ir_value_replace(ir_result(op, 0), value);
  ir_op_erase(op);
  return true;
}

// What the rules count in: index values, but where a size is a number.
static ir_value_t* as_value(sizes_t* s, graph_size_t x) {
  return x.value ? represent(x.value) : sizes_constant(s, x.number);
}
static graph_size_t as_size(ir_value_t* value) {
  int64_t number;
  return is_constant(value, &number) ? graph_size(number) : (graph_size_t){.value = value};
}

static graph_size_t rule_dim(graph_sizer_t* sizer, const ir_value_t* x, int32_t dim) {
  return as_size(sizes_dim((sizes_t*)sizer, x, dim));
}
static graph_size_t rule_operand(graph_sizer_t* sizer, uint32_t index) {
  ir_value_t* size = sizes_not_negative((sizes_t*)sizer, ir_operand(sizer->op, index));
  ir_op_set_operand(sizer->op, index, size);
  return as_size(size);
}
static graph_size_t rule_binary(graph_sizer_t* sizer, scalar_fn_t fn, graph_size_t x, graph_size_t y) {
  sizes_t* s = (sizes_t*)sizer;
  return as_size(sizes_binary(s, fn, as_value(s, x), as_value(s, y)));
}
static void rule_require(graph_sizer_t* sizer, scalar_fn_t fn, graph_size_t x, graph_size_t y, const char* rule) {
  sizes_t* s = (sizes_t*)sizer;
  sizes_require(s, fn, as_value(s, x), as_value(s, y), rule);
}
static graph_size_t rule_agree(graph_sizer_t* sizer, graph_size_t x, graph_size_t y, const char* rule) {
  sizes_t* s = (sizes_t*)sizer;
  return as_size(sizes_agree(s, as_value(s, x), as_value(s, y), rule));
}
static void rule_fit(graph_sizer_t* sizer, graph_size_t x, graph_size_t y, const char* rule) {
  sizes_t* s = (sizes_t*)sizer;
  sizes_fit(s, as_value(s, x), as_value(s, y), rule);
}
static const graph_symbols_t symbols = {rule_dim, rule_operand, rule_binary, rule_require, rule_agree, rule_fit};

static void visit_results(sizes_t* s, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* result = ir_result(op, i);
    bool involved = has_sizes(result);
    for (uint32_t j = 0; j < op->operand_count; ++j) involved |= has_sizes(ir_operand(op, j));
    if (!involved || ir_op_dialect(op) != IR_DIALECT_GRAPH) continue;
    graph_shape_t shape;
    s->sizer.op = op;
    s->sizer.result = i;
    bool known = graph_shape(&s->sizer, &shape) && (shape.rank >= 0 || !has_sizes(result));
    s->failed |= s->sizer.failed;
    for (int32_t d = 0; known && d < shape.rank; ++d) {
      if (result->type->dims[d] == IR_DYNAMIC) continue;
      sizes_agree(s, as_value(s, shape.dims[d]), sizes_constant(s, result->type->dims[d]),
                  "the result must have the size of its type");
    }
    if (!has_sizes(result)) continue;
    if (!known && !s->failed) {
      ir_op_error(s->ctx, op, "has a result of type %s, whose run-time sizes are not known",
                  ir_type_str(s->ctx, result->type));
    }
    s->failed |= !known;
    ir_value_t** sizes = new_list(s, result);
    for (int32_t d = 0, next = 0; d < result->type->rank; ++d) {
      if (result->type->dims[d] == IR_DYNAMIC) sizes[next++] = known ? as_value(s, shape.dims[d]) : NULL;
    }
  }
}

// A broadcast of what has the result's sizes already.
static void drop_broadcast(ir_op_t* op) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t *x = ir_operand(op, 0), *result = ir_result(op, 0);
  if (!has_sizes(result) || !sizes_same_shape(x, result)) return;
  uint32_t count = graph_get_dims(op, dims);
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i] != i) return;
  }
  ir_value_replace(result, x);
  ir_op_erase(op);
}

static void visit_block(sizes_t* s, ir_block_t* block) {
  IR_FOR_OPS_SAFE(op, block) {
    if (s->failed) return;
    s->op = op;
    s->b = ir_builder_before(s->ctx, op);
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      ir_value_t* operand = ir_operand(op, i);
      if (operand && represent(operand) != operand) ir_op_set_operand(op, i, represent(operand));
    }
    if (visit_index(s, op)) continue;
    if (ir_is(op, GRAPH_WHILE)) {
      visit_while(s, op);
    } else if (ir_is(op, GRAPH_IF)) {
      visit_if(s, op);
    } else if (ir_is(op, GRAPH_ASSERT)) {
      visit_assert(s, op);
    } else if (ir_is(op, GRAPH_CALL_IMPORT)) {
      size_imported(s, op);
    } else {
      visit_results(s, op);
      if (ir_is(op, GRAPH_BROADCAST) && !s->failed) drop_broadcast(op);
    }
  }
}

static bool block_has_sizes(const ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (has_sizes(block->args[i])) return true;
  }
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (has_sizes(&op->results[i])) return true;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first && block_has_sizes(op->regions[r].first)) return true;
    }
  }
  return false;
}

static void clear_block(ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first) clear_block(op->regions[r].first);
    }
  }
}

void sizes_clear(ir_op_t* func) { clear_block(func->regions[0].first); }

bool sizes_resolve(ir_context_t* ctx, ir_op_t* func) {
  ir_block_t* entry = func->regions[0].first;
  clear_block(entry);
  if (!block_has_sizes(entry)) return true;
  sizes_t s = {.sizer = {.ctx = ctx, .symbols = &symbols},
               .ctx = ctx,
               .entry = entry,
               .op = func,
               .b = ir_builder_before(ctx, entry->first)};
  size_arguments(&s, entry);
  visit_block(&s, entry);
  return !s.failed;
}

// Positions and bytes are counted in 64 bits, wherever a value is.
static bool check_counts(ir_context_t* ctx, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = op->results[i].type;
    if (!ir_type_is_tensor(type) || ir_type_count(type) <= INT64_MAX / 64) continue;
    return ir_op_error(ctx, op, "has a result of type %s, which has more elements than can be counted",
                       ir_type_str(ctx, type));
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        if (!check_counts(ctx, inner)) return false;
      }
    }
  }
  return true;
}

pass_result_t pass_sizes(ir_op_t* module, ir_context_t* ctx) {
  if (!check_counts(ctx, module)) return PASS_FAILED;
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !func->regions[0].first) continue;
    bool ok = sizes_resolve(ctx, func);
    sizes_clear(func);
    if (!ok) return PASS_FAILED;
  }
  return PASS_CHANGED;
}
