// Opens a .vmfb: archive, sections, segments, debug information; then has everything verified.

#include "module/image.h"

#include <inttypes.h>

#include "module/vmvx.h"

//===----------------------------------------------------------------------------------------------------------------===
// Sections
//===----------------------------------------------------------------------------------------------------------------===

// The entry's bytes at an address that is a multiple of 8, copied when they are not.
static iree_status_t align_entry(iree_const_byte_span_t* data, iree_allocator_t allocator, void** out_copy) {
  if (((uintptr_t)data->data & 7) == 0 || !data->data_length) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_clone(allocator, *data, out_copy));
  data->data = *out_copy;
  return iree_ok_status();
}

static iree_status_t check_header(iree_const_byte_span_t program) {
  const module_header_t* header = (const module_header_t*)program.data;
  if (program.data_length < sizeof(*header) || header->magic != MODULE_MAGIC) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module program has a bad header");
  }
  if (header->version_major != MODULE_VERSION_MAJOR) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "module has format version %u.%u; this runtime reads version %u; compile it again",
                            header->version_major, header->version_minor, MODULE_VERSION_MAJOR);
  }
  if (header->header_size != sizeof(*header) || header->section_count < MODULE_SECTION_COUNT ||
      header->length != program.data_length ||
      header->section_count > (program.data_length - sizeof(*header)) / sizeof(module_section_t)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "module program is damaged: header says %" PRIu64
                            " bytes and %u sections, entry has %zu "
                            "bytes",
                            header->length, header->section_count, program.data_length);
  }
  return iree_ok_status();
}

static iree_status_t map_section(iree_const_byte_span_t program, uint32_t kind, size_t row_size, const void** out_rows,
                                 uint32_t* out_count) {
  const module_section_t* section = (const module_section_t*)(program.data + sizeof(module_header_t)) + kind;
  if (section->kind != kind || section->row_size != row_size || (section->offset & 7) ||
      section->offset > program.data_length || section->count >= MODULE_NONE ||
      section->count > (program.data_length - section->offset) / row_size) {
    return iree_make_status(
        IREE_STATUS_INVALID_ARGUMENT,
        "module section %u is damaged: kind %u, %" PRIu64 " rows of %u bytes at %" PRIu64 " in %zu bytes", kind,
        section->kind, section->count, section->row_size, section->offset, program.data_length);
  }
  *out_rows = program.data + section->offset;
  *out_count = (uint32_t)section->count;
  return iree_ok_status();
}

static iree_status_t map_sections(iree_const_byte_span_t program, module_image_t* image) {
  IREE_RETURN_IF_ERROR(check_header(program));
  image->header = (const module_header_t*)program.data;
#define SECTION(NAME, field, type) \
  IREE_RETURN_IF_ERROR(            \
      map_section(program, MODULE_SECTION_##NAME, sizeof(type), (const void**)&image->field, &image->field##_count));
  MODULE_SECTIONS(SECTION)
#undef SECTION
  return iree_ok_status();
}

static iree_status_t open_program(module_image_t* image, iree_allocator_t allocator) {
  const archive_file_t* file = module_archive_find(&image->archive, IREE_SV(MODULE_ENTRY_PROGRAM));
  if (!file) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "not a module: archive has no `" MODULE_ENTRY_PROGRAM "` (a .vmfb of another compiler?)");
  }
  IREE_RETURN_IF_ERROR(module_archive_file_check(file));
  iree_const_byte_span_t program = file->data;
  IREE_RETURN_IF_ERROR(align_entry(&program, allocator, &image->program_copy));
  return map_sections(program, image);
}

//===----------------------------------------------------------------------------------------------------------------===
// Segments and debug information
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t open_segment(const module_image_t* image, const module_segment_row_t* row,
                                  iree_const_byte_span_t* out_data) {
  iree_string_view_t name = module_image_string(image, row->entry);
  const archive_file_t* file = module_archive_find(&image->archive, name);
  if (!file) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module lacks its entry '%.*s'", (int)name.size, name.data);
  }
  if (row->offset > file->data.data_length || row->length > file->data.data_length - row->offset) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "module entry '%.*s' is too short: %" PRIu64 " bytes at %" PRIu64 " wanted, %zu present",
                            (int)name.size, name.data, row->length, row->offset, file->data.data_length);
  }
  *out_data = iree_make_const_byte_span(file->data.data + row->offset, row->length);
  return iree_ok_status();
}

static iree_status_t open_segments(module_image_t* image, iree_allocator_t allocator) {
  if (!image->segments_count) return iree_ok_status();
  iree_const_byte_span_t* spans = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->segments_count, sizeof(*spans), (void**)&spans));
  image->segment_data = spans;
  for (uint32_t i = 0; i < image->segments_count; ++i) {
    IREE_RETURN_IF_ERROR(open_segment(image, &image->segments[i], &spans[i]));
  }
  return iree_ok_status();
}

// A damaged executable would crash much later. Each file is read once, however many variants lie in it.
static iree_status_t check_executables(const module_image_t* image, iree_allocator_t allocator) {
  uint8_t* seen = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, image->archive.count + 1, (void**)&seen));
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < image->variants_count && iree_status_is_ok(status); ++i) {
    iree_string_view_t name = module_image_string(image, image->segments[image->variants[i].segment].entry);
    const archive_file_t* file = module_archive_find(&image->archive, name);
    if (!seen[file - image->archive.files]) status = module_archive_file_check(file);
    seen[file - image->archive.files] = 1;
  }
  iree_allocator_free(allocator, seen);
  return status;
}

static iree_status_t open_debug(module_image_t* image, iree_allocator_t allocator) {
  const archive_file_t* file = module_archive_find(&image->archive, IREE_SV(MODULE_ENTRY_DEBUG));
  if (!file) return iree_ok_status();
  IREE_RETURN_IF_ERROR(module_archive_file_check(file));
  iree_const_byte_span_t data = file->data;
  IREE_RETURN_IF_ERROR(align_entry(&data, allocator, &image->debug_copy));
  const module_debug_header_t* header = (const module_debug_header_t*)data.data;
  uint64_t rows_size = data.data_length < sizeof(*header) ? 0 : header->location_count * sizeof(module_location_t);
  if (data.data_length < sizeof(*header) || header->magic != MODULE_DEBUG_MAGIC || !header->file_bytes ||
      sizeof(*header) + rows_size + header->file_bytes != data.data_length || data.data[data.data_length - 1] != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module debug information is damaged");
  }
  const module_location_t* locations = (const module_location_t*)(header + 1);
  for (uint32_t i = 0; i < header->location_count; ++i) {
    if (locations[i].file >= header->file_bytes) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module debug information is damaged at row %u", i);
    }
  }
  image->locations = locations;
  image->location_count = header->location_count;
  image->file_names = (const char*)(locations + header->location_count);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Image
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t module_image_open(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                module_image_t* out_image) {
  memset(out_image, 0, sizeof(*out_image));
  iree_status_t status = module_archive_open(contents, allocator, &out_image->archive);
  if (iree_status_is_ok(status)) status = open_program(out_image, allocator);
  if (iree_status_is_ok(status)) status = module_verify_tables(out_image);
  if (iree_status_is_ok(status)) status = open_segments(out_image, allocator);
  if (iree_status_is_ok(status)) status = check_executables(out_image, allocator);
  if (iree_status_is_ok(status)) status = module_verify_code(out_image, allocator);
  if (iree_status_is_ok(status)) status = open_debug(out_image, allocator);
  if (!iree_status_is_ok(status)) module_image_close(out_image, allocator);
  return status;
}

void module_image_close(module_image_t* image, iree_allocator_t allocator) {
  module_archive_close(&image->archive, allocator);
  iree_allocator_free(allocator, (void*)(uintptr_t)image->segment_data);
  iree_allocator_free(allocator, image->program_copy);
  iree_allocator_free(allocator, image->debug_copy);
  memset(image, 0, sizeof(*image));
}

iree_string_view_t module_image_string(const module_image_t* image, uint32_t index) {
  const module_string_t* row = &image->strings[index];
  return iree_make_string_view((const char*)image->string_bytes + row->offset, row->length);
}

iree_string_view_t module_image_attr(const module_image_t* image, uint32_t first, uint32_t count,
                                     iree_string_view_t key) {
  for (uint32_t i = 0; i < count; ++i) {
    const module_attr_t* attr = &image->attrs[first + i];
    if (iree_string_view_equal(module_image_string(image, attr->key), key)) {
      return module_image_string(image, attr->value);
    }
  }
  return iree_string_view_empty();
}

const module_location_t* module_image_location(const module_image_t* image, module_location_kind_t kind, uint32_t index,
                                               uint32_t position) {
  uint32_t low = 0, high = image->location_count;
  while (low < high) {  // first row after the position
    uint32_t middle = low + (high - low) / 2;
    const module_location_t* row = &image->locations[middle];
    bool after = row->kind != kind     ? row->kind > (uint32_t)kind
                 : row->index != index ? row->index > index
                                       : row->position > position;
    if (after) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (!low) return NULL;
  const module_location_t* row = &image->locations[low - 1];
  return row->kind == (uint32_t)kind && row->index == index ? row : NULL;
}

// Plain values and, where they may be, spans.
static bool parse_letters(const char** at, const char* end, bool spans, const char** out_letters, uint32_t* out_count) {
  const char* begin = *at;
  const char* span = NULL;  // the 'C' that is open
  *out_letters = begin;
  *out_count = 0;
  if (*at < end && **at == 'v') {
    ++*at;
    return true;
  }
  for (; *at < end && **at != '_'; ++*at) {
    if (spans && **at == 'C' && !span) {
      span = *at;
    } else if (span && **at == 'D' && *at > span + 1) {
      span = NULL;
    } else if (vm_type_of_letter(**at) == VM_TYPE_NONE) {
      return false;
    }
  }
  *out_count = (uint32_t)(*at - begin);
  return *out_count && !span;
}

bool module_image_is_portable(const module_image_t* image, uint32_t target) {
  return iree_string_view_equal(module_image_string(image, image->targets[target].format), IREE_SV(VMVX_FORMAT));
}

static bool parse_convention(iree_string_view_t text, bool spans, module_convention_t* out_convention) {
  if (text.size < 4 || text.data[0] != '0') return false;
  const char* at = text.data + 1;
  const char* end = text.data + text.size;
  if (!parse_letters(&at, end, spans, &out_convention->arguments, &out_convention->argument_count)) return false;
  if (at == end || *at++ != '_') return false;
  return parse_letters(&at, end, false, &out_convention->results, &out_convention->result_count) && at == end;
}

bool module_convention_parse(iree_string_view_t text, module_convention_t* out_convention) {
  return parse_convention(text, false, out_convention);
}

bool module_convention_parse_spans(iree_string_view_t text, module_convention_t* out_convention) {
  return parse_convention(text, true, out_convention);
}

uint32_t module_shape_open_count(const module_image_t* image, const module_shape_row_t* shape) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < shape->rank; ++i) count += image->dims[shape->dim_first + i] == MODULE_DIM_DYNAMIC;
  return count;
}

uint32_t module_table_argument_count(const module_image_t* image, const module_table_row_t* table) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < table->slot_count; ++i) {
    const module_slot_t* slot = &image->slots[table->slot_first + i];
    if (slot->kind == MODULE_SLOT_ARGUMENT && slot->index >= count) count = slot->index + 1;
  }
  return count;
}
