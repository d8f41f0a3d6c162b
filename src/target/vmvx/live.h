// Where each value of a kernel lives: live ranges over the ops in order, and registers shared by values whose ranges do
// not meet. Loops keep alive what they use from outside; what a loop or branch carries has one register for initial
// value, block argument and result.
#ifndef IREE_C_TARGET_VMVX_LIVE_H_
#define IREE_C_TARGET_VMVX_LIVE_H_

#include "base/arena.h"
#include "ir/ir.h"
#include "module/vmvx.h"

// At value->data. Constants of equal value share one.
typedef struct live_value_t {
  struct live_value_t* next;  // dies at the same position
  const ir_type_t* type;
  uint32_t end;
  uint32_t reg;  // LIVE_NONE before it is allocated
} live_value_t;
#define LIVE_NONE UINT32_MAX

// At op->data: positions of the op and of the end of its regions.
typedef struct live_op_t {
  uint32_t start, end;
} live_op_t;

typedef struct live_constant_t {
  const ir_attr_t* attr;
  live_value_t* value;
} live_constant_t;

typedef struct live_free_t live_free_t;
typedef struct live_t {
  arena_t* arena;
  uint32_t position_count;
  live_constant_t* constants;  // different ones, in order
  uint32_t constant_count, constant_capacity;
  uint32_t* table;  // hash of constants: number + 1
  uint32_t table_size;
  live_value_t** dying;     // by position
  live_free_t* free_lists;  // by register row
  uint32_t free_count, free_capacity;
  vmvx_register_row_t* registers;
  uint32_t register_count, register_capacity;
} live_t;

// Sets the data of the function's ops and of its values that are numbers.
live_t* live_compute(arena_t* arena, const ir_op_t* func);

static inline live_value_t* live_of(const ir_value_t* value) { return (live_value_t*)value->data; }
static inline const live_op_t* live_op(const ir_op_t* op) { return (const live_op_t*)op->data; }

// The value's register, allocated at first.
uint32_t live_define(live_t* live, live_value_t* value);
// A register that belongs to nobody until it is released.
uint32_t live_take(live_t* live, vmvx_register_row_t row);
void live_release(live_t* live, uint32_t reg);
// Frees the registers of values that are not needed behind `position`.
void live_expire(live_t* live, uint32_t position);

// Register row of a value's type.
vmvx_register_row_t live_register_row(const ir_type_t* type);

#endif  // IREE_C_TARGET_VMVX_LIVE_H_
