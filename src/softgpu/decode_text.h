// Words of an instruction's text.
#ifndef IREE_C_SOFTGPU_DECODE_TEXT_H_
#define IREE_C_SOFTGPU_DECODE_TEXT_H_

#include "softgpu/inst.h"

// `null`, before decode.c replaces it.
enum { DECODE_SREG_NULL = 1000 };

// "1,2,3]": element i at bit i * bits
uint32_t decode_list(const char* text, uint32_t bits);
// A register with modifiers, `off`, or a constant of a type. Changes the word. False when it is none of these.
bool decode_operand(char* word, uint8_t type, operand_t* out);
// Constant of a type as bits; false when the text is no number.
bool decode_constant(const char* text, uint8_t type, uint64_t* out);

#endif  // IREE_C_SOFTGPU_DECODE_TEXT_H_
