// Short names for building instructions. Everything works on scalars and on vectors alike; constants take the shape of
// another value (`like`).
#ifndef IREE_C_TARGET_LLVM_BUILD_H_
#define IREE_C_TARGET_LLVM_BUILD_H_

#include "target/llvm/emit.h"

// clang-format off
#define BUILD_BINARY_ROWS(ROW)                                                                                  \
  ROW(add, Add) ROW(sub, Sub) ROW(mul, Mul) ROW(sdiv, SDiv) ROW(udiv, UDiv) ROW(srem, SRem) ROW(urem, URem)     \
  ROW(and, And) ROW(or, Or) ROW(xor, Xor) ROW(shl, Shl) ROW(lshr, LShr) ROW(ashr, AShr)                         \
  ROW(fadd, FAdd) ROW(fsub, FSub) ROW(fmul, FMul) ROW(fdiv, FDiv)
#define BUILD_CAST_ROWS(ROW)                                                                                    \
  ROW(trunc, Trunc) ROW(zext, ZExt) ROW(sext, SExt) ROW(fpext, FPExt) ROW(fptrunc, FPTrunc)                     \
  ROW(sitofp, SIToFP) ROW(uitofp, UIToFP) ROW(fptosi, FPToSI) ROW(fptoui, FPToUI) ROW(bitcast, BitCast)
// clang-format on
#define ROW(name, Name)                                                                \
  static inline LLVMValueRef build_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b) { \
    return LLVMBuild##Name(e->builder, a, b, "");                                      \
  }
BUILD_BINARY_ROWS(ROW)
#undef ROW

#define ROW(name, Name)                                                               \
  static inline LLVMValueRef build_##name(emit_t* e, LLVMValueRef a, LLVMTypeRef t) { \
    return LLVMTypeOf(a) == t ? a : LLVMBuild##Name(e->builder, a, t, "");            \
  }
BUILD_CAST_ROWS(ROW)
#undef ROW

static inline LLVMValueRef build_fneg(emit_t* e, LLVMValueRef a) { return LLVMBuildFNeg(e->builder, a, ""); }
static inline LLVMValueRef build_not(emit_t* e, LLVMValueRef a) { return LLVMBuildNot(e->builder, a, ""); }
static inline LLVMValueRef build_icmp(emit_t* e, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildICmp(e->builder, p, a, b, "");
}
static inline LLVMValueRef build_fcmp(emit_t* e, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFCmp(e->builder, p, a, b, "");
}
static inline LLVMValueRef build_select(emit_t* e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(e->builder, c, a, b, "");
}

// Lanes of a vector type; 0 for scalars.
unsigned build_lanes(LLVMTypeRef type);
LLVMTypeRef build_scalar_type(LLVMTypeRef type);
// `scalar` in the shape of `like`.
LLVMTypeRef build_shape(LLVMTypeRef scalar, LLVMTypeRef like);
unsigned build_bits(LLVMTypeRef type);  // of the scalar
bool build_is_f64(LLVMValueRef value);
LLVMTypeRef build_int_type(emit_t* e, LLVMTypeRef like, unsigned bits);
LLVMTypeRef build_f32_type(emit_t* e, LLVMTypeRef like);
LLVMTypeRef build_f64_type(emit_t* e, LLVMTypeRef like);

LLVMValueRef build_splat_constant(LLVMTypeRef type, LLVMValueRef scalar);
LLVMValueRef build_float(LLVMValueRef like, double number);
LLVMValueRef build_float_of(LLVMTypeRef type, double number);
LLVMValueRef build_int(LLVMValueRef like, int64_t number);
LLVMValueRef build_int_of(LLVMTypeRef type, int64_t number);

// Float <-> integer of the same size.
LLVMValueRef build_bits_of(emit_t* e, LLVMValueRef x);
LLVMValueRef build_from_bits(emit_t* e, LLVMValueRef bits, LLVMTypeRef type);

// Calls intrinsic `name`, overloaded on `types`.
LLVMValueRef build_intrinsic(emit_t* e, const char* name, const LLVMTypeRef* types, unsigned type_count,
                             const LLVMValueRef* args, unsigned arg_count);
LLVMValueRef build_intrinsic1(emit_t* e, const char* name, LLVMValueRef a);
LLVMValueRef build_intrinsic2(emit_t* e, const char* name, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_intrinsic3(emit_t* e, const char* name, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
// The same of each lane alone, for intrinsics of scalars.
LLVMValueRef build_each(emit_t* e, const char* name, const LLVMValueRef* args, unsigned arg_count);

LLVMValueRef build_fabs(emit_t* e, LLVMValueRef x);
LLVMValueRef build_copysign(emit_t* e, LLVMValueRef magnitude, LLVMValueRef sign);
LLVMValueRef build_sqrt(emit_t* e, LLVMValueRef x);
LLVMValueRef build_is_negative(emit_t* e, LLVMValueRef x);  // sign bit
// a * b + c rounded once, whatever the processor has.
LLVMValueRef build_fma(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
// a * b + c in the fastest way.
LLVMValueRef build_mad(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
// As the processor's instructions: the second operand when either is NaN or both are zero.
LLVMValueRef build_min(emit_t* e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_max(emit_t* e, LLVMValueRef a, LLVMValueRef b);

typedef enum { BUILD_FLOOR, BUILD_CEIL, BUILD_TRUNC, BUILD_NEAREST_EVEN } build_rounding_t;
LLVMValueRef build_round(emit_t* e, build_rounding_t mode, LLVMValueRef x);

LLVMBasicBlockRef build_block(emit_t* e, const char* name);
LLVMValueRef build_any(emit_t* e, LLVMValueRef mask);  // i1: some lane is set
// Loop that runs `body` while `condition` holds for the values; both see and may replace state[0..count).
typedef struct build_loop_t {
  LLVMBasicBlockRef head, exit;
  LLVMValueRef phis[4];
  unsigned count;
} build_loop_t;
build_loop_t build_loop_begin(emit_t* e, const LLVMValueRef* init, unsigned count);
void build_loop_while(emit_t* e, build_loop_t* loop, LLVMValueRef condition);
void build_loop_end(emit_t* e, build_loop_t* loop, const LLVMValueRef* next);

LLVMValueRef build_shuffle(emit_t* e, LLVMValueRef a, LLVMValueRef b, const int* mask, unsigned count);
LLVMValueRef build_splat(emit_t* e, LLVMValueRef scalar, unsigned lanes);
LLVMValueRef build_address(emit_t* e, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef offset);

#endif  // IREE_C_TARGET_LLVM_BUILD_H_
