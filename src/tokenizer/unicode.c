// See unicode.h.
#include "tokenizer/unicode.h"

#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// UTF-8
//===----------------------------------------------------------------------------------------------------------------===

size_t utf8_decode(const char* text, size_t size, uint32_t* out_code) {
  const uint8_t* at = (const uint8_t*)text;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = at[0] < 0x80                    ? 1
                  : at[0] >= 0xC2 && at[0] < 0xE0 ? 2
                  : (at[0] & 0xF0) == 0xE0        ? 3
                  : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
                                                  : 0;
  if (length == 1) {
    *out_code = at[0];
    return 1;
  }
  *out_code = 0xFFFD;
  if (!length || length > size) return 1;
  uint32_t code = at[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 1;
    code = code << 6 | (at[i] & 0x3F);
  }
  if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 1;
  *out_code = code;
  return length;
}

size_t utf8_encode(uint32_t code, char* out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i; --i, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
  out[0] = (char)((0xF00 >> length & 0xFF) | code);
  return length;
}

//===----------------------------------------------------------------------------------------------------------------===
// Runs
//===----------------------------------------------------------------------------------------------------------------===

typedef struct run_t {
  uint32_t first : 24, value : 8;
} run_t;

static const run_t categories[] = {
#define CATEGORY(first, category) {first, UNICODE_##category},
#include "tokenizer/unicode.def"
};
static const run_t combining[] = {
    {0, 0},
#define COMBINING(first, class) {first, class},
#include "tokenizer/unicode.def"
};

static uint32_t run_value(const run_t* runs, size_t count, uint32_t code) {
  size_t low = 0;
  for (size_t high = count; high - low > 1;) {
    size_t middle = (low + high) / 2;
    if (runs[middle].first <= code) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return runs[low].value;
}

uint32_t unicode_category_bit(uint32_t code) {
  return 1u << run_value(categories, sizeof(categories) / sizeof(categories[0]), code);
}

uint8_t unicode_combining(uint32_t code) {
  return code < 0x300 ? 0 : (uint8_t)run_value(combining, sizeof(combining) / sizeof(combining[0]), code);
}

bool unicode_is_space(uint32_t code) {
  return (code >= 9 && code <= 13) || code == 0x85 || (unicode_category_bit(code) & UNICODE_Z) != 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Mappings
//===----------------------------------------------------------------------------------------------------------------===

// The values of all rows one behind the other, and where each row's begin.
static const uint32_t canonical_values[] = {
#define CANONICAL(code, count, ...) count, __VA_ARGS__,
#include "tokenizer/unicode.def"
};
static const uint32_t compatible_values[] = {
#define COMPATIBLE(code, count, ...) count, __VA_ARGS__,
#include "tokenizer/unicode.def"
};
static const uint32_t canonical_codes[] = {
#define CANONICAL(code, count, ...) code,
#include "tokenizer/unicode.def"
};
static const uint32_t compatible_codes[] = {
#define COMPATIBLE(code, count, ...) code,
#include "tokenizer/unicode.def"
};
// Bytes of each row's values, of which the compiler makes offsets.
#define CANONICAL(code, count, ...) uint32_t row_##code[count + 1];
typedef struct canonical_layout_t {
#include "tokenizer/unicode.def"
} canonical_layout_t;
#define COMPATIBLE(code, count, ...) uint32_t row_##code[count + 1];
typedef struct compatible_layout_t {
#include "tokenizer/unicode.def"
} compatible_layout_t;
static const uint32_t canonical_offsets[] = {
#define CANONICAL(code, count, ...) offsetof(canonical_layout_t, row_##code) / sizeof(uint32_t),
#include "tokenizer/unicode.def"
};
static const uint32_t compatible_offsets[] = {
#define COMPATIBLE(code, count, ...) offsetof(compatible_layout_t, row_##code) / sizeof(uint32_t),
#include "tokenizer/unicode.def"
};

static const struct {
  uint32_t code, small[2];
} lowers[] = {
#define LOWER(code, first, second) {code, {first, second}},
#include "tokenizer/unicode.def"
};
static const struct {
  uint32_t first, second, code;
} composed[] = {
#define COMPOSED(first, second, code) {first, second, code},
#include "tokenizer/unicode.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

// The place of `code` in a sorted list, or `count`.
static size_t find_code(const uint32_t* codes, size_t count, uint32_t code) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (codes[middle] < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && codes[low] == code ? low : count;
}

int unicode_lower(uint32_t code, uint32_t out[2]) {
  out[0] = code;
  out[1] = 0;
  if (code < 0x80) {
    out[0] = code >= 'A' && code <= 'Z' ? code + 32 : code;
    return 1;
  }
  size_t low = 0, high = COUNT(lowers);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (lowers[middle].code < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < COUNT(lowers) && lowers[low].code == code) memcpy(out, lowers[low].small, sizeof(lowers[low].small));
  return out[1] ? 2 : 1;
}

// Hangul's syllables are computed: Unicode, chapter 3.12.
enum {
  S_BASE = 0xAC00,
  L_BASE = 0x1100,
  V_BASE = 0x1161,
  T_BASE = 0x11A7,
  L_COUNT = 19,
  V_COUNT = 21,
  T_COUNT = 28,
  S_COUNT = L_COUNT * V_COUNT * T_COUNT
};

int unicode_decompose(uint32_t code, bool compatible, uint32_t out[UNICODE_MAX_DECOMPOSITION]) {
  out[0] = code;
  if (code < 0xA0) return 1;
  if (code - S_BASE < S_COUNT) {
    uint32_t s = code - S_BASE;
    out[0] = L_BASE + s / (V_COUNT * T_COUNT);
    out[1] = V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT;
    out[2] = T_BASE + s % T_COUNT;
    return s % T_COUNT ? 3 : 2;
  }
  const uint32_t* values = NULL;
  size_t row = find_code(canonical_codes, COUNT(canonical_codes), code);
  if (row < COUNT(canonical_codes)) values = &canonical_values[canonical_offsets[row]];
  if (!values && compatible) {
    row = find_code(compatible_codes, COUNT(compatible_codes), code);
    if (row < COUNT(compatible_codes)) values = &compatible_values[compatible_offsets[row]];
  }
  if (!values) return 1;
  int count = 0;
  for (uint32_t i = 1; i <= values[0]; ++i) {
    // A canonical decomposition may hold what is compatible with something else.
    if (compatible && values[i] != code) {
      row = find_code(compatible_codes, COUNT(compatible_codes), values[i]);
      if (row < COUNT(compatible_codes)) {
        const uint32_t* inner = &compatible_values[compatible_offsets[row]];
        for (uint32_t k = 1; k <= inner[0] && count < UNICODE_MAX_DECOMPOSITION; ++k) out[count++] = inner[k];
        continue;
      }
    }
    if (count < UNICODE_MAX_DECOMPOSITION) out[count++] = values[i];
  }
  return count;
}

uint32_t unicode_compose(uint32_t first, uint32_t second) {
  if (first - L_BASE < L_COUNT && second - V_BASE < V_COUNT) {
    return S_BASE + ((first - L_BASE) * V_COUNT + (second - V_BASE)) * T_COUNT;
  }
  if (first - S_BASE < S_COUNT && (first - S_BASE) % T_COUNT == 0 && second > T_BASE && second < T_BASE + T_COUNT) {
    return first + (second - T_BASE);
  }
  size_t low = 0, high = COUNT(composed);
  while (low < high) {
    size_t middle = (low + high) / 2;
    bool before = composed[middle].first != first ? composed[middle].first < first : composed[middle].second < second;
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < COUNT(composed) && composed[low].first == first && composed[low].second == second ? composed[low].code
                                                                                                 : 0;
}
