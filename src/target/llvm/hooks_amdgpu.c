// AMD kernels: amdgpu_kernel calling convention, workgroup memory as one array in address space 3.
#include <stdio.h>
#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/hooks.h"
#include "target/llvm/types.h"

enum { AMDGPU_KERNEL = 91, WORKGROUP_SPACE = 3, CONSTANT_SPACE = 4 };

static LLVMTypeRef i32_type(emit_t* e) { return LLVMInt32TypeInContext(e->context); }
static LLVMValueRef i32(emit_t* e, uint64_t value) { return LLVMConstInt(i32_type(e), value, 0); }

// Waves that all registers of a wave leave room for, where that is more than LLVM 22 thinks of by itself: it lets its
// scheduler use them up, and then spills. 0: it does as it likes.
static unsigned usual_waves(const emit_t* e) {
  enum { WITH_MORE_REGISTERS = 5 };
  static const char* const more[] = {"gfx1100", "gfx1101", "gfx1151", "gfx12"};
  for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); ++i) {
    if (strncmp(e->target->cpu, more[i], strlen(more[i])) == 0) return WITH_MORE_REGISTERS;
  }
  return 0;
}

// The same, or more where the kernel says that they are worth it.
static unsigned wanted_waves(const emit_t* e, ir_op_t* func) {
  unsigned usual = usual_waves(e), wanted = (unsigned)ir_op_int(func, "waves", 0);
  return usual && wanted > usual ? wanted : usual;
}

static LLVMValueRef amdgpu_entry(emit_t* e, ir_op_t* func) {
  LLVMValueRef function = hooks_gpu_entry(e, func, AMDGPU_KERNEL);
  const uint32_t* size = e->info->workgroup_size;
  uint32_t threads = size[0] * size[1] * size[2];
  char text[48];
  snprintf(text, sizeof(text), "%u,%u", threads, threads);
  hooks_add_string_attribute(e, function, "amdgpu-flat-work-group-size", text);
  hooks_add_string_attribute(e, function, "uniform-work-group-size", "true");
  unsigned waves = e->amd->waves_per_eu ? e->amd->waves_per_eu : wanted_waves(e, func);
  if (waves) {
    snprintf(text, sizeof(text), "%u", waves);
    hooks_add_string_attribute(e, function, "amdgpu-waves-per-eu", text);
  }
  if (e->amd->denormal_f32) {
    snprintf(text, sizeof(text), "%s,%s", e->amd->denormal_f32, e->amd->denormal_f32);
    hooks_add_string_attribute(e, function, "denormal-fp-math-f32", text);
  }
  // Matrix instructions work in plain registers, of which kernels ask for few: sums kept apart would be copied about.
  hooks_add_string_attribute(e, function, "amdgpu-agpr-alloc", "0");
  // The size in metadata too, for who launches.
  LLVMMetadataRef sizes[3];
  for (int i = 0; i < 3; ++i) sizes[i] = LLVMValueAsMetadata(i32(e, size[i]));
  LLVMValueRef node = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, sizes, 3));
  LLVMGlobalSetMetadata(function, LLVMGetMDKindIDInContext(e->context, "reqd_work_group_size", 20),
                        LLVMValueAsMetadata(node));
  return function;
}

// What the hardware need not set up: each input of a kernel costs registers, and none is used unless asked for here.
enum { USES_COUNT = 1 << 6 };  // bits 0-2: workgroup ids; 3-5: thread ids; 6: the dispatch packet
static void mark_unused_inputs(emit_t* e) {
  static const char* const never[] = {
      "amdgpu-no-queue-ptr",         "amdgpu-no-dispatch-id",       "amdgpu-no-implicitarg-ptr",
      "amdgpu-no-lds-kernel-id",     "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",
      "amdgpu-no-default-queue",     "amdgpu-no-completion-action", "amdgpu-no-multigrid-sync-arg",
      "amdgpu-no-flat-scratch-init",
  };
  static const char* const unless_used[] = {
      "amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z", "amdgpu-no-workitem-id-x",
      "amdgpu-no-workitem-id-y",  "amdgpu-no-workitem-id-z",  "amdgpu-no-dispatch-ptr",
  };
  for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); ++i) {
    hooks_add_string_attribute(e, e->function, never[i], "");
  }
  for (size_t i = 0; i < sizeof(unless_used) / sizeof(unless_used[0]); ++i) {
    if (!(e->used_inputs >> i & 1)) hooks_add_string_attribute(e, e->function, unless_used[i], "");
  }
}

static LLVMValueRef call0(emit_t* e, const char* name) { return build_intrinsic(e, name, NULL, 0, NULL, 0); }

// Threads of the whole grid along an axis, from the dispatch packet.
static LLVMValueRef grid_size(emit_t* e, unsigned axis) {
  enum { GRID_SIZE_X = 12 };
  LLVMValueRef packet = call0(e, "llvm.amdgcn.dispatch.ptr");
  LLVMValueRef offset = i32(e, GRID_SIZE_X + 4 * axis);
  LLVMValueRef address = build_address(e, LLVMInt8TypeInContext(e->context), packet, offset);
  LLVMValueRef load = LLVMBuildLoad2(e->builder, i32_type(e), address, "");
  LLVMSetAlignment(load, 4);
  return load;
}

static LLVMValueRef lane_number(emit_t* e) {
  LLVMValueRef all = LLVMConstAllOnes(i32_type(e)), args[2] = {all, i32(e, 0)};
  LLVMValueRef low = build_intrinsic(e, "llvm.amdgcn.mbcnt.lo", NULL, 0, args, 2);
  if (e->target->device.subgroup_size == 32) return low;
  return build_intrinsic(e, "llvm.amdgcn.mbcnt.hi", NULL, 0, (LLVMValueRef[]){all, low}, 2);
}

static LLVMValueRef amdgpu_id(emit_t* e, uint32_t code, unsigned axis) {
  static const char* const workgroup[] = {"llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workgroup.id.y",
                                          "llvm.amdgcn.workgroup.id.z"};
  static const char* const thread[] = {"llvm.amdgcn.workitem.id.x", "llvm.amdgcn.workitem.id.y",
                                       "llvm.amdgcn.workitem.id.z"};
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  LLVMValueRef id;
  if (code == KERNEL_WORKGROUP_ID) {
    id = call0(e, workgroup[axis]);
    e->used_inputs |= 1u << axis;
  } else if (code == KERNEL_THREAD_ID) {
    id = call0(e, thread[axis]);
    e->used_inputs |= 8u << axis;
  } else if (code == KERNEL_SUBGROUP_LANE) {
    id = lane_number(e);
  } else {
    e->used_inputs |= USES_COUNT;
    id = build_udiv(e, grid_size(e, axis), i32(e, e->info->workgroup_size[axis]));
  }
  return build_zext(e, id, i64);
}

static void amdgpu_ret(emit_t* e) {
  mark_unused_inputs(e);
  // Only now is it known how much workgroup memory the kernel has.
  if (e->workgroup_global) {
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->context), e->workgroup_memory);
    LLVMValueRef sized = LLVMAddGlobalInAddressSpace(e->module, type, "", WORKGROUP_SPACE);
    LLVMSetInitializer(sized, LLVMGetPoison(type));
    LLVMSetAlignment(sized, 128);
    LLVMSetLinkage(sized, LLVMInternalLinkage);
    LLVMReplaceAllUsesWith(e->workgroup_global, sized);
    LLVMDeleteGlobal(e->workgroup_global);
    e->workgroup_global = NULL;
  }
  LLVMBuildRetVoid(e->builder);
}

static void fence(emit_t* e, LLVMAtomicOrdering ordering) {
  unsigned scope = LLVMGetSyncScopeID(e->context, "workgroup", 9);
  LLVMBuildFenceSyncScope(e->builder, ordering, scope, "");
}

static void amdgpu_barrier(emit_t* e) {
  fence(e, LLVMAtomicOrderingRelease);
  call0(e, "llvm.amdgcn.s.barrier");
  fence(e, LLVMAtomicOrderingAcquire);
}

static LLVMValueRef amdgpu_workgroup_memory(emit_t* e, uint64_t offset) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context);
  if (!e->workgroup_global) {
    e->workgroup_global = LLVMAddGlobalInAddressSpace(e->module, LLVMArrayType2(i8, 0), "lds", WORKGROUP_SPACE);
  }
  return build_address(e, i8, e->workgroup_global, i32(e, offset));
}

// Number of the thread in its workgroup.
static LLVMValueRef thread_number(emit_t* e) {
  LLVMValueRef number = i32(e, 0);
  for (unsigned axis = 3; axis-- > 0;) {
    LLVMValueRef id = build_trunc(e, amdgpu_id(e, KERNEL_THREAD_ID, axis), i32_type(e));
    number = build_add(e, build_mul(e, number, i32(e, e->info->workgroup_size[axis])), id);
  }
  return number;
}

// gfx6 and gfx7 have no permute: through memory, which keeps a wave's accesses in order.
static LLVMValueRef permute_in_memory(emit_t* e, LLVMValueRef value, LLVMValueRef self, LLVMValueRef from) {
  const uint32_t* size = e->info->workgroup_size;
  uint64_t offset = (e->workgroup_memory + 3) & ~3ull;
  e->workgroup_memory = offset + 4ull * size[0] * size[1] * size[2];
  LLVMValueRef base = amdgpu_workgroup_memory(e, offset), mine = thread_number(e);
  LLVMValueRef store = LLVMBuildStore(e->builder, value, build_address(e, i32_type(e), base, mine));
  LLVMValueRef other = build_add(e, build_sub(e, mine, self), from);
  LLVMValueRef load = LLVMBuildLoad2(e->builder, i32_type(e), build_address(e, i32_type(e), base, other), "");
  LLVMSetVolatile(store, 1);
  LLVMSetVolatile(load, 1);
  return load;
}

static bool has_permute(const emit_t* e) {
  return strncmp(e->target->cpu, "gfx6", 4) != 0 && strncmp(e->target->cpu, "gfx7", 4) != 0;
}

// Lanes of a row of 16, as the vector unit reads an operand from them (DPP; codes from "RDNA3 ISA", section 7.8).
static LLVMValueRef read_row(emit_t* e, LLVMValueRef value, unsigned control) {
  LLVMTypeRef type = i32_type(e);
  LLVMValueRef all = i32(e, 15), zeros = LLVMConstInt(LLVMInt1TypeInContext(e->context), 1, 0);
  LLVMValueRef args[] = {LLVMGetPoison(type), value, i32(e, control), all, all, zeros};
  return build_intrinsic(e, "llvm.amdgcn.update.dpp", &type, 1, args, 6);
}

// Before gfx10 rows are turned round or by eight, and lanes of four in any way.
static LLVMValueRef exchange_turned(emit_t* e, LLVMValueRef value, unsigned distance) {
  enum { ROTATE_8 = 0x128, MIRROR = 0x140, MIRROR_HALF = 0x141 };
  static const unsigned turns[] = {0, MIRROR_HALF, ROTATE_8, MIRROR};
  unsigned turn = distance >> 2, rest = turn & 1 ? ~distance & 3 : distance & 3;
  if (turn) value = read_row(e, value, turns[turn]);
  unsigned four = (0 ^ rest) | (1 ^ rest) << 2 | (2 ^ rest) << 4 | (3 ^ rest) << 6;
  return rest ? read_row(e, value, four) : value;
}

// A vector instruction of its own: before gfx12 one has to be between v_cmpx and v_permlane, and LLVM 22 does not see
// that where blocks are between.
static LLVMValueRef move_once(emit_t* e, LLVMValueRef value) {
  static const char move[] = "v_mov_b32 $0, $1", operands[] = "=v,v";
  if (strncmp(e->target->cpu, "gfx12", 5) == 0) return value;
  LLVMTypeRef type = i32_type(e), call = LLVMFunctionType(type, &type, 1, 0);
  LLVMValueRef assembly = LLVMGetInlineAsm(call, move, sizeof(move) - 1, operands, sizeof(operands) - 1,
                                           /*HasSideEffects=*/0, 0, LLVMInlineAsmDialectATT, 0);
  return LLVMBuildCall2(e->builder, call, assembly, &value, 1, "");
}

// From gfx10 on the other row of 32 lanes can be read, too.
static LLVMValueRef exchange_rows(emit_t* e, LLVMValueRef value, unsigned distance) {
  LLVMTypeRef type = i32_type(e);
  uint64_t from = 0;
  for (unsigned i = 0; i < 16; ++i) from |= (uint64_t)(i ^ (distance & 15)) << 4 * i;
  LLVMValueRef no = LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, 0);
  LLVMValueRef low = i32(e, from & UINT32_MAX), high = i32(e, from >> 32);
  LLVMValueRef args[] = {LLVMGetPoison(type), move_once(e, value), low, high, no, no};
  return build_intrinsic(e, "llvm.amdgcn.permlanex16", &type, 1, args, 6);
}

// What the lane at a known distance has, without the LDS hardware or at least without addresses; NULL where it takes
// those.
static LLVMValueRef exchange_lanes(emit_t* e, LLVMValueRef value, unsigned distance) {
  enum { EXCHANGE_IN_ROW = 0x160, KEEP_LANE = 0x1f };
  bool is_newer = strncmp(e->target->cpu, "gfx1", 4) == 0;
  if (distance == 0 || distance >= (unsigned)e->target->device.subgroup_size) return NULL;
  if (distance < 16)
    return is_newer ? read_row(e, value, EXCHANGE_IN_ROW | distance) : exchange_turned(e, value, distance);
  if (is_newer) return distance < 32 ? exchange_rows(e, value, distance) : NULL;
  if (distance >= 32) return NULL;
  LLVMValueRef args[] = {value, i32(e, KEEP_LANE | distance << 10)};
  return build_intrinsic(e, "llvm.amdgcn.ds.swizzle", NULL, 0, args, 2);
}

// Lane to read from, then a permute through the LDS hardware, which counts in bytes.
static LLVMValueRef amdgpu_shuffle(emit_t* e, LLVMValueRef value, LLVMValueRef lane, const char* mode) {
  LLVMValueRef self = lane_number(e), from = lane;
  LLVMValueRef last = i32(e, (uint64_t)e->target->device.subgroup_size - 1);
  if (strcmp(mode, "index") == 0 && LLVMIsAConstantInt(lane)) {
    LLVMTypeRef type = i32_type(e);
    return build_intrinsic(e, "llvm.amdgcn.readlane", &type, 1, (LLVMValueRef[]){value, lane}, 2);
  }
  if (strcmp(mode, "xor") == 0) {
    bool is_known = LLVMIsAConstantInt(lane) && has_permute(e);
    LLVMValueRef other = is_known ? exchange_lanes(e, value, (unsigned)LLVMConstIntGetZExtValue(lane)) : NULL;
    if (other) return other;
    from = build_xor(e, self, lane);
  } else if (strcmp(mode, "up") == 0) {
    LLVMValueRef below = build_icmp(e, LLVMIntULT, self, lane);
    from = build_select(e, below, self, build_sub(e, self, lane));
  } else if (strcmp(mode, "down") == 0) {
    LLVMValueRef above = build_add(e, self, lane);
    from = build_select(e, build_icmp(e, LLVMIntUGT, above, last), self, above);
  }
  from = build_and(e, from, last);
  if (!has_permute(e)) return permute_in_memory(e, value, self, from);
  LLVMValueRef address = build_shl(e, from, i32(e, 2));
  return build_intrinsic(e, "llvm.amdgcn.ds.bpermute", NULL, 0, (LLVMValueRef[]){address, value}, 2);
}

// MFMA's results may be read by others 20 states later at the latest ("CDNA3 ISA", section 4.5, and as many for CDNA4
// as LLVM says). LLVM 22 looks for them through all blocks before, but takes the first way that it finds into one,
// which need not be the shortest.
static void amdgpu_settle(emit_t* e, LLVMValueRef* values, unsigned count) {
  static const char wait[] = "s_nop 15\n\ts_nop 3";
  enum { MOST = 64 };
  bool is_apart = strcmp(e->target->cpu, "gfx908") == 0;  // results are in registers of their own
  const device_info_t* device = &e->target->device;
  if (!device->mma_count || strncmp(device->mma[0].instruction, "mfma", 4) != 0 || count > MOST) return;
  LLVMTypeRef types[MOST];
  text_t constraints = {0};
  for (unsigned i = 0; i < count; ++i) {
    types[i] = LLVMTypeOf(values[i]);
    text_printf(&constraints, "%s=%s", i ? "," : "", is_apart ? "a" : "v");
  }
  for (unsigned i = 0; i < count; ++i) text_printf(&constraints, ",%u", i);
  LLVMTypeRef result = count == 1 ? types[0] : LLVMStructTypeInContext(e->context, types, count, 0);
  LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
  LLVMValueRef assembly = LLVMGetInlineAsm(type, wait, sizeof(wait) - 1, constraints.data, constraints.size,
                                           /*HasSideEffects=*/1, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef settled = LLVMBuildCall2(e->builder, type, assembly, values, count, "");
  for (unsigned i = 0; i < count; ++i) {
    values[i] = count == 1 ? settled : LLVMBuildExtractValue(e->builder, settled, i, "");
  }
  text_finish(&constraints);
}

// Of the constant that global_load and its like add; before gfx9 they do not exist. See "FLAT, Scratch, and Global" in
// the ISA manuals: signed numbers of 13, 12 (gfx10) or 24 bits (gfx12). LLVM 22's other instruction selection does not
// know what addresses are hidden behind.
static int64_t amdgpu_near_bytes(const emit_t* e) {
  const char* cpu = e->target->cpu;
  if (e->amd->global_isel) return 0;
  if (strncmp(cpu, "gfx12", 5) == 0) return 1 << 23;
  if (strncmp(cpu, "gfx10", 5) == 0) return 1 << 11;
  return strncmp(cpu, "gfx9", 4) == 0 || strncmp(cpu, "gfx11", 5) == 0 ? 1 << 12 : 0;
}

const emit_target_t hooks_amdgpu = {
    .spaces = {[IR_SPACE_GLOBAL] = 1,
               [IR_SPACE_CONSTANT] = CONSTANT_SPACE,
               [IR_SPACE_WORKGROUP] = WORKGROUP_SPACE,
               [IR_SPACE_PRIVATE] = 5},
    .entry = amdgpu_entry,
    .id = amdgpu_id,
    .ret = amdgpu_ret,
    .barrier = amdgpu_barrier,
    .shuffle = amdgpu_shuffle,
    .mma = hooks_mma,
    .settle = amdgpu_settle,
    .workgroup_memory = amdgpu_workgroup_memory,
    .near_bytes = amdgpu_near_bytes,
    .equal_only = true,
    .selects_words = true,
    .atomic_scope = "agent",
    .exp2 = "llvm.amdgcn.exp2",
    .median = "llvm.amdgcn.fmed3",
};
