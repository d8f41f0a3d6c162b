"""Tells which rows of the frontends' tables no program runs: table.py

A row is an op that a frontend lowers: of ops.def, chlo.def, named.def, arith.def and the tables in src/import/linalg. A
program that runs it is a function of a file here that says what it gives, or a text test of tests/e2e, which calls what it
compiles. Rows that are in none make it fail.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
IMPORT, DIALECTS = ROOT / "src" / "import", ROOT / "src" / "dialects"
DIALECT_OF = {"stablehlo/ops.def": "stablehlo", "stablehlo/chlo.def": "chlo", "tosa/ops.def": "tosa",
              "linalg/named.def": "linalg"}
TEXT_OF = {"linalg_ext": "iree_linalg_ext"}  # what a dialect is called in programs
INSIDE = {"flow", "stream", "encoding", "tensor_ext"}  # IREE's own levels, of which programs have parts
ROW = re.compile(r"^[A-Z_]+\(([A-Z][A-Z0-9_]*), ", re.M)


def names(dialect):
    """Names of a dialect's ops by what its rows are called."""
    rows = re.findall(r"^[A-Z_0-9]+\(([A-Z][A-Z0-9_]*),\s*\"?([\w.-]+)\"?[,)]", (DIALECTS / f"{dialect}.def").read_text(), re.M)
    return dict(rows)


def rows():
    """All (dialect, name) that have a lowering."""
    for path, dialect in DIALECT_OF.items():
        known = names(dialect)
        yield from ((dialect, known[row]) for row in ROW.findall((IMPORT / path).read_text()))
    for kind, row in re.findall(r"^(ARITH|MATH)(?:_OP)?\((\w+), ", (IMPORT / "linalg" / "arith.def").read_text(), re.M):
        yield kind.lower(), names(kind.lower())[row]
    for path in sorted((IMPORT / "linalg").glob("*.c")):
        text = path.read_text()
        tables = {f"{name or ''}rows": body for name, body in re.findall(r"lower_row_t (\w+_)?rows\[\] = \{(.*?)\};", text, re.S)}
        for dialect, table in re.findall(r"= \{IR_DIALECT_(\w+), (\w+),", text):
            dialect = dialect.lower()
            if table not in tables or "#include" in tables[table]:
                continue
            known = names(dialect)
            found = re.findall(r"(?:AT|PARTS|HANDLER|FUNCTION)\((?:[A-Z_]+, )?([A-Z0-9_]+)\b", tables[table])
            yield from ((TEXT_OF.get(dialect, dialect), known[row]) for row in found if dialect not in INSIDE)


def programs():
    """Texts of what runs: functions that say what they give, and whole text tests."""
    for path in pathlib.Path(__file__).parent.glob("*/*.mlir"):
        yield path.read_text()
    for path in (ROOT / "tests" / "e2e").glob("*/*.mlir"):
        text = path.read_text()
        if "iree-run-module" in text or "iree-check-module" in text or "iree-run-mlir" in text:
            yield text


def main():
    seen = set()
    for text in programs():
        text = re.sub(r"//.*", "", text)
        seen.update(re.findall(r"\b(\w+)\.([a-z][\w-]*(?:\.\w+)*)", text))
    wanted = sorted(set(rows()))
    missing = [row for row in wanted if row not in seen]
    for dialect, name in missing:
        print(f"FAILED {dialect}.{name}: no program runs it")
    print(f"{len(wanted) - len(missing)} passed, {len(missing)} failed")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
