"""MobileNetV2 at width 1, for one 224x224 image: inverted residuals with depthwise convolutions, batch norms folded."""

from graph import Graph

# Expansion, output channels, repeats, stride of the first repeat.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def relu6(g, x):
    return g.node("Clip", x, g.constant(0.0), g.constant(6.0))


def inverted_residual(g, x, channels, stride, expansion):
    """Expand by 1x1, filter each channel by 3x3, project by 1x1; the last without an activation."""
    hidden = channels[0] * expansion
    y = x
    if expansion != 1:
        y = relu6(g, g.conv(y, (channels[0], hidden), 1, gain=1.2))
    y = relu6(g, g.conv(y, (hidden, hidden), 3, stride, groups=hidden))
    y = g.conv(y, (hidden, channels[1]), 1)
    return g.node("Add", x, y) if stride == 1 and channels[0] == channels[1] else y


def build():
    g = Graph("torch-jit-export", seed=2)
    x = g.input("input", [1, 3, 224, 224])
    x = relu6(g, g.conv(x, (3, 32), 3, 2))
    channels = 32
    for expansion, width, repeats, stride in STAGES:
        for i in range(repeats):
            x = inverted_residual(g, x, (channels, width), stride if i == 0 else 1, expansion)
            channels = width
    x = relu6(g, g.conv(x, (channels, 1280), 1))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(g.gemm(x, 1280, 1000, "classifier.1"), "output", [1, 1000])
    return g
