// Rows of isa/amd/valu_integer.def.
#include "softgpu/vector/bits.h"

// A pair of 16-bit elements as one word.
#define VALU_KIND_OF_W16 VALU_KIND_PAIR16
#define VALU_TYPE_W16 INST_PI16
#define VALU_LOAD_W16(x, k) VALU_LOAD_U32(x, k)

#define INTEGER1(name, D, A, ...) VALU_DEFINE1(name, D, A, __VA_ARGS__)
#define INTEGER2(name, D, A, B, ...) VALU_DEFINE2(name, D, A, B, __VA_ARGS__)
#define INTEGER3(name, D, A, B, C, ...) VALU_DEFINE3(name, D, A, B, C, __VA_ARGS__)
#define CLAMPED2(name, D, A, B, ...) VALU_CLAMPED(name, D, A, B, NONE, __VA_ARGS__)
#define CLAMPED3(name, D, A, B, C, ...) VALU_CLAMPED(name, D, A, B, C, __VA_ARGS__)
#define CARRY2(name, value, carry) VALU_CARRY(name, U32, U32, U32, NONE, value, carry)
#define CARRY3(name, value, carry) VALU_CARRY(name, U32, U32, U32, MASK, value, carry)
#define WIDE_MAD(name, D, A, value, carry) VALU_CARRY(name, D, A, A, D, value, carry)
#define ADDING(name, D, ...)                                                                 \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                 \
    valu_t v;                                                                                \
    valu_begin(w, inst, VALU_SHAPE(D, U32, U32, NONE), &v);                                  \
    const valu_io_t io = v.io;                                                               \
    const int64_t low = v.clamps ? VALU_LOW_##D : INT64_MIN;                                 \
    const int64_t high = v.clamps ? VALU_HIGH_##D : INT64_MAX;                               \
    VALU_LANES(VALU_LOAD_U32(a, 0) VALU_LOAD_U32(b, 1) const int32_t c = (int32_t)io.old[i]; \
               const int64_t sum = (__VA_ARGS__); VALU_STORE_##D(sum < low    ? low          \
                                                                 : sum > high ? high         \
                                                                              : sum))        \
    valu_end(w, inst, VALU_SHAPE(D, U32, U32, NONE), &v);                                    \
    return inst + 1;                                                                         \
  }
#include "isa/amd/valu_integer.def"

// Registers swapped where lanes are active.
static const inst_t* swap_registers(wave_t* w, const inst_t* inst, uint32_t* x, uint32_t* y) {
  uint64_t exec = wave_exec(w);
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    uint32_t value = x[i];
    x[i] = y[i], y[i] = value;
  }
  return inst + 1;
}
static const inst_t* swap(wave_t* w, const inst_t* inst) {
  return swap_registers(w, inst, w->vgpr + inst->dst[0].offset, w->vgpr + inst->src[0].offset);
}

static const inst_t* swap_half(wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w);
  uint32_t *x = w->vgpr + inst->dst[0].offset, *y = w->vgpr + inst->src[0].offset;
  uint32_t x_shift = inst->dst[0].modifiers & OPERAND_HIGH ? 16 : 0;
  uint32_t y_shift = inst->src[0].modifiers & OPERAND_HIGH ? 16 : 0;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    uint32_t of_x = x[i] >> x_shift & 0xffff, of_y = y[i] >> y_shift & 0xffff;
    x[i] = (x[i] & ~(0xffffu << x_shift)) | of_y << x_shift;
    y[i] = (y[i] & ~(0xffffu << y_shift)) | of_x << y_shift;
  }
  return inst + 1;
}

// A VGPR by M0; one past the file is v0, as hardware has it.
static void displace(const wave_t* w, operand_t* o, uint32_t add) {
  if (o->kind != OPERAND_VGPR) return;
  o->index = add < WAVE_ACCUMULATION && o->index + add < WAVE_ACCUMULATION ? o->index + add : 0;
  o->offset = (size_t)o->index * w->lanes;
}

static const inst_t* swap_relative(wave_t* w, const inst_t* inst) {
  operand_t x = inst->dst[0], y = inst->src[0];
  displace(w, &x, w->sgpr[SREG_M0] >> 16 & 1023);
  displace(w, &y, w->sgpr[SREG_M0] & 1023);
  return swap_registers(w, inst, w->vgpr + x.offset, w->vgpr + y.offset);
}

// v_movreld, v_movrels, v_movrelsd, v_movrelsd_2: the letters say which side M0 moves.
static const inst_t* move_relative(wave_t* w, const inst_t* inst) {
  const char* which = inst->row->name + strlen("v_movrel");
  uint32_t m0 = w->sgpr[SREG_M0];
  bool is_apart = strstr(which, "_2_") != NULL;
  inst_t copy = *inst;
  if (*which == 's') displace(w, &copy.src[0], is_apart ? m0 & 1023 : m0);
  if (*which == 'd' || which[1] == 'd') displace(w, &copy.dst[0], is_apart ? m0 >> 16 & 1023 : m0);
  v_mov_b32(w, &copy);
  return inst + 1;
}

static const inst_t* masked_quad_differences(wave_t* w, const inst_t* inst) {
  uint32_t a[2 * WAVE_MAX_LANES], b[WAVE_MAX_LANES], c[4 * WAVE_MAX_LANES];
  VECTOR(valu_read_raw)(w, &inst->src[0], 0, 2, a);
  VECTOR(valu_read_raw)(w, &inst->src[1], 1, 1, b);
  VECTOR(valu_read_raw)(w, &inst->src[2], 2, 4, c);
  for (uint32_t i = 0; i < w->lanes; ++i) {
    uint64_t bytes = a[i] | (uint64_t)a[WAVE_MAX_LANES + i] << 32;
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t* sum = &c[k * WAVE_MAX_LANES + i];
      uint64_t wide = (uint64_t)*sum + masked_differences((uint32_t)(bytes >> 8 * k), b[i]);
      *sum = inst->flags & INST_CLAMP && wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
    }
  }
  VECTOR(valu_store)(w, inst, 4, wave_exec(w), c);
  return inst + 1;
}

static const inst_row_t rows[] = {
#define INTEGER1(...) VALU_ROW1(__VA_ARGS__)
#define INTEGER2(...) VALU_ROW2(__VA_ARGS__)
#define INTEGER3(...) VALU_ROW3(__VA_ARGS__)
#define CLAMPED2(...) VALU_ROW2(__VA_ARGS__)
#define CLAMPED3(...) VALU_ROW3(__VA_ARGS__)
#define CARRY2(name, ...) INST_ROW(name, VALU, EXACT, name, 2, INST_B32, INST_MASK, INST_B32)
#define CARRY3(name, ...) INST_ROW(name, VALU, EXACT, name, 2, INST_B32, INST_MASK, INST_B32, INST_B32, INST_MASK)
#define WIDE_MAD(name, D, A, ...) \
  INST_ROW(name, VALU, EXACT, name, 2, VALU_TYPE_##D, INST_MASK, VALU_TYPE_##A, VALU_TYPE_##A, VALU_TYPE_##D)
#define ADDING(name, D, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D)
#define HAND(name, function, count, ...) INST_ROW(name, VALU, EXACT, function, count, __VA_ARGS__)
#define SAME(name, other, count, ...) INST_ROW(name, VALU, EXACT, other, count, __VA_ARGS__)
#include "isa/amd/valu_integer.def"
};
VECTOR_TABLE(valu_integer_table, rows);
