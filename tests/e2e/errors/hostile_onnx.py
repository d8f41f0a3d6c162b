"""Models that ask for what cannot be: hostile_onnx.py --tools DIR [--count N] [--seed N] [--large]

Small models of every operator (the tables beside tests/e2e/ops/run.py) with one number, list or text of an attribute, or
one constant operand, replaced by what no model means; and models whose form is hostile. iree-compile must end by itself:
with a module, or with exit code 1 and a message that names what is wrong; in little memory and time.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))

import case  # noqa: E402
import tables  # noqa: E402, F401  (adds the cases)

FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
SECONDS, MEBIBYTES = 20, 1500
NUMBERS = [0, -1, 1, 100, 2**20, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -2**31, -2**40, -2**63]
FLOATS = [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e38, 1e-45, 2.0**62]
TEXTS = [b"", b"\xff\xfe", b"%s%n", b"x" * 10000, b"a\0b", b"NOTSET", b"->", b"((((", b"..."]


def change_number(draw, old):
    return draw.choice(NUMBERS + [old + 1, old - 1, -old, old * 2])


def change_list(draw, old, change):
    new = list(old)
    kind = draw.randrange(6)
    if kind == 0 or not new:
        return [change(draw, 1)] * draw.choice([0, 1, 2, 3, 17, 100, 5000])
    if kind == 1:
        return new[:-1]
    if kind == 2:
        return new + new
    if kind == 3:
        return [change(draw, item) for item in new]
    new[draw.randrange(len(new))] = change(draw, new[0])
    return new


def change_attribute(draw, attribute):
    kinds = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f", AttributeProto.STRING: "s"}
    lists = {AttributeProto.INTS: "ints", AttributeProto.FLOATS: "floats", AttributeProto.STRINGS: "strings"}
    changes = {"i": change_number, "ints": change_number, "f": lambda d, old: d.choice(FLOATS),
               "floats": lambda d, old: d.choice(FLOATS), "s": lambda d, old: d.choice(TEXTS),
               "strings": lambda d, old: d.choice(TEXTS)}

    def clip(value):
        return max(-2**63, min(2**63 - 1, value)) if isinstance(value, int) else value

    if attribute.type in kinds:
        name = kinds[attribute.type]
        setattr(attribute, name, clip(changes[name](draw, getattr(attribute, name))))
        return f"{attribute.name} = {getattr(attribute, name)!r:.40}"
    if attribute.type in lists:
        name = lists[attribute.type]
        new = [clip(item) for item in change_list(draw, getattr(attribute, name), changes[name])]
        attribute.ClearField(name)
        getattr(attribute, name).extend(new)
        return f"{attribute.name} = {new[:8]!r:.60}"
    return None


def change_operand(draw, tensor):
    """A constant of integers or floats with other numbers, or another length."""
    if tensor.data_type not in (TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT):
        return None
    old = numpy_helper.to_array(tensor)
    if old.size > 64:
        return None
    whole = tensor.data_type != TensorProto.FLOAT
    values = change_list(draw, old.reshape(-1).tolist(), change_number if whole else lambda d, _: d.choice(FLOATS))
    limits = np.iinfo(old.dtype) if whole else None
    if whole:
        values = [max(limits.min, min(limits.max, int(value))) for value in values]
    new = np.array(values, old.dtype)
    new = new.reshape(old.shape) if new.size == old.size else new
    tensor.CopyFrom(numpy_helper.from_array(new, tensor.name))
    return f"{tensor.name} = {values[:8]!r:.60}"


def places(model):
    """What may be changed: attributes of all nodes, those of subgraphs too, and constants."""
    found, graphs = list(model.graph.initializer), [model.graph]
    for graph in graphs:
        for node in graph.node:
            for attribute in node.attribute:
                graphs += [attribute.g] * attribute.HasField("g")
                found.append(attribute.t if attribute.HasField("t") else attribute)
    return [place for place in found if not isinstance(place, AttributeProto) or not place.HasField("g")]


def hostile_model(seed):
    """A model, and what was done to it; None: there is nothing to change."""
    draw = random.Random(seed)
    subject = draw.choice(case.CASES)
    arrays = case.arrays_of(subject)
    model = case.model_of(subject, arrays)
    chosen = places(model)
    if not chosen:
        return None, subject.name
    place = draw.choice(chosen)
    change = change_attribute if isinstance(place, AttributeProto) else change_operand
    what = change(draw, place)
    return (model if what else None), f"{subject.name}: {what}"


def value(name, shape=(4,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs=None, initializers=(), outputs=None):
    graph = helper.make_graph(nodes, "main_graph", inputs or [value("x")], outputs or [helper.make_empty_tensor_value_info("y")],
                              list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def field(number, data):
    """A field of a protobuf message, as bytes: nests deeper than protobuf's own writer."""
    length, size = b"", len(data)
    while size >= 128:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def nested_loops(depth):
    """Loops in loops, each of whose carried values grows."""
    last = helper.make_node("Concat", ["v", "v"], ["w0"], axis=0).SerializeToString()
    for level in range(depth):
        outputs = [helper.make_empty_tensor_value_info("k2"), helper.make_empty_tensor_value_info(f"w{level}")]
        body = helper.make_graph([helper.make_node("Identity", ["k"], ["k2"])], "body",
                                 [value(f"i{level}", [], TensorProto.INT64), value("k", [], TensorProto.BOOL),
                                  helper.make_empty_tensor_value_info("v")], outputs)
        graph = AttributeProto(name="body", type=AttributeProto.GRAPH).SerializeToString() + field(
            6, body.SerializeToString() + field(1, last))
        top = level + 1 == depth
        node = helper.make_node("Loop", ["m", "", "x" if top else "v"], ["y" if top else f"w{level + 1}"])
        last = node.SerializeToString() + field(5, graph)
    made = model_of([], [value("x", ("n",)), value("m", [], TensorProto.INT64)])
    graph = made.graph.SerializeToString()
    made.ClearField("graph")
    return made.SerializeToString() + field(7, graph + field(1, last))


def of_many(op, count, **attributes):
    return model_of([helper.make_node(op, ["x"] * count, ["y"], **attributes)])


def filled(shape):
    constant = helper.make_node("ConstantOfShape", ["s"], ["y"])
    return model_of([constant], [value("x")], [numpy_helper.from_array(np.array(shape, np.int64), "s")])


def not_text(field):
    """A model with bytes that are no UTF-8 where a name is."""
    made = model_of([helper.make_node("Relu", ["x"], ["mid"], name="name"), helper.make_node("Neg", ["mid"], ["y"])])
    return made.SerializeToString().replace(field, b"\xff\xfe\xc3"[:len(field)])


def cyclic():
    return model_of([helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
                     helper.make_node("Neg", ["b"], ["y"])])


def functions(depth):
    """Functions that call the next twice each."""
    made = model_of([helper.make_node("F0", ["x"], ["y"], domain="own")])
    made.opset_import.append(helper.make_opsetid("own", 1))
    imports = list(made.opset_import)
    for level in range(depth):
        name = f"F{level + 1}" if level + 1 < depth else "Relu"
        domain = "own" if level + 1 < depth else ""
        nodes = [helper.make_node(name, ["a"], ["b"], domain=domain), helper.make_node(name, ["b"], ["c"], domain=domain)]
        made.functions.append(helper.make_function("own", f"F{level}", ["a"], ["c"], nodes, imports))
    return made


FORMS = {
    "rank-100": lambda: model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [1] * 100)]),
    "rank-100-constant": lambda: filled([1] * 100),
    "rank-17": lambda: filled([1] * 17),
    "size-2^40": lambda: filled([2**40]),
    "size-2^40-twice": lambda: filled([2**40, 2**40]),
    "size-negative": lambda: filled([-3]),
    "input-2^62": lambda: model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2**62, 2**62])]),
    "sum-of-a-million": lambda: of_many("Sum", 1000000),
    "concat-of-a-million": lambda: of_many("Concat", 1000000, axis=0),
    "einsum-of-10000": lambda: of_many("Einsum", 10000, equation=",".join(["i"] * 10000) + "->i"),
    "add-of-a-million": lambda: of_many("Add", 1000000),
    "a-million-results": lambda: model_of([helper.make_node("Split", ["x"], [f"y{i}" for i in range(1000000)], axis=0)],
                                          outputs=[helper.make_empty_tensor_value_info("y0")]),
    "loops-20-deep": lambda: nested_loops(20),
    "loops-60-deep": lambda: nested_loops(60),
    "loops-1000-deep": lambda: nested_loops(1000),
    "cycle": cyclic,
    "cycle-of-one": lambda: model_of([helper.make_node("Relu", ["y"], ["y"])]),
    "functions-20-deep": lambda: functions(20),
    "functions-40-deep": lambda: functions(40),
    "name-of-node": lambda: not_text(b"name"),
    "name-of-value": lambda: not_text(b"mid"),
    "name-of-operator": lambda: not_text(b"Neg"),
    "range-2^40": lambda: model_of([helper.make_node("Range", ["a", "b", "c"], ["y"])], initializers=[
        numpy_helper.from_array(np.array(v, np.int64), k) for k, v in (("a", 0), ("b", 2**40), ("c", 1))]),
    "tile-2^40": lambda: model_of([helper.make_node("Tile", ["x", "r"], ["y"])], initializers=[
        numpy_helper.from_array(np.array([2**40], np.int64), "r")]),
    "one-hot-2^40": lambda: model_of([helper.make_node("OneHot", ["i", "d", "v"], ["y"])],
                                     [value("i", (4,), TensorProto.INT64)], [
        numpy_helper.from_array(np.array(2**40, np.int64), "d"), numpy_helper.from_array(np.array([0, 1], np.float32), "v")]),
    "eye-2^20": lambda: model_of([helper.make_node("EyeLike", ["x"], ["y"])], [value("x", (2**20, 2**20))]),
    "window-2^40": lambda: model_of([helper.make_node("HannWindow", ["n"], ["y"])], initializers=[
        numpy_helper.from_array(np.array(2**40, np.int64), "n")]),
    "pool-2^30": lambda: model_of([helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])],
                                  [value("x", (1, 1, 2**20, 2**20))]),
    "pool-2^20-places": lambda: model_of(
        [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2**20], pads=[2**20 - 1] * 2)], [value("x", (1, 1, 1))]),
    "transposed-2^20": lambda: model_of([helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2**20] * 2)], [
        value("x", (1, 1, 3, 3)), value("w", (1, 2, 3, 3))]),
    "einsum-diagonal": lambda: model_of([helper.make_node("Einsum", ["x"], ["y"], equation="ii->i")],
                                        [value("x", (2**40, 2**40))]),
    "ngrams": lambda: model_of(
        [helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=64,
                          max_skip_count=1000, ngram_counts=[k * (k - 1) // 2 for k in range(1, 65)],
                          ngram_indexes=list(range(64)), pool_int64s=list(range(64 * 65 // 2)))],
        [value("x", (100,), TensorProto.INT64)]),
    "loop-2^40": lambda: model_of([helper.make_node("Loop", ["m", "", "x"], ["z", "y"], body=helper.make_graph(
        [helper.make_node("Identity", ["k"], ["k2"]), helper.make_node("Neg", ["v"], ["w"]),
         helper.make_node("Exp", ["v"], ["e"])], "body",
        [value("i", [], TensorProto.INT64), value("k", [], TensorProto.BOOL), value("v")],
        [value("k2", [], TensorProto.BOOL), value("w"), value("e")]))],
        initializers=[numpy_helper.from_array(np.array(2**40, np.int64), "m")]),
}

LARGE = {name for name in FORMS if "million" in name or "60" in name or "40-deep" in name or "10000" in name}


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEBIBYTES << 20, MEBIBYTES << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def problem_of(tools, folder, data):
    """Why iree-compile does not end as it should; "" when it does."""
    (folder / "model.onnx").write_bytes(data)
    try:
        result = subprocess.run([tools / "iree-compile", *FLAGS, "model.onnx", "-o", "model.vmfb"], cwd=folder,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=10 * SECONDS, check=False,
                                preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "no end"
    text = result.stderr.decode(errors="replace")
    if result.returncode == 0:
        return ""
    if result.returncode != 1:
        return f"exit {result.returncode}: {text.strip()[-200:]}"
    if "out of memory" in text.lower() or "RESOURCE_EXHAUSTED" in text:
        return f"needs too much memory: {text.strip()[-200:]}"
    internal = [word for word in ("is not valid after", "internal", "assert") if word in text]
    if "error:" not in text or internal:
        return f"no message that names what is wrong: {text.strip()[-300:]}"
    return "" if not (folder / "model.vmfb").exists() else "leaves a module"


def work(job):
    what, tools = job
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iree-hostile-"))
    try:
        made, name = (FORMS[what](), what) if isinstance(what, str) else hostile_model(what)
        if made is None:
            return None, name, ""
        data = made if isinstance(made, bytes) else made.SerializeToString()
        return what, name, problem_of(tools, folder, data)
    except ValueError:  # protobuf refuses a text, or a number of another type
        return None, "", ""
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--count", type=int, default=300, help="changed models")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--forms", help="which of the hostile forms, separated by commas")
    parser.add_argument("--large", action="store_true", help="those of megabytes, too")
    parser.add_argument("--keep", type=pathlib.Path, help="folder to keep models that fail in")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    forms = [name for name in FORMS if options.large or name not in LARGE]
    if options.forms is not None:
        forms = [name for name in options.forms.split(",") if name]
    jobs = forms + list(range(options.seed, options.seed + options.count))
    passed = failed = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for what, name, problem in pool.imap(work, [(job, options.tools) for job in jobs], chunksize=2):
            passed += what is not None and not problem
            failed += bool(problem)
            if problem:
                print(f"FAILED {what} {name}: {problem}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    made = FORMS[what]() if isinstance(what, str) else hostile_model(what)[0]
                    data = made if isinstance(made, bytes) else made.SerializeToString()
                    (options.keep / f"{what}.onnx").write_bytes(data)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
