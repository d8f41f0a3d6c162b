"""Recurrent layers: LSTM and GRU, one direction or both, of a few sizes, lengths and batches."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def cell(op, hidden, features=None, steps=100, **options):
    """A model with one recurrent node, and its inputs. options: batch, direction, and the node's own attributes."""
    features, batch, direction = features or hidden, options.pop("batch", 1), options.pop("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    random, gates = np.random.default_rng(5), GATES[op]
    weights = []
    for name, shape in (("W", (directions, gates * hidden, features)), ("R", (directions, gates * hidden, hidden)),
                        ("B", (directions, 2 * gates * hidden))):
        array = random.standard_normal(shape, dtype=np.float32) * np.float32(hidden**-0.5)
        weights.append(numpy_helper.from_array(array, name))
    names = ["Y", "Y_h", "Y_c"][:3 if op == "LSTM" else 2]
    node = helper.make_node(op, ["X", "W", "R", "B"], names, hidden_size=hidden, direction=direction, **options)
    shapes = [[steps, directions, batch, hidden], [directions, batch, hidden], [directions, batch, hidden]]
    graph = helper.make_graph(
        [node], "main_graph", [helper.make_tensor_value_info("X", TensorProto.FLOAT, [steps, batch, features])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model, {"X": random.standard_normal((steps, batch, features), dtype=np.float32)}


# Name -> function that returns the model and its inputs by name.
MODELS = {
    "lstm_128": lambda: cell("LSTM", 128),
    "lstm_512": lambda: cell("LSTM", 512, 256),
    "lstm_256_batch16": lambda: cell("LSTM", 256, batch=16),
    "lstm_256_bidirectional": lambda: cell("LSTM", 256, direction="bidirectional"),
    "gru_128": lambda: cell("GRU", 128, linear_before_reset=1),
    "gru_512": lambda: cell("GRU", 512, 256, linear_before_reset=1),
    "gru_256_batch16": lambda: cell("GRU", 256, batch=16),
    "gru_256_bidirectional": lambda: cell("GRU", 256, direction="bidirectional"),
}
