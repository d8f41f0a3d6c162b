// AMD GPUs by architecture, code name or product, several by family or kind (base/processors/amd.def).
#include "target/resolve.h"

#include <ctype.h>
#include <string.h>

#include "base/processors/names.h"
#include "target/matrix.h"
#include "target/names.h"

typedef struct arch_t {
  const char *name, *generic;
  int major, wave, lds_kib, registers, units;
  matrix_family_t matrix;
  bool f16, bf16, sramecc, xnack;
} arch_t;

static const arch_t archs[] = {
#define ARCH(name, machine, generic, major, minor, stepping, wave, lds, registers, units, matrix, f16, bf16, sramecc, \
             xnack)                                                                                                   \
  {#name, #generic, major, wave, lds, registers, units, MATRIX_##matrix, f16, bf16, sramecc, xnack},
#include "base/processors/amd.def"
};
static const struct {
  const char *name, *arch;
} bundles[] = {
#define BUNDLE(name, arch) {#name, #arch},
#include "base/processors/amd.def"
};
enum { ARCH_COUNT = sizeof(archs) / sizeof(archs[0]) };
enum { BUNDLE_COUNT = sizeof(bundles) / sizeof(bundles[0]) };

const char* resolve_amdgpu_name(uint32_t index) {
  if (index < ARCH_COUNT) return archs[index].name;
  const processor_name_t* row = processor_name_at(PROCESSOR_AMD, index - ARCH_COUNT);
  return row ? row->name : NULL;
}

// The generic instruction set of a family's processor, or itself where there is none.
static const char* widest(const arch_t* arch) { return strcmp(arch->generic, "NONE") ? arch->generic : arch->name; }

// Whether a processor is of a family: gfx1101 of "gfx110X", "gfx110X-all".
static bool is_of_family(const char* arch, const char* family) {
  static const char* const endings[] = {"X", "X-all", "X-dcgpu", "X-dgpu", "X-igpu"};
  size_t size = strcspn(family, "X");
  bool is_family = false;
  for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); ++i) is_family |= !strcmp(family + size, endings[i]);
  return is_family && strlen(arch) == size + 1 && !strncmp(arch, family, size) && isxdigit((unsigned char)arch[size]);
}

const char* resolve_amdgpu_member(const char* name, uint32_t index) {
  for (uint32_t i = 0; i < BUNDLE_COUNT; ++i) {
    if (!strcmp(bundles[i].name, name) && index-- == 0) return bundles[i].arch;
  }
  const char* last = "";
  for (uint32_t i = 0; i < ARCH_COUNT; ++i) {
    const char* member = widest(&archs[i]);
    if (!is_of_family(archs[i].name, name) || !strcmp(member, last)) continue;
    if (index-- == 0) return member;
    last = member;
  }
  return NULL;
}

// "sramecc" and "xnack" where the target has them; waves of either size where it has both.
static bool has_feature(const void* user, const char* name, size_t size, near_t* near) {
  const arch_t* arch = user;
  const struct {
    const char* name;
    bool has;
  } features[] = {{"sramecc", arch->sramecc},
                  {"xnack", arch->xnack},
                  {"cumode", arch->wave == 32},
                  {"wavefrontsize64", true},
                  {"wavefrontsize32", arch->wave == 32}};
  for (size_t i = 0; i < sizeof(features) / sizeof(*features); ++i) {
    if (!features[i].has) continue;
    if (strlen(features[i].name) == size && strncmp(features[i].name, name, size) == 0) return true;
    if (near) near_offer(near, features[i].name);
  }
  return false;
}

static bool mentions(const char* features, const char* name) { return features && strstr(features, name); }

// The settings of a card: every one of gfx9's with ECC comes with page retry off, those with matrix units with ECC on
// (gfx906 is in cards with ECC and in ones without), and code made for that is quicker than code for any setting.
// Generic code stays free to run anywhere.
static bool set_features(target_t* out, const arch_t* arch, const char* wanted, text_t* error) {
  bool is_set = arch->major == 9 && arch->sramecc && !strstr(arch->name, "generic");
  text_t all = {0};
  if (is_set && arch->matrix != MATRIX_NONE && !mentions(wanted, "sramecc")) text_puts(&all, "+sramecc,");
  if (is_set && !mentions(wanted, "xnack")) text_puts(&all, "-xnack,");
  if (wanted) text_puts(&all, wanted);
  const char* features = all.data ? all.data : "";
  size_t size = strlen(features);
  if (size && features[size - 1] == ',') all.data[size - 1] = 0;
  bool ok = resolve_copy(out->features, sizeof(out->features), features, "the features", error);
  text_finish(&all);
  return ok;
}

static void describe(target_t* out, const arch_t* arch, int units) {
  out->device = (device_info_t){
      .kind = DEVICE_GPU,
      .vector_bytes = 16,
      .has_fma = true,
      .has_f16_arithmetic = arch->f16,
      .has_bf16_dot = arch->bf16,
      .subgroup_size = arch->wave,
      .exchanged_lanes = arch->major < 10 ? 16 : 32,
      .max_workgroup_size = 1024,
      .has_maximum = arch->major >= 12,
      .has_scalar_unit = true,
      .workgroup_memory_bytes = (int64_t)arch->lds_kib << 10,
      .registers_per_thread = arch->registers,
      .compute_units = units ? units : arch->units,
  };
  matrix_rows(arch->matrix, &out->device.mma, &out->device.mma_count);
}

bool resolve_amdgpu(const target_options_t* options, target_t* out, text_t* error) {
  const char* name = options->cpu;
  if (!name || !*name) {
    text_puts(error, "ROCM target not set; did you forget to pass '--iree-rocm-target'?");
    return false;
  }
  const processor_name_t* product = processor_name_find(PROCESSOR_AMD, name);
  int row = names_find(archs, ARCH_COUNT, sizeof(archs[0]), product ? product->arch : name);
  if (row < 0) {
    names_report(error, "ROCM", name, resolve_amdgpu_name);
    return false;
  }
  const arch_t* arch = &archs[row];
  if (!resolve_check_features(options->features, has_feature, arch, arch->name, error)) return false;
  memcpy(out->triple, "amdgcn-amd-amdhsa", 18);
  out->is_hip_container = options->container == TARGET_CONTAINER_HIP;
  const char* format = out->is_hip_container ? "rocm-hsaco-fb" : arch->name;
  if (!resolve_copy(out->name, sizeof(out->name), name, "the target's name", error) ||
      !resolve_copy(out->cpu, sizeof(out->cpu), arch->name, "the target's name", error) ||
      !resolve_copy(out->format, sizeof(out->format), format, "the format's name", error) ||
      !set_features(out, arch, options->features, error)) {
    return false;
  }
  describe(out, arch, product ? product->units : 0);
  if (options->features && strstr(options->features, "+wavefrontsize64")) out->device.subgroup_size = 64;
  return true;
}
