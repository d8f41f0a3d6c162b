"""ViT-B/16 for one 224x224 image: 16x16 patches, a class token, twelve pre-norm encoder blocks with packed q, k, v."""

import numpy as np

from graph import Graph

BLOCKS, HIDDEN, HEADS, FEED_FORWARD, PATCH = 12, 768, 12, 3072, 16
PATCHES = (224 // PATCH)**2
TOKENS = PATCHES + 1
HEAD = HIDDEN // HEADS


def embeddings(g, image):
    x = g.conv(image, (3, HIDDEN), PATCH, PATCH, gain=1.0, pad=0, name="patch_embed.proj")
    x = g.node("Transpose", g.reshape(x, [1, HIDDEN, PATCHES]), perm=[0, 2, 1])
    x = g.node("Concat", g.normal((1, 1, HIDDEN), 1.0, "cls_token"), x, axis=1)
    return g.node("Add", x, g.normal((1, TOKENS, HIDDEN), 0.5, "pos_embed"))


def attention(g, x, name):
    packed = g.reshape(g.linear(x, HIDDEN, 3 * HIDDEN, f"{name}.qkv"), [1, TOKENS, 3, HEADS, HEAD])
    packed = g.node("Transpose", packed, perm=[2, 0, 3, 1, 4])
    query, key, value = (g.node("Gather", packed, g.constant(i, np.int64), axis=0) for i in range(3))
    query = g.node("Mul", query, g.constant(HEAD**-0.5))
    scores = g.node("MatMul", query, g.node("Transpose", key, perm=[0, 1, 3, 2]))
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), value)
    y = g.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), [1, TOKENS, HIDDEN])
    return g.linear(y, HIDDEN, HIDDEN, f"{name}.proj", gain=0.7)


def block(g, x, name):
    x = g.node("Add", x, attention(g, g.layer_norm(x, HIDDEN, f"{name}.norm1", 1e-6), f"{name}.attn"))
    y = g.linear(g.layer_norm(x, HIDDEN, f"{name}.norm2", 1e-6), HIDDEN, FEED_FORWARD, f"{name}.mlp.fc1")
    return g.node("Add", x, g.linear(g.gelu(y), FEED_FORWARD, HIDDEN, f"{name}.mlp.fc2", gain=0.7))


def build():
    g = Graph("main_graph", seed=5)
    x = embeddings(g, g.input("input", [1, 3, 224, 224]))
    for i in range(BLOCKS):
        x = block(g, x, f"blocks.{i}")
    x = g.layer_norm(x, HIDDEN, "norm", 1e-6)
    first = g.node("Gather", x, g.constant(0, np.int64), axis=1)
    g.output(g.gemm(first, HIDDEN, 1000, "head"), "output", [1, 1000])
    return g
