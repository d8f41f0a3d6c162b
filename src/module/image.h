// A module read from a .vmfb: its tables, verified, where they lie in the file's memory.
#ifndef MODULE_IMAGE_H_
#define MODULE_IMAGE_H_

#include "iree/base/api.h"
#include "module/archive.h"
#include "module/format.h"
#include "module/ops.h"

// Immutable after module_image_open; any number of threads may read it.
typedef struct module_image_t {
  const module_header_t* header;
#define SECTION(NAME, field, type) const type* field;
  MODULE_SECTIONS(SECTION)
#undef SECTION
#define SECTION(NAME, field, type) uint32_t field##_count;
  MODULE_SECTIONS(SECTION)
#undef SECTION
  const iree_const_byte_span_t* segment_data;  // of each row of `segments`
  const module_location_t* locations;          // NULL: stripped
  uint32_t location_count;
  const char* file_names;

  archive_t archive;
  void* program_copy;  // when the caller's memory is not aligned
  void* debug_copy;
} module_image_t;

// Reads and verifies a module in memory that must outlive the image. After this no index, range, register, branch
// target or type in any table is wrong. Errors: INVALID_ARGUMENT with what is wrong and where, INCOMPATIBLE for other
// versions, DATA_LOSS for bad checksums (program and executables; constants are not read).
iree_status_t module_image_open(iree_const_byte_span_t contents, iree_allocator_t allocator, module_image_t* out_image);
void module_image_close(module_image_t* image, iree_allocator_t allocator);

iree_string_view_t module_image_string(const module_image_t* image, uint32_t index);

// Value of an attribute in a range of ATTRS; empty when absent.
iree_string_view_t module_image_attr(const module_image_t* image, uint32_t first, uint32_t count,
                                     iree_string_view_t key);

// Source location of a position (format.h); NULL when unknown.
const module_location_t* module_image_location(const module_image_t* image, module_location_kind_t kind, uint32_t index,
                                               uint32_t position);

// Whether a target's code is bytecode, that can only do what the runtime lets it.
bool module_image_is_portable(const module_image_t* image, uint32_t target);

// Arguments and results of a calling convention that was verified ("0rI_r"): letters, "" for none. Those of imports may
// have spans, any number of tuples: "0iCrID_v" takes a number and then pairs.
typedef struct module_convention_t {
  const char* arguments;
  uint32_t argument_count;
  const char* results;
  uint32_t result_count;
} module_convention_t;

// False when the text is no convention of plain values.
bool module_convention_parse(iree_string_view_t text, module_convention_t* out_convention);
// The same where there may be spans; letters of arguments are also 'C' and 'D' around those of a tuple.
bool module_convention_parse_spans(iree_string_view_t text, module_convention_t* out_convention);

// Open dimensions of a shape.
uint32_t module_shape_open_count(const module_image_t* image, const module_shape_row_t* shape);

// Buffer operands that hal_execute needs for a table.
uint32_t module_table_argument_count(const module_image_t* image, const module_table_row_t* table);

// Steps that verifying may take: rows may be shared, but not by so many that a small file takes long to check.
#define MODULE_VERIFY_STEPS(image) ((uint64_t)64 * (image)->header->length)

// Used by module_image_open: checks all tables (verify.c) and all code (verify_code.c).
iree_status_t module_verify_tables(const module_image_t* image);
iree_status_t module_verify_code(const module_image_t* image, iree_allocator_t allocator);

#endif  // MODULE_IMAGE_H_
