"""Networks as JAX and TensorFlow write them, channels last: each as StableHLO text and as the same ONNX model.

ONNX Runtime takes the ONNX model, whose input is transposed once and whose convolutions have channels first.
"""

import numpy as np
from onnx import numpy_helper

from families import Net


class Twin(Net):
    """Adds each op to both. Values are numbers of shapes [n, spatial .., c]; text() is the StableHLO module."""

    def __init__(self, seed, shape):
        super().__init__(seed)
        self.lines, self.values = [], []
        self.text_input = shape
        rank = len(shape)
        x = self.input("input", list(shape))
        x = self.node("Transpose", x, perm=[0, rank - 1, *range(1, rank - 1)])
        self.values.append((x, "%arg0", shape))

    def kind(self, shape):
        return f"tensor<{'x'.join(str(d) for d in (*shape, 'f32'))}>"

    def add(self, onnx_name, line, shape):
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = {line}")
        self.values.append((onnx_name, name, tuple(shape)))
        return len(self.values) - 1

    def literal(self, array):
        array = np.asarray(array, np.float32)
        data = array.reshape(()).item() if array.size == 1 else f'"0x{array.tobytes().hex().upper()}"'
        data = f"{data:e}" if array.size == 1 else data
        return self.values[self.add("", f"stablehlo.constant dense<{data}> : {self.kind(array.shape)}", array.shape)][1]

    def conv_last(self, value, channels, kernel, stride=1, groups=1):
        """With a bias; pads by half the kernel."""
        x, name, shape = self.values[value]
        y = self.convolve(x, channels, kernel, stride=stride, groups=groups, gain=1.5)
        spatial, weights, bias = len(kernel), *(numpy_helper.to_array(w) for w in self.weights[-2:])
        digits = ", ".join(str(i) for i in range(spatial))
        out = [(size + 2 * (k // 2) - k) // stride + 1 for size, k in zip(shape[1:], kernel)]
        result = (shape[0], *out, channels[1])
        w = self.literal(weights.transpose(*range(2, 2 + spatial), 1, 0))
        pads = ", ".join(f"[{k // 2}, {k // 2}]" for k in kernel)
        w_kind = self.kind((*kernel, channels[0] // groups, channels[1]))
        dims = f"[b, {digits}, f]x[{digits}, i, o]->[b, {digits}, f]"
        line = (f"stablehlo.convolution({name}, {w}) dim_numbers = {dims}, "
                f"window = {{stride = [{', '.join([str(stride)] * spatial)}], pad = [{pads}]}} "
                f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : "
                f"({self.kind(shape)}, {w_kind}) -> {self.kind(result)}")
        product = self.values[self.add("", line, result)][1]
        spread = self.spread(self.literal(bias), bias.shape, result, [spatial + 1])
        return self.add(y, f"stablehlo.add {product}, {spread} : {self.kind(result)}", result)

    def spread(self, name, shape, result, dims):
        line = (f"stablehlo.broadcast_in_dim {name}, dims = {list(dims)} : ({self.kind(shape)}) -> {self.kind(result)}")
        return self.values[self.add("", line, result)][1]

    def rectified(self, value):
        x, name, shape = self.values[value]
        zero = self.spread(self.literal(np.zeros(())), (), shape, [])
        return self.add(self.relu(x), f"stablehlo.maximum {name}, {zero} : {self.kind(shape)}", shape)

    def sum(self, a, b):
        (x, left, shape), (y, right, _) = self.values[a], self.values[b]
        return self.add(self.node("Add", x, y), f"stablehlo.add {left}, {right} : {self.kind(shape)}", shape)

    def finish(self, value):
        """Sums over all positions, which both call "output"."""
        x, name, shape = self.values[value]
        y = self.node("ReduceSum", x, self.constant(list(range(2, len(shape))), np.int64), keepdims=0)
        result = (shape[0], shape[-1])
        self.output(y, "output", list(result))
        dims = ", ".join(str(i) for i in range(1, len(shape) - 1))
        zero = self.literal(np.zeros(()))
        self.add("", f"stablehlo.reduce({name} init: {zero}) applies stablehlo.add across dimensions = [{dims}] : "
                 f"({self.kind(shape)}, tensor<f32>) -> {self.kind(result)}", result)
        return self

    def text(self):
        _, name, shape = self.values[-1]
        return "\n".join([f"func.func @main_graph(%arg0: {self.kind(self.text_input)}) -> {self.kind(shape)} {{",
                          *self.lines, f"    return {name} : {self.kind(shape)}", "}", ""])

    def save(self, path):
        super().save(path)
        path.with_suffix(".mlir").write_text(self.text(), encoding="ascii")


def mobile_last():
    """Inverted residuals of 24, 40, 80 and 112 channels, channels last."""
    g = Twin(51, (1, 160, 160, 3))
    x, before = g.rectified(g.conv_last(0, (3, 24), (3, 3), 2)), 24
    for width, stride in ((24, 1), (40, 2), (40, 1), (80, 2), (80, 1), (112, 2), (112, 1)):
        y = g.rectified(g.conv_last(x, (before, 4 * before), (1, 1)))
        y = g.rectified(g.conv_last(y, (4 * before, 4 * before), (3, 3), stride, groups=4 * before))
        y = g.conv_last(y, (4 * before, width), (1, 1))
        x, before = g.sum(x, y) if before == width else y, width
    return g.finish(x)


def residual_last():
    """Residual blocks of 64, 100 and 256 channels, some in groups, channels last."""
    g = Twin(52, (2, 64, 64, 3))
    x, before = g.rectified(g.conv_last(0, (3, 64), (7, 7), 2)), 64
    for width, groups in ((64, 1), (100, 5), (256, 1)):
        y = g.rectified(g.conv_last(x, (before, width), (3, 3), 2))
        y = g.conv_last(y, (width, width), (3, 3), groups=groups)
        x, before = g.rectified(g.sum(g.conv_last(x, (before, width), (1, 1), 2), y)), width
        x = g.rectified(g.sum(x, g.conv_last(x, (width, width), (3, 3))))
    return g.finish(x)


def sound_last():
    """One dimension: strided, then wide kernels, 40 to 120 channels, channels last."""
    g = Twin(53, (1, 3000, 1))
    x, before = g.rectified(g.conv_last(0, (1, 40), (11,), 5)), 40
    for width, kernel in ((80, 5), (120, 5), (120, 31)):
        x = g.rectified(g.conv_last(x, (before, width), (kernel,), 2 if kernel == 5 else 1))
        x, before = g.sum(x, g.conv_last(x, (width, width), (15,), groups=width)), width
    return g.finish(x)


BUILDERS = {"mobile_last": mobile_last, "residual_last": residual_last, "sound_last": sound_last}
