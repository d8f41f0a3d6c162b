"""A small builder for ONNX graphs with random weights.

The generators use it to write networks node by node, as a framework's exporter would: names of values are numbers in
the order of creation, weights are initializers, small operands are Constant nodes. Weights come from one seeded
generator, with a spread that keeps activations near one whatever the depth.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Collects nodes, weights, inputs and outputs; save() checks the model and writes it."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, name, shape, dtype=TensorProto.FLOAT):
        """Makes `value`, the result of the node added last, an output called `name`."""
        node = self.nodes[-1]
        assert node.output[0] == value
        node.output[0] = name
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def node(self, op, *operands, **attributes):
        """Adds a node with one result and returns the result's name."""
        kind = "Constant" if op == "Constant" else op
        result = f"/{kind}_{len(self.nodes)}_output_0"
        self.nodes.append(helper.make_node(op, list(operands), [result], name=f"/{kind}_{len(self.nodes)}",
                                           **attributes))
        return result

    def constant(self, value, dtype=np.float32):
        """A Constant node, as exporters write small operands."""
        return self.node("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def weight(self, array, name=None):
        name = name or f"onnx::weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def normal(self, shape, spread, name=None):
        """A weight of normally distributed values with the given standard deviation."""
        return self.weight(self.random.standard_normal(shape, dtype=np.float32) * np.float32(spread), name)

    def linear(self, x, features_in, features_out, name, gain=1.0):
        """x · W + b in the form exporters give a linear layer on a tensor of rank 3: MatMul, then Add."""
        w = self.normal((features_in, features_out), gain / features_in**0.5)
        b = self.normal((features_out,), 0.02, f"{name}.bias")
        return self.node("Add", b, self.node("MatMul", x, w))

    def gemm(self, x, features_in, features_out, name):
        """x · Wᵀ + b for a matrix x."""
        w = self.normal((features_out, features_in), features_in**-0.5, f"{name}.weight")
        b = self.normal((features_out,), 0.02, f"{name}.bias")
        return self.node("Gemm", x, w, b, alpha=1.0, beta=1.0, transB=1)

    def conv(self, x, channels, kernel, stride=1, gain=2.0, **options):
        """A convolution with bias. channels is (in, out); options: groups, pad (default: half the kernel), name."""
        groups = options.get("groups", 1)
        pad = options.get("pad", kernel // 2)
        name = options.get("name")
        fan_in = channels[0] // groups * kernel * kernel
        w = self.random.standard_normal((channels[1], channels[0] // groups, kernel, kernel), dtype=np.float32)
        if groups == 1:  # Else the mean of rectified inputs, the same for any image, drowns what differs.
            w -= w.mean(axis=(1, 2, 3), keepdims=True)
        w = self.weight(w * np.float32((gain / fan_in)**0.5), name and f"{name}.weight")
        b = self.normal((channels[1],), 0.05, name and f"{name}.bias")
        return self.node("Conv", x, w, b, dilations=[1, 1], group=groups, kernel_shape=[kernel, kernel],
                         pads=[pad] * 4, strides=[stride, stride])

    def layer_norm(self, x, features, name, epsilon):
        scale = self.weight(1 + 0.1 * self.random.standard_normal(features, dtype=np.float32), f"{name}.weight")
        bias = self.normal((features,), 0.05, f"{name}.bias")
        return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def gelu(self, x):
        """GELU by the error function, in the five nodes that exporters write at this opset."""
        erf = self.node("Erf", self.node("Div", x, self.constant(2**0.5)))
        twice = self.node("Mul", x, self.node("Add", erf, self.constant(1.0)))
        return self.node("Mul", twice, self.constant(0.5))

    def reshape(self, x, shape):
        return self.node("Reshape", x, self.constant(shape, np.int64), allowzero=0)

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="pytorch",
                                  producer_version="2.0.0", ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)
