"""What a test case of one ONNX node, or of a small graph, is, and the short names that the tables are written with."""

import copy
import zlib

import numpy as np
from onnx import SparseTensorProto, TensorProto, helper, numpy_helper

CASES = []


class Random:
    """An input that the harness fills with random values from low to high (floats) or low to high - 1 (integers).

    A dimension may be a name, which stands for a size that the model does not know: see Case.sizes.
    """

    def __init__(self, dtype, shape, low, high):
        self.dtype, self.shape, self.low, self.high = np.dtype(dtype), tuple(shape), low, high

    def array(self, random, sizes):
        shape = tuple(sizes.get(size, size) for size in self.shape)
        if self.dtype == np.bool_:
            return random.integers(0, 2, shape).astype(np.bool_)
        if self.dtype.kind == "f":
            return random.uniform(self.low, self.high, shape).astype(self.dtype)
        return random.integers(self.low, self.high, shape).astype(self.dtype)


class Constant:
    """An operand that is part of the model: an initializer."""

    def __init__(self, array):
        self.value = array


class Sparse(Constant):
    """The same, of which the model has what is not zero; `rows`: with an index for each dimension."""

    def __init__(self, array, rows):
        super().__init__(array)
        places = np.argwhere(array) if rows else np.flatnonzero(array)
        self.indices = places.astype(np.int64)

    def proto(self, name):
        values = self.value[self.value != 0]
        return SparseTensorProto(values=numpy_helper.from_array(values, name), dims=self.value.shape,
                                 indices=numpy_helper.from_array(self.indices, f"{name}_places"))


class Shapeless:
    """Another operand, of which the model has the type only."""

    def __init__(self, operand):
        self.array = operand.array


class Given:
    """An input of known values."""

    def __init__(self, array):
        self.value = array

    def array(self, random, sizes):
        return self.value


class Chosen:
    """An input whose value is that name's entry in the case's sizes; `shape` None: that of the first."""

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape

    def array(self, random, sizes):
        return np.array(sizes[self.name], self.dtype)


def f32(*shape, low=-2.0, high=2.0):
    return Random(np.float32, shape, low, high)


def f16(*shape, low=-2.0, high=2.0):
    return Random(np.float16, shape, low, high)


def positive(*shape):
    return f32(*shape, low=0.1, high=4.0)


def i32(*shape, low=-50, high=50):
    return Random(np.int32, shape, low, high)


def i64(*shape, low=-50, high=50):
    return Random(np.int64, shape, low, high)


def i8(*shape, low=-128, high=128):
    return Random(np.int8, shape, low, high)


def u8(*shape, low=0, high=256):
    return Random(np.uint8, shape, low, high)


def bools(*shape):
    return Random(np.bool_, shape, 0, 2)


def ints(*values):
    """A constant vector of i64: axes, shapes, pads."""
    return Constant(np.array(values, np.int64))


def const(values, dtype=np.float32):
    return Constant(np.array(values, dtype))


def given(values, dtype=np.float32):
    return Given(np.array(values, dtype))


def texts(values):
    """An input of strings."""
    return Given(np.array(values, object))


def words(values):
    """A constant of strings."""
    return Constant(np.array(values, object))


def points_of(strings):
    """Strings as a program has them: code points along one dimension more, which is what NumPy's str_ arrays are."""
    strings = np.asarray(strings).astype("U")
    return np.frombuffer(strings.tobytes(), np.uint32).reshape(*strings.shape, strings.dtype.itemsize // 4)


def strings_of(points):
    width = points.shape[-1]
    flat = np.ascontiguousarray(points, np.uint32).reshape(-1)
    strings = flat.view(f"U{width}") if width else np.zeros(points.shape[:-1], "U1")
    return strings.reshape(points.shape[:-1]).astype(object)


def chosen(name, dtype=np.int64, shape=None):
    """An operand known at run time only: one module must do for every value of it in the case's sizes."""
    return Chosen(name, dtype, shape)


def weights(*shape, dtype=np.float32, spread=1.0):
    """A constant of random values, the same in every run."""
    random = np.random.default_rng(zlib.crc32(repr(shape).encode()))
    if np.dtype(dtype).kind == "f":
        return Constant((spread * random.uniform(-1, 1, shape)).astype(dtype))
    limits = np.iinfo(dtype)
    return Constant(random.integers(limits.min, limits.max + 1, shape).astype(dtype))


class Case:
    """A model, its operands, and how close a result must be."""

    def __init__(self, name, build, operands, options):
        self.name, self.build, self.operands = name, build, operands
        self.opset = options.pop("opset", 17)
        self.results = options.pop("results", 1)
        self.tolerance = options.pop("tolerance", None)
        self.sizes = options.pop("sizes", [{}])
        self.dynamic = options.pop("dynamic", False) or self.sizes != [{}]
        self.reference = options.pop("reference", False)
        self.declared = options.pop("declared", None)
        self.domain_version = options.pop("domain_version", 1)
        self.attributes = options

    def names(self):
        return ["" if operand is None else f"x{i}" for i, operand in enumerate(self.operands)]


def add(name, build, operands, options):
    assert all(case.name != name for case in CASES), f"two cases are called {name}"
    CASES.append(Case(name, build, operands, options))


def one_node(op):
    def build(case):
        outputs = [f"y{i}" for i in range(case.results)]
        return [helper.make_node(op, case.names(), outputs, **case.attributes)]

    return build


def case(op, label, *operands, **options):
    """A model of one node. Options: opset (17), results (1), tolerance, dynamic (the result's shape is not in the
    model), sizes (a list of what named dimensions and chosen operands are: one module must do for all; with an entry
    "stops" the program must stop with a message that has this text), reference (ONNX's reference is right,
    not ONNX Runtime), declared (the shape that the model claims its results to have), domain_version (1: of the domain that the attribute `domain` names); the others are the node's
    attributes."""
    add(f"{op}-{label}" if label else op, one_node(op), operands, options)


def graph_case(name, build, *operands, **options):
    """A model of several nodes: build(case) returns them; inputs are x0, x1…, results y0, y1…"""
    add(name, build, operands, options)


def nodes(*rows):
    """Builds nodes from (op, inputs, output, attributes)."""
    return lambda subject: [helper.make_node(op, inputs.split(), [output], **attributes)
                            for op, inputs, output, attributes in rows]


class Opened:
    """Another operand as an input, of which the model has the shape or only the rank."""

    def __init__(self, operand, shape):
        self.operand, self.shape = operand, shape

    def array(self, random, sizes):
        return self.operand.value if isinstance(self.operand, Constant) else self.operand.array(random, sizes)


def opened(subject, sizes, constants):
    """The case with less that its model knows. `sizes`: of no operand; `constants`: those are inputs, too."""
    subject, arrays = copy.copy(subject), iter(arrays_of(subject).values())
    subject.dynamic, operands = True, subject.operands
    subject.operands = []
    for i, operand in enumerate(operands):
        constant = isinstance(operand, Constant)
        array = operand.value if constant else None if operand is None else next(arrays)
        kept = isinstance(operand, (Sparse, Shapeless)) or (constant and not constants)
        if array is None or kept:
            subject.operands.append(operand)
            continue
        known = getattr(operand, "shape", None) or array.shape
        names = tuple(size if isinstance(size, str) else f"x{i}_{axis}" for axis, size in enumerate(known))
        subject.operands.append(Opened(operand, names if sizes else known))
    return subject


def via(dtype, op):
    """Builds a node that computes in a type that NumPy files lack: f32 in, cast, op, cast, f32 out."""

    def build(case):
        nodes, names = [], []
        for name, operand in zip(case.names(), case.operands):
            if isinstance(operand, Random) and operand.dtype == np.float32:
                nodes.append(helper.make_node("Cast", [name], [f"{name}_cast"], to=dtype))
                name = f"{name}_cast"
            names.append(name)
        nodes.append(helper.make_node(op, names, ["narrow"], **case.attributes))
        return nodes + [helper.make_node("Cast", ["narrow"], ["y0"], to=TensorProto.FLOAT)]

    return build


def model_of(case, arrays, results=None):
    """The case as a ModelProto; `results` are arrays whose types and shapes the outputs get."""
    inputs, initializers, sparse = [], [], []
    for name, operand in zip(case.names(), case.operands):
        if isinstance(operand, Sparse):
            sparse.append(operand.proto(name))
        elif isinstance(operand, Constant):
            initializers.append(numpy_helper.from_array(operand.value, name))
        elif operand is not None:
            array = arrays[name]
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            shape = getattr(operand, "shape", None) or array.shape
            shape = None if isinstance(operand, Shapeless) else shape
            inputs.append(helper.make_tensor_value_info(name, kind, shape))
    outputs = []
    for i in range(case.results):
        if results is None:
            outputs.append(helper.make_empty_tensor_value_info(f"y{i}"))
            continue
        shape = [f"d{i}_{axis}" for axis in range(results[i].ndim)] if case.dynamic else results[i].shape
        shape = case.declared or shape
        kind = helper.np_dtype_to_tensor_dtype(results[i].dtype)
        outputs.append(helper.make_tensor_value_info(f"y{i}", kind, shape))
    nodes = case.build(case)
    graph = helper.make_graph(nodes, "main_graph", inputs, outputs, initializers, sparse_initializer=sparse)
    opsets = [helper.make_opsetid("", case.opset)]
    opsets += [helper.make_opsetid(domain, case.domain_version) for domain in {node.domain for node in nodes} - {""}]
    return helper.make_model(graph, opset_imports=opsets,
                             ir_version=8 if case.opset <= 17 else 10)


def arrays_of(case, sizes=None):
    """The inputs of a case by name, from a generator seeded by the case's name; `sizes`: the first of the case's."""
    sizes = case.sizes[0] if sizes is None else sizes
    random = np.random.default_rng(zlib.crc32(case.name.encode()))
    return {name: operand.array(random, sizes) for name, operand in zip(case.names(), case.operands)
            if operand is not None and not isinstance(operand, Constant)}
