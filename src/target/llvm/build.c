// Building blocks of the translation: shapes, constants, intrinsics, and the small operations that processors have or
// lack (fma, rounding), each expanded when it is lacking.
#include "target/llvm/build.h"

#include <string.h>

unsigned build_lanes(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

LLVMTypeRef build_scalar_type(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

LLVMTypeRef build_shape(LLVMTypeRef scalar, LLVMTypeRef like) {
  unsigned lanes = build_lanes(like);
  return lanes ? LLVMVectorType(scalar, lanes) : scalar;
}

unsigned build_bits(LLVMTypeRef type) {
  LLVMTypeRef scalar = build_scalar_type(type);
  switch (LLVMGetTypeKind(scalar)) {
    case LLVMIntegerTypeKind:
      return LLVMGetIntTypeWidth(scalar);
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
      return 64;
    case LLVMFloatTypeKind:
      return 32;
    default:
      return 16;
  }
}

bool build_is_f64(LLVMValueRef value) {
  return LLVMGetTypeKind(build_scalar_type(LLVMTypeOf(value))) == LLVMDoubleTypeKind;
}

LLVMTypeRef build_int_type(emit_t* e, LLVMTypeRef like, unsigned bits) {
  return build_shape(LLVMIntTypeInContext(e->context, bits), like);
}

LLVMTypeRef build_f32_type(emit_t* e, LLVMTypeRef like) {
  return build_shape(LLVMFloatTypeInContext(e->context), like);
}
LLVMTypeRef build_f64_type(emit_t* e, LLVMTypeRef like) {
  return build_shape(LLVMDoubleTypeInContext(e->context), like);
}

LLVMValueRef build_splat_constant(LLVMTypeRef type, LLVMValueRef scalar) {
  unsigned lanes = build_lanes(type);
  if (!lanes) return scalar;
  arena_t arena;
  arena_init(&arena);
  LLVMValueRef* all = ARENA_ARRAY(&arena, LLVMValueRef, lanes);
  for (unsigned i = 0; i < lanes; ++i) all[i] = scalar;
  LLVMValueRef vector = LLVMConstVector(all, lanes);
  arena_finish(&arena);
  return vector;
}

LLVMValueRef build_float_of(LLVMTypeRef type, double number) {
  return build_splat_constant(type, LLVMConstReal(build_scalar_type(type), number));
}
LLVMValueRef build_float(LLVMValueRef like, double number) { return build_float_of(LLVMTypeOf(like), number); }

LLVMValueRef build_int_of(LLVMTypeRef type, int64_t number) {
  return build_splat_constant(type, LLVMConstInt(build_scalar_type(type), (unsigned long long)number, 1));
}
LLVMValueRef build_int(LLVMValueRef like, int64_t number) { return build_int_of(LLVMTypeOf(like), number); }

LLVMValueRef build_bits_of(emit_t* e, LLVMValueRef x) {
  return build_bitcast(e, x, build_int_type(e, LLVMTypeOf(x), build_bits(LLVMTypeOf(x))));
}

LLVMValueRef build_from_bits(emit_t* e, LLVMValueRef bits, LLVMTypeRef type) { return build_bitcast(e, bits, type); }

LLVMValueRef build_intrinsic(emit_t* e, const char* name, const LLVMTypeRef* types, unsigned type_count,
                             const LLVMValueRef* args, unsigned arg_count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id) {
    if (!e->failed) text_printf(e->error, "this LLVM has no intrinsic %s", name);
    e->failed = true;
    return LLVMGetUndef(type_count ? types[0] : LLVMInt32TypeInContext(e->context));
  }
  LLVMTypeRef* overloads = (LLVMTypeRef*)types;
  if (!LLVMIntrinsicIsOverloaded(id)) type_count = 0;
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, overloads, type_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, overloads, type_count);
  return LLVMBuildCall2(e->builder, type, function, (LLVMValueRef*)args, arg_count, "");
}

LLVMValueRef build_intrinsic1(emit_t* e, const char* name, LLVMValueRef a) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return build_intrinsic(e, name, &type, 1, &a, 1);
}

LLVMValueRef build_intrinsic2(emit_t* e, const char* name, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return build_intrinsic(e, name, &type, 1, (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef build_intrinsic3(emit_t* e, const char* name, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return build_intrinsic(e, name, &type, 1, (LLVMValueRef[]){a, b, c}, 3);
}

LLVMValueRef build_each(emit_t* e, const char* name, const LLVMValueRef* args, unsigned arg_count) {
  enum { MOST = 3 };
  LLVMTypeRef type = LLVMTypeOf(args[0]), scalar = build_scalar_type(type), i32 = LLVMInt32TypeInContext(e->context);
  unsigned lanes = build_lanes(type);
  if (!lanes) return build_intrinsic(e, name, &scalar, 1, args, arg_count);
  LLVMValueRef result = LLVMGetPoison(type), ones[MOST];
  for (unsigned i = 0; i < lanes; ++i) {
    LLVMValueRef at = LLVMConstInt(i32, i, 0);
    for (unsigned j = 0; j < arg_count; ++j) ones[j] = LLVMBuildExtractElement(e->builder, args[j], at, "");
    LLVMValueRef one = build_intrinsic(e, name, &scalar, 1, ones, arg_count);
    result = LLVMBuildInsertElement(e->builder, result, one, at, "");
  }
  return result;
}

LLVMValueRef build_fabs(emit_t* e, LLVMValueRef x) { return build_intrinsic1(e, "llvm.fabs", x); }
LLVMValueRef build_copysign(emit_t* e, LLVMValueRef magnitude, LLVMValueRef sign) {
  return build_intrinsic2(e, "llvm.copysign", magnitude, sign);
}
LLVMValueRef build_sqrt(emit_t* e, LLVMValueRef x) { return build_intrinsic1(e, "llvm.sqrt", x); }

LLVMValueRef build_is_negative(emit_t* e, LLVMValueRef x) {
  LLVMValueRef bits = build_bits_of(e, x);
  return build_icmp(e, LLVMIntSLT, bits, build_int(bits, 0));
}

LLVMValueRef build_mad(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return e->features.fma ? build_intrinsic3(e, "llvm.fma", a, b, c) : build_fadd(e, build_fmul(e, a, b), c);
}

LLVMValueRef build_min(emit_t* e, LLVMValueRef a, LLVMValueRef b) {
  return build_select(e, build_fcmp(e, LLVMRealOLT, a, b), a, b);
}
LLVMValueRef build_max(emit_t* e, LLVMValueRef a, LLVMValueRef b) {
  return build_select(e, build_fcmp(e, LLVMRealOGT, a, b), a, b);
}

//===----------------------------------------------------------------------------------------------------------------===
// fma without the instruction
//===----------------------------------------------------------------------------------------------------------------===

// Error of s = a + b.
static LLVMValueRef sum_error(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef s) {
  LLVMValueRef v = build_fsub(e, s, a);
  return build_fadd(e, build_fsub(e, a, build_fsub(e, s, v)), build_fsub(e, b, v));
}

// Rounds a + b to odd: the sum with its last bit set when it was not exact, so that rounding once more is harmless.
static LLVMValueRef add_odd(emit_t* e, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef s = build_fadd(e, a, b), error = sum_error(e, a, b, s);
  LLVMValueRef bits = build_bits_of(e, s), zero = build_float(error, 0);
  LLVMValueRef inexact = build_fcmp(e, LLVMRealONE, error, zero);
  LLVMValueRef even = build_icmp(e, LLVMIntEQ, build_and(e, bits, build_int(bits, 1)), build_int(bits, 0));
  // The exact sum lies beyond s when the error has the sign of s: one unit up, else one unit down.
  LLVMValueRef same = build_icmp(e, LLVMIntSGE, build_xor(e, build_bits_of(e, error), bits), build_int(bits, 0));
  LLVMValueRef step = build_select(e, same, build_int(bits, 1), build_int(bits, -1));
  LLVMValueRef odd = build_select(e, build_and(e, inexact, even), build_add(e, bits, step), bits);
  return build_from_bits(e, odd, LLVMTypeOf(s));
}

// Error of p = a * b, by splitting both factors in halves.
static LLVMValueRef product_error(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef p) {
  LLVMValueRef half[2][2], factors[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    LLVMValueRef bits = build_bits_of(e, factors[i]);
    // Rounded, so that the rest has 26 bits and a sign.
    bits = build_add(e, bits, build_int(bits, 1ll << 26));
    LLVMValueRef high = build_and(e, bits, build_int(bits, ~((1ll << 27) - 1)));
    half[i][0] = build_from_bits(e, high, LLVMTypeOf(a));
    half[i][1] = build_fsub(e, factors[i], half[i][0]);
  }
  LLVMValueRef r = build_fsub(e, build_fmul(e, half[0][0], half[1][0]), p);
  r = build_fadd(e, r, build_fmul(e, half[0][0], half[1][1]));
  r = build_fadd(e, r, build_fmul(e, half[0][1], half[1][0]));
  return build_fadd(e, r, build_fmul(e, half[0][1], half[1][1]));
}

LLVMValueRef build_fma(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (e->features.fma) return build_intrinsic3(e, "llvm.fma", a, b, c);
  LLVMTypeRef type = LLVMTypeOf(a), wide = build_f64_type(e, type);
  if (!build_is_f64(a)) {
    LLVMValueRef product = build_fmul(e, build_fpext(e, a, wide), build_fpext(e, b, wide));
    return build_fptrunc(e, add_odd(e, product, build_fpext(e, c, wide)), type);
  }
  LLVMValueRef p = build_fmul(e, a, b), s = build_fadd(e, p, c);
  LLVMValueRef tail = add_odd(e, product_error(e, a, b, p), sum_error(e, p, c, s));
  LLVMValueRef exact = build_fadd(e, s, tail);
  // Infinities and NaNs have no tail; an infinite c wins over a product that only overflows.
  LLVMValueRef inf = build_float(s, __builtin_inf());
  LLVMValueRef r = build_select(e, build_fcmp(e, LLVMRealOLT, build_fabs(e, s), inf), exact, s);
  LLVMValueRef factors = build_and(e, build_fcmp(e, LLVMRealOLT, build_fabs(e, a), inf),
                                   build_fcmp(e, LLVMRealOLT, build_fabs(e, b), inf));
  LLVMValueRef c_wins = build_and(e, factors, build_fcmp(e, LLVMRealOEQ, build_fabs(e, c), inf));
  return build_select(e, c_wins, c, r);
}

//===----------------------------------------------------------------------------------------------------------------===
// Rounding to integers
//===----------------------------------------------------------------------------------------------------------------===

LLVMValueRef build_round(emit_t* e, build_rounding_t mode, LLVMValueRef x) {
  static const char* const names[] = {"llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.roundeven"};
  if (e->features.rounding) return build_intrinsic1(e, names[mode], x);
  // Adding and subtracting 2^mantissa bits leaves an integer, rounded to nearest even; then step where that went wrong.
  LLVMValueRef magnitude = build_fabs(e, x);
  LLVMValueRef big = build_float(x, build_is_f64(x) ? 0x1p52 : 0x1p23), one = build_float(x, 1);
  LLVMValueRef nearest = build_fsub(e, build_fadd(e, magnitude, big), big);
  LLVMValueRef r = build_copysign(e, nearest, x);
  if (mode == BUILD_TRUNC) {
    LLVMValueRef over = build_fcmp(e, LLVMRealOGT, nearest, magnitude);
    r = build_copysign(e, build_select(e, over, build_fsub(e, nearest, one), nearest), x);
  } else if (mode == BUILD_FLOOR) {
    r = build_select(e, build_fcmp(e, LLVMRealOGT, r, x), build_fsub(e, r, one), r);
  } else if (mode == BUILD_CEIL) {
    LLVMValueRef up = build_copysign(e, build_fadd(e, r, one), x);
    r = build_select(e, build_fcmp(e, LLVMRealOLT, r, x), up, r);
  }
  return build_select(e, build_fcmp(e, LLVMRealOLT, magnitude, big), r, x);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks, vectors, addresses
//===----------------------------------------------------------------------------------------------------------------===

LLVMBasicBlockRef build_block(emit_t* e, const char* name) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

LLVMValueRef build_any(emit_t* e, LLVMValueRef mask) {
  unsigned lanes = build_lanes(LLVMTypeOf(mask));
  if (!lanes) return mask;
  return build_intrinsic1(e, "llvm.vector.reduce.or", mask);
}

build_loop_t build_loop_begin(emit_t* e, const LLVMValueRef* init, unsigned count) {
  build_loop_t loop = {.head = build_block(e, "head"), .exit = build_block(e, "exit"), .count = count};
  LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, loop.head);
  LLVMPositionBuilderAtEnd(e->builder, loop.head);
  for (unsigned i = 0; i < count; ++i) {
    loop.phis[i] = LLVMBuildPhi(e->builder, LLVMTypeOf(init[i]), "");
    LLVMAddIncoming(loop.phis[i], (LLVMValueRef*)&init[i], &from, 1);
  }
  return loop;
}

void build_loop_while(emit_t* e, build_loop_t* loop, LLVMValueRef condition) {
  LLVMBasicBlockRef body = build_block(e, "body");
  LLVMBuildCondBr(e->builder, condition, body, loop->exit);
  LLVMPositionBuilderAtEnd(e->builder, body);
}

void build_loop_end(emit_t* e, build_loop_t* loop, const LLVMValueRef* next) {
  LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder);
  for (unsigned i = 0; i < loop->count; ++i) LLVMAddIncoming(loop->phis[i], (LLVMValueRef*)&next[i], &from, 1);
  LLVMBuildBr(e->builder, loop->head);
  LLVMPositionBuilderAtEnd(e->builder, loop->exit);
}

LLVMValueRef build_shuffle(emit_t* e, LLVMValueRef a, LLVMValueRef b, const int* mask, unsigned count) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  arena_t arena;
  arena_init(&arena);
  LLVMValueRef* indices = ARENA_ARRAY(&arena, LLVMValueRef, count);
  for (unsigned i = 0; i < count; ++i) indices[i] = LLVMConstInt(i32, (unsigned)mask[i], 0);
  LLVMValueRef result = LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(indices, count), "");
  arena_finish(&arena);
  return result;
}

LLVMValueRef build_splat(emit_t* e, LLVMValueRef scalar, unsigned lanes) {
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes), i32 = LLVMInt32TypeInContext(e->context);
  if (LLVMIsConstant(scalar)) return build_splat_constant(type, scalar);
  LLVMValueRef poison = LLVMGetPoison(type);
  LLVMValueRef first = LLVMBuildInsertElement(e->builder, poison, scalar, LLVMConstInt(i32, 0, 0), "");
  return LLVMBuildShuffleVector(e->builder, first, poison, LLVMConstNull(LLVMVectorType(i32, lanes)), "");
}

LLVMValueRef build_address(emit_t* e, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildInBoundsGEP2(e->builder, element, base, &offset, 1, "");
}
