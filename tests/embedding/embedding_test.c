// The compiler as a shared library, through its loader: programs in and out in every way, errors with their text,
// threads.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "iree/compiler/embedding_api.h"
#include "iree/compiler/loader.h"

static const char good[] =
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n"
    "}\n";
static const char unknown_value[] = "func.func @f() -> i32 {\n  return %x : i32\n}\n";
static const char not_lowered[] =
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = \"no.such_op\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n"
    "}\n";

typedef struct messages_t {
  char text[2048];
  int errors, warnings;
} messages_t;

static void remember(enum iree_compiler_diagnostic_severity_t severity, const char* message, size_t size, void* user) {
  messages_t* m = user;
  m->errors += severity == IREE_COMPILER_DIAGNOSTIC_SEVERITY_ERROR;
  m->warnings += severity == IREE_COMPILER_DIAGNOSTIC_SEVERITY_WARNING;
  snprintf(m->text, sizeof(m->text), "%.*s", (int)size, message);
}

static void no_error(iree_compiler_error_t* error) {
  if (error) fail_msg("%s", ireeCompilerErrorGetMessage(error));
}

static void has_error(iree_compiler_error_t* error, const char* expected) {
  assert_non_null(error);
  if (!strstr(ireeCompilerErrorGetMessage(error), expected)) {
    fail_msg("'%s' lacks '%s'", ireeCompilerErrorGetMessage(error), expected);
  }
  ireeCompilerErrorDestroy(error);
}

// A session for the portable backend, an invocation, a source.
typedef struct job_t {
  iree_compiler_session_t* session;
  iree_compiler_invocation_t* inv;
  iree_compiler_source_t* source;
  messages_t messages;
} job_t;

static void begin(job_t* j, const char* text) {
  static const char* const flags[] = {"--iree-hal-target-backends=vmvx", "--mlir-disable-threading"};
  memset(j, 0, sizeof(*j));
  j->session = ireeCompilerSessionCreate();
  assert_non_null(j->session);
  no_error(ireeCompilerSessionSetFlags(j->session, 2, flags));
  j->inv = ireeCompilerInvocationCreate(j->session);
  assert_non_null(j->inv);
  ireeCompilerInvocationEnableCallbackDiagnostics(j->inv, 0, remember, &j->messages);
  no_error(ireeCompilerSourceWrapBuffer(j->session, "test.mlir", text, strlen(text) + 1, true, &j->source));
}

static void end(job_t* j) {
  ireeCompilerInvocationDestroy(j->inv);
  ireeCompilerSourceDestroy(j->source);
  ireeCompilerSessionDestroy(j->session);
}

static bool compile(job_t* j) {
  return ireeCompilerInvocationParseSource(j->inv, j->source) &&
         ireeCompilerInvocationPipeline(j->inv, IREE_COMPILER_PIPELINE_STD);
}

// What one of the output functions writes, terminated.
static char* text_of(job_t* j, iree_compiler_error_t* (*write)(iree_compiler_invocation_t*, iree_compiler_output_t*),
                     uint64_t* size) {
  iree_compiler_output_t* output;
  void* contents;
  no_error(ireeCompilerOutputOpenMembuffer(&output));
  no_error(write(j->inv, output));
  no_error(ireeCompilerOutputMapMemory(output, &contents, size));
  char* copy = calloc(1, *size + 1);
  assert_non_null(copy);
  memcpy(copy, contents, *size);
  ireeCompilerOutputDestroy(output);
  return copy;
}

static void test_library(void** unused) {
  assert_int_equal(ireeCompilerGetAPIVersion() >> 16, 1);
  assert_true(strlen(ireeCompilerGetRevision()) > 0);
  assert_true(ireeCompilerLoadLibrary("again"));  // loaded already
}

static void count_names(const char* name, void* user) { *(int*)user += strcmp(name, "vmvx") == 0; }

static void test_backends(void** unused) {
  int found = 0, plugins = 0;
  ireeCompilerEnumerateRegisteredHALTargetBackends(count_names, &found);
  ireeCompilerEnumeratePlugins(count_names, &plugins);
  assert_int_equal(found, 1);
  assert_int_equal(plugins, 0);
}

static void join_flags(const char* flag, size_t length, void* user) { strncat(user, flag, length); }

static void test_flags(void** unused) {
  char joined[256] = "";
  const char* const bad[] = {"--iree-opt-data-tiling=false", "--no-such-flag"};
  const char* const file[] = {"model.mlir"};
  iree_compiler_session_t* session = ireeCompilerSessionCreate();
  no_error(ireeCompilerSessionSetFlags(session, 1, bad));
  has_error(ireeCompilerSessionSetFlags(session, 2, bad), "--no-such-flag");
  has_error(ireeCompilerSessionSetFlags(session, 1, file), "model.mlir");
  ireeCompilerSessionGetFlags(session, true, join_flags, joined);
  assert_string_equal(joined, bad[0]);
  ireeCompilerSessionDestroy(session);
}

static void test_module_in_memory(void** unused) {
  job_t j;
  uint64_t size;
  begin(&j, good);
  has_error(ireeCompilerInvocationOutputVMBytecode(j.inv, NULL), "the pipeline has to run");
  assert_true(compile(&j));
  char* module = text_of(&j, ireeCompilerInvocationOutputVMBytecode, &size);
  assert_true(size > 100);
  assert_memory_equal(module, "PK", 2);
  free(module);
  char* source = text_of(&j, ireeCompilerInvocationOutputVMCSource, &size);
  assert_non_null(strstr(source, "iree_vm_c_module_create("));
  free(source);
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  assert_non_null(strstr(j.messages.text, "ran already"));
  end(&j);
}

static void test_phases(void** unused) {
  job_t j;
  uint64_t size;
  begin(&j, good);
  assert_true(ireeCompilerInvocationParseSource(j.inv, j.source));
  char* parsed = text_of(&j, ireeCompilerInvocationOutputIR, &size);
  assert_non_null(strstr(parsed, "stablehlo.add"));
  free(parsed);
  ireeCompilerInvocationSetCompileToPhase(j.inv, "input");
  assert_true(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  char* lowered = text_of(&j, ireeCompilerInvocationOutputIR, &size);
  assert_non_null(strstr(lowered, "graph.add"));
  free(lowered);
  end(&j);
}

static iree_compiler_error_t* write_version(iree_compiler_invocation_t* inv, iree_compiler_output_t* output) {
  return ireeCompilerInvocationOutputIRBytecode(inv, output, 4);
}

static void test_bytecode_in_and_out(void** unused) {
  job_t j;
  uint64_t size;
  begin(&j, good);
  assert_true(ireeCompilerInvocationParseSource(j.inv, j.source));
  char* data = text_of(&j, write_version, &size);
  assert_memory_equal(data, "ML\xefR\x09", 5);
  has_error(ireeCompilerInvocationOutputIRBytecode(j.inv, NULL, 7), "version 7");
  iree_compiler_source_t* source;
  no_error(ireeCompilerSourceWrapBuffer(j.session, "test.mlirbc", data, size, false, &source));
  iree_compiler_invocation_t* inv = ireeCompilerInvocationCreate(j.session);
  assert_true(ireeCompilerInvocationParseSource(inv, source));
  assert_true(ireeCompilerInvocationPipeline(inv, IREE_COMPILER_PIPELINE_STD));
  ireeCompilerInvocationDestroy(inv);
  ireeCompilerSourceDestroy(source);
  free(data);
  end(&j);
}

static void test_messages_about_programs(void** unused) {
  job_t j;
  begin(&j, unknown_value);
  assert_false(ireeCompilerInvocationParseSource(j.inv, j.source));
  assert_int_equal(j.messages.errors, 1);
  assert_non_null(strstr(j.messages.text, "test.mlir:2:10: error: "));
  end(&j);
  begin(&j, not_lowered);
  assert_true(ireeCompilerInvocationParseSource(j.inv, j.source));
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  assert_non_null(strstr(j.messages.text, "no.such_op"));
  end(&j);
}

static void test_what_is_refused(void** unused) {
  job_t j;
  begin(&j, good);
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  assert_non_null(strstr(j.messages.text, "parse a source first"));
  has_error(ireeCompilerInvocationOutputIR(j.inv, NULL), "parse a source first");
  assert_true(ireeCompilerInvocationParseSource(j.inv, j.source));
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_HAL_EXECUTABLE));
  assert_false(ireeCompilerInvocationRunPassPipeline(j.inv, "builtin.module(cse)"));
  assert_non_null(strstr(j.messages.text, "iree-opt"));
  has_error(ireeCompilerInvocationOutputVMCSource(j.inv, NULL), "the pipeline has to run");
  has_error(ireeCompilerInvocationOutputHALExecutable(j.inv, NULL), "PIPELINE_HAL_EXECUTABLE has to run");
  ireeCompilerInvocationSetCompileFromPhase(j.inv, "flow");
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  ireeCompilerInvocationSetCompileFromPhase(j.inv, "start");
  ireeCompilerInvocationSetupRemarks(j.inv, ".*", "remarks.yaml");
  ireeCompilerInvocationSetCompileToPhase(j.inv, "nowhere");
  assert_false(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  assert_int_equal(j.messages.warnings, 1);
  assert_non_null(strstr(j.messages.text, "unknown phase 'nowhere'"));
  ireeCompilerInvocationSetCompileToPhase(j.inv, "end");  // a failure does no harm
  assert_true(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_STD));
  end(&j);
}

static void test_files(void** unused) {
  char folder[] = "/tmp/iree-embedding-XXXXXX", path[64], phases[64], text[256];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof(path), "%s/f.mlir", folder);
  iree_compiler_output_t* output;
  for (int keep = 0; keep < 2; ++keep) {
    no_error(ireeCompilerOutputOpenFile(path, &output));
    no_error(ireeCompilerOutputWrite(output, good, strlen(good)));
    if (keep) ireeCompilerOutputKeep(output);
    ireeCompilerOutputDestroy(output);
    assert_int_equal(access(path, R_OK), keep - 1);
  }
  job_t j;
  iree_compiler_source_t* source;
  begin(&j, good);
  has_error(ireeCompilerSourceOpenFile(j.session, "/no/such.mlir", &source), "cannot open input file '/no/such.mlir'");
  has_error(ireeCompilerOutputOpenFile("/no/such/folder/f", &output), "cannot open output file");
  no_error(ireeCompilerSourceOpenFile(j.session, path, &source));
  assert_true(ireeCompilerInvocationParseSource(j.inv, source));
  ireeCompilerInvocationSetDumpCompilationPhasesTo(j.inv, folder);
  assert_true(ireeCompilerInvocationPipeline(j.inv, IREE_COMPILER_PIPELINE_VM));
  snprintf(phases, sizeof(phases), "%s/f.1.input.mlir", folder);
  assert_int_equal(access(phases, R_OK), 0);
  end(&j);
  ireeCompilerSourceDestroy(source);
  snprintf(text, sizeof(text), "rm -r %s", folder);
  assert_int_equal(system(text), 0);
}

static void test_descriptor(void** unused) {
  int pipes[2];
  char buffer[8] = "";
  iree_compiler_output_t* output;
  void* contents;
  uint64_t size;
  assert_int_equal(pipe(pipes), 0);
  no_error(ireeCompilerOutputOpenFD(pipes[1], &output));
  no_error(ireeCompilerOutputWrite(output, "hello", 5));
  has_error(ireeCompilerOutputMapMemory(output, &contents, &size), "in memory");
  ireeCompilerOutputDestroy(output);
  assert_int_equal(read(pipes[0], buffer, sizeof(buffer)), 5);
  assert_string_equal(buffer, "hello");
  close(pipes[0]);
  assert_int_equal(write(pipes[1], "", 0), 0);  // still open
  close(pipes[1]);
  has_error(ireeCompilerOutputOpenFD(pipes[1], &output), "no open file descriptor");
}

static void keep_part(iree_compiler_source_t* source, void* user) {
  iree_compiler_source_t** parts = user;
  while (*parts) ++parts;
  *parts = source;
}

static void test_split(void** unused) {
  static const char text[] = "func.func @a() {\n  return\n}\n// -----\nfunc.func @b() {\n  return\n}\n";
  iree_compiler_source_t* parts[4] = {NULL};
  job_t j;
  begin(&j, text);
  no_error(ireeCompilerSourceSplit(j.source, keep_part, parts));
  assert_non_null(parts[1]);
  assert_null(parts[2]);
  assert_true(ireeCompilerInvocationParseSource(j.inv, parts[1]));
  uint64_t size;
  char* second = text_of(&j, ireeCompilerInvocationOutputIR, &size);
  assert_non_null(strstr(second, "@b"));
  assert_null(strstr(second, "@a"));
  free(second);
  ireeCompilerSourceDestroy(parts[0]);
  ireeCompilerSourceDestroy(parts[1]);
  has_error(ireeCompilerSourceWrapBuffer(j.session, "b", "xy", 2, true, &parts[0]), "terminator");
  end(&j);
}

enum { THREADS = 8, PROGRAMS = 20 };

// One in five is broken, half of these when it is read and half later. Returns the number of wrong outcomes.
static void* run_thread(void* unused) {
  uintptr_t wrong = 0;
  for (int i = 0; i < PROGRAMS; ++i) {
    job_t j;
    const char* text = i % 10 == 3 ? unknown_value : i % 10 == 8 ? not_lowered : good;
    begin(&j, text);
    bool ok = compile(&j);
    wrong += ok != (text == good) || (j.messages.errors == 0) != ok;
    end(&j);
  }
  return (void*)wrong;
}

static void test_threads(void** unused) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_thread, NULL), 0);
  for (int i = 0; i < THREADS; ++i) {
    void* wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
}

static void test_global_flags(void** unused) {
  char joined[256] = "";
  const char* flags[] = {"program", "--iree-hal-target-backends=vmvx"};
  ireeCompilerSetupGlobalCL(2, flags, "banner", false);
  iree_compiler_session_t* session = ireeCompilerSessionCreate();
  ireeCompilerSessionGetFlags(session, false, join_flags, joined);
  assert_string_equal(joined, flags[1]);
  ireeCompilerSessionDestroy(session);
  ireeCompilerSetupGlobalCL(1, flags, "banner", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_library),         cmocka_unit_test(test_backends),
      cmocka_unit_test(test_flags),           cmocka_unit_test(test_module_in_memory),
      cmocka_unit_test(test_phases),          cmocka_unit_test(test_bytecode_in_and_out),
      cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_messages_about_programs),
      cmocka_unit_test(test_files),           cmocka_unit_test(test_descriptor),
      cmocka_unit_test(test_split),           cmocka_unit_test(test_threads),
      cmocka_unit_test(test_global_flags),
  };
  if (ireeCompilerLoadLibrary("/no/such/library.so") || !ireeCompilerLoadLibrary(COMPILER_LIBRARY)) return 1;
  ireeCompilerGlobalInitialize();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ireeCompilerGlobalShutdown();
  return failed;
}
