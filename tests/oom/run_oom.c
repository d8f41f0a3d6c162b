// Compiles or imports a program again and again, and lets another allocation fail each time:
//
//   run_oom [--samples=500] [--processes=N] [--only=NTH[+]] [--cold] [iree-compile flags] program
//
// Every time there must be an error with a message and no result, or a result that is the same as ever; no signal, no
// deadlock, nothing leaked; and the process must be able to compile the program afterwards. Where LLVM was left in
// mid-call its memory is lost (target/llvm/guard.h), which is counted; with --cold that happens in a process that has
// not compiled anything before, where the second time may be refused too, but in good order.
//
// Samples are spread over all allocations; every other one lets all behind it fail as well. Each runs in a process of
// its own, which a fork makes; as many run at once as there are processors, or as --processes says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/flags.h"
#include "failing_malloc.h"
#include "target/llvm/guard.h"

enum { TIMEOUT_SECONDS = 30 };

typedef struct messages_t {
  uint32_t errors;
  char first[512];
} messages_t;

typedef struct job_t {
  int argc;
  char** argv;
  messages_t messages;
  compiler_output_t output;
  int result;
} job_t;

// Results of the children, in memory that they share.
typedef struct totals_t {
  _Atomic uint64_t passed, failed, lost, tolerated, refused;
  int64_t usual;  // blocks that a run loses when nothing fails
} totals_t;

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)loc, (void)text;
  messages_t* m = user;
  if (severity != IR_ERROR) return;
  if (!m->errors++) snprintf(m->first, sizeof(m->first), "%s", rendered);
}

static void take_message(messages_t* m, const char* text) { on_diagnostic(m, IR_ERROR, NULL, NULL, text); }

// What iree-compile does.
static void compile(void* user) {
  job_t* job = user;
  compiler_flags_t flags;
  compiler_options_t options;
  text_t error = {0};
  bool ok =
      compiler_flags_parse(&flags, job->argc, job->argv, &error) && compiler_flags_resolve(&flags, &options, &error);
  if (!ok) take_message(&job->messages, error.data ? error.data : "no message");
  if (ok) {
    options.diagnostic = on_diagnostic;
    options.diagnostic_user = &job->messages;
    ok = compiler_run(&options, flags.input, NULL, 0, &job->output);
  }
  text_finish(&error);
  compiler_flags_finish(&flags);
  job->result = ok ? 0 : 1;
}

static job_t run_job(int argc, char** argv) {
  job_t job = {.argc = argc, .argv = argv, .result = 1};
  memory_scope_t scope;
  if (memory_scope_run(&scope, compile, &job)) {
    memory_scope_drop(&scope);
  } else {
    take_message(&job.messages, "out of memory");
  }
  return job;
}

static bool same_output(const job_t* a, const job_t* b) {
  return a->output.size == b->output.size && memcmp(a->output.data, b->output.data, a->output.size) == 0;
}

static int problem(uint64_t nth, const char* what, const messages_t* m) {
  fprintf(stderr, "FAILED allocation %llu: %s%s%s\n", (unsigned long long)nth, what, m->errors ? ": " : "", m->first);
  return 1;
}

// In a process of its own. `expected` is the job's result when nothing fails; NULL: there was none before.
static int check(int argc, char** argv, uint64_t nth, bool for_good, const job_t* expected, totals_t* totals) {
  alarm(TIMEOUT_SECONDS);
  int64_t live = failing_malloc_live();
  failing_malloc_arm(nth, for_good);
  job_t job = run_job(argc, argv);
  bool failed = failing_malloc_failed();
  failing_malloc_arm(0, false);
  if (job.result && !job.messages.errors) return problem(nth, "an error without a message", &job.messages);
  if (job.result && job.output.data) return problem(nth, "an error with a result", &job.messages);
  if (job.result && !failed) return problem(nth, "an error that nobody made", &job.messages);
  if (!job.result && job.messages.errors) return problem(nth, "a result with an error", &job.messages);
  if (!job.result && expected && !same_output(&job, expected)) return problem(nth, "another result", &job.messages);
  bool lost = guard_left_count() > 0;
  free(job.output.data);
  int64_t leaked = failing_malloc_live() - live;
  if (leaked > totals->usual && expected && !lost) {
    failing_malloc_show();
    fprintf(stderr, "%lld blocks are leaked; ", (long long)leaked);
    return problem(nth, "leak", &job.messages);
  }
  totals->lost += lost;
  totals->tolerated += !job.result && failed;
  job_t again = run_job(argc, argv);
  totals->refused += again.result != 0;
  if (again.result && (expected || !again.messages.errors)) return problem(nth, "no second time", &again.messages);
  if (!again.result && expected && !same_output(&again, expected)) return problem(nth, "later another", &job.messages);
  return 0;
}

static bool run_child(int argc, char** argv, uint64_t nth, bool for_good, const job_t* expected, totals_t* totals) {
  fflush(stderr);
  pid_t child = fork();
  if (child < 0) return fprintf(stderr, "FAILED fork\n"), false;
  if (child == 0) _exit(check(argc, argv, nth, for_good, expected, totals));
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  fprintf(stderr, "FAILED allocation %llu%s: signal %d\n", (unsigned long long)nth,
          for_good ? " and all behind it" : "", WTERMSIG(status));
  return false;
}

// Each of several processes takes every so manieth sample.
static void run_samples(int argc, char** argv, uint64_t total, uint64_t samples, long processes, const job_t* expected,
                        totals_t* totals) {
  if (processes < 1) processes = 1;
  fflush(stderr);
  for (long first = 0; first < processes; ++first) {
    pid_t worker = fork();
    if (worker < 0) fprintf(stderr, "FAILED fork\n");
    if (worker) continue;
    for (uint64_t i = (uint64_t)first; i < samples; i += (uint64_t)processes) {
      bool good = run_child(argc, argv, total * i / samples + 1, i % 2, expected, totals);
      ++*(good ? &totals->passed : &totals->failed);
    }
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
}

// How many allocations a run makes, counted where nothing has run before.
static uint64_t count_cold(int argc, char** argv, uint64_t* shared) {
  pid_t child = fork();
  if (child == 0) {
    failing_malloc_arm(0, false);
    run_job(argc, argv);
    *shared = failing_malloc_count();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return *shared;
}

static job_t run_counted(int argc, char** argv, int64_t* lost) {
  int64_t live = failing_malloc_live();
  failing_malloc_arm(0, false);
  job_t job = run_job(argc, argv);
  *lost = failing_malloc_live() - live - (job.output.data != NULL);
  return job;
}

// lld loses a little each time, and threads of a process that was forked may keep some more.
static void count_usual(int argc, char** argv, totals_t* totals) {
  int64_t lost = 0;
  fflush(stderr);
  pid_t child = fork();
  if (child == 0) {
    run_counted(argc, argv, &lost);
    if (lost > totals->usual) totals->usual = lost;
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  uint64_t samples = 500, only = 0;
  long processes = sysconf(_SC_NPROCESSORS_ONLN);
  bool cold = false, for_good = false;
  char* end;
  for (; argc > 1; --argc, argv[1] = argv[0], ++argv) {
    if (!strncmp(argv[1], "--samples=", 10)) {
      samples = strtoull(argv[1] + 10, NULL, 10);
    } else if (!strncmp(argv[1], "--processes=", 12)) {
      processes = strtol(argv[1] + 12, NULL, 10);
    } else if (!strncmp(argv[1], "--only=", 7)) {
      only = strtoull(argv[1] + 7, &end, 10);
      for_good = *end == '+';
    } else if (!strcmp(argv[1], "--cold")) {
      cold = true;
    } else {
      break;
    }
  }
  totals_t* totals = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  uint64_t total = 0;
  job_t expected = {0};
  if (cold) {
    total = count_cold(argc, argv, (uint64_t*)(totals + 1));
  } else {
    for (int i = 0; i < 3; ++i) {  // what is kept for good is there from the first time on
      free(expected.output.data);
      expected = run_counted(argc, argv, &totals->usual);
    }
    total = failing_malloc_count();
    count_usual(argc, argv, totals);
    if (expected.result) return fprintf(stderr, "FAILED %s\n", expected.messages.first), 1;
  }
  if (only) {  // for a debugger
    failing_malloc_trace();
    return check(argc, argv, only, for_good, cold ? NULL : &expected, totals);
  }
  if (samples > total) samples = total;
  run_samples(argc, argv, total, samples, processes, cold ? NULL : &expected, totals);
  printf(
      "%llu allocations; of %llu that failed, %llu did no harm, %llu left LLVM in mid-call; %llu second runs refused\n",
      (unsigned long long)total, (unsigned long long)samples, (unsigned long long)totals->tolerated,
      (unsigned long long)totals->lost, (unsigned long long)totals->refused);
  uint64_t unknown = samples - totals->passed - totals->failed;
  if (unknown) fprintf(stderr, "FAILED %llu samples, whose process ended\n", (unsigned long long)unknown);
  uint64_t failed = totals->failed + unknown;
  printf("%llu passed, %llu failed\n", (unsigned long long)totals->passed, (unsigned long long)failed);
  return failed != 0;
}
