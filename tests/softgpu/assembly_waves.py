"""More cases of run_assembly.py: waves that wait for each other, what all lanes share, products with shared scales."""

import struct

import numpy as np

from assembly_cases import SINGLES, Case, is_newer, same, single


def skips():
    """MODE's VSKIP: nothing of the vector unit happens, and what is scalar goes on, over a barrier and a branch."""
    return Case("skips", "gfx9.*", """v_mov_b32 v10, 1
  v_lshlrev_b32 v20, 2, v0
  v_mov_b32 v11, 2
  ds_write_b32 v20, v11
  s_mov_b32 s20, 3
  s_mov_b64 s[24:25], 0
  s_setvskip -1, 0
  s_nop 4
  v_mov_b32 v10, 5
  v_cmp_eq_u32 s[24:25], 0, v20
  ds_write_b32 v20, v10
  s_mov_b32 s20, 7
  s_barrier
  s_branch skips_over
  s_mov_b32 s20, 9
skips_over:
  global_load_dword v10, v20, s[4:5]
  v_readfirstlane_b32 s20, v20
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0
  s_nop 4
  ds_read_b32 v11, v20
  WAIT_LDS
  v_mov_b32 v12, s20
  v_mov_b32 v13, s24""", lambda target, lanes, values, out: [[1, 2, 7, 0]] * lanes)


def kills():
    """The second wave ends itself; 0 does nothing."""
    return Case("kills", "gfx.*", """v_readfirstlane_b32 s20, v0
  v_mov_b32 v10, 3
  s_setkill 0
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc0 kills_over
  s_setkill 1
kills_over:
""", lambda target, lanes, values, out: [[3, 0, 0, 0]] * (lanes // 2) + [[0, 0, 0, 0]] * (lanes // 2), waves=2)


def second_sources():
    """Both operands in workgroup memory, the second by the offset and by the address's upper bits."""
    return Case("second_sources", "gfx90[0-8]|gfx101.", lambda target: """v_lshlrev_b32 v20, 3, v0
  v_add_nc_u32 v20, 8, v20
  v_add_nc_u32 v21, 100, v0
  v_mov_b32 v22, 11
  v_mov_b32 v24, 0
  s_mov_b32 m0, -1
  ds_write2_b32 v24, v22, v22 offset1:1
  ds_write2_b32 v20, v21, v22 offset1:1
  v_or_b32 v23, 0x20000, v20
  ds_add_src2_u32 v20 offset:1
  ds_sub_src2_u32 v23 offset:0x8000
  ds_max_src2_u32 v20 offset:32767
  ds_read2_b32 v[10:11], v20 offset1:1""".replace("_nc_u32", "_u32" if target.startswith("gfx9") else "_nc_u32"),
                lambda target, lanes, values, out: [[100 + lane, 11, 0, 0] for lane in range(lanes)])


DIRECT_TYPES = [(0, 8, False), (1, 16, False), (2, 32, False), (4, 8, True), (5, 16, True)]
DIRECT_VALUE = 0x8A7F91E3


def direct_value(bits, is_signed):
    value = DIRECT_VALUE & ((1 << bits) - 1)
    return value | (0xffffffff << bits) & 0xffffffff if is_signed and value >> (bits - 1) else value


def direct_loads():
    """One value of workgroup memory for all lanes, of each type, as an operand or into a register; quads are whole."""

    def code(target):
        newer = is_newer(target)
        out = ["v_mov_b32 v20, 0x40", f"v_mov_b32 v21, {DIRECT_VALUE:#x}",
               "DS_WRITE v20, v21".replace("DS_WRITE", "ds_store_b32" if newer else "ds_write_b32"), "WAIT_LDS"]
        for k, (kind, _, _) in enumerate(DIRECT_TYPES):
            out.append(f"s_mov_b32 m0, {kind << 16 | 0x40:#x}")
            out.append("s_nop 4")
            if newer:
                load = "ds_direct_load v{} wait_va_vdst:0 wait_vm_vsrc:0" if target.startswith("gfx12") else \
                    "lds_direct_load v{} wait_vdst:0"
                out += [load.format(24 + k), "s_wait_expcnt 0x0" if target.startswith("gfx12") else "s_waitcnt expcnt(0)"]
            else:
                out.append(f"v_mov_b32 v{24 + k}, src_lds_direct")
        out += ["v_mov_b32 v10, v24", "v_mov_b32 v11, v25", "v_mov_b32 v12, v26", "v_xor_b32 v13, v27, v28"]
        if newer:
            out += ["s_mov_b32 m0, 0x20040", "s_mov_b32 exec_lo, 0x120", "s_nop 4", load.format(10), "s_mov_b32 exec_lo, -1"]
        return "\n  ".join(out)

    def expect(target, lanes, values, out):
        v = [direct_value(bits, is_signed) for _, bits, is_signed in DIRECT_TYPES]
        return [[v[2] if is_newer(target) and 4 <= lane < 12 else v[0], v[1], v[2], v[3] ^ v[4]] for lane in range(lanes)]

    return Case("direct_loads", "gfx900|gfx906|gfx908|gfx1[012].*", code, expect)


def global_waves():
    """Global wave sync between three workgroups of two waves: semaphores count, and a barrier of all six waves opens."""

    def expect(target, lanes, values, out):
        struct.pack_into("<I", out, 8000, 6 + 6 * 256)
        return [[6, 6 + 6 * 256, 0, 0]] * lanes

    add = "global_atomic_add v{0}, v{1}, s[6:7] offset:3904"
    return Case("global_waves", "gfx90a|gfx942", f"""s_lshl_b32 s20, s2, 7
  v_add_u32 v0, s20, v0
  v_and_b32 v30, 63, v0
  v_mov_b32 v20, 4096
  v_mov_b32 v21, 1
  v_mov_b32 v22, 256
  v_mov_b32 v24, 5
  s_mov_b32 m0, 0
  s_mov_b64 s[24:25], exec
  v_cmpx_eq_u32 vcc, 0, v30
  {add.format(20, 21)}
  WAIT_LOAD
  s_mov_b64 exec, s[24:25]
  s_nop 4
  ds_gws_sema_v offset:1 gds
  WAIT_LDS
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 global_waves_wait
  v_readfirstlane_b32 s21, v0
  s_cmp_lg_u32 s21, 0
  s_cbranch_scc1 global_waves_wait
  ds_gws_sema_p offset:1 gds
  ds_gws_sema_p offset:1 gds
  ds_gws_sema_p offset:1 gds
  ds_gws_sema_p offset:1 gds
  ds_gws_sema_p offset:1 gds
  ds_gws_sema_p offset:1 gds
  ds_gws_init v24 offset:2 gds
  WAIT_LDS
  ds_gws_sema_br v24 offset:3 gds
  WAIT_LDS
  s_branch global_waves_barrier
global_waves_wait:
  ds_gws_sema_p offset:3 gds
global_waves_barrier:
  WAIT_LDS
  global_load_dword v10, v20, s[6:7] offset:3904
  WAIT_LOAD
  ds_gws_barrier v24 offset:2 gds
  WAIT_LDS
  v_cmpx_eq_u32 vcc, 0, v30
  {add.format(20, 22)}
  WAIT_LOAD
  s_mov_b64 exec, s[24:25]
  ds_gws_barrier v24 offset:2 gds
  WAIT_LDS
  global_load_dword v11, v20, s[6:7] offset:3904
  WAIT_LOAD""", expect, waves=2, groups=3)


def named_barriers():
    """Two waves: barrier 3 with two members, one signal after the other, then with the one that is left."""

    def expect(target, lanes, values, out):
        first, second = lanes // 2, lanes - lanes // 2
        return [[0x21, 1, 0x10021, 0x11]] * first + [[0x21, 0, 0x10021, 1]] * second

    return Case("named_barriers", "gfx12.*", """v_readfirstlane_b32 s20, v0
  s_mov_b32 m0, 0x20003
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 named_barriers_made
  s_barrier_init m0
named_barriers_made:
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_wait 1
  s_barrier_join m0
  s_get_barrier_state s21, 3
  WAIT_SCALAR
  s_barrier_signal -1
  s_barrier_wait -1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 named_barriers_second
  s_barrier_signal_isfirst 3
  WAIT_SCALAR
  s_cselect_b32 s22, 1, 0
  s_barrier_signal -1
  s_barrier_wait -1
  s_get_barrier_state s23, m0
  WAIT_SCALAR
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_wait 1
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_signal 3
  s_barrier_wait 1
  s_get_barrier_state s24, 3
  WAIT_SCALAR
  s_branch named_barriers_end
named_barriers_second:
  s_barrier_signal -1
  s_barrier_wait -1
  s_get_barrier_state s23, 3
  WAIT_SCALAR
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_signal_isfirst 3
  WAIT_SCALAR
  s_cselect_b32 s22, 1, 0
  s_barrier_wait 1
  s_barrier_leave
  WAIT_SCALAR
  s_cselect_b32 s24, 1, 0
  s_barrier_wait 1
  s_barrier_signal -1
  s_barrier_wait -1
named_barriers_end:
  v_mov_b32 v10, s21
  v_mov_b32 v11, s22
  v_mov_b32 v12, s23
  v_mov_b32 v13, s24""", expect, waves=2)


def producer_and_consumer():
    """One wave signals and does not wait, the other waits and has not signalled, again and again."""

    def expect(target, lanes, values, out):
        return [[0, 0, 0, 0]] * (lanes // 2) + [[36, 0, 0, 0]] * (lanes // 2)

    return Case("producer_and_consumer", "gfx12.*", """v_readfirstlane_b32 s20, v0
  s_mov_b32 m0, 0x10005
  s_barrier_init m0
  s_mov_b32 m0, 0x10010
  s_barrier_init m0
  s_mov_b32 s21, 8
  v_mov_b32 v20, 0
  s_barrier_signal -1
  s_barrier_wait -1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 consumer
  s_barrier_join m0
  s_barrier_signal -1
  s_barrier_wait -1
producer:
  v_mov_b32 v21, s21
  ds_store_b32 v20, v21
  WAIT_LDS
  s_barrier_signal 5
  s_barrier_wait 1
  s_sub_co_i32 s21, s21, 1
  s_wait_alu depctr_sa_sdst(0)
  s_cmp_lg_u32 s21, 0
  s_cbranch_scc1 producer
  s_branch producer_and_consumer_end
consumer:
  s_barrier_join 5
  s_barrier_signal -1
  s_barrier_wait -1
consumer_next:
  s_barrier_wait 1
  ds_load_b32 v21, v20
  WAIT_LDS
  v_add_nc_u32 v10, v10, v21
  s_barrier_signal 16
  s_sub_co_i32 s21, s21, 1
  s_wait_alu depctr_sa_sdst(0)
  s_cmp_lg_u32 s21, 0
  s_cbranch_scc1 consumer_next
producer_and_consumer_end:
""", expect, waves=2)


MIXED = [("fp8", 8, 4, 3), ("bf8", 8, 5, 2), ("fp6", 6, 2, 3), ("bf6", 6, 3, 2), ("fp4", 4, 2, 1)]


def mixed_value(bits, exponent, mantissa, code):
    """A narrow float without infinities."""
    bias, fraction, power = (1 << (exponent - 1)) - 1, code & ((1 << mantissa) - 1), code >> mantissa & ((1 << exponent) - 1)
    value = (fraction + (1 << mantissa) * (power != 0)) * 2.0 ** (max(power, 1) - bias - mantissa)
    return -value if code >> (bits - 1) else value


def mixed_operand(values, at, rows, depth, form):
    """Rows by depths, as 64 lanes hold them from byte `at` on, 32 bytes each; 8 bits never with all exponent bits."""
    _, bits, exponent, mantissa = MIXED[form]
    groups, out = 64 // rows, np.zeros((rows, depth))
    for lane in range(64):
        data = int.from_bytes(values[at + 32 * lane:at + 32 * lane + 32], "little")
        data &= int.from_bytes(b"\xf7" * 32, "little") if bits == 8 else -1
        for e in range(32):
            k = (e // 16 * groups + lane // rows) * 16 + e % 16 if bits == 8 else 32 * (lane // rows) + e
            out[lane % rows, k] = mixed_value(bits, exponent, mantissa, data >> bits * e & ((1 << bits) - 1))
    return out


def mixed_product(rows, first, second, bytes_of_scales=None):
    """Formats of A and B; the bytes of the scales' registers that count, or None without scales."""
    depth, name = 2048 // rows, f"mixed_{rows}_{MIXED[first][0]}_{MIXED[second][0]}{'_scaled' if bytes_of_scales else ''}"
    registers = rows * rows // 64

    def code(target):
        load = "v_lshlrev_b32 v1, 5, v0\n"
        for base, at in ((20, 0), (30, SINGLES)):
            load += f"  global_load_dwordx4 v[{base}:{base + 3}], v1, s[4:5] offset:{at}\n"
            load += f"  global_load_dwordx4 v[{base + 4}:{base + 7}], v1, s[4:5] offset:{at + 16}\n"
        load += "  v_lshlrev_b32 v2, 2, v0\n  global_load_dword v3, v2, s[4:5] offset:256\n  WAIT_LOAD\n"
        for base, form in ((20, first), (30, second)):
            if MIXED[form][1] == 8:
                load += "".join(f"  v_and_b32 v{base + k}, 0xf7f7f7f7, v{base + k}\n" for k in range(8))
        load += "".join(f"  v_cvt_f32_u32 v{40 + k}, v{k % 2}\n" for k in range(registers))
        load += "  v_and_b32 v3, 0x0f0f0f0f, v3\n  v_add_u32 v3, 0x78787878, v3\n  s_nop 4\n"
        sizes = [MIXED[form][1] for form in (first, second)]
        operands = [f"v[{base}:{base + bits - 1}]" for base, bits in zip((20, 30), sizes)]
        out = f"v[40:{39 + registers}]"
        line = f"{out}, {operands[0]}, {operands[1]}, {out}"
        if bytes_of_scales:
            a, b = bytes_of_scales
            load += f"""  v_mfma_scale_f32_{rows}x{rows}x{depth}_f8f6f4 {line}, v3, v3 op_sel:[{a & 1},{b & 1},0] """
            load += f"op_sel_hi:[{a >> 1},{b >> 1},0] cbsz:{first} blgp:{second}\n"
        else:
            load += f"  v_mfma_f32_{rows}x{rows}x{depth}_f8f6f4 {line} cbsz:{first} blgp:{second}\n"
        load += "  s_nop 15\n  s_nop 15\n  v_lshlrev_b32 v2, 6, v0\n"
        for k in range(0, registers, 4):
            load += f"  global_store_dwordx4 v2, v[{40 + k}:{43 + k}], s[6:7] offset:{4 * k + 1024}\n"
        return load

    def expect(target, lanes, values, out):
        a, b = (mixed_operand(values, at, rows, depth, form) for at, form in ((0, first), (SINGLES, second)))
        for i in range(rows):
            for j in range(rows):
                groups = 64 // rows
                reg, lane = i // (4 * groups) * 4 + i % 4, i // 4 % groups * rows + j
                total = float([lane, 32 * lane][reg % 2])
                for block in range(depth // 32):
                    part = float(np.dot(a[i, 32 * block:32 * block + 32], b[j, 32 * block:32 * block + 32]))
                    if bytes_of_scales:
                        for row, byte in ((i, bytes_of_scales[0]), (j, bytes_of_scales[1])):
                            part *= 2.0 ** ((values[256 + 4 * (row + rows * block) + byte] & 15) + 120 - 127)
                    total += part
                struct.pack_into("<I", out, 1024 + 64 * lane + 4 * reg, single(total))
        return [[0, 0, 0, 0]] * lanes

    return Case(name, "gfx950", code, expect)


def mixed_cases():
    for form in range(5):
        yield mixed_product(16, form, (form + 1) % 5, (form % 4, (form + 1) % 4))
        yield mixed_product(32, form, (form + 3) % 5, (3 - form % 4, form % 4))
        yield mixed_product(32, form, form)
    yield mixed_product(16, 4, 4)
    yield Case("scales_alone", "gfx950", "v_mfma_ld_scale_b32 v0, v0\n  s_nop 4", same(0))


CASES = [skips(), kills(), second_sources(), direct_loads(), global_waves(), named_barriers(), producer_and_consumer(),
         *mixed_cases()]
