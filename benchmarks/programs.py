"""Programs of any length for benchmarks and tests of compile time: chains of blocks, fans of many values, scans.

`FAMILIES` maps a name to a function of n that returns a Program: its text or ONNX bytes, how it is called, and what it
computes. ONNX ones are what a framework exports; the others are StableHLO text.
"""

import numpy
import onnx
from onnx import TensorProto, helper

SHAPE = (8, 64)
MAX_BLOCK = 64


class Program:
    """`data` is the file's contents, `inputs` are arrays, `reference` computes the results from them."""

    def __init__(self, data, suffix, inputs, reference, ops):
        self.data, self.suffix, self.inputs, self.reference, self.ops = data, suffix, inputs, reference, ops

    def write(self, path):
        """Writes the file next to `path` with the right suffix; returns its path."""
        path = path.with_suffix(self.suffix)
        path.write_bytes(self.data)
        return path


def ramp(shape, low=-1.0, high=1.0):
    """Different numbers that text can say exactly enough."""
    count = int(numpy.prod(shape))
    return numpy.linspace(low, high, count, dtype=numpy.float32).reshape(shape)


def onnx_program(nodes, inputs, outputs, weights, reference):
    """Inputs: name to array; outputs: name to shape; weights: name to array."""
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    constants = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "main", [info(n, a.shape) for n, a in inputs.items()],
                              [info(n, s) for n, s in outputs.items()], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Program(model.SerializeToString(), ".onnx", list(inputs.values()), reference, len(nodes))


def onnx_chain(n, block, step, weights=None, shape=SHAPE):
    """n blocks behind each other: block(i, x, y) gives the nodes from value x to value y, step is one in numpy."""
    nodes = [node for i in range(n) for node in block(i, f"v{i}", f"v{i + 1}")]
    x = ramp(shape)

    def reference():
        y = x
        for i in range(n):
            y = step(i, y)
        return [y]

    return onnx_program(nodes, {"v0": x}, {f"v{n}": shape}, weights or {}, reference)


# Chains --------------------------------------------------------------------------------------------------------------

ELEMENTWISE = [("Tanh", numpy.tanh), ("Neg", numpy.negative), ("Exp", numpy.exp),
               ("Sigmoid", lambda x: 1 / (1 + numpy.exp(-x)))]


def elementwise(n):
    """Scalar functions."""
    return onnx_chain(n, lambda i, x, y: [helper.make_node(ELEMENTWISE[i % 4][0], [x], [y])],
                      lambda i, x: ELEMENTWISE[i % 4][1](x))


def relu(n):
    """One function again and again."""
    return onnx_chain(n, lambda i, x, y: [helper.make_node("Relu", [x], [y])], lambda i, x: numpy.maximum(x, 0))


def softmax_of(x):
    """Along the last axis."""
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax(n):
    """Each is two reductions and a dear function."""
    return onnx_chain(n, lambda i, x, y: [helper.make_node("Softmax", [x], [y], axis=-1)], lambda i, x: softmax_of(x))


def layer_norm(n):
    """Each is two reductions and cheap functions."""
    weights = {"scale": ramp((SHAPE[1],), 0.5, 1.5), "bias": ramp((SHAPE[1],))}

    def step(_, x):
        centred = x - x.mean(-1, keepdims=True)
        y = centred / numpy.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
        return y * weights["scale"] + weights["bias"]

    return onnx_chain(n, lambda i, x, y: [helper.make_node("LayerNormalization", [x, "scale", "bias"], [y])], step,
                      weights)


def attention(n):
    """Four projections, two products, a softmax and a residual, with the same weights in every block."""
    random = numpy.random.default_rng(1)
    weights = {f"w{c}": (random.standard_normal((SHAPE[1], SHAPE[1])) / 16).astype(numpy.float32) for c in "qkvo"}

    def block(i, x, y):
        q, k, v, kt, s, p, a, o = (f"{name}.{i}" for name in ("q", "k", "v", "kt", "s", "p", "a", "o"))
        return [helper.make_node("MatMul", [x, "wq"], [q]), helper.make_node("MatMul", [x, "wk"], [k]),
                helper.make_node("MatMul", [x, "wv"], [v]), helper.make_node("Transpose", [k], [kt], perm=[1, 0]),
                helper.make_node("MatMul", [q, kt], [s]), helper.make_node("Softmax", [s], [p], axis=-1),
                helper.make_node("MatMul", [p, v], [a]), helper.make_node("MatMul", [a, "wo"], [o]),
                helper.make_node("Add", [o, x], [y])]

    def step(_, x):
        q, k, v = (x @ weights[f"w{c}"] for c in "qkv")
        return softmax_of(q @ k.T) @ v @ weights["wo"] + x

    return onnx_chain(n, block, step, weights)


def concat(n):
    """A value beside itself, and the middle of both."""
    weights = {name: numpy.array([value], numpy.int64) for name, value in (("from", 32), ("to", 96), ("axis", 1))}

    def block(i, x, y):
        return [helper.make_node("Concat", [x, x], [f"c{i}"], axis=1),
                helper.make_node("Slice", [f"c{i}", "from", "to", "axis"], [y])]

    return onnx_chain(n, block, lambda i, x: numpy.concatenate([x, x], 1)[:, 32:96], weights)


# Fans ----------------------------------------------------------------------------------------------------------------

def fan_inputs(n):
    """n small arguments."""
    return {f"x{i}": numpy.full((2, 4), i % 7, numpy.float32) for i in range(n)}


def wide_concat(n):
    """One op of n pieces, each an argument."""
    inputs = fan_inputs(n)
    return onnx_program([helper.make_node("Concat", list(inputs), ["y"], axis=0)], inputs, {"y": (2 * n, 4)}, {},
                        lambda: [numpy.concatenate(list(inputs.values()))])


def wide_sum(n):
    """One op of n terms, each an argument."""
    inputs = fan_inputs(n)
    return onnx_program([helper.make_node("Sum", list(inputs), ["y"])], inputs, {"y": (2, 4)}, {},
                        lambda: [sum(inputs.values())])


def repeated_sum(n):
    """One op of n equal terms."""
    x = ramp((2, 4))
    return onnx_program([helper.make_node("Sum", ["x"] * n, ["y"])], {"x": x}, {"y": (2, 4)}, {},
                        lambda: [sum([x] * n)])


def results(n):
    """Every value of a chain is returned."""
    x = ramp((2, 4))
    nodes = [helper.make_node("Add", ["x", "x"] if i == 0 else [f"y{i - 1}", "x"], [f"y{i}"]) for i in range(n)]
    return onnx_program(nodes, {"x": x}, {f"y{i}": (2, 4) for i in range(n)}, {},
                        lambda: list(numpy.cumsum([x] * (n + 1), axis=0, dtype=numpy.float32)[1:]))


# Text ----------------------------------------------------------------------------------------------------------------

class Text:
    """Builds one function of f32 tensors."""

    def __init__(self):
        self.lines, self.count = [], 0

    def op(self, text, operands, result):
        """Adds `NAME TEXT : (types) -> result`; operands and results are (name, shape) pairs."""
        name = f"%{self.count}"
        self.count += 1
        types = ", ".join(tensor(shape) for _, shape in operands)
        names = ", ".join(name for name, _ in operands)
        attributes = ""
        if "{" in text:
            text, attributes = text.split("{", 1)
            attributes = " {" + attributes
        self.lines.append(f'  {name} = "{text.strip()}"({names}){attributes} : ({types}) -> {tensor(result)}')
        return name, result

    def reduce_add(self, value, zero, result):
        """Sums along dimension 1."""
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = stablehlo.reduce({value[0]} init: {zero[0]}) applies stablehlo.add across "
                          f"dimensions = [1] : ({tensor(value[1])}, tensor<f32>) -> {tensor(result)}")
        return name, result

    def subtract_rows(self, value, rows):
        """value - rows, a number for each row."""
        types = f"({tensor(value[1])}, {tensor(rows[1])}) -> {tensor(value[1])}"
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = chlo.broadcast_subtract {value[0]}, {rows[0]} "
                          f"{{broadcast_dimensions = array<i64: 0>}} : {types}")
        return name, value[1]

    def program(self, arguments, value, inputs, reference):
        """The program that returns `value`."""
        head = ", ".join(f"{name}: {tensor(shape)}" for name, shape in arguments)
        text = [f"func.func @main({head}) -> {tensor(value[1])} {{", *self.lines,
                f"  return {value[0]} : {tensor(value[1])}", "}", ""]
        return Program("\n".join(text).encode(), ".mlir", inputs, reference, self.count)


def tensor(shape):
    """A type; None stands for `?`."""
    return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in shape) + "f32>"


def deep_text(n):
    """Scalar functions, as text."""
    b, x = Text(), ramp((4, 16))
    value = ("%arg0", x.shape)
    for i in range(n):
        value = b.op(f"stablehlo.{'tanh' if i % 2 else 'negate'}", [value], x.shape)

    def reference():
        y = x
        for i in range(n):
            y = numpy.tanh(y) if i % 2 else -y
        return [y]

    return b.program([("%arg0", x.shape)], value, [x], reference)


def calls(n):
    """n functions, each of which calls the one before and adds a function of its own."""
    kind, x = tensor((4, 16)), ramp((4, 16))
    text = [f"func.func private @f0(%x: {kind}) -> {kind} {{", f"  return %x : {kind}", "}"]
    for i in range(1, n + 1):
        text += [f"func.func {'@main' if i == n else f'private @f{i}'}(%x: {kind}) -> {kind} {{",
                 f"  %0 = func.call @f{i - 1}(%x) : ({kind}) -> {kind}",
                 f"  %1 = stablehlo.{'tanh' if i % 2 else 'negate'} %0 : {kind}", f"  return %1 : {kind}", "}"]

    def reference():
        y = x
        for i in range(1, n + 1):
            y = numpy.tanh(y) if i % 2 else -y
        return [y]

    return Program("\n".join(text + [""]).encode(), ".mlir", [x], reference, n)


def state(n):
    """n variables that are read, added up, and written."""
    kind, x = tensor((4, 16)), ramp((4, 16))
    text = [f"util.global private mutable @g{i} = dense<{i % 7}.0> : {kind}" for i in range(n)]
    text += [f"func.func @main(%v0: {kind}) -> {kind} {{"]
    for i in range(n):
        text += [f"  %g{i} = util.global.load @g{i} : {kind}", f"  %v{i + 1} = stablehlo.add %v{i}, %g{i} : {kind}",
                 f"  util.global.store %v{i + 1}, @g{i} : {kind}"]
    text += [f"  return %v{n} : {kind}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", [x], lambda: [x + sum(i % 7 for i in range(n))], n)


def squares(n):
    """Each value is used twice by the next: as many paths as 2^n."""
    b, x = Text(), ramp((4, 16))
    value = ("%arg0", x.shape)
    for _ in range(n):
        product = b.op("stablehlo.multiply", [value, value], x.shape)
        value = b.op("stablehlo.subtract", [product, value], x.shape)

    def reference():
        y = x
        for _ in range(n):
            y = y * y - y
        return [y]

    return b.program([("%arg0", x.shape)], value, [x], reference)


def dynamic(n):
    """A number of rows known at run time only: a function, the rows' sums, and those taken off."""
    b, x, shape = Text(), ramp((5, 16)), (None, 16)
    value = ("%arg0", shape)
    zero = b.op("stablehlo.constant {value = dense<0.0> : tensor<f32>}", [], ())
    for _ in range(n):
        value = b.op("stablehlo.tanh", [value], shape)
        total = b.reduce_add(value, zero, (None,))
        value = b.subtract_rows(value, total)

    def reference():
        y = x
        for _ in range(n):
            y = numpy.tanh(y)
            y = y - y.sum(1, keepdims=True)
        return [y]

    return b.program([("%arg0", shape)], value, [x], reference)


def wide_dynamic(n):
    """n arguments, each with a number of rows of its own, behind each other."""
    b = Text()
    arguments = [(f"%arg{i}", (None, 4)) for i in range(n)]
    inputs = [numpy.full((1 + i % 3, 4), i % 5, numpy.float32) for i in range(n)]
    value = b.op("stablehlo.concatenate {dimension = 0 : i64}", arguments, (None, 4))
    return b.program(arguments, value, inputs, lambda: [numpy.concatenate(inputs)])


def many_arguments(n):
    """n arguments, of which the last two are added."""
    kind, inputs = tensor((4,)), [numpy.full(4, i % 7, numpy.float32) for i in range(n)]
    head = ", ".join(f"%a{i}: {kind}" for i in range(n))
    text = [f"func.func @main({head}) -> {kind} {{", f"  %r = stablehlo.add %a{n - 2}, %a{n - 1} : {kind}",
            f"  return %r : {kind}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", inputs, lambda: [inputs[-2] + inputs[-1]], n)


def carried(n):
    """A loop over n values, each of which becomes its sum with its neighbour; three rounds."""
    kind, x = tensor((4,)), ramp((4,))
    kinds, count = ", ".join([kind] * n), "tensor<i32>"
    starts = ", ".join(f"%x{i} = %a" for i in range(n))
    text = [f"func.func @main(%a: {kind}) -> {kind} {{", f"  %zero = stablehlo.constant dense<0> : {count}",
            f"  %one = stablehlo.constant dense<1> : {count}", f"  %three = stablehlo.constant dense<3> : {count}",
            f"  %r:{n + 1} = stablehlo.while(%i = %zero, {starts}) : {count}, {kinds}", "    cond {",
            f"      %go = stablehlo.compare LT, %i, %three : ({count}, {count}) -> tensor<i1>",
            "      stablehlo.return %go : tensor<i1>", "    } do {", f"      %n = stablehlo.add %i, %one : {count}",
            *[f"      %y{i} = stablehlo.add %x{i}, %x{(i + 1) % n} : {kind}" for i in range(n)],
            f"      stablehlo.return %n, {', '.join(f'%y{i}' for i in range(n))} : {count}, {kinds}", "    }",
            f"  return %r#{n} : {kind}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", [x], lambda: [8 * x], n)


def loops(n):
    """n loops behind each other, two rounds each, between which a function stands."""
    kind, x, count = tensor((4,)), ramp((4,)), "tensor<i32>"
    text = [f"func.func @main(%x0: {kind}) -> {kind} {{", f"  %zero = stablehlo.constant dense<0> : {count}",
            f"  %one = stablehlo.constant dense<1> : {count}", f"  %two = stablehlo.constant dense<2> : {count}"]
    for i in range(n):
        text += [f"  %w{i}:2 = stablehlo.while(%i{i} = %zero, %y{i} = %x{i}) : {count}, {kind}", "    cond {",
                 f"      %go{i} = stablehlo.compare LT, %i{i}, %two : ({count}, {count}) -> tensor<i1>",
                 f"      stablehlo.return %go{i} : tensor<i1>", "    } do {",
                 f"      %n{i} = stablehlo.add %i{i}, %one : {count}", f"      %t{i} = stablehlo.tanh %y{i} : {kind}",
                 f"      stablehlo.return %n{i}, %t{i} : {count}, {kind}", "    }",
                 f"  %x{i + 1} = stablehlo.negate %w{i}#1 : {kind}"]
    text += [f"  return %x{n} : {kind}", "}", ""]

    def reference():
        y = x
        for _ in range(n):
            y = -numpy.tanh(numpy.tanh(y))
        return [y]

    return Program("\n".join(text).encode(), ".mlir", [x], reference, n)


def branches(n):
    """One of n branches, by a number: the last but one."""
    kind, x = tensor((4,)), ramp((4,))
    text = [f"func.func @main(%x: {kind}, %f: tensor<f32>) -> {kind} {{",
            "  %i = stablehlo.convert %f : (tensor<f32>) -> tensor<i32>", '  %r = "stablehlo.case"(%i) (']
    text += [",\n".join(f"    {{ %c{i} = stablehlo.constant dense<{i % 7}.0> : {kind}\n"
                        f"      %y{i} = stablehlo.add %x, %c{i} : {kind}\n      stablehlo.return %y{i} : {kind} }}"
                        for i in range(n))]
    text += [f"  ) : (tensor<i32>) -> {kind}", f"  return %r : {kind}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", [x, numpy.array(n - 2, numpy.float32)],
                   lambda: [x + (n - 2) % 7], n)


def nested(n):
    """n branches in each other; text nests up to 250 deep."""
    kind, x = tensor((4,)), ramp((4,))
    text = [f"func.func @main(%t: {kind}, %f: tensor<f32>) -> {kind} {{", "  %p = stablehlo.compare GE, %f, %f : "
            "(tensor<f32>, tensor<f32>) -> tensor<i1>"]
    for i in range(n):
        text += [f'%r{i} = "stablehlo.if"(%p) ({{', f"%t{i} = stablehlo.tanh %t{i - 1 if i else ''} : {kind}"]
    for i in reversed(range(n)):
        text += [f"stablehlo.return {f'%r{i + 1}' if i < n - 1 else f'%t{i}'} : {kind}",
                 f"}}, {{ stablehlo.return %t : {kind} }}) : (tensor<i1>) -> {kind}"]
    text += [f"  return %r0 : {kind}", "}", ""]

    def reference():
        y = x
        for _ in range(n):
            y = numpy.tanh(y)
        return [y]

    return Program("\n".join(text).encode(), ".mlir", [x, numpy.array(1, numpy.float32)], reference, n)


def numbers(n):
    """n numbers of the host, 1, 2, ... times a size, all of which are needed to the end."""
    x = ramp((3,))
    text = [f"func.func @main(%x: {tensor((None,))}) -> {tensor((1,))} {{", "  %zero = arith.constant 0 : index",
            f"  %s = tensor.dim %x, %zero : {tensor((None,))}", "  %d = arith.index_cast %s : index to i64",
            "  %c0 = arith.addi %d, %d : i64", *[f"  %c{i} = arith.addi %c{i - 1}, %d : i64" for i in range(1, n - 1)]]
    text += [f"  %t{i} = arith.addi {f'%t{i + 1}' if i < n - 2 else '%d'}, %c{i} : i64"
             for i in reversed(range(n - 1))]
    text += ["  %f = arith.sitofp %t0 : i64 to f32", f"  %r = tensor.from_elements %f : {tensor((1,))}",
             f"  return %r : {tensor((1,))}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", [x],
                   lambda: [numpy.array([3 * n * (n + 1) / 2], numpy.float32)], n)


def sizes(n):
    """A size to which n numbers were added, each of which is the one before twice: as many paths as 2^n."""
    x = ramp((3,))
    text = [f"func.func @main(%x: {tensor((None,))}) -> {tensor((None,))} {{",
            f"  %s = stablehlo.get_dimension_size %x, dim = 0 : ({tensor((None,))}) -> tensor<i32>",
            "  %c0 = stablehlo.subtract %s, %s : tensor<i32>",
            *[f"  %c{i + 1} = stablehlo.add %c{i}, %c{i} : tensor<i32>" for i in range(n)],
            f"  %t = stablehlo.add %s, %c{n} : tensor<i32>",
            "  %d = stablehlo.reshape %t : (tensor<i32>) -> tensor<1xi32>",
            f"  %r = stablehlo.dynamic_iota %d, dim = 0 : (tensor<1xi32>) -> {tensor((None,))}",
            f"  return %r : {tensor((None,))}", "}", ""]
    return Program("\n".join(text).encode(), ".mlir", [x], lambda: [numpy.arange(3, dtype=numpy.float32)], n)


def exports(n):
    """n functions that can be called; main is the last."""
    kind, x = tensor((4,)), ramp((4,))
    text = [f"func.func @{'main' if i == n - 1 else f'f{i}'}(%a: {kind}) -> {kind} {{\n  return %a : {kind}\n}}"
            for i in range(n)]
    return Program("\n".join(text + [""]).encode(), ".mlir", [x], lambda: [x], n)


def slice_of(b, value, low, high, stride):
    """Columns low, low + stride, ... below high."""
    rows, columns = value[1]
    text = (f"stablehlo.slice {{start_indices = array<i64: 0, {low}>, limit_indices = array<i64: {rows}, {high}>, "
            f"strides = array<i64: 1, {stride}>}}")
    assert high <= columns
    return b.op(text, [value], (rows, len(range(low, high, stride))))


def spread(b, value, zero, low, width):
    """Columns two apart from `low` on, 0 elsewhere."""
    rows, columns = value[1]
    high = width - low - (2 * columns - 1)
    text = (f"stablehlo.pad {{edge_padding_low = array<i64: 0, {low}>, edge_padding_high = array<i64: 0, {high}>, "
            "interior_padding = array<i64: 0, 1>}")
    return b.op(text, [value, zero], (rows, width))


def scan_columns(b, value, zero):
    """What jax.lax.associative_scan traces for a sum along the last axis."""
    rows, columns = value[1]
    if columns < 2:
        return value
    pairs = b.op("stablehlo.add", [slice_of(b, value, 0, columns - 1, 2), slice_of(b, value, 1, columns, 2)],
                 (rows, columns // 2))
    odd = scan_columns(b, pairs, zero)
    known = odd if columns % 2 else slice_of(b, odd, 0, odd[1][1] - 1, 1)
    first = slice_of(b, value, 0, 1, 1)
    even = first
    if columns > 2:
        rest = b.op("stablehlo.add", [known, slice_of(b, value, 2, columns, 2)], known[1])
        even = b.op("stablehlo.concatenate {dimension = 1 : i64}", [first, rest], (rows, 1 + known[1][1]))
    return b.op("stablehlo.add", [spread(b, even, zero, 0, columns), spread(b, odd, zero, 1, columns)],
                (rows, columns))


def associative_scan(n):
    """Sums of 7 rows of n numbers, by halves."""
    b, x = Text(), ramp((7, n))
    zero = b.op("stablehlo.constant {value = dense<0.0> : tensor<f32>}", [], ())
    value = scan_columns(b, ("%arg0", x.shape), zero)
    return b.program([("%arg0", x.shape)], value, [x], lambda: [numpy.cumsum(x, axis=1)])


FAMILIES = {function.__name__: function for function in (
    elementwise, relu, softmax, layer_norm, attention, concat, wide_concat, wide_sum, repeated_sum, results, deep_text,
    calls, state, squares, dynamic, wide_dynamic, associative_scan, many_arguments, carried, loops, branches,
    nested, numbers, sizes, exports)}
