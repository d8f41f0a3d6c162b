"""Kernels in Triton's language, for run_triton.py, which says what each computes."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, KIND: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=KIND)
    for start in range(0, k, BLOCK_K):
        depth = start + steps
        left = tl.load(a + rows[:, None] * k + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        right = tl.load(b + depth[:, None] * n + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n),
                        other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee", out_dtype=KIND)
    tl.store(c + rows[:, None] * n + columns[None, :], sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def matmul_split(a, b, c, m, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.program_id(2) * DEPTH + tl.arange(0, DEPTH)
    left = tl.load(a + rows[:, None] * k + depth[None, :])
    right = tl.load(b + depth[:, None] * n + columns[None, :])
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], tl.dot(left, right))


@triton.jit
def softmax(x, out, width, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * width + at, mask=at < width, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * width + at, powers / tl.sum(powers, axis=0), mask=at < width)


@triton.jit
def layer_norm(x, gain, shift, out, means, width, epsilon, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < width
    values = tl.load(x + row * width + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / width
    centred = tl.where(inside, values - mean, 0.0)
    root = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / width + epsilon)
    result = centred * root * tl.load(gain + at, mask=inside) + tl.load(shift + at, mask=inside)
    tl.store(out + row * width + at, result, mask=inside)
    tl.store(means + row, mean)


@triton.jit
def attention(q, k, v, out, size, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr,
              CAUSAL: tl.constexpr):
    base = tl.program_id(1) * size * WIDTH
    rows, columns = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, WIDTH)
    query = tl.load(q + base + rows[:, None] * WIDTH + columns[None, :])
    most = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    sums = tl.zeros((BLOCK_M, WIDTH), tl.float32)
    end = (tl.program_id(0) + 1) * BLOCK_M if CAUSAL else size
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key = tl.load(k + base + keys[None, :] * WIDTH + columns[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(most - higher)
        value = tl.load(v + base + keys[:, None] * WIDTH + columns[None, :])
        sums = tl.dot(powers.to(value.dtype), value, sums * fade[:, None])
        total = total * fade + tl.sum(powers, axis=1)
        most = higher
    tl.store(out + base + rows[:, None] * WIDTH + columns[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def sum_atomic(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < size, other=0.0), axis=0))


@triton.jit
def histogram(x, counts, largest, first, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < size, other=0)
    tl.atomic_add(counts + values, 1, mask=at < size)
    tl.atomic_max(largest + values % 4, values, mask=at < size)
    tl.atomic_cas(first, 0, 7)


@triton.jit
def binned(x, counts, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.histogram(tl.load(x + at, mask=at < size, other=0), 64)
    tl.atomic_add(counts + tl.arange(0, 64), bins)


@triton.jit
def transcendental(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    a, b = tl.load(x + at, mask=inside), tl.load(y + at, mask=inside)
    c = tl.abs(b) + 0.125
    result = tl.exp(a) * tl.log(c) + tl.sin(a * 100) * tl.cos(b) + tl.erf(b) + tl.sqrt(c) + tl.rsqrt(c)
    result += libdevice.tanh(a) + libdevice.pow(c, a) + libdevice.atan2(a, b) + libdevice.lgamma(c)
    tl.store(out + at, result + tl.exp2(b) + tl.log2(c) + tl.floor(a) + tl.fma(a, b, c), mask=inside)


@triton.jit
def doubles(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    a, b = tl.load(x + at, mask=inside), tl.load(y + at, mask=inside)
    tl.store(out + at, a / (tl.abs(b) + 1) + tl.sqrt(tl.abs(a)) + libdevice.exp(b), mask=inside)


@triton.jit
def integers(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    a, b = tl.load(x + at, mask=inside), tl.load(y + at, mask=inside, other=1)
    high = tl.umulhi(a.to(tl.uint64, bitcast=True), b.to(tl.uint64, bitcast=True)).to(tl.int64, bitcast=True)
    tl.store(out + at, (a // (b | 1)) ^ (a % (b | 1)) ^ (a << (b & 31)) ^ (a >> (b & 63)) ^ high, mask=inside)


@triton.jit
def collatz(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < size, other=1)
    steps = tl.zeros((BLOCK,), tl.int32)
    while tl.max(values, axis=0) > 1:
        steps += (values > 1).to(tl.int32)
        values = tl.where(values > 1, tl.where(values % 2 == 0, values // 2, 3 * values + 1), 1)
    tl.store(out + at, steps, mask=at < size)


@triton.jit
def random(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at))


@triton.jit
def sort(x, out, places, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    values = tl.load(x + at)
    tl.store(out + at, tl.sort(values))
    tl.store(places + tl.program_id(0), tl.argmax(values, axis=0))


@triton.jit
def multiply(x, y):
    return x * y


@triton.jit
def scan(x, sums, products, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values, axis=0))
    tl.store(products + at, tl.associative_scan(values, 0, multiply))


@triton.jit
def transpose(x, out, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + rows[:, None] * n + columns[None, :], mask=(rows[:, None] < m) & (columns[None, :] < n))
    tl.store(out + columns[:, None] * m + rows[None, :], tl.trans(tile),
             mask=(columns[:, None] < n) & (rows[None, :] < m))


@triton.jit
def convert(x, half, brain, small, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    values = tl.load(x + at, mask=inside)
    tl.store(half + at, values.to(tl.float16), mask=inside)
    tl.store(brain + at, values.to(tl.bfloat16), mask=inside)
    tl.store(small + at, values.to(tl.int8), mask=inside)
