// iree-softgpu: runs a program with software GPUs, AMD's or NVIDIA's, in place of real ones, lists their targets, and
// says how far their instructions are to be trusted.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/flag_table.h"
#include "base/near.h"
#include "base/version.h"
#include "softgpu/engine.h"
#include "softgpu/nvidia/engine.h"

// OPTION(name, environment, check of its value or NULL, what it does): options with a value, passed on as environment
// (runtime.h of softgpu/hsa, driver.h of softgpu/cuda). A target's name is looked at when all options are known.
#define OPTIONS(OPTION)                                                                                        \
  OPTION("target", "IREE_SOFTGPU_TARGET", NULL,                                                                \
         "processor of the GPUs, gfx1100 when not given; sm_90 and its like are NVIDIA's")                     \
  OPTION("gpus", "IREE_SOFTGPU_GPUS", check_gpus, "how many GPUs, or a list of their processors: sm_80,sm_90") \
  OPTION("check", "IREE_SOFTGPU_CHECK", check_checks,                                                          \
         "all, or a list of bounds, waits, races, uninitialized, barriers")                                    \
  OPTION("limit", "IREE_SOFTGPU_LIMIT", check_limit,                                                           \
         "instructions after which a wave or a warp is stopped as endless")                                    \
  OPTION("event", "IREE_SOFTGPU_EVENT", NULL,                                                                  \
         "of AMD's: fault, ecc, hang or reset, and :GPU:KERNEL, in place of which it happens")
static bool check_gpus(const char* value);
static bool check_checks(const char* value);
static bool check_limit(const char* value);
static const struct {
  const char *name, *variable;
  bool (*check)(const char* value);
  const char* what;
} options[] = {
#define OPTION(name, variable, check, what) {name, variable, check, what},
    OPTIONS(OPTION)
#undef OPTION
};
enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

static int print_help(flag_table_format_t format) {
  static flag_entry_t entries[OPTION_COUNT + 4];
  static char names[OPTION_COUNT][32];
  size_t count = 0;
  for (; count < OPTION_COUNT; ++count) {
    snprintf(names[count], sizeof(names[0]), "--%s", options[count].name);
    entries[count] = (flag_entry_t){names[count], "=VALUE", NULL, options[count].what, NULL};
  }
  entries[count++] =
      (flag_entry_t){"--stats", "", NULL, "counters of each GPU are printed when the program ends", NULL};
  entries[count++] =
      (flag_entry_t){"--fidelity", "", NULL, "says which instructions are exact, approximate or missing", NULL};
  entries[count++] = (flag_entry_t){"--help", "[=FORMAT]", FLAG_TABLE_FORMATS, "print this and exit", NULL};
  entries[count++] = (flag_entry_t){"--version", "", NULL, "print the version and exit", NULL};
  flag_table_t table = {
      .program = "iree-softgpu",
      .summary = "runs a program with software GPUs, AMD's or NVIDIA's, in place of real ones",
      .synopsis = "[OPTION...] -- PROGRAM [ARGUMENT...]",
      .description = "Without arguments it lists the targets; --fidelity [--target=NAME] runs no program.",
      .entries = entries,
      .count = count};
  flag_table_print(&table, format, stdout);
  return 0;
}

static void list_targets(void) {
  printf("%-10s %5s %10s %8s\n", "target", "lanes", "LDS (KiB)", "units");
  const isa_target_t* t;
  for (uint32_t i = 0; (t = isa_target_at(i)); ++i) {
    if (!isa_target_refusal(t)) printf("%-10s %5u %10u %8u\n", t->name, t->wave, t->lds_kib, t->units);
  }
  printf("\n%-10s %5s %12s %6s  %s\n", "target", "lanes", "shared (KiB)", "units", "as");
  const nv_target_t* n;
  for (uint32_t i = 0; (n = nv_target_at(i)); ++i) {
    printf("%-10s %5u %12u %6u  %s\n", n->name, 32, n->shared_per_unit >> 10, n->units, n->product);
  }
}

// By the first of a list.
static bool is_nvidia(const char* names) {
  char name[48];
  snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
  return strncmp(name, "sm_", strlen("sm_")) == 0 || nv_target_find(name);
}

static bool check_nvidia(const char* name) {
  if (nv_target_find(name)) return true;
  fprintf(stderr, "iree-softgpu: '%s' is no target; NVIDIA's are", name);
  const nv_target_t* t;
  for (uint32_t i = 0; (t = nv_target_at(i)); ++i) fprintf(stderr, "%s %s", i ? "," : "", t->name);
  fprintf(stderr, "\n");
  return false;
}

static bool check_target(const char* name) {
  if (is_nvidia(name)) return check_nvidia(name);
  const isa_target_t* t = isa_target_find(name);
  const char* refusal = t ? isa_target_refusal(t) : "is no target";
  if (!refusal) return true;
  fprintf(stderr, "iree-softgpu: '%s' %s;", name, refusal);
  size_t prefix = strlen(name) < 5 ? strlen(name) : 5;
  bool any = false;
  for (uint32_t i = 0; prefix > 3 && (t = isa_target_at(i)); ++i) {
    if (isa_target_refusal(t) || strncmp(t->name, name, prefix) != 0) continue;
    fprintf(stderr, "%s %s", any ? "" : " near it:", t->name);
    any = true;
  }
  fprintf(stderr, "%s iree-softgpu without arguments lists all\n", any ? ";" : "");
  return false;
}

static bool is_count(const char* value) { return *value && !value[strspn(value, "0123456789")]; }

// "2", or "gfx90a,gfx942".
static bool check_gpus(const char* value) {
  if (is_count(value)) return true;
  for (const char* at = value;; ++at) {
    char name[32];
    size_t size = strcspn(at, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, at);
    if (!check_target(name)) return false;
    at += size;
    if (!*at) return true;
  }
}

static bool check_limit(const char* value) {
  if (is_count(value)) return true;
  fprintf(stderr, "iree-softgpu: '%s' is no number of instructions\n", value);
  return false;
}

static bool check_checks(const char* value) {
  uint32_t checks;
  text_t error = {0};
  bool ok = engine_parse_checks(value, &checks, &error);
  if (!ok) fprintf(stderr, "iree-softgpu: %s\n", error.data);
  text_finish(&error);
  return ok;
}

// Graphics, ray tracing, and the global data share, which kernels of compute have no part of: not counted among the
// instructions of compute.
static bool is_graphics(const char* name) {
  static const char* const prefixes[] = {"image_",
                                         "exp",
                                         "v_interp",
                                         "lds_param_",
                                         "s_ttrace",
                                         "export",
                                         "ds_bvh",
                                         "ds_param_",
                                         "ds_ordered_count",
                                         "ds_add_gs_reg",
                                         "ds_sub_gs_",
                                         "v_screen_",
                                         "global_atomic_ordered_add"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i) {
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 &&
        (strcmp(prefixes[i], "exp") != 0 || strlen(name) == 3)) {
      return true;
    }
  }
  return false;
}

typedef struct fidelity_t {
  uint32_t counts[4];
  uint32_t graphics;
} fidelity_t;

static void print_fidelity(void* data, const char* mnemonic) {
  static const char* const names[] = {
#define FIDELITY(name, text) text,
      ENGINE_FIDELITIES(FIDELITY)
#undef FIDELITY
  };
  fidelity_t* totals = data;
  engine_fidelity_t fidelity = engine_fidelity(mnemonic);
  bool graphics = is_graphics(mnemonic) && fidelity == ENGINE_MISSING;
  printf("%-48s %s\n", mnemonic, graphics ? "missing (graphics)" : names[fidelity]);
  if (graphics) {
    ++totals->graphics;
  } else {
    ++totals->counts[fidelity];
  }
}

static int fidelity(const char* target) {
  if (is_nvidia(target)) {
    fprintf(
        stderr,
        "iree-softgpu: --fidelity is of AMD's targets; of PTX, what is missing is named when a kernel comes to it\n");
    return 1;
  }
  fidelity_t totals = {0};
  text_t error = {0};
  const isa_target_t* known = isa_target_find(target);
  // Of generic targets, which no GPU is, and of those that are not executed the list says what is there all the same.
  if (!known) return check_target(target), 1;
  if (!engine_each_instruction(known, print_fidelity, &totals, &error)) {
    fprintf(stderr, "iree-softgpu: %s\n", error.data);
    return 1;
  }
  const uint32_t* n = totals.counts;
  uint32_t all = n[0] + n[1] + n[2] + n[3];
  printf(
      "%s: of %u compute instructions %u exact, %u approximate, %u without effect, %u missing (%.1f%% there); %u of "
      "graphics left out\n",
      target, all, n[ENGINE_EXACT], n[ENGINE_APPROXIMATE], n[ENGINE_HINT], n[ENGINE_MISSING],
      100.0 * (all - n[ENGINE_MISSING]) / (all ? all : 1), totals.graphics);
  return 0;
}

// Whose GPUs the target and the list of GPUs name; false after a message when they are of two vendors.
static bool choose_vendor(bool* out_nvidia) {
  const char *target = getenv("IREE_SOFTGPU_TARGET"), *gpus = getenv("IREE_SOFTGPU_GPUS");
  uint32_t amd = 0, nvidia = 0;
  for (const char* at = gpus && !is_count(gpus) ? gpus : ""; *at;) {
    ++*(is_nvidia(at) ? &nvidia : &amd);
    at += strcspn(at, ",");
    at += *at == ',';
  }
  // A list of GPUs needs no target.
  if (target && *target) ++*(is_nvidia(target) ? &nvidia : &amd);
  *out_nvidia = nvidia != 0;
  if (!amd || !nvidia) return true;
  fprintf(stderr, "iree-softgpu: GPUs of AMD and of NVIDIA at a time; --target and --gpus must name those of one\n");
  return false;
}

typedef struct library_t {
  const char* folder;       // below lib
  const char* files[2][2];  // with the targets that make them
} library_t;
static const library_t amd_library = {
    "softgpu", {{"libhsa-runtime64.so.1", "iree_softgpu_hsa"}, {"libiree-softgpu-kfd.so", "iree_softgpu_kfd"}}};
static const library_t nvidia_library = {"softgpu-cuda", {{"libcuda.so.1", "iree_softgpu_cuda"}}};

// The library's folder, from this tool's.
static bool find_library(const library_t* of, char* folder, size_t capacity) {
  char self[PATH_MAX], library[PATH_MAX + 64];
  ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (size < 0) return false;
  self[size] = 0;
  for (int up = 0; up < 2; ++up) {
    char* slash = strrchr(self, '/');
    if (slash) *slash = 0;
  }
  snprintf(folder, capacity, "%s/lib/%s", self, of->folder);
  for (size_t i = 0; i < 2 && of->files[i][0]; ++i) {
    snprintf(library, sizeof(library), "%s/%s", folder, of->files[i][0]);
    if (access(library, R_OK) == 0) continue;
    fprintf(stderr, "iree-softgpu: %s is missing; build the target %s\n", library, of->files[i][1]);
    return false;
  }
  return true;
}

// The kernel driver's part of an AMD GPU, for programs that look for it first.
static void preload(const char* folder) {
  char path[2 * PATH_MAX + 64];
  const char* preloads = getenv("LD_PRELOAD");
  snprintf(path, sizeof(path), "%s/libiree-softgpu-kfd.so%s%s", folder, preloads && *preloads ? ":" : "",
           preloads ? preloads : "");
  setenv("LD_PRELOAD", path, 1);
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", folder, 1);
}

static int run(char** program) {
  char folder[PATH_MAX + 16], path[2 * PATH_MAX + 64];
  bool nvidia;
  if (!choose_vendor(&nvidia) || !find_library(nvidia ? &nvidia_library : &amd_library, folder, sizeof(folder)))
    return 1;
  if (nvidia && getenv("IREE_SOFTGPU_EVENT")) {
    return fprintf(stderr, "iree-softgpu: --event is of AMD's GPUs; a kernel of PTX may trap\n"), 1;
  }
  const char* old = getenv("LD_LIBRARY_PATH");
  snprintf(path, sizeof(path), "%s%s%s", folder, old && *old ? ":" : "", old ? old : "");
  setenv("LD_LIBRARY_PATH", path, 1);
  if (!nvidia) preload(folder);
  execvp(program[0], program);
  fprintf(stderr, "iree-softgpu: cannot run %s: %s\n", program[0], strerror(errno));
  return 127;
}

// One option; false after a message.
static bool take_option(const char* argument, bool* wants_fidelity) {
  if (strcmp(argument, "--stats") == 0) return setenv("IREE_SOFTGPU_STATS", "1", 1) == 0;
  if (strcmp(argument, "--fidelity") == 0) return *wants_fidelity = true;
  for (size_t i = 0; i < OPTION_COUNT; ++i) {
    size_t size = strlen(options[i].name);
    if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, options[i].name, size) != 0) continue;
    if (!argument[2 + size]) {
      fprintf(stderr, "iree-softgpu: %s needs a value: %s=...\n", argument, argument);
      return false;
    }
    if (argument[2 + size] != '=') continue;
    const char* value = argument + 3 + size;
    return (!options[i].check || options[i].check(value)) && setenv(options[i].variable, value, 1) == 0;
  }
  static const char* const plain[] = {"stats", "fidelity", "help", "version"};
  size_t dashes = strspn(argument, "-");
  near_t near = near_begin(argument + dashes, strcspn(argument + dashes, "="));
  for (size_t i = 0; i < OPTION_COUNT; ++i) near_offer(&near, options[i].name);
  for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); ++i) near_offer(&near, plain[i]);
  const char* meant = near_result(&near);
  fprintf(stderr, "iree-softgpu: unknown option %s; %s%s%s--help lists them\n", argument,
          meant ? "did you mean '--" : "", meant ? meant : "", meant ? "'? " : "");
  return false;
}

int main(int argc, char** argv) {
  bool wants_fidelity = false;
  if (argc == 1) return list_targets(), 0;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    flag_table_format_t format;
    if (flag_table_wants(argv[i], &format)) return print_help(format);
    if (strcmp(argv[i], "--version") == 0) return puts("iree-c software GPUs, version " IREE_C_VERSION), 0;
    if (argv[i][0] != '-') break;
    if (!take_option(argv[i], &wants_fidelity)) return 1;
  }
  if (wants_fidelity) {
    if (i < argc) return fprintf(stderr, "iree-softgpu: --fidelity runs no program; got '%s'\n", argv[i]), 1;
    const char* target = getenv("IREE_SOFTGPU_TARGET");
    return fidelity(target ? target : "gfx1100");
  }
  if (i < argc && strcmp(argv[i], "--") == 0) ++i;
  if (i == argc) return fprintf(stderr, "iree-softgpu: no program to run; --help tells how\n"), 1;
  const char* target = getenv("IREE_SOFTGPU_TARGET");
  if (target && !check_target(target)) return 1;
  return run(argv + i);
}
