"""GPT-2 small reading 128 tokens, as PyTorch exports it: token ids in, the logits of the last token out."""

import numpy as np
from onnx import TensorProto

from graph import Graph

LAYERS, HIDDEN, HEADS, FEED_FORWARD = 12, 768, 12, 3072
VOCABULARY, POSITIONS, SEQUENCE = 50257, 1024, 128
HEAD = HIDDEN // HEADS


def embeddings(g, ids):
    table = g.normal((VOCABULARY, HIDDEN), 0.5, "wte.weight")
    places = g.node("Gather", g.normal((POSITIONS, HIDDEN), 0.2, "wpe.weight"), g.constant([range(SEQUENCE)], np.int64))
    return table, g.node("Add", g.node("Gather", table, ids), places)


def heads(g, x, order):
    return g.node("Transpose", g.reshape(x, [1, SEQUENCE, HEADS, HEAD]), perm=order)


def attention(g, x, name):
    """Queries, keys and values by one product; what a token does not see yet is the lowest float."""
    joined = g.linear(x, HIDDEN, 3 * HIDDEN, f"{name}.c_attn")
    query, key, value = (g.node("Slice", joined, g.constant([i * HIDDEN], np.int64),
                                g.constant([(i + 1) * HIDDEN], np.int64), g.constant([2], np.int64)) for i in range(3))
    query, key, value = heads(g, query, [0, 2, 1, 3]), heads(g, key, [0, 2, 3, 1]), heads(g, value, [0, 2, 1, 3])
    scores = g.node("Div", g.node("MatMul", query, key), g.constant(HEAD**0.5))
    sees = g.constant(np.tril(np.ones((1, 1, SEQUENCE, SEQUENCE), bool)), bool)
    scores = g.node("Where", sees, scores, g.constant(np.finfo(np.float32).min))
    y = g.node("Transpose", g.node("MatMul", g.node("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
    return g.linear(g.reshape(y, [1, SEQUENCE, HIDDEN]), HIDDEN, HIDDEN, f"{name}.c_proj")


def gelu(g, x):
    """By the hyperbolic tangent."""
    cube = g.node("Pow", x, g.constant(3.0))
    inner = g.node("Add", x, g.node("Mul", cube, g.constant(0.044715)))
    tanh = g.node("Tanh", g.node("Mul", inner, g.constant((2 / np.pi) ** 0.5)))
    return g.node("Mul", g.node("Mul", x, g.constant(0.5)), g.node("Add", tanh, g.constant(1.0)))


def layer(g, x, name):
    x = g.node("Add", x, attention(g, g.layer_norm(x, HIDDEN, f"{name}.ln_1", 1e-5), f"{name}.attn"))
    y = gelu(g, g.linear(g.layer_norm(x, HIDDEN, f"{name}.ln_2", 1e-5), HIDDEN, FEED_FORWARD, f"{name}.mlp.c_fc"))
    return g.node("Add", x, g.linear(y, FEED_FORWARD, HIDDEN, f"{name}.mlp.c_proj"))


def build():
    g = Graph("main_graph", seed=6)
    ids = g.input("input_ids", [1, SEQUENCE], TensorProto.INT64)
    table, x = embeddings(g, ids)
    for i in range(LAYERS):
        x = layer(g, x, f"h.{i}")
    x = g.layer_norm(x, HIDDEN, "ln_f", 1e-5)
    last = g.node("Gather", x, g.constant([SEQUENCE - 1], np.int64), axis=1)
    g.output(g.node("MatMul", last, g.node("Transpose", table, perm=[1, 0])), "logits", [1, 1, VOCABULARY])
    return g
