"""Random softmaxes, norms, sums and shares of rows, and products with few rows or cut in tiles of many forms, in the
checking interpreter, against NumPy in double precision.

    tests/dispatch/run_rows.py --runner build/tests/run_dispatches [--count 8] [--seed 1] [--target gfx1100] [--execute]

With --execute it is the machine code that runs, on the software AMD GPU with all checks. Without --target the cases
take turns on processors of all kinds of matrix instructions, and of none.
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper
from random_cases import argument_parser, read, run_cases, run_program, stored

KINDS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f32": TensorProto.FLOAT}
TOLERANCES = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 2e-5}
LENGTHS = [1, 7, 31, 64, 97, 128, 257, 1000, 1021, 1024, 2048, 4096, 8193, 20000]


class Graph:
    """A program and what it gives, made side by side: values are pairs of a name and an array in double precision."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.data, self.results = [], [], [], [], []

    def input(self, random, shape, kind, names=(), values=None):
        name = f"x{len(self.inputs)}"
        dims = [*names, *shape[len(names):]]
        data, array = stored(random.standard_normal(shape) if values is None else values, kind)
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], dims))
        self.data.append((data, shape))
        return name, array

    def constant(self, values, kind=TensorProto.INT64):
        name = f"c{len(self.nodes)}"
        tensor = helper.make_tensor(name, kind, [len(values)] if isinstance(values, list) else [], np.ravel(values))
        self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def node(self, op, operands, array, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [x if isinstance(x, str) else x[0] for x in operands], [name],
                                           **attributes))
        return name, array

    def cast(self, x, kind):
        return self.node("Cast", [x], x[1], to=KINDS[kind])

    def binary(self, op, x, y):
        functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
        return self.node(op, [x, y], functions[op](x[1], y[1]))

    def reduce(self, op, x, axes):
        functions = {"ReduceMax": np.max, "ReduceSum": np.sum, "ReduceMean": np.mean}
        return self.node(op, [x, self.constant(list(axes))], functions[op](x[1], axis=tuple(axes), keepdims=True))

    def output(self, x, kind, names=()):
        dims = [*names, *x[1].shape[len(names):]]
        self.outputs.append(helper.make_tensor_value_info(x[0], KINDS[kind], dims))
        self.results.append((x[1], kind))

    def model(self):
        graph = helper.make_graph(self.nodes, "case", self.inputs, self.outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


class Subject:
    def flags(self):
        """Of the compiler, besides the target."""
        return []

    def tolerance(self):
        return TOLERANCES[self.kind]

    def __str__(self):
        return f"{type(self).__name__}: " + ", ".join(f"{name} {value}" for name, value in vars(self).items())


class Rows(Subject):
    """Reductions over the last dimensions, with something before and after."""

    def __init__(self, random):
        pick = random.choice
        self.kind = str(pick(["f16", "bf16", "f32"]))
        self.what = str(pick(["softmax", "layer_norm", "rms_norm", "sum"]))
        self.length = int(pick(LENGTHS))
        self.rows = int(pick([1, 2, 3, 37] if self.length < 2000 else [1, 2]))
        self.fold = int(pick([1, 1, 4])) if self.length % 4 == 0 else 1  # two dimensions are reduced
        self.second = bool(random.random() < 0.4)  # added to the first; their sum is a result too
        self.columns = bool(random.random() < 0.4)  # each result times a number of its column
        self.is_open = bool(random.random() < 0.3)

    def build(self, g, random):
        shape = (self.rows, self.fold, self.length // self.fold) if self.fold > 1 else (self.rows, self.length)
        names, axes = ("n",) if self.is_open else (), range(1, len(shape))
        x = g.input(random, shape, self.kind, names)
        if self.second:
            name, total = g.binary("Add", x, g.input(random, shape, self.kind, names))
            x = name, stored(total, self.kind)[1]
            g.output(x, self.kind, names)
        x = g.cast(x, "f32")
        if self.what == "sum":
            g.output(g.reduce("ReduceSum", x, axes), "f32", names)
            return
        if self.what == "softmax":
            less = g.binary("Sub", x, g.reduce("ReduceMax", x, axes))
            e = g.node("Exp", [less], np.exp(less[1]))
            y = g.binary("Div", e, g.reduce("ReduceSum", e, axes))
        else:
            if self.what == "layer_norm":
                x = g.binary("Sub", x, g.reduce("ReduceMean", x, axes))
            small = g.constant(1e-3, TensorProto.FLOAT)
            squares = g.binary("Add", g.reduce("ReduceMean", g.binary("Mul", x, x), axes), (small, 1e-3))
            y = g.binary("Div", x, g.node("Sqrt", [squares], np.sqrt(squares[1])))
        if self.columns:
            y = g.binary("Mul", y, g.cast(g.input(random, shape[1:], self.kind), "f32"))
        g.output(g.cast(y, self.kind), self.kind, names)


class Shares(Subject):
    """What each element is of its row's sum, to the bit: exact sums, zeros of both signs, infinities."""

    def __init__(self, random):
        self.kind, self.length = "f16", int(random.choice([128, 1000, 1021]))

    def build(self, g, random):
        values = random.integers(-40, 60, (8, self.length)).astype(np.float16)
        values[0, 5], values[1, 7], values[2, 9], values[3, ::3] = np.inf, -np.inf, np.nan, -0.0
        values[4:7] = 0
        values[4, 0], values[4, 1::2], values[5, 0], values[6] = 1, -0.0, 0.25, -1
        x = g.cast(g.input(random, values.shape, "f16", values=values), "f32")
        with np.errstate(invalid="ignore"):
            y = g.binary("Div", x, g.reduce("ReduceSum", x, [1]))[0]
            exact = x[1].astype(np.float32) / x[1].sum(1, keepdims=True).astype(np.float32)
        g.output((y, exact), "f32")


class FewRows(Subject):
    """A few rows by a matrix that lies one way or the other."""

    def __init__(self, random):
        pick = random.choice
        self.kind = str(pick(["f16", "f16", "bf16", "f32"]))
        self.rows = int(pick([1, 4, 5, 8, 9, 16, 17, 23, 31, 32]))
        self.columns = int(pick([32, 40, 64, 96, 130, 257]))
        self.depth = int(pick([64, 65, 100, 256, 520, 1000]))
        self.batch = int(pick([0, 0, 2]))
        self.turned = bool(random.random() < 0.5)  # columns first
        self.left_turned = bool(random.random() < 0.2)
        self.bias = bool(random.random() < 0.5)

    def build(self, g, random):
        lead = (self.batch,) if self.batch else ()
        operands = []
        for turned, rows, columns in ((self.left_turned, self.rows, self.depth),
                                      (self.turned, self.depth, self.columns)):
            x = g.input(random, (*lead, columns, rows) if turned else (*lead, rows, columns), self.kind)
            last = len(lead)
            perm = [*range(last), last + 1, last]
            operands.append(g.node("Transpose", [x], np.transpose(x[1], perm), perm=perm) if turned else x)
        y = g.node("MatMul", operands, operands[0][1] @ operands[1][1] / np.sqrt(self.depth))
        y = g.node("Mul", [g.cast(y, "f32"), g.constant(1 / np.sqrt(self.depth), TensorProto.FLOAT)], y[1])
        if self.bias:
            y = g.binary("Add", y, g.cast(g.input(random, (self.columns,), self.kind), "f32"))
        g.output(g.cast(y, self.kind), self.kind)


class Tiles(FewRows):
    """More rows, by a tile or a strategy that the compiler would not choose itself; where that does not fit, by the one
    that it does."""

    def __init__(self, random):
        super().__init__(random)
        pick = random.choice
        self.rows = int(pick([17, 24, 33, 48, 64, 100, 128, 200]))
        self.columns = int(pick([32, 40, 64, 72, 130, 136, 192]))
        self.depth = int(pick([64, 96, 128, 136, 256, 520, 640]))
        fragments, waves = f"{pick([1, 2, 4])}x{pick([1, 2, 4, 8])}", f"{pick([1, 2, 4])}x{pick([1, 2, 4])}"
        self.plan = f"{fragments},{waves},{pick([32, 64, 128, 256])},{pick([1, 1, 2, 3, 4, 6])}"
        if (slices := pick([1, 1, 2, 4, 8])) > 1:
            self.plan += f",{slices}"
        self.strategy = pick(["", "", "few", "matrix", "tile", "map"])  # another one that would not be chosen
        self.narrow = bool(self.kind == "f32" and random.random() < 0.5)  # reads ten bits of fractions

    def flags(self):
        forced = f"strategy={self.strategy}" if self.strategy else f"product-plan={self.plan}"
        return [f"--iree-codegen-{forced}", *["--iree-cuda-use-tf32"] * self.narrow]

    def tolerance(self):
        return TOLERANCES["f16" if self.narrow else self.kind]


def run_case(subject, options, target, random):
    """None, or what is wrong."""
    graph = Graph()
    subject.build(graph, random)
    with tempfile.TemporaryDirectory(prefix="iree-rows-") as name:
        folder = pathlib.Path(name)
        onnx.save(graph.model(), folder / "case.onnx")
        paths = [folder / f"{i}.bin" for i in range(len(graph.data))]
        for path, (data, _) in zip(paths, graph.data):
            path.write_bytes(data)
        result = run_program(options, target, folder / "case.onnx", paths, [shape for _, shape in graph.data],
                             subject.flags())
        if result.returncode or result.stderr:
            return (result.stderr or f"exit {result.returncode}")[:2000]
        for index, (theirs, kind) in enumerate(graph.results):
            ours = read((folder / f"out{index}.bin").read_bytes(), kind, theirs.shape)
            if isinstance(subject, Shares):
                same = (ours.view(np.uint32) == theirs.view(np.uint32)) | np.isnan(ours) & np.isnan(theirs)
                if not same.all():
                    return f"{np.argwhere(~same)[0]} is {ours[~same][0]!r}, not {theirs[~same][0]!r}"
                continue
            tolerance = subject.tolerance() * (1 + np.abs(theirs).max())
            if not np.allclose(ours, theirs, rtol=0, atol=tolerance):
                return f"result {index} is off by {np.nanmax(np.abs(ours - theirs))}, not {tolerance}: {result.stdout}"
    return None


def main():
    passed, failed = run_cases(argument_parser(__doc__).parse_args(), [Rows, FewRows, Tiles, Shares], run_case)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
