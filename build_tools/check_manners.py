"""Fails where a library would end its process, or loses memory when it runs out.

Nothing in src/ calls abort or exit, and the compiler allocates through base/memory.h, whose scopes free everything when
there is no more. EXCEPTIONS lists what may, each with its reason.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPILER = ("ir", "dialects", "import", "passes", "kernels", "target", "compiler")
ENDS = re.compile(r"(?<![\w.>])(abort|exit|_exit|quick_exit)\(")
ALLOCATES = re.compile(r"(?<![\w.>:])(malloc|calloc|realloc|strdup|strndup|asprintf|free|open_memstream)\(")
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
EXCEPTIONS = {
    "src/base/flags.c": "iree_flags_parse_checked ends the program, as its users expect",
    "src/base/status.c": "iree_status_abort is part of the API",
    "src/hal/local/task_flags.c": "a flag of the tools that prints and ends",
    "src/tooling/devices.c": "flags of the tools that print and end",
    "src/softgpu/hsa/event.c": "a lost GPU that nobody takes care of ends the process, as with ROCr",
    "src/ir/attr.c": "whole constants are the context's, whichever scope makes them",
    "src/ir/context.c": "whole constants are the context's, whichever scope makes them",
    "src/import/onnx/files.c": "files stay mapped beyond the scope that opens them",
    "src/compiler/output.c": "what the caller frees",
    "src/target/llvm/lld.cpp": "what lld writes to, freed by lld_free",
    "src/compiler/const_eval.c": "aligned memory with clean-ups of its own",
    "src/compiler/execute.c": "threads without a scope check what they get",
}


def main():
    command = ["git", "ls-files", "-co", "--exclude-standard", "src/*.c", "src/*.cpp", "src/*.h"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    bad = 0
    for name in files:
        path = ROOT / name
        if name in EXCEPTIONS or not path.exists():
            continue
        in_compiler = name.split("/")[1] in COMPILER
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = STRINGS.sub("", line)
            ends = ENDS.search(code)
            allocates = in_compiler and ALLOCATES.search(code)
            if ends:
                print(f"{name}:{number}: error: '{ends[1]}' in a library; return a status or a diagnostic")
            if allocates:
                print(f"{name}:{number}: error: '{allocates[1]}' in the compiler; use base/memory.h")
            bad += bool(ends) + bool(allocates)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
