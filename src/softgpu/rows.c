// Instruction rows by mnemonic: one hash table over the tables of all units.
#include <pthread.h>
#include <stdlib.h>

#include "softgpu/kernel.h"
#include "softgpu/vector_levels.h"

enum { ROWS_CAPACITY = 1 << 13 };
static const inst_row_t* rows[ROWS_CAPACITY];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

#define TABLE(name) extern const inst_table_t name;
WAVE_SCALAR_TABLES(TABLE)
#undef TABLE
#define TABLE(name) VECTOR_LEVELS_DECLARE(inst_table_t, name)
WAVE_VECTOR_TABLES(TABLE)
#undef TABLE

static const inst_table_t* const scalar_tables[] = {
#define TABLE(name) &name,
    WAVE_SCALAR_TABLES(TABLE)
#undef TABLE
};
static const inst_table_t* const vector_tables[][3] = {
#define TABLE(name) VECTOR_LEVELS(name),
    WAVE_VECTOR_TABLES(TABLE)
#undef TABLE
};

static uint32_t hash(const char* text, size_t size) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < size; ++i) h = (h ^ (uint8_t)text[i]) * 16777619u;
  return h;
}

static void add_table(const inst_table_t* table) {
  for (uint32_t i = 0; i < table->count; ++i) {
    const char* name = table->rows[i].name;
    uint32_t at = hash(name, strlen(name)) % ROWS_CAPACITY;
    while (rows[at] && strcmp(rows[at]->name, name) != 0) at = (at + 1) % ROWS_CAPACITY;
    if (!rows[at]) rows[at] = &table->rows[i];
  }
}

// Level of x86-64's vector instructions, 2 to 4; IREE_SOFTGPU_VECTOR asks for a lower one.
static int host_level(void) {
  int level = 2;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) level = 3;
  if (level == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
    level = 4;
  }
#endif
  const char* asked = getenv("IREE_SOFTGPU_VECTOR");
  int most = asked ? atoi(asked) : level;
  return most >= 2 && most < level ? most : level;
}

static void fill(void) {
  int level = host_level();
  for (size_t i = 0; i < sizeof(scalar_tables) / sizeof(scalar_tables[0]); ++i) add_table(scalar_tables[i]);
  for (size_t i = 0; i < sizeof(vector_tables) / sizeof(vector_tables[0]); ++i) add_table(vector_tables[i][level - 2]);
}

static const inst_row_t* find(const char* name, size_t size) {
  uint32_t at = hash(name, size) % ROWS_CAPACITY;
  for (; rows[at]; at = (at + 1) % ROWS_CAPACITY) {
    if (strncmp(rows[at]->name, name, size) == 0 && !rows[at]->name[size]) return rows[at];
  }
  return NULL;
}

static bool ends_with(const char* name, size_t size, const char* suffix) {
  size_t length = strlen(suffix);
  return size > length && memcmp(name + size - length, suffix, length) == 0;
}

const inst_row_t* rows_find(const char* mnemonic) {
  static const char* const suffixes[] = {"_dpp8", "_dpp", "_sdwa", "_e32", "_e64", "_e96"};
  pthread_once(&rows_once, fill);
  char name[96];
  size_t size = strlen(mnemonic);
  if (size >= sizeof(name)) return NULL;
  memcpy(name, mnemonic, size + 1);
  const char* at = name;
  // v_dual_fmac_f32 is v_fmac_f32.
  if (strncmp(name, "v_dual_", 7) == 0) {
    name[5] = 'v', name[6] = '_';
    at = name + 5, size -= 5;
  }
  const inst_row_t* row = find(at, size);
  for (size_t i = 0; !row && i < sizeof(suffixes) / sizeof(suffixes[0]); ++i) {
    if (!ends_with(at, size, suffixes[i])) continue;
    size -= strlen(suffixes[i]);
    row = find(at, size);
  }
  return row;
}

engine_fidelity_t engine_fidelity(const char* mnemonic) {
  const inst_row_t* row = rows_find(mnemonic);
  return row ? (engine_fidelity_t)row->fidelity : ENGINE_MISSING;
}
