"""Index maps, gathers and scatters. Each method returns False where it does not fit."""

from program import MOST_ELEMENTS, MOST_RANK, Builder, count_of, ints


class Moves(Builder):
    def moved(self, name, x, attributes, dims, free=None, extra=(), bound=None):
        """An op on x alone whose result is of these sizes."""
        self.op(name, [x], attributes, [(x.element, dims, free or [None] * len(dims), bound or x.bound, x.exact)], extra)
        return True

    def reshape(self):
        x = self.pick(lambda v: v.is_static())
        if not x:
            return False
        total, dims = x.count(), []
        for _ in range(self.random.choice((0, 1, 1, 2, 3, MOST_RANK - 1))):
            factors = [f for f in range(1, min(total, 70) + 1) if total % f == 0] or [0]
            dims.append(self.random.choice(factors))
            total = total // dims[-1] if dims[-1] else 0
        dims.append(total)
        self.random.shuffle(dims)
        return self.moved("reshape", x, {}, dims)

    def reshape_open(self):
        """A dimension known at run time stays, those around it are split and joined."""
        x = self.pick(lambda v: len(v.dims) in (2, 3) and v.free.count(None) == len(v.dims) - 1 and v.count())
        if not x:
            return False
        at = next(i for i, where in enumerate(x.free) if where)
        before, after = count_of(x.dims[:at]), count_of(x.dims[at + 1:])
        parts = [f for f in (2, 3, 4, 8) if after % f == 0]
        tail = [self.random.choice(parts), 0] if parts else [after]
        if parts:
            tail[1] = after // tail[0]
        dims = [before, x.dims[at]] + tail
        free = [None, x.free[at]] + [None] * len(tail)
        return self.moved("reshape", x, {}, dims, free, self.sizes(free))

    def transpose(self):
        x = self.pick(lambda v: len(v.dims) > 1)
        if not x:
            return False
        perm = list(range(len(x.dims)))
        self.random.shuffle(perm)
        return self.moved("transpose", x, {"perm": ints(perm)}, [x.dims[p] for p in perm], [x.free[p] for p in perm])

    def broadcast(self):
        x = self.pick(lambda v: len(v.dims) < MOST_RANK - 1 and v.count() < 500)
        if not x:
            return False
        rank = self.random.randint(len(x.dims), min(len(x.dims) + 2, MOST_RANK))
        places = sorted(self.random.sample(range(rank), len(x.dims)))
        dims, free = [self.random.choice((1, 2, 3, 17)) for _ in range(rank)], [None] * rank
        for place, size, where in zip(places, x.dims, x.free):
            if size != 1 or where:
                dims[place], free[place] = size, where
        if count_of(dims) > MOST_ELEMENTS:
            return False
        if self.chance(0.3):  # in another order
            order = list(range(len(places)))
            self.random.shuffle(order)
            if all(x.dims[i] == x.dims[j] and x.free[i] == x.free[j] for i, j in enumerate(order)):
                places = [places[i] for i in order]
        return self.moved("broadcast", x, {"dims": ints(places)}, dims, free, self.sizes(free))

    def reverse(self):
        x = self.pick(lambda v: v.dims)
        if not x:
            return False
        dims = [i for i in range(len(x.dims)) if self.chance(0.5)]
        return self.moved("reverse", x, {"dims": ints(dims)}, x.dims, x.free)

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
        return self.moved("slice", x, {"offsets": ints(offsets), "strides": ints(strides)}, dims, x.free,
                          self.sizes(x.free))

    def pad(self):
        x = self.pick(lambda v: v.dims and v.is_static())
        if not x:
            return False
        mode = self.random.choice(("constant", "constant", "reflect", "edge", "wrap"))
        fills = mode == "constant"
        low = [self.random.choice((0, 0, 1, 2, -1 if fills else 3)) for _ in x.dims]
        high = [self.random.choice((0, 0, 1, 3, -1 if fills else 5)) for _ in x.dims]
        interior = [self.random.choice((0, 0, 0, 1)) if fills else 0 for _ in x.dims]
        dims = [max(size + max(size - 1, 0) * i, 0) + a + b for size, a, b, i in zip(x.dims, low, high, interior)]
        if min(dims) < 0 or count_of(dims) > MOST_ELEMENTS or not fills and not x.count():
            return False
        if any(a + size < 0 or b + size < 0 for a, b, size in zip(low, high, x.dims)):
            return False
        value = self.scalar(x.element, self.random.randint(0 if x.element == "i1" else -2, 1 if x.element == "i1" else 2))
        self.op("pad", [x, value], {"low": ints(low), "high": ints(high), "interior": ints(interior),
                                    "mode": f'"{mode}"'},
                [(x.element, dims, x.free, max(x.bound, 2), x.exact)])
        return True

    def concat(self):
        x = self.pick(lambda v: v.dims)
        if not x:
            return False
        axis = self.random.randrange(len(x.dims))
        same = [v for v in self.values if v.element == x.element and len(v.dims) == len(x.dims) and not v.free[axis] and
                all(i == axis or (v.dims[i], v.free[i]) == (x.dims[i], x.free[i]) for i in range(len(x.dims)))]
        if x.free[axis]:
            return False
        parts = [x, self.like(x)] if self.chance(0.6) else [x] + [self.random.choice(same) for _ in range(2)]
        dims = list(x.dims)
        dims[axis] = sum(p.dims[axis] for p in parts)
        if count_of(dims) > MOST_ELEMENTS:
            return False
        self.op("concat", parts, {"axis": f"{axis} : i64"},
                [(x.element, dims, x.free, max(p.bound for p in parts), all(p.exact for p in parts))])
        return True

    def tiles(self):
        """Into tiles, and perhaps back."""
        x = self.pick(lambda v: 1 <= len(v.dims) <= 5 and v.is_static() and v.element != "i1")
        if not x:
            return False
        axes = self.random.sample(range(len(x.dims)), self.random.randint(1, min(2, len(x.dims))))
        sizes = [self.random.choice((1, 2, 3, 4, 8, 16)) for _ in axes]
        dims = list(x.dims)
        for axis, tile in zip(axes, sizes):
            dims[axis] = (dims[axis] + tile - 1) // tile
        dims += sizes
        if count_of(dims) > MOST_ELEMENTS:
            return False
        attributes = {"axes": ints(axes), "tiles": ints(sizes)}
        self.moved("pack", x, attributes, dims)
        if self.chance(0.6):
            self.moved("unpack", self.values[-1], attributes, x.dims)
        return True

    def dynamic_slice(self):
        x = self.pick(lambda v: v.dims and v.count() and len(v.dims) <= 4)
        if not x:
            return False
        dims = [size if free else self.random.randint(1, size) for size, free in zip(x.dims, x.free)]
        starts = [self.data_index(size - part) for size, part in zip(x.dims, dims)]
        return self.moved("dynamic_slice", x, {}, dims, x.free, starts + self.sizes(x.free))

    def dynamic_update(self):
        x = self.pick(lambda v: v.dims and v.count() and len(v.dims) <= 4)
        if not x:
            return False
        dims = [1 if free else self.random.randint(1, size) for size, free in zip(x.dims, x.free)]
        update = self.add_source(dims, x.element)
        starts = [self.data_index(size - part) for size, part in zip(x.dims, dims)]
        self.op("dynamic_update", [x, update], {}, [(x.element, x.dims, x.free, max(x.bound, 3), x.exact)], starts)
        return True

    # Gather and scatter

    def dimension_lists(self, x, windows):
        """How index vectors address x: (batch dims, indexed dims, window sizes, indices' sizes, index_vector_dim)."""
        dims = list(range(len(x.dims)))
        self.random.shuffle(dims)
        batch = sorted(dims[:1]) if len(dims) > 1 and self.chance(0.3) else []
        indexed = [d for d in dims if d not in batch][:self.random.choice((1, 1, 2))]
        sizes = [1 if d in batch else self.random.randint(1, x.dims[d]) if d in indexed and self.chance(windows) else
                 1 if d in indexed else x.dims[d] for d in range(len(x.dims))]
        shape = [x.dims[d] for d in batch] + [self.random.choice((0, 1, 3, 8, 17)) if self.chance(0.9) else 40]
        place = len(shape)
        if len(indexed) > 1 or self.chance(0.3):
            place = self.random.randint(0, len(shape))
        implicit = len(indexed) == 1 and place == len(shape) and self.chance(0.5)
        full = shape if implicit else shape[:place] + [len(indexed)] + shape[place:]
        indices_batch = [d + (not implicit and d >= place) for d in range(len(batch))]
        return batch, indexed, sizes, shape, full, place, indices_batch

    def places(self, x, chance, flat):
        """Where slices go: dims of theirs that the result lacks, its others, its sizes; then of the indices.

        The dims that are taken at one place only are left out with the probability `flat`.
        """
        batch, indexed, sizes, shape, full, place, indices_batch = self.dimension_lists(x, chance)
        absent = sorted(d for d in indexed if sizes[d] == 1 and self.chance(flat))
        window = [sizes[d] for d in range(len(x.dims)) if d not in absent and d not in batch]
        rank = len(window) + len(shape)
        places = sorted(self.random.sample(range(rank), len(window)))
        rest, parts = iter(shape), iter(window)
        dims = [next(parts) if i in places else next(rest) for i in range(rank)]
        attributes = {"operand_batch_dims": ints(batch), "indices_batch_dims": ints(indices_batch),
                      "index_vector_dim": f"{place} : i64"}
        return absent, places, indexed, sizes, dims, (full, count_of(shape)), attributes

    def gather(self):
        """At indices that may be outside."""
        x = self.pick(lambda v: 1 <= len(v.dims) <= 5 and v.count() and v.is_static())
        if not x:
            return False
        collapsed, offsets, indexed, sizes, dims, (full, _), attributes = self.places(x, 0.4, 0.7)
        rank = len(dims)
        if count_of(dims) > MOST_ELEMENTS or rank > MOST_RANK:
            return False
        attributes |= {"offset_dims": ints(offsets), "collapsed_dims": ints(collapsed),
                       "start_index_map": ints(indexed), "slice_sizes": ints(sizes)}
        if self.chance(0.3):
            attributes["wrap"] = ""
        index = self.add_argument(full, self.random.choice(("i8", "i32", "i64")))
        self.op("gather", [x, index], attributes, [(x.element, dims, [None] * rank, x.bound, x.exact)])
        return True

    def scatter_plan(self, x):
        """Attributes, indices' and updates' sizes."""
        inserted, places, indexed, _, updates, (full, count), attributes = self.places(x, 0.3, 0.8)
        attributes |= {"update_window_dims": ints(places), "inserted_dims": ints(inserted),
                       "scatter_dims_map": ints(indexed)}
        if self.chance(0.3):
            attributes["wrap"] = ""
        fits = count_of(updates) <= 3000 and len(updates) <= MOST_RANK
        return (attributes, full, updates, count) if fits else None

    def scatter(self):
        x = self.pick(lambda v: 1 <= len(v.dims) <= 4 and v.count() and v.is_static() and v.element != "i1")
        plan = self.scatter_plan(x) if x else None
        if not plan:
            return False
        attributes, full, dims, count = plan
        kinds = ["add", "max", "min", "set"] + ([] if x.is_float() else ["mul", "minu", "maxu", "and", "or", "xor"])
        kind = self.random.choice(kinds)
        bound = x.bound + 3 * count if kind == "add" else max(x.bound, 3) if kind != "mul" else 2 ** 62
        if not self.fits(x, bound, x.exact):
            return False
        index, updates = self.add_argument(full, self.random.choice(("i32", "i64"))), self.add_source(dims, x.element)
        self.op("scatter", [x, index, updates], {**attributes, "kind": f'"{kind}"'},
                [(x.element, x.dims, x.free, bound, x.exact)])
        return True

    def scatter_generic(self):
        """Two operands at once; what a place gets does not depend on the order."""
        x = self.pick(lambda v: 1 <= len(v.dims) <= 3 and v.count() and v.is_static() and v.element == "i32")
        plan = self.scatter_plan(x) if x else None
        if not plan:
            return False
        attributes, full, dims, _ = plan
        y = self.like(x)
        index, first, second = self.add_argument(full, "i32"), self.add_source(dims, "i32"), self.add_source(dims, "i32")

        def body(a, b, c, d):
            sum_of = self.op("add", [a, c], {}, [("i32", [], [], 2 ** 62, True)])
            return [sum_of, self.op("max", [b, d], {}, [("i32", [], [], 2 ** 62, True)])]

        block = self.scalar_block(["i32"] * 4, [3] * 4, body)
        self.op("scatter_generic", [x, y, index, first, second], attributes,
                [("i32", x.dims, x.free, 2 ** 62, True)] * 2, regions=f" ({block})")
        return True
