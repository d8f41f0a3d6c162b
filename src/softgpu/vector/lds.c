// Rows of ds_ instructions (isa/amd/memory.def).
#include "softgpu/atomic_update.h"
#include "softgpu/vector/memory.h"

static inline void resolve(const wave_t* w, const operand_t* address, uint32_t offset, memory_access_t* m) {
  const uint32_t* v = w->vgpr + address->offset;
  m->space = CHECK_LDS;
  m->mask = wave_exec(w);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = v[i] + offset;
}

static inline const inst_t* run_load(wave_t* w, const inst_t* inst, memory_part_t part) {
  memory_access_t m;
  resolve(w, &inst->src[0], (uint32_t)inst->offset & 0xffff, &m);
  return memory_load(w, inst, &m, part, &inst->dst[0]) ? inst + 1 : NULL;
}

// gfx950's transposing reads: what 16 lanes read is rows of 16 elements, and each of them gets a column.
static const inst_t* run_read_transposed(wave_t* w, const inst_t* inst, uint32_t bits, uint32_t dwords) {
  memory_access_t m;
  resolve(w, &inst->src[0], (uint32_t)inst->offset & 0xffff, &m);
  if (!memory_begin(w, inst, &m, CHECK_READ, 4 * dwords)) return NULL;
  uint64_t inside = memory_lds_mask(w, &m, 4 * dwords);
  uint32_t from[WAVE_MAX_LANES][3] = {0}, each = 32 * dwords / bits;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (inside >> i & 1) memcpy(from[i], w->group->lds + m.address[i], 4 * dwords);
  }
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint32_t to[3] = {0};
    for (uint32_t k = 0; k < each; ++k) {
      uint32_t element = 16 * k + i % 16;
      const uint32_t* data = from[(i & ~15u) + element / each];
      for (uint32_t b = 0, at = element % each * bits; b < bits; ++b, ++at) {
        to[(k * bits + b) / 32] |= (data[at / 32] >> at % 32 & 1) << (k * bits + b) % 32;
      }
    }
    if (!(m.mask >> i & 1)) continue;
    for (uint32_t k = 0; k < dwords; ++k) w->vgpr[inst->dst[0].offset + k * w->lanes + i] = to[k];
  }
  return inst + 1;
}

static inline const inst_t* run_store(wave_t* w, const inst_t* inst, memory_part_t part) {
  memory_access_t m;
  resolve(w, &inst->src[0], (uint32_t)inst->offset & 0xffff, &m);
  return memory_store(w, inst, &m, part, &inst->src[1]) ? inst + 1 : NULL;
}

// Two elements at offset0 and offset1, in units of `unit` bytes. Both addresses are known before either is loaded.
static inline const inst_t* run_load_pair(wave_t* w, const inst_t* inst, memory_part_t part, uint32_t unit) {
  memory_access_t m[2];
  resolve(w, &inst->src[0], (uint32_t)inst->offset0 * unit, &m[0]);
  resolve(w, &inst->src[0], (uint32_t)inst->offset1 * unit, &m[1]);
  operand_t second = inst->dst[0];
  second.offset += (size_t)memory_forms[part].bytes / 4 * w->lanes;
  if (!memory_load(w, inst, &m[0], part, &inst->dst[0])) return NULL;
  return memory_load(w, inst, &m[1], part, &second) ? inst + 1 : NULL;
}

static inline const inst_t* run_store_pair(wave_t* w, const inst_t* inst, memory_part_t part, uint32_t unit) {
  memory_access_t m;
  for (int k = 0; k < 2; ++k) {
    resolve(w, &inst->src[0], (uint32_t)(k ? inst->offset1 : inst->offset0) * unit, &m);
    if (!memory_store(w, inst, &m, part, &inst->src[1 + k])) return NULL;
  }
  return inst + 1;
}

// Exchanges two elements.
static uint64_t exchange(uint64_t a, uint64_t b, uint64_t c) { return b; }
static inline const inst_t* run_exchange_pair(wave_t* w, const inst_t* inst, uint32_t bytes, uint32_t unit) {
  memory_access_t m[2];
  resolve(w, &inst->src[0], (uint32_t)inst->offset0 * unit, &m[0]);
  resolve(w, &inst->src[0], (uint32_t)inst->offset1 * unit, &m[1]);
  operand_t second = inst->dst[0];
  second.offset += (size_t)bytes / 4 * w->lanes;
  if (!memory_atomic(w, inst, &m[0], bytes, exchange, &inst->src[1], NULL, 0, &inst->dst[0])) return NULL;
  return memory_atomic(w, inst, &m[1], bytes, exchange, &inst->src[2], NULL, 0, &second) ? inst + 1 : NULL;
}

// At M0 + offset + 4 * lane.
static void resolve_lanes(const wave_t* w, const inst_t* inst, memory_access_t* m) {
  m->space = CHECK_LDS;
  m->mask = wave_exec(w);
  uint32_t base = (w->sgpr[SREG_M0] & 0xffff) + ((uint32_t)inst->offset & 0xffff);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = base + 4 * i;
}
static const inst_t* run_load_addtid(wave_t* w, const inst_t* inst) {
  memory_access_t m;
  resolve_lanes(w, inst, &m);
  return memory_load(w, inst, &m, MEMORY_B32, &inst->dst[0]) ? inst + 1 : NULL;
}
static const inst_t* run_store_addtid(wave_t* w, const inst_t* inst) {
  memory_access_t m;
  resolve_lanes(w, inst, &m);
  return memory_store(w, inst, &m, MEMORY_B32, &inst->src[0]) ? inst + 1 : NULL;
}

static inline const inst_t* run_atomic(wave_t* w, const inst_t* inst, uint32_t bytes, bool has_second,
                                       memory_update_t update) {
  memory_access_t m;
  resolve(w, &inst->src[0], (uint32_t)inst->offset & 0xffff, &m);
  const operand_t* to = inst->destination_count ? &inst->dst[0] : NULL;
  const operand_t* second = has_second ? &inst->src[2] : NULL;
  return memory_atomic(w, inst, &m, bytes, update, &inst->src[1], second, 0, to) ? inst + 1 : NULL;
}

// Where the second source is, in dwords from the first: the offset, or with its bit 15 the address's upper bits.
static void resolve_apart(const wave_t* w, const inst_t* inst, memory_access_t* first, memory_access_t* second) {
  uint32_t offset = (uint32_t)inst->offset & 0xffff;
  resolve(w, &inst->src[0], 0, first);
  *second = *first;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint32_t address = (uint32_t)first->address[i];
    int32_t dwords = offset & 0x8000 ? (int32_t)address >> 17 : (int32_t)(offset << 17) >> 17;
    if (offset & 0x8000) address &= 0x1ffff;
    first->address[i] = address, second->address[i] = address + 4 * (uint32_t)dwords;
  }
}

static inline const inst_t* run_source2(wave_t* w, const inst_t* inst, uint32_t bytes, memory_update_t update) {
  memory_access_t to, from;
  resolve_apart(w, inst, &to, &from);
  if (!memory_begin(w, inst, &from, CHECK_READ, bytes)) return NULL;
  if (!memory_begin(w, inst, &to, CHECK_READ | CHECK_WRITE | CHECK_ATOMIC, bytes)) return NULL;
  uint64_t readable = memory_lds_mask(w, &from, bytes), writable = memory_lds_mask(w, &to, bytes);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint64_t old = 0, data = 0;
    if (!(writable >> i & 1)) continue;
    memcpy(&old, w->group->lds + to.address[i], bytes);
    if (readable >> i & 1) memcpy(&data, w->group->lds + from.address[i], bytes);
    old = update(old, data, 0);
    memcpy(w->group->lds + to.address[i], &old, bytes);
  }
  return inst + 1;
}

// Counters in memory that all lanes of the wave add to at once: M0 + offset.
static const inst_t* run_append(wave_t* w, const inst_t* inst, bool consumes) {
  memory_access_t m = {.space = CHECK_LDS, .mask = 1};
  m.address[0] = (w->sgpr[SREG_M0] & 0xffff) + ((uint32_t)inst->offset & 0xffff);
  if (!memory_begin(w, inst, &m, CHECK_READ | CHECK_WRITE | CHECK_ATOMIC, 4)) return NULL;
  uint64_t exec = wave_exec(w);
  uint32_t old = 0, count = (uint32_t)__builtin_popcountll(exec);
  if (memory_lds_mask(w, &m, 4)) {
    memcpy(&old, w->group->lds + m.address[0], 4);
    uint32_t next = consumes ? old - count : old + count;
    memcpy(w->group->lds + m.address[0], &next, 4);
  }
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (exec >> i & 1) w->vgpr[inst->dst[0].offset + i] = old;
  }
  return inst + 1;
}
static const inst_t* run_ds_append(wave_t* w, const inst_t* inst) { return run_append(w, inst, false); }
static const inst_t* run_ds_consume(wave_t* w, const inst_t* inst) { return run_append(w, inst, true); }

// Halves of a wave of 64 are permuted apart on gfx10 and gfx11.
static uint32_t permuted_lanes(const wave_t* w) {
  return w->lanes == 64 && (w->target->major == 10 || w->target->major == 11) ? 32 : w->lanes;
}

// Lanes of other lanes. Inactive sources give zero.
static const inst_t* run_bpermute_mode(wave_t* w, const inst_t* inst, bool inactive_too) {
  uint32_t result[WAVE_MAX_LANES];
  uint64_t exec = wave_exec(w), from = inactive_too ? w->all : exec;
  uint32_t limit = permuted_lanes(w);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint32_t lane = (w->vgpr[inst->src[0].offset + i] + (uint32_t)inst->offset) / 4 % limit + i / limit * limit;
    result[i] = from >> lane & 1 ? memory_data(w, &inst->src[1], 0, lane) : 0;
  }
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (exec >> i & 1) w->vgpr[inst->dst[0].offset + i] = result[i];
  }
  return inst + 1;
}
static const inst_t* run_bpermute(wave_t* w, const inst_t* inst) { return run_bpermute_mode(w, inst, false); }
static const inst_t* run_bpermute_fi(wave_t* w, const inst_t* inst) { return run_bpermute_mode(w, inst, true); }

static const inst_t* run_permute(wave_t* w, const inst_t* inst) {
  uint32_t result[WAVE_MAX_LANES] = {0};
  uint64_t exec = wave_exec(w);
  uint32_t limit = permuted_lanes(w);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    uint32_t lane = (w->vgpr[inst->src[0].offset + i] + (uint32_t)inst->offset) / 4 % limit + i / limit * limit;
    result[lane] = memory_data(w, &inst->src[1], 0, i);
  }
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (exec >> i & 1) w->vgpr[inst->dst[0].offset + i] = result[i];
  }
  return inst + 1;
}

// Which lane a lane takes its value from, by the 16-bit pattern. Manuals: DS_SWIZZLE_B32.
static uint32_t swizzled(uint32_t pattern, uint32_t lane) {
  if ((pattern & 0x8000) == 0) {
    uint32_t within = lane & 31;
    within = ((within & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
    return (lane & ~31u) | within;
  }
  if (pattern >= 0xe000) {  // FFT: the bits of 5-bit lanes reversed after a mask
    uint32_t reversed = 0, mask = pattern & 31, within = lane & 31;
    for (int i = 0; i < 5; ++i) reversed |= (within >> i & 1) << (4 - i);
    uint32_t out = (reversed >> __builtin_popcount(mask)) | (within & mask);
    return (lane & ~31u) | (mask == 31 ? within : out);
  }
  if (pattern >= 0xc000) {  // rotation; bit 10 says to the right
    uint32_t rotate = pattern >> 5 & 31, mask = pattern & 31, within = lane & 31;
    uint32_t turned = pattern >> 10 & 1 ? within - rotate : within + rotate;
    return (lane & ~31u) | (within & mask) | (turned & ~mask & 31);
  }
  return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
}

static const inst_t* run_swizzle(wave_t* w, const inst_t* inst) {
  uint32_t result[WAVE_MAX_LANES], pattern = inst->encoding[0] & 0xffff;
  uint64_t exec = wave_exec(w);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint32_t from = swizzled(pattern, i);
    result[i] = exec >> from & 1 ? memory_data(w, &inst->src[0], 0, from) : 0;
  }
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (exec >> i & 1) w->vgpr[inst->dst[0].offset + i] = result[i];
  }
  return inst + 1;
}

// Each dword whose bit 31 of data is set is replaced by the other bits.
static uint64_t exchange_marked(uint64_t a, uint64_t b) {
  uint64_t low = b >> 31 & 1 ? b & 0x7fffffff : (uint32_t)a, high = b >> 63 ? b >> 32 & 0x7fffffff : a >> 32;
  return low | high << 32;
}

static const inst_t* run_none(wave_t* w, const inst_t* inst) { return inst + 1; }

#define RUN(name, call) \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { return call; }
#define DS_LOAD(name, older, part) RUN(name, run_load(w, inst, MEMORY_##part))
#define DS_STORE(name, older, part) RUN(name, run_store(w, inst, MEMORY_##part))
#define SECOND_32 false
#define SECOND_64 false
#define SECOND_MASK32 true
#define SECOND_MASK64 true
#define DS_ATOMIC(name, returning, kind, expression) \
  ATOMIC_UPDATE(name, kind, expression)              \
  RUN(name, run_atomic(w, inst, sizeof(TYPE_##kind), SECOND_##kind, update_##name))
#define DS_SOURCE2(name, kind, expression) \
  ATOMIC_UPDATE(name, kind, expression)    \
  RUN(name, run_source2(w, inst, sizeof(TYPE_##kind), update_##name))
#include "isa/amd/memory.def"

// PAIRS(mnemonic, older, call)
#define PAIR_LOADS(PAIR)                                                                                \
  PAIR(ds_load_2addr_b32, ds_read2_b32, run_load_pair(w, inst, MEMORY_B32, 4))                          \
  PAIR(ds_load_2addr_b64, ds_read2_b64, run_load_pair(w, inst, MEMORY_B64, 8))                          \
  PAIR(ds_load_2addr_stride64_b32, ds_read2st64_b32, run_load_pair(w, inst, MEMORY_B32, 256))           \
  PAIR(ds_load_2addr_stride64_b64, ds_read2st64_b64, run_load_pair(w, inst, MEMORY_B64, 512))           \
  PAIR(ds_storexchg_2addr_rtn_b32, ds_wrxchg2_rtn_b32, run_exchange_pair(w, inst, 4, 4))                \
  PAIR(ds_storexchg_2addr_rtn_b64, ds_wrxchg2_rtn_b64, run_exchange_pair(w, inst, 8, 8))                \
  PAIR(ds_storexchg_2addr_stride64_rtn_b32, ds_wrxchg2st64_rtn_b32, run_exchange_pair(w, inst, 4, 256)) \
  PAIR(ds_storexchg_2addr_stride64_rtn_b64, ds_wrxchg2st64_rtn_b64, run_exchange_pair(w, inst, 8, 512))
#define PAIR_STORES(PAIR)                                                                        \
  PAIR(ds_store_2addr_b32, ds_write2_b32, run_store_pair(w, inst, MEMORY_B32, 4))                \
  PAIR(ds_store_2addr_b64, ds_write2_b64, run_store_pair(w, inst, MEMORY_B64, 8))                \
  PAIR(ds_store_2addr_stride64_b32, ds_write2st64_b32, run_store_pair(w, inst, MEMORY_B32, 256)) \
  PAIR(ds_store_2addr_stride64_b64, ds_write2st64_b64, run_store_pair(w, inst, MEMORY_B64, 512))
// TRANSPOSED(mnemonic, bits of an element, dwords of a lane)
#define TRANSPOSED_READS(TRANSPOSED)  \
  TRANSPOSED(ds_read_b64_tr_b4, 4, 2) \
  TRANSPOSED(ds_read_b64_tr_b8, 8, 2) TRANSPOSED(ds_read_b96_tr_b6, 6, 3) TRANSPOSED(ds_read_b64_tr_b16, 16, 2)
#define TRANSPOSED(name, bits, dwords) RUN(name, run_read_transposed(w, inst, bits, dwords))
TRANSPOSED_READS(TRANSPOSED)
#undef TRANSPOSED

#define PAIR(name, older, call) RUN(name, call)
PAIR_LOADS(PAIR)
PAIR_STORES(PAIR)
#undef PAIR

#define ROW_AS(name, as, destinations) INST_ROW(name, LDS, EXACT, run_##as, destinations, INST_B32)
#define DS_LOAD(name, older, part) ROW_AS(name, name, 1) ROW_AS(older, name, 1)
#define DS_STORE(name, older, part) ROW_AS(name, name, 0) ROW_AS(older, name, 0)
#define DS_ATOMIC(name, returning, kind, expression) ROW_AS(name, name, 0) ROW_AS(returning, name, 1)
#define DS_SOURCE2(name, kind, expression) ROW_AS(name, name, 0)
static const inst_row_t rows[] = {
#include "isa/amd/memory.def"
#define TRANSPOSED(name, bits, dwords) ROW_AS(name, name, 1)
    TRANSPOSED_READS(TRANSPOSED)
#undef TRANSPOSED
#define PAIR(name, older, call) ROW_AS(name, name, 1) ROW_AS(older, name, 1)
        PAIR_LOADS(PAIR)
#undef PAIR
#define PAIR(name, older, call) ROW_AS(name, name, 0) ROW_AS(older, name, 0)
            PAIR_STORES(PAIR)
#undef PAIR
                ROW_AS(ds_load_addtid_b32, load_addtid, 1) ROW_AS(ds_read_addtid_b32, load_addtid, 1)
                    ROW_AS(ds_store_addtid_b32, store_addtid, 0) ROW_AS(ds_write_addtid_b32, store_addtid, 0) ROW_AS(
                        ds_append, ds_append, 1) ROW_AS(ds_consume, ds_consume, 1) ROW_AS(ds_bpermute_b32, bpermute, 1)
                        ROW_AS(ds_bpermute_fi_b32, bpermute_fi, 1) ROW_AS(ds_permute_b32, permute, 1)
                            ROW_AS(ds_swizzle_b32, swizzle, 1) INST_ROW(ds_nop, HINT, HINT, run_none, 0, INST_NONE)};
VECTOR_TABLE(lds_table, rows);
