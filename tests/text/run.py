"""Runs the text tests: run.py --tools DIR [FOLDER or FILE]...

A text test is an .mlir file under tests/ (or src/) with lines `// RUN: COMMAND`. In a command, %s is the file and %t a
path for scratch files; tools come from DIR first, then from LLVM 22 (FileCheck, not). The test passes when every
command exits with 0. Example:

    // RUN: iree-opt --graph-fold %s | FileCheck %s
    // CHECK: graph.constant
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = re.compile(r"^\s*//\s*RUN:\s*(.+)$", re.MULTILINE)
LLVM = "/usr/lib/llvm-22/bin"


def tests_in(paths):
    """Every file with a RUN line below the paths."""
    for path in paths:
        for file in sorted(path.rglob("*.mlir")) if path.is_dir() else [path]:
            text = file.read_text(encoding="utf-8", errors="replace")
            commands = RUN.findall(text)
            if commands:
                yield file, commands


def run_test(job):
    """Returns the file, and what failed or None."""
    (file, commands), environment, scratch = job
    target = pathlib.Path(scratch, file.relative_to(ROOT).as_posix().replace("/", "_"))
    for command in commands:
        shell = command.replace("%s", shlex.quote(str(file))).replace("%t", shlex.quote(str(target)))
        with subprocess.Popen(["bash", "-o", "pipefail", "-c", shell], cwd=ROOT, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", start_new_session=True) as process:
            try:
                _, errors = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # and what bash has started
                return file, f"no end after 60 s: {command}"
        if process.returncode != 0:
            return file, f"exit {process.returncode}: {command}\n{errors[-1500:]}"
    return file, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the tools")
    parser.add_argument("--sanitized", action="store_true",
                        help="the tools are: skip commands under 'ulimit -d', which sanitizers' own memory exceeds")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[ROOT / "tests", ROOT / "src"])
    arguments = parser.parse_args()
    path = f"{os.path.abspath(arguments.tools)}:{LLVM}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    failed = passed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="iree-text-") as scratch:
        jobs = []
        for file, commands in tests_in([path.resolve() for path in arguments.paths]):
            kept = [command for command in commands if not arguments.sanitized or "ulimit -d" not in command]
            skipped += len(commands) - len(kept)
            jobs.append(((file, kept), environment, scratch))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for file, problem in pool.map(run_test, jobs):
                passed, failed = passed + (problem is None), failed + (problem is not None)
                if problem:
                    print(f"FAILED {file.relative_to(ROOT)}: {problem}", flush=True)
    if skipped:
        print(f"{skipped} commands under 'ulimit -d' were not run")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
