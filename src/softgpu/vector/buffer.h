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

// What the instruction says of lanes' places: indices, those that the bounds go by, and offsets without the scalar one.
typedef struct buffer_places_t {
  const uint32_t *index, *bounded;
  uint32_t offset[WAVE_MAX_LANES];
} buffer_places_t;

// Lanes whose `bytes` are inside. One loop for each rule, so that each is vector code.
static inline uint64_t buffer_inside(const buffer_t* of, const buffer_places_t* p, uint32_t scalar, uint32_t bytes,
                                     uint32_t lanes) {
  const buffer_t b = *of;
  uint32_t inside[WAVE_MAX_LANES] __attribute__((aligned(64)));
  uint64_t limit = b.out_of_bounds || !b.stride ? UINT64_MAX : b.stride;
  switch (b.out_of_bounds) {
    case 0:
    case 1:
      for (uint32_t i = 0; i < lanes; ++i) {
        bool fits = p->bounded[i] < b.records && (uint64_t)p->offset[i] + bytes <= limit;
        inside[i] = fits ? UINT32_MAX : 0;
      }
      break;
    case 2:
      return b.records ? UINT64_MAX : 0;
    default:
      for (uint32_t i = 0; i < lanes; ++i) {
        uint64_t end = (uint64_t)p->bounded[i] * b.stride + p->offset[i] + scalar + bytes;
        inside[i] = end <= b.records ? UINT32_MAX : 0;
      }
  }
  return VECTOR(valu_collect)(inside, lanes);
}

// The descriptor of scratch has no bound of its own: what leaves the wave's part would be other memory of the process.
static inline bool buffer_check_private(wave_t* w, const inst_t* inst, const buffer_t* b, const memory_access_t* m,
                                        uint32_t bytes) {
  uint64_t first = (uint64_t)w->scratch, size = (uint64_t)w->scratch_size * w->lanes;
  if (b->base - first >= size + 1) return true;
  uint64_t last = size - bytes, wrong = bytes > size;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) wrong |= (uint64_t)(m->address[i] - first > last);
  for (uint32_t i = 0; wrong && i < w->lanes; ++i) {
    if (!(m->mask >> i & 1) || (bytes <= size && m->address[i] - first <= last)) continue;
    wave_fault(w, inst, ENGINE_FAULT_MEMORY, m->address[i], "lane %u leaves its scratch of %u bytes", i,
               w->scratch_size);
    return false;
  }
  return true;
}

static const uint32_t buffer_zeros[WAVE_MAX_LANES];

static inline void buffer_places(const wave_t* w, const inst_t* inst, const operand_t* o, uint32_t first,
                                 const buffer_t* b, buffer_places_t* out) {
  bool has_index = inst->flags & INST_IDXEN, has_offset = inst->flags & INST_OFFEN;
  const uint32_t* v = o[0].kind == OPERAND_VGPR ? w->vgpr + o[0].offset : NULL;
  const uint32_t* offset = v && has_offset ? v + (has_index ? w->lanes : 0) : buffer_zeros;
  out->index = v && has_index ? v : buffer_zeros;
  out->bounded = b->adds_lane ? buffer_zeros : out->index;
  first += (uint32_t)inst->offset;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) out->offset[i] = first + offset[i];
}

// The usual place of a spilled register: lanes' elements in a row, at an offset that no register has a part in.
static inline void buffer_resolve_row(const wave_t* w, const buffer_t* b, uint32_t offset, uint32_t scalar,
                                      uint32_t bytes, memory_access_t* m) {
  enum { FEW = 16 };  // as valu_collect takes them
  buffer_places_t p = {.index = buffer_zeros, .bounded = buffer_zeros};
  for (uint32_t i = 0; i < FEW; ++i) p.offset[i] = offset;
  m->mask = buffer_inside(b, &p, scalar, bytes, FEW) & 1 ? wave_exec(w) : 0;
  uint64_t element = b->element_size, row = offset / element * element * b->index_stride;
  uint64_t first = b->base + scalar + row + offset % element;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = first + i * element;
}

// `bytes` of each lane, from byte `first` of an access on. `o`: vaddr (index, offset, both or off), srsrc, soffset.
// Lanes outside the buffer leave the mask: loads give them zero.
static inline bool buffer_resolve_at(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t first, uint32_t bytes,
                                     memory_access_t* m) {
  const buffer_t b = buffer_read(w, &o[1]);
  uint32_t scalar = wave_scalar(w, &o[2]), step = b.adds_lane, lanes = w->lanes;
  uint64_t base = b.base + scalar;
  m->space = CHECK_GLOBAL;
  if (b.swizzles && b.adds_lane && o[0].kind != OPERAND_VGPR && b.index_stride >= lanes) {
    buffer_resolve_row(w, &b, first + (uint32_t)inst->offset, scalar, bytes, m);
    return buffer_check_private(w, inst, &b, m, bytes);
  }
  buffer_places_t p;
  buffer_places(w, inst, o, first, &b, &p);
  m->mask = buffer_inside(&b, &p, scalar, bytes, lanes) & wave_exec(w);
  if (!b.swizzles) {
    for (uint32_t i = 0; i < lanes; ++i) {
      m->address[i] = base + (uint64_t)(uint32_t)(p.index[i] + i * step) * b.stride + p.offset[i];
    }
    return true;
  }
  // Both are powers of two.
  uint32_t high = (uint32_t)__builtin_ctz(b.index_stride), element = (uint32_t)__builtin_ctz(b.element_size);
  for (uint32_t i = 0; i < lanes; ++i) {
    uint32_t at = p.index[i] + i * step, within = at & (b.index_stride - 1), offset = p.offset[i];
    uint64_t row = (uint64_t)(at >> high) * b.stride + (offset >> element << element);
    m->address[i] = base + (row << high) + ((uint64_t)within << element) + (offset & (b.element_size - 1));
  }
  return !b.adds_lane || buffer_check_private(w, inst, &b, m, bytes);
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

// Whether `m`, the access as a whole, is all that there is to know: its dwords do not lie apart, and no lane is inside
// with some of them only.
static inline bool buffer_is_whole(const wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes,
                                   const memory_access_t* m) {
  const buffer_t b = buffer_read(w, &o[1]);
  uint64_t exec = wave_exec(w);
  if (b.swizzles || m->mask == exec) return !b.swizzles;
  buffer_places_t p;
  uint64_t any = 0;
  for (uint32_t at = 0; at < bytes; at += 4) {
    buffer_places(w, inst, o, at, &b, &p);
    any |= buffer_inside(&b, &p, wave_scalar(w, &o[2]), bytes - at < 4 ? bytes - at : 4, w->lanes);
  }
  return (any & exec) == m->mask;
}

// Lanes of EXEC whose buffer access is outside read zero.
static inline void buffer_zero_outside(wave_t* w, const memory_access_t* m, memory_part_t part, const operand_t* to) {
  memory_form_t form = memory_forms[part];
  uint32_t keep = form.half == 1 ? 0xffff0000 : form.half == 2 ? 0xffff : 0;
  for (uint64_t left = wave_exec(w) & ~m->mask; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    for (uint32_t k = 0; k < (form.bytes < 4 ? 1u : form.bytes / 4u); ++k)
      w->vgpr[to->offset + k * w->lanes + i] &= keep;
  }
}

#endif  // IREE_C_SOFTGPU_VECTOR_BUFFER_H_
