// Parsing and matching of target names; the table of processors is base/processors/amd.def.
#include "hal/gpu/code_object/target_id.h"

#include <elf.h>

typedef struct processor_t {
  uint32_t machine;
  const char* name;
  const char* generic;  // "NONE" without
} processor_t;

static const processor_t processors[] = {
#define ARCH(name, machine, generic, ...) {machine, #name, #generic},
#include "base/processors/amd.def"
};

// ELF header flags, code object version 4 and later.
enum {
  FLAG_MACHINE = 0xFF,
  FLAG_XNACK_SHIFT = 8,
  FLAG_SRAMECC_SHIFT = 10,
  SETTING_OFF = 2,
  SETTING_ON = 3,
};

static bool parse_feature(iree_string_view_t text, target_id_t* target) {
  target_feature_t value = iree_string_view_consume_suffix(&text, IREE_SV("+"))   ? TARGET_FEATURE_ON
                           : iree_string_view_consume_suffix(&text, IREE_SV("-")) ? TARGET_FEATURE_OFF
                                                                                  : TARGET_FEATURE_ANY;
  if (value == TARGET_FEATURE_ANY) return false;
  if (iree_string_view_equal(text, IREE_SV("sramecc"))) {
    target->sramecc = value;
  } else if (iree_string_view_equal(text, IREE_SV("xnack"))) {
    target->xnack = value;
  } else {
    return false;
  }
  return true;
}

bool target_id_read(iree_string_view_t text, target_id_t* out_target) {
  memset(out_target, 0, sizeof(*out_target));
  iree_string_view_t rest = text, processor;
  iree_string_view_consume_prefix(&rest, IREE_SV("amdgcn-amd-amdhsa--"));
  iree_string_view_split(rest, ':', &processor, &rest);
  bool valid = iree_string_view_starts_with(processor, IREE_SV("gfx")) && processor.size > 3 &&
               processor.size < sizeof(out_target->processor);
  if (valid) memcpy(out_target->processor, processor.data, processor.size);
  while (valid && rest.size) {
    iree_string_view_t feature;
    iree_string_view_split(rest, ':', &feature, &rest);
    valid = parse_feature(feature, out_target);
  }
  return valid;
}

iree_status_t target_id_parse(iree_string_view_t text, target_id_t* out_target) {
  if (target_id_read(text, out_target)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is no AMD GPU target", (int)text.size, text.data);
}

static iree_status_t append_feature(target_feature_t value, const char* name, iree_string_builder_t* builder) {
  if (value == TARGET_FEATURE_ANY) return iree_ok_status();
  return iree_string_builder_append_format(builder, ":%s%c", name, value == TARGET_FEATURE_ON ? '+' : '-');
}

iree_status_t target_id_append(const target_id_t* target, iree_string_builder_t* builder) {
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, target->processor));
  IREE_RETURN_IF_ERROR(append_feature(target->sramecc, "sramecc", builder));
  return append_feature(target->xnack, "xnack", builder);
}

const char* target_id_generic(const char* processor) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(processors); ++i) {
    if (strcmp(processors[i].name, processor) != 0) continue;
    return strcmp(processors[i].generic, "NONE") == 0 ? NULL : processors[i].generic;
  }
  return NULL;
}

static bool features_fit(target_feature_t code, target_feature_t device) {
  return code == TARGET_FEATURE_ANY || device == TARGET_FEATURE_ANY || code == device;
}

target_match_t target_id_match(const target_id_t* code, const target_id_t* device) {
  if (!features_fit(code->sramecc, device->sramecc) || !features_fit(code->xnack, device->xnack)) {
    return TARGET_MATCH_NONE;
  }
  if (!strcmp(code->processor, device->processor)) return TARGET_MATCH_EXACT;
  const char* generic = target_id_generic(device->processor);
  return generic && !strcmp(code->processor, generic) ? TARGET_MATCH_GENERIC : TARGET_MATCH_NONE;
}

static target_feature_t feature_of(uint32_t flags, int shift) {
  uint32_t setting = flags >> shift & 3;
  return setting == SETTING_ON ? TARGET_FEATURE_ON : setting == SETTING_OFF ? TARGET_FEATURE_OFF : TARGET_FEATURE_ANY;
}

bool target_id_is_code(iree_const_byte_span_t data) {
  Elf64_Ehdr header;
  if (data.data_length < sizeof(header)) return false;
  memcpy(&header, data.data, sizeof(header));
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_AMDGPU;
}

iree_status_t target_id_from_elf(iree_const_byte_span_t data, target_id_t* out_target) {
  memset(out_target, 0, sizeof(*out_target));
  Elf64_Ehdr header;
  if (data.data_length < sizeof(header)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a code object of %" PRIhsz " bytes has no ELF header",
                            data.data_length);
  }
  if (!target_id_is_code(data)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "not an ELF code object for AMD GPUs");
  }
  memcpy(&header, data.data, sizeof(header));
  for (size_t i = 0; i < IREE_ARRAYSIZE(processors); ++i) {
    if (processors[i].machine != (header.e_flags & FLAG_MACHINE)) continue;
    snprintf(out_target->processor, sizeof(out_target->processor), "%s", processors[i].name);
    out_target->xnack = feature_of(header.e_flags, FLAG_XNACK_SHIFT);
    out_target->sramecc = feature_of(header.e_flags, FLAG_SRAMECC_SHIFT);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "code object for an unknown AMD processor 0x%02X",
                          header.e_flags & FLAG_MACHINE);
}
