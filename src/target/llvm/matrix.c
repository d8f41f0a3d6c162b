// Matrix instructions of both GPU makers: fragments are cut into the registers that LLVM's intrinsics take, and their
// results put together again, by bits.
#include <stdio.h>
#include <string.h>

#include "dialects/mma.h"
#include "target/llvm/build.h"
#include "target/llvm/hooks.h"

static unsigned total_bits(LLVMTypeRef type) {
  unsigned lanes = build_lanes(type);
  return build_bits(type) * (lanes ? lanes : 1);
}

static LLVMTypeRef int_type(emit_t* e, unsigned bits) { return LLVMIntTypeInContext(e->context, bits); }

// Registers of one size out of fragments laid end to end.
typedef struct cutter_t {
  LLVMValueRef fragments[3];
  unsigned fragment, taken;  // pieces of the fragment already used
} cutter_t;

static LLVMValueRef cut(emit_t* e, cutter_t* cutter, LLVMTypeRef wanted) {
  if (cutter->fragment >= 3) return NULL;
  LLVMValueRef from = cutter->fragments[cutter->fragment];
  unsigned bits = total_bits(wanted), total = total_bits(LLVMTypeOf(from)), pieces = total / bits;
  if (pieces * bits != total || pieces == 0) return NULL;
  LLVMValueRef piece = from;
  if (pieces > 1) {
    LLVMValueRef all = build_bitcast(e, from, LLVMVectorType(int_type(e, bits), pieces));
    LLVMValueRef at = LLVMConstInt(int_type(e, 32), cutter->taken, 0);
    piece = LLVMBuildExtractElement(e->builder, all, at, "");
  }
  if (++cutter->taken == pieces) {
    cutter->taken = 0;
    ++cutter->fragment;
  }
  return build_bitcast(e, piece, wanted);
}

// A structure of registers (or one value) as `type`.
static LLVMValueRef join(emit_t* e, LLVMValueRef result, LLVMTypeRef type) {
  if (LLVMGetTypeKind(LLVMTypeOf(result)) != LLVMStructTypeKind) return build_bitcast(e, result, type);
  unsigned count = LLVMCountStructElementTypes(LLVMTypeOf(result)), bits = total_bits(type) / count;
  LLVMTypeRef words = LLVMVectorType(int_type(e, bits), count);
  LLVMValueRef all = LLVMGetPoison(words);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef word = build_bitcast(e, LLVMBuildExtractValue(e->builder, result, i, ""), int_type(e, bits));
    all = LLVMBuildInsertElement(e->builder, all, word, LLVMConstInt(int_type(e, 32), i, 0), "");
  }
  return build_bitcast(e, all, type);
}

// Overloaded intrinsics (WMMA) are named by the accumulator's and the operands' types.
static LLVMTypeRef operand_type(emit_t* e, const mma_row_t* row, LLVMTypeRef fragment) {
  if (strcmp(row->a_type, "f16") == 0) return fragment;
  if (strcmp(row->a_type, "bf16") == 0) return LLVMVectorType(int_type(e, 16), (unsigned)row->a_lanes);
  return LLVMVectorType(int_type(e, 32), total_bits(fragment) / 32);
}

// Arguments in order: registers of A, B, C; immediates (signedness, clamping, broadcast controls) where the types say.
static bool collect(emit_t* e, LLVMTypeRef function_type, cutter_t* cutter, LLVMValueRef* args, unsigned count) {
  LLVMTypeRef types[64];
  LLVMGetParamTypes(function_type, types);
  for (unsigned i = 0; i < count; ++i) {
    bool flag = LLVMGetTypeKind(types[i]) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(types[i]) == 1;
    if (flag) {
      args[i] = LLVMConstInt(types[i], cutter->fragment < 2, 0);  // operands are signed; sums wrap
    } else if (cutter->fragment >= 3) {
      args[i] = LLVMConstInt(types[i], 0, 0);
    } else {
      args[i] = cut(e, cutter, types[i]);
    }
    if (!args[i]) return false;
  }
  return cutter->fragment == 3;
}

LLVMValueRef hooks_mma(emit_t* e, ir_op_t* op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  const char* instruction = ir_op_string(op, "instruction", "");
  const mma_row_t* row = mma_find(instruction);
  if (!row || !target_has_mma(e->target, instruction)) return NULL;
  char name[96];
  snprintf(name, sizeof(name), "llvm.%s", row->intrinsic);
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id) {
    emit_fail(e, op, "needs the intrinsic %s, which this LLVM does not have", name);
    return NULL;
  }
  LLVMTypeRef overloads[2] = {LLVMTypeOf(c), operand_type(e, row, LLVMTypeOf(a))};
  unsigned overload_count = LLVMIntrinsicIsOverloaded(id) ? 2 : 0;
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  unsigned count = LLVMCountParamTypes(type);
  LLVMValueRef args[64];
  cutter_t cutter = {.fragments = {a, b, c}};
  if (count > 64 || !collect(e, type, &cutter, args, count)) {
    emit_fail(e, op, "has fragments that do not fit %s", name);
    return NULL;
  }
  return join(e, LLVMBuildCall2(e->builder, type, function, args, count, ""), LLVMTypeOf(c));
}
