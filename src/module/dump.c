// Metadata, declarations and JSON of modules.

#include "module/dump.h"

#include <inttypes.h>

#define SV_ARGS(view) (int)(view).size, (view).data

static iree_string_view_t text_of(const module_image_t* image, uint32_t string) {
  return module_image_string(image, string);
}

static void print_rule(FILE* file) {
  fputs("//===", file);
  for (int i = 0; i < 110; ++i) fputc('-', file);
  fputs("===//\n", file);
}

static void print_heading(const char* heading, FILE* file) {
  fputc('\n', file);
  print_rule(file);
  fprintf(file, "// %s\n", heading);
  print_rule(file);
  fputc('\n', file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Metadata
//===----------------------------------------------------------------------------------------------------------------===

// A span is `(i64, !vm.ref<?>)...`.
static void print_types(const char* letters, uint32_t count, FILE* file) {
  bool first = true;
  for (uint32_t i = 0; i < count; ++i) {
    if (letters[i] == 'D') {
      fputs(")...", file);
      continue;
    }
    const char* type = letters[i] == 'r' ? "!vm.ref<?>" : vm_type_name(vm_type_of_letter(letters[i]));
    fprintf(file, "%s%s", first ? "" : ", ", letters[i] == 'C' ? "(" : type);
    first = letters[i] == 'C';
  }
}

static void print_signature(const module_image_t* image, uint32_t name, uint32_t convention_string, FILE* file) {
  module_convention_t convention;
  module_convention_parse_spans(text_of(image, convention_string), &convention);
  fprintf(file, "%.*s(", SV_ARGS(text_of(image, name)));
  print_types(convention.arguments, convention.argument_count, file);
  fputs(") -> (", file);
  print_types(convention.results, convention.result_count, file);
  fputs(")\n", file);
}

static void print_attrs(const module_image_t* image, uint32_t first, uint32_t count, const char* indent, FILE* file) {
  for (uint32_t i = 0; i < count; ++i) {
    const module_attr_t* attr = &image->attrs[first + i];
    fprintf(file, "%s%.*s: %.*s\n", indent, SV_ARGS(text_of(image, attr->key)), SV_ARGS(text_of(image, attr->value)));
  }
}

static void print_functions(const module_image_t* image, FILE* file) {
  if (image->imports_count) fputs("Imported Functions:\n", file);
  for (uint32_t i = 0; i < image->imports_count; ++i) {
    fprintf(file, "  [%3u] ", i);
    print_signature(image, image->imports[i].name, image->imports[i].convention, file);
  }
  if (image->imports_count) fputc('\n', file);
  fputs("Exported Functions:\n", file);
  for (uint32_t i = 0; i < image->exports_count; ++i) {
    const module_export_t* row = &image->exports[i];
    fprintf(file, "  [%3u] ", i);
    print_signature(image, row->name, image->functions[row->function].convention, file);
    print_attrs(image, row->attr_first, row->attr_count, "        ", file);
  }
}

static void print_targets(const module_image_t* image, FILE* file) {
  if (!image->targets_count) return;
  fputs("\nTargets:\n", file);
  for (uint32_t i = 0; i < image->targets_count; ++i) {
    const module_target_t* target = &image->targets[i];
    fprintf(file, "  [%3u] %.*s %.*s", i, SV_ARGS(text_of(image, target->backend)),
            SV_ARGS(text_of(image, target->format)));
    if (text_of(image, target->description).size) {
      fprintf(file, " (%.*s)", SV_ARGS(text_of(image, target->description)));
    }
    if (text_of(image, target->features).size) {
      fprintf(file, " needs %.*s", SV_ARGS(text_of(image, target->features)));
    }
    fputc('\n', file);
  }
}

static void print_sections(const module_image_t* image, size_t archive_size, FILE* file) {
  uint32_t refs = 0;
  for (uint32_t i = 0; i < image->globals_count; ++i) refs += image->globals[i].type == VM_TYPE_REF;
  fprintf(file, "Module State:\n  %u bytes, %u refs, %u constants, %u command tables\n\n",
          (image->globals_count - refs) * 8, refs, image->constants_count, image->tables_count);
  fprintf(file, "Archive: %zu bytes\n", archive_size);
  for (size_t i = 0; i < image->archive.count; ++i) {
    const archive_file_t* entry = &image->archive.files[i];
    fprintf(file, "  .rodata[%3zu] external %12zu bytes (offset %" PRIu64 " / %" PRIX64 "h) `%.*s`\n", i,
            entry->data.data_length, entry->offset, entry->offset, SV_ARGS(entry->name));
  }
  fprintf(file, "\nProgram: %" PRIu64 " bytes\n", image->header->length);
#define SECTION(NAME, field, type)                                                \
  if (image->field##_count) {                                                     \
    fprintf(file, "  %-14s %8u rows %12zu bytes\n", #field, image->field##_count, \
            image->field##_count * sizeof(type));                                 \
  }
  MODULE_SECTIONS(SECTION)
#undef SECTION
}

static void print_export_names(const module_image_t* image, uint32_t function, FILE* file) {
  const char* separator = "";
  for (uint32_t i = 0; i < image->exports_count; ++i) {
    if (image->exports[i].function != function) continue;
    fprintf(file, "%s%.*s", separator, SV_ARGS(text_of(image, image->exports[i].name)));
    separator = ", ";
  }
  if (image->header->init_function == function) fprintf(file, "%s__init", separator);
}

static void print_code_table(const module_image_t* image, FILE* file) {
  fputs("  # | Offset   |   Length | value # | ref # | Aliases\n", file);
  fputs("----+----------+----------+---------+-------+", file);
  for (int i = 0; i < 60; ++i) fputc('-', file);
  fputc('\n', file);
  for (uint32_t i = 0; i < image->functions_count; ++i) {
    const module_function_row_t* row = &image->functions[i];
    fprintf(file, "%3u | %08X | %8u | %7u | %5u | ", i, row->code_first * 2, row->code_count * 2, row->value_count,
            row->ref_count);
    print_export_names(image, i, file);
    fputc('\n', file);
  }
}

static void print_dependencies(const module_image_t* image, FILE* file) {
  if (!image->dependencies_count) return;
  fputs("Module Dependencies:\n", file);
  for (uint32_t i = 0; i < image->dependencies_count; ++i) {
    const module_dependency_t* row = &image->dependencies[i];
    fprintf(file, "  %.*s, version >= %u, %s\n", SV_ARGS(text_of(image, row->name)), row->version,
            row->flags & 1 ? "optional" : "required");
  }
  fputc('\n', file);
}

void module_dump_metadata(const module_image_t* image, size_t archive_size, FILE* file) {
  print_rule(file);
  fprintf(file, "// @%.*s : version %u\n", SV_ARGS(text_of(image, image->header->name)), image->header->version);
  print_rule(file);
  fputc('\n', file);
  if (image->header->attr_count) {
    fputs("Attributes:\n", file);
    print_attrs(image, image->header->attr_first, image->header->attr_count, "  ", file);
    fputc('\n', file);
  }
  print_dependencies(image, file);
  print_functions(image, file);
  print_targets(image, file);
  print_heading("Sections", file);
  print_sections(image, archive_size, file);
  char heading[64];
  snprintf(heading, sizeof(heading), "Bytecode : version %u.%u", image->header->version_major,
           image->header->version_minor);
  print_heading(heading, file);
  print_code_table(image, file);
  print_heading("Debug Information", file);
  if (image->locations) {
    fprintf(file, "Locations: %u\n", image->location_count);
  } else {
    fputs("Stripped.\n", file);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Declarations and disassembly
//===----------------------------------------------------------------------------------------------------------------===

static void print_global(const module_global_t* row, const module_image_t* image, FILE* file) {
  fprintf(file, "vm.global @%.*s : %s", SV_ARGS(text_of(image, row->name)), vm_type_name((vm_type_t)row->type));
  if (row->initial) fprintf(file, " = 0x%" PRIX64, row->initial);
  fputc('\n', file);
}

static void print_executable(const module_executable_t* row, const module_image_t* image, FILE* file) {
  fprintf(file, "hal.executable @%.*s {\n", SV_ARGS(text_of(image, row->name)));
  for (uint32_t v = 0; v < row->variant_count; ++v) {
    const module_variant_t* variant = &image->variants[row->variant_first + v];
    const module_segment_row_t* segment = &image->segments[variant->segment];
    iree_string_view_t format = text_of(image, variant->format);
    fprintf(file, "  variant target(%u)", variant->target);
    if (format.size) fprintf(file, " format(%.*s)", SV_ARGS(format));
    fprintf(file, " from @%.*s, %" PRIu64 " bytes {\n", SV_ARGS(text_of(image, segment->entry)), segment->length);
    for (uint32_t i = 0; i < row->point_count; ++i) {
      const module_point_row_t* point = &image->points[variant->point_first + i];
      fprintf(file, "    entry @%.*s bindings(%u) constants(%u) workgroup_size(%u, %u, %u) local_memory(%u)\n",
              SV_ARGS(text_of(image, point->name)), point->binding_count, point->constant_count,
              point->workgroup_size[0], point->workgroup_size[1], point->workgroup_size[2], point->local_memory);
    }
    fputs("  }\n", file);
  }
  fputs("}\n", file);
}

static void print_shape(const module_shape_row_t* row, const module_image_t* image, FILE* file) {
  fprintf(file, "hal.shape @%.*s : ", SV_ARGS(text_of(image, row->name)));
  for (uint32_t i = 0; i < row->rank; ++i) {
    int64_t dim = image->dims[row->dim_first + i];
    if (dim == MODULE_DIM_DYNAMIC) {
      fputs("?x", file);
    } else {
      fprintf(file, "%" PRId64 "x", dim);
    }
  }
  fprintf(file, "%08X encoding(%u)\n", row->element_type, row->encoding_type);
}

static void print_declarations(const module_image_t* image, FILE* file) {
  fprintf(file, "vm.module @%.*s version %u\n", SV_ARGS(text_of(image, image->header->name)), image->header->version);
  for (uint32_t i = 0; i < image->imports_count; ++i) {
    fprintf(file, "vm.import @%.*s cconv \"%.*s\"%s\n", SV_ARGS(text_of(image, image->imports[i].name)),
            SV_ARGS(text_of(image, image->imports[i].convention)), image->imports[i].flags & 1 ? " optional" : "");
  }
  for (uint32_t i = 0; i < image->globals_count; ++i) print_global(&image->globals[i], image, file);
  for (uint32_t i = 0; i < image->devices_count; ++i) {
    fprintf(file, "hal.device @%.*s ordinal(%u)\n", SV_ARGS(text_of(image, image->devices[i].name)),
            image->devices[i].ordinal);
  }
  for (uint32_t i = 0; i < image->constants_count; ++i) {
    const module_constant_t* row = &image->constants[i];
    fprintf(file, "hal.constant #%u from @%.*s[%" PRIu64 " for %" PRIu64 "]\n", i,
            SV_ARGS(text_of(image, image->segments[row->segment].entry)), row->offset, row->length);
  }
  for (uint32_t i = 0; i < image->shapes_count; ++i) print_shape(&image->shapes[i], image, file);
  for (uint32_t i = 0; i < image->executables_count; ++i) print_executable(&image->executables[i], image, file);
}

static bool parse_ordinal(iree_string_view_t text, uint32_t limit, uint32_t* out_ordinal) {
  return iree_string_view_atoi_uint32(text, out_ordinal) && *out_ordinal < limit;
}

bool module_dump_find_function(const module_image_t* image, iree_string_view_t name, uint32_t* out_function) {
  for (uint32_t i = 0; i < image->exports_count; ++i) {
    *out_function = image->exports[i].function;
    if (iree_string_view_equal(text_of(image, image->exports[i].name), name)) return true;
  }
  for (uint32_t i = 0; i < image->functions_count; ++i) {
    *out_function = i;
    if (iree_string_view_equal(text_of(image, image->functions[i].name), name)) return true;
  }
  return parse_ordinal(name, image->functions_count, out_function);
}

void module_dump_disassembly(const module_image_t* image, bool offsets, FILE* file) {
  print_declarations(image, file);
  for (uint32_t i = 0; i < image->tables_count; ++i) {
    fputc('\n', file);
    module_dump_table(image, i, file);
  }
  for (uint32_t i = 0; i < image->functions_count; ++i) {
    fputc('\n', file);
    for (uint32_t e = 0; e < image->exports_count; ++e) {
      if (image->exports[e].function != i) continue;
      fprintf(file, "vm.export @%.*s\n", SV_ARGS(text_of(image, image->exports[e].name)));
    }
    module_dump_function(image, i, offsets, file);
  }
}
