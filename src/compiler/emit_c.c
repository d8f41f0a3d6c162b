// See emit_c.h. A function begins with the positions at which it may be entered: its start, and where the runtime has
// run an instruction. Everything between is C, with the expressions that the interpreter has (module/ops.def):
//
//   static uint32_t module_f0(iree_vm_c_value_t* v, iree_vm_c_value_t* g, uint32_t position) {
//     switch (position) {
//       case 0: goto p0;
//       case 9: goto p9;
//       default: return position;
//     }
//   p0: v[2].bits = UINT64_C(0x3);
//     { const int64_t a = v[0].I, b = v[2].I; v[1].I = (int64_t)((uint64_t)a + (uint64_t)b); }
//     return 5;  // hal_alloca
//   p9: ...
#include "compiler/emit_c.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "module/ops.h"

// An instruction that is an expression of its operands.
typedef struct formula_t {
  const char *result, *operands[3];  // type letters; NULL: not that many
  const char* text;
  bool divides;
} formula_t;

static const formula_t formulas[VM_OP_COUNT] = {
#define UNARY(name, R, A, expr) [VM_OP_##name] = {#R, {#A}, #expr},
#define BINARY(name, R, A, B, expr) [VM_OP_##name] = {#R, {#A, #B}, #expr},
#define TERNARY(name, R, A, B, C, expr) [VM_OP_##name] = {#R, {#A, #B, #C}, #expr},
#define DIVIDE(name, R, U, expr) [VM_OP_##name] = {#R, {#R, #R}, #expr, true},
#define FLOW(name, ...)
#define OP(name, ...)
#define LOAD(name, ...)
#define STORE(name, ...)
#define HAL_LOAD(name, ...)
#include "module/ops.def"
#include "module/ops_undef.h"
};

static const char* c_type(char letter) {
  return letter == 'i' ? "int32_t" : letter == 'I' ? "int64_t" : letter == 'f' ? "float" : "double";
}

typedef struct emit_t {
  const module_image_t* image;
  const char* name;
  const module_function_row_t* row;
  const vm_word_t* code;
  uint8_t* places;  // of each word: PLACE_ bits
  text_t* out;
} emit_t;

enum { PLACE_TARGET = 1, PLACE_ENTRY = 2 };

//===----------------------------------------------------------------------------------------------------------------===
// Instructions
//===----------------------------------------------------------------------------------------------------------------===

static void emit_formula(emit_t* e, uint32_t at) {
  const formula_t* f = &formulas[e->code[at]];
  const vm_word_t* operands = &e->code[at + 1];
  text_puts(e->out, "  {");
  for (int i = 0; i < 3 && f->operands[i]; ++i) {
    char letter = *f->operands[i];
    text_printf(e->out, " const %s %c = v[%u].%c;", c_type(letter), 'a' + i, operands[1 + i], letter);
  }
  if (f->divides) text_printf(e->out, " if (b == 0) return %u;", at);
  text_printf(e->out, " v[%u].%c = (%s)(%s); }\n", operands[0], *f->result, c_type(*f->result), f->text);
}

static void emit_literal(emit_t* e, const vm_word_t* operands, bool is_wide) {
  uint64_t bits = is_wide ? vm_read_u64(operands + 1) : operands[1];
  text_printf(e->out, "  v[%u].bits = UINT64_C(0x%" PRIx64 ");\n", operands[0], bits);
}

static void emit_switch(emit_t* e, const vm_word_t* operands) {
  text_printf(e->out, "  switch ((uint32_t)v[%u].i) {\n", operands[0]);
  for (uint32_t i = 0; i < operands[2]; ++i) text_printf(e->out, "    case %u: goto p%u;\n", i, operands[3 + i]);
  text_printf(e->out, "    default: goto p%u;\n  }\n", operands[1]);
}

// Instructions that are C without being expressions; false for those of the runtime.
static bool emit_plain(emit_t* e, uint32_t at) {
  const vm_word_t* x = &e->code[at + 1];
  switch (e->code[at]) {
    case VM_OP_br:
      text_printf(e->out, "  goto p%u;\n", x[0]);
      return true;
    case VM_OP_br_if:
      text_printf(e->out, "  if (v[%u].i) goto p%u;\n  goto p%u;\n", x[0], x[1], x[2]);
      return true;
    case VM_OP_switch:
      emit_switch(e, x);
      return true;
    case VM_OP_fail_if:
    case VM_OP_fail_numbers:
      text_printf(e->out, "  if (v[%u].i) return %u;\n", x[0], at);
      return true;
    case VM_OP_mov:
      text_printf(e->out, "  v[%u] = v[%u];\n", x[0], x[1]);
      return true;
    case VM_OP_select:
      text_printf(e->out, "  v[%u] = v[%u].i ? v[%u] : v[%u];\n", x[0], x[1], x[2], x[3]);
      return true;
    case VM_OP_const_i32:
    case VM_OP_const_f32:
      emit_literal(e, x, false);
      return true;
    case VM_OP_const_i64:
    case VM_OP_const_f64:
      emit_literal(e, x, true);
      return true;
    case VM_OP_global_load:
      text_printf(e->out, "  v[%u] = g[%u];\n", x[0], x[1]);
      return true;
    case VM_OP_global_store:
      text_printf(e->out, "  g[%u] = v[%u];\n", x[0], x[1]);
      return true;
    default:
      return false;
  }
}

static bool is_c(const emit_t* e, uint32_t at) {
  text_t nothing = {0};
  emit_t probe = *e;
  probe.out = &nothing;
  bool is = formulas[e->code[at]].text || emit_plain(&probe, at);
  text_finish(&nothing);
  return is;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t next_of(const emit_t* e, uint32_t at, vm_operands_t* operands) {
  vm_operand_t operand;
  vm_operands_begin(e->code, e->row->code_count, at, operands);
  while (vm_operands_next(operands, &operand)) {
    for (uint32_t i = 0; operand.kind.letter == 'L' && i < operand.count; ++i) {
      e->places[e->code[operand.at + i]] |= PLACE_TARGET;
    }
  }
  return operands->position;
}

static void mark_places(emit_t* e) {
  vm_operands_t operands;
  e->places[0] |= PLACE_ENTRY;
  for (uint32_t at = 0, next; at < e->row->code_count; at = next) {
    next = next_of(e, at, &operands);
    bool ends = e->code[at] == VM_OP_return || e->code[at] == VM_OP_fail;
    if (!ends && next < e->row->code_count && !is_c(e, at)) e->places[next] |= PLACE_ENTRY;
  }
}

static void emit_function(emit_t* e, uint32_t index) {
  e->row = &e->image->functions[index];
  e->code = e->image->code + e->row->code_first;
  e->places = memory_array(e->row->code_count + 1, 1);
  memset(e->places, 0, e->row->code_count + 1);
  mark_places(e);
  iree_string_view_t name = module_image_string(e->image, e->row->name);
  text_puts(e->out, "\n// ");
  for (iree_host_size_t i = 0; i < name.size; ++i) {
    text_printf(e->out, "%c", name.data[i] >= ' ' && name.data[i] != '\\' ? name.data[i] : '_');
  }
  text_printf(e->out, "\nstatic uint32_t %s_f%u(iree_vm_c_value_t* v, iree_vm_c_value_t* g, uint32_t position) {\n",
              e->name, index);
  text_puts(e->out, "  (void)v, (void)g;\n  switch (position) {\n");
  for (uint32_t at = 0; at < e->row->code_count; ++at) {
    if (e->places[at] & PLACE_ENTRY) text_printf(e->out, "    case %u: goto p%u;\n", at, at);
  }
  text_puts(e->out, "    default: return position;\n  }\n");
  vm_operands_t operands;
  for (uint32_t at = 0, next; at < e->row->code_count; at = next) {
    next = next_of(e, at, &operands);
    if (e->places[at]) text_printf(e->out, "p%u:\n", at);
    if (formulas[e->code[at]].text) {
      emit_formula(e, at);
    } else if (!emit_plain(e, at)) {
      text_printf(e->out, "  return %u;  // %s\n", at, vm_op_info(e->code[at])->name);
    }
  }
  text_puts(e->out, "}\n");
  memory_free(e->places);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static void emit_contents(emit_t* e, iree_const_byte_span_t contents) {
  text_printf(e->out, "\nstatic iree_alignas(64) const uint64_t %s_contents[] = {", e->name);
  for (iree_host_size_t at = 0; at < contents.data_length; at += 8) {
    uint64_t word = 0;
    iree_host_size_t left = contents.data_length - at;
    memcpy(&word, contents.data + at, left < 8 ? left : 8);
    text_printf(e->out, "%s0x%" PRIx64 "u,", at % 64 ? "" : "\n", word);
  }
  text_puts(e->out, "\n};\n");
}

static char* identifier_of(const module_image_t* image) {
  iree_string_view_t name = module_image_string(image, image->header->name);
  text_t text = {0};
  text_puts(&text, name.size && !isdigit((unsigned char)name.data[0]) ? "" : "_");
  for (iree_host_size_t i = 0; i < name.size; ++i) {
    text_printf(&text, "%c", isalnum((unsigned char)name.data[i]) ? name.data[i] : '_');
  }
  return text.data;
}

void emit_c_module(const module_image_t* image, iree_const_byte_span_t contents, text_t* out) {
  char* name = identifier_of(image);
  emit_t e = {.image = image, .name = name, .out = out};
  text_puts(out,
            "// Generated by iree-compile --output-format=vm-c; for little-endian machines.\n"
            "#include \"iree/vm/c_module.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  text_printf(out,
              "iree_status_t %s_create(iree_vm_instance_t* instance, iree_allocator_t allocator,\n"
              "    iree_vm_module_t** out_module);\n\n#if defined(EMITC_IMPLEMENTATION)\n\n#include <math.h>\n\n"
              "// Results are the same as everywhere else: no products are fused with sums.\n"
              "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize(\"fp-contract=off\")\n#else\n"
              "#pragma STDC FP_CONTRACT OFF\n#endif\n",
              name);
  for (uint32_t i = 0; i < image->functions_count; ++i) emit_function(&e, i);
  text_printf(out, "\nstatic const iree_vm_c_function_t %s_functions[] = {", name);
  for (uint32_t i = 0; i < image->functions_count; ++i) text_printf(out, "%s_f%u, ", name, i);
  text_puts(out, "NULL};\n");
  emit_contents(&e, contents);
  text_printf(out,
              "\niree_status_t %s_create(iree_vm_instance_t* instance, iree_allocator_t allocator,\n"
              "    iree_vm_module_t** out_module) {\n  static const iree_vm_c_module_t module = {\n"
              "      IREE_VM_C_MODULE_VERSION, {(const uint8_t*)%s_contents, %zu}, %u, %s_functions};\n"
              "  return iree_vm_c_module_create(instance, &module, allocator, out_module);\n}\n\n"
              "#endif  // EMITC_IMPLEMENTATION\n\n#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n",
              name, name, contents.data_length, image->functions_count, name);
  memory_free(name);
}
