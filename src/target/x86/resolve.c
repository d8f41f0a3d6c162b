// x86-64 processors: names and features come from LLVM's own tables, the host's from the processor itself.
#include "target/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "iree/base/internal/cpu.h"
#include "target/matrix.h"
#include "target/names.h"

const char* resolve_x86_name(uint32_t index) {
  static const char* const extra[] = {"host", "generic"};
  return index < 2 ? extra[index] : processors_x86_name(index - 2);
}

// '+' or '-' as the list ends up saying, 0 when it does not say.
static char sign_of(const target_t* t, const char* feature) {
  size_t size = strlen(feature);
  char sign = 0;
  for (const char* at = t->features; (at = strstr(at, feature)); at += size) {
    bool whole = at > t->features && (at[-1] == '+' || at[-1] == '-') && (at[size] == 0 || at[size] == ',');
    if (whole) sign = at[-1];
  }
  return sign;
}

static bool has(const target_t* t, const char* feature) { return sign_of(t, feature) == '+'; }

static int64_t cache_bytes(int name, int64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

// Tile registers take permission of the system, for which only kernels that use them ask.
static bool is_tile_feature(const char* feature) { return strncmp(feature, "amx-", 4) == 0; }

static matrix_family_t tile_family(const target_t* t) {
  bool bytes = has(t, "amx-int8"), bf16 = has(t, "amx-bf16");
  if (!has(t, "amx-tile") || !has(t, "avx512bw")) return MATRIX_NONE;
  return bytes && bf16 ? MATRIX_AMX : bytes ? MATRIX_AMX_INT8 : bf16 ? MATRIX_AMX_BF16 : MATRIX_NONE;
}

// Asks the system for tile registers, once.
static bool may_use_tiles(void) {
  int64_t has = 0;
  iree_status_ignore(iree_cpu_lookup_data_by_key(IREE_SV("amx-tile"), &has));
  return has != 0;
}

static void describe(target_t* t, bool is_host) {
  bool wide = has(t, "avx512f") && has(t, "avx512bw") && has(t, "avx512dq") && has(t, "avx512vl");
  t->device = (device_info_t){
      .kind = DEVICE_CPU,
      .vector_bytes = wide             ? 64
                      : has(t, "avx2") ? 32
                                       : 16,
      .vector_registers = wide ? 32 : 16,
      .has_fma = has(t, "fma"),
      .has_f16_arithmetic = has(t, "avx512fp16"),
      .has_bf16_dot = has(t, "avx512bf16"),
      .has_int8_dot = has(t, "avx512vnni") || has(t, "avxvnni"),
      .has_masks = wide,
      .l1_bytes = 32 << 10,
      .l2_bytes = wide ? 1 << 20 : 256 << 10,
      .max_workgroup_size = 1,
      .subgroup_size = 1,
  };
  matrix_rows(tile_family(t), &t->device.mma, &t->device.mma_count);
  if (!is_host) return;
  if (t->device.mma_count && !may_use_tiles()) t->device.mma = NULL, t->device.mma_count = 0;
  t->device.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, t->device.l1_bytes);
  t->device.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, t->device.l2_bytes);
}

// The processor's own features, then the user's: later ones win.
static bool join_features(target_t* out, const char* own, const char* given, text_t* error) {
  text_t all = {0};
  text_puts(&all, own);
  if (given && *given) text_printf(&all, "%s%s", *own ? "," : "", given);
  bool ok = resolve_copy(out->features, sizeof(out->features), all.data ? all.data : "", "the list of features", error);
  text_finish(&all);
  return ok;
}

static bool list_needs(target_t* t, bool tiles, text_t* error) {
  static const char* const asked[] = {
#define FEATURE(data_bit, name, ...) name,
#include "base/cpu_features.def"
#undef FEATURE
  };
  text_t list = {0};
  text_puts(&list, "");
  for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); ++i) {
    if (is_tile_feature(asked[i]) == tiles && has(t, asked[i]))
      text_printf(&list, "%s%s", list.size ? "," : "", asked[i]);
  }
  char* out = tiles ? t->tile_needs : t->needs;
  size_t size = tiles ? sizeof(t->tile_needs) : sizeof(t->needs);
  bool ok = resolve_copy(out, size, list.data ? list.data : "", "the list of needed features", error);
  text_finish(&list);
  return ok;
}

// Of which LLVM is asked what features there are.
#define TRIPLE "x86_64-unknown-unknown-eabi-elf"

static bool resolve_triple(const target_options_t* options, target_t* out, text_t* error) {
  const char* triple = options->triple && *options->triple ? options->triple : NULL;
  if (!triple) triple = options->system_elf ? "x86_64-unknown-linux-gnu" : "x86_64-unknown-unknown-eabi-elf";
  if (strncmp(triple, "x86_64-", 7) != 0 && strcmp(triple, "x86_64") != 0) {
    text_printf(error, "llvm-cpu compiles for x86_64, aarch64 and riscv64; triple '%s' is none of them", triple);
    return false;
  }
  if (strstr(triple, "windows") || strstr(triple, "darwin") || strstr(triple, "macos")) {
    text_printf(error, "llvm-cpu makes ELF executables; triple '%s' does not have them", triple);
    return false;
  }
  return resolve_copy(out->triple, sizeof(out->triple), triple, "the target triple", error);
}

bool resolve_x86(const target_options_t* options, target_t* out, text_t* error) {
  const char* name = options->cpu && *options->cpu ? options->cpu : "host";
  bool is_host = strcmp(name, "host") == 0;
  const char* machine = strcmp(name, "generic") == 0 ? "x86-64" : name;
  out->system_elf = options->system_elf;
  if (!resolve_triple(options, out, error)) return false;
  if (options->abi && *options->abi && strcmp(options->abi, "sysv") != 0) {
    text_printf(error, "--iree-llvmcpu-target-abi=%s is not known for '%s', which has sysv only", options->abi,
                out->triple);
    return false;
  }
  char* own_name = is_host ? processors_host_name() : memory_strdup(machine);
  char* own_features = is_host ? processors_host_features() : processors_x86_features(machine);
  char* given = options->features && strcmp(options->features, "host") == 0 ? processors_host_features()
                : options->features                                         ? memory_strdup(options->features)
                                                                            : NULL;
  bool ok = own_features != NULL;
  if (!ok) names_report(error, "CPU", name, resolve_x86_name);
  ok = ok && resolve_check_features(given, processors_has_feature, TRIPLE, "x86-64", error) &&
       resolve_copy(out->name, sizeof(out->name), name, "the processor's name", error) &&
       resolve_copy(out->cpu, sizeof(out->cpu), own_name, "the processor's name", error) &&
       join_features(out, own_features, given, error) && list_needs(out, false, error) && list_needs(out, true, error);
  memory_free(own_name);
  memory_free(own_features);
  memory_free(given);
  if (!ok) return false;
  const char* format = options->system_elf ? "system-elf-x86_64" : "embedded-elf-x86_64";
  memcpy(out->format, format, strlen(format) + 1);
  describe(out, is_host);
  return true;
}

bool resolve_x86_runs_here(const target_t* target) {
#if defined(__x86_64__)
  bool runs = !target->device.mma_count || may_use_tiles();
  target_t* host = memory_alloc(sizeof(*host));
  char* features = processors_host_features();
  text_t error = {0};
  if (!resolve_copy(host->features, sizeof(host->features), features, "features", &error)) runs = false;
  for (const char* at = target->features; runs && *at;) {
    char feature[64];
    size_t size = strcspn(at, ",");
    snprintf(feature, sizeof(feature), "%.*s", (int)size - 1, at + 1);
    runs = !has(target, feature) || sign_of(host, feature) != '-';
    at += size + (at[size] == ',');
  }
  text_finish(&error);
  memory_free(features);
  memory_free(host);
  return runs;
#else
  (void)target;
  return false;
#endif
}
