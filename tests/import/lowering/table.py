"""Tells which rows of the frontends' tables no program runs: table.py

A row is an op that a frontend lowers: of ops.def, chlo.def, named.def, arith.def and the tables in src/import/linalg. A
program that runs it is a function of a file here that says what it gives, or a text test of tests/e2e, which calls what
it compiles, or a sample that a text test does so with. Rows that are in none make it fail. Rows that only refuse an op,
with a sentence, must be in a program that shows the message.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
IMPORT, DIALECTS = ROOT / "src" / "import", ROOT / "src" / "dialects"
DIALECT_OF = {"stablehlo/ops.def": "stablehlo", "stablehlo/chlo.def": "chlo", "tosa/ops.def": "tosa",
              "linalg/named.def": "linalg"}
TEXT_OF = {"linalg_ext": "iree_linalg_ext", "encoding": "iree_encoding", "tensor_ext": "iree_tensor_ext",
           "codegen": "iree_codegen"}  # in programs
ROW = re.compile(r"^([A-Z_]+)\(([A-Z][A-Z0-9_]*), ", re.M)
ENTRY = re.compile(r"\b([A-Z][A-Z_]*)\((?:[A-Z_]+, )?([A-Z0-9_]+)\b")


def names(dialect):
    """Names of a dialect's ops by what its rows are called."""
    rows = re.findall(r"^[A-Z_0-9]+\(([A-Z][A-Z0-9_]*),\s*\"?([\w.-]+)\"?[,)]", (DIALECTS / f"{dialect}.def").read_text(), re.M)
    return dict(rows)


def rows():
    """(dialect, name, whether it is refused) of all that the tables have."""
    for path, dialect in DIALECT_OF.items():
        known = names(dialect)
        for macro, row in ROW.findall((IMPORT / path).read_text()):
            yield dialect, known[row], macro == "REFUSED"
    for kind, row in re.findall(r"^(ARITH|MATH)(?:_OP)?\((\w+), ", (IMPORT / "linalg" / "arith.def").read_text(), re.M):
        yield kind.lower(), names(kind.lower())[row], False
    for path in sorted((IMPORT / "linalg").glob("*.c")):
        text = path.read_text()
        tables = {f"{name or ''}rows": body for name, body in re.findall(r"lower_row_t (\w+_)?rows\[\] = \{(.*?)\};", text, re.S)}
        for dialect, table in re.findall(r"= \{IR_DIALECT_(\w+), (\w+),", text):
            dialect = dialect.lower()
            if table not in tables or "#include" in tables[table]:
                continue
            known = names(dialect)
            for macro, row in ENTRY.findall(tables[table]):
                yield TEXT_OF.get(dialect, dialect), known[row], macro == "REFUSED"


def programs():
    """Texts of what runs: functions that say what they give, and whole text tests; and of what shows a message."""
    for path in pathlib.Path(__file__).parent.glob("*/*.mlir"):
        yield path.read_text(), False
    for path in (ROOT / "tests").glob("*/**/*.mlir"):
        text = path.read_text()
        if "// CHECK: error:" in text:
            yield text, True
        if not re.search("iree-(run|check)-module|iree-run-mlir", text):
            continue
        if "e2e" in path.parts:
            yield text, False
        for sample in set(re.findall(r"iree-compile.* (samples/\S+\.mlir)", text)):
            yield (ROOT / sample).read_text(), False


def main():
    seen = set()
    for text, is_refused in programs():
        text = re.sub(r"//.*", "", text)
        seen.update((*name, is_refused) for name in re.findall(r"\b(\w+)\.([a-z][\w-]*(?:\.\w+)*)", text))
    wanted = sorted(set(rows()))
    missing = [row for row in wanted if row not in seen]
    for dialect, name, is_refused in missing:
        print(f"FAILED {dialect}.{name}: no program {'shows that it is refused' if is_refused else 'runs it'}")
    print(f"{len(wanted) - len(missing)} passed, {len(missing)} failed")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
