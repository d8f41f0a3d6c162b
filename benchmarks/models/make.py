"""Writes the benchmark models: make.py NAME...|all -o DIR

Layer shapes are those of the well-known networks; weights are random with a fixed seed, so a file is the same on every
machine. A file newer than the generators is left alone.
"""

import argparse
import importlib
import pathlib
import sys

NAMES = ["mlp", "mobilenetv2", "resnet50", "bert", "vit"]
HERE = pathlib.Path(__file__).resolve().parent


def write(name, folder):
    """Writes folder/NAME.onnx unless it is there and newer than its generator; returns its path."""
    path = pathlib.Path(folder) / f"{name}.onnx"
    newest = max((HERE / f"{stem}.py").stat().st_mtime for stem in (name, "graph"))
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        importlib.import_module(name).build().save(partial)
        partial.rename(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=NAMES + ["all"])
    parser.add_argument("-o", dest="folder", default=".", help="where to write (default: here)")
    arguments = parser.parse_args()
    for name in NAMES if "all" in arguments.names else arguments.names:
        print(write(name, arguments.folder))


sys.path.insert(0, str(HERE))
if __name__ == "__main__":
    main()
