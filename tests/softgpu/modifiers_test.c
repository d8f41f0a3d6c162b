// No bit of an instruction is skipped silently: of each instruction of a target one form is taken, and each of its bits
// is turned over. What comes out is no instruction, or refused by name, or decoded to something else, or differs in a
// modifier that modifiers.def says may be skipped, or in bits that LLVM's disassembler does not read either.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// After those that it needs:
#include <cmocka.h>

#include "softgpu/check_hazards.h"
#include "softgpu/kernel.h"

enum { MOST_FORMS = 4096, TEXT = 512, TRIES = 3 };

// Immediates that rows read from the encoding; literals of 32 bits for operands of 16.
static const char from_encoding[] =
    "s_getreg_* s_setreg_* s_set_gpr_idx_* s_branch s_cbranch_* s_call_b64 s_sendmsg* ds_swizzle_b32 tbuffer_* "
    "s_subvector_loop_* s_rfe_restore_b64 v_madmk_f16 v_madak_f16 v_fmamk_f16 v_fmaak_f16";

typedef struct form_t {
  char mnemonic[64];
  uint8_t bytes[16];
  uint32_t size;
} form_t;

typedef struct walk_t {
  engine_t* engine;
  uint32_t lanes;
  form_t* forms;
  uint32_t form_count;
  uint64_t seed;
  uint32_t changed, refused, skipped, unread;
} walk_t;

static uint32_t next_random(walk_t* k) {
  k->seed ^= k->seed << 13, k->seed ^= k->seed >> 7, k->seed ^= k->seed << 17;
  return (uint32_t)(k->seed >> 16);
}

// The text and the instruction of the bytes; 0: none, 1: refused, 2: decoded.
static int decode(walk_t* k, const uint8_t bytes[16], char text[TEXT], inst_t* out, uint32_t* size) {
  char copy[TEXT];
  memset(out, 0, sizeof(*out));
  *size = disassemble(k->engine, k->lanes, bytes, 16, 0, text, TEXT);
  if (!*size || strstr(text, "Invalid") || strstr(text, "Warning")) return 0;
  if (strstr(text, " :: ")) return 0;
  memcpy(copy, text, TEXT);
  decode_t d = {.engine = k->engine, .lanes = k->lanes, .text = copy};
  text_t error = {0};
  bool known = decode_inst(&d, out, &error);
  text_finish(&error);
  return known ? 2 : 1;
}

static void find_forms(walk_t* k) {
  for (uint32_t high = 0; high < 65536; ++high) {
    for (uint32_t i = 0; i < TRIES && k->form_count < MOST_FORMS; ++i) {
      char text[TEXT], mnemonic[64];
      uint32_t words[4] = {high << 16 | (next_random(k) & 0xffff), next_random(k), next_random(k), 0};
      inst_t inst;
      uint32_t size, at = 0;
      if (i) words[1] &= next_random(k) & next_random(k), words[0] &= 0xffff0000 | next_random(k);
      int got = decode(k, (const uint8_t*)words, text, &inst, &size);
      if (got == 2) decode_free_extra(&inst);
      if (got != 2) continue;
      snprintf(mnemonic, sizeof(mnemonic), "%.*s", (int)strcspn(text + strspn(text, "\t "), "\t "),
               text + strspn(text, "\t "));
      // The same mnemonics come in a row.
      for (at = k->form_count; at && strcmp(k->forms[at - 1].mnemonic, mnemonic) != 0; --at) {
      }
      if (at) continue;
      form_t* form = &k->forms[k->form_count++];
      memcpy(form->mnemonic, mnemonic, sizeof(mnemonic));
      memcpy(form->bytes, words, 16);
      form->size = size;
    }
  }
}

static bool is_same(const inst_t* a, const inst_t* b) {
  inst_t x = *a, y = *b;
  if ((x.extra != NULL) != (y.extra != NULL)) return false;
  if (x.extra && memcmp(x.extra, y.extra, sizeof(*x.extra)) != 0) return false;
  x.extra = y.extra = NULL;
  return memcmp(&x, &y, sizeof(x)) == 0;
}

// Whether the texts are the same but for modifiers that may be skipped.
static bool differs_in_skipped(const char* a, const char* b) {
  char texts[2][TEXT], kept[2][TEXT] = {"", ""};
  snprintf(texts[0], TEXT, "%s", a), snprintf(texts[1], TEXT, "%s", b);
  for (int i = 0; i < 2; ++i) {
    char* rest = texts[i];
    for (char* word; (word = strsep(&rest, " \t"));) {
      if (modifier_is_skipped(word)) continue;
      strncat(kept[i], word, TEXT - 1 - strlen(kept[i]));
    }
  }
  return strcmp(kept[0], kept[1]) == 0;
}

static bool reads_encoding(const inst_t* inst) {
  uint8_t klass = inst->row->klass;
  return klass == INST_CLASS_WAIT || klass == INST_CLASS_HINT || klass == INST_CLASS_MESSAGE ||
         klass == INST_CLASS_BARRIER || hazard_matches(inst->row->name, from_encoding);
}

static uint32_t walk_form(walk_t* k, const form_t* form) {
  char first[TEXT], second[TEXT];
  inst_t inst, other;
  uint32_t size, wrong = 0;
  assert_int_equal(decode(k, form->bytes, first, &inst, &size), 2);
  for (uint32_t bit = 0; bit < 8 * form->size; ++bit) {
    uint8_t bytes[16];
    memcpy(bytes, form->bytes, 16);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    int got = decode(k, bytes, second, &other, &size);
    if (got != 2) {
      k->refused += got == 1;
      continue;
    }
    if (strcmp(first, second) == 0) {
      ++k->unread;
    } else if (differs_in_skipped(first, second)) {
      ++k->skipped;
    } else if (!is_same(&inst, &other)) {
      ++k->changed;
    } else if (!reads_encoding(&inst)) {
      print_error("%s: bit %u makes '%s' of '%s', and nothing of it\n", k->engine->target->name, bit, second, first);
      ++wrong;
    }
    decode_free_extra(&other);
  }
  decode_free_extra(&inst);
  return wrong;
}

static void walk_target(const char* target, uint32_t least_forms) {
  text_t error = {0};
  engine_options_t options = {.target = isa_target_find(target)};
  walk_t k = {.engine = engine_create(&options, &error), .seed = 88172645463325252u};
  assert_non_null(k.engine);
  k.lanes = isa_has_wave32(options.target) ? 32 : 64;
  k.forms = calloc(MOST_FORMS, sizeof(form_t));
  assert_non_null(k.forms);
  find_forms(&k);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < k.form_count; ++i) wrong += walk_form(&k, &k.forms[i]);
  print_message("%s: %u forms; bits: %u change them, %u are refused by name, %u may be skipped, %u are not read\n",
                target, k.form_count, k.changed, k.refused, k.skipped, k.unread);
  assert_true(k.form_count >= least_forms);
  assert_true(k.changed > 10 * k.form_count && k.refused && k.skipped);
  assert_int_equal(wrong, 0);
  free(k.forms);
  engine_destroy(k.engine);
}

// LLVM fails on bits of these; what guards against that takes the place of cmocka's handler once, in the first test.
static void test_gfx9(void** state) {
  walk_target("gfx942", 1000);
  walk_target("gfx90a", 1000);
}
static void test_gfx1030(void** state) { walk_target("gfx1030", 950); }
static void test_gfx1100(void** state) { walk_target("gfx1100", 1000); }
static void test_gfx1201(void** state) { walk_target("gfx1201", 1000); }

static void test_gfx1150(void** state) { walk_target("gfx1150", 1000); }

// A modifier that an instruction does not act upon makes it refused, also where the encoding has bits for it.
static void expect(const char* target, bool is_taken, const char* text) {
  text_t error = {0};
  engine_options_t options = {.target = isa_target_find(target)};
  engine_t* engine = engine_create(&options, &error);
  assert_non_null(engine);
  char copy[TEXT];
  inst_t inst = {0};
  snprintf(copy, TEXT, "%s", text);
  decode_t d = {.engine = engine, .lanes = isa_has_wave32(options.target) ? 32 : 64, .text = copy};
  bool taken = decode_inst(&d, &inst, &error);
  if (taken != is_taken) fail_msg("%s: '%s' is %s: %s", target, text, taken ? "taken" : "refused", error.data);
  if (!taken) assert_non_null(strstr(error.data, "is not executed"));
  if (taken) decode_free_extra(&inst);
  text_finish(&error);
  engine_destroy(engine);
}

static void test_closed_lists(void** state) {
  expect("gfx942", true, "v_add_f32_e64 v0, v1, v2 clamp mul:2");
  expect("gfx942", true, "v_add_u32_e64 v0, v1, v2 clamp");
  expect("gfx942", true, "v_pk_add_u16 v0, v1, v2 clamp");
  expect("gfx942", false, "v_add_co_u32_e64 v0, vcc, v1, v2 clamp");
  expect("gfx942", false, "v_cvt_pkrtz_f16_f32 v0, v1, v2 clamp");
  expect("gfx942", false, "v_cvt_i32_f32_e64 v0, v1 mul:2");
  expect("gfx942", false, "v_alignbit_b32 v0, v1, v2, v3 clamp");
  expect("gfx942", false, "v_dot4_i32_i8 v0, v1, v2, v3 neg_lo:[1,0,0]");
  expect("gfx942", false, "v_pk_mov_b32 v[0:1], v[2:3], v[4:5] neg_lo:[1,0]");
  expect("gfx1100", true, "v_dot4_i32_iu8 v0, v1, v2, v3 neg_lo:[1,0,0]");
  expect("gfx1100", true, "v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[0,1,0] clamp");
}

// Names of targets: those are walked, and nothing else is tested.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) walk_target(argv[i], 500);
  if (argc > 1) return 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gfx9),    cmocka_unit_test(test_gfx1030), cmocka_unit_test(test_gfx1100),
      cmocka_unit_test(test_gfx1150), cmocka_unit_test(test_gfx1201), cmocka_unit_test(test_closed_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
