// Rows of workgroup memory and atomic operations, every one: loads and stores of each part, pairs, counters, and what
// each atomic operation makes of edge values, through LDS and through global, flat and buffer addresses.
#define ROWS_TABLES(TABLE) TABLE(lds_table) TABLE(memory_table)
#include <math.h>

#include "base/small_float.h"
#include "rows.h"
#include "stand_ins.h"

enum { LDS_BYTES = 8192, OLD_VALUE = 0x5ad0beef };

typedef struct memory_t {
  rows_t r;
  launch_t launch;
  group_t group;
  uint8_t lds[LDS_BYTES + 64];
  uint8_t global[LDS_BYTES];
} memory_t;

static void open_memory(memory_t* m, uint32_t lanes, int major, uint64_t* seed) {
  memset(m, 0, sizeof(*m));
  rows_open(&m->r, lanes, major, 0, 0);
  m->group.lds = m->lds, m->group.lds_size = LDS_BYTES, m->group.launch = &m->launch;
  m->r.wave.group = &m->group, m->r.wave.launch = &m->launch;
  for (uint32_t i = 0; i < LDS_BYTES; ++i) m->lds[i] = (uint8_t)rows_random(seed);
  for (uint32_t reg = 0; reg < 80; ++reg) {
    for (uint32_t i = 0; i < lanes; ++i) rows_lanes(&m->r, reg)[i] = reg < 16 ? OLD_VALUE : rows_random(seed);
  }
}

static uint64_t wide(rows_t* r, uint32_t reg, uint32_t lane, uint32_t bytes) {
  uint64_t low = rows_lanes(r, reg)[lane];
  return bytes == 8 ? low | (uint64_t)rows_lanes(r, reg + 1)[lane] << 32 : low;
}

// What an atomic operation leaves of a (before), b (data) and c (second data); each rule of integers by its name.
static double as_double(uint64_t bits, uint32_t bytes) {
  double value;
  if (bytes == 4) return rows_float((uint32_t)bits);
  memcpy(&value, &bits, 8);
  return value;
}
static uint64_t as_bits(double value, uint32_t bytes) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return bytes == 4 ? rows_bits((float)value) : bits;
}
static uint64_t add_pairs(uint64_t a, uint64_t b, small_float_t kind) {
  uint64_t out = 0;
  for (int k = 0; k < 32; k += 16) {
    double sum = small_float_decode(kind, a >> k & 0xffff) + small_float_decode(kind, b >> k & 0xffff);
    out |= (uint64_t)(small_float_encode(kind, sum) & 0xffff) << k;
  }
  return out;
}
static uint64_t integer_rule(const char* rule, uint64_t a, uint64_t b, uint64_t c, uint32_t bytes) {
  int64_t x = bytes == 4 ? (int32_t)a : (int64_t)a, y = bytes == 4 ? (int32_t)b : (int64_t)b;
#define RULE(text) (strcmp(rule, text) == 0)
  if (RULE("add")) return a + b;
  if (RULE("sub")) return a - b;
  if (RULE("rsub")) return b - a;
  if (RULE("inc")) return a >= b ? 0 : a + 1;
  if (RULE("dec")) return a == 0 || a > b ? b : a - 1;
  if (RULE("smin")) return x < y ? a : b;
  if (RULE("smax")) return x > y ? a : b;
  if (RULE("umin")) return a < b ? a : b;
  if (RULE("umax")) return a > b ? a : b;
  if (RULE("and")) return a & b;
  if (RULE("or")) return a | b;
  if (RULE("xor")) return a ^ b;
  if (RULE("mskor")) return (a & ~b) | c;
  if (RULE("swap")) return b;
  if (RULE("clamp")) return a < b ? 0 : a - b;
  if (RULE("cond")) return a < b ? a : a - b;
  if (RULE("cmpst")) return a == b ? c : a;
  if (RULE("cmpswap")) return a == c ? b : a;
  if (RULE("wrap")) return a >= b ? a - b : a + c;
  if (RULE("condxchg")) {
    uint64_t low = b >> 31 & 1 ? b & 0x7fffffff : a & UINT32_MAX, high = b >> 63 ? b >> 32 & 0x7fffffff : a >> 32;
    return low | high << 32;
  }
  fail_msg("no rule %s", rule);
  return 0;
}
static uint64_t rule_of(const char* rule, uint64_t a, uint64_t b, uint64_t c, uint32_t bytes) {
  double x = as_double(a, bytes), y = as_double(b, bytes), z = as_double(c, bytes);
  if (RULE("fadd")) return as_bits(bytes == 4 ? (double)((float)x + (float)y) : x + y, bytes);
  if (RULE("fmin")) return isnan(y) || x < y || (x == y && signbit(x)) ? a : b;
  if (RULE("fmax")) return isnan(y) || x > y || (x == y && !signbit(x)) ? a : b;
  if (RULE("fcmpst")) return x == y ? c : a;
  if (RULE("fcmpswap")) return x == z ? b : a;
  if (RULE("pkf16")) return add_pairs(a, b, SMALL_F16);
  if (RULE("pkbf16")) return add_pairs(a, b, SMALL_BF16);
  return integer_rule(rule, a, b, c, bytes);
}

typedef struct atomic_t {
  const char *name, *returning;
  uint32_t bytes;
  bool has_second;
  const char* rule;
} atomic_t;
// clang-format off
#define BOTH(stem, rule, second)                                                                      \
  {"ds_" stem "_u32", "ds_" stem "_rtn_u32", 4, second, rule},     \
  {"ds_" stem "_u64", "ds_" stem "_rtn_u64", 8, second, rule},
#define BOTH_BITS(stem, rule, second)                                                                 \
  {"ds_" stem "_b32", "ds_" stem "_rtn_b32", 4, second, rule},     \
  {"ds_" stem "_b64", "ds_" stem "_rtn_b64", 8, second, rule},
#define BOTH_FLOATS(stem, rule, second)                                                               \
  {"ds_" stem "_f32", "ds_" stem "_rtn_f32", 4, second, rule},     \
  {"ds_" stem "_f64", "ds_" stem "_rtn_f64", 8, second, rule},
static const atomic_t ds_atomics[] = {
  BOTH("add", "add", false) BOTH("sub", "sub", false) BOTH("rsub", "rsub", false) BOTH("inc", "inc", false)
  BOTH("dec", "dec", false) BOTH("min", "umin", false) BOTH("max", "umax", false)
  {"ds_min_i32", "ds_min_rtn_i32", 4, false, "smin"}, {"ds_min_i64", "ds_min_rtn_i64", 8, false, "smin"},
  {"ds_max_i32", "ds_max_rtn_i32", 4, false, "smax"}, {"ds_max_i64", "ds_max_rtn_i64", 8, false, "smax"},
  BOTH_BITS("and", "and", false) BOTH_BITS("or", "or", false) BOTH_BITS("xor", "xor", false)
  BOTH_BITS("mskor", "mskor", true) BOTH_BITS("cmpst", "cmpst", true) BOTH_BITS("cmpstore", "cmpswap", true)
  {"ds_swap_b32", "ds_wrxchg_rtn_b32", 4, false, "swap"}, {"ds_swap_b64", "ds_wrxchg_rtn_b64", 8, false, "swap"},
  BOTH_BITS("storexchg", "swap", false)
  BOTH_FLOATS("add", "fadd", false) BOTH_FLOATS("min", "fmin", false) BOTH_FLOATS("max", "fmax", false)
  BOTH_FLOATS("min_num", "fmin", false) BOTH_FLOATS("max_num", "fmax", false)
  BOTH_FLOATS("cmpst", "fcmpst", true) BOTH_FLOATS("cmpstore", "fcmpswap", true)
  {"ds_pk_add_f16", "ds_pk_add_rtn_f16", 4, false, "pkf16"},
  {"ds_pk_add_bf16", "ds_pk_add_rtn_bf16", 4, false, "pkbf16"},
  {"ds_sub_clamp_u32", "ds_sub_clamp_rtn_u32", 4, false, "clamp"},
  {"ds_cond_sub_u32", "ds_cond_sub_rtn_u32", 4, false, "cond"},
  {"ds_wrap_b32", "ds_wrap_rtn_b32", 4, true, "wrap"},
  {"ds_condxchg32_b64", "ds_condxchg32_rtn_b64", 8, false, "condxchg"},
};
// The newer and older names behind global_atomic_ and so on; b is followed by what it is compared with.
static const atomic_t atomics[] = {
  {"swap_b32", "swap", 4, false, "swap"}, {"cmpswap_b32", "cmpswap", 4, true, "cmpswap"},
  {"add_u32", "add", 4, false, "add"}, {"sub_u32", "sub", 4, false, "sub"}, {"csub_u32", "csub", 4, false, "clamp"},
  {"sub_clamp_u32", "sub_clamp", 4, false, "clamp"}, {"cond_sub_u32", "cond_sub", 4, false, "cond"},
  {"min_i32", "smin", 4, false, "smin"}, {"min_u32", "umin", 4, false, "umin"},
  {"max_i32", "smax", 4, false, "smax"}, {"max_u32", "umax", 4, false, "umax"},
  {"and_b32", "and", 4, false, "and"}, {"or_b32", "or", 4, false, "or"}, {"xor_b32", "xor", 4, false, "xor"},
  {"inc_u32", "inc", 4, false, "inc"}, {"dec_u32", "dec", 4, false, "dec"},
  {"add_f32", "fadd", 4, false, "fadd"}, {"min_f32", "fmin", 4, false, "fmin"}, {"max_f32", "fmax", 4, false, "fmax"},
  {"min_num_f32", "fmin_num", 4, false, "fmin"}, {"max_num_f32", "fmax_num", 4, false, "fmax"},
  {"cmpswap_f32", "fcmpswap", 4, true, "fcmpswap"}, {"cmpswap_f64", "fcmpswap_x2", 8, true, "fcmpswap"},
  {"pk_add_f16", "pk_fadd_f16", 4, false, "pkf16"}, {"pk_add_bf16", "pk_fadd_bf16", 4, false, "pkbf16"},
  {"swap_b64", "swap_x2", 8, false, "swap"}, {"cmpswap_b64", "cmpswap_x2", 8, true, "cmpswap"},
  {"add_u64", "add_x2", 8, false, "add"}, {"sub_u64", "sub_x2", 8, false, "sub"},
  {"min_i64", "smin_x2", 8, false, "smin"}, {"min_u64", "umin_x2", 8, false, "umin"},
  {"max_i64", "smax_x2", 8, false, "smax"}, {"max_u64", "umax_x2", 8, false, "umax"},
  {"and_b64", "and_x2", 8, false, "and"}, {"or_b64", "or_x2", 8, false, "or"}, {"xor_b64", "xor_x2", 8, false, "xor"},
  {"inc_u64", "inc_x2", 8, false, "inc"}, {"dec_u64", "dec_x2", 8, false, "dec"},
  {"add_f64", "fadd_x2", 8, false, "fadd"}, {"min_f64", "fmin_x2", 8, false, "fmin"},
  {"max_f64", "fmax_x2", 8, false, "fmax"},
};
// clang-format on

static uint64_t pick(uint64_t* state, uint32_t bytes, const char* rule) {
  uint32_t random = rows_random(state);
  static const uint64_t edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, UINT32_MAX, INT64_MAX, INT64_MIN, UINT64_MAX};
  uint64_t value = random % 2 ? edges[random / 2 % 9] : rows_random(state) | (uint64_t)rows_random(state) << 32;
  // Numbers that are exact in every format; a zero with its sign at times, and infinities.
  bool is_pair = strncmp(rule, "pk", 2) == 0;
  if (is_pair) {
    small_float_t kind = rule[2] == 'b' ? SMALL_BF16 : SMALL_F16;
    return small_float_encode(kind, (double)(random % 32) - 16) |
           small_float_encode(kind, (double)(random / 32 % 32) - 16) << 16;
  }
  if (rule[0] == 'f') {
    static const double list[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, 0x1p-100, -3.5};
    value = as_bits(random % 3 ? list[random / 4 % 8] : (double)(random >> 16) - 30000, bytes);
  }
  return bytes == 4 ? (uint32_t)value : value;
}

// One lane in three, the words of the others untouched.
static void check_atomic(memory_t* m, const atomic_t* t, uint8_t* memory, bool returns, uint64_t* state) {
  rows_t* r = &m->r;
  uint64_t exec = UINT64_C(0x9249249249249249) & r->wave.all, before[WAVE_MAX_LANES];
  wave_set_mask(&r->wave, SREG_EXEC, exec);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    before[i] = pick(state, t->bytes, t->rule);
    memcpy(memory + 8 * i, &before[i], 8);
    uint64_t b = pick(state, t->bytes, t->rule),
             c = rows_random(state) % 2 ? before[i] : pick(state, t->bytes, t->rule);
    if (strstr(t->rule, "cmpst")) b = rows_random(state) % 2 ? before[i] : b;
    bool is_ds = r->inst.row->klass == INST_CLASS_LDS;
    uint32_t second = is_ds ? 48 : 32 + t->bytes / 4;
    rows_lanes(r, 32)[i] = (uint32_t)b;
    if (t->bytes == 8) rows_lanes(r, 33)[i] = (uint32_t)(b >> 32);
    if (t->has_second) {
      rows_lanes(r, second)[i] = (uint32_t)c;
      if (t->bytes == 8) rows_lanes(r, second + 1)[i] = (uint32_t)(c >> 32);
    }
    rows_lanes(r, 0)[i] = rows_lanes(r, 1)[i] = OLD_VALUE;
  }
  // A buffer's old value comes into the data's register.
  bool is_buffer = strncmp(r->inst.row->name, "buffer_", 7) == 0, is_ds = r->inst.row->klass == INST_CLASS_LDS;
  uint64_t data[WAVE_MAX_LANES], second[WAVE_MAX_LANES];
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    data[i] = wide(r, 32, i, t->bytes), second[i] = wide(r, is_ds ? 48 : 32 + t->bytes / 4, i, t->bytes);
  }
  rows_run(r);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    bool is_on = exec >> i & 1;
    uint64_t b = data[i], c = second[i], after = 0, want;
    uint64_t limit = t->bytes == 4 ? UINT32_MAX : UINT64_MAX, old = wide(r, is_buffer ? 32 : 0, i, t->bytes);
    want = is_on ? rule_of(t->rule, before[i], b, c, t->bytes) & limit : before[i] & limit;
    memcpy(&after, memory + 8 * i, t->bytes);
    bool both_nan = t->rule[0] == 'f' && isnan(as_double(after, t->bytes)) && isnan(as_double(want, t->bytes));
    uint64_t untouched = is_buffer ? b : ((uint64_t)OLD_VALUE << 32 | OLD_VALUE) & limit;
    uint64_t got_back = returns && is_on ? before[i] & limit : untouched;
    if ((after != want && !both_nan) || old != got_back) {
      rows_tell(r, "lane %u: of %llx with %llx and %llx makes %llx, not %llx; gives back %llx", i,
                (unsigned long long)before[i], (unsigned long long)b, (unsigned long long)c, (unsigned long long)after,
                (unsigned long long)want, (unsigned long long)old);
    }
  }
}

static void make(memory_t* m, const char* name, int level, uint32_t destinations, uint32_t sources) {
  rows_make(&m->r, name, level, 0, sources);
  m->r.inst.destination_count = (uint8_t)destinations;
  if (!destinations) m->r.inst.dst[0] = (operand_t){.kind = OPERAND_NONE};
}

static void test_workgroup_atomics(void** unused) {
  static memory_t m;
  uint64_t state = 67;
  for (int level = 2; level <= rows_levels(); ++level) {
    for (size_t t = 0; t < sizeof(ds_atomics) / sizeof(ds_atomics[0]) * 4; ++t) {
      const atomic_t* a = &ds_atomics[t / 4];
      bool returns = t % 2;
      open_memory(&m, t % 4 < 2 ? 32 : 64, 9, &state);
      make(&m, returns ? a->returning : a->name, level, returns, a->has_second ? 3 : 2);
      m.r.inst.offset = 512;
      for (uint32_t i = 0; i < m.r.wave.lanes; ++i) rows_lanes(&m.r, 16)[i] = 8 * i;
      check_atomic(&m, a, m.lds + 512, returns, &state);
      rows_close(&m.r);
    }
  }
  rows_finish();
}

// global_, flat_ and buffer_ by both names.
static void check_global_atomic(memory_t* m, const atomic_t* a, int level, uint32_t which, uint64_t* state) {
  static const char* const prefixes[] = {"global_atomic_", "flat_atomic_", "buffer_atomic_"};
  char name[64];
  bool returns = which & 1, is_old = which & 2;
  uint32_t kind = which / 4;
  snprintf(name, sizeof(name), "%s%s", prefixes[kind], is_old ? a->returning : a->name);
  open_memory(m, which & 1 ? 64 : 32, 11, state);
  rows_t* r = &m->r;
  make(m, name, level, returns, kind == 2 ? 4 : 3);
  uint64_t base = (uint64_t)m->global;
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    uint64_t at = kind == 2 ? 8 * i : base + 8 * i;
    rows_lanes(r, 16)[i] = (uint32_t)at, rows_lanes(r, 17)[i] = (uint32_t)(at >> 32);
  }
  r->inst.flags = returns ? INST_RETURNS_OLD : 0;
  r->inst.src[2] = (operand_t){.kind = OPERAND_OFF};
  if (kind == 2) {
    // Data, offset, descriptor and a scalar offset of nothing.
    wave_set_pair(&r->wave, 4, base);
    r->wave.sgpr[6] = LDS_BYTES, r->wave.sgpr[7] = 3u << 28;
    r->inst.flags |= INST_OFFEN;
    r->inst.src[0] = rows_register(r, 32), r->inst.src[1] = rows_register(r, 16);
    r->inst.src[2] = (operand_t){.kind = OPERAND_SGPR, .index = 4, .dwords = 4};
    r->inst.src[3] = (operand_t){.kind = OPERAND_CONSTANT, .value = 0};
    if (returns) r->inst.dst[0] = rows_register(r, 0);
  }
  check_atomic(m, a, m->global, returns, state);
  rows_close(r);
}

static void test_global_atomics(void** unused) {
  static memory_t m;
  uint64_t state = 71;
  for (int level = 2; level <= rows_levels(); ++level) {
    for (size_t t = 0; t < sizeof(atomics) / sizeof(atomics[0]); ++t) {
      for (uint32_t which = 0; which < 12; ++which) check_global_atomic(&m, &atomics[t], level, which, &state);
    }
  }
  rows_finish();
}

// A part of memory in a register: bytes, sign, and the half of the register that it takes (0: all of it).
typedef struct part_t {
  const char *name, *older;
  uint32_t bytes;
  bool is_signed;
  uint32_t half;
} part_t;
static const part_t loads[] = {
    {"ds_load_b32", "ds_read_b32", 4, false, 0},         {"ds_load_b64", "ds_read_b64", 8, false, 0},
    {"ds_load_b96", "ds_read_b96", 12, false, 0},        {"ds_load_b128", "ds_read_b128", 16, false, 0},
    {"ds_load_u8", "ds_read_u8", 1, false, 0},           {"ds_load_i8", "ds_read_i8", 1, true, 0},
    {"ds_load_u16", "ds_read_u16", 2, false, 0},         {"ds_load_i16", "ds_read_i16", 2, true, 0},
    {"ds_load_u8_d16", "ds_read_u8_d16", 1, false, 1},   {"ds_load_u8_d16_hi", "ds_read_u8_d16_hi", 1, false, 2},
    {"ds_load_i8_d16", "ds_read_i8_d16", 1, true, 1},    {"ds_load_i8_d16_hi", "ds_read_i8_d16_hi", 1, true, 2},
    {"ds_load_u16_d16", "ds_read_u16_d16", 2, false, 1}, {"ds_load_u16_d16_hi", "ds_read_u16_d16_hi", 2, false, 2}};
static const part_t stores[] = {{"ds_store_b32", "ds_write_b32", 4, false, 0},
                                {"ds_store_b64", "ds_write_b64", 8, false, 0},
                                {"ds_store_b96", "ds_write_b96", 12, false, 0},
                                {"ds_store_b128", "ds_write_b128", 16, false, 0},
                                {"ds_store_b8", "ds_write_b8", 1, false, 0},
                                {"ds_store_b16", "ds_write_b16", 2, false, 0},
                                {"ds_store_b8_d16_hi", "ds_write_b8_d16_hi", 1, false, 2},
                                {"ds_store_b16_d16_hi", "ds_write_b16_d16_hi", 2, false, 2}};

static void check_load(memory_t* m, const part_t* p, uint64_t exec) {
  rows_t* r = &m->r;
  rows_run(r);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    uint32_t want[4] = {OLD_VALUE, OLD_VALUE, OLD_VALUE, OLD_VALUE}, value = 0, up = 32 - 8 * p->bytes;
    const uint8_t* at = m->lds + rows_lanes(r, 16)[i] + 48;
    if (exec >> i & 1 && p->bytes >= 4) {
      memcpy(want, at, p->bytes);
    } else if (exec >> i & 1) {
      memcpy(&value, at, p->bytes);
      if (p->is_signed) value = (uint32_t)((int32_t)(value << up) >> up);
      want[0] = p->half == 0   ? value
                : p->half == 1 ? (OLD_VALUE & 0xffff0000) | (value & 0xffff)
                               : (OLD_VALUE & 0xffff) | value << 16;
    }
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t got = rows_lanes(r, k)[i];
      if (got != want[k]) rows_tell(r, "lane %u, register %u is %x, not %x", i, k, got, want[k]);
    }
  }
}

static void check_store(memory_t* m, const part_t* p, uint64_t exec) {
  rows_t* r = &m->r;
  static uint8_t want[LDS_BYTES];
  memcpy(want, m->lds, LDS_BYTES);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    for (uint32_t k = 0; k < p->bytes && exec >> i & 1; ++k) {
      uint32_t word = rows_lanes(r, 32 + k / 4)[i];
      want[rows_lanes(r, 16)[i] + 48 + k] = (uint8_t)(word >> (p->half == 2 ? 16 : 0) >> k % 4 * 8);
    }
  }
  rows_run(r);
  if (memcmp(want, m->lds, LDS_BYTES) != 0) rows_tell(r, "memory differs");
}

static void test_parts(void** unused) {
  static memory_t m;
  uint64_t state = 73;
  for (int level = 2; level <= rows_levels(); ++level) {
    for (uint32_t round = 0; round < 8; ++round) {
      for (size_t t = 0; t < sizeof(loads) / sizeof(loads[0]) + sizeof(stores) / sizeof(stores[0]); ++t) {
        bool is_load = t < sizeof(loads) / sizeof(loads[0]);
        const part_t* p = is_load ? &loads[t] : &stores[t - sizeof(loads) / sizeof(loads[0])];
        open_memory(&m, round & 2 ? 64 : 32, 11, &state);
        make(&m, round & 1 ? p->older : p->name, level, is_load, is_load ? 1 : 2);
        m.r.inst.offset = 48;
        uint64_t exec = round & 4 ? 0x0ff0f5a5c3c31234 : UINT64_MAX;
        wave_set_mask(&m.r.wave, SREG_EXEC, exec & m.r.wave.all);
        // Next to each other, or anywhere without overlap.
        uint32_t step = round & 2 ? 16 : p->bytes;
        for (uint32_t i = 0; i < m.r.wave.lanes; ++i) rows_lanes(&m.r, 16)[i] = step * (round & 4 ? i ^ 5 : i);
        is_load ? check_load(&m, p, exec) : check_store(&m, p, exec);
        rows_close(&m.r);
      }
    }
  }
  rows_finish();
}

// Two elements at offsets in units of their size, or of 64 times that.
static void check_two(int level, const char* name, uint32_t bytes, uint32_t unit, char kind, uint64_t* state) {
  static memory_t m;
  static uint8_t want[LDS_BYTES];
  uint32_t words = bytes / 4;
  open_memory(&m, 32, 11, state);
  make(&m, name, level, kind != 's', kind == 'l' ? 1 : 3);
  m.r.inst.offset0 = 1, m.r.inst.offset1 = 3;
  uint32_t exec = 0xfff0a5c3;
  wave_set_mask(&m.r.wave, SREG_EXEC, exec);
  uint32_t step = unit > bytes ? bytes : 4 * bytes;
  for (uint32_t i = 0; i < 32; ++i) rows_lanes(&m.r, 16)[i] = step * i;
  memcpy(want, m.lds, LDS_BYTES);
  uint32_t result[32][4];
  for (uint32_t i = 0; i < 32; ++i) {
    for (uint32_t k = 0; k < 2 * words; ++k) {
      uint8_t* at = want + step * i + (k < words ? 1 : 3) * unit + k % words * 4;
      result[i][k] = OLD_VALUE;
      if (!(exec >> i & 1)) continue;
      if (kind != 's') memcpy(&result[i][k], at, 4);
      if (kind != 'l') memcpy(at, &rows_lanes(&m.r, (k < words ? 32 : 48) + k % words)[i], 4);
    }
  }
  rows_run(&m.r);
  if (memcmp(want, m.lds, LDS_BYTES) != 0) rows_tell(&m.r, "memory differs");
  for (uint32_t i = 0; i < 32 && kind != 's'; ++i) {
    for (uint32_t k = 0; k < 2 * words; ++k) {
      if (rows_lanes(&m.r, k)[i] != result[i][k]) rows_tell(&m.r, "lane %u, register %u differs", i, k);
    }
  }
  rows_close(&m.r);
}

static void test_two(void** unused) {
  static const char* const stems[][3] = {{"load", "read", "l"}, {"store", "write", "s"}, {"storexchg", "wrxchg", "x"}};
  uint64_t state = 79;
  for (int level = 2; level <= rows_levels(); ++level) {
    for (uint32_t k = 0; k < 3 * 8; ++k) {
      const char* const* stem = stems[k / 8];
      bool is_old = k & 1, is_far = k & 2, is_wide = k & 4;
      char name[64];
      const char *rtn = k / 8 == 2 ? "_rtn" : "", *b = is_wide ? "b64" : "b32";
      if (is_old) snprintf(name, sizeof(name), "ds_%s2%s%s_%s", stem[1], is_far ? "st64" : "", rtn, b);
      if (!is_old) snprintf(name, sizeof(name), "ds_%s_2addr%s%s_%s", stem[0], is_far ? "_stride64" : "", rtn, b);
      check_two(level, name, is_wide ? 8 : 4, (is_wide ? 8 : 4) * (is_far ? 64 : 1), stem[2][0], &state);
    }
  }
  rows_finish();
}

// Addresses by lane, counters, lanes of lanes.
static void test_others(void** unused) {
  static memory_t m;
  uint64_t state = 83;
  for (int level = 2; level <= rows_levels(); ++level) {
    open_memory(&m, 32, 11, &state);
    rows_t* r = &m.r;
    uint32_t exec = 0xfff0a5c3;
    wave_set_mask(&r->wave, SREG_EXEC, exec);
    r->wave.sgpr[SREG_M0] = 0xabcd0100;
    for (uint32_t k = 0; k < 4; ++k) {
      static const char* const names[] = {"ds_load_addtid_b32", "ds_read_addtid_b32", "ds_store_addtid_b32",
                                          "ds_write_addtid_b32"};
      make(&m, names[k], level, k < 2, k < 2 ? 0 : 1);
      r->inst.offset = 16;
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(r, 0)[i] = OLD_VALUE, rows_lanes(r, 16)[i] = 77 * i + k;
      uint8_t before[32][4];
      memcpy(before, m.lds + 0x110, sizeof(before));
      rows_run(r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint32_t word = k < 2 ? rows_lanes(r, 0)[i] : 77 * i + k, old = OLD_VALUE;
        if (k < 2) assert_memory_equal(&word, exec >> i & 1 ? before[i] : (void*)&old, 4);
        if (k >= 2) assert_memory_equal(m.lds + 0x110 + 4 * i, exec >> i & 1 ? (void*)&word : before[i], 4);
      }
    }
    uint32_t lanes = (uint32_t)__builtin_popcount(exec), counter = 5;
    for (uint32_t k = 0; k < 2; ++k) {
      memcpy(m.lds + 0x100, &counter, 4);
      make(&m, k ? "ds_consume" : "ds_append", level, 1, 0);
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(r, 0)[i] = OLD_VALUE;
      rows_run(r);
      uint32_t after, want = k ? 5 - lanes : 5 + lanes;
      memcpy(&after, m.lds + 0x100, 4);
      assert_int_equal(after, want);
      for (uint32_t i = 0; i < 32; ++i) assert_int_equal(rows_lanes(r, 0)[i], exec >> i & 1 ? 5 : OLD_VALUE);
    }
    // bpermute reads lane address / 4, permute writes it; fi reads inactive lanes too.
    static const char* const names[] = {"ds_bpermute_b32", "ds_bpermute_fi_b32", "ds_permute_b32"};
    for (uint32_t k = 0; k < 3; ++k) {
      make(&m, names[k], level, 1, 2);
      uint32_t want[32];
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(r, 16)[i] = (i * 7 + 3) * 4 + 256 + (i & 3), rows_lanes(r, 32)[i] = 1000 + i,
                      rows_lanes(r, 0)[i] = OLD_VALUE;
        want[i] = exec >> i & 1 ? 0 : OLD_VALUE;
      }
      for (uint32_t i = 0; i < 32; ++i) {
        uint32_t lane = (i * 7 + 3) % 32;
        if (k < 2 && exec >> i & 1 && (k == 1 || exec >> lane & 1)) want[i] = 1000 + lane;
        if (k == 2 && exec >> i & 1 && exec >> lane & 1) want[lane] = 1000 + i;
      }
      rows_run(r);
      for (uint32_t i = 0; i < 32; ++i) assert_int_equal(rows_lanes(r, 0)[i], want[i]);
    }
    // Neighbours change places; inactive ones give zero.
    make(&m, "ds_swizzle_b32", level, 1, 1);
    r->inst.encoding[0] = 1 << 10 | 31;
    for (uint32_t i = 0; i < 32; ++i) rows_lanes(r, 16)[i] = 1000 + i, rows_lanes(r, 0)[i] = OLD_VALUE;
    rows_run(r);
    for (uint32_t i = 0; i < 32; ++i) {
      uint32_t want = exec >> (i ^ 1) & 1 ? 1000 + (i ^ 1) : 0;
      assert_int_equal(rows_lanes(r, 0)[i], exec >> i & 1 ? want : OLD_VALUE);
    }
    make(&m, "ds_nop", level, 0, 0);
    rows_run(r);
    rows_close(r);
  }
}

// What a name after ds_ does, as rule_of knows it.
static const char* rule_of_name(const char* stem, const char* type) {
  static const char* const rules[][2] = {{"add_", "add"}, {"sub_", "sub"}, {"rsub_", "rsub"},
                                         {"inc_", "inc"}, {"dec_", "dec"}, {"and_", "and"},
                                         {"or_", "or"},   {"xor_", "xor"}, {"write_", "swap"}};
  static const char* const extremes[] = {"smin", "smax", "umin", "umax", "fmin", "fmax"};
  if (stem[0] == 'm') return extremes[(type[0] == 'i' ? 0 : type[0] == 'u' ? 2 : 4) + (stem[1] == 'a')];
  if (type[0] == 'f') return "fadd";
  size_t k = 0;
  while (strncmp(stem, rules[k][0], strlen(rules[k][0])) != 0) ++k;
  return rules[k][1];
}

// Both sources in memory: the second where the offset says, or the upper bits of the address.
static void check_source2(int level, const inst_row_t* row, uint32_t round, uint64_t* state) {
  static memory_t m;
  static uint8_t want[LDS_BYTES];
  const char *type = strrchr(row->name, '_') + 1, *rule = rule_of_name(row->name + 3, type);
  uint32_t bytes = strstr(type, "64") ? 8 : 4;
  open_memory(&m, round & 1 ? 64 : 32, 9, state);
  make(&m, row->name, level, 0, 1);
  // Distances in dwords, forward and back, in each of the two ways.
  int32_t dwords = round & 2 ? 700 : -600;
  m.r.inst.offset = round & 4 ? 0x8000 : dwords & 0x7fff;
  uint64_t exec = round & 8 ? 0x0ff0f5a5c3c31234 : UINT64_MAX;
  wave_set_mask(&m.r.wave, SREG_EXEC, exec & m.r.wave.all);
  for (uint32_t i = 0; i < m.r.wave.lanes; ++i) {
    uint32_t at = 3000 + 8 * (i ^ 3), edge = (i & 3) << 30;
    rows_lanes(&m.r, 16)[i] = at | (round & 4 ? (uint32_t)dwords << 17 : 0);
    if (i & 4) memcpy(m.lds + at + 4 * dwords, m.lds + at, bytes);
    if (i & 8) memcpy(m.lds + at + bytes - 4, &edge, 4);
    uint64_t a = 0, b = 0;
    memcpy(&a, m.lds + at, bytes), memcpy(&b, m.lds + at + 4 * dwords, bytes);
    if (rule[0] != 'f' || (!isnan(as_double(a, bytes)) && !isnan(as_double(b, bytes)))) continue;
    memset(m.lds + at, 0, bytes), memset(m.lds + at + 4 * dwords, 0, bytes);
  }
  memcpy(want, m.lds, LDS_BYTES);
  for (uint32_t i = 0; i < m.r.wave.lanes; ++i) {
    uint32_t at = 3000 + 8 * (i ^ 3);
    uint64_t a = 0, b = 0;
    if (!(exec >> i & 1)) continue;
    memcpy(&a, m.lds + at, bytes), memcpy(&b, m.lds + at + 4 * dwords, bytes);
    a = rule_of(rule, a, b, 0, bytes);
    memcpy(want + at, &a, bytes);
  }
  rows_run(&m.r);
  if (memcmp(want, m.lds, LDS_BYTES) != 0) rows_tell(&m.r, "memory differs (rule %s)", rule);
  rows_close(&m.r);
}

static void test_source2(void** unused) {
  uint64_t state = 89;
  for (int level = 2; level <= rows_levels(); ++level) {
    const inst_table_t* table = rows_tables[0][level - 2];
    for (uint32_t i = 0; i < table->count; ++i) {
      for (uint32_t round = 0; round < 16 && strstr(table->rows[i].name, "_src2_"); ++round) {
        check_source2(level, &table->rows[i], round, &state);
      }
    }
  }
  rows_finish();
}

// Loads and stores of other memory, and those that transpose, are memory_test.c's and the assembly tests'.
static bool is_expected(const inst_row_t* row) {
  bool is_atomic = strncmp(row->name, "global_atomic_", 14) == 0 || strncmp(row->name, "flat_atomic_", 12) == 0 ||
                   strncmp(row->name, "buffer_atomic_", 14) == 0;
  bool is_transposed = strstr(row->name, "_tr_b") != NULL;
  return (strncmp(row->name, "ds_", 3) == 0 && !is_transposed) || is_atomic;
}
static void test_all_rows_seen(void** unused) { rows_expect_all(is_expected); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_workgroup_atomics),
      cmocka_unit_test(test_global_atomics),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_two),
      cmocka_unit_test(test_others),
      cmocka_unit_test(test_source2),
      cmocka_unit_test(test_all_rows_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
