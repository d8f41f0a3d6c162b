"""Random programs of the graph level against the reference evaluator.

    tests/random/run.py --runner build/tests/run_graphs [--count 300] [--seed 1] [--keep FOLDER]

Those of found/, which failed once, come first.

Each program is a chain of ops over a few arguments: shapes with sizes of 0 and 1, primes and more than a vector, sizes
known at run time, all element types. Numbers are whole and small, so that most results are exact; where a function or a
rounding comes in, the result's bound gives the tolerance. run_graphs says what it compares.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67)
FLOATS = {"f32": 2 ** 22, "f64": 2 ** 40, "f16": 2 ** 10, "bf16": 2 ** 7}  # whole numbers to here are exact
INTEGERS = ("i8", "i16", "i32", "i64")
MOST_ELEMENTS = 20000
PRECISION = {"f32": 1e-5, "f64": 1e-9, "f16": 1e-2, "bf16": 6e-2}


class Value:
    """`dims` are numbers; `free[i]` says where the size of dimension i is known at run time: (argument, dimension)."""

    def __init__(self, name, element, dims, free, bound, exact=True):
        self.name, self.element, self.dims, self.free = name, element, list(dims), list(free)
        self.bound, self.exact = bound, exact

    def type(self):
        return text_type(self.element, self.dims, self.free)

    def count(self):
        return count_of(self.dims)


def count_of(dims):
    total = 1
    for size in dims:
        total *= size
    return total


def text_type(element, dims, free):
    return "tensor<" + "".join(("?" if where else str(size)) + "x" for size, where in zip(dims, free)) + element + ">"


def ints(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if values else "") + ">"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.values, self.arguments, self.counter = [], [], [], 0
        self.elements = self.random.choice((("f32",), ("f32",), ("f32", "i32"), ("f16",), ("bf16",), ("f64",), ("i8",),
                                            ("i16", "i64"), ("i32",), ("f32", "i8", "i64")))
        self.dynamic = self.random.random() < 0.35
        for _ in range(self.random.randint(1, 3)):
            self.add_argument()

    # Building

    def size(self):
        return 0 if self.random.random() < 0.01 else self.random.choice(SIZES)

    def shape(self, rank=None):
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4)) if rank is None else rank
        dims = [self.size() for _ in range(rank)]
        while count_of(dims) > MOST_ELEMENTS:
            dims[dims.index(max(dims))] //= 2
        return dims

    def add_argument(self, dims=None, element=None):
        dims = self.shape() if dims is None else dims
        number = len(self.arguments)
        free = [(number, i) if self.dynamic and self.random.random() < 0.5 else None for i in range(len(dims))]
        value = Value(f"%arg{number}", element or self.random.choice(self.elements), dims, free, 3)
        self.arguments.append(value)
        self.values.append(value)
        return value

    def fresh(self):
        self.counter += 1
        return f"%{self.counter}"

    def op(self, name, operands, attributes, results, extra=(), regions=""):
        """Writes an op; `results` are (element, dims, free, bound, exact)."""
        names = [self.fresh() for _ in results]
        values = [Value(n, *r) for n, r in zip(names, results)]
        attributes = " <{" + ", ".join(f"{k} = {v}" if v else k for k, v in sorted(attributes.items())) + "}>" \
            if attributes else ""
        types = ", ".join([v.type() for v in operands] + ["index"] * len(extra))
        outs = ", ".join(v.type() for v in values)
        outs = f"({outs})" if len(values) > 1 else outs
        self.lines.append(f'{", ".join(names)} = "graph.{name}"({", ".join([v.name for v in operands] + list(extra))})'
                          f'{attributes}{regions} : ({types}) -> {outs}')
        self.values += values
        return values[0]

    def dim(self, where):
        name = self.fresh()
        argument = self.arguments[where[0]]
        self.lines.append(f'{name} = "graph.dim"({argument.name}) <{{index = {where[1]} : i64}}> : ({argument.type()}) '
                          '-> index')
        return name

    def sizes(self, free):
        """The trailing index operands of an op whose operands do not determine these."""
        return [self.dim(where) for where in free if where]

    def pick(self, test=lambda value: True):
        good = [value for value in self.values if test(value)]
        recent = good[-4:]
        return self.random.choice(recent if self.random.random() < 0.7 else good) if good else None

    def is_float(self, value):
        return value.element in FLOATS

    def limit(self, value):
        """How large a whole number may be."""
        return FLOATS.get(value.element, 2 ** 62)

    def scalar(self, element, number):
        name = self.fresh()
        text = ("true" if number else "false") if element == "i1" else \
            f"{number}.0" if element in FLOATS else str(number)
        self.lines.append(f'{name} = "graph.constant"() <{{value = dense<{text}> : tensor<{element}>}}> : () -> '
                          f'tensor<{element}>')
        return Value(name, element, [], [], abs(number))

    def like(self, value):
        """Another value of the same type and sizes, or one that is made by broadcasting."""
        same = [v for v in self.values if v.element == value.element and v.dims == value.dims and v.free == value.free]
        if len(same) > 1 and self.random.random() < 0.6:
            return self.random.choice(same)
        dims = [i for i in range(len(value.dims)) if self.random.random() < 0.5]
        small = [1 if value.free[i] or self.random.random() < 0.2 else value.dims[i] for i in dims]
        source = Value(f"%arg{len(self.arguments)}", value.element, small, [None] * len(small), 3)
        self.arguments.append(source)
        self.values.append(source)
        return self.op("broadcast", [source], {"dims": ints(dims)}, [(value.element, value.dims, value.free, 3, True)],
                       self.sizes(value.free))

    # Ops: each returns False where it does not fit

    def unary(self):
        x = self.pick(lambda v: v.element != "i1")
        if not x:
            return False
        names = ["neg", "abs", "sign"]
        exact = ["floor", "ceil", "trunc", "round", "roundeven"]
        inexact = ["tanh", "logistic", "erf", "sin", "cos", "atan"]
        if self.is_float(x):
            names += (exact + inexact) if x.exact else inexact
        else:
            names += ["not", "popcnt", "clz", "ctz"]
        name = self.random.choice(names)
        if name == "sign" and not x.exact:
            return False
        bound = 1 if name in inexact or name == "sign" else x.bound + (not self.is_float(x))
        if name in ("popcnt", "clz", "ctz"):
            bound = 64
        if name in ("sin", "cos") and x.bound > 1000:
            return False
        self.op(name, [x], {}, [(x.element, x.dims, x.free, max(bound, x.bound) if not x.exact else bound,
                                 x.exact and name not in inexact)])
        return True

    def binary(self):
        x = self.pick(lambda v: v.element != "i1")
        if not x:
            return False
        y = self.like(x)
        names = ["add", "sub", "min", "max", "mul"]
        if not self.is_float(x):
            names += ["and", "or", "xor", "div", "rem", "shl", "shr", "minu", "maxu"]
        name = self.random.choice(names)
        bound = x.bound * y.bound if name == "mul" else x.bound + y.bound
        exact = x.exact and y.exact
        if self.is_float(x) and (bound > self.limit(x) or not exact and bound > 1e5):
            return False
        self.op(name, [x, y], {}, [(x.element, x.dims, x.free, max(bound, 1), exact)])
        return True

    def compare(self):
        x = self.pick(lambda v: v.element != "i1" and v.exact)
        if not x:
            return False
        y = self.like(x)
        if not y.exact:
            return False
        test = self.op(self.random.choice(("eq", "ne", "lt", "le", "gt", "ge")), [x, y], {},
                       [("i1", x.dims, x.free, 1, True)])
        if self.random.random() < 0.8:
            self.op("select", [test, x, y], {}, [(x.element, x.dims, x.free, max(x.bound, y.bound), True)])
        return True

    def cast(self):
        x = self.pick(lambda v: v.exact)
        to = self.random.choice(list(FLOATS) + list(INTEGERS))
        if not x or to == x.element:
            return False
        wide = 2 ** (int(to[1:]) - 1) - 1 if to in INTEGERS else FLOATS[to]
        source_wraps = x.element in INTEGERS and x.bound >= 2 ** (int(x.element[1:]) - 1)
        if x.bound > wide or source_wraps and to in FLOATS:
            return False
        self.op("cast", [x], {}, [(to, x.dims, x.free, x.bound, True)])
        return True

    def reshape(self):
        x = self.pick(lambda v: not any(v.free))
        if not x:
            return False
        total, dims = x.count(), []
        for _ in range(self.random.randint(0, 3)):
            factors = [f for f in range(1, min(total, 70) + 1) if total % f == 0] or [0]
            dims.append(self.random.choice(factors))
            total = total // dims[-1] if dims[-1] else 0
        dims.append(total)
        self.random.shuffle(dims)
        self.op("reshape", [x], {}, [(x.element, dims, [None] * len(dims), x.bound, x.exact)])
        return True

    def transpose(self):
        x = self.pick(lambda v: len(v.dims) > 1)
        if not x:
            return False
        perm = list(range(len(x.dims)))
        self.random.shuffle(perm)
        self.op("transpose", [x], {"perm": ints(perm)},
                [(x.element, [x.dims[p] for p in perm], [x.free[p] for p in perm], x.bound, x.exact)])
        return True

    def reverse(self):
        x = self.pick(lambda v: v.dims)
        if not x:
            return False
        dims = [i for i in range(len(x.dims)) if self.random.random() < 0.5]
        self.op("reverse", [x], {"dims": ints(dims)}, [(x.element, x.dims, x.free, x.bound, x.exact)])
        return True

    def slice(self):
        x = self.pick(lambda v: v.dims and v.count())
        if not x:
            return False
        offsets, strides, dims = [], [], []
        for size, free in zip(x.dims, x.free):
            step = 1 if free else self.random.choice((1, 1, 2, 3))
            first = 0 if free else self.random.randint(0, size - 1)
            most = (size - first + step - 1) // step
            offsets.append(first)
            strides.append(step)
            dims.append(size if free else self.random.randint(1, most))
        self.op("slice", [x], {"offsets": ints(offsets), "strides": ints(strides)},
                [(x.element, dims, x.free, x.bound, x.exact)], self.sizes(x.free))
        return True

    def pad(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and not any(v.free))
        if not x:
            return False
        low = [self.random.choice((0, 0, 1, 2, -1)) for _ in x.dims]
        high = [self.random.choice((0, 0, 1, 3, -1)) for _ in x.dims]
        interior = [self.random.choice((0, 0, 0, 1)) for _ in x.dims]
        dims = [max(size + (size - 1) * i, 0) + a + b for size, a, b, i in zip(x.dims, low, high, interior)]
        if min(dims) < 1 or count_of(dims) > MOST_ELEMENTS or min(x.dims) < 3:
            return False
        value = self.scalar(x.element, self.random.randint(-2, 2))
        self.op("pad", [x, value], {"low": ints(low), "high": ints(high), "interior": ints(interior),
                                    "mode": '"constant"'},
                [(x.element, dims, x.free, max(x.bound, 2), x.exact)])
        return True

    def concat(self):
        x = self.pick(lambda v: v.dims)
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        if x.free[axis]:
            return False
        parts = [x, self.like(x)] if self.random.random() < 0.7 else [x, x, x]
        dims, bound = list(x.dims), max(p.bound for p in parts)
        dims[axis] *= len(parts)
        if count_of(dims) > MOST_ELEMENTS:
            return False
        self.op("concat", parts, {"axis": f"{axis} : i64"},
                [(x.element, dims, x.free, bound, all(p.exact for p in parts))])
        return True

    def iota(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and max(v.dims) < 100)
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        self.op("iota", [], {"axis": f"{axis} : i64"}, [(x.element, x.dims, x.free, max(x.dims), True)],
                self.sizes(x.free))
        return True

    def reduce(self):
        x = self.pick(lambda v: v.dims and v.element != "i1")
        if not x:
            return False
        dims = [i for i in range(len(x.dims)) if self.random.random() < 0.5] or [len(x.dims) - 1]
        kinds = ["add", "max", "min"] + (["and", "or", "xor", "mul", "minu"] if not self.is_float(x) else [])
        kind = self.random.choice(kinds)
        count = count_of([x.dims[d] for d in dims])
        if kind in ("max", "min") and not count:
            return False
        bound = x.bound * max(count, 1) if kind == "add" else 2 ** 62 if kind == "mul" else x.bound
        if self.is_float(x) and (bound > self.limit(x) or not x.exact and bound > 1e5):
            return False
        keep = [i for i in range(len(x.dims)) if i not in dims]
        self.op("reduce", [x], {"dims": ints(dims), "kind": f'"{kind}"'},
                [(x.element, [x.dims[i] for i in keep], [x.free[i] for i in keep], bound, x.exact)])
        return True

    def arg_reduce(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact and v.count())
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        dims, free = x.dims[:axis] + x.dims[axis + 1:], x.free[:axis] + x.free[axis + 1:]
        attributes = {"axis": f"{axis} : i64", "kind": self.random.choice(('"min"', '"max"'))}
        if self.random.random() < 0.3:
            attributes["last"] = ""
        self.op("arg_reduce", [x], attributes, [(x.element, dims, free, x.bound, True),
                                                (self.random.choice(("i32", "i64")), dims, free, x.dims[axis], True)])
        return True

    def scan(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.count())
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        kind = self.random.choice(("add", "max", "min"))
        bound = x.bound * x.dims[axis] if kind == "add" else x.bound
        if self.is_float(x) and (bound > self.limit(x) or not x.exact and bound > 1e5):
            return False
        attributes = {"axis": f"{axis} : i64", "kind": f'"{kind}"'}
        if self.random.random() < 0.3:
            attributes["reverse"] = ""
        if kind == "add" and self.random.random() < 0.3:
            attributes["exclusive"] = ""
        self.op("scan", [x], attributes, [(x.element, x.dims, x.free, bound, x.exact)])
        return True

    def sort(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact)
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        attributes = {"axis": f"{axis} : i64", "keys": "1 : i64", "stable": ""}
        if self.random.random() < 0.5:
            attributes["descending"] = ""
        self.op("sort", [x], attributes, [(x.element, x.dims, x.free, x.bound, True)])
        return True

    def top_k(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact and v.count())
        axis = self.random.randrange(len(x.dims)) if x else 0
        if not x or x.free[axis]:
            return False
        k = self.random.randint(1, x.dims[axis])
        dims = list(x.dims)
        dims[axis] = k
        attributes = {"axis": f"{axis} : i64", "k": f"{k} : i64"}
        if self.random.random() < 0.3:
            attributes["smallest"] = ""
        self.op("top_k", [x], attributes, [(x.element, dims, x.free, x.bound, True),
                                           ("i32", dims, x.free, x.dims[axis], True)])
        return True

    def contract(self):
        a = self.pick(lambda v: 1 <= len(v.dims) <= 4 and v.element != "i1")
        if not a:
            return False
        rank = len(a.dims)
        order = list(range(rank))
        self.random.shuffle(order)
        summed = sorted(order[:self.random.choice((1, 1, 1, 2))])
        batch = sorted(d for d in order if d not in summed and self.random.random() < 0.3)
        if any(a.free[d] for d in summed + batch):
            return False
        columns = [self.size() for _ in range(self.random.choice((0, 1, 1, 2)))]
        parts = [(a.dims[d], "b", d) for d in batch] + [(a.dims[d], "k", d) for d in summed] + \
            [(size, "n", -1) for size in columns]
        self.random.shuffle(parts)
        if count_of([p[0] for p in parts]) > MOST_ELEMENTS:
            return False
        k = count_of([a.dims[d] for d in summed])
        to = a.element if self.is_float(a) else "i32"
        bound = max(a.bound * 3 * max(k, 1), 1)
        if a.element in ("f16", "bf16"):
            to = "f32"
        if not self.is_float(a) and int(a.element[1:]) > 32:
            to = a.element
        if to in FLOATS and (bound > FLOATS[to] or not a.exact and bound > 1e5):
            return False
        free_a = [d for d in range(rank) if d not in summed + batch]
        dims = [a.dims[d] for d in batch] + [a.dims[d] for d in free_a] + [p[0] for p in parts if p[1] == "n"]
        if count_of(dims) > MOST_ELEMENTS or len(dims) > 5:
            return False
        b = self.add_static([p[0] for p in parts], a.element)
        where = {p[2]: i for i, p in enumerate(parts)}
        self.op("contract", [a, b], {"lhs_batch": ints(batch), "rhs_batch": ints([where[d] for d in batch]),
                                     "lhs_contract": ints(summed), "rhs_contract": ints([where[d] for d in summed])},
                [(to, dims, [None] * len(batch) + [a.free[d] for d in free_a] + [None] * len(columns), bound, a.exact)])
        return True

    def add_static(self, dims, element):
        value = Value(f"%arg{len(self.arguments)}", element, dims, [None] * len(dims), 3)
        self.arguments.append(value)
        self.values.append(value)
        return value

    def conv(self):
        element = self.random.choice(self.elements)
        if element in ("i8", "i16", "i64") and self.random.random() < 0.7:
            return False
        groups = self.random.choice((1, 1, 1, 2, 3))
        inputs, outputs = groups * self.random.choice((1, 2, 5, 8, 16)), groups * self.random.choice((1, 2, 3, 7, 16))
        depthwise = self.random.random() < 0.25
        if depthwise:
            groups = inputs = outputs = self.random.choice((3, 8, 17, 32))
        kernel = [self.random.choice((1, 2, 3, 3, 5)) for _ in range(2)]
        image = [self.random.choice((5, 7, 8, 14, 17)) for _ in range(2)]
        strides = [self.random.choice((1, 1, 2, 3)) for _ in range(2)]
        dilation = [self.random.choice((1, 1, 2)) for _ in range(2)]
        low = [self.random.choice((0, 1, 2)) for _ in range(2)]
        high = [self.random.choice((0, 1, 2)) for _ in range(2)]
        out = [(image[i] + low[i] + high[i] - (kernel[i] - 1) * dilation[i] - 1) // strides[i] + 1 for i in range(2)]
        batch = self.random.choice((1, 1, 2, 3))
        if min(out) < 1 or batch * outputs * out[0] * out[1] > MOST_ELEMENTS:
            return False
        # Whether the layout is that of a channel in front, or at the end.
        last = self.random.random() < 0.4
        x_layout, w_layout = ("n01c", "01io") if last else ("nc01", "oi01")
        x_dims = [batch, *image, inputs] if last else [batch, inputs, *image]
        w_dims = [*kernel, inputs // groups, outputs] if last else [outputs, inputs // groups, *kernel]
        y_dims = [batch, *out, outputs] if last else [batch, outputs, *out]
        bound = 9 * kernel[0] * kernel[1] * inputs // groups
        to = "f32" if element in ("f16", "bf16") else element if element in FLOATS else "i32" \
            if element != "i64" else "i64"
        x, w = self.add_static(x_dims, element), self.add_static(w_dims, element)
        self.op("conv", [x, w], {
            "x_layout": f'"{x_layout}"', "w_layout": f'"{w_layout}"', "y_layout": f'"{x_layout}"',
            "strides": ints(strides), "pad_low": ints(low), "pad_high": ints(high), "x_dilation": ints([1, 1]),
            "w_dilation": ints(dilation), "groups": f"{groups} : i64", "batch_groups": "1 : i64"},
            [(to, y_dims, [None] * 4, bound, True)])
        return True

    def window(self):
        x = self.pick(lambda v: 1 <= len(v.dims) <= 4 and v.element != "i1" and v.count() and not any(v.free))
        if not x:
            return False
        rank = len(x.dims)
        sizes = [self.random.choice((1, 1, 2, 3)) for _ in x.dims]
        strides = [self.random.choice((1, 1, 2)) for _ in x.dims]
        low = [self.random.randint(0, size - 1) for size in sizes]
        high = [self.random.randint(0, size - 1) for size in sizes]
        dims = [(size + a + b - k) // s + 1 for size, a, b, k, s in zip(x.dims, low, high, sizes, strides)]
        kind = self.random.choice(("add", "max", "min"))
        bound = x.bound * count_of(sizes) if kind == "add" else x.bound
        if min(dims) < 1 or self.is_float(x) and bound > self.limit(x) or count_of(dims) > MOST_ELEMENTS:
            return False
        ones = ints([1] * rank)
        self.op("window", [x], {"kind": f'"{kind}"', "sizes": ints(sizes), "strides": ints(strides), "dilations": ones,
                                "base_dilations": ones, "pad_low": ints(low), "pad_high": ints(high)},
                [(x.element, dims, x.free, bound, x.exact)])
        return True

    def gather(self):
        """Rows of the first dimension, at indices that may be outside."""
        x = self.pick(lambda v: v.dims and v.count() and not any(v.free[1:]))
        if not x:
            return False
        shape = self.shape(self.random.choice((1, 2)))
        dims = shape + x.dims[1:]
        if count_of(dims) > MOST_ELEMENTS or len(dims) > 5:
            return False
        index = self.add_static(shape, self.random.choice(("i32", "i64")))
        self.op("gather", [x, index], {
            "offset_dims": ints(range(len(shape), len(dims))), "collapsed_dims": ints([0]),
            "operand_batch_dims": ints([]), "indices_batch_dims": ints([]), "start_index_map": ints([0]), "index_vector_dim": f"{len(shape)} : i64",
            "slice_sizes": ints([1] + x.dims[1:])}, [(x.element, dims, [None] * len(dims), x.bound, x.exact)])
        return True

    def scatter(self):
        x = self.pick(lambda v: v.dims and v.count() and not any(v.free) and v.element != "i1")
        if not x:
            return False
        count = self.random.choice((1, 3, 8, 17))
        kind = self.random.choice(("add", "max", "min"))
        if kind == "add" and self.is_float(x) and x.bound + 3 * count > self.limit(x):
            return False
        index, updates = self.add_static([count], "i32"), self.add_static([count] + x.dims[1:], x.element)
        if updates.count() > MOST_ELEMENTS:
            return False
        self.op("scatter", [x, index, updates], {
            "update_window_dims": ints(range(1, len(x.dims))), "inserted_dims": ints([0]),
            "operand_batch_dims": ints([]), "indices_batch_dims": ints([]), "scatter_dims_map": ints([0]), "index_vector_dim": "1 : i64",
            "kind": f'"{kind}"'}, [(x.element, x.dims, x.free, x.bound + 3 * count, x.exact)])
        return True

    OPS = (unary, unary, unary, binary, binary, binary, binary, compare, cast, reshape, transpose, reverse, slice, pad,
           concat, iota, reduce, reduce, arg_reduce, scan, sort, top_k, contract, contract, conv, window, gather,
           scatter)

    def text(self):
        for _ in range(self.random.randint(1, 9)):
            for _ in range(20):
                if self.random.choice(self.OPS)(self):
                    break
        results = [v for v in self.values if v not in self.arguments and (v.exact or v.bound <= 1e5)][-4:]
        results = results or self.values[-1:]
        tolerance = [0.0 if v.exact else PRECISION[v.element] * max(v.bound, 1) for v in results]
        used = "\n  ".join(self.lines)
        sizes = [size for v in self.arguments for size, free in zip(v.dims, v.free) if free]
        arguments = ", ".join(f"{v.name}: {v.type()}" for v in self.arguments)
        types = ", ".join(v.type() for v in results)
        return (f"func.func @main({arguments}) -> ({types}) attributes {{test.sizes = {ints(sizes)}, "
                f"test.tolerance = [{', '.join(f'{t:.6e} : f64' for t in tolerance)}]}} {{\n  {used}\n"
                f"  return {', '.join(v.name for v in results)} : {types}\n}}\n")


def run_batch(job):
    runner, files = job
    done = subprocess.run([runner, *map(str, files)], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", required=True, help="the program run_graphs")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the others' follow")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the programs that fail")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="iree-random-") as folder:
        files = sorted(pathlib.Path(__file__).parent.glob("found/*.mlir"))
        for seed in range(options.seed, options.seed + options.count):
            files.append(pathlib.Path(folder, f"{seed}.mlir"))
            files[-1].write_text(Program(seed).text(), encoding="utf-8")
        jobs = [(options.runner, files[at:at + 10]) for at in range(0, len(files), 10)]
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            for output in pool.map(run_batch, jobs):
                counts = re.search(r"^(\d+) passed, (\d+) failed$", output, re.M)
                passed, failed = passed + int(counts[1]), failed + int(counts[2])
                for line in output.splitlines():
                    if line.startswith(("FAILED", "slow")):
                        print(line.replace(folder + "/", "seed "), flush=True)
                    if options.keep and (at := re.match(r"(?:FAILED|slow:) (\S+\.mlir)", line)):
                        options.keep.mkdir(exist_ok=True)
                        shutil.copy(at[1], options.keep)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
