// The compiler as a library (libIREECompiler.so): programs and results in memory or in files, messages to a callback.
//
//   session     flags, which all of its invocations share
//   invocation  one program on its way: parse a source, run the pipeline, write outputs
//   source      a program: a file or a buffer of the caller's
//   output      where results go: a file, a file descriptor, memory
//
// Functions that return an error return NULL when all is well; the caller frees errors. Messages about a program go to
// its invocation's diagnostics. Nothing here ends the process. Objects belong to one thread at a time; different ones
// may be used in different threads at once, also invocations of one session as long as nobody sets its flags.
#ifndef IREE_COMPILER_EMBEDDING_API_H_
#define IREE_COMPILER_EMBEDDING_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/compiler/api_support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_compiler_error_t iree_compiler_error_t;
typedef struct iree_compiler_session_t iree_compiler_session_t;
typedef struct iree_compiler_invocation_t iree_compiler_invocation_t;
typedef struct iree_compiler_source_t iree_compiler_source_t;
typedef struct iree_compiler_output_t iree_compiler_output_t;

//===----------------------------------------------------------------------------------------------------------------===
// Errors
//===----------------------------------------------------------------------------------------------------------------===

// NULL is fine.
IREE_EMBED_EXPORTED void ireeCompilerErrorDestroy(iree_compiler_error_t* error);
// Valid until the error is destroyed.
IREE_EMBED_EXPORTED const char* ireeCompilerErrorGetMessage(iree_compiler_error_t* error);

//===----------------------------------------------------------------------------------------------------------------===
// The library
//===----------------------------------------------------------------------------------------------------------------===

// major << 16 | minor. Within a major version functions are only added.
IREE_EMBED_EXPORTED int ireeCompilerGetAPIVersion(void);
// Each call is balanced by one of GlobalShutdown; any thread.
IREE_EMBED_EXPORTED void ireeCompilerGlobalInitialize(void);
IREE_EMBED_EXPORTED const char* ireeCompilerGetRevision(void);
// Leaves both as they are: here arguments need no cleaning up.
IREE_EMBED_EXPORTED void ireeCompilerGetProcessCLArgs(int* argc, const char*** argv);
// Flags (behind argv[0]) that sessions created from now on begin with; wrong ones are told by their invocations. No
// signal handlers are installed. Not while sessions are created in other threads.
IREE_EMBED_EXPORTED void ireeCompilerSetupGlobalCL(int argc, const char** argv, const char* banner,
                                                   bool installSignalHandlers);
IREE_EMBED_EXPORTED void ireeCompilerGlobalShutdown(void);
IREE_EMBED_EXPORTED void ireeCompilerEnumerateRegisteredHALTargetBackends(void (*callback)(const char* backend,
                                                                                           void* userData),
                                                                          void* userData);
// There are none: what a plugin brings elsewhere is built in.
IREE_EMBED_EXPORTED void ireeCompilerEnumeratePlugins(void (*callback)(const char* pluginName, void* userData),
                                                      void* userData);

//===----------------------------------------------------------------------------------------------------------------===
// Sessions
//===----------------------------------------------------------------------------------------------------------------===

// NULL when memory is exhausted.
IREE_EMBED_EXPORTED iree_compiler_session_t* ireeCompilerSessionCreate(void);
// After its invocations and sources.
IREE_EMBED_EXPORTED void ireeCompilerSessionDestroy(iree_compiler_session_t* session);
// Adds flags of iree-compile ("--name=value", no program name in front), all of them or, with an error, none.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerSessionSetFlags(iree_compiler_session_t* session, int argc,
                                                                       const char* const* argv);
// The flags that were set, with or without `nonDefaultOnly`. The text is not terminated.
IREE_EMBED_EXPORTED void ireeCompilerSessionGetFlags(iree_compiler_session_t* session, bool nonDefaultOnly,
                                                     void (*onFlag)(const char* flag, size_t length, void*),
                                                     void* userData);

//===----------------------------------------------------------------------------------------------------------------===
// Invocations
//===----------------------------------------------------------------------------------------------------------------===

enum iree_compiler_diagnostic_severity_t {
  IREE_COMPILER_DIAGNOSTIC_SEVERITY_NOTE = 0,
  IREE_COMPILER_DIAGNOSTIC_SEVERITY_WARNING = 1,
  IREE_COMPILER_DIAGNOSTIC_SEVERITY_ERROR = 2,
  IREE_COMPILER_DIAGNOSTIC_SEVERITY_REMARK = 3,
};

IREE_EMBED_EXPORTED iree_compiler_invocation_t* ireeCompilerInvocationCreate(iree_compiler_session_t* session);
// `message` has the location, the text and the source line, without a terminator; valid during the call. `flags` is 0.
// The callback is called by the thread that runs the invocation, and makes no calls into the compiler.
IREE_EMBED_EXPORTED void ireeCompilerInvocationEnableCallbackDiagnostics(
    iree_compiler_invocation_t* inv, int flags,
    void (*callback)(enum iree_compiler_diagnostic_severity_t severity, const char* message, size_t messageSize,
                     void* userData),
    void* userData);
// To standard error; beside the callback, if there is one.
IREE_EMBED_EXPORTED void ireeCompilerInvocationEnableConsoleDiagnostics(iree_compiler_invocation_t* inv);
IREE_EMBED_EXPORTED void ireeCompilerInvocationDestroy(iree_compiler_invocation_t* inv);
// Never called: a program that cannot be compiled, or memory that runs out, ends in diagnostics.
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetCrashHandler(
    iree_compiler_invocation_t* inv, bool genLocalReproducer,
    iree_compiler_error_t* (*onCrashCallback)(iree_compiler_output_t** outOutput, void* userData), void* userData);
// Reads and verifies the program; false after diagnostics. The source stays the caller's and must outlive the
// invocation.
IREE_EMBED_EXPORTED bool ireeCompilerInvocationParseSource(iree_compiler_invocation_t* inv,
                                                           iree_compiler_source_t* source);
// "start" only: Pipeline refuses others.
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetCompileFromPhase(iree_compiler_invocation_t* inv, const char* phase);
// As iree-compile's --compile-to; "end" (default) makes a module.
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetCompileToPhase(iree_compiler_invocation_t* inv, const char* phase);
// A folder that gets the text of each phase.
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetDumpCompilationPhasesTo(iree_compiler_invocation_t* inv,
                                                                          const char* path);
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetVerifyIR(iree_compiler_invocation_t* inv, bool enable);
// There are no remarks to filter: the next run says so in a warning.
IREE_EMBED_EXPORTED void ireeCompilerInvocationSetupRemarks(iree_compiler_invocation_t* inv, const char* remarksFilter,
                                                            const char* remarksOutputFile);

enum iree_compiler_pipeline_t {
  IREE_COMPILER_PIPELINE_STD = 0,
  IREE_COMPILER_PIPELINE_HAL_EXECUTABLE = 1,  // refused
  IREE_COMPILER_PIPELINE_PRECOMPILE = 2,      // to "global-optimization"
  IREE_COMPILER_PIPELINE_VM = 3,              // to "vm"
};
// False after diagnostics.
IREE_EMBED_EXPORTED bool ireeCompilerInvocationPipeline(iree_compiler_invocation_t* inv,
                                                        enum iree_compiler_pipeline_t pipeline);
// Refused with a diagnostic: iree-opt runs passes by name.
IREE_EMBED_EXPORTED bool ireeCompilerInvocationRunPassPipeline(iree_compiler_invocation_t* inv,
                                                               const char* textPassPipeline);

// The program as it is: as parsed, or at the phase that the pipeline ended with.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerInvocationOutputIR(iree_compiler_invocation_t* inv,
                                                                          iree_compiler_output_t* output);
// The same as MLIR bytecode of a version of the format; -1: the newest.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerInvocationOutputIRBytecode(iree_compiler_invocation_t* inv,
                                                                                  iree_compiler_output_t* output,
                                                                                  int bytecodeVersion);
// The module (.vmfb), once the pipeline ran to its end.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerInvocationOutputVMBytecode(iree_compiler_invocation_t* inv,
                                                                                  iree_compiler_output_t* output);
// Both refused.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerInvocationOutputVMCSource(iree_compiler_invocation_t* inv,
                                                                                 iree_compiler_output_t* output);
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerInvocationOutputHALExecutable(iree_compiler_invocation_t* inv,
                                                                                     iree_compiler_output_t* output);

//===----------------------------------------------------------------------------------------------------------------===
// Sources
//===----------------------------------------------------------------------------------------------------------------===

IREE_EMBED_EXPORTED void ireeCompilerSourceDestroy(iree_compiler_source_t* source);
// A .mlir, .mlirbc or .onnx file, which is mapped; "-" is standard input.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerSourceOpenFile(iree_compiler_session_t* session,
                                                                      const char* filePath,
                                                                      iree_compiler_source_t** out_source);
// A buffer of the caller's, which must outlive the source; `bufferName` is for messages. With `isNullTerminated` the
// last of the `length` bytes is the terminator.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerSourceWrapBuffer(iree_compiler_session_t* session,
                                                                        const char* bufferName, const char* buffer,
                                                                        size_t length, bool isNullTerminated,
                                                                        iree_compiler_source_t** out_source);
// Calls back with a source, the callback's to destroy, for each part between lines `// -----`. `source` must outlive
// them.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerSourceSplit(
    iree_compiler_source_t* source, void (*callback)(iree_compiler_source_t* source, void* userData), void* userData);

//===----------------------------------------------------------------------------------------------------------------===
// Outputs
//===----------------------------------------------------------------------------------------------------------------===

// Files that were not kept are deleted.
IREE_EMBED_EXPORTED void ireeCompilerOutputDestroy(iree_compiler_output_t* output);
// "-" is standard output.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerOutputOpenFile(const char* filePath,
                                                                      iree_compiler_output_t** out_output);
// The descriptor stays the caller's.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerOutputOpenFD(int fd, iree_compiler_output_t** out_output);
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerOutputOpenMembuffer(iree_compiler_output_t** out_output);
// What a memory output has, valid until it is written again or destroyed.
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerOutputMapMemory(iree_compiler_output_t* output, void** contents,
                                                                       uint64_t* size);
IREE_EMBED_EXPORTED void ireeCompilerOutputKeep(iree_compiler_output_t* output);
IREE_EMBED_EXPORTED iree_compiler_error_t* ireeCompilerOutputWrite(iree_compiler_output_t* output, const void* data,
                                                                   size_t length);

#ifdef __cplusplus
}
#endif

#endif  // IREE_COMPILER_EMBEDDING_API_H_
