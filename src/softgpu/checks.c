// Names of checks, as a list of text.
#include "softgpu/checks.h"

#include <string.h>

bool engine_parse_checks(const char* text, uint32_t* out, text_t* error) {
  static const struct {
    const char* name;
    uint32_t bits;
  } names[] = {{"none", 0},
               {"all", (1u << ENGINE_CHECK_COUNT) - 1},
#define CHECK(name, text) {text, ENGINE_CHECK_##name},
               ENGINE_CHECKS(CHECK)
#undef CHECK
  };
  *out = 0;
  while (*text) {
    size_t size = strcspn(text, ","), i = 0, count = sizeof(names) / sizeof(names[0]);
    while (i < count && (strlen(names[i].name) != size || strncmp(names[i].name, text, size) != 0)) ++i;
    if (i == count) {
      text_printf(error, "unknown check '%.*s'; known are", (int)size, text);
      for (i = 0; i < count; ++i) text_printf(error, "%s %s", i ? "," : "", names[i].name);
      return false;
    }
    *out |= names[i].bits;
    text += size + (text[size] == ',');
  }
  return true;
}
