// Text output of imported models. The op text is small and printed as a whole; the weights that it names as
// dense_resource follow as hex digits, written in pieces.
#include <string.h>

#include "base/memory.h"
#include "import/onnx/onnx.h"

typedef struct resources_t {
  const ir_attr_t** items;
  size_t count, capacity;
} resources_t;

static void collect_attr(resources_t* r, const ir_attr_t* attr) {
  if (attr->kind == IR_ATTR_ARRAY) {
    for (uint32_t i = 0; i < attr->count; ++i) collect_attr(r, attr->items[i]);
  }
  if (attr->kind != IR_ATTR_ELEMENTS || !attr->resource) return;
  if (r->count == r->capacity) {
    r->capacity = r->capacity ? r->capacity * 2 : 64;
    r->items = memory_resize(r->items, sizeof(*r->items) * r->capacity);
  }
  r->items[r->count++] = attr;
}

static void collect_op(resources_t* r, ir_op_t* op) {
  for (uint32_t i = 0; i < op->attr_count; ++i) collect_attr(r, op->attrs[i].value);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) { IR_FOR_OPS(inner, block) collect_op(r, inner); }
  }
}

typedef struct writer_t {
  FILE* file;
  uint64_t done, total;
  void (*progress)(void* user, uint64_t done, uint64_t total);
  void* user;
} writer_t;

static bool write_hex(writer_t* w, const unsigned char* data, size_t size) {
  static const char digits[] = "0123456789ABCDEF";
  char buffer[1 << 14];
  for (size_t i = 0; i < size;) {
    size_t n = 0, start = i;
    while (i < size && n + 2 <= sizeof(buffer)) {
      buffer[n++] = digits[data[i] >> 4];
      buffer[n++] = digits[data[i++] & 15];
    }
    if (fwrite(buffer, 1, n, w->file) != n) return false;
    w->done += i - start;
    if (w->progress) w->progress(w->user, w->done, w->total);
  }
  return true;
}

// Names are identifiers: onnx_tensor_attr makes them so.
static bool write_resource(writer_t* w, const ir_attr_t* attr, bool last) {
  return fprintf(w->file, "      %s: \"0x08000000", attr->resource) > 0 &&
         write_hex(w, ir_attr_data(attr), attr->size) && fputs(last ? "\"\n" : "\",\n", w->file) >= 0;
}

bool onnx_write_module(ir_context_t* ctx, ir_op_t* module, FILE* file,
                       void (*progress)(void* user, uint64_t done, uint64_t total), void* user) {
  resources_t resources = {0};
  text_t text = {0};
  writer_t w = {.file = file, .progress = progress, .user = user};
  collect_op(&resources, module);
  for (size_t i = 0; i < resources.count; ++i) w.total += resources.items[i]->size;
  ir_print_op(ctx, &text, module, IR_PRINT_NO_RESOURCES, 0);
  if (!text.size || text.data[text.size - 1] != '\n') text_puts(&text, "\n");
  bool done = fwrite(text.data, 1, text.size, file) == text.size;
  text_finish(&text);
  if (done && resources.count) done = fputs("\n{-#\n  dialect_resources: {\n    builtin: {\n", file) >= 0;
  for (size_t i = 0; done && i < resources.count; ++i) {
    done = write_resource(&w, resources.items[i], i + 1 == resources.count);
  }
  if (done && resources.count) done = fputs("    }\n  }\n#-}\n", file) >= 0;
  memory_free(resources.items);
  return done;
}
