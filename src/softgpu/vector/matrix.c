// Matrix instructions (isa/amd/matrix.def).
//
// Both families place operands alike: the element of row i (A) or column i (B), block b and depth k is in lane
// i + size * (b + blocks * (k / each)), as number k % each of the `each` elements that a lane holds; where lanes are
// left over they hold copies (gfx11). Columns of C and D are lanes, rows are registers and groups of lanes. So operands
// become arrays of f32, [element][lane], whose row for each depth is contiguous, and each row of a result is N lanes
// side by side. Sums of 8- and 4-bit integers are exact in f32 as well: at most 128 products of 16 bits.
//
// A sparse A holds two of every four elements of a row, and an index register where they belong: it is made dense.
#include "softgpu/vector/half.h"
#include "softgpu/vector/matrix_multiply.h"

typedef enum { F64, F32, F16, BF16, XF32, I32, I8, IU8, IU4, FP8, BF8 } matrix_type_t;

typedef struct matrix_shape_t {
  matrix_type_t d, a, b;
  uint32_t m, n, k, blocks;
  bool is_wmma, is_sparse;
} matrix_shape_t;

enum { MATRIX_MAX_EACH = 32, MATRIX_MAX_ROWS = 32 };

// An operand's elements as f32, those of one number side by side.
typedef struct matrix_values_t {
  float lane[MATRIX_MAX_EACH][WAVE_MAX_LANES] __attribute__((aligned(64)));
  const float* depth[MATRIX_MAX_K];  // the lanes that hold depth k
} matrix_values_t;

VALU_INLINE uint32_t bits_of_type(matrix_type_t type) {
  static const uint8_t bits[] = {64, 32, 16, 16, 32, 32, 8, 8, 4, 8, 8};
  return bits[type];
}

// Element at `shift` of each lane's register.
static inline void load_elements(const uint32_t* from, uint32_t lanes, matrix_type_t type, uint32_t shift,
                                 bool is_signed, bool is_ocp, float* out) {
  switch (type) {
    case F32:
      memcpy(out, from, lanes * 4);
      break;
    case XF32:
      for (uint32_t i = 0; i < lanes; ++i) out[i] = float_from_f32(from[i] & 0xffffe000u);
      break;
    case F16: {
      uint32_t low[WAVE_MAX_LANES];
      for (uint32_t i = 0; i < lanes; ++i) low[i] = from[i] >> shift & 0xffff;
      half_to_single(low, (uint32_t*)(void*)out, lanes, false);
      break;
    }
    case BF16:
      for (uint32_t i = 0; i < lanes; ++i) out[i] = float_from_f32(from[i] >> shift << 16);
      break;
    case FP8:
      for (uint32_t i = 0; i < lanes; ++i) out[i] = float_of_byte(float_byte(false, is_ocp), from[i] >> shift & 255);
      break;
    case BF8:
      for (uint32_t i = 0; i < lanes; ++i) out[i] = float_of_byte(float_byte(true, is_ocp), from[i] >> shift & 255);
      break;
    default: {
      uint32_t down = 32 - bits_of_type(type), up = down - shift;
      if (is_signed) {
        for (uint32_t i = 0; i < lanes; ++i) out[i] = (float)((int32_t)(from[i] << up) >> down);
      } else {
        for (uint32_t i = 0; i < lanes; ++i) out[i] = (float)(int32_t)(from[i] << up >> down);
      }
    }
  }
}

// Both halves of each lane's register as f32.
VALU_INLINE void load_halves(const uint32_t* from, uint32_t lanes, bool is_brain, float* low, float* high) {
  if (is_brain) {
    for (uint32_t i = 0; i < lanes; ++i) {
      low[i] = float_from_f32(from[i] << 16), high[i] = float_from_f32(from[i] & 0xffff0000u);
    }
    return;
  }
#if defined(__AVX512F__)
  for (uint32_t i = 0; i < lanes; i += 16) {
    __m512i both = _mm512_loadu_si512(from + i);
    _mm512_storeu_ps(low + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(both)));
    _mm512_storeu_ps(high + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16))));
  }
#else
  uint32_t halves[2][WAVE_MAX_LANES];
  for (uint32_t i = 0; i < lanes; ++i) halves[0][i] = from[i] & 0xffff, halves[1][i] = from[i] >> 16;
  half_to_single(halves[0], (uint32_t*)(void*)low, lanes, false);
  half_to_single(halves[1], (uint32_t*)(void*)high, lanes, false);
#endif
}

// `each` elements of all lanes of source `k`.
VALU_INLINE void load_values(const wave_t* w, const inst_t* inst, const matrix_shape_t* s, uint32_t k, uint32_t each,
                             matrix_values_t* out) {
  const operand_t* o = &inst->src[k];
  matrix_type_t type = k ? s->b : s->a;
  uint32_t bits = bits_of_type(type), in_register = 32 / bits;
  uint32_t lanes = s->is_wmma && w->target->major < 12 ? 16 : w->lanes;
  bool is_signed = type == I8 || (s->is_wmma && inst->neg_lo >> k & 1);
  float_mode_t mode = float_mode(w);
  uint32_t splat[WAVE_MAX_LANES];
  if (o->kind != OPERAND_VGPR) {
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) splat[i] = wave_scalar(w, o);
  }
  for (uint32_t e = 0; e < each; ++e) {
    const uint32_t* from = o->kind == OPERAND_VGPR ? w->vgpr + o->offset + e / in_register * w->lanes : splat;
    if ((type == F16 || type == BF16) && !(each & 1)) {
      if (!(e & 1)) load_halves(from, lanes, type == BF16, out->lane[e], out->lane[e + 1]);
    } else {
      load_elements(from, lanes, type, e % in_register * bits, is_signed, mode.is_ocp, out->lane[e]);
    }
    bool is_float = type != IU8 && type != IU4 && type != I8;
    // WMMA: neg_lo for even elements, neg_hi for odd ones.
    if (s->is_wmma && is_float && (e & 1 ? inst->neg_hi : inst->neg_lo) >> k & 1) {
      for (uint32_t i = 0; i < lanes; ++i) out->lane[e][i] = -out->lane[e][i];
    }
  }
}

VALU_INLINE void place_depths(matrix_values_t* values, uint32_t depth, uint32_t each, uint32_t width) {
  const float** at = values->depth;
  for (uint32_t first = 0; first < depth; first += each) {
    for (uint32_t e = 0; e < each; ++e) *at++ = values->lane[e] + first / each * width;
  }
}

// Spreads the stored elements of a sparse A: two bits for each say which of four it is.
static void make_dense(const wave_t* w, const inst_t* inst, const matrix_shape_t* s, uint32_t stored,
                       matrix_values_t* values) {
  float dense[MATRIX_MAX_EACH][WAVE_MAX_LANES] = {{0}};
  // Several sets of indices share a register where they are shorter.
  uint32_t bits = 2 * stored, sets = 32 / bits;
  uint32_t set = s->is_wmma ? (uint32_t)inst->index_key : inst->cbsz ? 0 : (uint32_t)inst->abid;
  const uint32_t* index = w->vgpr + inst->src[2].offset;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    uint32_t at = index[i] >> set % sets * bits;
    for (uint32_t e = 0; e < stored; ++e) dense[e / 2 * 4 + (at >> 2 * e & 3)][i] += values->lane[e][i];
  }
  memcpy(values->lane, dense, 2 * stored * sizeof(dense[0]));
}

// Row r of C and D: register and first lane, for a type of 32 bits.
VALU_INLINE void place_row(const wave_t* w, const matrix_shape_t* s, uint32_t block, uint32_t r, uint32_t* reg,
                           uint32_t* lane) {
  // Groups of lanes that hold different rows, as a power of two.
  if (s->is_wmma) {
    uint32_t groups = w->lanes == 64 ? 2 : 1;
    if (w->target->major >= 12) {
      *reg = r & ((16 >> groups) - 1), *lane = r >> (4 - groups) << 4;
    } else {
      *reg = r >> groups, *lane = (r & ((1u << groups) - 1)) << 4;
    }
    return;
  }
  if (s->m == 4) {
    *reg = r, *lane = 4 * block;
    return;
  }
  uint32_t groups = s->n == 32 ? 1 : 2, per_block = s->m >> groups;
  *reg = per_block * block + (r >> (2 + groups) << 2) + (r & 3);
  *lane = s->n * (r >> 2 & ((1u << groups) - 1));
}

// MFMA: which block of A a block multiplies, and which lane of B another lane stands for.
static uint32_t block_of_a(const inst_t* inst, const matrix_shape_t* s, uint32_t block) {
  uint32_t mask = (1u << inst->cbsz) - 1;
  return inst->cbsz && !s->is_sparse ? (block & ~mask) | ((uint32_t)inst->abid & mask) : block;
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

static void permute_b(const inst_t* inst, uint32_t each, matrix_values_t* b) {
  if (!inst->blgp) return;
  float old[WAVE_MAX_LANES];
  for (uint32_t e = 0; e < each; ++e) {
    memcpy(old, b->lane[e], sizeof(old));
    for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) b->lane[e][i] = old[lane_of_b((uint32_t)inst->blgp, i)];
  }
}

// A row of C and D, or part of one.
typedef struct matrix_row_t {
  const uint32_t* from;  // C; NULL where it is `constant`
  uint32_t constant;
  uint32_t* to;
  uint32_t count;
  uint32_t shift;  // of 16-bit results: in one half of a register (gfx11), or two to a register (gfx12)
} matrix_row_t;

VALU_INLINE matrix_row_t find_row(const wave_t* w, const inst_t* inst, const matrix_shape_t* s, uint32_t block,
                                  uint32_t r) {
  const operand_t* c = s->is_sparse ? &inst->dst[0] : &inst->src[2];
  uint32_t reg, lane;
  matrix_row_t row = {.count = s->n};
  place_row(w, s, block, r, &reg, &lane);
  if (s->d == F16 || s->d == BF16) {
    bool is_packed = w->target->major >= 12;
    row.shift = is_packed ? reg % 2 * 16 : inst->op_sel & 4 ? 16 : 0;
    if (is_packed) reg /= 2;
  }
  row.to = w->vgpr + inst->dst[0].offset + reg * w->lanes + lane;
  if (c->kind == OPERAND_VGPR) {
    row.from = w->vgpr + c->offset + reg * w->lanes + lane;
  } else {
    row.constant = wave_scalar(w, c);
  }
  return row;
}

// Sixteen lanes at a time: no call of memcpy.
VALU_INLINE void copy_row(void* to, const void* from, uint32_t lanes) {
  for (uint32_t i = 0; i < lanes; i += 16) memcpy((uint32_t*)to + i, (const uint32_t*)from + i, 64);
}

// C as floats; integers are added at the end.
VALU_INLINE void load_row(const inst_t* inst, const matrix_shape_t* s, const matrix_row_t* row, float* out) {
  if (s->d == I32) {
    memset(out, 0, row->count * 4);
  } else if (!row->from) {
    // A constant is f16 for bf16 results too.
    float value = s->d == F32 ? float_from_f32(row->constant) : float_of_half(row->constant & 0xffff);
    for (uint32_t j = 0; j < row->count; ++j) out[j] = value;
  } else if (s->d == F32) {
    copy_row(out, row->from, row->count);
  } else if (s->d == F16) {
    uint32_t halves[16];
    for (uint32_t j = 0; j < 16; ++j) halves[j] = row->from[j] >> row->shift & 0xffff;
    half_to_single(halves, (uint32_t*)(void*)out, 16, false);
  } else {
    for (uint32_t j = 0; j < row->count; ++j) out[j] = float_of_brain(row->from[j] >> row->shift);
  }
  if (!s->is_wmma || s->is_sparse || s->d == I32 || !((inst->neg_lo | inst->neg_hi) & 4)) return;
  for (uint32_t j = 0; j < row->count; ++j) {
    if (inst->neg_hi & 4) out[j] = float_abs_f32(out[j]);
    if (inst->neg_lo & 4) out[j] = -out[j];
  }
}

VALU_INLINE void store_row(const inst_t* inst, const matrix_shape_t* s, const matrix_row_t* row, const float* sum) {
  if (s->d == F32) {
    copy_row(row->to, sum, row->count);
  } else if (s->d == I32) {
    for (uint32_t j = 0; j < row->count; ++j) {
      int64_t value = (int64_t)(int32_t)sum[j] + (int32_t)(row->from ? row->from[j] : row->constant);
      if (inst->flags & INST_CLAMP) value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
      row->to[j] = (uint32_t)value;
    }
  } else {
    uint32_t keep = 0xffff0000u >> row->shift, bits[16];
    if (s->d == F16) {
      half_from_single((const uint32_t*)(const void*)sum, bits, 16, false);
    } else {
      for (uint32_t j = 0; j < 16; ++j) bits[j] = float_to_brain(sum[j]);
    }
    for (uint32_t j = 0; j < 16; ++j) row->to[j] = (row->to[j] & keep) | bits[j] << row->shift;
  }
}

VALU_INLINE void load_operands(const wave_t* w, const inst_t* inst, const matrix_shape_t* s, matrix_values_t* a,
                               matrix_values_t* b) {
  uint32_t width = s->m * s->blocks;
  uint32_t copies = s->is_wmma && w->target->major < 12 ? 1 : w->lanes / width;
  uint32_t each = s->k / copies;
  load_values(w, inst, s, 0, s->is_sparse ? each / 2 : each, a);
  load_values(w, inst, s, 1, each, b);
  if (s->is_sparse) make_dense(w, inst, s, each / 2, a);
  if (!s->is_wmma && !s->is_sparse) permute_b(inst, each, b);
  place_depths(a, s->k, each, width);
  place_depths(b, s->k, each, width);
}

VALU_INLINE void multiply_block(const inst_t* inst, const matrix_shape_t* s, const matrix_values_t* a,
                                const matrix_values_t* b, uint32_t block, const float* const* in, float* const* out) {
  const float *left[MATRIX_MAX_K], *right[MATRIX_MAX_K];
  for (uint32_t k = 0; k < s->k; ++k) {
    left[k] = a->depth[k] + block_of_a(inst, s, block) * s->m;
    right[k] = b->depth[k] + block * s->n;
  }
  for (uint32_t r = 0; r < s->m; r += MATRIX_ROWS) {
    if (s->n == 16) {
      matrix_multiply_rows(left, right, s->k, 16, in + r, out + r);
    } else {
      matrix_multiply_rows(left, right, s->k, 32, in + r, out + r);
    }
    for (uint32_t k = 0; k < s->k; ++k) left[k] += MATRIX_ROWS;
  }
}

// Whether rows of C are used where they are, and those of D made there.
VALU_INLINE bool is_in_place(const wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  const operand_t *c = s->is_sparse ? &inst->dst[0] : &inst->src[2], *d = &inst->dst[0];
  if (s->d != F32 || c->kind != OPERAND_VGPR) return false;
  if (s->is_wmma && !s->is_sparse && (inst->neg_lo | inst->neg_hi) & 4) return false;
  uint32_t size = s->m * s->n * s->blocks;
  return c->offset == d->offset || c->offset + size <= d->offset || d->offset + size <= c->offset;
}

VALU_INLINE const inst_t* multiply(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  matrix_values_t a, b;
  float sums[MATRIX_MAX_ROWS][MATRIX_MAX_ROWS], *out[MATRIX_MAX_ROWS];
  const float* in[MATRIX_MAX_ROWS];
  matrix_row_t places[MATRIX_MAX_ROWS];
  bool in_place = is_in_place(w, inst, s);
  load_operands(w, inst, s, &a, &b);
  for (uint32_t block = 0; block < s->blocks; ++block) {
    for (uint32_t r = 0; r < s->m; ++r) {
      places[r] = find_row(w, inst, s, block, r);
      if (in_place) {
        in[r] = (const float*)(const void*)places[r].from, out[r] = (float*)(void*)places[r].to;
      } else {
        in[r] = out[r] = sums[r];
        load_row(inst, s, &places[r], sums[r]);
      }
    }
    multiply_block(inst, s, &a, &b, block, in, out);
    for (uint32_t r = 0; r < s->m && !in_place; ++r) store_row(inst, s, &places[r], sums[r]);
  }
  return inst + 1;
}

static const inst_t* multiply_any(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  return multiply(w, inst, s);
}

// The shapes that programs spend their time in have code of their own.
VALU_INLINE const inst_t* run_matrix(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  bool is_usual = s->d == F32 && bits_of_type(s->a) == 16 && s->m * s->n * s->k >= 4096 && !s->is_sparse;
  return is_usual ? multiply(w, inst, s) : multiply_any(w, inst, s);
}

// Sixteen blocks of 4 x 4: all columns at once, with the element of A that each has.
static const inst_t* run_small(wave_t* w, const inst_t* inst, const matrix_shape_t* s) {
  matrix_values_t a, b;
  float left[4][WAVE_MAX_LANES], sum[WAVE_MAX_LANES];
  load_operands(w, inst, s, &a, &b);
  for (uint32_t r = 0; r < 4; ++r) {
    matrix_row_t row = find_row(w, inst, s, 0, r);
    row.count = WAVE_MAX_LANES;
    load_row(inst, s, &row, sum);
    for (uint32_t k = 0; k < s->k; ++k) {
      for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) left[k][i] = a.depth[k][block_of_a(inst, s, i / 4) * 4 + r];
    }
    for (uint32_t k = 0; k < s->k; ++k) {
      const float* right = b.depth[k];
      for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) sum[i] = __builtin_fmaf(left[k][i], right[i], sum[i]);
    }
    store_row(inst, s, &row, sum);
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

#define MATRIX_RUN(name, function, ...)                            \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { \
    static const matrix_shape_t shape = {__VA_ARGS__};             \
    wave_use_csr(w, MATRIX_CSR);                                   \
    return function(w, inst, &shape);                              \
  }
#define MFMA(name, ...) MATRIX_RUN(name, run_matrix, __VA_ARGS__, false, false)
#define MFMA_SMALL(name, ...) MATRIX_RUN(name, run_small, __VA_ARGS__, false, false)
#define MFMA_F64(name, ...) MATRIX_RUN(name, run_doubles, __VA_ARGS__, false, false)
#define SMFMAC(name, ...) MATRIX_RUN(name, run_matrix, __VA_ARGS__, 1, false, true)
#define WMMA(name, ...) MATRIX_RUN(name, run_matrix, __VA_ARGS__, 1, true, false)
#define SWMMAC(name, ...) MATRIX_RUN(name, run_matrix, __VA_ARGS__, 1, true, true)
#include "isa/amd/matrix.def"

#define C_TYPE_F32 INST_F32
#define C_TYPE_F16 INST_P16
#define C_TYPE_BF16 INST_P16
#define C_TYPE_I32 INST_I32
#define C_TYPE_F64 INST_F64
// Sums of integers have one value in whatever order.
#define TRUST_F32 APPROXIMATE
#define TRUST_F16 APPROXIMATE
#define TRUST_BF16 APPROXIMATE
#define TRUST_F64 APPROXIMATE
#define TRUST_I32 EXACT
#define MATRIX_ROW_AS(name, trust, type) INST_ROW(name, MATRIX, trust, run_##name, 1, type)
#define MATRIX_ROW(name, d) MATRIX_ROW_AS(name, TRUST_##d, C_TYPE_##d)
#define MFMA(name, d, ...) MATRIX_ROW(name, d)
#define MFMA_SMALL(name, d, ...) MATRIX_ROW(name, d)
#define MFMA_F64(name, d, ...) MATRIX_ROW(name, d)
#define SMFMAC(name, d, ...) MATRIX_ROW(name, d)
#define WMMA(name, d, ...) MATRIX_ROW(name, d)
#define SWMMAC(name, d, ...) MATRIX_ROW(name, d)
static const inst_row_t rows[] = {
#include "isa/amd/matrix.def"
};
VECTOR_TABLE(matrix_table, rows);
