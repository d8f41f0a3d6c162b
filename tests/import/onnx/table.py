"""Writes the tables of docs/onnx.md and the numbers of README.md from what the sources and the lists of the backend tests
say: table.py [--check] [--cache FOLDER]. With --check it only tells whether they are up to date. Every row of ops.def
must be in a case of tests/e2e/ops or in a backend test that passes; rows that are in none fail either way.
"""

import argparse
import pathlib
import re
import sys

import onnx
from onnx import defs

import suite

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "ops"))
import case  # noqa: E402
import tables  # noqa: E402, F401  (adds the cases)

SOURCES = ROOT / "src" / "import" / "onnx"
DOMAINS = {"": "ONNX", "ai.onnx.ml": "`ai.onnx.ml`", "ai.onnx.preview": "`ai.onnx.preview`",
           "ai.onnx.preview.training": "`ai.onnx.preview.training`"}
OWN_NAMES = {"UniqueInOrder": "Unique"}  # rows of ONNX Runtime's operators that mean something else in ONNX
BACKEND_TESTS = 1884  # of onnx 1.23.2, build_tools/requirements-test.txt


def rows(name, kinds):
    text = (SOURCES / name).read_text()
    return re.findall(rf"^(?:{kinds})\(([\w.]+)(?:, \"(.*)\")?", text, re.M)


def renamed():
    """Operators that only older versions have, and what they became."""
    return dict(re.findall(r'^RENAME\(\d+, "\|(\w+)\|", "(\w+)"\)', (SOURCES / "upgrade.def").read_text(), re.M))


def operator_rows():
    return {name for name, _ in rows("ops.def", "OP|STRINGS|MOVE|HOLDER|HOLDER_MOVE|UNARY|BINARY|COMPARE|NARY")}


def operators_of(nodes):
    """All operators of nodes and of the graphs in them."""
    rows_of = {name: row for row, name in OWN_NAMES.items()}
    for node in nodes:
        yield rows_of.get(node.op_type, node.op_type) if node.domain == "com.microsoft" else node.op_type
        for attribute in node.attribute:
            yield from operators_of(attribute.g.node)


def untested(cache):
    """Rows of ops.def that no program runs from end to end."""
    refused = (ROOT / "tests" / "e2e" / "ops" / "expected_failures.txt").read_text()
    cases = [subject for subject in case.CASES if subject.name not in refused]
    seen = {name for subject in cases for name in operators_of(subject.build(subject))}
    gaps = suite.read_gaps()
    for test in suite.load_cases(cache):
        if not suite.is_refused(test.name) and test.name not in gaps:
            seen.update(operators_of(onnx.ModelProto.FromString(test.model).graph.node))
    return sorted(operator_rows() - seen)


def operators():
    """Lines on each domain's operators."""
    have = operator_rows()
    refused = dict(rows("refused.def", "REFUSED"))
    schemas = {domain: set() for domain in DOMAINS}
    for schema in defs.get_all_schemas():
        schemas.setdefault(schema.domain, set()).add(schema.name)
    known = set().union(*schemas.values())
    lines = []
    for domain, names in schemas.items():
        works = sorted(names & (have | renamed().keys()))
        missing = sorted(names - set(works) - refused.keys())
        lines += [f"**{DOMAINS[domain]}**, {len(works)} of {len(names)}: {', '.join(works)}.", ""]
        if missing:
            lines += [f"Not supported yet: {', '.join(missing)}.", ""]
    own = sorted(OWN_NAMES.get(name, name) for name in have - known)
    lines += [f"**ONNX Runtime's own** (`com.microsoft`): {', '.join(own)}.", "",
              "Refused for good:", "", "| operator | what to do instead |", "|---|---|"]
    lines += [f"| {name} | {reason} |" for name, reason in sorted(refused.items())]
    return lines + [f"| all of `{name}` | {reason} |" for name, reason in rows("refused.def", "DOMAIN")]


def numbers(cache):
    """How many backend tests pass everywhere, are refused, and are known gaps; and the lists."""
    refused, gaps = suite.read_list("refused.txt"), suite.read_gaps()
    names = [case.name for case in suite.load_cases(cache)]
    count = sum(suite.is_refused(name) for name in names)
    assert len(names) == BACKEND_TESTS
    return len(names) - count - len(gaps), count, refused, gaps


def backend_tests(counted):
    passed, count, refused, gaps = counted
    lines = [f"Of ONNX's {BACKEND_TESTS:,} backend tests {passed:,} pass, {count} are refused by name, and {len(gaps)} do not work "
             "yet on some target.", "", "| refused | why |", "|---|---|"]
    lines += [f"| `{pattern.strip()}` | {reason.strip()} |" for pattern, reason in refused]
    lines += ["", "| does not work | where | what is said |", "|---|---|---|"]
    for name, (places, cause) in sorted(gaps.items()):
        where = "everywhere" if places == set(suite.PLACES) else ", ".join(sorted(places))
        lines.append(f"| `{name}` | {where} | {cause.replace('|', '/')} |")
    return lines


def replace_part(text, name, lines):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    first, last = text.index(begin) + len(begin), text.index(end)
    return text[:first] + "\n" + "\n".join(lines) + "\n\n" + text[last:]


def new_documents(cache):
    page, readme = ROOT / "docs" / "onnx.md", ROOT / "README.md"
    text = replace_part(page.read_text(), "operators", operators())
    _, count, _, gaps = counted = numbers(cache)
    text = replace_part(text, "backend tests", backend_tests(counted))
    on_cpus = sum("llvm-cpu" in places for places, _ in gaps.values())
    pattern = r"[\d,]+ of ONNX's own [\d,]+ backend tests, as they are \(\d+ are refused by name, \d+ are"
    said = (f"{BACKEND_TESTS - count - on_cpus:,} of ONNX's own {BACKEND_TESTS:,} backend tests, as they are ({count} are "
            f"refused by name, {on_cpus} are")
    assert re.search(pattern, readme.read_text()), "README.md does not say how many backend tests pass"
    return {page: text, readme: re.sub(pattern, said, readme.read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail when something would change")
    parser.add_argument("--cache", type=pathlib.Path, help="folder that keeps the collected tests")
    options = parser.parse_args()
    check = options.check
    changed = 0
    for path, text in new_documents(options.cache).items():
        if text == path.read_text():
            continue
        changed += 1
        if check:
            print(f"FAILED {path.relative_to(ROOT)}: not up to date: run tests/import/onnx/table.py")
        else:
            path.write_text(text)
    missing = untested(options.cache)
    if missing:
        print(f"FAILED rows of ops.def without a case in tests/e2e/ops or a backend test: {', '.join(missing)}")
    failed = (changed if check else 0) + bool(missing)
    print(f"{3 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
