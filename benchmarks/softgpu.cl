// Kernels that benchmarks/softgpu.py times on the software GPU.
#include "shim.h"

// RUN vector_add grid=1048576 group=256 args: in:f32:1048576 in:f32:1048576 out:f32:1048576
KERNEL void vector_add(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL f32* out) { out[id()] = a[id()] + b[id()]; }

// RUN fma_chain grid=65536 group=256 args: in:f32:65536 out:f32:65536
KERNEL void fma_chain(GLOBAL const f32* a, GLOBAL f32* out) {
  f32 x = a[id()], y = x + 1.0f, z = x + 2.0f, w = x * 3.0f;
  for (int k = 0; k < 1000; ++k) {
    x = __builtin_fmaf(x, 0.5f, y), y = __builtin_fmaf(y, 0.25f, z);
    z = __builtin_fmaf(z, 0.125f, w), w = __builtin_fmaf(w, 0.0625f, x);
  }
  out[id()] = x + y + z + w;
}

typedef half f16x4 __attribute__((ext_vector_type(4)));
typedef half f16x8 __attribute__((ext_vector_type(8)));
typedef half f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

// C = A B^T of 512 x 512 in f16 with sums in f32: each wave makes tiles of 64 x 64.
#if defined(__gfx90a__) || defined(__gfx942__)
typedef f16x4 part_t;
typedef f32x4 sum_t;
#define DEPTH(lane) ((lane) / 16 * 4)
#define ROW(lane, r) ((lane) / 16 * 4 + (r))
#define MULTIPLY(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)
#elif defined(__GFX12__)
typedef f16x8 part_t;
typedef f32x8 sum_t;
#define DEPTH(lane) ((lane) / 16 * 8)
#define ROW(lane, r) ((lane) / 16 * 8 + (r))
#define MULTIPLY(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)
#elif defined(__GFX11__)
typedef f16x16 part_t;
typedef f32x8 sum_t;
#define DEPTH(lane) 0
#define ROW(lane, r) (2 * (r) + (lane) / 16)
#define MULTIPLY(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#endif

#ifdef MULTIPLY
enum { SIZE = 512, TILES = 4 };
// RUN matmul_f16 grid=WAVES:64 group=WAVES:1 args: in:f16:262144 in:f16:262144 out:f32:262144
__attribute__((amdgpu_flat_work_group_size(32, 64))) __kernel void matmul_f16(GLOBAL const f16* a, GLOBAL const f16* b,
                                                                              GLOBAL f32* out) {
  u32 row = group() / 8 * 64, column = group() % 8 * 64, l = item(), at = l % 16, depth = DEPTH(l);
  sum_t sums[TILES][TILES] = {};
  for (u32 k = 0; k < SIZE; k += 16) {
    part_t x[TILES], y[TILES];
    for (int i = 0; i < TILES; ++i) {
      x[i] = *(GLOBAL const part_t*)(a + (row + 16 * i + at) * SIZE + k + depth);
      y[i] = *(GLOBAL const part_t*)(b + (column + 16 * i + at) * SIZE + k + depth);
    }
    for (int i = 0; i < TILES; ++i) {
      for (int j = 0; j < TILES; ++j) sums[i][j] = MULTIPLY(x[i], y[j], sums[i][j]);
    }
  }
  for (int i = 0; i < TILES; ++i) {
    for (int j = 0; j < TILES; ++j) {
      for (int r = 0; r < sizeof(sum_t) / 4; ++r) {
        out[(row + 16 * i + ROW(l, r)) * SIZE + column + 16 * j + at] = sums[i][j][r];
      }
    }
  }
}
#endif
