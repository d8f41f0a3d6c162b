// Targets: what a kernel is compiled for and how. A target is resolved once from flag values; target_compile then turns
// kernel.func ops (dialects/kernel.def) into one executable of the target's format.
//
// What every executable has in common: exports are numbered in the order of the functions given. A dispatch passes
// `binding_count` buffer addresses and `constant_count` 32-bit words; a kernel.func constant of 64 bits (i64, index,
// f64) takes two words, low half first, every other constant takes one. GPU kernels take the addresses as 64-bit
// arguments, followed by the words as 32-bit arguments. CPU entry points follow iree/hal/local/executable_library.h.
#ifndef IREE_C_TARGET_TARGET_H_
#define IREE_C_TARGET_TARGET_H_

#include "base/text.h"
#include "ir/ir.h"
#include "kernels/device.h"

// BACKEND(ENUM, name): names as --iree-hal-target-backends= takes them
#define TARGET_BACKENDS(BACKEND) \
  BACKEND(CUDA, "cuda")          \
  BACKEND(LLVM_CPU, "llvm-cpu") BACKEND(ROCM, "rocm") BACKEND(VMVX, "vmvx")
typedef enum {
#define BACKEND(name, text) TARGET_##name,
  TARGET_BACKENDS(BACKEND)
#undef BACKEND
      TARGET_BACKEND_COUNT
} target_backend_t;

const char* target_backend_name(target_backend_t backend);
bool target_backend_is_built(target_backend_t backend);
// False when no backend has that name; `error` then lists them.
bool target_backend_find(const char* name, target_backend_t* out, text_t* error);

typedef enum {
  TARGET_CONTAINER_HIP,     // rocm: "rocm-hsaco-fb", code objects in IREE's container
  TARGET_CONTAINER_AMDGPU,  // rocm: the plain architecture, "gfx1100": a code object by itself
} target_container_t;

typedef enum { TARGET_ARCH_X86, TARGET_ARCH_ARM, TARGET_ARCH_RISCV, TARGET_ARCH_COUNT } target_arch_t;

// Flag values; zero or NULL means not given.
typedef struct target_options_t {
  const char* backend;           // "llvm-cpu", ...
  const char* triple;            // llvm-cpu: --iree-llvmcpu-target-triple
  const char* cpu;               // --iree-llvmcpu-target-cpu, --iree-cuda-target, --iree-rocm-target; "host", "generic"
  const char* features;          // "+sramecc,-xnack"
  const char* abi;               // llvm-cpu: --iree-llvmcpu-target-abi
  bool system_elf;               // llvm-cpu: --iree-llvmcpu-link-embedded=false
  target_container_t container;  // rocm
} target_options_t;

// Plain data: copy freely. `device` points to constant tables only.
typedef struct target_t {
  target_backend_t backend;
  target_arch_t arch;  // llvm-cpu
  bool system_elf;
  char triple[64];
  char abi[16];         // LLVM's name of it; empty: the triple's only one
  char cpu[48];         // LLVM's processor name: "znver4", "sm_80", "gfx1100"
  char name[48];        // as the user wrote it: "mi300x", "host"
  char features[4096];  // LLVM's feature string
  char needs[512];      // llvm-cpu: of those, what the runtime can ask a processor for: "avx2,fma"
  char tile_needs[64];  // and what only kernels with tile registers need: "amx-tile,amx-int8"
  char format[48];  // executable format: "embedded-elf-x86_64", "cuda-nvptx-fb", "rocm-hsaco-fb", "vmvx-bytecode-fb"
  bool is_hip_container;  // rocm: modules have its code in IREE's container
  device_info_t device;
} target_t;

// False after `error` got one message that names the value and its nearest accepted spellings.
bool target_resolve(const target_options_t* options, target_t* out, text_t* error);
// Whether it has a matrix instruction (dialects/mma.def).
bool target_has_mma(const target_t* target, const char* instruction);
// Whether this process can call its code: a CPU target whose features this machine has.
bool target_runs_here(const target_t* target);
// Names accepted as `cpu` for a backend, for help texts and tests: NULL past the end.
const char* target_known_name(target_backend_t backend, uint32_t index);
// Of names that stand for several targets, kinds and families of AMD GPUs ("dgpu-all", "gfx110X-all"), the one at
// `index`: the fewest code objects that serve all. NULL past the end, and for other names.
const char* target_member_name(target_backend_t backend, const char* name, uint32_t index);

typedef struct target_entry_t {
  char* name;
  uint32_t workgroup_size[3];
  uint32_t subgroup_size;   // GPU
  uint32_t constant_count;  // 32-bit words
  uint32_t binding_count;
  uint32_t workgroup_memory_bytes;  // CPU: what local_memory must hold
  bool uses_tiles;                  // x86-64: needs target_t.tile_needs
  uint32_t dynamic_memory_bytes;    // CUDA: shared memory to ask for at launch (part of workgroup_memory_bytes)
} target_entry_t;

typedef struct target_executable_t {
  void* data;  // ELF shared object, PTX text (NUL-terminated, not counted), hsaco
  size_t size;
  void* cubin;  // CUDA: machine code of the same kernels for the target's architecture; or NULL
  size_t cubin_size;
  char* remarks;  // what tools had to say though all went well; or NULL
  target_entry_t* entries;
  uint32_t entry_count;
} target_executable_t;

// Directories of --iree-hal-dump-executable-{sources,configurations,intermediates,binaries,benchmarks}-to, NULL: no
// dump; --iree-hal-dump-executable-files-to sets all of them. Files are named module_<name>_<format>.<kind>, dashes as
// underscores; kinds: llvm-cpu .codegen.bc .codegen.ll .linked.bc .linked.ll .optimized.bc .optimized.ll .o .s .so;
// cuda .linked.ll .optimized.ll .ptx .cubin; rocm .linked.ll .optimized.ll .rocmasm .hsaco; vmvx .vmfb
typedef struct target_dump_t {
  const char* sources;         // module_<kernel>.mlir: each kernel as text
  const char* configurations;  // configured_module_<kernel>.mlir: the same kernels
  const char* intermediates;
  const char* binaries;
  const char* benchmarks;  // module_<kernel>_<format>_benchmark.mlir: programs that call one dispatch; the compiler's
} target_dump_t;

// How code for AMD GPUs is generated; zero or NULL: LLVM's default.
typedef struct target_amd_t {
  uint32_t waves_per_eu;     // that registers must leave room for
  const char* denormal_f32;  // "ieee", "preserve-sign", "positive-zero"
  bool slp_vectorize;
  bool global_isel;
} target_amd_t;

// How PTX becomes machine code, where that is wanted.
typedef struct target_ptxas_t {
  bool is_used;
  const char* path;    // NULL: the one that is found
  const char* params;  // separated by blanks; or NULL
} target_ptxas_t;

typedef struct target_compile_options_t {
  ir_context_t* context;       // the kernels'; needed for dump.sources only
  const char* name;            // executable's name: "main_dispatch_0", or "<module>_linked" for several dispatches
  uint32_t threads;            // that generate code; 0 or 1: the caller's only. The result does not depend on it.
  bool debug_symbols;          // line tables and source locations
  bool as_written;             // llvm-cpu: kernels are loops as a program has them, for LLVM to make vectors of
  const char* const* objects;  // llvm-cpu: files that are linked in, which kernel.call calls
  uint32_t object_count;
  const char* const* imports;  // llvm-cpu: functions of the runtime's plugins, which kernel.call calls by number
  uint32_t import_count;
  const char* static_library;  // llvm-cpu: path.o; also writes path.h. The executable's data is then its name.
  target_amd_t amd;
  target_ptxas_t ptxas;
  target_dump_t dump;
  // Called in the caller's thread with how many parts have their code; may be NULL.
  void (*progress)(void* user, uint32_t done, uint32_t total);
  void* progress_user;
  // Called for each kernel, from one thread, with the seconds that its code took and the bytes that were held for it at
  // the end: code is then generated on one thread, kernel by kernel. May be NULL; only LLVM's backends call it.
  void (*measured)(void* user, const char* name, double seconds, size_t memory);
  void* measured_user;
} target_compile_options_t;

// Compiles kernel.func ops. All messages go to `error`; on failure `out` is empty. Reads the ops only (each op's and
// value's `data` field is used as scratch), so one context may be compiled for several targets, one after the other.
bool target_compile(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                    const target_compile_options_t* options, target_executable_t* out, text_t* error);
void target_executable_finish(target_executable_t* executable);

#endif  // IREE_C_TARGET_TARGET_H_
