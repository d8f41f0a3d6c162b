"""Recurrent layers."""

from case import case, const, f32, weights

import numpy as np


def recurrent(op, gates, label, directions=1, state=False, sizes=(5, 2, 3, 4), lengths=None, open=None, **attributes):
    """Sizes: sequence, batch, input, hidden. Lengths: of each sequence of the batch."""
    steps, batch, features, hidden = sizes
    spread = hidden**-0.5
    operands = [f32(steps, batch, features), weights(directions, gates * hidden, features, spread=2 * spread),
                weights(directions, gates * hidden, hidden, spread=2 * spread)]
    if label != "no-bias":
        operands.append(weights(directions, 2 * gates * hidden))
    if state or lengths:
        operands.append(const(lengths, np.int32) if lengths else None)
    if state:
        operands += [f32(directions, batch, hidden)] * (2 if op == "LSTM" else 1)
    if open:
        attributes["sizes"] = open
    case(op, label, *operands, results=3 if op == "LSTM" else 2, hidden_size=hidden, **attributes)


for op_, gates_ in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    recurrent(op_, gates_, "")
    recurrent(op_, gates_, "no-bias")
    recurrent(op_, gates_, "reverse", direction="reverse")
    recurrent(op_, gates_, "both-ways", directions=2, direction="bidirectional")
    recurrent(op_, gates_, "state", state=True)
    recurrent(op_, gates_, "long", sizes=(120, 1, 20, 32))
    recurrent(op_, gates_, "long-both-ways", directions=2, direction="bidirectional", sizes=(70, 3, 9, 33), state=True)
    recurrent(op_, gates_, "lengths", sizes=(9, 4, 5, 16), lengths=[9, 1, 4, 7], state=True)
    recurrent(op_, gates_, "any-steps", sizes=("s", 2, 5, 16), open=[{"s": 1}, {"s": 12}])
    recurrent(op_, gates_, "any", sizes=("s", "b", 5, 16), open=[{"s": 4, "b": 3}, {"s": 7, "b": 1}])
    recurrent(op_, gates_, "lengths-back", sizes=(9, 3, 5, 8), lengths=[2, 9, 5], direction="reverse")
recurrent("GRU", 3, "linear-before-reset", linear_before_reset=1)
recurrent("RNN", 1, "relu", activations=["Relu"])
recurrent("LSTM", 4, "clip", clip=0.5)
case("LSTM", "peephole", f32(5, 2, 3), weights(1, 16, 3), weights(1, 16, 4), weights(1, 32), None,
     const(np.zeros((1, 2, 4))), const(np.zeros((1, 2, 4))), weights(1, 12), results=3, hidden_size=4)
