"""Fails on files over 1,000 lines, functions over 120, and functions of more than seven parameters.

`--report` prints the figures of STYLE.md: medians, and what is over the soft limits. size_exceptions.txt lists what may
be larger, each with its reason. Public API functions (iree_…) and statics, which may fill a slot of a given type, are
free in their number of parameters.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE_LIMIT, FUNCTION_LIMIT, PARAMETER_LIMIT = 1000, 120, 7
SOFT_FILE, SOFT_FUNCTION = 600, 60
HEAD = re.compile(r"(\w+)\(")
NOT_FUNCTIONS = ("#", "//", "/*", " ", "}", "{", "typedef", "struct ", "enum ", "union ")


def parameters(head):
    """Number of parameters in the text of a function's head, or 0."""
    text = head[head.index("(") + 1:head.rindex(")")]
    depth, count = 0, 1
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        count += letter == "," and depth == 0
    return 0 if text.strip() in ("", "void") else count


def functions(lines):
    """Yields (name, first line, parameters, static, lines) of each definition in clang-format's layout."""
    start, head, body = None, "", False
    for number, line in enumerate(lines, 1):
        if start is None and line[:1].strip() and not line.startswith(NOT_FUNCTIONS) and HEAD.search(line):
            start, head, body = number, "", False
        if start is None:
            continue
        if not body:
            head, body = head + " " + line.partition("{")[0].strip(), "{" in line
        if line == "}" or body and number == start and line.endswith("}"):
            yield (*named(head, start), number - start + 1)
            start = None
        elif not body and line.endswith((";", "\\")) or "=" in head.split("(")[0]:
            start = None


def named(head, start):
    found = HEAD.search(head)
    return found[1], start, parameters(head) if ")" in head else 0, head.strip().startswith("static")


def exceptions():
    text = (ROOT / "build_tools" / "size_exceptions.txt").read_text(encoding="utf-8")
    return {line.split("#")[0].strip() for line in text.splitlines()} - {""}


def main():
    names = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cpp", "*.py"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split()
    allowed, failed, lengths, soft = exceptions(), [], [], []
    for name in names:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE_LIMIT and name not in allowed:
            failed.append(f"{name}: {len(lines)} lines")
        if len(lines) > SOFT_FILE:
            soft.append(f"{name}: {len(lines)} lines")
        if name.endswith(".py"):
            continue
        for function, number, count, static, length in functions(lines):
            lengths.append(length)
            if length > SOFT_FUNCTION:
                soft.append(f"{name}:{number}: {function} has {length} lines")
            if f"{name}:{function}" in allowed:
                continue
            if length > FUNCTION_LIMIT:
                failed.append(f"{name}:{number}: {function} has {length} lines")
            free = static or function.isupper() or function.lower().startswith("iree_")
            if count > PARAMETER_LIMIT and not free:
                failed.append(f"{name}:{number}: {function} has {count} parameters")
    print("\n".join(failed), end="\n" if failed else "", file=sys.stderr)
    if "--report" in sys.argv and lengths:
        lengths.sort()
        print(f"{len(names)} files, {len(lengths)} functions; lines of a function: median "
              f"{lengths[len(lengths) // 2]}, 95% at most {lengths[len(lengths) * 95 // 100]}, longest {lengths[-1]}")
        print("\n".join(soft))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
