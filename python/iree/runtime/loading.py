"""iree.load: from a model to something to call. Modules are kept in the user's cache folder.

The folder is IREE_CACHE_DIR, or `iree` in XDG_CACHE_HOME or ~/.cache. It is used only when it is the user's own and
nobody else may write there: modules have machine code. The oldest modules go when all together take more than
IREE_CACHE_SIZE bytes (4 GiB).
"""

import functools
import hashlib
import os
import pathlib
import re
import stat
import tempfile

from . import _binding
from .system_api import Config, load_vm_module
from .system_setup import get_driver

__all__ = ["Model", "load"]

_LIMIT = 4 << 30
_TARGET_FLAGS = ("--iree-hal-target-device", "--iree-hal-target-backends", "--iree-execution-model")
# Files that an ONNX model names for its weights: the field `location` of external data.
_LOCATION = re.compile(rb"\x0a\x08location\x12(?:([\x01-\x7f])|([\x80-\xff])([\x01-\x7f]))")


class Model:
    """A module that can be called: its only function, or the one that `function` names.

    Other functions are attributes and items. `module` is the BoundModule.
    """

    def __init__(self, module, function=None):
        self.module = module
        names = [name for name in module.vm_module.function_names
                 if not name.startswith("__") and not name.endswith("$async")]
        if function is None and len(names) == 1:
            function = names[0]
        elif function is None and "main" in names:
            function = "main"
        self._names = names
        self._call = module[function] if function is not None else None

    def __call__(self, *args, **kwargs):
        if self._call is None:
            raise TypeError(f"the module has several functions, none of which is called main; one of "
                            f"{', '.join(self._names)} is to be chosen: load(..., function=NAME)")
        return self._call(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.module, name)

    def __getitem__(self, name):
        return self.module[name]

    def __repr__(self):
        return f"<iree.Model {self.module.name}: {', '.join(self._names)}>"


def load(source, *, device="local-task", flags=(), function=None, cache=True):
    """A Model of a program: a file (.onnx, .mlir, .mlirbc or compiled: .vmfb), its bytes, or MLIR as text.

    `device` is a URI (`cuda://0`). `flags` are those of iree-compile; what they do not say of targets is the device's.
    With `cache` the compiled module is kept for the next time.
    """
    config = Config(device)
    data, path = _read(source)
    if (data or _head(path))[:2] == b"PK":
        return Model(load_vm_module(_open(config, data, path), config), function)
    flags = [*flags, *_flags_for(device, flags)]
    folder = _cache_folder() if cache else None
    if folder is None:
        module = _binding.VmModule.copy_buffer(config.vm_instance, _compile(data, path, flags))
        return Model(load_vm_module(module, config), function)
    kept = folder / f"{_key(data, path, flags)}.vmfb"
    module = _open_kept(config, kept)
    if module is None:
        _compile_to(data, path, flags, kept)
        module = _binding.VmModule.mmap(config.vm_instance, kept)
        _trim(folder)
    return Model(load_vm_module(module, config), function)


#
# Sources
#


def _read(source):
    """(bytes or None, path or None)"""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), None
    if isinstance(source, str) and "\n" in source:
        return source.encode(), None
    if hasattr(source, "SerializeToString"):  # an onnx.ModelProto
        return source.SerializeToString(), None
    return None, os.fspath(source)


def _head(path):
    with open(path, "rb") as file:
        return file.read(2)


def _open(config, data, path):
    instance = config.vm_instance
    return _binding.VmModule.mmap(instance, path) if data is None else _binding.VmModule.copy_buffer(instance, data)


#
# Compiling
#


def _compiler():
    try:
        from iree.compiler import tools
    except ImportError as error:
        raise ImportError("iree.load compiles with iree.compiler, which the package iree-base-compiler has") from error
    return tools


def _compile(data, path, flags, **kwargs):
    tools = _compiler()
    kwargs.update(extra_args=flags, output_mlir_debuginfo=False)
    return tools.compile_str(data, **kwargs) if path is None else tools.compile_file(path, **kwargs)


@functools.cache
def _gpu_name(device):
    """`sm_90` or `gfx942`, as the device says it."""
    driver, path = get_driver(device), device.partition("://")[2].partition("?")[0]
    infos = driver.query_available_devices()
    number = int(path) if path.isdigit() else 0
    info = next((each for each in infos if path and each["path"] == path), None) or infos[number]
    found = re.search(r"gpu-arch-name: (\S+)", driver.dump_device_info(info["device_id"]))
    if not found:
        raise ValueError(f"device '{device}' does not tell its architecture; flags of iree-compile have to")
    return found[1]


def _flags_for(device, flags):
    """What compiles for a device, unless flags choose the target."""
    if any(flag.partition("=")[0] in _TARGET_FLAGS for flag in flags):
        return []
    driver = device.partition(":")[0]
    if driver in ("cuda", "hip", "amdgpu", "rocm"):
        option = "--iree-cuda-target" if driver == "cuda" else "--iree-rocm-target"
        given = any(flag.partition("=")[0] == option for flag in flags)
        return [f"--iree-hal-target-device={driver}", *([] if given else [f"{option}={_gpu_name(device)}"])]
    return ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


#
# The cache
#


def _cache_folder():
    """The folder, or None when there is none to use."""
    chosen = os.environ.get("IREE_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = pathlib.Path(chosen or os.path.join(base, "iree")).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    ours = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if ours and os.access(folder, os.W_OK) else None


@functools.cache
def _build():
    """What the result depends on besides program and flags: compiler and processor."""
    import iree.compiler._api as api
    status = os.stat(api.__file__)
    library = [f"{entry.name} {entry.stat().st_size} {entry.stat().st_mtime_ns}"
               for folder in (pathlib.Path(api.__file__).parent / "lib", pathlib.Path(api.__file__).parents[3] / "lib")
               for entry in sorted(folder.glob("libIREECompiler.so"))]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = sorted({line for line in file if line.startswith(("model name", "flags"))})
    return "\n".join([f"{status.st_size} {status.st_mtime_ns}", *library, *processor])


def _key(data, path, flags):
    digest = hashlib.sha256()
    for text in ("iree.load 1", _build(), *flags):
        digest.update(text.encode() + b"\0")
    if data is None:
        with open(path, "rb") as file:
            data = file.read()
        for found in _LOCATION.finditer(data):
            size = found[1][0] if found[1] else found[2][0] - 128 + 128 * found[3][0]
            name = data[found.end():found.end() + size].decode(errors="replace")
            _add_file(digest, os.path.join(os.path.dirname(path), name))
    digest.update(data)
    return digest.hexdigest()


def _add_file(digest, path):
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return  # the compiler tells
    digest.update(f"{os.path.abspath(path)}\0{status.st_size} {status.st_mtime_ns}\0".encode())


def _open_kept(config, path):
    """The module of an earlier time, or None; a damaged one goes."""
    if not path.exists():
        return None
    try:
        module = _binding.VmModule.mmap(config.vm_instance, path)
        os.utime(path)
        return module
    except (OSError, RuntimeError, ValueError):
        path.unlink(missing_ok=True)
        return None


def _compile_to(data, path, flags, kept):
    """Others see the whole module or none."""
    handle, name = tempfile.mkstemp(dir=kept.parent, prefix=".", suffix=".vmfb")
    os.close(handle)
    try:
        _compile(data, path, flags, output_file=name)
        os.replace(name, kept)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise


def _trim(folder):
    """Removes the modules that were not used for longest, when there are too many."""
    limit = int(os.environ.get("IREE_CACHE_SIZE", _LIMIT))
    files = []
    for path in folder.glob("*.vmfb"):
        try:
            status = path.stat()
        except OSError:
            continue
        files.append((status.st_mtime, status.st_size, path))
    files.sort(reverse=True)
    used = 0
    for number, (_, size, path) in enumerate(files):
        used += size
        if used > limit and number:  # the newest stays
            path.unlink(missing_ok=True)
