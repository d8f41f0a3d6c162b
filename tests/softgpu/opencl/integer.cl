// Integers of every width.
#include "shim.h"

// RUN add_u32 grid=300 group=64 args: in:u32:300 in:u32:300 out:u32:300 i32:300
KERNEL void add_u32(GLOBAL const u32* a, GLOBAL const u32* b, GLOBAL u32* out, i32 n) {
  u32 i = id();
  if (i < (u32)n) out[i] = a[i] + b[i];
}

// RUN mix_u8 grid=256 group=64 args: in:u8:256 in:u8:256 out:u8:256
KERNEL void mix_u8(GLOBAL const u8* a, GLOBAL const u8* b, GLOBAL u8* out) {
  u32 i = id();
  out[i] = (u8)((a[i] * 3 + b[i]) >> 1) ^ (u8)(a[i] << (b[i] & 7));
}

// RUN mix_i16 grid=256 group=128 args: in:i16:256 in:i16:256 out:i16:256
KERNEL void mix_i16(GLOBAL const i16* a, GLOBAL const i16* b, GLOBAL i16* out) {
  u32 i = id();
  i16 x = a[i], y = b[i];
  out[i] = (i16)((x > y ? x - y : x * y) + (x >> (y & 15)));
}

// RUN mix_u32 grid=256 group=64 args: in:u32:256 in:u32:256 out:u32:256
KERNEL void mix_u32(GLOBAL const u32* a, GLOBAL const u32* b, GLOBAL u32* out) {
  u32 i = id(), x = a[i], y = b[i];
  u32 r = (x << (y & 31)) | (x >> ((32 - y) & 31));
  r += (x & ~y) ^ (x | y);
  r ^= x * y + ((u32)(((u64)x * y) >> 32));
  out[i] = r + (u32)__builtin_popcount(x) + (x ? (u32)__builtin_clz(x) : 32) + (y ? (u32)__builtin_ctz(y) : 32);
}

// RUN divide_u32 grid=256 group=64 args: in:u32:256 in:u32:256 out:u32:512
KERNEL void divide_u32(GLOBAL const u32* a, GLOBAL const u32* b, GLOBAL u32* out) {
  u32 i = id(), d = b[i] | 1;
  out[2 * i] = a[i] / d;
  out[2 * i + 1] = a[i] % d;
}

// RUN divide_i32 grid=256 group=64 args: in:i32:256 in:i32:256 out:i32:512
KERNEL void divide_i32(GLOBAL const i32* a, GLOBAL const i32* b, GLOBAL i32* out) {
  u32 i = id();
  i32 d = (b[i] & 0xffff) + 1;
  out[2 * i] = a[i] / d;
  out[2 * i + 1] = a[i] % d;
}

// RUN divide_u64 grid=128 group=64 args: in:u64:128 in:u64:128 out:u64:256
KERNEL void divide_u64(GLOBAL const u64* a, GLOBAL const u64* b, GLOBAL u64* out) {
  u32 i = id();
  u64 d = (b[i] >> (i & 63)) | 1;
  out[2 * i] = a[i] / d;
  out[2 * i + 1] = a[i] % d;
}

// RUN mix_u64 grid=256 group=64 args: in:u64:256 in:u64:256 out:u64:256
KERNEL void mix_u64(GLOBAL const u64* a, GLOBAL const u64* b, GLOBAL u64* out) {
  u32 i = id();
  u64 x = a[i], y = b[i];
  u64 r = (x << (y & 63)) ^ (y >> (x & 63)) ^ (u64)((i64)x >> (y & 63));
  r += x * y - (x < y ? x : y) + (u64)((i64)x < (i64)y ? x : ~y);
  out[i] = r + (u64)__builtin_popcountll(x);
}

// RUN multiply_high grid=128 group=64 args: in:u64:128 in:u64:128 out:u64:128
KERNEL void multiply_high(GLOBAL const u64* a, GLOBAL const u64* b, GLOBAL u64* out) {
  u32 i = id();
  u64 x0 = (u32)a[i], x1 = a[i] >> 32, y0 = (u32)b[i], y1 = b[i] >> 32;
  u64 middle = x1 * y0 + ((x0 * y0) >> 32);
  out[i] = x1 * y1 + (middle >> 32) + ((x0 * y1 + (u32)middle) >> 32);
}

// RUN minmax_i32 grid=256 group=64 args: in:i32:256 in:i32:256 out:i32:256
KERNEL void minmax_i32(GLOBAL const i32* a, GLOBAL const i32* b, GLOBAL i32* out) {
  u32 i = id();
  i32 x = a[i], y = b[i], z = x ^ 0x55555555;
  i32 low = x < y ? x : y, high = x < y ? y : x;
  i32 median = z < low ? low : z > high ? high : z;
  out[i] = median + (x < 0 ? -x : x);
}

// RUN bit_fields grid=256 group=64 args: in:u32:256 out:u32:256
KERNEL void bit_fields(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 i = id(), x = a[i];
  i32 s = (i32)(x << 7) >> 20;
  u32 u = (x >> 5) & 0x3ff;
  out[i] = __builtin_bitreverse32(x) ^ __builtin_bswap32(x) ^ (u32)s ^ u << 3;
}

// RUN collatz grid=256 group=64 args: in:u32:256 out:u32:256
KERNEL void collatz(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 i = id(), steps = 0;
  u64 x = a[i] % 10000 + 1;
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[i] = steps;
}

// RUN crc grid=128 group=64 args: in:u32:128 out:u32:128
KERNEL void crc(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 i = id(), value = ~a[i];
  for (int k = 0; k < 32; ++k) value = value & 1 ? (value >> 1) ^ 0xedb88320u : value >> 1;
  out[i] = ~value;
}

// RUN switch_cases grid=256 group=64 args: in:u32:256 out:u32:256
KERNEL void switch_cases(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 i = id(), x = a[i];
  switch (x % 9) {
    case 0: out[i] = x + 1; break;
    case 1: out[i] = x * 7; break;
    case 2: out[i] = x >> 3; break;
    case 3: out[i] = ~x; break;
    case 4: out[i] = x * x; break;
    case 7: out[i] = x ^ 0x1234567; break;
    default: out[i] = 42;
  }
}
