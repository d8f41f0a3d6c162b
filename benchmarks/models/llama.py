"""A stack of decoder blocks after Llama: RMSNorm, rotary positions, grouped-query attention and SwiGLU, with its keys
and values in globals, as exporters of PyTorch write such programs.

Functions of the module:

    prefill(tokens: ?xi64) -> 1xVOCABULARY    what comes after all of them; they follow what was there before
    decode(token: 1xi64) -> 1xVOCABULARY      the same for one more
    decode_at(token: 1xi64, past: index)      the same behind so many positions of whatever there is, for measuring
        -> 1xVOCABULARY
    reset()                                   an empty past
    follow(tokens: ?xi64, first: index)       reset, prefill with the first tokens, decode with each other one: all that
        -> ?xVOCABULARY                       these gave, a row each

    .venv/bin/python benchmarks/models/llama.py --preset small --weights f16 -o DIR

Weights are f32, f16 or bf16, or of 4 bits in blocks of 32 with a scale each: as `linalg` spells them out (blocks), as
StableHLO does (stablehlo), or as ONNX Runtime's MatMulNBits (nbits); what is between is f32 then, else as the weights.
They are random with a fixed seed, and lie in the program, or in an archive (--archive) for --parameters=model=FILE,
which is how a large one is made where it runs.
"""

import argparse
import dataclasses
import json
import pathlib
import struct

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.uint8}
FORMS = ("f32", "f16", "bf16", "blocks", "stablehlo", "nbits")
BLOCK = 32  # of 4-bit weights that share a scale
ZERO = 8
EPSILON = 1e-5
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of a stack. `room`: positions that the past has memory for."""
    layers: int
    width: int
    heads: int
    groups: int
    head: int
    hidden: int
    vocabulary: int
    room: int


PRESETS = {
    "tiny": Shape(2, 64, 4, 2, 16, 96, 80, 32),
    "small": Shape(4, 256, 8, 2, 32, 704, 512, 256),
    "medium": Shape(8, 1024, 16, 4, 64, 2816, 8192, 1024),
    "3.5GB": Shape(32, 2048, 32, 8, 64, 6528, 32000, 4096),  # 3.5e9 bytes in f16
}


@dataclasses.dataclass
class Value:
    """A tensor of the program: its name, sizes (numbers, or names of index values) and element type."""
    name: str
    dims: tuple
    kind: str

    @property
    def type(self):
        return "tensor<" + "".join(f"{d if isinstance(d, int) else '?'}x" for d in self.dims) + f"{self.kind}>"


def unpacked(q):
    """Two numbers of each byte, the lower half first."""
    return np.stack([q & 15, q >> 4], -1).reshape(*q.shape[:-1], -1)


class Weights:
    """Random ones by name, made when they are asked for, so that a large stack is never in memory at once."""

    def __init__(self, shape, form):
        self.shape, self.form = shape, form
        self.kind = form if form in ("f32", "f16", "bf16") else "f32"
        s = shape
        self.rows = {"embedding": (s.vocabulary, s.width), "logits": (s.vocabulary, s.width), "norm": (s.width,)}
        for i in range(s.layers):
            self.rows |= {f"{i}.norm1": (s.width,), f"{i}.norm2": (s.width,),
                          f"{i}.q": (s.heads * s.head, s.width), f"{i}.k": (s.groups * s.head, s.width),
                          f"{i}.v": (s.groups * s.head, s.width), f"{i}.o": (s.width, s.heads * s.head),
                          f"{i}.gate": (s.hidden, s.width), f"{i}.up": (s.hidden, s.width),
                          f"{i}.down": (s.width, s.hidden)}

    def is_packed(self, name):
        return self.form not in TYPES and len(self.rows[name]) == 2 and name != "embedding"

    def make(self, name):
        """The weight as it is multiplied with."""
        random = np.random.default_rng([17, *name.encode()])
        shape = self.rows[name]
        if len(shape) == 1:
            return (1 + 0.1 * random.standard_normal(shape, dtype=np.float32)).astype(TYPES[self.kind])
        scale = 1.0 if name == "embedding" else shape[1]**-0.5
        return (random.standard_normal(shape, dtype=np.float32) * np.float32(scale)).astype(TYPES[self.kind])

    def pack(self, name):
        """Numbers of 4 bits, two in a byte, [rows, blocks, 16], and the scales, [rows, blocks]."""
        w = self.make(name).astype(np.float32).reshape(self.rows[name][0], -1, BLOCK)
        scales = np.maximum(np.abs(w).max(-1) / 7, 1e-8).astype(np.float32)
        q = np.clip(np.round(w / scales[..., None]) + ZERO, 0, 15).astype(np.uint8)
        return q[..., 0::2] | q[..., 1::2] << 4, scales

    def value(self, name):
        """The weight as f32, for a reference."""
        if not self.is_packed(name):
            return self.make(name).astype(np.float32)
        packed, scales = self.pack(name)
        return ((unpacked(packed).astype(np.float32) - ZERO) * scales[..., None]).reshape(self.rows[name])

    def tensors(self):
        """All as they are stored: name, type of the elements, sizes, and what makes the array."""
        for name, shape in self.rows.items():
            if not self.is_packed(name):
                yield name, self.kind, shape, lambda name=name: self.make(name)
                continue
            blocks = shape[1] // BLOCK
            sizes = (shape[0], blocks, BLOCK // 2) if self.form == "nbits" else (shape[0], blocks, BLOCK)
            yield f"{name}.q", "i8" if self.form == "nbits" else "i4", sizes, lambda name=name: self.pack(name)[0]
            scales = (shape[0] * blocks,) if self.form == "nbits" else (shape[0], blocks)
            yield f"{name}.s", "f32", scales, lambda name=name: self.pack(name)[1]


class Program:
    """The text of the module."""

    def __init__(self, shape, weights, archive):
        self.shape, self.weights, self.kind = shape, weights, weights.kind
        self.globals, self.lines, self.count = [], [], 0
        self.stored, self.helpers = {}, {}
        for name, kind, sizes, make in weights.tensors():
            value = Value("@" + ("layer" if name[0].isdigit() else "") + name.replace(".", "_"), sizes, kind)
            self.stored[name] = value
            if archive:
                initial = f'#flow.parameter.named<"model"::"{name}">'
            else:
                data = make()
                data = unpacked(data) if kind == "i4" else data  # a byte each in a program's text
                initial = f'dense<"0x{data.tobytes().hex().upper()}">'
            self.globals.append(f'util.global private {value.name} = {initial} : {value.type}')

    # One op each ---------------------------------------------------------------------------------------------------

    def emit(self, text):
        self.lines.append("    " + text)

    def op(self, text, dims, kind):
        self.count += 1
        value = Value(f"%{self.count}", dims, kind)
        self.emit(f"{value.name} = {text}")
        return value

    def number(self, text):
        return self.op(text, (), "index").name

    def empty(self, dims, kind):
        type_ = Value("", dims, kind).type
        sizes = ", ".join(d for d in dims if not isinstance(d, int))
        value = self.op(f"tensor.empty({sizes}) : {type_}", dims, kind)
        return f"{value.name} : {type_}"

    def start(self, number, dims, kind):
        """What a sum or maximum starts with."""
        first = self.op(f"arith.constant {number} : {kind}", (), kind).name
        out, type_ = self.empty(dims, kind), Value("", dims, kind).type
        return self.op(f"linalg.fill ins({first} : {kind}) outs({out}) -> {type_}", dims, kind)

    def generic(self, spec, inputs, kind, body, start=None):
        """spec as of numpy.einsum. body: lines with $0, $1 for elements, $o for the out's; the last one is yielded."""
        left, right = spec.split("->")
        ins, loops = left.split(","), "".join(dict.fromkeys(right + left.replace(",", "")))
        sizes = {letter: d for word, x in zip(ins, inputs) for letter, d in zip(word, x.dims) if d != 1}
        dims = tuple(sizes.get(letter, 1) for letter in right)
        out = self.start(start, dims, kind) if start else None
        outs = f"{out.name} : {out.type}" if out else self.empty(dims, kind)
        names = ", ".join(f"d{i}" for i in range(len(loops)))
        maps = []
        for word, x in zip([*ins, right], [*inputs, None]):
            places = ["0" if x and x.dims[i] == 1 and sizes.get(c, 1) != 1 else f"d{loops.index(c)}"
                      for i, c in enumerate(word)]
            maps.append(f"affine_map<({names}) -> ({', '.join(places)})>")
        kinds = ", ".join('"parallel"' if c in right else '"reduction"' for c in loops)
        arguments = [f"%e{i}: {x.kind}" for i, x in enumerate(inputs)] + [f"%o: {kind}"]
        operands = f"ins({', '.join(x.name for x in inputs)} : {', '.join(x.type for x in inputs)}) " if inputs else ""
        type_ = Value("", dims, kind).type
        value = self.op(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
                        f"{operands}outs({outs}) {{", dims, kind)
        self.emit(f"^bb0({', '.join(arguments)}):")
        for i, line in enumerate(body):
            self.emit(f"  %t{i} = " + line.replace("$", "%e").replace("%eo", "%o").replace("@", "%t"))
        self.emit(f"  linalg.yield %t{len(body) - 1} : {kind}")
        self.emit(f"}} -> {type_}")
        return value

    # Elements ------------------------------------------------------------------------------------------------------

    def cast(self, x, kind):
        if x.kind == kind:
            return x
        letters = LETTERS[:len(x.dims)]
        name = "extf" if kind == "f32" else "truncf"
        return self.generic(f"{letters}->{letters}", [x], kind, [f"arith.{name} $0 : {x.kind} to {kind}"])

    def binary(self, spec, name, x, y):
        return self.generic(spec, [x, y], x.kind, [f"arith.{name} $0, $1 : {x.kind}"])

    def product(self, spec, x, y):
        """Sums of products in f32, of what both are."""
        wide = [f"arith.extf ${i} : {x.kind} to f32" for i in range(2)]
        if x.kind == "f32":
            return self.generic(spec, [x, y], "f32", ["arith.mulf $0, $1 : f32", "arith.addf $o, @0 : f32"], "0.0")
        return self.generic(spec, [x, y], "f32", [*wide, "arith.mulf @0, @1 : f32", "arith.addf $o, @2 : f32"], "0.0")

    def load(self, name):
        value = self.stored[name]
        return self.op(f"util.global.load {value.name} : {value.type}", value.dims, value.kind)

    def reshape(self, x, groups, dims):
        """Dimensions grouped by tensor.expand_shape (more of them) or collapse_shape."""
        result = Value("", dims, x.kind)
        text = str(groups)
        if len(dims) > len(x.dims):
            sizes = ", ".join(str(d) for d in dims)
            return self.op(f"tensor.expand_shape {x.name} {text} output_shape [{sizes}] : {x.type} into {result.type}",
                           dims, x.kind)
        return self.op(f"tensor.collapse_shape {x.name} {text} : {x.type} into {result.type}", dims, x.kind)

    def part(self, x, offsets, sizes):
        ones = ", ".join("1" for _ in sizes)
        result = Value("", tuple(sizes), x.kind)
        return self.op(f"tensor.extract_slice {x.name}[{', '.join(map(str, offsets))}] [{', '.join(map(str, sizes))}] "
                       f"[{ones}] : {x.type} to {result.type}", tuple(sizes), x.kind)

    # Layers --------------------------------------------------------------------------------------------------------

    def linear(self, x, name):
        """x w^T: [t, in] to [t, out]."""
        if not self.weights.is_packed(name):
            return self.cast(self.product("tk,nk->tn", x, self.load(name)), self.kind)
        return getattr(self, f"linear_{self.weights.form}")(x, self.load(f"{name}.q"), self.load(f"{name}.s"))

    def linear_blocks(self, x, q, scales):
        w = self.generic("nbi,nb->nbi", [q, scales], "f32",
                         ["arith.extui $0 : i4 to i32", "arith.uitofp @0 : i32 to f32",
                          f"arith.constant {ZERO}.0 : f32", "arith.subf @1, @2 : f32", "arith.mulf @3, $1 : f32"])
        x = self.reshape(x, [[0], [1, 2]], (x.dims[0], q.dims[1], BLOCK))
        return self.product("tbi,nbi->tn", x, w)

    def linear_stablehlo(self, x, q, scales):
        wide, flat = Value("", q.dims, "f32").type, Value("", (q.dims[0], q.dims[1] * BLOCK), "f32")
        bytes_ = self.op(f"tensor.bitcast {q.name} : {q.type} to {Value('', q.dims, 'ui4').type}", q.dims, "ui4")
        w = self.op(f"stablehlo.convert {bytes_.name} : ({bytes_.type}) -> {wide}", q.dims, "f32")
        zero = self.op(f"stablehlo.constant dense<{ZERO}.0> : {wide}", q.dims, "f32")
        w = self.op(f"stablehlo.subtract {w.name}, {zero.name} : {wide}", q.dims, "f32")
        s = self.op(f"stablehlo.broadcast_in_dim {scales.name}, dims = [0, 1] : ({scales.type}) -> {wide}", q.dims,
                    "f32")
        w = self.op(f"stablehlo.multiply {w.name}, {s.name} : {wide}", q.dims, "f32")
        w = self.op(f"stablehlo.reshape {w.name} : ({wide}) -> {flat.type}", flat.dims, "f32")
        result = Value("", (x.dims[0], q.dims[0]), "f32")
        return self.op(f"stablehlo.dot_general {x.name}, {w.name}, contracting_dims = [1] x [1] : ({x.type}, {w.type}) "
                       f"-> {result.type}", result.dims, "f32")

    def linear_nbits(self, x, q, scales):
        """By a function of its own, as ONNX's operators are over torch's tensors."""
        def torch(value, tokens="?"):
            sizes = ",".join(str(d) for d in (tokens, *value.dims[1:]))
            return f"!torch.vtensor<[{sizes}],{value.kind.replace('i8', 'ui8')}>"

        depth, rows = q.dims[1] * BLOCK, q.dims[0]
        open_x, open_y = Value("", ("%n", depth), "f32"), Value("", ("%n", rows), "f32")
        name = f"nbits_{rows}x{depth}"
        if name not in self.helpers:
            types = f"{torch(open_x)}, {torch(q, rows)}, {torch(scales, scales.dims[0])}"
            attributes = {"K": depth, "N": rows, "bits": 4, "block_size": BLOCK}
            text = ", ".join(f"torch.onnx.{key} = {value} : si64" for key, value in attributes.items())
            text += ', torch.onnx_meta.domain = "com.microsoft"'
            arguments = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(types.split(", ")))
            self.helpers[name] = (f"func.func private @{name}({arguments}) -> {torch(open_y)} {{\n"
                                  f'    %3 = torch.operator "onnx.MatMulNBits"(%0, %1, %2) {{{text}}} : '
                                  f"({types}) -> {torch(open_y)}\n    return %3 : {torch(open_y)}\n}}")
        if x.type != open_x.type:
            x = self.op(f"tensor.cast {x.name} : {x.type} to {open_x.type}", x.dims, "f32")
        y = self.op(f"func.call @{name}({x.name}, {q.name}, {scales.name}) : ({open_x.type}, {q.type}, "
                    f"{scales.type}) -> {open_y.type}", (x.dims[0], rows), "f32")
        if y.type == open_y.type:
            return y
        return self.op(f"tensor.cast {y.name} : {open_y.type} to {y.type}", y.dims, "f32")

    def norm(self, x, name):
        wide = self.cast(x, "f32")
        squares = self.generic("td->t", [wide], "f32", ["arith.mulf $0, $0 : f32", "arith.addf $o, @0 : f32"], "0.0")
        factor = self.generic("t->t", [squares], "f32",
                              [f"arith.constant {float(self.shape.width)} : f32", "arith.divf $0, @0 : f32",
                               f"arith.constant {EPSILON:e} : f32", "arith.addf @1, @2 : f32", "math.rsqrt @3 : f32"])
        y = self.cast(self.binary("td,t->td", "mulf", wide, factor), self.kind)
        return self.binary("td,d->td", "mulf", y, self.load(name))

    def rotate(self, x, position):
        """Halves of [t, heads, head] turned by their position."""
        tokens, heads, half = x.dims[0], x.dims[1], self.shape.head // 2
        turns = []
        for name in ("cosines", "sines"):
            table = Value(f"@{name}", (self.shape.room, half), "f32")
            table = self.op(f"util.global.load {table.name} : {table.type}", table.dims, "f32")
            turns.append(self.part(table, (position, 0), (tokens, half)))
        x = self.cast(x, "f32")
        low, high = (self.part(x, (0, 0, at), (tokens, heads, half)) for at in (0, half))
        cos, sin = turns

        def turned(a, b, name):
            return self.generic("thd,thd,td,td->thd", [a, b, cos, sin], "f32",
                                ["arith.mulf $0, $2 : f32", "arith.mulf $1, $3 : f32", f"arith.{name} @0, @1 : f32"])

        a, b = turned(low, high, "subf"), turned(high, low, "addf")
        result = Value("", x.dims, "f32")
        y = self.op(f"tensor.concat dim(2) {a.name}, {b.name} : ({a.type}, {b.type}) -> {result.type}", x.dims, "f32")
        return self.cast(y, self.kind)

    def remember(self, x, name, past):
        """Writes [t, groups, head] behind the past; gives that and the past, [groups, s, head]."""
        tokens, groups, head = x.dims
        x = self.generic("tgd->gtd", [x], self.kind, [f"arith.bitcast $0 : {self.kind} to {self.kind}"])
        store = Value(f"@{name}", (groups, self.shape.room, head), self.kind)
        whole = self.op(f"util.global.load {store.name} : {store.type}", store.dims, self.kind)
        whole = self.op(f"tensor.insert_slice {x.name} into {whole.name}[0, {past.position}, 0] [{groups}, {tokens}, "
                        f"{head}] [1, 1, 1] : {x.type} into {store.type}", store.dims, self.kind)
        self.emit(f"util.global.store {whole.name}, {store.name} : {store.type}")
        return self.part(whole, (0, 0, 0), (groups, past.length, head))

    def attention(self, x, i, past):
        s, tokens = self.shape, x.dims[0]
        q, k, v = (self.reshape(self.linear(x, f"{i}.{name}"), [[0], [1, 2]], (tokens, count, s.head))
                   for name, count in (("q", s.heads), ("k", s.groups), ("v", s.groups)))
        keys = self.remember(self.rotate(k, past.position), f"keys_{i}", past)
        values = self.remember(v, f"values_{i}", past)
        q = self.reshape(self.rotate(q, past.position), [[0], [1, 2], [3]],
                         (tokens, s.groups, s.heads // s.groups, s.head))
        scores = self.product("tghd,gsd->ghts", q, keys)
        body = [f"arith.constant {s.head**-0.5!r} : f32", "arith.mulf $0, @0 : f32"]
        if tokens != 1:
            body += ["linalg.index 2 : index", "linalg.index 3 : index",
                     f"arith.addi @2, {past.position} : index", "arith.cmpi sle, @3, @4 : index",
                     "arith.constant 0xFF800000 : f32", "arith.select @5, @1, @6 : f32"]
        scores = self.generic("ghts->ghts", [scores], "f32", body)
        most = self.generic("ghts->ght", [scores], "f32", ["arith.maximumf $0, $o : f32"], "0xFF800000")
        e = self.generic("ghts,ght->ghts", [scores, most], "f32", ["arith.subf $0, $1 : f32", "math.exp @0 : f32"])
        total = self.generic("ghts->ght", [e], "f32", ["arith.addf $0, $o : f32"], "0.0")
        p = self.cast(self.binary("ghts,ght->ghts", "divf", e, total), self.kind)
        y = self.cast(self.product("ghts,gsd->tghd", p, values), self.kind)
        y = self.reshape(y, [[0], [1, 2, 3]], (tokens, s.heads * s.head))
        return self.linear(y, f"{i}.o")

    def feed_forward(self, x, i):
        gate, up = self.linear(x, f"{i}.gate"), self.linear(x, f"{i}.up")
        wide = self.cast(gate, "f32")
        y = self.generic("td->td", [wide], "f32",
                         ["arith.negf $0 : f32", "math.exp @0 : f32", "arith.constant 1.0 : f32",
                          "arith.addf @1, @2 : f32", "arith.divf $0, @3 : f32"])
        return self.linear(self.binary("td,td->td", "mulf", self.cast(y, self.kind), up), f"{i}.down")

    def step(self, tokens):
        """What comes after the tokens, a value [t] of i64, and the past with them."""
        s, count = self.shape, tokens.dims[0]
        position = self.number("util.global.load @position : index")
        length = self.number(f"arith.addi {position}, {count} : index" if not isinstance(count, int) else
                             f"arith.addi {position}, {self.number(f'arith.constant {count} : index')} : index")
        past = Past(position, length)
        table = self.load("embedding")
        rows = self.op(f"tensor.empty({count if not isinstance(count, int) else ''}) : "
                       f"{Value('', (count, s.width), '').type[:-1]}{self.kind}>", (count, s.width), self.kind)
        maps = "affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>"
        x = self.op(f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}} '
                    f"ins({tokens.name} : {tokens.type}) "
                    f"outs({rows.name} : {rows.type}) {{", (count, s.width), self.kind)
        self.emit(f"^bb0(%e0: i64, %o: {self.kind}):")
        self.emit("  %t0 = arith.index_cast %e0 : i64 to index")
        self.emit("  %t1 = linalg.index 1 : index")
        self.emit(f"  %t2 = tensor.extract {table.name}[%t0, %t1] : {table.type}")
        self.emit(f"  linalg.yield %t2 : {self.kind}")
        self.emit(f"}} -> {rows.type}")
        for i in range(s.layers):
            x = self.binary("td,td->td", "addf", x, self.attention(self.norm(x, f"{i}.norm1"), i, past))
            x = self.binary("td,td->td", "addf", x, self.feed_forward(self.norm(x, f"{i}.norm2"), i))
        self.emit(f"util.global.store {length}, @position : index")
        if not isinstance(count, int):
            last = self.number(f"arith.subi {count}, {self.number('arith.constant 1 : index')} : index")
            x = self.part(x, (last, 0), (1, s.width))
        return self.cast(self.linear(self.norm(x, "norm"), "logits"), "f32")

    # The module ----------------------------------------------------------------------------------------------------

    def state(self):
        s, half = self.shape, self.shape.head // 2
        angles = np.arange(s.room)[:, None] * 10000.0**(-np.arange(half) / half)
        yield "util.global private mutable @position = 0 : index"
        for name, table in (("cosines", np.cos(angles)), ("sines", np.sin(angles))):
            data = table.astype(np.float32).tobytes().hex().upper()
            yield f'util.global private @{name} = dense<"0x{data}"> : tensor<{s.room}x{half}xf32>'
        for i in range(s.layers):
            for name in ("keys", "values"):
                yield (f"util.global private mutable @{name}_{i} = dense<0.0> : "
                       f"tensor<{s.groups}x{s.room}x{s.head}x{self.kind}>")

    def function(self, name, argument):
        result = f"tensor<1x{self.shape.vocabulary}xf32>"
        self.lines.append(f"func.func @{name}(%tokens: {argument.type}) -> {result} {{")
        if not isinstance(argument.dims[0], int):
            zero = self.number("arith.constant 0 : index")
            argument.dims = (self.number(f"tensor.dim %tokens, {zero} : {argument.type}"),)
        value = self.step(argument)
        self.emit(f"return {value.name} : {value.type}")
        self.lines.append("}")

    def text(self):
        rows = f"tensor<?x{self.shape.vocabulary}xf32>"
        row = f"tensor<1x{self.shape.vocabulary}xf32>"
        self.function("prefill", Value("%tokens", ("%count",), "i64"))
        self.function("decode", Value("%tokens", (1,), "i64"))
        self.lines.append(f"""func.func @reset() {{
    %c0 = arith.constant 0 : index
    util.global.store %c0, @position : index
    return
}}
func.func @decode_at(%token: tensor<1xi64>, %past: index) -> {row} {{
    util.global.store %past, @position : index
    %0 = func.call @decode(%token) : (tensor<1xi64>) -> {row}
    return %0 : {row}
}}
func.func @follow(%tokens: tensor<?xi64>, %first: index) -> {rows} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    func.call @reset() : () -> ()
    %count = tensor.dim %tokens, %c0 : tensor<?xi64>
    %left = arith.subi %count, %first : index
    %size = arith.addi %left, %c1 : index
    %start = tensor.extract_slice %tokens[0] [%first] [1] : tensor<?xi64> to tensor<?xi64>
    %0 = func.call @prefill(%start) : (tensor<?xi64>) -> {row}
    %1 = tensor.empty(%size) : {rows}
    %2 = tensor.insert_slice %0 into %1[0, 0] [1, {self.shape.vocabulary}] [1, 1] : {row} into {rows}
    %3 = scf.for %i = %first to %count step %c1 iter_args(%all = %2) -> ({rows}) {{
      %token = tensor.extract_slice %tokens[%i] [1] [1] : tensor<?xi64> to tensor<1xi64>
      %4 = func.call @decode(%token) : (tensor<1xi64>) -> {row}
      %5 = arith.subi %i, %first : index
      %6 = arith.addi %5, %c1 : index
      %7 = tensor.insert_slice %4 into %all[%6, 0] [1, {self.shape.vocabulary}] [1, 1] : {row} into {rows}
      scf.yield %7 : {rows}
    }}
    return %3 : {rows}
}}""")
        return "\n".join([*self.globals, *self.state(), *self.helpers.values(), *self.lines, ""])


@dataclasses.dataclass
class Past:
    """How many positions there were, and are with the new ones: names of index values."""
    position: str
    length: str


def write_archive(weights, path):
    """All weights as a .safetensors file, one at a time."""
    header, at = {}, 0
    for name, kind, sizes, _ in weights.tensors():
        assert kind in ("f32", "f16", "bf16"), "4-bit weights are written into the program"
        size = int(np.prod(sizes)) * TYPES[kind]().itemsize
        header[name] = {"dtype": kind.upper(), "shape": list(sizes), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, make in weights.tensors():
            make().tofile(file)
    return at


def reference(shape, weights, tokens, first):
    """Rows of `follow`, in f32."""
    s, w = shape, {name: weights.value(name) for name in weights.rows}
    half = s.head // 2
    angles = np.arange(len(tokens))[:, None] * 10000.0**(-np.arange(half) / half)
    cos, sin = np.cos(angles)[:, None].astype(np.float32), np.sin(angles)[:, None].astype(np.float32)

    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * w[name]

    def rotate(x):
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(x, i):
        q, k, v = ((x @ w[f"{i}.{name}"].T).reshape(len(x), -1, s.head) for name in "qkv")
        q = rotate(q).reshape(len(x), s.groups, -1, s.head)
        scores = np.einsum("tghd,sgd->ghts", q, rotate(k)) * s.head**-0.5
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        y = np.einsum("ghts,sgd->tghd", p / p.sum(-1, keepdims=True), v)
        return y.reshape(len(x), -1) @ w[f"{i}.o"].T

    x = w["embedding"][tokens]
    for i in range(s.layers):
        x = x + attention(norm(x, f"{i}.norm1"), i)
        y = norm(x, f"{i}.norm2")
        gate = y @ w[f"{i}.gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ w[f"{i}.up"].T)) @ w[f"{i}.down"].T
    return (norm(x, "norm") @ w["logits"].T)[first - 1:]


def write(shape, form, folder, name, archive=False):
    """Writes folder/NAME.mlir, and NAME.safetensors where the weights are to lie in an archive; gives the weights."""
    weights = Weights(shape, form)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.mlir").write_text(Program(shape, weights, archive).text(), encoding="ascii")
    if archive:
        write_archive(weights, folder / f"{name}.safetensors")
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=PRESETS, default="small")
    parser.add_argument("--weights", choices=FORMS, default="f32")
    parser.add_argument("--archive", action="store_true", help="weights in a file of their own")
    parser.add_argument("-o", dest="folder", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    name = f"llama_{arguments.preset}_{arguments.weights}"
    write(PRESETS[arguments.preset], arguments.weights, arguments.folder, name, arguments.archive)
    print(arguments.folder / f"{name}.mlir")


if __name__ == "__main__":
    main()
