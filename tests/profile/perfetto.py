"""The traces of iree-profile-render: Perfetto's format has what JSON has, and slices of a track lie within each other;
rows of an export make the same trace as their profile.

    perfetto.py TOOLS FOLDER

FOLDER has local-sync.ireeprof and local-task.ireeprof (tools.sh).
"""

import collections
import json
import pathlib
import subprocess
import sys

from expectations import expect, report

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """The values of a message by field: numbers, or bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        elif tag & 7 != 0:
            raise ValueError(f"wire type {tag & 7}")
        found[tag >> 3].append(value)
    return found


class Trace:
    def __init__(self, data):
        self.tracks, self.events = {}, []
        for packet in map(fields, fields(data)[1]):
            for track in map(fields, packet[60]):
                self.tracks[track[1][0]] = (track[2][0].decode(), (track[5] or [0])[0])
            for event in map(fields, packet[11]):
                name = event[23][0].decode() if event[23] else ""
                self.events.append((packet[8][0], event[9][0], event[11][0], name, (event[30] or [None])[0]))

    def path(self, track):
        names = []
        while track:
            name, track = self.tracks[track]
            names.insert(0, name)
        return "/".join(names)

    def slices(self):
        """Name, begin and duration; what is no slice within another raises."""
        open_slices, found = collections.defaultdict(list), []
        for ns, kind, track, name, _ in self.events:
            if kind == BEGIN:
                open_slices[track].append((name, ns))
            elif kind == END:
                begun, start = open_slices[track].pop()
                found.append((begun, start, ns - start))
        if any(open_slices.values()):
            raise ValueError("a slice does not end")
        return sorted(found)


def render(tools, profile, *flags, rows=b""):
    command = [tools / "iree-profile-render", "--quiet", *flags, "--output=-", "-" if rows else profile]
    result = subprocess.run(command, capture_output=True, input=rows, timeout=60)
    expect(f"{profile.name}: status", (result.returncode, result.stderr) == (0, b""), result.stderr)
    return result.stdout


def check(tools, profile):
    what = profile.name
    data = render(tools, profile)
    trace = Trace(data)
    events = json.loads(render(tools, profile, "--format=json"))["traceEvents"]
    spans = sorted((event["name"], round(event["ts"] * 1000), max(1, round(event["dur"] * 1000))) for event in events
                   if event["ph"] == "X")
    expect(f"{what}: slices", spans and trace.slices() == spans, (trace.slices(), spans))
    memory = [(ns, trace.tracks[track][0], value) for ns, kind, track, _, value in trace.events if kind == COUNTER]
    wanted = [(round(event["ts"] * 1000), event["name"], event["args"]["bytes"]) for event in events if event["ph"] == "C"]
    expect(f"{what}: memory", wanted and sorted(memory) == sorted(wanted), (memory, wanted))
    submitted = [name for _, kind, _, name, _ in trace.events if kind == INSTANT]
    expect(f"{what}: submissions", len(submitted) == sum(event["ph"] == "i" for event in events), submitted)
    times = [ns for ns, *_ in trace.events]
    expect(f"{what}: order", times == sorted(times), times)
    paths = {trace.path(track) for _, _, track, *_ in trace.events}
    queue = "IREE HAL profile/device[0]/queue[0] stream=0/"
    expect(f"{what}: tracks", {queue + "host queue events", queue + "dispatch", queue + "host execution"} <= paths, paths)
    rows = subprocess.run([tools / "iree-profile", "export", profile], capture_output=True, check=True, timeout=60).stdout
    expect(f"{what}: rows", render(tools, profile, rows=rows) == data, "another trace")


def main():
    tools, folder = (pathlib.Path(argument) for argument in sys.argv[1:3])
    for profile in (HERE / "iree.ireeprof", folder / "local-sync.ireeprof", folder / "local-task.ireeprof"):
        check(tools.resolve(), profile)
    return report()


if __name__ == "__main__":
    sys.exit(main())
