// kernel.func -> LLVM IR. One translation for all targets; what differs (thread ids, address spaces, barriers, matrix
// instructions, how an entry point gets its arguments) is behind emit_target_t. The IR is clean SSA: structured control
// flow becomes blocks and phis directly, mathematical functions are expanded inline for any vector width (math.h), and
// nothing is called, so that the result needs code generation only and links without a library.
#ifndef IREE_C_TARGET_LLVM_EMIT_H_
#define IREE_C_TARGET_LLVM_EMIT_H_

#include <llvm-c/Core.h>

#include "dialects/kernel.h"
#include "target/target.h"

typedef struct emit_t emit_t;

// What one target does its own way. Hooks may be NULL when the target has no such thing; the op is then refused.
typedef struct emit_target_t {
  unsigned spaces[8];  // LLVM address space by ir_space_t
  // Creates the function (with arguments and attributes), positions the builder at its start, and sets the values of
  // the region's arguments through emit_set.
  LLVMValueRef (*entry)(emit_t* e, ir_op_t* func);
  LLVMValueRef (*id)(emit_t* e, uint32_t code, unsigned axis);  // KERNEL_WORKGROUP_ID, ... as i64
  void (*ret)(emit_t* e);
  void (*barrier)(emit_t* e);
  LLVMValueRef (*shuffle)(emit_t* e, LLVMValueRef value, LLVMValueRef lane, const char* mode);  // 32-bit value
  LLVMValueRef (*mma)(emit_t* e, ir_op_t* op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
  // Results of matrix instructions that something else may read at once: replaces them. NULL: nothing is to be done.
  void (*settle)(emit_t* e, LLVMValueRef* values, unsigned count);
  // `exists` NULL: always. False: copy synchronously.
  bool (*async_copy)(emit_t* e, LLVMValueRef dst, LLVMValueRef src, unsigned bytes, bool cached, LLVMValueRef exists);
  void (*async_commit)(emit_t* e);
  void (*async_wait)(emit_t* e, unsigned pending);
  LLVMValueRef (*load_matrix)(emit_t* e, LLVMValueRef address, unsigned count, bool transpose);  // i32 x count
  LLVMValueRef (*workgroup_memory)(emit_t* e, uint64_t offset);  // address of a byte of workgroup memory
  // Calls a function of the runtime's plugins with what is passed, and the fields that are named; CPUs.
  void (*call_import)(emit_t* e, ir_op_t* op, const LLVMValueRef* args, unsigned count);
  // Bytes, a power of two, that an access adds to a scalar base and a lane's own offset for free; 0 where it takes no
  // scalar base. NULL: on no processor.
  int64_t (*near_bytes)(const emit_t* e);
  bool equal_only;     // scalars of 64 bits are compared for equality in one instruction, but not for order
  bool selects_words;  // of vectors by one flag word by word, not element by element
  const char* atomic_scope;
  const char* exp2;  // intrinsic of its own instruction for f32 numbers, within two units of the last place
  // Intrinsic of the one in the middle of three f32 numbers, a number also where one is NaN. With it, exp2 is within a
  // unit of the last place.
  const char* median;
  // Intrinsics of a x + y of f32 numbers, brought between 0 and 1 (NaN: 0) or rounded down.
  const char* fma_saturated;
  const char* fma_down;
} emit_target_t;

// What the processor does by itself; everything else is expanded into what it has.
typedef struct emit_features_t {
  bool f16_convert;  // half <-> float
  bool f16_arithmetic;
  bool fma;             // f32 and f64 in one instruction
  bool rounding;        // floor, ceil, trunc, nearest even
  bool bf16_convert;    // float -> bfloat
  bool scalef;          // x * 2^n in one x86 instruction
  bool ldexp;           // llvm.ldexp in one instruction
  bool range;           // vectors' minimum and maximum in one x86 instruction, but for NaN
  bool native_minimum;  // minimum and maximum with IEEE 754-2019 semantics
  bool quick_minimum;   // the same of f32, each in one instruction
  bool byte_dot;        // dot_bytes of i32 vectors
  bool tiles;           // vectors of 1024 bytes are tile registers
} emit_features_t;

// Loads of the block at work (reload.h).
enum { RELOAD_GROUPS = 8, RELOAD_LOADS = 128 };
typedef struct reload_load_t {
  int64_t constant;
  LLVMTypeRef type;
  uint32_t position;
} reload_load_t;
typedef struct reload_group_t {
  const ir_value_t* memory;
  const ir_value_t* root;  // varying part of the offset
  LLVMValueRef base;       // opaque address to use, or NULL
  int64_t base_constant;   // its offset's constant part
  uint32_t load_count;
  reload_load_t loads[RELOAD_LOADS];
} reload_group_t;
typedef struct reload_t {
  LLVMBasicBlockRef block;
  uint32_t count;
  reload_group_t groups[RELOAD_GROUPS];
} reload_t;

struct emit_t {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  const target_t* target;
  const target_amd_t* amd;
  const emit_target_t* hooks;
  emit_features_t features;
  text_t* error;
  bool failed;
  struct debug_t* debug;  // NULL: no line tables
  // The function at work
  ir_op_t* func;
  LLVMValueRef function;
  LLVMBasicBlockRef entry_block;
  LLVMValueRef environment, dispatch, workgroup;  // CPU arguments
  uint64_t workgroup_memory;                      // bytes handed out so far
  target_entry_t* info;
  uint32_t op_count;  // ops emitted so far
  reload_t reload;
  uint32_t used_inputs;           // target's own: hardware inputs that the function reads
  LLVMValueRef workgroup_global;  // GPU: array that stands for it until its size is known
};

// Values of the function at work; `data` of the kernel value holds the LLVM value.
static inline LLVMValueRef emit_get(const ir_value_t* value) { return (LLVMValueRef)value->data; }
static inline void emit_set(ir_value_t* value, LLVMValueRef to) { value->data = to; }
static inline LLVMValueRef emit_operand(const ir_op_t* op, uint32_t i) { return emit_get(ir_operand(op, i)); }

// Emits one kernel.func into e->module and fills `info`. False after e->error got a message.
bool emit_function(emit_t* e, ir_op_t* func, target_entry_t* info);
// The ops of a block up to its terminator, which is returned.
ir_op_t* emit_block(emit_t* e, ir_block_t* block);
// Reports what cannot be translated; the first message stays.
void emit_fail(emit_t* e, const ir_op_t* op, const char* format, ...) __attribute__((format(printf, 3, 4)));

// One handler per row of kernel.def, spread over emit_*.c; results are set with emit_set.
#define OP(NAME, name, ...) void emit_op_##name(emit_t* e, ir_op_t* op);
#include "dialects/kernel.def"
#undef OP

// A constant of `type` from its words, loaded by `word(e, user, index)` as i32.
typedef LLVMValueRef (*emit_word_fn_t)(emit_t* e, void* user, uint32_t index);
LLVMValueRef emit_constant_from_words(emit_t* e, const ir_type_t* type, emit_word_fn_t word, void* user,
                                      uint32_t first);
#endif  // IREE_C_TARGET_LLVM_EMIT_H_
