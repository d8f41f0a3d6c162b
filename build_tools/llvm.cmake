# LLVM 22 and lld 22 as Debian packages them: the C API in libLLVM, lld as static libraries on top of it.
find_program(LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE LLVM_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVM_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE)
if(TARGET iree_llvm)
  return()
endif()
add_library(iree_llvm_library INTERFACE)
target_include_directories(iree_llvm_library SYSTEM INTERFACE ${LLVM_INCLUDE})
target_link_libraries(iree_llvm_library INTERFACE ${LLVM_LIBDIR}/libLLVM-22.so)
add_library(iree_llvm INTERFACE)
target_include_directories(iree_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})
target_link_libraries(iree_llvm INTERFACE ${LLVM_LIBDIR}/liblldELF.a ${LLVM_LIBDIR}/liblldCommon.a
                      ${LLVM_LIBDIR}/libLLVM-22.so z zstd)
# lld's ways to end the process and to write files: src/target/llvm/guard.cpp and lld.cpp.
target_link_options(iree_llvm INTERFACE -Wl,--wrap=_ZN4llvm3sys7Process4ExitEib -Wl,--wrap=_ZN4llvm13llvm_shutdownEv
                    -Wl,--wrap=_ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj)
