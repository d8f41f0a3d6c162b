"""Networks whose sizes only the caller knows: any batch, sequence length or image. Networks of the other files with an
open batch, and small ones of further families: vision and text transformers, shifted windows, depthwise 7x7 blocks with
norms over channels, squeeze and excite, dilated convolutions over time, speech, detection heads.

SIZES gives each open size the value that benchmarks run with.
"""

import numpy as np

import families
import networks
import recurrent
from families import Net, part

SIZES = {"batch": 3, "steps": 60, "tokens": 77, "height": 56, "width": 72, "samples": 4000, "frames": 200}
WEIGHT_SEED = 41


def batched(build):
    """The network with an open batch: a leading 1 in inputs, outputs and what it reshapes to."""
    def opened():
        g = build()
        constants = {node.output[0]: node for node in g.nodes if node.op_type == "Constant"}
        for value in [*g.inputs, *g.outputs]:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
        for node in g.nodes:
            if node.op_type != "Reshape":
                continue
            tensor = constants[node.input[1]].attribute[0].t
            shape = np.frombuffer(tensor.raw_data, np.int64).copy()
            if shape[0] == 1:
                shape[0] = 0
            tensor.raw_data = shape.tobytes()
        return g
    return opened


def rnn(op, hidden, batch, steps, **attributes):
    return lambda: recurrent.cell(op, hidden, batch=batch, steps=steps, **attributes)


def last_norm(g, x, width):
    """A norm over channels of a channels-first value, as exporters write it: between transposes."""
    x = g.node("Transpose", x, perm=[0, 2, 3, 1])
    return g.layer_norm(x, width, f"norm{len(g.nodes)}", 1e-6)


def convnext():
    """ConvNeXt blocks: depthwise 7x7, then channels last: a norm and two linear layers; 48 and 96 channels."""
    g = Net(WEIGHT_SEED)
    x = g.square(g.input("input", ["batch", 3, 112, 112]), (3, 48), 4, 4, pad=[0] * 4)
    before = 48
    for width in (48, 96):
        if width != before:
            y = g.node("Transpose", last_norm(g, x, before), perm=[0, 3, 1, 2])
            x, before = g.square(y, (before, width), 2, 2, pad=[0] * 4), width
        for i in range(2):
            y = last_norm(g, g.square(x, (width, width), 7, groups=width), width)
            y = g.gelu(g.linear(y, width, 4 * width, f"wide{width}.{i}"))
            y = g.linear(y, 4 * width, width, f"narrow{width}.{i}", gain=0.5)
            x = g.node("Add", x, g.node("Transpose", y, perm=[0, 3, 1, 2]))
    return open_head(g, x, before)


def open_head(g, x, features, classes=100):
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(g.gemm(x, features, classes, "head"), "output", ["batch", classes])
    return g


def efficientnet(batch="batch", height=96, width=96):
    """EfficientNet blocks: expand, depthwise 3x3 and 5x5, squeeze and excite, x * sigmoid(x)."""
    g = Net(WEIGHT_SEED + 1)

    def silu(x):
        return g.node("Mul", x, g.node("Sigmoid", x))

    x = silu(g.square(g.input("input", [batch, 3, height, width]), (3, 32), 3, 2))
    before = 32
    for out, kernel, stride in ((16, 3, 1), (24, 3, 2), (24, 3, 1), (40, 5, 2), (40, 5, 1), (80, 3, 2), (112, 5, 1)):
        wide = before * 6 if before > 16 else before
        y = silu(g.square(x, (before, wide), 1))
        y = silu(g.square(y, (wide, wide), kernel, stride, groups=wide))
        y = g.square(g.squeeze_excite(y, wide, max(before // 4, 4), lambda v: g.node("Sigmoid", v)), (wide, out), 1,
                     gain=1.0)
        x, before = g.node("Add", x, y) if stride == 1 and before == out else y, out
    if batch == "batch":
        return open_head(g, x, before)
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(g.gemm(x, before, 100, "head"), "output", [batch, 100])
    return g


def attend(g, x, tokens, features, heads, name, mask=None):
    """Self-attention whose reshapes take batch (and tokens, when 0) from the value; a packed projection."""
    size = features // heads
    packed = g.reshape(g.linear(x, features, 3 * features, f"{name}.qkv"), [0, tokens, 3, heads, size])
    packed = g.node("Transpose", packed, perm=[2, 0, 3, 1, 4])
    query, key, value = (g.node("Gather", packed, g.constant(i, np.int64), axis=0) for i in range(3))
    query = g.node("Mul", query, g.constant(size**-0.5))
    scores = g.node("MatMul", query, g.node("Transpose", key, perm=[0, 1, 3, 2]))
    if mask:
        scores = g.node("Add", scores, mask)
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), value)
    y = g.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), [0, tokens, features])
    return g.linear(y, features, features, f"{name}.proj", gain=0.7)


def transformer_block(g, x, tokens, features, heads, name, **options):
    attention = options.get("attention") or attend
    x = g.node("Add", x, attention(g, g.layer_norm(x, features, f"{name}.norm1", 1e-6), tokens, features, heads, name))
    y = g.linear(g.layer_norm(x, features, f"{name}.norm2", 1e-6), features, 4 * features, f"{name}.fc1")
    return g.node("Add", x, g.linear(g.gelu(y), 4 * features, features, f"{name}.fc2", gain=0.7))


def vit():
    """A small vision transformer: 192 features, 3 heads, 7x7 patches and a class token."""
    g = Net(WEIGHT_SEED + 2)
    features, patches = 192, 49
    x = g.square(g.input("input", ["batch", 3, 112, 112]), (3, features), 16, 16, pad=[0] * 4)
    shape = g.node("Shape", x)
    batch = g.node("Gather", shape, g.constant([0], np.int64), axis=0)
    x = g.node("Transpose", g.reshape(x, [0, features, patches]), perm=[0, 2, 1])
    token = g.node("Expand", g.normal((1, 1, features), 1.0, "class"),
                   g.node("Concat", batch, g.constant([1, features], np.int64), axis=0))
    x = g.node("Add", g.node("Concat", token, x, axis=1), g.normal((1, patches + 1, features), 0.5, "positions"))
    for i in range(3):
        x = transformer_block(g, x, patches + 1, features, 3, f"blocks.{i}")
    first = g.node("Gather", g.layer_norm(x, features, "norm", 1e-6), g.constant(0, np.int64), axis=1)
    g.output(g.gemm(first, features, 100, "head"), "output", ["batch", 100])
    return g


def text(batch, tokens):
    """Encoder blocks over embeddings of any number of tokens, with a causal mask made from the length."""
    g = Net(WEIGHT_SEED + 3)
    features = 256
    x = g.input("input", [batch, tokens, features])
    length = g.node("Gather", g.node("Shape", x), g.constant(1, np.int64), axis=0)
    steps = g.node("Range", g.constant(0, np.int64), length, g.constant(1, np.int64))
    later = g.node("Less", g.node("Unsqueeze", steps, g.constant([1], np.int64)),
                   g.node("Unsqueeze", steps, g.constant([0], np.int64)))
    mask = g.node("Where", later, g.constant(-1e9), g.constant(0.0))

    def masked(g, *arguments):
        return attend(g, *arguments, mask=mask)

    for i in range(2):
        x = transformer_block(g, x, 0, features, 4, f"blocks.{i}", attention=masked)
    g.layer_norm(x, features, "norm", 1e-6)
    g.output(g.nodes[-1].output[0], "output", [batch, tokens, features])
    return g


def swin():
    """Shifted windows: 28x28 pixels of 96 features in windows of 7x7, rolled by 3 in every other block."""
    g = Net(WEIGHT_SEED + 4)
    size, window, features = 28, 7, 96
    count = size // window

    def roll(x, by):
        for axis in (1, 2):
            x = g.node("Concat", part(g, x, axis, by, 2**31), part(g, x, axis, 0, by), axis=axis)
        return x

    x = g.square(g.input("input", ["batch", 3, 4 * size, 4 * size]), (3, features), 4, 4, pad=[0] * 4)
    x = last_norm(g, x, features)
    for i in range(2):
        y = roll(x, 3) if i % 2 else x
        y = g.node("Transpose", g.reshape(y, [0, count, window, count, window, features]), perm=[0, 1, 3, 2, 4, 5])
        y = transformer_block(g, g.reshape(y, [-1, window * window, features]), window * window, features, 3, f"b{i}")
        y = g.node("Transpose", g.reshape(y, [-1, count, count, window, window, features]), perm=[0, 1, 3, 2, 4, 5])
        y = g.reshape(y, [-1, size, size, features])
        x = g.node("Add", x, roll(y, -3) if i % 2 else y)
    return open_head(g, g.node("Transpose", x, perm=[0, 3, 1, 2]), features)


def tcn():
    """A temporal convolutional network: causal convolutions of 3 taps, dilations 1 to 16, over any number of steps."""
    g = Net(WEIGHT_SEED + 5)
    x, before = g.input("input", ["batch", 20, "samples"]), 20
    for i in range(5):
        pad = 2 * 2**i
        y = g.relu(g.convolve(x, (before, 64), (3,), dilation=2**i, pad=[pad, 0]))
        y = g.relu(g.convolve(y, (64, 64), (3,), dilation=2**i, pad=[pad, 0], gain=1.0))
        x = g.relu(g.node("Add", y, g.convolve(x, (before, 64), (1,)) if before != 64 else x))
        before = 64
    g.output(g.convolve(x, (64, 10), (1,)), "output", ["batch", 10, "samples"])
    return g


def speech(batch, frames):
    """A recogniser of speech: two convolutions over a spectrogram of any length, two GRUs both ways, classes."""
    g = Net(WEIGHT_SEED + 6)
    x = g.input("input", [batch, 1, 64, frames])
    x = g.relu(g.convolve(x, (1, 32), (11, 11), stride=2))
    x = g.relu(g.convolve(x, (32, 32), (11, 5), stride=2))
    x = g.node("Transpose", g.reshape(x, [0, 32 * 16, -1]), perm=[2, 0, 1])
    before, hidden = 512, 128
    for _ in range(2):
        w = g.normal((2, 3 * hidden, before), before**-0.5)
        r, b = g.normal((2, 3 * hidden, hidden), hidden**-0.5), g.normal((2, 6 * hidden), 0.05)
        y = g.node("GRU", x, w, r, b, hidden_size=hidden, direction="bidirectional", linear_before_reset=1)
        x = g.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), [0, 0, 2 * hidden])
        before = 2 * hidden
    x = g.node("LogSoftmax", g.linear(x, before, 30, "classes"), axis=-1)
    g.output(x, "output", ["steps out", batch, 30])
    return g


def detector(batch, height, width):
    """A detector's neck and heads: three strides, upsampling, boxes and classes in one list."""
    g = Net(WEIGHT_SEED + 7)
    x = g.relu(g.square(g.input("input", [batch, 3, height, width]), (3, 24), 3, 2))
    levels, before = [], 24
    for wide in (48, 96, 144):
        x = g.relu(g.square(x, (before, wide), 3, 2))
        x, before = g.node("Add", x, g.relu(g.square(x, (wide, wide), 3, gain=0.5))), wide
        levels.append((x, wide))
    y, before = levels[-1]
    outs = [(y, before)]
    for skip, wide in reversed(levels[:-1]):
        y = g.square(y, (before, wide), 1)
        size = g.node("Shape", skip)
        goal = g.node("Concat", part(g, g.node("Shape", y), 0, 0, 2), part(g, size, 0, 2, 4), axis=0)
        y = g.node("Resize", y, "", "", goal, mode="nearest", coordinate_transformation_mode="asymmetric",
                   nearest_mode="floor")
        y = g.relu(g.square(g.node("Concat", skip, y, axis=1), (2 * wide, wide), 3))
        before = wide
        outs.append((y, wide))
    rows = []
    for y, wide in outs:
        y = g.square(g.relu(g.square(y, (wide, wide), 3)), (wide, 24), 1)
        rows.append(g.node("Transpose", g.reshape(y, [0, 24, -1]), perm=[0, 2, 1]))
    x = g.node("Concat", *rows, axis=1)
    boxes, scores = part(g, x, 2, 0, 4), g.node("Sigmoid", part(g, x, 2, 4, 24))
    g.output(g.node("Concat", boxes, scores, axis=2), "output", [batch, "boxes", 24])
    return g


def image(batch, height, width):
    """Plain and depthwise convolutions, strided ones and pools over images of any size, channels 24 to 96."""
    g = Net(WEIGHT_SEED + 8)
    x = g.relu(g.square(g.input("input", [batch, 3, height, width]), (3, 24), 3))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = g.relu(g.square(x, (24, 48), 3))
    x = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    x = g.relu(g.square(x, (48, 48), 3, groups=48))
    x = g.relu(g.square(x, (48, 96), 1))
    x = g.relu(g.square(x, (96, 96), 5, 2, groups=96))
    x = g.square(x, (96, 48), 3)
    g.output(x, "output", [batch, 48, "rows", "columns"])
    return g


def only(make, rank=2, channels=32, size=("height", "width")):
    """One node on an image of any size."""
    def build():
        g = Net(WEIGHT_SEED + 9)
        x = make(g, g.input("input", [1, channels, *size]))
        g.output(x, "output", [1, "channels", *["rows", "columns"][:rank]])
        return g
    return build


STATIC = {name: (families.BUILDERS | networks.BUILDERS)[name] for name in
          ("regnet", "shufflenet", "mobilenet_v3", "squeezenet", "unet", "video", "channels_last", "encodec", "wavenet",
           "densenet", "inception", "resnext", "generator", "superresolution")}
BUILDERS = {f"{name}_batch": batched(build) for name, build in STATIC.items()} | {
    "rnn_batch": rnn("RNN", 128, "batch", 60), "rnn_steps": rnn("RNN", 128, 1, "steps"),
    "lstm_batch": rnn("LSTM", 128, "batch", 60), "lstm_steps": rnn("LSTM", 128, 1, "steps"),
    "lstm_open": rnn("LSTM", 128, "batch", "steps"),
    "lstm_open_both": rnn("LSTM", 96, "batch", "steps", direction="bidirectional"),
    "gru_batch": rnn("GRU", 128, "batch", 60), "gru_steps": rnn("GRU", 128, 1, "steps", linear_before_reset=1),
    "gru_open": rnn("GRU", 128, "batch", "steps", linear_before_reset=1),
    "gru_open_both": rnn("GRU", 96, "batch", "steps", direction="bidirectional"),
    "convnext_batch": convnext, "efficientnet_batch": efficientnet,
    "efficientnet_image": lambda: efficientnet(1, "height", "width"), "vit_batch": vit,
    "text_tokens": lambda: text(1, "tokens"), "text_open": lambda: text("batch", "tokens"), "swin_batch": swin,
    "tcn_open": tcn, "speech_batch": lambda: speech("batch", 200), "speech_frames": lambda: speech(1, "frames"),
    "detector_batch": lambda: detector("batch", 96, 128), "detector_image": lambda: detector(1, "height", "width"),
    "image_batch": lambda: image("batch", 56, 72), "image_open": lambda: image(1, "height", "width"),
    "conv_image": only(lambda g, x: g.square(x, (32, 64), 3)),
    "strided_image": only(lambda g, x: g.square(x, (32, 64), 3, 2)),
    "point_image": only(lambda g, x: g.square(x, (32, 64), 1)),
    "odd_image": only(lambda g, x: g.square(x, (32, 50), 3)),
    "grouped_image": only(lambda g, x: g.square(x, (32, 64), 3, groups=4)),
    "depthwise_image": only(lambda g, x: g.square(x, (32, 32), 3, groups=32)),
    "depthwise_strided_image": only(lambda g, x: g.square(x, (32, 32), 3, 2, groups=32)),
    "transposed_image": only(lambda g, x: g.transposed(x, (32, 24), (4, 4), 2, [1] * 4)),
    "max_pool_image": only(lambda g, x: g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)),
    "average_pool_image": only(lambda g, x: g.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])),
    "conv_samples": only(lambda g, x: g.convolve(x, (32, 64), (5,)), 1, 32, ("samples",)),
    "depthwise_samples": only(lambda g, x: g.convolve(x, (32, 32), (7,), groups=32), 1, 32, ("samples",)),
}
