"""ONNX's Python backend (onnx.backend.base) over IREE.

    import iree.onnx
    session = iree.onnx.prepare(onnx.load("model.onnx"))
    outputs = session.run([x])

Inputs and outputs are as ONNX has them: arrays, lists for sequences, None for optionals that hold nothing, arrays of
strings. docs/onnx.md of the project says what functions of modules take instead.
"""

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep

from .runtime import dtypes
from .runtime.loading import load

__all__ = ["IreeBackend", "IreeBackendRep", "prepare", "run_model", "supports_device"]

# ONNX's names of devices; every other one is a URI of IREE's.
_DEVICES = {"CPU": "local-task", "CUDA": "cuda"}


def _uri(device):
    name, _, number = device.partition(":")
    if name not in _DEVICES:
        return device
    return f"{_DEVICES[name]}://{number}" if name == "CUDA" and number else _DEVICES[name]


#
# Values as tensors and back
#


def _dtype(kind):
    return helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)


def _is_strings(kind):
    return kind.tensor_type.elem_type == onnx.TensorProto.STRING


def _points(strings):
    """Code points along one dimension more, which is how NumPy has strings."""
    strings = np.asarray(strings).astype("U")
    return np.frombuffer(strings.tobytes(), np.uint32).reshape(*strings.shape, strings.dtype.itemsize // 4)


def _strings(points):
    width = points.shape[-1]
    flat = np.ascontiguousarray(points, np.uint32).reshape(-1)
    strings = flat.view(f"U{width}") if width else np.zeros(points.shape[:-1], "U1")
    return strings.reshape(points.shape[:-1]).astype(object)


def _nothing(kind):
    """What stands for the content of an optional that holds nothing."""
    if kind.HasField("sequence_type"):
        return []
    return np.zeros([dim.dim_value for dim in kind.tensor_type.shape.dim], _dtype(kind))


def _to_tensors(value, kind):
    if kind.HasField("optional_type"):
        inner = kind.optional_type.elem_type
        return [np.array(value is not None), *_to_tensors(_nothing(inner) if value is None else value, inner)]
    if kind.HasField("sequence_type"):
        member = kind.sequence_type.elem_type
        arrays = [np.asarray(item) for item in value]
        ranks = {array.ndim for array in arrays} or {len(member.tensor_type.shape.dim)}
        if len(ranks) > 1:
            raise ValueError("the members of a sequence have to have one rank")
        data = np.concatenate([array.reshape(-1) for array in arrays] or [np.empty(0, _dtype(member))])
        return [data, np.array([array.shape for array in arrays], np.int64).reshape(len(arrays), ranks.pop())]
    if _is_strings(kind):
        return [_points(value)]
    return [np.asarray(value, None if hasattr(value, "dtype") else _dtype(kind))]


def _from_tensors(tensors, kind):
    """The value that an iterator over results begins with."""
    if kind.HasField("optional_type"):
        present, held = bool(next(tensors)), _from_tensors(tensors, kind.optional_type.elem_type)
        return held if present else None
    if kind.HasField("sequence_type"):
        data, shapes = _with_type(next(tensors), kind.sequence_type.elem_type), next(tensors).to_host()
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(data, ends), shapes)]
    if _is_strings(kind):
        return _strings(next(tensors).to_host())
    return _with_type(next(tensors), kind)


def _with_type(tensor, kind):
    """An array of the type that the model says: results have no signs."""
    dtype = np.dtype(_dtype(kind))
    view = tensor._buffer_view
    if int(view.element_type) % 256 < 8:
        codes = np.asarray(view.to_host(tensor._device))
        return dtypes.unpack(codes, dtype, int(view.element_type) % 256, int(np.prod(view.shape))).reshape(view.shape)
    return tensor.to_host().view(dtype)


#
# The backend
#


class IreeBackendRep(BackendRep):
    """A model that is compiled and loaded."""

    def __init__(self, model, device, **options):
        graph = model.graph
        given = {initializer.name for initializer in graph.initializer}
        self._inputs = [info for info in graph.input if info.name not in given]
        self._outputs = list(graph.output)
        self._model = load(model, device=device, **options)

    def run(self, inputs, **kwargs):
        """Outputs in order. `inputs`: values in order, or by name."""
        if isinstance(inputs, dict):
            missing = [info.name for info in self._inputs if info.name not in inputs]
            if missing or len(inputs) != len(self._inputs):
                raise ValueError(f"inputs are {', '.join(info.name for info in self._inputs)}, not {', '.join(inputs)}")
            inputs = [inputs[info.name] for info in self._inputs]
        elif not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        if len(inputs) != len(self._inputs):
            raise ValueError(f"{len(self._inputs)} inputs are needed, not {len(inputs)}")
        arguments = [each for value, info in zip(inputs, self._inputs) for each in _to_tensors(value, info.type)]
        results = self._model(*arguments)
        tensors = iter(results if isinstance(results, tuple) else (results,))
        return tuple(_from_tensors(tensors, info.type) for info in self._outputs)


class IreeBackend(Backend):
    @classmethod
    def prepare(cls, model, device="CPU", *, flags=(), cache=True, **kwargs):
        """Compiles a model (an onnx.ModelProto or a path) for `CPU`, `CUDA:0`, or a device's URI."""
        if not isinstance(model, onnx.ModelProto):
            model = onnx.load(model)
        return IreeBackendRep(model, _uri(device), flags=flags, cache=cache)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One operator of the newest opset, with the types of the inputs that are given."""
        names = [name for name in node.input if name]
        values = [np.asarray(value) for value in inputs]
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                 for name, value in zip(names, values)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", infos, outputs)
        model = onnx.shape_inference.infer_shapes(helper.make_model(graph))
        return cls.run_model(model, values, device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        from .runtime.system_setup import get_device
        try:
            get_device(_uri(device))
        except (RuntimeError, ValueError):
            return False
        return True


prepare = IreeBackend.prepare
run_node = IreeBackend.run_node
run_model = IreeBackend.run_model
supports_device = IreeBackend.supports_device
