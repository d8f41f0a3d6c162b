// Loads and stores with a format: buffer_load_format_x and its kin take it from the buffer's descriptor, tbuffer_ from
// the instruction. Manuals: "Buffer Data", "Data Format", and isa/amd/formats.def.
//
// The manuals leave rounding open: normalized numbers are rounded to nearest here, both ways. Numbers outside of a
// normalized or scaled format become the nearest in it, integers keep their low bits.
#include <math.h>

#include "softgpu/vector/buffer.h"

typedef enum {
  KIND_UNORM,
  KIND_SNORM,
  KIND_USCALED,
  KIND_SSCALED,
  KIND_UINT,
  KIND_SINT,
  KIND_RESERVED,
  KIND_FLOAT
} kind_t;
enum { NORMAL = 3, SCALED = 12, WHOLE = 48, FLOAT = 128 };
enum { FORMAT_CSR = 0x1f80 };  // to nearest, with denormals, whatever MODE says

typedef struct row_t {
  uint8_t bits[4], kinds10, kinds11;
} row_t;
static const row_t formats[] = {
#define FORMAT(name, x, y, z, w, gfx10, gfx11) {{x, y, z, w}, gfx10, gfx11},
#include "isa/amd/formats.def"
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

// A format as an instruction uses it; no component has bits when the number stands for none.
typedef struct format_t {
  const uint8_t* bits;
  kind_t kind;
  uint32_t bytes;
  uint16_t select;  // descriptor's DST_SEL: four times 3 bits
} format_t;

static const uint8_t no_bits[4];
enum { SELECT_ALL = 4 | 5 << 3 | 6 << 6 | 7 << 9 };

static format_t format_of_row(uint32_t row, uint32_t kind) {
  format_t f = {no_bits, (kind_t)kind, 0, SELECT_ALL};
  if (row >= FORMATS || kind == KIND_RESERVED) return f;
  f.bits = formats[row].bits;
  for (int i = 0; i < 4; ++i) f.bytes += f.bits[i];
  f.bytes /= 8;
  return f;
}

// A number of gfx10 and later.
static format_t format_of_number(uint32_t number, bool gfx10) {
  uint32_t at = 1;
  for (uint32_t row = 0; row < FORMATS; ++row) {
    uint32_t kinds = gfx10 ? formats[row].kinds10 : formats[row].kinds11;
    for (uint32_t kind = 0; kind < 8; ++kind) {
      if (kinds >> kind & 1 && at++ == number) return format_of_row(row, kind);
    }
  }
  return format_of_row(FORMATS, 0);
}

static format_t format_of(const wave_t* w, const inst_t* inst, const operand_t* descriptor, bool of_instruction) {
  uint32_t major = w->target->major;
  if (of_instruction) {
    uint32_t number = major >= 12 ? inst->encoding[1] >> 23 & 127 : inst->encoding[0] >> 19 & 127;
    return major <= 9 ? format_of_row((number & 15) - 1, number >> 4) : format_of_number(number, major == 10);
  }
  uint32_t word = w->sgpr[descriptor->index + 3];
  format_t f = major <= 9    ? format_of_row((word >> 15 & 15) - 1, word >> 12 & 7)
               : major == 10 ? format_of_number(word >> 12 & 127, true)
                             : format_of_number(word >> 12 & 63, false);
  f.select = word & 0xfff;
  return f;
}

// Elements have at most 16 bytes; what holds one has 8 more, so that bits can be read and written by words.
enum { ELEMENT_SIZE = 24 };

static uint32_t bits_from(const uint8_t* data, uint32_t at, uint32_t count) {
  uint64_t word;
  memcpy(&word, data + at / 8, sizeof(word));
  return (uint32_t)(word >> at % 8 & ((UINT64_C(1) << count) - 1));
}

static void bits_to(uint8_t* data, uint32_t at, uint32_t count, uint32_t value) {
  uint64_t word;
  memcpy(&word, data + at / 8, sizeof(word));
  word |= (value & ((UINT64_C(1) << count) - 1)) << at % 8;
  memcpy(data + at / 8, &word, sizeof(word));
}

// Floats of 11 and 10 bits have no sign: 5 bits of exponent as f16 has, 6 and 5 bits behind the point.
static double float_from(uint32_t x, uint32_t count) {
  if (count == 32) return (double)valu_as_f32(x);
  return small_float_decode(SMALL_F16, count == 16 ? x : x << (15 - count));
}

static uint32_t float_to(double value, uint32_t count) {
  if (count == 32) return valu_of_f32((float)value);
  if (count == 16) return small_float_encode(SMALL_F16, value);
  uint32_t mantissa = count - 5;
  if (value != value) return 31u << mantissa | 1;
  if (!(value > 0)) return 0;
  int exponent;
  frexp(value, &exponent);
  if (exponent < -13) exponent = -13;
  double step = ldexp(1, exponent - 1 - (int)mantissa);
  double rounded = nearbyint(value / step) * step;
  double most = ldexp(2 - ldexp(1, -(int)mantissa), 15);
  if (rounded > most) return value == (double)INFINITY ? 31u << mantissa : (31u << mantissa) - 1;
  frexp(rounded, &exponent);
  if (rounded == 0 || exponent < -13) return (uint32_t)ldexp(rounded, 14 + (int)mantissa);
  return (uint32_t)(exponent + 14) << mantissa |
         ((uint32_t)ldexp(rounded, (int)mantissa + 1 - exponent) & ((1u << mantissa) - 1));
}

static double component_value(uint32_t x, uint32_t count, kind_t kind) {
  int32_t as_signed = (int32_t)(x << (32 - count)) >> (32 - count);
  double value = kind == KIND_SNORM || kind == KIND_SSCALED ? as_signed : (double)x;
  if (kind == KIND_FLOAT) return float_from(x, count);
  if (kind == KIND_UNORM) return value / (double)((UINT64_C(1) << count) - 1);
  if (kind != KIND_SNORM) return value;
  value /= (double)((UINT64_C(1) << (count - 1)) - 1);
  return value < -1 ? -1 : value;
}

static bool is_whole(kind_t kind) { return kind == KIND_UINT || kind == KIND_SINT; }

// A component as a register holds it: f32 or 32 bits of integer, or as 16 bits (D16).
static uint32_t component_load(uint32_t x, uint32_t count, kind_t kind, bool half) {
  if (kind == KIND_SINT) return (uint32_t)((int32_t)(x << (32 - count)) >> (32 - count)) & (half ? 0xffff : UINT32_MAX);
  if (kind == KIND_UINT) return half ? x & 0xffff : x;
  if (kind == KIND_FLOAT && count == 32 && !half) return x;
  double value = component_value(x, count, kind);
  return half ? small_float_encode(SMALL_F16, value) : valu_of_f32((float)value);
}

static uint32_t component_store(uint32_t x, uint32_t count, kind_t kind, bool half) {
  if (is_whole(kind)) return kind == KIND_SINT && half ? (uint32_t)(int32_t)(int16_t)x : x;
  if (kind == KIND_FLOAT && count == 32 && !half) return x;
  double value = half ? small_float_decode(SMALL_F16, x) : (double)valu_as_f32(x);
  if (kind == KIND_FLOAT) return float_to(value, count);
  bool has_sign = kind == KIND_SNORM || kind == KIND_SSCALED;
  double most = (double)((UINT64_C(1) << (count - has_sign)) - 1), least = has_sign ? -most : 0;
  if (kind == KIND_SSCALED) least -= 1;
  if (kind == KIND_UNORM || kind == KIND_SNORM) value *= most;
  if (value != value) value = 0;
  return (uint32_t)(int64_t)nearbyint(value < least ? least : value > most ? most : value);
}

// What a component becomes when the format has no bits for it, or DST_SEL asks for 0 (0) or 1 (1).
static uint32_t component_constant(uint32_t which, kind_t kind, bool half) {
  return !which ? 0 : is_whole(kind) ? 1 : half ? 0x3c00 : 0x3f800000;
}

// Component `i` of the result; `data` is NULL outside of the buffer, where only the constants stay.
static uint32_t component_result(const format_t* f, const uint8_t* data, uint32_t i, bool half) {
  uint32_t from = f->select >> 3 * i & 7;
  if (from < 4) return component_constant(from == 1, f->kind, half);
  from -= 4;
  if (!data || !f->bytes) return 0;
  if (!f->bits[from]) return component_constant(from == 3, f->kind, half);
  uint32_t at = 0;
  for (uint32_t k = 0; k < from; ++k) at += f->bits[k];
  return component_load(bits_from(data, at, f->bits[from]), f->bits[from], f->kind, half);
}

// Form of an instruction: components in the low bits.
enum { FORM_HALF = 8, FORM_HIGH = 16, FORM_TYPED = 32 };

static void put_result(wave_t* w, const operand_t* to, uint32_t i, uint32_t lane, uint32_t form, uint32_t value) {
  if (!(form & FORM_HALF)) {
    w->vgpr[to->offset + i * w->lanes + lane] = value;
    return;
  }
  uint32_t* d = &w->vgpr[to->offset + i / 2 * w->lanes + lane];
  bool high = form & FORM_HIGH || i % 2;
  *d = high ? (*d & 0xffff) | value << 16 : (*d & 0xffff0000) | value;
}

// All lanes' elements: in one piece, or dword by dword in a swizzled buffer. An element is inside as a whole or not at
// all. Returns the number of pieces, 0 after wave_fault.
static uint32_t resolve(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t bytes, memory_access_t m[4]) {
  if (!buffer_resolve(w, inst, o, bytes, &m[0])) return 0;
  if (bytes <= 4 || !buffer_read(w, &o[1]).swizzles) return 1;
  uint64_t mask = m[0].mask;
  if (!buffer_resolve_parts(w, inst, o, bytes, m)) return 0;
  for (uint32_t k = 0; k < (bytes + 3) / 4; ++k) m[k].mask = mask;
  return (bytes + 3) / 4;
}

static uint32_t piece_size(uint32_t bytes, uint32_t pieces, uint32_t k) {
  return pieces == 1 ? bytes : bytes - 4 * k < 4 ? bytes - 4 * k : 4;
}

// `lds`: one component of each lane, as a dword, goes to M0 + offset + 4 * lane.
static bool put_lds(wave_t* w, const inst_t* inst, const uint32_t* values) {
  memory_access_t to = {.space = CHECK_LDS, .mask = wave_exec(w)};
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i)
    to.address[i] = (w->sgpr[SREG_M0] & 0xffff) + (uint32_t)inst->offset + 4 * i;
  if (!memory_begin(w, inst, &to, CHECK_WRITE, 4)) return false;
  uint64_t inside = memory_lds_mask(w, &to, 4);
  for (uint32_t i = 0, lanes = w->lanes; i < lanes; ++i) {
    if (inside >> i & 1) memcpy(w->group->lds + to.address[i], &values[i], 4);
  }
  return true;
}

static const inst_t* run_load(wave_t* w, const inst_t* inst, uint32_t form) {
  bool to_lds = inst->flags & INST_LDS, half = form & FORM_HALF;
  format_t f = format_of(w, inst, &inst->src[1], form & FORM_TYPED);
  memory_access_t m[4];
  uint32_t pieces = resolve(w, inst, inst->src, f.bytes ? f.bytes : 1, m), values[WAVE_MAX_LANES] = {0};
  if (!pieces) return NULL;
  wave_use_csr(w, FORMAT_CSR);
  for (uint32_t k = 0; f.bytes && k < pieces; ++k) {
    if (!memory_begin(w, inst, &m[k], CHECK_READ, piece_size(f.bytes, pieces, k))) return NULL;
  }
  uint64_t exec = wave_exec(w);
  for (uint32_t lane = 0; lane < w->lanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    bool inside = m[0].mask >> lane & 1;
    uint8_t data[ELEMENT_SIZE] = {0};
    for (uint32_t k = 0; inside && f.bytes && k < pieces; ++k) {
      shared_read(data + 4 * k, (const void*)m[k].address[lane], piece_size(f.bytes, pieces, k));
    }
    for (uint32_t i = 0; i < (form & 7); ++i) {
      uint32_t value = component_result(&f, inside ? data : NULL, i, half);
      if (to_lds) {
        values[lane] = value;
      } else {
        put_result(w, &inst->dst[0], i, lane, form, value);
      }
    }
  }
  return !to_lds || put_lds(w, inst, values) ? inst + 1 : NULL;
}

static uint32_t take_data(const wave_t* w, const operand_t* from, uint32_t i, uint32_t lane, uint32_t form) {
  if (!(form & FORM_HALF)) return w->vgpr[from->offset + i * w->lanes + lane];
  uint32_t x = w->vgpr[from->offset + i / 2 * w->lanes + lane];
  return form & FORM_HIGH || i % 2 ? x >> 16 : x & 0xffff;
}

// Components that the instruction does not have are stored as the first one.
static void pack(const wave_t* w, const inst_t* inst, const format_t* f, uint32_t lane, uint32_t form, uint8_t* data) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < 4 && f->bits[i]; at += f->bits[i++]) {
    uint32_t x = take_data(w, &inst->src[0], i < (form & 7) ? i : 0, lane, form);
    bits_to(data, at, f->bits[i], component_store(x, f->bits[i], f->kind, form & FORM_HALF));
  }
}

static const inst_t* run_store(wave_t* w, const inst_t* inst, uint32_t form) {
  format_t f = format_of(w, inst, &inst->src[2], form & FORM_TYPED);
  memory_access_t m[4];
  uint8_t data[4][WAVE_MAX_LANES][WAVE_MAX_STORE] = {0};
  if (!f.bytes) return inst + 1;
  wave_use_csr(w, FORMAT_CSR);
  uint32_t pieces = resolve(w, inst, &inst->src[1], f.bytes, m);
  for (uint32_t lane = 0; pieces && lane < w->lanes; ++lane) {
    uint8_t element[ELEMENT_SIZE] = {0};
    pack(w, inst, &f, lane, form, element);
    for (uint32_t k = 0; k < pieces; ++k) memcpy(data[k][lane], element + 4 * k, piece_size(f.bytes, pieces, k));
  }
  for (uint32_t k = 0; k < pieces; ++k) {
    w->stored = (const uint8_t (*)[WAVE_MAX_STORE])data[k];
    bool is_right = memory_begin(w, inst, &m[k], CHECK_WRITE, piece_size(f.bytes, pieces, k));
    w->stored = NULL;
    if (!is_right) return NULL;
  }
  for (uint32_t k = 0; k < pieces; ++k) {
    for (uint32_t lane = 0; lane < w->lanes; ++lane) {
      if (!(m[k].mask >> lane & 1)) continue;
      shared_write((void*)m[k].address[lane], data[k][lane], piece_size(f.bytes, pieces, k));
    }
  }
  return pieces ? inst + 1 : NULL;
}

// FORM(family, newer name, older name, form)
#define FORMS_OF(FORM, family, typed)                                   \
  FORM(family, format_x, format_x, 1 | (typed))                         \
  FORM(family, format_xy, format_xy, 2 | (typed))                       \
  FORM(family, format_xyz, format_xyz, 3 | (typed))                     \
  FORM(family, format_xyzw, format_xyzw, 4 | (typed))                   \
  FORM(family, d16_format_x, format_d16_x, 1 | FORM_HALF | (typed))     \
  FORM(family, d16_format_xy, format_d16_xy, 2 | FORM_HALF | (typed))   \
  FORM(family, d16_format_xyz, format_d16_xyz, 3 | FORM_HALF | (typed)) \
  FORM(family, d16_format_xyzw, format_d16_xyzw, 4 | FORM_HALF | (typed))
#define FORMS(FORM)                   \
  FORMS_OF(FORM, buffer, 0)           \
  FORMS_OF(FORM, tbuffer, FORM_TYPED) \
  FORM(buffer, d16_hi_format_x, format_d16_hi_x, 1 | FORM_HALF | FORM_HIGH)

#define FORM(family, name, older, form)                                                                              \
  static const inst_t* run_##family##_load_##name(wave_t* w, const inst_t* inst) { return run_load(w, inst, form); } \
  static const inst_t* run_##family##_store_##name(wave_t* w, const inst_t* inst) { return run_store(w, inst, form); }
FORMS(FORM)
#undef FORM

#define FORM(family, name, older, form)                                                         \
  INST_ROW(family##_load_##name, LOAD, APPROXIMATE, run_##family##_load_##name, 1, INST_B32)    \
  INST_ROW(family##_load_##older, LOAD, APPROXIMATE, run_##family##_load_##name, 1, INST_B32)   \
  INST_ROW(family##_store_##name, STORE, APPROXIMATE, run_##family##_store_##name, 0, INST_B32) \
  INST_ROW(family##_store_##older, STORE, APPROXIMATE, run_##family##_store_##name, 0, INST_B32)
static const inst_row_t rows[] = {FORMS(FORM)};
VECTOR_TABLE(format_table, rows);
