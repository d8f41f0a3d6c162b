"""What the software GPU's checks find: a right kernel, and the same with one line taken out or made wrong.

    tests/softgpu/run_checks.py --build build [--target gfx1100]

The kernel below is written once and spelled for each target. As it stands no check may say anything; each line marked
`!` is then taken out, and each edit of EDITS made: the message must begin with what stands there.
"""

import pathlib
import re
import struct
import tempfile

import suite

ITEMS, GROUP = 256, 128

# Adds two loads, passes the sum to another wave through workgroup memory, counts with an atomic operation.
KERNEL = """
  LOAD_ARGUMENTS s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s8, GROUP_ID, 9
  ADD v2, s8, v1
! wait: WAIT_SCALAR
  LOAD v3, v2, s[4:5]
  LOAD v4, v1, s[4:5]
! wait: WAIT_LOAD_1
  ADD v5, 1, v3
! wait: WAIT_LOAD_0
  ADD v5, v5, v4
! uninitialized: LDS_STORE v1, v5
! race: WAIT_LDS
! race|uninitialized: BARRIER
  v_xor_b32 v6, 0x100, v1
  LDS_LOAD v7, v6
! wait: WAIT_LDS
  v_mov_b32 v8, 1
  v_mov_b32 v9, 0
  COUNT v10, v9, v8, s[6:7] offset:1024 RETURN
  STORE v2, v7, s[6:7]
! wait: WAIT_LOAD_0
  ADD v11, v10, v8
  v_mov_b32 v10, v11
  s_endpgm
"""

# (what is replaced, by what, what the message begins with)
EDITS = [
    ("s_lshl_b32 s8, GROUP_ID, 9", "s_lshl_b32 s8, GROUP_ID, 28", "out of bounds"),
    ("COUNT v10, v9, v8, s[6:7] offset:1024 RETURN", "COUNT v10, v9, v8, s[6:7] offset:1026 RETURN", "misaligned"),
    ("LDS_STORE v1, v5", "LDS_STORE v1, v5 offset:4096", "out of bounds"),
    ("ADD v5, v5, v4", "ADD v5, v5, v40", "uninitialized"),
    ("ADD v5, v5, v4", "STORE v1, v2, s[4:5]", "race"),
    ("v_mov_b32 v8, 1", "v_mov_b32 v7, 1", "wait|uninitialized"),
]

GFX9 = {"LOAD_ARGUMENTS": "s_load_dwordx4", "LOAD": "global_load_dword", "STORE": "global_store_dword",
        "LDS_STORE": "ds_write_b32", "LDS_LOAD": "ds_read_b32", "COUNT": "global_atomic_add", "RETURN": "glc",
        "ADD": "v_add_u32", "GROUP_ID": "s2", "WAIT_SCALAR": "s_waitcnt lgkmcnt(0)", "WAIT_LDS": "s_waitcnt lgkmcnt(0)",
        "WAIT_LOAD_1": "s_waitcnt vmcnt(1)", "WAIT_LOAD_0": "s_waitcnt vmcnt(0)", "BARRIER": "s_barrier", "VCC": "vcc",
        "SAVE_LANES": "s_and_saveexec_b64 s[12:13], vcc", "RESTORE_LANES": "s_mov_b64 exec, s[12:13]",
        "COPY_TO": "v_accvgpr_write_b32 a0, v6", "COPY_BACK": "v_accvgpr_read_b32 v7, a0"}
GFX10 = {**GFX9, "ADD": "v_add_nc_u32", "VCC": "vcc_lo", "SAVE_LANES": "s_and_saveexec_b32 s12, vcc_lo",
         "RESTORE_LANES": "s_mov_b32 exec_lo, s12", "COPY_TO": "v_mov_b32 v24, v6", "COPY_BACK": "v_mov_b32 v7, v24"}
GFX11 = {**GFX10, "LOAD_ARGUMENTS": "s_load_b128", "LOAD": "global_load_b32", "STORE": "global_store_b32",
         "LDS_STORE": "ds_store_b32", "LDS_LOAD": "ds_load_b32", "COUNT": "global_atomic_add_u32"}
GFX12 = {**GFX11, "GROUP_ID": "ttmp9", "WAIT_SCALAR": "s_wait_kmcnt 0x0", "WAIT_LDS": "s_wait_dscnt 0x0",
         "WAIT_LOAD_1": "s_wait_loadcnt 0x1", "WAIT_LOAD_0": "s_wait_loadcnt 0x0", "RETURN": "th:TH_ATOMIC_RETURN",
         "BARRIER": "s_barrier_signal -1\n s_barrier_wait -1"}
SPELLINGS = {"gfx90a": GFX9, "gfx942": {**GFX9, "RETURN": "sc0"}, "gfx1010": GFX10, "gfx1030": GFX10, "gfx1100": GFX11,
             "gfx1201": GFX12}

# What nobody wrote may be copied, spilled and left unselected; taken out, a `!` line leaves an address, a branch, EXEC,
# a store or an atomic operation with it, at once or by way of other registers and workgroup memory.
UNWRITTEN_KERNEL = """
! uninitialized: LOAD_ARGUMENTS s[4:7], s[0:1], 0x0
! uninitialized: s_movk_i32 s9, 7
! uninitialized: s_cmp_lg_u32 s9, 0
  s_cbranch_scc0 end
  v_and_b32 v0, 0x3ff, v0
! uninitialized: v_lshlrev_b32 v1, 2, v0
  s_mov_b64 s[10:11], s[14:15]
  v_writelane_b32 v20, s10, 1
  v_readlane_b32 s14, v20, 1
  v_mov_b32 v21, v22
! uninitialized: s_lshl_b32 s8, GROUP_ID, 9
! uninitialized: ADD v2, s8, v1
  WAIT_SCALAR
! uninitialized: LOAD v3, v2, s[4:5]
! uninitialized: v_mov_b32 v4, 1
! uninitialized: v_cmp_gt_u32 VCC, 16, v0
! uninitialized: SAVE_LANES
  v_mov_b32 v4, s9
  RESTORE_LANES
  v_cmp_gt_u32 VCC, 0, v0
! uninitialized: v_cndmask_b32 v5, v4, v21, VCC
  WAIT_LOAD_0
  ADD v5, v5, v3
! uninitialized: v_writelane_b32 v23, s9, 2
! uninitialized: v_readlane_b32 s10, v23, 2
  ADD v5, s10, v5
! uninitialized: LDS_STORE v1, v5
  WAIT_LDS
! uninitialized: LDS_LOAD v6, v1
  WAIT_LDS
! uninitialized: COPY_TO
! uninitialized: COPY_BACK
  STORE v2, v7, s[6:7]
! uninitialized: v_mov_b32 v8, 1
! uninitialized: v_mov_b32 v9, 0
  COUNT v10, v9, v8, s[6:7] offset:1024 RETURN
end:
  s_endpgm
"""

GFX9_TARGETS = ["gfx90a", "gfx942"]
# (targets, two instructions, what keeps them apart well enough, what the message begins with). Registers v4 to v15 are 0,
# v2 is the lane's byte of memory, s[6:7] the output.
HAZARDS = [
    (GFX9_TARGETS, "global_store_dwordx4 v2, v[4:7], s[6:7]", "v_mov_b32 v6, 1", "s_nop 1"),
    (["gfx90a"], "buffer_store_dwordx4 v[4:7], off, s[8:11], 0", "v_mov_b32 v6, 1", "s_nop 1"),
    (GFX9_TARGETS, "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v9, 1", "s_nop 6"),
    (GFX9_TARGETS, "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v20, v13", "s_nop 10"),
    (GFX9_TARGETS, "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "global_store_dword v2, v13, s[6:7]", "s_nop 10"),
    (GFX9_TARGETS, "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v13, 1", "s_nop 10"),
    (["gfx90a"], "v_readfirstlane_b32 s6, v1", "global_load_dword v20, v2, s[6:7]", "s_nop 4"),
    (["gfx90a"], "v_readfirstlane_b32 s16, v4", "v_readlane_b32 s17, v4, s16", "s_nop 3"),
    (["gfx90a"], "v_cmp_eq_f32 vcc, v4, v5", "v_div_fmas_f32 v6, v4, v4, v5", "s_nop 3"),
    (["gfx90a"], "v_mov_b32 v5, 1", "v_mov_b32_dpp v6, v5 row_shl:1 row_mask:0xf bank_mask:0xf", "s_nop 1"),
    (["gfx1010"], "s_load_dword s16, s[4:5], 0x0", "v_readfirstlane_b32 s4, v1", "s_waitcnt lgkmcnt(0)"),
    (["gfx1010"], "s_load_dword s16, s[4:5], 0x0", "v_readfirstlane_b32 s4, v1", "s_mov_b32 s17, 0"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "s_mov_b32 s6, 0", "s_waitcnt_depctr 0xffe3"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "s_mov_b32 s6, 0", "v_nop"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "v_cmpx_eq_u32 v4, v5", "s_waitcnt_depctr 0xfffe"),
]
HAZARD_KERNEL = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s6
""" + "".join(f"  v_mov_b32 v{k}, 0\n" for k in range(4, 16)) + """  s_mov_b32 s8, s6
  s_mov_b32 s9, s7
  s_mov_b32 s10, 1024
  s_mov_b32 s11, 0x27000
  s_nop 15
  {first}
  {between}
  {second}
  s_endpgm
"""
MATRICES = {"gfx90a": "v_mfma_f32_16x16x16f16", "gfx942": "v_mfma_f32_16x16x16_f16"}

FRAME = """
.amdgcn_target "amdgcn-amd-amdhsa--{target}"
.text
.globl checked
.p2align 8
.type checked,@function
checked:
{code}
.rodata
.p2align 6
.amdhsa_kernel checked
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 48
  .amdhsa_next_free_sgpr 16
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_kernarg_size 16
{options}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: checked
    .symbol: checked.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: 16
    .vgpr_count: 48
    .max_flat_workgroup_size: 128
...
.end_amdgpu_metadata
"""


def variants(kernel, edits=()):
    """(name, kernel, pattern that the message begins with, or None where there must be none)"""
    lines = kernel.strip("\n").splitlines()

    def plain(chosen):
        return "\n".join(re.sub(r"^! [\w|]+: ", "  ", line) for line in chosen)

    yield "the kernel as it is", plain(lines), None
    for index, line in enumerate(lines):
        if marked := re.match(r"! ([\w|]+): (.*)", line):
            yield f"without '{marked[2]}' (line {index + 1})", plain(lines[:index] + lines[index + 1:]), marked[1]
    for old, new, expected in edits:
        assert old in kernel, old
        yield f"'{new}'", plain(kernel.strip("\n").replace(old, new).splitlines()), expected


def hazards(target):
    """(name, kernel, pattern): hazards, and the same with what must be between."""
    for targets, first, second, between in HAZARDS:
        if target in targets:
            first = first.replace("MATRIX", MATRICES.get(target, ""))
            for gap in ("", between):
                name = f"'{first}', '{gap}', '{second}'" if gap else f"'{first}', '{second}'"
                yield name, HAZARD_KERNEL.format(first=first, between=gap, second=second), None if gap else "wait"


def assemble(code, target, path):
    spelling = SPELLINGS.get(target, {})
    code = re.sub(r"\b[A-Z][A-Z_0-9]+\b", lambda word: spelling.get(word[0], word[0]), code)
    lanes = 64 if target.startswith("gfx9") else 32
    options = [] if lanes == 64 else ["  .amdhsa_wavefront_size32 1"]
    options += ["  .amdhsa_accum_offset 48"] if lanes == 64 else []
    source = path.with_suffix(".s")
    source.write_text(FRAME.format(target=target, code=code, options="\n".join(options), lanes=lanes))
    suite.call(["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", source, "-o", path])


def check_one(options, target, folder, number, variant, checks="all", has_results=False):
    """What is wrong with one variant (name, kernel, pattern), or None."""
    name, code, expected = variant
    path = folder / f"{target}-{number}.hsaco"
    assemble(code, target, path)
    values, out = folder / "in", folder / f"{target}-{number}.out"
    values.write_bytes(struct.pack(f"<{ITEMS}I", *range(100, 100 + ITEMS)))
    script = [f"load {path}", f"run checked {ITEMS} {GROUP} 0 0", f"in {values}", f"out {4 * ITEMS + 4} {out}", "go"]
    result = suite.launch(options.build, [f"--target={target}", f"--check={checks}"], script)
    said = " ".join(line for line in result.stderr.splitlines() if line.startswith("softgpu:"))
    if expected:
        found = re.search(rf"GPU 0: ({expected}):", said)
        return None if found else f"{target}: {name}: not found; the checks said '{said[:300]}'"
    if said or not result.stdout.startswith("ok"):
        return f"{target}: {name}: {said[:300] or result.stdout}"
    if not has_results:
        return None
    inputs = range(100, 100 + ITEMS)
    right = [inputs[i ^ 64] + 1 + inputs[i % GROUP ^ 64] for i in range(ITEMS)] + [ITEMS]
    got = list(struct.unpack(f"<{ITEMS + 1}I", out.read_bytes()))
    return None if got == right else f"{target}: {name}: wrong results"


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", action="append", default=[])
    options = parser.parse_args()
    count, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="iree-checks-") as name:
        for target in options.target or [*suite.TARGETS, "gfx1010"]:
            cases = [(variant, "all", True) for variant in variants(KERNEL, EDITS) if target in suite.TARGETS]
            cases += [(variant, "all", False) for variant in hazards(target)]
            # Without its hazards, which would be reported first.
            cases += [(variant, "uninitialized", False) for variant in variants(UNWRITTEN_KERNEL)]
            for number, case in enumerate(cases):
                if wrong := check_one(options, target, pathlib.Path(name), number, *case):
                    failures.append(wrong)
            count += len(cases)
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
