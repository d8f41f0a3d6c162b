"""Reductions, sorts, contractions, convolutions, linear algebra. Each method returns False where it does not fit."""

from program import MOST_ELEMENTS, Builder, accumulator, count_of, ints


class Combines(Builder):
    def reduce(self):
        x = self.pick(lambda v: v.dims)
        if not x:
            return False
        dims = [i for i in range(len(x.dims)) if self.chance(0.5)] or [len(x.dims) - 1]
        kinds = ["and", "or", "xor"] if x.element == "i1" else ["add", "max", "min"]
        kinds += [] if x.is_float() or x.element == "i1" else ["and", "or", "xor", "mul", "minu", "maxu"]
        kind = self.random.choice(kinds)
        count = count_of([x.dims[d] for d in dims])
        if kind in ("max", "min") and not count and x.is_small():
            return False
        bound = x.bound * max(count, 1) if kind == "add" else 2 ** 62 if kind == "mul" or not count else x.bound
        if not self.fits(x, x.bound if kind in ("max", "min") else bound, x.exact):
            return False
        keep = [i for i in range(len(x.dims)) if i not in dims]
        if count_of([x.dims[i] for i in keep]) > MOST_ELEMENTS:
            return False
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
        if self.chance(0.3):
            attributes["last"] = ""
        self.op("arg_reduce", [x], attributes, [(x.element, dims, free, x.bound, True),
                                                (self.random.choice(("i32", "i64")), dims, free, x.dims[axis], True)])
        return True

    def scan(self):
        x = self.pick(lambda v: v.dims and v.element != "i1")
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        kind = self.random.choice(["add", "max", "min"] + ([] if x.is_float() else ["mul", "and", "or", "xor"]))
        bound = x.bound * max(x.dims[axis], 1) if kind == "add" else 2 ** 62 if kind == "mul" else x.bound
        if not self.fits(x, bound, x.exact):
            return False
        attributes = {"axis": f"{axis} : i64", "kind": f'"{kind}"'}
        if self.chance(0.3):
            attributes["reverse"] = ""
        if kind == "add" and self.chance(0.3):
            attributes["exclusive"] = ""
        self.op("scan", [x], attributes, [(x.element, x.dims, x.free, bound, x.exact)])
        return True

    def sort(self):
        """Stable, of up to three operands, of which the first ones are the key."""
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact)
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        parts = [x] + [self.like(x) for _ in range(self.random.choice((0, 0, 1, 2)))]
        if not all(p.exact for p in parts):
            return False
        attributes = {"axis": f"{axis} : i64", "keys": f"{self.random.randint(1, len(parts))} : i64", "stable": ""}
        if self.chance(0.5):
            attributes["descending"] = ""
        digits = 0 if x.is_small() or attributes["keys"] != "1 : i64" else int(x.element.strip("bfi")) // 8
        if digits and self.chance(0.3):  # one step of a sort
            attributes["digit"] = f"{self.random.randint(1, digits)} : i64"
        self.op("sort", parts, attributes, [(p.element, p.dims, p.free, p.bound, True) for p in parts])
        return True

    def true_places(self):
        """Of the true elements of a mask, how many is known to the program's writer alone."""
        x = self.pick(lambda v: len(v.dims) == 1 and v.is_static() and v.element != "i1" and v.exact and v.bound < 100)
        if not x or x.is_small():
            return False
        truth = [self.chance(self.random.choice((0.02, 0.5, 0.9))) for _ in range(x.dims[0])]
        block = self.random.choice((4, 16, 64, 256))
        starts = [sum(truth[:i]) for i in range(0, len(truth), block)]
        element, flags = self.random.choice(("i32", "i64")), [("i1", x.dims, x.free, 1, True)]
        spread = lambda number: self.op("broadcast", [self.scalar(x.element, number)], {"dims": ints([])},
                                        [(x.element, x.dims, x.free, number, True)])
        if not x.is_float():  # operations on bits and those that wrap around go beyond the bound
            x = self.op("min", [x, spread(99)], {}, [(x.element, x.dims, x.free, 99, True)])
        limit = spread(100)
        mask = self.op("or", [self.op("gt", [x, limit], {}, flags), self.constant("i1", x.dims, truth or [False])], {},
                       flags)
        starts = self.constant(element, [len(starts)], starts or [0])
        self.op("places", [mask, starts], {"block": f"{block} : i64"},
                [(self.random.choice(("i32", "i64")), [sum(truth)], [None], max(x.dims[0], 1), True)])
        return True

    def suppress(self):
        x = self.pick(lambda v: v.dims and v.is_float() and not v.is_small() and v.exact and v.bound < 64 and
                      v.count() <= 4000)
        parts = [self.like(x) for _ in range(4)] if x else []
        if not x or not all(part.exact and part.bound < 64 for part in parts):
            return False
        other = self.like(x)
        mask = self.op("ge", [x, other if other.exact else x], {}, [("i1", x.dims, x.free, 1, True)])
        overlap = self.op("constant", [], {"value": f"dense<0.3> : tensor<{x.element}>"},
                          [(x.element, [], [], 1, False)])
        most = self.scalar(self.random.choice(("i32", "i64")), self.random.choice((0, 1, 3, 1000)))
        self.op("suppress", [x, mask, *parts, overlap, most], {},
                [(self.random.choice(("i32", "i64")), x.dims, x.free, max(x.dims[-1], 1), True)])
        return True

    def top_k(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and v.exact and v.count())
        axis = self.random.randrange(len(x.dims)) if x else 0
        if not x or x.free[axis]:
            return False
        k = self.random.randint(0 if self.chance(0.05) else 1, x.dims[axis])
        dims = list(x.dims)
        dims[axis] = k
        attributes = {"axis": f"{axis} : i64", "k": f"{k} : i64"}
        if self.chance(0.3):
            attributes["smallest"] = ""
        self.op("top_k", [x], attributes, [(x.element, dims, x.free, x.bound, True),
                                           (self.random.choice(("i32", "i64")), dims, x.free, x.dims[axis], True)])
        return True

    def window(self):
        x = self.pick(lambda v: 1 <= len(v.dims) <= 4 and v.element != "i1" and v.count())
        if not x:
            return False
        sizes, strides, dilations, bases, low, high, dims, free = ([] for _ in range(8))
        for size, where in zip(x.dims, x.free):
            taps = 1 if where else self.random.choice((1, 1, 2, 3))
            step = 1 if where else self.random.choice((1, 1, 2))
            dilation, base = (self.random.choice((1, 1, 1, 2)) if taps > 1 else 1), 1
            if not where and self.chance(0.1):
                base = 2
            reach = (taps - 1) * dilation
            before, after = (0, 0) if where else (self.random.randint(0, reach), self.random.randint(0, reach))
            room = (size - 1) * base + 1 + before + after - reach - 1
            if room < 0:
                return False
            for values, value in zip((sizes, strides, dilations, bases, low, high, dims, free),
                                     (taps, step, dilation, base, before, after, room // step + 1, where)):
                values.append(value)
        kind = self.random.choice(["add", "max", "min"] + ([] if x.is_float() else ["mul", "and", "or", "xor", "minu"]))
        bound = x.bound * count_of(sizes) if kind == "add" else 2 ** 62 if kind == "mul" else x.bound
        if not self.fits(x, bound, x.exact) or count_of(dims) > MOST_ELEMENTS or x.is_small() and kind != "add":
            return False
        if x.exact and x.is_float() and kind != "add" and max(bases) > 1:
            return False  # nothing but padding gives an infinity
        self.op("window", [x], {"kind": f'"{kind}"', "sizes": ints(sizes), "strides": ints(strides),
                                "dilations": ints(dilations), "base_dilations": ints(bases), "pad_low": ints(low),
                                "pad_high": ints(high)}, [(x.element, dims, free, bound, x.exact)])
        return True

    # Products

    def contract(self):
        a = self.pick(lambda v: 1 <= len(v.dims) <= 5 and v.element != "i1")
        if not a:
            return False
        rank = len(a.dims)
        order = list(range(rank))
        self.random.shuffle(order)
        summed = sorted(order[:self.random.choice((0, 1, 1, 1, 2))])
        batch = sorted(d for d in order if d not in summed and self.chance(0.3))
        if any(a.free[d] for d in summed + batch):
            return False
        columns = [self.size() for _ in range(self.random.choice((0, 1, 1, 2)))]
        parts = [(a.dims[d], "b", d) for d in batch] + [(a.dims[d], "k", d) for d in summed] + \
            [(size, "n", -1) for size in columns]
        self.random.shuffle(parts)
        k = count_of([a.dims[d] for d in summed])
        to, bound = accumulator(a.element), max(a.bound * 3 * max(k, 1), 1)
        free_a = [d for d in range(rank) if d not in summed + batch]
        dims = [a.dims[d] for d in batch] + [a.dims[d] for d in free_a] + [p[0] for p in parts if p[1] == "n"]
        if max(count_of(dims), count_of([p[0] for p in parts])) > MOST_ELEMENTS or len(dims) > 6:
            return False
        if a.is_float() and (bound > 2 ** 22 or not a.exact and bound > 1e5):
            return False
        b = self.add_source([p[0] for p in parts], a.element)
        where = {p[2]: i for i, p in enumerate(parts)}
        attributes = {"lhs_batch": ints(batch), "rhs_batch": ints([where[d] for d in batch]),
                      "lhs_contract": ints(summed), "rhs_contract": ints([where[d] for d in summed])}
        for side in ("unsigned_lhs", "unsigned_rhs"):
            if not a.is_float() and self.chance(0.2):
                attributes[side], bound = "", 2 ** 62
        self.op("contract", [a, b], attributes,
                [(to, dims, [None] * len(batch) + [a.free[d] for d in free_a] + [None] * len(columns), bound, a.exact)])
        return True

    def layout(self, letters, count):
        """Channels in front, at the end, or anywhere."""
        digits = "".join(str(i) for i in range(count))
        names = list(self.random.choice((letters + digits, letters[0] + digits + letters[1])))
        if self.chance(0.15):
            self.random.shuffle(names)
        return "".join(names)

    def conv(self):
        """Any rank, groups, dilations of either side, negative padding, sizes known at run time."""
        element = self.random.choice(self.elements)
        if element == "i1" or element not in ("f32", "f16", "bf16", "f64") and self.chance(0.6):
            return False
        count = self.random.choice((1, 2, 2, 2, 3))
        groups, batch_groups = self.random.choice((1, 1, 1, 2, 3)), 1
        inputs, outputs = groups * self.random.choice((1, 2, 5, 8, 16)), groups * self.random.choice((1, 2, 3, 7, 16))
        batch = self.random.choice((1, 1, 2, 3))
        if self.chance(0.25):  # depthwise
            groups = inputs = self.random.choice((3, 8, 17, 32))
            outputs = inputs * self.random.choice((1, 1, 2))
        elif groups == 1 and self.chance(0.07):
            batch_groups = 2
            batch, outputs = 2 * batch, 2 * outputs
        kernel = [self.random.choice((1, 2, 3, 3, 5)) for _ in range(count)]
        image = [self.random.choice((5, 7, 8, 14, 17) if count < 3 else (3, 4, 6)) for _ in range(count)]
        strides = [self.random.choice((1, 1, 2, 3)) for _ in range(count)]
        spread = [self.random.choice((1, 1, 2)) for _ in range(count)]
        dilated = [self.random.choice((2, 3)) if self.chance(0.15) else 1 for _ in range(count)]
        low, high = ([self.random.choice((0, 1, 2, -1 if self.chance(0.2) else 0)) for _ in range(count)]
                     for _ in range(2))
        out = [((image[i] - 1) * dilated[i] + low[i] + high[i] - (kernel[i] - 1) * spread[i]) // strides[i] + 1
               for i in range(count)]
        if min(out) < 1 or batch * outputs * count_of(out) > MOST_ELEMENTS:
            return False
        layouts = self.layout("nc", count), self.layout("oi", count)
        layouts += (layouts[0] if self.chance(0.8) else self.layout("nc", count),)
        named = [dict(zip("nc", (batch, inputs))), dict(zip("oi", (outputs, inputs // groups))),
                 dict(zip("nc", (batch // batch_groups, outputs)))]
        for names, sizes in zip(named, (image, kernel, out)):
            names.update({str(i): size for i, size in enumerate(sizes)})
        x_dims, w_dims, y_dims = ([names[c] for c in layout] for names, layout in zip(named, layouts))
        x = self.add_source(x_dims, element)
        if self.dynamic and batch_groups == 1 and x in self.arguments:
            x.free = [(x, i) if c != "c" and self.chance(0.4) else None for i, c in enumerate(layouts[0])]
        at = {c: where for c, where in zip(layouts[0], x.free)}
        free = [at["n"] if c == "n" else None if c == "c" else "own" if at[c] else None for c in layouts[2]]
        w = self.add_source(w_dims, element)
        self.op("conv", [x, w], {
            "x_layout": f'"{layouts[0]}"', "w_layout": f'"{layouts[1]}"', "y_layout": f'"{layouts[2]}"',
            "strides": ints(strides), "pad_low": ints(low), "pad_high": ints(high), "x_dilation": ints(dilated),
            "w_dilation": ints(spread), "groups": f"{groups} : i64", "batch_groups": f"{batch_groups} : i64"},
            [(accumulator(element), y_dims, free, 9 * count_of(kernel) * inputs // groups, True)])
        return True

    def attention(self):
        element = self.random.choice(("f32", "f32", "f16", "bf16", "f64"))
        batch = [self.random.choice((1, 2, 3)) for _ in range(self.random.choice((0, 1, 2)))]
        m, n, d, e = (self.random.choice((1, 3, 8, 16, 17, 33)) for _ in range(4))
        causal = self.chance(0.3)
        n = max(m, n) if causal else n
        operands = [self.add_source(batch + dims, element) for dims in ([m, d], [n, d], [n, e])]
        if self.chance(0.4):
            operands.append(self.add_source((batch if self.chance(0.5) else []) + [m, n], element))
        attributes = {"scale": self.random.choice(("0.25 : f64", "0.125 : f64"))} if self.chance(0.6) else {}
        attributes.update({"causal": ""} if causal else {})
        self.op("attention", operands, attributes, [(element, batch + [m, e], [None] * (len(batch) + 2), 6, False)])
        return True

    # Linear algebra

    def fft(self):
        x = self.pick(lambda v: v.element in ("f32", "f64") and v.dims and v.count() and v.count() <= 4000)
        if not x:
            return False
        rank = self.random.choice((0, 1, 1, min(2, len(x.dims))))
        y, points = self.like(x), count_of(x.dims[len(x.dims) - rank:])
        bound = 2 * max(x.bound, y.bound) * points
        if any(x.free[len(x.dims) - rank:]) or bound > 1e5:
            return False
        self.op("fft", [x, y], {"kind": self.random.choice(('"fft"', '"ifft"')), "rank": f"{rank} : i64"},
                [(x.element, x.dims, x.free, bound, x.exact and y.exact and not rank)] * 2)
        return True

    def triangle(self, n):
        """Of whole numbers, with 1 on the diagonal, as rows."""
        return [[1 if i == j else self.random.choice((-1, 0, 1)) if j < i else 0 for j in range(n)] for i in range(n)]

    def matrices(self, element, batch, rows):
        """One matrix of numbers, as often as `batch` says, that is not known before the program runs."""
        n = len(rows)
        matrix = self.constant(element, [n, n], [number for row in rows for number in row])
        matrix = self.op("broadcast", [matrix], {"dims": ints([len(batch), len(batch) + 1])},
                         [(element, batch + [n, n], [None] * (len(batch) + 2), matrix.bound, True)])
        zeros = self.constant(element, batch + [n, n], [0])
        nothing = self.op("mul", [self.like(matrix), zeros], {}, [(element, zeros.dims, zeros.free, 0, True)])
        return self.op("add", [matrix, nothing], {}, [(element, matrix.dims, matrix.free, matrix.bound, True)])

    def cholesky(self):
        element, n = self.random.choice(("f32", "f64")), self.random.choice((0, 1, 2, 3, 5, 8, 9))
        low = self.triangle(n)
        square = [[sum(a * b for a, b in zip(low[i], low[j])) for j in range(n)] for i in range(n)]
        matrix = self.matrices(element, [self.random.choice((1, 2, 5))] if self.chance(0.5) else [], square)
        self.op("cholesky", [matrix], {"lower": ""} if self.chance(0.5) else {},
                [(element, matrix.dims, matrix.free, 16, False)])
        return True

    def triangular_solve(self):
        element, n = self.random.choice(("f32", "f64")), self.random.choice((1, 2, 3, 5, 8))
        batch = [self.random.choice((1, 2, 5))] if self.chance(0.5) else []
        lower, left, rows = self.chance(0.5), self.chance(0.5), self.triangle(n)
        if not lower:
            rows = [[rows[j][i] for j in range(n)] for i in range(n)]
        others = self.random.choice((0, 1, 3, 17))
        matrix = self.matrices(element, batch, rows)
        right = self.add_source(batch + ([n, others] if left else [others, n]), element)
        attributes = {name: "" for name, yes in (("left", left), ("lower", lower), ("unit_diagonal", self.chance(0.5)),
                                                 ("transpose", self.chance(0.5))) if yes}
        self.op("triangular_solve", [matrix, right], attributes, [(element, right.dims, right.free, 3 * 2 ** n, True)])
        return True
