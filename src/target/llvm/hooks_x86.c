// CPU kernels: entry points of iree/hal/local/executable_library.h. A workgroup is one call; its memory is the block
// that the workgroup state points to.
#include <stddef.h>
#include <stdio.h>

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

const emit_target_t hooks_x86 = {
    .entry = x86_entry,
    .id = x86_id,
    .ret = x86_ret,
    .mma = tiles_mma,
    .workgroup_memory = x86_workgroup_memory,
    .atomic_scope = "",
};
