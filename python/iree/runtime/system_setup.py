"""Drivers and devices by name, made once."""

import os
import threading

from . import _binding
from ._binding import query_available_drivers

__all__ = ["get_device", "get_driver", "get_first_device", "query_available_drivers"]

# Names of older releases and what stands in for them.
_ALIASES = {"rocm": ("hip", "amdgpu"), "dylib": ("local-task",), "vmvx": ("local-task",), "llvm-cpu": ("local-task",),
            "dylib-sync": ("local-sync",), "vmvx-sync": ("local-sync",)}
_DEFAULTS = "local-task,local-sync"

_lock = threading.RLock()
_drivers, _devices = {}, {}


def _known_uri(uri):
    """The same with the name of a driver that there is."""
    name, colon, rest = uri.partition(":")
    available = query_available_drivers()
    if name not in available:
        name = next((other for other in _ALIASES.get(name, ()) if other in available), name)
    return name, name + colon + rest


def get_driver(device_uri):
    """The HalDriver of a device's URI (`local-task`, `cuda://0`)."""
    name, _ = _known_uri(device_uri)
    with _lock:
        if name not in _drivers:
            _drivers[name] = _binding.create_hal_driver(name)
        return _drivers[name]


def clear_hal_driver_cache():
    """The next call makes new drivers. Devices that were made stay."""
    with _lock:
        _drivers.clear()


def get_device(device_uri, cache=True):
    """The HalDevice of a URI; the same each time unless `cache` is False."""
    _, uri = _known_uri(device_uri)
    with _lock:
        if cache and uri in _devices:
            return _devices[uri]
        device = get_driver(uri).create_device_by_uri(uri)
        if cache:
            _devices[uri] = device
        return device


def get_first_device(device_uris=None, cache=True):
    """The first device of a list that can be made; by default of IREE_DEFAULT_DEVICE, or `local-task`."""
    uris = device_uris or os.environ.get("IREE_DEFAULT_DEVICE", _DEFAULTS).split(",")
    failures = []
    for uri in uris:
        try:
            return get_device(uri, cache)
        except (RuntimeError, ValueError) as error:
            failures.append(f"{uri}: {error}")
    raise RuntimeError("no device could be made: " + "; ".join(failures))
