// What tokenizers ask of Unicode: UTF-8, categories, small letters, normal forms.
#ifndef IREE_C_TOKENIZER_UNICODE_H_
#define IREE_C_TOKENIZER_UNICODE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  UNICODE_Cn,
  UNICODE_Cc,
  UNICODE_Cf,
  UNICODE_Co,
  UNICODE_Cs,
  UNICODE_Ll,
  UNICODE_Lm,
  UNICODE_Lo,
  UNICODE_Lt,
  UNICODE_Lu,
  UNICODE_Mc,
  UNICODE_Me,
  UNICODE_Mn,
  UNICODE_Nd,
  UNICODE_Nl,
  UNICODE_No,
  UNICODE_Pc,
  UNICODE_Pd,
  UNICODE_Pe,
  UNICODE_Pf,
  UNICODE_Pi,
  UNICODE_Po,
  UNICODE_Ps,
  UNICODE_Sc,
  UNICODE_Sk,
  UNICODE_Sm,
  UNICODE_So,
  UNICODE_Zl,
  UNICODE_Zp,
  UNICODE_Zs,
} unicode_category_t;

// Sets of categories: UNICODE_BIT(Lu) | UNICODE_L.
#define UNICODE_BIT(name) (1u << UNICODE_##name)
#define UNICODE_C (UNICODE_BIT(Cn) | UNICODE_BIT(Cc) | UNICODE_BIT(Cf) | UNICODE_BIT(Co) | UNICODE_BIT(Cs))
#define UNICODE_L (UNICODE_BIT(Ll) | UNICODE_BIT(Lm) | UNICODE_BIT(Lo) | UNICODE_BIT(Lt) | UNICODE_BIT(Lu))
#define UNICODE_M (UNICODE_BIT(Mc) | UNICODE_BIT(Me) | UNICODE_BIT(Mn))
#define UNICODE_N (UNICODE_BIT(Nd) | UNICODE_BIT(Nl) | UNICODE_BIT(No))
#define UNICODE_P                                                                                              \
  (UNICODE_BIT(Pc) | UNICODE_BIT(Pd) | UNICODE_BIT(Pe) | UNICODE_BIT(Pf) | UNICODE_BIT(Pi) | UNICODE_BIT(Po) | \
   UNICODE_BIT(Ps))
#define UNICODE_S (UNICODE_BIT(Sc) | UNICODE_BIT(Sk) | UNICODE_BIT(Sm) | UNICODE_BIT(So))
#define UNICODE_Z (UNICODE_BIT(Zl) | UNICODE_BIT(Zp) | UNICODE_BIT(Zs))
// What \w matches.
#define UNICODE_WORD (UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_BIT(Pc))

// The code point at `text`, of `size` bytes, at least one. Bytes that are no UTF-8 are 0xFFFD, one at a time. Returns
// how many bytes it takes.
size_t utf8_decode(const char* text, size_t size, uint32_t* out_code);
// Returns how many bytes were written, at most 4.
size_t utf8_encode(uint32_t code, char* out);

uint32_t unicode_category_bit(uint32_t code);
bool unicode_is_space(uint32_t code);
// The small letter, which may be two code points: returns how many.
int unicode_lower(uint32_t code, uint32_t out[2]);
uint8_t unicode_combining(uint32_t code);

enum { UNICODE_MAX_DECOMPOSITION = 18 };
// The whole decomposition of one code point; itself when it has none. Returns how many.
int unicode_decompose(uint32_t code, bool compatible, uint32_t out[UNICODE_MAX_DECOMPOSITION]);
// What two compose to; 0 when they do not.
uint32_t unicode_compose(uint32_t first, uint32_t second);

#endif  // IREE_C_TOKENIZER_UNICODE_H_
