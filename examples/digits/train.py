"""Trains the digit classifier of this example and writes digits.onnx, digits_batch.onnx and the held-out images.

A convolutional net of 6,000 parameters learns the UCI digits images that the scikit-learn package carries: 1,797
pictures of 8x8 pixels, of which 360 are held out. Training is plain numpy (im2col, softmax cross-entropy, Adam) and
takes under a minute. The results are committed, so nobody has to run this:

    .venv/bin/pip install -r build_tools/requirements-train.txt
    .venv/bin/python examples/digits/train.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
HELD_OUT = 360
EPOCHS = 60
BATCH = 32


def patches(x):
    """All 3x3 neighbourhoods, zero outside: N x C x H x W to N x H x W x 9C."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*x.shape[:1], *x.shape[2:], -1)


class Conv:
    """3x3 convolution, ReLU, then 2x2 maximum."""

    def __init__(self, random, channels_in, channels_out):
        spread = (2 / (9 * channels_in))**0.5
        self.parameters = [spread * random.standard_normal((9 * channels_in, channels_out)), np.zeros(channels_out)]

    def forward(self, x):
        self.x_shape, self.columns = x.shape, patches(x)
        y = (self.columns @ self.parameters[0] + self.parameters[1]).transpose(0, 3, 1, 2)
        n, c, h, w = y.shape
        cells = np.maximum(y, 0).reshape(n, c, h // 2, 2, w // 2, 2)
        pooled = cells.max(axis=(3, 5), keepdims=True)
        self.passes = (cells == pooled) & (cells > 0)
        return pooled.reshape(n, c, h // 2, w // 2)

    def backward(self, gradient):
        n, c, h, w = gradient.shape
        spread = (self.passes * gradient.reshape(n, c, h, 1, w, 1)).reshape(n, c, 2 * h, 2 * w).transpose(0, 2, 3, 1)
        columns = self.columns.reshape(-1, self.columns.shape[-1])
        self.gradients = [columns.T @ spread.reshape(-1, c), spread.sum(axis=(0, 1, 2))]
        taps = (spread @ self.parameters[0].T).reshape(n, 2 * h, 2 * w, self.x_shape[1], 3, 3)
        back = np.zeros((n, self.x_shape[1], 2 * h + 2, 2 * w + 2))
        for i in range(3):
            for j in range(3):
                back[:, :, i:i + 2 * h, j:j + 2 * w] += taps[..., i, j].transpose(0, 3, 1, 2)
        return back[:, :, 1:-1, 1:-1]


class Dense:
    def __init__(self, random, features_in, features_out):
        spread = features_in**-0.5
        self.parameters = [spread * random.standard_normal((features_in, features_out)), np.zeros(features_out)]

    def forward(self, x):
        self.shape, self.flat = x.shape, x.reshape(len(x), -1)
        return self.flat @ self.parameters[0] + self.parameters[1]

    def backward(self, gradient):
        self.gradients = [self.flat.T @ gradient, gradient.sum(axis=0)]
        return (gradient @ self.parameters[0].T).reshape(self.shape)


class Adam:
    def __init__(self, layers):
        self.layers, self.step = layers, 0
        self.means = [[np.zeros_like(p) for p in layer.parameters] for layer in layers]
        self.squares = [[np.zeros_like(p) for p in layer.parameters] for layer in layers]

    def update(self, rate):
        self.step += 1
        for layer, means, squares in zip(self.layers, self.means, self.squares):
            for p, g, m, s in zip(layer.parameters, layer.gradients, means, squares):
                m += 0.1 * (g - m)
                s += 0.001 * (g * g - s)
                p -= rate * (m / (1 - 0.9**self.step)) / (np.sqrt(s / (1 - 0.999**self.step)) + 1e-8)


def forward(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def shifted(random, images):
    """Each image moved by at most one pixel each way: more kinds of handwriting for nothing."""
    moved = np.zeros_like(images)
    for i, (dy, dx) in enumerate(random.integers(-1, 2, (len(images), 2))):
        moved[i, 0] = np.pad(images[i, 0], 1)[1 + dy:9 + dy, 1 + dx:9 + dx]
    return moved


def train(random, images, labels):
    layers = [Conv(random, 1, 16), Conv(random, 16, 32), Dense(random, 128, 10)]
    adam = Adam(layers)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            chosen = order[start:start + BATCH]
            logits = forward(layers, shifted(random, images[chosen]))
            gradient = np.exp(logits - logits.max(axis=1, keepdims=True))
            gradient /= gradient.sum(axis=1, keepdims=True)
            gradient[np.arange(len(chosen)), labels[chosen]] -= 1
            gradient /= len(chosen)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            adam.update(0.003 * (1 - epoch / EPOCHS) + 1e-5)
    return layers


def export(layers, batch, path):
    """Writes the net for a fixed batch size: images from 0 to 1 in, ten probabilities each out."""
    nodes, weights, x = [], [], "image"
    for i, layer in enumerate(layers[:2]):
        w, b = layer.parameters
        kernel = w.reshape(-1, 3, 3, w.shape[1]).transpose(3, 0, 1, 2)
        weights += [(f"conv{i}.weight", kernel), (f"conv{i}.bias", b)]
        nodes.append(helper.make_node("Conv", [x, f"conv{i}.weight", f"conv{i}.bias"], [f"conv{i}"],
                                      kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"]))
        nodes.append(helper.make_node("MaxPool", [f"relu{i}"], [f"pool{i}"], kernel_shape=[2, 2], strides=[2, 2]))
        x = f"pool{i}"
    weights += [("dense.weight", layers[2].parameters[0]), ("dense.bias", layers[2].parameters[1])]
    nodes.append(helper.make_node("Flatten", [x], ["features"], axis=1))
    nodes.append(helper.make_node("Gemm", ["features", "dense.weight", "dense.bias"], ["logits"]))
    nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1))
    graph = helper.make_graph(
        nodes, "classify", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [batch, 10])],
        [numpy_helper.from_array(np.ascontiguousarray(w, np.float32), name) for name, w in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    random = np.random.default_rng(2024)
    digits = load_digits()
    images = (digits.images / 16).reshape(-1, 1, 8, 8)
    order = random.permutation(len(images))
    held_out, learned = order[:HELD_OUT], order[HELD_OUT:]
    layers = train(random, images[learned], digits.target[learned])
    right = (forward(layers, images[held_out]).argmax(axis=1) == digits.target[held_out]).mean()
    print(f"{100 * right:.2f}% of {HELD_OUT} held-out images are right")
    export(layers, 1, HERE / "digits.onnx")
    export(layers, HELD_OUT, HERE / "digits_batch.onnx")
    np.save(HERE / "images.npy", images[held_out].astype(np.float32))
    np.save(HERE / "labels.npy", digits.target[held_out].astype(np.int32))


if __name__ == "__main__":
    main()
