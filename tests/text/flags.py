"""Lists the flags of the tools for which no text test changes anything: flags.py --tools DIR [--remove]

Flags are those of `--help=list`. Without --remove a flag needs a text test (run.py) whose RUN lines have it, for one of
the tools that take it. With --remove each such line is run without the flag too, and the test has to fail then: the flag
changes something.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import run as text

# What a text test cannot show, and the test that does.
ELSEWHERE = {"--instrument_file": "tests/tooling/api_test.c", "--cuda_nccl_path": "tests/hal/stream/nccl.c",
             "--cuda_nvml_path": "tests/profile/metrics.py", "--cuda_cupti_path": "tests/profile/cupti.py",
             "--hip_rocprofiler_path": "tests/profile/rocprofiler.py"}
# What no machine without AMD's HIP library can show: it is read as --cuda_nccl_path is.
WITHOUT = {"--hip_rccl_path"}
# Names of passes, which iree-opt takes as flags too, and which have tests of their own (tests/passes).
PASSES = "Passes"


def tools_in(folder):
    """Names of the tools that have a table of flags: programs, not scripts."""
    programs = (path for path in folder.glob("iree-*") if os.access(path, os.X_OK) and path.is_file())
    return sorted(path.name for path in programs if not path.read_bytes().startswith(b"#!"))


def is_elsewhere(flag):
    """Whether a program of another kind tests the flag."""
    file = ELSEWHERE.get(flag)
    if flag in WITHOUT:
        return True
    return bool(file) and flag.lstrip("-") in (text.ROOT / file).read_text(encoding="utf-8")


def flags_of(folder, tool):
    """The names of a tool's flags, with their dashes."""
    result = subprocess.run([folder / tool, "--help=list"], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    return [row[0] for row in rows if row[3] != PASSES and not is_elsewhere(row[0])]


def pattern(flag):
    """Where a command has the flag, with its value: one dash or two."""
    name = re.escape(flag.lstrip("-"))
    dashes = "-" if len(flag) == 2 else "--?"
    spelled = name.replace("iree\\-rocm\\-", "iree\\-(?:rocm|hip)\\-")
    quoted = r"""(?:"[^"]*"|'[^']*'|\$\([^)]*\)|\\.|[^\s"'|;)&])*"""
    return re.compile(rf"(?<![\w-]){dashes}{spelled}(?:={quoted})?(?=[\s|;)&]|$)")


def uses(tests, tools_of):
    """For each flag the (test, command) pairs that have it in a command of a tool that takes it."""
    found = {flag: [] for flag in tools_of}
    patterns = {flag: pattern(flag) for flag in tools_of}
    for test in tests:
        for i, command in enumerate(test[1]):
            for flag, tools in tools_of.items():
                if flag.split("iree-rocm-")[-1].lstrip("-") not in command or not any(tool in command for tool in tools):
                    continue
                if patterns[flag].search(command):
                    found[flag].append((test, i))
    return found


def changes(flag, use, environment, scratch):
    """Whether the test fails when the flag is left out of one of its commands; in a list of a loop, which goes over
    every word, it is nothing then."""
    (file, commands), i = use
    without = list(commands)
    match = pattern(flag).search(commands[i])
    listed = re.search(r"\bfor \w+ in [^;]*$", commands[i][:match.start()])
    without[i] = commands[i][:match.start()] + ("''" if listed else "") + commands[i][match.end():]
    folder = tempfile.mkdtemp(dir=scratch)
    return text.run_test(((file, without), environment, folder))[1] is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=pathlib.Path, help="folder of the tools")
    parser.add_argument("--remove", action="store_true", help="also run the tests without the flag")
    parser.add_argument("--only", action="append", default=[], help="only flags with this in their name")
    arguments = parser.parse_args()
    folder = arguments.tools.resolve()
    tools_of = {}
    for tool in tools_in(folder):
        for flag in flags_of(folder, tool):
            if all(part in flag for part in arguments.only):
                tools_of.setdefault(flag, []).append(tool)
    tests = list(text.tests_in([text.ROOT / "tests", text.ROOT / "src"]))
    found = uses(tests, tools_of)
    without = [flag for flag, places in found.items() if not places]
    for flag in without:
        print(f"FAILED {flag} ({', '.join(tools_of[flag])}): no text test has it")
    idle = []
    if arguments.remove:
        environment = {**os.environ, "PATH": f"{folder}:{text.LLVM}:{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory(prefix="iree-flags-") as scratch, \
                concurrent.futures.ThreadPoolExecutor(2) as pool:
            def check(flag):
                return flag, any(changes(flag, use, environment, scratch) for use in found[flag])
            for flag, changed in pool.map(check, [flag for flag in found if found[flag]]):
                if not changed:
                    idle.append(flag)
                    print(f"FAILED {flag}: its tests pass without it", flush=True)
    bad = len(without) + len(idle)
    print(f"{len(tools_of) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
