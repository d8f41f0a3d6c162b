// See rows.h.
#include "tooling/profile/rows.h"

void profile_json_string(FILE* file, iree_string_view_t text) {
  fputc('"', file);
  for (iree_host_size_t i = 0; i < text.size; ++i) {
    uint8_t c = (uint8_t)text.data[i];
    if (c == '"' || c == '\\') {
      fprintf(file, "\\%c", c);
    } else if (c < 0x20 || c >= 0x7f) {
      fprintf(file, "\\u%04x", c);  // names are bytes, of any kind
    } else {
      fputc(c, file);
    }
  }
  fputc('"', file);
}

static void print_cell(FILE* file, const profile_cell_t* cell) {
  fprintf(file, ",\"%s\":", cell->name);
  switch (cell->kind) {
    case 'u':
      fprintf(file, "%" PRIu64, cell->u);
      break;
    case 'i':
      fprintf(file, "%" PRId64, cell->i);
      break;
    case 'b':
      fputs(cell->u ? "true" : "false", file);
      break;
    case 'f':
      fprintf(file, "%.*f", cell->digits, cell->f);
      break;
    case '3':
      fprintf(file, "[%u,%u,%u]", cell->triple[0], cell->triple[1], cell->triple[2]);
      break;
    default:
      if (cell->s.data) {
        profile_json_string(file, cell->s);
      } else {
        fputs("null", file);
      }
      break;
  }
}

void profile_row_print(const profile_out_t* out, const char* type, bool is_closed, const profile_cell_t* cells,
                       size_t count) {
  if (out->is_export) {
    fprintf(out->file, "{\"schema_version\":%d,\"record_type\":\"%s\",\"source_record_index\":%" PRIhsz,
            PROFILE_EXPORT_VERSION, type, out->source);
  } else {
    fprintf(out->file, "{\"type\":\"%s\"", type);
  }
  for (size_t i = 0; i < count; ++i) {
    if (cells[i].kind) print_cell(out->file, &cells[i]);
  }
  if (is_closed) fputs("}\n", out->file);
}
