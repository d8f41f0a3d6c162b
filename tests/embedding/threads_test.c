// Programs by eight threads at once, one in ten of them broken, and for one in twenty memory runs out somewhere: every
// good one becomes what it becomes alone, every other one ends with a message, and no memory is lost.
//
//   embedding_threads_test [PROGRAMS [BACKEND]]     200 for vmvx, tests/soak.sh has more and machine code
//
// LLVM loses what it had when memory runs out in mid-call (target/llvm/guard.h), so leaks are looked for with vmvx
// only.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/compiler/embedding_api.h"
#include "iree/compiler/loader.h"
#include "oom/failing_malloc.h"

static const char* const good[] = {
    "func.func @f(%a: tensor<37xf32>, %b: tensor<37xf32>) -> tensor<37xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<37xf32>\n"
    "  %1 = stablehlo.exponential %0 : tensor<37xf32>\n"
    "  return %1 : tensor<37xf32>\n}\n",
    "func.func @f(%a: tensor<?x16xf32>, %b: tensor<16x8xf32>) -> tensor<?x8xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x8xf32>) "
    "-> tensor<?x8xf32>\n"
    "  %1 = stablehlo.tanh %0 : tensor<?x8xf32>\n"
    "  return %1 : tensor<?x8xf32>\n}\n",
    "func.func @f(%a: tensor<5x9xi32>) -> tensor<5xi32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]\n"
    "      : (tensor<5x9xi32>, tensor<i32>) -> tensor<5xi32>\n"
    "  return %0 : tensor<5xi32>\n}\n",
    "func.func @f(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>\n"
    "  cond {\n"
    "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %next = stablehlo.add %i, %one : tensor<i32>\n"
    "    %z = stablehlo.sine %y : tensor<4xf32>\n"
    "    stablehlo.return %next, %z : tensor<i32>, tensor<4xf32>\n"
    "  }\n"
    "  return %r#1 : tensor<4xf32>\n}\n",
};
static const char* const broken[] = {
    "func.func @f() -> i32 {\n  return %x : i32\n}\n",                           // no such value
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add",  // no end
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"                       // read, but not lowered
    "  %0 = \"no.such_op\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n}\n",
    "func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {\n"  // types that do not fit
    "  %0 = \"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n}\n",
};
enum { GOOD = sizeof(good) / sizeof(good[0]), BROKEN = sizeof(broken) / sizeof(broken[0]), THREADS = 8, ROUNDS = 2 };

typedef struct result_t {
  void* module;  // NULL: failed
  uint64_t size;
  bool has_message;
} result_t;

typedef struct soak_t {
  const char* backend;
  result_t expected[GOOD];
  uint64_t allocations[GOOD];  // of the thread that asks
  int first, count;            // programs of a round
  atomic_int next, wrong, exhausted;
  pthread_barrier_t turn;  // before and behind each round: of all threads, which libc has blocks for, and main
} soak_t;

//===----------------------------------------------------------------------------------------------------------------===
// One program
//===----------------------------------------------------------------------------------------------------------------===

static void note_message(enum iree_compiler_diagnostic_severity_t severity, const char* message, size_t size,
                         void* user) {
  result_t* result = user;
  result->has_message |= severity == IREE_COMPILER_DIAGNOSTIC_SEVERITY_ERROR && message && size;
}

static bool succeeds(iree_compiler_error_t* error, result_t* result) {
  if (!error) return true;
  result->has_message |= ireeCompilerErrorGetMessage(error)[0] != 0;
  ireeCompilerErrorDestroy(error);
  return false;
}

static void take_module(iree_compiler_invocation_t* inv, result_t* result) {
  iree_compiler_output_t* output = NULL;
  void* contents = NULL;
  if (!succeeds(ireeCompilerOutputOpenMembuffer(&output), result)) return;
  if (succeeds(ireeCompilerInvocationOutputVMBytecode(inv, output), result) &&
      succeeds(ireeCompilerOutputMapMemory(output, &contents, &result->size), result)) {
    result->module = malloc(result->size);
    if (result->module) memcpy(result->module, contents, result->size);
    result->has_message |= !result->module;
  }
  ireeCompilerOutputDestroy(output);
}

static void invoke(iree_compiler_session_t* session, const char* text, result_t* result) {
  iree_compiler_source_t* source = NULL;
  iree_compiler_invocation_t* inv = ireeCompilerInvocationCreate(session);
  result->has_message |= !inv;  // that there is none says it
  if (!inv) return;
  ireeCompilerInvocationEnableCallbackDiagnostics(inv, 0, note_message, result);
  if (succeeds(ireeCompilerSourceWrapBuffer(session, "test.mlir", text, strlen(text) + 1, true, &source), result) &&
      ireeCompilerInvocationParseSource(inv, source) &&
      ireeCompilerInvocationPipeline(inv, IREE_COMPILER_PIPELINE_STD)) {
    take_module(inv, result);
  }
  ireeCompilerInvocationDestroy(inv);
  ireeCompilerSourceDestroy(source);
}

static result_t compile(const char* backend, const char* text) {
  result_t result = {0};
  char flag[64];
  snprintf(flag, sizeof(flag), "--iree-hal-target-backends=%s", backend);
  const char* const flags[] = {flag};
  iree_compiler_session_t* session = ireeCompilerSessionCreate();
  result.has_message |= !session;
  if (session && succeeds(ireeCompilerSessionSetFlags(session, 1, flags), &result)) invoke(session, text, &result);
  ireeCompilerSessionDestroy(session);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Many of them
//===----------------------------------------------------------------------------------------------------------------===

static bool is_same(const result_t* a, const result_t* b) {
  return a->module && a->size == b->size && memcmp(a->module, b->module, a->size) == 0;
}

// What is wrong with what became of program `number`, or NULL.
static const char* run_program(soak_t* soak, int number) {
  uint64_t place = (uint64_t)number * 0x9E3779B97F4A7C15u >> 20;
  int which = (int)(place % GOOD);
  bool is_broken = number % 10 == 3, is_exhausted = number % 20 == 7;
  if (is_exhausted) failing_malloc_arm_thread(1 + place / GOOD % soak->allocations[which], number % 40 == 7);
  result_t result = compile(soak->backend, is_broken ? broken[place % BROKEN] : good[which]);
  failing_malloc_arm_thread(0, false);
  bool failed = !result.module, same = is_same(&result, &soak->expected[which]);
  free(result.module);
  soak->exhausted += is_exhausted && failed;
  if (failed != result.has_message) return failed ? "an error without a message" : "a result with an error";
  if (is_broken) return failed ? NULL : "a broken program was compiled";
  if (failed) return is_exhausted ? NULL : "an error that nobody made";
  return same ? NULL : "another result";
}

static void* run_thread(void* user) {
  soak_t* soak = user;
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_barrier_wait(&soak->turn);
    for (int i; (i = soak->next++) < soak->count;) {
      const char* problem = run_program(soak, soak->first + i);
      soak->wrong += problem != NULL;
      if (problem) fprintf(stderr, "FAILED program %d: %s\n", soak->first + i, problem);
    }
    pthread_barrier_wait(&soak->turn);
  }
  return NULL;
}

// Blocks that a round of programs leaves behind.
static int64_t run_round(soak_t* soak, int first, int count) {
  int64_t live = failing_malloc_live();
  soak->first = first;
  soak->count = count;
  soak->next = 0;
  pthread_barrier_wait(&soak->turn);
  pthread_barrier_wait(&soak->turn);
  return failing_malloc_live() - live;
}

// Of the last round: what is kept for good is there after some programs.
static int64_t run_rounds(soak_t* soak, int count) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&soak->turn, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; ++i) {
    if (pthread_create(&threads[i], NULL, run_thread, soak)) abort();
  }
  run_round(soak, 0, count / ROUNDS);
  int64_t kept = run_round(soak, count / ROUNDS, count - count / ROUNDS);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&soak->turn);
  return kept;
}

static void prepare(soak_t* soak) {
  for (int i = 0; i < GOOD; ++i) {
    soak->expected[i] = compile(soak->backend, good[i]);
    failing_malloc_arm_thread(0, false);
    result_t again = compile(soak->backend, good[i]);
    soak->allocations[i] = failing_malloc_arm_thread(0, false);
    bool same = is_same(&again, &soak->expected[i]);
    if (!same) fprintf(stderr, "FAILED program %d alone\n", i);
    soak->wrong += !same;
    free(again.module);
  }
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 200;
  soak_t soak = {.backend = argc > 2 ? argv[2] : "vmvx"};
  bool is_strict = strcmp(soak.backend, "vmvx") == 0;
  if (!ireeCompilerLoadLibrary(COMPILER_LIBRARY)) return 1;
  ireeCompilerGlobalInitialize();
  prepare(&soak);
  int64_t kept = soak.wrong ? 0 : run_rounds(&soak, count);
  printf("of %d programs %d had too little memory; %lld blocks are kept\n", count, (int)soak.exhausted,
         (long long)kept);
  bool leaks = is_strict && kept > 0;
  if (leaks) fprintf(stderr, "FAILED %lld blocks are leaked\n", (long long)kept);
  soak.wrong += leaks;
  for (int i = 0; i < GOOD; ++i) free(soak.expected[i].module);
  ireeCompilerGlobalShutdown();
  printf("%d passed, %d failed\n", count - soak.wrong, (int)soak.wrong);
  return soak.wrong != 0;
}
