"""ResNet-50 for one 224x224 image, stride in the 3x3 convolutions, batch norms folded."""

from graph import Graph

# Blocks and width of each stage; a block's output has four times the width.
STAGES = [(3, 64), (4, 128), (6, 256), (3, 512)]


def bottleneck(g, x, channels, width, stride):
    y = g.node("Relu", g.conv(x, (channels, width), 1))
    y = g.node("Relu", g.conv(y, (width, width), 3, stride))
    y = g.conv(y, (width, 4 * width), 1, gain=0.5)
    if channels != 4 * width:
        x = g.conv(x, (channels, 4 * width), 1, stride, gain=1.5, pad=0)
    return g.node("Relu", g.node("Add", y, x))


def build():
    g = Graph("main_graph", seed=3)
    x = g.input("input", [1, 3, 224, 224])
    x = g.node("Relu", g.conv(x, (3, 64), 7, 2))
    x = g.node("MaxPool", x, ceil_mode=0, dilations=[1, 1], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = 64
    for stage, (blocks, width) in enumerate(STAGES):
        for block in range(blocks):
            x = bottleneck(g, x, channels, width, 2 if block == 0 and stage > 0 else 1)
            channels = 4 * width
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(g.gemm(x, 2048, 1000, "fc"), "output", [1, 1000])
    return g
