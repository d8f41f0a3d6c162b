// Engines, modules and what they tell.
#include "softgpu/nvidia/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "softgpu/nvidia/context.h"

nv_engine_t* nv_engine_create(const nv_options_t* options) {
  nv_engine_t* engine = calloc(1, sizeof(*engine));
  if (!engine) return NULL;
  engine->options = *options;
  pthread_mutex_init(&engine->lock, NULL);
  return engine;
}

void nv_engine_destroy(nv_engine_t* engine) {
  if (!engine) return;
  pthread_mutex_destroy(&engine->lock);
  free(engine);
}

void nv_engine_counters(nv_engine_t* engine, nv_counters_t* out) {
  pthread_mutex_lock(&engine->lock);
  *out = engine->counters;
  pthread_mutex_unlock(&engine->lock);
}

typedef struct creation_t {
  nv_module_t* module;
  nv_fault_t* fault;
  bool is_done;
} creation_t;

static void fill_module(void* user) {
  creation_t* c = user;
  arena_init(&c->module->arena);
  c->is_done = module_parse(c->module, c->fault) && module_lay_out(c->module, c->fault);
}

nv_module_t* nv_module_create(nv_engine_t* engine, const char* text, size_t size, nv_fault_t* fault) {
  *fault = (nv_fault_t){0};
  nv_module_t* module = calloc(1, sizeof(*module));
  if (module) module->text = malloc(size + 1);
  if (!module || !module->text) {
    free(module);
    return fault_set(fault, NV_FAULT_MEMORY, "out of memory for a module"), NULL;
  }
  memcpy(module->text, text, size);
  module->text[size] = 0;
  module->size = size, module->engine = engine;
  module->last_function = &module->functions, module->last_variable = &module->variables;
  creation_t creation = {module, fault, false};
  memory_scope_t scope;
  if (!memory_scope_run(&scope, fill_module, &creation)) {
    // The arena is gone, and with it all that was made; memory of variables is asked for last.
    arena_init(&module->arena);
    module->functions = NULL, module->variables = NULL;
    nv_module_destroy(module);
    return fault_set(fault, NV_FAULT_MEMORY, "out of memory for a module"), NULL;
  }
  memory_scope_adopt(&scope);
  if (creation.is_done) return module;
  nv_module_destroy(module);
  return NULL;
}

void nv_module_destroy(nv_module_t* module) {
  if (!module) return;
  const nv_options_t* options = &module->engine->options;
  for (variable_t* v = module->variables; v; v = v->next) {
    bool has_memory = v->space == PTX_GLOBAL || v->space == PTX_CONST;
    if (has_memory && v->address) options->release(options->data, (void*)v->address);
  }
  arena_finish(&module->arena);
  free(module->text);
  free(module);
}

nv_function_t* nv_module_function(nv_module_t* module, const char* name) {
  for (function_t* f = module->functions; f; f = f->next) {
    if (f->is_entry && f->has_body && strcmp(f->name, name) == 0) return (nv_function_t*)f;
  }
  return NULL;
}

nv_function_t* nv_module_function_at(nv_module_t* module, uint32_t index) {
  for (function_t* f = module->functions; f; f = f->next) {
    if (f->is_entry && f->has_body && index-- == 0) return (nv_function_t*)f;
  }
  return NULL;
}

bool nv_module_global(nv_module_t* module, const char* name, uint64_t* out_address, uint64_t* out_size) {
  for (variable_t* v = module->variables; v; v = v->next) {
    if (v->space != PTX_GLOBAL && v->space != PTX_CONST) continue;
    if (strcmp(v->name, name) != 0) continue;
    if (out_address) *out_address = v->address;
    if (out_size) *out_size = v->size;
    return true;
  }
  return false;
}

// Registers after a compiler's allocation are fewer than those of the text; how many nobody knows before ptxas.
static uint32_t estimate_registers(const function_t* f) {
  uint64_t words = 0;
  for (uint32_t i = 0; i < f->register_count; ++i) words += f->registers[i].bytes == 8 ? 2 : f->registers[i].bytes == 4;
  return words < 16 ? 16 : words > 128 ? 128 : (uint32_t)(words + 7) & ~7u;
}

void nv_function_info(const nv_function_t* function, nv_function_info_t* out) {
  const function_t* f = &function->function;
  *out = (nv_function_info_t){
      .name = f->name,
      .parameters = f->infos,
      .parameter_count = f->parameter_count,
      .parameter_size = f->parameter_size,
      .shared_size = f->shared_size,
      .local_size = f->local_size,
      .constant_size = (uint32_t)f->module->constant_size,
      .registers = estimate_registers(f),
      .max_threads = f->max_threads ? f->max_threads : 1024,
      .ptx_version = f->module->version,
      .architecture = f->module->architecture,
  };
  memcpy(out->required_threads, f->required_threads, sizeof(out->required_threads));
}

uint32_t nv_function_occupancy(const nv_function_t* function, uint32_t threads, uint32_t dynamic_shared) {
  const nv_target_t* target = function->function.module->engine->options.target;
  nv_function_info_t info;
  nv_function_info(function, &info);
  if (!threads || threads > info.max_threads) return 0;
  uint32_t rounded = (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
  uint64_t shared = (uint64_t)info.shared_size + dynamic_shared;
  uint64_t blocks = target->blocks_per_unit, other = target->threads_per_unit / rounded;
  if (other < blocks) blocks = other;
  other = target->registers_per_unit / ((uint64_t)info.registers * rounded);
  if (other < blocks) blocks = other;
  if (shared > target->shared_per_block_most) return 0;
  other = shared ? target->shared_per_unit / shared : blocks;
  return (uint32_t)(other < blocks ? other : blocks);
}
