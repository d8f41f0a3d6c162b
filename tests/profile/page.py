"""The page of `iree-profile report`: well formed, nothing from a network, and the numbers of the other reports.

    page.py TOOLS FOLDER
"""

import html.parser
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
VOID = {"meta"}
NAME = "mm_dispatch_0_matmul_64x64x64_f32"
passed = failed = 0


class Page(html.parser.HTMLParser):
    """Collects what is wrong, and the data."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.data, self.scripts, self.tags = [], [], "", 0, []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        self.problems += [f"{tag} {name}=" for name in ("src", "href", "onclick") if name in attrs]
        if tag == "script":
            self.scripts += 1
            self.is_data = attrs.get("type") == "application/json"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open[-1:] == ["script"] and self.is_data:
            self.data += data
        elif self.open[-1:] in (["script"], ["style"]) and ("@import" in data or "url(" in data or "fetch(" in data):
            self.problems.append("something from elsewhere")


def expect(what, have, wanted):
    global passed, failed
    if have == wanted:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {have!r}, expected {wanted!r}")


def run(tools, *arguments):
    return subprocess.run([tools / "iree-profile", *arguments], capture_output=True, text=True, timeout=60)


def report(tools, *arguments):
    """The page's data, once the page is found to be well formed."""
    result = run(tools, "report", *arguments)
    expect("status", (result.returncode, result.stderr), (0, ""))
    page = Page(result.stdout)
    expect("problems of the page", page.problems, [])
    expect("scripts", page.scripts, 2)
    expect("markup of names", "img" in page.tags, False)
    return json.loads(page.data)


def rows(tools, path, *types):
    lines = run(tools, "dispatch", "--format=jsonl", path).stdout.splitlines()
    return [row for row in map(json.loads, lines) if row["type"] in types]


def same_as_rows(tools, path):
    """Kernels are the groups of dispatches: the device's where it has a clock, else the host's."""
    data = report(tools, path)["runs"][0]
    groups = rows(tools, path, "dispatch_group") or rows(tools, path, "host_dispatch_group")
    expect(f"kernels of {path.name}", [(kernel["name"], kernel["count"], kernel["min"], kernel["max"]) for kernel in data["kernels"]],
           [(row["key"], row["count"], row["min_ns"], row["max_ns"]) for row in groups])
    expect("timed", [kernel["timed"] for kernel in data["kernels"]], [row["valid"] for row in groups])
    expect("names", [slice[1] < len(data["names"]) and slice[0] < len(data["tracks"]) for slice in data["slices"]],
           [True] * len(data["slices"]))
    return data


def main():
    tools, folder = map(pathlib.Path, sys.argv[1:])
    known = HERE / "iree.ireeprof"
    data = same_as_rows(tools, known)
    expect("work of a product", [(kernel["flops"], kernel["bytes"]) for kernel in data["kernels"]],
           [(2 * 64 ** 3, 3 * 64 * 64 * 4), (None, None)])
    expect("slices", len(data["slices"]), 6)
    expect("memory", [(series["name"], series["peak"]) for series in data["memory"]], [("queue allocation bytes", 32768)])
    expect("timing", data["timing"], "host")
    for device in ("local-sync", "local-task"):
        data = same_as_rows(tools, folder / f"{device}.ireeprof")
        expect("timing", data["timing"], "device")
    both = report(tools, "--peak_gflops=100", "--peak_gbps=20.5", folder / "local-task.ireeprof", known)
    expect("peak", both["peak"], {"gflops": 100, "gbps": 20.5})
    expect("runs", [pathlib.Path(run["file"]).name for run in both["runs"]], ["local-task.ireeprof", known.name])
    markup = "</script><img src=x><!-- & \"\\ f32"[:len(NAME)].ljust(len(NAME))
    (folder / "markup.ireeprof").write_bytes(known.read_bytes().replace(NAME.encode(), markup.encode()))
    expect("markup", report(tools, folder / "markup.ireeprof")["runs"][0]["names"][0], markup)
    for what, arguments, wanted in (
            ("a format", ["report", "--format=text", known], "does not support --format=text"),
            ("two profiles", ["summary", known, known], "takes one profile"),
            ("a negative peak", ["report", "--peak_gflops=-1", known], "are not negative"),
            ("a peak of another", ["summary", "--peak_gbps=1", known], "command 'summary' does not support --peak_gbps")):
        result = run(tools, *arguments)
        expect(what, (result.returncode, wanted in result.stderr), (1, True))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
