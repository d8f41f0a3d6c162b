// Rows of scaled conversions and products (isa/amd/scaled.def), and gfx950's other conversions that round by random
// bits or put their result into a part of a register.
//
// The manuals leave the rounding functions open. Here the quotient is rounded once, to nearest even, or by 32 random
// bits below the last one that is kept; 4 and 6 bits saturate, 8 bits do where MODE says FP16_OVFL.
#include <math.h>

#include "softgpu/vector/memory.h"

// LAYOUT(name, bits, exponent bits, mantissa bits, bias, largest magnitude, of infinity, of NaN)
#define LAYOUTS(LAYOUT)                               \
  LAYOUT(FP4, 4, 2, 1, 1, 0x7, 0x7, 0x7)              \
  LAYOUT(FP6, 6, 2, 3, 1, 0x1f, 0x1f, 0x1f)           \
  LAYOUT(BF6, 6, 3, 2, 3, 0x1f, 0x1f, 0x1f)           \
  LAYOUT(FP8, 8, 4, 3, 7, 0x7e, 0x7f, 0x7f)           \
  LAYOUT(BF8, 8, 5, 2, 15, 0x7b, 0x7c, 0x7f)          \
  LAYOUT(F16, 16, 5, 10, 15, 0x7bff, 0x7c00, 0x7e00)  \
  LAYOUT(BF16, 16, 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0) \
  LAYOUT(F32, 32, 8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000)
typedef struct layout_t {
  uint32_t bits, exponent, mantissa, bias, most, infinity, nan;
} layout_t;
#define LAYOUT(name, ...) static const layout_t layout_##name = {__VA_ARGS__};
LAYOUTS(LAYOUT)
#undef LAYOUT

static double layout_decode(const layout_t* f, uint32_t x) {
  uint32_t sign = x >> (f->bits - 1) & 1, magnitude = x & ~(UINT32_MAX << (f->bits - 1));
  uint32_t exponent = magnitude >> f->mantissa, fraction = magnitude & ((1u << f->mantissa) - 1);
  double value;
  if (magnitude > f->most) {
    value = magnitude == f->infinity && f->infinity != f->nan ? (double)INFINITY : (double)NAN;
  } else {
    fraction |= (uint32_t)(exponent != 0) << f->mantissa;
    value = ldexp((double)fraction, (int)(exponent ? exponent : 1) - (int)f->bias - (int)f->mantissa);
  }
  return sign ? -value : value;
}

// `noise` NULL: to nearest even.
static uint32_t layout_encode(const layout_t* f, double value, bool saturates, const uint32_t* noise) {
  uint32_t sign = (uint32_t)signbit(value) << (f->bits - 1);
  if (value == 0) return sign;
  if (value != value) return sign | f->nan;
  if (isinf(value)) return sign | (f->infinity != f->nan && f->bits >= 8 ? f->infinity : saturates ? f->most : f->nan);
  int exponent = 0, least = 1 - (int)f->bias;
  frexp(value, &exponent);
  exponent = exponent - 1 < least ? least : exponent - 1;
  double steps = ldexp(fabs(value), (int)f->mantissa - exponent);
  if (exponent > (int)(1u << f->exponent)) return sign | (saturates ? f->most : f->infinity);
  double rounded = noise ? floor(steps + *noise * 0x1p-32) : nearbyint(steps);
  uint32_t code = ((uint32_t)(exponent - least) << f->mantissa) + (uint32_t)rounded;
  return sign | (code <= f->most ? code : saturates ? f->most : f->infinity);
}

static uint32_t next_noise(uint32_t x) { return x << 1 ^ (x >> 31 ? 0xc5u : 0); }

static uint32_t source(const wave_t* w, const operand_t* o, uint32_t k, uint32_t lane) {
  return o->kind == OPERAND_VGPR   ? w->vgpr[o->offset + (size_t)k * w->lanes + lane]
         : o->kind == OPERAND_SGPR ? w->sgpr[o->index + k]
                                   : (uint32_t)o->value;
}

// Number `i` of packed ones that begin in bit `from`.
static uint32_t unpack(const wave_t* w, const operand_t* o, uint32_t lane, uint32_t from, const layout_t* f,
                       uint32_t i) {
  uint32_t at = from + i * f->bits, shift = at % 32;
  uint64_t words = source(w, o, at / 32, lane);
  if (shift + f->bits > 32) words |= (uint64_t)source(w, o, at / 32 + 1, lane) << 32;
  return (uint32_t)(words >> shift & ((UINT64_C(1) << f->bits) - 1));
}

static double signed_value(const operand_t* o, double value) {
  if (o->modifiers & OPERAND_ABS) value = fabs(value);
  return o->modifiers & OPERAND_NEG ? -value : value;
}

// The scale is a power of two: a number's exponent. That of infinity and NaN stands for NaN.
static double scale_of(const wave_t* w, const operand_t* o, uint32_t lane) {
  uint32_t exponent = source(w, o, 0, lane) >> 23 & 255;
  return exponent == 255 ? (double)NAN : ldexp(1, (int)exponent - 127);
}

// Up to 32 results, from bit `at` of the destination on; the other bits of its registers stay.
static void put(wave_t* w, const operand_t* to, uint32_t lane, uint32_t at, const layout_t* f, const uint32_t* codes,
                uint32_t count) {
  uint32_t words[32];
  uint32_t dwords = (at + count * f->bits + 31) / 32;
  for (uint32_t k = 0; k < dwords; ++k) words[k] = w->vgpr[to->offset + (size_t)k * w->lanes + lane];
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < f->bits; ++k) {
      uint32_t bit = at + i * f->bits + k;
      words[bit / 32] = (words[bit / 32] & ~(1u << bit % 32)) | (codes[i] >> k & 1) << bit % 32;
    }
  }
  for (uint32_t k = 0; k < dwords; ++k) w->vgpr[to->offset + (size_t)k * w->lanes + lane] = words[k];
}

// OPSEL stands in the instruction: the text leaves out what does not count for the operands at hand.
static uint32_t op_sel_of(const inst_t* inst) { return inst->encoding[0] >> 11 & 15; }

// Where results of `count` times `bits` go: a byte, a word or all of the register.
static uint32_t place_of(const inst_t* inst, uint32_t bits) {
  return bits == 8 ? (op_sel_of(inst) >> 2) * 8 : bits == 16 ? (op_sel_of(inst) >> 3) * 16 : 0;
}

static double wide_value(const wave_t* w, const inst_t* inst, const layout_t* wide, uint32_t count, uint32_t i,
                         uint32_t lane) {
  const operand_t* o = &inst->src[0];
  bool apart = wide->bits == 32 && count == 2 && inst->src[0].dwords < 2;
  if (apart) return o += i, signed_value(o, layout_decode(wide, source(w, o, 0, lane)));
  if (count == 16) o += i % 2, i /= 2;
  uint32_t from = count == 1 && wide->bits == 16 ? (op_sel_of(inst) & 1) * 16 : 0;
  return signed_value(o, layout_decode(wide, unpack(w, o, lane, from, wide, i)));
}

static const inst_t* run_narrow(wave_t* w, const inst_t* inst, const layout_t* wide, const layout_t* narrow,
                                uint32_t form) {
  uint32_t count = form & 63, results = count == 16 ? 32 : count;
  bool is_noisy = form & 64, saturates = narrow->bits < 8 || w->mode >> 23 & 1;
  const operand_t *scale = &inst->src[inst->source_count - 1], *random = scale - 1;
  uint64_t exec = wave_exec(w);
  wave_use_csr(w, 0x1f80);
  for (uint32_t lane = 0; lane < w->lanes; ++lane) {
    uint32_t codes[32], noise = is_noisy ? source(w, random, 0, lane) : 0;
    if (!(exec >> lane & 1)) continue;
    double factor = scale_of(w, scale, lane);
    for (uint32_t i = 0; i < results; ++i, noise = next_noise(noise)) {
      double value = wide_value(w, inst, wide, count, i, lane) / factor;
      codes[i] = layout_encode(narrow, value, saturates, is_noisy ? &noise : NULL);
    }
    put(w, &inst->dst[0], lane, place_of(inst, results * narrow->bits), narrow, codes, results);
  }
  return inst + 1;
}

static const inst_t* run_widen(wave_t* w, const inst_t* inst, const layout_t* narrow, const layout_t* wide,
                               uint32_t count) {
  uint32_t bits = count * narrow->bits, select = op_sel_of(inst);
  uint32_t from = bits == 8 ? (select & 3) * 8 : bits == 16 ? (select & 1) * 16 : 0;
  uint64_t exec = wave_exec(w);
  wave_use_csr(w, 0x1f80);
  for (uint32_t lane = 0; lane < w->lanes; ++lane) {
    uint32_t codes[32];
    if (!(exec >> lane & 1)) continue;
    double factor = scale_of(w, &inst->src[1], lane);
    for (uint32_t i = 0; i < count; ++i) {
      double value = layout_decode(narrow, unpack(w, &inst->src[0], lane, from, narrow, i)) * factor;
      codes[i] = layout_encode(wide, value, false, NULL);
    }
    put(w, &inst->dst[0], lane, count == 1 && wide->bits == 16 ? select / 8 * 16 : 0, wide, codes, count);
  }
  return inst + 1;
}

// One number of 32 bits to one of 16, by random bits.
static const inst_t* run_random(wave_t* w, const inst_t* inst, const layout_t* f) {
  uint64_t exec = wave_exec(w);
  wave_use_csr(w, 0x1f80);
  for (uint32_t lane = 0; lane < w->lanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    uint32_t noise = source(w, &inst->src[1], 0, lane);
    double value = signed_value(&inst->src[0], layout_decode(&layout_F32, source(w, &inst->src[0], 0, lane)));
    uint32_t code = layout_encode(f, value, w->mode >> 23 & 1, &noise);
    put(w, &inst->dst[0], lane, place_of(inst, 16), f, &code, 1);
  }
  return inst + 1;
}
static const inst_t* run_random_f16(wave_t* w, const inst_t* inst) { return run_random(w, inst, &layout_F16); }
static const inst_t* run_random_bf16(wave_t* w, const inst_t* inst) { return run_random(w, inst, &layout_BF16); }

// Two integers shifted to the right and bounded to bytes.
static const inst_t* run_shift_bytes(wave_t* w, const inst_t* inst, int32_t least, int32_t most) {
  uint64_t exec = wave_exec(w);
  for (uint32_t lane = 0; lane < w->lanes; ++lane) {
    uint32_t codes[2];
    if (!(exec >> lane & 1)) continue;
    for (uint32_t i = 0; i < 2; ++i) {
      int32_t x = (int32_t)source(w, &inst->src[i], 0, lane) >> (source(w, &inst->src[2], 0, lane) & 31);
      codes[i] = (uint32_t)(x < least ? least : x > most ? most : x) & 255;
    }
    put(w, &inst->dst[0], lane, place_of(inst, 16), &layout_FP8, codes, 2);
  }
  return inst + 1;
}
static const inst_t* run_shift_i8(wave_t* w, const inst_t* inst) { return run_shift_bytes(w, inst, -128, 127); }
static const inst_t* run_shift_u8(wave_t* w, const inst_t* inst) { return run_shift_bytes(w, inst, 0, 255); }

enum { MIXED_LANES = 64, MIXED_EACH = 32, MIXED_MOST_ROWS = 32, MIXED_MOST_DEPTH = 128, MIXED_MOST_BLOCKS = 4 };

// A, or B transposed: numbers by row and depth, and for each row and 32 depths the exponent that they share.
typedef struct mixed_t {
  double value[MIXED_MOST_ROWS][MIXED_MOST_DEPTH];
  double scale[MIXED_MOST_ROWS][MIXED_MOST_BLOCKS];
} mixed_t;

// Lane i holds row i % rows. Of 4 and 6 bits its numbers are 32 depths in a row; of 8 bits they are two runs of 16,
// each among those of the other lanes of the row. The exponent of block b is in lane row + rows * b.
static bool load_mixed(wave_t* w, const inst_t* inst, uint32_t k, uint32_t rows, mixed_t* out) {
  static const layout_t* const formats[] = {&layout_FP8, &layout_BF8, &layout_FP6, &layout_BF6, &layout_FP4};
  uint32_t format = (uint32_t)(k ? inst->blgp : inst->cbsz), groups = MIXED_LANES / rows;
  uint32_t select = (inst->op_sel >> k & 1) | (inst->op_sel_hi >> k & 1) << 1;
  if (format >= sizeof(formats) / sizeof(formats[0])) {
    wave_fault(w, inst, ENGINE_FAULT_ILLEGAL_INSTRUCTION, inst->address, "%s has no format %u", inst->row->name,
               format);
    return false;
  }
  const layout_t* f = formats[format];
  for (uint32_t lane = 0; lane < MIXED_LANES; ++lane) {
    uint32_t row = lane % rows, group = lane / rows;
    for (uint32_t e = 0; e < MIXED_EACH; ++e) {
      uint32_t depth = f->bits == 8 ? (e / 16 * groups + group) * 16 + e % 16 : MIXED_EACH * group + e;
      out->value[row][depth] = layout_decode(f, unpack(w, &inst->src[k], lane, 0, f, e));
    }
    uint32_t exponent = inst->source_count > 3 ? source(w, &inst->src[3 + k], 0, lane) >> 8 * select & 255 : 127;
    out->scale[row][group] = exponent == 255 ? (double)NAN : ldexp(1, (int)exponent - 127);
  }
  return true;
}

// One rounding at the end; products of 32 depths are exact.
static const inst_t* run_mixed(wave_t* w, const inst_t* inst, uint32_t rows, uint32_t depth) {
  mixed_t a, b;
  float result[MIXED_MOST_ROWS][MIXED_MOST_ROWS];
  const operand_t* c = &inst->src[2];
  wave_use_csr(w, 0x1f80);
  if (!load_mixed(w, inst, 0, rows, &a) || !load_mixed(w, inst, 1, rows, &b)) return NULL;
  // Four rows are in registers, the next four in the next group of lanes.
  uint32_t groups = MIXED_LANES / rows;
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < rows; ++j) {
      uint32_t reg = i / (4 * groups) * 4 + i % 4, lane = i / 4 % groups * rows + j;
      double sum = layout_decode(&layout_F32, source(w, c, c->kind == OPERAND_VGPR ? reg : 0, lane));
      for (uint32_t k = 0; k < depth; k += MIXED_EACH) {
        double part = 0;
        for (uint32_t e = k; e < k + MIXED_EACH; ++e) part += a.value[i][e] * b.value[j][e];
        sum += part * a.scale[i][k / MIXED_EACH] * b.scale[j][k / MIXED_EACH];
      }
      result[i][j] = (float)sum;
    }
  }
  for (uint32_t i = 0; i < rows; ++i) {
    uint32_t reg = i / (4 * groups) * 4 + i % 4, lane = i / 4 % groups * rows;
    memcpy(&w->vgpr[inst->dst[0].offset + (size_t)reg * w->lanes + lane], result[i], rows * 4);
  }
  return inst + 1;
}

// Scales for the product that follows: LLVM reads both as one instruction, and alone it does nothing.
static const inst_t* run_scales_alone(wave_t* w, const inst_t* inst) { return inst + 1; }

#define NARROW(name, wide, narrow, count, noise)                                        \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                      \
    return run_narrow(w, inst, &layout_##wide, &layout_##narrow, count | (noise) << 6); \
  }
#define WIDEN(name, narrow, wide, count)                                \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {      \
    return run_widen(w, inst, &layout_##narrow, &layout_##wide, count); \
  }
#define MIXED(name, rows, depth) \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { return run_mixed(w, inst, rows, depth); }
#include "isa/amd/scaled.def"

#define MIXED(name, rows, depth) \
  INST_ROW(name, MATRIX, APPROXIMATE, run_##name, 1, INST_F32, INST_B32, INST_B32, INST_F32, INST_B32)
#define NARROW(name, wide, narrow, count, noise) INST_ROW(name, VALU, APPROXIMATE, run_##name, 1, INST_F32)
#define WIDEN(name, narrow, wide, count) INST_ROW(name, VALU, APPROXIMATE, run_##name, 1, INST_F32)
static const inst_row_t rows[] = {
#include "isa/amd/scaled.def"
    INST_ROW(v_mfma_ld_scale_b32, HINT, HINT, run_scales_alone, 0, INST_NONE)
        INST_ROW(v_cvt_sr_f16_f32, VALU, APPROXIMATE, run_random_f16, 1, INST_F32)
            INST_ROW(v_cvt_sr_bf16_f32, VALU, APPROXIMATE, run_random_bf16, 1, INST_F32)
                INST_ROW(v_ashr_pk_i8_i32, VALU, EXACT, run_shift_i8, 1, INST_B32)
                    INST_ROW(v_ashr_pk_u8_i32, VALU, EXACT, run_shift_u8, 1, INST_B32)};
VECTOR_TABLE(scaled_table, rows);
