// The writer's module level: sections, strings, executables and data, and the file.

#include "module/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file.h"
#include "module/writer_internal.h"

static const size_t section_row_sizes[MODULE_SECTION_COUNT] = {
#define SECTION(NAME, field, type) [MODULE_SECTION_##NAME] = sizeof(type),
    MODULE_SECTIONS(SECTION)
#undef SECTION
};

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

void module_writer_fail(module_writer_t* writer, iree_status_t status) {
  if (iree_status_is_ok(writer->status)) {
    writer->status = status;
  } else {
    iree_status_ignore(status);
  }
}

uint32_t module_writer_push(module_writer_t* writer, rows_t* rows, size_t count, const void* source) {
  if (!WRITER_OK(writer)) return 0;
  size_t first = rows->count;
  iree_status_t status = rows_append(rows, count, source, writer->allocator);
  if (iree_status_is_ok(status) && rows->count >= MODULE_NONE) {
    status = iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "module has too many rows in one table");
  }
  if (!iree_status_is_ok(status)) {
    module_writer_fail(writer, status);
    return 0;
  }
  return (uint32_t)first;
}

uint32_t module_writer_append(module_writer_t* writer, module_section_kind_t section, size_t count, const void* rows) {
  return module_writer_push(writer, &writer->sections[section], count, rows);
}

uint32_t module_writer_count(const module_writer_t* writer, module_section_kind_t section) {
  return (uint32_t)writer->sections[section].count;
}

void* module_writer_allocate(module_writer_t* writer, size_t size) {
  void* memory = NULL;
  if (WRITER_OK(writer)) module_writer_fail(writer, iree_allocator_malloc(writer->allocator, size, &memory));
  return WRITER_OK(writer) ? memory : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Strings
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t hash_string(iree_string_view_t text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < text.size; ++i) hash = (hash ^ (uint8_t)text.data[i]) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

static iree_string_view_t string_at(const module_writer_t* writer, uint32_t index) {
  const module_string_t* row = ROWS_AT(&writer->sections[MODULE_SECTION_STRINGS], module_string_t, index);
  const char* bytes = writer->sections[MODULE_SECTION_STRING_BYTES].data;
  return iree_make_string_view(bytes ? bytes + row->offset : "", row->length);
}

static uint32_t* find_string_slot(module_writer_t* writer, iree_string_view_t text) {
  uint32_t mask = writer->string_slot_count - 1;
  uint32_t at = (uint32_t)hash_string(text) & mask;
  while (writer->string_slots[at] && !iree_string_view_equal(string_at(writer, writer->string_slots[at]), text)) {
    at = (at + 1) & mask;
  }
  return &writer->string_slots[at];
}

static void grow_string_slots(module_writer_t* writer) {
  uint32_t count = writer->string_slot_count ? writer->string_slot_count * 2 : 256;
  uint32_t* slots = module_writer_allocate(writer, count * sizeof(*slots));
  if (!slots) return;
  iree_allocator_free(writer->allocator, writer->string_slots);
  writer->string_slots = slots;
  writer->string_slot_count = count;
  for (uint32_t i = 1; i < module_writer_count(writer, MODULE_SECTION_STRINGS); ++i) {
    *find_string_slot(writer, string_at(writer, i)) = i;
  }
}

uint32_t module_writer_string(module_writer_t* writer, iree_string_view_t text) {
  if (!text.size || !WRITER_OK(writer)) return 0;
  if (module_writer_count(writer, MODULE_SECTION_STRINGS) * 2 >= writer->string_slot_count) grow_string_slots(writer);
  if (!WRITER_OK(writer)) return 0;
  uint32_t* slot = find_string_slot(writer, text);
  if (*slot) return *slot;
  module_string_t row = {.length = (uint32_t)text.size};
  row.offset = module_writer_append(writer, MODULE_SECTION_STRING_BYTES, text.size, text.data);
  *slot = module_writer_append(writer, MODULE_SECTION_STRINGS, 1, &row);
  return *slot;
}

uint32_t module_writer_file_name(module_writer_t* writer, iree_string_view_t file) {
  const char* names = writer->file_names.data;
  for (size_t at = 0; at < writer->file_names.count; at += strlen(names + at) + 1) {
    if (iree_string_view_equal(iree_make_cstring_view(names + at), file)) return (uint32_t)at;
  }
  uint32_t offset = module_writer_push(writer, &writer->file_names, file.size, file.data);
  module_writer_push(writer, &writer->file_names, 1, "");
  return offset;
}

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t module_writer_create(iree_string_view_t name, iree_allocator_t allocator, module_writer_t** out_writer) {
  *out_writer = NULL;
  module_writer_t* writer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*writer), (void**)&writer));
  writer->allocator = allocator;
  for (uint32_t i = 0; i < MODULE_SECTION_COUNT; ++i) writer->sections[i].row_size = section_row_sizes[i];
  writer->entries.row_size = sizeof(writer_entry_t);
  writer->entry_names.row_size = sizeof(bool);
  writer->functions.row_size = sizeof(module_function_t*);
  writer->tables.row_size = sizeof(module_table_t*);
  writer->locations.row_size = sizeof(module_location_t);
  writer->file_names.row_size = 1;
  writer->header = (module_header_t){
      .magic = MODULE_MAGIC,
      .version_major = MODULE_VERSION_MAJOR,
      .version_minor = MODULE_VERSION_MINOR,
      .header_size = sizeof(module_header_t),
      .section_count = MODULE_SECTION_COUNT,
      .init_function = MODULE_NONE,
  };
  module_writer_append(writer, MODULE_SECTION_STRINGS, 1, NULL);
  writer->header.name = module_writer_string(writer, name);
  iree_status_t status = writer->status;
  if (!iree_status_is_ok(status)) {
    writer->status = iree_ok_status();
    module_writer_destroy(writer);
    return status;
  }
  *out_writer = writer;
  return status;
}

void module_writer_destroy(module_writer_t* writer) {
  if (!writer) return;
  for (size_t i = 0; i < writer->functions.count; ++i) {
    module_writer_free_function(*ROWS_AT(&writer->functions, module_function_t*, i));
  }
  for (size_t i = 0; i < writer->tables.count; ++i) {
    module_writer_free_table(*ROWS_AT(&writer->tables, module_table_t*, i));
  }
  for (size_t i = 0; i < writer->entries.count; ++i) {
    iree_allocator_free(writer->allocator, ROWS_AT(&writer->entries, writer_entry_t, i)->name);
  }
  for (uint32_t i = 0; i < MODULE_SECTION_COUNT; ++i) rows_finish(&writer->sections[i], writer->allocator);
  rows_finish(&writer->entries, writer->allocator);
  rows_finish(&writer->entry_names, writer->allocator);
  rows_finish(&writer->functions, writer->allocator);
  rows_finish(&writer->tables, writer->allocator);
  rows_finish(&writer->locations, writer->allocator);
  rows_finish(&writer->file_names, writer->allocator);
  iree_allocator_free(writer->allocator, writer->string_slots);
  iree_status_ignore(writer->status);
  iree_allocator_free(writer->allocator, writer);
}

static uint32_t append_attrs(module_writer_t* writer, size_t count, const module_pair_t* attrs) {
  uint32_t first = module_writer_count(writer, MODULE_SECTION_ATTRS);
  for (size_t i = 0; i < count; ++i) {
    module_attr_t row = {module_writer_string(writer, attrs[i].key), module_writer_string(writer, attrs[i].value)};
    module_writer_append(writer, MODULE_SECTION_ATTRS, 1, &row);
  }
  return first;
}

void module_writer_attr(module_writer_t* writer, iree_string_view_t key, iree_string_view_t value) {
  uint32_t index = append_attrs(writer, 1, &(module_pair_t){key, value});
  if (!writer->header.attr_count) writer->header.attr_first = index;
  if (index != writer->header.attr_first + writer->header.attr_count) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "module attributes come before any export"));
  }
  ++writer->header.attr_count;
}

void module_writer_dependency(module_writer_t* writer, iree_string_view_t name, uint32_t version, bool optional) {
  module_dependency_t row = {module_writer_string(writer, name), version, optional};
  rows_t* rows = &writer->sections[MODULE_SECTION_DEPENDENCIES];
  for (size_t i = 0; i < rows->count; ++i) {
    module_dependency_t* other = ROWS_AT(rows, module_dependency_t, i);
    if (other->name == row.name) {
      if (!optional) other->flags = 0;
      return;
    }
  }
  module_writer_append(writer, MODULE_SECTION_DEPENDENCIES, 1, &row);
}

uint32_t module_writer_import(module_writer_t* writer, iree_string_view_t name, iree_string_view_t convention,
                              bool optional) {
  iree_string_view_t module_name, function_name;
  if (iree_string_view_split(name, '.', &module_name, &function_name) < 0) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "import '%.*s' does not name a module",
                                                (int)name.size, name.data));
    return 0;
  }
  module_writer_dependency(writer, module_name, 0, optional);
  module_import_t row = {module_writer_string(writer, name), module_writer_string(writer, convention), optional};
  rows_t* rows = &writer->sections[MODULE_SECTION_IMPORTS];
  for (size_t i = 0; i < rows->count; ++i) {
    const module_import_t* other = ROWS_AT(rows, module_import_t, i);
    if (other->name == row.name && other->convention == row.convention && other->flags == row.flags) return (uint32_t)i;
  }
  return module_writer_append(writer, MODULE_SECTION_IMPORTS, 1, &row);
}

uint32_t module_writer_global(module_writer_t* writer, iree_string_view_t name, vm_type_t type, uint64_t initial) {
  module_global_t row = {module_writer_string(writer, name), (uint8_t)type, {0}, initial};
  return module_writer_append(writer, MODULE_SECTION_GLOBALS, 1, &row);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices, executables, data
//===----------------------------------------------------------------------------------------------------------------===

void module_writer_devices(module_writer_t* writer, module_devices_t devices) { writer->devices = devices; }

iree_string_view_t module_writer_hal_name(const module_writer_t* writer, iree_string_view_t name) {
  // NAME(in hal, for inline programs, with loaders)
#define NAMES(NAME)                                                                 \
  NAME("hal.devices.get", "hal_inline.devices.get", "hal_loader.devices.get")       \
  NAME("hal.devices.count", "hal_inline.devices.count", "hal_loader.devices.count") \
  NAME("hal.buffer_view.trace", "hal_inline.buffer_view.trace", "hal_inline.buffer_view.trace")
#define NAME(hal, alone, loader)                                        \
  if (iree_string_view_equal(name, IREE_SV(hal))) {                     \
    return writer->devices == MODULE_DEVICES_INLINE   ? IREE_SV(alone)  \
           : writer->devices == MODULE_DEVICES_LOADER ? IREE_SV(loader) \
                                                      : name;           \
  }
  NAMES(NAME)
#undef NAME
#undef NAMES
  return name;
}

uint32_t module_writer_device(module_writer_t* writer, iree_string_view_t name, uint32_t ordinal) {
  if (writer->devices == MODULE_DEVICES_HAL) {
    module_writer_dependency(writer, IREE_SV("hal"), 0, false);
  } else {
    module_writer_dependency(writer, IREE_SV("hal_inline"), 0, false);
  }
  if (writer->devices == MODULE_DEVICES_LOADER) module_writer_dependency(writer, IREE_SV("hal_loader"), 0, false);
  module_device_t row = {module_writer_string(writer, name), ordinal};
  return module_writer_append(writer, MODULE_SECTION_DEVICES, 1, &row);
}

uint32_t module_writer_target(module_writer_t* writer, const module_target_desc_t* desc) {
  module_target_t row = {
      module_writer_string(writer, desc->backend),
      module_writer_string(writer, desc->format),
      module_writer_string(writer, desc->description),
      module_writer_string(writer, desc->features),
  };
  return module_writer_append(writer, MODULE_SECTION_TARGETS, 1, &row);
}

uint32_t module_writer_executable(module_writer_t* writer, iree_string_view_t name, uint32_t point_count) {
  module_executable_t row = {module_writer_string(writer, name), point_count,
                             module_writer_count(writer, MODULE_SECTION_VARIANTS), 0};
  return module_writer_append(writer, MODULE_SECTION_EXECUTABLES, 1, &row);
}

static uint32_t append_points(module_writer_t* writer, uint32_t count, const module_point_t* points) {
  uint32_t first = module_writer_count(writer, MODULE_SECTION_POINTS);
  for (uint32_t i = 0; i < count; ++i) {
    const module_point_t* point = &points[i];
    module_point_row_t row = {
        .name = module_writer_string(writer, point->name),
        .binding_count = point->binding_count,
        .constant_count = point->constant_count,
        .workgroup_size = {point->workgroup_size[0], point->workgroup_size[1], point->workgroup_size[2]},
        .local_memory = point->local_memory,
    };
    module_writer_append(writer, MODULE_SECTION_POINTS, 1, &row);
  }
  return first;
}

void module_writer_variant(module_writer_t* writer, uint32_t executable, const module_variant_desc_t* desc) {
  if (!WRITER_OK(writer)) return;
  rows_t* executables = &writer->sections[MODULE_SECTION_EXECUTABLES];
  rows_t* targets = &writer->sections[MODULE_SECTION_TARGETS];
  module_executable_t* row = ROWS_AT(executables, module_executable_t, executable);
  if (executable >= executables->count || desc->target >= targets->count) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "variant of unknown executable or target"));
    return;
  }
  if (!row->variant_count) row->variant_first = module_writer_count(writer, MODULE_SECTION_VARIANTS);
  if (row->variant_first + row->variant_count != module_writer_count(writer, MODULE_SECTION_VARIANTS)) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "variants of one executable come together"));
    return;
  }
  ++row->variant_count;
  iree_string_view_t name = string_at(writer, row->name);
  iree_string_view_t format = desc->format;
  if (!format.size) format = string_at(writer, ROWS_AT(targets, module_target_t, desc->target)->format);
  char entry[512];
  // The number keeps the names apart when one format appears in several targets.
  snprintf(entry, sizeof(entry), "executables/%.*s_%.*s%s%.0u.%.*s", (int)(name.size < 200 ? name.size : 200),
           name.data, (int)(format.size < 200 ? format.size : 200), format.data, desc->target ? "_" : "", desc->target,
           (int)desc->extension.size, desc->extension.data);
  for (char* at = entry; *at; ++at) *at = *at == '-' || *at == ' ' ? '_' : *at;
  uint32_t point_count = row->point_count;
  module_variant_t variant = {
      .target = desc->target,
      .format = module_writer_string(writer, desc->format),
      .segment = module_writer_segment(writer, &(module_segment_t){.entry = iree_make_cstring_view(entry),
                                                                   .data = desc->data,
                                                                   .alignment = MODULE_ENTRY_ALIGNMENT}),
      .point_first = append_points(writer, point_count, desc->points),
  };
  module_writer_append(writer, MODULE_SECTION_VARIANTS, 1, &variant);
}

uint32_t module_writer_segment(module_writer_t* writer, const module_segment_t* segment) {
  if (!WRITER_OK(writer)) return 0;
  writer_entry_t entry = {.data = segment->data, .source = segment->source, .alignment = segment->alignment};
  if (entry.alignment < MODULE_ENTRY_ALIGNMENT) entry.alignment = MODULE_ENTRY_ALIGNMENT;
  uint32_t name = module_writer_string(writer, segment->entry);
  while (WRITER_OK(writer) && writer->entry_names.count <= name) {
    module_writer_push(writer, &writer->entry_names, 1, &(bool){false});
  }
  if (!WRITER_OK(writer)) return 0;
  bool* is_taken = ROWS_AT(&writer->entry_names, bool, name);
  if (*is_taken) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "two archive entries are called '%.*s'",
                                                (int)segment->entry.size, segment->entry.data));
    return 0;
  }
  *is_taken = true;
  entry.name = module_writer_allocate(writer, segment->entry.size + 1);
  if (!entry.name) return 0;
  memcpy(entry.name, segment->entry.data, segment->entry.size);
  module_writer_push(writer, &writer->entries, 1, &entry);
  if (!WRITER_OK(writer)) iree_allocator_free(writer->allocator, entry.name);
  module_segment_row_t row = {name, entry.alignment, 0,
                              segment->source.read ? segment->source.length : segment->data.data_length};
  return module_writer_append(writer, MODULE_SECTION_SEGMENTS, 1, &row);
}

uint32_t module_writer_constant(module_writer_t* writer, uint32_t device, uint32_t segment, uint64_t offset,
                                uint64_t length) {
  module_constant_t row = {segment, device, offset, length};
  return module_writer_append(writer, MODULE_SECTION_CONSTANTS, 1, &row);
}

uint32_t module_writer_shape(module_writer_t* writer, iree_string_view_t name, uint32_t element_type,
                             uint32_t encoding_type, uint32_t rank, const int64_t* dims) {
  module_shape_row_t row = {module_writer_string(writer, name), element_type, encoding_type, rank,
                            module_writer_append(writer, MODULE_SECTION_DIMS, rank, dims)};
  return module_writer_append(writer, MODULE_SECTION_SHAPES, 1, &row);
}

void module_writer_initializer(module_writer_t* writer, const module_function_t* function) {
  if (function) writer->header.init_function = function->index;
}

void module_writer_export(module_writer_t* writer, iree_string_view_t name, const module_function_t* function,
                          size_t attr_count, const module_pair_t* attrs) {
  if (!WRITER_OK(writer) || !function) return;
  module_export_t row = {module_writer_string(writer, name), function->index, append_attrs(writer, attr_count, attrs),
                         (uint32_t)attr_count};
  module_writer_append(writer, MODULE_SECTION_EXPORTS, 1, &row);
}

//===----------------------------------------------------------------------------------------------------------------===
// The file
//===----------------------------------------------------------------------------------------------------------------===

// All archive entries with the spans they consist of; section padding comes from `zeros`.
typedef struct layout_t {
  module_header_t header;
  module_section_t directory[MODULE_SECTION_COUNT];
  module_debug_header_t debug;
  iree_const_byte_span_t program_parts[2 + 2 * MODULE_SECTION_COUNT];
  iree_const_byte_span_t debug_parts[3];
  iree_const_byte_span_t* data_parts;  // one for each segment
  archive_entry_t* entries;
  size_t entry_count;
} layout_t;

static const uint8_t zeros[8];

static void finish_bodies(module_writer_t* writer) {
  for (size_t i = 0; i < writer->functions.count; ++i) {
    module_writer_finish_function(*ROWS_AT(&writer->functions, module_function_t*, i));
  }
  for (size_t i = 0; i < writer->tables.count; ++i) {
    module_writer_finish_table(*ROWS_AT(&writer->tables, module_table_t*, i));
  }
}

static size_t layout_program(const module_writer_t* writer, layout_t* layout) {
  size_t part = 0;
  uint64_t position = sizeof(layout->header) + sizeof(layout->directory);
  layout->program_parts[part++] = iree_make_const_byte_span(&layout->header, sizeof(layout->header));
  layout->program_parts[part++] = iree_make_const_byte_span(layout->directory, sizeof(layout->directory));
  for (uint32_t i = 0; i < MODULE_SECTION_COUNT; ++i) {
    const rows_t* rows = &writer->sections[i];
    uint64_t size = rows->count * rows->row_size, padding = (0 - size) & 7;
    layout->directory[i] = (module_section_t){i, (uint32_t)rows->row_size, position, rows->count};
    if (size) layout->program_parts[part++] = iree_make_const_byte_span(rows->data, size);
    if (padding) layout->program_parts[part++] = iree_make_const_byte_span(zeros, padding);
    position += size + padding;
  }
  layout->header = writer->header;
  layout->header.length = position;
  return part;
}

static int compare_locations(const void* a, const void* b) {
  const module_location_t *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->index != y->index) return x->index < y->index ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

static size_t layout_debug(module_writer_t* writer, layout_t* layout) {
  rows_t* locations = &writer->locations;
  if (locations->count) qsort(locations->data, locations->count, sizeof(module_location_t), compare_locations);
  layout->debug =
      (module_debug_header_t){MODULE_DEBUG_MAGIC, (uint32_t)locations->count, (uint32_t)writer->file_names.count, 0};
  layout->debug_parts[0] = iree_make_const_byte_span(&layout->debug, sizeof(layout->debug));
  layout->debug_parts[1] = iree_make_const_byte_span(locations->data, locations->count * sizeof(module_location_t));
  layout->debug_parts[2] = iree_make_const_byte_span(writer->file_names.data, writer->file_names.count);
  return locations->count ? 3 : 0;
}

static iree_status_t layout_entries(module_writer_t* writer, layout_t* layout) {
  finish_bodies(writer);
  if (!WRITER_OK(writer)) return iree_ok_status();
  size_t count = writer->entries.count;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(writer->allocator, count + 2, sizeof(*layout->entries), (void**)&layout->entries));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(writer->allocator, count + 1, sizeof(*layout->data_parts),
                                                   (void**)&layout->data_parts));
  size_t program_parts = layout_program(writer, layout);
  size_t debug_parts = layout_debug(writer, layout);
  layout->entries[layout->entry_count++] = (archive_entry_t){IREE_SV(MODULE_ENTRY_PROGRAM), MODULE_ENTRY_ALIGNMENT,
                                                             program_parts, layout->program_parts, NULL};
  if (debug_parts) {
    layout->entries[layout->entry_count++] =
        (archive_entry_t){IREE_SV(MODULE_ENTRY_DEBUG), MODULE_ENTRY_ALIGNMENT, debug_parts, layout->debug_parts, NULL};
  }
  for (size_t i = 0; i < count; ++i) {
    const writer_entry_t* entry = ROWS_AT(&writer->entries, writer_entry_t, i);
    layout->data_parts[i] = entry->data;
    archive_entry_t* out = &layout->entries[layout->entry_count++];
    *out = (archive_entry_t){.name = iree_make_cstring_view(entry->name), .alignment = entry->alignment};
    if (entry->source.read) {
      out->source = &entry->source;
    } else {
      out->part_count = 1;
      out->parts = &layout->data_parts[i];
    }
  }
  return iree_ok_status();
}

static iree_status_t take_status(module_writer_t* writer) {
  iree_status_t status = writer->status;
  writer->status = iree_status_is_ok(status) ? status : iree_status_from_code(iree_status_code(status));
  return status;
}

// Lays everything out, hands it to `write` and cleans up.
static iree_status_t with_layout(module_writer_t* writer,
                                 iree_status_t (*write)(module_writer_t* writer, const layout_t* layout, void* context),
                                 void* context) {
  layout_t layout = {.entry_count = 0};
  iree_status_t status = layout_entries(writer, &layout);
  if (iree_status_is_ok(status)) status = take_status(writer);
  if (iree_status_is_ok(status)) status = write(writer, &layout, context);
  iree_allocator_free(writer->allocator, layout.entries);
  iree_allocator_free(writer->allocator, layout.data_parts);
  return status;
}

void module_writer_threads(module_writer_t* writer, uint32_t threads) { writer->threads = threads; }

void module_writer_observe(module_writer_t* writer, void (*written)(void* user, uint64_t length), void* user) {
  writer->written = written;
  writer->user = user;
}

static archive_target_t target_of(const module_writer_t* writer,
                                  iree_status_t (*write)(void* sink, uint64_t offset, const void* data, size_t length),
                                  void* sink) {
  return (archive_target_t){write, sink, writer->threads, writer->written, writer->user};
}

static iree_status_t write_to_file(void* sink, uint64_t offset, const void* data, size_t length) {
  const uint8_t* at = data;
  for (int fd = *(const int*)sink; length;) {
    ssize_t written = pwrite(fd, at, length, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "cannot write %zu bytes of the module: %s", length,
                              strerror(errno));
    }
    at += written;
    offset += (uint64_t)written;
    length -= (size_t)written;
  }
  return iree_ok_status();
}

static iree_status_t write_file(module_writer_t* writer, const layout_t* layout, void* fd) {
  archive_target_t target = target_of(writer, write_to_file, fd);
  return module_archive_write(layout->entry_count, layout->entries, &target, writer->allocator);
}

static iree_status_t write_error(const char* path) {
  return iree_make_status(iree_status_code_from_errno(errno), "cannot write '%s': %s", path, strerror(errno));
}

static iree_status_t write_bytes(module_writer_t* writer, FILE* file, const char* path) {
  iree_byte_span_t data = iree_byte_span_empty();
  IREE_RETURN_IF_ERROR(module_writer_finish_memory(writer, writer->allocator, &data));
  bool written = fwrite(data.data, 1, data.data_length, file) == data.data_length && fflush(file) == 0;
  iree_status_t status = written ? iree_ok_status() : write_error(path);
  iree_allocator_free(writer->allocator, data.data);
  return status;
}

// Devices and pipes are written in order, files wherever a thread is done.
iree_status_t module_writer_finish_file(module_writer_t* writer, const char* path) {
  whole_file_t file;
  if (!whole_file_open(path, &file)) {
    return iree_make_status(iree_status_code_from_errno(errno), "cannot create '%s': %s", path, strerror(errno));
  }
  int fd = fileno(file.file);
  iree_status_t status = file.temporary ? with_layout(writer, write_file, &fd) : write_bytes(writer, file.file, path);
  bool written = iree_status_is_ok(status);
  return whole_file_close(&file, written) || !written ? status : write_error(path);
}

static iree_status_t write_to_memory(void* sink, uint64_t offset, const void* data, size_t length) {
  if (length) memcpy(((iree_byte_span_t*)sink)->data + offset, data, length);
  return iree_ok_status();
}

typedef struct memory_target_t {
  iree_allocator_t allocator;
  iree_byte_span_t* out_data;
} memory_target_t;

static iree_status_t write_memory(module_writer_t* writer, const layout_t* layout, void* context) {
  const memory_target_t* memory = context;
  archive_target_t target = target_of(writer, write_to_memory, memory->out_data);
  uint64_t size = module_archive_size(layout->entry_count, layout->entries);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(memory->allocator, size, (void**)&memory->out_data->data));
  memory->out_data->data_length = size;
  iree_status_t status = module_archive_write(layout->entry_count, layout->entries, &target, writer->allocator);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(memory->allocator, memory->out_data->data);
    *memory->out_data = iree_byte_span_empty();
  }
  return status;
}

iree_status_t module_writer_finish_memory(module_writer_t* writer, iree_allocator_t allocator,
                                          iree_byte_span_t* out_data) {
  *out_data = iree_byte_span_empty();
  return with_layout(writer, write_memory, &(memory_target_t){allocator, out_data});
}
