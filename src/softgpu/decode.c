// Text of LLVM's disassembler to inst_t.
//
// The text is regular: mnemonic, operands between commas, then modifiers between spaces. What an operand means comes
// from the row of the mnemonic: its type says how a constant becomes bits.
#include <ctype.h>
#include <stdlib.h>

#include "softgpu/check_hazards.h"
#include "softgpu/check_undefined.h"
#include "softgpu/decode_text.h"
#include "softgpu/kernel.h"

static bool parse_extra_part(inst_extra_t* extra, const char* word) {
  static const char* const parts[] = {"DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
  static const char* const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  const char* value = strchr(word, ':');
  if (!value) return false;
  size_t key = (size_t)(value++ - word);
  uint8_t* field = strncmp(word, "dst_sel", key) == 0    ? &extra->destination_part
                   : strncmp(word, "src0_sel", key) == 0 ? &extra->source_part[0]
                   : strncmp(word, "src1_sel", key) == 0 ? &extra->source_part[1]
                                                         : &extra->destination_unused;
  bool is_unused = field == &extra->destination_unused;
  const char* const* names = is_unused ? unused : parts;
  if (is_unused && strncmp(word, "dst_unused", key) != 0) return false;
  for (uint8_t i = 0; i < (is_unused ? 3 : 7); ++i) {
    if (strcmp(names[i], value) != 0) continue;
    *field = i;
    extra->is_sdwa = true;
    return true;
  }
  return false;
}

// DPP controls and masks, SDWA parts.
static bool parse_extra(inst_extra_t* extra, const char* word) {
  static const struct {
    const char* key;
    uint8_t kind, bits;
  } controls[] = {
      {"quad_perm:[", DPP_QUAD_PERM, 2},
      {"row_shl:", DPP_ROW_SHL, 0},
      {"row_shr:", DPP_ROW_SHR, 0},
      {"row_ror:", DPP_ROW_ROR, 0},
      {"wave_shl:", DPP_WAVE_SHL, 0},
      {"wave_rol:", DPP_WAVE_ROL, 0},
      {"wave_shr:", DPP_WAVE_SHR, 0},
      {"wave_ror:", DPP_WAVE_ROR, 0},
      {"row_mirror", DPP_ROW_MIRROR, 0},
      {"row_half_mirror", DPP_ROW_HALF_MIRROR, 0},
      {"row_bcast:", DPP_ROW_BCAST, 0},
      {"row_share:", DPP_ROW_SHARE, 0},
      {"row_newbcast:", DPP_ROW_SHARE, 0},
      {"row_xmask:", DPP_ROW_XMASK, 0},
      {"dpp8:[", DPP_8, 3},
  };
  for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); ++i) {
    size_t size = strlen(controls[i].key);
    if (strncmp(word, controls[i].key, size) != 0) continue;
    extra->dpp = controls[i].kind;
    extra->dpp_argument =
        controls[i].bits ? decode_list(word + size, controls[i].bits) : (uint32_t)strtol(word + size, NULL, 0);
    return true;
  }
  if (strncmp(word, "row_mask:", 9) == 0) return extra->row_mask = (uint8_t)strtol(word + 9, NULL, 0), true;
  if (strncmp(word, "bank_mask:", 10) == 0) return extra->bank_mask = (uint8_t)strtol(word + 10, NULL, 0), true;
  if (strncmp(word, "bound_ctrl:", 11) == 0) return extra->bound_control = true;
  if (strncmp(word, "fi:", 3) == 0) return extra->fetch_inactive = word[3] == '1', true;
  return parse_extra_part(extra, word);
}

static bool parse_flag(inst_t* inst, const char* word) {
  static const struct {
    const char* text;
    uint32_t bit;
  } flags[] = {
#define FLAG(name, text) {text, INST_##name},
      INST_FLAGS(FLAG)
#undef FLAG
  };
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
    if (strcmp(flags[i].text, word) == 0) return inst->flags |= flags[i].bit, true;
  }
  return false;
}

static bool parse_field(inst_t* inst, const char* word) {
  const char* value = strchr(word, ':');
  if (!value) return false;
  size_t size = (size_t)(value++ - word);
#define FIELD(type, name, text, absent, bits)                                                                  \
  if (size == sizeof(text) - 1 && memcmp(word, text, size) == 0) {                                             \
    inst->name = (type)(*value == '[' ? decode_list(value + 1, (bits) ? (bits) : 8) : strtol(value, NULL, 0)); \
    return true;                                                                                               \
  }
  INST_FIELDS(FIELD)
#undef FIELD
  return false;
}

static bool parse_modifier(inst_t* inst, inst_extra_t* extra, const char* word) {
  if (parse_flag(inst, word) || parse_field(inst, word)) return true;
  if (parse_extra(extra, word)) return inst->flags |= INST_HAS_EXTRA, true;
  return modifier_is_skipped(word);
}

// Fills in what depends on the wave, once the type is known.
static bool finish_operand(decode_t* d, operand_t* o, uint8_t type, bool is_destination) {
  o->type = type;
  switch (o->kind) {
    case OPERAND_VGPR:
      if (o->index + o->dwords > WAVE_REGISTERS) return false;
      o->offset = (size_t)o->index * d->lanes;
      return true;
    case OPERAND_SGPR:
      if (o->index == DECODE_SREG_NULL) {
        if (is_destination) {
          o->index = SREG_TRASH;
          return true;
        }
        o->kind = OPERAND_CONSTANT, o->value = 0;
        o->lanes = decode_constant_lanes(d->engine, 0);
        return o->lanes != NULL;
      }
      return o->index + o->dwords <= SREG_COUNT;
    case OPERAND_CONSTANT:
      o->lanes = decode_constant_lanes(d->engine, o->value);
      return o->lanes != NULL;
    default:
      return true;
  }
}

typedef struct words_t {
  char* at;
} words_t;

// Next word: up to a comma or a space outside brackets. `ends_operand` tells whether a comma followed.
static char* next_word(words_t* words, bool* ends_operand) {
  char* at = words->at;
  while (*at == ' ' || *at == '\t') ++at;
  if (!*at) return NULL;
  char* begin = at;
  for (int depth = 0; *at && (depth || (*at != ',' && *at != ' ' && *at != '\t')); ++at) {
    depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
  }
  char* end = at;
  while (*at == ' ' || *at == '\t') ++at;
  *ends_operand = *at == ',';
  if (*ends_operand) ++at;
  words->at = *end ? at : end;
  *end = 0;
  return begin;
}

static uint8_t type_of(const inst_row_t* row, uint32_t i) {
  if (!row->type_count) return INST_B32;
  return row->types[i < row->type_count ? i : row->type_count - 1u];
}

// Immediates of these are read from the encoding.
static bool takes_encoding(const inst_row_t* row) {
  return row->klass == INST_CLASS_WAIT || row->klass == INST_CLASS_HINT || row->klass == INST_CLASS_MESSAGE ||
         row->klass == INST_CLASS_BARRIER;
}

static bool add_operand(decode_t* d, inst_t* inst, uint32_t destinations, uint32_t first_type, char* word,
                        text_t* error) {
  uint32_t place = inst->destination_count + inst->source_count;
  bool is_destination = inst->destination_count < destinations;
  if (!is_destination && inst->source_count == INST_MAX_SOURCES) {
    text_printf(error, "%s has more operands than are known", inst->row->name);
    return false;
  }
  operand_t* o = is_destination ? &inst->dst[inst->destination_count++] : &inst->src[inst->source_count++];
  uint8_t type = type_of(inst->row, place + first_type);
  if (decode_operand(word, type, o) && finish_operand(d, o, type, is_destination)) {
    bool is_refreshed = o->index >= SREG_VCCZ && o->index <= SREG_LDS_DIRECT;
    if (o->kind == OPERAND_SGPR && is_refreshed) inst->flags |= INST_READS_Z;
    return true;
  }
  text_printf(error, "operand '%s' of %s is not known", word, inst->row->name);
  return false;
}

static uint32_t destinations_of(const decode_t* d, const inst_t* inst) {
  const char* name = inst->row->name;
  if (strncmp(name, "v_cmpx_", 7) == 0 && d->engine->target->major >= 10) return 0;
  bool is_atomic = strncmp(name, "global_atomic_", 14) == 0 || strncmp(name, "flat_atomic_", 12) == 0;
  return inst->row->destinations ? inst->row->destinations : is_atomic && (inst->flags & INST_RETURNS_OLD);
}

// Whether an atomic operation returns must be known before its operands are counted.
static void find_return(const decode_t* d, inst_t* inst, const char* text) {
  if (strstr(text, "TH_ATOMIC") && strstr(text, "RETURN")) inst->flags |= INST_RETURNS_OLD;
  bool is_scalar = strncmp(inst->row->name, "s_", 2) == 0;
  const char* flag = isa_is_gfx940(d->engine->target) && !is_scalar ? " sc0" : " glc";
  if (d->engine->target->major < 12 && strstr(text, flag)) inst->flags |= INST_RETURNS_OLD;
}

// `lds`: a load goes to the workgroup's memory and leaves its destination out.
static bool loads_to_lds(const inst_t* inst, const char* text) {
  const char* word = strstr(text, " lds");
  return inst->row->klass == INST_CLASS_LOAD && word && !isalnum((unsigned char)word[4]) && word[4] != '_';
}

static bool parse_operands(decode_t* d, inst_t* inst, inst_extra_t* extra, char* text, text_t* error) {
  if (strstr(inst->row->name, "_atomic_") || strstr(inst->row->name, "_cond_sub")) find_return(d, inst, text);
  uint32_t destinations = loads_to_lds(inst, text) ? 0 : destinations_of(d, inst);
  uint32_t first_type = inst->row->destinations > destinations ? inst->row->destinations : 0;
  if (inst->row->destinations < destinations) first_type = 0;
  words_t words = {text};
  bool expects_operand = true, ends = false;
  for (char* word; (word = next_word(&words, &ends)); expects_operand = ends) {
    bool is_modifier = parse_modifier(inst, extra, word);
    if (is_modifier && modifier_is_known(inst->row, word)) continue;
    if (is_modifier || !expects_operand) {
      text_printf(error, "modifier '%s' of %s is not executed", word, inst->row->name);
      return false;
    }
    if (!add_operand(d, inst, destinations, first_type, word, error)) return false;
  }
  return true;
}

// Where the text has .l and .h, op_sel repeats them, and is the only one to say it of scalar registers. A bit of it for
// what has no halves is refused: a constant, or an operand of 32 bits.
static bool settle_selection(inst_t* inst, text_t* error) {
  uint32_t halves = 0;
  for (uint32_t i = 0; i < inst->destination_count; ++i) halves |= inst->dst[i].modifiers;
  for (uint32_t i = 0; i < inst->source_count; ++i) halves |= inst->src[i].modifiers;
  if (!(halves & (OPERAND_HIGH | OPERAND_LOW))) return true;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    operand_t* o = &inst->src[i];
    bool is_half = o->type == INST_B16 || o->type == INST_I16 || o->type == INST_F16 || o->type == INST_BF16;
    if (!(inst->op_sel >> i & 1) || o->modifiers & (OPERAND_HIGH | OPERAND_LOW)) continue;
    if (o->kind != OPERAND_SGPR || !is_half) {
      text_printf(error, "op_sel of operand %u of %s, which has no halves, is not executed", i, inst->row->name);
      return false;
    }
    o->modifiers |= OPERAND_HIGH;
  }
  bool has_half = inst->destination_count && inst->dst[0].modifiers & (OPERAND_HIGH | OPERAND_LOW);
  if (inst->op_sel >> inst->source_count && !has_half) {
    text_printf(error, "op_sel of the result of %s, which has no halves, is not executed", inst->row->name);
    return false;
  }
  inst->op_sel = 0;
  return true;
}

bool decode_inst(decode_t* d, inst_t* out, text_t* error) {
  char* text = d->text;
  while (isspace((unsigned char)*text)) ++text;
  size_t size = strcspn(text, " \t");
  bool is_dpp_or_sdwa = false;
  char mnemonic[96];
  if (size >= sizeof(mnemonic)) size = sizeof(mnemonic) - 1;
  memcpy(mnemonic, text, size);
  mnemonic[size] = 0;
  out->row = rows_find(mnemonic);
  if (!out->row) {
    text_printf(error, "instruction %s is not known", mnemonic);
    return false;
  }
  out->run = out->row->run;
  out->traits = check_hazards_traits(out->row->name) | check_hazards_traits(mnemonic);
  out->passes = check_hazards_passes(d->engine->target, out->row->name);
#define FIELD(type, name, key, absent, bits) out->name = absent;
  INST_FIELDS(FIELD)
#undef FIELD
  if (takes_encoding(out->row)) return true;
  is_dpp_or_sdwa = strstr(mnemonic, "_sdwa") != NULL;
  inst_extra_t extra = {.row_mask = 15, .bank_mask = 15, .is_sdwa = is_dpp_or_sdwa};
  if (!parse_operands(d, out, &extra, text + size, error)) return false;
  if (!settle_selection(out, error)) return false;
  if (out->flags & INST_HAS_EXTRA) {
    inst_extra_t* copy = malloc(sizeof(extra));
    if (!copy) return text_puts(error, "out of memory"), false;
    *copy = extra;
    out->extra = copy;
  }
  out->flow = check_flow_of(out);
  return true;
}

void decode_free_extra(inst_t* inst) { free((void*)inst->extra); }
