// Structured control flow, straight into blocks and phis.
#include "target/llvm/build.h"
#include "target/llvm/emit.h"
#include "target/llvm/types.h"

static void add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}

static LLVMValueRef new_phi(emit_t* e, const ir_type_t* type) {
  return LLVMBuildPhi(e->builder, emit_type(e, type), "");
}

// GPU loops that run at least once test at their end, which saves the copies of what they carry.
static bool tests_at_end(const emit_t* e, LLVMValueRef lower, LLVMValueRef upper) {
  return e->target->device.kind == DEVICE_GPU && LLVMIsAConstantInt(lower) && LLVMIsAConstantInt(upper) &&
         LLVMConstIntGetSExtValue(lower) < LLVMConstIntGetSExtValue(upper);
}

// Whether the index becomes `upper` itself, on processors whose scalar unit compares 64 bits for equality only.
static bool ends_on(const emit_t* e, LLVMValueRef lower, LLVMValueRef upper, LLVMValueRef step) {
  if (!e->hooks->equal_only || !LLVMIsAConstantInt(step) || LLVMConstIntGetSExtValue(step) <= 0) return false;
  return (LLVMConstIntGetSExtValue(upper) - LLVMConstIntGetSExtValue(lower)) % LLVMConstIntGetSExtValue(step) == 0;
}

// for: head tests, body runs, latch adds the step. The head's phis are the loop's results; where the latch tests, they
// are what it carries on.
// Whether a matrix instruction makes the value, which as the iteration value `next` others read, too.
static bool is_unsettled(const ir_value_t* value, const ir_value_t* next) {
  if (!value->def || !ir_is(value->def, KERNEL_MMA)) return false;
  IR_FOR_USES(use, next) {
    if (!ir_is(use->owner, KERNEL_MMA)) return true;
  }
  return false;
}

// Between the last instructions of a loop's body and the first ones of its next round not every LLVM inserts what
// matrix instructions need to be waited for.
static void settle_matrices(emit_t* e, const ir_op_t* yield, const ir_block_t* body) {
  enum { MOST = 64 };
  LLVMValueRef values[MOST];
  ir_value_t* unsettled[MOST];
  unsigned count = 0;
  for (uint32_t i = 0; e->hooks->settle && i < yield->operand_count && count < MOST; ++i) {
    ir_value_t* value = ir_operand(yield, i);
    if (!is_unsettled(value, body->args[i + 1])) continue;
    unsettled[count] = value;
    values[count++] = emit_get(value);
  }
  if (!count) return;
  e->hooks->settle(e, values, count);
  for (unsigned i = 0; i < count; ++i) emit_set(unsettled[i], values[i]);
}

void emit_op_for(emit_t* e, ir_op_t* op) {
  LLVMValueRef lower = emit_operand(op, 0), upper = emit_operand(op, 1), step = emit_operand(op, 2);
  uint32_t count = op->operand_count - 3;
  ir_block_t* body = op->regions[0].first;
  if (!body || body->arg_count != count + 1 || op->result_count != count) {
    emit_fail(e, op, "has %u iteration values but its body takes %u", count, body ? body->arg_count : 0);
    return;
  }
  bool at_end = tests_at_end(e, lower, upper);
  LLVMBasicBlockRef head = build_block(e, "for"), inside = at_end ? head : build_block(e, "do");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, head);
  LLVMPositionBuilderAtEnd(e->builder, head);
  LLVMValueRef index = LLVMBuildPhi(e->builder, LLVMTypeOf(lower), "");
  add_incoming(index, lower, before);
  emit_set(body->args[0], index);
  for (uint32_t i = 0; i < count; ++i) {
    LLVMValueRef phi = new_phi(e, body->args[i + 1]->type);
    add_incoming(phi, emit_operand(op, 3 + i), before);
    emit_set(body->args[i + 1], phi);
    emit_set(ir_result(op, i), phi);
  }
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->context, e->function, "end");
  if (!at_end) LLVMBuildCondBr(e->builder, build_icmp(e, LLVMIntSLT, index, upper), inside, after);
  LLVMPositionBuilderAtEnd(e->builder, inside);
  ir_op_t* yield = emit_block(e, body);
  if (e->failed) return;
  if (!ir_is(yield, KERNEL_YIELD) || yield->operand_count != count) {
    emit_fail(e, op, "must end in a yield of %u values", count);
    return;
  }
  settle_matrices(e, yield, body);
  LLVMValueRef next = LLVMBuildNSWAdd(e->builder, index, step, "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
  add_incoming(index, next, latch);
  for (uint32_t i = 0; i < count; ++i) {
    add_incoming(emit_get(body->args[i + 1]), emit_operand(yield, i), latch);
    if (at_end) emit_set(ir_result(op, i), emit_operand(yield, i));
  }
  if (at_end) {
    LLVMIntPredicate before_end = ends_on(e, lower, upper, step) ? LLVMIntNE : LLVMIntSLT;
    LLVMBuildCondBr(e->builder, build_icmp(e, before_end, next, upper), head, after);
  } else {
    LLVMBuildBr(e->builder, head);
  }
  LLVMMoveBasicBlockAfter(after, latch);
  LLVMPositionBuilderAtEnd(e->builder, after);
}

// One side of an if: emits the region and branches to `after`; the values go into the phis once they exist.
static ir_op_t* emit_side(emit_t* e, ir_op_t* op, uint32_t region, LLVMBasicBlockRef after, LLVMBasicBlockRef* end) {
  ir_block_t* block = op->regions[region].first;
  ir_op_t* yield = block ? emit_block(e, block) : NULL;
  if (e->failed) return NULL;
  uint32_t given = yield ? yield->operand_count : 0;
  if (given != op->result_count) emit_fail(e, op, "has %u results but a region yields %u", op->result_count, given);
  *end = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, after);
  return yield;
}

void emit_op_if(emit_t* e, ir_op_t* op) {
  LLVMBasicBlockRef then = build_block(e, "then"), other = build_block(e, "else"), after = build_block(e, "end");
  LLVMBasicBlockRef ends[2];
  LLVMBuildCondBr(e->builder, emit_operand(op, 0), then, other);
  LLVMPositionBuilderAtEnd(e->builder, then);
  ir_op_t* yields[2];
  yields[0] = emit_side(e, op, 0, after, &ends[0]);
  if (e->failed) return;
  LLVMMoveBasicBlockAfter(other, ends[0]);
  LLVMPositionBuilderAtEnd(e->builder, other);
  yields[1] = emit_side(e, op, 1, after, &ends[1]);
  if (e->failed) return;
  LLVMMoveBasicBlockAfter(after, ends[1]);
  LLVMPositionBuilderAtEnd(e->builder, after);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    LLVMValueRef phi = new_phi(e, ir_result(op, i)->type);
    for (int side = 0; side < 2; ++side) add_incoming(phi, emit_operand(yields[side], i), ends[side]);
    emit_set(ir_result(op, i), phi);
  }
}

void emit_op_while(emit_t* e, ir_op_t* op) {
  ir_block_t* condition = op->regions[0].first;
  ir_block_t* body = op->regions[1].first;
  uint32_t count = op->operand_count;
  if (!condition || !body || condition->arg_count != count || body->arg_count != op->result_count) {
    emit_fail(e, op, "has regions whose arguments do not match its operands and results");
    return;
  }
  LLVMBasicBlockRef head = build_block(e, "while"), before = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, head);
  LLVMPositionBuilderAtEnd(e->builder, head);
  for (uint32_t i = 0; i < count; ++i) {
    LLVMValueRef phi = new_phi(e, condition->args[i]->type);
    add_incoming(phi, emit_operand(op, i), before);
    emit_set(condition->args[i], phi);
  }
  ir_op_t* test = emit_block(e, condition);
  if (e->failed) return;
  if (!ir_is(test, KERNEL_YIELD) || test->operand_count != op->result_count + 1) {
    emit_fail(e, op, "must yield a condition and %u values from its first region", op->result_count);
    return;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    emit_set(body->args[i], emit_operand(test, i + 1));
    emit_set(ir_result(op, i), emit_operand(test, i + 1));
  }
  LLVMBasicBlockRef inside = build_block(e, "do"), after = build_block(e, "end");
  LLVMBuildCondBr(e->builder, emit_operand(test, 0), inside, after);
  LLVMPositionBuilderAtEnd(e->builder, inside);
  ir_op_t* yield = emit_block(e, body);
  if (e->failed) return;
  if (!ir_is(yield, KERNEL_YIELD) || yield->operand_count != count) {
    emit_fail(e, op, "must yield %u values from its second region", count);
    return;
  }
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
  for (uint32_t i = 0; i < count; ++i) add_incoming(emit_get(condition->args[i]), emit_operand(yield, i), latch);
  LLVMBuildBr(e->builder, head);
  LLVMMoveBasicBlockAfter(after, latch);
  LLVMPositionBuilderAtEnd(e->builder, after);
}
