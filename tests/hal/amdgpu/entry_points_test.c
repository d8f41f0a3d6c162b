// Every entry point of HSA fails, at each of its calls, once or from there on, while a device is made, works and goes:
// its status reaches who called or everybody who waits, once; nothing hangs, nothing is left. A sample of the statuses
// that there are; ENTRY_POINTS=all takes each.
#include "../waiters.h"
#include "fake_program.h"
#include "hal/amdgpu/library.h"

typedef struct failure_t {
  hsa_status_t status;
  iree_status_code_t code;
} failure_t;
static const failure_t failures[] = {
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, IREE_STATUS_RESOURCE_EXHAUSTED},
    {HSA_STATUS_ERROR, IREE_STATUS_INTERNAL},
    {HSA_STATUS_ERROR_EXCEPTION, IREE_STATUS_ABORTED},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, IREE_STATUS_INVALID_ARGUMENT},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, IREE_STATUS_INVALID_ARGUMENT},
};

// What comes of an entry point's failure, where it is not the status.
typedef enum {
  FAILS,      // with the status, or `code`
  TOLERATED,  // what it tells may be missing from older libraries: works, or says that something is not there
  IGNORED,    // what was given back is gone for us
} outcome_t;
typedef struct rule_t {
  const char* name;
  outcome_t outcome;
  iree_status_code_t code;
} rule_t;
static const rule_t rules[] = {
    {"hsa_init", FAILS, IREE_STATUS_UNAVAILABLE},
    {"hsa_executable_get_symbol_by_name", FAILS, IREE_STATUS_NOT_FOUND},
    {"hsa_status_string", TOLERATED, 0},
    {"hsa_agent_get_info", TOLERATED, 0},
    {"hsa_isa_get_info_alt", TOLERATED, 0},
    {"hsa_agent_iterate_isas", TOLERATED, 0},
    {"hsa_amd_memory_pool_get_info", TOLERATED, 0},
    {"hsa_amd_memory_pool_allocate", TOLERATED, 0},  // asked again without a flag that is newer
    {"hsa_amd_register_system_event_handler", TOLERATED, 0},
    {"hsa_amd_agent_memory_pool_get_info", TOLERATED, 0},
    {"hsa_shut_down", IGNORED, 0},
    {"hsa_amd_memory_pool_free", IGNORED, 0},
    {"hsa_amd_memory_unlock", IGNORED, 0},
    {"hsa_queue_destroy", IGNORED, 0},
    {"hsa_queue_inactivate", IGNORED, 0},
    {"hsa_signal_destroy", IGNORED, 0},
    {"hsa_code_object_reader_destroy", IGNORED, 0},
    {"hsa_executable_destroy", IGNORED, 0},
};

static rule_t find_rule(const char* name) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(rules); ++i) {
    if (!strcmp(rules[i].name, name)) return rules[i];
  }
  return (rule_t){name, FAILS, 0};
}

//===----------------------------------------------------------------------------------------------------------------===
// Work
//===----------------------------------------------------------------------------------------------------------------===

typedef struct work_t {
  program_t program;
  iree_hal_executable_t* executable;
  waiters_t waiters;
} work_t;

static iree_status_t import_memory(const work_t* w) {
  static _Alignas(64) uint8_t memory[256];
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = sizeof(memory),
                                         .handle.host_allocation = {memory}};
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_import_buffer(iree_hal_device_allocator(w->program.device), params, &external,
                                                        iree_hal_buffer_release_callback_null(), &buffer));
  iree_hal_buffer_release(buffer);
  return iree_ok_status();
}

// The device library's own code, by way of the cache.
static iree_status_t load_code(work_t* w) {
  target_id_t target;
  iree_hal_executable_cache_t* cache = NULL;
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("rocm-hsaco-fb");
  IREE_RETURN_IF_ERROR(target_id_parse(iree_make_cstring_view(fake->processor), &target));
  IREE_RETURN_IF_ERROR(library_select(&target, &params.executable_data));
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(w->program.device, IREE_SV("test"), &cache));
  iree_status_t status = iree_hal_executable_cache_prepare_executable(cache, &params, &w->executable);
  iree_hal_executable_cache_release(cache);
  return status;
}

static iree_status_t record(work_t* w) {
  const uint8_t arguments[LIBRARY_ARGUMENT_SIZE] = {0};
  uint32_t pattern = 3;
  iree_hal_buffer_t* buffer = w->program.buffer;
  iree_hal_buffer_ref_t low = iree_hal_make_buffer_ref(buffer, 0, 2048),
                        high = iree_hal_make_buffer_ref(buffer, 2048, 2048);
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(w->program.device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                                      IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                      &w->waiters.commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(w->waiters.commands));
  IREE_RETURN_IF_ERROR(
      iree_hal_command_buffer_fill_buffer(w->waiters.commands, low, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_copy_buffer(w->waiters.commands, low, high, IREE_HAL_COPY_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_dispatch(
      w->waiters.commands, w->executable, iree_hal_executable_function_from_index(0),
      iree_hal_make_static_dispatch_config(1, 1, 1), iree_make_const_byte_span(arguments, sizeof(arguments)),
      iree_hal_buffer_ref_list_empty(), IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS));
  return iree_hal_command_buffer_end(w->waiters.commands);
}

static iree_status_t run_all(work_t* w, iree_allocator_t allocator, iree_hal_driver_registry_t** out_registry) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  program_t* p = &w->program;
  IREE_RETURN_IF_ERROR(open_device(p, allocator, out_registry));
  IREE_RETURN_IF_ERROR(import_memory(w));
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(p->device), params, 4096, &p->buffer));
  IREE_RETURN_IF_ERROR(load_code(w));
  IREE_RETURN_IF_ERROR(record(w));
  w->waiters.device = p->device;
  w->waiters.buffer = p->buffer;
  return waiters_run(&w->waiters);
}

//===----------------------------------------------------------------------------------------------------------------===
// One failure
//===----------------------------------------------------------------------------------------------------------------===

static void fail_test(const char* what, const char* text) {
  print_error("%s, call %d%s, status 0x%X: %s: %s\n", fake->failing, fake->failing_call,
              fake->fails_once ? " alone" : " and on", (unsigned)fake->code, what, text);
  fail();
}

static void check_result(const rule_t* rule, const failure_t* failure, iree_status_code_t code, const char* text) {
  bool is_hit = fake->call_count > fake->failing_call;
  iree_status_code_t expected = rule->code ? rule->code : failure->code;
  if (!is_hit || rule->outcome == IGNORED) {
    if (code != IREE_STATUS_OK) fail_test("must work", text);
  } else if (rule->outcome == FAILS) {
    if (code != expected) fail_test("wrong code", text);
    bool is_named = strstr(text, rule->name) || strstr(text, "could not be initialized") || strstr(text, "no kernel");
    if (!is_named) fail_test("is not named", text);
  } else if (code != IREE_STATUS_OK && code != failure->code && code != IREE_STATUS_UNAVAILABLE) {
    fail_test("wrong code", text);
  }
}

// Runs with the failure that is set. True when its call was there.
static bool run_once(const rule_t* rule, const failure_t* failure) {
  memory_t memory = {.limit = -1};
  work_t work = {0};
  char text[4096] = "";
  iree_hal_driver_registry_t* registry = NULL;
  iree_status_t status = run_all(&work, (iree_allocator_t){&memory, memory_ctl}, &registry);
  iree_status_code_t code = iree_status_code(status);
  if (!iree_status_is_ok(status)) iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  iree_hal_command_buffer_release(work.waiters.commands);
  iree_hal_executable_release(work.executable);
  waiters_release(&work.waiters);
  close_device(&work.program, registry);
  check_result(rule, failure, code, text);
  const char* wrong = waiters_check(&work.waiters, code);
  if (wrong) fail_test(wrong, text);
  if (iree_atomic_load(&memory.live, iree_memory_order_relaxed)) fail_test("leaves host memory", text);
  // What could not be given back is left.
  int lost = rule->outcome == IGNORED && strcmp(rule->name, "hsa_queue_inactivate") != 0
                 ? (fake->fails_once ? fake->call_count > fake->failing_call
                                     : iree_max(fake->call_count - fake->failing_call, 0))
                 : 0;
  if (fake->live_count != lost) fail_test("leaves objects of HSA", text);
  return fake->call_count > fake->failing_call;
}

static void set_failure(const char* name, int call, bool once, const failure_t* failure) {
  static int turn;
  reset();
  fake->gpu_count = 2;
  fake->processor = turn++ % 2 ? "gfx1100" : "gfx942";
  fake->failing = name;
  fake->failing_call = call;
  fake->fails_once = once;
  fake->code = failure->status;
}

// At its first call, its second and so on.
static void fail_entry(const char* name, bool takes_all) {
  rule_t rule = find_rule(name);
  bool goes_on = true;
  for (int call = 0; goes_on; ++call) {
    goes_on = false;
    for (size_t i = 0; i < IREE_ARRAYSIZE(failures); ++i) {
      if (!takes_all && i != (size_t)call % IREE_ARRAYSIZE(failures)) continue;
      for (int once = 0; once < 2; ++once) {
        // Both kinds of GPU come in turn, so this once more.
        for (int again = 0; again < (takes_all ? 2 : 1); ++again) {
          set_failure(name, call, once != 0, &failures[i]);
          goes_on = run_once(&rule, &failures[i]) || goes_on;
        }
      }
    }
  }
}

static void every_entry_point(void** state) {
  const char* wanted = getenv("ENTRY_POINTS");
  bool takes_all = wanted && !strcmp(wanted, "all");
#define ENTRY(result, name, parameters) \
  if (sizeof(#result) == sizeof("hsa_status_t")) fail_entry(#name, takes_all);
#include "hal/amdgpu/libhsa.def"
}

// Waits for signals may return at any time.
static void early_returns(void** state) {
  static const failure_t none = {HSA_STATUS_SUCCESS, IREE_STATUS_OK};
  static const rule_t rule = {"hsa_signal_wait_scacquire", TOLERATED, 0};
  for (int call = 0; call < 20; ++call) {
    set_failure(rule.name, call, /*once=*/true, &none);
    run_once(&rule, &none);
  }
}

int main(void) {
  if (!load_fake()) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_entry_point), cmocka_unit_test(early_returns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
