"""Arrays on devices that act like NumPy's."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import dtypes
from ._binding import HalBufferView
from .enums import BufferUsage, HalElementType, MemoryType

__all__ = ["DeviceArray", "asdevicearray"]

_HANDLED = {}


def _handles(numpy_function):
    def add(function):
        _HANDLED[numpy_function] = function
        return function

    return add


class DeviceArray(NDArrayOperatorsMixin):
    """A tensor on a device. What is done with it happens in the host's memory: to_host() is its contents there.

    The contents are fetched once. Where the host reaches the device's memory they are that memory itself.
    """

    __slots__ = ("_device", "_buffer_view", "_implicit_host_transfer", "_override_dtype", "_host")

    def __init__(self, device, buffer_view, implicit_host_transfer=False, override_dtype=None):
        self._device = device
        self._buffer_view = buffer_view
        self._implicit_host_transfer = implicit_host_transfer
        self._override_dtype = None if override_dtype is None else np.dtype(override_dtype)
        self._host = None

    def __array__(self, dtype=None, copy=None):
        host = self._implicit("np.asarray")
        if copy:
            return np.array(host, dtype=dtype, copy=True)
        converted = np.asarray(host, dtype=dtype)
        if copy is False and converted is not host:
            raise ValueError(f"an array of type {np.dtype(dtype)} would be a copy")
        return converted

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        inputs = [x._implicit(ufunc.__name__) if isinstance(x, DeviceArray) else x for x in inputs]
        return getattr(ufunc, method)(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        if func in _HANDLED:
            return _HANDLED[func](*args, **kwargs)
        return func(*_on_host(args, func.__name__), **_on_host(kwargs, func.__name__))

    @property
    def __iree_vm_ref__(self):
        return self._buffer_view

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, (1, 0)):
            raise BufferError("only the host's memory can be shared")
        if copy:
            return self.to_host().copy().__dlpack__()
        return self._device.create_dlpack_capsule(self._buffer_view)

    def __dlpack_device__(self):
        return (1, 0)  # the host's memory

    def __repr__(self):
        return f"<IREE DeviceArray: shape={list(self.shape)}, dtype={self.dtype}>"

    def __reduce__(self):
        return _restore, (self.to_host(),)

    def _implicit(self, what):
        if self._host is None and not self._implicit_host_transfer and not self.is_host_accessible:
            raise ValueError(f"{what} would copy a device array to the host; to_host() does so explicitly")
        return self.to_host()

    def to_host(self):
        """The contents as a NumPy array."""
        if self._host is None:
            self._host = self._read()
        return self._host

    def _read(self):
        memory = np.asarray(self._buffer_view.to_host(self._device))
        view = self._buffer_view
        dtype = dtypes.to_dtype(view.element_type)
        bits = int(view.element_type) % 256
        if bits % 8:
            memory = dtypes.unpack(memory, dtype, bits, int(np.prod(view.shape))).reshape(view.shape)
        elif memory.dtype != dtype:  # what buffers have no format for
            memory = memory.view(dtype).reshape(view.shape)
        return memory if self._override_dtype is None else memory.astype(self._override_dtype)

    @property
    def is_host_accessible(self):
        """Whether to_host() needs no copy."""
        buffer = self._buffer_view.get_buffer()
        return bool(buffer.memory_type() & MemoryType.HOST_VISIBLE and buffer.allowed_usage()
                    & BufferUsage.MAPPING_SCOPED)

    @property
    def shape(self):
        return self._buffer_view.shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape))

    @property
    def dtype(self):
        return self._override_dtype or dtypes.to_dtype(self._buffer_view.element_type)

    def astype(self, dtype, casting="unsafe", copy=True):
        """As numpy.ndarray.astype, on the device where nothing changes."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype and not copy:
            return self
        host = self.to_host().astype(dtype, casting=casting, copy=copy)
        return asdevicearray(self._device, host, implicit_host_transfer=self._implicit_host_transfer)

    def reshape(self, *shape):
        """The same memory with another shape."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        shape = np.empty(self.shape, np.void).reshape(shape).shape if -1 in shape else shape
        if int(np.prod(shape)) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(shape)}")
        view = HalBufferView(self._buffer_view.get_buffer(), shape, self._buffer_view.element_type)
        return DeviceArray(self._device, view, self._implicit_host_transfer, self._override_dtype)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self):
        return iter(self._implicit("iteration"))

    def __getitem__(self, index):
        return self._implicit("indexing")[index]

    def __int__(self):
        return int(self._implicit("int"))

    def __float__(self):
        return float(self._implicit("float"))

    def __bool__(self):
        return bool(self._implicit("bool"))

    def item(self, *args):
        return self._implicit("item").item(*args)

    def tolist(self):
        return self._implicit("tolist").tolist()


def result_array(device, buffer_view):
    """What calls give."""
    return DeviceArray(device, buffer_view, True)


def _restore(array):
    from .system_setup import get_first_device
    return asdevicearray(get_first_device(), array, implicit_host_transfer=True)


def _on_host(value, what):
    if isinstance(value, DeviceArray):
        return value._implicit(what)
    if isinstance(value, (list, tuple)):
        return type(value)(_on_host(item, what) for item in value)
    if isinstance(value, dict):
        return {key: _on_host(item, what) for key, item in value.items()}
    return value


@_handles(np.asarray)
def _asarray(a, dtype=None, order=None, **kwargs):
    return a.__array__(dtype)


@_handles(np.reshape)
def _reshape(a, shape=None, order="C", **kwargs):
    return a.reshape(shape) if order == "C" else np.reshape(a.to_host(), shape, order=order)


_USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.MAPPING_OPTIONAL


def view_of_array(device, array, memory_type=MemoryType.DEVICE_LOCAL, allowed_usage=_USAGE, element_type=None):
    """A HalBufferView with a copy of a NumPy array."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if element_type is None:
        element_type = dtypes.to_element_type(array.dtype)
    bits, shape = int(element_type) % 256, array.shape
    array = np.ascontiguousarray(array)
    if bits % 8:
        array = dtypes.pack(array, bits)
    if array.dtype.kind == "V" or bits % 8:  # what buffers have no format for
        array = array.view(np.uint8)
    buffer = device.allocator.allocate_buffer_copy(int(memory_type), int(allowed_usage), device, array)
    return HalBufferView(buffer, shape, int(element_type))


def asdevicearray(device, a, dtype=None, *, implicit_host_transfer=False, memory_type=MemoryType.DEVICE_LOCAL,
                  allowed_usage=_USAGE, element_type=None):
    """A DeviceArray with what `a` has: a NumPy array, what becomes one, or a tensor with DLPack.

    A tensor of another library in the host's memory is used where it lies when it is aligned to 64 bytes.
    """
    if isinstance(a, DeviceArray):
        same = dtype is None or np.dtype(dtype) == a.dtype
        if same and a._device is device:
            return a
        a = a.to_host()
    elif not isinstance(a, np.ndarray) and hasattr(a, "__dlpack__") and dtype is None and element_type is None:
        view = device.from_dlpack_capsule(a.__dlpack__())
        return DeviceArray(device, view, implicit_host_transfer)
    array = np.asarray(a, dtype=dtype)
    view = view_of_array(device, array, memory_type, allowed_usage, element_type)
    return DeviceArray(device, view, implicit_host_transfer)
