// NVIDIA GPUs by architecture, code name or product (base/processors/nvidia.def).
#include "target/resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/processors/names.h"
#include "target/matrix.h"
#include "target/names.h"

typedef struct arch_t {
  const char* name;
  int ptx, shared_kib, units;
  matrix_family_t matrix;
  bool f16, bf16, async;
} arch_t;

static const arch_t archs[] = {
#define ARCH(name, ptx, shared, units, matrix, f16, bf16, async) \
  {#name, ptx, shared, units, MATRIX_##matrix, f16, bf16, async},
#include "base/processors/nvidia.def"
};
enum { ARCH_COUNT = sizeof(archs) / sizeof(archs[0]) };

const char* resolve_nvptx_name(uint32_t index) {
  if (index < ARCH_COUNT) return archs[index].name;
  const processor_name_t* row = processor_name_at(PROCESSOR_NVIDIA, index - ARCH_COUNT);
  return row ? row->name : NULL;
}

// --iree-cuda-target-features=+ptx80 asks for a PTX version, which LLVM must know and which may not be older than what
// the architecture needs.
static bool resolve_features(const arch_t* arch, const char* given, target_t* out, text_t* error) {
  int version = arch->ptx;
  if (given && *given) {
    int end = 0;
    if (sscanf(given, "+ptx%2d%n", &version, &end) != 1 || given[end]) {
      text_printf(error, "feature '%s' is not of the form +ptxNN; %s takes +ptx%d and later", given, arch->name,
                  arch->ptx);
      return false;
    }
    if (version < arch->ptx) {
      text_printf(error, "PTX %d.%d of '%s' is too old for %s; the oldest that works is PTX %d.%d (+ptx%d)",
                  version / 10, version % 10, given, arch->name, arch->ptx / 10, arch->ptx % 10, arch->ptx);
      return false;
    }
    if (!processors_has_feature("nvptx64-nvidia-cuda", given + 1, strlen(given) - 1, NULL)) {
      text_printf(error, "LLVM does not know PTX %d.%d of '%s'; the oldest that works for %s is PTX %d.%d (+ptx%d)",
                  version / 10, version % 10, given, arch->name, arch->ptx / 10, arch->ptx % 10, arch->ptx);
      return false;
    }
  }
  snprintf(out->features, sizeof(out->features), "+ptx%d", version);
  return true;
}

bool resolve_nvptx(const target_options_t* options, target_t* out, text_t* error) {
  const char* name = options->cpu && *options->cpu ? options->cpu : "sm_60";
  const processor_name_t* product = processor_name_find(PROCESSOR_NVIDIA, name);
  int row = names_find(archs, ARCH_COUNT, sizeof(archs[0]), product ? product->arch : name);
  if (row < 0) {
    names_report(error, "CUDA", name, resolve_nvptx_name);
    return false;
  }
  const arch_t* arch = &archs[row];
  if (!resolve_features(arch, options->features, out, error) ||
      !resolve_copy(out->name, sizeof(out->name), name, "the target's name", error) ||
      !resolve_copy(out->cpu, sizeof(out->cpu), arch->name, "the target's name", error)) {
    return false;
  }
  memcpy(out->triple, "nvptx64-nvidia-cuda", 20);
  memcpy(out->format, "cuda-nvptx-fb", 14);
  out->device = (device_info_t){
      .kind = DEVICE_GPU,
      .vector_bytes = 16,
      .has_fma = true,
      .has_f16_arithmetic = arch->f16,
      .has_bf16_dot = arch->bf16,
      .subgroup_size = 32,
      .exchanged_lanes = 32,
      .max_workgroup_size = 1024,
      .workgroup_memory_bytes = (int64_t)arch->shared_kib << 10,
      .registers_per_thread = 255,
      .compute_units = product && product->units ? product->units : arch->units,
      .has_async_copy = arch->async,
      .has_matrix_load = arch->matrix >= MATRIX_TURING,
      .splits_vectors = true,
  };
  matrix_rows(arch->matrix, &out->device.mma, &out->device.mma_count);
  return true;
}
