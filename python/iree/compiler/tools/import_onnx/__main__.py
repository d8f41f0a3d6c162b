"""Runs iree-import-onnx."""

import os
import sys

from ...scripts import find_tool


def main(arguments=None):
    """Becomes the tool."""
    tool = find_tool("iree-import-onnx")
    os.execv(tool, ["iree-import-onnx", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    main()
