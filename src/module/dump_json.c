// Modules as JSON: every section that refers to names, with the names in place.

#include <inttypes.h>

#include "module/dump.h"

typedef struct json_t {
  FILE* file;
  bool pretty;
  int depth;
  bool empty;  // nothing in the current object or array yet
} json_t;

static void new_item(json_t* json) {
  if (!json->empty) fputc(',', json->file);
  json->empty = false;
  if (!json->pretty) return;
  fputc('\n', json->file);
  for (int i = 0; i < json->depth; ++i) fputs("  ", json->file);
}

static void put_string(json_t* json, iree_string_view_t text) {
  fputc('"', json->file);
  for (size_t i = 0; i < text.size; ++i) {
    unsigned char c = (unsigned char)text.data[i];
    if (c == '"' || c == '\\') {
      fprintf(json->file, "\\%c", c);
    } else if (c < 0x20) {
      fprintf(json->file, "\\u%04x", c);
    } else {
      fputc(c, json->file);
    }
  }
  fputc('"', json->file);
}

static void put_key(json_t* json, const char* key) {
  new_item(json);
  if (key) fprintf(json->file, "\"%s\":%s", key, json->pretty ? " " : "");
}

static void begin(json_t* json, const char* key, char bracket) {
  put_key(json, key);
  fputc(bracket, json->file);
  ++json->depth;
  json->empty = true;
}

static void end(json_t* json, char bracket) {
  --json->depth;
  if (json->pretty && !json->empty) {
    fputc('\n', json->file);
    for (int i = 0; i < json->depth; ++i) fputs("  ", json->file);
  }
  fputc(bracket, json->file);
  json->empty = false;
}

static void put_text(json_t* json, const char* key, iree_string_view_t text) {
  put_key(json, key);
  put_string(json, text);
}

static void put_number(json_t* json, const char* key, uint64_t number) {
  put_key(json, key);
  fprintf(json->file, "%" PRIu64, number);
}

#define TEXT(field) put_text(json, #field, module_image_string(image, row->field))
#define NUMBER(field) put_number(json, #field, row->field)

static void put_attrs(json_t* json, const module_image_t* image, uint32_t first, uint32_t count) {
  begin(json, "attrs", '[');
  for (uint32_t i = 0; i < count; ++i) {
    const module_attr_t* row = &image->attrs[first + i];
    begin(json, NULL, '{');
    TEXT(key);
    TEXT(value);
    end(json, '}');
  }
  end(json, ']');
}

static void put_dependency(json_t* json, const module_image_t* image, const module_dependency_t* row) {
  TEXT(name);
  NUMBER(version);
  NUMBER(flags);
}
static void put_import(json_t* json, const module_image_t* image, const module_import_t* row) {
  TEXT(name);
  TEXT(convention);
  NUMBER(flags);
}
static void put_export(json_t* json, const module_image_t* image, const module_export_t* row) {
  TEXT(name);
  NUMBER(function);
  put_attrs(json, image, row->attr_first, row->attr_count);
}
static void put_function(json_t* json, const module_image_t* image, const module_function_row_t* row) {
  TEXT(name);
  TEXT(convention);
  NUMBER(code_first);
  NUMBER(code_count);
  NUMBER(value_count);
  NUMBER(ref_count);
}
static void put_global(json_t* json, const module_image_t* image, const module_global_t* row) {
  TEXT(name);
  put_text(json, "type", iree_make_cstring_view(vm_type_name((vm_type_t)row->type)));
  NUMBER(initial);
}
static void put_device(json_t* json, const module_image_t* image, const module_device_t* row) {
  TEXT(name);
  NUMBER(ordinal);
}
static void put_target(json_t* json, const module_image_t* image, const module_target_t* row) {
  TEXT(backend);
  TEXT(format);
  TEXT(description);
  TEXT(features);
}
static void put_segment(json_t* json, const module_image_t* image, const module_segment_row_t* row) {
  TEXT(entry);
  NUMBER(alignment);
  NUMBER(offset);
  NUMBER(length);
}
static void put_constant(json_t* json, const module_image_t* image, const module_constant_t* row) {
  NUMBER(segment);
  NUMBER(device);
  NUMBER(offset);
  NUMBER(length);
}
static void put_executable(json_t* json, const module_image_t* image, const module_executable_t* row) {
  TEXT(name);
  NUMBER(point_count);
  NUMBER(variant_first);
  NUMBER(variant_count);
}
static void put_variant(json_t* json, const module_image_t* image, const module_variant_t* row) {
  NUMBER(target);
  TEXT(format);
  NUMBER(segment);
  NUMBER(point_first);
}
static void put_point(json_t* json, const module_image_t* image, const module_point_row_t* row) {
  TEXT(name);
  NUMBER(binding_count);
  NUMBER(constant_count);
  begin(json, "workgroup_size", '[');
  for (int i = 0; i < 3; ++i) put_number(json, NULL, row->workgroup_size[i]);
  end(json, ']');
  NUMBER(local_memory);
}
static void put_shape(json_t* json, const module_image_t* image, const module_shape_row_t* row) {
  TEXT(name);
  NUMBER(element_type);
  NUMBER(encoding_type);
  begin(json, "dims", '[');
  for (uint32_t i = 0; i < row->rank; ++i) {
    put_key(json, NULL);
    fprintf(json->file, "%" PRId64, image->dims[row->dim_first + i]);
  }
  end(json, ']');
}
static void put_table(json_t* json, const module_image_t* image, const module_table_row_t* row) {
  TEXT(name);
  NUMBER(param_count);
  NUMBER(slot_count);
  NUMBER(literal_count);
  NUMBER(command_count);
}

#define PUT_ROWS(field, put_row)                        \
  begin(&json, #field, '[');                            \
  for (uint32_t i = 0; i < image->field##_count; ++i) { \
    begin(&json, NULL, '{');                            \
    put_row(&json, image, &image->field[i]);            \
    end(&json, '}');                                    \
  }                                                     \
  end(&json, ']');

void module_dump_json(const module_image_t* image, bool pretty, FILE* file) {
  json_t json = {.file = file, .pretty = pretty, .depth = 1, .empty = true};
  fputc('{', file);
  put_text(&json, "name", module_image_string(image, image->header->name));
  put_number(&json, "version", image->header->version);
  put_attrs(&json, image, image->header->attr_first, image->header->attr_count);
  PUT_ROWS(dependencies, put_dependency);
  PUT_ROWS(imports, put_import);
  PUT_ROWS(exports, put_export);
  PUT_ROWS(functions, put_function);
  PUT_ROWS(globals, put_global);
  PUT_ROWS(devices, put_device);
  PUT_ROWS(targets, put_target);
  PUT_ROWS(segments, put_segment);
  PUT_ROWS(constants, put_constant);
  PUT_ROWS(executables, put_executable);
  PUT_ROWS(variants, put_variant);
  PUT_ROWS(points, put_point);
  PUT_ROWS(shapes, put_shape);
  PUT_ROWS(tables, put_table);
  end(&json, '}');
  fputc('\n', file);
}
