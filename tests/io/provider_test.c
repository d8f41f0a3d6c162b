// Archives that are built and read again, providers on a device, and the module that programs ask.

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/io/formats/irpa/irpa_builder.h"
#include "iree/io/formats/irpa/irpa_parser.h"
#include "iree/io/parameter_index_provider.h"
#include "iree/io/scope_map.h"
#include "iree/modules/io/parameters/module.h"

#define EXPECT_OK(expression) assert_int_equal(iree_status_consume_code(expression), IREE_STATUS_OK)
#define EXPECT_CODE(code, expression) assert_int_equal(iree_status_consume_code(expression), code)

static const float weights[4] = {1, 2, 3, 4};

// An archive in memory: "w" (16 bytes), the splat "s" (12 bytes of i16 7), "m" with metadata (8 bytes).
typedef struct archive_t {
  uint8_t* bytes;
  iree_io_file_handle_t* handle;
  iree_io_parameter_index_t *built, *read;
} archive_t;

static void declare(iree_io_parameter_archive_builder_t* builder) {
  int16_t seven = 7;
  assert_true(iree_io_parameter_archive_builder_is_empty(builder));
  EXPECT_OK(
      iree_io_parameter_archive_builder_add_data_entry(builder, IREE_SV("w"), iree_const_byte_span_empty(), 256, 16));
  EXPECT_OK(iree_io_parameter_archive_builder_add_splat_entry(builder, IREE_SV("s"), iree_const_byte_span_empty(),
                                                              &seven, 2, 12));
  EXPECT_OK(iree_io_parameter_archive_builder_add_data_entry(builder, IREE_SV("m"),
                                                             iree_make_const_byte_span("meta", 4), 0, 8));
  EXPECT_CODE(IREE_STATUS_ALREADY_EXISTS, iree_io_parameter_archive_builder_add_data_entry(
                                              builder, IREE_SV("w"), iree_const_byte_span_empty(), 1, 16));
  EXPECT_CODE(IREE_STATUS_INVALID_ARGUMENT, iree_io_parameter_archive_builder_add_splat_entry(
                                                builder, IREE_SV("x"), iree_const_byte_span_empty(), &seven, 3, 12));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_parameter_archive_builder_add_data_entry(
                                            builder, IREE_SV("x"), iree_const_byte_span_empty(), 1, UINT64_MAX));
  assert_false(iree_io_parameter_archive_builder_is_empty(builder));
}

static void make_archive(archive_t* a) {
  iree_io_parameter_archive_builder_t builder;
  iree_io_stream_t* stream = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  EXPECT_OK(iree_io_parameter_archive_builder_initialize(allocator, &builder));
  declare(&builder);
  size_t size = iree_io_parameter_archive_builder_total_size(&builder);
  assert_int_equal(size % 4096, 0);
  a->bytes = aligned_alloc(4096, size);
  memset(a->bytes, 0xcc, size);
  EXPECT_OK(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE, iree_make_byte_span(a->bytes, size),
      iree_io_file_handle_release_callback_null(), allocator, &a->handle));
  EXPECT_OK(iree_io_parameter_index_create(allocator, &a->built));
  EXPECT_OK(iree_io_parameter_index_create(allocator, &a->read));
  EXPECT_OK(iree_io_stream_open(IREE_IO_STREAM_MODE_WRITABLE, a->handle, 0, allocator, &stream));
  EXPECT_OK(iree_io_parameter_archive_builder_write(&builder, a->handle, 0, stream, a->built));
  iree_io_stream_release(stream);
  iree_io_parameter_archive_builder_deinitialize(&builder);
  const iree_io_parameter_index_entry_t* entry = NULL;
  EXPECT_OK(iree_io_parameter_index_lookup(a->built, IREE_SV("w"), &entry));
  assert_int_equal(entry->storage.file.offset % 256, 0);
  memcpy(a->bytes + entry->storage.file.offset, weights, 16);
  EXPECT_OK(iree_io_parse_irpa_index(a->handle, a->read, allocator));
}

static void drop_archive(archive_t* a) {
  iree_io_parameter_index_release(a->built);
  iree_io_parameter_index_release(a->read);
  iree_io_file_handle_release(a->handle);
  free(a->bytes);
}

// What was declared is what a reader finds, in the same places.
static void round_trip(void** state) {
  archive_t a;
  make_archive(&a);
  assert_int_equal(iree_io_parameter_index_count(a.read), 3);
  for (iree_host_size_t i = 0; i < 3; ++i) {
    const iree_io_parameter_index_entry_t *built = NULL, *read = NULL;
    EXPECT_OK(iree_io_parameter_index_get(a.built, i, &built));
    EXPECT_OK(iree_io_parameter_index_get(a.read, i, &read));
    assert_true(iree_string_view_equal(built->key, read->key));
    assert_int_equal(built->length, read->length);
    assert_int_equal(built->type, read->type);
    assert_int_equal(built->metadata.data_length, read->metadata.data_length);
    if (built->metadata.data_length) assert_memory_equal(read->metadata.data, "meta", 4);
    if (built->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
      assert_int_equal(built->storage.file.offset, read->storage.file.offset);
    } else {
      assert_int_equal(read->storage.splat.pattern_length, 2);
    }
  }
  const iree_io_parameter_index_entry_t* none = NULL;
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, iree_io_parameter_index_get(a.read, 3, &none));
  EXPECT_CODE(IREE_STATUS_NOT_FOUND, iree_io_parameter_index_lookup(a.read, IREE_SV("v"), &none));
  drop_archive(&a);
}

// Many entries are found, and the first of two with one key.
static void many_entries(void** state) {
  iree_io_parameter_index_t* index = NULL;
  iree_io_scope_map_t scopes;
  iree_io_scope_map_initialize(iree_allocator_system(), &scopes);
  for (int i = 0; i < 9; ++i) {
    char scope[2] = {(char)('a' + i % 8), 0};
    EXPECT_OK(iree_io_scope_map_lookup(&scopes, iree_make_cstring_view(scope), &index));
  }
  assert_int_equal(scopes.count, 8);
  assert_ptr_equal(index, scopes.entries[0]->index);
  for (uint64_t i = 0; i < 1000; ++i) {
    char key[16];
    snprintf(key, sizeof(key), "k%d", (int)(i % 900));
    iree_io_parameter_index_entry_t entry = {.key = iree_make_cstring_view(key), .length = i};
    entry.storage.splat.pattern_length = 1;
    EXPECT_OK(iree_io_parameter_index_add(index, &entry));
  }
  const iree_io_parameter_index_entry_t* entry = NULL;
  EXPECT_OK(iree_io_parameter_index_lookup(index, IREE_SV("k899"), &entry));
  assert_int_equal(entry->length, 899);
  EXPECT_OK(iree_io_parameter_index_lookup(index, IREE_SV("k50"), &entry));
  assert_int_equal(entry->length, 50);
  iree_io_scope_map_deinitialize(&scopes);
}

//===----------------------------------------------------------------------------------------------------------------===
// Providers
//===----------------------------------------------------------------------------------------------------------------===

static iree_hal_device_t* make_device(void) {
  iree_hal_allocator_t* memory = NULL;
  iree_hal_device_t* device = NULL;
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
  iree_allocator_t allocator = iree_allocator_system();
  EXPECT_OK(iree_hal_allocator_create_heap(IREE_SV("test"), allocator, allocator, &memory));
  EXPECT_OK(iree_hal_sync_device_create(IREE_SV("test"), &params, &create_params, 0, NULL, memory, allocator, &device));
  iree_hal_allocator_release(memory);
  return device;
}

typedef struct request_t {
  const char* key;
  iree_io_parameter_span_t span;
} request_t;

static iree_status_t enumerate(void* user_data, iree_host_size_t i, iree_string_view_t* out_key,
                               iree_io_parameter_span_t* out_span) {
  const request_t* requests = user_data;
  *out_key = iree_make_cstring_view(requests[i].key);
  *out_span = requests[i].span;
  return iree_ok_status();
}

static iree_status_t collect(void* user_data, iree_host_size_t i, iree_hal_buffer_t* buffer) {
  iree_hal_buffer_retain(buffer);
  ((iree_hal_buffer_t**)user_data)[i] = buffer;
  return iree_ok_status();
}

static iree_hal_buffer_t* make_buffer(iree_hal_device_t* device, iree_device_size_t size) {
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
  };
  iree_hal_buffer_t* buffer = NULL;
  EXPECT_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, size, &buffer));
  EXPECT_OK(iree_hal_buffer_map_zero(buffer, 0, size));
  return buffer;
}

typedef struct fixture_t {
  archive_t archive;
  iree_hal_device_t* device;
  iree_io_parameter_provider_t* provider;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} fixture_t;

static void begin(fixture_t* f) {
  make_archive(&f->archive);
  f->device = make_device();
  f->value = 0;
  EXPECT_OK(iree_io_parameter_index_provider_create(IREE_SV("model"), f->archive.read, 2, iree_allocator_system(),
                                                    &f->provider));
  EXPECT_OK(iree_hal_semaphore_create(f->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                      &f->semaphore));
}

static void end(fixture_t* f) {
  iree_hal_semaphore_release(f->semaphore);
  iree_io_parameter_provider_release(f->provider);
  iree_hal_device_release(f->device);
  drop_archive(&f->archive);
}

static iree_hal_semaphore_list_t next_signal(fixture_t* f) {
  ++f->value;
  return (iree_hal_semaphore_list_t){1, &f->semaphore, &f->value};
}

static void await(fixture_t* f) {
  EXPECT_OK(iree_hal_semaphore_wait(f->semaphore, f->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void gathers(void** state) {
  fixture_t f;
  begin(&f);
  uint8_t got[32], expected[32] = {0};
  request_t requests[] = {{"w", {4, 0, 8}}, {"s", {0, 8, 12}}, {"s", {1, 21, 3}}, {"w", {12, 28, 4}}};
  iree_io_parameter_enumerator_t enumerator = {enumerate, requests};
  iree_hal_buffer_t* buffer = make_buffer(f.device, 32);
  assert_true(iree_io_parameter_provider_query_support(f.provider, IREE_SV("model")));
  assert_false(iree_io_parameter_provider_query_support(f.provider, IREE_SV("")));
  EXPECT_OK(iree_io_parameter_provider_notify(f.provider, IREE_IO_PARAMETER_PROVIDER_SIGNAL_LOW_MEMORY));
  EXPECT_OK(iree_io_parameter_provider_gather(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                              iree_hal_semaphore_list_empty(), next_signal(&f), IREE_SV("model"),
                                              buffer, 4, enumerator));
  await(&f);
  memcpy(expected, weights + 1, 8);
  for (int i = 0; i < 6; ++i) memcpy(expected + 8 + 2 * i, &(int16_t){7}, 2);
  expected[22] = 7;  // bytes 1 to 3 of 07 00 07 00
  memcpy(expected + 28, weights + 3, 4);
  EXPECT_OK(iree_hal_buffer_map_read(buffer, 0, got, 32));
  assert_memory_equal(got, expected, 32);
  requests[0].span.length = 13;
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE,
              iree_io_parameter_provider_gather(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                iree_hal_semaphore_list_empty(), iree_hal_semaphore_list_empty(),
                                                IREE_SV("model"), buffer, 1, enumerator));
  requests[0].key = "none";
  EXPECT_CODE(IREE_STATUS_NOT_FOUND,
              iree_io_parameter_provider_gather(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                iree_hal_semaphore_list_empty(), iree_hal_semaphore_list_empty(),
                                                IREE_SV("model"), buffer, 1, enumerator));
  iree_hal_buffer_release(buffer);
  end(&f);
}

// What is written is in the file, and what is no file cannot be.
static void writes(void** state) {
  fixture_t f;
  begin(&f);
  iree_hal_buffer_t* buffer = make_buffer(f.device, 16);
  EXPECT_OK(iree_hal_buffer_map_write(buffer, 4, "abcd", 4));
  EXPECT_OK(iree_io_parameter_provider_write(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                             iree_hal_semaphore_list_empty(), next_signal(&f), buffer, 4,
                                             IREE_SV("model"), IREE_SV("w"), 8, 4));
  await(&f);
  const iree_io_parameter_index_entry_t* entry = NULL;
  EXPECT_OK(iree_io_parameter_index_lookup(f.archive.read, IREE_SV("w"), &entry));
  assert_memory_equal(f.archive.bytes + entry->storage.file.offset + 8, "abcd", 4);
  EXPECT_CODE(IREE_STATUS_PERMISSION_DENIED,
              iree_io_parameter_provider_write(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                               iree_hal_semaphore_list_empty(), iree_hal_semaphore_list_empty(), buffer,
                                               0, IREE_SV("model"), IREE_SV("s"), 0, 4));
  iree_hal_buffer_release(buffer);
  end(&f);
}

// Buffers to read are the file's memory; those to write are not.
static void loads(void** state) {
  fixture_t f;
  begin(&f);
  request_t requests[] = {{"w", {0, 0, 16}}, {"s", {2, 0, 4}}};
  iree_io_parameter_enumerator_t enumerator = {enumerate, requests};
  for (int writable = 0; writable < 2; ++writable) {
    iree_hal_buffer_t* buffers[2] = {NULL, NULL};
    iree_io_parameter_emitter_t emitter = {collect, buffers};
    iree_hal_buffer_params_t params = {
        .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
        .access = IREE_HAL_MEMORY_ACCESS_READ | (writable ? IREE_HAL_MEMORY_ACCESS_WRITE : 0),
        .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
    };
    EXPECT_OK(iree_io_parameter_provider_load(f.provider, f.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                              iree_hal_semaphore_list_empty(), next_signal(&f), IREE_SV("model"),
                                              params, 2, enumerator, emitter));
    await(&f);
    iree_hal_buffer_mapping_t mapping = {{0}};
    EXPECT_OK(iree_hal_buffer_map_range(buffers[0], IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0, 16,
                                        &mapping));
    assert_memory_equal(mapping.contents.data, weights, 16);
    bool in_place = mapping.contents.data > f.archive.bytes && mapping.contents.data < f.archive.bytes + 4096;
    assert_int_equal(in_place, !writable);
    EXPECT_OK(iree_hal_buffer_unmap_range(&mapping));
    int16_t splat[2];
    EXPECT_OK(iree_hal_buffer_map_read(buffers[1], 0, splat, 4));
    assert_int_equal(splat[0] + splat[1], 14);
    iree_hal_buffer_release(buffers[0]);
    iree_hal_buffer_release(buffers[1]);
  }
  end(&f);
}

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

// A provider of an application's own: every parameter of scope "own" is the letter `a`.
static bool own_query_support(iree_io_parameter_provider_t* provider, iree_string_view_t scope) {
  return iree_string_view_equal(scope, IREE_SV("own"));
}
static iree_status_t own_gather(iree_io_parameter_provider_t* provider, iree_hal_device_t* device,
                                iree_hal_queue_affinity_t affinity, const iree_hal_semaphore_list_t wait,
                                const iree_hal_semaphore_list_t signal, iree_string_view_t scope,
                                iree_hal_buffer_t* target, iree_host_size_t count,
                                iree_io_parameter_enumerator_t enumerator) {
  iree_string_view_t key;
  iree_io_parameter_span_t span;
  IREE_RETURN_IF_ERROR(enumerator.fn(enumerator.user_data, 0, &key, &span));
  return iree_hal_device_queue_fill(device, affinity, wait, signal, target, span.buffer_offset, span.length, "a", 1,
                                    IREE_HAL_FILL_FLAG_NONE);
}
static void own_destroy(iree_io_parameter_provider_t* IREE_RESTRICT provider) {}
static const iree_io_parameter_provider_vtable_t own_vtable = {
    .destroy = own_destroy, .query_support = own_query_support, .gather = own_gather};

static iree_status_t push_text(iree_vm_list_t* list, const char* text) {
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, strlen(text), 0, iree_allocator_system(), &buffer));
  memcpy(buffer->data.data, text, strlen(text));
  iree_vm_ref_t ref = iree_vm_buffer_move_ref(buffer);
  return iree_vm_list_push_ref_move(list, &ref);
}

// Calls io_parameters.find; `out` gets what it returns.
static iree_status_t call_find(iree_vm_context_t* context, const char* scope, const char* key, int64_t length,
                               uint8_t* out) {
  iree_vm_function_t function;
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_vm_value_t value = iree_vm_value_make_i64(length);
  EXPECT_OK(iree_vm_context_resolve_function(context, IREE_SV("io_parameters.find"), &function));
  EXPECT_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 3, iree_allocator_system(), &inputs));
  EXPECT_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, iree_allocator_system(), &outputs));
  EXPECT_OK(push_text(inputs, scope));
  EXPECT_OK(push_text(inputs, key));
  EXPECT_OK(iree_vm_list_push_value(inputs, &value));
  iree_status_t status =
      iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs, iree_allocator_system());
  if (iree_status_is_ok(status)) {
    iree_vm_ref_t ref = iree_vm_ref_null();
    EXPECT_OK(iree_vm_list_get_ref_assign(outputs, 0, &ref));
    iree_vm_buffer_t* buffer = iree_vm_buffer_deref(ref);
    assert_int_equal(buffer->data.data_length, length);
    if (length) memcpy(out, buffer->data.data, (size_t)length);
  }
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static void module(void** state) {
  fixture_t f;
  begin(&f);
  iree_io_parameter_provider_t own = {.vtable = &own_vtable};
  iree_atomic_ref_count_init(&own.ref_count);
  iree_io_parameter_provider_t* providers[] = {&own, f.provider};
  iree_vm_instance_t* instance = NULL;
  iree_vm_module_t* module = NULL;
  iree_vm_context_t* context = NULL;
  uint8_t bytes[16];
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance));
  EXPECT_OK(iree_io_parameters_module_create(instance, 2, providers, iree_allocator_system(), &module));
  EXPECT_OK(iree_vm_context_create_with_modules(instance, IREE_VM_CONTEXT_FLAG_NONE, 1, &module,
                                                iree_allocator_system(), &context));
  EXPECT_OK(iree_vm_context_notify(context, IREE_VM_SIGNAL_SUSPEND));
  EXPECT_OK(call_find(context, "model", "w", 16, bytes));
  assert_memory_equal(bytes, weights, 16);
  EXPECT_OK(call_find(context, "model", "s", 12, bytes));
  assert_memory_equal(bytes, "\7\0\7\0\7\0\7\0\7\0\7", 12);
  EXPECT_OK(call_find(context, "own", "anything", 5, bytes));
  assert_memory_equal(bytes, "aaaaa", 5);
  EXPECT_OK(call_find(context, "model", "w", 15, bytes));  // its start
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, call_find(context, "model", "w", 17, bytes));
  EXPECT_CODE(IREE_STATUS_OUT_OF_RANGE, call_find(context, "model", "w", -1, bytes));
  EXPECT_CODE(IREE_STATUS_NOT_FOUND, call_find(context, "model", "none", 4, bytes));
  EXPECT_CODE(IREE_STATUS_NOT_FOUND, call_find(context, "", "w", 16, bytes));
  iree_vm_context_release(context);
  iree_vm_module_release(module);
  iree_vm_instance_release(instance);
  assert_int_equal(iree_atomic_ref_count_load(&own.ref_count), 1);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip), cmocka_unit_test(many_entries), cmocka_unit_test(gathers),
      cmocka_unit_test(writes),     cmocka_unit_test(loads),        cmocka_unit_test(module),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
