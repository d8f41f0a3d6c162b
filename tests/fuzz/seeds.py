"""What fuzzers of profiles and captures begin with is read, and has every kind of records, calls and payloads.

    seeds.py TOOLS SEEDS FOLDER

SEEDS is the program that writes it (seeds.c).
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "profile"))
from expectations import expect, report  # noqa: E402


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)


def names(table, pattern):
    """Names in a table of src/."""
    return set(re.findall(pattern, (ROOT / "src" / table).read_text(), re.MULTILINE))


def rows(what, *command):
    result = run(*command)
    expect(f"{what} is read", result.returncode == 0, result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def check_profiles(tools, folder):
    kinds = names("tooling/profile/kinds.def", r'^KIND\(.*"(\w+)"\)$')
    for file in sorted(folder.iterdir()):
        chunks = [row for row in rows(file.name, tools / "iree-profile", "cat", "--format=jsonl", file)
                  if row.get("payload_length")]
        expect(f"{file.name}: records", len(chunks) == (len(kinds) if file.stem == "all" else 1), chunks)
    expect("profiles: kinds", {file.stem for file in folder.iterdir()} == kinds | {"all"}, kinds)


def check_captures(tools, folder):
    table = "hal/replay/format.def"
    dump = [tools / "iree-dump-replay", "--format=jsonl"]
    every = rows("all", *dump, folder / "all.ireereplay")
    for key, pattern in (("kind", r"^RECORD\((\w+)"), ("operation", r'^OPERATION\("([\w.]+)"'),
                         ("payload_type", r"^PAYLOAD\((\w+)"), ("object_type", r"^OBJECT\((\w+)")):
        wanted = names(table, pattern)
        expect(f"captures: {key}", wanted and wanted <= {row.get(key) for row in every}, wanted)
    for file in sorted(folder.iterdir()):
        if file.stem != "all":
            last = rows(file.name, *dump, file)[-1]
            expect(f"{file.name}: its call", last["operation"] == file.stem, last)


def main():
    tools, seeds, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    folders = folder / "profiles", folder / "captures"
    for one in folders:
        one.mkdir(parents=True, exist_ok=True)
    result = run(seeds, *folders)
    expect("written", result.returncode == 0, result.stderr)
    check_profiles(tools, folders[0])
    check_captures(tools, folders[1])
    return report()


if __name__ == "__main__":
    sys.exit(main())
