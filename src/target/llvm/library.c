// The tables by which a runtime finds and checks the entry points of a CPU executable, as constant data, and the
// function that returns them. Field order is that of iree/hal/local/executable_library.h.
#include <string.h>

#include "base/memory.h"
#include "iree/hal/local/executable_library.h"
#include "target/llvm/codegen.h"

typedef struct tables_t {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTypeRef pointer, i16, i32, i64, i8;
} tables_t;

static LLVMValueRef constant(LLVMTypeRef type, uint64_t value) { return LLVMConstInt(type, value, 0); }

static LLVMValueRef structure(tables_t* t, const LLVMValueRef* fields, unsigned count) {
  return LLVMConstStructInContext(t->context, (LLVMValueRef*)fields, count, 0);
}

// A private constant; returns its address.
static LLVMValueRef place(tables_t* t, LLVMValueRef value, const char* name) {
  LLVMValueRef global = LLVMAddGlobal(t->module, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

static LLVMValueRef place_string(tables_t* t, const char* text) {
  return place(t, LLVMConstStringInContext2(t->context, text, strlen(text), 0), "text");
}

static LLVMValueRef place_array(tables_t* t, LLVMTypeRef element, LLVMValueRef* values, unsigned count,
                                const char* name) {
  return place(t, LLVMConstArray2(element, values, count), name);
}

static LLVMValueRef entry_attributes(tables_t* t, const target_entry_t* entry) {
  uint32_t page = IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE;
  LLVMValueRef reserved = LLVMConstNull(LLVMArrayType2(t->i64, 5));
  LLVMValueRef fields[9] = {
      constant(t->i64, IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_NONE),
      constant(t->i16, (entry->workgroup_memory_bytes + page - 1) / page),
      constant(t->i8, entry->constant_count),
      constant(t->i8, entry->binding_count),
      constant(t->i32, entry->workgroup_size[0]),
      constant(t->i32, entry->workgroup_size[1]),
      constant(t->i16, entry->workgroup_size[2]),
      constant(t->i16, 0),
      reserved,
  };
  return structure(t, fields, 9);
}

static LLVMValueRef source_location(tables_t* t, const ir_op_t* func) {
  const ir_loc_t* loc = ir_loc_find_file(func->loc);
  const char* path = loc ? loc->name : "";
  LLVMValueRef fields[3] = {constant(t->i32, loc ? loc->line : 0), constant(t->i32, strlen(path)),
                            place_string(t, path)};
  return structure(t, fields, 3);
}

static LLVMValueRef export_table(tables_t* t, const library_info_t* info) {
  uint32_t count = info->count;
  LLVMValueRef* rows = memory_array(4 * (size_t)count + 1, sizeof(LLVMValueRef));
  LLVMValueRef *functions = rows, *attributes = rows + count, *names = rows + 2 * count, *places = rows + 3 * count;
  LLVMTypeRef arguments[3] = {t->pointer, t->pointer, t->pointer};
  LLVMTypeRef type = LLVMFunctionType(t->i32, arguments, 3, 0);
  for (uint32_t i = 0; i < count; ++i) {
    functions[i] = LLVMGetNamedFunction(t->module, info->entries[i].name);
    if (!functions[i]) functions[i] = LLVMAddFunction(t->module, info->entries[i].name, type);
    LLVMSetVisibility(functions[i], LLVMHiddenVisibility);
    attributes[i] = entry_attributes(t, &info->entries[i]);
    names[i] = place_string(t, info->entries[i].name);
    if (info->source_locations) places[i] = source_location(t, info->funcs[i]);
  }
  LLVMValueRef none = LLVMConstNull(t->pointer), sources = none;
  LLVMTypeRef attribute_type = count ? LLVMTypeOf(attributes[0]) : t->i64;
  if (info->source_locations && count) {
    sources = place_array(t, LLVMTypeOf(places[0]), places, count, "source_locations");
  }
  LLVMValueRef attrs = place_array(t, attribute_type, attributes, count, "attrs");
  LLVMSetAlignment(attrs, 64);
  LLVMValueRef fields[10] = {
      constant(t->i32, count),
      place_array(t, t->pointer, functions, count, "ptrs"),
      attrs,
      none,  // params
      none,  // occupancy
      place_array(t, t->pointer, names, count, "names"),
      none,  // tags
      none,  // parameter_names
      sources,
      none,  // stage_locations
  };
  memory_free(rows);
  return structure(t, fields, 10);
}

static LLVMValueRef import_table(tables_t* t, const library_info_t* info) {
  LLVMValueRef* names = memory_array((size_t)info->import_count + 1, sizeof(LLVMValueRef));
  for (uint32_t i = 0; i < info->import_count; ++i) names[i] = place_string(t, info->imports[i]);
  LLVMValueRef none = LLVMConstNull(t->pointer);
  LLVMValueRef fields[2] = {
      constant(t->i32, info->import_count),
      info->import_count ? place_array(t, t->pointer, names, info->import_count, "imports") : none,
  };
  memory_free(names);
  return structure(t, fields, 2);
}

static LLVMValueRef library_table(tables_t* t, const library_info_t* info) {
  LLVMValueRef none = LLVMConstNull(t->pointer);
  LLVMValueRef header[4] = {constant(t->i32, IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST), place_string(t, info->name),
                            constant(t->i32, 0), constant(t->i32, IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_NONE)};
  LLVMValueRef counted[2] = {constant(t->i32, 0), none}, constants[1] = {constant(t->i32, 0)};
  LLVMValueRef fields[5] = {place(t, structure(t, header, 4), "header"), import_table(t, info), export_table(t, info),
                            structure(t, constants, 1), structure(t, counted, 2)};
  return place(t, structure(t, fields, 5), "library");
}

bool library_emit(LLVMModuleRef module, const library_info_t* info) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  tables_t t = {.context = context,
                .module = module,
                .pointer = LLVMPointerTypeInContext(context, 0),
                .i16 = LLVMInt16TypeInContext(context),
                .i32 = LLVMInt32TypeInContext(context),
                .i64 = LLVMInt64TypeInContext(context),
                .i8 = LLVMInt8TypeInContext(context)};
  LLVMValueRef library = library_table(&t, info);
  LLVMTypeRef arguments[2] = {t.i32, t.pointer};
  LLVMValueRef query = LLVMAddFunction(module, info->query_name, LLVMFunctionType(t.pointer, arguments, 2, 0));
  LLVMSetVisibility(query, LLVMDefaultVisibility);
  unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  LLVMAddAttributeAtIndex(query, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(context, nounwind, 0));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, query, "entry"));
  LLVMValueRef version = constant(t.i32, IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST);
  LLVMValueRef known = LLVMBuildICmp(builder, LLVMIntUGE, LLVMGetParam(query, 0), version, "");
  LLVMBuildRet(builder, LLVMBuildSelect(builder, known, library, LLVMConstNull(t.pointer), ""));
  LLVMDisposeBuilder(builder);
  return true;
}
