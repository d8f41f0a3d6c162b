// LLVM and lld fail without taking the process with them: the error comes back, and the next call works.
#include "target/llvm/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "target/llvm/codegen.h"

typedef struct build_t {
  target_t target;
  codegen_unit_t unit;
  const char* intrinsic;  // called without arguments, or NULL
  codegen_bytes_t code;
  text_t error;
  bool ok;
} build_t;

// void f() { intrinsic(); }
static void build(void* user) {
  build_t* b = user;
  if (!codegen_open(&b->unit, &b->target, "test", &b->error)) return;
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(b->unit.context), NULL, 0, false);
  LLVMValueRef function = LLVMAddFunction(b->unit.module, "f", type);
  b->unit.builder = LLVMCreateBuilderInContext(b->unit.context);
  LLVMPositionBuilderAtEnd(b->unit.builder, LLVMAppendBasicBlockInContext(b->unit.context, function, ""));
  if (b->intrinsic) {
    LLVMBuildCall2(b->unit.builder, type, LLVMAddFunction(b->unit.module, b->intrinsic, type), NULL, 0, "");
  }
  LLVMBuildRetVoid(b->unit.builder);
  b->ok = codegen_emit(&b->unit, b->unit.module, LLVMObjectFile, &b->code, &b->error);
}

static guard_result_t run_build(guard_t* guard, build_t* b, const char* backend, const char* cpu) {
  harness_resolve(&(target_options_t){.backend = backend, .cpu = cpu}, &b->target);
  text_t error = {0};
  assert_true(codegen_initialize(&b->target, &error));
  return codegen_guarded(guard, &b->unit, build, b);
}

static void expect_code(const char* backend, const char* cpu) {
  guard_t guard;
  build_t b = {.intrinsic = NULL};
  assert_int_equal(run_build(&guard, &b, backend, cpu), GUARD_DONE);
  assert_true(b.ok && b.code.size > 0);
  memory_scope_drop(&guard.scope);
}

// A processor that does not have the instruction: LLVM's fatal error.
static void unselectable(void** state) {
  (void)state;
  guard_t guard;
  build_t x86 = {.intrinsic = "llvm.amdgcn.s.barrier"};
  assert_int_equal(run_build(&guard, &x86, "llvm-cpu", "haswell"), GUARD_FAILED);
  assert_non_null(strstr(guard.message, "amdgcn"));
  assert_true(guard.left_llvm);
  expect_code("llvm-cpu", "haswell");
  build_t amd = {.intrinsic = "llvm.x86.sse2.pause"};
  assert_int_equal(run_build(&guard, &amd, "rocm", "gfx942"), GUARD_FAILED);
  assert_true(strlen(guard.message) > 0);
  expect_code("rocm", "gfx942");
}

static void needs_memory(void* user) {
  *(void**)user = memory_alloc(100);
  memory_exhausted(12345);
}

// Our own memory: nothing of LLVM's is lost, and the scope around it does not end.
static void no_memory(void** state) {
  (void)state;
  guard_t guard;
  void* block = NULL;
  assert_int_equal(guard_run(&guard, needs_memory, &block), GUARD_NO_MEMORY);
  assert_non_null(block);
  assert_int_equal(guard.scope.wanted, 12345);
  assert_false(guard.left_llvm);
  expect_code("llvm-cpu", "haswell");
}

static bool link_object(const char* data, size_t size, text_t* error) {
  static const char* const args[] = {"-shared", "-m", "elf_x86_64"};
  codegen_bytes_t object = {(char*)data, size}, out = {0};
  bool ok = lld_link(args, 3, &object, 1, &out, error);
  assert_true(ok == (out.size > 0));
  memory_free(out.data);
  return ok;
}

// What is no object is an error, and so is an object cut anywhere, by whichever way lld leaves.
static void bad_objects(void** state) {
  (void)state;
  guard_t guard;
  build_t b = {.intrinsic = NULL};
  assert_int_equal(run_build(&guard, &b, "llvm-cpu", "haswell"), GUARD_DONE);
  text_t error = {0};
  assert_true(link_object(b.code.data, b.code.size, &error));
  assert_false(link_object("nonsense", 8, &error));
  assert_non_null(strstr(error.data, "linking failed"));
  text_finish(&error);
  uint32_t refused = 0;
  for (size_t at = 0; at < b.code.size; at += 24) {
    char* damaged = memory_alloc(b.code.size);
    memcpy(damaged, b.code.data, b.code.size);
    damaged[at] ^= 0x5a;
    refused += !link_object(damaged, b.code.size, &error);
    memory_free(damaged);
    if (error.size) text_finish(&error);
  }
  assert_true(refused > 0);
  assert_true(link_object(b.code.data, b.code.size, &error));
  memory_scope_drop(&guard.scope);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unselectable),
      cmocka_unit_test(no_memory),
      cmocka_unit_test(bad_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
