// What kind of file an executable for processors is, by its first bytes: names that loaders are asked for. Thread safe.
//
// All of them write the name with its NUL into `executable_format`, where `executable_format_capacity` is not 0, and
// the file's size into `out_inferred_size`: the data's, or what the file says of itself when the length of
// `executable_data` is 0. Then the caller answers for there being as many bytes as it names. Errors: INCOMPATIBLE for
// another kind of file; INVALID_ARGUMENT for less than there must be of it; OUT_OF_RANGE when the name does not fit.
#ifndef IREE_HAL_LOCAL_EXECUTABLE_FORMAT_H_
#define IREE_HAL_LOCAL_EXECUTABLE_FORMAT_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// ELF: "embedded-elf-x86_64"; several in one: "embedded-fatelf".
IREE_API_EXPORT iree_status_t iree_hal_executable_infer_elf_format(iree_const_byte_span_t executable_data,
                                                                   iree_host_size_t executable_format_capacity,
                                                                   char* executable_format,
                                                                   iree_host_size_t* out_inferred_size);
// Windows' PE: "system-dll-x86_64".
IREE_API_EXPORT iree_status_t iree_hal_executable_infer_dll_format(iree_const_byte_span_t executable_data,
                                                                   iree_host_size_t executable_format_capacity,
                                                                   char* executable_format,
                                                                   iree_host_size_t* out_inferred_size);
// Mach-O of either byte order: "system-dylib-arm_64"; several in one are INCOMPATIBLE.
IREE_API_EXPORT iree_status_t iree_hal_executable_infer_macho_format(iree_const_byte_span_t executable_data,
                                                                     iree_host_size_t executable_format_capacity,
                                                                     char* executable_format,
                                                                     iree_host_size_t* out_inferred_size);
// WebAssembly: "wasm_32", or "wasm_64" when its memory has addresses of 64 bits. It does not say its size: 0.
IREE_API_EXPORT iree_status_t iree_hal_executable_infer_wasm_format(iree_const_byte_span_t executable_data,
                                                                    iree_host_size_t executable_format_capacity,
                                                                    char* executable_format,
                                                                    iree_host_size_t* out_inferred_size);
// What this system loads itself: ELF, as "system-elf-x86_64" or "system-fatelf".
IREE_API_EXPORT iree_status_t iree_hal_executable_infer_system_format(iree_const_byte_span_t executable_data,
                                                                      iree_host_size_t executable_format_capacity,
                                                                      char* executable_format,
                                                                      iree_host_size_t* out_inferred_size);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_EXECUTABLE_FORMAT_H_
