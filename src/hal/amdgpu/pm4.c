// Programs of dispatches. Source: the opcodes and registers of the Linux kernel's amdgpu driver (soc15d.h, nvd.h,
// gc_*_offset.h), whose compute registers have the same places in every family but for COMPUTE_PGM_RSRC3.
#include "hal/amdgpu/pm4.h"

#include "hal/amdgpu/host_queue.h"
#include "hal/idle_list.h"

enum { MAX_INSTANCES = 16 };   // for one GPU
enum { MAX_WORDS = 0xFFFFF };  // that one jump leads to

enum { EVENT_WRITE = 0x46, ACQUIRE_MEM = 0x58, DISPATCH_DIRECT = 0x15, SET_SH_REG = 0x76 };
enum { COMPUTE_SHADER = 1 << 1 };  // of a header
enum { CS_PARTIAL_FLUSH = 7 | 4 << 8 };

// Registers, from 0x2C00 on.
enum {
  COMPUTE_START_X = 0x204,
  COMPUTE_NUM_THREAD_X = 0x207,
  COMPUTE_PGM_LO = 0x20C,
  COMPUTE_PGM_RSRC1 = 0x212,
  COMPUTE_RESOURCE_LIMITS = 0x215,
  COMPUTE_TMPRING_SIZE = 0x218,
  COMPUTE_RESTART_X = 0x21B,
  COMPUTE_PGM_RSRC3 = 0x228,
  COMPUTE_PGM_RSRC3_GFX9 = 0x22D,
  COMPUTE_USER_DATA_0 = 0x240,
};

// Fields of registers.
enum {
  RSRC2_SCRATCH = 1 << 0,
  RSRC2_USER_COUNT_SHIFT = 1,
  RSRC2_USER_COUNT_MASK = 31,
  RSRC2_LDS_SHIFT = 15,
  RSRC2_LDS_MASK = 511,
  LDS_UNIT = 512,
  INITIATOR_SHADER = 1 << 0,
  INITIATOR_FROM_ZERO = 1 << 2,
  INITIATOR_WAVE32 = 1 << 15,
  MAX_USER = 16,
};

// What a barrier makes new: caches of constants and of vectors, which are a workgroup processor's own.
enum {
  GFX9_COHER_VECTORS = 1 << 22,
  GFX9_COHER_CONSTANTS = 1 << 27,
  GFX10_GCR_CONSTANTS = 1 << 7,
  GFX10_GCR_VECTORS = 1 << 8,
  GFX10_GCR_ARRAYS = 1 << 9,
  ACQUIRE_INTERVAL = 10,
};

// A kernel argument that is the address of a slot's byte.
typedef struct place_t {
  uint32_t at;  // byte of an instance's memory
  uint32_t slot;
  uint64_t offset;
} place_t;

struct pm4_instance_t {
  pm4_program_t* program;
  hal_idle_t idle;
  pm4_instance_t* next;  // of all
  uint32_t physical;
  uint8_t* memory;  // commands, then for each dispatch its packet and its arguments
};

// By GPU.
typedef struct pm4_store_t {
  hal_idle_list_t idle;
  iree_atomic_uint32_t count;
  iree_atomic_intptr_t all;  // pm4_instance_t
} pm4_store_t;

struct pm4_program_t {
  iree_allocator_t host_allocator;
  system_t* system;  // retained
  uint32_t word_count;
  size_t size;  // bytes of an instance's memory
  uint32_t place_count;
  place_t* places;
  uint8_t* templates;  // of instances, by GPU; addresses within are from the memory's start
  uint32_t* fixups;    // words that are the lower half of such an address
  uint32_t fixup_count;
  uint32_t physical_count;
  const system_gpu_t** gpus;
  pm4_store_t stores[];
};

//===----------------------------------------------------------------------------------------------------------------===
// Which recordings
//===----------------------------------------------------------------------------------------------------------------===

static const executable_function_t* function_of(const gpu_command_t* command) {
  return (const executable_function_t*)command->dispatch.function;
}

static bool is_empty(const gpu_command_t* command) {
  const uint32_t* count = command->dispatch.workgroup_count;
  return !count[0] || !count[1] || !count[2];
}

// Kernels for gfx11 have more registers set than they use.
static uint32_t user_count(const descriptor_t* descriptor) {
  return descriptor->resource[1] >> RSRC2_USER_COUNT_SHIFT & RSRC2_USER_COUNT_MASK;
}

static uint32_t named_count(uint16_t properties) {
  return (properties & DESCRIPTOR_PRIVATE_BUFFER ? 4 : 0) + (properties & DESCRIPTOR_DISPATCH_PACKET ? 2 : 0) +
         (properties & DESCRIPTOR_ARGUMENTS ? 2 : 0);
}

// Kernels with scratch, whose place only the queue's own packets know, and those that want other registers do not.
static bool qualifies(const gpu_command_t* command) {
  const uint16_t known =
      DESCRIPTOR_PRIVATE_BUFFER | DESCRIPTOR_DISPATCH_PACKET | DESCRIPTOR_ARGUMENTS | DESCRIPTOR_WAVE32;
  if (command->kind != HAL_COMMAND_DISPATCH || command->dispatch.is_indirect ||
      command->dispatch.caller_arguments.length) {
    return false;
  }
  const executable_function_t* function = function_of(command);
  const descriptor_t* descriptor = &function->descriptor;
  uint32_t local = function->objects[0].group_size + command->dispatch.dynamic_memory;
  return function->has_descriptor && !(descriptor->properties & ~known) && !descriptor->preload &&
         !function->objects[0].private_size && !(descriptor->resource[1] & RSRC2_SCRATCH) &&
         user_count(descriptor) <= MAX_USER && user_count(descriptor) >= named_count(descriptor->properties) &&
         local <= RSRC2_LDS_MASK * LDS_UNIT;
}

static bool all_qualify(const gpu_work_t* work) {
  for (uint32_t i = 0; i < work->count; ++i) {
    if (!qualifies(&work->commands[i])) return false;
  }
  return work->count > 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

// Writes commands, or counts them where `words` is NULL.
typedef struct writer_t {
  const logical_device_t* device;
  const gpu_work_t* work;
  pm4_program_t* program;
  uint32_t* words;
  uint32_t count, fixup_count, place_count;
  uint32_t physical;
  size_t data;  // bytes behind the commands so far
} writer_t;

static void put(writer_t* w, uint32_t word) {
  if (w->words) w->words[w->count] = word;
  ++w->count;
}

static void put_registers(writer_t* w, uint32_t first, const uint32_t* values, uint32_t count) {
  put(w, HSA_AMD_PM4_HEADER(SET_SH_REG, count + 1));
  put(w, first);
  for (uint32_t i = 0; i < count; ++i) put(w, values[i]);
}

static void put_start(writer_t* w) {
  static const uint32_t zeros[3];
  put_registers(w, COMPUTE_START_X, zeros, 3);
  put_registers(w, COMPUTE_RESOURCE_LIMITS, zeros, 1);
  put_registers(w, COMPUTE_TMPRING_SIZE, zeros, 1);
  put_registers(w, COMPUTE_RESTART_X, zeros, 3);
}

static void put_flush(writer_t* w) {
  put(w, HSA_AMD_PM4_HEADER(EVENT_WRITE, 1));
  put(w, CS_PARTIAL_FLUSH);
}

static bool is_gfx9(const writer_t* w) { return w->device->physical[w->physical].pm4_format == PM4_FORMAT_GFX9; }

// What comes next begins when all before it has ended, and sees what that wrote.
static void put_barrier(writer_t* w) {
  const uint32_t gfx9[] = {GFX9_COHER_VECTORS | GFX9_COHER_CONSTANTS, UINT32_MAX, 0xFF, 0, 0, ACQUIRE_INTERVAL};
  const uint32_t gfx10[] = {
      0, UINT32_MAX, 0xFF, 0, 0, ACQUIRE_INTERVAL, GFX10_GCR_CONSTANTS | GFX10_GCR_VECTORS | GFX10_GCR_ARRAYS};
  const uint32_t* words = is_gfx9(w) ? gfx9 : gfx10;
  uint32_t count = is_gfx9(w) ? IREE_ARRAYSIZE(gfx9) : IREE_ARRAYSIZE(gfx10);
  put_flush(w);
  put(w, HSA_AMD_PM4_HEADER(ACQUIRE_MEM, count));
  for (uint32_t i = 0; i < count; ++i) put(w, words[i]);
}

// The next two words that are written are the address of a byte of the instance's memory.
static void note_fixup(writer_t* w, uint32_t word) {
  if (w->words) w->program->fixups[w->fixup_count] = word;
  ++w->fixup_count;
}

// Space behind the commands. Returns where it begins in the instance's memory.
static size_t take_data(writer_t* w, size_t size) {
  size_t at = w->data;
  w->data += iree_host_align(size, RING_ALIGNMENT);
  return at;
}

static size_t put_packet_copy(writer_t* w, const gpu_command_t* command) {
  size_t at = take_data(w, sizeof(hsa_kernel_dispatch_packet_t));
  if (!w->words) return at;
  hsa_kernel_dispatch_packet_t packet = ((const emit_form_t*)command->dispatch.form)->packet;
  packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  packet.setup = 3;
  packet.kernel_object = function_of(command)->objects[w->physical].handle;
  memcpy((uint8_t*)w->words + at, &packet, sizeof(packet));
  return at;
}

static size_t put_arguments(writer_t* w, const gpu_command_t* command) {
  size_t at = take_data(w, gpu_command_arguments_size(command->dispatch.function));
  for (uint32_t i = 0; i < command->dispatch.patch_count; ++i) {
    const gpu_patch_t* patch = &command->dispatch.patches[i];
    if (w->words) {
      w->program->places[w->place_count] = (place_t){(uint32_t)at + patch->at, patch->slot, patch->offset};
    }
    ++w->place_count;
  }
  if (w->words) {
    memcpy((uint8_t*)w->words + at, command->dispatch.arguments,
           gpu_command_arguments_size(command->dispatch.function));
  }
  return at;
}

// The registers that a kernel finds set.
static void put_user(writer_t* w, const gpu_command_t* command) {
  const descriptor_t* descriptor = &function_of(command)->descriptor;
  uint16_t properties = descriptor->properties;
  uint32_t values[MAX_USER] = {0}, count = properties & DESCRIPTOR_PRIVATE_BUFFER ? 4 : 0;
  uint32_t first = w->count + 2;  // behind the header and the register's number
  if (properties & DESCRIPTOR_DISPATCH_PACKET) {
    note_fixup(w, first + count);
    values[count] = (uint32_t)put_packet_copy(w, command);
    count += 2;
  }
  if (properties & DESCRIPTOR_ARGUMENTS) {
    note_fixup(w, first + count);
    values[count] = (uint32_t)put_arguments(w, command);
  }
  if (user_count(descriptor)) put_registers(w, COMPUTE_USER_DATA_0, values, user_count(descriptor));
}

static void put_dispatch(writer_t* w, const gpu_command_t* command) {
  const executable_function_t* function = function_of(command);
  const descriptor_t* descriptor = &function->descriptor;
  const kernel_object_t* object = &function->objects[w->physical];
  uint64_t entry = (object->handle + (uint64_t)descriptor->entry) >> 8;
  uint32_t local = (object->group_size + command->dispatch.dynamic_memory + LDS_UNIT - 1) / LDS_UNIT;
  const uint32_t program[] = {(uint32_t)entry, (uint32_t)(entry >> 32)};
  const uint32_t resources[] = {
      descriptor->resource[0],
      (descriptor->resource[1] & ~((uint32_t)RSRC2_LDS_MASK << RSRC2_LDS_SHIFT)) | local << RSRC2_LDS_SHIFT};
  const uint16_t* size = command->dispatch.workgroup_size;
  const uint32_t threads[] = {size[0], size[1], size[2]};
  put_registers(w, COMPUTE_PGM_LO, program, 2);
  put_registers(w, COMPUTE_PGM_RSRC1, resources, 2);
  put_registers(w, is_gfx9(w) ? COMPUTE_PGM_RSRC3_GFX9 : COMPUTE_PGM_RSRC3, &descriptor->resource[2], 1);
  put_registers(w, COMPUTE_NUM_THREAD_X, threads, 3);
  put_user(w, command);
  put(w, HSA_AMD_PM4_HEADER(DISPATCH_DIRECT, 4) | COMPUTE_SHADER);
  for (int i = 0; i < 3; ++i) put(w, command->dispatch.workgroup_count[i]);
  put(w, INITIATOR_SHADER | INITIATOR_FROM_ZERO | (descriptor->properties & DESCRIPTOR_WAVE32 ? INITIATOR_WAVE32 : 0u));
}

// Ends with all of it over, so that the packet's end is the program's.
static void put_program(writer_t* w) {
  bool waits = false, is_first = true;
  put_start(w);
  for (uint32_t i = 0; i < w->work->count; ++i) {
    const gpu_command_t* command = &w->work->commands[i];
    waits = waits || command->waits;
    if (is_empty(command)) continue;
    if (waits && !is_first) put_barrier(w);
    waits = is_first = false;
    put_dispatch(w, command);
  }
  put_flush(w);
}

//===----------------------------------------------------------------------------------------------------------------===
// Instances
//===----------------------------------------------------------------------------------------------------------------===

static const libhsa_t* hsa_of(const pm4_program_t* program) { return program->system->hsa; }

static iree_status_t allocate_memory(const pm4_program_t* program, const system_gpu_t* gpu, uint8_t** out_memory) {
  const libhsa_t* hsa = hsa_of(program);
  hsa_amd_memory_pool_t pool = program->system->cpus[gpu->cpu].kernarg.handle;
  void* memory = NULL;
  IREE_RETURN_IF_ERROR(libhsa_allocate_commands(hsa, pool, program->size, &memory));
  iree_status_t status = LIBHSA_CALL(hsa, hsa_amd_agents_allow_access, 1, &gpu->agent, NULL, memory);
  if (iree_status_is_ok(status)) {
    *out_memory = (uint8_t*)memory;
  } else {
    hsa->hsa_amd_memory_pool_free(memory);
  }
  return status;
}

static void fill_memory(const pm4_program_t* program, uint32_t physical, uint8_t* memory) {
  memcpy(memory, program->templates + physical * program->size, program->size);
  uint32_t* words = (uint32_t*)memory;
  for (uint32_t i = 0; i < program->fixup_count; ++i) {
    uint32_t* at = words + program->fixups[i];
    uint64_t address = (uint64_t)(uintptr_t)memory + at[0];
    at[0] = (uint32_t)address, at[1] = (uint32_t)(address >> 32);
  }
}

static iree_status_t create_instance(pm4_program_t* program, uint32_t physical, pm4_instance_t** out_instance) {
  pm4_instance_t* instance = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(program->host_allocator, sizeof(*instance), (void**)&instance));
  iree_status_t status = allocate_memory(program, program->gpus[physical], &instance->memory);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(program->host_allocator, instance);
    return status;
  }
  instance->program = program;
  instance->physical = physical;
  fill_memory(program, physical, instance->memory);
  pm4_store_t* store = &program->stores[physical];
  intptr_t next = iree_atomic_load(&store->all, iree_memory_order_relaxed);
  do {
    instance->next = (pm4_instance_t*)next;
  } while (!iree_atomic_compare_exchange_strong(&store->all, &next, (intptr_t)instance, iree_memory_order_release,
                                                iree_memory_order_relaxed));
  *out_instance = instance;
  return iree_ok_status();
}

// With all addresses known, all submissions share the first instance.
pm4_instance_t* pm4_program_take(pm4_program_t* program, uint32_t physical) {
  pm4_store_t* store = &program->stores[physical];
  if (!program->place_count) return (pm4_instance_t*)iree_atomic_load(&store->all, iree_memory_order_acquire);
  pm4_instance_t* instance = hal_idle_object(hal_idle_list_take(&store->idle), offsetof(pm4_instance_t, idle));
  if (instance) return instance;
  if (iree_atomic_fetch_add(&store->count, 1, iree_memory_order_relaxed) < MAX_INSTANCES &&
      iree_status_consume_code(create_instance(program, physical, &instance)) == IREE_STATUS_OK) {
    return instance;
  }
  iree_atomic_fetch_sub(&store->count, 1, iree_memory_order_relaxed);
  return NULL;
}

void pm4_instance_give(pm4_instance_t* instance) {
  if (instance->program->place_count) {
    hal_idle_list_give(&instance->program->stores[instance->physical].idle, &instance->idle);
  }
}

void pm4_instance_patch(pm4_instance_t* instance, const gpu_range_t* ranges) {
  const pm4_program_t* program = instance->program;
  for (uint32_t i = 0; i < program->place_count; ++i) {
    const place_t* place = &program->places[i];
    uint64_t address = ranges[place->slot].address + place->offset;
    memcpy(instance->memory + place->at, &address, sizeof(address));
  }
}

uint64_t pm4_instance_address(const pm4_instance_t* instance, uint32_t* out_word_count) {
  *out_word_count = instance->program->word_count;
  return (uint64_t)(uintptr_t)instance->memory;
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static void free_store(pm4_program_t* program, pm4_store_t* store) {
  pm4_instance_t* instance = (pm4_instance_t*)iree_atomic_load(&store->all, iree_memory_order_acquire);
  while (instance) {
    pm4_instance_t* next = instance->next;
    hsa_of(program)->hsa_amd_memory_pool_free(instance->memory);
    iree_allocator_free(program->host_allocator, instance);
    instance = next;
  }
  hal_idle_list_deinitialize(&store->idle);
}

void pm4_program_free(void* data) {
  pm4_program_t* program = (pm4_program_t*)data;
  for (uint32_t i = 0; i < program->physical_count; ++i) free_store(program, &program->stores[i]);
  iree_allocator_free(program->host_allocator, program->gpus);
  iree_allocator_free(program->host_allocator, program->places);
  iree_allocator_free(program->host_allocator, program->fixups);
  iree_allocator_free(program->host_allocator, program->templates);
  system_release(program->system);
  iree_allocator_free(program->host_allocator, program);
}

// The templates, and for each GPU a first instance, so that one submission after the other allocates nothing.
static iree_status_t build(pm4_program_t* program, const writer_t* counted) {
  iree_allocator_t host_allocator = program->host_allocator;
  size_t begin = iree_host_align(counted->count * sizeof(uint32_t), RING_ALIGNMENT);
  program->word_count = counted->count;
  program->size = begin + counted->data;
  program->place_count = counted->place_count;
  program->fixup_count = counted->fixup_count;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(host_allocator, program->physical_count, program->size, (void**)&program->templates));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, program->fixup_count + 1, sizeof(*program->fixups),
                                                   (void**)&program->fixups));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, program->place_count + 1, sizeof(*program->places),
                                                   (void**)&program->places));
  for (uint32_t i = 0; i < program->physical_count; ++i) {
    writer_t writer = {
        .device = counted->device, .work = counted->work, .program = program, .physical = i, .data = begin};
    writer.words = (uint32_t*)(program->templates + i * program->size);
    put_program(&writer);
    pm4_instance_t* instance = NULL;
    IREE_RETURN_IF_ERROR(create_instance(program, i, &instance));
    iree_atomic_store(&program->stores[i].count, 1u, iree_memory_order_relaxed);
    pm4_instance_give(instance);
  }
  return iree_ok_status();
}

iree_status_t pm4_program_create(gpu_device_t* base, const gpu_work_t* work, void** out_program) {
  logical_device_t* device = (logical_device_t*)base;
  iree_allocator_t host_allocator = base->base.host_allocator;
  uint32_t count = base->domain.physical_count;
  *out_program = NULL;
  if (!device->makes_pm4 || work->is_one_shot || !all_qualify(work)) return iree_ok_status();
  writer_t counted = {.device = device, .work = work};
  put_program(&counted);
  if (counted.count > MAX_WORDS || counted.data > INT32_MAX) return iree_ok_status();
  pm4_program_t* program = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*program), count,
                                                          sizeof(program->stores[0]), (void**)&program));
  program->host_allocator = host_allocator;
  program->system = device->system;
  system_retain(device->system);
  program->physical_count = count;
  for (uint32_t i = 0; i < count; ++i) hal_idle_list_initialize(&program->stores[i].idle);
  iree_status_t status =
      iree_allocator_malloc_array(host_allocator, count, sizeof(*program->gpus), (void**)&program->gpus);
  for (uint32_t i = 0; i < count && iree_status_is_ok(status); ++i) program->gpus[i] = device->physical[i].gpu;
  if (iree_status_is_ok(status)) status = build(program, &counted);
  if (!iree_status_is_ok(status)) {
    pm4_program_free(program);
    return status;
  }
  *out_program = program;
  return iree_ok_status();
}
