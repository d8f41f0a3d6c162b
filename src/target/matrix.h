// Families of matrix instructions: which rows of dialects/mma.def a processor has.
#ifndef IREE_C_TARGET_MATRIX_H_
#define IREE_C_TARGET_MATRIX_H_

#include "kernels/device.h"

// gfx908, gfx90a, gfx942, gfx950, gfx9-4-generic (gfx942 without 8-bit floats); gfx11, gfx12, gfx1250; sm_70, sm_75,
// sm_80, sm_89 and above, sm_90a; x86-64 with tile registers, for bytes alone, for bf16 alone
#define MATRIX_FAMILIES(FAMILY) \
  FAMILY(NONE)                  \
  FAMILY(MFMA1)                 \
  FAMILY(MFMA2)                 \
  FAMILY(MFMA3)                 \
  FAMILY(MFMA4)                 \
  FAMILY(MFMA_GENERIC)          \
  FAMILY(WMMA3)                 \
  FAMILY(WMMA4)                 \
  FAMILY(WMMA5)                 \
  FAMILY(VOLTA)                 \
  FAMILY(TURING)                \
  FAMILY(AMPERE)                \
  FAMILY(ADA)                   \
  FAMILY(HOPPER)                \
  FAMILY(AMX)                   \
  FAMILY(AMX_INT8)              \
  FAMILY(AMX_BF16)
typedef enum {
#define FAMILY(name) MATRIX_##name,
  MATRIX_FAMILIES(FAMILY)
#undef FAMILY
      MATRIX_COUNT
} matrix_family_t;

void matrix_rows(matrix_family_t family, const device_mma_t** rows, int32_t* count);

#endif  // IREE_C_TARGET_MATRIX_H_
