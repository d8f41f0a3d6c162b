"""Parameters: named bytes that programs take for their weights, in archives (.irpa, .safetensors, .gguf) or memory."""

import json

import numpy as np

from . import _binding, dtypes
from ._binding import FileHandle, ParameterProvider, create_io_parameters_module
from .array_interop import DeviceArray

__all__ = ["FileHandle", "ParameterIndex", "ParameterIndexEntry", "ParameterProvider", "SplatValue",
           "create_io_parameters_module", "parameter_index_add_numpy_ndarray",
           "parameter_index_entry_as_numpy_flat_ndarray", "parameter_index_entry_as_numpy_ndarray",
           "save_archive_file"]


class SplatValue:
    """A parameter whose elements are all the same: a scalar array, and a shape or a number of elements."""

    def __init__(self, item, count):
        self.item = np.asarray(item).reshape(())
        self.shape = (count,) if isinstance(count, int) else tuple(count)

    @property
    def length(self):
        return int(np.prod(self.shape)) * self.item.itemsize

    def __repr__(self):
        return f"SplatValue({self.item} of {self.item.dtype}, {self.shape})"


class ParameterIndexEntry:
    """One parameter: `length` bytes of a file or of memory, or a pattern over and over."""

    def __init__(self, key, length, metadata, splat_pattern, file_storage, offset):
        self.key, self.length, self.metadata = key, length, metadata
        self._pattern, self._file, self.offset = splat_pattern, file_storage, offset

    @property
    def is_splat(self):
        return self._pattern is not None

    @property
    def splat_pattern(self):
        """What is repeated, as bytes."""
        if not self.is_splat:
            raise ValueError(f"parameter '{self.key}' has contents in a file and is no pattern")
        return self._pattern

    @property
    def file_storage(self):
        """The file that has its bytes, and where in it they begin."""
        if self.is_splat:
            raise ValueError(f"parameter '{self.key}' is a pattern and has no contents in a file")
        return self._file, self.offset

    @property
    def is_file(self):
        return not self.is_splat

    @property
    def file_view(self):
        """Its bytes where they lie, as a buffer."""
        file, offset = self.file_storage
        return file.map(offset, self.length)

    def contents(self):
        """Its bytes as a NumPy array, patterns written out."""
        if self.is_splat:
            return np.frombuffer(self.splat_pattern * (self.length // len(self.splat_pattern)), np.uint8)
        return np.frombuffer(self.file_view, np.uint8) if self.length else np.empty(0, np.uint8)

    def __repr__(self):
        where = f"splat {self._pattern!r}" if self.is_splat else f"{self._file!r}:{self.offset}"
        return f"<ParameterIndexEntry '{self.key}' {where}:{self.length}>"


def _as_bytes(metadata):
    return metadata.encode() if isinstance(metadata, str) else bytes(metadata or b"")


class ParameterIndex:
    """Parameters by name, of archives and of memory. Of those with one name the first counts."""

    def __init__(self):
        self._index = _binding.ParameterIndex()

    def __len__(self):
        return len(self._index)

    def __getitem__(self, i):
        return ParameterIndexEntry(*self._index[i])

    def items(self):
        """Pairs (name, ParameterIndexEntry) in order."""
        entries = [self[i] for i in range(len(self))]
        return [(entry.key, entry) for entry in entries]

    def load(self, file_path, *, format=None, readable=True, writable=False, mmap=True):
        """Adds what an archive has. What it is, it says itself; `format` may repeat it. The file stays mapped,
        whatever `mmap` says.
        """
        if format is not None and format not in ("irpa", "safetensors", "gguf"):
            raise ValueError(f"'{format}' is no format of archives; irpa, safetensors and gguf are")
        if writable or not readable:
            raise ValueError("archives are read: readable=True, writable=False")
        self._index.load(file_path)

    def load_from_file_handle(self, file_handle, format=None):
        """Adds what an archive has that is open, or in memory (FileHandle.wrap_memory)."""
        self._index.load_file(file_handle)

    def add_buffer(self, key, buffer, metadata=None):
        """Bytes of memory, which are kept and not copied."""
        self._index.add_file(key, FileHandle.wrap_memory(buffer), 0, memoryview(buffer).nbytes, _as_bytes(metadata))

    def add_splat(self, key, pattern, total_length, metadata=None):
        """A pattern of 1, 2, 4, 8 or 16 bytes over and over."""
        self._index.add_splat(key, bytes(pattern), total_length, _as_bytes(metadata))

    def add_from_file_handle(self, key, file_handle, length, offset=0, metadata=None):
        """Bytes of a file: a FileHandle, or a path."""
        if not isinstance(file_handle, FileHandle):
            file_handle = FileHandle.open(file_handle)
        self._index.add_file(key, file_handle, offset, length, _as_bytes(metadata))

    def create_archive_file(self, file_path, file_offset=0, target_index=None):
        """Writes a .irpa archive of all and returns an index of it (`target_index`, or a new one)."""
        if file_offset:
            raise ValueError("archives begin where the file does; file_offset has to be 0")
        self._index.write(file_path)
        index = ParameterIndex() if target_index is None else target_index
        index.load(file_path)
        return index

    def create_provider(self, *, scope="", max_concurrent_operations=None):
        """What gives the parameters to programs under the name of a scope."""
        operations = () if max_concurrent_operations is None else (max_concurrent_operations,)
        return self._index.provider(scope, *operations)

    def __repr__(self):
        return f"<ParameterIndex of {len(self)}>"


#
# NumPy's arrays
#


# What metadata of tensors begins with: IREE's, and that of the exporter for PyTorch.
_TENSORS = ("TENSORv0:", "PYTORCH:")


def _describe(dtype, shape):
    """Metadata that says what the bytes are."""
    kind = {"class_name": type(dtype).__name__, "is_complex": dtype.kind == "c",
            "is_floating_point": dtype.kind in "fV", "is_signed": dtype.kind == "i", "itemsize": dtype.itemsize}
    return _TENSORS[0] + json.dumps({"type": "Tensor", "dtype": dtype.name, "shape": list(shape), "dtype_desc": kind})


def parameter_index_add_numpy_ndarray(index, name, array):
    """Adds an array (kept, not copied, when it is contiguous)."""
    array = np.ascontiguousarray(array.to_host() if isinstance(array, DeviceArray) else array)
    index.add_buffer(name, array.reshape(-1).view(np.uint8), _describe(array.dtype, array.shape))


def parameter_index_entry_as_numpy_flat_ndarray(entry):
    """An entry's bytes as an array of uint8."""
    return entry.contents()


def parameter_index_entry_as_numpy_ndarray(entry):
    """The array that was added. ValueError for what has no metadata of an array."""
    try:
        text = entry.metadata.decode()
        prefix = next((each for each in _TENSORS if text.startswith(each)), None)
        metadata = json.loads(text.removeprefix(prefix))
        if metadata["type"] != "Tensor":
            raise ValueError("other type")
        shape, name = metadata["shape"], metadata["dtype"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"parameter '{entry.key}' does not say that it is an array") from None
    dtype = np.dtype(getattr(dtypes.ml_dtypes, name, name))
    return entry.contents().view(dtype).reshape(shape)


def save_archive_file(entries, file_path):
    """Writes a .irpa archive of arrays and SplatValues by name; returns its ParameterIndex."""
    index = ParameterIndex()
    for name, value in entries.items():
        if isinstance(value, SplatValue):
            index.add_splat(name, value.item.tobytes(), value.length, _describe(value.item.dtype, value.shape))
        else:
            parameter_index_add_numpy_ndarray(index, name, np.asarray(value))
    return index.create_archive_file(file_path)
