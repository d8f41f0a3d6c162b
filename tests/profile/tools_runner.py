"""The tools in a folder, and what they say of a profile: what the programs of this folder that run them have alike."""

import json
import os
import subprocess


class ToolsRunner:
    def __init__(self, tools, folder, profile=None):
        self.tools, self.folder = tools, folder
        self.profile = profile and folder / profile

    def call(self, *command, **environment):
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env={**os.environ, **environment})

    def rows(self, *command):
        """What a command of iree-profile says of the profile."""
        result = self.call(self.tools / "iree-profile", *command, "--format=jsonl", self.profile)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def samples(self):
        """Values of each counter sample by counter, in the order of the dispatches."""
        samples = {}
        for row in self.rows("counter", "--counter_samples"):
            if row["type"] == "counter_sample":
                samples.setdefault(row["dispatch_event_id"], {})[row["counter"]] = row["value"]
        return [samples[key] for key in sorted(samples)]
