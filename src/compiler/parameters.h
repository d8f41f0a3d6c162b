// Weights between programs and archives: --iree-parameter-import brings them in as constants, -export leaves constants
// to an archive, -splat writes one of zeros for what a program asks for, and -encoder-output-file a program that
// computes ahead what depends on parameters alone (encode.h).
#ifndef IREE_C_COMPILER_PARAMETERS_H_
#define IREE_C_COMPILER_PARAMETERS_H_

#include "import/parameters.h"
#include "ir/pass.h"

typedef struct parameter_options_t {
  const char* const* imports;  // [scope=]file
  uint32_t import_count;
  const char* const* keys;  // of any scope, that are imported whatever their size
  uint32_t key_count;
  int64_t import_most;     // bytes of others
  const char* export_to;   // [scope=]file, or NULL
  int64_t export_least;    // bytes
  const char* splat_to;    // file, or NULL
  const char* encoder_to;  // .mlir or .mlirbc file, or NULL
  const char* encoder_scope;
  bool encoder_overlay;  // parameters that are not encoded stay where they are
} parameter_options_t;

// What is written when the program is done.
typedef struct parameter_outputs_t {
  parameter_list_t exported, splats;
  ir_op_t* encoder;  // a module, or NULL
} parameter_outputs_t;

struct run_t;
// Passes; `user` is the run.
pass_result_t parameters_import(ir_op_t* module, ir_context_t* ctx, void* user);
pass_result_t parameters_export(ir_op_t* module, ir_context_t* ctx, void* user);
// Notes the zeros for -splat, and makes the encoder.
pass_result_t parameters_encode(ir_op_t* module, ir_context_t* ctx, void* user);
// Writes the files that the options name. False after a message.
bool parameters_write(struct run_t* run);

#endif  // IREE_C_COMPILER_PARAMETERS_H_
