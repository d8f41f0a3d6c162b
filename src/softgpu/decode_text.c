// Operands as text: registers and constants.
#include "softgpu/decode_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_float.h"

uint32_t decode_list(const char* text, uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t i = 0; *text && *text != ']' && i * bits < 32; ++i) {
    char* end;
    uint32_t element = (uint32_t)strtol(text, &end, 0);
    if (end == text) break;
    value |= (element & ((1u << bits) - 1)) << (i * bits);
    text = end + (*end == ',');
  }
  return value;
}

// Registers that have a name of their own.
static bool named_register(const char* word, operand_t* out) {
  static const struct {
    const char* name;
    uint16_t index;
    uint8_t dwords;
  } names[] = {
      {"vcc", SREG_VCC, 2},
      {"vcc_lo", SREG_VCC, 1},
      {"vcc_hi", SREG_VCC + 1, 1},
      {"exec", SREG_EXEC, 2},
      {"exec_lo", SREG_EXEC, 1},
      {"exec_hi", SREG_EXEC + 1, 1},
      {"m0", SREG_M0, 1},
      {"null", DECODE_SREG_NULL, 1},
      {"src_scc", SREG_SCC, 1},
      {"scc", SREG_SCC, 1},
      {"src_vccz", SREG_VCCZ, 1},
      {"src_execz", SREG_EXECZ, 1},
      {"src_lds_direct", SREG_LDS_DIRECT, 1},
      {"flat_scratch", SREG_FLAT_SCRATCH, 2},
      {"flat_scratch_lo", SREG_FLAT_SCRATCH, 1},
      {"flat_scratch_hi", SREG_FLAT_SCRATCH + 1, 1},
      {"xnack_mask", SREG_XNACK_MASK, 2},
      {"xnack_mask_lo", SREG_XNACK_MASK, 1},
      {"xnack_mask_hi", SREG_XNACK_MASK + 1, 1},
      {"src_shared_base", SREG_SHARED_BASE, 2},
      {"src_shared_base_lo", SREG_SHARED_BASE, 1},
      {"src_shared_limit", SREG_SHARED_LIMIT, 2},
      {"src_shared_limit_lo", SREG_SHARED_LIMIT, 1},
      {"src_private_base", SREG_PRIVATE_BASE, 2},
      {"src_private_base_lo", SREG_PRIVATE_BASE, 1},
      {"src_private_limit", SREG_PRIVATE_LIMIT, 2},
      {"src_private_limit_lo", SREG_PRIVATE_LIMIT, 1},
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(names[i].name, word) != 0) continue;
    out->kind = OPERAND_SGPR, out->index = names[i].index, out->dwords = names[i].dwords;
    return true;
  }
  return false;
}

// "12" or "[4:7]"
static bool register_range(const char* text, uint32_t* first, uint32_t* count) {
  char* end;
  bool is_range = *text == '[';
  text += is_range;
  if (!isdigit((unsigned char)*text)) return false;
  unsigned long low = strtoul(text, &end, 10), high = low;
  if (is_range && *end == ':') high = strtoul(end + 1, &end, 10);
  if (low > high || high >= 1024 || high - low >= 64 || strcmp(end, is_range ? "]" : "") != 0) return false;
  *first = (uint32_t)low, *count = (uint32_t)(high - low + 1);
  return true;
}

// v, a, s and ttmp registers, perhaps halves of them.
static bool numbered_register(char* word, operand_t* out) {
  static const struct {
    const char* prefix;
    uint8_t kind;
    uint32_t first, count;
  } files[] = {{"v", OPERAND_VGPR, 0, 256},
               {"a", OPERAND_VGPR, 256, 256},
               {"s", OPERAND_SGPR, 0, 106},
               {"ttmp", OPERAND_SGPR, SREG_TTMP, 16}};
  size_t size = strlen(word);
  if (size > 2 && word[size - 2] == '.' && (word[size - 1] == 'h' || word[size - 1] == 'l')) {
    out->modifiers |= word[size - 1] == 'h' ? OPERAND_HIGH : OPERAND_LOW;
    word[size - 2] = 0;
  }
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    size_t prefix = strlen(files[i].prefix);
    uint32_t first, count;
    if (strncmp(word, files[i].prefix, prefix) != 0 || !register_range(word + prefix, &first, &count)) continue;
    if (first + count > files[i].count) return false;
    out->kind = files[i].kind, out->index = files[i].first + first, out->dwords = (uint8_t)count;
    return true;
  }
  return false;
}

static uint64_t float_bits(double value, uint8_t type) {
  // 1/(2 pi) is an inline constant of each width.
  bool is_inverse = fabs(value - 0.15915494309189532) < 1e-7;
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, 4);
  switch (type) {
    case INST_B16:
    case INST_I16:
    case INST_F16:
    case INST_P16:
    case INST_PI16:
      return is_inverse ? 0x3118 : small_float_encode(SMALL_F16, value);
    case INST_BF16:
      return bits >> 16;
    case INST_B64:
    case INST_I64:
    case INST_F64:
    case INST_MASK: {
      uint64_t wide = is_inverse ? UINT64_C(0x3fc45f306dc9c882) : 0;
      if (!is_inverse) memcpy(&wide, &value, 8);
      return wide;
    }
    case INST_P32:
      return is_inverse ? UINT64_C(0x3e22f9833e22f983) : bits | (uint64_t)bits << 32;
    default:
      return is_inverse ? 0x3e22f983 : bits;
  }
}

// Inline integers (-16..64) are decimal; literals of 32 bits hexadecimal.
static uint64_t integer_bits(uint64_t value, bool is_literal, uint8_t type) {
  switch (type) {
    case INST_B16:
    case INST_I16:
    case INST_F16:
    case INST_BF16:
      return value & 0xffff;
    case INST_F64:
      return is_literal && value <= UINT32_MAX ? value << 32 : value;
    case INST_I64:
      return is_literal ? (uint64_t)(int64_t)(int32_t)value : value;
    case INST_B64:
    case INST_MASK:
      return value;
    case INST_P32:
      return (uint32_t)value | value << 32;
    default:
      return (uint32_t)value;
  }
}

bool decode_constant(const char* text, uint8_t type, uint64_t* out) {
  char* end;
  if (strncmp(text, "lit(", 4) == 0 || strncmp(text, "lit64(", 6) == 0) {
    text = strchr(text, '(') + 1;
    *out = integer_bits(strtoull(text, &end, 0), true, type);
    return end != text && strcmp(end, ")") == 0;
  }
  bool is_hex = strncmp(text, "0x", 2) == 0 || strncmp(text, "-0x", 3) == 0;
  if (!is_hex && strpbrk(text, ".e")) {
    double value = strtod(text, &end);
    *out = float_bits(value, type);
    return end != text && !*end;
  }
  bool is_negative = *text == '-';
  uint64_t value = strtoull(text + is_negative, &end, 0);
  if (end == text + is_negative || *end) return false;
  *out = integer_bits(is_negative ? 0 - value : value, is_hex, type);
  return true;
}

// Takes `prefix(` and `)` off.
static bool strip_call(char** word, const char* prefix) {
  size_t length = strlen(prefix), size = strlen(*word);
  if (size < length + 2 || strncmp(*word, prefix, length) != 0 || (*word)[length] != '(' || (*word)[size - 1] != ')') {
    return false;
  }
  (*word)[size - 1] = 0;
  *word += length + 1;
  return true;
}

bool decode_operand(char* word, uint8_t type, operand_t* out) {
  memset(out, 0, sizeof(*out));
  if (strcmp(word, "off") == 0) return out->kind = OPERAND_OFF, true;
  // Rows take these from the encoding.
  static const char* const encoded[] = {"hwreg(", "sendmsg(", "gpr_idx("};
  for (size_t i = 0; i < sizeof(encoded) / sizeof(encoded[0]); ++i) {
    if (strncmp(word, encoded[i], strlen(encoded[i])) == 0) return out->kind = OPERAND_CONSTANT, true;
  }
  if (*word == '-' && !isdigit((unsigned char)word[1])) {
    out->modifiers |= OPERAND_NEG;
    ++word;
  } else if (strip_call(&word, "neg")) {
    out->modifiers |= OPERAND_NEG;
  }
  size_t size = strlen(word);
  if (size > 2 && *word == '|' && word[size - 1] == '|') {
    out->modifiers |= OPERAND_ABS;
    word[size - 1] = 0;
    ++word;
  } else if (strip_call(&word, "abs")) {
    out->modifiers |= OPERAND_ABS;
  }
  if (strip_call(&word, "sext")) out->modifiers |= OPERAND_SEXT;
  if (named_register(word, out) || numbered_register(word, out)) return true;
  if (!decode_constant(word, type, &out->value)) return false;
  out->kind = OPERAND_CONSTANT;
  out->dwords = type == INST_B64 || type == INST_I64 || type == INST_F64 || type == INST_P32 ? 2 : 1;
  return true;
}
