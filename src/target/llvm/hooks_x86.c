// CPU kernels: entry points of iree/hal/local/executable_library.h. A workgroup is one call; its memory is the block
// that the workgroup state points to.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "iree/hal/local/executable_library.h"
#include "target/entry.h"
#include "target/llvm/build.h"
#include "target/llvm/hooks.h"
#include "target/llvm/tiles.h"
#include "target/llvm/types.h"

static LLVMTypeRef pointer_type(emit_t* e) { return LLVMPointerTypeInContext(e->context, 0); }

// A field of one of the argument structures, which do not change while the kernel runs.
static LLVMValueRef load_field(emit_t* e, LLVMTypeRef type, LLVMValueRef base, uint64_t offset) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context), i64 = LLVMInt64TypeInContext(e->context);
  LLVMValueRef address = build_address(e, i8, base, LLVMConstInt(i64, offset, 0));
  LLVMValueRef load = LLVMBuildLoad2(e->builder, type, address, "");
  unsigned kind = LLVMGetMDKindIDInContext(e->context, "invariant.load", 14);
  LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, NULL, 0)));
  return load;
}

static LLVMValueRef x86_word(emit_t* e, void* user, uint32_t index) {
  return load_field(e, LLVMInt32TypeInContext(e->context), user, 4 * (uint64_t)index);
}

static LLVMValueRef x86_entry(emit_t* e, ir_op_t* func) {
  typedef iree_hal_executable_dispatch_state_v0_t dispatch_t;
  if (e->info->binding_count > IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT ||
      e->info->constant_count > IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT) {
    emit_fail(e, func, "takes %u bindings and %u constants; at most %d and %d are possible", e->info->binding_count,
              e->info->constant_count, IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT, IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT);
    return NULL;
  }
  LLVMTypeRef pointer = pointer_type(e), arguments[3] = {pointer, pointer, pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(e->context), arguments, 3, 0);
  LLVMValueRef function = hooks_add_function(e, ir_op_string(func, "sym_name", "kernel"), type);
  LLVMSetVisibility(function, LLVMHiddenVisibility);
  for (unsigned i = 1; i <= 3; ++i) {
    hooks_add_attribute(e, function, i, "noalias", 0);
    hooks_add_attribute(e, function, i, "nonnull", 0);
    hooks_add_attribute(e, function, i, "align", 16);
  }
  char width[16];
  snprintf(width, sizeof(width), "%d", 8 * e->target->device.vector_bytes);
  hooks_add_string_attribute(e, function, "prefer-vector-width", width);
  hooks_add_string_attribute(e, function, "min-legal-vector-width", width);
  e->environment = LLVMGetParam(function, 0);
  e->dispatch = LLVMGetParam(function, 1);
  e->workgroup = LLVMGetParam(function, 2);
  ir_block_t* block = func->regions[0].first;
  LLVMValueRef table = load_field(e, pointer, e->dispatch, offsetof(dispatch_t, binding_ptrs));
  for (uint32_t i = 0; i < e->info->binding_count; ++i)
    emit_set(block->args[i], load_field(e, pointer, table, 8ull * i));
  LLVMValueRef words = load_field(e, pointer, e->dispatch, offsetof(dispatch_t, constants));
  uint32_t at = 0;
  for (uint32_t i = e->info->binding_count; i < block->arg_count; ++i) {
    emit_set(block->args[i], emit_constant_from_words(e, block->args[i]->type, x86_word, words, at));
    at += entry_constant_words(block->args[i]->type);
  }
  return function;
}

static LLVMValueRef x86_id(emit_t* e, uint32_t code, unsigned axis) {
  typedef iree_hal_executable_dispatch_state_v0_t dispatch_t;
  typedef iree_hal_executable_workgroup_state_v0_t workgroup_t;
  static const size_t ids[3] = {offsetof(workgroup_t, workgroup_id_x), offsetof(workgroup_t, workgroup_id_y),
                                offsetof(workgroup_t, workgroup_id_z)};
  static const size_t counts[3] = {offsetof(dispatch_t, workgroup_count_x), offsetof(dispatch_t, workgroup_count_y),
                                   offsetof(dispatch_t, workgroup_count_z)};
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef type = axis < 2 ? LLVMInt32TypeInContext(e->context) : LLVMInt16TypeInContext(e->context);
  if (code == KERNEL_WORKGROUP_ID) return build_zext(e, load_field(e, type, e->workgroup, ids[axis]), i64);
  if (code == KERNEL_WORKGROUP_COUNT) return build_zext(e, load_field(e, type, e->dispatch, counts[axis]), i64);
  return LLVMConstInt(i64, 0, 0);
}

static void x86_ret(emit_t* e) { LLVMBuildRet(e->builder, LLVMConstInt(LLVMInt32TypeInContext(e->context), 0, 0)); }

static LLVMValueRef x86_workgroup_memory(emit_t* e, uint64_t offset) {
  typedef iree_hal_executable_workgroup_state_v0_t workgroup_t;
  LLVMValueRef base = load_field(e, pointer_type(e), e->workgroup, offsetof(workgroup_t, local_memory));
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  return build_address(e, LLVMInt8TypeInContext(e->context), base, LLVMConstInt(i64, offset, 0));
}

// A field behind what is passed to an import; NULL for an unknown one.
static LLVMValueRef import_field(emit_t* e, const char* name) {
  typedef iree_hal_executable_workgroup_state_v0_t workgroup_t;
  if (strcmp(name, "processor_id") == 0) {
    return load_field(e, LLVMInt32TypeInContext(e->context), e->workgroup, offsetof(workgroup_t, processor_id));
  }
  if (strcmp(name, "processor_data") != 0) return NULL;
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context), i64 = LLVMInt64TypeInContext(e->context);
  uint64_t offset = offsetof(iree_hal_executable_environment_v0_t, processor);
  return build_address(e, i8, e->environment, LLVMConstInt(i64, offset, 0));
}

// The workgroup ends with the import's code unless that is 0.
static void leave_unless_zero(emit_t* e, LLVMValueRef code) {
  LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(e->context), 0, 0);
  LLVMBasicBlockRef failed = LLVMAppendBasicBlockInContext(e->context, e->function, "failed");
  LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(e->context, e->function, "called");
  LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntEQ, code, zero, ""), next, failed);
  LLVMPositionBuilderAtEnd(e->builder, failed);
  LLVMBuildRet(e->builder, code);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static void x86_call_import(emit_t* e, ir_op_t* op, const LLVMValueRef* args, unsigned count) {
  typedef iree_hal_executable_environment_v0_t environment_t;
  enum { MAX_PASSED = 64 };
  const ir_attr_t* fields = ir_op_attr(op, "fields");
  LLVMValueRef passed[MAX_PASSED];
  LLVMTypeRef types[MAX_PASSED], pointer = pointer_type(e), i32 = LLVMInt32TypeInContext(e->context);
  unsigned more = fields && fields->kind == IR_ATTR_ARRAY ? fields->count : 0;
  if (count + more > MAX_PASSED) return emit_fail(e, op, "passes more than %d values", MAX_PASSED);
  for (unsigned i = 0; i < count + more; ++i) {
    const char* name =
        i < count || fields->items[i - count]->kind != IR_ATTR_STRING ? "" : fields->items[i - count]->text;
    passed[i] = i < count ? args[i] : import_field(e, name);
    if (!passed[i]) return emit_fail(e, op, "asks for the field '%s'; processor_id and processor_data are there", name);
    types[i] = LLVMTypeOf(passed[i]);
  }
  LLVMTypeRef structure = LLVMStructTypeInContext(e->context, types, count + more, 0);
  LLVMValueRef params = LLVMBuildAlloca(e->builder, structure, "params");
  for (unsigned i = 0; i < count + more; ++i) {
    LLVMBuildStore(e->builder, passed[i], LLVMBuildStructGEP2(e->builder, structure, params, i, ""));
  }
  uint64_t at = 8 * (uint64_t)ir_op_int(op, "import", 0);
  LLVMValueRef thunk = load_field(e, pointer, e->environment, offsetof(environment_t, import_thunk));
  LLVMValueRef functions = load_field(e, pointer, e->environment, offsetof(environment_t, import_funcs));
  LLVMValueRef contexts = load_field(e, pointer, e->environment, offsetof(environment_t, import_contexts));
  LLVMValueRef call_args[4] = {load_field(e, pointer, functions, at), params, load_field(e, pointer, contexts, at),
                               LLVMConstNull(pointer)};
  LLVMTypeRef arguments[4] = {pointer, pointer, pointer, pointer}, type = LLVMFunctionType(i32, arguments, 4, 0);
  leave_unless_zero(e, LLVMBuildCall2(e->builder, type, thunk, call_args, 4, ""));
}

const emit_target_t hooks_x86 = {
    .call_import = x86_call_import,
    .entry = x86_entry,
    .id = x86_id,
    .ret = x86_ret,
    .mma = tiles_mma,
    .workgroup_memory = x86_workgroup_memory,
    .atomic_scope = "",
};
