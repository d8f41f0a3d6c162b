"""What random configurations of operators are made with: see sweep.py."""

import zlib

import numpy as np

import case

OPERATORS = {}
FLOATS = ["float32", "float32", "float64", "float16"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
# Sizes: mostly small, primes and powers of two, now and then nothing.
SIZES = [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 11, 13]


class Draw:
    """Choices, each from one generator."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, probability):
        return bool(self.random.random() < probability)

    def whole(self, low, high):
        """An integer from low to high."""
        return int(self.random.integers(low, high + 1))

    def wholes(self, count, low, high):
        return [self.whole(low, high) for _ in range(count)]

    def size(self, most=13):
        return min(self.pick(*SIZES), most)

    def shape(self, low, high, most=13, empty=0.0):
        """Sizes of low to high dimensions; with probability `empty` one of them is 0."""
        sizes = [self.size(most) for _ in range(self.whole(low, high))]
        if sizes and self.chance(empty):
            sizes[self.whole(0, len(sizes) - 1)] = 0
        return sizes

    def axes(self, rank, low=1, signed=True):
        """Some of the axes, in any order, each counted from either end."""
        count = self.whole(min(low, rank), rank)
        chosen = [int(axis) for axis in self.random.permutation(rank)[:count]]
        return [axis - rank if signed and self.chance(0.4) else axis for axis in chosen]

    def axis(self, rank):
        return self.whole(-rank, rank - 1)

    def array(self, dtype, shape, low=-2.0, high=2.0):
        """Floats from low to high; integers of their type's whole range unless low and high are integers."""
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return self.random.integers(0, 2, shape).astype(np.bool_)
        if dtype.kind == "f":
            return self.random.uniform(low, high, shape).astype(dtype)
        if isinstance(low, float):
            limits = np.iinfo(dtype)
            return self.random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        return self.random.integers(max(low, np.iinfo(dtype).min), high + 1, shape).astype(dtype)

    def given(self, dtype, shape, low=-2.0, high=2.0, fixed=()):
        """An operand; its sizes may be unknown but for the axes in `fixed`."""
        operand = case.Given(self.array(dtype, shape, low, high))
        operand.fixed = [axis % len(shape) for axis in fixed]
        return operand

    def weights(self, dtype, shape, low=-1.0, high=1.0):
        """A constant of the model, or an operand."""
        return self.known(self.array(dtype, shape, low, high))

    def known(self, array, probability=0.7):
        """An operand that is a constant of the model, with that probability."""
        if self.chance(probability):
            return case.Constant(array)
        operand = case.Given(array)
        operand.shape = array.shape
        return operand

    def ints(self, values):
        return case.Constant(np.array(values, np.int64))


class Configuration(case.Case):
    """A case whose operands' sizes may be unknown; `wrong`: the peers that do not follow the operator's text."""

    def __init__(self, name, build, operands, options, unknown):
        self.wrong = options.pop("wrong", ())
        super().__init__(name, build, operands, options)
        if not unknown:
            return
        self.dynamic = True
        for index, operand in enumerate(operands):
            if isinstance(operand, case.Given) and not hasattr(operand, "shape"):
                operand.shape = tuple(size if axis in operand.fixed else f"s{index}_{axis}"
                                      for axis, size in enumerate(operand.value.shape))


def operator(name, unknown=True):
    """Adds what draws operands and attributes: draw(d) -> (operands, options). `unknown`: sizes may be."""

    def add(make):
        assert name not in OPERATORS
        OPERATORS[name] = (make, unknown)
        return make

    return add


def configuration(name, seed):
    make, unknown = OPERATORS[name]
    operands, options = make(Draw([zlib.crc32(name.encode()), seed]))
    op = options.pop("op", name.split("-")[0])
    return Configuration(name, case.one_node(op), operands, options, unknown and seed % 2 == 1)


def describe(subject):
    operands = []
    for operand in subject.operands:
        if operand is None:
            operands.append("-")
            continue
        value = operand.value
        small = f" {value.tolist()}" if value.size <= 12 and value.dtype.kind in "iu" or value.size <= 4 else ""
        kind = "const " if isinstance(operand, case.Constant) else ""
        operands.append(f"{kind}{value.dtype}{list(value.shape)}{small}")
    return f"opset {subject.opset} {'dynamic ' if subject.dynamic else ''}{', '.join(operands)} {subject.attributes}"
