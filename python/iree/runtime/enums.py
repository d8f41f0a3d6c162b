"""Numbers of the runtime's C API by name."""

import enum

from ._binding import element_types

# Complex numbers have two names.
HalElementType = enum.IntEnum("HalElementType", {
    **element_types, "COMPLEX_64": element_types["COMPLEX_FLOAT_64"],
    "COMPLEX_128": element_types["COMPLEX_FLOAT_128"]})
HalElementType.__doc__ = "Types of elements. Signless integers (INT_32) are what programs declare as i32."


class Linkage(enum.IntEnum):
    INTERNAL = 0
    IMPORT = 1
    EXPORT = 2
    IMPORT_OPTIONAL = 3
    EXPORT_OPTIONAL = 4


class MemoryType(enum.IntFlag):
    NONE = 0
    OPTIMAL = 1 << 0
    HOST_VISIBLE = 1 << 1
    HOST_COHERENT = 1 << 2
    HOST_CACHED = 1 << 3
    HOST_LOCAL = HOST_VISIBLE | HOST_COHERENT | 1 << 6
    DEVICE_VISIBLE = 1 << 4
    DEVICE_LOCAL = DEVICE_VISIBLE | 1 << 5


class MemoryAccess(enum.IntFlag):
    NONE = 0
    READ = 1 << 0
    WRITE = 1 << 1
    DISCARD = 1 << 2
    DISCARD_WRITE = WRITE | DISCARD
    ALL = READ | WRITE | DISCARD


class BufferUsage(enum.IntFlag):
    NONE = 0
    TRANSFER_SOURCE = 1 << 0
    TRANSFER_TARGET = 1 << 1
    TRANSFER = TRANSFER_SOURCE | TRANSFER_TARGET
    DISPATCH_INDIRECT_PARAMETERS = 1 << 8
    DISPATCH_UNIFORM_READ = 1 << 9
    DISPATCH_STORAGE_READ = 1 << 10
    DISPATCH_STORAGE_WRITE = 1 << 11
    DISPATCH_STORAGE = DISPATCH_STORAGE_READ | DISPATCH_STORAGE_WRITE
    DISPATCH_IMAGE_READ = 1 << 12
    DISPATCH_IMAGE_WRITE = 1 << 13
    DISPATCH_IMAGE = DISPATCH_IMAGE_READ | DISPATCH_IMAGE_WRITE
    SHARING_EXPORT = 1 << 16
    SHARING_REPLICATE = 1 << 17
    SHARING_CONCURRENT = 1 << 18
    SHARING_IMMUTABLE = 1 << 19
    MAPPING_SCOPED = 1 << 24
    MAPPING_PERSISTENT = 1 << 25
    MAPPING_OPTIONAL = 1 << 26
    MAPPING_ACCESS_RANDOM = 1 << 27
    MAPPING_ACCESS_SEQUENTIAL_WRITE = 1 << 28
    MAPPING = MAPPING_SCOPED | MAPPING_ACCESS_RANDOM
    DEFAULT = TRANSFER | DISPATCH_STORAGE


class BufferCompatibility(enum.IntFlag):
    NONE = 0
    ALLOCATABLE = 1 << 0
    IMPORTABLE = 1 << 1
    EXPORTABLE = 1 << 2
    QUEUE_TRANSFER = 1 << 10
    QUEUE_DISPATCH = 1 << 11
    LOW_PERFORMANCE = 1 << 20


class SemaphoreCompatibility(enum.IntFlag):
    NONE = 0
    HOST_WAIT = 1 << 0
    DEVICE_WAIT = 1 << 1
    HOST_SIGNAL = 1 << 2
    DEVICE_SIGNAL = 1 << 3
    HOST_ONLY = HOST_WAIT | HOST_SIGNAL
    DEVICE_ONLY = DEVICE_WAIT | DEVICE_SIGNAL
    ALL = HOST_ONLY | DEVICE_ONLY


class ExternalTimepointType(enum.IntEnum):
    NONE = 0
    ASYNC_PRIMITIVE = 1
    CUDA_EVENT = 2
    HIP_EVENT = 3


class ExternalTimepointFlags(enum.IntFlag):
    NONE = 0
