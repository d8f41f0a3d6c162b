// See address.h. An offset is sums of products by constants: its terms are sorted into those that all lanes have in
// common and those of each lane. Code generation, which looks at one block at a time and at loops by their steps, would
// rather add 64-bit numbers in each lane; so it is not told what the scalar part is made of.
#include "target/llvm/address.h"

#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/types.h"

enum { MOST_TERMS = 16, MOST_VISITS = 512 };

typedef struct term_t {
  ir_value_t* value;
  int64_t coefficient;
} term_t;

typedef struct offset_t {
  term_t common[MOST_TERMS], own[MOST_TERMS];  // of all lanes; of each
  uint32_t common_count, own_count;
  int64_t constant;
  uint32_t visits;
  bool failed;
} offset_t;

// Inclusive.
typedef struct range_t {
  int64_t min, max;
} range_t;

static const range_t unknown = {INT64_MIN, INT64_MAX};

static bool visit(offset_t* o) {
  o->failed |= ++o->visits > MOST_VISITS;
  return !o->failed;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is known of a value
//===----------------------------------------------------------------------------------------------------------------===

static bool is_function(const ir_value_t* value, scalar_fn_t fn) {
  return value->def && ir_op_dialect(value->def) == IR_DIALECT_KERNEL && kernel_scalar_fn(value->def) == (int)fn;
}

// Whether the scalar unit has instructions for it. What it lacks, vector instructions do, and their results cannot be
// brought back to where LLVM 22 wants products of 64 bits.
static bool is_scalar_work(const ir_op_t* op) {
  int64_t by;
  switch (kernel_scalar_fn(op)) {
    case SCALAR_add:
    case SCALAR_sub:
    case SCALAR_mul:
    case SCALAR_cast:
    case SCALAR_castu:
      return true;
    case SCALAR_divu:
    case SCALAR_remu:
      if (!kernel_constant_index(ir_operand(op, 1), &by) || by <= 0) return false;
      return ir_operand(op, 0)->type->kind != IR_TYPE_INDEX || (by & (by - 1)) == 0;
    default:
      return false;
  }
}

// Whether all lanes of a workgroup have the same number, by what it is computed from alone.
static bool is_common(const emit_t* e, offset_t* o, const ir_value_t* value) {
  if (!visit(o)) return false;
  const ir_op_t* op = value->def;
  if (!op) {
    const ir_op_t* owner = value->block->parent->parent;
    if (owner == e->func) return true;
    if (!ir_is(owner, KERNEL_FOR) || value->index != 0) return false;
    return is_common(e, o, ir_operand(owner, 0)) && is_common(e, o, ir_operand(owner, 1)) &&
           is_common(e, o, ir_operand(owner, 2));
  }
  if (ir_is(op, KERNEL_CONSTANT) || ir_is(op, KERNEL_WORKGROUP_ID) || ir_is(op, KERNEL_WORKGROUP_COUNT)) return true;
  if (!is_scalar_work(op)) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_common(e, o, ir_operand(op, i))) return false;
  }
  return true;
}

static range_t range_of(const emit_t* e, offset_t* o, const ir_value_t* value);
static bool is_narrow(range_t range) { return range.min >= 0 && range.max <= INT32_MAX; }

static range_t range_of_function(const emit_t* e, offset_t* o, const ir_op_t* op) {
  range_t x = range_of(e, o, ir_operand(op, 0)), y = unknown;
  if (op->operand_count > 1) y = range_of(e, o, ir_operand(op, 1));
  bool positive = x.min >= 0 && y.min > 0 && y.min == y.max;
  range_t sum;
  switch (kernel_scalar_fn(op)) {
    case SCALAR_cast:
    case SCALAR_castu:
      return is_narrow(x) ? x : unknown;
    case SCALAR_divu:
      return positive ? (range_t){x.min / y.min, x.max / y.min} : unknown;
    case SCALAR_remu:
      return positive ? (range_t){0, y.min - 1} : unknown;
    case SCALAR_min:
      return (range_t){x.min < y.min ? x.min : y.min, x.max < y.max ? x.max : y.max};
    case SCALAR_max:
      return (range_t){x.min > y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
    case SCALAR_add:
      if (__builtin_add_overflow(x.min, y.min, &sum.min) || __builtin_add_overflow(x.max, y.max, &sum.max))
        return unknown;
      return sum;
    case SCALAR_mul:
      if (x.min < 0 || y.min < 0 || __builtin_mul_overflow(x.max, y.max, &sum.max)) return unknown;
      return (range_t){x.min * y.min, sum.max};
    case SCALAR_select: {
      range_t other = range_of(e, o, ir_operand(op, 2));
      return (range_t){y.min < other.min ? y.min : other.min, y.max > other.max ? y.max : other.max};
    }
    default:
      return unknown;
  }
}

static range_t range_of(const emit_t* e, offset_t* o, const ir_value_t* value) {
  const ir_op_t* op = value->def;
  int64_t constant;
  if (!visit(o)) return unknown;
  if (kernel_constant_index(value, &constant)) return (range_t){constant, constant};
  if (!op) {
    const ir_op_t* owner = value->block->parent->parent;
    if (!ir_is(owner, KERNEL_FOR) || value->index != 0) return unknown;
    range_t lower = range_of(e, o, ir_operand(owner, 0)), upper = range_of(e, o, ir_operand(owner, 1));
    return upper.max > lower.min ? (range_t){lower.min, upper.max - 1} : unknown;
  }
  if (ir_is(op, KERNEL_THREAD_ID)) return (range_t){0, e->info->workgroup_size[ir_op_int(op, "axis", 0)] - 1};
  if (ir_is(op, KERNEL_SUBGROUP_LANE)) return (range_t){0, e->target->device.subgroup_size - 1};
  if (kernel_scalar_fn(op) < 0 || op->result_count != 1) return unknown;
  range_t range = range_of_function(e, o, op);
  return value->type->kind == IR_TYPE_INDEX || is_narrow(range) ? range : unknown;  // others may wrap around
}

//===----------------------------------------------------------------------------------------------------------------===
// Terms
//===----------------------------------------------------------------------------------------------------------------===

static void add_term(const emit_t* e, offset_t* o, ir_value_t* value, int64_t coefficient) {
  bool common = is_common(e, o, value);
  term_t* terms = common ? o->common : o->own;
  uint32_t* count = common ? &o->common_count : &o->own_count;
  for (uint32_t i = 0; i < *count; ++i) {
    if (terms[i].value != value) continue;
    o->failed |= __builtin_add_overflow(terms[i].coefficient, coefficient, &terms[i].coefficient);
    return;
  }
  o->failed |= *count == MOST_TERMS;
  if (!o->failed) terms[(*count)++] = (term_t){value, coefficient};
}

static void split(const emit_t* e, offset_t* o, ir_value_t* value, int64_t coefficient) {
  int64_t constant, product;
  if (!visit(o)) return;
  if (kernel_constant_index(value, &constant)) {
    o->failed |= __builtin_mul_overflow(constant, coefficient, &product);
    o->failed |= __builtin_add_overflow(o->constant, product, &o->constant);
  } else if (is_function(value, SCALAR_add)) {
    split(e, o, ir_operand(value->def, 0), coefficient);
    split(e, o, ir_operand(value->def, 1), coefficient);
  } else if (is_function(value, SCALAR_mul) && kernel_constant_index(ir_operand(value->def, 1), &constant)) {
    o->failed |= __builtin_mul_overflow(constant, coefficient, &product);
    split(e, o, ir_operand(value->def, 0), product);
  } else {
    add_term(e, o, value, coefficient);
  }
}

// Whether the lanes' own part is a number of 32 bits in bytes.
static bool is_own_narrow(const emit_t* e, offset_t* o, int64_t bytes) {
  int64_t sum = 0, most;
  for (uint32_t i = 0; i < o->own_count; ++i) {
    range_t range = range_of(e, o, o->own[i].value);
    if (!is_narrow(range) || o->own[i].coefficient < 0) return false;
    if (__builtin_mul_overflow(range.max, o->own[i].coefficient, &most) || most > INT32_MAX) return false;
    sum += most;
  }
  return !o->failed && sum * bytes <= INT32_MAX;
}

//===----------------------------------------------------------------------------------------------------------------===
// Code
//===----------------------------------------------------------------------------------------------------------------===

static LLVMValueRef i32(emit_t* e, int64_t value) {
  return LLVMConstInt(LLVMInt32TypeInContext(e->context), (uint64_t)value, 0);
}
static LLVMValueRef i64(emit_t* e, int64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(e->context), (uint64_t)value, 1);
}

// A number known to be of 31 bits, computed so where it is a clamped or chosen one.
static LLVMValueRef narrow(emit_t* e, offset_t* o, const ir_value_t* value) {
  LLVMTypeRef type = LLVMInt32TypeInContext(e->context);
  bool least = is_function(value, SCALAR_min), picks = is_function(value, SCALAR_select);
  if (is_function(value, SCALAR_castu) || is_function(value, SCALAR_cast)) {
    LLVMValueRef from = emit_operand(value->def, 0);
    if (build_bits(LLVMTypeOf(from)) == 32) return from;
  }
  if (picks || least || is_function(value, SCALAR_max)) {
    const ir_value_t *x = ir_operand(value->def, picks ? 1 : 0), *y = ir_operand(value->def, picks ? 2 : 1);
    if (is_narrow(range_of(e, o, x)) && is_narrow(range_of(e, o, y))) {
      LLVMValueRef a = narrow(e, o, x), b = narrow(e, o, y);
      LLVMIntPredicate compare = least ? LLVMIntULT : LLVMIntUGT;
      LLVMValueRef first = picks ? emit_operand(value->def, 0) : build_icmp(e, compare, a, b);
      return build_select(e, first, a, b);
    }
  }
  return build_trunc(e, emit_get(value), type);
}

// The same number in this block: instruction selection only sees that it is extended where that is not moved out of a
// loop. Annotations are not moved, and leave nothing.
static LLVMValueRef keep_here(emit_t* e, LLVMValueRef number) {
  LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0), types[] = {LLVMTypeOf(number), pointer};
  LLVMValueRef none = LLVMConstNull(pointer), args[] = {number, none, none, i32(e, 0)};
  return build_intrinsic(e, "llvm.annotation", types, 2, args, 4);
}

static LLVMValueRef own_bytes(emit_t* e, offset_t* o, int64_t bytes) {
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < o->own_count; ++i) {
    LLVMValueRef term = build_mul(e, narrow(e, o, o->own[i].value), i32(e, o->own[i].coefficient * bytes));
    sum = sum ? build_add(e, sum, term) : term;
  }
  return build_zext(e, keep_here(e, sum), LLVMInt64TypeInContext(e->context));
}

// The same scalar, of which code generation knows nothing.
static LLVMValueRef opaque(emit_t* e, LLVMValueRef address) {
  static const char constraints[] = "=s,0", *const attributes[] = {"nounwind", "willreturn", "memory"};
  LLVMTypeRef pointer = LLVMTypeOf(address), type = LLVMFunctionType(pointer, &pointer, 1, 0);
  LLVMValueRef assembly =
      LLVMGetInlineAsm(type, "", 0, constraints, sizeof(constraints) - 1, 0, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef call = LLVMBuildCall2(e->builder, type, assembly, &address, 1, "");
  for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); ++i) {
    unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(e->context, kind, 0);  // memory: none
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
  }
  return call;
}

static LLVMValueRef common_base(emit_t* e, const offset_t* o, LLVMValueRef base, int64_t bytes, int64_t constant) {
  LLVMValueRef sum = i64(e, constant);
  for (uint32_t i = 0; i < o->common_count; ++i) {
    LLVMValueRef scale = i64(e, o->common[i].coefficient * bytes);
    sum = build_add(e, sum, build_mul(e, emit_get(o->common[i].value), scale));
  }
  return opaque(e, build_address(e, LLVMInt8TypeInContext(e->context), base, sum));
}

LLVMValueRef address_of(emit_t* e, const ir_op_t* op, uint32_t memory_operand) {
  const ir_type_t* memory = ir_operand(op, memory_operand)->type;
  LLVMValueRef base = emit_operand(op, memory_operand), offset = emit_operand(op, memory_operand + 1);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context), element = emit_memory_type(e, memory->element);
  int64_t near = e->hooks->near_bytes ? e->hooks->near_bytes(e) : 0, bytes = ir_type_bytes(memory->element);
  offset_t o = {0};
  if (near && memory->space == IR_SPACE_GLOBAL) split(e, &o, ir_operand(op, memory_operand + 1), 1);
  bool is_far = __builtin_mul_overflow(o.constant, bytes, &o.constant) || o.failed;
  if (!near || !o.own_count || is_far || !is_own_narrow(e, &o, bytes)) return build_address(e, element, base, offset);
  int64_t rest = o.constant & (near - 1);
  if (o.common_count || o.constant != rest) base = common_base(e, &o, base, bytes, o.constant - rest);
  base = build_address(e, i8, base, own_bytes(e, &o, bytes));
  return rest ? build_address(e, i8, base, i64(e, rest)) : base;
}
