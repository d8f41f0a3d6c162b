// Rows of vector instructions, called without a kernel: a wave with registers, an instruction made by hand, each level
// of vector instructions that the host has.
#ifndef IREE_C_TESTS_ISA_ROWS_H_
#define IREE_C_TESTS_ISA_ROWS_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka wants the above first.
#include <cmocka.h>

#include "softgpu/vector_levels.h"
#include "softgpu/wave.h"

// A test may name fewer or others before it includes this, and ROWS_SCALAR_TABLES, which have no levels.
// clang-format off
#ifndef ROWS_TABLES
#define ROWS_TABLES(TABLE)                                                                   \
  TABLE(valu_integer_table) TABLE(valu_compare_table) TABLE(valu_lane_table)                 \
  TABLE(valu_packed_table) TABLE(valu_float_table) TABLE(valu_convert_table)                 \
  TABLE(valu_packed_float_table) TABLE(matrix_table)
#endif
// clang-format on
#ifndef ROWS_SCALAR_TABLES
#define ROWS_SCALAR_TABLES(TABLE)
#endif
#define TABLE(name) VECTOR_LEVELS_DECLARE(inst_table_t, name)
ROWS_TABLES(TABLE)
#undef TABLE
#define TABLE(name) extern const inst_table_t name;
ROWS_SCALAR_TABLES(TABLE)
#undef TABLE

static inline int rows_levels(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") ? 4 : 3;
#else
  return 2;
#endif
}

static const inst_table_t* const rows_tables[][3] = {
#define TABLE(name) VECTOR_LEVELS(name),
    ROWS_TABLES(TABLE)
#undef TABLE
#define TABLE(name) {&name, &name, &name},
        ROWS_SCALAR_TABLES(TABLE)
#undef TABLE
};
enum { ROWS_TABLE_COUNT = sizeof(rows_tables) / sizeof(rows_tables[0]), ROWS_MOST = 1024 };
static bool rows_seen[ROWS_TABLE_COUNT][ROWS_MOST];

static inline const inst_row_t* rows_get(const char* name, int level) {
  for (size_t t = 0; t < ROWS_TABLE_COUNT; ++t) {
    const inst_table_t* table = rows_tables[t][level - 2];
    for (uint32_t i = 0; i < table->count; ++i) {
      if (strcmp(table->rows[i].name, name) != 0) continue;
      rows_seen[t][i] = true;
      return &table->rows[i];
    }
  }
  fail_msg("no row %s", name);
  return NULL;
}

// Fails when a row was not asked for: the last test of a program, so that no row is without one. `is_expected` (or
// NULL) says which rows are this program's.
static inline void rows_expect_all(bool (*is_expected)(const inst_row_t* row)) {
  uint32_t missing = 0;
  for (size_t t = 0; t < ROWS_TABLE_COUNT; ++t) {
    const inst_table_t* table = rows_tables[t][0];
    assert_true(table->count <= ROWS_MOST);
    for (uint32_t i = 0; i < table->count; ++i) {
      if (rows_seen[t][i] || (is_expected && !is_expected(&table->rows[i]))) continue;
      print_message("no test has %s\n", table->rows[i].name);
      ++missing;
    }
  }
  if (missing) fail_msg("%u rows without a test", missing);
}

typedef struct rows_t {
  wave_t wave;
  isa_target_t target;
  inst_t inst;
} rows_t;

// A wrong value: told for each row once, so that one run shows every row that is wrong. rows_finish fails for them.
static uint32_t rows_wrong;
__attribute__((format(printf, 2, 3))) static inline void rows_tell(const rows_t* r, const char* format, ...) {
  static const inst_row_t* told[ROWS_MOST];
  for (uint32_t i = 0; i < rows_wrong; ++i) {
    if (told[i] == r->inst.row) return;
  }
  if (rows_wrong < ROWS_MOST) told[rows_wrong++] = r->inst.row;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  print_message("%s: gfx%u, waves of %u, mode %x: %s\n", r->inst.row->name, r->target.major, r->wave.lanes,
                r->wave.mode, text);
}
static inline void rows_finish(void) {
  uint32_t wrong = rows_wrong;
  rows_wrong = 0;
  if (wrong) fail_msg("%u rows are wrong", wrong);
}

static inline void rows_set_mode(rows_t* r, uint32_t mode) {
  // As wave_set_mode does: rounding in MXCSR 14:13, flush to zero 15, denormals are zero 6.
  static const uint32_t rounds[] = {0, 2, 1, 3};
  r->wave.mode = mode;
  uint32_t bits[2];
  for (int i = 0; i < 2; ++i) {
    uint32_t round = mode >> 2 * i & 3, denormal = mode >> (4 + 2 * i) & 3;
    bits[i] = 0x1f80u | rounds[round] << 13 | (denormal & 2 ? 0 : 1u << 15) | (denormal & 1 ? 0 : 1u << 6);
  }
  r->wave.csr_single = bits[0], r->wave.csr_double = bits[1];
  r->wave.csr = UINT32_MAX;
}

static inline void rows_open(rows_t* r, uint32_t lanes, int major, int minor, int stepping) {
  memset(r, 0, sizeof(*r));
  r->target = (isa_target_t){.name = "test", .major = (uint8_t)major, .minor = (uint8_t)minor};
  r->target.stepping = (uint8_t)stepping;
  r->wave.lanes = lanes;
  r->wave.all = lanes == 64 ? UINT64_MAX : UINT32_MAX;
  r->wave.target = &r->target;
  r->wave.vgpr = aligned_alloc(64, (size_t)WAVE_REGISTERS * lanes * 4);
  memset(r->wave.vgpr, 0, (size_t)WAVE_REGISTERS * lanes * 4);
  wave_set_mask(&r->wave, SREG_EXEC, r->wave.all);
  rows_set_mode(r, 0x3f0);
}

static inline void rows_close(rows_t* r) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(0x1f80);
#endif
  free(r->wave.vgpr);
}

static inline uint32_t* rows_lanes(rows_t* r, uint32_t reg) { return r->wave.vgpr + (size_t)reg * r->wave.lanes; }

static inline operand_t rows_register(const rows_t* r, uint32_t index) {
  return (operand_t){.kind = OPERAND_VGPR, .index = index, .dwords = 1, .offset = (size_t)index * r->wave.lanes};
}

// An instruction whose destination is register `d`, and whose sources begin at 16, 32 and 48 as far as `sources` goes.
// A second destination is VCC.
static inline void rows_make(rows_t* r, const char* name, int level, uint32_t d, uint32_t sources) {
  memset(&r->inst, 0, sizeof(r->inst));
  r->inst.row = rows_get(name, level);
  r->inst.run = r->inst.row->run;
  r->inst.op_sel_hi = -1;
  r->inst.destination_count = r->inst.row->destinations;
  r->inst.source_count = (uint8_t)sources;
  r->inst.dst[0] = rows_register(r, d);
  r->inst.dst[1] = (operand_t){.kind = OPERAND_SGPR, .index = SREG_VCC, .dwords = 2};
  for (uint32_t k = 0; k < sources; ++k) r->inst.src[k] = rows_register(r, 16 + 16 * k);
}
static inline void rows_run(rows_t* r) {
  assert_ptr_equal(r->inst.run(&r->wave, &r->inst), &r->inst + 1);
#if defined(__x86_64__)
  // The host's own arithmetic is in between.
  __builtin_ia32_ldmxcsr(0x1f80);
  r->wave.csr = UINT32_MAX;
#endif
}

static inline float rows_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static inline uint32_t rows_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

// Numbers that differ from run to run of a loop only.
static inline uint32_t rows_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

#endif  // IREE_C_TESTS_ISA_ROWS_H_
