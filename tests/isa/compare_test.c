// Comparisons, each row: predicates by three-way order of exact values, NaN, signed zeros, denormals in every MODE;
// v_cmpx and its destinations; number classes.
#define ROWS_TABLES(TABLE) TABLE(valu_compare_table)
#include "exact.h"
#include "rows.h"

// Which of less, equal, greater and unordered a predicate is true for.
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
typedef struct predicate_t {
  const char* name;
  uint32_t holds;
} predicate_t;
static const predicate_t integer_predicates[] = {
    {"f", 0},        {"lt", LESS},           {"eq", EQUAL},           {"le", LESS | EQUAL},
    {"gt", GREATER}, {"ne", LESS | GREATER}, {"ge", EQUAL | GREATER}, {"t", LESS | EQUAL | GREATER}};
static const predicate_t float_predicates[] = {{"f", 0},
                                               {"lt", LESS},
                                               {"eq", EQUAL},
                                               {"le", LESS | EQUAL},
                                               {"gt", GREATER},
                                               {"lg", LESS | GREATER},
                                               {"ge", EQUAL | GREATER},
                                               {"o", LESS | EQUAL | GREATER},
                                               {"u", UNORDERED},
                                               {"nge", LESS | UNORDERED},
                                               {"nlg", EQUAL | UNORDERED},
                                               {"ngt", LESS | EQUAL | UNORDERED},
                                               {"nle", GREATER | UNORDERED},
                                               {"neq", LESS | GREATER | UNORDERED},
                                               {"nlt", EQUAL | GREATER | UNORDERED},
                                               {"tru", LESS | EQUAL | GREATER | UNORDERED},
                                               {"t", LESS | EQUAL | GREATER | UNORDERED}};

typedef struct kind_t {
  const char* name;
  uint32_t bits;
  bool is_signed;
  const exact_format_t* format;  // NULL for integers
} kind_t;
static const kind_t kinds[] = {
    {"i16", 16, true, NULL},       {"u16", 16, false, NULL},      {"i32", 32, true, NULL},
    {"u32", 32, false, NULL},      {"i64", 64, true, NULL},       {"u64", 64, false, NULL},
    {"f16", 16, true, &EXACT_F16}, {"f32", 32, true, &EXACT_F32}, {"f64", 64, true, &EXACT_F64}};

static uint64_t pick(const kind_t* t, uint64_t* state) {
  uint32_t random = rows_random(state), which = random / 4 % 12;
  uint64_t any = rows_random(state) | (uint64_t)rows_random(state) << 32, sign = UINT64_C(1) << (t->bits - 1);
  uint64_t limit = sign | (sign - 1);
  if (random % 4 == 0) return any & limit;
  if (!t->format) return ((const uint64_t[]){0, 1, sign, sign - 1, limit, limit - 1, 2, sign + 1}[which % 8]) & limit;
  uint64_t infinity = exact_infinity(t->format), one = (uint64_t)t->format->bias << t->format->fraction;
  const uint64_t list[] = {0,
                           1,
                           exact_least(t->format) - 1,
                           exact_least(t->format),
                           one,
                           one + 1,
                           infinity - 1,
                           infinity,
                           infinity | exact_quiet(t->format),
                           infinity | 1,
                           any % exact_least(t->format),
                           infinity | exact_quiet(t->format) | 5};
  return list[which] | (random & 2 ? sign : 0);
}

static uint32_t order(const kind_t* t, uint32_t mode, uint64_t a, uint64_t b) {
  if (!t->format) {
    uint64_t flip = t->is_signed ? UINT64_C(1) << (t->bits - 1) : 0;
    a ^= flip, b ^= flip;
    return a < b ? LESS : a > b ? GREATER : EQUAL;
  }
  exact_mode_t m = exact_mode(t->format, mode);
  exact_t x = exact_of(t->format, exact_in(t->format, m, a)), y = exact_of(t->format, exact_in(t->format, m, b));
  if (x.kind == EXACT_NAN || y.kind == EXACT_NAN) return UNORDERED;
  if (x.kind == EXACT_INFINITE && y.kind == EXACT_INFINITE && x.negative == y.negative) return EQUAL;
  exact_t difference = exact_add(x, exact_negate(y), 0);
  return difference.kind == EXACT_ZERO ? EQUAL : difference.negative ? LESS : GREATER;
}

// As the manuals count the bits: two NaNs, then from -infinity up.
static uint32_t class_of(const exact_format_t* f, uint64_t bits) {
  exact_t x = exact_of(f, bits);
  if (x.kind == EXACT_NAN) return exact_is_signaling(f, bits) ? 1 : 2;
  int at = x.kind == EXACT_INFINITE ? 0 : x.kind == EXACT_ZERO ? 3 : exact_is_denormal(f, bits) ? 2 : 1;
  return 4u << (x.negative ? at : 7 - at);
}

static void put(rows_t* r, uint32_t reg, uint32_t lane, uint64_t value) {
  rows_lanes(r, reg)[lane] = (uint32_t)value;
  rows_lanes(r, reg + 1)[lane] = (uint32_t)(value >> 32);
}

// One row on lanes of `a` and `b`, the bits it must give in `want`: both forms, all and some lanes active.
static void check_row(rows_t* r, const char* name, int level, uint64_t want, uint64_t exec) {
  wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
  wave_set_mask(&r->wave, SREG_VCC, 0x123456789abcdef0);
  uint64_t before = wave_exec(&r->wave);
  rows_make(r, name, level, 0, 2);
  bool sets_exec = strncmp(name, "v_cmpx_", 7) == 0;
  // v_cmpx has a scalar destination on gfx9 only.
  r->inst.destination_count = !sets_exec || r->target.major == 9;
  r->inst.dst[0] = r->inst.dst[1];
  if (!r->inst.destination_count) r->inst.dst[0] = (operand_t){.kind = OPERAND_NONE};
  uint64_t vcc = wave_mask(&r->wave, SREG_VCC);
  rows_run(r);
  uint64_t to_vcc = r->inst.destination_count ? want & before : vcc, to_exec = sets_exec ? want & before : before;
  if (wave_mask(&r->wave, SREG_VCC) != to_vcc || wave_exec(&r->wave) != to_exec) {
    uint64_t wrong = (wave_mask(&r->wave, SREG_VCC) ^ to_vcc) | (wave_exec(&r->wave) ^ to_exec);
    uint32_t lane = wrong ? (uint32_t)__builtin_ctzll(wrong) : 0;
    rows_tell(r, "level %d, lane %u: %08x%08x and %08x%08x: vcc %llx, not %llx; exec %llx, not %llx", level, lane,
              rows_lanes(r, 17)[lane], rows_lanes(r, 16)[lane], rows_lanes(r, 33)[lane], rows_lanes(r, 32)[lane],
              (unsigned long long)wave_mask(&r->wave, SREG_VCC), (unsigned long long)to_vcc,
              (unsigned long long)wave_exec(&r->wave), (unsigned long long)to_exec);
  }
}

static void check_both(rows_t* r, const char* predicate, const kind_t* t, int level, uint64_t want, uint64_t exec) {
  char name[32];
  snprintf(name, sizeof(name), "v_cmp_%s_%s", predicate, t->name);
  check_row(r, name, level, want, exec);
  snprintf(name, sizeof(name), "v_cmpx_%s_%s", predicate, t->name);
  check_row(r, name, level, want, exec);
}

static void check_kind(rows_t* r, const kind_t* t, int level, uint64_t* state) {
  const predicate_t* predicates = t->format ? float_predicates : integer_predicates;
  size_t count =
      t->format ? sizeof(float_predicates) / sizeof(predicate_t) : sizeof(integer_predicates) / sizeof(predicate_t);
  for (int round = 0; round < 6; ++round) {
    uint32_t orders[WAVE_MAX_LANES];
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint64_t a = pick(t, state), b = rows_random(state) % 4 ? pick(t, state) : a;
      orders[i] = order(t, r->wave.mode, a, b);
      // What is above 16 bits is not looked at.
      put(r, 16, i, t->bits == 16 ? a | 0x5a5a0000 : a);
      put(r, 32, i, t->bits == 16 ? b | 0xa5a50000 : b);
    }
    uint64_t exec = round % 2 ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
    for (size_t p = 0; p < count; ++p) {
      uint64_t want = 0;
      for (uint32_t i = 0; i < r->wave.lanes; ++i) want |= (uint64_t)((predicates[p].holds & orders[i]) != 0) << i;
      check_both(r, predicates[p].name, t, level, want, exec);
    }
    if (!t->format) continue;
    // Classes: of the bits as they are, whatever MODE says of denormals.
    uint64_t want = 0;
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint64_t a = rows_lanes(r, 16)[i] | (uint64_t)rows_lanes(r, 17)[i] << 32;
      uint32_t asked = rows_random(state);
      if (round % 3) asked = class_of(t->format, a) ^ (asked & 1 ? 0 : 0x3ff);
      rows_lanes(r, 32)[i] = asked;
      want |= (uint64_t)((class_of(t->format, t->bits == 64 ? a : a & ((UINT64_C(1) << t->bits) - 1)) & asked) != 0)
              << i;
    }
    check_both(r, "class", t, level, want, exec);
  }
}

static void test_rows(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 17;
    for (uint32_t target = 0; target < 3; ++target) {
      rows_t r;
      rows_open(&r, target == 1 ? 32 : 64, target ? 11 : 9, 0, 0);
      for (uint32_t denormal = 0; denormal < 16; denormal += 5) {
        rows_set_mode(&r, 0x300 | denormal << 4);
        for (size_t t = 0; t < sizeof(kinds) / sizeof(kinds[0]); ++t) check_kind(&r, &kinds[t], level, &state);
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

static void test_all_rows_seen(void** state) { rows_expect_all(NULL); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_all_rows_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
