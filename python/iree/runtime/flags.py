"""Flags of the runtime: what the tools take on their command lines, as far as it is about drivers and devices."""

import os
import shlex

from ._binding import parse_flags

__all__ = ["parse_flags"]

if os.environ.get("IREE_PY_RUNTIME_FLAGS"):
    parse_flags(*shlex.split(os.environ["IREE_PY_RUNTIME_FLAGS"]))
