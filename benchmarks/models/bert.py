"""BERT-base for one sequence of 128 tokens, as PyTorch exports it: token ids, mask and segment ids in, all states and
the pooled first state out."""

import numpy as np
from onnx import TensorProto

from graph import Graph

LAYERS, HIDDEN, HEADS, FEED_FORWARD = 12, 768, 12, 3072
VOCABULARY, POSITIONS, SEGMENTS, SEQUENCE = 30522, 512, 2, 128
HEAD = HIDDEN // HEADS


def embeddings(g, ids, segments):
    words = g.node("Gather", g.normal((VOCABULARY, HIDDEN), 0.5, "embeddings.word_embeddings.weight"), ids)
    kinds = g.node("Gather", g.normal((SEGMENTS, HIDDEN), 0.5, "embeddings.token_type_embeddings.weight"), segments)
    table = g.normal((POSITIONS, HIDDEN), 0.5, "embeddings.position_embeddings.weight")
    positions = g.node("Gather", table, g.constant([range(SEQUENCE)], np.int64))
    x = g.node("Add", g.node("Add", words, kinds), positions)
    return g.layer_norm(x, HIDDEN, "embeddings.LayerNorm", 1e-12)


def additive_mask(g, mask):
    """0 where the mask is 1, the lowest float where it is 0; shape 1x1x1xSEQUENCE."""
    x = g.node("Unsqueeze", mask, g.constant([1], np.int64))
    x = g.node("Unsqueeze", x, g.constant([2], np.int64))
    x = g.node("Cast", x, to=TensorProto.FLOAT)
    return g.node("Mul", g.node("Sub", g.constant(1.0), x), g.constant(np.finfo(np.float32).min))


def heads(g, x, name, order):
    x = g.reshape(g.linear(x, HIDDEN, HIDDEN, name), [1, SEQUENCE, HEADS, HEAD])
    return g.node("Transpose", x, perm=order)


def attention(g, x, mask, name):
    query = heads(g, x, f"{name}.self.query", [0, 2, 1, 3])
    key = heads(g, x, f"{name}.self.key", [0, 2, 3, 1])
    value = heads(g, x, f"{name}.self.value", [0, 2, 1, 3])
    scores = g.node("Div", g.node("MatMul", query, key), g.constant(HEAD**0.5))
    weights = g.node("Softmax", g.node("Add", scores, mask), axis=-1)
    y = g.node("Transpose", g.node("MatMul", weights, value), perm=[0, 2, 1, 3])
    y = g.linear(g.reshape(y, [1, SEQUENCE, HIDDEN]), HIDDEN, HIDDEN, f"{name}.output.dense")
    return g.layer_norm(g.node("Add", y, x), HIDDEN, f"{name}.output.LayerNorm", 1e-12)


def layer(g, x, mask, name):
    x = attention(g, x, mask, f"{name}.attention")
    y = g.gelu(g.linear(x, HIDDEN, FEED_FORWARD, f"{name}.intermediate.dense"))
    y = g.linear(y, FEED_FORWARD, HIDDEN, f"{name}.output.dense")
    return g.layer_norm(g.node("Add", y, x), HIDDEN, f"{name}.output.LayerNorm", 1e-12)


def build():
    g = Graph("main_graph", seed=4)
    ids = g.input("input_ids", [1, SEQUENCE], TensorProto.INT64)
    mask = g.input("attention_mask", [1, SEQUENCE], TensorProto.INT64)
    segments = g.input("token_type_ids", [1, SEQUENCE], TensorProto.INT64)
    mask = additive_mask(g, mask)
    x = embeddings(g, ids, segments)
    for i in range(LAYERS):
        x = layer(g, x, mask, f"encoder.layer.{i}")
    g.output(x, "last_hidden_state", [1, SEQUENCE, HIDDEN])
    first = g.node("Gather", "last_hidden_state", g.constant(0, np.int64), axis=1)
    g.output(g.node("Tanh", g.gemm(first, HIDDEN, HIDDEN, "pooler.dense")), "pooler_output", [1, HIDDEN])
    return g
