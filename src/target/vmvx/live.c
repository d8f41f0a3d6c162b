// Live ranges and registers.
#include "target/vmvx/live.h"

#include <string.h>

#include "dialects/kernel.h"

struct live_free_t {
  vmvx_register_row_t row;
  uint32_t* registers;
  uint32_t count, capacity;
};

static bool is_loop(const ir_op_t* op) { return ir_is(op, KERNEL_FOR) || ir_is(op, KERNEL_WHILE); }

static live_value_t* new_value(live_t* live, const ir_type_t* type) {
  live_value_t* value = ARENA_NEW(live->arena, live_value_t);
  value->type = type;
  value->reg = LIVE_NONE;
  return value;
}

//===----------------------------------------------------------------------------------------------------------------===
// Positions
//===----------------------------------------------------------------------------------------------------------------===

static void number_block(live_t* live, const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    live_op_t* at = ARENA_NEW(live->arena, live_op_t);
    op->data = at;
    at->start = live->position_count++;
    live->constant_capacity += ir_is(op, KERNEL_CONSTANT);
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first) number_block(live, op->regions[r].first);
    }
    at->end = op->region_count ? live->position_count++ : at->start;
  }
}

static void make_args(live_t* live, const ir_op_t* op) {
  for (uint32_t r = 0; r < op->region_count; ++r) {
    const ir_block_t* block = op->regions[r].first;
    uint32_t skip = ir_is(op, KERNEL_FOR) ? 1 : 0;
    for (uint32_t i = 0; block && i < block->arg_count; ++i) {
      ir_value_t* arg = block->args[i];
      bool is_result = ir_is(op, KERNEL_FOR) ? i >= 1 : r == 1;
      arg->data = is_result ? op->results[i - skip].data : new_value(live, arg->type);
      live_of(arg)->end = live_op(op)->end;
    }
  }
}

// Constants are equal when type and attribute are. They live everywhere: the code sets them once, at its start.
static live_value_t* find_constant(live_t* live, ir_op_t* op) {
  const ir_attr_t* attr = ir_op_attr(op, "value");
  const ir_type_t* type = op->results[0].type;
  uint32_t mask = live->table_size - 1, slot = (uint32_t)(((uintptr_t)attr ^ (uintptr_t)type * 31) >> 4) * 0x9e3779b9u;
  for (slot &= mask; live->table[slot]; slot = (slot + 1) & mask) {
    live_constant_t* found = &live->constants[live->table[slot] - 1];
    if (found->attr == attr && found->value->type == type) return found->value;
  }
  live_value_t* value = new_value(live, type);
  value->end = LIVE_NONE;
  live->constants[live->constant_count++] = (live_constant_t){attr, value};
  live->table[slot] = live->constant_count;
  return value;
}

// One live_value_t for each value.
static void make_values(live_t* live, const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      ir_value_t* result = &op->results[i];
      if (result->type->kind == IR_TYPE_MEMREF) {
        result->data = NULL;
        continue;
      }
      if (ir_is(op, KERNEL_CONSTANT)) {
        result->data = find_constant(live, op);
        continue;
      }
      result->data = new_value(live, result->type);
      live_of(result)->end = live_op(op)->end;
    }
    make_args(live, op);
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first) make_values(live, op->regions[r].first);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Ranges
//===----------------------------------------------------------------------------------------------------------------===

// A use at `position` in `op`: in a loop that the value comes into from outside it is needed until the loop ends.
static void use_value(const ir_op_t* op, const ir_value_t* value, uint32_t position) {
  live_value_t* live = live_of(value);
  if (!live || live->end == LIVE_NONE) return;
  const ir_block_t* home = value->def ? value->def->parent : value->block;
  for (const ir_block_t* block = op->parent; block != home; block = block->parent->parent->parent) {
    const ir_op_t* owner = block->parent->parent;
    if (is_loop(owner)) position = live_op(owner)->end;
  }
  if (position > live->end) live->end = position;
}

static void use_block(const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      bool bound = ir_is(op, KERNEL_FOR) && (i == 1 || i == 2);
      const ir_value_t* value = ir_operand(op, i);
      if (value->type->kind == IR_TYPE_MEMREF) continue;
      use_value(op, value, bound ? live_op(op)->end : live_op(op)->start);
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first) use_block(op->regions[r].first);
    }
  }
}

live_t* live_compute(arena_t* arena, const ir_op_t* func) {
  live_t* live = ARENA_NEW(arena, live_t);
  live->arena = arena;
  const ir_block_t* entry = func->regions[0].first;
  number_block(live, entry);
  live->constants = ARENA_ARRAY(arena, live_constant_t, live->constant_capacity + 1);
  live->table_size = 16;
  while (live->table_size < 2 * live->constant_capacity) live->table_size *= 2;
  live->table = ARENA_ARRAY(arena, uint32_t, live->table_size);
  live->dying = ARENA_ARRAY(arena, live_value_t*, live->position_count + 1);
  for (uint32_t i = 0; i < entry->arg_count; ++i) {  // like constants: set once, for all workgroups
    const ir_type_t* type = entry->args[i]->type;
    entry->args[i]->data = type->kind == IR_TYPE_MEMREF ? NULL : new_value(live, type);
    if (entry->args[i]->data) live_of(entry->args[i])->end = LIVE_NONE;
  }
  make_values(live, entry);
  use_block(entry);
  return live;
}

//===----------------------------------------------------------------------------------------------------------------===
// Registers
//===----------------------------------------------------------------------------------------------------------------===

static uint8_t float_type(ir_float_kind_t kind) {
  return (uint8_t)(kind == IR_TF32 ? VMVX_F32 : VMVX_FIRST_FLOAT + kind);
}

vmvx_register_row_t live_register_row(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  vmvx_register_row_t row = {.width = (uint8_t)scalar->width, .lanes = (uint16_t)ir_type_count(type)};
  if (type->kind == IR_TYPE_MEMREF) row.lanes = 1;
  if (scalar->kind == IR_TYPE_FLOAT) {
    row.type = float_type(scalar->float_kind);
    if (scalar->float_kind == IR_TF32) row.width = 32;
  } else if (scalar->width == 1) {
    row.type = VMVX_BOOL;
  } else {
    row.type = scalar->width <= 8    ? VMVX_I8
               : scalar->width <= 16 ? VMVX_I16
               : scalar->width <= 32 ? VMVX_I32
                                     : VMVX_I64;
  }
  return row;
}

static void* grow(arena_t* arena, void* old, uint32_t count, uint32_t* capacity, size_t size) {
  if (count < *capacity) return old;
  uint32_t more = *capacity ? *capacity * 2 : 16;
  void* data = arena_alloc(arena, size * more);
  if (count) memcpy(data, old, size * count);
  *capacity = more;
  return data;
}

static live_free_t* free_list(live_t* live, vmvx_register_row_t row) {
  for (uint32_t i = 0; i < live->free_count; ++i) {
    if (memcmp(&live->free_lists[i].row, &row, sizeof(row)) == 0) return &live->free_lists[i];
  }
  live->free_lists =
      grow(live->arena, live->free_lists, live->free_count, &live->free_capacity, sizeof(*live->free_lists));
  live_free_t* list = &live->free_lists[live->free_count++];
  *list = (live_free_t){.row = row};
  return list;
}

uint32_t live_take(live_t* live, vmvx_register_row_t row) {
  live_free_t* list = free_list(live, row);
  if (list->count) return list->registers[--list->count];
  live->registers =
      grow(live->arena, live->registers, live->register_count, &live->register_capacity, sizeof(*live->registers));
  live->registers[live->register_count] = row;
  return live->register_count++;
}

void live_release(live_t* live, uint32_t reg) {
  live_free_t* list = free_list(live, live->registers[reg]);
  list->registers = grow(live->arena, list->registers, list->count, &list->capacity, sizeof(*list->registers));
  list->registers[list->count++] = reg;
}

uint32_t live_define(live_t* live, live_value_t* v) {
  if (v->reg != LIVE_NONE) return v->reg;
  v->reg = live_take(live, live_register_row(v->type));
  if (v->end != LIVE_NONE) {
    v->next = live->dying[v->end];
    live->dying[v->end] = v;
  }
  return v->reg;
}

void live_expire(live_t* live, uint32_t position) {
  for (live_value_t* v = live->dying[position]; v; v = v->next) live_release(live, v->reg);
  live->dying[position] = NULL;
}
