// Where a module's variables are: global and constant ones in memory of the engine, shared ones at offsets that no two
// share which one kernel can see, and the stacks that functions need.
#include <string.h>

#include "softgpu/nvidia/context.h"

enum { LAYOUT_RECURSION = 65536, LAYOUT_MOST_DEPTH = 512 };

static bool allocate(nv_module_t* module, variable_t* v, nv_fault_t* fault) {
  const nv_options_t* options = &module->engine->options;
  if (v->is_extern && !v->size) {
    fault_set(fault, NV_FAULT_PTX, "PTX line %u: the variable '%s' is declared, and no module's", v->line, v->name);
    return false;
  }
  size_t size = v->size ? v->size : 1;
  const char* kind = v->space == PTX_CONST ? "a constant variable" : "a global variable";
  v->address = (uint64_t)options->allocate(options->data, size, v->align, kind);
  if (!v->address) return fault_set(fault, NV_FAULT_MEMORY, "out of memory for variable '%s'", v->name), false;
  if (v->initial) memcpy((void*)v->address, v->initial, v->size);
  return true;
}

static uint64_t address_of(const variable_t* v, bool is_generic) {
  return v->address + (is_generic && v->space == PTX_SHARED ? WINDOW_SHARED : 0);
}

static void put_addresses(const variable_t* v) {
  for (const address_initial_t* a = v->addresses; a; a = a->next) {
    uint64_t value = a->addend;
    if (a->variable) value += address_of(a->variable, a->is_generic);
    if (a->function) value += WINDOW_FUNCTION + 16 * (uint64_t)(a->function->index + 1);
    memcpy((char*)v->address + a->offset, &value, a->bytes < 8 ? a->bytes : 8);
  }
}

// Everything that can run when `f` does.
static void mark_reached(const nv_module_t* module, const function_t* f, uint8_t* reached, int depth) {
  if (reached[f->index] || depth > LAYOUT_MOST_DEPTH) return;
  reached[f->index] = 1;
  for (uint32_t i = 0; i < f->call_count; ++i) mark_reached(module, f->calls[i], reached, depth + 1);
}

typedef struct layout_t {
  nv_module_t* module;
  uint8_t* reached;  // [entry][function]
  const variable_t** placed;
  uint32_t placed_count;
} layout_t;

static bool uses(const function_t* f, const variable_t* v) {
  for (uint32_t i = 0; i < f->shared_count; ++i) {
    if (f->shared[i] == v) return true;
  }
  return false;
}

static bool sees(const layout_t* l, uint32_t entry, const variable_t* v) {
  uint32_t count = l->module->function_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (l->reached[(size_t)entry * count + i] && uses(l->module->by_index[i], v)) return true;
  }
  return false;
}

// Behind every variable that a kernel sees together with this one.
static void place_shared(layout_t* l, variable_t* v) {
  uint64_t at = 0;
  for (uint32_t e = 0; e < l->module->function_count; ++e) {
    function_t* entry = l->module->by_index[e];
    if (entry->is_entry && sees(l, e, v) && entry->shared_size > at) at = entry->shared_size;
  }
  v->address = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
  for (uint32_t e = 0; e < l->module->function_count; ++e) {
    function_t* entry = l->module->by_index[e];
    uint64_t end = v->address + v->size;
    if (entry->is_entry && sees(l, e, v)) entry->shared_size = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
  }
}

// Bytes of a lane's stack that a function and what it calls need.
static uint64_t stack_of(const function_t* f, int depth, bool* is_recursive) {
  uint64_t most = 0;
  if (depth > LAYOUT_MOST_DEPTH) return *is_recursive = true, 0;
  if (f->calls_unknown) *is_recursive = true;
  for (uint32_t i = 0; i < f->call_count && !*is_recursive; ++i) {
    uint64_t size = stack_of(f->calls[i], depth + 1, is_recursive);
    if (size > most) most = size;
  }
  return f->local_size + most;
}

static void measure_stack(function_t* f) {
  bool is_recursive = false;
  uint64_t size = stack_of(f, 0, &is_recursive);
  if (is_recursive) size = (uint64_t)f->local_size + LAYOUT_RECURSION;
  f->stack_size = size > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)size;
}

static bool find_calls_without_end(nv_module_t* module, layout_t* l) {
  uint32_t count = module->function_count;
  l->reached = arena_alloc(&module->arena, (size_t)count * count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const function_t* f = module->by_index[i];
    if (f->is_entry) mark_reached(module, f, l->reached + (size_t)i * count, 0);
  }
  return true;
}

bool module_lay_out(nv_module_t* module, nv_fault_t* fault) {
  layout_t l = {.module = module};
  module->by_index = ARENA_ARRAY(&module->arena, function_t*, module->function_count + 1);
  for (function_t* f = module->functions; f; f = f->next) module->by_index[f->index] = f;
  find_calls_without_end(module, &l);
  for (variable_t* v = module->variables; v; v = v->next) {
    if (v->space == PTX_SHARED && !v->is_dynamic) place_shared(&l, v);
    if ((v->space == PTX_GLOBAL || v->space == PTX_CONST) && !allocate(module, v, fault)) return false;
    if (v->space == PTX_CONST) module->constant_size += v->size;
  }
  for (variable_t* v = module->variables; v; v = v->next) {
    if (v->space == PTX_GLOBAL || v->space == PTX_CONST) put_addresses(v);
  }
  for (const address_use_t* use = module->uses; use; use = use->next) {
    uint64_t value = use->variable->address + use->addend;
    for (uint32_t i = 0; i < WARP_LANES; ++i) memcpy((char*)use->data + (size_t)i * use->bytes, &value, use->bytes);
  }
  for (function_t* f = module->functions; f; f = f->next) measure_stack(f);
  return true;
}
