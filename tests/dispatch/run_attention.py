"""Random attentions as one kernel in the checking interpreter, against NumPy in double precision.

    tests/dispatch/run_attention.py --runner build/tests/run_dispatches [--count 8] [--seed 1] [--target gfx1100]
                                    [--execute]

With --execute it is the machine code that runs, on the software AMD GPU with all checks. Without --target the cases
take turns on processors of all kinds of matrix instructions, and of none.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from random_cases import FLAGS, TARGETS, argument_parser, read, run_cases, run_program, stored

TOLERANCES = {"f16": 3e-3, "bf16": 2e-2, "f32": 2e-5}


def type_of(shape, kind, is_open):
    return f"tensor<{'x'.join('?' if is_open and size > 1 else str(size) for size in shape)}x{kind}>"


class Case:
    """One attention: sizes, types, and which of the op's forms it takes."""

    def __init__(self, random):
        pick = random.choice
        self.kind = str(pick(["f16", "f16", "bf16", "f32"]))
        self.batch = tuple(int(size) for size in random.integers(1, 4, pick([0, 1, 2])))
        self.queries = int(pick([1, 3, 16, 33, 64, 65, 100]))
        self.keys = int(pick([1, 16, 31, 64, 72, 128, 131]))
        self.head = int(pick([32, 64, 64, 80, 128, 40, 33, 256, 7]))
        self.width = self.head if random.random() < 0.8 else int(pick([16, 24, 65]))
        self.causal = bool(random.random() < 0.4) and self.queries <= self.keys
        self.mask = int(pick([0, 0, 1, 2]))  # none, its own element type, f32
        self.hides = bool(random.random() < 0.5)  # keys, by -inf
        self.scale = float(pick([0, 0, 0.3, -0.1]))
        self.is_open = bool(random.random() < 0.25)
        self.splits = int(pick([0, 0, 0, 2, 3]))
        self.blank = self.mask > 0 and self.hides and bool(random.random() < 0.5)
        self.group = int(pick([1, 1, 2])) if self.batch and not self.is_open else 1
        self.grows = bool(random.random() < 0.4)  # later keys have by far the greatest scores

    def __str__(self):
        return ", ".join(f"{name} {value}" for name, value in vars(self).items())

    def shapes(self):
        few = (*self.batch[:-1], self.batch[-1]) if self.batch else ()
        many = (*few[:-1], few[-1] * self.group) if few else ()
        return {"q": (*many, self.queries, self.head), "k": (*few, self.keys, self.head),
                "v": (*few, self.keys, self.width), "mask": (self.queries, self.keys)}

    def repeated(self, name, shape):
        """The rows of fewer heads, each for a group of them."""
        one = (*shape[:-2], 1, *shape[-2:])
        more = (*shape[:-2], self.group, *shape[-2:])
        all_of = (*shape[:-3], shape[-3] * self.group, *shape[-2:])
        dims = ", ".join(str(i) for i in range(len(one)))
        types = [type_of(size, self.kind, False) for size in (shape, one, more, all_of)]
        return all_of, f"""
  %{name}1 = "graph.reshape"(%{name}) : ({types[0]}) -> {types[1]}
  %{name}2 = "graph.broadcast"(%{name}1) <{{dims = array<i64: {dims}>}}> : ({types[1]}) -> {types[2]}
  %{name}3 = "graph.reshape"(%{name}2) : ({types[2]}) -> {types[3]}"""

    def text(self):
        shapes = self.shapes()
        kinds = {"q": self.kind, "k": self.kind, "v": self.kind, "mask": "f32" if self.mask == 2 else self.kind}
        names = ["q", "k", "v"] + (["mask"] if self.mask else [])
        types = {name: type_of(shapes[name], kinds[name], self.is_open and name != "mask" or
                               self.is_open and name == "mask") for name in names}
        for name in ("q", "k"):  # columns are known
            types[name] = types[name].replace(f"?x{self.kind}>", f"{self.head}x{self.kind}>")
        types["v"] = types["v"].replace(f"?x{self.kind}>", f"{self.width}x{self.kind}>")
        head = ", ".join(f"%{name}: {types[name]}" for name in names)
        body, used = "", {name: name for name in names}
        if self.group > 1:
            for name in ("k", "v"):
                shape, more = self.repeated(name, shapes[name])
                body, used[name], types[name] = body + more, f"{name}3", type_of(shape, self.kind, False)
        parts = (self.splits,) if self.splits else ()
        lead, rows = shapes["q"][:-2], shapes["q"][-2]
        wide = "f32" if self.splits else self.kind
        result = type_of((*lead, *parts, rows, self.width), wide, self.is_open).replace(
            f"?x{wide}>", f"{self.width}x{wide}>")
        if self.splits and self.is_open:
            sizes = ["?" if size > 1 else "1" for size in lead] + [str(self.splits), "?" if rows > 1 else "1",
                                                                    str(self.width)]
            result = f"tensor<{'x'.join(sizes)}xf32>"
        sums = result[:result.rindex("x", 0, result.rindex("x"))] + "xf32>"
        results = [result] + ([sums] if self.splits else [])
        attributes = ["causal"] * self.causal + ["blank"] * self.blank + [f"scale = {self.scale!r}"] * bool(self.scale)
        attributes += [f"splits = {self.splits}"] * bool(self.splits)
        given = ", ".join(f"%{used[name]}" for name in names)
        count = f":{len(results)}" if len(results) > 1 else ""
        values = ", ".join(f"%0#{i}" for i in range(len(results))) if count else "%0"
        return f"""func.func @main({head}) -> ({', '.join(results)}) {{{body}
  %0{count} = "graph.attention"({given}) <{{{', '.join(attributes)}}}>
    : ({', '.join(types[name] for name in names)}) -> ({', '.join(results)})
  return {values} : {', '.join(results)}
}}
"""


def attend(subject, arrays):
    q, k, v = (arrays[name] for name in "qkv")
    if subject.group > 1:
        k, v = (np.repeat(x, subject.group, axis=-3) for x in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (subject.scale or 1 / np.sqrt(subject.head))
    if subject.mask:
        scores = scores + arrays["mask"]
    if subject.causal:
        ahead = subject.keys - subject.queries
        hidden = np.arange(subject.keys)[None] > np.arange(subject.queries)[:, None] + ahead
        scores = np.where(hidden, -np.inf, scores)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        result = weights @ v / weights.sum(-1, keepdims=True)
    return np.where(np.isneginf(scores).all(-1, keepdims=True), 0, result) if subject.blank else result


def combine(subject, folder):
    """The result, or what the parts come to."""
    shape = subject.shapes()["q"][:-1]
    if not subject.splits:
        return read((folder / "out0.bin").read_bytes(), subject.kind, (*shape, subject.width))
    split = (*shape[:-1], subject.splits, shape[-1])
    parts = read((folder / "out0.bin").read_bytes(), "f32", (*split, subject.width)).astype(np.float64)
    sums = read((folder / "out1.bin").read_bytes(), "f32", split).astype(np.float64)
    with np.errstate(invalid="ignore"):
        weights = np.exp(sums - sums.max(-2, keepdims=True))
        weights /= weights.sum(-2, keepdims=True)
        result = (weights[..., None] * parts).sum(-3)
    return np.where(np.isneginf(sums).all(-2)[..., None], 0, result) if subject.blank else result


def run_case(subject, options, target, random):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="iree-attention-") as name:
        folder = pathlib.Path(name)
        (folder / "case.mlir").write_text(subject.text())
        arrays, paths, shapes = {}, [], subject.shapes()
        for key, shape in shapes.items():
            if key == "mask" and not subject.mask:
                continue
            array = random.standard_normal(shape)
            if key == "k" and subject.grows:
                array *= np.linspace(0.1, 8, subject.keys)[:, None]
            if key == "mask" and subject.hides:
                array[random.random(shape) < 0.3] = -np.inf
                array[::3] = -np.inf
            data, arrays[key] = stored(array, "f32" if key == "mask" and subject.mask == 2 else subject.kind)
            (folder / f"{key}.bin").write_bytes(data)
            paths.append(folder / f"{key}.bin")
        result = run_program(options, target, folder / "case.mlir", paths, [shapes[key] for key in arrays])
        if subject.splits and "has no kernel on these devices" in result.stderr:
            return None
        if result.returncode or result.stderr:
            return (result.stderr or f"exit {result.returncode}")[:2000]
        if " attention " not in result.stdout and subject.head < 256:
            return f"is no kernel of its own: {result.stdout}"
        ours, theirs = combine(subject, folder), attend(subject, arrays)
    tolerance = TOLERANCES[subject.kind] * (1 + np.abs(theirs).max(initial=0, where=np.isfinite(theirs)))
    if not np.allclose(ours, theirs, rtol=0, atol=tolerance, equal_nan=True):
        return f"is off by {np.nanmax(np.abs(ours - theirs))}, not {tolerance}"
    return None


def functions(text):
    """Name, types of operands and text of each function."""
    for part in re.split(r"(?m)^(?=func\.func )", text)[1:]:
        head = part[:part.index("->")]
        yield re.match(r"func\.func @(\w+)", head)[1], re.findall(r"tensor<([\dx]+)x(\w+)>", head), part


def run_form(name, types, text, runner, target):
    """What a program with attention spelled out gives by one kernel, beside what it gives by its own ops."""
    random = np.random.default_rng(5)
    kinds = {"f16": np.float16, "f32": np.float32, "i1": np.uint8}
    results, errors = [], ""
    with tempfile.TemporaryDirectory(prefix="iree-attention-") as folder:
        folder = pathlib.Path(folder)
        (folder / "case.mlir").write_text(text)
        paths = [folder / f"{i}.bin" for i in range(len(types))]
        for path, (shape, kind) in zip(paths, types):
            shape = [int(size) for size in shape.split("x")]
            array = random.random(shape) < 0.7 if kind == "i1" else random.standard_normal(shape)
            if kind == "i1" and len(shape) > 3 and shape[2] > 1:
                array[:, :, ::4] = False  # rows without keys
            array.astype(kinds[kind]).tofile(path)
        for device in (target, None):
            flags = [FLAGS[device[:3]][0], FLAGS[device[:3]][1] + device] if device else [
                "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
            result = subprocess.run([runner, *flags, str(folder / "case.mlir"), "--", "--repeat=1",
                                     *["--interpret"] * bool(device), f"--inputs={','.join(map(str, paths))}",
                                     f"--outputs={folder / 'out'}"], capture_output=True, text=True, timeout=600)
            errors += result.stderr or ("" if result.returncode == 0 else f"exit {result.returncode}")
            if errors:
                return errors[:2000]
            results.append(np.fromfile(folder / "out0.bin", np.float16 if types[0][1] == "f16" else np.float32))
    tolerance = TOLERANCES[types[0][1]] * (1 + np.abs(results[1]).max(initial=0, where=np.isfinite(results[1])))
    if not np.allclose(*results, rtol=0, atol=tolerance, equal_nan=True):
        return f"{name} is off by {np.nanmax(np.abs(results[0].astype(np.float64) - results[1]))}"
    return None


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--forms", type=pathlib.Path, help="a file of functions that spell attention out, too")
    options = parser.parse_args()
    passed, failed = run_cases(options, [Case], run_case)
    for number, form in enumerate(functions(options.forms.read_text()) if options.forms else []):
        target = options.target or TARGETS[number % len(TARGETS)]
        reason = run_form(*form, options.runner, target)
        passed += reason is None
        failed += reason is not None
        if reason is not None:
            print(f"FAILED {form[0]} for {target}: {reason}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
