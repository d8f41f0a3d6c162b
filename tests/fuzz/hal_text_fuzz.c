// Text of hal's attributes: no text may crash its readers, every piece that they give lies inside of the text, and what
// stands between quotes is no longer than they are apart.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/hal.h"
#include "dialects/register.h"

enum { MAX_DEPTH = 8 };

typedef struct walk_t {
  ir_context_t* ctx;
  hal_text_t whole;
} walk_t;

static void expect_inside(const walk_t* w, hal_text_t piece) {
  if (piece.at < w->whole.at || piece.end > w->whole.end || piece.at > piece.end) abort();
}

static void read_target(const walk_t* w, hal_text_t text) {
  hal_target_t target;
  if (!hal_read_target(w->ctx, text, &target)) return;
  if (!target.backend || !target.format) abort();
  hal_target_processor(w->ctx, &target);
}

static void walk(const walk_t* w, hal_text_t text, int depth) {
  static const struct {
    const char* open;
    char close;
  } brackets[] = {{"[", ']'},
                  {"{", '}'},
                  {"<", '>'},
                  {"#hal.executable.target<", '>'},
                  {"#hal.device.target<", '>'},
                  {"#hal.executable.object<", '>'},
                  {"#hal.executable.objects<", '>'}};
  hal_text_t inside, list, item, key, value;
  int64_t number = 0;
  expect_inside(w, text);
  read_target(w, text);
  hal_text_number(text, &number);
  const char* string = hal_text_string(w->ctx, text);
  if (string && strlen(string) + 2 > (size_t)(text.end - text.at)) abort();
  if (hal_text_entry(text, "path", &value)) expect_inside(w, value);
  if (depth == MAX_DEPTH) return;
  for (size_t i = 0; i < sizeof(brackets) / sizeof(brackets[0]); ++i) {
    if (hal_text_enter(text, brackets[i].open, brackets[i].close, &inside)) walk(w, inside, depth + 1);
  }
  for (list = text; hal_text_next(&list, &item);) {
    expect_inside(w, item);
    expect_inside(w, list);
    if (hal_text_divide(item, &key, &value)) {
      walk(w, key, depth + 1);
      walk(w, value, depth + 1);
    } else if (!hal_text_equal(item, text)) {
      walk(w, item, depth + 1);
    }
  }
}

// As the attribute of an export that follows from the text.
static void read_layout(ir_context_t* ctx, const char* text) {
  hal_layout_t layout;
  if (hal_read_layout(ir_attr_opaque(ctx, "hal.pipeline.layout", text, NULL, 0), &layout) &&
      (layout.constants < 0 || layout.bindings < 0)) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  char* text = malloc(size + 1);  // behind which reads are seen
  if (size) memcpy(text, data, size);
  text[size] = 0;
  walk_t w = {ctx, hal_text_of(text)};
  walk(&w, w.whole, 0);
  read_layout(ctx, text);
  free(text);
  ir_context_destroy(ctx);
  return 0;
}
