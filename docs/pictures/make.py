"""Runs the examples and draws what they print: docs/pictures/*.svg, which README shows.

    .venv/bin/pip install -r build_tools/requirements-docs.txt
    .venv/bin/python docs/pictures/make.py --build build
"""

import argparse
import pathlib
import subprocess

import rich.console
import rich.text

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PICTURES = {"demo": "examples/digits/demo.sh", "edit_assembly": "examples/edit_assembly/demo.sh"}
WIDTH = 112
# A window without decoration, in whatever monospaced font the reader has.
WINDOW = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
<rect width="100%" height="100%" rx="8" fill="#10151c"/>
<g transform="translate({terminal_x}, 16)" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def style_of(line):
    if line.startswith("$ "):
        return "bold bright_white"
    return "bright_red" if line.startswith("softgpu:") else "white"


def draw(name, script, build):
    text = subprocess.run([ROOT / script, build], capture_output=True, text=True, check=True).stdout.strip()
    console = rich.console.Console(record=True, width=WIDTH, file=open("/dev/null", "w", encoding="utf-8"))
    style = None
    for line in text.splitlines():
        continues = style == "bright_red" and line
        style = style if continues else style_of(line)
        console.print(rich.text.Text(line.expandtabs(8), style=style), highlight=False)
    svg = console.export_svg(title="", code_format=WINDOW, unique_id=name)
    (HERE / f"{name}.svg").write_text(svg, encoding="utf-8")
    print(HERE / f"{name}.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    build = parser.parse_args().build
    for name, script in PICTURES.items():
        draw(name, script, build)


if __name__ == "__main__":
    main()
