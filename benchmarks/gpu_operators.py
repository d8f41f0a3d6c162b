"""Single operators for GPUs: their programs, what they should give, and what PyTorch calls them."""

import dataclasses
import typing

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i32": np.int32}
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}
TOLERANCE = {"f32": 1e-4, "f16": 2e-3, "bf16": 1e-2, "i8": 0}
ROWS, COLUMNS = 65536, 1024


@dataclasses.dataclass
class Operator:
    """One program: what it takes and gives, its result in NumPy, the same in PyTorch, what a call does, of `unit`."""

    name: str
    text: str
    shapes: list
    kind: str
    result: str
    reference: typing.Callable
    peer: typing.Callable
    done: float
    unit: str
    tolerance: float


def program(arguments, result, lines):
    """A function of StableHLO whose last line gives %0."""
    taken = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    return f"func.func @main({taken}) -> {result} {{\n" + "".join(f"  {line}\n" for line in lines) + (
        f"  return %0 : {result}\n}}\n")


def product(rows, depth, columns, kind, turned):
    """Rows x columns; `turned` when the right operand comes with its columns first, as weights often do."""
    right = (columns, depth) if turned else (depth, columns)
    a, b = f"tensor<{rows}x{depth}x{kind}>", f"tensor<{right[0]}x{right[1]}x{kind}>"
    c = f"tensor<{rows}x{columns}x{'i32' if kind == 'i8' else kind}>"
    text = program({"a": a, "b": b}, c, [f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{int(turned)}]"
                                         f" : ({a}, {b}) -> {c}"])

    def peer(torch, x, y):
        y = y.T if turned else y
        return torch._int_mm(x, y) if kind == "i8" else torch.matmul(x, y)

    done = (1e-9 * BYTES[kind] * depth * columns, "GB/s") if rows <= 32 else (2e-12 * rows * depth * columns, "TFLOP/s")
    size = str(rows) if rows == depth == columns else f"{rows}x{depth}x{columns}"
    return Operator(f"product {size} {kind}{' turned' * turned}", text, [(rows, depth), right], kind,
                    "i32" if kind == "i8" else kind, lambda x, y: x @ (y.T if turned else y), peer, *done,
                    TOLERANCE[kind])


def products():
    for kind in ("f16", "bf16", "i8"):
        for size in (1024, 2048, 4096, 8192):
            for turned in (False, True):
                yield product(size, size, size, kind, turned)
    for size in (1024, 4096):
        yield product(size, size, size, "f32", False)
    for rows in (1, 8, 32):
        for turned in (False, True):
            yield product(rows, 4096, 11008, "f16", turned)


class Rows:
    """Lines of a program over rows, in f32 between what it takes and gives."""

    def __init__(self, kind):
        self.taken = f"tensor<{ROWS}x{COLUMNS}x{kind}>"
        self.wide, self.row = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}xf32>"
        self.lines = [f"%x = stablehlo.convert %a : ({self.taken}) -> {self.wide}"]

    def reduce(self, name, of, how, init="0.0"):
        """A value for each row, and as wide as the rows."""
        self.lines += [f"%{name}_init = stablehlo.constant dense<{init}> : tensor<f32>",
                       f"%{name}_row = stablehlo.reduce(%{of} init: %{name}_init) applies stablehlo.{how} across "
                       f"dimensions = [1] : ({self.wide}, tensor<f32>) -> {self.row}"]
        return self.spread(name, f"{name}_row")

    def spread(self, name, row):
        self.lines.append(f"%{name} = stablehlo.broadcast_in_dim %{row}, dims = [0] : ({self.row}) -> {self.wide}")
        return self

    def apply(self, name, op, *operands):
        self.lines.append(f"%{name} = stablehlo.{op} {', '.join('%' + x for x in operands)} : {self.wide}")
        return self

    def constant(self, name, value):
        self.lines.append(f"%{name} = stablehlo.constant dense<{value}> : {self.wide}")
        return self

    def text(self, of):
        self.lines.append(f"%0 = stablehlo.convert %{of} : ({self.wide}) -> {self.taken}")
        return program({"a": self.taken}, self.taken, self.lines)

    def row_text(self, of):
        self.lines.append(f"%0 = stablehlo.convert %{of}_row : ({self.row}) -> {self.row}")
        return program({"a": self.taken}, self.row, self.lines)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def layer_norm(x):
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)


def over_rows(kind):
    """Name, text, NumPy's and PyTorch's."""
    rows = Rows(kind).reduce("most", "x", "maximum", "0xFF800000").apply("less", "subtract", "x", "most")
    rows.apply("e", "exponential", "less").reduce("sum", "e", "add").apply("y", "divide", "e", "sum")
    yield "softmax", rows.text("y"), softmax, lambda torch, x: torch.softmax(x, 1)
    rows = Rows(kind).constant("n", float(COLUMNS)).constant("small", 1e-5).reduce("sum", "x", "add")
    rows.apply("mean", "divide", "sum", "n").apply("d", "subtract", "x", "mean").apply("dd", "multiply", "d", "d")
    rows.reduce("squares", "dd", "add").apply("v", "divide", "squares", "n").apply("v1", "add", "v", "small")
    rows.apply("r", "rsqrt", "v1").apply("y", "multiply", "d", "r")
    yield ("layer_norm", rows.text("y"), layer_norm,
           lambda torch, x: torch.nn.functional.layer_norm(x, (COLUMNS,)))
    rows = Rows(kind).constant("n", float(COLUMNS)).constant("small", 1e-5).apply("xx", "multiply", "x", "x")
    rows.reduce("squares", "xx", "add").apply("v", "divide", "squares", "n").apply("v1", "add", "v", "small")
    rows.apply("r", "rsqrt", "v1").apply("y", "multiply", "x", "r")
    yield ("rms_norm", rows.text("y"), lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5),
           lambda torch, x: torch.nn.functional.rms_norm(x, (COLUMNS,), eps=1e-5))
    yield ("row sums", Rows(kind).reduce("sum", "x", "add").row_text("sum"), lambda x: x.sum(1),
           lambda torch, x: torch.sum(x, 1, dtype=torch.float32))
    taken, given = f"tensor<{ROWS}x{COLUMNS}x{kind}>", f"tensor<{COLUMNS}x{ROWS}x{kind}>"
    yield ("transpose", program({"a": taken}, given, [
        f"%0 = stablehlo.transpose %a, dims = [1, 0] : ({taken}) -> {given}"]), np.transpose,
           lambda torch, x: x.T.contiguous())


def operators():
    yield from products()
    for kind in ("f32", "f16"):
        shape, moved = f"tensor<{ROWS}x{COLUMNS}x{kind}>", 1e-9 * BYTES[kind] * ROWS * COLUMNS
        yield Operator(f"sum of two {kind}", program({"a": shape, "b": shape}, shape, [
            f"%0 = stablehlo.add %a, %b : {shape}"]), [(ROWS, COLUMNS)] * 2, kind, kind, np.add,
                       lambda torch, x, y: torch.add(x, y), 3 * moved, "GB/s", TOLERANCE[kind])
        for name, text, reference, peer in over_rows(kind):
            result = "f32" if name == "row sums" else kind
            yield Operator(f"{name} {kind}", text, [(ROWS, COLUMNS)], kind, result, reference, peer,
                           (1 if name == "row sums" else 2) * moved, "GB/s", TOLERANCE[kind])


def attentions():
    """Name, queries, keys, head and whether causal: 16,384 tokens of 2,048 columns, and one query a sequence."""
    for head in (64, 128):
        for length in (1024, 2048, 4096, 8192, 16384):
            for causal in (False, True):
                shape = (16384 // length, 2048 // head, length, head)
                yield f"attention {head} {length}{' causal' * causal}", shape, length, causal
    for length in (1024, 4096, 16384):
        yield f"attention one query {length}", (8, 32, 1, 128), length, False


def attention_text(shape, keys, causal):
    """Attention as frameworks write it out."""
    batch, heads, queries, head = shape
    lead = f"{batch}x{heads}x"
    q, k = f"tensor<{lead}{queries}x{head}xf16>", f"tensor<{lead}{keys}x{head}xf16>"
    s, r = f"tensor<{lead}{queries}x{keys}xf32>", f"tensor<{lead}{queries}xf32>"
    flags, places = s.replace("f32", "i1"), f"tensor<{queries}x{keys}xi32>"
    mask = f"""
  %row = stablehlo.iota dim = 0 : {places}
  %column = stablehlo.iota dim = 1 : {places}
  %sees = stablehlo.compare GE, %row, %column, SIGNED : ({places}, {places}) -> tensor<{queries}x{keys}xi1>
  %all = stablehlo.broadcast_in_dim %sees, dims = [2, 3] : (tensor<{queries}x{keys}xi1>) -> {flags}
  %none = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> {s}
  %x = stablehlo.select %all, %scaled, %none : {flags}, {s}""" if causal else ""
    x = "%x" if causal else "%scaled"
    return f"""func.func @main(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scale = stablehlo.constant dense<{head ** -0.5}> : {s}
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
    : ({q}, {k}) -> {s}
  %scaled = stablehlo.multiply %scores, %scale : {s}{mask}
  %most = stablehlo.reduce({x} init: %low) applies stablehlo.maximum across dimensions = [3] : ({s}, tensor<f32>) -> {r}
  %mosts = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : ({r}) -> {s}
  %less = stablehlo.subtract {x}, %mosts : {s}
  %e = stablehlo.exponential %less : {s}
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : ({s}, tensor<f32>) -> {r}
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : ({r}) -> {s}
  %p = stablehlo.divide %e, %sums : {s}
  %narrow = stablehlo.convert %p : ({s}) -> {s.replace("f32", "f16")}
  %0 = stablehlo.dot_general %narrow, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
    : ({s.replace("f32", "f16")}, {k}) -> {q}
  return %0 : {q}
}}
"""


def some_rows(operands, causal):
    """Queries of the first and last head, and what they should give."""
    queries = operands[0].shape[2]
    rows = np.unique(np.linspace(0, queries - 1, 32).astype(int))
    for at in ((0, 0), (-1, -1)):
        q, k, v = (operand[at].astype(np.float64) for operand in operands)
        scores = q[rows] @ k.T * q.shape[1] ** -0.5
        if causal:
            scores[np.arange(len(k))[None] > rows[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        yield at, rows, weights @ v / weights.sum(1, keepdims=True)
