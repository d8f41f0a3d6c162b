"""Random contractions and convolutions by known weights on tile registers (AMX), against NumPy.

    tests/dispatch/run_tiles.py --runner build/tests/run_dispatches [--count 8] [--seed 1] [--native]

Kernels for a processor that has them run in the checking interpreter; with --native it is this machine's, whose code
runs: where it has no tile registers nothing is shown by that, and the program says so.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from random_cases import argument_parser, read, run_cases, stored

TOLERANCES = {"f32": 2e-6, "bf16": 8e-3}
KINDS = {"f32": TensorProto.FLOAT, "bf16": TensorProto.BFLOAT16}
SPECIAL = [np.inf, -np.inf, np.nan, 1e-40, 1e36, 1e-30]


def convolve(x, w, form):
    top, left, bottom, right = form.pad
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    reach = (form.kernel - 1) * form.dilation
    height, width = ((n - reach - 1) // form.stride + 1 for n in padded.shape[2:])
    y = np.zeros((len(x), len(w), height, width), x.dtype)
    for i in range(form.kernel):
        for j in range(form.kernel):
            part = padded[:, :, i * form.dilation:, j * form.dilation:]
            part = part[:, :, :(height - 1) * form.stride + 1:form.stride, :(width - 1) * form.stride + 1:form.stride]
            y += np.einsum("nchw,oc->nohw", part, w[:, :, i, j])
    return y


class Subject:
    def __str__(self):
        return f"{type(self).__name__}: " + ", ".join(f"{name} {value}" for name, value in vars(self).items())

    @staticmethod
    def model(nodes, inputs, outputs, constants):
        values = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs + outputs]
        graph = helper.make_graph(nodes, "case", values[:len(inputs)], values[len(inputs):], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


class Product(Subject):
    """Floats by a matrix, with a bias; some rows with numbers that tile registers do not take."""

    def __init__(self, random):
        pick = random.choice
        self.kind = str(pick(["f32", "f32", "bf16"]))
        self.rows = int(pick([96, 97, 113, 128, 130, 160] if self.kind == "f32" else [1, 7, 16, 33, 100]))
        self.depth = int(pick([48, 64, 75, 100, 128, 160]))
        self.columns = int(pick([32, 40, 64, 70, 97]))
        if random.random() < 0.2:
            self.depth, self.columns = 1536, 32  # in several blocks
        self.is_open = self.kind == "bf16" and bool(random.random() < 0.5)
        self.special = self.kind == "f32" and bool(random.random() < 0.4)

    def build(self, random):
        x = random.standard_normal((self.rows, self.depth))
        if self.special:
            x[3, 5] = random.choice(SPECIAL)
            x[-1] *= 1e-38
        data, x = stored(x, self.kind)
        w_data, w = stored(random.standard_normal((self.depth, self.columns)), self.kind)
        kind = KINDS[self.kind]
        weights = helper.make_tensor("w", kind, w.shape, w_data, raw=True)
        rows = "n" if self.is_open else self.rows
        nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
        model = self.model(nodes, [("x", kind, [rows, self.depth])], [("y", kind, [rows, self.columns])], [weights])
        with np.errstate(invalid="ignore"):
            y = x @ w
            return model, data, x.shape, np.where(y > 0, y, np.where(np.isnan(y), y, 0)), np.abs(x) @ np.abs(w)

    def wrong(self, data, y, scale):
        ours = read(data, self.kind, y.shape).astype(np.float64)
        finite = np.isfinite(y)
        if not np.array_equal(np.isnan(ours), np.isnan(y)) or not np.array_equal(ours[np.isinf(y)], y[np.isinf(y)]):
            return "infinities or NaN differ"
        scale = 1 + np.abs(y).max() if self.kind == "bf16" else np.maximum(scale[finite], 1e-44)
        error = np.abs(ours[finite] - y[finite]) / scale
        return f"off by {error.max()} of the sum of magnitudes" if error.max() > TOLERANCES[self.kind] else None


class Bytes(Subject):
    """The same of bytes, to the bit."""

    def __init__(self, random):
        pick = random.choice
        self.rows = int(pick([4, 7, 16, 17, 31, 33, 50, 64, 200]))
        self.depth = int(pick([48, 64, 76, 100, 128, 576, 3072]))
        self.columns = int(pick([32, 40, 64, 70, 130]))
        self.unsigned, self.zero = bool(random.random() < 0.5), int(random.integers(0, 100))
        self.is_open = False

    def build(self, random):
        kind = np.uint8 if self.unsigned else np.int8
        x = random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (self.rows, self.depth)).astype(kind)
        w = random.integers(-128, 128, (self.depth, self.columns)).astype(np.int8)
        constants = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.array(self.zero, kind), "z")]
        nodes = [helper.make_node("MatMulInteger", ["x", "w", "z"], ["y"])]
        element = TensorProto.UINT8 if self.unsigned else TensorProto.INT8
        model = self.model(nodes, [("x", element, x.shape)], [("y", TensorProto.INT32, [self.rows, self.columns])],
                           constants)
        return model, x.tobytes(), x.shape, (x.astype(np.int64) - self.zero) @ w.astype(np.int64), None

    def wrong(self, data, y, _):
        ours = np.frombuffer(data, np.int32).reshape(y.shape)
        return None if np.array_equal(ours, y) else f"{np.count_nonzero(ours != y)} of {y.size} differ"


class Pixels(Bytes):
    """Convolutions of bytes."""

    def __init__(self, random):
        pick = random.choice
        self.images = int(pick([1, 1, 3]))
        self.kernel, self.stride, self.dilation = int(pick([1, 1, 3, 5])), int(pick([1, 1, 2])), int(pick([1, 1, 2]))
        self.channels = int(pick([16, 24, 32, 64, 96] if self.kernel > 1 else [48, 56, 64, 72, 96]))
        self.outputs = int(pick([32, 48, 64, 70]))
        self.size = int(pick([13, 16, 17]))
        self.pad = [int(n) for n in random.integers(0, 3, 4)]
        self.unsigned, self.zero = bool(random.random() < 0.6), int(pick([0, 0, 3]))

    def build(self, random):
        kind = np.uint8 if self.unsigned else np.int8
        shape = (self.images, self.channels, self.size, self.size + 2)
        x = random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
        w = random.integers(-128, 128, (self.outputs, self.channels, self.kernel, self.kernel)).astype(np.int8)
        y = convolve(x.astype(np.int64) - self.zero, w.astype(np.int64), self)
        constants = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.array(self.zero, kind), "z")]
        nodes = [helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], pads=self.pad, strides=[self.stride] * 2,
                                  dilations=[self.dilation] * 2)]
        element = TensorProto.UINT8 if self.unsigned else TensorProto.INT8
        return (self.model(nodes, [("x", element, shape)], [("y", TensorProto.INT32, y.shape)], constants),
                x.tobytes(), x.shape, y, None)


class Images(Product):
    """Convolutions of floats behind others, a few of whose pixels are what tile registers do not take."""

    def __init__(self, random):
        pick = random.choice
        self.kind = str(pick(["f32", "f32", "bf16"]))
        self.images, self.channels, self.outputs = int(pick([1, 1, 2])), int(pick([32, 64])), int(pick([64, 70]))
        self.kernel, self.stride, self.dilation = int(pick([1, 3, 3])), int(pick([1, 1, 2])), int(pick([1, 1, 2]))
        if self.kernel == 1:
            self.channels = int(pick([64, 96, 512]))
        self.size = int(pick([15, 16] if self.stride == 1 else [24, 25]))
        self.pad = [int(n) for n in random.integers(0, 3, 4)]
        self.special = self.kind == "f32" and bool(random.random() < 0.4)

    def build(self, random):
        x = random.standard_normal((self.images, 8, self.size, self.size + 2))
        if self.special:
            x[0, 3, 4, 5] = random.choice(SPECIAL)
            x[-1, :, -5:] *= 1e-38
        data, x = stored(x, self.kind)
        v_data, v = stored(random.standard_normal((self.channels, 8)), self.kind)
        w_data, w = stored(random.standard_normal((self.outputs, self.channels, self.kernel, self.kernel)), self.kind)
        with np.errstate(invalid="ignore"):
            between = np.einsum("nchw,oc->nohw", x, v)
            y = convolve(between, w, self)
            scale = convolve(np.einsum("nchw,oc->nohw", np.abs(x), np.abs(v)), np.abs(w), self)
        nodes = [helper.make_node("Conv", ["x", "v"], ["i"]),
                 helper.make_node("Conv", ["i", "w"], ["y"], pads=self.pad, strides=[self.stride] * 2,
                                  dilations=[self.dilation] * 2)]
        model = self.model(nodes, [("x", KINDS[self.kind], x.shape)], [("y", KINDS[self.kind], y.shape)],
                           [helper.make_tensor("w", KINDS[self.kind], w.shape, w_data, raw=True),
                            helper.make_tensor("v", KINDS[self.kind], (*v.shape, 1, 1), v_data, raw=True)])
        return model, data, x.shape, y, scale


def run_case(subject, options, target, random):
    """None, or what is wrong."""
    model, data, shape, expected, scale = subject.build(random)
    with tempfile.TemporaryDirectory(prefix="iree-tiles-") as name:
        folder = pathlib.Path(name)
        onnx.save(model, folder / "case.onnx")
        (folder / "x.bin").write_bytes(data)
        command = [options.runner, "--iree-hal-target-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={target}",
                   str(folder / "case.onnx"), "--", f"--inputs={folder / 'x.bin'}", f"--outputs={folder / 'out'}",
                   f"--shapes={'x'.join(map(str, shape))}", "--repeat=1", *([] if options.native else ["--interpret"])]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if result.returncode or result.stderr:
            return (result.stderr or f"exit {result.returncode}")[:2000]
        if target != "host" and " tiles " not in result.stdout:
            return f"no kernel is on tiles: {result.stdout}"
        return subject.wrong((folder / "out0.bin").read_bytes(), expected, scale)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--native", action="store_true", help="this machine's own code")
    options = parser.parse_args()
    has_tiles = " amx_tile " in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii")
    if options.native and not has_tiles:
        print("skipped: this machine has no tile registers (amx_tile)")
        print("0 passed, 0 failed")
        return
    options.target = "host" if options.native else "sapphirerapids"
    passed, failed = run_cases(options, [Product, Bytes, Pixels, Images], run_case)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
