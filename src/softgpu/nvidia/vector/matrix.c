// mma.sync: fragments of the lanes become matrices, these are multiplied, and the result goes back. Products of floats
// are summed in f32 (f64 for f64) in the order of k, with fused multiply-adds; the hardware's own order is not
// documented. Source: PTX ISA, "Matrix Fragments for mma.m8n8k4 ..." and their kin.
#include "softgpu/nvidia/small.h"
#include "softgpu/nvidia/vector/rows.h"

enum { MATRIX_MOST = 16 * 256 };

typedef struct shape_t {
  u32 m, n, k;
} shape_t;

// Bits of an element as a matrix instruction has it.
static u32 element_bits(u32 type) {
  return type == PTX_TYPE_b1                          ? 1
         : type == PTX_TYPE_u4 || type == PTX_TYPE_s4 ? 4
                                                      : 8u * ptx_type_info((ptx_type_t)type)->bytes;
}

// Row and column of element `at` of lane `lane` in a fragment of A (rows of 8 lanes' groups of 4).
static void place_a(const shape_t* s, u32 bits, u32 lane, u32 at, u32* row, u32* column) {
  u32 group = lane >> 2, thread = lane & 3, per = bits == 64 ? 1 : 32 / bits;
  u32 reg = at / per, in = at % per;
  // Registers go through the rows first (m16), then through halves of k.
  u32 row_halves = s->m / 8, half = reg % row_halves, part = reg / row_halves;
  *row = group + 8 * half;
  *column = (thread * per + in) + part * 4 * per;
}
static void place_b(u32 bits, u32 lane, u32 at, u32* row, u32* column) {
  u32 group = lane >> 2, thread = lane & 3, per = bits == 64 ? 1 : 32 / bits;
  *row = thread * per + at % per + at / per * 4 * per;
  *column = group;
}
static void place_c(u32 lane, u32 at, u32* row, u32* column) {
  *row = (lane >> 2) + 8 * (at / 2);
  *column = (lane & 3) * 2 + at % 2;
}

// Element `at` of the registers from `list` on, as an integer or the bits of a float.
static u64 fragment_get(const warp_t* w, const operand_t* list, u32 bits, u32 lane, u32 at) {
  if (bits == 64) return ((const u64*)warp_at(w, &list[at]))[lane];
  u32 per = 32 / bits, word = ((const u32*)warp_at(w, &list[at / per]))[lane];
  return bits == 32 ? word : word >> bits * (at % per) & ((1u << bits) - 1);
}

static f64 element_value(u32 type, u64 bits) {
  f64 wide;
  switch (type) {
    case PTX_TYPE_f16:
      return small_from_f16((u16)bits);
    case PTX_TYPE_bf16:
      return small_from_bf16((u16)bits);
    case PTX_TYPE_tf32:  // the lowest bits are not looked at
      return from_bits((u32)bits & ~0x1fffu);
    case PTX_TYPE_f32:
      return from_bits((u32)bits);
    case PTX_TYPE_e4m3:
      return small_from_f8((u8)bits, 3);
    case PTX_TYPE_e5m2:
      return small_from_f8((u8)bits, 2);
    case PTX_TYPE_s8:
      return (s8)bits;
    case PTX_TYPE_s4:
      return (s8)(bits << 4) >> 4;
    case PTX_TYPE_s32:
      return (s32)bits;
    case PTX_TYPE_f64:
      memcpy(&wide, &bits, 8);
      return wide;
    default:
      return (f64)bits;
  }
}

typedef struct product_t {
  f64 a[MATRIX_MOST], b[MATRIX_MOST];  // [m][k], [n][k]
  f64 c[16 * 8];
} product_t;

static void multiply_floats(const shape_t* s, product_t* p, bool is_double) {
  for (u32 i = 0; i < s->m; ++i) {
    for (u32 j = 0; j < s->n; ++j) {
      const f64 *a = p->a + i * s->k, *b = p->b + j * s->k;
      f64 sum = p->c[i * s->n + j];
      for (u32 k = 0; k < s->k; ++k) {
        sum = is_double ? __builtin_fma(a[k], b[k], sum) : (f64)__builtin_fmaf((f32)a[k], (f32)b[k], (f32)sum);
      }
      p->c[i * s->n + j] = sum;
    }
  }
}

static void multiply_integers(const shape_t* s, product_t* p, const inst_t* inst) {
  u32 operation = inst->modifiers.value[PTX_GROUP_OPERATION];
  for (u32 i = 0; i < s->m; ++i) {
    for (u32 j = 0; j < s->n; ++j) {
      const f64 *a = p->a + i * s->k, *b = p->b + j * s->k;
      s64 sum = (s64)p->c[i * s->n + j];
      for (u32 k = 0; k < s->k; ++k) {
        s64 x = (s64)a[k], y = (s64)b[k];
        sum += operation == PTX_XOR ? x ^ y : x * y;
      }
      if (inst->flags & PTX_SATFINITE) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      p->c[i * s->n + j] = (s32)sum;
    }
  }
}

// What the lanes hold of m8n8k4 of f16, which four quads of 8 lanes do each by themselves.
static void place_quad(u32 at, u32 lane, bool is_row, u32* outer, u32* k) {
  u32 in = lane & 3, upper = lane >> 4 & 1;
  *outer = is_row ? in + 4 * upper : at + 4 * upper;
  *k = is_row ? at : in;
}
static void place_quad_c(u32 type, u32 lane, u32 at, u32* row, u32* column) {
  u32 upper = lane >> 4 & 1;
  if (type == PTX_TYPE_f16) {
    *row = (lane & 3) + 4 * upper, *column = at;
  } else {
    *row = (lane & 1) + (at & 2) + 4 * upper;
    *column = (at & 4) + (lane & 2) + (at & 1);
  }
}

static void put_result(warp_t* w, const inst_t* inst, u32 type, u32 lane, u32 at, f64 value) {
  const operand_t* d = &inst->list[type == PTX_TYPE_f16 ? at / 2 : at];
  if (type == PTX_TYPE_f64) {
    ((f64*)warp_at(w, d))[lane] = value;
  } else if (type == PTX_TYPE_f32) {
    ((f32*)warp_at(w, d))[lane] = canonical((f32)value);
  } else if (type == PTX_TYPE_f16) {
    ((u16*)warp_at(w, d))[2 * lane + at % 2] = small_to_f16((f32)value);
  } else {
    ((s32*)warp_at(w, d))[lane] = (s32)value;
  }
}

// list: D, A, B, C; inst->op is not used. element: registers of A; count: of B; written: of D.
typedef struct matrix_t {
  shape_t shape;
  u32 d_type, a_type, b_type, c_type;
  u32 d, a, b, c;  // registers
} matrix_t;

static u32 elements_of(u32 registers, u32 bits) { return bits == 64 ? registers : registers * (32 / bits); }

static const inst_t* run_quads(warp_t* w, const inst_t* inst, const matrix_t* m) {
  const operand_t *a = inst->list + m->d, *b = a + m->a, *c = b + m->b;
  static const shape_t shape = {8, 8, 4};
  bool a_row = inst->modifiers.layouts[0] == PTX_ROW, b_row = inst->modifiers.layouts[1] == PTX_ROW;
  product_t p[4];
  u32 outer, k, row, column;
  for (u32 lane = 0; lane < WARP_LANES; ++lane) {
    product_t* quad = &p[lane >> 2 & 3];
    for (u32 at = 0; at < 4; ++at) {
      place_quad(at, lane, a_row, &outer, &k);
      quad->a[outer * 4 + k] = element_value(m->a_type, fragment_get(w, a, 16, lane, at));
      place_quad(at, lane, !b_row, &outer, &k);
      quad->b[outer * 4 + k] = element_value(m->b_type, fragment_get(w, b, 16, lane, at));
    }
    for (u32 at = 0; at < 8; ++at) {
      place_quad_c(m->c_type, lane, at, &row, &column);
      quad->c[row * 8 + column] = element_value(m->c_type, fragment_get(w, c, element_bits(m->c_type), lane, at));
    }
  }
  for (u32 q = 0; q < 4; ++q) multiply_floats(&shape, &p[q], false);
  for (u32 lane = 0; lane < WARP_LANES; ++lane) {
    for (u32 at = 0; at < 8; ++at) {
      place_quad_c(m->d_type, lane, at, &row, &column);
      put_result(w, inst, m->d_type, lane, at, p[lane >> 2 & 3].c[row * 8 + column]);
    }
  }
  return inst + 1;
}

static const inst_t* run_mma(warp_t* w, const inst_t* inst) {
  const matrix_t* m = inst->extra;
  if (!warp_gather(w, inst, w->begun)) return NULL;
  if (w->exec != UINT32_MAX) {
    return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "not all lanes of the warp execute it");
  }
  if (m->shape.k == 4 && m->shape.m == 8 && m->a_type == PTX_TYPE_f16) return run_quads(w, inst, m);
  const shape_t* s = &m->shape;
  const operand_t *a = inst->list + m->d, *b = a + m->a, *c = b + m->b;
  product_t p;
  u32 row, column, a_bits = element_bits(m->a_type), b_bits = element_bits(m->b_type), c_bits = element_bits(m->c_type);
  for (u32 lane = 0; lane < WARP_LANES; ++lane) {
    for (u32 at = 0; at < elements_of(m->a, a_bits); ++at) {
      place_a(s, a_bits, lane, at, &row, &column);
      p.a[row * s->k + column] = element_value(m->a_type, fragment_get(w, a, a_bits, lane, at));
    }
    for (u32 at = 0; at < elements_of(m->b, b_bits); ++at) {
      place_b(b_bits, lane, at, &row, &column);
      p.b[column * s->k + row] = element_value(m->b_type, fragment_get(w, b, b_bits, lane, at));
    }
    for (u32 at = 0; at < s->m * s->n / WARP_LANES; ++at) {
      place_c(lane, at, &row, &column);
      p.c[row * s->n + column] = element_value(m->c_type, fragment_get(w, c, c_bits, lane, at));
    }
  }
  if (m->d_type == PTX_TYPE_s32) {
    multiply_integers(s, &p, inst);
  } else {
    multiply_floats(s, &p, m->d_type == PTX_TYPE_f64);
  }
  for (u32 lane = 0; lane < WARP_LANES; ++lane) {
    for (u32 at = 0; at < s->m * s->n / WARP_LANES; ++at) {
      place_c(lane, at, &row, &column);
      put_result(w, inst, m->d_type, lane, at, p.c[row * s->n + column]);
    }
  }
  return inst + 1;
}

static bool bind_fragment(decoder_t* d, const arg_t* arg, u32 type, u32 count, bool is_read, operand_t* out) {
  ptx_type_t reg = element_bits(type) == 64 ? PTX_TYPE_b64 : PTX_TYPE_b32;
  const arg_t* list = arg->kind == ARG_LIST ? arg->list : arg;
  u32 given = arg->kind == ARG_LIST ? arg->count : 1;
  if (given != count) return decode_fail(d, "a fragment of %u registers, not %u", given, count);
  for (u32 k = 0; k < count; ++k) {
    if (is_read ? !decode_read(d, &list[k], reg, &out[k]) : !decode_write(d, &list[k], reg, &out[k])) return false;
  }
  return true;
}

static u32 registers_of(u32 elements, u32 type) {
  u32 bits = element_bits(type);
  return bits == 64 ? elements / WARP_LANES : elements * bits / 32 / WARP_LANES;
}

// Which results go with which factors.
static bool types_fit(const matrix_t* m) {
  switch (m->a_type) {
    case PTX_TYPE_f64:
      return m->b_type == PTX_TYPE_f64 && m->d_type == PTX_TYPE_f64 && m->c_type == PTX_TYPE_f64;
    case PTX_TYPE_u8:
    case PTX_TYPE_s8:
    case PTX_TYPE_u4:
    case PTX_TYPE_s4:
    case PTX_TYPE_b1:
      return element_bits(m->a_type) == element_bits(m->b_type) && m->d_type == PTX_TYPE_s32 &&
             m->c_type == PTX_TYPE_s32;
    case PTX_TYPE_f16:
    case PTX_TYPE_e4m3:
    case PTX_TYPE_e5m2:
      return element_bits(m->a_type) == element_bits(m->b_type) &&
             (m->d_type == PTX_TYPE_f32 || m->d_type == PTX_TYPE_f16) &&
             (m->c_type == PTX_TYPE_f32 || m->c_type == PTX_TYPE_f16);
    case PTX_TYPE_bf16:
    case PTX_TYPE_tf32:
      return m->b_type == m->a_type && m->d_type == PTX_TYPE_f32 && m->c_type == PTX_TYPE_f32;
    default:
      return false;
  }
}

// mma.sync.aligned.shape.alayout.blayout{.satfinite}.dtype.atype.btype.ctype d, a, b, c
static bool bind_mma(decoder_t* d, inst_t* inst) {
  const ptx_modifiers_t* mods = &inst->modifiers;
  u32 shape = mods->value[PTX_GROUP_SHAPE];
  matrix_t* m = ARENA_NEW(d->p->arena, matrix_t);
  m->shape = (shape_t){shape >> 20, shape >> 10 & 1023, shape & 1023};
  if (mods->type_count != 4 || !shape || mods->layout_count != 2)
    return decode_fail(d, "a shape, layouts and four types expected");
  m->d_type = mods->types[0], m->a_type = mods->types[1], m->b_type = mods->types[2], m->c_type = mods->types[3];
  if (!types_fit(m)) return decode_fail(d, "these types do not go together");
  bool is_quads = m->shape.m == 8 && m->shape.k == 4 && m->a_type == PTX_TYPE_f16;
  if (!is_quads && (mods->layouts[0] != PTX_ROW || mods->layouts[1] != PTX_COLUMN)) {
    return decode_fail(d, "layouts .row.col expected");
  }
  u32 size = m->shape.m * m->shape.k;
  m->a = is_quads ? 2 : registers_of(size, m->a_type);
  m->b = is_quads ? 2 : registers_of(m->shape.n * m->shape.k, m->b_type);
  m->c = is_quads ? (m->c_type == PTX_TYPE_f16 ? 4 : 8) : registers_of(m->shape.m * m->shape.n, m->c_type);
  m->d = is_quads ? (m->d_type == PTX_TYPE_f16 ? 4 : 8) : registers_of(m->shape.m * m->shape.n, m->d_type);
  if (!m->a || !m->b || !m->c || !m->d || size > MATRIX_MOST || m->shape.m > 16 || m->shape.n > 8) {
    return decode_fail(d, "this shape is not known for these types");
  }
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, m->a + m->b + m->c + m->d);
  inst->list = list, inst->list_count = m->a + m->b + m->c + m->d, inst->extra = m;
  inst->list_written = (u8)m->d;
  return decode_count(d, 4, 4) && bind_fragment(d, decode_arg(d, 0), m->d_type, m->d, false, list) &&
         bind_fragment(d, decode_arg(d, 1), m->a_type, m->a, true, list + m->d) &&
         bind_fragment(d, decode_arg(d, 2), m->b_type, m->b, true, list + m->d + m->a) &&
         bind_fragment(d, decode_arg(d, 3), m->c_type, m->c, true, list + m->d + m->a + m->b);
}

static const row_t rows[] = {
    {"mma.sync", "aligned @shape @layout @type satfinite xor and popc", bind_mma, run_mma, {0}, 0},
};
LEVEL_TABLE(warp_matrix_table, rows);
