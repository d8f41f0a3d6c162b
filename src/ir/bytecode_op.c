// The IR section of bytecode: ops, blocks and regions. Values are numbered within the innermost isolated region, in the
// order of their definitions, and may be used before.
#include <string.h>

#include "ir/bytecode_state.h"
#include "ir/parse_state.h"

// Values of one isolated region and of those inside it that are not isolated.
typedef struct scope_t {
  ir_value_t** values;  // NULL: not seen yet; one without type: used, but not defined yet
  size_t count, capacity;
} scope_t;

// One region being read.
typedef struct place_t {
  scope_t* scope;
  size_t next;  // number of the next value that it defines
  ir_block_t** blocks;
  size_t block_count;
  ir_op_t* owner;  // NULL: the module around all
} place_t;

static bool read_region(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, ir_region_t* region, ir_op_t* owner);

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static bool reserve_values(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, uint64_t count) {
  if (count > b->value_budget) return bytecode_fail(b, c, "%llu values are announced", (unsigned long long)count);
  b->value_budget -= count;
  if (scope->count + count > scope->capacity) {
    size_t capacity = 2 * (scope->count + count) + 16;
    ir_value_t** values = ARENA_ARRAY(&b->scratch, ir_value_t*, capacity);
    if (scope->count) memcpy(values, scope->values, sizeof(*values) * scope->count);
    scope->values = values;
    scope->capacity = capacity;
  }
  if (count) memset(&scope->values[scope->count], 0, sizeof(*scope->values) * count);
  scope->count += count;
  return true;
}

static bool is_open(const ir_value_t* value) { return value && !value->type; }

static bool define(bytecode_t* b, bytecode_bytes_t* c, place_t* place, ir_value_t* value) {
  if (!place->owner) return true;  // at the top nothing is used
  if (place->next >= place->scope->count) return bytecode_fail(b, c, "a region defines more values than announced");
  ir_value_t** slot = &place->scope->values[place->next++];
  if (*slot) ir_value_replace(*slot, value);
  *slot = value;
  return true;
}

static ir_value_t* read_operand(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope) {
  uint64_t index;
  if (!bytecode_index(b, c, scope->count, &index, "value")) return NULL;
  ir_value_t** slot = &scope->values[index];
  if (!*slot) *slot = ARENA_NEW(ir_context_arena(b->ctx), ir_value_t);
  return *slot;
}

// The values that a region has defined are not seen behind it.
static bool end_values(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, size_t first) {
  for (size_t i = first; i < scope->count; ++i) {
    if (is_open(scope->values[i])) return bytecode_fail(b, c, "value %zu is used, but defined nowhere", i);
  }
  scope->count = first;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts of ops
//===----------------------------------------------------------------------------------------------------------------===

// Orders of uses say nothing here.
static bool skip_use_lists(bytecode_t* b, bytecode_bytes_t* c, uint32_t value_count) {
  uint64_t lists = 1, ignored, count;
  bool pairs;
  if (value_count > 1 && !bytecode_count(b, c, &lists, "orders of uses")) return false;
  for (uint64_t i = 0; i < lists; ++i) {
    if (value_count > 1 && !bytecode_varint(b, c, &ignored)) return false;
    if (!bytecode_flagged(b, c, &count, &pairs)) return false;
    for (uint64_t k = 0; k < count; ++k) {
      if (!bytecode_varint(b, c, &ignored)) return false;
    }
  }
  return true;
}

// What text leaves out: lists of dictionaries that are all empty, flags of which none is set.
static bool says_nothing(const ir_named_attr_t* attr) {
  if (attr->value->kind == IR_ATTR_OPAQUE && attr->value->body && strcmp(attr->value->body, "none") == 0) {
    return strcmp(attr->value->text, "arith.fastmath") == 0 || strcmp(attr->value->text, "arith.overflow") == 0;
  }
  if (strcmp(attr->name, "arg_attrs") != 0 && strcmp(attr->name, "res_attrs") != 0) return false;
  if (attr->value->kind != IR_ATTR_ARRAY) return false;
  for (uint32_t i = 0; i < attr->value->count; ++i) {
    if (attr->value->items[i]->kind != IR_ATTR_DICT || attr->value->items[i]->count) return false;
  }
  return true;
}

static uint32_t drop_empty(ir_named_attr_t* attrs, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!says_nothing(&attrs[i])) attrs[kept++] = attrs[i];
  }
  return kept;
}

static bool read_attrs(bytecode_t* b, bytecode_bytes_t* c, uint8_t mask, const bytecode_name_t* name,
                       ir_op_state_t* state) {
  ir_named_attr_t* attrs = NULL;
  uint32_t count = 0;
  if (mask & BYTECODE_OP_ATTRS) {
    bytecode_bytes_t start = *c;
    const ir_attr_t* dict = bytecode_attr(b, c);
    if (!dict) return false;
    if (dict->kind != IR_ATTR_DICT) return bytecode_fail(b, &start, "the attributes of an op are no dictionary");
    attrs = ARENA_ARRAY(&b->scratch, ir_named_attr_t, dict->count + 1);
    count = dict->count;
    if (count) memcpy(attrs, dict->entries, sizeof(*attrs) * count);
  }
  if (mask & BYTECODE_OP_PROPERTIES) {
    if (b->version < BYTECODE_HAS_PROPERTIES) return bytecode_fail(b, c, "an op has properties before version 5");
    if (!bytecode_properties(b, c, name, &attrs, &count)) return false;
  }
  if (!ir_unique_names(attrs, count)) return bytecode_fail(b, c, "an attribute of '%s' is given twice", name->name);
  if (!vhlo_convert(b, name->name, &attrs, &count)) return false;
  ir_modernize_lists(b->ctx, state->name, attrs, count);
  state->attrs = attrs;
  state->attr_count = drop_empty(attrs, count);
  return true;
}

static bool read_results(bytecode_t* b, bytecode_bytes_t* c, ir_op_state_t* state) {
  const ir_type_t** types;
  if (!bytecode_type_list(b, c, &types, &state->result_count)) return false;
  if (state->result_count > IR_PARSE_MAX_RESULTS) return bytecode_fail(b, c, "an op has too many results");
  state->result_types = types;
  return true;
}

static bool read_operands(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, ir_op_state_t* state) {
  uint64_t count;
  if (!bytecode_count(b, c, &count, "operands")) return false;
  ir_value_t** values = ARENA_ARRAY(&b->scratch, ir_value_t*, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    if (!(values[i] = read_operand(b, c, scope))) return false;
  }
  state->operands = values;
  state->operand_count = (uint32_t)count;
  return true;
}

static bool read_successors(bytecode_t* b, bytecode_bytes_t* c, const place_t* place, ir_op_state_t* state) {
  uint64_t count, index;
  if (!bytecode_count(b, c, &count, "successors")) return false;
  ir_block_t** blocks = ARENA_ARRAY(&b->scratch, ir_block_t*, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    if (!bytecode_index(b, c, place->block_count, &index, "block")) return false;
    blocks[i] = place->blocks[index];
  }
  state->successors = blocks;
  state->successor_operand_counts = ARENA_ARRAY(&b->scratch, uint32_t, count + 1);
  state->successor_count = (uint32_t)count;
  return true;
}

static bool check_count(bytecode_t* b, const bytecode_bytes_t* c, const char* name, int want, uint32_t have,
                        const char* what) {
  return want < 0 || (uint32_t)want == have ||
         bytecode_fail(b, c, "'%s' op takes %d %s, got %u", name, want, what, have);
}

static bool check_counts(bytecode_t* b, const bytecode_bytes_t* c, const ir_op_state_t* state) {
  const ir_op_info_t* info = state->info;
  return !info || (check_count(b, c, state->name, info->operands, state->operand_count, "operands") &&
                   check_count(b, c, state->name, info->results, state->result_count, "results") &&
                   check_count(b, c, state->name, info->regions, state->region_count, "regions"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

typedef struct head_t {
  const bytecode_name_t* name;
  uint8_t mask;
  bool isolated;
} head_t;

static bool read_head(bytecode_t* b, bytecode_bytes_t* c, const place_t* place, head_t* head, ir_op_state_t* state) {
  uint64_t index, regions;
  if (!bytecode_index(b, c, b->name_count, &index, "op name") || !bytecode_byte(b, c, &head->mask)) return false;
  head->name = &b->names[index];
  bool in_func = place->owner && strcmp(place->owner->name, "func.func") == 0;
  state->name = vhlo_op_name(b, head->name->name, in_func);
  state->info = ir_context_find_op(b->ctx, state->name);
  uint8_t mask = head->mask;
  if (!(state->loc = bytecode_loc(b, c)) || !read_attrs(b, c, mask, head->name, state) ||
      ((mask & BYTECODE_OP_RESULTS) && !read_results(b, c, state)) ||
      ((mask & BYTECODE_OP_OPERANDS) && !read_operands(b, c, place->scope, state)) ||
      ((mask & BYTECODE_OP_SUCCESSORS) && !read_successors(b, c, place, state)) ||
      ((mask & BYTECODE_OP_USE_LISTS) && !skip_use_lists(b, c, state->result_count))) {
    return false;
  }
  if (mask & BYTECODE_OP_REGIONS) {
    bytecode_bytes_t start = *c;
    if (!bytecode_flagged(b, c, &regions, &head->isolated)) return false;
    if (regions > bytecode_left(c)) return bytecode_fail(b, &start, "an op has too many regions");
    state->region_count = (uint32_t)regions;
  }
  return check_counts(b, c, state);
}

static bool read_regions(bytecode_t* b, bytecode_bytes_t* c, const head_t* head, scope_t* scope, ir_op_t* op) {
  scope_t own = {0};
  bytecode_bytes_t section, *from = c;
  uint8_t id;
  if (!op->region_count) return true;
  if (head->isolated && b->version >= BYTECODE_HAS_LAZY_REGIONS) {
    if (!bytecode_section(b, c, &id, &section)) return false;
    if (id != BYTECODE_IR) return bytecode_fail(b, c, "a section with regions is expected");
    from = &section;
  }
  if (head->isolated) scope = &own;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    if (!read_region(b, from, scope, &op->regions[i], op)) return false;
  }
  return from == c || !bytecode_left(from) || bytecode_fail(b, from, "there is more behind an op's regions");
}

// Shardings say nothing to one device: a constraint is its operand, a mesh nothing.
static bool is_sharding(const ir_op_state_t* state) {
  if (state->region_count) return false;
  if (strcmp(state->name, "sdy.mesh") == 0) return state->result_count == 0;
  return strcmp(state->name, "sdy.sharding_constraint") == 0 && state->operand_count == 1 && state->result_count == 1;
}

static bool read_op(bytecode_t* b, bytecode_bytes_t* c, place_t* place, ir_block_t* block) {
  head_t head = {0};
  ir_op_state_t state = {0};
  if (!read_head(b, c, place, &head, &state)) return false;
  if (is_sharding(&state)) {
    b->shardy = true;
    return !state.result_count || define(b, c, place, state.operands[0]);
  }
  ir_op_t* op = ir_op_create(b->ctx, &state);
  ir_block_append(block, op);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!define(b, c, place, &op->results[i])) return false;
  }
  if (op->successor_count) ir_split_successor_operands(op);
  return read_regions(b, c, &head, place->scope, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and regions
//===----------------------------------------------------------------------------------------------------------------===

static bool read_args(bytecode_t* b, bytecode_bytes_t* c, place_t* place, ir_block_t* block) {
  uint64_t count, index;
  if (!bytecode_count(b, c, &count, "arguments")) return false;
  for (uint64_t i = 0; i < count; ++i) {
    bool has_loc = true;
    bool short_form = b->version >= BYTECODE_HAS_SHORT_ARGS;
    if (!(short_form ? bytecode_flagged(b, c, &index, &has_loc) : bytecode_varint(b, c, &index))) return false;
    const ir_type_t* type = bytecode_type_at(b, index);
    if (!type || (has_loc && !bytecode_loc(b, c))) return false;
    if (!define(b, c, place, ir_block_add_arg(b->ctx, block, type))) return false;
  }
  uint8_t has_orders = 0;
  if (b->version >= BYTECODE_HAS_USE_LISTS && !bytecode_byte(b, c, &has_orders)) return false;
  return !has_orders || skip_use_lists(b, c, (uint32_t)count);
}

static bool read_block(bytecode_t* b, bytecode_bytes_t* c, place_t* place, ir_block_t* block) {
  uint64_t ops;
  bool has_args;
  if (!bytecode_flagged(b, c, &ops, &has_args)) return false;
  if (has_args && !read_args(b, c, place, block)) return false;
  for (uint64_t i = 0; i < ops; ++i) {
    if (!read_op(b, c, place, block)) return false;
  }
  return true;
}

static bool read_blocks(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, ir_region_t* region, ir_op_t* owner) {
  uint64_t count, values;
  bytecode_bytes_t start = *c;
  if (!bytecode_count(b, c, &count, "blocks")) return false;
  if (!count) return true;
  if (count > BYTECODE_MAX_BLOCKS) {
    return bytecode_fail(b, &start, "a region has more than %d blocks", BYTECODE_MAX_BLOCKS);
  }
  place_t place = {scope, scope->count, ARENA_ARRAY(&b->scratch, ir_block_t*, count), count, owner};
  if (!bytecode_varint(b, c, &values) || !reserve_values(b, c, scope, values)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    place.blocks[i] = ir_block_create(b->ctx);
    ir_region_append(region, place.blocks[i]);
  }
  size_t first = place.next;
  for (uint64_t i = 0; i < count; ++i) {
    if (!read_block(b, c, &place, place.blocks[i])) return false;
  }
  return end_values(b, c, scope, first);
}

static bool read_region(bytecode_t* b, bytecode_bytes_t* c, scope_t* scope, ir_region_t* region, ir_op_t* owner) {
  if (b->depth >= BYTECODE_MAX_DEPTH) return bytecode_fail(b, c, "nested more than %d deep", BYTECODE_MAX_DEPTH);
  ++b->depth;
  bool ok = read_blocks(b, c, scope, region, owner);
  --b->depth;
  return ok;
}

ir_op_t* bytecode_module(bytecode_t* b) {
  bytecode_bytes_t c = b->sections[BYTECODE_IR];
  ir_op_t* module = ir_module_create(b->ctx, ir_loc_file(b->ctx, b->path, 1, 1));
  scope_t scope = {0};
  place_t place = {.scope = &scope};
  if (!read_block(b, &c, &place, ir_module_body(module))) return NULL;
  if (bytecode_left(&c)) {
    bytecode_fail(b, &c, "there is more behind the module");
    return NULL;
  }
  ir_op_t* only = ir_module_body(module)->first;
  if (!only || only->next || strcmp(only->name, "builtin.module") != 0) return module;
  ir_op_remove(only);
  return only;
}
