"""Ops with regions, control flow, calls and globals. Each method returns False where it does not fit."""

from program import MOST_ELEMENTS, Builder, Value, count_of, ints

WIDE = 2 ** 62


class Regions(Builder):
    def point(self, name, operands, element, bound=WIDE):
        """A scalar op in a block."""
        return self.op(name, operands, {}, [(element, [], [], bound, True)])

    def combiner(self, elements):
        """A block on accumulators and elements that may combine parts, too, in any order; 0 may come in more than once."""
        def one(element, a, b):
            if element in ("f32", "f64", "f16", "bf16"):
                return self.point(self.random.choice(("max", "min")), [a, b], element, 3)
            if self.chance(0.5):
                return self.point(self.random.choice(("add", "max", "xor", "minu")), [a, b], element)
            return self.point("select", [self.point("gt", [a, b], "i1", 1), a, b], element)

        def body(*values):
            half = len(elements)
            return [one(e, values[i], values[half + i]) for i, e in enumerate(elements)]

        return self.scalar_block(elements * 2, [3] * (2 * len(elements)), body)

    def companions(self, x):
        """x, and perhaps one more of its sizes."""
        return [x] + ([self.like(x)] if self.chance(0.5) else [])

    def reduce_generic(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and not v.is_small() and v.exact)
        if not x:
            return False
        parts = self.companions(x)
        dims = [i for i in range(len(x.dims)) if self.chance(0.5)] or [0]
        keep = [i for i in range(len(x.dims)) if i not in dims]
        if count_of([x.dims[i] for i in keep]) > MOST_ELEMENTS:
            return False
        starts = [self.scalar(p.element, 0) for p in parts]
        block = self.combiner([p.element for p in parts])
        self.op("reduce_generic", parts + starts, {"dims": ints(dims)},
                [(p.element, [x.dims[i] for i in keep], [x.free[i] for i in keep],
                  p.bound if p.is_float() else WIDE, p.exact) for p in parts], regions=f" ({block})")
        return True

    def window_generic(self):
        x = self.pick(lambda v: 1 <= len(v.dims) <= 3 and v.element != "i1" and not v.is_small() and v.exact and v.count()
                      and v.is_static())
        if not x:
            return False
        parts = self.companions(x)
        sizes = [self.random.choice((1, 2, 3)) for _ in x.dims]
        strides = [self.random.choice((1, 1, 2)) for _ in x.dims]
        low, high = ([self.random.randint(0, size - 1) for size in sizes] for _ in range(2))
        dims = [(size + a + b - k) // s + 1 for size, a, b, k, s in zip(x.dims, low, high, sizes, strides)]
        if min(dims) < 1 or count_of(dims) * count_of(sizes) > MOST_ELEMENTS:
            return False
        ones = ints([1] * len(dims))
        starts = [self.scalar(p.element, 0) for p in parts]
        block = self.combiner([p.element for p in parts])
        self.op("window_generic", parts + starts,
                {"sizes": ints(sizes), "strides": ints(strides), "dilations": ones, "base_dilations": ones,
                 "pad_low": ints(low), "pad_high": ints(high)},
                [(p.element, dims, [None] * len(dims), max(p.bound, 1) if p.is_float() else WIDE, p.exact)
                 for p in parts],
                regions=f" ({block})")
        return True

    def sort_generic(self):
        """By a rule on several operands, none of which has NaN: the rule orders all of them."""
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact)
        y = self.like(x) if x else None
        if not x or not y.exact:
            return False

        def body(a, b, c, d):
            first, equal = self.point("lt", [a, b], "i1"), self.point("eq", [a, b], "i1")
            second = self.point("gt", [c, d], "i1")
            return [self.point("or", [first, self.point("and", [equal, second], "i1")], "i1")]

        block = self.scalar_block([x.element] * 4, [3] * 4, body)
        self.op("sort_generic", [x, y], {"axis": f"{self.random.randrange(len(x.dims))} : i64", "stable": ""},
                [(v.element, v.dims, v.free, v.bound, v.exact) for v in (x, y)], regions=f" ({block})")
        return True

    def generic(self):
        """A product of matrices, or an elementwise function with broadcast and transposed operands."""
        x = self.pick(lambda v: len(v.dims) == 2 and v.element in ("i32", "i16", "f32", "f64") and v.exact and
                      v.is_static() and v.bound <= 1000)
        if not x:
            return False
        (m, k), element = x.dims, x.element
        if self.chance(0.5):
            n = self.random.choice((1, 3, 8, 17))
            y, start = self.add_source([k, n], element), self.add_source([m, n], element)
            maps, iterators = ("d0, d2", "d2, d1", "d0, d1"), '["parallel", "parallel", "reduction"]'
            dims, bound = [m, n], x.bound * 3 * max(k, 1) + 3
        else:
            y, start = self.add_source([k], element), self.op("empty", [], {}, [(element, [k, m], [None] * 2, 0, True)])
            maps, iterators = ("d1, d0", "d0", "d0, d1"), '["parallel", "parallel"]'
            dims, bound = [k, m], 4 * x.bound + 9
            self.values.remove(start)
        if count_of(dims) * max(k, 1) > 200000 or not self.fits(x, bound):
            return False
        sums = len(iterators) > 30

        def body(a, b, acc):
            product = self.point("mul", [a, b], element)
            more = self.point("add", [product, acc if sums else b], element)
            return [more if sums else self.point("sub", [more, a], element)]

        space = "d0, d1, d2" if sums else "d0, d1"
        block = self.scalar_block([element] * 3, [3] * 3, body)
        self.op("generic", [x, y, start],
                {"maps": "[" + ", ".join(f"affine_map<({space}) -> ({m})>" for m in maps) + "]", "iterators": iterators,
                 "outs": "1 : i64"}, [(element, dims, [None] * 2, bound, True)], regions=f" ({block})")
        return True

    # Control flow

    def several(self, count):
        """A few ops, which may come to nothing."""
        for _ in range(count):
            self.step()

    def branch(self):
        """Each side does something of its own, and sees what is outside."""
        if self.depth > 1:
            return False
        flag = self.flag()
        if not flag:
            return False
        sides = []

        def then():
            self.several(self.random.randint(0, 3))
            sides.append(self.pick(lambda v: v.exact))
            return sides[:1]

        first, _ = self.block([], then)
        wanted = Value("", *[getattr(sides[0], name) for name in ("element", "dims", "free", "bound")])
        if any(where and where[0] not in self.values for where in wanted.free):
            return False  # of a size that only this side knows

        def otherwise():
            self.several(self.random.randint(0, 2))
            sides.append(self.like(wanted))
            return sides[1:]

        second, _ = self.block([], otherwise)
        bound, exact = max(v.bound for v in sides), all(v.exact for v in sides)
        self.op("if", [flag], {}, [(wanted.element, wanted.dims, ["own" if f else None for f in wanted.free], bound, exact)],
                regions=f" ({first}, {second})")
        return True

    def steady(self, value, counter):
        """What a loop makes of a value that it carries: of the same type, and larger by little."""
        kind = self.random.randrange(4)
        if kind == 0:
            return self.same("reverse", value, {"dims": ints([d for d in range(len(value.dims)) if self.chance(0.5)])})
        if kind == 1 and value.dims and value.is_static() and value.count() and value.dims[0] < 100:
            update = self.add_source([1] + value.dims[1:], value.element)
            name = self.line(f'"graph.cast"({counter.name}) : (tensor<i32>)', "tensor<index>")
            at = self.line(f'"graph.to_scalar"({name}) : (tensor<index>)', "index")
            zeros = [self.index(0) for _ in value.dims[1:]]
            return self.op("dynamic_update", [value, update], {},
                           [(value.element, value.dims, value.free, max(value.bound, 3), value.exact)], [at] + zeros)
        if value.element == "i1":
            return self.op("xor", [value, self.like(value)], {}, [("i1", value.dims, value.free, 1, True)])
        name = self.random.choice(("max", "min") if value.is_small() else ("max", "sub", "add"))
        other = self.like(value)
        if name in ("add", "sub") and value.is_float() and not self.fits(value, value.bound + 4 * other.bound,
                                                                         value.exact and other.exact):
            name = "max"
        return self.op(name, [value, other], {}, [(value.element, value.dims, value.free, value.bound + 4 * other.bound,
                                                   value.exact and other.exact)])

    def loop(self):
        """A counter to a constant, or to a number from data, and one or two values that go along."""
        if self.depth > 1:
            return False
        carried = [self.pick(lambda v: v.count() <= 4000) for _ in range(self.random.randint(1, 2))]
        if not all(carried):
            return False
        start = self.scalar("i32", 0)
        limit = self.scalar("i32", self.random.randint(0, 4)) if self.chance(0.6) else self.add_argument([], "i32")

        def arguments():
            own = [Value(self.fresh(), v.element, v.dims, v.free, v.bound, v.exact) for v in [start] + carried]
            return own

        def go_on(own):
            return [self.op("lt", [own[0], limit], {}, [("i1", [], [], 1, True)])]

        def body(own):
            one = self.scalar("i32", 1)
            values = [self.op("add", [own[0], one], {}, [("i32", [], [], 9, True)])]
            if self.chance(0.4):
                self.several(1)
            return values + [self.steady(v, own[0]) for v in own[1:]]

        test, inside = arguments(), arguments()
        condition, _ = self.block(test, lambda: go_on(test))
        step, results = self.block(inside, lambda: body(inside))
        self.op("while", [start] + carried, {},
                [(v.element, v.dims, v.free, r.bound, v.exact and r.exact) for v, r in zip([start] + carried, results)],
                regions=f" ({condition}, {step})")
        return True

    def call(self):
        """A function of its own; the arguments that it adds become this one's too."""
        if self.depth > 0:
            return False
        operands = [v for v in (self.pick(lambda v: v.is_static()) for _ in range(2)) if v]
        if not operands or operands[0] is operands[-1] and len(operands) > 1:
            operands = operands[:1]
        if not operands:
            return False
        outer, name = (self.lines, self.values, self.arguments, self.counter), f"callee{len(self.others)}"
        self.lines, self.values, self.arguments, self.counter, self.depth = [], [], [], 0, 2
        for value in operands:
            own = self.add_argument(value.dims, value.element)
            own.bound, own.exact = value.bound, value.exact
        self.several(self.random.randint(1, 3))
        results = [self.pick(lambda v: v.is_static()) for _ in range(self.random.randint(1, 2))]
        types = ", ".join(v.type() for v in results)
        inner = self.arguments
        head = ", ".join(f"{v.name}: {v.type()}" for v in inner)
        self.others.append(f"func.func private @{name}({head}) -> ({types}) {{\n  " + "\n  ".join(self.lines) +
                           f"\n  return {', '.join(v.name for v in results)} : {types}\n}}\n")
        self.lines, self.values, self.arguments, self.counter = outer
        self.depth = 0
        operands += [self.add_argument(v.dims, v.element) for v in inner[len(operands):]]
        for _ in range(self.random.choice((1, 1, 2))):
            self.op("call", operands, {"callee": f"@{name}"},
                    [(v.element, v.dims, v.free, v.bound, v.exact) for v in results])
        return True

    def stored(self):
        """A global that nothing changes."""
        if self.depth > 0:
            return False
        element, dims = self.random.choice(("f32", "i32", "i8")), [self.random.choice((1, 4, 17)) for _ in range(2)]
        number, name = self.random.randint(-3, 3), f"stored{len(self.others)}"
        kind = f"tensor<{dims[0]}x{dims[1]}x{element}>"
        text = f"{number}.0" if element == "f32" else str(number)
        self.others.append(f'"graph.global"() <{{sym_name = "{name}", sym_visibility = "private", type = {kind}, '
                           f'value = dense<{text}> : {kind}}}> : () -> ()\n')
        self.op("global_load", [], {"global": f"@{name}"}, [(element, dims, [None, None], 3, True)])
        return True

    def barrier(self):
        x = self.pick()
        self.same("barrier", x)
        return True

    def check(self):
        """Something that holds."""
        x = self.pick(lambda v: v.exact and v.element != "i1")
        if not x:
            return False
        test = self.op("eq", [x, x], {}, [("i1", x.dims, x.free, 1, True)])
        if x.is_float():
            test = self.op("or", [test, self.op("ne", [x, x], {}, [("i1", x.dims, x.free, 1, True)])], {},
                           [("i1", x.dims, x.free, 1, True)])
        flag = self.op("reduce", [test], {"dims": ints(range(len(x.dims))), "kind": '"and"'}, [("i1", [], [], 1, True)])
        self.op("assert", [flag], {"message": '"what always holds"'}, [])
        return True
