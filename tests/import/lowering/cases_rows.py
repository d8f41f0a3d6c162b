"""The rows of the frontends' tables that no other program has, many in a function. Run as a script to write rows/*.mlir
anew; table.py says which rows are missing."""

import math

import numpy as np
from scipy import special

from case import NAMES, Suite, dense, type_of
from cases_stablehlo import random_words


class Function:
    """One function that does many things with its arguments."""

    def __init__(self, *inputs):
        self.inputs, self.lines, self.outputs = inputs, [], []

    def do(self, text, wanted, kind=None):
        """`text` with the result that it gives."""
        wanted = np.asarray(wanted)
        self.lines.append(f"%r{len(self.outputs)} = {text}")
        self.outputs.append((wanted, kind or type_of(wanted)))

    def add_to(self, suite, name, tolerance=None, types=None, extra=""):
        values = ", ".join(f"%r{i}" for i in range(len(self.outputs)))
        kinds = [kind for _, kind in self.outputs]
        body = "\n".join(self.lines) + f"\nreturn {values} : {', '.join(kinds)}"
        suite.add(name, body, self.inputs, [value for value, _ in self.outputs], tolerance, types, kinds, extra)


def arith():
    s = Suite("arith", "Rows of arith on tensors.")
    x, y = s.floats(6), np.array([1.5, -0.7, np.nan, 0.3, -2.0, 1.0], np.float32)
    f = Function(x, y)
    t = type_of(x)
    either = np.where(np.isnan(y), x, y)
    for name, wanted in {"subf": x - y, "remf": np.fmod(x, y), "minimumf": np.minimum(x, y), "maxf": np.maximum(x, y),
                         "minf": np.minimum(x, y), "maxnumf": np.maximum(x, either), "minnumf": np.minimum(x, either)}.items():
        f.do(f"arith.{name} %a, %b : {t}", wanted)
    f.do(f"arith.truncf %a : {t} to tensor<6xf16>", x.astype(np.float16))
    f.do(f"arith.convertf %a : {t} to tensor<6xf16>", x.astype(np.float16))
    f.do(f"arith.bitcast %a : {t} to tensor<6xi32>", x.view(np.int32))
    f.add_to(s, "floats")
    positive = s.floats(4, low=0.5, high=3e9)
    f = Function(positive)
    f.do("arith.fptoui %a : tensor<4xf32> to tensor<4xi32>", positive.astype(np.uint32).view(np.int32))
    f.add_to(s, "unsigned_of_floats")
    i, j = np.array([7, -7, 100, -2**31, 5, -1], np.int32), np.array([2, 3, -9, 1, 31, 4], np.int32)
    u, v = i.view(np.uint32), j.view(np.uint32)
    f = Function(i, j)
    t = type_of(i)
    wide = u.astype(np.uint64) * v.astype(np.uint64)
    few = (j & 31).astype(np.uint32)
    for name, wanted in {"divui": u // v, "remui": u % v, "maxui": np.maximum(u, v), "minui": np.minimum(u, v),
                         "minsi": np.minimum(i, j), "ori": i | j}.items():
        f.do(f"arith.{name} %a, %b : {t}", wanted.astype(np.uint32).view(np.int32))
    f.add_to(s, "integers")
    f = Function(i, few.view(np.int32))
    for name, wanted in {"shli": u << few, "shrui": u >> few, "shrsi": (i >> few.view(np.int32)).view(np.uint32)}.items():
        f.do(f"arith.{name} %a, %b : {t}", wanted.view(np.int32))
    f.add_to(s, "shifts")
    total = u.astype(np.uint64) + v
    body = f"""%l, %h = arith.mului_extended %a, %b : {t}
%s, %o = arith.addui_extended %a, %b : {t}, tensor<6xi1>
return %l, %h, %s, %o : {t}, {t}, {t}, tensor<6xi1>"""
    s.add("extended", body, [i, j], [(wide & 0xFFFFFFFF).astype(np.uint32).view(np.int32),
                                     (wide >> 32).astype(np.uint32).view(np.int32),
                                     total.astype(np.uint32).view(np.int32), total >> 32 > 0])
    s.add("index_castui", """%0 = arith.index_castui %a : tensor<3xi8> to tensor<3xindex>
%1 = arith.index_cast %0 : tensor<3xindex> to tensor<3xi32>
return %1 : tensor<3xi32>""", [np.array([1, -1, 100], np.int8)], [np.array([1, 255, 100], np.int32)])
    s.add("structure", """%0 = tensor.bitcast %a : tensor<3xui8> to tensor<3xi8>
%1 = tensor.rank %a : tensor<3xui8>
%2 = scf.execute_region -> index {
  %c = arith.constant 4 : index
  %d = arith.addi %1, %c : index
  scf.yield %d : index
}
%3 = arith.index_cast %2 : index to i32
%4 = tensor.from_elements %3 : tensor<1xi32>
return %0, %4 : tensor<3xi8>, tensor<1xi32>""", [np.array([1, 255, 100], np.uint8)],
          [np.array([1, -1, 100], np.int8), np.array([5], np.int32)])
    s.add("conversion_cast", """%0 = builtin.unrealized_conversion_cast %a : tensor<3xui8> to tensor<3xi8>
%1 = arith.extui %0 : tensor<3xi8> to tensor<3xi32>
return %1 : tensor<3xi32>""", [np.array([1, 255, 100], np.uint8)], [np.array([1, 255, 100], np.int32)])
    denormals(s)
    s.write("rows")


def denormals(s):
    x = np.array([1e-39, -1e-39, 0, 1.5, -2e-38, np.inf], np.float32)
    s.add("flush_denormals", f"%0 = arith.flush_denormals %a : {type_of(x)}\n%1 = arith.constant dense<1.0> : {type_of(x)}\n"
          f"%2 = math.copysign %1, %0 : {type_of(x)}\nreturn %0, %2 : {type_of(x)}, {type_of(x)}", [x],
          [np.where(np.abs(x) < 2.0**-126, np.copysign(np.float32(0), x), x), np.copysign(np.float32(1), x)])


def mathematics():
    s = Suite("math", "Rows of math on tensors.")
    x, unit, p = s.floats(5), s.floats(5, low=-0.9, high=0.9), s.floats(5, low=1.1, high=4)
    f = Function(x, unit, p)
    t = type_of(x)
    for name, wanted in {"absf": np.abs(x), "ceil": np.ceil(x), "cos": np.cos(x), "cosh": np.cosh(x), "exp2": np.exp2(x),
                         "expm1": np.expm1(x), "floor": np.floor(x), "sin": np.sin(x), "sinh": np.sinh(x),
                         "tan": np.tan(unit), "trunc": np.trunc(x), "cbrt": np.cbrt(x), "atan": np.arctan(x),
                         "asinh": np.arcsinh(x), "erf": special.erf(x), "erfc": special.erfc(x), "roundeven": np.round(x),
                         "round": np.sign(x) * np.floor(np.abs(x) + 0.5)}.items():
        f.do(f"math.{name} {'%b' if name == 'tan' else '%a'} : {t}", wanted.astype(np.float32))
    for name, wanted in {"acos": np.arccos(unit), "asin": np.arcsin(unit), "atanh": np.arctanh(unit)}.items():
        f.do(f"math.{name} %b : {t}", wanted)
    for name, wanted in {"acosh": np.arccosh(p), "log": np.log(p), "log10": np.log10(p), "log1p": np.log1p(p),
                         "log2": np.log2(p), "rsqrt": 1 / np.sqrt(p)}.items():
        f.do(f"math.{name} %c : {t}", wanted.astype(np.float32))
    f.do(f"math.powf %c, %a : {t}", p**x)
    f.do(f"math.atan2 %a, %b : {t}", np.arctan2(x, unit))
    f.do(f"math.clampf %a to [%b, %c] : {t}", np.clip(x, unit, p))
    f.add_to(s, "floats", 1e-5)
    s.add("sincos", "%0, %1 = math.sincos %a : tensor<5xf32>\nreturn %0, %1 : tensor<5xf32>, tensor<5xf32>", [x],
          [np.sin(x), np.cos(x)])
    special_ones = np.array([1, np.inf, -np.inf, np.nan, 0, 1e-42], np.float32)
    f = Function(special_ones)
    with np.errstate(invalid="ignore"):
        normal = np.isfinite(special_ones) & (np.abs(special_ones) >= 1.1754944e-38)
    for name, wanted in {"isfinite": np.isfinite(special_ones), "isinf": np.isinf(special_ones),
                         "isnan": np.isnan(special_ones), "isnormal": normal}.items():
        f.do(f"math.{name} %a : tensor<6xf32>", wanted)
    f.add_to(s, "tests")
    i, e = np.array([1, 0, -5, 64, 1000], np.int32), np.array([3, 2, 3, 2, 1], np.int32)
    f = Function(i, e)
    bits = [f"{int(v) & 0xFFFFFFFF:032b}" for v in i]
    for name, wanted in {"ctlz": [32 - len(b.lstrip("0")) for b in bits], "ctpop": [b.count("1") for b in bits],
                         "cttz": [len(b) - len(b.rstrip("0")) for b in bits]}.items():
        f.do(f"math.{name} %a : tensor<5xi32>", np.array(wanted, np.int32))
    f.do("math.ipowi %a, %b : tensor<5xi32>", i**e)
    f.add_to(s, "integers")
    s.write("rows")


def chlo():
    s = Suite("chlo", "Rows of chlo whose operands broadcast, and small ones.")
    x, y = s.floats(3, 4, low=0.1), s.floats(4, low=0.2)
    f = Function(x, y)
    types = f"({type_of(x)}, {type_of(y)}) -> {type_of(x)}"
    for name, wanted in {"atan2": np.arctan2(x, y), "divide": x / y, "maximum": np.maximum(x, y), "minimum": np.minimum(x, y),
                         "power": x**y, "remainder": np.fmod(x, y), "next_after": np.nextafter(x, np.broadcast_to(y, x.shape))
                         }.items():
        f.do(f"chlo.broadcast_{name} %a, %b : {types}", wanted)
    f.add_to(s, "floats")
    a, k = s.floats(2, 3, low=1.5, high=4), np.array([1, 2, 3], np.float32)
    f = Function(a, k)
    types = "(tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>"
    f.do(f"chlo.broadcast_zeta %a, %b : {types}", special.zeta(a.astype(np.float64), k).astype(np.float32))
    f.do("chlo.broadcast_polygamma %b, %a : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
         special.polygamma(k.astype(int), a.astype(np.float64)).astype(np.float32))
    f.add_to(s, "special", 1e-5)
    i, j = s.ints(2, 3, low=-100, high=100), np.array([1, 3, 2], np.int32)
    f = Function(i, j)
    types = "(tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>"
    for name, wanted in {"and": i & j, "or": i | j, "xor": i ^ j, "shift_left": i << j, "shift_right_arithmetic": i >> j,
                         "shift_right_logical": (i.view(np.uint32) >> j.view(np.uint32)).view(np.int32)}.items():
        f.do(f"chlo.broadcast_{name} %a, %b : {types}", wanted)
    f.add_to(s, "integers")
    big = i * 20000000
    s.add("mulhi", "%0 = chlo.mulhi %a, %a : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>\nreturn %0 : tensor<2x3xi32>",
          [big], [(big.astype(np.int64) * big >> 32).astype(np.int32)])
    v, w = np.array([1, np.inf, -np.inf, np.nan], np.float32), np.array([True], bool)
    f = Function(v, w)
    for name, wanted in {"is_inf": np.isinf(v), "is_neg_inf": v == -np.inf, "is_pos_inf": v == np.inf}.items():
        f.do(f"chlo.{name} %a : tensor<4xf32> -> tensor<4xi1>", wanted)
    f.do("chlo.broadcast_select %b, %a, %a : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>", v)
    f.do("chlo.constant dense<[1, 2]> : tensor<2xi32>", np.array([1, 2], np.int32))
    f.do('"chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>', np.full(4, 2.5, np.float32))
    f.lines.append("%z = chlo.broadcast_complex %a, %r5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>")
    f.do("stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>", np.full(4, 2.5, np.float32))
    f.add_to(s, "small")
    s.write("rows")


#===-----------------------------------------------------------------------------------------------------------------===
# linalg
#===-----------------------------------------------------------------------------------------------------------------===

SIZES = {"n": 2, "c": 2, "g": 3, "o": 2, "b": 2, "m": 3, "k": 4, "M": 2, "N": 1, "K": 2}
WINDOW = {"0": "A", "1": "B", "2": "C"}


def shape_of(roles, spatial):
    return tuple(spatial if role in WINDOW else SIZES[role] for role in roles)


def convolved(x, w, x_roles, w_roles, y_roles):
    """Sums of products of all windows, the digits of the roles being where these are."""
    digits = [i for i, role in enumerate(x_roles) if role in WINDOW]
    kernel = [w.shape[w_roles.index(x_roles[i])] for i in digits]
    views = np.lib.stride_tricks.sliding_window_view(x, kernel, digits)
    place = lambda roles: "".join("xyz"[int(role)] if role in WINDOW else role for role in roles)
    inside = "".join(WINDOW[x_roles[i]] for i in digits)
    taps = "".join(WINDOW.get(role, role) for role in w_roles)
    return np.einsum(f"{place(x_roles)}{inside},{taps}->{place(y_roles)}", views, w)


def start(function, name, kind, value):
    element = kind[kind.rindex("x") + 1:-1]
    function.lines += [f"%{name}c = arith.constant {value} : {element}", f"%{name}e = tensor.empty() : {kind}",
                       f"%{name} = linalg.fill ins(%{name}c : {element}) outs(%{name}e : {kind}) -> {kind}"]


CONVOLUTIONS = [("conv_1d", "0", "0", "0"), ("conv_1d_ncw_fcw", "nc0", "oc0", "no0"),
                ("conv_2d_ngchw_fgchw", "ngc01", "ogc01", "ngo01"), ("conv_2d_nhwgc_gfhwc", "n01gc", "go01c", "n01go"),
                ("conv_3d", "012", "012", "012"), ("conv_3d_ncdhw_fcdhw", "nc012", "oc012", "no012"),
                ("conv_3d_ndhwc_dhwcf", "n012c", "012co", "n012o"), ("depthwise_conv_1d_ncw_cw", "ng0", "g0", "ng0"),
                ("depthwise_conv_1d_nwc_wc", "n0g", "0g", "n0g"), ("depthwise_conv_1d_nwc_wcm", "n0g", "0go", "n0go"),
                ("depthwise_conv_3d_ncdhw_cdhw", "ng012", "g012", "ng012"),
                ("depthwise_conv_3d_ndhwc_dhwc", "n012g", "012g", "n012g"),
                ("depthwise_conv_3d_ndhwc_dhwcm", "n012g", "012go", "n012go")]
QUANTIZED = [("conv_2d_nchw_fchw_q", "nc01", "oc01", "no01"), ("conv_2d_ngchw_gfchw_q", "ngc01", "goc01", "ngo01"),
             ("conv_2d_nhwc_fhwc_q", "n01c", "o01c", "n01o"), ("conv_2d_nhwgc_gfhwc_q", "n01gc", "go01c", "n01go"),
             ("conv_3d_ndhwc_dhwcf_q", "n012c", "012co", "n012o"), ("depthwise_conv_2d_nhwc_hwc_q", "n01g", "01g", "n01g"),
             ("depthwise_conv_2d_nhwc_hwcm_q", "n01g", "01go", "n01go")]
POOLS = {"max": (np.max, "0xFF800000"), "min": (np.min, "0x7F800000"), "sum": (np.sum, "0.0")}


def convolutions(s):
    for name, x_roles, w_roles, y_roles in CONVOLUTIONS + QUANTIZED:
        quantized, spatial = name.endswith("_q"), 4
        make = (lambda *d: s.ints(*d, low=-128, high=127, dtype=np.int8)) if quantized else s.floats
        x, w = make(*shape_of(x_roles, spatial)), make(*shape_of(w_roles, 2))
        zeros = (3, -5) if quantized else (0, 0)
        y = convolved(x.astype(np.float64) - zeros[0], w.astype(np.float64) - zeros[1], x_roles, w_roles, y_roles)
        y = y.astype(np.int32 if quantized else np.float32)
        f = Function(x, w)
        start(f, "init", type_of(y), "0" if quantized else "0.0")
        f.lines += [f"%z{i} = arith.constant {zero} : i32" for i, zero in enumerate(zeros) if quantized]
        more, kinds = (", %z0, %z1", ", i32, i32") if quantized else ("", "")
        f.do(f"linalg.{name} ins(%a, %b{more} : {type_of(x)}, {type_of(w)}{kinds}) outs(%init : {type_of(y)}) -> {type_of(y)}", y)
        f.add_to(s, name)


def pools(s):
    for roles, text, kinds in [("nc01", "nchw", "max sum"), ("nc0", "ncw", "max sum"), ("n012c", "ndhwc", "max min sum"),
                               ("n0c", "nwc", "max min sum")]:
        x = s.floats(*shape_of(roles, 4))
        digits = [i for i, role in enumerate(roles) if role in WINDOW]
        views = np.lib.stride_tricks.sliding_window_view(x, [2] * len(digits), digits)
        window = "x".join(["2"] * len(digits))
        f = Function(x)
        f.lines.append(f"%w = tensor.empty() : tensor<{window}xf32>")
        for kind in kinds.split():
            fn, value = POOLS[kind]
            y = fn(views, tuple(range(-len(digits), 0))).astype(np.float32)
            start(f, kind, type_of(y), value)
            f.do(f"linalg.pooling_{text}_{kind} ins(%a, %w : {type_of(x)}, tensor<{window}xf32>) outs(%{kind} : {type_of(y)}) -> "
                 f"{type_of(y)}", y)
        f.add_to(s, f"pool_{text}")
    for roles, text in [("n01c", "nhwc"), ("n0c", "nwc")]:
        x = s.ints(*shape_of(roles, 4), low=-2**31, high=2**31 - 1)
        digits = [i for i, role in enumerate(roles) if role in WINDOW]
        views = np.lib.stride_tricks.sliding_window_view(x.view(np.uint32), [2] * len(digits), digits)
        window = "x".join(["2"] * len(digits))
        f = Function(x)
        f.lines.append(f"%w = tensor.empty() : tensor<{window}xi32>")
        for kind, fn, value in [("max", np.max, "0"), ("min", np.min, "-1")]:
            y = fn(views, tuple(range(-len(digits), 0))).view(np.int32)
            start(f, kind, type_of(y), value)
            f.do(f"linalg.pooling_{text}_{kind}_unsigned ins(%a, %w : {type_of(x)}, tensor<{window}xi32>) outs(%{kind} : "
                 f"{type_of(y)}) -> {type_of(y)}", y)
        f.add_to(s, f"pool_{text}_unsigned")


def linalg():
    s = Suite("linalg", "Rows of linalg.")
    convolutions(s)
    pools(s)
    x, p, y = s.floats(2, 3), s.floats(2, 3, low=0.2), s.floats(2, 3)
    f = Function(x, p, y)
    t = type_of(x)
    f.lines.append(f"%e = tensor.empty() : {t}")
    for name, argument, wanted in [("ceil", "%a", np.ceil(x)), ("erf", "%a", special.erf(x)), ("log", "%b", np.log(p)),
                                   ("round", "%a", np.sign(x) * np.floor(np.abs(x) + 0.5)), ("rsqrt", "%b", 1 / np.sqrt(p)),
                                   ("sqrt", "%b", np.sqrt(p)), ("copy", "%a", x)]:
        f.do(f"linalg.{name} ins({argument} : {t}) outs(%e : {t}) -> {t}", wanted.astype(np.float32))
    f.do(f"linalg.elemwise_unary {{fun = #linalg.unary_fn<negf>}} ins(%a : {t}) outs(%e : {t}) -> {t}", -x)
    for name, left, right, wanted in [("min", "%a", "%c", np.minimum(x, y)), ("powf", "%b", "%c", p**y),
                                      ("elemwise_binary {fun = #linalg.binary_fn<sub>}", "%a", "%c", x - y)]:
        f.do(f"linalg.{name} ins({left}, {right} : {t}, {t}) outs(%e : {t}) -> {t}", wanted)
    f.lines.append(f"%m = arith.cmpf ogt, %a, %c : {t}")
    f.do(f"linalg.select ins(%m, %a, %c : tensor<2x3xi1>, {t}, {t}) outs(%e : {t}) -> {t}", np.where(x > y, x, y))
    f.add_to(s, "elementwise")
    i, j = np.array([7, -7, 100], np.int32), np.array([2, 3, 9], np.int32)
    f = Function(i, j)
    f.lines.append("%e = tensor.empty() : tensor<3xi32>")
    f.do("linalg.div_unsigned ins(%a, %b : tensor<3xi32>, tensor<3xi32>) outs(%e : tensor<3xi32>) -> tensor<3xi32>",
         (i.view(np.uint32) // j.view(np.uint32)).view(np.int32))
    f.add_to(s, "div_unsigned")
    v, least = s.floats(2, 5), np.full((2, 3), 0.5, np.float32)
    top = -np.sort(-np.concatenate([least, v], 1), 1)[:, :3]
    s.add("topk", """%0 = iree_linalg_ext.topk_v2 dimension(1) ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {
^bb0(%p: f32, %q: f32):
  %r = arith.cmpf ogt, %p, %q : f32
  iree_linalg_ext.yield %r : i1
} -> tensor<?x?xf32>
return %0 : tensor<?x?xf32>""", [v, least], [top], None, ["tensor<?x?xf32>"] * 2, ["tensor<?x?xf32>"])
    a, b = s.floats(2, 4, 3), s.floats(2, 4, 5)
    f = Function(a, b)
    for name, left, right, wanted in [("batch_matmul_transpose_a", "%a", "%b", np.einsum("bkm,bkn->bmn", a, b))]:
        start(f, "i", type_of(wanted), "0.0")
        f.do(f"linalg.{name} ins({left}, {right} : {type_of(a)}, {type_of(b)}) outs(%i : {type_of(wanted)}) -> {type_of(wanted)}",
             wanted)
    f.add_to(s, "batch_matmul_transpose_a")
    a, b = s.floats(2, 4), s.floats(2, 4, 5)
    y = np.einsum("bk,bkn->bn", a, b)
    f = Function(a, b)
    start(f, "i", type_of(y), "0.0")
    f.do(f"linalg.batch_vecmat ins(%a, %b : {type_of(a)}, {type_of(b)}) outs(%i : {type_of(y)}) -> {type_of(y)}", y)
    f.add_to(s, "batch_vecmat")
    a, b = s.floats(2, 2, 3, 4, 1), s.floats(2, 1, 3, 5, 1)
    y = np.einsum("bMKmk,bNKnk->bMNmn", a, b)
    f = Function(a, b)
    start(f, "i", type_of(y), "0.0")
    f.do(f"linalg.batch_mmt4d ins(%a, %b : {type_of(a)}, {type_of(b)}) outs(%i : {type_of(y)}) -> {type_of(y)}", y)
    f.add_to(s, "batch_mmt4d")
    a, b = s.ints(2, 3, low=-128, high=127, dtype=np.int8), s.ints(3, 4, low=-128, high=127, dtype=np.int8)
    y = (a.view(np.uint8).astype(np.int32) @ b.view(np.uint8).astype(np.int32))
    f = Function(a, b)
    start(f, "i", type_of(y), "0")
    f.do(f"linalg.matmul_unsigned ins(%a, %b : {type_of(a)}, {type_of(b)}) outs(%i : {type_of(y)}) -> {type_of(y)}", y)
    f.add_to(s, "matmul_unsigned")
    a, b = np.stack([a, -a]), np.stack([b, b + 1])
    y = (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 7)
    f = Function(a, b)
    start(f, "i", type_of(y), "0")
    f.lines += ["%x = arith.constant 3 : i32", "%y = arith.constant -7 : i32"]
    f.do(f"linalg.quantized_batch_matmul ins(%a, %b, %x, %y : {type_of(a)}, {type_of(b)}, i32, i32) outs(%i : {type_of(y)}) -> "
         f"{type_of(y)}", y)
    f.add_to(s, "quantized_batch_matmul")
    s.write("rows")


#===-----------------------------------------------------------------------------------------------------------------===
# tosa, stablehlo
#===-----------------------------------------------------------------------------------------------------------------===


def tosa():
    s = Suite("tosa", "Rows of tosa.")
    i, j = s.ints(2, 3, low=-50, high=50), np.array([[1, 3, 2]], np.int32)
    f = Function(i, j)
    types, flags = "(tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>", "(tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi1>"
    for name, wanted in {"bitwise_and": i & j, "bitwise_or": i | j, "bitwise_xor": i ^ j, "logical_left_shift": i << j,
                         "logical_right_shift": (i.view(np.uint32) >> j.view(np.uint32)).view(np.int32),
                         "int_div": np.trunc(i / j).astype(np.int32)}.items():
        f.do(f"tosa.{name} %a, %b : {types}", wanted)
    for name, wanted in {"equal": i == j, "greater_equal": i >= j}.items():
        f.do(f"tosa.{name} %a, %b : {flags}", wanted)
    for name, wanted in {"bitwise_not": ~i, "identity": i,
                         "clz": np.array([[32 - len(f"{int(v) & 0xFFFFFFFF:b}".lstrip("0")) for v in row] for row in i], np.int32)
                         }.items():
        f.do(f"tosa.{name} %a : (tensor<2x3xi32>) -> tensor<2x3xi32>", wanted)
    f.add_to(s, "integers")
    p, q = np.array([True, True, False]), np.array([True, False, False])
    f = Function(p, q)
    for name, wanted in {"logical_and": p & q, "logical_or": p | q, "logical_xor": p ^ q}.items():
        f.do(f"tosa.{name} %a, %b : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>", wanted)
    f.do("tosa.logical_not %a : (tensor<3xi1>) -> tensor<3xi1>", ~p)
    f.do("tosa.reduce_all %a {axis = 0 : i32} : (tensor<3xi1>) -> tensor<1xi1>", p.all(keepdims=True))
    f.add_to(s, "booleans")
    x, w, b = s.floats(2, 3), s.floats(4, 3), s.floats(4)
    f = Function(x, w, b)
    f.do("tosa.fully_connected %a, %b, %c : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>", x @ w.T + b)
    f.do("tosa.reduce_prod %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>", x.prod(1, keepdims=True))
    f.add_to(s, "floats")
    x, w, b = s.floats(1, 3, 4, 3, 2), s.floats(3, 2, 2, 1, 2), s.floats(3)
    y = convolved(x, w, "n012c", "o012c", "n012o") + b
    zero = np.zeros(1, np.float32)
    f = Function(x, w, b)
    f.lines.append(f'%z = "tosa.const"() <{{values = {dense(zero)}}}> : () -> {type_of(zero)}')
    f.do(f"tosa.conv3d %a, %b, %c, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, "
         f"stride = array<i64: 1, 1, 1>}} : ({type_of(x)}, {type_of(w)}, {type_of(b)}, tensor<1xf32>, tensor<1xf32>) -> {type_of(y)}",
         y)
    f.add_to(s, "conv3d")
    s.write("rows")


def complex_numbers():
    s = Suite("complex", "Rows of complex, in bodies of linalg and on tensors.")
    x, y = s.floats(4, low=0.2, high=1.5), s.floats(4, low=-1.2, high=1.2)
    z, w = x + 1j * y, (y - 1j * y).astype(np.complex64)
    kind = "complex<f32>"
    functions = {"add": z + w, "sub": z - w, "mul": z * w, "div": z / w, "pow": z**w}
    functions |= {"conj": np.conj(z), "cos": np.cos(z), "exp": np.exp(z), "expm1": np.expm1(z), "log": np.log(z),
                  "log1p": np.log1p(z), "neg": -z, "rsqrt": 1 / np.sqrt(z), "sign": z / np.abs(z), "sin": np.sin(z),
                  "sqrt": np.sqrt(z), "tan": np.tan(z), "tanh": np.tanh(z),
                  "atan2": -1j * np.log((w + 1j * z) / np.sqrt(w * w + z * z))}
    t, names = "tensor<4xf32>", list(functions)
    for part, some in enumerate([names[:10], names[10:]]):
        lines, values, wanted = [], [], []
        for name in some:
            pair = ", %w" if name in ("add", "sub", "mul", "div", "pow", "atan2") else ""
            lines += [f"  %{name} = complex.{name} %z{pair} : {kind}", f"  %{name}_re = complex.re %{name} : {kind}",
                      f"  %{name}_im = complex.im %{name} : {kind}"]
            values += [f"%{name}_re", f"%{name}_im"]
            wanted += [functions[name].real.astype(np.float32), functions[name].imag.astype(np.float32)]
        for name, value in {"abs": np.abs(z), "angle": np.angle(z)}.items():
            lines.append(f"  %{name} = complex.{name} %z : {kind}")
            values.append(f"%{name}")
            wanted.append(value.astype(np.float32))
        body, count = "\n".join(lines), len(values)
        maps, outs, types = ", ".join(["affine_map<(d0) -> (d0)>"] * (2 + count)), ", ".join(["%e"] * count), [t] * count
        s.add(f"functions_{part}", f"""%e = tensor.empty() : {t}
%0:{count} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} ins(%a, %b : {t}, {t}) outs({outs} : {', '.join(types)}) {{
^bb0(%x: f32, %y: f32, {', '.join(f'%o{i}: f32' for i in range(count))}):
  %z = complex.create %x, %y : {kind}
  %n = arith.negf %y : f32
  %w = complex.create %y, %n : {kind}
{body}
  linalg.yield {', '.join(values)} : {', '.join(['f32'] * count)}
}} -> ({', '.join(types)})
return {', '.join(f'%0#{i}' for i in range(count))} : {', '.join(types)}""", [x, y], wanted, 1e-5)
    m, n = s.floats(2, 3), s.floats(2, 3)
    c = (m + 1j * n).astype(np.complex64)
    product = (c @ c.T) + (2 - 1j)
    pair = "tensor<2x3xcomplex<f32>>"
    square = "tensor<2x2xcomplex<f32>>"
    s.add("generic", f"""%z = stablehlo.complex %a, %b : {pair}
%c = complex.constant [2.0 : f32, -1.0 : f32] : {kind}
%empty = tensor.empty() : {square}
%init = linalg.fill ins(%c : {kind}) outs(%empty : {square}) -> {square}
%turned = tensor.empty() : tensor<3x2xcomplex<f32>>
%t = linalg.transpose ins(%z : {pair}) outs(%turned : tensor<3x2xcomplex<f32>>) permutation = [1, 0]
%0 = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%z, %t : {pair}, tensor<3x2xcomplex<f32>>) outs(%init : {square}) {{
^bb0(%x: {kind}, %y: {kind}, %o: {kind}):
  %1 = complex.mul %x, %y : {kind}
  %2 = complex.add %o, %1 : {kind}
  linalg.yield %2 : {kind}
}} -> {square}
%part = tensor.extract_slice %0[0, 1] [2, 1] [1, 1] : {square} to tensor<2x1xcomplex<f32>>
%flat = tensor.collapse_shape %part [[0, 1]] : tensor<2x1xcomplex<f32>> into tensor<2xcomplex<f32>>
%same = linalg.map ins(%flat, %flat : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) outs(%flag : tensor<2xi1>) (%x: {kind}, %y: {kind}, %old: i1) {{
  %1 = complex.eq %x, %y : {kind}
  %2 = complex.neq %x, %y : {kind}
  %3 = arith.xori %1, %2 : i1
  linalg.yield %3 : i1
}}
%r = stablehlo.real %flat : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
%i = stablehlo.imag %flat : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
return %r, %i, %same : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>""".replace("%same = linalg", "%flag = tensor.empty() : tensor<2xi1>\n%same = linalg"),
          [m, n], [product[:, 1].real, product[:, 1].imag, np.array([True, True])])
    complex_reductions(s, kind)
    s.write("rows")


def complex_reductions(s, kind):
    """Bodies that do more than add: products, what was there times a number, two results; and sums of windows."""
    m, n = s.floats(3, 4), s.floats(3, 4)
    z = (m + 1j * n).astype(np.complex64)
    both = f"""%z = stablehlo.complex %a, %b : tensor<3x4x{kind}>
%c = complex.constant [1.0 : f32, 0.5 : f32] : {kind}
"""
    parts = "%r = stablehlo.real %0 : (tensor<{0}xcomplex<f32>>) -> tensor<{0}xf32>\n" \
            "%i = stablehlo.imag %0 : (tensor<{0}xcomplex<f32>>) -> tensor<{0}xf32>\n"
    over_rows = "indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]"
    bodies = {"product": ("%1 = complex.mul %o, %x", np.prod(z, 1) * (1 + 0.5j)),
              "horner": ("%2 = complex.mul %o, %x\n  %1 = complex.sub %2, %x", (1 + 0.5j) * np.ones(3))}
    for k in range(4):
        bodies["horner"] = (bodies["horner"][0], bodies["horner"][1] * z[:, k] - z[:, k])
    for name, (text, wanted) in bodies.items():
        text = "".join(f"{line} : {kind}\n" for line in text.split("\n"))
        s.add(name, f"""{both}%e = tensor.empty() : tensor<3x{kind}>
%s = linalg.fill ins(%c : {kind}) outs(%e : tensor<3x{kind}>) -> tensor<3x{kind}>
%0 = linalg.generic {{{over_rows}}} ins(%z : tensor<3x4x{kind}>) outs(%s : tensor<3x{kind}>) {{
^bb0(%x: {kind}, %o: {kind}):
  {text}  linalg.yield %1 : {kind}
}} -> tensor<3x{kind}>
{parts.format(3)}return %r, %i : tensor<3xf32>, tensor<3xf32>""", [m, n], [wanted.real.astype(np.float32), wanted.imag.astype(np.float32)])
    pair, square = f"tensor<3x4x{kind}>", f"tensor<3x3x{kind}>"
    starts = f"""{both}%e = tensor.empty() : {square}
%s = linalg.fill ins(%c : {kind}) outs(%e : {square}) -> {square}
"""
    for name, text, wanted in [
            ("matmul", f"%0 = linalg.matmul_transpose_b ins(%z, %z : {pair}, {pair}) outs(%s : {square}) -> {square}\n", z @ z.T),
            ("contract", "%0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
             f"affine_map<(m, n, k) -> (n, m)>] ins(%z, %z : {pair}, {pair}) outs(%s : {square}) -> {square}\n", z @ z.T)]:
        s.add(name, starts + text + parts.format("3x3") + "return %r, %i : tensor<3x3xf32>, tensor<3x3xf32>", [m, n],
              [wanted.real + 1, wanted.imag + np.float32(0.5)], 1e-5)
    s.add("reduce", f"""{both}%e = tensor.empty() : tensor<4x{kind}>
%s = linalg.fill ins(%c : {kind}) outs(%e : tensor<4x{kind}>) -> tensor<4x{kind}>
%0 = linalg.reduce ins(%z : {pair}) outs(%s : tensor<4x{kind}>) dimensions = [0] (%x: {kind}, %o: {kind}) {{
  %1 = complex.mul %x, %o : {kind}
  linalg.yield %1 : {kind}
}}
{parts.format(4)}return %r, %i : tensor<4xf32>, tensor<4xf32>""", [m, n], [(z.prod(0) * (1 + 0.5j)).real.astype(np.float32),
                                                                        (z.prod(0) * (1 + 0.5j)).imag.astype(np.float32)])
    wanted = np.stack([z[:, k:k + 2].sum(1) for k in range(3)], 1) + (1 + 0.5j)
    s.add("window", f"""{both}%e = tensor.empty() : tensor<3x3x{kind}>
%w = tensor.empty() : tensor<2xf32>
%s = linalg.fill ins(%c : {kind}) outs(%e : tensor<3x3x{kind}>) -> tensor<3x3x{kind}>
%0 = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%z, %w : tensor<3x4x{kind}>, tensor<2xf32>) outs(%s : tensor<3x3x{kind}>) {{
^bb0(%x: {kind}, %y: f32, %o: {kind}):
  %1 = complex.add %o, %x : {kind}
  linalg.yield %1 : {kind}
}} -> tensor<3x3x{kind}>
{parts.format("3x3")}return %r, %i : tensor<3x3xf32>, tensor<3x3xf32>""", [m, n], [wanted.real, wanted.imag])


def open_sizes():
    s = Suite("open_sizes", "StableHLO whose types leave sizes open that something else tells.")
    x, m, places = s.floats(2, 8), s.floats(3, 3) + 4 * np.eye(3, dtype=np.float32), np.array([[[1, 3], [0, 2]]], np.int32)
    f = Function(x, m, places)
    f.lines.append("%z = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<?x?xf32>) -> tensor<?x?xcomplex<f32>>")
    f.do("stablehlo.real %z : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>", np.fft.rfft(x).real.astype(np.float32),
         "tensor<?x?xf32>")
    f.do("stablehlo.cholesky %b, lower = true : tensor<?x3xf32>", np.linalg.cholesky(np.tril(m) + np.tril(m, -1).T),
         "tensor<?x3xf32>")
    f.do("stablehlo.reshape %a : (tensor<?x?xf32>) -> tensor<4x?xf32>", x.reshape(4, -1), "tensor<4x?xf32>")
    f.do("stablehlo.bitcast_convert %a : (tensor<?x?xf32>) -> tensor<?x?x?xui8>", x.view(np.uint8).reshape(2, 8, 4),
         "tensor<?x?x?xui8>")
    f.do("stablehlo.bitcast_convert %r3 : (tensor<?x?x?xui8>) -> tensor<?x?xi32>", x.view(np.int32), "tensor<?x?xi32>")
    numbers = "dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], " \
              "index_vector_dim = 2>"
    f.do(f'"stablehlo.gather"(%a, %c) {{{numbers}, slice_sizes = array<i64: 1, 1>}} : (tensor<?x?xf32>, tensor<?x?x?xi32>) -> '
         "tensor<?x?xf32>", x[places[..., 0], places[..., 1]], "tensor<?x?xf32>")
    f.lines.append("%n = stablehlo.get_dimension_size %c, dim = 0 : (tensor<?x?x?xi32>) -> tensor<i32>")
    f.lines.append("%o = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>")
    f.lines.append("%s = stablehlo.concatenate %o, %o, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>")
    f.do(f'"stablehlo.dynamic_gather"(%a, %c, %s) {{{numbers}}} : (tensor<?x?xf32>, tensor<?x?x?xi32>, tensor<2xi32>) -> '
         "tensor<?x?xf32>", x[places[..., 0], places[..., 1]], "tensor<?x?xf32>")
    f.add_to(s, "open", 1e-5, ["tensor<?x?xf32>", "tensor<?x3xf32>", "tensor<?x?x?xi32>"])
    a, b = np.tril(m), s.floats(3, 2)
    s.add("triangular_solve", """%0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
return %0 : tensor<?x?xf32>""", [a, b], [np.linalg.solve(a.astype(np.float64), b).astype(np.float32)], 1e-5,
          ["tensor<?x3xf32>", "tensor<?x?xf32>"], ["tensor<?x?xf32>"])
    image, taps = s.floats(1, 4, 4, 1), s.floats(3, 3, 1, 2)
    y = convolved(image, taps, "n01c", "01co", "n01o").astype(np.float32)
    s.add("conv", f"""%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
return %0 : tensor<?x?x?x?xf32>""", [image, taps], [y], None, ["tensor<?x?x?x?xf32>"] * 2, ["tensor<?x?x?x?xf32>"])
    rows, sides, sizes = s.floats(5, 3), s.floats(2, 3, 4), np.array([2, 3], np.int64)
    s.add("ragged", """%0 = "chlo.ragged_dot"(%a, %b, %c) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<?x?xf32>, tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
return %0 : tensor<?x4xf32>""", [rows, sides, sizes], [np.concatenate([rows[:2] @ sides[0], rows[2:] @ sides[1]])], None,
          ["tensor<?x?xf32>", "tensor<?x?x4xf32>", "tensor<2xi64>"], ["tensor<?x4xf32>"])
    grouped(s)
    random_bits(s)
    told_twice(s)
    s.write("rows")


def told_twice(s):
    """Rows and what is made of them, where one number says the size of what goes in and another of what comes out."""
    x = s.floats(3, 4)
    most = np.broadcast_to(x.max(1, keepdims=True), x.shape)
    kind = "tensor<?x?xf32>"
    s.add("told_twice", f"""%low = stablehlo.constant dense<0xFF800000> : tensor<f32>
%m = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] : ({kind}, tensor<f32>) -> tensor<?xf32>
%n = stablehlo.get_dimension_size %a, dim = 0 : ({kind}) -> tensor<i32>
%k = stablehlo.get_dimension_size %a, dim = 1 : ({kind}) -> tensor<i32>
%n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
%k1 = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
%nk = stablehlo.concatenate %n1, %k1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%most = stablehlo.dynamic_broadcast_in_dim %m, %nk, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> {kind}
%y = stablehlo.subtract %a, %most : {kind}
%one = stablehlo.constant dense<1.0> : tensor<f32>
%ones = stablehlo.dynamic_broadcast_in_dim %one, %b, dims = [] : (tensor<f32>, tensor<2xi32>) -> {kind}
%same = stablehlo.dynamic_broadcast_in_dim %c, %b, dims = [] : (tensor<f32>, tensor<2xi32>) -> {kind}
%p = stablehlo.compare GT, %ones, %same : ({kind}, {kind}) -> tensor<?x?xi1>
%z = stablehlo.select %p, %ones, %y : tensor<?x?xi1>, {kind}
%w = stablehlo.select %p, %ones, %most : tensor<?x?xi1>, {kind}
return %z, %w : {kind}, {kind}""", [x, np.array(x.shape, np.int32), np.float32(2)], [x - most, most], None,
          [kind, "tensor<2xi32>", "tensor<f32>"], [kind] * 2)


def grouped(s):
    """Groups of channels and of the batch, where nothing but the number of groups is known."""
    for name, x, w in [("groups", (2, 4, 5, 6), (3, 2, 2, 9)), ("batch_groups", (6, 4, 5, 2), (3, 2, 2, 9))]:
        x, w = s.floats(*x), s.floats(*w)
        by_batch = name == "batch_groups"
        parts = np.split(x, 3, 0 if by_batch else 3)
        y = [convolved(part, filters, "n01c", "01co", "n01o") for part, filters in zip(parts, np.split(w, 3, 3))]
        kind = "tensor<?x?x?x?xf32>"
        s.add(f"conv_{name}", f"""%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}} {{batch_group_count = {3 if by_batch else 1} : i64, feature_group_count = {1 if by_batch else 3} : i64}} : ({kind}, {kind}) -> {kind}
return %0 : {kind}""", [x, w], [np.concatenate(y, 3).astype(np.float32)], None, [kind] * 2, [kind])


def random_bits(s):
    """Threefry halves the first even dimension, else the longest, of sizes that only a caller knows too."""
    state = [0x0123456789ABCDEF, 0xFEDCBA9876543210]
    for number, (shape, dtype) in enumerate([((3, 4), np.uint32), ((2, 3), np.uint32), ((3, 5), np.uint32), ((5, 3), np.uint8),
                                             ((3, 2), np.uint64)]):
        words, blocks = random_words("THREE_FRY", state, shape, dtype)
        kind = f"tensor<?x?x{NAMES[words.dtype.name]}>"
        s.add(f"threefry_{number}", f"""%0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%a, %b) {{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}} : (tensor<2xui64>, tensor<2xi64>) -> (tensor<2xui64>, {kind})
return %0#0, %0#1 : tensor<2xui64>, {kind}""", [np.array(state, np.uint64), np.array(shape, np.int64)],
              [np.array([state[0], (state[1] + blocks) % 2**64], np.uint64), words], None, None, ["tensor<2xui64>", kind])


def stablehlo():
    s = Suite("stablehlo", "Rows of stablehlo that do little on one device; random numbers by what they are between.")
    x = s.floats(2, 4)
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    f = Function(x)
    t = type_of(x)
    f.do(f'"stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64, {groups}}} : ({t}) -> {t}', x)
    f.do(f'"stablehlo.all_to_all"(%a) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {groups}}} : '
         f"({t}) -> {t}", x)
    f.do(f'"stablehlo.collective_broadcast"(%a) {{{groups}}} : ({t}) -> {t}', x)
    f.do(f'"stablehlo.cross-replica-sum"(%a) {{{groups}}} : ({t}) -> {t}', x)
    f.do(f"""\"stablehlo.reduce_scatter"(%a) ({{
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32>
}}) {{scatter_dimension = 0 : i64, {groups}}} : ({t}) -> {t}""", x)
    f.do(f"""\"stablehlo.collective_reduce"(%a) ({{
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32>
}}) {{{groups}}} : ({t}) -> {t}""", x)
    f.lines += ["%t = stablehlo.create_token : !stablehlo.token", "%u = stablehlo.after_all %t, %t : !stablehlo.token"]
    f.do("stablehlo.replica_id : tensor<ui32>", np.array(0, np.uint32))
    f.do("stablehlo.partition_id : tensor<ui32>", np.array(0, np.uint32))
    f.add_to(s, "one_device")
    low, high = np.float32(-3), np.float32(5)
    body = """%shape = stablehlo.constant dense<[500]> : tensor<1xi64>
%0 = "stablehlo.rng"(%a, %b, %shape) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<500xf32>
%l = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<500xf32>
%h = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<500xf32>
%1 = stablehlo.compare GE, %0, %l : (tensor<500xf32>, tensor<500xf32>) -> tensor<500xi1>
%2 = stablehlo.compare LT, %0, %h : (tensor<500xf32>, tensor<500xf32>) -> tensor<500xi1>
%3 = stablehlo.and %1, %2 : tensor<500xi1>
return %3 : tensor<500xi1>"""
    s.add("rng", body, [low, high], [np.ones(500, bool)])
    s.write("rows")


def shape():
    s = Suite("shape", "Shapes as values, and functions as values.")
    x, y = s.floats(2, 3), s.floats(3)
    s.add("broadcast", """%s = shape.shape_of %a : tensor<?x3xf32> -> tensor<2xindex>
%t = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
%v = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<1xindex>
%u = shape.const_witness true
%w = shape.assuming_all %u, %v
%0 = shape.assuming %w -> (tensor<?x3xf32>) {
  %both = shape.broadcast %s, %t : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %x = stablehlo.dynamic_broadcast_in_dim %a, %both, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  %y = stablehlo.dynamic_broadcast_in_dim %b, %both, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  %z = stablehlo.add %x, %y : tensor<?x3xf32>
  shape.assuming_yield %z : tensor<?x3xf32>
}
shape.assuming %v {
}
return %0 : tensor<?x3xf32>""", [x, y], [x + y], None, ["tensor<?x3xf32>", "tensor<?xf32>"], ["tensor<?x3xf32>"])
    z = s.floats(2, 1, 5)
    numbers = [("num_elements %x : !shape.shape -> !shape.size", 10), ("rank %x : !shape.shape -> !shape.size", 3),
               ("get_extent %x, %c2 : !shape.shape, index -> !shape.size", 5), ("dim %a, %c2 : tensor<?x1x?xf32>, index -> !shape.size", 5),
               ("add %n0, %n2 : !shape.size, !shape.size -> !shape.size", 15), ("mul %n0, %n2 : !shape.size, !shape.size -> !shape.size", 50),
               ("div %n0, %n2 : !shape.size, !shape.size -> !shape.size", 2), ("min %n0, %n2 : !shape.size, !shape.size -> !shape.size", 5),
               ("max %n0, %n2 : !shape.size, !shape.size -> !shape.size", 10), ("const_size 7", 7),
               ("index_to_size %c2", 2), ("num_elements %joined : !shape.shape -> !shape.size", 70),
               ("num_elements %tail : !shape.shape -> !shape.size", 5), ("num_elements %made : !shape.shape -> !shape.size", 4),
               ("num_elements %either : !shape.shape -> !shape.size", 10), ("num_elements %none : !shape.shape -> !shape.size", 1)]
    flags = [("shape_eq %x, %again : !shape.shape, !shape.shape", 1), ("shape_eq %x, %seven : !shape.shape, !shape.shape", 0),
             ("shape_eq %x, %two : !shape.shape, !shape.shape", 0),
             ("is_broadcastable %x, %seven : !shape.shape, !shape.shape", 0), ("is_broadcastable %x, %made : !shape.shape, !shape.shape", 1)]
    lines = ["%c2 = arith.constant 2 : index", "%c1 = arith.constant -1 : index",
             "%s = shape.shape_of %a : tensor<?x1x?xf32> -> tensor<3xindex>",
             "%x = shape.from_extent_tensor %s : tensor<3xindex>", "%t = shape.to_extent_tensor %x : !shape.shape -> tensor<3xindex>",
             "%again = shape.value_as_shape %t : tensor<3xindex> -> !shape.shape",
             "%seven = shape.const_shape [7] : !shape.shape", "%none = shape.const_shape [] : !shape.shape",
             "%joined = shape.concat %x, %seven : !shape.shape, !shape.shape -> !shape.shape",
             "%head, %tail = \"shape.split_at\"(%x, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)",
             "%made = shape.from_extents %c2, %c2, %one : index, index, index",
             "%two = shape.const_shape [2, 1, 6] : !shape.shape",
             "%either = shape.any %x, %again : !shape.shape, !shape.shape -> !shape.shape",
             "%w = shape.cstr_eq %x, %again : !shape.shape, !shape.shape", "%true = arith.constant true",
             "%u = shape.cstr_require %true, \"never\""]
    lines.insert(2, "%one = arith.constant 1 : index")
    for i, (text, _) in enumerate(numbers):
        lines += [f"%n{i} = shape.{text}", f"%i{i} = shape.size_to_index %n{i} : !shape.size", f"%r{i} = arith.index_cast %i{i} : index to i64"]
    for i, (text, _) in enumerate(flags, len(numbers)):
        lines += [f"%f{i} = shape.{text}", f"%r{i} = arith.extui %f{i} : i1 to i64"]
    wanted = np.array([value for _, value in numbers + flags], np.int64)
    lines += [f"%all = tensor.from_elements {', '.join(f'%r{i}' for i in range(wanted.size))} : {type_of(wanted)}",
              f"return %all : {type_of(wanted)}"]
    s.add("numbers", "\n".join(lines), [z], [wanted], None, ["tensor<?x1x?xf32>"])
    s.add("indirect", """%f = func.constant @twice : (tensor<?x1x5xf32>) -> tensor<?x1x5xf32>
%x = stablehlo.add %a, %a : tensor<?x1x5xf32>
%0 = func.call_indirect %f(%x) : (tensor<?x1x5xf32>) -> tensor<?x1x5xf32>
return %0 : tensor<?x1x5xf32>""", [z], [4 * z], None, ["tensor<?x1x5xf32>"], ["tensor<?x1x5xf32>"],
          extra="""func.func private @twice(%a: tensor<?x1x5xf32>) -> tensor<?x1x5xf32> {
  %0 = arith.addf %a, %a : tensor<?x1x5xf32>
  return %0 : tensor<?x1x5xf32>
}
""")
    s.write("rows")


if __name__ == "__main__":
    for suite in [arith, mathematics, chlo, linalg, tosa, complex_numbers, open_sizes, stablehlo, shape]:
        suite()
