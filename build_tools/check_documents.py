"""Fails where a document names a file of this project that is not there, or has an old table of processors.

In *.md, a word in backquotes that ends like a source file must be the end of a tracked file's path; `window*.c` stands
for any of them.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

import document_processors

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMES = re.compile(r"`([\w./*-]*\w[\w*]*\.(?:c|h|cpp|def|py|sh|cl|cmake|txt))`")


def main():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    bad = 0
    for document in (name for name in files if name.endswith(".md") and (ROOT / name).exists()):
        for number, line in enumerate((ROOT / document).read_text(encoding="utf-8").splitlines(), 1):
            for name in NAMES.findall(line):
                if any(fnmatch.fnmatch("/" + path, "*/" + name.lstrip("./")) for path in files):
                    continue
                print(f"{document}:{number}: error: there is no file '{name}'")
                bad += 1
    return bad != 0 or document_processors.main() != 0


if __name__ == "__main__":
    sys.exit(main())
