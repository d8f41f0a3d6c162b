// Choice of hooks and features by target, and what the hooks share.
#include "target/llvm/hooks.h"

#include <stdio.h>
#include <string.h>

#include "target/entry.h"
#include "target/llvm/build.h"
#include "target/llvm/debug.h"
#include "target/llvm/types.h"

const emit_target_t* hooks_for(const target_t* target) {
  static const emit_target_t* const by_backend[TARGET_BACKEND_COUNT] = {
      [TARGET_LLVM_CPU] = &hooks_x86, [TARGET_CUDA] = &hooks_nvptx, [TARGET_ROCM] = &hooks_amdgpu};
  return by_backend[target->backend];
}

static bool has_feature(const target_t* target, const char* name) {
  size_t size = strlen(name);
  bool found = false;
  for (const char* at = target->features; (at = strstr(at, name)); at += size) {
    bool whole = at > target->features && (at[size] == 0 || at[size] == ',');
    if (whole && (at[-1] == '+' || at[-1] == '-')) found = at[-1] == '+';
  }
  return found;
}

emit_features_t hooks_features(const target_t* target) {
  emit_features_t f = {0};
  if (target->backend == TARGET_LLVM_CPU && target->arch != TARGET_ARCH_X86) {
    bool is_arm = target->arch == TARGET_ARCH_ARM;
    f.f16_convert = is_arm || has_feature(target, "zfh") || has_feature(target, "zfhmin");
    f.f16_arithmetic = target->device.has_f16_arithmetic;
    f.fma = f.native_minimum = true;
    f.rounding = is_arm || has_feature(target, "zfa");
    return f;
  }
  if (target->backend == TARGET_LLVM_CPU) {
    f.f16_convert = has_feature(target, "f16c");
    f.f16_arithmetic = has_feature(target, "avx512fp16");
    f.fma = has_feature(target, "fma");
    f.rounding = has_feature(target, "sse4.1");
    f.scalef = has_feature(target, "avx512f") && has_feature(target, "avx512vl");
    f.range = has_feature(target, "avx512dq") && has_feature(target, "avx512vl");
    f.native_minimum = has_feature(target, "avx10.2");
    f.byte_dot = target->device.has_int8_dot;
    f.tiles = target->device.mma_count > 0;
    return f;
  }
  f = (emit_features_t){.f16_convert = true, .fma = true, .rounding = true, .native_minimum = true};
  f.ldexp = target->backend == TARGET_ROCM;
  f.quick_minimum = target->backend == TARGET_CUDA && target->device.has_async_copy;  // both came with sm_80
  f.f16_arithmetic = target->device.has_f16_arithmetic;
  f.bf16_convert = target->device.has_bf16_dot;
  return f;
}

LLVMValueRef hooks_add_function(emit_t* e, const char* name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMAddFunction(e->module, name, type);
  hooks_add_attribute(e, function, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  e->function = function;
  e->entry_block = LLVMAppendBasicBlockInContext(e->context, function, "entry");
  LLVMPositionBuilderAtEnd(e->builder, e->entry_block);
  if (e->debug) debug_function(e->debug, name, e->func->loc);
  return function;
}

void hooks_add_attribute(emit_t* e, LLVMValueRef function, unsigned index, const char* name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(e->context, kind, value));
}

void hooks_add_string_attribute(emit_t* e, LLVMValueRef function, const char* name, const char* value) {
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

typedef struct gpu_words_t {
  LLVMValueRef function;
  unsigned first;
} gpu_words_t;

static LLVMValueRef gpu_word(emit_t* e, void* user, uint32_t index) {
  gpu_words_t* words = user;
  return LLVMGetParam(words->function, words->first + index);
}

static void gpu_argument_attributes(emit_t* e, ir_op_t* func, uint32_t bindings) {
  bool may_alias = ir_op_flag(func, "may_alias");
  for (uint32_t i = 0; i < bindings; ++i) {
    bool readonly = entry_is_readonly(func, i);
    if (readonly) hooks_add_attribute(e, e->function, i + 1, "readonly", 0);
    if (!may_alias) hooks_add_attribute(e, e->function, i + 1, "noalias", 0);
    hooks_add_attribute(e, e->function, i + 1, "align", 16);
  }
}

LLVMValueRef hooks_gpu_entry(emit_t* e, ir_op_t* func, unsigned call_convention) {
  ir_block_t* block = func->regions[0].first;
  uint32_t bindings = e->info->binding_count, words = e->info->constant_count;
  arena_t arena;
  arena_init(&arena);
  LLVMTypeRef* types = ARENA_ARRAY(&arena, LLVMTypeRef, bindings + words + 1);
  for (uint32_t i = 0; i < bindings; ++i) types[i] = LLVMPointerTypeInContext(e->context, 1);
  for (uint32_t i = 0; i < words; ++i) types[bindings + i] = LLVMInt32TypeInContext(e->context);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, bindings + words, 0);
  arena_finish(&arena);
  LLVMValueRef function = hooks_add_function(e, ir_op_string(func, "sym_name", "kernel"), type);
  LLVMSetFunctionCallConv(function, call_convention);
  gpu_argument_attributes(e, func, bindings);
  for (uint32_t i = 0; i < bindings; ++i) emit_set(block->args[i], LLVMGetParam(function, i));
  gpu_words_t source = {.function = function, .first = bindings};
  uint32_t at = 0;
  for (uint32_t i = bindings; i < block->arg_count; ++i) {
    const ir_type_t* constant = block->args[i]->type;
    emit_set(block->args[i], emit_constant_from_words(e, constant, gpu_word, &source, at));
    at += entry_constant_words(constant);
  }
  return function;
}
