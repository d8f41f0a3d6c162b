// Rows of global_, flat_, scratch_ and buffer_ instructions (isa/amd/memory.def).
#include "softgpu/vector/memory.h"

#include "softgpu/atomic_update.h"
#include "softgpu/vector/buffer.h"

// How a family finds its lanes' places; `o` are the operands from the address on.
typedef bool (*resolve_t)(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes, memory_access_t* m);

// vaddr (64 bits), off; or vaddr (32 bits), saddr.
static bool resolve_global(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes, memory_access_t* m) {
  const operand_t *vector = &o[0], *scalar = &o[1];
  m->space = CHECK_GLOBAL;
  m->mask = wave_exec(w);
  bool has_scalar = scalar->kind == OPERAND_SGPR;
  uint64_t base = (has_scalar ? wave_pair(w, scalar->index) : 0) + (uint64_t)(int64_t)inst->offset;
  if (vector->kind != OPERAND_VGPR) {
    for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = base;
  } else if (has_scalar) {
    uint64_t scale = inst->flags & INST_SCALE_OFFSET ? bytes : 1;
    const uint32_t* v = w->vgpr + vector->offset;
    for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = base + v[i] * scale;
  } else {
    const uint32_t *low = w->vgpr + vector->offset, *high = low + w->lanes;
    for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = base + (low[i] | (uint64_t)high[i] << 32);
  }
  return true;
}

// vaddr or off, saddr or off: bytes of the lane's scratch.
static bool resolve_scratch(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes, memory_access_t* m) {
  m->space = CHECK_SCRATCH;
  m->mask = wave_exec(w);
  uint32_t base = (o[1].kind == OPERAND_SGPR ? w->sgpr[o[1].index] : 0) + (uint32_t)inst->offset;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    m->address[i] = (uint32_t)(base + (o[0].kind == OPERAND_VGPR ? w->vgpr[o[0].offset + i] : 0));
  }
  return true;
}

// Flat addresses: splits the lanes by space.
typedef struct flat_t {
  memory_access_t spaces[3];
} flat_t;

static void resolve_flat(wave_t* w, const inst_t* inst, const operand_t* o, flat_t* f) {
  uint64_t exec = wave_exec(w);
  memory_access_t *global = &f->spaces[0], *lds = &f->spaces[1], *scratch = &f->spaces[2];
  global->space = CHECK_GLOBAL, lds->space = CHECK_LDS, scratch->space = CHECK_SCRATCH;
  global->mask = lds->mask = scratch->mask = 0;
  bool has_scalar = o[1].kind == OPERAND_SGPR && o[0].dwords == 1;
  uint64_t base = (has_scalar ? wave_pair(w, o[1].index) : 0) + (uint64_t)(int64_t)inst->offset;
  const uint32_t *low = w->vgpr + o[0].offset, *high = low + w->lanes;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint64_t at = base + (has_scalar ? low[i] : low[i] | (uint64_t)high[i] << 32);
    global->address[i] = at;
    lds->mask |= (uint64_t)(at - WAVE_SHARED_BASE < WAVE_APERTURE_SIZE) << i;
    scratch->mask |= (uint64_t)(at - WAVE_PRIVATE_BASE < WAVE_APERTURE_SIZE) << i;
  }
  lds->mask &= exec, scratch->mask &= exec;
  global->mask = exec & ~lds->mask & ~scratch->mask;
  for (uint32_t i = 0; (lds->mask | scratch->mask) && i < w->lanes; ++i) {
    lds->address[i] = scratch->address[i] = (uint32_t)global->address[i];
  }
}

// Loads straight into the workgroup's memory (`lds`): lane l's element, extended to a dword, goes to M0 + offset + l *
// size. Lanes outside a buffer write zero.
static const inst_t* load_to_lds(wave_t* w, const inst_t* inst, memory_access_t* m, memory_part_t part) {
  memory_form_t form = memory_forms[part];
  uint32_t step = form.bytes < 4 ? 4 : form.bytes;
  uint32_t base = (w->sgpr[SREG_M0] & 0xffff) + (m->space == CHECK_GLOBAL ? (uint32_t)inst->offset : 0);
  memory_access_t to = {.space = CHECK_LDS, .mask = wave_exec(w)};
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) to.address[i] = base + i * step;
  if (!memory_begin(w, inst, m, CHECK_READ, form.bytes)) return NULL;
  if (!memory_begin(w, inst, &to, CHECK_WRITE, step)) return NULL;
  uint64_t inside = memory_lds_mask(w, &to, step);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (!(inside >> i & 1)) continue;
    uint32_t value[4] = {0}, up = 32 - 8 * (form.bytes & 3);
    if (m->mask >> i & 1) memory_read_lane(w, m, i, form.bytes, value);
    if (form.is_signed) value[0] = (uint32_t)((int32_t)(value[0] << up) >> up);
    memcpy(w->group->lds + to.address[i], value, step);
  }
  return inst + 1;
}

// A matrix of 16 x 16, each lane's address that of half a row; lane l gets half l / 16 of column l % 16.
static inline const inst_t* run_load_transposed(wave_t* w, const inst_t* inst, uint32_t element) {
  memory_access_t m;
  if (w->lanes != 32) {
    return wave_fault(w, inst, ENGINE_FAULT_ILLEGAL_INSTRUCTION, inst->address, "%s needs a wave of 32 lanes",
                      inst->row->name);
  }
  resolve_global(w, inst, inst->src, 8 * element, &m);
  if (!memory_begin(w, inst, &m, CHECK_READ, 8 * element)) return NULL;
  uint8_t from[32][16], to[16];
  for (uint32_t i = 0; i < 32; ++i) shared_read(from[i], (const void*)m.address[i], 8 * element);
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(m.mask >> i & 1)) continue;
    uint32_t column = i % 16;
    for (uint32_t k = 0; k < 8; ++k) {
      memcpy(to + k * element, from[8 * (i / 16) + k + 16 * (column / 8)] + column % 8 * element, element);
    }
    for (uint32_t k = 0; k < 2 * element; ++k) memcpy(&w->vgpr[inst->dst[0].offset + k * 32 + i], to + 4 * k, 4);
  }
  return inst + 1;
}
static const inst_t* run_load_transposed_16(wave_t* w, const inst_t* inst) { return run_load_transposed(w, inst, 2); }
static const inst_t* run_load_transposed_8(wave_t* w, const inst_t* inst) { return run_load_transposed(w, inst, 1); }

// The same the other way: dwords of the workgroup's memory go to a buffer.
static const inst_t* run_store_lds(wave_t* w, const inst_t* inst) {
  memory_access_t m, from = {.space = CHECK_LDS, .mask = wave_exec(w)};
  operand_t o[3] = {{.kind = OPERAND_OFF}, inst->src[0], inst->src[1]};
  if (!buffer_resolve(w, inst, o, 4, &m)) return NULL;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    from.address[i] = (w->sgpr[SREG_M0] & 0xffff) + (uint32_t)inst->offset + 4 * i;
  }
  if (!memory_begin(w, inst, &from, CHECK_READ, 4) || !memory_begin(w, inst, &m, CHECK_WRITE, 4)) return NULL;
  uint64_t inside = memory_lds_mask(w, &from, 4);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    uint32_t value = 0;
    if (inside >> i & 1) memory_read_lane(w, &from, i, 4, &value);
    if (m.mask >> i & 1) shared_write((void*)m.address[i], &value, 4);
  }
  return inst + 1;
}

// Blocks of up to 32 registers: those whose bits of M0 are set are moved, register k to and from dword k.
static inline const inst_t* run_block(wave_t* w, const inst_t* inst, resolve_t resolve, bool loads) {
  memory_access_t m;
  operand_t at[2] = {inst->src[0], inst->src[loads ? 1 : 2]};
  if (!resolve(w, inst, at, 4, &m)) return NULL;
  uint32_t chosen = w->sgpr[SREG_M0];
  for (uint32_t k = 0; k < 32; ++k) {
    memory_access_t of = m;
    operand_t o = loads ? inst->dst[0] : inst->src[1];
    if (!(chosen >> k & 1) || k >= o.dwords) continue;
    for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) of.address[i] += 4 * k;
    o.offset += (size_t)k * w->lanes;
    bool is_right = loads ? memory_load(w, inst, &of, MEMORY_B32, &o) : memory_store(w, inst, &of, MEMORY_B32, &o);
    if (!is_right) return NULL;
  }
  return inst + 1;
}
static const inst_t* run_global_load_block(wave_t* w, const inst_t* inst) {
  return run_block(w, inst, resolve_global, true);
}
static const inst_t* run_global_store_block(wave_t* w, const inst_t* inst) {
  return run_block(w, inst, resolve_global, false);
}
static const inst_t* run_scratch_load_block(wave_t* w, const inst_t* inst) {
  return run_block(w, inst, resolve_scratch, true);
}
static const inst_t* run_scratch_store_block(wave_t* w, const inst_t* inst) {
  return run_block(w, inst, resolve_scratch, false);
}

// saddr + offset + 4 * lane
static bool resolve_lanes(wave_t* w, const inst_t* inst, const operand_t* o, memory_access_t* m) {
  m->space = CHECK_GLOBAL;
  m->mask = wave_exec(w);
  uint64_t base = (o->kind == OPERAND_SGPR ? wave_pair(w, o->index) : 0) + (uint64_t)(int64_t)inst->offset;
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) m->address[i] = base + 4 * i;
  return true;
}
static const inst_t* run_load_addtid(wave_t* w, const inst_t* inst) {
  memory_access_t m;
  resolve_lanes(w, inst, &inst->src[0], &m);
  return memory_load(w, inst, &m, MEMORY_B32, &inst->dst[0]) ? inst + 1 : NULL;
}
static const inst_t* run_store_addtid(wave_t* w, const inst_t* inst) {
  memory_access_t m;
  resolve_lanes(w, inst, &inst->src[1], &m);
  return memory_store(w, inst, &m, MEMORY_B32, &inst->src[0]) ? inst + 1 : NULL;
}

static inline const inst_t* run_load(wave_t* w, const inst_t* inst, memory_part_t part, resolve_t resolve,
                                     bool zeroes) {
  memory_access_t m;
  if (!resolve(w, inst, inst->src, memory_forms[part].bytes, &m)) return NULL;
  if (!inst->destination_count) return load_to_lds(w, inst, &m, part);
  if (!memory_load(w, inst, &m, part, &inst->dst[0])) return NULL;
  if (zeroes) buffer_zero_outside(w, &m, part, &inst->dst[0]);
  return inst + 1;
}

// A load of a buffer. Wide ones are bounded dword by dword, and in a swizzled buffer their dwords lie apart.
static inline const inst_t* run_load_buffer(wave_t* w, const inst_t* inst, memory_part_t part) {
  uint32_t bytes = memory_forms[part].bytes;
  if (bytes <= 4 || inst->flags & INST_LDS) return run_load(w, inst, part, buffer_resolve, true);
  memory_access_t m, parts[4];
  if (!buffer_resolve(w, inst, inst->src, bytes, &m)) return NULL;
  operand_t to = inst->dst[0];
  if (buffer_is_whole(w, inst, inst->src, bytes, &m)) {
    if (!memory_load(w, inst, &m, part, &to)) return NULL;
    buffer_zero_outside(w, &m, part, &to);
    return inst + 1;
  }
  if (!buffer_resolve_parts(w, inst, inst->src, bytes, parts)) return NULL;
  for (uint32_t k = 0; k < bytes / 4; ++k, to.offset += w->lanes) {
    if (!memory_load(w, inst, &parts[k], MEMORY_B32, &to)) return NULL;
    buffer_zero_outside(w, &parts[k], MEMORY_B32, &to);
  }
  return inst + 1;
}

static inline const inst_t* run_load_flat(wave_t* w, const inst_t* inst, memory_part_t part) {
  flat_t f;
  resolve_flat(w, inst, inst->src, &f);
  for (int i = 0; i < 3; ++i) {
    if (f.spaces[i].mask && !memory_load(w, inst, &f.spaces[i], part, &inst->dst[0])) return NULL;
  }
  return inst + 1;
}

// Stores: address, data, scalar; of buffers: data, address, descriptor, scalar.
static inline const inst_t* run_store(wave_t* w, const inst_t* inst, memory_part_t part, resolve_t resolve,
                                      bool buffer) {
  memory_access_t m;
  operand_t at[3] = {inst->src[0], inst->src[2], inst->src[3]};
  const operand_t* data = &inst->src[buffer ? 0 : 1];
  if (!resolve(w, inst, buffer ? &inst->src[1] : at, memory_forms[part].bytes, &m)) return NULL;
  return memory_store(w, inst, &m, part, data) ? inst + 1 : NULL;
}

static inline const inst_t* run_store_buffer(wave_t* w, const inst_t* inst, memory_part_t part) {
  uint32_t bytes = memory_forms[part].bytes;
  if (bytes <= 4) return run_store(w, inst, part, buffer_resolve, true);
  memory_access_t m, parts[4];
  if (!buffer_resolve(w, inst, &inst->src[1], bytes, &m)) return NULL;
  operand_t from = inst->src[0];
  if (buffer_is_whole(w, inst, &inst->src[1], bytes, &m)) {
    return memory_store(w, inst, &m, part, &from) ? inst + 1 : NULL;
  }
  if (!buffer_resolve_parts(w, inst, &inst->src[1], bytes, parts)) return NULL;
  for (uint32_t k = 0; k < bytes / 4; ++k, from.offset += w->lanes) {
    if (!memory_store(w, inst, &parts[k], MEMORY_B32, &from)) return NULL;
  }
  return inst + 1;
}

static inline const inst_t* run_store_flat(wave_t* w, const inst_t* inst, memory_part_t part) {
  flat_t f;
  operand_t at[2] = {inst->src[0], inst->src[2]};
  resolve_flat(w, inst, at, &f);
  for (int i = 0; i < 3; ++i) {
    if (f.spaces[i].mask && !memory_store(w, inst, &f.spaces[i], part, &inst->src[1])) return NULL;
  }
  return inst + 1;
}

// Kinds of atomic data: one value, or a value and the one that is compared.
enum { DATA_32 = 4, DATA_64 = 8, DATA_CMPSWAP32 = 4 | 256, DATA_CMPSWAP64 = 8 | 256 };

static inline bool update_one(wave_t* w, const inst_t* inst, const memory_access_t* m, uint32_t kind,
                              memory_update_t update, const operand_t* data, const operand_t* to) {
  uint32_t bytes = kind & 255;
  return memory_atomic(w, inst, m, bytes, update, data, kind & 256 ? data : NULL, bytes / 4, to);
}

static inline const inst_t* run_atomic(wave_t* w, const inst_t* inst, uint32_t kind, memory_update_t update,
                                       resolve_t resolve, bool buffer) {
  memory_access_t m;
  operand_t at[3] = {inst->src[0], inst->src[2], inst->src[3]};
  const operand_t* data = &inst->src[buffer ? 0 : 1];
  bool returns = inst->flags & INST_RETURNS_OLD;
  const operand_t* to = !returns ? NULL : buffer ? data : &inst->dst[0];
  if (!resolve(w, inst, buffer ? &inst->src[1] : at, kind & 255, &m)) return NULL;
  return update_one(w, inst, &m, kind, update, data, to) ? inst + 1 : NULL;
}

static inline const inst_t* run_atomic_flat(wave_t* w, const inst_t* inst, uint32_t kind, memory_update_t update) {
  flat_t f;
  operand_t at[2] = {inst->src[0], inst->src[2]};
  resolve_flat(w, inst, at, &f);
  const operand_t* to = inst->flags & INST_RETURNS_OLD ? &inst->dst[0] : NULL;
  for (int i = 0; i < 3; ++i) {
    if (f.spaces[i].mask && !update_one(w, inst, &f.spaces[i], kind, update, &inst->src[1], to)) return NULL;
  }
  return inst + 1;
}

#define RUN(name, call) \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { return call; }
#define LOAD(suffix, older, part)                                                 \
  RUN(global_##suffix, run_load(w, inst, MEMORY_##part, resolve_global, false))   \
  RUN(scratch_##suffix, run_load(w, inst, MEMORY_##part, resolve_scratch, false)) \
  RUN(buffer_##suffix, run_load_buffer(w, inst, MEMORY_##part))                   \
  RUN(flat_##suffix, run_load_flat(w, inst, MEMORY_##part))
#define STORE(suffix, older, part)                                                 \
  RUN(global_##suffix, run_store(w, inst, MEMORY_##part, resolve_global, false))   \
  RUN(scratch_##suffix, run_store(w, inst, MEMORY_##part, resolve_scratch, false)) \
  RUN(buffer_##suffix, run_store_buffer(w, inst, MEMORY_##part))                   \
  RUN(flat_##suffix, run_store_flat(w, inst, MEMORY_##part))
#define ATOMIC(suffix, older, kind, expression)                                                  \
  ATOMIC_UPDATE(suffix, kind, expression)                                                        \
  RUN(global_##suffix, run_atomic(w, inst, DATA_##kind, update_##suffix, resolve_global, false)) \
  RUN(buffer_##suffix, run_atomic(w, inst, DATA_##kind, update_##suffix, buffer_resolve, true))  \
  RUN(flat_##suffix, run_atomic_flat(w, inst, DATA_##kind, update_##suffix))
#include "isa/amd/memory.def"

// Caches: memory is coherent here, so these only order.
static const inst_t* run_fence(wave_t* w, const inst_t* inst) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return inst + 1;
}

#define BOTH(family, suffix, older, klass, destinations)                                     \
  INST_ROW(family##_##suffix, klass, EXACT, run_##family##_##suffix, destinations, INST_B32) \
  INST_ROW(family##_##older, klass, EXACT, run_##family##_##suffix, destinations, INST_B32)
#define LOAD(suffix, older, part)      \
  BOTH(global, suffix, older, LOAD, 1) \
  BOTH(scratch, suffix, older, LOAD, 1) BOTH(buffer, suffix, older, LOAD, 1) BOTH(flat, suffix, older, FLAT, 1)
#define STORE(suffix, older, part)      \
  BOTH(global, suffix, older, STORE, 0) \
  BOTH(scratch, suffix, older, STORE, 0) BOTH(buffer, suffix, older, STORE, 0) BOTH(flat, suffix, older, FLAT, 0)
#define ATOMIC(suffix, older, kind, expression) \
  BOTH(global, suffix, older, STORE, 0) BOTH(buffer, suffix, older, STORE, 0) BOTH(flat, suffix, older, FLAT, 0)
#define FENCE(name) INST_ROW(name, HINT, HINT, run_fence, 0, INST_NONE)
#define TO_LDS(suffix, as)                                                           \
  INST_ROW(global_load_lds_##suffix, LOAD, EXACT, run_global_load_##as, 0, INST_B32) \
  INST_ROW(scratch_load_lds_##suffix, LOAD, EXACT, run_scratch_load_##as, 0, INST_B32)
static const inst_row_t rows[] = {
#include "isa/amd/memory.def"
    FENCE(buffer_gl0_inv) FENCE(buffer_gl1_inv) FENCE(buffer_wbinvl1) FENCE(buffer_wbinvl1_vol) FENCE(buffer_wbl2)
        FENCE(buffer_inv) FENCE(buffer_invl2) FENCE(global_inv) FENCE(global_wb) FENCE(global_wbinv) TO_LDS(dword, b32)
            TO_LDS(dwordx3, b96) TO_LDS(dwordx4, b128) TO_LDS(ubyte, u8) TO_LDS(sbyte, i8) TO_LDS(ushort, u16)
                TO_LDS(sshort, i16) INST_ROW(buffer_store_lds_dword, STORE, APPROXIMATE, run_store_lds, 0, INST_B32)
                    INST_ROW(global_load_block, LOAD, EXACT, run_global_load_block, 1, INST_B32)
                        INST_ROW(global_store_block, STORE, EXACT, run_global_store_block, 0, INST_B32)
                            INST_ROW(scratch_load_block, LOAD, EXACT, run_scratch_load_block, 1, INST_B32) INST_ROW(
                                scratch_store_block, STORE, EXACT, run_scratch_store_block, 0, INST_B32)
                                INST_ROW(global_load_addtid_b32, LOAD, EXACT, run_load_addtid, 1, INST_B32) INST_ROW(
                                    global_load_dword_addtid, LOAD, EXACT, run_load_addtid, 1, INST_B32)
                                    INST_ROW(global_store_addtid_b32, STORE, EXACT, run_store_addtid, 0, INST_B32)
                                        INST_ROW(global_store_dword_addtid, STORE, EXACT, run_store_addtid, 0, INST_B32)
                                            INST_ROW(global_load_tr_b128, LOAD, APPROXIMATE, run_load_transposed_16, 1,
                                                     INST_B32) INST_ROW(global_load_tr_b64, LOAD, APPROXIMATE,
                                                                        run_load_transposed_8, 1, INST_B32)};
VECTOR_TABLE(memory_table, rows);
