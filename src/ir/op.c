// Operations, blocks, regions, values and their uses.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/context.h"

//===----------------------------------------------------------------------------------------------------------------===
// Uses
//===----------------------------------------------------------------------------------------------------------------===

static void use_link(ir_use_t* use, ir_value_t* value) {
  use->value = value;
  if (!value) return;
  use->next = value->uses;
  use->link = &value->uses;
  if (use->next) use->next->link = &use->next;
  value->uses = use;
}

static void use_unlink(ir_use_t* use) {
  if (!use->value) return;
  *use->link = use->next;
  if (use->next) use->next->link = use->link;
  use->value = NULL;
}

void ir_op_set_operand(ir_op_t* op, uint32_t i, ir_value_t* value) {
  assert(i < op->operand_count);
  use_unlink(&op->operands[i]);
  use_link(&op->operands[i], value);
}

void ir_op_set_operands(ir_context_t* ctx, ir_op_t* op, ir_value_t* const* values, uint32_t count) {
  ir_value_t** copy = ARENA_ARRAY(&ctx->arena, ir_value_t*, count + 1);  // `values` may be the op's own
  for (uint32_t i = 0; i < count; ++i) copy[i] = values[i];
  for (uint32_t i = 0; i < op->operand_count; ++i) use_unlink(&op->operands[i]);
  if (count > op->operand_capacity) {
    op->operands = ARENA_ARRAY(&ctx->arena, ir_use_t, count);
    op->operand_capacity = count;
  }
  op->operand_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    op->operands[i].owner = op;
    use_link(&op->operands[i], copy[i]);
  }
}

void ir_value_replace_except(ir_value_t* value, ir_value_t* with, const ir_op_t* except) {
  if (value == with) return;
  for (ir_use_t *use = value->uses, *next; use; use = next) {
    next = use->next;
    if (use->owner == except) continue;
    use_unlink(use);
    use_link(use, with);
  }
}

void ir_value_replace(ir_value_t* value, ir_value_t* with) { ir_value_replace_except(value, with, NULL); }

//===----------------------------------------------------------------------------------------------------------------===
// Making
//===----------------------------------------------------------------------------------------------------------------===

static const ir_op_info_t unregistered = {
    "unregistered", IR_CODE_UNREGISTERED, IR_VARIADIC, IR_VARIADIC, IR_VARIADIC, 0, NULL, NULL, NULL, NULL};

static void init_successors(arena_t* arena, ir_op_t* op, const ir_op_state_t* state) {
  op->successor_count = state->successor_count;
  if (!state->successor_count) return;
  op->successors = arena_copy(arena, state->successors, sizeof(ir_block_t*) * state->successor_count);
  op->successor_operand_counts = ARENA_ARRAY(arena, uint32_t, state->successor_count);
  if (state->successor_operand_counts) {
    memcpy(op->successor_operand_counts, state->successor_operand_counts, sizeof(uint32_t) * state->successor_count);
  }
}

ir_op_t* ir_op_create(ir_context_t* ctx, const ir_op_state_t* state) {
  arena_t* arena = &ctx->arena;
  ir_op_t* op = ARENA_NEW(arena, ir_op_t);
  const ir_op_info_t* info = state->info ? state->info : ir_context_find_op(ctx, state->name);
  op->info = info ? info : &unregistered;
  op->name = info ? info->name : ir_intern_cstr(ctx, state->name);
  op->loc = state->loc ? state->loc : ctx->unknown;
  op->operand_count = op->operand_capacity = state->operand_count;
  if (state->operand_count) op->operands = ARENA_ARRAY(arena, ir_use_t, state->operand_count);
  for (uint32_t i = 0; i < state->operand_count; ++i) {
    op->operands[i].owner = op;
    use_link(&op->operands[i], state->operands[i]);
  }
  op->result_count = state->result_count;
  if (state->result_count) op->results = ARENA_ARRAY(arena, ir_value_t, state->result_count);
  for (uint32_t i = 0; i < state->result_count; ++i) {
    op->results[i] = (ir_value_t){.type = state->result_types[i], .def = op, .index = i};
  }
  op->region_count = state->region_count;
  if (state->region_count) op->regions = ARENA_ARRAY(arena, ir_region_t, state->region_count);
  for (uint32_t i = 0; i < state->region_count; ++i) op->regions[i].parent = op;
  init_successors(arena, op, state);
  op->attr_count = state->attr_count;
  if (state->attr_count) op->attrs = arena_copy(arena, state->attrs, sizeof(*op->attrs) * state->attr_count);
  for (uint32_t i = 0; i < state->attr_count; ++i) op->attrs[i].name = ir_intern_cstr(ctx, op->attrs[i].name);
  return op;
}

ir_op_t* ir_module_create(ir_context_t* ctx, const ir_loc_t* loc) {
  ir_op_state_t state = {.info = ir_context_op(ctx, IR_CODE(IR_DIALECT_BUILTIN, 0)), .loc = loc, .region_count = 1};
  ir_op_t* module = ir_op_create(ctx, &state);
  ir_region_append(&module->regions[0], ir_block_create(ctx));
  return module;
}

ir_block_t* ir_module_body(ir_op_t* module) { return module->regions[0].first; }

ir_op_t* ir_func_create(ir_context_t* ctx, ir_block_t* block, const ir_loc_t* loc, const char* name,
                        const ir_type_t* type) {
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(ctx, name)}, {"function_type", ir_attr_type(ctx, type)}};
  ir_op_state_t state = {.name = "func.func", .loc = loc, .attrs = attrs, .attr_count = 2, .region_count = 1};
  ir_op_t* func = ir_op_create(ctx, &state);
  ir_block_t* entry = ir_block_create(ctx);
  ir_region_append(&func->regions[0], entry);
  for (uint32_t i = 0; i < type->input_count; ++i) ir_block_add_arg(ctx, entry, type->inputs[i]);
  if (block) ir_block_append(block, func);
  return func;
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and regions
//===----------------------------------------------------------------------------------------------------------------===

ir_block_t* ir_block_create(ir_context_t* ctx) { return ARENA_NEW(&ctx->arena, ir_block_t); }

void ir_region_insert_before(ir_region_t* region, ir_block_t* block, ir_block_t* before) {
  assert(!block->parent);
  block->parent = region;
  block->next = before;
  block->prev = before ? before->prev : region->last;
  *(block->prev ? &block->prev->next : &region->first) = block;
  *(before ? &before->prev : &region->last) = block;
}

void ir_region_append(ir_region_t* region, ir_block_t* block) { ir_region_insert_before(region, block, NULL); }

ir_value_t* ir_block_add_arg(ir_context_t* ctx, ir_block_t* block, const ir_type_t* type) {
  if (block->arg_count == block->arg_capacity) {
    uint32_t capacity = block->arg_capacity ? block->arg_capacity * 2 : 4;
    ir_value_t** args = ARENA_ARRAY(&ctx->arena, ir_value_t*, capacity);
    if (block->arg_count) memcpy(args, block->args, sizeof(*args) * block->arg_count);
    block->args = args;
    block->arg_capacity = capacity;
  }
  ir_value_t* arg = ARENA_NEW(&ctx->arena, ir_value_t);
  *arg = (ir_value_t){.type = type, .block = block, .index = block->arg_count};
  block->args[block->arg_count++] = arg;
  return arg;
}

void ir_block_insert_before(ir_block_t* block, ir_op_t* op, ir_op_t* before) {
  assert(!op->parent);
  op->parent = block;
  op->next = before;
  op->prev = before ? before->prev : block->last;
  *(op->prev ? &op->prev->next : &block->first) = op;
  *(before ? &before->prev : &block->last) = op;
}

void ir_block_append(ir_block_t* block, ir_op_t* op) { ir_block_insert_before(block, op, NULL); }

void ir_op_remove(ir_op_t* op) {
  ir_block_t* block = op->parent;
  if (!block) return;
  *(op->prev ? &op->prev->next : &block->first) = op->next;
  *(op->next ? &op->next->prev : &block->last) = op->prev;
  op->parent = NULL;
  op->prev = op->next = NULL;
}

static void drop_operands(ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) use_unlink(&op->operands[i]);
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) drop_operands(inner); }
  }
}

void ir_op_erase(ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) assert(!op->results[i].uses && "erased op still has uses");
  drop_operands(op);
  ir_op_remove(op);
}

void ir_op_move_before(ir_op_t* op, ir_op_t* before) {
  ir_op_remove(op);
  ir_block_insert_before(before->parent, op, before);
}

bool ir_op_is_before(const ir_op_t* a, const ir_op_t* b) {
  assert(a->parent == b->parent);
  for (const ir_op_t* op = a->next; op; op = op->next) {
    if (op == b) return true;
  }
  return false;
}

ir_op_t* ir_op_parent(const ir_op_t* op) {
  return op->parent && op->parent->parent ? op->parent->parent->parent : NULL;
}

bool ir_op_is_inside(const ir_op_t* op, const ir_op_t* ancestor) {
  while (op && op != ancestor) op = ir_op_parent(op);
  return op != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes of ops
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* ir_op_attr(const ir_op_t* op, const char* name) {
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    if (op->attrs[i].name == name || strcmp(op->attrs[i].name, name) == 0) return op->attrs[i].value;
  }
  return NULL;
}

void ir_op_set_attr(ir_context_t* ctx, ir_op_t* op, const char* name, const ir_attr_t* value) {
  ir_name_t key = ir_intern_cstr(ctx, name);
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    if (op->attrs[i].name == key) {
      op->attrs[i].value = value;
      return;
    }
  }
  ir_named_attr_t* attrs = ARENA_ARRAY(&ctx->arena, ir_named_attr_t, op->attr_count + 1);
  if (op->attr_count) memcpy(attrs, op->attrs, sizeof(*attrs) * op->attr_count);
  attrs[op->attr_count++] = (ir_named_attr_t){key, value};
  op->attrs = attrs;
}

void ir_op_remove_attr(ir_op_t* op, const char* name) {
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    if (strcmp(op->attrs[i].name, name)) continue;
    memmove(&op->attrs[i], &op->attrs[i + 1], sizeof(*op->attrs) * (op->attr_count - i - 1));
    --op->attr_count;
    return;
  }
}

int64_t ir_op_int(const ir_op_t* op, const char* name, int64_t absent) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  return attr && attr->kind == IR_ATTR_INTEGER ? attr->integer : absent;
}
const char* ir_op_string(const ir_op_t* op, const char* name, const char* absent) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  return attr && (attr->kind == IR_ATTR_STRING || attr->kind == IR_ATTR_SYMBOL) ? attr->text : absent;
}
bool ir_op_flag(const ir_op_t* op, const char* name) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  return attr && (attr->kind == IR_ATTR_UNIT || (attr->kind == IR_ATTR_INTEGER && attr->integer));
}
uint32_t ir_op_ints(const ir_op_t* op, const char* name, int64_t* values, uint32_t capacity) {
  return ir_attr_ints(ir_op_attr(op, name), values, capacity);
}

ir_op_t* ir_symbol_lookup(ir_op_t* table, const char* name) {
  for (uint32_t r = 0; r < table->region_count; ++r) {
    IR_FOR_BLOCKS(block, &table->regions[r]) {
      IR_FOR_OPS(op, block) {
        const char* symbol = ir_op_string(op, "sym_name", NULL);
        if (symbol && strcmp(symbol, name) == 0) return op;
      }
    }
  }
  return NULL;
}

static uint64_t symbol_hash(const void* op) {
  const char* name = ir_op_string(op, "sym_name", "");
  return ir_hash_bytes(name, strlen(name));
}

static bool symbol_equal(const void* op, const void* name) {
  return strcmp(ir_op_string(op, "sym_name", ""), name) == 0;
}

static void note_symbols(ir_context_t* ctx, ir_op_t* table) {
  ir_set_finish(&ctx->symbols);
  ctx->symbol_table = table;
  for (uint32_t r = 0; r < table->region_count; ++r) {
    IR_FOR_BLOCKS(block, &table->regions[r]) {
      IR_FOR_OPS(op, block) {
        const char* name = ir_op_string(op, "sym_name", NULL);
        if (!name || ir_set_find(&ctx->symbols, symbol_hash(op), name, symbol_equal)) continue;
        ir_set_insert(&ctx->symbols, symbol_hash(op), op, symbol_hash);
      }
    }
  }
}

// Ops live as long as the context. One that was erased or renamed since is not found, or not in the table.
ir_op_t* ir_symbol_find(ir_context_t* ctx, ir_op_t* table, const char* name) {
  uint64_t hash = ir_hash_bytes(name, strlen(name));
  for (int again = 0; again < 2; ++again) {
    ir_op_t* op = ctx->symbol_table == table ? ir_set_find(&ctx->symbols, hash, name, symbol_equal) : NULL;
    if (op && ir_op_parent(op) == table) return op;
    if (!again) note_symbols(ctx, table);
  }
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Cloning
//===----------------------------------------------------------------------------------------------------------------===

struct ir_value_map_t {
  arena_t* arena;
  size_t capacity, count;
  const void** keys;  // values and blocks
  void** targets;
};

ir_value_map_t* ir_value_map_create(ir_context_t* ctx) {
  ir_value_map_t* map = ARENA_NEW(&ctx->arena, ir_value_map_t);
  map->arena = &ctx->arena;
  return map;
}

static size_t map_slot(const ir_value_map_t* map, const void* key) {
  size_t i = ir_hash_mix(0, (uintptr_t)key) & (map->capacity - 1);
  while (map->keys[i] && map->keys[i] != key) i = (i + 1) & (map->capacity - 1);
  return i;
}

static void map_set(ir_value_map_t* map, const void* key, void* target) {
  if ((map->count + 1) * 2 > map->capacity) {
    ir_value_map_t old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 32;
    map->keys = ARENA_ARRAY(map->arena, const void*, map->capacity);
    map->targets = ARENA_ARRAY(map->arena, void*, map->capacity);
    for (size_t i = 0; i < old.capacity; ++i) {
      if (!old.keys[i]) continue;
      size_t slot = map_slot(map, old.keys[i]);
      map->keys[slot] = old.keys[i];
      map->targets[slot] = old.targets[i];
    }
  }
  size_t slot = map_slot(map, key);
  if (!map->keys[slot]) ++map->count;
  map->keys[slot] = key;
  map->targets[slot] = target;
}

static void* map_get(const ir_value_map_t* map, const void* key) {
  return map->capacity ? map->targets[map_slot(map, key)] : NULL;
}

void ir_value_map_set(ir_value_map_t* map, const ir_value_t* from, ir_value_t* to) { map_set(map, from, to); }
ir_value_t* ir_value_map_get(const ir_value_map_t* map, const ir_value_t* from) { return map_get(map, from); }

static void clone_region(ir_context_t* ctx, const ir_region_t* from, ir_region_t* to, ir_value_map_t* map) {
  IR_FOR_BLOCKS(block, from) {
    ir_block_t* copy = ir_block_create(ctx);
    copy->label = block->label;
    ir_region_append(to, copy);
    map_set(map, block, copy);
    for (uint32_t i = 0; i < block->arg_count; ++i) {
      ir_value_t* arg = ir_block_add_arg(ctx, copy, block->args[i]->type);
      arg->name = block->args[i]->name;
      map_set(map, block->args[i], arg);
    }
  }
  IR_FOR_BLOCKS(block, from) {
    ir_block_t* copy = map_get(map, block);
    IR_FOR_OPS(op, block) ir_block_append(copy, ir_op_clone(ctx, op, map));
  }
  // Operands that were defined later in the region (graph regions, loops between blocks) are mapped now.
  IR_FOR_BLOCKS(block, to) {
    IR_FOR_OPS(op, block) {
      for (uint32_t i = 0; i < op->operand_count; ++i) {
        ir_value_t* mapped = map_get(map, ir_operand(op, i));
        if (mapped) ir_op_set_operand(op, i, mapped);
      }
    }
  }
}

ir_op_t* ir_op_clone(ir_context_t* ctx, const ir_op_t* op, ir_value_map_t* map) {
  if (!map) map = ir_value_map_create(ctx);
  arena_t* arena = &ctx->arena;
  ir_value_t** operands = ARENA_ARRAY(arena, ir_value_t*, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* mapped = map_get(map, ir_operand(op, i));
    operands[i] = mapped ? mapped : ir_operand(op, i);
  }
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) types[i] = op->results[i].type;
  ir_block_t** successors = ARENA_ARRAY(arena, ir_block_t*, op->successor_count + 1);
  for (uint32_t i = 0; i < op->successor_count; ++i) {
    ir_block_t* mapped = map_get(map, op->successors[i]);
    successors[i] = mapped ? mapped : op->successors[i];
  }
  ir_op_state_t state = {.info = op->info->code == IR_CODE_UNREGISTERED ? NULL : op->info,
                         .name = op->name,
                         .loc = op->loc,
                         .operands = operands,
                         .operand_count = op->operand_count,
                         .result_types = types,
                         .result_count = op->result_count,
                         .attrs = op->attrs,
                         .attr_count = op->attr_count,
                         .region_count = op->region_count,
                         .successors = successors,
                         .successor_operand_counts = op->successor_operand_counts,
                         .successor_count = op->successor_count};
  ir_op_t* copy = ir_op_create(ctx, &state);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    copy->results[i].name = op->results[i].name;
    map_set(map, &op->results[i], &copy->results[i]);
  }
  for (uint32_t i = 0; i < op->region_count; ++i) clone_region(ctx, &op->regions[i], &copy->regions[i], map);
  return copy;
}
