"""The tools of the package, and console scripts that run them: they are in its folder `bin`, or a build's `tools`."""

import os
import pathlib
import shutil
import sys

_HERE = pathlib.Path(__file__).resolve().parent


def find_tool(name):
    """Path of a tool. FileNotFoundError when there is none."""
    for folder in (_HERE / "bin", _HERE.parents[2] / "tools"):
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    own = pathlib.Path(sys.argv[0]).resolve()  # a console script does not run itself
    found = shutil.which(name)
    if not found or pathlib.Path(found).resolve() == own:
        raise FileNotFoundError(f"{name} is not installed; the packages iree-base-runtime and iree-base-compiler have "
                                "the tools")
    return found


def main():
    """Becomes the tool that the console script is named after."""
    name = pathlib.Path(sys.argv[0]).name
    os.execv(find_tool(name), [name, *sys.argv[1:]])
