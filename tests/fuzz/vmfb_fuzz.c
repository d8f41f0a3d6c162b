// The loader of compiled modules, and the host programs it accepts: no bytes may crash either. Checksums are not
// compared in a fuzzing build, so that changed bytes reach the verifier. What is accepted is linked on a device that
// has no loaders (so native code never runs), initialized, and each of its functions is called with zeros and nulls.
//
// An input that begins with 'P' is a list of patches (position, byte: 3 bytes each) to a module that is made here,
// which gets much deeper than mutations of whole files do.
#include <stdint.h>

#include "iree/hal/api.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/modules/hal/module.h"
#include "iree/vm/api.h"
#include "iree/vm/bytecode/module.h"
#include "limited_allocator.h"
#include "module/archive.h"
#include "module/dump.h"
#include "module/writer.h"

//===----------------------------------------------------------------------------------------------------------------===
// The module that patches apply to
//===----------------------------------------------------------------------------------------------------------------===

#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))

static void add_device_function(module_writer_t* w, uint32_t device, uint32_t constant) {
  uint32_t shape =
      module_writer_shape(w, IREE_SV("s"), IREE_HAL_ELEMENT_TYPE_FLOAT_32, 1, 2, (int64_t[]){2, MODULE_DIM_DYNAMIC});
  module_table_t* t = module_writer_table(w, IREE_SV("t"), 1);
  uint32_t slot = module_table_argument_slot(t, 0, 64), weights = module_table_constant_slot(t, constant);
  module_table_fill(t, (module_binding_t){slot, MODULE_LIT(0), MODULE_PARAM(0)}, MODULE_LIT(1), 2);
  module_table_barrier(t);
  module_table_copy(t, (module_binding_t){weights, MODULE_LIT(0), MODULE_LIT(8)},
                    (module_binding_t){slot, MODULE_LIT(8), MODULE_LIT(8)});
  module_table_update(t, 0, MODULE_LIT(0), (module_binding_t){slot, MODULE_LIT(0), MODULE_LIT(8)});
  module_function_t* f = module_writer_function(w, IREE_SV("d"), IREE_SV("0I_r"));
  module_reg_t null = module_function_null(f), size = module_function_i64(f, 64), two = module_function_i64(f, 2);
  module_reg_t stream = module_emit_value(f, hal_stream_begin, MODULE_INDEX(device), MODULE_REG(null), MODULE_IMM(0));
  module_reg_t arena = module_emit_value(f, hal_transient_acquire, MODULE_REG(stream), MODULE_REG(size));
  module_reg_t out = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(size));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)),
              REGS(module_function_argument(f, 0)), REGS(arena));
  module_emit(f, hal_copy, MODULE_REG(stream), MODULE_REG(arena), MODULE_REG(two), MODULE_REG(out), MODULE_REG(two),
              MODULE_REG(two));
  module_reg_t part = module_emit_value(f, hal_subspan, MODULE_REG(out), MODULE_REG(two), MODULE_REG(two));
  module_emit(f, hal_fill, MODULE_REG(stream), MODULE_REG(part), MODULE_REG(module_function_i64(f, 0)), MODULE_REG(two),
              MODULE_REG(module_function_i32(f, 3)), MODULE_IMM(1));
  module_emit(f, hal_update, MODULE_REG(stream), MODULE_INDEX(0), MODULE_REG(two), MODULE_REG(out), MODULE_REG(two),
              MODULE_REG(two));
  module_reg_t fence = module_emit_value(f, hal_stream_fence, MODULE_REG(stream));
  module_emit(f, hal_fence_await, MODULE_REG(fence));
  module_emit_value(f, hal_load_f32, MODULE_REG(stream), MODULE_REG(out), MODULE_REG(module_function_i64(f, 4)));
  module_emit(f, hal_transient_release, MODULE_REG(stream), MODULE_REG(arena));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
  module_reg_t view = module_function_ref(f), again = module_function_ref(f);
  module_reg_t dim = module_function_register(f, VM_TYPE_I64);
  module_emit(f, hal_view_create, MODULE_REG(view), MODULE_REG(out), MODULE_INDEX(shape), REGS(two));
  module_emit(f, hal_view_unwrap, MODULE_REG(again), REGS(dim), MODULE_REG(view), MODULE_INDEX(shape));
  module_emit(f, return, REGS(view));
  module_writer_export(w, IREE_SV("d"), f, 0, NULL);
}

static void add_host_function(module_writer_t* w) {
  uint32_t value = module_writer_global(w, IREE_SV("v"), VM_TYPE_I64, 1);
  uint32_t kept = module_writer_global(w, IREE_SV("r"), VM_TYPE_REF, 0);
  module_function_t* f = module_writer_function(w, IREE_SV("h"), IREE_SV("0iI_Ir"));
  module_reg_t i = module_function_argument(f, 0), n = module_function_argument(f, 1);
  module_label_t loop = module_function_label(f), end = module_function_label(f);
  module_reg_t list = module_emit_value(f, list_create, MODULE_REG(i)), one = module_function_i32(f, 1);
  module_reg_t buffer = module_emit_value(f, buffer_alloc, MODULE_REG(module_function_i64(f, 24)));
  module_emit(f, list_resize, MODULE_REG(list), MODULE_REG(module_function_i32(f, 3)));
  module_function_bind(f, loop);
  module_emit(f, i64_add, MODULE_REG(n), MODULE_REG(n), MODULE_REG(n));
  module_emit(f, list_set, MODULE_REG(list), MODULE_REG(i), MODULE_REG(n));
  module_emit(f, buffer_store_i64, MODULE_REG(buffer), MODULE_REG(module_function_i64(f, 8)), MODULE_REG(n));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(one), MODULE_REG(buffer));
  module_reg_t back = module_emit_value(f, list_get_ref, MODULE_REG(list), MODULE_REG(one));
  module_emit(f, global_store_ref, MODULE_INDEX(kept), MODULE_REG(back));
  module_emit(f, global_load, MODULE_REG(n), MODULE_INDEX(value));
  module_emit(f, i32_add, MODULE_REG(i), MODULE_REG(i), MODULE_REG(one));
  module_emit(f, switch, MODULE_REG(i), MODULE_LABEL(end), MODULE_LABELS(2, ((module_label_t[]){loop, loop})));
  module_function_bind(f, end);
  module_emit(f, return, REGS(n, list));
  module_writer_export(w, IREE_SV("h"), f, 1, (module_pair_t[]){{IREE_SV("key"), IREE_SV("value")}});
  module_function_t* g = module_writer_function(w, IREE_SV("g"), IREE_SV("0v_v"));
  module_reg_t gn = module_function_i64(g, 3), gr = module_function_ref(g), gi = module_function_i32(g, 0);
  module_emit(g, call, REGS(gn, gr), MODULE_INDEX(module_function_index(f)), REGS(gi, gn));
  module_emit(g, fail_if, MODULE_REG(gi), MODULE_IMM(3), MODULE_INDEX(module_writer_string(w, IREE_SV("no"))));
  module_emit(g, return, MODULE_LIST(0, NULL));
  module_writer_initializer(w, g);
}

static iree_byte_span_t make_module(void) {
  static const uint8_t data[64] = {1, 2, 3};
  module_writer_t* w = NULL;
  iree_byte_span_t module;
  IREE_CHECK_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  uint32_t device = module_writer_device(w, IREE_SV("d"), 0);
  uint32_t segment = module_writer_segment(
      w, &(module_segment_t){.entry = IREE_SV("constants/x.bin"), .data = {data, sizeof(data)}, .alignment = 64});
  uint32_t constant = module_writer_constant(w, device, segment, 0, sizeof(data));
  add_device_function(w, device, constant);
  add_host_function(w);
  IREE_CHECK_OK(module_writer_finish_memory(w, iree_allocator_system(), &module));
  module_writer_destroy(w);
  return module;
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_device(iree_allocator_t allocator, iree_hal_device_t** out_device) {
  iree_hal_allocator_t* memory = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(IREE_SV("local"), allocator, allocator, &memory));
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
  iree_status_t status = iree_hal_sync_device_create(IREE_SV("local-sync"), &params, &create_params, 0, NULL, memory,
                                                     allocator, out_device);
  iree_hal_allocator_release(memory);
  return status;
}

// A list with a zero or a null for each argument.
static iree_status_t make_inputs(iree_string_view_t letters, iree_allocator_t allocator, iree_vm_list_t** out_list) {
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), letters.size, allocator, out_list));
  for (size_t i = 0; i < letters.size; ++i) {
    iree_vm_variant_t variant =
        letters.data[i] == 'r' ? iree_vm_variant_empty() : iree_vm_make_variant_value(iree_vm_value_make_i32(0));
    IREE_RETURN_IF_ERROR(iree_vm_list_push_variant_move(*out_list, &variant));
  }
  return iree_ok_status();
}

static void call_function(iree_vm_context_t* context, iree_vm_function_t function, iree_allocator_t allocator) {
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  iree_string_view_t arguments, results;
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_status_t status = iree_vm_function_call_get_cconv_fragments(&signature, &arguments, &results);
  if (iree_status_is_ok(status)) status = make_inputs(arguments, allocator, &inputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), results.size, allocator, &outputs);
  }
  if (iree_status_is_ok(status)) {
    status = iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs, allocator);
  }
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  iree_status_ignore(status);
}

static void run_module(iree_vm_instance_t* instance, iree_vm_module_t* module, iree_allocator_t allocator) {
  iree_hal_device_t* device = NULL;
  iree_hal_device_group_t* group = NULL;
  iree_vm_context_t* context = NULL;
  iree_vm_module_t* modules[2] = {NULL, module};
  iree_status_t status = create_device(allocator, &device);
  if (iree_status_is_ok(status)) status = iree_hal_device_group_create_from_device(device, NULL, allocator, &group);
  if (iree_status_is_ok(status)) {
    status = iree_hal_module_create(instance, iree_hal_module_device_policy_default(), group, IREE_HAL_MODULE_FLAG_NONE,
                                    iree_hal_module_debug_sink_null(), allocator, &modules[0]);
  }
  if (iree_status_is_ok(status)) {
    status = iree_vm_context_create(instance, IREE_VM_CONTEXT_FLAG_NONE, allocator, &context);
  }
  if (iree_status_is_ok(status)) {
    // Programs may loop or wait for ever.
    iree_vm_context_limits_t limits = {.max_steps = 20000, .max_duration_ns = 1000000000};
    status = iree_vm_context_set_limits(context, &limits);
  }
  if (iree_status_is_ok(status)) status = iree_vm_context_register_modules(context, 2, modules);
  iree_host_size_t count = iree_vm_module_signature(module).export_function_count;
  for (iree_host_size_t i = 0; iree_status_is_ok(status) && i < count && i < 8; ++i) {
    iree_vm_function_t function;
    if (iree_status_consume_code(iree_vm_module_lookup_function_by_ordinal(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i,
                                                                           &function)) == IREE_STATUS_OK) {
      call_function(context, function, allocator);
    }
  }
  iree_status_ignore(status);
  iree_vm_context_release(context);
  iree_vm_module_release(modules[0]);
  if (group) iree_hal_device_group_release(group);
  iree_hal_device_release(device);
}

static void dump(const uint8_t* data, size_t size, iree_allocator_t allocator) {
  module_image_t image;
  iree_status_t status = module_image_open(iree_make_const_byte_span(data, size), allocator, &image);
  if (iree_status_is_ok(status)) {
    FILE* file = fopen("/dev/null", "w");
    module_dump_disassembly(&image, true, file);
    module_dump_metadata(&image, size, file);
    fclose(file);
    module_image_close(&image, allocator);
  }
  iree_status_ignore(status);
}

static void load_and_run(const uint8_t* data, size_t size) {
  size_t used = 0;
  iree_allocator_t allocator = limited_allocator(&used);
  iree_vm_instance_t* instance = NULL;
  iree_vm_module_t* module = NULL;
  IREE_CHECK_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance));
  IREE_CHECK_OK(iree_hal_module_register_all_types(instance));
  iree_status_t status =
      iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE, iree_make_const_byte_span(data, size),
                                     iree_allocator_null(), allocator, &module);
  if (iree_status_is_ok(status)) {
    dump(data, size, allocator);
    run_module(instance, module, allocator);
    iree_vm_module_release(module);
  }
  iree_status_ignore(status);
  iree_vm_instance_release(instance);
  if (used) abort();  // something leaked
}

static void patch_and_run(const uint8_t* data, size_t size) {
  static iree_byte_span_t base;
  if (!base.data) base = make_module();
  uint8_t* copy = malloc(base.data_length);
  memcpy(copy, base.data, base.data_length);
  for (size_t i = 0; i + 3 <= size; i += 3) {
    copy[(data[i] | (size_t)data[i + 1] << 8) % base.data_length] = data[i + 2];
  }
  load_and_run(copy, base.data_length);
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size && data[0] == 'P') {
    // The local header's magic begins with 'P' too, and then has a 'K'.
    if (size < 2 || data[1] != 'K') {
      patch_and_run(data + 1, size - 1);
      return 0;
    }
  }
  load_and_run(data, size);
  return 0;
}
