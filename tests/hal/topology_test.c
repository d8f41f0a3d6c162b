// Topologies, device groups and lists of devices.
#include "hal_test.h"
#include "iree/async/frontier_tracker.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"

static iree_hal_device_t* open_device(const char* name) {
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(name), NULL,
                                  iree_allocator_system(), &device));
  return device;
}

// Each field is its own: setting one changes no other, and values that are too large do not spill.
static void edge_words(void** state) {
  for (uint64_t background = 0; background <= 1; ++background) {
    uint64_t start = background ? UINT64_MAX : 0;
#define FIELD(word, name, NAME, type, shift, bits)                           \
  {                                                                          \
    uint64_t mask = ((1ull << (bits)) - 1);                                  \
    uint64_t set = iree_hal_topology_edge_set_##name(start, (type)5);        \
    assert_int_equal(iree_hal_topology_edge_##name(set), 5 & mask);          \
    assert_true((set & ~(mask << (shift))) == (start & ~(mask << (shift)))); \
    set = iree_hal_topology_edge_set_##name(start, (type)mask);              \
    assert_int_equal(iree_hal_topology_edge_##name(set), mask);              \
    assert_int_equal(IREE_HAL_TOPOLOGY_EDGE_##NAME##_SHIFT, shift);          \
    assert_int_equal(IREE_HAL_TOPOLOGY_EDGE_##NAME##_MASK, mask);            \
  }
#include "iree/hal/topology_fields.def"
  }
  assert_int_equal(iree_hal_topology_edge_copy_cost(iree_hal_topology_edge_set_copy_cost(0, 200)), 15);
  assert_true(iree_hal_topology_edge_set_link_class(0, IREE_HAL_TOPOLOGY_LINK_CLASS_ISOLATED) == 7ull << 48);
  assert_true(iree_hal_topology_edge_set_buffer_export_types(0, 0x80) == 0x80ull << 24);
}

static void builder(void** state) {
  static iree_hal_topology_builder_t builder;
  static iree_hal_topology_t topology;
  iree_hal_topology_edge_t self = iree_hal_topology_edge_make_self();
  iree_hal_topology_edge_t cross = iree_hal_topology_edge_make_cross_driver(), other = cross;
  assert_int_equal(iree_hal_topology_edge_wait_mode(self.lo), IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE);
  assert_int_equal(iree_hal_topology_edge_copy_cost(self.lo), 0);
  iree_hal_topology_builder_initialize(&builder, 3);
  CHECK_OK(iree_hal_topology_builder_set_numa_node(&builder, 2, 7));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_topology_builder_set_numa_node(&builder, 3, 0));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_topology_builder_set_edge(&builder, 0, 3, cross));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_topology_builder_set_edge(&builder, 1, 1, cross));
  CHECK_OK(iree_hal_topology_builder_set_edge(&builder, 1, 1, self));
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t j = 0; j < 3; ++j) {
      if (i != j && !(i == 2 && j == 1)) CHECK_OK(iree_hal_topology_builder_set_edge(&builder, i, j, cross));
    }
  }
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_topology_builder_finalize(&builder, &topology));  // 2 to 1
  other.lo = iree_hal_topology_edge_set_link_class(other.lo, IREE_HAL_TOPOLOGY_LINK_CLASS_FABRIC);
  CHECK_OK(iree_hal_topology_builder_set_edge(&builder, 2, 1, other));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_topology_builder_finalize(&builder, &topology));  // the link
  other.lo = iree_hal_topology_edge_set_wait_cost(cross.lo, 13);
  CHECK_OK(iree_hal_topology_builder_set_edge(&builder, 2, 1, other));
  CHECK_OK(iree_hal_topology_builder_finalize(&builder, &topology));
  assert_int_equal(iree_hal_topology_device_count(&topology), 3);
  assert_int_equal(topology.numa_nodes[2], 7);
  assert_int_equal(iree_hal_topology_edge_wait_cost(iree_hal_topology_query_edge(&topology, 2, 1).lo), 13);
  assert_true(iree_hal_topology_query_edge(&topology, 1, 2).lo == cross.lo);
  assert_true(iree_hal_topology_edge_is_empty(iree_hal_topology_query_edge(&topology, 3, 0)));
  iree_hal_topology_builder_initialize(&builder, 33);
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_topology_builder_finalize(&builder, &topology));
  assert_true(iree_hal_topology_is_empty(&topology));
}

static void capabilities(void** state) {
  iree_hal_device_capabilities_t a = {.flags = IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES,
                                      .semaphore_export_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD,
                                      .buffer_import_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF};
  iree_hal_device_capabilities_t b = {.flags = a.flags | IREE_HAL_DEVICE_CAPABILITY_P2P_COPY,
                                      .semaphore_import_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD,
                                      .buffer_export_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF,
                                      .numa_node = 1};
  iree_string_view_t x = IREE_SV("x"), y = IREE_SV("y");
#define MODE(name) IREE_HAL_TOPOLOGY_INTEROP_MODE_##name
  iree_hal_topology_edge_t edge = iree_hal_topology_edge_from_capabilities(&a, &b, x, y);
  assert_int_equal(iree_hal_topology_edge_wait_mode(edge.lo), MODE(IMPORT));
  assert_int_equal(iree_hal_topology_edge_signal_mode(edge.lo), MODE(COPY));
  assert_int_equal(iree_hal_topology_edge_buffer_read_mode_coherent(edge.lo), MODE(COPY));
  assert_int_equal(iree_hal_topology_edge_capability_flags(edge.lo), IREE_HAL_TOPOLOGY_CAPABILITY_TIMELINE_SEMAPHORE);
  assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED);
  assert_true(iree_hal_topology_edge_numa_distance(edge.lo) > 0);
  assert_int_equal(iree_hal_topology_edge_semaphore_export_types(edge.hi), IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD);
  edge = iree_hal_topology_edge_from_capabilities(&b, &a, y, x);
  assert_int_equal(iree_hal_topology_edge_wait_mode(edge.lo), MODE(COPY));
  assert_int_equal(iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo), MODE(IMPORT));
  edge = iree_hal_topology_edge_from_capabilities(&b, &b, x, x);  // two of one driver
  assert_int_equal(iree_hal_topology_edge_wait_mode(edge.lo), MODE(NATIVE));
  assert_int_equal(iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo), MODE(COPY));
  assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT);
  b.flags |= IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE | IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT;
  edge = iree_hal_topology_edge_from_capabilities(&b, &b, x, x);
  assert_int_equal(iree_hal_topology_edge_buffer_write_mode_noncoherent(edge.lo), MODE(NATIVE));
  assert_int_equal(iree_hal_topology_edge_buffer_write_mode_coherent(edge.lo), MODE(NATIVE));
  a.has_physical_device_uuid = b.has_physical_device_uuid = true;
  edge = iree_hal_topology_edge_from_capabilities(&a, &b, x, y);
  assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE);
  a.driver_device_handle = b.driver_device_handle = 5;
  edge = iree_hal_topology_edge_from_capabilities(&a, &b, x, x);
  assert_true(edge.lo == iree_hal_topology_edge_make_self().lo);
  b.flags |= IREE_HAL_DEVICE_CAPABILITY_ISOLATED;
  b.driver_device_handle = 6;
  edge = iree_hal_topology_edge_from_capabilities(&a, &b, x, x);
  assert_int_equal(iree_hal_topology_edge_wait_mode(edge.lo), MODE(NONE));
  assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_ISOLATED);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  CHECK_OK(iree_hal_topology_edge_format(iree_hal_topology_edge_make_cross_driver(), &builder));
  CHECK_TEXT(iree_string_builder_view(&builder),
             "wait=copy signal=copy read=copy/copy write=copy/copy link=host_staged costs=8/8/12");
  iree_string_builder_deinitialize(&builder);
}

static void groups(void** state) {
  iree_hal_device_t* devices[] = {open_device("local-sync"), open_device("local-task"), open_device("local-sync")};
  iree_async_frontier_tracker_t* tracker = NULL;
  CHECK_OK(iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(), iree_allocator_system(),
                                              &tracker));
  assert_null(iree_hal_device_topology_info(devices[0]));
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, tracker);
  for (int i = 0; i < 3; ++i) CHECK_OK(iree_hal_device_group_builder_add_device(&builder, devices[i]));
  CHECK_CODE(ALREADY_EXISTS, iree_hal_device_group_builder_add_device(&builder, devices[1]));
  iree_hal_device_group_t* group = NULL;
  CHECK_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &group));
  const iree_hal_topology_t* topology = iree_hal_device_group_topology(group);
  assert_int_equal(iree_hal_topology_device_count(topology), 3);
  const iree_hal_device_topology_info_t* infos[3];
  for (int i = 0; i < 3; ++i) {
    infos[i] = iree_hal_device_topology_info(devices[i]);
    assert_ptr_equal(infos[i]->topology, topology);
    assert_int_equal(infos[i]->topology_index, i);
    assert_int_equal(infos[i]->can_wait_from, 7);
    assert_int_equal(infos[i]->can_signal_to, 7);
    assert_ptr_equal(infos[i]->frontier.tracker, tracker);
    assert_true(infos[i]->frontier.base_axis == iree_async_axis_make_queue(1, 0, (uint8_t)i, 0));
  }
  // Devices of one driver share their memory; of another one only what is copied.
  assert_int_equal(infos[0]->can_import_from, 5);
  assert_int_equal(infos[1]->can_import_from, 2);
  iree_hal_topology_edge_t near = iree_hal_device_topology_query_edge(infos[0], infos[2]);
  iree_hal_topology_edge_t far = iree_hal_device_topology_query_edge(infos[0], infos[1]);
  assert_int_equal(iree_hal_topology_edge_buffer_read_mode_noncoherent(near.lo), MODE(NATIVE));
  assert_int_equal(iree_hal_topology_edge_link_class(near.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE);
  assert_int_equal(iree_hal_topology_edge_wait_mode(far.lo), MODE(IMPORT));
  assert_true(infos[0]->self_edge == iree_hal_topology_edge_make_self().lo);
  iree_string_builder_t text;
  iree_string_builder_initialize(iree_allocator_system(), &text);
  CHECK_OK(iree_hal_topology_dump_matrix(topology, &text));
  assert_non_null(strstr(iree_string_builder_buffer(&text), "\n2 -> 0: wait=native"));
  iree_string_builder_deinitialize(&text);
  // A device is where it was put last; groups that go take out only what is still theirs.
  iree_hal_device_group_t* second = NULL;
  CHECK_OK(iree_hal_device_group_create_from_device(devices[1], NULL, iree_allocator_system(), &second));
  assert_int_equal(iree_hal_device_topology_info(devices[1])->topology_index, 0);
  assert_true(iree_hal_topology_edge_is_empty(iree_hal_device_topology_query_edge(
      iree_hal_device_topology_info(devices[0]), iree_hal_device_topology_info(devices[1]))));
  iree_hal_device_group_release(group);
  assert_null(iree_hal_device_topology_info(devices[0]));
  assert_ptr_equal(iree_hal_device_topology_info(devices[1])->topology, iree_hal_device_group_topology(second));
  iree_hal_device_group_release(second);
  assert_null(iree_hal_device_topology_info(devices[1]));
  iree_async_frontier_tracker_release(tracker);
  for (int i = 0; i < 3; ++i) iree_hal_device_release(devices[i]);
}

typedef struct replacement_t {
  iree_hal_device_t* device;
  iree_host_size_t fails_at, count;
} replacement_t;

static iree_status_t replace(iree_hal_device_group_t* source_group, iree_host_size_t device_index,
                             iree_hal_device_t* source_device, void* user_data,
                             iree_hal_device_t** out_replacement_device) {
  replacement_t* replacement = (replacement_t*)user_data;
  assert_ptr_equal(source_device, iree_hal_device_group_device_at(source_group, device_index));
  if (replacement->count++ == replacement->fails_at) return iree_make_status(IREE_STATUS_UNAVAILABLE, "no more");
  *out_replacement_device = device_index ? source_device : replacement->device;
  iree_hal_device_retain(*out_replacement_device);
  return iree_ok_status();
}

static void replacements(void** state) {
  iree_hal_device_t *first = open_device("local-sync"), *second = open_device("local-task");
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  CHECK_OK(iree_hal_device_group_builder_add_device(&builder, first));
  CHECK_OK(iree_hal_device_group_builder_add_device(&builder, second));
  iree_hal_device_group_t *group = NULL, *replaced = NULL;
  CHECK_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &group));
  replacement_t replacement = {open_device("local-sync"), 1, 0};
  iree_hal_device_group_replacement_callback_t callback = {replace, &replacement};
  CHECK_CODE(UNAVAILABLE,
             iree_hal_device_group_create_with_replacements(group, callback, iree_allocator_system(), &replaced));
  assert_null(replaced);
  assert_null(iree_hal_device_topology_info(replacement.device));
  replacement.fails_at = 99;
  CHECK_OK(iree_hal_device_group_create_with_replacements(group, callback, iree_allocator_system(), &replaced));
  assert_ptr_equal(iree_hal_device_group_device_at(replaced, 0), replacement.device);
  assert_ptr_equal(iree_hal_device_group_device_at(replaced, 1), second);
  assert_memory_equal(iree_hal_device_group_topology(replaced), iree_hal_device_group_topology(group),
                      sizeof(iree_hal_topology_t));
  assert_int_equal(iree_hal_device_topology_info(replacement.device)->topology_index, 0);
  iree_hal_device_group_release(group);
  iree_hal_device_group_release(replaced);
  iree_hal_device_release(first);
  iree_hal_device_release(second);
  iree_hal_device_release(replacement.device);
}

static void lists(void** state) {
  iree_hal_device_t* device = open_device("local-sync");
  iree_hal_device_list_t* list = NULL;
  CHECK_OK(iree_hal_device_list_allocate(1, iree_allocator_system(), &list));
  CHECK_OK(iree_hal_device_list_push_back(list, device));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_hal_device_list_push_back(list, device));
  iree_hal_device_release(device);  // the list has its own
  assert_ptr_equal(iree_hal_device_list_at(list, 0), device);
  assert_null(iree_hal_device_list_at(list, 1));
  assert_true(iree_string_view_equal(iree_hal_device_id(device), IREE_SV("local-sync")));
  iree_hal_device_list_free(list);
  iree_hal_device_list_free(NULL);
}

int main(void) {
  IREE_CHECK_OK(iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edge_words), cmocka_unit_test(builder),      cmocka_unit_test(capabilities),
      cmocka_unit_test(groups),     cmocka_unit_test(replacements), cmocka_unit_test(lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
