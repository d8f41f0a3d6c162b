"""Operators that move elements or sweep windows over places: resizing, pooling, convolutions, indexing, padding."""

import numpy as np

from draw import FLOATS, INTEGERS, operator


@operator("Resize")
def resize(d):
    mode = d.pick("nearest", "linear", "cubic")
    rank = d.whole(1, 5) if mode == "nearest" else 4 if mode == "cubic" else d.whole(3, 5)
    shape = [d.size(7) for _ in range(rank)]
    opset = d.pick(11, 13, 18, 19, 21)
    # ONNX's reference starts a single pixel of pytorch_half_pixel at -0.5 and divides by a part of a pixel.
    options = {"mode": mode, "opset": opset, "wrong": ["reference"]}
    spatial = list(range(rank)) if mode == "nearest" and d.chance(0.3) else list(range(min(2, rank - 1), rank))
    axes = spatial if opset >= 18 and d.chance(0.4) else list(range(rank))
    transforms = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
    transforms += ["tf_half_pixel_for_nn"] * (opset < 13) + ["half_pixel_symmetric"] * (opset >= 19)
    options["coordinate_transformation_mode"] = d.pick(*transforms)
    if mode == "nearest" or d.chance(0.1):
        options["nearest_mode"] = d.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        options["cubic_coeff_a"] = d.pick(-0.75, -0.5, -0.3)
        options["exclude_outside"] = d.whole(0, 1)
    # Of other transformations, ONNX Runtime's and ONNX's antialiased edges differ.
    plain = options["coordinate_transformation_mode"] in ("half_pixel", "pytorch_half_pixel", "align_corners")
    if opset >= 18 and mode != "nearest" and plain and d.chance(0.4):
        options["antialias"] = 1
    if axes is spatial:
        options["axes"] = axes
    if options["coordinate_transformation_mode"] == "half_pixel_symmetric":
        options["nearest_mode"] = "round_prefer_floor"  # whole positions are not whole in floats
    ratios = [d.pick(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 1.7) if a in spatial else 1.0
              for a in axes]
    sizes = [max(1, int(shape[a] * ratio)) for a, ratio in zip(axes, ratios)]
    if any(ratio != 1 for ratio in ratios) and sizes == [shape[a] for a in axes]:
        options["wrong"] = ["reference", "onnxruntime"]  # it copies what keeps its shape, whatever the scales say
    roi = None
    if options["coordinate_transformation_mode"] == "tf_crop_and_resize":
        # ONNX Runtime crops nothing from an axis whose scale is 1.
        cropped = [a in spatial and ratio != 1 and size != shape[a] for a, ratio, size in zip(axes, ratios, sizes)]
        starts = [d.pick(0.0, 0.125, 0.25, -0.3) if crop else 0.0 for crop in cropped]
        ends = [d.pick(1.0, 0.875, 0.6, 1.3) if crop else 1.0 for crop in cropped]
        roi = d.known(np.array(starts + ends, np.float32))
        options["extrapolation_value"] = d.pick(0.0, 2.0)  # halves as integers: rounded here, cut in ONNX Runtime
    # Integers between places: ONNX Runtime rounds towards zero, and ONNX's reference loses neighbours.
    dtype = d.pick("float32", "float16", *["uint8", "int8", "int32"] if mode == "nearest" else ["float32"] * 3)
    x = d.given(dtype, shape)
    if d.chance(0.5):
        return [x, roi, d.known(np.array(ratios, np.float32))], options
    if opset >= 18 and roi is None and d.chance(0.4):
        options["keep_aspect_ratio_policy"] = d.pick("not_larger", "not_smaller", "stretch")
        if axes is not spatial and options["keep_aspect_ratio_policy"] != "stretch":
            return resize(d)
    return [x, roi, None, d.known(np.array(sizes, np.int64))], options


def window(d, rank, ceil=True, dilations=True, gaps=False):
    """Attributes of a sweep over `rank` dimensions, and sizes that it fits. `gaps`: SAME with strides that leave places
    out, and dilations: of pools and transposed convolutions, no peer makes input / stride or input * stride of them."""
    kernel, options = [d.pick(1, 1, 2, 3, 3, 4, 5) for _ in range(rank)], {}
    options["kernel_shape"] = kernel
    if d.chance(0.7):
        options["strides"] = d.wholes(rank, 1, 4)
    if dilations and d.chance(0.4):
        options["dilations"] = d.wholes(rank, 1, 3)
    mode = d.pick("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    mode = "NOTSET" if "dilations" in options and not gaps else mode
    if mode != "NOTSET":
        options["auto_pad"] = mode
        if not gaps and "strides" in options:
            options["strides"] = [min(step, size) for step, size in zip(options["strides"], kernel)]
    elif d.chance(0.7):
        options["pads"] = [d.whole(0, k - 1) for k in kernel] + [d.whole(0, k - 1) for k in kernel]
    if ceil and d.chance(0.5):
        options["ceil_mode"] = 1
    extents = [(k - 1) * step + 1 for k, step in zip(kernel, options.get("dilations", [1] * rank))]
    return options, [extent + d.whole(0, 6) for extent in extents]


def wrong_peers(options, spatial):
    """ONNX Runtime pads by less than nothing where SAME's strides leave places out at an end."""
    if options.get("auto_pad", "")[:4] != "SAME" or "strides" not in options:
        return []
    gaps = options.get("dilations", [1] * len(spatial))
    extents = [(k - 1) * gap + 1 for k, gap in zip(options["kernel_shape"], gaps)]
    less = [(-(-size // step) - 1) * step + extent < size
            for size, step, extent in zip(spatial, options["strides"], extents)]
    return ["onnxruntime"] if any(less) else []


@operator("MaxPool")
def max_pool(d):
    options, spatial = window(d, d.whole(1, 3))
    dtype = d.pick("float32", "float32", "float16", "float64", "int8", "uint8")
    return [d.given(dtype, [d.whole(1, 2), d.whole(1, 3), *spatial])], {"opset": d.pick(12, 17, 22), **options}


@operator("MaxPool-indices")
def max_pool_indices(d):
    options, spatial = window(d, d.whole(1, 3))
    options["storage_order"] = d.whole(0, 1)
    x = d.array(d.pick("float32", "float64", "int8", "uint8"), [d.whole(1, 2), d.whole(1, 3), *spatial], -3, 3)
    return [d.known(x, 0)], {"results": 2, "opset": d.pick(12, 17, 22), **options}


@operator("AveragePool")
def average_pool(d):
    opset = d.pick(11, 17, 19, 22)
    options, spatial = window(d, d.whole(1, 3), dilations=opset >= 19)
    options["count_include_pad"] = d.whole(0, 1)
    return [d.given(d.pick("float32", "float32", "float16"), [d.whole(1, 2), d.whole(1, 3), *spatial])], \
        {"opset": opset, **options}


@operator("LpPool")
def lp_pool(d):
    opset = d.pick(11, 18, 22)
    options, spatial = window(d, d.whole(1, 3), ceil=opset >= 18, dilations=opset >= 18)
    options["p"] = d.whole(1, 4)
    options["wrong"] = wrong_peers(options, spatial)
    return [d.given("float32", [d.whole(1, 2), d.whole(1, 3), *spatial])], {"opset": opset, **options}


@operator("GlobalAveragePool")
def global_pool(d):
    return [d.given("float32", d.shape(3, 5))], {"op": d.pick("GlobalAveragePool", "GlobalMaxPool")}


@operator("GlobalLpPool")
def global_lp_pool(d):
    return [d.given("float32", d.shape(3, 5))], {"p": d.whole(1, 4)}


@operator("MaxUnpool")
def max_unpool(d):
    rank = d.whole(1, 3)
    kernel, strides = d.wholes(rank, 1, 3), d.wholes(rank, 1, 3)
    small = [d.whole(1, 2), d.whole(1, 3), *d.wholes(rank, 1, 4)]
    pads = [d.whole(0, k - 1) for k in kernel + kernel]
    large = [(size - 1) * s - low - high + k for size, s, k, low, high in
             zip(small[2:], strides, kernel, pads, pads[rank:])]
    if min(large) < 1:
        return max_unpool(d)
    operands = [d.given("float32", small)]
    shape = [*small[:2], *[size + d.whole(0, 2) for size in large]] if d.chance(0.4) else [*small[:2], *large]
    count = int(np.prod(small))
    if int(np.prod([*small[:2], *large])) < count:
        return max_unpool(d)
    places = d.random.permutation(int(np.prod([*small[:2], *large])))[:count]
    operands.append(d.known(places.reshape(small).astype(np.int64), 0))
    options = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    if shape[2:] != large:
        operands.append(d.ints(shape))
        options["wrong"] = ["onnxruntime"]  # takes the indices for those of the larger shape
    return operands, options


@operator("Conv")
def conv(d):
    rank, group = d.whole(1, 3), d.pick(1, 1, 2, 3)
    options, spatial = window(d, rank, ceil=False, gaps=True)
    kernel, options["wrong"] = options["kernel_shape"], wrong_peers(options, spatial)
    if d.chance(0.5):
        del options["kernel_shape"]
    dtype, per_group = d.pick("float32", "float32", "float32", "float64", "float16"), d.whole(1, 3)
    outputs = group * d.whole(1, 4)
    operands = [d.given(dtype, [d.whole(1, 2), group * per_group, *spatial]),
                d.weights(dtype, [outputs, per_group, *kernel])]
    if d.chance(0.5):
        operands.append(d.weights(dtype, [outputs]))
    return operands, {"group": group, "tolerance": 4e-2 if dtype == "float16" else 1e-4, **options}


@operator("ConvInteger")
def conv_integer(d):
    rank, group = d.whole(1, 3), d.pick(1, 1, 2)
    options, spatial = window(d, rank, ceil=False, gaps=True)
    x, w, per_group, outputs = d.pick("int8", "uint8"), d.pick("int8", "uint8"), d.whole(1, 3), group * d.whole(1, 4)
    operands = [d.given(x, [d.whole(1, 2), group * per_group, *spatial]),
                d.weights(w, [outputs, per_group, *options["kernel_shape"]], -2.0)]
    if d.chance(0.7):
        operands.append(d.weights(x, [], -2.0))
        if d.chance(0.6):
            operands.append(d.weights(w, [], -2.0))
    return operands, {"group": group, "wrong": wrong_peers(options, spatial), **options}


@operator("QLinearConv")
def qlinear_conv(d):
    rank, group = d.whole(1, 3), d.pick(1, 1, 2)
    options, spatial = window(d, rank, ceil=False, gaps=True)
    x, per_group, outputs = d.pick("int8", "uint8"), d.whole(1, 3), group * d.whole(1, 4)
    w, y = x if x == "int8" else d.pick("int8", "uint8"), x
    each = [outputs] if d.chance(0.4) else []
    scales = [d.known(np.array(d.pick(0.02, 0.1), np.float32)), d.weights("float32", each, 0.01, 0.05),
              d.known(np.array(d.pick(0.3, 0.5), np.float32))]
    operands = [d.given(x, [d.whole(1, 2), group * per_group, *spatial]), scales[0], d.weights(x, [], -3, 3),
                d.weights(w, [outputs, per_group, *options["kernel_shape"]], -2.0), scales[1],
                d.known(np.zeros(each, w)) if w == "int8" else d.weights(w, each, 0, 5), scales[2],
                d.weights(y, [], -3, 3)]
    if d.chance(0.5):
        operands.append(d.weights("int32", [outputs], -200, 200))
    wrong = ["reference", *wrong_peers(options, spatial)]  # it knows two dimensions
    return operands, {"group": group, "tolerance": 1, "wrong": wrong, **options}


@operator("ConvTranspose")
def conv_transpose(d):
    rank, group = d.whole(1, 3), d.pick(1, 1, 2, 3)
    options, _ = window(d, rank, ceil=False)
    kernel, dtype = options["kernel_shape"], "float32"  # of float64, there is only a peer that forgets kernels of 1
    strides = options.get("strides", [1] * rank)
    spatial = d.wholes(rank, 2, 6)
    if d.chance(0.4):
        options["output_padding"] = [d.whole(0, s - 1) for s in strides]
    if d.chance(0.3) and "pads" not in options:
        extents = [(k - 1) * step + 1 for k, step in zip(kernel, options.get("dilations", [1] * rank))]
        full = [(size - 1) * s + extent for size, s, extent in zip(spatial, strides, extents)]
        options["output_shape"] = [max(1, size - d.whole(0, 3)) for size in full]
        options.pop("auto_pad", None)
        options["auto_pad"] = d.pick("NOTSET", "SAME_UPPER", "SAME_LOWER")
    per_group, inputs = d.whole(1, 3), group * d.whole(1, 3)
    operands = [d.given(dtype, [d.whole(1, 2), inputs, *spatial]), d.weights(dtype, [inputs, per_group, *kernel])]
    if d.chance(0.5):
        operands.append(d.weights(dtype, [group * per_group]))
    return operands, {"group": group, **options}


@operator("Pad")
def pad(d):
    mode, opset = d.pick("constant", "reflect", "edge", "wrap"), d.pick(13, 18, 19, 21)
    opset = 19 if mode == "wrap" and opset < 19 else opset
    shape = d.shape(1, 4, empty=0.1 if mode == "constant" else 0)
    axes = d.axes(len(shape)) if opset >= 18 and d.chance(0.4) else None
    count = len(axes) if axes else len(shape)
    low = -2 if d.chance(0.4) else 0
    pads = []
    for side in range(2 * count):
        size = shape[axes[side % count] if axes else side]if side < count or axes else shape[side - count]
        pads.append(d.whole(max(low, -(size // 2)), 3 if mode == "constant" else min(3, max(size - 1, 0))))
    dtype = d.pick(*FLOATS, *INTEGERS, "bool")
    value = d.weights(dtype, []) if mode == "constant" and d.chance(0.6) else None
    operands = [d.given(dtype, shape), d.known(np.array(pads, np.int64)), value]
    if axes:
        operands.append(d.known(np.array(axes, d.pick("int32", "int64"))))
    return operands if operands[-1] is not None else operands[:2], {"mode": mode, "opset": opset}


@operator("GridSample")
def grid_sample(d):
    opset, rank = d.pick(16, 20, 22), d.whole(1, 3)
    rank = 2 if opset == 16 else max(rank, 2)
    linear = "bilinear" if opset == 16 else "linear"
    mode = d.pick("nearest", linear, "bicubic" if opset == 16 else "cubic") if rank == 2 else d.pick("nearest", linear)
    batch, dtype = d.whole(1, 2), d.pick("float32", "float32", "float64")
    return [d.given(dtype, [batch, d.whole(1, 3), *d.wholes(rank, 1, 6)]),
            d.given(dtype, [batch, *d.wholes(rank, 1, 5), rank], -1.4, 1.4)], \
        {"mode": mode, "padding_mode": d.pick("zeros", "border", "reflection"), "align_corners": d.whole(0, 1),
         "opset": opset, "tolerance": 1e-4}


@operator("AffineGrid")
def affine_grid(d):
    rank, batch, aligned = d.whole(2, 3), d.whole(1, 3), d.whole(0, 1)  # a single aligned point is in the middle
    return [d.given("float32", [batch, rank, rank + 1]),
            d.known(np.array([batch, 3, *d.wholes(rank, 1 + aligned, 6)], np.int64))], \
        {"align_corners": aligned, "opset": 20}


@operator("RoiAlign")
def roi_align(d):
    batch, count = d.whole(1, 3), d.whole(1, 5)
    corners = d.array("float32", [count, 2], -2.0, 8.0)
    boxes = np.concatenate([corners, corners + d.array("float32", [count, 2], -0.5, 9.0)], 1)
    return [d.given("float32", [batch, d.whole(1, 3), *d.wholes(2, 2, 9)]), d.known(boxes, 0),
            d.given("int64", [count], 0, batch - 1)], \
        {"output_height": d.whole(1, 4), "output_width": d.whole(1, 4), "sampling_ratio": d.whole(0, 3),
         "mode": d.pick("avg", "max"), "spatial_scale": d.pick(1.0, 0.5, 0.25), "opset": 16,
         "coordinate_transformation_mode": d.pick("half_pixel", "output_half_pixel"), "tolerance": 1e-4}


@operator("MaxRoiPool", unknown=False)
def max_roi_pool(d):
    batch, count = d.whole(1, 3), d.whole(1, 4)
    corners = d.random.integers(0, 4, [count, 2])
    boxes = np.concatenate([d.random.integers(0, batch, [count, 1]), corners,
                            corners + d.random.integers(0, 6, [count, 2])], 1).astype(np.float32)
    return [d.given("float32", [batch, d.whole(1, 3), *d.wholes(2, 2, 9)]), d.known(boxes, 0)], \
        {"pooled_shape": d.wholes(2, 1, 4), "spatial_scale": d.pick(1.0, 0.5)}


@operator("Slice")
def slice_(d):
    shape = d.shape(1, 4, empty=0.1)
    axes = d.axes(len(shape))
    starts = [d.whole(-shape[a] - 2, shape[a] + 2) for a in axes]
    steps = [d.pick(1, 1, 2, 3, -1, -2, 7) for _ in axes]
    ends = [d.pick(d.whole(-shape[a] - 2, shape[a] + 2), *[2**31 - 1, 2**63 - 1] if step > 0 else [-2**31, -2**62])
            for a, step in zip(axes, steps)]
    kind = "int64" if max(abs(end) for end in ends) > 2**31 else d.pick("int32", "int64")
    operands = [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape), d.known(np.array(starts, kind)),
                d.known(np.array(ends, kind))]
    if d.chance(0.8) or sorted(axes) != list(range(len(axes))) or min(steps) < 0:
        operands.append(d.known(np.array(axes, kind)))
        if d.chance(0.7) or min(steps) < 0:
            operands.append(d.known(np.array(steps, kind)))
    return operands, {}


@operator("Gather")
def gather(d):
    shape = d.shape(1, 4)
    axis = d.axis(len(shape))
    size = shape[axis]
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape),
            d.weights(d.pick("int32", "int64"), d.shape(0, 3, 4, empty=0.1), -size, size - 1)], {"axis": axis}


@operator("GatherElements")
def gather_elements(d):
    shape = d.shape(1, 4)
    axis = d.axis(len(shape))
    size, picked = shape[axis], [d.whole(1, s) for s in shape]
    picked[axis] = d.whole(0, 6)
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape),
            d.weights(d.pick("int32", "int64"), picked, -size, size - 1)], {"axis": axis}


def places(d, shape, depth, lead):
    """Indices [*lead, depth] of the first `depth` of these sizes, some from the end."""
    columns = [d.array("int64", lead, -size, size - 1) for size in shape[:depth]]
    return np.stack(columns, -1) if columns else np.zeros([*lead, 0], np.int64)


@operator("GatherND")
def gather_nd(d):
    shape, batch = d.shape(1, 4), 0
    if len(shape) > 1 and d.chance(0.4):
        batch = d.whole(1, len(shape) - 1)
    depth = d.whole(1, len(shape) - batch)
    lead = shape[:batch] + d.shape(0 if batch else 1, 2, 4)
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape),
            d.known(places(d, shape[batch:], depth, lead))], {"batch_dims": batch}


@operator("ScatterElements")
def scatter_elements(d):
    shape, opset = d.shape(1, 4), d.pick(13, 16, 18)
    axis, dtype = d.axis(len(shape)), d.pick("float32", "float64", "float16", "int32", "int64", "uint8", "int8")
    size, picked = shape[axis], [d.whole(1, s) for s in shape]
    options = {"axis": axis, "opset": opset}
    reductions = ["none", "add", "mul"] + ["min", "max"] * (opset >= 18)
    if opset >= 16:
        options["reduction"] = d.pick(*reductions)
    if options.get("reduction", "none") == "none":  # duplicates have no defined winner
        line = d.random.permutation(size)[:picked[axis]]
        wide = [1] * len(shape)
        wide[axis] = len(line)
        indices = np.broadcast_to(line.reshape(wide), picked) - size * d.random.integers(0, 2, picked)
    else:
        picked[axis] = d.whole(1, 6)
        indices = d.array("int64", picked, -size, size - 1)
    return [d.given(dtype, shape, -3, 3), d.known(np.array(indices, d.pick("int32", "int64"))),
            d.given(dtype, picked, -3, 3)], options


@operator("ScatterND")
def scatter_nd(d):
    shape, opset = d.shape(1, 4, 6), d.pick(13, 16, 18)
    depth, options = d.whole(1, len(shape)), {"opset": opset}
    dtype = d.pick("float32", "float64", "float16", "int32", "int64", "uint8", "int8")
    if opset >= 16:
        options["reduction"] = d.pick("none", "add", "mul", *["min", "max"] * (opset >= 18))
    if options.get("reduction", "none") == "none":
        total = int(np.prod(shape[:depth]))
        flat = d.random.permutation(total)[:d.whole(1, total)]
        indices = np.stack(np.unravel_index(flat, shape[:depth]), -1)
        indices = indices - np.array(shape[:depth]) * d.random.integers(0, 2, indices.shape)
    else:
        indices = places(d, shape, depth, d.shape(1, 2, 4))
    return [d.given(dtype, shape, -3, 3), d.known(indices.astype(np.int64)),
            d.given(dtype, [*indices.shape[:-1], *shape[depth:]], -3, 3)], options


@operator("TensorScatter", unknown=False)
def tensor_scatter(d):
    batch, length, mode = d.whole(1, 3), d.whole(2, 7), d.pick("linear", "circular")
    middle, last, fresh = d.shape(0, 2, 4), d.whole(1, 4), d.whole(1, length)
    shape = [batch, *middle, length, last]
    update = [batch, *middle, fresh, last]
    starts = d.array("int64", [batch], 0, length - 1 if mode == "circular" else length - fresh)
    return [d.given("float32", shape), d.given("float32", update), d.known(starts, 0)], \
        {"mode": mode, "axis": -2, "opset": 24}


@operator("Transpose")
def transpose(d):
    shape = d.shape(0, 5, 6, empty=0.1)
    options = {"perm": [int(i) for i in d.random.permutation(len(shape))]} if shape and d.chance(0.8) else {}
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape)], options


@operator("Concat")
def concat(d):
    shape = d.shape(1, 4, 6)
    axis, dtype = d.axis(len(shape)), d.pick(*FLOATS, *INTEGERS, "bool")
    parts = []
    for _ in range(d.whole(1, 4)):
        shape[axis] = d.whole(0, 5)
        parts.append(d.weights(dtype, list(shape)))
    return parts, {"axis": axis}


@operator("Split")
def split(d):
    shape, opset = d.shape(1, 4), d.pick(13, 18)
    axis, count = d.axis(len(shape)), d.whole(1, 4)
    if opset == 18 and d.chance(0.5):
        return [d.given("float32", shape)], {"axis": axis, "num_outputs": count, "results": count, "opset": 18}
    sizes = d.wholes(count, 0, 5)
    shape[axis] = sum(sizes)
    return [d.given(d.pick(*FLOATS, *INTEGERS), shape), d.known(np.array(sizes, np.int64))], \
        {"axis": axis, "results": count, "opset": opset}


@operator("Tile")
def tile(d):
    shape = d.shape(0, 4, 5)
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape),
            d.known(np.array(d.wholes(len(shape), 0 if d.chance(0.1) else 1, 3), np.int64))], {}


@operator("Expand")
def expand(d):
    shape = d.shape(0, 4, 5)
    wanted = [size if d.chance(0.5) else 1 for size in shape]
    shape = [1 if d.chance(0.3) else size for size in shape]
    wanted = [d.whole(0, 4) if a == 1 and d.chance(0.5) else b for a, b in zip(shape, wanted)]
    wanted = d.wholes(d.whole(0, 2), 1, 3) + wanted[d.whole(0, len(wanted)):] if d.chance(0.3) else wanted
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape), d.known(np.array(wanted, np.int64))], {}


@operator("Reshape")
def reshape(d):
    shape = d.shape(0, 4, 6, empty=0.1)
    wanted = [int(i) for i in d.random.permutation(shape)]
    options = {"opset": d.pick(13, 14, 21)}
    if options["opset"] > 13 and d.chance(0.3):
        options["allowzero"] = 1
    elif wanted and 0 not in shape and d.chance(0.5):
        wanted[d.whole(0, len(wanted) - 1)] = -1
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape), d.known(np.array(wanted, np.int64))], options


@operator("Flatten")
def flatten(d):
    shape = d.shape(0, 4, 6, empty=0.1)
    return [d.given(d.pick(*FLOATS, *INTEGERS), shape)], {"axis": d.whole(-len(shape), len(shape))}


@operator("Squeeze")
def squeeze(d):
    shape = [1 if d.chance(0.5) else size for size in d.shape(0, 5, 6)]
    ones = [axis - len(shape) * d.whole(0, 1) for axis, size in enumerate(shape) if size == 1 and d.chance(0.8)]
    return [d.given("float32", shape)] + [d.ints(ones)] * bool(ones), {}


@operator("Unsqueeze")
def unsqueeze(d):
    shape, count = d.shape(0, 3, 6, empty=0.1), d.whole(1, 3)
    axes = [int(axis) for axis in d.random.permutation(len(shape) + count)[:count]]
    return [d.given("float32", shape),
            d.known(np.array([a - d.whole(0, 1) * (len(shape) + count) for a in axes], np.int64))], {}


@operator("DepthToSpace")
def depth_to_space(d):
    block = d.whole(1, 3)
    shape = [d.whole(1, 3), block * block * d.whole(1, 3), d.whole(1, 4), d.whole(1, 4)]
    return [d.given(d.pick("float32", "float64", "uint8"), shape)], {"blocksize": block, "mode": d.pick("DCR", "CRD")}


@operator("SpaceToDepth")
def space_to_depth(d):
    block = d.whole(1, 3)
    return [d.given("float32", [d.whole(1, 3), d.whole(1, 3), block * d.whole(1, 4), block * d.whole(1, 4)])], \
        {"blocksize": block}


@operator("ReverseSequence")
def reverse_sequence(d):
    shape, time = d.shape(2, 4, 6), d.whole(0, 1)
    return [d.given("float32", shape), d.given("int64", [shape[1 - time]], 1, shape[time])], \
        {"time_axis": time, "batch_axis": 1 - time}


@operator("Trilu")
def trilu(d):
    shape = d.shape(2, 4, empty=0.1)
    k = [d.known(np.array(d.whole(-9, 9), np.int64))] if d.chance(0.7) else []
    return [d.given(d.pick(*FLOATS, *INTEGERS, "bool"), shape), *k], {"upper": d.whole(0, 1)}


@operator("EyeLike")
def eye_like(d):
    options = {"k": d.whole(-5, 5)}
    if d.chance(0.6):
        options["dtype"] = d.pick(1, 6, 7, 10, 11)
    return [d.given(d.pick("float32", "int32", "float64", "int64"), d.shape(2, 2, empty=0.1))], options


@operator("OneHot")
def one_hot(d):
    depth, kind = d.whole(1, 7), d.pick("float32", "int32", "int64")
    rank = d.whole(0, 3)
    shape = [d.size(5) for _ in range(rank)]
    return [d.known(d.array("int64", shape, -depth - 1, depth + 1).astype(d.pick("int32", "int64", "float32")), 0),
            d.known(np.array(depth if d.chance(0.5) else [depth], np.int64)), d.weights(kind, [2], -3, 3)], \
        {"axis": d.whole(-rank - 1, rank)}


@operator("CenterCropPad", unknown=False)
def center_crop_pad(d):
    shape = d.shape(1, 4)
    axes = d.axes(len(shape)) if d.chance(0.6) else None
    wanted = d.wholes(len(axes) if axes else len(shape), 1, 12)
    options = {"axes": axes} if axes else {}
    return [d.given(d.pick("float32", "int32"), shape), d.ints(wanted)], {"opset": 18, **options}


@operator("Col2Im", unknown=False)
def col2im(d):
    rank, options = d.whole(1, 3), {}
    block, dilations, strides = d.wholes(rank, 1, 3), d.wholes(rank, 1, 2), d.wholes(rank, 1, 3)
    pads = [d.whole(0, 1) for _ in range(2 * rank)]
    image = [(k - 1) * step + 1 + d.whole(0, 5) for k, step in zip(block, dilations)]
    counts = [(size + pads[i] + pads[rank + i] - ((block[i] - 1) * dilations[i] + 1)) // strides[i] + 1
              for i, size in enumerate(image)]
    options = {"dilations": dilations, "strides": strides, "pads": pads}
    x = d.given("float32", [d.whole(1, 2), d.whole(1, 2) * int(np.prod(block)), int(np.prod(counts))])
    # ONNX Runtime adds what pads cut off to other places.
    return [x, d.ints(image), d.ints(block)], {"opset": 18, "wrong": ["onnxruntime"], **options}


@operator("NonZero")
def non_zero(d):
    dtype = d.pick("float32", "int32", "int64", "uint8", "bool")
    shape = d.shape(0, 4, 6, empty=0.1)
    return [d.given(dtype, shape, 0, 1)], {} if shape else {"wrong": ["onnxruntime"]}  # gives a scalar a coordinate


@operator("Compress")
def compress(d):
    shape = d.shape(1, 4)
    options = {"axis": d.axis(len(shape))} if d.chance(0.7) else {}
    count = shape[options["axis"]] if options else int(np.prod(shape))
    return [d.given(d.pick("float32", "int32"), shape), d.given("bool", [d.whole(0, count)])], options


@operator("Unique")
def unique(d):
    shape = d.shape(1, 3, 6)
    options = {"axis": d.axis(len(shape))} if d.chance(0.6) else {}
    return [d.given(d.pick("float32", "int64", "int8"), shape, 0, 2)], \
        {"sorted": d.whole(0, 1), "results": 4, "opset": 11, **options}
