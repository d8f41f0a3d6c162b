"""Programs and models with one thing wrong each, and what the message must say about it."""

import io
import struct

import numpy as np
from onnx import ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper

GOOD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def body(text, arguments="%a: tensor<4xf32>, %b: tensor<4xf32>", result="tensor<4xf32>"):
    return f"func.func @f({arguments}) -> {result} {{\n{text}\n}}\n"


RETURN = "  return %0 : tensor<4xf32>"
# Name: (text, pattern of the message).
MLIR = {
    "unknown-op": (body('  %0 = "stablehlo.frobnicate"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n' + RETURN),
                   r"unknown-op\.mlir:2:.*stablehlo\.frobnicate"),
    "wide-number": (body("  return %a : i128", "%a: i128", "i128"), "argument 0 of type i128"),
    "misspelt-op": (body('  %0 = "stablehlo.exponental"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n' + RETURN),
                    "did you mean 'stablehlo.exponential'"),
    "misspelt-dialect": (body("  %0 = stablehol.exp %a : tensor<4xf32>\n" + RETURN),
                         "did you mean 'stablehlo.exponential'"),
    "unknown-dialect": (body('  %0 = "nothing.add"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n' + RETURN),
                        r"unknown-dialect\.mlir:2:.*nothing\.add"),
    "undefined-value": (body("  %0 = arith.addf %a, %c : tensor<4xf32>\n" + RETURN), r":2:.*%c"),
    "operand-type": (body("  %0 = arith.addf %a, %b : tensor<5xf32>\n" + RETURN), r":2:.*(4xf32|5xf32)"),
    "result-type": (body("  %0 = arith.addf %a, %b : tensor<4xf32>\n  return %0 : tensor<5xf32>"),
                    r":3:.*(4xf32|5xf32)"),
    "return-type": (body("  return %a : tensor<4xf32>", result="tensor<5xf32>"), r":2:.*(4xf32|5xf32)"),
    "mixed-types": (body('  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>\n' + RETURN,
                         "%a: tensor<4xf32>, %b: tensor<4xi32>"), r":2:.*stablehlo\.add"),
    "integer-op-on-floats": (body("  %0 = arith.addi %a, %b : tensor<4xf32>\n" + RETURN), r":2:.*arith\.addi"),
    "bad-contraction": (body("  %0 = stablehlo.dot %a, %b : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>\n"
                             "  return %0 : tensor<4x5xf32>", "%a: tensor<4x5xf32>, %b: tensor<4x5xf32>",
                             "tensor<4x5xf32>"), r":2:.*dot"),
    "bad-reshape": (body("  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<5xf32>\n  return %0 : tensor<5xf32>",
                         result="tensor<5xf32>"), r":2:.*reshape"),
    "bad-permutation": (body("  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                             "  return %0 : tensor<4x4xf32>", "%a: tensor<4x4xf32>", "tensor<4x4xf32>"),
                        r":2:.*transpose"),
    "dense-count": (body("  %0 = arith.constant dense<[1.0, 2.0]> : tensor<4xf32>\n" + RETURN), r":2:"),
    "dense-hex-length": (body('  %0 = arith.constant dense<"0x0000000000000000"> : tensor<4xf32>\n' + RETURN), r":[23]:"),
    "unclosed": ("func.func @f() {\n  return\n", r"unclosed\.mlir:\d+:\d+"),
    "bad-type": (body("  return %a : tensor<4xf32>", "%a: tensor<4xf33>"), r":1:.*f33"),
    "bad-token": (body("  %0 = @@ ;\n" + RETURN), r":2:"),
    "not-text": ("\x01\x02\x03\x04 this is no program\n", r"not-text\.mlir:1:"),
    "duplicate-function": ("func.func @f() { return }\nfunc.func @f() { return }\n", r":2:.*(@f|'f'|`f`)"),
    "redefined-value": (body("  %0 = arith.addf %a, %b : tensor<4xf32>\n  %0 = arith.addf %a, %b : tensor<4xf32>\n"
                             + RETURN), r":3:.*%0"),
    "deep-nesting": ("func.func @f() {\n" + "  %x = arith.constant dense<" + "[" * 100000 + "1" + "]" * 100000 +
                     "> : tensor<1xf32>\n  return\n}\n", r"deep-nesting\.mlir:2:"),
    "many-blocks": ("func.func @f(%c: i1) {\n  cf.br ^b0\n" + "".join(
        f"^b{i}:\n  cf.cond_br %c, ^b2000, ^b{i + 1}\n" for i in range(2000)) + "^b2000:\n  return\n}\n",
                    r"many-blocks\.mlir:2051:.*more than 1024 blocks"),
    "huge-splat": ("func.func @f() -> tensor<9223372036854775807x4xf32> {\n  %0 = arith.constant dense<0.0> : "
                   "tensor<9223372036854775807x4xf32>\n  return %0 : tensor<9223372036854775807x4xf32>\n}\n", r":\d+:"),
}


def value(name, shape=(4,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opsets=None):
    graph = helper.make_graph(nodes, "main_graph", inputs or [value("x")], outputs or [value("y")], list(initializers))
    imports = [helper.make_opsetid(*row) for row in {"": 17, **(opsets or {})}.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def good_onnx_bytes():
    weights = numpy_helper.from_array(np.arange(16, dtype=np.float32).reshape(4, 4), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    return model(nodes, initializers=[weights]).SerializeToString()


def good_onnx_forms():
    """The same model with what may come after the version of its format."""
    forms = {"plain": {}, "named": {"producer_name": "tests"}, "versioned": {"producer_version": "1"},
             "placed": {"domain": "tests"}, "counted": {"model_version": 3}, "told": {"doc_string": "a model"}}
    made = {}
    for name, fields in forms.items():
        proto = ModelProto.FromString(good_onnx_bytes())
        proto.ClearField("producer_name")
        proto.MergeFrom(ModelProto(**fields))
        made[name] = proto.SerializeToString()
    return made


def saved(proto):
    return lambda path: path.write_bytes(proto.SerializeToString())


def external(location, offset=0, length=64):
    """A model whose weights are said to be in another file."""
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weights.external_data.add(key=key, value=text)
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])], initializers=[weights])


def short_external(path):
    path.with_name("short.bin").write_bytes(bytes(10))
    path.write_bytes(external("short.bin").SerializeToString())


def bad_weights(**fields):
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 4], raw_data=bytes(64))
    for key, item in fields.items():
        if key == "dims":
            del weights.dims[:]
            weights.dims.extend(item)
        else:
            setattr(weights, key, item)
    return saved(model([helper.make_node("MatMul", ["x", "w"], ["y"])], initializers=[weights]))


def sparse(indices=(3, 4), dims=(4, 4)):
    """A model whose weights are two values and where they belong."""
    values = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    weights = SparseTensorProto(values=values, indices=numpy_helper.from_array(np.array(indices, np.int64), "i"), dims=dims)
    made = model([helper.make_node("MatMul", ["x", "w"], ["y"])])
    made.graph.sparse_initializer.append(weights)
    return made


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


# Name: (function that writes the model, pattern of the message).
def vector(values, dtype):
    return numpy_helper.from_array(np.array(values, dtype), "v")


ONNX = {
    "unknown-op": (saved(model([node("Frobnicate", ["x"], ["y"])])), "Frobnicate.*domain 'ai.onnx' has none"),
    "swapped-op": (saved(model([node("Rleu", ["x"], ["y"])])), "domain 'ai.onnx' has none .*did you mean 'Relu'"),
    "lowest-number": (saved(model([node("MultiHeadAttention", ["x", "x", "x"], ["y"], domain="com.microsoft",
                                        num_heads=-2**63)], inputs=[value("x", [1, 2, 4])], opsets={"com.microsoft": 1})),
                      "needs a number of heads that divides"),
    "microsoft-op": (saved(model([node("FastGleu", ["x"], ["y"], domain="com.microsoft")], opsets={"com.microsoft": 1})),
                     "domain 'com.microsoft' has none .*did you mean 'FastGelu'"),
    "company-op": (saved(model([node("Foo", ["x"], ["y"], domain="my.company")], opsets={"my.company": 1})),
                   "domain 'my.company' has none of this name"),
    "laid-out": (saved(model([node("Conv", ["x", "w"], ["y"], domain="com.microsoft.nchwc")],
                             opsets={"com.microsoft.nchwc": 1})), "nchwc' is refused.*ORT_ENABLE_EXTENDED or lower"),
    "laid-out-anew": (saved(model([node("ReorderInput", ["x"], ["y"], domain="com.microsoft.nchwc")],
                                  opsets={"com.microsoft.nchwc": 1})), "nchwc' is refused.*ORT_ENABLE_EXTENDED or lower"),
    "unknown-domain": (saved(model([node("Relu", ["x"], ["y"], domain="nowhere")])), "nowhere|Relu"),
    "empty": (lambda path: path.write_bytes(b""), r"empty\.onnx"),
    "text": (lambda path: path.write_text("this is no model\n", encoding="utf-8"), r"text\.onnx"),
    "truncated": (lambda path: path.write_bytes(good_onnx_bytes()[:-20]), r"truncated\.onnx"),
    "missing-external": (saved(external("nothing.bin")), r"nothing\.bin"),
    "short-external": (short_external, r"short\.bin"),
    "escaping-external": (saved(external("../../../../etc/passwd")), r"passwd"),
    "absolute-external": (saved(external("/etc/passwd")), r"passwd"),
    "external-offset": (saved(external("nothing.bin", 2**63 - 8, 64)), r"nothing\.bin"),
    "short-weights": (bad_weights(raw_data=bytes(10)), "w"),
    "huge-weights": (bad_weights(dims=[2**40, 2**40]), "w"),
    "negative-weights": (bad_weights(dims=[-4, 4]), "w"),
    "unknown-weight-type": (bad_weights(data_type=99), "99|w"),
    "undefined-input": (saved(model([node("Relu", ["nothing"], ["y"])])), "nothing"),
    "undefined-output": (saved(model([node("Relu", ["x"], ["z"])])), "y"),
    "duplicate-value": (saved(model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])])), "y"),
    "duplicate-input": (saved(model([node("Add", ["x", "x"], ["y"])], [value("x"), value("x")])), "'x' is defined twice"),
    "sparse-place": (saved(sparse(indices=[3, 16])), "index 1 is outside of its shape"),
    "sparse-count": (saved(sparse(indices=[3])), "needs an index, or a row of 2, for each of 2 values"),
    "sparse-size": (saved(sparse(dims=[2**40, 4])), "an invalid shape, or one of more than"),
    "shape-mismatch": (saved(model([node("MatMul", ["x", "w"], ["y"])], [value("x", (3, 4)), value("w", (5, 6))],
                                   [value("y", (3, 6))])), "MatMul"),
    "type-mismatch": (saved(model([node("Add", ["x", "w"], ["y"])], [value("x"), value("w", (4,), TensorProto.INT32)])),
                      "Add"),
    "missing-operand": (saved(model([node("Add", ["x"], ["y"])])), "Add"),
    "missing-attribute": (saved(model([node("Cast", ["x"], ["y"])])), "Cast"),
    "attribute-type": (saved(model([node("Transpose", ["x"], ["y"], perm=1.5)])), "Transpose|perm"),
    "bad-permutation": (saved(model([node("Transpose", ["x"], ["y"], perm=[3, 7])])), "Transpose|perm"),
    "bad-axis": (saved(model([node("Softmax", ["x"], ["y"], axis=9)])), "Softmax|axis"),
    "kernel-too-large": (saved(model([node("MaxPool", ["x"], ["y"], kernel_shape=[9, 9])], [value("x", (1, 1, 4, 4))],
                                     [value("y", (1, 1, 1, 1))])), "MaxPool"),
    "zero-stride": (saved(model([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[0, 0])],
                                [value("x", (1, 1, 4, 4))], [value("y", (1, 1, 3, 3))])), "MaxPool"),
    "open-rank": (saved(model([node("Expand", ["x", "s"], ["z"]), node("Relu", ["z"], ["y"])],
                              [value("x", ("n",)), value("s", ("k",), TensorProto.INT64)],
                              [helper.make_empty_tensor_value_info("y")])),
                  "Expand.*rank is the length of input 1, which only a call knows: declare the result's shape"),
    "open-axes": (saved(model([node("Unsqueeze", ["x", "s"], ["z"]), node("Relu", ["z"], ["y"])],
                              [value("x", ("n",)), value("s", ("k",), TensorProto.INT64)],
                              [helper.make_empty_tensor_value_info("y")])),
                  "Unsqueeze.*rank follows from the number of axes, which only a call knows: declare"),
    "branch-ranks": (saved(model([node("If", ["c"], ["z"], then_branch=helper.make_graph(
        [node("Squeeze", ["x"], ["a"])], "then", [], [helper.make_empty_tensor_value_info("a")]),
        else_branch=helper.make_graph([node("Flatten", ["x"], ["b"])], "else", [],
                                      [helper.make_empty_tensor_value_info("b")])), node("Relu", ["z"], ["y"])],
        [value("c", (), TensorProto.BOOL), value("x", ("n", 1, 1))], [helper.make_empty_tensor_value_info("y")])),
        "If.*differ in rank, and so does result 0 of the graph, with tensor<.*; the model must declare its shape"),
    "many-branch-ranks": (saved(model([node("If", ["c"], [f"x{i + 1}"], then_branch=helper.make_graph(
        [node("Identity", [f"x{i}"], ["a"])], "then", [], [helper.make_empty_tensor_value_info("a")]),
        else_branch=helper.make_graph([node("Unsqueeze", [f"x{i}", "axes"], ["b"])], "else", [],
                                      [helper.make_empty_tensor_value_info("b")])) for i in range(40)] +
        [node("ReduceSum", ["x40"], ["y"], keepdims=0)],
        [value("c", (), TensorProto.BOOL), value("x0", (3,))], [value("y", ())],
        [helper.make_tensor("axes", TensorProto.INT64, [1], [0])])),
        "If.*would be there more than 128 times; the model must declare their shapes"),
    "huge-values": (saved(model([node("Relu", ["x"], ["y"])], [value("x", (2**62, 2**62))], [value("y", (2**62, 2**62))])),
                    "larger than any memory|shape has too many elements"),
    "strings": (saved(model([node("Relu", ["x"], ["y"])], [value("x", (4,), TensorProto.STRING)])),
                "Relu.*input 0 is strings; this operator takes numbers"),
    "string-order": (saved(model([node("Less", ["x", "x"], ["y"])], [value("x", (4,), TensorProto.STRING)])),
                     "Less.*not defined for elements of type !torch.str"),
    "string-bytes": (saved(model([node("Constant", [], ["s"], value=helper.make_tensor("t", TensorProto.STRING, [2], [b"a", b"\xed\xa0\x80"])),
                                  node("StringConcat", ["x", "s"], ["y"])], [value("x", (2,), TensorProto.STRING)])),
                     "a string is not well-formed UTF-8"),
    "string-count": (saved(model([node("StringConcat", ["x", "w"], ["y"])], [value("x", (3,), TensorProto.STRING)], initializers=[TensorProto(
        name="w", data_type=TensorProto.STRING, dims=[3], string_data=[b"a"])])), "tensor 'w' needs 3 strings but its data holds 1"),
    "pattern": (saved(model([node("RegexFullMatch", ["x"], ["y"], pattern="a(b[c")], [value("x", (4,), TensorProto.STRING)])),
                "pattern 'a\\(b\\[c': a \\[ without \\] at character 5"),
    "pattern-states": (saved(model([node("RegexFullMatch", ["x"], ["y"], pattern="(a|b)*a(a|b){20}")],
                                   [value("x", (4,), TensorProto.STRING)])), "needs too many states"),
    "pattern-steps": (saved(model([node("RegexFullMatch", ["x"], ["y"], pattern="((a{99}){99}){99}")],
                                  [value("x", (4,), TensorProto.STRING)])), "the pattern repeats too much"),
    "refused-op": (saved(model([node("ImageDecoder", ["x"], ["y"])], [value("x", (4,), TensorProto.UINT8)])),
                   "ImageDecoder.*decoded before the call"),
    "sequence-as-tensor": (saved(model([node("SequenceConstruct", ["x"], ["s"]), node("Relu", ["s"], ["y"])])),
                           "Relu.*input 0 is a sequence"),
    "tensor-as-sequence": (saved(model([node("SequenceLength", ["x"], ["y"])])), "input 0 must be a sequence"),
    "place-in-sequence": (saved(model([node("SequenceConstruct", ["x"], ["s"]), node("Constant", [], ["p"], value_int=1),
                                       node("SequenceAt", ["s", "p"], ["y"])])), "not within the sequence"),
    "empty-optional": (saved(model([node("Optional", [], ["o"]), node("OptionalGetElement", ["o"], ["y"])])),
                       "holds nothing"),
    "tree-loop": (saved(model([node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", tree_roots=[0], n_targets=1,
                                    nodes_featureids=[0, 0], nodes_splits=vector([0, 0], np.float32),
                                    nodes_modes=vector([0, 0], np.uint8), nodes_truenodeids=[1, 0],
                                    nodes_falsenodeids=[1, 0], nodes_trueleafs=[0, 0], nodes_falseleafs=[0, 0],
                                    leaf_targetids=[0], leaf_weights=vector([1], np.float32))],
                              [value("x", (3, 2))], opsets={"ai.onnx.ml": 5})), "way that leads back"),
}


def save_opaque(path):
    """What ml_dtypes writes of bf16: bytes and their number."""
    np.save(path, np.array([0x3f80, 0x4000, 0x4040, 0xc080], np.uint16).view("V2"))


def save_named(path):
    """The same with the type's name, as structured writers give it."""
    data = np.array([0x3f80, 0x4000, 0x4040, 0xc080], np.uint16)
    text = "{'descr': 'bfloat16', 'fortran_order': False, 'shape': (4,), }"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode() + data.tobytes())


def cut_npy(path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4, np.float32))
    path.write_bytes(buffer.getvalue()[:-8])
