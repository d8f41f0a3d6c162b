// Passes and what runs them. A pass is a function over a module; a pipeline is a constant list of passes. The runner
// does, by flag, everything that helps to find out what a pass did: verify, print, round-trip, stop, bisect, time.
#ifndef IREE_C_IR_PASS_H_
#define IREE_C_IR_PASS_H_

#include "ir/ir.h"

typedef enum { PASS_UNCHANGED, PASS_CHANGED, PASS_FAILED } pass_result_t;

typedef struct pass_t {
  const char* name;     // "graph-fold": dialect or subject first, dashes
  const char* summary;  // one line for --help
  // FAILED: diagnostics were reported. CHANGED must be said when anything changed: printing after changes and
  // running to a fixed point rely on it.
  pass_result_t (*run)(ir_op_t* module, ir_context_t* ctx);
  // The same for a step of one pipeline, which knows more than the module: `run` is then NULL.
  pass_result_t (*run_with)(ir_op_t* module, ir_context_t* ctx, void* user);
  void* user;
  const char* takes;             // name of the pass's one option, whose text is then at `user` (NULL: nobody gave it)
  ir_op_t* (*made)(void* user);  // a module that the step makes beside, printed behind the one it changes; or NULL
  bool required;                 // bisecting does not leave it out: what follows needs it
} pass_t;

// What a runner with IR to show calls; `banner` is a comment line without its newline.
typedef void (*pass_print_fn_t)(void* user, const char* banner, const char* text, size_t size);

// Zero-initialised: just run.
typedef struct pass_options_t {
  bool verify_each;  // verify after every pass that changed something (and before the first)
  bool round_trip;   // print, parse and print again after every pass: both texts must be equal
  bool print_after_all;
  bool print_after_change;
  bool print_after_failure;
  bool print_before_all;
  const char* const* print_after;  // names of passes to print after; count below
  uint32_t print_after_count;
  const char* const* print_before;
  uint32_t print_before_count;
  const char* stop_after;  // name of the last pass to run
  int64_t
      bisect_limit;  // > 0: passes from this number on are skipped (the first is number 0, of all runs with `report`)
  bool timing;       // fill `times`
  uint32_t print_flags;  // ir_print_flags_t
  int64_t elide_above;
  pass_print_fn_t print;   // NULL: stderr
  const char* print_tree;  // folder that gets a file for each print instead, or NULL
  void* print_user;
  const char* reproducer;        // file that gets the program and the passes when one fails, or NULL
  bool reproduces_last;          // the program before that pass, and it alone: each pass then costs a print
  struct pass_report_t* report;  // what the run did, or NULL
} pass_options_t;

typedef struct pass_time_t {
  const char* name;
  double seconds;
  pass_result_t result;
} pass_time_t;

// What runs did, one after the other; zero-initialise, pass_report_finish.
typedef struct pass_report_t {
  pass_time_t* times;
  uint32_t count;
  uint32_t number;   // of the next pass
  uint32_t printed;  // files below print_tree
  bool changed;
  bool stopped;  // by stop_after or bisect_limit
} pass_report_t;
void pass_report_finish(pass_report_t* report);
// A table of times, longest first, as text for people.
void pass_report_print(const pass_report_t* report, text_t* out);

// Runs the passes in order. False after diagnostics. `options` may be NULL.
bool pass_run(ir_context_t* ctx, ir_op_t* module, const pass_t* const* passes, uint32_t count,
              const pass_options_t* options);

// `builtin.module(inline,sizes)`
void pass_print_pipeline(const pass_t* const* passes, uint32_t count, text_t* out);

// Prints, parses and prints again; false after a diagnostic when the texts differ.
bool pass_check_round_trip(ir_context_t* ctx, ir_op_t* module, uint32_t print_flags);

#endif  // IREE_C_IR_PASS_H_
