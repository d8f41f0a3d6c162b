"""Compares the plugin for JAX with JAX's own CPU, in CPU time of this process, taking turns.

    JAX_PLATFORMS=iree,cpu PYTHONPATH=build/jax .venv/bin/python benchmarks/jax_plugin.py [--rounds 5]

Compiling: one new program at a time, from the traced function to the executable. Calls: programs that are compiled,
many calls one after the other, of which the last is awaited. The least of the rounds is given.
"""

import argparse
import itertools
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

PLATFORMS = ("iree", "cpu")
number = itertools.count()


def matrix(rows, columns):
    return np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)


def weights(rows, columns):
    """That leave numbers as large as they were."""
    return matrix(rows, columns) / np.float32(np.sqrt(rows))


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return (x**2).mean()


def attention_block(x, qkv, out, up, down):
    """A block of a transformer: 4 heads of 32, 64 tokens."""
    def norm(x):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    q, k, v = jnp.split((norm(x) @ qkv).reshape(1, 64, 4, 96), 3, -1)
    x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(64, 128) @ out
    return x + jax.nn.gelu(norm(x) @ up) @ down


def mlp_step(weights, x):
    """A step of its training."""
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))


PROGRAMS = {
    "a + b": (lambda a, b: a + b, (matrix(4, 4), matrix(4, 4))),
    "softmax": (lambda a: jax.nn.softmax(a), (matrix(8, 32),)),
    "normal": (lambda a: a + jax.random.normal(jax.random.key(1), a.shape), (matrix(16, 16),)),
    "gradient of 3 layers": (jax.grad(loss), ([matrix(64, 64)] * 3, matrix(32, 64))),
    "step of an MLP": (mlp_step, ([weights(256, 256)] * 3, matrix(64, 256))),
    "transformer block": (attention_block, (matrix(64, 128), weights(128, 384), weights(128, 128),
                                            weights(128, 512), weights(512, 128))),
    "scan of 100": (lambda a: jax.lax.scan(lambda c, _: (jnp.sin(c), None), a, length=100)[0], (matrix(4, 4),)),
    "solve": (jnp.linalg.solve, (matrix(8, 8), matrix(8, 1))),
}


def renamed(function):
    """The same program under a name of its own, which no cache knows."""
    value = next(number)

    def wrapped(*args):
        return jax.tree.map(lambda r: r + value * 0, function(*args))

    wrapped.__name__ = f"program_{value}"
    return jax.jit(wrapped)


def compile_time(platform, function, args):
    with jax.default_device(jax.devices(platform)[0]):
        lowered = renamed(function).lower(*args)
        start = time.process_time()
        lowered.compile()
        return time.process_time() - start


def call_time(platform, compiled, args, calls):
    with jax.default_device(jax.devices(platform)[0]):
        start = time.process_time()
        for _ in range(calls):
            result = compiled(*args)
        jax.block_until_ready(result)
        return (time.process_time() - start) / calls


def measure(rounds, calls):
    for name, (function, args) in PROGRAMS.items():
        compiles, runs = {p: [] for p in PLATFORMS}, {p: [] for p in PLATFORMS}
        placed, compiled = {}, {}
        for platform in PLATFORMS:
            device = jax.devices(platform)[0]
            placed[platform] = jax.device_put(args, device)
            with jax.default_device(device):
                compiled[platform] = jax.jit(function)
                jax.block_until_ready(compiled[platform](*placed[platform]))
        for _ in range(rounds):
            for platform in PLATFORMS:
                compiles[platform].append(compile_time(platform, function, placed[platform]))
                runs[platform].append(call_time(platform, compiled[platform], placed[platform], calls))
        yield name, [min(compiles[p]) * 1e3 for p in PLATFORMS], [min(runs[p]) * 1e6 for p in PLATFORMS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=1000)
    arguments = parser.parse_args()
    print("| program | compile, ms: iree-c | JAX's CPU | a call, us: iree-c | JAX's CPU |")
    print("| --- | ---: | ---: | ---: | ---: |")
    ratios = []
    for name, compiles, runs in measure(arguments.rounds, arguments.calls):
        print(f"| {name} | {compiles[0]:.1f} | {compiles[1]:.1f} | {runs[0]:.1f} | {runs[1]:.1f} |", flush=True)
        ratios.append(compiles[0] / compiles[1])
    print(f"\nCompiling takes {statistics.geometric_mean(ratios):.2f} times JAX's CPU time (geometric mean).")


if __name__ == "__main__":
    main()
