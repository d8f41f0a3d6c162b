"""What profiles say of a GPU's times, next to the span of the graph: on a machine with a GPU.

    python3 benchmarks/gpu_times.py --tools build/tools --device cuda --target sm_90 [--work build/times] [--prepare]
    python3 benchmarks/gpu_times.py --tools build/tools --launcher "build/tools/iree-softgpu --target=sm_90 --"

For each program: what a call takes without a profile; the span of its commands as the graph they are (profile of
`device-queue-events`); the sum of its dispatches when each is timed (`dispatch-events`), by CUPTI's records where it is
found; in how much of the time any of them runs, since what does not depend on one another runs side by side; what share
the latter is of that span, of the span in the same profile, and of the time from the first dispatch's start to the last
one's end; the same with events around launches; the sum by a counter of CUPTI's (`gpu__time_duration.sum`); and what
profiles cost a call. Each command's and each dispatch's least of all calls counts. --prepare compiles the
programs and ends: where they run nothing but the tools, this folder and --work is needed.
"""

import argparse
import json
import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
from tools import ToolError, call, parse_samples  # noqa: E402

FLAGS = {"cuda": ["--iree-hal-target-backends=cuda", "--iree-cuda-target="],
         "hip": ["--iree-hal-target-device=hip", "--iree-hip-target="],
         "amdgpu": ["--iree-hal-target-device=amdgpu", "--iree-rocm-target="]}
DURATION = "gpu__time_duration.sum"
LINKS = 24  # products one after the other, of some 100 us each
CALLS = 20
BERT_INPUTS = ["1x128xi64=7", "1x128xi64=1", "1x128xi64=0"]
# File, function, inputs.
PROGRAMS = [("products", "main", ["512x2048xf32=0.01", "2048x2048xf32=0.01"]), ("bert", "main_graph", BERT_INPUTS),
            ("mobilenetv2_f16", "torch-jit-export", ["1x3x224x224xf16=0.5"])]


def products():
    """A chain of products by one matrix that the caller has."""
    left, right = "tensor<512x2048xf32>", "tensor<2048x2048xf32>"
    lines = [f"  %{i + 1} = linalg.matmul ins(%{i}, %b : {left}, {right}) outs(%z : {left}) -> {left}"
             for i in range(LINKS)]
    return "\n".join([f"func.func @main(%0: {left}, %b: {right}) -> {left} {{",
                      f"  %z = arith.constant dense<0.0> : {left}", *lines, f"  return %{LINKS} : {left}", "}"])


def bert():
    """BERT-base of 128 tokens and few words, whose layers have the same weights: the module is small."""
    import bert as network
    from graph import Graph
    known, normal = {}, Graph.normal

    def shared(self, shape, *rest, **more):
        if tuple(shape) not in known:
            known[tuple(shape)] = normal(self, shape, *rest, **more)
        return known[tuple(shape)]

    Graph.normal, network.VOCABULARY = shared, 1000
    return network.build()


def prepare(options):
    import make
    options.work.mkdir(parents=True, exist_ok=True)
    (options.work / "products.mlir").write_text(products())
    bert().save(options.work / "bert.onnx")
    sources = [options.work / "products.mlir", options.work / "bert.onnx",
               make.write("mobilenetv2_f16", options.work.parent / "models")]
    device, target = FLAGS[options.device]
    for (name, *_), source in zip(PROGRAMS, sources):
        call([options.tools / "iree-compile", source, device, target + options.target, "-o",
              options.work / f"{name}.vmfb"])


class Program:
    def __init__(self, options, name, function, inputs):
        self.options, self.name = options, name
        self.command = [*shlex.split(options.launcher), options.tools / "iree-benchmark-module",
                        f"--device={options.device}", f"--module={options.work / name}.vmfb", f"--function={function}",
                        *[f"--input={text}" for text in inputs], f"--benchmark_min_time={options.calls}x",
                        "--time_unit=us", *options.flag]

        self.profile = options.work / f"{name}.ireeprof"

    def run(self, *modes, flags=()):
        """Milliseconds of a call, and the rows of the profile."""
        profiled = [f"--device_profiling_mode={','.join(modes)}", f"--device_profiling_output={self.profile}"]
        milliseconds = min(parse_samples(call([*self.command, *(profiled if modes else []), *flags])))
        if not modes:
            return milliseconds, []
        rows = call([self.options.tools / "iree-profile", "export", self.profile]).splitlines()
        return milliseconds, [json.loads(row) for row in rows]


def least(rows, key, value):
    """The least value of each key, in milliseconds, added up, and how many keys there are."""
    found = {}
    for row in rows:
        if key(row) is not None:
            found[key(row)] = min(value(row), found.get(key(row), float("inf")))
    return sum(found.values()) / 1e6, len(found)


def recorded(row):
    """The command buffer of an operation that has one."""
    return row["command_buffer_id"] if row["op"] == "execute" else None


def spans(rows):
    return least([row for row in rows if row["record_type"] == "queue_device_event" and row["valid"]], recorded,
                 lambda row: row["duration_ns"])


def dispatches(rows):
    return least([row for row in rows if row["record_type"] == "dispatch_event" and row["valid"]],
                 lambda row: (row["command_buffer_id"], row["command_index"]), lambda row: row["duration_ns"])


def source(program):
    """What took the times, as the profile says."""
    lines = call([program.options.tools / "iree-profile", "cat", program.profile]).splitlines()
    at = next((i for i, line in enumerate(lines) if line.endswith(".dispatch-events")), None)
    return "nothing" if at is None else lines[at + 1].split(": ", 1)[1]


def window(rows):
    """Milliseconds from the first dispatch's start to the last one's end: the least of all submissions."""
    found = {}
    for row in rows:
        if row["record_type"] == "dispatch_event" and row["valid"]:
            start, end = found.get(row["submission_id"], (row["start_tick"], 0))
            found[row["submission_id"]] = min(start, row["start_tick"]), max(end, row["end_tick"])
    return min((end - start for start, end in found.values()), default=0) / 1e6


def busy(rows):
    """Milliseconds in which any dispatch runs: the least of all submissions."""
    found = {}
    for row in rows:
        if row["record_type"] == "dispatch_event" and row["valid"]:
            found.setdefault(row["submission_id"], []).append((row["start_tick"], row["end_tick"]))
    totals = []
    for times in found.values():
        total = last = 0
        for start, end in sorted(times):
            total += max(0, end - max(start, last))
            last = max(last, end)
        totals.append(total)
    return min(totals, default=0) / 1e6


def counted(program):
    """The sum of the dispatches' own times, or why there is none."""
    try:
        _, rows = program.run("dispatch-events", "counters", flags=[f"--device_profiling_counter={DURATION}"])
    except ToolError as error:
        print(f"{program.name}: {str(error).splitlines()[-1][:500]}", file=sys.stderr)
        return None
    places = {row["event_id"]: (row["command_buffer_id"], row["command_index"]) for row in rows
              if row["record_type"] == "dispatch_event"}
    return least([row for row in rows if row["record_type"] == "counter_sample"],
                 lambda row: places[row["dispatch_event_id"]], lambda row: row["values"][0])[0]


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def timed(program, span, *flags):
    """Rows of the table: dispatches that are timed, and by what; or why they are not."""
    try:
        took, rows = program.run("device-queue-events", "dispatch-events", flags=flags)
    except ToolError as error:
        return [("dispatches are not timed", str(error).splitlines()[-1][:500])]
    apart, _ = spans(rows)
    total, count = dispatches(rows)
    any_runs = busy(rows)
    return [("dispatches are timed by", source(program)), ("their sum", f"{total:.4f}"), ("dispatches", str(count)),
            ("any of them runs", f"{any_runs:.4f}"), ("of the graph's span", share(any_runs, span)),
            ("span meanwhile", f"{apart:.4f}"), ("of that", share(any_runs, apart)),
            ("of first start to last end", share(any_runs, window(rows))),
            ("a call", f"{took:.4f}")]


def measure(program):
    off, _ = program.run()
    spanned, rows = program.run("device-queue-events")
    span, graphs = spans(rows)
    table = [("a call", f"{off:.4f}"), ("command buffers", str(graphs)), ("their span as graphs", f"{span:.4f}"),
             ("a call with that", f"{spanned:.4f}"), *timed(program, span)]
    if program.options.device != "cuda":
        return table
    own = counted(program)
    return [*table, *timed(program, span, "--cuda_cupti_path=/nowhere"),
            ("sum by a counter", "" if own is None else f"{own:.4f}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=FLAGS)
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--launcher", default="", help="what comes before each command")
    parser.add_argument("--flag", action="append", default=[], help="of the device, such as --cuda_cupti_path=DIR")
    parser.add_argument("--work", default="build/times", type=pathlib.Path)
    parser.add_argument("--only", action="append", choices=[name for name, *_ in PROGRAMS])
    parser.add_argument("--calls", default=CALLS, type=int)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    if options.prepare:
        prepare(options)
        return 0
    for name, function, inputs in PROGRAMS:
        if not options.only or name in options.only:
            print(f"| {name} | ms |\n|---|---|")
            for what, value in measure(Program(options, name, function, inputs)):
                print(f"| {what} | {value} |", flush=True)
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
