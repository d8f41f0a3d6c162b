# The device library: device/*.c compiled by clang 22 to one code object for each instruction set, embedded in the
# runtime. Without clang 22 and ld.lld the table is empty and the driver says so when a device is made.
set(device_known gfx9-generic gfx908 gfx90a gfx9-4-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic)
set(device_bundle_all ${device_known})
set(device_bundle_dcgpu-all gfx9-generic gfx908 gfx90a gfx9-4-generic)
set(device_bundle_dgpu-all gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic)
set(device_bundle_igpu-all gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic)

# The instruction sets that the selectors ask for: a bundle, a family (gfx110X-all), a generic one, or a processor, whose
# row in processors.def names its generic one.
function(device_select out)
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/hal/amdgpu/processors.def rows REGEX "^PROCESSOR")
  set(targets)
  foreach(selector ${ARGN})
    set(found ${device_bundle_${selector}})
    string(REGEX REPLACE "X(-(all|dgpu|igpu|dcgpu))?$" "[0-9a-f]" pattern ${selector})
    foreach(row ${rows})
      if(row MATCHES "\"(${pattern})\", \"([^\"]*)\"")
        foreach(target "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
          if(target IN_LIST device_known)
            list(APPEND found ${target})
          endif()
        endforeach()
      endif()
    endforeach()
    if(NOT found)
      list(JOIN device_known ", " known)
      message(FATAL_ERROR "IREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS: '${selector}' is no GPU that the amdgpu driver can run on; "
                          "all, dcgpu-all, dgpu-all, igpu-all, families like gfx110X-all, ${known} and processors like "
                          "gfx1100 are known")
    endif()
    list(APPEND targets ${found})
  endforeach()
  list(REMOVE_DUPLICATES targets)
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" device_selectors "${IREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS}")
device_select(device_targets ${device_selectors})
find_program(IREE_AMDGPU_CLANG NAMES clang-22 clang HINTS /usr/lib/llvm-22/bin)
find_program(IREE_AMDGPU_LLD NAMES ld.lld-22 ld.lld HINTS /usr/lib/llvm-22/bin)
set(device_sources blit dispatch)
set(device_dir ${CMAKE_BINARY_DIR}/amdgpu_device)
file(MAKE_DIRECTORY ${device_dir})
set(device_assembly "        .section .rodata\n")
set(device_rows "// Code objects of the device library: DEVICE_LIBRARY(target, symbol).\n")
set(device_objects)

if(IREE_AMDGPU_CLANG AND IREE_AMDGPU_LLD)
  foreach(target ${device_targets})
    # Generic instruction sets came with code object version 6.
    set(version 5)
    if(target MATCHES "generic")
      set(version 6)
    endif()
    set(object ${device_dir}/${target}.so)
    set(parts)
    foreach(name ${device_sources})
      set(part ${device_dir}/${target}-${name}.o)
      set(source ${CMAKE_CURRENT_SOURCE_DIR}/hal/amdgpu/device/${name}.c)
      add_custom_command(
        OUTPUT ${part}
        COMMAND ${IREE_AMDGPU_CLANG} -x c -target amdgcn-amd-amdhsa -mcpu=${target} -mcode-object-version=${version}
                -nogpulib -std=c17 -ffreestanding -O2 -fno-unroll-loops -Wall -Werror -c ${source} -o ${part}
        DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/hal/amdgpu/device/device.h
        COMMENT "Building the device library's ${name} for ${target}"
        VERBATIM)
      list(APPEND parts ${part})
    endforeach()
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${IREE_AMDGPU_LLD} -shared --no-undefined -s -o ${object} ${parts}
      DEPENDS ${parts}
      VERBATIM)
    string(REPLACE "-" "_" symbol "amdgpu_device_${target}")
    string(APPEND device_assembly "        .globl ${symbol}, ${symbol}_end\n        .hidden ${symbol}, ${symbol}_end\n"
           "        .balign 4096\n${symbol}:\n        .incbin \"${object}\"\n${symbol}_end:\n        .byte 0\n")
    string(APPEND device_rows "DEVICE_LIBRARY(\"${target}\", ${symbol})\n")
    list(APPEND device_objects ${object})
  endforeach()
else()
  message(STATUS "clang 22 or ld.lld not found: the amdgpu driver is built without its device library")
endif()
string(APPEND device_assembly "        .section .note.GNU-stack,\"\",@progbits\n")
string(APPEND device_rows "#undef DEVICE_LIBRARY\n")
file(CONFIGURE OUTPUT ${device_dir}/library.S CONTENT "${device_assembly}" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/include/amdgpu_device_library.def CONTENT "${device_rows}" @ONLY)
set_source_files_properties(${device_dir}/library.S PROPERTIES OBJECT_DEPENDS "${device_objects}")
target_sources(iree_hal PRIVATE ${device_dir}/library.S)
