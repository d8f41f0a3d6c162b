"""CHLO's scan, ragged_dot and top_k, and calls that choose the largest. Run as a script to write chlo/*.mlir anew."""

import numpy as np

from case import NAMES, Suite, type_of


def scans():
    s = Suite("scan", "chlo.scan: slices in order and in reverse, several inputs, outputs of other types.")
    x, y, start = s.floats(4, 3), s.ints(4), s.floats(3)
    body = """%0:3 = "chlo.scan"(%a, %b, %c) ({{
^bb0(%x: tensor<3xf32>, %y: tensor<i32>, %carry: tensor<3xf32>):
  %1 = stablehlo.convert %y : (tensor<i32>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<3xf32>
  %4 = stablehlo.subtract %3, %carry : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
  %5 = stablehlo.compare GT, %4, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  stablehlo.return %3, %5, %4 : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>
}}) {{dimension = 0 : i64, is_reverse = {0}, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>}} : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>)
return %0#0, %0#1, %0#2 : tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>"""
    for reverse in [False, True]:
        carry, first, second = start, np.zeros((4, 3), np.float32), np.zeros((4, 3), bool)
        for i in range(3, -1, -1) if reverse else range(4):
            first[i] = x[i] * y[i]
            carry = (first[i] - carry).astype(np.float32)
            second[i] = carry > 0
        s.add("reverse" if reverse else "forward", body.format(str(reverse).lower()), [x, y, start], [first, second, carry])
    pretty = """%0:2 = chlo.scan(%a) inits (%b) dimension=1 attributes {is_associative = true, is_reverse = false} {
^bb0(%input: tensor<2xf32>, %carry: tensor<2xf32>):
  %1 = stablehlo.add %input, %carry : tensor<2xf32>
  stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
} : (tensor<2x5xf32>, tensor<2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>)
return %0#0, %0#1 : tensor<2x5xf32>, tensor<2xf32>"""
    x, start = s.floats(2, 5), s.floats(2)
    sums = np.cumsum(x, 1) + start[:, None]
    s.add("columns", pretty, [x, start], [sums, sums[:, -1]])
    # Sizes that a call knows: of what is scanned along, and of slices, which the region alone tells of the second result.
    open_sizes = """%0:3 = "chlo.scan"(%a, %b, %c) ({{
^bb0(%x: tensor<?xf32>, %y: tensor<i32>, %carry: tensor<?xf32>):
  %1 = stablehlo.add %x, %carry : tensor<?xf32>
  %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  stablehlo.return %1, %2, %1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}}) {{dimension = 0 : i64, is_reverse = {0}, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>}} : (tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>)
return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>"""
    types = ["tensor<?x?xf32>", "tensor<?xi32>", "tensor<?xf32>"]
    for rows, reverse in [(4, False), (3, True), (0, False)]:
        x, y, start = s.floats(rows, 3), s.ints(rows), s.floats(3)
        order = slice(None, None, -1) if reverse else slice(None)
        sums = (np.cumsum(x[order], 0) + start)[order]
        s.add(f"open_{rows}{'_reverse' if reverse else ''}", open_sizes.format(str(reverse).lower()), [x, y, start],
              [sums, np.concatenate([sums, x], 1), (sums[0] if reverse else sums[-1]) if rows else start], types=types,
              results=["tensor<?x?xf32>", "tensor<?x?xf32>", "tensor<?xf32>"])
    s.write("chlo")


def ragged(s, name, x, y, sizes, numbers, want):
    keys = ["lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
            "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions"]
    text = ", ".join(f"{k} = {v}" for k, v in zip(keys, numbers))
    types = [type_of(v) for v in (x, y, sizes)]
    s.add(name, f"%0 = \"chlo.ragged_dot\"(%a, %b, %c) {{precision_config = [#chlo<precision DEFAULT>, "
          f"#chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<{text}>}} : "
          f"({', '.join(types)}) -> {type_of(want)}\nreturn %0 : {type_of(want)}", [x, y, sizes], [want])


def ragged_dots():
    s = Suite("ragged", "chlo.ragged_dot: ragged rows, sums and batches.")
    x, y, sizes = s.floats(6, 4), s.floats(3, 4, 5), np.array([2, 0, 3], np.int32)
    want = np.zeros((6, 5), np.float32)
    ends = np.cumsum(sizes)
    for g in range(3):
        rows = slice(ends[g] - sizes[g], ends[g])
        want[rows] = x[rows] @ y[g]
    ragged(s, "rows", x, y, sizes, [[], [], [1], [1], [0], [0]], want)
    x, y, sizes = s.floats(2, 5, 4), s.floats(4, 3, 2, 3), np.array([[1, 2, 2], [3, 0, 1]], np.int32)
    want = np.zeros((2, 5, 3), np.float32)
    for b in range(2):
        ends = np.cumsum(sizes[b])
        for g in range(3):
            rows = slice(ends[g] - sizes[b, g], ends[g])
            want[b, rows] = x[b, rows] @ y[:, g, b]
    ragged(s, "rows_of_batches", x, y, sizes, [[0], [2], [2], [0], [1], [1]], want)
    x, y, sizes = s.ints(2, 3, 6), s.ints(2, 6, 4), np.array([2, 3], np.int64)
    want = np.stack([np.einsum("bmk,bkn->bmn", x[..., :2], y[:, :2]), np.einsum("bmk,bkn->bmn", x[..., 2:5], y[:, 2:5])])
    ragged(s, "sums", x, y, sizes, [[0], [0], [2], [1], [2], []], want.astype(np.int32))
    x, y = s.floats(4, 2, 3), s.floats(4, 3, 2)
    ragged(s, "batches", x, y, np.array([1, 3], np.int32), [[0], [0], [2], [1], [0], []], x @ y)
    s.write("chlo")


def largest():
    s = Suite("largest", "top_k of every type, and calls that are one.")
    for dtype in [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
                  np.float32, np.float64, np.bool_]:
        name = NAMES[np.dtype(dtype).name]
        if dtype is np.bool_:
            x = s.ints(2, 6, low=0, high=1).astype(bool)
        elif np.issubdtype(dtype, np.floating):
            x = s.floats(2, 6).astype(dtype)
        else:
            info = np.iinfo(dtype)
            x = np.array([[0, info.max, info.min, info.max // 2, 1, 5], [7, 7, info.max - 1, 3, info.max, 0]], dtype)
        order = np.array([sorted(range(6), key=lambda i: -row[i].item())[:4] for row in x])
        s.add(f"top_k_{name}", f"%0:2 = chlo.top_k(%a, k = 4) : {type_of(x)} -> (tensor<2x4x{name}>, tensor<2x4xi32>)\n"
              f"return %0#0, %0#1 : tensor<2x4x{name}>, tensor<2x4xi32>", [x],
              [np.take_along_axis(x, order, 1), order.astype(np.int32)])
    flags = np.array([True, False, True, False, False])
    for name, direction in [("ascending", "LT"), ("descending", "GT")]:
        order = np.argsort(flags if name == "ascending" else ~flags, kind="stable").astype(np.int32)
        s.add(f"sort_i1_{name}", f"""%i = stablehlo.iota dim = 0 : tensor<5xi32>
%0:2 = "stablehlo.sort"(%a, %i) ({{
^bb0(%x: tensor<i1>, %y: tensor<i1>, %p: tensor<i32>, %q: tensor<i32>):
  %1 = stablehlo.compare {direction}, %x, %y : (tensor<i1>, tensor<i1>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}}) {{dimension = 0 : i64, is_stable = true}} : (tensor<5xi1>, tensor<5xi32>) -> (tensor<5xi1>, tensor<5xi32>)
return %0#0, %0#1 : tensor<5xi1>, tensor<5xi32>""", [flags], [flags[order], order])
    x = s.floats(2, 5)
    order = np.argsort(-x, axis=1)[:, :2]
    s.add("called", "%0:2 = stablehlo.custom_call @TopK(%a) {called_computations = [@unused]} : (tensor<2x5xf32>) -> "
          "(tensor<2x2xf32>, tensor<2x2xi32>)\nreturn %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>", [x],
          [np.take_along_axis(x, order, 1), order.astype(np.int32)])
    order = np.argsort(x, axis=0)[:1]
    smaller = """func.func private @smaller(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
"""
    s.add("approximate", """%i = stablehlo.iota dim = 0 : tensor<2x5xi32>
%f = stablehlo.constant dense<0x7F800000> : tensor<f32>
%m = stablehlo.constant dense<-1> : tensor<i32>
%0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %f, %m) {called_computations = [@smaller], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 1 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x5xf32>, tensor<1x5xi32>)
return %0#0, %0#1 : tensor<1x5xf32>, tensor<1x5xi32>""", [x], [np.take_along_axis(x, order, 0), order.astype(np.int32)],
          extra=smaller)
    # More than k are given: as many as the result has, whose size may be in an operand.
    order = np.argsort(x, axis=1)[:, :3]
    for name, size in [("more", "3"), ("open", "?")]:
        kinds = f"tensor<2x{size}xf32>, tensor<2x{size}xi32>"
        shape = "" if name == "more" else ", %s, %s"
        places = "indices_of_shape_operands = dense<[4, 5]> : tensor<2xi64>, " if shape else ""
        types = "tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>" + ", tensor<2xi32>" * shape.count("%")
        s.add(f"approximate_{name}", f"""%i = stablehlo.iota dim = 1 : tensor<2x5xi32>
%f = stablehlo.constant dense<0x7F800000> : tensor<f32>
%m = stablehlo.constant dense<-1> : tensor<i32>
%s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
%0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %f, %m{shape}) {{called_computations = [@smaller], {places}mhlo.backend_config = {{aggregate_to_topk = false, recall_target = 0.95 : f32, reduction_dim = 1 : i64, top_k = 1 : i64}}}} : ({types}) -> ({kinds})
return %0#0, %0#1 : {kinds}""", [x], [np.take_along_axis(x, order, 1), order.astype(np.int32)],
              results=kinds.split(", "))
    s.add("sink", "%0 = stablehlo.add %a, %a : tensor<2x5xf32>\nstablehlo.custom_call @dce_sink(%0) {api_version = 4 : i32, "
          "has_side_effect = true} : (tensor<2x5xf32>) -> ()\nreturn %a : tensor<2x5xf32>", [x], [x])
    x, index = s.floats(2, 3, 4), np.array([[1, 0], [2, 2]], np.int32)
    want = np.stack([x[i][index[i]] for i in range(2)])
    s.add("select_from_the_end", f"%0 = \"stablehlo.torch_index_select\"(%a, %b) {{dim = -2 : i64, batch_dims = -1 : i64}} : "
          f"(tensor<2x3x4xf32>, tensor<2x2xi32>) -> {type_of(want)}\nreturn %0 : {type_of(want)}", [x, index], [want])
    s.write("chlo")


if __name__ == "__main__":
    for suite in [scans, ragged_dots, largest]:
        suite()
