// What scalar memory instructions share.
#ifndef IREE_C_SOFTGPU_SMEM_H_
#define IREE_C_SOFTGPU_SMEM_H_

#include "softgpu/shared.h"
#include "softgpu/wave.h"

// Bytes that the operands behind the base (source `base`) add to it: a register or a constant, and the offset.
static inline uint64_t smem_offset(const wave_t* w, const inst_t* inst, uint32_t base) {
  uint64_t offset = (uint64_t)(int64_t)inst->offset;
  if (inst->source_count > base + 1) {
    const operand_t* o = &inst->src[base + 1];
    offset += o->kind == OPERAND_CONSTANT ? (uint64_t)(int64_t)(int32_t)o->value : wave_scalar(w, o);
  }
  return offset;
}

// The same of s_scratch_ instructions, where a register counts 64 bytes.
static inline uint64_t smem_scratch_offset(const wave_t* w, const inst_t* inst, uint32_t base) {
  uint64_t immediate = (uint64_t)(int64_t)inst->offset, offset = smem_offset(w, inst, base);
  bool has_register = inst->source_count > base + 1 && inst->src[base + 1].kind != OPERAND_CONSTANT;
  return has_register ? immediate + (offset - immediate) * 64 : offset;
}

// Tells the checks of an access by one lane. False after wave_fault.
static inline bool smem_begin(wave_t* w, const inst_t* inst, uint32_t access, uint64_t address, uint32_t bytes) {
  if (!w->launch->instrumented) return true;
  uint64_t addresses[WAVE_MAX_LANES] = {address};
  return check_memory(w, inst, CHECK_SCALAR, access, addresses, 1, bytes);
}

// A buffer's address and bytes, by its descriptor.
static inline uint64_t smem_buffer(const wave_t* w, const operand_t* o, uint64_t* size) {
  const uint32_t* v = &w->sgpr[o->index];
  uint32_t stride = v[1] >> 16 & 0x3fff;
  *size = stride ? (uint64_t)stride * v[2] : v[2];
  return v[0] | (uint64_t)(v[1] & 0xffff) << 32;
}

#endif  // IREE_C_SOFTGPU_SMEM_H_
