"""Recurrent layers."""

from case import case, const, f32, weights

import numpy as np


def recurrent(op, gates, label, directions=1, state=False, **attributes):
    """Sequence 5, batch 2, input 3, hidden 4."""
    operands = [f32(5, 2, 3), weights(directions, gates * 4, 3), weights(directions, gates * 4, 4)]
    if label != "no-bias":
        operands.append(weights(directions, 2 * gates * 4))
    if state:
        operands += [None, f32(directions, 2, 4)] + ([f32(directions, 2, 4)] if op == "LSTM" else [])
    case(op, label, *operands, results=3 if op == "LSTM" else 2, hidden_size=4, **attributes)


for op_, gates_ in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    recurrent(op_, gates_, "")
    recurrent(op_, gates_, "no-bias")
    recurrent(op_, gates_, "reverse", direction="reverse")
    recurrent(op_, gates_, "both-ways", directions=2, direction="bidirectional")
    recurrent(op_, gates_, "state", state=True)
recurrent("GRU", 3, "linear-before-reset", linear_before_reset=1)
recurrent("RNN", 1, "relu", activations=["Relu"])
recurrent("LSTM", 4, "clip", clip=0.5)
case("LSTM", "peephole", f32(5, 2, 3), weights(1, 16, 3), weights(1, 16, 4), weights(1, 32), None,
     const(np.zeros((1, 2, 4))), const(np.zeros((1, 2, 4))), weights(1, 12), results=3, hidden_size=4)
