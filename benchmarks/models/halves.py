"""The networks of others with weights, activations and arithmetic of 16 bits, as exporters write them: float16 wherever
the original has float32. Numbers that are too large become the largest one."""

import importlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

NAMES = ["mobilenetv2", "resnet50", "bert", "gpt2"]
LARGEST = np.finfo(np.float16).max


def tensor(value):
    array = numpy_helper.to_array(value)
    if array.dtype != np.float32:
        return value
    return numpy_helper.from_array(np.clip(array, -LARGEST, LARGEST).astype(np.float16), value.name)


def change_node(node):
    for attribute in node.attribute:
        if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16
        elif attribute.name == "value":
            attribute.t.CopyFrom(tensor(attribute.t))


def build(name):
    g = importlib.import_module(name).build()
    g.weights = [tensor(weight) for weight in g.weights]
    for node in g.nodes:
        change_node(node)
    for value in [*g.inputs, *g.outputs]:
        kind = value.type.tensor_type
        if kind.elem_type == TensorProto.FLOAT:
            dims = [dim.dim_value or dim.dim_param for dim in kind.shape.dim]
            value.CopyFrom(helper.make_tensor_value_info(value.name, TensorProto.FLOAT16, dims))
    return g


BUILDERS = {f"{name}_f16": lambda name=name: build(name) for name in NAMES}
