// Flags of iree-compile and the options they make.
#ifndef IREE_C_COMPILER_FLAGS_H_
#define IREE_C_COMPILER_FLAGS_H_

#include "base/flag_table.h"
#include "compiler/compiler.h"

enum { FLAGS_MAX_LIST = 32 };
typedef struct flag_list_t {
  const char* items[FLAGS_MAX_LIST];
  uint32_t count;
} flag_list_t;
typedef enum { FLAG_UNSET, FLAG_FALSE, FLAG_TRUE } flag_bool_t;

// One field per row of flags.def.
typedef struct compiler_flags_t {
#define STRING(name, field, help) const char* field;
#define LIST(name, field, help) flag_list_t field;
#define BOOL(name, field, help) flag_bool_t field;
#define ALIAS(name, target)
#define CHOICE(name, accepted, why)
#include "compiler/flags.def"
#undef STRING
#undef LIST
#undef BOOL
#undef ALIAS
#undef CHOICE
  const char* input;  // positional
  arena_t arena;      // split list items
} compiler_flags_t;

// Reads argv[1..]. `--name=value`, `--name value` and one dash are all accepted. False after one message in `error`.
bool compiler_flags_parse(compiler_flags_t* flags, int argc, char** argv, text_t* error);
// Whether there is a flag of the name, without its dashes.
bool compiler_flags_have(const char* name, size_t size);
// Offers all names that begin so.
void compiler_flags_offer(near_t* near, const char* prefix);
// What to use in place of a flag that IREE's tools have and these have not; NULL for other names. `out_exact`: it is
// known by its whole name, not only by how it begins.
const char* compiler_flags_instead(const char* name, size_t size, bool* out_exact);
void compiler_flags_finish(compiler_flags_t* flags);
// The flags as a table; `arena` has the texts that are made for it.
flag_table_t compiler_flags_table(arena_t* arena);
// Resolves targets and everything else. `flags` must outlive `out`. False after one message in `error`.
bool compiler_flags_resolve(const compiler_flags_t* flags, compiler_options_t* out, text_t* error);
// The part of it that is about passes, and IREE's names of such (flags_passes.c).
bool compiler_flags_resolve_passes(const compiler_flags_t* flags, compiler_options_t* out, text_t* error);
void compiler_flags_rename_passes(compiler_flags_t* flags);
// The part of it that is about parameters (flags_parameters.c).
bool compiler_flags_resolve_parameters(const compiler_flags_t* flags, compiler_options_t* out, text_t* error);

#endif  // IREE_C_COMPILER_FLAGS_H_
