"""Waits in the disassembly of a code object, and why one of them may not be needed."""

import re
import subprocess

LINE = re.compile(r"^\t(\S+)\s*(.*?)\s*// ([0-9A-F]{12}):")
SYMBOL = re.compile(r"^([0-9a-f]{16}) <(.*)>:")
REMOVABLE = re.compile(r"s_wait|s_nop|s_barrier|v_nop")


class Site:
    """An instruction that may be left out."""

    def __init__(self, function, index, instruction, start):
        self.function, self.index, self.instruction = function, index, instruction
        self.offset = instruction[0] - start

    def __str__(self):
        return f"{self.function}+{self.offset:#x} '{self.instruction[1]} {self.instruction[2]}'"


class Code:
    """Functions of a code object, each a list of (address, mnemonic, operands)."""

    def __init__(self, functions, target):
        self.functions, self.target = functions, target

    def sites(self):
        for name, instructions in self.functions.items():
            for index, instruction in enumerate(instructions):
                if REMOVABLE.match(instruction[1]):
                    yield Site(name, index, instruction, instructions[0][0])

    def harmless(self, site):
        return None


def disassemble(path, target):
    text = subprocess.run(["llvm-objdump-22", "-d", str(path)], capture_output=True, text=True, check=True).stdout
    functions, current = {}, None
    for line in text.splitlines():
        if found := SYMBOL.match(line):
            if not found[2].startswith("L"):
                current = functions.setdefault(found[2], [])
        elif (found := LINE.match(line)) and current is not None:
            current.append((int(found[3], 16), found[1], found[2]))
    return Code(functions, target)
