// Runs every exported function of a module as a test, and reports as Google Test does. What the functions expect of
// their values goes through the module `check`; each test has a context of its own.

#include <fnmatch.h>
#include <stdlib.h>

#include "iree/base/tooling/flags.h"
#include "tooling/context.h"
#include "tooling/run.h"

IREE_FLAG(bool, expect_failure, false,
          "Whether the module is expected to fail: the exit code is 0 when a test failed, and 1 when all passed.");
IREE_FLAG(
    string, gtest_filter, "*",
    "Tests to run, as `module.function` with * and ?; several patterns between colons, and behind a `-` those that\n"
    "are left out.");
IREE_FLAG(bool, gtest_list_tests, false, "Prints the names of all tests instead of running them.");

static const char usage[] =
    "Runs the functions of a module that take and return nothing, each as a test.\n"
    "\n"
    "Example:\n"
    "  iree-check-module --device=local-task --module=tests.vmfb\n";

typedef struct check_test_t {
  iree_vm_function_t function;
  bool failed;
} check_test_t;

typedef struct check_suite_t {
  tooling_context_t context;
  check_test_t* tests;
  iree_host_size_t count;
  check_test_t* current;
} check_suite_t;

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

enum { NAME_SIZE = 512 };

static const char* test_name(const check_suite_t* suite, const check_test_t* test, char text[NAME_SIZE]) {
  iree_string_view_t module = iree_vm_module_name(suite->context.main), name = iree_vm_function_name(&test->function);
  snprintf(text, NAME_SIZE, "%.*s.%.*s", (int)module.size, module.data, (int)name.size, name.data);
  return text;
}

static bool matches_any(iree_string_view_t patterns, const char* name) {
  while (patterns.size) {
    iree_string_view_t pattern;
    char text[NAME_SIZE];
    iree_string_view_split(patterns, ':', &pattern, &patterns);
    iree_string_view_to_cstring(pattern, text, sizeof(text));
    if (fnmatch(text, name, FNM_NOESCAPE) == 0) return true;
  }
  return false;
}

static bool is_wanted(const char* name) {
  iree_string_view_t wanted, unwanted;
  iree_string_view_split(iree_make_cstring_view(FLAG_gtest_filter), '-', &wanted, &unwanted);
  return (!wanted.size || matches_any(wanted, name)) && !matches_any(unwanted, name);
}

//===----------------------------------------------------------------------------------------------------------------===
// Collecting
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_signature(const iree_vm_function_t* function) {
  iree_vm_function_signature_t signature = iree_vm_function_signature(function);
  iree_host_size_t arguments = 0, results = 0;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_count_arguments_and_results(&signature, &arguments, &results));
  if (!arguments && !results) return iree_ok_status();
  iree_string_view_t name = iree_vm_function_name(function), convention = signature.calling_convention;
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "expected function with no inputs or outputs, but export '%.*s' has signature '%.*s'",
                          (int)name.size, name.data, (int)convention.size, convention.data);
}

static iree_status_t collect_tests(check_suite_t* suite) {
  iree_vm_module_t* module = suite->context.main;
  iree_host_size_t count = iree_vm_module_signature(module).export_function_count;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(suite->context.allocator, count + 1, sizeof(*suite->tests), (void**)&suite->tests));
  for (iree_host_size_t i = 0; i < count; ++i) {
    check_test_t test = {0};
    char text[NAME_SIZE];
    IREE_RETURN_IF_ERROR(
        iree_vm_module_lookup_function_by_ordinal(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &test.function));
    iree_string_view_t name = iree_vm_function_name(&test.function);
    bool internal = iree_string_view_starts_with(name, IREE_SV("__")) ||
                    iree_string_view_find_char(name, '$', 0) != IREE_STRING_VIEW_NPOS;
    if (internal) continue;
    IREE_RETURN_IF_ERROR(check_signature(&test.function));
    if (is_wanted(test_name(suite, &test, text))) suite->tests[suite->count++] = test;
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static long milliseconds_since(iree_time_t start) { return (long)((iree_time_now() - start) / 1000000); }
static const char* plural(iree_host_size_t count) { return count == 1 ? "" : "s"; }

static iree_status_t note_failure(void* user_data, iree_string_view_t message) {
  check_suite_t* suite = user_data;
  suite->current->failed = true;
  printf("unknown file: Failure\nFailed\n%.*s\n\n", (int)message.size, message.data);
  return iree_ok_status();
}

static void run_test(check_suite_t* suite, check_test_t* test) {
  char text[NAME_SIZE];
  const char* name = test_name(suite, test, text);
  iree_time_t start = iree_time_now();
  printf("[ RUN      ] %s\n", name);
  fflush(stdout);
  suite->current = test;
  iree_status_t status = tooling_context_restart(&suite->context);
  if (iree_status_is_ok(status)) {
    status = iree_vm_invoke(suite->context.context, test->function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL,
                            /*inputs=*/NULL, /*outputs=*/NULL, suite->context.allocator);
  }
  if (!iree_status_is_ok(status)) {
    test->failed = true;
    printf("unknown file: Failure\nFailed\n");
    iree_status_fprint(stdout, status);
    iree_status_free(status);
    printf("\n");
  }
  printf("%s %s (%ld ms)\n", test->failed ? "[  FAILED  ]" : "[       OK ]", name, milliseconds_since(start));
}

static iree_host_size_t run_tests(check_suite_t* suite) {
  iree_string_view_t module = iree_vm_module_name(suite->context.main);
  iree_host_size_t failed = 0, count = suite->count, suites = count != 0;
  iree_time_t start = iree_time_now();
  char text[NAME_SIZE];
  if (strcmp(FLAG_gtest_filter, "*") != 0) printf("Note: Google Test filter = %s\n", FLAG_gtest_filter);
  printf("[==========] Running %zu test%s from %zu test suite%s.\n", count, plural(count), suites, plural(suites));
  printf("[----------] Global test environment set-up.\n");
  if (count) printf("[----------] %zu test%s from %.*s\n", count, plural(count), (int)module.size, module.data);
  for (iree_host_size_t i = 0; i < count; ++i) {
    run_test(suite, &suite->tests[i]);
    failed += suite->tests[i].failed;
  }
  long total = milliseconds_since(start);
  if (count) {
    printf("[----------] %zu test%s from %.*s (%ld ms total)\n\n", count, plural(count), (int)module.size, module.data,
           total);
  }
  printf("[----------] Global test environment tear-down\n");
  printf("[==========] %zu test%s from %zu test suite%s ran. (%ld ms total)\n", count, plural(count), suites,
         plural(suites), total);
  printf("[  PASSED  ] %zu test%s.\n", count - failed, plural(count - failed));
  if (!failed) return 0;
  printf("[  FAILED  ] %zu test%s, listed below:\n", failed, plural(failed));
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (suite->tests[i].failed) printf("[  FAILED  ] %s\n", test_name(suite, &suite->tests[i], text));
  }
  printf("\n%2zu FAILED TEST%s\n", failed, failed == 1 ? "" : "S");
  return failed;
}

static void list_tests(const check_suite_t* suite) {
  iree_string_view_t module = iree_vm_module_name(suite->context.main);
  if (suite->count) printf("%.*s.\n", (int)module.size, module.data);
  for (iree_host_size_t i = 0; i < suite->count; ++i) {
    iree_string_view_t name = iree_vm_function_name(&suite->tests[i].function);
    printf("  %.*s\n", (int)name.size, name.data);
  }
}

// A module's path may also stand by itself.
static iree_status_t run(int argc, char** argv, int* out_exit_code) {
  check_suite_t suite = {0};
  tooling_context_options_t options = {.reporter = {note_failure, &suite}};
  if (argc > 2) return tooling_refuse_arguments(argc - 1, argv + 1);
  if (argc == 2) options.path = iree_make_cstring_view(argv[1]);
  iree_status_t status = tooling_context_create(iree_allocator_system(), &options, &suite.context);
  if (iree_status_is_ok(status)) status = collect_tests(&suite);
  if (iree_status_is_ok(status)) {
    if (FLAG_gtest_list_tests) {
      list_tests(&suite);
    } else {
      *out_exit_code = run_tests(&suite) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
  }
  iree_allocator_free(iree_allocator_system(), suite.tests);
  return iree_status_join(status, tooling_context_destroy(&suite.context));
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-check-module", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  int exit_code = EXIT_SUCCESS;
  iree_status_t status = run(argc, argv, &exit_code);
  exit_code = tooling_run_finish(status, exit_code);
  if (!FLAG_expect_failure || FLAG_gtest_list_tests) return exit_code;
  printf(exit_code ? "Test failed as expected\n" : "Test passed but expected failure\n");
  return exit_code ? EXIT_SUCCESS : EXIT_FAILURE;
}
