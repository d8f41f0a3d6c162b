"""More small networks like those of families.py: what stands between convolutions, and extremes of their shapes."""

import numpy as np

from families import Net, part


def densenet():
    """DenseNet: each layer normalises and rectifies all channels so far, and adds 32."""
    g = Net(31)

    def normalized(x, channels):
        scale = g.weight(1 + 0.1 * g.random.standard_normal(channels, dtype=np.float32))
        mean, variance = g.normal((channels,), 0.1), g.weight(np.ones(channels, np.float32))
        return g.relu(g.node("BatchNormalization", x, scale, g.normal((channels,), 0.1), mean, variance, epsilon=1e-5))

    x = g.relu(g.square(g.input("input", [1, 3, 112, 112]), (3, 64), 7, 2))
    x, channels = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for layers in (4, 6, 6):
        for _ in range(layers):
            y = g.relu(g.square(normalized(x, channels), (channels, 128), 1))
            x = g.node("Concat", x, g.square(y, (128, 32), 3), axis=1)
            channels += 32
        x = g.square(normalized(x, channels), (channels, channels // 2), 1)
        channels //= 2
        x = g.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return g.head(g.relu(x), channels)


def inception():
    """Inception: branches of 1x1, 1x7 and 7x1, 3x3 kernels and pooling, concatenated."""
    g = Net(32)

    def conv(x, channels, kernel, **options):
        return g.relu(g.convolve(x, channels, kernel, **options))

    x = conv(g.input("input", [1, 3, 75, 75]), (3, 32), (3, 3), stride=2, pad=[0] * 4)
    x, before = conv(x, (32, 80), (3, 3)), 80
    for width in (64, 80):
        a = conv(x, (before, 96), (1, 1))
        b = conv(conv(conv(x, (before, width), (1, 1)), (width, width), (1, 7)), (width, 96), (7, 1))
        c = conv(conv(x, (before, 48), (1, 1)), (48, 64), (5, 5))
        d = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        d = conv(d, (before, 36), (1, 1))
        x, before = g.node("Concat", a, b, c, d, axis=1), 292
    return g.head(x, before)


def yolo():
    """A detector's neck: SiLU, channels split in halves, pooling of 5x5 in a row, upsampling, concatenation."""
    g = Net(33)

    def conv(x, channels, kernel, stride=1):
        y = g.square(x, channels, kernel, stride)
        return g.node("Mul", y, g.node("Sigmoid", y))

    x = conv(conv(g.input("input", [1, 3, 160, 160]), (3, 16), 3, 2), (16, 32), 3, 2)
    skip = None
    for width in (64, 128):
        x = conv(x, (width // 2, width), 3, 2)
        x = conv(x, (width, width), 1)
        left, y = part(g, x, 1, 0, width // 2), part(g, x, 1, width // 2, width)
        z = g.node("Add", y, conv(conv(y, (width // 2, width // 2), 3), (width // 2, width // 2), 3))
        x = conv(g.node("Concat", left, y, z, axis=1), (3 * width // 2, width), 1)
        skip = skip or (x, width)
    y = conv(x, (128, 64), 1)
    pools = [y]
    for _ in range(3):
        pools.append(g.node("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    x = conv(g.node("Concat", *pools, axis=1), (256, 128), 1)
    up = g.node("Resize", x, "", g.weight(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
                nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    x = conv(g.node("Concat", up, skip[0], axis=1), (192, 85), 1)
    g.output(g.square(x, (85, 85), 1), "output", [1, 85, 20, 20])
    return g


def resnext():
    """ResNeXt: 32 groups of 4 and of 8 channels."""
    g = Net(34)
    x = g.relu(g.square(g.input("input", [1, 3, 112, 112]), (3, 64), 7, 2))
    before = 64
    for width, stride in ((128, 2), (128, 1), (256, 2), (256, 1)):
        y = g.relu(g.square(x, (before, width), 1))
        y = g.relu(g.square(y, (width, width), 3, stride, groups=32))
        y = g.square(y, (width, 2 * width), 1, gain=0.5)
        short = x if before == 2 * width else g.square(x, (before, 2 * width), 1, stride)
        x, before = g.relu(g.node("Add", short, y)), 2 * width
    return g.head(x, before)


def convnext():
    """ConvNeXt: depthwise 7x7, a norm over channels that are last for it, 1x1 convolutions as matrix products."""
    g = Net(35)
    x = g.square(g.input("input", [1, 3, 112, 112]), (3, 96), 4, 4, pad=[0] * 4)
    for _ in range(3):
        y = g.node("Transpose", g.square(x, (96, 96), 7, groups=96), perm=[0, 2, 3, 1])
        y = g.layer_norm(y, 96, f"norm{len(g.nodes)}", 1e-6)
        y = g.linear(g.gelu(g.linear(y, 96, 384, f"a{len(g.nodes)}")), 384, 96, f"b{len(g.nodes)}")
        x = g.node("Add", x, g.node("Transpose", y, perm=[0, 3, 1, 2]))
    return g.head(x, 96, 10)


def vgg():
    """The end of VGG at a quarter of its width: an image flattened into a matrix product."""
    g = Net(36)
    x, before = g.input("input", [1, 3, 56, 56]), 3
    for width in (36, 72, 120):
        x = g.relu(g.square(x, (before, width), 3))
        x, before = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width
    x = g.node("Flatten", x, axis=1)
    x = g.relu(g.gemm(x, 120 * 49, 512, "a"))
    g.output(g.gemm(x, 512, 10, "b"), "output", [1, 10])
    return g


def wavenet():
    """WaveNet: dilations of 1 to 256, causal padding, gates of halves, 1x1 outputs."""
    g = Net(37)
    x = g.convolve(g.input("input", [1, 1, 2000]), (1, 48), (1,))
    total = None
    for i in range(9):
        d = 2**i
        y = g.convolve(x, (48, 96), (2,), dilation=d, pad=[d, 0])
        y = g.node("Mul", g.node("Tanh", part(g, y, 1, 0, 48)), g.node("Sigmoid", part(g, y, 1, 48, 96)))
        skip = g.convolve(y, (48, 60), (1,))
        total = skip if total is None else g.node("Add", total, skip)
        x = g.node("Add", x, g.convolve(y, (48, 48), (1,), gain=0.5))
    x = g.convolve(g.relu(total), (60, 100), (1,))
    g.output(g.convolve(g.relu(x), (100, 1), (1,)), "output", [1, 1, 2000])
    return g


def generator():
    """DCGAN's generator: from one pixel by transposed convolutions of 4x4 to an image of 3 channels."""
    g = Net(38)
    x = g.relu(g.transposed(g.input("input", [1, 100, 1, 1]), (100, 200), (4, 4), 1, [0] * 4))
    for before, width in ((200, 100), (100, 52), (52, 26)):
        x = g.relu(g.transposed(x, (before, width), (4, 4), 2, [1] * 4))
    g.output(g.node("Tanh", g.transposed(x, (26, 3), (4, 4), 2, [1] * 4)), "output", [1, 3, 64, 64])
    return g


def superresolution():
    """ESPCN: 5x5 and 3x3 at full size, channels into pixels, one channel at both ends."""
    g = Net(39)
    x = g.node("Tanh", g.square(g.input("input", [1, 1, 96, 96]), (1, 64), 5))
    x = g.node("Tanh", g.square(x, (64, 32), 3))
    x = g.node("DepthToSpace", g.square(x, (32, 9), 3), blocksize=3, mode="CRD")
    g.output(g.square(x, (1, 1), 3), "output", [1, 1, 288, 288])
    return g


def diffusion():
    """A block of a diffusion model's U-Net: group norms before convolutions, SiLU, an embedding added, upsampling."""
    g = Net(40)

    def norm(x, channels, size):
        y = g.node("InstanceNormalization", g.reshape(x, [1, 8, channels // 8 * size * size]),
                   g.weight(np.ones(8, np.float32)), g.weight(np.zeros(8, np.float32)), epsilon=1e-5)
        y = g.reshape(y, [1, channels, size, size])
        y = g.node("Add", g.node("Mul", y, g.weight(np.ones((channels, 1, 1), np.float32))),
                   g.normal((channels, 1, 1), 0.1))
        return g.node("Mul", y, g.node("Sigmoid", y))

    time = g.input("time", [1, 64])
    x, before, size = g.square(g.input("input", [1, 4, 32, 32]), (4, 40), 3), 40, 32
    for width in (40, 80):
        y = g.square(norm(x, before, size), (before, width), 3)
        y = g.node("Add", y, g.reshape(g.gemm(time, 64, width, f"time{width}"), [1, width, 1, 1]))
        y = g.square(norm(y, width, size), (width, width), 3, gain=0.5)
        x, before = g.node("Add", y, x if before == width else g.square(x, (before, width), 1)), width
        if width == 40:
            x, size = g.square(x, (width, width), 3, 2), 16
    x = g.node("Resize", x, "", g.weight(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
               nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    g.output(g.square(x, (80, 4), 3), "output", [1, 4, 32, 32])
    return g


BUILDERS = {"densenet": densenet, "inception": inception, "yolo": yolo, "resnext": resnext, "convnext": convnext,
            "vgg": vgg, "wavenet": wavenet, "generator": generator, "superresolution": superresolution,
            "diffusion": diffusion}
