// What the check of undefined registers must know of an instruction beyond its operands.
//
// Mistakes in the lists of names below err on the side of saying nothing: an instruction of which a list forgets that
// it reads its destination counts as defining it.
#include "softgpu/check_undefined.h"

static bool begins_with_any(const char* name, const char* const* prefixes) {
  for (; *prefixes; ++prefixes) {
    if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return true;
  }
  return false;
}

static uint32_t flow_of_scalar(const char* name) {
  static const char* const keeps_scc[] = {"s_mov_",  "s_movk", "s_mul_",   "s_pack_",   "s_sext",
                                          "s_getpc", "s_brev", "s_getreg", "s_sendmsg", NULL};
  static const char* const reads[] = {"s_cmov",  "s_bitset",  "s_addk",     "s_mulk",
                                      "s_fmac_", "s_movreld", "s_movrelsd", NULL};
  static const char *const relative[] = {"s_movrel", NULL}, *const of_m0[] = {"s_movrel", "s_set_gpr_idx", NULL};
  return (begins_with_any(name, keeps_scc) ? 0 : CHECK_FLOW_SCC) |
         (begins_with_any(name, reads) ? CHECK_FLOW_READS : 0) |
         (begins_with_any(name, relative) ? CHECK_FLOW_RELATIVE : 0) |
         (begins_with_any(name, of_m0) ? CHECK_FLOW_M0 : 0);
}

static uint32_t flow_of_vector(const inst_t* inst) {
  const char* name = inst->row->name;
  static const char *const crosses[] = {"v_permlane", NULL}, *const of_a_lane[] = {"v_read", "v_writelane", NULL};
  static const char* const reads[] = {"v_fmac",    "v_mac_",     "v_pk_fmac",  "v_swap",    "v_smfmac",
                                      "v_dot2c",   "v_dot2acc",  "v_permlane", "v_dot4c_i", "v_dot8c_i",
                                      "v_movreld", "v_movrelsd", NULL};
  static const char* const relative[] = {"v_movrel", "v_swaprel", NULL};
  bool takes_vcc = strncmp(name, "v_div_fmas", 10) == 0 ||
                   (strncmp(name, "v_cndmask", 9) == 0 && inst->source_count < 3) || inst->flags & INST_READS_Z;
  return (inst->flags & INST_HAS_EXTRA || inst->row->klass == INST_CLASS_MATRIX || begins_with_any(name, crosses)
              ? CHECK_FLOW_CROSS
              : 0) |
         (inst->flags & INST_HAS_EXTRA || begins_with_any(name, reads) ? CHECK_FLOW_READS : 0) |
         (takes_vcc ? CHECK_FLOW_VCC : 0) | (begins_with_any(name, of_a_lane) ? CHECK_FLOW_ONE_LANE : 0) |
         (begins_with_any(name, relative) ? CHECK_FLOW_RELATIVE | CHECK_FLOW_M0 : 0);
}

// Which sources are data, and whether M0 is an address.
static uint32_t flow_of_memory(const inst_t* inst) {
  const char* name = inst->row->name;
  static const char *const of_buffers[] = {"buffer_", "tbuffer_", NULL}, *const of_m0[] = {"ds_append", "ds_consume",
                                                                                           NULL};
  bool is_atomic = strstr(name, "_atomic") || (inst->row->klass == INST_CLASS_LDS && inst->source_count > 1 &&
                                               !strstr(name, "_store_") && !strstr(name, "_write"));
  bool adds_lane = strstr(name, "addtid"), stores = strstr(name, "_store") || strstr(name, "_write") || is_atomic;
  uint32_t flow = is_atomic ? CHECK_FLOW_ATOMIC : 0;
  if (adds_lane || begins_with_any(name, of_m0) || strstr(name, "lds") || strstr(name, "_block") ||
      inst->flags & INST_LDS) {
    flow |= CHECK_FLOW_M0;
  }
  if (!stores || strstr(name, "store_lds")) return flow;
  if (inst->row->klass == INST_CLASS_LDS) return flow | (adds_lane ? 31 : 30) * CHECK_FLOW_DATA;
  return flow | (begins_with_any(name, of_buffers) || adds_lane ? 1 : 2) * CHECK_FLOW_DATA;
}

uint16_t check_flow_of(const inst_t* inst) {
  const char* name = inst->row->name;
  static const char* const permutes[] = {"ds_permute", "ds_bpermute", "ds_swizzle", NULL};
  switch ((inst_class_t)inst->row->klass) {
    case INST_CLASS_SALU:
      return (uint16_t)(CHECK_FLOW_PURE | flow_of_scalar(name) | (inst->flags & INST_READS_Z ? CHECK_FLOW_VCC : 0));
    case INST_CLASS_VALU:
    case INST_CLASS_MATRIX:
      return (uint16_t)(CHECK_FLOW_PURE | flow_of_vector(inst));
    case INST_CLASS_LDS:
      if (begins_with_any(name, permutes)) return CHECK_FLOW_PURE | CHECK_FLOW_CROSS;
      return (uint16_t)flow_of_memory(inst);
    case INST_CLASS_LOAD:
    case INST_CLASS_STORE:
    case INST_CLASS_FLAT:
      return (uint16_t)flow_of_memory(inst);
    case INST_CLASS_BRANCH:
      return strstr(name, "_scc") ? CHECK_FLOW_SCC : strstr(name, "_vcc") ? CHECK_FLOW_VCC : 0;
    default:
      return 0;
  }
}
