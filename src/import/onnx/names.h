// A map from names to values with an enclosing map: the scopes of graphs and functions. Names are interned, so that
// pointers compare. Lives in the arena.
#ifndef IREE_C_IMPORT_ONNX_NAMES_H_
#define IREE_C_IMPORT_ONNX_NAMES_H_

#include "ir/ir.h"

typedef struct onnx_names_t {
  const struct onnx_names_t* parent;  // looked up when a name is not here; may be NULL
  arena_t* arena;
  struct {
    ir_name_t name;
    void* value;
  }* slots;
  size_t capacity;  // power of two, or 0
  size_t count;
} onnx_names_t;

onnx_names_t* onnx_names_create(arena_t* arena, const onnx_names_t* parent);
void onnx_names_set(onnx_names_t* names, ir_name_t name, void* value);
void* onnx_names_get(const onnx_names_t* names, ir_name_t name);  // NULL when absent
bool onnx_names_has(const onnx_names_t* names, ir_name_t name);   // here, not in a parent
// `name`, or with "_1", "_2", ... appended so that it was never returned before.
ir_name_t onnx_names_unique(onnx_names_t* names, ir_context_t* ctx, const char* name);

#endif  // IREE_C_IMPORT_ONNX_NAMES_H_
