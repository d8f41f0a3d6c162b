"""Functions of Python that programs call: pure_callback, io_callback, jax.debug.callback and jax.debug.print.

A call is a custom call @iree.call of jax.call<number>, which the plugin passes on to `entry_point`, the one function
that it knows. It gives pointers to the arguments; whose shapes are known here.
"""

import ctypes
import itertools
import threading
import traceback
import weakref

import numpy as np

# The names of elements in the interface's order (xla/pjrt/c/pjrt_c_api.h, PJRT_Buffer_Type).
TYPES = ("", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "bfloat16", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "float8_e4m3b11fnuz",
         "float8_e5m2fnuz", "float8_e4m3fnuz", "int4", "uint4", "", "int2", "uint2", "float8_e4m3", "float8_e3m4",
         "float8_e8m0fnu", "float4_e2m1fn")
NUMBERS = {name: number for number, name in enumerate(TYPES) if name}
# Elements of which several are in a byte cross the boundary as wider ones.
WIDER = {"int2": "int8", "int4": "int8", "uint2": "uint8", "uint4": "uint8", "float4_e2m1fn": "float8_e4m3fn"}

_numbers = itertools.count()
_callbacks = weakref.WeakValueDictionary()  # by number; programs keep theirs
_kept = threading.local()  # what the last callback of a thread gave


class HostArray(ctypes.Structure):
    """pjrt_host_array_t"""

    _fields_ = [("type", ctypes.c_int64), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("data", ctypes.c_void_p)]


class Callback:
    """A function, and the avals that it takes and gives."""

    def __init__(self, function, inputs, outputs):
        self.function, self.inputs, self.outputs = function, inputs, outputs
        self.number = next(_numbers)
        _callbacks[self.number] = self

    def __call__(self, arguments):
        given = self.function(*(_read(data, aval) for data, aval in zip(arguments, self.inputs)))
        if len(given) != len(self.outputs):
            raise RuntimeError(f"Mismatched number of outputs from callback. Expected: {len(self.outputs)}, "
                               f"Actual: {len(given)}")
        return [_check(i, value, aval) for i, (value, aval) in enumerate(zip(given, self.outputs))]


def _dtype(aval):
    return np.dtype(bool) if aval.dtype.name == "float0" else np.dtype(aval.dtype)


# The plugin's memory is gone after the callback; JAX may keep the array.
def _read(data, aval):
    dtype = _dtype(aval)
    wide = np.dtype(WIDER.get(dtype.name, dtype))
    size = wide.itemsize * int(np.prod(aval.shape, dtype=np.int64))
    return np.frombuffer(ctypes.string_at(data, size), wide).reshape(aval.shape).astype(dtype, copy=False)


def _check(index, value, aval):
    from jax._src import dtypes

    array = np.ascontiguousarray(dtypes.canonicalize_value(np.asarray(value))).reshape(np.shape(value))
    for what, actual, expected in (("shape", array.shape, aval.shape), ("dtype", array.dtype, _dtype(aval))):
        if actual != expected:
            raise RuntimeError(f"Incorrect output {what} for return value #{index}: Expected: {expected}, "
                               f"Actual: {actual}")
    return array.astype(WIDER.get(array.dtype.name, array.dtype), copy=False)


def _write(array, out):
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    out.type, out.rank, out.dims, out.data = NUMBERS[array.dtype.name], array.ndim, dims, array.ctypes.data
    return array, dims


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.POINTER(HostArray), ctypes.c_size_t, ctypes.POINTER(HostArray),
                  ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)
def entry_point(number, arguments, argument_count, results, result_count, error, error_size):
    """pjrt_host_callback_t"""
    try:
        given = _callbacks[number]([arguments[i].data for i in range(argument_count)])
        _kept.arrays = [_write(given[i], results[i]) for i in range(result_count)]
        return 0
    except BaseException:  # noqa: BLE001  nothing may leave through C
        text = traceback.format_exc().encode()[-error_size + 1:] + b"\0"
        ctypes.memmove(error, text, len(text))
        return 1


def _sharding_with_token(sharding, has_token, has_results):
    """As JAX has it for CPUs: the token of a call with results is where its first result is."""
    from jax._src.sharding_impls import SdyArray, SdyArrayList

    if not (has_token and has_results and isinstance(sharding, SdyArrayList)):
        return sharding
    devices = sharding.shardings[0].logical_device_ids
    return SdyArrayList((SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=devices), *sharding.shardings))


def emit(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, sharding=None, **_):
    """jax._src.callback.emit_python_callback for programs of this platform. Where the callback is to run is said in
    the program, and is the one device that there is."""
    from jax._src import core
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    def type_of(aval, names):
        aval = aval.update(dtype=np.dtype(names.get(aval.dtype.name, aval.dtype)))
        return mlir.aval_to_ir_type(ctx.module_context, aval)

    def convert(value, aval, names):
        return hlo.convert(type_of(aval, names), value) if aval.dtype.name in WIDER else value

    inputs = [core.physical_aval(aval) for aval in operand_avals]
    outputs = [core.physical_aval(aval) for aval in result_avals]
    entry = Callback(callback, inputs, outputs)
    ctx.module_context.add_keepalive(entry)
    ctx.module_context.host_callbacks.append(entry)
    given = [convert(value, aval, WIDER) for value, aval in zip(operands, inputs)]
    types = [type_of(aval, WIDER) if aval.dtype.name in WIDER else mlir.aval_to_ir_type(ctx.module_context, own)
             for own, aval in zip(result_avals, outputs)]
    call = mlir.custom_call(
        "iree.call", result_types=[token.type, *types] if token else types,
        operands=[token, *given] if token else given, api_version=4,
        backend_config={"callee": ir.StringAttr.get(f"jax.call{entry.number}")}, has_side_effect=has_side_effect)
    if sharding is not None:
        mlir.set_sharding(ctx.module_context, call, _sharding_with_token(sharding, bool(token), bool(types)))
    results = list(call.results)
    after = results.pop(0) if token else None
    return [convert(value, aval, {}) for value, aval in zip(results, outputs)], after, entry


def register():
    """JAX's own lowerings of callbacks, for this platform too."""
    from jax._src import callback, checkify, debugging
    from jax._src.interpreters import mlir
    from jax.interpreters import mlir as public

    original = callback.emit_python_callback

    def emit_python_callback(ctx, *args, **options):
        here = tuple(ctx.module_context.platforms) == ("iree",)
        return (emit if here else original)(ctx, *args, **options)

    callback.emit_python_callback = public.emit_python_callback = emit_python_callback
    rules = ((debugging.debug_callback_p, debugging.debug_callback_lowering),
             (debugging.debug_print_p, debugging.debug_print_lowering_rule),
             (checkify.check_p, checkify.check_lowering_rule))
    for primitive, rule in rules:
        mlir.register_lowering(primitive, rule, platform="iree", cacheable=False)


def options():
    """The client's options."""
    return {"host_callback": ctypes.cast(entry_point, ctypes.c_void_p).value}
