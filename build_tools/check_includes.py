"""Fails when a file includes what its folder may not: the include rules of ARCHITECTURE.md as a table."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPILER = ["base", "ir", "dialects"]
# Folder of src/: the folders it may include besides itself.
ALLOWED = {
    "base": [],
    "ir": ["base"],
    "dialects": ["base", "ir"],
    "import": COMPILER,
    "passes": COMPILER,
    "kernels": [*COMPILER, "passes"],
    "target": [*COMPILER, "passes", "kernels", "module", "isa"],
    "compiler": [*COMPILER, "import", "passes", "kernels", "target", "module", "io"],
    "embedding": [*COMPILER, "target", "compiler"],
    "pjrt": [*COMPILER, "target", "compiler", "hal", "runtime"],
    "module": ["base"],
    "hal": ["base", "module"],
    "vm": ["base", "module"],
    "io": ["base"],
    "tokenizer": ["base"],
    "modules": ["base", "hal"],
    "runtime": ["base", "module", "hal", "vm"],
    "tooling": ["base", "module", "io", "tokenizer"],
    "isa": ["base"],
    "softgpu": ["base", "isa"],
}
# Folders that may include the public headers of the runtime, iree/….
RUNTIME = ["base", "module", "hal", "vm", "io", "modules", "runtime", "tokenizer", "tooling", "pjrt"]
# Headers that are contracts between compiler and runtime, for both.
SHARED = ("compiler/", "base/", "hal/buffer_view.h", "hal/local/executable_library.h")
# Folders that may include LLVM's and lld's headers.
LLVM = ["src/target/llvm/", "src/softgpu/"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def problem(path, included):
    """What is wrong with this include of this file, or None."""
    if included.startswith(("llvm-c/", "llvm/", "lld/")):
        return None if path.startswith(tuple(LLVM)) else f"only {' and '.join(LLVM)} include LLVM"
    folder, _, rest = included.partition("/")
    if path.startswith("include/"):
        return "public headers include public headers only" if folder in ALLOWED and rest else None
    if not path.startswith("src/"):
        return None
    owner = path.split("/")[1]
    if folder == "iree" and owner not in RUNTIME:
        public = rest.startswith(SHARED)
        return None if public else f"src/{owner} is no part of the runtime"
    if folder in ALLOWED and rest and folder != owner and folder not in ALLOWED.get(owner, []):
        return f"src/{owner} may include {', '.join(ALLOWED.get(owner, [])) or 'nothing else'}"
    return None


def main():
    names = subprocess.run(["git", "ls-files", "src", "include", "tools"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split()
    failed = 0
    for name in names:
        if not name.endswith((".c", ".h", ".cpp", ".def")):
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            wrong = found and problem(name, found[1])
            if wrong:
                failed += 1
                print(f"{name}:{number}: includes {found[1]}: {wrong}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
