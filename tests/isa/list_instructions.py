"""Prints the compute instructions that LLVM knows for an AMD target, one mnemonic a line, without encoding suffixes.

Every opcode of every encoding is given to LLVM's disassembler with a few fillings of its operands; what it prints is a
mnemonic. Images, interpolation and export are left out. Usage: list_instructions.py TARGET... [--unit=valu|salu|...]
"""
import argparse
import re
import shutil
import subprocess
import sys

SUFFIX = re.compile(r"_(e32|e64|e96|dpp|dpp8|sdwa|e64_dpp|e64_dpp8|gfx\d+)$")
SKIPPED = re.compile(r"^(v_interp_|image_|exp|lds_|buffer_gl|tbuffer_.*_d16_(lo|hi)$|s_code_end|v_nop$|v_illegal)")


def words(*values):
    return b"".join(v.to_bytes(4, "little") for v in values)


def vector_alu(generation):
    """VOP1, VOP2, VOPC, VOP3 and VOP3P; registers even, so that aligned pairs and larger tuples are accepted."""
    for op in range(256):
        for source in (0x108, 0x102, 2):
            yield words(0x7E000000 | 2 << 17 | op << 9 | source, 0)
            yield words(0x7C000000 | op << 17 | 4 << 9 | source, 0)
    for op in range(64):
        yield words(op << 25 | 2 << 17 | 4 << 9 | 0x108, 0)
    base = 0xD0000000 if generation == 9 else 0xD4000000
    for op in range(1024):
        for destination in (8, 0x6A, 2 | 0x6A << 8):
            for first in (0x110, 16):
                for third in (0x120, 32, 0x6A, 0):
                    second = 0 if third == 0 else 0x118
                    yield words(base | op << 16 | destination, first | second << 9 | third << 18, 0)
    packed = 0xD3800000 if generation == 9 else 0xCC000000
    for op in range(128):
        for destination in (64, 0x8000 | 64):
            for high in (0, 3 << 27):
                for first in (0x140, 0x180):
                    for third in (0x1C0, 0x100 | 64, 0x80, 0):
                        second = 0 if third == 0 else 0x150
                        yield words(packed | op << 16 | destination, first | second << 9 | third << 18 | high, 0, 0)


def scalar_alu(generation):
    for op in range(256):
        for source in (4, 0x80):
            yield words(0xBE800000 | 2 << 16 | op << 8 | source)
        for source in (4 | 6 << 8, 4 | 8 << 8):
            yield words(0xBF000000 | (op & 127) << 16 | source)
            yield words(0x80000000 | (op & 63) << 23 | 2 << 16 | source, 0)
        yield words(0xB0000000 | (op & 31) << 23 | 4 << 16, 0)
        yield words(0xBF800000 | (op & 127) << 16)


def scalar_memory(generation):
    base = 0xC0000000 if generation == 9 else 0xF4000000
    for op in range(256):
        for target in (16, 0):
            for flags in (0, 1 << 17):
                yield words(base | op << 18 | target << 6 | 4, 0)
                yield words(base | op << 18 | target << 6 | 4 | flags, 0x7C << 25)
                yield words(base | (op & 63) << 13 | target << 6 | 4, 0x7C << 25)


def workgroup_memory(generation):
    base = 0xD8000000
    for op in range(256):
        for shift in (17, 18):
            for data in (0, 4 << 8, 4 << 8 | 8 << 16):
                for result in (0, 16 << 24):
                    yield words(base | op << shift, 2 | data | result)


def vector_memory(generation):
    for op in range(256):
        for segment in range(4):
            for saddr in (0x7F, 0x7D, 0x7C, 4, 0):
                for data in (0, 4 << 8, 16 << 24, 4 << 8 | 16 << 24):
                    yield words(0xDC000000 | op << 18 | segment << 14, 2 | saddr << 16 | data)
                    yield words(0xDC000000 | op << 18 | segment << 16, 2 | saddr << 16 | data)
                if generation == 12:
                    yield words(0xEC000000 | segment << 24 | op << 14 | saddr, 16 | 4 << 23, 2)
        yield words(0xE0000000 | op << 18, 2 | 16 << 8 | 1 << 16 | 0x80 << 24)
        yield words(0xC4000000 | op << 14 | 0x7C, 16 | 4 << 9, 2)
        for format in (1, 22):
            yield words(0xE8000000 | (op & 15) << 15 | format << 19, 2 | 16 << 8 | 1 << 16 | 0x80 << 24)
            yield words(0xE8000000 | (op & 7) << 16 | format << 19 | 0, 2 | 16 << 8 | 1 << 16 | 0x80 << 24 | 0x200000)
            yield words(0xC4200000 | (op & 15) << 14 | 0x7C, 16 | 4 << 9 | format << 23, 2)


UNITS = {
    "valu": vector_alu,
    "salu": scalar_alu,
    "smem": scalar_memory,
    "lds": workgroup_memory,
    "vmem": vector_memory,
}


def generation_of(target):
    return int(re.match(r"gfx(\d+)[0-9a-f]{2}$", target).group(1))


def disassemble(tool, target, encodings):
    lines = "\n".join(",".join("0x%02x" % b for b in e) for e in dict.fromkeys(encodings)) + "\n"
    attributes = [] if generation_of(target) == 9 else ["-mattr=+wavefrontsize32"]
    command = [tool, "--disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu=" + target] + attributes
    return subprocess.run(command, input=lines, capture_output=True, text=True).stdout.splitlines()


def list_texts(target, units, tool=None):
    """One line of text for each distinct mnemonic with its suffix."""
    tool = tool or shutil.which("llvm-mc-22") or shutil.which("llvm-mc") or "/usr/lib/llvm-22/bin/llvm-mc"
    texts = {}
    for unit in units:
        for line in disassemble(tool, target, list(UNITS[unit](generation_of(target)))):
            text = line.split("//")[0].split(";")[0].strip()
            if text and not text.startswith("."):
                texts.setdefault(text.split()[0], text)
    return texts


def plain_name(mnemonic):
    while True:
        shorter = SUFFIX.sub("", mnemonic)
        if shorter == mnemonic:
            return mnemonic
        mnemonic = shorter


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--unit", action="append", choices=sorted(UNITS))
    parser.add_argument("--text", action="store_true", help="print an example of each encoding")
    options = parser.parse_args()
    names = {}
    for target in options.targets:
        for mnemonic, text in list_texts(target, options.unit or UNITS).items():
            name = plain_name(mnemonic)
            if not SKIPPED.match(name):
                names.setdefault(text if options.text else name, None)
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    sys.exit(main())
