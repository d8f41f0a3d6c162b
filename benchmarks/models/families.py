"""Small convolutional networks after well-known families, for what the large models lack: odd channels, groups of odd
width, one and three dimensions, transposed convolutions, channels last, weights that are inputs.

Each row of BUILDERS gives a graph; a run takes some milliseconds.
"""

import numpy as np

from graph import Graph


class Net(Graph):
    """A graph with convolutions of any rank: channels are read from a table of what each value has."""

    def __init__(self, seed):
        super().__init__("main_graph", seed)

    def convolve(self, x, channels, kernel, **options):
        """channels is (in, out), kernel a tuple. Options: stride, pad (begin and end), groups, dilation, bias, w."""
        groups, rank = options.get("groups", 1), len(kernel)
        w = options.get("w")
        if w is None:
            fan_in = channels[0] // groups * int(np.prod(kernel))
            w = self.random.standard_normal((channels[1], channels[0] // groups, *kernel), dtype=np.float32)
            if groups == 1 and fan_in > 1:
                w -= w.mean(axis=tuple(range(1, rank + 2)), keepdims=True)
            w = self.weight(w * np.float32((options.get("gain", 2.0) / fan_in)**0.5))
        operands = [x, w] + ([self.normal((channels[1],), 0.05)] if options.get("bias", True) else [])
        pad = options.get("pad", [k // 2 for k in kernel] * 2)
        return self.node("Conv", *operands, kernel_shape=list(kernel), group=groups, pads=list(pad),
                         strides=[options.get("stride", 1)] * rank, dilations=[options.get("dilation", 1)] * rank)

    def square(self, x, channels, kernel, stride=1, groups=1, **options):
        return self.convolve(x, channels, (kernel, kernel), stride=stride, groups=groups, **options)

    def transposed(self, x, channels, kernel, stride, pad):
        w = self.normal((channels[0], channels[1], *kernel), (1.0 * stride / (channels[0] * np.prod(kernel)))**0.5)
        return self.node("ConvTranspose", x, w, self.normal((channels[1],), 0.05), kernel_shape=list(kernel),
                         strides=[stride] * len(kernel), pads=list(pad))

    def relu(self, x):
        return self.node("Relu", x)

    def head(self, x, features, classes=1000):
        x = self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)
        self.output(self.gemm(x, features, classes, "head"), "output", [1, classes])
        return self

    def squeeze_excite(self, x, channels, inner, gate):
        y = self.node("GlobalAveragePool", x)
        y = self.relu(self.square(y, (channels, inner), 1))
        return self.node("Mul", x, gate(self.square(y, (inner, channels), 1)))


def regnet():
    """RegNetY-400MF: groups of 8, widths 48, 104, 208, 440, squeeze and excite."""
    g = Net(11)
    x = g.relu(g.square(g.input("input", [1, 3, 224, 224]), (3, 32), 3, 2))
    before = 32
    for width, depth in ((48, 1), (104, 3), (208, 6), (440, 6)):
        for i in range(depth):
            stride = 2 if i == 0 else 1
            y = g.relu(g.square(x, (before, width), 1))
            y = g.relu(g.square(y, (width, width), 3, stride, groups=width // 8))
            y = g.squeeze_excite(y, width, before // 4, lambda v: g.node("Sigmoid", v))
            y = g.square(y, (width, width), 1, gain=0.5)
            short = x if i else g.square(x, (before, width), 1, stride)
            x, before = g.relu(g.node("Add", short, y)), width
    return g.head(x, before)


def regnet_wide():
    """The first stages of RegNetX-4GF at 112x112: groups of 40, widths 80, 240, 560."""
    g = Net(12)
    x = g.relu(g.square(g.input("input", [1, 3, 112, 112]), (3, 32), 3, 2))
    before = 32
    for width, depth in ((80, 2), (240, 3), (560, 3)):
        for i in range(depth):
            stride = 2 if i == 0 else 1
            y = g.relu(g.square(x, (before, width), 1))
            y = g.relu(g.square(y, (width, width), 3, stride, groups=width // 40))
            y = g.square(y, (width, width), 1, gain=0.5)
            short = x if i else g.square(x, (before, width), 1, stride)
            x, before = g.relu(g.node("Add", short, y)), width
    return g.head(x, before)


def part(g, x, axis, start, end):
    return g.node("Slice", x, *[g.constant([v], np.int64) for v in (start, end, axis)])


def shuffle(g, x, channels, size):
    x = g.reshape(x, [1, 2, channels // 2, size, size])
    return g.reshape(g.node("Transpose", x, perm=[0, 2, 1, 3, 4]), [1, channels, size, size])


def shufflenet():
    """ShuffleNetV2 at width 1: channel split, depthwise, concat, channel shuffle; 24, 116, 232, 464 channels."""
    g = Net(13)
    x = g.relu(g.square(g.input("input", [1, 3, 224, 224]), (3, 24), 3, 2))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before, size = 24, 56
    for width, depth in ((116, 4), (232, 8), (464, 4)):
        half = width // 2
        size //= 2
        for i in range(depth):
            if i == 0:
                left = g.square(x, (before, before), 3, 2, groups=before)
                left = g.relu(g.square(left, (before, half), 1))
                y, wide, stride = x, before, 2
            else:
                left, y = part(g, x, 1, 0, half), part(g, x, 1, half, width)
                wide, stride = half, 1
            y = g.relu(g.square(y, (wide, half), 1))
            y = g.square(y, (half, half), 3, stride, groups=half)
            y = g.relu(g.square(y, (half, half), 1))
            x = shuffle(g, g.node("Concat", left, y, axis=1), width, size)
        before = width
    x = g.relu(g.square(x, (before, 1024), 1))
    return g.head(x, 1024)


# Kernel, expanded, out, squeeze and excite, hard swish (else rectified), stride.
MOBILE = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 24, 0, 2),
          (5, 120, 40, 32, 0, 1), (5, 120, 40, 32, 0, 1), (3, 240, 80, 0, 1, 2),
          (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
          (3, 184, 80, 0, 1, 1), (3, 480, 112, 120, 1, 1), (3, 672, 112, 168, 1, 1), (5, 672, 160, 168, 1, 2),
          (5, 960, 160, 240, 1, 1), (5, 960, 160, 240, 1, 1)]


def mobilenet_v3():
    """MobileNetV3-Large."""
    g = Net(14)

    def swish(x):
        return g.node("HardSwish", x)

    def hard_sigmoid(x):
        return g.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)

    x = swish(g.square(g.input("input", [1, 3, 224, 224]), (3, 16), 3, 2))
    before = 16
    for kernel, wide, out, squeezed, swishes, stride in MOBILE:
        act = swish if swishes else g.relu
        y = act(g.square(x, (before, wide), 1)) if wide != before else x
        y = act(g.square(y, (wide, wide), kernel, stride, groups=wide))
        y = g.squeeze_excite(y, wide, squeezed, hard_sigmoid) if squeezed else y
        y = g.square(y, (wide, out), 1, gain=1.0)
        x, before = g.node("Add", x, y) if stride == 1 and before == out else y, out
    x = swish(g.square(x, (before, 960), 1))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    x = swish(g.gemm(x, 960, 1280, "pre"))
    g.output(g.gemm(x, 1280, 1000, "head"), "output", [1, 1000])
    return g


def squeezenet():
    """SqueezeNet 1.1: fire modules, whose halves are concatenated; pooling that rounds up; 1000 channels at the end."""
    g = Net(15)
    x = g.relu(g.square(g.input("input", [1, 3, 224, 224]), (3, 64), 3, 2, pad=[0] * 4))
    before = 64
    for squeezed, wide in ((0, 0), (16, 64), (16, 64), (0, 0), (32, 128), (32, 128), (0, 0), (48, 192), (48, 192),
                           (64, 256), (64, 256)):
        if not squeezed:
            x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
            continue
        x = g.relu(g.square(x, (before, squeezed), 1))
        parts = [g.relu(g.square(x, (squeezed, wide), kernel)) for kernel in (1, 3)]
        x, before = g.node("Concat", *parts, axis=1), 2 * wide
    x = g.node("GlobalAveragePool", g.relu(g.square(x, (before, 1000), 1)))
    g.output(g.node("Flatten", x, axis=1), "output", [1, 1000])
    return g


def padded(g, x, left, right):
    return g.node("Pad", x, g.constant([0, 0, left, 0, 0, right], np.int64), mode="reflect")


def encodec():
    """EnCodec's encoder and decoder without the recurrent layers: one dimension, reflected padding, strides 2 to 8,
    transposed convolutions."""
    g = Net(16)

    def conv(x, channels, kernel, stride=1):
        return g.convolve(padded(g, x, kernel - stride, 0), channels, (kernel,), stride=stride, pad=[0, 0])

    def residual(x, width):
        y = conv(g.node("Elu", x), (width, width // 2), 3)
        y = conv(g.node("Elu", y), (width // 2, width), 1)
        return g.node("Add", g.convolve(x, (width, width), (1,)), y)

    width, samples = 32, 4800
    x = conv(g.input("input", [1, 1, samples]), (1, width), 7)
    for stride in (2, 4, 5, 8):
        x = conv(g.node("Elu", residual(x, width)), (width, 2 * width), 2 * stride, stride)
        width *= 2
    x = conv(g.node("Elu", x), (width, 128), 7)
    x = conv(x, (128, width), 7)
    for stride in (8, 5, 4, 2):
        x = g.transposed(g.node("Elu", x), (width, width // 2), (2 * stride,), stride, [0, stride])
        width //= 2
        x = residual(x, width)
    x = conv(g.node("Elu", x), (width, 1), 7)
    g.output(x, "output", [1, 1, samples])
    return g


def attention(g, x, shape, name):
    """Self-attention over shape = (tokens, features, heads)."""
    tokens, features, heads = shape
    size = features // heads

    def split(part, perm):
        y = g.reshape(g.linear(x, features, features, f"{name}.{part}"), [1, tokens, heads, size])
        return g.node("Transpose", y, perm=perm)

    query = g.node("Mul", split("q", [0, 2, 1, 3]), g.constant(size**-0.5))
    scores = g.node("Softmax", g.node("MatMul", query, split("k", [0, 2, 3, 1])), axis=-1)
    y = g.node("Transpose", g.node("MatMul", scores, split("v", [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    return g.linear(g.reshape(y, [1, tokens, features]), features, features, f"{name}.out", gain=0.7)


def encoder_block(g, x, shape, name):
    tokens, features, _ = shape
    x = g.node("Add", x, attention(g, g.layer_norm(x, features, f"{name}.norm1", 1e-5), shape, name))
    y = g.linear(g.layer_norm(x, features, f"{name}.norm2", 1e-5), features, 4 * features, f"{name}.fc1")
    assert tokens
    return g.node("Add", x, g.linear(g.gelu(y), 4 * features, features, f"{name}.fc2", gain=0.7))


def wav2vec2():
    """wav2vec 2.0: seven convolutions over samples, the first normalised, a positional convolution of 128 taps in 16
    groups, and one block of the encoder."""
    g = Net(17)
    x, before = g.input("input", [1, 1, 4000]), 1
    for i, (kernel, stride) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))):
        x = g.convolve(x, (before, 512), (kernel,), stride=stride, pad=[0, 0], bias=False)
        if i == 0:  # a group for each channel, as exporters write it
            ones, zeros = g.weight(np.ones(512, np.float32)), g.weight(np.zeros(512, np.float32))
            x = g.node("InstanceNormalization", g.reshape(x, [0, 512, -1]), ones, zeros, epsilon=1e-5)
            scale = g.weight(1 + 0.1 * g.random.standard_normal((512, 1), dtype=np.float32))
            x = g.node("Add", g.node("Mul", x, scale), g.normal((512, 1), 0.05))
        x, before = g.gelu(x), 512
    tokens = 12
    x = g.layer_norm(g.node("Transpose", x, perm=[0, 2, 1]), 512, "norm", 1e-5)
    x = g.linear(x, 512, 768, "projection")
    y = g.convolve(g.node("Transpose", x, perm=[0, 2, 1]), (768, 768), (128,), groups=16, pad=[64, 64])
    y = g.gelu(part(g, y, 2, 0, -1))
    x = g.layer_norm(g.node("Add", x, g.node("Transpose", y, perm=[0, 2, 1])), 768, "norm2", 1e-5)
    x = encoder_block(g, x, (tokens, 768, 12), "layer")
    g.output(x, "output", [1, tokens, 768])
    return g


def whisper():
    """Whisper's encoder (tiny): two convolutions over a spectrogram, four blocks over 300 frames."""
    g = Net(18)
    frames = 600
    x = g.gelu(g.convolve(g.input("input", [1, 80, frames]), (80, 384), (3,)))
    x = g.gelu(g.convolve(x, (384, 384), (3,), stride=2))
    x = g.node("Transpose", x, perm=[0, 2, 1])
    x = g.node("Add", x, g.normal((frames // 2, 384), 0.5, "positions"))
    for i in range(4):
        x = encoder_block(g, x, (frames // 2, 384, 6), f"blocks.{i}")
    g.layer_norm(x, 384, "norm", 1e-5)
    g.output(g.nodes[-1].output[0], "output", [1, frames // 2, 384])
    return g


def unet():
    """A U-Net of 24 to 96 channels: pooling, concat, transposed convolutions that overlap and that do not."""
    g = Net(19)

    def twice(x, before, width):
        return g.relu(g.square(g.relu(g.square(x, (before, width), 3)), (width, width), 3))

    x, before, skips = g.input("input", [1, 3, 96, 96]), 3, []
    for width in (24, 48):
        x = twice(x, before, width)
        skips.append((x, width))
        x, before = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width
    x, before = twice(x, before, 96), 96
    for (skip, width), kernel in zip(reversed(skips), (2, 4)):
        x = g.transposed(x, (before, width), (kernel, kernel), 2, [(kernel - 2) // 2] * 4)
        x, before = twice(g.node("Concat", skip, x, axis=1), 2 * width, width), width
    g.output(g.square(x, (before, 5), 1), "output", [1, 5, 96, 96])
    return g


def video():
    """A small network of three dimensions: 3x3x3, then 1x3x3 and 3x1x1, 20 and 40 channels."""
    g = Net(20)
    x = g.relu(g.convolve(g.input("input", [1, 3, 8, 56, 56]), (3, 20), (3, 3, 3), stride=2))
    for _ in range(2):
        y = g.relu(g.convolve(x, (20, 45), (1, 3, 3)))
        x = g.relu(g.node("Add", x, g.convolve(y, (45, 20), (3, 1, 1), gain=0.5)))
    x = g.relu(g.convolve(x, (20, 40), (3, 3, 3), stride=2))
    x = g.node("MaxPool", x, kernel_shape=[1, 2, 2], strides=[1, 2, 2])
    return g.head(g.relu(g.convolve(x, (40, 72), (3, 3, 3))), 72, 10)


def weights_given():
    """Convolutions whose weights are inputs: dense, in groups, depthwise."""
    g = Net(21)
    x = g.input("input", [1, 40, 40, 40])
    shapes = [((72, 40, 3, 3), 1), ((72, 24, 3, 3), 3), ((72, 1, 3, 3), 72), ((40, 72, 1, 1), 1)]
    for i, (shape, groups) in enumerate(shapes):
        w = g.input(f"weights{i}", list(shape))
        w = g.node("Mul", w, g.constant((2.0 / np.prod(shape[1:]))**0.5))
        x = g.relu(g.square(x, (shape[1] * groups, shape[0]), shape[2], groups=groups, w=w, bias=False))
    g.output(x, "output", [1, 40, 40, 40])
    return g


def channels_last():
    """Convolutions between transposes, as converters of channels-last models leave them: 24, 72, 104 channels."""
    g = Net(22)

    def last(x, *arguments, **options):
        y = g.square(g.node("Transpose", x, perm=[0, 3, 1, 2]), *arguments, **options)
        return g.node("Transpose", y, perm=[0, 2, 3, 1])

    x = g.relu(last(g.input("input", [1, 96, 96, 3]), (3, 24), 3, 2))
    before = 24
    for width in (72, 104):
        y = g.relu(last(x, (before, width), 1))
        y = g.relu(last(y, (width, width), 3, 2, groups=width))
        x = last(y, (width, width), 1)
        y = g.relu(last(x, (width, width), 3))
        x, before = g.node("Add", x, last(y, (width, width), 1, gain=0.5)), width
    x = g.node("ReduceMean", x, axes=[1, 2], keepdims=0)
    g.output(g.gemm(x, before, 10, "head"), "output", [1, 10])
    return g


BUILDERS = {"regnet": regnet, "regnet_wide": regnet_wide, "shufflenet": shufflenet, "mobilenet_v3": mobilenet_v3,
            "squeezenet": squeezenet, "encodec": encodec, "wav2vec2": wav2vec2, "whisper": whisper, "unet": unet,
            "video": video, "weights_given": weights_given, "channels_last": channels_last}
