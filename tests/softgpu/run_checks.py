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
SPELLINGS = {"gfx90a": GFX9, "gfx908": GFX9, "gfx942": {**GFX9, "RETURN": "sc0"}, "gfx1010": GFX10, "gfx1030": GFX10, "gfx1100": GFX11,
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
CMPX, DPP = "v_cmpx_eq_u32 vcc, v4, v5", "v_mov_b32_dpp v6, v5 row_shl:1 row_mask:0xf bank_mask:0xf"
# LLVM waits for what vector instructions write only where the scalar unit writes the pair too.
GFX12_SCALAR_WRITE = "s_mov_b32 {}, 0\n s_wait_alu depctr_sa_sdst(0)"
# (targets, two instructions, what keeps them apart: just enough wait states, or an instruction). A target may say :64, for
# waves of 64 lanes. Registers v4 to v15 are 0, v2 is the lane's byte of memory, s[4:5] the input, s[6:7] the output.
HAZARDS = [
    (["gfx90a"], "global_store_dwordx4 v2, v[4:7], s[6:7]", "v_mov_b32 v6, 1", 1),
    (["gfx942"], "global_store_dwordx4 v2, v[4:7], s[6:7]", "v_mov_b32 v6, 1", 2),
    (["gfx90a"], "buffer_store_dwordx4 v[4:7], off, s[8:11], 0", "v_mov_b32 v6, 1", 1),
    # Matrix instructions of 8 passes on gfx90a and 4 on gfx942: sources overwritten, results read, overwritten, used.
    (["gfx90a"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v9, 1", 7),
    (["gfx942"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v9, 1", 3),
    *((["gfx90a"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", second, 11) for second in (
        "v_mov_b32 v20, v13", "global_store_dword v2, v13, s[6:7]", "v_mov_b32 v13, 1", "global_load_dword v13, v2, s[6:7]",
        "MATRIX v[16:19], v[12:13], v[6:7], v[8:11]")),
    *((["gfx942"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", second, 7) for second in (
        "v_mov_b32 v20, v13", "global_store_dword v2, v13, s[6:7]", "v_mov_b32 v13, 1", "v_exp_f32 v20, v13",
        "MATRIX v[16:19], v[12:13], v[6:7], v[8:11]")),
    (["gfx90a"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "MATRIX v[16:19], v[4:5], v[6:7], v[14:17]", 8),
    (["gfx942"], "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", "MATRIX v[16:19], v[4:5], v[6:7], v[14:17]", 5),
    (["gfx90a"], "v_mfma_f32_4x4x4f16 v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v20, v13", 5),
    (["gfx90a"], "v_mfma_f32_32x32x8f16 v[16:31], v[4:5], v[6:7], v[16:31]", "v_mov_b32 v40, v20", 19),
    (["gfx942"], "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[4:5], v[6:7], v[8:11]", "v_mov_b32 v20, v13", 5),
    (["gfx942"], "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[4:5], v[6:7], v[8:11]",
     "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[4:5], v[6:7], v[12:15]", 2),
    (["gfx942"], "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]", "v_mov_b32 v40, v20", 11),
    (["gfx942"], "v_mfma_f32_16x16x4_f32 v[12:15], v4, v6, v[8:11]", "v_mov_b32 v20, v13", 10),
    (["gfx942"], "v_smfmac_f32_16x16x32_f16 v[12:15], v[4:5], v[8:11], v6", "v_mov_b32 v20, v13", 7),
    (["gfx90a"], "v_mfma_f64_4x4x4f64 v[12:13], v[4:5], v[6:7], v[8:9]", "v_mov_b32 v20, v13", 6),
    (["gfx90a"], "v_mfma_f64_4x4x4f64 v[12:13], v[4:5], v[6:7], v[8:9]", "global_store_dword v2, v13, s[6:7]", 9),
    (["gfx90a"], "v_mfma_f64_4x4x4f64 v[12:13], v[4:5], v[6:7], v[8:9]",
     "v_mfma_f64_4x4x4f64 v[16:17], v[4:5], v[6:7], v[12:13]", 4),
    (["gfx90a"], "v_mfma_f64_16x16x4f64 v[16:23], v[4:5], v[6:7], v[8:15]", "v_mov_b32 v30, v17", 11),
    (["gfx90a"], "v_mfma_f64_16x16x4f64 v[16:23], v[4:5], v[6:7], v[8:15]", "global_store_dword v2, v17, s[6:7]", 18),
    (["gfx90a"], "v_mfma_f64_4x4x4f64 v[12:13], v[4:5], v[6:7], v[8:9]", "v_fma_f64 v[20:21], v[4:5], v[6:7], v[8:9]", 2),
    (["gfx90a"], "v_mov_b32 v20, 1\n v_mfma_f64_4x4x4f64 v[12:13], v[4:5], v[6:7], v[8:9]",
     "global_store_dword v2, v20, s[6:7]", 1),
    (["gfx908"], "v_accvgpr_write_b32 a0, v4", "v_mfma_f32_4x4x1f32 a[4:7], v4, v5, a[0:3]", 1),
    (["gfx908"], "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[4:7]", "v_accvgpr_read_b32 v20, a1", 4),
    (["gfx908"], "v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[0:15]", "v_accvgpr_write_b32 a1, v4", 7),
    (["gfx908"], "v_accvgpr_read_b32 v20, a0", "global_store_dword v2, v20, s[6:7]", 2),
    (["gfx908"], "v_mov_b32 v4, 1", "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[4:7]", 2),
    # Vector results.
    (GFX9_TARGETS, "v_mov_b32 v4, 1", "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", 2),
    (GFX9_TARGETS, "v_mov_b32 v9, 1", "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", 2),
    (GFX9_TARGETS, "v_dot2_f32_f16 v12, v4, v5, v6", "v_mov_b32 v20, v12", 3),
    (GFX9_TARGETS, "v_dot2_f32_f16 v12, v4, v5, v6", "v_dot2_f32_f16 v13, v12, v5, v6", 3),
    (GFX9_TARGETS, "v_dot2_f32_f16 v12, v4, v5, v6", "global_store_dword v2, v12, s[6:7]", 3),
    (["gfx90a"], "v_mov_b32 v5, 1", DPP, 2),
    (["gfx942"], "v_rcp_f32 v12, v4", "v_mov_b32 v20, v12", 1),
    (["gfx942"], "v_fma_f16 v12, v4, v5, v6 op_sel:[0,0,0,1]", "v_mov_b32 v20, v12", 1),
    (["gfx942"], "v_mov_b32 v12, 1", "v_readlane_b32 s16, v12, 0", 1),
    # Scalar registers.
    (["gfx90a"], "v_readfirstlane_b32 s6, v1", "global_load_dword v20, v2, s[6:7]", 5),
    (["gfx90a"], "v_readfirstlane_b32 s16, v4", "v_readlane_b32 s17, v4, s16", 4),
    (["gfx90a"], "v_cmp_eq_f32 vcc, v4, v5", "v_div_fmas_f32 v6, v4, v4, v5", 4),
    (["gfx90a"], "v_cmp_eq_f32 vcc, v4, v5", "v_mov_b32 v20, src_vccz", 5),
    (GFX9_TARGETS, CMPX, DPP, 5),
    (GFX9_TARGETS, CMPX, "MATRIX v[12:15], v[4:5], v[6:7], v[8:11]", 4),
    (["gfx942"], CMPX, "v_readfirstlane_b32 s16, v4", 4),
    (["gfx942"], "v_readfirstlane_b32 s16, v4", "v_mov_b32 v20, s16", 2),
    (["gfx942"], "v_cmp_eq_f32 vcc, v4, v5", "v_cndmask_b32 v20, v4, v5, vcc", 2),
    (GFX9_TARGETS, "s_mov_b32 m0, 0", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1),
    (["gfx942"], "s_mov_b32 m0, 0", "global_load_lds_dword v2, s[4:5]", 1),
    (GFX9_TARGETS, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s16, hwreg(HW_REG_MODE)", 2),
    # gfx10.
    (["gfx1010"], "s_load_dword s16, s[4:5], 0x0", "v_readfirstlane_b32 s4, v1", "s_waitcnt lgkmcnt(0)"),
    (["gfx1010"], "s_load_dword s16, s[4:5], 0x0", "v_readfirstlane_b32 s4, v1", "s_mov_b32 s17, 0"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "s_mov_b32 s6, 0", "s_waitcnt_depctr 0xffe3"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "s_mov_b32 s6, 0", "v_nop"),
    (["gfx1010"], "global_load_dword v20, v2, s[6:7]", "v_cmpx_eq_u32 v4, v5", "s_waitcnt_depctr 0xfffe"),
    (["gfx1010"], "ds_read_b32 v20, v2\n s_branch over\nover:", "global_load_dword v21, v2, s[6:7]",
     "s_waitcnt_vscnt null, 0x0"),
    (["gfx1010"], "s_store_dword s16, s[6:7], 0x0", "s_endpgm", "s_dcache_wb"),
    (["gfx1030"], "global_atomic_fmin v2, v4, s[6:7]", "s_denorm_mode 15", 3),
    (["gfx1030", "gfx1100"], "v_cmpx_eq_u32 v4, v5", "v_permlane16_b32 v20, v4, s16, s17", "v_mov_b32 v21, 0"),
    # gfx11 and gfx12: results on their way.
    (["gfx1100"], "v_rcp_f32 v12, v4", "v_mov_b32 v20, v12", "s_waitcnt_depctr 0xfff"),
    (["gfx1100"], "v_rcp_f32 v12, v4", "v_mov_b32 v20, v12", "v_nop\n" * 6),
    (["gfx1100"], "v_rcp_f32 v12, v4", "v_mov_b32 v20, v12", "buffer_gl0_inv"),
    (["gfx1100"], "v_wmma_f32_16x16x16_f16 v[16:23], v[24:31], v[32:39], v[16:23]",
     "v_wmma_f32_16x16x16_f16 v[40:47], v[16:23], v[32:39], v[40:47]", "v_nop"),
    (["gfx1201"], "v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[28:31], v[16:23]",
     "v_wmma_f32_16x16x16_f16 v[32:39], v[16:19], v[28:31], v[32:39]", "v_nop"),
    (["gfx1100:64"], "v_cndmask_b32 v20, v4, v5, s[16:17]\n s_mov_b64 s[16:17], 0", "v_cndmask_b32 v21, v4, v5, s[16:17]",
     "s_waitcnt_depctr 0xfffe"),
    (["gfx1100:64"], "v_cndmask_b32 v20, v4, v5, vcc\n v_cmp_eq_u32 vcc, v4, v5", "v_cndmask_b32 v21, v4, v5, vcc",
     "s_waitcnt_depctr 0xfffd"),
    (["gfx1100:64"], "v_mov_b32 v12, 1\n s_mov_b64 exec, exec\n v_mov_b32 v13, 1", "v_add_nc_u32 v20, v12, v13",
     "s_waitcnt_depctr 0xfff"),
    (["gfx1201"], "v_mov_b32 v20, s16\n s_mov_b32 s16, 1", "v_mov_b32 v21, s16", "s_wait_alu depctr_sa_sdst(0)"),
    (["gfx1201"], f"{GFX12_SCALAR_WRITE.format('s16')}\n v_mov_b32 v20, s16\n v_readfirstlane_b32 s16, v4",
     "v_mov_b32 v21, s16", "s_wait_alu depctr_va_sdst(0)"),
    (["gfx1201"], f"{GFX12_SCALAR_WRITE.format('vcc_lo')}\n v_mov_b32 v20, vcc_lo\n v_cmp_eq_u32 vcc_lo, v4, v5",
     "v_cndmask_b32 v21, v4, v5, vcc_lo", "s_wait_alu depctr_va_vcc(0)"),
    (["gfx1201"], f"{GFX12_SCALAR_WRITE.format('vcc_lo')}\n v_mov_b32 v20, vcc_lo\n v_cmp_eq_u32 vcc_lo, v4, v5",
     "v_dual_cndmask_b32 v20, v4, v5 :: v_dual_mov_b32 v21, v6", "s_wait_alu depctr_va_vcc(0)"),
    # Counters: messages with a result, answers in any order, loads straight into workgroup memory.
    (["gfx1100"], "s_sendmsg_rtn_b64 s[16:17], sendmsg(MSG_RTN_GET_REALTIME)", "s_mov_b32 s18, s16", "s_waitcnt lgkmcnt(0)"),
    (["gfx1201"], "s_sendmsg_rtn_b64 s[16:17], sendmsg(MSG_RTN_GET_REALTIME)", "s_mov_b32 s18, s16", "s_wait_kmcnt 0x0"),
    (["gfx90a", "gfx1030"], "ds_read_b32 v20, v2\n s_load_dword s16, s[4:5], 0x0\n s_waitcnt lgkmcnt(1)",
     "v_mov_b32 v21, v20", "s_waitcnt lgkmcnt(0)"),
    (["gfx90a"], "v_mov_b32 v18, s6\n v_mov_b32 v19, s7\n flat_load_dword v20, v[18:19]\n s_waitcnt vmcnt(0)",
     "v_mov_b32 v21, v20", "s_waitcnt vmcnt(0) lgkmcnt(0)"),
    (["gfx942"], "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v2, s[4:5]", "ds_read_b32 v20, v2", "s_waitcnt vmcnt(0)"),
    (["gfx1100"], "global_store_b32 v2, v4, s[6:7]\n global_load_b32 v20, v2, s[4:5]\n s_waitcnt_vscnt null, 0x0",
     "v_mov_b32 v21, v20", "s_waitcnt vmcnt(0)"),
    (["gfx1201"], "ds_load_b32 v20, v2\n s_wait_loadcnt 0x0\n s_wait_kmcnt 0x0", "v_mov_b32 v21, v20", "s_wait_dscnt 0x0"),
]
HAZARD_KERNEL = """
  LOAD_ARGUMENTS s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v2, 2, v0
  WAIT_SCALAR
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


def idle(states):
    """Instructions of so many wait states."""
    return "\n".join(f"s_nop {min(left, 16) - 1}" for left in range(states, 0, -16))


def hazards(target):
    """(name, kernel, pattern): hazards, the same with what must be between, and with a wait state less than that."""
    for targets, first, second, between in HAZARDS:
        if target not in targets:
            continue
        first, second = (text.replace("MATRIX", MATRICES.get(target, "")) for text in (first, second))
        gaps = [("", "wait"), (between, None)]
        if isinstance(between, int):
            gaps = [("", "wait"), (idle(between), None)] + [(idle(between - 1), "wait")] * (between > 1)
        for gap, expected in gaps:
            name = f"'{first}', '{gap}', '{second}'" if gap else f"'{first}', '{second}'"
            yield name, HAZARD_KERNEL.format(first=first, between=gap, second=second), expected


def assemble(code, target, path):
    target, _, lanes = target.partition(":")
    spelling = SPELLINGS.get(target, {})
    code = re.sub(r"\b[A-Z][A-Z_0-9]+\b", lambda word: spelling.get(word[0], word[0]), code)
    lanes = 64 if lanes or target.startswith("gfx9") else 32
    options = [] if lanes == 64 else ["  .amdhsa_wavefront_size32 1"]
    options += ["  .amdhsa_accum_offset 48"] if target in GFX9_TARGETS else []
    options += ["  .amdhsa_wavefront_size32 0"] if lanes == 64 and not target.startswith("gfx9") else []
    source = path.with_suffix(".s")
    source.write_text(FRAME.format(target=target, code=code, options="\n".join(options), lanes=lanes))
    wide = ["-mwavefrontsize64"] if lanes == 64 and not target.startswith("gfx9") else []
    suite.call(["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", *wide, source, "-o", path])


def check_one(options, target, folder, number, variant, checks="all", has_results=False):
    """What is wrong with one variant (name, kernel, pattern), or None."""
    name, code, expected = variant
    path = folder / f"{target.replace(':', '-')}-{number}.hsaco"
    assemble(code, target, path)
    values, out = folder / "in", folder / f"{target}-{number}.out"
    values.write_bytes(struct.pack(f"<{ITEMS}I", *range(100, 100 + ITEMS)))
    script = [f"load {path}", f"run checked {ITEMS} {GROUP} 0 0", f"in {values}", f"out {4 * ITEMS + 4} {out}", "go"]
    flags = [f"--target={target.partition(':')[0]}", f"--check={checks}"]
    result = suite.launch(options.build, flags, script)
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
    parser.add_argument("--every", type=int, default=1, help="only every so many-th case, others for each target")
    options = parser.parse_args()
    count, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="iree-checks-") as name:
        targets = options.target or [*suite.TARGETS, "gfx908", "gfx1010", "gfx1100:64"]
        for first, target in enumerate(targets):
            cases = [(variant, "all", True) for variant in variants(KERNEL, EDITS) if target in suite.TARGETS]
            cases += [(variant, "waits", False) for variant in hazards(target)]
            # Without its hazards, which would be reported first.
            if target in (*suite.TARGETS, "gfx1010"):
                cases += [(variant, "uninitialized", False) for variant in variants(UNWRITTEN_KERNEL)]
            cases = cases[first % options.every::options.every]
            for number, case in enumerate(cases):
                if wrong := check_one(options, target, pathlib.Path(name), number, *case):
                    failures.append(wrong)
            count += len(cases)
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
