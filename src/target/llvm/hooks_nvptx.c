// NVIDIA kernels: ptx_kernel calling convention, workgroup memory as one array in address space 3, which above 48 KiB
// is sized by the launch.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/hooks.h"
#include "target/llvm/types.h"

enum { PTX_KERNEL = 71, WORKGROUP_SPACE = 3, STATIC_LIMIT = 48 << 10, FIRST_WITH_EARLY_LAUNCHES = 90 };

static LLVMTypeRef i32_type(emit_t* e) { return LLVMInt32TypeInContext(e->context); }
static LLVMValueRef i32(emit_t* e, uint64_t value) { return LLVMConstInt(i32_type(e), value, 0); }
static LLVMValueRef call0(emit_t* e, const char* name) { return build_intrinsic(e, name, NULL, 0, NULL, 0); }

// A kernel may be launched while the one before it ends: it waits for that before it reads anything. A block of its own
// keeps loads of what is constant behind the wait. It does not ask for its successor to be launched earlier than when
// it ends: workgroups that wait would be where others leave room, several on one unit (on an H200 networks took a third
// to nine tenths more time). Nor do edges of graphs from a kernel's launch to the next kernel help: on those
// griddepcontrol.wait does not wait for the end, and results are wrong.
static void begin_when_others_end(emit_t* e, LLVMValueRef function) {
  if (strtol(e->target->cpu + 3, NULL, 10) < FIRST_WITH_EARLY_LAUNCHES) return;
  call0(e, "llvm.nvvm.griddepcontrol.wait");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
}

static LLVMValueRef nvptx_entry(emit_t* e, ir_op_t* func) {
  LLVMValueRef function = hooks_gpu_entry(e, func, PTX_KERNEL);
  char text[48];
  const uint32_t* size = e->info->workgroup_size;
  snprintf(text, sizeof(text), "%u,%u,%u", size[0], size[1], size[2]);
  hooks_add_string_attribute(e, function, "nvvm.reqntid", text);
  begin_when_others_end(e, function);
  return function;
}

static LLVMValueRef nvptx_id(emit_t* e, uint32_t code, unsigned axis) {
  static const char* const workgroup[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                          "llvm.nvvm.read.ptx.sreg.ctaid.z"};
  static const char* const thread[] = {"llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.read.ptx.sreg.tid.y",
                                       "llvm.nvvm.read.ptx.sreg.tid.z"};
  static const char* const count[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x", "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                      "llvm.nvvm.read.ptx.sreg.nctaid.z"};
  const char* name = code == KERNEL_WORKGROUP_ID    ? workgroup[axis]
                     : code == KERNEL_THREAD_ID     ? thread[axis]
                     : code == KERNEL_SUBGROUP_LANE ? "llvm.nvvm.read.ptx.sreg.laneid"
                                                    : count[axis];
  return build_zext(e, call0(e, name), LLVMInt64TypeInContext(e->context));
}

static void nvptx_ret(emit_t* e) {
  // Only now is it known how much workgroup memory the kernel has.
  if (e->workgroup_global) {
    bool dynamic = e->workgroup_memory > STATIC_LIMIT;
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->context), dynamic ? 0 : e->workgroup_memory);
    char name[160];
    snprintf(name, sizeof(name), "%.100s_shared", e->info->name);
    LLVMValueRef sized = LLVMAddGlobalInAddressSpace(e->module, type, name, WORKGROUP_SPACE);
    if (!dynamic) LLVMSetInitializer(sized, LLVMGetPoison(type));
    LLVMSetAlignment(sized, 128);
    LLVMSetLinkage(sized, dynamic ? LLVMExternalLinkage : LLVMInternalLinkage);
    LLVMReplaceAllUsesWith(e->workgroup_global, sized);
    LLVMDeleteGlobal(e->workgroup_global);
    e->workgroup_global = NULL;
    if (dynamic) e->info->dynamic_memory_bytes = (uint32_t)e->workgroup_memory;
  }
  LLVMBuildRetVoid(e->builder);
}

static void nvptx_barrier(emit_t* e) {
  LLVMValueRef zero = i32(e, 0);
  build_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, 0, &zero, 1);
}

static LLVMValueRef nvptx_shuffle(emit_t* e, LLVMValueRef value, LLVMValueRef lane, const char* mode) {
  static const struct {
    const char* mode;
    const char* intrinsic;
    unsigned clamp;  // lanes that "up" may not go below
  } modes[] = {{"index", "llvm.nvvm.shfl.sync.idx.i32", 31},
               {"xor", "llvm.nvvm.shfl.sync.bfly.i32", 31},
               {"up", "llvm.nvvm.shfl.sync.up.i32", 0},
               {"down", "llvm.nvvm.shfl.sync.down.i32", 31}};
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    if (strcmp(modes[i].mode, mode) != 0) continue;
    LLVMValueRef args[4] = {LLVMConstAllOnes(i32_type(e)), value, lane, i32(e, modes[i].clamp)};
    return build_intrinsic(e, modes[i].intrinsic, NULL, 0, args, 4);
  }
  return NULL;
}

static bool nvptx_async_copy(emit_t* e, LLVMValueRef dst, LLVMValueRef src, unsigned bytes, bool cached,
                             LLVMValueRef exists) {
  if (!e->target->device.has_async_copy) return false;
  char name[64];
  snprintf(name, sizeof(name), "llvm.nvvm.cp.async.%s.shared.global.%u%s", bytes == 16 && !cached ? "cg" : "ca", bytes,
           exists ? ".s" : "");
  if (exists) {
    LLVMValueRef size = LLVMBuildSelect(e->builder, exists, i32(e, bytes), i32(e, 0), "");
    build_intrinsic(e, name, NULL, 0, (LLVMValueRef[]){dst, src, size}, 3);
  } else {
    build_intrinsic(e, name, NULL, 0, (LLVMValueRef[]){dst, src}, 2);
  }
  return true;
}

static LLVMValueRef nvptx_load_matrix(emit_t* e, LLVMValueRef address, unsigned count, bool transpose) {
  char name[80];
  snprintf(name, sizeof(name), "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%u%s.b16", count, transpose ? ".trans" : "");
  LLVMTypeRef pointer = LLVMTypeOf(address);
  LLVMValueRef loaded = build_intrinsic(e, name, &pointer, 1, &address, 1);
  if (count == 1) return loaded;
  LLVMValueRef words = LLVMGetPoison(LLVMVectorType(i32_type(e), count));
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef word = LLVMBuildExtractValue(e->builder, loaded, i, "");
    words = LLVMBuildInsertElement(e->builder, words, word, i32(e, i), "");
  }
  return words;
}

static void nvptx_async_commit(emit_t* e) {
  if (e->target->device.has_async_copy) call0(e, "llvm.nvvm.cp.async.commit.group");
}

static void nvptx_async_wait(emit_t* e, unsigned pending) {
  if (!e->target->device.has_async_copy) return;
  LLVMValueRef count = i32(e, pending);
  build_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &count, 1);
}

static LLVMValueRef nvptx_workgroup_memory(emit_t* e, uint64_t offset) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context);
  if (!e->workgroup_global) {
    e->workgroup_global = LLVMAddGlobalInAddressSpace(e->module, LLVMArrayType2(i8, 0), "shared", WORKGROUP_SPACE);
  }
  return build_address(e, i8, e->workgroup_global, i32(e, offset));
}

const emit_target_t hooks_nvptx = {
    .spaces = {[IR_SPACE_GLOBAL] = 1,
               [IR_SPACE_CONSTANT] = 4,
               [IR_SPACE_WORKGROUP] = WORKGROUP_SPACE,
               [IR_SPACE_PRIVATE] = 0},
    .entry = nvptx_entry,
    .id = nvptx_id,
    .ret = nvptx_ret,
    .barrier = nvptx_barrier,
    .shuffle = nvptx_shuffle,
    .mma = hooks_mma,
    .load_matrix = nvptx_load_matrix,
    .async_copy = nvptx_async_copy,
    .async_commit = nvptx_async_commit,
    .async_wait = nvptx_async_wait,
    .workgroup_memory = nvptx_workgroup_memory,
    .selects_words = true,
    .atomic_scope = "device",
    .exp2 = "llvm.nvvm.ex2.approx.ftz",
    .fma_saturated = "llvm.nvvm.fma.rn.sat.f",
    .fma_down = "llvm.nvvm.fma.rm.f",
};
