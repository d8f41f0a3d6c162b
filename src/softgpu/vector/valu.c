// What vector rows do when the simple case does not hold: scalar operands, modifiers, DPP, SDWA, halves of registers,
// inactive lanes. Everything here goes through arrays of lanes in valu_t.
#include "softgpu/vector/valu.h"

#include "softgpu/vector/half.h"

void VECTOR(valu_broadcast)(const wave_t* w, const operand_t* o, valu_t* v, uint32_t k) {
  uint32_t low = 0, high = 0;
  if (o->kind == OPERAND_SGPR) low = w->sgpr[o->index], high = w->sgpr[o->index + (o->dwords > 1)];
  for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) v->temp[k][i] = low;
  if (o->dwords > 1) {
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) v->temp[k][WAVE_MAX_LANES + i] = high;
  } else {
    memset(&v->temp[k][WAVE_MAX_LANES], 0, WAVE_MAX_LANES * 4);
  }
  v->io.s[k] = v->temp[k], v->io.part[k] = WAVE_MAX_LANES;
}

void VECTOR(valu_spread)(uint64_t mask, uint32_t lanes, uint32_t* out) {
#if defined(__AVX512F__)
  for (uint32_t base = 0; base < lanes; base += 16) {
    _mm512_storeu_si512(out + base, _mm512_maskz_set1_epi32((__mmask16)(mask >> base), -1));
  }
#else
  static const uint32_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  for (uint32_t base = 0; base < lanes; base += 16) {
    uint32_t part = (uint32_t)(mask >> base);
    for (uint32_t i = 0; i < 16; ++i) out[base + i] = part & bits[i] ? UINT32_MAX : 0;
  }
#endif
}

uint64_t VECTOR(valu_collect)(const uint32_t* flags, uint32_t lanes) {
  uint64_t mask = 0;
#if defined(__AVX512DQ__)
  for (uint32_t base = 0; base < lanes; base += 16) {
    mask |= (uint64_t)_mm512_movepi32_mask(_mm512_loadu_si512(flags + base)) << base;
  }
#elif defined(__SSE2__)
  for (uint32_t base = 0; base < lanes; base += 4) {
    mask |= (uint64_t)_mm_movemask_ps(_mm_loadu_ps((const float*)(flags + base))) << base;
  }
#else
  for (uint32_t i = 0; i < lanes; ++i) mask |= (uint64_t)(flags[i] >> 31) << i;
#endif
  return mask;
}

void VECTOR(valu_halves_to_single)(const wave_t* w, const uint32_t* from, uint32_t* to) {
  bool flushes = !(w->mode & 0x40);
  half_to_single(from, to, w->lanes, flushes);
}

void VECTOR(valu_single_to_halves)(const wave_t* w, const uint32_t* from, uint32_t* to) {
  bool flushes = !(w->mode & 0x80);
  half_from_single(from, to, w->lanes, flushes);
}

// Displacement in registers that s_set_gpr_idx adds to an operand; 3 is the destination.
static uint32_t displacement(const wave_t* w, uint32_t operand) {
  return w->gpr_index >> (12 + operand) & 1 ? w->gpr_index & 255 : 0;
}

static size_t register_offset(const wave_t* w, const operand_t* o, uint32_t operand, uint32_t parts) {
  uint32_t add = displacement(w, operand), index = o->index + add;
  // Registers past the file: the hardware uses v0.
  if (add && index + parts > WAVE_ACCUMULATION && o->index < WAVE_ACCUMULATION) return 0;
  return o->offset + (size_t)add * w->lanes;
}

void VECTOR(valu_read_raw)(const wave_t* w, const operand_t* o, uint32_t source, uint32_t parts, uint32_t* out) {
  if (o->kind == OPERAND_VGPR) {
    const uint32_t* lanes = w->vgpr + register_offset(w, o, source, parts);
    for (uint32_t p = 0; p < parts; ++p) memcpy(out + p * WAVE_MAX_LANES, lanes + p * w->lanes, w->lanes * 4);
    return;
  }
  for (uint32_t p = 0; p < parts; ++p) {
    uint32_t value = 0;
    if (o->kind == OPERAND_CONSTANT && p < 2) value = (uint32_t)(o->value >> (32 * p));
    if (o->kind == OPERAND_SGPR && p < o->dwords) value = w->sgpr[o->index + p];
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) out[p * WAVE_MAX_LANES + i] = value;
  }
}

// Low halves, or both halves apart, as f32.
static void widen(const wave_t* w, uint32_t* lanes, uint32_t kind) {
  if (kind == VALU_KIND_PAIR_HALF) {
    for (uint32_t i = 0; i < w->lanes; ++i) lanes[WAVE_MAX_LANES + i] = lanes[i] >> 16;
    VECTOR(valu_halves_to_single)(w, lanes + WAVE_MAX_LANES, lanes + WAVE_MAX_LANES);
  }
  VECTOR(valu_halves_to_single)(w, lanes, lanes);
}

void VECTOR(valu_widen)(const wave_t* w, const operand_t* o, valu_t* v, uint32_t k) {
  v->io.s[k] = v->temp[k], v->io.part[k] = WAVE_MAX_LANES;
  if (o->kind == OPERAND_VGPR) {
    VECTOR(valu_halves_to_single)(w, w->vgpr + o->offset, v->temp[k]);
  } else {
    VECTOR(valu_read_raw)(w, o, k, 1, v->temp[k]);
    VECTOR(valu_halves_to_single)(w, v->temp[k], v->temp[k]);
  }
}

void VECTOR(valu_widen_pairs)(const wave_t* w, const operand_t* o, valu_t* v, uint32_t k) {
  v->io.s[k] = v->temp[k], v->io.part[k] = WAVE_MAX_LANES;
  VECTOR(valu_read_raw)(w, o, k, 1, v->temp[k]);
  widen(w, v->temp[k], VALU_KIND_PAIR_HALF);
}

// The lane that a lane reads by DPP; -1 outside of the row or wave.
static int32_t dpp_lane(const inst_extra_t* x, int32_t i, int32_t lanes) {
  int32_t row = i & ~15, at = i & 15, argument = (int32_t)x->dpp_argument;
  switch ((dpp_kind_t)x->dpp) {
    case DPP_QUAD_PERM:
      return (i & ~3) | (argument >> (2 * (i & 3)) & 3);
    case DPP_ROW_SHL:
      return at + argument < 16 ? i + argument : -1;
    case DPP_ROW_SHR:
      return at >= argument ? i - argument : -1;
    case DPP_ROW_ROR:
      return row | ((at - argument) & 15);
    case DPP_WAVE_SHL:
      return i + 1 < lanes ? i + 1 : -1;
    case DPP_WAVE_ROL:
      return (i + 1) % lanes;
    case DPP_WAVE_SHR:
      return i - 1;
    case DPP_WAVE_ROR:
      return (i + lanes - 1) % lanes;
    case DPP_ROW_MIRROR:
      return row | (15 - at);
    case DPP_ROW_HALF_MIRROR:
      return (i & ~7) | (7 - (i & 7));
    case DPP_ROW_BCAST:
      return argument == 15 ? (i < 16 ? -1 : row - 1) : (i < 32 ? -1 : 31);
    case DPP_ROW_SHARE:
      return row | (argument & 15);
    case DPP_ROW_XMASK:
      return i ^ (argument & 15);
    case DPP_8:
      return (i & ~7) | (argument >> (3 * (i & 7)) & 7);
    case DPP_NONE:
      break;
  }
  return i;
}

// Moves source 0 between lanes and takes lanes out of `active` that are not written.
static void apply_dpp(const wave_t* w, const inst_extra_t* x, uint32_t parts, valu_t* v) {
  uint32_t from[2 * WAVE_MAX_LANES];
  uint64_t exec = v->active;
  memcpy(from, v->temp[0], sizeof(from));
  for (uint32_t i = 0; i < w->lanes; ++i) {
    bool is_written = x->dpp == DPP_8 || (x->row_mask >> (i >> 4) & x->bank_mask >> (i >> 2 & 3) & 1);
    int32_t lane = dpp_lane(x, (int32_t)i, (int32_t)w->lanes);
    bool is_valid = lane >= 0 && (x->fetch_inactive || (exec >> lane & 1));
    if (!is_valid && !x->bound_control && x->dpp != DPP_8) is_written = false;
    if (!is_written) v->active &= ~(UINT64_C(1) << i);
    for (uint32_t p = 0; p < parts; ++p) {
      v->temp[0][p * WAVE_MAX_LANES + i] = is_valid ? from[p * WAVE_MAX_LANES + (uint32_t)lane] : 0;
    }
  }
}

static void take_part(uint32_t* lanes, uint32_t part, bool is_signed) {
  if (part == SDWA_DWORD) return;
  bool is_byte = part < SDWA_WORD_0;
  uint32_t shift = is_byte ? 8 * (part - SDWA_BYTE_0) : 16 * (part - SDWA_WORD_0), up = is_byte ? 24 : 16;
  for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) {
    uint32_t value = lanes[i] >> shift << up;
    lanes[i] = is_signed ? (uint32_t)((int32_t)value >> up) : value >> up;
  }
}

// neg and abs are on the sign bit of an element, whatever the instruction does with it.
static void apply_sign(uint32_t* lanes, uint32_t modifiers, uint32_t sign) {
  if (modifiers & OPERAND_ABS) {
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) lanes[i] &= ~sign;
  }
  if (modifiers & OPERAND_NEG) {
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) lanes[i] ^= sign;
  }
}

// op_sel and neg of packed sources: `type` says whether the sign is one of floats.
static void apply_packed(const inst_t* inst, uint32_t k, uint32_t kind, uint32_t* lanes) {
  bool low_from_high = inst->op_sel >> k & 1, high_from_high = inst->op_sel_hi >> k & 1;
  uint32_t* next = lanes + WAVE_MAX_LANES;
  uint32_t neg = (inst->neg_lo >> k & 1 ? 0x8000u : 0) | (inst->neg_hi >> k & 1 ? 0x80000000u : 0);
  for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) {
    if (kind == VALU_KIND_PAIR_SINGLE) {
      uint32_t low = low_from_high ? next[i] : lanes[i], high = high_from_high ? next[i] : lanes[i];
      lanes[i] = low ^ (neg & 0x8000u) << 16, next[i] = high ^ (neg & 0x80000000u);
    } else {
      uint32_t low = low_from_high ? lanes[i] >> 16 : lanes[i] & 0xffff;
      uint32_t high = high_from_high ? lanes[i] >> 16 : lanes[i] & 0xffff;
      lanes[i] = (low | high << 16) ^ neg;
    }
  }
}

static void prepare_source(wave_t* w, const inst_t* inst, uint32_t shape, uint32_t k, valu_t* v) {
  const operand_t* o = &inst->src[k];
  uint32_t kind = valu_source_kind(shape, k), parts = valu_parts(kind);
  uint32_t* lanes = v->temp[k];
  v->io.s[k] = lanes, v->io.part[k] = WAVE_MAX_LANES;
  if (kind == VALU_KIND_MASK) {
    VECTOR(valu_spread)(valu_mask_source(w, o), w->lanes, lanes);
    return;
  }
  VECTOR(valu_read_raw)(w, o, k, parts, lanes);
  const inst_extra_t* x = inst->extra;
  if (x && k == 0 && x->dpp != DPP_NONE) apply_dpp(w, x, parts, v);
  if (x && x->is_sdwa && k < 2) take_part(lanes, x->source_part[k], o->modifiers & OPERAND_SEXT);
  if (valu_is_pair(kind)) {
    apply_packed(inst, k, kind, lanes);
  } else {
    bool is_half = kind == VALU_KIND_RAW16 || kind == VALU_KIND_HALF;
    if (is_half && ((o->modifiers & OPERAND_HIGH) || inst->op_sel >> k & 1)) {
      for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) lanes[i] >>= 16;
    }
    apply_sign(lanes + (parts - 1) * WAVE_MAX_LANES, o->modifiers, is_half ? 0x8000u : 0x80000000u);
  }
  if (kind == VALU_KIND_HALF || kind == VALU_KIND_PAIR_HALF) widen(w, lanes, kind);
}

void VECTOR(valu_prepare)(wave_t* w, const inst_t* inst, uint32_t shape, valu_t* v) {
  v->clamps = inst->flags & INST_CLAMP;
  v->io.keep = 0;  // valu_finish joins halves
  if ((shape & 15) != VALU_KIND_MASK) {
    v->io.old = w->vgpr + register_offset(w, &inst->dst[0], 3, valu_parts(shape & 15));
  }
  for (uint32_t k = 0; k < 3; ++k) {
    if (valu_source_kind(shape, k) != VALU_KIND_NONE) prepare_source(w, inst, shape, k, v);
  }
}

// Output modifiers of floats: multiply, then clamp to [0, 1]. NaN becomes 0 by MODE's DX10_CLAMP.
static float modified_single(const wave_t* w, uint32_t flags, float x) {
  if (flags & INST_MUL_X2) x *= 2;
  if (flags & INST_MUL_X4) x *= 4;
  if (flags & INST_DIV_X2) x *= 0.5f;
  if (!(flags & INST_CLAMP)) return x;
  if (x != x) return w->mode & 0x100 || w->target->major >= 12 ? 0 : x;
  // By bits: a denormal result stays even where sources are not to be denormal.
  return x > 1 ? 1 : valu_of_f32(x) >> 31 ? 0 : x;
}
static double modified_double(const wave_t* w, uint32_t flags, double x) {
  if (flags & INST_MUL_X2) x *= 2;
  if (flags & INST_MUL_X4) x *= 4;
  if (flags & INST_DIV_X2) x *= 0.5;
  if (!(flags & INST_CLAMP)) return x;
  if (x != x) return w->mode & 0x100 || w->target->major >= 12 ? 0 : x;
  return x > 1 ? 1 : valu_of_f64(x) >> 63 ? 0 : x;
}

static void modify_output(const wave_t* w, uint32_t flags, uint32_t kind, uint32_t* d) {
  uint32_t* high = d + WAVE_MAX_LANES;
  // The hardware ignores a multiplication in IEEE mode, and where results may be denormal.
  bool is_single = kind == VALU_KIND_SINGLE || kind == VALU_KIND_PAIR_SINGLE;
  if (w->mode >> 9 & 1 || w->mode >> (is_single ? 5 : 7) & 1) flags &= INST_CLAMP;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (kind == VALU_KIND_DOUBLE) {
      uint64_t bits = valu_of_f64(modified_double(w, flags, valu_as_f64(d[i] | (uint64_t)high[i] << 32)));
      d[i] = (uint32_t)bits, high[i] = (uint32_t)(bits >> 32);
      continue;
    }
    d[i] = valu_of_f32(modified_single(w, flags, valu_as_f32(d[i])));
    if (kind == VALU_KIND_PAIR_HALF || kind == VALU_KIND_PAIR_SINGLE) {
      high[i] = valu_of_f32(modified_single(w, flags, valu_as_f32(high[i])));
    }
  }
}

static void put_part(const inst_extra_t* x, const uint32_t* old, uint32_t lanes, uint32_t* d) {
  uint32_t part = x->destination_part;
  if (part == SDWA_DWORD) return;
  bool is_byte = part < SDWA_WORD_0;
  uint32_t shift = is_byte ? 8 * (part - SDWA_BYTE_0) : 16 * (part - SDWA_WORD_0), bits = is_byte ? 8 : 16;
  uint32_t mask = (is_byte ? 0xffu : 0xffffu) << shift;
  for (uint32_t i = 0; i < lanes; ++i) {
    uint32_t value = d[i] << shift & mask;
    if (x->destination_unused == SDWA_SEXT) value = (uint32_t)((int32_t)(d[i] << (32 - bits)) >> (32 - bits)) << shift;
    d[i] = x->destination_unused == SDWA_PRESERVE ? (old[i] & ~mask) | value : value;
  }
}

// A 16-bit result joins the other half of its register.
static void put_half(const wave_t* w, const inst_t* inst, uint32_t shape, const uint32_t* old, uint32_t* d) {
  uint32_t sources = inst->source_count;
  bool is_high = (inst->dst[0].modifiers & OPERAND_HIGH) || inst->op_sel >> sources & 1;
  bool is_chosen = is_high || (inst->dst[0].modifiers & OPERAND_LOW);
  uint32_t keep = is_high ? 0xffffu : is_chosen ? 0xffff0000u : valu_kept(w, shape);
  for (uint32_t i = 0; i < w->lanes; ++i) {
    d[i] = (old[i] & keep) | (is_high ? d[i] << 16 : d[i] & 0xffff);
  }
}

static void put_lanes(const wave_t* w, uint64_t active, const uint32_t* from, uint32_t* to) {
#if defined(__AVX512F__)
  for (uint32_t base = 0; base < w->lanes; base += 16) {
    _mm512_mask_storeu_epi32(to + base, (__mmask16)(active >> base), _mm512_loadu_si512(from + base));
  }
#else
  uint32_t mask[WAVE_MAX_LANES];
  VECTOR(valu_spread)(active, w->lanes, mask);
  for (uint32_t i = 0; i < w->lanes; ++i) to[i] = (from[i] & mask[i]) | (to[i] & ~mask[i]);
#endif
}

void VECTOR(valu_store)(wave_t* w, const inst_t* inst, uint32_t parts, uint64_t active, const uint32_t* from) {
  uint32_t* to = w->vgpr + register_offset(w, &inst->dst[0], 3, parts);
  for (uint32_t p = 0; p < parts; ++p) put_lanes(w, active, from + p * WAVE_MAX_LANES, to + p * w->lanes);
}

void VECTOR(valu_finish)(wave_t* w, const inst_t* inst, uint32_t shape, valu_t* v) {
  uint32_t kind = shape & 15;
  uint32_t *d = v->temp[3], *high = d + WAVE_MAX_LANES;
  const uint32_t* old = w->vgpr + register_offset(w, &inst->dst[0], 3, 1);
  bool is_float = kind == VALU_KIND_HALF || kind == VALU_KIND_SINGLE || kind == VALU_KIND_DOUBLE ||
                  kind == VALU_KIND_PAIR_HALF || kind == VALU_KIND_PAIR_SINGLE;
  if (is_float && inst->flags & (INST_CLAMP | INST_MUL_X2 | INST_MUL_X4 | INST_DIV_X2)) {
    modify_output(w, inst->flags, kind, d);
  }
  if (kind == VALU_KIND_HALF || kind == VALU_KIND_PAIR_HALF) {
    wave_use_csr(w, w->csr_double);
    VECTOR(valu_single_to_halves)(w, d, d);
    if (kind == VALU_KIND_PAIR_HALF) {
      VECTOR(valu_single_to_halves)(w, high, high);
      for (uint32_t i = 0; i < w->lanes; ++i) d[i] |= high[i] << 16;
    }
  }
  if (inst->extra && inst->extra->is_sdwa && inst->extra->destination_part != SDWA_DWORD) {
    put_part(inst->extra, old, w->lanes, d);
  } else if (kind == VALU_KIND_HALF || kind == VALU_KIND_RAW16) {
    put_half(w, inst, shape, old, d);
  }
  VECTOR(valu_store)(w, inst, valu_parts(kind), v->active, d);
}
