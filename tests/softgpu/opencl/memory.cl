// Workgroup memory, atomics, scratch, wave operations, vectors, flat addresses.
#include "shim.h"

// RUN reverse_local grid=256 group=128 args: in:u32:256 out:u32:256
KERNEL void reverse_local(GLOBAL const u32* a, GLOBAL u32* out) {
  LOCAL u32 tile[128];
  tile[item()] = a[id()];
  barrier_local();
  out[id()] = tile[127 - item()];
}

// RUN sum_local grid=512 group=256 args: in:u32:512 out:u32:2
KERNEL void sum_local(GLOBAL const u32* a, GLOBAL u32* out) {
  LOCAL u32 tile[256];
  u32 i = item();
  tile[i] = a[id()];
  barrier_local();
  for (u32 step = 128; step; step /= 2) {
    if (i < step) tile[i] += tile[i + step];
    barrier_local();
  }
  if (!i) out[group()] = tile[0];
}

// RUN scan_local grid=256 group=256 args: in:i32:256 out:i32:256
KERNEL void scan_local(GLOBAL const i32* a, GLOBAL i32* out) {
  LOCAL i32 tile[2][256];
  u32 i = item(), from = 0;
  tile[0][i] = a[id()];
  barrier_local();
  for (u32 step = 1; step < 256; step *= 2, from ^= 1) {
    tile[from ^ 1][i] = tile[from][i] + (i >= step ? tile[from][i - step] : 0);
    barrier_local();
  }
  out[id()] = tile[from][i];
}

// RUN transpose_u8 grid=256 group=256 args: in:u8:256 out:u8:256
KERNEL void transpose_u8(GLOBAL const u8* a, GLOBAL u8* out) {
  LOCAL u8 tile[16][17];
  u32 i = item();
  tile[i / 16][i % 16] = a[i];
  barrier_local();
  out[i] = tile[i % 16][i / 16];
}

// RUN half_local grid=128 group=64 args: in:u16:128 out:u16:128
KERNEL void half_local(GLOBAL const u16* a, GLOBAL u16* out) {
  LOCAL u16 tile[64];
  tile[item() ^ 5] = a[id()];
  barrier_local();
  out[id()] = (u16)(tile[item()] + tile[(item() + 1) & 63]);
}

// RUN wide_local grid=128 group=64 args: in:u64:128 in:f32:512 out:u64:128 out:f32:512
KERNEL void wide_local(GLOBAL const u64* a, GLOBAL const f32x4* b, GLOBAL u64* out, GLOBAL f32x4* wide) {
  LOCAL u64 tile[64];
  LOCAL f32x4 quads[64];
  tile[63 - item()] = a[id()];
  quads[item() ^ 3] = b[id()];
  barrier_local();
  out[id()] = tile[item()] ^ tile[(item() + 7) & 63];
  wide[id()] = quads[item()] + quads[63 - item()];
}

// RUN histogram grid=512 group=128 args: in:u32:512 inout:u32:16
KERNEL void histogram(GLOBAL const u32* a, GLOBAL u32* out) {
  LOCAL u32 bins[16];
  if (item() < 16) bins[item()] = 0;
  barrier_local();
  ATOMIC(fetch_add, &bins[a[id()] & 15], 1u);
  barrier_local();
  if (item() < 16) ATOMIC(fetch_add, &out[item()], bins[item()]);
}

// RUN atomics_u32 grid=256 group=64 args: in:u32:256 inout:u32:8
KERNEL void atomics_u32(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 x = a[id()];
  ATOMIC(fetch_add, &out[0], x);
  ATOMIC(fetch_sub, &out[1], x);
  ATOMIC(fetch_and, &out[2], x | 0xff);
  ATOMIC(fetch_or, &out[3], x & 0xff00);
  ATOMIC(fetch_xor, &out[4], x);
  ATOMIC(fetch_max, &out[5], x);
  ATOMIC(fetch_min, &out[6], x);
}

// RUN atomics_u64 grid=256 group=64 args: in:u64:256 inout:u64:4
KERNEL void atomics_u64(GLOBAL const u64* a, GLOBAL u64* out) {
  u64 x = a[id()];
  ATOMIC(fetch_add, &out[0], x);
  ATOMIC(fetch_xor, &out[1], x);
  ATOMIC(fetch_max, &out[2], x);
  ATOMIC(fetch_or, &out[3], x & 0xf0f0);
}

// RUN atomic_tickets grid=256 group=64 args: out:u32:1 out:u32:256
KERNEL void atomic_tickets(GLOBAL u32* counter, GLOBAL u32* out) {
  u32 ticket = ATOMIC(fetch_add, counter, 1u);
  out[ticket] = ticket * ticket;
}

// RUN compare_exchange grid=128 group=64 args: in:i32:128 inout:i32:1
KERNEL void compare_exchange(GLOBAL const i32* a, GLOBAL i32* out) {
  i32 old = *out, x = a[id()];
  while (x > old &&
         !__atomic_compare_exchange_n(out, &old, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// RUN indexed_scratch grid=128 group=64 args: in:u32:128 out:u32:128
KERNEL void indexed_scratch(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 table[24], i = id(), x = a[i];
  for (u32 k = 0; k < 24; ++k) table[k] = x * k + k;
  for (u32 k = 0; k < 24; ++k) table[(x >> (k & 7)) % 24] += table[k];
  out[i] = table[x % 24] ^ table[(x / 24) % 24];
}

// RUN sort_scratch grid=64 group=64 args: in:i32:1024 out:i32:1024
KERNEL void sort_scratch(GLOBAL const i32* a, GLOBAL i32* out) {
  i32 values[16];
  u32 i = id();
  for (int k = 0; k < 16; ++k) values[k] = a[16 * i + k];
  for (int k = 1; k < 16; ++k) {
    i32 x = values[k];
    int j = k;
    for (; j > 0 && values[j - 1] > x; --j) values[j] = values[j - 1];
    values[j] = x;
  }
  for (int k = 0; k < 16; ++k) out[16 * i + k] = values[k];
}

__attribute__((noinline)) u32 fibonacci(u32 n) {
  u32 a = 0, b = 1;
  for (; n; --n) {
    u32 c = a + b;
    a = b, b = c;
  }
  return a;
}

// RUN call grid=128 group=64 args: in:u32:128 out:u32:128
KERNEL void call(GLOBAL const u32* a, GLOBAL u32* out) { out[id()] = fibonacci(a[id()] % 40) + fibonacci(id() % 7); }

__attribute__((noinline)) u32 ackermann(u32 m, u32 n) {
  if (!m) return n + 1;
  if (!n) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

// How deep it goes is not known to the compiler: the host adds to the stack.
// RUN recursion grid=64 group=64 stack=16384 args: in:u32:64 out:u32:64
KERNEL void recursion(GLOBAL const u32* a, GLOBAL u32* out) { out[id()] = ackermann(2, a[id()] % 6); }

// RUN generic_pointers grid=128 group=64 args: in:u32:128 out:u32:128
KERNEL void generic_pointers(GLOBAL const u32* a, GLOBAL u32* out) {
  LOCAL u32 tile[64];
  u32 own[4] = {a[id()], 1, 2, 3};
  tile[item()] = a[id()] * 3;
  barrier_local();
  __generic u32* at = (own[0] & 1) ? (__generic u32*)&tile[item()] : (__generic u32*)&own[own[0] >> 1 & 3];
  *at += 17;
  out[id()] = *at;
}

// RUN wave_ballot grid=256 group=128 args: in:u32:256 out:u64:256
KERNEL void wave_ballot(GLOBAL const u32* a, GLOBAL u64* out) { out[id()] = ballot(a[id()] & 4); }

// RUN wave_shuffle grid=256 group=64 args: in:i32:256 out:i32:256
KERNEL void wave_shuffle(GLOBAL const i32* a, GLOBAL i32* out) {
  i32 x = a[id()], sum = x;
  for (u32 step = 1; step < LANES; step *= 2) sum += shuffle(sum, lane() ^ step);
  out[id()] = sum + first_lane(x);
}

// RUN wave_prefix grid=256 group=128 args: in:i32:256 out:i32:256
KERNEL void wave_prefix(GLOBAL const i32* a, GLOBAL i32* out) {
  i32 sum = a[id()];
  for (u32 step = 1; step < LANES; step *= 2) {
    i32 other = shuffle(sum, lane() - step);
    if (lane() >= step) sum += other;
  }
  out[id()] = sum;
}

// RUN gather grid=256 group=64 args: in:u32:256 in:f32:512 out:f32:256
KERNEL void gather(GLOBAL const u32* index, GLOBAL const f32* a, GLOBAL f32* out) {
  out[id()] = a[index[id()] % 512];
}

// RUN bytes grid=64 group=64 args: in:u8:259 out:u8:259
KERNEL void bytes(GLOBAL const u8* a, GLOBAL u8* out) {
  u32 i = id() * 4;
  for (u32 k = 0; k < 4; ++k) out[i + k + 1] = a[i + 3 - k] + (u8)k;
}

// RUN vectors grid=64 group=64 args: in:u32:256 out:u32:256
KERNEL void vectors(GLOBAL const u32x4* a, GLOBAL u32x4* out) {
  u32x4 x = a[id()];
  out[id()] = x.wzyx * 3u + x;
}

// RUN matmul_local grid=1024 group=256 args: in:f32:4096 in:f32:4096 out:f32:1024
KERNEL void matmul_local(GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL f32* out) {
  LOCAL f32 ta[16][16], tb[16][16];
  u32 x = item() % 16, y = item() / 16, row = group() / 2 * 16 + y, column = group() % 2 * 16 + x;
  f32 sum = 0;
  for (u32 k = 0; k < 128; k += 16) {
    ta[y][x] = a[row * 128 + k + x];
    tb[y][x] = b[(k + y) * 32 + column];
    barrier_local();
    for (u32 j = 0; j < 16; ++j) sum = __builtin_fmaf(ta[y][j], tb[j][x], sum);
    barrier_local();
  }
  out[row * 32 + column] = sum;
}

// RUN divergent_loop grid=256 group=64 args: in:u32:256 out:u32:256
KERNEL void divergent_loop(GLOBAL const u32* a, GLOBAL u32* out) {
  u32 i = id(), x = a[i], r = 0;
  for (u32 k = 0; k < x % 37; ++k) {
    if ((x >> (k & 31)) & 1) {
      r += k;
      if (r > 100) break;
    } else {
      r ^= x << (k & 3);
      if ((r & 7) == 5) continue;
      r += 3;
    }
  }
  out[i] = r;
}

// RUN nested_branches grid=256 group=64 args: in:i32:256 out:i32:256
KERNEL void nested_branches(GLOBAL const i32* a, GLOBAL i32* out) {
  u32 i = id();
  i32 x = a[i], r = 0;
  if (x > 0) {
    r = x & 1 ? 3 : x & 2 ? 5 : 7;
    while (r < 50 && (x & 15)) r += x & 15, x >>= 1;
  } else if (x < -1000000) {
    for (int k = 0; k < 5; ++k) r -= x >> k;
  } else {
    r = ~x;
  }
  out[i] = r;
}

// RUN double_local grid=128 group=128 args: in:f64:128 out:f64:128
KERNEL void double_local(GLOBAL const f64* a, GLOBAL f64* out) {
  LOCAL f64 tile[128];
  tile[item()] = a[id()];
  barrier_local();
  f64 sum = 0;
  for (int k = 0; k < 128; k += 3) sum += tile[(k + item()) & 127] * 0.5;
  out[id()] = sum;
}

// RUN copy_struct grid=64 group=64 args: in:u32:192 out:u32:192
typedef struct {
  u32 a, b, c;
} triple_t;
KERNEL void copy_struct(GLOBAL const triple_t* a, GLOBAL triple_t* out) {
  triple_t x = a[id()];
  x.a += x.c, x.c ^= x.b;
  out[63 - id()] = x;
}
