// Functions and blocks: walks a kernel.func and calls the handler of each op's row.
#include "target/llvm/emit.h"

#include <string.h>

#include "target/entry.h"
#include "target/llvm/build.h"
#include "target/llvm/debug.h"
#include "target/llvm/scalar.h"
#include "target/llvm/tiles.h"
#include "target/llvm/types.h"

typedef void (*emit_op_fn_t)(emit_t* e, ir_op_t* op);
static const emit_op_fn_t handlers[] = {
#define OP(NAME, name, ...) [KERNEL_##NAME - KERNEL_FUNC] = emit_op_##name,
#include "dialects/kernel.def"
#undef OP
};

void emit_fail(emit_t* e, const ir_op_t* op, const char* format, ...) {
  if (e->failed) return;
  e->failed = true;
  const char* name = e->func ? ir_op_string(e->func, "sym_name", "?") : "?";
  text_printf(e->error, "%s: kernel @%s: '%s': ", target_backend_name(e->target->backend), name, op->name);
  va_list args;
  va_start(args, format);
  text_vprintf(e->error, format, args);
  va_end(args);
}

// exp2 that need not be exact, by the target's instruction; false where it has none.
static bool emit_quick_exp2(emit_t* e, ir_op_t* op) {
  LLVMValueRef x = emit_operand(op, 0);
  if (!e->hooks->exp2 || LLVMGetTypeKind(build_scalar_type(LLVMTypeOf(x))) != LLVMFloatTypeKind) return false;
  emit_set(ir_result(op, 0), build_each(e, e->hooks->exp2, &x, 1));
  return true;
}

static void emit_scalar_op(emit_t* e, ir_op_t* op, scalar_fn_t fn) {
  if (fn == SCALAR_exp2 && ir_op_attr(op, "approximate") && emit_quick_exp2(e, op)) return;
  LLVMValueRef in[3] = {NULL, NULL, NULL};
  for (uint32_t i = 0; i < op->operand_count && i < 3; ++i) in[i] = emit_operand(op, i);
  const ir_op_t* condition = fn == SCALAR_select ? ir_operand(op, 0)->def : NULL;
  if (e->hooks->selects_words && condition && ir_is(condition, KERNEL_SPLAT)) in[0] = emit_operand(condition, 0);
  const ir_type_t* operand = ir_type_scalar(ir_operand(op, fn == SCALAR_select ? 1 : 0)->type);
  emit_set(ir_result(op, 0), emit_scalar(e, fn, in, operand, ir_type_scalar(ir_result(op, 0)->type)));
}

static void emit_op(emit_t* e, ir_op_t* op) {
  if (!tiles_fit(e, op)) return;
  int fn = ir_op_dialect(op) == IR_DIALECT_KERNEL ? kernel_scalar_fn(op) : -1;
  if (fn >= 0) {
    emit_scalar_op(e, op, (scalar_fn_t)fn);
  } else if (ir_code(op) >= KERNEL_FUNC && ir_code(op) < KERNEL_END_) {
    handlers[ir_code(op) - KERNEL_FUNC](e, op);
  } else {
    emit_fail(e, op, "is not a kernel op");
  }
}

ir_op_t* emit_block(emit_t* e, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_has_trait(op, IR_TRAIT_TERMINATOR)) return op;
    if (e->debug) debug_location(e->debug, op->loc);
    emit_op(e, op);
    ++e->op_count;
    if (e->failed) return NULL;
  }
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t bits_of(const ir_type_t* type) {
  return type->kind == IR_TYPE_INTEGER ? type->width : 8 * ir_type_bytes(type);
}

LLVMValueRef emit_constant_from_words(emit_t* e, const ir_type_t* type, emit_word_fn_t word, void* user,
                                      uint32_t first) {
  LLVMValueRef value = word(e, user, first);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context), wanted = emit_type(e, type);
  if (entry_constant_words(type) == 2) {
    LLVMValueRef high = build_zext(e, word(e, user, first + 1), i64);
    value = build_or(e, build_zext(e, value, i64), build_shl(e, high, LLVMConstInt(i64, 32, 0)));
  }
  value = build_trunc(e, value, LLVMIntTypeInContext(e->context, bits_of(type)));
  return build_bitcast(e, value, wanted);
}

bool emit_function(emit_t* e, ir_op_t* func, target_entry_t* info) {
  e->func = func;
  e->info = info;
  e->workgroup_memory = 0;
  e->reload.block = NULL;
  e->workgroup_global = NULL;
  e->used_inputs = 0;
  e->function = e->hooks->entry(e, func);
  if (e->failed) return false;
  ir_op_t* end = emit_block(e, func->regions[0].first);
  if (!e->failed && !ir_is(end, KERNEL_RETURN)) emit_fail(e, func, "does not end in kernel.return");
  if (!e->failed) e->hooks->ret(e);
  info->workgroup_memory_bytes = (uint32_t)e->workgroup_memory;
  return !e->failed;
}

void emit_op_func(emit_t* e, ir_op_t* op) { emit_fail(e, op, "inside a function"); }
void emit_op_return(emit_t* e, ir_op_t* op) { emit_fail(e, op, "is not at the end of the function"); }
void emit_op_yield(emit_t* e, ir_op_t* op) { emit_fail(e, op, "is not at the end of a region"); }
