"""Writes the tables of docs/onnx.md and the numbers of README.md from what the sources and the lists of the backend tests
say: table.py [--check] [--cache FOLDER]. With --check it only tells whether they are up to date.
"""

import argparse
import pathlib
import re
import sys

from onnx import defs

import suite

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src" / "import" / "onnx"
DOMAINS = {"": "ONNX", "ai.onnx.ml": "`ai.onnx.ml`", "ai.onnx.preview": "`ai.onnx.preview`",
           "ai.onnx.preview.training": "`ai.onnx.preview.training`"}
BACKEND_TESTS = 1884  # of onnx 1.23.2, build_tools/requirements-test.txt


def rows(name, kinds):
    text = (SOURCES / name).read_text()
    return re.findall(rf"^(?:{kinds})\((\w+)(?:, \"(.*)\")?", text, re.M)


def renamed():
    """Operators that only older versions have, and what they became."""
    return dict(re.findall(r'^RENAME\(\d+, "\|(\w+)\|", "(\w+)"\)', (SOURCES / "upgrade.def").read_text(), re.M))


def operators():
    """Lines on each domain's operators."""
    have = {name for name, _ in rows("ops.def", "OP|HOLDER|UNARY|BINARY|COMPARE|NARY")}
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
    lines += [f"**ONNX Runtime's own** (`com.microsoft`): {', '.join(sorted(have - known))}.", "",
              "Refused for good:", "", "| operator | what to do instead |", "|---|---|"]
    return lines + [f"| {name} | {reason} |" for name, reason in sorted(refused.items())]


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
    passed, count, _, gaps = counted = numbers(cache)
    text = replace_part(text, "backend tests", backend_tests(counted))
    pattern = r"[\d,]+ of ONNX's own [\d,]+ backend tests, as they are \(\d+ are refused by name, \d+ are"
    said = (f"{passed:,} of ONNX's own {BACKEND_TESTS:,} backend tests, as they are ({count} are refused by name, "
            f"{len(gaps)} are")
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
    print(f"{2 - changed if check else 2} passed, {changed if check else 0} failed")
    sys.exit(1 if check and changed else 0)


if __name__ == "__main__":
    main()
