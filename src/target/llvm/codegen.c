// LLVM's targets: chunks in parallel, then one executable from their code.
#include "target/llvm/codegen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "target/amdgpu/metadata_note.h"
#include "target/backend.h"
#include "target/llvm/chunk.h"
#include "target/llvm/hooks.h"
#include "target/llvm/static_library.h"
#include "target/nvptx/ptxas.h"

//===----------------------------------------------------------------------------------------------------------------===
// CPU: objects and tables -> shared object
//===----------------------------------------------------------------------------------------------------------------===

typedef struct tables_t {
  build_job_t* job;
  const char* query_name;
  guard_t guard;
  codegen_unit_t unit;
  codegen_bytes_t object;
  text_t error;
  bool ok;
} tables_t;

static void build_tables(void* user) {
  tables_t* t = user;
  const build_job_t* job = t->job;
  t->guard.is_fragile = !codegen_is_proven(job->target->backend);
  library_info_t info = {.name = job->options->name,
                         .query_name = t->query_name,
                         .funcs = job->funcs,
                         .entries = job->entries,
                         .count = job->func_count,
                         .imports = job->options->imports,
                         .import_count = job->options->import_count,
                         .source_locations = job->options->debug_symbols};
  t->ok = codegen_open(&t->unit, job->target, "library", &t->error) && library_emit(t->unit.module, &info) &&
          codegen_emit(&t->unit, t->unit.module, LLVMObjectFile, &t->object, &t->error);
}

static bool emit_tables(build_job_t* job, const char* query_name, codegen_bytes_t* object, text_t* error) {
  tables_t t = {.job = job, .query_name = query_name};
  guard_result_t result = codegen_guarded(&t.guard, &t.unit, build_tables, &t);
  if (!codegen_finish(&t.guard, result, t.ok, &t.error, error)) return false;
  *object = t.object;
  return true;
}

// Options, and the files of others' objects behind them.
static bool link_with_files(build_job_t* job, const char* const* options, uint32_t option_count,
                            const codegen_bytes_t* objects, unsigned count, codegen_bytes_t* out, text_t* error) {
  uint32_t files = job->options->object_count;
  const char** args = memory_array(option_count + files + 1, sizeof(*args));
  memcpy(args, options, sizeof(*args) * option_count);
  if (files) memcpy(args + option_count, job->options->objects, sizeof(*args) * files);
  bool ok = lld_link(args, option_count + files, objects, count, out, error);
  memory_free(args);
  return ok;
}

static bool link_cpu(build_job_t* job, const codegen_bytes_t* objects, unsigned count, target_executable_t* out,
                     text_t* error) {
  static const char* const args[] = {"-shared",           "-Bsymbolic", "--no-undefined", "--build-id=none",
                                     "--hash-style=both", "-znow",      "-znognustack",   "-zrelro",
                                     "--gc-sections",     "--icf=all"};
  static const char* const relocatable[] = {"-r"};
  const target_dump_t* dump = &job->options->dump;
  const char* name = job->options->name;
  codegen_bytes_t linked = {0}, merged = {0};
  bool ok = true;
  if (dump->binaries || job->options->static_library) {
    ok = link_with_files(job, relocatable, 1, objects, count, &merged, error) &&
         dump_write(dump->binaries, job->target, name, ".o", merged.data, merged.size, error);
  }
  if (ok && job->options->static_library) {
    ok = static_library_write(job->options->static_library, name, merged.data, merged.size, error);
    if (ok) linked = (codegen_bytes_t){memory_strdup(name), strlen(name)};
  } else if (ok) {
    unsigned arg_count = sizeof(args) / sizeof(args[0]);
    ok = link_with_files(job, args, arg_count, objects, count, &linked, error) &&
         dump_write(dump->binaries, job->target, name, ".so", linked.data, linked.size, error);
  }
  memory_free(merged.data);
  out->data = linked.data;
  out->size = linked.size;
  return ok;
}

static bool finish_cpu(build_job_t* job, target_executable_t* out, text_t* error) {
  char query[256] = "iree_hal_executable_library_query";
  if (job->options->static_library) static_library_query_name(job->options->name, query, sizeof(query));
  codegen_bytes_t* objects = memory_array(job->chunk_count + 1, sizeof(*objects));
  for (uint32_t i = 0; i < job->chunk_count; ++i) objects[i] = job->chunks[i].code;
  bool ok = emit_tables(job, query, &objects[job->chunk_count], error) &&
            link_cpu(job, objects, job->chunk_count + 1, out, error);
  memory_free(objects[job->chunk_count].data);
  memory_free(objects);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// GPUs
//===----------------------------------------------------------------------------------------------------------------===

// PTX: the first chunk's text, then the others' without their heads (.version, .target, .address_size).
static bool finish_cuda(build_job_t* job, target_executable_t* out, text_t* error) {
  text_t ptx = {0};
  for (uint32_t i = 0; i < job->chunk_count; ++i) {
    const char* text = job->chunks[i].code.data;
    const char* size = i ? strstr(text, ".address_size") : NULL;
    const char* end = size ? strchr(size, '\n') : NULL;
    text_puts(&ptx, end ? end + 1 : text);
  }
  out->data = ptx.data;
  out->size = ptx.size;
  const char *folder = job->options->dump.binaries, *name = job->options->name;
  if (!dump_write(folder, job->target, name, ".ptx", ptx.data, ptx.size, error)) return false;
  if (!job->options->ptxas.is_used) return true;
  return ptxas_assemble(&job->options->ptxas, job->target->cpu, out, error) &&
         dump_write(folder, job->target, name, ".cubin", out->cubin, out->cubin_size, error);
}

static bool finish_rocm(build_job_t* job, target_executable_t* out, text_t* error) {
  static const char* const args[] = {"-m", "elf64_amdgpu", "--no-undefined", "-shared", "--build-id=none"};
  codegen_bytes_t* objects = memory_array(job->chunk_count + 1, sizeof(*objects));
  for (uint32_t i = 0; i < job->chunk_count; ++i) objects[i] = job->chunks[i].code;
  codegen_bytes_t linked = {0};
  bool ok = lld_link(args, sizeof(args) / sizeof(args[0]), objects, job->chunk_count, &linked, error);
  memory_free(objects);
  out->data = linked.data;
  out->size = linked.size;
  return ok && metadata_note_merge(linked.data, linked.size, error) &&
         dump_write(job->options->dump.binaries, job->target, job->options->name, ".hsaco", linked.data, linked.size,
                    error);
}

bool backend_llvm(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                  const target_compile_options_t* options, target_executable_t* out, text_t* error) {
  typedef bool (*finish_fn_t)(build_job_t* job, target_executable_t* out, text_t* error);
  static const finish_fn_t finishers[TARGET_BACKEND_COUNT] = {
      [TARGET_LLVM_CPU] = finish_cpu, [TARGET_CUDA] = finish_cuda, [TARGET_ROCM] = finish_rocm};
  build_job_t job = {
      .target = target, .funcs = funcs, .func_count = count, .options = options, .entries = out->entries};
  if (!codegen_initialize(target, error)) return false;
  chunk_split(&job);
  bool ok = chunk_run_all(&job, error) && finishers[target->backend](&job, out, error);
  if (ok) codegen_set_proven(target->backend);
  chunk_finish(&job);
  return ok;
}
