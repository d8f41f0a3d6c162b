// Buffers: descriptors and where the lanes' elements are. Manuals: "Buffer Resource Descriptor", "Buffer Addressing".
#ifndef IREE_C_SOFTGPU_VECTOR_BUFFER_H_
#define IREE_C_SOFTGPU_VECTOR_BUFFER_H_

#include "softgpu/vector/memory.h"

typedef struct buffer_t {
  uint64_t base;
  uint32_t stride, records, index_stride, element_size, out_of_bounds;
  bool swizzles, adds_lane;
} buffer_t;

static inline buffer_t buffer_read(const wave_t* w, const operand_t* o) {
  const uint32_t* v = &w->sgpr[o->index];
  uint32_t major = w->target->major;
  buffer_t b = {.base = v[0] | (uint64_t)(v[1] & 0xffff) << 32,
                .stride = v[1] >> 16 & 0x3fff,
                .records = v[2],
                .index_stride = 8u << (v[3] >> 21 & 3),
                .element_size = 4,
                .adds_lane = v[3] >> 23 & 1,
                .out_of_bounds = v[3] >> 28 & 3};
  if (major >= 11) {
    uint32_t swizzle = v[1] >> 30 & 3;
    b.swizzles = swizzle != 0;
    b.element_size = swizzle == 3 ? 16 : swizzle == 2 ? 8 : 4;
  } else {
    b.swizzles = v[1] >> 31;
    if (major <= 9) b.element_size = 2u << (v[3] >> 19 & 3);
  }
  if (major <= 9) b.out_of_bounds = b.stride && b.swizzles ? 0 : b.stride ? 1 : 3;
  return b;
}

static inline bool buffer_is_outside(const buffer_t* b, uint32_t index, uint64_t offset, uint32_t bytes) {
  switch (b->out_of_bounds) {
    case 0:
      return index >= b->records || (b->stride && offset + bytes > b->stride);
    case 1:
      return index >= b->records;
    case 2:
      return b->records == 0;
    default:
      return (uint64_t)index * b->stride + offset + bytes > b->records;
  }
}

// The descriptor of scratch has no bound of its own: what leaves the wave's part would be other memory of the process.
static inline bool buffer_check_private(wave_t* w, const inst_t* inst, const buffer_t* b, const memory_access_t* m,
                                        uint32_t bytes) {
  uint64_t first = (uint64_t)w->scratch, size = (uint64_t)w->scratch_size * w->lanes;
  if (b->base - first >= size + 1) return true;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (!(m->mask >> i & 1) || (m->address[i] - first < size && bytes <= size - (m->address[i] - first))) continue;
    wave_fault(w, inst, ENGINE_FAULT_MEMORY, m->address[i], "lane %u leaves its scratch of %u bytes", i,
               w->scratch_size);
    return false;
  }
  return true;
}

// `bytes` of each lane, from byte `first` of an access on. `o`: vaddr (index, offset, both or off), srsrc, soffset.
// Lanes outside the buffer leave the mask: loads give them zero.
static inline bool buffer_resolve_at(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t first, uint32_t bytes,
                                     memory_access_t* m) {
  buffer_t b = buffer_read(w, &o[1]);
  uint32_t scalar = wave_scalar(w, &o[2]);
  bool has_index = inst->flags & INST_IDXEN, has_offset = inst->flags & INST_OFFEN;
  const uint32_t* v = o[0].kind == OPERAND_VGPR ? w->vgpr + o[0].offset : NULL;
  m->space = CHECK_GLOBAL;
  m->mask = 0;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    uint32_t index = v && has_index ? v[i] : 0;
    uint32_t offset = (uint32_t)inst->offset + first + (v && has_offset ? v[(has_index ? w->lanes : 0) + i] : 0);
    if (b.adds_lane) index += i;
    bool outside = buffer_is_outside(&b, b.adds_lane ? 0 : index,
                                     b.out_of_bounds == 3 ? (uint64_t)offset + scalar : offset, bytes);
    uint64_t within = (uint64_t)index * b.stride + offset;
    if (b.swizzles) {
      uint32_t high = index / b.index_stride, low = index % b.index_stride;
      within = ((uint64_t)high * b.stride + offset / b.element_size * b.element_size) * b.index_stride +
               (uint64_t)low * b.element_size + offset % b.element_size;
    }
    m->address[i] = b.base + scalar + within;
    if (!outside) m->mask |= UINT64_C(1) << i;
  }
  m->mask &= wave_exec(w);
  return !b.swizzles || !b.adds_lane || buffer_check_private(w, inst, &b, m, bytes);
}

static inline bool buffer_resolve(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes,
                                  memory_access_t* m) {
  return buffer_resolve_at(w, inst, o, 0, bytes, m);
}

// The dwords of an access of up to 16 bytes each by itself; the last may be shorter.
static inline bool buffer_resolve_parts(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes,
                                        memory_access_t m[4]) {
  for (uint32_t at = 0; at < bytes; at += 4) {
    if (!buffer_resolve_at(w, inst, o, at, bytes - at < 4 ? bytes - at : 4, &m[at / 4])) return false;
  }
  return true;
}

// Whether `m`, the access as a whole, is all that there is to know: in no lane a part is outside or lies apart.
static inline bool buffer_is_whole(const wave_t* w, const operand_t* o, const memory_access_t* m) {
  return m->mask == wave_exec(w) && !buffer_read(w, &o[1]).swizzles;
}

// Lanes of EXEC whose buffer access is outside read zero.
static inline void buffer_zero_outside(wave_t* w, const memory_access_t* m, memory_part_t part, const operand_t* to) {
  uint64_t lanes = wave_exec(w) & ~m->mask;
  memory_form_t form = memory_forms[part];
  uint32_t keep = form.half == 1 ? 0xffff0000 : form.half == 2 ? 0xffff : 0;
  for (uint32_t i = 0; lanes && i < w->lanes; ++i) {
    if (!(lanes >> i & 1)) continue;
    for (uint32_t k = 0; k < (form.bytes < 4 ? 1u : form.bytes / 4u); ++k)
      w->vgpr[to->offset + k * w->lanes + i] &= keep;
  }
}

#endif  // IREE_C_SOFTGPU_VECTOR_BUFFER_H_
