// Invocations. The compiler takes a program from its text to a result in one run; so an invocation remembers how far it
// is, and runs when something is asked for that it does not have.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/flags.h"
#include "embedding/embedding.h"
#include "ir/bytecode.h"

typedef void (*message_fn_t)(enum iree_compiler_diagnostic_severity_t severity, const char* message, size_t messageSize,
                             void* userData);

struct iree_compiler_invocation_t {
  iree_compiler_session_t* session;
  iree_compiler_source_t* source;  // once it is parsed
  message_fn_t callback;
  void* callback_user;
  bool console, skip_verification, remarks;
  char *from, *to, *dump;  // or NULL
  bool ran;
  compiler_phase_t phase;  // where it is
  void* module;            // at the end: what the pipeline made
  size_t module_size;
  bool is_executable;  // that is one kernel library alone
};

iree_compiler_invocation_t* ireeCompilerInvocationCreate(iree_compiler_session_t* session) {
  iree_compiler_invocation_t* inv = calloc(1, sizeof(*inv));
  if (inv) inv->session = session;
  return inv;
}

void ireeCompilerInvocationDestroy(iree_compiler_invocation_t* inv) {
  if (!inv) return;
  free(inv->from);
  free(inv->to);
  free(inv->dump);
  free(inv->module);
  free(inv);
}

//===----------------------------------------------------------------------------------------------------------------===
// Diagnostics
//===----------------------------------------------------------------------------------------------------------------===

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  static const enum iree_compiler_diagnostic_severity_t severities[] = {
      [IR_ERROR] = IREE_COMPILER_DIAGNOSTIC_SEVERITY_ERROR,
      [IR_WARNING] = IREE_COMPILER_DIAGNOSTIC_SEVERITY_WARNING,
      [IR_REMARK] = IREE_COMPILER_DIAGNOSTIC_SEVERITY_REMARK,
      [IR_NOTE] = IREE_COMPILER_DIAGNOSTIC_SEVERITY_NOTE};
  iree_compiler_invocation_t* inv = user;
  (void)loc, (void)text;
  if (inv->callback) inv->callback(severities[severity], rendered, strlen(rendered), inv->callback_user);
  if (inv->console) fprintf(stderr, "%s\n", rendered);
}

// A message without location; false.
static bool complain(iree_compiler_invocation_t* inv, ir_severity_t severity, const char* text) {
  char rendered[1024];
  snprintf(rendered, sizeof(rendered), "%s: %s", severity == IR_ERROR ? "error" : "warning", text);
  on_diagnostic(inv, severity, NULL, text, rendered);
  return false;
}

void ireeCompilerInvocationEnableCallbackDiagnostics(iree_compiler_invocation_t* inv, int flags, message_fn_t callback,
                                                     void* userData) {
  (void)flags;
  inv->callback = callback;
  inv->callback_user = userData;
}

void ireeCompilerInvocationEnableConsoleDiagnostics(iree_compiler_invocation_t* inv) { inv->console = true; }

void ireeCompilerInvocationSetCrashHandler(iree_compiler_invocation_t* inv, bool genLocalReproducer,
                                           iree_compiler_error_t* (*onCrashCallback)(iree_compiler_output_t** outOutput,
                                                                                     void* userData),
                                           void* userData) {
  (void)inv, (void)genLocalReproducer, (void)onCrashCallback, (void)userData;
}

//===----------------------------------------------------------------------------------------------------------------===
// Options
//===----------------------------------------------------------------------------------------------------------------===

static void set_string(iree_compiler_invocation_t* inv, char** slot, const char* text) {
  free(*slot);
  *slot = text && *text ? strdup(text) : NULL;
  if (text && *text && !*slot) complain(inv, IR_ERROR, "out of memory");
}

void ireeCompilerInvocationSetCompileFromPhase(iree_compiler_invocation_t* inv, const char* phase) {
  set_string(inv, &inv->from, phase);
}
void ireeCompilerInvocationSetCompileToPhase(iree_compiler_invocation_t* inv, const char* phase) {
  set_string(inv, &inv->to, phase);
}
void ireeCompilerInvocationSetDumpCompilationPhasesTo(iree_compiler_invocation_t* inv, const char* path) {
  set_string(inv, &inv->dump, path);
}
void ireeCompilerInvocationSetVerifyIR(iree_compiler_invocation_t* inv, bool enable) {
  inv->skip_verification = !enable;
}
void ireeCompilerInvocationSetupRemarks(iree_compiler_invocation_t* inv, const char* remarksFilter,
                                        const char* remarksOutputFile) {
  (void)remarksFilter, (void)remarksOutputFile;
  inv->remarks = true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Runs
//===----------------------------------------------------------------------------------------------------------------===

typedef enum { RUN_READ, RUN_TEXT, RUN_BYTECODE, RUN_MODULE } run_kind_t;
typedef struct run_t {
  iree_compiler_invocation_t* inv;
  const iree_compiler_source_t* source;
  run_kind_t kind;
  const char* phase;  // to stop after, but for a module
  compiler_output_format_t format;
  bool kernels_only;  // the program is kernels, which become an executable
  int bytecode_version;
  compiler_output_t output;
  bool ok;
} run_t;

static void apply(const run_t* r, compiler_options_t* options) {
  options->diagnostic = on_diagnostic;
  options->diagnostic_user = r->inv;
  options->read_only = r->kind == RUN_READ;
  options->emit_bytecode = r->kind == RUN_BYTECODE;
  options->bytecode_version = r->bytecode_version;
  if (r->format) options->format = r->format;
  options->kernels_only |= r->kernels_only;
  if (r->kind != RUN_MODULE) return;
  if (r->inv->dump) options->dump_phases_to = r->inv->dump;
  if (r->inv->skip_verification) options->passes.verify_each = false;
}

// In a memory scope: flags, options, the compiler.
static void run(void* user) {
  run_t* r = user;
  text_t error = {0};
  compiler_flags_t flags;
  compiler_options_t options;
  const embedding_flags_t* given = &r->inv->session->flags;
  char** argv = memory_array(given->count + 2, sizeof(*argv));
  argv[0] = "iree-compile";
  if (given->count) memcpy(argv + 1, given->items, sizeof(*argv) * given->count);
  bool ok = compiler_flags_parse(&flags, (int)given->count + 1, argv, &error);
  if (ok && r->phase) flags.compile_to = r->phase;
  if (ok && r->kind != RUN_READ && r->inv->from) flags.compile_from = r->inv->from;
  ok = ok && compiler_flags_resolve(&flags, &options, &error);
  if (!ok) {
    complain(r->inv, IR_ERROR, error.data);
    return;
  }
  apply(r, &options);
  if (r->kind == RUN_MODULE) r->inv->phase = options.stop_after;
  r->ok = compiler_run(&options, r->source->name, r->source->data, r->source->size, &r->output);
}

// The output is the caller's to free. False after diagnostics.
static bool run_guarded(run_t* r) {
  memory_scope_t scope;
  if (!memory_scope_run(&scope, run, r)) return complain(r->inv, IR_ERROR, "out of memory");
  memory_scope_drop(&scope);
  return r->ok;
}

bool ireeCompilerInvocationParseSource(iree_compiler_invocation_t* inv, iree_compiler_source_t* source) {
  if (inv->source) return complain(inv, IR_ERROR, "this invocation has a source; a new one is needed for another");
  run_t r = {.inv = inv, .source = source, .kind = RUN_READ, .phase = "start"};
  if (!run_guarded(&r)) return false;
  inv->source = source;
  return true;
}

static bool check_pipeline(iree_compiler_invocation_t* inv, enum iree_compiler_pipeline_t pipeline) {
  if (!inv->source) return complain(inv, IR_ERROR, "there is no program: parse a source first");
  if (inv->ran) return complain(inv, IR_ERROR, "the pipeline ran already; a new invocation is needed");
  if (pipeline > IREE_COMPILER_PIPELINE_VM) return complain(inv, IR_ERROR, "there is no such pipeline");
  if (inv->remarks) complain(inv, IR_WARNING, "no remarks are recorded");
  return true;
}

bool ireeCompilerInvocationPipeline(iree_compiler_invocation_t* inv, enum iree_compiler_pipeline_t pipeline) {
  if (!check_pipeline(inv, pipeline)) return false;
  run_t r = {.inv = inv, .source = inv->source, .kind = RUN_MODULE, .phase = inv->to};
  if (!r.phase && pipeline == IREE_COMPILER_PIPELINE_PRECOMPILE) r.phase = "global-optimization";
  if (!r.phase && pipeline == IREE_COMPILER_PIPELINE_VM) r.phase = "vm";
  if (pipeline == IREE_COMPILER_PIPELINE_HAL_EXECUTABLE) {
    r.kernels_only = true;
    r.format = COMPILER_OUTPUT_HAL_EXECUTABLE;
  }
  if (!run_guarded(&r)) {
    inv->phase = COMPILER_PHASE_START;
    return false;
  }
  inv->ran = true;
  inv->is_executable = r.kernels_only;
  if (inv->phase != COMPILER_PHASE_END) {
    free(r.output.data);  // made again in the form that is asked for
    return true;
  }
  inv->module = r.output.data;
  inv->module_size = r.output.size;
  return true;
}

bool ireeCompilerInvocationRunPassPipeline(iree_compiler_invocation_t* inv, const char* textPassPipeline) {
  char text[512];
  snprintf(text, sizeof(text), "'%.200s': single passes cannot be run here; iree-opt runs them by name",
           textPassPipeline);
  return complain(inv, IR_ERROR, text);
}

//===----------------------------------------------------------------------------------------------------------------===
// Outputs
//===----------------------------------------------------------------------------------------------------------------===

static iree_compiler_error_t* write_run(run_t* r, iree_compiler_output_t* output) {
  if (!run_guarded(r)) return embedding_error("the program cannot be written; its diagnostics say why");
  iree_compiler_error_t* error = ireeCompilerOutputWrite(output, r->output.data, r->output.size);
  free(r->output.data);
  return error;
}

static bool has_module(const iree_compiler_invocation_t* inv) { return inv->module && !inv->is_executable; }

static iree_compiler_error_t* no_module(void) {
  return embedding_error("there is no module: the pipeline has to run to the phase 'end' first");
}

// A module's own form is not text: its last phase that is.
static iree_compiler_error_t* output_ir(iree_compiler_invocation_t* inv, iree_compiler_output_t* output,
                                        run_kind_t kind, int version) {
  if (!inv->source) return embedding_error("there is no program: parse a source first");
  compiler_phase_t phase = !inv->ran                          ? COMPILER_PHASE_START
                           : inv->phase == COMPILER_PHASE_END ? COMPILER_PHASE_VM
                                                              : inv->phase;
  run_t r = {.inv = inv,
             .source = inv->source,
             .kind = kind,
             .phase = compiler_phase_name(phase),
             .bytecode_version = version};
  return write_run(&r, output);
}

iree_compiler_error_t* ireeCompilerInvocationOutputIR(iree_compiler_invocation_t* inv, iree_compiler_output_t* output) {
  return output_ir(inv, output, RUN_TEXT, 0);
}

iree_compiler_error_t* ireeCompilerInvocationOutputIRBytecode(iree_compiler_invocation_t* inv,
                                                              iree_compiler_output_t* output, int bytecodeVersion) {
  if (bytecodeVersion < -1 || bytecodeVersion > IR_BYTECODE_VERSION) {
    return embedding_error("version %d of MLIR bytecode cannot be written; 0 to %d can", bytecodeVersion,
                           IR_BYTECODE_VERSION);
  }
  return output_ir(inv, output, RUN_BYTECODE, bytecodeVersion < 0 ? IR_BYTECODE_VERSION : bytecodeVersion);
}

iree_compiler_error_t* ireeCompilerInvocationOutputVMBytecode(iree_compiler_invocation_t* inv,
                                                              iree_compiler_output_t* output) {
  if (!has_module(inv)) return no_module();
  return ireeCompilerOutputWrite(output, inv->module, inv->module_size);
}

iree_compiler_error_t* ireeCompilerInvocationOutputVMCSource(iree_compiler_invocation_t* inv,
                                                             iree_compiler_output_t* output) {
  if (!has_module(inv)) return no_module();
  run_t r = {.inv = inv, .source = inv->source, .kind = RUN_TEXT, .phase = "end", .format = COMPILER_OUTPUT_VM_C};
  return write_run(&r, output);
}

iree_compiler_error_t* ireeCompilerInvocationOutputHALExecutable(iree_compiler_invocation_t* inv,
                                                                 iree_compiler_output_t* output) {
  if (!inv->is_executable) {
    return embedding_error("there is no executable: IREE_COMPILER_PIPELINE_HAL_EXECUTABLE has to run first");
  }
  return ireeCompilerOutputWrite(output, inv->module, inv->module_size);
}
