// ONNX models as torch.operator IR, and its lowering to graph. Entry points for import.h's callers are in onnx.h; this
// header is shared by the importer's own files.
#ifndef IREE_C_IMPORT_ONNX_IMPORTER_H_
#define IREE_C_IMPORT_ONNX_IMPORTER_H_

#include "import/onnx/files.h"
#include "import/onnx/lower.h"
#include "import/onnx/names.h"
#include "import/onnx/onnx.h"
#include "import/onnx/proto.h"
#include "ir/ir.h"

typedef struct onnx_importer_t {
  ir_context_t* ctx;
  const onnx_options_t* options;
  onnx_files_t* files;
  const char* path;       // of the model, for messages
  const char* directory;  // of external data
  const onnx_pb_model_t* model;
  ir_builder_t builder;
  const ir_loc_t* file;       // the model as a whole
  const ir_loc_t* loc;        // of the node at work
  onnx_names_t* resources;    // resource names in use
  onnx_names_t* globals;      // names of globals in use
  onnx_lowering_t* lowering;  // derives result types; NULL when types are not wanted
  ir_op_t* module;
  ir_op_t* last_global;          // externalised parameters stand before the function
  int64_t from_opset, to_opset;  // of the default domain: as read, as written
  uint32_t function_depth;
  uint32_t op_count;
} onnx_importer_t;

// Scalar type of a tensor's data_type with its sign (si64, ui8, i1, f32), or NULL when there is none for it.
const ir_type_t* onnx_element_type(ir_context_t* ctx, int64_t data_type);
const ir_type_t* onnx_any_element_type(ir_context_t* ctx, int64_t data_type);  // also of strings
const char* onnx_data_type_name(int64_t data_type);
// The tensor's data as an attribute of type tensor<...xsi64>: raw data by reference, as a dense_resource; typed fields
// decoded. Strings are lists of lists. NULL after a diagnostic.
const ir_attr_t* onnx_tensor_attr(onnx_importer_t* importer, const onnx_pb_tensor_t* tensor, const char* name);
// A sparse tensor likewise, with zeros where it has no values.
const ir_attr_t* onnx_sparse_attr(onnx_importer_t* importer, const onnx_pb_sparse_tensor_t* tensor, const char* name);

// The type of a value; !torch.none when the model gives none. NULL after a diagnostic.
const ir_type_t* onnx_import_type(onnx_importer_t* importer, const onnx_pb_type_t* type, const char* name);
// False after a diagnostic; `*out` NULL for graphs, which become regions.
bool onnx_import_attr(onnx_importer_t* importer, const onnx_pb_attribute_t* attribute, const ir_attr_t** out);

// An order of nodes in which values are defined before their uses, as far as there is one; NULL for the one they have.
const size_t* onnx_node_order(onnx_importer_t* importer, const onnx_pb_nodes_t* nodes);

// Upgrades a new op to the opset that is written and derives the types of its results. False after a diagnostic.
bool onnx_finish_op(onnx_importer_t* importer, ir_op_t* op);

// Whether a tensor of that type becomes a parameter, and the value that stands for it (`value` NULL: an input).
bool onnx_is_external(const onnx_importer_t* importer, const ir_type_t* type);
ir_value_t* onnx_externalize(onnx_importer_t* importer, const char* name, const ir_type_t* type,
                             const ir_attr_t* value);

#endif  // IREE_C_IMPORT_ONNX_IMPORTER_H_
