"""Trains an MLP and a small transformer for 100 steps here and on JAX's own CPU, with donated weights, and compares.

    JAX_PLATFORMS=iree,cpu PYTHONPATH=build/jax:tests/pjrt python tests/pjrt/training.py
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 100
NUMBERS = np.random.default_rng(0)


def weights(*shape):
    return (NUMBERS.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)


def norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def mlp(model, batch):
    x, wanted = batch
    for w, b in model:
        x = jnp.tanh(x @ w + b)
    return ((x - wanted) ** 2).mean()


def attend(layer, x, heads=4):
    q, k, v = jnp.split((norm(x, layer["before"]) @ layer["qkv"]).reshape(*x.shape[:-1], heads, -1), 3, -1)
    return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ layer["out"]


def transformer(model, batch):
    tokens = batch
    x = model["embed"][tokens[:, :-1]] + model["place"]
    for layer in model["layers"]:
        x = x + attend(layer, x)
        x = x + jax.nn.gelu(norm(x, layer["between"]) @ layer["up"]) @ layer["down"]
    logits = jax.nn.log_softmax(norm(x, model["last"]) @ model["embed"].T)
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


def make_mlp():
    model = [(weights(16, 32), np.zeros(32, np.float32)), (weights(32, 32), np.zeros(32, np.float32)),
             (weights(32, 4), np.zeros(4, np.float32))]
    x = NUMBERS.normal(size=(STEPS, 24, 16)).astype(np.float32)
    return mlp, model, (x, np.sin(x[..., :4] * 2))


def make_transformer(size=32, words=24, length=17):
    one = lambda: np.ones(size, np.float32)
    layers = [{"before": one(), "between": one(), "qkv": weights(size, 3 * size), "out": weights(size, size),
               "up": weights(size, 4 * size), "down": weights(4 * size, size)} for _ in range(2)]
    model = {"embed": weights(words, size), "place": weights(length - 1, size), "last": one(), "layers": layers}
    starts = NUMBERS.integers(0, words, (STEPS, 8, 1))
    return transformer, model, ((starts + 3 * np.arange(length)) % words).astype(np.int32)


def step(loss, state, batch):
    """Adam."""
    model, first, second, count = state
    value, slope = jax.value_and_grad(loss)(model, batch)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, slope)
    scale = 0.003 * jnp.sqrt(1 - 0.99 ** (count + 1)) / (1 - 0.9 ** (count + 1))
    model = jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-6), model, first, second)
    return (model, first, second, count + 1), value


def train(platform, loss, model, batches):
    with jax.default_device(jax.devices(platform)[0]):
        zeros = jax.tree.map(np.zeros_like, model)
        state = jax.tree.map(jnp.asarray, (model, zeros, zeros, np.float32(0)))
        advance = jax.jit(lambda state, batch: step(loss, state, batch), donate_argnums=0)
        losses = []
        for i in range(STEPS):
            state, value = advance(state, jax.tree.map(lambda b: jnp.asarray(b[i]), batches))
            losses.append(value)
        return np.array([float(value) for value in losses]), jax.tree.map(np.asarray, state[0])


def compare(make):
    loss, model, batches = make()
    ours, theirs = (train(platform, loss, model, batches) for platform in ("iree", "cpu"))
    assert theirs[0][-1] < 0.7 * theirs[0][0], f"learns nothing: {theirs[0][[0, -1]]}"
    off = np.abs(ours[0] - theirs[0]).max() / theirs[0][0]
    apart = max(np.abs(a - b).max() for a, b in zip(*map(jax.tree.leaves, (ours[1], theirs[1]))))
    print(f"{loss.__name__}: loss {theirs[0][0]:.3f} to {theirs[0][-1]:.3f}; of it {off:.1e} apart, weights {apart:.1e}")
    return off < 1e-5 and apart < 1e-4


def main():
    good = [compare(make) for make in (make_mlp, make_transformer)]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return not all(good)


if __name__ == "__main__":
    sys.exit(main())
