// Measures the replay of a capture of a program's devices (.ireereplay).

#include "iree/base/tooling/flags.h"
#include "tooling/benchmark.h"
#include "tooling/devices.h"
#include "tooling/guides.h"
#include "tooling/replay.h"

IREE_FLAG(string, replay_scope, "",
          "Counts only the time within scopes of this name (`init`, `execute`, `deinit`); all is replayed each time.");

static const char usage[] =
    "Benchmarks deterministic execution of an IREE HAL replay file: each iteration makes its objects anew and asks "
    "the\n"
    "devices all that was asked.\n"
    "\n"
    "Examples:\n"
    "  iree-benchmark-replay --device=local-task --benchmark_min_time=20x model.ireereplay\n"
    "  iree-benchmark-replay --device=local-task --replay_scope=execute model.ireereplay\n";

typedef struct target_t {
  const iree_hal_replay_plan_t* plan;
  iree_hal_device_group_t* group;
  const iree_hal_replay_execute_options_t* options;
  uint32_t depth;      // scopes of that name that are open
  uint64_t found;      // scopes of that name
  iree_time_t begin;   // of the outermost
  double manual_time;  // seconds
} target_t;

static iree_status_t note_scope(void* user_data, const iree_hal_replay_scope_event_t* event) {
  target_t* target = user_data;
  if (!iree_string_view_equal(event->name, iree_make_cstring_view(FLAG_replay_scope))) return iree_ok_status();
  if (event->type == IREE_HAL_REPLAY_SCOPE_EVENT_TYPE_BEGIN) {
    ++target->found;
    if (!target->depth++) target->begin = iree_time_now();
  } else if (target->depth && !--target->depth) {
    target->manual_time += (double)(iree_time_now() - target->begin) * 1e-9;
  }
  return iree_ok_status();
}

static iree_status_t replay(void* user_data, uint64_t iterations) {
  target_t* target = user_data;
  for (uint64_t i = 0; i < iterations; ++i) {
    target->depth = 0;
    IREE_RETURN_IF_ERROR(
        iree_hal_replay_plan_execute(target->plan, target->group, target->options, iree_allocator_system()));
  }
  if (!FLAG_replay_scope[0] || target->found) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "--replay_scope='%s' did not match any replay scope marker",
                          FLAG_replay_scope);
}

static iree_status_t measure(target_t* target) {
  char name[256] = "BM_replay/process_time/real_time";
  benchmark_t benchmark = {.name = name, .fn = replay, .user_data = target, .items_per_iteration = 1};
  if (FLAG_replay_scope[0]) {
    snprintf(name, sizeof(name), "BM_replay/scope:%s/process_time/manual_time", FLAG_replay_scope);
    benchmark.manual_time = &target->manual_time;
  }
  return benchmark_run_all(1, &benchmark);
}

static iree_status_t run_with(iree_const_byte_span_t contents, tooling_replay_options_t* options) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_hal_replay_plan_t* plan = NULL;
  iree_hal_replay_execute_options_t* execute = tooling_replay_execute_options(options);
  IREE_RETURN_IF_ERROR(iree_hal_replay_plan_create(contents, allocator, &plan));
  target_t target = {.plan = plan, .options = execute};
  execute->scope_event_callback = (iree_hal_replay_scope_event_callback_t){note_scope, &target};
  iree_status_t status = tooling_devices_create(iree_string_view_empty(), allocator, &target.group);
  if (iree_status_is_ok(status)) status = measure(&target);
  iree_hal_replay_plan_destroy(plan);
  iree_hal_device_group_release(target.group);
  return status;
}

static iree_status_t run(int argc, char** argv) {
  iree_io_file_contents_t* contents = NULL;
  tooling_replay_options_t* options = NULL;
  IREE_RETURN_IF_ERROR(tooling_replay_open(argc, argv, &contents));
  iree_status_t status = tooling_replay_options_create(&options);
  if (iree_status_is_ok(status)) status = run_with(contents->const_buffer, options);
  tooling_replay_options_free(options);
  iree_io_file_contents_free(contents);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-benchmark-replay", usage);
  flags_set_guide(guide_replay_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  return tooling_run_finish(run(argc, argv), EXIT_SUCCESS);
}
