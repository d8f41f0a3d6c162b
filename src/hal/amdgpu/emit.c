// Packets. Bodies go into the hardware queue's slots at once; the first word of each, which makes it valid, is kept
// aside until the submission is published.
#include "hal/amdgpu/host_queue.h"

enum { MAX_BLIT_GROUPS = 1024, MAX_BLIT_GROUP_SIZE = 256, MIN_BLIT_ITEMS = 32, WORD_SIZE = 16 };

void emit_begin(host_queue_t* queue, const gpu_operation_t* operation, emitter_t* out_emitter) {
  *out_emitter = (emitter_t){
      .queue = queue,
      .operation = operation,
      .kernargs = queue->kernargs,
      .packet = queue->packet_head,
      .packet_limit = queue->packet_tail + queue->aql->size,
      .kernarg = queue->kernargs.head,
      .waits = true,
      .acquires_system = !operation->acquires_agent,
      .verdict = &queue->verdicts[queue->base.epoch_head & queue->base.entry_mask],
      .next_command = operation->next,
  };
  *out_emitter->verdict = 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets
//===----------------------------------------------------------------------------------------------------------------===

static uint16_t make_header(uint16_t type, bool waits, uint16_t acquire, uint16_t release) {
  return (uint16_t)(type << HSA_PACKET_HEADER_TYPE | (waits ? 1 : 0) << HSA_PACKET_HEADER_BARRIER |
                    acquire << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE |
                    release << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE);
}

static void* slot_of(const emitter_t* e, uint64_t packet) {
  return (uint8_t*)e->queue->aql->base_address + (packet & (e->queue->aql->size - 1)) * 64;
}

static uint32_t* header_of(const emitter_t* e, uint64_t packet) {
  return &e->queue->headers[packet & (e->queue->aql->size - 1)];
}

// Whether some packets, the submission's end and `kernarg_size` bytes of arguments fit.
static bool reserve(emitter_t* e, uint64_t packet_count, uint64_t kernarg_size, uint8_t** out_kernargs) {
  uint64_t cursor = e->kernarg;
  uint8_t* kernargs = kernarg_size ? ring_allocate(&e->kernargs, &cursor, kernarg_size) : e->kernargs.base;
  if (e->packet + packet_count + 1 > e->packet_limit || !kernargs) {
    e->is_full = true;
    return false;
  }
  e->kernarg = cursor;
  *out_kernargs = kernargs;
  return true;
}

static uint16_t acquire_scope(emitter_t* e) {
  uint16_t scope = e->acquires_system ? HSA_FENCE_SCOPE_SYSTEM : HSA_FENCE_SCOPE_AGENT;
  e->acquires_system = false;
  return scope;
}

typedef struct launch_t {
  const kernel_object_t* kernel;
  uint16_t workgroup_size[3];
  uint32_t workgroup_count[3];
  uint32_t dynamic_memory;
} launch_t;

// Writes a packet but for its first word, which is returned.
static uint32_t write_launch(emitter_t* e, const launch_t* launch, const void* kernargs) {
  hsa_kernel_dispatch_packet_t packet = {
      .workgroup_size = {launch->workgroup_size[0], launch->workgroup_size[1], launch->workgroup_size[2]},
      .private_segment_size = launch->kernel->private_size,
      .group_segment_size = launch->kernel->group_size + launch->dynamic_memory,
      .kernel_object = launch->kernel->handle,
      .kernarg_address = (uint64_t)(uintptr_t)kernargs,
  };
  for (int i = 0; i < 3; ++i) packet.grid_size[i] = launch->workgroup_count[i] * launch->workgroup_size[i];
  uint16_t header = make_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, e->waits, acquire_scope(e), HSA_FENCE_SCOPE_AGENT);
  memcpy((uint8_t*)slot_of(e, e->packet) + 4, (uint8_t*)&packet + 4, sizeof(packet) - 4);
  e->region_packets = e->waits ? 1 : e->region_packets + 1;
  e->waits = false;
  return header | 3u << 16;  // three dimensions
}

static void emit_launch(emitter_t* e, const launch_t* launch, const void* kernargs) {
  *header_of(e, e->packet) = write_launch(e, launch, kernargs);
  ++e->packet;
}

static int64_t value_after(uint64_t epoch) { return HOST_QUEUE_EPOCH_INITIAL - (int64_t)epoch + 1; }

static void write_barrier_value(const gpu_barrier_t* barrier, void* packet) {
  *(hsa_amd_barrier_value_packet_t*)packet = (hsa_amd_barrier_value_packet_t){
      .amd_format = HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
      .signal = ((const host_queue_t*)barrier->queue)->epoch_signal,
      .value = value_after(barrier->epoch),
      .mask = -1,
      .condition = HSA_SIGNAL_CONDITION_LT,
  };
}

static void write_memory_wait(const gpu_barrier_t* barrier, wait_commands_t* commands, void* packet) {
  uint64_t signal = ((const host_queue_t*)barrier->queue)->epoch_signal.handle + HSA_AMD_SIGNAL_VALUE_OFFSET;
  uint64_t value = (uint64_t)value_after(barrier->epoch), at = (uint64_t)(uintptr_t)commands;
  *commands = (wait_commands_t){.words = {
                                    HSA_AMD_PM4_HEADER(HSA_AMD_PM4_WAIT_REG_MEM64, WAIT_COMMANDS_SIZE - 1),
                                    HSA_AMD_PM4_WAIT_LESS | HSA_AMD_PM4_WAIT_MEMORY,
                                    (uint32_t)signal,
                                    (uint32_t)(signal >> 32),
                                    (uint32_t)value,
                                    (uint32_t)(value >> 32),
                                    UINT32_MAX,
                                    UINT32_MAX,
                                    WAIT_COMMANDS_INTERVAL,
                                }};
  *(hsa_amd_pm4_ib_packet_t*)packet = (hsa_amd_pm4_ib_packet_t){
      .amd_format = HSA_AMD_PACKET_TYPE_PM4_IB,
      .jump = {HSA_AMD_PM4_HEADER(HSA_AMD_PM4_INDIRECT_BUFFER, 3), (uint32_t)at, (uint32_t)(at >> 32),
               WAIT_COMMANDS_SIZE | HSA_AMD_PM4_IB_VALID},
      .remaining = HSA_AMD_PM4_IB_REMAINING,
  };
}

// Waits for a submission of another queue, the operation's `index`th. The kind is in the first word's upper half.
static void emit_barrier(emitter_t* e, uint32_t index) {
  const gpu_barrier_t* barrier = &e->operation->barriers[index];
  host_queue_t* queue = e->queue;
  uint8_t* unused = NULL;
  uint32_t packet[16];
  if (!reserve(e, 1, 0, &unused)) return;
  if (queue->physical->wait_packet == WAIT_PACKET_MEMORY) {
    uint64_t slot = (queue->base.epoch_head & queue->base.entry_mask) * GPU_MAX_BARRIERS + index;
    write_memory_wait(barrier, &queue->wait_commands[slot], packet);
  } else {
    write_barrier_value(barrier, packet);
  }
  uint16_t header = make_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true, HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_NONE);
  memcpy((uint8_t*)slot_of(e, e->packet) + 4, (uint8_t*)packet + 4, sizeof(packet) - 4);
  *header_of(e, e->packet) = header | packet[0];
  e->region_packets = 1;
  e->waits = true;
  ++e->packet;
}

void emit_end(emitter_t* e) {
  const uint32_t scope_mask = 3u << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
  const uint16_t scope = e->operation->releases_agent ? HSA_FENCE_SCOPE_AGENT : HSA_FENCE_SCOPE_SYSTEM;
  bool is_empty = e->packet == e->queue->packet_head;
  if (!is_empty && e->region_packets == 1) {
    // One packet after a barrier: it is the last to end.
    hsa_kernel_dispatch_packet_t* last = (hsa_kernel_dispatch_packet_t*)slot_of(e, e->packet - 1);
    last->completion_signal = e->queue->epoch_signal;
    uint32_t* header = header_of(e, e->packet - 1);
    *header = (*header & ~scope_mask) | (uint32_t)scope << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
    return;
  }
  hsa_barrier_and_packet_t packet = {.completion_signal = e->queue->epoch_signal};
  memcpy((uint8_t*)slot_of(e, e->packet) + 4, (uint8_t*)&packet + 4, sizeof(packet) - 4);
  *header_of(e, e->packet) = make_header(HSA_PACKET_TYPE_BARRIER_AND, true, acquire_scope(e), scope);
  ++e->packet;
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

// Runs a fill or copy of which target, length and what is written are known.
static void emit_blit(emitter_t* e, library_builtin_t builtin, uint8_t* kernargs, library_blit_t blit) {
  uint64_t words = (blit.length - blit.head) / WORD_SIZE;
  uint64_t items = iree_max((words + MIN_BLIT_ITEMS - 1) & ~(uint64_t)(MIN_BLIT_ITEMS - 1), MIN_BLIT_ITEMS);
  blit.group_size = (uint32_t)iree_min(items, MAX_BLIT_GROUP_SIZE);
  uint64_t groups = iree_min((items + blit.group_size - 1) / blit.group_size, MAX_BLIT_GROUPS);
  blit.item_count = groups * blit.group_size;
  memcpy(kernargs, &blit, sizeof(blit));
  launch_t launch = {
      .kernel = &e->queue->physical->library.kernels[builtin],
      .workgroup_size = {(uint16_t)blit.group_size, 1, 1},
      .workgroup_count = {(uint32_t)groups, 1, 1},
  };
  emit_launch(e, &launch, kernargs);
}

static uint32_t head_of(uint64_t target, uint64_t length) {
  return (uint32_t)iree_min(-target & (WORD_SIZE - 1), length);
}

static void emit_copy_bytes(emitter_t* e, uint8_t* kernargs, uint64_t target, uint64_t source, uint64_t length) {
  library_blit_t blit = {.target = target, .length = length, .head = head_of(target, length), .source = source};
  emit_blit(e, LIBRARY_copy, kernargs, blit);
}

static iree_status_t resolve(const emitter_t* e, iree_hal_buffer_ref_t ref, uint64_t* out_address,
                             uint64_t* out_length) {
  return gpu_command_resolve(e->operation->bindings, ref, out_address, out_length);
}

static iree_status_t emit_fill(emitter_t* e, const gpu_command_t* command) {
  uint64_t target = 0, length = 0;
  uint8_t* kernargs = NULL;
  IREE_RETURN_IF_ERROR(resolve(e, command->target, &target, &length));
  if (length == 0 || !reserve(e, 1, LIBRARY_ARGUMENT_SIZE, &kernargs)) return iree_ok_status();
  library_blit_t blit = {.target = target, .length = length, .head = head_of(target, length)};
  for (uint32_t i = 0; i < WORD_SIZE; ++i) blit.pattern[i] = command->pattern.data[(blit.head + i) % WORD_SIZE];
  emit_blit(e, LIBRARY_fill, kernargs, blit);
  return iree_ok_status();
}

static iree_status_t emit_copy(emitter_t* e, const gpu_command_t* command) {
  uint64_t target = 0, source = 0, length = 0, source_length = 0;
  uint8_t* kernargs = NULL;
  IREE_RETURN_IF_ERROR(resolve(e, command->target, &target, &length));
  IREE_RETURN_IF_ERROR(resolve(e, command->source, &source, &source_length));
  length = iree_min(length, source_length);
  if (length == 0 || !reserve(e, 1, LIBRARY_ARGUMENT_SIZE, &kernargs)) return iree_ok_status();
  emit_copy_bytes(e, kernargs, target, source, length);
  return iree_ok_status();
}

static iree_status_t emit_update(emitter_t* e, const gpu_command_t* command) {
  uint64_t target = 0, length = 0;
  uint8_t* kernargs = NULL;
  IREE_RETURN_IF_ERROR(resolve(e, command->target, &target, &length));
  // The data goes with the arguments.
  if (length == 0 || !reserve(e, 1, LIBRARY_ARGUMENT_SIZE + length, &kernargs)) return iree_ok_status();
  uint8_t* data = kernargs + LIBRARY_ARGUMENT_SIZE;
  memcpy(data, command->data, length);
  emit_copy_bytes(e, kernargs, target, (uint64_t)(uintptr_t)data, length);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t hidden_value(const gpu_command_t* command, uint8_t kind) {
  const uint32_t* count = command->dispatch.workgroup_count;
  switch ((metadata_hidden_t)kind) {
    case METADATA_HIDDEN_BLOCK_COUNT_X:
    case METADATA_HIDDEN_BLOCK_COUNT_Y:
    case METADATA_HIDDEN_BLOCK_COUNT_Z:
      return count[kind - METADATA_HIDDEN_BLOCK_COUNT_X];
    case METADATA_HIDDEN_GROUP_SIZE_X:
    case METADATA_HIDDEN_GROUP_SIZE_Y:
    case METADATA_HIDDEN_GROUP_SIZE_Z:
      return command->dispatch.workgroup_size[kind - METADATA_HIDDEN_GROUP_SIZE_X];
    case METADATA_HIDDEN_GRID_DIMS:
      return 3;
    case METADATA_HIDDEN_DYNAMIC_LDS:
      return command->dispatch.dynamic_memory;
    case METADATA_HIDDEN_COUNT:
      break;
  }
  return 0;
}

// Sizes are at most 8 bytes and the host is little-endian.
void emit_add_arguments(const gpu_command_t* command, uint8_t* arguments) {
  const metadata_kernel_t* info = &((const executable_function_t*)command->dispatch.function)->info;
  for (uint32_t i = 0; i < info->hidden_count; ++i) {
    uint64_t value = hidden_value(command, info->hidden[i].kind);
    memcpy(arguments + info->hidden[i].offset, &value, info->hidden[i].size);
  }
}

// Where in the arguments the counts of workgroups are, by axis; 0xFFFF where they are not.
static void find_counts(const gpu_command_t* command, uint16_t offsets[3]) {
  const metadata_kernel_t* info = &((const executable_function_t*)command->dispatch.function)->info;
  for (int i = 0; i < 3; ++i) offsets[i] = UINT16_MAX;
  for (uint32_t i = 0; i < info->hidden_count; ++i) {
    if (info->hidden[i].kind > METADATA_HIDDEN_BLOCK_COUNT_Z || info->hidden[i].size != sizeof(uint32_t)) continue;
    offsets[info->hidden[i].kind - METADATA_HIDDEN_BLOCK_COUNT_X] = info->hidden[i].offset;
  }
}

static iree_status_t check_counts(const gpu_command_t* command) {
  for (int i = 0; i < 3; ++i) {
    uint64_t items = (uint64_t)command->dispatch.workgroup_count[i] * command->dispatch.workgroup_size[i];
    if (items <= UINT32_MAX) continue;
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a grid of %u workgroups of %u is too large",
                            command->dispatch.workgroup_count[i], command->dispatch.workgroup_size[i]);
  }
  return iree_ok_status();
}

static launch_t make_launch(const emitter_t* e, const gpu_command_t* command) {
  launch_t launch = {
      .kernel = &((const executable_function_t*)command->dispatch.function)->objects[e->queue->physical->ordinal],
      .dynamic_memory = command->dispatch.dynamic_memory,
  };
  memcpy(launch.workgroup_size, command->dispatch.workgroup_size, sizeof(launch.workgroup_size));
  memcpy(launch.workgroup_count, command->dispatch.workgroup_count, sizeof(launch.workgroup_count));
  return launch;
}

static iree_status_t emit_grid(emitter_t* e, const gpu_command_t* command) {
  const uint32_t* count = command->dispatch.workgroup_count;
  if (!count[0] || !count[1] || !count[2]) return iree_ok_status();
  IREE_RETURN_IF_ERROR(check_counts(command));
  uint8_t* kernargs = NULL;
  if (!reserve(e, 1, gpu_command_arguments_size(command->dispatch.function), &kernargs)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(gpu_command_write_arguments(e->operation->bindings, command, kernargs));
  launch_t launch = make_launch(e, command);
  emit_launch(e, &launch, kernargs);
  return iree_ok_status();
}

// A packet that reads the counts, and the dispatch, of which it writes the grid and then the first word: until then the
// queue stands before it.
static iree_status_t emit_indirect(emitter_t* e, const gpu_command_t* command) {
  uint64_t counts = 0, length = 0, patch_size = iree_host_align(sizeof(library_patch_t), RING_ALIGNMENT);
  IREE_RETURN_IF_ERROR(resolve(e, command->target, &counts, &length));
  uint8_t* kernargs = NULL;
  if (!reserve(e, 2, patch_size + gpu_command_arguments_size(command->dispatch.function), &kernargs))
    return iree_ok_status();
  uint8_t* arguments = kernargs + patch_size;
  IREE_RETURN_IF_ERROR(gpu_command_write_arguments(e->operation->bindings, command, arguments));
  launch_t patch_launch = {
      .kernel = &e->queue->physical->library.kernels[LIBRARY_patch_grid],
      .workgroup_size = {1, 1, 1},
      .workgroup_count = {1, 1, 1},
  };
  emit_launch(e, &patch_launch, kernargs);
  launch_t launch = make_launch(e, command);
  library_patch_t patch = {
      .packet = (uint64_t)(uintptr_t)slot_of(e, e->packet),
      .counts = counts,
      .kernargs = (uint64_t)(uintptr_t)arguments,
      .verdict = (uint64_t)(uintptr_t)e->verdict,
      .head = write_launch(e, &launch, arguments),
  };
  find_counts(command, patch.hidden);
  memcpy(kernargs, &patch, sizeof(patch));
  *header_of(e, e->packet++) = HSA_PACKET_TYPE_INVALID;
  return iree_ok_status();
}

static iree_status_t emit_dispatch(emitter_t* e, const gpu_command_t* command) {
  return command->dispatch.is_indirect ? emit_indirect(e, command) : emit_grid(e, command);
}

iree_status_t emit_operation(emitter_t* e) {
  static iree_status_t (*const emitters[])(emitter_t* e, const gpu_command_t* command) = {
      [HAL_COMMAND_FILL] = emit_fill,
      [HAL_COMMAND_COPY] = emit_copy,
      [HAL_COMMAND_UPDATE] = emit_update,
      [HAL_COMMAND_DISPATCH] = emit_dispatch,
  };
  if (e->packet + 1 > e->packet_limit) e->is_full = true;
  const gpu_operation_t* op = e->operation;
  for (uint32_t i = 0; i < op->barrier_count && !e->is_full; ++i) emit_barrier(e, i);
  uint32_t count = op->work.count;
  while (e->next_command < count && !e->is_full) {
    const gpu_command_t* command = &op->work.commands[e->next_command];
    e->waits = e->waits || command->waits;
    IREE_RETURN_IF_ERROR(emitters[command->kind](e, command));
    if (!e->is_full) ++e->next_command;
  }
  return iree_ok_status();
}
