"""Parameters: named bytes that programs take for their weights, in archives (.irpa, .safetensors, .gguf) or memory."""

import json
import os
import struct
import tempfile
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from . import _binding, dtypes
from .array_interop import DeviceArray

__all__ = ["ParameterIndex", "ParameterIndexEntry", "ParameterProvider", "SplatValue", "create_io_parameters_module",
           "parameter_index_add_numpy_ndarray", "parameter_index_entry_as_numpy_flat_ndarray",
           "parameter_index_entry_as_numpy_ndarray", "save_archive_file"]

_ALIGNMENT = 64


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


@dataclass
class ParameterIndexEntry:
    """One parameter: bytes in a file or in memory (`data`), or a pattern over and over (`splat_pattern`)."""

    key: str
    length: int
    metadata: bytes = b""
    path: Optional[str] = None
    offset: int = 0
    data: Any = None
    splat_pattern: Optional[bytes] = None

    @property
    def is_splat(self):
        return self.splat_pattern is not None

    @property
    def is_file(self):
        return not self.is_splat

    @property
    def file_view(self):
        """Its contents: a NumPy array of bytes, of the file's or the memory's own."""
        if self.is_splat:
            raise ValueError(f"parameter '{self.key}' is a pattern and has no contents in a file")
        if self.data is not None:
            return np.frombuffer(self.data, np.uint8)
        if not self.length:
            return np.empty(0, np.uint8)
        return np.memmap(self.path, np.uint8, "r", self.offset, (self.length,))

    def contents(self):
        """Its bytes as a NumPy array, patterns written out."""
        if self.is_splat:
            return np.frombuffer(self.splat_pattern * (self.length // len(self.splat_pattern)), np.uint8)
        return self.file_view


class ParameterIndex:
    """Parameters by name, of one or several archives and of memory."""

    def __init__(self):
        self._entries = {}
        self._files = []  # archives that have all that was added so far; None: not only they

    def __len__(self):
        return len(self._entries)

    def __getitem__(self, index):
        return list(self._entries.values())[index]

    def items(self):
        """Pairs (name, ParameterIndexEntry) in order."""
        return list(self._entries.items())

    def _add(self, entry):
        self._entries[entry.key] = entry
        self._files = None

    def load(self, file_path, format=None):
        """Adds what an archive has. What it is, it says itself; `format` may repeat it."""
        path = os.path.abspath(file_path)
        if format is not None and format not in ("irpa", "safetensors", "gguf"):
            raise ValueError(f"'{format}' is no format of archives; irpa, safetensors and gguf are")
        files = self._files
        for _, key, length, offset, pattern in sorted(_binding.read_parameters(path)):
            if key in self._entries:  # as io_parameters does: the first counts
                continue
            self._add(ParameterIndexEntry(key, length, path=path, offset=offset or 0, splat_pattern=pattern))
        self._files = None if files is None else [*files, path]

    def add_buffer(self, key, buffer, metadata=None):
        """Bytes of memory, which are kept and not copied."""
        view = memoryview(buffer).cast("B")
        self._add(ParameterIndexEntry(key, view.nbytes, _as_bytes(metadata), data=view))

    def add_splat(self, key, pattern, total_length, metadata=None):
        """A pattern of at most 16 bytes over and over."""
        pattern = bytes(pattern)
        if not 1 <= len(pattern) <= 16 or total_length % len(pattern):
            raise ValueError("a pattern has 1 to 16 bytes, and the parameter's length is a multiple of its")
        self._add(ParameterIndexEntry(key, total_length, _as_bytes(metadata), splat_pattern=pattern))

    def add_from_file_handle(self, key, file_handle, length, offset=0, metadata=None):
        """Bytes of a file: its path, or an open file."""
        path = os.path.abspath(getattr(file_handle, "name", file_handle))
        if offset < 0 or length < 0 or offset + length > os.path.getsize(path):
            raise ValueError(f"'{path}' has no {length} bytes from {offset} on")
        self._add(ParameterIndexEntry(key, length, _as_bytes(metadata), path=path, offset=offset))

    def create_archive_file(self, file_path, file_offset=0, target_index=None):
        """Writes a .irpa archive of all and returns an index of it (`target_index`, or a new one)."""
        if file_offset:
            raise ValueError("archives begin where the file does; file_offset has to be 0")
        _write_archive(file_path, list(self._entries.values()))
        index = ParameterIndex() if target_index is None else target_index
        index.load(file_path)
        for key, entry in self._entries.items():
            index._entries[key].metadata = entry.metadata
        return index

    def create_provider(self, *, scope="", max_concurrent_operations=None):
        """What gives the parameters of a scope to programs. Reading is never in parallel operations of its own."""
        return ParameterProvider(self, scope)

    def __repr__(self):
        return f"<ParameterIndex of {len(self)}>"


class ParameterProvider:
    """An index under the name of a scope."""

    def __init__(self, index, scope):
        self._index, self._scope = index, scope

    def _sources(self, folder):
        """Pairs (scope, archive); what is no archive yet becomes one in the folder."""
        files = self._index._files
        if files is None:
            path = os.path.join(folder, f"{len(os.listdir(folder))}.irpa")
            _write_archive(path, list(self._index._entries.values()))
            files = [path]
        return [(self._scope, path) for path in files]


def create_io_parameters_module(instance, *providers):
    """The module `io_parameters` of a context, before the modules that take parameters. It maps its archives."""
    with tempfile.TemporaryDirectory(prefix="iree-parameters-") as folder:
        sources = [source for provider in providers for source in provider._sources(folder)]
        return _binding.create_parameters_module(instance, sources)


#
# .irpa: docs of src/io/parameter_irpa.c
#

_HEADER = struct.Struct("<4sHHQQQQ6Q")
_ROW = struct.Struct("<QIQQQQQQ")
_SPLAT, _DATA = 1, 2


def _as_bytes(metadata):
    return metadata.encode() if isinstance(metadata, str) else bytes(metadata or b"")


def _align(offset, to):
    return (offset + to - 1) // to * to


def _rows(entries):
    """The table, the names with their metadata, and offset and entry of each of the contents."""
    rows, names, contents, used = bytearray(), bytearray(), [], 0
    for entry in entries:
        name = len(names)
        names += entry.key.encode()
        extra = len(names)
        names += entry.metadata
        if entry.is_splat:
            tail = struct.pack("<Q16sB", entry.length, entry.splat_pattern, len(entry.splat_pattern))
            kind, alignment = _SPLAT, 0
        else:
            used = _align(used, _ALIGNMENT)
            tail = struct.pack("<QQ", used, entry.length)
            kind, alignment = _DATA, _ALIGNMENT
            contents.append((used, entry))
            used += entry.length
        size = _ROW.size + len(tail)
        rows += _ROW.pack(size, kind, 0, name, extra - name, extra, len(entry.metadata), alignment) + tail
        rows += bytes(_align(len(rows), 16) - len(rows))
    return bytes(rows), bytes(names), contents, used


def _write_archive(path, entries):
    """Through a file beside it, so that an archive that is there stays until the new one is whole."""
    rows, names, contents, used = _rows(entries)
    rows_at = _align(_HEADER.size, 16)
    names_at = _align(rows_at + len(rows), 16)
    contents_at = _align(names_at + len(names), _ALIGNMENT)
    header = _HEADER.pack(b"IRPA", 0, 0, _HEADER.size, 0, 0, len(entries), rows_at, len(rows), names_at, len(names),
                          contents_at, used)
    path = os.path.abspath(path)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".irpa-")
    try:
        with os.fdopen(handle, "wb") as file:
            for offset, data in ((0, header), (rows_at, rows), (names_at, names)):
                file.seek(offset)
                file.write(data)
            for offset, entry in contents:
                file.seek(contents_at + offset)
                file.write(entry.contents())
            file.truncate(contents_at + used)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


#
# NumPy's arrays
#


def _describe(dtype, shape):
    """Metadata that says what the bytes are."""
    return json.dumps({"type": "numpy.ndarray", "dtype": dtype.name, "shape": list(shape)})


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
        metadata = json.loads(entry.metadata)
        if metadata["type"] != "numpy.ndarray":
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
