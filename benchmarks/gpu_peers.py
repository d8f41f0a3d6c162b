"""The benchmark networks in PyTorch and JAX: an ONNX graph as a function of their tensors, node by node.

Both compile it whole, so they see what their own users write: torch.compile with CUDA graphs, and XLA. Products of f32
are exact ones in both, as in ours. A network with an operator that is not in the table has no peer.
"""

import importlib.util
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Unknown(Exception):
    """No row of the table for an operator."""


def window(attributes):
    """Strides, pads before and behind, dilations of two dimensions; pads must be the same on both sides."""
    pads = attributes.get("pads", [0, 0, 0, 0])
    assert pads[:2] == pads[2:]
    return attributes.get("strides", [1, 1]), pads[:2], attributes.get("dilations", [1, 1])


class Torch:
    """Operators that PyTorch and JAX call by different names."""

    def __init__(self):
        import torch
        self.lib, self.to_type = torch, {1: torch.float32, 10: torch.float16, 7: torch.int64, 9: torch.bool}

    def conv(self, x, w, b, attributes):
        strides, pads, dilations = window(attributes)
        return self.lib.nn.functional.conv2d(x, w, b, strides, pads, dilations, attributes.get("group", 1))

    def max_pool(self, x, attributes):
        strides, pads, _ = window(attributes)
        return self.lib.nn.functional.max_pool2d(x, attributes["kernel_shape"], strides, pads)

    def layer_norm(self, x, scale, bias, epsilon):
        return self.lib.nn.functional.layer_norm(x, scale.shape, scale, bias, epsilon)

    def cast(self, x, kind):
        return x.to(self.to_type[kind])

    def take(self, x, at, axis):
        return self.lib.index_select(x, axis, at.reshape(-1)).reshape(*x.shape[:axis], *at.shape, *x.shape[axis + 1:])

    def softmax(self, x):
        return self.lib.softmax(x, -1)

    def erf(self, x):
        return self.lib.erf(x)

    def clip(self, x, low, high):
        return self.lib.clamp(x, low, high)

    def turn(self, x, order):
        return x.permute(order)


class Jax:
    """The same for JAX."""

    def __init__(self):
        import jax
        self.jax, self.lib = jax, jax.numpy
        self.to_type = {1: np.float32, 10: np.float16, 7: np.int64, 9: np.bool_}

    def conv(self, x, w, b, attributes):
        strides, pads, dilations = window(attributes)
        y = self.jax.lax.conv_general_dilated(x, w, strides, [(p, p) for p in pads], rhs_dilation=dilations,
                                              feature_group_count=attributes.get("group", 1))
        return y + b.reshape(1, -1, 1, 1)

    def max_pool(self, x, attributes):
        strides, pads, _ = window(attributes)
        return self.jax.lax.reduce_window(x, np.array(-np.inf, x.dtype), self.jax.lax.max,
                                          (1, 1, *attributes["kernel_shape"]), (1, 1, *strides),
                                          [(0, 0), (0, 0), *[(p, p) for p in pads]])

    def layer_norm(self, x, scale, bias, epsilon):
        wide = x.astype(np.float32)
        d = wide - wide.mean(-1, keepdims=True)
        y = d * self.jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + epsilon)
        return y.astype(x.dtype) * scale + bias

    def cast(self, x, kind):
        return x.astype(self.to_type[kind])

    def take(self, x, at, axis):
        return self.lib.take(x, at, axis)

    def softmax(self, x):
        return self.jax.nn.softmax(x, -1)

    def erf(self, x):
        return self.jax.lax.erf(x)

    def clip(self, x, low, high):
        return self.lib.clip(x, low, high)

    def turn(self, x, order):
        return x.transpose(order)


def reshape(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def unsqueeze(x, axes):
    for axis in sorted(axes):
        x = x[(slice(None),) * axis + (None,)]
    return x


def part(x, starts, ends, axes):
    at = [slice(None)] * x.ndim
    for start, end, axis in zip(starts, ends, axes):
        at[axis] = slice(start, end)
    return x[tuple(at)]


def gather(framework, x, at, axis):
    return x[(slice(None),) * axis + (at,)] if isinstance(at, int) else framework.take(x, at, axis)


def gemm(x, w, b, attributes):
    return x @ (w.T if attributes.get("transB") else w) + b


# By operator: the framework's names, the attributes, the operands.
OPERATORS = {
    "Add": lambda f, a, x, y: x + y, "Sub": lambda f, a, x, y: x - y, "Mul": lambda f, a, x, y: x * y,
    "Div": lambda f, a, x, y: x / y, "Pow": lambda f, a, x, y: x ** y, "MatMul": lambda f, a, x, y: x @ y,
    "Where": lambda f, a, c, x, y: f.lib.where(c, x, y), "Tanh": lambda f, a, x: f.lib.tanh(x),
    "Relu": lambda f, a, x: f.clip(x, 0, None), "Clip": lambda f, a, x, low, high: f.clip(x, low, high),
    "Erf": lambda f, a, x: f.erf(x), "Softmax": lambda f, a, x: f.softmax(x),
    "Cast": lambda f, a, x: f.cast(x, a["to"]), "Conv": lambda f, a, x, w, b: f.conv(x, w, b, a),
    "MaxPool": lambda f, a, x: f.max_pool(x, a), "GlobalAveragePool": lambda f, a, x: x.mean((2, 3), keepdims=True),
    "Flatten": lambda f, a, x: x.reshape([x.shape[0], -1]), "Gemm": lambda f, a, x, w, b: gemm(x, w, b, a),
    "Gather": lambda f, a, x, at: gather(f, x, at, a.get("axis", 0)),
    "Transpose": lambda f, a, x: f.turn(x, a["perm"]), "Reshape": lambda f, a, x, shape: reshape(x, shape),
    "Unsqueeze": lambda f, a, x, axes: unsqueeze(x, axes),
    "Slice": lambda f, a, x, starts, ends, axes: part(x, starts, ends, axes),
    "LayerNormalization": lambda f, a, x, scale, bias: f.layer_norm(x, scale, bias, a["epsilon"]),
}


# Operands that say what is done, not with what.
STRUCTURE = {"Reshape": (1,), "Unsqueeze": (1,), "Slice": (1, 2, 3)}


class Network:
    """An ONNX graph: tensors that a device should hold, numbers that a program knows, and its nodes."""

    def __init__(self, path):
        graph = onnx.load(path).graph
        self.inputs, self.outputs = [x.name for x in graph.input], [x.name for x in graph.output]
        self.weights = {x.name: numpy_helper.to_array(x) for x in graph.initializer}
        structure = {node.input[i] for node in graph.node for i in STRUCTURE.get(node.op_type, ())}
        self.numbers, self.nodes = {}, []
        for node in graph.node:
            attributes = {x.name: helper.get_attribute_value(x) for x in node.attribute}
            if node.op_type == "Constant":
                value = numpy_helper.to_array(attributes["value"])
                if value.ndim == 0 or node.output[0] in structure:
                    self.numbers[node.output[0]] = value.tolist()
                else:
                    self.weights[node.output[0]] = value
            elif node.op_type not in OPERATORS:
                raise Unknown(node.op_type)
            else:
                self.nodes.append((OPERATORS[node.op_type], attributes, list(node.input), node.output[0]))

    def run(self, framework, weights, inputs):
        values = {**self.numbers, **weights, **dict(zip(self.inputs, inputs))}
        for function, attributes, operands, result in self.nodes:
            values[result] = function(framework, attributes, *[values[name] for name in operands])
        return [values[name] for name in self.outputs]


def torch_call(network, arrays):
    """A function that runs the network by torch.compile and awaits it, and gives results as arrays; None without."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch
    if not torch.cuda.is_available():
        return None
    import torch._inductor.config
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch._inductor.config.freezing = True  # weights in the layout that convolutions want
    framework = Torch()

    class Module(torch.nn.Module):
        """With weights as buffers, so that graphs need not copy them."""

        def __init__(self):
            super().__init__()
            self.names = {name: f"w{i}" for i, name in enumerate(network.weights)}
            for name, array in network.weights.items():
                self.register_buffer(self.names[name], torch.from_numpy(np.array(array)))

        def forward(self, *inputs):
            return network.run(framework, {name: getattr(self, own) for name, own in self.names.items()}, inputs)

    compiled = torch.compile(Module().cuda().eval(), mode="reduce-overhead", fullgraph=True)
    inputs = [torch.from_numpy(array).cuda() for array in arrays]

    def run():
        with torch.inference_mode():
            results = compiled(*inputs)
        torch.cuda.synchronize()
        return results

    return run, lambda results: [result.cpu().numpy() for result in results]


def jax_call(network, arrays):
    """The same by XLA."""
    if importlib.util.find_spec("jax") is None:
        return None
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    if jax.default_backend() != "gpu":
        return None
    jax.config.update("jax_default_matmul_precision", "highest")
    framework = Jax()
    compiled = jax.jit(lambda weights, *inputs: network.run(framework, weights, inputs))
    weights = {name: jax.device_put(array) for name, array in network.weights.items()}
    inputs = [jax.device_put(array) for array in arrays]
    return lambda: jax.block_until_ready(compiled(weights, *inputs)), lambda results: [np.asarray(x) for x in results]
