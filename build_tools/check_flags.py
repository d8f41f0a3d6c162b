"""Every flag of iree-compile is used by a test: check_flags.py

Lists the rows of src/compiler/flags.def whose name no file under tests/, examples/ or samples/ has.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW = re.compile(r'^(?:STRING|LIST|BOOL|ALIAS|CHOICE)\("([^"]+)"', re.MULTILINE)
USE = re.compile(r"(?<![\w-])--?([a-z][a-z0-9-]*)")


def main():
    names = ROW.findall((ROOT / "src/compiler/flags.def").read_text(encoding="utf-8"))
    used = set()
    for folder in ("tests", "examples", "samples"):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix in {".c", ".mlir", ".py", ".sh", ".txt"}:
                for name in USE.findall(file.read_text(encoding="utf-8", errors="replace")):
                    used.add(name)
                    used.add(name.replace("iree-hip-", "iree-rocm-", 1))
    missing = [name for name in names if name not in used]
    for name in missing:
        print(f"src/compiler/flags.def: no test uses --{name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
