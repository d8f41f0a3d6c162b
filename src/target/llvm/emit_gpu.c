// Ids, barriers, lane shuffles, matrix instructions and asynchronous copies: through the target's hooks.
#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/emit.h"
#include "target/llvm/types.h"

static void emit_id(emit_t* e, ir_op_t* op) {
  int64_t axis = ir_op_int(op, "axis", 0);
  if (axis < 0 || axis > 2) {
    emit_fail(e, op, "has axis %lld", (long long)axis);
    return;
  }
  LLVMValueRef id = e->hooks->id(e, ir_code(op), (unsigned)axis);
  if (!id) {
    emit_fail(e, op, "does not exist on this target");
    return;
  }
  emit_set(ir_result(op, 0), id);
}
void emit_op_workgroup_id(emit_t* e, ir_op_t* op) { emit_id(e, op); }
void emit_op_workgroup_count(emit_t* e, ir_op_t* op) { emit_id(e, op); }
void emit_op_thread_id(emit_t* e, ir_op_t* op) { emit_id(e, op); }
void emit_op_subgroup_lane(emit_t* e, ir_op_t* op) { emit_id(e, op); }

void emit_op_barrier(emit_t* e, ir_op_t* op) {
  if (e->hooks->barrier) e->hooks->barrier(e);
}

// Any value as 32-bit words.
static LLVMValueRef shuffle_words(emit_t* e, LLVMValueRef value, LLVMValueRef lane, const char* mode) {
  LLVMTypeRef type = LLVMTypeOf(value), i32 = LLVMInt32TypeInContext(e->context);
  unsigned lanes = build_lanes(type), bits = build_bits(type) * (lanes ? lanes : 1), words = (bits + 31) / 32;
  LLVMTypeRef raw = LLVMIntTypeInContext(e->context, bits), padded = LLVMIntTypeInContext(e->context, 32 * words);
  LLVMValueRef whole = build_zext(e, build_bitcast(e, value, raw), padded);
  if (words == 1) {
    whole = e->hooks->shuffle(e, whole, lane, mode);
  } else {
    LLVMTypeRef vector = LLVMVectorType(i32, words);
    LLVMValueRef parts = build_bitcast(e, whole, vector);
    for (unsigned i = 0; i < words; ++i) {
      LLVMValueRef at = LLVMConstInt(i32, i, 0), word = LLVMBuildExtractElement(e->builder, parts, at, "");
      parts = LLVMBuildInsertElement(e->builder, parts, e->hooks->shuffle(e, word, lane, mode), at, "");
    }
    whole = build_bitcast(e, parts, padded);
  }
  return build_bitcast(e, build_trunc(e, whole, raw), type);
}

void emit_op_subgroup_shuffle(emit_t* e, ir_op_t* op) {
  static const char* const modes[] = {"index", "xor", "up", "down"};
  const char* mode = ir_op_string(op, "mode", "index");
  bool known = false;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) known |= strcmp(modes[i], mode) == 0;
  if (!e->hooks->shuffle || !known) {
    emit_fail(e, op, known ? "does not exist on this target" : "has no mode '%s'", mode);
    return;
  }
  LLVMValueRef lane = build_trunc(e, emit_operand(op, 1), LLVMInt32TypeInContext(e->context));
  emit_set(ir_result(op, 0), shuffle_words(e, emit_operand(op, 0), lane, mode));
}

void emit_op_mma(emit_t* e, ir_op_t* op) {
  LLVMValueRef result = NULL;
  if (e->hooks->mma) result = e->hooks->mma(e, op, emit_operand(op, 0), emit_operand(op, 1), emit_operand(op, 2));
  if (e->failed) return;
  if (!result) {
    emit_fail(e, op, "matrix instruction '%s' does not exist on %s", ir_op_string(op, "instruction", ""),
              e->target->cpu);
    return;
  }
  emit_set(ir_result(op, 0), result);
}

void emit_op_load_matrix(emit_t* e, ir_op_t* op) {
  LLVMTypeRef element = emit_memory_type(e, ir_operand(op, 0)->type->element);
  if (!e->hooks->load_matrix) {
    emit_fail(e, op, "does not exist on this target");
    return;
  }
  LLVMValueRef address = build_address(e, element, emit_operand(op, 0), emit_operand(op, 1));
  bool transpose = ir_op_attr(op, "transpose");
  LLVMValueRef words = e->hooks->load_matrix(e, address, (unsigned)ir_op_int(op, "count", 1), transpose);
  emit_set(ir_result(op, 0), build_bitcast(e, words, emit_type(e, ir_result(op, 0)->type)));
}

// By a load and a store; zeros where not `exists`.
static void copy_now(emit_t* e, LLVMValueRef target, LLVMValueRef source, unsigned bytes, LLVMValueRef exists) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMTypeRef type = bytes == 4 ? i32 : LLVMVectorType(i32, bytes / 4);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder), read = NULL, after = NULL;
  if (exists) {
    read = LLVMAppendBasicBlockInContext(e->context, e->function, "");
    after = LLVMAppendBasicBlockInContext(e->context, e->function, "");
    LLVMBuildCondBr(e->builder, exists, read, after);
    LLVMPositionBuilderAtEnd(e->builder, read);
  }
  LLVMValueRef value = LLVMBuildLoad2(e->builder, type, source, "");
  LLVMSetAlignment(value, bytes);
  if (exists) {
    LLVMBuildBr(e->builder, after);
    LLVMPositionBuilderAtEnd(e->builder, after);
    LLVMValueRef values[] = {LLVMConstNull(type), value}, phi = LLVMBuildPhi(e->builder, type, "");
    LLVMAddIncoming(phi, values, (LLVMBasicBlockRef[]){before, read}, 2);
    value = phi;
  }
  LLVMSetAlignment(LLVMBuildStore(e->builder, value, target), bytes);
}

void emit_op_async_copy(emit_t* e, ir_op_t* op) {
  int64_t bytes = ir_op_int(op, "bytes", 4);
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    emit_fail(e, op, "copies %lld bytes; 4, 8 and 16 are possible", (long long)bytes);
    return;
  }
  LLVMTypeRef from = emit_memory_type(e, ir_operand(op, 0)->type->element);
  LLVMTypeRef to = emit_memory_type(e, ir_operand(op, 2)->type->element);
  LLVMValueRef source = build_address(e, from, emit_operand(op, 0), emit_operand(op, 1));
  LLVMValueRef target = build_address(e, to, emit_operand(op, 2), emit_operand(op, 3));
  LLVMValueRef exists = op->operand_count > 4 ? emit_operand(op, 4) : NULL;
  bool cached = ir_op_int(op, "cached", 0) != 0;
  bool done = e->hooks->async_copy && e->hooks->async_copy(e, target, source, (unsigned)bytes, cached, exists);
  if (!done) copy_now(e, target, source, (unsigned)bytes, exists);
}

void emit_op_async_commit(emit_t* e, ir_op_t* op) {
  if (e->hooks->async_commit) e->hooks->async_commit(e);
}

void emit_op_async_wait(emit_t* e, ir_op_t* op) {
  if (e->hooks->async_wait) e->hooks->async_wait(e, (unsigned)ir_op_int(op, "pending", 0));
}
