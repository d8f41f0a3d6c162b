# What `make install` installs: tools, the runtime as one library (libiree_runtime.a and .so), libiree_tooling.a beside
# it (apart because it declares flags in every program that has it), public headers, CMake packages and a pkg-config
# file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(STRINGS src/base/version.h IREE_PACKAGE_VERSION REGEX "define IREE_C_VERSION")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" IREE_PACKAGE_VERSION "${IREE_PACKAGE_VERSION}")
set(IREE_PACKAGE_DESCRIPTION "a machine-learning compiler and runtime")

# Libraries of IREE's build whose functions are in this one.
set(IREE_LIBRARY_NAMES
    async async::types async::util::proactor_pool base base::core_headers base::threading base::threading::numa
    base::tooling::flags hal hal::drivers hal::drivers::amdgpu::registration hal::drivers::cuda::registration
    hal::drivers::hip::registration hal::drivers::local_sync::registration hal::drivers::local_sync::sync_driver
    hal::drivers::local_task::registration hal::drivers::local_task::task_driver hal::drivers::null::registration
    hal::local hal::local::executable_library hal::local::executable_loader hal::local::executable_plugin
    hal::local::loaders::embedded_elf_loader hal::local::loaders::static_library_loader
    hal::local::loaders::system_library_loader hal::local::loaders::vmvx_module_loader io::file_contents
    io::file_handle io::formats::gguf io::formats::irpa io::formats::parser_registry io::formats::safetensors
    io::memory_stream io::parameter_index io::parameter_index_provider io::parameter_provider io::scope_map
    io::stdio_stream io::stream io::vec_stream modules::check modules::hal modules::hal::debugging modules::hal::inline modules::hal::types
    modules::io::parameters::parameters runtime runtime::impl
    task task::api tokenizer tokenizer::format::huggingface::tokenizer_json tokenizer::format::tiktoken
    tokenizer::vocab vm vm::bytecode::module vm::cc vm::dynamic::module vm::impl)

# Those of libiree_tooling.a.
set(IREE_TOOLING_LIBRARY_NAMES
    tooling::buffer_view_matchers tooling::comparison tooling::context_util tooling::device_util tooling::function_io
    tooling::function_util tooling::instrument_util tooling::modules::resolver tooling::numpy_io
    tooling::parameter_util tooling::run_module tooling::vm_util)

set(objects)
foreach(library base module hal vm runtime io modules tokenizer)
  list(APPEND objects $<TARGET_OBJECTS:iree_${library}>)
endforeach()
add_library(iree_runtime_package STATIC ${objects})
add_library(iree_runtime_package_shared SHARED ${objects})
foreach(target iree_runtime_package iree_runtime_package_shared)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME iree_runtime LINKER_LANGUAGE C
                        ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/package
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/package)
  target_link_libraries(${target} PUBLIC pthread m dl)
endforeach()
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/build_tools/cmake/exports.map)
set_target_properties(iree_runtime_package_shared PROPERTIES VERSION ${IREE_PACKAGE_VERSION} SOVERSION 0
                      LINK_DEPENDS ${exports})
target_link_options(iree_runtime_package_shared PRIVATE -Wl,--version-script=${exports})

set(tools iree-run-module iree-benchmark-module iree-benchmark-executable iree-check-module iree-dump-module
    iree-cpuinfo iree-c-embed-data iree-tokenize
    iree-create-parameters iree-convert-parameters iree-dump-parameters iree-encode-parameters iree-profile
    iree-profile-render iree-run-replay iree-benchmark-replay iree-dump-replay iree-bisect
    iree-compile iree-opt iree-link iree-import-onnx iree-run-mlir iree-softgpu)
foreach(tool ${tools})
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # to LLVM's library
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

if(IREE_BUILD_COMPILER AND IREE_BUILD_SOFTGPU)
  install(PROGRAMS ${CMAKE_SOURCE_DIR}/tools/iree-edit-kernel.py RENAME iree-edit-kernel
          DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Completions and manual pages, which every tool writes of its own flags.
set(pages)
if(NOT CMAKE_CROSSCOMPILING AND NOT IREE_ENABLE_ASAN AND NOT IREE_ENABLE_TSAN AND NOT IREE_ENABLE_FUZZING)
  foreach(tool ${tools})
    if(TARGET ${tool})
      set(out ${CMAKE_BINARY_DIR}/share)
      add_custom_command(
        OUTPUT ${out}/bash/${tool} ${out}/zsh/_${tool} ${out}/man/${tool}.1
        COMMAND ${CMAKE_COMMAND} -E make_directory ${out}/bash ${out}/zsh ${out}/man
        COMMAND ${tool} --help=bash >${out}/bash/${tool}
        COMMAND ${tool} --help=zsh >${out}/zsh/_${tool}
        COMMAND ${tool} --help=man >${out}/man/${tool}.1
        DEPENDS ${tool} COMMENT "Completions and manual page of ${tool}")
      list(APPEND pages ${out}/bash/${tool})
      install(FILES ${out}/bash/${tool} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
      install(FILES ${out}/zsh/_${tool} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
      install(FILES ${out}/man/${tool}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
  endforeach()
endif()
add_custom_target(iree_pages ALL DEPENDS ${pages})
# iree-softgpu looks for its libraries beside the folder that it is in.
if(TARGET iree_softgpu_hsa)
  set_target_properties(iree_softgpu_hsa iree_softgpu_kfd iree_softgpu_cuda PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS iree_softgpu_hsa iree_softgpu_aqlprofile iree_softgpu_kfd LIBRARY DESTINATION lib/softgpu)
  install(TARGETS iree_softgpu_cuda LIBRARY DESTINATION lib/softgpu-cuda)
endif()
install(TARGETS iree_runtime_package iree_runtime_package_shared iree_tooling
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The compiler as a library, and what loads it at run time.
if(IREE_BUILD_COMPILER)
  set_target_properties(IREECompiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # to LLVM's library
  install(TARGETS IREECompiler iree_compiler_loader
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/iree DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/IREE)
set(packages Runtime)
if(IREE_BUILD_COMPILER)
  list(APPEND packages Compiler)
endif()
foreach(package ${packages})
  configure_package_config_file(
    build_tools/cmake/IREE${package}Config.cmake.in ${CMAKE_BINARY_DIR}/package/IREE${package}Config.cmake
    INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/IREE${package}ConfigVersion.cmake
                                   VERSION ${IREE_PACKAGE_VERSION} COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/package/IREE${package}Config.cmake
                ${CMAKE_BINARY_DIR}/package/IREE${package}ConfigVersion.cmake DESTINATION ${folder})
  # IREE's folder for both is found by IREE${package}_DIR only; this one by CMAKE_PREFIX_PATH, too.
  file(WRITE ${CMAKE_BINARY_DIR}/package/found/IREE${package}Config.cmake
       "include(\"\${CMAKE_CURRENT_LIST_DIR}/../IREE/IREE${package}Config.cmake\")\n")
  install(FILES ${CMAKE_BINARY_DIR}/package/found/IREE${package}Config.cmake
                ${CMAKE_BINARY_DIR}/package/IREE${package}ConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/IREE${package})
endforeach()
install(FILES build_tools/cmake/iree_functions.cmake DESTINATION ${folder})
configure_file(build_tools/cmake/iree_runtime.pc.in ${CMAKE_BINARY_DIR}/package/iree_runtime.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/iree_runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `make package`: a tarball and, where Debian's tools are, a .deb.
set(CPACK_PACKAGE_NAME iree-c)
set(CPACK_PACKAGE_VERSION ${IREE_PACKAGE_VERSION})
set(CPACK_PACKAGE_VENDOR iree-c)
set(CPACK_PACKAGE_CONTACT "iree-c <iree-c@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${IREE_PACKAGE_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME iree-c-${IREE_PACKAGE_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_GENERATOR TGZ)
find_program(DPKG_DEB dpkg-deb)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_DEB)
  list(APPEND CPACK_GENERATOR DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  if(DPKG_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
  else()
    set(CPACK_DEBIAN_PACKAGE_DEPENDS libc6)
  endif()
endif()
include(CPack)
