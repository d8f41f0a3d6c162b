// 64-bit ARM and RISC-V processors: names and features come from LLVM's tables. What is compiled for is named by the
// triple; x86-64 has a resolver of its own.
#include "target/resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "target/names.h"

typedef struct arch_row_t {
  target_arch_t arch;
  const char* prefixes[2];  // of triples
  const char *embedded, *system;
  const char* format;   // of executables, after "embedded-elf-"
  const char* generic;  // LLVM's processor for any of them
  const char* base;     // features that generic code has besides
  const char* abis;     // separated by commas, the default first; empty: there is one only
  const char* abi_text;
} arch_row_t;

static const arch_row_t arches[] = {
    {TARGET_ARCH_ARM,
     {"aarch64", "arm64"},
     "aarch64-unknown-unknown-elf",
     "aarch64-unknown-linux-gnu",
     "arm_64",
     "generic",
     NULL,
     ""},
    {TARGET_ARCH_RISCV,
     {"riscv64", NULL},
     "riscv64-unknown-unknown-elf",
     "riscv64-unknown-linux-gnu",
     "riscv_64",
     "generic-rv64",
     "+m,+a,+f,+d,+c",
     "lp64d,lp64f,lp64",
     "; lp64d, lp64f and lp64 are"},
};

static const arch_row_t* find_arch(const char* triple) {
  size_t size = triple ? strcspn(triple, "-") : 0;
  for (size_t i = 0; size && i < sizeof(arches) / sizeof(arches[0]); ++i) {
    for (int k = 0; k < 2 && arches[i].prefixes[k]; ++k) {
      const char* prefix = arches[i].prefixes[k];
      if (strlen(prefix) == size && strncmp(triple, prefix, size) == 0) return &arches[i];
    }
  }
  return NULL;
}

bool resolve_cpu_is_other(const char* triple) { return find_arch(triple) != NULL; }

// Whether the list ends up with the feature.
static bool has(const target_t* t, const char* feature) {
  size_t size = strlen(feature);
  bool found = false;
  for (const char* at = t->features; (at = strstr(at, feature)); at += size) {
    bool whole = at > t->features && (at[-1] == '+' || at[-1] == '-') && (at[size] == 0 || at[size] == ',');
    if (whole) found = at[-1] == '+';
  }
  return found;
}

static void describe(target_t* t) {
  bool arm = t->arch == TARGET_ARCH_ARM, vectors = arm || has(t, "v");
  t->device = (device_info_t){
      .kind = DEVICE_CPU,
      .vector_bytes = 16,
      .vector_registers = vectors ? 32 : 8,  // without vectors four scalar registers each
      .has_fma = true,
      .has_f16_arithmetic = arm && has(t, "fullfp16"),
      .l1_bytes = 32 << 10,
      .l2_bytes = 256 << 10,
      .max_workgroup_size = 1,
      .subgroup_size = 1,
  };
}

static bool is_host(const arch_row_t* row) {
#if defined(__aarch64__)
  return row->arch == TARGET_ARCH_ARM;
#elif defined(__riscv)
  return row->arch == TARGET_ARCH_RISCV;
#else
  (void)row;
  return false;
#endif
}

static bool resolve_abi(const arch_row_t* row, const char* abi, target_t* out, text_t* error) {
  size_t first = strcspn(row->abis, ",");
  if (!abi || !*abi) {
    memcpy(out->abi, row->abis, first);
    out->abi[first] = 0;
    return true;
  }
  size_t size = strlen(abi);
  for (const char* at = row->abis; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") != size || strncmp(at, abi, size)) continue;
    return resolve_copy(out->abi, sizeof(out->abi), abi, "the ABI", error);
  }
  text_printf(error, "--iree-llvmcpu-target-abi=%s is not known for '%s'%s", abi, out->triple, row->abi_text);
  return false;
}

static bool resolve_processor(const arch_row_t* row, const target_options_t* options, target_t* out, text_t* error) {
  bool named = options->cpu && *options->cpu;
  const char* name = named ? options->cpu : is_host(row) ? "host" : "generic";
  bool generic = strcmp(name, "generic") == 0 || strcmp(name, row->generic) == 0, host = strcmp(name, "host") == 0;
  if (host && !is_host(row)) {
    text_printf(error,
                "--iree-llvmcpu-target-cpu=host: this machine is not what '%s' names; generic, or a name, is needed",
                out->triple);
    return false;
  }
  char* cpu = host ? processors_host_name() : memory_strdup(generic ? row->generic : name);
  char* own = host ? processors_host_features() : processors_features(out->triple, cpu);
  const char* given = options->features && *options->features ? options->features : NULL;
  bool ok = own != NULL;
  if (!ok)
    text_printf(error, "unknown CPU '%s' of '%s'; generic is known, and what LLVM's -mcpu takes", name, out->triple);
  text_t all = {0};
  text_printf(&all, "%s", own ? own : "");
  if (generic && row->base) text_printf(&all, "%s%s", all.size ? "," : "", row->base);
  if (given) text_printf(&all, "%s%s", all.size ? "," : "", given);
  ok = ok && resolve_check_features(given, processors_has_feature, out->triple, out->triple, error) &&
       resolve_copy(out->name, sizeof(out->name), name, "the processor's name", error) &&
       resolve_copy(out->cpu, sizeof(out->cpu), cpu, "the processor's name", error) &&
       resolve_copy(out->features, sizeof(out->features), all.data ? all.data : "", "the list of features", error);
  text_finish(&all);
  memory_free(cpu);
  memory_free(own);
  return ok;
}

bool resolve_cpu_other(const target_options_t* options, target_t* out, text_t* error) {
  const arch_row_t* row = find_arch(options->triple);
  bool is_whole = strchr(options->triple, '-') != NULL;  // "aarch64" alone stands for the default
  const char* triple = is_whole ? options->triple : options->system_elf ? row->system : row->embedded;
  out->arch = row->arch;
  out->system_elf = options->system_elf;
  if (strstr(triple, "windows") || strstr(triple, "darwin") || strstr(triple, "macos")) {
    text_printf(error, "llvm-cpu makes ELF executables; triple '%s' does not have them", triple);
    return false;
  }
  if (!resolve_copy(out->triple, sizeof(out->triple), triple, "the target triple", error)) return false;
  if (!resolve_abi(row, options->abi, out, error) || !resolve_processor(row, options, out, error)) return false;
  snprintf(out->format, sizeof(out->format), "%s-elf-%s", options->system_elf ? "system" : "embedded", row->format);
  describe(out);
  return true;
}
