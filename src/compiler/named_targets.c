// See named_targets.h.
#include "compiler/named_targets.h"

#include <string.h>

#include "dialects/builtin.h"
#include "dialects/hal.h"
#include "dialects/util.h"
#include "ir/parse_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

static const char* configured(ir_context_t* ctx, const hal_target_t* target, const char* name) {
  hal_text_t value;
  return hal_text_entry(target->configuration, name, &value) ? hal_text_string(ctx, value) : NULL;
}

static bool resolve_target(ir_context_t* ctx, const ir_op_t* module, const hal_target_t* named, target_t* out) {
  target_options_t options = {.backend = named->backend, .cpu = hal_target_processor(ctx, named)};
  bool is_cpu = strcmp(named->backend, "llvm-cpu") == 0;
  if (is_cpu) {
    options.triple = configured(ctx, named, "target_triple");
    options.features = configured(ctx, named, "cpu_features");
    options.abi = configured(ctx, named, "target_abi");
    options.system_elf = strncmp(named->format, "system-", 7) == 0;
    if (!options.cpu || !*options.cpu) options.cpu = "generic";
  }
  if (strcmp(named->backend, "rocm") == 0) {
    bool is_hip = strcmp(named->format, "rocm-hsaco-fb") == 0;
    options.container = is_hip ? TARGET_CONTAINER_HIP : TARGET_CONTAINER_AMDGPU;
  }
  if (!is_cpu) options.features = configured(ctx, named, "target_features");
  text_t error = {0};
  bool ok = target_resolve(&options, out, &error);
  if (!ok) ir_op_error(ctx, module, "has hal.device.targets that cannot be compiled for: %s", error.data);
  text_finish(&error);
  return ok;
}

static bool refuse_targets(ir_context_t* ctx, const ir_op_t* module) {
  return ir_op_error(ctx, module,
                     "has hal.device.targets that are not [#hal.device.target<\"name\", "
                     "[#hal.executable.target<\"backend\", \"format\", {...}>]>]");
}

typedef struct targets_t {
  target_t* items;
  uint32_t capacity, *count;
} targets_t;

// Several devices run the same code.
static bool has_target(const targets_t* targets, const target_t* target) {
  for (uint32_t i = 0; i < *targets->count; ++i) {
    const target_t* other = &targets->items[i];
    if (other->backend == target->backend && !strcmp(other->format, target->format) &&
        !strcmp(other->cpu, target->cpu) && !strcmp(other->features, target->features) &&
        !strcmp(other->triple, target->triple) && !strcmp(other->abi, target->abi)) {
      return true;
    }
  }
  return false;
}

// The executable targets of one #hal.device.target<"name", [...]>.
static bool read_device(ir_context_t* ctx, const ir_op_t* module, hal_text_t device, targets_t* out) {
  hal_text_t list, item, inner, one;
  const char* end = device.end;  // without its type
  while (end > device.at && end[-1] != '>') --end;
  if (!hal_text_enter((hal_text_t){device.at, end}, "#hal.device.target<", '>', &list)) {
    return refuse_targets(ctx, module);
  }
  while (hal_text_next(&list, &item)) {
    if (!hal_text_enter(item, "[", ']', &inner)) continue;
    while (hal_text_next(&inner, &one)) {
      hal_target_t named;
      target_t target;
      if (!hal_read_target(ctx, one, &named)) return refuse_targets(ctx, module);
      if (!resolve_target(ctx, module, &named, &target)) return false;
      if (has_target(out, &target)) continue;
      if (*out->count == out->capacity) return ir_op_error(ctx, module, "has more than %u targets", out->capacity);
      out->items[(*out->count)++] = target;
    }
  }
  return true;
}

static bool read_attr(ir_context_t* ctx, const ir_op_t* module, const ir_attr_t* device, targets_t* out) {
  text_t text = {0};
  ir_print_attr(&text, device);
  char* kept = arena_strndup(ir_context_arena(ctx), text.data, text.size);
  text_finish(&text);
  return read_device(ctx, module, hal_text_of(kept), out);
}

// The device that a global is, if it says what runs there.
static const ir_attr_t* device_of_global(const ir_op_t* op) {
  const ir_attr_t* value = ir_is(op, UTIL_GLOBAL) ? ir_op_attr(op, "initial_value") : NULL;
  bool is_one = value && value->kind == IR_ATTR_OPAQUE && strcmp(value->text, "hal.device.target") == 0;
  return is_one ? value : NULL;
}

bool named_targets_read(ir_context_t* ctx, const ir_op_t* module, target_t* targets, uint32_t capacity,
                        uint32_t* count) {
  targets_t out = {targets, capacity, count};
  const ir_attr_t* devices = ir_op_attr(module, "hal.device.targets");
  if (devices && devices->kind != IR_ATTR_ARRAY) return refuse_targets(ctx, module);
  for (uint32_t i = 0; devices && i < devices->count; ++i) {
    if (!read_attr(ctx, module, devices->items[i], &out)) return false;
  }
  IR_FOR_OPS(op, module->regions[0].first) {
    const ir_attr_t* device = device_of_global(op);
    if (device && !read_attr(ctx, module, device, &out)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static void put_entry(text_t* out, bool* first, const char* name, const char* value) {
  if (!*value) return;
  text_printf(out, "%s%s = \"%s\"", *first ? "" : ", ", name, value);
  *first = false;
}

static const char* device_name(const target_t* target) {
  if (target->backend == TARGET_CUDA) return "cuda";
  if (target->backend == TARGET_ROCM) return target->is_hip_container ? "hip" : "amdgpu";
  return "local";
}

static void put_target(text_t* out, const target_t* target) {
  bool is_cpu = target->backend == TARGET_LLVM_CPU, first = true;
  text_printf(out, "#hal.device.target<\"%s\", [#hal.executable.target<\"%s\", \"%s\", {", device_name(target),
              target_backend_name(target->backend), target->format);
  if (is_cpu) {
    put_entry(out, &first, "cpu", target->cpu);
    put_entry(out, &first, "cpu_features", target->features);
    put_entry(out, &first, "target_abi", target->abi);
    put_entry(out, &first, "target_triple", target->triple);
  } else if (target->backend != TARGET_VMVX) {
    put_entry(out, &first, "target_arch", target->cpu);
    put_entry(out, &first, "target_features", target->features);
  }
  text_puts(out, "}>]> : !hal.device");
}

void named_targets_write(ir_context_t* ctx, ir_op_t* module, const target_t* targets, uint32_t count) {
  if (!count || ir_op_attr(module, "hal.device.targets")) return;
  text_t text = {0};
  text_puts(&text, "[");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) text_puts(&text, ", ");
    put_target(&text, &targets[i]);
  }
  text_puts(&text, "]");
  char* kept = arena_strndup(ir_context_arena(ctx), text.data, text.size);
  const ir_attr_t* attr = ir_parse_attr_text(ctx, kept, text.size);
  if (attr) ir_op_set_attr(ctx, module, "hal.device.targets", attr);
  text_finish(&text);
}
