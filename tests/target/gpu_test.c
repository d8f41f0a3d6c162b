// GPU code generation: kernels that use ids, workgroup memory, barriers, lane shuffles, atomics, asynchronous copies
// and every matrix instruction compile for every architecture of the tables; ptxas and clang, where installed, agree.
#include "gpu_kernels.h"

static void add_all(harness_t* h, const target_t* target) {
  gpu_add_elementwise(h, target);
  gpu_add_cooperative(h, target);
  for (int i = 0; i < target->device.mma_count; ++i) gpu_add_matrix(h, target, &target->device.mma[i]);
}

//===----------------------------------------------------------------------------------------------------------------===
// NVIDIA
//===----------------------------------------------------------------------------------------------------------------===

static bool have_program(const char* name) {
  char command[128];
  snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
  return system(command) == 0;
}

static bool has_name(const char* arch, const char* list) {
  size_t size = strlen(arch);
  for (const char* at = list; (at = strstr(at, arch)); at += size) {
    if (at[size] == '\'') return true;
  }
  return false;
}

// What this ptxas takes, out of its help.
static const char* ptxas_names(void) {
  static char text[65536];
  FILE* pipe = have_program("ptxas") ? popen("ptxas --help 2>/dev/null", "r") : NULL;
  if (!pipe) return "";
  text[fread(text, 1, sizeof(text) - 1, pipe)] = 0;
  pclose(pipe);
  return text;
}

static void check_ptx(const target_t* target, const target_executable_t* executable) {
  char path[32], command[160];
  int fd = memfd_create("ptx", 0);
  assert_int_equal(write(fd, executable->data, executable->size), executable->size);
  snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
  snprintf(command, sizeof(command), "ptxas -arch=%s -o /dev/null %s", target->cpu, path);
  if (system(command) != 0) fail_msg("ptxas refuses the code for %s", target->cpu);
  close(fd);
}

static void test_cuda_all(void** state) {
  const char* names = ptxas_names();
  if (!*names) print_message("ptxas not found: its opinion is not asked\n");
  for (uint32_t i = 0; target_known_name(TARGET_CUDA, i); ++i) {
    const char* name = target_known_name(TARGET_CUDA, i);
    target_t target;
    harness_resolve(&(target_options_t){.backend = "cuda", .cpu = name}, &target);
    if (strcmp(target.cpu, name) != 0) continue;  // products and code names stand for architectures
    harness_t* h = calloc(1, sizeof(*h));
    harness_init(h);
    add_all(h, &target);
    harness_compile(h, &target, NULL);
    char wanted[32];
    snprintf(wanted, sizeof(wanted), ".target %s\n", name);
    assert_non_null(strstr(h->executable.data, wanted));
    assert_int_equal(h->executable.entries[1].workgroup_memory_bytes, 512);
    assert_int_equal(h->executable.entries[1].workgroup_size[0], 128);
    if (has_name(name, names)) check_ptx(&target, &h->executable);
    harness_finish(h);
    free(h);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// AMD
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t elf_flags(const target_executable_t* executable) {
  uint32_t flags;
  const unsigned char* elf = executable->data;
  assert_true(executable->size > 64 && memcmp(elf, "\177ELF\2\1\1\100", 8) == 0);
  assert_int_equal(elf[18], 224);  // EM_AMDGPU
  memcpy(&flags, elf + 48, 4);
  return flags;
}

static void test_rocm_all(void** state) {
  for (uint32_t i = 0; target_known_name(TARGET_ROCM, i); ++i) {
    const char* name = target_known_name(TARGET_ROCM, i);
    target_t target;
    harness_resolve(&(target_options_t){.backend = "rocm", .cpu = name}, &target);
    if (strcmp(target.cpu, name) != 0) continue;
    harness_t* h = calloc(1, sizeof(*h));
    harness_init(h);
    add_all(h, &target);
    harness_compile(h, &target, NULL);
    elf_flags(&h->executable);
    harness_finish(h);
    free(h);
  }
}

static void test_rocm_flags(void** state) {
  static const struct {
    const char *cpu, *features;
    uint32_t flags;
  } rows[] = {
      {"gfx942", "+sramecc,-xnack", 0xe4c}, {"gfx942", "", 0xe4c}, {"gfx90a", "+xnack", 0xf3f}, {"gfx1100", "", 0x41},
      {"mi300x", "-sramecc", 0xa4c},        {"gfx906", "", 0x62f},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    target_t target;
    target_options_t options = {.backend = "rocm", .cpu = rows[i].cpu, .features = rows[i].features};
    harness_resolve(&options, &target);
    harness_t* h = calloc(1, sizeof(*h));
    harness_init(h);
    gpu_add_elementwise(h, &target);
    harness_compile(h, &target, NULL);
    assert_int_equal(elf_flags(&h->executable), rows[i].flags);
    assert_int_equal(((const unsigned char*)h->executable.data)[8], 3);  // code object version 5
    harness_finish(h);
    free(h);
  }
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) fail_msg("no file %s", path);
  char* data = malloc(1 << 20);
  *size = fread(data, 1, 1 << 20, file);
  fclose(file);
  return data;
}

// Bytes of the file that are loaded, the headers left out.
static size_t loaded_range(const char* elf, size_t* start) {
  enum { PT_LOAD = 1, HEADER = 64, ENTRY = 56 };
  uint16_t count;
  memcpy(&count, elf + 56, 2);
  size_t end = 0;
  for (uint16_t i = 0; i < count; ++i) {
    uint32_t type;
    uint64_t offset, size;
    memcpy(&type, elf + HEADER + ENTRY * i, 4);
    memcpy(&offset, elf + HEADER + ENTRY * i + 8, 8);
    memcpy(&size, elf + HEADER + ENTRY * i + 32, 8);
    if (type == PT_LOAD && offset + size > end) end = offset + size;
  }
  *start = HEADER + (size_t)ENTRY * count;
  return end;
}

// The assembly that the compiler dumps assembles and links to the same code object again.
static void test_rocm_reassembly(void** state) {
  if (!have_program("clang-22") || !have_program("ld.lld-22")) skip();
  char directory[] = "dump-XXXXXX", command[1024], path[128];
  assert_non_null(mkdtemp(directory));
  target_t target;
  harness_resolve(&(target_options_t){.backend = "rocm", .cpu = "gfx942", .features = "+sramecc,-xnack"}, &target);
  harness_t* h = calloc(1, sizeof(*h));
  harness_init(h);
  add_all(h, &target);
  target_compile_options_t options = {.name = "main_dispatch_0",
                                      .dump = {.intermediates = directory, .binaries = directory}};
  harness_compile(h, &target, &options);
  snprintf(
      command, sizeof(command),
      "cd %s && clang-22 -cc1as -filetype obj -triple amdgcn-amd-amdhsa -target-cpu gfx942 "
      "-target-feature +sramecc -target-feature -xnack -mrelocation-model pic -mllvm -amdgpu-early-inline-all=true "
      "-mllvm -amdgpu-function-calls=false -o again.o module_main_dispatch_0_rocm_hsaco_fb.rocmasm && "
      "ld.lld-22 -m elf64_amdgpu --no-undefined -shared -plugin-opt=-amdgpu-internalize-symbols "
      "-plugin-opt=mcpu=gfx942 --no-whole-archive --build-id=none -o again.hsaco again.o",
      directory);
  assert_int_equal(system(command), 0);
  size_t size, dumped_size;
  snprintf(path, sizeof(path), "%s/again.hsaco", directory);
  char* again = read_file(path, &size);
  snprintf(path, sizeof(path), "%s/module_main_dispatch_0_rocm_hsaco_fb.hsaco", directory);
  char* dumped = read_file(path, &dumped_size);
  assert_int_equal(dumped_size, h->executable.size);
  assert_memory_equal(dumped, h->executable.data, dumped_size);
  size_t start, end = loaded_range(dumped, &start);
  assert_true(start < end && end <= size && end <= dumped_size);
  assert_int_equal(loaded_range(again, &start), end);
  assert_memory_equal(again + start, dumped + start, end - start);
  free(again);
  free(dumped);
  harness_finish(h);
  free(h);
  snprintf(command, sizeof(command), "rm -r %s", directory);
  assert_int_equal(system(command), 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

static void refuse(const target_options_t* options, const char* part) {
  target_t target;
  text_t error = {0};
  assert_false(target_resolve(options, &target, &error));
  if (!strstr(error.data, part)) fail_msg("'%s' does not mention '%s'", error.data, part);
  text_finish(&error);
}

static void test_names(void** state) {
  refuse(&(target_options_t){.backend = "rocm", .cpu = "mi30x"}, "'mi300x'");
  refuse(&(target_options_t){.backend = "rocm"}, "--iree-rocm-target");
  refuse(&(target_options_t){.backend = "rocm", .cpu = "gfx1100", .features = "+xnack"}, "gfx1100 has no feature");
  refuse(&(target_options_t){.backend = "cuda", .cpu = "hoper"}, "'hopper'");
  refuse(&(target_options_t){.backend = "cuda", .cpu = "sm_80", .features = "+ptx60"}, "oldest that works is PTX 7.0");
  refuse(&(target_options_t){.backend = "cuda", .cpu = "sm_90a", .features = "+ptx99"}, "LLVM does not know PTX 9.9");
  refuse(&(target_options_t){.backend = "cuda", .cpu = "sm_35", .features = "+sm_60"}, "of the form +ptxNN");
  refuse(&(target_options_t){.backend = "llvm-cpu", .cpu = "znver44"}, "'znver4'");
  refuse(&(target_options_t){.backend = "llvm-cpu", .triple = "powerpc64-linux-gnu"}, "powerpc64");
  refuse(&(target_options_t){.backend = "metal-spirv"}, "registered backends: [cuda, llvm-cpu, rocm, vmvx]");
  target_t target;
  harness_resolve(&(target_options_t){.backend = "rocm", .cpu = "MI300X", .container = TARGET_CONTAINER_AMDGPU},
                  &target);
  assert_string_equal(target.cpu, "gfx942");
  assert_string_equal(target.format, "gfx942");
  assert_int_equal(target.device.compute_units, 304);
  harness_resolve(&(target_options_t){.backend = "cuda"}, &target);
  assert_string_equal(target.cpu, "sm_60");
  harness_resolve(&(target_options_t){.backend = "cuda", .cpu = "RTX 4070 Ti Super", .features = "+ptx85"}, &target);
  assert_string_equal(target.cpu, "sm_89");
  assert_string_equal(target.features, "+ptx85");
  assert_int_equal(target.device.compute_units, 66);
}

// Names that stand for several: each once, and all are targets.
static void test_members(void** state) {
  const char* family[3] = {0};
  for (uint32_t i = 0; i < 3; ++i) family[i] = target_member_name(TARGET_ROCM, "gfx115X-all", i);
  assert_string_equal(family[0], "gfx11-generic");
  assert_null(family[1]);
  assert_string_equal(target_member_name(TARGET_ROCM, "gfx125X", 1), "gfx1251");
  assert_null(target_member_name(TARGET_ROCM, "gfx942", 0));
  assert_null(target_member_name(TARGET_ROCM, "gfx94X-some", 0));
  assert_null(target_member_name(TARGET_CUDA, "all", 0));
  uint32_t count = 0;
  for (const char* name; (name = target_member_name(TARGET_ROCM, "all", count)); ++count) {
    target_t target;
    harness_resolve(&(target_options_t){.backend = "rocm", .cpu = name}, &target);
  }
  assert_int_equal(count, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),    cmocka_unit_test(test_members),    cmocka_unit_test(test_cuda_all),
      cmocka_unit_test(test_rocm_all), cmocka_unit_test(test_rocm_flags), cmocka_unit_test(test_rocm_reassembly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
