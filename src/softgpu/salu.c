// Scalar ALU rows (isa/amd/salu.def) and the few that touch hardware registers or indexed registers.
#include <math.h>
#include <time.h>

#include "base/small_float.h"
#include "softgpu/wave.h"

typedef uint32_t u32_t;
typedef uint64_t u64_t;

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static uint32_t add_carry(uint32_t a, uint32_t b, uint32_t* scc) {
  uint64_t sum = (uint64_t)a + b + *scc;
  *scc = (uint32_t)(sum >> 32);
  return (uint32_t)sum;
}

static uint32_t sub_borrow(uint32_t a, uint32_t b, uint32_t* scc) {
  uint64_t difference = (uint64_t)a - b - *scc;
  *scc = (uint32_t)(difference >> 32) & 1;
  return (uint32_t)difference;
}

static uint32_t shift_add(uint32_t a, uint32_t b, uint32_t shift, uint32_t* scc) {
  uint64_t sum = ((uint64_t)a << shift) + b;
  *scc = sum >> 32 != 0;
  return (uint32_t)sum;
}

static uint64_t field_u64(uint64_t value, uint32_t offset, uint32_t width) {
  value >>= offset;
  return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

static uint64_t field_i64(uint64_t value, uint32_t offset, uint32_t width) {
  if (!width) return 0;
  if (offset + width > 64) width = 64 - offset;
  return (uint64_t)((int64_t)(value << (64 - width - offset)) >> (64 - width));
}

static uint32_t field_i32(uint32_t value, uint32_t offset, uint32_t width) {
  if (!width) return 0;
  if (offset + width > 32) width = 32 - offset;
  return (uint32_t)((int32_t)(value << (32 - width - offset)) >> (32 - width));
}

static uint64_t reverse(uint64_t value) {
  value = (value >> 1 & UINT64_C(0x5555555555555555)) | (value & UINT64_C(0x5555555555555555)) << 1;
  value = (value >> 2 & UINT64_C(0x3333333333333333)) | (value & UINT64_C(0x3333333333333333)) << 2;
  value = (value >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (value & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
  return __builtin_bswap64(value);
}

// Each bit twice.
static uint64_t replicate(uint32_t value) {
  uint64_t out = 0;
  for (int i = 0; i < 32; ++i) out |= (uint64_t)(value >> i & 1) * 3 << (2 * i);
  return out;
}

// A bit for each four that are not all zero.
static uint64_t quad_mask(uint64_t value) {
  uint64_t out = 0;
  for (int i = 0; i < 16; ++i) out |= (uint64_t)((value >> (4 * i) & 15) != 0) << i;
  return out;
}

static uint64_t whole_quads(uint64_t value) {
  uint64_t out = 0;
  for (int i = 0; i < 64; i += 4) out |= value >> i & 15 ? UINT64_C(15) << i : 0;
  return out;
}

// minNum and maxNum: a number wins over NaN, -0 is below 0.
static double scalar_min(double a, double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static double scalar_max(double a, double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}
// minimum and maximum: NaN wins.
static double scalar_minimum(double a, double b) { return a != a ? a : b != b ? b : scalar_min(a, b); }
static double scalar_maximum(double a, double b) { return a != a ? a : b != b ? b : scalar_max(a, b); }

static int32_t to_i32(float x) { return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)x; }
static uint32_t to_u32(float x) { return !(x > 0) ? 0 : x >= 0x1p32f ? UINT32_MAX : (uint32_t)x; }

static u32_t read32(const wave_t* w, const operand_t* o) { return wave_scalar(w, o); }
static u64_t read64(const wave_t* w, const operand_t* o) { return wave_scalar_pair(w, o); }
static void write32(wave_t* w, const operand_t* o, u32_t value) { w->sgpr[o->index] = value; }
static void write64(wave_t* w, const operand_t* o, u64_t value) { wave_set_pair(w, o->index, value); }

#define SCC_KEEP(value)
#define SCC_SET(value) w->sgpr[SREG_SCC] = (scc) & 1;
#define SCC_NONZERO(value) w->sgpr[SREG_SCC] = (value) != 0;
#define SALU(name, to, from, sources, scc_mode, expression)                                  \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                           \
    u##from##_t a = read##from(w, &inst->src[0]), b = 0;                                     \
    if (sources > 1) b = read##from(w, &inst->src[1]);                                       \
    u##to##_t d = to == 32 ? w->sgpr[inst->dst[0].index] : wave_pair(w, inst->dst[0].index); \
    u32_t scc = w->sgpr[SREG_SCC];                                                           \
    (void)a, (void)b, (void)d, (void)scc;                                                    \
    u##to##_t result = (u##to##_t)(expression);                                              \
    write##to(w, &inst->dst[0], result);                                                     \
    SCC_##scc_mode(result) return inst + 1;                                                  \
  }
#define SALU_COMPARE(name, from, expression)                                        \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                  \
    u##from##_t a = read##from(w, &inst->src[0]), b = read##from(w, &inst->src[1]); \
    w->sgpr[SREG_SCC] = (expression) & 1;                                           \
    return inst + 1;                                                                \
  }
#define SALU_K(name, scc_mode, expression)                          \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {  \
    int32_t k = (int16_t)inst->encoding[0];                         \
    u32_t d = w->sgpr[inst->dst[0].index], scc = w->sgpr[SREG_SCC]; \
    (void)d, (void)scc;                                             \
    u32_t result = (expression);                                    \
    w->sgpr[inst->dst[0].index] = result;                           \
    SCC_##scc_mode(result) return inst + 1;                         \
  }
#define SALU_COMPARE_K(name, expression)                           \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { \
    int32_t k = (int16_t)inst->encoding[0];                        \
    u32_t a = read32(w, &inst->src[0]);                            \
    w->sgpr[SREG_SCC] = (expression);                              \
    return inst + 1;                                               \
  }
#define SALU_EXEC_OF(name, bits, result, kept)                                 \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {             \
    u##bits##_t a = read##bits(w, &inst->src[0]);                              \
    u##bits##_t e = bits == 32 ? w->sgpr[SREG_EXEC] : wave_pair(w, SREG_EXEC); \
    operand_t exec = {.index = SREG_EXEC};                                     \
    u##bits##_t next = (result);                                               \
    write##bits(w, &inst->dst[0], kept);                                       \
    write##bits(w, &exec, next);                                               \
    w->sgpr[SREG_SCC] = next != 0;                                             \
    return inst + 1;                                                           \
  }
#define SALU_EXEC(stem, expression)                        \
  SALU_EXEC_OF(s_##stem##_saveexec_b32, 32, expression, e) \
  SALU_EXEC_OF(s_##stem##_saveexec_b64, 64, expression, e)
#define SALU_WREXEC(stem, expression)                       \
  SALU_EXEC_OF(s_##stem##_wrexec_b32, 32, expression, next) \
  SALU_EXEC_OF(s_##stem##_wrexec_b64, 64, expression, next)
#define SALU_FLOAT(name, sources, expression)                                  \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {             \
    wave_use_csr(w, w->csr_single);                                            \
    volatile float a = float_of(read32(w, &inst->src[0])), b = 0, c = 0;       \
    if (sources > 1) b = float_of(read32(w, &inst->src[1]));                   \
    if (sources > 2) c = float_of(read32(w, &inst->src[2]));                   \
    float d = float_of(w->sgpr[inst->dst[0].index]);                           \
    (void)b, (void)c, (void)d;                                                 \
    float result = (expression);                                               \
    bool makes_nan = result != result && a == a && b == b && c == c && d == d; \
    w->sgpr[inst->dst[0].index] = makes_nan ? 0x7fc00000 : bits_of(result);    \
    return inst + 1;                                                           \
  }
#define SALU_COMPARE_FLOAT(name, expression)                                                       \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                                 \
    wave_use_csr(w, w->csr_single);                                                                \
    volatile float a = float_of(read32(w, &inst->src[0])), b = float_of(read32(w, &inst->src[1])); \
    w->sgpr[SREG_SCC] = (expression);                                                              \
    return inst + 1;                                                                               \
  }
// f16 by MODE: denormals, and the direction of rounding where the nearest number lies on the other side.
static double decode_half(const wave_t* w, uint32_t bits) {
  bool is_denormal = !(bits & 0x7c00);
  return small_float_decode(SMALL_F16, is_denormal && !(w->mode & 0x40) ? bits & 0x8000 : bits & 0xffff);
}
static uint32_t encode_half(const wave_t* w, double value) {
  uint32_t bits = small_float_encode(SMALL_F16, value), round = w->mode >> 2 & 3;
  double nearest = small_float_decode(SMALL_F16, bits);
  bool is_above = nearest > value, is_below = nearest < value, is_negative = bits >> 15;
  if (round && (is_above || is_below)) {
    bool is_larger = is_negative ? is_below : is_above;
    bool is_wrong = round == 1 ? is_below : round == 2 ? is_above : is_larger;
    if (is_wrong) bits += is_larger ? -1u : 1u;
  }
  bool is_denormal = !(bits & 0x7c00);
  return is_denormal && !(w->mode & 0x80) ? bits & 0x8000 : bits;
}
static double read_half(const wave_t* w, const operand_t* o) { return decode_half(w, wave_scalar(w, o)); }
// Functions that the host makes of sums are right with nearest rounding only.
static void use_nearest(wave_t* w) { wave_use_csr(w, w->csr & ~0x6000u); }
// The host rounds f64 as MODE says f16 is, without flushing.
static void use_half_csr(wave_t* w) { wave_use_csr(w, w->csr_double & ~0x8040u); }
static float read_single(const wave_t* w, uint32_t bits) {
  bool is_denormal = !(bits & 0x7f800000);
  return float_of(is_denormal && !(w->mode & 0x10) ? bits & 0x80000000 : bits);
}
// Whole numbers to f32 are rounded by MODE, too.
static uint32_t single_of(wave_t* w, double value) {
  wave_use_csr(w, w->csr_single);
  volatile double exact = value;
  return bits_of((float)exact);
}

#define SALU_HALF(name, sources, expression)                                                            \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {                                      \
    use_half_csr(w);                                                                                    \
    volatile double a = read_half(w, &inst->src[0]), b = sources > 1 ? read_half(w, &inst->src[1]) : 0; \
    double d = decode_half(w, w->sgpr[inst->dst[0].index]);                                             \
    (void)b, (void)d;                                                                                   \
    w->sgpr[inst->dst[0].index] = encode_half(w, expression);                                           \
    return inst + 1;                                                                                    \
  }
#define SALU_COMPARE_HALF(name, expression)                                  \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) {           \
    double a = read_half(w, &inst->src[0]), b = read_half(w, &inst->src[1]); \
    w->sgpr[SREG_SCC] = (expression);                                        \
    return inst + 1;                                                         \
  }
#include "isa/amd/salu.def"

// Hardware registers, by the number in bits 5:0 of the immediate; offset in 10:6, size - 1 in 15:11.
enum { HWREG_MODE = 1, HWREG_STATUS = 2, HWREG_TRAPSTS = 3, HWREG_HW_ID = 4, HWREG_LDS_ALLOC = 6, HWREG_IB_STS = 7 };
enum { HWREG_SH_MEM_BASES = 15 };
enum { HWREG_FLAT_SCRATCH_LO = 20, HWREG_FLAT_SCRATCH_HI = 21, HWREG_HW_ID1 = 23, HWREG_SHADER_CYCLES = 29 };
enum { HWREG_SHADER_CYCLES_HI = 30 };  // gfx12

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t read_hardware(const wave_t* w, uint32_t number) {
  uint64_t scratch = (uint64_t)w->scratch;
  switch (number) {
    case HWREG_MODE:
      return w->mode;
    case HWREG_STATUS:
      return w->sgpr[SREG_SCC] | (wave_exec(w) == 0) << 9 | (wave_mask(w, SREG_VCC) == 0) << 10;
    case HWREG_HW_ID:
    case HWREG_HW_ID1:
      return w->slot;
    case HWREG_LDS_ALLOC:
      return (w->group->lds_size + 255) / 256 << 12;
    case HWREG_SH_MEM_BASES:  // where compilers found the apertures before src_shared_base
      return (uint32_t)(WAVE_PRIVATE_BASE >> 48 | WAVE_SHARED_BASE >> 48 << 16);
    case HWREG_FLAT_SCRATCH_LO:
      return isa_is_gfx940(w->target) ? 0 : (uint32_t)scratch;  // gfx940: XCC_ID
    case HWREG_FLAT_SCRATCH_HI:
      return (uint32_t)(scratch >> 32);
    case HWREG_SHADER_CYCLES:
      return (uint32_t)nanoseconds() & (w->target->major >= 12 ? UINT32_MAX : 0xfffff);
    case HWREG_SHADER_CYCLES_HI:
      return w->target->major >= 12 ? (uint32_t)(nanoseconds() >> 32) : 0;
    default:
      return 0;
  }
}

static uint32_t field_mask(uint32_t immediate) {
  uint32_t size = (immediate >> 11 & 31) + 1, offset = immediate >> 6 & 31;
  return (uint32_t)(((UINT64_C(1) << size) - 1) << offset);
}

static const inst_t* run_getreg(wave_t* w, const inst_t* inst) {
  uint32_t immediate = inst->encoding[0] & 0xffff;
  uint32_t value = read_hardware(w, immediate & 63) & field_mask(immediate);
  w->sgpr[inst->dst[0].index] = value >> (immediate >> 6 & 31);
  return inst + 1;
}

// run_wave's loop looks at VSKIP when it begins: the wave's turn ends where it changes.
static const inst_t* set_mode(wave_t* w, const inst_t* inst, uint32_t mode) {
  bool changes_skip = isa_is_gfx9(w->target) && (w->mode ^ mode) & WAVE_MODE_VSKIP;
  wave_set_mode(w, mode);
  w->pc = inst + 1;
  return changes_skip ? NULL : inst + 1;
}

static const inst_t* run_setreg(wave_t* w, const inst_t* inst) {
  uint32_t immediate = inst->encoding[0] & 0xffff, mask = field_mask(immediate);
  uint32_t value = wave_scalar(w, &inst->src[1]) << (immediate >> 6 & 31);
  if ((immediate & 63) == HWREG_MODE) return set_mode(w, inst, (w->mode & ~mask) | (value & mask));
  return inst + 1;
}

static const inst_t* run_setvskip(wave_t* w, const inst_t* inst) {
  bool skips = wave_scalar(w, &inst->src[0]) >> (wave_scalar(w, &inst->src[1]) & 31) & 1;
  return set_mode(w, inst, (w->mode & ~(uint32_t)WAVE_MODE_VSKIP) | (skips ? WAVE_MODE_VSKIP : 0));
}

static const inst_t* run_round_mode(wave_t* w, const inst_t* inst) {
  wave_set_mode(w, (w->mode & ~15u) | (inst->encoding[0] & 15));
  return inst + 1;
}

static const inst_t* run_denorm_mode(wave_t* w, const inst_t* inst) {
  wave_set_mode(w, (w->mode & ~0xf0u) | (inst->encoding[0] & 15) << 4);
  return inst + 1;
}

// Registers indexed by M0. Out of range, as the hardware does, the index is ignored.
static uint32_t indexed(const wave_t* w, uint32_t index, uint32_t dwords) {
  uint64_t moved = (uint64_t)index + w->sgpr[SREG_M0];
  return moved + dwords <= SREG_VCC ? (uint32_t)moved : index;
}

static const inst_t* run_movrel(wave_t* w, const inst_t* inst, uint32_t dwords, bool source) {
  uint32_t from = inst->src[0].index, to = inst->dst[0].index;
  if (source) from = indexed(w, from, dwords);
  if (!source) to = indexed(w, to, dwords);
  for (uint32_t i = 0; i < dwords; ++i) {
    w->sgpr[to + i] =
        inst->src[0].kind == OPERAND_CONSTANT ? (uint32_t)(inst->src[0].value >> (32 * i)) : w->sgpr[from + i];
  }
  return inst + 1;
}
static const inst_t* run_movrels_b32(wave_t* w, const inst_t* inst) { return run_movrel(w, inst, 1, true); }
static const inst_t* run_movrels_b64(wave_t* w, const inst_t* inst) { return run_movrel(w, inst, 2, true); }
static const inst_t* run_movreld_b32(wave_t* w, const inst_t* inst) { return run_movrel(w, inst, 1, false); }
static const inst_t* run_movreld_b64(wave_t* w, const inst_t* inst) { return run_movrel(w, inst, 2, false); }

// Source by M0[9:0], destination by M0[25:16].
static const inst_t* run_movrelsd_2(wave_t* w, const inst_t* inst) {
  uint32_t m0 = w->sgpr[SREG_M0];
  uint32_t from = inst->src[0].index + (m0 & 1023), to = inst->dst[0].index + (m0 >> 16 & 1023);
  if (from >= SREG_VCC) from = inst->src[0].index;
  if (to >= SREG_VCC) to = inst->dst[0].index;
  w->sgpr[to] = inst->src[0].kind == OPERAND_CONSTANT ? (uint32_t)inst->src[0].value : w->sgpr[from];
  return inst + 1;
}

// f32 to f16 toward zero.
static uint32_t half_toward_zero(uint32_t bits) {
  double value = (double)float_of(bits);
  uint32_t half = small_float_encode(SMALL_F16, value);
  return fabs(small_float_decode(SMALL_F16, half)) > fabs(value) ? half - 1 : half;
}
static const inst_t* run_pack_toward_zero(wave_t* w, const inst_t* inst) {
  wave_use_csr(w, 0x1f80);
  uint32_t low = half_toward_zero(read32(w, &inst->src[0])), high = half_toward_zero(read32(w, &inst->src[1]));
  w->sgpr[inst->dst[0].index] = low | high << 16;
  return inst + 1;
}

// Registers of a wave that asks for more or fewer: all of them are there always.
static const inst_t* run_alloc_vgpr(wave_t* w, const inst_t* inst) {
  w->sgpr[SREG_SCC] = wave_scalar(w, &inst->src[0]) <= w->target->registers;
  return inst + 1;
}

// gfx9: vector operands indexed by M0[7:0]; which ones in M0[15:12].
static const inst_t* run_gpr_idx_on(wave_t* w, const inst_t* inst) {
  w->sgpr[SREG_M0] =
      (w->sgpr[SREG_M0] & ~0xf0ffu) | (wave_scalar(w, &inst->src[0]) & 255) | (inst->encoding[0] >> 8 & 15) << 12;
  w->gpr_index = w->sgpr[SREG_M0] & 0xf0ff;
  return inst + 1;
}
static const inst_t* run_gpr_idx_off(wave_t* w, const inst_t* inst) { return w->gpr_index = 0, inst + 1; }
static const inst_t* run_gpr_idx_idx(wave_t* w, const inst_t* inst) {
  w->sgpr[SREG_M0] = (w->sgpr[SREG_M0] & ~255u) | (wave_scalar(w, &inst->src[0]) & 255);
  if (w->gpr_index) w->gpr_index = w->sgpr[SREG_M0] & 0xf0ff;
  return inst + 1;
}
static const inst_t* run_gpr_idx_mode(wave_t* w, const inst_t* inst) {
  w->sgpr[SREG_M0] = (w->sgpr[SREG_M0] & ~0xf000u) | (inst->encoding[0] & 15) << 12;
  w->gpr_index = w->gpr_index ? w->sgpr[SREG_M0] & 0xf0ff : 0;
  return inst + 1;
}

#define T32 INST_B32
#define T64 INST_B64
static const inst_row_t rows[] = {
#define SALU(name, to, from, sources, scc, expression) \
  INST_ROW(name, SALU, EXACT, run_##name, 1, T##to, T##from, T##from)
#define SALU_COMPARE(name, from, expression) INST_ROW(name, SALU, EXACT, run_##name, 0, T##from)
#define SALU_K(name, scc, expression) INST_ROW(name, SALU, EXACT, run_##name, 1, T32)
#define SALU_COMPARE_K(name, expression) INST_ROW(name, SALU, EXACT, run_##name, 0, T32)
#define SALU_EXEC(stem, expression)                                                   \
  INST_ROW(s_##stem##_saveexec_b32, SALU, EXACT, run_s_##stem##_saveexec_b32, 1, T32) \
  INST_ROW(s_##stem##_saveexec_b64, SALU, EXACT, run_s_##stem##_saveexec_b64, 1, T64)
#define SALU_WREXEC(stem, expression)                                             \
  INST_ROW(s_##stem##_wrexec_b32, SALU, EXACT, run_s_##stem##_wrexec_b32, 1, T32) \
  INST_ROW(s_##stem##_wrexec_b64, SALU, EXACT, run_s_##stem##_wrexec_b64, 1, T64)
#define SALU_FLOAT(name, sources, expression) INST_ROW(name, SALU, EXACT, run_##name, 1, INST_F32)
#define SALU_COMPARE_FLOAT(name, expression) INST_ROW(name, SALU, EXACT, run_##name, 0, INST_F32)
#define SALU_HALF(name, sources, expression) INST_ROW(name, SALU, EXACT, run_##name, 1, INST_F16)
#define SALU_COMPARE_HALF(name, expression) INST_ROW(name, SALU, EXACT, run_##name, 0, INST_F16)
#define ALIAS(name, of, to, from) INST_ROW(name, SALU, EXACT, run_##of, 1, T##to, T##from)
#include "isa/amd/salu.def"
    INST_ROW(s_getreg_b32, SALU, EXACT, run_getreg, 1, T32) INST_ROW(s_setreg_b32, SALU, EXACT, run_setreg, 0, T32)
        INST_ROW(s_setreg_imm32_b32, SALU, EXACT, run_setreg, 0, T32) INST_ROW(
            s_setvskip, SALU, EXACT, run_setvskip, 0, T32) INST_ROW(s_round_mode, SALU, EXACT, run_round_mode, 0, T32)
            INST_ROW(s_denorm_mode, SALU, EXACT, run_denorm_mode, 0, T32)
                INST_ROW(s_movrelsd_2_b32, SALU, EXACT, run_movrelsd_2, 1, T32)
                    INST_ROW(s_cvt_pk_rtz_f16_f32, SALU, EXACT, run_pack_toward_zero, 1, INST_F32)
                        INST_ROW(s_alloc_vgpr, SALU, APPROXIMATE, run_alloc_vgpr, 0, T32)
                            INST_ROW(s_movrels_b32, SALU, EXACT, run_movrels_b32, 1, T32)
                                INST_ROW(s_movrels_b64, SALU, EXACT, run_movrels_b64, 1, T64)
                                    INST_ROW(s_movreld_b32, SALU, EXACT, run_movreld_b32, 1, T32)
                                        INST_ROW(s_movreld_b64, SALU, EXACT, run_movreld_b64, 1, T64) INST_ROW(
                                            s_set_gpr_idx_on, SALU, EXACT, run_gpr_idx_on, 0, T32)
                                            INST_ROW(s_set_gpr_idx_off, SALU, EXACT, run_gpr_idx_off, 0, T32) INST_ROW(
                                                s_set_gpr_idx_idx, SALU, EXACT, run_gpr_idx_idx, 0, T32)
                                                INST_ROW(s_set_gpr_idx_mode, SALU, EXACT, run_gpr_idx_mode, 0, T32)};
const inst_table_t salu_table = {rows, sizeof(rows) / sizeof(rows[0])};
