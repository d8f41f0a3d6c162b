"""Arrays of this platform as DLPack capsules, in place: JAX's own are for its CPU and GPUs only."""

import numpy as np

try:
    from jax_plugins.iree import _capsule
except ImportError:  # built where there are no headers of Python's
    _capsule = None

CPU, CUDA, ROCM = 1, 2, 10
DEVICES = {"cuda": CUDA, "hip": ROCM, "amdgpu": ROCM}
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
KINDS = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}
# Those that NumPy has no letter for: DLPack 1.1's.
NARROW = {"bfloat16": BFLOAT, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10,
          "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14}


def device_of(array):
    """(type, number) as DLPack counts them."""
    device, = array.sharding.device_set
    driver = device.client.platform_version.rpartition(" on ")[2]
    return DEVICES.get(driver, CPU), device.id if driver in DEVICES else 0


def _element(dtype):
    if dtype.name not in NARROW and dtype.kind not in KINDS:
        raise BufferError(f"DLPack has no elements of type {dtype}")
    return NARROW.get(dtype.name, KINDS.get(dtype.kind)), dtype.itemsize * 8


def export(array, max_version=None, copy=None):
    """A capsule of the array's memory, which lives until it is released; deleting the array does not matter."""
    import jax

    element = _element(np.dtype(array.dtype))
    if copy:
        array = jax.numpy.array(array, copy=True)
    device, = array.sharding.device_set
    own = jax.device_put(array, device, may_alias=False)  # another buffer of the same memory
    own.block_until_ready()
    is_versioned = max_version is not None and max_version[0] >= 1
    address = own.unsafe_buffer_pointer() if own.size else 0
    return _capsule.make(own, address, device_of(own), element, tuple(own.shape), is_versioned)


def register():
    """Array.__dlpack__ and __dlpack_device__ for arrays of this platform too."""
    from jax._src import array

    if not _capsule:
        return
    original, original_device = array.ArrayImpl.__dlpack__, array.ArrayImpl.__dlpack_device__

    def is_here(x):
        return len(x.sharding.device_set) == 1 and x.platform() == "iree"

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if not is_here(self):
            return original(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if dl_device is not None and tuple(map(int, dl_device)) != device_of(self):
            raise BufferError(f"the array is on device {device_of(self)}, not on {tuple(map(int, dl_device))}")
        return export(self, max_version, copy)

    def __dlpack_device__(self):
        from jax._src.dlpack import DLDeviceType

        if not is_here(self):
            return original_device(self)
        kind, number = device_of(self)
        return DLDeviceType(kind), number

    array.ArrayImpl.__dlpack__, array.ArrayImpl.__dlpack_device__ = __dlpack__, __dlpack_device__
