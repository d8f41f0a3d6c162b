"""Operators that compute: reductions, normalization, products, quantization, signals, choice, elements."""

import numpy as np

from draw import FLOATS, INTEGERS, operator

BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "BitShift", "BitwiseAnd", "BitwiseXor", "And", "Or",
          "Xor", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "PRelu"]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare"]


def reduction(name):
    @operator(name)
    def reduce(d):
        opset = d.pick(11, 13, 18, 20)
        shape = d.shape(0, 4, 7, empty=0.1)
        dtype = d.pick("float32", "float32", "float64", "int64",
                       *["int8", "uint8"] * (name in ("ReduceMax", "ReduceMin")))
        positive = name in ("ReduceLogSum", "ReduceProd")
        dtype = "float64" if "Log" in name or name == "ReduceMean" and 0 in shape else dtype
        x = d.given(dtype, shape, 1 if positive else -3, 1 if positive else 3) if dtype[0] in "iu" else \
            d.given(dtype, shape, 0.5 if positive else -2.0, 2.0)
        options = {"keepdims": d.whole(0, 1), "opset": opset}
        if 0 in shape:
            options["wrong"] = ["onnxruntime"]  # the mean of nothing is 0 there, and sizes that are not reduced stay
        by_input = opset >= 18 or (opset >= 13 and name == "ReduceSum")
        axes = d.axes(len(shape), low=0) if shape and d.chance(0.8) else None
        if axes is None:
            return [x], options
        if not by_input:
            return [x], {"axes": axes, **options} if axes else options
        options["noop_with_empty_axes"] = d.whole(0, 1)
        return [x, d.known(np.array(axes, np.int64))], options


for each in REDUCTIONS:
    reduction(each)


@operator("ArgMax")
def arg_max(d):
    shape = d.shape(1, 4)
    dtype = d.pick("float32", "float64", "int32", "int8", "uint8", "int64")
    return [d.given(dtype, shape, -2, 2)], {"op": d.pick("ArgMax", "ArgMin"), "axis": d.axis(len(shape)),
                                            "keepdims": d.whole(0, 1), "select_last_index": d.whole(0, 1), "opset": 13}


@operator("TopK")
def top_k(d):
    shape = d.shape(1, 4)
    axis, dtype = d.axis(len(shape)), d.pick("float32", "float64", "int32", "int64", "uint8", "int8", "float16")
    return [d.given(dtype, shape), d.known(np.array([d.whole(0, shape[axis])], np.int64))], \
        {"axis": axis, "largest": d.whole(0, 1), "sorted": 1, "results": 2, "opset": d.pick(11, 24)}


@operator("CumSum")
def cum_sum(d):
    shape = d.shape(1, 4, empty=0.1)
    dtype = d.pick("float32", "float64", "int32", "int64", "uint32")
    axis = d.axis(len(shape)) if d.chance(0.8) else [d.axis(len(shape))]
    return [d.given(dtype, shape, *(-9, 9) if dtype[0] in "iu" else ()),
            d.known(np.array(axis, d.pick("int32", "int64")))], \
        {"exclusive": d.whole(0, 1), "reverse": d.whole(0, 1), "opset": 14}


@operator("Einsum")
def einsum(d):
    letters, sizes = "abcdef", {}
    for letter in letters:
        sizes[letter] = d.size(5)
    terms, operands, dots = [], [], d.chance(0.3)
    wide = d.shape(1, 2, 4)
    for _ in range(d.whole(1, 3)):
        term = "".join(d.pick(*letters) for _ in range(d.whole(0 if dots else 1, 3)))
        shape = [sizes[letter] for letter in term]
        if dots and d.chance(0.7):
            term, shape = f"...{term}", [1 if d.chance(0.2) else size for size in wide] + shape
        terms.append(term)
        operands.append(d.given(d.pick("float32", "float64") if not operands else operands[0].value.dtype, shape,
                                fixed=[axis for axis, size in enumerate(shape) if size == 1]))
    equation = ",".join(terms)
    if d.chance(0.8):
        used = sorted({letter for term in terms for letter in term} - {"."})
        kept = [letter for letter in d.random.permutation(used) if d.chance(0.6)] if used else []
        equation += "->" + "..." * ("..." in equation) + "".join(kept)
    return operands, {"equation": equation, "tolerance": 1e-4}


@operator("MatMul")
def mat_mul(d):
    batch, m, k, n = d.shape(0, 2, 4), d.size(), d.size(), d.size()
    left, right = [1 if d.chance(0.3) else b for b in batch], [1 if d.chance(0.3) else b for b in batch]
    a, b = [*left[d.whole(0, len(left)):], m, k], [*right[d.whole(0, len(right)):], k, n]
    if d.chance(0.15):
        a = [k]
    if d.chance(0.15):
        b = [k]
    dtype = d.pick("float32", "float32", "float64", "int32", "uint32", "int64", "uint64")
    return [d.given(dtype, a), d.weights(dtype, b, *(-2.0,) if dtype[0] in "iu" else ())], {"tolerance": 1e-4}


@operator("Gemm")
def gemm(d):
    m, k, n, a, b = d.size(), d.size(), d.size(), d.whole(0, 1), d.whole(0, 1)
    dtype = d.pick("float32", "float32", "float64", "int32", "int64")
    operands = [d.given(dtype, [k, m] if a else [m, k], *(-9, 9) if dtype[0] == "i" else ()),
                d.weights(dtype, [n, k] if b else [k, n], *(-9, 9) if dtype[0] == "i" else ())]
    if d.chance(0.7):
        operands.append(d.weights(dtype, d.pick([m, n], [n], [1, n], [m, 1], [1], []), -3, 3))
    whole = dtype[0] == "i"
    return operands, {"transA": a, "transB": b, "alpha": 1.0 if whole else d.pick(1.0, 0.5, 0.0),
                      "beta": 1.0 if whole else d.pick(1.0, 2.0, 0.0), "tolerance": 1e-4}


@operator("MatMulInteger")
def mat_mul_integer(d):
    m, k, n, batch = d.size(), d.size(), d.size(), d.shape(0, 1, 3)
    a, b = d.pick("int8", "uint8"), d.pick("int8", "uint8")
    operands = [d.given(a, [*batch, m, k]), d.weights(b, [*batch, k, n] if d.chance(0.5) else [k, n], -2.0)]
    if d.chance(0.7):
        operands.append(d.weights(a, [], -2.0))
        if d.chance(0.7):
            operands.append(d.weights(b, [n] if d.chance(0.4) else [], -2.0))
    return operands, {}


@operator("QLinearMatMul")
def qlinear_mat_mul(d):
    m, k, n, batch = d.size(), d.size(), d.size(), d.shape(0, 1, 3)
    a, b = d.pick("int8", "uint8"), d.pick("int8", "uint8")
    b = "int8" if a == "int8" else b
    each = [n] if d.chance(0.3) else []
    return [d.given(a, [*batch, m, k]), d.known(np.array(0.05, np.float32)), d.weights(a, [], -3, 3),
            d.weights(b, [*batch, k, n], -2.0), d.weights("float32", each, 0.01, 0.1),
            d.weights(b, each, 0, 0 if b == "int8" else 5), d.known(np.array(1.3, np.float32)),
            d.weights(a, [], -3, 3)], {"tolerance": 1}


@operator("DynamicQuantizeLinear")
def dynamic_quantize(d):
    low, high = d.pick((-2.0, 2.0), (0.5, 3.0), (-3.0, -1.0), (0.0, 0.0))
    return [d.given("float32", d.shape(0, 3), low, high)], {"results": 3}


def quantized_parameters(d, shape, opset, kind, scale="float32"):
    """Scale and zero point for the whole tensor, an axis or blocks of it, and the options that go with them."""
    options, parts = {"opset": opset}, []
    if shape and opset >= 13 and d.chance(0.6):
        axis = d.axis(len(shape))
        options["axis"] = axis
        parts = [shape[axis]]
        if opset >= 21 and d.chance(0.5):
            block = d.whole(1, max(shape[axis], 1))
            options["block_size"] = block
            parts = list(shape)
            parts[axis] = -(-shape[axis] // block)
    operands = [d.weights(scale, parts, 0.02, 0.3)]
    if d.chance(0.8):
        operands.append(d.weights(kind, parts, *(0, 0) if kind == "int32" else (-5, 5)))
    return operands, options


@operator("QuantizeLinear")
def quantize(d):
    opset, shape = d.pick(10, 13, 19, 21, 23), d.shape(0, 4, 7)
    kind = d.pick("int8", "uint8", *["int16", "uint16"] * (opset >= 21))
    operands, options = quantized_parameters(d, shape, opset, kind)
    return [d.given("float32", shape, -30.0, 30.0), *operands], options


@operator("DequantizeLinear")
def dequantize(d):
    opset, shape = d.pick(10, 13, 19, 21, 23), d.shape(0, 4, 7)
    kind = d.pick("int8", "uint8", "int32", *["int16", "uint16"] * (opset >= 21))
    operands, options = quantized_parameters(d, shape, opset, kind)
    return [d.given(kind, shape), *operands], options


@operator("LRN")
def lrn(d):
    return [d.given("float32", d.shape(3, 5, 6))], {"size": d.pick(1, 3, 5, 7), "alpha": d.pick(1e-4, 0.5),
                                                    "beta": d.pick(0.75, 0.5), "bias": d.pick(1.0, 2.0)}


@operator("LayerNormalization")
def layer_norm(d):
    shape = d.shape(1, 4, 7)
    axis, dtype = d.axis(len(shape)), d.pick("float32", "float32", "float64", "float16")
    tail = shape[axis:]
    operands = [d.given(dtype, shape), d.weights(dtype, tail)]
    if d.chance(0.6):
        operands.append(d.weights(dtype, tail))
    return operands, {"axis": axis, "epsilon": d.pick(1e-5, 1e-2), "results": d.pick(1, 3),
                      "tolerance": 3e-2 if dtype == "float16" else 1e-3}


@operator("GroupNormalization")
def group_norm(d):
    groups, opset = d.pick(1, 2, 3), d.pick(18, 21)
    channels = groups * d.whole(1, 3)
    size = groups if opset == 18 else channels
    x = d.given("float32", [d.whole(1, 3), channels, *d.shape(1, 3, 6)], fixed=[1] if opset == 18 else [])
    return [x, d.weights("float32", [size]), d.weights("float32", [size])], \
        {"num_groups": groups, "opset": opset, "tolerance": 1e-3}


@operator("InstanceNormalization")
def instance_norm(d):
    channels = d.whole(1, 4)
    return [d.given("float32", [d.whole(1, 3), channels, *d.shape(1, 3, 6)]), d.weights("float32", [channels]),
            d.weights("float32", [channels])], {"epsilon": d.pick(1e-5, 1e-2), "tolerance": 1e-3}


@operator("BatchNormalization")
def batch_norm(d):
    channels = d.whole(1, 4)
    parts = [d.weights("float32", [channels], 0.5, 2.0) for _ in range(4)]
    train = d.chance(0.3)
    return [d.given("float32", [d.whole(1, 3), channels, *d.shape(0, 3, 6)]), *parts], \
        {"opset": 15, "tolerance": 1e-3, **({"training_mode": 1, "results": 3, "momentum": 0.8} if train else {})}


@operator("RMSNormalization")
def rms_norm(d):
    shape = d.shape(1, 4, 7)
    axis = d.axis(len(shape))
    return [d.given("float32", shape), d.weights("float32", shape[axis:])], \
        {"axis": axis, "opset": 23, "epsilon": d.pick(1e-5, 1e-2), "tolerance": 1e-4}


@operator("LpNormalization")
def lp_norm(d):
    shape = d.shape(1, 4, 7)
    return [d.given("float32", shape)], {"axis": d.axis(len(shape)), "p": d.whole(1, 2)}


@operator("MeanVarianceNormalization")
def mean_variance(d):
    shape = d.shape(1, 4, 7)
    axes = d.axes(len(shape), signed=False)
    wrong = ["onnxruntime"] if np.prod([shape[a] for a in axes]) == 1 else []  # 0 / 0, where 1e-9 is to be added
    return [d.given("float32", shape)], {"axes": axes, "tolerance": 1e-3, "wrong": wrong}


@operator("Softmax")
def softmax(d):
    shape = d.shape(1, 4)
    dtype = d.pick("float32", "float64", "float16")
    opset = d.pick(11, 13)  # before 13, of all dimensions from the axis on, which ONNX's reference does not know
    return [d.given(dtype, shape)], {"op": d.pick("Softmax", "LogSoftmax", "Hardmax"), "axis": d.axis(len(shape)),
                                     "opset": opset, "wrong": ["reference"] if opset < 13 else []}


@operator("Attention", unknown=False)
def attention(d):
    batch, heads, group = d.whole(1, 2), d.whole(1, 2), d.pick(1, 1, 2, 3)
    queries, keys, size, wide = d.whole(1, 5), d.whole(1, 6), d.whole(1, 5), d.whole(1, 5)
    options, past = {"opset": d.pick(23, 24), "is_causal": d.whole(0, 1), "tolerance": 1e-4}, 0
    flat = d.chance(0.4)
    if flat:
        options.update(q_num_heads=heads * group, kv_num_heads=heads)
        operands = [d.given("float32", [batch, queries, heads * group * size]),
                    d.given("float32", [batch, keys, heads * size]), d.given("float32", [batch, keys, heads * wide])]
    else:
        operands = [d.given("float32", [batch, heads * group, queries, size]),
                    d.given("float32", [batch, heads, keys, size]), d.given("float32", [batch, heads, keys, wide])]
    cached = d.chance(0.3)
    if cached:
        past = d.whole(1, 4)
    mask = None
    if d.chance(0.5):
        shape = d.pick([queries, keys + past], [1, 1, queries, keys + past],
                       [batch, heads * group, queries, keys + past])
        mask = d.given(d.pick("float32", "bool"), shape)
        if mask.value.dtype == bool:
            mask.value[..., 0] = True
    if cached:
        operands += [mask, *[d.given("float32", [batch, heads, past, last]) for last in (size, wide)]]
        options["results"] = 3
    elif mask is not None:
        operands.append(mask)
    if d.chance(0.3):
        options["scale"] = 0.3
    if d.chance(0.3):
        options["softcap"] = 2.0
    if cached and options["is_causal"]:
        options["wrong"] = ["onnxruntime"]  # the last query is to see the last key
    return operands, options


@operator("RotaryEmbedding", unknown=False)
def rotary(d):
    batch, heads, length, size = d.whole(1, 2), d.whole(1, 3), d.whole(1, 5), 2 * d.whole(1, 4)
    part = 2 * d.whole(1, size // 2) if d.chance(0.3) else 0
    most, half = length + d.whole(0, 3), (part or size) // 2
    options = {"interleaved": d.whole(0, 1), "opset": 23}
    x = [batch, heads, length, size] if d.chance(0.5) else [batch, length, heads * size]
    if len(x) == 3 or part:
        options["num_heads"] = heads
    if part:
        options["rotary_embedding_dim"] = part
    if d.chance(0.5):
        tables, positions = [most, half], [d.given("int64", [batch, length], 0, most - 1)]
    else:
        tables, positions = [batch, length, half], []
    return [d.given("float32", x), d.given("float32", tables), d.given("float32", tables), *positions], options


@operator("DFT")
def dft(d):
    opset = d.pick(17, 20)
    shape = [*d.shape(2, 4, 7), d.pick(1, 2)]
    rank = len(shape)
    axis = d.whole(0 if rank > 3 else 1, rank - 2)
    length = [d.known(np.array(d.whole(1, 9), np.int64), 1)] if d.chance(0.4) else []
    options = {"onesided": 1 if shape[-1] == 1 and d.chance(0.4) else 0, "opset": opset, "tolerance": 1e-3}
    if not options["onesided"]:
        options["inverse"] = d.whole(0, 1)
    if opset == 17:
        return [d.given("float32", shape, fixed=[-1]), *length], {"axis": axis, **options}
    return [d.given(d.pick("float32", "float64"), shape, fixed=[-1]), length[0] if length else None,
            d.known(np.array(axis - rank * d.whole(0, 1), np.int64), 1)], options


@operator("STFT")
def stft(d):
    length, frame, step = d.whole(16, 40), d.pick(4, 5, 8, 11), d.whole(1, 5)
    plain = d.chance(0.3)  # without the dimension of components
    operands = [d.given("float32", [d.whole(1, 3), length, 1][:3 - plain], fixed=[] if plain else [-1]),
                d.known(np.array(step, np.int64), 1)]
    by_window = d.chance(0.6)
    operands.append(d.weights("float32", [frame], 0.1, 1.0) if by_window else None)
    if not by_window or d.chance(0.4):
        operands.append(d.known(np.array(frame, np.int64), 1))
    return operands, {"onesided": d.whole(0, 1), "tolerance": 1e-3}


@operator("MelWeightMatrix", unknown=False)
def mel(d):
    return [d.known(np.array(value, kind), 1) for value, kind in
            [(d.whole(1, 9), np.int64), (d.pick(8, 16, 33), np.int64), (d.pick(8192, 16000), np.int64),
             (d.pick(0.0, 100.0), np.float32), (d.pick(3000.0, 4096.0), np.float32)]], {"tolerance": 1e-4}


@operator("HannWindow", unknown=False)
def windows(d):
    return [d.known(np.array(d.whole(2, 20), d.pick("int32", "int64")))], \
        {"op": d.pick("HannWindow", "HammingWindow", "BlackmanWindow"), "periodic": d.whole(0, 1), "tolerance": 1e-4,
         "output_datatype": d.pick(1, 11)}


@operator("NonMaxSuppression")
def non_max(d):
    batch, count, classes, center = d.whole(1, 2), d.whole(1, 8), d.whole(1, 3), d.whole(0, 1)
    corners = d.array("float32", [batch, count, 2], 0.0, 1.0)
    far = d.array("float32", [batch, count, 2], 0.05, 0.6)
    boxes = np.concatenate([corners, far if center else corners + far], -1)
    operands = [d.known(boxes, 0), d.given("float32", [batch, classes, count], 0.0, 1.0)]
    for value in [np.array([d.whole(0, 5)], np.int64), np.array([d.pick(0.0, 0.3, 0.5)], np.float32),
                  np.array([d.pick(0.0, 0.4)], np.float32)][:d.whole(1, 3)]:
        operands.append(d.known(value, 1))
    return operands, {"center_point_box": center}


@operator("Range", unknown=False)
def range_(d):
    kind = d.pick("int32", "int64", "float32", "float64", "int16")
    start, step = d.whole(-5, 5), d.pick(-3, -2, -1, 1, 2, 3)
    limit = start + step * d.whole(-1, 8) + d.whole(-1, 1)
    return [d.known(np.array(value, kind)) for value in (start, limit, step)], {}


def operand_pair(d, dtype, low=-2.0, high=2.0):
    """Two shapes that broadcast to one."""
    shape = d.shape(0, 4, 6, empty=0.1)
    parts = []
    for _ in range(2):
        part = [1 if d.chance(0.25) else size for size in shape]
        parts.append(part[d.whole(0, len(part)) if d.chance(0.3) else 0:])
    return [d.given(dtype, parts[0], low, high), d.weights(dtype, parts[1], low, high)]


@operator("Binary")
def binary(d):
    op = d.pick(*BINARY)
    options = {"op": op, "opset": 18}
    if op in ("And", "Or", "Xor"):
        return operand_pair(d, "bool"), options
    if op == "BitShift":
        dtype = d.pick("uint8", "uint16", "uint32", "uint64")
        x = operand_pair(d, dtype)
        x[1].value %= np.array(8, dtype)
        return x, {"direction": d.pick("LEFT", "RIGHT"), **options}
    if op.startswith("Bitwise"):
        return operand_pair(d, d.pick(*INTEGERS)), options
    dtype = d.pick(*FLOATS, *INTEGERS)
    if op == "Mod":
        options["fmod"] = 1 if dtype[0] == "f" else d.whole(0, 1)
        if options["fmod"] and dtype in ("int64", "uint64"):
            options["wrong"] = ["onnxruntime"]  # computes in doubles
    if op == "Pow":
        dtype = d.pick("float32", "float64", "int32", "int64")
        x = operand_pair(d, dtype, *(0, 4) if dtype[0] == "i" else (0.3, 2.0))
        return x, options
    x = operand_pair(d, dtype)
    if op in ("Div", "Mod"):
        x[1].value[x[1].value == 0] = 1
        if dtype[0] == "i":  # the least number over -1 has no result
            x[0].value[x[0].value == np.iinfo(dtype).min] = 5
    if op == "PRelu":
        x = [d.given(dtype, [3, 5]), d.weights(dtype, d.pick([5], [1], [3, 1], [3, 5]), -2.0)]
    return x, options


@operator("Where")
def where(d):
    dtype = d.pick(*FLOATS, *INTEGERS, "bool")
    return [d.weights("bool", [3, 1]), d.weights(dtype, [1, 4]), d.given(dtype, d.pick([], [3, 4], [4]))], {}


@operator("Clip")
def clip(d):
    dtype = d.pick(*FLOATS, *INTEGERS)
    low, high = (3, 40) if dtype[0] == "u" else (-40, 40) if dtype[0] == "i" else (-1.0, 0.5)
    operands = [d.given(dtype, d.shape(0, 4, empty=0.1)), d.known(np.array(low, dtype)) if d.chance(0.7) else None]
    if operands[1] is None or d.chance(0.7):
        operands.append(d.known(np.array(high, dtype)))
    return operands, {"opset": 13}


@operator("Unary")
def unary(d):
    op = d.pick("Abs", "Neg", "Ceil", "Floor", "Round", "Exp", "Tanh", "Erf", "Sign", "Sin", "Cos", "Atan", "Sigmoid",
                "HardSwish", "Softplus", "Selu", "Celu", "Elu", "ThresholdedRelu", "HardSigmoid", "Mish", "Gelu",
                "IsNaN", "LeakyRelu", "Shrink", "BitwiseNot", "Not", "Softsign", "Sinh", "Asinh", "Tan")
    dtype = d.pick("float32", "float64", "float16")
    if op in ("Abs", "Neg", "Sign"):
        dtype = d.pick(*FLOATS, *(INTEGERS if op != "Neg" else ["int8", "int16", "int32", "int64"]))
    if op == "BitwiseNot":
        dtype = d.pick(*INTEGERS)
    if op == "Not":
        dtype = "bool"
    with_alpha = ("Celu", "Elu", "ThresholdedRelu", "HardSigmoid", "LeakyRelu")
    options = {"alpha": d.pick(0.5, 1.5)} if op in with_alpha else {}
    if op == "Shrink":
        options = {"bias": d.pick(0.0, 0.3), "lambd": d.pick(0.5, 1.0)}
    if op == "Gelu":
        options = {"approximate": d.pick("none", "tanh")}
    return [d.given(dtype, d.shape(0, 4, empty=0.1))], {"op": op, "opset": 20, **options}


@operator("Cast")
def cast(d):
    source, to = d.pick(*FLOATS, *INTEGERS, "bool"), d.pick(1, 11, 10, 3, 5, 6, 7, 2, 4, 12, 13, 9)
    low, high = (0.0, 100.0) if to in (2, 4, 12, 13) else (-100.0, 100.0)
    return [d.given(source, d.shape(0, 4, empty=0.1), low, high)], {"to": to, "opset": d.pick(13, 19)}


@operator("Det")
def det(d):
    size = d.whole(1, 5)
    return [d.given("float32", [*d.shape(0, 2, 3), size, size], fixed=[-1, -2])], {"tolerance": 1e-3}


@operator("NegativeLogLikelihoodLoss")
def nll(d):
    batch, classes, tail = d.whole(1, 4), d.whole(2, 5), d.shape(0, 2, 4)
    operands = [d.given("float32", [batch, classes, *tail]), d.given("int64", [batch, *tail], 0, classes - 1)]
    op = d.pick("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
    if d.chance(0.5):
        operands.append(d.weights("float32", [classes], 0.2, 2.0))
    options = {"ignore_index": d.whole(0, classes - 1)} if d.chance(0.4) else {}
    return operands, {"op": op, "reduction": d.pick("none", "sum", "mean"), "opset": 13, "tolerance": 1e-3, **options}


def recurrent(name, gates, functions):
    @operator(name)
    def draw_recurrent(d):
        length, batch, inputs, hidden = d.whole(1, 4), d.whole(1, 3), d.whole(1, 4), d.whole(1, 4)
        direction = d.pick("forward", "reverse", "bidirectional")
        ways = 2 if direction == "bidirectional" else 1
        options = {"hidden_size": hidden, "direction": direction, "results": 3 if name == "LSTM" else 2}
        operands = [d.given("float32", [length, batch, inputs]),
                    d.weights("float32", [ways, gates * hidden, inputs]),
                    d.weights("float32", [ways, gates * hidden, hidden]),
                    d.weights("float32", [ways, 2 * gates * hidden]) if d.chance(0.6) else None,
                    d.given("int32", [batch], 1, length) if d.chance(0.4) else None,
                    d.given("float32", [ways, batch, hidden]) if d.chance(0.5) else None]
        if name == "LSTM":
            operands.append(d.given("float32", [ways, batch, hidden]) if d.chance(0.5) else None)
            operands.append(d.weights("float32", [ways, 3 * hidden]) if d.chance(0.3) else None)
            options["input_forget"] = d.whole(0, 1) if d.chance(0.2) else 0
        if name == "GRU":
            options["linear_before_reset"] = d.whole(0, 1)
        if d.chance(0.3):
            options["clip"] = 0.5
        if d.chance(0.4):
            options["activations"] = [d.pick("Tanh", "Sigmoid", "Relu") for _ in range(functions * ways)]
        return operands, {"tolerance": 1e-4, **options}


recurrent("RNN", 1, 1)
recurrent("GRU", 3, 2)
recurrent("LSTM", 4, 3)
