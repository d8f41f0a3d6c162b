// The table of modifiers (modifiers.def).
#include "softgpu/check_hazards.h"
#include "softgpu/kernel.h"

typedef enum { EFFECT_EXECUTED, EFFECT_NONE } effect_t;
typedef struct modifier_t {
  const char *word, *instructions;
  effect_t effect;
} modifier_t;

static const modifier_t* find(const char* word) {
  static const modifier_t modifiers[] = {
#define MODIFIER(word, instructions, effect, why) {#word, instructions, EFFECT_##effect},
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

bool modifier_is_known(const char* mnemonic, const char* word) {
  const modifier_t* m = find(word);
  return m && hazard_matches(mnemonic, m->instructions);
}
