"""Where the programs are: in the packages, or beside a build's folder `python`."""

import os
import pathlib
import shutil

_HERE = pathlib.Path(__file__).resolve().parent
_FOLDERS = (_HERE / "runtime/bin", _HERE / "compiler/bin", _HERE.parents[1] / "tools")


def find_tool(name):
    """Path of a tool. FileNotFoundError when there is none."""
    for folder in _FOLDERS:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    found = shutil.which(name)
    if not found:
        raise FileNotFoundError(f"{name} is not installed; the packages iree-base-runtime and iree-base-compiler have "
                                "the tools")
    return found
