"""JAX on iree-c: JAX_PLATFORMS=iree runs programs on its devices (IREE_PJRT_DEVICE: local-task, cuda, ...)."""

import os
import pathlib


def library_path():
    """The plugin: IREE_PJRT_LIBRARY, else the one beside this file."""
    return os.environ.get("IREE_PJRT_LIBRARY") or str(pathlib.Path(__file__).parent / "libiree_pjrt.so")


def initialize():
    """Called by JAX, which finds this module by its name or by its entry point."""
    from jax._src import xla_bridge

    xla_bridge.register_plugin("iree", priority=100, library_path=library_path())
