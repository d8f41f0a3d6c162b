// The table of modifiers (modifiers.def).
#include "softgpu/check_hazards.h"
#include "softgpu/kernel.h"

typedef enum { EFFECT_EXECUTED, EFFECT_NONE } effect_t;
typedef enum { ROWS_ANY, ROWS_FLOATS, ROWS_CLAMPS } rows_t;
typedef struct modifier_t {
  const char *word, *instructions;
  rows_t rows;
  effect_t effect;
} modifier_t;

static const modifier_t* find(const char* word) {
  static const modifier_t modifiers[] = {
#define MODIFIER(word, instructions, rows, effect, why) {#word, instructions, ROWS_##rows, EFFECT_##effect},
#include "softgpu/modifiers.def"
  };
  size_t size = strcspn(word, ":");
  for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); ++i) {
    if (strlen(modifiers[i].word) == size && memcmp(modifiers[i].word, word, size) == 0) return &modifiers[i];
  }
  return NULL;
}

bool modifier_is_skipped(const char* word) {
  const modifier_t* m = find(word);
  return m && m->effect == EFFECT_NONE;
}

// What goes through the vector unit's output modifiers.
static bool gives_floats(const inst_row_t* row) {
  static const char others[] = "v_fma_mix*";  // registers are the types of their operands
  if (hazard_matches(row->name, others)) return true;
  if (!row->destinations || hazard_matches(row->name, "v_pk_mov_b32")) return false;
  uint8_t type = row->types[0];
  return type == INST_F16 || type == INST_F32 || type == INST_F64 || type == INST_P16 || type == INST_P32;
}

// Integers that saturate: the rows that are made so, their other names, and sums of products of bytes. A comparison's
// clamp is about signals, which nobody sees.
static bool clamps(const inst_row_t* row) {
  static const char* const saturating[] = {
#define CLAMPED2(name, ...) #name,
#define CLAMPED3(name, ...) #name,
#define ADDING(name, ...) #name,
#include "isa/amd/valu_integer.def"
#define PACKED_CLAMPED2(name, ...) #name,
#define PACKED_CLAMPED3(name, ...) #name,
#include "isa/amd/valu_packed.def"
      "v_mqsad_u32_u8",
  };
  if (gives_floats(row) || hazard_matches(row->name, "v_cmp* v_wmma_i32_* v_swmmac_i32_*")) return true;
  for (size_t i = 0; i < sizeof(saturating) / sizeof(saturating[0]); ++i) {
    const inst_row_t* other = rows_find(saturating[i]);
    if (other && other->run == row->run) return true;
  }
  return false;
}

bool modifier_is_known(const inst_row_t* row, const char* word) {
  const modifier_t* m = find(word);
  if (!m || !hazard_matches(row->name, m->instructions)) return false;
  return m->rows == ROWS_ANY || (m->rows == ROWS_FLOATS ? gives_floats(row) : clamps(row));
}
