"""Scalar functions on tensors, constants and numbers of the host. Each method returns False where it does not fit."""

from program import FLOATS, INTEGERS, MOST_ELEMENTS, SMALL_FLOATS, SMALL_INTEGERS, Builder, ints, width

EXACT = ("floor", "ceil", "trunc", "round", "roundeven")
TAME = ("tanh", "logistic", "erf", "sin", "cos", "atan", "erfc")  # errors do not grow in these
# Of small whole numbers: how large they may be, and how large the result is.
WILD = {"exp": (6, 404), "exp2": (6, 64), "expm1": (6, 404), "log": (1e4, 10), "log2": (1e4, 14), "log10": (1e4, 4),
        "log1p": (1e4, 10), "sqrt": (1e4, 100), "rsqrt": (1e4, 1), "cbrt": (1e4, 22), "tan": (3, 3), "asin": (1e4, 2),
        "acos": (1e4, 4), "sinh": (6, 202), "cosh": (6, 202), "asinh": (1e4, 10), "acosh": (1e4, 10), "atanh": (1e4, 1)}


class Elements(Builder):
    def unary(self):
        x = self.pick(lambda v: v.element != "i1")
        if not x:
            return False
        names = ["neg", "abs"] + (["sign"] if x.exact else [])
        if not x.is_float():
            names += ["not", "popcnt", "clz", "ctz"]
        elif x.exact:
            names += EXACT
        if x.is_float() and not x.is_small():
            names += TAME + (tuple(WILD) if x.exact else ())
        name = self.random.choice(names)
        rounds = name in TAME or name in WILD
        bound = 2 if name in TAME or name == "sign" else x.bound + (not x.is_float())
        if name in ("sin", "cos") and x.bound > 1000:
            return False
        if name in WILD:
            most, bound = WILD[name]
            if x.bound > most:
                return False
        if name in ("popcnt", "clz", "ctz"):
            bound = 64
        self.op(name, [x], {}, [(x.element, x.dims, x.free, max(bound, 1) if x.exact else max(bound, x.bound),
                                 x.exact and not rounds)])
        return True

    def negate_flags(self):
        x = self.pick(lambda v: v.element == "i1")
        if not x:
            return False
        self.op(*self.random.choice([("not", [x]), ("and", [x, self.like(x)]), ("or", [x, self.like(x)]),
                                     ("xor", [x, self.like(x)])]), {}, [("i1", x.dims, x.free, 1, True)])
        return True

    def binary(self):
        x = self.pick(lambda v: v.element != "i1")
        if not x:
            return False
        y = self.like(x)
        names = ["add", "sub", "min", "max", "mul"]
        if not x.is_float():
            names += ["and", "or", "xor", "div", "rem", "shl", "shr", "minu", "maxu", "divu", "remu", "shru", "pow"]
        elif x.exact and y.exact:
            names += ["minnum", "maxnum", "rem"]
            names += [] if x.is_small() else ["div", "atan2", "copysign", "pow"]
        name = self.random.choice(names)
        bound = x.bound * y.bound if name == "mul" else x.bound + y.bound
        # The rest of a division by zero is a NaN, whose sign is anybody's and shows when its bits are taken.
        exact = x.exact and y.exact and (not x.is_float() or name not in ("div", "rem", "atan2", "pow"))
        if name == "pow" and x.is_float():
            if x.bound > 4 or y.bound > 4:
                return False
            bound = 256
        if not self.fits(x, bound, exact):
            return False
        self.op(name, [x, y], {}, [(x.element, x.dims, x.free, max(bound, 1), exact)])
        return True

    def multiply_add(self):
        x = self.pick(lambda v: v.exact and v.element != "i1")
        if not x:
            return False
        y, z = self.like(x), self.like(x)
        if not x.is_float():
            bound = 8 * 255 * 128 + z.bound
            self.op("dot_bytes", [x, y, z], {}, [(x.element, x.dims, x.free, bound, True)])
            return True
        bound = x.bound * y.bound + z.bound
        if not (y.exact and z.exact and self.fits(x, bound)):
            return False
        self.op("fma", [x, y, z], {}, [(x.element, x.dims, x.free, max(bound, 1), True)])
        return True

    def byte_products(self):
        x = self.pick(lambda v: not v.is_float() and not v.is_small() and v.element != "i1")
        if not x:
            return False
        self.op("dot_bytes", [x, self.like(x), self.like(x)], {}, [(x.element, x.dims, x.free, 2 ** 62, True)])
        return True

    def compare(self):
        x = self.pick(lambda v: v.exact)
        if not x:
            return False
        y = self.like(x)
        if not y.exact:
            return False
        names = ["eq", "ne", "lt", "le", "gt", "ge"] + ([] if x.is_float() else ["ltu", "leu", "gtu", "geu"])
        test = self.op(self.random.choice(names), [x, y], {}, [("i1", x.dims, x.free, 1, True)])
        if self.chance(0.8):
            self.op("select", [test, x, y], {}, [(x.element, x.dims, x.free, max(x.bound, y.bound), True)])
        return True

    def classify(self):
        x = self.pick(lambda v: v.is_float() and not v.is_small() and v.bound < 1e4)
        if not x:
            return False
        self.op(self.random.choice(("is_nan", "is_inf", "is_finite")), [x], {}, [("i1", x.dims, x.free, 1, True)])
        return True

    def cast(self):
        x = self.pick(lambda v: v.exact)
        to = self.random.choice(list(FLOATS) + list(INTEGERS) + list(SMALL_INTEGERS) + ["f32", "i32", "i8"])
        if not x or to == x.element or to in SMALL_FLOATS and self.chance(0.6):
            return False
        wide = FLOATS[to] if to in FLOATS else 2 ** (width(to) - 1) - 1
        whole = not x.is_float() and x.element != "i1"
        name, bound = "cast", x.bound
        if whole and self.chance(0.3):
            name, bound = "castu", 2 ** width(x.element)
        source_wraps = whole and bound >= 2 ** (width(x.element) - 1)
        if to in FLOATS and (bound > wide or source_wraps and bound > FLOATS[to]):
            return False
        if to not in FLOATS and bound > wide and x.is_float():
            return False
        self.op(name, [x], {}, [(to, x.dims, x.free, bound, True)])
        return True

    def bitcast(self):
        to = {"f32": "i32", "f64": "i64", "f16": "i16", "bf16": "i16", "f8E5M2": "i8", "f8E4M3FN": "i8"}
        x = self.pick(lambda v: v.element in to and v.exact)
        if not x:
            return False
        self.op("bitcast", [x], {}, [(to[x.element], x.dims, x.free, 2 ** 62, True)])
        return True

    def iota(self):
        x = self.pick(lambda v: v.dims and v.element != "i1" and max(v.dims) < 100)
        if not x or max(x.dims) > x.limit():
            return False
        axis = self.random.randrange(len(x.dims))
        self.op("iota", [], {"axis": f"{axis} : i64"}, [(x.element, x.dims, x.free, max(x.dims), True)],
                self.sizes(x.free))
        return True

    def numbers(self):
        """A constant: one number, perhaps very often, or many."""
        element = self.random.choice(self.elements)
        most = 1 if element == "i1" else 3
        if self.chance(0.2):
            dims = [self.random.choice((1000, 1 << 20)), self.random.choice((1, 2))]
            large = self.constant(element, dims, [self.random.randint(0, most)])
            self.values.pop()
            self.op("slice", [large], {"offsets": ints([dims[0] - 9, 0]), "strides": ints([2, 1])},
                    [(element, [5, dims[1]], [None, None], most, True)])
            return True
        dims = self.shape()
        if self.chance(0.5) or max(dims + [0]) > 300 or dims.count(0):
            self.constant(element, dims, [self.random.randint(0, most)])
        else:
            while len(dims) and dims[0] * max(1, len(dims)) > 300:
                dims.pop()
            total = 1
            for size in dims:
                total *= size
            if total > 300:
                return False
            self.constant(element, dims, [self.random.randint(-most if most > 1 else 0, most) for _ in range(total)])
        return True

    def run_time_number(self):
        """A size as data."""
        x = self.pick(lambda v: v.dims and 100 >= max(v.dims))
        if not x:
            return False
        number = self.dim((x, self.random.randrange(len(x.dims))))
        name = self.line(f'"graph.to_tensor"({number}) : (index)', "tensor<index>")
        to = self.random.choice(("i32", "i64", "f32"))
        result = self.line(f'"graph.cast"({name}) : (tensor<index>)', f"tensor<{to}>")
        from program import Value  # pylint: disable=import-outside-toplevel
        self.values.append(Value(result, to, [], [], 100))
        return True

    def flag(self):
        """tensor<i1> from data."""
        x = self.pick(lambda v: v.exact and v.element != "i1")
        if not x:
            return None
        y = self.like(x)
        test = self.op(self.random.choice(("lt", "gt", "eq")), [x, y if y.exact else x], {},
                       [("i1", x.dims, x.free, 1, True)])
        return self.op("reduce", [test], {"dims": ints(range(len(x.dims))), "kind": self.random.choice(('"and"', '"or"'))},
                       [("i1", [], [], 1, True)])

    def data_index(self, most):
        """An index from data, which may be outside of [0, most]."""
        source = self.add_argument([], self.random.choice(("i32", "i64")))
        if self.chance(0.3):
            return self.index(self.random.randint(0, most + 2))
        name = self.line(f'"graph.cast"({source.name}) : ({source.type()})', "tensor<index>")
        return self.line(f'"graph.to_scalar"({name}) : (tensor<index>)', "index")

    def many_operands(self):
        """Hundreds of one value, or of a few."""
        x = self.pick(lambda v: v.dims and v.is_static() and v.count() <= 60)
        if not x or x.dims[0] < 1:
            return False
        parts = [x, self.like(x), self.like(x)]
        count = min(self.random.choice((20, 70, 300)), MOST_ELEMENTS // max(x.count(), 1))
        operands = [self.random.choice(parts) for _ in range(count)]
        self.op("concat", operands, {"axis": "0 : i64"},
                [(x.element, [x.dims[0] * count] + x.dims[1:], x.free, max(p.bound for p in parts),
                  all(p.exact for p in parts))])
        return True
