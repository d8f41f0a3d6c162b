// Which instructions a target has: found by disassembling words with every value of the fields that hold opcodes.
#include <stdlib.h>

#include "softgpu/kernel.h"

typedef struct names_t {
  char** names;
  uint32_t count, capacity;
} names_t;

static bool names_add(names_t* names, const char* name, size_t size) {
  if (names->count == names->capacity) {
    uint32_t capacity = names->capacity ? 2 * names->capacity : 1024;
    char** grown = realloc(names->names, capacity * sizeof(char*));
    if (!grown) return false;
    names->names = grown, names->capacity = capacity;
  }
  names->names[names->count] = strndup(name, size);
  return names->names[names->count] ? ++names->count, true : false;
}

static int compare_names(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static size_t without_suffix(const char* name, size_t size) {
  static const char* const suffixes[] = {"_dpp8", "_dpp", "_sdwa", "_e32", "_e64", "_e96"};
  for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); ++i) {
    size_t length = strlen(suffixes[i]);
    if (size > length && memcmp(name + size - length, suffixes[i], length) == 0) size -= length, i = (size_t)-1;
  }
  return size;
}

static void sort_names(names_t* names) {
  qsort(names->names, names->count, sizeof(char*), compare_names);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < names->count; ++i) {
    if (kept && strcmp(names->names[kept - 1], names->names[i]) == 0) {
      free(names->names[i]);
    } else {
      names->names[kept++] = names->names[i];
    }
  }
  names->count = kept;
}

// Adds what the words are; the halves of a dual instruction count as themselves.
static bool try_words(engine_t* engine, uint32_t lanes, const uint32_t words[4], names_t* names) {
  char text[512];
  if (!disassemble(engine, lanes, (const uint8_t*)words, 16, 0, text, sizeof(text))) return true;
  if (names->count > 100000) sort_names(names);
  for (const char* at = text; at;) {
    at += strspn(at, " \t");
    size_t size = strcspn(at, " \t");
    const char* name = at;
    at = strstr(at, " :: ");
    if (at) at += 4;
    if (!names_add(names, name, without_suffix(name, size))) return false;
  }
  return true;
}

// Operands that one encoding or another accepts: vector registers, scalar ones, constants, none.
static const uint32_t low_halves[] = {0x0100, 0x0004, 0x0000, 0x007c, 0x8000, 0x4000,
                                      0x8000, 0x4000, 0x0100, 0x4000, 0x007c, 0x0000};
static const uint32_t second_words[] = {0x04120301, 0x00000000, 0x007f0001, 0x02010301, 0x007f0001, 0x007f0001,
                                        0x00000100, 0x1c120301, 0x04120380, 0x1c521141, 0x007c7c7c, 0x047d0402};

static bool try_all(engine_t* engine, uint32_t lanes, names_t* names) {
  // FIELD(prefix, shift, bits): encodings with opcodes in the lower half: SOP1, VOP1, and memory of gfx12
  static const struct {
    uint32_t prefix, shift, bits;
  } fields[] = {{0xbe800000, 8, 8},  {0x7e000000, 9, 8},  {0xf4000000, 13, 6}, {0xec000000, 14, 8},
                {0xed000000, 14, 8}, {0xee000000, 14, 8}, {0xc4000000, 14, 8}, {0xd8000000, 14, 8}};
  enum { SECOND = sizeof(second_words) / sizeof(second_words[0]) };
  for (uint32_t k = 0; k < SECOND; ++k) {
    for (uint32_t high = 0; high < 65536; ++high) {
      // Below 0x8000 only VOP2, VOPC and VOP1, whose operands do not matter.
      if (high < 0x8000 && k) continue;
      uint32_t words[4] = {high << 16 | low_halves[k], second_words[k], 0x00000100, 0};
      if (!try_words(engine, lanes, words, names)) return false;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
      for (uint32_t op = 0; op < 1u << fields[i].bits; ++op) {
        static const uint32_t low_bits[] = {0x2, 0x100, 0x7c, 0};
        for (uint32_t low = 0; low < 4; ++low) {
          uint32_t words[4] = {fields[i].prefix | op << fields[i].shift | low_bits[low], second_words[k], 0x102, 0};
          if (!try_words(engine, lanes, words, names)) return false;
        }
      }
    }
  }
  return true;
}

// Instructions of 128 bits: gfx950's scales before the product that they are for.
static bool try_pairs(engine_t* engine, uint32_t lanes, names_t* names) {
  static const uint32_t pairs[][4] = {{0xd3ac0800, 0x10022b14, 0xd3ad0800, 0x04020904},
                                      {0xd3ac0800, 0x10022b14, 0xd3ae0800, 0x04020904}};
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
    if (!try_words(engine, lanes, pairs[i], names)) return false;
  }
  return true;
}

bool engine_each_instruction(const isa_target_t* target, void (*visit)(void* data, const char* mnemonic), void* data,
                             text_t* error) {
  engine_options_t options = {.target = target};
  engine_t* engine = engine_create(&options, error);
  if (!engine) return false;
  names_t names = {0};
  uint32_t lanes = isa_has_wave32(target) ? 32 : 64;
  bool done = try_all(engine, lanes, &names) && try_pairs(engine, lanes, &names);
  if (done) {
    sort_names(&names);
    for (uint32_t i = 0; i < names.count; ++i) visit(data, names.names[i]);
  } else {
    text_puts(error, "out of memory");
  }
  for (uint32_t i = 0; i < names.count; ++i) free(names.names[i]);
  free(names.names);
  engine_destroy(engine);
  return done;
}
