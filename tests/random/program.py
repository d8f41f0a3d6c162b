"""What random programs are made of: values that know how exact they are, and a builder that writes ops as text.

Numbers in arguments are whole, from -3 to 3, so that most results are exact. A value's `bound` is how large its numbers
may be; floats stay exact up to a whole number that their format holds. Where a function or a rounding comes in, a value
is no longer exact, its bound gives the tolerance, and only ops that do not multiply errors take it.
"""

import random

SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67, 97, 127)
# Whole numbers to here are exact. The small ones are cast to and from what can be an argument.
SMALL_FLOATS = {"f8E4M3FN": 16, "f8E5M2": 8, "f8E4M3": 16, "f8E4M3FNUZ": 16, "f8E5M2FNUZ": 8, "f8E3M4": 15,
                "f8E4M3B11FNUZ": 16, "f6E2M3FN": 7, "f6E3M2FN": 8, "f4E2M1FN": 4}
FLOATS = {"f32": 2 ** 22, "f64": 2 ** 40, "f16": 2 ** 10, "bf16": 2 ** 7, **SMALL_FLOATS}
SMALL_INTEGERS = ("i2", "i4", "i6")
INTEGERS = ("i8", "i16", "i32", "i64")
MOST_ELEMENTS = 20000
PRECISION = {"f32": 1e-5, "f64": 1e-9, "f16": 1e-2, "bf16": 6e-2}
MOST_RANK = 8


class Value:
    """`dims` are numbers; `free[i]` says whose size dimension i has at run time: (value, dimension), or None. How far off
    it may be, for each of its bound, is the most that a format on the way to it gives."""

    def __init__(self, name, element, dims, free, bound, exact=True):
        self.name, self.element, self.dims, self.free = name, element, list(dims), list(free)
        self.bound, self.exact = bound, exact
        self.precision = 0 if exact else PRECISION[element]

    def type(self):
        return text_type(self.element, self.dims, self.free)

    def count(self):
        return count_of(self.dims)

    def is_float(self):
        return self.element in FLOATS

    def is_small(self):
        return self.element in SMALL_FLOATS or self.element in SMALL_INTEGERS

    def is_static(self):
        return not any(self.free)

    def limit(self):
        """How large a whole number may be."""
        return FLOATS.get(self.element, 2 ** 62)


def count_of(dims):
    total = 1
    for size in dims:
        total *= size
    return total


def text_type(element, dims, free):
    return "tensor<" + "".join(("?" if where else str(size)) + "x" for size, where in zip(dims, free)) + element + ">"


def ints(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if values else "") + ">"


def width(element):
    return int(element[1:])


def accumulator(element):
    """What products of elements are summed in."""
    if element in FLOATS:
        return element if element in ("f32", "f64") else "f32"
    return element if element == "i64" else "i32"


class Builder:
    """Lines of the function at work, and the values that its ops may take."""

    def __init__(self, seed, sizes=SIZES):
        self.random, self.usual_sizes = random.Random(seed), sizes
        self.lines, self.values, self.arguments, self.others, self.counter, self.depth = [], [], [], [], 0, 0
        self.elements = self.random.choice((
            ("f32",), ("f32",), ("f32", "i32"), ("f16",), ("bf16",), ("f64",), ("i8",), ("i16", "i64"), ("i32",),
            ("f32", "i8", "i64"), ("i1", "i32"), ("i4", "i8"), ("i2", "i6", "i32"), tuple(SMALL_FLOATS), ("f32", "f16")))
        self.dynamic = self.random.random() < 0.35
        for _ in range(self.random.randint(1, 3)):
            self.add_source(self.shape(), self.random.choice(self.elements), self.dynamic)

    def chance(self, share):
        return self.random.random() < share

    def size(self):
        return 0 if self.chance(0.015) else self.random.choice(self.usual_sizes)

    def shape(self, rank=None):
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, MOST_RANK)) if rank is None else rank
        dims = [self.size() for _ in range(rank)]
        while count_of([max(size, 1) for size in dims]) > MOST_ELEMENTS:  # also where there is nothing
            dims[dims.index(max(dims))] //= 2
        return dims

    def add_argument(self, dims, element, dynamic=False):
        value = Value(f"%arg{len(self.arguments)}", element, dims, [None] * len(dims), 1 if element == "i1" else 3)
        value.free = [(value, i) if dynamic and self.chance(0.5) else None for i in range(len(dims))]
        self.arguments.append(value)
        self.values.append(value)
        return value

    def add_source(self, dims, element, dynamic=False):
        """Numbers from outside, of any element type: small ones come as larger ones."""
        carrier = "f32" if element in SMALL_FLOATS else "i8" if element in SMALL_INTEGERS else element
        value = self.add_argument(dims, carrier, dynamic)
        return value if carrier == element else self.op("cast", [value], {}, [(element, dims, value.free, 3, True)])

    def fresh(self):
        self.counter += 1
        return f"%{self.counter}"

    def op(self, name, operands, attributes, results, extra=(), regions=""):
        """Writes an op; `results` are (element, dims, free, bound, exact), `extra` operands of type index."""
        values = [Value(self.fresh(), *r) for r in results]
        for value in values:  # a size that no other value has
            value.free = [(value, i) if where == "own" else where for i, where in enumerate(value.free)]
            value.precision = 0 if value.exact else max([value.precision, *(v.precision for v in operands)])
        text = " <{" + ", ".join(f"{k} = {v}" if v else k for k, v in sorted(attributes.items())) + "}>" \
            if attributes else ""
        types = ", ".join([v.type() for v in operands] + ["index"] * len(extra))
        outs = ", ".join(v.type() for v in values)
        outs = outs if len(values) == 1 else f"({outs})"
        left = ", ".join(v.name for v in values)
        self.lines.append(f'{left + " = " if left else ""}"graph.{name}"('
                          f'{", ".join([v.name for v in operands] + list(extra))}){text}{regions} : ({types}) -> {outs}')
        self.values += values
        return values[0] if values else None

    def same(self, name, x, attributes=None, bound=None):
        """An op that gives elements of x at other places, or as many of them."""
        return self.op(name, [x], attributes or {}, [(x.element, x.dims, x.free, bound or x.bound, x.exact)])

    def line(self, text, result):
        """A line that gives something else than a tensor; returns its name."""
        name = self.fresh()
        self.lines.append(f"{name} = {text} -> {result}")
        return name

    def index(self, number):
        return self.line(f'"graph.constant"() <{{value = {number} : index}}> : ()', "index")

    def dim(self, where):
        value, i = where
        return self.line(f'"graph.dim"({value.name}) <{{index = {i} : i64}}> : ({value.type()})', "index")

    def sizes(self, free):
        """The trailing index operands of an op whose operands do not determine these."""
        return [self.dim(where) for where in free if where]

    def pick(self, test=lambda value: True):
        good = [value for value in self.values if test(value)]
        recent = good[-4:]
        return self.random.choice(recent if self.chance(0.7) else good) if good else None

    def scalar(self, element, number):
        return self.constant(element, [], [number])

    def constant(self, element, dims, numbers):
        """Whole numbers, or one that all elements are."""
        def one(number):
            if element == "i1":
                return "true" if number else "false"
            return f"{float(number)}" if element in FLOATS else str(number)

        def nest(numbers, dims):
            if not dims:
                return one(numbers[0])
            part = len(numbers) // dims[0]
            return "[" + ", ".join(nest(numbers[i * part:(i + 1) * part], dims[1:]) for i in range(dims[0])) + "]"

        if element == "i2":
            numbers = [min(max(number, -2), 1) for number in numbers]
        splat = len(numbers) == 1 or not count_of(dims)
        text = "" if not count_of(dims) else one(numbers[0]) if splat else nest(numbers, dims)
        bound = max([abs(number) for number in numbers] + [1])
        return self.op("constant", [], {"value": f"dense<{text}> : {text_type(element, dims, [None] * len(dims))}"},
                       [(element, dims, [None] * len(dims), bound, True)])

    def like(self, value):
        """Another value of the same type and sizes, or one that is made by broadcasting."""
        same = [v for v in self.values if v.element == value.element and v.dims == value.dims and v.free == value.free]
        if len(same) > 1 and self.chance(0.6):
            return self.random.choice(same)
        dims = [i for i in range(len(value.dims)) if self.chance(0.5)]
        small = [1 if value.free[i] or self.chance(0.2) else value.dims[i] for i in dims]
        source = self.add_source(small, value.element)
        return self.op("broadcast", [source], {"dims": ints(dims)},
                       [(value.element, value.dims, value.free, source.bound, True)], self.sizes(value.free))

    def fits(self, x, bound, exact=True):
        """Whether floats of x's format stay exact, or near enough, up to `bound`."""
        return not x.is_float() or (bound <= x.limit() if exact else bound <= 1e5 and not x.is_small())

    # Blocks

    def block(self, arguments, build):
        """Text of a block on `arguments`, and the values that `build` gives it to yield."""
        outer = self.lines, self.values
        self.lines, self.values = [], list(self.values) + arguments
        self.depth += 1
        results = build()
        types = ", ".join(v.type() for v in results)
        self.lines.append(f'"graph.yield"({", ".join(v.name for v in results)}) : ({types}) -> ()')
        head = "^bb0(" + ", ".join(f"{v.name}: {v.type()}" for v in arguments) + "):\n" if arguments else ""
        text = "{\n" + head + "\n".join(self.lines) + "\n}"
        self.lines, self.values = outer
        self.depth -= 1
        return text, results

    def scalar_block(self, elements, bounds, build):
        """The same where the arguments are scalars; `build` takes them."""
        arguments = [Value(self.fresh(), e, [], [], b) for e, b in zip(elements, bounds)]
        return self.block(arguments, lambda: build(*arguments))[0]
