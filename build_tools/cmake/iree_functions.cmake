# Functions for build files of programs that carry modules, with IREE's names and parameters. They are part of both
# packages (IREERuntimeConfig.cmake, IREECompilerConfig.cmake) and of this project's own build.
#
# The tools come from the targets iree-compile and iree-c-embed-data, or from IREE_HOST_BIN_DIR.

# The tool's command in `out`.
function(iree_tool_command NAME OUT)
  if(IREE_HOST_BIN_DIR)
    set(${OUT} "${IREE_HOST_BIN_DIR}/${NAME}" PARENT_SCOPE)
  elseif(TARGET ${NAME})
    set(${OUT} "${NAME}" PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${NAME} is needed: find_package(IREECompiler) or set IREE_HOST_BIN_DIR to its folder")
  endif()
endfunction()

# iree_c_embed_data(NAME name SRCS file... C_FILE_OUTPUT file.c H_FILE_OUTPUT file.h [IDENTIFIER name]
#                   [STRIP_PREFIX prefix] [FLATTEN] [DEPS target...] [INCLUDES folder...] [PUBLIC] [TESTONLY])
#
# Library `name` (and iree::name) with the files' contents: `IDENTIFIER_create()` gives an iree_file_toc_t of each, up
# to one without a name, `IDENTIFIER_size()` how many there are. Its header is found by those that link with it.
function(iree_c_embed_data)
  cmake_parse_arguments(RULE "PUBLIC;TESTONLY;FLATTEN"
                        "PACKAGE;NAME;IDENTIFIER;STRIP_PREFIX;C_FILE_OUTPUT;H_FILE_OUTPUT" "DEPS;SRCS;INCLUDES" ${ARGN})
  if(RULE_TESTONLY AND DEFINED IREE_BUILD_TESTS AND NOT IREE_BUILD_TESTS)
    return()
  endif()
  if(NOT RULE_IDENTIFIER)
    set(RULE_IDENTIFIER ${RULE_NAME})
  endif()
  set(args --output_header=${RULE_H_FILE_OUTPUT} --output_impl=${RULE_C_FILE_OUTPUT} --identifier=${RULE_IDENTIFIER})
  if(DEFINED RULE_STRIP_PREFIX)
    list(APPEND args --strip_prefix=${RULE_STRIP_PREFIX})
  endif()
  if(RULE_FLATTEN)
    list(APPEND args --flatten)
  endif()
  set(sources)
  foreach(source ${RULE_SRCS})
    if(IS_ABSOLUTE "${source}" OR source MATCHES "^[$]<")
      list(APPEND sources "${source}")
    elseif(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      list(APPEND sources "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    else() # made by the build
      list(APPEND sources "${CMAKE_CURRENT_BINARY_DIR}/${source}")
    endif()
  endforeach()
  iree_tool_command(iree-c-embed-data tool)
  add_custom_command(OUTPUT ${RULE_H_FILE_OUTPUT} ${RULE_C_FILE_OUTPUT} COMMAND ${tool} ${args} ${sources}
                     DEPENDS ${tool} ${sources} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} VERBATIM)
  add_library(${RULE_NAME} STATIC ${RULE_C_FILE_OUTPUT} ${RULE_H_FILE_OUTPUT})
  target_include_directories(${RULE_NAME} PUBLIC ${CMAKE_CURRENT_BINARY_DIR} ${RULE_INCLUDES})
  target_link_libraries(${RULE_NAME} PUBLIC ${RULE_DEPS})
  add_library(iree::${RULE_NAME} ALIAS ${RULE_NAME})
endfunction()

# iree_bytecode_module(NAME name SRC file.mlir [FLAGS flag...] [MODULE_FILE_NAME file.vmfb] [C_IDENTIFIER name]
#                      [STATIC_LIB_PATH file.o] [COMPILE_TOOL target] [DEPENDS file or target...] [DEPS target...]
#                      [FRIENDLY_NAME text] [PUBLIC] [TESTONLY])
#
# Target `name` compiles the program into MODULE_FILE_NAME (name.vmfb). With C_IDENTIFIER the library `name_c` (and
# iree::name_c) has the module as data, in the header name_c.h.
function(iree_bytecode_module)
  cmake_parse_arguments(RULE "PUBLIC;TESTONLY"
                        "NAME;SRC;MODULE_FILE_NAME;COMPILE_TOOL;C_IDENTIFIER;FRIENDLY_NAME;STATIC_LIB_PATH"
                        "FLAGS;DEPENDS;DEPS" ${ARGN})
  if(RULE_TESTONLY AND DEFINED IREE_BUILD_TESTS AND NOT IREE_BUILD_TESTS)
    return()
  endif()
  if(NOT RULE_MODULE_FILE_NAME)
    set(RULE_MODULE_FILE_NAME ${RULE_NAME}.vmfb)
  endif()
  if(NOT RULE_COMPILE_TOOL)
    set(RULE_COMPILE_TOOL iree-compile)
  endif()
  iree_tool_command(${RULE_COMPILE_TOOL} tool)
  get_filename_component(source "${RULE_SRC}" REALPATH BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(friendly "${RULE_SRC}" NAME)
  if(RULE_FRIENDLY_NAME)
    set(friendly "${RULE_FRIENDLY_NAME}")
  endif()
  set(outputs ${RULE_MODULE_FILE_NAME})
  set(args --output-format=vm-bytecode ${RULE_FLAGS} ${source} -o ${RULE_MODULE_FILE_NAME})
  if(RULE_STATIC_LIB_PATH)
    string(REGEX REPLACE "\\.o$" ".h" header "${RULE_STATIC_LIB_PATH}")
    list(APPEND outputs ${RULE_STATIC_LIB_PATH} ${header})
    list(APPEND args --iree-llvmcpu-link-embedded=false --iree-llvmcpu-link-static
         --iree-llvmcpu-static-library-output-path=${RULE_STATIC_LIB_PATH})
  endif()
  add_custom_command(OUTPUT ${outputs} COMMAND ${tool} ${args} DEPENDS ${tool} ${source} ${RULE_DEPENDS}
                     WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
                     COMMENT "Generating ${RULE_MODULE_FILE_NAME} from ${friendly}" VERBATIM)
  add_custom_target(${RULE_NAME} DEPENDS ${outputs})
  if(RULE_C_IDENTIFIER)
    iree_c_embed_data(NAME ${RULE_NAME}_c IDENTIFIER ${RULE_C_IDENTIFIER} SRCS ${RULE_MODULE_FILE_NAME}
                      C_FILE_OUTPUT ${RULE_NAME}_c.c H_FILE_OUTPUT ${RULE_NAME}_c.h FLATTEN DEPS ${RULE_DEPS})
    add_dependencies(${RULE_NAME}_c ${RULE_NAME})
  endif()
endfunction()

# iree_c_module(NAME name SRC file.mlir H_FILE_OUTPUT file.h [FLAGS flag...] [STATIC_LIB_PATH file.o]
#               [COMPILE_TOOL target] [DEPENDS file or target...] [DEPS target...] [PUBLIC] [TESTONLY])
#
# Library `name` (and iree::name) with the program as C code; its header declares `MODULE_create`, after the program's
# module name. Link the runtime too.
function(iree_c_module)
  cmake_parse_arguments(RULE "PUBLIC;TESTONLY" "NAME;SRC;H_FILE_OUTPUT;COMPILE_TOOL;STATIC_LIB_PATH"
                        "FLAGS;DEPENDS;DEPS" ${ARGN})
  if(RULE_TESTONLY AND DEFINED IREE_BUILD_TESTS AND NOT IREE_BUILD_TESTS)
    return()
  endif()
  set(static)
  if(RULE_STATIC_LIB_PATH)
    set(static STATIC_LIB_PATH ${RULE_STATIC_LIB_PATH})
  endif()
  if(NOT RULE_COMPILE_TOOL)
    set(RULE_COMPILE_TOOL iree-compile)
  endif()
  iree_bytecode_module(NAME ${RULE_NAME}_h SRC ${RULE_SRC} MODULE_FILE_NAME ${RULE_H_FILE_OUTPUT} ${static}
                       COMPILE_TOOL ${RULE_COMPILE_TOOL} DEPENDS ${RULE_DEPENDS}
                       FLAGS --output-format=vm-c ${RULE_FLAGS})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${RULE_NAME}_emitc.c)
  file(CONFIGURE OUTPUT ${source} CONTENT "#define EMITC_IMPLEMENTATION\n#include \"@RULE_H_FILE_OUTPUT@\"\n" @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${RULE_H_FILE_OUTPUT})
  add_library(${RULE_NAME} STATIC ${source} ${RULE_STATIC_LIB_PATH})
  add_dependencies(${RULE_NAME} ${RULE_NAME}_h)
  target_include_directories(${RULE_NAME} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${RULE_NAME} PUBLIC ${RULE_DEPS})
  add_library(iree::${RULE_NAME} ALIAS ${RULE_NAME})
endfunction()
