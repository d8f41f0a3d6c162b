// The compiler as a library: a program in, a module (or the text of a stage) out. Everything is in memory or in files
// the caller names; messages go to a callback; nothing exits or prints by itself. Reentrant: each call has its own
// context, so any number may run at once.
#ifndef IREE_C_COMPILER_COMPILER_H_
#define IREE_C_COMPILER_COMPILER_H_

#include "base/near.h"
#include "compiler/externs.h"
#include "compiler/host_memory.h"
#include "compiler/kernels.h"
#include "compiler/parameters.h"
#include "compiler/substitute.h"
#include "compiler/trace_dispatches.h"
#include "ir/pass.h"
#include "iree/base/api.h"
#include "module/format.h"
#include "passes/element_types.h"
#include "target/target.h"

// PHASE(ENUM, name): where --compile-to may stop, in order. Several of IREE's phases are one step here and share a
// row's result; the names are all accepted.
// clang-format off
#define COMPILER_PHASES(PHASE)                                                                                      \
  PHASE(START, "start")                                                                                             \
  PHASE(INPUT, "input")                                                                                             \
  PHASE(ABI, "abi")                                                                                                 \
  PHASE(PREPROCESSING, "preprocessing")                                                                             \
  PHASE(GLOBAL_OPTIMIZATION, "global-optimization")                                                                 \
  PHASE(DISPATCH_CREATION, "dispatch-creation")                                                                     \
  PHASE(FLOW, "flow") PHASE(STREAM, "stream") PHASE(EXECUTABLE_SOURCES, "executable-sources")                       \
      PHASE(EXECUTABLE_CONFIGURATIONS, "executable-configurations") PHASE(EXECUTABLE_TARGETS, "executable-targets") \
          PHASE(HAL, "hal") PHASE(VM, "vm") PHASE(END, "end")
// clang-format on
typedef enum {
#define PHASE(name, text) COMPILER_PHASE_##name,
  COMPILER_PHASES(PHASE)
#undef PHASE
      COMPILER_PHASE_COUNT
} compiler_phase_t;
const char* compiler_phase_name(compiler_phase_t phase);

// OUTPUT(ENUM, name): what --output-format gives when all is compiled
#define COMPILER_OUTPUTS(OUTPUT)     \
  OUTPUT(VM_BYTECODE, "vm-bytecode") \
  OUTPUT(VM_ASM, "vm-asm")           \
  OUTPUT(VM_C, "vm-c")               \
  OUTPUT(HAL_EXECUTABLE, "hal-executable")
typedef enum {
#define OUTPUT(name, text) COMPILER_OUTPUT_##name,
  COMPILER_OUTPUTS(OUTPUT)
#undef OUTPUT
      COMPILER_OUTPUT_COUNT
} compiler_output_format_t;

enum { COMPILER_MAX_TARGETS = 16 };
typedef struct compiler_options_t {
  const char* input_type;  // --iree-input-type
  target_t targets[COMPILER_MAX_TARGETS];
  uint32_t target_count;
  const char* device_name;          // of the target's devices, for messages: "hip", "local"
  compiler_phase_t start_from;      // the phase that the input has been through
  compiler_phase_t stop_after;      // COMPILER_PHASE_END: make a module
  compiler_output_format_t format;  // of what is made then
  bool vm_only;                     // the input is a vm.module, which becomes a module as it is (vm_emit.h)
  bool kernels_only;                // the input is kernels, which become an executable: no program around them
  const char* dump_phases_to;       // directory, or NULL: <stem>.<n>.<phase>.mlir
  target_compile_options_t target;  // threads, dumps, debug
  const char* bitcode_folder;       // --iree-rocm-bc-dir, which nothing is read from; or NULL
  bool spill_warning;               // warn of AMD kernels that spill registers
  bool benchmark_funcs;             // export them (benchmark_funcs.h)
  trace_dispatches_t trace;
  substitute_options_t substitute;
  extern_options_t externs;
  parameter_options_t parameters;
  pass_options_t passes;
  const char* pdl_spec;           // file of patterns that rewrite ops first (pdl_spec.h), or NULL
  const char* transform_spec;     // file that replaces ops by calls first (transform_spec.h), or NULL
  const char* preprocessing;      // passes to run before all others, "a,b", or NULL
  bool strip_assertions;          // without what the program asserts
  element_types_t element_types;  // to compute in
  bool strip_source_map;
  bool narrow_index;         // index is i32 where it comes and goes (host.h)
  bool fences;               // functions take a fence to wait for and one to signal (iree.abi.model = "coarse-fences")
  bool donates;              // callers bring memory for results, which may be that of arguments (donate.h)
  module_devices_t devices;  // where its device comes from, which in inline models is no device of the application's
  bool host_only;            // no targets: programs that need no device
  bool needs_target;         // what is asked for cannot be made without one
  bool data_tiling;          // pack weights, block activations
  bool const_eval;           // compute what depends on constants only
  bool timing;               // measure passes, for `pass_times`
  int64_t elide_above;       // text output: elements of constants to show
  int64_t hex_above, resource_above;  // ir_context_limit_text, where the flags have IR_PRINT_LIMITS
  uint32_t print_flags;
  bool emit_bytecode;        // where `stop_after` ends: MLIR bytecode instead of text
  int32_t bytecode_version;  // of it
  bool read_only;            // read and verify the program, and give no output
  ir_diagnostic_fn_t diagnostic;
  void* diagnostic_user;
  // Sees the program when its kernels are there, before the module is written: tests run dispatches one by one with it.
  // False stops the compilation without a message. May be NULL.
  bool (*observe)(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                  const target_executable_t* executable);
  void* observe_user;
  // Called now and then with a stage's name and how much of all work is done; may be NULL.
  void (*progress)(void* user, const char* stage, uint32_t done, uint32_t total);
  void* progress_user;
  // With `timing`: what the passes took, at the end; gets progress_user.
  void (*pass_times)(void* user, const pass_report_t* report);
} compiler_options_t;

// Whether compiling may run a pass of that name; if not, `near` has been offered all that it may.
bool compiler_has_pass(const char* name, near_t* near);
// Whether the text names passes that can run before all others, "a,b" or "builtin.module(a,b)".
bool compiler_check_preprocessing(const char* text, text_t* error);

// Where the result goes: a file (complete or not at all), or memory that the caller frees with free().
typedef struct compiler_output_t {
  const char* path;  // or NULL
  void* data;
  size_t size;
  host_memory_t memory;  // out, of modules: what it needs of a device's memory
  char memory_function[128];
} compiler_output_t;

// Compiles a file (.mlir, .mlirbc, .onnx) or, with `text`, a program in memory called `path` for messages.
// False after diagnostics; no output then exists.
bool compiler_run(const compiler_options_t* options, const char* path, const char* text, size_t size,
                  compiler_output_t* output);

#endif  // IREE_C_COMPILER_COMPILER_H_
