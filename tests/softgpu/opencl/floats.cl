// Correctly rounded float operations, compared bit for bit, and transcendental ones within a tolerance.
#include "shim.h"

// RUN saxpy grid=300 group=64 args: in:f32:300 in:f32:300 out:f32:300 i32:300
KERNEL void saxpy(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL f32* out, i32 n) {
  u32 i = id();
  if (i < (u32)n) out[i] = 2.5f * a[i] + b[i];
}

// RUN fma_f32 grid=256 group=64 args: in:f32:256 in:f32:256 out:f32:256
KERNEL void fma_f32(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_fmaf(a[i], b[i], __builtin_fmaf(-a[i], 0.5f, b[i]));
}

// RUN divide_f32 grid=256 group=64 args: in:f32:256 in:f32:256 out:f32:256
KERNEL void divide_f32(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL f32* out) {
  u32 i = id();
  out[i] = a[i] / b[i];
}

// RUN sqrt_f32 grid=256 group=64 args: in:f32:256 out:f32:256
KERNEL void sqrt_f32(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_sqrtf(__builtin_fabsf(a[i]));
}

// RUN mix_f64 grid=256 group=64 args: in:f64:256 in:f64:256 out:f64:256
KERNEL void mix_f64(GLOBAL const f64* a, GLOBAL const f64* b, GLOBAL f64* out) {
  u32 i = id();
  out[i] = __builtin_fma(a[i], b[i], a[i] - 0.1) * 3.0 + (a[i] > b[i] ? a[i] : b[i] * 0.5);
}

// RUN divide_f64 grid=128 group=64 args: in:f64:128 in:f64:128 out:f64:128
KERNEL void divide_f64(GLOBAL const f64* a, GLOBAL const f64* b, GLOBAL f64* out) {
  u32 i = id();
  out[i] = a[i] / b[i];
}

// RUN sqrt_f64 grid=128 group=64 args: in:f64:128 out:f64:128
KERNEL void sqrt_f64(GLOBAL const f64* a, GLOBAL f64* out) {
  u32 i = id();
  out[i] = __builtin_sqrt(__builtin_fabs(a[i]));
}

// RUN mix_f16 grid=256 group=64 args: in:f16:256 in:f16:256 out:f16:256
KERNEL void mix_f16(GLOBAL const f16* a, GLOBAL const f16* b, GLOBAL f16* out) {
  u32 i = id();
  f16 x = a[i] * b[i], y = x + a[i];
  out[i] = y < (f16)1.0 ? y - b[i] : y * (f16)0.25;
}

// RUN packed_f16 grid=128 group=64 args: in:f16:256 in:f16:256 out:f16:256
KERNEL void packed_f16(GLOBAL const f16x2* a, GLOBAL const f16x2* b, GLOBAL f16x2* out) {
  u32 i = id();
  f16x2 x = a[i] * b[i], y = x + a[i];
  out[i] = y.yx * b[i] - x;
}

// RUN convert grid=256 group=64 args: in:f32:256 out:i32:1024
KERNEL void convert(GLOBAL const f32* a, GLOBAL i32* out) {
  u32 i = id();
  f32 x = a[i] * 100.0f;
  out[4 * i] = (i32)x;
  out[4 * i + 1] = (i32)(u32)__builtin_fabsf(x);
  out[4 * i + 2] = (i32)(i64)(x * 1e6f);
  out[4 * i + 3] = (i32)(u8)__builtin_fabsf(a[i]);
}

// RUN convert_back grid=256 group=64 args: in:i32:256 out:f32:1024
KERNEL void convert_back(GLOBAL const i32* a, GLOBAL f32* out) {
  u32 i = id();
  i32 x = a[i];
  out[4 * i] = (f32)x;
  out[4 * i + 1] = (f32)(u32)x;
  out[4 * i + 2] = (f32)((i64)x * 123456789);
  out[4 * i + 3] = (f32)(f64)x * 0.25f + (f32)(u8)x;
}

// RUN convert_f16 grid=256 group=64 args: in:f32:256 out:f16:256
KERNEL void convert_f16(GLOBAL const f32* a, GLOBAL f16* out) {
  u32 i = id();
  out[i] = (f16)(a[i] * 3.0f);
}

// RUN convert_f64 grid=128 group=64 args: in:f64:128 out:f32:128 out:i64:128
KERNEL void convert_f64(GLOBAL const f64* a, GLOBAL f32* out, GLOBAL i64* whole) {
  u32 i = id();
  out[i] = (f32)a[i];
  whole[i] = (i64)(a[i] * 1e9);
}

// RUN rounding grid=256 group=64 args: in:f32:256 out:f32:1024
KERNEL void rounding(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  f32 x = a[i] * 7.0f;
  out[4 * i] = __builtin_floorf(x);
  out[4 * i + 1] = __builtin_ceilf(x);
  out[4 * i + 2] = __builtin_truncf(x);
  out[4 * i + 3] = __builtin_rintf(x);
}

// RUN compare grid=256 group=64 args: in:f32:256 in:f32:256 out:u32:256
KERNEL void compare(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL u32* out) {
  u32 i = id();
  f32 x = a[i], y = b[i];
  out[i] = (u32)(x < y) | (u32)(x <= y) << 1 | (u32)(x == y) << 2 | (u32)(x != y) << 3 | (u32)(x > y) << 4 |
           (u32)(x >= y) << 5 | (u32)(!(x < y)) << 6 | (u32)__builtin_isnan(x) << 7 | (u32)(x < 0.0f || y != y) << 8;
}

// RUN polynomial grid=256 group=64 args: in:f32:256 out:f32:256
KERNEL void polynomial(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  f32 x = a[i], r = 1.0f;
  for (int k = 8; k > 0; --k) r = r * x / (f32)k + 1.0f;
  out[i] = r;
}

// RUN exp2_f32 grid=256 group=64 tolerance=3e-7 args: in:f32:256 out:f32:256
KERNEL void exp2_f32(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_exp2f(a[i]);
}

// RUN log2_f32 grid=256 group=64 tolerance=3e-6 args: in:f32:256 out:f32:256
KERNEL void log2_f32(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_log2f(__builtin_fabsf(a[i]) + 1.5f);
}

// RUN exp_f32 grid=256 group=64 tolerance=1e-6 args: in:f32:256 out:f32:256
KERNEL void exp_f32(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_expf(a[i]) + __builtin_logf(__builtin_fabsf(a[i]) + 3.0f);
}

// RUN sine_f32 grid=256 group=64 tolerance=1e-5 args: in:f32:256 out:f32:256
KERNEL void sine_f32(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  out[i] = __builtin_sinf(a[i]) + 3.0f + __builtin_cosf(a[i]);
}

// RUN reciprocal grid=256 group=64 tolerance=3e-7 args: in:f32:256 out:f32:256
KERNEL void reciprocal(GLOBAL const f32* a, GLOBAL f32* out) {
  u32 i = id();
  f32 x = __builtin_fabsf(a[i]) + 0.01f;
#ifdef __AMDGCN__
  out[i] = __builtin_amdgcn_rcpf(x) + __builtin_amdgcn_rsqf(x);
#else
  out[i] = 1.0f / x + 1.0f / __builtin_sqrtf(x);
#endif
}

// RUN scale_f64 grid=128 group=64 args: in:f64:128 out:f64:128
KERNEL void scale_f64(GLOBAL const f64* a, GLOBAL f64* out) {
  u32 i = id();
  out[i] = __builtin_ldexp(a[i], (i32)(i % 20) - 10) + __builtin_floor(a[i]) + __builtin_rint(a[i] * 5.0);
}

// RUN newton_f64 grid=128 group=64 args: in:f64:128 out:f64:128
KERNEL void newton_f64(GLOBAL const f64* a, GLOBAL f64* out) {
  u32 i = id();
  f64 x = __builtin_fabs(a[i]) + 1.0, y = x;
  for (int k = 0; k < 20; ++k) y = 0.5 * (y + x / y);
  out[i] = y;
}
