// The ONNX frontend: model file -> torch.operator "onnx.X" IR (what iree-import-onnx prints) -> graph.
#ifndef IREE_C_IMPORT_ONNX_ONNX_H_
#define IREE_C_IMPORT_ONNX_ONNX_H_

#include <stdio.h>

#include "import/onnx/files.h"
#include "import/parameters.h"
#include "ir/ir.h"

enum { ONNX_NEWEST_OPSET = 28 };
// Attribute of an imported function: for each input the names of its dimensions, "" for one without.
#define ONNX_DIM_PARAMS "torch.onnx_meta.dim_params"
// Attribute of an imported function whose results have the types that the model declares: their names.
#define ONNX_OUTPUT_NAMES "torch.onnx_meta.output_names"
// Attribute of an imported operator that is not known: its domain, where that is not the default one.
#define ONNX_DOMAIN_ATTR "torch.onnx_meta.domain"
// The operator that somebody may have meant by a name that is none, or NULL.
const char* onnx_nearest_row(const char* name);

typedef struct onnx_options_t {
  const char* data_dir;        // of external data; NULL: the model's own directory
  int64_t opset_version;       // upgrade the default domain's ops to this version; 0 or older than the model: no change
  bool infer_types;            // give every value a type; otherwise only what the file declares
  bool no_data_propagation;    // derive types from types alone, not from the values of shape computations
  bool externalize;            // initializers become util.global with #stream.parameter.named
  int64_t externalize_inputs;  // and so do graph inputs from this one on; -1: none
  int64_t minimum_elements;    // of initializers that are externalised
  const char* scope;           // of externalised parameters
  parameter_list_t* parameters;  // gets the externalised initializers, in order; may be NULL
  // Called now and then; may be NULL.
  void (*progress)(void* user, uint32_t done, uint32_t total);
  void* progress_user;
} onnx_options_t;

// Reads a model ("-": from standard input) into a new module with one func.func. Weights are borrowed from `files`,
// which must outlive the context. Returns NULL after diagnostics.
ir_op_t* onnx_import_file(ir_context_t* ctx, const char* path, const onnx_options_t* options, onnx_files_t* files);
// A model in memory, which must outlive the context. The path is for messages and external data.
typedef struct onnx_source_t {
  const char* path;
  const void* data;
  size_t size;
} onnx_source_t;
ir_op_t* onnx_import_buffer(ir_context_t* ctx, const onnx_source_t* source, const onnx_options_t* options,
                            onnx_files_t* files);

// Whether the module has torch.operator ops to lower.
bool onnx_is_present(ir_op_t* module);
// Replaces each function of torch.operator ops by one of graph ops over tensors (integers signless). False after
// diagnostics.
bool onnx_lower_module(ir_context_t* ctx, ir_op_t* module);

// Writes a module as text: like ir_print_op, but weights go to the file as they are read, so that memory stays small.
// `progress` (may be NULL) is called now and then with the bytes of weights done and to do. False when the file cannot
// be written (errno).
bool onnx_write_module(ir_context_t* ctx, ir_op_t* module, FILE* file,
                       void (*progress)(void* user, uint64_t done, uint64_t total), void* user);

#endif  // IREE_C_IMPORT_ONNX_ONNX_H_
