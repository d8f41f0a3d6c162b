// Flags about passes: what is printed around them, and which are left out. See flags.h.
#include <stdlib.h>
#include <string.h>

#include "compiler/flags.h"
#include "compiler/pass_set.h"

// IREE's names of passes become those of the same here.
static void rename_passes(flag_list_t* list) {
  for (uint32_t i = 0; i < list->count; ++i) {
    const char* same = pass_name_same(list->items[i], strlen(list->items[i]));
    if (same) list->items[i] = same;
  }
}

void compiler_flags_rename_passes(compiler_flags_t* flags) {
  rename_passes(&flags->print_after);
  rename_passes(&flags->print_before);
}

static bool check_passes(const char* side, const flag_list_t* list, text_t* error) {
  for (uint32_t i = 0; i < list->count; ++i) {
    near_t near = near_begin(list->items[i], strlen(list->items[i]));
    if (compiler_has_pass(list->items[i], &near)) continue;
    bool exact = false;
    const char* meant = near_result(&near);
    const char* instead = pass_name_instead(list->items[i], strlen(list->items[i]), &exact);
    text_printf(error, "--mlir-print-ir-%s=%s: there is no such pass; ", side, list->items[i]);
    if (instead) {
      text_printf(error, "it is IREE's, and not here: %s", instead);
    } else {
      text_printf(error, "%s%s%s--mlir-timing names those that run", meant ? "did you mean '" : "", meant ? meant : "",
                  meant ? "'? " : "");
    }
    return false;
  }
  return true;
}

bool compiler_flags_resolve_passes(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  pass_options_t* passes = &out->passes;
  passes->verify_each = flags->verify_each != FLAG_FALSE;
  passes->print_after_all = flags->print_after_all == FLAG_TRUE;
  passes->print_after_change = flags->print_after_change == FLAG_TRUE;
  passes->print_after_failure = flags->print_after_failure == FLAG_TRUE;
  passes->print_tree = flags->print_tree;
  passes->reproducer = flags->reproducer;
  passes->reproduces_last = flags->reproducer_last == FLAG_TRUE;
  passes->print_before_all = flags->print_before_all == FLAG_TRUE;
  passes->print_before = flags->print_before.items;
  passes->print_before_count = flags->print_before.count;
  passes->print_after = flags->print_after.items;
  passes->print_after_count = flags->print_after.count;
  if (flags->print_generic == FLAG_TRUE) passes->print_flags |= IR_PRINT_GENERIC;
  if (flags->print_locs == FLAG_TRUE) passes->print_flags |= IR_PRINT_LOCS;
  if (flags->elide) passes->print_flags |= IR_PRINT_ELIDE_LARGE;
  if (flags->hex_above || flags->elide_resources) passes->print_flags |= IR_PRINT_LIMITS;
  passes->elide_above = flags->elide ? atoll(flags->elide) : 0;
  out->hex_above = flags->hex_above ? atoll(flags->hex_above) : IR_HEX_ABOVE;
  out->resource_above = flags->elide_resources ? atoll(flags->elide_resources) : -1;
  out->print_flags = passes->print_flags;
  out->elide_above = passes->elide_above;
  passes->bisect_limit = flags->bisect_limit ? atoll(flags->bisect_limit) : 0;
  return check_passes("after", &flags->print_after, error) && check_passes("before", &flags->print_before, error);
}
