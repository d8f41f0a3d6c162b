"""The table of NVIDIA architectures and their names in docs/cuda.md, from base/processors/nvidia.def.

    build_tools/document_processors.py [--write]

Without --write, fails where the document has another table.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLE = ROOT / "src" / "base" / "processors" / "nvidia.def"
DOCUMENT = ROOT / "docs" / "cuda.md"
HEAD = "| architecture | oldest PTX | names |\n| --- | --- | --- |\n"


def make():
    """The table as Markdown."""
    text = TABLE.read_text(encoding="utf-8")
    names = {}
    for name, arch in re.findall(r"^(?:CODE_NAME|SKU)\(([^,]+), (\w+)", text, re.MULTILINE):
        names.setdefault(arch, []).append(f"`{name}`")
    rows = re.findall(r"^ARCH\((\w+), (\d+)(\d),", text, re.MULTILINE)
    return HEAD + "".join(f"| `{arch}` | {major}.{minor} | {', '.join(names.get(arch, []))} |\n"
                          for arch, major, minor in rows)


def main():
    text = DOCUMENT.read_text(encoding="utf-8")
    begin = text.find(HEAD)
    end = begin + re.match(r"(\|.*\n)*", text[begin:]).end()
    wanted = text[:begin] + make() + text[end:]
    if begin >= 0 and wanted == text:
        return 0
    if begin >= 0 and sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(wanted, encoding="utf-8")
        return 0
    print(f"docs/cuda.md: error: its table is not that of {TABLE.name}; run build_tools/document_processors.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
