// A tool's flags as a table, from which its help, its shell completions and its manual page are made: `--help` and
// `--help=bash|zsh|man|list|markdown`.
#ifndef IREE_C_BASE_FLAG_TABLE_H_
#define IREE_C_BASE_FLAG_TABLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct flag_entry_t {
  const char* name;      // with its dashes: "--iree-opt-level", "-o"
  const char* argument;  // its value as help shows it: "=LEVEL", "[=BOOL]", " FILE"; "": it takes none
  const char* choices;   // values, separated by commas; NULL: any
  const char* help;      // may have several lines
  const char* group;     // heading above it; NULL: that of the entry before
} flag_entry_t;

typedef struct flag_table_t {
  const char* program;
  const char* summary;      // one sentence
  const char* synopsis;     // behind the program's name: "[options] <input>"
  const char* description;  // more text, or ""
  const char* guide;        // how it is used, in Markdown, for FLAG_TABLE_MARKDOWN; or NULL
  const flag_entry_t* entries;
  size_t count;
} flag_table_t;

typedef enum {
  FLAG_TABLE_HELP,
  FLAG_TABLE_BASH,
  FLAG_TABLE_ZSH,
  FLAG_TABLE_MAN,
  FLAG_TABLE_LIST,
  FLAG_TABLE_MARKDOWN
} flag_table_format_t;

// The format of `--help` and `--help=NAME`; false for other arguments. Says on stderr which formats there are when NAME
// is none, and is FLAG_TABLE_HELP then.
bool flag_table_wants(const char* argument, flag_table_format_t* out_format);
#define FLAG_TABLE_FORMATS "bash,zsh,man,list,markdown"  // behind --help=
// FLAG_TABLE_LIST: a line for each flag: its name, its value's form, its choices, its group and the first line of its
// help, with tabs between.
void flag_table_print(const flag_table_t* table, flag_table_format_t format, FILE* file);

// The guide of a tool whose flags are those of iree/base/tooling/flags.h.
void flags_set_guide(const char* markdown);
// FLAG_VALUES(name, "a,b,c"): what a flag of iree/base/tooling/flags.h takes, for its help and completions. The flag's
// owner checks it.
void flag_values_register(const char* name, const char* values);
#define FLAG_VALUES(name, values) \
  __attribute__((constructor)) static void flag_values_##name(void) { flag_values_register(#name, values); }

#endif  // IREE_C_BASE_FLAG_TABLE_H_
