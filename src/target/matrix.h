// Families of matrix instructions: which rows of kernels/mma.def a processor has.
#ifndef IREE_C_TARGET_MATRIX_H_
#define IREE_C_TARGET_MATRIX_H_

#include "kernels/device.h"

typedef enum {
  MATRIX_NONE,
  MATRIX_MFMA1,   // gfx908
  MATRIX_MFMA2,   // gfx90a
  MATRIX_MFMA3,   // gfx942
  MATRIX_MFMA4,   // gfx950
  MATRIX_WMMA3,   // gfx11
  MATRIX_WMMA4,   // gfx12
  MATRIX_WMMA5,   // gfx1250
  MATRIX_VOLTA,   // sm_70
  MATRIX_TURING,  // sm_75
  MATRIX_AMPERE,  // sm_80
  MATRIX_ADA,     // sm_89 and above
  MATRIX_HOPPER,  // sm_90a
} matrix_family_t;

void matrix_rows(matrix_family_t family, const device_mma_t** rows, int32_t* count);

#endif  // IREE_C_TARGET_MATRIX_H_
