// Splitting an executable's kernels over threads, and compiling one share.
#include "target/llvm/chunk.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "base/trace.h"
#include "target/backend.h"
#include "target/llvm/debug.h"
#include "target/llvm/emit.h"
#include "target/llvm/hooks.h"

//===----------------------------------------------------------------------------------------------------------------===
// Splitting
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t count_ops(const ir_op_t* op) {
  uint32_t total = 1;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) { IR_FOR_OPS(inner, block) total += count_ops(inner); }
  }
  return total;
}

static bool is_dumping(const target_compile_options_t* options) {
  return options->dump.intermediates || options->dump.binaries || options->static_library;
}

void chunk_split(build_job_t* job) {
  // A context and its target machine cost about as much as a small kernel.
  enum { LEAST_OPS = 500, MOST_CHUNKS = 32 };
  uint64_t total = 0;
  for (uint32_t i = 0; i < job->func_count; ++i) total += count_ops(job->funcs[i]);
  uint64_t share = total / MOST_CHUNKS < LEAST_OPS ? LEAST_OPS : total / MOST_CHUNKS;
  if (job->options->measured) share = 0;             // a kernel each
  if (is_dumping(job->options)) share = UINT64_MAX;  // dumps are one file each
  job->chunks = memory_array(job->func_count + 1, sizeof(chunk_t));
  uint64_t filled = 0;
  for (uint32_t i = 0; i < job->func_count; ++i) {
    if (i == 0 || filled >= share) {
      job->chunks[job->chunk_count++].first = i;
      filled = 0;
    }
    job->chunks[job->chunk_count - 1].count++;
    filled += count_ops(job->funcs[i]);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// One chunk
//===----------------------------------------------------------------------------------------------------------------===

// A chunk's thread at work.
typedef struct work_t {
  build_job_t* job;
  chunk_t* chunk;
  codegen_unit_t unit;
  size_t heap;  // of the process at the end, where that is measured
} work_t;

static bool emit_chunk(work_t* w) {
  const build_job_t* job = w->job;
  codegen_unit_t* unit = &w->unit;
  emit_t e = {.context = unit->context,
              .module = unit->module,
              .target = job->target,
              .amd = &job->options->amd,
              .error = &w->chunk->error};
  e.builder = unit->builder = LLVMCreateBuilderInContext(unit->context);
  e.hooks = hooks_for(job->target);
  e.features = hooks_features(job->target);
  debug_t debug = {0};
  if (job->options->debug_symbols) {
    unit->debug = LLVMCreateDIBuilder(unit->module);
    debug_begin(&debug, unit->debug, &e);
  }
  bool ok = true;
  for (uint32_t i = w->chunk->first; ok && i < w->chunk->first + w->chunk->count; ++i) {
    ok = emit_function(&e, job->funcs[i], &job->entries[i]);
  }
  debug_end(&debug);
  return ok;
}

static bool dump_module(work_t* w, const char* stage) {
  const build_job_t* job = w->job;
  const char* directory = job->options->dump.intermediates;
  if (!directory) return true;
  char suffix[32];
  text_t* error = &w->chunk->error;
  codegen_bytes_t text = codegen_print_module(&w->unit), bitcode = codegen_bitcode(&w->unit);
  snprintf(suffix, sizeof(suffix), ".%s.ll", stage);
  bool ok = dump_write(directory, job->target, job->options->name, suffix, text.data, text.size, error);
  if (ok && job->target->backend == TARGET_LLVM_CPU) {
    snprintf(suffix, sizeof(suffix), ".%s.bc", stage);
    ok = dump_write(directory, job->target, job->options->name, suffix, bitcode.data, bitcode.size, error);
  }
  memory_free(text.data);
  memory_free(bitcode.data);
  return ok;
}

static bool dump_assembly(work_t* w) {
  static const char* const suffixes[TARGET_BACKEND_COUNT] = {[TARGET_LLVM_CPU] = ".s", [TARGET_ROCM] = ".rocmasm"};
  const build_job_t* job = w->job;
  const char* suffix = suffixes[job->target->backend];
  if (!job->options->dump.intermediates || !suffix) return true;
  text_t* error = &w->chunk->error;
  w->unit.copy = LLVMCloneModule(w->unit.module);  // code generation changes the module
  codegen_bytes_t text = {0};
  bool ok = codegen_emit(&w->unit, w->unit.copy, LLVMAssemblyFile, &text, error) &&
            dump_write(job->options->dump.intermediates, job->target, job->options->name, suffix, text.data, text.size,
                       error);
  memory_free(text.data);
  LLVMDisposeModule(w->unit.copy);
  w->unit.copy = NULL;
  return ok;
}

// Kernels leave us as they should be; only what the caller asks for by name is run, and what loops need that a program
// brings.
static const char* passes_for(const build_job_t* job) {
  if (job->target->backend == TARGET_ROCM && job->options->amd.slp_vectorize) return "function(slp-vectorizer)";
  if (job->target->backend == TARGET_LLVM_CPU && job->options->as_written) {
    return "function(early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-simplify,lcssa,loop-vectorize,"
           "slp-vectorizer,instcombine<no-verify-fixpoint>,early-cse)";
  }
  return NULL;
}

static bool optimize(work_t* w) {
  const char* passes = passes_for(w->job);
  if (!passes) return true;
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failure = LLVMRunPasses(w->unit.module, passes, w->unit.machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure) return true;
  char *message = LLVMGetErrorMessage(failure), text[256];
  snprintf(text, sizeof(text), "%s", message);
  LLVMDisposeErrorMessage(message);
  text_printf(&w->chunk->error, "LLVM's passes: %s", text);
  return false;
}

static bool dump_stages(work_t* w) {
  bool cpu = w->job->target->backend == TARGET_LLVM_CPU;
  return (!cpu || dump_module(w, "codegen")) && dump_module(w, "linked") && optimize(w) &&
         dump_module(w, "optimized") && dump_assembly(w);
}

// Code object version 5, which every runtime loads; generic targets exist from version 6 on.
static void set_code_object_version(const target_t* target, LLVMContextRef context, LLVMModuleRef module) {
  if (target->backend != TARGET_ROCM) return;
  static const char flag[] = "amdhsa_code_object_version";
  unsigned version = strstr(target->cpu, "generic") ? 600 : 500;
  LLVMMetadataRef value = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), version, 0));
  LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorError, flag, sizeof(flag) - 1, value);
}

// Bytes of the process's heap.
static size_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static void build_chunk(void* user) {
  work_t* w = user;
  build_job_t* job = w->job;
  chunk_t* chunk = w->chunk;
  chunk->guard.is_fragile = !codegen_is_proven(job->target->backend);
  if (!codegen_open(&w->unit, job->target, job->options->name, &chunk->error)) return;
  if (job->target->backend == TARGET_ROCM && job->options->amd.global_isel) {
    LLVMSetTargetMachineGlobalISel(w->unit.machine, 1);
    LLVMSetTargetMachineGlobalISelAbort(w->unit.machine,
                                        LLVMGlobalISelAbortDisable);  // what it cannot do goes as usual
  }
  set_code_object_version(job->target, w->unit.context, w->unit.module);
  LLVMCodeGenFileType kind = job->target->backend == TARGET_CUDA ? LLVMAssemblyFile : LLVMObjectFile;
  chunk->ok =
      emit_chunk(w) && dump_stages(w) && codegen_emit(&w->unit, w->unit.module, kind, &chunk->code, &chunk->error);
  if (job->options->measured) w->heap = heap_bytes();  // while all of it is there
}

// A trace has the name of the first of its kernels.
static void run_chunk(build_job_t* job, chunk_t* chunk) {
  TRACE_SCOPE(ir_op_string(job->funcs[chunk->first], "sym_name", "kernels"));
  work_t w = {.job = job, .chunk = chunk};
  const target_compile_options_t* options = job->options;
  double start = options->measured ? seconds_now() : 0;
  size_t heap = options->measured ? heap_bytes() : 0;
  chunk->result = codegen_guarded(&chunk->guard, &w.unit, build_chunk, &w);
  if (options->measured) {
    options->measured(options->measured_user, ir_op_string(job->funcs[chunk->first], "sym_name", "kernels"),
                      seconds_now() - start, w.heap > heap ? w.heap - heap : 0);
  }
  if (chunk->result == GUARD_DONE) return;
  chunk->ok = false;  // what it had is gone
  chunk->code = (codegen_bytes_t){0};
  chunk->error = (text_t){0};
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

typedef struct queue_t {
  build_job_t* job;
  atomic_uint next, done;
  pthread_t caller;
} queue_t;

static void report(queue_t* queue) {
  const target_compile_options_t* options = queue->job->options;
  unsigned done = atomic_fetch_add(&queue->done, 1) + 1;
  if (!options->progress || !pthread_equal(pthread_self(), queue->caller)) return;
  options->progress(options->progress_user, done, queue->job->chunk_count);
}

static void* work(void* argument) {
  queue_t* queue = argument;
  for (;;) {
    uint32_t i = atomic_fetch_add(&queue->next, 1);
    if (i >= queue->job->chunk_count) return NULL;
    run_chunk(queue->job, &queue->job->chunks[i]);
    report(queue);
  }
}

bool chunk_run_all(build_job_t* job, text_t* error) {
  enum { MOST_THREADS = 64 };
  pthread_t threads[MOST_THREADS];
  queue_t queue = {.job = job, .caller = pthread_self()};
  uint32_t wanted = job->options->threads > MOST_THREADS ? MOST_THREADS : job->options->threads, started = 0;
  if (job->options->measured) wanted = 1;
  while (started + 1 < wanted && started + 1 < job->chunk_count &&
         pthread_create(&threads[started], NULL, work, &queue) == 0) {
    ++started;
  }
  work(&queue);
  for (uint32_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < job->chunk_count; ++i) {
    if (job->chunks[i].result == GUARD_DONE) memory_scope_adopt(&job->chunks[i].guard.scope);
  }
  for (uint32_t i = 0; i < job->chunk_count; ++i) {
    chunk_t* chunk = &job->chunks[i];
    if (chunk->ok) continue;
    if (chunk->result != GUARD_DONE) return guard_finish(&chunk->guard, chunk->result, error);
    text_puts(error, chunk->error.data ? chunk->error.data : "code generation failed");
    return false;
  }
  return true;
}

void chunk_finish(build_job_t* job) {
  for (uint32_t i = 0; i < job->chunk_count; ++i) {
    memory_free(job->chunks[i].code.data);
    text_finish(&job->chunks[i].error);
  }
  memory_free(job->chunks);
}
