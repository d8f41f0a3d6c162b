// What a compilation gives: a module, its assembly, or one executable's machine code. See run.h.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_file.h"
#include "compiler/emit_c.h"
#include "compiler/hip_container.h"
#include "compiler/host.h"
#include "compiler/run.h"
#include "compiler/vm_emit.h"
#include "module/dump.h"
#include "module/image.h"

bool run_write_file(run_t* r, const char* path, const void* data, size_t size) {
  if (whole_file_write(path, data, size)) return true;
  return ir_error(r->ctx, NULL, "cannot write '%s': %s", path, strerror(errno));
}

// Memory becomes the caller's, who frees it.
static bool output_bytes(run_t* r, const void* data, size_t size) {
  if (r->output->path) return run_write_file(r, r->output->path, data, size);
  char* copy = malloc(size + 1);
  if (!copy) memory_exhausted(size);
  memcpy(copy, data, size);
  copy[size] = 0;
  r->output->data = copy;
  r->output->size = size;
  return true;
}

bool run_output_text(run_t* r, text_t* text) {
  bool ok = output_bytes(r, text->data, text->size);
  text_finish(text);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables in a module
//===----------------------------------------------------------------------------------------------------------------===

bool run_shares_format(const run_t* r, uint32_t index) {
  const target_t* targets = r->options->targets;
  for (uint32_t i = 0; i < r->program_count; ++i) {
    if (i != index && strcmp(targets[i].format, targets[index].format) == 0) return true;
  }
  return false;
}

typedef struct module_place_t {
  module_writer_t* writer;
  const target_t* target;
  uint32_t number;  // of the target
} module_place_t;

// What the module has of an executable: code by itself, or IREE's container of it where the format's name says so.
static iree_const_byte_span_t contents_of(run_t* r, const target_t* target, const target_executable_t* e,
                                          const char** out_extension) {
  static const char* const extensions[] = {
      [TARGET_CUDA] = "ptx", [TARGET_LLVM_CPU] = "so", [TARGET_ROCM] = "hsaco", [TARGET_VMVX] = "vmvx"};
  *out_extension = extensions[target->backend];
  if (!target->is_hip_container) return iree_make_const_byte_span(e->data, e->size);
  *out_extension = "fb";
  hip_container_t container = hip_container_make(ir_context_arena(r->ctx), e);
  return iree_make_const_byte_span(container.data, container.size);
}

static uint32_t write_executable(run_t* r, const module_place_t* place, const char* name,
                                 const target_executable_t* e) {
  target_backend_t backend = place->target->backend;
  module_point_t* points = ARENA_ARRAY(ir_context_arena(r->ctx), module_point_t, e->entry_count + 1);
  for (uint32_t i = 0; i < e->entry_count; ++i) {
    const target_entry_t* entry = &e->entries[i];
    // GPU kernels bring their own workgroup memory, but for what must be asked for at launch.
    bool is_gpu = backend == TARGET_CUDA || backend == TARGET_ROCM;
    points[i] = (module_point_t){.name = iree_make_cstring_view(entry->name),
                                 .binding_count = (uint16_t)entry->binding_count,
                                 .constant_count = (uint16_t)entry->constant_count,
                                 .local_memory = is_gpu ? entry->dynamic_memory_bytes : entry->workgroup_memory_bytes};
    memcpy(points[i].workgroup_size, entry->workgroup_size, sizeof(points[i].workgroup_size));
  }
  uint32_t executable = module_writer_executable(place->writer, iree_make_cstring_view(name), e->entry_count);
  if (e->cubin) {
    const char* format = arena_printf(ir_context_arena(r->ctx), "cuda-cubin-%s", place->target->cpu);
    module_writer_variant(place->writer, executable,
                          &(module_variant_desc_t){.target = place->number,
                                                   .format = iree_make_cstring_view(format),
                                                   .extension = IREE_SV("cubin"),
                                                   .data = {e->cubin, e->cubin_size},
                                                   .points = points});
  }
  const char* extension = NULL;
  iree_const_byte_span_t data = contents_of(r, place->target, e, &extension);
  module_writer_variant(
      place->writer, executable,
      &(module_variant_desc_t){
          .target = place->number, .extension = iree_make_cstring_view(extension), .data = data, .points = points});
  return executable;
}

static bool uses_tiles(const program_t* p) {
  bool any = false;
  for (uint32_t i = 0; i < p->executable.entry_count; ++i) any |= p->executable.entries[i].uses_tiles;
  for (uint32_t i = 0; i < p->objects.count; ++i) any |= p->objects.items[i].executable.entries[0].uses_tiles;
  return any;
}

static host_program_t add_executables(run_t* r, module_writer_t* writer, uint32_t index) {
  const target_t* t = &r->options->targets[index];
  const program_t* p = &r->programs[index];
  if (r->options->host_only) return (host_program_t){.module = p->module, .host_only = true};
  arena_t* arena = ir_context_arena(r->ctx);
  char* description = arena_printf(arena, "%s, cpu %s", t->triple, t->cpu);
  const char* needs = t->backend != TARGET_LLVM_CPU && run_shares_format(r, index) ? t->cpu : t->needs;
  if (uses_tiles(p)) needs = arena_printf(arena, "%s,%s", needs, t->tile_needs);
  module_place_t place = {writer, t, 0};
  place.number = module_writer_target(
      writer, &(module_target_desc_t){.backend = iree_make_cstring_view(target_backend_name(t->backend)),
                                      .format = iree_make_cstring_view(t->format),
                                      .description = iree_make_cstring_view(description),
                                      .features = iree_make_cstring_view(needs)});
  host_program_t program = {.module = p->module};
  if (p->kernels.count) {
    char* name = arena_printf(arena, "module_linked_%s", target_backend_name(t->backend));
    if (run_shares_format(r, index)) name = arena_printf(arena, "%s_%s", name, t->cpu);
    for (char* c = name; *c; ++c) *c = *c == '-' ? '_' : *c;
    program.executable = write_executable(r, &place, name, &p->executable);
  }
  uint32_t* objects = ARENA_ARRAY(arena, uint32_t, p->objects.count + 1);
  for (uint32_t i = 0; i < p->objects.count; ++i) {
    const substitute_object_t* object = &p->objects.items[i];
    objects[i] = write_executable(r, &place, arena_printf(arena, "module_%s", object->name), &object->executable);
  }
  program.objects = objects;
  return program;
}

// Weights come from the source when they are written, twice as long there.
static void note_written(void* ctx, uint64_t length) { ir_context_note_read(ctx, 2 * length); }

static void destroy_writer(void* writer) { module_writer_destroy(writer); }

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

bool run_check_status(run_t* r, iree_status_t status, const char* what) {
  if (iree_status_is_ok(status)) return true;
  char text[1024];
  iree_host_size_t length = 0;
  iree_status_format(status, sizeof(text), text, &length);
  iree_status_ignore(status);
  return ir_error(r->ctx, NULL, "%s: %s", what, text);
}

static bool fill_module(run_t* r, module_writer_t* writer) {
  if (r->options->vm_only) return vm_emit(r->ctx, r->module, !r->options->strip_source_map, writer);
  host_program_t programs[COMPILER_MAX_TARGETS];
  module_writer_devices(writer, r->options->devices);
  for (uint32_t i = 0; i < r->program_count; ++i) programs[i] = add_executables(r, writer, i);
  host_memory_t* memory = &r->output->memory;
  host_options_t options = {.strip_source_map = r->options->strip_source_map, .narrow_index = r->options->narrow_index};
  if (!host_emit(r->ctx, programs, r->program_count, writer, &options, memory)) return false;
  const char* function = memory->function ? memory->function : "";  // which the caller may see after the IR
  snprintf(r->output->memory_function, sizeof(r->output->memory_function), "%s", function);
  memory->function = memory->function ? r->output->memory_function : NULL;
  module_writer_threads(writer, r->options->target.threads);
  module_writer_observe(writer, note_written, r->ctx);
  return true;
}

// To the file, or else into memory that the caller frees.
static bool write_module(run_t* r, const char* path, iree_byte_span_t* out_data) {
  module_writer_t* writer = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  const char* name = ir_op_string(r->module, "sym_name", "module");
  iree_status_t status = module_writer_create(iree_make_cstring_view(name), allocator, &writer);
  if (!run_check_status(r, status, "writing the module")) return false;
  memory_cleanup_t cleanup = {0};
  memory_cleanup_add(&cleanup, destroy_writer, writer);
  bool ok = fill_module(r, writer);
  if (ok) {
    status = path ? module_writer_finish_file(writer, path) : module_writer_finish_memory(writer, allocator, out_data);
    ok = run_check_status(r, status, "writing the module");
  }
  memory_cleanup_remove(&cleanup);
  module_writer_destroy(writer);
  return ok;
}

static bool output_module(run_t* r) {
  iree_byte_span_t data = {0};
  if (!write_module(r, r->output->path, &data)) return false;
  r->output->data = data.data;
  r->output->size = data.data_length;
  return true;
}

// The host program, as iree-dump-module has it.
static bool print_assembly(const module_image_t* image, text_t* out) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (!file) memory_exhausted(0);
  module_dump_disassembly(image, false, file);
  bool is_whole = !ferror(file);
  is_whole &= fclose(file) == 0;
  if (is_whole) text_append(out, text, size);
  free(text);
  return is_whole;
}

// A module as text of some kind: made as always, and read back.
static bool output_source(run_t* r) {
  iree_byte_span_t data = {0};
  if (!write_module(r, NULL, &data)) return false;
  memory_cleanup_t cleanup = {0};
  memory_cleanup_add(&cleanup, free, data.data);
  module_image_t image;
  iree_const_byte_span_t contents = {data.data, data.data_length};
  text_t text = {0};
  bool ok = run_check_status(r, module_image_open(contents, iree_allocator_system(), &image), "reading the module");
  if (ok && r->options->format == COMPILER_OUTPUT_VM_C) {
    emit_c_module(&image, contents, &text);
  } else if (ok && !print_assembly(&image, &text)) {
    memory_exhausted(text.size);
  }
  if (ok) module_image_close(&image, iree_allocator_system());
  memory_cleanup_remove(&cleanup);
  free(data.data);
  return ok && run_output_text(r, &text);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables alone
//===----------------------------------------------------------------------------------------------------------------===

static bool output_executable(run_t* r) {
  const program_t* p = &r->programs[0];
  if (r->program_count != 1) {
    return ir_error(r->ctx, NULL, "an executable is for one target; there are %u", r->program_count);
  }
  if (p->objects.count) return ir_error(r->ctx, NULL, "with substituted objects there is no one executable");
  if (!p->executable.size) return ir_error(r->ctx, NULL, "the program has no kernels, so there is no executable");
  return output_bytes(r, p->executable.data, p->executable.size);
}

bool run_output(run_t* r) {
  switch (r->options->format) {
    case COMPILER_OUTPUT_VM_ASM:
    case COMPILER_OUTPUT_VM_C:
      return output_source(r);
    case COMPILER_OUTPUT_HAL_EXECUTABLE:
      return output_executable(r);
    default:
      return output_module(r);
  }
}
