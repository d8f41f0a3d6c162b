// Scopes. See names.h.
#include "import/onnx/names.h"

#include <stdint.h>

onnx_names_t* onnx_names_create(arena_t* arena, const onnx_names_t* parent) {
  onnx_names_t* names = ARENA_NEW(arena, onnx_names_t);
  names->arena = arena;
  names->parent = parent;
  return names;
}

// The slot with `name`, or the empty one where it belongs.
static size_t find_slot(const onnx_names_t* names, ir_name_t name) {
  size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15ull >> 20) & (names->capacity - 1);
  while (names->slots[i].name && names->slots[i].name != name) i = (i + 1) & (names->capacity - 1);
  return i;
}

static void grow(onnx_names_t* names) {
  onnx_names_t old = *names;
  names->capacity = old.capacity ? old.capacity * 2 : 16;
  names->slots = arena_alloc(names->arena, sizeof(*names->slots) * names->capacity);
  for (size_t i = 0; i < old.capacity; ++i) {
    if (old.slots[i].name) names->slots[find_slot(names, old.slots[i].name)] = old.slots[i];
  }
}

void onnx_names_set(onnx_names_t* names, ir_name_t name, void* value) {
  if (names->count * 2 >= names->capacity) grow(names);
  size_t i = find_slot(names, name);
  names->count += !names->slots[i].name;
  names->slots[i].name = name;
  names->slots[i].value = value;
}

void* onnx_names_get(const onnx_names_t* names, ir_name_t name) {
  for (; names; names = names->parent) {
    if (!names->capacity) continue;
    size_t i = find_slot(names, name);
    if (names->slots[i].name) return names->slots[i].value;
  }
  return NULL;
}

bool onnx_names_has(const onnx_names_t* names, ir_name_t name) {
  return names->capacity && names->slots[find_slot(names, name)].name;
}

ir_name_t onnx_names_unique(onnx_names_t* names, ir_context_t* ctx, const char* name) {
  ir_name_t base = ir_intern_cstr(ctx, name), unique = base;
  uintptr_t number = (uintptr_t)onnx_names_get(names, base);
  while (onnx_names_get(names, unique))
    unique = ir_intern_cstr(ctx, arena_printf(names->arena, "%s_%zu", name, number++));
  onnx_names_set(names, base, (void*)(number ? number : 1));
  if (unique != base) onnx_names_set(names, unique, (void*)1);
  return unique;
}
