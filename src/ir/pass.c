// See pass.h.
#include "ir/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "base/trace.h"
#include "base/whole_file.h"
#include "ir/reproducer.h"

void pass_report_finish(pass_report_t* report) {
  memory_free(report->times);
  memset(report, 0, sizeof(*report));
}

static int compare_times(const void* a, const void* b) {
  double x = ((const pass_time_t*)a)->seconds, y = ((const pass_time_t*)b)->seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

void pass_report_print(const pass_report_t* report, text_t* out) {
  double total = 0;
  pass_time_t* sorted = memory_alloc(sizeof(*sorted) * (report->count + 1));
  if (report->count) memcpy(sorted, report->times, sizeof(*sorted) * report->count);
  qsort(sorted, report->count, sizeof(*sorted), compare_times);
  for (uint32_t i = 0; i < report->count; ++i) total += sorted[i].seconds;
  text_printf(out, "Total: %.6f s\n", total);
  for (uint32_t i = 0; i < report->count; ++i) {
    double share = total > 0 ? 100 * sorted[i].seconds / total : 0;
    text_printf(out, "%10.6f s (%5.1f%%)  %s%s\n", sorted[i].seconds, share, sorted[i].name,
                sorted[i].result == PASS_UNCHANGED ? " (unchanged)" : "");
  }
  memory_free(sorted);
}

// TREE/builtin_module_no-symbol-name/0_pass.mlir
static bool write_print(ir_context_t* ctx, const ir_op_t* module, const pass_t* pass, const pass_options_t* o,
                        const text_t* text) {
  arena_t* arena = ir_context_arena(ctx);
  uint32_t number = o->report ? o->report->printed++ : 0;
  char* name = arena_printf(arena, "%s_%s", module->name, ir_op_string(module, "sym_name", "no-symbol-name"));
  for (char* c = name; *c; ++c) *c = *c == '/' || *c == '.' ? '_' : *c;
  char* folder = arena_printf(arena, "%s/%s", o->print_tree, name);
  char* path = arena_printf(arena, "%s/%u_%s.mlir", folder, number, pass->name);
  mkdir(o->print_tree, 0777);
  mkdir(folder, 0777);
  return whole_file_write(path, text->data, text->size) ||
         ir_error(ctx, NULL, "cannot write '%s': %s", path, strerror(errno));
}

// `when`: "Before %s", "After %s", with the pass's name.
static bool show(ir_context_t* ctx, ir_op_t* module, const char* when, const pass_t* pass, const pass_options_t* o) {
  bool ok = true;
  char banner[160], name[100];
  text_t text = {0};
  snprintf(name, sizeof(name), when, pass->name);
  snprintf(banner, sizeof(banner), "// -----// IR Dump %s //----- //", name);
  ir_print_op(ctx, &text, module, o->print_flags, o->elide_above);
  if (o->print_tree) {
    text_puts(&text, "\n");
    ok = write_print(ctx, module, pass, o, &text);
  } else if (o->print) {
    o->print(o->print_user, banner, text.data, text.size);
  } else {
    fprintf(stderr, "%s\n%s\n", banner, text.data);
  }
  text_finish(&text);
  return ok;
}

static bool names(const char* const* list, uint32_t count, const pass_t* pass) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(list[i], pass->name) == 0) return true;
  }
  return false;
}

static bool wants_show(const pass_t* pass, pass_result_t result, const pass_options_t* o) {
  if (o->print_after_all || (o->print_after_change && result == PASS_CHANGED)) return true;
  return names(o->print_after, o->print_after_count, pass);
}

// A parsed copy must print the same; differences are shown from the first differing line.
bool pass_check_round_trip(ir_context_t* ctx, ir_op_t* module, uint32_t print_flags) {
  text_t first = {0}, second = {0};
  ir_print_op(ctx, &first, module, print_flags, 0);
  char* kept = arena_strndup(ir_context_arena(ctx), first.data, first.size);  // the parsed module points into it
  ir_op_t* again = ir_parse_module(ctx, "<round trip>", kept, first.size);
  bool ok = again != NULL;
  if (ok) {
    ir_print_op(ctx, &second, again, print_flags, 0);
    ok = first.size == second.size && memcmp(first.data, second.data, first.size) == 0;
    size_t at = 0, line = 0;
    while (!ok && at < first.size && at < second.size && first.data[at] == second.data[at]) {
      if (first.data[at++] == '\n') line = at;
    }
    if (!ok) {
      int a = (int)strcspn(first.data + line, "\n"), b = (int)strcspn(second.data + line, "\n");
      ir_error(ctx, module->loc, "printed IR does not parse back to the same: '%.*s' became '%.*s'", a,
               first.data + line, b, second.data + line);
    }
  } else {
    ir_error(ctx, module->loc, "printed IR does not parse");
  }
  text_finish(&first);
  text_finish(&second);
  return ok;
}

static bool check(ir_context_t* ctx, ir_op_t* module, const pass_t* pass, const pass_options_t* o) {
  const char* name = pass ? pass->name : "the input";
  if (o->verify_each && !ir_verify(ctx, module)) {
    return ir_error(ctx, module->loc, "IR is not valid after '%s'", name);
  }
  if (o->round_trip && !pass_check_round_trip(ctx, module, o->print_flags & IR_PRINT_GENERIC)) {
    return ir_error(ctx, module->loc, "IR does not round-trip after '%s'", name);
  }
  return true;
}

static void note_time(pass_report_t* report, const pass_t* pass, double seconds, pass_result_t result) {
  if ((report->count & (report->count - 1)) == 0) {
    size_t room = report->count ? 2 * report->count : 1;
    report->times = memory_resize(report->times, sizeof(*report->times) * room);
  }
  report->times[report->count++] = (pass_time_t){pass->name, seconds, result};
}

void pass_print_pipeline(const pass_t* const* passes, uint32_t count, text_t* out) {
  text_puts(out, "builtin.module(");
  for (uint32_t i = 0; i < count; ++i) {
    const pass_t* pass = passes[i];
    text_printf(out, "%s%s", i ? "," : "", pass->name);
    if (pass->takes && pass->user) text_printf(out, "{%s=%s}", pass->takes, (const char*)pass->user);
  }
  text_puts(out, ")");
}

// A run of passes as it goes on.
typedef struct progress_t {
  uint32_t at;     // the pass at work; as many as there are: none
  text_t program;  // for a reproducer
} progress_t;

static void keep_program(ir_context_t* ctx, ir_op_t* module, progress_t* progress) {
  text_finish(&progress->program);
  ir_print_op(ctx, &progress->program, module, 0, 0);
}

// Of the pass that failed.
static void write_reproducer(ir_context_t* ctx, const ir_op_t* module, const pass_t* const* passes, uint32_t count,
                             const pass_options_t* o, const progress_t* progress) {
  text_t pipeline = {0};
  const char* name = passes[progress->at]->name;
  pass_print_pipeline(o->reproduces_last ? &passes[progress->at] : passes, o->reproduces_last ? 1 : count, &pipeline);
  if (reproducer_write(o->reproducer, &progress->program, pipeline.data, o->verify_each)) {
    ir_note(ctx, module->loc, "pass '%s' failed; iree-opt --run-reproducer %s runs it again", name, o->reproducer);
  } else {
    ir_error(ctx, NULL, "cannot write '%s': %s", o->reproducer, strerror(errno));
  }
  text_finish(&pipeline);
}

static bool run_each(ir_context_t* ctx, ir_op_t* module, const pass_t* const* passes, uint32_t count,
                     const pass_options_t* o, progress_t* progress) {
  pass_report_t ignored = {0}, *r = o->report ? o->report : &ignored;
  if (!check(ctx, module, NULL, o)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const pass_t* pass = passes[i];
    if (o->bisect_limit > 0 && r->number++ >= o->bisect_limit && !pass->required) {
      r->stopped = true;
      continue;
    }
    bool before = o->print_before_all || names(o->print_before, o->print_before_count, pass);
    if (before && !show(ctx, module, "Before %s", pass, o)) return false;
    if (o->reproducer && o->reproduces_last) keep_program(ctx, module, progress);
    progress->at = i;
    double start = seconds_now();
    trace_span_t span = trace_begin(pass->name);
    pass_result_t result = pass->run ? pass->run(module, ctx) : pass->run_with(module, ctx, pass->user);
    trace_end(&span);
    if (o->timing && o->report) note_time(o->report, pass, seconds_now() - start, result);
    if (result == PASS_FAILED) {
      if (o->print_after_failure) show(ctx, module, "After %s Failed", pass, o);
      return false;
    }
    r->changed |= result == PASS_CHANGED;
    bool shows = wants_show(pass, result, o);
    if (shows && !show(ctx, module, "After %s", pass, o)) return false;
    if (shows && pass->made && !show(ctx, pass->made(pass->user), "After %s", pass, o)) return false;
    if (result == PASS_CHANGED && !check(ctx, module, pass, o)) return false;
    if (o->stop_after && strcmp(o->stop_after, pass->name) == 0) {
      r->stopped = true;
      break;
    }
  }
  return true;
}

bool pass_run(ir_context_t* ctx, ir_op_t* module, const pass_t* const* passes, uint32_t count,
              const pass_options_t* options) {
  static const pass_options_t none = {0};
  const pass_options_t* o = options ? options : &none;
  progress_t progress = {.at = count};
  if (o->reproducer && !o->reproduces_last) keep_program(ctx, module, &progress);
  bool ok = run_each(ctx, module, passes, count, o, &progress);
  if (!ok && o->reproducer && progress.at < count) write_reproducer(ctx, module, passes, count, o, &progress);
  text_finish(&progress.program);
  return ok;
}
