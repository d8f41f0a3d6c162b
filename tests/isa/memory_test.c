// Rows of loads, stores and atomic operations: parts of registers, bounds, lanes that are off, lane exchanges.
#include "rows.h"
#include "stand_ins.h"

#define TABLE(name) VECTOR_LEVELS_DECLARE(inst_table_t, name)
TABLE(lds_table)
TABLE(memory_table)
#undef TABLE

typedef struct memory_t {
  rows_t r;
  launch_t launch;
  group_t group;
  uint8_t lds[256 + 64], scratch[64 * 64];
  uint32_t global[256];
} memory_t;

static void open_memory(memory_t* m, uint32_t lanes, int major) {
  memset(m, 0, sizeof(*m));
  rows_open(&m->r, lanes, major, 0, 0);
  m->group.lds = m->lds, m->group.lds_size = 256, m->group.launch = &m->launch;
  m->r.wave.group = &m->group, m->r.wave.launch = &m->launch;
  m->r.wave.scratch = m->scratch, m->r.wave.scratch_size = 64;
  for (uint32_t i = 0; i < 256; ++i) m->lds[i] = (uint8_t)(i * 7 + 1), m->global[i] = i * 0x01030507u + 0x80;
}

// Destination v2, sources v16, v32, v48; of pairs and more as many registers as fit.
static void make(memory_t* m, const char* name, int level, uint32_t destinations, uint32_t sources) {
  static const inst_table_t* const tables[][3] = {VECTOR_LEVELS(lds_table), VECTOR_LEVELS(memory_table)};
  rows_t* r = &m->r;
  memset(&r->inst, 0, sizeof(r->inst));
  for (int t = 0; t < 2; ++t) {
    const inst_table_t* table = tables[t][level - 2];
    for (uint32_t i = 0; i < table->count; ++i) {
      if (strcmp(table->rows[i].name, name) == 0) r->inst.row = &table->rows[i];
    }
  }
  if (!r->inst.row) fail_msg("no row %s", name);
  r->inst.run = r->inst.row->run;
  r->inst.destination_count = (uint8_t)destinations, r->inst.source_count = (uint8_t)sources;
  r->inst.dst[0] = rows_register(r, 2);
  for (uint32_t k = 0; k < sources; ++k) r->inst.src[k] = rows_register(r, 16 + 16 * k);
}

static void point_global(memory_t* m, uint32_t step) {
  for (uint32_t i = 0; i < m->r.wave.lanes; ++i) {
    uint64_t at = (uint64_t)m->global + i * step;
    rows_lanes(&m->r, 16)[i] = (uint32_t)at, rows_lanes(&m->r, 17)[i] = (uint32_t)(at >> 32);
  }
}

static void test_parts(void** state) {
  static const struct {
    const char* name;
    uint32_t bytes, keep, shift;
    bool is_signed;
  } cases[] = {{"global_load_u8", 1, 0, 0, false},
               {"global_load_sbyte", 1, 0, 0, true},
               {"global_load_ushort", 2, 0, 0, false},
               {"global_load_i16", 2, 0, 0, true},
               {"global_load_b32", 4, 0, 0, false},
               {"global_load_d16_u8", 1, 0xffff0000, 0, false},
               {"global_load_d16_hi_b16", 2, 0x0000ffff, 16, false},
               {"global_load_sbyte_d16_hi", 1, 0x0000ffff, 16, true}};
  for (int level = 2; level <= rows_levels(); ++level) {
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]) * 4; ++c) {
      // Lanes next to each other and apart, aligned and not, all on and some off.
      uint32_t step = c % 4 == 0 ? 4 : c % 4 == 1 ? 7 : cases[c / 4].bytes;
      memory_t m;
      open_memory(&m, c % 2 ? 32 : 64, 11);
      make(&m, cases[c / 4].name, level, 1, 2);
      m.r.inst.src[1].kind = OPERAND_OFF;
      point_global(&m, step);
      uint64_t exec = c % 4 == 3 ? UINT64_C(0xf0f0a5a5) : m.r.wave.all;
      wave_set_mask(&m.r.wave, SREG_EXEC, exec);
      for (uint32_t i = 0; i < m.r.wave.lanes; ++i) rows_lanes(&m.r, 2)[i] = 0xabcd1234;
      rows_run(&m.r);
      for (uint32_t i = 0; i < m.r.wave.lanes; ++i) {
        uint32_t value = 0, up = 32 - 8 * cases[c / 4].bytes;
        memcpy(&value, (const uint8_t*)m.global + i * step, cases[c / 4].bytes);
        if (cases[c / 4].is_signed) value = (uint32_t)((int32_t)(value << up) >> up);
        if (cases[c / 4].keep) value = (0xabcd1234 & cases[c / 4].keep) | (value & 0xffff) << cases[c / 4].shift;
        assert_int_equal(rows_lanes(&m.r, 2)[i], exec >> i & 1 ? value : 0xabcd1234);
      }
      rows_close(&m.r);
    }
  }
}

static void test_wide(void** state) {
  static const char* const names[] = {"b32", "b64", "b96", "b128"};
  for (int level = 2; level <= rows_levels(); ++level) {
    for (uint32_t dwords = 1; dwords <= 4; ++dwords) {
      for (uint32_t gap = 0; gap < 2; ++gap) {
        memory_t m;
        char name[64];
        open_memory(&m, 32, 11);
        snprintf(name, sizeof(name), "global_load_%s", names[dwords - 1]);
        make(&m, name, level, 1, 2);
        m.r.inst.src[1].kind = OPERAND_OFF;
        point_global(&m, 4 * dwords + 4 * gap);
        rows_run(&m.r);
        for (uint32_t i = 0; i < 32 * dwords; ++i) {
          assert_int_equal(rows_lanes(&m.r, 2 + i % dwords)[i / dwords],
                           m.global[i / dwords * (dwords + gap) + i % dwords]);
        }
        snprintf(name, sizeof(name), "global_store_%s", names[dwords - 1]);
        make(&m, name, level, 0, 3);
        m.r.inst.src[1] = rows_register(&m.r, 2);
        m.r.inst.src[2].kind = OPERAND_OFF;
        uint32_t before[256];
        memcpy(before, m.global, sizeof(before));
        memset(m.global, 0, sizeof(m.global));
        rows_run(&m.r);
        for (uint32_t i = 0; i < 32 * (dwords + gap); ++i) {
          assert_int_equal(m.global[i], i % (dwords + gap) < dwords ? before[i] : 0);
        }
        rows_close(&m.r);
      }
    }
  }
}

// Reads past the end give zero, writes there do nothing; sums of address and offset wrap.
static void test_lds_bounds(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    memory_t m;
    open_memory(&m, 32, 11);
    make(&m, "ds_load_b32", level, 1, 1);
    m.r.inst.offset = 32;
    for (uint32_t i = 0; i < 32; ++i) rows_lanes(&m.r, 16)[i] = i * 16 - 32, rows_lanes(&m.r, 2)[i] = 5;
    rows_run(&m.r);
    for (uint32_t i = 0; i < 32; ++i) {
      uint32_t value = 0;
      if (i < 16) memcpy(&value, m.lds + i * 16, 4);
      assert_int_equal(rows_lanes(&m.r, 2)[i], value);
    }
    make(&m, "ds_store_b64", level, 0, 2);
    for (uint32_t i = 0; i < 32; ++i) rows_lanes(&m.r, 16)[i] = 252 + i * 64;
    uint8_t before[sizeof(m.lds)];
    memcpy(before, m.lds, sizeof(before));
    rows_run(&m.r);
    assert_memory_equal(before, m.lds, sizeof(before));
    rows_close(&m.r);
  }
}

static void test_atomics(void** state) {
  static const struct {
    const char* name;
    uint32_t old, data, compare, result;
  } cases[] = {{"add_u32", 0xffffffff, 2, 0, 1},
               {"sub_u32", 1, 2, 0, 0xffffffff},
               {"inc_u32", 5, 5, 0, 0},
               {"inc_u32", 4, 5, 0, 5},
               {"dec_u32", 0, 5, 0, 5},
               {"dec_u32", 9, 5, 0, 5},
               {"dec_u32", 3, 5, 0, 2},
               {"csub_u32", 3, 5, 0, 0},
               {"cond_sub_u32", 3, 5, 0, 3},
               {"cond_sub_u32", 7, 5, 0, 2},
               {"min_i32", 0xffffffff, 1, 0, 0xffffffff},
               {"max_u32", 0xffffffff, 1, 0, 0xffffffff},
               {"cmpswap_b32", 7, 9, 7, 9},
               {"cmpswap_b32", 7, 9, 8, 7},
               {"add_f32", 0x3f800000, 0x40000000, 0, 0x40400000},
               {"pk_add_f16", 0x3c003c00, 0x40003c00, 0, 0x42004000}};
  for (int level = 2; level <= rows_levels(); ++level) {
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
      memory_t m;
      char name[64];
      open_memory(&m, 32, 12);
      snprintf(name, sizeof(name), "global_atomic_%s", cases[c].name);
      make(&m, name, level, 1, 3);
      m.r.inst.flags = INST_RETURNS_OLD;
      m.r.inst.src[2].kind = OPERAND_OFF;
      point_global(&m, 4);
      wave_set_mask(&m.r.wave, SREG_EXEC, 2);
      rows_lanes(&m.r, 32)[1] = cases[c].data, rows_lanes(&m.r, 33)[1] = cases[c].compare;
      m.global[1] = cases[c].old;
      rows_run(&m.r);
      assert_int_equal(m.global[1], cases[c].result);
      assert_int_equal(rows_lanes(&m.r, 2)[1], cases[c].old);
      assert_int_equal(rows_lanes(&m.r, 2)[0], 0);
      rows_close(&m.r);
    }
  }
}

static void test_exchanges(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    memory_t m;
    open_memory(&m, 64, 9);
    for (uint32_t i = 0; i < 64; ++i) rows_lanes(&m.r, 16)[i] = 1000 + i;
    make(&m, "ds_swizzle_b32", level, 1, 1);
    m.r.inst.encoding[0] = 1 << 10 | 31;  // exchanges neighbours
    rows_run(&m.r);
    for (uint32_t i = 0; i < 64; ++i) assert_int_equal(rows_lanes(&m.r, 2)[i], 1000 + (i ^ 1));
    m.r.inst.encoding[0] = 0x8000 | 0x1b;  // reverses each four
    rows_run(&m.r);
    for (uint32_t i = 0; i < 64; ++i) assert_int_equal(rows_lanes(&m.r, 2)[i], 1000 + (i ^ 3));
    for (uint32_t i = 0; i < 64; ++i) rows_lanes(&m.r, 16)[i] = (63 - i) * 4, rows_lanes(&m.r, 32)[i] = 7 * i;
    wave_set_mask(&m.r.wave, SREG_EXEC, UINT64_MAX << 8);
    make(&m, "ds_bpermute_b32", level, 1, 2);
    rows_run(&m.r);
    for (uint32_t i = 8; i < 64; ++i) assert_int_equal(rows_lanes(&m.r, 2)[i], i > 55 ? 0 : 7 * (63 - i));
    make(&m, "ds_permute_b32", level, 1, 2);
    rows_run(&m.r);
    for (uint32_t i = 8; i < 64; ++i) assert_int_equal(rows_lanes(&m.r, 2)[i], i > 55 ? 0 : 7 * (63 - i));
    rows_close(&m.r);
  }
}

// A raw buffer of 100 bytes: what is past its end reads zero and is not written.
static void test_buffer_bounds(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    memory_t m;
    open_memory(&m, 32, 11);
    wave_set_pair(&m.r.wave, 4, (uint64_t)m.global);
    m.r.wave.sgpr[6] = 100, m.r.wave.sgpr[7] = 3u << 28;
    for (uint32_t i = 0; i < 32; ++i) rows_lanes(&m.r, 16)[i] = 4 * i, rows_lanes(&m.r, 2)[i] = 9;
    make(&m, "buffer_load_b32", level, 1, 3);
    m.r.inst.flags = INST_OFFEN;
    m.r.inst.src[1] = (operand_t){.kind = OPERAND_SGPR, .index = 4, .dwords = 4};
    m.r.inst.src[2] = (operand_t){.kind = OPERAND_CONSTANT, .value = 0};
    rows_run(&m.r);
    for (uint32_t i = 0; i < 32; ++i) assert_int_equal(rows_lanes(&m.r, 2)[i], i < 25 ? m.global[i] : 0);
    rows_close(&m.r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts),   cmocka_unit_test(test_wide),      cmocka_unit_test(test_lds_bounds),
      cmocka_unit_test(test_atomics), cmocka_unit_test(test_exchanges), cmocka_unit_test(test_buffer_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
