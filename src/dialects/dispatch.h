// Text of executables and of their dispatches, which flow, stream and iree_tensor_ext share.
#ifndef IREE_C_DIALECTS_DISPATCH_H_
#define IREE_C_DIALECTS_DISPATCH_H_

#include "dialects/table.h"

// tensor<?x4xf32>{%d}, or another type with sizes: those of the '?', which the type cannot name.
const ir_type_t* dispatch_parse_tied(ir_parser_t* p, ir_ref_list_t* sizes);
bool dispatch_add_indices(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs);
// `[%i, %j]`, or nothing.
bool dispatch_parse_places(ir_parser_t* p, ir_ref_list_t* places);
// [visibility] @name
bool dispatch_parse_name(ir_parser_t* p, ir_draft_t* op);
// [%workload, ...](%argument, ...) : (...) -> (...): operands and results of a dispatch, with their attributes.
bool dispatch_parse_call(ir_parser_t* p, ir_draft_t* op);
// [count(%w: index, ...) -> (index, index, index) { ... }], also behind another word.
bool dispatch_parse_count(ir_parser_t* p, ir_draft_t* op, const char* word);

// Whether these parts can be written as they are read: a name, a body of one block, and the number of workgroups, alone
// in the last region.
bool dispatch_has_name(const ir_op_t* op);
bool dispatch_has_body(const ir_op_t* op);
bool dispatch_has_count(const ir_op_t* op, uint32_t region);
// The op's name too.
void dispatch_print_name(ir_printer_t* pr, const ir_op_t* op);
void dispatch_print_count(ir_printer_t* pr, const ir_op_t* op, uint32_t region, const char* word);

//   [visibility] @name [attributes {...}] { ... }
ir_op_t* executable_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void executable_print(ir_printer_t* pr, ir_op_t* op);
//   [visibility] @name [as("alias")] [workgroups(...) -> (...) { ... }] [attributes {...}]
ir_op_t* export_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void export_print(ir_printer_t* pr, ir_op_t* op);
//   @executable::@export[%workload, ...](%argument, ...) {...} : (type{sizes}, ...) -> (type{sizes} | %argument{...},
//   ...)
ir_op_t* call_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void call_print(ir_printer_t* pr, ir_op_t* op);
//   [%workload, ...](%argument, ...) : (...) -> (...) [attributes {...}] = (%a: type, ...) { ... } [count(...) ...]
ir_op_t* workgroups_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
//   %x, offsets = [...], sizes = [...], strides = [...] : type{sizes} -> type{sizes}     as tensor.extract_slice
ir_op_t* tensor_load_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
//   %v, %x, offsets = [...], sizes = [...], strides = [...] : type -> type{sizes}        as
//   tensor.parallel_insert_slice
ir_op_t* tensor_store_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
//   %n, 0 : index
ir_op_t* ordinal_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
//   (%w, ...) or %w, ...     three numbers of workgroups
ir_op_t* from_slice_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
//   %binding[%offset] : !stream.binding -> type{sizes}
ir_op_t* subspan_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);

#endif  // IREE_C_DIALECTS_DISPATCH_H_
