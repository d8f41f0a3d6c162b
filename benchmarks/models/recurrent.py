"""Recurrent layers: LSTM and GRU, one direction or both, of a few sizes, lengths and batches."""

from onnx import TensorProto, helper

from graph import Graph

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def cell(op, hidden, features=None, steps=100, batch=1, **attributes):
    """A graph with one recurrent node; attributes are the node's own."""
    features, directions = features or hidden, 2 if attributes.get("direction") == "bidirectional" else 1
    g, gates = Graph("main_graph", seed=5), GATES[op]
    x = g.input("input", [steps, batch, features])
    spread = hidden**-0.5
    weights = [g.normal((directions, gates * hidden, features), spread, "W"),
               g.normal((directions, gates * hidden, hidden), spread, "R"),
               g.normal((directions, 2 * gates * hidden), spread, "B")]
    names = ["Y", "Y_h", "Y_c"][:3 if op == "LSTM" else 2]
    g.nodes.append(helper.make_node(op, [x, *weights], names, name=op, hidden_size=hidden, **attributes))
    shapes = [[steps, directions, batch, hidden], [directions, batch, hidden], [directions, batch, hidden]]
    g.outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                  for name, shape in zip(names, shapes)]
    return g


BUILDERS = {
    "lstm_128": lambda: cell("LSTM", 128),
    "lstm_512": lambda: cell("LSTM", 512, 256),
    "lstm_256_batch16": lambda: cell("LSTM", 256, batch=16),
    "lstm_256_both": lambda: cell("LSTM", 256, direction="bidirectional"),
    "gru_128": lambda: cell("GRU", 128, linear_before_reset=1),
    "gru_512": lambda: cell("GRU", 512, 256, linear_before_reset=1),
    "gru_256_batch16": lambda: cell("GRU", 256, batch=16),
    "gru_256_both": lambda: cell("GRU", 256, direction="bidirectional"),
}
