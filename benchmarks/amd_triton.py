"""The programs of amd_programs.py in Triton's language, with all sizes known and no masks where none are needed."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        depth = start + steps
        left = tl.load(a + rows[:, None] * K + depth[None, :])
        right = tl.load(b + depth[:, None] * N + columns[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def convolution(x, w, y, SIDE: tl.constexpr, C: tl.constexpr, F: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr):
    pixels = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    inside = pixels < SIDE * SIDE
    place = (pixels // SIDE * (SIDE + 2) + pixels % SIDE) * C
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for tap in range(9):
        window = place + (tap // 3 * (SIDE + 2) + tap % 3) * C
        for start in range(0, C, BK):
            depth = start + steps
            left = tl.load(x + window[:, None] + depth[None, :], mask=inside[:, None], other=0.0)
            right = tl.load(w + (tap * C + depth)[:, None] * F + columns[None, :])
            sums = tl.dot(left, right, sums)
    tl.store(y + pixels[:, None] * F + columns[None, :], sums, mask=inside[:, None])


@triton.jit
def softmax(x, out, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    values = tl.load(x + at)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + at, powers / tl.sum(powers, axis=0))


@triton.jit
def attention(q, k, v, out, SIZE: tl.constexpr, SCALE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              WIDTH: tl.constexpr):
    base = tl.program_id(1) * SIZE * WIDTH
    rows, columns = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, WIDTH)
    query = tl.load(q + base + rows[:, None] * WIDTH + columns[None, :])
    most = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    sums = tl.zeros((BLOCK_M, WIDTH), tl.float32)
    for start in range(0, SIZE, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key = tl.load(k + base + keys[None, :] * WIDTH + columns[:, None])
        scores = tl.dot(query, key) * SCALE
        higher = tl.maximum(most, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(most - higher)
        value = tl.load(v + base + keys[:, None] * WIDTH + columns[None, :])
        sums = tl.dot(powers.to(value.dtype), value, sums * fade[:, None])
        total = total * fade + tl.sum(powers, axis=1)
        most = higher
    tl.store(out + base + rows[:, None] * WIDTH + columns[None, :], (sums / total[:, None]).to(tl.float16))
