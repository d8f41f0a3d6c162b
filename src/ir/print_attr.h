// Pieces of text that print.c shares with print_attr.c.
#ifndef IREE_C_IR_PRINT_ATTR_H_
#define IREE_C_IR_PRINT_ATTR_H_

#include "ir/ir.h"

// Numbers: with their type; without i64 and f64 (in lists); without any.
typedef enum { IR_ATTR_TYPED, IR_ATTR_IN_LIST, IR_ATTR_BARE } ir_attr_form_t;

void ir_put_attr(text_t* out, const ir_attr_t* attr, ir_attr_form_t form);
void ir_put_entries(text_t* out, const ir_named_attr_t* entries, uint32_t count);
void ir_put_string(text_t* out, const char* text, size_t size);
void ir_put_symbol(text_t* out, const char* name);
void ir_put_name(text_t* out, const char* name);  // attribute and resource names: bare or quoted
void ir_put_hex(text_t* out, const void* data, size_t size);
// Element data with its type; of more elements than `hex_above` in hexadecimal, unless that is -1.
void ir_put_elements(text_t* out, const ir_attr_t* attr, int64_t hex_above);
void ir_put_loc(text_t* out, const ir_loc_t* loc);
void ir_put_affine_map(text_t* out, const ir_affine_map_t* map);

#endif  // IREE_C_IR_PRINT_ATTR_H_
