// AMX: tile registers as LLVM's x86_amx values, which it allots and configures itself. A vector of 1024 bytes is one;
// there is nothing that it does not come from or go to but these rows, loops and branches.
#include "target/llvm/tiles.h"

#include <stdio.h>

#include "dialects/mma.h"
#include "target/llvm/build.h"
#include "target/llvm/types.h"

bool tiles_is_type(const emit_t* e, const ir_type_t* type) {
  if (!e->features.tiles || type->kind != IR_TYPE_VECTOR) return false;
  return ir_type_count(type) * ir_type_bytes(type->element) == KERNEL_TILE_ROWS * KERNEL_TILE_ROW_BYTES;
}

static bool takes_tiles(const ir_op_t* op) {
  switch (ir_code(op)) {
    case KERNEL_CONSTANT:
    case KERNEL_MMA:
    case KERNEL_LOAD_TILE:
    case KERNEL_STORE_TILE:
    case KERNEL_FOR:
    case KERNEL_IF:
    case KERNEL_WHILE:
      return true;
    default:
      return false;
  }
}

bool tiles_fit(emit_t* e, ir_op_t* op) {
  if (!e->features.tiles || takes_tiles(op)) return true;
  bool any = false;
  for (uint32_t i = 0; i < op->operand_count; ++i) any |= tiles_is_type(e, ir_operand(op, i)->type);
  for (uint32_t i = 0; i < op->result_count; ++i) any |= tiles_is_type(e, op->results[i].type);
  if (any) emit_fail(e, op, "does not work on tiles, vectors of 1024 bytes");
  return !any;
}

static LLVMValueRef number(emit_t* e, unsigned value) {
  return LLVMConstInt(LLVMInt16TypeInContext(e->context), value, 0);
}

// A call whose first arguments are rows and bytes of each.
static LLVMValueRef call(emit_t* e, const char* name, LLVMValueRef* args, unsigned count) {
  args[0] = number(e, KERNEL_TILE_ROWS);
  args[1] = number(e, KERNEL_TILE_ROW_BYTES);
  e->info->uses_tiles = true;
  return build_intrinsic(e, name, NULL, 0, args, count);
}

LLVMValueRef tiles_zero(emit_t* e) { return call(e, "llvm.x86.tilezero.internal", (LLVMValueRef[2]){0}, 2); }

LLVMValueRef tiles_mma(emit_t* e, ir_op_t* op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  const mma_row_t* row = mma_find(ir_op_string(op, "instruction", ""));
  if (!row || !target_has_mma(e->target, row->instruction)) return NULL;
  char name[64];
  snprintf(name, sizeof(name), "llvm.%s", row->intrinsic);
  return call(e, name, (LLVMValueRef[]){NULL, NULL, number(e, KERNEL_TILE_ROW_BYTES), c, a, b}, 6);
}

// Address and bytes from row to row of a tile in memory, whose operands begin at `first`.
static bool place(emit_t* e, ir_op_t* op, uint32_t first, LLVMValueRef* address, LLVMValueRef* stride) {
  const ir_type_t* element = ir_operand(op, first)->type->element;
  if (!e->features.tiles) {
    emit_fail(e, op, "does not exist on this target");
    return false;
  }
  *address = build_address(e, emit_memory_type(e, element), emit_operand(op, first), emit_operand(op, first + 1));
  LLVMValueRef rows = emit_operand(op, first + 2);
  *stride = build_mul(e, rows, build_int(rows, ir_type_bytes(element)));
  return true;
}

void emit_op_load_tile(emit_t* e, ir_op_t* op) {
  LLVMValueRef args[4] = {0};
  if (!place(e, op, 0, &args[2], &args[3])) return;
  emit_set(ir_result(op, 0), call(e, "llvm.x86.tileloadd64.internal", args, 4));
}

void emit_op_store_tile(emit_t* e, ir_op_t* op) {
  LLVMValueRef args[5] = {0};
  if (!place(e, op, 1, &args[2], &args[3])) return;
  args[4] = emit_operand(op, 0);
  call(e, "llvm.x86.tilestored64.internal", args, 5);
}
