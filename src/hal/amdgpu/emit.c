// Packets. What an operation takes of the queue is reserved first, under its lock, and then written, by several threads
// at once. Bodies go into the hardware queue's slots; the first word of each, which makes it valid, is kept aside until
// the part is published.
#include "hal/amdgpu/counters.h"
#include "hal/amdgpu/host_queue.h"
#include "hal/amdgpu/traces.h"

enum { MAX_BLIT_GROUPS = 1024, MAX_BLIT_GROUP_SIZE = 256, MIN_BLIT_ITEMS = 32, WORD_SIZE = 16 };

// Which packets wait for all before them, and how many have come since.
typedef struct order_t {
  bool waits;               // the next one does
  uint32_t region_packets;  // the last that does and those after it
} order_t;

// Some packets, of which the first may wait.
static void order_add(order_t* order, uint32_t packet_count) {
  order->region_packets = order->waits ? packet_count : order->region_packets + packet_count;
  order->waits = false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reserving
//===----------------------------------------------------------------------------------------------------------------===

#define PATCH_SIZE iree_host_align(sizeof(library_patch_t), RING_ALIGNMENT)
#define BLIT_SIZE iree_host_align(sizeof(library_blit_t), RING_ALIGNMENT)

static bool is_empty_grid(const gpu_command_t* command) {
  const uint32_t* count = command->dispatch.workgroup_count;
  return !command->dispatch.is_indirect && (!count[0] || !count[1] || !count[2]);
}

// Packets around a dispatch whose counters are sampled: one before it, two behind it; around one that is traced: two
// before it, one behind it.
enum { SAMPLE_PACKETS = 3, TRACE_PACKETS = 3 };
static const counter_sample_t* sample_of(const gpu_operation_t* op, uint32_t command) {
  return (const counter_sample_t*)(uintptr_t)hal_profile_sample(op->base.profile, command);
}

static const dispatch_trace_t* trace_of(const gpu_operation_t* op, uint32_t command) {
  return (const dispatch_trace_t*)(uintptr_t)hal_profile_trace(op->base.profile, command);
}

// Whether the GPU is to copy arguments to where the kernel has them, before all else.
static bool copies_arguments(const gpu_command_t* command) {
  return command->kind == HAL_COMMAND_DISPATCH && command->dispatch.caller_arguments.length != 0;
}

static uint32_t packets_of(const gpu_command_t* command) {
  switch (command->kind) {
    case HAL_COMMAND_DISPATCH:
      if (is_empty_grid(command)) return 0;
      return 1 + (command->dispatch.is_indirect ? 1 : 0) + (copies_arguments(command) ? 1 : 0);
    case HAL_COMMAND_COPY:
      return command->target.length && command->source.length ? 1 : 0;
    default:
      return command->target.length ? 1 : 0;
  }
}

static uint64_t kernargs_of(const gpu_command_t* command) {
  if (command->kind == HAL_COMMAND_DISPATCH) {
    return (copies_arguments(command) ? BLIT_SIZE : 0) + (command->dispatch.is_indirect ? PATCH_SIZE : 0) +
           gpu_command_arguments_size(command->dispatch.function);
  }
  // The data of updates goes with the arguments.
  return LIBRARY_ARGUMENT_SIZE + (command->kind == HAL_COMMAND_UPDATE ? command->target.length : 0);
}

static bool has_barrier(const gpu_part_t* part, uint32_t index) {
  return part->first == 0 && !part->operation->barriers[index].is_implied;
}

static uint32_t barriers_of(const gpu_part_t* part) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < part->operation->barrier_count; ++i) count += has_barrier(part, i);
  return count;
}

static pm4_instance_t** instance_of(const host_queue_t* queue, uint64_t epoch) {
  return &queue->instances[(epoch - 1) & queue->base.entry_mask];
}

// A whole operation as one packet, where its recording has commands for that.
static bool reserve_program(host_queue_t* queue, const gpu_operation_t* op, gpu_part_t* part) {
  pm4_instance_t** instance = instance_of(queue, part->epoch);
  uint64_t end = queue->packet_head + barriers_of(part) + 1;
  *instance = NULL;
  if (hal_profile_is_timed(op->base.profile)) return false;
  if (!op->work.plan || part->first || end > queue->packet_tail + queue->aql->size) return false;
  *instance = pm4_program_take((pm4_program_t*)op->work.plan, queue->physical->ordinal);
  if (!*instance) return false;
  part->next = op->work.count;
  part->begin[PART_PACKET] = queue->packet_head;
  part->end[PART_PACKET] = end;
  part->begin[PART_KERNARG] = part->end[PART_KERNARG] = queue->kernargs.head;
  return true;
}

bool emit_reserve(host_queue_t* queue, const gpu_operation_t* op, gpu_part_t* part) {
  if (reserve_program(queue, op, part)) return true;
  uint64_t packet = queue->packet_head + barriers_of(part), kernarg = queue->kernargs.head;
  uint64_t limit = queue->packet_tail + queue->aql->size - 1;  // one is for the end
  order_t order = {.waits = true};
  if (packet > limit) return false;
  while (part->next < op->work.count) {
    const gpu_command_t* command = &op->work.commands[part->next];
    uint32_t count = packets_of(command);
    uint64_t size = count ? kernargs_of(command) : 0;
    if (count && sample_of(op, part->next)) count += SAMPLE_PACKETS;
    if (count && trace_of(op, part->next)) count += TRACE_PACKETS;
    if (packet + count > limit || (size && !ring_allocate(&queue->kernargs, &kernarg, size))) break;
    order.waits = order.waits || command->waits;
    if (count && copies_arguments(command)) {
      order_add(&order, 1);
      order.waits = true;
      --count;
      ++packet;
    }
    if (count) order_add(&order, count);
    packet += count;
    ++part->next;
  }
  if (packet == queue->packet_head && part->next < op->work.count) return false;
  // One packet after a barrier is the last to end, others need one behind them. After packets that wait comes nothing
  // but kernels that they hold back.
  bool has_kernels = packet > queue->packet_head + barriers_of(part);
  bool ends_alone = has_kernels ? order.region_packets == 1 : packet > queue->packet_head;
  // The signal of the last one may be there to take its times.
  ends_alone = ends_alone && !hal_profile_is_timed(op->base.profile);
  part->begin[PART_PACKET] = queue->packet_head;
  part->begin[PART_KERNARG] = queue->kernargs.head;
  part->end[PART_PACKET] = packet + (ends_alone ? 0 : 1);
  part->end[PART_KERNARG] = kernarg;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets
//===----------------------------------------------------------------------------------------------------------------===

// A part that is being written.
typedef struct emitter_t {
  host_queue_t* queue;
  const gpu_operation_t* operation;
  uint64_t epoch;
  uint32_t command;
  uint64_t packet;  // index of the next
  uint64_t kernarg;
  order_t order;
  bool acquires_system;  // the next kernel sees what host and other devices have written
} emitter_t;

static uint32_t make_header(uint16_t type, bool waits, uint16_t acquire, uint16_t release) {
  return (uint32_t)(type << HSA_PACKET_HEADER_TYPE | (waits ? 1 : 0) << HSA_PACKET_HEADER_BARRIER |
                    acquire << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE |
                    release << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE);
}

static void* slot_of(const emitter_t* e, uint64_t packet) {
  return (uint8_t*)e->queue->aql->base_address + (packet & (e->queue->aql->size - 1)) * 64;
}

static uint32_t* header_of(const emitter_t* e, uint64_t packet) {
  return &e->queue->headers[packet & (e->queue->aql->size - 1)];
}

// Writes the next packet but for its first word, which is to be `header`.
static void put_packet(emitter_t* e, const void* packet, uint32_t header) {
  memcpy((uint8_t*)slot_of(e, e->packet) + 4, (const uint8_t*)packet + 4, 60);
  *header_of(e, e->packet) = header;
  ++e->packet;
}

static uint8_t* take_kernargs(emitter_t* e, uint64_t size) {
  return ring_place(&e->queue->kernargs, &e->kernarg, size);
}

static uint16_t acquire_scope(emitter_t* e) {
  uint16_t scope = e->acquires_system ? HSA_FENCE_SCOPE_SYSTEM : HSA_FENCE_SCOPE_AGENT;
  e->acquires_system = false;
  return scope;
}

// The first word of the next packet, which is for some kernel; it has three dimensions.
static uint32_t next_header(emitter_t* e) {
  uint32_t header =
      make_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, e->order.waits, acquire_scope(e), HSA_FENCE_SCOPE_AGENT);
  order_add(&e->order, 1);
  return header | 3u << 16;
}

// Runs a kernel of the driver's own.
static void put_builtin(emitter_t* e, library_builtin_t builtin, uint32_t group_size, uint32_t group_count,
                        const void* kernargs) {
  const kernel_object_t* kernel = &e->queue->physical->library.kernels[builtin];
  hsa_kernel_dispatch_packet_t packet = {
      .workgroup_size = {(uint16_t)group_size, 1, 1},
      .grid_size = {group_count * group_size, 1, 1},
      .private_segment_size = kernel->private_size,
      .group_segment_size = kernel->group_size,
      .kernel_object = kernel->handle,
      .kernarg_address = (uint64_t)(uintptr_t)kernargs,
  };
  put_packet(e, &packet, next_header(e));
}

// Does nothing, where a packet was reserved.
static void put_nothing(emitter_t* e) {
  hsa_barrier_and_packet_t packet = {0};
  uint32_t header =
      make_header(HSA_PACKET_TYPE_BARRIER_AND, e->order.waits, HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_NONE);
  order_add(&e->order, 1);
  put_packet(e, &packet, header);
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

static void write_jump(uint64_t commands, uint32_t word_count, void* packet) {
  *(hsa_amd_pm4_ib_packet_t*)packet = (hsa_amd_pm4_ib_packet_t){
      .amd_format = HSA_AMD_PACKET_TYPE_PM4_IB,
      .jump = {HSA_AMD_PM4_HEADER(HSA_AMD_PM4_INDIRECT_BUFFER, 3), (uint32_t)commands, (uint32_t)(commands >> 32),
               word_count | HSA_AMD_PM4_IB_VALID},
      .remaining = HSA_AMD_PM4_IB_REMAINING,
  };
}

static void write_memory_wait(const gpu_barrier_t* barrier, wait_commands_t* commands, void* packet) {
  uint64_t signal = ((const host_queue_t*)barrier->queue)->epoch_signal.handle + HSA_AMD_SIGNAL_VALUE_OFFSET;
  uint64_t value = (uint64_t)value_after(barrier->epoch);
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
  write_jump((uint64_t)(uintptr_t)commands, WAIT_COMMANDS_SIZE, packet);
}

// Waits for a submission of another queue, the operation's `index`th. The kind is in the first word's upper half.
static void put_barrier(emitter_t* e, uint32_t index) {
  const gpu_barrier_t* barrier = &e->operation->barriers[index];
  host_queue_t* queue = e->queue;
  uint32_t packet[16];
  if (queue->physical->wait_packet == WAIT_PACKET_MEMORY) {
    uint64_t slot = ((e->epoch - 1) & queue->base.entry_mask) * GPU_MAX_BARRIERS + index;
    write_memory_wait(barrier, &queue->wait_commands[slot], packet);
  } else {
    write_barrier_value(barrier, packet);
  }
  uint32_t header = make_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true, HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_NONE);
  put_packet(e, packet, header | packet[0]);
}

// Runs the operation's commands in the GPU's own format.
static void put_program(emitter_t* e, pm4_instance_t* instance) {
  uint32_t packet[16], word_count = 0;
  pm4_instance_patch(instance, e->operation->ranges);
  uint64_t commands = pm4_instance_address(instance, &word_count);
  write_jump(commands, word_count, packet);
  uint32_t header = make_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true, acquire_scope(e), HSA_FENCE_SCOPE_AGENT);
  put_packet(e, packet, header | packet[0]);
}

// Makes the last packet signal the end.
static void put_end(emitter_t* e, const gpu_part_t* part) {
  const uint32_t scope_mask = 3u << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
  const uint16_t scope = e->operation->releases_agent ? HSA_FENCE_SCOPE_AGENT : HSA_FENCE_SCOPE_SYSTEM;
  if (e->packet == part->end[PART_PACKET]) {
    hsa_kernel_dispatch_packet_t* last = (hsa_kernel_dispatch_packet_t*)slot_of(e, e->packet - 1);
    last->completion_signal = e->queue->epoch_signal;
    uint32_t* header = header_of(e, e->packet - 1);
    *header = (*header & ~scope_mask) | (uint32_t)scope << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
    return;
  }
  hsa_barrier_and_packet_t packet = {.completion_signal = e->queue->epoch_signal};
  put_packet(e, &packet, make_header(HSA_PACKET_TYPE_BARRIER_AND, true, acquire_scope(e), scope));
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

// Runs a fill or copy of which target, length and what is written are known.
static void put_blit(emitter_t* e, library_builtin_t builtin, uint8_t* kernargs, library_blit_t blit) {
  uint64_t words = (blit.length - blit.head) / WORD_SIZE;
  uint64_t items = iree_max((words + MIN_BLIT_ITEMS - 1) & ~(uint64_t)(MIN_BLIT_ITEMS - 1), MIN_BLIT_ITEMS);
  blit.group_size = (uint32_t)iree_min(items, MAX_BLIT_GROUP_SIZE);
  uint64_t groups = iree_min((items + blit.group_size - 1) / blit.group_size, MAX_BLIT_GROUPS);
  blit.item_count = groups * blit.group_size;
  memcpy(kernargs, &blit, sizeof(blit));
  put_builtin(e, builtin, blit.group_size, (uint32_t)groups, kernargs);
}

static uint32_t head_of(uint64_t target, uint64_t length) {
  return (uint32_t)iree_min(-target & (WORD_SIZE - 1), length);
}

static void put_copy_bytes(emitter_t* e, uint8_t* kernargs, uint64_t target, uint64_t source, uint64_t length) {
  library_blit_t blit = {.target = target, .length = length, .head = head_of(target, length), .source = source};
  put_blit(e, LIBRARY_copy, kernargs, blit);
}

static gpu_range_t resolve(const emitter_t* e, gpu_ref_t ref) { return gpu_ref_resolve(ref, e->operation->ranges); }

static void put_fill(emitter_t* e, const gpu_command_t* command) {
  uint8_t* kernargs = take_kernargs(e, kernargs_of(command));
  gpu_range_t target = resolve(e, command->target);
  if (target.length == 0) {
    put_nothing(e);
    return;
  }
  library_blit_t blit = {
      .target = target.address, .length = target.length, .head = head_of(target.address, target.length)};
  for (uint32_t i = 0; i < WORD_SIZE; ++i) blit.pattern[i] = command->pattern.data[(blit.head + i) % WORD_SIZE];
  put_blit(e, LIBRARY_fill, kernargs, blit);
}

static void put_copy(emitter_t* e, const gpu_command_t* command) {
  uint8_t* kernargs = take_kernargs(e, kernargs_of(command));
  gpu_range_t target = resolve(e, command->target), source = resolve(e, command->source);
  uint64_t length = iree_min(target.length, source.length);
  if (length == 0) {
    put_nothing(e);
  } else {
    put_copy_bytes(e, kernargs, target.address, source.address, length);
  }
}

static void put_update(emitter_t* e, const gpu_command_t* command) {
  uint8_t* kernargs = take_kernargs(e, kernargs_of(command));
  gpu_range_t target = resolve(e, command->target);
  uint8_t* data = kernargs + LIBRARY_ARGUMENT_SIZE;
  memcpy(data, command->data, target.length);
  put_copy_bytes(e, kernargs, target.address, (uint64_t)(uintptr_t)data, target.length);
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

void emit_make_form(const gpu_command_t* command, void* data) {
  const kernel_object_t* objects = ((const executable_function_t*)command->dispatch.function)->objects;
  emit_form_t* form = (emit_form_t*)data;
  *form = (emit_form_t){.objects = objects};
  form->packet.private_segment_size = objects[0].private_size;
  form->packet.group_segment_size = objects[0].group_size + command->dispatch.dynamic_memory;
  memcpy(form->packet.workgroup_size, command->dispatch.workgroup_size, sizeof(form->packet.workgroup_size));
  for (int i = 0; i < 3; ++i) {
    form->packet.grid_size[i] = command->dispatch.workgroup_count[i] * command->dispatch.workgroup_size[i];
  }
}

// A packet of a sample or trace, which waits for what is before it, and is waited for.
static void put_watching(emitter_t* e, const hsa_amd_pm4_ib_packet_t* packet) {
  uint32_t head;
  memcpy(&head, packet, sizeof(head));
  head = make_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true, HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_SYSTEM) |
         (head & 0xFFFF0000u);
  put_packet(e, packet, head);
  e->order.waits = true;
}

static void begin_watching(emitter_t* e) {
  const counter_sample_t* sample = sample_of(e->operation, e->command);
  const dispatch_trace_t* trace = trace_of(e->operation, e->command);
  if (trace) {
    put_watching(e, &trace->packets.start);
    put_watching(e, &trace->code);
  }
  if (sample) put_watching(e, &sample->packets.start);
}

static void end_watching(emitter_t* e) {
  const counter_sample_t* sample = sample_of(e->operation, e->command);
  const dispatch_trace_t* trace = trace_of(e->operation, e->command);
  if (sample) {
    put_watching(e, &sample->packets.read);
    put_watching(e, &sample->packets.stop);
  }
  if (trace) put_watching(e, &trace->packets.stop);
}

// Copies the packet that was made before, with what is this submission's. Returns its first word.
static void put_dispatch(emitter_t* e, const gpu_command_t* command, uint8_t* arguments, uint32_t header) {
  const emit_form_t* form = (const emit_form_t*)command->dispatch.form;
  hsa_kernel_dispatch_packet_t packet = form->packet;
  packet.kernel_object = form->objects[e->queue->physical->ordinal].handle;
  packet.kernarg_address = (uint64_t)(uintptr_t)arguments;
  if (hal_profile_is_timed(e->operation->base.profile)) {
    packet.completion_signal.handle = hal_profile_timer(e->operation->base.profile, e->command);
  }
  gpu_command_write_arguments(command, e->operation->ranges, arguments);
  put_packet(e, &packet, header);
}

// A packet that reads the counts, and the dispatch, of which it writes the grid and then the first word: until then the
// queue stands before it.
static void put_indirect(emitter_t* e, const gpu_command_t* command, uint8_t* kernargs) {
  uint8_t* arguments = kernargs + PATCH_SIZE;
  put_builtin(e, LIBRARY_patch_grid, 1, 1, kernargs);
  begin_watching(e);
  library_patch_t patch = {
      .packet = (uint64_t)(uintptr_t)slot_of(e, e->packet),
      .counts = resolve(e, command->target).address,
      .kernargs = (uint64_t)(uintptr_t)arguments,
      .verdict = (uint64_t)(uintptr_t)&e->queue->verdicts[(e->epoch - 1) & e->queue->base.entry_mask],
      .head = next_header(e),
  };
  find_counts(command, patch.hidden);
  memcpy(kernargs, &patch, sizeof(patch));
  put_dispatch(e, command, arguments, HSA_PACKET_TYPE_INVALID);
}

static void put_dispatch_command(emitter_t* e, const gpu_command_t* command) {
  uint8_t* kernargs = take_kernargs(e, kernargs_of(command));
  if (copies_arguments(command)) {
    gpu_range_t source = resolve(e, command->dispatch.caller_arguments);
    uint8_t* blit = kernargs;
    kernargs += BLIT_SIZE;
    uint8_t* arguments = kernargs + (command->dispatch.is_indirect ? PATCH_SIZE : 0);
    put_copy_bytes(e, blit, (uint64_t)(uintptr_t)arguments, source.address, source.length);
    e->order.waits = true;
  }
  if (command->dispatch.is_indirect) {
    put_indirect(e, command, kernargs);
  } else {
    begin_watching(e);
    put_dispatch(e, command, kernargs, next_header(e));
  }
  end_watching(e);
}

static void put_command(emitter_t* e, const gpu_command_t* command) {
  e->order.waits = e->order.waits || command->waits;
  if (packets_of(command) == 0) return;
  switch (command->kind) {
    case HAL_COMMAND_FILL:
      put_fill(e, command);
      break;
    case HAL_COMMAND_COPY:
      put_copy(e, command);
      break;
    case HAL_COMMAND_UPDATE:
      put_update(e, command);
      break;
    case HAL_COMMAND_DISPATCH:
      put_dispatch_command(e, command);
      break;
  }
}

void emit_part(host_queue_t* queue, const gpu_part_t* part) {
  emitter_t e = {
      .queue = queue,
      .operation = part->operation,
      .epoch = part->epoch,
      .packet = part->begin[PART_PACKET],
      .kernarg = part->begin[PART_KERNARG],
      .order = {.waits = true},
      .acquires_system = !part->operation->acquires_agent,
  };
  for (uint32_t i = 0; i < part->operation->barrier_count; ++i) {
    if (has_barrier(part, i)) put_barrier(&e, i);
  }
  pm4_instance_t* instance = *instance_of(queue, part->epoch);
  if (instance) {
    put_program(&e, instance);
  } else {
    for (e.command = part->first; e.command < part->next; ++e.command) {
      put_command(&e, &part->operation->work.commands[e.command]);
    }
  }
  put_end(&e, part);
}
