"""Writes programs with what their functions must give, computed by numpy, as .mlir files for lower-eval."""

import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent
NAMES = {"float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64"}


def type_of(array, signless=False):
    """tensor<2x3xf32> of a numpy array."""
    name = NAMES[array.dtype.name]
    return f"tensor<{''.join(f'{d}x' for d in array.shape)}{name[1:] if signless and name[0] == 'u' else name}>"


def number(value):
    """One element as MLIR writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.floating):
        if np.isfinite(value):
            text = repr(float(value))
            return text if "." in text or "e" not in text else text.replace("e", ".0e")
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[value.itemsize]
        return f"0x{int(value.view(bits)):0{2 * value.itemsize}X}"
    return str(int(value))


def nested(array):
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(nested(array[i]) for i in range(array.shape[0])) + "]"


def dense(array):
    if array.size == 0:
        return f"dense<> : {type_of(array)}"
    return f"dense<{nested(array)}> : {type_of(array)}"


class Suite:
    """The functions of one .mlir file."""

    def __init__(self, name, about):
        self.name, self.about, self.functions = name, about, []
        self.random = np.random.default_rng(len(name))

    def floats(self, *shape, low=-2.0, high=2.0, dtype=np.float32):
        return self.random.uniform(low, high, shape).astype(dtype)

    def ints(self, *shape, low=-9, high=9, dtype=np.int32):
        return self.random.integers(low, high, shape, endpoint=True).astype(dtype)

    def add(self, name, body, inputs, outputs, tolerance=None, types=None, results=None, extra=""):
        """A function of arguments %a, %b, ...; types and results where they are not the arrays' own."""
        inputs, outputs = [np.asarray(x) for x in inputs], [np.asarray(x) for x in outputs]
        types = types or [type_of(x) for x in inputs]
        results = results or [type_of(x) for x in outputs]
        arguments = ", ".join(f"%{'abcdefgh'[i]}: {t}" for i, t in enumerate(types))
        attributes = [f"test.in = [{', '.join(dense(x) for x in inputs)}]",
                      f"test.out = [{', '.join(dense(x) for x in outputs)}]"]
        if tolerance is not None:
            attributes.append(f"test.tolerance = {tolerance:.{6 if tolerance >= 1e-6 else 12}f}")
        result = f" -> ({', '.join(results)})" if results else ""
        lines = "\n".join("  " + line if line.strip() else line for line in body.strip("\n").split("\n"))
        self.functions.append(f"func.func @{name}({arguments}){result} attributes {{\n    " + ",\n    ".join(attributes) +
                              f"\n}} {{\n{lines}\n}}\n{extra}")

    def write(self, folder):
        text = f"// {self.about}\n// Written by cases_{folder}.py.\n\n" + "\n".join(self.functions)
        (ROOT / folder / f"{self.name}.mlir").write_text(text, encoding="utf-8")
