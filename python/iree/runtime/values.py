"""What the runtime's values are to Python besides tensors."""

from . import _binding

__all__ = ["HalModuleDebugSink", "VmRef"]


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
        self.buffer_view_trace = callback

    def __call__(self, key, buffer_views):
        self.buffer_view_trace(key, buffer_views)


def _get_as_ref(self, index):
    return VmRef(self.get_variant(index))


_binding.VmVariantList.get_as_ref = _get_as_ref
