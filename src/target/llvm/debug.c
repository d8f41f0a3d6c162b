// DWARF line tables through LLVM's builder.
#include "target/llvm/debug.h"

#include <string.h>

static LLVMMetadataRef file_of(debug_t* debug, const ir_loc_t* loc) {
  const char* path = loc ? loc->name : "kernel";
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  return LLVMDIBuilderCreateFile(debug->builder, name, strlen(name), path, slash ? (size_t)(slash - path) : 0);
}

void debug_begin(debug_t* debug, LLVMDIBuilderRef builder, emit_t* e) {
  static const char producer[] = "iree-compile";
  debug->e = e;
  debug->builder = builder;
  debug->unit = LLVMDIBuilderCreateCompileUnit(debug->builder, LLVMDWARFSourceLanguageC, file_of(debug, NULL), producer,
                                               sizeof(producer) - 1, 1, "", 0, 0, "", 0,
                                               LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
  debug->type = LLVMDIBuilderCreateSubroutineType(debug->builder, file_of(debug, NULL), NULL, 0, LLVMDIFlagZero);
  LLVMValueRef version = LLVMConstInt(LLVMInt32TypeInContext(e->context), LLVMDebugMetadataVersion(), 0);
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18, LLVMValueAsMetadata(version));
  e->debug = debug;
}

void debug_end(debug_t* debug) {
  if (!debug->builder) return;
  LLVMDIBuilderFinalize(debug->builder);
  debug->e->debug = NULL;
}

void debug_function(debug_t* debug, const char* name, const ir_loc_t* loc) {
  const ir_loc_t* place = ir_loc_find_file(loc);
  unsigned line = place ? place->line : 0;
  LLVMMetadataRef program =
      LLVMDIBuilderCreateFunction(debug->builder, debug->unit, name, strlen(name), name, strlen(name),
                                  file_of(debug, place), line, debug->type, 0, 1, line, LLVMDIFlagZero, 1);
  LLVMSetSubprogram(debug->e->function, program);
  debug_location(debug, loc);
}

void debug_location(debug_t* debug, const ir_loc_t* loc) {
  const ir_loc_t* place = ir_loc_find_file(loc);
  LLVMMetadataRef scope = LLVMGetSubprogram(debug->e->function);
  if (place) scope = LLVMDIBuilderCreateLexicalBlockFile(debug->builder, scope, file_of(debug, place), 0);
  LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(debug->e->context, place ? place->line : 0,
                                                        place ? place->column : 0, scope, NULL);
  LLVMSetCurrentDebugLocation2(debug->e->builder, at);
}
