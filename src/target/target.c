// Backends by name, and resolving flag values to a target.
#include "target/target.h"

#include <string.h>

#include "base/memory.h"
#include "target/backend.h"
#include "target/entry.h"
#include "target/resolve.h"

// The build defines IREE_TARGET_BACKEND_<ENUM> as 1 or 0 for each.
static const struct {
  const char *name, *option;
  bool is_built;
} backends[TARGET_BACKEND_COUNT] = {
#define BACKEND(name, text) [TARGET_##name] = {text, "IREE_TARGET_BACKEND_" #name, IREE_TARGET_BACKEND_##name},
    TARGET_BACKENDS(BACKEND)
#undef BACKEND
};

const char* target_backend_name(target_backend_t backend) { return backends[backend].name; }

bool target_backend_is_built(target_backend_t backend) { return backends[backend].is_built; }

bool target_backend_find(const char* name, target_backend_t* out, text_t* error) {
  const char* option = NULL;                            // that left it out
  if (strcmp(name, "vmvx-inline") == 0) name = "vmvx";  // whose kernels can be in the program
  for (int i = 0; i < TARGET_BACKEND_COUNT; ++i) {
    if (strcmp(backends[i].name, name) != 0) continue;
    *out = (target_backend_t)i;
    if (backends[i].is_built) return true;
    option = backends[i].option;
  }
  text_printf(error, "target backend '%s' not registered", name);
  if (option) text_printf(error, " (this compiler was built with -D%s=OFF)", option);
  text_puts(error, "; registered backends: [");
  const char* separator = "";
  for (int i = 0; i < TARGET_BACKEND_COUNT; ++i) {
    if (!backends[i].is_built) continue;
    text_printf(error, "%s%s", separator, backends[i].name);
    separator = ", ";
  }
  text_puts(error, "]");
  return false;
}

bool resolve_copy(char* out, size_t capacity, const char* value, const char* what, text_t* error) {
  size_t size = strlen(value);
  if (size >= capacity) {
    text_printf(error, "%s is longer than %zu characters", what, capacity - 1);
    return false;
  }
  memcpy(out, value, size + 1);
  return true;
}

bool resolve_check_features(const char* given, resolve_feature_fn_t is_known, const void* user, const char* processor,
                            text_t* error) {
  for (const char* at = given; at && *at;) {
    size_t size = strcspn(at, ",");
    if (size < 2 || (*at != '+' && *at != '-')) {
      text_printf(error, "feature '%.*s' must start with + or -", (int)size, at);
      return false;
    }
    near_t near = near_begin(at + 1, size - 1);
    if (!is_known(user, at + 1, size - 1, &near)) {
      const char* meant = near_result(&near);
      text_printf(error, "%s has no feature '%.*s'%s%s%s", processor, (int)size - 1, at + 1,
                  meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
      return false;
    }
    at += size + (at[size] == ',');
  }
  return true;
}

static bool resolve_cpu(const target_options_t* options, target_t* out, text_t* error) {
  if (resolve_cpu_is_other(options->triple)) return resolve_cpu_other(options, out, error);
  return resolve_x86(options, out, error);
}

bool target_resolve(const target_options_t* options, target_t* out, text_t* error) {
  static const resolve_fn_t resolvers[TARGET_BACKEND_COUNT] = {[TARGET_LLVM_CPU] = resolve_cpu,
                                                               [TARGET_CUDA] = resolve_nvptx,
                                                               [TARGET_ROCM] = resolve_amdgpu,
                                                               [TARGET_VMVX] = resolve_vmvx};
  *out = (target_t){0};
  if (!target_backend_find(options->backend ? options->backend : "", &out->backend, error)) return false;
  return resolvers[out->backend](options, out, error);
}

bool target_has_mma(const target_t* target, const char* instruction) {
  for (int32_t i = 0; i < target->device.mma_count; ++i) {
    if (strcmp(target->device.mma[i].instruction, instruction) == 0) return true;
  }
  return false;
}

bool target_runs_here(const target_t* target) {
  return target->backend == TARGET_LLVM_CPU && target->arch == TARGET_ARCH_X86 && resolve_x86_runs_here(target);
}

const char* target_known_name(target_backend_t backend, uint32_t index) {
  static const resolve_name_fn_t names[TARGET_BACKEND_COUNT] = {
      [TARGET_LLVM_CPU] = resolve_x86_name, [TARGET_CUDA] = resolve_nvptx_name, [TARGET_ROCM] = resolve_amdgpu_name};
  return names[backend] ? names[backend](index) : NULL;
}

const char* target_member_name(target_backend_t backend, const char* name, uint32_t index) {
  return backend == TARGET_ROCM ? resolve_amdgpu_member(name, index) : NULL;
}

bool resolve_vmvx(const target_options_t* options, target_t* out, text_t* error) {
  memcpy(out->format, "vmvx-bytecode-fb", 17);
  memcpy(out->name, "vmvx", 5);
  memcpy(out->cpu, "vmvx", 5);
  // Sizes by which strategies choose tiles: short vectors, whose setup the interpreter pays once per instruction.
  out->device = (device_info_t){.kind = DEVICE_CPU,
                                .vector_bytes = 64,
                                .vector_registers = 64,
                                .has_fma = true,
                                .has_masks = true,
                                .l1_bytes = 32 << 10,
                                .l2_bytes = 512 << 10};
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Compiling
//===----------------------------------------------------------------------------------------------------------------===

static bool create_entries(ir_op_t* const* funcs, uint32_t count, target_executable_t* out, text_t* error) {
  out->entries = memory_array(count ? count : 1, sizeof(target_entry_t));
  out->entry_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    out->entries[i].name = memory_strdup(ir_op_string(funcs[i], "sym_name", "kernel"));
    if (!entry_describe(funcs[i], &out->entries[i], error)) return false;
    for (uint32_t j = 0; j < i; ++j) {
      if (strcmp(out->entries[i].name, out->entries[j].name) != 0) continue;
      text_printf(error, "two kernels are called @%s", out->entries[i].name);
      return false;
    }
  }
  return true;
}

void target_executable_finish(target_executable_t* executable) {
  for (uint32_t i = 0; i < executable->entry_count; ++i) memory_free(executable->entries[i].name);
  memory_free(executable->entries);
  memory_free(executable->data);
  memory_free(executable->cubin);
  memory_free(executable->remarks);
  *executable = (target_executable_t){0};
}

// One file for each kernel: <prefix><kernel>.mlir.
static bool dump_kernels(ir_op_t* const* funcs, uint32_t count, ir_context_t* context, const char* folder,
                         const char* prefix, text_t* error) {
  bool ok = true;
  for (uint32_t i = 0; folder && context && ok && i < count; ++i) {
    text_t text = {0}, name = {0};
    text_puts(&text, "module {\n");
    ir_print_op(context, &text, funcs[i], 0, 0);
    text_puts(&text, "\n}\n");
    text_printf(&name, "%s%s.mlir", prefix, ir_op_string(funcs[i], "sym_name", "kernel"));
    ok = dump_write_file(folder, name.data, text.data, text.size, error);
    text_finish(&text);
    text_finish(&name);
  }
  return ok;
}

bool target_compile(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                    const target_compile_options_t* options, target_executable_t* out, text_t* error) {
  *out = (target_executable_t){0};
  const target_dump_t* dump = &options->dump;
  bool ok = create_entries(funcs, count, out, error) &&
            dump_kernels(funcs, count, options->context, dump->sources, "module_", error) &&
            dump_kernels(funcs, count, options->context, dump->configurations, "configured_module_", error);
  if (ok && target->backend == TARGET_VMVX) {
    ok = backend_vmvx(target, funcs, count, options, out, error);
  } else if (ok) {
    ok = backend_llvm(target, funcs, count, options, out, error);
  }
  if (!ok) target_executable_finish(out);
  return ok;
}
