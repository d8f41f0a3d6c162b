// See known.h.
#include "compiler/known.h"

#include "base/memory.h"
#include "dialects/graph.h"

// A constant may have as many elements as what it comes from has, in at most so many times the bits: f32 from i8.
// Operands of products that are kept in less than a byte stay so, as reading them is what products of few rows wait
// for.
enum { MOST_GROWTH = 4, MOST_PACKED_GROWTH = 2 };

static void list_add(known_ops_t* list, ir_op_t* op) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? list->capacity * 2 : 256;
    list->items = memory_resize(list->items, sizeof(*list->items) * list->capacity);
  }
  list->items[list->count++] = op;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is known
//===----------------------------------------------------------------------------------------------------------------===

// At ir_op_t.data while constants are looked for.
typedef struct known_t {
  uint32_t visit;
  bool is_absorbed;  // goes with its users, which are computed
} known_t;

static bool is_static_tensor(const ir_type_t* type) { return ir_type_is_tensor(type) && ir_type_is_static(type); }

bool known_is_constant(void* user, const ir_op_t* op) {
  return ir_is(op, GRAPH_CONSTANT) && ir_type_is_tensor(op->results[0].type);
}

static bool is_leaf(const known_leaves_t* leaves, const ir_op_t* op) { return leaves->are(leaves->user, op); }

static bool is_known(const known_leaves_t* leaves, const ir_value_t* value) {
  return value->def && is_static_tensor(value->type) && (value->def->data || is_leaf(leaves, value->def));
}

// Regions that use values from outside.
static bool captures(const ir_op_t* op, const ir_op_t* root) {
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        for (uint32_t i = 0; i < inner->operand_count; ++i) {
          const ir_value_t* value = ir_operand(inner, i);
          const ir_op_t* holder = value->def ? value->def : value->block->parent->parent;
          if (holder != root && !ir_op_is_inside(holder, root)) return true;
        }
        if (captures(inner, root)) return true;
      }
    }
  }
  return false;
}

// Large values of nearly nothing (a row of 2^31 numbers) are no work for a compiler, however little comes of them.
static bool grows_large(const ir_op_t* op) {
  const int64_t large = (int64_t)1 << 26;  // elements
  int64_t from = 0, to = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) from += ir_type_count(ir_operand(op, i)->type);
  for (uint32_t i = 0; i < op->result_count; ++i) to += ir_type_count(op->results[i].type);
  return to > large && to / MOST_GROWTH > from;
}

static bool can_compute(const known_leaves_t* leaves, const ir_op_t* op) {
  bool pure = ir_op_dialect(op) == IR_DIALECT_GRAPH && ir_has_trait(op, IR_TRAIT_PURE);
  if (!pure || ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_EMPTY) || captures(op, op)) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!is_static_tensor(op->results[i].type)) return false;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_known(leaves, ir_operand(op, i))) return false;
  }
  return op->result_count > 0 && !grows_large(op);
}

typedef struct search_t {
  ir_context_t* ctx;
  const known_leaves_t* leaves;
  known_ops_t known, roots;
} search_t;

// Ops that compute with what is known only, operands first.
static void find_known(search_t* s, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        if (!can_compute(s->leaves, op)) {
          find_known(s, op);
          continue;
        }
        op->data = ARENA_NEW(ir_context_arena(s->ctx), known_t);
        list_add(&s->known, op);
      }
    }
  }
}

static void clear_data(ir_op_t* op) {
  op->data = NULL;
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) clear_data(inner); }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// What is worth storing
//===----------------------------------------------------------------------------------------------------------------===

typedef struct amount_t {
  int64_t elements, bits;
  int64_t packed;  // of `bits`: what is kept in less than a byte
} amount_t;

static void add_amount(amount_t* sum, const ir_type_t* type) {
  bool packed = ir_type_is_packed(type->element);
  int64_t count = ir_type_count(type), width = packed ? type->element->width : 8 * ir_type_bytes(type->element);
  sum->elements += count;
  sum->bits += count * width;
  if (packed) sum->packed += count * width;
}

static bool feeds_products(const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    IR_FOR_USES(use, &op->results[i]) {
      if (!ir_is(use->owner, GRAPH_CONTRACT) && graph_scalar_fn(use->owner) != SCALAR_mul) return false;
    }
  }
  return true;
}

// Parameters lie packed in their archives, where they stay.
static bool has_constants_only(const search_t* s) { return s->leaves->are == known_is_constant; }

// The leaves that an op comes from, each once; `seen` keeps those of this visit.
static void add_sources(const search_t* s, const ir_op_t* op, uint32_t visit, known_ops_t* seen, amount_t* sum) {
  known_t* known = op->data;
  if (known->visit == visit) return;
  known->visit = visit;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_op_t* source = ir_operand(op, i)->def;
    bool packed = has_constants_only(s) && ir_type_is_packed(source->results[0].type->element);
    if (!is_leaf(s->leaves, source) && !packed) {
      add_sources(s, source, visit, seen, sum);
      continue;
    }
    bool again = ir_is(source, GRAPH_CONSTANT) && graph_get_value(source)->splat;
    for (uint32_t j = 0; !again && j < seen->count; ++j) again = seen->items[j] == source;
    if (again) continue;
    list_add(seen, source);
    add_amount(sum, source->results[0].type);
  }
}

static bool is_worth_storing(const search_t* s, const ir_op_t* op, uint32_t visit) {
  amount_t from = {0}, to = {0};
  known_ops_t seen = {0};
  add_sources(s, op, visit, &seen, &from);
  known_ops_finish(&seen);
  for (uint32_t i = 0; i < op->result_count; ++i) add_amount(&to, op->results[i].type);
  if (from.packed && feeds_products(op) && to.bits / MOST_PACKED_GROWTH > from.packed) return false;
  // Bytes may become two numbers of 4 bits each.
  bool more = to.elements > from.elements && (!has_constants_only(s) || to.bits > from.bits);
  return to.elements && !more && to.bits / MOST_GROWTH <= from.bits;
}

static bool is_needed(const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    IR_FOR_USES(use, &op->results[i]) {
      const ir_op_t* user = use->owner;
      if (!user->data || !((known_t*)user->data)->is_absorbed) return true;
    }
  }
  return false;
}

// Backwards: an op whose users are all computed goes with them.
static void choose_roots(search_t* s) {
  for (uint32_t i = s->known.count; i-- > 0;) {
    ir_op_t* op = s->known.items[i];
    bool needed = is_needed(op), stored = needed && is_worth_storing(s, op, i + 1);
    ((known_t*)op->data)->is_absorbed = !needed || stored;
    if (stored) list_add(&s->roots, op);
  }
}

known_ops_t known_find_roots(ir_context_t* ctx, ir_op_t* module, const known_leaves_t* leaves) {
  search_t s = {.ctx = ctx, .leaves = leaves};
  clear_data(module);
  find_known(&s, module);
  choose_roots(&s);
  clear_data(module);
  known_ops_finish(&s.known);
  return s.roots;
}

void known_ops_finish(known_ops_t* ops) {
  memory_free(ops->items);
  *ops = (known_ops_t){0};
}

void known_copy(ir_context_t* ctx, ir_block_t* block, ir_value_map_t* map, const ir_op_t* op) {
  if (ir_value_map_get(map, &op->results[0])) return;
  for (uint32_t i = 0; i < op->operand_count; ++i) known_copy(ctx, block, map, ir_operand(op, i)->def);
  ir_op_t* copy = ir_op_clone(ctx, op, map);
  copy->data = NULL;
  ir_block_append(block, copy);
}
