"""What the software GPU says of kernels: counters whose values are known by hand, and what a report names.

    tests/softgpu/run_reports.py --build build
"""

import pathlib
import re
import tempfile

import run_checks
import suite

# Of a wave: 4 loops; lanes read workgroup memory 8 bytes apart, so that two meet in each bank.
KERNEL = """
  LOAD_ARGUMENTS s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  WAIT_SCALAR
  LOAD v2, v1, s[4:5]
  v_lshlrev_b32 v3, 3, v0
  v_and_b32 v3, 0x1ff, v3
  s_mov_b32 s8, 4
loop:
  ADD v4, 1, v0
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 loop
  WAIT_LOAD_0
  LDS_STORE v1, v2
  WAIT_LDS
  BARRIER
  LDS_LOAD v5, v3
  WAIT_LDS
  STORE v1, v5, s[6:7]
  s_nop 0
  s_endpgm
"""
# By wave; `lanes` and `bytes` are those of a wave times the factor.
COUNTS = {"scalar instructions": 1 + 4 * 2, "scalar memory instructions": 1, "vector instructions": 4 + 4,
          "workgroup memory instructions": 2, "vector memory instructions": 2, "branches": 4 + 1, "waits for counters": 4,
          "messages, hints and cache operations": 1, "matrix instructions": 0}
OF_LANES = {"vector operations, one for each active lane": 8, "bytes written to global memory": 4,
            "bytes read from workgroup memory": 4, "bytes written to workgroup memory": 4}
ITEMS, GROUP = 256, 128


def launch(build, target, options, script):
    return suite.launch(build, [f"--target={target}", *options], script, timeout=120)


def counters(build, target, folder):
    path, lanes = folder / f"{target}.hsaco", 64 if target.startswith("gfx9") else 32
    run_checks.assemble(KERNEL, target, path)
    values = folder / "in"
    values.write_bytes(bytes(4 * ITEMS))
    result = launch(build, target, ["--stats"], [f"load {path}", f"run checked {ITEMS} {GROUP} {(32 << 10) - 512} 0", f"in {values}",
                                                 f"out {4 * ITEMS} {folder / 'out'}", "go"])
    said = {match[2]: match[1] for match in re.finditer(r"^ +(\d+) (.*)$", result.stderr, re.MULTILINE)}
    waves, barriers = ITEMS // lanes, 2 if target.startswith("gfx12") else 1
    wanted = {"dispatches": 1, "workgroups": ITEMS // GROUP, "waves": waves, "bytes read from global memory":
              waves * (16 + 4 * lanes), "barriers": waves * barriers,
              "instructions of the longest wave of each dispatch": barriers + sum(COUNTS.values()),
              "cycles lost to workgroup memory bank conflicts": waves * lanes // 32, "bytes read from scratch": 0,
              **{name: count * waves for name, count in COUNTS.items()},
              **{name: count * waves * lanes for name, count in OF_LANES.items()}}
    wrong = [f"{name}: {said.get(name)}, not {count}" for name, count in wanted.items() if said.get(name) != str(count)]
    # 32 KiB of workgroup memory: two workgroups of two waves of 64 on four SIMDs for 8 waves each; or four of four waves
    # of 32, on four for 16 waves each.
    occupancy = "12.5%" if lanes == 64 else "25.0%"
    if f" {occupancy} occupancy" not in result.stderr:
        wrong.append(f"occupancy is not {occupancy}")
    return f"counters of {target}: {'; '.join(wrong)} {result.stderr[-200:] if not said else ''}" if wrong else None


REPORTS = """
kernel void divergent(global const int* in, global int* out) {
  int i = __builtin_amdgcn_workitem_id_x();
  if ((in[i] & 31) < 5) {
    __builtin_amdgcn_s_barrier(); // divergent: barrier: lane \\d+ goes on
    out[i] = 1;
  }
  ((volatile global int*)out)[128 + i] = 2;
}
kernel void early(global const int* in, global int* out) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (__builtin_amdgcn_readfirstlane(i) >= 64) return; // early: barrier: wave \\d+ of the workgroup ends
  __builtin_amdgcn_s_barrier();
  out[i] = in[i];
}
kernel void wild(global const int* in, global int* out) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i == 7) out[i + 1000000] = in[i]; // wild: out of bounds: lane 7 writes 4 bytes at 0x
}
kernel void unwritten(global const int* in, global int* out) {
  local int shared[64];
  int i = __builtin_amdgcn_workitem_id_x();
  if (i == 70) shared[3] = in[0];
  out[i] = ((volatile local int*)shared)[i & 31]; // unwritten: uninitialized: register v\\d+ of lane 0 is stored; it comes from byte 0 of workgroup memory
}
kernel void racing(global const int* in, global int* out) {
  local int shared[64];
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < 32) shared[i] = in[i] + i;
  if (i >= 64) out[i] = ((volatile local int*)shared)[i & 31]; // racing: race: lane \\d+ reads byte \\d+ of workgroup memory
}
kernel void between(global const int* in, global int* out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = i + 1000 * __builtin_amdgcn_workgroup_id_x(); // between: race: lane \\d+ writes 0x
}
"""


def reports(build, target, folder):
    """Each kernel's report names what its comment says, the line with the comment, kernel, wave, lanes, instruction."""
    source, path, values = folder / "reports.cl", folder / "reports.hsaco", folder / "in"
    source.write_text(REPORTS.replace("\\\\", "\\"))
    values.write_bytes(b"".join(value.to_bytes(4, "little") for value in range(128)))
    suite.call(["clang-22", "-x", "cl", "-cl-std=CL2.0", "-w", "-g", "-O1", "-target", "amdgcn-amd-amdhsa",
                f"-mcpu={target}", "-nogpulib", source, "-o", path])
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if not (wanted := re.search(r"// (\w+): (.*)", line)):
            continue
        kernel, message = wanted[1], wanted[2]
        result = launch(build, target, ["--check=all"], [f"load {path}", f"run {kernel} {128 if kernel == 'divergent' else 256} 128 0 0", f"in {values}",
                                                         f"out 1024 {folder / 'out'}", "go"])
        said = [text for text in result.stderr.splitlines() if text.startswith("softgpu:")]
        place = rf"reports\.cl:{number}, " if kernel != "early" else ""
        pattern = rf"GPU 0: {message}.*; workgroup \[\d, 0, 0\], wave \d, lanes 0x\w+, .*{place}kernel {kernel}\+0x\w+: \w+"
        fine = len(said) == 1 and re.search(pattern, said[0]) and result.stdout.startswith("failed")
        yield None if fine else f"report of {kernel} on {target}: {said or result.stdout + result.stderr}, not '{pattern}'"


def stuck(build, folder):
    """Waves that wait without having signalled end without any check asked for."""
    path, values = folder / "stuck.hsaco", folder / "in"
    run_checks.assemble("s_barrier_wait -1\n s_endpgm", "gfx1201", path)
    values.write_bytes(bytes(4))
    result = launch(build, "gfx1201", [], [f"load {path}", "run checked 64 64 0 0", f"in {values}", f"in {values}", "go"])
    fine = "GPU 0: barrier: 0 of 2 waves of the workgroup have ended, and the others wait for ever" in result.stderr
    return None if fine else f"waves that wait for ever: {result.stderr[-300:]}"


def main():
    parser = suite.arguments(__doc__)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-reports-") as name:
        folder = pathlib.Path(name)
        results = [counters(options.build, target, folder) for target in suite.TARGETS]
        results.append(stuck(options.build, folder))
        for target in ("gfx1100", "gfx942"):
            results += reports(options.build, target, folder)
    suite.finish(len(results), [failure for failure in results if failure])


if __name__ == "__main__":
    main()
