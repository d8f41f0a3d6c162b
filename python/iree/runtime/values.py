"""What the runtime's values are to Python besides tensors."""

import numpy as np

from . import _binding
from .enums import BufferUsage, MemoryType

__all__ = ["HalModuleDebugSink", "Shape", "VmRef", "as_object"]

Shape = tuple  # sizes of a tensor

# What programs may hold references to.
_KINDS = (_binding.HalBufferView, _binding.HalBuffer, _binding.HalFence, _binding.HalSemaphore, _binding.HalDevice,
          _binding.HalCommandBuffer, _binding.VmVariantList, _binding.VmBuffer)


def as_object(value):
    """The runtime's object that a value stands for by `__iree_vm_ref__`, a method or what it would give."""
    while hasattr(value, "__iree_vm_ref__") and not isinstance(value, _KINDS):
        given = value.__iree_vm_ref__
        value = given() if callable(given) else given
    return value


class VmRef:
    """A reference as a program has it: `deref(HalBufferView)` is the object."""

    __slots__ = ("_object",)

    def __init__(self, value=None):
        self._object = value

    def isinstance(self, kind):
        return isinstance(self._object, kind)

    def deref(self, kind, optional=False):
        if self._object is None and optional:
            return None
        if not isinstance(self._object, kind):
            raise TypeError(f"the reference is {self._object!r}, not a {kind.__name__}")
        return self._object

    @property
    def __iree_vm_ref__(self):
        return self._object

    def __eq__(self, other):
        return isinstance(other, VmRef) and self._object is other._object

    def __hash__(self):
        return hash(id(self._object))

    def __repr__(self):
        return f"<VmRef {self._object!r}>"


class HalModuleDebugSink:
    """Gets the tensors that programs trace: `callback(key, [HalBufferView, ...])`."""

    def __init__(self, callback):
        if not callable(callback):
            raise TypeError("a callable is needed that takes a key and a list of buffer views")
        self.buffer_view_trace_callback = callback

    def __call__(self, key, buffer_views):
        self.buffer_view_trace_callback(key, buffer_views)


#
# Methods of the binding's own types
#


def _get_as_ref(self, index):
    return VmRef(self.get_variant(index))


def _asarray(self, shape, dtype):
    """The mapped memory as a NumPy array."""
    return np.frombuffer(self, np.uint8).view(dtype).reshape(shape)


def _create_view(self, shape, element_size):
    """A HalBufferView of opaque elements of that many bytes."""
    return _binding.HalBufferView(self, shape, element_size * 8)


def _stage(self, device, initial_contents):
    """A HalBuffer with a copy of what has a buffer, for transfers."""
    usage = BufferUsage.TRANSFER | BufferUsage.MAPPING
    return self.allocate_buffer_copy(int(MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE), int(usage), device,
                                     np.asarray(initial_contents))


_binding.VmVariantList.get_as_ref = _get_as_ref
_binding.MappedMemory.asarray = _asarray
_binding.HalBuffer.create_view = _create_view
_binding.HalAllocator.allocate_host_staging_buffer_copy = _stage
for _kind in _KINDS:
    _kind.ref = _kind.__iree_vm_ref__ = property(VmRef)
