// Processor features by CPUID, restricted to what the system lets programs use.
#include "iree/base/internal/cpu.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iree/base/threading/call_once.h"

#if defined(IREE_ARCH_X86_64)
#include <cpuid.h>
#endif

#define LEAF_7_1 0x00010007u  // leaf 7, subleaf 1

enum { NEEDS_NONE, NEEDS_AVX, NEEDS_AVX512, NEEDS_AMX };

typedef struct feature_row_t {
  uint8_t data_bit;
  const char* name;
  uint32_t leaf;
  uint8_t leaf_register;
  uint8_t leaf_bit;
  uint8_t needs;
} feature_row_t;

static const feature_row_t feature_rows[] = {
#if defined(IREE_ARCH_X86_64)
#define FEATURE(data_bit, name, leaf, leaf_register, leaf_bit, needs) \
  {data_bit, name, leaf, leaf_register, leaf_bit, NEEDS_##needs},
#include "base/cpu_features.def"
#undef FEATURE
#else
    {0, NULL, 0, 0, 0, 0},
#endif
};

static uint64_t cpu_data[IREE_CPU_DATA_FIELD_COUNT];

#if defined(IREE_ARCH_X86_64)

static uint32_t read_leaf_register(uint32_t leaf, uint8_t leaf_register) {
  uint32_t subleaf = leaf == LEAF_7_1 ? 1 : 0;
  uint32_t registers[4] = {0};
  if (leaf == LEAF_7_1) leaf = 7;
  if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3])) return 0;
  return registers[leaf_register];
}

// Linux hands out AMX's tile registers to processes that ask.
static bool request_amx(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

// Bit NEEDS_x set: the system saves what x needs.
static uint32_t saved_state(void) {
  uint32_t saved = 1u << NEEDS_NONE;
  if (!(read_leaf_register(1, 2) & (1u << 27))) return saved;  // OSXSAVE
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (iree_all_bits_set(low, 0x6u)) saved |= 1u << NEEDS_AVX;
  if (iree_all_bits_set(low, 0xE6u)) saved |= 1u << NEEDS_AVX512;
  if (iree_all_bits_set(low, 0x60000u) && request_amx()) saved |= 1u << NEEDS_AMX;
  return saved;
}

static void cpu_query(void) {
  uint32_t saved = saved_state();
  for (size_t i = 0; i < IREE_ARRAYSIZE(feature_rows); ++i) {
    const feature_row_t* row = &feature_rows[i];
    bool present = (read_leaf_register(row->leaf, row->leaf_register) >> row->leaf_bit) & 1;
    if (present && (saved >> row->needs & 1)) cpu_data[0] |= 1ull << row->data_bit;
  }
}

#else

static void cpu_query(void) {}

#endif  // IREE_ARCH_X86_64

void iree_cpu_initialize(iree_allocator_t temp_allocator) {
  static iree_once_flag once = IREE_ONCE_FLAG_INIT;
  iree_call_once(&once, cpu_query);
}

const uint64_t* iree_cpu_data_fields(void) {
  iree_cpu_initialize(iree_allocator_system());
  return cpu_data;
}

uint64_t iree_cpu_data_field(iree_host_size_t field) {
  return field < IREE_CPU_DATA_FIELD_COUNT ? iree_cpu_data_fields()[field] : 0;
}

void iree_cpu_read_data(iree_host_size_t field_count, uint64_t* out_fields) {
  for (iree_host_size_t i = 0; i < field_count; ++i) out_fields[i] = iree_cpu_data_field(i);
}

bool iree_cpu_enumerate_feature(iree_host_size_t i, iree_string_view_t* out_name, bool* out_present) {
  if (i >= IREE_ARRAYSIZE(feature_rows) || !feature_rows[i].name) return false;
  *out_name = iree_make_cstring_view(feature_rows[i].name);
  *out_present = iree_cpu_data_fields()[0] >> feature_rows[i].data_bit & 1;
  return true;
}

iree_status_t iree_cpu_lookup_data_by_key(iree_string_view_t key, int64_t* out_value) {
  *out_value = 0;
  iree_string_view_t name;
  bool present = false;
  for (iree_host_size_t i = 0; iree_cpu_enumerate_feature(i, &name, &present); ++i) {
    if (!iree_string_view_equal(name, key)) continue;
    *out_value = present;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "processor feature '%.*s' is not known on " IREE_ARCH, (int)key.size,
                          key.data);
}

iree_cpu_processor_id_t iree_cpu_query_processor_id(void) {
  int id = sched_getcpu();
  return id < 0 ? 0 : (iree_cpu_processor_id_t)id;
}
