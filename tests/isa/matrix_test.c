// Matrix rows: matrices are put into registers and taken out again by the layouts that AMD's manuals give for each
// shape, written here per element, and compared with a plain product.
#define ROWS_TABLES(TABLE) TABLE(matrix_table)
#include "base/small_float.h"
#include "rows.h"

enum { A_REGISTER = 16, B_REGISTER = 48, C_REGISTER = 80, D_REGISTER = 128, INDEX_REGISTER = 200 };

// Where an element of A or B is: register and bit by the number in its lane.
typedef struct layout_t {
  const char* name;
  int major, minor, stepping;
  uint32_t lanes;
  uint32_t m, k, blocks;
  uint32_t bits;         // of an element of A and B; 16 is f16 unless `is_brain`
  uint32_t result_bits;  // 16, 32; 33 for integers
  bool is_brain, is_signed, is_float8;
  bool is_sparse;
  bool is_wide[2];  // of 8-bit floats: A, B have 5 bits of exponent
} layout_t;

static void put(rows_t* r, uint32_t base, uint32_t lane, uint32_t number, uint32_t bits, uint32_t value) {
  uint32_t* word = rows_lanes(r, base + number * bits / 32) + lane;
  uint32_t shift = number * bits % 32, mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
  *word = (*word & ~(mask << shift)) | (value & mask) << shift;
}

static uint32_t encode(const layout_t* t, uint32_t base, int value) {
  if (t->is_float8 && t->is_wide[base == B_REGISTER]) {
    return small_float_encode(t->major >= 12 ? SMALL_F8E5M2 : SMALL_F8E5M2FNUZ, value);
  }
  if (t->is_float8) return small_float_encode(t->major >= 12 ? SMALL_F8E4M3FN : SMALL_F8E4M3FNUZ, value);
  if (t->bits <= 8) return (uint32_t)value;
  if (t->bits == 16) return small_float_encode(t->is_brain ? SMALL_BF16 : SMALL_F16, value);
  return rows_bits((float)value);
}

// Elements of a row that one lane holds: all of them on gfx11, whose upper lanes repeat the lower ones.
static uint32_t each_of(const layout_t* t) {
  bool is_wmma = t->major >= 11;
  return is_wmma && t->major < 12 ? t->k : t->k / (t->lanes / (t->m * t->blocks));
}

static void put_operand(rows_t* r, const layout_t* t, uint32_t base, uint32_t i, uint32_t block, uint32_t k,
                        int value) {
  uint32_t each = each_of(t), lane = i + t->m * block;
  if (t->major == 11) {
    for (; lane < t->lanes; lane += 16) put(r, base, lane, k, t->bits, encode(t, base, value));
    return;
  }
  lane += t->m * t->blocks * (k / each);
  put(r, base, lane, k % each, t->bits, encode(t, base, value));
}

// Register and lane of D's element (row, column) of a block, were its elements 32 bits.
static void find_result(const layout_t* t, uint32_t block, uint32_t row, uint32_t column, uint32_t* reg,
                        uint32_t* lane) {
  if (t->major == 11) {
    // Rows alternate between the groups of 16 lanes.
    *reg = row / (t->lanes / 16), *lane = row % (t->lanes / 16) * 16 + column;
  } else if (t->major >= 12) {
    uint32_t per_group = t->lanes == 32 ? 8 : 4;
    *reg = row % per_group, *lane = row / per_group * 16 + column;
  } else if (t->m == 32) {
    *reg = 16 * block + row / 8 * 4 + row % 4, *lane = column + 32 * (row / 4 % 2);
  } else if (t->m == 16) {
    *reg = 4 * block + row % 4, *lane = column + 16 * (row / 4);
  } else {
    *reg = row, *lane = column + 4 * block;
  }
}

static uint32_t read_result(rows_t* r, const layout_t* t, uint32_t block, uint32_t row, uint32_t column) {
  uint32_t reg, lane;
  find_result(t, block, row, column, &reg, &lane);
  if (t->result_bits != 16) return rows_lanes(r, D_REGISTER + reg)[lane];
  bool is_packed = t->major >= 12;
  return rows_lanes(r, D_REGISTER + (is_packed ? reg / 2 : reg))[lane] >> (is_packed ? reg % 2 * 16 : 0) & 0xffff;
}

static void write_result(rows_t* r, const layout_t* t, uint32_t block, uint32_t row, uint32_t column, int value) {
  uint32_t reg, lane, base = t->is_sparse ? D_REGISTER : C_REGISTER;
  find_result(t, block, row, column, &reg, &lane);
  if (t->result_bits == 16) {
    uint32_t bits = small_float_encode(t->is_brain ? SMALL_BF16 : SMALL_F16, value);
    if (t->major >= 12) {
      put(r, base, lane, reg, 16, bits);
    } else {
      rows_lanes(r, base + reg)[lane] = bits;
    }
  } else {
    rows_lanes(r, base + reg)[lane] = t->result_bits == 33 ? (uint32_t)value : rows_bits((float)value);
  }
}

static int matrix_a[16][32][128], matrix_b[16][128][32], matrix_c[16][32][32];

static void fill(rows_t* r, const layout_t* t, uint64_t* seed) {
  int low = t->bits == 4 && !t->is_signed ? 0 : t->bits == 8 && !t->is_signed && !t->is_float8 ? 0 : -4;
  memset(matrix_a, 0, sizeof(matrix_a));
  for (uint32_t block = 0; block < t->blocks; ++block) {
    for (uint32_t i = 0; i < t->m; ++i) {
      for (uint32_t k = 0; k < t->k; ++k) {
        matrix_b[block][k][i] = low + (int)(rows_random(seed) % 9);
        if (t->bits == 4 && t->is_signed && matrix_b[block][k][i] > 7) matrix_b[block][k][i] = 7;
        put_operand(r, t, B_REGISTER, i, block, k, matrix_b[block][k][i]);
        if (t->is_sparse) continue;
        matrix_a[block][i][k] = low + (int)(rows_random(seed) % 8);
        put_operand(r, t, A_REGISTER, i, block, k, matrix_a[block][i][k]);
      }
      for (uint32_t j = 0; j < t->m; ++j) {
        matrix_c[block][i][j] = (int)(rows_random(seed) % 20) - 10;
        write_result(r, t, block, i, j, matrix_c[block][i][j]);
      }
    }
  }
}

// Two of every four elements of A, and where they are.
static void fill_sparse(rows_t* r, const layout_t* t, uint64_t* seed, uint32_t set) {
  uint32_t each = each_of(t), stored = each / 2, bits = 2 * stored;
  for (uint32_t lane = 0; lane < t->lanes; ++lane) {
    uint32_t row = lane % t->m, first = lane / t->m * each, index = 0;
    for (uint32_t e = 0; e < stored; ++e) {
      uint32_t at = e % 2 ? 2 + rows_random(seed) % 2 : rows_random(seed) % 2;
      int value = (int)(rows_random(seed) % 7) - (t->is_signed || t->bits == 16 || t->is_float8 ? 3 : 0);
      index |= at << 2 * e;
      put(r, A_REGISTER, lane, e, t->bits, encode(t, A_REGISTER, value));
      matrix_a[0][row][first + e / 2 * 4 + at] = value;
    }
    rows_lanes(r, INDEX_REGISTER)[lane] = bits == 32 ? index : index << set * bits;
  }
}

static void compare(rows_t* r, const layout_t* t, int level, uint32_t cbsz, uint32_t abid) {
  for (uint32_t block = 0; block < t->blocks; ++block) {
    // cbsz, abid: groups of 2^cbsz blocks share one block of A.
    uint32_t from = cbsz ? (block & ~((1u << cbsz) - 1)) + abid : block;
    for (uint32_t i = 0; i < t->m; ++i) {
      for (uint32_t j = 0; j < t->m; ++j) {
        int sum = matrix_c[block][i][j];
        for (uint32_t k = 0; k < t->k; ++k) sum += matrix_a[from][i][k] * matrix_b[block][k][j];
        uint32_t want = t->result_bits == 33   ? (uint32_t)sum
                        : t->result_bits == 32 ? rows_bits((float)sum)
                                               : small_float_encode(t->is_brain ? SMALL_BF16 : SMALL_F16, sum);
        uint32_t got = read_result(r, t, block, i, j);
        if (got != want && ((got | want) & 0x7fffffff)) {
          fail_msg("%s level %d, %u lanes: D[%u][%u] of block %u is %08x, not %08x", t->name, level, t->lanes, i, j,
                   block, got, want);
        }
      }
    }
  }
}

static const layout_t layouts[] = {
    {"v_wmma_f32_16x16x16_f16", 11, 0, 0, 32, 16, 16, 1, 16, 32},
    {"v_wmma_f32_16x16x16_f16", 11, 0, 0, 64, 16, 16, 1, 16, 32},
    {"v_wmma_f32_16x16x16_bf16", 11, 0, 0, 32, 16, 16, 1, 16, 32, .is_brain = true},
    {"v_wmma_f16_16x16x16_f16", 11, 0, 0, 32, 16, 16, 1, 16, 16},
    {"v_wmma_bf16_16x16x16_bf16", 11, 0, 0, 64, 16, 16, 1, 16, 16, .is_brain = true},
    {"v_wmma_i32_16x16x16_iu8", 11, 0, 0, 32, 16, 16, 1, 8, 33},
    {"v_wmma_i32_16x16x16_iu8", 11, 0, 0, 64, 16, 16, 1, 8, 33, .is_signed = true},
    {"v_wmma_i32_16x16x16_iu4", 11, 0, 0, 32, 16, 16, 1, 4, 33, .is_signed = true},
    {"v_wmma_f32_16x16x16_f16", 12, 0, 1, 32, 16, 16, 1, 16, 32},
    {"v_wmma_f32_16x16x16_f16", 12, 0, 1, 64, 16, 16, 1, 16, 32},
    {"v_wmma_f16_16x16x16_f16", 12, 0, 1, 32, 16, 16, 1, 16, 16},
    {"v_wmma_bf16_16x16x16_bf16", 12, 0, 1, 64, 16, 16, 1, 16, 16, .is_brain = true},
    {"v_wmma_i32_16x16x16_iu8", 12, 0, 1, 32, 16, 16, 1, 8, 33, .is_signed = true},
    {"v_wmma_i32_16x16x32_iu4", 12, 0, 1, 32, 16, 32, 1, 4, 33},
    {"v_wmma_f32_16x16x16_fp8_fp8", 12, 0, 1, 32, 16, 16, 1, 8, 32, .is_float8 = true},
    {"v_swmmac_f32_16x16x32_f16", 12, 0, 1, 32, 16, 32, 1, 16, 32, .is_sparse = true},
    {"v_swmmac_f32_16x16x32_f16", 12, 0, 1, 64, 16, 32, 1, 16, 32, .is_sparse = true},
    {"v_swmmac_f16_16x16x32_f16", 12, 0, 1, 32, 16, 32, 1, 16, 16, .is_sparse = true},
    {"v_swmmac_i32_16x16x32_iu8", 12, 0, 1, 32, 16, 32, 1, 8, 33, .is_signed = true, .is_sparse = true},
    {"v_swmmac_i32_16x16x64_iu4", 12, 0, 1, 32, 16, 64, 1, 4, 33, .is_sparse = true},
    {"v_swmmac_f32_16x16x32_fp8_fp8", 12, 0, 1, 32, 16, 32, 1, 8, 32, .is_float8 = true, .is_sparse = true},
    {"v_mfma_f32_32x32x1f32", 9, 0, 10, 64, 32, 1, 2, 32, 32},
    {"v_mfma_f32_16x16x1f32", 9, 0, 10, 64, 16, 1, 4, 32, 32},
    {"v_mfma_f32_4x4x1f32", 9, 0, 10, 64, 4, 1, 16, 32, 32},
    {"v_mfma_f32_32x32x2f32", 9, 0, 10, 64, 32, 2, 1, 32, 32},
    {"v_mfma_f32_16x16x4f32", 9, 0, 10, 64, 16, 4, 1, 32, 32},
    {"v_mfma_f32_32x32x4f16", 9, 0, 10, 64, 32, 4, 2, 16, 32},
    {"v_mfma_f32_16x16x4f16", 9, 0, 10, 64, 16, 4, 4, 16, 32},
    {"v_mfma_f32_4x4x4f16", 9, 0, 10, 64, 4, 4, 16, 16, 32},
    {"v_mfma_f32_32x32x8f16", 9, 0, 10, 64, 32, 8, 1, 16, 32},
    {"v_mfma_f32_16x16x16f16", 9, 0, 10, 64, 16, 16, 1, 16, 32},
    {"v_mfma_f32_32x32x2bf16", 9, 0, 10, 64, 32, 2, 2, 16, 32, .is_brain = true},
    {"v_mfma_f32_16x16x8bf16", 9, 0, 10, 64, 16, 8, 1, 16, 32, .is_brain = true},
    {"v_mfma_f32_16x16x16bf16_1k", 9, 0, 10, 64, 16, 16, 1, 16, 32, .is_brain = true},
    {"v_mfma_i32_32x32x8i8", 9, 0, 10, 64, 32, 8, 1, 8, 33, .is_signed = true},
    {"v_mfma_i32_4x4x4i8", 9, 0, 10, 64, 4, 4, 16, 8, 33, .is_signed = true},
    {"v_mfma_i32_16x16x32_i8", 9, 4, 2, 64, 16, 32, 1, 8, 33, .is_signed = true},
    {"v_mfma_i32_32x32x16_i8", 9, 4, 2, 64, 32, 16, 1, 8, 33, .is_signed = true},
    {"v_mfma_f32_16x16x8_xf32", 9, 4, 2, 64, 16, 8, 1, 32, 32},
    {"v_mfma_f32_16x16x32_fp8_fp8", 9, 4, 2, 64, 16, 32, 1, 8, 32, .is_float8 = true},
    {"v_mfma_f32_32x32x16_fp8_fp8", 9, 4, 2, 64, 32, 16, 1, 8, 32, .is_float8 = true},
    {"v_smfmac_f32_16x16x32_f16", 9, 4, 2, 64, 16, 32, 1, 16, 32, .is_sparse = true},
    {"v_smfmac_f32_32x32x16_bf16", 9, 4, 2, 64, 32, 16, 1, 16, 32, .is_brain = true, .is_sparse = true},
    {"v_smfmac_i32_16x16x64_i8", 9, 4, 2, 64, 16, 64, 1, 8, 33, .is_signed = true, .is_sparse = true},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 9, 4, 2, 64, 32, 32, 1, 8, 32, .is_float8 = true, .is_sparse = true},
};

static void make(rows_t* r, const layout_t* t, int level) {
  rows_make(r, t->name, level, D_REGISTER, 3);
  r->inst.src[0] = rows_register(r, A_REGISTER);
  r->inst.src[1] = rows_register(r, B_REGISTER);
  r->inst.src[2] = rows_register(r, t->is_sparse ? INDEX_REGISTER : C_REGISTER);
  if (t->major >= 11 && t->is_signed) r->inst.neg_lo = 3;
}

static void check_product(const layout_t* t, int level, uint64_t* seed) {
  rows_t r;
  rows_open(&r, t->lanes, t->major, t->minor, t->stepping);
  fill(&r, t, seed);
  uint32_t sets = t->is_sparse ? 32 / each_of(t) : 1;
  if (t->is_sparse) fill_sparse(&r, t, seed, sets - 1);
  make(&r, t, level);
  r.inst.index_key = r.inst.abid = (int16_t)(sets - 1);
  if (t->major >= 11) r.inst.abid = 0;
  rows_run(&r);
  compare(&r, t, level, 0, 0);
  rows_close(&r);
}

static void test_products(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 17;
    for (size_t t = 0; t < sizeof(layouts) / sizeof(layouts[0]); ++t) check_product(&layouts[t], level, &seed);
  }
}

// What a mnemonic says of its layout: v_mfma_f32_32x32x4_2b_bf16. Names without an underscore before the type leave
// out the blocks: a lane holds as many elements as its registers do.
static bool read_name(const char* name, layout_t* t) {
  unsigned m, n, k, blocks = 1;
  char result[8];
  const char* at = strchr(name + 2, '_') + 1;
  if (sscanf(at, "%4[a-z0-9]_%ux%ux%u", result, &m, &n, &k) != 4 || strcmp(result, "f64") == 0) return false;
  at = strchr(strchr(at, 'x') + 1, 'x') + 1;
  at += strspn(at, "0123456789");
  bool is_old = *at != '_', is_long = strstr(name, "_1k");
  if (!is_old && sscanf(at, "_%ub_", &blocks) == 1 && strstr(at, "b_")) at = strstr(at, "b_") + 1;
  *t = (layout_t){.name = name, .m = m, .k = k, .lanes = 32, .major = 12, .stepping = 1};
  t->is_sparse = strstr(name, "smfmac") || strstr(name, "swmmac");
  if (strstr(name, "mfma")) t->lanes = 64, t->major = 9, t->minor = is_old ? 0 : 4, t->stepping = is_old ? 10 : 2;
  t->is_brain = strstr(at, "bf16") != NULL, t->is_signed = strchr(at, 'i') != NULL;
  t->is_float8 = strstr(at, "fp8") || strstr(at, "bf8");
  if (t->is_float8) t->is_wide[0] = strncmp(at, "_bf8", 4) == 0, t->is_wide[1] = strncmp(at + 4, "_bf8", 4) == 0;
  t->bits = strstr(at, "32") ? 32 : strstr(at, "16") ? 16 : strchr(at, '4') ? 4 : 8;
  if (is_old) blocks = 64 * (t->bits == 32 ? 1 : t->is_brain && !is_long ? 2 : 4) / (m * k);
  t->blocks = blocks;
  t->result_bits = result[0] == 'i' ? 33 : strcmp(result, "f32") == 0 ? 32 : 16;
  return true;
}

static void test_every_row(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 29;
    const inst_table_t* table = rows_tables[0][level - 2];
    for (uint32_t i = 0; i < table->count; ++i) {
      layout_t layout;
      if (!read_name(table->rows[i].name, &layout)) continue;
      check_product(&layout, level, &seed);
      if (layout.major != 12) continue;
      layout.lanes = 64;
      check_product(&layout, level, &seed);
    }
  }
}

static void test_broadcast(void** state) {
  static const layout_t shapes[] = {{"v_mfma_f32_32x32x4f16", 9, 0, 10, 64, 32, 4, 2, 16, 32},
                                    {"v_mfma_f32_16x16x4f16", 9, 0, 10, 64, 16, 4, 4, 16, 32},
                                    {"v_mfma_f32_4x4x4f16", 9, 0, 10, 64, 4, 4, 16, 16, 32}};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 19;
    for (uint32_t t = 0; t < 3; ++t) {
      for (uint32_t cbsz = 1; 1u << cbsz <= shapes[t].blocks; ++cbsz) {
        rows_t r;
        uint32_t abid = (1u << cbsz) - 1;
        rows_open(&r, 64, 9, 0, 10);
        fill(&r, &shapes[t], &seed);
        make(&r, &shapes[t], level);
        r.inst.cbsz = (int16_t)cbsz, r.inst.abid = (int16_t)abid;
        rows_run(&r);
        compare(&r, &shapes[t], level, cbsz, abid);
        rows_close(&r);
      }
    }
  }
}

// blgp: lanes of B stand for others. B is all ones in one half of the wave.
static void test_lanes_of_b(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 0, 10);
    for (uint32_t i = 0; i < 64; ++i) {
      rows_lanes(&r, A_REGISTER)[i] = rows_bits(1);
      rows_lanes(&r, B_REGISTER)[i] = rows_bits((float)i);
    }
    static const uint32_t expected[] = {5, 5, 37, 21, 5, 21, 37, 53};
    for (int16_t blgp = 0; blgp < 8; ++blgp) {
      rows_make(&r, "v_mfma_f32_32x32x1f32", level, D_REGISTER, 3);
      r.inst.src[0] = rows_register(&r, A_REGISTER);
      r.inst.src[1] = rows_register(&r, B_REGISTER);
      r.inst.src[2] = (operand_t){.kind = OPERAND_CONSTANT, .value = 0};
      r.inst.blgp = blgp;
      rows_run(&r);
      assert_true(rows_float(rows_lanes(&r, D_REGISTER)[5]) == (float)expected[blgp]);
    }
    rows_close(&r);
  }
}

static void put_double(rows_t* r, uint32_t reg, uint32_t lane, double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  rows_lanes(r, reg)[lane] = (uint32_t)bits;
  rows_lanes(r, reg + 1)[lane] = (uint32_t)(bits >> 32);
}
static double get_double(rows_t* r, uint32_t reg, uint32_t lane) {
  uint64_t bits = rows_lanes(r, reg)[lane] | (uint64_t)rows_lanes(r, reg + 1)[lane] << 32;
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

static void test_doubles(void** state) {
  for (int k = 4; k < 2 * rows_levels() + 2; ++k) {
    const int level = k / 2;
    const bool is_newer = k % 2;
    rows_t r;
    uint64_t seed = 23;
    rows_open(&r, 64, 9, is_newer ? 4 : 0, is_newer ? 2 : 10);
    double a[64], b[64];
    for (uint32_t i = 0; i < 64; ++i) {
      a[i] = (double)(rows_random(&seed) % 100) / 8, b[i] = (double)(rows_random(&seed) % 100) / 4 - 10;
      put_double(&r, A_REGISTER, i, a[i]);
      put_double(&r, B_REGISTER, i, b[i]);
      for (uint32_t reg = 0; reg < 8; reg += 2) put_double(&r, C_REGISTER + reg, i, (double)(i + reg));
    }
    rows_make(&r, is_newer ? "v_mfma_f64_16x16x4_f64" : "v_mfma_f64_16x16x4f64", level, D_REGISTER, 3);
    r.inst.src[0] = rows_register(&r, A_REGISTER);
    r.inst.src[1] = rows_register(&r, B_REGISTER);
    r.inst.src[2] = rows_register(&r, C_REGISTER);
    rows_run(&r);
    for (uint32_t i = 0; i < 16; ++i) {
      for (uint32_t j = 0; j < 16; ++j) {
        uint32_t reg = i / 4 * 2, lane = j + 16 * (i % 4);
        double want = (double)(lane + reg);
        for (uint32_t k = 0; k < 4; ++k) want += a[i + 16 * k] * b[j + 16 * k];
        assert_true(get_double(&r, D_REGISTER + reg, lane) == want);
      }
    }
    // Four blocks of 4 x 4, A negated.
    rows_make(&r, is_newer ? "v_mfma_f64_4x4x4_4b_f64" : "v_mfma_f64_4x4x4f64", level, D_REGISTER, 3);
    r.inst.src[0] = rows_register(&r, A_REGISTER);
    r.inst.src[1] = rows_register(&r, B_REGISTER);
    r.inst.src[2] = rows_register(&r, C_REGISTER);
    r.inst.neg = 1;
    rows_run(&r);
    for (uint32_t lane = 0; lane < 64; ++lane) {
      uint32_t j = lane % 4, block = lane / 4 % 4, i = lane / 16;
      double want = (double)lane;
      for (uint32_t k = 0; k < 4; ++k) want -= a[i + 4 * (block + 4 * k)] * b[j + 4 * (block + 4 * k)];
      assert_true(get_double(&r, D_REGISTER, lane) == want);
    }
    rows_close(&r);
  }
}

static void test_all_rows_seen(void** state) { rows_expect_all(NULL); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products),   cmocka_unit_test(test_every_row), cmocka_unit_test(test_broadcast),
      cmocka_unit_test(test_lanes_of_b), cmocka_unit_test(test_doubles),   cmocka_unit_test(test_all_rows_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
