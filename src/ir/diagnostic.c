// Diagnostics: "file:line:col: error: text", the source line, a caret; handed to the context's callback.
#include <stdio.h>
#include <string.h>

#include "ir/context.h"

void ir_context_set_diagnostics(ir_context_t* ctx, ir_diagnostic_fn_t fn, void* user) {
  ctx->diagnostic = fn;
  ctx->diagnostic_user = user;
}

void ir_context_mute(ir_context_t* ctx, bool mute) { ctx->muted += mute ? 1 : -1u; }

void ir_context_add_source(ir_context_t* ctx, const char* path, const char* text, size_t size) {
  ir_source_t* source = ARENA_NEW(&ctx->arena, ir_source_t);
  *source = (ir_source_t){ctx->sources, ir_intern_cstr(ctx, path), text, size};
  ctx->sources = source;
}

static const ir_source_t* find_source(const ir_context_t* ctx, ir_name_t path) {
  const ir_source_t* source = ctx->sources;
  while (source && source->path != path) source = source->next;
  return source;
}

// The line and a caret below its column; long lines are cut around the column.
static void show_line(text_t* out, const ir_source_t* source, uint32_t line, uint32_t column) {
  const char *p = source->text, *end = p + source->size;
  for (uint32_t i = 1; i < line && p < end; ++i) {
    const char* newline = memchr(p, '\n', (size_t)(end - p));
    if (!newline) return;
    p = newline + 1;
  }
  const char* stop = memchr(p, '\n', (size_t)(end - p));
  if (!stop) stop = end;
  size_t size = (size_t)(stop - p), first = 0, at = column ? column - 1 : 0;
  if (at > size) at = size;
  if (size > 200) {
    first = at > 80 ? at - 80 : 0;
    size = size - first > 200 ? 200 : size - first;
  }
  text_puts(out, "\n");
  text_append(out, p + first, size);
  text_puts(out, "\n");
  for (size_t i = first; i < at; ++i) text_puts(out, p[i] == '\t' ? "\t" : " ");
  text_puts(out, "^");
}

static void report(ir_context_t* ctx, ir_severity_t severity, const ir_loc_t* loc, const char* text) {
  static const char* const names[] = {"error", "warning", "remark", "note"};
  if (ctx->muted) return;
  text_t out = {0};
  const ir_loc_t* file = loc ? ir_loc_find_file(loc) : NULL;
  bool in_file = file && !file->line;  // a file without lines: the name in it says where
  if (in_file) {
    text_printf(&out, "%s: ", file->name);
  } else if (file) {
    text_printf(&out, "%s:%u:%u: ", file->name, file->line, file->column);
  } else if (loc && loc->kind == IR_LOC_NAME) {
    text_printf(&out, "\"%s\": ", loc->name);
  }
  text_printf(&out, "%s: ", names[severity]);
  if (in_file && loc->kind == IR_LOC_NAME) text_printf(&out, "\"%s\": ", loc->name);
  text_puts(&out, text);
  const ir_source_t* source = file && !in_file ? find_source(ctx, file->name) : NULL;
  if (source) show_line(&out, source, file->line, file->column);
  if (ctx->diagnostic) {
    ctx->diagnostic(ctx->diagnostic_user, severity, loc, text, out.data);
  } else {
    fprintf(stderr, "%s\n", out.data);
  }
  text_finish(&out);
}

#define REPORT(severity, loc, prefix_op)                                          \
  do {                                                                            \
    text_t text = {0};                                                            \
    if (prefix_op) text_printf(&text, "'%s' op ", ((ir_op_t*)(prefix_op))->name); \
    va_list args;                                                                 \
    va_start(args, format);                                                       \
    text_vprintf(&text, format, args);                                            \
    va_end(args);                                                                 \
    report(ctx, severity, loc, text.data ? text.data : "");                       \
    text_finish(&text);                                                           \
  } while (0)

bool ir_error(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) {
  REPORT(IR_ERROR, loc, NULL);
  return false;
}
bool ir_op_error(ir_context_t* ctx, const ir_op_t* op, const char* format, ...) {
  REPORT(IR_ERROR, op->loc, op);
  return false;
}
void ir_note(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) { REPORT(IR_NOTE, loc, NULL); }
void ir_warning(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) { REPORT(IR_WARNING, loc, NULL); }
