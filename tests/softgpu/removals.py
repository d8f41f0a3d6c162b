"""Waits in the disassembly of a code object, and why one of them may not be needed.

The analysis knows nothing of the software GPU's own checks: it follows registers through the text of the instructions, over
every path that branches allow.
"""

import re
import subprocess

LINE = re.compile(r"^\t(\S+)\s*(.*?)\s*// ([0-9A-F]{12}):")
SYMBOL = re.compile(r"^([0-9a-f]{16}) <(.*)>:")
REMOVABLE = re.compile(r"s_wait|s_nop|s_barrier|v_nop")
REGISTER = re.compile(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])|\b(vcc)")
MEMORY = re.compile(r"(global|flat|scratch|t?buffer|ds)_")
SCALAR_MEMORY = re.compile(r"s_(buffer_|scratch_)?(load|store|atomic)|s_memtime|s_memrealtime|s_sendmsg")
# What each wait counts, by a word in its operands or its name.
COUNTERS = {"vmcnt": "load", "loadcnt": "load", "vscnt": "store", "storecnt": "store", "lgkmcnt": "lgkm", "dscnt": "ds",
            "kmcnt": "km", "expcnt": "none", "samplecnt": "none", "bvhcnt": "none"}


def registers(text):
    """Names of the registers in an operand text."""
    names = set()
    for kind, one, first, last, vcc in REGISTER.findall(text):
        if vcc:
            names.add("vcc")
        else:
            names.update(f"{kind}{k}" for k in range(int(one or first), int(one or last) + 1))
    return names


class Site:
    """An instruction that may be left out."""

    def __init__(self, function, index, instruction, start):
        self.function, self.index, self.instruction = function, index, instruction
        self.offset = instruction[0] - start

    def __str__(self):
        return f"{self.function}+{self.offset:#x} '{' '.join(self.instruction[1:])}'"


class Code:
    """Functions of a code object, each a list of (address, mnemonic, operands)."""

    def __init__(self, functions, target):
        self.functions, self.target = functions, target
        self.places = {name: {one[0]: index for index, one in enumerate(code)} for name, code in functions.items()}
        self.before = {}

    def sites(self):
        for name, instructions in self.functions.items():
            for index, instruction in enumerate(instructions):
                if REMOVABLE.match(instruction[1]):
                    yield Site(name, index, instruction, instructions[0][0])

    def after(self, function, index):
        """Where control goes next."""
        address, name, operands = self.functions[function][index]
        places, following = self.places[function], []
        if name in ("s_endpgm", "s_setpc_b64"):
            return following
        if name.startswith(("s_cbranch", "s_branch")):
            offset = int(re.match(r"\d+", operands)[0])
            following.append(places.get(address + 4 + 4 * (offset - 65536 if offset > 32767 else offset)))
        if name != "s_branch":
            following.append(index + 1 if index + 1 < len(self.functions[function]) else None)
        return [one for one in following if one is not None]

    def predecessors(self, function):
        if function not in self.before:
            table = [[] for _ in self.functions[function]]
            for index in range(len(table)):
                for following in self.after(function, index):
                    table[following].append(index)
            self.before[function] = table
        return self.before[function]

    def walk(self, function, start, neighbours, stops):
        """Instructions on all paths from `start`, which is not among them unless a loop leads back, up to those that stop."""
        seen, work = set(), list(neighbours(start))
        while work:
            index = work.pop()
            if index in seen:
                continue
            seen.add(index)
            if not stops(self.functions[function][index]):
                work += neighbours(index)
        return seen

    def counts(self, instruction):
        """The counters of a wait, or those that an instruction raises."""
        name, operands = instruction[1], instruction[2]
        if name.startswith("s_wait"):
            return {counter for word, counter in COUNTERS.items() if word in f"{name} {operands}"}
        major = int(self.target[3:-2])
        if SCALAR_MEMORY.match(name):
            return {"km" if major >= 12 else "lgkm"}
        if not MEMORY.match(name):
            return set()
        shared = "ds" if major >= 12 else "lgkm"
        if name.startswith("ds_"):
            return {shared}
        is_store = "store" in name or ("atomic" in name and not re.search(r"\b(glc|sc0)\b|RETURN", operands))
        counter = "store" if is_store and major >= 10 else "load"
        return {counter, shared} if name.startswith("flat_") else {counter}

    def is_full_wait(self, instruction, counters):
        """Whether the instruction waits for everything of the counters."""
        name, operands = instruction[1], instruction[2]
        if not name.startswith("s_wait") or not counters <= self.counts(instruction):
            return False
        if "(" not in operands:
            return int(operands.replace("null,", "").strip(), 0) == 0
        return all(int(value) == 0 for word, value in re.findall(r"(\w+)\((\d+)\)", operands) if COUNTERS[word] in counters)

    def owed(self, instruction):
        """Registers that a memory instruction writes."""
        name, operands = instruction[1], instruction[2]
        if "store" in name or name.startswith("ds_write") or re.search(r"\blds\b", operands):
            return set()
        if name.startswith("ds_") and not re.search(r"read|load|rtn|permute|swizzle|ordered|consume|append", name):
            return set()
        if "atomic" in name and not re.search(r"\b(glc|sc0)\b|RETURN", operands):
            return set()
        return registers(operands.split(",")[0])

    def counter_reason(self, site):
        code, function = self.functions[site.function], site.function
        counters = self.counts(site.instruction) - {"none"}
        if not counters:
            return "nothing counts so"
        reasons = {self.one_counter_reason(site, code, function, {counter}) for counter in counters}
        return None if None in reasons else min(reasons)

    def one_counter_reason(self, site, code, function, counter):
        def stops(instruction):
            return self.is_full_wait(instruction, counter)

        before = self.predecessors(function)
        behind = self.walk(function, site.index, lambda index: before[index], stops)
        raised = [index for index in behind if counter & self.counts(code[index]) and not code[index][1].startswith("s_wait")]
        if not raised:
            return "nothing is under way"
        owed = set().union(*(self.owed(code[index]) for index in raised))
        ahead = self.walk(function, site.index, lambda index: self.after(function, index), stops)
        used = set().union(*(registers(code[index][2]) for index in ahead)) if ahead else set()
        if not owed & used:
            return "no register that it waits for is used before the next wait; of memory, only this wave's"
        near = self.straight(site, stops)
        if not any(self.owed(code[index]) & used for index in near if counter & self.counts(code[index])):
            return "for another path that leads there"
        return None

    def straight(self, site, stops):
        """Instructions right before, up to where paths meet or everything is waited for."""
        before, index, found = self.predecessors(site.function), site.index, []
        while len(before[index]) == 1 and before[index][0] == index - 1:
            index -= 1
            if stops(self.functions[site.function][index]):
                break
            found.append(index)
        return found

    def alu_reason(self, site, kernels):
        """s_wait_alu: needed where a scalar register is written that vector instructions have read."""
        code = self.functions[site.function]
        field = re.search(r"depctr_(\w+)\(", site.instruction[2])[1]
        if site.function not in kernels:
            return "in a called function any register counts as read by vector instructions"
        near = self.straight(site, lambda one: one[1] == "s_wait_alu" and field in one[2])
        kind = "s_" if field == "sa_sdst" else "v_"
        written = set().union(*(registers(code[k][2].split(",")[0]) | ({"vcc"} if "vcc" in code[k][2] else set())
                                for k in near if code[k][1].startswith(kind))) if near else set()
        written = {one for one in written if one[0] == "s" or one == "vcc"}
        ahead = self.walk(site.function, site.index, lambda index: self.after(site.function, index),
                          lambda one: one[1] == "s_wait_alu" and field in one[2])
        used = set().union(*(registers(code[index][2]) for index in ahead)) if ahead else set()
        return None if written & used else "for another path that leads there"

    def idle_reason(self, site):
        code, index = self.functions[site.function], site.index
        if not 0 < index < len(code) - 1:
            return None
        first, second = code[index - 1][1], code[index + 1][1]
        if MEMORY.match(first) and MEMORY.match(second) or SCALAR_MEMORY.match(first) and SCALAR_MEMORY.match(second):
            return "ends a clause for XNACK, which is off"
        if first == second == "v_writelane_b32":
            return "the compiler takes the pair that it spills as written anew"
        if first.startswith("v_pk_"):
            return "packed results are whole registers: the compiler takes op_sel_hi for a part"
        if second.startswith("s_sendmsg"):
            return "before registers are given back"
        return None

    def harmless(self, site, kernels, is_one_wave):
        """Why an instruction that no check misses may be left out; None where it seems to be needed."""
        name = site.instruction[1]
        if name.startswith("s_barrier"):
            return "one wave" if is_one_wave else "no other wave touches what it orders"
        if name in ("s_wait_alu", "s_waitcnt_depctr"):
            return self.alu_reason(site, kernels)
        return self.counter_reason(site) if name.startswith("s_wait") else self.idle_reason(site)


def disassemble(path, target):
    text = subprocess.run(["llvm-objdump-22", "-d", str(path)], capture_output=True, text=True, check=True).stdout
    functions, current = {}, None
    for line in text.splitlines():
        if found := SYMBOL.match(line):
            if not re.fullmatch(r"L\d+", found[2]):
                current = functions.setdefault(found[2], [])
        elif (found := LINE.match(line)) and current is not None:
            current.append((int(found[3], 16), found[1], found[2]))
    return Code(functions, target)
