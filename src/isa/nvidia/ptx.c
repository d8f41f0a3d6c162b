// Names of instructions against rows.
#include "isa/nvidia/ptx.h"

#include <string.h>

static const ptx_type_info_t type_infos[] = {
    {"", 0, 0},
#define TYPE(name, bytes, kind) {#name, bytes, PTX_##kind},
#include "isa/nvidia/types.def"
#undef TYPE
};

static const struct {
  const char* text;
  uint32_t group, value;
} modifiers[] = {
#define MODIFIER(text, group, value) {text, PTX_GROUP_##group, value},
#include "isa/nvidia/modifiers.def"
#undef MODIFIER
};

static const char* const group_texts[] = {
#define GROUP(name, text) text,
    PTX_GROUPS(GROUP)
#undef GROUP
};

const ptx_type_info_t* ptx_type_info(ptx_type_t type) { return &type_infos[type]; }

static bool is_text(const char* text, size_t size, const char* other) {
  return strlen(other) == size && memcmp(text, other, size) == 0;
}

ptx_type_t ptx_type_find(const char* text, size_t size) {
  for (uint32_t i = 1; i < PTX_TYPE_COUNT; ++i) {
    if (is_text(text, size, type_infos[i].name)) return (ptx_type_t)i;
  }
  return PTX_TYPE_NONE;
}

// Whether the options have this word; it begins with '@' for a group.
static bool has_option(const char* options, char mark, const char* text, size_t size) {
  for (const char* at = options; *at;) {
    size_t word = strcspn(at, " ");
    const char* name = at + (*at == '@');
    if ((*at == '@') == (mark == '@') && word - (size_t)(name - at) == size && memcmp(name, text, size) == 0) {
      return true;
    }
    at += word + (at[word] == ' ');
  }
  return false;
}

static void note(ptx_modifiers_t* out, uint32_t group, uint32_t value) {
  if (group == PTX_GROUP_FLAG) {
    out->value[group] |= value;
  } else if (!out->value[group]) {
    out->value[group] = value;
  }
  if (group == PTX_GROUP_LAYOUT && out->layout_count < 2) out->layouts[out->layout_count++] = (uint8_t)value;
}

// Notes a word that stands in an instruction's name in all groups that the row looks at.
static bool take(const char* options, ptx_part_t part, bool is_named, ptx_modifiers_t* out) {
  bool is_taken = is_named || has_option(options, 0, part.text, part.size);
  ptx_type_t type = ptx_type_find(part.text, part.size);
  if (type && (is_named || has_option(options, '@', "type", 4)) && out->type_count < PTX_MOST_TYPES) {
    out->types[out->type_count++] = (uint8_t)type;
    return true;
  }
  for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); ++i) {
    if (!is_text(part.text, part.size, modifiers[i].text)) continue;
    const char* group = group_texts[modifiers[i].group];
    bool by_group = has_option(options, '@', group, strlen(group));
    if (!is_taken && !by_group) continue;
    note(out, modifiers[i].group, modifiers[i].value);
    if (by_group) return true;
  }
  return is_taken;
}

bool ptx_match(const char* name, size_t name_size, const char* options, const ptx_part_t* parts, uint32_t count,
               ptx_modifiers_t* out) {
  memset(out, 0, sizeof(*out));
  const char *at = name, *end = name + name_size;
  for (uint32_t i = 0; i < count; ++i) {
    const char* dot = at < end ? memchr(at, '.', (size_t)(end - at)) : NULL;
    size_t word = (size_t)((dot ? dot : end) - at);
    bool is_named = at < end && word == parts[i].size && memcmp(at, parts[i].text, word) == 0;
    if (is_named) at = dot ? dot + 1 : end;
    if (i > 0 || !is_named) {
      if (!take(options, parts[i], is_named, out)) return false;
    }
  }
  return at == end;
}
