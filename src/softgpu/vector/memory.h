// What loads, stores and atomic operations of all spaces share.
//
// An instruction's lanes are resolved to a place each: memory of the process, bytes of the workgroup's memory, or bytes
// of the lane's scratch. Flat instructions may have all three; each space's lanes are then done apart. Loops that store
// copy wave->lanes beforehand: a store may change it for all that compilers know, and they make no vector code then.
#ifndef IREE_C_SOFTGPU_VECTOR_MEMORY_H_
#define IREE_C_SOFTGPU_VECTOR_MEMORY_H_

#include "base/small_float.h"
#include "softgpu/shared.h"
#include "softgpu/vector/valu.h"

// What is moved for a lane.
// PART(ENUM, bytes, is signed, half: 0 the whole register, 1 low, 2 high)
// clang-format off
#define MEMORY_PARTS(PART)                                                                              \
  PART(B32, 4, 0, 0)                                                                                    \
  PART(B64, 8, 0, 0)                                                                                    \
  PART(B96, 12, 0, 0)                                                                                   \
  PART(B128, 16, 0, 0)                                                                                  \
  PART(U8, 1, 0, 0)                                                                                     \
  PART(I8, 1, 1, 0) PART(U16, 2, 0, 0) PART(I16, 2, 1, 0) PART(U8_D16, 1, 0, 1) PART(U8_D16HI, 1, 0, 2) \
      PART(I8_D16, 1, 1, 1) PART(I8_D16HI, 1, 1, 2) PART(U16_D16, 2, 0, 1) PART(U16_D16HI, 2, 0, 2)
// clang-format on
typedef enum {
#define PART(name, bytes, is_signed, half) MEMORY_##name,
  MEMORY_PARTS(PART)
#undef PART
} memory_part_t;
typedef struct memory_form_t {
  uint8_t bytes, is_signed, half;
} memory_form_t;
static const memory_form_t memory_forms[] = {
#define PART(name, bytes, is_signed, half) {bytes, is_signed, half},
    MEMORY_PARTS(PART)
#undef PART
};

typedef struct memory_access_t {
  uint64_t address[WAVE_MAX_LANES];  // of the space: an address, or an offset in bytes
  uint64_t mask;                     // lanes that take part
  check_space_t space;
} memory_access_t;

// The host's address of a lane's byte `k`. Scratch is swizzled by dwords over the lanes.
static inline uint8_t* memory_byte(const wave_t* w, const memory_access_t* m, uint32_t lane, uint32_t k) {
  uint64_t at = m->address[lane] + k;
  if (m->space == CHECK_GLOBAL) return (uint8_t*)at;
  if (m->space == CHECK_LDS) return w->group->lds + at;
  return w->scratch + (at / 4 * w->lanes + lane) * 4 + at % 4;
}

// Lanes whose bytes are inside the workgroup's memory: the hardware reads zero outside, and drops writes.
static inline uint64_t memory_lds_mask(const wave_t* w, const memory_access_t* m, uint32_t bytes) {
  uint64_t size = w->group->lds_size, wrong = 0, mask = 0;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) wrong |= (uint64_t)(m->address[i] + bytes > size);
  if (!wrong) return m->mask;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) mask |= (uint64_t)(m->address[i] + bytes <= size) << i;
  return mask & m->mask;
}

// Reports the access to the checks, and faults on scratch that the kernel did not ask for. False after wave_fault.
static inline bool memory_begin(wave_t* w, const inst_t* inst, const memory_access_t* m, uint32_t access,
                                uint32_t bytes) {
  if (w->launch->instrumented && !check_memory(w, inst, m->space, access, m->address, m->mask, bytes)) return false;
  if (m->space != CHECK_SCRATCH) return true;
  uint64_t wrong = 0, size = w->scratch_size;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) wrong |= (uint64_t)(m->address[i] + bytes > size);
  for (uint32_t i = 0; wrong && i < w->lanes; ++i) {
    if (!(m->mask >> i & 1) || m->address[i] + bytes <= size) continue;
    return wave_fault(w, inst, ENGINE_FAULT_MEMORY, m->address[i],
                      "lane %u touches byte %llu of its scratch, which has %u", i, (unsigned long long)m->address[i],
                      w->scratch_size),
           false;
  }
  return true;
}

// The same, of an access that fills registers or stores them.
static inline bool memory_begin_moved(wave_t* w, const inst_t* inst, const memory_access_t* m, uint32_t access,
                                      memory_form_t form, const operand_t* registers) {
  if (!w->launch->instrumented) return memory_begin(w, inst, m, access, form.bytes);
  const check_moved_t moved = {registers, form.half, form.is_signed};
  w->moved = registers ? &moved : NULL;
  bool is_right = memory_begin(w, inst, m, access, form.bytes);
  w->moved = NULL;
  return is_right;
}

// Where lanes' bytes are, each lane's in a row from `base` + `address`: a number, since no pointer may be moved from
// NULL to where global memory is.
typedef struct memory_rows_t {
  uintptr_t base;
  const uint64_t* address;
  uint32_t lanes;
  uint64_t all;     // a bit for each lane
  uint64_t inside;  // lanes that have such bytes
} memory_rows_t;
static inline uint8_t* memory_at(const memory_rows_t* r, uint32_t lane) {
  return (uint8_t*)(r->base + r->address[lane]);
}

// Whether each lane's place is `bytes` behind that of the lane before, all lanes taking part.
static inline bool memory_is_contiguous(const memory_rows_t* r, uint32_t bytes) {
  uint64_t first = r->address[0], wrong = 0;
  for (uint32_t i = 0; i < r->lanes; ++i) wrong |= r->address[i] ^ (first + (uint64_t)i * bytes);
  return !wrong;
}

// Addresses of scratch as addresses of the process; dword k of a lane is k rows of all lanes further on. False where a
// lane's bytes do not lie so: dwords that are not aligned, or less than a dword across two.
static inline bool memory_unswizzle(const wave_t* w, const memory_access_t* m, uint32_t bytes,
                                    uint64_t to[WAVE_MAX_LANES]) {
  uint64_t wrong = 0, most = bytes < 4 ? 4 - bytes : 0, lanes = w->lanes;
  for (uint32_t i = 0; i < lanes; ++i) {
    uint64_t at = m->address[i];
    wrong |= (uint64_t)((at & 3) > most) << i;
    to[i] = ((at >> 2) * lanes + i) * 4 + (at & 3);
  }
  return !(wrong & m->mask);
}

// Four lanes' worth of up to four dwords each, turned over: from a row for each lane to one for each dword, or back.
typedef uint32_t memory_lanes_t __attribute__((vector_size(16)));
VALU_INLINE void memory_transpose(memory_lanes_t x[4]) {
  memory_lanes_t low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  memory_lanes_t low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  memory_lanes_t high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  memory_lanes_t high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// `dwords` is a constant where these are used, so that each copy is an instruction.
VALU_INLINE void memory_load_wide(const memory_rows_t* rows, uint32_t dwords, uint32_t* d) {
  const memory_rows_t copy = *rows, *r = &copy;
  for (uint32_t i = 0; i < r->lanes; i += 4) {
    memory_lanes_t x[4] = {0};
    for (uint32_t k = 0; k < 4; ++k) memcpy(&x[k], memory_at(r, i + k), 4 * dwords);
    memory_transpose(x);
    for (uint32_t k = 0; k < dwords; ++k) memcpy(&d[k * r->lanes + i], &x[k], 16);
  }
}
VALU_INLINE void memory_store_wide(const memory_rows_t* rows, uint32_t dwords, const uint32_t* s) {
  const memory_rows_t copy = *rows, *r = &copy;
  for (uint32_t i = 0; i < r->lanes; i += 4) {
    memory_lanes_t x[4] = {0};
    for (uint32_t k = 0; k < dwords; ++k) memcpy(&x[k], &s[k * r->lanes + i], 16);
    memory_transpose(x);
    for (uint32_t k = 0; k < 4; ++k) memcpy(memory_at(r, i + k), &x[k], 4 * dwords);
  }
}
VALU_INLINE void memory_load_dwords(const memory_rows_t* r, uint32_t dwords, uint32_t* d) {
  if (r->inside != r->all) {
    for (uint64_t left = r->inside; left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctzll(left), x[4];
      memcpy(x, memory_at(r, i), 4 * dwords);
      for (uint32_t k = 0; k < dwords; ++k) d[k * r->lanes + i] = x[k];
    }
  } else if (dwords > 1) {
    memory_load_wide(r, dwords, d);
  } else if (memory_is_contiguous(r, 4)) {
    memcpy(d, memory_at(r, 0), 4 * r->lanes);
  } else {
    for (uint32_t i = 0; i < r->lanes; ++i) memcpy(&d[i], memory_at(r, i), 4);
  }
}
VALU_INLINE void memory_store_dwords(const memory_rows_t* r, uint32_t dwords, const uint32_t* s) {
  if (r->inside != r->all) {
    for (uint64_t left = r->inside; left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctzll(left), x[4];
      for (uint32_t k = 0; k < dwords; ++k) x[k] = s[k * r->lanes + i];
      memcpy(memory_at(r, i), x, 4 * dwords);
    }
  } else if (dwords > 1) {
    memory_store_wide(r, dwords, s);
  } else if (memory_is_contiguous(r, 4)) {
    memcpy(memory_at(r, 0), s, 4 * r->lanes);
  } else {
    for (uint32_t i = 0; i < r->lanes; ++i) memcpy(memory_at(r, i), &s[i], 4);
  }
}

// Less than a dword, as it is in memory.
VALU_INLINE void memory_load_bytes(const memory_rows_t* r, uint32_t bytes, uint32_t* out) {
  if (r->inside != r->all) {
    for (uint64_t left = r->inside; left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctzll(left);
      memcpy(&out[i], memory_at(r, i), bytes);
    }
  } else if (memory_is_contiguous(r, bytes)) {
    uint16_t row[WAVE_MAX_LANES];
    memcpy(row, memory_at(r, 0), bytes * r->lanes);
    for (uint32_t i = 0; i < r->lanes; ++i) out[i] = bytes == 1 ? ((const uint8_t*)row)[i] : row[i];
  } else {
    for (uint32_t i = 0; i < r->lanes; ++i) memcpy(&out[i], memory_at(r, i), bytes);
  }
}
VALU_INLINE void memory_store_bytes(const memory_rows_t* r, uint32_t bytes, uint32_t shift, const uint32_t* s) {
  for (uint64_t left = r->inside; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left), x = s[i] >> shift;
    memcpy(memory_at(r, i), &x, bytes);
  }
}

// The rows of an access, or false where each byte has a place of its own. `scratch` is filled where it is needed. The
// thread sanitizer is shown each access to memory of the process.
static inline bool memory_rows(const wave_t* w, const memory_access_t* m, uint32_t bytes, uint64_t inside,
                               uint64_t scratch[WAVE_MAX_LANES], memory_rows_t* out) {
  *out = (memory_rows_t){0, m->address, w->lanes, w->all, inside};
  switch (m->space) {
    case CHECK_LDS:
      out->base = (uintptr_t)w->group->lds;
      return true;
    case CHECK_SCRATCH:
      out->base = (uintptr_t)w->scratch, out->address = scratch;
      return memory_unswizzle(w, m, bytes, scratch);
    default:
      return !SHARED_IS_WATCHED;
  }
}

// Dwords of all spaces: in a row, but those of scratch.
static inline void memory_load_registers(const memory_rows_t* rows, check_space_t space, uint32_t dwords, uint32_t* d) {
  memory_rows_t r = *rows;
  for (uint32_t k = 0; space == CHECK_SCRATCH && k < dwords; ++k, r.base += 4 * r.lanes) {
    memory_load_dwords(&r, 1, d + k * r.lanes);
  }
  if (space == CHECK_SCRATCH) return;
  switch (dwords) {
    case 4:
      return memory_load_dwords(&r, 4, d);
    case 3:
      return memory_load_dwords(&r, 3, d);
    case 2:
      return memory_load_dwords(&r, 2, d);
    default:
      return memory_load_dwords(&r, 1, d);
  }
}
static inline void memory_store_registers(const memory_rows_t* rows, check_space_t space, uint32_t dwords,
                                          const uint32_t* s) {
  memory_rows_t r = *rows;
  for (uint32_t k = 0; space == CHECK_SCRATCH && k < dwords; ++k, r.base += 4 * r.lanes) {
    memory_store_dwords(&r, 1, s + k * r.lanes);
  }
  if (space == CHECK_SCRATCH) return;
  switch (dwords) {
    case 4:
      return memory_store_dwords(&r, 4, s);
    case 3:
      return memory_store_dwords(&r, 3, s);
    case 2:
      return memory_store_dwords(&r, 2, s);
    default:
      return memory_store_dwords(&r, 1, s);
  }
}

// Bytes of one lane, one by one where they do not lie in a row.
static inline void memory_read_lane(const wave_t* w, const memory_access_t* m, uint32_t lane, uint32_t bytes,
                                    void* to) {
  if (m->space == CHECK_GLOBAL) return shared_read(to, memory_byte(w, m, lane, 0), bytes);
  for (uint32_t k = 0; k < bytes; ++k) ((uint8_t*)to)[k] = *memory_byte(w, m, lane, k);
}
static inline void memory_write_lane(const wave_t* w, const memory_access_t* m, uint32_t lane, uint32_t bytes,
                                     const void* from) {
  if (m->space == CHECK_GLOBAL) return shared_write(memory_byte(w, m, lane, 0), from, bytes);
  for (uint32_t k = 0; k < bytes; ++k) *memory_byte(w, m, lane, k) = ((const uint8_t*)from)[k];
}

// What a load of less than a dword leaves in its register.
VALU_INLINE void memory_extend(memory_form_t form, uint64_t mask, uint32_t lanes, const uint32_t* from, uint32_t* d) {
  uint32_t up = 32 - 8 * form.bytes, flags[WAVE_MAX_LANES];
  uint32_t keep = form.half == 0 ? 0 : form.half == 1 ? 0xffff0000 : 0xffff, shift = form.half == 2 ? 16 : 0;
  VECTOR(valu_spread)(mask, lanes, flags);
  for (uint32_t i = 0; i < lanes; ++i) {
    uint32_t x = form.is_signed ? (uint32_t)((int32_t)(from[i] << up) >> up) : from[i];
    uint32_t value = (d[i] & keep) | (x << shift & ~keep);
    d[i] = (value & flags[i]) | (d[i] & ~flags[i]);
  }
}

static inline bool memory_load(wave_t* w, const inst_t* inst, const memory_access_t* m, memory_part_t part,
                               const operand_t* to) {
  memory_form_t form = memory_forms[part];
  if (!memory_begin_moved(w, inst, m, CHECK_READ, form, to)) return false;
  uint32_t* d = w->vgpr + to->offset;
  uint64_t inside = m->space == CHECK_LDS ? memory_lds_mask(w, m, form.bytes) : m->mask, scratch[WAVE_MAX_LANES];
  uint32_t dwords = form.bytes / 4, few[WAVE_MAX_LANES] = {0};
  memory_rows_t rows;
  bool in_rows = memory_rows(w, m, form.bytes, inside, scratch, &rows);
  if (!dwords) {
    if (in_rows && form.bytes == 1) {
      memory_load_bytes(&rows, 1, few);
    } else if (in_rows) {
      memory_load_bytes(&rows, 2, few);
    } else {
      for (uint64_t left = inside; left; left &= left - 1) {
        memory_read_lane(w, m, (uint32_t)__builtin_ctzll(left), form.bytes, &few[__builtin_ctzll(left)]);
      }
    }
    memory_extend(form, m->mask, w->lanes, few, d);
    return true;
  }
  for (uint64_t left = m->mask & ~inside; left; left &= left - 1) {
    for (uint32_t k = 0; k < dwords; ++k) d[k * w->lanes + (uint32_t)__builtin_ctzll(left)] = 0;
  }
  if (in_rows) return memory_load_registers(&rows, m->space, dwords, d), true;
  for (uint64_t left = inside; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left), value[4];
    memory_read_lane(w, m, i, form.bytes, value);
    for (uint32_t k = 0; k < dwords; ++k) d[k * w->lanes + i] = value[k];
  }
  return true;
}

// Data of a store or atomic operation: registers, or a constant.
static inline uint32_t memory_data(const wave_t* w, const operand_t* o, uint32_t k, uint32_t lane) {
  if (o->kind == OPERAND_VGPR) return w->vgpr[o->offset + (size_t)k * w->lanes + lane];
  return wave_scalar(w, o);
}

// memory_begin with what is stored, for the checks: a store of what is there already harms nobody.
static inline bool memory_begin_store(wave_t* w, const inst_t* inst, const memory_access_t* m, memory_form_t form,
                                      const operand_t* from) {
  uint8_t stored[WAVE_MAX_LANES][WAVE_MAX_STORE] = {0};
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    for (uint32_t k = 0; 4 * k < form.bytes; ++k) {
      uint32_t value = memory_data(w, from, k, i) >> (form.half == 2 ? 16 : 0);
      memcpy(&stored[i][4 * k], &value, 4);
    }
  }
  w->stored = stored;
  bool is_right = memory_begin_moved(w, inst, m, CHECK_WRITE, form, from);
  w->stored = NULL;
  return is_right;
}

static inline bool memory_store(wave_t* w, const inst_t* inst, const memory_access_t* m, memory_part_t part,
                                const operand_t* from) {
  memory_form_t form = memory_forms[part];
  if (!(w->launch->instrumented ? memory_begin_store(w, inst, m, form, from)
                                : memory_begin(w, inst, m, CHECK_WRITE, form.bytes))) {
    return false;
  }
  uint64_t inside = m->space == CHECK_LDS ? memory_lds_mask(w, m, form.bytes) : m->mask, scratch[WAVE_MAX_LANES];
  uint32_t dwords = form.bytes / 4, shift = form.half == 2 ? 16 : 0;
  memory_rows_t rows;
  if (from->kind == OPERAND_VGPR && memory_rows(w, m, form.bytes, inside, scratch, &rows)) {
    const uint32_t* s = w->vgpr + from->offset;
    if (dwords) {
      memory_store_registers(&rows, m->space, dwords, s);
    } else if (form.bytes == 1) {
      memory_store_bytes(&rows, 1, shift, s);
    } else {
      memory_store_bytes(&rows, 2, shift, s);
    }
    return true;
  }
  for (uint64_t left = inside; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left), value[4];
    for (uint32_t k = 0; k < (dwords ? dwords : 1); ++k) value[k] = memory_data(w, from, k, i) >> shift;
    memory_write_lane(w, m, i, form.bytes, value);
  }
  return true;
}

// Float operations of atomics, on bits.
#define MEMORY_FLOATS(bits, type)                                                     \
  static inline type float_of_##bits(uint##bits##_t x) {                              \
    type value;                                                                       \
    memcpy(&value, &x, sizeof(value));                                                \
    return value;                                                                     \
  }                                                                                   \
  static inline uint##bits##_t bits_of_##bits(type value) {                           \
    uint##bits##_t x;                                                                 \
    memcpy(&x, &value, sizeof(x));                                                    \
    return x;                                                                         \
  }                                                                                   \
  static inline uint##bits##_t add_f##bits(uint##bits##_t a, uint##bits##_t b) {      \
    return bits_of_##bits(float_of_##bits(a) + float_of_##bits(b));                   \
  }                                                                                   \
  static inline uint##bits##_t min_f##bits(uint##bits##_t a, uint##bits##_t b) {      \
    type x = float_of_##bits(a), y = float_of_##bits(b);                              \
    return x != x ? b : y != y ? a : x < y || (x == y && a >> (bits - 1)) ? a : b;    \
  }                                                                                   \
  static inline uint##bits##_t max_f##bits(uint##bits##_t a, uint##bits##_t b) {      \
    type x = float_of_##bits(a), y = float_of_##bits(b);                              \
    return x != x ? b : y != y ? a : x > y || (x == y && !(a >> (bits - 1))) ? a : b; \
  }                                                                                   \
  static inline bool equal_f##bits(uint##bits##_t a, uint##bits##_t b) {              \
    return float_of_##bits(a) == float_of_##bits(b);                                  \
  }
MEMORY_FLOATS(32, float)
MEMORY_FLOATS(64, double)

static inline uint32_t add_pair(small_float_t format, uint32_t a, uint32_t b) {
  uint32_t out = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    double sum = small_float_decode(format, a >> shift & 0xffff) + small_float_decode(format, b >> shift & 0xffff);
    out |= small_float_encode(format, sum) << shift;
  }
  return out;
}
static inline uint32_t add_pair_f16(uint32_t a, uint32_t b) { return add_pair(SMALL_F16, a, b); }
static inline uint32_t add_pair_bf16(uint32_t a, uint32_t b) { return add_pair(SMALL_BF16, a, b); }

typedef uint64_t (*memory_update_t)(uint64_t a, uint64_t b, uint64_t c);

// One lane's atomic operation; returns the old value. Memory of the process is shared with other threads.
static inline uint64_t memory_update(uint8_t* at, bool shared, uint32_t bytes, memory_update_t update, uint64_t b,
                                     uint64_t c) {
  if (bytes == 4) {
    uint32_t old;
    if (!shared) {
      memcpy(&old, at, 4);
      uint32_t next = (uint32_t)update(old, b, c);
      memcpy(at, &next, 4);
      return old;
    }
    uint32_t* place = (uint32_t*)at;
    old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, (uint32_t)update(old, b, c), true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
  }
  uint64_t old;
  if (!shared) {
    memcpy(&old, at, 8);
    uint64_t next = update(old, b, c);
    memcpy(at, &next, 8);
    return old;
  }
  uint64_t* place = (uint64_t*)at;
  old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, update(old, b, c), true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old;
}

// `to` NULL: the old value is not wanted. `c_from`: further data (compare), NULL when there is none.
static inline bool memory_atomic(wave_t* w, const inst_t* inst, const memory_access_t* m, uint32_t bytes,
                                 memory_update_t update, const operand_t* b_from, const operand_t* c_from,
                                 uint32_t c_first, const operand_t* to) {
  memory_form_t form = {.bytes = (uint8_t)bytes};
  if (!memory_begin_moved(w, inst, m, CHECK_READ | CHECK_WRITE | CHECK_ATOMIC, form, to)) return false;
  wave_use_csr(w, w->csr_single | 0x1f80);
  uint64_t inside = m->space == CHECK_LDS ? memory_lds_mask(w, m, bytes) : m->mask;
  uint64_t alignment = m->space == CHECK_GLOBAL ? bytes - 1 : 0;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (!(m->mask >> i & 1)) continue;
    uint64_t b = memory_data(w, b_from, 0, i), c = c_from ? memory_data(w, c_from, c_first, i) : 0, old = 0;
    if (bytes == 8) {
      b |= (uint64_t)memory_data(w, b_from, 1, i) << 32;
      if (c_from) c |= (uint64_t)memory_data(w, c_from, c_first + 1, i) << 32;
    }
    if (m->address[i] & alignment) {
      wave_fault(w, inst, ENGINE_FAULT_MEMORY, m->address[i],
                 "atomic operation on address 0x%llx, which is not aligned", (unsigned long long)m->address[i]);
      return false;
    }
    if (inside >> i & 1 && bytes == 8 && m->space == CHECK_SCRATCH) {
      // The two halves lie apart.
      uint8_t halves[8];
      for (uint32_t k = 0; k < 8; ++k) halves[k] = *memory_byte(w, m, i, k);
      old = memory_update(halves, false, 8, update, b, c);
      for (uint32_t k = 0; k < 8; ++k) *memory_byte(w, m, i, k) = halves[k];
    } else if (inside >> i & 1) {
      old = memory_update(memory_byte(w, m, i, 0), m->space == CHECK_GLOBAL, bytes, update, b, c);
    }
    if (!to) continue;
    w->vgpr[to->offset + i] = (uint32_t)old;
    if (bytes == 8) w->vgpr[to->offset + w->lanes + i] = (uint32_t)(old >> 32);
  }
  return true;
}

#endif  // IREE_C_SOFTGPU_VECTOR_MEMORY_H_
