// Scalar ALU rows against the manuals' definitions (salu_cases.h, exact.h): edge values, SCC, EXEC, floats in each
// MODE, hardware registers, registers by index.
#define ROWS_TABLES(TABLE)
#define ROWS_SCALAR_TABLES(TABLE) TABLE(salu_table)
#include "exact.h"
#include "salu_cases.h"

enum { A_REGISTER = 20, B_REGISTER = 22, C_REGISTER = 24, D_REGISTER = 30 };

static uint64_t pick(uint64_t* state) {
  static const uint64_t edges[] = {0,          1,          2,
                                   31,         32,         63,
                                   64,         0x7f,       0x80,
                                   0xff,       0x7fff,     0x8000,
                                   0xffff,     0x7fffffff, 1u << 31,
                                   UINT32_MAX, 0x00100010, 0x00200000,
                                   0x00400000, 0x007f0005, 0x0020001f,
                                   0x00080038, 0xf0,       INT64_MAX,
                                   INT64_MIN,  UINT64_MAX, 0x80000000ffffffff};
  uint32_t random = rows_random(state);
  if (random % 2) return edges[random / 2 % (sizeof(edges) / sizeof(edges[0]))];
  return rows_random(state) | (uint64_t)rows_random(state) << 32;
}

static operand_t scalar(uint32_t index) { return (operand_t){.kind = OPERAND_SGPR, .index = index, .dwords = 2}; }

static void make(rows_t* r, const char* name, uint32_t sources) {
  rows_make(r, name, 2, 0, sources);
  r->inst.dst[0] = scalar(D_REGISTER);
  for (uint32_t k = 0; k < sources; ++k) r->inst.src[k] = scalar(A_REGISTER + 2 * k);
}

static void check_case(rows_t* r, const case_t* c) {
  uint64_t state = 3;
  for (int round = 0; round < 400; ++round) {
    make(r, c->name, c->sources);
    uint64_t a = pick(&state), b = round % 5 ? pick(&state) : a, d = pick(&state), s = rows_random(&state) & 1;
    wave_set_pair(&r->wave, A_REGISTER, a), wave_set_pair(&r->wave, B_REGISTER, b);
    wave_set_pair(&r->wave, D_REGISTER, d);
    r->wave.sgpr[SREG_SCC] = (uint32_t)s;
    // Bits of the encoding above the immediate do not count.
    if (c->is_immediate) r->inst.encoding[0] = (uint32_t)b | 0xb0000000, b &= 0xffff;
    if (!c->is_immediate && round % 7 == 1) r->inst.src[0] = (operand_t){.kind = OPERAND_CONSTANT, .value = a};
    if (c->from == 32) a = (uint32_t)a, b = (uint32_t)b;
    if (c->to == 32) d = (uint32_t)d;
    rows_run(r);
    uint64_t want = c->to ? (uint64_t)c->value(a, b, d, s) : d, got = wave_pair(&r->wave, D_REGISTER);
    if (c->to == 32) want = (uint32_t)want, got = (uint32_t)got;
    bool scc = c->scc(a, b, d, s, want);
    if (got != want || r->wave.sgpr[SREG_SCC] != scc) {
      rows_tell(r, "%llx %llx, before %llx, SCC %llu: gives %llx and SCC %u, not %llx and %u", (unsigned long long)a,
                (unsigned long long)b, (unsigned long long)d, (unsigned long long)s, (unsigned long long)got,
                r->wave.sgpr[SREG_SCC], (unsigned long long)want, scc);
    }
  }
}

static void test_integers(void** unused) {
  rows_t r;
  rows_open(&r, 64, 11, 0, 0);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) check_case(&r, &cases[i]);
  rows_close(&r);
  rows_finish();
}

static void test_masks(void** unused) {
  rows_t r;
  rows_open(&r, 64, 11, 0, 0);
  uint64_t state = 5;
  for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]) * 64; ++i) {
    const mask_t* m = &masks[i / 64];
    uint64_t a = pick(&state), e = i % 4 ? pick(&state) : i % 8 ? a : ~a;
    make(&r, m->name, 1);
    wave_set_pair(&r.wave, A_REGISTER, a), wave_set_pair(&r.wave, SREG_EXEC, e);
    wave_set_pair(&r.wave, D_REGISTER, 0);
    rows_run(&r);
    uint64_t kept = m->bits == 32 ? e >> 32 << 32 : 0, limit = m->bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t want = m->value(a, e) & limit, saved = m->saves ? e & limit : want;
    bool is_right = wave_pair(&r.wave, SREG_EXEC) == (want | kept) && r.wave.sgpr[SREG_SCC] == (want != 0);
    if (!is_right || wave_pair(&r.wave, D_REGISTER) != saved) {
      rows_tell(&r, "%llx, EXEC %llx: EXEC %llx, SCC %u, destination %llx", (unsigned long long)a,
                (unsigned long long)e, (unsigned long long)wave_pair(&r.wave, SREG_EXEC), r.wave.sgpr[SREG_SCC],
                (unsigned long long)wave_pair(&r.wave, D_REGISTER));
    }
  }
  rows_close(&r);
  rows_finish();
}

static uint32_t pick_float(const exact_format_t* f, uint64_t* state) {
  return exact_pick(f, rows_random(state), rows_random(state));
}

typedef struct float_case_t {
  const char* stem;
  uint32_t sources;
  char kind;
} float_case_t;
static const float_case_t float_cases[] = {
    {"add", 2, '+'},     {"sub", 2, '-'},     {"mul", 2, '*'},     {"fmac", 2, 'f'},
    {"fmaak", 3, 'a'},   {"fmamk", 3, 'a'},   {"min", 2, '<'},     {"max", 2, '>'},
    {"min_num", 2, '<'}, {"max_num", 2, '>'}, {"minimum", 2, 'm'}, {"maximum", 2, 'M'},
    {"trunc", 1, 't'},   {"ceil", 1, 'c'},    {"floor", 1, 'l'},   {"rndne", 1, 'r'}};

static uint64_t extreme(const exact_format_t* f, uint64_t a, uint64_t b, bool most, bool nan_wins) {
  if (exact_is_nan(f, a)) return nan_wins ? a : b;
  if (exact_is_nan(f, b)) return nan_wins ? b : a;
  int64_t sign = (int64_t)exact_sign(f), x = (int64_t)a & (sign - 1), y = (int64_t)b & (sign - 1);
  if (a & (uint64_t)sign) x = -x - 1;
  if (b & (uint64_t)sign) y = -y - 1;
  return (x < y) != most ? a : b;
}

static uint64_t float_result(const exact_format_t* f, exact_mode_t m, char kind, const uint64_t* in, uint64_t d) {
  exact_t a = exact_of(f, in[0]), b = exact_of(f, in[1]);
  switch (kind) {
    case '+':
      return exact_round(f, m.round, exact_add(a, b, m.round));
    case '-':
      return exact_round(f, m.round, exact_add(a, exact_negate(b), m.round));
    case '*':
      return exact_round(f, m.round, exact_multiply(a, b));
    case 'f':
    case 'a':
      return exact_round(f, m.round, exact_add(exact_multiply(a, b), exact_of(f, kind == 'f' ? d : in[2]), m.round));
    case '<':
    case '>':
      return extreme(f, in[0], in[1], kind == '>', false);
    case 'm':
    case 'M':
      return extreme(f, in[0], in[1], kind == 'M', true);
    default:
      return exact_round(f, 0, exact_whole(a, kind == 'c' ? 1 : kind == 'l' ? 2 : kind == 't' ? 3 : 0));
  }
}

static void check_float(rows_t* r, const float_case_t* c, const exact_format_t* f, uint64_t* state) {
  char name[40];
  snprintf(name, sizeof(name), "s_%s_f%d", c->stem, f->bits);
  exact_mode_t m = exact_mode(f, r->wave.mode);
  for (int round = 0; round < 60; ++round) {
    make(r, name, c->sources);
    uint64_t in[3], d = pick_float(f, state);
    for (uint32_t k = 0; k < 3; ++k) {
      in[k] = pick_float(f, state);
      r->wave.sgpr[A_REGISTER + 2 * k] = (uint32_t)in[k] | (f->bits == 16 ? 0x5a5a0000 : 0);
      in[k] = exact_in(f, m, in[k]);
    }
    r->wave.sgpr[D_REGISTER] = (uint32_t)d;
    rows_run(r);
    uint64_t got = r->wave.sgpr[D_REGISTER], want = float_result(f, m, c->kind, in, exact_in(f, m, d));
    bool is_right = got == exact_out(f, m, want) || (exact_is_nan(f, want) && exact_is_nan(f, got));
    // Rounded up to the least normal number, and minima without arithmetic, may stay or become zero.
    uint64_t size = want & ~exact_sign(f);
    if (!m.keeps_out && size <= exact_least(f)) is_right |= (got & ~exact_sign(f)) == 0 || strchr("<>mM", c->kind);
    if (!m.keeps_in && strchr("<>mM", c->kind)) is_right |= exact_is_denormal(f, got);
    if (!is_right) {
      rows_tell(r, "%llx %llx %llx, before %llx, gives %llx, not %llx", (unsigned long long)in[0],
                (unsigned long long)in[1], (unsigned long long)in[2], (unsigned long long)d, (unsigned long long)got,
                (unsigned long long)want);
    }
  }
}

// Which of less (1), equal (2), greater (4) and unordered (8) a predicate is true for.
static void check_compare(rows_t* r, const char* predicate, uint32_t holds, const exact_format_t* f, uint64_t* state) {
  char name[40];
  snprintf(name, sizeof(name), "s_cmp_%s_f%d", predicate, f->bits);
  exact_mode_t m = exact_mode(f, r->wave.mode);
  for (int round = 0; round < 60; ++round) {
    make(r, name, 2);
    uint64_t a = pick_float(f, state), b = round % 3 ? pick_float(f, state) : a;
    r->wave.sgpr[A_REGISTER] = (uint32_t)a, r->wave.sgpr[B_REGISTER] = (uint32_t)b;
    exact_t x = exact_of(f, exact_in(f, m, a)), y = exact_of(f, exact_in(f, m, b));
    uint32_t order = 8;
    if (x.kind != EXACT_NAN && y.kind != EXACT_NAN) {
      bool are_infinite = x.kind == EXACT_INFINITE && y.kind == EXACT_INFINITE && x.negative == y.negative;
      exact_t difference = exact_add(x, exact_negate(y), 0);
      order = are_infinite || difference.kind == EXACT_ZERO ? 2 : difference.negative ? 1 : 4;
    }
    rows_run(r);
    if (r->wave.sgpr[SREG_SCC] != ((holds & order) != 0)) {
      rows_tell(r, "%llx %llx gives %u", (unsigned long long)a, (unsigned long long)b, r->wave.sgpr[SREG_SCC]);
    }
  }
}

static void test_floats(void** unused) {
  static const struct {
    const char* name;
    uint32_t holds;
  } predicates[] = {{"lt", 1}, {"eq", 2},  {"le", 3},   {"gt", 4},   {"lg", 5},   {"ge", 6},   {"o", 7},
                    {"u", 8},  {"nge", 9}, {"nlg", 10}, {"ngt", 11}, {"nle", 12}, {"neq", 13}, {"nlt", 14}};
  rows_t r;
  rows_open(&r, 32, 12, 0, 1);
  uint64_t state = 9;
  for (uint32_t mode = 0; mode < 16; ++mode) {
    rows_set_mode(&r, 0x300 | (mode / 4) * 0x50 | (mode % 4) * 5);
    for (int is_half = 0; is_half < 2; ++is_half) {
      const exact_format_t* f = is_half ? &EXACT_F16 : &EXACT_F32;
      for (size_t i = 0; i < sizeof(float_cases) / sizeof(float_cases[0]); ++i) {
        if (!is_half || float_cases[i].kind != 'a') check_float(&r, &float_cases[i], f, &state);
      }
      for (size_t i = 0; i < sizeof(predicates) / sizeof(predicates[0]); ++i) {
        check_compare(&r, predicates[i].name, predicates[i].holds, f, &state);
      }
    }
  }
  rows_close(&r);
  rows_finish();
}

// Conversions: kind of the source and of the result; i and u are integers.
static void test_conversions(void** unused) {
  static const struct {
    const char* name;
    char from, to;
  } list[] = {{"s_cvt_f32_i32", 'i', 's'}, {"s_cvt_f32_u32", 'u', 's'},       {"s_cvt_i32_f32", 's', 'i'},
              {"s_cvt_u32_f32", 's', 'u'}, {"s_cvt_f32_f16", 'h', 's'},       {"s_cvt_hi_f32_f16", 'H', 's'},
              {"s_cvt_f16_f32", 's', 'h'}, {"s_cvt_pk_rtz_f16_f32", 's', 'p'}};
  rows_t r;
  rows_open(&r, 32, 12, 0, 1);
  uint64_t state = 11;
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) * 2048; ++i) {
    uint32_t mode = (uint32_t)i % 16;
    rows_set_mode(&r, 0x300 | (mode / 4) * 0x50 | (mode % 4) * 5);
    char from = list[i / 2048].from, to = list[i / 2048].to;
    bool is_integer = from == 'i' || from == 'u', is_half = from == 'h' || from == 'H';
    const exact_format_t *f = is_half ? &EXACT_F16 : &EXACT_F32, *g = to == 's' ? &EXACT_F32 : &EXACT_F16;
    exact_mode_t m = exact_mode(f, r.wave.mode), n = exact_mode(g, r.wave.mode);
    uint32_t in[2], want = 0;
    make(&r, list[i / 2048].name, to == 'p' ? 2 : 1);
    for (uint32_t k = 0; k < 2; ++k) {
      in[k] = is_integer ? (uint32_t)pick(&state) : pick_float(f, &state);
      if (to == 'i' || to == 'u') in[k] = i % 3 ? (in[k] & 0x807fffff) | (120 + (in[k] >> 23) % 44) << 23 : in[k];
      if (g == &EXACT_F16 && i % 2) in[k] = (in[k] & 0x807fffff) | (100 + (in[k] >> 23) % 45) << 23;
      r.wave.sgpr[A_REGISTER + 2 * k] = from == 'H' ? in[k] << 16 | 0x1234 : in[k];
      // Toward zero has its own rounding, and f16 denormals stay.
      int round = to == 'p' ? 3 : n.round;
      exact_t x = from == 'i'   ? exact_integer((int32_t)in[k])
                  : from == 'u' ? exact_integer(in[k])
                                : exact_of(f, to == 'p' ? in[k] : exact_in(f, m, in[k]));
      uint32_t result = (uint32_t)exact_round(g, round, x);
      if (to != 'p') result = (uint32_t)exact_out(g, n, result);
      if (to == 'i' || to == 'u') {
        exact_t whole = exact_whole(x, 3);
        bool is_large = whole.kind == EXACT_INFINITE || (whole.kind == EXACT_NUMBER && whole.exponent > 40);
        wide_t value = is_large                     ? (wide_t)1 << 40
                       : whole.kind == EXACT_NUMBER ? (wide_t)(whole.fraction << whole.exponent)
                                                    : 0;
        wide_t low = to == 'i' ? INT32_MIN : 0, high = to == 'i' ? INT32_MAX : UINT32_MAX;
        if (whole.negative) value = -value;
        result = (uint32_t)(value < low ? low : value > high ? high : value);
      }
      want |= k ? (to == 'p' ? result << 16 : 0) : result;
    }
    rows_run(&r);
    uint32_t got = r.wave.sgpr[D_REGISTER];
    bool is_nan = (to == 's' || to == 'h') && exact_is_nan(g, want);
    bool is_right = got == want || (is_nan && exact_is_nan(g, got)) ||
                    (to == 'p' && (exact_is_nan(f, in[0]) || exact_is_nan(f, in[1])));
    // Where hardware looks for what is tiny.
    if (!n.keeps_out && to == 'h' && (want & 0x7fff) == 0x0400) is_right = true;
    if (!is_right) rows_tell(&r, "%x %x gives %x, not %x", in[0], in[1], got, want);
  }
  rows_close(&r);
  rows_finish();
}

// Registers of the hardware: MODE is read and written by fields.
static void test_hardware_registers(void** unused) {
  rows_t r;
  group_t group = {.lds_size = 1000};
  rows_open(&r, 32, 11, 0, 0);
  r.wave.group = &group;
  uint64_t state = 13;
  wave_set_mode(&r.wave, 0);
  for (int round = 0; round < 200; ++round) {
    uint32_t offset = rows_random(&state) % 32, size = 1 + rows_random(&state) % (32 - offset);
    uint32_t field = (uint32_t)ones(size) << offset, value = rows_random(&state), before = r.wave.mode;
    // Number 1, offset from bit 6, size - 1 from bit 11.
    uint32_t immediate = 1 | offset << 6 | (size - 1) << 11;
    make(&r, round % 2 ? "s_setreg_b32" : "s_setreg_imm32_b32", 2);
    r.inst.destination_count = 0;
    r.inst.encoding[0] = immediate;
    r.inst.src[1] = (operand_t){.kind = OPERAND_CONSTANT, .value = value};
    rows_run(&r);
    assert_int_equal(r.wave.mode, (before & ~field) | (value << offset & field));
    make(&r, "s_getreg_b32", 1);
    r.inst.encoding[0] = immediate;
    rows_run(&r);
    assert_int_equal(r.wave.sgpr[D_REGISTER], value & (uint32_t)ones(size));
    // Rounding in bits 3:0, denormals in 7:4.
    before = r.wave.mode;
    make(&r, round % 2 ? "s_round_mode" : "s_denorm_mode", 1);
    r.inst.encoding[0] = value & 0xffff;
    rows_run(&r);
    assert_int_equal(r.wave.mode, round % 2 ? (before & ~15u) | (value & 15) : (before & ~0xf0u) | (value & 15) << 4);
  }
  make(&r, "s_alloc_vgpr", 1);
  rows_run(&r);
  rows_close(&r);
}

// The bit of the first source that the second names; the wave's turn ends where it changes something.
static void test_skip(void** unused) {
  rows_t r;
  rows_open(&r, 64, 9, 0, 10);
  wave_set_mode(&r.wave, 0x3f0);
  for (uint32_t bit = 0; bit < 40; ++bit) {
    for (uint32_t value = 0; value < 2; ++value) {
      uint32_t before = r.wave.mode, want = value ? WAVE_MODE_VSKIP : 0;
      make(&r, "s_setvskip", 2);
      r.inst.destination_count = 0;
      r.wave.sgpr[A_REGISTER] = value ? 1u << (bit & 31) : ~(1u << (bit & 31));
      r.inst.src[1] = (operand_t){.kind = OPERAND_CONSTANT, .value = bit};
      const inst_t* next = r.inst.run(&r.wave, &r.inst);
      assert_int_equal(r.wave.mode, 0x3f0 | want);
      assert_ptr_equal(next, r.wave.mode == before ? &r.inst + 1 : NULL);
      assert_ptr_equal(r.wave.pc, &r.inst + 1);
    }
  }
  rows_close(&r);
}

// Registers named by M0, and gfx9's modes of indices.
static void test_indices(void** unused) {
  rows_t r;
  rows_open(&r, 64, 11, 0, 0);
  static const struct {
    const char* name;
    uint32_t from, to, dwords, m0;
  } list[] = {{"s_movrels_b32", 4, 0, 1, 4},
              {"s_movrels_b64", 4, 0, 2, 4},
              {"s_movreld_b32", 0, 4, 1, 4},
              {"s_movreld_b64", 0, 4, 2, 4},
              {"s_movrelsd_2_b32", 4, 6, 1, 6u << 16 | 4}};
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
    for (uint32_t k = 0; k < 100; ++k) r.wave.sgpr[k] = 1000 + k;
    make(&r, list[i].name, 1);
    r.wave.sgpr[SREG_M0] = list[i].m0;
    rows_run(&r);
    uint32_t to = D_REGISTER + list[i].to;
    for (uint32_t k = 0; k < 100; ++k) {
      bool is_moved = k >= to && k < to + list[i].dwords;
      assert_int_equal(r.wave.sgpr[k], 1000 + (is_moved ? A_REGISTER + list[i].from + k - to : k));
    }
  }
  // The index in M0[7:0], the operands that it moves in M0[15:12]; both hold while the mode is on.
  r.wave.sgpr[SREG_M0] = 0x12345678;
  static const struct {
    const char* name;
    uint32_t source, encoding, m0, index;
  } modes[] = {
      {"s_set_gpr_idx_idx", 0x155, 0, 0x12345655, 0},      {"s_set_gpr_idx_on", 0x107, 0x900, 0x12349607, 0x9007},
      {"s_set_gpr_idx_idx", 0x122, 0, 0x12349622, 0x9022}, {"s_set_gpr_idx_mode", 0, 3, 0x12343622, 0x3022},
      {"s_set_gpr_idx_off", 0, 0, 0x12343622, 0},          {"s_set_gpr_idx_mode", 0, 5, 0x12345622, 0}};
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    make(&r, modes[i].name, 1);
    r.wave.sgpr[A_REGISTER] = modes[i].source;
    r.inst.encoding[0] = modes[i].encoding;
    rows_run(&r);
    assert_int_equal(r.wave.sgpr[SREG_M0], modes[i].m0);
    assert_int_equal(r.wave.gpr_index, modes[i].index);
  }
  rows_close(&r);
}

static void test_all_rows_seen(void** unused) { rows_expect_all(NULL); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers), cmocka_unit_test(test_masks),
      cmocka_unit_test(test_floats),   cmocka_unit_test(test_conversions),
      cmocka_unit_test(test_indices),  cmocka_unit_test(test_hardware_registers),
      cmocka_unit_test(test_skip),     cmocka_unit_test(test_all_rows_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
