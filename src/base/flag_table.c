// See flag_table.h.
#include "base/flag_table.h"

#include <string.h>

#include "base/version.h"

bool flag_table_wants(const char* argument, flag_table_format_t* out_format) {
  static const char* const names[] = {"", "bash", "zsh", "man", "list", "markdown"};
  static const char help[] = "--help";
  *out_format = FLAG_TABLE_HELP;
  if (strcmp(argument, "-h") == 0) return true;
  if (strncmp(argument, help, sizeof(help) - 1) != 0) return false;
  argument += sizeof(help) - 1;
  if (!*argument) return true;
  if (*argument != '=') return false;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(argument + 1, names[i]) != 0) continue;
    *out_format = (flag_table_format_t)i;
    return true;
  }
  fprintf(stderr, "--help%s: bash, zsh, man, list and markdown are known\n", argument);
  return true;
}

static bool takes_value(const flag_entry_t* entry) { return entry->argument[0] != 0; }
static bool is_optional(const flag_entry_t* entry) { return entry->argument[0] == '['; }

// "a,b,c" with another separator.
static void put_choices(const char* choices, const char* separator, FILE* file) {
  for (const char* at = choices; *at;) {
    size_t size = strcspn(at, ",");
    fprintf(file, "%s%.*s", at == choices ? "" : separator, (int)size, at);
    at += size + (at[size] == ',');
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Help
//===----------------------------------------------------------------------------------------------------------------===

enum { HELP_COLUMN = 48, HELP_WIDTH = 120 };

// Words from the column of help on; a line break in the text stays one. `more`, " " or " | ", is between words.
static void put_wrapped(const char* text, const char* apart, const char* more, FILE* file) {
  int column = HELP_COLUMN;
  for (const char* at = text; *at;) {
    size_t size = strcspn(at, apart);
    if (column > HELP_COLUMN && column + (int)(size + strlen(more)) > HELP_WIDTH) column = -1;
    if (at != text && at[-1] == '\n') column = -1;
    if (at != text && column >= 0) column += fprintf(file, "%s", more);
    if (column < 0) column = fprintf(file, "%s\n%*s", more[1] ? " |" : "", HELP_COLUMN, "") - 1;
    column += fprintf(file, "%.*s", (int)size, at);
    at += size + (at[size] != 0);
  }
  fputc('\n', file);
}

static void print_help(const flag_table_t* table, FILE* file) {
  fprintf(file, "%s: %s\n\nUSAGE: %s %s\n", table->program, table->summary, table->program, table->synopsis);
  if (table->description[0]) fprintf(file, "\n%s\n", table->description);
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    if (entry->group || !i) fprintf(file, "\n%s:\n", entry->group ? entry->group : "OPTIONS");
    int width = fprintf(file, "  %s%s", entry->name, entry->argument);
    if (width >= HELP_COLUMN) {
      fputc('\n', file);
      width = 0;
    }
    fprintf(file, "%*s", HELP_COLUMN - width, "");
    put_wrapped(entry->help, " \n", " ", file);
    if (!entry->choices || is_optional(entry)) continue;
    fprintf(file, "%*s", HELP_COLUMN, "");
    put_wrapped(entry->choices, ",", " | ", file);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Completions
//===----------------------------------------------------------------------------------------------------------------===

static void put_function_name(const char* program, FILE* file) {
  fputc('_', file);
  for (const char* at = program; *at; ++at) fputc(*at == '-' ? '_' : *at, file);
}

// Values with '=' in front of them, which the shell takes for words of their own.
static void print_bash(const flag_table_t* table, FILE* file) {
  fprintf(file, "# bash completion for %s\n", table->program);
  put_function_name(table->program, file);
  fputs(
      "() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" flag= values= list=\n"
      "  if [[ $word == = ]]; then flag=$before word=\n"
      "  elif [[ $before == = ]]; then flag=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  elif [[ $before == -* && $word != -* ]]; then flag=$before; fi\n"
      "  case \"$flag\" in\n",
      file);
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    if (!takes_value(entry) || !entry->choices) continue;
    fprintf(file, "    %s) values='", entry->name);
    put_choices(entry->choices, " ", file);
    fputs("' ;;\n", file);
  }
  fputs(
      "  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\")); return; fi\n"
      "  if [[ -n $flag && $word != -* ]]; then return; fi  # a file\n"
      "  if [[ $word != -* ]]; then return; fi\n"
      "  list='",
      file);
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    fprintf(file, "%s%s%s", i ? " " : "", entry->name, entry->argument[0] == '=' ? "=" : "");
  }
  fputs(
      "'\n"
      "  COMPREPLY=($(compgen -W \"$list\" -- \"$word\"))\n"
      "  if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi\n"
      "}\n"
      "complete -o default -F ",
      file);
  put_function_name(table->program, file);
  fprintf(file, " %s\n", table->program);
}

// In single quotes, inside brackets of a spec.
static void put_zsh(const char* text, size_t size, FILE* file) {
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == '\'') {
      fputs("'\\''", file);
    } else {
      if (strchr("[]:\\", text[i])) fputc('\\', file);
      fputc(text[i], file);
    }
  }
}

static void print_zsh(const flag_table_t* table, FILE* file) {
  fprintf(file, "#compdef %s\n\n_arguments \\\n", table->program);
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    const char* form = entry->argument[0] == '=' ? "=-" : is_optional(entry) ? "=-" : "";
    fprintf(file, "  '*%s%s[", entry->name, form);
    put_zsh(entry->help, strcspn(entry->help, "\n"), file);
    fputc(']', file);
    if (takes_value(entry)) {
      fputs(is_optional(entry) ? "::value:" : ":value:", file);
      if (entry->choices) {
        fputc('(', file);
        put_choices(entry->choices, " ", file);
        fputc(')', file);
      } else {
        fputs("_files", file);
      }
    }
    fputs("' \\\n", file);
  }
  fputs("  '*:file:_files'\n", file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Manual page, list
//===----------------------------------------------------------------------------------------------------------------===

static void put_roff(const char* text, FILE* file) {
  bool starts = true;  // a line
  for (const char* at = text; *at; ++at) {
    if (starts && (*at == '.' || *at == '\'')) fputs("\\&", file);
    starts = *at == '\n';
    if (*at == '\\') {
      fputs("\\e", file);
    } else if (*at == '-') {
      fputs("\\-", file);
    } else {
      fputc(*at, file);
    }
  }
}

static void put_heading(const char* text, FILE* file) {
  fputs(".SH \"", file);
  for (const char* at = text; *at; ++at) fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, file);
  fputs("\"\n", file);
}

static void print_man(const flag_table_t* table, FILE* file) {
  fprintf(file, ".TH \"%s\" 1 \"\" \"iree-c %s\" \"IREE\"\n.SH NAME\n", table->program, IREE_C_VERSION);
  put_roff(table->program, file);
  fputs(" \\- ", file);
  put_roff(table->summary, file);
  fputs("\n.SH SYNOPSIS\n.B ", file);
  put_roff(table->program, file);
  fputc('\n', file);
  put_roff(table->synopsis, file);
  fputc('\n', file);
  if (table->description[0]) {
    fputs(".SH DESCRIPTION\n.nf\n", file);
    put_roff(table->description, file);
    fputs("\n.fi\n", file);
  }
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    if (entry->group || !i) put_heading(entry->group ? entry->group : "OPTIONS", file);
    fputs(".TP\n.B ", file);
    put_roff(entry->name, file);
    put_roff(entry->argument, file);
    fputc('\n', file);
    put_roff(entry->help, file);
    fputc('\n', file);
    if (!entry->choices) continue;
    fputs(".br\nValues: ", file);
    put_choices(entry->choices, ", ", file);
    fputs(".\n", file);
  }
}

static void print_list(const flag_table_t* table, FILE* file) {
  const char* group = "OPTIONS";
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    if (entry->group) group = entry->group;
    fprintf(file, "%s\t%s\t%s\t%s\t%.*s\n", entry->name, entry->argument, entry->choices ? entry->choices : "", group,
            (int)strcspn(entry->help, "\n"), entry->help);
  }
}

static void print_markdown(const flag_table_t* table, FILE* file) {
  fprintf(file, "# %s\n\n%s\n\n```\n%s %s\n```\n", table->program, table->summary, table->program, table->synopsis);
  if (table->description[0]) fprintf(file, "\n```\n%s\n```\n", table->description + strspn(table->description, "\n"));
  if (table->guide) fprintf(file, "\n%s", table->guide);
  for (size_t i = 0; i < table->count; ++i) {
    const flag_entry_t* entry = &table->entries[i];
    if (entry->group || !i) fprintf(file, "\n## %s\n\n", entry->group ? entry->group : "Options");
    fprintf(file, "- `%s%s`: ", entry->name, entry->argument);
    for (const char* at = entry->help; *at; ++at) fputc(*at == '\n' ? ' ' : *at, file);
    if (entry->choices && !is_optional(entry)) {
      fputs(" Values: `", file);
      put_choices(entry->choices, "`, `", file);
      fputs("`.", file);
    }
    fputc('\n', file);
  }
}

void flag_table_print(const flag_table_t* table, flag_table_format_t format, FILE* file) {
  static void (*const printers[])(const flag_table_t*, FILE*) = {print_help, print_bash, print_zsh,
                                                                 print_man,  print_list, print_markdown};
  printers[format](table, file);
}
