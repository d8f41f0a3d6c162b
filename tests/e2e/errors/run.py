"""Checks how the tools refuse bad input: run.py --tools DIR

Every case must end with exit code 1, exactly one message that says where and what, and no output file. Damaged files
(cut short, or with a bit turned over) must end so too, or else give the right result; never in a crash or a hang.
"""

import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading

import bad_models

# A compiler's message: place, severity. A runtime's: source, status code.
DIAGNOSTIC = re.compile(r'^(\S+?)(:\d+:\d+)?: (?:"[^"]*": )?error: .+', re.MULTILINE)
STATUS = re.compile(r"^(?:\S+\.[ch]:\d+: )?[A-Z_]+; .+", re.MULTILINE)
FILE = re.compile(r"^.*(?:cannot open|error:).+", re.MULTILINE)
FULL = re.compile(r"^.*/dev/full.*", re.MULTILINE)
TARGET = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


class Check:
    """Runs cases in a folder and counts."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.passed = self.failed = 0

    def verdict(self, name, problem):
        if problem:
            self.failed += 1
            print(f"FAILED {name}: {problem}", flush=True)
        else:
            self.passed += 1

    def call(self, tool, arguments, timeout=60, given=b""):
        """Returns exit code (None: no end), standard output, standard error; `given` is standard input."""
        try:
            result = subprocess.run([self.tools / tool, *arguments], cwd=self.folder, input=given, capture_output=True,
                                    timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return None, "", ""
        return result.returncode, result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")

    def refuses(self, name, tool, arguments, pattern, **options):
        """The tool must exit with 1 and one message that matches; options: output (a file that must not be there),
        located (whether line and column are expected), form (of the message; default: of a compiler), code (the exit
        code, if another)."""
        output = options.get("output")
        if output:
            (self.folder / output).unlink(missing_ok=True)
        code, _, text = self.call(tool, arguments)
        form = options.get("form", DIAGNOSTIC)
        messages = [found.group(0) for found in form.finditer(text)]
        problem = None
        if code != options.get("code", 1):
            problem = f"exit {code}: {text.strip()[-300:]}"
        elif len(messages) != 1:
            problem = f"{len(messages)} messages: {text.strip()[-300:]}"
        elif not re.search(pattern, text):
            problem = f"says {messages[0]!r}, which lacks {pattern!r}"
        elif options.get("located") and not DIAGNOSTIC.search(text).group(2):
            problem = f"no line and column: {messages[0]!r}"
        elif output and (self.folder / output).exists():
            problem = f"leaves {output}"
        self.verdict(name, problem)


def check_mlir(check):
    for name, (source, pattern) in bad_models.MLIR.items():
        (check.folder / f"{name}.mlir").write_text(source, encoding="utf-8")
        check.refuses(f"mlir-{name}", "iree-compile", [*TARGET, f"{name}.mlir", "-o", "out.vmfb"], pattern,
                      output="out.vmfb", located=True)


def check_onnx(check):
    for name, (make, pattern) in bad_models.ONNX.items():
        make(check.folder / f"{name}.onnx")
        if check.call("iree-import-onnx", [f"{name}.onnx", "-o", "imported.mlir"])[0] == 0:
            check.refuses(f"onnx-{name}-imported", "iree-compile", [*TARGET, "imported.mlir", "-o", "out.vmfb"],
                          pattern, output="out.vmfb")
        else:
            check.refuses(f"onnx-{name}-import", "iree-import-onnx", [f"{name}.onnx", "-o", "out.mlir"], pattern,
                          output="out.mlir")
        check.refuses(f"onnx-{name}-compile", "iree-compile", [*TARGET, f"{name}.onnx", "-o", "out.vmfb"], pattern,
                      output="out.vmfb")


def check_compile_flags(check):
    (check.folder / "good.mlir").write_text(bad_models.GOOD, encoding="utf-8")
    compiling = ["good.mlir", "-o", "out.vmfb"]
    check.refuses("compile-missing-input", "iree-compile", [*TARGET, "nothing.mlir", "-o", "out.vmfb"],
                  r"nothing\.mlir.*No such file", output="out.vmfb", form=FILE)
    check.refuses("import-missing-input", "iree-import-onnx", ["nothing.onnx", "-o", "out.mlir"],
                  r"nothing\.onnx.*No such file", output="out.mlir", form=FILE)
    check.refuses("compile-unwritable", "iree-compile", [*TARGET, "good.mlir", "-o", "no/folder/out.vmfb"],
                  r"no/folder/out\.vmfb", form=FILE)
    unknown = re.compile(r"^.*Unknown command line argument '--iree-nothing'.*", re.MULTILINE)
    check.refuses("compile-unknown-flag", "iree-compile", [*TARGET, "--iree-nothing", *compiling], "--iree-nothing",
                  form=unknown, output="out.vmfb")
    backend = re.compile(r"^.*'nothing'.*", re.MULTILINE)
    check.refuses("compile-unknown-backend", "iree-compile", ["--iree-hal-target-backends=nothing", *compiling],
                  "llvm-cpu", form=backend, output="out.vmfb")
    check.refuses("compile-unknown-cpu", "iree-compile", [*TARGET, "--iree-llvmcpu-target-cpu=nothing", *compiling],
                  "nothing", form=backend, output="out.vmfb")


def check_compile_values(check):
    """Flags of the compiler with values that are none."""
    table = [
        ("boolean", ["--iree-opt-data-tiling=maybe"], "'--iree-opt-data-tiling=maybe' is not a boolean; true"),
        ("number", ["--mlir-elide-elementsattrs-if-larger=x"], "a number is needed"),
        ("input-type", ["--iree-input-type=nothing"], "available: auto, none, stablehlo"),
        ("phase", ["--compile-to=nothing"], "unknown phase 'nothing'.*known: start input"),
        ("level", ["--iree-opt-level=O7"], "O0, O1, O2 and O3"),
        ("format", ["--output-format=nothing"], "these are: vm-bytecode"),
        ("feature", ["--iree-llvmcpu-target-cpu-features=+nothing"], "x86-64 has no feature 'nothing'"),
        ("near-feature", ["--iree-llvmcpu-target-cpu-features=+avx51"], "did you mean 'avx512f'"),
        ("near-pass", ["--mlir-print-ir-after=form-dispatch"], "did you mean 'form-dispatches'"),
        ("near-pipeline", ["--iree-preprocessing-pass-pipeline=canonicalise"], "did you mean 'canonicalize'"),
        ("feature-sign", ["--iree-llvmcpu-target-cpu-features=avx2"], "must start with \\+ or -"),
        ("triple", ["--iree-llvmcpu-target-triple=nothing"], "x86_64, aarch64 and riscv64; triple 'nothing'"),
        ("device", ["--iree-hal-target-device=nothing"], "available = .*'amdgpu'.*'local'"),
        ("amd-gpu", ["--iree-hal-target-device=hip", "--iree-rocm-target=mi3000"], "nearest names: .*'mi300x'"),
        ("amd-feature", ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx1100",
                         "--iree-rocm-target-features=+sramecc"], "gfx1100 has no feature 'sramecc'"),
        ("amd-none", ["--iree-hal-target-device=hip"], "ROCM target not set"),
        ("nvidia-gpu", ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_999"], "nearest names: .*'sm_"),
        ("dump", ["--iree-hal-dump-executable-files-to=good.mlir"], "writing 'good.mlir/.*Not a directory"),
        ("phases", ["--dump-compilation-phases-to=good.mlir"], "cannot write 'good.mlir/.*Not a directory"),
    ]
    for name, flags, pattern in table:
        arguments = [*TARGET, *flags, "good.mlir", "-o", "out.vmfb"]
        check.refuses(f"compile-value-{name}", "iree-compile", arguments, pattern, output="out.vmfb", form=FILE)
    check.refuses("compile-no-device", "iree-compile", ["good.mlir", "-o", "out.vmfb"],
                  "what to compile for\\? --iree-hal-target-device=local", output="out.vmfb", form=FILE)
    check.refuses("compile-module", "iree-compile", [*TARGET, "good.vmfb", "-o", "out.vmfb"],
                  "a compiled module .*iree-run-module runs it", output="out.vmfb")
    words = re.compile(r"^\S*iree-compile: .+", re.MULTILINE)
    check.refuses("compile-no-input", "iree-compile", TARGET, "give a .mlir or .onnx file", form=words)
    check.refuses("compile-two-inputs", "iree-compile", [*TARGET, *2 * ["good.mlir"]], "two input files", form=words)
    check.refuses("compile-no-value", "iree-compile", [*TARGET, "good.mlir", "-o"], "'-o' needs a value", form=words)
    check.refuses("compile-folder", "iree-compile", [*TARGET, ".", "-o", "out.vmfb"], "'.': it is a directory",
                  output="out.vmfb", form=FILE)
    check.refuses("compile-onto-folder", "iree-compile", [*TARGET, "good.mlir", "-o", "."], "'.': Is a directory",
                  form=FILE)


def check_outputs(check):
    """A device stays one, a link leads on, and a file that cannot be completed is not left."""
    for tool, arguments in (("iree-compile", [*TARGET, "good.mlir"]), ("iree-opt", ["good.mlir"])):
        check.refuses(f"{tool}-full", tool, [*arguments, "-o", "/dev/full"], "/dev/full': No space", form=FULL)
        (check.folder / "link").unlink(missing_ok=True)
        (check.folder / "led-to").write_text("", encoding="utf-8")
        (check.folder / "link").symlink_to("led-to")
        code = check.call(tool, [*arguments, "-o", "link"])[0]
        kept = (check.folder / "link").is_symlink() and (check.folder / "led-to").stat().st_size > 0
        check.verdict(f"{tool}-link", None if code == 0 and kept else f"exit {code}, link kept: {kept}")
    check_standard_output(check)
    check.verdict("devices", None if pathlib.Path("/dev/full").is_char_device() else "/dev/full was replaced")


def check_standard_output(check):
    """What a tool prints onto a full disk is a failure, whatever it prints."""
    module = ["--module=good.vmfb", "--device=local-sync", "--function=add"]
    benchmark = [*module, "--input=4xf32=1", "--input=4xf32=1", "--benchmark_min_time=1x"]
    calls = [("iree-cpuinfo", []), ("iree-dump-module", ["good.vmfb"]), ("iree-benchmark-module", benchmark),
             ("iree-benchmark-module", [*module, "--benchmark_list_tests"]), ("iree-opt", ["good.mlir"]),
             ("iree-run-module", ["--list_drivers"]), ("iree-compile", ["--iree-hal-list-target-backends"])]
    compiled = [tool for tool in sorted(check.tools.glob("iree-*")) if tool.is_file() and
                tool.read_bytes()[:2] != b"#!"]
    calls += [(tool.name, ["--help"]) for tool in compiled]
    for tool, arguments in calls:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([check.tools / tool, *arguments], cwd=check.folder, stdout=full, timeout=60,
                                  stderr=subprocess.PIPE, check=False)
        told = b"standard output" in done.stderr or b"No space left" in done.stderr
        check.verdict(f"full {tool} {' '.join(arguments)}",
                      None if done.returncode == 1 and told else f"exit {done.returncode}: {done.stderr[-200:]}")
    check.refuses("full-report", "iree-benchmark-module", [*benchmark, "--benchmark_out=/dev/full"],
                  "cannot write '/dev/full'", form=STATUS)


def check_other_tools(check):
    """Command lines of the tools that only developers use."""
    opt, onnx, dump, info, gpu = (re.compile(rf"^{tool}: .+", re.MULTILINE) for tool in
                                  ("iree-opt", "iree-import-onnx", "iree-dump-module", "iree-cpuinfo", "iree-softgpu"))
    table = [
        ("iree-opt", ["nothing.mlir"], "cannot open input file 'nothing.mlir': No such", opt),
        ("iree-opt", ["."], "cannot read '.': Is a directory", opt),
        ("iree-opt", ["good.mlir", "good.mlir"], "more than one input", opt),
        ("iree-opt", ["good.mlir", "--pass=nothing"], "unknown pass 'nothing'", opt),
        ("iree-opt", ["good.mlir", "--stop-after=nothing"], "unknown pass 'nothing'", opt),
        ("iree-opt", ["good.mlir", "--mlir-print-ir-after=nothing"], "unknown pass 'nothing'", opt),
        ("iree-opt", ["good.mlir", "--pass-pipeline=builtin.module(cse"], "lacks '\\)'", opt),
        ("iree-opt", ["good.mlir", "--bisect-limit=x"], "expected a number, got 'x'", opt),
        ("iree-opt", ["good.mlir", "--verify-each=x"], "'x' is not a boolean", opt),
        ("iree-opt", ["good.mlir", "--list-passes=x"], "takes no value", opt),
        ("iree-opt", ["good.mlir", "--nothing"], "'--nothing'", opt),
        ("iree-opt", ["good.mlir", "--pass=canonicalise"], "did you mean 'canonicalize'", opt),
        ("iree-opt", ["--verfy"], "Did you mean '--verify-each'", re.compile("^iree-opt: Did.*", re.MULTILINE)),
        ("iree-profile", ["sumary", "x"], "did you mean 'summary'", STATUS),
        ("iree-softgpu", ["--targt=gfx90a"], "did you mean '--target'", gpu),
        ("iree-opt", ["good.mlir", "-o", "no/folder/out.mlir"], "cannot write 'no/folder/out.mlir'", opt),
        ("iree-dump-module", ["nothing.vmfb"], "nothing.vmfb': No such file", STATUS),
        ("iree-dump-module", ["."], "is a directory", STATUS),
        ("iree-dump-module", ["good.mlir"], "not a module", STATUS),
        ("iree-dump-module", ["good.vmfb", "--output=x"], "unrecognized --output= flag value 'x'", STATUS),
        ("iree-dump-module", ["good.vmfb", "--function=x"], "no function `x`", STATUS),
        ("iree-dump-module", ["good.vmfb", "--pretty=x"], "takes true, false, 1 or 0; got 'x'", STATUS),
        ("iree-dump-module", ["good.vmfb", "good.vmfb"], "one module is needed, got 2", dump),
        ("iree-cpuinfo", ["x"], "takes no arguments; got 'x'", info),
        ("iree-softgpu", ["--nothing"], "unknown option --nothing", gpu),
        ("iree-softgpu", ["--target=gfx940", "--", "true"], "'gfx940'.*near it:.* gfx942", gpu),
        ("iree-softgpu", ["--target", "gfx1100", "--", "true"], "--target needs a value: --target=", gpu),
        ("iree-softgpu", ["--gpus=gfx90a,nothing", "--", "true"], "'nothing' is no target", gpu),
        ("iree-softgpu", ["--check=nothing", "--", "true"], "unknown check 'nothing'; known are none, all", gpu),
        ("iree-softgpu", ["--target=sm_71", "--", "true"], "'sm_71' is no target; NVIDIA's are sm_60,", gpu),
        ("iree-softgpu", ["--target=sm_90", "--gpus=gfx942,gfx90a", "--", "true"],
         "GPUs of AMD and of NVIDIA at a time; --target and --gpus must name those of one", gpu),
        ("iree-softgpu", ["--target=sm_90", "--fidelity"], "--fidelity is of AMD's targets", gpu),
        ("iree-softgpu", ["--limit=x", "--", "true"], "'x' is no number of instructions", gpu),
        ("iree-softgpu", ["--fidelity", "x"], "--fidelity runs no program; got 'x'", gpu),
        ("iree-softgpu", ["--"], "no program to run", gpu),
    ]
    for tool, arguments, pattern, form in table:
        check.refuses(f"{tool} {' '.join(arguments)}", tool, arguments, pattern, form=form)
    table = [
        ([], "required: input_file"),
        (["--nothing", "x.onnx"], "unrecognized arguments: --nothing"),
        (["x.onnx", "y.onnx"], "unrecognized arguments: y.onnx"),
        (["x.onnx", "--opset-version=x"], "--opset-version: 'x' is not a whole number"),
        (["x.onnx", "--no-verify=1"], "takes no value"),
        (["x.onnx", "--opset-version"], "expected one argument"),
        (["x.onnx", "--externalize-params"], "needs --save-params-to"),
    ]
    for arguments, pattern in table:
        name = f"iree-import-onnx {' '.join(arguments)}"
        check.refuses(name, "iree-import-onnx", arguments, pattern, form=onnx, code=2)


TOOLS = ("iree-compile", "iree-opt", "iree-run-mlir", "iree-import-onnx", "iree-run-module", "iree-benchmark-module",
         "iree-dump-module", "iree-cpuinfo", "iree-softgpu")


def check_raw_arrays(check):
    """Arrays of types that NumPy lacks: with the type in front, or with its name in the file."""
    (check.folder / "half.mlir").write_text(
        "func.func @f(%a: tensor<4xbf16>) -> tensor<4xbf16> {\n  %0 = arith.addf %a, %a : tensor<4xbf16>\n"
        "  return %0 : tensor<4xbf16>\n}\nfunc.func @g() {\n  return\n}\n", encoding="utf-8")
    check.call("iree-compile", [*TARGET, "half.mlir", "-o", "half.vmfb"])
    bad_models.save_opaque(check.folder / "opaque.npy")
    bad_models.save_named(check.folder / "named.npy")
    half = ["--device=local-sync", "--module=half.vmfb", "--function=f"]
    for given, last in (("4xbf16=@opaque.npy", 0), ("@named.npy", 0), ("4xbf16=@twice.npy", 1)):
        _, text, errors = check.call("iree-run-module", [*half, f"--input={given}"])
        wanted = ("4xbf16=2 4 6 -8", "4xbf16=4 8 12 -16")[last]
        check.verdict(f"raw-{given}", None if wanted in text else text + errors)
        check.call("iree-run-module", [*half, f"--input={given}", "--output=@twice.npy"])
    check.refuses("raw-untyped", "iree-run-module", [*half, "--input=@opaque.npy"],
                  "elements of 16 bits .*put the type in front", form=STATUS)
    check.refuses("raw-size", "iree-run-module", [*half, "--input=5xbf16=@opaque.npy"],
                  "has 8 bytes where the tensor takes 10", form=STATUS)
    check.refuses("exports", "iree-run-module", half[:2], "more than one exported .*: f, g", form=STATUS)


def check_common(check):
    """What every tool takes."""
    for tool in TOOLS:
        for flag, pattern in (("--version", r"version \d+\.\d+"), ("-h", "iree"), ("--help", "iree")):
            code, text, _ = check.call(tool, [flag])
            fine = code == 0 and re.search(pattern, text, re.IGNORECASE)
            check.verdict(f"{tool} {flag}", None if fine else f"exit {code}: {text[:100]!r}")
    check.refuses("filter", "iree-benchmark-module", ["--device=local-sync", "--module=good.vmfb", "--function=add",
                                                      "--input=4xf32", "--input=4xf32", "--benchmark_filter=nothing"],
                  "Failed to match any benchmarks against regex: nothing", form=STATUS)


def check_run(check):
    """Needs good.vmfb: @add of two 4xf32."""
    good = ["--device=local-sync", "--module=good.vmfb", "--function=add"]
    two = ["--input=4xf32=1 2 3 4", "--input=4xf32=1"]
    table = [
        ("no-module", [], "no user module specified"),
        ("missing-module", ["--module=nothing.vmfb"], r"NOT_FOUND.*nothing\.vmfb"),
        ("not-a-module", ["--device=local-sync", "--module=good.mlir"], "good.mlir|module"),
        ("missing-function", [*good[:2], "--function=nothing"], r"NOT_FOUND; no function `nothing`.*exports \[add\]"),
        ("mlir-module", [good[0], "--module=good.mlir", good[2]], "not a module, but text; compile MLIR first"),
        ("onnx-module", [good[0], "--module=good.onnx", good[2]], "not a module, but an ONNX model; compile it first"),
        ("flag-nearly", ["--modul=good.vmfb"], "did you mean '--module'"),
        ("missing-driver", ["--device=nothing", *good[1:], *two], r"NOT_FOUND; no driver 'nothing' registered"),
        ("missing-libcuda", ["--device=cuda", *good[1:], *two], r"UNAVAILABLE; CUDA.*libcuda.so.1"),
        ("missing-device", ["--device=local-task://7", *good[1:], *two], "7|path"),
        ("too-few-inputs", [*good, two[0]], "expected 2 arguments but passed 1"),
        ("too-many-inputs", [*good, *two, two[1]], "fewer input values|expected 2"),
        ("wrong-type", [*good, "--input=4xi32=1", two[1]], "input0 element type mismatch; expected f32"),
        ("wrong-shape", [*good, "--input=5xf32=1", two[1]], "input0 shape dimension 0 mismatch; expected 4 but have 5"),
        ("wrong-rank", [*good, "--input=2x2xf32=1", two[1]], "input0 shape rank mismatch; expected 1 but have 2"),
        ("too-few-values", [*good, "--input=4xf32=1 2 3", two[1]], "OUT_OF_RANGE"),
        ("too-many-values", [*good, "--input=4xf32=1 2 3 4 5", two[1]], "OUT_OF_RANGE"),
        ("bad-value", [*good, "--input=4xf32=1 2 x 4", two[1]], "INVALID_ARGUMENT"),
        ("bad-input-type", [*good, "--input=4xf33=1", two[1]], "f33|type"),
        ("huge-input", [*good, "--input=99999999999x99999999999xf32=1", two[1]], ";"),
        ("missing-npy", [*good, "--input=@nothing.npy", two[1]], r"nothing\.npy"),
        ("cut-npy", [*good, "--input=@cut.npy", two[1]], ";"),
        ("endless-list", [*good, "--input=@endless.txt", two[1]], "name each other more than 16 deep"),
        ("not-npy", [*good, "--input=@good.mlir", two[1]], r"npy"),
        ("wrong-output-count", [*good, *two, "--output=-", "--output=-"], "OUT_OF_RANGE"),
        ("unwritable-output", [*good, *two, "--output=@no/folder/out.npy"], "out.npy"),
        ("unknown-flag", [*good, *two, "--nothing=1"], "nothing"),
        ("known-drivers", ["--device=nothing", *good[1:], *two], r"there is \[.*local-sync, local-task"),
        ("folder", ["--device=local-sync", "--module=."], "is a directory"),
        ("stray-argument", [*good, *two, "x"], "unexpected argument 'x'"),
        ("single-dash", [*good, *two, "-print_statistics"], "unexpected argument '-print_statistics'"),
        ("not-a-bool", [*good, *two, "--print_statistics=x"], "takes true, false, 1 or 0; got 'x'"),
        ("not-an-integer", [*good, *two, "--output_max_element_count=1x"], "takes an integer; got '1x'"),
        ("not-a-number", [*good, *two, "--expected_f32_threshold=x"], "takes a number; got 'x'"),
        ("output-mode", [*good, *two, "--output=x"], "'x'; expected `-`, `@file` or `\\+file`"),
        ("equality", [*good, *two, "--expected_output=4xf32", "--equality_mode=x"], "or 'exact'; got 'x'"),
        ("expected-count", [*good, *two, *2 * ["--expected_output=4xf32"]], "expected fewer"),
        ("flagfile", ["--flagfile=nothing"], "nothing': No such file"),
        ("topology", ["--device=local-task", "--task_topology_cpu_ids=9999", *good[1:], *two], "'9999' is not a list"),
    ]
    for name, arguments, pattern in table:
        check.refuses(f"run-{name}", "iree-run-module", arguments, pattern, form=STATUS)
    check_pipes(check, good, two)
    table = [
        ("min-time", "--benchmark_min_time=x", "`0.5s` or `20x`; got 'x'"),
        ("format", "--benchmark_format=x", "console, json or csv; got 'x'"),
        ("filter", "--benchmark_filter=(", "no regular expression: '\\('"),
        ("unit", "--benchmark_time_unit=x", "ms, us or ns; got 'x'"),
        ("batch", "--batch_size=0", "at least 1"),
        ("stray-argument", "x", "unexpected argument 'x'"),
        ("out", "--benchmark_out=no/folder/x", "cannot write 'no/folder/x'"),
    ]
    for name, argument, pattern in table:
        check.refuses(f"benchmark-{name}", "iree-benchmark-module", [*good, *two, argument], pattern, form=STATUS)
    code, out, _ = check.call("iree-run-module", [*good, *two, "--expected_output=4xf32=9"])
    check.verdict("run-expectation", None if code == 1 and "[FAILED] result[0]" in out else f"exit {code}: {out}")


def check_pipes(check, good, two):
    """Arrays that come through a pipe: a right one, and one whose header promises what no memory has."""
    os.mkfifo(check.folder / "pipe.npy")
    for name, shape, wanted, text in (("pipe", "4", 0, "4xf32=2 3 4 5"), ("promise", "10" * 7, 1, "ends within its")):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape},), }}".ljust(117) + "\n"
        data = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<4f", 1, 2, 3, 4)
        writer = threading.Thread(target=(check.folder / "pipe.npy").write_bytes, args=[data])
        writer.start()
        code, out, errors = check.call("iree-run-module", [*good, "--input=@pipe.npy", two[1]])
        writer.join()
        right = code == wanted and text in out + errors
        check.verdict(f"run-npy-{name}", None if right else f"exit {code}: {out} {errors}")


def damaged_module(check, name, data, right):
    """A damaged module must be refused with one message, or give the right result."""
    (check.folder / "damaged.vmfb").write_bytes(data)
    code, out, text = check.call("iree-run-module", ["--device=local-sync", "--module=damaged.vmfb", "--function=add",
                                                     "--input=4xf32=1 2 3 4", "--input=4xf32=1"], 20)
    if code == 1 and len(STATUS.findall(text)) == 1:
        return check.verdict(name, None)
    return check.verdict(name, None if code == 0 and out == right else f"exit {code}: {text.strip()[-300:]}")


def check_streams(check):
    """A model through a pipe is what it is in a file, with and without the marks of an exporter."""
    for name, model in bad_models.good_onnx_forms().items():
        (check.folder / "form.onnx").write_bytes(model)
        wanted = check.call("iree-import-onnx", ["form.onnx"])
        check.verdict(f"import {name}", None if wanted[0] == 0 else wanted[2])
        for path in ("-", "/dev/stdin"):
            found = check.call("iree-import-onnx", [path, "-o", "-"], given=model)
            check.verdict(f"import {name} from {path}", None if found == wanted else found[2])
            found = check.call("iree-compile", [*TARGET, "--compile-to=input", path], given=model)
            check.verdict(f"compile {name} from {path}", None if found[0] == 0 and "graph.max" in found[1] else found[2])
    found = check.call("iree-import-onnx", ["-"], given=b"no model")
    fine = found[0] == 1 and found[2].startswith("<stdin>: error: not a well-formed ONNX model")
    check.verdict("import text from -", None if fine else found[2])


def check_damaged(check, arguments):
    data = (check.folder / "good.vmfb").read_bytes()
    right = check.call("iree-run-module", ["--device=local-sync", "--module=good.vmfb", "--function=add",
                                           "--input=4xf32=1 2 3 4", "--input=4xf32=1"])[1]
    for step in range(arguments.damages):
        size = len(data) * step // arguments.damages
        damaged_module(check, f"module cut to {size} bytes", data[:size], right)
    for step in range(arguments.damages):
        bit = len(data) * 8 * step // arguments.damages + step * 37 % 64
        turned = bytearray(data)
        turned[bit // 8 % len(data)] ^= 1 << bit % 8
        damaged_module(check, f"module with bit {bit} turned", bytes(turned), right)
    model = bad_models.good_onnx_bytes()
    for step in range(arguments.damages // 4):
        size = len(model) * step * 4 // arguments.damages
        (check.folder / "cut.onnx").write_bytes(model[:size])
        check.refuses(f"onnx cut to {size} bytes", "iree-compile", [*TARGET, "cut.onnx", "-o", "out.vmfb"], "cut.onnx",
                      output="out.vmfb")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the tools")
    parser.add_argument("--damages", type=int, default=120, help="how many cuts and turned bits to try")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-errors-") as folder:
        check = Check(pathlib.Path(os.path.abspath(arguments.tools)), pathlib.Path(folder))
        check_mlir(check)
        check_onnx(check)
        check_compile_flags(check)
        code, _, text = check.call("iree-compile", [*TARGET, "good.mlir", "-o", "good.vmfb"])
        check.verdict("compile-good", None if code == 0 else text)
        if code == 0:
            check_compile_values(check)
            check_outputs(check)
            check_other_tools(check)
            (check.folder / "endless.txt").write_text("@endless.txt\n")
            bad_models.cut_npy(check.folder / "cut.npy")
            (check.folder / "good.onnx").write_bytes(bad_models.good_onnx_bytes())
            check_streams(check)
            check_common(check)
            check_raw_arrays(check)
            check_run(check)
            check_damaged(check, arguments)
    print(f"{check.passed} passed, {check.failed} failed")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
