// Loads, stores, gathers, scatters, atomics, allocations.
#include <string.h>

#include "base/memory.h"
#include "target/entry.h"
#include "target/llvm/address.h"
#include "target/llvm/build.h"
#include "target/llvm/emit.h"
#include "target/llvm/reload.h"
#include "target/llvm/types.h"

static const ir_type_t* element_of(const ir_op_t* op, uint32_t memory_operand) {
  return ir_operand(op, memory_operand)->type->element;
}

static LLVMTypeRef element_memory_type(emit_t* e, const ir_op_t* op, uint32_t memory_operand) {
  return emit_memory_type(e, element_of(op, memory_operand));
}

static unsigned alignment_of(const ir_op_t* op, const ir_type_t* element) {
  int64_t align = ir_op_int(op, "align", 0);
  unsigned natural = ir_type_bytes(element);
  return align > 0 && (align & (align - 1)) == 0 && align < (1 << 20) ? (unsigned)align : natural;
}

static void mark_nontemporal(emit_t* e, const ir_op_t* op, LLVMValueRef instruction) {
  if (!ir_op_flag(op, "nontemporal")) return;
  unsigned kind = LLVMGetMDKindIDInContext(e->context, "nontemporal", 11);
  LLVMValueRef one = LLVMConstInt(LLVMInt32TypeInContext(e->context), 1, 0);
  LLVMMetadataRef node = LLVMValueAsMetadata(one);
  LLVMMetadataRef list = LLVMMDNodeInContext2(e->context, &node, 1);
  LLVMSetMetadata(instruction, kind, LLVMMetadataAsValue(e->context, list));
}

// Masked accesses work on vectors: scalars become vectors of one lane.
static LLVMValueRef as_vector(emit_t* e, LLVMValueRef value) {
  if (build_lanes(LLVMTypeOf(value))) return value;
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), 1);
  LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(e->context), 0, 0);
  return LLVMBuildInsertElement(e->builder, LLVMGetPoison(type), value, zero, "");
}

static LLVMValueRef as_scalar_if(emit_t* e, LLVMValueRef value, bool scalar) {
  if (!scalar) return value;
  return LLVMBuildExtractElement(e->builder, value, LLVMConstInt(LLVMInt32TypeInContext(e->context), 0, 0), "");
}

static void set_call_alignment(emit_t* e, LLVMValueRef call, unsigned argument, unsigned align) {
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddCallSiteAttribute(call, argument + 1, LLVMCreateEnumAttribute(e->context, kind, align));
}

static void mark_readonly_memory(emit_t* e, const ir_op_t* op, uint32_t memory_operand, LLVMValueRef load) {
  const ir_value_t* memory = ir_operand(op, memory_operand);
  while (memory->def && ir_is(memory->def, KERNEL_VIEW)) memory = ir_operand(memory->def, 0);
  if (memory->def || memory->block->parent->parent != e->func || !entry_is_readonly(e->func, memory->index)) return;
  unsigned kind = LLVMGetMDKindIDInContext(e->context, "invariant.load", 14);
  LLVMMetadataRef empty = LLVMMDNodeInContext2(e->context, NULL, 0);
  LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->context, empty));
}

void emit_op_load(emit_t* e, ir_op_t* op) {
  const ir_type_t* type = ir_result(op, 0)->type;
  LLVMTypeRef memory = emit_memory_type(e, type);
  bool on_cpu = e->target->device.kind == DEVICE_CPU;
  LLVMValueRef address = on_cpu ? reload_address(e, op, element_memory_type(e, op, 0), memory) : address_of(e, op, 0);
  unsigned align = alignment_of(op, element_of(op, 0));
  LLVMValueRef loaded;
  if (op->operand_count <= 2) {
    loaded = LLVMBuildLoad2(e->builder, memory, address, "");
    LLVMSetAlignment(loaded, align);
    mark_readonly_memory(e, op, 0, loaded);
    mark_nontemporal(e, op, loaded);
  } else {
    bool scalar = !build_lanes(memory);
    LLVMValueRef mask = as_vector(e, emit_operand(op, 2));
    LLVMValueRef other = op->operand_count > 3 ? emit_to_memory(e, type, emit_operand(op, 3)) : LLVMConstNull(memory);
    other = as_vector(e, other);
    LLVMTypeRef types[2] = {LLVMTypeOf(other), LLVMTypeOf(address)};
    loaded = build_intrinsic(e, "llvm.masked.load", types, 2, (LLVMValueRef[]){address, mask, other}, 3);
    set_call_alignment(e, loaded, 0, align);
    mark_nontemporal(e, op, loaded);
    loaded = as_scalar_if(e, loaded, scalar);
  }
  emit_set(ir_result(op, 0), emit_from_memory(e, type, loaded));
}

// The one lane that a mask known now lets through, or -1.
static int64_t only_lane(LLVMValueRef mask) {
  int64_t lane = -1;
  if (!LLVMIsConstant(mask)) return -1;
  for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(mask)); ++i) {
    LLVMValueRef bit = LLVMGetAggregateElement(mask, i);
    if (!bit || !LLVMIsAConstantInt(bit) || (LLVMConstIntGetZExtValue(bit) && lane >= 0)) return -1;
    if (LLVMConstIntGetZExtValue(bit)) lane = i;
  }
  return lane;
}

// LLVM 22 makes a store of one lane's element from this by itself, but when the value was truncated from a wider
// vector, on x86, of the wider element.
static void store_lane(emit_t* e, const ir_op_t* op, LLVMValueRef value, LLVMValueRef address, int64_t lane) {
  LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(e->context), (uint64_t)lane, 0);
  LLVMValueRef element = LLVMBuildExtractElement(e->builder, value, at, "");
  LLVMValueRef place = build_address(e, LLVMTypeOf(element), address, at);
  LLVMSetAlignment(LLVMBuildStore(e->builder, element, place), ir_type_bytes(element_of(op, 1)));
}

void emit_op_store(emit_t* e, ir_op_t* op) {
  LLVMValueRef value = emit_to_memory(e, ir_operand(op, 0)->type, emit_operand(op, 0));
  LLVMValueRef address = address_of(e, op, 1);
  unsigned align = alignment_of(op, element_of(op, 1));
  if (op->operand_count <= 3) {
    LLVMValueRef store = LLVMBuildStore(e->builder, value, address);
    LLVMSetAlignment(store, align);
    mark_nontemporal(e, op, store);
    return;
  }
  LLVMValueRef mask = as_vector(e, emit_operand(op, 3));
  value = as_vector(e, value);
  int64_t lane = only_lane(mask);
  if (lane >= 0) {
    store_lane(e, op, value, address, lane);
    return;
  }
  LLVMTypeRef types[2] = {LLVMTypeOf(value), LLVMTypeOf(address)};
  LLVMValueRef call = build_intrinsic(e, "llvm.masked.store", types, 2, (LLVMValueRef[]){value, address, mask}, 3);
  set_call_alignment(e, call, 1, align);
  mark_nontemporal(e, op, call);
}

static LLVMValueRef all_lanes(emit_t* e, LLVMTypeRef like) {
  LLVMTypeRef mask = build_int_type(e, like, 1);
  return LLVMConstAllOnes(mask);
}

// Offsets as 64-bit numbers; narrower ones are signed.
static LLVMValueRef wide_offsets(emit_t* e, LLVMValueRef offsets) {
  return build_sext(e, offsets, build_int_type(e, LLVMTypeOf(offsets), 64));
}

void emit_op_gather(emit_t* e, ir_op_t* op) {
  const ir_type_t* type = ir_result(op, 0)->type;
  LLVMTypeRef memory = emit_memory_type(e, type);
  LLVMValueRef offsets = wide_offsets(e, emit_operand(op, 1));
  LLVMValueRef addresses = build_address(e, element_memory_type(e, op, 0), emit_operand(op, 0), offsets);
  LLVMValueRef mask = op->operand_count > 2 ? emit_operand(op, 2) : all_lanes(e, memory);
  LLVMValueRef other = op->operand_count > 3 ? emit_to_memory(e, type, emit_operand(op, 3)) : LLVMConstNull(memory);
  LLVMTypeRef types[2] = {memory, LLVMTypeOf(addresses)};
  LLVMValueRef loaded = build_intrinsic(e, "llvm.masked.gather", types, 2, (LLVMValueRef[]){addresses, mask, other}, 3);
  set_call_alignment(e, loaded, 0, ir_type_bytes(element_of(op, 0)));
  emit_set(ir_result(op, 0), emit_from_memory(e, type, loaded));
}

void emit_op_scatter(emit_t* e, ir_op_t* op) {
  LLVMValueRef values = emit_to_memory(e, ir_operand(op, 0)->type, emit_operand(op, 0));
  LLVMValueRef offsets = wide_offsets(e, emit_operand(op, 2));
  LLVMValueRef addresses = build_address(e, element_memory_type(e, op, 1), emit_operand(op, 1), offsets);
  LLVMValueRef mask = op->operand_count > 3 ? emit_operand(op, 3) : all_lanes(e, LLVMTypeOf(values));
  LLVMTypeRef types[2] = {LLVMTypeOf(values), LLVMTypeOf(addresses)};
  LLVMValueRef call = build_intrinsic(e, "llvm.masked.scatter", types, 2, (LLVMValueRef[]){values, addresses, mask}, 3);
  set_call_alignment(e, call, 1, ir_type_bytes(element_of(op, 1)));
}

// ATOMIC(kind, integer operation, float operation or -1)
#define ATOMIC_KINDS(ATOMIC)                                       \
  ATOMIC("add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpFAdd)     \
  ATOMIC("min", LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpFMinimum) \
  ATOMIC("max", LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpFMaximum) \
  ATOMIC("minu", LLVMAtomicRMWBinOpUMin, -1)                       \
  ATOMIC("maxu", LLVMAtomicRMWBinOpUMax, -1)                       \
  ATOMIC("and", LLVMAtomicRMWBinOpAnd, -1)                         \
  ATOMIC("or", LLVMAtomicRMWBinOpOr, -1)                           \
  ATOMIC("xor", LLVMAtomicRMWBinOpXor, -1)                         \
  ATOMIC("exchange", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg)

void emit_op_atomic(emit_t* e, ir_op_t* op) {
  static const struct {
    const char* kind;
    int on_int, on_float;
  } kinds[] = {
#define ATOMIC(kind, on_int, on_float) {kind, on_int, on_float},
      ATOMIC_KINDS(ATOMIC)
#undef ATOMIC
  };
  const char* kind = ir_op_string(op, "kind", "");
  const ir_type_t* type = ir_operand(op, 0)->type;
  bool is_float = type->kind == IR_TYPE_FLOAT;
  int operation = -1;
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(kinds[i].kind, kind) == 0) operation = is_float ? kinds[i].on_float : kinds[i].on_int;
  }
  bool bits_only = is_float && emit_is_small_float(type) && operation != LLVMAtomicRMWBinOpXchg;
  if (operation < 0 || bits_only || type->kind == IR_TYPE_VECTOR) {
    emit_fail(e, op, "has no kind '%s' for this type", kind);
    return;
  }
  LLVMValueRef value = emit_to_memory(e, type, emit_operand(op, 0)), address = address_of(e, op, 1);
  unsigned scope = LLVMGetSyncScopeID(e->context, e->hooks->atomic_scope, strlen(e->hooks->atomic_scope));
  LLVMValueRef old = LLVMBuildAtomicRMWSyncScope(e->builder, (LLVMAtomicRMWBinOp)operation, address, value,
                                                 LLVMAtomicOrderingMonotonic, scope);
  emit_set(ir_result(op, 0), emit_from_memory(e, type, old));
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory objects
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t workgroup_offset(emit_t* e, uint64_t bytes, uint64_t align) {
  uint64_t offset = (e->workgroup_memory + align - 1) & ~(align - 1);
  e->workgroup_memory = offset + bytes;
  return offset;
}

// Stack memory in the entry block, whatever the loop depth of the op.
static LLVMValueRef stack_memory(emit_t* e, LLVMTypeRef element, uint64_t count, unsigned align) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(e->context);
  LLVMValueRef first = LLVMGetFirstInstruction(e->entry_block);
  if (first) {
    LLVMPositionBuilderBefore(builder, first);
  } else {
    LLVMPositionBuilderAtEnd(builder, e->entry_block);
  }
  LLVMValueRef memory = LLVMBuildAlloca(builder, LLVMArrayType2(element, count), "");
  LLVMSetAlignment(memory, align);
  LLVMDisposeBuilder(builder);
  return memory;
}

void emit_op_alloc(emit_t* e, ir_op_t* op) {
  // Threads of a CPU executor have small stacks; a workgroup is one call there, so its memory serves as well.
  enum { STACK_LIMIT = 16384 };
  const ir_type_t* type = ir_result(op, 0)->type;
  int64_t count = ir_type_count(type);
  if (count == IR_DYNAMIC || count < 0 || count > (1 << 28)) {
    emit_fail(e, op, "needs a static size");
    return;
  }
  uint64_t bytes = (uint64_t)count * ir_type_bytes(type->element);
  unsigned natural = ir_type_bytes(type->element), least = e->target->device.kind == DEVICE_CPU ? 64 : 16;
  unsigned align = alignment_of(op, type->element);
  if (align == natural && align < least && bytes >= least) align = least;
  bool on_stack = type->space == IR_SPACE_PRIVATE;
  if (on_stack && e->target->device.kind == DEVICE_CPU && bytes > STACK_LIMIT) on_stack = false;
  LLVMValueRef memory;
  if (on_stack) {
    memory = stack_memory(e, emit_memory_type(e, type->element), (uint64_t)count, align);
  } else {
    memory = e->hooks->workgroup_memory(e, workgroup_offset(e, bytes, align));
  }
  emit_set(ir_result(op, 0), memory);
}

void emit_op_view(emit_t* e, ir_op_t* op) { emit_set(ir_result(op, 0), emit_operand(op, 0)); }

// A function of the objects that are linked in.
void emit_op_call(emit_t* e, ir_op_t* op) {
  const char* name = ir_op_string(op, "callee", "");
  if (e->target->backend != TARGET_LLVM_CPU) return emit_fail(e, op, "only code for CPUs is linked with objects");
  LLVMValueRef* args = memory_array(op->operand_count + 1, sizeof(*args));
  LLVMTypeRef* types = memory_array(op->operand_count + 1, sizeof(*types));
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    args[i] = emit_operand(op, i);
    types[i] = LLVMTypeOf(args[i]);
  }
  if (ir_op_attr(op, "import")) {
    e->hooks->call_import(e, op, args, op->operand_count);
    memory_free(types);
    memory_free(args);
    return;
  }
  LLVMTypeRef result = op->result_count ? emit_type(e, op->results[0].type) : LLVMVoidTypeInContext(e->context);
  LLVMTypeRef type = LLVMFunctionType(result, types, op->operand_count, 0);
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  if (!function) {
    function = LLVMAddFunction(e->module, name, type);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
  }
  if (LLVMGlobalGetValueType(function) != type) {
    emit_fail(e, op, "calls @%s, which has been called with other types", name);
  } else {
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, function, args, op->operand_count, "");
    if (op->result_count) emit_set(ir_result(op, 0), call);
  }
  memory_free(types);
  memory_free(args);
}

void emit_op_prefetch(emit_t* e, ir_op_t* op) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef address = address_of(e, op, 0);
  LLVMTypeRef type = LLVMTypeOf(address);
  int64_t locality = ir_op_int(op, "locality", 3);
  LLVMValueRef args[4] = {address, LLVMConstInt(i32, ir_op_flag(op, "write"), 0),
                          LLVMConstInt(i32, locality < 0 || locality > 3 ? 3 : (unsigned long long)locality, 0),
                          LLVMConstInt(i32, 1, 0)};
  build_intrinsic(e, "llvm.prefetch", &type, 1, args, 4);
}
