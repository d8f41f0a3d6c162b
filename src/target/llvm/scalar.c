// The table of scalar functions, and how operands get into a form that the functions take: booleans use the unsigned
// rows, floats narrower than 32 bits are computed in f32 and rounded back (correct for + - * / and sqrt).
#include "target/llvm/scalar.h"

#include "target/llvm/build.h"
#include "target/llvm/types.h"

#define ROW_F(name) {emit_float_##name, NULL}
#define ROW_I(name) {NULL, emit_int_##name}
#define ROW_FI(name) {emit_float_##name, emit_int_##name}
static const struct {
  emit_scalar_fn_t on_float, on_int;
} rows[SCALAR_COUNT] = {
#define SCALAR(name, arity, types, ...) ROW_##types(name),
#include "base/scalar.def"
#undef SCALAR
};

// The row that treats i1 as 0 and 1 rather than 0 and -1.
static scalar_fn_t boolean_row(scalar_fn_t fn) {
  static const struct {
    scalar_fn_t from, to;
  } unsigned_rows[] = {{SCALAR_div, SCALAR_divu}, {SCALAR_rem, SCALAR_remu}, {SCALAR_min, SCALAR_minu},
                       {SCALAR_max, SCALAR_maxu}, {SCALAR_lt, SCALAR_ltu},   {SCALAR_le, SCALAR_leu},
                       {SCALAR_gt, SCALAR_gtu},   {SCALAR_ge, SCALAR_geu},   {SCALAR_sign, SCALAR_abs}};
  for (size_t i = 0; i < sizeof(unsigned_rows) / sizeof(unsigned_rows[0]); ++i) {
    if (unsigned_rows[i].from == fn) return unsigned_rows[i].to;
  }
  return fn;
}

// Functions that half arithmetic computes as exactly as f32 would.
static bool half_computes(scalar_fn_t fn) {
  switch (fn) {
    case SCALAR_add:
    case SCALAR_sub:
    case SCALAR_mul:
    case SCALAR_fma:
    case SCALAR_neg:
    case SCALAR_abs:
    case SCALAR_eq:
    case SCALAR_ne:
    case SCALAR_lt:
    case SCALAR_le:
    case SCALAR_gt:
    case SCALAR_ge:
    case SCALAR_is_nan:
      return true;
    default:
      return false;
  }
}

static LLVMValueRef emit_float_row(emit_t* e, scalar_fn_t fn, const LLVMValueRef in[3], const ir_type_t* operand) {
  const scalar_info_t* info = &scalar_info[fn];
  emit_scalar_fn_t function = rows[fn].on_float;
  if (!emit_is_small_float(operand)) return function(e, in[0], in[1], in[2]);
  if (operand->float_kind == IR_F16 && e->features.f16_arithmetic && half_computes(fn)) {
    return function(e, in[0], in[1], in[2]);
  }
  LLVMValueRef wide[3] = {NULL, NULL, NULL};
  for (int i = 0; i < info->arity; ++i) wide[i] = emit_widen(e, operand, in[i]);
  LLVMValueRef result = function(e, wide[0], wide[1], wide[2]);
  return info->result == SCALAR_RESULT_BOOL ? result : emit_narrow(e, operand, result);
}

static LLVMValueRef emit_bitcast_row(emit_t* e, LLVMValueRef a, const ir_type_t* operand, const ir_type_t* result) {
  if (ir_type_bytes(operand) != ir_type_bytes(result)) {
    if (!e->failed) text_puts(e->error, "kernel.bitcast between types of different sizes");
    e->failed = true;
    return a;
  }
  LLVMTypeRef type = build_shape(emit_scalar_type(e, result), LLVMTypeOf(a));
  if (build_bits(LLVMTypeOf(a)) == build_bits(type)) return build_bitcast(e, a, type);
  // Integers below 8 bits: through the byte that memory holds.
  LLVMTypeRef byte = build_int_type(e, type, 8);
  return build_trunc(e, build_zext(e, a, byte), type);
}

LLVMValueRef emit_scalar(emit_t* e, scalar_fn_t fn, const LLVMValueRef in[3], const ir_type_t* operand,
                         const ir_type_t* result) {
  if (fn == SCALAR_cast || fn == SCALAR_castu) return emit_cast(e, in[0], operand, result, fn == SCALAR_castu);
  if (fn == SCALAR_bitcast) return emit_bitcast_row(e, in[0], operand, result);
  if (fn == SCALAR_select) return build_select(e, in[0], in[1], in[2]);
  if (operand->kind == IR_TYPE_FLOAT && rows[fn].on_float) return emit_float_row(e, fn, in, operand);
  if (operand->kind == IR_TYPE_INTEGER && operand->width == 1) {
    if (fn == SCALAR_shr) return in[0];
    fn = boolean_row(fn);
    if (fn == SCALAR_abs) return in[0];
  }
  if (operand->kind != IR_TYPE_FLOAT && rows[fn].on_int) return rows[fn].on_int(e, in[0], in[1], in[2]);
  if (!e->failed) {
    text_printf(e->error, "kernel.%s is not defined on ", scalar_info[fn].name);
    ir_print_type(e->error, operand);
  }
  e->failed = true;
  return in[0];
}

// Rows that emit_scalar handles itself: never called.
#define SPECIAL_ROW(name)                                                                                 \
  LLVMValueRef emit_float_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return a; } \
  LLVMValueRef emit_int_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return a; }
SPECIAL_ROW(cast)
SPECIAL_ROW(castu)
SPECIAL_ROW(bitcast)
SPECIAL_ROW(select)
