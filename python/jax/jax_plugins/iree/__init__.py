"""JAX on iree-c: JAX_PLATFORMS=iree runs programs on its devices (IREE_PJRT_DEVICE: local-task, cuda, ...)."""

import ctypes
import os
import pathlib
import types

# Factorizations that JAX writes as calls of LAPACK's functions on CPUs and not at all on platforms that it does not
# know: iree-c compiles these calls, for every device.
LAPACK = {"cholesky", "eig", "eigh", "geqp3", "hessenberg", "schur", "svd", "tridiagonal", "tridiagonal_solve"}

# The same where sizes are symbolic: JAX's rule for platforms that it does not know takes numbers alone.
LAPACK_OF_ANY_SIZE = {"lu"}

# Rules for CPUs that JAX adds when a program first imports their modules, and that call Python.
LATER = {"spsolve"}


class _Rules(dict):
    """The platform's rules; of `LATER` those for CPUs."""

    def __init__(self, own, cpu):
        super().__init__(own)
        self._cpu = cpu

    def __contains__(self, primitive):
        return super().__contains__(primitive) or (primitive.name in LATER and primitive in self._cpu)

    def __missing__(self, primitive):
        if primitive not in self:
            raise KeyError(primitive)
        return self._cpu[primitive]


def library_path():
    """The plugin: IREE_PJRT_LIBRARY, else the one beside this file."""
    return os.environ.get("IREE_PJRT_LIBRARY") or str(pathlib.Path(__file__).parent / "libiree_pjrt.so")


def _rule_by_sizes(known, symbolic):
    """The rule `symbolic` for operands of symbolic sizes, `known` for others."""
    from jax._src import core

    def rule(ctx, *operands, **parameters):
        is_known = all(core.is_constant_shape(aval.shape) for aval in ctx.avals_in)
        return (known if is_known else symbolic)(ctx, *operands, **parameters)

    return rule


def _register_lowerings():
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg  # noqa: F401  it registers the rules

    if "iree" not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append("iree")
    for primitive, entry in list(mlir._platform_specific_lowerings["cpu"].items()):
        if primitive.name in LAPACK:
            mlir.register_lowering(primitive, entry.rule, platform="iree", inline=entry.inline)
        elif primitive.name in LAPACK_OF_ANY_SIZE:
            general = mlir._lowerings[primitive]
            rule = _rule_by_sizes(general.rule, entry.rule)
            mlir.register_lowering(primitive, rule, platform="iree", inline=general.inline)
    rules = mlir._platform_specific_lowerings
    rules["iree"] = _Rules(rules["iree"], rules["cpu"])


def _allow_compilation_cache():
    """JAX uses its cache of executables for platforms that it knows."""
    from jax._src import compilation_cache

    is_used = compilation_cache.is_cache_used

    def is_cache_used(backend):
        known = types.SimpleNamespace(platform="cpu", supports_executable_serialization=True)
        return is_used(known if backend.platform == "iree" else backend)

    compilation_cache.is_cache_used = is_cache_used


def initialize():
    """Called by JAX, which finds this module by its name or by its entry point."""
    from jax._src import xla_bridge

    from jax_plugins.iree import callbacks, dlpack

    # Loaded for good before JAX does it: names of its LLVM are not looked up in that of other packages (TensorFlow).
    ctypes.CDLL(library_path(), mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
    xla_bridge.register_plugin("iree", priority=100, library_path=library_path(), options=callbacks.options())
    _register_lowerings()
    _allow_compilation_cache()
    callbacks.register()
    dlpack.register()
