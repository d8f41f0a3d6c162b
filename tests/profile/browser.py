"""The page of `iree-profile report` in a real browser, from disk: content, no script error, light and dark.

    browser.py TOOLS FOLDER [--browser chromium] [--traces FILE]

FOLDER has local-task.ireeprof (tests/profile/tools.sh); FILE is a profile with traces of one dispatch
(tests/profile/traces.py).
"""

import argparse
import html.parser
import json
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ERRORS = """<script>
const errors = [];
addEventListener("error", event => errors.push(event.message));
addEventListener("securitypolicyviolation", event => errors.push(event.violatedDirective));
</script>"""
# What the page looks like once it is drawn, as an attribute of its body.
PROBE = """<script>
const text = id => document.getElementById(id).innerText;
const canvas = document.querySelector("canvas");
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
const colours = new Set();
for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] === 255) colours.add(pixels.slice(i, i + 3).join());
const light = colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
const style = getComputedStyle(document.body);
canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: 1}));
document.querySelector("#kernels th a").click();
document.body.dataset.probe = JSON.stringify({
  errors, title: document.title, ground: light(style.backgroundColor), ink: light(style.color), colours: colours.size,
  rows: document.querySelectorAll("#kernels tbody tr").length, first: text("kernels").includes("%"),
  compared: document.querySelectorAll("#compare tbody tr").length, roof: !!document.getElementById("roof"),
  points: document.querySelectorAll("#roofline circle").length, memory: document.querySelectorAll("#memory path").length,
  facts: document.querySelectorAll("#facts div").length, roofline: text("roofline"), width: document.body.scrollWidth,
  files: text("files"), window: innerWidth, instructions: document.querySelectorAll("#instructions tbody tr").length,
  bars: [...document.querySelectorAll("#instructions .heat span")].map(bar => bar.offsetWidth),
});
</script>"""
# Of pages that lack most of that.
SHORT = """<script>document.body.dataset.probe = JSON.stringify({
  errors, title: document.title, text: document.body.innerText, width: document.body.scrollWidth, window: innerWidth,
  rows: document.querySelectorAll("#kernels tbody tr").length, timeline: !!document.querySelector("canvas"),
});</script>"""
HEADER = struct.Struct("<4sHHIIQ")
MANY = 100001  # more spans than a page shows
passed = failed = 0


class Probe(html.parser.HTMLParser):
    result = None

    def handle_starttag(self, tag, attrs):
        if tag == "body" and "data-probe" in dict(attrs):
            self.result = json.loads(dict(attrs)["data-probe"])


def expect(what, is_right, found):
    global passed, failed
    if is_right:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {found!r}")


def records(path):
    """A profile's records, each with the end of its content type and where its payload begins."""
    data, at = path.read_bytes(), HEADER.size
    while at < len(data):
        length, payload = struct.unpack_from("<QQ", data, at)
        header, kind, _ = struct.unpack_from("<III", data, at + 56)
        record = data[at:at + length]
        yield record[header:header + kind].rpartition(b".")[2], record, length - payload
        at += length


def write_profile(path, parts):
    body = b"".join(parts)
    path.write_bytes(HEADER.pack(b"IRPF", 1, 6, HEADER.size, 0, HEADER.size + len(body)) + body)
    return path


def repeated(record, start, count):
    """A record with its payload's first part as often as that."""
    length, = struct.unpack_from("<I", record, start)
    payload = record[start:start + length] * count
    return struct.pack("<QQ", start + len(payload), len(payload)) + record[16:start] + payload


def edges(folder, profile):
    """Profiles of nothing, of a session in which nothing was recorded, of one dispatch and of very many."""
    known = list(records(profile))
    (folder / "header.ireeprof").write_bytes(HEADER.pack(b"IRPF", 1, 6, HEADER.size, 0, 0))
    write_profile(folder / "nothing.ireeprof", [record for kind, record, _ in known if kind == b"session"])
    for name, count in (("single", 1), ("many", MANY)):
        write_profile(folder / f"{name}.ireeprof", [repeated(record, start, count) if kind == b"dispatch-events" else record
                                                    for kind, record, start in known if kind != b"host-execution-events"])
    return {"header": (0, 0), "nothing": (0, 0), "single": (1, 1), "many": (1, MANY)}


def check_edges(options, scheme):
    for name, (rows, count) in edges(options.folder, options.folder / "local-task.ireeprof").items():
        page = page_of(options.tools, options.folder, f"edge-{name}", options.folder / f"{name}.ireeprof", probe=SHORT)
        found = look(options.browser, options.folder, page, scheme)
        where = f"{name}, {scheme}"
        expect(f"{where}: no errors", found and found["errors"] == [] and found["width"] <= found["window"], found)
        expect(f"{where}: kernels", (found.get("rows"), found.get("timeline")) == (rows, rows > 0), found)
        expect(f"{where}: count", str(count) in found.get("text", ""), found)
        expect(f"{where}: what is left out", ("not in the charts" in found.get("text", "")) == (count == MANY), found)


def page_of(tools, folder, name, *arguments, probe=PROBE):
    text = subprocess.run([tools / "iree-profile", "report", *arguments], capture_output=True, text=True, check=True).stdout
    # Nothing may come from anywhere else: the page says so itself, and the browser holds it to that.
    head = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
    path = folder / f"{name}.html"
    path.write_text(text.replace("<head>", "<head>" + head + ERRORS).replace("</body>", probe + "</body>"))
    return path


def look(browser, folder, page, scheme, width=1200):
    """What the probe found in a colour scheme, and a picture beside the page."""
    # 0 is dark and 1 is light.
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
               f"--user-data-dir={folder / 'browser'}", f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
               f"--window-size={width},1600", "--virtual-time-budget=2000", "--dump-dom", page.resolve().as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    probe = Probe()
    probe.feed(result.stdout)
    if not probe.result:
        print(result.stderr[-2000:])
    picture = page.with_name(f"{page.stem}-{scheme}.png")
    command[-2] = f"--screenshot={picture}"
    subprocess.run(command, capture_output=True, timeout=120)
    expect(f"picture of {page.name}, {scheme}", picture.exists() and picture.stat().st_size > 10000, picture)
    return probe.result or {}


def main():
    global failed
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--traces", type=pathlib.Path)
    options = parser.parse_args()
    known, task = HERE / "iree.ireeprof", options.folder / "local-task.ireeprof"
    pages = {
        "one": page_of(options.tools, options.folder, "one", known),
        "two": page_of(options.tools, options.folder, "two", "--peak_gflops=100", "--peak_gbps=20", known, task),
    }
    for scheme in ("light", "dark"):
        for name, page in pages.items():
            found = look(options.browser, options.folder, page, scheme)
            where = f"{name}, {scheme}"
            if not found:
                failed += 1
                print(f"FAILED {where}: the script of the page did not come to its end")
                continue
            expect(f"{where}: errors", found["errors"] == [], found["errors"])
            expect(f"{where}: title", found["title"] == "Profile of local-task", found["title"])
            expect(f"{where}: scheme", (found["ground"] > 200 > 100 > found["ink"]) if scheme == "light" else
                   (found["ground"] < 60 < 150 < found["ink"]), found)
            expect(f"{where}: timeline", found["colours"] >= 3, found["colours"])
            expect(f"{where}: kernels", (found["rows"], found["first"]) == (2, True), found["rows"])
            expect(f"{where}: facts", found["facts"] == 6, found["facts"])
            expect(f"{where}: memory", found["memory"] >= 5, found["memory"])
            expect(f"{where}: points", found["points"] == 1, found["points"])
            expect(f"{where}: roof", found["roof"] == (name == "two"), found["roof"])
            expect(f"{where}: no peak is told", ("--peak_gflops=" in found["roofline"]) == (name == "one"), found["roofline"])
            expect(f"{where}: comparison", (found["compared"] > 0) == (name == "two"), found["compared"])
            expect(f"{where}: width", found["width"] <= found["window"], found)
        narrow = look(options.browser, options.folder, pages["two"], scheme, width=500)
        expect(f"narrow, {scheme}", narrow and narrow["width"] <= narrow["window"], narrow)
        check_edges(options, scheme)
        if options.traces:
            page = page_of(options.tools, options.folder, "traces", options.traces)
            found = look(options.browser, options.folder, page, scheme)
            expect(f"instructions, {scheme}", found and found["errors"] == [] and found["instructions"] > 50, found)
            expect(f"heat, {scheme}", found and max(found["bars"]) > 60 and found["width"] <= found["window"], found)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
