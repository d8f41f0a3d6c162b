// Programs become executables: a module of the compiler's for one device, and its signature.
#include <stdio.h>

#include "base/memory.h"
#include "compiler/compiler.h"
#include "pjrt/pjrt.h"

typedef struct job_t {
  PJRT_Device* device;
  const pjrt_options_t* options;
  const pjrt_program_t* program;
  char* messages;  // errors; outlives the scopes of the compiler
  PJRT_Error* error;
  compiler_output_t output;
} job_t;

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  job_t* job = user;
  (void)loc, (void)text;
  if (severity != IR_ERROR && (severity != IR_NOTE || !job->messages)) return;  // notes belong to the error before
  size_t old = job->messages ? strlen(job->messages) + 1 : 0, size = strlen(rendered);
  char* more = realloc(job->messages, old + size + 1);
  if (!more) return;
  if (old) more[old - 1] = '\n';
  memcpy(more + old, rendered, size + 1);
  job->messages = more;
}

// Flags for what a client's devices are.
static void add_target_flags(const PJRT_Device* device, char** argv, int* argc) {
  static char local[][64] = {"--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"};
  if (device->client->is_host) {
    argv[(*argc)++] = local[0];
    argv[(*argc)++] = local[1];
    return;
  }
  bool is_cuda = strcmp(device->client->driver, "cuda") == 0;
  text_t flag = {0};
  text_printf(&flag, "--iree-hal-target-device=%s", device->client->driver);
  argv[(*argc)++] = flag.data;
  text_t target = {0};
  text_printf(&target, "--iree-%s-target=%s", is_cuda ? "cuda" : "rocm", device->target);
  if (device->target[0]) argv[(*argc)++] = target.data;
}

// The words of the client's flags.
static void add_client_flags(const PJRT_Device* device, char** argv, int* argc) {
  char* text = memory_strdup(device->client->flags);
  for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));) argv[(*argc)++] = word;
}

// Compile options are flags; what is wrong with one is said with its name.
static bool check_options_flags(job_t* job) {
  for (size_t i = 0; i < job->options->flag_count; ++i) {
    char *flag = job->options->flags[i], *argv[] = {"iree-compile", flag};
    text_t error = {0};
    compiler_flags_t flags;
    if (compiler_flags_parse(&flags, 2, argv, &error)) continue;
    job->error = pjrt_error(PJRT_INVALID_ARGUMENT, "No such compile option: '%.*s' (%s)",
                            (int)iree_min(strcspn(flag + 2, "="), 200), flag + 2, error.data ? error.data : "");
    return false;
  }
  return true;
}

// What files that are written on the way are named after: the program's name, and a number for what is in it.
static const char* file_name(const pjrt_program_t* program) {
  text_t name = {0};
  text_printf(&name, "%.100s_%08x", program->signature.name,
              (unsigned)pjrt_hash(0xcbf29ce484222325u, program->source, program->source_size));
  for (char* c = name.data; *c; ++c) {
    bool is_plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '-';
    if (!is_plain) *c = '_';
  }
  return name.data;
}

static void run(void* user) {
  job_t* job = user;
  if (!check_options_flags(job)) return;
  text_t error = {0};
  compiler_flags_t flags;
  compiler_options_t options;
  size_t most = strlen(job->device->client->flags) / 2 + job->options->flag_count + 8;
  char** argv = memory_array(most, sizeof(*argv));
  int argc = 0;
  argv[argc++] = "iree-compile";
  add_target_flags(job->device, argv, &argc);
  argv[argc++] = "--iree-execution-model=async-external";
  add_client_flags(job->device, argv, &argc);
  for (size_t i = 0; i < job->options->flag_count; ++i) argv[argc++] = job->options->flags[i];
  if (!compiler_flags_parse(&flags, argc, argv, &error) || !compiler_flags_resolve(&flags, &options, &error)) {
    job->error = pjrt_error_text(PJRT_INVALID_ARGUMENT, error.data, error.size);
    return;
  }
  options.donates = true;
  options.diagnostic = on_diagnostic;
  options.diagnostic_user = job;
  const char* name = options.dump_phases_to ? file_name(job->program) : "program";
  if (compiler_run(&options, name, job->program->source, job->program->source_size, &job->output)) return;
  const char* text = job->messages ? job->messages : "the program could not be compiled";
  job->error = pjrt_error_text(PJRT_UNIMPLEMENTED, text, strlen(text));
}

PJRT_Error* pjrt_compile(PJRT_Device* device, const pjrt_options_t* options, pjrt_program_t* program) {
  job_t job = {.device = device, .options = options, .program = program};
  memory_scope_t scope;
  if (memory_scope_run(&scope, run, &job)) {
    memory_scope_drop(&scope);
  } else {
    job.error = pjrt_no_memory();
  }
  free(job.messages);
  program->code = job.output.data;
  program->code_size = job.output.size;
  return job.error;
}

//===----------------------------------------------------------------------------------------------------------------===
// PJRT_Client_Compile
//===----------------------------------------------------------------------------------------------------------------===

static PJRT_Error* check_program(const PJRT_Program* program) {
  if (program->format_size == 4 && memcmp(program->format, "mlir", 4) == 0) return NULL;
  return pjrt_error(PJRT_UNIMPLEMENTED, "programs are read as 'mlir', not as '%.*s'",
                    (int)iree_min(program->format_size, 32), program->format);
}

static PJRT_Error* check_options(const PJRT_Client* client, const pjrt_options_t* options) {
  if (options->replicas > 1 || options->partitions > 1) {
    return pjrt_error(PJRT_UNIMPLEMENTED,
                      "the program is for %lld replicas and %lld partitions; programs run on one device",
                      (long long)options->replicas, (long long)options->partitions);
  }
  if (options->device < 0 || (uint64_t)options->device >= client->device_count) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "the program is for device %lld; there are %zu",
                      (long long)options->device, client->device_count);
  }
  return NULL;
}

static PJRT_Error* build(PJRT_Device* device, const pjrt_options_t* options, const PJRT_Client_Compile_Args* args,
                         pjrt_program_t* program) {
  program->options = malloc(args->compile_options_size + 1);
  if (!program->options) return pjrt_no_memory();
  if (args->compile_options_size) memcpy(program->options, args->compile_options, args->compile_options_size);
  program->options_size = args->compile_options_size;
  const PJRT_Program* source = args->program;
  program->source = malloc(source->code_size + 1);
  if (!program->source) return pjrt_no_memory();
  if (source->code_size) memcpy(program->source, source->code, source->code_size);
  program->source_size = source->code_size;
  PJRT_Error* error = pjrt_signature_read(source->code, source->code_size, &program->signature);
  if (!error) error = pjrt_compile(device, options, program);
  return error || pjrt_program_complete(program) ? error : pjrt_no_memory();
}

static PJRT_Error* compile(const PJRT_Client_Compile_Args* args, const pjrt_options_t* options,
                           PJRT_LoadedExecutable** out_executable) {
  PJRT_Error* error = check_options(args->client, options);
  if (error) return error;
  pjrt_program_t* program = calloc(1, sizeof(*program));
  if (!program) return pjrt_no_memory();
  iree_atomic_ref_count_init(&program->ref_count);
  error = build(args->client->devices[options->device], options, args, program);
  if (!error) return pjrt_executable_load(args->client, program, options, out_executable);
  pjrt_program_release(program);
  return error;
}

PJRT_Error* api_Client_Compile(PJRT_Client_Compile_Args* args) {
  pjrt_options_t options;
  PJRT_Error* error = check_program(args->program);
  if (!error) error = pjrt_options_parse(args->compile_options, args->compile_options_size, &options);
  if (error) return error;
  error = compile(args, &options, &args->executable);
  pjrt_options_finish(&options);
  return error;
}
