// See bisect.h.
#include "tooling/bisect.h"

// What no dispatch changes is kept up to this length, for the other side may write the same values there.
enum { MAX_UNCHANGED = 16 << 20 };

// The memory of a dispatch's bindings at one time.
typedef struct snapshot_t {
  iree_host_size_t count;
  iree_byte_span_t* spans;
} snapshot_t;

typedef struct bisect_t {
  const bisect_request_t* request;
  iree_allocator_t allocator;
  FILE* trace;  // what the reference's dispatches did, in their order
  uint64_t dispatches;
  snapshot_t before;  // of the dispatch that runs
  bool found;
} bisect_t;

// A dispatch in the trace; its name follows, then each binding.
typedef struct trace_dispatch_t {
  uint64_t name_length, binding_count;
} trace_dispatch_t;
// The contents before follow where they changed, then those after where they are kept.
typedef struct trace_binding_t {
  uint64_t length;
  bool is_changed, is_kept;
} trace_binding_t;

//===----------------------------------------------------------------------------------------------------------------===
// Snapshots
//===----------------------------------------------------------------------------------------------------------------===

static void snapshot_free(bisect_t* b, snapshot_t* snapshot) {
  for (iree_host_size_t i = 0; i < snapshot->count; ++i) iree_allocator_free(b->allocator, snapshot->spans[i].data);
  iree_allocator_free(b->allocator, snapshot->spans);
  *snapshot = (snapshot_t){0};
}

static iree_status_t read_binding(bisect_t* b, const iree_hal_replay_dispatch_event_t* event, iree_host_size_t i,
                                  iree_byte_span_t* span) {
  const iree_hal_buffer_ref_t* ref = &event->bindings.values[i];
  iree_host_size_t length = (iree_host_size_t)ref->length;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(b->allocator, iree_max(length, 1), (void**)&span->data));
  span->data_length = length;
  if (!length) return iree_ok_status();
  return iree_hal_device_transfer_d2h(event->device, ref->buffer, ref->offset, span->data, length,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

static iree_status_t snapshot_take(bisect_t* b, const iree_hal_replay_dispatch_event_t* event, snapshot_t* snapshot) {
  iree_host_size_t count = event->bindings.count;
  *snapshot = (snapshot_t){0};
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(b->allocator, count + 1, sizeof(*snapshot->spans), (void**)&snapshot->spans));
  snapshot->count = count;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = read_binding(b, event, i, &snapshot->spans[i]);
  }
  if (!iree_status_is_ok(status)) snapshot_free(b, snapshot);
  return status;
}

static bool is_changed(iree_byte_span_t before, iree_byte_span_t after) {
  return memcmp(before.data, after.data, before.data_length) != 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// The reference
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t put(bisect_t* b, const void* data, size_t length) {
  if (fwrite(data, 1, length, b->trace) == length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS,
                          "cannot write what the reference's dispatches did to a temporary file");
}

static iree_status_t get(bisect_t* b, void* data, size_t length) {
  if (fread(data, 1, length, b->trace) == length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "cannot read what the reference's dispatches did");
}

static iree_status_t put_dispatch(bisect_t* b, const iree_hal_replay_dispatch_event_t* event, const snapshot_t* after) {
  trace_dispatch_t dispatch = {event->function_name.size, after->count};
  IREE_RETURN_IF_ERROR(put(b, &dispatch, sizeof(dispatch)));
  IREE_RETURN_IF_ERROR(put(b, event->function_name.data, event->function_name.size));
  for (iree_host_size_t i = 0; i < after->count; ++i) {
    trace_binding_t binding;
    memset(&binding, 0, sizeof(binding));
    binding.length = after->spans[i].data_length;
    binding.is_changed = is_changed(b->before.spans[i], after->spans[i]);
    binding.is_kept = binding.is_changed || binding.length <= MAX_UNCHANGED;
    IREE_RETURN_IF_ERROR(put(b, &binding, sizeof(binding)));
    if (binding.is_changed) IREE_RETURN_IF_ERROR(put(b, b->before.spans[i].data, binding.length));
    if (binding.is_kept) IREE_RETURN_IF_ERROR(put(b, after->spans[i].data, binding.length));
  }
  return iree_ok_status();
}

static iree_status_t see_reference(void* user_data, const iree_hal_replay_dispatch_event_t* event) {
  bisect_t* b = user_data;
  if (!event->has_run) {
    snapshot_free(b, &b->before);
    return snapshot_take(b, event, &b->before);
  }
  snapshot_t after;
  ++b->dispatches;
  IREE_RETURN_IF_ERROR(snapshot_take(b, event, &after));
  iree_status_t status = put_dispatch(b, event, &after);
  snapshot_free(b, &after);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparison
//===----------------------------------------------------------------------------------------------------------------===

// A binding of both sides. `expected` becomes what the tested side should have: its own contents from before where
// neither side wrote, as memory may hold anything there.
typedef struct pair_t {
  trace_binding_t reference;
  uint8_t *reference_before, *expected;
  iree_byte_span_t before, after;  // of the tested side; not owned
  bool is_compared;
} pair_t;

static void pairs_free(bisect_t* b, pair_t* pairs, iree_host_size_t count) {
  for (iree_host_size_t i = 0; pairs && i < count; ++i) {
    iree_allocator_free(b->allocator, pairs[i].reference_before);
    iree_allocator_free(b->allocator, pairs[i].expected);
  }
  iree_allocator_free(b->allocator, pairs);
}

static iree_status_t get_contents(bisect_t* b, uint64_t length, uint8_t** out_data) {
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_uninitialized(b->allocator, (iree_host_size_t)length + 1, (void**)out_data));
  return get(b, *out_data, (size_t)length);
}

static iree_status_t get_pair(bisect_t* b, uint64_t index, iree_host_size_t i, pair_t* pair) {
  IREE_RETURN_IF_ERROR(get(b, &pair->reference, sizeof(pair->reference)));
  if (pair->reference.length != pair->after.data_length) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "dispatch %" PRIu64 ": binding %" PRIhsz " has %" PRIu64
                            " bytes on the reference and %" PRIhsz
                            " on the tested side; layouts of memory must be the same",
                            index, i, pair->reference.length, pair->after.data_length);
  }
  if (pair->reference.is_changed) {
    IREE_RETURN_IF_ERROR(get_contents(b, pair->reference.length, &pair->reference_before));
  }
  if (pair->reference.is_kept) return get_contents(b, pair->reference.length, &pair->expected);
  return iree_ok_status();
}

// Keeps of `expected` what one of the sides wrote, in elements of `size` bytes.
static iree_status_t settle_expected(bisect_t* b, iree_host_size_t size, pair_t* pair) {
  bool is_written = is_changed(pair->before, pair->after);
  iree_host_size_t length = pair->after.data_length;
  pair->is_compared = pair->reference.is_changed || is_written;
  if (!pair->is_compared) return iree_ok_status();
  if (!pair->expected) {  // too long to be kept: the reference left it as it was
    IREE_RETURN_IF_ERROR(iree_allocator_clone(
        b->allocator, iree_make_const_byte_span(pair->before.data, pair->before.data_length), (void**)&pair->expected));
  }
  for (iree_host_size_t at = 0; at < length; at += size) {
    iree_host_size_t part = iree_min(size, length - at);
    bool reference_wrote =
        pair->reference_before && memcmp(pair->reference_before + at, pair->expected + at, part) != 0;
    bool tested_wrote = memcmp(pair->before.data + at, pair->after.data + at, part) != 0;
    if (!reference_wrote && !tested_wrote) memcpy(pair->expected + at, pair->before.data + at, part);
  }
  return iree_ok_status();
}

// The type that a function's name ends with: `_f32`, or `_f16xf16xf32` of operands and result.
static iree_hal_element_type_t type_of(const bisect_request_t* request, iree_string_view_t name) {
  iree_hal_element_type_t type = request->type;
  if (type != IREE_HAL_ELEMENT_TYPE_NONE) return type;
  iree_host_size_t at = iree_string_view_find_last_of(name, IREE_SV("_x"), IREE_STRING_VIEW_NPOS);
  if (at == IREE_STRING_VIEW_NPOS) return IREE_HAL_ELEMENT_TYPE_NONE;
  iree_status_t status =
      iree_hal_parse_element_type(iree_string_view_substr(name, at + 1, IREE_STRING_VIEW_NPOS), &type);
  bool is_type = iree_status_is_ok(status) && iree_hal_element_bit_count(type) >= 8;
  iree_status_ignore(status);
  return is_type ? type : IREE_HAL_ELEMENT_TYPE_NONE;
}

static int compare_halves(const void* a, const void* b) {
  uint16_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

// Whether both sides have the same halves of dwords, in any order: elements of 16 bits or more that lie elsewhere.
// Types do not matter, of which names tell those of one result.
static bool is_reordered(bisect_t* b, const pair_t* pair) {
  iree_host_size_t length = pair->after.data_length / 2 * 2;
  uint8_t *sorted[2] = {NULL, NULL}, *sides[2] = {pair->expected, pair->after.data};
  bool is_same = true;
  for (int i = 0; i < 2 && is_same; ++i) {
    iree_const_byte_span_t side = iree_make_const_byte_span(sides[i], length);
    is_same = iree_status_consume_code(iree_allocator_clone(b->allocator, side, (void**)&sorted[i])) == IREE_STATUS_OK;
    if (is_same) qsort(sorted[i], length / 2, 2, compare_halves);
  }
  is_same = is_same && memcmp(sorted[0], sorted[1], length) == 0;
  for (int i = 0; i < 2; ++i) iree_allocator_free(b->allocator, sorted[i]);
  return is_same;
}

// Prints the first element of a binding that differs, and how many do. Returns how many.
static iree_host_size_t compare_pair(bisect_t* b, iree_hal_element_type_t type, iree_host_size_t i,
                                     const pair_t* pair) {
  tooling_tolerance_t tolerance = b->request->tolerance;
  if (type == IREE_HAL_ELEMENT_TYPE_NONE) {
    type = IREE_HAL_ELEMENT_TYPE_UINT_8;
    tolerance.exact = true;
  }
  FILE* file = b->request->file;
  iree_host_size_t size = iree_hal_element_dense_byte_count(type), count = pair->after.data_length / size;
  iree_host_size_t first = count, differing = 0;
  for (iree_host_size_t at = 0; at < count; ++at) {
    iree_const_byte_span_t views[2] = {iree_make_const_byte_span(pair->expected + at * size, (count - at) * size),
                                       iree_make_const_byte_span(pair->after.data + at * size, (count - at) * size)};
    at += tooling_elements_compare(&tolerance, type, count - at, views);
    if (at >= count) break;
    first = differing++ ? first : at;
  }
  iree_host_size_t rest = count * size;
  bool tail = memcmp(pair->expected + rest, pair->after.data + rest, pair->after.data_length - rest) == 0;
  if (!differing && tail) return 0;
  fprintf(file, "  binding %" PRIhsz ": ", i);
  if (differing) {
    iree_const_byte_span_t expected = iree_make_const_byte_span(pair->expected, count * size);
    iree_const_byte_span_t actual = iree_make_const_byte_span(pair->after.data, count * size);
    fprintf(file, "element at index %" PRIhsz " (", first);
    tooling_element_print(type, actual, first, file);
    fprintf(file, ") does not match the reference's (");
    tooling_element_print(type, expected, first, file);
    fprintf(file, "); %" PRIhsz " of %" PRIhsz " elements differ\n", differing, count);
  } else {
    fprintf(file, "bytes after the last whole element differ\n");
  }
  if (is_reordered(b, pair)) {
    fprintf(
        file,
        "    it has the reference's values in another order: the kernel writes them to the wrong places, or the two "
        "sides lay this memory out in ways of their own, as for convolutions on processors and GPUs\n");
  }
  return differing + !tail;
}

//===----------------------------------------------------------------------------------------------------------------===
// The tested side
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_name(bisect_t* b, const iree_hal_replay_dispatch_event_t* event,
                                const trace_dispatch_t* dispatch) {
  char* name = NULL;
  IREE_RETURN_IF_ERROR(get_contents(b, dispatch->name_length, (uint8_t**)&name));
  iree_string_view_t reference = iree_make_string_view(name, (iree_host_size_t)dispatch->name_length);
  iree_status_t status = iree_ok_status();
  if (!iree_string_view_equal(reference, event->function_name) || dispatch->binding_count != event->bindings.count) {
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "dispatch %" PRIu64 " is '%.*s' with %" PRIu64
                              " bindings on the reference, and '%.*s' with %" PRIhsz
                              " on the tested side: from here on they are not the same program",
                              event->index, (int)reference.size, reference.data, dispatch->binding_count,
                              (int)event->function_name.size, event->function_name.data, event->bindings.count);
  }
  iree_allocator_free(b->allocator, name);
  return status;
}

static iree_status_t write_case(bisect_t* b, const iree_hal_replay_dispatch_event_t* event, const pair_t* pairs) {
  iree_host_size_t count = event->bindings.count;
  iree_hal_replay_case_binding_t* bindings = NULL;
  iree_io_file_handle_t* handle = NULL;
  if (!b->request->case_path.size) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(b->allocator, count + 1, sizeof(*bindings), (void**)&bindings));
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_hal_buffer_ref_t* ref = &event->bindings.values[i];
    iree_byte_span_t before = pairs[i].before;
    bindings[i] = (iree_hal_replay_case_binding_t){
        .allocation = iree_hal_buffer_allocated_buffer(ref->buffer),
        .offset = iree_hal_buffer_byte_offset(ref->buffer) + ref->offset,
        .before = iree_make_const_byte_span(before.data, before.data_length),
    };
    if (pairs[i].is_compared) bindings[i].expected = iree_make_const_byte_span(pairs[i].expected, before.data_length);
  }
  iree_status_t status = iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE,
                                                    b->request->case_path, 0, b->allocator, &handle);
  if (iree_status_is_ok(status)) {
    status = iree_hal_replay_case_write(b->request->tested.plan, event->sequence_ordinal, &b->request->tested.options,
                                        count, bindings, handle, b->allocator);
  }
  iree_io_file_handle_release(handle);
  iree_allocator_free(b->allocator, bindings);
  return status;
}

// The tested side goes on with what the reference has.
static iree_status_t take_over(const iree_hal_replay_dispatch_event_t* event, iree_host_size_t i, const pair_t* pair) {
  const iree_hal_buffer_ref_t* ref = &event->bindings.values[i];
  if (!pair->is_compared || !memcmp(pair->expected, pair->after.data, pair->after.data_length)) return iree_ok_status();
  return iree_hal_device_transfer_h2d(event->device, pair->expected, ref->buffer, ref->offset, pair->after.data_length,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

static iree_status_t compare_pairs(bisect_t* b, const iree_hal_replay_dispatch_event_t* event, pair_t* pairs) {
  iree_hal_element_type_t type = type_of(b->request, event->function_name);
  iree_host_size_t size = type == IREE_HAL_ELEMENT_TYPE_NONE ? 1 : iree_hal_element_dense_byte_count(type);
  for (iree_host_size_t i = 0; i < event->bindings.count; ++i) {
    IREE_RETURN_IF_ERROR(get_pair(b, event->index, i, &pairs[i]));
    IREE_RETURN_IF_ERROR(settle_expected(b, size, &pairs[i]));
  }
  for (iree_host_size_t i = 0; i < event->bindings.count; ++i) {
    if (!pairs[i].is_compared || !memcmp(pairs[i].expected, pairs[i].after.data, pairs[i].after.data_length)) continue;
    if (compare_pair(b, type, i, &pairs[i])) b->found = true;
  }
  if (b->found) {
    fprintf(b->request->file, "[FOUND] dispatch %" PRIu64 " of %" PRIu64 " differs: %.*s\n", event->index,
            b->dispatches, (int)event->function_name.size, event->function_name.data);
    IREE_RETURN_IF_ERROR(write_case(b, event, pairs));
    return iree_status_from_code(IREE_STATUS_CANCELLED);  // nothing after it is looked at
  }
  for (iree_host_size_t i = 0; i < event->bindings.count; ++i) IREE_RETURN_IF_ERROR(take_over(event, i, &pairs[i]));
  return iree_ok_status();
}

static iree_status_t compare_dispatch(bisect_t* b, const iree_hal_replay_dispatch_event_t* event,
                                      const snapshot_t* after) {
  trace_dispatch_t dispatch;
  pair_t* pairs = NULL;
  if (event->index >= b->dispatches) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the reference has %" PRIu64 " dispatches, the tested side more", b->dispatches);
  }
  IREE_RETURN_IF_ERROR(get(b, &dispatch, sizeof(dispatch)));
  IREE_RETURN_IF_ERROR(check_name(b, event, &dispatch));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(b->allocator, after->count + 1, sizeof(*pairs), (void**)&pairs));
  for (iree_host_size_t i = 0; i < after->count; ++i) {
    pairs[i].before = b->before.spans[i];
    pairs[i].after = after->spans[i];
  }
  iree_status_t status = compare_pairs(b, event, pairs);
  pairs_free(b, pairs, after->count);
  return status;
}

static iree_status_t see_tested(void* user_data, const iree_hal_replay_dispatch_event_t* event) {
  bisect_t* b = user_data;
  if (!event->has_run) {
    snapshot_free(b, &b->before);
    return snapshot_take(b, event, &b->before);
  }
  snapshot_t after;
  IREE_RETURN_IF_ERROR(snapshot_take(b, event, &after));
  iree_status_t status = compare_dispatch(b, event, &after);
  snapshot_free(b, &after);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Both
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t run_side(bisect_t* b, const bisect_side_t* side, iree_hal_replay_dispatch_event_fn_t see) {
  iree_hal_replay_execute_options_t options = side->options;
  options.dispatch_event_callback = (iree_hal_replay_dispatch_event_callback_t){see, b};
  return iree_hal_replay_plan_execute(side->plan, side->group, &options, b->allocator);
}

static iree_status_t run_both(bisect_t* b) {
  IREE_RETURN_IF_ERROR(run_side(b, &b->request->reference, see_reference), "on the reference");
  rewind(b->trace);
  iree_status_t status = run_side(b, &b->request->tested, see_tested);
  if (b->found && iree_status_is_cancelled(status)) {
    iree_status_ignore(status);
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(status, "on the tested side");
  if (fgetc(b->trace) != EOF) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the reference has %" PRIu64 " dispatches, the tested side fewer", b->dispatches);
  }
  fprintf(b->request->file, "[ALIKE] all %" PRIu64 " dispatches\n", b->dispatches);
  return iree_ok_status();
}

iree_status_t tooling_bisect(const bisect_request_t* request, bool* out_found) {
  bisect_t b = {.request = request, .allocator = iree_allocator_system(), .trace = tmpfile()};
  *out_found = false;
  if (!b.trace) return iree_make_status(IREE_STATUS_UNAVAILABLE, "cannot make a temporary file");
  iree_status_t status = run_both(&b);
  snapshot_free(&b, &b.before);
  fclose(b.trace);
  *out_found = b.found;
  return status;
}
