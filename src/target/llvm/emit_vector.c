// Constants and vectors.
#include "base/scalar_math.h"
#include "target/llvm/build.h"
#include "target/llvm/emit.h"
#include "target/llvm/scalar.h"
#include "target/llvm/tiles.h"
#include "target/llvm/types.h"

static LLVMValueRef attr_scalar(emit_t* e, const ir_type_t* scalar, const ir_attr_t* attr) {
  bool is_float = attr->kind == IR_ATTR_FLOAT;
  return emit_number(e, scalar, is_float ? attr->number : (double)attr->integer,
                     is_float ? scalar_float_to_int(attr->number, 64, false) : attr->integer);
}

void emit_op_constant(emit_t* e, ir_op_t* op) {
  const ir_type_t* type = ir_result(op, 0)->type;
  const ir_type_t* scalar = ir_type_scalar(type);
  const ir_attr_t* value = ir_op_attr(op, "value");
  if (!value) {
    emit_fail(e, op, "has no value");
    return;
  }
  if (tiles_is_type(e, type)) {
    bool zero = value->kind == IR_ATTR_FLOAT ? value->number == 0 : value->kind == IR_ATTR_INTEGER && !value->integer;
    if (!zero) emit_fail(e, op, "is a tile, of which only zeros are known");
    if (zero) emit_set(ir_result(op, 0), tiles_zero(e));
    return;
  }
  LLVMTypeRef machine = emit_type(e, type);
  if (value->kind == IR_ATTR_FLOAT || value->kind == IR_ATTR_INTEGER) {
    emit_set(ir_result(op, 0), build_splat_constant(machine, attr_scalar(e, scalar, value)));
    return;
  }
  unsigned lanes = build_lanes(machine);
  if (value->kind != IR_ATTR_ELEMENTS || !lanes || ir_type_count(value->type) != (int64_t)lanes) {
    emit_fail(e, op, "has a value that does not fit its type");
    return;
  }
  arena_t arena;
  arena_init(&arena);
  LLVMValueRef* all = ARENA_ARRAY(&arena, LLVMValueRef, lanes);
  for (unsigned i = 0; i < lanes; ++i) {
    all[i] = emit_number(e, scalar, ir_attr_element_number(value, i), ir_attr_element_integer(value, i));
  }
  emit_set(ir_result(op, 0), LLVMConstVector(all, lanes));
  arena_finish(&arena);
}

void emit_op_iota(emit_t* e, ir_op_t* op) {
  const ir_type_t* type = ir_result(op, 0)->type;
  const ir_type_t* scalar = ir_type_scalar(type);
  LLVMTypeRef machine = emit_type(e, type);
  unsigned lanes = build_lanes(machine);
  arena_t arena;
  arena_init(&arena);
  LLVMValueRef* all = ARENA_ARRAY(&arena, LLVMValueRef, lanes ? lanes : 1);
  for (unsigned i = 0; i < (lanes ? lanes : 1); ++i) all[i] = emit_number(e, scalar, i, i);
  emit_set(ir_result(op, 0), lanes ? LLVMConstVector(all, lanes) : all[0]);
  arena_finish(&arena);
}

void emit_op_splat(emit_t* e, ir_op_t* op) {
  unsigned lanes = build_lanes(emit_type(e, ir_result(op, 0)->type));
  LLVMValueRef scalar = emit_operand(op, 0);
  emit_set(ir_result(op, 0), lanes ? build_splat(e, scalar, lanes) : scalar);
}

static LLVMValueRef lane_number(emit_t* e, ir_op_t* op, LLVMValueRef vector) {
  int64_t index = ir_op_int(op, "index", 0);
  if (index < 0 || index >= (int64_t)build_lanes(LLVMTypeOf(vector))) {
    emit_fail(e, op, "has lane %lld of a vector of %u", (long long)index, build_lanes(LLVMTypeOf(vector)));
    index = 0;
  }
  return LLVMConstInt(LLVMInt32TypeInContext(e->context), (unsigned long long)index, 0);
}

void emit_op_extract(emit_t* e, ir_op_t* op) {
  LLVMValueRef vector = emit_operand(op, 0), lane = lane_number(e, op, vector);
  if (e->failed) return;
  emit_set(ir_result(op, 0), LLVMBuildExtractElement(e->builder, vector, lane, ""));
}

void emit_op_extract_dynamic(emit_t* e, ir_op_t* op) {
  emit_set(ir_result(op, 0), LLVMBuildExtractElement(e->builder, emit_operand(op, 0), emit_operand(op, 1), ""));
}

void emit_op_insert(emit_t* e, ir_op_t* op) {
  LLVMValueRef vector = emit_operand(op, 1), lane = lane_number(e, op, vector);
  if (e->failed) return;
  emit_set(ir_result(op, 0), LLVMBuildInsertElement(e->builder, vector, emit_operand(op, 0), lane, ""));
}

void emit_op_shuffle(emit_t* e, ir_op_t* op) {
  LLVMValueRef a = emit_operand(op, 0), b = emit_operand(op, 1);
  unsigned lanes = build_lanes(emit_type(e, ir_result(op, 0)->type));
  int64_t limit = build_lanes(LLVMTypeOf(a)) + build_lanes(LLVMTypeOf(b));
  const ir_attr_t* attr = ir_op_attr(op, "mask");
  arena_t arena;
  arena_init(&arena);
  int64_t* mask = ARENA_ARRAY(&arena, int64_t, lanes + 1);
  int* lane = ARENA_ARRAY(&arena, int, lanes + 1);
  if (!attr || ir_attr_ints(attr, mask, lanes) != lanes || LLVMTypeOf(a) != LLVMTypeOf(b)) {
    emit_fail(e, op, "needs two vectors of one type and a mask of %u lanes", lanes);
  }
  for (unsigned i = 0; i < lanes; ++i) {
    if (mask[i] < 0 || mask[i] >= limit) emit_fail(e, op, "has lane %lld in its mask", (long long)mask[i]);
    lane[i] = (int)mask[i];
  }
  if (!e->failed) emit_set(ir_result(op, 0), build_shuffle(e, a, b, lane, lanes));
  arena_finish(&arena);
}

// Lanes first .. first + count - 1.
static LLVMValueRef slice(emit_t* e, LLVMValueRef v, unsigned first, unsigned count) {
  int mask[4096];
  for (unsigned i = 0; i < count; ++i) mask[i] = (int)(first + i);
  return build_shuffle(e, v, LLVMGetPoison(LLVMTypeOf(v)), mask, count);
}

// A whole register is kept, and its first lane taken, where an instruction of registers spares many of their parts.
static bool keeps_register(const emit_t* e, scalar_fn_t fn, const ir_type_t* scalar, unsigned lanes) {
  enum { REGISTER = 16 };
  uint32_t bytes = ir_type_bytes(scalar);
  bool is_wide = scalar->kind == IR_TYPE_FLOAT && bytes >= 4 && bytes * lanes == REGISTER;
  return is_wide && e->features.range && (fn == SCALAR_min || fn == SCALAR_max);
}

static LLVMValueRef reduce_register(emit_t* e, scalar_fn_t fn, const ir_type_t* scalar, LLVMValueRef v) {
  int mask[4], lanes = (int)build_lanes(LLVMTypeOf(v));
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < lanes; ++i) mask[i] = (i + half) % lanes;
    LLVMValueRef turned = build_shuffle(e, v, LLVMGetPoison(LLVMTypeOf(v)), mask, (unsigned)lanes);
    v = emit_scalar(e, fn, (LLVMValueRef[3]){v, turned}, scalar, scalar);
  }
  return v;
}

// Halves are combined until one lane is left; of an odd count the last lane waits its turn.
static LLVMValueRef reduce_tree(emit_t* e, scalar_fn_t fn, const ir_type_t* scalar, LLVMValueRef v) {
  unsigned lanes = build_lanes(LLVMTypeOf(v));
  LLVMValueRef rest = NULL, zero = LLVMConstInt(LLVMInt32TypeInContext(e->context), 0, 0);
  while (lanes > 1) {
    if (lanes & 1) {
      LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(e->context), lanes - 1, 0);
      LLVMValueRef last = LLVMBuildExtractElement(e->builder, v, at, "");
      rest = rest ? emit_scalar(e, fn, (LLVMValueRef[3]){last, rest}, scalar, scalar) : last;
    }
    lanes /= 2;
    LLVMValueRef halves[3] = {slice(e, v, 0, lanes), slice(e, v, lanes, lanes)};
    v = emit_scalar(e, fn, halves, scalar, scalar);
    if (!keeps_register(e, fn, scalar, lanes)) continue;
    v = reduce_register(e, fn, scalar, v);
    break;
  }
  LLVMValueRef result = LLVMBuildExtractElement(e->builder, v, zero, "");
  return rest ? emit_scalar(e, fn, (LLVMValueRef[3]){result, rest}, scalar, scalar) : result;
}

// REDUCE(kind, scalar function, intrinsic for integers)
#define REDUCE_KINDS(REDUCE)                             \
  REDUCE("add", SCALAR_add, "llvm.vector.reduce.add")    \
  REDUCE("mul", SCALAR_mul, "llvm.vector.reduce.mul")    \
  REDUCE("min", SCALAR_min, "llvm.vector.reduce.smin")   \
  REDUCE("max", SCALAR_max, "llvm.vector.reduce.smax")   \
  REDUCE("minu", SCALAR_minu, "llvm.vector.reduce.umin") \
  REDUCE("maxu", SCALAR_maxu, "llvm.vector.reduce.umax") \
  REDUCE("and", SCALAR_and, "llvm.vector.reduce.and")    \
  REDUCE("or", SCALAR_or, "llvm.vector.reduce.or")       \
  REDUCE("xor", SCALAR_xor, "llvm.vector.reduce.xor")

void emit_op_reduce(emit_t* e, ir_op_t* op) {
  static const struct {
    const char* kind;
    scalar_fn_t fn;
    const char* intrinsic;
  } kinds[] = {
#define REDUCE(kind, fn, intrinsic) {kind, fn, intrinsic},
      REDUCE_KINDS(REDUCE)
#undef REDUCE
  };
  const char* kind = ir_op_string(op, "kind", "");
  const ir_type_t* scalar = ir_type_scalar(ir_operand(op, 0)->type);
  LLVMValueRef v = emit_operand(op, 0);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (__builtin_strcmp(kinds[i].kind, kind) != 0) continue;
    if (!build_lanes(LLVMTypeOf(v))) {
      emit_set(ir_result(op, 0), v);
    } else if (scalar->kind == IR_TYPE_FLOAT || ir_type_bytes(scalar) == 1) {
      emit_set(ir_result(op, 0), reduce_tree(e, kinds[i].fn, scalar, v));
    } else {
      emit_set(ir_result(op, 0), build_intrinsic1(e, kinds[i].intrinsic, v));
    }
    return;
  }
  emit_fail(e, op, "has no kind '%s'", kind);
}
