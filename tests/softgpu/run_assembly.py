"""Instructions in assembly on the software GPU, against what the manuals say, computed here.

    tests/softgpu/run_assembly.py --build build [--target gfx1100] [--only NAME]

Each case of assembly_cases.py and assembly_waves.py is a piece of code for some targets. One wave runs it, or as many as
it asks for: v0 is the work-item, s[4:5] the address of random input (also the buffer s[8:11]), s[6:7] that of the output
(also the buffer s[12:15]). At the end v[10:13] of each lane are stored; cases may write to the output themselves, behind
those.
"""

import pathlib
import re
import struct
import tempfile

import assembly_cases
import assembly_waves
import suite

TARGETS = ["gfx900", "gfx1010", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"]
INPUT, OUTPUT = 4096, 8192

GFX9 = {"LOAD_ARGUMENTS": "s_load_dwordx4", "STORE4": "global_store_dwordx4", "LOAD4": "global_load_dwordx4", "WAIT_SCALAR": "s_waitcnt lgkmcnt(0)",
        "WAIT_LDS": "s_waitcnt lgkmcnt(0)", "WAIT_LOAD": "s_waitcnt vmcnt(0)"}
GFX11 = {**GFX9, "LOAD_ARGUMENTS": "s_load_b128", "STORE4": "global_store_b128",
         "LOAD4": "global_load_b128"}
GFX12 = {**GFX11, "WAIT_SCALAR": "s_wait_kmcnt 0x0", "WAIT_LDS": "s_wait_dscnt 0x0", "WAIT_LOAD": "s_wait_loadcnt 0x0"}

CODE = """
  LOAD_ARGUMENTS s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  WAIT_SCALAR
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s12, s6
  s_mov_b32 s13, s7
  s_mov_b32 s10, {input}
  s_mov_b32 s14, {output}
  s_mov_b32 s11, {raw}
  s_mov_b32 s15, {raw}
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  s_nop 4
{code}
  WAIT_LOAD
  WAIT_LDS
  WAIT_SCALAR
  v_lshlrev_b32 v2, 4, v0
  STORE4 v2, v[10:13], s[6:7]
  s_endpgm
"""

FRAME = """
.amdgcn_target "amdgcn-amd-amdhsa--{target}"
.text
{kernels}
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
{metadata}
...
.end_amdgpu_metadata
"""
KERNEL = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{code}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 48
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_kernarg_size 16
{options}
.end_amdhsa_kernel
"""
METADATA = """  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 64
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: 48
    .vgpr_count: 64
    .max_flat_workgroup_size: 64"""


def lanes_of(target):
    return 64 if target.startswith("gfx9") else 32


def spell(code, target):
    words = GFX12 if target.startswith("gfx12") else GFX11 if target.startswith("gfx11") else GFX9
    # An offset of 0 in buffer instructions is a constant, on gfx12 a register.
    code = code.replace("], 0 ", "], null ") if target.startswith("gfx12") else code
    return re.sub(r"\b[A-Z][A-Z_0-9]+\b", lambda word: words.get(word[0], word[0]), code)


def assemble(cases, target, path):
    lanes = lanes_of(target)
    raw = assembly_cases.RAW[target]
    has_accumulation = target in ("gfx90a", "gfx942", "gfx950")
    options = ["  .amdhsa_wavefront_size32 1"] if lanes == 32 else ["  .amdhsa_accum_offset 64"] * has_accumulation
    kernels = [KERNEL.format(name=case.name, options="\n".join(options),
                             code=spell(CODE.format(code=case.code(target), raw=raw, input=INPUT, output=OUTPUT), target))
               for case in cases]
    metadata = [METADATA.format(name=case.name, lanes=lanes) for case in cases]
    source = path.with_suffix(".s")
    source.write_text(FRAME.format(target=target, kernels="\n".join(kernels), metadata="\n".join(metadata)))
    suite.call(["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", source, "-o", path])


def expected_of(case, target, values):
    """The output's bytes: results of the lanes, then what the case writes itself; and which words may be anything."""
    lanes = case.lanes(lanes_of(target))[1]
    out, anything = bytearray(OUTPUT), set()
    results = case.expect(target, lanes, values, out)
    for lane in range(lanes):
        for k, word in enumerate(results[lane]):
            if word is assembly_cases.ANY:
                anything.add(16 * lane + 4 * k)
            else:
                struct.pack_into("<I", out, 16 * lane + 4 * k, word & 0xffffffff)
    return bytes(out), anything


def difference(case, target, values, got):
    expected, anything = expected_of(case, target, values)
    for at in range(0, OUTPUT, 4):
        if at in anything or got[at:at + 4] == expected[at:at + 4]:
            continue
        ours, theirs = (struct.unpack_from("<I", data, at)[0] for data in (got, expected))
        where = f"lane {at // 16}, register {at // 4 % 4}" if at < 16 * case.lanes(lanes_of(target))[1] else f"byte {at} of the output"
        return f"{where} is 0x{ours:08x}, not 0x{theirs:08x}"
    return None


def run_target(options, target, folder):
    cases = [case for case in [*assembly_cases.CASES, *assembly_waves.CASES] if case.is_for(target) and options.only in case.name]
    path = folder / f"{target}.hsaco"
    assemble(cases, target, path)
    values = assembly_cases.input_values(INPUT)
    (folder / "in").write_bytes(values)
    lines = [f"load {path}"]
    for number, case in enumerate(cases):
        group, grid = case.lanes(lanes_of(target))
        lines += [f"run {case.name} {grid} {group} 0 0", f"in {folder / 'in'}",
                  f"out {OUTPUT} {folder / f'{target}-{number}.out'}", "go"]
    flags = [f"--target={target}", *([f"--check={options.check}"] if options.check else [])]
    result = suite.launch(options.build, flags, lines)
    said, failures = result.stdout.splitlines(), []
    for number, case in enumerate(cases):
        if number >= len(said) or not said[number].startswith("ok"):
            message = [line for line in result.stderr.splitlines() if case.name in line]
            failures.append(f"{case.name} {target}: {said[number] if number < len(said) else 'not run'} {message[:1]}")
        elif wrong := difference(case, target, values, (folder / f"{target}-{number}.out").read_bytes()):
            failures.append(f"{case.name} {target}: {wrong}")
    return len(cases), failures


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--check", help="checks of iree-softgpu to run under")
    options = parser.parse_args()
    count, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="iree-assembly-") as name:
        for target in options.target or TARGETS:
            number, failed = run_target(options, target, pathlib.Path(name))
            count, failures = count + number, failures + failed
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
