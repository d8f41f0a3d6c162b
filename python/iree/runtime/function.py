"""Calls of a module's functions with Python's values."""

import json
import re

import numpy as np

from . import dtypes
from ._binding import Invoker, VmVariantList
from .array_interop import DeviceArray, asdevicearray, result_array, view_of_array
from .values import as_object

__all__ = ["FunctionInvoker", "normalize_value"]

_ARGUMENT = re.compile(r"%[\w.$-]+: ((?:[^<>,()]|<[^<>]*(?:<[^<>]*>[^<>]*)*>)*)")
_ELEMENT = re.compile(r"tensor<(?:[\d?]+x)*([^,]*)[,>]")


def normalize_value(value):
    """A Python value as an array: numbers and lists of them have 32 bits."""
    if value is None or isinstance(value, (np.ndarray, DeviceArray)):
        return value
    array = np.asarray(value)
    narrow = {"float64": np.float32, "int64": np.int32}.get(array.dtype.name)
    given = getattr(value, "dtype", None)
    return array.astype(narrow) if narrow and given is None else array


def _declared_types(reflection):
    """NumPy's types of a function's arguments, as far as its declaration tells them."""
    text = reflection.get("iree.abi.declaration", "").partition(") -> ")[0].partition("(")[2]
    elements = [_ELEMENT.match(each) for each in _ARGUMENT.findall(text)]
    return [dtypes.of_mlir(found[1]) if found else None for found in elements]


class _Converter:
    """Makes tensors of what is no plain buffer. It knows no Invoker, whose references are not collected."""

    def __init__(self, device, declared):
        self._device, self._dtypes = device, declared

    def to_view(self, value, position):
        """Of a DeviceArray, a tensor with DLPack or an array; numbers and lists get the declared type."""
        if isinstance(value, DeviceArray):
            return value._buffer_view
        if hasattr(value, "__iree_vm_ref__"):
            return as_object(value)
        if not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack__"):
            return asdevicearray(self._device, value)._buffer_view
        if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
            array = np.asarray(value)
        else:
            declared = self._dtypes[position] if position < len(self._dtypes) else None
            array = np.asarray(value, dtype=declared) if declared else normalize_value(value)
        return view_of_array(self._device, array)


class FunctionInvoker:
    """A function that takes NumPy arrays, DeviceArrays, tensors with DLPack, numbers and lists of them.

    Tensors come back as DeviceArrays; several results are a tuple. A function with the attribute `iree.abi` takes and
    gives lists, tuples and dictionaries as that says, and its arguments may have names.
    """

    def __init__(self, vm_context, device, vm_function):
        self._vm_function = vm_function
        reflection = vm_function.reflection
        to_view = _Converter(device, _declared_types(reflection)).to_view
        self._invoke = Invoker(vm_context, device, vm_function, to_view, result_array)
        arguments, results = vm_function.calling_convention[1:].split("_")
        abi = reflection.get("iree.abi")
        self._abi = _Abi(abi, arguments, results, to_view, device) if abi else None

    @property
    def vm_function(self):
        return self._vm_function

    def __call__(self, *args, **kwargs):
        if self._abi is None and not kwargs:
            return self._invoke(*args)
        if self._abi is None:
            raise TypeError(f"{self._vm_function.name} has no names for its arguments (no attribute iree.abi)")
        return self._abi.result(self._invoke(*self._abi.arguments(args, kwargs)))

    def __repr__(self):
        return repr(self._vm_function)


#
# iree.abi: {"a": types of the arguments, "r": of the results}; a type is a name or a list that begins with one:
# ["ndarray", element, rank, sizes...], ["slist"|"stuple", types...], ["sdict", [key, type]...], ["named", name, type]
#

_CONTAINERS = ("slist", "stuple", "sdict", "py_homogeneous_list")


def _kind(desc):
    return desc[0] if isinstance(desc, list) and desc else desc


def _members(desc):
    return [item[1] for item in desc[1:]] if _kind(desc) == "sdict" else desc[1:]


def _leaves(descs):
    return sum(_leaves(_members(desc)) if _kind(desc) in _CONTAINERS else 1 for desc in descs)


def _values(desc, value):
    """The members of a container, in the type's order."""
    kind, names = _kind(desc), {"slist": list, "stuple": (list, tuple), "sdict": dict}
    if kind in names and not isinstance(value, names[kind]):
        raise ValueError(f"a {kind[1:]} is needed, not {value!r}")
    if kind == "sdict":
        keys = [item[0] for item in desc[1:]]
        if set(keys) != set(value):
            raise ValueError(f"a dictionary with the keys {', '.join(map(repr, keys))} is needed, not "
                             f"{', '.join(map(repr, value))}")
        return [value[key] for key in keys]
    if len(value) != len(desc) - 1:
        raise ValueError(f"{len(desc) - 1} values are needed, not {len(value)}")
    return list(value)


def _build(desc, values):
    """The container of a type from its members."""
    kind = _kind(desc)
    if kind == "sdict":
        return {item[0]: value for item, value in zip(desc[1:], values)}
    return tuple(values) if kind == "stuple" else list(values)


class _Abi:
    def __init__(self, text, arguments, results, to_view, device):
        try:
            abi = json.loads(text)
            self._arguments = [desc[2] if _kind(desc) == "named" else desc for desc in abi["a"]]
            self._names = [desc[1] if _kind(desc) == "named" else None for desc in abi["a"]]
            self._results = abi["r"]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ValueError(f"the function's attribute iree.abi cannot be read: {text!r}") from error
        self._to_view, self._device = to_view, device
        # Members are arguments and results themselves, or lists of the program.
        self._flat_arguments = _leaves(self._arguments) == len(arguments)
        self._flat_results = _leaves(self._results) == len(results)

    def arguments(self, args, kwargs):
        """The function's own arguments."""
        values = list(args)
        unknown = set(kwargs) - set(self._names[len(args):])
        if unknown:
            raise TypeError(f"no argument is left that is called {', '.join(sorted(map(repr, unknown)))}")
        for name in self._names[len(args):]:
            if name is None or name not in kwargs:
                raise TypeError(f"argument {name or len(values)!r} is missing")
            values.append(kwargs[name])
        if len(values) != len(self._arguments):
            raise TypeError(f"{len(self._arguments)} arguments are needed, not {len(values)}")
        out = []
        for desc, value in zip(self._arguments, values):
            self._append(desc, value, out)
        return out

    def _append(self, desc, value, out):
        if _kind(desc) not in _CONTAINERS:
            dtype = dtypes.of_mlir(desc[1]) if _kind(desc) == "ndarray" else None
            plain = dtype is not None and isinstance(value, (bool, int, float, complex, list, tuple))
            out.append(np.asarray(value, dtype) if plain else value)
            return
        homogeneous = _kind(desc) == "py_homogeneous_list"
        members = [desc[1]] * len(value) if homogeneous else _members(desc)
        values = list(value) if homogeneous else _values(desc, value)
        if self._flat_arguments:
            for member, item in zip(members, values):
                self._append(member, item, out)
            return
        inner = []
        for member, item in zip(members, values):
            self._append(member, item, inner)
        out.append(self._list(inner))

    def _list(self, values):
        result = VmVariantList(len(values))
        for value in values:
            if isinstance(value, (bool, int)):
                result.push_int(value)
            elif isinstance(value, float):
                result.push_float(value)
            else:
                result.push_ref(value if isinstance(value, VmVariantList) else self._to_view(value, 0))
        return result

    def result(self, value):
        count = len(self._results) if not self._flat_results else _leaves(self._results)
        values = iter(value if isinstance(value, tuple) else [] if count == 0 else [value])
        results = [self._take(desc, values) for desc in self._results]
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _take(self, desc, values):
        if _kind(desc) not in _CONTAINERS:
            return next(values)
        if self._flat_results:
            return _build(desc, [self._take(member, values) for member in _members(desc)])
        items = [result_array(self._device, item) if hasattr(item, "element_type") else item for item in next(values)]
        members = [desc[1]] * len(items) if _kind(desc) == "py_homogeneous_list" else _members(desc)
        inner = iter(items)
        return _build(desc, [self._take(member, inner) for member in members])
