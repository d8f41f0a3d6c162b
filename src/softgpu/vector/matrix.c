// Matrix instructions (isa/amd/matrix.def).
//
// Both families place operands alike: the element of row i (A) or column i (B), block b and depth k is in lane
// i + size * (b + blocks * (k / each)), as number k % each of the `each` elements that a lane holds; where lanes are
// left over they hold copies (gfx11). Columns of C and D are lanes, rows are registers and groups of lanes. So operands
// become small arrays of [k][i], and each row of a result is `N` lanes side by side.
#include "base/small_float.h"
#include "softgpu/vector/level.h"

#if VECTOR_LEVEL >= 3
#include <immintrin.h>
#endif

typedef enum { F64, F32, F16, BF16, XF32, I32, I8, IU8, IU4, FP8, BF8 } matrix_type_t;

typedef struct matrix_shape_t {
  matrix_type_t d, a, b;
  uint32_t m, n, k, blocks;
  bool is_wmma;
} matrix_shape_t;

enum { MATRIX_MAX_K = 64, MATRIX_MAX_SIZE = 64 };  // lanes that hold one depth: size * blocks

// Where the operand's element (lane, number) is, and its value.
typedef struct matrix_source_t {
  const uint32_t* registers;  // [register][lane]
  uint32_t lanes;
  matrix_type_t type;
  bool is_signed;
  uint32_t negate;  // bit 0: even elements, bit 1: odd ones
  small_float_t small;
  uint32_t splat[8 * WAVE_MAX_LANES];
} matrix_source_t;

static uint32_t bits_of_type(matrix_type_t type) {
  static const uint8_t bits[] = {64, 32, 16, 16, 32, 32, 8, 8, 4, 8, 8};
  return bits[type];
}

static void open_source(const wave_t* w, const operand_t* o, matrix_type_t type, uint32_t registers,
                        matrix_source_t* out) {
  out->lanes = w->lanes;
  out->type = type;
  out->is_signed = type == I8;
  out->negate = 0;
  bool gfx12 = w->target->major >= 12 || (w->target->major == 9 && w->target->stepping == 0 && w->target->minor == 5);
  out->small = type == FP8 ? (gfx12 ? SMALL_F8E4M3FN : SMALL_F8E4M3FNUZ) : gfx12 ? SMALL_F8E5M2 : SMALL_F8E5M2FNUZ;
  if (o->kind == OPERAND_VGPR) {
    out->registers = w->vgpr + o->offset;
    return;
  }
  uint32_t value = wave_scalar(w, o);
  for (uint32_t i = 0; i < (registers < 8 ? registers : 8) * w->lanes; ++i) out->splat[i] = value;
  out->registers = out->splat;
}

static float half_value(uint16_t bits) {
#if VECTOR_LEVEL >= 3
  return _cvtsh_ss(bits);
#else
  return (float)small_float_decode(SMALL_F16, bits);
#endif
}

static float float_value(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Elements number `e` of `count` lanes from `lane` on, as floats.
static inline void load_floats(const matrix_source_t* s, uint32_t lane, uint32_t e, uint32_t count, float* out) {
  uint32_t bits = bits_of_type(s->type), each = 32 / bits;
  const uint32_t* from = s->registers + e / each * s->lanes + lane;
  uint32_t shift = e % each * bits;
  switch (s->type) {
    case F32:
      memcpy(out, from, count * 4);
      break;
    case XF32:
      for (uint32_t i = 0; i < count; ++i) out[i] = float_value(from[i] & 0xffffe000);
      break;
    case F16: {
      uint32_t i = 0;
#if VECTOR_LEVEL >= 4
      for (; i + 16 <= count; i += 16) {
        __m512i words = _mm512_srli_epi32(_mm512_loadu_si512(from + i), shift);
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(words)));
      }
#endif
      for (; i < count; ++i) out[i] = half_value((uint16_t)(from[i] >> shift));
      break;
    }
    case BF16:
      for (uint32_t i = 0; i < count; ++i) out[i] = float_value(from[i] >> shift << 16);
      break;
    default:
      for (uint32_t i = 0; i < count; ++i) out[i] = (float)small_float_decode(s->small, from[i] >> shift & 255);
  }
  if (s->negate >> (e & 1) & 1) {
    for (uint32_t i = 0; i < count; ++i) out[i] = -out[i];
  }
}

static inline void load_integers(const matrix_source_t* s, uint32_t lane, uint32_t e, uint32_t count, int32_t* out) {
  uint32_t bits = bits_of_type(s->type), each = 32 / bits;
  const uint32_t* from = s->registers + e / each * s->lanes + lane;
  uint32_t up = 32 - bits - e % each * bits, down = 32 - bits;
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = s->is_signed ? (int32_t)(from[i] << up) >> down : (int32_t)(from[i] << up >> down);
  }
}

// Row r of C and D: register and first lane, for a type of 32 bits.
static inline void place_row(const wave_t* w, const matrix_shape_t* s, uint32_t block, uint32_t r, uint32_t* reg,
                             uint32_t* lane) {
  if (s->is_wmma) {
    uint32_t groups = w->lanes / 16;
    bool gfx12 = w->target->major >= 12;
    *reg = gfx12 ? r % (16 / groups) : r / groups;
    *lane = 16 * (gfx12 ? r / (16 / groups) : r % groups);
    return;
  }
  if (s->m == 4) {
    *reg = r, *lane = 4 * block;
    return;
  }
  uint32_t groups = 64 / s->n, per_block = s->m / groups;
  *reg = per_block * block + r / (4 * groups) * 4 + r % 4;
  *lane = s->n * (r / 4 % groups);
}

// MFMA: which block of A a block multiplies, and which lane of B another lane stands for.
static uint32_t block_of_a(const inst_t* inst, uint32_t block) {
  uint32_t mask = (1u << inst->cbsz) - 1;
  return inst->cbsz ? (block & ~mask) | ((uint32_t)inst->abid & mask) : block;
}

static uint32_t lane_of_b(uint32_t pattern, uint32_t lane) {
  switch (pattern) {
    case 1:
      return lane & 31;
    case 2:
      return (lane & 31) + 32;
    case 3:
      return (lane + 16) & 63;
    case 4:
      return lane & 15;
    case 5:
      return (lane & 15) + 16;
    case 6:
      return (lane & 15) + 32;
    case 7:
      return (lane & 15) + 48;
    default:
      return lane;
  }
}

static void permute_b(const inst_t* inst, matrix_source_t* b, uint32_t registers) {
  if (!inst->blgp || registers > 8) return;
  uint32_t moved[8 * WAVE_MAX_LANES];
  for (uint32_t r = 0; r < registers; ++r) {
    for (uint32_t i = 0; i < 64; ++i) {
      moved[r * 64 + i] = b->registers[r * 64 + lane_of_b((uint32_t)inst->blgp, i)];
    }
  }
  memcpy(b->splat, moved, registers * 64 * 4);
  b->registers = b->splat;
}

static inline void multiply_floats(const float* a, const float* b, uint32_t k_count, uint32_t stride, float* sum,
                                   uint32_t n) {
  for (uint32_t k = 0; k < k_count; ++k) {
    float x = a[k * MATRIX_MAX_SIZE];
#pragma GCC ivdep
    for (uint32_t j = 0; j < n; ++j) sum[j] = __builtin_fmaf(x, b[k * stride + j], sum[j]);
  }
}

// C of a row as floats, for each type of D.
static inline void load_row(const wave_t* w, const inst_t* inst, const matrix_shape_t* s, const matrix_source_t* c,
                            uint32_t block, uint32_t r, float* out) {
  uint32_t reg, lane;
  place_row(w, s, block, r, &reg, &lane);
  if (s->d == F32) {
    memcpy(out, c->registers + reg * w->lanes + lane, s->n * 4);
  } else {
    bool gfx12 = w->target->major >= 12;
    uint32_t shift = gfx12 ? reg % 2 * 16 : (inst->op_sel & 4 ? 16 : 0);
    const uint32_t* from = c->registers + (gfx12 ? reg / 2 : reg) * w->lanes + lane;
    for (uint32_t j = 0; j < s->n; ++j) {
      uint16_t bits = (uint16_t)(from[j] >> shift);
      out[j] = s->d == F16 ? half_value(bits) : float_value((uint32_t)bits << 16);
    }
  }
  if (inst->neg_hi & 4) {
    for (uint32_t j = 0; j < s->n; ++j) out[j] = __builtin_fabsf(out[j]);
  }
  if (inst->neg_lo & 4) {
    for (uint32_t j = 0; j < s->n; ++j) out[j] = -out[j];
  }
}

static inline void store_row(wave_t* w, const inst_t* inst, const matrix_shape_t* s, uint32_t block, uint32_t r,
                             const float* row) {
  uint32_t reg, lane;
  place_row(w, s, block, r, &reg, &lane);
  uint32_t* registers = w->vgpr + inst->dst[0].offset;
  if (s->d == F32) {
    memcpy(registers + reg * w->lanes + lane, row, s->n * 4);
    return;
  }
  bool gfx12 = w->target->major >= 12;
  uint32_t shift = gfx12 ? reg % 2 * 16 : (inst->op_sel & 4 ? 16 : 0);
  uint32_t* to = registers + (gfx12 ? reg / 2 : reg) * w->lanes + lane;
  small_float_t format = s->d == F16 ? SMALL_F16 : SMALL_BF16;
  for (uint32_t j = 0; j < s->n; ++j) {
    to[j] = (to[j] & (0xffff0000u >> shift)) | small_float_encode(format, row[j]) << shift;
  }
}

static inline const inst_t* run_floats(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  float a[MATRIX_MAX_K * MATRIX_MAX_SIZE], b[MATRIX_MAX_K * MATRIX_MAX_SIZE];
  float d[32][32 * 4];
  matrix_source_t sa, sb, sc;
  uint32_t copies = s->is_wmma && w->target->major < 12 ? 1 : w->lanes / (s->m * s->blocks);
  uint32_t each = s->k / copies, groups = s->m * s->blocks;
  uint32_t registers = (each * bits_of_type(s->a) + 31) / 32;
  open_source(w, &inst->src[0], s->a, registers, &sa);
  open_source(w, &inst->src[1], s->b, registers, &sb);
  open_source(w, &inst->src[2], s->d, 32, &sc);
  if (s->is_wmma) {
    sa.negate = (inst->neg_lo & 1) | (inst->neg_hi & 1) << 1;
    sb.negate = (inst->neg_lo >> 1 & 1) | (inst->neg_hi >> 1 & 1) << 1;
  } else {
    permute_b(inst, &sb, registers);
  }
  for (uint32_t k = 0; k < s->k; ++k) {
    load_floats(&sa, groups * (k / each), k % each, groups, a + k * MATRIX_MAX_SIZE);
    load_floats(&sb, groups * (k / each), k % each, groups, b + k * MATRIX_MAX_SIZE);
  }
  bool splat_c = inst->src[2].kind != OPERAND_VGPR;
  for (uint32_t block = 0; block < s->blocks; ++block) {
    uint32_t from_a = s->is_wmma ? 0 : block_of_a(inst, block);
    for (uint32_t r = 0; r < s->m; ++r) {
      float row[32];
      if (splat_c) {
        float value = s->d == F32 ? float_value(sc.splat[0]) : half_value((uint16_t)sc.splat[0]);
        for (uint32_t j = 0; j < s->n; ++j) row[j] = value;
      } else {
        load_row(w, inst, s, &sc, block, r, row);
      }
      multiply_floats(a + from_a * s->m + r, b + block * s->n, s->k, MATRIX_MAX_SIZE, row, s->n);
      // Rows wait until all of C has been read: D may be C's registers, or overlap them.
      memcpy(&d[r][0] + block % 4 * 32, row, s->n * 4);
      if (s->blocks > 1 && s->m == 4) store_row(w, inst, s, block, r, row);
    }
    if (s->blocks > 1 && s->m == 4) continue;
    for (uint32_t r = 0; r < s->m; ++r) store_row(w, inst, s, block, r, &d[r][0] + block % 4 * 32);
  }
  return inst + 1;
}

static inline const inst_t* run_integers(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  int32_t a[MATRIX_MAX_K * MATRIX_MAX_SIZE], b[MATRIX_MAX_K * MATRIX_MAX_SIZE];
  matrix_source_t sa, sb, sc;
  uint32_t copies = s->is_wmma && w->target->major < 12 ? 1 : w->lanes / (s->m * s->blocks);
  uint32_t each = s->k / copies, groups = s->m * s->blocks;
  uint32_t registers = (each * bits_of_type(s->a) + 31) / 32;
  open_source(w, &inst->src[0], s->a, registers, &sa);
  open_source(w, &inst->src[1], s->b, registers, &sb);
  open_source(w, &inst->src[2], s->d, 32, &sc);
  if (s->is_wmma) {
    sa.is_signed = inst->neg_lo & 1;
    sb.is_signed = inst->neg_lo >> 1 & 1;
  } else {
    permute_b(inst, &sb, registers);
  }
  for (uint32_t k = 0; k < s->k; ++k) {
    load_integers(&sa, groups * (k / each), k % each, groups, a + k * MATRIX_MAX_SIZE);
    load_integers(&sb, groups * (k / each), k % each, groups, b + k * MATRIX_MAX_SIZE);
  }
  bool splat_c = inst->src[2].kind != OPERAND_VGPR, clamps = (inst->flags & INST_CLAMP) != 0;
  for (uint32_t block = 0; block < s->blocks; ++block) {
    uint32_t from_a = s->is_wmma ? 0 : block_of_a(inst, block);
    for (uint32_t r = 0; r < s->m; ++r) {
      uint32_t reg, lane;
      place_row(w, s, block, r, &reg, &lane);
      const uint32_t* c = sc.registers + (splat_c ? 0 : reg * w->lanes + lane);
      int64_t row[32];
      for (uint32_t j = 0; j < s->n; ++j) row[j] = (int32_t)c[j];
      for (uint32_t k = 0; k < s->k; ++k) {
        int64_t x = a[k * MATRIX_MAX_SIZE + from_a * s->m + r];
        for (uint32_t j = 0; j < s->n; ++j) row[j] += x * b[k * MATRIX_MAX_SIZE + block * s->n + j];
      }
      uint32_t* to = w->vgpr + inst->dst[0].offset + reg * w->lanes + lane;
      for (uint32_t j = 0; j < s->n; ++j) {
        if (clamps) row[j] = row[j] > INT32_MAX ? INT32_MAX : row[j] < INT32_MIN ? INT32_MIN : row[j];
        to[j] = (uint32_t)row[j];
      }
    }
  }
  return inst + 1;
}

static double double_at(const uint32_t* registers, uint32_t reg, uint32_t lane) {
  uint64_t bits = registers[reg * 64 + lane] | (uint64_t)registers[(reg + 1) * 64 + lane] << 32;
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

// f64: rows of D go round the groups of 16 lanes first. `neg` negates A, B, C.
static const inst_t* run_doubles(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  double d[16][16 * 4];
  const uint32_t* a = w->vgpr + inst->src[0].offset;
  const uint32_t* b = w->vgpr + inst->src[1].offset;
  const uint32_t* c = w->vgpr + inst->src[2].offset;
  bool splat = inst->src[2].kind != OPERAND_VGPR;
  uint32_t negate = (uint32_t)(inst->neg | inst->neg_lo);
  uint64_t bits = splat ? wave_scalar_pair(w, &inst->src[2]) : 0;
  double constant;
  memcpy(&constant, &bits, 8);
  uint32_t width = s->m * s->blocks;
  for (uint32_t r = 0; r < s->m; ++r) {
    for (uint32_t column = 0; column < width; ++column) {
      uint32_t block = column / s->n, lane = s->m == 4 ? column + 16 * r : column + 16 * (r % 4);
      double sum = splat ? constant : double_at(c, s->m == 4 ? 0 : r / 4 * 2, lane);
      if (negate & 4) sum = -sum;
      for (uint32_t k = 0; k < s->k; ++k) {
        double x = double_at(a, 0, r + s->m * (block + s->blocks * k)), y = double_at(b, 0, column + width * k);
        sum = __builtin_fma(negate & 1 ? -x : x, negate & 2 ? -y : y, sum);
      }
      d[r][column] = sum;
    }
  }
  for (uint32_t r = 0; r < s->m; ++r) {
    for (uint32_t column = 0; column < width; ++column) {
      uint32_t lane = s->m == 4 ? column + 16 * r : column + 16 * (r % 4), reg = s->m == 4 ? 0 : r / 4 * 2;
      uint64_t out;
      memcpy(&out, &d[r][column], 8);
      uint32_t* to = w->vgpr + inst->dst[0].offset;
      to[reg * 64 + lane] = (uint32_t)out;
      to[(reg + 1) * 64 + lane] = (uint32_t)(out >> 32);
    }
  }
  return inst + 1;
}

// Sums are rounded to nearest and keep denormals, whatever MODE says.
enum { MATRIX_CSR = 0x1f80 };

#define RUN_F32 run_floats
#define RUN_F16 run_floats
#define RUN_BF16 run_floats
#define RUN_I32 run_integers
#define RUN_F64 run_doubles
#define MATRIX_RUN(name, td, ta, tb, rows_, columns, depth, block_count, wmma)                  \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                              \
    static const matrix_shape_t shape = {td, ta, tb, rows_, columns, depth, block_count, wmma}; \
    wave_use_csr(w, MATRIX_CSR);                                                                \
    return RUN_##td(w, inst, &shape);                                                           \
  }
#define MFMA(name, d, a, b, m, n, k, blocks) MATRIX_RUN(name, d, a, b, m, n, k, blocks, false)
#define WMMA(name, d, a, b, m, n, k) MATRIX_RUN(name, d, a, b, m, n, k, 1, true)
#include "isa/amd/matrix.def"

#define C_TYPE_F32 INST_F32
#define C_TYPE_F16 INST_P16
#define C_TYPE_BF16 INST_P16
#define C_TYPE_I32 INST_I32
#define C_TYPE_F64 INST_F64
#define MATRIX_ROW(name, d) INST_ROW(name, MATRIX, APPROXIMATE, run_##name, 1, C_TYPE_##d)
#define MFMA(name, d, ...) MATRIX_ROW(name, d)
#define WMMA(name, d, ...) MATRIX_ROW(name, d)
static const inst_row_t rows[] = {
#include "isa/amd/matrix.def"
};
VECTOR_TABLE(matrix_table, rows);
